// Two shapes that do not agree.
//
// In: the failure of two sizes, or of two numbers of axes, and the Why of what compared them. Out: a
// diagnostic with both shapes, aligned from the right, the axis that differs marked, and the places that say
// what it is.
#include <fmt/format.h>

#include <algorithm>

#include "core/library_names.h"
#include "core/reporter.h"

namespace axon::core {

using shape::Dim;
using shape::Var;
using source::Code;
using source::Diagnostic;
using source::error;
using source::Span;

bool Reporter::report_matmul(const Failure& f, const Why& w) {
  if (!w.expr.valid() || f.kind != Failure::Kind::size) return false;
  const Expr e = p_.exprs[w.expr];
  if (e.kind != Expr::Kind::apply || e.args.size() != 3) return false;
  const Expr callee = p_.exprs[e.args[0]];
  if (!e_.is_library_function(callee, library::matmul)) return false;
  if (!p_.exprs[e.args[2]].type.valid()) return false;
  const Type a = vars_[vars_.zonk(p_.exprs[e.args[1]].type)], b = vars_[vars_.zonk(p_.exprs[e.args[2]].type)];
  const bool shaped = a.kind == Type::Kind::tensor && b.kind == Type::Kind::tensor && !a.shape.empty() &&
                      b.shape.size() >= 2 && is_dim(a.shape.back()) && is_dim(b.shape.back()) &&
                      is_dim(b.shape[b.shape.size() - 2]);
  if (!shaped) return false;
  const Dim inner = a.shape.back().dim, rows = b.shape[b.shape.size() - 2].dim;
  if (inner == rows) return false;
  auto d = error(Code::E0312, callee.span, "inner dimensions of `@` differ");
  d.label(fmt::format("needs {} = {}", print(inner, names()), print(rows, names())));
  label_operands(d, w);
  note_sizes(d, inner, rows);
  suggest(d, f, w);
  defer(d, f);
  return true;
}

namespace {

/// The shapes of two tensors, aligned from the right, with the axis that differs marked underneath.
std::string aligned(const std::vector<std::pair<std::string, std::vector<std::string>>>& rows,
                    size_t mark_from_right) {
  size_t axes = 0, label = 0;
  for (const auto& [name, items] : rows) {
    axes = std::max(axes, items.size());
    label = std::max(label, name.size());
  }
  std::vector<size_t> width(axes, 0);
  for (const auto& [name, items] : rows)
    for (size_t i = 0; i < items.size(); ++i) {
      size_t& w = width[axes - items.size() + i];
      w = std::max(w, items[i].size());
    }
  std::string out;
  size_t mark_at = 0, mark_width = 0;
  for (const auto& [name, items] : rows) {
    std::string line = fmt::format("{:<{}} [", name, label);
    for (size_t i = 0; i < axes; ++i) {
      const size_t skip = axes - items.size();
      const std::string text = i < skip ? "" : items[i - skip] + (i + 1 < axes ? "," : "");
      if (axes - i == mark_from_right) {
        mark_at = line.size();
        mark_width = std::max<size_t>(width[i], 1);
      }
      line += fmt::format("{:<{}}", text, width[i] + (i + 1 < axes ? 1 : 0));
      if (i + 1 < axes) line += " ";
    }
    out += line + "]\n";
  }
  if (mark_from_right && mark_width) out += std::string(mark_at, ' ') + std::string(mark_width, '^') + "\n";
  if (!out.empty()) out.pop_back();
  return out;
}

std::vector<std::string> axis_texts(const Shape& s, Names& names) {
  std::vector<std::string> out;
  for (const ShapeItem& item : s) {
    std::string text = print(Shape{item}, names);
    out.push_back(text.substr(1, text.size() - 2));
  }
  return out;
}

}  // namespace

/// An index that goes over axes of two sizes: where it goes over the other one.
void Reporter::label_other_axis(Diagnostic& d, const Failure& f, const Why& w) {
  if (!w.expr.valid() || w.expected.valid() || p_.exprs[w.expr].kind != Expr::Kind::index) return;
  const auto binder_at = [&](const Expr& e, Span at) -> LocalId {
    for (const IndexItem& i : e.indices)
      if (i.point.valid() && p_.exprs[i.point].kind == Expr::Kind::local && p_.exprs[i.point].span == at)
        return p_.exprs[i.point].local;
    return {};
  };
  const LocalId binder = binder_at(p_.exprs[w.expr], w.span);
  const DeclInfo& info = e_.infos[g_.index];
  for (uint32_t i = info.first_expr; binder.valid() && i < info.end_expr; ++i) {
    const Expr& e = p_.exprs[{i}];
    if (e.kind != Expr::Kind::index || ExprId{i} == w.expr || !p_.exprs[e.args[0]].type.valid()) continue;
    const Type base = vars_[vars_.zonk(unifier_.shape_view(p_.exprs[e.args[0]].type))];
    for (size_t axis = 0; axis < std::min(e.indices.size(), base.shape.size()); ++axis) {
      const IndexItem& item = e.indices[axis];
      if (item.kind != IndexItem::Kind::point || !is_dim(base.shape[axis])) break;
      const Expr& point = p_.exprs[item.point];
      const Dim& size = base.shape[axis].dim;
      if (point.kind != Expr::Kind::local || point.local != binder || (size != f.lhs && size != f.rhs))
        continue;
      d.also(point.span, fmt::format("`{}` goes over {} here", p_.locals[binder].name, print(size, names())));
      const Expr& of = p_.exprs[e.args[0]];
      if (of.kind == Expr::Kind::local)
        d.also(p_.locals[of.local].span, fmt::format("`{}` is {}", p_.locals[of.local].name, show(of.type)));
      return;
    }
  }
}

void Reporter::report_shapes(const Failure& f, const Why& w) {
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;
  std::vector<Shape> shapes;
  std::string headline;
  Code code = Code::E0303;
  auto tensor_row = [&](const std::string& label, TypeId t) {
    if (!t.valid()) return;
    const Type type = vars_[vars_.zonk(unifier_.shape_view(t))];
    if (type.kind != Type::Kind::tensor) return;
    shapes.push_back(type.shape);
    rows.emplace_back(label, axis_texts(type.shape, names()));
  };
  if (w.expected.valid() && w.found.valid()) {
    tensor_row("expected", w.expected);
    tensor_row("found", w.found);
    headline = f.kind == Failure::Kind::rank
                   ? fmt::format("the number of axes of {} is not the one expected", w.what)
                   : fmt::format("the shape of {} is not the one expected", w.what);
  } else if (w.expr.valid() && p_.exprs[w.expr].kind == Expr::Kind::apply) {
    const Expr e = p_.exprs[w.expr];
    for (size_t i = 1; i < e.args.size(); ++i)
      tensor_row(describe(e.args[i]) == "this" ? (i == 1 ? "left" : "right") : describe(e.args[i]),
                 p_.exprs[e.args[i]].type);
    code = f.kind == Failure::Kind::broadcast || f.kind == Failure::Kind::rank ? Code::E0310 : Code::E0303;
    headline = code == Code::E0310 ? fmt::format("the operands of {} do not broadcast", w.what)
                                   : fmt::format("the shapes at {} do not agree", w.what);
  } else {
    headline = fmt::format("the sizes at {} do not agree", w.what);
  }
  size_t mark = 0;
  if (shapes.size() == 2 && f.kind != Failure::Kind::rank) {
    for (size_t i = 1; i <= std::min(shapes[0].size(), shapes[1].size()) && !mark; ++i) {
      const ShapeItem &x = shapes[0][shapes[0].size() - i], &y = shapes[1][shapes[1].size() - i];
      if (is_dim(x) && is_dim(y) && x.dim != y.dim && !(code == Code::E0310 && (x.dim.is(1) || y.dim.is(1))))
        mark = i;
    }
  }
  auto d = error(code, w.span, headline);
  if (f.kind == Failure::Kind::size || f.kind == Failure::Kind::broadcast)
    d.label(fmt::format("needs {} = {}", print(f.lhs, names()), print(f.rhs, names())));
  label_operands(d, w);
  label_other_axis(d, f, w);
  if (rows.size() == 2) {
    d.text(aligned(rows, mark));
  } else if (w.expected.valid() && w.found.valid()) {  // functions, records: the shapes are inside of them
    d.text(expected_and_found(w));
  }
  if (f.kind == Failure::Kind::broadcast) d.note("only an axis that is the literal 1 in the type stretches");
  if (f.kind == Failure::Kind::size) {
    std::vector<Var> rigid;
    for (const Dim& side : {f.lhs, f.rhs})
      for (Var v : side.vars())
        if (vars_.kind(v) == VarKind::rigid && vars_.origin(v).valid()) rigid.push_back(v);
    for (Var v : rigid)
      if (std::none_of(d.secondary.begin(), d.secondary.end(), [&](const auto& l) {
            return l.span.begin <= vars_.origin(v).begin && vars_.origin(v).end <= l.span.end;
          }))
        d.also(vars_.origin(v), fmt::format("`{}` is named here, and stands for any size", names().of(v)));
  }
  if (f.kind == Failure::Kind::size || f.kind == Failure::Kind::broadcast) note_sizes(d, f.lhs, f.rhs);
  suggest(d, f, w);
  defer(d, f);
}

}  // namespace axon::core
