// In: a task program with events. Out: segments with hoisted waits, arena slots (memory.h), event words, cost
// totals.
#include <algorithm>
#include <map>

#include "base/rule.h"
#include "plan/memory.h"
#include "plan/plan.h"
#include "plan/side_by_side.h"
#include "task/trip_counts.h"

namespace axon::plan {

namespace {

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

/// The exit conditions that a task of the type computes: that of the first or of the next iteration.
std::vector<uint32_t> exit_conditions_of(const Program& p, TaskTypeId type,
                                         const std::vector<ExitCondition>& exit_conditions) {
  std::vector<uint32_t> numbers;
  for (uint32_t d = 0; d < exit_conditions.size(); ++d) {
    const graph::Node& loop = p.graph->nodes[p.loops[exit_conditions[d].loop].node];
    const graph::Carried& condition = loop.carried[*loop.condition];
    const graph::NodeId node = p.types[type].node;
    if (AXON_RULE(exit_first, node == condition.init.node) ||
        AXON_RULE(exit_next, node == condition.result.node))
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

std::vector<Step> steps_of(const Program& p, const std::vector<task::Step>& steps,
                           const ScheduleRules& schedule, const WaitsOf& waits,
                           const std::vector<ExitCondition>& exit_conditions,
                           const std::vector<DataSize>& sizes) {
  std::vector<Step> out;
  for (const task::Step& s : steps) {
    Step step;
    step.debugs = debugs_of(p, s);
    if (s.task.valid()) {
      Segment segment;
      segment.type = s.task;
      segment.barrier_after = schedule.barriers;
      for (uint32_t w : waits_of(waits, s.task))
        (depends_on_coordinates(p, p.waits[w]) ? segment.per_task : segment.hoisted).push_back(w);
      if (schedule.folds) segment.folded = uneven_coordinate(p.types[s.task]);
      segment.exit_conditions = exit_conditions_of(p, s.task, exit_conditions);
      for (uint32_t n = 0; n < sizes.size(); ++n)
        if (AXON_RULE(publishes_size, p.graph->sizes[sizes[n].size].value.node == p.types[s.task].node))
          segment.data_sizes.push_back(n);
      step.segment = std::move(segment);
    } else {
      step.loop = s.loop;
      step.body = steps_of(p, s.body, schedule, waits, exit_conditions, sizes);
    }
    out.push_back(std::move(step));
  }
  return out;
}

/// Iterations of the loops of a type that stand inside of `outer`.
Dim trips_inside(const Program& p, const task::TaskType& t, LoopId outer) {
  Dim trips(1);
  for (auto l = std::find(t.loops.begin(), t.loops.end(), outer) + 1; l != t.loops.end(); ++l)
    trips = AXON_RULE(trips_afresh, task::data_trip_count(p, *l))
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

std::vector<DataSize> data_sizes_of(const Program& p, size_t exit_conditions) {
  std::vector<DataSize> sizes;
  const size_t checks = p.graph->checks.size() + graph::conditional_loops(*p.graph).size();
  for (uint32_t s : graph::data_sizes(*p.graph)) {
    const size_t n = sizes.size();
    sizes.push_back(
        {s, static_cast<uint32_t>(p.events.size() + exit_conditions + n), static_cast<uint32_t>(checks + n)});
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
  const auto& data_sizes = step.segment->data_sizes;  // a bound may mention earlier sizes
  return mentions(p, waits, step.segment->type, size) ||
         std::any_of(data_sizes.begin(), data_sizes.end(), [&](uint32_t n) {
           const graph::Size& computed = p.graph->sizes[v.data_sizes[n].size];
           return computed.var != size && computed.equation.contains(size);
         });
}

void place_needs(const Program& p, const WaitsOf& waits, Variant& v) {
  for (uint32_t n = 0; n < v.data_sizes.size(); ++n)
    for (Step& step : v.steps)
      if (AXON_RULE(needs_size, mentions(p, waits, v, step, p.graph->sizes[v.data_sizes[n].size].var))) {
        step.needs.push_back(n);
        break;
      }
}

std::vector<ExitCondition> exit_conditions_of(const Program& p) {
  std::vector<ExitCondition> exit_conditions;
  const auto conditional = graph::conditional_loops(*p.graph);
  for (uint32_t l = 0; l < p.loops.size(); ++l) {
    const auto at = std::find(conditional.begin(), conditional.end(), p.loops[LoopId{l}].node);
    if (AXON_RULE(exit_none, at == conditional.end())) continue;
    ExitCondition exit{
        LoopId{l}, static_cast<uint32_t>(p.events.size() + exit_conditions.size()),
        static_cast<uint32_t>(p.graph->checks.size() + static_cast<size_t>(at - conditional.begin())),
        Dim(1)};
    for (const auto& type : p.types)
      if (AXON_RULE(exit_inside,
                    std::find(type.loops.begin(), type.loops.end(), exit.loop) != type.loops.end()))
        exit.inner = shape::max(exit.inner, trips_inside(p, type, exit.loop));
    exit_conditions.push_back(std::move(exit));
  }
  return exit_conditions;
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
  v.slots = place_temporaries(program);  // first of all: it may add waits
  v.exit_conditions = exit_conditions_of(program);
  v.data_sizes = data_sizes_of(program, v.exit_conditions.size());
  const WaitsOf waits = waits_by_consumer(program);
  const ScheduleRules& rules = rules_of(schedule);
  v.steps = steps_of(program, program.steps, rules, waits, v.exit_conditions, v.data_sizes);
  place_needs(program, waits, v);
  if (rules.lines) run_side_by_side(program, v.steps);
  for (const auto& event : program.events) {
    v.event_offset.push_back(v.event_words);
    v.event_words = v.event_words + tasks_of(program.types[event.producer]);
  }
  for (size_t n = 0; n < v.exit_conditions.size() + v.data_sizes.size(); ++n) {
    v.event_offset.push_back(v.event_words);
    v.event_words = v.event_words + Dim(1);
  }
  for (ExitCondition& exit : v.exit_conditions) {
    if (AXON_RULE(exit_nested, task::is_nested(program, exit.loop))) {
      exit.left = static_cast<uint32_t>(v.event_offset.size());
      v.event_offset.push_back(v.event_words);
      v.event_words = v.event_words + Dim(most_workers);
      v.iterations = shape::max(v.iterations, Dim(epoch_limit));
      continue;
    }
    v.iterations = shape::max(v.iterations, Dim(2 * graph::step_limit + 2));
    v.iterations =
        shape::max(v.iterations, shape::min(exit.inner * Dim(graph::step_limit), Dim(epoch_limit)));
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
