// Tile programs of a task type: what one of its tasks does on a machine.
//
// In: a task type, and the machine. Out: programs that are tried in order, most_programs at most, each with
// the condition under which it may run (its guard), the last without one. Their sizes, coordinates and loop
// indices are the variables of the task program. Invariant: every one computes the outputs of the type's node
// in the box that the type declares, in an order of sums that depends on sizes and the machine's row of
// machines.def alone.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "task/task.h"
#include "tile/tile.h"

namespace axon::tile {

/// Where a task begins to read memory that is there before anything runs: elements that lie next to each
/// other.
struct FirstRead {
  task::BufferId buffer;
  std::vector<Dim> index;  ///< over sizes, coordinates and loops of the program around
  Dim elements;
};

struct MadeProgram {
  Program program;
  /// Of the program's tensors; several may be parts of one buffer. A tensor with other axes than its buffer
  /// has the same elements, in row-major order.
  std::vector<task::BufferId> buffers;
  int64_t scratch_bytes = 0;
  std::optional<FirstRead> first_read;  ///< of a weight that is streamed
};

constexpr size_t most_programs = 8;  ///< of a task type on one machine

struct MadePrograms {
  std::vector<MadeProgram> list;  ///< empty where there are none yet
  std::string declined;           ///< why there are none, or none of a better form
};

/// `graph` is a copy of the program's graph; scalars are added to it.
MadePrograms programs_of(const task::Program&, task::TaskTypeId, graph::Graph& graph, const Machine&);

}  // namespace axon::tile
