// Checks at run time: what has to hold where evaluation stands, whether or not a result is read.
//
// In: a condition over the index variables, loops and branches around. Out: a node of rank 0 that evaluates a
// `require` at every point at which the expression is evaluated, and a check that keeps the node alive.
// Invariant: it fails only where the reference evaluation would: not in a branch that is not taken, nor when
// a `for` or a loop around has no iteration.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "graph/from_core/graph_builder.h"

namespace axon::graph {

class RuntimeChecks : Part {
 public:
  RuntimeChecks(Context& context, SizeEnvironment& sizes, BoundsChecker& bounds, GraphBuilder& builder)
      : Part(context), sizes_(sizes), bounds_(bounds), builder_(builder) {}

  /// States that the condition holds at every point where evaluation stands; `message` may name the two
  /// values that show why not, as {lhs} and {rhs}.
  void require(ScalarId holds, ScalarId lhs, ScalarId rhs, const std::string& message);
  /// The same of a fact; `value` gives what a side of it is there.
  void require(const Fact& fact, const std::function<ScalarId(const Dim&)>& value,
               const std::string& message);
  /// The same for the number of elements of an axis, and what it has to be.
  void require_equal(ScalarId found, ScalarId wanted, const std::string& what);
  /// Makes an axis of the array have the size `wanted`, by proof or by a check where evaluation stands;
  /// false: it never has. Nothing that comes later reads past what there is, also where the check has failed,
  /// for the launch still runs to its end.
  bool require_size(Array& a, size_t axis, const Dim& wanted, const std::string& what);
  /// Gives the axis another size; past the elements that there are, the last one stands, or 0 where there is
  /// none.
  void clamp(Array& a, size_t axis, const Dim& wanted);
  /// What is read from an axis, or 0 where that has no element.
  ScalarId zero_if_empty(ScalarId element, const Dim& extent);

 private:
  SizeEnvironment& sizes_;
  BoundsChecker& bounds_;
  GraphBuilder& builder_;
  std::set<std::tuple<RegionId, std::vector<ScalarId>, std::string>> stated_;
};

}  // namespace axon::graph
