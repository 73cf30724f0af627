// pack_operands: what many rows are multiplied by lies in panels.
//
// In: fused nodes. Each task of a contraction brings the block of its right operand together that it streams,
// so that the operand is packed again for each tile of rows. Out: where there are many rows, a node packs the
// operand once for all, into panels of columns whose depth lies together; columns past the last one are 0.
// The contraction chooses between these and the operand as it was by sizes alone (packed_choice in
// contraction.h): of few rows nothing is packed, for the panels' depth has no extent then, and one program
// serves all sizes.
//
// Note: weights that are stored as panels are packed when they are loaded. Windows share what they read, what
// the data chooses is read where it lies, and attention streams its keys. After what splits contractions; for
// machines that stream panels.
#include <algorithm>

#include "graph/clamp.h"
#include "graph/contraction.h"
#include "graph/passes/cleanup.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

class RightOperand {
 public:
  /// Of a contraction in a body over `domain`.
  RightOperand(Graph& g, NodeId user, const Contraction& c, const std::vector<Axis>& domain,
               const PackLimits& limits)
      : g_(g), user_(user), c_(c), domain_(domain), limits_(limits), depth_(g.scalars[c.reduce].binders[0]) {
    if (is_stored_along(domain, c.rows)) {
      std::swap(c_.rows, c_.columns);
      std::swap(c_.left, c_.right);
      c_.load = streamed_load(g, g.nodes[user].locals, c_.right[0], c.accumulator);
    }
    for (const ScalarId factor : c_.right)
      value_ = value_.valid() ? apply(g, Op::mul, {value_, factor}) : factor;
    if (c_.right.size() == 1 && c_.load.valid()) value_ = c_.load;
  }

  bool suits() const {
    constexpr size_t most_rows = 3;  // axes, whose product the prover divides
    if (g_.scalars[c_.reduce].binders.size() != 1 || c_.rows.empty() || c_.rows.size() > most_rows ||
        c_.columns.size() != 1 || c_.runs)
      return false;
    for (const Dim& extent : {rows_of(), depth_.extent, column_of().extent})
      if (!is_polynomial(extent)) return false;  // the prover would not follow the panels' extents
    // Of fewer columns than a panel has the operand is read as it was, which needs a choice.
    const bool is_always_packed = (depth_.extent - packed_depth()).constant().has_value();
    if (is_always_packed && !column_of().extent.constant()) return false;
    const auto rows = rows_of().constant();
    return (!rows || *rows >= limits_.rows) && !panel_axes(g_, c_) &&
           base::is_float(g_.scalars[value_].elem) && edit::is_pointwise(g_, value_) && stands_by_itself() &&
           has_long_columns();
  }

  /// The contraction's body, which reads what a node before its own packs.
  ScalarId packed() {
    const Value panels = add_node();
    std::vector<ScalarId> at;
    const Dim column(column_of().var), width(limits_.columns);
    at.push_back(index_of(g_, shape::floor_div(column, width)));
    at.push_back(index_of(g_, Dim(depth_.var)));
    at.push_back(index_of(g_, shape::mod(column, width)));
    const ScalarId in_panels = load(g_, panels, at, g_.scalars[value_].elem);
    const ScalarId is_packed = apply(g_, Op::le, {index_of(g_, depth_.extent), index_of(g_, packed_depth())});
    const ScalarId either = apply(g_, Op::select, {is_packed, in_panels, value_});
    const Elem elem = g_.scalars[c_.left[0]].elem;
    ScalarId product = cast(g_, elem, either);
    for (size_t f = c_.left.size(); f-- > 0;) product = apply(g_, Op::mul, {c_.left[f], product});
    Scalar s = g_.scalars[c_.reduce];
    s.args = {product};
    return make_scalar(g_, std::move(s));
  }

 private:
  Dim rows_of() const {
    Dim rows(1);
    for (const uint32_t a : c_.rows) rows = rows * domain_[a].extent;
    return rows;
  }

  static bool is_polynomial(const Dim& d) {
    return std::all_of(d.terms().begin(), d.terms().end(), [](const shape::Term& term) {
      return std::all_of(term.factors.begin(), term.factors.end(),
                         [](const shape::Atom& atom) { return atom.kind() == shape::AtomKind::var; });
    });
  }

  /// All of it, or nothing where rows are few, or where it is so deep that the panels would be large beside
  /// what the contraction gives.
  Dim packed_depth() const {
    constexpr int64_t deepest = 16384;
    const Dim are_many = shape::min(Dim(1), shape::floor_div(rows_of(), Dim(limits_.rows))),
              is_deep = shape::floor_div(depth_.extent, Dim(deepest + 1));
    return shape::min(depth_.extent, Dim(deepest) * shape::max(are_many - is_deep, Dim(0)));
  }

  /// Of the axis that elements lie along, the operand that depends on it has the columns.
  static bool is_stored_along(const std::vector<Axis>& domain, const std::vector<uint32_t>& axes) {
    return !axes.empty() && axes.back() + 1 == domain.size();
  }
  const Axis& column_of() const { return domain_[c_.columns.back()]; }
  bool has_long_columns() const {
    return column_of().extent.constant().value_or(limits_.columns) >= limits_.columns;
  }

  /// Can another node compute it, as one matrix? It reads no locals, checks nothing, and each of its indices
  /// is known before the data is and moves with a column or with the depth alone.
  bool stands_by_itself() const {
    const auto fails = [&](ScalarId part) {
      return g_.scalars[part].op == Op::bounded || g_.scalars[part].op == Op::require;
    };
    const auto parts = scalars_in(g_, value_);
    if (std::any_of(parts.begin(), parts.end(), fails)) return false;
    const auto loads = loads_in(g_, value_);
    const bool has_batch = std::any_of(c_.batch.begin(), c_.batch.end(),
                                       [&](uint32_t a) { return depends_on(g_, value_, domain_[a].var); });
    return !has_batch && !loads.empty() && std::all_of(loads.begin(), loads.end(), [&](ScalarId id) {
      const Scalar& s = g_.scalars[id];
      return !s.target.is_local() && std::all_of(s.args.begin(), s.args.end(), [&](ScalarId index) {
        return affine_index(g_, index) &&
               !(depends_on(g_, index, depth_.var) && depends_on(g_, index, column_of().var));
      });
    });
  }

  Value add_node() {
    Node node;
    node.packs = true;
    shape::Substitution at;
    const Dim width(limits_.columns), columns = column_of().extent;
    const Axis panel{shape::fresh_var("panel"), shape::cdiv(columns, width)},
        step{shape::fresh_var(shape::var_name(depth_.var)), packed_depth()},
        inside{shape::fresh_var(shape::var_name(column_of().var)), width};
    const std::vector<Axis> shape = {panel, step, inside};
    node.domain = {step, panel, inside};  // a row is read as it lies
    const Dim column = width * Dim(panel.var) + Dim(inside.var);
    at[depth_.var] = Dim(step.var);
    at[column_of().var] = column;
    std::vector<Fact> facts;
    for (const Axis& a : node.domain) {
      facts.push_back(shape::at_least(Dim(a.var), Dim(0)));
      facts.push_back(shape::less(Dim(a.var), a.extent));
    }
    const ScalarId there =
        rewrite_loads(g_, substitute(g_, value_, at), [&](ScalarId l) { return clamped_load(g_, l, facts); });
    const Elem elem = g_.scalars[value_].elem;
    const ScalarId is_column = apply(g_, Op::lt, {index_of(g_, column), index_of(g_, columns)});
    const ScalarId body = apply(g_, Op::select, {is_column, there, constant_float(g_, elem, 0)});
    TensorType type{elem, {}};
    for (const Axis& a : shape) type.shape.push_back(a.extent);
    node.types.push_back(type);
    node.outputs.push_back({type, body, std::nullopt, identity_map(shape)});
    return {edit::insert_before(g_, user_, std::move(node)), 0};
  }

  Graph& g_;
  const NodeId user_;
  Contraction c_;
  const std::vector<Axis> domain_;
  const PackLimits limits_;
  const Axis depth_;
  ScalarId value_;  ///< what is packed
};

/// Is the local read at variables alone? Sums at other columns are products with columns of their own, whose
/// operands are read where they lie.
bool is_read_in_place(const Graph& g, const Node& node, uint32_t local) {
  bool all = true;
  edit::each_body(node, [&](ScalarId body, const std::vector<Axis>&) {
    for (const ScalarId id : loads_in(g, body)) {
      const Scalar& load = g.scalars[id];
      if (load.target != local_value(local)) continue;
      for (const ScalarId index : load.args) {
        const auto at = affine_index(g, index);
        all &= at && at->as_var();
      }
    }
  });
  return all;
}

/// Attention streams its keys block by block, and is left alone.
bool pack(Graph& g, NodeId id, const PackLimits& limits) {
  std::map<ScalarId, ScalarId> packed;
  const Node node = g.nodes[id];
  if (edit::has_online(g, node)) return false;
  for (const PlacedContraction& placed : contractions_of(g, node)) {
    if (placed.local && !is_read_in_place(g, node, *placed.local)) continue;
    const auto& domain = placed.local ? node.locals[*placed.local].domain : node.domain;
    RightOperand operand(g, id, placed.contraction, domain, limits);
    if (!packed.contains(placed.contraction.reduce) && operand.suits())
      packed[placed.contraction.reduce] = operand.packed();
  }
  edit::each_body(g.nodes[id], [&](ScalarId& body, const std::vector<Axis>&) {
    if (const auto found = packed.find(body); found != packed.end()) body = found->second;
  });
  return !packed.empty();
}

}  // namespace

void pack_operands(Graph& g, const PackLimits& limits) {
  bool any = false;
  for (const NodeId id : all_nodes(g))
    if (g.nodes[id].op == NodeOp::compute) any |= pack(g, id, limits);
  if (!any) return;
  edit::share_common(g);  // several nodes may read one operand
  edit::hoist_invariants(g);
}

}  // namespace axon::graph
