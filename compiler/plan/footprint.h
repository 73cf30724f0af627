// How many bytes temporaries take, at given or at typical sizes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "plan/lives.h"
#include "plan/plan.h"

namespace axon::plan {

/// The bytes of every life at one choice of sizes, rounded up to the alignment of slots.
struct Bytes {
  std::vector<int64_t> of;
  int64_t live = 0;  ///< the most that are live together in program order
};
/// An extent that mentions a size that the assignment lacks counts as typical.
Bytes bytes_at(const task::Program&, const std::vector<Life>&, const shape::Assignment& sizes);

/// Returns the bytes at several choices of sizes. The first is typical_sizes, where axes of inputs have about
/// a thousand elements; in the others some of the sizes are smaller.
std::vector<Bytes> typical_bytes(const task::Program&, const std::vector<Life>&);
shape::Assignment typical_sizes(const task::Program&);

struct Footprint {
  int64_t arena = 0;  ///< bytes of the arena
  int64_t live = 0;   ///< the most bytes that are live at once in program order: no arena can be smaller
};
Footprint footprint(const Variant&, const shape::Assignment& sizes);
/// Describes the footprint at typical sizes in one line of text.
std::string describe_footprint(const Variant&);

}  // namespace axon::plan
