// Orders: a row per task, all of it, since its memory is what the row is sorted in. Rows that are known to be
// short go together.
#include <algorithm>

#include "task/tiling/tiling.h"

namespace axon::task {

TileRule tile_order(const graph::Graph& g, const graph::Node& node, const target::Class& machines) {
  TileRule rule;
  rule.family = Family::order;
  const auto keys = computed_order(g, node)->binders[0].extent.constant();
  int64_t rows = keys ? std::max<int64_t>(machines.points / std::max<int64_t>(*keys, 1), 1) : 1;
  for (auto a = static_cast<uint32_t>(node.domain.size() - 1); a-- > 0;) {
    add_tile(node, a, rows, rule);
    const int64_t extent = node.domain[a].extent.constant().value_or(rows);
    rows = std::max<int64_t>(rows / std::max<int64_t>(extent, 1), 1);
  }
  return rule;
}

}  // namespace axon::task
