// See collectives.h.
#include "emulator/collectives.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/engine.h"
#include "emulator/primitives.h"

namespace axon::emulator {

Collectives::Collectives(Engine& engine, uint32_t blocks, uint32_t threads)
    : engine_(engine), threads_(threads) {
  Block block;
  const uint32_t warps = (threads + 31) / 32;
  block.warps.resize(warps);
  block.left.resize(warps);
  if (threads % 32 != 0) block.left.back() = ~0U << threads % 32;
  blocks_.assign(blocks, block);
}

void Collectives::fail_left(const Thread& waits, uint32_t site, const std::string& who) {
  engine_.fail(Kind::divergence, site,
               fmt::format("{} waits in {} for {}, which has ended or never was", engine_.describe(waits),
                           engine_.site(site).place, who));
}

void Collectives::check_arrival(Thread& self, const Barrier& barrier, const Arrival& arrival,
                                uint32_t count) {
  const auto fail = [&](Kind kind, std::string_view what) {
    engine_.fail(kind, arrival.site,
                 fmt::format("{}: {} ({})", engine_.describe(self), what, engine_.site(arrival.site).place));
  };
  const Block& block = blocks_[self.block];
  if (arrival.count != 0 && (count % 32 != 0 || count > threads_))
    fail(Kind::divergence, fmt::format("{} threads cannot meet at a barrier", count));
  if (arrival.count == 0 && block.ended != 0)
    fail_left(self, arrival.site, fmt::format("{} threads", block.ended));
  if (barrier.arrived.empty()) return;
  if (barrier.count != count)
    fail(Kind::divergence, fmt::format("barrier {} is for {} threads here, and for {} where others wait",
                                       arrival.barrier, count, barrier.count));
  if (barrier.agreed != arrival.agreed)
    fail(Kind::event, "the threads of a block do not name the same event words");
  if (!arrival.aligned) return;
  for (const Thread* other : barrier.arrived)
    if (other->warp() == self.warp() && other->waiting.site != arrival.site)
      fail(Kind::divergence, fmt::format("lane {} of the warp waits at {}", other->lane(),
                                         engine_.site(other->waiting.site).place));
}

void Collectives::arrive(Thread& self, const Arrival& arrival) {
  Barrier& barrier = blocks_[self.block].all[static_cast<size_t>(arrival.barrier)];
  const uint32_t count = arrival.count == 0 ? threads_ : arrival.count;
  if (engine_.checks()) check_arrival(self, barrier, arrival, count);
  barrier.count = count;
  barrier.agreed = arrival.agreed;
  barrier.arrived.push_back(&self);
  if (barrier.arrived.size() < count) {
    self.waiting = {.what = Waiting::For::barrier, .site = arrival.site, .barrier = arrival.barrier};
    engine_.block(self);
    self.waiting = {};
    return;
  }
  if (engine_.checks()) order_threads(barrier.arrived);
  for (Thread* thread : barrier.arrived) engine_.wake(*thread);
  barrier.arrived.clear();
}

bool Collectives::same_operation(uint32_t site, uint32_t other, bool aligned) const {
  return site == other || (!aligned && engine_.site(site).primitive == engine_.site(other).primitive);
}

void Collectives::check_meeting(Thread& self, uint32_t mask, uint32_t site, bool aligned) {
  const auto& place = engine_.site(site).place;
  const Block& block = blocks_[self.block];
  if ((mask >> self.lane() & 1) == 0)
    engine_.fail(Kind::mask, site,
                 fmt::format("{} is not in the mask {:#010x} ({})", engine_.describe(self), mask, place));
  if (const uint32_t left = mask & block.left[self.warp()]; left != 0)
    fail_left(self, site, fmt::format("lane {}", __builtin_ctz(left)));
  for (const Meeting& meeting : block.warps[self.warp()]) {
    const bool waits_for_self = (meeting.mask >> self.lane() & 1) != 0;
    const bool same = meeting.mask == mask && same_operation(site, meeting.site, aligned);
    if (!same && waits_for_self && (mask & meeting.arrived) != 0)
      engine_.fail(
          Kind::divergence, site,
          fmt::format("{} comes to {} with mask {:#010x}, and lane {}, which waits for it, to {} with mask "
                      "{:#010x}",
                      engine_.describe(self), place, mask, __builtin_ctz(mask & meeting.arrived),
                      engine_.site(meeting.site).place, meeting.mask));
  }
}

void Collectives::meet(Thread& self, uint32_t mask, uint64_t* values, uint32_t site, bool aligned,
                       Finish finish) {
  if (engine_.checks()) check_meeting(self, mask, site, aligned);
  std::vector<Meeting>& meetings = blocks_[self.block].warps[self.warp()];
  auto found = std::find_if(meetings.begin(), meetings.end(), [&](const Meeting& meeting) {
    return meeting.mask == mask && same_operation(site, meeting.site, aligned);
  });
  if (found == meetings.end()) {
    meetings.push_back({.mask = mask, .site = site});
    found = std::prev(meetings.end());
  }
  self.values = values;
  found->arrived |= 1U << self.lane();
  found->threads[self.lane()] = &self;
  if (found->arrived != mask) {
    self.waiting = {.what = Waiting::For::warp, .site = site, .mask = mask};
    engine_.block(self);
    self.waiting = {};
    return;
  }
  const Lanes lanes{engine_, found->threads, mask, site, engine_.site(site).primitive->parameter};
  meetings.erase(found);
  finish(lanes);
  for (Thread* thread : lanes.threads)
    if (thread != nullptr) engine_.wake(*thread);
}

void Collectives::leave(Thread& self) {
  Block& block = blocks_[self.block];
  ++block.ended;
  block.left[self.warp()] |= 1U << self.lane();
  if (!engine_.checks()) return;
  for (const Barrier& barrier : block.all)
    if (!barrier.arrived.empty() && barrier.count == threads_)
      fail_left(*barrier.arrived[0], barrier.arrived[0]->waiting.site, engine_.describe(self));
  for (const Meeting& meeting : block.warps[self.warp()])
    if ((meeting.mask >> self.lane() & 1) != 0)
      fail_left(*meeting.threads[static_cast<size_t>(__builtin_ctz(meeting.arrived))], meeting.site,
                engine_.describe(self));
}

void order_threads(std::span<Thread* const> threads) {
  Clock all;
  for (const Thread* thread : threads)
    if (thread != nullptr) all.join(thread->knows);
  for (Thread* thread : threads)
    if (thread != nullptr) {
      all.raise(thread->id, thread->epoch++);
      if (thread->copies_done != 0) all.raise(thread->copies_id, thread->copies_done);
    }
  for (Thread* thread : threads)
    if (thread != nullptr) thread->knows = all;
}

}  // namespace axon::emulator
