// separate_axes: propagates a reshape that merges axes into reductions, which then go over the axes
// themselves.
//
// In: sum(l < n*m; %1[l]) where %1 stores x[i, j] at position i*m + j. Out: sum(i < n, j < m; x[i, j]), the
// same terms in the same order, also beside other binders, and also where x was merged from more axes before.
// The merged tensor stays where others read it; what it is made of is written into the reduction only when
// that repeats no work. Prefixes (prefix.h) keep their one binder: the merged axis is their row, which one
// pass goes through, and with several binders every element would fold all terms anew.
#include <algorithm>

#include "graph/passes/edit.h"
#include "graph/passes/order.h"
#include "graph/passes/passes.h"
#include "graph/prefix.h"

namespace axon::graph {

namespace {

/// A tensor whose axis `position` is the merged ones among the axes of its node's domain, the first
/// outermost.
struct Merged {
  const Node* node = nullptr;
  size_t position = 0;
  std::vector<size_t> axes;         ///< positions in the domain
  std::vector<size_t> argument_of;  ///< per domain axis: which index of a load it is; the merged ones: none
  static constexpr size_t none = SIZE_MAX;
};

Dim row_by_row(const std::vector<Axis>& axes) {
  Dim position(0);
  for (const Axis& a : axes) position = position * a.extent + Dim(a.var);
  return position;
}

std::optional<size_t> axis_named(const std::vector<Axis>& domain, const Dim& at) {
  for (size_t i = 0; i < domain.size(); ++i)
    if (at == Dim(domain[i].var)) return i;
  return std::nullopt;
}

std::optional<Merged> merged_at(const Graph& g, Value v, size_t position) {
  if (v.is_local()) return std::nullopt;
  const Node& node = g.nodes[v.node];
  if (node.op != NodeOp::compute || node.outputs.size() != 1 || !node.locals.empty()) return std::nullopt;
  const Output& out = node.outputs[0];
  if (out.base || !edit::is_pointwise(g, out.body)) return std::nullopt;
  Merged merged{&node, position, {}, std::vector<size_t>(node.domain.size(), Merged::none)};
  for (size_t a = 0; a < out.at.size(); ++a) {
    if (a == position) continue;
    const auto axis = axis_named(node.domain, out.at[a]);
    if (!axis || merged.argument_of[*axis] != Merged::none) return std::nullopt;
    merged.argument_of[*axis] = a;
  }
  std::vector<Axis> rest;
  for (size_t i = 0; i < node.domain.size(); ++i) {
    if (merged.argument_of[i] != Merged::none) continue;
    merged.axes.push_back(i);
    rest.push_back(node.domain[i]);
  }
  if (rest.size() < 2 || !(row_by_row(rest) == out.at[position])) return std::nullopt;
  return merged;
}

/// The merged tensor that this load reads along `binder`; nullopt when it is read in any other way.
std::optional<Merged> read_along(const Graph& g, const Scalar& load, Var binder) {
  std::optional<size_t> position;
  for (size_t a = 0; a < load.args.size(); ++a) {
    if (!depends_on(g, load.args[a], binder)) continue;
    const auto at = affine_index(g, load.args[a]);
    if (position || !at || !(*at == Dim(binder))) return std::nullopt;
    position = a;
  }
  return position ? merged_at(g, load.target, *position) : std::nullopt;
}

/// Where a reduction stands: in a body over a domain.
struct Reader {
  NodeId node;
  std::vector<Axis> domain;
  ScalarId body;
};

/// May the formula of the merged tensor stand where the load is? What takes no time may, and what is read at
/// one place only: there a few operations may be repeated, and more of them where each element is read once.
bool may_move(const Graph& g, ScalarId load, const Reader& reader, const std::map<Value, edit::Uses>& uses) {
  const Value v = g.scalars[load].target;
  const edit::Uses& use = uses.at(v);
  const edit::Cost cost = edit::cost_of(g, g.nodes[v.node].outputs[0].body);
  const bool once = use.loads.size() == 1 && use.others == 0;
  const bool repeats_little =
      edit::is_cheap(cost) || edit::reads_each_once(g, load, reader.domain, reader.body);
  if (!edit::is_free(cost) && !(once && repeats_little)) return false;
  return !edit::reads_after_update(g, edit::values_read(g, v.node), reader.node);
}

/// Fresh axes for the merged ones; nullopt unless the extents are those that were found before.
bool same_extents(const Merged& merged, std::vector<Axis>& binders) {
  const bool first = binders.empty();
  if (!first && binders.size() != merged.axes.size()) return false;
  for (size_t i = 0; i < merged.axes.size(); ++i) {
    const Axis& axis = merged.node->domain[merged.axes[i]];
    if (first) binders.push_back({shape::fresh_var(shape::var_name(axis.var)), axis.extent});
    if (!(binders[i].extent == axis.extent)) return false;
  }
  return true;
}

/// The reduction with binder `at` in the axes that it goes over; nullopt when it is none that was merged.
std::optional<ScalarId> separated(Graph& g, const Reader& reader, const Scalar& reduction, size_t at,
                                  const std::map<Value, edit::Uses>& uses) {
  const Axis binder = reduction.binders[at];
  std::vector<Axis> axes;
  std::map<ScalarId, Merged> reads;
  for (ScalarId id : loads_in(g, reduction.args[0])) {
    if (!depends_on(g, id, binder.var)) continue;
    const auto merged = read_along(g, g.scalars[id], binder.var);
    if (!merged || !may_move(g, id, reader, uses) || !same_extents(*merged, axes)) return std::nullopt;
    reads.emplace(id, *merged);
  }
  Dim all(1);
  for (const Axis& a : axes) all = all * a.extent;
  if (reads.empty() || all != binder.extent) return std::nullopt;  // a part of the axis
  bool possible = true;
  ScalarId body = rewrite_loads(g, reduction.args[0], [&](ScalarId id) {
    const auto found = reads.find(id);
    if (found == reads.end()) return id;
    const Merged& merged = found->second;
    std::vector<ScalarId> point;
    size_t next = 0;
    for (size_t i = 0; i < merged.node->domain.size(); ++i) {
      const size_t a = merged.argument_of[i];
      point.push_back(a == Merged::none ? index_of(g, Dim(axes[next++].var)) : g.scalars[id].args[a]);
    }
    const auto inside = edit::instantiate(g, merged.node->domain, merged.node->outputs[0].body, point);
    possible &= inside.has_value();
    return inside.value_or(id);
  });
  if (!possible || edit::post_order(g, body).size() > edit::max_body_size) return std::nullopt;
  body = substitute(g, body, shape::Substitution{{binder.var, row_by_row(axes)}});
  std::vector<Axis> binders = reduction.binders;
  const auto place = binders.erase(binders.begin() + static_cast<std::ptrdiff_t>(at));
  binders.insert(place, axes.begin(), axes.end());
  return reduce(g, reduction.monoid, binders, body);
}

/// The body with one binder of one reduction separated; nullopt when there is none to separate.
std::optional<ScalarId> with_one_separated(Graph& g, const Reader& reader,
                                           const std::map<Value, edit::Uses>& uses) {
  for (ScalarId r : edit::binders_in(g, reader.body)) {
    const Scalar reduction = g.scalars[r];
    if (reduction.op != Op::reduce || reduction.monoid == Monoid::argmax) continue;
    for (size_t at = 0; at < reduction.binders.size(); ++at)
      if (const auto now = separated(g, reader, reduction, at, uses))
        return edit::rebuild(g, reader.body, [&](Scalar s) {
          const bool is_it = s.op == Op::reduce && make_scalar(g, s) == r;
          return is_it ? *now : edit::fold(g, std::move(s));
        });
  }
  return std::nullopt;
}

/// One binder of each body, where there is one. What a merged tensor was made of may be merged itself: that
/// is seen once nobody reads the first any more.
bool separate_once(Graph& g) {
  bool any = false;
  std::map<Value, edit::Uses> uses = edit::uses_of(g);
  for (NodeId id : all_nodes(g)) {
    if (g.nodes[id].op != NodeOp::compute || !edit::has_reduction(g, g.nodes[id])) continue;
    if (goes_through_rows(g, g.nodes[id])) continue;
    bool changed = false;
    edit::each_body(g.nodes[id], [&](ScalarId& body, const std::vector<Axis>& domain) {
      const auto now = with_one_separated(g, {id, domain, body}, uses);
      changed |= now.has_value();
      body = now.value_or(body);
    });
    if (changed) uses = edit::uses_of(g);
    any |= changed;
  }
  edit::sweep(g);
  return any;
}

}  // namespace

void separate_axes(Graph& g) {
  while (separate_once(g)) {
  }
}

}  // namespace axon::graph
