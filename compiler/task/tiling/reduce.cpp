// Reductions: a run of 16 results along the last axis per task, everything else one at a time.
#include "task/tiling/tiling.h"

namespace axon::task {

TileRule tile_reduce(const graph::Graph&, const graph::Node& node, const Tiling&) {
  TileRule rule;
  rule.family = Family::reduce;
  for (uint32_t a = 0; a < node.domain.size(); ++a)
    add_tile(node, a, a + 1 == node.domain.size() ? 16 : 1, rule);
  return rule;
}

}  // namespace axon::task
