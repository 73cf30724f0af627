// See facts.h.
#include "task/facts.h"

#include <algorithm>

#include "base/work.h"
#include "task/trip_counts.h"

namespace axon::task {

using shape::Verdict;

namespace {

constexpr unsigned solver_limit = 100000;  ///< of a question that the cheap engines leave open

shape::ProverLimits without_solver() {
  shape::ProverLimits limits;
  limits.z3_rlimit = 0;
  return limits;
}

bool proved(const std::vector<Fact>& facts, const Fact& goal, unsigned rlimit) {
  shape::ProverLimits limits;
  limits.z3_rlimit = rlimit;
  return shape::prove(facts, goal, limits).verdict == Verdict::proved;
}

bool same(const Interval& a, const Interval& b) { return a.low == b.low && a.high == b.high; }

}  // namespace

std::vector<Fact> facts_of(const graph::Graph& g, const std::vector<Fact>& guard) {
  std::vector<Fact> facts = g.facts;
  for (const auto& size : g.sizes)
    if (!size.is_integer()) facts.push_back(shape::at_least(Dim(size.var), Dim(0)));
  for (graph::NodeId loop : graph::conditional_loops(g))
    facts = both(std::move(facts), range_of_trip_count(g.nodes[loop].index.extent));
  return both(std::move(facts), guard);
}

std::vector<Fact> ranges(const Program& p, TaskTypeId type, const shape::Substitution& rename) {
  std::vector<Fact> facts;
  const auto add = [&](Var v, const Dim& extent) {
    const Dim d = Dim(v).substitute(rename);
    facts.push_back(shape::at_least(d, Dim(0)));
    facts.push_back(shape::less(d, extent.substitute(rename)));
  };
  for (const auto& c : p.types[type].coordinates) add(c.var, c.extent);
  for (LoopId l : p.types[type].loops) add(p.loops[l].index, p.loops[l].extent);
  return facts;
}

std::vector<Fact> both(std::vector<Fact> a, const std::vector<Fact>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Fact> relevant(const Program& p, const std::vector<Fact>& facts, const std::vector<Dim>& about) {
  base::work(facts.size());
  std::vector<Var> met;
  for (const Dim& d : about) d.collect_vars(met);
  const auto has = [](const std::vector<Var>& vars, Var v) {
    return std::find(vars.begin(), vars.end(), v) != vars.end();
  };
  const auto is_size = [&](Var v) {
    return std::any_of(p.graph->sizes.begin(), p.graph->sizes.end(),
                       [&](const auto& s) { return s.var == v; });
  };
  std::vector<std::vector<Var>> mentions(facts.size());
  for (size_t f = 0; f < facts.size(); ++f) {
    facts[f].lhs.collect_vars(mentions[f]);
    facts[f].rhs.collect_vars(mentions[f]);
  }
  std::vector<bool> used(facts.size(), false);
  for (size_t next = 0; next < met.size(); ++next) {
    if (is_size(met[next])) continue;
    for (size_t f = 0; f < facts.size(); ++f) {
      if (used[f] || !has(mentions[f], met[next])) continue;
      used[f] = true;
      for (Var v : mentions[f])
        if (!has(met, v)) met.push_back(v);
    }
  }
  std::vector<Fact> out;
  for (size_t f = 0; f < facts.size(); ++f)
    if (used[f] || std::all_of(mentions[f].begin(), mentions[f].end(), [&](Var v) { return has(met, v); }))
      out.push_back(facts[f]);
  return out;
}

bool cheaply(const Program& p, const std::vector<Fact>& facts, const Fact& goal) {
  if (const auto difference = (goal.rhs - goal.lhs).constant()) {
    switch (goal.relation) {
      case shape::Relation::eq:
        return *difference == 0;
      case shape::Relation::ne:
        return *difference != 0;
      case shape::Relation::le:
        return *difference >= 0;
      case shape::Relation::lt:
        return *difference > 0;
    }
  }
  return proved(relevant(p, facts, {goal.lhs, goal.rhs}), goal, 0);
}

namespace {

/// Operands of the minima and maxima that the goal `expr >= 0` is a sum of, one at a time: wait maps are
/// clamped ranges, which nest more of them than case splits can follow. Where a smaller operand makes the sum
/// smaller, the goal is that of both; else that of either is enough.
bool holds_by_operands(const Program& p, const std::vector<Fact>& facts, const Dim& expr, int depth) {
  if (cheaply(p, facts, shape::at_least(expr, Dim(0)))) return true;
  if (depth == 0) return false;
  for (const bool both_needed : {true, false})
    for (const shape::Term& term : expr.terms()) {
      if (term.factors.size() != 1) continue;
      const shape::Atom& atom = term.factors[0];
      if (atom.kind() != shape::AtomKind::min && atom.kind() != shape::AtomKind::max) continue;
      const bool is_min = atom.kind() == shape::AtomKind::min;
      if ((is_min == (term.coefficient > 0)) != both_needed) continue;
      const Dim whole = is_min ? shape::min(atom.lhs(), atom.rhs()) : shape::max(atom.lhs(), atom.rhs());
      const Dim rest = expr - Dim(term.coefficient) * whole;
      const auto with = [&](const Dim& operand) {
        return holds_by_operands(p, facts, rest + Dim(term.coefficient) * operand, depth - 1);
      };
      if (both_needed) return with(atom.lhs()) && with(atom.rhs());
      if (with(atom.lhs()) || with(atom.rhs())) return true;
    }
  return false;
}

bool holds_by_operands(const Program& p, const std::vector<Fact>& facts, const Fact& goal) {
  constexpr int most_operators = 5;
  if (goal.relation != shape::Relation::le && goal.relation != shape::Relation::lt) return false;
  const Dim expr = goal.rhs - goal.lhs - Dim(goal.relation == shape::Relation::lt ? 1 : 0);
  return holds_by_operands(p, facts, expr, most_operators);
}

}  // namespace

bool holds(const Program& p, const std::vector<Fact>& facts, const Fact& goal) {
  return cheaply(p, facts, goal) || holds_by_operands(p, facts, goal) || proved(facts, goal, 0) ||
         proved(facts, goal, solver_limit);
}

bool cheaply_disjoint(const Program& p, const std::vector<Fact>& facts, const std::vector<Interval>& a,
                      const std::vector<Interval>& b) {
  for (size_t axis = 0; axis < a.size(); ++axis) {
    if (same(a[axis], b[axis])) continue;
    const Fact meet[] = {shape::less(a[axis].low, b[axis].high), shape::less(b[axis].low, a[axis].high)};
    auto question = relevant(p, facts, {a[axis].low, a[axis].high, b[axis].low, b[axis].high});
    question.insert(question.end(), std::begin(meet), std::end(meet));
    if (shape::prove_empty(question, without_solver()).verdict == Verdict::proved) return true;
  }
  return false;
}

bool disjoint(const Program& p, const std::vector<Fact>& facts, const std::vector<Interval>& a,
              const std::vector<Interval>& b) {
  if (cheaply_disjoint(p, facts, a, b)) return true;
  for (size_t axis = 0; axis < a.size(); ++axis) {
    if (same(a[axis], b[axis])) continue;
    shape::ProverLimits limits;
    limits.z3_rlimit = solver_limit;
    auto question = facts;
    question.push_back(shape::less(a[axis].low, b[axis].high));
    question.push_back(shape::less(b[axis].low, a[axis].high));
    if (shape::prove_empty(question, limits).verdict == Verdict::proved) return true;
  }
  return false;
}

}  // namespace axon::task
