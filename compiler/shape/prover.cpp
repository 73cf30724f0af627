// prove(), prove_empty(), prove_any(): the goals are denied, and the denial is refuted or satisfied.
//
// In: facts and goals. Out: proved when facts and denied goals contradict; refuted with values that were
// evaluated; or unknown. The order of engines is fixed: normal form and single facts, ranges, elimination,
// case splits (denied equalities, min and max), the small-model search, Z3; before Z3 also the question with
// inseparable products merged (merge_products.h). Invariant: no engine is believed
// about a counter-example.
#include "shape/prover.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/work.h"
#include "shape/merge_products.h"
#include "shape/prover_linear.h"
#include "shape/prover_model.h"
#include "shape/prover_session.h"
#include "shape/z3.h"

namespace axon::shape {
namespace {

constexpr int max_splits = 6;
constexpr size_t model_nodes = 500;

Fact deny(const Fact& goal) {
  switch (goal.relation) {
    case Relation::eq:
      return {goal.lhs, Relation::ne, goal.rhs};
    case Relation::ne:
      return {goal.lhs, Relation::eq, goal.rhs};
    case Relation::le:
      return {goal.rhs, Relation::lt, goal.lhs};
    case Relation::lt:
      break;
  }
  return {goal.rhs, Relation::le, goal.lhs};
}

/// The fact as `expr >= 0` (le, lt), `expr == 0` or `expr != 0`.
Dim compared_to_zero(const Fact& fact) {
  if (fact.relation == Relation::le) return fact.rhs - fact.lhs;
  if (fact.relation == Relation::lt) return fact.rhs - fact.lhs - 1;
  return fact.lhs - fact.rhs;
}

std::optional<bool> decided(const Fact& fact) {
  auto value = compared_to_zero(fact).constant();
  if (!value) return std::nullopt;
  if (fact.relation == Relation::eq) return *value == 0;
  return fact.relation == Relation::ne ? *value != 0 : *value >= 0;
}

/// A statement as `expr >= 0` (le, lt), `expr == 0` or `expr != 0`.
struct Normal {
  Relation relation;
  Dim expr;
  explicit Normal(const Fact& fact) : relation(fact.relation), expr(compared_to_zero(fact)) {}
  bool inequality() const { return relation == Relation::le || relation == Relation::lt; }
};

/// Does this fact alone give the goal, up to a constant?
bool implies(const Normal& fact, const Normal& goal, const Dim& negated_goal) {
  if (fact.relation == Relation::ne)
    return goal.relation == Relation::ne && (fact.expr == goal.expr || fact.expr == negated_goal);
  auto slack = constant_difference(goal.expr, fact.expr);
  if (goal.inequality() && slack && *slack >= 0) return true;
  if (fact.relation != Relation::eq) return false;
  auto mirrored = constant_difference(goal.expr, -fact.expr);
  if (goal.inequality()) return mirrored && *mirrored >= 0;
  if (!slack) slack = mirrored;
  return slack && (goal.relation == Relation::eq ? *slack == 0 : *slack != 0);
}

void require_divisors(const Dim& dim, std::vector<Fact>& out) {
  for (const Term& term : dim.terms())
    for (const Atom& atom : term.factors) {
      if (atom.kind() == AtomKind::var) continue;
      require_divisors(atom.lhs(), out);
      require_divisors(atom.rhs(), out);
      bool divides = atom.kind() == AtomKind::floor_div || atom.kind() == AtomKind::mod;
      Fact nonzero{atom.rhs(), Relation::ne, 0};
      if (!divides || (atom.rhs().constant() && !atom.rhs().is(0))) continue;
      bool known = std::any_of(out.begin(), out.end(), [&](const Fact& fact) {
        return fact.relation == Relation::ne && fact.lhs == nonzero.lhs && fact.rhs == nonzero.rhs;
      });
      if (!known) out.push_back(nonzero);
    }
}

/// A fact holds, hence what it divides by is not zero. Nothing of the kind follows from a goal.
std::vector<Fact> with_divisors(const std::vector<Fact>& facts) {
  std::vector<Fact> all = facts;
  for (const Fact& fact : facts) {
    require_divisors(fact.lhs, all);
    require_divisors(fact.rhs, all);
  }
  return all;
}

/// One conjunction on its way to a contradiction. Branches are copies.
class Refutation {
 public:
  explicit Refutation(const std::vector<Fact>& conjunction) {
    system_.look_through_products();
    for (const Fact& fact : conjunction) {
      Dim expr = compared_to_zero(fact);
      if (fact.relation == Relation::ne) {
        differs_.push_back(expr);
        system_.mention(expr);
      } else {
        system_.add(expr, fact.relation == Relation::eq);
      }
    }
  }

  /// True: contradictory. `by` names the engine of the last resort that was needed.
  bool run(std::string& by, int splits) {
    if (!system_.propagate() || !apply_disequalities()) return raise(by, "interval");
    if (!system_.consistent()) return raise(by, "linear");
    if (system_.add_lemmas() && !system_.consistent()) return raise(by, "linear");
    if (splits == 0) return false;
    if (!differs_.empty()) return split_disequality(by, splits);
    if (!system_.undecided().empty()) return split_extremum(by, splits);
    return false;
  }

  const System& system() const { return system_; }

 private:
  static bool raise(std::string& by, const char* engine) {
    if (by != "cases" && !(by == "linear" && std::string_view(engine) == "interval")) by = engine;
    return true;
  }

  /// A difference that is known on one side of zero becomes an inequality. False: contradiction.
  bool apply_disequalities() {
    for (size_t i = 0; i < differs_.size();) {
      Range range = system_.range(differs_[i]);
      bool above = range.low && *range.low >= 0, below = range.high && *range.high <= 0;
      if (above && below) return false;
      if ((range.low && *range.low > 0) || (range.high && *range.high < 0)) {
        differs_.erase(differs_.begin() + static_cast<std::ptrdiff_t>(i));
      } else if (above || below) {
        system_.add((above ? differs_[i] : -differs_[i]) - 1, false);
        differs_.erase(differs_.begin() + static_cast<std::ptrdiff_t>(i));
        if (!system_.propagate()) return false;
        i = 0;
      } else {
        ++i;
      }
    }
    return true;
  }

  bool split_disequality(std::string& by, int splits) {
    Dim difference = differs_.back();
    differs_.pop_back();
    Refutation above = *this, below = *this;
    above.system_.add(difference - 1, false);
    below.system_.add(-difference - 1, false);
    return above.run(by, splits - 1) && below.run(by, splits - 1);
  }

  bool split_extremum(std::string& by, int splits) {
    Atom atom = system_.undecided().front();
    Refutation left = *this, right = *this;
    left.system_.decide(atom, true);
    right.system_.decide(atom, false);
    if (!left.run(by, splits - 1) || !right.run(by, splits - 1)) return false;
    by = "cases";
    return true;
  }

  System system_;
  std::vector<Dim> differs_;
};

/// Is the conjunction contradictory (proved), satisfied by the counter-example (refuted), or unknown?
Answer contradict(const std::vector<Fact>& conjunction, const ProverLimits& limits) {
  if (any_overflowed(conjunction)) return {Verdict::unknown, {}, "too large"};
  std::string by;
  Refutation refutation(conjunction);
  if (refutation.run(by, max_splits)) return {Verdict::proved, {}, by};
  if (auto model = find_model(refutation.system(), conjunction, model_nodes))
    return {Verdict::refuted, *model, "example"};
  ProverMemory* memory = ProverMemory::current();
  ProverLimits allowed = limits;
  if (memory) allowed.z3_rlimit = std::min(allowed.z3_rlimit, memory->left());
  if (allowed.z3_rlimit == 0) return {Verdict::unknown, {}, "not decided without z3"};
  Z3Answer z3 = z3_solve(conjunction, allowed);
  if (memory) memory->spend(z3.resource);
  base::work(uint64_t{10} * z3.resource);
  if (z3.too_large) return {Verdict::unknown, {}, "too large"};
  by = fmt::format("z3 ({})", z3.resource);
  if (z3.satisfiable == Satisfiable::no) return {Verdict::proved, {}, by};
  if (z3.satisfiable == Satisfiable::yes && satisfies(conjunction, z3.model))
    return {Verdict::refuted, z3.model, by};
  return {Verdict::unknown, {}, by};
}

}  // namespace

bool any_overflowed(const std::vector<Fact>& facts) {
  return std::any_of(facts.begin(), facts.end(),
                     [](const Fact& fact) { return overflowed(fact.lhs) || overflowed(fact.rhs); });
}

const char* sign_of(Relation relation) {
  static constexpr const char* signs[] = {"==", "!=", "<=", "<"};
  return signs[static_cast<size_t>(relation)];
}

std::string Fact::str() const { return lhs.str() + " " + sign_of(relation) + " " + rhs.str(); }

std::string conditions(const char* word, const std::vector<Fact>& facts,
                       const std::function<std::string(const Dim&)>& text) {
  std::string out;
  for (const Fact& f : facts) {
    out += out.empty() ? std::string(" ") + word : " and";
    out += " " + text(f.lhs) + " " + sign_of(f.relation) + " " + text(f.rhs);
  }
  return out;
}

namespace {

bool inside_operator_or_product(const Dim& dim, Var var) {
  for (const Term& term : dim.terms())
    for (const Atom& atom : term.factors)
      if ((term.factors.size() > 1 || atom.kind() != AtomKind::var) && make_dim(atom).contains(var))
        return true;
  return false;
}

/// A fact `var == expr` that is worth substituting: the variable is used where linear reasoning does not see
/// it.
std::optional<std::pair<Var, Dim>> find_definition(const std::vector<Fact>& facts,
                                                   const std::vector<Fact>& goals) {
  auto hidden = [&](Var var) {
    auto uses = [&](const Fact& fact) {
      return inside_operator_or_product(fact.lhs, var) || inside_operator_or_product(fact.rhs, var);
    };
    return std::any_of(facts.begin(), facts.end(), uses) || std::any_of(goals.begin(), goals.end(), uses);
  };
  for (const Fact& fact : facts) {
    if (fact.relation != Relation::eq) continue;
    Dim difference = fact.lhs - fact.rhs;
    for (Var var : difference.vars()) {
      auto parts = difference.linear_in(var);
      if (!parts || !(parts->first.is(1) || parts->first.is(-1)) || !hidden(var)) continue;
      return std::pair{var, parts->first.is(1) ? -parts->second : parts->second};
    }
  }
  return std::nullopt;
}

std::vector<Fact> substitute(const std::vector<Fact>& facts, const Substitution& substitution) {
  std::vector<Fact> result;
  for (const Fact& fact : facts)
    result.push_back({fact.lhs.substitute(substitution), fact.relation, fact.rhs.substitute(substitution)});
  return result;
}

/// Those that say nothing are no facts; a goal that says nothing is one that holds.
std::vector<Fact> substitute_in_facts(const std::vector<Fact>& facts, const Substitution& substitution) {
  std::vector<Fact> result = substitute(facts, substitution);
  std::erase_if(result,
                [](const Fact& fact) { return fact.relation == Relation::eq && fact.lhs == fact.rhs; });
  return result;
}

/// The goals after simplify(), which knows the facts; empty when that changes nothing.
std::vector<Fact> simplified_goals(const std::vector<Fact>& goals, const std::vector<Fact>& facts) {
  std::vector<Fact> result = goals;
  bool changed = false;
  for (Fact& goal : result) {
    const Dim difference = goal.lhs - goal.rhs, simpler = simplify(difference, facts);
    if (simpler == difference) continue;
    goal = {simpler, goal.relation, Dim(0)};
    changed = true;
  }
  return changed ? result : std::vector<Fact>{};
}

/// The question with the variable replaced; a counter-example gets the variable's value back, and is checked
/// again.
Answer prove_by_definition(const std::vector<Fact>& facts, const std::vector<Fact>& goals, Var var,
                           const Dim& value, const ProverLimits& limits) {
  Substitution substitution{{var, value}};
  Answer answer =
      prove_any(substitute_in_facts(facts, substitution), substitute(goals, substitution), limits);
  if (answer.verdict != Verdict::refuted) return answer;
  for (Var used : value.vars()) answer.counter_example.try_emplace(used, 0);
  auto number = value.evaluate(answer.counter_example);
  if (number) answer.counter_example[var] = *number;
  std::vector<Fact> denial = facts;
  for (const Fact& goal : goals) denial.push_back(deny(goal));
  for (const Fact& fact : denial)
    for (const Dim* side : {&fact.lhs, &fact.rhs})
      for (Var used : side->vars()) answer.counter_example.try_emplace(used, 0);
  if (!number || !satisfies(denial, answer.counter_example)) return {Verdict::unknown, {}, answer.by};
  return answer;
}

}  // namespace

namespace {

Answer answer_any(const std::vector<Fact>& facts, const std::vector<Fact>& goals,
                  const ProverLimits& limits) {
  if (any_overflowed(goals) || any_overflowed(facts)) return {Verdict::unknown, {}, "too large"};
  std::vector<Fact> open;
  for (const Fact& goal : goals) {
    auto known = decided(goal);
    if (known && *known) return {Verdict::proved, {}, "normal form"};
    Normal wanted(goal);
    Dim negated = wanted.relation == Relation::ne ? -wanted.expr : Dim();
    for (const Fact& fact : facts)
      if (implies(Normal(fact), wanted, negated)) return {Verdict::proved, {}, "fact"};
    if (!known) open.push_back(goal);
  }
  if (facts.empty() && open.empty()) return {Verdict::refuted, {}, "normal form"};
  if (std::vector<Fact> simpler = simplified_goals(open, facts); !simpler.empty()) {
    for (const Fact& goal : simpler)
      if (auto known = decided(goal); known && *known) return {Verdict::proved, {}, "simplified"};
    open = std::move(simpler);
  }
  if (auto definition = find_definition(facts, open))
    return prove_by_definition(facts, open, definition->first, definition->second, limits);
  std::vector<Fact> denial = with_divisors(facts);
  for (const Fact& goal : open) denial.push_back(deny(goal));
  const auto merged = merge_products(facts, open);
  if (!merged) return contradict(denial, limits);
  ProverLimits cheap = limits;
  cheap.z3_rlimit = 0;
  if (Answer answer = contradict(denial, cheap); answer.verdict != Verdict::unknown) return answer;
  if (Answer answer = answer_any(merged->facts, merged->goals, limits); answer.verdict == Verdict::proved)
    return answer;
  return contradict(denial, limits);
}

QuestionKey key_of(const std::vector<Fact>& facts, const std::vector<Fact>& goals,
                   const ProverLimits& limits) {
  QuestionKey key;
  for (const std::vector<Fact>* list : {&facts, &goals}) {
    for (const Fact& fact : *list) {
      key.emplace_back(fact.lhs.node(), static_cast<uint8_t>(fact.relation));
      key.emplace_back(fact.rhs.node(), 0);
    }
    key.emplace_back(nullptr, limits.z3_rlimit == 0);
  }
  return key;
}

}  // namespace

Answer prove_any(const std::vector<Fact>& facts, const std::vector<Fact>& goals, const ProverLimits& limits) {
  base::work(1 + facts.size() + goals.size());
  const WorkScope work;
  ProverMemory* memory = ProverMemory::current();
  const bool usual = limits.z3_rlimit == ProverLimits().z3_rlimit || limits.z3_rlimit == 0;
  if (!memory || !usual) return answer_any(facts, goals, limits);
  QuestionKey key = key_of(facts, goals, limits);
  if (const Answer* known = memory->find(key)) return *known;
  const Answer answer = answer_any(facts, goals, limits);
  memory->keep(std::move(key), answer);
  return answer;
}

Answer prove(const std::vector<Fact>& facts, const Fact& goal, const ProverLimits& limits) {
  return prove_any(facts, {goal}, limits);
}

Answer prove_empty(const std::vector<Fact>& facts, const ProverLimits& limits) {
  return prove_any(facts, {}, limits);
}

}  // namespace axon::shape
