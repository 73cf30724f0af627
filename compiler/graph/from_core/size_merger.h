// Arrays that have one type and come from several places get one shape.
//
// In: what two branches compute, the operands of an operator, the state before and after a step of a loop.
// The type checker has shown that their shapes are equal wherever evaluation reaches them. Where the data
// determines a size, each place may have computed it for itself: a branch that is not taken has size 0, an
// iteration its own. Out: the same arrays with one size for all, whose elements are safe to read up to it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/from_core/checked_integers.h"
#include "graph/from_core/runtime_checks.h"

namespace axon::graph {

class SizeMerger : Part {
 public:
  SizeMerger(Context& context, SizeEnvironment& sizes, BoundsChecker& bounds, GraphBuilder& builder,
             CheckedIntegers& checked, RuntimeChecks& checks)
      : Part(context),
        sizes_(sizes),
        bounds_(bounds),
        builder_(builder),
        checked_(checked),
        checks_(checks) {}

  /// Gives what two branches compute the shape of the one that is taken. `differ`: their types may have
  /// different sizes; else those that the data does not decide are equal.
  void merge(ScalarId condition, Array& yes, Array& no, bool differ);
  /// The array with a shape that is equal to its own where evaluation reaches it. Its axes of 1 element, and
  /// those that the data does not decide, stay.
  std::shared_ptr<Array> fitted(const std::shared_ptr<Array>& a, const std::vector<Dim>& shape);
  /// What each iteration of a loop computes, with sizes that are known outside of the loop, where evaluation
  /// stands but for the innermost loop.
  void fit_outside(Array& a, RegionId outside);

 private:
  bool is_data_dependent(const Dim& d) const;
  bool is_same(const Dim& a, const Dim& b) const;
  bool is_same_integer(const Dim& a, const Dim& b) const;
  std::optional<Dim> bound_of(Var size) const;
  std::optional<Dim> most_of(const Dim& one, const Dim& other) const;
  std::optional<Dim> data_size_here(const Dim& one, const Dim& other, const std::string& what);
  void fit(Array& a, size_t axis, const Dim& wanted);

  SizeEnvironment& sizes_;
  BoundsChecker& bounds_;
  GraphBuilder& builder_;
  CheckedIntegers& checked_;
  RuntimeChecks& checks_;
};

}  // namespace axon::graph
