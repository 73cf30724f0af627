// See read_states_first.h.
#include "task/read_states_first.h"

#include <algorithm>
#include <map>

#include "graph/passes/absorb.h"
#include "graph/passes/cleanup.h"

namespace axon::task {

using graph::Dim;
using graph::Node;
using graph::NodeId;
using graph::NodeOp;
using graph::Op;
using graph::Output;
using graph::RegionId;
using graph::ScalarId;
using graph::Value;
namespace edit = graph::edit;

namespace {

bool reads(const graph::Graph& g, ScalarId body, Value v) {
  const auto& loads = loads_in(g, body);
  return std::any_of(loads.begin(), loads.end(), [&](ScalarId l) { return g.scalars[l].target == v; });
}

bool reads_locals(const graph::Graph& g, ScalarId body) {
  const auto& loads = loads_in(g, body);
  return std::any_of(loads.begin(), loads.end(), [&](ScalarId l) { return g.scalars[l].target.is_local(); });
}

/// Does the load read the point of the domain that is computed?
bool is_at(const graph::Graph& g, ScalarId load, const std::vector<Dim>& at) {
  const std::vector<ScalarId>& indices = g.scalars[load].args;
  for (size_t a = 0; a < at.size(); ++a)
    if (affine_index(g, indices[a]) != at[a]) return false;
  return true;
}

/// The node with the outputs that `keep` names, in that order.
Node with_outputs(const Node& node, const std::vector<uint32_t>& keep) {
  Node part = node;
  part.outputs.clear();
  part.types.clear();
  for (const uint32_t o : keep) {
    part.outputs.push_back(node.outputs[o]);
    part.types.push_back(node.types[o]);
  }
  return part;
}

}  // namespace

bool reads_only_what_it_writes(const graph::Graph& g, const Node& node, Value v, const std::vector<Dim>& at) {
  for (const auto& local : node.locals)
    if (reads(g, local.body, v)) return false;
  return std::all_of(node.outputs.begin(), node.outputs.end(), [&](const Output& output) {
    const auto all = scalars_in(g, output.body);
    return std::all_of(all.begin(), all.end(), [&](ScalarId id) {
      const graph::Scalar& s = g.scalars[id];
      if (graph::binds(s.op)) return !reads(g, id, v);
      return s.op != Op::load || s.target != v || is_at(g, id, at);
    });
  });
}

void ReadStatesFirst::undo() {
  if (before_) g_ = std::move(*before_);
  before_.reset();
  uses_.reset();
}

const edit::Uses& ReadStatesFirst::uses(Value v) {
  if (!uses_) uses_ = edit::uses_of(g_);
  return (*uses_)[v];
}

/// The nodes of the region that read the value, themselves or in what is inside of them.
std::set<NodeId> ReadStatesFirst::readers(RegionId region, Value v) {
  std::set<NodeId> found;
  for (const NodeId user : uses(v).users())
    if (const NodeId id = edit::representative(g_, region, user); id.valid()) found.insert(id);
  return found;
}

/// What must stay before what in the region. How often a loop with a condition ran is known after it.
edit::Order ReadStatesFirst::order_of(RegionId region) const {
  edit::Order order(g_, region);
  for (const NodeId loop : g_.regions[region].nodes) {
    if (!g_.nodes[loop].condition) continue;
    for (const NodeId id : g_.regions[region].nodes)
      if (id != loop && mentions(g_, id, steps_var(g_.nodes[loop]))) order.require(loop, id);
  }
  return order;
}

bool ReadStatesFirst::before(NodeId updater, Value v) {
  const RegionId region = g_.nodes[updater].region;
  std::set<NodeId> first = readers(region, v);
  first.erase(updater);
  const std::vector<NodeId>& nodes = g_.regions[region].nodes;
  const auto after = std::find(nodes.begin(), nodes.end(), updater);
  if (std::none_of(after, nodes.end(), [&](NodeId id) { return first.contains(id); })) return true;
  edit::Order order = order_of(region);
  for (const NodeId reader : first)
    if (order.has_path(updater, reader)) return false;
  for (const NodeId reader : first) order.require(reader, updater);
  g_.regions[region].nodes = order.sorted();
  return true;
}

bool ReadStatesFirst::before_step(NodeId loop, uint32_t c) {
  together_ = false;
  for (;;) {
    const graph::Carried carried = g_.nodes[loop].carried[c];
    const Node& step = g_.nodes[carried.result.node];
    const bool own =
        reads_only_what_it_writes(g_, step, carried.param, step.outputs[carried.result.output].at);
    if (own && before(carried.result.node, carried.param)) return true;
    if (!before_) before_ = g_;
    if (!(own ? remove_obstacle(carried.result, carried.param) : separate(carried.result))) return false;
    uses_.reset();
  }
}

/// One change after which fewer readers of the state need what the step makes of it; false when there is
/// none. Ends: each takes a reader of `next` away, or a node, or separates outputs, which happens once.
bool ReadStatesFirst::remove_obstacle(Value next, Value state) {
  const NodeId step = next.node;
  const RegionId region = g_.nodes[step].region;
  const edit::Order order = order_of(region);
  std::set<NodeId> late = readers(region, state);
  std::erase_if(late, [&](NodeId id) { return id == step || !order.has_path(step, id); });
  const auto leads_to_late = [&](NodeId id) {
    return std::any_of(late.begin(), late.end(),
                       [&](NodeId reader) { return id == reader || order.has_path(id, reader); });
  };
  std::set<NodeId> users = readers(region, next);
  std::erase_if(users, [&](NodeId id) { return id == step || !leads_to_late(id); });
  for (const NodeId user : users)
    if (compute_again(next, user, order)) return true;
  users.insert(late.begin(), late.end());
  for (const NodeId user : users)
    if (!order.has_detour(step, user) && compute_together(step, user)) return together_ = true;
  return separate(next);
}

/// Makes the output a node of its own, behind the others: they may be what is needed early, or what reads
/// other elements. False when it is alone already, or was put together with others.
bool ReadStatesFirst::separate(Value next) {
  const Node node = g_.nodes[next.node];
  if (together_ || node.outputs.size() == 1) return false;
  std::vector<uint32_t> others;
  for (uint32_t o = 0; o < node.outputs.size(); ++o)
    if (o != next.output) others.push_back(o);
  const NodeId first = g_.nodes.add(with_outputs(node, others));
  const NodeId last = g_.nodes.add(with_outputs(node, {next.output}));
  std::vector<NodeId>& nodes = g_.regions[node.region].nodes;
  const auto place = std::find(nodes.begin(), nodes.end(), next.node);
  *place = first;
  nodes.insert(place + 1, last);
  std::map<Value, Value> moved{{next, {last, 0}}};
  for (uint32_t k = 0; k < others.size(); ++k) moved[{next.node, others[k]}] = {first, k};
  edit::replace_values(g_, moved);
  edit::tidy_locals(g_, first);
  edit::tidy_locals(g_, last);
  return true;
}

/// What updates the value in the region.
std::set<NodeId> ReadStatesFirst::updaters(RegionId region, Value v) const {
  std::set<NodeId> found;
  for (const NodeId id : g_.regions[region].nodes) {
    const Node& node = g_.nodes[id];
    for (const Output& output : node.outputs)
      if (output.base == v) found.insert(id);
    for (const graph::Carried& carried : node.carried)
      if (carried.init == v && carried.result != carried.param) found.insert(id);
  }
  return found;
}

/// The body with what it reads of `next` computed in place; nullopt when that cannot be.
std::optional<ScalarId> ReadStatesFirst::with_its_own(Value next, ScalarId body) const {
  const Node& step = g_.nodes[next.node];
  const std::vector<graph::Axis> domain = step.domain;
  const ScalarId value = step.outputs[next.output].body;
  bool possible = true;
  body = rewrite_loads(g_, body, [&](ScalarId id) {
    if (g_.scalars[id].target != next) return id;
    const std::vector<ScalarId> indices = g_.scalars[id].args;
    const auto inside = edit::instantiate(g_, domain, value, indices);
    possible = possible && inside;
    return inside.value_or(id);
  });
  if (!possible || edit::post_order(g_, body).size() > edit::max_body_size) return std::nullopt;
  return body;
}

/// Lets `user`, and what is inside of it, compute each element of `next` that it reads, from what the step
/// reads.
bool ReadStatesFirst::compute_again(Value next, NodeId user, const edit::Order& order) {
  const Node step = g_.nodes[next.node];
  const Output& output = step.outputs[next.output];
  if (!edit::is_plain(step, output) || !edit::is_pointwise(g_, output.body) || reads_locals(g_, output.body))
    return false;
  std::set<NodeId> later;  // what updates something that the user then reads
  for (const ScalarId l : loads_in(g_, output.body)) later.merge(updaters(step.region, g_.scalars[l].target));
  if (g_.nodes[user].op == NodeOp::loop && later.contains(user)) return false;
  later.erase(user);
  if (std::any_of(later.begin(), later.end(), [&](NodeId id) { return order.has_path(id, user); }))
    return false;
  std::map<NodeId, Node> changed;
  for (const NodeId id : uses(next).users()) {
    if (edit::representative(g_, step.region, id) != user) continue;
    Node node = g_.nodes[id];
    bool possible = true;
    edit::each_body(node, [&](ScalarId& body, const auto&) {
      const auto own = possible ? with_its_own(next, body) : std::nullopt;
      possible = own.has_value();
      body = own.value_or(body);
    });
    if (!possible || !updates_stay_in_place(id, node)) return false;
    changed.emplace(id, std::move(node));
  }
  for (auto& [id, node] : changed) {
    g_.nodes[id] = std::move(node);
    edit::simplify_node(g_, id);
  }
  edit::Order now = order_of(step.region);
  for (const NodeId id : later) now.require(user, id);
  g_.regions[step.region].nodes = now.sorted();
  return true;
}

/// The values that the outputs of the node are to be written over, with where.
std::vector<std::pair<Value, std::vector<Dim>>> ReadStatesFirst::written_over(NodeId id,
                                                                              const Node& node) const {
  std::vector<std::pair<Value, std::vector<Dim>>> found;
  for (const Output& output : node.outputs)
    if (output.base) found.emplace_back(*output.base, output.at);
  if (const NodeId loop = g_.regions[node.region].loop; loop.valid())
    for (const graph::Carried& carried : g_.nodes[loop].carried)
      if (carried.result.node == id && given_up_.contains(carried.param))
        found.emplace_back(carried.param, node.outputs[carried.result.output].at);
  return found;
}

/// What the node was able to write over, it still is, as `now`.
bool ReadStatesFirst::updates_stay_in_place(NodeId id, const Node& now) const {
  const auto values = written_over(id, now);
  return std::all_of(values.begin(), values.end(), [&](const auto& value) {
    return !reads_only_what_it_writes(g_, g_.nodes[id], value.first, value.second) ||
           reads_only_what_it_writes(g_, now, value.first, value.second);
  });
}

/// The two nodes as one, whose outputs are those of the step and then those of the user; nullopt when they do
/// not compute the same points, or when the user reads others than it computes.
std::optional<Node> ReadStatesFirst::together(NodeId step, NodeId user) const {
  const Node &a = g_.nodes[step], &b = g_.nodes[user];
  if (b.op != NodeOp::compute || !edit::same_domain(a, b) || a.guarded != b.guarded) return std::nullopt;
  if (edit::stands_alone(g_, a) || edit::stands_alone(g_, b)) return std::nullopt;
  const uint32_t own = static_cast<uint32_t>(a.outputs.size());
  Node node = edit::joined(g_, a, b);
  const std::vector<Dim> here = graph::identity_map(node.domain);
  bool possible = true;
  for (const auto& local : node.locals)
    for (const ScalarId l : loads_in(g_, local.body))
      possible = possible && g_.scalars[l].target.node != step;
  for (uint32_t o = own; possible && o < node.outputs.size(); ++o) {
    const ScalarId whole = node.outputs[o].body;
    node.outputs[o].body = rewrite_loads(g_, whole, [&](ScalarId id) {
      const Value target = g_.scalars[id].target;
      if (target.is_local() || target.node != step) return id;
      const Output& output = node.outputs[target.output];
      const bool same = edit::is_plain(node, output) && edit::is_pointwise(g_, output.body) &&
                        is_at(g_, id, here) && !edit::is_under_binder(g_, whole, id);
      possible = possible && same;
      return same ? output.body : id;
    });
    possible = possible && edit::post_order(g_, node.outputs[o].body).size() <= edit::max_body_size;
  }
  return possible ? std::optional(std::move(node)) : std::nullopt;
}

bool ReadStatesFirst::compute_together(NodeId step, NodeId user) {
  auto node = together(step, user);
  if (!node) return false;
  auto values = written_over(step, g_.nodes[step]);
  for (auto& [value, at] : written_over(user, g_.nodes[user])) {
    const Node& from = g_.nodes[user];
    shape::Substitution renamed;
    for (size_t a = 0; a < from.domain.size(); ++a) renamed[from.domain[a].var] = Dim(node->domain[a].var);
    for (Dim& d : at) d = d.substitute(renamed);
    values.emplace_back(value, at);
  }
  for (const auto& [value, at] : values)
    if (!reads_only_what_it_writes(g_, *node, value, at)) return false;
  std::map<Value, Value> moved;
  const uint32_t own = static_cast<uint32_t>(g_.nodes[step].outputs.size());
  for (uint32_t o = 0; o < g_.nodes[user].outputs.size(); ++o) moved[{user, o}] = {step, own + o};
  edit::commit_merge(g_, step, user, std::move(*node));
  edit::replace_values(g_, moved);
  return true;
}

}  // namespace axon::task
