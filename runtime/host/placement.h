// How a prepared weight lies in memory: the order of its digits.
//
// In: a placement of the manifest, already checked, and the shape of a tensor. Out: the bytes that it takes,
// and the tensor packed so. Digits stand from the slowest to the fastest; each axis has one without extent,
// which takes what is left of it and comes first, and is rounded up to a multiple of its others. What lies
// past the tensor is zero. No digits: row-major.
#pragma once
#include <cstdint>
#include <vector>

namespace axon::host {

struct Placement {
  struct Digit {
    uint32_t axis = 0;
    uint32_t extent = 0;  ///< 0: what is left
  };
  std::vector<Digit> digits;
  bool is_row_major() const { return digits.empty(); }
};

/// Why it is none of tensors of that rank; nullptr where it is one.
const char* why_bad(const Placement&, uint64_t rank);

uint64_t placed_bytes(const Placement&, const std::vector<uint64_t>& shape, uint64_t element_bytes);
/// `in` is row-major, `out` zeroed already.
void pack(const Placement&, const std::vector<uint64_t>& shape, uint64_t element_bytes, const uint8_t* in,
          uint8_t* out);

}  // namespace axon::host
