// The stores of a tensor are exactly its box: each element once.
//
// In: the one store of a tensor, the loops around it, and what holds there. Out: whether the prover shows it.
// An index is a sum of labels and loop indices, each times a number, plus what is fixed for the task. Where
// the numbers, or all of them negated, are those of a mixed radix, an element determines the digits, so it is
// stored at most once; and it is stored where those digits are in range and the bounds hold for them. The
// range of a digit may end before its radix does, as that of rows in the last of several blocks. That each
// element is stored is shown of the task alone: what holds inside of a loop may hold because it has no
// iterations.
#include <algorithm>

#include "tile/names.h"
#include "tile/verify.h"

namespace axon::tile {

namespace {

constexpr int64_t most_step = int64_t{1} << 40;

struct Digit {
  Var var;
  Dim extent;
  int64_t step = 0;
};

class Cover {
 public:
  Cover(const Program& p, const Store& op, const std::vector<Around>& around, const Scope& scope)
      : p_(p), op_(op), inside_(scope), task_(Scope::of_tasks(p)) {
    for (const Around& loop : around) open_.push_back({loop.index, loop.extent, 0});
    for (size_t a = 0; a < op.from.labels.size(); ++a)
      open_.push_back({op.from.labels[a], p.tiles[op.from.tile].shape[a], 0});
  }

  bool holds() {
    const Tensor& tensor = p_.tensors[op_.to.tensor];
    for (size_t a = 0; a < tensor.shape.size(); ++a)
      if (op_.to.at[a].table || !axis(op_.to.at[a].dim, (*tensor.writes)[a], tensor.shape[a])) return false;
    // What no index mentions would store an element again.
    for (const Digit& digit : open_)
      if (!inside_.shows(shape::at_most(digit.extent, 1)) || !is_single(digit)) return false;
    goals_.insert(goals_.end(), op_.bounds.begin(), op_.bounds.end());
    return std::all_of(goals_.begin(), goals_.end(), [&](const Fact& goal) {
      return task_.shows({goal.lhs.substitute(digits_), goal.relation, goal.rhs.substitute(digits_)});
    });
  }

 private:
  bool is_single(const Digit& digit) {
    digits_[digit.var] = 0;
    goals_.push_back(shape::at_least(digit.extent, 1));
    return true;
  }

  /// A box may reach past the tensor, where there is nothing to store.
  bool axis(const Dim& index, const Interval& box, const Dim& extent) {
    const Var element = shape::fresh_var("element");
    task_.add(shape::at_least(element, box.low));
    task_.add(shape::less(element, box.high));
    task_.add(shape::less(element, extent));
    std::vector<Digit> digits;
    Dim rest = index;
    bool falls = false;  // the index, where its digits rise
    for (auto open = open_.begin(); open != open_.end();) {
      if (!rest.contains(open->var)) {
        ++open;
        continue;
      }
      const auto split = rest.linear_in(open->var);
      const auto step = split ? split->first.constant() : std::nullopt;
      if (!step || *step == 0 || *step < -most_step || (!digits.empty() && falls != (*step < 0)))
        return false;
      falls = *step < 0;
      digits.push_back({open->var, open->extent, falls ? -*step : *step});
      rest = split->second;
      open = open_.erase(open);
    }
    std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) { return a.step > b.step; });
    for (size_t i = 1; i < digits.size(); ++i)
      if (!fills(digits[i], digits[i - 1].step)) return false;
    if (digits.empty()) {
      goals_.push_back(shape::equal(element, rest));
      return true;
    }
    if (digits.back().step != 1) return false;
    solve(digits, falls ? rest - Dim(element) : Dim(element) - rest);
    return true;
  }

  /// Is the digit below its radix? Where its range ends before, elements are stored if it is in range.
  bool fills(const Digit& digit, int64_t radix) {
    const Dim all = digit.extent * Dim(digit.step);
    if (all.is(radix)) return true;
    goals_.push_back(shape::less(digit.var, digit.extent));
    return inside_.shows(shape::at_most(all, radix));
  }

  void solve(const std::vector<Digit>& digits, Dim offset) {
    for (size_t i = 0; i < digits.size(); ++i) {
      const Dim value = shape::floor_div(offset, digits[i].step);
      digits_[digits[i].var] = value;
      if (i == 0) {
        goals_.push_back(shape::at_least(value, 0));
        goals_.push_back(shape::less(value, digits[i].extent));
      }
      offset = shape::mod(offset, digits[i].step);
    }
  }

  const Program& p_;
  const Store& op_;
  const Scope& inside_;  ///< of the loops around
  Scope task_;
  std::vector<Digit> open_;  ///< that no index has taken
  shape::Substitution digits_;
  std::vector<Fact> goals_;
};

}  // namespace

bool covers_once(const Program& p, const Store& op, const std::vector<Around>& around, const Scope& scope) {
  return p.tensors[op.to.tensor].writes && Cover(p, op, around, scope).holds();
}

}  // namespace axon::tile
