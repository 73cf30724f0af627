// The tasks of a simulated launch, and which of them may run next.
//
// In: every task, iteration by iteration in the order of the program's loops. Out: tasks in a random order in
// which each comes after what it waits for, as far as the caller says what that is. A cell of a type's grid
// runs its iterations in order: that the cell has finished one is what other tasks can wait for.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "task/task.h"

namespace axon::task {

/// One task: type, iteration of its loops, coordinates.
struct SimulatedTask {
  TaskTypeId type;
  std::vector<int64_t> iteration, coordinates;
  int64_t order = 0;  ///< number of the iteration among those of its type
  /// Of loops with a condition: the steps of the run that it stands in or behind, and of the next one.
  std::vector<int64_t> steps, next_steps;
};

/// Calls `f` at every point of the inclusive box until it is false; true where it never was.
bool for_box(const std::vector<int64_t>& low, const std::vector<int64_t>& high,
             const std::function<bool(const std::vector<int64_t>&)>& f);

class SimulatedOrder {
 public:
  /// In place of a loop's index: the iteration that is the last one, whatever its number.
  static constexpr int64_t any_last = INT64_MAX;
  /// What a task waits for: that a cell of a grid has finished an iteration.
  struct Requirement {
    TaskTypeId type;
    size_t cell;
    int64_t order;
  };

  explicit SimulatedOrder(uint64_t seed) : random_(seed) {}

  /// The tasks of one iteration, which differ in nothing but coordinates below `extents`. Iterations of one
  /// type are added in order.
  void add(const SimulatedTask& like, const std::vector<int64_t>& extents);

  /// `missing`: the first thing that a task still waits for; nothing where it is ready. `execute` runs a
  /// task; false stops the launch. What is returned never became ready: one of those tasks, and how many
  /// there are.
  struct Waiting {
    const SimulatedTask* one = nullptr;
    size_t count = 0;
  };
  Waiting run(const std::function<std::optional<Requirement>(const SimulatedTask&)>& missing,
              const std::function<bool(const SimulatedTask&)>& execute);

  /// Of the last iteration that was added; nullptr where the type has no task, as in a loop that runs zero
  /// times.
  const std::vector<int64_t>* extents(TaskTypeId) const;
  /// The cell of a type's grid at coordinates within its extents.
  size_t cell(TaskTypeId, const std::vector<int64_t>& coordinates) const;
  /// The number of the last iteration up to the one wanted; -1: there is none. One that never comes has a
  /// number that is never reached.
  int64_t number_of(TaskTypeId, const std::vector<int64_t>& wanted) const;
  bool has_finished(const Requirement& r) const { return grids_.at(r.type).done[r.cell] >= r.order; }

 private:
  struct Blocked {
    size_t task;
    int64_t order;  ///< of the iteration that it waits for
  };
  struct Grid {
    std::vector<int64_t> extents;
    std::vector<std::vector<int64_t>> iterations;  ///< in order
    std::vector<int64_t> done;                     ///< by cell: last finished iteration, -1 before
    std::vector<std::vector<Blocked>> blocked;     ///< by cell: the tasks that wait for it
  };

  size_t draw();
  void finish(const SimulatedTask&);
  const SimulatedTask& first_blocked() const;

  std::mt19937_64 random_;
  std::vector<SimulatedTask> tasks_;
  std::vector<size_t> unblocked_;  ///< tasks that have not run and of which it is not known that they wait
  std::map<TaskTypeId, Grid> grids_;
};

}  // namespace axon::task
