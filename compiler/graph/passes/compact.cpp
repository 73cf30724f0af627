// In: a graph whose stores hold what passes have removed or replaced. Out: the same graph with the live
// nodes, regions and expressions only, numbered in program order, so that "every node" means what it says
// from here on.
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "graph/passes/passes.h"
#include "graph/uses.h"

namespace axon::graph {

namespace {

class Compactor {
 public:
  explicit Compactor(Graph& graph) : g(graph), order_(all_nodes(graph)) {
    for (uint32_t n = 0; n < order_.size(); ++n) now_[order_[n]] = NodeId{n};
  }

  void run() {
    replace_whole_uses(g, [&](Value v) { return now(v); });
    nodes();
    regions();
  }

 private:
  Graph& g;
  std::vector<NodeId> order_;
  std::map<NodeId, NodeId> now_;
  std::unordered_map<uint32_t, ScalarId> copied_;

  Value now(Value v) const { return {now_.at(v.node), v.output}; }

  void nodes() {
    const base::Store<ScalarTag, Scalar> before = std::exchange(g.scalars, {});
    g.scalar_index.clear();
    base::Store<NodeTag, Node> nodes;
    for (NodeId id : order_) {
      Node node = std::move(g.nodes[id]);
      for (Output& output : node.outputs) output.body = copied(before, output.body);
      for (Local& local : node.locals) local.body = copied(before, local.body);
      for (DynamicSize& size : node.dynamic_sizes) size.value = copied(before, size.value);
      for (Carried& carried : node.carried) carried.param = now(carried.param);
      nodes.add(std::move(node));
    }
    g.nodes = std::move(nodes);
  }

  ScalarId copied(const base::Store<ScalarTag, Scalar>& before, ScalarId root) {
    std::set<uint32_t> reachable{root.index};
    for (auto it = reachable.rbegin(); it != reachable.rend(); ++it)  // arguments have smaller numbers
      for (ScalarId a : before[ScalarId{*it}].args)
        if (!copied_.contains(a.index)) reachable.insert(a.index);
    for (uint32_t index : reachable) {
      if (copied_.contains(index)) continue;
      Scalar s = before[ScalarId{index}];
      for (ScalarId& a : s.args) a = copied_.at(a.index);
      if (s.op == Op::load && !s.target.is_local()) s.target = now(s.target);
      copied_[index] = make_scalar(g, std::move(s));
    }
    return copied_.at(root.index);
  }

  void regions() {
    base::Store<RegionTag, Region> before = std::exchange(g.regions, {});
    const auto add = [&](RegionId old) {
      Region region = std::move(before[old]);
      for (NodeId& n : region.nodes) n = now_.at(n);
      if (region.loop.valid()) region.loop = now_.at(region.loop);
      return g.regions.add(std::move(region));
    };
    std::map<RegionId, RegionId> region{{g.root, add(g.root)}};
    g.root = region.at(g.root);
    for (Node& node : g.nodes) {  // loops come before what stands in them
      node.region = region.at(node.region);
      if (node.op != NodeOp::loop) continue;
      const RegionId body = add(node.body);
      region[node.body] = body;
      node.body = body;
    }
  }
};

}  // namespace

void compact(Graph& g) { Compactor(g).run(); }

}  // namespace axon::graph
