// Operands of products that slide over a tensor, as windows with zeros around it do. Only from_task/ includes
// this.
//
// In: a value that is multiplied, over indices of the graph. Out: what of it is loaded, and where; along
// which binder it is the same value further along the columns. Invariant: where the facts do not hold the
// value is 0.
#pragma once
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "shape/prover.h"

namespace axon::tile {

/// A value that is 0 where one of the facts does not hold.
struct BoundedValue {
  graph::ScalarId value;
  std::vector<shape::Fact> facts;
};
/// Without widening casts, and without choices between a value and 0 by indices alone.
BoundedValue bounded_value(const graph::Graph&, graph::ScalarId);

/// Does one index of the load move with the variable and with a binder, as that of a window does?
bool is_of_windows(const graph::Graph&, graph::ScalarId load, shape::Var,
                   const std::vector<graph::Axis>& binders);

/// How a window goes on: after `steps` of the binder it has the value of the first step some columns further
/// along. One of the two is 1.
struct Slide {
  int64_t steps = 1, columns = 1;
};
/// Of a load under bounds. nullopt where the two are no numbers, or one index has one of them alone.
std::optional<Slide> slide_of(const graph::Graph&, const BoundedValue&, shape::Var column, shape::Var binder);

}  // namespace axon::tile
