// See verify_state.h.
#include "tile/verify_state.h"

#include <algorithm>

namespace axon::tile {

void forget(State& state, Var index) {
  std::vector<TileId> lost;
  for (const auto& [tile, claims] : state.written)
    if (claims.mention(index)) lost.push_back(tile);
  for (TileId tile : lost) state.forget(tile);
}

void advance(State& state, Var index) {
  const shape::Substitution before{{index, Dim(index) - 1}};
  for (const auto& [view, of] : state.views)
    if (const auto found = state.written.find(view);
        found != state.written.end() && found->second.mention(index))
      state.written.erase(found);
  for (auto& [tile, claims] : state.written)
    if (claims.mention(index)) claims = claims.substituted(before);
}

void put_in_terms_of(Var index, const State& next, State& state) {
  for (auto& [tile, claims] : state.written) {
    const auto found = next.written.find(tile);
    if (found == next.written.end() || !found->second.mention(index) || claims.mention(index)) continue;
    if (found->second.substituted({{index, Dim(0)}}) == claims) claims = found->second;
  }
}

void forget_unsteady(Var index, const State& after, State& head) {
  std::vector<TileId> lost;
  for (const auto& [tile, claims] : head.written) {
    const auto found = after.written.find(tile);
    if (claims.mention(index) && (found == after.written.end() || !(found->second == claims)))
      lost.push_back(tile);
  }
  for (const TileId tile : lost) head.forget(tile);
}

Claims joined(const Claims& a, const Claims& b) {
  // Where one side claims nothing, its elements are true ones.
  const auto unless_both = [](const Claim& claim, const Claims& of) {
    const Claim* same = of.find(claim.fact);
    return same ? weaker(claim.beyond, same->beyond) : weaker(claim.beyond, {Beyond::Kind::defined, {}});
  };
  Claims both;
  for (const Claim& claim : a) both.add(claim.fact, unless_both(claim, b));
  for (const Claim& claim : b) both.add(claim.fact, unless_both(claim, a));
  return both;
}

State joined(const State& a, const State& b) {
  State out;
  for (const auto& [tile, claims] : a.written)
    if (const auto other = b.written.find(tile); other != b.written.end())
      out.written[tile] = joined(claims, other->second);
  for (const auto& [view, of] : a.views)
    if (const auto other = b.views.find(view); other != b.views.end() && other->second == of)
      out.views[view] = of;
    else
      out.written.erase(view);
  std::set_intersection(a.waited.begin(), a.waited.end(), b.waited.begin(), b.waited.end(),
                        std::inserter(out.waited, out.waited.end()));
  std::set_intersection(a.stored.begin(), a.stored.end(), b.stored.begin(), b.stored.end(),
                        std::inserter(out.stored, out.stored.end()));
  std::set_intersection(a.sent.begin(), a.sent.end(), b.sent.begin(), b.sent.end(),
                        std::inserter(out.sent, out.sent.end()));
  out.notified = a.notified;
  out.notified.insert(b.notified.begin(), b.notified.end());
  out.fresh_writes = a.fresh_writes;
  out.fresh_writes.insert(b.fresh_writes.begin(), b.fresh_writes.end());
  out.fresh_reads = a.fresh_reads;
  out.fresh_reads.insert(b.fresh_reads.begin(), b.fresh_reads.end());
  out.stored_since_barrier = a.stored_since_barrier || b.stored_since_barrier;
  out.streamed_since_fence = a.streamed_since_fence || b.streamed_since_fence;
  out.slots = a.slots;
  out.running = a.running;
  out.is_uniform = a.is_uniform && b.is_uniform && a.slots == b.slots && a.running == b.running;
  return out;
}

}  // namespace axon::tile
