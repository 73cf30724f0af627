// What is made of the sums of matrix products: see contractions.h.
#include <algorithm>

#include "target/machine.h"
#include "tile/from_task/contractions.h"

namespace axon::tile {

void ContractionMaker::read_sum(const Product& product, const Dim& number, const Dim& block, const Dim& row) {
  const RowReduction& sum = form_.reductions[product.reduction];
  Use read{tile("sum", sum.in, true), {label_}};
  const Dim blocks(columns(product) / block_), from = shape::mod(number, blocks) * Dim(block_);
  const Access kept =
      sums_at(product, shape::floor_div(number, blocks), block, {at(row), at(from + Dim(label_))});
  emit(Copy{read, kept, {}});
  results_[product.reduction] = read.tile;
  if (sum.kept == sum.in) return;
  Copy narrowed{{tile("total", sum.kept, true), {label_}}, {}, {}};
  narrowed.from.tile = read.tile;
  narrowed.from.at = {at(Dim(label_))};
  results_[product.reduction] = narrowed.to.tile;
  emit(std::move(narrowed));
}

/// Out of the same block, where its other columns are for any block.
Use ContractionMaker::result_at(ScalarId id, const BlockPlace& place) {
  const graph::Scalar& load = g_.scalars[id];
  const Dim column = placed(graph::affine_index(g_, load.args[0]).value(), place) - place.base;
  for (int64_t e = 0; e < block_; ++e) {
    const auto at = column.substitute({{place.label, Dim(e)}}).constant();
    if (!at || *at < 0 || *at >= block_) throw Declined{"its outputs read columns of other blocks"};
  }
  const TileId sum = results_[load.target.output];
  Copy copy{{tile("column", out_.tiles[sum].elem, true), {label_}}, {}, {}};
  copy.from.tile = sum;
  copy.from.at = {at(column)};
  const Use made = copy.to;
  emit(std::move(copy));
  return made;
}

/// Do elements of the output lie together along the rows, and not along the columns? Rows of it would go to
/// as many lines of the caches as there are columns.
bool ContractionMaker::is_stored_turned(uint32_t output) const {
  if (blocks_of_.one_row || !rows_.axis || rows_.most < block_ || reads_what_is_stored()) return false;
  const auto step = [&](uint32_t axis) { return store_stride(p_, g_, type_, output, axis); };
  const auto along = step(*form_.along), down = step(*rows_.axis);
  return along && down && !along->is(1) && down->is(1);
}

/// Of outputs of one row whose elements lie a line of the cache or more apart, each line: it arrives while
/// sums are computed.
void ContractionMaker::prefetch_scattered_outputs() {
  if (!blocks_of_.one_row) return;
  std::vector<uint32_t> scattered;
  for (uint32_t o = 0; o < form_.outputs.size(); ++o) {
    const int64_t bytes = base::elem_bytes(g_.type({type_.node, o}).elem);
    const auto stride = store_stride(p_, g_, type_, o, *form_.along);
    if (stride && stride->constant().value_or(INT64_MAX / bytes) * bytes >= target::bytes_of_cache_line)
      scattered.push_back(o);
  }
  if (scattered.empty()) return;
  at_row(Dim(0));
  blocks(node_.domain[*form_.along].var, columns_.stretch, {}, [&](const BlockPlace& place) {
    for (const uint32_t o : scattered) {
      ask_for(access_to_output(o, place), {{{place.label, block_}}, {}, {}, {}});
    }
  });
}

/// What a row has of an output that is stored turned.
void ContractionMaker::keep_turned(uint32_t output, const Dim& row, const BlockPlace& place) {
  const Use made = output_at(output, place);
  auto& kept = turned_[output];
  const auto blocks_in = [&](const Part& part) { return (part.most + block_ - 1) / block_; };
  if (!kept)
    kept = scratch("turned", out_.tiles[made.tile].elem,
                   {blocks_in(rows_) * block_, blocks_in(columns_), block_});
  Access to;
  to.tile = kept;
  to.at = {at(row), at(place.number), at(Dim(label_))};
  emit(Store{made, to, {}, false});
}

/// Column by column, blocks of rows.
void ContractionMaker::store_turned(uint32_t output) {
  const TileId kept = turned_.at(output);
  const Var column = shape::fresh_var(name_for("c"));
  loop(column, columns_.stretch.length, {}, [&] {
    at_[node_.domain[*form_.along].var] = columns_.stretch.first + Dim(column);
    blocks(node_.domain[*rows_.axis].var, rows_.stretch, {}, [&](const BlockPlace& place) {
      Copy copy{{tile("turned", out_.tiles[kept].elem, true), {label_}}, {}, {place.bounds, {}}};
      copy.from.tile = kept;
      const Dim block(block_);
      copy.from.at = {at(block * place.number + Dim(label_)), at(shape::floor_div(Dim(column), block)),
                      at(shape::mod(Dim(column), block))};
      const Use made = copy.to;
      emit(std::move(copy));
      store(output, made, place);
    });
  });
  at_.erase(node_.domain[*form_.along].var);
}

/// Row by row: of a loop over each the verifier knows which rows it has kept.
void ContractionMaker::turned_outputs(const std::set<uint32_t>& turned) {
  const Var row = shape::fresh_var(name_for("r"));
  const Dim at_once(blocks_of_.rows), block = shape::floor_div(Dim(row), at_once);
  loop(row, rows_.stretch.length, {}, [&] {
    at_row(Dim(row));
    read_statistics(Dim(row));
    blocks(node_.domain[*form_.along].var, columns_.stretch, {}, [&](const BlockPlace& place) {
      for (const Product& product : product_.products)
        read_sum(product, place.number, block, shape::mod(Dim(row), at_once));
      for (uint32_t o = 0; o < form_.outputs.size(); ++o)
        turned.contains(o) ? keep_turned(o, Dim(row), place) : store(o, {}, place);
    });
  });
  for (const uint32_t o : turned) store_turned(o);
}

void ContractionMaker::outputs() {
  std::set<uint32_t> turned;
  for (uint32_t o = 0; o < form_.outputs.size(); ++o)
    if (is_stored_turned(o)) turned.insert(o);
  if (!turned.empty()) return turned_outputs(turned);
  each_row([&](const Dim& block, const Dim& row) {
    blocks(node_.domain[*form_.along].var, columns_.stretch, {}, [&](const BlockPlace& place) {
      for (const Product& product : product_.products) read_sum(product, place.number, block, row);
      store_all(place);
    });
  });
}

}  // namespace axon::tile
