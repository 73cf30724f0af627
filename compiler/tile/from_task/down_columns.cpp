// See maker.h: reductions down the columns of a matrix that lies row by row.
//
// A block of columns that went through all rows would touch memory a row's length apart each time, which no
// cache fetches ahead. So a few rows are gone through for all blocks of the task, whose sums are in scratch
// meanwhile, and then the next ones.
#include <algorithm>
#include <functional>

#include "tile/from_task/maker.h"
#include "tile/pointwise.h"

namespace axon::tile {

namespace {

constexpr int64_t rows_at_a_time = 8;  ///< as many streams as a core fetches ahead
constexpr int64_t most_summed = 8192;  ///< of a task, whose sums stay in the nearest caches

}  // namespace

/// Reductions that each point of a block has, which depend on nothing but the point: no choice is around.
std::vector<ProgramMaker::ScalarId> ProgramMaker::reductions_down_columns() const {
  std::vector<ScalarId> out;
  const Var along = node_.domain[*form_.along].var;
  const auto is_one = [&](ScalarId id) {
    const graph::Scalar& s = g_.scalars[id];
    if (s.op != graph::Op::reduce || has_checks(id) || !graph::depends_on(g_, id, along) || !can_be_read(id))
      return false;
    const auto parts = graph::scalars_in(g_, s.args[0]);
    return std::all_of(parts.begin(), parts.end(), [&](ScalarId part) {
      const graph::Scalar& of = g_.scalars[part];
      if (of.op == graph::Op::reduce) return false;
      if (of.op != graph::Op::load || of.target.is_local() || !graph::depends_on(g_, part, along))
        return true;
      return step_of_load(p_, g_, part, along) == 1;
    });
  };
  const std::function<void(ScalarId)> look = [&](ScalarId id) {
    if (is_one(id)) {
      if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
      return;
    }
    const graph::Scalar& s = g_.scalars[id];
    if (s.op == graph::Op::reduce || s.op == graph::Op::load || s.op == graph::Op::select) return;
    for (const ScalarId arg : s.args) look(arg);
  };
  for (const ScalarId output : form_.outputs) look(output);
  return out;
}

void ProgramMaker::reduce_down_columns() {
  if (!form_.has_own_reductions || !form_.along || lanes_ == 1 || has_threads() || has_rows_at_once()) return;
  const int64_t columns = most_of_axis(type_, node_.domain[*form_.along], *form_.along);
  if (columns > most_summed || columns <= block_) return;
  for (const ScalarId id : reductions_down_columns()) reduce_down(id, (columns + block_ - 1) / block_);
}

/// Of the last binder's points those that the data says for all columns alike, counted from the first one
/// that indices leave.
Counts ProgramMaker::counts_down(const Points& points, const BlockPlace& column) {
  const auto [first, end] = points.by_data.back();
  const Var last = points.binders.back().var;
  const auto is_known = [&](ScalarId bound) {
    return !bound.valid() || (!column.changes(g_, bound) && !graph::depends_on(g_, bound, last) &&
                              loads_stand_before(bound, {last, column.along}, false));
  };
  if (!is_known(first) || !is_known(end) || has_checks(points.term)) return {};
  const auto from_first = [&](ScalarId bound) {
    if (!bound.valid()) return bound;
    const ScalarId low = graph::index_of(g_, points.intervals.back().first);
    return graph::apply(g_, graph::Op::sub, {bound, low});
  };
  return {from_first(first), from_first(end)};
}

/// (row + more) / rows_at_a_time
std::optional<Use> ProgramMaker::number_of_part(ScalarId row, int64_t more) {
  if (!row.valid()) return std::nullopt;
  const auto number = [&](int64_t n) { return graph::constant_int(g_, Elem::i64, n); };
  const ScalarId sum = graph::apply(g_, graph::Op::add, {row, number(more)});
  return value(graph::apply(g_, graph::Op::div, {sum, number(rows_at_a_time)}), {});
}

/// The row's number in a part, where it is in that.
std::optional<Use> ProgramMaker::number_in_part(ScalarId row, Var part) {
  if (!row.valid()) return std::nullopt;
  const ScalarId before = graph::index_of(g_, Dim(rows_at_a_time) * Dim(part));
  return value(graph::apply(g_, graph::Op::sub, {row, before}), {});
}

void ProgramMaker::reduce_down(ScalarId id, int64_t most_blocks) {
  const graph::Scalar s = g_.scalars[id];
  const Var along = node_.domain[*form_.along].var;
  BlockPlace column;
  column.is_block = true;
  column.along = along;
  const Points points = points_of(id, column);
  const Pointwise op = graph::operator_of(s.monoid).value();
  const Elem in = type_of_sum(s);
  const TileId kept = scratch("sums", in, {most_blocks, block_});
  const auto sums = [&](const BlockPlace& place) {
    Access out;
    out.tile = kept;
    out.at = {at(place.number), at(Dim(place.label))};
    return out;
  };
  const Stretch columns = stretch_of(*form_.along);
  blocks(along, columns, {}, [&](const BlockPlace& place) {
    const Use sum{tile("sum", in, true), place.labels()};
    emit(Map{sum, {of_number(neutral(op, in), in)}, {}});
    emit(Store{sum, sums(place), {}, false});
  });
  // The last binder goes a few points at a time.
  const Counts rows = counts_down(points, column);
  const bool is_unmasked = (rows.first.valid() || rows.end.valid()) && points.unmasked.back().valid();
  const ScalarId term = is_unmasked ? points.unmasked.back() : points.term;
  Points outer = points;
  outer.binders.pop_back();
  const size_t last = points.binders.size() - 1, known = around_.size();
  const Var row = points.binders[last].var;
  over(outer, 0, kept, [&] {
    const auto [from, length] = stretch_of_binder(points, last);
    const Var part = shape::fresh_var(name_for("k"));
    const CountUses parts{number_of_part(rows.first, 0), number_of_part(rows.end, rows_at_a_time - 1)};
    add_range(points, last);
    const auto inside = [&] {
      const CountUses here{number_in_part(rows.first, part), number_in_part(rows.end, part)};
      const Dim first = Dim(rows_at_a_time) * Dim(part);
      blocks(along, columns, {kept}, [&](const BlockPlace& place) {
        const Use sum{tile("sum", in, true), place.labels()};
        emit(Copy{sum, sums(place), {}});
        const Var index = shape::fresh_var(name_for(shape::var_name(row)));
        compute_before(points, place);
        for (const graph::Axis& b : points.binders) binders_.push_back(b.var);
        at_[row] = from + first + Dim(index);
        loop(
            index, shape::min(Dim(rows_at_a_time), length - first), {sum.tile},
            [&] { accumulate_in_lanes(op, sum, term, place); }, here);
        at_.erase(row);
        binders_.resize(binders_.size() - points.binders.size());
        emit(Store{sum, sums(place), {}, false});
      });
    };
    loop(part, shape::cdiv(length, Dim(rows_at_a_time)), {kept}, inside, parts);
    around_.resize(known);
  });
  in_scratch_[id] = kept;
}

}  // namespace axon::tile
