// The plan: which worker runs which tasks in which order, and where temporaries live. Nothing here is a table
// over a sampled shape: everything is arithmetic over sizes, the worker's number and the number of workers.
//
// In: task::Program with events. Out: what module/ emits and what image/ writes into the manifest.
//
// A segment is one task type run over its whole grid: worker w of N takes tasks [T*w/N, T*(w+1)/N), rounded
// up, of the row-major grid of T tasks, or what workers.h says of a line, in ascending order. Where tasks
// cost more the further along an axis they are, its tiles are taken from both ends in turn. Segments follow
// program order; a loop repeats its segments. Waits that do not depend on a segment's coordinates are hoisted
// to its start.
//
// Memory: every temporary has a slot in the arena. A slot begins at or after the ends of the slots that it
// lies above, so it does not overlap them at any sizes. Two slots of which neither lies above the other may
// overlap; then the waits order all accesses to one temporary before all writes to the other. The begin of a
// slot is a maximum of sums of sizes, which the host computes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "plan/schedule.h"
#include "task/task.h"

namespace axon::plan {

using shape::Dim;
using shape::Fact;

/// Consecutive segments that do not wait for each other form a line. If all tasks of the line together are no
/// more than the workers, each worker takes at most one of them, so the segments run in parallel. Otherwise
/// every other segment is shared from the other end, so that of two whose tasks do not divide evenly
/// different workers have one task more (workers.h).
struct Line {
  Dim before;             ///< tasks of the line before the segment's first one
  Dim whole;              ///< tasks of the line
  bool from_end = false;  ///< the segment is shared from the other end
};

struct Segment {
  task::TaskTypeId type;
  std::vector<uint32_t> hoisted;  ///< indices into Program::waits, waited for once, before the first own task
  std::vector<uint32_t> per_task;         ///< waited for before each task
  bool barrier_after = false;             ///< of schedules with barriers
  std::vector<uint32_t> exit_conditions;  ///< numbers of Variant::exit_conditions that its one task computes
  std::vector<uint32_t> data_sizes;       ///< numbers of Variant::data_sizes that its one task computes
  std::optional<Line> line = std::nullopt;  ///< of schedules with lines
  /// The coordinate along which the costs of tasks differ, if there is one. Its tiles are taken in the order
  /// first, last, second, last but one, and so on (workers.h), which balances the load of the workers.
  std::optional<uint32_t> folded = std::nullopt;
};

/// The exit condition of a loop whose trip count depends on the data. It is computed once before the loop and
/// once in each iteration, each time by a task that is the only one of its grid. The worker that ran the task
/// publishes in one word of the event area, before it notifies, whether the next iteration starts: epoch + 2
/// * n
/// + 1, plus 1 if it does, where n is the number of iterations in all runs of the loop so far plus the number
/// of runs. Every worker waits for that word at the start of an iteration. If it reads a larger value than
/// the one it waits for, the iteration has started: no word of the same run follows one that ends the run.
///
/// A nested loop is run several times. So that no worker mistakes a word of the next run for one of its
/// current run, each worker stores in a word of its own that it has left a run, and the first word of the
/// next run is published only after all of them have.
struct ExitCondition {
  task::LoopId loop;
  uint32_t word = 0;   ///< position in Variant::event_offset
  uint32_t check = 0;  ///< what has failed when the limit of steps is reached
  Dim inner;           ///< iterations of the loops inside, per iteration of this one; bounds the epochs used
  std::optional<uint32_t> left =
      std::nullopt;  ///< nested: position in Variant::event_offset of the workers' words
};
/// A data-dependent size (graph::Size::From::data). The worker that ran the task that computes it stores it
/// in the table of sizes and publishes epoch + 1, before it notifies; every worker waits for that word before
/// the first step that mentions the size.
struct DataSize {
  uint32_t size = 0;   ///< position in Graph::sizes
  uint32_t word = 0;   ///< position in Variant::event_offset
  uint32_t check = 0;  ///< what has failed when the value does not lie in 0 .. its bound
};
/// Epochs that one launch may use; the trip counts and sizes that stand in for data-dependent ones in
/// estimates.
constexpr int64_t epoch_limit = int64_t{1} << 28;
constexpr int64_t typical_steps = 16;
constexpr int64_t typical_size = 4096;  ///< of a data-dependent size without a bound
constexpr int64_t most_workers = 1024;  ///< words per nested exit condition: AXON_MOST_WORKERS of the runtime

/// Mirrors task::Step: a segment or a loop.
struct Step {
  std::optional<Segment> segment;
  task::LoopId loop;
  std::vector<Step> body;
  std::vector<uint32_t>
      needs;  ///< numbers of Variant::data_sizes that no earlier step mentions (root steps only)
  std::vector<uint32_t>
      debugs;  ///< numbers of the graph's debugs whose values are complete after this step; a
               ///< launch of a program with debugs has one worker, so nothing overwrites them
};

/// The memory of a temporary. It begins at the end of the last of the slots that it lies above, which come
/// before it in the list, rounded up to slot_alignment.
struct Slot {
  task::BufferId buffer;
  Dim bytes;
  std::vector<uint32_t> above;  ///< numbers of slots, ascending
};
constexpr int64_t slot_alignment = 64;

/// One guarded variant of an entry.
struct Variant {
  std::string symbol;  ///< of the generated function; kernel_symbol() names those of its task types
  task::Program program;
  std::vector<Step> steps;
  std::vector<Slot> slots;
  std::vector<ExitCondition> exit_conditions;
  std::vector<DataSize> data_sizes;
  std::vector<Dim> event_offset;  ///< per event: first word in the event area (one word per producer task);
                                  ///< then one word per exit condition and data-dependent size, then the
                                  ///< workers' words of each nested exit condition
  Dim event_words;                ///< total
  Dim iterations;  ///< epochs that one launch uses up (product of nested trip counts, plus slack)
  Dim work;        ///< estimated total work, in the units of TaskType::work
  Dim handoffs;    ///< number of dependent segments that a launch goes through: synchronisation cost
};

struct Plan {
  const graph::Graph* graph = nullptr;
  std::vector<Variant> variants;  ///< tried in order; the last has no guard
};

Variant from_task(task::Program, const std::string& symbol, Schedule);
/// The function that runs the tasks of one type alone, in all iterations of its loops, as calibration does.
std::string kernel_symbol(const Variant&, task::TaskTypeId);
/// How many tasks the grid of a type has.
Dim tasks_of(const task::TaskType&);
/// Estimated work of all tasks of the type in all iterations of its loops; a loop with a condition counts as
/// `typical_steps`, and of a loop whose iterations differ the one in the middle stands for all.
Dim work_of(const task::Program&, const task::TaskType&);
/// Returns the loops around the consumer, from the innermost out, in which the wait is loop-invariant. A task
/// runs on the same worker in all of their iterations (verify_segments.cpp), so only the first has to wait.
std::vector<task::LoopId> loops_waited_once(const task::Program&, const task::Wait&);
std::string print(const Plan&);
/// Reads print()'s text back. `programs`: those of the variants, in order.
std::optional<Plan> parse(const graph::Graph&, std::vector<task::Program> programs, const std::string& text,
                          std::string& error);

/// Simulated makespan of a variant (typical_steps for a loop with an exit condition, the bound for a
/// data-dependent size) with `workers` workers for concrete sizes, in work units: what schedules are compared
/// by.
double makespan(const Variant&, const shape::Assignment& sizes, int workers, double handoff_cost);

}  // namespace axon::plan
