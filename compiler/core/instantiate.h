// A type scheme at one of its uses: fresh variables, its constraints stated anew, what was chosen for each
// recorded on the expression.
#pragma once
#include "core/opened_sizes.h"

namespace axon::core {

class Instantiator : InferencePart {
 public:
  Instantiator(InferenceContext& c, OpenedSizes& opened, LoopScopes& scopes)
      : InferencePart(c), opened_(opened), scopes_(scopes) {}

  /// What stands for the variables of a type; variables that are not there stay as they are.
  struct Fresh {
    shape::Substitution dims;
    std::map<ShapeVarId, ShapeVarId> shapes;
    std::map<TypeVarId, TypeVarId> types;
    WhyId why;  ///< of the joins that the type holds
  };

  TypeId instantiate(const Scheme& s, ExprId at, WhyId why);
  TypeId rename(TypeId t, Fresh& fresh);
  Shape rename(const Shape& s, Fresh& fresh);
  /// Written types hold joins `..(a|b)`; inference sees a variable that is constrained to be the join.
  TypeId open(TypeId written, WhyId why);

 private:
  OpenedSizes& opened_;
  LoopScopes& scopes_;
};

}  // namespace axon::core
