// Scope check of sizes in bodies that run more than once: a variable that one iteration of a `for` determines
// (its indices, and the sizes that are opened in it) may occur in types inside of that body only, because all
// elements of a tensor have the same shape. So may one that one call of a function determines which is a
// value: a lambda that is neither applied nor named where it stands.
#pragma once
#include <functional>
#include <map>

#include "core/bound_names.h"
#include "core/inference.h"

namespace axon::core {

class LoopScopes : InferencePart {
 public:
  explicit LoopScopes(InferenceContext& c) : InferencePart(c) {}

  // ---- While inference walks the declaration.
  size_t depth() const { return loops_.size(); }
  void enter(ExprId loop) { loops_.push_back(loop); }
  void leave_to(size_t depth) { loops_.resize(depth); }
  /// Records which body the expression is in.
  void place(ExprId id);
  /// The variable is an index of this loop.
  void add_index(shape::Var v, ExprId loop) { loop_of_[v.id] = loop; }
  /// The variable is an integer of an argument of this lambda; invalid: of a function without a body here,
  /// so that it is known nowhere.
  void add_argument(shape::Var v, ExprId lambda) { loop_of_[v.id] = lambda; }
  bool is_argument_of(shape::Var v, ExprId lambda) const;
  /// The variable is known where the expression is: in the current iteration of the innermost loop, or
  /// outside of the `for`s around in whose iterations it is the same; outside of loops, everywhere.
  void add_with_expr(shape::Var v, ExprId expr);
  /// The same of a name that is bound here.
  void add_with_name(shape::Var v, LocalId name);
  /// The variable is known wherever all variables of the value are, which may be outside of the innermost
  /// loop.
  void add_with_value(shape::Var v, const shape::Dim& value) { values_.insert_or_assign(v.id, value); }

  // ---- Queries.
  bool none() const { return loop_of_.empty(); }
  /// Whether one iteration of a `for` determines the variable, and not one call of a lambda.
  bool is_of_for(shape::Var v) const;
  /// Whether the variable is known at the expression.
  bool in_scope(shape::Var v, ExprId at) const;
  /// A variable in the sizes of the type that is not known at the expression, if there is one.
  std::optional<shape::Var> out_of_scope(TypeId type, ExprId at) const;
  /// The same for the names that the pattern binds.
  std::optional<shape::Var> out_of_scope(const Pattern& pattern, ExprId at) const;

 private:
  std::optional<shape::Var> out_of_scope(TypeId zonked, ExprId at, std::vector<shape::Var>& bound) const;
  std::vector<shape::Var> made_of(shape::Var v) const;  ///< itself, where it has no value

  // A loop here is a `for` or a lambda that is a value.
  void add_outside(shape::Var v, const std::function<bool(const BoundNames&)>& changes);

  std::map<uint32_t, ExprId> loop_of_;     ///< by variable: the loop whose iteration determines it
  std::map<uint32_t, shape::Dim> values_;  ///< by variable: what it is made of
  std::map<uint32_t, ExprId> around_;      ///< by expression: the innermost loop whose body it is in
  std::vector<ExprId> loops_;              ///< around what is inferred now
  std::map<ExprId, BoundNames> names_;     ///< by `for`: what it binds
};

}  // namespace axon::core
