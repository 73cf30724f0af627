// See contractions.h: right operands of products that may be any values, as those of windows with zeros
// around the tensor, in scratch memory.
//
// In: a block of the depth. Out: the operand's values along it, for all columns of the part, as blocks of
// columns that rows go over. Invariant: outside of the depth and of the columns they are 0. What a choice
// leaves out as 0 is not read.
#include <algorithm>

#include "task/facts.h"
#include "tile/from_task/contractions.h"
#include "tile/from_task/runs.h"
#include "tile/from_task/windows.h"

namespace axon::tile {

/// The binders where the depth has this index, and what holds of them that the prover does not know.
std::vector<Fact> ContractionMaker::at_depth(const Product& product, const Dim& number) {
  if (product.run.empty()) {
    at_[product.depth.var] = number;
    add_range(product.depth.var, product.depth.extent);
    return {};
  }
  std::vector<graph::Axis> run = product.run;
  if (product.slide) run.pop_back();
  for (const graph::Axis& binder : product.run) add_range(binder.var, binder.extent);
  if (product.slide) at_[product.run.back().var] = Dim(0);
  for (const auto& [binder, index] : split_run(run, number)) at_[binder] = index;
  const auto is_constant = [](const graph::Axis& binder) { return binder.extent.constant().has_value(); };
  if (std::all_of(run.begin() + 1, run.end(), is_constant)) return {};
  std::vector<Fact> facts;
  for (const graph::Axis& binder : run) {
    facts.push_back(shape::at_least(Dim(binder.var), Dim(0)));
    facts.push_back(shape::less(Dim(binder.var), binder.extent));
  }
  return facts;
}

void ContractionMaker::pack_all(const Product& product, const Dim& first, const Dim& length) {
  const graph::Axis& axis = node_.domain[*form_.along];
  auto& to = packed_[product.reduction];
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

int64_t ContractionMaker::taps_of(const Product& product) const {
  return product.run.back().extent.constant().value();
}

/// How far the last step of a window is from the first.
int64_t ContractionMaker::columns_beyond(const Product& product) const {
  return (taps_of(product) - 1) * *product.slide;
}

/// A block of columns, and those that windows reach beyond it.
TileId ContractionMaker::line_of(const Product& product, Elem elem) {
  const int64_t vectors = vectors_of_line(product);
  Tile t;
  t.name = name_for("b");
  t.elem = elem;
  t.shape = {vectors * lanes_};
  t.layout = layout("line_of_windows", {{Dim(vectors), 1, "m"}, {Dim(lanes_), 1, "v"}});
  return out_.tiles.add(std::move(t));
}
int64_t ContractionMaker::vectors_of_line(const Product& product) const {
  return (columns() + columns_beyond(product) + lanes_ - 1) / lanes_;
}

/// What windows share is packed once: each step of a window reads its block some columns further along.
void ContractionMaker::pack_lines(const Product& product, const Dim& first, const Dim& length) {
  const Elem in = form_.reductions[product.reduction].in;
  const BoundedValue operand = bounded_value(g_, product.right);
  const Elem stored = base::computed_as(g_.type(g_.scalars[operand.value].target).elem);
  auto& to = packed_[product.reduction];
  const int64_t across = (columns_.most + columns() - 1) / columns();
  if (!to) to = scratch("right", in, {across, depth_of(product), vectors_of_line(product) * lanes_});
  const Var block = shape::fresh_var(name_for("b")), step = shape::fresh_var(name_for("d"));
  const size_t known = around_.size();
  const std::vector<Fact> facts = at_depth(product, first + Dim(step));
  if (!in_range(operand.value, task::both(operand.facts, around_)))
    throw Declined{"an index may leave its axis"};
  BlockPlace place;
  place.is_block = true;
  place.along = node_.domain[*form_.along].var;
  place.label = label_;
  place.number = Dim(block);
  place.base = columns_.stretch.first + Dim(columns()) * Dim(block);
  place.bounds = {shape::less(place.base + Dim(label_), columns_.stretch.first + columns_.stretch.length +
                                                            Dim(columns_beyond(product)))};
  for (const Fact& fact : task::both(operand.facts, facts)) place.bounds.push_back(placed(fact, place));
  loop(block, shape::cdiv(columns_.stretch.length, Dim(columns())), {}, [&] {
    loop(step, length, {}, [&] {
      const Use made = converted_to(in, copied(operand.value, line_of(product, stored), place));
      Access access;
      access.tile = to;
      access.at = {at(Dim(block)), at(Dim(step)), at(Dim(label_))};
      emit(Store{made, access, {}, false});
    });
  });
  around_.resize(known);
}

void ContractionMaker::pack_block(const Product& product, const Dim& step, const std::vector<Fact>& facts,
                                  const BlockPlace& place) {
  const TileId to = packed_.at(product.reduction);
  const Elem elem = out_.tiles[to].elem;
  const BoundedValue operand = bounded_value(g_, product.right);
  BlockPlace inside = place;
  for (const Fact& fact : task::both(operand.facts, facts)) inside.bounds.push_back(placed(fact, place));
  Use made;
  if (const graph::Scalar& s = g_.scalars[operand.value];
      s.op == graph::Op::load && !s.target.is_local() &&
      in_range(operand.value, task::both(operand.facts, around_))) {
    made = converted_to(
        elem, copied(operand.value, tile("b", base::computed_as(g_.type(s.target).elem), true), inside));
  } else {
    Map map{{tile("b", elem, true), place.labels()}, {}, {place.bounds, Number()}};
    std::map<ScalarId, uint32_t> known_exprs;
    const uint32_t last = converted(map, expr(map, known_exprs, product.right, place), elem);
    if (last + 1 != map.exprs.size()) throw Declined{"an operand is computed already"};
    made = map.to;
    emit(std::move(map));
  }
  Access access;
  access.tile = to;
  access.at = {at(place.number), at(step), at(Dim(place.label))};
  emit(Store{made, access, {}, false});
}

/// What is loaded where the place's bounds hold, and 0 elsewhere.
Use ContractionMaker::copied(ScalarId load, TileId to, const BlockPlace& place) {
  Copy copy{{to, place.labels()}, {}, {place.bounds, Number()}};
  copy.from = access_to(load, place);
  const Use made = copy.to;
  emit(std::move(copy));
  return made;
}

Use ContractionMaker::converted_to(Elem elem, const Use& from) {
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

}  // namespace axon::tile
