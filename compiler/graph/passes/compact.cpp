// In: a graph whose passes have left removed nodes behind in the store. Out: the same graph with the live
// nodes only, numbered in program order, so that "every node" means what it says from here on.
#include <functional>
#include <map>

#include "graph/passes/passes.h"

namespace axon::graph {

void compact(Graph& g) {
  std::vector<NodeId> order;
  const std::function<void(RegionId)> walk = [&](RegionId region) {
    for (NodeId n : g.regions[region].nodes) {
      order.push_back(n);
      if (g.nodes[n].op == NodeOp::loop) walk(g.nodes[n].body);
    }
  };
  walk(g.root);
  std::map<NodeId, NodeId> renamed;
  for (uint32_t n = 0; n < order.size(); ++n) renamed[order[n]] = NodeId{n};
  const auto rename = [&](Value& v) {
    if (const auto it = renamed.find(v.node); it != renamed.end()) v.node = it->second;
  };

  base::Store<NodeTag, Node> nodes;
  for (NodeId old : order) {
    Node node = std::move(g.nodes[old]);
    for (Output& output : node.outputs)
      if (output.base) rename(*output.base);
    for (Carried& carried : node.carried)
      for (Value* v : {&carried.init, &carried.param, &carried.result}) rename(*v);
    nodes.add(std::move(node));
  }
  g.nodes = std::move(nodes);
  for (Scalar& scalar : g.scalars)
    if (scalar.op == Op::load) rename(scalar.target);
  g.scalar_index.clear();  // its hashes were of the old numbers; later scalars are shared among themselves
  for (Region& region : g.regions) {
    std::vector<NodeId> live;
    for (NodeId n : region.nodes)
      if (const auto it = renamed.find(n); it != renamed.end()) live.push_back(it->second);
    region.nodes = std::move(live);
    if (const auto it = renamed.find(region.loop); it != renamed.end()) region.loop = it->second;
  }
  for (Result& result : g.results) rename(result.value);
  for (Check& check : g.checks) rename(check.value);
  for (Size& size : g.sizes) rename(size.value);
  for (Debug& debug : g.debugs) rename(debug.value);
}

}  // namespace axon::graph
