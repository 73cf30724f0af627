// Collectives, run: what each device of a mesh holds, step by step.
//
// In: the steps between two layouts, and the memory of each device. Out: the memory of each device after, and
// how many elements came from another device in each step. Invariant: a step reads what the step before left,
// and nothing else; what a device has it gets from the devices that differ from it in the digit of the step.
#pragma once
#include <map>
#include <vector>

#include "layout/collective.h"

namespace axon::layout {

/// By device, one coordinate for each axis in the order of Collective::counts, and by address.
using Shards = std::map<std::vector<int64_t>, std::map<int64_t, double>>;

struct MeshRun {
  Shards shards;
  std::vector<int64_t> moved;  ///< elements, of each step
};
/// The shards hold at least what the first layout places.
MeshRun run(const Collective&, const Shards&);

}  // namespace axon::layout
