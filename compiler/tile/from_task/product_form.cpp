// See product_form.h.
#include "tile/from_task/product_form.h"

#include <algorithm>

#include "graph/contraction.h"
#include "tile/from_task/form_maker.h"
#include "tile/from_task/runs.h"

namespace axon::tile {

namespace {

class ProductFormMaker : FormMaker {
 public:
  ProductFormMaker(const task::Program& p, const task::TaskType& type, graph::Graph& g, bool may_pack)
      : FormMaker(p, type, g, true), may_pack_(may_pack) {
    has_data_ = may_pack;
  }

  ProductForm run() {
    write_out_locals();
    for (const ScalarId output : whole_) form_.outputs.push_back(without_reductions(output));
    ProductForm out;
    for (const auto& [sum, number] : products_)
      if (const auto found = graph::find_contraction(g_, {}, sum, domain_of(sum));
          found && is_product(*found))
        add_product(out, *found, number);
    if (out.products.empty()) throw NoForm{"it is no product of two matrices"};
    check_statistics(out);
    for (uint32_t a = 0; a < node_.domain.size(); ++a)
      if (a != form_.along && a != out.row) form_.rows.push_back(a);
    simplify_loads();
    for (Product& product : out.products) {
      product.left = simplified(product.left, facts_in(product));
      if (!product.is_packed) continue;
      product.right = simplified(product.right, facts_in(product));
      find_slide(product);
    }
    check_columns();
    out.form = std::move(form_);
    return out;
  }

 private:
  // ---- columns of their own ----

  /// A sum that outputs read at other columns than that which they store, as pairs of neighbours: its columns
  /// are an axis of its own, and a load of its result says at which one.
  std::optional<ScalarId> own_reduction(ScalarId id) override {
    const Scalar s = g_.scalars[id];
    if (!may_pack_ || s.op != graph::Op::reduce || s.monoid != graph::Monoid::sum) return std::nullopt;
    for (uint32_t a = 0; a < node_.domain.size(); ++a) {
      const auto at = other_column(id, node_.domain[a]);
      if (!at) continue;
      auto [own, fresh] = own_columns_.try_emplace(a, node_.domain[a]);
      if (fresh) own->second.var = shape::fresh_var(shape::var_name(node_.domain[a].var));
      const ScalarId sum = with_column(id, *at, Dim(own->second.var));
      if (graph::depends_on(g_, sum, node_.domain[a].var)) continue;
      const auto [known, is_new] = numbers_.try_emplace(sum, 0);
      if (is_new) {
        known->second = reduction(s.monoid, g_.scalars[sum], s.elem, g_.scalars[sum].args[0]);
        products_.emplace_back(sum, known->second);
        column_of_[sum] = a;
      }
      return graph::load(g_, graph::local_value(known->second), {graph::index_of(g_, *at)},
                         form_.reductions[known->second].kept);
    }
    return std::nullopt;
  }

  /// The index by which alone a sum depends on the axis, where it goes through a whole axis of what is loaded
  /// in another way.
  std::optional<Dim> other_column(ScalarId sum, const Axis& axis) const {
    std::optional<Dim> found;
    for (const ScalarId id : graph::loads_in(g_, sum)) {
      const Scalar& load = g_.scalars[id];
      for (size_t i = 0; i < load.args.size(); ++i) {
        if (!graph::depends_on(g_, load.args[i], axis.var)) continue;
        const auto index = graph::affine_index(g_, load.args[i]);
        if (!index || load.target.is_local() || index->linear_in(axis.var) || (found && *found != *index) ||
            g_.type(load.target).shape[i] != axis.extent)
          return std::nullopt;
        found = index;
      }
    }
    return found;
  }

  ScalarId with_column(ScalarId sum, const Dim& from, const Dim& to) {
    return graph::rewrite_loads(g_, sum, [&](ScalarId id) {
      Scalar load = g_.scalars[id];
      for (ScalarId& arg : load.args)
        if (graph::affine_index(g_, arg) == from) arg = graph::index_of(g_, to);
      return load.args == g_.scalars[id].args ? id : graph::make_scalar(g_, std::move(load));
    });
  }

  std::vector<Axis> domain_of(ScalarId sum) const {
    std::vector<Axis> domain = node_.domain;
    if (const auto own = column_of_.find(sum); own != column_of_.end())
      domain[own->second] = own_columns_.at(own->second);
    return domain;
  }

  // ---- products ----

  void add_product(ProductForm& out, const graph::Contraction& found, uint32_t number) {
    const RowReduction& sum = form_.reductions[number];
    const std::vector<Axis> domain = domain_of(found.reduce);
    if (found.runs && !may_pack_) throw NoForm{"the data says which matrix a row is multiplied by"};
    if (!sum.first.is(0) || sum.end != sum.along.extent) throw NoForm{"a mask bounds a product"};
    Product made;
    made.reduction = number;
    made.left = product_of(found.left);
    made.right = found.load.valid() ? found.load : product_of(found.right);
    std::optional<uint32_t> column, row = found.runs ? found.runs : longest(found.rows);
    if (found.load.valid()) column = position_of(domain, found.column);
    const auto other = stored_along(found.load.valid() ? found.rows : found.columns);
    if (may_pack_ && other && !(column && (is_stored_along(*column) || goes_across(found, *other)))) {
      if (found.load.valid()) {
        std::swap(made.left, made.right);
        row = longest(found.columns);
      }
      column = *other;
      made.is_packed = true;
    }
    if (!column || !choose_depth(made, found)) throw NoForm{"it is no product of two matrices"};
    if (found.load.valid()) check_data(found.load, domain[*column].var, made.depth.var);
    if (may_pack_) join_depths(made, g_.scalars[found.reduce].binders, domain[*column].var);
    for (const Product& other : out.products)
      if (made.run.empty() && other.run.empty() && other.depth.extent == made.depth.extent)
        rename_depth(made, other.depth);
    if (!out.products.empty() && (form_.along != column || out.row != row))
      throw NoForm{"its products have different rows or columns"};
    made.column = domain[*column];
    if (made.is_packed && made.column.var != node_.domain[*column].var)
      throw NoForm{"what is read at other columns is packed"};
    form_.along = column;
    out.row = row;
    out.products.push_back(std::move(made));
  }

  /// Is the left operand known to be too far apart along its own columns to be packed along them? Then
  /// outputs are better stored turned.
  bool goes_across(const graph::Contraction& found, uint32_t column) const {
    const auto is_far = [&](ScalarId load) {
      if (g_.scalars[load].target.is_local()) return false;
      const auto offset = offset_of_load(p_, g_, load);
      const auto by = offset ? offset->linear_in(node_.domain[column].var) : std::nullopt;
      return by && !is_packed_step(by->first.constant());
    };
    return std::any_of(found.left.begin(), found.left.end(), [&](ScalarId factor) {
      const auto loads = graph::loads_in(g_, factor);
      return std::any_of(loads.begin(), loads.end(), is_far);
    });
  }

  /// An index that the data decides is a number, which neither columns nor the depth change.
  void check_data(ScalarId right, Var column, Var depth) const {
    for (const ScalarId arg : g_.scalars[right].args)
      if (!graph::affine_index(g_, arg) &&
          (!may_pack_ || graph::depends_on(g_, arg, column) || graph::depends_on(g_, arg, depth)))
        throw NoForm{"the data decides an index"};
  }

  /// A sum of products that lies along no column is none: a norm's sum of squares, say.
  bool is_product(const graph::Contraction& found) const {
    return found.load.valid() || (may_pack_ && stored_along(found.columns));
  }

  ScalarId product_of(const std::vector<ScalarId>& factors) {
    ScalarId all;
    for (const ScalarId factor : factors) {
      const ScalarId one = without_reductions(factor);
      all = all.valid() ? graph::apply(g_, graph::Op::mul, {all, one}) : one;
    }
    return all;
  }

  static uint32_t position_of(const std::vector<Axis>& domain, const Axis& axis) {
    const auto found =
        std::find_if(domain.begin(), domain.end(), [&](const Axis& a) { return a.var == axis.var; });
    return static_cast<uint32_t>(found - domain.begin());
  }

  /// The binder that the recogniser names, or the last one that both operands depend on.
  bool choose_depth(Product& made, const graph::Contraction& found) const {
    const std::vector<Axis>& binders = g_.scalars[found.reduce].binders;
    const auto both = [&](const Axis& b) {
      return found.load.valid()
                 ? b.var == found.depth().var
                 : graph::depends_on(g_, made.left, b.var) && graph::depends_on(g_, made.right, b.var);
    };
    const auto depth = std::find_if(binders.rbegin(), binders.rend(), both);
    if (depth == binders.rend()) return false;
    made.depth = *depth;
    for (const Axis& binder : binders)
      if (binder.var != made.depth.var) made.outer.push_back(binder);
    return true;
  }

  bool is_stored_along(uint32_t axis) const {
    for (uint32_t o = 0; o < node_.outputs.size(); ++o)
      if (store_step(o, axis) != 1) return false;
    return true;
  }
  std::optional<uint32_t> stored_along(const std::vector<uint32_t>& axes) const {
    const auto found = std::find_if(axes.begin(), axes.end(), [&](uint32_t a) { return is_stored_along(a); });
    return found == axes.end() ? std::nullopt : std::optional(*found);
  }

  /// A right operand of windows, or one that is computed, is packed whatever its depth is: that which is one
  /// axis of the left operand's tensor is the longest.
  void join_depths(Product& product, const std::vector<Axis>& binders, Var column) {
    if (!product.is_packed && !is_of_windows(g_, product.right, column, binders)) return;
    product.run = run_of_binders(p_, type_, g_, product.left, binders);
    if (product.run.empty()) return;
    product.is_packed = true;
    product.depth = {product.run.back().var, Dim(1)};
    for (const Axis& binder : product.run) product.depth.extent = product.depth.extent * binder.extent;
    product.outer = binders;
    std::erase_if(product.outer, [&](const Axis& binder) {
      return std::any_of(product.run.begin(), product.run.end(),
                         [&](const Axis& joined) { return joined.var == binder.var; });
    });
    form_.flat[p_.place(g_.scalars[product.left].target).buffer] = product.run.size();
  }

  /// Only of loads whose steps are numbers.
  void find_slide(Product& product) const {
    const RowReduction& sum = form_.reductions[product.reduction];
    if (product.run.empty() || product.run.back().extent.is(1) ||
        g_.type(g_.scalars[product.left].target).elem != sum.in)
      return;
    const BoundedValue right = bounded_value(g_, product.right);
    const Var column = node_.domain[*form_.along].var;
    product.slide = slide_of(g_, right, column, product.run.back().var);
    if (!product.slide) return;
    // Where their number is open, steps of several lines take more registers than there are.
    const bool fits = product.slide->steps == 1 || product.run.back().extent.constant();
    if (!fits || !step_of(right.value, column)) product.slide.reset();
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
    for (const Axis& a : product.run) add(a);
    if (product.run.empty()) add(product.depth);
    return facts;
  }

  /// Vectors of threads are of what lies together; a CPU puts others together element by element.
  void check_columns() const {
    if (may_pack_) return;
    for (const ScalarId output : form_.outputs) check_loads(output, node_.domain[*form_.along].var);
    for (uint32_t o = 0; o < node_.outputs.size(); ++o)
      if (store_step(o, *form_.along) != 1) throw NoForm{"it stores across memory"};
  }

  const bool may_pack_;
  std::map<uint32_t, Axis> own_columns_;    ///< by the axis of the domain that they stand for
  std::map<ScalarId, uint32_t> column_of_;  ///< of sums with columns of their own
  std::map<ScalarId, uint32_t> numbers_;    ///< of these
};

}  // namespace

std::variant<ProductForm, std::string> product_form(const task::Program& p, const task::TaskType& type,
                                                    graph::Graph& g, bool may_pack) {
  try {
    return ProductFormMaker(p, type, g, may_pack).run();
  } catch (const NoForm& none) {
    return none.why;
  }
}

}  // namespace axon::tile
