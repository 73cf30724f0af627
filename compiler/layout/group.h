// Layouts seen with a shape: the iters cut so that each axis of a tensor has its own.
//
// In: layouts, and shapes of the same size. Out: the same map with more iters, grouped by the axes of the
// shape. Invariant: cutting changes no place; where extents do not divide each other there is no such
// grouping, and where they may not, the outcome says what it needs.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "layout/layout.h"
#include "layout/outcome.h"

namespace axon::layout {

/// One piece of two shapes: where it lies in each.
struct Piece {
  Dim extent;
  size_t of_first, of_second;
};
/// The coarsest shape that both are made of by joining neighbours; no pieces of 1.
Outcome<std::vector<Piece>> refine(const Shape& first, const Shape& second);
/// The coarsest shape of which each is made by joining neighbours. At least one shape.
Outcome<Shape> common_refinement(const std::vector<Shape>&);

struct Grouped {
  Layout layout;             ///< the shards are those of axis 0, of axis 1, ...
  std::vector<size_t> ends;  ///< behind the last shard of each axis
  size_t begin(size_t axis) const { return axis == 0 ? 0 : ends[axis - 1]; }
  std::vector<Iter> of(size_t axis) const;
};
/// An axis of extent 1 has no iters.
Outcome<Grouped> group(const Layout&, const Shape&);

/// The layout of the tensor whose axis i is axis order[i] of the given one.
Outcome<Layout> permute(const Layout&, const Shape&, const std::vector<size_t>& order);

/// The shards of which D(x) - D(0) = at(x) - at(0) for 0 <= x < size, in canonical form; nullopt where no
/// shards are. Coordinates in the order of `axes`.
std::optional<std::vector<Iter>> fit(int64_t size, const std::vector<Axis>& axes,
                                     const std::function<std::vector<int64_t>(int64_t)>& at);

}  // namespace axon::layout
