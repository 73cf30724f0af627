// The buffers of a simulated launch: the value of each element, and whether it has been written since another
// buffer was written to the same bytes of the arena.
//
// In: a program, its inputs and sizes. Buffers that the caller fills are written from the beginning, all
// others are not. What may be accessed when is the simulator's business.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/interpret.h"
#include "graph/interpret_expr.h"
#include "task/simulate.h"
#include "task/task.h"

namespace axon::task {

class SimulatedMemory {
 public:
  /// `sizes` has a value for every size in the shapes of buffers.
  SimulatedMemory(const Program&, const std::vector<SimulateOptions::Placed>& arena,
                  const std::vector<graph::Tensor>& inputs, const shape::Assignment& sizes);

  /// The number of an element, row-major; nullopt outside of the buffer's shape.
  std::optional<size_t> offset(BufferId, const std::vector<int64_t>& index) const;
  bool is_written(BufferId id, size_t element) const { return of(id).written[element]; }
  graph::Number load(BufferId id, size_t element) const { return of(id).values[element]; }
  /// What other buffers keep in the same bytes is unwritten again.
  void store(BufferId, size_t element, graph::Number);

 private:
  struct Contents {
    std::vector<int64_t> shape;
    std::vector<graph::Number> values;
    std::vector<bool> written;
  };
  struct Neighbour {
    BufferId buffer;
    int64_t distance;  ///< bytes from the start of this buffer to the start of the other
  };

  Contents& of(BufferId id) { return buffers_[id.index]; }
  const Contents& of(BufferId id) const { return buffers_[id.index]; }
  void add(const Buffer&, const std::vector<graph::Tensor>& inputs, const shape::Assignment& sizes);
  void place(const std::vector<SimulateOptions::Placed>& arena);
  int64_t width(BufferId) const;  ///< of an element, in bytes

  const Program& p_;
  std::vector<Contents> buffers_;
  std::vector<std::vector<Neighbour>> neighbours_;  ///< by buffer: those whose memory meets its own
};

}  // namespace axon::task
