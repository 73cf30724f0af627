// Estimates of the work that a task does, and the least that its node's meaning takes.
#pragma once
#include <functional>

#include "graph/graph.h"

namespace axon::task {

/// Scalar operations (a step of a contraction counts one), plus a constant for a task itself.
struct Work {
  /// Of one full tile, over the sizes, and over the coordinates of the task where tiles cost different
  /// amounts: where a mask bounds the keys of an online reduction, those keys count that the tile's points
  /// walk.
  shape::Dim tile;
  shape::Dim
      total;  ///< of the whole domain, over the sizes: as if all tiles cost what the one in the middle does
};
/// Where a tile lies along an axis of the domain.
struct Part {
  shape::Dim begin, length;
};
/// Of a node that is cut into tiles; `tile` says which part of each axis one of them has.
Work work_of(const graph::Graph&, const graph::Node&, const std::function<Part(uint32_t axis)>& tile);

/// Scalar operations of a node however it is cut: one for each element of its results and locals, one for
/// each step of their reductions that no mask rules out, one for each key of an order. Where masks leave
/// different numbers of steps, the element in the middle of the domain stands for all. None of a node that
/// packs an operand, which its readers can do without.
shape::Dim arithmetic_of(const graph::Graph&, const graph::Node&);

}  // namespace axon::task
