// Scope check of sizes in loops: a variable that one iteration of a `for` determines (its indices, and the
// sizes that are opened in it) may occur in types inside of that body only, because all elements of a tensor
// have the same shape.
#pragma once
#include <map>

#include "core/inference.h"

namespace axon::core {

class LoopScopes : InferencePart {
 public:
  explicit LoopScopes(InferenceContext& c) : InferencePart(c) {}

  // ---- While inference walks the declaration.
  size_t depth() const { return loops_.size(); }
  void enter(ExprId loop) { loops_.push_back(loop); }
  void leave_to(size_t depth) { loops_.resize(depth); }
  /// Records which loop body the expression is in.
  void place(ExprId id);
  /// The variable is an index of this loop.
  void add_index(shape::Var v, ExprId loop) { loop_of_[v.id] = loop; }
  /// The variable is known in the current iteration of the innermost loop; outside of loops, everywhere.
  void add(shape::Var v);
  /// The variable is known wherever all variables of the value are, which may be outside of the innermost
  /// loop.
  void add_with_value(shape::Var v, const shape::Dim& value);

  // ---- Queries.
  bool none() const { return loop_of_.empty(); }
  /// Whether the variable is known at the expression.
  bool in_scope(shape::Var v, ExprId at) const;
  /// A variable in the sizes of the type that is not known at the expression, if there is one.
  std::optional<shape::Var> out_of_scope(TypeId type, ExprId at) const;
  /// The same for the names that the pattern binds.
  std::optional<shape::Var> out_of_scope(const Pattern& pattern, ExprId at) const;

 private:
  std::map<uint32_t, ExprId> loop_of_;  ///< by variable: the loop whose iteration determines it
  std::map<uint32_t, ExprId> around_;   ///< by expression: the innermost loop whose body it is in
  std::vector<ExprId> loops_;           ///< around what is inferred now
};

}  // namespace axon::core
