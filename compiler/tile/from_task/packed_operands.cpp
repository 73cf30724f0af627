// See packed_operands.h.
#include "tile/from_task/packed_operands.h"

#include <algorithm>

#include "task/facts.h"
#include "tile/from_task/runs.h"

namespace axon::tile {

void OperandMaker::pack_ahead(const Product& product, const Dim& first, const Dim& length) {
  check_loads(product);
  if (!slides(product)) return pack_values(product, first, length);
  const Var block = shape::fresh_var(name_for("b"));
  loop(block, shape::cdiv(columns_.stretch.length, Dim(columns())), {},
       [&] { pack_lines(product, Dim(block), first, length); });
}

/// Vectors of columns are a few loads of vectors.
void OperandMaker::check_loads(const Product& product) const {
  const Var column = node_.domain[*form_.along].var;
  for (const ScalarId load : graph::loads_in(g_, product.right)) {
    if (g_.scalars[load].target.is_local() || !graph::depends_on(g_, load, column)) continue;
    if (!is_packed_step(step_of_load(p_, g_, load, column)))
      throw Declined{"a right operand goes across memory"};
  }
  // The prover does not follow quotients by open extents where axes are products of sizes.
  const auto is_open = [](const graph::Axis& binder) { return !binder.extent.constant(); };
  const auto multiplies = [](const graph::Axis& axis) {
    return std::any_of(axis.extent.terms().begin(), axis.extent.terms().end(),
                       [](const shape::Term& term) { return term.factors.size() > 1; });
  };
  if (!product.run.empty() && std::any_of(product.run.begin() + 1, product.run.end(), is_open) &&
      std::any_of(node_.domain.begin(), node_.domain.end(), multiplies))
    throw Declined{"the prover does not follow such extents"};
  // Sums that are kept between iterations count as filled where a bound changes with these.
  for (const Fact& fact : bounded_value(g_, product.right).facts)
    for (const graph::Axis& binder : product.outer)
      if (fact.lhs.contains(binder.var) || fact.rhs.contains(binder.var))
        throw Declined{"bounds of windows change in loops around"};
}

graph::Axis OperandMaker::depth_of(const Product& product) const {
  if (!slides(product)) return product.depth;
  graph::Axis out{product.run[product.run.size() - 2].var, Dim(1)};
  for (size_t b = 0; b + 1 < product.run.size(); ++b) out.extent = out.extent * product.run[b].extent;
  return out;
}

/// As many products of an accumulator for any operand.
int64_t OperandMaker::depth_at_once(const Product& product) const {
  if (!slides(product)) return blocks_of_.depth;
  return std::max(blocks_of_.depth / window_of(product) / block_, int64_t{1}) * block_;
}

/// How many steps a window has at most.
int64_t OperandMaker::window_of(const Product& product) const {
  constexpr int64_t most = 8;  // of those that have any number
  return product.run.back().extent.constant().value_or(most);
}

bool OperandMaker::has_open_window(const Product& product) const {
  return slides(product) && !product.run.back().extent.constant();
}

void OperandMaker::bound_windows() {
  constexpr int64_t most_columns = 16;
  bool any = false;
  for (const Product& product : product_.products) {
    if (!slides(product)) continue;
    any = true;
    if (beyond(product, 0) > most_columns) throw Declined{"its windows are wide"};
    if (has_open_window(product))
      add_once(shape::at_most(product.run.back().extent, Dim(window_of(product))), out_.guard);
  }
  if (!any) throw Declined{"no windows slide"};
}

int64_t OperandMaker::lines_of(const Product& product) const {
  return std::min(product.slide->steps, window_of(product));
}

int64_t OperandMaker::steps_of_line(const Product& product, int64_t line) const {
  return (window_of(product) - line + product.slide->steps - 1) / product.slide->steps;
}

/// Columns that windows reach beyond their own.
int64_t OperandMaker::beyond(const Product& product, int64_t line) const {
  return (steps_of_line(product, line) - 1) * product.slide->columns;
}

/// The binders where the depth has this index, and what holds of them that the prover does not know.
std::vector<Fact> OperandMaker::at_depth(const Product& product, const Dim& number) {
  if (product.run.empty()) {
    at_[product.depth.var] = number;
    add_range(product.depth.var, product.depth.extent);
    return {};
  }
  for (const graph::Axis& binder : product.run) add_range(binder.var, binder.extent);
  std::vector<graph::Axis> run = product.run;
  if (slides(product)) run.pop_back();
  for (const auto& [binder, index] : split_run(p_, run, number)) at_[binder] = index;
  const auto is_constant = [](const graph::Axis& binder) { return binder.extent.constant().has_value(); };
  if (std::all_of(run.begin() + 1, run.end(), is_constant)) return {};
  std::vector<Fact> facts;
  for (const graph::Axis& binder : run) {
    facts.push_back(shape::at_least(Dim(binder.var), Dim(0)));
    facts.push_back(shape::less(Dim(binder.var), binder.extent));
  }
  return facts;
}

// ---- values, column by column ----

void OperandMaker::pack_values(const Product& product, const Dim& first, const Dim& length) {
  const graph::Axis& axis = node_.domain[*form_.along];
  auto& to = packed_[{product.reduction, 0}];
  const int64_t across = (columns_.most + columns() - 1) / columns();
  if (!to)
    to = scratch("right", form_.reductions[product.reduction].in, {across, blocks_of_.depth, columns()});
  const Var step = shape::fresh_var(name_for("d"));
  const size_t known = around_.size();
  const std::vector<Fact> facts = at_depth(product, first + Dim(step));
  loop(step, length, {}, [&] {
    before_ = body_;
    blocks(axis.var, columns_.stretch, {},
           [&](const BlockPlace& place) { pack_block(product, Dim(step), facts, place); });
  });
  around_.resize(known);
}

void OperandMaker::pack_block(const Product& product, const Dim& step, const std::vector<Fact>& facts,
                              const BlockPlace& place) {
  const TileId to = packed_.at({product.reduction, 0});
  const Elem elem = out_.tiles[to].elem;
  const BoundedValue operand = bounded_value(g_, product.right);
  const graph::Scalar& s = g_.scalars[operand.value];
  BlockPlace inside = place;
  for (const Fact& fact : task::both(operand.facts, facts)) inside.bounds.push_back(placed(fact, place));
  Use made;
  if (s.op == graph::Op::load && !s.target.is_local() &&
      in_range(operand.value, task::both(operand.facts, around_))) {
    const Elem stored = base::computed_as(g_.type(s.target).elem);
    made = converted_to(elem, copied(operand.value, tile("b", stored, true), inside));
  } else {
    Map map{{tile("b", elem, true), place.labels()}, {}, {place.bounds, Number()}};
    std::map<ScalarId, uint32_t> known;
    const uint32_t last = converted(map, expr(map, known, product.right, place), elem);
    if (last + 1 != map.exprs.size()) throw Declined{"an operand is computed already"};
    made = map.to;
    emit(std::move(map));
  }
  Access access;
  access.tile = to;
  access.at = {at(place.number), at(step), at(Dim(place.label))};
  emit(Store{made, access, {}, false});
}

Use OperandMaker::copied(ScalarId load, TileId to, const BlockPlace& place) {
  Copy copy{{to, place.labels()}, {}, {place.bounds, Number()}};
  copy.from = access_to(load, place);
  const Use made = copy.to;
  emit(std::move(copy));
  return made;
}

Use OperandMaker::converted_to(Elem elem, const Use& from) {
  Tile t = out_.tiles[from.tile];
  if (t.elem == elem) return from;
  t.name = name_for("b");
  t.elem = elem;
  Map map{{out_.tiles.add(std::move(t)), from.labels}, {of_tile(from, out_.tiles[from.tile].elem)}, {}};
  converted(map, 0, elem);
  const Use made = map.to;
  emit(std::move(map));
  return made;
}

// ---- lines that windows share ----

void OperandMaker::pack_lines(const Product& product, const Dim& block, const Dim& first, const Dim& length) {
  const BoundedValue operand = bounded_value(g_, product.right);
  const Var step = shape::fresh_var(name_for("d"));
  const size_t known = around_.size();
  const std::vector<Fact> facts = task::both(operand.facts, at_depth(product, first + Dim(step)));
  if (!in_range(operand.value, task::both(operand.facts, around_)))
    throw Declined{"an index may leave its axis"};
  for (int64_t line = 0; line < lines_of(product); ++line)
    loop(step, length, {}, [&] { pack_line(product, block, Dim(step), line, facts); });
  around_.resize(known);
}

void OperandMaker::pack_line(const Product& product, const Dim& block, const Dim& step, int64_t line,
                             const std::vector<Fact>& facts) {
  const int64_t vectors = (columns() + beyond(product, line) + lanes_ - 1) / lanes_;
  const int64_t across = (columns_.most + columns() - 1) / columns();
  const Elem in = form_.reductions[product.reduction].in;
  auto& to = packed_[{product.reduction, line}];
  if (!to) to = scratch("right", in, {across, depth_at_once(product), vectors * lanes_});
  at_[product.run.back().var] = Dim(line);
  BlockPlace place;
  place.is_block = true;
  place.along = node_.domain[*form_.along].var;
  place.label = label_;
  place.number = block;
  place.base = columns_.stretch.first + Dim(columns()) * block;
  const Dim steps = shape::floor_div(product.run.back().extent - 1 - line, Dim(product.slide->steps));
  place.bounds = {shape::less(Dim(columns()) * block + Dim(label_),
                              columns_.stretch.length + Dim(product.slide->columns) * steps)};
  for (const Fact& fact : facts) place.bounds.push_back(placed(fact, place));
  const ScalarId load = bounded_value(g_, product.right).value;
  Tile t;
  t.name = name_for("b");
  t.elem = base::computed_as(g_.type(g_.scalars[load].target).elem);
  t.shape = {vectors * lanes_};
  t.layout = layout("line_of_windows", {{Dim(vectors), 1, "m"}, {Dim(lanes_), 1, "v"}});
  const Use made = converted_to(in, copied(load, out_.tiles.add(std::move(t)), place));
  Access access;
  access.tile = to;
  access.at = {at(block), at(step), at(Dim(label_))};
  emit(Store{made, access, {}, false});
}

}  // namespace axon::tile
