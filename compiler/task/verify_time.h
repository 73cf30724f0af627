// Time and iterations as the proofs see them. Nothing here is shared with what derives events.
//
// The timestamp of a task is its position in the step tree, with loop indices at the loops. A nested loop
// with an exit condition has another trip count in every iteration of the loops around it. In a task's boxes
// and waits the variable of the trip count means the current run of that loop, or, behind the loop, the
// latest run.
#pragma once
#include <map>
#include <vector>

#include "task/task.h"

namespace axon::task {

class Timeline {
 public:
  explicit Timeline(const Program&);

  /// All types, in program order, and the position of one among them.
  const std::vector<TaskTypeId>& types() const { return types_; }
  uint32_t position(TaskTypeId type) const { return position_.at(type); }
  /// The number of loops around both types.
  size_t shared_loops(TaskTypeId, TaskTypeId) const;

  /// A nested loop with an exit condition, whose trip count changes in each iteration of the loops around it.
  struct Run {
    Var steps;
    std::vector<LoopId> around;
  };
  const std::vector<Run>& nested_runs() const { return runs_; }
  bool has_condition(LoopId) const;
  bool is_nested_run(LoopId) const;

  /// Returns how many leading indices of a wait's iteration are not simply the last iteration of their loop;
  /// all after them are.
  size_t leading(const Wait&) const;

 private:
  void walk(const std::vector<Step>&, std::vector<LoopId>& around);

  const Program& p_;
  std::vector<TaskTypeId> types_;
  std::map<TaskTypeId, uint32_t> position_;
  std::vector<Run> runs_;
};

/// 0 <= steps <= the limit of any loop.
void add_steps_range(const Dim& steps, std::vector<Fact>&);

}  // namespace axon::task
