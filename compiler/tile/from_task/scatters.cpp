// See scatters.h.
#include "tile/from_task/scatters.h"

#include <algorithm>

#include "tile/pointwise.h"

namespace axon::tile {

namespace {

Pointwise operator_for(const ScatteredSum& sum) { return graph::operator_of(sum.monoid).value(); }

}  // namespace

MadeProgram ScatterMaker::run() {
  if (has_threads()) throw Declined{"scatters have no form for several threads yet"};
  open();
  choose_lanes();
  const int64_t lanes = lanes_, block = block_;
  results_.resize(sums_.size());
  for (const ScatteredSum& sum : sums_) accumulators_.push_back(accumulators_for(sum));
  if (made_.scratch_bytes > out_.machine.scratch) throw Declined{"its sums do not fit into scratch"};
  Body statements;
  body_ = &statements;
  for (size_t s = 0; s < sums_.size(); ++s) {
    clear(sums_[s], accumulators_[s]);
    apart([&] { scatter(sums_[s], accumulators_[s]); });
  }
  have_lanes(lanes, block);
  outputs();
  return close(statements, streams_);
}

/// From here on blocks have so many elements, and numbers are in so many lanes.
void ScatterMaker::have_lanes(int64_t lanes, int64_t block) {
  lanes_ = lanes;
  block_ = block;
  blocks_ = layout(block > 1 ? "block" : "one", {{Dim(block / lanes), 1, "m"}, {Dim(lanes), 1, "v"}});
}

void ScatterMaker::apart(const std::function<void()>& body) {
  const auto at = at_;
  const auto around = around_;
  ones_.emplace_back();
  body();
  ones_.pop_back();
  at_ = at;
  around_ = around;
}

// ---- sums in scratch ----

/// How many indices of the axis a task has at most.
int64_t ScatterMaker::most_of(uint32_t axis) const {
  for (const task::Coordinate& c : type_.coordinates)
    if (c.axis == axis) return c.tile;
  const auto extent = node_.domain[axis].extent.constant();
  if (!extent) throw Declined{"a task has all of an axis whose extent is open"};
  return std::max<int64_t>(*extent, 1);
}

Dim ScatterMaker::first_of(uint32_t axis) const {
  for (const task::Coordinate& c : type_.coordinates)
    if (c.axis == axis) return Dim(c.tile) * Dim(c.var);
  return Dim(0);
}

bool ScatterMaker::has_part(uint32_t axis) const {
  return std::any_of(type_.coordinates.begin(), type_.coordinates.end(),
                     [&](const task::Coordinate& c) { return c.axis == axis; });
}

ScatterMaker::Accumulators ScatterMaker::accumulators_for(const ScatteredSum& sum) {
  Accumulators made;
  for (const ScatteredIndex& index : sum.indices) made.axes.push_back(index.axis);
  for (const auto* axes : {&sum.outer, &sum.inner})
    for (const uint32_t a : *axes)
      if (most_of(a) > 1 && std::find(made.axes.begin(), made.axes.end(), a) == made.axes.end())
        made.axes.push_back(a);
  if (sum.along) made.axes.push_back(*sum.along);
  const uint32_t last = sum.along.value_or(*form_.along);
  std::sort(made.axes.begin(), made.axes.end(),
            [&](uint32_t a, uint32_t b) { return std::pair(a == last, a) < std::pair(b == last, b); });
  std::vector<int64_t> shape;
  for (const uint32_t a : made.axes) shape.push_back(most_of(a));
  made.tile = scratch("sums", sum.in, std::move(shape));
  return made;
}

/// Those that the task has; others are never read.
void ScatterMaker::clear(const ScatteredSum& sum, const Accumulators& of) {
  Map made{{of.tile, {}}, {of_number(neutral(operator_for(sum), sum.in), sum.in)}, {}};
  for (const uint32_t a : of.axes) {
    const Var label = made.to.labels.emplace_back(shape::fresh_var(name_for("i")));
    if (has_part(a))
      made.bounds.facts.push_back(shape::less(first_of(a) + Dim(label), node_.domain[a].extent));
  }
  emit(std::move(made));
}

// ---- the points of the binders ----

/// Of the vectors that run along an inner axis, one of which is combined at once.
int64_t ScatterMaker::lanes_of(const ScatteredSum& sum, const graph::Axis& along) const {
  const int64_t bytes = out_.machine.register_bytes;
  const graph::Scalar& s = g_.scalars[sum.term];
  if (s.op == graph::Op::load && base::computed_as(s.elem) == sum.in) return bytes / base::elem_bytes(sum.in);
  RowForm terms;
  terms.reductions.push_back({sum.monoid, sum.in, sum.in, 0, {}, along, {}, {}, sum.term});
  return bytes / widest_in_blocks({p_, id_, g_, terms});
}

void ScatterMaker::scatter(const ScatteredSum& sum, const Accumulators& of) {
  int64_t lanes = sum.along ? lanes_of(sum, node_.domain[*sum.along]) : 1;
  while (sum.along && has_part(*sum.along) && most_of(*sum.along) % lanes != 0) lanes /= 2;
  have_lanes(lanes, lanes);
  // What is never evaluated fails no check.
  std::vector<Fact> has_elements;
  for (const task::Coordinate& c : type_.coordinates)
    has_elements.push_back(shape::less(first_of(c.axis), node_.domain[c.axis].extent));
  std::swap(check_facts_, has_elements);
  over_axes(sum.outer,
            [&] {
              over_binders(sum.binders, {of.tile}, [&] {
                const auto found = indices_of(sum);
                if (sum.guard.valid()) conditions_.emplace_back(sum.guard, true);
                over_axes(sum.inner, [&] { combine(sum, of, found); }, {of.tile});
                if (sum.guard.valid()) conditions_.pop_back();
              });
            },
            {of.tile});
  std::swap(check_facts_, has_elements);
}

/// As numbers in one lane. On each axis they count from the first element that the task has.
std::map<uint32_t, Index> ScatterMaker::indices_of(const ScatteredSum& sum) {
  std::map<uint32_t, Index> found;
  const int64_t lanes = lanes_, block = block_;
  have_lanes(1, 1);
  ones_.emplace_back();
  for (const ScatteredIndex& index : sum.indices)
    found[index.axis] = {value(index.number, {}), placed(index.offset, {}) - first_of(index.axis)};
  ones_.pop_back();
  have_lanes(lanes, block);
  return found;
}

void ScatterMaker::combine(const ScatteredSum& sum, const Accumulators& of,
                           const std::map<uint32_t, Index>& found) {
  if (sum.along) return combine_along(sum, of, found);
  combine_at(sum, of, found, {});
}

/// Vectors at once, whose chains of additions run side by side.
Use ScatterMaker::sum_of_terms(const ScatteredSum& sum) {
  const int64_t lanes = lanes_, block = block_, of_terms = lanes_of(sum, sum.summed.back());
  have_lanes(of_terms, choices_.registers_per_tile * of_terms);
  const graph::Axis& along = sum.summed.back();
  RowReduction r{sum.monoid, sum.in, sum.in, 0, {}, along, Dim(0), along.extent, sum.term};
  r.outer.assign(sum.summed.begin(), sum.summed.end() - 1);
  ones_.emplace_back();
  const TileId total = reduced(r);
  ones_.pop_back();
  have_lanes(lanes, block);
  return {total, {}};
}

void ScatterMaker::combine_along(const ScatteredSum& sum, const Accumulators& of,
                                 const std::map<uint32_t, Index>& found) {
  const uint32_t axis = *sum.along;
  Stretch stretch = stretch_of(axis);
  if (most_of(axis) <= block_) stretch.blocks = Dim(1);
  const size_t known = around_.size();
  add_range(node_.domain[axis].var, node_.domain[axis].extent);
  blocks(node_.domain[axis].var, stretch, {of.tile},
         [&](const BlockPlace& place) { combine_at(sum, of, found, place); });
  around_.resize(known);
}

void ScatterMaker::combine_at(const ScatteredSum& sum, const Accumulators& of,
                              const std::map<uint32_t, Index>& found, const BlockPlace& place) {
  Scatter made{operator_for(sum), sum.summed.empty() ? term_of(sum, place) : sum_of_terms(sum), {}, {}};
  made.to.tile = of.tile;
  for (const uint32_t a : of.axes) {
    const auto index = found.find(a);
    made.to.at.push_back(index != found.end()
                             ? index->second
                             : tile::at(placed(Dim(node_.domain[a].var), place) - first_of(a)));
  }
  emit(std::move(made));
}

/// Neutral where the bounds do not hold: the sums have room there.
Use ScatterMaker::term_of(const ScatteredSum& sum, const BlockPlace& place) {
  Map made;
  made.bounds.facts = place.bounds;
  if (!place.bounds.empty()) made.bounds.fill = neutral(operator_for(sum), sum.in);
  std::map<ScalarId, uint32_t> known;
  const uint32_t last = converted(made, expr(made, known, sum.term, place), sum.in);
  if (last + 1 != made.exprs.size()) throw Declined{"a reduction has a term that is computed already"};
  const Expr& whole = made.exprs[last];
  if (whole.kind == Expr::Kind::tile && place.bounds.empty()) return whole.use;
  made.to = {tile("term", sum.in, place.labels()), place.labels()};
  const Use use = made.to;
  emit(std::move(made));
  return use;
}

// ---- outputs ----

void ScatterMaker::outputs() {
  const graph::Axis& axis = node_.domain[*form_.along];
  over_axes(form_.rows, [&] {
    add_range(axis.var, axis.extent);
    blocks(axis.var, stretch_of(*form_.along), {}, [&](const BlockPlace& place) {
      read_sums(place);
      store_all(place);
    });
  });
}

void ScatterMaker::read_sums(const BlockPlace& place) {
  for (size_t s = 0; s < sums_.size(); ++s) {
    Copy read{{tile("sum", sums_[s].kept, place.labels()), place.labels()}, {}, {place.bounds, {}}};
    read.from.tile = accumulators_[s].tile;
    for (const uint32_t a : accumulators_[s].axes)
      read.from.at.push_back(tile::at(placed(Dim(node_.domain[a].var), place) - first_of(a)));
    results_[s] = read.to.tile;
    emit(std::move(read));
  }
}

}  // namespace axon::tile
