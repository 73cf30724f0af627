// Which positions count from the end of their axis: those that are written as negative literals.
#pragma once
#include "core/core.h"

namespace axon::core {

/// Is the expression a literal with a minus, such as -1? A negative number that is computed is no position.
inline bool is_negative_literal(const Program& program, ExprId id) {
  if (!id.valid()) return false;
  const Expr& e = program.exprs[id];
  if (e.kind == Expr::Kind::number) return !e.flag && e.text.starts_with('-');
  if (e.kind != Expr::Kind::apply || e.args.size() != 2) return false;
  const Expr &callee = program.exprs[e.args[0]], &operand = program.exprs[e.args[1]];
  return callee.kind == Expr::Kind::global && program.globals[callee.global].kind == Global::Kind::prim &&
         program.globals[callee.global].prim == Prim::neg_ && operand.kind == Expr::Kind::number &&
         !operand.flag;
}

}  // namespace axon::core
