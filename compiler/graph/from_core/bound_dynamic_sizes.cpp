// Bounding data-dependent sizes, and guarding the loads of a branch.
//
// A node computes all of its domain, whatever an `if` around it decides, and memory is laid out before
// anything runs. So a node in a branch, or one whose sizes vary from one iteration or element to the next, is
// computed over the bounds of its sizes: extents become their bounds, reductions mask what lies past the
// size, and indices that are not proved to be in range without the condition are clamped. Elements past a
// size are computed, and never read.
//
// In: a domain and a body over the index variables in scope. Out: the same over sizes of the entry only, safe
// to evaluate at every point.
#include <algorithm>

#include "graph/from_core/evaluator.h"

namespace axon::graph {

using shape::Verdict;

const DataDependentSize* SizeEnvironment::data_dependent(Var v) const {
  const auto found = std::find_if(data_dependent_.begin(), data_dependent_.end(),
                                  [&](const DataDependentSize& d) { return d.size == v; });
  return found == data_dependent_.end() ? nullptr : &*found;
}

bool SizeEnvironment::is_indexed(const Dim& d) const {
  if (active_.empty()) return false;
  const std::vector<Var> vars = d.vars();
  return std::any_of(vars.begin(), vars.end(), [&](Var v) {
    return std::any_of(active_.begin(), active_.end(), [&](const Axis& a) { return a.var == v; });
  });
}

bool SizeEnvironment::is_data_dependent(const Dim& d) const {
  if (data_dependent_.empty()) return false;
  const std::vector<Var> vars = d.vars();
  return std::any_of(vars.begin(), vars.end(), [&](Var v) { return data_dependent(v) != nullptr; });
}

bool SizeEnvironment::varies(const Dim& d) const { return is_indexed(d) || is_data_dependent(d); }

ScalarId SizeEnvironment::value_of(const Dim& d) {
  std::map<Var, ScalarId> values;
  for (Var v : d.vars())
    if (const DataDependentSize* known = data_dependent(v)) values.emplace(v, known->value);
  return substitute(g, index_of(g, d), values);
}

ScalarId SizeEnvironment::is_inside(const Axis& axis) {
  return apply(g, Op::lt, {index_of(g, Dim(axis.var)), value_of(axis.extent)});
}

/// An upper bound over sizes of the entry; nullopt when none is known.
std::optional<Dim> SizeEnvironment::upper_bound(const Dim& d) const {
  std::optional<Dim> most = d;
  if (is_indexed(d))  // the indices of the `for`s around, at their most
    most = shape::bounds_of(d, known_facts(), [&](Var v) { return is_size(v) || data_dependent(v); }).high;
  for (auto it = data_dependent_.rbegin(); it != data_dependent_.rend() && most; ++it)
    if (most->contains(it->size)) most = at_most(*most, it->size, it->bound);
  return most ? most : shape::bounds_of(d, known_facts(), [&](Var v) { return is_size(v); }).high;
}

std::optional<Dim> SizeEnvironment::most_in_loops(const Dim& d) const {
  const bool of_loop =
      std::any_of(loops_.begin(), loops_.end(), [&](const Axis& a) { return d.contains(a.var); });
  if (!of_loop || varies(d)) return std::nullopt;
  const auto most = shape::bounds_of(d, known_facts(), [&](Var v) { return is_size(v); }).high;
  return most ? std::optional(max(*most, Dim(0))) : std::nullopt;
}

Dim SizeEnvironment::data_dependent_in_loops(const Dim& d) {
  const std::optional<Dim> most = most_in_loops(d);
  if (!most) return d;
  const Dim size = make_data_dependent(index_of(g, d), *most);
  for (DataDependentSize& known : data_dependent_)
    if (size == Dim(known.size)) known.equals = d;
  return size;
}

void SizeEnvironment::refuse_unbounded(const Val& value) {
  if (value.kind != Val::Kind::array) return;
  for (const Dim& d : value.array->shape)
    if (varies(d) && !upper_bound(d))
      return void(unsupported("an axis of " + d.str() + " elements: nothing shows how many that is at most"));
}

Dim SizeEnvironment::bound_of(const Dim& d) const {
  const std::optional<Dim> most = upper_bound(d);
  if (!most) return d;  // refuse_unbounded() reported it
  if ((guards_.empty() && !is_indexed(d)) || most->constant() || most->as_var()) return *most;
  // The range of an index implies that its axis is not empty. That must not prove the extent of the axis
  // itself.
  std::vector<Fact> facts = g.facts;
  for (const Axis& a : loops_) facts.push_back(shape::less(Dim(a.var), a.extent));
  for (const Axis& a : loops_) facts.push_back(shape::at_least(Dim(a.var), Dim(0)));
  return shape::prove(facts, shape::at_least(*most, Dim(0))).verdict == Verdict::proved ? *most
                                                                                        : max(*most, Dim(0));
}

TensorType SizeEnvironment::bound_of(TensorType type) const {
  for (Dim& d : type.shape) d = bound_of(d);
  return type;
}

bool BoundsChecker::needs_bounding(const std::vector<Axis>& domain, ScalarId body) const {
  if (!guards_.empty() || !conditions_.empty()) return true;
  if (sizes_.data_dependent_sizes().empty() && active_.empty()) return false;
  const auto has = [&](const Axis& a) { return sizes_.varies(a.extent); };
  if (std::any_of(domain.begin(), domain.end(), has)) return true;
  const Scalar& s = g.scalars[body];
  if (std::any_of(s.binders.begin(), s.binders.end(), has)) return true;
  const std::vector<Var> vars = free_vars(g, body);
  return std::any_of(vars.begin(), vars.end(), [&](Var v) { return sizes_.data_dependent(v) != nullptr; });
}

bool BoundsChecker::is_in_range(ScalarId index, const Dim& extent, const std::vector<Fact>& facts) const {
  const auto dim = affine_index(g, index);
  if (!dim) return false;
  const Fact low = shape::at_least(*dim, Dim(0)), high = shape::less(*dim, extent);
  const auto stated = [&](const Fact& fact) {
    return std::any_of(facts.begin(), facts.end(), [&](const Fact& f) {
      return f.relation == fact.relation && f.lhs == fact.lhs && f.rhs == fact.rhs;
    });
  };
  const auto holds = [&](const Fact& fact) {
    return stated(fact) || shape::prove(facts, fact).verdict == Verdict::proved;
  };
  return holds(high) && holds(low);
}

ScalarId BoundsChecker::clamped_load(ScalarId id, const std::vector<Fact>& facts) {
  const Scalar s = g.scalars[id];
  const std::vector<Dim> shape = g.type(s.target).shape;
  std::vector<ScalarId> at = s.args;
  std::vector<Dim> not_empty;
  for (size_t a = 0; a < at.size(); ++a) {
    if (is_in_range(at[a], shape[a], facts)) continue;
    const Fact some = shape::at_least(shape[a], Dim(1));
    if (shape::prove(facts, some).verdict != Verdict::proved) not_empty.push_back(shape[a]);
    const auto dim = affine_index(g, at[a]);
    const auto clamped = dim ? exact_index(g, max(min(*dim, shape[a] - Dim(1)), Dim(0))) : std::nullopt;
    if (clamped) {
      at[a] = *clamped;
    } else if (g.scalars[at[a]].op != Op::bounded) {  // those are checked
      const ScalarId last = index_of(g, shape[a] - Dim(1)), zero = constant_int(g, Elem::i64, 0);
      at[a] = apply(g, Op::max, {apply(g, Op::min, {at[a], last}), zero});
    }
  }
  ScalarId safe = load(g, s.target, at, s.elem);
  const ScalarId zero = base::is_float(s.elem) ? constant_float(g, s.elem, 0) : constant_int(g, s.elem, 0);
  for (const Dim& d : not_empty) {
    const ScalarId some = apply(g, Op::le, {constant_int(g, Elem::i64, 1), index_of(g, d)});
    safe = apply(g, Op::select, {some, safe, zero});
  }
  return safe;
}

void BoundsChecker::bound_dynamic_sizes(std::vector<Axis>& domain, ScalarId& body, const std::vector<Dim>& at,
                                        bool grown) {
  if (!grown && !needs_bounding(domain, body)) return;
  if (at != identity_map(domain))  // that `at` is injective is proved for the original extents
    for (const Axis& a : domain)
      if (!sizes_.varies(a.extent)) require(shape::at_least(a.extent, Dim(0)), "the size of an axis");
  std::vector<Axis> masked;
  Scalar root = g.scalars[body];
  const bool reduces = root.op == Op::reduce;
  for (Axis& b : root.binders) {
    if (sizes_.varies(b.extent)) masked.push_back(b);
    b.extent = sizes_.bound_of(b.extent);
  }
  for (Axis& a : domain) a.extent = sizes_.bound_of(a.extent);

  std::vector<Fact> facts = g.facts;
  const auto range = [&](const Axis& a) {
    facts.push_back(shape::at_least(Dim(a.var), Dim(0)));
    facts.push_back(shape::less(Dim(a.var), sizes_.bound_of(a.extent)));
  };
  for (const Axis& a : loops_) range(a);
  for (const Axis& a : domain) range(a);
  for (const Axis& b : root.binders) range(b);

  std::map<Var, ScalarId> values;
  for (const DataDependentSize& d : sizes_.data_dependent_sizes()) values.emplace(d.size, d.value);
  ScalarId term = substitute(g, reduces ? root.args[0] : body, values);
  term = rewrite_loads(g, term, [&](ScalarId id) { return clamped_load(id, facts); });
  if (!reduces) {
    body = term;
    return;
  }
  const Monoid of_terms = root.monoid == Monoid::argmax ? Monoid::max : root.monoid;
  const ScalarId unit = unit_of(g, of_terms, g.scalars[term].elem);
  for (const Axis& b : masked) term = apply(g, Op::select, {sizes_.is_inside(b), term, unit});
  body = reduce(g, root.monoid, root.binders, term);
}

}  // namespace axon::graph
