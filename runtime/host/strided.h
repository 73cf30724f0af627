// Tensors in memory with a step for each axis, in elements, from the first element on.
//
// In: shapes and strides of at most AXON_MAX_RANK axes. Out: where the elements lie, whether each has a place
// of its own, and copies between two such places. Invariant: an axis of 0 or 1 elements takes no step, so its
// stride says nothing.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "axon/axon.h"

namespace axon::host {

/// Counted from the first element, in elements: all lie in [low, end). Both are 0 of no elements.
struct Reach {
  int64_t low = 0, end = 0;
};
/// nullopt where it leaves what any memory has.
std::optional<Reach> reach_of(const int64_t* shape, const int64_t* strides, size_t rank);
/// Of the view's elements without gaps; nullopt where its shape is that of no tensor.
std::optional<uint64_t> dense_bytes(const axon_view&);
void row_major_strides(const int64_t* shape, size_t rank, int64_t* out);
/// Do they step alike wherever an axis takes a step?
bool same_strides(const int64_t* shape, const int64_t* a, const int64_t* b, size_t rank);
/// The first axis that steps backwards; -1 where none does.
int negative_axis(const int64_t* shape, const int64_t* strides, size_t rank);
/// Has each element a place of its own? False where that would take too long to see: only for strides of
/// which none exceeds what those below it reach, and over a million elements.
bool is_injective(const int64_t* shape, const int64_t* strides, size_t rank);
/// Calls f with the number of each element, in row-major order, and its distance from the first, in elements.
template <class Function>
void each_element(const int64_t* shape, const int64_t* strides, size_t rank, const Function& f) {
  int64_t at[AXON_MAX_RANK] = {};
  int64_t offset = 0;
  for (size_t axis = 0; axis < rank; ++axis)
    if (shape[axis] == 0) return;
  for (size_t number = 0;; ++number) {
    f(number, offset);
    size_t axis = rank;
    while (axis-- > 0) {
      offset += strides[axis];
      if (++at[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}
/// Both point to the first element.
void copy_elements(const int64_t* shape, size_t rank, uint64_t element_bytes, const uint8_t* from,
                   const int64_t* from_strides, uint8_t* to, const int64_t* to_strides);

}  // namespace axon::host
