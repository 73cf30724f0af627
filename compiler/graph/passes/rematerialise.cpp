// rematerialise: computes a reduction that is cheap to repeat again in each node that reads it.
//
// In: a statistic (the mean of squares of a row, say) read by contractions over the same row. Out: the
// statistic as a local of each of them, the node gone: one wait less, and the recomputation costs at most
// about 1/32 of the consumer.
//
// Note: when it is cheap. Every reader repeats it once per element it needs. A reader in which some axis that
// the statistic does not depend on has at least 32 points, and whose own reduction is at least as long, hides
// that. A reader over just the statistic's own points repeats nothing. All readers must take it, or it would
// stay anyway.
#include <algorithm>

#include "graph/passes/absorb.h"
#include "graph/passes/order.h"
#include "graph/passes/passes.h"
#include "graph/prefix.h"

namespace axon::graph {

namespace {

constexpr int64_t hiding_columns = 32;

/// Products of the reductions' extents in a node, one per reducing body.
std::vector<Dim> reduction_lengths(const Graph& g, const Node& node) {
  std::vector<Dim> lengths;
  edit::each_body(node, [&](ScalarId body, const auto&) {
    for (ScalarId id : edit::binders_in(g, body)) {
      Dim length = 1;
      for (const Axis& b : g.scalars[id].binders) length = length * b.extent;
      lengths.push_back(length);
    }
  });
  return lengths;
}

enum class Repeats : uint8_t { never, hidden, dearly };

/// What computing the statistic at this load's points costs in the body around it.
Repeats repeats(const Graph& g, ScalarId load_id, ScalarId body, const std::vector<Axis>& domain) {
  std::vector<Var> moved;
  for (ScalarId index : g.scalars[load_id].args) {
    auto dim = affine_index(g, index);
    if (!dim) return Repeats::dearly;
    dim->collect_vars(moved);
  }
  auto moves = [&](Var v) { return std::find(moved.begin(), moved.end(), v) != moved.end(); };
  for (ScalarId id : edit::binders_in(g, body))
    for (const Axis& b : g.scalars[id].binders)
      if (moves(b.var)) return Repeats::dearly;
  bool all = true;
  for (const Axis& a : domain) {
    if (a.extent.is(1) || moves(a.var)) continue;
    all = false;
    auto extent = a.extent.constant();
    if (!extent || *extent >= hiding_columns) return Repeats::hidden;
  }
  return all ? Repeats::never : Repeats::dearly;
}

/// The consumer can take the producer: no load repeats it dearly, and if one repeats it at all, a reduction
/// hides that.
bool hides(const Graph& g, NodeId producer, NodeId consumer, bool only_reader) {
  const Node& node = g.nodes[consumer];
  bool hidden = false, dear = false;
  edit::each_body(node, [&](ScalarId body, const std::vector<Axis>& domain) {
    for (ScalarId l : loads_in(g, body)) {
      const Scalar& s = g.scalars[l];
      if (s.target.is_local() || s.target.node != producer) continue;
      switch (repeats(g, l, body, domain)) {
        case Repeats::never:
          break;
        case Repeats::hidden:
          hidden = true;
          break;
        case Repeats::dearly:
          dear = true;
          break;
      }
    }
  });
  if (dear) return false;
  if (!hidden) return only_reader && edit::has_reduction(g, node);
  edit::Scope scope(g, node);
  std::vector<Dim> hiding = reduction_lengths(g, node);
  std::vector<Dim> repeated = reduction_lengths(g, g.nodes[producer]);
  return std::all_of(repeated.begin(), repeated.end(), [&](const Dim& length) {
    return std::any_of(hiding.begin(), hiding.end(),
                       [&](const Dim& h) { return length == h || scope.proves(shape::at_most(length, h)); });
  });
}

}  // namespace

bool rematerialise(Graph& g) {
  std::map<Value, edit::Uses> uses = edit::uses_of(g);
  edit::Orders orders(g);
  std::vector<NodeId> nodes = all_nodes(g);
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {  // a statistic of a statistic comes after it
    NodeId producer = *it;
    if (g.nodes[producer].op == NodeOp::compute) edit::name_unit_axes(g.nodes[producer]);
    const Node& node = g.nodes[producer];
    if (node.op != NodeOp::compute || !edit::has_reduction(g, node) || edit::stands_alone(g, node)) continue;
    if (!edit::all_plain(node)) continue;
    std::set<NodeId> readers = edit::only_readers(uses, g, producer);
    if (readers.empty()) continue;
    std::vector<std::pair<NodeId, Node>> merged;
    for (NodeId reader : readers) {
      if (g.nodes[reader].op != NodeOp::compute || !edit::can_move_into(g, orders, producer, reader)) break;
      if (goes_through_rows(g, g.nodes[reader]) || !hides(g, producer, reader, readers.size() == 1)) break;
      std::set<Value> read = edit::values_read(g, producer);
      if (readers.size() > 1 && edit::reads_after_update(g, read, reader)) break;
      Node candidate = edit::with_locals_of(g, g.nodes[reader], producer);
      if (!edit::updates_in_place(g, candidate)) break;
      merged.emplace_back(reader, std::move(candidate));
    }
    if (merged.size() != readers.size()) continue;
    for (auto& [reader, candidate] : merged) edit::commit_merge(g, reader, producer, std::move(candidate));
    return true;
  }
  return false;
}

}  // namespace axon::graph
