// share_common: one node per computation (hash-consing of nodes, per region and those around it).
//
// A node whose value is updated in place or carried by a loop keeps its own storage: sharing it would force a
// copy. What is checked in a loop is not shared with a node outside, where it would be checked without an
// iteration too.
#include "graph/passes/cleanup.h"
#include "graph/passes/keys.h"

namespace axon::graph::edit {

void share_common(Graph& g) {
  const std::set<Value> consumed = consumed_values(g);
  const std::set<NodeId> checked = checked_nodes(g);
  std::map<RegionId, std::map<Key, NodeId>> known;
  for (NodeId id : all_nodes(g)) {
    const Node& node = g.nodes[id];
    if (node.op != NodeOp::compute) continue;
    bool is_consumed = false;
    for (uint32_t o = 0; o < node.outputs.size(); ++o)
      is_consumed |= consumed.count({id, o}) || node.outputs[o].base;
    if (is_consumed) continue;
    Key key = key_of(g, node);
    NodeId twin;
    for (RegionId r = node.region; r.valid() && !twin.valid();) {
      auto found = known[r].find(key);
      if (found != known[r].end()) twin = found->second;
      NodeId loop = g.regions[r].loop;
      r = loop.valid() && !checked.count(id) ? g.nodes[loop].region : RegionId{};
    }
    if (!twin.valid()) {
      known[node.region].emplace(std::move(key), id);
      continue;
    }
    std::map<Value, Value> same;
    for (uint32_t o = 0; o < node.outputs.size(); ++o) same[{id, o}] = {twin, o};
    replace_values(g, same);
    std::erase(g.regions[node.region].nodes, id);
  }
}

}  // namespace axon::graph::edit
