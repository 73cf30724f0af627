// The bounds checker: what holds by proof, under the condition of an `if`, or by a check of the entry.
//
// In: facts over sizes and index variables. Out: verdicts, and checks added to the graph. Integers that the
// data decides are checked in checked_integers.h. Bodies: bounds.cpp.
#pragma once
#include <string>
#include <vector>

#include "graph/from_core/size_environment.h"

namespace axon::graph {

/// always: at every point. guarded: where the enclosing `if`s evaluate the expression. unknown: not proved.
enum class Proof : uint8_t { always, guarded, unknown };

class BoundsChecker : Part {
 public:
  BoundsChecker(Context& context, SizeEnvironment& sizes) : Part(context), sizes_(sizes) {}

  Proof proof(const Fact& fact) const;
  /// Makes `fact` hold wherever this is evaluated: by proof, or by a check over sizes. Returns false when
  /// neither is possible.
  bool require(const Fact& fact, const std::string& what);

 private:
  SizeEnvironment& sizes_;
};

}  // namespace axon::graph
