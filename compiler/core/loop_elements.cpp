// What the step of a fold or scan knows of the integers that it is given: the elements of `iota n` are at
// least 0 and below n. A type variable forgets such ranges (unify.cpp), so the step is told them beside
// unification.
#include "core/check_expr.h"

namespace axon::core {

using Kind = Expr::Kind;

/// Notes the stack whose elements the lambda is given, where it is the step of a fold or scan.
void ExprChecker::note_stack(const Expr& application, ExprId lambda) {
  const Expr& callee = p_.exprs[application.args[0]];
  if (callee.kind != Kind::global || p_.globals[callee.global].kind != Global::Kind::prim) return;
  const Prim prim = p_.globals[callee.global].prim;
  if ((prim != Prim::fold && prim != Prim::scan) || application.args.size() != 4) return;
  const TypeId stack = p_.exprs[application.args[3]].type;
  if (stack.valid()) stacks_[lambda] = stack;  // not of a function, which is looked at after the step
}

/// Learns what the stack, where one is noted, says of the second parameter. Call it where what holds of the
/// lambda's parameters is in scope.
void ExprChecker::learn_elements(ExprId lambda) {
  const auto stack = stacks_.find(lambda);
  if (stack != stacks_.end() && p_.exprs[lambda].params.size() > 1)
    learn_ranges(p_.exprs[lambda].params[1], stack->second);
}

/// Learns the ranges of a pattern's integers, elements of a stack of this type.
void ExprChecker::learn_ranges(const Pattern& pattern, TypeId stack) {
  const Type t = vars_[vars_.zonk(stack)];
  if (pattern.kind == Pattern::Kind::tuple && t.kind == Type::Kind::tuple)
    for (size_t i = 0; i < pattern.items.size() && i < t.items.size(); ++i)
      learn_ranges(pattern.items[i], t.items[i]);
  if (pattern.kind != Pattern::Kind::name || t.kind != Type::Kind::tensor || !t.range) return;
  const auto value = value_of(p_.locals[pattern.local].type);
  if (!value) return;
  solver_.push(shape::at_most(t.range->low, *value));
  solver_.push(shape::less(*value, t.range->high));
}

}  // namespace axon::core
