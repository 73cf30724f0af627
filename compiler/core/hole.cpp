// See hole.h. Each trial is an inference of its own: what is wanted and what is known of it are stated anew
// for fresh variables, and made one with the type of the value.
#include "core/hole.h"

#include <algorithm>

#include "core/dependent.h"

namespace axon::core {

using shape::Dim;
using shape::Var;

namespace {

constexpr size_t most_constraints = 64;  // that are stated in each trial

}  // namespace

struct Hole::Trial {
  Trial(Elaborator& e, GlobalId g, source::Span at) : context(e, g) {
    why = fresh.why = context.whys.add({at, "the hole", {}, {}, {}, {}, LeftToRun::never});
  }
  InferenceContext context;
  LoopScopes scopes{context};
  Reporter reporter{context};
  OpenedSizes opened{context, reporter, scopes};
  DependentFunctions dependent{context, reporter, scopes};
  Instantiator instantiator{context, opened, scopes};
  Instantiator::Fresh fresh;
  WhyId why;

  /// Other variables in place of those that are not solved, where there are none yet.
  void renew(const Occurrences& all) {
    Vars& vars = context.elaborator.vars;
    for (Var v : all.dims)
      if (vars.is_meta(v) && !fresh.dims.count(v))
        fresh.dims.emplace(v, Dim(vars.dim(shape::var_name(v), VarKind::meta, vars.is_size(v))));
    for (ShapeVarId v : all.shapes)
      if (vars.is_meta(v) && !fresh.shapes.count(v))
        fresh.shapes.emplace(v, vars.shape(vars.types.shape_vars[v].name));
    for (TypeVarId v : all.types)
      if (vars.is_meta(v) && !fresh.types.count(v)) {
        const TypeStore::TypeVar declared = vars.types.vars[v];
        fresh.types.emplace(v, vars.type(declared.name, declared.cls));
      }
  }
  TypeId renewed(TypeId type) {
    Vars& vars = context.elaborator.vars;
    Occurrences all;
    all.add(vars, vars.zonk(type));
    renew(all);
    return instantiator.rename(type, fresh);
  }
  bool is_function(TypeId t) const {
    const Vars& vars = context.elaborator.vars;
    return vars[vars.head(t)].kind == Type::Kind::function;
  }
  /// Makes the type the one that is wanted, or that of its result; says which.
  Fit put(TypeId type, TypeId wanted, bool called, ExprId at) {
    Vars& vars = context.elaborator.vars;
    const source::Span place = context.whys[why].span;
    if (!is_function(type)) return context.unifier.unify(wanted, type, why), Fit::whole;
    if (called && is_function(wanted)) return take_arguments(type, wanted), Fit::whole;
    if (is_function(wanted))
      return context.unifier.unify(wanted, dependent.closed(at, type), why), Fit::whole;
    const TypeId applied = dependent.applied(type, place);
    context.unifier.unify(wanted, vars[vars.head(applied)].items.back(), why);
    return Fit::called;
  }
  /// A function where one is applied: each argument is given to its parameter, as in ExprChecker.
  void take_arguments(TypeId type, TypeId wanted) {
    Vars& vars = context.elaborator.vars;
    const Type fn = vars[vars.head(dependent.applied(type, context.whys[why].span))],
               call = vars[vars.head(wanted)];
    const size_t common = std::min(fn.items.size(), call.items.size()) - 1;
    for (size_t i = 0; i < common; ++i) context.unifier.unify(fn.items[i], call.items[i], why);
    const auto rest = [&](const Type& t) {
      const auto begin = t.items.begin() + static_cast<long>(common);
      return t.items.size() == common + 1 ? t.items.back()
                                          : vars.function({begin, t.items.end() - 1}, t.items.back());
    };
    context.unifier.unify(rest(call), rest(fn), why);
  }
  void state(const Constraint& c) {
    const Vars& vars = context.elaborator.vars;
    std::vector<Shape> shapes;
    for (const Shape& s : c.shapes) shapes.push_back(instantiator.rename(vars.zonk(s), fresh));
    std::vector<Dim> dims;
    for (const Dim& d : c.dims) dims.push_back(vars.zonk(d).substitute(fresh.dims));
    switch (c.kind) {
      case Constraint::Kind::equal_dims:
        return context.solver.equal(dims[0], dims[1], why);
      case Constraint::Kind::equal_shapes:
        return context.solver.equal(shapes[0], shapes[1], why);
      case Constraint::Kind::join:
        return context.solver.join(shapes[0], {shapes.begin() + 1, shapes.end()}, why);
      case Constraint::Kind::into:
        return context.solver.into(shapes[0], shapes[1], why);
      case Constraint::Kind::holds:
        return;
    }
  }
};

Hole::Hole(InferenceContext& c) : InferencePart(c) {
  const DeclInfo& info = e_.infos[g_.index];
  for (uint32_t i = info.first_expr; i < info.end_expr; ++i) {
    const Expr& e = p_.exprs[{i}];
    const bool value = e.kind == Expr::Kind::error && e.flag;
    const bool field = e.kind == Expr::Kind::field && e.text.empty();
    const bool with = e.kind == Expr::Kind::with_field && e.text.empty();
    if (e.kind == Expr::Kind::apply && e.args[0] == at_) is_called_ = true;
    if (e.kind == Expr::Kind::index && e.args[0] == at_) is_indexed_ = true;
    if (!value && !field && !with) continue;
    at_ = {i};
    kind_ = value ? Kind::value : field ? Kind::field : Kind::with;
    wanted_ = with ? p_.exprs[e.args[1]].type : e.type;
    if (!value) record_ = p_.exprs[e.args[0]].type;
  }
  if (!wanted_.valid() || (kind_ != Kind::value && !record_.valid())) kind_ = Kind::none;
  if (kind_ == Kind::none) return;
  wanted_ = vars_.zonk(wanted_);
  if (record_.valid()) record_ = vars_.zonk(record_);
  open_.add(vars_, wanted_);
  find_constraints();
}

/// Whether one of the open variables occurs in it; all that do are added to `others`.
bool Hole::mentions_variable(const Constraint& c, Occurrences& others) const {
  Occurrences own;
  for (const Dim& d : c.dims) own.add(vars_.zonk(d));
  for (const Shape& s : c.shapes) own.add(vars_.zonk(s));
  const auto any = [&](const auto& all) {
    return std::any_of(all.begin(), all.end(), [&](auto v) { return vars_.is_meta(v) && open_.has(v); });
  };
  if (!any(own.dims) && !any(own.shapes)) return false;
  for (const Dim& d : c.dims) others.add(vars_.zonk(d));
  for (const Shape& s : c.shapes) others.add(vars_.zonk(s));
  return true;
}

void Hole::find_constraints() {
  std::vector<bool> taken(solver_.parked().size());
  for (bool more = true; more && constraints_.size() < most_constraints;) {
    more = false;
    Occurrences others = open_;
    for (size_t i = 0; i < taken.size() && constraints_.size() < most_constraints; ++i) {
      const Constraint& c = solver_.parked()[i];
      if (taken[i] || c.kind == Constraint::Kind::holds || !mentions_variable(c, others)) continue;
      constraints_.push_back(c);
      taken[i] = more = true;
    }
    open_ = std::move(others);
  }
}

/// `found`: gives the type of the value, as it is in the trial.
Hole::Fit Hole::attempt(const std::function<TypeId(Trial&)>& found) {
  if (kind_ == Kind::none || vars_[wanted_].kind == Type::Kind::error) return Fit::open;
  if (vars_[wanted_].kind == Type::Kind::var && vars_.is_meta(vars_[wanted_].var)) return Fit::open;
  try {
    Trial trial(e_, g_, p_.exprs[at_].span);
    Solver& solver = trial.context.solver;
    for (const shape::Fact& f : solver_.given()) solver.assume(f);
    for (const IntoAt& i : e_.infos[g_.index].into) solver.assume_into(i.into.var, i.into.target);
    trial.renew(open_);
    const TypeId wanted = trial.instantiator.rename(wanted_, trial.fresh);
    for (const Constraint& c : constraints_) trial.state(c);
    TypeId type = found(trial);
    if (!type.valid() || vars_[vars_.head(type)].kind == Type::Kind::error) return Fit::open;
    const Fit fit = trial.put(type, wanted, is_called_, at_);
    solver.settle();
    return solver.has_failures() ? Fit::no : fit;
  } catch (const TooComplex&) {
    return Fit::open;
  }
}

Hole::Fit Hole::fit(GlobalId value) {
  const Global& g = p_.globals[value];
  if (!g.scheme.type.valid() || g.has_error) return Fit::open;
  if (is_indexed_ && !e_.infos[value.index].declared.empty()) return Fit::open;  // f[8] gives a size
  Scheme scheme = g.scheme;
  scheme.where.clear();
  return attempt([&](Trial& t) { return t.instantiator.instantiate(scheme, at_, t.why); });
}

Hole::Fit Hole::fit(LocalId value) {
  const Local& l = p_.locals[value];
  if (l.kind == Local::Kind::rank || !l.type.valid()) return Fit::open;
  const Scheme& s = l.scheme;
  if (s.dims.empty() && s.shapes.empty() && s.types.empty() && s.exists.empty()) return fit(l.type);
  Scheme scheme = s;
  scheme.where.clear();
  return attempt([&](Trial& t) { return t.renewed(t.instantiator.instantiate(scheme, at_, t.why)); });
}

Hole::Fit Hole::fit(TypeId type) {
  return attempt([&](Trial& t) { return t.renewed(type); });
}

}  // namespace axon::core
