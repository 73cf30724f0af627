// Where temporaries are live, in program order.
#pragma once
#include <map>
#include <vector>

#include "task/task.h"

namespace axon::plan {

/// The life of a temporary that some task touches. `home` are the loops that every value of the temporary is
/// made anew in: within one of their iterations it is written and read, and nothing of it is read in the next
/// one. Loops inside of those may carry it from one iteration to the next.
struct Life {
  task::BufferId buffer;
  std::vector<task::TaskTypeId> tasks;    ///< that touch it, in program order
  std::vector<task::TaskTypeId> writers;  ///< those of them that write it, or all of them where none does
  std::vector<task::LoopId> home;
  /// The positions, in program order, of the first and the last task type between which it is live, both
  /// included. Where a loop inside of `home` touches the buffer, the whole loop lies between them.
  uint32_t first = 0, last = 0;
};

/// The positions, in program order, of the first and the last task type in a loop's body.
struct Span {
  uint32_t first = 0, last = 0;
};
std::map<task::LoopId, Span> spans_of_loops(const task::Program&);

/// Returns the lives of all temporaries that some task touches, sorted by their first position.
std::vector<Life> lives_of(const task::Program&);

/// Returns how many of the outermost loops are home to both.
size_t shared_loops(const Life&, const Life&);

}  // namespace axon::plan
