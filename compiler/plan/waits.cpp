// What of a program's waits and grids the planner, the printer and the emitted code ask alike.
#include <algorithm>

#include "base/contains.h"
#include "plan/plan.h"

namespace axon::plan {

Dim tasks_of(const task::TaskType& type) {
  Dim tasks(1);
  for (const auto& c : type.coordinates) tasks = tasks * c.extent;
  return tasks;
}

std::vector<task::LoopId> loops_waited_once(const task::Program& p, const task::Wait& wait) {
  const auto& producer = p.types[p.events[wait.event].producer].loops;
  std::vector<shape::Var> mentioned;
  const auto mention = [&](const Dim& d) { d.collect_vars(mentioned); };
  for (const auto& range : wait.box) mention(range.first), mention(range.last);
  for (const Dim& index : wait.iteration) mention(index);
  for (const shape::Fact& fact : wait.guard) mention(fact.lhs), mention(fact.rhs);
  std::vector<task::LoopId> loops = p.types[wait.consumer].loops;
  std::reverse(loops.begin(), loops.end());
  const auto changes = [&](task::LoopId l) {
    return base::contains(producer, l) || base::contains(mentioned, p.loops[l].index);
  };
  loops.erase(std::find_if(loops.begin(), loops.end(), changes), loops.end());
  return loops;
}

}  // namespace axon::plan
