// What generalisation decides that constraints leave open. Each step decides one thing and settles the rest.
//
//   - an operand of unknown rank that meets known axes broadcasts into them (`..c into [...]`);
//   - where the result of a join is fixed from outside, the first operand has its shape and the others
//   broadcast
//     into it; what then remains joins variables only, and becomes `..(a|b)` in the type;
//   - [k, ..a] = [..s, n]: the axes that both sides name are different ones;
//   - an equation that is linear in its one unknown size gives it as a quotient, with the obligation that it
//   is exact.
#pragma once
#include <set>

#include "core/solver.h"

namespace axon::core {

class Defaults {
 public:
  /// `local`: for a function that `let` names, whose own shapes may stay related to those around it.
  Defaults(Vars& vars, Solver& solver, bool local = false) : vars_(vars), solver_(solver), local_(local) {}

  /// Decides one join, broadcast or word equation that stays open at generalisation, of those stated since;
  /// true if it did.
  bool default_joins(size_t since = 0);
  /// Decides a join in a shape that has more than `axes` axes for certain; true if it did.
  bool default_join_longer_than(const Shape& shape, size_t axes);
  /// Solves one equation of what is left, k * g == n as g == n / k with the obligations 1 <= k, n % k == 0;
  /// true if it did.
  bool default_equations();

 private:
  bool default_join(Constraint& c);
  bool default_join_in(const Shape& shape, std::set<size_t>& seen);
  bool default_into(Constraint& c);
  bool default_words(Constraint& c);
  bool default_open_words(size_t since);
  size_t axes_at_least(const Shape& shape, std::set<size_t>& seen) const;
  bool pinned(ShapeVarId result, size_t by) const;

  Vars& vars_;
  Solver& solver_;
  bool local_;
};

}  // namespace axon::core
