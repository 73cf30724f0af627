// What one launch of a GPU's kernel finds in memory: for the emulator, and as files for a GPU elsewhere.
//
// In: a plan for a GPU's machine class, sizes, values of the inputs. Out: the tables of the launch context
// and the contents of all buffers. Invariant: a buffer begins with NaN patterns where nothing is given.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "graph/interpret.h"
#include "plan/plan.h"

namespace axon::testing {

struct ImageBuffer {
  std::string name;
  std::vector<uint8_t> bytes;
  bool is_written = false;  ///< by the kernel
};

struct LaunchImage {
  std::string kernel;
  std::vector<int64_t> sizes;
  std::vector<ImageBuffer> memory;
  /// Of each buffer of the plan, where it is: temporaries share one of the memories.
  struct Place {
    size_t memory = 0;
    uint64_t offset = 0;
  };
  std::vector<Place> buffers;
  std::vector<int64_t> event_offset;
  uint64_t event_words = 0;
  uint32_t epochs = 1;  ///< that a launch uses up
  uint64_t shared_bytes = 0;
  struct Result {
    Place at;
    base::Elem elem{};
    std::vector<int64_t> shape;
  };
  std::vector<Result> results;
};

LaunchImage make_image(const plan::Variant&, const shape::Dim& scratch_bytes, const shape::Assignment& sizes,
                       const std::vector<graph::Tensor>& inputs);
/// What a launch has left of the graph's results, in order.
std::vector<graph::Tensor> results_of(const LaunchImage&);

}  // namespace axon::testing
