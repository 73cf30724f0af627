// The bounds checker: what holds by proof, under the condition of an `if`, or by a check of the entry.
//
// In: facts over sizes and index variables, and expressions that load. Out: verdicts, checks added to the
// graph, and expressions that are safe to evaluate where an `if` leaves them out. Integers that the data
// decides are checked in checked_integers.h. Bodies: bounds.cpp, bound_dynamic_sizes.cpp.
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
  bool is_in_range(ScalarId index, const Dim& extent, const std::vector<Fact>& facts) const;
  /// The load with every index in range. An axis without elements has none: then the load is not made.
  ScalarId clamped_load(ScalarId load, const std::vector<Fact>& facts);
  /// Bounds the data-dependent sizes of a node and guards its loads; see bound_dynamic_sizes.cpp. `grown`:
  /// the domain has more points than the body is right for.
  void bound_dynamic_sizes(std::vector<Axis>& domain, ScalarId& body, const std::vector<Dim>& at, bool grown);

 private:
  bool needs_bounding(const std::vector<Axis>& domain, ScalarId body) const;

  SizeEnvironment& sizes_;
};

}  // namespace axon::graph
