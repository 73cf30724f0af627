// Which of a segment's tasks a worker takes: the one rule that the planner's model, its proof and the emitted
// code share.
#pragma once
#include "task/task.h"

namespace axon::plan {

/// The number of the first task that a worker takes of a segment's `tasks`; its own end where the next
/// worker's begin.
inline task::Dim first_task(const task::Dim& tasks, const task::Dim& worker, const task::Dim& workers) {
  return floor_div(tasks * worker, workers);
}
/// The same of numbers.
inline int64_t first_task(int64_t tasks, int64_t worker, int64_t workers) { return tasks * worker / workers; }

}  // namespace axon::plan
