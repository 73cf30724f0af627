// Moving one compute node into another: the mechanics shared by merge_online and fuse.
#pragma once
#include "graph/passes/edit.h"
#include "graph/passes/order.h"

namespace axon::graph::edit {

/// `consumer` with the outputs of `producer` (and its locals) as its first locals, its loads of them
/// redirected.
Node with_locals_of(Graph&, const Node& consumer, NodeId producer);

/// The domains have the same extents, axis by axis.
bool same_domain(const Node&, const Node&);

/// Both nodes as one over the domain of `a`, which `b` has too: the locals and outputs of `a`, then those of
/// `b`.
Node joined(Graph&, const Node& a, const Node& b);

/// Who reads the producer's outputs, when nothing needs them as whole tensors; empty otherwise.
std::set<NodeId> only_readers(const std::map<Value, Uses>&, const Graph&, NodeId producer);

/// The producer may move down to the consumer: same region, nothing between depends on one and is needed by
/// the other.
bool can_move_into(const Graph&, Orders&, NodeId producer, NodeId consumer);

/// Puts `merged` in the consumer's place, takes the producer out of the region, restores a valid order.
void commit_merge(Graph&, NodeId consumer, NodeId producer, Node merged);

/// fuse_epilogue for one producer: its only reader, if pointwise, takes it in.
bool absorb_into_reader(Graph&, NodeId producer);

}  // namespace axon::graph::edit
