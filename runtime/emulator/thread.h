// A thread of the grid: a fiber, what it knows, and what it waits for.
#pragma once
#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <deque>

#include "emulator/clock.h"

namespace axon::emulator {

/// A place to go back to.
struct Fiber {
  boost::context::detail::fcontext_t context = nullptr;
};

/// A copy that is issued, and whose bytes have not moved.
struct PendingCopy {
  void* to;
  const void* from;
  uint32_t bytes;         ///< written
  uint32_t source_bytes;  ///< of which read, the others become 0
  uint32_t group;
};

struct Waiting {
  enum class For { nothing, barrier, warp, event };
  For what = For::nothing;
  uint32_t site = 0;
  int barrier = 0;
  const uint32_t* word = nullptr;
  uint32_t target = 0;
  uint32_t mask = 0;
};

struct Thread : Fiber {
  uint32_t block = 0, index = 0;  ///< its number in its block
  uint32_t warp() const { return index / 32; }
  uint32_t lane() const { return index % 32; }

  std::byte* stack_low = nullptr;
  std::byte* stack_high = nullptr;
  size_t place = 0;  ///< in the scheduler's list
  bool ready = false;
  bool done = false;
  Waiting waiting;
  uint64_t* values = nullptr;  ///< of the warp operation that it waits in
  uint32_t task = 0;           ///< number of Tasks

  ThreadId id = 0;
  ThreadId copies_id = 0;
  uint32_t epoch = 1;
  uint32_t copies_done = 0;  ///< groups that are waited for
  uint32_t copy_group = 1;   ///< of the next copy
  Clock knows;
  Clock release_fence;  ///< what a relaxed store tells
  Clock seen;           ///< what an acquire fence will know
  std::deque<PendingCopy> copies;

  /// Whether what a thread did at an epoch happened before what this thread does now.
  bool after(ThreadId thread, uint32_t at) const {
    if (thread == id) return true;
    if (thread == copies_id) return at <= copies_done;
    return knows.of(thread) >= at;
  }
  /// What others know who are told now. What the thread does from here on is not part of it.
  Clock tell() {
    Clock all = knows;
    all.raise(id, epoch++);
    if (copies_done != 0) all.raise(copies_id, copies_done);
    return all;
  }
};

}  // namespace axon::emulator
