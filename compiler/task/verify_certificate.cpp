// See verify_certificate.h.
//
// What one link says. Tasks q of type Q with coordinates in some ranges have finished, in all their
// iterations up to some; each of them has waited for tasks of R. Let r be a task of R in the entry's ranges,
// in an existing iteration that the entry speaks of. It has finished if there is such a q that waited for it:
//   iteration   the last one known of Q, if it exists; R has then run through what the wait names in it. Or,
//               when the wait is for the same iteration of loops around both, that of r itself.
//   coordinates where Q is known at one value, that one; where the value is not known, any (the entry must be
//               right for each); over a range, the first value, or, when only one coordinate of R depends on
//               it, the value whose awaited range r lies in: neighbouring ranges touch, so there is one.
#include "task/verify_certificate.h"

#include <algorithm>

#include "task/facts.h"

namespace axon::task {

namespace {

Var fresh(Var v) { return shape::fresh_var(shape::var_name(v) + "'"); }

bool mentions(const Wait::Range& range, Var v) { return range.first.contains(v) || range.last.contains(v); }

Wait::Range substitute(const Wait::Range& range, const shape::Substitution& by) {
  return {range.first.substitute(by), range.last.substitute(by)};
}

}  // namespace

bool Certificate::follows(uint32_t entry) const {
  const Finished& f = p_.certificate[entry];
  if (!is_well_formed(f) || (f.after && *f.after >= entry)) return false;
  const Waiting from = waiting(f);
  if (p_.waits[f.wait].consumer != from.type) return false;
  for (const auto& iteration : {last_iteration(f, from), same_iteration(f, from)})
    if (iteration && follows_in(f, from, *iteration)) return true;
  return false;
}

bool Certificate::is_well_formed(const Finished& f) const {
  if (f.wait >= p_.waits.size()) return false;
  const TaskType& producer = p_.types[f.producer];
  if (f.after && p_.certificate[*f.after].consumer != f.consumer) return false;
  return p_.events[p_.waits[f.wait].event].producer == f.producer &&
         f.ranges.size() == producer.coordinates.size() && f.through.size() <= producer.loops.size();
}

Certificate::Waiting Certificate::waiting(const Finished& f) const {
  if (f.after) {
    const Finished& before = p_.certificate[*f.after];
    return {before.producer, before.ranges, before.through, before.guard, false};
  }
  Waiting own{f.consumer, {}, {}, {}, true};
  for (const Coordinate& c : p_.types[f.consumer].coordinates)
    own.ranges.push_back(Wait::Range{c.var, c.var});
  for (LoopId l : p_.types[f.consumer].loops) own.through.push_back(p_.loops[l].index);
  return own;
}

/// The last iteration that is known of the waiting type: the indices it is known through, then the ends of
/// the loops inside. Where a loop's number of steps is decided by the data, there is no telling its end.
std::optional<Certificate::Iteration> Certificate::last_iteration(const Finished& f,
                                                                  const Waiting& from) const {
  Iteration at;
  const auto& loops = p_.types[from.type].loops;
  const auto& own = p_.types[f.consumer].loops;
  auto facts = both(both(p_.facts, ranges(p_, f.consumer)), f.guard);
  bool current = true;  // so far it is the consumer's own iteration
  for (size_t b = 0; b < loops.size(); ++b) {
    const Loop& loop = p_.loops[loops[b]];
    if (b < from.through.size()) {
      const Dim& index = from.through[b];
      const bool same = b < own.size() && own[b] == loops[b] && index == Dim(loop.index);
      if (!same && !(current || !time_.is_nested_run(loops[b]))) return std::nullopt;
      if (!same && !(cheaply(p_, facts, shape::at_least(index, Dim(0))) &&
                     cheaply(p_, facts, shape::less(index, loop.extent))))
        return std::nullopt;
      if (same && !current && time_.is_nested_run(loops[b])) return std::nullopt;
      at.names[loop.index] = index;
      current = current && same;
    } else {
      if (time_.has_condition(loops[b])) return std::nullopt;
      at.names[loop.index] = loop.extent - Dim(1);
      current = false;
    }
  }
  rename_runs(at);
  const Wait& wait = p_.waits[f.wait];
  for (size_t b = 0; b < time_.leading(wait); ++b)
    at.through.push_back(wait.iteration[b].substitute(at.names));
  const auto& awaited = p_.types[f.producer].loops;
  while (!at.through.empty() && at.through.back() == p_.loops[awaited[at.through.size() - 1]].extent - Dim(1))
    at.through.pop_back();
  add_awaited(f, 0, at);
  facts = both(std::move(facts), at.facts);
  for (size_t b = from.through.size(); b < loops.size(); ++b)
    if (!cheaply(p_, facts, shape::at_least(p_.loops[loops[b]].extent, Dim(1)))) return std::nullopt;
  return at;
}

/// The iteration of the awaited task itself, in the loops around both types that the wait names: any that the
/// entry speaks of.
std::optional<Certificate::Iteration> Certificate::same_iteration(const Finished& f,
                                                                  const Waiting& from) const {
  const Wait& wait = p_.waits[f.wait];
  const size_t count = time_.leading(wait);
  if (from.itself || from.through.size() > count || count > time_.shared_loops(from.type, f.producer))
    return std::nullopt;
  Iteration at;
  const auto& loops = p_.types[from.type].loops;
  for (size_t b = 0; b < count; ++b)
    if (wait.iteration[b] != Dim(p_.loops[loops[b]].index)) return std::nullopt;
  for (LoopId l : loops) at.names[p_.loops[l].index] = fresh(p_.loops[l].index);
  rename_runs(at);
  at.through = from.through;
  add_awaited(f, count, at);
  const auto facts = both(both(both(p_.facts, ranges(p_, f.consumer)), f.guard), at.facts);
  for (size_t b = count; b < loops.size(); ++b) {
    const Loop& loop = p_.loops[loops[b]];
    if (time_.has_condition(loops[b]) || !cheaply(p_, facts, shape::at_least(loop.extent, Dim(1))))
      return std::nullopt;
    at.facts.push_back(shape::at_least(at.names.at(loop.index), Dim(0)));
    at.facts.push_back(shape::less(at.names.at(loop.index), loop.extent));
  }
  return at;
}

/// Numbers of steps in another iteration of the loops around are other numbers.
void Certificate::rename_runs(Iteration& at) const {
  for (const Timeline::Run& run : time_.nested_runs()) {
    const bool current = std::all_of(run.around.begin(), run.around.end(), [&](LoopId l) {
      const auto name = at.names.find(p_.loops[l].index);
      return name != at.names.end() && name->second == Dim(p_.loops[l].index);
    });
    if (current) continue;
    at.names[run.steps] = fresh(run.steps);
    add_steps_range(at.names[run.steps], at.facts);
  }
}

/// The awaited task stands in an iteration that exists and that the entry speaks of. In its first `same`
/// loops that is the one which the waiting task stands in.
void Certificate::add_awaited(const Finished& f, size_t same, Iteration& at) const {
  const auto& loops = p_.types[f.producer].loops;
  shape::Substitution steps;
  for (const Timeline::Run& run : time_.nested_runs()) {
    const bool one =
        run.around.size() <= same && std::equal(run.around.begin(), run.around.end(), loops.begin());
    steps[run.steps] = one ? at.names.at(run.steps) : Dim(fresh(run.steps));
    if (!one) add_steps_range(steps[run.steps], at.facts);
  }
  for (size_t b = 0; b < loops.size(); ++b) {
    const Loop& loop = p_.loops[loops[b]];
    const Dim index = b < same ? at.names.at(loop.index) : Dim(fresh(loop.index));
    at.facts.push_back(shape::at_least(index, Dim(0)));
    at.facts.push_back(shape::less(index, loop.extent.substitute(steps)));
    at.facts.push_back(shape::at_least(loop.extent.substitute(steps), Dim(1)));
    if (b == 0 && !at.through.empty()) at.facts.push_back(shape::at_most(index, at.through[0]));
  }
}

bool Certificate::follows_in(const Finished& f, const Waiting& from, const Iteration& at) const {
  // A loop of constant size without an iteration: there is no task that would have to have finished.
  const auto never = [&](const Fact& fact) {
    return (fact.rhs - fact.lhs).constant() && !cheaply(p_, {}, fact);
  };
  if (std::any_of(at.facts.begin(), at.facts.end(), never)) return true;
  if (f.through != at.through) return false;
  const auto facts = both(both(both(p_.facts, ranges(p_, f.consumer)), f.guard), at.facts);
  for (const Fact& fact : from.guard)
    if (!cheaply(p_, facts, fact)) return false;
  for (const Fact& fact : p_.waits[f.wait].guard)
    if (!cheaply(p_, facts, {fact.lhs.substitute(at.names), fact.relation, fact.rhs.substitute(at.names)}))
      return false;
  return ranges_follow(f, from, at, facts);
}

bool Certificate::ranges_follow(const Finished& f, const Waiting& from, const Iteration& at,
                                std::vector<Fact> facts) const {
  const auto& grid = p_.types[from.type].coordinates;
  const auto& awaited_grid = p_.types[f.producer].coordinates;
  shape::Substitution point = at.names;
  std::vector<Swept> swept;
  for (uint32_t c = 0; c < grid.size(); ++c) {
    if (!from.ranges[c]) {
      const Dim any = fresh(grid[c].var);
      point[grid[c].var] = any;
      facts.push_back(shape::at_least(any, Dim(0)));
      facts.push_back(shape::less(any, grid[c].extent));
      continue;
    }
    point[grid[c].var] = from.ranges[c]->first;
    if (from.ranges[c]->first != from.ranges[c]->last) swept.push_back({c, *from.ranges[c]});
  }
  const auto users = [&](Var coordinate) {
    std::vector<uint32_t> list;
    for (uint32_t r = 0; r < awaited_grid.size(); ++r)
      if (f.ranges[r] && mentions(awaited(p_.waits[f.wait], r), coordinate)) list.push_back(r);
    return list;
  };
  for (uint32_t r = 0; r < awaited_grid.size(); ++r) {
    if (!f.ranges[r]) continue;
    const Wait::Range range = awaited(p_.waits[f.wait], r);
    const Wait::Range here = substitute(range, point);
    std::vector<Swept> along;
    for (const Swept& s : swept)
      if (mentions(range, grid[s.coordinate].var)) along.push_back(s);
    if (is_part(*f.ranges[r], here, awaited_grid[r].extent, facts)) continue;
    if (along.size() != 1 || users(grid[along[0].coordinate].var).size() != 1) return false;
    const int direction = touching(f.wait, r, along[0].coordinate);
    if (direction == 0) return false;
    auto end = point;
    end[grid[along[0].coordinate].var] = along[0].range.last;
    const Wait::Range there = substitute(range, end);
    const Wait::Range all =
        direction > 0 ? Wait::Range{here.first, there.last} : Wait::Range{there.first, here.last};
    if (!is_part(*f.ranges[r], all, awaited_grid[r].extent, facts)) return false;
  }
  return true;
}

/// A range that is not empty and lies in another one, which is not empty and lies in the grid.
bool Certificate::is_part(const Wait::Range& inner, const Wait::Range& outer, const Dim& extent,
                          const std::vector<Fact>& facts) const {
  if (inner.first == outer.first && inner.last == outer.last) return true;
  return is_in_grid(inner, extent, facts) &&
         (inner.first == outer.first || cheaply(p_, facts, shape::at_most(outer.first, inner.first))) &&
         (inner.last == outer.last || cheaply(p_, facts, shape::at_most(inner.last, outer.last)));
}

/// Inside the grid and not empty, so that its first value stands for a task. Grids are never empty.
bool Certificate::is_in_grid(const Wait::Range& range, const Dim& extent,
                             const std::vector<Fact>& facts) const {
  if (range.first.is(0) && range.last == extent - Dim(1)) return true;
  return holds(p_, facts, shape::at_least(range.first, Dim(0))) &&
         holds(p_, facts, shape::at_most(range.first, range.last)) &&
         holds(p_, facts, shape::less(range.last, extent));
}

Wait::Range Certificate::awaited(const Wait& wait, uint32_t coordinate) const {
  const Event& event = p_.events[wait.event];
  const auto kept = std::find(event.kept.begin(), event.kept.end(), coordinate);
  if (kept != event.kept.end()) return wait.box[static_cast<size_t>(kept - event.kept.begin())];
  return {Dim(0), p_.types[event.producer].coordinates[coordinate].extent - Dim(1)};
}

int Certificate::touching(uint32_t w, uint32_t r, uint32_t along) const {
  const auto [it, added] = touching_.try_emplace({w, r, along}, 0);
  if (!added) return it->second;
  const Wait& wait = p_.waits[w];
  const Coordinate& q = p_.types[wait.consumer].coordinates[along];
  auto facts = both(p_.facts, ranges(p_, wait.consumer));
  facts.push_back(shape::less(Dim(q.var) + Dim(1), q.extent));
  const Wait::Range here = awaited(wait, r), next = substitute(here, {{q.var, Dim(q.var) + Dim(1)}});
  const auto always = [&](const Dim& small, const Dim& large) {
    return cheaply(p_, facts, shape::at_most(small, large));
  };
  if (always(next.first, here.last + Dim(1)) && always(here.last, next.last))
    it->second = 1;
  else if (always(here.first, next.last + Dim(1)) && always(next.last, here.last))
    it->second = -1;
  return it->second;
}

}  // namespace axon::task
