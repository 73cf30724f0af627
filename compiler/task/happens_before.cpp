// See happens_before.h.
#include "task/happens_before.h"

#include <algorithm>

#include "task/decided.h"
#include "task/facts.h"

namespace axon::task {

namespace {

constexpr size_t max_states = 4096;

bool equal(const Wait::Range& a, const Wait::Range& b) { return a.first == b.first && a.last == b.last; }

Wait::Range whole(const Dim& extent) { return {Dim(0), extent - Dim(1)}; }

/// Is everything in `b` plainly in `a`?
bool contains(const Ranges& a, const Ranges& b, const std::vector<Coordinate>& grid) {
  for (size_t c = 0; c < a.size(); ++c) {
    if (!b[c]) continue;
    if (!a[c] || (!equal(*a[c], *b[c]) && !equal(*a[c], whole(grid[c].extent)))) return false;
  }
  return true;
}

}  // namespace

std::map<TaskTypeId, uint32_t> program_order(const Program& p) {
  std::map<TaskTypeId, uint32_t> order;
  const std::function<void(const std::vector<Step>&)> walk = [&](const std::vector<Step>& steps) {
    for (const Step& s : steps) {
      if (s.task.valid()) order.emplace(s.task, static_cast<uint32_t>(order.size()));
      walk(s.body);
    }
  };
  walk(p.steps);
  return order;
}

size_t common_loops(const Program& p, TaskTypeId a, TaskTypeId b) {
  const auto &x = p.types[a].loops, &y = p.types[b].loops;
  size_t n = 0;
  while (n < x.size() && n < y.size() && x[n] == y[n]) ++n;
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
    if (i < common && distance.iterations == 0) {
      const auto back = (Dim(loop.index) - wait.iteration[i]).constant();
      if (!back || *back < 0 || *back > 1000) return std::nullopt;
      if (*back > 0) distance = {i, static_cast<int>(*back), false, 0};
    } else if (wait.iteration[i] != loop.extent - Dim(1)) {
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

HappensBefore::HappensBefore(const Program& program) : program_(program) {
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
  edges_.push_back(std::move(edge));
}

/// One wait further along a chain from `later` that looks for `earlier` at `distance`; nullopt when the wait
/// is of no use there: the producer's iteration might not exist although the pair asked about does, or it
/// stands where the distance does not count.
std::optional<HappensBefore::State> HappensBefore::follow(const State& at, size_t e, TaskTypeId later,
                                                          TaskTypeId earlier, const Distance& distance,
                                                          bool through_empty) const {
  const Edge& edge = edges_[e];
  if (!edge.active || edge.consumer != at.type) return std::nullopt;
  if (at.same_iteration && edge.distance.iterations > 0) return std::nullopt;
  const auto& loops = program_.types[edge.producer].loops;
  const auto &of_later = program_.types[later].loops, &of_earlier = program_.types[earlier].loops;
  const auto among = [](const std::vector<LoopId>& list, LoopId l) {
    return std::find(list.begin(), list.end(), l) != list.end();
  };
  for (LoopId l : loops)
    if (!through_empty && !among(of_later, l) && !among(of_earlier, l))
      return std::nullopt;  // may run zero times
  const auto inside = [&](size_t level) {
    return loops.size() > level && of_later.size() > level && loops[level] == of_later[level];
  };
  if (distance.iterations > 0 && !inside(distance.level)) return std::nullopt;
  State next{edge.producer, at.iterations, at.late, {}, false};
  const size_t common = common_loops(program_, later, earlier);
  if (edge.distance.iterations > 0) {
    if (distance.iterations > 0 && edge.distance.level == distance.level)
      next.iterations += edge.distance.iterations;
    else if (edge.distance.level == common && inside(common) && at.iterations == 0)
      next.late += edge.distance.iterations;
    else
      return std::nullopt;
  }
  if (next.iterations > distance.iterations || next.late > distance.started) return std::nullopt;
  const Run run = through_empty ? Run::exists : run_of(next, distance, later, earlier);
  if (run == Run::unknown) return std::nullopt;
  next.same_iteration = at.same_iteration || run == Run::last;
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
    return i < list.size() && list[i] == loops[i];
  };
  const bool moved = at.iterations + at.late > 0;
  Run run = Run::exists;
  for (size_t i = distance.level + (distance.iterations > 0 || at.late > 0 ? 1 : 0); i < loops.size(); ++i) {
    if (!steps_of(program_, loops[i]) || (!moved && is_in(later, i))) continue;
    if (at.late > 0 || !is_in(earlier, i)) return Run::unknown;
    run = Run::last;
  }
  return run;
}

std::vector<Chain> HappensBefore::chains(TaskTypeId later, TaskTypeId earlier, const Distance& distance,
                                         bool through_empty) const {
  std::vector<Chain> found;
  std::vector<State> states{{later, 0, 0, {}, false}};
  for (const auto& c : program_.types[later].coordinates)
    states[0].finished.push_back(Wait::Range{c.var, c.var});
  for (size_t next = 0; next < states.size() && states.size() < max_states; ++next) {
    for (size_t e = 0; e < edges_.size(); ++e) {
      auto reached = follow(states[next], e, later, earlier, distance, through_empty);
      if (!reached) continue;
      reached->before = next;
      reached->wait = static_cast<uint32_t>(e);
      const auto& grid = program_.types[reached->type].coordinates;
      const bool known = std::any_of(states.begin(), states.end(), [&](const State& s) {
        return s.type == reached->type && s.iterations <= reached->iterations && s.late <= reached->late &&
               (!s.same_iteration || reached->same_iteration) &&
               contains(s.finished, reached->finished, grid);
      });
      if (reached->type == earlier) found.push_back(chain_to(states, *reached));
      if (!known) states.push_back(std::move(*reached));
    }
  }
  return found;
}

Chain HappensBefore::chain_to(const std::vector<State>& states, const State& last) {
  Chain chain;
  for (const State* s = &last;; s = &states[s->before]) {
    chain.waits.insert(chain.waits.begin(), s->wait);
    chain.finished.insert(chain.finished.begin(), s->finished);
    if (s->before == 0) return chain;
  }
}

Ranges HappensBefore::compose(TaskTypeId later, const State& at, size_t e) const {
  const Edge& edge = edges_[e];
  Ranges result;
  const bool same_run = at.iterations + at.late == 0 && !at.same_iteration;
  for (uint32_t r = 0; r < edge.finished.size(); ++r) {
    const auto& range = *edge.finished[r];
    bool known = true;
    for (LoopId l : program_.types[edge.consumer].loops) {
      const Var index = program_.loops[l].index;
      const auto& own = program_.types[later].loops;
      const bool same = same_run && std::find(own.begin(), own.end(), l) != own.end();
      known = known && (same || (!range.first.contains(index) && !range.last.contains(index)));
      if (same_run) continue;
      for (Var v : decided_inside(program_, l))
        known = known && !range.first.contains(v) && !range.last.contains(v);
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
    if (!mentions(range, c)) continue;
    if (!of_consumer[c]) return std::nullopt;
    low[grid[c].var] = high[grid[c].var] = of_consumer[c]->first;
    if (of_consumer[c]->first != of_consumer[c]->last) spread.push_back(c);
  }
  if (spread.size() == 1) {
    // A union over the range, when no other coordinate of the producer moves along with it.
    const uint32_t c = spread[0];
    const auto movers =
        std::count_if(edge.finished.begin(), edge.finished.end(),
                      [&](const std::optional<Wait::Range>& other) { return mentions(other, c); });
    const Union all = movers == 1 ? union_along(e, r, c) : Union{};
    if (all.whole && equal(*of_consumer[c], whole(grid[c].extent)))
      return whole(program_.types[edge.producer].coordinates[r].extent);
    if (all.direction > 0) high[grid[c].var] = of_consumer[c]->last;
    if (all.direction < 0) low[grid[c].var] = of_consumer[c]->last;
  }
  return Wait::Range{range.first.substitute(low), range.last.substitute(high)};
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
  if (always(at(range.first, next), range.last + Dim(1)) && always(range.last, at(range.last, next)))
    result.direction = 1;
  else if (always(range.first, at(range.last, next) + Dim(1)) && always(at(range.last, next), range.last))
    result.direction = -1;
  if (result.direction == 0) return result;
  const Dim first = at(range.first, result.direction > 0 ? Dim(0) : end);
  const Dim last = at(range.last, result.direction > 0 ? end : Dim(0));
  const Dim all = program_.types[edge.producer].coordinates[r].extent - Dim(1);
  result.whole = cheaply(program_, facts, shape::at_most(first, Dim(0))) &&
                 cheaply(program_, facts, shape::at_least(last, all));
  return result;
}

bool HappensBefore::is_whole(const Chain& chain, TaskTypeId earlier) const {
  const auto& grid = program_.types[earlier].coordinates;
  for (size_t c = 0; c < grid.size(); ++c)
    if (!chain.ranges()[c] || !equal(*chain.ranges()[c], whole(grid[c].extent))) return false;
  return true;
}

bool HappensBefore::ordered_whole(TaskTypeId later, TaskTypeId earlier, const Distance& distance) const {
  const auto all = chains(later, earlier, distance);
  return std::any_of(all.begin(), all.end(), [&](const Chain& chain) { return is_whole(chain, earlier); });
}

}  // namespace axon::task
