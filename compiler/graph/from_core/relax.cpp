// What holds only where it is reached, made to hold everywhere.
//
// A node computes all of its domain, whatever an `if` around it decides, and its tensors are laid out before
// anything runs. So where a node is emitted in a branch, or where its sizes are decided by the data in a loop
// or by an index of a `for`, it is computed over what those sizes are at most: extents become their bounds,
// reductions leave out what lies past the size, and indices that nothing shows to be in range without the
// condition are clamped. What is computed past a size is never looked at.
//
// In: a domain and a body over the index variables in scope. Out: the same over sizes of the entry only, and
// safe to evaluate at every point.
#include <algorithm>

#include "graph/from_core/evaluator.h"

namespace axon::graph {

using shape::Verdict;

const DataDependentSize* SizeEnvironment::decided(Var v) const {
  const auto found =
      std::find_if(decided_.begin(), decided_.end(), [&](const DataDependentSize& d) { return d.size == v; });
  return found == decided_.end() ? nullptr : &*found;
}

bool SizeEnvironment::is_indexed(const Dim& d) const {
  if (active_.empty()) return false;
  const std::vector<Var> vars = d.vars();
  return std::any_of(vars.begin(), vars.end(), [&](Var v) {
    return std::any_of(active_.begin(), active_.end(), [&](const Axis& a) { return a.var == v; });
  });
}

bool SizeEnvironment::is_of_data(const Dim& d) const {
  if (decided_.empty()) return false;
  const std::vector<Var> vars = d.vars();
  return std::any_of(vars.begin(), vars.end(), [&](Var v) { return decided(v) != nullptr; });
}

/// Has the size another value from one iteration or element to the next?
bool SizeEnvironment::is_decided(const Dim& d) const { return is_indexed(d) || is_of_data(d); }

/// The dimension as an integer of the data.
ScalarId SizeEnvironment::value_of(const Dim& d) {
  std::map<Var, ScalarId> values;
  for (Var v : d.vars())
    if (const DataDependentSize* known = decided(v)) values.emplace(v, known->value);
  return substitute(g, index_of(g, d), values);
}

/// Does the axis have this element?
ScalarId SizeEnvironment::is_inside(const Axis& axis) {
  return apply(g, Op::lt, {index_of(g, Dim(axis.var)), value_of(axis.extent)});
}

/// The most that a size can be, over sizes of the entry; nullopt when nothing says.
std::optional<Dim> SizeEnvironment::most_of(const Dim& d) const {
  std::optional<Dim> most = d;
  if (is_indexed(d))  // the indices of the `for`s around, at their most
    most = shape::bounds_of(d, known_facts(), [&](Var v) { return is_size(v) || decided(v); }).high;
  for (auto it = decided_.rbegin(); it != decided_.rend() && most; ++it)
    if (most->contains(it->size)) most = at_most(*most, it->size, it->bound);
  return most ? most : shape::bounds_of(d, known_facts(), [&](Var v) { return is_size(v); }).high;
}

/// Every axis of a value has a bound, so that relaxed() has one to take.
void SizeEnvironment::refuse_unbounded(const Val& value) {
  if (probing_ || value.kind != Val::Kind::array) return;
  for (const Dim& d : value.array->shape)
    if (is_decided(d) && !most_of(d))
      return void(unsupported("an axis of " + d.str() + " elements: nothing shows how many that is at most"));
}

/// The extent of memory for a size: never negative, and known before anything runs.
Dim SizeEnvironment::relaxed(const Dim& d) const {
  const std::optional<Dim> most = most_of(d);
  if (!most) return d;  // refuse_unbounded() has said so
  if ((guards_.empty() && !is_indexed(d)) || most->constant() || most->as_var()) return *most;
  // That an axis has an index says that it is not empty: it must not be used of the axis itself.
  std::vector<Fact> facts = g.facts;
  for (const Axis& a : loops_) facts.push_back(shape::less(Dim(a.var), a.extent));
  for (const Axis& a : loops_) facts.push_back(shape::at_least(Dim(a.var), Dim(0)));
  return shape::prove(facts, shape::at_least(*most, Dim(0))).verdict == Verdict::proved ? *most
                                                                                        : max(*most, Dim(0));
}

TensorType SizeEnvironment::relaxed(TensorType type) const {
  for (Dim& d : type.shape) d = relaxed(d);
  return type;
}

bool BoundsChecker::is_relaxed(const std::vector<Axis>& domain, ScalarId body) const {
  if (!guards_.empty()) return true;
  if (sizes_.all_decided().empty() && active_.empty()) return false;
  const auto has = [&](const Axis& a) { return sizes_.is_decided(a.extent); };
  if (std::any_of(domain.begin(), domain.end(), has)) return true;
  const Scalar& s = g.scalars[body];
  if (std::any_of(s.binders.begin(), s.binders.end(), has)) return true;
  const std::vector<Var> vars = free_vars(g, body);
  return std::any_of(vars.begin(), vars.end(), [&](Var v) { return sizes_.decided(v) != nullptr; });
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

/// The load with every index in range. An axis without elements has none: then the load is not made.
ScalarId BoundsChecker::relaxed_load(ScalarId id, const std::vector<Fact>& facts) {
  const Scalar s = g.scalars[id];
  const std::vector<Dim> shape = g.type(s.target).shape;
  std::vector<ScalarId> at = s.args;
  std::vector<Dim> not_empty;
  for (size_t a = 0; a < at.size(); ++a) {
    if (is_in_range(at[a], shape[a], facts)) continue;
    const Fact some = shape::at_least(shape[a], Dim(1));
    if (shape::prove(facts, some).verdict != Verdict::proved) not_empty.push_back(shape[a]);
    const auto dim = affine_index(g, at[a]);
    if (dim) {
      at[a] = index_of(g, max(min(*dim, shape[a] - Dim(1)), Dim(0)));
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

void BoundsChecker::relax(std::vector<Axis>& domain, ScalarId& body, const std::vector<Dim>& at) {
  if (probing_ || !is_relaxed(domain, body)) return;
  if (at != identity_map(domain))  // each element is stored once: that is known of the extents as they are
    for (const Axis& a : domain)
      if (!sizes_.is_decided(a.extent)) require(shape::at_least(a.extent, Dim(0)), "the size of an axis");
  std::vector<Axis> masked;
  Scalar root = g.scalars[body];
  const bool reduces = root.op == Op::reduce;
  for (Axis& b : root.binders) {
    if (sizes_.is_decided(b.extent)) masked.push_back(b);
    b.extent = sizes_.relaxed(b.extent);
  }
  for (Axis& a : domain) a.extent = sizes_.relaxed(a.extent);

  std::vector<Fact> facts = g.facts;
  const auto range = [&](const Axis& a) {
    facts.push_back(shape::at_least(Dim(a.var), Dim(0)));
    facts.push_back(shape::less(Dim(a.var), sizes_.relaxed(a.extent)));
  };
  for (const Axis& a : loops_) range(a);
  for (const Axis& a : domain) range(a);
  for (const Axis& b : root.binders) range(b);

  std::map<Var, ScalarId> values;
  for (const DataDependentSize& d : sizes_.all_decided()) values.emplace(d.size, d.value);
  ScalarId term = substitute(g, reduces ? root.args[0] : body, values);
  term = rewrite_loads(g, term, [&](ScalarId id) { return relaxed_load(id, facts); });
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
