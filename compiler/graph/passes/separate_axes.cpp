// separate_axes: a reduction over an axis that a reshaping merged goes over the axes themselves.
//
// In: sum(l < n*m; %1[l]) where %1 stores x[i, j] at position i*m + j. Out: sum(i < n, j < m; x[i, j]), the
// same terms in the same order. The merged tensor stays where others read it; what it is made of is written
// into the reduction only when that repeats no work.
#include <algorithm>

#include "graph/passes/edit.h"
#include "graph/passes/order.h"
#include "graph/passes/passes.h"

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

bool mentions(const Graph& g, ScalarId id, Var v) {
  const std::vector<Var> vars = free_vars(g, id);
  return std::find(vars.begin(), vars.end(), v) != vars.end();
}

/// The merged tensor that this load reads along `binder`; nullopt when it is read in any other way.
std::optional<Merged> read_along(const Graph& g, const Scalar& load, Var binder) {
  std::optional<size_t> position;
  for (size_t a = 0; a < load.args.size(); ++a) {
    if (!mentions(g, load.args[a], binder)) continue;
    const auto at = affine_index(g, load.args[a]);
    if (position || !at || !(*at == Dim(binder))) return std::nullopt;
    position = a;
  }
  return position ? merged_at(g, load.target, *position) : std::nullopt;
}

/// May the formula of the merged tensor stand where it is read?
bool may_move(const Graph& g, Value v, NodeId reader, const std::map<Value, edit::Uses>& uses) {
  const edit::Uses& use = uses.at(v);
  const bool once = use.sites.size() == 1 && use.others == 0;
  if (!once && !edit::is_free(edit::cost_of(g, g.nodes[v.node].outputs[0].body))) return false;
  return !edit::reads_after_update(g, edit::values_read(g, v.node), reader);
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

std::optional<ScalarId> separated(Graph& g, NodeId reader, const Scalar& reduction,
                                  const std::map<Value, edit::Uses>& uses) {
  if (reduction.monoid == Monoid::argmax || reduction.binders.size() != 1) return std::nullopt;
  const Var binder = reduction.binders[0].var;
  std::vector<Axis> binders;
  std::map<ScalarId, Merged> reads;
  for (ScalarId id : loads_in(g, reduction.args[0])) {
    if (!mentions(g, id, binder)) continue;
    const auto merged = read_along(g, g.scalars[id], binder);
    if (!merged || !may_move(g, g.scalars[id].target, reader, uses) || !same_extents(*merged, binders))
      return std::nullopt;
    reads.emplace(id, *merged);
  }
  Dim all(1);
  for (const Axis& b : binders) all = all * b.extent;
  if (reads.empty() || all != reduction.binders[0].extent) return std::nullopt;  // a part of the axis
  bool possible = true;
  ScalarId body = rewrite_loads(g, reduction.args[0], [&](ScalarId id) {
    const auto found = reads.find(id);
    if (found == reads.end()) return id;
    const Merged& merged = found->second;
    std::vector<ScalarId> point;
    size_t next = 0;
    for (size_t i = 0; i < merged.node->domain.size(); ++i) {
      const size_t a = merged.argument_of[i];
      point.push_back(a == Merged::none ? index_of(g, Dim(binders[next++].var)) : g.scalars[id].args[a]);
    }
    const auto inside = edit::instantiate(g, merged.node->domain, merged.node->outputs[0].body, point);
    possible &= inside.has_value();
    return inside.value_or(id);
  });
  if (!possible || edit::post_order(g, body).size() > edit::max_body_size) return std::nullopt;
  body = substitute(g, body, shape::Substitution{{binder, row_by_row(binders)}});
  return reduce(g, reduction.monoid, binders, body);
}

}  // namespace

void separate_axes(Graph& g) {
  std::map<Value, edit::Uses> uses = edit::uses_of(g);
  for (NodeId id : edit::all_nodes(g)) {
    if (g.nodes[id].op != NodeOp::compute || !edit::has_reduction(g, g.nodes[id])) continue;
    bool changed = false;
    auto change = [&](ScalarId& body) {
      for (ScalarId r : edit::binders_in(g, body)) {
        const Scalar reduction = g.scalars[r];
        if (reduction.op != Op::reduce) continue;
        const auto now = separated(g, id, reduction, uses);
        if (!now) continue;
        changed = true;
        body = edit::rebuild(g, body, [&, r = r](Scalar s) {
          const bool is_it = s.op == Op::reduce && make_scalar(g, s) == r;
          return is_it ? *now : edit::fold(g, std::move(s));
        });
        return;
      }
    };
    Node& node = g.nodes[id];
    for (Local& local : node.locals) change(local.body);
    for (Output& output : node.outputs) change(output.body);
    if (changed) uses = edit::uses_of(g);
  }
  edit::sweep(g);
}

}  // namespace axon::graph
