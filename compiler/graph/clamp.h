// Loads that are safe to evaluate where their indices need not be in range.
//
// In: a load, and what is known of the variables in its indices. Out: the same load where it is in range, and
// some element, or 0 where there is none, elsewhere.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace axon::graph {

/// Do the facts show that the index lies in 0 .. extent - 1? Not of one that depends on data.
bool is_in_range(const Graph&, ScalarId index, const Dim& extent, const std::vector<Fact>&);
/// The load with every index that is not shown to be in range clamped. Indices through `bounded` are checked,
/// and stay. An axis without elements has none: then the load is not made.
ScalarId clamped_load(Graph&, ScalarId load, const std::vector<Fact>&);

}  // namespace axon::graph
