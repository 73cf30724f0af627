// How many registers a program takes: from the operation that names a tile first to the one that names it
// last it has its own; a tile that a loop uses and something before it defines has them all through the loop.
#include <algorithm>

#include "tile/from_task/frame.h"
#include "tile/names.h"
#include "tile/places.h"

namespace axon::tile {

namespace {

struct Life {
  int64_t first = -1, last = -1;
};

class Lives {
 public:
  explicit Lives(const Program& p) : p_(p), lives_(p.tiles.size()) { walk(p.body); }

  int64_t most() const {
    std::vector<int64_t> change(static_cast<size_t>(time_) + 2, 0);
    for (uint32_t t = 0; t < lives_.size(); ++t) {
      const Tile& tile = p_.tiles[{t}];
      if (tile.space != Space::registers || lives_[t].first < 0) continue;
      const Places places(p_.layouts[tile.layout].layout);
      const int64_t vector = places.vector_lanes() * base::elem_bytes(tile.elem);
      const int64_t each = std::max<int64_t>(
          1, (vector + p_.machine.register_bytes - 1) / std::max<int64_t>(p_.machine.register_bytes, 1));
      change[static_cast<size_t>(lives_[t].first)] += places.span() * each;
      change[static_cast<size_t>(lives_[t].last) + 1] -= places.span() * each;
    }
    int64_t now = 0, most = 0;
    for (const int64_t by : change) most = std::max(most, now += by);
    return most;
  }

 private:
  void walk(const std::vector<OpId>& ops) {
    for (const OpId id : ops) {
      ++time_;
      for (const TileId tile : tiles(p_.ops[id])) use(tile);
      if (const auto* inner = body(p_.ops[id])) {
        const int64_t begin = ++time_;  // what counts its iterations is read before
        walk(*inner);
        ++time_;
        for (Life& life : lives_)
          if (life.first >= 0 && life.first <= begin && life.last >= begin) life.last = time_;
      }
    }
  }
  void use(TileId tile) {
    Life& life = lives_[tile.index];
    if (life.first < 0) life.first = time_;
    life.last = time_;
  }

  const Program& p_;
  std::vector<Life> lives_;
  int64_t time_ = 0;
};

}  // namespace

int64_t registers_of(const Program& p) { return Lives(p).most(); }

}  // namespace axon::tile
