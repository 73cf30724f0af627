// Expressions in the types that tiles have. Only from_task/ includes this.
//
// In: a scalar without reductions. Out: one whose values have the types that they are computed in, without
// the casts that change nothing there; so what is computed alike is one scalar. Invariant: a tile program
// computes the same numbers of both.
#pragma once
#include <map>

#include "graph/graph.h"

namespace axon::tile {

/// Does the cast make a number of a narrower type? Only a copy does.
bool is_narrowing(const graph::Graph&, graph::ScalarId cast);

class ComputedTypes {
 public:
  explicit ComputedTypes(graph::Graph& g) : g_(g) {}
  graph::ScalarId of(graph::ScalarId);

 private:
  graph::ScalarId made(graph::ScalarId);
  graph::Graph& g_;
  std::map<graph::ScalarId, graph::ScalarId> known_;
};

}  // namespace axon::tile
