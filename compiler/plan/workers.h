// Which of a segment's tasks a worker takes, and in which order: the one rule that the planner's model, its
// proof and the emitted code share.
#pragma once
#include <algorithm>

#include "task/task.h"

namespace axon::plan {

/// The number of the first task that a worker takes of a segment's `tasks`; its own end where the next
/// worker's begin.
inline task::Dim first_task(const task::Dim& tasks, const task::Dim& worker, const task::Dim& workers) {
  return floor_div(tasks * worker, workers);
}
/// The same of numbers.
inline int64_t first_task(int64_t tasks, int64_t worker, int64_t workers) { return tasks * worker / workers; }

/// Do the tasks of a line run side by side, one to a worker?
inline bool runs_side_by_side(int64_t whole, int64_t workers) { return whole <= workers; }
inline task::Fact runs_side_by_side(const task::Dim& whole, const task::Dim& workers) {
  return shape::at_most(whole, workers);
}
/// Then this is, in the place of first_task, the first task that a worker takes: the one that stands at its
/// number in the line.
inline task::Dim first_task_in_line(const task::Dim& tasks, const task::Dim& before,
                                    const task::Dim& worker) {
  return shape::max(shape::min(worker - before, tasks), task::Dim(0));
}
inline int64_t first_task_in_line(int64_t tasks, int64_t before, int64_t worker) {
  return std::max<int64_t>(std::min(worker - before, tasks), 0);
}

/// The tile of a folded coordinate (Segment::folded) that stands at a position of the grid: position 2 * half
/// has the tile `half` from the first on, position 2 * half + 1 the tile `half` from the last on.
inline task::Dim tile_at(const task::Dim& half, bool odd, const task::Dim& extent) {
  return odd ? extent - task::Dim(1) - half : half;
}
inline int64_t tile_at(int64_t position, int64_t extent) {
  return position % 2 != 0 ? extent - 1 - position / 2 : position / 2;
}

}  // namespace axon::plan
