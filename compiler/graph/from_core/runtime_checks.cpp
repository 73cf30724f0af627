// Nodes that are computed for their checks alone; see runtime_checks.h.
#include "graph/from_core/runtime_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bug.h"

namespace axon::graph {

void RuntimeChecks::require(ScalarId holds, ScalarId lhs, ScalarId rhs, const std::string& message) {
  if (failed_ || (g.scalars[holds].op == Op::constant && g.scalars[holds].integer)) return;
  const auto unless = [&](ScalarId reached) {
    holds = apply(g, Op::or_, {apply(g, Op::not_, {reached}), holds});
  };
  for (ScalarId condition : conditions_) unless(condition);
  Scalar s;
  s.op = Op::require;
  s.elem = Elem::i64;
  s.args = {holds, lhs, rhs};
  const GraphBuilder::Ranges ranges = builder_.ranges_around(make_scalar(g, s));
  for (ScalarId condition : ranges.not_empty) unless(condition);
  s.args[0] = holds;
  if (!stated_.insert({regions_.back(), s.args, message}).second) return;
  s.check = static_cast<uint32_t>(g.checks.size());
  ScalarId body = make_scalar(g, std::move(s));
  std::vector<Dim> extents;
  for (const Axis& axis : builder_.free_axes(body)) extents.push_back(axis.extent);
  if (const std::vector<Axis> axes = builder_.free_axes(body, extents); !axes.empty())
    body = reduce(g, Monoid::sum, axes, body);  // of zeros: 0, of none too
  Check check;
  check.message = message;
  check.bound = Dim(1);
  check.effect = true;
  g.checks.push_back(check);
  const Value value =
      builder_.emit({}, body, {Elem::i64, {}}, "check", std::nullopt, {}, ranges.may_leave_loops);
  g.checks.back().value = value;
}

void RuntimeChecks::require(const Fact& fact, const std::function<ScalarId(const Dim&)>& value,
                            const std::string& message) {
  const auto op = [&] {
    switch (fact.relation) {
      case shape::Relation::eq:
        return Op::eq;
      case shape::Relation::ne:
        return Op::ne;
      case shape::Relation::le:
        return Op::le;
      case shape::Relation::lt:
        return Op::lt;
    }
    base::bug("from_core", "a relation that is none");
  };
  const ScalarId lhs = value(fact.lhs), rhs = value(fact.rhs);
  require(apply(g, op(), {lhs, rhs}), lhs, rhs, message);
}

bool RuntimeChecks::require_size(Array& a, size_t axis, const Dim& wanted, const std::string& what) {
  const Dim found = a.shape[axis];
  const Fact same = shape::equal(found, wanted);
  const bool wanted_by_data = reads_data(g, wanted) || sizes_.varies(wanted);
  const bool found_by_data = reads_data(g, found) || sizes_.varies(found);
  const Proof proof = bounds_.proof(same);
  if (proof == Proof::always) {
    if (!wanted_by_data) a.shape[axis] = wanted;
    return true;
  }
  if (conditions_.empty() && active_.empty() && loops_.empty() && !wanted_by_data && !found_by_data) {
    if (!bounds_.require(same, what)) return false;
    a.shape[axis] = wanted;
    return true;
  }
  if (proof != Proof::guarded) require_equal(sizes_.value_of(found), sizes_.value_of(wanted), what);
  clamp(a, axis, wanted);
  return true;
}

void RuntimeChecks::require_equal(ScalarId found, ScalarId wanted, const std::string& what) {
  require(apply(g, Op::eq, {found, wanted}), found, wanted,
          fmt::format("{}: the axis has {{lhs}} elements, not {{rhs}}", what));
}

void RuntimeChecks::clamp(Array& a, size_t axis, const Dim& wanted) {
  const Dim found = a.shape[axis];
  const Var v = a.vars[axis];
  a.shape[axis] = wanted;
  a.body = substitute(g, a.body, shape::Substitution{{v, max(min(Dim(v), found - Dim(1)), Dim(0))}});
  a.body = zero_if_empty(a.body, found);
}

ScalarId RuntimeChecks::zero_if_empty(ScalarId element, const Dim& extent) {
  if (bounds_.proof(shape::at_least(extent, Dim(1))) == Proof::always) return element;
  const Elem elem = g.scalars[element].elem;
  const ScalarId zero = base::is_float(elem) ? constant_float(g, elem, 0) : constant_int(g, elem, 0);
  const ScalarId some = apply(g, Op::le, {constant_int(g, Elem::i64, 1), sizes_.value_of(extent)});
  return apply(g, Op::select, {some, element, zero});
}

}  // namespace axon::graph
