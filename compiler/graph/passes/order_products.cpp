// order_products: products of one computed tensor stand next to each other in program order.
//
// In: regions in any order in which values are defined before they are used. Out: the same nodes; a matrix
// product follows the nearest product before it that multiplies the same left operand, where nothing between
// the two computes what it reads. The operand is still near the core then, and plan/side_by_side.h lets
// products that have few tasks each run at a time. Only what cannot fail moves, and nothing that is stored
// into memory that exists before.
#include <algorithm>
#include <map>

#include "graph/contraction.h"
#include "graph/passes/cleanup.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

class ProductOrder {
 public:
  explicit ProductOrder(Graph& g)
      : g_(g), consumed_(edit::consumed_values(g)), checked_(edit::checked_nodes(g)) {}

  void run(RegionId region) {
    auto& nodes = g_.regions[region].nodes;
    for (size_t at = 1; at < nodes.size(); ++at) {
      if (!is_movable(nodes[at])) continue;
      const size_t to = place_of(nodes, at);
      if (to < at)
        std::rotate(nodes.begin() + static_cast<long>(to), nodes.begin() + static_cast<long>(at),
                    nodes.begin() + static_cast<long>(at) + 1);
    }
  }

 private:
  /// Computed tensors that matrix products of the node multiply from the left.
  const std::set<Value>& left_operands(NodeId id) {
    const auto [known, is_new] = left_operands_.try_emplace(id);
    std::set<Value>& operands = known->second;
    if (!is_new || g_.nodes[id].op != NodeOp::compute) return operands;
    for (const PlacedContraction& placed : contractions_of(g_, g_.nodes[id])) {
      if (placed.contraction.columns.empty()) continue;
      for (const ScalarId factor : placed.contraction.left)
        for (const ScalarId load : loads_in(g_, factor)) {
          const Value target = g_.scalars[load].target;
          if (!target.is_local() && g_.nodes[target.node].op != NodeOp::input) operands.insert(target);
        }
    }
    return operands;
  }

  bool is_movable(NodeId id) const {
    const Node& node = g_.nodes[id];
    if (node.op != NodeOp::compute || edit::can_fail(g_, id, checked_)) return false;
    for (uint32_t o = 0; o < node.outputs.size(); ++o)
      if (node.outputs[o].base || consumed_.count({id, o}) > 0) return false;
    return true;
  }

  /// Behind the nearest product of the same operand, or where it is.
  size_t place_of(const std::vector<NodeId>& nodes, size_t at) {
    const std::set<Value>& operands = left_operands(nodes[at]);
    if (operands.empty()) return at;
    const std::set<Value> read = edit::values_read(g_, nodes[at]);
    const auto is_read = [&](NodeId id) {
      return std::any_of(read.begin(), read.end(), [&](Value v) { return v.node == id; });
    };
    for (size_t to = at; to-- > 0 && !is_read(nodes[to]);) {
      const std::set<Value>& others = left_operands(nodes[to]);
      const bool shared =
          std::any_of(others.begin(), others.end(), [&](Value v) { return operands.count(v) > 0; });
      if (shared) return to + 1;
    }
    return at;
  }

  Graph& g_;
  const std::set<Value> consumed_;
  const std::set<NodeId> checked_;
  std::map<NodeId, std::set<Value>> left_operands_;  ///< of the nodes that were looked at
};

}  // namespace

void order_products(Graph& g) {
  ProductOrder order(g);
  for (uint32_t r = 0; r < g.regions.size(); ++r) order.run({r});
}

}  // namespace axon::graph
