// Nodes: predicates, who uses what, replacing and dropping values.
#include <algorithm>

#include "base/work.h"
#include "graph/passes/edit.h"
#include "graph/prefix.h"

namespace axon::graph::edit {

NodeId insert_before(Graph& g, NodeId user, Node node) {
  node.name = g.nodes[user].name;
  node.source_begin = g.nodes[user].source_begin;
  node.source_end = g.nodes[user].source_end;
  node.region = g.nodes[user].region;
  std::vector<NodeId>& nodes = g.regions[node.region].nodes;
  const auto at = std::find(nodes.begin(), nodes.end(), user) - nodes.begin();
  const NodeId id = g.nodes.add(std::move(node));
  nodes.insert(nodes.begin() + at, id);
  return id;
}

// ---- predicates ----

bool is_plain(const Node& node, const Output& output) {
  if (output.base || output.at.size() != node.domain.size()) return false;
  for (size_t a = 0; a < output.at.size(); ++a) {
    bool whole_axis = output.at[a] == Dim(node.domain[a].var);
    bool unit_axis = output.at[a].is(0) && node.domain[a].extent.is(1);
    if (!whole_axis && !unit_axis) return false;
  }
  return true;
}

bool all_plain(const Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](const Output& o) { return is_plain(node, o); });
}

void name_unit_axes(Node& node) {
  if (node.outputs.empty() || all_plain(node)) return;
  const Output& first = node.outputs[0];
  std::vector<Axis> domain;
  size_t named = 0;
  for (size_t a = 0; a < first.at.size(); ++a) {
    if (named < node.domain.size() && first.at[a] == Dim(node.domain[named].var))
      domain.push_back(node.domain[named++]);
    else if (first.at[a].is(0) && first.type.shape[a].is(1))
      domain.push_back({shape::fresh_var("u"), Dim(1)});
    else
      return;
  }
  const bool agree = std::all_of(node.outputs.begin(), node.outputs.end(), [&](const Output& o) {
    return !o.base && o.at == first.at && o.type.shape == first.type.shape;
  });
  if (!agree || named != node.domain.size()) return;
  node.domain = std::move(domain);
  for (Output& output : node.outputs) output.at = identity_map(node.domain);
}

bool has_reduction(const Graph& g, const Node& node) {
  bool found = false;
  each_body(node, [&](ScalarId body, const auto&) { found |= !is_pointwise(g, body); });
  return found;
}

bool has_online(const Graph& g, const Node& node) {
  bool found = false;
  each_body(node, [&](ScalarId body, const auto&) {
    for (ScalarId id : binders_in(g, body)) found |= g.scalars[id].op == Op::online;
  });
  return found;
}

bool stands_alone(const Graph& g, const Node& node) {
  return has_online(g, node) || goes_through_rows(g, node);
}

bool has_pointwise_outputs(const Graph& g, const Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](const Output& o) { return is_pointwise(g, o.body); });
}

// ---- uses ----

std::set<Value> values_read(const Graph& g, NodeId id) {
  std::set<Value> read;
  std::vector<NodeId> work{id};
  std::set<NodeId> inside;
  while (!work.empty()) {
    const NodeId next = work.back();
    work.pop_back();
    inside.insert(next);
    for_each_use(g, next, [&](Value v, const Use&) { read.insert(v); });
    for (uint32_t s : data_sizes(g))
      if (mentions(g, next, g.sizes[s].var)) read.insert(g.sizes[s].value);
    if (g.nodes[next].op == NodeOp::loop)
      for (NodeId inner : g.regions[g.nodes[next].body].nodes) work.push_back(inner);
  }
  std::erase_if(read, [&](Value v) { return inside.count(v.node) > 0; });
  return read;
}

std::set<NodeId> Uses::users() const {
  std::set<NodeId> found;
  for (const Use& load : loads) found.insert(load.user);
  return found;
}

std::map<Value, Uses> uses_of(const Graph& g) {
  std::map<Value, Uses> uses;
  for_each_use(g, [&](Value v, const Use& use) {
    base::work();
    if (use.is_body_load())
      uses[v].loads.push_back(use);
    else
      ++uses[v].others;
  });
  return uses;
}

void update_loads(std::map<Value, Uses>& uses, const Graph& g, NodeId user, const std::set<Value>& before) {
  for (Value v : before)
    if (const auto found = uses.find(v); found != uses.end())
      std::erase_if(found->second.loads, [&](const Use& load) { return load.user == user; });
  for_each_use(g, user, [&](Value v, const Use& use) {
    if (use.is_body_load()) uses[v].loads.push_back(use);
  });
}

std::set<Value> consumed_values(const Graph& g) {
  std::set<Value> consumed;
  for_each_use(g, [&](Value v, const Use& use) {
    if (use.continues_storage()) consumed.insert(v);
  });
  return consumed;
}

std::set<NodeId> checked_nodes(const Graph& g) {
  std::set<NodeId> checked;
  for (const Check& c : g.checks)
    if (!c.fact) checked.insert(c.value.node);
  return checked;
}

void replace_values(Graph& g, const std::map<Value, Value>& replacement) {
  if (replacement.empty()) return;
  replace_uses(g, [&](Value v) {
    for (auto it = replacement.find(v); it != replacement.end(); it = replacement.find(v)) v = it->second;
    return v;
  });
}

}  // namespace axon::graph::edit
