// The operands of matrix products: see contractions.h. Views of both, and right operands that are packed.
#include <algorithm>

#include "tile/from_task/contractions.h"

namespace axon::tile {

bool runs_along_depth(const Origin& of, const Product& product) {
  const auto step = [&](Var v) { return step_of_load(of.program, of.graph, product.right, v); };
  if (step(product.column.var) == 1) return false;
  if (step(product.depth.var) != 1) throw Declined{"a right operand goes across memory"};
  return true;
}

bool needs_packing(const Origin& of, const Product& product) {
  const graph::Scalar& s = of.graph.scalars[product.right];
  return of.program.buffers[of.program.place(s.target).buffer].placement.digits.empty();
}

static bool is_turned(const Origin& of, const Product& product) {
  return !product.is_packed && needs_packing(of, product) && runs_along_depth(of, product);
}

bool is_all_turned(const Origin& of, const ProductForm& form) {
  return std::all_of(form.products.begin(), form.products.end(),
                     [&](const Product& product) { return is_turned(of, product); });
}

/// Of both operands.
std::pair<TileId, TileId> ContractionMaker::views_of(const Product& product, int64_t line) {
  auto& [left, right] = views_[{product.reduction, line}];
  if (left) return {left, right};
  const RowReduction& sum = form_.reductions[product.reduction];
  std::vector<int64_t> depth;
  if (slides(product)) depth.push_back(steps_of_line(product, line));
  depth.push_back(block_);
  Tile t;
  t.space = Space::view;
  t.name = name_for("a");
  t.elem = sum.in;
  t.shape = depth;
  t.shape.insert(t.shape.begin(), blocks_of_.rows);
  left = out_.tiles.add(t);
  t.name = name_for("b");
  const auto packed = packed_.find({product.reduction, line});
  t.elem = packed == packed_.end() ? g_.type(g_.scalars[product.right].target).elem
                                   : out_.tiles[packed->second].elem;
  t.shape = depth;
  t.shape.push_back(columns(product));
  right = out_.tiles.add(t);
  return {left, right};
}

/// Elements of the depth from `first` on.
BlockPlace ContractionMaker::depth_place(const Product& product, const Dim& first) const {
  BlockPlace out;
  out.is_block = true;
  out.along = depth_of(product).var;
  out.label = depth_label_;
  out.base = first;
  out.number = Dim(0);
  out.bounds = {shape::less(first + Dim(depth_label_), depth_of(product).extent)};
  return out;
}

/// Of a window with any number of steps, there are no more than these.
void ContractionMaker::bound_window(const Product& product, BlockPlace& place) const {
  if (has_open_window(product))
    place.bounds.push_back(shape::less(Dim(window_label_), product.run.back().extent));
}

void ContractionMaker::view_left(const Product& product, const Dim& row, const Dim& first, const Dim& step,
                                 int64_t line) {
  const TileId view = views_of(product, line).first;
  BlockPlace from = depth_place(product, first + Dim(block_) * step);
  bound_window(product, from);
  const Dim number = Dim(blocks_of_.rows) * row + Dim(row_label_);
  if (rows_.axis && blocks_of_.one_row) at_row(Dim(0));
  if (rows_.axis && !blocks_of_.one_row) {
    from.across = node_.domain[*rows_.axis].var;
    from.row_label = row_label_;
    from.row_base = rows_.stretch.first + Dim(blocks_of_.rows) * row;
    from.bounds.push_back(shape::less(number, rows_.stretch.length));
  }
  in_run(product);
  if (slides(product))
    at_[product.run.back().var] = Dim(line) + Dim(product.slide->steps) * Dim(window_label_);
  View made{{view, labels_of_depth(product, {row_label_}, {})}, {}, {from.bounds, Number()}};
  if (const auto staged = staged_.find(product.left); staged != staged_.end()) {
    made.from.tile = staged->second;
    made.from.at = {at(number), at(step), at(Dim(depth_label_))};
    if (out_.tiles[made.from.tile].shape.size() == 4)  // blocks of rows
      made.from.at = {at(row), at(Dim(row_label_)), at(step), at(Dim(depth_label_))};
    return emit(std::move(made));
  }
  made.from = access_to(product.left, from);
  emit(std::move(made));
}

void ContractionMaker::view_right(const Product& product, const Dim& column, const Dim& first,
                                  const Dim& step, int64_t line) {
  const TileId view = views_of(product, line).second;
  BlockPlace from = depth_place(product, first + Dim(block_) * step);
  bound_window(product, from);
  View made{{view, labels_of_depth(product, {}, {label_})}, {}, {}};
  if (const auto packed = packed_.find({product.reduction, line}); packed != packed_.end()) {
    made.from.tile = packed->second;
    const Dim depth = Dim(block_) * step + Dim(depth_label_);
    made.from.at = {at(depth), at(Dim(label_))};
    const Dim lanes(lanes_), d(depth_label_), e(label_);
    if (product.is_packed) {
      made.from.at.insert(made.from.at.begin(), at(column));
      from.bounds.push_back(shape::less(Dim(columns()) * column + Dim(label_), columns_.stretch.length));
    } else if (runs_along_depth(origin(), product)) {  // squares
      made.from.at = {at(step), at(shape::floor_div(d, lanes)), at(shape::floor_div(e, lanes)),
                      at(shape::mod(d, lanes)), at(shape::mod(e, lanes))};
    }
    if (slides(product))
      made.from.at.back() = at(Dim(label_) + Dim(product.slide->columns) * Dim(window_label_));
    made.bounds = {from.bounds, Number()};
    return emit(std::move(made));
  }
  const BlockPlace columns = place_of_columns(product, column);
  from.across = columns.along;
  from.row_label = columns.label;
  from.row_base = columns.base;
  from.bounds.insert(from.bounds.end(), columns.bounds.begin(), columns.bounds.end());
  made.from = access_to(product.right, from);
  made.bounds = {from.bounds, Number()};
  if (needs_packing(origin(), product)) return emit(std::move(made));
  // Panels have whole vectors: only the depth has to be filled.
  auto& panel = panels_[product.reduction];
  if (!panel) {
    Tile t = out_.tiles[view];
    t.name = name_for("panel");
    panel = out_.tiles.add(std::move(t));
  }
  View filled{made.to, {}, {depth_place(product, first + Dim(block_) * step).bounds, Number()}};
  made.to.tile = panel;
  made.bounds.fill.reset();
  filled.from.tile = panel;
  filled.from.at = {at(Dim(depth_label_)), at(Dim(label_))};
  emit(std::move(made));
  emit(std::move(filled));
}

const ContractionMaker::Part& ContractionMaker::columns_of(const Product& product) const {
  const auto more = more_columns_.find(product.column.var);
  return more == more_columns_.end() ? columns_ : more->second;
}

/// The columns of a block from one of them on, of all of the depth.
BlockPlace ContractionMaker::place_of_columns(const Product& product, const Dim& column,
                                              const Dim& from) const {
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
void ContractionMaker::pack(const Product& product, const Dim& column, const Dim& first, const Dim& length) {
  if (runs_along_depth(origin(), product)) return pack_turned(product, column, first, length);
  auto& to = packed_[{product.reduction, 0}];
  if (!to)
    to = scratch("right", form_.reductions[product.reduction].in, {blocks_of_.depth, columns(product)});
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

/// The same of one that lies along the depth: squares of as many columns as a vector has lanes are turned in
/// registers. A block of the depth is squares by squares.
void ContractionMaker::pack_turned(const Product& product, const Dim& column, const Dim& first,
                                   const Dim& length) {
  auto& to = packed_[{product.reduction, 0}];
  const int64_t squares = block_ / lanes_;
  if (!to)
    to = scratch("right", form_.reductions[product.reduction].in,
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
Use ContractionMaker::turned_square(const Product& product, const Dim& block, const Dim& column,
                                    const Dim& row) {
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
void ContractionMaker::store_packed(const Use& made, TileId to, std::vector<Index> index) {
  Access access;
  access.tile = to;
  access.at = std::move(index);
  emit(Store{converted_to(out_.tiles[to].elem, made), access, {}, false});
}

}  // namespace axon::tile
