// hoist_invariants: what no iteration of a loop changes is computed before the loop (rope tables, masks,
// statistics of weights that no layer index selects).
//
// Only nodes that cannot fail leave: a checked index or an integer division might never be reached inside.
// Storage that an iteration updates or carries stays with it.
#include <algorithm>

#include "graph/passes/cleanup.h"

namespace axon::graph::edit {

bool can_fail(const Graph& g, NodeId id, const std::set<NodeId>& checked) {
  const Node& node = g.nodes[id];
  bool found = checked.count(id) > 0;
  each_body(node, [&](ScalarId body, const auto&) {
    for (ScalarId part : post_order(g, body)) {
      const Scalar& s = g.scalars[part];
      found |= s.op == Op::bounded || s.op == Op::require;
      found |= (s.op == Op::div || s.op == Op::mod) && !base::is_float(s.elem);
    }
  });
  return found;
}

namespace {

void hoist_from(Graph& g, NodeId loop, const std::set<Value>& consumed, const std::set<NodeId>& checked) {
  RegionId inside = g.nodes[loop].body, outside = g.nodes[loop].region;
  Var index = g.nodes[loop].index.var;
  std::vector<NodeId> leaving;
  auto is_outside = [&](Value v) {
    bool leaves = std::find(leaving.begin(), leaving.end(), v.node) != leaving.end();
    return leaves || g.nodes[v.node].region != inside;
  };
  for (NodeId id : g.regions[inside].nodes) {
    const Node& node = g.nodes[id];
    if (node.op != NodeOp::compute || can_fail(g, id, checked) || mentions(g, id, index)) continue;
    bool keeps_storage = false;
    for (uint32_t o = 0; o < node.outputs.size(); ++o)
      keeps_storage |= node.outputs[o].base || consumed.count({id, o}) > 0;
    if (keeps_storage) continue;
    std::set<Value> read = values_read(g, id);
    if (std::all_of(read.begin(), read.end(), is_outside)) leaving.push_back(id);
  }
  for (NodeId id : leaving) {
    std::erase(g.regions[inside].nodes, id);
    g.nodes[id].region = outside;
    auto& nodes = g.regions[outside].nodes;
    nodes.insert(std::find(nodes.begin(), nodes.end(), loop), id);
  }
}

}  // namespace

void hoist_invariants(Graph& g) {
  const std::set<Value> consumed = consumed_values(g);
  const std::set<NodeId> checked = checked_nodes(g);
  std::vector<NodeId> nodes = all_nodes(g);
  for (auto id = nodes.rbegin(); id != nodes.rend(); ++id)  // inner loops first
    if (g.nodes[*id].op == NodeOp::loop) hoist_from(g, *id, consumed, checked);
}

}  // namespace axon::graph::edit
