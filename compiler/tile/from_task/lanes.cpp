// See lanes.h.
#include "tile/from_task/lanes.h"

#include <algorithm>

#include "tile/from_task/form_maker.h"
#include "tile/pointwise.h"

namespace axon::tile {

Use LaneMaker::reduced_there(ScalarId id, const BlockPlace& place) {
  const graph::Scalar s = g_.scalars[id];
  const Pointwise op = graph::operator_of(s.monoid).value();
  const bool chooses = s.monoid == graph::Monoid::max || s.monoid == graph::Monoid::min;
  const Elem kept = base::computed_as(s.elem), in = chooses ? kept : base::accumulator(s.elem);
  const Use sum{tile("sum", in, place.labels()), place.labels()};
  const Points points = points_of(id, place);
  compute_before(points.term, points.binders, place);
  emit(Map{sum, {of_number(neutral(op, in), in)}, {}});
  const Remembered before = remembered();
  for (const graph::Axis& b : points.binders) binders_.push_back(b.var);
  over(points, 0, sum.tile, [&] { accumulate(op, sum, points.term, place); });
  binders_.resize(binders_.size() - points.binders.size());
  forget_all_but(before);
  if (kept == in) return sum;
  Copy narrowed{{tile("total", kept, place.labels()), place.labels()}, {}, {}};
  narrowed.from.tile = sum.tile;
  for (const Var label : place.labels()) narrowed.from.at.push_back(at(Dim(label)));
  const Use made = narrowed.to;
  emit(std::move(narrowed));
  return made;
}

LaneMaker::Points LaneMaker::points_of(ScalarId id, const BlockPlace& place) const {
  const graph::Scalar& s = g_.scalars[id];
  Points out{s.binders, {}, s.args[0]};
  const auto is_uniform = [&](const Dim& d) {
    return !(place.is_block && d.contains(place.along)) && !(place.across && d.contains(*place.across)) &&
           std::none_of(s.binders.begin(), s.binders.end(), [&](const auto& b) { return d.contains(b.var); });
  };
  bool is_masked = true;  // where masks are still looked at
  for (size_t b = 0; b < s.binders.size(); ++b) {
    const graph::BinderRange range = graph::binder_range(g_, s, b);
    auto interval = interval_of(g_, range, s.binders[b].extent);
    if (!is_uniform(interval.first) || !is_uniform(interval.second)) {
      interval = {Dim(0), s.binders[b].extent};
    } else if (is_masked && !range.empty() && range.unmasked.valid() && range.low_by_data.empty() &&
               range.end_by_data.empty()) {
      out.term = range.unmasked;
      is_masked = false;
    }
    out.intervals.push_back(std::move(interval));
  }
  return out;
}

void LaneMaker::over(const Points& points, size_t next, TileId sum, const std::function<void()>& inside) {
  if (next == points.binders.size()) return inside();
  const graph::Axis& binder = points.binders[next];
  const auto& [first, end] = points.intervals[next];
  const Var index = shape::fresh_var(name_for(shape::var_name(binder.var)));
  const Dim from = placed(first, {}), length = first.is(0) ? placed(end, {}) : placed(end, {}) - from;
  const size_t known = around_.size();
  at_[binder.var] = from + Dim(index);
  add_range(binder.var, binder.extent);
  if (!first.is(0)) around_.push_back(shape::at_least(Dim(binder.var), first));
  if (end != binder.extent) around_.push_back(shape::less(Dim(binder.var), end));
  const bool is_whole = first.is(0) && end == binder.extent;
  loop(index, is_whole ? length : shape::max(Dim(0), length), {sum},
       [&] { over(points, next + 1, sum, inside); });
  around_.resize(known);
  at_.erase(binder.var);
}

void LaneMaker::accumulate(Pointwise op, const Use& sum, ScalarId term, const BlockPlace& place) {
  const Elem in = out_.tiles[sum.tile].elem;
  Map add{sum, {of_tile(sum, in)}, {}};
  std::map<ScalarId, uint32_t> known;
  if (place.bounds.empty()) {
    const uint32_t last = converted(add, expr(add, known, term, place), in);
    add.exprs.push_back(applied(op, in, {0, last}));
    return emit(std::move(add));
  }
  Map made{{tile("term", in, place.labels()), place.labels()}, {}, {place.bounds, neutral(op, in)}};
  converted(made, expr(made, known, term, place), in);
  add.exprs.push_back(of_tile(made.to, in));
  add.exprs.push_back(applied(op, in, {0, 1}));
  emit(std::move(made));
  emit(std::move(add));
}

/// The largest parts of the term that are the same at all points, and may be computed of no points.
void LaneMaker::compute_before(ScalarId term, const std::vector<graph::Axis>& binders,
                               const BlockPlace& place) {
  if (is_conditional() || graph::loads_in(g_, term).empty()) return;
  const bool changes = std::any_of(binders.begin(), binders.end(),
                                   [&](const auto& b) { return graph::depends_on(g_, term, b.var); });
  if (!changes && !has_checks(term) && can_be_read(term)) {
    if (g_.scalars[term].op != graph::Op::load || !g_.scalars[term].target.is_local()) value(term, place);
    return;
  }
  const graph::Scalar s = g_.scalars[term];
  if (s.op == graph::Op::reduce) return;  // its own loops are behind these
  for (const ScalarId arg : s.args) compute_before(arg, binders, place);
}

}  // namespace axon::tile
