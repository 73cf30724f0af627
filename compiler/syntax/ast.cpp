// Spellings of operators.
#include "syntax/ast.h"

namespace axon::syntax {

const char* dim_op_text(DimOp op) {
  switch (op) {
    case DimOp::add:
      return "+";
    case DimOp::subtract:
      return "-";
    case DimOp::multiply:
      return "*";
    case DimOp::floor_divide:
      return "/";
    case DimOp::modulo:
      return "%";
  }
  return "?";
}

const char* relation_text(Relation relation) {
  switch (relation) {
    case Relation::less_equal:
      return "<=";
    case Relation::greater_equal:
      return ">=";
    case Relation::not_equal:
      return "!=";
    case Relation::equal:
      return "==";
    case Relation::less:
      return "<";
    case Relation::greater:
      return ">";
  }
  return "?";
}

const char* binary_op_text(BinaryOp op) {
  switch (op) {
    case BinaryOp::pipe:
      return "|>";
    case BinaryOp::logical_or:
      return "||";
    case BinaryOp::logical_and:
      return "&&";
    case BinaryOp::less:
      return "<";
    case BinaryOp::greater:
      return ">";
    case BinaryOp::less_equal:
      return "<=";
    case BinaryOp::greater_equal:
      return ">=";
    case BinaryOp::not_equal:
      return "!=";
    case BinaryOp::equal:
      return "==";
    case BinaryOp::add:
      return "+";
    case BinaryOp::subtract:
      return "-";
    case BinaryOp::multiply:
      return "*";
    case BinaryOp::divide:
      return "/";
    case BinaryOp::modulo:
      return "%";
    case BinaryOp::matmul:
      return "@";
  }
  return "?";
}

}  // namespace axon::syntax
