// In: a task program with events. Out: segments with hoisted waits, arena slots, event words, cost totals.
//
// Memory reuse: temporaries share a slot only when their lives follow each other: every task that touches one
// is ordered, by the waits that exist, after every task that touches the one before it in the slot, and
// around the back edge of a loop every task of the first after every task of the last. Grids are never empty,
// so all others are ordered through those between. No wait is ever added for the sake of reuse; the chains of
// waits that it relies on are, to the program's certificate.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "base/rule.h"
#include "base/work.h"
#include "plan/plan.h"
#include "plan/side_by_side.h"
#include "task/certificate.h"
#include "task/decided.h"
#include "task/happens_before.h"

namespace axon::plan {

namespace {

using task::BufferId;
using task::LoopId;
using task::Program;
using task::TaskTypeId;
using task::Wait;

bool depends_on_coordinates(const Program& p, const Wait& wait) {
  for (const auto& c : p.types[wait.consumer].coordinates)
    for (const auto& range : wait.box)
      if (AXON_RULE(hoist_first, range.first.contains(c.var)) ||
          AXON_RULE(hoist_last, range.last.contains(c.var)))
        return true;
  return false;
}

/// Debugged values that this step computes.
std::vector<uint32_t> debugs_of(const Program& p, const task::Step& step) {
  std::vector<uint32_t> numbers;
  const auto& debugs = p.graph->debugs;
  for (uint32_t d = 0; d < debugs.size(); ++d) {
    const graph::NodeId node = debugs[d].value.node;
    if (step.task.valid() ? p.types[step.task].node == node
                          : p.graph->nodes[node].op == graph::NodeOp::loop &&
                                p.graph->nodes[node].index.var == p.loops[step.loop].index)
      numbers.push_back(d);
  }
  return numbers;
}

/// The decisions that a task of the type makes: it computes the condition of the first or the next iteration.
std::vector<uint32_t> decided_by(const Program& p, TaskTypeId type, const std::vector<Decision>& decisions) {
  std::vector<uint32_t> numbers;
  for (uint32_t d = 0; d < decisions.size(); ++d) {
    const graph::Node& loop = p.graph->nodes[p.loops[decisions[d].loop].node];
    const graph::Carried& condition = loop.carried[*loop.condition];
    const graph::NodeId node = p.types[type].node;
    if (AXON_RULE(decides_first, node == condition.init.node) ||
        AXON_RULE(decides_next, node == condition.result.node))
      numbers.push_back(d);
  }
  return numbers;
}

/// The numbers of the waits, by the type whose tasks wait.
using WaitsOf = std::map<TaskTypeId, std::vector<uint32_t>>;

WaitsOf waits_by_consumer(const Program& p) {
  WaitsOf waits;
  for (uint32_t w = 0; w < p.waits.size(); ++w) waits[p.waits[w].consumer].push_back(w);
  return waits;
}

const std::vector<uint32_t>& waits_of(const WaitsOf& waits, TaskTypeId type) {
  static const std::vector<uint32_t> none;
  const auto found = waits.find(type);
  return found == waits.end() ? none : found->second;
}

/// At typical sizes, do tasks a quarter and three quarters along the coordinate differ in work by a tenth?
/// The keys of a causal mask grow all along, those of a window only where it begins.
bool is_uneven(const task::TaskType& type, const task::Coordinate& coordinate) {
  if (!type.work.contains(coordinate.var)) return false;
  shape::Assignment values;
  for (shape::Var v : type.work.vars()) values[v] = typical_size;
  for (shape::Var v : coordinate.extent.vars()) values[v] = typical_size;
  for (const task::Coordinate& c : type.coordinates) values[c.var] = 0;
  const int64_t tiles = coordinate.extent.evaluate(values).value_or(0);
  const auto work_at = [&](int64_t tile) {
    values[coordinate.var] = tile;
    return static_cast<double>(type.work.evaluate(values).value_or(0));
  };
  const auto [least, most] = std::minmax({work_at(tiles / 4), work_at(3 * tiles / 4)});
  return most > 1.1 * least;
}

std::optional<uint32_t> uneven_coordinate(const task::TaskType& type) {
  for (uint32_t c = 0; c < type.coordinates.size(); ++c)
    if (AXON_RULE(fold_uneven, is_uneven(type, type.coordinates[c]))) return c;
  return std::nullopt;
}

std::vector<Step> steps_of(const Program& p, const std::vector<task::Step>& steps, Schedule schedule,
                           const WaitsOf& waits, const std::vector<Decision>& decisions,
                           const std::vector<SizeDecision>& sizes) {
  std::vector<Step> out;
  for (const task::Step& s : steps) {
    Step step;
    step.debugs = debugs_of(p, s);
    if (s.task.valid()) {
      Segment segment;
      segment.type = s.task;
      segment.barrier_after = schedule == Schedule::barrier;
      for (uint32_t w : waits_of(waits, s.task))
        (depends_on_coordinates(p, p.waits[w]) ? segment.per_task : segment.hoisted).push_back(w);
      segment.folded = uneven_coordinate(p.types[s.task]);
      segment.decides = decided_by(p, s.task, decisions);
      for (uint32_t n = 0; n < sizes.size(); ++n)
        if (AXON_RULE(settles_size, p.graph->sizes[sizes[n].size].value.node == p.types[s.task].node))
          segment.settles.push_back(n);
      step.segment = std::move(segment);
    } else {
      step.loop = s.loop;
      step.body = steps_of(p, s.body, schedule, waits, decisions, sizes);
    }
    out.push_back(std::move(step));
  }
  return out;
}

/// Who touches each buffer, in program order.
std::map<BufferId, std::vector<TaskTypeId>> touches_of(const Program& p) {
  std::map<BufferId, std::vector<TaskTypeId>> touches;
  const std::function<void(const std::vector<task::Step>&)> walk = [&](const std::vector<task::Step>& steps) {
    for (const auto& s : steps) {
      if (s.task.valid())
        for (const auto& access : p.types[s.task].accesses) {
          auto& list = touches[access.buffer];
          if (list.empty() || list.back() != s.task) list.push_back(s.task);
        }
      walk(s.body);
    }
  };
  walk(p.steps);
  return touches;
}

class MemoryPlan {
 public:
  explicit MemoryPlan(Program& p) : p_(p), happens_before_(p), certificate_(p), touches_(touches_of(p)) {
    for (const auto& [value, place] : p.places)
      if (place.slot) slotted_.insert(place.buffer);
  }

  std::vector<Slot> run() {
    for (const BufferId id : temporaries()) put(id);
    for (const Slot& slot : slots_) note_needed(slot.buffers);
    certify();
    return std::move(slots_);
  }

 private:
  /// In the order of their tasks; those that nothing touches last.
  std::vector<BufferId> temporaries() const {
    std::vector<BufferId> list;
    for (uint32_t b = 0; b < p_.buffers.size(); ++b)
      if (!AXON_RULE(slot_not_temporary, p_.buffers[BufferId{b}].kind != task::Buffer::Kind::temporary))
        list.push_back({b});
    const auto order = task::program_order(p_);
    const auto begin = [&](BufferId id) {
      const auto touches = touches_.find(id);
      return touches == touches_.end() ? p_.types.size() : order.at(touches->second.front());
    };
    std::stable_sort(list.begin(), list.end(), [&](BufferId a, BufferId b) { return begin(a) < begin(b); });
    return list;
  }

  /// Into the first slot whose last buffer's life ends before this one's begins, else into one of its own.
  void put(BufferId id) {
    const Dim bytes = bytes_of(id);
    for (const size_t s : slots_that_end_before(id)) {
      Slot& slot = slots_[s];
      if (!may_share(slot.buffers.front(), id) || !AXON_RULE(share_before, before(slot.buffers.back(), id)) ||
          !AXON_RULE(share_around, around(slot.buffers.front(), id)))
        continue;
      slot.buffers.push_back(id);
      if (AXON_RULE(slot_grows, true)) slot.bytes = shape::max(slot.bytes, bytes);
      return note_end(s);
    }
    slots_.push_back({{id}, bytes});
    note_end(slots_.size() - 1);
  }

  /// Those whose last buffer is touched by something that runs before a task that touches this one.
  std::set<size_t> slots_that_end_before(BufferId id) const {
    std::set<size_t> slots;
    const auto touches = touches_.find(id);
    if (touches == touches_.end()) return slots;
    const TaskTypeId first = touches->second.front();
    for (const TaskTypeId earlier : before_all_of({first, p_.types[first].loops.size(), 0}))
      if (const auto ends = ends_.find(earlier); ends != ends_.end())
        slots.insert(ends->second.begin(), ends->second.end());
    base::work(slots.size());
    return slots;
  }

  /// A buffer was put at the end of the slot.
  void note_end(size_t s) {
    const auto& buffers = slots_[s].buffers;
    if (buffers.size() > 1)
      for (TaskTypeId type : touching(buffers[buffers.size() - 2])) ends_[type].erase(s);
    if (const auto touches = touches_.find(buffers.back()); touches != touches_.end())
      for (TaskTypeId type : touches->second) ends_[type].insert(s);
  }

  Dim bytes_of(BufferId id) const {
    Dim bytes(base::elem_bytes(p_.buffers[id].elem));
    for (const Dim& d : p_.buffers[id].shape) bytes = bytes * d;
    return bytes;
  }

  const std::vector<TaskTypeId>& touching(BufferId id) const { return touches_.at(id); }

  /// Do both live in the same loops (or none), in one iteration?
  bool may_share(BufferId a, BufferId b) const {
    const auto ta = touches_.find(a), tb = touches_.find(b);
    if (AXON_RULE(share_untouched, ta == touches_.end() || tb == touches_.end())) return false;
    const auto& loops = p_.types[ta->second.front()].loops;
    const auto same_loops = [&](TaskTypeId t) { return p_.types[t].loops == loops; };
    if (AXON_RULE(share_other_loops, !std::all_of(ta->second.begin(), ta->second.end(), same_loops)))
      return false;
    if (AXON_RULE(share_loops_of_other, !std::all_of(tb->second.begin(), tb->second.end(), same_loops)))
      return false;
    return !AXON_RULE(share_slotted, slotted_.contains(a)) &&
           !AXON_RULE(share_with_slotted, slotted_.contains(b));
  }

  /// In one iteration, are all tasks that touch the first before all that touch the second?
  bool before(BufferId first, BufferId second) const {
    return each_pair(first, second, [&](TaskTypeId x, TaskTypeId y) {
      return !AXON_RULE(before_itself, x == y) &&
             !AXON_RULE(before_same_iteration, !ordered({y, p_.types[y].loops.size(), 0}, x));
    });
  }

  /// In the next iteration, are those of the first behind those of the last?
  bool around(BufferId first, BufferId last) const {
    return each_pair(first, last, [&](TaskTypeId x, TaskTypeId y) {
      for (size_t level = 0; level < p_.types[x].loops.size(); ++level)
        if (AXON_RULE(before_next_iteration, !ordered({x, level, 1}, y))) return false;
      return true;
    });
  }

  bool each_pair(BufferId a, BufferId b, const std::function<bool(TaskTypeId, TaskTypeId)>& holds) const {
    for (TaskTypeId x : touching(a))
      for (TaskTypeId y : touching(b)) {
        base::work();
        if (!holds(x, y)) return false;
      }
    return true;
  }

  /// A task type and a distance: of what its tasks run after there.
  struct Place {
    TaskTypeId later;
    size_t level;
    int iterations;
    bool operator<(const Place& o) const {
      return std::tie(later, level, iterations) < std::tie(o.later, o.level, o.iterations);
    }
    task::Distance distance() const { return {level, iterations}; }
  };

  /// The types in the same loops all tasks of which run before.
  const std::set<TaskTypeId>& before_all_of(const Place& place) const {
    const auto [known, is_new] = before_.try_emplace(place);
    if (is_new)
      happens_before_.each_whole(place.later, place.distance(),
                                 [&](TaskTypeId type, const auto&) { known->second.insert(type); });
    return known->second;
  }

  bool ordered(const Place& place, TaskTypeId earlier) const {
    return before_all_of(place).count(earlier) > 0;
  }

  /// Notes what shows that the lives of the buffers of one slot do not meet.
  void note_needed(const std::vector<BufferId>& lives) {
    if (lives.size() < 2) return;
    const size_t loops = p_.types[touching(lives.front()).front()].loops.size();
    for (size_t i = 0; i + 1 < lives.size(); ++i)
      each_pair(lives[i], lives[i + 1], [&](TaskTypeId x, TaskTypeId y) {
        needed_[{y, loops, 0}].insert(x);
        return true;
      });
    each_pair(lives.front(), lives.back(), [&](TaskTypeId x, TaskTypeId y) {
      for (size_t level = 0; level < loops; ++level) needed_[{x, level, 1}].insert(y);
      return true;
    });
  }

  void certify() {
    for (const auto& [place, wanted] : needed_)
      happens_before_.each_whole(place.later, place.distance(), [&](TaskTypeId earlier, const auto& chain) {
        if (wanted.count(earlier) > 0) certificate_.add(place.later, chain());
      });
  }

  Program& p_;
  task::HappensBefore happens_before_;
  task::CertificateWriter certificate_;
  std::map<BufferId, std::vector<TaskTypeId>> touches_;
  std::set<BufferId> slotted_;                   ///< those with a slot for each iteration of a loop
  std::vector<Slot> slots_;                      ///< buffers in the order of their tasks
  std::map<TaskTypeId, std::set<size_t>> ends_;  ///< the slots whose last buffer it touches
  mutable std::map<Place, std::set<TaskTypeId>> before_;
  std::map<Place, std::set<TaskTypeId>> needed_;  ///< what sharing slots relies on
};

/// Iterations of the loops of a type that stand inside of `outer`.
Dim trips_inside(const Program& p, const task::TaskType& t, LoopId outer) {
  Dim trips(1);
  for (auto l = std::find(t.loops.begin(), t.loops.end(), outer) + 1; l != t.loops.end(); ++l)
    trips = AXON_RULE(trips_afresh, task::steps_of(p, *l))
                ? Dim(1)
                : trips * p.loops[*l].extent;  // those start their numbers afresh
  return trips;
}

/// Iterations that a task type runs in; loops with a condition count as `steps`.
Dim trips_of(const Program& p, const task::TaskType& t, int64_t steps) {
  Dim trips(1);
  for (LoopId l : t.loops)
    trips = trips * (p.graph->nodes[p.loops[l].node].condition ? Dim(steps) : p.loops[l].extent);
  return trips;
}

std::vector<SizeDecision> sizes_of(const Program& p, size_t decisions) {
  std::vector<SizeDecision> sizes;
  const size_t checks = p.graph->checks.size() + graph::conditional_loops(*p.graph).size();
  for (uint32_t s : graph::data_sizes(*p.graph)) {
    const size_t n = sizes.size();
    sizes.push_back(
        {s, static_cast<uint32_t>(p.events.size() + decisions + n), static_cast<uint32_t>(checks + n)});
  }
  return sizes;
}

/// Does running the type's tasks, or waiting for what they need, take the value of a size?
bool mentions(const Program& p, const WaitsOf& waits, TaskTypeId id, shape::Var size) {
  const auto in = [&](const Dim& d) { return d.contains(size); };
  const auto in_range = [&](const auto& r) { return in(r.first) || in(r.last); };
  const task::TaskType& type = p.types[id];
  if (AXON_RULE(mention_in_body, graph::mentions(*p.graph, type.node, size))) return true;
  for (const auto& access : type.accesses)
    for (const auto& axis : access.box)
      if (AXON_RULE(mention_in_low, in(axis.low)) || AXON_RULE(mention_in_high, in(axis.high))) return true;
  for (uint32_t w : waits_of(waits, id)) {
    const task::Wait& wait = p.waits[w];
    const auto& grid = p.types[p.events[wait.event].producer].coordinates;
    if (AXON_RULE(mention_in_wait, std::any_of(wait.box.begin(), wait.box.end(), in_range)) ||
        AXON_RULE(mention_in_iteration, std::any_of(wait.iteration.begin(), wait.iteration.end(), in)) ||
        AXON_RULE(mention_in_grid,
                  std::any_of(grid.begin(), grid.end(), [&](const auto& c) { return in(c.extent); })))
      return true;
  }
  return false;
}

bool mentions(const Program& p, const WaitsOf& waits, const Variant& v, const Step& step, shape::Var size) {
  if (!step.segment)
    return p.loops[step.loop].extent.contains(size) ||
           std::any_of(step.body.begin(), step.body.end(),
                       [&](const Step& s) { return mentions(p, waits, v, s, size); });
  const auto& settles = step.segment->settles;  // a bound may mention earlier sizes
  return mentions(p, waits, step.segment->type, size) ||
         std::any_of(settles.begin(), settles.end(), [&](uint32_t n) {
           const graph::Size& settled = p.graph->sizes[v.sizes[n].size];
           return settled.var != size && settled.equation.contains(size);
         });
}

void place_needs(const Program& p, const WaitsOf& waits, Variant& v) {
  for (uint32_t n = 0; n < v.sizes.size(); ++n)
    for (Step& step : v.steps)
      if (AXON_RULE(needs_size, mentions(p, waits, v, step, p.graph->sizes[v.sizes[n].size].var))) {
        step.needs.push_back(n);
        break;
      }
}

std::vector<Decision> decisions_of(const Program& p) {
  std::vector<Decision> decisions;
  const auto conditional = graph::conditional_loops(*p.graph);
  for (uint32_t l = 0; l < p.loops.size(); ++l) {
    const auto at = std::find(conditional.begin(), conditional.end(), p.loops[LoopId{l}].node);
    if (AXON_RULE(decision_none, at == conditional.end())) continue;
    Decision d{LoopId{l}, static_cast<uint32_t>(p.events.size() + decisions.size()),
               static_cast<uint32_t>(p.graph->checks.size() + static_cast<size_t>(at - conditional.begin())),
               Dim(1)};
    for (const auto& type : p.types)
      if (AXON_RULE(decision_inside,
                    std::find(type.loops.begin(), type.loops.end(), d.loop) != type.loops.end()))
        d.inner = shape::max(d.inner, trips_inside(p, type, d.loop));
    decisions.push_back(std::move(d));
  }
  return decisions;
}

}  // namespace

Dim work_of(const Program& p, const task::TaskType& t) {
  Dim work = t.total_work;
  for (size_t i = t.loops.size(); i-- > 0;) {  // the extent of an inner loop may mention outer ones
    const task::Loop& loop = p.loops[t.loops[i]];
    const Dim trips = p.graph->nodes[loop.node].condition ? Dim(typical_steps) : loop.extent;
    work = work.substitute({{loop.index, shape::floor_div(trips, Dim(2))}});
  }
  return work * trips_of(p, t, typical_steps);
}

std::string kernel_symbol(const Variant& v, TaskTypeId type) {
  return v.symbol + "_kernel" + std::to_string(type.index);
}

Variant from_task(Program program, const std::string& symbol, Schedule schedule) {
  Variant v;
  v.symbol = symbol;
  v.decisions = decisions_of(program);
  v.sizes = sizes_of(program, v.decisions.size());
  const WaitsOf waits = waits_by_consumer(program);
  v.steps = steps_of(program, program.steps, schedule, waits, v.decisions, v.sizes);
  place_needs(program, waits, v);
  if (schedule == Schedule::events) run_side_by_side(program, v.steps);
  v.slots = MemoryPlan(program).run();
  for (const auto& event : program.events) {
    v.event_offset.push_back(v.event_words);
    v.event_words = v.event_words + tasks_of(program.types[event.producer]);
  }
  for (size_t n = 0; n < v.decisions.size() + v.sizes.size(); ++n) {
    v.event_offset.push_back(v.event_words);
    v.event_words = v.event_words + Dim(1);
  }
  for (Decision& d : v.decisions) {
    if (AXON_RULE(decision_nested, task::is_nested(program, d.loop))) {
      d.left = static_cast<uint32_t>(v.event_offset.size());
      v.event_offset.push_back(v.event_words);
      v.event_words = v.event_words + Dim(most_workers);
      v.iterations = shape::max(v.iterations, Dim(epoch_limit));
      continue;
    }
    v.iterations = shape::max(v.iterations, Dim(2 * graph::step_limit + 2));
    v.iterations = shape::max(v.iterations, shape::min(d.inner * Dim(graph::step_limit), Dim(epoch_limit)));
  }
  for (const auto& type : program.types) {
    const Dim trips = trips_of(program, type, typical_steps);
    v.iterations = shape::max(v.iterations, trips);
    v.work = v.work + work_of(program, type);
    v.handoffs = v.handoffs + trips;
  }
  v.program = std::move(program);
  return v;
}

}  // namespace axon::plan
