// In: a fused graph. Out: the same meaning, where a loop's step computes the next value of a state that is
// given up (`*`) in place.
//
// A step such as `y = s + x` makes a fresh tensor. When s is a state that the caller gives up, when the step
// is the last to read s, and when it reads of s only the element that it computes, then y may be written over
// s: it becomes an update of s at every element, which storage classes keep in the memory of the state
// through all iterations (storage.h). That the step is the last to read s is brought about where it can be
// (read_states_first.h). Where the entry stores another value in the whole state, loops before that begin
// with a copy of it. What cannot be written in place is left for insert_copies to refuse.
#include <algorithm>
#include <set>

#include "graph/uses.h"
#include "task/read_states_first.h"
#include "task/storage.h"

namespace axon::task {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeOp;
using graph::RegionId;
using graph::Value;

namespace {

class StateUpdates {
 public:
  explicit StateUpdates(Graph& g) : g_(g) {}

  void run() {
    // Loops stay what they are while their steps change, so they are found once, outer ones first.
    std::vector<NodeId> loops;
    for (const NodeId id : graph::all_nodes(g_))
      if (g_.nodes[id].op == NodeOp::loop) loops.push_back(id);
    for (const NodeId id : loops) begin_with_copies(id);
    for (const NodeId id : loops)
      for (const graph::Carried& carried : g_.nodes[id].carried)
        if (is_given_up(carried.init)) given_up_.insert(carried.param);
    for (const NodeId id : loops)
      for (uint32_t c = 0; c < g_.nodes[id].carried.size(); ++c)
        if (given_up_.contains(g_.nodes[id].carried[c].param)) write_over(id, c);
    for (const NodeId id : graph::all_nodes(g_)) read_first(id);
  }

 private:
  /// A state of the entry, what an update makes of it, or what a loop around makes of it.
  bool is_given_up(Value v) const {
    if (given_up_.contains(v)) return true;
    const Node& node = g_.nodes[v.node];
    if (node.op == NodeOp::input) return g_.inputs[node.input].kind == graph::InputKind::state;
    if (node.op == NodeOp::compute)
      return node.outputs[v.output].base && is_given_up(*node.outputs[v.output].base);
    return node.op == NodeOp::loop && is_given_up(node.carried[v.output].init);
  }

  /// Lets the loop begin with copies of the states that something else is stored in after it.
  void begin_with_copies(NodeId loop) {
    const RegionId region = g_.nodes[loop].region;
    for (uint32_t c = 0; c < g_.nodes[loop].carried.size(); ++c) {
      const Value init = g_.nodes[loop].carried[c].init;
      if (!is_given_up(init) || !is_stored_after(loop, init)) continue;
      const NodeId copy = make_copy(g_, init, region);
      auto& nodes = g_.regions[region].nodes;
      nodes.insert(std::find(nodes.begin(), nodes.end(), loop), copy);
      g_.nodes[loop].carried[c].init = {copy, 0};
    }
  }

  /// Does a later node of the region store every element of the state, and reads none?
  bool is_stored_after(NodeId loop, Value state) const {
    const auto& nodes = g_.regions[g_.nodes[loop].region].nodes;
    return std::any_of(std::find(nodes.begin(), nodes.end(), loop), nodes.end(), [&](NodeId id) {
      const Node& node = g_.nodes[id];
      const auto stores_all = [&](const graph::Output& output) {
        if (output.base != state || output.at != identity_map(node.domain)) return false;
        const std::vector<graph::Dim>& shape = g_.type(state).shape;
        return std::equal(
            shape.begin(), shape.end(), node.domain.begin(), node.domain.end(),
            [](const graph::Dim& size, const graph::Axis& axis) { return axis.extent == size; });
      };
      if (std::none_of(node.outputs.begin(), node.outputs.end(), stores_all)) return false;
      bool reads = false;
      graph::edit::each_body(node, [&](graph::ScalarId body, const auto&) {
        for (const graph::ScalarId l : loads_in(g_, body)) reads |= g_.scalars[l].target == state;
      });
      return !reads;
    });
  }

  /// Makes the step an update of the state that loop `id` carries as number `c`, where that is possible.
  void write_over(NodeId id, uint32_t c) {
    if (!may_overwrite(id, c)) return;
    const graph::Carried step = g_.nodes[id].carried[c];
    const Node& node = g_.nodes[step.result.node];
    read_elements_first(g_, step.result.node, step.param, std::vector(node.outputs[step.result.output].at));
    ReadStatesFirst first(g_, given_up_);
    if (!first.before_step(id, c)) return first.undo();
    const graph::Carried& carried = g_.nodes[id].carried[c];
    g_.nodes[carried.result.node].outputs[carried.result.output].base = carried.param;
  }

  /// Whatever reads a state runs before what updates it, where nothing stands against it.
  void read_first(NodeId updater) {
    const Node node = g_.nodes[updater];
    for (const graph::Output& output : node.outputs)
      if (output.base && is_given_up(*output.base)) read_elements_first(g_, updater, *output.base, output.at);
    ReadStatesFirst first(g_, given_up_);
    for (const graph::Output& output : node.outputs)
      if (output.base && is_given_up(*output.base)) first.before(updater, *output.base);
    for (const graph::Carried& carried : node.carried)
      if (is_given_up(carried.init)) first.before(updater, carried.init);
  }

  bool may_overwrite(NodeId loop, uint32_t c) const {
    const graph::Carried& carried = g_.nodes[loop].carried[c];
    const Node& step = g_.nodes[carried.result.node];
    if (step.op != NodeOp::compute || step.region != g_.nodes[loop].body) return false;
    const graph::Output& output = step.outputs[carried.result.output];
    return !output.base && output.type == g_.type(carried.param) && is_used_once(carried);
  }

  /// Neither the state nor what the step makes of it is the beginning of anything else.
  bool is_used_once(const graph::Carried& carried) const {
    const auto is_ours = [&](Value v) { return v == carried.param || v == carried.result; };
    for (const NodeId id : graph::all_nodes(g_)) {
      const Node& node = g_.nodes[id];
      for (const graph::Output& output : node.outputs)
        if (output.base && is_ours(*output.base)) return false;
      for (const graph::Carried& other : node.carried) {
        if (is_ours(other.init)) return false;
        if (other.param != carried.param && is_ours(other.result)) return false;
      }
    }
    return std::none_of(g_.debugs.begin(), g_.debugs.end(),
                        [&](const auto& debug) { return is_ours(debug.value); });
  }

  Graph& g_;
  std::set<Value> given_up_;  ///< what loops carry of states
};

}  // namespace

void update_states(Graph& g) { StateUpdates(g).run(); }

}  // namespace axon::task
