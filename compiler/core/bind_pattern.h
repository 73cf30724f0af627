// Patterns of parameters and of `let`: types for the names that they bind.
#pragma once
#include "core/instantiate.h"

namespace axon::core {

class PatternBinder : InferencePart {
 public:
  PatternBinder(InferenceContext& c, OpenedSizes& opened, Instantiator& instantiator)
      : InferencePart(c), opened_(opened), instantiator_(instantiator) {}

  /// Brings the names of the pattern into scope; returns the type of what it matches. `expected` may be
  /// invalid. `by_caller`: where it is not, a caller of whom nothing else is known gives what it matches.
  TypeId bind(const Pattern& pattern, TypeId expected, bool by_caller = false);
  /// A stated type with what is known besides of the values of what has it.
  TypeId refined(TypeId stated, TypeId found);
  /// `*` and `weights` mark a parameter; what its name stands for has the type without them.
  TypeId kept(TypeId type);

 private:
  OpenedSizes& opened_;
  Instantiator& instantiator_;
};

}  // namespace axon::core
