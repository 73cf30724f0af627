// Bounding dynamic sizes: every node is computed over extents that are known before anything runs.
//
// A node computes all of its domain, and memory is laid out before the launch. So dynamic extents become
// their bounds: elements past a size are computed, and nothing depends on them, and reductions mask what lies
// past the size with the unit of their monoid, orders with what comes last. A node that stands in a branch is
// computed whatever the branch decides. So its loads, and those of nodes whose extents have grown, are
// clamped unless they are in range.
//
// In: nodes with dynamic extents, and guarded ones. Out: the same over sizes of the entry only, safe to
// evaluate at every point.
#include <utility>

#include "graph/clamp.h"
#include "graph/dynamic_sizes.h"
#include "graph/passes/edit.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

class NodeBounder {
 public:
  NodeBounder(Graph& g, Node& node) : g_(g), node_(node), bounds_(g, node), facts_(bounds_.facts_outside()) {
    for (const DynamicSize& s : node.dynamic_sizes) values_.emplace(s.size, s.value);
  }

  void run() {
    std::vector<Axis> domain = node_.domain;
    for (size_t a = 0; a < domain.size(); ++a) domain[a].extent = bound_of_axis(a);
    for (const Axis& a : domain) add_range(facts_, a);
    for (Output& o : node_.outputs) o.body = bounded(o.body);
    node_.domain = std::move(domain);
    node_.dynamic_sizes.clear();
    node_.guarded = false;
  }

 private:
  /// Of an axis that is one of the output's: the extent that its memory has.
  Dim bound_of_axis(size_t a) const {
    const Output& o = node_.outputs[0];
    return edit::is_plain(node_, o) ? o.type.shape[a] : bounds_.of(node_.domain[a].extent);
  }

  ScalarId bounded(ScalarId body) {
    const Scalar root = g_.scalars[body];
    if (root.op != Op::reduce && root.op != Op::order) return safe(body);
    std::vector<Axis> binders = root.binders;
    const size_t outside = facts_.size();
    for (Axis& b : binders) {
      b.extent = bounds_.of(b.extent);
      add_range(facts_, b);
    }
    ScalarId term = safe(root.args[0]);
    facts_.resize(outside);
    const ScalarId unit = without_effect(root, g_.scalars[term].elem);
    for (const Axis& b : root.binders)
      if (bounds_.varies(b.extent)) term = apply(g_, Op::select, {is_inside(b), term, unit});
    if (root.op == Op::order) return position_in_order(g_, root.descending, binders[0], term, root.args[1]);
    return reduce(g_, root.monoid, binders, term);
  }

  /// The term of an element past the size: in an order none stands behind it that is in the size.
  ScalarId without_effect(const Scalar& root, Elem elem) {
    if (root.op == Op::order) return last_in_order(g_, root.descending, elem);
    return unit_of(g_, root.monoid == Monoid::argmax ? Monoid::max : root.monoid, elem);
  }

  /// The expression with values for sizes, and its loads in range.
  ScalarId safe(ScalarId id) {
    return rewrite_loads(g_, substitute(g_, id, values_),
                         [&](ScalarId l) { return clamped_load(g_, l, facts_); });
  }

  /// The condition that the axis has this element.
  ScalarId is_inside(const Axis& axis) {
    const ScalarId extent = substitute(g_, index_of(g_, axis.extent), values_);
    return apply(g_, Op::lt, {index_of(g_, Dim(axis.var)), extent});
  }

  Graph& g_;
  Node& node_;
  const ExtentBounds bounds_;
  std::vector<Fact> facts_;  // of the variables in scope, with bounds for extents
  std::map<Var, ScalarId> values_;
};

}  // namespace

void bound_dynamic_sizes(Graph& g) {
  for (NodeId id : all_nodes(g))
    if (needs_bounding(g, g.nodes[id])) NodeBounder(g, g.nodes[id]).run();
}

}  // namespace axon::graph
