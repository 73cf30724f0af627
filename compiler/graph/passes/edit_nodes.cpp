// Nodes: predicates, who uses what, replacing and dropping values.
#include <algorithm>

#include "base/work.h"
#include "graph/passes/edit.h"

namespace axon::graph::edit {

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

bool has_pointwise_outputs(const Graph& g, const Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](const Output& o) { return is_pointwise(g, o.body); });
}

// ---- program order and uses ----

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

namespace {

void read_by(const Graph& g, NodeId id, std::set<Value>& read, std::vector<NodeId>& work) {
  const Node& node = g.nodes[id];
  each_body(node, [&](ScalarId body, const auto&) {
    for (ScalarId l : loads_in(g, body))
      if (!g.scalars[l].target.is_local()) read.insert(g.scalars[l].target);
  });
  for (const Output& o : node.outputs)
    if (o.base) read.insert(*o.base);
  for (const Carried& c : node.carried) read.insert({c.init, c.result});
  if (node.op == NodeOp::loop)
    for (NodeId inner : g.regions[node.body].nodes) work.push_back(inner);
  for (uint32_t s : data_sizes(g))
    if (mentions(g, id, g.sizes[s].var)) read.insert(g.sizes[s].value);
}

}  // namespace

std::set<Value> values_read(const Graph& g, NodeId id) {
  std::set<Value> read;
  std::vector<NodeId> work{id};
  std::set<NodeId> inside;
  while (!work.empty()) {
    NodeId next = work.back();
    work.pop_back();
    inside.insert(next);
    read_by(g, next, read, work);
  }
  std::erase_if(read, [&](Value v) { return inside.count(v.node) > 0; });
  return read;
}

std::set<NodeId> Uses::users() const {
  std::set<NodeId> found;
  for (const Site& s : sites) found.insert(s.user);
  return found;
}

namespace {

void add_sites(std::map<Value, Uses>& uses, const Graph& g, NodeId user) {
  const Node& node = g.nodes[user];
  size_t body_number = 0;
  each_body(node, [&](ScalarId body, const auto&) {
    bool in_output = body_number >= node.locals.size();
    size_t number = in_output ? body_number - node.locals.size() : body_number;
    for (ScalarId l : loads_in(g, body))
      if (Value v = g.scalars[l].target; !v.is_local()) uses[v].sites.push_back({user, in_output, number, l});
    ++body_number;
  });
}

}  // namespace

void update_sites(std::map<Value, Uses>& uses, const Graph& g, NodeId user, const std::set<Value>& before) {
  for (Value v : before)
    if (const auto found = uses.find(v); found != uses.end())
      std::erase_if(found->second.sites, [&](const Uses::Site& s) { return s.user == user; });
  add_sites(uses, g, user);
}

std::map<Value, Uses> uses_of(const Graph& g) {
  std::map<Value, Uses> uses;
  for (NodeId id : all_nodes(g)) {
    const Node& node = g.nodes[id];
    base::work(10);
    add_sites(uses, g, id);
    for (const Output& o : node.outputs)
      if (o.base) ++uses[*o.base].others;
    for (const Carried& c : node.carried) {
      ++uses[c.init].others;
      ++uses[c.result].others;
    }
  }
  for (const Result& r : g.results) ++uses[r.value].others;
  for (const Check& c : g.checks)
    if (!c.fact) ++uses[c.value].others;
  for (uint32_t s : data_sizes(g)) ++uses[g.sizes[s].value].others;
  for (const Debug& debug : g.debugs) ++uses[debug.value].others;
  return uses;
}

std::set<Value> consumed_values(const Graph& g) {
  std::set<Value> consumed;
  for (NodeId id : all_nodes(g)) {
    for (const Output& o : g.nodes[id].outputs)
      if (o.base) consumed.insert(*o.base);
    for (const Carried& c : g.nodes[id].carried) consumed.insert({c.init, c.result});
  }
  return consumed;
}

std::set<NodeId> checked_nodes(const Graph& g) {
  std::set<NodeId> checked;
  for (const Check& c : g.checks)
    if (!c.fact) checked.insert(c.value.node);
  return checked;
}

namespace {

/// Passes every use of a value through `now`.
void rewrite_uses(Graph& g, const std::function<Value(Value)>& now) {
  for (NodeId id : all_nodes(g)) {
    Node& node = g.nodes[id];
    each_body(node, [&](ScalarId& body, const auto&) {
      const std::vector<ScalarId>& loads = loads_in(g, body);
      bool affected = std::any_of(loads.begin(), loads.end(), [&](ScalarId l) {
        Value target = g.scalars[l].target;
        return !target.is_local() && now(target) != target;
      });
      if (!affected) return;
      body = rebuild(g, body, [&](Scalar s) {
        if (s.op == Op::load && !s.target.is_local()) s.target = now(s.target);
        return make_scalar(g, std::move(s));
      });
    });
    for (Output& o : node.outputs)
      if (o.base) o.base = now(*o.base);
    for (Carried& c : node.carried) {
      c.init = now(c.init);
      c.result = now(c.result);
    }
  }
  for (Result& r : g.results) r.value = now(r.value);
  for (Check& c : g.checks)
    if (!c.fact) c.value = now(c.value);
  for (uint32_t s : data_sizes(g)) g.sizes[s].value = now(g.sizes[s].value);
  for (Debug& debug : g.debugs) debug.value = now(debug.value);
}

}  // namespace

void replace_values(Graph& g, const std::map<Value, Value>& replacement) {
  if (replacement.empty()) return;
  rewrite_uses(g, [&](Value v) {
    for (auto it = replacement.find(v); it != replacement.end(); it = replacement.find(v)) v = it->second;
    return v;
  });
}

// ---- dead values ----

namespace {

/// The state input that a value continues through updates and loops; invalid when it starts elsewhere.
NodeId continued_state(const Graph& g, Value v) {
  for (;;) {
    const Node& node = g.nodes[v.node];
    if (node.op == NodeOp::compute && node.outputs[v.output].base) {
      v = *node.outputs[v.output].base;
    } else if (node.op == NodeOp::loop) {
      v = node.carried[v.output].init;
    } else {
      bool is_state = node.op == NodeOp::input && g.inputs[node.input].kind == InputKind::state;
      return is_state ? v.node : NodeId{};
    }
  }
}

/// What a state holds at the end: the result handed back for it, else its last update.
std::vector<Value> final_states(const Graph& g) {
  std::map<NodeId, Value> last;
  for (NodeId id : g.regions[g.root].nodes)
    for (uint32_t o = 0; o < g.nodes[id].types.size(); ++o)
      if (NodeId state = continued_state(g, {id, o}); state.valid()) last[state] = {id, o};
  for (const Result& r : g.results) last.erase(continued_state(g, r.value));
  std::vector<Value> values;
  for (const auto& [state, value] : last) values.push_back(value);
  return values;
}

std::set<Value> live_values(const Graph& g) {
  std::set<Value> live;
  std::vector<Value> work;
  auto mark = [&](Value v) {
    if (!v.is_local() && live.insert(v).second) work.push_back(v);
  };
  for (const Result& r : g.results) mark(r.value);
  for (Value v : final_states(g)) mark(v);
  for (const Check& c : g.checks) {
    if (c.fact) continue;
    mark(c.value);
    // What is checked in a loop is checked in each of its iterations, whatever reads the results.
    for (NodeId loop = g.regions[g.nodes[c.value.node].region].loop; loop.valid();
         loop = g.regions[g.nodes[loop].region].loop)
      mark({loop, 0});
  }
  for (uint32_t s : data_sizes(g)) mark(g.sizes[s].value);
  for (const Debug& debug : g.debugs) mark(debug.value);
  while (!work.empty()) {
    Value v = work.back();
    work.pop_back();
    const Node& node = g.nodes[v.node];
    if (node.op == NodeOp::loop) {
      mark(node.carried[v.output].init);
      mark(node.carried[v.output].result);
      if (node.condition) mark({v.node, *node.condition});
    } else if (node.op == NodeOp::param) {
      mark({g.regions[node.region].loop, v.output});
    } else if (node.op == NodeOp::compute) {
      const Output& output = node.outputs[v.output];
      if (output.base) mark(*output.base);
      std::vector<ScalarId> bodies{output.body};
      std::set<uint32_t> locals;
      while (!bodies.empty()) {
        ScalarId body = bodies.back();
        bodies.pop_back();
        for (ScalarId l : loads_in(g, body)) {
          Value target = g.scalars[l].target;
          mark(target);
          if (target.is_local() && locals.insert(target.output).second)
            bodies.push_back(node.locals[target.output].body);
        }
      }
    }
  }
  return live;
}

/// Keeps the entries of `list` whose number is in `kept`.
template <class T>
void keep(std::vector<T>& list, const std::vector<uint32_t>& kept) {
  std::vector<T> now;
  for (uint32_t k : kept) now.push_back(std::move(list[k]));
  list = std::move(now);
}

}  // namespace

void sweep(Graph& g) {
  std::set<Value> live = live_values(g);
  std::map<Value, Value> moved;
  std::set<NodeId> dead;
  for (NodeId id : all_nodes(g)) {
    Node& node = g.nodes[id];
    if (node.op == NodeOp::input || node.op == NodeOp::param) continue;
    std::vector<uint32_t> kept;
    for (uint32_t o = 0; o < node.types.size(); ++o)
      if (live.count({id, o})) kept.push_back(o);
    if (kept.empty()) dead.insert(id);
    if (kept.empty() || kept.size() == node.types.size()) continue;
    for (uint32_t now = 0; now < kept.size(); ++now)
      if (kept[now] != now) moved[{id, kept[now]}] = {id, now};
    keep(node.types, kept);
    if (node.op == NodeOp::compute) {
      keep(node.outputs, kept);
    } else {
      NodeId param = node.carried[0].param.node;
      std::optional<uint32_t> condition;
      keep(node.carried, kept);
      keep(g.nodes[param].types, kept);
      for (uint32_t now = 0; now < kept.size(); ++now) {
        if (kept[now] != now) moved[{param, kept[now]}] = {param, now};
        node.carried[now].param = {param, now};
        if (node.condition == kept[now]) condition = now;
      }
      node.condition = condition;
    }
  }
  for (RegionId r{0}; r.index < g.regions.size(); ++r.index)
    std::erase_if(g.regions[r].nodes, [&](NodeId n) { return dead.count(n) > 0; });
  // One step per value, not a chain: a value's new number may be another's old one.
  if (!moved.empty())
    rewrite_uses(g, [&](Value v) {
      auto it = moved.find(v);
      return it == moved.end() ? v : it->second;
    });
  for (NodeId id : all_nodes(g))
    if (!g.nodes[id].locals.empty()) tidy_locals(g, id);
}

}  // namespace axon::graph::edit
