// See check.h.
#include "core/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/aliases.h"
#include "core/evaluate_ranges_first.h"

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Var;
using source::Code;
using source::error;
using source::Span;
using Kind = Expr::Kind;

void check_declaration(Elaborator& e, GlobalId g) { Checker(e, g).run(); }

// ---- Declarations ----

void Checker::run() {
  const shape::ProverSession session(100000);  // one allowance for all that is asked of this declaration
  first_type_var_ = vars_.types.vars.size();
  const Global& g = p_.globals[g_];
  if (g.kind == Global::Kind::type) return;
  if (!g.body.valid()) {
    check_signature();
    check_limits();
    return;
  }
  try {
    check_body();
  } catch (const TooComplex&) {  // a tensor that is too large says more than a size that is
    const size_t before = e_.diagnostics->error_count();
    check_limits();
    if (e_.diagnostics->error_count() == before) throw;
    p_.globals[g_].scheme = {};
    const TypeId unknown = p_.globals[g_].scheme.type = vars_.error();
    const DeclInfo& info = e_.infos[g_.index];
    for (uint32_t i = info.first_expr; i < info.end_expr; ++i) p_.exprs[{i}].type = unknown;
    return;
  }
  check_limits();
  report_pending();
}

/// Whether a part of a written type was an error.
static bool mentions_error(const Vars& vars, TypeId id) {
  const Type& t = vars[vars.head(id)];
  return t.kind == Type::Kind::error ||
         std::any_of(t.items.begin(), t.items.end(), [&](TypeId item) { return mentions_error(vars, item); });
}

void Checker::check_signature() {
  const DeclInfo& info = e_.infos[g_.index];
  Global& g = p_.globals[g_];
  if (g.kind != Global::Kind::prim && !mentions_error(vars_, *info.signature))
    reporter_.report(error(Code::E0411, g.span, fmt::format("`{}` is stated and not defined", g.name))
                         .help(fmt::format("define it behind its type: `fun {} ... = ...`", g.name)));
  Scheme scheme;
  scheme.type = vars_.zonk(*info.signature);
  Occurrences all;
  all.add(vars_, scheme.type);
  for (const IntoAt& i : info.into) scheme.into.push_back(i.into);
  for (Var v : all.dims)
    if (std::find(info.exists.begin(), info.exists.end(), v) == info.exists.end()) scheme.dims.push_back(v);
  scheme.shapes = all.shapes;
  scheme.types = all.types;
  scheme.exists = info.exists;
  for (const auto* list : {&info.where, &info.exists_facts})
    for (const FactAt& f : *list) scheme.where.push_back({f.fact});
  g.scheme = std::move(scheme);
  g.has_error |= g.kind != Global::Kind::prim;
}

namespace {

/// The variables that name the integers in a parameter.
void integers_in(const Vars& vars, TypeId id, std::vector<Var>& out) {
  const Type& t = vars[vars.head(id)];
  if (t.kind == Type::Kind::function) return;
  const auto name = t.value ? vars.zonk(*t.value).as_var() : std::nullopt;
  if (name && vars.kind(*name) == VarKind::rigid) out.push_back(*name);
  for (TypeId item : t.items) integers_in(vars, item, out);
}

/// The stated type of what a definition with `count` parameters gives. Where that is a function, it binds the
/// integers of its own parameters, unless `where` says something of them.
TypeId rest_of(Vars& vars, LoopScopes& scopes, const Type& fn, size_t count,
               const std::vector<FactAt>& where) {
  if (fn.kind != Type::Kind::function) return vars.add(fn);
  const auto first = fn.items.begin() + static_cast<long>(count);
  std::vector<Var> integers, bound;
  for (auto item = first; item != fn.items.end() - 1; ++item) integers_in(vars, *item, integers);
  const bool constrained = std::any_of(where.begin(), where.end(), [&](const FactAt& f) {
    return std::any_of(integers.begin(), integers.end(), [&](Var v) {
      return vars.zonk(f.fact.lhs).contains(v) || vars.zonk(f.fact.rhs).contains(v);
    });
  });
  shape::Substitution names;
  for (Var v : constrained ? std::vector<Var>{} : integers) {
    bound.push_back(vars.dim(shape::var_name(v), VarKind::bound, vars.is_size(v), vars.origin(v)));
    scopes.add_argument(bound.back(), {});
    names.emplace(v, Dim(bound.back()));
  }
  std::vector<TypeId> items;
  for (auto item = first; item != fn.items.end(); ++item) items.push_back(vars.substituted(*item, names));
  return vars.function({items.begin(), items.end() - 1}, items.back(), bound);
}

}  // namespace

/// What is stated of the parameters and of the result: by the `val` before the definition, or in it.
Checker::Stated Checker::stated_types() {
  const DeclInfo& info = e_.infos[g_.index];
  const Global& g = p_.globals[g_];
  Stated stated;
  if (info.signature) {
    const size_t count = g.params.size();
    const Type fn = vars_[vars_.zonk(*info.signature)];
    const size_t arity = fn.kind == Type::Kind::function ? fn.items.size() - 1 : 0;
    if (arity < count) {
      reporter_.report(error(Code::E0301, g.span,
                             fmt::format("the stated type of `{}` is not that of a function of {} argument{}",
                                         g.name, count, count == 1 ? "" : "s"))
                           .text(fmt::format("It is {}.", reporter_.show(*info.signature))));
      return stated;
    }
    for (size_t i = 0; i < count; ++i)
      stated.params.push_back(
          instantiator_.open(patterns_.kept(fn.items[i]), why(g.params[i].span, "the stated type")));
    stated.result = rest_of(vars_, scopes_, fn, count, info.where);
    stated.span = g.span;
  }
  if (info.result) {
    stated.second_result = stated.result;
    stated.result = info.result;
    stated.span = info.result_span;
  }
  return stated;
}

/// The stated result, where the sizes behind `?k` are whatever the body gives.
TypeId Checker::expected_result(TypeId written, Span at) {
  const StatedSizes opened = stated_sizes_of(e_.infos[g_.index], vars_, written);
  const WhyId w = why(at, "the result");
  if (!opened.sizes.empty()) {
    Instantiator::Fresh fresh;
    for (Var v : opened.sizes) fresh.dims.emplace(v, Dim(vars_.dim(shape::var_name(v))));
    fresh.why = w;
    written = instantiator_.rename(written, fresh);
    for (const FactAt& f : opened.facts)
      solver_.require({f.fact.lhs.substitute(fresh.dims), f.fact.relation, f.fact.rhs.substitute(fresh.dims)},
                      why(f.span, "the stated result"));
  }
  return instantiator_.open(written, w);
}

/// Where the value of an expression is written: behind `let .. in`.
static Span result_place(const Program& p, ExprId e) {
  while (p.exprs[e].kind == Expr::Kind::let) e = p.exprs[e].args[1];
  return p.exprs[e].span;
}

std::optional<Checker::Inferred> Checker::infer_body() {
  const DeclInfo& info = e_.infos[g_.index];
  const Global g = p_.globals[g_];
  for (const FactAt& f : info.where) solver_.assume(f.fact);
  if (!info.module->library) refuse_contradiction(info.where);
  for (const IntoAt& i : info.into) {
    Instantiator::Fresh none;
    none.why = why(i.span, "the stated broadcast");
    const Shape target = instantiator_.rename(i.into.target, none);
    solver_.assume_into(i.into.var, target);
    generaliser_.keep_into({i.into.var, target});
  }
  sizes_.find_names();
  indices_.find_named_axes();
  Inferred out{stated_types(), {}, {}};
  const Stated& stated = out.stated;
  for (size_t i = 0; i < g.params.size(); ++i)
    out.params.push_back(patterns_.bind(g.params[i], i < stated.params.size() ? stated.params[i] : TypeId{}));
  if (info.signature) follow_stated_names();
  for (TypeId p : out.params) assume_sizes(p);
  if (!given_.empty() && !take_given(out.params)) return std::nullopt;
  if (info.signature) take_stated_modes(out.params);
  const TypeId expected = stated.result ? expected_result(*stated.result, stated.span) : TypeId{};
  out.body = exprs_.infer(g.body, expected);
  if (syntax::as<syntax::TestDecl>(*info.written)) {
    const TypeId boolean = vars_.scalar(base::Elem::boolean);
    unifier_.unify(boolean, out.body, why(p_.exprs[g.body].span, "the test", boolean, out.body, g.body));
  }
  if (!stated.result) out.body = vars_.without_layouts(out.body);
  if (stated.result) {
    match_stated_sizes(expected, out.body);
    unifier_.unify(expected, out.body,
                   why(result_place(p_, g.body), "the result", expected, out.body, g.body));
    if (stated.second_result) {
      const TypeId first = expected_result(*stated.second_result, g.span);
      match_stated_sizes(first, out.body);
      unifier_.unify(first, out.body, why(g.span, "the result", first, out.body));
    }
    const bool opens = !stated_sizes_of(info, vars_, *stated.result).sizes.empty();
    out.body = patterns_.refined(opens ? *stated.result : expected, out.body);
  }
  solver_.settle();
  reporter_.report_failures();
  if (!failed_) met_.check();
  return out;
}

void Checker::infer_around_hole(const std::function<void(Hole&)>& ask) {
  const shape::ProverSession session(0);  // nothing is asked of Z3
  first_type_var_ = vars_.types.vars.size();
  if (!p_.globals[g_].body.valid() || !infer_body()) return;
  Hole hole(*context_);
  ask(hole);
}

void Checker::check_body() {
  auto inferred = infer_body();
  if (!inferred) return;
  const Global g = p_.globals[g_];
  std::vector<TypeId>& params = inferred->params;
  for (size_t i = 0; i < params.size(); ++i) params[i] = known_.with_parts(g.params[i], params[i]);
  const TypeId type = dependent_.applied(vars_.zonk(vars_.function(params, inferred->body)), g.span);
  Scheme scheme = generaliser_.generalise_top(failed_ ? stated_part(type) : type);
  dependent_.refuse_escaped(scheme);
  p_.globals[g_].scheme = scheme;
  const bool fine = !failed_;
  write_back_.run(first_type_var_);
  if (!failed_) opened_.write_back();
  if ((fine && failed_) || generaliser_.undetermined())
    p_.globals[g_].scheme.type = vars_.zonk(stated_part(type));
  if (generaliser_.undetermined()) {  // what holds of sizes that nothing determines says nothing to a caller
    p_.globals[g_].scheme.where.clear();
    p_.globals[g_].scheme.into.clear();
  }
  if (!failed_) check_consumed();
  if (failed_) p_.globals[g_].has_error = true;  // so that it reaches those that use this one
  if (g.kind == Global::Kind::entry && !p_.globals[g_].has_error) entry_.check_entry(scheme);
  if (p_.globals[g_].has_error) return;
  evaluate_ranges_first(p_, g.body);
  p_.globals[g_].aliases = Aliases(p_).of_calls(p_.globals[g_]);
}

/// `*` and `weights` that `val` states are modes of the parameters, like those written on them.
void Checker::take_stated_modes(std::vector<TypeId>& params) {
  const Type stated = vars_[vars_.zonk(*e_.infos[g_.index].signature)];
  for (size_t i = 0; i < params.size() && i + 1 < stated.items.size(); ++i) {
    const Type& one = vars_[vars_.head(stated.items[i])];
    if (!one.consumed && !one.weights) continue;
    Pattern& pattern = p_.globals[g_].params[i];
    pattern.consumed |= one.consumed;
    pattern.weights |= one.weights;
    Type type = vars_[vars_.head(params[i])];
    type.consumed |= one.consumed;
    type.weights |= one.weights;
    params[i] = vars_.add(std::move(type));
  }
}

/// Of a declaration with errors, what its user wrote; the rest is poisoned, so that its uses stay silent.
TypeId Checker::stated_part(TypeId type) {
  const DeclInfo& info = e_.infos[g_.index];
  const Global& g = p_.globals[g_];
  if (info.signature) return type;
  const Type fn = vars_[type];
  if (fn.kind != Type::Kind::function) return info.result ? type : vars_.error();
  std::vector<TypeId> params;
  for (size_t i = 0; i < g.params.size(); ++i)
    params.push_back(g.params[i].annotation ? fn.items[i] : vars_.error());
  return vars_.function(params, info.result ? fn.items.back() : vars_.error());
}

/// The axes of a parameter are sizes, whatever their type makes of them: f32[2*m - 1] says that 1 <= 2*m.
void Checker::assume_sizes(TypeId id) {
  const Type t = vars_[vars_.head(id)];
  if (t.kind == Type::Kind::function) return;
  for (const ShapeItem& i : t.shape)
    if (is_dim(i) && !vars_.plainly_nonnegative(i.dim)) solver_.assume(shape::at_least(i.dim, 0));
  for (TypeId item : t.items) assume_sizes(item);
}

/// A `where` that no sizes satisfy would allow anything in the body and every call would be refused.
void Checker::refuse_contradiction(const std::vector<FactAt>& where) {
  for (const FactAt& f : where) {
    if (shape::prove_empty(solver_.facts_for(f.fact, {})).verdict != shape::Verdict::proved) continue;
    reporter_.report(error(Code::E0313, f.span, "no sizes satisfy this `where`"));
    return;
  }
}

}  // namespace axon::core
