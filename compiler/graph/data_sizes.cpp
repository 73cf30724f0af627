// What is known of data-dependent sizes before the data is, and who mentions them.
#include <algorithm>

#include "graph/graph.h"

namespace axon::graph {

namespace {

using shape::Atom;
using shape::AtomKind;

/// The most or the least of an expression over one size between 0 and its bound. Every part but that size is
/// a size too, so nothing in it is negative but what is subtracted.
class Extreme {
 public:
  Extreme(Var size, const Dim& bound) : size_(size), bound_(bound) {}

  std::optional<Dim> of(const Dim& d, bool most) const {
    if (!d.contains(size_)) return d;
    Dim sum;
    for (const shape::Term& term : d.terms()) {
      Dim product(term.coefficient);
      for (const Atom& factor : term.factors) {
        const auto part = of(factor, most == (term.coefficient > 0));
        if (!part) return std::nullopt;
        product = product * *part;
      }
      sum = sum + product;
    }
    return sum;
  }

 private:
  std::optional<Dim> of(const Atom& atom, bool most) const {
    if (atom.kind() == AtomKind::var) return atom.var() != size_ ? Dim(atom.var()) : most ? bound_ : Dim(0);
    const auto lhs = of(atom.lhs(), most);
    switch (atom.kind()) {
      case AtomKind::floor_div:
        return lhs && !atom.rhs().contains(size_) ? std::optional(floor_div(*lhs, atom.rhs())) : std::nullopt;
      case AtomKind::mod:
        if (atom.rhs().contains(size_)) return std::nullopt;
        return most ? atom.rhs() - Dim(1) : Dim(0);
      default: {
        const auto rhs = of(atom.rhs(), most);
        if (!lhs || !rhs) return std::nullopt;
        return atom.kind() == AtomKind::min ? min(*lhs, *rhs) : max(*lhs, *rhs);
      }
    }
  }

  Var size_;
  const Dim& bound_;
};

}  // namespace

bool reads_data(const Graph& g, const Dim& d) {
  return std::any_of(g.sizes.begin(), g.sizes.end(),
                     [&](const Size& s) { return s.from == Size::From::data && d.contains(s.var); });
}

std::optional<Dim> at_most(const Dim& d, Var size, const Dim& bound) {
  return Extreme(size, bound).of(d, true);
}

std::optional<Dim> at_most_before_data(const Graph& g, const Dim& d) {
  std::optional<Dim> most = d;
  const auto sizes = data_sizes(g);
  for (auto s = sizes.rbegin(); s != sizes.rend() && most; ++s)  // a bound may mention earlier ones
    most = at_most(*most, g.sizes[*s].var, g.sizes[*s].equation);
  return most;
}

std::optional<uint32_t> input_checked_by_host(const Graph& g, const Check& check) {
  if (check.fact || check.effect || reads_data(g, check.bound)) return std::nullopt;
  const Node& node = g.nodes[check.value.node];
  if (node.op != NodeOp::input) return std::nullopt;
  const Input& input = g.inputs[node.input];
  if (input.kind == InputKind::weight || !base::is_integer(input.type.elem)) return std::nullopt;
  return node.input;
}

std::set<NodeId> loops_with_effects(const Graph& g) {
  std::set<NodeId> loops;
  const auto add = [&](NodeId loop) {
    while (loop.valid() && loops.insert(loop).second) loop = g.regions[g.nodes[loop].region].loop;
  };
  for (const Check& c : g.checks)
    if (!c.fact) add(g.regions[g.nodes[c.value.node].region].loop);
  for (const NodeId loop : conditional_loops(g)) add(loop);
  return loops;
}

bool mentions(const Graph& g, NodeId id, Var v) {
  const Node& node = g.nodes[id];
  const auto in_axes = [&](const std::vector<Axis>& axes) {
    return std::any_of(axes.begin(), axes.end(), [&](const Axis& a) { return a.extent.contains(v); });
  };
  const auto in_dims = [&](const std::vector<Dim>& dims) {
    return std::any_of(dims.begin(), dims.end(), [&](const Dim& d) { return d.contains(v); });
  };
  const auto in_body = [&](ScalarId body) {
    const std::vector<Var> vars = free_vars(g, body);
    return std::find(vars.begin(), vars.end(), v) != vars.end();
  };
  const bool in_types = std::any_of(node.types.begin(), node.types.end(),
                                    [&](const TensorType& t) { return in_dims(t.shape); });
  if (in_types || in_axes(node.domain) || in_axes({node.index})) return true;
  for (const Local& l : node.locals)
    if (in_axes(l.domain) || in_body(l.body)) return true;
  for (const Output& o : node.outputs)
    if (in_dims(o.at) || in_body(o.body)) return true;
  for (const DynamicSize& s : node.dynamic_sizes)
    if (s.bound.contains(v) || in_body(s.value)) return true;
  if (node.op != NodeOp::loop) return false;
  const auto& inside = g.regions[node.body].nodes;
  return std::any_of(inside.begin(), inside.end(), [&](NodeId n) { return mentions(g, n, v); });
}

}  // namespace axon::graph
