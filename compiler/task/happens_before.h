// What the waits of a program already imply: the transitive part of "runs after".
//
// A chain of waits C -> Q -> R orders a task of C after those tasks of R that the tasks of Q it waited for
// had waited for. Per coordinate of R that is a happens-before range over C's coordinates. Ranges compose by
// substitution: at a point of Q exactly; over a range of Q where neighbouring ranges touch, so that their
// union is a range again; else at one task of Q, for grids and wait boxes are never empty. A task's slot only
// grows, so having seen iteration i of a task means that its earlier iterations are done too.
//
// Chains are followed for a bounded number of waits, and only through types from which waits lead to the one
// that is looked for, so what a search costs does not grow with the program.
//
// Sound and incomplete: what it cannot see gets a wait of its own. The deriver and the planner decide by this
// file; that they are right is proved without it, from the certificate (certificate.h).
#pragma once
#include <functional>
#include <map>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "task/task.h"

namespace axon::task {

/// Position of every type in program order.
std::map<TaskTypeId, uint32_t> program_order(const Program&);

/// The loops around both types: the common prefix of their loops.
size_t common_loops(const Program&, TaskTypeId, TaskTypeId);

/// A dependence distance: iterations of a producer, seen from one iteration of a consumer. The same in the
/// loops before `level`; in loop `level` `iterations` earlier (with `or_more`: at least that many); any in
/// the loops after that. With 0 iterations, `level` is the number of common loops. The consumer is known to
/// have `started` iterations of its first other loop behind it.
struct Distance {
  size_t level = 0;
  int iterations = 0;
  bool or_more = false;
  int started = 0;
};

/// The distance that a wait's iteration expresses: earlier by a constant in one loop, the last iteration in
/// those inside it. nullopt: no such form, and nothing follows from the wait.
std::optional<Distance> distance_of(const Program&, const Wait&);

/// What a wait's box says of each coordinate of the producer.
Ranges ranges_of(const Program&, const Wait&);

/// A chain of waits from a task to the tasks that it thereby runs after.
struct Chain {
  std::vector<uint32_t> waits;  ///< numbers of the waits, the first is the later task's own
  std::vector<Ranges>
      finished;  ///< per wait: what has finished of its producer, over the later task's coordinates
  const Ranges& ranges() const { return finished.back(); }
};

class HappensBefore {
 public:
  explicit HappensBefore(const Program&);
  /// Takes one more wait into account; waits are numbered as they come.
  void add(const Wait&);
  /// Leaves a wait out of account, or back in.
  void set_active(size_t wait, bool active) { edges_[wait].active = active; }

  /// The chains of waits from a task of `later` to tasks of `earlier` at the distance. `through_empty`: also
  /// chains through loops that might run zero times.
  std::vector<Chain> chains(TaskTypeId later, TaskTypeId earlier, const Distance&,
                            bool through_empty = false) const;
  /// Is one of those chains `enough`? The others need not be found then.
  bool any_chain(TaskTypeId later, TaskTypeId earlier, const Distance&, bool through_empty,
                 const std::function<bool(const Chain&)>& enough) const;
  /// Does a chain cover every task of `earlier`?
  bool ordered_whole(TaskTypeId later, TaskTypeId earlier, const Distance&) const;
  bool is_whole(const Ranges&, TaskTypeId earlier) const;
  /// A type, all tasks of which a task of another type runs after, and the chain that says so.
  using Whole = std::function<void(TaskTypeId earlier, const std::function<Chain()>& chain)>;
  /// Calls `found` once with each such type in the loops of `like`, and no others: one search for all.
  /// Chains of more waits than `waits` are not followed.
  void each_whole(TaskTypeId later, TaskTypeId like, const Distance&, size_t waits, const Whole& found) const;

 private:
  struct Edge {
    TaskTypeId consumer, producer;
    Distance distance;
    Ranges finished;  ///< over the consumer's coordinates
    bool active = false;
  };
  struct State {
    TaskTypeId type;
    int iterations;  ///< how many before the later task's, in the loop that the distance is about
    int late;        ///< the same in the first loop that only the later task is in
    Ranges finished;
    bool same_iteration;  ///< only waits for the same iteration may follow, see run_of
    size_t length = 0;    ///< waits on the way to it
    size_t before = 0;    ///< the state that it was reached from
    uint32_t wait = 0;    ///< and by which wait
  };
  /// Told of a state that was reached from others: whether the search ends.
  using Reached = std::function<bool(const std::vector<State>&, const State&)>;
  /// Types by number; null: all.
  using Types = std::unordered_set<uint32_t>;
  void search(TaskTypeId later, TaskTypeId like, const Distance&, bool through_empty, const Types* leading,
              size_t waits, const Reached&) const;
  void find_chains(TaskTypeId later, TaskTypeId earlier, const Distance&, bool through_empty,
                   const std::function<bool(const Chain&)>& enough) const;
  Types leading(TaskTypeId later, TaskTypeId earlier) const;
  bool is_known(const State&, const std::vector<State>&, const std::vector<size_t>& of_type) const;
  std::optional<State> follow(const State&, size_t edge, TaskTypeId later, TaskTypeId earlier,
                              const Distance&, bool through_empty) const;
  enum class Run : uint8_t { exists, last, unknown };
  Run run_of(const State&, const Distance&, TaskTypeId later, TaskTypeId earlier) const;
  Ranges compose(TaskTypeId later, const State&, size_t edge) const;
  std::optional<Wait::Range> substituted(const Ranges& of_consumer, size_t edge, uint32_t coordinate) const;
  static Chain chain_to(const std::vector<State>&, const State& last);
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
  std::vector<std::vector<size_t>> edges_of_;  ///< by type: the numbers of those that its tasks wait by
  std::vector<std::vector<size_t>> edges_to_;  ///< by type: the numbers of those that wait for its tasks
  std::vector<size_t> outermost_;              ///< by type: the step of the root that it stands in
  mutable std::map<std::tuple<size_t, uint32_t, uint32_t>, Union>
      unions_;  ///< by wait and the two coordinates
};

}  // namespace axon::task
