// See contractions.h.
#include "tile/from_task/contractions.h"

#include <algorithm>

#include "target/machine.h"
#include "task/facts.h"

namespace axon::tile {

namespace {

constexpr int64_t most_rows = 64, most_columns = 64;

}  // namespace

ContractionBlocks blocks_for(const Machine& machine, bool one_row) {
  ContractionBlocks out;
  out.one_row = one_row;
  if (one_row) {
    // Panels that are read side by side, each a stream of its own.
    const int64_t columns = machine.streams * target::x86_64().panel_columns;
    out.vectors = std::clamp<int64_t>(columns * 4 / machine.register_bytes, 1,
                                      std::max<int64_t>(machine.registers / 2, 1));
    return out;
  }
  // What is packed of all columns of a task stays in the nearest cache.
  if (machine.register_bytes < target::bytes_of_cache_line) out.depth = 128;
  // Accumulators leave registers for one vector of each column and one element of the left operand. With more
  // vectors of columns than two, a block of the depth would not stay in the nearest cache.
  constexpr int64_t most_at_once = 8;
  out.vectors = machine.registers < 5 ? 1 : 2;
  out.rows = std::clamp<int64_t>((machine.registers - 1) / out.vectors - 1, 1, most_at_once);
  return out;
}

/// Does the prover show that no stride is negative, as the verifier has to?
bool ContractionMaker::strides_are_known(const Tensor& tensor) const {
  return std::all_of(tensor.place.shards.begin(), tensor.place.shards.end(), [&](const layout::Iter& iter) {
    return shape::prove(p_.facts, shape::at_least(iter.stride, 0)).verdict == shape::Verdict::proved;
  });
}

MadeProgram ContractionMaker::run() {
  open();
  choose_lanes();
  if (blocks_of_.slides) bound_windows();
  if (blocks_of_.few_rows) bound_rows();
  if (!blocks_of_.one_row && !product_.row && product_.products.front().is_packed)
    throw Declined{"a right operand is packed for several rows"};
  if (blocks_of_.one_row) sum_side_by_side();
  results_.resize(form_.reductions.size());
  Body statements;
  body_ = &statements;
  over_axes(form_.rows, [&] {
    in_parts(product_.row, blocks_of_.one_row ? 1 : most_rows, rows_,
             [&] { in_parts(form_.along, most_columns, columns_, [&] { part_of_task(); }); });
  });
  return finish(statements);
}

/// As many columns of one row as the machine reads side by side: what is made of the sums may take more
/// registers than these do, and then goes in smaller blocks.
void ContractionMaker::sum_side_by_side() {
  for (const Product& product : product_.products) {
    if (product.is_packed) continue;
    const int64_t panels = lanes_ * blocks_for(out_.machine, true).vectors;
    int64_t columns =
        std::max(block_, needs_packing(origin(), product) ? std::max(panels, most_columns) : panels);
    for (const task::Coordinate& c : type_.coordinates)
      if (c.axis == form_.along)
        while (columns > block_ && c.tile % columns != 0) columns /= 2;
    columns_at_once_[product.reduction] = columns;
  }
}

MadeProgram ContractionMaker::finish(const Body& statements) {
  for (const Tensor& tensor : out_.tensors)
    if (!strides_are_known(tensor)) throw Declined{"the prover does not follow such extents"};
  if (made_.scratch_bytes > near_scratch()) throw Declined{"its blocks do not fit into scratch"};
  return close(statements, streams_);
}

// ---- loops around ----

void ContractionMaker::in_parts(std::optional<uint32_t> axis, int64_t most, Part& part,
                                const std::function<void()>& inside) {
  part = {axis, {Dim(0), Dim(1), {}}, 1};
  if (!axis) return inside();
  const graph::Axis& a = node_.domain[*axis];
  if (a.extent.is(0)) throw Declined{"it has no elements"};
  part.stretch = stretch_of(*axis);
  part.most = most_of_axis(type_, a, *axis);
  if (most == 1 && part.most > 1) {  // one row, which the guard says
    if (a.extent.constant()) throw Declined{"it has several rows"};
    out_.guard.push_back(shape::equal(a.extent, Dim(1)));
    part = {axis, {Dim(0), Dim(1), {}}, 1};
    return inside();
  }
  if (part.most <= most) return inside();
  const Stretch whole = part.stretch;
  const Var number = shape::fresh_var(name_for("p"));
  part.most = most;
  part.stretch.first = whole.first + Dim(most) * Dim(number);
  part.stretch.length = shape::min(Dim(most), whole.length - Dim(most) * Dim(number));
  loop(number, shape::cdiv(whole.length, Dim(most)), {}, inside);
}

void ContractionMaker::part_of_task() {
  for (const auto& axis : {product_.row, form_.along})
    if (axis) add_range(node_.domain[*axis].var, node_.domain[*axis].extent);
  for (const Product& product : product_.products)
    if (product.column.var != node_.domain[*form_.along].var) {
      more_columns_[product.column.var] = columns_;
      add_range(product.column.var, product.column.extent);
    }
  note_first_read();
  prefetch_scattered_outputs();
  ask_for_beginnings();
  // What is never evaluated fails no check.
  const auto outside = std::exchange(check_facts_, {shape::at_least(columns_.stretch.length, Dim(1))});
  if (blocks_of_.one_row)
    index_row();
  else
    number_runs();
  statistics();
  multiply_all();
  check_facts_ = outside;
  outputs();
}

/// A worker that has to wait may ask for the first panel meanwhile.
void ContractionMaker::note_first_read() {
  const Product& product = product_.products.front();
  if (product.is_packed || needs_packing(origin(), product)) return;
  const graph::Scalar& s = g_.scalars[product.right];
  for (const ScalarId arg : s.args)
    if (!graph::affine_index(g_, arg)) return;
  shape::Substitution first;
  for (const auto& [index, extent] : loops_) first[index] = Dim(0);
  const shape::Substitution outside = at_;
  at_[product.column.var] = columns_.stretch.first;
  at_[product.depth.var] = Dim(0);
  for (const graph::Axis& binder : product.outer) at_[binder.var] = Dim(0);
  std::vector<Dim> affine;
  for (const ScalarId arg : s.args) affine.push_back(graph::affine_index(g_, arg).value());
  FirstRead read{p_.place(s.target).buffer, index_of(s.target, affine, {}), {}};
  at_ = outside;
  for (Dim& d : read.index) d = d.substitute(first);
  read.elements = product.depth.extent * Dim(target::x86_64().panel_columns);
  made_.first_read = std::move(read);
}

void ContractionMaker::each_row(const std::function<void(const Dim&, const Dim&)>& inside,
                                const std::vector<TileId>& carries) {
  each_block_of_rows(
      [&](const Dim& block) {
        rows_of_block(
            block, [&](const Dim& row) { inside(block, row); }, carries);
      },
      carries);
}

void ContractionMaker::each_block_of_rows(const std::function<void(const Dim&)>& inside,
                                          const std::vector<TileId>& carries) {
  if (blocks_of_.one_row) return inside(Dim(0));
  const Var block = shape::fresh_var(name_for("g"));
  loop(block, shape::cdiv(rows_.stretch.length, Dim(blocks_of_.rows)), carries, [&] { inside(Dim(block)); });
}

void ContractionMaker::rows_of_block(const Dim& block, const std::function<void(const Dim&)>& inside,
                                     const std::vector<TileId>& carries) {
  if (blocks_of_.one_row) {
    at_row(Dim(0));
    return inside(Dim(0));
  }
  const Dim at_once(blocks_of_.rows), first = at_once * block;
  const Var row = shape::fresh_var(name_for("r"));
  loop(row, shape::min(at_once, rows_.stretch.length - first), carries, [&] {
    at_row(first + Dim(row));
    read_statistics(first + Dim(row));
    inside(Dim(row));
  });
}

// ---- before ----

void ContractionMaker::statistics() {
  std::vector<uint32_t> wanted;
  for (uint32_t r = 0; r < form_.reductions.size(); ++r)
    if (is_statistic(r)) wanted.push_back(r);
  if (wanted.empty()) return;
  if (blocks_of_.one_row) {
    at_row(Dim(0));
    for (const uint32_t r : wanted) reduce(r);
    return;
  }
  const Var row = shape::fresh_var(name_for("r"));
  loop(row, rows_.stretch.length, {}, [&] {
    at_row(Dim(row));
    for (const uint32_t r : wanted) {
      reduce(r);
      auto& kept = numbers_[r];
      if (!kept) kept = scratch("number", out_.tiles[results_[r]].elem, {rows_.most});
      Access to;
      to.tile = kept;
      to.at = {at(Dim(row))};
      emit(Store{{results_[r], {}}, to, {}, false});
    }
  });
}

// ---- sums ----

/// Products of one left operand, along one depth, go through it together.
void ContractionMaker::multiply_all() {
  std::vector<std::vector<const Product*>> groups;
  for (const Product& product : product_.products) {
    if (blocks_of_.one_row) {
      multiply_one_row(product);
      continue;
    }
    clear(product);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      const Product& other = *group.front();
      return other.left == product.left && other.depth.var == product.depth.var && other.outer.empty() &&
             product.outer.empty() && slides(other) == slides(product);
    });
    if (same == groups.end())
      groups.push_back({&product});
    else
      same->push_back(&product);
  }
  for (const auto& group : groups) {
    std::vector<TileId> sums;
    for (const Product* product : group) sums.push_back(sums_.at(product->reduction));
    over_binders(group.front()->outer, sums, [&] { over_blocks(group, sums); });
  }
}

/// Blocks of the depth, in which a block of the right operand stays in the nearest cache while rows go over
/// it.
void ContractionMaker::over_blocks(const std::vector<const Product*>& group,
                                   const std::vector<TileId>& sums) {
  const Product& one = *group.front();
  const Elem in = multiplied_in(one);
  const bool direct = is_direct(one.left, in);
  if (!direct) staged_for(one.left, in);
  const Var step = shape::fresh_var(name_for("k"));
  const Dim depth(depth_at_once(one)), first = depth * Dim(step), end = depth_of(one).extent;
  const Dim length = shape::min(depth, end - first);
  loop(step, shape::cdiv(end, depth), sums, [&] {
    if (!direct) stage(one, {first, length, {one.depth.extent}});
    for (const Product* product : group) over_columns(*product, first, length);
  });
}

/// The guard says that there are few rows, where these read panels and the machine has to ask for them, or
/// fewer, where rows of what is packed are asked for: of more, the multiply-adds would wait for pages.
void ContractionMaker::bound_rows() {
  constexpr int64_t few = 32, very_few = 16;
  const auto any = [&](const std::function<bool(const Product&)>& is) {
    return std::any_of(product_.products.begin(), product_.products.end(), is);
  };
  const bool read_panels = any(
      [&](const Product& product) { return !is_chosen(product) && !product.is_packed && !packs(product); });
  const bool gains = read_panels || any([&](const Product& product) { return asks_for_next_rows(product); });
  if (!product_.row || !gains || out_.machine.ahead_of_rows == 0) throw Declined{"few rows are as many"};
  const Dim rows = node_.domain[*product_.row].extent;
  const int64_t most = read_panels ? few : very_few;
  if (rows.constant().value_or(0) > most) throw Declined{"it has many rows"};
  if (!rows.constant()) add_once(shape::at_most(rows, Dim(most)), out_.guard);
}

void ContractionMaker::over_columns(const Product& product, const Dim& first, const Dim& length) {
  const TileId kept = sums_.at(product.reduction);
  if (product.is_packed) pack_ahead(product, first, length);
  if (is_chosen(product)) return over_runs(product, first, length);
  const Var column = shape::fresh_var(name_for("c")), row = shape::fresh_var(name_for("g"));
  const bool is_turned = packs(product) && runs_along_depth(origin(), product);
  if (asks_for_next_rows(product))
    pack_rows(product, first, length, [&](const Dim& d) { ask_while_packing(product, first, d); });
  else if (packs(product) && !is_turned)
    pack_rows(product, first, length);
  const auto inside = [&] {
    if (is_turned) pack(product, Dim(column), first, length);
    loop(row, shape::cdiv(rows_.stretch.length, Dim(blocks_of_.rows)), {kept},
         [&] { add_block(product, Dim(row), Dim(column), first, length); });
  };
  loop(column, shape::cdiv(columns_of(product).stretch.length, Dim(columns(product))), {kept}, inside,
       steps_by_data(product.column.var, columns(product)));
}

/// What is computed before the product would leave memory idle: it begins with the first lines of each part
/// of the first panel meanwhile.
void ContractionMaker::ask_for_beginnings() {
  constexpr int64_t bytes = 2048;
  const Product& product = product_.products.front();
  const bool begins_at_once = is_direct(product.left, multiplied_in(product));
  if (!blocks_of_.one_row || begins_at_once || out_.machine.ahead == 0 || product.is_packed ||
      is_chosen(product) || needs_packing(origin(), product) || !product.outer.empty())
    return;
  const int64_t parts = parts_of_depth(product);
  const int64_t line = columns(product) * base::elem_bytes(g_.type(g_.scalars[product.right].target).elem);
  const Dim steps = steps_of_part(depth_of(product).extent, block_, parts);
  for (int64_t part = 0; part < parts; ++part) {
    at_[product.depth.var] = Dim(block_ * part) * steps + Dim(depth_label_);
    ask_for(access_to(product.right, place_of_columns(product, Dim(0))),
            {{{depth_label_, bytes / line}, {label_, columns(product)}}, {}, {}, {}});
  }
  at_.erase(product.depth.var);
}

}  // namespace axon::tile
