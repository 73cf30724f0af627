// Declarations: parameters, stated types, and the order in which a body becomes a scheme. See check.h.
#include "core/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Var;
using source::Code;
using source::error;
using source::Span;
using Kind = Expr::Kind;

void check_declaration(Elaborator& e, GlobalId g) { Checker(e, g).run(); }

// ---- Declarations
// -----------------------------------------------------------------------------------------------

void Checker::run() {
  first_type_var_ = vars_.types.vars.size();
  const Global& g = p_.globals[g_];
  if (g.kind == Global::Kind::type) return;
  if (g.body.valid()) {
    check_body();
  } else {
    check_signature();
  }
}

void Checker::check_signature() {
  const DeclInfo& info = e_.infos[g_.index];
  Global& g = p_.globals[g_];
  Scheme scheme;
  scheme.type = vars_.zonk(*info.signature);
  Occurrences all;
  all.add(vars_, scheme.type);
  for (Var v : all.dims)
    if (std::find(info.exists.begin(), info.exists.end(), v) == info.exists.end()) scheme.dims.push_back(v);
  scheme.shapes = all.shapes;
  scheme.types = all.types;
  scheme.exists = info.exists;
  for (const auto* list : {&info.where, &info.exists_facts})
    for (const FactAt& f : *list) scheme.where.push_back(f.fact);
  if (g.kind == Global::Kind::prim && !scheme.types.empty()) {
    static constexpr ElemClass num = ElemClass::num, flt = ElemClass::flt, int_ = ElemClass::int_,
                               any = ElemClass::any, bool_ = ElemClass::bool_, none = ElemClass::none;
    static constexpr ElemClass classes[] = {
#define PRIM(name, arity, cls) cls,
#include "core/prims.def"
#undef PRIM
    };
    (void)bool_;
    for (TypeVarId v : scheme.types) {
      auto& var = vars_.types.vars[v];
      if (var.name == "t") var.cls = classes[static_cast<int>(g.prim)];
      if (var.name == "i") var.cls = int_;
    }
  }
  g.scheme = std::move(scheme);
}

void Checker::check_body() {
  const DeclInfo& info = e_.infos[g_.index];
  const Global g = p_.globals[g_];
  for (const FactAt& f : info.where) solver_.assume(f.fact);
  std::vector<TypeId> params;
  for (const Pattern& p : g.params) params.push_back(bind(p, {}));
  if (info.signature) {
    std::vector<TypeId> fresh;
    for (TypeId p : params) fresh.push_back(p);
    const TypeId result = vars_.fresh("r");
    const WhyId w = why(g.span, "the stated type", *info.signature, vars_.function(fresh, result));
    unifier_.unify(open(*info.signature, w), vars_.function(fresh, result), w);
  }
  TypeId expected;
  if (info.result) {
    // the sizes behind `?k` are whatever the body gives
    TypeId written = *info.result;
    if (!info.exists.empty()) {
      Fresh fresh;
      for (Var v : info.exists) fresh.dims.emplace(v, Dim(vars_.dim(shape::var_name(v))));
      fresh.why = why(g.span, "the result");
      written = rename(written, fresh);
      for (const FactAt& f : info.exists_facts)
        solver_.require(
            {f.fact.lhs.substitute(fresh.dims), f.fact.relation, f.fact.rhs.substitute(fresh.dims)},
            why(f.span, "the stated result"));
    }
    expected = open(written, why(g.span, "the result"));
  }
  TypeId body = infer(g.body, expected);
  if (syntax::as<syntax::TestDecl>(*info.decl)) {
    const TypeId boolean = vars_.scalar(base::Elem::boolean);
    unifier_.unify(boolean, body, why(p_.exprs[g.body].span, "the test", boolean, body, g.body));
  }
  if (info.result) {
    unifier_.unify(expected, body, why(p_.exprs[g.body].span, "the result", expected, body, g.body));
    const Type stated = vars_[expected];
    if (!(stated.kind == Type::Kind::tensor && value_of(body)))
      body = info.exists.empty() ? expected : *info.result;
  }
  solver_.settle();
  report_failures();
  const TypeId type = vars_.function(params, body);
  if (info.signature) {
    const WhyId w = why(g.span, "the stated type", *info.signature, type);
    unifier_.unify(open(*info.signature, w), type, w);
    report_failures();
  }
  Scheme scheme = generalise_top(failed_ ? stated_part(type) : type);
  p_.globals[g_].scheme = scheme;
  write_back(scheme);
  if (!failed_) check_consumed();
  if (failed_) p_.globals[g_].has_error = true;
  if (g.kind == Global::Kind::entry && !p_.globals[g_].has_error) check_entry(scheme);
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

TypeId Checker::open(TypeId written, WhyId w) {
  Fresh none;
  none.why = w;
  return rename(written, none);
}

TypeId Checker::bind(const Pattern& p, TypeId expected) {
  TypeId type = expected;
  if (p.annotation) {
    const WhyId w = why(p.span, "the annotation", *p.annotation, expected);
    type = open(*p.annotation, w);
    if (expected.valid()) {
      unifier_.unify(type, expected, w);
      if (!vars_[type].value && value_of(expected)) type = expected;
    }
  }
  switch (p.kind) {
    case Pattern::Kind::name: {
      if (auto size = e_.local_sizes.find(p.local.index); size != e_.local_sizes.end()) {
        // a name that a type uses as a size
        if (!type.valid()) {
          type = vars_.scalar(base::Elem::i64, Dim(size->second));
        } else {
          auto value = value_of(type);
          const WhyId w = why(p.span, fmt::format("the size `{}`", p_.locals[p.local].name));
          solver_.equal(Dim(size->second),
                        value ? *value : Dim(vars_.dim("k", VarKind::opened, true, p.span)), w);
        }
      }
      if (!type.valid()) type = vars_.fresh("t");
      p_.locals[p.local].type = type;
      scope_.push_back(p.local);
      return type;
    }
    case Pattern::Kind::wildcard:
      return type.valid() ? type : vars_.fresh("t");
    case Pattern::Kind::unit:
    case Pattern::Kind::tuple: {
      std::vector<TypeId> items;
      const Type shape = type.valid() ? vars_[unifier_.shape_view(type)] : Type{};
      const bool known = shape.kind == Type::Kind::tuple && shape.items.size() == p.items.size();
      const bool poisoned = type.valid() && shape.kind == Type::Kind::error;
      for (size_t i = 0; i < p.items.size(); ++i)
        items.push_back(bind(p.items[i], known ? shape.items[i] : poisoned ? type : TypeId{}));
      const TypeId tuple = vars_.tuple(items);
      if (type.valid() && !known) unifier_.unify(tuple, type, why(p.span, "the pattern", tuple, type));
      return tuple;
    }
  }
  return type;
}

}  // namespace axon::core
