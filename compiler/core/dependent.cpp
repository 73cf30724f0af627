// See dependent.h.
#include "core/dependent.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/contains.h"

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Var;
using source::Code;
using source::error;
using source::Span;

namespace {

/// What the integers in a parameter are known to be.
void values_in(const Vars& vars, TypeId id, std::vector<Dim>& out) {
  const Type& t = vars[vars.head(id)];
  if (t.kind == Type::Kind::function) return;
  if (t.value) out.push_back(vars.zonk(*t.value));
  for (TypeId item : t.items) values_in(vars, item, out);
}

}  // namespace

TypeId DependentFunctions::refuse(ExprId id, TypeId type, const std::string& why) {
  reporter_.report(error(Code::E0323, p_.exprs[id].span, why)
                       .text("As a value it would be called with other integers too.")
                       .note(fmt::format("it is {}", reporter_.show(type)))
                       .help("call it where its result is wanted instead of passing it"));
  return vars_.error();
}

bool DependentFunctions::is_own(Var v, ExprId lambda) const {
  return vars_.kind(v) == VarKind::bound && scopes_.is_argument_of(v, lambda);
}

TypeId DependentFunctions::closed(ExprId id, TypeId type) {
  Type fn = vars_[vars_.zonk(type)];
  if (fn.kind != Type::Kind::function) return type;
  const bool lambda = p_.exprs[id].kind == Expr::Kind::lambda;
  std::vector<Dim> values;
  for (size_t i = 0; i + 1 < fn.items.size(); ++i) values_in(vars_, fn.items[i], values);
  std::erase_if(values, [&](const Dim& d) { return d.as_var() && base::contains(fn.bound, *d.as_var()); });
  if (values.empty()) return type;
  std::vector<Var> bound;
  for (const Dim& value : values) {
    const auto v = vars_.zonk(value).as_var();
    if (v && vars_.is_meta(*v)) {
      bound.push_back(vars_.dim(shape::var_name(*v), VarKind::bound, vars_.is_size(*v), vars_.origin(*v)));
      scopes_.add_argument(bound.back(), lambda ? id : ExprId{});
      vars_.solve(*v, Dim(bound.back()));
    } else if (v && is_own(*v, id) && !base::contains(bound, *v)) {
      bound.push_back(*v);
    } else {
      return refuse(
          id, type,
          fmt::format("this function takes no integer but {}", print(vars_.zonk(value), reporter_.names())));
    }
  }
  if (!lambda && refuse_constraints(id, bound)) return vars_.error();
  fn = vars_[vars_.zonk(type)];
  fn.bound.insert(fn.bound.end(), bound.begin(), bound.end());
  const TypeId whole = vars_.add(std::move(fn)), known = unifier_.plain(whole);
  return known.valid() ? known : refuse(id, whole, "this function takes only certain integers");
}

/// What must hold of an integer of its argument would have to be shown at each call of the value.
bool DependentFunctions::refuse_constraints(ExprId id, const std::vector<Var>& bound) {
  bool refused = false;
  for (Constraint& c : solver_.parked()) {
    if (c.done || c.kind != Constraint::Kind::holds) continue;
    const Fact fact{vars_.zonk(c.fact.lhs), c.fact.relation, vars_.zonk(c.fact.rhs)};
    const bool own = std::any_of(bound.begin(), bound.end(),
                                 [&](Var v) { return fact.lhs.contains(v) || fact.rhs.contains(v); });
    if (!own) continue;
    c.done = true;
    if (whys_[c.why].left_to_run != LeftToRun::never) continue;  // where the value is called
    if (refused || shape::prove(solver_.facts_for(fact, c.context), fact).verdict == shape::Verdict::proved)
      continue;
    refused = true;
    reporter_.report(
        error(Code::E0323, p_.exprs[id].span,
              fmt::format("each call of {} has to show that {}", reporter_.describe(id),
                          print(fact, reporter_.names())))
            .text("That is about an integer of its argument, so it cannot be shown for all calls of a "
                  "value at once.")
            .help("call it where its result is wanted instead of passing it"));
  }
  std::erase_if(solver_.parked(), [](const Constraint& c) { return c.done; });
  return refused;
}

TypeId DependentFunctions::renamed(Type fn, const std::function<Var(Var)>& name) {
  shape::Substitution names;
  for (Var v : fn.bound) names.emplace(v, Dim(name(v)));
  fn.bound.clear();
  for (TypeId& item : fn.items) item = vars_.substituted(item, names);
  return vars_.add(std::move(fn));
}

TypeId DependentFunctions::applied(TypeId id, Span at) {
  const Type fn = vars_[vars_.zonk(id)];
  if (fn.bound.empty()) return id;
  return renamed(fn,
                 [&](Var v) { return vars_.dim(shape::var_name(v), VarKind::meta, vars_.is_size(v), at); });
}

TypeId DependentFunctions::inside(TypeId id, ExprId lambda) {
  const Type fn = vars_[vars_.zonk(id)];
  if (fn.bound.empty()) return id;
  return renamed(fn, [&](Var v) {
    const Var own = vars_.dim(shape::var_name(v), VarKind::bound, vars_.is_size(v), p_.exprs[lambda].span);
    scopes_.add_argument(own, lambda);
    return own;
  });
}

void DependentFunctions::refuse_escaped(const Scheme& scheme) {
  if (failed_) return;
  Occurrences all;
  all.add(vars_, vars_.zonk(scheme.type));
  for (const IntoConstraint& i : scheme.into) all.add(vars_.zonk(i.target));
  for (const Fact& f : scheme.where) {
    all.add(vars_.zonk(f.lhs));
    all.add(vars_.zonk(f.rhs));
  }
  for (Var v : all.dims) {
    if (vars_.kind(v) != VarKind::bound) continue;
    const Span at = vars_.origin(v).valid() ? vars_.origin(v) : p_.globals[g_].span;
    reporter_.report(
        error(Code::E0323, at,
              fmt::format("`{}` is an integer of one call, and a size outside of it depends on it",
                          shape::var_name(v)))
            .text("A function that is a value is called with other integers too."));
    return;
  }
}

}  // namespace axon::core
