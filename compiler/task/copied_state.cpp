// See copied_state.h.
#include "task/copied_state.h"

#include <algorithm>

#include "graph/passes/edit.h"
#include "graph/passes/order.h"
#include "task/read_states_first.h"

namespace axon::task {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeOp;
using graph::Value;
using Why = CopiedState::Why;
namespace edit = graph::edit;

namespace {

class Reason {
 public:
  Reason(const Graph& g, const Storage& storage, uint32_t input) : g_(g), storage_(storage), input_(input) {}

  CopiedState of(Value v, NodeId updater, uint32_t slot) const {
    const Node& node = g_.nodes[updater];
    if (node.op == NodeOp::loop && node.carried[slot].init != v) return {input_, updater, Why::replaced, {}};
    if (const NodeId loop = loop_around(v, updater); loop.valid())
      return {input_, updater, Why::iteration, loop};
    if (node.op == NodeOp::compute) return of_step(v, updater, slot);
    const graph::Carried& carried = node.carried[slot];
    if (const auto found = other_use(v, updater)) return *found;
    const bool in_place = storage_.carried_in_place(updater, slot);
    return in_place ? CopiedState{input_, updater, Why::replaced, {}} : of_loop(updater, carried);
  }

 private:
  /// The outermost loop in which the updater stands, but not the value: each iteration begins with the value.
  NodeId loop_around(Value v, NodeId updater) const {
    NodeId found;
    graph::RegionId region = g_.nodes[updater].region;
    while (region != g_.nodes[v.node].region && g_.regions[region].loop.valid()) {
      found = g_.regions[region].loop;
      region = g_.nodes[found].region;
    }
    return found;
  }

  /// A compute node that makes what comes after `v`.
  CopiedState of_step(Value v, NodeId step, uint32_t output) const {
    const Node& node = g_.nodes[step];
    if (reads_elsewhere(node, v, node.outputs[output].at)) return {input_, step, Why::elsewhere, {}};
    if (!reads_only_what_it_writes(g_, node, v, node.outputs[output].at))
      return {input_, step, Why::reduction, {}};
    return other_use(v, step).value_or(CopiedState{input_, step, Why::replaced, {}});
  }

  /// A load in an output, outside of reductions, that is of another element.
  bool reads_elsewhere(const Node& node, Value v, const std::vector<graph::Dim>& at) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(), [&](const graph::Output& output) {
      const auto& loads = loads_in(g_, output.body);
      return std::any_of(loads.begin(), loads.end(), [&](graph::ScalarId l) {
        if (g_.scalars[l].target != v || edit::is_under_binder(g_, output.body, l)) return false;
        for (size_t a = 0; a < at.size(); ++a)
          if (affine_index(g_, g_.scalars[l].args[a]) != at[a]) return true;
        return false;
      });
    });
  }

  /// What else takes over the value, or reads it when `updater` has changed it: the last such.
  std::optional<CopiedState> other_use(Value v, NodeId updater) const {
    for (const graph::Result& result : g_.results)
      if (result.value == v) return CopiedState{input_, updater, Why::result, {}};
    const graph::RegionId region = g_.nodes[updater].region;
    const NodeId around = g_.regions[region].loop;
    if (around.valid())
      for (const graph::Carried& carried : g_.nodes[around].carried)
        if (carried.result == v) return CopiedState{input_, updater, Why::iteration, around};
    const std::vector<NodeId>& nodes = g_.regions[region].nodes;
    const auto after = std::find(nodes.rbegin(), nodes.rend(), updater);
    const auto reader =
        std::find_if(nodes.rbegin(), after, [&](NodeId id) { return edit::values_read(g_, id).contains(v); });
    if (reader == after) return std::nullopt;
    return CopiedState{input_, updater, Why::reader, *reader};
  }

  /// A loop whose steps do not update what it carries.
  CopiedState of_loop(NodeId loop, const graph::Carried& carried) const {
    Value next = carried.result;
    while (g_.nodes[next.node].op == NodeOp::compute && g_.nodes[next.node].outputs[next.output].base)
      next = *g_.nodes[next.node].outputs[next.output].base;
    const Node& node = g_.nodes[next.node];
    if (node.region == g_.nodes[loop].body && edit::values_read(g_, next.node).contains(carried.param)) {
      if (node.op == NodeOp::compute) return of_step(carried.param, next.node, next.output);
      if (node.op == NodeOp::loop && node.carried[next.output].init == carried.param)
        return of_loop(next.node, node.carried[next.output]);
    }
    return {input_, loop, Why::replaced, {}};
  }

  const Graph& g_;
  const Storage& storage_;
  uint32_t input_;
};

}  // namespace

CopiedState why_copied(const Graph& g, const Storage& storage, uint32_t input, Value v, NodeId updater,
                       uint32_t slot) {
  return Reason(g, storage, input).of(v, updater, slot);
}

}  // namespace axon::task
