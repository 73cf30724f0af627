// See block_sums.h.
#include "tile/from_task/block_sums.h"

#include <algorithm>

#include "target/machine.h"

namespace axon::tile {

Dim steps_of_part(const Dim& length, int64_t block, int64_t parts) {
  return shape::cdiv(shape::cdiv(length, Dim(block)), Dim(parts));
}

Use BlockSums::accumulators(const Product& product, Elem elem) {
  const int64_t rows = blocks_of_.rows, vectors = columns(product) / lanes_;
  Tile t;
  t.name = name_for("acc");
  t.elem = elem;
  t.shape = {rows, columns(product)};
  t.layout = layout("sums", {{Dim(rows), vectors, "m"}, {Dim(vectors), 1, "m"}, {Dim(lanes_), 1, "v"}});
  auto& kept = sums_[product.reduction];
  if (!kept) {
    const int64_t blocks = most_blocks_of_rows(),
                  across = (columns_of(product).most + columns(product) - 1) / columns(product);
    kept = scratch("sums", form_.reductions[product.reduction].in, {across, blocks, rows, columns(product)});
  }
  return {out_.tiles.add(std::move(t)), {row_label_, label_}};
}

Access BlockSums::sums_at(const Product& product, const Dim& column, const Dim& block,
                          const std::vector<Index>& rest) const {
  Access out;
  out.tile = sums_.at(product.reduction);
  out.at = {at(column), at(block)};
  out.at.insert(out.at.end(), rest.begin(), rest.end());
  return out;
}

Use BlockSums::use_of_sums(TileId sums) const { return {sums, {row_label_, label_}}; }

void BlockSums::set_to_zero(TileId sums) {
  emit(Map{use_of_sums(sums), {of_number({}, out_.tiles[sums].elem)}, {}});
}

void BlockSums::clear(const Product& product) {
  const Use sums = accumulators(product, form_.reductions[product.reduction].in);
  const Var column = shape::fresh_var(name_for("c")), row = shape::fresh_var(name_for("g"));
  loop(column, shape::cdiv(columns_of(product).stretch.length, Dim(columns(product))), {}, [&] {
    loop(row, shape::cdiv(rows_.stretch.length, Dim(blocks_of_.rows)), {}, [&] {
      set_to_zero(sums.tile);
      emit(Store{
          sums, sums_at(product, Dim(column), Dim(row), {at(Dim(row_label_)), at(Dim(label_))}), {}, false});
    });
  });
}

// ---- blocks of rows ----

/// sums += left * right, along the depth from `first` on: of each part of it in sums of its own.
void BlockSums::accumulate(const Product& product, const std::vector<TileId>& parts, const Dim& row,
                           const Dim& column, const Dim& first, const Dim& length,
                           const std::optional<Steps>& some) {
  const Var number = shape::fresh_var(name_for("s"));
  const Dim at = some ? some->from + Dim(number) : Dim(number);
  const Dim steps = steps_of_part(length, block_, static_cast<int64_t>(parts.size()));
  const auto add = [&](TileId sums, const Dim& step, int64_t line) {
    const auto [left, right] = views_of(product, line);
    view_left(product, row, first, step, line);
    view_right(product, row, column, first, length, step, line);
    emit(Gemm{use_of_sums(sums),
              {left, labels_of_depth(product, {row_label_}, {})},
              {right, labels_of_depth(product, {}, {label_})},
              multiplied_in(product),
              "",
              false});
  };
  const auto inside = [&] {
    if (slides(product))
      for (int64_t line = 0; line < lines_of(product); ++line) add(parts[0], at, line);
    else
      for (size_t i = 0; i < parts.size(); ++i)
        add(parts[i], steps * Dim(static_cast<int64_t>(i)) + at, static_cast<int64_t>(i));
  };
  loop(number, some ? some->steps : steps, parts, inside, steps_by_data(product.depth.var, block_));
}

/// The same in registers, with the products of a stretch of the depth.
Use BlockSums::with_block(const Product& product, const Dim& row, const Dim& column, const Dim& first,
                          const Dim& length) {
  const Use sums = accumulators(product, form_.reductions[product.reduction].in);
  emit(Copy{sums, sums_at(product, column, row, {at(Dim(row_label_)), at(Dim(label_))}), {}});
  accumulate(product, {sums.tile}, row, column, first, length);
  return sums;
}

/// The sums of a block of rows and columns, which are in scratch.
void BlockSums::add_block(const Product& product, const Dim& row, const Dim& column, const Dim& first,
                          const Dim& length) {
  if (exact_products(product) > 0) return add_block_exactly(product, row, column, first, length);
  const Use sums = with_block(product, row, column, first, length);
  emit(Store{sums, sums_at(product, column, row, {at(Dim(row_label_)), at(Dim(label_))}), {}, false});
}

// ---- one row ----

/// How many parts of the depth are gone through together: of one row the panel is read from as many places as
/// the machine follows at once, where registers hold as many sums. Columns side by side are such places, too.
int64_t BlockSums::parts_of_depth(const Product& product) const {
  if (!blocks_of_.one_row || product.is_packed || slides(product) || needs_packing(origin(), product))
    return 1;
  const int64_t side_by_side = std::max<int64_t>(columns(product) / target::x86_64().panel_columns, 1);
  const int64_t most = out_.machine.registers / 2 / std::max<int64_t>(columns(product) / lanes_, 1);
  return std::clamp<int64_t>(out_.machine.streams / side_by_side, 1, std::max<int64_t>(most, 1));
}

/// The first ones, and sums of the other parts.
std::vector<TileId> BlockSums::sums_of_parts(const Product& product, TileId sums) {
  std::vector<TileId> out{sums};
  while (static_cast<int64_t>(out.size()) < parts_of_depth(product)) {
    Tile more = out_.tiles[sums];
    more.name = name_for("acc");
    out.push_back(out_.tiles.add(std::move(more)));
  }
  return out;
}

void BlockSums::add_part(const Use& sums, TileId part) {
  const Elem in = out_.tiles[sums.tile].elem;
  emit(Map{
      sums, {of_tile(sums, in), of_tile(use_of_sums(part), in), applied(Pointwise::add, in, {0, 1})}, {}});
}

/// The accumulators of all columns of a block stay in registers, and the left operand, where it is computed,
/// in scratch.
void BlockSums::multiply_one_row(const Product& product) {
  if (product.is_packed && (!slides(product) || product_.row))
    throw Declined{"a right operand is packed for several rows"};
  const Elem in = multiplied_in(product);
  const Dim depth = depth_of(product).extent;
  if (!is_direct(product.left, in)) {
    if (!product.outer.empty()) throw Declined{"a left operand of several depths is computed"};
    if (depth.constant().value_or(0) > most_depth) throw Declined{"a left operand is too long for scratch"};
    const bool fresh = !staged_.contains(product.left);
    staged_for(product.left, in);
    if (fresh) {
      if (!depth.constant()) out_.guard.push_back(shape::at_most(depth, Dim(most_depth)));
      stage(product, {Dim(0), depth, {depth}});
    }
  }
  if (!product.is_packed && needs_packing(origin(), product) && runs_along_depth(origin(), product))
    throw Declined{"a right operand goes across memory"};
  if (exact_products(product) > 0) return multiply_one_row_exactly(product);
  const Use sums = accumulators(product, in);
  const std::vector<TileId> parts = sums_of_parts(product, sums.tile);
  const Var block = shape::fresh_var(name_for("c"));
  loop(block, shape::cdiv(columns_of(product).stretch.length, Dim(columns(product))), {}, [&] {
    set_to_zero(sums.tile);
    over_binders(product.outer, {sums.tile}, [&] {
      if (product.is_packed) return over_packed(product, sums.tile, Dim(block));
      for (size_t i = 1; i < parts.size(); ++i) set_to_zero(parts[i]);
      accumulate(product, parts, Dim(0), Dim(block), Dim(0), depth);
      for (size_t i = 1; i < parts.size(); ++i) add_part(sums, parts[i]);
    });
    emit(
        Store{sums, sums_at(product, Dim(block), Dim(0), {at(Dim(row_label_)), at(Dim(label_))}), {}, false});
  });
}

void BlockSums::over_packed(const Product& product, TileId sums, const Dim& column) {
  const Var step = shape::fresh_var(name_for("k"));
  const Dim depth(depth_at_once(product)), first = depth * Dim(step), end = depth_of(product).extent;
  const Dim length = shape::min(depth, end - first);
  loop(step, shape::cdiv(end, depth), {sums}, [&] {
    pack_lines(product, column, first, length);
    accumulate(product, {sums}, Dim(0), column, first, length);
  });
}

}  // namespace axon::tile
