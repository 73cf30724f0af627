// Where temporaries are live, in program order.
#pragma once
#include <map>
#include <vector>

#include "task/task.h"

namespace axon::plan {

/// The lifetime of a temporary that some task accesses: the part of the program in which its memory is in
/// use.
struct Life {
  task::BufferId buffer;
  std::vector<task::TaskTypeId> tasks;    ///< that access it, in program order
  std::vector<task::TaskTypeId> writers;  ///< those of them that write it, or all of them where none does
  /// The loops, outermost first, in which the temporary is privatizable: each iteration writes all that it
  /// reads, so no value crosses to the next iteration. Loops inside of these may carry values.
  std::vector<task::LoopId> private_in;
  /// The positions, in program order, of the first and the last task type between which it is live, both
  /// included. If a loop inside of those in `private_in` accesses it, it is live in the whole loop.
  uint32_t first = 0, last = 0;
};

/// The positions, in program order, of the first and the last task type in a loop's body.
struct Span {
  uint32_t first = 0, last = 0;
};
std::map<task::LoopId, Span> spans_of_loops(const task::Program&);

/// Returns the lifetimes of all temporaries that some task accesses, sorted by their first position.
std::vector<Life> lives_of(const task::Program&);

/// Returns how many of the outermost loops both temporaries are private in.
size_t shared_loops(const Life&, const Life&);

}  // namespace axon::plan
