// Recognising a contraction in a scalar body: sum over binders of a product whose factors split into a left
// operand and a right operand. Tiling, weight layouts and emission read the same answer.
#pragma once
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace axon::task {

/// body = reduce(sum, binders, product of left and right factors). Axes are positions in `domain`.
struct Contraction {
  graph::ScalarId reduce;
  std::vector<graph::ScalarId> left, right;  ///< factors of the product
  std::vector<uint32_t> rows;                ///< axes that only the left operand depends on
  std::vector<uint32_t> columns;             ///< axes that only the right operand depends on
  std::vector<uint32_t> batch;               ///< axes of both
};

/// `domain` is that of the body (a node's or a local's). The right operand is the factor (or group of
/// factors) that depends on the last domain axis which some factor has and another lacks; factors that only
/// depend on the binders and batch axes go left. nullopt when the body is no such product or one side would
/// be empty.
std::optional<Contraction> find_contraction(const graph::Graph&, graph::ScalarId body,
                                            const std::vector<graph::Axis>& domain);

/// The contractions of a compute node: number of the local (or nullopt for an output) and the match.
struct PlacedContraction {
  std::optional<uint32_t> local;
  uint32_t output = 0;
  Contraction contraction;
};
std::vector<PlacedContraction> contractions_of(const graph::Graph&, const graph::Node&);

/// A right operand that is a plain load of a weight, k on its second-to-last axis and the column on its last,
/// every index affine: the load to stream as panels; invalid otherwise.
graph::ScalarId panel_load(const graph::Graph&, const Contraction&, const std::vector<graph::Axis>& domain);

}  // namespace axon::task
