// See index_lowering.h.
#include <fmt/format.h>

#include <algorithm>

#include "core/expr_lowering.h"
#include "core/index_lowering.h"
#include "core/library_names.h"

namespace axon::core {

using shape::Dim;
using source::Code;
using source::error;
using source::Span;
namespace stx = axon::syntax;
using Kind = Expr::Kind;

ExprId IndexLowering::for_expr(const std::vector<stx::Binder>& binders, stx::ExprId body, Span span) {
  const size_t scope = scope_.size();
  std::vector<Binder> out;
  for (const stx::Binder& b : binders) {
    Binder binder;
    if (b.bound.valid()) binder.bound = exprs_.expr(b.bound);
    const auto first = std::find_if(binders.begin(), binders.end(), [&](const stx::Binder& other) {
      return other.name.text == b.name.text && other.spread == b.spread;
    });
    if (&*first != &b) {
      report(error(Code::E0404, b.name.span, fmt::format("`{}` is named twice here", b.name.text))
                 .also(first->name.span, "here first"));
      continue;
    }
    binder.local =
        names_.add_local(b.name.text, b.name.span, b.spread ? Local::Kind::rank : Local::Kind::index);
    out.push_back(binder);
  }
  const ExprId value = exprs_.expr(body);
  scope_.resize(scope);
  const ExprId e = add(Kind::for_, span);
  at(e).binders = std::move(out);
  at(e).args = {value};
  return e;
}

GlobalId IndexLowering::find_global(stx::ExprId id) {
  const stx::Expr& x = file()[id];
  if (const auto* n = stx::as<stx::NameExpr>(x)) return find(n->name) ? GlobalId{} : find_value(n->name);
  if (const auto* i = stx::as<stx::IndexExpr>(x)) return find_global(i->base);
  if (const auto* f = stx::as<stx::FieldExpr>(x)) {
    const auto* base = stx::as<stx::NameExpr>(file()[f->base]);
    if (!base || find(base->name)) return {};
    const auto imported = e_.lookups.import(*module_, base->name);
    if (!imported || !*imported) return {};
    const DeclId value = e_.lookups.find(**imported, DeclKey::Space::values, f->field.text);
    return value.valid() && !e_.modules.is_private(value) ? e_.global(value) : GlobalId{};
  }
  return {};
}

ExprId IndexLowering::reduction(const stx::ReduceExpr& r, Span span) {
  const GlobalId g = find_global(r.head);
  const size_t arity = g.valid() ? e_.lookups.reduction_arity(e_.infos[g.index].id) : 0;
  const size_t leading = std::min(arity, r.args.size());
  std::vector<stx::Binder> binders;
  for (size_t i = leading; i < r.args.size(); ++i) {
    const stx::Expr& x = file()[r.args[i]];
    stx::Binder b;
    b.span = x.span;
    const auto* bounded = stx::as<stx::BinaryExpr>(x);
    const auto* n =
        stx::as<stx::NameExpr>(bounded && bounded->op == stx::BinaryOp::less ? file()[bounded->lhs] : x);
    if (n) {
      b.name = {n->name, bounded ? file()[bounded->lhs].span : x.span};
      if (bounded) b.bound = bounded->rhs;
      binders.push_back(b);
    } else {
      if (!stx::as<stx::ErrorExpr>(x)) report(error(Code::E0215, x.span, "a name to fold over was expected"));
      return add(Kind::error, span);
    }
  }
  if (binders.empty()) {
    report(error(Code::E0215, span, "a reduction needs a name to fold over: `sum k => ...`"));
    return add(Kind::error, span);
  }
  const ExprId head = exprs_.expr(r.head);
  std::vector<ExprId> before;
  for (size_t i = 0; i < leading; ++i) before.push_back(exprs_.expr(r.args[i]));
  ExprId value = for_expr(binders, r.body, span);
  at(value).flag = true;  // folded: the body is one number
  const size_t axes = at(value).binders.size();
  for (size_t i = 1; i < axes; ++i)  // one axis of all that the binders range over
    value = exprs_.apply(names_.prelude(library::flatten, span), {value}, span);
  before.push_back(value);
  return exprs_.apply(head, std::move(before), span);
}

bool IndexLowering::axis_factors(stx::ExprId id, AxisGroup& out) {
  const stx::Expr& x = file()[id];
  if (const auto* n = stx::as<stx::NameExpr>(x)) {
    out.push_back(n->name);
    return true;
  }
  const auto* number = stx::as<stx::NumberExpr>(x);
  if (number && !number->is_float && number->text.find_first_not_of("0123456789") == std::string::npos &&
      number->text.size() < 10 && number->text[0] != '0') {
    out.push_back(number->text);
    return true;
  }
  const auto* b = stx::as<stx::BinaryExpr>(x);
  if (b && b->op == stx::BinaryOp::multiply) return axis_factors(b->lhs, out) && axis_factors(b->rhs, out);
  report(error(Code::E0215, x.span,
               "an axis of `rearrange` is a name, a number, a product of these, or `..names`"));
  return false;
}

std::vector<AxisGroup> IndexLowering::axis_groups(const stx::ListExpr& l) {
  std::vector<AxisGroup> out;
  for (const stx::Index& i : l.elements) {
    AxisGroup group;
    if (const auto* s = std::get_if<stx::SpreadIndex>(&i.node)) {
      group = {".." + s->name.text};
    } else if (const auto* e = std::get_if<stx::ElementIndex>(&i.node)) {
      axis_factors(e->value, group);
    } else {
      report(error(Code::E0215, i.span,
                   "an axis of `rearrange` is a name, a number, a product of these, or `..names`"));
    }
    out.push_back(std::move(group));
  }
  return out;
}

/// Notes the names of axes. `bound`: where those are bound that were named before.
void IndexLowering::note_axes(const stx::ListExpr& l, std::map<std::string, Span>& bound) {
  const auto name = [&](const std::string& text, Span at) {
    note(Use::Kind::axis, at, bound.try_emplace(text, at).first->second);
  };
  for (const stx::Index& i : l.elements) {
    if (const auto* s = std::get_if<stx::SpreadIndex>(&i.node)) name(".." + s->name.text, s->name.span);
    const auto* e = std::get_if<stx::ElementIndex>(&i.node);
    std::vector<stx::ExprId> todo;
    if (e) todo.push_back(e->value);
    while (!todo.empty()) {
      const stx::Expr& x = file()[todo.back()];
      todo.pop_back();
      if (const auto* n = stx::as<stx::NameExpr>(x)) name(n->name, x.span);
      if (const auto* b = stx::as<stx::BinaryExpr>(x)) todo.insert(todo.end(), {b->rhs, b->lhs});
    }
  }
}

ExprId IndexLowering::rearrange(const stx::ReduceExpr& r, Span span) {
  const auto* from = r.args.size() == 2 ? stx::as<stx::ListExpr>(file()[r.args[1]]) : nullptr;
  const auto* to = stx::as<stx::ListExpr>(file()[r.body]);
  if (!from || !to) {
    auto d = error(Code::E0215, span, "`rearrange` is written `rearrange x [t, h*k] => [h, t, k]`");
    if (from && stx::as<stx::BinaryExpr>(file()[r.body]))
      d.help(
          "what follows `=>` reaches to the end: put the `rearrange` in parentheses to go on with its "
          "result");
    report(std::move(d));
    return add(Kind::error, span);
  }
  const ExprId value = exprs_.expr(r.args[0]);
  std::vector<AxisGroup> before = axis_groups(*from), after = axis_groups(*to);
  // The names of axes that are sizes in scope are those sizes; others are found from the operand.
  Instantiation sizes;
  std::vector<std::string> seen;
  std::map<std::string, Span> bound;
  for (const AxisGroup& group : before) {
    for (const std::string& n : group) {
      if (n == "1") continue;
      if (std::find(seen.begin(), seen.end(), n) != seen.end()) {
        report(error(Code::E0215, file()[r.args[1]].span, fmt::format("`{}` occurs twice on the left", n))
                   .help("each part of an axis has a name of its own there"));
        return add(Kind::error, span);
      }
      seen.push_back(n);
      if (n.starts_with("..")) continue;
      const bool number = n[0] >= '0' && n[0] <= '9';
      const ScopeEntry* entry = number ? nullptr : find_size(n);
      // A whole axis says how long it is: a tensor that happens to have its name is not meant.
      if (entry && group.size() == 1 && !entry->size && !p_.locals[entry->local].type.valid())
        entry = nullptr;
      auto size = number  ? std::optional(Dim(static_cast<int64_t>(std::stoll(n))))
                  : entry ? types_.size_of(*entry)
                          : std::nullopt;
      if (entry && size) bound.emplace(n, entry->binding);
      sizes.emplace_back(shape::fresh_var(n), size ? *size : Dim(e_.vars.dim(n, VarKind::meta, true, span)));
    }
  }
  std::vector<std::string> used;
  for (const AxisGroup& group : after)
    for (const std::string& n : group)
      if (n != "1") used.push_back(n);
  std::vector<std::string> left = seen, right = used;
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  if (left != right) {
    report(error(Code::E0215, file()[r.body].span,
                 "both sides of `rearrange` must name the same axes, each once"));
    return add(Kind::error, span);
  }
  note_axes(*from, bound);
  note_axes(*to, bound);
  const ExprId e = add(Kind::rearrange, span);
  at(e).args = {value};
  at(e).from = std::move(before);
  at(e).to = std::move(after);
  at(e).instantiation = std::move(sizes);
  return e;
}

/// `reshape [n, -1] x`: all axes as one, and that as the axes of the target; the checker fills in which they
/// are.
ExprId IndexLowering::reshape(ExprId target, ExprId value, Span span) {
  const ExprId flat = add(Kind::rearrange, span);
  at(flat).args = {value};
  const ExprId e = add(Kind::rearrange, span);
  at(e).args = {flat, target};
  at(e).flag = true;
  return e;
}

std::vector<IndexItem> IndexLowering::indices(const std::vector<stx::Index>& list) {
  std::vector<IndexItem> out;
  bool rest = false;
  for (const stx::Index& i : list) {
    IndexItem item;
    if (rest && std::holds_alternative<stx::RestIndex>(i.node))
      report(error(Code::E0322, i.span, "an index has at most one `..`"));
    std::visit(stx::Overloaded{[&](const stx::ElementIndex& e) {
                                 item.kind = IndexItem::Kind::point;
                                 item.point = exprs_.expr(e.value);
                               },
                               [&](const stx::RestIndex&) {
                                 item.kind = IndexItem::Kind::ellipsis;
                                 rest = true;
                               },
                               [&](const stx::SpreadIndex& s) {
                                 item.kind = IndexItem::Kind::rank;
                                 const ScopeEntry* entry = find_axes(s.name.text);
                                 if (entry) {
                                   note(*entry, s.name.span);
                                   item.rank = entry->local;
                                 } else {
                                   report(error(Code::E0401, s.name.span,
                                                fmt::format("no `for` binds `..{}`", s.name.text)));
                                   item.kind = IndexItem::Kind::ellipsis;
                                 }
                               },
                               [&](const stx::SliceIndex& s) {
                                 item.kind = IndexItem::Kind::slice;
                                 if (s.first.valid()) item.start = exprs_.expr(s.first);
                                 if (s.last.valid()) item.stop = exprs_.expr(s.last);
                                 if (s.step.valid()) item.step = exprs_.expr(s.step);
                               }},
               i.node);
    out.push_back(item);
  }
  return out;
}

ExprId IndexLowering::explicit_sizes(GlobalId g, const stx::IndexExpr& i, Span span) {
  const std::vector<stx::SizeParam> declared = e_.lookups.size_params(e_.infos[g.index].id);
  const ExprId fn = exprs_.expr(i.base);
  if (declared.size() != i.indices.size()) {
    report(error(Code::E0318, span,
                 counts_differ(p_.globals[g].name, "size parameter", declared.size(),
                               std::to_string(i.indices.size())))
               .also(p_.globals[g].span, "declared here"));
    return add(Kind::error, span);
  }
  std::vector<ExprId> sizes;
  for (size_t k = 0; k < declared.size(); ++k) {
    const auto* e = std::get_if<stx::ElementIndex>(&i.indices[k].node);
    const auto* n = e ? stx::as<stx::NameExpr>(file()[e->value]) : nullptr;
    if (n && n->name == "_") {
      sizes.push_back({});
    } else if (declared[k].kind == stx::SizeParamKind::element && n && base::elem_from_name(n->name)) {
      sizes.push_back(names_.cast_to(*base::elem_from_name(n->name), file()[e->value].span));
    } else if (declared[k].kind == stx::SizeParamKind::dim && e) {
      sizes.push_back(exprs_.expr(e->value));
    } else {
      report(error(Code::E0318, i.indices[k].span,
                   fmt::format("`{}` cannot be given here", declared[k].name.text)));
      sizes.push_back({});
    }
  }
  at(fn).args = std::move(sizes);
  return fn;
}

ExprId IndexLowering::index(const stx::IndexExpr& i, Span span) {
  if (const GlobalId g = find_global(i.base); g.valid()) {
    const bool takes_sizes = !e_.lookups.size_params(e_.infos[g.index].id).empty();
    if (takes_sizes && !i.otherwise.valid()) return explicit_sizes(g, i, span);
  }
  const ExprId base = exprs_.expr(i.base);
  std::vector<IndexItem> items = indices(i.indices);
  std::vector<ExprId> args = {base};
  if (i.otherwise.valid()) args.push_back(exprs_.expr(i.otherwise));
  const ExprId e = add(Kind::index, span);
  at(e).args = std::move(args);
  at(e).indices = std::move(items);
  return e;
}

}  // namespace axon::core
