// Solved types into the program, and what must not be left open in it: element types get their default, sizes
// that nothing determines and sizes out of their scope are refused.
#pragma once
#include "core/loop_scopes.h"
#include "core/reporter.h"

namespace axon::core {

class WriteBack : InferencePart {
 public:
  WriteBack(InferenceContext& c, Reporter& reporter, LoopScopes& scopes)
      : InferencePart(c), reporter_(reporter), scopes_(scopes) {}

  /// Replaces every solved variable in the declaration; `first_type_var` is the first one of its inference.
  void run(uint32_t first_type_var);

 private:
  void write_back(Pattern& pattern);
  void check_determined(ExprId id);
  void check_scope(ExprId id);
  void refuse_out_of_scope(shape::Var v, source::Span at);

  Reporter& reporter_;
  LoopScopes& scopes_;
};

}  // namespace axon::core
