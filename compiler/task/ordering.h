// What the waits of a program already imply: the transitive part of "runs after".
//
// A chain of waits C -> Q -> R orders a task of C after those tasks of R that the tasks of Q it waited for
// had waited for. Per coordinate of R that is a range over C's coordinates. Ranges compose by substitution:
// at a point of Q exactly; over a range of Q where neighbouring ranges touch, so that their union is a range
// again; else at one task of Q, for grids and wait boxes are never empty. A task's slot only grows, so
// having seen iteration i of a task means that its earlier iterations are done too.
//
// Sound and incomplete: what it cannot see gets a wait of its own.
#pragma once
#include <map>
#include <tuple>
#include <vector>

#include "task/task.h"

namespace axon::task {

/// Position of every type in program order.
std::map<TaskTypeId, uint32_t> program_order(const Program&);

/// The loops around both types: the common prefix of their loops.
size_t common_loops(const Program&, TaskTypeId, TaskTypeId);

/// Iterations of a producer, seen from one iteration of a consumer: the same in the loops before `level`; in
/// loop `level` `distance` earlier (with `or_more`: at least that many); any in the loops after that. With
/// distance 0, `level` is the number of common loops. The consumer is known to have `started` iterations of
/// its first other loop behind it.
struct Lag {
  size_t level = 0;
  int distance = 0;
  bool or_more = false;
  int started = 0;
};

/// The lag that a wait's iteration expresses: earlier by a constant in one loop, the last iteration in those
/// inside it. nullopt: no such form, and nothing follows from the wait.
std::optional<Lag> lag_of(const Program&, const Wait&);

/// A range of one producer coordinate, all of which is known to have finished; nullopt: some value of it has.
using Coverage = std::optional<Wait::Range>;
using Covered = std::vector<Coverage>;  ///< one per coordinate of the producer

/// What a wait's box says of each coordinate of the producer.
Covered covered_by(const Program&, const Wait&);

class Ordering {
 public:
  explicit Ordering(const Program&);
  /// Takes one more wait into account; waits are numbered as they come.
  void add(const Wait&);
  /// Leaves a wait out of account, or back in.
  void set_active(size_t wait, bool active) { edges_[wait].active = active; }

  /// What has finished of `earlier` before a task of `later` runs: one entry per chain of waits, over the
  /// coordinates of `later`. `through_empty`: also chains through loops that might run zero times.
  std::vector<Covered> covered(TaskTypeId later, TaskTypeId earlier, const Lag&,
                               bool through_empty = false) const;
  /// Has every task of `earlier`?
  bool ordered_whole(TaskTypeId later, TaskTypeId earlier, const Lag&) const;

 private:
  struct Edge {
    TaskTypeId consumer, producer;
    Lag lag;
    Covered covered;  ///< over the consumer's coordinates
    bool active = false;
  };
  struct State {
    TaskTypeId type;
    int distance;  ///< how many iterations before the later task's, in the loop that the lag is about
    int late;      ///< the same in the first loop that only the later task is in
    Covered covered;
    bool same_iteration;  ///< only waits for the same iteration may follow, see run_of
  };
  std::optional<State> follow(const State&, size_t edge, TaskTypeId later, TaskTypeId earlier, const Lag&,
                              bool through_empty) const;
  enum class Run : uint8_t { exists, last, unknown };
  Run run_of(const State&, const Lag&, TaskTypeId later, TaskTypeId earlier) const;
  Covered compose(TaskTypeId later, const State&, size_t edge) const;
  Coverage substituted(const Covered& of_consumer, size_t edge, uint32_t coordinate) const;
  /// The union of a wait's range along a coordinate of the consumer: 1 and -1 when it has no holes and the
  /// range grows or falls with the coordinate; `whole` when over the coordinate's whole extent it is the
  /// producer's.
  struct Union {
    int direction = 0;
    bool whole = false;
  };
  Union union_along(size_t edge, uint32_t coordinate, uint32_t along) const;

  const Program& program_;
  std::vector<Edge> edges_;
  mutable std::map<std::tuple<size_t, uint32_t, uint32_t>, Union>
      unions_;  ///< by wait and the two coordinates
};

}  // namespace axon::task
