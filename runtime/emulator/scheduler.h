// Which thread runs next: a seeded choice among those that do not wait.
//
// Each warp has a speed of its own, drawn from the seed. In lockstep the lanes of a warp take turns, and a
// warp that has come round gives way to another one, drawn too.
#pragma once
#include <cstdint>
#include <vector>

#include "emulator/thread.h"

namespace axon::emulator {

/// SplitMix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t x = state_ += 0x9e3779b97f4a7c15U;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
  }
  /// Less than `end`.
  uint32_t below(uint32_t end) { return static_cast<uint32_t>((next() >> 32) * end >> 32); }

 private:
  uint64_t state_;
};

class Scheduler {
 public:
  Scheduler(uint64_t seed, int switch_every, bool lockstep, uint32_t blocks, uint32_t threads);

  void add(Thread&);
  void remove(Thread&);
  /// Whether another thread should run now.
  bool due() { return lockstep_ || --countdown_ <= 0; }
  /// A thread that does not wait, perhaps the one that runs; null if there is none.
  Thread* next(const Thread& now);
  Random& random() { return random_; }

 private:
  Thread* next_lane(const Thread& now);
  size_t warp_of(const Thread& thread) const { return thread.block * warps_ + thread.warp(); }

  Random random_;
  uint32_t switch_every_;
  bool lockstep_;
  uint32_t warps_;
  int64_t countdown_ = 1;
  std::vector<uint8_t> slowness_;  ///< of each warp, as a power of two
  std::vector<Thread*> ready_;
  std::vector<std::vector<Thread*>> lanes_;  ///< of each warp, when in lockstep
};

}  // namespace axon::emulator
