// batch_steps: products of what each step of a loop reads with one and the same matrix are computed for all
// steps at once, before the loop: `v @ w` in a scan over the rows v of x is one x @ w, which reads w once.
//
// In: a loop whose number of steps is known before anything runs, and in it a contraction of operands from
// outside, the left one of which is read where the loop's index says. Out: the node before the loop, with the
// index as its first axis, and its elements read in the loop. It takes memory for all steps, as what it reads
// does. Nodes that can fail stay: a step might never come to them.
#include <algorithm>

#include "graph/contraction.h"
#include "graph/passes/cleanup.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

class StepBatcher {
 public:
  explicit StepBatcher(Graph& g)
      : g_(g),
        uses_(edit::uses_of(g)),
        consumed_(edit::consumed_values(g)),
        checked_(edit::checked_nodes(g)) {}

  void run(NodeId loop_id) {
    loop_ = loop_id;
    const Node& loop = g_.nodes[loop_];
    if (loop.condition || !edit::is_over_sizes(g_, loop.index.extent)) return;
    for (NodeId id : std::vector<NodeId>(g_.regions[loop.body].nodes))
      if (is_product_of_steps(id)) move_before(id);
  }

 private:
  bool is_product_of_steps(NodeId id) const {
    const Node& node = g_.nodes[id];
    const Var step = g_.nodes[loop_].index.var;
    if (node.op != NodeOp::compute || node.outputs.size() != 1 || !node.locals.empty()) return false;
    if (!edit::all_plain(node) || consumed_.contains({id, 0}) || edit::can_fail(g_, id, checked_))
      return false;
    const auto uses = uses_.find({id, 0});
    if (uses == uses_.end() || uses->second.others > 0) return false;
    const auto read = edit::values_read(g_, id);
    const auto is_outside = [&](Value v) { return g_.nodes[v.node].region != node.region; };
    if (!std::all_of(read.begin(), read.end(), is_outside)) return false;
    const auto product = find_contraction(g_, {}, node.outputs[0].body, node.domain);
    if (!product || !product->load.valid() || product->columns.empty()) return false;
    const auto& binders = g_.scalars[product->reduce].binders;
    if (std::any_of(binders.begin(), binders.end(), [&](const Axis& b) { return b.extent.contains(step); }))
      return false;
    const auto moves = [&](ScalarId factor) { return depends_on(g_, factor, step); };
    return std::none_of(product->right.begin(), product->right.end(), moves) &&
           std::any_of(product->left.begin(), product->left.end(),
                       [&](ScalarId f) { return is_read_by_step(f); });
  }

  /// Does it load a tensor that holds what all steps read?
  bool is_read_by_step(ScalarId factor) const {
    const Var step = g_.nodes[loop_].index.var;
    const auto loads = loads_in(g_, factor);
    return std::any_of(loads.begin(), loads.end(), [&](ScalarId l) {
      const auto& at = g_.scalars[l].args;
      return std::any_of(at.begin(), at.end(), [&](ScalarId index) {
        const auto dim = affine_index(g_, index);
        const auto by = dim ? dim->linear_in(step) : std::nullopt;
        return by && (by->first.is(1) || by->first.is(-1));
      });
    });
  }

  void move_before(NodeId id) {
    const Axis step = {shape::fresh_var(shape::var_name(g_.nodes[loop_].index.var)),
                       g_.nodes[loop_].index.extent};
    const Var index = g_.nodes[loop_].index.var;
    const RegionId inside = g_.nodes[loop_].body, outside = g_.nodes[loop_].region;
    Node& node = g_.nodes[id];
    Output& output = node.outputs[0];
    output.body = substitute(g_, output.body, {{index, Dim(step.var)}});
    output.type.shape.insert(output.type.shape.begin(), step.extent);
    output.at.insert(output.at.begin(), Dim(step.var));
    node.domain.insert(node.domain.begin(), step);
    node.types = {output.type};
    node.region = outside;
    std::erase(g_.regions[inside].nodes, id);
    auto& nodes = g_.regions[outside].nodes;
    nodes.insert(std::find(nodes.begin(), nodes.end(), loop_), id);
    read_at(id, index);
  }

  /// All that reads the node is in the loop, and reads its own step's.
  void read_at(NodeId id, Var index) {
    for (NodeId user : uses_.at({id, 0}).users())
      edit::each_body(g_.nodes[user], [&](ScalarId& body, const std::vector<Axis>&) {
        body = rewrite_loads(g_, body, [&](ScalarId l) {
          Scalar s = g_.scalars[l];
          if (s.target != Value{id, 0}) return l;
          s.args.insert(s.args.begin(), index_of(g_, Dim(index)));
          return make_scalar(g_, std::move(s));
        });
      });
  }

  Graph& g_;
  NodeId loop_;
  const std::map<Value, edit::Uses> uses_;
  const std::set<Value> consumed_;
  const std::set<NodeId> checked_;
};

}  // namespace

void batch_steps(Graph& g) {
  StepBatcher batcher(g);
  const std::vector<NodeId> nodes = all_nodes(g);
  for (auto id = nodes.rbegin(); id != nodes.rend(); ++id)  // inner loops first
    if (g.nodes[*id].op == NodeOp::loop) batcher.run(*id);
}

}  // namespace axon::graph
