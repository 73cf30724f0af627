// Dead code elimination: the graph again, with only the values that its results need.
//
// In: any graph, also one whose stores and regions hold more than its results need. Out: the same meaning.
// Liveness is computed backwards from results, checks and debugs; a value that a loop carries is live when
// its output is, or when something live reads it inside. A carried value that its loop never changes is read
// from outside instead. Reductions of reductions by the same monoid become one with all binders, except where
// one of them has dynamic extents or is guarded: first those are bounded (bound_dynamic_sizes). Nodes and
// scalars are copied into a new graph, so that nothing dead remains in the stores.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "graph/dynamic_sizes.h"
#include "graph/passes/passes.h"

namespace axon::graph {
namespace {

class DeadCodeEliminator {
 public:
  DeadCodeEliminator(const Graph& from, const std::set<uint32_t>& unneeded)
      : old(from), unneeded_(unneeded) {}

  Graph run() {
    unchanged();
    live();
    out.name = old.name;
    out.sizes = old.sizes;
    out.facts = old.facts;
    out.inputs = old.inputs;
    for (size_t c = 0; c < old.checks.size(); ++c) {
      if (!check_live_[c]) continue;
      check_number_[c] = static_cast<uint32_t>(out.checks.size());
      out.checks.push_back(old.checks[c]);
    }
    out.root = out.regions.add({});
    region(old.root, out.root);
    for (Check& c : out.checks)
      if (!c.fact) c.value = mapped(c.value);
    for (uint32_t s : data_sizes(old)) out.sizes[s].value = mapped(old.sizes[s].value);
    for (const Result& r : old.results) out.results.push_back({r.path, mapped(r.value)});
    for (const Debug& d : old.debugs) out.debugs.push_back({d.name, mapped(d.value), d.is_condition});
    return std::move(out);
  }

 private:
  const Graph& old;
  const std::set<uint32_t>& unneeded_;
  Graph out;
  std::map<Value, Value> same_;  // unchanged carried values: what they are outside
  std::set<Value> live_;
  std::vector<Value> todo_;
  std::vector<bool> check_live_;
  std::map<size_t, uint32_t> check_number_;
  std::map<Value, Value> new_value_;
  std::map<Value, int> reads_;  // loads by live nodes
  std::unordered_map<uint32_t, ScalarId> copied_;

  Value source(Value v) const {
    for (auto it = same_.find(v); it != same_.end(); it = same_.find(v)) v = it->second;
    return v;
  }

  void unchanged() {
    const std::set<NodeId> with_effects = loops_with_effects(old);
    for (uint32_t i = 0; i < old.nodes.size(); ++i) {
      const Node& n = old.nodes[NodeId{i}];
      if (n.op != NodeOp::loop) continue;
      for (uint32_t c = 0; c < n.carried.size(); ++c) {
        if (n.carried[c].result != n.carried[c].param || n.condition == c) continue;
        if (c == 0 && with_effects.count(NodeId{i})) continue;  // something has to keep the loop
        same_[n.carried[c].param] = n.carried[c].init;
        same_[Value{NodeId{i}, c}] = n.carried[c].init;
      }
    }
  }

  // ---- liveness ----

  void need(Value v) {
    v = source(v);
    if (live_.insert(v).second) todo_.push_back(v);
  }
  void need_scalar(ScalarId body) {
    std::vector<ScalarId> stack{body};
    std::set<uint32_t> seen;
    while (!stack.empty()) {
      ScalarId id = stack.back();
      stack.pop_back();
      if (!seen.insert(id.index).second) continue;
      const Scalar& s = old.scalars[id];
      if (s.op == Op::load && !s.target.is_local()) {
        need(s.target);
        ++reads_[source(s.target)];
      }
      if (s.op == Op::bounded && !check_live_[s.check]) {
        check_live_[s.check] = true;
        need(old.checks[s.check].value);
      }
      stack.insert(stack.end(), s.args.begin(), s.args.end());
    }
  }
  void live() {
    check_live_.assign(old.checks.size(), false);
    for (uint32_t c = 0; c < old.checks.size(); ++c) {
      if (unneeded_.contains(c)) continue;
      check_live_[c] = true;
      if (!old.checks[c].fact) need(old.checks[c].value);
    }
    for (NodeId loop : loops_with_effects(old)) need({loop, 0});
    for (const Result& r : old.results) keep(r.value);
    for (uint32_t s : data_sizes(old)) keep(old.sizes[s].value);
    for (const Debug& d : old.debugs) keep(d.value);
    for (NodeId id : old.regions[old.root].nodes)
      if (old.nodes[id].op == NodeOp::input) need({id, 0});
    std::set<NodeId> done;
    while (!todo_.empty()) {
      Value v = todo_.back();
      todo_.pop_back();
      const Node& n = old.nodes[v.node];
      if (n.op == NodeOp::loop) carried(v.node, v.output);
      if (n.op == NodeOp::param) carried(old.regions[n.region].loop, v.output);
      if (n.op != NodeOp::compute || !done.insert(v.node).second) continue;
      for (const Output& o : n.outputs) {
        need_scalar(o.body);
        if (o.base) keep(*o.base);
      }
      for (const Local& l : n.locals) need_scalar(l.body);
      for (const DynamicSize& s : n.dynamic_sizes) need_scalar(s.value);
    }
    for (size_t c = 0; c < old.checks.size(); ++c)
      if (check_live_[c] && !old.checks[c].fact) ++reads_[source(old.checks[c].value)];
  }
  void keep(Value v) {  // needed as a whole: not only loaded from
    need(v);
    reads_[source(v)] += 2;
  }
  void carried(NodeId loop, uint32_t c) {
    const Carried& k = old.nodes[loop].carried[c];
    need({loop, c});
    need(k.param);
    keep(k.init);
    keep(k.result);
    if (const auto condition = old.nodes[loop].condition) need({loop, *condition});
  }

  // ---- copying ----

  Value mapped(Value v) const { return new_value_.at(source(v)); }

  ScalarId copy(ScalarId root) {
    if (auto it = copied_.find(root.index); it != copied_.end()) return it->second;
    std::set<uint32_t> reachable{root.index};
    for (auto it = reachable.rbegin(); it != reachable.rend(); ++it)  // arguments have smaller numbers
      for (ScalarId a : old.scalars[ScalarId{*it}].args) reachable.insert(a.index);
    for (uint32_t index : reachable) {
      if (copied_.count(index)) continue;
      Scalar s = old.scalars[ScalarId{index}];
      for (ScalarId& a : s.args) a = copied_.at(a.index);
      if (s.op == Op::load && !s.target.is_local()) s.target = mapped(s.target);
      if (s.op == Op::bounded || s.op == Op::require) s.check = check_number_.at(s.check);
      copied_[index] = make_scalar(out, std::move(s));
    }
    return copied_.at(root.index);
  }

  void region(RegionId from, RegionId to) {
    for (NodeId id : old.regions[from].nodes) {
      const Node& n = old.nodes[id];
      std::vector<uint32_t> kept;
      for (uint32_t o = 0; o < n.types.size(); ++o)
        if (live_.count({id, o})) kept.push_back(o);
      if (n.op == NodeOp::loop) {
        if (!kept.empty()) loop(id, kept, to);
        continue;
      }
      if (kept.empty() || n.op == NodeOp::param || merged_away(id)) continue;
      Node now = n;
      now.region = to;
      for (Output& o : now.outputs) {
        o.body = merged_body(o.body, n);
        if (o.base) o.base = mapped(*o.base);
      }
      for (Local& l : now.locals) l.body = copy(l.body);
      for (DynamicSize& s : now.dynamic_sizes) s.value = copy(s.value);
      add(id, std::move(now), to);
    }
  }

  NodeId add(NodeId before, Node now, RegionId to) {
    uint32_t outputs = static_cast<uint32_t>(now.types.size());
    NodeId id = out.nodes.add(std::move(now));
    out.regions[to].nodes.push_back(id);
    for (uint32_t o = 0; o < outputs; ++o) new_value_[{before, o}] = {id, o};
    return id;
  }

  void loop(NodeId id, const std::vector<uint32_t>& kept, RegionId to) {
    const Node& n = old.nodes[id];
    Node now = n, param;
    now.region = to;
    now.types.clear();
    now.carried.clear();
    for (uint32_t c : kept) {
      now.types.push_back(n.types[c]);
      if (n.condition == c) now.condition = static_cast<uint32_t>(now.carried.size());
      now.carried.push_back({mapped(n.carried[c].init), {}, {}});
    }
    now.body = out.regions.add({});
    RegionId inside = now.body;
    std::vector<TensorType> types = now.types;
    NodeId loop_id = out.nodes.add(std::move(now));
    out.regions[inside].loop = loop_id;
    param.op = NodeOp::param;
    param.region = inside;
    param.types = types;
    NodeId param_id = out.nodes.add(std::move(param));
    out.regions[inside].nodes.push_back(param_id);
    for (uint32_t k = 0; k < kept.size(); ++k) {
      new_value_[n.carried[kept[k]].param] = {param_id, k};
      out.nodes[loop_id].carried[k].param = {param_id, k};
    }
    region(n.body, inside);
    for (uint32_t k = 0; k < kept.size(); ++k) {
      out.nodes[loop_id].carried[k].result = mapped(n.carried[kept[k]].result);
      new_value_[{id, kept[k]}] = {loop_id, k};
    }
    out.regions[to].nodes.push_back(loop_id);
  }

  // ---- reductions of reductions ----

  /// The reduction that `body`, a reduction of nothing but a load, could absorb: read nowhere else, same
  /// monoid, same region.
  const Node* inner_of(ScalarId body, const Node& outer) const {
    const Scalar& s = old.scalars[body];
    if (s.op != Op::reduce || s.monoid == Monoid::argmax) return nullptr;
    const Scalar& l = old.scalars[s.args[0]];
    if (l.op != Op::load || l.target.is_local()) return nullptr;
    Value v = source(l.target);
    const Node& inner = old.nodes[v.node];
    auto reads = reads_.find(v);
    if (inner.op != NodeOp::compute || inner.outputs.size() != 1 || !inner.locals.empty()) return nullptr;
    if (reads == reads_.end() || reads->second != 1) return nullptr;
    const Scalar& r = old.scalars[inner.outputs[0].body];
    bool affine = std::all_of(l.args.begin(), l.args.end(), [&](ScalarId a) { return affine_index(old, a); });
    bool fits = inner.region == outer.region && r.op == Op::reduce && r.monoid == s.monoid && affine &&
                !inner.outputs[0].base && inner.outputs[0].at == identity_map(inner.domain) &&
                !needs_bounding(old, inner) && !needs_bounding(old, outer);
    return fits ? &inner : nullptr;
  }

  std::set<NodeId> absorbed_;
  bool absorbed_known_ = false;
  bool merged_away(NodeId id) {
    if (!absorbed_known_) {
      absorbed_known_ = true;
      for (Value v : live_)
        for (const Output& o : old.nodes[v.node].outputs)
          if (inner_of(o.body, old.nodes[v.node]))
            absorbed_.insert(source(old.scalars[old.scalars[o.body].args[0]].target).node);
    }
    return absorbed_.count(id) != 0;
  }

  ScalarId merged_body(ScalarId body, const Node& node) {
    const Node* inner = inner_of(body, node);
    if (!inner) return copy(body);
    const Scalar& s = old.scalars[body];
    const Scalar& l = old.scalars[s.args[0]];
    ScalarId nested =
        merged_body(inner->outputs[0].body, *inner);  // in the new graph, over the inner node's variables
    shape::Substitution at;
    for (size_t i = 0; i < inner->domain.size(); ++i)
      at[inner->domain[i].var] = *affine_index(old, l.args[i]);
    Scalar r = out.scalars[substitute(out, nested, at)];
    std::vector<Axis> binders = s.binders;
    binders.insert(binders.end(), r.binders.begin(), r.binders.end());
    return reduce(out, s.monoid, binders, r.args[0]);
  }
};

}  // namespace

void eliminate_dead_code(Graph& g, const std::set<uint32_t>& unneeded_checks) {
  g = DeadCodeEliminator(g, unneeded_checks).run();
}
void eliminate_dead_code(Graph& g) { eliminate_dead_code(g, {}); }

}  // namespace axon::graph
