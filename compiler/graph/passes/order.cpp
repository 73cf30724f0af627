// Dependences are data dependences plus reader-before-update; both follow from the order the region had.
#include "graph/passes/order.h"

#include <algorithm>

#include "base/work.h"
#include "graph/passes/edit.h"

namespace axon::graph::edit {

namespace {

/// Tensors that a node updates in place: bases of a compute node, initial values that a loop carries on.
std::set<Value> updated_by(const Node& node) {
  std::set<Value> updated;
  for (const Output& o : node.outputs)
    if (o.base) updated.insert(*o.base);
  for (const Carried& c : node.carried)
    if (c.result != c.param) updated.insert(c.init);
  return updated;
}

}  // namespace

Order::Order(const Graph& g, RegionId region) : nodes_(g.regions[region].nodes) {
  std::map<Value, std::vector<NodeId>> readers;  // so far
  for (NodeId id : nodes_) {
    for (Value v : values_read(g, id)) {
      if (g.nodes[v.node].region == region) after_[v.node].insert(id);
    }
    for (Value v : updated_by(g.nodes[id]))
      for (NodeId reader : readers[v]) after_[reader].insert(id);
    for (Value v : values_read(g, id)) readers[v].push_back(id);
  }
}

bool Order::reaches(NodeId from, NodeId to, bool skip_direct) const {
  std::vector<NodeId> work;
  std::set<NodeId> seen;
  auto visit = [&](NodeId id, bool skip) {
    auto next = after_.find(id);
    if (next == after_.end()) return;
    base::work(next->second.size());
    for (NodeId n : next->second)
      if (!(skip && n == to) && seen.insert(n).second) work.push_back(n);
  };
  visit(from, skip_direct);
  while (!work.empty()) {
    NodeId id = work.back();
    work.pop_back();
    if (id == to) return true;
    visit(id, false);
  }
  return false;
}

bool Order::has_detour(NodeId from, NodeId to) const { return reaches(from, to, true); }
bool Order::has_path(NodeId from, NodeId to) const { return reaches(from, to, false); }

void Order::merge(NodeId into, NodeId gone) {
  std::set<NodeId> moved = after_[gone];
  moved.erase(into);
  after_[into].insert(moved.begin(), moved.end());
  after_.erase(gone);
  for (auto& [id, next] : after_)
    if (next.erase(gone) && id != into) next.insert(into);
  std::erase(nodes_, gone);
}

std::vector<NodeId> Order::sorted() const {
  std::map<NodeId, size_t> position, waiting;
  for (size_t i = 0; i < nodes_.size(); ++i) position[nodes_[i]] = i;
  for (const auto& [id, next] : after_)
    for (NodeId n : next) ++waiting[n];
  std::set<std::pair<size_t, NodeId>> ready;
  for (NodeId n : nodes_)
    if (!waiting.count(n)) ready.insert({position[n], n});
  std::vector<NodeId> order;
  while (!ready.empty()) {
    NodeId id = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(id);
    auto next = after_.find(id);
    if (next == after_.end()) continue;
    for (NodeId n : next->second)
      if (--waiting[n] == 0) ready.insert({position[n], n});
  }
  return order;
}

NodeId representative(const Graph& g, RegionId region, NodeId id) {
  while (id.valid() && g.nodes[id].region != region) id = g.regions[g.nodes[id].region].loop;
  return id;
}

bool updates_in_place(const Graph& g, const Node& node) {
  std::set<Value> bases;
  for (const Output& o : node.outputs)
    if (o.base && !bases.insert(*o.base).second) return false;  // two updates of one tensor
  if (bases.empty()) return true;
  for (const Local& l : node.locals)
    for (ScalarId id : loads_in(g, l.body))
      if (bases.count(g.scalars[id].target)) return false;
  for (const Output& o : node.outputs) {
    for (ScalarId id : loads_in(g, o.body)) {
      const Scalar& s = g.scalars[id];
      if (!bases.count(s.target)) continue;
      if (s.target != o.base || !is_pointwise(g, o.body)) return false;
      for (size_t a = 0; a < s.args.size(); ++a)
        if (affine_index(g, s.args[a]) != o.at[a]) return false;
    }
  }
  return true;
}

bool reads_after_update(const Graph& g, const std::set<Value>& read, NodeId reader) {
  for (NodeId updater : all_nodes(g)) {
    if (updater == reader) continue;  // the merged node itself is judged by updates_in_place
    std::set<Value> updated = updated_by(g.nodes[updater]);
    bool touches = std::any_of(read.begin(), read.end(), [&](Value v) { return updated.count(v) > 0; });
    if (!touches) continue;
    // Compare the two in the innermost region around both.
    for (RegionId region = g.nodes[updater].region;;) {
      NodeId a = representative(g, region, updater), b = representative(g, region, reader);
      if (b.valid()) {
        const auto& nodes = g.regions[region].nodes;
        if (std::find(nodes.begin(), nodes.end(), a) <= std::find(nodes.begin(), nodes.end(), b)) return true;
        break;
      }
      region = g.nodes[g.regions[region].loop].region;
    }
  }
  return false;
}

}  // namespace axon::graph::edit
