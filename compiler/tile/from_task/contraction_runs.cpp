// Products whose right operand is one of several matrices, which the data chooses by the row, as the weights
// of experts: see contractions.h.
//
// Rows next to each other that have the same matrix are a run; a block of rows that are accumulated together
// has runs of its own. For each run, all rows of the block are multiplied by its matrix, and those of the run
// keep the sums. So a matrix is read once for each run, whatever the order of the rows is.
#include <algorithm>

#include "tile/from_task/contractions.h"

namespace axon::tile {

/// The indices that choose, and where each is evaluated at all.
std::map<graph::ScalarId, std::vector<Fact>> ContractionMaker::choices_of_rows() const {
  std::map<ScalarId, std::vector<Fact>> out;
  for (const Product& product : product_.products) {
    if (!is_chosen(product)) continue;
    auto facts = check_facts_;
    facts.push_back(shape::at_least(product.depth.extent, Dim(1)));
    for (const graph::Axis& binder : product.outer) facts.push_back(shape::at_least(binder.extent, Dim(1)));
    for (const ScalarId arg : g_.scalars[product.right].args)
      if (!graph::affine_index(g_, arg)) out.emplace(arg, facts);
  }
  return out;
}

void ContractionMaker::index_row() {
  at_row(Dim(0));
  for (const auto& [index, facts] : choices_of_rows()) index_numbers_[index] = *number_before(index, facts);
}

/// Numbers the runs of each block of rows.
void ContractionMaker::number_runs() {
  const auto choices = choices_of_rows();
  if (choices.empty()) return;
  const int64_t most = most_blocks_of_rows();
  const auto of_rows = [&](const char* name) { return scratch(name, Elem::i64, {most, blocks_of_.rows}); };
  const auto number = [&](const char* name, int64_t first) {
    const Use made{tile(name, Elem::i64, false), {}};
    emit(Map{made, {of_number({0, first}, Elem::i64)}, {}});
    return made;
  };
  for (const auto& [index, facts] : choices) {
    TileId& kept = chosen_[index];
    if (!kept) kept = of_rows("chosen");
  }
  if (!starts_) starts_ = of_rows("starts");
  if (!runs_of_rows_) runs_of_rows_ = of_rows("runs");
  const Use run = number("run", 0);
  const Dim rows(blocks_of_.rows);
  const Var block = shape::fresh_var(name_for("g")), row = shape::fresh_var(name_for("r"));
  loop(block, shape::cdiv(rows_.stretch.length, rows), {run.tile}, [&] {
    std::vector<Use> before;  // no index in its axis is negative: the first row that has one begins a run
    std::vector<TileId> carries{run.tile};
    for (size_t i = 0; i < choices.size(); ++i) {
      before.push_back(number("before", -1));
      carries.push_back(before.back().tile);
    }
    loop(row, shape::min(rows, rows_.stretch.length - rows * Dim(block)), carries,
         [&] { number_row(before, run, Dim(block), Dim(row)); });
  });
}

/// `before`: what the row before has chosen; `run`: its run.
void ContractionMaker::number_row(const std::vector<Use>& before, const Use& run, const Dim& block,
                                  const Dim& row) {
  at_row(Dim(blocks_of_.rows) * block + row);
  Map start{{tile("start", Elem::i64, false), {}}, {}, {}};
  const auto push = [&](Expr e) {
    start.exprs.push_back(std::move(e));
    return static_cast<uint32_t>(start.exprs.size() - 1);
  };
  const auto keep = [&](const Use& number, TileId to) {
    Access access;
    access.tile = to;
    access.at = {at(block), at(row)};
    emit(Store{number, access, {}, false});
  };
  std::vector<Use> chosen;
  std::optional<uint32_t> differs;
  for (const auto& [index, facts] : choices_of_rows()) {
    chosen.push_back(*number_before(index, facts));
    keep(chosen.back(), chosen_.at(index));
    const uint32_t here = push(of_tile(chosen.back(), Elem::i64));
    const uint32_t last = push(of_tile(before[chosen.size() - 1], Elem::i64));
    const uint32_t other = push(applied(Pointwise::ne, Elem::boolean, {here, last}));
    differs = differs ? push(applied(Pointwise::or_, Elem::boolean, {*differs, other})) : other;
  }
  const uint32_t one = push(of_number({0, 1}, Elem::i64)), none = push(of_number({0, 0}, Elem::i64));
  push(applied(Pointwise::select, Elem::i64, {*differs, one, none}));
  const Use starts = start.to;
  emit(std::move(start));
  keep(starts, starts_);
  emit(Map{run,
           {of_tile(run, Elem::i64), of_tile(starts, Elem::i64), applied(Pointwise::add, Elem::i64, {0, 1})},
           {}});
  keep(run, runs_of_rows_);
  for (size_t i = 0; i < chosen.size(); ++i) emit(Map{before[i], {of_tile(chosen[i], Elem::i64)}, {}});
}

Use ContractionMaker::kept_number(TileId kept, const Dim& block, const Dim& row) {
  Copy copy{{tile("number", Elem::i64, false), {}}, {}, {}};
  copy.from.tile = kept;
  copy.from.at = {at(block), at(row)};
  const Use made = copy.to;
  emit(std::move(copy));
  return made;
}

/// Of the depth from `first` on, all columns.
void ContractionMaker::over_runs(const Product& product, const Dim& first, const Dim& length) {
  const TileId kept = sums_.at(product.reduction);
  const Dim rows(blocks_of_.rows);
  const Var block = shape::fresh_var(name_for("g")), row = shape::fresh_var(name_for("q")),
            once = shape::fresh_var(name_for("u"));
  loop(block, shape::cdiv(rows_.stretch.length, rows), {kept}, [&] {
    loop(row, shape::min(rows, rows_.stretch.length - rows * Dim(block)), {kept}, [&] {
      const Use starts = kept_number(starts_, Dim(block), Dim(row));
      loop(
          once, Dim(1), {kept},
          [&] {
            for (const auto& [index, numbers] : chosen_)
              index_numbers_[index] = kept_number(numbers, Dim(block), Dim(row));
            add_run(product, Dim(block), kept_number(runs_of_rows_, Dim(block), Dim(row)), first, length);
          },
          CountUses{std::nullopt, starts});
    });
  });
}

void ContractionMaker::add_run(const Product& product, const Dim& block, const Use& run, const Dim& first,
                               const Dim& length) {
  const TileId kept = sums_.at(product.reduction);
  const Var column = shape::fresh_var(name_for("c"));
  loop(column, shape::cdiv(columns_of(product).stretch.length, Dim(columns(product))), {kept}, [&] {
    if (may_pack_ && needs_packing(origin(), product)) pack(product, Dim(column), first, length);
    const Use sums = with_block(product, block, Dim(column), first, length);
    const TileId part = scratch("part", out_.tiles[sums.tile].elem, {blocks_of_.rows, columns(product)});
    Access all;
    all.tile = part;
    all.at = {at(Dim(row_label_)), at(Dim(label_))};
    emit(Store{sums, all, {}, false});
    keep_rows_of_run(product, part, Dim(column), block, run);
  });
}

void ContractionMaker::keep_rows_of_run(const Product& product, TileId part, const Dim& column,
                                        const Dim& block, const Use& run) {
  const Dim rows(blocks_of_.rows);
  const Var row = shape::fresh_var(name_for("r")), once = shape::fresh_var(name_for("v"));
  loop(row, shape::min(rows, rows_.stretch.length - rows * block), {}, [&] {
    const Use own = kept_number(runs_of_rows_, block, Dim(row));
    const Use same{tile("same", Elem::i64, false), {}};
    emit(Map{same,
             {of_tile(own, Elem::i64), of_tile(run, Elem::i64), applied(Pointwise::eq, Elem::boolean, {0, 1}),
              of_number({0, 1}, Elem::i64), of_number({0, 0}, Elem::i64),
              applied(Pointwise::select, Elem::i64, {2, 3, 4})},
             {}});
    loop(
        once, Dim(1), {},
        [&] {
          Copy copy{{tile("row", out_.tiles[part].elem, true), {label_}}, {}, {}};
          copy.from.tile = part;
          copy.from.at = {at(Dim(row)), at(Dim(label_))};
          const Use made = copy.to;
          emit(std::move(copy));
          emit(Store{made, sums_at(product, column, block, {at(Dim(row)), at(Dim(label_))}), {}, false});
        },
        CountUses{std::nullopt, same});
  });
}

}  // namespace axon::tile
