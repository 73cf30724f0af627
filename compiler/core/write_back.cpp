// Solved types into the program, and what must not be left open in it: element types default, sizes are
// refused.
#include <fmt/format.h>

#include "core/check.h"

namespace axon::core {

using shape::Fact;
using shape::Var;
using source::Code;
using source::error;

// ---- Types into the program ----

void Checker::write_back(Pattern& p) {
  if (p.annotation) p.annotation = vars_.zonk(*p.annotation);
  for (Pattern& item : p.items) write_back(item);
}

void Checker::write_back(const Scheme&) {
  for (uint32_t i = first_type_var_; i < vars_.types.vars.size(); ++i) default_element({i});
  const DeclInfo& info = e_.infos[g_.index];
  for (uint32_t i = info.first_local; i < info.end_local; ++i) {
    Local& l = p_.locals[{i}];
    if (l.type.valid()) l.type = vars_.zonk(l.type);
    if (l.scheme.type.valid()) {
      l.scheme.type = vars_.zonk(l.scheme.type);
      for (IntoConstraint& c : l.scheme.into) c.target = vars_.zonk(c.target);
      for (Fact& f : l.scheme.where) f = {vars_.zonk(f.lhs), f.relation, vars_.zonk(f.rhs)};
    }
  }
  for (uint32_t i = info.first_expr; i < info.end_expr; ++i) {
    Expr& e = p_.exprs[{i}];
    e.type = e.type.valid() ? vars_.zonk(e.type) : vars_.error();
    e.dim = vars_.zonk(e.dim);
    for (auto& [v, d] : e.instantiation) d = vars_.zonk(d);
    ElemInstantiation elems;
    for (auto& [v, term] : e.elems) {
      term = vars_.zonk(term);
      elems.emplace_back(v, term);
    }
    e.elems = std::move(elems);
    for (Binder& b : e.binders)
      if (b.range) b.range = vars_.zonk(*b.range);
    for (Pattern& p : e.params) write_back(p);
    if (e.annotation) e.annotation = vars_.zonk(*e.annotation);
    if (!failed_ && !uses_failed_) check_determined({i});
  }
  Global& g = p_.globals[g_];
  for (Pattern& p : g.params) write_back(p);
}

void Checker::check_determined(ExprId id) {
  const Expr& e = p_.exprs[id];
  for (const auto& [v, d] : e.instantiation) {
    const bool open = vars_.has_meta(d);
    if (open) {
      const std::string who = e.kind == Expr::Kind::global  ? p_.globals[e.global].name
                              : e.kind == Expr::Kind::local ? p_.locals[e.local].name
                                                            : "rearrange";
      report(error(Code::E0309, e.span,
                   fmt::format("the size `{}` of `{}` is not determined", shape::var_name(v), who))
                 .text("Neither its arguments nor the use of its result say what it is.")
                 .help(fmt::format("give it: `{}[...]`, or annotate the result", who)));
      return;
    }
  }
  const Type& t = vars_[e.type];
  if (t.kind != Type::Kind::tensor) return;
  for (const ShapeItem& item : t.shape) {
    if (!is_dim(item)) continue;
    for (Var v : item.dim.vars()) {
      if (inside_for_.count(v.id)) {
        report(
            error(Code::E0306, e.span, "what one iteration of `for` reads decides a size here")
                .text("Every element of a tensor has the same shape, so a size cannot change with an index.")
                .help("where the size is the same for all, name it before the `for`"));
        return;
      }
      if (vars_.kind(v) != VarKind::index) continue;
      report(
          error(Code::E0306, e.span, fmt::format("a size here depends on the index `{}`", shape::var_name(v)))
              .text("Every element of a tensor has the same shape, so a size cannot change with an index."));
      return;
    }
  }
}

}  // namespace axon::core
