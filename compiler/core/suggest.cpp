// The edits that may repair an error about shapes; drafts.h says what becomes of them.
#include <fmt/format.h>

#include <algorithm>

#include "core/drafts.h"
#include "core/library_names.h"

namespace axon::core {

using shape::Var;
using source::Diagnostic;
using source::Span;

namespace {

/// The empty span before the `=` of a function.
Span end_of_header(const syntax::FunDecl& fun, const syntax::File& file,
                   const source::SourceManager& sources) {
  Span last = file[fun.params.back()].span;
  if (fun.result.valid()) last = file[fun.result].span;
  for (const syntax::Condition& condition : fun.where) last = condition.span;
  const std::string_view text = sources[last.file].text();
  size_t at = std::min(text.find('=', last.end), text.size());
  while (at > last.end && std::isspace(static_cast<unsigned char>(text[at - 1]))) --at;
  return {last.file, static_cast<uint32_t>(at), static_cast<uint32_t>(at)};
}

std::vector<syntax::Item> items_of(const syntax::Type& type) {
  if (const auto* t = syntax::as<syntax::NamedType>(type))
    return t->items.value_or(std::vector<syntax::Item>{});
  if (const auto* t = syntax::as<syntax::VariableType>(type))
    return t->items.value_or(std::vector<syntax::Item>{});
  if (const auto* t = syntax::as<syntax::ShapeType>(type)) return t->items;
  return {};
}

}  // namespace

void Reporter::suggest(Diagnostic& d, const Failure& f, const Why& w) {
  if ((attempt_ && !attempt_->call_depth) || e_.only_counting || !w.expr.valid() ||
      e_.infos[g_.index].module->library)
    return;
  const Expr e = p_.exprs[w.expr];
  Drafts drafts(
      d, e_.sources, p_, names(), [&](TypeId t) { return vars_[vars_.zonk(unifier_.shape_view(t))]; },
      [&](const Expr& callee, const char* name) { return e_.is_library_function(callee, name); });
  drafts.want(w.expected);
  const auto axes = [&](TypeId t) { return t.valid() ? vars_[vars_.zonk(t)].shape.size() : 0; };
  const bool has_more_axes = w.expected.valid() && axes(w.found) > axes(w.expected);
  std::vector<ExprId> loops;
  for (uint32_t i = e_.infos[g_.index].first_expr; i < e_.infos[g_.index].end_expr; ++i) {
    const Expr& other = p_.exprs[{i}];
    if (other.kind == Expr::Kind::for_) loops.push_back({i});
    if (other.kind == Expr::Kind::with_index && other.args[1] == w.expr && has_more_axes)
      drafts.rest_of_update(other);
  }
  if (!w.expected.valid() && (e.kind == Expr::Kind::index || e.kind == Expr::Kind::with_index))
    return drafts.index(e, loops, vars_, shape::less(f.lhs, f.rhs));
  const bool whole =
      w.expected.valid() && w.span == e.span;  // the expression itself, not what it is applied to
  if (e.kind == Expr::Kind::conditional && w.span == p_.exprs[e.args[0]].span) return drafts.by_element(e);
  if (e.kind == Expr::Kind::rearrange) {
    drafts.add(e.args[0], describe(e.args[0]), false);
  } else if (whole) {
    drafts.add(w.expr, w.what, true, true);
  } else if (e.kind == Expr::Kind::apply) {
    const Expr callee = p_.exprs[e.args[0]];
    const bool infix = is_infix(p_, e);
    for (size_t i = 1; i < e.args.size(); ++i) drafts.add(e.args[i], role_of(p_, e, i), infix);
    if (infix && f.kind != Failure::Kind::element) drafts.other_product(callee.span, e.span);
  } else {
    return;
  }
  if (f.kind == Failure::Kind::structure && e.kind == Expr::Kind::apply)
    for (size_t i = 1; i < e.args.size(); ++i)
      if (p_.exprs[e.args[i]].span == w.span) drafts.untupled(e.args[i], e.args[0]);
  if (f.kind == Failure::Kind::rank && e.kind == Expr::Kind::apply &&
      p_.exprs[e.args[0]].kind == Expr::Kind::global &&
      !e_.infos[p_.exprs[e.args[0]].global.index].module->library) {
    const GlobalId callee = e_.with_body(p_.exprs[e.args[0]].global);
    const Global& function = p_.globals[callee];
    const DeclInfo& info = e_.infos[callee.index];
    for (size_t i = 1; i < e.args.size() && i <= function.params.size(); ++i)
      if (p_.exprs[e.args[i]].span == w.span && p_.exprs[e.args[i]].type.valid())
        drafts.rest_of_parameter(function.params[i - 1], info.first_expr, info.end_expr,
                                 vars_[vars_.zonk(p_.exprs[e.args[i]].type)].shape.size());
  }
  if (f.kind == Failure::Kind::element) {
    const Type expected = w.expected.valid() ? vars_[vars_.zonk(w.expected)] : Type{};
    const Type found = w.found.valid() ? vars_[vars_.zonk(w.found)] : Type{};
    const bool elements = expected.kind == Type::Kind::tensor && expected.elem.elem &&
                          *expected.elem.elem != base::Elem::boolean;
    // a float that becomes an integer loses what is after the point: rarely what was meant
    const bool cuts = elements && base::is_integer(*expected.elem.elem) && found.kind == Type::Kind::tensor &&
                      found.elem.elem && base::is_float(*found.elem.elem);
    const bool real = expected.kind == Type::Kind::tensor && found.kind == Type::Kind::tensor &&
                      vars_.elem_class(expected.elem) == ElemClass::flt &&
                      vars_.elem_class(found.elem) == ElemClass::int_;
    if (real && !elements)
      for (const Operand& o : drafts.operands)
        if (o.span == w.span) drafts.converted(o, "real");
    if (elements && !cuts)
      for (const Operand& o : drafts.operands)
        if (o.span == w.span && p_.exprs[o.id].kind != Expr::Kind::number)
          drafts.converted(o, std::string(base::elem_name(*expected.elem.elem)));
    return;
  }
  for (const Operand& o : drafts.operands)
    if (o.span == w.span || !w.expected.valid()) drafts.about(o);
  for (const Operand& o : drafts.operands)
    if (o.span != w.span && w.expected.valid()) drafts.about(o);
  drafts.swapped();
  if (f.kind != Failure::Kind::size && f.kind != Failure::Kind::broadcast) return;
  if (e.kind == Expr::Kind::apply) {
    const Expr& callee = p_.exprs[e.args[0]];
    if (e_.is_library_function(callee, library::concat)) drafts.other_axis(callee);
  }
  drafts.sizes(e, f, loops, vars_);
  if (attempt_) return;  // the sizes here are those of the caller
  if (const auto* fun = syntax::as<syntax::FunDecl>(*e_.infos[g_.index].written);
      fun && !fun->params.empty()) {
    const auto written = [&](Var v) { return vars_.kind(v) == VarKind::rigid; };
    const Span at = end_of_header(*fun, *e_.infos[g_.index].written.file, e_.sources);
    drafts.related(f.lhs, f.rhs, written, at, fun->where.empty(),
                   fun->is_entry ? Changes::inputs : Changes::writing);
  }
  if (whole && w.expr == p_.globals[g_].body) {
    const DeclInfo& info = e_.infos[g_.index];
    const auto* fun = syntax::as<syntax::FunDecl>(*info.written);
    const Type expected = vars_[vars_.zonk(w.expected)], found = vars_[vars_.zonk(w.found)];
    if (fun && fun->result.valid() && found.kind == Type::Kind::tensor && expected.kind == Type::Kind::tensor)
      drafts.stated(items_of((*info.written.file)[fun->result]), expected.shape, found.shape);
  }
}

}  // namespace axon::core
