// Which of a segment's tasks a worker takes, and in which order: the one rule that the planner's model, its
// proof and the emitted code share.
#pragma once
#include <algorithm>

#include "task/task.h"

namespace axon::plan {

/// Returns the first of a segment's `tasks` that a worker takes; it takes those before the first task of the
/// next worker. A single task is worker 0's, which is the thread that launches: it begins while others wake,
/// and has not to be woken when a single task ends.
inline task::Dim first_task(const task::Dim& tasks, const task::Dim& worker, const task::Dim& workers) {
  return cdiv(tasks * worker, workers);
}
/// The same of numbers.
inline int64_t first_task(int64_t tasks, int64_t worker, int64_t workers) {
  return (tasks * worker + workers - 1) / workers;
}

/// Replaces first_task for segments that are shared from the other end (Line::from_end): where tasks do not
/// divide evenly, the workers that first_task gives one more have one less, if they are at most half.
inline task::Dim first_task_from_end(const task::Dim& tasks, const task::Dim& worker,
                                     const task::Dim& workers) {
  return floor_div(tasks * worker, workers);
}
inline int64_t first_task_from_end(int64_t tasks, int64_t worker, int64_t workers) {
  return tasks * worker / workers;
}

/// Do the tasks of a line run side by side, one to a worker?
inline bool runs_side_by_side(int64_t whole, int64_t workers) { return whole <= workers; }
inline task::Fact runs_side_by_side(const task::Dim& whole, const task::Dim& workers) {
  return shape::at_most(whole, workers);
}
/// Replaces first_task for segments of a line that runs side by side: worker w takes the task with number w
/// of the line, if that is one of this segment.
inline task::Dim first_task_in_line(const task::Dim& tasks, const task::Dim& before,
                                    const task::Dim& worker) {
  return shape::max(shape::min(worker - before, tasks), task::Dim(0));
}
inline int64_t first_task_in_line(int64_t tasks, int64_t before, int64_t worker) {
  return std::max<int64_t>(std::min(worker - before, tasks), 0);
}

/// Returns the tile of a folded coordinate (Segment::folded) at a position of the grid: at 2 * half tile
/// number `half`, at 2 * half + 1 tile number `half` counted from the last.
inline task::Dim tile_at(const task::Dim& half, bool odd, const task::Dim& extent) {
  return odd ? extent - task::Dim(1) - half : half;
}
inline int64_t tile_at(int64_t position, int64_t extent) {
  return position % 2 != 0 ? extent - 1 - position / 2 : position / 2;
}

}  // namespace axon::plan
