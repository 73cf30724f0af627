// In: a fused graph. Out: the same meaning, where a loop's step computes the next value of a state that is
// given up (`*`) in place.
//
// A step such as `y = s + x` makes a fresh tensor. When s is a state that the caller gives up, when the step
// is the last to read s, and when it reads of s only the element that it computes, then y may be written over
// s: it becomes an update of s at every element, which storage classes keep in the memory of the state
// through all iterations (storage.h). Nothing else is changed; what cannot be written in place is left for
// insert_copies to refuse.
#include <algorithm>
#include <set>

#include "task/storage.h"

namespace axon::task {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeOp;
using graph::Op;
using graph::Output;
using graph::ScalarId;
using graph::Value;

namespace {

class StateUpdates {
 public:
  explicit StateUpdates(Graph& g) : g_(g), nodes_(live_nodes(g)) {
    for (size_t i = 0; i < nodes_.size(); ++i) position_[nodes_[i]] = i;
  }

  void run() {
    for (const NodeId id : nodes_) {
      if (g_.nodes[id].op != NodeOp::loop) continue;
      for (uint32_t c = 0; c < g_.nodes[id].carried.size(); ++c) {
        const graph::Carried carried = g_.nodes[id].carried[c];
        if (!is_given_up(carried.init)) continue;
        given_up_.insert(carried.param);
        if (may_overwrite(id, carried)) {
          Node& step = g_.nodes[carried.result.node];
          step.outputs[carried.result.output].base = carried.param;
        }
      }
    }
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

  bool may_overwrite(NodeId loop, const graph::Carried& carried) const {
    const Node& step = g_.nodes[carried.result.node];
    if (step.op != NodeOp::compute || step.region != g_.nodes[loop].body) return false;
    const Output& output = step.outputs[carried.result.output];
    if (output.base || output.type != g_.type(carried.param)) return false;
    for (const auto& local : step.locals)
      if (reads(local.body, carried.param)) return false;
    for (const Output& each : step.outputs)
      if (!reads_only_at(each.body, carried.param, output.at)) return false;
    return nothing_else_wants(carried, carried.result.node);
  }

  bool reads(ScalarId body, Value v) const {
    const auto& loads = loads_in(g_, body);
    return std::any_of(loads.begin(), loads.end(), [&](ScalarId l) { return g_.scalars[l].target == v; });
  }

  /// Every load of `v` is of the element `at`, and none is inside of a reduction, which reads again and
  /// again.
  bool reads_only_at(ScalarId body, Value v, const std::vector<graph::Dim>& at) const {
    const auto is_at = [&](ScalarId load) {
      const std::vector<ScalarId>& indices = g_.scalars[load].args;
      for (size_t a = 0; a < at.size(); ++a)
        if (affine_index(g_, indices[a]) != at[a]) return false;
      return true;
    };
    const auto all = scalars_in(g_, body);
    return std::all_of(all.begin(), all.end(), [&](ScalarId id) {
      const graph::Scalar& s = g_.scalars[id];
      if (s.op == Op::reduce || s.op == Op::online) return !reads(id, v);
      return s.op != Op::load || s.target != v || is_at(id);
    });
  }

  /// What the step overwrites is read by nobody at the same time or later, and neither it nor what the step
  /// makes is the beginning of anything else.
  bool nothing_else_wants(const graph::Carried& carried, NodeId step) const {
    const auto is_ours = [&](Value v) { return v == carried.param || v == carried.result; };
    for (const NodeId id : nodes_) {
      const Node& node = g_.nodes[id];
      const bool later = position_.at(id) >= position_.at(step);
      for (const auto& local : node.locals)
        if (id != step && later && reads(local.body, carried.param)) return false;
      for (const Output& output : node.outputs) {
        if (id != step && later && reads(output.body, carried.param)) return false;
        if (output.base && is_ours(*output.base)) return false;
      }
      for (const graph::Carried& other : node.carried) {
        if (is_ours(other.init)) return false;
        if (other.param != carried.param && is_ours(other.result)) return false;
      }
    }
    return std::none_of(g_.debugs.begin(), g_.debugs.end(),
                        [&](const auto& debug) { return is_ours(debug.second); });
  }

  Graph& g_;
  std::vector<NodeId> nodes_;  ///< in program order, loops before what is inside of them
  std::map<NodeId, size_t> position_;
  std::set<Value> given_up_;  ///< what loops carry of states
};

}  // namespace

void update_states(Graph& g) { StateUpdates(g).run(); }

}  // namespace axon::task
