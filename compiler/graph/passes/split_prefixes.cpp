// split_prefixes: a long row of prefixes becomes groups of parts, which many can work on.
//
// In: prefixes (graph/prefix.h) that make a few tasks, for each goes through a whole row. Out: the head of
// the row as before, and a loop over groups of parts of constant length, in each of which
//   totals   reduces each part,
//   carries  has what stands before each part, and before the next group,
//   and the prefixes of each part begin from its carry: an update of the result in place.
// The order of a sum depends on sizes alone, then, not on how many work on it. A part is read twice, but a
// group stays in a cache near the core, so that memory sees it once; and no group waits for the prefixes of
// the one before it, only for its carry. The head is what no whole groups are, so that nothing is masked.
#include <algorithm>

#include "graph/clamp.h"
#include "graph/dynamic_sizes.h"
#include "graph/passes/edit.h"
#include "graph/passes/passes.h"
#include "graph/prefix.h"

namespace axon::graph {

namespace {

class PrefixSplitter {
 public:
  PrefixSplitter(Graph& g, NodeId id, const Prefix& prefix, const PrefixLimits& limits)
      : g_(g),
        id_(id),
        prefix_(prefix),
        limits_(limits),
        fold_(g.scalars[g.nodes[id].outputs[0].body]),
        domain_(g.nodes[id].domain) {}

  /// Is it split now?
  bool run() {
    if (!is_plain() || !choose_parts() || !is_long() || !can_repeat_term()) return false;
    const Dim& extent = domain_[prefix_.axis].extent;
    // For each group as many elements more are needed as fold none, so that the head has all of those.
    const int64_t of_group = group() + prefix_.before, of_least = (least_ + of_group - 1) / of_group;
    count_ = shape::floor_div(extent, Dim(of_group));
    if (of_least > 1) count_ = min(count_, Dim(2 * of_least) * shape::floor_div(extent, Dim(least_)));
    head_end_ = extent - count_ * Dim(group());
    add_head();
    add_start();
    add_loop();
    edit::replace_values(g_, {{{id_, 0}, {loop_, 1}}});
    return true;
  }

 private:
  /// A domain like the node's, and what the node's axes are called in it.
  struct Place {
    std::vector<Axis> domain;
    shape::Substitution at;
    Dim number;  ///< along the axis of the prefixes
    /// The element of the domain, or another along the axis.
    std::vector<ScalarId> indices(Graph& g, uint32_t axis, const Dim& along) const {
      std::vector<ScalarId> found;
      for (uint32_t a = 0; a < domain.size(); ++a)
        found.push_back(index_of(g, a == axis ? along : Dim(domain[a].var)));
      return found;
    }
  };

  // ---- which prefixes ----

  /// Decides on the parts; false where there are tasks enough, or it is not known.
  bool choose_parts() {
    int64_t tasks = 1, lanes = 1, across = 1;
    for (uint32_t a = 0; a < domain_.size(); ++a) {
      if (a == prefix_.axis) continue;
      const auto extent = domain_[a].extent.constant();
      if (!extent || *extent < 1 || *extent > limits_.rows * limits_.columns) return false;
      const bool is_last = a + 1 == domain_.size();
      if (is_last) lanes = std::min(*extent, limits_.columns);
      across *= *extent;
      tasks *= is_last ? (*extent + limits_.columns - 1) / limits_.columns : *extent;
    }
    const int64_t bytes = base::elem_bytes(fold_.elem);
    length_ = std::max<int64_t>(limits_.part / (bytes * lanes), 1);
    parts_ = std::max<int64_t>(limits_.parts / tasks, 2);
    least_ = std::max(limits_.least / (bytes * across), group() + prefix_.before);
    return tasks <= limits_.rows && prefix_.before <= length_;
  }

  int64_t group() const { return length_ * parts_; }

  /// No update, which says where it stores, no part already, and of no narrow type: those take longer to
  /// convert than to read, and twice as long for totals.
  bool is_plain() const {
    return edit::all_plain(g_.nodes[id_]) && !prefix_.begin.valid() && base::elem_bytes(fold_.elem) >= 4;
  }

  bool is_long() const {
    const Dim& extent = domain_[prefix_.axis].extent;
    const auto constant = extent.constant();
    return constant ? *constant >= least_ : edit::is_over_sizes(g_, extent);
  }

  /// Terms are computed twice: those that take long, that can fail, or that the data finds, are not.
  bool can_repeat_term() const {
    for (ScalarId s : scalars_in(g_, prefix_.term))
      if (g_.scalars[s].op == Op::bounded || g_.scalars[s].op == Op::require) return false;
    const auto loads = loads_in(g_, prefix_.term);
    return edit::cost_of(g_, prefix_.term).heavy == 0 &&
           std::all_of(loads.begin(), loads.end(), [&](ScalarId l) { return lies_together(l); });
  }

  /// Does the load go on by one with the term, or with columns of which there are some vectors? Others take
  /// longer than memory.
  bool lies_together(ScalarId id) const {
    const Scalar& load = g_.scalars[id];
    const Axis& last = domain_.back();
    const bool has_columns =
        prefix_.axis + 1 != domain_.size() && *last.extent.constant() * 4 >= limits_.columns;
    const auto steps = [&](size_t a, Var v) {
      const auto index = affine_index(g_, load.args[a]);
      const auto by = index ? index->linear_in(v) : std::nullopt;
      return by ? by->first.constant() : std::nullopt;
    };
    for (size_t a = 0; a < load.args.size(); ++a) {
      const auto by = steps(a, fold_.binders[0].var);
      const bool by_one = a + 1 == load.args.size() && by == 1;
      if (by == 0 || by_one) continue;
      if (!by || !has_columns || steps(load.args.size() - 1, last.var) != 1) return false;
    }
    return true;
  }

  // ---- what becomes of them ----

  /// The node's domain with so many numbers along the axis of the prefixes.
  Place place(const Dim& numbers) const {
    Place made;
    edit::Renaming renaming;
    made.domain = edit::fresh_axes(domain_, renaming);
    for (const auto& [from, to] : renaming) made.at[from] = Dim(to);
    made.domain[prefix_.axis].extent = numbers;
    made.number = Dim(made.domain[prefix_.axis].var);
    return made;
  }

  static std::vector<Dim> extents(const std::vector<Axis>& domain) {
    std::vector<Dim> all;
    for (const Axis& a : domain) all.push_back(a.extent);
    return all;
  }

  /// A node with one output: of its own, or where `at` says in `base`.
  Node node_of(std::vector<Axis> domain, ScalarId body) {
    Node node;
    node.types = {{g_.scalars[body].elem, extents(domain)}};
    node.outputs = {{node.types[0], body, std::nullopt, identity_map(domain)}};
    node.domain = std::move(domain);
    return node;
  }

  void store_in(Node& node, Value base, std::vector<Dim> at) const {
    node.types = {g_.nodes[id_].types[0]};
    node.outputs[0] = {node.types[0], node.outputs[0].body, base, std::move(at)};
  }

  /// What prefixes fold at `number`: the terms up to it.
  ScalarId folded(const Dim& number, const Axis& binder, ScalarId term) {
    const ScalarId counts = apply(g_, Op::lt, {index_of(g_, Dim(binder.var)), index_of(g_, number + Dim(1))});
    return reduce(g_, fold_.monoid, {binder}, apply(g_, Op::select, {counts, term, unit()}));
  }

  ScalarId unit() { return unit_of(g_, fold_.monoid, fold_.elem); }

  /// The term of a point that is in range.
  ScalarId term_at(shape::Substitution at, const Dim& point, const std::vector<Axis>& around) {
    at[fold_.binders[0].var] = point;
    std::vector<Fact> facts = g_.facts;
    for (const Axis& a : around) add_range(facts, a);
    const auto safe = [&](ScalarId l) { return clamped_load(g_, l, facts); };
    return rewrite_loads(g_, substitute(g_, prefix_.term, at), safe);
  }

  void add_head() {
    Node empty;
    empty.op = NodeOp::empty;
    empty.types = g_.nodes[id_].types;
    const NodeId storage = edit::insert_before(g_, id_, std::move(empty));
    const Place to = place(head_end_);
    Node node = node_of(to.domain, substitute(g_, g_.nodes[id_].outputs[0].body, to.at));
    store_in(node, {storage, 0}, identity_map(node.domain));
    head_ = edit::insert_before(g_, id_, std::move(node));
  }

  /// What stands before the first group, in all places of the carries of a group.
  void add_start() {
    const Place to = place(Dim(parts_ + 1));
    const Dim last = max(head_end_ - Dim(1), Dim(0));
    std::vector<Fact> facts = g_.facts;
    for (const Axis& a : to.domain) add_range(facts, a);
    const ScalarId whole =
        clamped_load(g_, load(g_, {head_, 0}, to.indices(g_, prefix_.axis, last), fold_.elem), facts);
    const ScalarId some = apply(g_, Op::lt, {constant_int(g_, Elem::i64, 0), index_of(g_, head_end_)});
    start_ = edit::insert_before(g_, id_, node_of(to.domain, apply(g_, Op::select, {some, whole, unit()})));
  }

  void add_loop() {
    Node loop, param;
    loop.op = NodeOp::loop;
    loop.index = {shape::fresh_var("group"), count_};
    loop.types = {g_.nodes[start_].types[0], g_.nodes[head_].types[0]};
    const std::vector<TensorType> types = loop.types;
    loop_ = edit::insert_before(g_, id_, std::move(loop));
    inside_ = g_.regions.add({{}, loop_});
    param.op = NodeOp::param;
    param.types = types;
    param_ = add_inside(std::move(param));
    const NodeId totals = add_totals();
    const NodeId carries = add_carries(totals);
    const NodeId prefixes = add_prefixes(carries);
    g_.nodes[loop_].body = inside_;
    g_.nodes[loop_].carried = {{{start_, 0}, {param_, 0}, {carries, 0}},
                               {{head_, 0}, {param_, 1}, {prefixes, 0}}};
  }

  NodeId add_inside(Node node) {
    if (node.op != NodeOp::param) node.name = g_.nodes[id_].name;
    node.source_begin = g_.nodes[id_].source_begin;
    node.source_end = g_.nodes[id_].source_end;
    node.region = inside_;
    const NodeId added = g_.nodes.add(std::move(node));
    g_.regions[inside_].nodes.push_back(added);
    return added;
  }

  /// Where a part begins.
  Dim begin(const Dim& part) const {
    return head_end_ + Dim(g_.nodes[loop_].index.var) * Dim(group()) + part * Dim(length_);
  }

  NodeId add_totals() {
    const Place to = place(Dim(parts_));
    const Axis inside{shape::fresh_var("k"), Dim(length_)};
    std::vector<Axis> around = to.domain;
    around.insert(around.end(), {inside, g_.nodes[loop_].index});
    const Dim point = begin(to.number) + Dim(inside.var) - Dim(prefix_.before);
    return add_inside(node_of(to.domain, reduce(g_, fold_.monoid, {inside}, term_at(to.at, point, around))));
  }

  NodeId add_carries(NodeId totals) {
    const Place to = place(Dim(parts_ + 1));
    const Axis before{shape::fresh_var("k"), Dim(parts_ + 1)};
    const Dim k(before.var);
    const ScalarId first = load(g_, {param_, 0}, to.indices(g_, prefix_.axis, Dim(parts_)), fold_.elem);
    const ScalarId total =
        load(g_, {totals, 0}, to.indices(g_, prefix_.axis, max(k - Dim(1), Dim(0))), fold_.elem);
    const ScalarId is_first = apply(g_, Op::le, {index_of(g_, k), constant_int(g_, Elem::i64, 0)});
    return add_inside(
        node_of(to.domain, folded(to.number, before, apply(g_, Op::select, {is_first, first, total}))));
  }

  NodeId add_prefixes(NodeId carries) {
    Place to = place(Dim(parts_));
    const Axis element{shape::fresh_var(shape::var_name(domain_[prefix_.axis].var)), Dim(length_)};
    const Axis inside{shape::fresh_var("k"), Dim(length_)};
    const ScalarId carry = load(g_, {carries, 0}, to.indices(g_, prefix_.axis, to.number), fold_.elem);
    std::vector<Dim> at = identity_map(to.domain);
    at[prefix_.axis] = begin(to.number) + Dim(element.var);
    to.domain.insert(to.domain.begin() + prefix_.axis + 1, element);
    std::vector<Axis> around = to.domain;
    around.insert(around.end(), {inside, g_.nodes[loop_].index});
    const Dim point = begin(to.number) + Dim(inside.var) - Dim(prefix_.before);
    const ScalarId term = term_at(to.at, point, around);
    const ScalarId is_first =
        apply(g_, Op::le, {index_of(g_, Dim(inside.var)), constant_int(g_, Elem::i64, 0)});
    const ScalarId from_carry =
        apply(g_, Op::select, {is_first, apply(g_, operator_in_graph(fold_.monoid), {carry, term}), term});
    Node node = node_of(to.domain, folded(Dim(element.var), inside, from_carry));
    store_in(node, {param_, 1}, std::move(at));
    return add_inside(std::move(node));
  }

  Graph& g_;
  const NodeId id_;
  const Prefix prefix_;
  const PrefixLimits limits_;
  const Scalar fold_;
  const std::vector<Axis> domain_;
  int64_t length_ = 0;    ///< of a part
  int64_t parts_ = 0;     ///< of a group
  int64_t least_ = 0;     ///< elements of a row that is split
  Dim count_, head_end_;  ///< of groups; where the first begins
  NodeId head_, start_, loop_, param_;
  RegionId inside_;
};

}  // namespace

void split_prefixes(Graph& g, const PrefixLimits& limits) {
  bool any = false;
  for (NodeId id : all_nodes(g))
    if (const auto prefix = prefix_reduction(g, g.nodes[id]))
      any |= PrefixSplitter(g, id, *prefix, limits).run();
  if (any) edit::sweep(g);
}

}  // namespace axon::graph
