// store_operands: what several tiles of columns multiply is computed once.
//
// In: fused nodes. A contraction whose left operand is computed (a norm of x, an activation) computes it in
// each of its tasks, once for every tile of columns. Of few rows that costs little beside the right operand,
// which comes from memory, and saves a wait. Out: of many rows a node before it computes the operand, with
// the locals that it reads, and the contraction reads that. Contractions of one operand share the node.
//
// Note: only where the operand is made of a tensor with as many elements, so that memory holds little more.
// It is stored in the type that it is multiplied in; what is a tensor but for its type is read as it is. What
// may fail is evaluated where it stands, and what is read under a window or by an online reduction is read
// there. After what splits contractions, whose parts have operands of their own.
#include <algorithm>

#include "graph/clamp.h"
#include "graph/contraction.h"
#include "graph/passes/cleanup.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

class LeftOperand {
 public:
  /// Of a contraction in a body over `domain`.
  LeftOperand(Graph& g, NodeId user, const Contraction& c, const std::vector<Axis>& domain,
              const OperandLimits& limits)
      : g_(g), user_(user), c_(c), limits_(limits), domain_(domain) {
    for (const ScalarId factor : c.left)
      value_ = value_.valid() ? apply(g, Op::mul, {value_, factor}) : factor;
    value_ = cast(g, g.scalars[g.scalars[c.reduce].args[0]].elem, value_);
    for (size_t a = 0; a < domain.size(); ++a)
      if (depends_on(g, value_, domain[a].var)) axes_.push_back(domain[a]);
    axes_.push_back(g.scalars[c.reduce].binders[0]);
  }

  bool suits() const {
    return g_.scalars[c_.reduce].binders.size() == 1 && !is_right_operand() &&
           base::is_float(g_.scalars[value_].elem) && is_computed() && has_many_rows() &&
           has_many_columns() && find_locals() && reads_as_many_elements();
  }

  /// The contraction's body, which reads what a node before its own computes.
  ScalarId stored() {
    const Value operand = add_node();
    std::vector<ScalarId> at;
    for (const Axis& a : axes_) at.push_back(index_of(g_, Dim(a.var)));
    ScalarId product = load(g_, operand, at, g_.scalars[value_].elem);
    for (const ScalarId factor : c_.right) product = apply(g_, Op::mul, {product, factor});
    Scalar s = g_.scalars[c_.reduce];
    s.args = {product};
    return make_scalar(g_, std::move(s));
  }

 private:
  /// Elements of results lie along its axis: it is what pack_operands packs.
  bool is_right_operand() const { return !c_.rows.empty() && c_.rows.back() + 1 == domain_.size(); }

  bool is_computed() const {
    ScalarId inside = value_;
    while (g_.scalars[inside].op == Op::cast) inside = g_.scalars[inside].args[0];
    const Scalar& s = g_.scalars[inside];
    return s.op != Op::load || s.target.is_local();
  }

  bool is_more_than(const std::vector<uint32_t>& axes, int64_t limit) const {
    Dim count(1);
    for (const uint32_t a : axes) count = count * domain_[a].extent;
    return count.constant().value_or(limit + 1) > limit;
  }
  bool has_many_rows() const {
    std::vector<uint32_t> rows;
    std::copy_if(c_.rows.begin(), c_.rows.end(), std::back_inserter(rows),
                 [&](uint32_t a) { return depends_on(g_, value_, domain_[a].var); });
    return is_more_than(rows, limits_.rows);
  }
  bool has_many_columns() const { return is_more_than(c_.columns, limits_.columns); }

  /// All that the operand reads, through locals, too. False where another node cannot compute it.
  bool find_locals() const {
    if (!can_stand_elsewhere(value_, axes_)) return false;
    for (size_t next = 0; next < locals_.size(); ++next) {
      const Local& local = g_.nodes[user_].locals[locals_[next]];
      const auto product = find_contraction(g_, g_.nodes[user_].locals, local.body, local.domain);
      if (product && !product->columns.empty()) return false;
      if (!can_stand_elsewhere(local.body, local.domain)) return false;
    }
    std::sort(locals_.begin(), locals_.end());
    return true;
  }

  /// It checks nothing, and reads within its tensors wherever it is evaluated over these axes: there may be
  /// no column that it has been evaluated for. Notes its locals.
  bool can_stand_elsewhere(ScalarId body, const std::vector<Axis>& axes) const {
    edit::Scope scope(g_, g_.nodes[user_].region);
    scope.add(axes);
    for (const ScalarId id : scalars_in(g_, body)) {
      const Scalar& s = g_.scalars[id];
      if (s.op == Op::bounded || s.op == Op::require) return false;
      if (!s.binders.empty()) scope.add_binders(s.binders);
      if (s.op == Op::load && s.target.is_local() &&
          std::find(locals_.begin(), locals_.end(), s.target.output) == locals_.end())
        locals_.push_back(s.target.output);
    }
    const auto loads = loads_in(g_, body);
    return std::all_of(loads.begin(), loads.end(), [&](ScalarId id) { return is_inside(id, scope); });
  }

  bool is_inside(ScalarId id, const edit::Scope& scope) const {
    const Scalar& s = g_.scalars[id];
    for (size_t a = 0; a < s.args.size(); ++a) {
      const auto index = affine_index(g_, s.args[a]);
      const Dim extent = s.target.is_local() ? g_.nodes[user_].locals[s.target.output].domain[a].extent
                                             : g_.type(s.target).shape[a];
      if (!index || !scope.proves(shape::at_least(*index, Dim(0))) ||
          !scope.proves(shape::less(*index, extent)))
        return false;
    }
    return true;
  }

  /// One load moves with each axis.
  bool reads_as_many_elements() const {
    const auto loads = loads_in(g_, value_);
    return std::any_of(loads.begin(), loads.end(), [&](ScalarId id) {
      return std::all_of(axes_.begin(), axes_.end(), [&](const Axis& a) {
        const auto& args = g_.scalars[id].args;
        return std::any_of(args.begin(), args.end(),
                           [&](ScalarId index) { return depends_on(g_, index, a.var); });
      });
    });
  }

  Value add_node() {
    Node node;
    std::map<uint32_t, uint32_t> numbers;
    for (const uint32_t number : locals_) {
      const Local& old = g_.nodes[user_].locals[number];
      edit::Renaming renaming;
      Local local{old.name, old.elem, edit::fresh_axes(old.domain, renaming), {}};
      local.body = moved(old.body, renaming, numbers);
      numbers[number] = static_cast<uint32_t>(node.locals.size());
      node.locals.push_back(std::move(local));
    }
    edit::Renaming renaming;
    node.domain = edit::fresh_axes(axes_, renaming);
    TensorType type{g_.scalars[value_].elem, {}};
    for (const Axis& a : node.domain) type.shape.push_back(a.extent);
    node.types.push_back(type);
    node.outputs.push_back({type, moved(value_, renaming, numbers), std::nullopt, identity_map(node.domain)});
    const std::string name = node.locals.empty() ? g_.nodes[user_].name : node.locals.back().name;
    const NodeId id = edit::insert_before(g_, user_, std::move(node));
    g_.nodes[id].name = name;
    return {id, 0};
  }

  ScalarId moved(ScalarId body, const edit::Renaming& renaming, const std::map<uint32_t, uint32_t>& numbers) {
    return edit::rebuild(g_, edit::rename(g_, body, renaming), [&](Scalar s) {
      if (s.op == Op::load && s.target.is_local()) s.target.output = numbers.at(s.target.output);
      return make_scalar(g_, std::move(s));
    });
  }

  Graph& g_;
  const NodeId user_;
  const Contraction c_;
  const OperandLimits limits_;
  const std::vector<Axis> domain_;
  ScalarId value_;          ///< what is stored
  std::vector<Axis> axes_;  ///< rows, and the depth
  mutable std::vector<uint32_t> locals_;
};

bool store(Graph& g, NodeId id, const OperandLimits& limits) {
  std::map<ScalarId, ScalarId> stored;
  const Node node = g.nodes[id];
  if (edit::has_online(g, node)) return false;
  for (const PlacedContraction& placed : contractions_of(g, node)) {
    const auto& domain = placed.local ? node.locals[*placed.local].domain : node.domain;
    if (stored.contains(placed.contraction.reduce)) continue;
    LeftOperand operand(g, id, placed.contraction, domain, limits);
    if (operand.suits()) stored[placed.contraction.reduce] = operand.stored();
  }
  edit::each_body(g.nodes[id], [&](ScalarId& body, const std::vector<Axis>&) {
    if (const auto found = stored.find(body); found != stored.end()) body = found->second;
  });
  return !stored.empty();
}

}  // namespace

void store_operands(Graph& g, const OperandLimits& limits) {
  bool any = false;
  for (const NodeId id : all_nodes(g))
    if (g.nodes[id].op == NodeOp::compute) any |= store(g, id, limits);
  if (!any) return;
  edit::sweep(g);
  edit::share_common(g);  // several nodes may multiply one operand
  edit::hoist_invariants(g);
}

}  // namespace axon::graph
