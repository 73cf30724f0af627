// Estimates of the work that a task does.
#pragma once
#include <functional>

#include "graph/graph.h"

namespace axon::task {

/// Scalar operations (a step of a contraction counts one), over the sizes, plus a constant for a task itself.
struct Work {
  shape::Dim tile;   ///< of one full tile
  shape::Dim total;  ///< of the whole domain
};
/// Of a node that is cut into tiles with the given length along each axis of its domain. Where a mask bounds
/// the keys of an online reduction, those keys count that a tile in the middle walks.
Work work_of(const graph::Graph&, const graph::Node&, const std::function<shape::Dim(uint32_t)>& tile_length);

}  // namespace axon::task
