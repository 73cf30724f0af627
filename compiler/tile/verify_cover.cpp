// The stores of a tensor are exactly its box: each element once.
//
// In: the one store of a tensor, the loops around it, and what holds there. Out: whether the prover shows it.
// An index is a sum of digits, which are labels and loop indices, each times a step, plus what is fixed for
// the task. Steps are numbers or made of sizes, all of them positive or all negative, and the last one is 1.
// Where the digits behind each digit together stay below its step, an element determines all digits, by
// division, so it is stored at most once; and it is stored where the digits that division gives are in range
// and the bounds hold for them. Digits may stay below a step by the bounds of the store, as those of a masked
// row do, and the range of a digit may end before the digits in front of it would say, as that of rows in the
// last of several blocks. That each element is stored is shown of the task alone: what holds inside of a loop
// may hold because it has no iterations. In a loop whose iterations the data counts nothing is sure to be
// stored.
#include <algorithm>

#include "tile/names.h"
#include "tile/verify.h"

namespace axon::tile {

namespace {

struct Digit {
  Var var;
  Dim extent;
  Dim step;
};

/// Factors of the longest product in it: of steps, the one with more of them comes first.
size_t degree_of(const Dim& step) {
  size_t most = 0;
  for (const shape::Term& term : step.terms()) most = std::max(most, term.factors.size());
  return most;
}

class Cover {
 public:
  Cover(const Program& p, const Store& op, const std::vector<Around>& around, const Scope& scope)
      : p_(p), op_(op), stored_(scope), task_(Scope::of_tasks(p)), goals_(op.bounds) {
    for (const Around& loop : around) open_.push_back({loop.index, loop.extent, 0});
    for (size_t a = 0; a < op.from.labels.size(); ++a) {
      open_.push_back({op.from.labels[a], p.tiles[op.from.tile].shape[a], 0});
      stored_.add_range(open_.back().var, open_.back().extent);
    }
    stored_.add(op.bounds);
    for (const Digit& digit : open_) moving_.push_back(digit.var);
  }

  bool holds() {
    const Tensor& tensor = p_.tensors[op_.to.tensor];
    for (size_t a = 0; a < tensor.shape.size(); ++a)
      if (op_.to.at[a].table || !axis(op_.to.at[a].dim, (*tensor.writes)[a], tensor.shape[a])) return false;
    // What no index mentions would store an element again.
    shape::Substitution zero;
    for (const Digit& digit : open_) {
      if (!stored_.shows(shape::at_most(digit.extent, 1))) return false;
      zero[digit.var] = 0;
      goals_.push_back(shape::at_least(digit.extent, 1));
    }
    return std::all_of(goals_.begin(), goals_.end(), [&](const Fact& goal) {
      return task_.shows({goal.lhs.substitute(zero), goal.relation, goal.rhs.substitute(zero)});
    });
  }

 private:
  /// From here on the digits are those of an element of the box: what division says of them are facts, and
  /// what the program says of them are goals. A box may reach past the tensor, where there is nothing to
  /// store.
  bool axis(const Dim& index, const Interval& box, const Dim& extent) {
    std::vector<Digit> digits;
    const auto rest = take_digits(index, digits);
    if (!rest) return false;
    const Var element = shape::fresh_var("element");
    const auto add_element = [&](const Dim& at, Scope& to) {
      to.add(shape::at_least(at, box.low));
      to.add(shape::less(at, box.high));
      to.add(shape::less(at, extent));
    };
    if (digits.empty()) {
      add_element(element, task_);
      goals_.push_back(shape::equal(element, *rest));
      return true;
    }
    Scope elements = task_;
    add_element(element, elements);
    for (const Digit& digit : digits)
      if (!elements.shows(shape::at_least(digit.step, 1))) return false;
    add_element(index, task_);
    return divide(digits);
  }

  /// The digits of the index, by their steps, which are as if positive; and what else is in the index.
  std::optional<Dim> take_digits(const Dim& index, std::vector<Digit>& digits) {
    Dim rest = index;
    bool falls = false;  // the index, where its digits rise
    for (auto open = open_.begin(); open != open_.end();) {
      if (!rest.contains(open->var)) {
        ++open;
        continue;
      }
      const auto split = rest.linear_in(open->var);
      if (!split || split->first == Dim() || moves(split->first)) return std::nullopt;
      const bool negative = split->first.terms().front().coefficient < 0;
      if (!digits.empty() && falls != negative) return std::nullopt;
      falls = negative;
      digits.push_back({open->var, open->extent, falls ? -split->first : split->first});
      rest = split->second;
      open = open_.erase(open);
    }
    std::stable_sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) {
      const size_t of_a = degree_of(a.step), of_b = degree_of(b.step);
      if (of_a != of_b) return of_a > of_b;
      return a.step.terms().front().coefficient > b.step.terms().front().coefficient;
    });
    return rest;
  }
  bool moves(const Dim& d) const {
    return std::any_of(moving_.begin(), moving_.end(), [&](Var v) { return d.contains(v); });
  }

  /// Are the digits those that division by the steps gives, one after the other?
  bool divide(const std::vector<Digit>& digits) {
    if (!digits.back().step.is(1)) return false;
    const Digit& first = digits.front();
    goals_.push_back(shape::at_least(first.var, 0));
    goals_.push_back(shape::less(first.var, first.extent));
    Dim behind;  // the digits from one on
    for (size_t i = digits.size(); i-- > 1;) {
      behind = behind + digits[i].step * Dim(digits[i].var);
      if (!follows(digits[i], digits[i - 1].step, behind)) return false;
    }
    return true;
  }

  /// Does the digit, with those behind it, stay below the step of the one before?
  bool follows(const Digit& digit, const Dim& step, const Dim& behind) {
    task_.add(shape::at_least(digit.var, 0));
    task_.add(shape::less(behind, step));
    if (!digit.step.constant()) task_.add(shape::at_least(digit.step, 1));
    const Dim all = digit.extent * digit.step;
    const Fact in_range = shape::less(digit.var, digit.extent);
    if (all == step) {
      task_.add(in_range);
      return true;
    }
    goals_.push_back(in_range);
    return stored_.shows(shape::at_most(all, step)) || stored_.shows(shape::less(behind, step));
  }

  const Program& p_;
  const Store& op_;
  Scope stored_;  ///< where an element is stored
  Scope task_;
  std::vector<Digit> open_;  ///< that no index has taken
  std::vector<Var> moving_;  ///< all of them
  std::vector<Fact> goals_;
};

}  // namespace

bool covers_once(const Program& p, const Store& op, const std::vector<Around>& around, const Scope& scope) {
  const bool is_sure =
      std::none_of(around.begin(), around.end(), [](const Around& loop) { return loop.is_counted; });
  return p.tensors[op.to.tensor].writes && is_sure && Cover(p, op, around, scope).holds();
}

}  // namespace axon::tile
