// See online_form.h.
#include "tile/from_task/online_form.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "graph/contraction.h"
#include "tile/from_task/form_maker.h"

namespace axon::tile {

namespace {

class OnlineFormMaker : FormMaker {
 public:
  OnlineFormMaker(const task::Program& p, const task::TaskType& type, graph::Graph& g)
      : FormMaker(p, type, g, true) {}

  OnlineForm run() {
    write_out_locals();
    for (const ScalarId output : whole_) form_.outputs.push_back(without_reductions(output));
    if (values_.empty()) throw NoForm{"it has no online softmax that weights values"};
    choose_columns();
    for (const auto& [sum, number] : products_)
      if (graph::depends_on(g_, sum, out_.key.var)) add_score(sum, number);
    out_.scores = out_.all.products.size();
    for (const Value& value : values_) add_value(value);
    sort_reductions();
    choose_rows();
    simplify_loads();
    check_columns();
    out_.all.form = std::move(form_);
    return std::move(out_);
  }

 private:
  struct Value {
    uint32_t number;
    ScalarId load;
  };

  /// The first one stands for all that the projections have in common.
  ScalarId online(const Scalar& proj) override {
    if (online_.valid() && online_ != proj.args[0]) throw NoForm{"it has several online softmaxes"};
    const bool fresh = !online_.valid();
    online_ = proj.args[0];
    const Scalar s = g_.scalars[online_];
    if (fresh) declare(s);
    if (proj.component == 0) return result(out_.maximum);
    return with_nothing(s,
                        proj.component == 1 ? result(out_.sum) : result(values_[proj.component - 2].number));
  }

  void declare(const Scalar& s) {
    if (s.binders.size() != 1) throw NoForm{"its keys have several axes"};
    out_.key = s.binders[0];
    out_.base2 = s.base2;
    out_.scale = s.scale;
    out_.range = graph::binder_range(g_, s, 0, graph::ReadBounds::of_some_points);
    DataRange by_data;
    const bool has_all = add_range_by_data(g_, s, out_.range, out_.key.extent, BoundChecks::none, by_data);
    elem_ = base::accumulator(g_.scalars[s.args[0]].elem);
    out_.is_unmasked = has_all && out_.range.unmasked.valid();
    const ScalarId score = out_.is_unmasked ? out_.range.unmasked : s.args[0];
    out_.maximum = add(graph::Monoid::max, without_reductions(graph::cast(g_, elem_, score)));
    for (ScalarId* const bound : {&by_data.first, &by_data.end})
      if (bound->valid()) *bound = without_reductions(*bound);
    form_.reductions[out_.maximum].by_data = by_data;
    out_.sum = add(graph::Monoid::sum, result(out_.maximum));
    out_.weights = add(graph::Monoid::sum, result(out_.maximum));
    for (size_t v = 1; v < s.args.size(); ++v) {
      const ScalarId load = graph::streamed_load(g_, {}, s.args[v], elem_);
      if (!load.valid()) throw NoForm{"a value is no tensor"};
      values_.push_back({add(graph::Monoid::sum, load), load});
    }
  }

  uint32_t add(graph::Monoid monoid, ScalarId term) {
    RowReduction r;
    r.monoid = monoid;
    r.kept = r.in = elem_;
    r.along = out_.key;
    r.first = Dim(0);
    r.end = out_.key.extent;
    r.term = term;
    form_.reductions.push_back(std::move(r));
    return static_cast<uint32_t>(form_.reductions.size() - 1);
  }

  /// Where every score is -inf, the sums are not numbers, or 0.
  ScalarId with_nothing(const Scalar& s, ScalarId sum) {
    if (s.or_zero) return sum;
    const auto number = [&](double x) { return graph::constant_float(g_, elem_, x); };
    const ScalarId nothing = graph::apply(g_, graph::Op::eq, {result(out_.maximum), number(-INFINITY)});
    const ScalarId keys =
        graph::apply(g_, graph::Op::lt,
                     {graph::constant_int(g_, base::Elem::i64, 0), graph::index_of(g_, out_.key.extent)});
    return graph::apply(g_, graph::Op::select,
                        {graph::apply(g_, graph::Op::and_, {nothing, keys}), number(NAN), sum});
  }

  /// The last axis that values run along.
  void choose_columns() {
    const std::vector<Var> of_scores = vars_of_scores();
    for (uint32_t a = 0; a < node_.domain.size(); ++a) {
      const Var v = node_.domain[a].var;
      const bool runs = step_of(values_[0].load, v) == 1;
      if (runs && std::find(of_scores.begin(), of_scores.end(), v) == of_scores.end()) form_.along = a;
    }
    if (!form_.along) throw NoForm{"its values do not run along an axis of the outputs"};
  }

  std::vector<Var> vars_of_scores() const {
    std::vector<Var> vars = graph::free_vars(g_, g_.scalars[online_].args[0]);
    for (const Dim& d : out_.range.low) d.collect_vars(vars);
    for (const Dim& d : out_.range.end) d.collect_vars(vars);
    return vars;
  }

  void add_score(ScalarId sum, uint32_t number) {
    const RowReduction& r = form_.reductions[number];
    if (!r.first.is(0) || r.end != r.along.extent) throw NoForm{"a mask bounds a product"};
    Product made;
    made.reduction = number;
    made.column = out_.key;
    const auto score = graph::score_of_key(g_, {}, sum, out_.key.var);
    if (!score) throw NoForm{"a score is no product"};
    for (const ScalarId factor : score->query) {
      const ScalarId one = without_reductions(factor);
      made.left = made.left.valid() ? graph::apply(g_, graph::Op::mul, {made.left, one}) : one;
    }
    made.right = score->key;
    made.depth = r.along;
    made.outer.assign(r.outer.begin(), r.outer.end());
    add_product(std::move(made));
  }

  void add_value(const Value& value) {
    Product made;
    made.reduction = value.number;
    made.column = node_.domain[*form_.along];
    made.depth = out_.key;
    made.left = result(out_.weights);
    made.right = value.load;
    add_product(std::move(made));
  }

  void add_product(Product made) {
    if (!offset_of_load(p_, g_, made.right)) throw NoForm{"the data decides an index"};
    out_.all.products.push_back(std::move(made));
  }

  bool is_part(uint32_t number) const {
    return number == out_.maximum || number == out_.sum || number == out_.weights ||
           out_.all.is_product(number);
  }

  /// What is no part of the softmax is computed before it, or with the outputs.
  void sort_reductions() {
    for (uint32_t n = 0; n < form_.reductions.size(); ++n) {
      const RowReduction& r = form_.reductions[n];
      kept_.push_back(axes_kept(r));
      if (is_part(n)) continue;
      check_binders(r);
      if (kept_[n].contains(*form_.along)) {
        check_loads(r.term, node_.domain[*form_.along].var);
        out_.of_columns.push_back(n);
      } else if (goes_across(r) || reads_any(r.term, [&](uint32_t of) { return !is_before(of); })) {
        out_.of_rows.push_back(n);
      } else {
        out_.before.push_back(n);
      }
    }
    if (kept_[out_.maximum].contains(*form_.along)) throw NoForm{"its scores depend on the columns"};
    const auto is_late = [&](uint32_t of) { return !is_part(of) && !is_before(of); };
    if (reads_any(form_.reductions[out_.maximum].term, is_late) ||
        std::any_of(out_.all.products.begin(), out_.all.products.end(),
                    [&](const Product& product) { return reads_any(product.left, is_late); }))
      throw NoForm{"its scores read what goes across memory"};
  }

  bool is_before(uint32_t number) const {
    return std::find(out_.before.begin(), out_.before.end(), number) != out_.before.end();
  }

  bool reads_any(ScalarId body, const std::function<bool(uint32_t)>& wanted) const {
    const auto loads = graph::loads_in(g_, body);
    return std::any_of(loads.begin(), loads.end(), [&](ScalarId id) {
      const graph::Value& of = g_.scalars[id].target;
      return of.is_local() && wanted(of.output);
    });
  }

  bool goes_across(const RowReduction& r) const {
    const auto loads = graph::loads_in(g_, r.term);
    return std::any_of(loads.begin(), loads.end(), [&](ScalarId id) {
      return !g_.scalars[id].target.is_local() && graph::depends_on(g_, id, r.along.var) &&
             step_of(id, r.along.var) != 1;
    });
  }

  /// The longest axis that no right operand depends on.
  void choose_rows() {
    int64_t most = 0;
    for (uint32_t a = 0; a < node_.domain.size(); ++a) {
      if (a == form_.along) continue;
      const bool is_of_right = std::any_of(
          out_.all.products.begin(), out_.all.products.end(),
          [&](const Product& product) { return graph::depends_on(g_, product.right, node_.domain[a].var); });
      int64_t length = node_.domain[a].extent.constant().value_or(INT64_MAX);
      for (const task::Coordinate& c : type_.coordinates)
        if (c.axis == a) length = std::min(length, c.tile);
      if (!is_of_right && length >= most) most = length, out_.all.row = a;
    }
    for (uint32_t a = 0; a < node_.domain.size(); ++a)
      if (a != form_.along && a != out_.all.row) form_.rows.push_back(a);
  }

  void check_columns() const {
    for (const ScalarId output : form_.outputs) check_loads(output, node_.domain[*form_.along].var);
    for (uint32_t o = 0; o < node_.outputs.size(); ++o)
      if (!store_stride(p_, g_, type_, o, *form_.along)) throw NoForm{"its columns have no stride in memory"};
  }

  OnlineForm out_;
  ScalarId online_;
  base::Elem elem_ = base::Elem::f32;
  std::vector<Value> values_;
};

}  // namespace

std::variant<OnlineForm, std::string> online_form(const task::Program& p, const task::TaskType& type,
                                                  graph::Graph& g) {
  try {
    return OnlineFormMaker(p, type, g).run();
  } catch (const NoForm& none) {
    return none.why;
  }
}

}  // namespace axon::tile
