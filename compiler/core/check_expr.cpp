// See check_expr.h.
#include "core/check_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/negative_literal.h"

namespace axon::core {

using shape::Dim;
using shape::Fact;
using shape::Var;
using source::Code;
using source::error;
using source::Span;
using Kind = Expr::Kind;

// ---- Expressions ----

TypeId ExprChecker::infer(ExprId id, TypeId expected) {
  scopes_.place(id);
  const TypeId type = infer_kind(id, expected);
  p_.exprs[id].type = type;
  sizes_.name_integer(id);
  reporter_.report_failures();
  return p_.exprs[id].type;
}

TypeId ExprChecker::infer_kind(ExprId id, TypeId expected) {
  const Expr e = p_.exprs[id];
  const size_t opened = opened_.mark();
  const ExprId applied = std::exchange(applied_, ExprId{});
  switch (e.kind) {
    case Kind::local:
      return applied.valid() ? infer_local(id, applied) : as_value(id, infer_local(id, id), opened);
    case Kind::global:
      return applied.valid() ? infer_global(id, {}) : as_value(id, infer_global(id, {}), opened);
    case Kind::number:
      return infer_number(id);
    case Kind::boolean:
      return vars_.scalar(base::Elem::boolean);
    case Kind::string:
      return vars_.string();
    case Kind::size:
      return vars_.scalar(base::Elem::i64, e.dim);
    case Kind::lambda:
      return applied.valid() ? infer_lambda(id, expected) : infer_lambda_value(id, expected);
    case Kind::apply:
      return infer_apply(id, applied);
    case Kind::let:
      return infer_let(id, expected);
    case Kind::conditional:
      return infer_conditional(id, expected);
    case Kind::tuple: {
      std::vector<TypeId> items;
      const Type want = expected.valid() ? vars_[vars_.head(expected)] : Type{};
      const bool known = want.kind == Type::Kind::tuple && want.items.size() == e.args.size();
      for (size_t i = 0; i < e.args.size(); ++i)
        items.push_back(infer(e.args[i], known ? want.items[i] : TypeId{}));
      return vars_.tuple(items);
    }
    case Kind::record: {
      Type t;
      t.kind = Type::Kind::record;
      t.fields = e.fields;
      t.places = e.places;
      for (ExprId a : e.args) t.items.push_back(infer(a));
      return vars_.add(t);
    }
    case Kind::field: {
      const TypeId base = infer(e.args[0]);
      if (e.text.empty()) return hole(expected);
      const TypeId t = unifier_.field(
          base, e.text, why(e.span, fmt::format("the field `{}`", e.text), {}, base, id), e.span);
      return t.valid() ? t : vars_.error();
    }
    case Kind::with_field:
      return infer_with_field(id);
    case Kind::with_index:
      return indices_.infer_with_index(id);
    case Kind::index:
      return indices_.infer_index(id);
    case Kind::for_:
      return indices_.infer_for(id);
    case Kind::rearrange:
      return indices_.infer_rearrange(id);
    case Kind::list:
      return infer_list(id, expected);
    case Kind::check_as:
      return infer_check_as(id);
    case Kind::error:
      if (e.flag) return hole(expected);
      failed_ = true;
      return vars_.error();
  }
  return vars_.error();
}

/// What stands for anything (hole.h).
TypeId ExprChecker::hole(TypeId expected) { return expected.valid() ? expected : vars_.fresh("t"); }

TypeId ExprChecker::as_value(ExprId id, TypeId type, size_t opened) {
  return opened_.as_value(id, dependent_.closed(id, type), opened);
}

TypeId ExprChecker::infer_local(ExprId id, ExprId application) {
  const Local& l = p_.locals[p_.exprs[id].local];
  if (!l.type.valid()) return vars_.error();
  const Scheme& s = l.scheme;
  if (s.dims.empty() && s.shapes.empty() && s.types.empty() && s.exists.empty()) return l.type;
  const Scheme copy = s;
  return instantiator_.instantiate(
      copy, id, why(p_.exprs[application].span, fmt::format("`{}`", l.name), {}, {}, application));
}

TypeId ExprChecker::infer_global(ExprId id, ExprId application) {
  scopes_.place(id);
  const Expr e = p_.exprs[id];
  const Global& g = p_.globals[e.global];
  // What is stated of a declaration with errors may be what is wrong with it: nothing follows from that.
  if (!g.scheme.type.valid() || g.has_error) {
    failed_ = true;
    return vars_.error();
  }
  const Scheme scheme = g.scheme;
  const Span at = application.valid() ? p_.exprs[application].span : e.span;
  const std::string shown = e.text.empty() || g.name == "cast" ? g.name : e.text;
  const TypeId t =
      instantiator_.instantiate(scheme, id, why(at, fmt::format("`{}`", shown), {}, {}, application));
  if (g.name == "cast" && !e.text.empty()) {
    const Type fn = vars_[t];
    const Type result = vars_[vars_.head(fn.items.back())];
    unifier_.unify(result.elem, {base::elem_from_name(e.text), {}}, why(e.span, "the cast"));
  }
  size_t size = 0, elem = 0;
  const Instantiation given = p_.exprs[id].instantiation;
  const ElemInstantiation elems = p_.exprs[id].elems;
  for (size_t i = 0; i < e.args.size() && i < e_.infos[e.global.index].declared.size(); ++i) {
    const syntax::SizeParam& param = e_.infos[e.global.index].declared[i];
    const bool is_elem = param.kind == syntax::SizeParamKind::element;
    const size_t k = is_elem ? elem++ : param.kind == syntax::SizeParamKind::dim ? size++ : 0;
    if (!e.args[i].valid()) continue;
    const Expr argument = p_.exprs[e.args[i]];
    const WhyId w = why(argument.span, fmt::format("the argument for `{}`", param.name.text));
    if (is_elem) {
      p_.exprs[e.args[i]].type = vars_.error();
      for (const auto& [var, term] : elems)
        if (k < g.elems.size() && var == g.elems[k].second)
          unifier_.unify(term, {base::elem_from_name(argument.text), {}}, w);
    } else {
      const Dim value = sizes_.size_of(e.args[i]);
      for (const auto& [var, d] : given)
        if (k < g.sizes.size() && var == g.sizes[k].second) solver_.equal(d, value, w);
    }
  }
  return t;
}

TypeId ExprChecker::infer_number(ExprId id) {
  const Expr& e = p_.exprs[id];
  const TypeVarId elem = vars_.type("t", e.flag ? ElemClass::flt : ElemClass::num);
  std::optional<Dim> value;
  if (!e.flag) value = Dim(static_cast<int64_t>(std::stoll(e.text)));
  return vars_.tensor({std::nullopt, elem}, {}, value);
}

/// What one call of it determines is known in its body only.
TypeId ExprChecker::infer_lambda_value(ExprId id, TypeId expected) {
  const size_t opened = opened_.mark(), around = scopes_.depth();
  if (expected.valid()) expected = dependent_.inside(expected, id);
  scopes_.enter(id);
  const TypeId type = infer_lambda(id, expected);
  scopes_.leave_to(around);
  return as_value(id, type, opened);
}

TypeId ExprChecker::infer_lambda(ExprId id, TypeId expected) {
  const Expr e = p_.exprs[id];
  const Type want = expected.valid() ? vars_[vars_.zonk(expected)] : Type{};
  const bool known = want.kind == Type::Kind::function;
  const size_t scope = scope_.size();
  std::vector<TypeId> params;
  for (size_t i = 0; i < e.params.size(); ++i)
    params.push_back(
        patterns_.bind(e.params[i], known && i + 1 < want.items.size() ? want.items[i] : TypeId{}, true));
  TypeId result_wanted;
  if (known && want.items.size() == e.params.size() + 1) result_wanted = want.items.back();
  if (e.annotation) result_wanted = instantiator_.open(*e.annotation, why(e.span, "the result"));
  const size_t context = solver_.enter();
  learn_elements(id);
  TypeId result = infer(e.args[0], result_wanted);
  const bool is_step = solver_.context_size() > context;
  solver_.leave(context);
  if (is_step) sizes_.require_sizes(result, p_.exprs[e.args[0]].span);
  if (e.annotation) {
    unifier_.unify(result_wanted, result, why(p_.exprs[e.args[0]].span, "the result", result_wanted, result));
    result = patterns_.refined(result_wanted, result);
  }
  for (size_t i = 0; i < e.params.size(); ++i) params[i] = known_.with_parts(e.params[i], params[i]);
  scope_.resize(scope);
  return vars_.function(params, e.annotation ? result : vars_.without_layouts(result));
}

/// Whether a value of the type is made of integers that the type names, and of nothing else.
bool ExprChecker::names_integers(TypeId type) const {
  const Type& t = vars_[type];
  if (t.kind == Type::Kind::tensor) return t.value.has_value();
  const bool has_parts = (t.kind == Type::Kind::tuple || t.kind == Type::Kind::record) && !t.items.empty();
  return has_parts &&
         std::all_of(t.items.begin(), t.items.end(), [&](TypeId i) { return names_integers(i); });
}

/// An argument of unknown type, where sizes are wanted, is integers that are known by the argument's name.
void ExprChecker::name_argument(TypeId parameter, ExprId argument) {
  const Type a = vars_[vars_.head(p_.exprs[argument].type)];
  if (a.kind != Type::Kind::var || !vars_.is_meta(a.var)) return;
  parameter = vars_.zonk(parameter);
  if (!names_integers(parameter)) return;
  const TypeId integers = unifier_.plain(parameter);
  vars_.solve(a.var, integers);
  known_.name_parts(argument, integers);
}

/// The integers of an argument, inside of tuples and records too, are the sizes that the parameter's type
/// names.
void ExprChecker::pass_value(TypeId parameter, TypeId argument, ExprId expr, std::vector<uint32_t> item) {
  const Type p = vars_[vars_.head(parameter)];
  if (p.kind == Type::Kind::tuple || p.kind == Type::Kind::record) {
    const Type a = vars_[vars_.zonk(argument)];
    if (a.kind != p.kind || vars_.head(parameter) == vars_.head(argument)) return;
    for (size_t i = 0; i < p.items.size(); ++i) {
      const auto named = std::find(a.fields.begin(), a.fields.end(), p.fields.empty() ? "" : p.fields[i]);
      const size_t k = p.fields.empty() ? i : static_cast<size_t>(named - a.fields.begin());
      if (k >= a.items.size()) continue;
      item.push_back(static_cast<uint32_t>(k));
      pass_value(p.items[i], a.items[k], expr, item);
      item.pop_back();
    }
    return;
  }
  if (p.kind != Type::Kind::tensor || !p.value) return;
  const Dim wanted = *p.value;
  const Span at = p_.exprs[expr].span;
  const ShownBy shown = ShownBy::integer(expr, std::move(item));
  auto value = value_of(argument);
  const auto size = wanted.as_var();
  if (value && opened_.reads_data(*value) && size && vars_.is_size(*size))
    value = opened_.size_of_value(*value, at, shown);
  if (!value) {
    const bool is_size = !size || vars_.is_size(*size);
    value = is_size ? opened_.size_of_unknown(at, shown) : opened_.open("k", at, shown, false);
  }
  solver_.equal(wanted, *value, why(at, "the size"));
}

/// Whether an argument has an error, which was reported: then nothing is to be said of the application.
bool ExprChecker::poisoned(const Expr& application) {
  for (ExprId a : application.args)
    if (p_.exprs[a].type.valid() && vars_[vars_.head(p_.exprs[a].type)].kind == Type::Kind::error)
      return failed_ = true;
  return false;
}

/// Whether something of the type is not known.
bool ExprChecker::is_open(TypeId type) const {
  Occurrences all;
  all.add(vars_, vars_.zonk(type));
  const auto is_meta = [&](auto v) { return vars_.is_meta(v); };
  return std::any_of(all.dims.begin(), all.dims.end(), is_meta) ||
         std::any_of(all.shapes.begin(), all.shapes.end(), is_meta) ||
         std::any_of(all.types.begin(), all.types.end(), is_meta);
}

void ExprChecker::infer_arguments(const Expr& application) {
  for (size_t i = 1; i < application.args.size(); ++i)
    if (!p_.exprs[application.args[i]].type.valid()) infer(application.args[i]);
}

/// The type to show of what is applied: as it was declared, where that says more than one use of it, in which
/// what is joined is not yet known.
TypeId ExprChecker::declared_type(ExprId callee, TypeId used) const {
  const Expr& e = p_.exprs[callee];
  const TypeId declared = e.kind == Kind::global  ? p_.globals[e.global].scheme.type
                          : e.kind == Kind::local ? p_.locals[e.local].scheme.type
                                                  : TypeId{};
  return declared.valid() ? declared : used;
}

/// Does an argument say that the open result, which has its type, is no function?
bool ExprChecker::is_no_function(const Expr& application, const Type& fn, TypeId result) const {
  for (size_t i = 0; i + 1 < fn.items.size(); ++i) {
    const Type parameter = vars_[vars_.head(fn.items[i])];
    const auto kind = vars_[vars_.head(p_.exprs[application.args[i + 1]].type)].kind;
    if (parameter.kind == Type::Kind::var && parameter.var == vars_[result].var && kind != Type::Kind::var &&
        kind != Type::Kind::function)
      return true;
  }
  return false;
}

/// More arguments than a function has parameters: its result, when that is still open, is a function that
/// takes the others. False where it is not, an error that is reported.
bool ExprChecker::take_more(ExprId id, TypeId fn, const std::string& shown) {
  const Expr e = p_.exprs[id];
  const Type type = vars_[vars_.zonk(fn)];
  const size_t count = e.args.size() - 1;
  const size_t arity = type.kind == Type::Kind::function ? type.items.size() - 1 : 0;
  infer_arguments(e);
  if (poisoned(e)) return false;
  const TypeId result = arity ? vars_.head(type.items.back()) : TypeId{};
  if (arity && vars_[result].kind == Type::Kind::error) return false;
  const bool open = arity && vars_[result].kind == Type::Kind::var && vars_.is_meta(vars_[result].var);
  if (!open || is_no_function(e, type, result)) {
    auto d = error(Code::E0304, p_.exprs[e.args[arity + 1]].span,
                   arity ? fmt::format("{} takes {} argument{}, and {} are given", shown, arity,
                                       arity == 1 ? "" : "s", count)
                         : fmt::format("{} is not a function", shown));
    d.label("this one is too many")
        .note(fmt::format("{} : {}", shown, reporter_.show(declared_type(e.args[0], fn))));
    reporter_.report(std::move(d));
    return false;
  }
  std::vector<TypeId> more;
  for (size_t i = arity; i < count; ++i) more.push_back(vars_.fresh("t"));
  unifier_.unify(result, vars_.function(more, vars_.fresh("r")), why(e.span, shown));
  return true;
}

/// Gives each argument to its parameter. False after an error, of which there is one report for an
/// application.
bool ExprChecker::pass_arguments(ExprId id, const Type& fn, const std::string& shown) {
  const Expr e = p_.exprs[id];
  const Expr callee = p_.exprs[e.args[0]];
  const bool infix = callee.kind == Kind::global && !callee.text.empty() && callee.span.begin > e.span.begin;
  // Arguments that are not lambdas first: they say what the lambdas are applied to.
  for (bool lambdas : {false, true}) {
    for (size_t i = 0; i + 1 < e.args.size(); ++i) {
      const ExprId arg = e.args[i + 1];
      if ((p_.exprs[arg].kind == Kind::lambda) != lambdas) continue;
      if (lambdas) note_stack(e, arg);
      if (!p_.exprs[arg].type.valid()) infer(arg, fn.items[i]);
      name_argument(fn.items[i], arg);
      const TypeId found = p_.exprs[arg].type;
      const std::string what = infix
                                   ? fmt::format("the {} operand of `{}`", i ? "right" : "left", callee.text)
                                   : fmt::format("argument {} of {}", i + 1, shown);
      unifier_.unify(fn.items[i], found, why(p_.exprs[arg].span, what, fn.items[i], found, id));
      met_.note(fn.items[i], found, arg, fmt::format("{} of {}", i + 1, shown));
      pass_value(fn.items[i], found, arg);
      if (solver_.has_failures()) {
        reporter_.report_failures();
        return false;
      }
    }
  }
  return true;
}

/// `applied`: valid where the result, a function that lacks arguments, is no value.
TypeId ExprChecker::infer_apply(ExprId id, ExprId applied) {
  const Expr e = p_.exprs[id];
  const Expr callee = p_.exprs[e.args[0]];
  if (callee.kind == Kind::global && p_.globals[callee.global].kind == Global::Kind::prim &&
      p_.globals[callee.global].prim == Prim::dim)
    return infer_dim(id);
  const size_t count = e.args.size() - 1;
  const size_t opened = opened_.mark();
  TypeId fn;
  if (callee.kind == Kind::global) {
    for (size_t i = 1; i <= count; ++i) {  // inner names first: x @ w1 is older than what it is used for
      if (p_.exprs[e.args[i]].kind == Kind::lambda || p_.exprs[e.args[i]].type.valid()) continue;
      infer(e.args[i]);
    }
    fn = infer_global(e.args[0], id);
    p_.exprs[e.args[0]].type = fn;
  } else {
    applied_ = id;
    fn = dependent_.applied(infer(e.args[0]), p_.exprs[e.args[0]].span);
  }
  const std::string shown = reporter_.describe(e.args[0]);
  Type type = vars_[vars_.zonk(fn)];
  if (type.kind == Type::Kind::error) {
    infer_arguments(e);
    return vars_.error();
  }
  if (type.kind == Type::Kind::var && vars_.is_meta(type.var)) {
    std::vector<TypeId> params;
    for (size_t i = 0; i < count; ++i) params.push_back(vars_.fresh("t"));
    const TypeId whole = vars_.function(params, vars_.fresh("r"));
    vars_.solve(type.var, whole);
    type = vars_[whole];
  }
  const size_t arity = type.kind == Type::Kind::function ? type.items.size() - 1 : 0;
  if (arity < count) {
    if (!take_more(id, fn, shown)) return vars_.error();
    type = vars_[vars_.zonk(dependent_.applied(fn, e.span))];
  }
  if (!pass_arguments(id, type, shown)) return vars_.error();
  const bool is_poisoned = poisoned(e);
  if (callee.kind == Kind::global && p_.globals[callee.global].name == "cast" && !callee.text.empty())
    type_literal(e.args[1], *base::elem_from_name(callee.text));
  if (count + 1 < type.items.size()) {
    const TypeId rest = vars_.function({type.items.begin() + static_cast<long>(count), type.items.end() - 1},
                                       type.items.back());
    return applied.valid() ? rest : as_value(id, rest, opened);
  }
  const TypeId result = type.items.back();
  if (is_poisoned && is_open(result)) return vars_.error();  // the argument would have decided it
  if (auto value = arithmetic(id, result)) {
    const Type t = vars_[vars_.head(result)];
    if (t.kind == Type::Kind::tensor) return vars_.tensor(t.elem, {}, value);
  }
  return result;
}

/// dim x axis: the axis is a literal, counted from the end when negative; then only that many axes need be
/// known.
TypeId ExprChecker::infer_dim(ExprId id) {
  const Expr e = p_.exprs[id];
  infer_global(e.args[0], id);
  p_.exprs[e.args[0]].type = vars_.error();
  if (e.args.size() != 3) {
    reporter_.report(error(Code::E0304, e.span, "`dim` takes a tensor and an axis: `dim x (-1)`"));
    return vars_.error();
  }
  const TypeId x = infer(e.args[1]);
  const TypeId axis = infer(e.args[2]);
  unifier_.unify(vars_.scalar(base::Elem::i64), axis, why(p_.exprs[e.args[2]].span, "the axis"));
  auto which = value_of(axis);
  if (!which || !which->constant() || *which->constant() > 63 || *which->constant() < -64) {
    reporter_.report(
        error(Code::E0308, p_.exprs[e.args[2]].span, "the axis of `dim` is a number that is known here"));
    return vars_.error();
  }
  const int64_t k = *which->constant();
  Shape shape;
  const ShapeItem rest = var_item(vars_.shape("a"));
  const Dim size(vars_.dim("n"));
  for (int64_t i = 0; i < (k < 0 ? -k : k + 1); ++i)
    shape.push_back(dim_item((k < 0 ? i == 0 : i == k) ? size : Dim(vars_.dim("n"))));
  shape.insert(k < 0 ? shape.begin() : shape.end(), rest);
  const TypeId wanted = vars_.tensor({std::nullopt, vars_.type("t")}, shape);
  unifier_.unify(
      wanted, x,
      why(p_.exprs[e.args[1]].span, fmt::format("what is asked for axis {}", k), wanted, x, e.args[1]));
  return vars_.scalar(base::Elem::i64, size);
}

/// Whether the expression may be a function by its form, so that a name of it has one type for each use.
bool ExprChecker::names_function(ExprId id) const {
  const Kind kind = p_.exprs[id].kind;
  return kind == Kind::lambda || kind == Kind::local || kind == Kind::global || kind == Kind::apply;
}

TypeId ExprChecker::infer_let(ExprId id, TypeId expected) {
  const Expr e = p_.exprs[id];
  const Pattern& pattern = e.params[0];
  const size_t since = solver_.serial(), opened = opened_.mark(), context = solver_.context_size();
  const bool named = pattern.kind == Pattern::Kind::name && !pattern.annotation && names_function(e.args[0]);
  if (named) applied_ = id;
  TypeId value = infer(e.args[0]);
  const size_t scope = scope_.size();
  if (named && vars_[vars_.head(value)].kind == Type::Kind::function) {
    reporter_.report_failures();
    value = dependent_.applied(value, p_.exprs[e.args[0]].span);
    generaliser_.generalise_let(pattern.local, value, since, opened);
    scope_.push_back(pattern.local);
  } else {
    patterns_.bind(pattern, value);
    known_.note_let(pattern, e.args[0]);
  }
  const TypeId result = infer(e.args[1], expected);
  scope_.resize(scope);
  solver_.pop_to(context);
  return result;
}

TypeId ExprChecker::infer_with_field(ExprId id) {
  const Expr e = p_.exprs[id];
  const TypeId base = infer(e.args[0]);
  if (e.text.empty()) return infer(e.args[1]), base;
  const WhyId w = why(e.span, fmt::format("the field `{}`", e.text), {}, base, id);
  const TypeId field = unifier_.field(base, e.text, w, e.span);
  const TypeId value = infer(e.args[1], field);
  if (!field.valid()) return base;
  unifier_.unify(field, value,
                 why(p_.exprs[e.args[1]].span, fmt::format("the new `{}`", e.text), field, value, id));
  return known_.with_field(base, e.text, value);
}

/// A list of numbers is a vector; a list of tensors of one shape is a tensor with one axis more in front.
TypeId ExprChecker::infer_list(ExprId id, TypeId expected) {
  const Expr e = p_.exprs[id];
  const ElemTerm elem{std::nullopt, vars_.type("t")};
  TypeId wanted;
  if (expected.valid()) {
    const Type known = vars_[vars_.zonk(unifier_.shape_view(expected))];
    if (known.kind == Type::Kind::tensor && !known.shape.empty() && is_dim(known.shape[0]))
      wanted = vars_.tensor(known.elem, {known.shape.begin() + 1, known.shape.end()});
  }
  const TypeId element = vars_.tensor(elem, e.args.empty() ? Shape{} : Shape{var_item(vars_.shape("s"))});
  for (size_t i = 0; i < e.args.size(); ++i) {
    const ExprId a = e.args[i];
    const TypeId item = infer(a, wanted);
    unifier_.unify(element, item, why(p_.exprs[a].span, "an element of the list", element, item, a));
    if (solver_.has_failures()) {
      reporter_.report_failures();
      return vars_.error();
    }
  }
  Shape shape = vars_[element].shape;
  shape.insert(shape.begin(), dim_item(Dim(static_cast<int64_t>(e.args.size()))));
  Type list = vars_[vars_.tensor(elem, shape)];
  for (ExprId a : e.args) {
    auto value = value_of(p_.exprs[a].type);
    if (!value || opened_.reads_data(*value)) {
      list.elements.clear();
      break;
    }
    list.elements.push_back(*value);
  }
  return vars_.add(std::move(list));
}

TypeId ExprChecker::infer_check_as(ExprId id) {
  const Expr e = p_.exprs[id];
  const TypeId value = infer(e.args[0]);
  const WhyId w = why(e.span, "the checked type", *e.annotation, value, id);
  const TypeId wanted = instantiator_.open(*e.annotation, w);
  const Type a = vars_[vars_.zonk(wanted)];
  const bool unknown = a.kind == Type::Kind::tensor && vars_[vars_.zonk(value)].kind == Type::Kind::var;
  if (unknown) unifier_.unify(vars_.tensor(a.elem, with_open_sizes(a.shape)), value, w);
  const Type b = vars_[vars_.zonk(value)];
  if (a.kind != Type::Kind::tensor || b.kind != Type::Kind::tensor) {
    unifier_.unify(wanted, value, w);
    return wanted;
  }
  unifier_.unify(a.elem, b.elem, w);
  // Axis by axis from both ends: what inference can decide is decided, the rest is checked when the program
  // runs. What is left between is one shape, or cannot be checked.
  Shape left = a.shape, right = b.shape;
  const bool other_rank = known_rank(left) && known_rank(right) && left.size() != right.size();
  const auto both_end = [](const Shape& x, const Shape& y, bool back) {
    return !x.empty() && !y.empty() && is_dim(back ? x.back() : x.front()) &&
           is_dim(back ? y.back() : y.front());
  };
  for (bool back : {true, false})
    while (!other_rank && both_end(left, right, back)) {
      const auto at = [&](const Shape& s) { return back ? s.end() - 1 : s.begin(); };
      if (!unknown)
        check_size(at(left)->dim, at(right)->dim, w);
      else if (at(left)->dim != at(right)->dim)
        solver_.push_checked(shape::equal(at(right)->dim, at(left)->dim));
      left.erase(at(left));
      right.erase(at(right));
    }
  solver_.equal(left, right, w);
  return a.shape.empty() && b.shape.empty() ? value : wanted;
}

/// The shape with a size of its own, which is not known yet, for each that it names: a type that is stated
/// for what has none yet is no reason to infer it.
Shape ExprChecker::with_open_sizes(Shape shape) {
  for (ShapeItem& item : shape)
    if (is_dim(item) && !is_inferred(vars_.zonk(item.dim))) item.dim = Dim(vars_.dim("n"));
  return shape;
}

/// Is a size of a stated type one to infer, such as `_`? The name of a parameter without a type is not: what
/// it is is said by the calls.
bool ExprChecker::is_inferred(const Dim& zonked) const {
  const auto names = [&](const auto& local) { return vars_.zonk(Dim(local.second)) == zonked; };
  return vars_.has_meta(zonked) && std::none_of(e_.local_sizes.begin(), e_.local_sizes.end(), names);
}

/// One axis of `e :> t`: decided, learned for what follows, or refused when it can never hold.
void ExprChecker::check_size(const Dim& wanted, const Dim& found, WhyId w) {
  const Dim x = vars_.zonk(wanted), y = vars_.zonk(found);
  if (x == y) return;
  if (is_inferred(x) || vars_.has_meta(y)) return solver_.equal(x, y, w);
  const Fact same = shape::equal(y, x), differ{y, shape::Relation::ne, x};
  const std::vector<Fact> facts = solver_.facts_here(same);
  if (shape::prove(facts, same).verdict == shape::Verdict::proved) return;
  // What no value makes true is refused; what only the condition of a branch excludes fails where it is
  // taken.
  if (shape::prove(solver_.facts_for(same, {}), differ).verdict == shape::Verdict::proved)
    return reporter_.report_fact(same, facts, w, Holds::never);
  solver_.push_checked(same);
}

}  // namespace axon::core
