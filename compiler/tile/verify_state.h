// What is known at one point of a role's operations. Only the flow and its operations include this.
//
// In: states on the ways to a point. Out: what holds on each of them. Invariant: joining loses knowledge and
// makes none.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tile/claims.h"
#include "tile/tile.h"

namespace axon::tile {

/// An asynchronous gemm that may be running.
struct Running {
  TileId acc;
  std::vector<std::pair<TileId, int64_t>> reads;  ///< of a ring: how many acquires ago
  friend bool operator==(const Running&, const Running&) = default;
};

/// Of a ring, in the role at hand.
struct Slots {
  int64_t held = 0;    ///< acquired and not released
  int64_t filled = 0;  ///< filled and not acquired; a role that does not fill has as many as it likes
  friend bool operator==(const Slots&, const Slots&) = default;
};

struct State {
  std::map<TileId, Claims> written;            ///< claims over the axes of the tile
  std::map<TileId, TileId> views;              ///< of which tile a view is
  std::set<uint32_t> waited, sent;             ///< waits and notifications, surely
  std::set<uint32_t> notified;                 ///< perhaps
  std::set<TensorId> stored;                   ///< wholly
  std::set<TileId> fresh_writes, fresh_reads;  ///< of scratch, since a barrier
  bool stored_since_barrier = false, streamed_since_fence = false;
  std::map<TileId, Slots> slots;
  std::vector<Running> running;
  bool is_uniform = true;  ///< rings and gemms are alike on all ways

  void forget(TileId tile) {
    written.erase(tile);
    std::vector<TileId> shown;  // by views, perhaps of views
    for (const auto& [view, of] : views)
      if (of == tile) shown.push_back(view);
    for (const TileId view : shown) {
      views.erase(view);
      forget(view);
    }
  }
  friend bool operator==(const State&, const State&) = default;
};

/// The loop has ended: nothing is known any more of what its index decided.
void forget(State&, Var index);
/// An iteration has ended, and the next one begins: what is claimed by the index is claimed by the one
/// before.
void advance(State&, Var index);
/// At the head of a loop: what `state` claims of a tile is put in terms of the index, as `next` claims it
/// behind an iteration, where that says the same of the first iteration.
void put_in_terms_of(Var index, const State& next, State& state);
/// What is claimed in terms of the index, and not alike behind an iteration, is not known.
void forget_unsteady(Var index, const State& after, State& head);
State joined(const State&, const State&);
/// Of a tile whose elements are each as one says, or as the other does.
Claims joined(const Claims&, const Claims&);

}  // namespace axon::tile
