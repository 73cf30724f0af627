// Which values of one variable the facts leave open, by what each fact says by itself: a range, a remainder,
// and divisors.
//
// In: facts, a variable, and the range that is known for it. Out: candidates from 0 to largest_candidate, in
// order. Invariant: a value that is left out breaks a fact, whatever the other variables are.
#pragma once
#include <optional>
#include <vector>

#include "shape/dim_node.h"
#include "shape/prover.h"

namespace axon::shape {

/// The numbers first + k * step, for any integer k; 0 <= first < step.
struct Congruence {
  int64_t step = 1, first = 0;
};
/// The numbers that are in both; nothing where there are none. What would leave 64 bits stays as it was.
std::optional<Congruence> in_both(const Congruence&, const Congruence&);
/// What the fact says of the variable's remainder; nothing where no value will do.
std::optional<Congruence> congruence_of(const Fact&, Var);

/// That of the integers of which axes are made (E0824); what follows it can still be counted.
constexpr int64_t largest_candidate = int64_t{1} << 62;

class Candidates {
 public:
  Candidates(const std::vector<Fact>& facts, Var v, const Range& range);

  /// The least one that is not below `from`; nothing when there is none.
  std::optional<int64_t> at_least(int64_t from) const;
  /// Whether larger values than largest_candidate may be open.
  bool is_cut() const { return is_cut_; }
  /// What it took to find divisors, in divisions.
  size_t work() const { return work_; }

 private:
  void divide(const Fact& fact, Var v);

  Range range_;
  bool none_ = false, is_cut_ = false;
  Congruence congruence_;
  std::optional<std::vector<int64_t>> divisors_;  ///< sorted
  size_t work_ = 0;
};

}  // namespace axon::shape
