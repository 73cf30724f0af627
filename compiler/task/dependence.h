// A dependence: two accesses of one buffer, one of them a write, by tasks of two types at a given distance.
//
// derive_events asks which waits a dependence needs; verify recomputes the same map to see that a wait names
// exactly the producers of what it is about. That the waits order everything is proved without this file.
#pragma once
#include <vector>

#include "task/happens_before.h"

namespace axon::task {

struct Dependence {
  TaskTypeId producer;
  const Access* theirs;
  TaskTypeId consumer;
  const Access* own;
  Distance distance;
  Wait::Why why() const;
};

/// The producer of a dependence with its variables renamed apart from those of the consumer.
struct Overlap {
  std::vector<Interval> theirs;  ///< the producer's box
  std::vector<Fact> facts;       ///< sizes, the ranges of both tasks' names, the distance
  std::vector<Var> coordinates;  ///< the producer's, renamed
  std::vector<Var> free;         ///< all variables of the producer alone
  shape::Substitution rename;
};
Overlap overlap_of(const Program&, const Dependence&);

/// Do the boxes overlap only if the consumer is past the first iteration of its outermost loop that the
/// producer is not in?
bool overlaps_late(const Program&, const Dependence&, const Overlap&);

/// Sets the iteration and the guard of the wait for a dependence: the latest iteration that the distance
/// allows, guarded by its existence.
void set_iteration(const Program&, const Dependence&, Wait&);

/// Returns, for each coordinate of the producer, the range of tasks whose boxes can overlap the consumer's.
/// The range is clamped to the grid and never empty, so a task that reads nothing waits for more than it
/// needs. A range that is provably the whole extent is returned as 0 .. extent - 1.
std::vector<Wait::Range> producers_needed(const Program&, const Dependence&, const Overlap&);

}  // namespace axon::task
