// The operators of scalar expressions, and what holds of each by its class (graph/ops.def).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/elem.h"
#include "base/pointwise.h"

namespace axon::graph {

enum class Op : uint8_t {
#define OP(name, word, arity) name,
#include "graph/ops.def"
};

/// By what the operands and the result are; see base/ops.def. Structural operators have a meaning of their
/// own.
enum class OpClass : uint8_t { arithmetic, rounding, function, comparison, logic, choice, structural };

OpClass class_of(Op);
/// Has variables of its own, which its arguments are evaluated over.
inline bool binds(Op op) { return op == Op::reduce || op == Op::online || op == Op::order; }
inline bool is_pointwise_op(Op op) { return class_of(op) != OpClass::structural; }
/// The same operator where there is no graph; nullopt of a structural one.
std::optional<base::Pointwise> pointwise_of(Op);
/// What a printed graph calls it.
const char* op_name(Op);
/// How many operands a pointwise operator has; any_arity for a structural one.
constexpr size_t any_arity = SIZE_MAX;
size_t arity_of(Op);
/// The pointwise operator that has the name and so many operands.
std::optional<Op> pointwise_op(std::string_view name, size_t arity);
/// The type of what a pointwise operator makes of operands of these types; of a structural one the first.
base::Elem result_elem(Op, const std::vector<base::Elem>& args);

/// A binary operator that stands between its operands in printed graphs. Operators of a higher level bind
/// tighter; those of one level are read from the left.
struct Infix {
  Op op;
  const char* text;
  int level;
};
constexpr int comparison_level = 3;           ///< these do not chain
const Infix* infix_of(Op);                    ///< null for one that stands before its operands
const Infix* infix_called(std::string_view);  ///< null for any other text

}  // namespace axon::graph
