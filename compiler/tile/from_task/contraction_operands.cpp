// See contraction_operands.h.
#include "tile/from_task/contraction_operands.h"

#include <algorithm>

#include "graph/contraction.h"
#include "target/machine.h"

namespace axon::tile {

constexpr int64_t many_rows = 32;  ///< that take longer than memory for what they multiply

void OperandViews::at_row(const Dim& row) {
  if (rows_.axis) at_[node_.domain[*rows_.axis].var] = rows_.stretch.first + row;
}

/// Is the operand brought together block by block?
bool OperandViews::packs(const Product& product) const {
  return !product.is_packed && may_pack_ && needs_packing(origin(), product);
}

/// Is it packed row by row, of which rows of the next block come while few rows are multiplied?
bool OperandViews::asks_for_next_rows(const Product& product) const {
  return blocks_of_.few_rows && prefetches_ && packs(product) && !is_chosen(product) &&
         !runs_along_depth(origin(), product);
}

// ---- left operands in scratch ----

void OperandViews::read_statistics(const Dim& row) {
  for (const auto& [number, kept] : numbers_) {
    results_[number] = tile("number", out_.tiles[kept].elem, false);
    Copy copy{{results_[number], {}}, {}, {}};
    copy.from.tile = kept;
    copy.from.at = {at(row)};
    emit(std::move(copy));
  }
}

/// A tensor whose elements are those that are multiplied.
bool OperandViews::is_direct(graph::ScalarId left, Elem in) const {
  const graph::Scalar& s = g_.scalars[left];
  return s.op == graph::Op::load && !s.target.is_local() && g_.type(s.target).elem == in &&
         offset_of_load(p_, g_, left);
}

TileId OperandViews::staged_for(graph::ScalarId left, Elem in) {
  const auto [found, fresh] = staged_.try_emplace(left);
  if (!fresh) return found->second;
  const int64_t rows = most_blocks_of_rows() * blocks_of_.rows;
  const int64_t depth = blocks_of_.one_row ? most_depth : blocks_of_.depth;
  return found->second = scratch("left", in, {rows, depth / block_, block_});
}

/// The left operand's rows along a stretch of the depth, into scratch.
void OperandViews::stage(const Product& product, const Stretch& stretch) {
  if (blocks_of_.one_row) {
    at_row(Dim(0));
    return stage_row(product, stretch, Dim(0));
  }
  const Var row = shape::fresh_var(name_for("r"));
  loop(row, rows_.stretch.length, {}, [&] {
    at_row(Dim(row));
    read_statistics(Dim(row));
    stage_row(product, stretch, Dim(row));
  });
}

void OperandViews::stage_row(const Product& product, const Stretch& stretch, const Dim& row) {
  const TileId to = staged_.at(product.left);
  const Elem elem = out_.tiles[to].elem;
  const size_t known = around_.size();
  add_range(product.depth.var, product.depth.extent);
  in_run(product);
  blocks(product.depth.var, stretch, {}, [&](const BlockPlace& place) {
    Use made;
    if (product.run.empty()) {
      Map map{{tile("left", elem, true), place.labels()}, {}, {}};
      std::map<ScalarId, uint32_t> known_exprs;
      // Integers of 8 bits are widened to f32 at once.
      const ScalarId left =
          exact_products(product) > 0 ? graph::under_widening_casts(g_, product.left) : product.left;
      const uint32_t last = converted(map, expr(map, known_exprs, left, place), elem);
      if (last + 1 != map.exprs.size()) throw Declined{"an operand is computed already"};
      made = map.to;
      emit(std::move(map));
    } else {
      const Elem stored = base::computed_as(g_.type(g_.scalars[product.left].target).elem);
      made = converted_to(elem, copied(product.left, tile("left", stored, true), place));
    }
    Access access;
    access.tile = to;
    access.at = {at(row), at(place.number), at(Dim(place.label))};
    emit(Store{made, access, {}, false});
  });
  around_.resize(known);
}

/// Where binders are one axis of the left operand's tensor, the index along it is that of the last of them.
void OperandViews::in_run(const Product& product) {
  for (const graph::Axis& binder : product.run) at_[binder.var] = Dim(0);
}

// ---- views ----

/// What both operands are summed over, between other labels.
std::vector<Var> OperandViews::labels_of_depth(const Product& product, std::vector<Var> before,
                                               const std::vector<Var>& behind) const {
  if (slides(product)) before.push_back(window_label_);
  before.push_back(depth_label_);
  before.insert(before.end(), behind.begin(), behind.end());
  return before;
}

/// Of both operands.
std::pair<TileId, TileId> OperandViews::views_of(const Product& product, int64_t line) {
  auto& [left, right] = views_[{product.reduction, line}];
  if (left) return {left, right};
  std::vector<int64_t> depth;
  if (slides(product)) depth.push_back(steps_of_line(product, line));
  depth.push_back(block_);
  Tile t;
  t.space = Space::view;
  t.name = name_for("a");
  t.elem = multiplied_in(product);
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
BlockPlace OperandViews::depth_place(const Product& product, const Dim& first) const {
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
void OperandViews::bound_window(const Product& product, BlockPlace& place) const {
  if (has_open_window(product))
    place.bounds.push_back(shape::less(Dim(window_label_), product.run.back().extent));
}

void OperandViews::view_left(const Product& product, const Dim& row, const Dim& first, const Dim& step,
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

/// Asks for steps of the depth, from one on, of all columns of a block. Rows that are read where they lie may
/// begin anywhere in a line of the cache, and then lie in one line more.
void OperandViews::prefetch_steps(const Product& product, Access right, Prefetch made, const Dim& first) {
  const int64_t more = needs_packing(origin(), product) ? 1 : 0;
  made.labels.push_back({label_, columns(product) + more});
  for (Index& index : right.at) index.dim = index.dim.substitute({{depth_label_, first + Dim(depth_label_)}});
  ask_for(right, std::move(made));
}

/// Is memory asked for what the product reads of the right operand later?
bool OperandViews::asks_ahead(const Product& product, const Access& right) const {
  return prefetches_ && right.tensor && !slides(product) && !is_chosen(product);
}

/// All rows of a task go over a block of the right operand before the next one, which may come from far away:
/// each step of each block of rows asks for a part of it. What lies behind the depth of a panel is the next
/// panel. Fewer rows than a task may have would ask for a part only.
void OperandViews::prefetch_next_block(const Product& product, const Access& right, const Dim& row,
                                       const Dim& length, const Dim& step) {
  if (!asks_ahead(product, right) || rows_.most < many_rows) return;
  const int64_t depth = depth_at_once(product), steps = depth / block_;
  const int64_t parts = steps * most_blocks_of_rows();
  const int64_t lines = (depth + parts - 1) / parts;
  const Dim part = shape::cdiv(length, Dim(block_)) * row + step;
  Prefetch made;
  made.labels = {{depth_label_, lines}};
  made.facts = {shape::at_least(rows_.stretch.length, Dim(rows_.most))};
  if (shape::holds(made.facts.front(), {}) == true) made.facts.clear();
  prefetch_steps(product, right, std::move(made), length - Dim(block_) * step + Dim(lines) * part);
}

/// Few rows take no longer than memory for what they multiply: the first block of them asks for what lies
/// some way behind, line by line, as it goes along.
void OperandViews::prefetch_along(const Product& product, const Access& right, const Dim& row) {
  constexpr int64_t rows_ahead = 32;  // that are each on a page of its own
  const bool one_row = blocks_of_.rows == 1;
  const int64_t bytes_ahead = one_row ? out_.machine.ahead : out_.machine.ahead_of_rows;
  if (!asks_ahead(product, right) || bytes_ahead == 0 || !(blocks_of_.few_rows || one_row)) return;
  const int64_t line = target::x86_64().panel_columns * base::elem_bytes(out_.tensors[right.tensor].elem);
  const int64_t ahead = needs_packing(origin(), product) ? rows_ahead : bytes_ahead / line;
  Prefetch made;
  made.labels = {{depth_label_, block_}};
  made.along = true;
  prefetch_steps(product, right, std::move(made), Dim(ahead) * shape::max(1 - row, Dim(0)));
}

/// Asks for some rows of the right operand with all columns of the task, or of a later one: each may be on a
/// page of its own. Every `apart`th row from one on, unless a fact is false.
void OperandViews::ask_for_rows(const Product& product, const Rows& rows, std::vector<Fact> facts) {
  const auto is = [](bool what) {
    return [what](const Fact& fact) { return shape::holds(fact, {}) == what; };
  };
  if (std::any_of(facts.begin(), facts.end(), is(false))) return;
  std::erase_if(facts, is(true));
  const int64_t columns = columns_of(product).most;
  Access right = access_to(product.right, place_of_right(product, Dim(0), Dim(0)));
  for (Index& index : right.at)
    index.dim = index.dim.substitute({{depth_label_, rows.first + Dim(rows.apart) * Dim(depth_label_)},
                                      {label_, rows.further + shape::min(Dim(label_), Dim(columns - 1))}});
  // A row may begin anywhere in a line of the cache, and then has a part of one line more.
  ask_for(right, {{{depth_label_, rows.count}, {label_, columns + 1}}, {}, {}, std::move(facts)});
}

/// How many blocks of rows there are.
Dim OperandViews::blocks_of_rows() const { return shape::cdiv(rows_.stretch.length, Dim(blocks_of_.rows)); }

/// Few rows take no longer than memory for a right operand that is packed: while a block of it is packed and
/// multiplied, the next one comes. Of very few rows, packing takes much of the time, and asks for every other
/// row.
void OperandViews::ask_while_packing(const Product& product, const Dim& first, const Dim& step) {
  const Dim end = depth_of(product).extent, behind = first + Dim(depth_at_once(product));
  ask_for_rows(product, {shape::min(behind + step, end - 1), 1},
               {shape::less(behind, end), shape::at_least(shape::mod(step, Dim(2)), Dim(1)),
                shape::less(blocks_of_rows(), Dim(several_blocks))});
}

/// The more blocks of rows there are, the fewer rows each asks for. Behind the last block of the depth come
/// the next columns.
void OperandViews::ask_while_multiplying(const Product& product, const Dim& row, const Dim& column,
                                         const Dim& first, const Dim& step) {
  const Part& all = columns_of(product);
  const int64_t across = (all.most + columns(product) - 1) / columns(product);
  const int64_t most = std::max<int64_t>(block_ / across, 1);  // rows of all blocks
  const int64_t most_parts = std::min(most, (many_rows + blocks_of_.rows - 1) / blocks_of_.rows);
  const Dim end = depth_of(product).extent, behind = first + Dim(depth_at_once(product));
  const Dim of_step = Dim(block_) * step + Dim(most) * column;
  for (int64_t parts = 1; parts <= most_parts; parts *= 2) {
    std::vector<Fact> facts{shape::less(behind, end), shape::less(row, Dim(parts))};
    if (parts > 1) facts.push_back(shape::at_least(blocks_of_rows(), Dim(parts)));
    if (2 * parts <= most_parts) facts.push_back(shape::less(blocks_of_rows(), Dim(2 * parts)));
    const int64_t rows = most / parts, apart = parts < several_blocks && rows > 1 ? 2 : 1;
    const Dim from = shape::min(behind + of_step + Dim(rows) * row, end - rows);
    ask_for_rows(product, {from, rows / apart, Dim(0), apart}, std::move(facts));
  }
  if (product.outer.empty())
    ask_for_rows(product, {of_step, most, Dim(all.most)},
                 {shape::at_least(behind, end), shape::less(row, Dim(1)),
                  shape::less(all.stretch.first + Dim(all.most), product.column.extent)});
}

/// A block of the right operand as it lies in memory.
BlockPlace OperandViews::place_of_right(const Product& product, const Dim& column, const Dim& first) const {
  BlockPlace out = depth_place(product, first);
  const BlockPlace across = place_of_columns(product, column);
  out.across = across.along;
  out.row_label = across.label;
  out.row_base = across.base;
  out.bounds.insert(out.bounds.end(), across.bounds.begin(), across.bounds.end());
  return out;
}

void OperandViews::view_right(const Product& product, const Dim& row, const Dim& column, const Dim& first,
                              const Dim& length, const Dim& step, int64_t line) {
  const TileId view = views_of(product, line).second;
  BlockPlace from = depth_place(product, first + Dim(block_) * step);
  bound_window(product, from);
  View made{{view, labels_of_depth(product, {}, {label_})}, {}, {}};
  if (const auto packed = packed_.find({product.reduction, line}); packed != packed_.end()) {
    if (asks_for_next_rows(product)) ask_while_multiplying(product, row, column, first, step);
    made.from.tile = packed->second;
    const Dim depth = Dim(block_) * step + Dim(depth_label_);
    made.from.at = {at(depth), at(Dim(label_))};
    const Dim lanes(lanes_), d(depth_label_), e(label_);
    if (out_.tiles[packed->second].shape.size() == 3) {
      made.from.at.insert(made.from.at.begin(), at(column));
      if (product.is_packed)
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
  prefetch_next_block(product, made.from, row, length, step);
  prefetch_along(product, made.from, row);
  made.checked = std::any_of(made.from.at.begin(), made.from.at.end(),
                             [](const Index& index) { return index.table.has_value(); });
  made.bounds = {from.bounds, Number()};
  if (needs_packing(origin(), product)) return emit(std::move(made));
  // Panels have whole vectors: only the depth has to be filled.
  auto& panel = panels_[{product.reduction, line}];
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
