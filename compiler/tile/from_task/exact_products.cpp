// Products of integers of 8 bits as multiply-adds of floats: see block_sums.h.
//
// Sums of so few products (exact_products) are integers that float32 holds. They are added to those in
// scratch, which are of the sum's own type and wrap.
#include <algorithm>

#include "graph/contraction.h"
#include "tile/from_task/block_sums.h"

namespace axon::tile {

int64_t OperandMaker::exact_products(const Product& product) const {
  const Elem in = form_.reductions[product.reduction].in;
  if (product.is_packed || is_chosen(product) || (in != Elem::i32 && in != Elem::i64)) return 0;
  int64_t largest = 1;
  for (const ScalarId operand : {product.left, product.right}) {
    const Elem elem = g_.scalars[graph::under_widening_casts(g_, operand)].elem;
    if (!base::is_integer(elem) || base::elem_bytes(elem) > 1) return 0;
    const auto values = base::range_of_integers(elem);
    largest *= std::max(-values.least, values.greatest);
  }
  return (int64_t{1} << (base::float_format(Elem::f32).fraction_bits + 1)) / largest;
}

Elem OperandMaker::multiplied_in(const Product& product) const {
  return exact_products(product) > 0 ? Elem::f32 : form_.reductions[product.reduction].in;
}

/// Blocks of the depth have no more than are exact: 255 * 255 * 256 < 2^24.
void BlockSums::add_block_exactly(const Product& product, const Dim& row, const Dim& column, const Dim& first,
                                  const Dim& length) {
  const Use part = accumulators(product, multiplied_in(product));
  set_to_zero(part.tile);
  accumulate(product, {part.tile}, row, column, first, length);
  add_exact_part(product, part, row, column);
}

/// All of the depth, some steps of each part of it at once.
void BlockSums::multiply_one_row_exactly(const Product& product) {
  const TileId first = accumulators(product, multiplied_in(product)).tile, kept = sums_.at(product.reduction);
  const std::vector<TileId> parts = sums_of_parts(product, first);
  const Dim depth = depth_of(product).extent, at_once(exact_products(product) / block_),
            steps = steps_of_part(depth, block_, static_cast<int64_t>(parts.size()));
  const Var block = shape::fresh_var(name_for("c")), number = shape::fresh_var(name_for("e"));
  clear(product);
  loop(block, shape::cdiv(columns_of(product).stretch.length, Dim(columns(product))), {kept}, [&] {
    over_binders(product.outer, {kept}, [&] {
      loop(number, shape::cdiv(steps, at_once), {kept}, [&] {
        const Dim from = at_once * Dim(number);
        for (const TileId part : parts) set_to_zero(part);
        accumulate(product, parts, Dim(0), Dim(block), Dim(0), depth,
                   Steps{from, shape::min(at_once, steps - from)});
        for (const TileId part : parts) add_exact_part(product, use_of_sums(part), Dim(0), Dim(block));
      });
    });
  });
}

/// Vector by vector out of scratch, which leaves registers to the part.
void BlockSums::add_exact_part(const Product& product, const Use& part, const Dim& row, const Dim& column) {
  const Elem in = form_.reductions[product.reduction].in;
  const TileId kept = sums_.at(product.reduction);
  auto& in_scratch = exact_parts_[product.reduction];
  if (!in_scratch)
    in_scratch = scratch("part", out_.tiles[part.tile].elem, {blocks_of_.rows, columns(product)});
  Access to;
  to.tile = in_scratch;
  to.at = {at(Dim(row_label_)), at(Dim(label_))};
  emit(Store{part, to, {}, false});
  const Var line = shape::fresh_var(name_for("r")), number = shape::fresh_var(name_for("b"));
  const auto add = [&] {
    const Dim across = Dim(block_) * Dim(number) + Dim(label_);
    Copy whole{{tile("whole", Elem::i32, true), {label_}}, {}, {}};
    whole.from.tile = in_scratch;
    whole.from.at = {at(Dim(line)), at(across)};
    const Use more = whole.to, sum{tile("sum", in, true), {label_}};
    emit(std::move(whole));
    const Access all = sums_at(product, column, row, {at(Dim(line)), at(across)});
    emit(Copy{sum, all, {}});
    Map map{sum, {of_tile(sum, in), of_tile(more, Elem::i32)}, {}};
    const uint32_t wide = converted(map, 1, in);
    map.exprs.push_back(applied(Pointwise::add, in, {0, wide}));
    emit(std::move(map));
    emit(Store{sum, all, {}, false});
  };
  loop(line, Dim(blocks_of_.rows), {kept},
       [&] { loop(number, Dim(columns(product) / block_), {kept}, add); });
}

}  // namespace axon::tile
