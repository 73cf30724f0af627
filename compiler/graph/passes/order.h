// The order inside a region: what must stay before what, and a new order after nodes were merged.
//
// Values are pure, but an update is meant to happen in place: a node that reads a tensor and stands before
// the node that updates it must stay before it, or the update would need a copy. These orders are kept like
// true dependences.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "graph/graph.h"

namespace axon::graph::edit {

class Order {
 public:
  Order(const Graph&, RegionId);
  /// `from` must run before `to`, through at least one node other than the two.
  bool has_detour(NodeId from, NodeId to) const;
  bool has_path(NodeId from, NodeId to) const;
  /// `into` takes over the work of `gone`, and its dependences.
  void merge(NodeId into, NodeId gone);
  void require(NodeId first, NodeId then) { after_[first].insert(then); }
  /// All nodes in dependence order, as near as possible to the order they had.
  std::vector<NodeId> sorted() const;

 private:
  bool reaches(NodeId from, NodeId to, bool skip_direct) const;
  std::vector<NodeId> nodes_;
  std::map<NodeId, std::set<NodeId>> after_;
};

/// The orders of the regions of a graph, each built when it is asked for first. The graph must not change.
class Orders {
 public:
  explicit Orders(const Graph& graph) : g_(graph) {}
  const Order& of(RegionId region) { return known_.try_emplace(region, g_, region).first->second; }

 private:
  const Graph& g_;
  std::map<RegionId, Order> known_;
};

/// The node of `region` that stands for `id`: itself or the loop around it; invalid when it is not inside.
NodeId representative(const Graph&, RegionId region, NodeId id);

/// Every tensor that the node updates is otherwise only read at the element being written.
bool updates_in_place(const Graph&, const Node&);

/// One of the tensors has been updated by the time that `reader` runs.
bool reads_after_update(const Graph&, const std::set<Value>& read, NodeId reader);

}  // namespace axon::graph::edit
