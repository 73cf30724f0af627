// See uses.h. `each_expression`, `each_slot` and `each_root` are the lists of places; all else goes through
// them.
#include "graph/uses.h"

#include "base/work.h"

namespace axon::graph {

namespace {

/// Calls `visit(body, kind, slot)` for each expression of a node that can load.
template <class AnyNode, class Visit>
void each_expression(AnyNode& node, const Visit& visit) {
  for (uint32_t l = 0; l < node.locals.size(); ++l) visit(node.locals[l].body, UseKind::local_load, l);
  for (uint32_t o = 0; o < node.outputs.size(); ++o) visit(node.outputs[o].body, UseKind::output_load, o);
  for (uint32_t s = 0; s < node.dynamic_sizes.size(); ++s)
    visit(node.dynamic_sizes[s].value, UseKind::extent_load, s);
}

/// Calls `visit(value, kind, slot)` for each value that a node names outside of its expressions.
template <class AnyNode, class Visit>
void each_slot(AnyNode& node, const Visit& visit) {
  for (uint32_t o = 0; o < node.outputs.size(); ++o)
    if (node.outputs[o].base) visit(*node.outputs[o].base, UseKind::base, o);
  for (uint32_t c = 0; c < node.carried.size(); ++c) {
    visit(node.carried[c].init, UseKind::init, c);
    visit(node.carried[c].result, UseKind::next, c);
  }
}

/// Calls `visit(value, kind, slot)` for each value that the graph names outside of its nodes.
template <class AnyGraph, class Visit>
void each_root(AnyGraph& g, const Visit& visit) {
  for (uint32_t r = 0; r < g.results.size(); ++r) visit(g.results[r].value, UseKind::result, r);
  for (uint32_t c = 0; c < g.checks.size(); ++c)
    if (!g.checks[c].fact) visit(g.checks[c].value, UseKind::check, c);
  for (uint32_t s : data_sizes(g)) visit(g.sizes[s].value, UseKind::size, s);
  for (uint32_t d = 0; d < g.debugs.size(); ++d) visit(g.debugs[d].value, UseKind::debug, d);
}

/// The body with every load of a value going to `now` of it.
ScalarId redirected(Graph& g, ScalarId body, const std::function<Value(Value)>& now) {
  bool affected = false;
  for (ScalarId l : loads_in(g, body)) {
    const Value target = g.scalars[l].target;
    affected |= !target.is_local() && now(target) != target;
  }
  if (!affected) return body;
  return rewrite_loads(g, body, [&](ScalarId l) {
    Scalar load = g.scalars[l];
    if (load.target.is_local()) return l;
    load.target = now(load.target);
    return make_scalar(g, std::move(load));
  });
}

}  // namespace

void for_each_use(const Graph& g, NodeId user, const VisitUse& visit) {
  const Node& node = g.nodes[user];
  each_expression(node, [&](ScalarId body, UseKind kind, uint32_t slot) {
    for (ScalarId l : loads_in(g, body))
      if (const Value v = g.scalars[l].target; !v.is_local()) visit(v, {kind, user, slot, l});
  });
  each_slot(node, [&](Value v, UseKind kind, uint32_t slot) { visit(v, {kind, user, slot}); });
}

void for_each_root_use(const Graph& g, const VisitUse& visit) {
  each_root(g, [&](Value v, UseKind kind, uint32_t slot) { visit(v, {kind, NodeId{}, slot}); });
}

void for_each_use(const Graph& g, const VisitUse& visit) {
  for (NodeId id : all_nodes(g)) for_each_use(g, id, visit);
  for_each_root_use(g, visit);
}

void replace_uses(Graph& g, const std::function<Value(Value)>& now) {
  for (NodeId id : all_nodes(g))
    each_expression(g.nodes[id], [&](ScalarId& body, UseKind, uint32_t) { body = redirected(g, body, now); });
  replace_whole_uses(g, now);
}

void replace_whole_uses(Graph& g, const std::function<Value(Value)>& now) {
  const auto replace = [&](Value& v, UseKind, uint32_t) { v = now(v); };
  for (NodeId id : all_nodes(g)) each_slot(g.nodes[id], replace);
  each_root(g, replace);
}

void replace_use(Graph& g, const Use& use, Value now) {
  const auto replace = [&](Value& v, UseKind kind, uint32_t slot) {
    if (kind == use.kind && slot == use.slot) v = now;
  };
  use.user.valid() ? each_slot(g.nodes[use.user], replace) : each_root(g, replace);
}

std::vector<NodeId> all_nodes(const Graph& g) {
  std::vector<NodeId> order;
  std::vector<std::pair<RegionId, size_t>> stack{{g.root, 0}};
  while (!stack.empty()) {
    auto& [region, next] = stack.back();
    const std::vector<NodeId>& nodes = g.regions[region].nodes;
    if (next == nodes.size()) {
      stack.pop_back();
      continue;
    }
    NodeId id = nodes[next++];
    base::work();
    order.push_back(id);
    if (g.nodes[id].op == NodeOp::loop) stack.emplace_back(g.nodes[id].body, 0);
  }
  return order;
}

Value origin(const Graph& g, Value v) {
  for (;;) {
    const Node& node = g.nodes[v.node];
    if (node.op == NodeOp::compute && node.outputs[v.output].base)
      v = *node.outputs[v.output].base;
    else if (node.op == NodeOp::loop)
      v = node.carried[v.output].init;
    else
      return v;
  }
}

std::optional<uint32_t> state_of(const Graph& g, Value v) {
  const Node& node = g.nodes[origin(g, v).node];
  const bool is_state = node.op == NodeOp::input && g.inputs[node.input].kind == InputKind::state;
  return is_state ? std::optional(node.input) : std::nullopt;
}

/// Is the value another than the one whose storage it continues? A loop may hand on what it began with.
static bool is_update(const Node& node, uint32_t output) {
  if (node.op == NodeOp::compute) return node.outputs[output].base.has_value();
  if (node.op != NodeOp::loop) return false;
  const Carried& carried = node.carried[output];
  return carried.result != carried.param && carried.result != carried.init;
}

Value final_value(const Graph& g, uint32_t state) {
  for (const Result& r : g.results)
    if (state_of(g, r.value) == state) return r.value;
  Value last;
  for (NodeId id : g.regions[g.root].nodes)
    for (uint32_t o = 0; o < g.nodes[id].types.size(); ++o)
      if (is_update(g.nodes[id], o) && state_of(g, {id, o}) == state) last = {id, o};
  return last;
}

}  // namespace axon::graph
