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
  for (const Pattern& p : g.params)
    if (const auto stray = not_at_home_in(p, g.body); stray && !failed_ && !uses_failed_)
      refuse_stray(*stray, p.span);
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
  check_at_home(id);
}

/// Is the expression where the variable is known?
bool Checker::is_at_home(Var v, ExprId at) const {
  const auto home = for_of_.find(v.id);
  if (home == for_of_.end()) return true;
  for (auto in = around_.find(at.index); in != around_.end(); in = around_.find(in->second.index))
    if (in->second == home->second) return true;
  return false;
}

/// A size in the type that is not known at the expression.
std::optional<Var> Checker::not_at_home(TypeId type, ExprId at) const {
  if (!type.valid()) return std::nullopt;
  const Type& t = vars_[vars_.zonk(type)];
  for (const ShapeItem& item : t.shape)
    if (is_dim(item))
      for (Var v : item.dim.vars())
        if (!is_at_home(v, at)) return v;
  for (TypeId item : t.items)
    if (const auto found = not_at_home(item, at)) return found;
  return std::nullopt;
}

std::optional<Var> Checker::not_at_home_in(const Pattern& pattern, ExprId at) const {
  std::optional<Var> found;
  if (pattern.kind == Pattern::Kind::name) found = not_at_home(p_.locals[pattern.local].type, at);
  for (const Pattern& item : pattern.items) found = found ? found : not_at_home_in(item, at);
  return found;
}

/// Every element of a tensor has the same shape.
void Checker::check_at_home(ExprId id) {
  if (for_of_.empty() || failed_) return;
  const Expr& e = p_.exprs[id];
  std::optional<Var> stray = not_at_home(e.type, id);
  for (const Pattern& p : e.params) stray = stray ? stray : not_at_home_in(p, id);
  if (stray) refuse_stray(*stray, e.kind == Expr::Kind::for_ ? p_.exprs[e.args[0]].span : e.span);
}

void Checker::refuse_stray(Var v, source::Span at) {
  const bool index = vars_.kind(v) == VarKind::index;
  auto d = error(Code::E0306, at,
                 index ? fmt::format("a size here depends on the index `{}`", shape::var_name(v))
                       : "what one iteration of `for` reads decides a size here");
  d.text("Every element of a tensor has the same shape, so a size cannot change with an index.");
  if (!index) d.help("where the size is the same for all, name it before the `for`");
  report(std::move(d));
}

}  // namespace axon::core
