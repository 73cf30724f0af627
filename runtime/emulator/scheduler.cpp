// See scheduler.h.
#include "emulator/scheduler.h"

#include <algorithm>

namespace axon::emulator {

Scheduler::Scheduler(uint64_t seed, int switch_every, bool lockstep, uint32_t blocks, uint32_t threads)
    : random_(seed),
      switch_every_(static_cast<uint32_t>(std::max(1, switch_every))),
      lockstep_(lockstep),
      warps_((threads + 31) / 32),
      slowness_(static_cast<size_t>(blocks) * warps_),
      lanes_(slowness_.size()) {
  constexpr uint32_t slownesses = 5;
  for (uint8_t& slowness : slowness_) slowness = static_cast<uint8_t>(random_.below(slownesses));
}

void Scheduler::add(Thread& thread) {
  if (thread.ready) return;
  thread.ready = true;
  thread.place = ready_.size();
  ready_.push_back(&thread);
  if (!lockstep_) return;
  std::vector<Thread*>& lanes = lanes_[warp_of(thread)];
  if (lanes.empty()) lanes.resize(32);
  lanes[thread.lane()] = &thread;
}

void Scheduler::remove(Thread& thread) {
  if (!thread.ready) return;
  thread.ready = false;
  ready_.back()->place = thread.place;
  ready_[thread.place] = ready_.back();
  ready_.pop_back();
}

Thread* Scheduler::next_lane(const Thread& now) {
  const std::vector<Thread*>& lanes = lanes_[warp_of(now)];
  for (uint32_t lane = now.lane() + 1; lane < lanes.size(); ++lane)
    if (lanes[lane] != nullptr && lanes[lane]->ready) return lanes[lane];
  return nullptr;
}

Thread* Scheduler::next(const Thread& now) {
  if (ready_.empty()) return nullptr;
  countdown_ = 1 + random_.below(2 * switch_every_ - 1);
  if (lockstep_)
    if (Thread* lane = next_lane(now)) return lane;
  const auto draw = [&] { return ready_[random_.below(static_cast<uint32_t>(ready_.size()))]; };
  Thread* drawn = draw();
  for (int tries = 0; tries < 8 && random_.below(1U << slowness_[warp_of(*drawn)]) != 0; ++tries)
    drawn = draw();
  if (!lockstep_) return drawn;
  for (Thread* lane : lanes_[warp_of(*drawn)])
    if (lane != nullptr && lane->ready) return lane;
  return drawn;
}

}  // namespace axon::emulator
