// Dead code elimination: only the values that results, checks, sizes and debugs need.
//
// In: any graph, also one whose stores and regions hold more than that. Out: the same meaning, compact.
// Liveness is computed backwards; a value that a loop carries is live when its output is, or when something
// live reads it inside. A carried value that its loop never changes is read from outside instead.
#include <algorithm>

#include "graph/passes/cleanup.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace edit {

namespace {

struct Liveness {
  std::set<Value> values;
  std::vector<bool> checks;
};

/// What is needed, when of the checks in `unneeded` only those are that something needed evaluates.
class LivenessAnalysis {
 public:
  explicit LivenessAnalysis(const Graph& graph) : g(graph) {}

  Liveness run(const std::set<uint32_t>& unneeded) {
    live_.checks.assign(g.checks.size(), false);
    for (uint32_t c = 0; c < g.checks.size(); ++c)
      if (!unneeded.contains(c)) need_check(c);
    for_each_root_use(g, [&](Value v, const Use& use) {
      if (use.kind != UseKind::check) need(v);
    });
    for (uint32_t i = 0; i < g.inputs.size(); ++i)
      if (g.inputs[i].kind == InputKind::state)
        if (const Value last = final_value(g, i); last.node.valid()) need(last);
    for (NodeId loop : loops_with_effects(g)) need({loop, 0});
    while (!todo_.empty()) {
      const Value v = todo_.back();
      todo_.pop_back();
      follow(v);
    }
    return std::move(live_);
  }

 private:
  const Graph& g;
  Liveness live_;
  std::vector<Value> todo_;

  void need(Value v) {
    if (live_.values.insert(v).second) todo_.push_back(v);
  }

  void need_check(uint32_t c) {
    if (live_.checks[c]) return;
    live_.checks[c] = true;
    if (!g.checks[c].fact) need(g.checks[c].value);
  }

  void follow(Value v) {
    const Node& node = g.nodes[v.node];
    if (node.op == NodeOp::param) need({g.regions[node.region].loop, v.output});
    if (node.op == NodeOp::loop) {
      need(node.carried[v.output].init);
      need(node.carried[v.output].result);
      if (node.condition) need({v.node, *node.condition});
    }
    if (node.op != NodeOp::compute) return;
    if (node.outputs[v.output].base) need(*node.outputs[v.output].base);
    need_body(node, node.outputs[v.output].body);
    for (const DynamicSize& size : node.dynamic_sizes) need_body(node, size.value);
  }

  /// What the body and the locals that it reads evaluate.
  void need_body(const Node& node, ScalarId root) {
    std::vector<ScalarId> bodies{root};
    std::set<uint32_t> locals;
    while (!bodies.empty()) {
      const ScalarId body = bodies.back();
      bodies.pop_back();
      for (ScalarId id : scalars_in(g, body)) {
        const Scalar& s = g.scalars[id];
        if (s.op == Op::bounded || s.op == Op::require) need_check(s.check);
        if (s.op != Op::load) continue;
        if (!s.target.is_local())
          need(s.target);
        else if (locals.insert(s.target.output).second)
          bodies.push_back(node.locals[s.target.output].body);
      }
    }
  }
};

/// Keeps the entries of `list` whose number is in `kept`.
template <class T>
void keep(std::vector<T>& list, const std::vector<uint32_t>& kept) {
  std::vector<T> now;
  for (uint32_t k : kept) now.push_back(std::move(list[k]));
  list = std::move(now);
}

/// Keeps these outputs of a node; what moves to another number is noted in `moved`.
void keep_outputs(Graph& g, NodeId id, const std::vector<uint32_t>& kept, std::map<Value, Value>& moved) {
  Node& node = g.nodes[id];
  const auto note = [&](NodeId of, uint32_t now) {
    if (kept[now] != now) moved[{of, kept[now]}] = {of, now};
  };
  for (uint32_t now = 0; now < kept.size(); ++now) note(id, now);
  keep(node.types, kept);
  if (node.op == NodeOp::compute) return keep(node.outputs, kept);
  const NodeId param = node.carried[0].param.node;
  std::optional<uint32_t> condition;
  keep(node.carried, kept);
  keep(g.nodes[param].types, kept);
  for (uint32_t now = 0; now < kept.size(); ++now) {
    note(param, now);
    node.carried[now].param = {param, now};
    if (node.condition == kept[now]) condition = now;
  }
  node.condition = condition;
}

void remove_values(Graph& g, const std::set<Value>& live) {
  std::map<Value, Value> moved;
  std::set<NodeId> dead;
  for (NodeId id : all_nodes(g)) {
    const Node& node = g.nodes[id];
    if (node.op == NodeOp::input || node.op == NodeOp::param) continue;
    std::vector<uint32_t> kept;
    for (uint32_t o = 0; o < node.types.size(); ++o)
      if (live.count({id, o})) kept.push_back(o);
    if (kept.empty())
      dead.insert(id);
    else if (kept.size() < node.types.size())
      keep_outputs(g, id, kept, moved);
  }
  for (Region& region : g.regions) std::erase_if(region.nodes, [&](NodeId n) { return dead.count(n) > 0; });
  // One step per value, not a chain: a value's new number may be another's old one.
  if (moved.empty()) return;
  replace_uses(g, [&](Value v) {
    const auto it = moved.find(v);
    return it == moved.end() ? v : it->second;
  });
}

void remove_checks(Graph& g, const std::vector<bool>& live) {
  std::vector<uint32_t> number, kept;
  for (uint32_t c = 0; c < live.size(); ++c) {
    number.push_back(static_cast<uint32_t>(kept.size()));
    if (live[c]) kept.push_back(c);
  }
  if (kept.size() == live.size()) return;
  keep(g.checks, kept);
  const auto renumbered = [&](ScalarId body) {
    return rebuild(g, body, [&](Scalar s) {
      if (s.op == Op::bounded || s.op == Op::require) s.check = number[s.check];
      return make_scalar(g, std::move(s));
    });
  };
  for (NodeId id : all_nodes(g)) {
    each_body(g.nodes[id], [&](ScalarId& body, const auto&) { body = renumbered(body); });
    for (DynamicSize& size : g.nodes[id].dynamic_sizes) size.value = renumbered(size.value);
  }
}

}  // namespace

void sweep(Graph& g, const std::set<uint32_t>& unneeded_checks) {
  const Liveness live = LivenessAnalysis(g).run(unneeded_checks);
  remove_checks(g, live.checks);
  remove_values(g, live.values);
  for (NodeId id : all_nodes(g))
    if (!g.nodes[id].locals.empty()) tidy_locals(g, id);
}

}  // namespace edit

void eliminate_dead_code(Graph& g, const std::set<uint32_t>& unneeded_checks) {
  edit::forward_unchanged(g);
  edit::sweep(g, unneeded_checks);
  compact(g);
}

}  // namespace axon::graph
