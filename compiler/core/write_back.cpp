// See write_back.h.
#include "core/write_back.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/generalise.h"

namespace axon::core {

using shape::Fact;
using shape::Var;
using source::Code;
using source::error;

// ---- Types into the program ----

void WriteBack::write_back(Pattern& p) {
  if (p.annotation) p.annotation = vars_.zonk(*p.annotation);
  for (Pattern& item : p.items) write_back(item);
}

void WriteBack::run(uint32_t first_type_var) {
  for (uint32_t i = first_type_var; i < vars_.types.vars.size(); ++i) default_element(vars_, {i});
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
    std::erase_if(e.instantiation, [&](const auto& size) {  // what each call has is read off its arguments
      const auto all = size.second.vars();
      return std::any_of(all.begin(), all.end(),
                         [&](Var v) { return vars_.kind(v) == VarKind::bound && !scopes_.in_scope(v, {i}); });
    });
    ElemInstantiation elems;
    for (auto& [v, term] : e.elems) {
      term = vars_.zonk(term);
      elems.emplace_back(v, term);
    }
    e.elems = std::move(elems);
    for (auto& [v, s] : e.shapes) s = vars_.zonk(s);
    for (Binder& b : e.binders) {
      if (b.range) b.range = vars_.zonk(*b.range);
      for (Shape& s : b.joined) s = vars_.zonk(s);
    }
    for (Pattern& p : e.params) write_back(p);
    if (e.annotation) e.annotation = vars_.zonk(*e.annotation);
    if (!failed_) check_determined({i});
  }
  Global& g = p_.globals[g_];
  for (Pattern& p : g.params) write_back(p);
  for (const Pattern& p : g.params)
    if (const auto stray = scopes_.out_of_scope(p, g.body); stray && !failed_)
      refuse_out_of_scope(*stray, p.span);
}

void WriteBack::check_determined(ExprId id) {
  const Expr& e = p_.exprs[id];
  for (const auto& [v, d] : e.instantiation) {
    const bool open = vars_.has_meta(d);
    if (open) {
      const std::string who = e.kind == Expr::Kind::global  ? p_.globals[e.global].name
                              : e.kind == Expr::Kind::local ? p_.locals[e.local].name
                                                            : "rearrange";
      reporter_.report(error(Code::E0309, e.span,
                             fmt::format("the size `{}` of `{}` is not determined", shape::var_name(v), who))
                           .text("Neither its arguments nor the use of its result say what it is.")
                           .help(fmt::format("give it: `{}[...]`, or annotate the result", who)));
      return;
    }
  }
  check_scope(id);
}

/// Every element of a tensor has the same shape, and so has every result of a function that is a value.
void WriteBack::check_scope(ExprId id) {
  if (scopes_.none() || failed_) return;
  const Expr& e = p_.exprs[id];
  std::optional<Var> stray = scopes_.out_of_scope(e.type, id);
  const ExprId inside = e.kind == Expr::Kind::lambda ? e.args[0] : id;
  for (const Pattern& p : e.params) stray = stray ? stray : scopes_.out_of_scope(p, inside);
  if (stray) refuse_out_of_scope(*stray, e.kind == Expr::Kind::for_ ? p_.exprs[e.args[0]].span : e.span);
}

void WriteBack::refuse_out_of_scope(Var v, source::Span at) {
  if (!scopes_.is_of_for(v)) {
    const bool named = vars_.kind(v) == VarKind::bound;
    reporter_.report(
        error(Code::E0323, at,
              named ? fmt::format("a size here depends on `{}`, an integer of one call of a function",
                                  shape::var_name(v))
                    : "what one call of a function reads decides a size here")
            .text("A function that is a value may be called more than once, each time with another "
                  "size."));
    return;
  }
  const bool index = vars_.kind(v) == VarKind::index;
  auto d = error(Code::E0306, at,
                 index ? fmt::format("a size here depends on the index `{}`", shape::var_name(v))
                       : "what one iteration of `for` reads decides a size here");
  d.text("Every element of a tensor has the same shape, so a size cannot change with an index.");
  if (!index) d.help("where the size is the same for all, name it before the `for`");
  reporter_.report(std::move(d));
}

}  // namespace axon::core
