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

/// The producer of a dependence under names of its own, so that both tasks can be spoken of at once.
struct Overlap {
  std::vector<Interval> theirs;  ///< the producer's box
  std::vector<Fact> facts;       ///< sizes, the ranges of both tasks' names, the distance
  std::vector<Var> coordinates;  ///< the producer's, renamed
  std::vector<Var> free;         ///< all names that only the producer has
  shape::Substitution rename;
};
Overlap overlap_of(const Program&, const Dependence&);

/// Can the two only meet when the consumer is past the first iteration of its first loop that is not the
/// producer's?
bool overlaps_late(const Program&, const Dependence&, const Overlap&);

/// Iteration and guard of the wait for a dependence: the latest iteration that the distance allows, when
/// there is one.
void set_iteration(const Program&, const Dependence&, Wait&);

/// The range of each producer coordinate that can meet the consumer's box, inside the grid and never empty:
/// a task that reads nothing waits for a little more than it needs. A range that is the whole grid for sure
/// is written as that.
std::vector<Wait::Range> producers_needed(const Program&, const Dependence&, const Overlap&);

}  // namespace axon::task
