// Prefix reductions: element l of a row folds the terms of the points up to l, or up to a few before it
// (cumulative sums, running maxima, where ragged rows begin), so that one pass over the row has all of them.
// The one recogniser: passes leave such nodes alone, tiling, work and tile programs read what it finds.
#pragma once
#include <optional>

#include "graph/graph.h"

namespace axon::graph {

/// The node computes one reduction over a binder k, which at index l of an axis folds `term` for
/// k = 0 .. l - `before`.
struct Prefix {
  uint32_t axis = 0;   ///< of the domain; the binder has a point for each index that folds one
  int64_t before = 0;  ///< 0: each element folds its own term; 1: those before it; and so on
  ScalarId term;       ///< over the binder; the axis does not change it
  /// What is combined with the first term, where that is select(k <= 0, begin . term, term), as that of a
  /// part of a row is; else invalid.
  ScalarId begin = {};
};

/// nullopt of a node that computes anything else, or that has dynamic extents.
std::optional<Prefix> prefix_reduction(const Graph&, const Node&);

/// What two values are combined with, as an operator of expressions; not of argmax.
Op operator_in_graph(Monoid);

/// Does the node go through whole rows for all elements of them, as an order and prefixes do? What joins it
/// would be computed anew at each element.
bool goes_through_rows(const Graph&, const Node&);

}  // namespace axon::graph
