// The table of graph passes: what the pipeline runs, in order.
#include "graph/passes/passes.h"

namespace axon::graph {

const std::vector<Pass>& graph_passes() {
  static const std::vector<Pass> passes = {
      {"simplify", "one canonical form, so that later passes can compare", simplify},
      {"inline_pointwise", "whole formulas instead of one operator per node", inline_pointwise},
      {"separate_axes", "reductions over the axes that a reshaping merged", separate_axes},
      {"merge_online", "maximum, exponential sum and weighted sum in one pass over the data", merge_online},
      {"factor", "contractions as products of operands, invariant factors outside", factor},
      {"fuse", "few nodes per layer: epilogues, recomputed statistics, siblings", fuse},
      {"compact", "live nodes only, numbered in program order", compact},
  };
  return passes;
}

}  // namespace axon::graph
