// See ordering.h.
#include "task/ordering.h"

#include <algorithm>

#include "task/decided.h"
#include "task/facts.h"

namespace axon::task {

namespace {

constexpr size_t max_states = 4096;

bool equal(const Wait::Range& a, const Wait::Range& b) { return a.first == b.first && a.last == b.last; }

Wait::Range whole(const Dim& extent) { return {Dim(0), extent - Dim(1)}; }

/// Is everything that `b` covers plainly covered by `a`?
bool contains(const Covered& a, const Covered& b, const std::vector<Coordinate>& grid) {
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

std::optional<Lag> lag_of(const Program& p, const Wait& wait) {
  const TaskTypeId producer = p.events[wait.event].producer;
  const auto& loops = p.types[producer].loops;
  if (wait.iteration.size() != loops.size()) return std::nullopt;
  const size_t common = common_loops(p, producer, wait.consumer);
  Lag lag{common, 0, false, 0};
  for (size_t i = 0; i < loops.size(); ++i) {
    const Loop& loop = p.loops[loops[i]];
    if (i < common && lag.distance == 0) {
      const auto distance = (Dim(loop.index) - wait.iteration[i]).constant();
      if (!distance || *distance < 0 || *distance > 1000) return std::nullopt;
      if (*distance > 0) lag = {i, static_cast<int>(*distance), false, 0};
    } else if (wait.iteration[i] != loop.extent - Dim(1)) {
      return std::nullopt;
    }
  }
  return lag;
}

Covered covered_by(const Program& p, const Wait& wait) {
  const auto& event = p.events[wait.event];
  Covered covered;
  for (const auto& c : p.types[event.producer].coordinates) covered.push_back(whole(c.extent));
  for (size_t a = 0; a < event.kept.size(); ++a) covered[event.kept[a]] = wait.box[a];
  return covered;
}

Ordering::Ordering(const Program& program) : program_(program) {
  for (const Wait& wait : program.waits) add(wait);
}

void Ordering::add(const Wait& wait) {
  const auto lag = lag_of(program_, wait);
  Edge edge{wait.consumer, program_.events[wait.event].producer, lag.value_or(Lag{}), {}, lag.has_value()};
  if (lag) edge.covered = covered_by(program_, wait);
  edges_.push_back(std::move(edge));
}

/// One wait further along a chain from `later` that looks for `earlier` at `lag`; nullopt when the wait is
/// of no use there: the producer's iteration might not exist although the pair asked about does, or it
/// stands where the lag does not count.
std::optional<Ordering::State> Ordering::follow(const State& at, size_t e, TaskTypeId later,
                                                TaskTypeId earlier, const Lag& lag,
                                                bool through_empty) const {
  const Edge& edge = edges_[e];
  if (!edge.active || edge.consumer != at.type) return std::nullopt;
  if (at.same_iteration && edge.lag.distance > 0) return std::nullopt;
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
  if (lag.distance > 0 && !inside(lag.level)) return std::nullopt;
  State next{edge.producer, at.distance, at.late, {}, false};
  const size_t common = common_loops(program_, later, earlier);
  if (edge.lag.distance > 0) {
    if (lag.distance > 0 && edge.lag.level == lag.level)
      next.distance += edge.lag.distance;
    else if (edge.lag.level == common && inside(common) && at.distance == 0)
      next.late += edge.lag.distance;
    else
      return std::nullopt;
  }
  if (next.distance > lag.distance || next.late > lag.started) return std::nullopt;
  const Run run = through_empty ? Run::exists : run_of(next, lag, later, earlier);
  if (run == Run::unknown) return std::nullopt;
  next.same_iteration = at.same_iteration || run == Run::last;
  next.covered = compose(later, at, e);
  return next;
}

/// The producer may stand in a loop with a condition whose run, in the iteration that the chain has come to,
/// is perhaps empty (that of the later task is not). Its last iteration of the runs before is then what has
/// been waited for. When the earlier task is in that loop too, this is also its own last iteration up to
/// there, and waits for tasks of the same iteration lead to it; nothing is known of any other iteration.
Ordering::Run Ordering::run_of(const State& at, const Lag& lag, TaskTypeId later, TaskTypeId earlier) const {
  const auto& loops = program_.types[at.type].loops;
  const auto is_in = [&](TaskTypeId type, size_t i) {
    const auto& list = program_.types[type].loops;
    return i < list.size() && list[i] == loops[i];
  };
  const bool moved = at.distance + at.late > 0;
  Run run = Run::exists;
  for (size_t i = lag.level + (lag.distance > 0 || at.late > 0 ? 1 : 0); i < loops.size(); ++i) {
    if (!steps_of(program_, loops[i]) || (!moved && is_in(later, i))) continue;
    if (at.late > 0 || !is_in(earlier, i)) return Run::unknown;
    run = Run::last;
  }
  return run;
}

std::vector<Covered> Ordering::covered(TaskTypeId later, TaskTypeId earlier, const Lag& lag,
                                       bool through_empty) const {
  std::vector<Covered> found;
  std::vector<State> states{{later, 0, 0, {}, false}};
  for (const auto& c : program_.types[later].coordinates)
    states[0].covered.push_back(Wait::Range{c.var, c.var});
  for (size_t next = 0; next < states.size() && states.size() < max_states; ++next) {
    for (size_t e = 0; e < edges_.size(); ++e) {
      auto reached = follow(states[next], e, later, earlier, lag, through_empty);
      if (!reached) continue;
      const auto& grid = program_.types[reached->type].coordinates;
      const bool known = std::any_of(states.begin(), states.end(), [&](const State& s) {
        return s.type == reached->type && s.distance <= reached->distance && s.late <= reached->late &&
               (!s.same_iteration || reached->same_iteration) && contains(s.covered, reached->covered, grid);
      });
      if (reached->type == earlier) found.push_back(reached->covered);
      if (!known) states.push_back(std::move(*reached));
    }
  }
  return found;
}

Covered Ordering::compose(TaskTypeId later, const State& at, size_t e) const {
  const Edge& edge = edges_[e];
  Covered result;
  for (uint32_t r = 0; r < edge.covered.size(); ++r) {
    const auto& range = *edge.covered[r];
    bool known = true;
    for (LoopId l : program_.types[edge.consumer].loops) {
      const Var index = program_.loops[l].index;
      const auto& own = program_.types[later].loops;
      const bool same = at.distance + at.late == 0 && std::find(own.begin(), own.end(), l) != own.end();
      known = known && (same || (!range.first.contains(index) && !range.last.contains(index)));
      if (at.distance + at.late == 0) continue;
      for (Var v : decided_inside(program_, l))
        known = known && !range.first.contains(v) && !range.last.contains(v);
    }
    result.push_back(known ? substituted(at.covered, e, r) : std::nullopt);
  }
  return result;
}

/// The range of one producer coordinate, with what is known of the consumer put in the place of its
/// coordinates.
Coverage Ordering::substituted(const Covered& of_consumer, size_t e, uint32_t r) const {
  const Edge& edge = edges_[e];
  const Wait::Range& range = *edge.covered[r];
  const auto& grid = program_.types[edge.consumer].coordinates;
  const auto mentions = [&](const Coverage& of, uint32_t c) {
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
    const auto movers = std::count_if(edge.covered.begin(), edge.covered.end(),
                                      [&](const Coverage& other) { return mentions(other, c); });
    const Union all = movers == 1 ? union_along(e, r, c) : Union{};
    if (all.whole && equal(*of_consumer[c], whole(grid[c].extent)))
      return whole(program_.types[edge.producer].coordinates[r].extent);
    if (all.direction > 0) high[grid[c].var] = of_consumer[c]->last;
    if (all.direction < 0) low[grid[c].var] = of_consumer[c]->last;
  }
  return Wait::Range{range.first.substitute(low), range.last.substitute(high)};
}

/// Along a consumer coordinate q: when the range at q + 1 begins no later than just after the range at q
/// ends (or ends no earlier than just before that begins), the union from q = a to b has no holes between
/// first(a) and last(b) (first(b) and last(a)).
Ordering::Union Ordering::union_along(size_t e, uint32_t r, uint32_t along) const {
  const auto [it, added] = unions_.try_emplace({e, r, along});
  if (!added) return it->second;
  const Edge& edge = edges_[e];
  const Wait::Range& range = *edge.covered[r];
  const Coordinate& q = program_.types[edge.consumer].coordinates[along];
  const auto facts = both(program_.facts, ranges(program_, edge.consumer));
  auto neighbours = facts;
  neighbours.push_back(shape::less(Dim(q.var) + Dim(1), q.extent));
  const auto at = [&](const Dim& of, const Dim& value) { return of.substitute({{q.var, value}}); };
  const Dim next = Dim(q.var) + Dim(1), end = q.extent - Dim(1);
  Union& result = it->second;
  if (cheaply(program_, neighbours, shape::at_most(at(range.first, next), range.last + Dim(1))))
    result.direction = 1;
  else if (cheaply(program_, neighbours, shape::at_most(range.first, at(range.last, next) + Dim(1))))
    result.direction = -1;
  if (result.direction == 0) return result;
  const Dim first = at(range.first, result.direction > 0 ? Dim(0) : end);
  const Dim last = at(range.last, result.direction > 0 ? end : Dim(0));
  const Dim all = program_.types[edge.producer].coordinates[r].extent - Dim(1);
  result.whole = cheaply(program_, facts, shape::at_most(first, Dim(0))) &&
                 cheaply(program_, facts, shape::at_least(last, all));
  return result;
}

bool Ordering::ordered_whole(TaskTypeId later, TaskTypeId earlier, const Lag& lag) const {
  const auto& grid = program_.types[earlier].coordinates;
  const auto all = covered(later, earlier, lag);
  return std::any_of(all.begin(), all.end(), [&](const Covered& of) {
    for (size_t c = 0; c < grid.size(); ++c)
      if (!of[c] || !equal(*of[c], whole(grid[c].extent))) return false;
    return true;
  });
}

}  // namespace axon::task
