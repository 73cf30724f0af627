// split_orders: the first few positions in a long order become those of parts, and an order of what the parts
// have kept.
//
// In: an order that keeps a constant number k of the n elements of a row, and has a few rows. A row is sorted
// by one task, which goes through all of its keys. Out: orders of parts of constant length, one of what is
// left after the last part, a node with the keys and the positions of the k elements of each, an order of
// these keys, and the old node, which reads the positions. Of equal elements a part keeps those at lower
// positions, in order, and so does the order of the parts' elements: that is stable, and the parts stand in
// order.
#include <algorithm>

#include "graph/clamp.h"
#include "graph/dynamic_sizes.h"
#include "graph/passes/edit.h"
#include "graph/passes/passes.h"

namespace axon::graph {

namespace {

class OrderSplitter {
 public:
  OrderSplitter(Graph& g, NodeId id, const OrderLimits& limits)
      : g_(g), id_(id), limits_(limits), order_(*computed_order(g, g.nodes[id])), rows_(g.nodes[id].domain) {
    kept_ = rows_.back().extent.constant().value_or(0);
    rows_.pop_back();
  }

  void run() {
    if (kept_ < 1 || kept_ > limits_.kept || !has_few_rows() || !is_long() || !can_move_key()) return;
    const Dim length(this->length()), count = shape::floor_div(order_.binders[0].extent, length);
    parts_ = add_order(Axis{shape::fresh_var("part"), count}, Dim(0), length);
    rest_ = add_order(std::nullopt, count * length, shape::mod(order_.binders[0].extent, length));
    add_kept(count, length);
    add_order_of_kept((count + Dim(1)) * Dim(kept_));
    read_positions();
    clamp_indices();
  }

 private:
  // ---- which orders ----

  int64_t length() const { return std::max(limits_.length, limits_.per_kept * kept_); }

  bool has_few_rows() const {
    int64_t rows = 1;
    for (const Axis& a : rows_) {
      const auto extent = a.extent.constant();
      if (!extent || *extent > limits_.rows) return false;
      rows *= *extent;
    }
    return rows <= limits_.rows;
  }

  bool is_long() const {
    const Dim& extent = order_.binders[0].extent;
    return extent.constant() ? *extent.constant() > length() : edit::is_over_sizes(g_, extent);
  }

  /// Can the key be computed where the data says? One that can fail stays where it is.
  bool can_move_key() const {
    for (ScalarId s : scalars_in(g_, order_.args[0]))
      if (g_.scalars[s].op == Op::bounded || g_.scalars[s].op == Op::require) return false;
    std::vector<ScalarId> at;
    for (const Axis& a : g_.nodes[id_].domain) at.push_back(index_of(g_, Dim(a.var)));
    const ScalarId position = load(g_, {id_, 0}, at, Elem::i64);
    return edit::instantiate(g_, {order_.binders[0]}, order_.args[0], {position}).has_value();
  }

  // ---- what becomes of them ----

  /// Fresh axes for the rows, and what they are called in the key.
  std::vector<Axis> fresh_rows(shape::Substitution& at) const {
    edit::Renaming renaming;
    std::vector<Axis> rows = edit::fresh_axes(rows_, renaming);
    for (const auto& [from, to] : renaming) at[from] = Dim(to);
    return rows;
  }

  static std::vector<ScalarId> indices_of(Graph& g, const std::vector<Axis>& axes) {
    std::vector<ScalarId> at;
    for (const Axis& a : axes) at.push_back(index_of(g, Dim(a.var)));
    return at;
  }

  NodeId add_node(std::vector<Axis> domain, const std::vector<ScalarId>& bodies, const std::vector<Dim>& at,
                  const std::vector<Dim>& shape) {
    Node node;
    node.domain = std::move(domain);
    for (ScalarId body : bodies) {
      node.types.push_back({g_.scalars[body].elem, shape});
      node.outputs.push_back({node.types.back(), body, std::nullopt, at});
    }
    return edit::insert_before(g_, id_, std::move(node));
  }

  NodeId add_plain(std::vector<Axis> domain, ScalarId body) {
    std::vector<Dim> shape;
    for (const Axis& a : domain) shape.push_back(a.extent);
    const std::vector<Dim> at = identity_map(domain);
    return add_node(std::move(domain), {body}, at, shape);
  }

  /// The first positions among `length` keys from `begin` on, in each part where there are parts.
  NodeId add_order(const std::optional<Axis>& part, const Dim& begin, const Dim& length) {
    shape::Substitution at;
    std::vector<Axis> domain = fresh_rows(at);
    if (part) domain.push_back(*part);
    domain.push_back({shape::fresh_var("i"), Dim(kept_)});
    const Axis binder{shape::fresh_var(shape::var_name(order_.binders[0].var)), length};
    at[order_.binders[0].var] = begin + Dim(binder.var) + (part ? Dim(part->var) * length : Dim(0));
    const ScalarId key = substitute(g_, order_.args[0], at);
    const ScalarId number = index_of(g_, Dim(domain.back().var));
    return add_plain(std::move(domain), position_in_order(g_, order_.descending, binder, key, number));
  }

  /// Keys and positions of what the parts keep, and after them of what is left. Where that has less than
  /// there is room for, the rest comes last.
  void add_kept(const Dim& count, const Dim& length) {
    shape::Substitution at;
    std::vector<Axis> domain = fresh_rows(at);
    std::vector<Dim> stored = identity_map(domain), shape;
    for (const Axis& a : domain) shape.push_back(a.extent);
    const Axis part{shape::fresh_var("part"), count + Dim(1)}, i{shape::fresh_var("i"), Dim(kept_)};
    stored.push_back(Dim(part.var) * Dim(kept_) + Dim(i.var));
    shape.push_back(part.extent * Dim(kept_));
    std::vector<ScalarId> of_rest = indices_of(g_, domain), of_part = of_rest;
    of_part.insert(of_part.end(), {index_of(g_, Dim(part.var)), index_of(g_, Dim(i.var))});
    of_rest.push_back(of_part.back());
    domain.insert(domain.end(), {part, i});
    std::vector<Fact> facts = g_.facts;
    for (const Axis& a : domain) add_range(facts, a);
    const auto safe = [&](ScalarId l) { return clamped_load(g_, l, facts); };

    const ScalarId whole = apply(g_, Op::lt, {index_of(g_, Dim(part.var)), index_of(g_, count)});
    const ScalarId begin = index_of(g_, Dim(part.var) * length);
    const ScalarId in_part = load(g_, {parts_, 0}, of_part, Elem::i64);
    const ScalarId in_rest = load(g_, {rest_, 0}, of_rest, Elem::i64);
    ScalarId position = apply(g_, Op::add, {begin, apply(g_, Op::select, {whole, in_part, in_rest})});
    const Dim left = shape::mod(order_.binders[0].extent, length);
    const ScalarId exists =
        apply(g_, Op::or_, {whole, apply(g_, Op::lt, {of_part.back(), index_of(g_, left)})});
    const ScalarId moved = substitute(g_, order_.args[0], at);
    const ScalarId key =
        rewrite_loads(g_, *edit::instantiate(g_, {order_.binders[0]}, moved, {position}), safe);
    position = rewrite_loads(g_, position, safe);
    const ScalarId last = last_in_order(g_, order_.descending, g_.scalars[key].elem);
    const ScalarId none = constant_int(g_, Elem::i64, 0);
    kept_node_ = add_node(
        domain, {apply(g_, Op::select, {exists, key, last}), apply(g_, Op::select, {exists, position, none})},
        stored, shape);
  }

  void add_order_of_kept(const Dim& candidates) {
    shape::Substitution ignored;
    std::vector<Axis> domain = fresh_rows(ignored);
    const Axis binder{shape::fresh_var("kept"), candidates};
    std::vector<ScalarId> at = indices_of(g_, domain);
    at.push_back(index_of(g_, Dim(binder.var)));
    domain.push_back({shape::fresh_var("i"), Dim(kept_)});
    const ScalarId key = load(g_, {kept_node_, 0}, at, g_.nodes[kept_node_].types[0].elem);
    const ScalarId number = index_of(g_, Dim(domain.back().var));
    order_of_kept_ = add_plain(domain, position_in_order(g_, order_.descending, binder, key, number));
  }

  void read_positions() {
    const std::vector<Axis> domain = g_.nodes[id_].domain;
    std::vector<ScalarId> at = indices_of(g_, domain);
    const ScalarId number = load(g_, {order_of_kept_, 0}, at, Elem::i64);
    at.back() = number;
    g_.nodes[id_].outputs[0].body = load(g_, {kept_node_, 1}, at, Elem::i64);
  }

  /// What a node reads of an order may be an index as it is; what it reads of others may not.
  void clamp_indices() {
    for (NodeId user : all_nodes(g_)) {
      const Node& node = g_.nodes[user];
      const auto extent_of = [&](const Scalar& load, size_t axis) {
        return load.target.is_local() ? node.locals[load.target.output].domain[axis].extent
                                      : g_.type(load.target).shape[axis];
      };
      const auto with_clamps = [&](ScalarId l) {
        Scalar s = g_.scalars[l];
        bool changed = false;
        for (size_t a = 0; a < s.args.size(); ++a) {
          if (!is_made_of_positions(s.args[a])) continue;
          const ScalarId last = index_of(g_, extent_of(s, a) - Dim(1)),
                         first = constant_int(g_, Elem::i64, 0);
          s.args[a] = apply(g_, Op::max, {apply(g_, Op::min, {s.args[a], last}), first});
          changed = true;
        }
        return changed ? make_scalar(g_, std::move(s)) : l;
      };
      edit::each_body(g_.nodes[user], [&](ScalarId& body, const std::vector<Axis>&) {
        body = rewrite_loads(g_, body, with_clamps);
      });
    }
  }

  /// Does an index consist of what was read of the order, and of nothing that keeps it in an axis?
  bool is_made_of_positions(ScalarId index) const {
    std::vector<ScalarId> work{index};
    while (!work.empty()) {
      const Scalar& s = g_.scalars[work.back()];
      work.pop_back();
      if (s.op == Op::load && s.target == Value{id_, 0}) return true;
      if (s.op != Op::load && s.op != Op::bounded) work.insert(work.end(), s.args.begin(), s.args.end());
    }
    return false;
  }

  Graph& g_;
  const NodeId id_;
  const OrderLimits limits_;
  const Scalar order_;
  std::vector<Axis> rows_;  ///< the domain but its last axis
  int64_t kept_ = 0;
  NodeId parts_, rest_, kept_node_, order_of_kept_;
};

}  // namespace

void split_orders(Graph& g, const OrderLimits& limits) {
  for (NodeId id : all_nodes(g))
    if (g.nodes[id].op == NodeOp::compute && computed_order(g, g.nodes[id]))
      OrderSplitter(g, id, limits).run();
}

}  // namespace axon::graph
