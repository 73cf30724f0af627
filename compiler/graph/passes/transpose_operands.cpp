// transpose_operands: what a contraction streams lies together in memory.
//
// In: fused nodes. A contraction may read its right operand along an axis that is not the last one, while the
// last one is an axis of the batch, as where heads are the last axis of keys: each of its tasks then goes
// through all lines of memory for a few elements of each. Out: a copy of that operand with the axes of the
// batch first, and the old node, which reads the copy. What an online reduction weights may also be no
// tensor, or one that does not lie along the columns: the values are a node of their own then, the columns
// last.
//
// Note: operands that have rows to be read by; whose indices are variables, all of the node's own, so that
// the copy is as large as the operand. Weights stored as panels are laid out once and for all. After fuse,
// which would take the copy back.
#include <algorithm>
#include <map>

#include "graph/contraction.h"
#include "graph/passes/cleanup.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

/// The order of axes that an operand is copied in.
using Order = std::vector<uint32_t>;

/// The axes of a load whose last one is of the batch: those of the batch, then the others. nullopt where they
/// lie well, or where an index is no variable of the axes around.
std::optional<Order> batch_first(const Graph& g, const Scalar& load, const std::set<Var>& batch,
                                 const std::set<Var>& others) {
  Order first, last;
  for (uint32_t a = 0; a < load.args.size(); ++a) {
    const auto dim = affine_index(g, load.args[a]);
    const auto v = dim ? dim->as_var() : std::nullopt;
    if (!v || !(batch.contains(*v) || others.contains(*v))) return std::nullopt;
    (batch.contains(*v) ? first : last).push_back(a);
  }
  if (last.empty() || last.back() + 1 == load.args.size()) return std::nullopt;
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

class Operands {
 public:
  Operands(Graph& g, NodeId node) : g_(g), id_(node) {}

  bool run() {
    const Node& node = g_.nodes[id_];
    for (const PlacedContraction& placed : contractions_of(g_, node))
      find(placed.contraction, placed.local ? node.locals[*placed.local].domain : node.domain);
    for (const auto& [value, order] : found_) copy(value, order);
    const bool computes = compute_values();
    return computes || !found_.empty();
  }

 private:
  void find(const Contraction& c, const std::vector<Axis>& domain) {
    if (!c.load.valid() || panel_axes(g_, c) || !any_long(domain, c.rows)) return;
    std::set<Var> batch, others;
    for (uint32_t a : c.batch) batch.insert(domain[a].var);
    for (uint32_t a : c.columns) others.insert(domain[a].var);
    for (const Axis& b : g_.scalars[c.reduce].binders) others.insert(b.var);
    add(c.load, batch, others);
  }

  static bool any_long(const std::vector<Axis>& domain, const std::vector<uint32_t>& axes) {
    return std::any_of(axes.begin(), axes.end(), [&](uint32_t a) { return !domain[a].extent.is(1); });
  }

  void add(ScalarId load, const std::set<Var>& batch, const std::set<Var>& others) {
    const Scalar& s = g_.scalars[load];
    if (s.op != Op::load || s.target.is_local()) return;
    if (const auto order = batch_first(g_, s, batch, others)) found_.emplace(s.target, *order);
  }

  void copy(Value value, const Order& order) {
    const TensorType type = g_.type(value);
    Node node;
    TensorType turned{type.elem, {}};
    std::vector<ScalarId> at(order.size());
    for (uint32_t a : order) {
      node.domain.push_back({shape::fresh_var("i"), type.shape[a]});
      turned.shape.push_back(type.shape[a]);
      at[a] = index_of(g_, Dim(node.domain.back().var));
    }
    node.outputs.push_back({turned, load(g_, value, at, type.elem), std::nullopt, identity_map(node.domain)});
    node.types.push_back(turned);
    const NodeId copied = edit::insert_before(g_, id_, std::move(node));
    edit::each_body(g_.nodes[id_], [&](ScalarId& body, const std::vector<Axis>&) {
      body = edit::rebuild(g_, body, [&](Scalar s) {
        if (s.op != Op::load || s.target != value) return make_scalar(g_, std::move(s));
        std::vector<ScalarId> turned_at;
        for (uint32_t a : order) turned_at.push_back(s.args[a]);
        return load(g_, {copied, 0}, turned_at, s.elem);
      });
    });
  }

  // ---- values of online reductions ----

  /// The axes around that the value depends on: those of the batch, the keys, the columns. Empty where it is
  /// a tensor that lies along the columns, or has none.
  std::vector<Axis> axes_of_value(const Scalar& online, ScalarId value,
                                  const std::vector<Axis>& domain) const {
    std::vector<Axis> batch, columns;
    for (const Axis& axis : domain)
      if (depends_on(g_, value, axis.var))
        (depends_on(g_, online.args[0], axis.var) ? batch : columns).push_back(axis);
    const ScalarId load = streamed_load(g_, g_.nodes[id_].locals, value, base::accumulator(online.elem));
    if (columns.empty() || online.binders.size() != 1 || (load.valid() && lies_along(load, columns)))
      return {};
    if (!depends_on(g_, value, online.binders[0].var) || reads_locals(value)) return {};
    batch.push_back(online.binders[0]);
    batch.insert(batch.end(), columns.begin(), columns.end());
    return batch;
  }

  /// They are the node's own: what another one computes cannot read them.
  bool reads_locals(ScalarId value) const {
    const auto loads = loads_in(g_, value);
    return std::any_of(loads.begin(), loads.end(),
                       [&](ScalarId load) { return g_.scalars[load].target.is_local(); });
  }

  bool lies_along(ScalarId load, const std::vector<Axis>& columns) const {
    const std::vector<ScalarId>& at = g_.scalars[load].args;
    if (!std::all_of(at.begin(), at.end(),
                     [&](ScalarId index) { return affine_index(g_, index).has_value(); }))
      return false;
    const auto last = at.empty() ? std::nullopt : affine_index(g_, at.back());
    return last && std::any_of(columns.begin(), columns.end(), [&](const Axis& axis) {
             const auto step = last->linear_in(axis.var);
             return step && step->first.is(1);
           });
  }

  /// Of the outputs' reductions. Does any have values that are computed before?
  bool compute_values() {
    bool any = false;
    const std::vector<Axis> domain = g_.nodes[id_].domain;
    for (size_t o = 0; o < g_.nodes[id_].outputs.size(); ++o) {
      const ScalarId body = edit::rebuild(g_, g_.nodes[id_].outputs[o].body, [&](Scalar s) {
        for (size_t a = 1; s.op == Op::online && a < s.args.size(); ++a) {
          const auto axes = axes_of_value(s, s.args[a], domain);
          if (axes.empty()) continue;
          s.args[a] = computed_before(s.args[a], axes);
          any = true;
        }
        return make_scalar(g_, std::move(s));
      });
      g_.nodes[id_].outputs[o].body = body;
    }
    return any;
  }

  /// A load of what a node before this one computes at all points of the axes.
  ScalarId computed_before(ScalarId value, const std::vector<Axis>& axes) {
    Node node;
    TensorType type{g_.scalars[value].elem, {}};
    shape::Substitution renamed;
    std::vector<ScalarId> at;
    for (const Axis& axis : axes) {
      node.domain.push_back({shape::fresh_var(shape::var_name(axis.var)), axis.extent});
      type.shape.push_back(axis.extent);
      renamed[axis.var] = Dim(node.domain.back().var);
      at.push_back(index_of(g_, Dim(axis.var)));
    }
    node.outputs.push_back({type, substitute(g_, value, renamed), std::nullopt, identity_map(node.domain)});
    node.types.push_back(type);
    const NodeId made = edit::insert_before(g_, id_, std::move(node));
    return load(g_, {made, 0}, at, type.elem);
  }

  Graph& g_;
  const NodeId id_;
  std::map<Value, Order> found_;
};

}  // namespace

void transpose_operands(Graph& g) {
  bool copied = false;
  for (NodeId id : all_nodes(g))
    if (g.nodes[id].op == NodeOp::compute) copied |= Operands(g, id).run();
  if (!copied) return;
  edit::share_common(g);  // several nodes may read one operand
  edit::hoist_invariants(g);
}

}  // namespace axon::graph
