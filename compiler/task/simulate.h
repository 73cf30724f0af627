// The simulator: runs the tasks of a program one at a time in a random legal order, against poisoned memory.
//
// Legal means: a task's waits are satisfied, and its own earlier iterations are done. Nothing else orders
// tasks, so every schedule on any number of workers is among the orders drawn. Memory that no task has
// written reads as an error, and so does an element outside the boxes that the task type declares; buffers
// whose places in the arena meet overwrite each other byte by byte. A program that passes many seeds and
// equals the interpreter is very likely ordered; the proof is verify.cpp's business.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/interpret.h"
#include "task/task.h"

namespace axon::task {

/// What the body of a task may touch, element by element: a buffer's index begins with the slot, where it has
/// slots. What the simulator checks of its own reads and writes, it checks of these.
class BodyMemory {
 public:
  virtual graph::Number read(BufferId, const std::vector<int64_t>& index) = 0;
  virtual void write(BufferId, const std::vector<int64_t>& index, const graph::Number&) = 0;

 protected:
  ~BodyMemory() = default;
};
/// Runs the body of a task. `values`: of sizes, loop indices and coordinates, among others. Nothing: the
/// simulator evaluates the body. Empty: it ran; else what went wrong.
using RunBody =
    std::function<std::optional<std::string>(TaskTypeId, const shape::Assignment& values, BodyMemory&)>;

struct SimulateOptions {
  uint64_t seed = 1;
  graph::Precision precision = graph::Precision::storage;
  /// A buffer in the arena: begins where the last of those before it in the list that it lies above ends.
  struct Placed {
    BufferId buffer;
    std::vector<uint32_t> above;
  };
  std::vector<Placed> arena;  ///< all other buffers have memory of their own
  RunBody body = nullptr;     ///< asked for every task; none: the simulator evaluates all of them
};

/// Inputs and sizes as for graph::interpret. An error names the task and the element.
graph::Outcome simulate(const Program&, const std::vector<graph::Tensor>& inputs,
                        const shape::Assignment& parameters, const SimulateOptions& = {});

}  // namespace axon::task
