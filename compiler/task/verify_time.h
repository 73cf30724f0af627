// Time and iterations as the proofs see them. Nothing here is shared with what derives events.
//
// The timestamp of a task is its position in the step tree, with loop indices at the loops. A loop with a
// condition that stands in another loop has a number of steps of its own in every iteration of that one; a
// type speaks of the run that it stands in or behind.
#pragma once
#include <map>
#include <vector>

#include "task/task.h"

namespace axon::task {

class Timeline {
 public:
  explicit Timeline(const Program&);

  /// All types, in program order, and where one stands among them.
  const std::vector<TaskTypeId>& types() const { return types_; }
  uint32_t position(TaskTypeId type) const { return position_.at(type); }
  /// The number of outermost loops that two types stand in together.
  size_t shared_loops(TaskTypeId, TaskTypeId) const;

  /// A loop with a condition inside of others: its number of steps is another one in each of their
  /// iterations.
  struct Run {
    Var steps;
    std::vector<LoopId> around;
  };
  const std::vector<Run>& nested_runs() const { return runs_; }
  bool has_condition(LoopId) const;
  bool is_nested_run(LoopId) const;

  /// The first indices of a wait's iteration that are not just the last of their loop, as those after them
  /// are.
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
