// A conflict: two accesses of one buffer, one of them a write, by tasks of two types at a given lag.
//
// derive_events asks which waits a conflict needs; verify recomputes the same map to see that a wait names
// exactly the producers of what it is about. That the waits order everything is proved without this file.
#pragma once
#include <vector>

#include "task/ordering.h"

namespace axon::task {

struct Conflict {
  TaskTypeId producer;
  const Access* theirs;
  TaskTypeId consumer;
  const Access* own;
  Lag lag;
  Wait::Why why() const;
};

/// The producer of a conflict under names of its own, so that both tasks can be spoken of at once.
struct Meeting {
  std::vector<Interval> theirs;  ///< the producer's box
  std::vector<Fact> facts;       ///< sizes, the ranges of both tasks' names, the lag
  std::vector<Var> coordinates;  ///< the producer's, renamed
  std::vector<Var> free;         ///< all names that only the producer has
  shape::Substitution rename;
};
Meeting meeting_of(const Program&, const Conflict&);

/// Can the two only meet when the consumer is past the first iteration of its first loop that is not the
/// producer's?
bool meets_late(const Program&, const Conflict&, const Meeting&);

/// Is the extent of the producer's loop number `loop` the same value wherever it is meant? Of a loop with a
/// condition only for a consumer that stands behind it in the same iteration of the loops around both.
bool has_one_extent(const Program&, const Conflict&, size_t loop);

/// Iteration and guard of the wait for a conflict: the latest iteration that the lag allows, when there is
/// one.
void set_iteration(const Program&, const Conflict&, Wait&);

/// The range of each producer coordinate that can meet the consumer's box, inside the grid and never empty:
/// a task that reads nothing waits for a little more than it needs. A range that is the whole grid for sure
/// is written as that.
std::vector<Wait::Range> producers_met(const Program&, const Conflict&, const Meeting&);

}  // namespace axon::task
