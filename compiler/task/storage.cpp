// See storage.h.
#include "task/storage.h"

#include "graph/uses.h"

namespace axon::task {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeOp;
using graph::Value;

namespace {

/// Follows update bases back from `v` inside `loop_body`; true when the chain ends at `param`.
bool updates_param(const Graph& g, Value v, Value param) {
  while (v != param) {
    const Node& node = g.nodes[v.node];
    if (node.op == NodeOp::compute && node.outputs[v.output].base) {
      v = *node.outputs[v.output].base;
    } else if (node.op == NodeOp::loop &&
               updates_param(g, node.carried[v.output].result, node.carried[v.output].param)) {
      v = node.carried[v.output].init;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

Storage::Storage(const Graph& g) {
  for (const NodeId id : graph::all_nodes(g)) {
    const Node& node = g.nodes[id];
    if (node.op == NodeOp::compute)
      for (uint32_t o = 0; o < node.outputs.size(); ++o)
        if (node.outputs[o].base) join({id, o}, *node.outputs[o].base);
    if (node.op == NodeOp::loop)
      for (uint32_t c = 0; c < node.carried.size(); ++c) {
        const auto& carried = node.carried[c];
        if (!updates_param(g, carried.result, carried.param)) continue;
        in_place_.insert({id, c});
        join(carried.param, carried.init);
        join({id, c}, carried.init);
      }
  }
}

void Storage::join(Value member, Value owner) { parent_[member] = owner; }

Value Storage::root(Value v) const {
  for (auto it = parent_.find(v); it != parent_.end(); it = parent_.find(v)) v = it->second;
  return v;
}

bool Storage::carried_in_place(NodeId loop, uint32_t c) const { return in_place_.contains({loop, c}); }

}  // namespace axon::task
