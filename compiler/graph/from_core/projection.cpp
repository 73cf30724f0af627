// See projection.h.
#include "graph/from_core/projection.h"

#include <algorithm>
#include <set>

namespace axon::graph {

/// What must hold for the conditions to be true, from left to right, each once.
std::vector<ScalarId> Projection::conjuncts() {
  using Part = std::pair<ScalarId, bool>;  // and whether it must be true or false
  std::vector<ScalarId> out;
  std::set<Part> seen;
  std::vector<Part> stack;
  const auto push = [&](const std::vector<ScalarId>& parts, bool holds) {
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) stack.emplace_back(*part, holds);
  };
  push(conditions_, true);
  while (!stack.empty()) {
    const auto [condition, holds] = stack.back();
    stack.pop_back();
    if (!seen.emplace(condition, holds).second) continue;
    const Scalar s = g.scalars[condition];
    if (s.op == Op::not_)
      push(s.args, !holds);
    else if (s.op == (holds ? Op::and_ : Op::or_))
      push(s.args, holds);
    else if (!holds && (s.op == Op::ne || s.op == Op::eq))
      out.push_back(apply(g, s.op == Op::ne ? Op::eq : Op::ne, s.args));
    else
      out.push_back(holds ? condition : apply(g, Op::not_, {condition}));
  }
  return out;
}

/// Does the call know the range of the axis, and nothing else depends on the variable but by mentioning it?
bool Projection::may_leave(const Needed& needed, const Axis& axis) const {
  if (!sizes_.over_sizes(axis.extent) || sizes_.varies(axis.extent)) return false;
  std::vector<ScalarId> all = needed.conditions;
  all.push_back(needed.integer);
  for (ScalarId id : all) {
    const std::vector<Axis> around = builder_.free_axes(id);
    const std::vector<Var>& vars = free_vars(g, id);
    const auto is_it = [&](const Axis& a) { return a.var == axis.var; };
    if (std::none_of(around.begin(), around.end(), is_it)) continue;
    if (std::any_of(vars.begin(), vars.end(), [&](Var v) { return sizes_.data_dependent(v) != nullptr; }))
      return false;
    for (const Axis& other : around) {
      const std::vector<Axis> of = builder_.free_axes(constant_int(g, Elem::i64, 0), {other.extent});
      if (std::any_of(of.begin(), of.end(), is_it)) return false;
    }
  }
  return true;
}

/// The value of the variable wherever the condition holds, if it is an equation that says it. Arithmetic that
/// wraps is right: the side with the variable is an integer that does not.
std::optional<ScalarId> Projection::determined_by(ScalarId condition, const Axis& axis) {
  const Scalar s = g.scalars[condition];
  if (s.op != Op::eq || g.scalars[s.args[0]].elem != Elem::i64) return std::nullopt;
  for (const size_t side : {0, 1}) {
    const auto dim = affine_index(g, s.args[side]);
    const auto linear = dim ? dim->linear_in(axis.var) : std::nullopt;
    const ScalarId value = s.args[1 - side];
    if (!linear || !(linear->first.is(1) || linear->first.is(-1)) || depends_on(g, value, axis.var)) continue;
    const auto rest = exact_index(g, linear->second);
    if (!rest) continue;
    return linear->first.is(1) ? apply(g, Op::sub, {value, *rest}) : apply(g, Op::sub, {*rest, value});
  }
  return std::nullopt;
}

/// The expression with a value for the variable. Not one with a check: where nothing is needed it would be
/// evaluated at another value.
std::optional<ScalarId> Projection::replaced(ScalarId id, const Axis& axis, ScalarId value) {
  if (!depends_on(g, id, axis.var)) return id;
  for (ScalarId part : scalars_in(g, id)) {
    const Op op = g.scalars[part].op;
    if ((op == Op::bounded || op == Op::require) && depends_on(g, part, axis.var)) return std::nullopt;
  }
  return substitute(g, id, std::map<Var, ScalarId>{{axis.var, value}});
}

/// Without a variable that an equation decides.
std::optional<Projection::Needed> Projection::by_equation(const Needed& needed, const Axis& axis) {
  for (ScalarId equation : needed.conditions) {
    const auto value = determined_by(equation, axis);
    if (!value) continue;
    const ScalarId zero = constant_int(g, Elem::i64, 0), extent = sizes_.value_of(axis.extent);
    const ScalarId last = apply(g, Op::sub, {extent, constant_int(g, Elem::i64, 1)});
    const ScalarId inside = apply(g, Op::max, {apply(g, Op::min, {*value, last}), zero});
    Needed found{{}, {apply(g, Op::le, {zero, *value}), apply(g, Op::lt, {*value, extent})}};
    bool possible = true;
    const auto at_value = [&](ScalarId id) {
      const auto there = replaced(id, axis, inside);
      possible &= there.has_value();
      return there.value_or(id);
    };
    for (ScalarId condition : needed.conditions)
      if (condition != equation) found.conditions.push_back(at_value(condition));
    found.integer = at_value(needed.integer);
    if (possible) return found;
  }
  return std::nullopt;
}

/// Without a variable that the integer does not mention: a node says where some value of it will do.
Projection::Needed Projection::at_some_value(const Needed& needed, const Axis& axis, bool hoist) {
  Needed found{needed.integer, {}};
  ScalarId all = constant_int(g, Elem::boolean, 1);
  for (ScalarId condition : needed.conditions)
    if (depends_on(g, condition, axis.var))
      all = apply(g, Op::and_, {all, condition});
    else
      found.conditions.push_back(condition);
  const Axis binder{shape::fresh_var(shape::var_name(axis.var)), axis.extent};
  Array some;
  some.elem = Elem::boolean;
  some.name = "reached";
  some.body =
      reduce(g, Monoid::any, {binder}, substitute(g, all, shape::Substitution{{axis.var, Dim(binder.var)}}));
  const std::vector<Axis> domain = builder_.free_axes(some.body);
  const Value stored = builder_.store(some, domain, hoist);
  std::vector<ScalarId> at;
  for (const Axis& a : domain) at.push_back(index_of(g, Dim(a.var)));
  found.conditions.push_back(load(g, stored, at, Elem::boolean));
  return found;
}

Projection::Needed Projection::run(ScalarId integer, bool hoist) {
  Needed needed{integer, conjuncts()};
  const auto without = [&](bool own, const auto& shorter) {
    for (auto axis = active_.rbegin(); axis != active_.rend(); ++axis) {  // inner ones depend on outer ones
      const bool mentioned = std::any_of(needed.conditions.begin(), needed.conditions.end(),
                                         [&](ScalarId id) { return depends_on(g, id, axis->var); });
      if (!mentioned || depends_on(g, needed.integer, axis->var) != own || !may_leave(needed, *axis))
        continue;
      if (auto found = shorter(*axis)) needed = std::move(*found);
    }
  };
  const auto determined = [&](const Axis& axis) { return by_equation(needed, axis); };
  without(false, determined);
  without(false, [&](const Axis& axis) { return std::optional(at_some_value(needed, axis, hoist)); });
  without(true, determined);
  return needed;
}

}  // namespace axon::graph
