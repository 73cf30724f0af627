// What the waits of a program already imply: the transitive part of "runs after".
//
// A chain of waits C -> Q -> R orders a task of C after those tasks of R that the tasks of Q it waited for had waited
// for. Per coordinate of R that is the whole range, the same coordinate value as some coordinate of C, or just some
// value; the three compose along a chain without knowing a size, because grids and wait boxes are never empty. A task's
// slot only grows, so having seen iteration i of a task means that its earlier iterations are done too.
//
// Sound and incomplete: what it cannot see gets a wait of its own.
#pragma once
#include <vector>
#include "task/task.h"

namespace axon::task {

/// How much of one producer coordinate is known to have finished.
struct Coverage {
  enum class Kind : uint8_t { some, same, whole } kind = Kind::some;
  uint32_t coordinate = 0;  ///< same: which coordinate of the later task type
  friend auto operator<=>(const Coverage&, const Coverage&) = default;
};

class Ordering {
 public:
  explicit Ordering(const Program&);
  /// Takes one more wait into account.
  void add(const Wait&);
  /// Before a task of `later` runs, have the tasks of `earlier` that `needed` describes, in the iteration `distance`
  /// before it (of their innermost common loop) and all iterations before that, finished?
  bool ordered(TaskTypeId later, TaskTypeId earlier, int distance, const std::vector<Coverage>& needed) const;
  /// Every coverage of `earlier` that chains of waits give at that distance, best first where one contains another.
  std::vector<std::vector<Coverage>> coverages(TaskTypeId later, TaskTypeId earlier, int distance) const;
  /// The same for every task of `earlier`.
  bool ordered_whole(TaskTypeId later, TaskTypeId earlier, int distance) const;

 private:
  struct Edge {
    TaskTypeId consumer, producer;
    int distance;
    std::vector<Coverage> coverage;  ///< per producer coordinate, over the consumer's coordinates
    bool leaves_loop;                ///< consumer stands after a loop that holds the producer
  };
  std::vector<Coverage> compose(const std::vector<Coverage>& of_consumer, const Edge&) const;

  const Program& program_;
  std::vector<Edge> edges_;
};

/// The wait's distance in the innermost common loop; nullopt when the loops do not relate so simply. `leaves_loop`: the
/// producer is in a loop that the consumer is not in (the order is vacuous when that loop runs zero times).
struct Relation {
  int distance = 0;
  bool leaves_loop = false;
};
std::optional<Relation> relation_of(const Program&, const Wait&);

/// What a wait's box says of each coordinate of the producer.
std::vector<Coverage> coverage_of(const Program&, const Wait&);

}  // namespace axon::task
