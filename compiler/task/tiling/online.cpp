// Online reductions (attention): axes that only the score has are rows, tiled; axes that score and values
// share are batch, one per task; axes that only the values have stay whole, since each needs the same
// weights. Keys are streamed inside the task.
#include <algorithm>

#include "task/tiling/tiling.h"

namespace axon::task {

namespace {

using graph::Graph;
using graph::Node;
using graph::Op;
using graph::ScalarId;

ScalarId find_online(const Graph& g, ScalarId id) {
  const auto all = scalars_in(g, id);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](ScalarId s) { return g.scalars[s].op == Op::online; });
  return found == all.end() ? ScalarId{} : *found;
}

}  // namespace

TileRule tile_online(const Graph& g, const Node& node, const target::Class& machines) {
  TileRule rule;
  rule.family = Family::online;
  ScalarId online;
  for (const auto& output : node.outputs)
    if (!online) online = find_online(g, output.body);
  if (!online) {  // the online reduction is in a local: tile like a reduction over the node's own axes
    rule.tiles = tile_reduce(g, node, machines).tiles;
    return rule;
  }
  const auto& args = g.scalars[online].args;
  bool row_tiled = false;
  for (uint32_t a = static_cast<uint32_t>(node.domain.size()); a-- > 0;) {
    const graph::Var var = node.domain[a].var;
    const bool in_score = depends_on(g, args[0], var);
    const bool in_values =
        std::any_of(args.begin() + 1, args.end(), [&](ScalarId v) { return depends_on(g, v, var); });
    if (!in_score) continue;
    if (in_values) {
      add_tile(node, a, 1, rule);
    } else if (!node.domain[a].extent.is(1)) {
      add_tile(node, a, row_tiled || reduces_much(g, node, machines) ? 1 : machines.rows, rule);
      row_tiled = true;
    }
  }
  return rule;
}

}  // namespace axon::task
