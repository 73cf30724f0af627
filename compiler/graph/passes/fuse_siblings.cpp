// fuse_siblings: horizontal fusion of independent nodes over one domain that read a common operand.
//
// In: the projections of keys and values, of gate and input. Out: one node with the outputs of both, so that
// a tile of the common operand is read once. Nodes with an online reduction or an order stay alone: their
// tiles are chosen for it.
#include <algorithm>

#include "base/work.h"
#include "graph/passes/absorb.h"
#include "graph/passes/cleanup.h"
#include "graph/passes/order.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

std::set<Value> loaded(const Graph& g, const Node& node) {
  std::set<Value> values;
  edit::each_body(node, [&](ScalarId body, const auto&) {
    for (ScalarId l : loads_in(g, body))
      if (!g.scalars[l].target.is_local()) values.insert(g.scalars[l].target);
  });
  return values;
}

/// Of nodes that read a tensor alike. False when they cannot be one node.
bool merge(Graph& g, NodeId first, NodeId second, edit::Orders& orders) {
  const Node& a = g.nodes[first];
  const Node& b = g.nodes[second];
  if (!edit::same_domain(a, b)) return false;
  if (edit::has_reduction(g, a) != edit::has_reduction(g, b)) return false;
  const edit::Order& order = orders.of(a.region);
  if (order.has_path(first, second) || order.has_path(second, first)) return false;
  uint32_t shift = static_cast<uint32_t>(a.outputs.size()), count = static_cast<uint32_t>(b.outputs.size());
  Node node = edit::joined(g, a, b);
  if (!edit::updates_in_place(g, node)) return false;
  edit::commit_merge(g, first, second, std::move(node));
  std::map<Value, Value> moved;
  for (uint32_t o = 0; o < count; ++o) moved[{second, o}] = {first, shift + o};
  edit::replace_values(g, moved);
  return true;
}

}  // namespace

bool fuse_siblings(Graph& g) {
  edit::Orders orders(g);
  std::map<RegionId, std::vector<NodeId>> candidates;
  for (NodeId id : all_nodes(g)) {
    const Node& node = g.nodes[id];
    if (node.op == NodeOp::compute && !edit::stands_alone(g, node)) candidates[node.region].push_back(id);
  }
  for (const auto& [region, nodes] : candidates) {
    std::map<Value, std::vector<size_t>> readers;
    std::vector<std::set<Value>> reads;
    for (size_t i = 0; i < nodes.size(); ++i) {
      reads.push_back(loaded(g, g.nodes[nodes[i]]));
      for (Value v : reads.back()) readers[v].push_back(i);
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      std::set<size_t> later;
      for (Value v : reads[i])
        for (size_t j : readers[v])
          if (j > i) later.insert(j);
      base::work(later.size());
      for (size_t j : later)
        if (merge(g, nodes[i], nodes[j], orders)) return true;
    }
  }
  return false;
}

}  // namespace axon::graph
