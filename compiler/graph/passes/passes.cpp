// The table of graph passes: what the pipeline runs, in order.
#include "graph/passes/passes.h"

namespace axon::graph {

const std::vector<Pass>& graph_passes() {
  static const std::vector<Pass> passes = {
      {"bound_dynamic_sizes", "sizes of the entry only: what varies is computed over its bound",
       bound_dynamic_sizes},
      {"merge_reductions", "one reduction instead of reductions of reductions", merge_reductions},
      {"separate_axes", "the same on the graph as it was built, before merged axes are read as one",
       separate_axes},
      {"merge_reductions", "reductions over separated axes as one, too", merge_reductions},
      {"simplify", "one canonical form, so that later passes can compare", simplify},
      {"inline_pointwise", "whole formulas instead of one operator per node", inline_pointwise},
      {"separate_axes", "reductions over the axes that a reshaping merged", separate_axes},
      {"merge_online", "maximum, exponential sum and weighted sum in one pass over the data", merge_online},
      {"factor", "contractions as products of operands, invariant factors outside", factor},
      {"batch_steps", "one product for all steps of a loop instead of one in each", batch_steps},
      {"fuse", "few nodes per layer: epilogues, recomputed statistics, siblings, readers at one point", fuse},
      {"transpose_operands", "what contractions stream lies together in memory", transpose_operands},
      {"split_contractions", "parts of deep contractions with few results, which many can work on",
       [](Graph& g) { split_contractions(g, {}); }},
      {"split_attention", "parts of attention of few queries to many keys, which many can work on",
       [](Graph& g) { split_attention(g, {}); }},
      {"split_reductions", "parts of long reductions with few results, which many can work on",
       [](Graph& g) { split_reductions(g, {}); }},
      {"split_orders", "parts of long orders of which few positions are kept",
       [](Graph& g) { split_orders(g, {}); }},
      {"split_prefixes", "parts of long rows of prefixes, of which there are few",
       [](Graph& g) { split_prefixes(g, {}); }, true},
      {"keep_rows", "statistics of a row are computed where the row is written", keep_rows},
      {"store_operands", "what several tiles of columns multiply is computed once",
       [](Graph& g) { store_operands(g, {}); }, true},
      {"pack_operands", "what many rows are multiplied by is packed once",
       [](Graph& g) { pack_operands(g, {}); }, true},
      {"order_products", "products of one tensor next to each other, where they can run side by side",
       order_products},
      {"evaluate_checks", "integers of the data are checked wherever they are computed", evaluate_checks},
      {"compact", "live nodes only, numbered in program order", compact},
  };
  return passes;
}

}  // namespace axon::graph
