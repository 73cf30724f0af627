// See row_form.h. In this order: locals are written out where they are read; reductions are taken out of
// what is left, inner ones first; then the axes are chosen.
#include "tile/from_task/row_form.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/binder_range.h"
#include "graph/contraction.h"
#include "task/facts.h"
#include "tile/from_task/computed_types.h"
#include "tile/from_task/product_form.h"

namespace axon::tile {

using graph::Axis;
using graph::Scalar;
using graph::ScalarId;
using shape::Dim;
using shape::Fact;
using shape::Var;

std::optional<Dim> offset_of_load(const task::Program& p, const graph::Graph& g, ScalarId load) {
  const Scalar& s = g.scalars[load];
  const task::Place& place = p.place(s.target);
  const task::Buffer& buffer = p.buffers[place.buffer];
  std::vector<Dim> index;
  if (place.slot) index.push_back(*place.slot);
  for (const ScalarId arg : s.args) {
    const auto dim = graph::affine_index(g, arg);
    if (!dim) return std::nullopt;
    index.push_back(*dim);
  }
  return layout::offset_of(buffer.placement, buffer.shape, index);
}

std::optional<int64_t> step_of_load(const task::Program& p, const graph::Graph& g, ScalarId load, Var v) {
  const auto offset = offset_of_load(p, g, load);
  const auto by = offset ? offset->linear_in(v) : std::nullopt;
  return by ? by->first.constant() : std::nullopt;
}

std::vector<Fact> implied_facts(const graph::Graph& g, ScalarId condition, bool value) {
  const Scalar& s = g.scalars[condition];
  if (s.op == graph::Op::not_) return implied_facts(g, s.args[0], !value);
  if (s.op == (value ? graph::Op::and_ : graph::Op::or_))
    return task::both(implied_facts(g, s.args[0], value), implied_facts(g, s.args[1], value));
  const bool compares = graph::class_of(s.op) == graph::OpClass::comparison;
  const auto lhs = compares ? graph::affine_index(g, s.args[0]) : std::nullopt;
  const auto rhs = compares ? graph::affine_index(g, s.args[1]) : std::nullopt;
  if (!lhs || !rhs) return {};
  if (s.op == graph::Op::lt) return {value ? shape::less(*lhs, *rhs) : shape::at_most(*rhs, *lhs)};
  if (s.op == graph::Op::le) return {value ? shape::at_most(*lhs, *rhs) : shape::less(*rhs, *lhs)};
  if ((s.op == graph::Op::eq) == value) return {shape::equal(*lhs, *rhs)};
  return {};
}

namespace {

struct NoForm {
  std::string why;
};

bool is_proj(const Scalar& s, uint32_t component) {
  return s.op == graph::Op::proj && s.component == component;
}

class FormMaker {
 public:
  FormMaker(const task::Program& p, const task::TaskType& type, graph::Graph& g, bool short_rows)
      : p_(p), type_(type), g_(g), node_(g.nodes[type.node]), short_rows_(short_rows) {}

  ProductForm run_product() {
    write_out_locals();
    for (const ScalarId output : whole_) form_.outputs.push_back(without_reductions(output));
    ProductForm out;
    for (const auto& [sum, number] : products_)
      if (const auto found = graph::find_contraction(g_, {}, sum, node_.domain); found && found->load.valid())
        add_product(out, *found, number);
    if (out.products.empty()) throw NoForm{"it is no product of two matrices"};
    check_statistics(out);
    for (uint32_t a = 0; a < node_.domain.size(); ++a)
      if (a != form_.along && a != out.row) form_.rows.push_back(a);
    simplify_loads();
    for (Product& product : out.products) product.left = simplified(product.left, facts_in(product));
    check_columns();
    out.form = std::move(form_);
    return out;
  }

  RowForm run() {
    write_out_locals();
    for (const ScalarId output : whole_) form_.outputs.push_back(without_reductions(output));
    choose_axes();
    share_axes();
    simplify_loads();
    choose_types();
    choose_across();
    order_rows();
    check_strides();
    return std::move(form_);
  }

 private:
  // ---- locals ----

  void write_out_locals() {
    std::vector<ScalarId> locals;
    const auto written_out = [&](ScalarId body) {
      return graph::rewrite_loads(g_, body, [&](ScalarId load) {
        const Scalar s = g_.scalars[load];
        if (!s.target.is_local()) return load;
        const graph::Local& local = node_.locals[s.target.output];
        std::map<Var, ScalarId> at;
        for (size_t a = 0; a < s.args.size(); ++a) at[local.domain[a].var] = s.args[a];
        return graph::substitute(g_, locals[s.target.output], at);
      });
    };
    for (const graph::Local& local : node_.locals) locals.push_back(written_out(local.body));
    for (const graph::Output& output : node_.outputs) whole_.push_back(written_out(output.body));
  }

  // ---- reductions ----

  ScalarId result(uint32_t number) {
    return graph::load(g_, graph::local_value(number), {}, form_.reductions[number].kept);
  }

  ScalarId without_reductions(ScalarId id) {
    if (const auto found = rewritten_.find(id); found != rewritten_.end()) return found->second;
    const Scalar s = g_.scalars[id];
    if (s.op == graph::Op::bounded || s.op == graph::Op::require) throw NoForm{"it has checks"};
    if (s.op == graph::Op::order) throw NoForm{"it is an order"};
    if (s.op == graph::Op::reduce && s.monoid == graph::Monoid::argmax) return rewritten_[id] = argmax(s);
    if (s.op == graph::Op::reduce) {
      const uint32_t number = reduction(s.monoid, s, s.elem, s.args[0]);
      if (s.monoid == graph::Monoid::sum) products_.emplace_back(id, number);
      return rewritten_[id] = result(number);
    }
    if (s.op == graph::Op::proj) return rewritten_[id] = online(s);
    Scalar made = s;
    for (ScalarId& arg : made.args) arg = without_reductions(arg);
    return rewritten_[id] = made.args == s.args ? id : graph::make_scalar(g_, std::move(made));
  }

  /// The number of the reduction of `term` over the scalar's binders.
  uint32_t reduction(graph::Monoid monoid, const Scalar& of, base::Elem elem, ScalarId term) {
    RowReduction r;
    r.monoid = monoid;
    r.kept = base::computed_as(elem);
    const bool chooses = monoid == graph::Monoid::max || monoid == graph::Monoid::min;
    r.in = chooses ? r.kept : base::computed_as(base::accumulator(elem));
    r.outer = of.binders;
    r.term = term;
    choose_along(r);
    bound_along(r, of);
    r.term = without_reductions(r.term);
    form_.reductions.push_back(std::move(r));
    return static_cast<uint32_t>(form_.reductions.size() - 1);
  }

  /// The least position where the term is the maximum, or not a number where that is; 0 of no positions.
  ScalarId argmax(const Scalar& s) {
    const base::Elem elem = base::computed_as(g_.scalars[s.args[0]].elem);
    Scalar of = s;
    const uint32_t top = reduction(graph::Monoid::max, of, elem, s.args[0]);
    const Axis along = form_.reductions[top].along;
    const base::Elem position = short_rows_ ? base::Elem::i32 : base::Elem::i64;
    const ScalarId none = graph::constant_int(g_, position, base::range_of_integers(position).greatest);
    if (short_rows_)
      form_.guard.push_back(shape::less(along.extent, Dim(base::range_of_integers(position).greatest)));
    const ScalarId term = form_.reductions[top].term, best = result(top);
    ScalarId here = graph::apply(g_, graph::Op::eq, {term, best});
    if (base::is_float(elem)) {
      const auto is_nan = [&](ScalarId x) { return graph::apply(g_, graph::Op::ne, {x, x}); };
      const ScalarId both = graph::apply(g_, graph::Op::and_, {is_nan(term), is_nan(best)});
      here = graph::apply(g_, graph::Op::or_, {here, both});
    }
    const ScalarId at = graph::cast(g_, position, graph::index_of(g_, Dim(along.var)));
    RowReduction r = form_.reductions[top];
    r.monoid = graph::Monoid::min;
    r.in = r.kept = position;
    r.term = graph::apply(g_, graph::Op::select, {here, at, none});
    form_.reductions.push_back(std::move(r));
    const ScalarId first = result(static_cast<uint32_t>(form_.reductions.size() - 1));
    const ScalarId found = graph::apply(g_, graph::Op::lt, {first, none});
    const ScalarId zero = graph::constant_int(g_, position, 0);
    return graph::cast(g_, base::Elem::i64, graph::apply(g_, graph::Op::select, {found, first, zero}));
  }

  /// A mask that says no more than between which bounds the binder lies is not evaluated.
  void bound_along(RowReduction& r, const Scalar& of) {
    r.first = Dim(0);
    r.end = r.along.extent;
    for (size_t b = 0; b < of.binders.size(); ++b) {
      const graph::BinderRange range = graph::binder_range(g_, of, b);
      if (range.empty()) continue;
      if (of.binders[b].var != r.along.var || !range.unmasked.valid() || of.op != graph::Op::reduce)
        throw NoForm{"a mask bounds a reduction"};
      if (!range.low_by_data.empty() || !range.end_by_data.empty())
        throw NoForm{"the data bounds a reduction"};
      // Integers of the program lie anywhere: the difference of two that are not held to the axis may leave
      // i64.
      for (const Dim& low : range.low)
        r.first = shape::max(r.first, reads_integer(g_, low) ? shape::min(low, r.along.extent) : low);
      for (const Dim& end : range.end)
        r.end = shape::min(r.end, reads_integer(g_, end) ? shape::max(end, Dim(0)) : end);
      r.term = range.unmasked;
    }
  }

  /// A maximum of scores, or a sum of exponentials, which needs the maximum. Rows of -inf alone have the sum
  /// of the formula, e^(-inf + inf) of each key, or 0 (the note in graph.h).
  ScalarId online(const Scalar& proj) {
    const Scalar s = g_.scalars[proj.args[0]];
    if (proj.component > 1 || s.args.size() > 1) throw NoForm{"it weights values by an online softmax"};
    if (s.or_zero) throw NoForm{"its online softmax has rows without keys"};
    const base::Elem elem = base::accumulator(g_.scalars[s.args[0]].elem);
    const ScalarId score = graph::cast(g_, elem, s.args[0]);
    const auto [top, fresh] = maxima_.try_emplace(proj.args[0], 0);
    if (fresh) top->second = reduction(graph::Monoid::max, s, elem, score);
    if (is_proj(proj, 0)) return result(top->second);
    const auto [total, first] = sums_.try_emplace(proj.args[0], 0);
    if (first) {
      ScalarId power = graph::apply(g_, graph::Op::sub, {without_reductions(score), result(top->second)});
      if (s.scale != 1)
        power = graph::apply(g_, graph::Op::mul, {power, graph::constant_float(g_, elem, s.scale)});
      const ScalarId weight = graph::apply(g_, s.base2 ? graph::Op::exp2 : graph::Op::exp, {power});
      total->second = reduction(graph::Monoid::sum, s, elem, weight);
    }
    return result(total->second);
  }

  // ---- axes ----

  /// Loads of the expression that move by one element where the variable does, less those that move in any
  /// other way.
  int loads_along(ScalarId body, Var v) const {
    int count = 0;
    for (const ScalarId id : graph::loads_in(g_, body)) {
      if (g_.scalars[id].target.is_local() || !graph::depends_on(g_, id, v)) continue;
      count += step_of(id, v) == 1 ? 1 : -1;
    }
    return count;
  }

  std::optional<int64_t> step_of(ScalarId load, Var v) const { return step_of_load(p_, g_, load, v); }

  /// The innermost binder that most loads run along.
  void choose_along(RowReduction& r) const {
    size_t best = r.outer.size() - 1;
    for (size_t b = r.outer.size(); b-- > 0;)
      if (loads_along(r.term, r.outer[b].var) > loads_along(r.term, r.outer[best].var)) best = b;
    r.along = r.outer[best];
    r.outer.erase(r.outer.begin() + static_cast<std::ptrdiff_t>(best));
  }

  /// Axes of the domain that results of reductions in an expression, and the expression itself, depend on.
  std::set<uint32_t> axes_of(ScalarId body) const {
    std::set<uint32_t> axes;
    const std::vector<Var> vars = graph::free_vars(g_, body);
    for (uint32_t a = 0; a < node_.domain.size(); ++a)
      if (std::find(vars.begin(), vars.end(), node_.domain[a].var) != vars.end()) axes.insert(a);
    for (const ScalarId id : graph::loads_in(g_, body))
      if (const Scalar& load = g_.scalars[id]; load.target.is_local()) {
        const std::set<uint32_t>& of = kept_[load.target.output];
        axes.insert(of.begin(), of.end());
      }
    return axes;
  }

  std::set<uint32_t> axes_kept(const RowReduction& r) const {
    std::set<uint32_t> axes = axes_of(r.term);
    for (const Dim& d : ranges_of(r))
      for (uint32_t a = 0; a < node_.domain.size(); ++a)
        if (d.contains(node_.domain[a].var)) axes.insert(a);
    return axes;
  }

  void choose_axes() {
    std::set<uint32_t> kept;
    for (const RowReduction& r : form_.reductions) {
      kept_.push_back(axes_kept(r));
      kept.insert(kept_.back().begin(), kept_.back().end());
      check_binders(r);
    }
    std::optional<int> best;
    for (uint32_t a = static_cast<uint32_t>(node_.domain.size()); a-- > 0;) {
      const bool is_single = node_.domain[a].extent.is(1) && !form_.reductions.empty();
      if (kept.contains(a) || is_single) continue;
      int score = 0;
      for (const ScalarId output : form_.outputs) score += loads_along(output, node_.domain[a].var);
      for (uint32_t o = 0; o < node_.outputs.size(); ++o) score += store_step(o, a) == 1 ? 2 : -2;
      if (!best || score > *best) best = score, form_.along = a;
    }
  }

  /// An axis that all loads run along that go across memory where outputs do not.
  void choose_across() {
    if (!form_.along || !form_.reductions.empty()) return;
    const Var along = node_.domain[*form_.along].var;
    std::set<ScalarId> turned;
    for (const ScalarId output : form_.outputs)
      for (const ScalarId id : graph::loads_in(g_, output))
        if (graph::depends_on(g_, id, along) && step_of(id, along) != 1) turned.insert(id);
    for (uint32_t a = 0; a < node_.domain.size() && !turned.empty() && !form_.across; ++a)
      if (a != form_.along && std::all_of(turned.begin(), turned.end(),
                                          [&](ScalarId id) { return step_of(id, node_.domain[a].var) == 1; }))
        form_.across = a;
    if (form_.across) check_length(node_.domain[*form_.across].extent);
  }

  static std::vector<Dim> ranges_of(const RowReduction& r) {
    std::vector<Dim> out{r.first, r.end, r.along.extent};
    for (const Axis& b : r.outer) out.push_back(b.extent);
    return out;
  }

  /// A term may mention binders of its own reduction only: one inside of another is computed there.
  void check_binders(const RowReduction& r) const {
    std::vector<Var> known;
    for (const graph::Size& size : g_.sizes) known.push_back(size.var);
    for (const Axis& a : node_.domain) known.push_back(a.var);
    for (const Axis& b : r.outer) known.push_back(b.var);
    known.push_back(r.along.var);
    for (const task::LoopId l : type_.loops) known.push_back(p_.loops[l].index);
    std::vector<Var> mentioned = graph::free_vars(g_, r.term);
    for (const Dim& d : ranges_of(r)) d.collect_vars(mentioned);
    for (const Var v : mentioned)
      if (std::find(known.begin(), known.end(), v) == known.end() && !is_steps(v))
        throw NoForm{"a reduction stands inside of another"};
  }
  bool is_steps(Var v) const {
    return std::any_of(p_.loops.begin(), p_.loops.end(),
                       [&](const task::Loop& l) { return l.extent.contains(v); });
  }

  std::optional<int64_t> store_step(uint32_t output, uint32_t axis) const {
    const task::Place& place = p_.place({type_.node, output});
    const task::Buffer& buffer = p_.buffers[place.buffer];
    std::vector<Dim> index = node_.outputs[output].at;
    if (place.slot) index.insert(index.begin(), *place.slot);
    const auto by =
        layout::offset_of(buffer.placement, buffer.shape, index).linear_in(node_.domain[axis].var);
    return by ? by->first.constant() : std::nullopt;
  }

  /// What more reductions keep is looped over farther outside. A reduction stands where all that it keeps has
  /// a value; there nothing else may.
  void order_rows() {
    const auto count = [&](uint32_t a) {
      return std::count_if(kept_.begin(), kept_.end(), [&](const auto& of) { return of.contains(a); });
    };
    for (uint32_t a = 0; a < node_.domain.size(); ++a)
      if (a != form_.along && a != form_.across) form_.rows.push_back(a);
    std::stable_sort(form_.rows.begin(), form_.rows.end(),
                     [&](uint32_t a, uint32_t b) { return count(a) > count(b); });
    for (size_t r = 0; r < form_.reductions.size(); ++r) {
      size_t& level = form_.reductions[r].level;
      while (level < form_.rows.size() && kept_[r].contains(form_.rows[level])) ++level;
      if (level != kept_[r].size()) throw NoForm{"its reductions keep different axes"};
    }
  }

  /// Axes of one extent get one variable, so that what they compute alike is one expression.
  void share_axes() {
    std::vector<Axis> shared;
    if (form_.along) {
      const bool is_cut = std::any_of(type_.coordinates.begin(), type_.coordinates.end(),
                                      [&](const task::Coordinate& c) { return c.axis == *form_.along; });
      if (!is_cut) shared.push_back(node_.domain[*form_.along]);
    }
    for (RowReduction& r : form_.reductions) {
      const auto same = std::find_if(shared.begin(), shared.end(),
                                     [&](const Axis& a) { return a.extent == r.along.extent; });
      if (same == shared.end()) {
        shared.push_back(r.along);
        continue;
      }
      const shape::Substitution renamed = {{r.along.var, Dim(same->var)}};
      r.term = graph::substitute(g_, r.term, renamed);
      r.along = *same;
    }
  }

  // ---- products ----

  void add_product(ProductForm& out, const graph::Contraction& found, uint32_t number) {
    const RowReduction& sum = form_.reductions[number];
    if (found.runs) throw NoForm{"the data says which matrix a row is multiplied by"};
    if (!sum.first.is(0) || sum.end != sum.along.extent) throw NoForm{"a mask bounds a product"};
    Product made;
    made.reduction = number;
    made.depth = found.depth();
    made.right = found.load;
    for (const Axis& binder : g_.scalars[found.reduce].binders)
      if (binder.var != made.depth.var) made.outer.push_back(binder);
    for (const ScalarId factor : found.left) {
      const ScalarId one = without_reductions(factor);
      made.left = made.left.valid() ? graph::apply(g_, graph::Op::mul, {made.left, one}) : one;
    }
    if (!offset_of_load(p_, g_, made.right)) throw NoForm{"the data decides an index"};
    for (const Product& other : out.products)
      if (other.depth.extent == made.depth.extent) rename_depth(made, other.depth);
    const auto column =
        static_cast<uint32_t>(std::find_if(node_.domain.begin(), node_.domain.end(),
                                           [&](const Axis& a) { return a.var == found.column.var; }) -
                              node_.domain.begin());
    const auto row = longest(found.rows);
    if (!out.products.empty() && (form_.along != column || out.row != row))
      throw NoForm{"its products have different rows or columns"};
    form_.along = column;
    out.row = row;
    out.products.push_back(std::move(made));
  }

  void rename_depth(Product& product, const Axis& as) {
    const shape::Substitution renamed = {{product.depth.var, Dim(as.var)}};
    product.left = graph::substitute(g_, product.left, renamed);
    product.right = graph::substitute(g_, product.right, renamed);
    product.depth = as;
  }

  /// Of axes that only left operands depend on, or none, the one of which a task has most; the last of these.
  std::optional<uint32_t> longest(const std::vector<uint32_t>& axes) const {
    std::optional<uint32_t> best;
    int64_t most = 0;
    for (const uint32_t a : axes) {
      int64_t length = node_.domain[a].extent.constant().value_or(INT64_MAX);
      for (const task::Coordinate& c : type_.coordinates)
        if (c.axis == a) length = std::min(length, c.tile);
      if (length >= most) most = length, best = a;
    }
    return best;
  }

  /// Reductions that are no products are computed once for a row, before all products.
  void check_statistics(const ProductForm& found) {
    std::set<uint32_t> all;
    for (uint32_t a = 0; a < node_.domain.size(); ++a) all.insert(a);
    for (uint32_t number = 0; number < form_.reductions.size(); ++number) {
      const RowReduction& r = form_.reductions[number];
      kept_.push_back(found.is_product(number) ? all : axes_kept(r));
      if (found.is_product(number)) continue;
      check_binders(r);
      check_loads(r.term, r.along.var);
      if (kept_.back().contains(*form_.along))
        throw NoForm{"a reduction that is no product depends on the columns"};
    }
    for (const Product& product : found.products)
      if (axes_of(product.left).contains(*form_.along)) throw NoForm{"a product is multiplied again"};
  }

  /// What holds of the indices where a product's left operand is computed.
  std::vector<Fact> facts_in(const Product& product) const {
    std::vector<Fact> facts;
    const auto add = [&](const Axis& a) {
      facts.push_back(shape::at_least(Dim(a.var), Dim(0)));
      facts.push_back(shape::less(Dim(a.var), a.extent));
    };
    for (const Axis& a : node_.domain) add(a);
    for (const Axis& a : product.outer) add(a);
    add(product.depth);
    return facts;
  }

  void check_columns() const {
    for (const ScalarId output : form_.outputs) check_loads(output, node_.domain[*form_.along].var);
    for (uint32_t o = 0; o < node_.outputs.size(); ++o)
      if (store_step(o, *form_.along) != 1) throw NoForm{"it stores across memory"};
  }

  // ---- indices ----

  /// Indices without the minima, maxima and divisions that ranges and conditions around them decide.
  void simplify_loads() {
    std::vector<Fact> facts;
    const auto add_range = [&](Var v, const Dim& low, const Dim& end) {
      facts.push_back(shape::at_least(Dim(v), low));
      facts.push_back(shape::less(Dim(v), end));
    };
    for (const task::LoopId l : type_.loops) add_range(p_.loops[l].index, Dim(0), p_.loops[l].extent);
    for (const Axis& a : node_.domain) add_range(a.var, Dim(0), a.extent);
    for (ScalarId& output : form_.outputs) output = simplified(output, facts);
    for (RowReduction& r : form_.reductions) {
      std::vector<Fact> inner = facts;
      std::swap(facts, inner);
      for (const Axis& b : r.outer) add_range(b.var, Dim(0), b.extent);
      add_range(r.along.var, Dim(0), r.along.extent);
      add_range(r.along.var, r.first, r.end);
      r.term = simplified(r.term, facts);
      std::swap(facts, inner);
    }
  }

  ScalarId simplified(ScalarId id, const std::vector<Fact>& facts) {
    const Scalar s = g_.scalars[id];
    Scalar made = s;
    if (s.op == graph::Op::index) {
      made.dim = shape::simplify(s.dim, task::relevant(p_, task::both(facts, p_.facts), {s.dim}));
      return made.dim == s.dim ? id : graph::index_of(g_, made.dim);
    }
    for (size_t a = 0; a < s.args.size(); ++a) {
      const bool is_arm = s.op == graph::Op::select && a > 0;
      made.args[a] =
          simplified(s.args[a], is_arm ? task::both(implied_facts(g_, s.args[0], a == 1), facts) : facts);
    }
    return made.args == s.args ? id : graph::make_scalar(g_, std::move(made));
  }

  void choose_types() {
    ComputedTypes types(g_);
    for (ScalarId& output : form_.outputs) output = types.of(output);
    for (RowReduction& r : form_.reductions) r.term = types.of(r.term);
  }

  // ---- what vectors can load ----

  void check_strides() const {
    for (const RowReduction& r : form_.reductions) {
      if (!form_.along) check_length(r.along.extent);
      check_loads(r.term, r.along.var);
    }
    if (!form_.along) return;
    const bool few = form_.reductions.empty() && loads_of_rows();
    if (few || !has_own_axis()) check_length(node_.domain[*form_.along].extent);
    for (const ScalarId output : form_.outputs) check_loads(output, node_.domain[*form_.along].var);
    for (uint32_t o = 0; o < node_.outputs.size(); ++o)
      if (store_step(o, *form_.along) != 1) throw NoForm{"it stores across memory"};
  }

  /// Is what the outputs run along an axis of each of them? Of blocks with few elements of longer rows it is
  /// not shown that they leave no gaps.
  bool has_own_axis() const {
    const Dim along(node_.domain[*form_.along].var);
    return std::all_of(node_.outputs.begin(), node_.outputs.end(), [&](const graph::Output& output) {
      return std::find(output.at.begin(), output.at.end(), along) != output.at.end();
    });
  }

  /// Does an output load what is the same for all of a row?
  bool loads_of_rows() const {
    const Var along = node_.domain[*form_.along].var;
    return std::any_of(form_.outputs.begin(), form_.outputs.end(), [&](ScalarId output) {
      const auto loads = graph::loads_in(g_, output);
      return std::any_of(loads.begin(), loads.end(),
                         [&](ScalarId load) { return !graph::depends_on(g_, load, along); });
    });
  }

  void check_length(const Dim& extent) const {
    constexpr int64_t shortest = 16;  // elements that are worth vectors
    if (extent.constant().value_or(shortest) < shortest) throw NoForm{"its rows are short"};
  }

  void check_loads(ScalarId body, Var v) const {
    for (const ScalarId id : graph::loads_in(g_, body)) {
      if (g_.scalars[id].target.is_local()) continue;
      if (!offset_of_load(p_, g_, id)) throw NoForm{"the data decides an index"};
      const bool turned = form_.across && step_of(id, node_.domain[*form_.across].var) == 1;
      if (graph::depends_on(g_, id, v) && step_of(id, v) != 1 && !turned)
        throw NoForm{"it loads across memory"};
    }
  }

  const task::Program& p_;
  const task::TaskType& type_;
  graph::Graph& g_;
  const graph::Node node_;
  const bool short_rows_;
  RowForm form_;
  std::vector<ScalarId> whole_;             ///< the outputs, without locals
  std::map<ScalarId, ScalarId> rewritten_;  ///< without reductions
  std::map<ScalarId, uint32_t> maxima_, sums_;
  std::vector<std::pair<ScalarId, uint32_t>> products_;  ///< sums as they stand, and their numbers
  std::vector<std::set<uint32_t>> kept_;  ///< axes of the domain that each reduction depends on
};

}  // namespace

std::variant<ProductForm, std::string> product_form(const task::Program& p, const task::TaskType& type,
                                                    graph::Graph& g) {
  try {
    return FormMaker(p, type, g, true).run_product();
  } catch (const NoForm& none) {
    return none.why;
  }
}

std::variant<RowForm, std::string> row_form(const task::Program& p, const task::TaskType& type,
                                            graph::Graph& g, bool short_rows) {
  try {
    return FormMaker(p, type, g, short_rows).run();
  } catch (const NoForm& none) {
    return none.why;
  }
}

}  // namespace axon::tile
