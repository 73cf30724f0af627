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

namespace axon::tile {

namespace {

/// A value that is 0 where one of the facts does not hold.
struct Bounded {
  graph::ScalarId value;
  std::vector<Fact> facts;
};

bool is_zero(const graph::Graph& g, graph::ScalarId id) {
  const graph::Scalar& s = g.scalars[id];
  return s.op == graph::Op::constant && s.number == 0 && s.integer == 0;
}

/// Do the facts that the condition implies say all that it says?
bool is_of_indices(const graph::Graph& g, graph::ScalarId condition) {
  const graph::Scalar& s = g.scalars[condition];
  if (s.op == graph::Op::and_)
    return std::all_of(s.args.begin(), s.args.end(), [&](graph::ScalarId a) { return is_of_indices(g, a); });
  return (s.op == graph::Op::lt || s.op == graph::Op::le || s.op == graph::Op::eq) &&
         std::all_of(s.args.begin(), s.args.end(), [&](graph::ScalarId a) {
           const auto dim = graph::affine_index(g, a);
           return dim && !graph::reads_integer(g, *dim);
         });
}

/// Without widening casts, and without a choice between a value and 0.
Bounded bounded(const graph::Graph& g, graph::ScalarId id) {
  Bounded out{id, {}};
  for (;;) {
    const graph::Scalar& s = g.scalars[out.value];
    if (s.op == graph::Op::cast && base::is_float(s.elem) && base::is_float(g.scalars[s.args[0]].elem) &&
        base::elem_bytes(s.elem) > base::elem_bytes(g.scalars[s.args[0]].elem)) {
      out.value = s.args[0];
    } else if (s.op == graph::Op::select && is_zero(g, s.args[2]) && is_of_indices(g, s.args[0])) {
      for (const Fact& fact : implied_facts(g, s.args[0], true)) out.facts.push_back(fact);
      out.value = s.args[1];
    } else {
      return out;
    }
  }
}

}  // namespace

void ContractionMaker::pack_all(const Product& product, const Dim& first, const Dim& length) {
  const graph::Axis& axis = node_.domain[*form_.along];
  auto& to = packed_[product.reduction];
  const int64_t across = (columns_.most + columns() - 1) / columns();
  if (!to)
    to = scratch("right", form_.reductions[product.reduction].in, {across, blocks_of_.depth, columns()});
  const Var step = shape::fresh_var(name_for("d"));
  const Dim number = first + Dim(step);
  const size_t known = around_.size();
  std::vector<Fact> facts;
  if (product.run.empty()) {
    at_[product.depth.var] = number;
    add_range(product.depth.var, product.depth.extent);
  } else {
    for (const auto& [binder, index] : split_run(product.run, number)) at_[binder] = index;
    for (const graph::Axis& binder : product.run) {
      add_range(binder.var, binder.extent);
      // Of divisions by sizes the prover does not know that.
      facts.push_back(shape::at_least(Dim(binder.var), Dim(0)));
      facts.push_back(shape::less(Dim(binder.var), binder.extent));
    }
    const auto is_constant = [](const graph::Axis& binder) { return binder.extent.constant().has_value(); };
    if (std::all_of(product.run.begin() + 1, product.run.end(), is_constant)) facts.clear();
  }
  loop(step, length, {}, [&] {
    before_ = body_;
    blocks(axis.var, columns_.stretch, {},
           [&](const BlockPlace& place) { pack_block(product, Dim(step), facts, place); });
  });
  around_.resize(known);
  for (const graph::Axis& binder : product.run) at_.erase(binder.var);
  at_.erase(product.depth.var);
}

void ContractionMaker::pack_block(const Product& product, const Dim& step, const std::vector<Fact>& facts,
                                  const BlockPlace& place) {
  const TileId to = packed_.at(product.reduction);
  const Elem elem = out_.tiles[to].elem;
  const Bounded operand = bounded(g_, product.right);
  BlockPlace inside = place;
  for (const Fact& fact : task::both(operand.facts, facts)) inside.bounds.push_back(placed(fact, place));
  Use made;
  if (const graph::Scalar& s = g_.scalars[operand.value];
      s.op == graph::Op::load && !s.target.is_local() &&
      in_range(operand.value, task::both(operand.facts, around_))) {
    made = converted_to(elem, copied(operand.value, inside));
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
Use ContractionMaker::copied(ScalarId load, const BlockPlace& place) {
  const Elem stored = g_.type(g_.scalars[load].target).elem;
  Copy copy{{tile("b", base::computed_as(stored), true), place.labels()}, {}, {place.bounds, Number()}};
  copy.from = access_to(load, place);
  const Use made = copy.to;
  emit(std::move(copy));
  return made;
}

Use ContractionMaker::converted_to(Elem elem, Use from) {
  if (out_.tiles[from.tile].elem == elem) return from;
  Map map{{tile("b", elem, true), from.labels}, {of_tile(from, out_.tiles[from.tile].elem)}, {}};
  converted(map, 0, elem);
  const Use made = map.to;
  emit(std::move(map));
  return made;
}

}  // namespace axon::tile
