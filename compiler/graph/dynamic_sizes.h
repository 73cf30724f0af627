// Dynamic extents (graph.h): which nodes have them, and what they are at most.
//
// In: a node as it was built, and what is known of the variables around it. Out: bounds over sizes of the
// entry, which memory can be laid out for.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace axon::graph {

/// Adds what is known of an index variable: 0 <= var < extent.
void add_range(std::vector<Fact>&, const Axis&);

/// Does the node have dynamic extents, or loads that need be in range in its branch only?
bool needs_bounding(const Graph&, const Node&);

/// What is known of the variables that a dimension may mention.
struct KnownVariables {
  std::function<bool(Var)> is_size;          ///< of the entry
  const std::vector<DynamicSize>& dynamic;   ///< a bound is made of sizes alone
  std::function<std::vector<Fact>()> facts;  ///< of sizes, index variables and dynamic sizes
};
/// The most that a dimension is, without dynamic sizes, and, where `indexed`, without index variables;
/// nullopt when nothing shows it.
std::optional<Dim> upper_bound(const Dim&, bool indexed, const KnownVariables&);
/// The dimension, or 0 where it is negative; the dimension itself when the facts show that it never is.
Dim at_least_zero(const Dim&, const std::vector<Fact>&);

/// The bounds of a node's extents.
class ExtentBounds {
 public:
  ExtentBounds(const Graph&, const Node&);
  /// Does the extent mention an index variable of the node, or a dynamic size?
  bool varies(const Dim& extent) const;
  /// The bound of an extent of the domain or of a binder, never negative. One without a bound is returned as
  /// it is.
  Dim of(const Dim& extent) const;
  /// What holds outside of the node: of sizes, and of the indices of the loops around it.
  const std::vector<Fact>& facts_outside() const { return outside_; }

 private:
  bool is_index(Var) const;

  const Graph& g_;
  const std::vector<DynamicSize> sizes_;
  const bool guarded_;
  std::vector<Axis> axes_;  // of the domain and of binders
  std::vector<Fact> outside_;
};

}  // namespace axon::graph
