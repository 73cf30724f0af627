// Literals with a minus: the lowering makes them negations of numbers.
#pragma once
#include "core/core.h"

namespace axon::core {

/// What the expression negates; invalid when it is no negation.
inline ExprId negated(const Program& program, ExprId id) {
  const Expr& e = program.exprs[id];
  if (e.kind != Expr::Kind::apply || e.args.size() != 2) return {};
  const Expr& callee = program.exprs[e.args[0]];
  const bool is_negation = callee.kind == Expr::Kind::global &&
                           program.globals[callee.global].kind == Global::Kind::prim &&
                           program.globals[callee.global].prim == Prim::neg;
  return is_negation ? e.args[1] : ExprId{};
}

/// Is the expression a negative integer literal, such as -1? As a position it counts from the end of its
/// axis; a negative number that is computed is no position.
inline bool is_negative_literal(const Program& program, ExprId id) {
  if (!id.valid()) return false;
  const ExprId operand = negated(program, id);
  const Expr& number = program.exprs[operand.valid() ? operand : id];
  return number.kind == Expr::Kind::number && !number.flag &&
         (operand.valid() || number.text.starts_with('-'));
}

}  // namespace axon::core
