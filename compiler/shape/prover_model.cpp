// Depth-first search over the variables of a System with a budget of nodes (see prover_model.h).
#include "shape/prover_model.h"

#include <algorithm>

namespace axon::shape {
namespace {

/// Values worth trying for a variable, the most telling first.
std::vector<int64_t> candidates(const Range& range) {
  std::vector<int64_t> values;
  auto offer = [&](int64_t value) {
    if ((range.low && value < *range.low) || (range.high && value > *range.high)) return;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  };
  constexpr int64_t far = INT64_MAX / 4;
  int64_t base = range.low ? *range.low : range.high ? std::min<int64_t>(*range.high, 0) : 0;
  if (base > far || base < -far) return {base};
  for (int64_t step : {0, 1, 2, 3}) offer(base + step);
  if (range.high) offer(*range.high);
  if (range.high && *range.high > -far) offer(*range.high - 1);
  for (int64_t step : {-1, 4, 5, -2, 7, 8}) offer(base + step);
  if (range.low && range.high) offer(*range.low + (*range.high - *range.low) / 2);
  return values;
}

class Search {
 public:
  Search(System& system, const std::vector<Fact>& conjunction, size_t budget)
      : system_(system), conjunction_(conjunction), budget_(budget), vars_(system.variables()) {
    for (const Fact& fact : conjunction) {
      fact.lhs.collect_vars(vars_);
      fact.rhs.collect_vars(vars_);
    }
    std::vector<Var> unique;
    for (Var var : vars_)
      if (std::find(unique.begin(), unique.end(), var) == unique.end()) unique.push_back(var);
    vars_ = unique;
  }

  bool run() {
    Var next;
    size_t fewest = SIZE_MAX;
    std::vector<int64_t> values;
    for (Var var : vars_) {
      if (assignment_.count(var)) continue;
      auto here = candidates(system_.range(Dim(var).terms()[0].factors[0]));
      if (here.size() < fewest) fewest = here.size(), next = var, values = std::move(here);
      if (fewest <= 1) break;
    }
    if (!next.valid()) return satisfies(conjunction_, assignment_);
    System::Ranges saved = system_.ranges();
    for (int64_t value : values) {
      if (budget_ == 0) return false;
      --budget_;
      assignment_[next] = value;
      if (system_.narrow(next, value) && run()) return true;
      assignment_.erase(next);
      system_.restore(saved);
    }
    return false;
  }
  const Assignment& assignment() const { return assignment_; }

 private:
  System& system_;
  const std::vector<Fact>& conjunction_;
  size_t budget_;
  std::vector<Var> vars_;
  Assignment assignment_;
};

}  // namespace

bool holds(Relation relation, int64_t lhs, int64_t rhs) {
  switch (relation) {
    case Relation::eq:
      return lhs == rhs;
    case Relation::ne:
      return lhs != rhs;
    case Relation::le:
      return lhs <= rhs;
    case Relation::lt:
      return lhs < rhs;
  }
  return false;
}

std::optional<bool> holds(const Fact& fact, const Assignment& values) {
  const auto lhs = fact.lhs.evaluate(values), rhs = fact.rhs.evaluate(values);
  if (!lhs || !rhs) return std::nullopt;
  return holds(fact.relation, *lhs, *rhs);
}

bool satisfies(const std::vector<Fact>& conjunction, const Assignment& assignment) {
  return std::all_of(conjunction.begin(), conjunction.end(),
                     [&](const Fact& fact) { return holds(fact, assignment).value_or(false); });
}

std::optional<Assignment> find_model(System system, const std::vector<Fact>& conjunction,
                                     size_t node_budget) {
  for (const Fact& fact : conjunction) {
    system.mention(fact.lhs);
    system.mention(fact.rhs);
  }
  if (!system.propagate()) return std::nullopt;
  Search search(system, conjunction, node_budget);
  if (!search.run()) return std::nullopt;
  return search.assignment();
}

}  // namespace axon::shape
