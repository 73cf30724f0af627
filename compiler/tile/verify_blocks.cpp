// Blocks of scratch: what is known behind a store of one, and behind a loop that stores one in each
// iteration.
//
// In: what is known of a tile. Out: claims over its axes. Behind a store the block alone is known: other
// blocks count as undefined. Behind a loop, an element has what the iteration of its block left, if no other
// iteration wrote to it: where all that the body writes to the tile's memory goes to the block whose number
// on one axis is the loop's index. So the index becomes that axis, below the extent of the loop, none for a
// loop without iterations. Extents of loops around count as they are there: with them the claims are
// forgotten.
#include <algorithm>

#include "tile/names.h"
#include "tile/pointwise.h"
#include "tile/verify_op.h"

namespace axon::tile {

void OpChecks::check_block(const Store& op) {
  const std::vector<Var>& axes = setting_.axes[op.to.tile.index];
  const Elem from = p_.tiles[op.from.tile].elem, to = p_.tiles[op.to.tile].elem;
  const size_t first = axes.size() - op.from.labels.size();
  inside(op.to, with_labels(), std::nullopt);
  shape::Substitution names;
  for (size_t a = first; a < axes.size(); ++a) names[op.from.labels[a - first]] = axes[a];
  Claims out;
  for (const Claim& claim : read(op.from)) {
    Beyond beyond = claim.beyond;
    if (beyond.kind == Beyond::Kind::constant) beyond.number = cast(beyond.number, from, to);
    out.add({claim.fact.lhs.substitute(names), claim.fact.relation, claim.fact.rhs.substitute(names)},
            beyond);
  }
  for (size_t a = 0; a < first; ++a) out.add(shape::equal(axes[a], op.to.at[a].dim), undefined_beyond);
  note_write(op.to.tile);
  state_.written[op.to.tile] = out;
}

namespace {

/// Does all that the body writes to the memory of the tile go to the blocks whose number on the axis is the
/// loop's index?
bool keeps_other_blocks(const Setting& setting, const Loop& loop, TileId tile, size_t axis) {
  const Program& p = setting.program;
  bool keeps = true;
  each_op(p, loop.body, [&](OpId id) {
    for (TileId written : defined_tiles(p.ops[id])) {
      if (!share_memory(p, setting.places, written, tile)) continue;
      const auto* store = std::get_if<Store>(&p.ops[id]);
      keeps &=
          store && written == tile && !store->to.at[axis].table && store->to.at[axis].dim == Dim(loop.index);
    }
  });
  return keeps;
}

}  // namespace

std::map<TileId, Claims> blocks_behind(const Setting& setting, const Loop& loop, const State& at_end) {
  std::map<TileId, Claims> out;
  for (const auto& [tile, claims] : at_end.written) {
    if (setting.program.tiles[tile].space != Space::scratch) continue;
    const std::vector<Var>& axes = setting.axes[tile.index];
    for (size_t a = 0; a < axes.size() && !out.contains(tile); ++a) {
      const Fact own = shape::equal(axes[a], loop.index);
      const Claim* claim = claims.find(own);
      if (!claim || claim->beyond != undefined_beyond || !keeps_other_blocks(setting, loop, tile, a))
        continue;
      Claims& behind = out[tile];
      behind.add(shape::less(axes[a], loop.extent), undefined_beyond);
      const shape::Substitution index = {{loop.index, axes[a]}};
      for (const auto& [fact, beyond] : claims)
        if (!same(fact, own))
          behind.add({fact.lhs.substitute(index), fact.relation, fact.rhs.substitute(index)}, beyond);
    }
  }
  return out;
}

}  // namespace axon::tile
