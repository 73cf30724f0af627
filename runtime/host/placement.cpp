// See placement.h.
#include "host/placement.h"

#include <algorithm>
#include <cstring>

#include "host/limits.h"
#include "host/memory.h"

namespace axon::host {

namespace {

std::vector<uint64_t> multiples_of(const Placement& placement, size_t rank) {
  std::vector<uint64_t> multiples(rank, 1);
  for (const Placement::Digit& digit : placement.digits)
    if (digit.extent > 0) multiples[digit.axis] *= digit.extent;
  return multiples;
}

/// Writes what is placed from its first byte to its last: one loop for each digit, the fastest as one copy
/// where its axis is the tensor's last.
class Packer {
 public:
  Packer(const Placement& placement, const std::vector<uint64_t>& shape, uint64_t element_bytes,
         const uint8_t* in, uint8_t* out)
      : shape_(shape), element_(element_bytes), in_(in), out_(out), index_(shape.size(), 0) {
    std::vector<uint64_t> below = multiples_of(placement, shape.size()), stride(shape.size(), 1);
    for (size_t a = shape.size(); a-- > 1;) stride[a - 1] = stride[a] * shape[a];
    for (const Placement::Digit& digit : placement.digits) {
      uint64_t& under = below[digit.axis];
      const uint64_t extent = digit.extent > 0 ? digit.extent : round_up(shape[digit.axis], under) / under;
      if (digit.extent > 0) under /= digit.extent;
      loops_.push_back({digit.axis, extent, under, stride[digit.axis] * element_bytes});
    }
  }
  void run(size_t level = 0) {
    const Loop& loop = loops_[level];
    if (level + 1 == loops_.size()) return innermost(loop);
    const uint64_t begin = index_[loop.axis];
    for (uint64_t i = 0; i < loop.extent; ++i, index_[loop.axis] += loop.step) run(level + 1);
    index_[loop.axis] = begin;
  }

 private:
  struct Loop {
    size_t axis;
    uint64_t extent, step, stride;  ///< positions, positions of the axis for each, bytes of one position
  };

  void innermost(const Loop& loop) {
    bool inside = true;
    for (const Loop& outer : loops_)
      inside &= outer.axis == loop.axis || index_[outer.axis] < shape_[outer.axis];
    const uint64_t begin = index_[loop.axis], length = shape_[loop.axis];
    const uint64_t valid =
        !inside || begin >= length ? 0 : std::min(loop.extent, (length - begin + loop.step - 1) / loop.step);
    if (valid > 0) copy(loop, valid);
    out_ += loop.extent * element_;
  }

  void copy(const Loop& loop, uint64_t count) {
    const uint8_t* from = in_;
    uint64_t stride = element_;
    for (size_t a = shape_.size(); a-- > 0; stride *= shape_[a]) from += index_[a] * stride;
    const uint64_t apart = loop.step * loop.stride;
    if (apart == element_)
      std::memcpy(out_, from, count * element_);
    else
      for (uint64_t i = 0; i < count; ++i) std::memcpy(out_ + i * element_, from + i * apart, element_);
  }

  const std::vector<uint64_t>& shape_;
  const uint64_t element_;
  const uint8_t* const in_;
  uint8_t* out_;
  std::vector<uint64_t> index_;
  std::vector<Loop> loops_;
};

}  // namespace

const char* why_bad(const Placement& placement, uint64_t rank) {
  if (placement.is_row_major()) return nullptr;
  if (placement.digits.size() > limits::digits) return "too many digits";
  std::vector<uint64_t> multiples(rank, 0);  // 0: nothing of the axis has come yet
  for (const Placement::Digit& digit : placement.digits) {
    if (digit.axis >= rank) return "a digit of an axis that is not there";
    uint64_t& multiple = multiples[digit.axis];
    if ((digit.extent == 0) != (multiple == 0)) return "an axis begins with what is left of it, once";
    multiple = digit.extent == 0 ? 1 : multiple * digit.extent;
    if (multiple > limits::multiple) return "an axis is rounded up to too large a multiple";
  }
  return std::find(multiples.begin(), multiples.end(), 0) == multiples.end() ? nullptr
                                                                             : "an axis has no digit";
}

uint64_t placed_bytes(const Placement& placement, const std::vector<uint64_t>& shape,
                      uint64_t element_bytes) {
  const std::vector<uint64_t> multiples = multiples_of(placement, shape.size());
  uint64_t bytes = element_bytes;
  for (size_t a = 0; a < shape.size(); ++a) {
    const uint64_t extent = round_up(shape[a], multiples[a]);
    if (extent == 0) return 0;
    bytes = bytes > limits::tensor_bytes / extent ? limits::tensor_bytes + 1 : bytes * extent;
  }
  return bytes;
}

void pack(const Placement& placement, const std::vector<uint64_t>& shape, uint64_t element_bytes,
          const uint8_t* in, uint8_t* out) {
  if (placement.is_row_major()) {
    std::memcpy(out, in, placed_bytes(placement, shape, element_bytes));
  } else if (placed_bytes(placement, shape, element_bytes) > 0) {
    Packer(placement, shape, element_bytes, in, out).run();
  }
}

}  // namespace axon::host
