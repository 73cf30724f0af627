// Blocks of scratch: what is known behind a store of one, and in and behind a loop that stores one in each
// iteration.
//
// In: what is known of a tile. Out: claims over its axes. Behind a store the block alone is known: other
// blocks count as undefined. In a loop, let all that the body writes to the tile's memory go to the block
// whose number on one axis is the loop's index. Then an iteration finds its block, and those of later ones,
// as they were before the loop. And behind the loop each block is as its own iteration left it: the index
// becomes that axis, below the extent of the loop; none for a loop without iterations. Of a loop whose
// iterations the data counts a block is so, or as it was before. Extents may be of loops around: with these
// the claims are forgotten.
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

/// Does the body store blocks of the tile, and does all that it writes to the tile's memory go to the blocks
/// whose number on the axis is the loop's index?
bool keeps_other_blocks(const Setting& setting, const Loop& loop, TileId tile, size_t axis) {
  const Program& p = setting.program;
  bool keeps = true, any = false;
  each_op(p, loop.body, [&](OpId id) {
    for (TileId written : defined_tiles(p.ops[id])) {
      if (!share_memory(p, setting.places, written, tile)) continue;
      const auto* store = std::get_if<Store>(&p.ops[id]);
      keeps &=
          store && written == tile && !store->to.at[axis].table && store->to.at[axis].dim == Dim(loop.index);
      any = true;
    }
  });
  return keeps && any;
}

/// step(tile, its claims, axis) for what is known of tiles whose other blocks the iterations keep.
template <class Step>
void each_kept(const Setting& setting, const Loop& loop, const State& state, const Step& step) {
  for (const auto& [tile, claims] : state.written)
    for (size_t a = 0; a < setting.axes[tile.index].size(); ++a)
      if (setting.program.tiles[tile].space == Space::scratch && keeps_other_blocks(setting, loop, tile, a))
        step(tile, claims, setting.axes[tile.index][a]);
}

}  // namespace

std::map<TileId, Claims> blocks_ahead(const Setting& setting, const Loop& loop, const State& before) {
  std::map<TileId, Claims> out;
  each_kept(setting, loop, before, [&](TileId tile, const Claims& claims, Var axis) {
    const auto [found, added] = out.try_emplace(tile, claims);
    if (added) found->second.add(shape::at_most(loop.index, axis), undefined_beyond);
  });
  return out;
}

std::map<TileId, Claims> blocks_behind(const Setting& setting, const Loop& loop, const State& at_end) {
  std::map<TileId, Claims> out;
  each_kept(setting, loop, at_end, [&](TileId tile, const Claims& claims, Var axis) {
    const Fact own = shape::equal(axis, loop.index);
    const Claim* claim = claims.find(own);
    if (out.contains(tile) || !claim || claim->beyond != undefined_beyond) return;
    Claims& behind = out[tile];
    behind.add(shape::less(axis, loop.extent), undefined_beyond);
    const shape::Substitution index = {{loop.index, axis}};
    for (const auto& [fact, beyond] : claims)
      if (!same(fact, own))
        behind.add({fact.lhs.substitute(index), fact.relation, fact.rhs.substitute(index)}, beyond);
  });
  return out;
}

}  // namespace axon::tile
