// Prefixes: all of a row per task, which goes through it once. Rows that lie next to each other, element by
// element, go together; of others a few.
#include <algorithm>

#include "task/tiling/tiling.h"

namespace axon::task {

TileRule tile_prefix(const graph::Node& node, const graph::Prefix& prefix, const target::Class& machines) {
  TileRule rule;
  rule.family = Family::prefix;
  const auto last = static_cast<uint32_t>(node.domain.size() - 1);
  const auto length = node.domain[prefix.axis].extent.constant();
  int64_t rows =
      length ? std::max<int64_t>(machines.points / std::max<int64_t>(*length, 1), 1) : machines.whole_rows;
  for (uint32_t a = last + 1; a-- > 0;) {
    if (a == prefix.axis) continue;
    if (a == last) rows = std::max(rows, machines.columns);
    add_tile(node, a, rows, rule);
    const int64_t extent = node.domain[a].extent.constant().value_or(rows);
    rows = std::max<int64_t>(rows / std::max<int64_t>(extent, 1), 1);
  }
  return rule;
}

}  // namespace axon::task
