// See verify_time.h.
#include "task/verify_time.h"

#include <algorithm>

namespace axon::task {

Timeline::Timeline(const Program& p) : p_(p) {
  std::vector<LoopId> around;
  walk(p.steps, around);
}

void Timeline::walk(const std::vector<Step>& steps, std::vector<LoopId>& around) {
  for (const Step& step : steps) {
    if (step.task.valid()) {
      position_.emplace(step.task, static_cast<uint32_t>(types_.size()));
      types_.push_back(step.task);
      continue;
    }
    if (has_condition(step.loop) && !around.empty())
      runs_.push_back({graph::steps_var(p_.graph->nodes[p_.loops[step.loop].node]), around});
    around.push_back(step.loop);
    walk(step.body, around);
    around.pop_back();
  }
}

size_t Timeline::shared_loops(TaskTypeId a, TaskTypeId b) const {
  const auto &x = p_.types[a].loops, &y = p_.types[b].loops;
  const auto end = std::mismatch(x.begin(), x.end(), y.begin(), y.end()).first;
  return static_cast<size_t>(end - x.begin());
}

bool Timeline::has_condition(LoopId loop) const {
  return p_.graph->nodes[p_.loops[loop].node].condition.has_value();
}

bool Timeline::is_nested_run(LoopId loop) const {
  return has_condition(loop) && std::any_of(runs_.begin(), runs_.end(), [&](const Run& run) {
           return p_.loops[loop].extent == Dim(run.steps);
         });
}

size_t Timeline::leading(const Wait& wait) const {
  const auto& loops = p_.types[p_.events[wait.event].producer].loops;
  size_t n = wait.iteration.size();
  while (n > 0 && wait.iteration[n - 1] == p_.loops[loops[n - 1]].extent - Dim(1)) --n;
  return n;
}

void add_steps_range(const Dim& steps, std::vector<Fact>& facts) {
  facts.push_back(shape::at_least(steps, Dim(0)));
  facts.push_back(shape::at_most(steps, Dim(graph::step_limit)));
}

}  // namespace axon::task
