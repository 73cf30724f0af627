// Solves constraints between sizes and shapes as far as they determine anything; parks the rest.
//
// Sizes: a difference of normal forms that is linear in a meta variable binds it; exact division by a common
// factor is tried; rigid sizes must agree by normal form or by what is assumed. Shapes: word unification.
// Known prefixes and suffixes cancel, ranks are solved as numbers, a lone variable is bound, everything else
// waits. Nothing is enumerated. Joins: aligned from the right; a literal 1 stretches, other sizes become
// equal; unknown ranks wait (join.cpp). Invariant: a constraint is either done (its bindings imply it),
// parked, or reported as one Failure.
#pragma once
#include <functional>
#include <set>

#include "core/constraint.h"

namespace axon::core {

class Solver {
 public:
  explicit Solver(Vars& vars) : vars_(vars) {}

  void equal(const shape::Dim& a, const shape::Dim& b, WhyId why);
  void equal(const Shape& a, const Shape& b, WhyId why);
  void join(Shape result, std::vector<Shape> operands, WhyId why);
  void into(Shape operand, Shape target, WhyId why);
  void require(shape::Fact fact, WhyId why);  ///< to be proved later, under the context of now
  void assume(shape::Fact fact) { given_.push_back(std::move(fact)); }
  /// What is known after a check that the program makes: where the check may not be reached, only there.
  void learn(shape::Fact fact) {
    (reached() && context_.size() == checked_.size() ? given_ : context_).push_back(std::move(fact));
  }
  /// A branch or the body of a lambda begins: what is in it may not be reached. Returns what leave() takes.
  size_t enter() {
    ++conditional_;
    return context_.size();
  }
  void leave(size_t context) {
    --conditional_;
    pop_to(context);
  }
  bool reached() const { return conditional_ == 0; }
  void push(shape::Fact fact) { context_.push_back(std::move(fact)); }
  /// What `:>` shows: it holds until its `let` body or branch pops it.
  void push_checked(shape::Fact fact) {
    checked_.push_back(context_.size());
    push(std::move(fact));
  }
  size_t context_size() const { return context_.size(); }
  void pop_to(size_t size) {
    context_.resize(size);
    std::erase_if(checked_, [&](size_t at) { return at >= size; });
  }
  void fail(Failure failure);

  std::function<bool(WhyId)> leaves_out;  ///< constraints not to state: unsat_core.cpp
  bool skips(WhyId why) const { return leaves_out && leaves_out(why); }

  void settle();  ///< wakes what is parked until nothing changes
  /// Decides one join, broadcast or word equation that stays open at generalisation, of those stated since;
  /// true if it did.
  bool default_joins(size_t since = 0);
  /// Decides a join in a shape that has more than `axes` axes for certain; true if it did.
  bool default_join_longer_than(const Shape& shape, size_t axes);
  /// Solves one equation of what is left, k * g == n as g == n / k with the obligations 1 <= k, n % k == 0;
  /// true if it did.
  bool default_equations();
  size_t serial() const { return serial_; }
  std::vector<Constraint>& parked() { return parked_; }
  const std::vector<shape::Fact>& given() const { return given_; }
  std::vector<Failure> take_failures();
  bool has_failures() const { return !failures_.empty(); }

  /// Facts that may help with a goal: what is assumed, the context, and sizes >= 0.
  std::vector<shape::Fact> facts_for(const shape::Fact& goal, const std::vector<shape::Fact>& context) const;
  /// The same where inference is now.
  std::vector<shape::Fact> facts_here(const shape::Fact& goal) const { return facts_for(goal, context_); }
  /// The operands of a parked join whose result is exactly this variable, flattened; empty when there is
  /// none.
  std::vector<ShapeVarId> joined(ShapeVarId result) const;
  /// v broadcasts into another one of these, so it adds nothing to their join.
  bool is_into_one_of(ShapeVarId v, const std::vector<ShapeVarId>& others) const;
  /// All of these broadcast into one shape, so they have a join.
  bool share_target(const std::vector<ShapeVarId>& parts) const;

 private:
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
  size_t axes_at_least(const Shape& shape, std::set<size_t>& seen) const;
  bool default_join_in(const Shape& shape, std::set<size_t>& seen);
  bool collect_joined(ShapeVarId result, std::set<ShapeVarId>& seen, std::vector<ShapeVarId>& out) const;
  bool merge_circles();
  bool default_join(Constraint& c);
  bool default_into(Constraint& c);
  bool default_words(Constraint& c);
  bool default_open_words(size_t since);
  bool pinned(ShapeVarId result, size_t by) const;
  void park(Constraint::Kind kind, std::vector<Shape> shapes, WhyId why);
  bool rank_equation(const Shape& unknown, size_t rank, WhyId why, Step& step);
  void submit(Constraint c);
  bool occurs_in_join(ShapeVarId v, const Shape& s) const;
  Step failed(Failure::Kind kind, WhyId why, shape::Dim lhs = {}, shape::Dim rhs = {});
  bool told(const Failure& failure);

  Vars& vars_;
  std::vector<Constraint> parked_;
  std::vector<shape::Fact> given_;
  std::vector<shape::Fact> context_;  ///< of what is stated now
  size_t conditional_ = 0;            ///< branches and lambdas around it
  std::vector<size_t> checked_;       ///< positions in it of what `:>` shows
  std::vector<shape::Fact> active_;   ///< of the constraint that is being attempted
  std::vector<Failure> failures_;
  std::vector<WhyId> reported_;
  std::vector<shape::Dim> differing_;  ///< of failures: what is not zero
  WhyId stating_;                      ///< of the constraint that is being stated
  bool settling_ = false;
  size_t serial_ = 0;
  static constexpr size_t most_steps = 100'000, most_constraints = 10'000;
  size_t steps_ = 0;
};

}  // namespace axon::core
