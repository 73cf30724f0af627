// In: a node that is to overwrite a value, and where it stores. Out: the same meaning, where elements of the
// value that it reads at fewer points than it stores, as `s[0]` in s with [:] = s - s[0], are loaded by a
// node before it. What is read at all points elsewhere would be a copy of the value, and stays for
// insert_copies to see.
#include <algorithm>

#include "graph/clamp.h"
#include "graph/dynamic_sizes.h"
#include "graph/passes/edit.h"
#include "task/read_states_first.h"

namespace axon::task {

using graph::Axis;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::Scalar;
using graph::ScalarId;
using graph::Value;

namespace {

/// A load that a node before can make: for which axes of the domain.
struct Element {
  ScalarId load;
  std::vector<Axis> axes;
};

/// Can the load be made outside of the node? An index that is checked only where the node has a point.
bool can_be_read_before(const Graph& g, const Node& node, ScalarId load) {
  bool checked = false, own = false;
  for (ScalarId part : graph::scalars_in(g, load)) {
    const Scalar& s = g.scalars[part];
    checked |= s.op == Op::bounded || s.op == Op::require;
    own |= s.op == Op::load && s.target.is_local();
  }
  const auto has_points = [&](const Axis& a) {
    return shape::prove(g.facts, shape::at_least(a.extent, graph::Dim(1))).verdict == shape::Verdict::proved;
  };
  return !own && (!checked || std::all_of(node.domain.begin(), node.domain.end(), has_points));
}

std::vector<Element> elements_of(const Graph& g, const Node& node, Value v,
                                 const std::vector<graph::Dim>& at) {
  std::vector<Element> found;
  for (const graph::Output& output : node.outputs)
    for (ScalarId l : loads_in(g, output.body)) {
      const Scalar& load = g.scalars[l];
      const auto known = [&](const Element& element) { return element.load == l; };
      if (std::any_of(found.begin(), found.end(), known)) continue;
      if (load.target != v || graph::edit::is_under_binder(g, output.body, l)) continue;
      bool same = true;
      for (size_t a = 0; a < at.size(); ++a) same &= affine_index(g, load.args[a]) == at[a];
      std::vector<Axis> axes;
      bool fewer = false;
      for (const Axis& axis : node.domain)
        if (depends_on(g, l, axis.var))
          axes.push_back(axis);
        else
          fewer |= !axis.extent.is(1);
      if (!same && fewer && can_be_read_before(g, node, l)) found.push_back({l, axes});
    }
  return found;
}

/// The node that loads the element, and the load of it that takes the place of the old one.
ScalarId read_before(Graph& g, NodeId user, const Element& element) {
  graph::edit::Renaming renaming;
  Node node;
  node.domain = graph::edit::fresh_axes(element.axes, renaming);
  std::vector<graph::Fact> facts = g.facts;
  graph::TensorType type{g.scalars[element.load].elem, {}};
  std::vector<ScalarId> at;
  for (size_t a = 0; a < element.axes.size(); ++a) {
    add_range(facts, node.domain[a]);
    type.shape.push_back(node.domain[a].extent);
    at.push_back(index_of(g, graph::Dim(element.axes[a].var)));
  }
  const ScalarId body = clamped_load(g, graph::edit::rename(g, element.load, renaming), facts);
  node.outputs.push_back({type, body, std::nullopt, identity_map(node.domain)});
  node.types.push_back(type);
  const NodeId before = graph::edit::insert_before(g, user, std::move(node));
  return load(g, {before, 0}, at, type.elem);
}

}  // namespace

void read_elements_first(Graph& g, NodeId updater, Value v, const std::vector<graph::Dim>& at) {
  for (const Element& element : elements_of(g, g.nodes[updater], v, at)) {
    const ScalarId now = read_before(g, updater, element);
    for (graph::Output& output : g.nodes[updater].outputs)
      output.body = graph::edit::rewrite_outside_binders(
          g, output.body, [&](ScalarId l) { return l == element.load ? now : l; });
  }
}

}  // namespace axon::task
