// Right operands that are tensors, in scratch: see packed_operands.h.
#include <algorithm>

#include "graph/contraction.h"
#include "tile/from_task/packed_operands.h"

namespace axon::tile {

bool runs_along_depth(const Origin& of, const Product& product) {
  const auto step = [&](Var v) { return step_of_load(of.program, of.graph, product.right, v); };
  if (step(product.column.var) == 1) return false;
  if (step(product.depth.var) != 1) throw Declined{"a right operand goes across memory"};
  return true;
}

bool needs_packing(const Origin& of, const Product& product) {
  const graph::Scalar& s = of.graph.scalars[product.right];
  return of.program.buffers[of.program.place(s.target).buffer].placement.digits.empty() &&
         !graph::column_of_panels(of.graph, s);
}

static bool is_turned(const Origin& of, const Product& product) {
  return !product.is_packed && needs_packing(of, product) && runs_along_depth(of, product);
}

bool is_all_turned(const Origin& of, const ProductForm& form) {
  return std::all_of(form.products.begin(), form.products.end(),
                     [&](const Product& product) { return is_turned(of, product); });
}

int64_t OperandMaker::columns(const Product& product) const {
  const auto more = columns_at_once_.find(product.reduction);
  return more == columns_at_once_.end() ? block_ : more->second;
}

const OperandMaker::Part& OperandMaker::columns_of(const Product& product) const {
  const auto more = more_columns_.find(product.column.var);
  return more == more_columns_.end() ? columns_ : more->second;
}

bool OperandMaker::is_chosen(const Product& product) const {
  if (product.is_packed) return false;
  const std::vector<ScalarId>& args = g_.scalars[product.right].args;
  return std::any_of(args.begin(), args.end(), [&](ScalarId arg) { return !graph::affine_index(g_, arg); });
}

/// The columns of a block from one of them on, of all of the depth.
BlockPlace OperandMaker::place_of_columns(const Product& product, const Dim& column, const Dim& from) const {
  const Stretch& all = columns_of(product).stretch;
  BlockPlace out;
  out.is_block = true;
  out.along = product.column.var;
  out.label = label_;
  out.number = Dim(0);
  out.base = all.first + Dim(columns(product)) * column + from;
  for (const Dim& end : all.ends) out.bounds.push_back(shape::less(out.base + Dim(label_), end));
  return out;
}

/// A block of the right operand, next to each other in scratch.
void OperandMaker::pack(const Product& product, const Dim& column, const Dim& first, const Dim& length) {
  if (runs_along_depth(origin(), product)) return pack_turned(product, column, first, length);
  auto& to = packed_[{product.reduction, 0}];
  if (!to) to = scratch("right", multiplied_in(product), {blocks_of_.depth, columns(product)});
  const Var step = shape::fresh_var(name_for("d"));
  const BlockPlace from = place_of_columns(product, column);
  at_[product.depth.var] = first + Dim(step);
  loop(step, length, {}, [&] {
    const Elem stored = g_.type(g_.scalars[product.right].target).elem;
    Copy copy{{tile("b", base::computed_as(stored), true), {label_}}, {}, {from.bounds, Number()}};
    copy.from = access_to(product.right, from);
    const Use made = copy.to;
    emit(std::move(copy));
    store_packed(made, to, {at(Dim(step)), at(Dim(label_))});
  });
  at_.erase(product.depth.var);
}

void OperandMaker::ask_for(const Access& access, Prefetch made) {
  made.tensor = access.tensor;
  for (const Index& index : access.at) {
    if (index.table) return;
    made.at.push_back(index.dim);
  }
  emit(std::move(made));
}

/// What is copied some rows later: each row may be on a page of its own, where processors do not read ahead.
void OperandMaker::prefetch_row(const Product& product, const BlockPlace& place, int64_t columns) {
  constexpr int64_t rows_ahead = 32;
  const Dim row = at_.at(product.depth.var);
  at_[product.depth.var] = row + Dim(rows_ahead);
  const Access from = access_to(product.right, place);
  at_[product.depth.var] = row;
  ask_for(from, {{{label_, columns}}, {}, {}, {}});
}

/// All blocks of columns: what a row of the operand has of them lies together in memory. Products that come
/// one after another have one place for this.
void OperandMaker::pack_rows(const Product& product, const Dim& first, const Dim& length,
                             const std::function<void(const Dim&)>& asks) {
  const Part& all = columns_of(product);
  const Elem in = multiplied_in(product);
  const int64_t across = (all.most + columns(product) - 1) / columns(product);
  TileId& to = rows_packed_[{in, across, columns(product)}];
  if (!to) to = scratch("right", in, {across, blocks_of_.depth, columns(product)});
  packed_[{product.reduction, 0}] = to;
  const Var step = shape::fresh_var(name_for("d")), column = shape::fresh_var(name_for("c"));
  const Elem stored = g_.type(g_.scalars[product.right].target).elem;
  at_[product.depth.var] = first + Dim(step);
  loop(step, length, {}, [&] {
    loop(column, shape::cdiv(all.stretch.length, Dim(columns(product))), {}, [&] {
      const BlockPlace from = place_of_columns(product, Dim(column));
      if (!asks) prefetch_row(product, from, columns(product));
      const Use made = copied(product.right, tile("b", base::computed_as(stored), true), from);
      store_packed(made, to, {at(Dim(column)), at(Dim(step)), at(Dim(label_))});
    });
    if (!asks) prefetch_row(product, place_of_columns(product, Dim(0), all.stretch.length - 1), 1);
    if (asks) asks(Dim(step));
  });
  at_.erase(product.depth.var);
}

/// The same of one that lies along the depth: squares of as many columns as a vector has lanes are turned in
/// registers. A block of the depth is squares by squares.
void OperandMaker::pack_turned(const Product& product, const Dim& column, const Dim& first,
                               const Dim& length) {
  auto& to = packed_[{product.reduction, 0}];
  const int64_t squares = block_ / lanes_;
  if (!to)
    to = scratch("right", multiplied_in(product),
                 {blocks_of_.depth / block_, squares, squares, lanes_, lanes_});
  const Var step = shape::fresh_var(name_for("d")), down = shape::fresh_var(name_for("i")),
            across = shape::fresh_var(name_for("j"));
  const auto square = [&] {
    const Dim row = Dim(block_) * Dim(step) + Dim(lanes_) * Dim(down);
    const Use made = turned_square(product, column, Dim(lanes_) * Dim(across), first + row);
    store_packed(made, to,
                 {at(Dim(step)), at(Dim(down)), at(Dim(across)), at(Dim(depth_label_)), at(Dim(label_))});
  };
  loop(step, shape::cdiv(length, Dim(block_)), {},
       [&] { loop(down, Dim(squares), {}, [&] { loop(across, Dim(squares), {}, square); }); });
}

/// As many columns and as much of the depth as a vector has lanes, with the columns in lanes.
Use OperandMaker::turned_square(const Product& product, const Dim& block, const Dim& column, const Dim& row) {
  const LayoutId turned = layout("turned", {{Dim(lanes_), 1, "v"}, {Dim(lanes_), 1, "m"}});
  const LayoutId straight = layout("square", {{Dim(lanes_), 1, "m"}, {Dim(lanes_), 1, "v"}});
  const auto made = [&](Elem elem, LayoutId place) {
    const TileId id = tile("b", elem, true);
    out_.tiles[id].shape = {lanes_, lanes_};
    out_.tiles[id].layout = place;
    return Use{id, {depth_label_, label_}};
  };
  BlockPlace from = place_of_columns(product, block, column);
  from.across = product.depth.var;
  from.row_label = depth_label_;
  from.row_base = row;
  from.bounds.push_back(shape::less(row + Dim(depth_label_), product.depth.extent));
  const Elem elem = base::computed_as(g_.type(g_.scalars[product.right].target).elem);
  Copy copy{made(elem, turned), access_to(product.right, from), {from.bounds, Number()}};
  Copy turn{made(elem, straight), {}, {}};
  turn.from.tile = copy.to.tile;
  turn.from.at = {at(Dim(depth_label_)), at(Dim(label_))};
  const Use all = turn.to;
  emit(std::move(copy));
  emit(std::move(turn));
  return all;
}

/// As elements of the type that is multiplied.
void OperandMaker::store_packed(const Use& made, TileId to, std::vector<Index> index) {
  Access access;
  access.tile = to;
  access.at = std::move(index);
  emit(Store{converted_to(out_.tiles[to].elem, made), access, {}, false});
}

}  // namespace axon::tile
