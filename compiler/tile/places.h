// Where the elements of a tile are, by enumeration.
//
// In: the layout of a tile. Out: for each element its points, a holder and a register or an address in each.
// A holder is a lane of a vector of a thread: what a multiply-add finds its operands in. Invariant: all axes
// of threads count as one; where a layout says nothing of threads, the first one holds the element.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "layout/swizzle.h"

namespace axon::tile {

constexpr int64_t most_vector_lanes = 1 << 12;

struct Point {
  int64_t holder = 0, at = 0;  ///< at: coordinate of `m`
  friend auto operator<=>(const Point&, const Point&) = default;
};
constexpr int64_t most_lanes = 32;  ///< of a warp
inline int64_t warp_of(int64_t holder) { return holder / most_vector_lanes / most_lanes; }
inline int64_t lane_of(int64_t holder) { return holder / most_vector_lanes % most_lanes; }

/// Why no tile can have this layout: it counts on what is no part of a worker; nullopt where one can.
std::optional<std::string> why_no_place(const layout::Swizzled&);

class Places {
 public:
  explicit Places(const layout::Swizzled&);
  /// The points of an element, by holder.
  std::span<const Point> of(int64_t element) const {
    return {points_.data() + element * copies_, static_cast<size_t>(copies_)};
  }
  int64_t elements() const { return elements_; }
  int64_t copies() const { return copies_; }
  /// Which of its points this holder has; nullopt where it has none.
  std::optional<int64_t> held(int64_t element, int64_t holder) const;
  bool injective() const;                                 ///< no two elements share a point
  int64_t span() const { return span_; }                  ///< the greatest `at`, plus 1
  int64_t vector_lanes() const { return vector_lanes_; }  ///< likewise

 private:
  int64_t elements_ = 0, copies_ = 1, span_ = 0, vector_lanes_ = 0;
  std::vector<Point> points_;
};

}  // namespace axon::tile
