// See products.h.
#include "tile/from_task/products.h"

#include <algorithm>
#include <bit>

#include "task/facts.h"

namespace axon::tile {

namespace {

constexpr const char* instruction = "mma.m16n8k16";
constexpr int64_t rows_at_once = 16, columns_at_once = 8, depth_at_once = 16;
constexpr int64_t elements_of_a_copy = 8;  ///< of 2 bytes each

layout::Iter on(const char* axis, int64_t extent, int64_t stride) { return {Dim(extent), stride, {axis}}; }

std::string why_not_multiplied(Elem elem) {
  const std::string name(base::elem_name(elem));
  return base::is_float(elem) && base::elem_bytes(elem) > 2
             ? "instructions would round operands of " + name + " to fewer bits"
             : "instructions multiply f16 and bf16 so far, not " + name;
}

int log2_of(int64_t n) { return std::countr_zero(static_cast<uint64_t>(n)); }

}  // namespace

/// Instructions take what both operands have in memory.
const Product& ProductMaker::the_product(const ProductForm& form) {
  if (form.products.size() > 1) throw Declined{"it is several products"};
  if (form.form.reductions.size() > 1) throw Declined{"its rows have statistics"};
  if (!form.row) throw Declined{"it has a single row"};
  const Product& product = form.products.front();
  if (!product.outer.empty()) throw Declined{"it has several depths"};
  return product;
}

MadeProgram ProductMaker::run() {
  open();
  choose_tiles();
  rows_ = stretch_of(row_axis_);
  columns_ = stretch_of(*form_.along);
  Body statements;
  body_ = &statements;
  over_axes(form_.rows, [&] {
    before_ = body_;
    multiply();
    store(place());
  });
  return close(statements, false);
}

void ProductMaker::multiply() {
  const Operand left = operand(product_.left, true), right = operand(product_.right, false);
  const TileId sums = tile("sums", Elem::f32, true);
  const Use all{sums, {row_label_, label_}};
  emit(Map{all, {of_number({}, Elem::f32)}, {}});
  for (const Operand* o : {&left, &right}) fetch(*o, Dim(0));
  const Var step = shape::fresh_var(name_for("s"));
  const Dim count = shape::cdiv(product_.depth.extent, Dim(blocks_of_.depth));
  loop(step, count, {sums, left.staged, right.staged}, [&] {
    emit(Barrier{});
    for (const Operand* o : {&left, &right}) share(*o);
    emit(Barrier{});
    for (const Operand* o : {&left, &right}) fetch(*o, Dim(step) + 1);
    for (int64_t first = 0; first < blocks_of_.depth; first += depth_at_once) {
      for (const Operand* o : {&left, &right}) read(*o, first);
      emit(Gemm{all, fragment(left), fragment(right), Elem::f32, instruction, false});
    }
  });
  name_result(all);
}

/// The accumulators are what the outputs read of the product.
void ProductMaker::name_result(const Use& sums) {
  for (const uint32_t axis : {row_axis_, *form_.along})
    add_range(node_.domain[axis].var, node_.domain[axis].extent);
  results_ = {sums.tile};
  const RowReduction& sum = form_.reductions.front();
  if (sum.kept == sum.in) return;
  results_[0] = tile("total", sum.kept, true);
  Copy narrowed{{results_[0], sums.labels}, {}, {}};
  narrowed.from.tile = sums.tile;
  for (const Var label : sums.labels) narrowed.from.at.push_back({std::nullopt, Dim(label)});
  emit(std::move(narrowed));
}

// ---- tiles ----

/// Warps are `warps_down` by `warps_across`, each with a part of the accumulators; what the warps of a row
/// multiply from the left they all have, and likewise of a column.
void ProductMaker::choose_tiles() {
  const ProductBlocks& b = blocks_of_;
  if (out_.machine.warps != b.warps_down * b.warps_across || out_.machine.lanes != 32)
    throw Declined{"the machine has no such warps"};
  const int64_t down = b.rows / b.warps_down / rows_at_once,
                across = b.columns / b.warps_across / columns_at_once;
  block_ = std::max(b.rows, b.columns);
  block_shape_ = {b.rows, b.columns};
  const layout::Iter warp_down = on("warp", b.warps_down, b.warps_across),
                     warp_across = on("warp", b.warps_across, 1);
  const layout::Iter high = on("lane", 8, 4), low = on("lane", 4, 1);
  blocks_ = layout("sums", {warp_down, on("m", down, 4 * across), on("m", 2, 2), high, warp_across,
                            on("m", across, 4), low, on("m", 2, 1)});
  left_layout_ =
      layout("left", {warp_down, on("m", down, 4), on("m", 2, 1), high, on("m", 2, 2), low, on("v", 2, 1)},
             {warp_across});
  right_layout_ = layout("right", {on("m", 2, 1), low, on("v", 2, 1), warp_across, on("m", across, 2), high},
                         {warp_down});
}

/// Of a block in memory, `inner` elements next to each other: each thread has 16 bytes, and more where there
/// are fewer threads.
LayoutId ProductMaker::staging(int64_t outer, int64_t inner) {
  const Machine& m = out_.machine;
  const int64_t across = inner / elements_of_a_copy, down = m.lanes / across;
  return layout("staged", {on("m", outer / (m.warps * down), elements_of_a_copy), on("warp", m.warps, 1),
                           on("lane", down, across), on("lane", across, 1), on("m", elements_of_a_copy, 1)});
}

/// The same in shared memory, where the 16 bytes of eight rows one below the other lie in different banks.
LayoutId ProductMaker::shared(int64_t outer, int64_t inner) {
  constexpr int64_t elements_of_all_banks = 64;
  const int of_copy = log2_of(elements_of_a_copy);
  layout::Swizzled made;
  made.layout.shards = {on("m", outer * inner, 1)};
  made.swizzle.base = of_copy;
  made.swizzle.bits = std::min(log2_of(inner) - of_copy, 3);
  made.swizzle.shift = log2_of(std::max(inner, elements_of_all_banks)) - of_copy;
  return out_.layouts.add({name_for("shared"), made, ""});
}

TileId ProductMaker::made(const std::string& name, Elem elem, std::vector<int64_t> shape, LayoutId place,
                          Space space) {
  Tile t;
  t.name = name_for(name);
  t.space = space;
  t.elem = elem;
  t.shape = std::move(shape);
  t.layout = place;
  if (space == Space::scratch) {
    t.offset = made_.scratch_bytes;
    int64_t bytes = base::elem_bytes(elem);
    for (const int64_t extent : t.shape) bytes *= extent;
    made_.scratch_bytes += bytes;
  }
  return out_.tiles.add(std::move(t));
}

ProductMaker::Operand ProductMaker::operand(graph::ScalarId load, bool is_left) {
  const ProductBlocks& b = blocks_of_;
  const graph::Scalar& s = g_.scalars[load];
  if (s.op != graph::Op::load || s.target.is_local() || !offset_of_load(p_, g_, load))
    throw Declined{"an operand is no tensor"};
  Operand o;
  o.load = load;
  o.is_left = is_left;
  o.other = is_left ? row_label_ : label_;
  o.along = depth_label_;
  o.extent = is_left ? b.rows : b.columns;
  const Var other = node_.domain[is_left ? row_axis_ : *form_.along].var;
  o.depth_is_last = step_of_load(p_, g_, load, product_.depth.var) == 1;
  if (!o.depth_is_last && step_of_load(p_, g_, load, other) != 1)
    throw Declined{"an operand goes across memory"};
  const Elem elem = g_.type(g_.scalars[load].target).elem;
  const std::vector<int64_t> shape =
      o.depth_is_last ? std::vector<int64_t>{o.extent, b.depth} : std::vector<int64_t>{b.depth, o.extent};
  const std::string name = p_.buffers[p_.place(g_.scalars[load].target).buffer].name;
  if (elem != Elem::bf16 && elem != Elem::f16) throw Declined{why_not_multiplied(elem)};
  if (!elem_) elem_ = elem;
  if (elem != *elem_) throw Declined{"its operands have different types"};
  o.staged = made(name, elem, shape, staging(shape[0], shape[1]));
  o.shared = made(name, elem, shape, shared(shape[0], shape[1]), Space::scratch);
  o.fragment = is_left ? made("a", elem, {o.extent, depth_at_once}, left_layout_)
                       : made("b", elem, {depth_at_once, o.extent}, right_layout_);
  return o;
}

// ---- operations ----

BlockPlace ProductMaker::place() const {
  BlockPlace out;
  out.is_block = true;
  out.along = node_.domain[*form_.along].var;
  out.label = label_;
  out.across = node_.domain[row_axis_].var;
  out.row_label = row_label_;
  out.row_base = rows_.first;
  out.base = columns_.first;
  out.number = Dim(0);
  for (const Dim& end : rows_.ends) out.bounds.push_back(shape::less(rows_.first + Dim(row_label_), end));
  for (const Dim& end : columns_.ends) out.bounds.push_back(shape::less(columns_.first + Dim(label_), end));
  return out;
}

/// The block of a step, into registers.
void ProductMaker::fetch(const Operand& o, const Dim& step) {
  const Stretch& stretch = o.is_left ? rows_ : columns_;
  BlockPlace from;
  from.is_block = true;
  from.along = product_.depth.var;
  from.label = o.along;
  from.base = Dim(blocks_of_.depth) * step;
  from.across = node_.domain[o.is_left ? row_axis_ : *form_.along].var;
  from.row_label = o.other;
  from.row_base = stretch.first;
  for (const Dim& end : stretch.ends) from.bounds.push_back(shape::less(from.row_base + Dim(o.other), end));
  from.bounds.push_back(shape::less(from.base + Dim(o.along), product_.depth.extent));
  Copy copy;
  copy.to = {o.staged,
             o.depth_is_last ? std::vector<Var>{o.other, o.along} : std::vector<Var>{o.along, o.other}};
  copy.from = access_to(o.load, from);
  copy.bounds = {from.bounds, Number()};
  emit(std::move(copy));
}

/// From registers into shared memory.
void ProductMaker::share(const Operand& o) {
  const std::vector<Var> labels =
      o.depth_is_last ? std::vector<Var>{o.other, o.along} : std::vector<Var>{o.along, o.other};
  Access to;
  to.tile = o.shared;
  for (const Var label : labels) to.at.push_back({std::nullopt, Dim(label)});
  emit(Store{{o.staged, labels}, to, {}, false});
}

Use ProductMaker::fragment(const Operand& o) const {
  return {o.fragment, o.is_left ? std::vector<Var>{o.other, o.along} : std::vector<Var>{o.along, o.other}};
}

/// What a warp multiplies of the shared block, from `first` along the depth on.
void ProductMaker::read(const Operand& o, int64_t first) {
  Copy copy{fragment(o), {}, {}};
  copy.from.tile = o.shared;
  const Index depth{std::nullopt, Dim(o.along) + first}, other{std::nullopt, Dim(o.other)};
  copy.from.at = o.depth_is_last ? std::vector<Index>{other, depth} : std::vector<Index>{depth, other};
  emit(std::move(copy));
}

void ProductMaker::store(const BlockPlace& at) {
  for (uint32_t o = 0; o < form_.outputs.size(); ++o) {
    Access to = access_to_output(o, at);
    Use use = stored_value(form_.outputs[o], at);
    if (use.labels.size() != at.labels().size()) throw Declined{"an output is no element of the product"};
    emit(Store{use, std::move(to), at.bounds, false});
  }
}

}  // namespace axon::tile
