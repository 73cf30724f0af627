// See strided.h.
#include "host/strided.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "host/elem.h"
#include "host/limits.h"

namespace axon::host {
namespace {

bool is_empty(const int64_t* shape, size_t rank) { return std::find(shape, shape + rank, 0) != shape + rank; }

}  // namespace

std::optional<Reach> reach_of(const int64_t* shape, const int64_t* strides, size_t rank) {
  constexpr auto most = static_cast<__int128>(limits::tensor_bytes);
  if (is_empty(shape, rank)) return Reach{};
  __int128 low = 0, high = 0;
  for (size_t axis = 0; axis < rank; ++axis) {
    const __int128 last = static_cast<__int128>(shape[axis] - 1) * (shape[axis] > 1 ? strides[axis] : 0);
    (last < 0 ? low : high) += last;
    if (high > most || low < -most) return std::nullopt;
  }
  return Reach{static_cast<int64_t>(low), static_cast<int64_t>(high) + 1};
}

std::optional<uint64_t> dense_bytes(const axon_view& view) {
  uint64_t bytes = elem_bytes(static_cast<Elem>(view.elem));
  bool empty = false;
  for (int32_t axis = 0; axis < view.rank; ++axis) {
    const int64_t extent = view.shape[axis];
    if (extent < 0 || static_cast<uint64_t>(extent) > limits::extent) return std::nullopt;
    empty |= extent == 0;
    if (extent > 0 && __builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
      return std::nullopt;
    if (bytes > limits::tensor_bytes) return std::nullopt;
  }
  return empty ? 0 : bytes;
}

void row_major_strides(const int64_t* shape, size_t rank, int64_t* out) {
  int64_t step = 1;
  for (size_t axis = rank; axis-- > 0; step *= std::max<int64_t>(shape[axis], 1)) out[axis] = step;
}

bool same_strides(const int64_t* shape, const int64_t* a, const int64_t* b, size_t rank) {
  if (is_empty(shape, rank)) return true;
  for (size_t axis = 0; axis < rank; ++axis)
    if (shape[axis] > 1 && a[axis] != b[axis]) return false;
  return true;
}

int negative_axis(const int64_t* shape, const int64_t* strides, size_t rank) {
  if (is_empty(shape, rank)) return -1;
  for (size_t axis = 0; axis < rank; ++axis)
    if (shape[axis] > 1 && strides[axis] < 0) return static_cast<int>(axis);
  return -1;
}

bool is_injective(const int64_t* shape, const int64_t* strides, size_t rank) {
  if (is_empty(shape, rank)) return true;
  constexpr uint64_t most_to_look_at = uint64_t{1} << 20;
  std::pair<int64_t, int64_t> axes[AXON_MAX_RANK];  // magnitude of the stride, extent
  size_t count = 0;
  uint64_t elements = 1;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (shape[axis] <= 1) continue;
    if (strides[axis] == INT64_MIN) return false;
    axes[count++] = {strides[axis] < 0 ? -strides[axis] : strides[axis], shape[axis]};
    elements = std::min(elements * static_cast<uint64_t>(shape[axis]), most_to_look_at + 1);
  }
  std::sort(axes, axes + count);
  __int128 reached = 0;
  bool dominated = true;
  for (size_t i = 0; i < count; ++i) {
    dominated = dominated && axes[i].first > reached;
    reached += static_cast<__int128>(axes[i].first) * (axes[i].second - 1);
  }
  if (dominated) return true;
  if (elements > most_to_look_at) return false;
  std::vector<int64_t> places;
  places.reserve(elements);
  each_element(shape, strides, rank, [&](size_t, int64_t offset) { places.push_back(offset); });
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) == places.end();
}

void copy_elements(const int64_t* shape, size_t rank, uint64_t element_bytes, const uint8_t* from,
                   const int64_t* from_strides, uint8_t* to, const int64_t* to_strides) {
  const auto bytes = static_cast<int64_t>(element_bytes);
  // One walk gives both places: what the second steps is found along with the first.
  int64_t at[AXON_MAX_RANK] = {};
  if (is_empty(shape, rank)) return;
  int64_t source = 0, target = 0;
  for (;;) {
    std::memcpy(to + target * bytes, from + source * bytes, element_bytes);
    size_t axis = rank;
    while (axis-- > 0) {
      source += from_strides[axis];
      target += to_strides[axis];
      if (++at[axis] < shape[axis]) break;
      source -= from_strides[axis] * shape[axis];
      target -= to_strides[axis] * shape[axis];
      at[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}

}  // namespace axon::host
