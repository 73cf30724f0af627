// See dependence.h.
//
// The producer's coordinates are eliminated from "the boxes overlap" one axis at a time, which leaves for
// each coordinate a range over the consumer's names: the wait map.
#include "task/dependence.h"

#include <algorithm>

#include "base/rule.h"
#include "task/facts.h"
#include "task/trip_counts.h"

namespace axon::task {

namespace {

/// expr = factor * atom + rest, where the atom is an operator that alone contains v; nullopt otherwise.
struct Isolated {
  int64_t factor;
  shape::Atom atom;
  Dim rest;
};
std::optional<Isolated> isolate(const Dim& expr, Var v) {
  std::optional<shape::Atom> found;
  int64_t factor = 0;
  for (const auto& term : expr.terms())
    for (const auto& atom : term.factors) {
      const bool has = atom.kind() == shape::AtomKind::var ? atom.var() == v
                                                           : atom.lhs().contains(v) || atom.rhs().contains(v);
      if (AXON_RULE(isolate_without, !has)) continue;
      if (AXON_RULE(isolate_twice, found) || AXON_RULE(isolate_product, term.factors.size() != 1) ||
          AXON_RULE(isolate_negative, term.coefficient < 1))
        return std::nullopt;
      found = atom;
      factor = term.coefficient;
    }
  if (!found) return std::nullopt;
  const auto without = [&](const Dim& atom) { return Isolated{factor, *found, expr - Dim(factor) * atom}; };
  switch (found->kind()) {
    case shape::AtomKind::floor_div:
      return without(shape::floor_div(found->lhs(), found->rhs()));
    case shape::AtomKind::min:
      return without(shape::min(found->lhs(), found->rhs()));
    case shape::AtomKind::max:
      return without(shape::max(found->lhs(), found->rhs()));
    case shape::AtomKind::mod:
    case shape::AtomKind::var:
      break;
  }
  return std::nullopt;
}

struct Limit {
  Dim value;
  bool upper;     ///< v <= value, else v >= value
  bool symbolic;  ///< found by dividing by a size
};

/// Solves expr <= limit (`at_most`), or expr >= limit, for v; nullopt when the form is not understood, and v
/// is then not bounded by it.
std::optional<Limit> solve(const Program& p, const std::vector<Fact>& facts, const Dim& expr, Var v,
                           const Dim& limit, bool at_most) {
  if (const auto linear = expr.linear_in(v)) {
    const auto& [slope, rest] = *linear;
    if (AXON_RULE(solve_flat, slope.is(0))) return std::nullopt;
    const bool falls =
        AXON_RULE(solve_falls, slope.constant() ? *slope.constant() < 0
                                                : cheaply(p, facts, shape::at_most(slope, Dim(-1))));
    if (!falls && AXON_RULE(solve_not_rising, !cheaply(p, facts, shape::at_least(slope, Dim(1)))))
      return std::nullopt;
    const Dim size = falls ? -slope : slope, open = falls ? rest - limit : limit - rest;
    const bool upper = AXON_RULE(solve_upper, at_most != falls);
    return Limit{AXON_RULE(solve_rounds_down, upper) ? shape::floor_div(open, size) : shape::cdiv(open, size),
                 upper, AXON_RULE(solve_symbolic, !size.constant())};
  }
  const auto isolated = isolate(expr, v);
  if (!isolated) return std::nullopt;
  const Dim lhs = isolated->atom.lhs(), rhs = isolated->atom.rhs();
  const Dim open = limit - isolated->rest, factor = isolated->factor;
  const Dim inner =
      AXON_RULE(solve_inner_down, at_most) ? shape::floor_div(open, factor) : shape::cdiv(open, factor);
  if (isolated->atom.kind() == shape::AtomKind::floor_div) {
    if (AXON_RULE(solve_divisor_has, rhs.contains(v)) ||
        AXON_RULE(solve_divisor_not_positive, !cheaply(p, facts, shape::at_least(rhs, Dim(1)))))
      return std::nullopt;
    // floor(e / d) <= L iff e <= L*d + d - 1, floor(e / d) >= L iff e >= L*d
    const Dim most = AXON_RULE(solve_quotient_most, at_most) ? inner * rhs + rhs - Dim(1) : inner * rhs;
    auto solved = solve(p, facts, lhs, v, most, at_most);
    if (solved && AXON_RULE(solve_divisor_symbolic, !rhs.constant())) solved->symbolic = true;
    return solved;
  }
  // Both sides of max are at most L, both sides of min at least L; the side with v decides. The other way
  // round nothing follows for one side alone.
  if (AXON_RULE(solve_wrong_side, (isolated->atom.kind() == shape::AtomKind::max) != at_most))
    return std::nullopt;
  return solve(p, facts, AXON_RULE(solve_left, lhs.contains(v)) ? lhs : rhs, v, inner, at_most);
}

bool free_of(const Dim& d, const std::vector<Var>& vars) {
  return std::none_of(vars.begin(), vars.end(), [&](Var v) { return d.contains(v); });
}

/// Keeps the range inside the grid and never empty. Clamps that are known to do nothing are left out.
Wait::Range clamped(const Program& p, const std::vector<Fact>& facts, Dim first, Dim last,
                    const Dim& extent) {
  const Dim end = extent - Dim(1);
  const auto holds = [&](const Dim& small, const Dim& large) {
    return small == large || cheaply(p, facts, shape::at_most(small, large));
  };
  if (AXON_RULE(clamp_first_low, holds(first, Dim(0))))
    first = Dim(0);
  else if (AXON_RULE(clamp_first_high, !holds(first, end)))
    first = shape::min(first, end);
  if (AXON_RULE(clamp_last_end, last == end) || AXON_RULE(clamp_last_behind, holds(end, last)))
    return {first, end};
  if (AXON_RULE(clamp_last_first, holds(last, first))) return {first, first};
  // The larger of two that lie inside: what it is not below is then in plain sight.
  if (AXON_RULE(clamp_last_high, !holds(last, end))) last = shape::min(last, end);
  return {first, shape::max(last, first)};
}

}  // namespace

Wait::Why Dependence::why() const {
  if (!own->write) return Wait::Why::read_after_write;
  return theirs->write ? Wait::Why::write_after_write : Wait::Why::write_after_read;
}

Overlap overlap_of(const Program& p, const Dependence& dependence) {
  Overlap overlap;
  const TaskType& producer = p.types[dependence.producer];
  const auto fresh = [&](Var v) {
    const Var other = shape::fresh_var(shape::var_name(v) + "'");
    overlap.free.push_back(other);
    overlap.rename[v] = other;
    return other;
  };
  for (const auto& c : producer.coordinates) overlap.coordinates.push_back(fresh(c.var));
  const Distance& distance = dependence.distance;
  for (size_t i = distance.level; i < producer.loops.size(); ++i) {
    const Dim index = p.loops[producer.loops[i]].index;
    if (AXON_RULE(overlap_inside, i > distance.level) || AXON_RULE(overlap_same, distance.iterations == 0) ||
        AXON_RULE(overlap_or_more, distance.or_more)) {
      const Dim other = fresh(p.loops[producer.loops[i]].index);
      if (AXON_RULE(overlap_at_level, i == distance.level) && AXON_RULE(overlap_at_most, distance.or_more))
        overlap.facts.push_back(shape::at_most(other, index - Dim(distance.iterations)));
    } else {
      overlap.rename[p.loops[producer.loops[i]].index] = index - Dim(distance.iterations);
    }
    for (Var v : data_trip_counts_inside(p, producer.loops[i])) {  // another iteration: another value
      if (AXON_RULE(overlap_trip_count_once, overlap.rename.contains(v))) continue;
      overlap.facts = both(std::move(overlap.facts), range_of_trip_count(fresh(v)));
    }
  }
  for (const Interval& i : dependence.theirs->box)
    overlap.theirs.push_back({i.low.substitute(overlap.rename), i.high.substitute(overlap.rename)});
  overlap.facts = both(both(p.facts, overlap.facts), ranges(p, dependence.consumer));
  overlap.facts = both(std::move(overlap.facts), ranges(p, dependence.producer, overlap.rename));
  return overlap;
}

bool overlaps_late(const Program& p, const Dependence& dependence, const Overlap& overlap) {
  const auto& loops = p.types[dependence.consumer].loops;
  const size_t common = common_loops(p, dependence.producer, dependence.consumer);
  if (AXON_RULE(late_no_loop, loops.size() <= common)) return false;
  const Var index = p.loops[loops[common]].index;
  if (AXON_RULE(late_not_moved,
                std::none_of(dependence.own->box.begin(), dependence.own->box.end(), [&](const Interval& i) {
                  return i.low.contains(index) || i.high.contains(index);
                })))
    return false;
  std::vector<Interval> own;
  for (const Interval& i : dependence.own->box)
    own.push_back({i.low.substitute({{index, Dim(0)}}), i.high.substitute({{index, Dim(0)}})});
  return cheaply_disjoint(p, overlap.facts, overlap.theirs, own);
}

void set_iteration(const Program& p, const Dependence& dependence, Wait& wait) {
  const auto& loops = p.types[dependence.producer].loops;
  const size_t common = common_loops(p, dependence.producer, dependence.consumer);
  for (size_t i = 0; i < loops.size(); ++i) {
    const Loop& loop = p.loops[loops[i]];
    if (AXON_RULE(iteration_outside, i < dependence.distance.level)) {
      wait.iteration.push_back(loop.index);
    } else if (AXON_RULE(iteration_at_level, i == dependence.distance.level) &&
               AXON_RULE(iteration_moves, dependence.distance.iterations > 0)) {
      wait.iteration.push_back(Dim(loop.index) - Dim(dependence.distance.iterations));
      wait.guard.push_back(shape::at_least(Dim(loop.index), Dim(dependence.distance.iterations)));
    } else {
      wait.iteration.push_back(loop.extent - Dim(1));
      const bool run_again =
          AXON_RULE(iteration_condition, data_trip_count(p, loops[i])) &&
          AXON_RULE(iteration_nested, is_nested(p, loops[i]));  // an empty run is no matter
      if (AXON_RULE(iteration_not_common, i >= common) &&
          AXON_RULE(iteration_perhaps_none, !loop.extent.constant().value_or(0)) && !run_again)
        wait.guard.push_back(shape::at_least(loop.extent, Dim(1)));
    }
  }
}

std::vector<Wait::Range> producers_needed(const Program& p, const Dependence& dependence,
                                          const Overlap& overlap) {
  const auto& own = dependence.own->box;
  const auto facts = both(p.facts, ranges(p, dependence.consumer));
  std::vector<Wait::Range> box;
  for (size_t c = 0; c < overlap.coordinates.size(); ++c) {
    const Var v = overlap.coordinates[c];
    const Dim& extent = p.types[dependence.producer].coordinates[c].extent;
    Dim first(0), last = extent - Dim(1);
    // What is found by dividing by sizes has to be proved again from the overlap: that is out of reach at
    // times, and then every producer along this coordinate is waited for.
    const auto provable = [&](const Limit& limit, size_t a) {
      const std::vector<Fact> meet = {shape::less(overlap.theirs[a].low, own[a].high),
                                      shape::less(own[a].low, overlap.theirs[a].high)};
      return cheaply(p, both(overlap.facts, meet),
                     limit.upper ? shape::at_most(v, limit.value) : shape::at_least(v, limit.value));
    };
    const auto bound = [&](const std::optional<Limit>& limit, size_t a) {
      if (!limit || AXON_RULE(needed_not_free, !free_of(limit->value, overlap.free))) return;
      if (AXON_RULE(needed_symbolic, limit->symbolic) && AXON_RULE(needed_unproved, !provable(*limit, a)))
        return;
      if (AXON_RULE(needed_upper, limit->upper))
        last = shape::min(last, limit->value);
      else
        first = shape::max(first, limit->value);
    };
    for (size_t a = 0; a < own.size(); ++a) {
      // theirs.low <= own.high - 1 and theirs.high >= own.low + 1
      const auto& [low, high] = overlap.theirs[a];
      if (AXON_RULE(needed_low, low.contains(v)))
        bound(solve(p, facts, low, v, own[a].high - Dim(1), true), a);
      if (AXON_RULE(needed_high, high.contains(v)))
        bound(solve(p, facts, high, v, own[a].low + Dim(1), false), a);
    }
    box.push_back(AXON_RULE(needed_from_start, first.is(0)) &&
                          AXON_RULE(needed_to_end, last == extent - Dim(1))
                      ? Wait::Range{first, last}
                      : clamped(p, facts, shape::simplify(first, relevant(p, facts, {first})),
                                shape::simplify(last, relevant(p, facts, {last})), extent));
  }
  return box;
}

}  // namespace axon::task
