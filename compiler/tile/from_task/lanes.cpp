// See lanes.h.
#include "tile/from_task/lanes.h"

#include <algorithm>

#include "tile/from_task/form_maker.h"
#include "tile/pointwise.h"

namespace axon::tile {

Elem LaneMaker::type_of_sum(const graph::Scalar& reduction) {
  const bool chooses = reduction.monoid == graph::Monoid::max || reduction.monoid == graph::Monoid::min;
  return chooses ? base::computed_as(reduction.elem) : base::accumulator(reduction.elem);
}

Use LaneMaker::reduced_there(ScalarId id, const BlockPlace& place) {
  const graph::Scalar s = g_.scalars[id];
  const Elem in = type_of_sum(s);
  const Use sum{tile("sum", in, place.labels()), place.labels()};
  const auto before = in_scratch_.find(id);
  if (before != in_scratch_.end()) {
    Copy read{sum, {}, {}};
    read.from.tile = before->second;
    read.from.at = {at(place.number), at(Dim(place.label))};
    emit(std::move(read));
  } else {
    reduce_at(id, sum, place);
  }
  const Elem kept = base::computed_as(s.elem);
  if (kept == in) return sum;
  Copy narrowed{{tile("total", kept, place.labels()), place.labels()}, {}, {}};
  narrowed.from.tile = sum.tile;
  for (const Var label : place.labels()) narrowed.from.at.push_back(at(Dim(label)));
  const Use made = narrowed.to;
  emit(std::move(narrowed));
  return made;
}

void LaneMaker::reduce_at(ScalarId id, const Use& sum, const BlockPlace& place) {
  const Pointwise op = graph::operator_of(g_.scalars[id].monoid).value();
  const Elem in = out_.tiles[sum.tile].elem;
  Points points = points_of(id, place);
  const auto facts = before_facts_;
  const bool may_check = may_check_before_;
  note_points(points);
  const std::vector<CountUses> counts = counted(points, place);
  compute_before(points, place);
  emit(Map{sum, {of_number(neutral(op, in), in)}, {}});
  const Remembered before = remembered();
  for (const graph::Axis& b : points.binders) binders_.push_back(b.var);
  over(
      points, 0, sum.tile, [&] { accumulate_in_lanes(op, sum, points.term, place); }, counts);
  binders_.resize(binders_.size() - points.binders.size());
  forget_all_but(before);
  before_facts_ = facts;
  may_check_before_ = may_check;
}

/// Where there are points; of those that are there for others of a reduction around alone, nothing is said
/// before that.
void LaneMaker::note_points(const Points& points) {
  const auto is_inside = [&](const Dim& d) {
    return std::any_of(binders_.begin(), binders_.end(), [&](Var v) { return d.contains(v); });
  };
  for (const auto& [first, end] : points.intervals)
    if (is_inside(first) || is_inside(end)) may_check_before_ = false;
  if (!may_check_before_) return;
  const auto facts = has_points(points);
  before_facts_.insert(before_facts_.end(), facts.begin(), facts.end());
}

std::vector<Fact> LaneMaker::has_points(const Points& points) const {
  std::vector<Fact> out;
  for (const auto& [first, end] : points.intervals) {
    const Fact fact = shape::at_least(placed(end, {}) - placed(first, {}), Dim(1));
    if (!fact.lhs.constant() || shape::holds(fact, {}) != true) out.push_back(fact);
  }
  return out;
}

LaneMaker::Points LaneMaker::points_of(ScalarId id, const BlockPlace& place) const {
  const graph::Scalar& s = g_.scalars[id];
  Points out{s.binders, {}, s.args[0], {}, std::vector<ScalarId>(s.binders.size())};
  const auto is_uniform = [&](const Dim& d) {
    return !(place.is_block && d.contains(place.along)) && !(place.across && d.contains(*place.across)) &&
           std::none_of(s.binders.begin(), s.binders.end(), [&](const auto& b) { return d.contains(b.var); });
  };
  bool is_masked = true;  // where masks are still looked at
  const BoundChecks checks =
      s.binders.size() == 1 && !is_conditional() ? BoundChecks::of_all_points : BoundChecks::none;
  for (size_t b = 0; b < s.binders.size(); ++b) {
    const graph::BinderRange range = graph::binder_range(g_, s, b, graph::ReadBounds::of_some_points);
    auto interval = interval_of(g_, range, s.binders[b].extent);
    DataRange& by_data = out.by_data.emplace_back();
    const bool has_all = add_range_by_data(g_, s, range, s.binders[b].extent, checks, by_data);
    if (!is_uniform(interval.first) || !is_uniform(interval.second)) {
      interval = {Dim(0), s.binders[b].extent};
    } else if (is_masked && !range.empty() && range.unmasked.valid() && has_all) {
      if (by_data.empty())
        out.term = range.unmasked;
      else if (!tile::has_checks(g_, range.unmasked))
        out.unmasked[b] = range.unmasked;
      is_masked = false;
    }
    out.intervals.push_back(std::move(interval));
  }
  return out;
}

std::pair<Dim, Dim> LaneMaker::stretch_of_binder(const Points& points, size_t binder) const {
  const auto& [first, end] = points.intervals[binder];
  const Dim from = placed(first, {}), last = placed(end, {});
  const bool is_whole = first.is(0) && end == points.binders[binder].extent;
  return {from, is_whole ? last : shape::max(Dim(0), last - from)};
}

void LaneMaker::add_range(const Points& points, size_t binder) {
  const auto& [first, end] = points.intervals[binder];
  const graph::Axis& axis = points.binders[binder];
  add_range(axis.var, axis.extent);
  if (!first.is(0)) around_.push_back(shape::at_least(Dim(axis.var), first));
  if (end != axis.extent) around_.push_back(shape::less(Dim(axis.var), end));
}

/// Points that count in no lane are left out. Where the lanes have the same bounds, so is the mask.
std::vector<CountUses> LaneMaker::counted(Points& points, const BlockPlace& place) {
  std::vector<CountUses> out(points.binders.size());
  const size_t known = check_facts_.size();
  const auto facts = has_points(points);
  check_facts_.insert(check_facts_.end(), facts.begin(), facts.end());
  for (size_t b = 0; b < out.size(); ++b) {
    const auto& [first, end] = points.by_data[b];
    if (!can_be_counted(first, points) || !can_be_counted(end, points)) continue;
    bool is_same = true;
    const auto number = [&](ScalarId bound, Pointwise op) -> std::optional<Use> {
      if (!bound.valid()) return std::nullopt;
      const ScalarId from = graph::index_of(g_, points.intervals[b].first);
      const Use of_lanes = value(graph::apply(g_, graph::Op::sub, {bound, from}), place);
      is_same &= of_lanes.labels.empty();
      return of_lanes.labels.empty() ? of_lanes : folded_lanes(of_lanes, op, place);
    };
    out[b] = {number(first, Pointwise::min), number(end, Pointwise::max)};
    if (is_same && points.unmasked[b].valid()) points.term = points.unmasked[b];
  }
  check_facts_.resize(known);
  return out;
}

/// No point of the reduction may decide it, nor whether it is computed.
bool LaneMaker::can_be_counted(ScalarId bound, const Points& points) const {
  if (!bound.valid()) return true;
  return can_be_read(bound) && std::none_of(points.binders.begin(), points.binders.end(), [&](const auto& b) {
           return graph::depends_on(g_, bound, b.var);
         });
}

Use LaneMaker::folded_lanes(const Use& of_lanes, Pointwise op, const BlockPlace& place) {
  const Use all{tile("count", Elem::i64, place.labels()), place.labels()};
  Map inside{all, {of_tile(of_lanes, Elem::i64)}, {place.bounds, {}}};
  if (!place.bounds.empty()) inside.bounds.fill = neutral(op, Elem::i64);
  emit(std::move(inside));
  const Use made{tile("count", Elem::i64, false), {}};
  emit(Reduce{op, made, all, Elem::i64});
  return made;
}

void LaneMaker::over(const Points& points, size_t next, TileId sum, const std::function<void()>& inside,
                     const std::vector<CountUses>& counted) {
  if (next == points.binders.size()) return inside();
  const graph::Axis& binder = points.binders[next];
  const Var index = shape::fresh_var(name_for(shape::var_name(binder.var)));
  const auto [from, length] = stretch_of_binder(points, next);
  const size_t known = around_.size();
  at_[binder.var] = from + Dim(index);
  add_range(points, next);
  const CountUses counts = counted.empty() ? CountUses() : counted[next];
  loop(
      index, length, {sum}, [&] { over(points, next + 1, sum, inside, counted); }, counts);
  around_.resize(known);
  at_.erase(binder.var);
}

/// A load that only the facts keep inside of its axis has zeros where they do not hold.
Use LaneMaker::zero_outside(ScalarId id, const BoundedValue& bounded, const BlockPlace& place) {
  const graph::Scalar& load = g_.scalars[bounded.value];
  if (bounded.facts.empty()) return value(bounded.value, place);
  if (load.op != graph::Op::load || load.target.is_local() || in_range(bounded.value, around_))
    return value(id, place);
  const auto moves = [&](const Fact& f) {
    return f.lhs.contains(*place.across) || f.rhs.contains(*place.across);
  };
  const bool is_of_columns = !graph::depends_on(g_, bounded.value, *place.across) &&
                             std::none_of(bounded.facts.begin(), bounded.facts.end(), moves);
  return value_where(bounded.facts, bounded.value, is_of_columns ? columns_of(place) : place);
}

/// sum += a * b by one instruction, where a block of rows shares the factors.
bool LaneMaker::multiply_add(Pointwise op, const Use& sum, ScalarId term, const BlockPlace& place) {
  const Elem in = out_.tiles[sum.tile].elem;
  const graph::Scalar s = g_.scalars[term];
  if (type_.family != task::Family::contract || choices_.rows_of_block == 0 || op != Pointwise::add ||
      !base::is_float(in) || s.op != graph::Op::mul)
    return false;
  const BoundedValue a = bounded_value(g_, s.args[0]), b = bounded_value(g_, s.args[1]);
  if (base::is_integer(g_.scalars[a.value].elem) || base::is_integer(g_.scalars[b.value].elem)) return false;
  const Use left = zero_outside(s.args[0], a, place), right = zero_outside(s.args[1], b, place);
  emit(Gemm{sum, left, right, in, {}, false});
  return true;
}

void LaneMaker::accumulate(Pointwise op, const Use& sum, ScalarId term, const BlockPlace& place) {
  const Elem in = out_.tiles[sum.tile].elem;
  if (place.bounds.empty()) return accumulate_in_lanes(op, sum, term, place);
  Map add{sum, {of_tile(sum, in)}, {}};
  std::map<ScalarId, uint32_t> known;
  Map made{{tile("term", in, place.labels()), place.labels()}, {}, {place.bounds, neutral(op, in)}};
  converted(made, expr(made, known, term, place), in);
  add.exprs.push_back(of_tile(made.to, in));
  add.exprs.push_back(applied(op, in, {0, 1}));
  emit(std::move(made));
  emit(std::move(add));
}

void LaneMaker::accumulate_in_lanes(Pointwise op, const Use& sum, ScalarId term, const BlockPlace& place) {
  if (multiply_add(op, sum, term, place)) return;
  const Elem in = out_.tiles[sum.tile].elem;
  Map add{sum, {of_tile(sum, in)}, {}};
  std::map<ScalarId, uint32_t> known;
  const uint32_t last = converted(add, expr(add, known, term, place), in);
  add.exprs.push_back(applied(op, in, {0, last}));
  emit(std::move(add));
}

void LaneMaker::compute_before(const Points& points, const BlockPlace& place) {
  if (is_conditional()) return;
  const size_t known = check_facts_.size();
  const auto facts = has_points(points);
  check_facts_.insert(check_facts_.end(), facts.begin(), facts.end());
  compute_before(points.term, points.binders, place, true);
  check_facts_.resize(known);
}

/// `always`: the part is evaluated wherever the term is.
void LaneMaker::compute_before(ScalarId part, const std::vector<graph::Axis>& binders,
                               const BlockPlace& place, bool always) {
  if (graph::loads_in(g_, part).empty()) return;
  const graph::Scalar s = g_.scalars[part];
  const bool changes = std::any_of(binders.begin(), binders.end(),
                                   [&](const auto& b) { return graph::depends_on(g_, part, b.var); });
  if (!changes && (always || !has_checks(part)) && can_be_read(part)) {
    if (s.op != graph::Op::load || !s.target.is_local()) value(part, place);
    return;
  }
  if (s.op == graph::Op::reduce) return;  // its own loops are behind these
  const bool chooses = s.op == graph::Op::select || s.op == graph::Op::and_ || s.op == graph::Op::or_;
  for (size_t a = 0; a < s.args.size(); ++a)
    compute_before(s.args[a], binders, place, always && (!chooses || a == 0));
}

}  // namespace axon::tile
