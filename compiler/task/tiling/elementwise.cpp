// Pointwise nodes: about `points` elements per task, taken from the last axis, then the one before it. Where
// a tensor is read that runs along another axis, a task has as many elements along that one as along the
// last: it uses whole cache lines of what it reads and of what it writes.
#include <algorithm>

#include "task/tiling/tiling.h"

namespace axon::task {

namespace {

/// The axis other than the last along which something is read that changes with both.
std::optional<uint32_t> turned_axis(const graph::Graph& g, const graph::Node& node) {
  if (node.domain.size() < 2) return std::nullopt;
  for (const auto& output : node.outputs)
    for (graph::ScalarId id : loads_in(g, output.body)) {
      const auto& load = g.scalars[id];
      const auto last = node.domain.back().var;
      if (load.target.is_local() || !depends_on(g, id, last) || runs_along(g, load, last)) continue;
      for (uint32_t a = 0; a + 1 < node.domain.size(); ++a)
        if (runs_along(g, load, node.domain[a].var)) return a;
    }
  return std::nullopt;
}

}  // namespace

TileRule tile_elementwise(const graph::Graph& g, const graph::Node& node, const target::Class& machines) {
  constexpr int64_t side = 16;
  TileRule rule;
  int64_t left = machines.points;
  const auto turned = turned_axis(g, node);
  for (uint32_t a = static_cast<uint32_t>(node.domain.size()); a-- > 0;) {
    const auto extent = node.domain[a].extent.constant();
    const bool last = a + 1 == node.domain.size();
    const int64_t along = turned ? side : node.domain.size() == 1 ? machines.line : machines.row;
    const int64_t most = last ? along : turned && a != turned ? 1 : left;
    const int64_t length = std::max<int64_t>(std::min(left, most), 1);
    add_tile(node, a, length, rule);
    left /= extent && *extent < length ? std::max<int64_t>(*extent, 1) : length;
  }
  return rule;
}

}  // namespace axon::task
