// See maker.h: loops over rows, reductions, outputs.
#include "tile/from_task/maker.h"

#include <algorithm>

#include "tile/pointwise.h"

namespace axon::tile {

namespace {

constexpr int64_t most_kept = 8192;  ///< elements of a row that are kept in scratch

/// An argmax is made of a maximum and a minimum (row_form.cpp).
Pointwise operator_for(const RowReduction& r) { return graph::operator_of(r.monoid).value(); }

}  // namespace

MadeProgram ProgramMaker::of_nothing() {
  open();
  return close({}, false);
}

MadeProgram ProgramMaker::run() {
  open();
  choose_lanes();
  results_.resize(form_.reductions.size());
  plan_kept();
  Body statements;
  body_ = &statements;
  level(0);
  return close(statements, streams_);
}

/// Statements at the points of the first rows, and the loops inside.
void ProgramMaker::level(size_t rows_around) {
  for (uint32_t r = 0; r < form_.reductions.size(); ++r)
    if (form_.reductions[r].level == rows_around) reduce(r);
  if (rows_around == form_.rows.size()) return store_outputs();
  const uint32_t axis = form_.rows[rows_around];
  const graph::Axis& a = node_.domain[axis];
  if (has_rows_at_once() && rows_around + 1 == form_.rows.size()) return rows_at_once();
  const Stretch stretch = stretch_of(axis);
  const Var row = shape::fresh_var(name_for(shape::var_name(a.var)));
  add_range(a.var, a.extent);
  const bool alone = stretch.length.is(1), at_first = form_.has_own_reductions && has_one_at_most(axis);
  at_[a.var] = alone || at_first ? stretch.first : stretch.first + Dim(row);
  if (alone) return level(rows_around + 1);
  loop(row, stretch.length, {}, [&] { level(rows_around + 1); });
}

/// The guard says it.
void ProgramMaker::suppose(const Fact& fact) {
  const auto known = fact.lhs.constant() && fact.rhs.constant() ? shape::holds(fact, {}) : std::nullopt;
  if (known == false) throw Declined{"it is for other sizes"};
  if (!known) add_once(fact, out_.guard);
}

/// What is done for each row is done for all rows that the threads have at once.
void ProgramMaker::rows_at_once() {
  for (const RowReduction& r : form_.reductions)
    if (r.level != form_.rows.size()) throw Declined{"it reduces more than rows"};
  const graph::Axis& a = node_.domain[axis_of_rows()];
  if (choices_.rows_of_block > 0) suppose(shape::at_most(Dim(rows_at_once_), a.extent));
  if (choices_.rows_for_all) suppose(shape::at_most(Dim(out_.machine.warps), a.extent));
  if (choices_.most_of_row > 0)
    for (const RowReduction& r : form_.reductions)
      suppose(shape::at_most(r.along.extent, Dim(choices_.most_of_row)));
  at_once_ = stretch_of_rows();
  add_range(a.var, a.extent);
  const auto inside = [&](const Dim& first) {
    row_base_ = first;
    before_ = body_;
    level(form_.rows.size());
  };
  if (at_once_.blocks) return inside(at_once_.first);
  const Var block = shape::fresh_var(name_for(shape::var_name(a.var)));
  loop(block, shape::cdiv(at_once_.length, Dim(rows_at_once_)), {},
       [&] { inside(at_once_.first + Dim(rows_at_once_) * Dim(block)); });
}

// ---- reductions ----

void ProgramMaker::reduce(uint32_t number) {
  const RowReduction& r = form_.reductions[number];
  if (!r.outer.empty()) forget_block();
  const bool is_row = r.first.is(0) && r.end == r.along.extent;
  if (has_rows_at_once()) is_one_block(r.along.extent);
  TileId total;
  if (is_row && r.outer.empty() && is_one_block(r.end)) {
    total = reduced_at_once(r);
  } else {
    total = reduced(r);
  }
  if (!r.outer.empty()) forget_block();
  results_[number] = total;
  if (r.kept == r.in) return;
  results_[number] = tile("total", r.kept, labels_of_rows());
  Copy narrowed{{results_[number], labels_of_rows()}, {}, {}};
  narrowed.from.tile = total;
  for (const Var label : labels_of_rows()) narrowed.from.at.push_back({std::nullopt, Dim(label)});
  emit(std::move(narrowed));
}

/// Of one block.
TileId ProgramMaker::reduced_at_once(const RowReduction& r) {
  const Pointwise op = operator_for(r);
  const TileId total = tile("total", r.in, labels_of_rows());
  const size_t known = around_.size();
  add_range(r.along.var, r.along.extent);
  const Dim end = placed(r.end, {});
  blocks(r.along.var, {Dim(0), end, {end}, Dim(1)}, {}, [&](const BlockPlace& place) {
    const TileId term = tile("term", r.in, place.labels());
    Map made{{term, place.labels()}, {}, {place.bounds, {}}};
    if (!place.bounds.empty()) made.bounds.fill = neutral(op, r.in);
    std::map<ScalarId, uint32_t> known_exprs;
    const uint32_t last = converted(made, expr(made, known_exprs, r.term, place), r.in);
    if (last + 1 != made.exprs.size()) throw Declined{"a reduction has a term that is computed already"};
    emit(std::move(made));
    fold_into(total, op, r.in, term);
  });
  around_.resize(known);
  return total;
}

TileId ProgramMaker::reduced(const RowReduction& r) {
  const Pointwise op = operator_for(r);
  const TileId sum = tile("sum", r.in, labels_of_block());
  emit(Map{{sum, labels_of_block()}, {of_number(neutral(op, r.in), r.in)}, {}});
  over_outer(r, 0, sum);
  const TileId total = tile("total", r.in, labels_of_rows());
  fold_into(total, op, r.in, sum);
  return total;
}

/// Points of its outer binders, of these from number `next` on, that the data does not leave out.
void ProgramMaker::over_outer(const RowReduction& r, size_t next, TileId sum) {
  if (next == r.outer.size()) return reduce_blocks(r, sum);
  const OuterBinder& binder = r.outer[next];
  const auto& [first, end] = binder.by_data;
  RowReduction inner = r;
  CountUses counts;
  if (is_known_before(binder.by_data, {binder.var, r.along.var})) {
    counts = {number_before(first, {}), number_before(end, {})};
    if (binder.unmasked.valid()) inner.term = binder.unmasked;
  }
  over_binders(
      {binder}, {sum}, [&] { over_outer(inner, next + 1, sum); }, counts);
}

/// Threads of a warp exchange what they have in registers, warps that have one row through scratch.
void ProgramMaker::fold_into(TileId total, Pointwise op, Elem in, TileId sum) {
  const Machine& m = out_.machine;
  if (m.warps == 1 || has_rows_at_once())
    return emit(Reduce{op, {total, labels_of_rows()}, {sum, labels_of_block()}, in});
  const auto made = [&](const char* name, std::vector<int64_t> shape, LayoutId place) {
    const TileId id = tile(name, in, false);
    out_.tiles[id].shape = std::move(shape);
    out_.tiles[id].layout = place;
    return id;
  };
  const layout::Iter lanes{Dim(m.lanes), 1, "lane"}, warps{Dim(m.warps), 1, "warp"};
  const Var warp = shape::fresh_var(name_for("w")), run = shape::fresh_var(name_for("k"));
  const int64_t each = block_ / runs_ / m.warps;
  const Use by_warp{made("by_warp", {runs_, m.warps, each}, blocks_), {run, warp, label_}};
  Copy split{by_warp, {}, {}};
  split.from.tile = sum;
  split.from.at = {{std::nullopt, Dim(each * m.warps) * Dim(run) + Dim(each) * Dim(warp) + Dim(label_)}};
  emit(std::move(split));
  const Use part{made("part", {m.warps}, layout("warps", {warps}, {lanes})), {warp}};
  emit(Reduce{op, part, by_warp, in});
  Access shared;
  shared.tile = shared_for(in);
  shared.at = {{std::nullopt, Dim(warp)}};
  emit(Barrier{});
  emit(Store{part, shared, {}, false});
  emit(Barrier{});
  const Use all{made("parts", {m.warps}, layout("every", {{Dim(m.warps), 1, "m"}}, {warps, lanes})), {warp}};
  emit(Copy{all, shared, {}});
  emit(Reduce{op, {total, {}}, all, in});
}

TileId ProgramMaker::shared_for(Elem elem) {
  const auto [found, fresh] = shared_.try_emplace(elem);
  if (!fresh) return found->second;
  const int64_t bytes = base::elem_bytes(elem), at = (made_.scratch_bytes + bytes - 1) / bytes * bytes;
  Tile t;
  t.name = name_for("shared");
  t.space = Space::scratch;
  t.elem = elem;
  t.shape = {out_.machine.warps};
  t.offset = at;
  t.layout = layout("line", {{Dim(out_.machine.warps), 1, "m"}});
  made_.scratch_bytes = at + out_.machine.warps * bytes;
  return found->second = out_.tiles.add(std::move(t));
}

void ProgramMaker::reduce_blocks(const RowReduction& r, TileId sum) {
  const BlockPlace rows = has_rows_at_once() ? place_of_rows() : BlockPlace();
  const Dim first = placed(r.first, rows), end = placed(r.end, rows);
  const bool is_row = r.first.is(0) && r.end == r.along.extent;
  const size_t known = around_.size();
  add_range(r.along.var, r.along.extent);
  if (!is_row) {
    around_.push_back(shape::at_least(Dim(r.along.var), r.first));
    around_.push_back(shape::less(Dim(r.along.var), r.end));
  }
  const Dim length = is_row ? end : shape::max(Dim(0), end - first);
  Stretch stretch{first, length, {end}};
  if (is_row && is_whole(r.end)) stretch.ends.clear();
  // Where rows differ in what counts of them, the blocks are those of the whole axis.
  const Dim count = choices_.one_block ? Dim(1) : shape::cdiv(r.along.extent, Dim(block_));
  if (has_rows_at_once()) stretch = {Dim(0), end, {end}, count, {first}};
  const auto part = [&](ScalarId term, const Counts& counts) {
    const auto inside = [&](const BlockPlace& place) {
      accumulate(operator_for(r), {sum, place.labels()}, term, place);
    };
    blocks(r.along.var, stretch, {sum}, inside, counts);
  };
  const bool is_short = shape::cdiv(r.along.extent, Dim(block_)).is(1);
  if (r.by_data.empty() || is_short || !is_known_before(r.by_data, {r.along.var})) {
    part(r.term, {});
  } else {
    reduce_by_data(r, part);
  }
  around_.resize(known);
}

/// Can the bounds that the data says be computed where there may be no points?
bool ProgramMaker::is_known_before(const DataRange& range, const std::vector<Var>& inside) const {
  const auto is_known = [&](ScalarId bound) {
    return !bound.valid() ||
           (loads_stand_before(bound, inside, true) && std::none_of(inside.begin(), inside.end(), [&](Var v) {
              return graph::depends_on(g_, bound, v);
            }));
  };
  return !has_rows_at_once() && is_known(range.first) && is_known(range.end);
}

/// Blocks that the data leaves; all points of those between the first and the last one count.
void ProgramMaker::reduce_by_data(const RowReduction& r,
                                  const std::function<void(ScalarId term, const Counts&)>& part) {
  const auto number = [&](int64_t n) { return graph::constant_int(g_, Elem::i64, n); };
  const auto block_of = [&](ScalarId point, int64_t more) {
    const ScalarId from = graph::apply(g_, graph::Op::sub, {point, graph::index_of(g_, r.first)});
    const ScalarId at = graph::apply(g_, graph::Op::add, {from, number(more)});
    return graph::apply(g_, graph::Op::div, {at, number(block_)});
  };
  const auto& [first, end] = r.by_data;
  Counts all, whole;
  if (first.valid()) all.first = block_of(first, 0), whole.first = block_of(first, block_ - 1);
  if (end.valid()) all.end = block_of(end, block_ - 1), whole.end = block_of(end, 0);
  if (!r.unmasked.valid()) return part(r.term, all);
  if (first.valid()) {
    const ScalarId last =
        end.valid() ? graph::apply(g_, graph::Op::min, {whole.first, all.end}) : whole.first;
    part(r.term, {all.first, last});
  }
  part(r.unmasked, whole);
  if (!end.valid()) return;
  const ScalarId rest =
      first.valid() ? graph::apply(g_, graph::Op::max, {whole.first, whole.end}) : whole.end;
  part(r.term, {rest, all.end});
}

void ProgramMaker::blocks(Var along, const Stretch& stretch, std::vector<TileId> carries,
                          const std::function<void(const BlockPlace&)>& inside, const Counts& counts) {
  const Dim count = stretch.blocks.value_or(shape::cdiv(stretch.length, Dim(block_)));
  const bool alone = count.is(1);
  const Var block = shape::fresh_var(name_for("b"));
  BlockPlace place;
  place.is_block = true;
  place.along = along;
  place.label = label_;
  place.number = alone ? Dim(0) : Dim(block);
  place.base = stretch.first + Dim(block_) * place.number;
  const auto length = stretch.length.constant();
  const bool is_whole = stretch.blocks ? alone && length == block_ : length.value_or(1) % block_ == 0;
  if (!is_whole)
    for (const Dim& end : stretch.ends)
      place.bounds.push_back(shape::less(place.base + Dim(place.label), end));
  for (const Dim& start : stretch.starts)
    if (!start.is(0)) place.bounds.push_back(shape::at_most(start, place.base + Dim(place.label)));
  if (has_rows_at_once()) add_rows_to(place);
  begin_statement(place);
  std::vector<Fact> has_elements = check_facts_;
  if (!length) has_elements.push_back(shape::at_least(stretch.length, Dim(1)));
  const auto first = number_before(counts.first, has_elements), end = number_before(counts.end, has_elements);
  if (!alone) loops_.emplace_back(block, count);
  Body made;
  Body *const outer = body_, *const outer_before = before_;
  before_ = outer;
  body_ = &made;
  std::swap(has_elements, before_facts_);
  inside(place);
  std::swap(has_elements, before_facts_);
  body_ = outer;
  before_ = outer_before;
  if (!alone) loops_.pop_back();
  end_statement();
  if (alone) return void(outer->insert(outer->end(), made.begin(), made.end()));
  emit(Loop{block, count, std::move(carries), std::move(made), std::nullopt, first, end});
}

std::optional<Use> ProgramMaker::number_before(ScalarId number, const std::vector<Fact>& facts) {
  if (!number.valid()) return std::nullopt;
  const auto known = std::exchange(check_facts_, facts);
  const Use made = value(number, {});
  check_facts_ = known;
  return made;
}

void ProgramMaker::add_rows_to(BlockPlace& place) const {
  const BlockPlace rows = place_of_rows();
  place.across = rows.along;
  place.row_label = rows.label;
  place.row_base = rows.base;
  place.bounds.insert(place.bounds.end(), rows.bounds.begin(), rows.bounds.end());
}

// ---- outputs ----

void ProgramMaker::store_outputs() {
  if (!form_.along) {
    const BlockPlace place = has_rows_at_once() ? place_of_rows() : BlockPlace();
    store_all(place);
    return;
  }
  if (form_.across) return store_squares();
  const graph::Axis& axis = node_.domain[*form_.along];
  const size_t known = around_.size();
  add_range(axis.var, axis.extent);
  for (const uint32_t outer : form_.joined)
    if (outer != form_.along) {
      // The index along the axis counts from the first row on.
      at_[node_.domain[outer].var] = Dim(0);
      add_range(node_.domain[outer].var, node_.domain[outer].extent);
    }
  reduce_down_columns();
  blocks(axis.var, stretch_of(*form_.along), {}, [&](const BlockPlace& place) { store_all(place); });
  around_.resize(known);
}

/// Does the index move by steps that nothing moves where loops and labels do, and one of them by 1? Only of
/// such stores it is shown that they write a box.
bool ProgramMaker::has_steady_steps(const Dim& index, const BlockPlace& place) const {
  std::vector<Var> vars = place.labels();
  for (const auto& [index_of_loop, extent] : loops_) vars.push_back(index_of_loop);
  bool moves = false, fills = false;
  for (const Var v : vars) {
    const auto linear = index.linear_in(v);
    if (!linear || std::any_of(vars.begin(), vars.end(), [&](Var w) { return linear->first.contains(w); }))
      return false;
    moves |= !linear->first.is(0);
    fills |= linear->first.is(1) || linear->first.is(-1);
  }
  return fills || !moves;
}

/// Blocks of as many rows as columns, in two loops.
void ProgramMaker::store_squares() {
  const graph::Axis &down = node_.domain[*form_.across], &axis = node_.domain[*form_.along];
  const Stretch rows = stretch_of(*form_.across);
  add_range(down.var, down.extent);
  add_range(axis.var, axis.extent);
  const Var block = shape::fresh_var(name_for("b"));
  loop(block, shape::cdiv(rows.length, Dim(block_)), {}, [&] {
    blocks(axis.var, stretch_of(*form_.along), {}, [&](const BlockPlace& columns) {
      BlockPlace place = columns;
      place.across = down.var;
      place.row_label = row_label_;
      place.row_base = rows.first + Dim(block_) * Dim(block);
      for (const Dim& end : rows.ends)
        place.bounds.push_back(shape::less(place.row_base + Dim(row_label_), end));
      store_all(place);
    });
  });
  around_.resize(around_.size() - 4);
}

/// Does the output have the axis of blocks as one of its own, or tasks whole blocks?
bool ProgramMaker::fills_axis(const graph::Output& output) const {
  const Dim along(node_.domain[*form_.along].var);
  return std::find(output.at.begin(), output.at.end(), along) != output.at.end() ||
         std::all_of(type_.coordinates.begin(), type_.coordinates.end(), [&](const task::Coordinate& c) {
           return c.axis != form_.along || c.tile % block_ == 0;
         });
}

/// Does an output read the buffer of one that is stored before it?
bool ProgramMaker::reads_what_is_stored() const {
  for (uint32_t o = 0; o < form_.outputs.size(); ++o)
    for (const ScalarId id : graph::loads_in(g_, form_.outputs[o])) {
      const graph::Value from = g_.scalars[id].target;
      for (uint32_t before = 0; before < o && !from.is_local(); ++before)
        if (p_.place(from).buffer == p_.place({type_.node, before}).buffer) return true;
    }
  return false;
}

/// What is read is there until all outputs are computed.
void ProgramMaker::store_all(const BlockPlace& place) {
  std::vector<std::optional<Use>> made(form_.outputs.size());
  if (reads_what_is_stored())
    for (uint32_t o = 0; o < made.size(); ++o) made[o] = output_at(o, place);
  for (uint32_t o = 0; o < made.size(); ++o) store(o, made[o], place);
}

/// Its value for each element of the block.
Use ProgramMaker::output_at(uint32_t o, const BlockPlace& place) {
  const Use use = stored_value(form_.outputs[o], place);
  if (use.labels.size() == place.labels().size()) return use;
  const Elem elem = out_.tiles[use.tile].elem;
  const Use whole{tile("all", elem, place.labels()), place.labels()};
  emit(Map{whole, {of_tile(use, elem)}, {}});
  return whole;
}

void ProgramMaker::store(uint32_t o, std::optional<Use> made, const BlockPlace& place) {
  Access to = access_to_output(o, place);
  for (const Index& index : to.at)
    if (!has_steady_steps(index.dim, place)) throw Declined{"it stores with steps that vary, or leave gaps"};
  if (form_.has_own_reductions && place.is_block && !fills_axis(node_.outputs[o]))
    throw Declined{"a task has a part of a block along an axis that is no output's own"};
  const Use use = made ? *made : output_at(o, place);
  // Rows of a square are shorter than a line of the caches, which have to put them together.
  const bool streams = place.is_block && !place.across && !has_threads() && lanes_ > 1;
  streams_ |= streams;
  emit(Store{use, std::move(to), place.bounds, streams});
}

// ---- what is kept ----

/// Finds values with elementary functions that a statement computes and a later one would compute again: they
/// are kept in scratch, block by block, where the row is not too long.
void ProgramMaker::plan_kept() {
  if (!choices_.keep_costly || form_.across || form_.has_own_reductions) return;
  struct Statement {
    ScalarId value;
    Var along;
  };
  std::vector<Statement> statements;
  for (const RowReduction& r : form_.reductions)
    if (r.outer.empty() && r.by_data.empty()) statements.push_back({r.term, r.along.var});
  if (form_.along)
    for (const ScalarId o : form_.outputs) statements.push_back({o, node_.domain[*form_.along].var});
  for (size_t s = 0; s < statements.size(); ++s) {
    std::set<ScalarId> later;
    for (size_t t = s + 1; t < statements.size(); ++t)
      if (statements[t].along == statements[s].along)
        for (const ScalarId id : graph::scalars_in(g_, statements[t].value)) later.insert(id);
    keep_shared(statements[s].value, statements[s].along, later);
  }
  int64_t offset = 0;
  if (choices_.one_block) return;
  for (const auto& [id, kept] : kept_) {
    out_.tiles[kept].offset = offset;
    offset += most_kept * base::elem_bytes(out_.tiles[kept].elem);
  }
  made_.scratch_bytes = offset;
  if (offset > near_scratch()) throw Declined{"what is kept does not fit into scratch"};
  for (const Var v : kept_along_) out_.guard.push_back(shape::at_most(extent_along(v), Dim(most_kept)));
}

void ProgramMaker::keep_shared(ScalarId value, Var along, const std::set<ScalarId>& later) {
  const auto is_costly = [&](ScalarId id) {
    const auto parts = graph::scalars_in(g_, id);
    return std::any_of(parts.begin(), parts.end(), [&](ScalarId part) {
      return graph::class_of(g_.scalars[part].op) == graph::OpClass::function;
    });
  };
  if (!graph::depends_on(g_, value, along) || !is_costly(value)) return;
  if (!later.contains(value) || has_checks(value)) {
    for (const ScalarId arg : g_.scalars[value].args) keep_shared(arg, along, later);
    return;
  }
  if (kept_.contains(value)) return;
  if (choices_.one_block) {
    kept_[value] = {};
    return;
  }
  Tile t;
  t.name = name_for("kept");
  t.space = Space::scratch;
  t.elem = base::computed_as(g_.scalars[value].elem);
  t.shape = {most_kept / block_, block_};
  layout::Layout line;
  line.shards = {layout::Iter{Dim(most_kept), 1, "m"}};
  t.layout = out_.layouts.add({name_for("line"), {line, {}}, ""});
  kept_[value] = out_.tiles.add(std::move(t));
  kept_along_.insert(along);
}

Dim ProgramMaker::extent_along(Var v) const {
  for (const RowReduction& r : form_.reductions)
    if (r.along.var == v) return r.along.extent;
  return node_.domain[*form_.along].extent;
}

}  // namespace axon::tile
