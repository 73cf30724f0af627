// See row_form.h. In this order: locals are written out where they are read; reductions are taken out of
// what is left, inner ones first; then the axes are chosen.
#include "tile/from_task/row_form.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "task/facts.h"
#include "tile/from_task/form_maker.h"

namespace axon::tile {

namespace {

/// `of_data`: what stands for an index that the data decides; nullopt where nothing may.
std::optional<Dim> offset_of_load(const task::Program& p, const graph::Graph& g, ScalarId load,
                                  const std::function<std::optional<Dim>(ScalarId)>& of_data) {
  const Scalar& s = g.scalars[load];
  const task::Place& place = p.place(s.target);
  const task::Buffer& buffer = p.buffers[place.buffer];
  std::vector<Dim> index;
  if (place.slot) index.push_back(*place.slot);
  for (const ScalarId arg : s.args) {
    auto dim = graph::affine_index(g, arg);
    if (!dim) dim = of_data(arg);
    if (!dim) return std::nullopt;
    index.push_back(*dim);
  }
  return layout::offset_of(buffer.placement, buffer.shape, index);
}

}  // namespace

std::optional<Dim> offset_of_load(const task::Program& p, const graph::Graph& g, ScalarId load) {
  return offset_of_load(p, g, load, [](ScalarId) { return std::nullopt; });
}

std::optional<int64_t> step_of_load(const task::Program& p, const graph::Graph& g, ScalarId load, Var v) {
  const auto offset = offset_of_load(p, g, load, [&](ScalarId index) {
    return graph::depends_on(g, index, v) ? std::nullopt : std::optional(Dim(shape::fresh_var("data")));
  });
  const auto by = offset ? offset->linear_in(v) : std::nullopt;
  return by ? by->first.constant() : std::nullopt;
}

std::optional<Dim> store_stride(const task::Program& p, const graph::Graph& g, const task::TaskType& type,
                                uint32_t output, uint32_t axis) {
  const graph::Node& node = g.nodes[type.node];
  const task::Place& place = p.place({type.node, output});
  const task::Buffer& buffer = p.buffers[place.buffer];
  std::vector<Dim> index = node.outputs[output].at;
  if (place.slot) index.insert(index.begin(), *place.slot);
  const auto by = layout::offset_of(buffer.placement, buffer.shape, index).linear_in(node.domain[axis].var);
  return by ? std::optional(by->first) : std::nullopt;
}

std::vector<Fact> ranges_of_binders(const Scalar& reduction) {
  std::vector<Fact> out;
  for (const graph::Axis& b : reduction.binders) {
    out.push_back(shape::at_least(Dim(b.var), Dim(0)));
    out.push_back(shape::less(Dim(b.var), b.extent));
  }
  return out;
}

int64_t most_of_axis(const task::TaskType& type, const graph::Axis& axis, uint32_t number) {
  int64_t most = axis.extent.constant().value_or(std::numeric_limits<int64_t>::max());
  for (const task::Coordinate& c : type.coordinates)
    if (c.axis == number) most = std::min(most, c.tile);
  return most;
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

class RowFormMaker : FormMaker {
 public:
  RowFormMaker(const task::Program& p, const task::TaskType& type, graph::Graph& g, bool short_rows)
      : FormMaker(p, type, g, short_rows) {
    has_data_ = true;
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
    if (form_.along && std::any_of(form_.outputs.begin(), form_.outputs.end(), [&](ScalarId output) {
          return gathers(output, node_.domain[*form_.along].var);
        }))
      throw NoForm{"it gathers elements one by one"};
    form_.gathers_lines = std::any_of(form_.reductions.begin(), form_.reductions.end(),
                                      [&](const RowReduction& r) { return gathers_lines(r); });
    form_.only_gathers = !has_long_functions(g_, form_) &&
                         std::any_of(form_.reductions.begin(), form_.reductions.end(),
                                     [&](const RowReduction& r) { return gathers(r.term, r.along.var); });
    return std::move(form_);
  }

 private:
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
        if (graph::depends_on(g_, id, along) && !is_gathered(id, along) && step_of(id, along) != 1)
          turned.insert(id);
    for (uint32_t a = 0; a < node_.domain.size() && !turned.empty() && !form_.across; ++a)
      if (a != form_.along && std::all_of(turned.begin(), turned.end(),
                                          [&](ScalarId id) { return step_of(id, node_.domain[a].var) == 1; }))
        form_.across = a;
    if (form_.across) check_length(node_.domain[*form_.across].extent);
  }

  /// Does it load elements that the data chooses by its points, where such loads run along an axis of the
  /// outputs?
  bool gathers_lines(const RowReduction& r) const {
    const auto runs_along = [&](ScalarId load) {
      for (uint32_t a = 0; a < node_.domain.size(); ++a)
        if (most_of_axis(type_, node_.domain[a], a) >= shortest_row &&
            step_of(load, node_.domain[a].var) == 1)
          return true;
      return false;
    };
    bool any = false, all = true;
    for (const ScalarId load : graph::loads_in(g_, r.term)) {
      if (g_.scalars[load].target.is_local() || !is_gathered(load, r.along.var)) continue;
      any = true;
      all &= runs_along(load);
    }
    return any && all;
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
      each_scalar(r, [&](ScalarId& part) { part = graph::substitute(g_, part, renamed); });
      r.along = *same;
    }
  }

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
    if (extent.constant().value_or(shortest_row) < shortest_row) throw NoForm{"its rows are short"};
  }
};

}  // namespace

bool has_long_functions(const graph::Graph& g, const RowForm& form) {
  const auto is_long = [&](ScalarId part) {
    const auto as_pointwise = graph::pointwise_of(g.scalars[part].op);
    return as_pointwise && base::has_many_instructions(*as_pointwise);
  };
  const auto has = [&](ScalarId body) {
    const auto parts = graph::scalars_in(g, body);
    return std::any_of(parts.begin(), parts.end(), is_long);
  };
  return std::any_of(form.outputs.begin(), form.outputs.end(), has) ||
         std::any_of(form.reductions.begin(), form.reductions.end(),
                     [&](const RowReduction& r) { return has(r.term); });
}

std::variant<RowForm, std::string> row_form(const task::Program& p, const task::TaskType& type,
                                            graph::Graph& g, bool short_rows) {
  try {
    return RowFormMaker(p, type, g, short_rows).run();
  } catch (const NoForm& none) {
    return none.why;
  }
}

}  // namespace axon::tile
