// Arrays to nodes: instantiating templates, storing them, and hash-consing per region.
//
// A node goes to the outermost region in which everything it reads is defined: so tables that do not depend
// on the layer are computed once, before the loop.
#include <algorithm>

#include "base/bug.h"
#include "graph/dynamic_sizes.h"
#include "graph/from_core/evaluator.h"

namespace axon::graph {

// ---- templates ----

ScalarId GraphBuilder::element(const Array& a, const std::vector<ScalarId>& indices) {
  shape::Substitution affine;
  std::map<Var, ScalarId> scalars;
  for (size_t i = 0; i < a.vars.size(); ++i) {
    if (auto dim = affine_index(g, indices[i])) {
      affine[a.vars[i]] = *dim;
    } else {
      scalars[a.vars[i]] = indices[i];
    }
  }
  return substitute(g, substitute(g, a.body, affine), scalars);
}

ScalarId GraphBuilder::element_at(const Array& a, const std::vector<Dim>& indices) {
  shape::Substitution s;
  for (size_t i = 0; i < a.vars.size(); ++i) s[a.vars[i]] = indices[i];
  return substitute(g, a.body, s);
}

Array GraphBuilder::fresh_array(Elem elem, std::vector<Dim> shape,
                                const std::function<ScalarId(const std::vector<Var>&)>& body,
                                const std::vector<Var>& named_like) {
  static const char* const names[] = {"i", "j", "a", "b", "c", "d"};
  Array a;
  a.elem = elem;
  a.shape = std::move(shape);
  for (size_t i = 0; i < a.shape.size(); ++i)
    a.vars.push_back(shape::fresh_var(i < named_like.size() ? shape::var_name(named_like[i])
                                      : i < 6               ? names[i]
                                                            : "e"));
  a.body = body(a.vars);
  return a;
}

Array GraphBuilder::array_of(const TensorType& type, Value v, const std::vector<Dim>& lead,
                             const std::vector<Var>& named_like) {
  std::vector<Dim> shape(type.shape.begin() + static_cast<ptrdiff_t>(lead.size()), type.shape.end());
  return fresh_array(
      type.elem, shape,
      [&](const std::vector<Var>& vars) {
        std::vector<ScalarId> indices;
        for (const Dim& d : lead) indices.push_back(index_of(g, d));
        for (Var var : vars) indices.push_back(index_of(g, Dim(var)));
        return load(g, v, indices, type.elem);
      },
      named_like);
}

Val GraphBuilder::scalar(ScalarId id) {
  Array a;
  a.elem = g.scalars[id].elem;
  a.body = id;
  return Val::of(std::move(a));
}

std::shared_ptr<Array> GraphBuilder::leaf_ptr(const Val& v) {
  if (v.kind == Val::Kind::array) return v.array;
  if (v.kind != Val::Kind::error && !failed_)
    base::bug("from_core", "a tensor is wanted where there is none");
  Array a;
  a.body = constant_float(g, Elem::f32, 0);
  return std::make_shared<Array>(a);
}

Array GraphBuilder::leaf(const Val& v) { return *leaf_ptr(v); }

std::vector<Axis> GraphBuilder::free_axes(ScalarId id, const std::vector<Dim>& shape) const {
  std::vector<Axis> found;
  if (active_.empty()) return found;
  std::vector<Var> free = free_vars(g, id);
  const auto add = [&](Var v) {
    if (std::find(free.begin(), free.end(), v) == free.end()) free.push_back(v);
  };
  for (const Dim& d : shape)
    for (Var v : d.vars()) add(v);
  for (size_t i = 0; i < free.size(); ++i) {  // and what their ranges depend on
    const Var v = free[i];
    if (const DynamicSize* size = sizes_.data_dependent(v))
      for (Var of : free_vars(g, size->value)) add(of);
    for (const Axis& a : active_)
      if (a.var == v)
        for (Var of : a.extent.vars()) add(of);
  }
  for (const Axis& a : active_)
    if (std::find(free.begin(), free.end(), a.var) != free.end()) found.push_back(a);
  return found;
}

// ---- storage ----

std::optional<std::pair<Value, std::vector<Dim>>> GraphBuilder::place_of(const Array& a) const {
  const Scalar& s = g.scalars[a.body];
  if (s.op != Op::load || s.args.size() < a.vars.size()) return std::nullopt;
  size_t lead = s.args.size() - a.vars.size();
  std::vector<Dim> fixed;
  for (size_t i = 0; i < s.args.size(); ++i) {
    auto dim = affine_index(g, s.args[i]);
    if (!dim) return std::nullopt;
    if (i < lead) {
      for (Var v : a.vars)
        if (dim->contains(v)) return std::nullopt;
      fixed.push_back(*dim);
    } else if (*dim != Dim(a.vars[i - lead]) ||
               sizes_.bound_of(a.shape[i - lead]) != g.type(s.target).shape[i]) {
      return std::nullopt;
    }
  }
  return std::pair(s.target, fixed);
}

void GraphBuilder::force(Array& a) {
  const Scalar& s = g.scalars[a.body];
  if (a.shape.empty() || s.op == Op::constant || s.op == Op::index) return;
  if (s.op == Op::load &&
      std::all_of(s.args.begin(), s.args.end(), [&](ScalarId i) { return affine_index(g, i); }))
    return;
  if (!free_axes(a.body, a.shape).empty()) return;
  Value v = store(a, {});
  Array stored = array_of({a.elem, a.shape}, v);
  a.vars = stored.vars;
  a.body = stored.body;
}

void GraphBuilder::force_all(const Val& v) {
  if (v.kind == Val::Kind::array) force(*v.array);
  for (const Val& item : v.items) force_all(item);
}

void GraphBuilder::keep(Array& a) {
  std::vector<Axis> domain = free_axes(a.body, a.shape);
  std::vector<Dim> lead;
  for (const Axis& axis : domain) lead.emplace_back(axis.var);
  for (size_t i = 0; i < a.vars.size(); ++i) domain.push_back({a.vars[i], a.shape[i]});
  TensorType type{a.elem, {}};
  for (const Axis& axis : domain) type.shape.push_back(axis.extent);
  const Value v = emit(domain, a.body, type, a.name);
  const Array stored = array_of(type, v, lead);
  a.vars = stored.vars;
  a.body = stored.body;
}

Value GraphBuilder::store(Array& a, const std::vector<Axis>& lead, bool hoist) {
  if (auto place = place_of(a)) {
    std::vector<Dim> wanted;
    for (const Axis& axis : lead) wanted.emplace_back(axis.var);
    const std::vector<Dim>& shape = g.type(place->first).shape;
    bool same = place->second == wanted;
    for (size_t i = 0; same && i < lead.size(); ++i) same = shape[i] == sizes_.bound_of(lead[i].extent);
    const bool here = hoist || g.nodes[place->first.node].region == regions_.back();
    if (same && here) return place->first;
  }
  std::vector<Axis> domain = lead;
  for (size_t i = 0; i < a.vars.size(); ++i) domain.push_back({a.vars[i], a.shape[i]});
  TensorType type{a.elem, {}};
  for (const Axis& axis : domain) type.shape.push_back(axis.extent);
  return emit(domain, a.body, type, a.name, std::nullopt, {}, hoist);
}

// ---- nodes ----

size_t GraphBuilder::depth_of(RegionId region) const {
  for (size_t d = 0; d < regions_.size(); ++d)
    if (regions_[d] == region) return d;
  base::bug("from_core", "a value from a region that is closed");
}

size_t GraphBuilder::region_for(const std::vector<Axis>& domain, const std::vector<ScalarId>& bodies,
                                std::optional<Value> base, const std::vector<Dim>& at) const {
  size_t depth = 0;
  auto uses_dim = [&](Var v) {
    for (size_t l = 0; l < loops_.size(); ++l)
      if (loops_[l].var == v) depth = std::max(depth, l + 1);
  };
  for (const Axis& a : domain)
    for (Var v : a.extent.vars()) uses_dim(v);
  for (const Dim& d : at)
    for (Var v : d.vars()) uses_dim(v);
  for (ScalarId body : bodies) {
    for (Var v : free_vars(g, body)) uses_dim(v);
    for (ScalarId l : loads_in(g, body))
      depth = std::max(depth, depth_of(g.nodes[g.scalars[l].target.node].region));
  }
  if (base) depth = std::max(depth, depth_of(g.nodes[base->node].region));
  return depth;
}

GraphBuilder::Ranges GraphBuilder::ranges_around(ScalarId body) const {
  Ranges around;
  const auto need_element = [&](const Axis& axis) {
    const Fact one = shape::at_least(axis.extent, Dim(1));
    if (shape::prove(g.facts, one).verdict == shape::Verdict::proved) return;
    around.not_empty.push_back(
        apply(g, Op::le, {constant_int(g, Elem::i64, 1), sizes_.value_of(axis.extent)}));
  };
  for (size_t l = region_for({}, {body}, std::nullopt, {}); l < loops_.size(); ++l) {
    const Dim& steps = loops_[l].extent;
    around.may_leave_loops &= sizes_.over_sizes(steps) || sizes_.varies(steps);
    if (around.may_leave_loops) need_element(loops_[l]);
  }
  const auto depends_on = [&](ScalarId id, const Axis& axis) {
    const std::vector<Axis> axes = free_axes(id);
    return std::any_of(axes.begin(), axes.end(), [&](const Axis& a) { return a.var == axis.var; });
  };
  for (size_t i = active_.size(); i-- > 0;) {  // inner ones first: their extents may depend on the outer ones
    const auto moved = [&](ScalarId id) { return depends_on(id, active_[i]); };
    if (!moved(body) && std::none_of(around.not_empty.begin(), around.not_empty.end(), moved))
      need_element(active_[i]);
  }
  return around;
}

Var GraphBuilder::canonical(size_t position) {
  while (canonical_.size() <= position) canonical_.push_back(shape::fresh_var("x"));
  return canonical_[position];
}

/// Equal nodes up to the names of their variables have equal keys. In a branch and outside of it they are
/// one.
GraphBuilder::NodeKey GraphBuilder::key_of(const Node& n) {
  const Output& out = n.outputs[0];
  shape::Substitution renamed;
  size_t next = 0;
  for (const Axis& a : n.domain) renamed[a.var] = Dim(canonical(next++));
  for (const Axis& b : g.scalars[out.body].binders) renamed[b.var] = Dim(canonical(next++));
  for (const DynamicSize& s : n.dynamic_sizes) renamed[s.size] = Dim(canonical(next++));
  std::vector<const shape::DimNode*> dims;
  for (const Axis& a : n.domain) dims.push_back(a.extent.substitute(renamed).node());
  for (const Dim& d : out.type.shape) dims.push_back(d.node());
  for (const Dim& d : out.at) dims.push_back(d.substitute(renamed).node());
  std::vector<ScalarId> scalars{substitute(g, out.body, renamed)};
  for (const DynamicSize& s : n.dynamic_sizes) {
    dims.push_back(s.bound.node());
    scalars.push_back(substitute(g, s.value, renamed));
  }
  const uint64_t form = (uint64_t{n.domain.size()} << 40) | (uint64_t{out.type.shape.size()} << 20) |
                        uint64_t{static_cast<uint8_t>(out.type.elem)};
  return {n.region.index, scalars, dims, form, out.base};
}

/// Notes the data-dependent sizes that the node mentions.
void GraphBuilder::note_sizes(Node& n) const {
  if (sizes_.data_dependent_sizes().empty()) return;
  std::vector<Var> mentioned = free_vars(g, n.outputs[0].body);
  for (const Axis& a : n.domain) a.extent.collect_vars(mentioned);
  for (Var v : mentioned) {
    const auto is_it = [&](const DynamicSize& s) { return s.size == v; };
    const DynamicSize* size = sizes_.data_dependent(v);
    if (size && std::none_of(n.dynamic_sizes.begin(), n.dynamic_sizes.end(), is_it))
      n.dynamic_sizes.push_back(*size);
  }
}

Value GraphBuilder::emit(std::vector<Axis> domain, ScalarId body, TensorType type, const std::string& name,
                         std::optional<Value> base, std::vector<Dim> at, bool hoist) {
  Node n;
  n.op = NodeOp::compute;
  n.name = name;
  n.guarded = !guards_.empty() || !conditions_.empty();
  const bool plain = at.empty() || at == identity_map(domain);
  // The grid of a node is the same in every iteration of the loops around it.
  if (!base && plain)
    for (size_t i = 0; i < domain.size(); ++i)
      if (const auto most = sizes_.most_in_loops(domain[i].extent)) {
        domain[i].extent = type.shape[i] = *most;
        n.guarded = true;  // the domain has more points than the body is right for
      }
  if (plain) at = identity_map(domain);
  n.domain = std::move(domain);
  n.outputs = {{base ? g.type(*base) : sizes_.bound_of(type), body, base, std::move(at)}};
  // An extent that is negative where the node is not reached is 0 in memory.
  for (size_t i = 0; !base && plain && i < n.domain.size(); ++i) {
    const Dim& extent = n.domain[i].extent;
    n.guarded = n.guarded || (!sizes_.varies(extent) && extent != n.outputs[0].type.shape[i]);
  }
  note_sizes(n);
  if (!plain && needs_bounding(g, n))  // that `at` is injective is proved for extents that are not negative
    for (const Axis& a : n.domain)
      if (!sizes_.varies(a.extent)) bounds_.require(shape::at_least(a.extent, Dim(0)), "the size of an axis");
  return add(std::move(n), hoist);
}

/// May the node be computed where the expression is not evaluated at all, since an axis of a `for` or a loop
/// around, which it does not depend on, has no element?
bool GraphBuilder::outlives_ranges(const Node& n, size_t depth) const {
  const auto may_be_empty = [&](const Axis& a) {
    return shape::prove(g.facts, shape::at_least(a.extent, Dim(1))).verdict != shape::Verdict::proved;
  };
  const auto is_own = [&](const Axis& a) {
    return std::any_of(n.domain.begin(), n.domain.end(), [&](const Axis& own) { return own.var == a.var; });
  };
  return std::any_of(active_.begin(), active_.end(),
                     [&](const Axis& a) { return !is_own(a) && may_be_empty(a); }) ||
         std::any_of(loops_.begin() + static_cast<ptrdiff_t>(depth), loops_.end(), may_be_empty);
}

Value GraphBuilder::add(Node n, bool hoist) {
  note_sizes(n);
  Output& out = n.outputs[0];
  size_t depth = regions_.size() - 1;
  if (hoist) {
    std::vector<ScalarId> reads{out.body};
    for (const DynamicSize& s : n.dynamic_sizes) reads.push_back(s.value);
    depth = std::min(depth, region_for(n.domain, reads, out.base, out.at));
  }
  n.guarded = n.guarded || (!loads_in(g, out.body).empty() && outlives_ranges(n, depth));
  shape::Substitution renamed;
  const auto rename = [&](Var& v) {
    const Var own = shape::fresh_var(shape::var_name(v));
    renamed[v] = Dim(own);
    v = own;
  };
  for (DynamicSize& s : n.dynamic_sizes) rename(s.size);
  for (Axis& a : n.domain) rename(a.var);
  for (Axis& a : n.domain) a.extent = a.extent.substitute(renamed);
  for (DynamicSize& s : n.dynamic_sizes) s.value = substitute(g, s.value, renamed);
  out.body = substitute(g, out.body, renamed);
  for (Dim& d : out.at) d = d.substitute(renamed);
  n.region = regions_[depth];
  const NodeKey key = key_of(n);
  if (auto it = known_nodes_.find(key); it != known_nodes_.end()) {
    g.nodes[it->second.node].guarded &= n.guarded;
    return it->second;
  }
  n.source_begin = span_here().begin;
  n.source_end = span_here().end;
  n.types = {out.type};
  const RegionId region = n.region;
  NodeId id = g.nodes.add(std::move(n));
  g.regions[region].nodes.push_back(id);
  return known_nodes_[key] = {id, 0};
}

}  // namespace axon::graph
