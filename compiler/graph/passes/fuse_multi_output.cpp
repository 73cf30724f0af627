// fuse_multi_output: a reduction that several read and a reader at its own points become one node.
//
// In: P, a reduction, and C over a domain of the same extents, whose loads of P are all P's element at C's
// own point. Out: one node with the outputs of both, in which C reads what P computes as a local. What else
// reads P reads that node.
//
// The memory of a recurrent cell and the state that its last gate makes of it are one task type in this way,
// and so is a result that is stored at two places. This is producer-consumer multi-output fusion, as XLA
// calls it; fuse_epilogue is the case in which nothing else reads P. Where a size or a check of an index
// looks at P, its readers may follow from what it finds, and it stays by itself.
#include "graph/passes/absorb.h"
#include "graph/passes/cleanup.h"
#include "graph/passes/order.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

/// Is each use of the producer by the reader a load in an output, of a fresh tensor, at the reader's own
/// point?
bool reads_own_points(const Graph& g, const Node& reader, NodeId id, NodeId producer) {
  const auto is_own = [&](ScalarId index, const Axis& axis) {
    const auto at = affine_index(g, index);
    return at && (*at == Dim(axis.var) || (at->is(0) && axis.extent.is(1)));
  };
  bool fits = true;
  for_each_use(g, id, [&](Value v, const Use& use) {
    if (v.node != producer || !fits) return;
    fits = use.kind == UseKind::output_load &&
           edit::is_plain(g.nodes[producer], g.nodes[producer].outputs[v.output]);
    if (!fits) return;
    const std::vector<ScalarId>& indices = g.scalars[use.load].args;
    for (size_t a = 0; a < indices.size(); ++a) fits = fits && is_own(indices[a], reader.domain[a]);
  });
  return fits;
}

/// Nodes with a value that a size or a check looks at: what the sizes and indices of others follow from.
std::set<NodeId> decisive_nodes(const Graph& g) {
  std::set<NodeId> nodes;
  for_each_root_use(g, [&](Value v, const Use& use) {
    if (use.kind == UseKind::size || use.kind == UseKind::check) nodes.insert(v.node);
  });
  return nodes;
}

/// Adds the outputs of the producer, whose values are locals of the node from `first_local` on.
void add_outputs(Graph& g, const Node& producer, uint32_t first_local, Node& node) {
  std::vector<ScalarId> point;
  shape::Substitution axes;
  for (size_t a = 0; a < node.domain.size(); ++a) {
    point.push_back(index_of(g, Dim(node.domain[a].var)));
    axes[producer.domain[a].var] = Dim(node.domain[a].var);
  }
  for (uint32_t o = 0; o < producer.outputs.size(); ++o) {
    Output output = producer.outputs[o];
    for (Dim& d : output.at) d = d.substitute(axes);
    output.body = load(g, local_value(first_local + o), point, output.type.elem);
    node.outputs.push_back(std::move(output));
    node.types.push_back(producer.types[o]);
  }
}

bool fuse_with_reader(Graph& g, NodeId producer, NodeId reader, edit::Orders& orders) {
  const Node from = g.nodes[producer];
  const Node& to = g.nodes[reader];
  if (to.op != NodeOp::compute || edit::stands_alone(g, to)) return false;
  if (!edit::same_domain(from, to) || !reads_own_points(g, to, reader, producer)) return false;
  if (!edit::can_move_into(g, orders, producer, reader)) return false;
  const auto first_output = static_cast<uint32_t>(to.outputs.size());
  Node node = edit::with_locals_of(g, to, producer);
  add_outputs(g, from, static_cast<uint32_t>(from.locals.size()), node);
  if (!edit::updates_in_place(g, node)) return false;
  edit::commit_merge(g, reader, producer, std::move(node));
  std::map<Value, Value> moved;
  for (uint32_t o = 0; o < from.outputs.size(); ++o) moved[{producer, o}] = {reader, first_output + o};
  edit::replace_values(g, moved);
  return true;
}

}  // namespace

bool fuse_multi_output(Graph& g) {
  const std::map<Value, edit::Uses> uses = edit::uses_of(g);
  const std::set<NodeId> decisive = decisive_nodes(g);
  edit::Orders orders(g);
  for (NodeId producer : all_nodes(g)) {
    const Node& node = g.nodes[producer];
    if (node.op != NodeOp::compute || !edit::has_reduction(g, node) || edit::stands_alone(g, node)) continue;
    if (decisive.contains(producer)) continue;
    std::set<NodeId> readers;
    for (uint32_t o = 0; o < node.outputs.size(); ++o)
      if (const auto use = uses.find({producer, o}); use != uses.end()) readers.merge(use->second.users());
    for (NodeId reader : readers)
      if (fuse_with_reader(g, producer, reader, orders)) return true;
  }
  return false;
}

}  // namespace axon::graph
