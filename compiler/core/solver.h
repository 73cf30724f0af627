// Solves constraints between sizes and shapes as far as they determine anything; parks the rest.
//
// Sizes: a difference of normal forms that is linear in a meta variable binds it; exact division by a common
// factor is tried; rigid sizes must agree by normal form or by what is assumed. Shapes: word unification.
// Known prefixes and suffixes cancel, ranks are solved as numbers, a lone variable is bound, everything else
// waits. Nothing is enumerated. Joins: aligned from the right; a literal 1 stretches, other sizes become
// equal; unknown ranks wait (join.cpp). Invariant: a constraint is either done (its bindings imply it),
// parked, or reported as one Failure.
#pragma once
#include <algorithm>
#include <functional>
#include <set>

#include "core/assumptions.h"
#include "core/constraint.h"

namespace axon::core {

class Solver : public Assumptions {
 public:
  explicit Solver(Vars& vars) : Assumptions(vars), vars_(vars) {}

  void equal(const shape::Dim& a, const shape::Dim& b, WhyId why);
  void equal(const Shape& a, const Shape& b, WhyId why);
  void join(Shape result, std::vector<Shape> operands, WhyId why);
  void into(Shape operand, Shape target, WhyId why);
  void require(shape::Fact fact, WhyId why);  ///< to be proved later, under the context of now
  void fail(Failure failure);

  std::function<bool(WhyId)> leaves_out;  ///< constraints not to state: unsat_core.cpp
  /// What is solved again, in part, to explain a failure may take few more steps than it took before.
  void limit_to_steps_of(const Solver& whole) {
    most_steps_ = std::min(most_steps_, 4 * whole.steps_ + 1000);
  }
  bool skips(WhyId why) const { return leaves_out && leaves_out(why); }

  void settle();  ///< wakes what is parked until nothing changes
  size_t serial() const { return serial_; }
  std::vector<Constraint>& parked() { return parked_; }
  std::vector<Failure> take_failures();
  bool has_failures() const { return !failures_.empty(); }

  /// The operands of a parked join whose result is exactly this variable, flattened; empty when there is
  /// none.
  std::vector<ShapeVarId> joined(ShapeVarId result) const;
  /// v broadcasts into another one of these, so it adds nothing to their join.
  bool is_into_one_of(ShapeVarId v, const std::vector<ShapeVarId>& others) const;
  /// All of these broadcast into one shape, so they have a join.
  bool share_target(const std::vector<ShapeVarId>& parts) const;

 private:
  friend class Defaults;  // what a step of it decides is stated and bound here
  enum class Step : uint8_t { done, wait, failed };
  Step attempt(Constraint& c);
  Step solve_dims(const shape::Dim& a, const shape::Dim& b, WhyId why,
                  Failure::Kind kind = Failure::Kind::size);
  Step solve_shapes(Shape a, Shape b, WhyId why);
  Step bind(ShapeVarId v, const Shape& s, WhyId why);
  void bind(shape::Var v, const shape::Dim& d, WhyId why);
  Step solve_join(Constraint& c);
  Step solve_into(Constraint& c);
  Step require_equal(const shape::Dim& a, const shape::Dim& b, WhyId why, Failure::Kind kind);
  Step stretch(const std::vector<shape::Dim>& sizes, shape::Dim& out, WhyId why);
  bool collect_joined(ShapeVarId result, std::set<ShapeVarId>& seen, std::vector<ShapeVarId>& out) const;
  bool merge_circles();
  bool merge_equal_joins();
  void park(Constraint::Kind kind, std::vector<Shape> shapes, WhyId why);
  bool rank_equation(const Shape& unknown, size_t rank, WhyId why, Step& step);
  void submit(Constraint c);
  bool occurs_in_join(ShapeVarId v, const Shape& s) const;
  Step failed(Failure::Kind kind, WhyId why, shape::Dim lhs = {}, shape::Dim rhs = {});
  bool told(const Failure& failure);

  Vars& vars_;
  std::vector<Constraint> parked_;
  std::vector<shape::Fact> active_;  ///< of the constraint that is being attempted
  std::vector<Failure> failures_;
  std::vector<WhyId> reported_;
  std::vector<shape::Dim> differing_;  ///< of failures: what is not zero
  WhyId stating_;                      ///< of the constraint that is being stated
  bool settling_ = false;
  size_t serial_ = 0;
  static constexpr size_t most_constraints = 10'000;
  size_t steps_ = 0, most_steps_ = 100'000;
};

/// No value of the variables makes d zero, seen from the form alone: a constant, or gcd of coefficients.
bool never_zero(const shape::Dim& d);

}  // namespace axon::core
