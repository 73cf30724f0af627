// See happens_before.h.
#include "task/happens_before.h"

#include <algorithm>
#include <unordered_map>

#include "base/rule.h"
#include "base/work.h"
#include "task/facts.h"
#include "task/trip_counts.h"

namespace axon::task {

namespace {

constexpr size_t max_states = 4096;
/// Waits of a chain: a dependence whose chains are longer gets a wait of its own, which has mostly come true
/// long before.
constexpr size_t max_waits = 64;
/// How many ranges of one task type, in one iteration, a search goes on from: it finds short chains first,
/// and around a loop there are ever longer ones with ranges of their own.
constexpr size_t max_ranges = 16;
/// How much longer than in the wait itself a bound of a range may become: with every wait of a chain more of
/// it is repeated, and of what is longer nothing is proved.
constexpr size_t max_parts = 256;

bool equal(const Wait::Range& a, const Wait::Range& b) { return a.first == b.first && a.last == b.last; }

Wait::Range whole(const Dim& extent) { return {Dim(0), extent - Dim(1)}; }

/// Is everything in `b` plainly in `a`?
bool contains(const Ranges& a, const Ranges& b, const std::vector<Coordinate>& grid) {
  for (size_t c = 0; c < a.size(); ++c) {
    if (AXON_RULE(contains_nothing_needed, !b[c])) continue;
    if (AXON_RULE(contains_nothing_known, !a[c])) return false;
    if (AXON_RULE(contains_other, !equal(*a[c], *b[c])) &&
        AXON_RULE(contains_not_whole, !equal(*a[c], whole(grid[c].extent))))
      return false;
  }
  return true;
}

/// In program order.
std::vector<TaskTypeId> types_in(const Step& step) {
  if (step.task.valid()) return {step.task};
  std::vector<TaskTypeId> types;
  for (const Step& inner : step.body)
    for (const TaskTypeId type : types_in(inner)) types.push_back(type);
  return types;
}

}  // namespace

std::map<TaskTypeId, uint32_t> program_order(const Program& p) {
  std::map<TaskTypeId, uint32_t> order;
  for (const Step& step : p.steps)
    for (const TaskTypeId type : types_in(step)) order.emplace(type, static_cast<uint32_t>(order.size()));
  return order;
}

size_t common_loops(const Program& p, TaskTypeId a, TaskTypeId b) {
  const auto &x = p.types[a].loops, &y = p.types[b].loops;
  size_t n = 0;
  while (n < x.size() && n < y.size() && AXON_RULE(common_loop, x[n] == y[n])) ++n;
  return n;
}

std::optional<Distance> distance_of(const Program& p, const Wait& wait) {
  const TaskTypeId producer = p.events[wait.event].producer;
  const auto& loops = p.types[producer].loops;
  if (wait.iteration.size() != loops.size()) return std::nullopt;
  const size_t common = common_loops(p, producer, wait.consumer);
  Distance distance{common, 0, false, 0};
  for (size_t i = 0; i < loops.size(); ++i) {
    const Loop& loop = p.loops[loops[i]];
    if (AXON_RULE(distance_in_common_loop, i < common) &&
        AXON_RULE(distance_not_moved, distance.iterations == 0)) {
      const auto back = (Dim(loop.index) - wait.iteration[i]).constant();
      if (!back || AXON_RULE(distance_ahead, *back < 0) || AXON_RULE(distance_far, *back > 1000))
        return std::nullopt;
      if (AXON_RULE(distance_moves, *back > 0)) distance = {i, static_cast<int>(*back), false, 0};
    } else if (AXON_RULE(distance_not_last, wait.iteration[i] != loop.extent - Dim(1))) {
      return std::nullopt;
    }
  }
  return distance;
}

Ranges ranges_of(const Program& p, const Wait& wait) {
  const auto& event = p.events[wait.event];
  Ranges ranges;
  for (const auto& c : p.types[event.producer].coordinates) ranges.push_back(whole(c.extent));
  for (size_t a = 0; a < event.kept.size(); ++a) ranges[event.kept[a]] = wait.box[a];
  return ranges;
}

HappensBefore::HappensBefore(const Program& program)
    : program_(program),
      edges_of_(program.types.size()),
      edges_to_(program.types.size()),
      outermost_(program.types.size()) {
  for (size_t s = 0; s < program.steps.size(); ++s)
    for (const TaskTypeId type : types_in(program.steps[s])) outermost_[type.index] = s;
  for (const Wait& wait : program.waits) add(wait);
}

void HappensBefore::add(const Wait& wait) {
  const auto distance = distance_of(program_, wait);
  Edge edge{wait.consumer,
            program_.events[wait.event].producer,
            distance.value_or(Distance{}),
            {},
            distance.has_value()};
  if (distance) edge.finished = ranges_of(program_, wait);
  edges_of_[edge.consumer.index].push_back(edges_.size());
  edges_to_[edge.producer.index].push_back(edges_.size());
  edges_.push_back(std::move(edge));
}

/// One wait further along a chain from `later` that looks for `earlier` at `distance`; nullopt when the wait
/// is of no use there: the producer's iteration might not exist although the pair asked about does, or it
/// stands where the distance does not count.
std::optional<HappensBefore::State> HappensBefore::follow(const State& at, size_t e, TaskTypeId later,
                                                          TaskTypeId earlier, const Distance& distance,
                                                          bool through_empty) const {
  const Edge& edge = edges_[e];
  if (AXON_RULE(follow_inactive, !edge.active)) return std::nullopt;
  if (AXON_RULE(follow_same_iteration, at.same_iteration) &&
      AXON_RULE(follow_other_iteration, edge.distance.iterations > 0))
    return std::nullopt;
  const auto& loops = program_.types[edge.producer].loops;
  const auto &of_later = program_.types[later].loops, &of_earlier = program_.types[earlier].loops;
  const auto among = [](const std::vector<LoopId>& list, LoopId l) {
    return std::find(list.begin(), list.end(), l) != list.end();
  };
  for (LoopId l : loops)
    if (AXON_RULE(follow_not_empty, !through_empty) && AXON_RULE(follow_not_of_later, !among(of_later, l)) &&
        AXON_RULE(follow_not_of_earlier, !among(of_earlier, l)))
      return std::nullopt;  // may run zero times
  const auto inside = [&](size_t level) {
    return loops.size() > level && of_later.size() > level &&
           AXON_RULE(follow_inside, loops[level] == of_later[level]);
  };
  if (AXON_RULE(follow_distant, distance.iterations > 0) &&
      AXON_RULE(follow_outside_of_level, !inside(distance.level)))
    return std::nullopt;
  State next{edge.producer, at.iterations, at.late, {}, false};
  const size_t common = common_loops(program_, later, earlier);
  if (AXON_RULE(follow_edge_moves, edge.distance.iterations > 0)) {
    if (AXON_RULE(follow_level_moves, distance.iterations > 0) &&
        AXON_RULE(follow_same_level, edge.distance.level == distance.level))
      next.iterations += edge.distance.iterations;
    else if (AXON_RULE(follow_late_level, edge.distance.level == common) &&
             AXON_RULE(follow_late_inside, inside(common)) &&
             AXON_RULE(follow_late_at_once, at.iterations == 0))
      next.late += edge.distance.iterations;
    else
      return std::nullopt;
  }
  if (AXON_RULE(follow_too_early, next.iterations > distance.iterations) ||
      AXON_RULE(follow_not_started, next.late > distance.started))
    return std::nullopt;
  const Run run = through_empty ? Run::exists : run_of(next, distance, later, earlier);
  if (AXON_RULE(follow_run_unknown, run == Run::unknown)) return std::nullopt;
  next.same_iteration = AXON_RULE(follow_still_same_iteration, at.same_iteration) ||
                        AXON_RULE(follow_run_last, run == Run::last);
  next.finished = compose(later, at, e);
  return next;
}

/// The producer may stand in a loop with a condition whose run, in the iteration that the chain has come to,
/// is perhaps empty (that of the later task is not). Its last iteration of the runs before is then what has
/// been waited for. When the earlier task is in that loop too, this is also its own last iteration up to
/// there, and waits for tasks of the same iteration lead to it; nothing is known of any other iteration.
HappensBefore::Run HappensBefore::run_of(const State& at, const Distance& distance, TaskTypeId later,
                                         TaskTypeId earlier) const {
  const auto& loops = program_.types[at.type].loops;
  const auto is_in = [&](TaskTypeId type, size_t i) {
    const auto& list = program_.types[type].loops;
    return i < list.size() && AXON_RULE(run_is_in, list[i] == loops[i]);
  };
  const bool moved = AXON_RULE(run_moved, at.iterations + at.late > 0);
  Run run = Run::exists;
  const bool behind = AXON_RULE(run_distant, distance.iterations > 0) || AXON_RULE(run_is_late, at.late > 0);
  for (size_t i = distance.level + (behind ? 1 : 0); i < loops.size(); ++i) {
    if (AXON_RULE(run_no_condition, !data_trip_count(program_, loops[i])) ||
        (AXON_RULE(run_not_moved, !moved) && AXON_RULE(run_of_later, is_in(later, i))))
      continue;
    if (AXON_RULE(run_late, at.late > 0) || AXON_RULE(run_not_of_earlier, !is_in(earlier, i)))
      return Run::unknown;
    run = Run::last;
  }
  return run;
}

std::vector<Chain> HappensBefore::chains(TaskTypeId later, TaskTypeId earlier, const Distance& distance,
                                         bool through_empty) const {
  std::vector<Chain> found;
  find_chains(later, earlier, distance, through_empty, [&](const Chain& chain) {
    found.push_back(chain);
    return false;
  });
  return found;
}

bool HappensBefore::any_chain(TaskTypeId later, TaskTypeId earlier, const Distance& distance,
                              bool through_empty, const std::function<bool(const Chain&)>& enough) const {
  bool found = false;
  find_chains(later, earlier, distance, through_empty,
              [&](const Chain& chain) { return found = enough(chain); });
  return found;
}

/// The types from which waits lead to `earlier`, itself included: no chain through any other ends there. A
/// wait is for tasks of the same step of the root or of one before, so steps behind that of `later` do not
/// count.
HappensBefore::Types HappensBefore::leading(TaskTypeId later, TaskTypeId earlier) const {
  Types leading{earlier.index};
  std::vector<uint32_t> open{earlier.index};
  while (!open.empty()) {
    const uint32_t type = open.back();
    open.pop_back();
    for (const size_t e : edges_to_[type]) {
      base::work();
      const uint32_t consumer = edges_[e].consumer.index;
      if (outermost_[consumer] <= outermost_[later.index] && leading.insert(consumer).second)
        open.push_back(consumer);
    }
  }
  return leading;
}

/// Calls `enough` with one chain after the other until it says true.
void HappensBefore::find_chains(TaskTypeId later, TaskTypeId earlier, const Distance& distance,
                                bool through_empty, const std::function<bool(const Chain&)>& enough) const {
  const auto reaches = [&](const std::vector<State>& states, const State& reached) {
    return AXON_RULE(chain_reaches, reached.type == earlier) && enough(chain_to(states, reached));
  };
  const Types through = leading(later, earlier);
  if (through.contains(later.index))
    search(later, earlier, distance, through_empty, &through, max_waits, reaches);
}

/// Follows the waits of `later`, breadth first, through the types that are `leading`, to types in the loops
/// of `like`.
void HappensBefore::search(TaskTypeId later, TaskTypeId like, const Distance& distance, bool through_empty,
                           const Types* leading, size_t waits, const Reached& goal) const {
  std::vector<State> states{{later, 0, 0, {}, false}};
  for (const auto& c : program_.types[later].coordinates)
    states[0].finished.push_back(Wait::Range{c.var, c.var});
  std::unordered_map<uint32_t, std::vector<size_t>> states_of{{later.index, {0}}};  // by type
  for (size_t next = 0; next < states.size() && states.size() < max_states; ++next) {
    if (states[next].length == waits) return;
    for (size_t e : edges_of_[states[next].type.index]) {
      base::work();
      if (leading && !leading->contains(edges_[e].producer.index)) continue;
      auto reached = follow(states[next], e, later, like, distance, through_empty);
      if (!reached) continue;
      reached->length = states[next].length + 1;
      reached->before = next;
      reached->wait = static_cast<uint32_t>(e);
      const bool known = is_known(*reached, states, states_of[reached->type.index]);
      if (goal(states, *reached)) return;
      if (!AXON_RULE(chain_goes_on, !known)) continue;
      states_of[reached->type.index].push_back(states.size());
      states.push_back(std::move(*reached));
    }
  }
}

/// Does one of the states of the same type say as much, or are there too many that differ in ranges alone?
bool HappensBefore::is_known(const State& reached, const std::vector<State>& states,
                             const std::vector<size_t>& of_type) const {
  const auto& grid = program_.types[reached.type].coordinates;
  size_t alike = 0;  // that say as much, but for the ranges
  return std::any_of(of_type.begin(), of_type.end(), [&](size_t n) {
    base::work();
    const State& s = states[n];
    const bool is_alike = AXON_RULE(known_iterations, s.iterations <= reached.iterations) &&
                          AXON_RULE(known_late, s.late <= reached.late) &&
                          AXON_RULE(known_same_iteration, !s.same_iteration || reached.same_iteration);
    return is_alike && (++alike > max_ranges || contains(s.finished, reached.finished, grid));
  });
}

Chain HappensBefore::chain_to(const std::vector<State>& states, const State& last) {
  Chain chain;
  for (const State* s = &last;; s = &states[s->before]) {
    chain.waits.push_back(s->wait);
    chain.finished.push_back(s->finished);
    if (s->before == 0) break;
  }
  std::reverse(chain.waits.begin(), chain.waits.end());
  std::reverse(chain.finished.begin(), chain.finished.end());
  return chain;
}

Ranges HappensBefore::compose(TaskTypeId later, const State& at, size_t e) const {
  const Edge& edge = edges_[e];
  Ranges result;
  const bool same_run = AXON_RULE(compose_not_moved, at.iterations + at.late == 0) &&
                        AXON_RULE(compose_run_exists, !at.same_iteration);
  for (uint32_t r = 0; r < edge.finished.size(); ++r) {
    const auto& range = *edge.finished[r];
    bool known = true;
    for (LoopId l : program_.types[edge.consumer].loops) {
      const Var index = program_.loops[l].index;
      const auto& own = program_.types[later].loops;
      const bool same =
          same_run && AXON_RULE(compose_own_loop, std::find(own.begin(), own.end(), l) != own.end());
      known = known && (same || (AXON_RULE(compose_first_fixed, !range.first.contains(index)) &&
                                 AXON_RULE(compose_last_fixed, !range.last.contains(index))));
      if (AXON_RULE(compose_same_run, same_run)) continue;
      for (Var v : data_trip_counts_inside(program_, l))
        known = known && AXON_RULE(compose_first_trip_count, !range.first.contains(v)) &&
                AXON_RULE(compose_last_trip_count, !range.last.contains(v));
    }
    result.push_back(known ? substituted(at.finished, e, r) : std::nullopt);
  }
  return result;
}

/// The range of one producer coordinate, with what is known of the consumer put in the place of its
/// coordinates.
std::optional<Wait::Range> HappensBefore::substituted(const Ranges& of_consumer, size_t e, uint32_t r) const {
  const Edge& edge = edges_[e];
  const Wait::Range& range = *edge.finished[r];
  const auto& grid = program_.types[edge.consumer].coordinates;
  const auto mentions = [&](const std::optional<Wait::Range>& of, uint32_t c) {
    return of->first.contains(grid[c].var) || of->last.contains(grid[c].var);
  };
  shape::Substitution low, high;
  std::vector<uint32_t> spread;  // coordinates of the consumer that are known over a range
  for (uint32_t c = 0; c < grid.size(); ++c) {
    if (AXON_RULE(substituted_not_mentioned, !mentions(range, c))) continue;
    if (AXON_RULE(substituted_unknown, !of_consumer[c])) return std::nullopt;
    low[grid[c].var] = high[grid[c].var] = of_consumer[c]->first;
    if (AXON_RULE(substituted_spread, of_consumer[c]->first != of_consumer[c]->last)) spread.push_back(c);
  }
  if (AXON_RULE(substituted_one_spread, spread.size() == 1)) {
    // A union over the range, when no other coordinate of the producer moves along with it.
    const uint32_t c = spread[0];
    const auto movers =
        std::count_if(edge.finished.begin(), edge.finished.end(),
                      [&](const std::optional<Wait::Range>& other) { return mentions(other, c); });
    const Union all = AXON_RULE(substituted_one_mover, movers == 1) ? union_along(e, r, c) : Union{};
    if (AXON_RULE(substituted_union_whole, all.whole) &&
        AXON_RULE(substituted_all_of_it, equal(*of_consumer[c], whole(grid[c].extent))))
      return whole(program_.types[edge.producer].coordinates[r].extent);
    if (AXON_RULE(substituted_grows, all.direction > 0)) high[grid[c].var] = of_consumer[c]->last;
    if (AXON_RULE(substituted_falls, all.direction < 0)) low[grid[c].var] = of_consumer[c]->last;
  }
  const Wait::Range result{range.first.substitute(low), range.last.substitute(high)};
  if (parts(result.first) > parts(range.first) + max_parts ||
      parts(result.last) > parts(range.last) + max_parts)
    return std::nullopt;
  return result;
}

/// Along a consumer coordinate q: when the range at q + 1 begins no later than just after the range at q
/// ends, and ends no earlier, the union from q = a to b has no holes between first(a) and last(b). When it
/// ends no earlier than just before the range at q begins, and no later than that, none between first(b) and
/// last(a).
HappensBefore::Union HappensBefore::union_along(size_t e, uint32_t r, uint32_t along) const {
  const auto [it, added] = unions_.try_emplace({e, r, along});
  if (!added) return it->second;
  const Edge& edge = edges_[e];
  const Wait::Range& range = *edge.finished[r];
  const Coordinate& q = program_.types[edge.consumer].coordinates[along];
  const auto facts = both(program_.facts, ranges(program_, edge.consumer));
  auto neighbours = facts;
  neighbours.push_back(shape::less(Dim(q.var) + Dim(1), q.extent));
  const auto at = [&](const Dim& of, const Dim& value) { return of.substitute({{q.var, value}}); };
  const Dim next = Dim(q.var) + Dim(1), end = q.extent - Dim(1);
  Union& result = it->second;
  const auto always = [&](const Dim& small, const Dim& large) {
    return cheaply(program_, neighbours, shape::at_most(small, large));
  };
  if (AXON_RULE(union_touches_next, always(at(range.first, next), range.last + Dim(1))) &&
      AXON_RULE(union_grows, always(range.last, at(range.last, next))))
    result.direction = 1;
  else if (AXON_RULE(union_touches_this, always(range.first, at(range.last, next) + Dim(1))) &&
           AXON_RULE(union_falls, always(at(range.last, next), range.last)))
    result.direction = -1;
  if (AXON_RULE(union_has_holes, result.direction == 0)) return result;
  const Dim first = at(range.first, result.direction > 0 ? Dim(0) : end);
  const Dim last = at(range.last, result.direction > 0 ? end : Dim(0));
  const Dim all = program_.types[edge.producer].coordinates[r].extent - Dim(1);
  result.whole = AXON_RULE(union_from_start, cheaply(program_, facts, shape::at_most(first, Dim(0)))) &&
                 AXON_RULE(union_to_end, cheaply(program_, facts, shape::at_least(last, all)));
  return result;
}

bool HappensBefore::is_whole(const Ranges& ranges, TaskTypeId earlier) const {
  const auto& grid = program_.types[earlier].coordinates;
  for (size_t c = 0; c < grid.size(); ++c)
    if (AXON_RULE(whole_unknown, !ranges[c]) ||
        AXON_RULE(whole_not_all, !equal(*ranges[c], whole(grid[c].extent))))
      return false;
  return true;
}

bool HappensBefore::ordered_whole(TaskTypeId later, TaskTypeId earlier, const Distance& distance) const {
  return any_chain(later, earlier, distance, false,
                   [&](const Chain& chain) { return is_whole(chain.ranges(), earlier); });
}

void HappensBefore::each_whole(TaskTypeId later, TaskTypeId like, const Distance& distance, size_t waits,
                               const Whole& found) const {
  Types told;
  const auto reaches = [&](const std::vector<State>& states, const State& reached) {
    const bool same_loops =
        AXON_RULE(whole_same_loops, program_.types[reached.type].loops == program_.types[like].loops);
    if (!same_loops || told.contains(reached.type.index) || !is_whole(reached.finished, reached.type))
      return false;
    told.insert(reached.type.index);
    found(reached.type, [&] { return chain_to(states, reached); });
    return false;
  };
  search(later, like, distance, false, nullptr, waits, reaches);
}

}  // namespace axon::task
