// See online.h.
#include "tile/from_task/online.h"

#include <algorithm>
#include <limits>

#include "tile/pointwise.h"

namespace axon::tile {

namespace {

constexpr int64_t keys_at_once = 128, keys_of_few = 64;  ///< of a block
constexpr int64_t columns_of_few = 64, chains = 8;
constexpr int64_t most_queries = 64, few = 4;
constexpr int64_t most_values = 128;  ///< for which scores are computed once

Number real(double x) { return {x, 0}; }
constexpr double lowest = -std::numeric_limits<double>::infinity();

}  // namespace

/// Keys are the depth of the values' products: a block is gone through at once, and the head size in such
/// parts.
ContractionBlocks OnlineMaker::blocks_of_keys(ContractionBlocks blocks) {
  blocks.depth = keys_at_once;
  return blocks;
}

MadeProgram OnlineMaker::run() {
  open();
  choose_lanes();
  results_.resize(form_.reductions.size());
  elem_ = form_.reductions[online_.maximum].in;
  keys_.most = std::max(few_rows_ ? keys_of_few : keys_at_once, block_);
  may_pack_ = !few_rows_;
  prefetches_ = false;  // their depth is mostly one block
  if (few_rows_)        // as many chains as hide how long a multiply-add takes
    for (const Product& product : product_.products)
      columns_at_once_[product.reduction] = std::max(block_, std::min(columns_of_few, lanes_ * chains));
  Body statements;
  body_ = &statements;
  over_axes(form_.rows, [&] {
    part_of_rows([&] { in_parts(form_.along, most_values, columns_, [&] { part_of_task(); }); });
  });
  return finish(statements);
}

void OnlineMaker::part_of_rows(const std::function<void()>& inside) {
  if (!few_rows_ || !product_.row) return in_parts(product_.row, most_queries, rows_, inside);
  const Dim extent = node_.domain[*product_.row].extent;
  if (extent.constant().value_or(0) > few) throw Declined{"it has several rows"};
  if (!extent.constant()) add_once(shape::at_most(extent, Dim(few)), out_.guard);
  rows_ = {product_.row, stretch_of(*product_.row), few};
  inside();
}

void OnlineMaker::part_of_task() {
  for (const auto& axis : {product_.row, form_.along})
    if (axis) add_range(node_.domain[*axis].var, node_.domain[*axis].extent);
  statistics();
  begin_rows();
  const Stretch all = range_of_keys();
  const Var block = shape::fresh_var(name_for("k"));
  add_range(online_.key.var, online_.key.extent);
  const CountUses counts = blocks_by_data(all.first);
  const auto inside = [&] {
    const Dim first = all.first + Dim(keys_.most) * Dim(block);
    keys_.stretch = {
        first, shape::min(Dim(keys_.most), all.first + all.length - first), {online_.key.extent}};
    more_columns_[online_.key.var] = keys_;
    block_of_keys();
  };
  loop(block, all.blocks.value(), of_rows(), inside, counts);
  around_.resize(around_.size() - 2);
  outputs();
}

bool OnlineMaker::is_statistic(uint32_t reduction) const {
  return std::find(online_.before.begin(), online_.before.end(), reduction) != online_.before.end();
}

void OnlineMaker::begin_rows() {
  maximum_ = numbers("maximum", most_blocks_of_rows());
  sum_ = numbers("total", most_blocks_of_rows());
  here_ = numbers("here", 1);
  shift_ = numbers("shift", 1);
  factor_ = numbers("factor", 1);
  more_ = numbers("more", 1);
  const int64_t blocks_of_keys = keys_.most / block_;
  weights_ = scratch("weights", elem_, {most_blocks_of_rows(), blocks_of_.rows, blocks_of_keys, block_});
  row_scores_ = scratch("scores", elem_, {blocks_of_.rows, blocks_of_keys, block_});
  staged_[product_.products.back().left] = weights_;
  const Use lowest_of_all = of_block("top", {of_number(real(lowest), elem_)}),
            nothing = of_block("total", {of_number({}, elem_)});
  const Var block = shape::fresh_var(name_for("g"));
  loop(block, shape::cdiv(rows_.stretch.length, Dim(blocks_of_.rows)), {}, [&] {
    write(maximum_, Dim(block), lowest_of_all);
    write(sum_, Dim(block), nothing);
  });
  if (numbers_at_once() > 1) {  // of rows that a block lacks something is computed, too
    write(here_, Dim(0), lowest_of_all);
    write(more_, Dim(0), nothing);
  }
  for (const Product* product : of_values()) clear(*product);
}

/// The bound for whichever row of the part makes it least, or greatest; of one that is not linear in the row
/// nothing is known.
std::optional<Dim> OnlineMaker::at_extreme(const Dim& bound, bool greatest) const {
  if (!rows_.axis) return placed(bound, {});
  const Var row = node_.domain[*rows_.axis].var;
  const auto by = bound.linear_in(row);
  const auto step = by ? by->first.constant() : std::nullopt;
  if (!step) return std::nullopt;
  const Dim last = rows_.stretch.first + rows_.stretch.length - Dim(1);
  const bool is_last = (*step > 0) == greatest;
  return placed(bound.substitute({{row, is_last ? last : rows_.stretch.first}}), {});
}

/// From a whole block on, all keys which count for some row.
Stretch OnlineMaker::range_of_keys() const {
  const Dim extent = online_.key.extent, block(keys_.most);
  Dim low(0), end = extent;
  for (const Dim& bound : online_.range.low)
    if (const auto least = at_extreme(bound, false))
      low = shape::max(low, graph::reads_integer(g_, bound) ? shape::min(*least, extent) : *least);
  for (const Dim& bound : online_.range.end)
    if (const auto most = at_extreme(bound, true))
      end = shape::min(end, graph::reads_integer(g_, bound) ? shape::max(*most, Dim(0)) : *most);
  const Dim first = low.is(0) ? low : shape::floor_div(low, block);
  const Dim count = shape::cdiv(end, block) - first;
  // What is summed lies in whole blocks, as far as there are keys.
  const Dim whole = Dim(block_) * shape::cdiv(end - first * block, Dim(block_));
  return {first * block,
          shape::min(whole, extent - first * block),
          {},
          end == extent && low.is(0) ? count : shape::max(count, Dim(0))};
}

/// Of blocks of keys from the first key on those that hold keys which the data leaves to some row.
CountUses OnlineMaker::blocks_by_data(const Dim& first) {
  const DataRange& keys = form_.reductions[online_.maximum].by_data;
  if (!is_known_of_rows(keys.first) || !is_known_of_rows(keys.end)) {
    if (online_.is_unmasked) throw Declined{"an index of what bounds keys may leave its axis"};
    return {};
  }
  CountUses out;
  first_key_ = end_of_keys_ = {};
  ones_.emplace_back();  // so that no register has the bounds while there are products
  const auto blocks_from = [&](graph::ScalarId bound, Pointwise op, int64_t more, TileId& kept) {
    const Use key = extreme_of_rows(bound, op);
    kept = scratch("keys", Elem::i64, {1});
    emit(Store{key, {{}, kept, {at(Dim(0))}}, {}, false});
    return block_of(key, first, keys_.most, more);
  };
  if (keys.first.valid()) out.first = blocks_from(keys.first, Pointwise::min, 0, first_key_);
  if (keys.end.valid()) out.end = blocks_from(keys.end, Pointwise::max, keys_.most - 1, end_of_keys_);
  ones_.pop_back();
  return out;
}

/// Can the bound be computed for each row of the part, before there are keys?
bool OnlineMaker::is_known_of_rows(graph::ScalarId bound) const {
  if (!bound.valid()) return true;
  std::vector<Var> inside{online_.key.var, node_.domain[*form_.along].var};
  if (rows_.axis) {
    const Var row = node_.domain[*rows_.axis].var;
    if (!graph::depends_on(g_, bound, row)) inside.push_back(row);
  }
  return loads_stand_before(bound, inside, false);
}

Use OnlineMaker::extreme_of_rows(graph::ScalarId bound, Pointwise op) {
  if (!rows_.axis || !graph::depends_on(g_, bound, node_.domain[*rows_.axis].var)) return value(bound, {});
  const Use all{tile("key", Elem::i64, false), {}};
  Expr none;
  none.kind = Expr::Kind::index;
  none.elem = Elem::i64;
  none.index = op == Pointwise::max ? Dim(0) : online_.key.extent;
  emit(Map{all, {none}, {}});
  each_row(
      [&](const Dim&, const Dim&) {
        const Use own = value(bound, {});
        emit(
            Map{all, {of_tile(all, Elem::i64), of_tile(own, Elem::i64), applied(op, Elem::i64, {0, 1})}, {}});
      },
      {all.tile});
  return all;
}

/// Of the block of keys at hand.
CountUses OnlineMaker::steps_by_data(Var axis, int64_t at_once) {
  return axis == online_.key.var ? steps_of_keys(keys_.stretch.first, at_once) : CountUses();
}

/// Of so many keys, from a key on.
CountUses OnlineMaker::steps_of_keys(const Dim& first, int64_t at_once) {
  const auto number = [&](TileId keys, int64_t more) -> std::optional<Use> {
    if (!keys.valid()) return std::nullopt;
    const Use key{tile("key", Elem::i64, false), {}};
    emit(Copy{key, {{}, keys, {at(Dim(0))}}, {}});
    return block_of(key, first, at_once, more);
  };
  return {number(first_key_, 0), number(end_of_keys_, at_once - 1)};
}

/// (key - first + more) / at_once
Use OnlineMaker::block_of(const Use& key, const Dim& first, int64_t at_once, int64_t more) {
  Expr from;
  from.kind = Expr::Kind::index;
  from.elem = Elem::i64;
  from.index = first - Dim(more);
  const Use made{tile("block", Elem::i64, false), {}};
  emit(Map{made,
           {of_tile(key, Elem::i64), from, applied(Pointwise::sub, Elem::i64, {0, 1}),
            of_number({0, at_once}, Elem::i64), applied(Pointwise::div, Elem::i64, {2, 3})},
           {}});
  return made;
}

void OnlineMaker::block_of_keys() {
  scores();
  each_block_of_rows([&](const Dim& block) { weigh(block); }, of_rows());
  for (const Product* product : of_values()) values(*product);
}

// ---- scores ----

void OnlineMaker::scores() {
  for (size_t n = 0; n < online_.scores; ++n) {
    const Product& product = product_.products[n];
    if (few_rows_ && runs_along_depth(origin(), product)) {
      dot_products(product);
      continue;
    }
    clear(product);
    const std::vector<TileId> sums{sums_.at(product.reduction)};
    over_binders(product.outer, sums, [&] { over_blocks({&product}, sums); });
  }
}

/// Each where both operands lie.
void OnlineMaker::dot_products(const Product& product) {
  if (first_key_.valid() || end_of_keys_.valid())
    clear(product);
  else
    accumulators(product, form_.reductions[product.reduction].in);
  const Var column = shape::fresh_var(name_for("c")), key = shape::fresh_var(name_for("j"));
  const Dim across(columns(product)), length = keys_.stretch.length;
  loop(column, shape::cdiv(length, across), {}, [&] {
    const auto inside = [&] {
      at_[online_.key.var] = keys_.stretch.first + across * Dim(column) + Dim(key);
      each_row([&](const Dim& block, const Dim& row) {
        before_ = body_;
        reduce(product.reduction);
        const Access to = sums_at(product, Dim(column), block, {at(row), at(Dim(key))});
        emit(Store{{results_[product.reduction], {}}, to, {}, false});
      });
    };
    loop(key, shape::min(across, length - across * Dim(column)), {}, inside,
         steps_of_keys(keys_.stretch.first + across * Dim(column), 1));
  });
  at_.erase(online_.key.var);
}

// ---- weights ----

void OnlineMaker::each_block(const std::vector<TileId>& carries,
                             const std::function<void(const BlockPlace&)>& inside) {
  blocks(online_.key.var, keys_.stretch, carries, [&](BlockPlace place) {
    const Dim key(online_.key.var);
    for (const Dim& low : online_.range.low) place.bounds.push_back(placed(shape::at_least(key, low), place));
    for (const Dim& end : online_.range.end) place.bounds.push_back(placed(shape::less(key, end), place));
    inside(place);
  });
}

/// From scores to weights, and what changes by them for the rows of a block. Numbers of all of these are
/// computed at once: row by row, each would wait for the one before it.
void OnlineMaker::weigh(const Dim& block) {
  const auto greatest = [&](const Dim& row) {
    before_ = body_;
    write_number(here_, Dim(0), row, greatest_score(block, row));
  };
  rows_of_block(block, greatest, {});
  const Use old = read(maximum_, block), here = read(here_, Dim(0));
  const Use top =
      of_block("top", {of_tile(old, elem_), of_tile(here, elem_), applied(Pointwise::max, elem_, {0, 1})});
  const Use shift = of_block("shift", {of_tile(top, elem_), of_number(real(lowest), elem_),
                                       applied(Pointwise::eq, Elem::boolean, {0, 1}), of_number({}, elem_),
                                       applied(Pointwise::select, elem_, {2, 3, 0})});
  write(maximum_, block, top);
  write(shift_, Dim(0), shift);
  write(factor_, Dim(0), of_block("factor", power(old, shift)));
  std::vector<TileId> changed;
  for (const Product* product : of_values()) changed.push_back(sums_.at(product->reduction));
  const auto weights = [&](const Dim& row) {
    write_number(more_, Dim(0), row, weights_of_row(block, row));
    rescale(block, row);
  };
  rows_of_block(block, weights, changed);
  const Use total = read(sum_, block), factor = read(factor_, Dim(0)), more = read(more_, Dim(0));
  write(sum_, block,
        of_block("total",
                 {of_tile(total, elem_), of_tile(factor, elem_), applied(Pointwise::mul, elem_, {0, 1}),
                  of_tile(more, elem_), applied(Pointwise::add, elem_, {2, 3})}));
}

/// B^(scale * (x - shift)) of the note in graph.h.
std::vector<Expr> OnlineMaker::power(const Use& of, const Use& shift) const {
  std::vector<Expr> out{of_tile(of, elem_), of_tile(shift, elem_), applied(Pointwise::sub, elem_, {0, 1})};
  if (online_.scale != 1) {
    out.push_back(of_number(real(online_.scale), elem_));
    out.push_back(applied(Pointwise::mul, elem_, {2, 3}));
  }
  const auto last = static_cast<uint32_t>(out.size() - 1);
  out.push_back(applied(online_.base2 ? Pointwise::exp2 : Pointwise::exp, elem_, {last}));
  return out;
}

/// Scores of the row, with -inf where keys do not count, are left in scratch.
TileId OnlineMaker::greatest_score(const Dim& block, const Dim& row) {
  bounds_in_block_.clear();
  const Use top{tile("top", elem_, true), {label_}};
  emit(Map{top, {of_number(real(lowest), elem_)}, {}});
  each_block({top.tile}, [&](const BlockPlace& place) {
    for (size_t n = 0; n < online_.scores; ++n) read_sum(product_.products[n], place.number, block, row);
    const Use score{tile("score", elem_, true), {label_}};
    Map made{score, {}, {place.bounds, real(lowest)}};
    std::map<ScalarId, uint32_t> known;
    const uint32_t last =
        converted(made, expr(made, known, form_.reductions[online_.maximum].term, place), elem_);
    if (last + 1 != made.exprs.size()) throw Declined{"a score is computed already"};
    if (online_.is_unmasked) mask_by_data(made, place);
    emit(std::move(made));
    emit(Store{score, {{}, row_scores_, {at(row), at(place.number), at(Dim(label_))}}, {}, false});
    emit(Map{top, {of_tile(top, elem_), of_tile(score, elem_), applied(Pointwise::max, elem_, {0, 1})}, {}});
  });
  const TileId greatest = tile("top", elem_, false);
  emit(Reduce{Pointwise::max, {greatest, {}}, top, elem_});
  return greatest;
}

/// -inf of keys that the data leaves out. They are counted in the block, in 32 bits.
void OnlineMaker::mask_by_data(Map& score, const BlockPlace& place) {
  const DataRange& keys = form_.reductions[online_.maximum].by_data;
  if (keys.empty()) return;
  const auto add = [&](Expr e) {
    score.exprs.push_back(std::move(e));
    return static_cast<uint32_t>(score.exprs.size() - 1);
  };
  const uint32_t unmasked = static_cast<uint32_t>(score.exprs.size() - 1);
  Expr key;
  key.kind = Expr::Kind::index;
  key.elem = Elem::i32;
  key.index = Dim(block_) * place.number + Dim(place.label);
  const uint32_t at = add(std::move(key));
  std::optional<uint32_t> counts;
  const auto require = [&](Pointwise op, std::vector<uint32_t> args) {
    const uint32_t one = add(applied(op, Elem::boolean, std::move(args)));
    counts = counts ? add(applied(Pointwise::and_, Elem::boolean, {*counts, one})) : one;
  };
  if (keys.first.valid()) require(Pointwise::le, {add(of_tile(key_in_block(keys.first), Elem::i32)), at});
  if (keys.end.valid()) require(Pointwise::lt, {at, add(of_tile(key_in_block(keys.end), Elem::i32))});
  const uint32_t none = add(of_number(real(lowest), elem_));
  add(applied(Pointwise::select, elem_, {*counts, unmasked, none}));
}

/// Before the row's blocks: of an i64, its number in the block of keys at hand, or one of its ends.
Use OnlineMaker::key_in_block(graph::ScalarId bound) {
  if (const auto found = bounds_in_block_.find(bound); found != bounds_in_block_.end()) return found->second;
  Body* const body = std::exchange(body_, before_);
  const Use key = value(bound, {}), inside{tile("key", Elem::i64, false), {}};
  Expr first;
  first.kind = Expr::Kind::index;
  first.elem = Elem::i64;
  first.index = keys_.stretch.first;
  emit(Map{inside,
           {of_tile(key, Elem::i64), first, applied(Pointwise::sub, Elem::i64, {0, 1}),
            of_number({0, keys_.most}, Elem::i64), applied(Pointwise::min, Elem::i64, {2, 3}),
            of_number({}, Elem::i64), applied(Pointwise::max, Elem::i64, {4, 5})},
           {}});
  Copy narrowed{{tile("key", Elem::i32, false), {}}, {}, {}};
  narrowed.from.tile = inside.tile;
  const Use made = narrowed.to;
  emit(std::move(narrowed));
  body_ = body;
  return bounds_in_block_[bound] = made;
}

/// Their sum.
TileId OnlineMaker::weights_of_row(const Dim& block, const Dim& row) {
  const Use shift{read_number(shift_, Dim(0), row), {}};
  const Use total{tile("total", elem_, true), {label_}};
  emit(Map{total, {of_number({}, elem_)}, {}});
  each_block({total.tile}, [&](const BlockPlace& place) {
    const Access kept{{}, weights_, {at(block), at(row), at(place.number), at(Dim(label_))}};
    const Use score{tile("score", elem_, true), {label_}}, weight{tile("weight", elem_, true), {label_}};
    emit(Copy{score, {{}, row_scores_, {at(row), at(place.number), at(Dim(label_))}}, {}});
    emit(Map{weight, power(score, shift), {place.bounds, Number()}});
    emit(Store{weight, kept, {}, false});
    emit(Map{
        total, {of_tile(total, elem_), of_tile(weight, elem_), applied(Pointwise::add, elem_, {0, 1})}, {}});
  });
  const TileId sum = tile("total", elem_, false);
  emit(Reduce{Pointwise::add, {sum, {}}, total, elem_});
  return sum;
}

// ---- values ----

/// Adds those of the block.
void OnlineMaker::values(const Product& product) {
  const TileId kept = sums_.at(product.reduction);
  const Var column = shape::fresh_var(name_for("c")), row = shape::fresh_var(name_for("g"));
  const Stretch& keys = keys_.stretch;
  loop(column, shape::cdiv(columns_.stretch.length, Dim(columns(product))), {kept}, [&] {
    if (may_pack_ && needs_packing(origin(), product)) pack(product, Dim(column), keys.first, keys.length);
    loop(row, shape::cdiv(rows_.stretch.length, Dim(blocks_of_.rows)), {kept},
         [&] { add_block(product, Dim(row), Dim(column), keys.first, keys.length); });
  });
}

/// What earlier blocks of keys have given the row, at the scale of this one.
void OnlineMaker::rescale(const Dim& block, const Dim& row) {
  const Use factor{read_number(factor_, Dim(0), row), {}};
  for (const Product* product : of_values()) {
    const TileId kept = sums_.at(product->reduction);
    const int64_t across = columns(*product);
    const Var column = shape::fresh_var(name_for("c"));
    loop(column, shape::cdiv(columns_.stretch.length, Dim(across)), {kept}, [&] {
      const Use sum = vector_of("sum", across);
      const Access all = sums_at(*product, Dim(column), block, {at(row), at(Dim(label_))});
      emit(Copy{sum, all, {}});
      emit(Map{
          sum, {of_tile(sum, elem_), of_tile(factor, elem_), applied(Pointwise::mul, elem_, {0, 1})}, {}});
      emit(Store{sum, all, {}, false});
    });
  }
}

std::vector<const Product*> OnlineMaker::of_values() const {
  std::vector<const Product*> out;
  for (size_t v = online_.scores; v < product_.products.size(); ++v) out.push_back(&product_.products[v]);
  return out;
}

std::vector<TileId> OnlineMaker::of_rows() const {
  std::vector<TileId> out{maximum_, sum_};
  for (const Product* product : of_values()) out.push_back(sums_.at(product->reduction));
  return out;
}

// ---- numbers of rows ----

/// Whole vectors.
int64_t OnlineMaker::numbers_at_once() const {
  return blocks_of_.rows == 1 ? 1 : (blocks_of_.rows + lanes_ - 1) / lanes_ * lanes_;
}

TileId OnlineMaker::numbers(const char* name, int64_t blocks) {
  return scratch(name, elem_, {blocks, numbers_at_once()});
}

Access OnlineMaker::numbers_of_block(TileId numbers, const Dim& block) const {
  return {{}, numbers, {at(block), at(blocks_of_.rows == 1 ? Dim(0) : Dim(label_))}};
}

Use OnlineMaker::of_block(const char* name) {
  if (blocks_of_.rows == 1) return {tile(name, elem_, false), {}};
  return vector_of(name, numbers_at_once());
}

/// A tile of so many elements in a row, whole vectors.
Use OnlineMaker::vector_of(const char* name, int64_t elements) {
  const Use made{tile(name, elem_, true), {label_}};
  out_.tiles[made.tile].shape = {elements};
  out_.tiles[made.tile].layout = layout("sums", {{Dim(elements / lanes_), 1, "m"}, {Dim(lanes_), 1, "v"}});
  return made;
}

Use OnlineMaker::of_block(const char* name, std::vector<Expr> exprs) {
  const Use made = of_block(name);
  emit(Map{made, std::move(exprs), {}});
  return made;
}

Use OnlineMaker::read(TileId numbers, const Dim& block) {
  const Use made = of_block("numbers");
  emit(Copy{made, numbers_of_block(numbers, block), {}});
  return made;
}

void OnlineMaker::write(TileId numbers, const Dim& block, const Use& all) {
  emit(Store{all, numbers_of_block(numbers, block), {}, false});
}

TileId OnlineMaker::read_number(TileId numbers, const Dim& block, const Dim& row) {
  const TileId made = tile("number", elem_, false);
  emit(Copy{{made, {}}, {{}, numbers, {at(block), at(row)}}, {}});
  return made;
}

void OnlineMaker::write_number(TileId numbers, const Dim& block, const Dim& row, TileId number) {
  emit(Store{{number, {}}, {{}, numbers, {at(block), at(row)}}, {}, false});
}

// ---- outputs ----

void OnlineMaker::outputs() {
  each_row([&](const Dim& block, const Dim& row) {
    before_ = body_;
    results_[online_.maximum] = read_number(maximum_, block, row);
    results_[online_.sum] = read_number(sum_, block, row);
    where_columns_are([&] {
      for (const uint32_t number : online_.of_rows) reduce_elements(number, {});
      before_ = body_;
      blocks(node_.domain[*form_.along].var, columns_.stretch, {}, [&](const BlockPlace& place) {
        for (const Product* product : of_values()) read_sum(*product, place.number, block, row);
        for (const uint32_t number : online_.of_columns) reduce_elements(number, place);
        store_all(place);
      });
    });
  });
}

/// What is computed for the row may read where there is a column alone.
void OnlineMaker::where_columns_are(const std::function<void()>& inside) {
  if (online_.of_rows.empty()) return inside();
  const Var once = shape::fresh_var(name_for("o"));
  around_.push_back(shape::at_least(node_.domain[*form_.along].extent, Dim(1)));
  loop(once, shape::min(columns_.stretch.length, Dim(1)), {}, inside);
  around_.pop_back();
}

/// A reduction over binders alone, each element of the block, or the number of a row, for itself.
void OnlineMaker::reduce_elements(uint32_t number, const BlockPlace& place) {
  const RowReduction& r = form_.reductions[number];
  if (!r.first.is(0) || r.end != r.along.extent) throw Declined{"a mask bounds a reduction"};
  const Pointwise op = graph::operator_of(r.monoid).value();
  const Use all{tile("sum", r.in, place.labels()), place.labels()};
  emit(Map{all, {of_number(neutral(op, r.in), r.in)}, {}});
  std::vector<graph::Axis> binders(r.outer.begin(), r.outer.end());
  binders.push_back(r.along);
  over_binders(binders, {all.tile}, [&] {
    Body* const before = std::exchange(before_, body_);
    begin_statement(place);
    Map add{all, {of_tile(all, r.in)}, {}};
    std::map<ScalarId, uint32_t> known;
    const uint32_t term = converted(add, expr(add, known, r.term, place), r.in);
    add.exprs.push_back(applied(op, r.in, {0, term}));
    emit(std::move(add));
    before_ = before;
  });
  begin_statement(place);
  if (r.kept != r.in) throw Declined{"the result of a reduction down columns is narrow"};
  results_[number] = all.tile;
}

}  // namespace axon::tile
