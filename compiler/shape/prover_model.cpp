// Depth-first search over the variables of a System with a budget of nodes (see prover_model.h).
#include "shape/prover_model.h"

#include <algorithm>
#include <map>

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

/// Facts that share variables, and these.
struct Component {
  std::vector<Var> vars;
  std::vector<Fact> facts;
};

/// The components in order of their first variable in `vars`; a fact without variables is in none.
std::vector<Component> components_of(const std::vector<Fact>& conjunction, const std::vector<Var>& vars) {
  std::map<Var, Var> above;  // a forest; its roots stand for components
  const auto root = [&](Var var) {
    while (above.at(var) != var) var = above.at(var) = above.at(above.at(var));
    return var;
  };
  for (Var var : vars) above[var] = var;
  const auto vars_of = [](const Fact& fact) {
    std::vector<Var> found = fact.lhs.vars();
    fact.rhs.collect_vars(found);
    return found;
  };
  for (const Fact& fact : conjunction)
    for (const std::vector<Var> found = vars_of(fact); Var var : found) above[root(var)] = root(found[0]);
  std::vector<Component> components;
  std::map<Var, size_t> number;
  for (Var var : vars) {
    const auto [known, is_new] = number.emplace(root(var), components.size());
    if (is_new) components.emplace_back();
    components[known->second].vars.push_back(var);
  }
  for (const Fact& fact : conjunction)
    if (const std::vector<Var> found = vars_of(fact); !found.empty())
      components[number.at(root(found[0]))].facts.push_back(fact);
  return components;
}

/// Each component is searched by itself: what fails in one is not tried again for other values of another.
class Search {
 public:
  Search(System& system, const std::vector<Fact>& conjunction, size_t budget)
      : system_(system), conjunction_(conjunction), budget_(budget) {
    std::vector<Var> vars = system_.variables();
    for (const Fact& fact : conjunction) {
      fact.lhs.collect_vars(vars);
      fact.rhs.collect_vars(vars);
    }
    std::vector<Var> unique;
    for (Var var : vars)
      if (std::find(unique.begin(), unique.end(), var) == unique.end()) unique.push_back(var);
    components_ = components_of(conjunction, unique);
  }

  bool run() {
    for (const Component& component : components_)
      if (!run(component)) return false;
    return satisfies(conjunction_, assignment_);
  }
  const Assignment& assignment() const { return assignment_; }

 private:
  bool run(const Component& component) {
    Var next;
    size_t fewest = SIZE_MAX;
    std::vector<int64_t> values;
    for (Var var : component.vars) {
      if (assignment_.count(var)) continue;
      auto here = candidates(system_.range(Dim(var).terms()[0].factors[0]));
      if (here.size() < fewest) fewest = here.size(), next = var, values = std::move(here);
      if (fewest <= 1) break;
    }
    if (!next.valid()) return satisfies(component.facts, assignment_);
    System::Ranges saved = system_.ranges();
    for (int64_t value : values) {
      if (budget_ == 0) return false;
      --budget_;
      assignment_[next] = value;
      if (system_.narrow(next, value) && run(component)) return true;
      assignment_.erase(next);
      system_.restore(saved);
    }
    return false;
  }

  System& system_;
  const std::vector<Fact>& conjunction_;
  size_t budget_;
  std::vector<Component> components_;
  Assignment assignment_;
};

}  // namespace

bool holds(Relation relation, Wide lhs, Wide rhs) {
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
  if (lhs && rhs) return holds(fact.relation, *lhs, *rhs);
  const auto wide_lhs = fact.lhs.evaluate_wide(values), wide_rhs = fact.rhs.evaluate_wide(values);
  if (!wide_lhs || !wide_rhs) return std::nullopt;
  return holds(fact.relation, *wide_lhs, *wide_rhs);
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
