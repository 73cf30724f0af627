// See dynamic_sizes.h.
#include "graph/dynamic_sizes.h"

#include <algorithm>

namespace axon::graph {

namespace {

/// The axes of the domain, and those of the reductions that the outputs are.
std::vector<Axis> axes_of(const Graph& g, const Node& node) {
  std::vector<Axis> axes = node.domain;
  for (const Output& o : node.outputs) {
    const std::vector<Axis>& binders = g.scalars[o.body].binders;
    axes.insert(axes.end(), binders.begin(), binders.end());
  }
  return axes;
}

}  // namespace

void add_range(std::vector<Fact>& facts, const Axis& a) {
  facts.push_back(shape::at_least(Dim(a.var), Dim(0)));
  facts.push_back(shape::less(Dim(a.var), a.extent));
}

bool needs_bounding(const Graph& g, const Node& node) {
  if (node.op != NodeOp::compute) return false;
  if (node.guarded || !node.dynamic_sizes.empty()) return true;
  const std::vector<Axis> axes = axes_of(g, node);
  return std::any_of(axes.begin(), axes.end(), [&](const Axis& a) {
    return std::any_of(axes.begin(), axes.end(), [&](const Axis& b) { return a.extent.contains(b.var); });
  });
}

std::optional<Dim> upper_bound(const Dim& d, bool indexed, const KnownVariables& known) {
  const auto is_dynamic = [&](Var v) {
    return std::any_of(known.dynamic.begin(), known.dynamic.end(),
                       [&](const DynamicSize& s) { return s.size == v; });
  };
  std::optional<Dim> most = d;
  if (indexed)
    most = shape::bounds_of(d, known.facts(), [&](Var v) { return known.is_size(v) || is_dynamic(v); }).high;
  for (auto s = known.dynamic.rbegin(); s != known.dynamic.rend() && most; ++s)
    if (most->contains(s->size)) most = at_most(*most, s->size, s->bound);
  return most ? most : shape::bounds_of(d, known.facts(), known.is_size).high;
}

Dim at_least_zero(const Dim& d, const std::vector<Fact>& facts) {
  return shape::prove(facts, shape::at_least(d, Dim(0))).verdict == shape::Verdict::proved ? d
                                                                                           : max(d, Dim(0));
}

ExtentBounds::ExtentBounds(const Graph& g, const Node& node)
    : g_(g), sizes_(node.dynamic_sizes), guarded_(node.guarded), axes_(axes_of(g, node)), outside_(g.facts) {
  for (NodeId loop = g.regions[node.region].loop; loop.valid(); loop = g.regions[g.nodes[loop].region].loop)
    add_range(outside_, g.nodes[loop].index);
}

bool ExtentBounds::is_index(Var v) const {
  return std::any_of(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.var == v; });
}

bool ExtentBounds::varies(const Dim& extent) const {
  const std::vector<Var> vars = extent.vars();
  return std::any_of(vars.begin(), vars.end(), [&](Var v) {
    return is_index(v) ||
           std::any_of(sizes_.begin(), sizes_.end(), [&](const DynamicSize& s) { return s.size == v; });
  });
}

Dim ExtentBounds::of(const Dim& extent) const {
  const std::vector<Var> vars = extent.vars();
  const bool indexed = std::any_of(vars.begin(), vars.end(), [&](Var v) { return is_index(v); });
  const auto is_size = [&](Var v) {
    return std::any_of(g_.sizes.begin(), g_.sizes.end(), [&](const Size& s) { return s.var == v; });
  };
  const auto facts = [&] {
    std::vector<Fact> all = outside_;
    for (const DynamicSize& s : sizes_) {
      all.push_back(shape::at_least(Dim(s.size), Dim(0)));
      all.push_back(shape::at_most(Dim(s.size), s.bound));
    }
    for (const Axis& a : axes_) add_range(all, a);
    return all;
  };
  const auto most = upper_bound(extent, indexed, {is_size, sizes_, facts});
  if (!most) return extent;
  if ((!guarded_ && !indexed) || most->constant() || (most->as_var() && !reads_integer(g_, *most)))
    return *most;
  // The range of an index implies that its axis is not empty: that must not prove the extent of the axis.
  return at_least_zero(*most, outside_);
}

}  // namespace axon::graph
