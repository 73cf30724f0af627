// Graph-to-graph passes. Each preserves the meaning that interpret.h gives (up to reassociation in
// contractions and reductions, which the numerics page allows), leaves a graph that verify() accepts, and
// depends on structure only: names of nodes are hints and never read.
//
// The order below is the order of graph_passes(); every pass says why it stands where it stands.
#pragma once
#include <set>
#include <vector>

#include "graph/graph.h"

namespace axon::graph {

/// Makes dynamic extents (graph.h) their bounds, masks reductions past them, and clamps loads that need not
/// be in range. First: what follows knows sizes of the entry only.
void bound_dynamic_sizes(Graph&);

/// Only what results, checks and debugs need, compact. The checks in `unneeded_checks` are needed only where
/// something that is needed evaluates them. from_core ends with it.
void eliminate_dead_code(Graph&, const std::set<uint32_t>& unneeded_checks = {});

/// A reduction of a reduction becomes one. Before and after separate_axes, which needs reductions whole and
/// leaves others.
void merge_reductions(Graph&);

/// Exact scalar algebra, indices under their facts, loop-invariant nodes out of loops, one node per
/// computation, nothing dead. Early, because everything later compares expressions for equality; last again
/// inside fuse.
void simplify(Graph&);

/// Substitutes pointwise producers into the loads that read them where that costs nothing worth keeping.
/// Before the algebraic passes, so that they see whole formulas instead of one operator per node.
void inline_pointwise(Graph&);

/// Reductions over an axis that a reshaping merged go over the axes themselves. On the graph as it was built,
/// for simplify reads merged axes as one; and after inlining, which brings the merged tensor into the
/// reductions, before the passes that look at what is reduced.
void separate_axes(Graph&);

/// Finds max, exponential sums and weighted sums over one axis that are one monoid, and makes them one online
/// reduction. After inlining (scores are whole), before factor and fuse (which would spread its parts over
/// nodes).
void merge_online(Graph&);

/// Brings the bodies of contractions into product form: invariant factors leave the sum, operands are grouped
/// by axes. After merge_online, which reads products as they were written.
void factor(Graph&);

/// Products of what each step of a loop reads with one matrix are computed for all steps before the loop.
/// After factor, which shows what is a product, and before fuse, which would join them to what stays.
void batch_steps(Graph&);

/// Grows compute nodes: fuse_epilogue, rematerialise, fuse_multi_output and fuse_siblings until none
/// applies. Last: what it makes is what tiling sees.
void fuse(Graph&);

/// A pointwise consumer of a reduction joins it; the reduction becomes a local. True when something changed.
bool fuse_epilogue(Graph&);
/// A reduction that is cheap to repeat becomes a local of the contractions that read it. True when something
/// changed.
bool rematerialise(Graph&);
/// Independent nodes over one domain that read a common operand become one node. True when something changed.
bool fuse_siblings(Graph&);
/// A reduction and a reader at its own points become one node, whoever else reads it. True when something
/// changed.
bool fuse_multi_output(Graph&);

/// An operand that contractions of a batch stream, and whose last axis is one of the batch, is copied with
/// the batch first. After fuse, which would take the copy back.
void transpose_operands(Graph&);

/// Which contractions have few results, and how deep their parts are: those that make at most `tasks` tiles
/// of `rows` by `columns` (target::Class), in parts of `depth`, as much as keeps a task busy for some
/// microseconds and its left operand near the core.
struct ContractionLimits {
  int64_t rows = 64, columns = 64, tasks = 16, depth = 1024;
};
/// A deep contraction with few results becomes partial results and their sum. After fuse, which would take
/// the parts together again, and before split_reductions, which knows no kernels.
void split_contractions(Graph&, const ContractionLimits&);

/// Which attention is split: that with at most so many results, in parts of `keys`, which take some
/// microseconds where the results are a head's.
struct AttentionLimits {
  int64_t results = 8192, keys = 1024;
};
/// Attention of few queries to many keys becomes that to parts of the keys, and their merge. After fuse, like
/// split_reductions.
void split_attention(Graph&, const AttentionLimits&);

/// Elements that a part of a split reduction has along its last binder, and along those before it: some pages
/// of memory, which take some thousand times as long as handing a result on.
struct PartLengths {
  int64_t last = 16384, outer = 16;
};
/// A long reduction with few results becomes partial results and their merge. After fuse, which would take
/// the parts together again.
void split_reductions(Graph&, PartLengths);

/// Which orders are long: those of at most so many rows that keep at most `kept` positions, a constant
/// number. Their parts have `length` elements, or `per_kept` for each position that they keep, so that
/// keeping is a small part of the work.
struct OrderLimits {
  int64_t rows = 64, kept = 256, length = 131072, per_kept = 16384;
};
/// The first positions in a long order become those of parts, and an order of these. After fuse, like
/// split_reductions.
void split_orders(Graph&, const OrderLimits&);

/// Which prefixes are split: those that make at most so many tasks, one for each row or for so many columns
/// that lie together, and whose results take at least so many bytes: what the second cache holds is read
/// twice in as long as it takes to compute. Parts have so many bytes, groups so many parts, fewer where there
/// are several rows, so that a group and its results stay in that cache.
struct PrefixLimits {
  int64_t rows = 4, columns = 64, least = 2097152, part = 65536, parts = 8;
};
/// Long rows of prefixes become groups of parts, one after the other. After fuse, like split_reductions,
/// which would have nothing to split in it.
void split_prefixes(Graph&, const PrefixLimits&);

/// Which left operands are stored: of contractions with more rows than tasks stream right operands for (a
/// decoder's batch), and more columns than one tile has (target::Class).
struct OperandLimits {
  int64_t rows = 4, columns = 64;
};
/// What several tiles of columns multiply is computed once. After what splits contractions, before
/// pack_operands, which looks at right operands.
void store_operands(Graph&, const OperandLimits&);

/// Which right operands are packed: of at least so many rows, into panels of so many columns. Four tiles of
/// rows share what one of them would pack; panels are those of weights (target::Class).
struct PackLimits {
  int64_t rows = 256, columns = 32;
};
/// What many rows are multiplied by is packed into panels once for all of them. After what splits
/// contractions, before order_products.
void pack_operands(Graph&, const PackLimits&);

/// Matrix products of one computed tensor become neighbours in program order. After what splits them.
void order_products(Graph&);

/// A reduction of rows becomes a local of the pointwise node that alone reads it, where that writes whole
/// rows. After split_reductions, which leaves reductions of many rows whole.
void keep_rows(Graph&);

/// Checks of integers of the data are made for every element of what they check, where it is stored. After
/// fuse: what readers evaluate is settled, and a body that can fail hinders every other pass.
void evaluate_checks(Graph&);

/// Forgets removed nodes and expressions, and numbers the rest in program order. Very last, so that tasks see
/// live nodes only.
void compact(Graph&);

struct Pass {
  const char* name;
  const char* why;  ///< one line, for help texts and traces
  void (*run)(Graph&);
  bool of_panels = false;  ///< for machines alone that stream panels: CPUs
};
/// All passes in pipeline order, some of them twice.
const std::vector<Pass>& graph_passes();

}  // namespace axon::graph
