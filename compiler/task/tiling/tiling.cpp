// See tiling.h.
#include "task/tiling/tiling.h"

#include <algorithm>
#include <set>

namespace axon::task {

using graph::Graph;
using graph::Node;
using graph::Op;
using graph::ScalarId;

void add_tile(const Node& node, uint32_t axis, int64_t length, TileRule& rule) {
  const auto extent = node.domain[axis].extent.constant();
  if (extent && *extent <= length) return;
  rule.tiles.push_back({axis, length});
}

bool runs_along(const Graph& g, const graph::Scalar& load, graph::Var v) {
  const auto index = load.args.empty() ? std::nullopt : affine_index(g, load.args.back());
  const auto by = index ? index->linear_in(v) : std::nullopt;
  return by && by->first.is(1);
}

bool uses(const Graph& g, ScalarId body, Op op) {
  const auto all = scalars_in(g, body);
  return std::any_of(all.begin(), all.end(), [&](ScalarId s) { return g.scalars[s].op == op; });
}

bool uses(const Graph& g, const Node& node, Op op) {
  const auto in_body = [&](const auto& of) { return uses(g, of.body, op); };
  return std::any_of(node.locals.begin(), node.locals.end(), in_body) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), in_body);
}

namespace {

/// Marks the axes of the node that an axis of a local follows: through loads of the local by the outputs, and
/// by later locals that the outputs follow.
void follow(const Graph& g, const Node& node, uint32_t local, uint32_t local_axis,
            std::set<std::pair<uint32_t, uint32_t>>& seen, std::set<uint32_t>& axes) {
  if (!seen.emplace(local, local_axis).second) return;
  const auto index_in = [&](ScalarId body) {
    std::vector<shape::Dim> found;
    for (ScalarId l : loads_in(g, body)) {
      const auto& load = g.scalars[l];
      if (!load.target.is_local() || load.target.output != local) continue;
      if (const auto index = affine_index(g, load.args[local_axis])) found.push_back(*index);
    }
    return found;
  };
  for (const auto& output : node.outputs)
    for (const shape::Dim& index : index_in(output.body))
      for (uint32_t a = 0; a < node.domain.size(); ++a)
        if (index.contains(node.domain[a].var)) axes.insert(a);
  for (uint32_t later = local + 1; later < node.locals.size(); ++later)
    for (const shape::Dim& index : index_in(node.locals[later].body))
      for (uint32_t a = 0; a < node.locals[later].domain.size(); ++a)
        if (index.contains(node.locals[later].domain[a].var)) follow(g, node, later, a, seen, axes);
}

}  // namespace

std::vector<uint32_t> node_axes(const Graph& g, const Node& node, uint32_t local, uint32_t local_axis) {
  std::set<uint32_t> axes;
  std::set<std::pair<uint32_t, uint32_t>> seen;
  follow(g, node, local, local_axis, seen, axes);
  return {axes.begin(), axes.end()};
}

TileRule choose_tiles(const Graph& g, const Node& node, const Tiling& tiling) {
  TileRule rule;
  if (computed_order(g, node)) {
    rule = tile_order(g, node, tiling);
  } else if (uses(g, node, Op::online)) {
    rule = tile_online(g, node, tiling);
  } else if (auto contract = tile_contract(g, node, tiling)) {
    rule = *contract;
  } else if (auto scatter = tile_scatter(g, node, tiling)) {
    rule = *scatter;
  } else if (uses(g, node, Op::reduce)) {
    rule = tile_reduce(g, node, tiling);
  } else {
    rule = tile_elementwise(g, node, tiling);
  }
  std::sort(rule.tiles.begin(), rule.tiles.end(),
            [](const Tile& a, const Tile& b) { return a.axis < b.axis; });
  return rule;
}

}  // namespace axon::task
