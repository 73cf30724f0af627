// See scatter_form.h. Locals are written out where they are read; then reductions are taken out of the
// outputs, and what their equations say is put into what is left.
#include "tile/from_task/scatter_form.h"

#include <algorithm>

#include "task/scatter.h"
#include "tile/from_task/computed_types.h"
#include "tile/from_task/form_maker.h"
#include "tile/from_task/frame.h"

namespace axon::tile {

namespace {

class ScatterFormMaker : FormMaker {
 public:
  ScatterFormMaker(const task::Program& p, const task::TaskType& type, graph::Graph& g)
      : FormMaker(p, type, g, false) {
    has_data_ = true;
  }

  ScatterForm run() {
    write_out_locals();
    ComputedTypes types(g_);
    for (const ScalarId output : whole_) form_.outputs.push_back(without_sums(output));
    choose_along();
    simplify_loads();
    for (ScalarId& output : form_.outputs) output = types.of(output);
    check_outputs();
    for (ScatteredSum& sum : sums_) {
      simplify(sum);
      for (ScatteredIndex& index : sum.indices) index.number = types.of(index.number);
      if (sum.guard.valid()) sum.guard = types.of(sum.guard);
      sum.term = types.of(sum.term);
      choose_along(sum);
      choose_summed(sum);
    }
    for (uint32_t a = 0; a < node_.domain.size(); ++a)
      if (a != form_.along) form_.rows.push_back(a);
    return {std::move(form_), std::move(sums_)};
  }

 private:
  // ---- reductions ----

  ScalarId without_sums(ScalarId id) {
    if (const auto found = rewritten_.find(id); found != rewritten_.end()) return found->second;
    const Scalar s = g_.scalars[id];
    if (s.op == graph::Op::reduce) return rewritten_[id] = sum(id);
    if (graph::binds(s.op) || s.op == graph::Op::proj) throw NoForm{"it reduces in other ways, too"};
    Scalar made = s;
    for (ScalarId& arg : made.args) arg = without_sums(arg);
    return rewritten_[id] = made.args == s.args ? id : graph::make_scalar(g_, std::move(made));
  }

  /// A load that stands for its result.
  ScalarId sum(ScalarId id) {
    const auto scatter = task::find_scatter(g_, id, node_.domain);
    if (!scatter) throw NoForm{"one of its reductions does not scatter"};
    const Scalar s = g_.scalars[id];
    for (const ScalarId part : graph::scalars_in(g_, s.args[0]))
      if (graph::binds(g_.scalars[part].op)) throw NoForm{"a reduction stands inside of another"};
    ScatteredSum made;
    made.monoid = s.monoid;
    made.kept = base::computed_as(s.elem);
    // Of integers that wrap, sums may wrap at each step.
    const bool is_kept = base::is_integer(s.elem) || s.elem == Elem::boolean ||
                         s.monoid == graph::Monoid::max || s.monoid == graph::Monoid::min;
    made.in = is_kept ? made.kept : base::computed_as(base::accumulator(s.elem));
    made.outer = scatter->outer;
    made.binders = s.binders;
    made.inner = scatter->inner;
    put_equations(*scatter, s.args[0], made);
    std::erase_if(made.inner,
                  [&](uint32_t a) { return !graph::depends_on(g_, made.term, node_.domain[a].var); });
    sums_.push_back(std::move(made));
    return graph::load(g_, graph::local_value(static_cast<uint32_t>(sums_.size() - 1)), {},
                       sums_.back().kept);
  }

  void put_equations(const task::Scatter& scatter, ScalarId term, ScatteredSum& made) {
    std::map<Var, ScalarId> found;
    std::set<ScalarId> equations;
    for (const task::ScatterIndex& index : scatter.indices) equations.insert(index.equation);
    for (const task::ScatterIndex& index : scatter.indices) {
      ScalarId number = graph::cast(g_, Elem::i64, index.value);
      Dim offset = -index.rest;
      if (index.mirrored) {
        number = graph::apply(g_, graph::Op::neg, {number});
        offset = index.rest;
      }
      if (mentions(offset, found)) {
        number = graph::apply(g_, graph::Op::add, {number, graph::index_of(g_, offset)});
        offset = Dim(0);
      }
      number = graph::substitute(g_, number, found);
      made.indices.push_back({index.axis, number, offset});
      found[node_.domain[index.axis].var] =
          graph::apply(g_, graph::Op::add, {number, graph::index_of(g_, offset)});
    }
    std::map<ScalarId, ScalarId> known;
    made.term = graph::substitute(g_, with_truth(term, equations, known), found);
    if (has_checks(g_, made.term)) made.guard = guard_of(made);
  }

  static bool mentions(const Dim& d, const std::map<Var, ScalarId>& vars) {
    return std::any_of(vars.begin(), vars.end(), [&](const auto& entry) { return d.contains(entry.first); });
  }

  /// The expression where the equations hold.
  ScalarId with_truth(ScalarId id, const std::set<ScalarId>& equations, std::map<ScalarId, ScalarId>& known) {
    if (equations.contains(id)) return graph::constant_int(g_, Elem::boolean, 1);
    if (const auto found = known.find(id); found != known.end()) return found->second;
    const Scalar s = g_.scalars[id];
    Scalar made = s;
    for (ScalarId& arg : made.args) arg = with_truth(arg, equations, known);
    if (made.args == s.args) return known[id] = id;
    if (is_true(made.args[0])) {
      if (s.op == graph::Op::select || s.op == graph::Op::and_) return known[id] = made.args[1];
      if (s.op == graph::Op::cast) return known[id] = one_of(s.elem);
    }
    if (s.op == graph::Op::and_ && is_true(made.args[1])) return known[id] = made.args[0];
    return known[id] = graph::make_scalar(g_, std::move(made));
  }
  bool is_true(ScalarId id) const {
    const Scalar& s = g_.scalars[id];
    return s.op == graph::Op::constant && s.elem == Elem::boolean && s.integer != 0;
  }
  ScalarId one_of(Elem elem) {
    return base::is_float(elem) ? graph::constant_float(g_, elem, 1) : graph::constant_int(g_, elem, 1);
  }

  /// Are all indices in the task's part? Only there the term is evaluated.
  ScalarId guard_of(const ScatteredSum& sum) {
    ScalarId all;
    for (const ScatteredIndex& index : sum.indices) {
      Dim first(0), end = node_.domain[index.axis].extent;
      for (const task::Coordinate& c : type_.coordinates)
        if (c.axis == index.axis) {
          first = Dim(c.tile) * Dim(c.var);
          end = shape::min(end, first + Dim(c.tile));
        }
      const ScalarId at = graph::apply(g_, graph::Op::add, {index.number, graph::index_of(g_, index.offset)});
      const ScalarId inside = graph::apply(g_, graph::Op::and_,
                                           {graph::apply(g_, graph::Op::le, {graph::index_of(g_, first), at}),
                                            graph::apply(g_, graph::Op::lt, {at, graph::index_of(g_, end)})});
      all = all.valid() ? graph::apply(g_, graph::Op::and_, {all, inside}) : inside;
    }
    return all;
  }

  // ---- axes ----

  void choose_along() {
    std::optional<int> best;
    for (auto a = static_cast<uint32_t>(node_.domain.size()); a-- > 0;) {
      int score = 0;
      for (uint32_t o = 0; o < node_.outputs.size(); ++o) score += store_step(o, a) == 1 ? 1 : -2;
      for (const ScalarId output : form_.outputs) score += loads_along(output, node_.domain[a].var);
      if (!best || score > *best) best = score, form_.along = a;
    }
  }

  void check_outputs() const {
    const Var along = node_.domain[*form_.along].var;
    for (const ScalarId output : form_.outputs) {
      check_loads(output, along);
      for (const ScalarId load : graph::loads_in(g_, output))
        if (!g_.scalars[load].target.is_local() && is_gathered(load, along))
          throw NoForm{"it gathers elements one by one"};
    }
    for (uint32_t o = 0; o < node_.outputs.size(); ++o)
      if (store_step(o, *form_.along) != 1) throw NoForm{"it stores across memory"};
  }

  /// An inner axis that loads of the term run along, and none of them across.
  void choose_along(ScatteredSum& sum) const {
    constexpr int64_t shortest = 4;  // elements that are worth vectors
    for (const uint32_t a : sum.inner) {
      const graph::Axis& axis = node_.domain[a];
      if (axis.extent.constant().value_or(shortest) < shortest) continue;
      if (runs_along(sum.term, axis.var)) sum.along = a;
    }
    if (sum.along) std::erase(sum.inner, *sum.along);
  }
  bool runs_along(ScalarId term, Var v) const {
    bool any = false;
    for (const ScalarId load : graph::loads_in(g_, term)) {
      if (!graph::depends_on(g_, load, v)) continue;
      if (is_gathered(load, v) || step_of(load, v) != 1) return false;
      any = true;
    }
    return any;
  }

  /// The innermost binders that no index mentions, where there is one term for all of these.
  void choose_summed(ScatteredSum& sum) const {
    if (sum.along || !sum.inner.empty() || sum.guard.valid()) return;
    size_t first = sum.binders.size();
    while (first > 0 &&
           std::none_of(sum.indices.begin(), sum.indices.end(), [&](const ScatteredIndex& index) {
             return graph::depends_on(g_, index.number, sum.binders[first - 1].var);
           }))
      --first;
    if (first == sum.binders.size() || !runs_along(sum.term, sum.binders.back().var)) return;
    sum.summed.assign(sum.binders.begin() + static_cast<std::ptrdiff_t>(first), sum.binders.end());
    sum.binders.resize(first);
  }

  void simplify(ScatteredSum& sum) {
    std::vector<Fact> facts = ranges_around();
    for (const Axis& b : sum.binders) add_range(facts, b);
    for (ScatteredIndex& index : sum.indices) index.number = simplified(index.number, facts);
    sum.term = simplified(sum.term, facts);
  }

  std::vector<ScatteredSum> sums_;
};

}  // namespace

std::variant<ScatterForm, std::string> scatter_form(const task::Program& p, const task::TaskType& type,
                                                    graph::Graph& g) {
  try {
    return ScatterFormMaker(p, type, g).run();
  } catch (const NoForm& none) {
    return none.why;
  }
}

}  // namespace axon::tile
