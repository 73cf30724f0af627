// See solutions.h. Variables are given values one after the other, the least first. What the facts leave of a
// variable is found from each fact by itself (candidates.h) and from all ranges together (prover_linear.h);
// where many values in a row lead to nothing, the prover is asked whether, and from where on, one does.
#include "shape/solutions.h"

#include <algorithm>
#include <map>

#include "base/interrupt.h"
#include "shape/candidates.h"
#include "shape/prover_linear.h"
#include "shape/prover_model.h"

namespace axon::shape {
namespace {

/// After so many values in a row without a solution the prover is asked for the first time.
constexpr size_t first_question = 32;

/// The facts where the variable has that value, without those that hold then; nothing where one is broken.
std::optional<std::vector<Fact>> with_value(const std::vector<Fact>& facts, Var v, int64_t value) {
  const Substitution substitution{{v, Dim(value)}};
  std::vector<Fact> left;
  for (const Fact& fact : facts) {
    const Fact now{fact.lhs.substitute(substitution), fact.relation, fact.rhs.substitute(substitution)};
    const Dim difference = now.lhs - now.rhs;
    if (overflowed(difference) || !difference.constant()) {
      left.push_back(now);
    } else if (!holds(fact.relation, *difference.constant(), 0)) {
      return std::nullopt;
    }
  }
  return left;
}

class Enumeration {
 public:
  Enumeration(const std::vector<Fact>& facts, const std::vector<Var>& order, const SolutionLimits& limits)
      : facts_(facts), order_(order), limits_(limits), steps_(limits.steps) {}

  Solutions run() {
    for (const Var v : order_) naturals_.push_back(at_least(Dim(v), 0));
    if (prove_empty(with_naturals(facts_)).verdict != Verdict::proved) descend(facts_, 0);
    return std::move(out_);
  }

 private:
  std::vector<Fact> with_naturals(std::vector<Fact> facts) const {
    facts.insert(facts.end(), naturals_.begin(), naturals_.end());
    return facts;
  }
  bool keep();
  bool descend(const std::vector<Fact>& facts, size_t depth);
  bool spend(size_t steps);
  std::optional<Range> range_in(const std::vector<Fact>& facts, size_t depth) const;
  std::optional<int64_t> next_by_prover(const std::vector<Fact>& facts, Var v, int64_t from) const;

  const std::vector<Fact>& facts_;
  const std::vector<Var>& order_;
  const SolutionLimits& limits_;
  size_t steps_;
  std::vector<Fact> naturals_;
  Assignment values_;
  Solutions out_;
};

/// All variables have a value. False: the search ends.
bool Enumeration::keep() {
  if (!satisfies(facts_, values_)) return true;  // something has no value, or left 64 bits on the way
  if (out_.found.size() == limits_.most) {
    out_.end = Solutions::End::most;
    return false;
  }
  Solution solution;
  for (const Var v : order_) solution.push_back(values_.at(v));
  out_.found.push_back(std::move(solution));
  return true;
}

/// False: the search ends.
bool Enumeration::spend(size_t steps) {
  base::poll_now();
  if (steps_ >= steps) {
    steps_ -= steps;
    return true;
  }
  out_.end = Solutions::End::limited;
  return false;
}

/// What the facts leave the variable; nothing where they contradict each other.
std::optional<Range> Enumeration::range_in(const std::vector<Fact>& facts, size_t depth) const {
  if (any_overflowed(facts)) return Range{0, std::nullopt};
  System system;
  system.look_through_products();
  for (size_t i = depth; i < order_.size(); ++i) system.add(Dim(order_[i]), false);
  for (const Fact& fact : facts) {
    if (fact.relation == Relation::ne)
      system.mention(fact.lhs - fact.rhs);
    else if (fact.relation == Relation::eq)
      system.add(fact.lhs - fact.rhs, true);
    else
      system.add(fact.rhs - fact.lhs - (fact.relation == Relation::lt ? 1 : 0), false);
  }
  if (!system.propagate()) return std::nullopt;
  return system.range(Dim(order_[depth]).terms()[0].factors[0]);
}

/// The least value from `from` on that may be in a solution, as far as the prover can say; nothing when none
/// is.
std::optional<int64_t> Enumeration::next_by_prover(const std::vector<Fact>& facts, Var v,
                                                   int64_t from) const {
  std::vector<Fact> asked = with_naturals(facts);
  asked.push_back(at_least(Dim(v), from));
  Answer answer = prove_empty(asked);
  if (answer.verdict == Verdict::proved) return std::nullopt;
  while (answer.verdict == Verdict::refuted && answer.counter_example.count(v)) {
    const int64_t known = answer.counter_example.at(v);
    if (known <= from) break;
    const int64_t middle = from + (known - 1 - from) / 2;
    asked.push_back(at_most(Dim(v), middle));
    answer = prove_empty(asked);
    asked.pop_back();
    if (answer.verdict != Verdict::proved) continue;
    from = middle + 1;
    asked.back() = at_least(Dim(v), from);
    answer = {Verdict::refuted, {{v, known}}, {}};
  }
  return from;
}

/// Solutions of the facts for the variables from `depth` on. False: the search ends.
bool Enumeration::descend(const std::vector<Fact>& facts, size_t depth) {
  if (depth == order_.size()) return keep();
  const auto range = range_in(facts, depth);
  if (!range) return true;
  const Var v = order_[depth];
  const Candidates candidates(facts, v, *range);
  if (!spend(candidates.work() / 64)) return false;
  size_t misses = 0, question = first_question;
  bool is_exhausted = false;  // no larger value is in a solution
  for (auto value = candidates.at_least(0); value; value = candidates.at_least(*value + 1)) {
    if (!spend(1)) return false;
    const size_t before = out_.found.size();
    values_[v] = *value;
    if (const auto left = with_value(facts, v, *value); left && !descend(*left, depth + 1)) return false;
    misses = out_.found.size() > before ? 0 : misses + 1;
    if (misses < question) continue;
    question *= 2;
    const auto next = next_by_prover(facts, v, *value + 1);
    is_exhausted = !next;
    if (is_exhausted) break;
    value = *next - 1;
    if (value >= largest_candidate) break;
  }
  if (candidates.is_cut() && !is_exhausted && next_by_prover(facts, v, largest_candidate + 1))
    out_.end = Solutions::End::far;
  values_.erase(v);
  return true;
}

}  // namespace

Solutions solutions_of(const std::vector<Fact>& facts, const std::vector<Var>& order,
                       const SolutionLimits& limits) {
  const ProverSession session;
  return Enumeration(facts, order, limits).run();
}

}  // namespace axon::shape
