// Pointwise nodes: about `points` elements per task, taken from the last axis, then the one before it.
#include <algorithm>

#include "task/tiling/tiling.h"

namespace axon::task {

TileRule tile_elementwise(const graph::Graph&, const graph::Node& node, const Tiling& tiling) {
  TileRule rule;
  int64_t left = tiling.points;
  for (uint32_t a = static_cast<uint32_t>(node.domain.size()); a-- > 0;) {
    const auto extent = node.domain[a].extent.constant();
    const bool last = a + 1 == node.domain.size();
    const int64_t length = last ? std::min<int64_t>(left, 1024) : left;
    add_tile(node, a, std::max<int64_t>(length, 1), rule);
    left /= extent && *extent < length ? std::max<int64_t>(*extent, 1) : std::max<int64_t>(length, 1);
  }
  return rule;
}

}  // namespace axon::task
