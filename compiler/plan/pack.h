// Packs temporaries into an arena at typical sizes: a heuristic. Correctness does not depend on it: which
// temporaries may share memory is an input, and verify_memory.cpp proves the result.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/footprint.h"

namespace axon::plan {

/// For each life, those before it in the list that may not share memory with it.
using Conflicts = std::vector<std::vector<uint32_t>>;

struct Packing {
  /// By life, at the choice of sizes that it was packed for. Of two that conflict, the one with the higher
  /// offset lies above the other at all sizes.
  std::vector<int64_t> offset;
  std::vector<std::vector<int64_t>> begin;  ///< where each life therefore begins, by choice of sizes
  std::vector<double> cost;  ///< bytes of the arena, divided by the most that are live at once, by choice
};

/// Places the lives one after the other, each at the lowest offset that is free, in several orders, of which
/// the best is improved for some rounds, and returns the packing with the least sum of costs.
Packing pack(const std::vector<Bytes>&, const Conflicts&);

}  // namespace axon::plan
