// a with [...] = v as a node that updates its base.
//
// The update is in place where the tensor is dead after it. Inside of a `for`, each point of the index
// variables around has a copy of its own. Where data or a condition decides which positions change, the whole
// axis is stored: the other elements keep their values.
#include <fmt/format.h>

#include <algorithm>

#include "graph/clamp.h"
#include "graph/from_core/evaluator.h"

namespace axon::graph {

using core::Expr;
using shape::Verdict;

Val IndexEvaluator::update(const Expr& e, const Val& of, const Val& value) {
  if (failed_) return {};
  if (of.kind == Val::Kind::array) return Val::of(updated(e, of.array, builder_.leaf(value)));
  Val v = of;
  const Val now = in_order_of(of, value);
  for (size_t i = 0; i < v.items.size(); ++i) v.items[i] = update(e, of.items[i], now.items.at(i));
  return v;
}

/// Where an update stores: a domain, the position of each of its points, and the value there.
struct IndexEvaluator::Target {
  std::vector<Axis> domain;
  std::vector<Dim> at;
  ScalarId value;              // over the domain
  std::vector<ScalarId> hits;  // what has to hold for a point to be changed at all
  struct Point {
    size_t axis;
    ScalarId index;
  };
  std::vector<Point> points;  // axes of which one position is changed, and which one
  bool varies = false;        // the value need not be there where a point is not changed
};

/// Is the position, over the variables of the selection, in range for all data and without any condition?
bool IndexEvaluator::is_certain(ScalarId index, const Dim& extent, const Selection& s) const {
  const auto at = affine_index(g, index);
  if (!at || sizes_.is_data_dependent(*at)) return false;
  const std::vector<Fact> known = sizes_.known_facts();
  std::vector<Fact> facts = known;
  for (size_t i = 0; i < s.vars.size(); ++i) {
    if (!at->contains(s.vars[i])) continue;
    if (sizes_.varies(s.shape[i])) return *at == Dim(s.vars[i]) && s.shape[i] == extent;
    if (sizes_.most_in_loops(s.shape[i])) return false;  // what is stored is alike in every iteration
    facts.push_back(shape::at_least(Dim(s.vars[i]), Dim(0)));
    facts.push_back(shape::less(Dim(s.vars[i]), s.shape[i]));
  }
  if (guards_.empty()) return true;
  for (size_t i = 0; i < s.vars.size(); ++i)  // outside of its branch the size of a run may be negative
    if (at->contains(s.vars[i]) &&
        shape::prove(known, shape::at_least(s.shape[i], Dim(0))).verdict != Verdict::proved)
      return false;
  return is_in_range(g, index, extent, facts);
}

/// Adds an axis whose changed positions data or a condition decides: every element is stored, and those that
/// do not change keep their values. Returns false when the selection has no run of positions. `what`: the
/// update, for messages.
bool IndexEvaluator::along_whole_axis(const Selection& s, size_t axis, const Dim& extent,
                                      const std::string& what, Target& target) {
  if (!s.runs[axis]) return false;
  const Selection::Run run = *s.runs[axis];
  const Var v = shape::fresh_var(run.var ? shape::var_name(*run.var) : "p");
  const ScalarId here = index_of(g, Dim(v));
  target.domain.push_back({v, extent});
  target.at.emplace_back(v);
  if (!run.var) {
    target.hits.push_back(apply(g, Op::eq, {here, run.start}));
    target.points.push_back({axis, run.start});
    return true;
  }
  const ScalarId start = run.start, zero = constant_int(g, Elem::i64, 0);
  const auto first = affine_index(g, start);
  if (!first || bounds_.proof(shape::at_most(*first + run.count, extent)) == Proof::unknown) {
    const ScalarId count = sizes_.value_of(run.count);
    const ScalarId last = apply(g, Op::sub, {sizes_.value_of(extent), count});
    checks_.require(apply(g, Op::and_, {apply(g, Op::le, {zero, start}), apply(g, Op::le, {start, last})}),
                    start, last,
                    fmt::format("{}: the slice begins at {{lhs}}, which is not in 0 .. {{rhs}}", what));
  }
  const ScalarId from_start = apply(g, Op::sub, {here, start});
  target.hits.push_back(apply(g, Op::le, {zero, from_start}));
  target.hits.push_back(apply(g, Op::lt, {from_start, sizes_.value_of(run.count)}));
  const ScalarId last = index_of(g, sizes_.bound_of(run.count) - Dim(1));
  target.varies |= sizes_.most_in_loops(run.count).has_value();
  const ScalarId inside = apply(g, Op::max, {apply(g, Op::min, {from_start, last}), zero});
  if (const auto dim = affine_index(g, inside))
    target.value = substitute(g, target.value, shape::Substitution{{*run.var, *dim}});
  else
    target.value = substitute(g, target.value, std::map<Var, ScalarId>{{*run.var, inside}});
  return true;
}

/// The value with the sizes of what it is stored into, where the data decides one of the two.
Array IndexEvaluator::fitted(const Expr& e, Array value, const Selection& s) {
  const auto by_data = [&](const Dim& d) { return reads_data(g, d) || sizes_.varies(d); };
  for (size_t k = 1; k <= std::min(value.shape.size(), s.shape.size()); ++k) {
    const size_t axis = value.shape.size() - k;
    const Dim& size = s.shape[s.shape.size() - k];
    if (!value.shape[axis].is(1) && (by_data(size) || by_data(value.shape[axis])))
      checks_.require_size(value, axis, size, fmt::format("what {} stores", quoted(e.span)));
  }
  return value;
}

/// Does the value read elements of the updated tensor that are not those which it is stored to? It is then
/// computed before the update, so that this can be made in place.
bool IndexEvaluator::reads_others(ScalarId value, const Array& of, const Selection& s) const {
  const Scalar& base = g.scalars[of.body];
  if (base.op != Op::load) return false;
  const auto& loads = loads_in(g, value);
  return std::any_of(loads.begin(), loads.end(), [&](ScalarId id) {
    return g.scalars[id].target == base.target && g.scalars[id].args != s.indices;
  });
}

Array IndexEvaluator::updated(const Expr& e, const std::shared_ptr<Array>& of, const Array& value) {
  builder_.force(*of);
  const auto written = static_cast<uint32_t>(g.checks.size());
  Selection s = select(e, *of, Use::update);
  if (failed_) return *of;
  Target target;
  Array now = fitted(e, value, s);
  target.value = builder_.stretched(now, s.shape, s.vars);
  const bool has_point =
      std::any_of(s.runs.begin(), s.runs.end(), [](const auto& r) { return r && !r->var; });
  if (has_point && reads_others(target.value, *of, s)) {
    builder_.keep(now);
    target.value = builder_.stretched(now, s.shape, s.vars);
  }
  std::set<Var> stored;
  for (size_t axis = 0; axis < s.indices.size(); ++axis) {
    if (is_certain(s.indices[axis], of->shape[axis], s)) {
      target.at.push_back(*affine_index(g, s.indices[axis]));
      for (Var v : target.at.back().vars()) stored.insert(v);
      continue;
    }
    if (!along_whole_axis(s, axis, of->shape[axis], quoted(e.span), target)) {
      unsupported(
          "an update at several positions of an axis, each decided by the data: `scatter` makes those");
      return *of;
    }
    if (s.runs[axis]->var) checked_.withdraw(s.indices[axis], written);
  }
  for (size_t i = 0; i < s.vars.size(); ++i)
    if (stored.count(s.vars[i])) target.domain.push_back({s.vars[i], s.shape[i]});
  return stored_at(of, std::move(target));
}

/// `of` with the target's points changed.
Array IndexEvaluator::stored_at(const std::shared_ptr<Array>& of, Target target) {
  // The update differs for every index variable that it mentions: then each has a copy of its own.
  std::vector<Axis> lead;
  for (const Axis& a : active_) {
    const auto mentions = [&](const std::vector<Axis>& axes) {
      return std::any_of(axes.begin(), axes.end(), [&](const Axis& other) { return other.var == a.var; });
    };
    const auto reads = [&](ScalarId id) { return mentions(builder_.free_axes(id)); };
    bool used = mentions(builder_.free_axes(of->body, of->shape)) || reads(target.value) ||
                std::any_of(target.hits.begin(), target.hits.end(), reads);
    for (const Dim& d : target.at) used |= d.contains(a.var);
    if (used) lead.push_back(a);
  }
  auto place = builder_.place_of(*of);
  bool in_place = place && lead.empty() && (place->second.empty() || derives_from_param(g, place->first));
  Value base = in_place ? place->first : builder_.store(*of, lead);
  std::vector<Dim> fixed;
  if (in_place) fixed = place->second;
  for (const Axis& a : lead) fixed.emplace_back(a.var);
  std::vector<Dim> at = fixed;
  at.insert(at.end(), target.at.begin(), target.at.end());
  const TensorType type = g.type(base);
  // A load of the old element at a changed position is a load at the position being stored.
  ScalarId body = rewrite_loads(g, target.value, [&](ScalarId id) {
    const Scalar s = g.scalars[id];
    if (s.target != base) return id;
    std::vector<ScalarId> here = s.args;
    for (const Target::Point& p : target.points) {
      const size_t axis = fixed.size() + p.axis;
      if (here[axis] == p.index) here[axis] = index_of(g, target.at[p.axis]);
    }
    return load(g, base, here, s.elem);
  });
  if (!target.hits.empty()) {
    std::vector<ScalarId> here;
    for (const Dim& d : at) here.push_back(index_of(g, d));
    const ScalarId before = load(g, base, here, type.elem);
    for (ScalarId hit : target.hits) body = apply(g, Op::select, {hit, body, before});
  }
  std::vector<Axis> domain = lead;
  domain.insert(domain.end(), target.domain.begin(), target.domain.end());
  const size_t reached = conditions_.size();
  if (target.varies) conditions_.insert(conditions_.end(), target.hits.begin(), target.hits.end());
  const Value v = builder_.emit(domain, body, type, name_here("update"), base, at);
  conditions_.resize(reached);
  TensorType shown{type.elem,
                   {type.shape.begin(), type.shape.begin() + static_cast<ptrdiff_t>(fixed.size())}};
  shown.shape.insert(shown.shape.end(), of->shape.begin(), of->shape.end());
  return builder_.array_of(shown, v, fixed);
}

// ---- updates that a condition chooses ----

std::optional<Array> IndexEvaluator::chosen_update(ScalarId condition, const Array& changed,
                                                   const Array& kept) {
  const auto from = builder_.place_of(kept), to = builder_.place_of(changed);
  if (!from || !to || from->second != to->second || !builder_.free_axes(condition).empty())
    return std::nullopt;
  std::vector<NodeId> updates;
  for (Value v = to->first; v != from->first; v = *g.nodes[v.node].outputs[0].base) {
    const Node& node = g.nodes[v.node];
    if (node.op != NodeOp::compute || node.outputs.size() != 1 || !node.outputs[0].base) return std::nullopt;
    updates.push_back(v.node);
  }
  if (updates.empty()) return std::nullopt;
  std::map<Value, Value> chosen;
  Value base = from->first;
  for (size_t i = updates.size(); i-- > 0;) {
    Node node = g.nodes[updates[i]];
    Output& out = node.outputs[0];
    std::vector<ScalarId> here;
    for (const Dim& d : out.at) here.push_back(index_of(g, d));
    const ScalarId body = rewrite_loads(g, out.body, [&](ScalarId id) {
      const Scalar s = g.scalars[id];
      const auto now = chosen.find(s.target);
      return now == chosen.end() ? id : load(g, now->second, s.args, s.elem);
    });
    const ScalarId before = load(g, base, here, out.type.elem);
    out.body = apply(g, Op::select, {condition, body, before});
    out.base = base;
    base = chosen[{updates[i], 0}] = builder_.add(std::move(node));
  }
  Array result = changed;
  std::vector<ScalarId> at;
  for (const Dim& d : to->second) at.push_back(index_of(g, d));
  for (Var v : result.vars) at.push_back(index_of(g, Dim(v)));
  result.body = load(g, base, at, result.elem);
  return result;
}

}  // namespace axon::graph
