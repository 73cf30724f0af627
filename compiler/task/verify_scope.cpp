// See verify_scope.h.
#include "task/verify_scope.h"

#include <algorithm>

#include "task/facts.h"

namespace axon::task {

Scope::Scope(const Program& p, TaskTypeId type) : p_(p), facts_(both(p.facts, ranges(p, type))) {
  for (const auto& size : p.graph->sizes) known_.insert(size.var);
  for (const Loop& loop : p.loops)
    if (const auto& node = p.graph->nodes[loop.node]; node.condition) known_.insert(graph::steps_var(node));
  for (LoopId l : p.types[type].loops) known_.insert(p.loops[l].index);
  for (const Coordinate& c : p.types[type].coordinates) known_.insert(c.var);
}

void Scope::add(const graph::Axis& axis, const std::optional<Interval>& span) {
  std::erase_if(asked_, [](const auto& answer) { return !answer.second; });
  const Dim index(axis.var);
  extents_[axis.var] = axis.extent;
  facts_.push_back(shape::at_least(index, Dim(0)));
  facts_.push_back(shape::less(index, axis.extent));
  if (span) {
    if (!span->low.is(0)) facts_.push_back(shape::at_least(index, span->low));
    if (span->high != axis.extent) facts_.push_back(shape::less(index, span->high));
    spans_[axis.var] = {span->low, is_known(axis.extent) ? shape::min(span->high, axis.extent) : span->high};
  } else if (const auto extent =
                 is_known(axis.extent) ? Interval{axis.extent, axis.extent + Dim(1)} : guess(axis.extent)) {
    spans_[axis.var] = {Dim(0), extent->high - Dim(1)};
  }
}

bool Scope::shows(const Fact& goal) const {
  const auto [answer, is_new] = asked_.try_emplace({goal.lhs.node(), goal.relation, goal.rhs.node()}, false);
  if (is_new) answer->second = cheaply(p_, facts_, goal);
  return answer->second;
}

bool Scope::shows_at_ends(const Fact& goal) const {
  const bool strict = goal.relation == shape::Relation::lt;
  return (strict || goal.relation == shape::Relation::le) &&
         is_positive_at_ends(goal.rhs - goal.lhs + Dim(strict ? 0 : 1));
}

/// What is at least 0, and at most what is returned: the quotient of an index variable by a size that divides
/// its extent.
std::optional<Dim> Scope::most_of_quotient(const shape::Atom& atom) const {
  if (atom.kind() != shape::AtomKind::floor_div) return std::nullopt;
  const auto index = atom.lhs().as_var(), size = atom.rhs().as_var();
  const auto extent = index ? extents_.find(*index) : extents_.end();
  const auto parts = size && extent != extents_.end() ? extent->second.linear_in(*size) : std::nullopt;
  if (!parts || !parts->second.is(0)) return std::nullopt;
  return parts->first - Dim(1);
}

/// The factor of an atom in a sum whose terms have it once at most, beside nothing else than a variable.
static std::optional<Dim> slope_in(const Dim& d, const shape::Atom& atom) {
  Dim slope(0);
  for (const shape::Term& term : d.terms()) {
    std::vector<shape::Atom> others = term.factors;
    const auto at = std::find(others.begin(), others.end(), atom);
    if (at == others.end()) continue;
    others.erase(at);
    if (others.size() > 1 || (others.size() == 1 && others[0].kind() != shape::AtomKind::var))
      return std::nullopt;
    slope = slope + Dim(term.coefficient) * (others.empty() ? Dim(1) : Dim(others[0].var()));
  }
  return slope;
}

bool Scope::is_positive_at_ends_of_quotients(const Dim& d) const {
  for (const shape::Term& term : d.terms())
    for (const shape::Atom& quotient : term.factors) {
      const auto most = most_of_quotient(quotient);
      const auto slope = most ? slope_in(d, quotient) : std::nullopt;
      if (!slope) continue;
      const Dim rest = d - *slope * shape::floor_div(quotient.lhs(), quotient.rhs());
      if (holds(p_, facts_, shape::at_least(*slope, Dim(0)))) return is_positive_at_ends(rest);
      return holds(p_, facts_, shape::at_most(*slope, Dim(0))) && is_positive_at_ends(*slope * *most + rest);
    }
  return false;
}

bool Scope::is_positive_at_ends(const Dim& d) const {
  if (shows(shape::less(Dim(0), d)) || is_positive_at_ends_of_quotients(d)) return true;
  for (const auto& [var, extent] : extents_) {
    if (!d.contains(var)) continue;
    const auto linear = d.linear_in(var);
    if (!linear) continue;
    const auto& [slope, rest] = *linear;
    const bool grows = holds(p_, facts_, shape::at_least(slope, Dim(0)));
    if (!grows && !holds(p_, facts_, shape::at_most(slope, Dim(0)))) continue;
    const auto span = spans_.find(var);
    const Dim end = grows ? Dim(0) : extent - Dim(1);
    if (is_positive_at_ends(slope * end + rest)) return true;
    return span != spans_.end() &&
           is_positive_at_ends(slope * (grows ? span->second.low : span->second.high - Dim(1)) + rest);
  }
  return false;
}

bool Scope::is_known(const Dim& d) const {
  const auto vars = d.vars();
  return std::all_of(vars.begin(), vars.end(), [&](Var v) { return known_.contains(v); });
}

Interval Scope::span_of(const Dim& index, const Dim& extent) const {
  if (is_known(index)) return {index, index + Dim(1)};
  Interval span{Dim(0), extent};
  const auto guessed = guess(index);
  if (!guessed) return span;
  if (holds(p_, facts_, shape::at_least(index, guessed->low))) span.low = guessed->low;
  if (holds(p_, facts_, shape::less(index, guessed->high))) span.high = guessed->high;
  return span;
}

std::optional<Interval> Scope::guess(const Dim& d) const {
  Interval sum{Dim(0), Dim(1)};
  for (const shape::Term& term : d.terms()) {
    const auto part = guess(term);
    if (!part) return std::nullopt;
    sum = {sum.low + part->low, sum.high + part->high - Dim(1)};
  }
  return sum;
}

/// Factors are taken to be at least 0, as sizes and indices are.
std::optional<Interval> Scope::guess(const shape::Term& term) const {
  Dim least(1), most(1);
  for (const shape::Atom& atom : term.factors) {
    const auto factor = guess(atom);
    if (!factor) return std::nullopt;
    least = least * factor->low;
    most = most * (factor->high - Dim(1));
  }
  if (term.coefficient < 0) std::swap(least, most);
  const Dim by(term.coefficient);
  return Interval{by * least, by * most + Dim(1)};
}

std::optional<Interval> Scope::guess(const shape::Atom& atom) const {
  using Kind = shape::AtomKind;
  if (atom.kind() == Kind::var) {
    if (known_.contains(atom.var())) return Interval{Dim(atom.var()), Dim(atom.var()) + Dim(1)};
    const auto span = spans_.find(atom.var());
    return span == spans_.end() ? std::nullopt : std::optional(span->second);
  }
  const auto lhs = guess(atom.lhs()), rhs = guess(atom.rhs());
  if (!lhs || !rhs) return std::nullopt;
  const Dim first = lhs->low, last = lhs->high - Dim(1), least = rhs->low, most = rhs->high - Dim(1);
  if (atom.kind() == Kind::min) return Interval{shape::min(first, least), shape::min(last, most) + Dim(1)};
  if (atom.kind() == Kind::max) return Interval{shape::max(first, least), shape::max(last, most) + Dim(1)};
  const Dim low = shape::floor_div(first, most), high = shape::floor_div(last, least);
  if (atom.kind() == Kind::floor_div) return Interval{low, high + Dim(1)};
  if (low == high) return Interval{first - low * least, last - low * least + Dim(1)};
  return Interval{Dim(0), most};
}

}  // namespace axon::task
