// Views of the operands of matrix products: see contractions.h.
#include <algorithm>

#include "graph/contraction.h"
#include "tile/from_task/contractions.h"

namespace axon::tile {

constexpr int64_t many_rows = 32;  ///< that take longer than memory for what they multiply

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

/// All rows of a task go over a block of the right operand before the next one, which may come from far away:
/// each step of each block of rows asks for a part of it. What lies behind the depth of a panel is the next
/// panel; behind that of an operand that is read where it lies, nothing is wanted. Fewer rows than a
/// task may have would ask for a part only, and are done so soon that the processor's own prefetcher does
/// better.
void ContractionMaker::prefetch_right(const Product& product, const Access& right, const Dim& row,
                                      const Dim& length, const Dim& step) {
  if (!prefetches_ || rows_.most < many_rows || !right.tensor || slides(product) || is_chosen(product))
    return;
  const bool is_one_block = product.depth.extent.constant().value_or(INT64_MAX) <= depth_at_once(product);
  if (is_one_block && needs_packing(origin(), product)) return;
  const int64_t depth = depth_at_once(product), steps = depth / block_;
  const int64_t parts = steps * ((rows_.most + blocks_of_.rows - 1) / blocks_of_.rows);
  const int64_t lines = (depth + parts - 1) / parts;
  const Dim part = shape::cdiv(length, Dim(block_)) * row + step;
  const Dim there = Dim(depth_label_) + length - Dim(block_) * step + Dim(lines) * part;
  Prefetch made{{{depth_label_, lines}, {label_, columns(product)}}, right.tensor, {}, {}};
  for (const Index& index : right.at) {
    if (index.table) return;
    made.at.push_back(index.dim.substitute({{depth_label_, there}}));
  }
  made.facts = {shape::at_least(rows_.stretch.length, Dim(rows_.most))};
  if (shape::holds(made.facts.front(), {}) == true) made.facts.clear();
  emit(std::move(made));
}

void ContractionMaker::view_right(const Product& product, const Dim& row, const Dim& column, const Dim& first,
                                  const Dim& length, const Dim& step, int64_t line) {
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
  BlockPlace across = place_of_columns(product, column);
  const graph::Scalar& right = g_.scalars[product.right];
  if (graph::column_of_panels(g_, right)) {
    const Dim width = g_.type(right.target).shape.back();
    if (shape::mod(width, Dim(columns(product))).is(0)) {  // each panel is some blocks, all whole
      across.bounds.clear();
      if (!product.column.extent.constant())  // else there are as many: what is shorter is not packed
        add_once(shape::at_least(product.column.extent, width), out_.guard);
    }
  }
  from.across = across.along;
  from.row_label = across.label;
  from.row_base = across.base;
  from.bounds.insert(from.bounds.end(), across.bounds.begin(), across.bounds.end());
  made.from = access_to(product.right, from);
  prefetch_right(product, made.from, row, length, step);
  made.checked = std::any_of(made.from.at.begin(), made.from.at.end(),
                             [](const Index& index) { return index.table.has_value(); });
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

}  // namespace axon::tile
