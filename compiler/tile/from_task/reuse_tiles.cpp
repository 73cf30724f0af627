// Fewer tiles: what a map computes takes over the tile of an operand that nothing reads behind it.
//
// In: a program without rings and roles. Out: the same program with fewer tiles. Invariant: only tiles whose
// whole life is in one body are merged, so no loop carries one.
#include <algorithm>
#include <map>
#include <set>

#include "tile/from_task/frame.h"
#include "tile/names.h"

namespace axon::tile {

namespace {

class TileReuse {
 public:
  explicit TileReuse(Program& p) : p_(p) {
    for (const Op& op : p.ops) {
      for (const TileId tile : tiles(op)) ++named_[tile];
      if (const auto* loop = std::get_if<Loop>(&op))
        carried_.insert(loop->carries.begin(), loop->carries.end());
    }
  }

  void run() {
    walk(p_.body);
    rename();
  }

 private:
  struct Life {
    size_t first = 0, last = 0;
    size_t count = 0;  ///< how often the body names it, loops inside of it included
  };

  void walk(const std::vector<OpId>& ops) {
    std::map<TileId, Life> lives;
    for (size_t at = 0; at < ops.size(); ++at) {
      note(ops[at], at, lives);
      if (const auto* inner = body(p_.ops[ops[at]])) walk(*inner);
    }
    for (size_t at = 0; at < ops.size(); ++at)
      if (const auto* map = std::get_if<Map>(&p_.ops[ops[at]])) merge(*map, at, lives);
  }

  void note(OpId op, size_t at, std::map<TileId, Life>& lives) const {
    for (const TileId tile : tiles(p_.ops[op])) {
      const auto [life, fresh] = lives.try_emplace(tile, Life{at, at, 0});
      life->second.last = at;
      ++life->second.count;
    }
    if (const auto* inner = body(p_.ops[op]))
      for (const OpId id : *inner) note(id, at, lives);
  }

  bool is_inside(TileId tile, const Life& life) const {
    return !carried_.contains(tile) && life.count == named_.at(tile);
  }

  void merge(const Map& map, size_t at, std::map<TileId, Life>& lives) {
    const TileId to = map.to.tile;
    Life& result = lives.at(to);
    if (now_.contains(to) || !is_inside(to, result) || result.first != at) return;
    for (const Expr& e : map.exprs) {
      if (e.kind != Expr::Kind::tile || e.use.labels != map.to.labels) continue;
      const TileId operand = name_of(e.use.tile);
      const Tile &x = p_.tiles[operand], &t = p_.tiles[to];
      Life& life = lives.at(e.use.tile);
      const bool alike = x.space == Space::registers && t.space == Space::registers && x.elem == t.elem &&
                         x.layout == t.layout;
      if (operand == to || !alike || !is_inside(e.use.tile, life) || ends_[operand] > at || life.last != at)
        continue;
      now_[to] = operand;
      ends_[operand] = result.last;
      return;
    }
  }

  TileId name_of(TileId tile) const {
    const auto found = now_.find(tile);
    return found == now_.end() ? tile : found->second;
  }

  void rename() {
    base::Store<TileTag, Tile> kept;
    std::map<TileId, TileId> ids;
    for (uint32_t t = 0; t < p_.tiles.size(); ++t)
      if (!now_.contains({t}) && named_.contains({t})) ids[{t}] = kept.add(std::move(p_.tiles[{t}]));
    p_.tiles = std::move(kept);
    for (Op& op : p_.ops) rename_tiles(op, [&](TileId tile) { return ids.at(name_of(tile)); });
  }

  Program& p_;
  std::map<TileId, size_t> named_;  ///< how often
  std::set<TileId> carried_;
  std::map<TileId, TileId> now_;   ///< what a tile has become
  std::map<TileId, size_t> ends_;  ///< where the last of the values ends that a tile has taken over
};

}  // namespace

void reuse_tiles(Program& p) { TileReuse(p).run(); }

}  // namespace axon::tile
