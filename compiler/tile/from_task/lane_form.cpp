// See lane_form.h.
#include "tile/from_task/lane_form.h"

#include <algorithm>
#include <limits>

#include "tile/from_task/form_maker.h"

namespace axon::tile {

namespace {

class LaneFormMaker : FormMaker {
 public:
  LaneFormMaker(const task::Program& p, const task::TaskType& type, graph::Graph& g, bool short_rows,
                LaneChoice choice)
      : FormMaker(p, type, g, short_rows), choice_(choice) {
    has_data_ = true;
  }

  RowForm run() {
    write_out_locals();
    if (choice_ != LaneChoice::single) choose_lanes();
    for (const ScalarId output : whole_) form_.outputs.push_back(without_reductions(output));
    for (const RowReduction& r : form_.reductions) {
      kept_.push_back(axes_kept(r));
      check_binders(r);
    }
    simplify_loads();
    choose_types();
    order_rows();
    if (choice_ == LaneChoice::rows) choose_shared_rows();
    form_.has_own_reductions = true;
    form_.only_gathers = !form_.along || only_gathers();
    return std::move(form_);
  }

 private:
  // ---- lanes ----

  void choose_lanes() {
    int best = std::numeric_limits<int>::min();
    for (uint32_t a = static_cast<uint32_t>(node_.domain.size()); a-- > 0;) {
      const auto score = score_of(a);
      if (score && *score > best) best = *score, form_.along = a;
    }
    if (!form_.along) throw NoForm{"its outputs have no axis for lanes"};
  }

  /// nullopt of an axis that lanes cannot go along.
  std::optional<int> score_of(uint32_t axis) const {
    constexpr int of_short_axis = -8;
    const int64_t most = most_of_axis(type_, node_.domain[axis], axis);
    if (most <= 1) return std::nullopt;
    int score = most < shortest_row / 2 ? of_short_axis : 0;
    for (uint32_t o = 0; o < node_.outputs.size(); ++o) {
      const auto stride = store_stride(p_, g_, type_, o, axis);
      if (!stride || stride->is(0) || !owns(o, axis, most)) return std::nullopt;
      score += stride->is(1) ? 2 : stride->constant() ? -1 : -2;
    }
    for (const ScalarId output : whole_)
      for (const ScalarId load : graph::loads_in(g_, output)) score += score_of(load, node_.domain[axis].var);
    return score;
  }

  /// Of an axis with few elements it is not shown that they leave no gaps, unless it is one of the output.
  bool owns(uint32_t output, uint32_t axis, int64_t most) const {
    const std::vector<Dim>& at = node_.outputs[output].at;
    return most >= shortest_row || std::find(at.begin(), at.end(), Dim(node_.domain[axis].var)) != at.end();
  }

  int score_of(ScalarId load, Var v) const {
    if (g_.scalars[load].target.is_local() || !graph::depends_on(g_, load, v)) return 0;
    const auto step = is_gathered(load, v) ? std::nullopt : step_of(load, v);
    return !step ? -2 : *step == 1 ? 2 : -1;
  }

  /// Does each element of an output load its own where the data says, and is computed in few instructions?
  bool only_gathers() const {
    const Var along = node_.domain[*form_.along].var;
    return !has_long_functions(g_, form_) &&
           std::any_of(form_.outputs.begin(), form_.outputs.end(),
                       [&](ScalarId output) { return gathers(output, along); });
  }

  // ---- rows that share what they load ----

  /// The axis on which fewest of the vectors depend that reductions load.
  void choose_shared_rows() {
    constexpr int64_t fewest_rows = 4;
    std::optional<uint32_t> best;
    int most = 0;
    for (const uint32_t a : form_.rows) {
      if (most_of_axis(type_, node_.domain[a], a) < fewest_rows) continue;
      const int shared = shared_loads(node_.domain[a].var);
      if (shared > most) most = shared, best = a;
    }
    if (!best) throw NoForm{"no rows share what they load"};
    const auto keeps = [&](const RowReduction& r) { return r.level == form_.rows.size(); };
    if (!std::all_of(form_.reductions.begin(), form_.reductions.end(), keeps))
      throw NoForm{"its reductions keep different axes"};
    std::erase(form_.rows, *best);
    form_.rows.push_back(*best);
    form_.shares_rows = true;
  }

  /// How many of the vectors that own reductions load are the same for all rows, less those that are not.
  int shared_loads(Var row) const {
    const Var along = node_.domain[*form_.along].var;
    std::set<ScalarId> seen;
    int shared = 0;
    for (const ScalarId output : form_.outputs)
      for (const ScalarId part : graph::scalars_in(g_, output)) {
        if (g_.scalars[part].op != graph::Op::reduce) continue;
        for (const ScalarId load : graph::loads_in(g_, g_.scalars[part].args[0]))
          if (graph::depends_on(g_, load, along) && seen.insert(load).second)
            shared += graph::depends_on(g_, load, row) ? -1 : 1;
      }
    return shared;
  }

  // ---- reductions ----

  std::optional<ScalarId> own_reduction(ScalarId id) override {
    const Scalar s = g_.scalars[id];
    if (is_of_rows(id)) return std::nullopt;
    if (s.op == graph::Op::proj) return written_out(s);
    if (s.monoid == graph::Monoid::argmax) return own_argmax(s);
    Scalar made = s;
    made.args[0] = without_reductions(s.args[0]);
    return graph::make_scalar(g_, std::move(made));
  }

  /// Is it the same for all lanes, and may it be computed before they begin, in vectors along one of its
  /// binders?
  bool is_of_rows(ScalarId id) const {
    if (choice_ != LaneChoice::columns && choice_ != LaneChoice::rows) return false;
    const Scalar& s = g_.scalars[id];
    const Scalar& reduction = s.op == graph::Op::proj ? g_.scalars[s.args[0]] : s;
    if (reduction.op == graph::Op::online && (s.component > 1 || reduction.args.size() > 1)) return false;
    for (const Var v : graph::free_vars(g_, id))
      if (v == node_.domain[*form_.along].var || is_binder(v)) return false;
    return has_vectors(reduction) && !nests(reduction);
  }

  bool is_binder(Var v) const {
    const auto is_it = [&](const auto& it) { return it.var == v; };
    return std::none_of(g_.sizes.begin(), g_.sizes.end(), is_it) &&
           std::none_of(node_.domain.begin(), node_.domain.end(), is_it) && !is_steps(v) &&
           std::none_of(type_.loops.begin(), type_.loops.end(),
                        [&](task::LoopId l) { return p_.loops[l].index == v; });
  }

  bool has_vectors(const Scalar& s) const {
    RowReduction r;
    r.outer.assign(s.binders.begin(), s.binders.end());
    r.term = s.args[0];
    choose_along(r);
    if (r.along.extent.constant().value_or(shortest_row) < shortest_row) return false;
    const auto loads = graph::loads_in(g_, r.term);
    return std::all_of(loads.begin(), loads.end(), [&](ScalarId load) {
      return !graph::depends_on(g_, load, r.along.var) ||
             (!is_gathered(load, r.along.var) && step_of(load, r.along.var) == 1);
    });
  }

  /// Is a reduction inside of it another one for each of its points?
  bool nests(const Scalar& s) const {
    const auto parts = graph::scalars_in(g_, s.args[0]);
    return std::any_of(parts.begin(), parts.end(), [&](ScalarId part) {
      const graph::Op op = g_.scalars[part].op;
      if (op != graph::Op::reduce && op != graph::Op::proj) return false;
      return std::any_of(s.binders.begin(), s.binders.end(),
                         [&](const Axis& b) { return graph::depends_on(g_, part, b.var); });
    });
  }

  ScalarId own_argmax(const Scalar& s) {
    const Axis along = s.binders.at(0);
    const ScalarId term = without_reductions(s.args[0]);
    const ScalarId best = own(graph::Monoid::max, s.binders, term);
    const Positions positions = positions_along(along);
    const ScalarId here = position_of(best, term, along.var, positions);
    return found_or_zero(own(graph::Monoid::min, s.binders, here), positions);
  }

  /// Its binders are no other reduction's: what is computed of a point of one has no value at those of
  /// another.
  ScalarId own(graph::Monoid monoid, std::vector<Axis> binders, ScalarId body) {
    shape::Substitution renamed;
    for (Axis& b : binders) {
      const Var fresh = shape::fresh_var(shape::var_name(b.var));
      renamed[b.var] = Dim(fresh);
      b.var = fresh;
    }
    return graph::reduce(g_, monoid, std::move(binders), graph::substitute(g_, body, renamed));
  }

  /// By the formulas of the note in graph.h.
  ScalarId written_out(const Scalar& proj) {
    const Scalar s = g_.scalars[proj.args[0]];
    const base::Elem elem = base::accumulator(g_.scalars[s.args[0]].elem);
    const ScalarId score = graph::cast(g_, elem, without_reductions(s.args[0]));
    ScalarId& top = maxima_of_[proj.args[0]];
    if (!top.valid()) top = own(graph::Monoid::max, s.binders, score);
    if (proj.component == 0) return top;
    ScalarId term = weight_of(s, score, top);
    if (proj.component > 1) {
      const ScalarId value = without_reductions(s.args[proj.component - 1]);
      term = graph::apply(g_, graph::Op::mul, {term, graph::cast(g_, elem, value)});
    }
    return graph::cast(g_, base::computed_as(proj.elem), own(graph::Monoid::sum, s.binders, term));
  }

  const LaneChoice choice_;
  std::map<ScalarId, ScalarId> maxima_of_;  ///< of online reductions
};

}  // namespace

std::variant<RowForm, std::string> lane_form(const task::Program& p, const task::TaskType& type,
                                             graph::Graph& g, bool short_rows, LaneChoice choice) {
  try {
    return LaneFormMaker(p, type, g, short_rows, choice).run();
  } catch (const NoForm& none) {
    return none.why;
  }
}

}  // namespace axon::tile
