// Keys: equal keys mean equal computations up to the names of index variables.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace axon::graph::edit {

/// Only compared within one graph and one run; never printed.
using Key = std::vector<uint64_t>;

Key key_of(Graph&, const Local&);
/// Of a compute node's whole meaning (not its name or place).
Key key_of(Graph&, const Node&);

}  // namespace axon::graph::edit
