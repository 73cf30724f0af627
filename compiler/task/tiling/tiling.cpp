// See machines.h.
#include "task/tiling/tiling.h"

#include <algorithm>
#include <functional>

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

/// From the last local to the first, so that each finds its readers done.
LocalAxes::LocalAxes(const Graph& g, const Node& node) : axes_(node.locals.size()) {
  for (uint32_t l = 0; l < node.locals.size(); ++l) axes_[l].resize(node.locals[l].domain.size());
  const auto add = [&](ScalarId body, const std::vector<graph::Axis>& domain,
                       const std::function<std::set<uint32_t>(uint32_t)>& of_axis) {
    for (ScalarId id : loads_in(g, body)) {
      const auto& load = g.scalars[id];
      if (!load.target.is_local()) continue;
      for (size_t a = 0; a < load.args.size(); ++a) {
        const auto index = affine_index(g, load.args[a]);
        for (uint32_t d = 0; index && d < domain.size(); ++d)
          if (index->contains(domain[d].var)) axes_[load.target.output][a].merge(of_axis(d));
      }
    }
  };
  for (const auto& output : node.outputs)
    add(output.body, node.domain, [](uint32_t d) { return std::set<uint32_t>{d}; });
  for (uint32_t l = static_cast<uint32_t>(node.locals.size()); l-- > 0;)
    add(node.locals[l].body, node.locals[l].domain, [&](uint32_t d) { return axes_[l][d]; });
}

/// Have machines of the class tile programs for prefixes? Where they have none, each element is a reduction.
static bool goes_through_rows_once(const target::Class& machines) { return &machines != &target::nvidia(); }

TileRule choose_tiles(const Graph& g, const Node& node, const target::Class& machines) {
  TileRule rule;
  if (computed_order(g, node)) {
    rule = tile_order(g, node, machines);
  } else if (const auto prefix =
                 goes_through_rows_once(machines) ? prefix_reduction(g, node) : std::nullopt) {
    rule = tile_prefix(node, *prefix, machines);
  } else if (uses(g, node, Op::online)) {
    rule = tile_online(g, node, machines);
  } else if (auto contract = tile_contract(g, node, machines)) {
    rule = *contract;
  } else if (auto scatter = tile_scatter(g, node, machines)) {
    rule = *scatter;
  } else if (uses(g, node, Op::reduce)) {
    rule = tile_reduce(g, node, machines);
  } else {
    rule = tile_elementwise(g, node, machines);
  }
  std::sort(rule.tiles.begin(), rule.tiles.end(),
            [](const Tile& a, const Tile& b) { return a.axis < b.axis; });
  return rule;
}

}  // namespace axon::task
