// A loop node under construction, and the leaves of what it carries: shared by loop.cpp and while.cpp.
#pragma once
#include <functional>
#include <vector>

#include "graph/from_core/evaluator.h"

namespace axon::graph {

struct CoreEvaluator::LoopBuild {
  NodeId node, param;
  RegionId outside, inside;
  Axis index;
  std::vector<Axis> lead;  // index variables of the `for`s around
  std::vector<Dim> lead_at;
  struct Slot {
    uint32_t carried;
    bool emitted = false;  // its update is among what the scan emits
  };
  std::vector<Slot> stacks;  // carried leaves of the scanned stack
};

/// Every array of a structure, in order.
void each_leaf(const Val& v, const std::function<void(const std::shared_ptr<Array>&)>& f);
/// The structure with leaf number c, in order, replaced by f(c, leaf).
Val map_leaves(const Val& like, const std::function<Val(uint32_t, const Array&)>& f);

}  // namespace axon::graph
