// The report of a loop whose step changes the shape of what it carries.
//
// In: a size or a rank that failed where the step of a loop was given to it. Out: a diagnostic that names the
// axis, before and after a step, and ways to keep its size.
#include <fmt/format.h>

#include <algorithm>

#include "core/reporter.h"

namespace axon::core {

using source::Code;
using source::error;

namespace {

/// The first tensor in a state whose shape differs after a step: its place, `` or `.0`, and both types.
struct Changed {
  std::string place;
  Type before, after;
};

std::optional<Changed> changed(Vars& vars, TypeId before, TypeId after, const std::string& place) {
  const Type a = vars[vars.zonk(before)], b = vars[vars.zonk(after)];
  if (a.kind != b.kind) return std::nullopt;
  if (a.kind == Type::Kind::tensor)
    return same(a.shape, b.shape) ? std::nullopt : std::optional(Changed{place, a, b});
  for (size_t i = 0; i < a.items.size() && i < b.items.size(); ++i) {
    const std::string part = a.fields.empty() ? std::to_string(i) : a.fields[i];
    if (auto found = changed(vars, a.items[i], b.items[i], place + "." + part)) return found;
  }
  return std::nullopt;
}

/// What the axes are before and after the step.
std::string difference(const Changed& c, Names& names) {
  const Shape &a = c.before.shape, &b = c.after.shape;
  if (known_rank(a) && known_rank(b) && a.size() == b.size())
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i].dim != b[i].dim)
        return fmt::format("axis {} is {} before a step and {} after it", i, print(a[i].dim, names),
                           print(b[i].dim, names));
  return fmt::format("it is {} before a step and {} after it", print(a, names), print(b, names));
}

}  // namespace

bool Reporter::report_loop(const Failure& f, const Why& w) {
  if (!w.expr.valid() || !w.found.valid() || p_.exprs[w.expr].kind != Expr::Kind::apply) return false;
  const Expr& callee = p_.exprs[p_.exprs[w.expr].args[0]];
  if (callee.kind != Expr::Kind::global || p_.globals[callee.global].kind != Global::Kind::prim) return false;
  const Prim prim = p_.globals[callee.global].prim;
  const bool loops =
      prim == Prim::fold || prim == Prim::scan || prim == Prim::iterate || prim == Prim::while_;
  const Type step = vars_[vars_.zonk(w.found)];
  if (!loops || step.kind != Type::Kind::function) return false;
  TypeId after = step.items.back();
  if (prim == Prim::scan) {
    const Type both = vars_[vars_.zonk(after)];
    if (both.kind != Type::Kind::tuple || both.items.size() != 2) return false;
    after = both.items[0];
  }
  const auto change = changed(vars_, step.items[0], after, "");
  if (!change) return false;
  const std::string what = change->place.empty()
                               ? "what it carries"
                               : fmt::format("the part `{}` of what it carries", change->place);
  auto d = error(Code::E0303, w.span,
                 fmt::format("a step of `{}` changes the shape of {}", p_.globals[callee.global].name, what));
  d.label(difference(*change, names()));
  d.text("What a loop carries has one shape all the way.");
  d.help("pad it to its last size before the loop, and update a part of it in each step");
  d.help("where the size is known to stay, check it: `e :> t`");
  defer(d, f);
  return true;
}

}  // namespace axon::core
