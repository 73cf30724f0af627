// Brings about that what updates a state runs after everything that reads it.
//
// In: a fused graph, a value that is given up, and the node that is to write over it. Out: the same meaning,
// where no reader of the value stands after that node; or the graph as it was. Three things help, in this
// order:
//
//   another order        fn (c, at) x => (c with [at] = x, at + 1): `at + 1` after all that reads `at`
//   computing again      fn (m, s) x => (m + x, s + m * sum (m + x)): the sum makes its own m + x, before m
//   computing together   fn (m, s) x => (m + x, s + m * (m + x)): one node, which reads each element of both
//                        before it writes it
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

class ReadStatesFirst {
 public:
  /// given_up: what loops carry of states.
  ReadStatesFirst(graph::Graph& g, const std::set<graph::Value>& given_up) : g_(g), given_up_(given_up) {}

  /// What the step of a loop makes of carried value `c` becomes the last that reads the value, and reads of
  /// it only the element that it computes. False when nothing helps; then undo() takes back what was tried.
  bool before_step(graph::NodeId loop, uint32_t c);
  /// Puts `updater` behind all that reads `v` in its region. False, and nothing changes, when one of them
  /// needs it.
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
