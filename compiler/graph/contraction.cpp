// See contraction.h.
#include "graph/contraction.h"

#include <algorithm>

namespace axon::graph {

namespace {

/// Does another type hold every value of the first?
bool widens(Elem from, Elem to) {
  if (base::is_float(from)) return base::is_float(to) && base::elem_bytes(to) > base::elem_bytes(from);
  if (!base::is_integer(from)) return false;
  const auto values = base::range_of_integers(from);
  if (base::is_float(to)) return values.greatest <= int64_t{1} << (base::float_format(to).fraction_bits + 1);
  const auto all = base::range_of_integers(to);
  return base::is_integer(to) && all.least <= values.least && values.greatest <= all.greatest;
}

/// What kernels stream: the accumulator's own type, into f32 the narrow floats of 16 bits and the integers of
/// up to 16, into integers narrower ones.
bool kernels_read(Elem accumulator, Elem stored) {
  if (base::is_integer(accumulator))
    return base::is_integer(stored) && base::elem_bytes(stored) <= base::elem_bytes(accumulator);
  if (accumulator != Elem::f32) return stored == accumulator;
  return stored == Elem::f32 || stored == Elem::bf16 || stored == Elem::f16 ||
         (base::is_integer(stored) && base::elem_bytes(stored) <= 2);
}

bool is_weight(const Graph& g, Value v) {
  if (v.is_local() || g.nodes[v.node].op != NodeOp::input) return false;
  return g.inputs[g.nodes[v.node].input].kind == InputKind::weight;
}

/// An index that the data decides, the same at every step of these axes. It only says where an operand
/// begins, as the expert of a token does.
bool is_fixed(const Graph& g, ScalarId index, const std::vector<Var>& axes) {
  return !affine_index(g, index) &&
         std::none_of(axes.begin(), axes.end(), [&](Var v) { return depends_on(g, index, v); });
}

/// The axes of what is loaded that column and depth run along, if each has one to itself and steps of 1.
std::optional<layout::PanelAxes> axes_of(const Graph& g, const Scalar& load, Var column, Var depth) {
  std::optional<uint32_t> of_column, of_depth;
  for (uint32_t a = 0; a < load.args.size(); ++a) {
    if (is_fixed(g, load.args[a], {column, depth})) continue;
    const auto index = affine_index(g, load.args[a]);
    const auto by_column = index ? index->linear_in(column) : std::nullopt;
    const auto by_depth = index ? index->linear_in(depth) : std::nullopt;
    if (!by_column || !by_depth) return std::nullopt;
    const bool column_moves = !by_column->first.is(0), depth_moves = !by_depth->first.is(0);
    if (column_moves && (depth_moves || of_column || !by_column->first.is(1))) return std::nullopt;
    if (depth_moves && (of_depth || !by_depth->first.is(1))) return std::nullopt;
    if (column_moves) of_column = a;
    if (depth_moves) of_depth = a;
  }
  if (!of_column || !of_depth) return std::nullopt;
  return layout::PanelAxes{*of_column, *of_depth};
}

/// Is the column on the last axis and the depth on the one before?
bool lies_in_columns(const Graph& g, const Scalar& load, Var column, Var depth) {
  const auto axes = axes_of(g, load, column, depth);
  return axes && axes->column + 1 == load.args.size() && axes->depth + 2 == load.args.size();
}

Elem stored_elem(const Graph& g, const std::vector<Local>& locals, Value v) {
  return v.is_local() ? base::computed_as(locals[v.output].elem) : g.type(v).elem;
}

class Finder {
 public:
  Finder(const Graph& graph, const std::vector<Local>& locals, ScalarId body, const std::vector<Axis>& domain)
      : g(graph), locals_(locals), body_(body), reduce_(graph.scalars[body]), domain_(domain) {}

  std::optional<Contraction> run() {
    if (reduce_.op != Op::reduce || reduce_.monoid != Monoid::sum) return std::nullopt;
    best_.reduce = body_;
    best_.accumulator = base::accumulator(reduce_.elem);
    factors_ = factors_of(g, reduce_.args[0]);
    if (factors_.size() < 2) return std::nullopt;
    for (const Axis& column : domain_)
      for (size_t f = 0; f < factors_.size(); ++f)
        for (const Axis& depth : reduce_.binders) consider(f, column, depth);
    if (score_ == 0) split_factors();
    if (!has_binder(best_.left) || !has_binder(best_.right)) return std::nullopt;
    sort_axes();
    return best_;
  }

 private:
  bool elsewhere(size_t factor, Var v) const {
    for (size_t f = 0; f < factors_.size(); ++f)
      if (f != factor && depends_on(g, factors_[f], v)) return true;
    return false;
  }

  /// Takes the factor as the right operand if it lies no worse than the best so far.
  void consider(size_t f, const Axis& column, const Axis& depth) {
    const ScalarId id = streamed_load(g, locals_, factors_[f], best_.accumulator);
    if (!id.valid()) return;
    if (!depends_on(g, id, column.var) || elsewhere(f, column.var)) return;
    if (!depends_on(g, id, depth.var) || !elsewhere(f, depth.var)) return;
    const int score = score_of(g.scalars[id], column.var, depth.var);
    if (score == 0) return;
    std::vector<Axis> depths = run_of(g.scalars[id], column, depth);
    if (std::pair(score, depths.size()) < std::pair(score_, best_.depths.size())) return;
    score_ = score;
    best_.load = id;
    best_.right = {factors_[f]};
    best_.column = column;
    best_.depths = std::move(depths);
    best_.left = factors_;
    best_.left.erase(best_.left.begin() + static_cast<std::ptrdiff_t>(f));
  }

  /// The binders that run together up to `last` in a row-major operand: one step of each is a whole run of
  /// the next.
  std::vector<Axis> run_of(const Scalar& load, const Axis& column, const Axis& last) const {
    std::vector<Axis> run{last};
    const auto offset = offset_of(load, {column.var, last.var});
    const auto stride_of = [&](const Axis& a) -> std::optional<Dim> {
      const auto linear = offset->linear_in(a.var);
      return linear ? std::optional(linear->first) : std::nullopt;
    };
    if (!offset) return run;
    std::optional<Dim> stride = stride_of(last);
    const auto next = [&] {
      const Dim whole = *stride * run.front().extent;
      return std::find_if(reduce_.binders.begin(), reduce_.binders.end(), [&](const Axis& a) {
        const bool is_new =
            std::none_of(run.begin(), run.end(), [&](const Axis& r) { return r.var == a.var; });
        return is_new && stride_of(a) == whole && offset_of(load, {column.var, last.var, a.var});
      });
    };
    for (auto found = next(); stride && found != reduce_.binders.end(); found = next()) {
      stride = stride_of(*found);
      run.insert(run.begin(), *found);
    }
    return run;
  }

  /// 0: not by kernels.
  int score_of(const Scalar& load, Var column, Var depth) const {
    if (is_weight(g, load.target) && lies_in_columns(g, load, column, depth)) return 4;
    if (lies_in_panels(load, column, depth)) return 4;
    const auto offset = offset_of(load, {column, depth});
    if (!offset) return 0;
    const auto by_column = offset->linear_in(column), by_depth = offset->linear_in(depth);
    if (!by_column || !by_depth || by_column->first.contains(depth) || by_depth->first.contains(column))
      return 0;
    if (by_column->first.is(1)) return 3;
    if (by_depth->first.is(1)) return 2;
    return std::any_of(domain_.begin(), domain_.end(), [&](const Axis& a) { return tells_apart(a); }) ? 1 : 0;
  }

  bool lies_in_panels(const Scalar& load, Var column, Var depth) const {
    return column_of_panels(g, load) == column &&
           affine_index(g, load.args[load.args.size() - 2]) == Dim(depth);
  }

  /// In elements of a row-major tensor, but for indices that the data decides; nullopt when one of those
  /// changes along one of the axes.
  std::optional<Dim> offset_of(const Scalar& load, const std::vector<Var>& axes) const {
    Dim offset, stride(1);
    for (size_t a = load.args.size(); a-- > 0;) {
      const auto index = affine_index(g, load.args[a]);
      if (!index && !is_fixed(g, load.args[a], axes)) return std::nullopt;
      if (index) offset = offset + *index * stride;
      stride = stride * (load.target.is_local() ? locals_[load.target.output].domain[a].extent
                                                : g.type(load.target).shape[a]);
    }
    return offset;
  }

  /// Do some factors depend on the axis and others not?
  bool tells_apart(const Axis& a) const {
    const auto users =
        std::count_if(factors_.begin(), factors_.end(), [&](ScalarId f) { return depends_on(g, f, a.var); });
    return users > 0 && users < static_cast<std::ptrdiff_t>(factors_.size());
  }

  bool any_depends(const std::vector<ScalarId>& factors, Var v) const {
    return std::any_of(factors.begin(), factors.end(), [&](ScalarId f) { return depends_on(g, f, v); });
  }

  bool has_binder(const std::vector<ScalarId>& factors) const {
    return std::any_of(reduce_.binders.begin(), reduce_.binders.end(),
                       [&](const Axis& b) { return any_depends(factors, b.var); });
  }

  /// Without kernels: by the last axis that tells the factors apart. Where none does, as in a dot product,
  /// the last factor is as good a right operand as any.
  void split_factors() {
    const auto column =
        std::find_if(domain_.rbegin(), domain_.rend(), [&](const Axis& a) { return tells_apart(a); });
    for (size_t f = 0; f < factors_.size(); ++f) {
      const bool right =
          column == domain_.rend() ? f + 1 == factors_.size() : depends_on(g, factors_[f], column->var);
      (right ? best_.right : best_.left).push_back(factors_[f]);
    }
  }

  void sort_axes() {
    for (uint32_t a = 0; a < domain_.size(); ++a) {
      const bool right = any_depends(best_.right, domain_[a].var),
                 left = any_depends(best_.left, domain_[a].var);
      (right && left ? best_.batch : right ? best_.columns : best_.rows).push_back(a);
    }
    for (const uint32_t a : best_.batch)
      if (best_.load.valid() && best_.rows.empty() && moves_by_data(domain_[a].var)) best_.runs = a;
  }

  /// Is the variable in indices of the right operand that the data decides, and in no others?
  bool moves_by_data(Var v) const {
    const auto& at = g.scalars[best_.load].args;
    return std::all_of(at.begin(), at.end(),
                       [&](ScalarId index) { return !depends_on(g, index, v) || !affine_index(g, index); });
  }

  const Graph& g;
  const std::vector<Local>& locals_;
  const ScalarId body_;
  const Scalar& reduce_;
  const std::vector<Axis>& domain_;
  std::vector<ScalarId> factors_;
  Contraction best_;
  int score_ = 0;
};

}  // namespace

std::optional<Contraction> find_contraction(const Graph& g, const std::vector<Local>& locals, ScalarId body,
                                            const std::vector<Axis>& domain) {
  return Finder(g, locals, body, domain).run();
}

std::vector<PlacedContraction> contractions_of(const Graph& g, const Node& node) {
  std::vector<PlacedContraction> out;
  for (uint32_t l = 0; l < node.locals.size(); ++l)
    if (auto c = find_contraction(g, node.locals, node.locals[l].body, node.locals[l].domain))
      out.push_back({l, 0, std::move(*c)});
  for (uint32_t o = 0; o < node.outputs.size(); ++o)
    if (auto c = find_contraction(g, node.locals, node.outputs[o].body, node.domain))
      out.push_back({std::nullopt, o, std::move(*c)});
  return out;
}

std::optional<layout::PanelAxes> panel_axes(const Graph& g, const Contraction& c) {
  if (!c.load.valid() || !is_weight(g, g.scalars[c.load].target)) return std::nullopt;
  const Scalar& load = g.scalars[c.load];
  if (c.depths.size() > 1 && !lies_in_columns(g, load, c.column.var, c.depth().var)) return std::nullopt;
  return axes_of(g, load, c.column.var, c.depth().var);
}

std::optional<Var> column_of_panels(const Graph& g, const Scalar& load) {
  if (load.op != Op::load || load.target.is_local() || !g.nodes[load.target.node].packs) return std::nullopt;
  if (load.args.size() < 3) return std::nullopt;
  const auto inside = affine_index(g, load.args.back());
  const auto panel = affine_index(g, load.args[load.args.size() - 3]);
  const auto width = g.type(load.target).shape.back().constant();
  if (!inside || !panel || !width) return std::nullopt;
  const auto vars = inside->vars();
  if (vars.size() != 1) return std::nullopt;
  const Dim column(vars.front());
  const bool fits =
      *inside == shape::mod(column, Dim(*width)) && *panel == shape::floor_div(column, Dim(*width));
  return fits ? std::optional(vars.front()) : std::nullopt;
}

std::optional<PackedChoice> packed_choice(const Graph& g, ScalarId id) {
  const Scalar& s = g.scalars[id];
  if (s.op != Op::select || !column_of_panels(g, g.scalars[s.args[1]])) return std::nullopt;
  const Scalar& condition = g.scalars[s.args[0]];
  const bool is_of_sizes =
      condition.op == Op::le && affine_index(g, condition.args[0]) && affine_index(g, condition.args[1]);
  if (!is_of_sizes) return std::nullopt;
  return PackedChoice{s.args[0], s.args[1], s.args[2]};
}

ScalarId under_widening_casts(const Graph& g, ScalarId id) {
  const auto is_cast = [&](const Scalar& s) {
    return s.op == Op::cast && widens(g.scalars[s.args[0]].elem, s.elem);
  };
  while (is_cast(g.scalars[id])) id = g.scalars[id].args[0];
  return id;
}

ScalarId streamed_load(const Graph& g, const std::vector<Local>& locals, ScalarId factor, Elem accumulator) {
  const ScalarId id = under_widening_casts(g, factor);
  if (g.scalars[id].op != Op::load) return {};
  return kernels_read(accumulator, stored_elem(g, locals, g.scalars[id].target)) ? id : ScalarId{};
}

std::optional<Score> score_of_key(const Graph& g, const std::vector<Local>& locals, ScalarId reduce,
                                  Var key) {
  const Scalar& s = g.scalars[reduce];
  if (s.op != Op::reduce || s.monoid != Monoid::sum || !base::is_float(s.elem)) return std::nullopt;
  Score score;
  for (const ScalarId factor : factors_of(g, s.args[0])) {
    if (!depends_on(g, factor, key)) {
      score.query.push_back(factor);
    } else if (score.key.valid()) {
      return std::nullopt;
    } else {
      score.key = streamed_load(g, locals, factor, base::accumulator(g.scalars[s.args[0]].elem));
      if (!score.key.valid()) return std::nullopt;
    }
  }
  if (score.query.empty() || !score.key.valid()) return std::nullopt;
  const std::vector<ScalarId>& at = g.scalars[score.key].args;
  const bool is_affine =
      std::all_of(at.begin(), at.end(), [&](ScalarId index) { return affine_index(g, index).has_value(); });
  return is_affine ? std::optional(score) : std::nullopt;
}

}  // namespace axon::graph
