// The types and the sizes that arithmetic gives: of literals, of converted integers, and of `+ - * / %` of
// sizes. Invariant: an integer is known as a size only where no bits of it can have been lost.
#include <algorithm>
#include <functional>

#include "core/check_expr.h"
#include "core/negative_literal.h"

namespace axon::core {

using shape::Dim;
using shape::Fact;
using source::Code;
using source::error;
using Kind = Expr::Kind;

/// A literal that is converted is of that type from the start: `f64 0.1` is not f32's 0.1, and `i64 16777217`
/// is that number; `i64 16777217.0` is an f64 first. So are its negative and a list of literals.
void ExprChecker::type_literal(ExprId id, base::Elem elem) {
  bool real = false;
  const std::function<bool(ExprId)> literal = [&](ExprId at) {
    const Expr& e = p_.exprs[at];
    real |= e.kind == Kind::number && e.flag;
    if (e.kind == Kind::number) return base::is_float(elem) || base::is_integer(elem);
    if (e.kind == Kind::list) return std::all_of(e.args.begin(), e.args.end(), literal);
    const ExprId operand = negated(p_, at);
    return operand.valid() && literal(operand);
  };
  const Type t = vars_[vars_.head(p_.exprs[id].type)];
  if (t.kind != Type::Kind::tensor || !literal(id)) return;
  const base::Elem own = real && base::is_integer(elem) ? base::Elem::f64 : elem;
  unifier_.unify(t.elem, {own, {}}, why(p_.exprs[id].span, "the literal"));
}

/// The value of an integer that is converted to i64. One that narrower arithmetic has made may have wrapped.
std::optional<Dim> ExprChecker::converted(ExprId from, TypeId to, const Dim& value) const {
  const auto elem = vars_.zonk(vars_[vars_.head(p_.exprs[from].type)].elem).elem;
  const auto target = vars_.zonk(vars_[vars_.head(to)].elem).elem;
  if (!elem || !base::is_integer(*elem) || target != base::Elem::i64) return std::nullopt;
  const bool exact = *elem == base::Elem::i64 || value.as_var() || value.constant();
  return exact ? std::optional(value) : std::nullopt;
}

/// Whether the result is computed in fewer bits than an i64 has, and may leave them: it then equals no sum or
/// product of sizes.
bool ExprChecker::wraps_early(ExprId operand, Prim prim) const {
  const Type& t = vars_[vars_.head(p_.exprs[operand].type)];
  const auto elem = t.kind == Type::Kind::tensor ? vars_.zonk(t.elem).elem : std::nullopt;
  const bool narrow = elem && base::is_integer(*elem) && *elem != base::Elem::i64;
  const bool constant = t.value && vars_.zonk(*t.value).constant();
  return narrow &&
         (prim == Prim::add || prim == Prim::sub || prim == Prim::mul || (prim == Prim::neg && !constant));
}

std::optional<Dim> ExprChecker::arithmetic(ExprId id, TypeId result) {
  const Expr& e = p_.exprs[id];
  const Expr& callee = p_.exprs[e.args[0]];
  if (callee.kind != Kind::global || p_.globals[callee.global].kind != Global::Kind::prim)
    return std::nullopt;
  const Prim prim = p_.globals[callee.global].prim;
  auto operand = [&](size_t i) -> std::optional<Dim> {
    if (i >= e.args.size()) return std::nullopt;
    const Type& t = vars_[vars_.head(p_.exprs[e.args[i]].type)];
    if (t.kind != Type::Kind::tensor || !t.value || vars_.elem_class(vars_.zonk(t.elem)) == ElemClass::flt)
      return std::nullopt;
    return vars_.zonk(*t.value);
  };
  auto a = operand(1), b = operand(2);
  if (wraps_early(e.args[1], prim)) return std::nullopt;
  if (prim == Prim::neg && a)
    return vars_.may_wrap(*a) && shape::too_complex(-*a) ? std::nullopt : std::optional(-*a);
  if (prim == Prim::cast && a) return converted(e.args[1], result, *a);
  if ((prim == Prim::min || prim == Prim::max) && a.has_value() != b.has_value()) {
    // a bound of what the data decides is known of the result
    const size_t other = a ? 2 : 1;
    if (other >= e.args.size()) return std::nullopt;
    Expr& unnamed = p_.exprs[e.args[other]];
    unnamed.type = opened_.name_value(unnamed.type, "k", unnamed.span, ShownBy::integer(e.args[other]));
    a = operand(1);
    b = operand(2);
  }
  if (!a || !b) return std::nullopt;
  // Of what wraps when it runs nothing is known, nor of what is longer than a size may be.
  const bool wraps = vars_.may_wrap(*a) && vars_.may_wrap(*b);
  const auto known = [&](const Dim& d) {
    return wraps && shape::too_complex(d) ? std::nullopt : std::optional(d);
  };
  switch (prim) {
    case Prim::add:
      return known(*a + *b);
    case Prim::sub:
      return known(*a - *b);
    case Prim::mul:
      return known(*a * *b);
    case Prim::min:
      return known(shape::min(*a, *b));
    case Prim::max:
      return known(shape::max(*a, *b));
    case Prim::div:
    case Prim::mod: {
      if (b->is(0)) {
        reporter_.report(error(Code::E0321, e.span, "an integer is divided by zero"));
        return std::nullopt;
      }
      if (!b->constant()) {
        const WhyId division = why(e.span, "this division", {}, {}, id);
        whys_[division].left_to_run = LeftToRun::by_division;
        solver_.require({*b, shape::Relation::ne, Dim(0)}, division);
      }
      return known(prim == Prim::div ? shape::floor_div(*a, *b) : shape::mod(*a, *b));
    }
    default:
      return std::nullopt;
  }
}

}  // namespace axon::core
