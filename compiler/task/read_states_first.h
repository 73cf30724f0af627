// Removes write-after-read conflicts of updates in place: makes all reads of a state come before its update.
//
// In: a fused graph, a value that is given up (`*`), and the node that is to overwrite it. Out: an equivalent
// graph in which no reader of the value follows that node; or the graph unchanged. Three transformations are
// tried, in this order:
//
//   reordering        fn (c, at) x => (c with [at] = x, at + 1): `at + 1` after all readers of `at`
//   rematerialisation fn (m, s) x => (m + x, s + m * sum (m + x)): the sum computes m + x itself, before m is
//                     overwritten
//   fusion            fn (m, s) x => (m + x, s + m * (m + x)): one node, which reads each element of both
//                     before it writes it
#pragma once
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "graph/passes/edit.h"
#include "graph/passes/order.h"

namespace axon::task {

/// Every load of `v` in the node is of the element `at`, and none is inside of a reduction, which reads again
/// and again, nor in a local, which is read at other points.
bool reads_only_what_it_writes(const graph::Graph&, const graph::Node&, graph::Value v,
                               const std::vector<graph::Dim>& at);

/// Loads elements of `v` that the updater, which stores at `at`, reads at fewer points than it stores, in
/// nodes before it (read_elements_first.cpp).
void read_elements_first(graph::Graph&, graph::NodeId updater, graph::Value v,
                         const std::vector<graph::Dim>& at);

class ReadStatesFirst {
 public:
  /// given_up: what loops carry of states.
  ReadStatesFirst(graph::Graph& g, const std::set<graph::Value>& given_up) : g_(g), given_up_(given_up) {}

  /// Makes the node that computes the next value of carried value `c` its last reader, which reads of it only
  /// the element that it computes. Returns false if no transformation achieves that; undo() then restores the
  /// graph.
  bool before_step(graph::NodeId loop, uint32_t c);
  /// Moves `updater` behind all readers of `v` in its region. Returns false, with the graph unchanged, if one
  /// of them depends on it.
  bool before(graph::NodeId updater, graph::Value v);
  void undo();

 private:
  const graph::edit::Uses& uses(graph::Value v);
  std::set<graph::NodeId> readers(graph::RegionId region, graph::Value v);
  graph::edit::Order order_of(graph::RegionId region) const;
  bool remove_obstacle(graph::Value next, graph::Value state);
  bool separate(graph::Value next);
  std::set<graph::NodeId> updaters(graph::RegionId region, graph::Value v) const;
  std::optional<graph::ScalarId> with_its_own(graph::Value next, graph::ScalarId body) const;
  bool compute_again(graph::Value next, graph::NodeId user, const graph::edit::Order& order);
  std::vector<std::pair<graph::Value, std::vector<graph::Dim>>> written_over(graph::NodeId id,
                                                                             const graph::Node& node) const;
  bool updates_stay_in_place(graph::NodeId id, const graph::Node& now) const;
  std::optional<graph::Node> together(graph::NodeId step, graph::NodeId user) const;
  bool compute_together(graph::NodeId step, graph::NodeId user);

  graph::Graph& g_;
  const std::set<graph::Value>& given_up_;
  std::optional<graph::Graph> before_;  ///< the graph, once something else than the order has changed
  std::optional<std::map<graph::Value, graph::edit::Uses>> uses_;  ///< while the bodies stay what they are
  bool together_ = false;                                          ///< the step is computed with another node
};

}  // namespace axon::task
