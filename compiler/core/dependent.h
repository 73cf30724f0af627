// Functions as values whose results mention integers of their arguments: `(k : i64) -> f32[k]`.
//
// In: the type of a function where it is not applied (an argument, a field, a branch, a result), in which the
// integers of its parameters are variables of this one use. Out: a type that binds those integers, since each
// call of the value may have others, and a plain function type where nothing mentions them. Invariant: a
// bound variable occurs inside of the type that binds it and, of a lambda, inside of its body, and nowhere
// else (LoopScopes).
#pragma once
#include "core/loop_scopes.h"
#include "core/reporter.h"

namespace axon::core {

class DependentFunctions : InferencePart {
 public:
  DependentFunctions(InferenceContext& c, Reporter& reporter, LoopScopes& scopes)
      : InferencePart(c), reporter_(reporter), scopes_(scopes) {}

  /// The type of what is used as a value; reports a function that takes only certain integers, and one whose
  /// `where` is about an integer of its own argument.
  TypeId closed(ExprId id, TypeId type);
  /// A function type where it is applied: what it binds is open.
  TypeId applied(TypeId fn, source::Span at);
  /// The function type that a lambda is wanted to have, with names for what it binds that its body may use.
  TypeId inside(TypeId fn, ExprId lambda);
  /// Reports a scheme that mentions an integer outside of the function whose argument it is.
  void refuse_escaped(const Scheme& scheme);

 private:
  TypeId renamed(Type fn, const std::function<shape::Var(shape::Var)>& name);
  bool is_own(shape::Var v, ExprId lambda) const;
  bool refuse_constraints(ExprId id, const std::vector<shape::Var>& bound);
  TypeId refuse(ExprId id, TypeId type, const std::string& why);

  Reporter& reporter_;
  LoopScopes& scopes_;
};

}  // namespace axon::core
