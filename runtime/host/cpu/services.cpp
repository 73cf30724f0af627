// Sleeping, waking, and the watchdog (services.h).
#include "host/cpu/services.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "host/cpu/futex.h"
#include "host/trace.h"

namespace axon::host {
namespace {

constexpr int64_t slices = 10;              ///< of the watchdog's limit, per sleep
constexpr int64_t blind_slice = 1'000'000;  ///< nanoseconds, where a wake-up might be lost

Launch& launch_of(const axon_kernel_context* context) {
  return *reinterpret_cast<Launch*>(const_cast<axon_kernel_context*>(context));
}

uint32_t load(const uint32_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

/// Changes whenever any event word does: words only grow within a launch.
uint64_t event_sum(const Launch& launch) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < launch.event_words; ++i)
    sum += __atomic_load_n(&launch.context.events[i], __ATOMIC_RELAXED);
  return sum;
}

bool nobody_works(const Launch& launch) {
  return launch.waiting.load() + launch.finished.load() >= launch.context.workers;
}

}  // namespace

Services::Services() {
  table_ = {wait, wake, &sleepers_, debug, Trace::now, trace};
  restart();
}

void Services::restart() {
  has_barrier_ = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  sleepers_ = 0;
}

void Services::set_limit(double seconds) {
  const double nanoseconds = std::clamp(seconds * 1e9, 1e6, 1e18);  // NaN becomes the lower bound
  limit_.store(nanoseconds >= 1e6 ? static_cast<int64_t>(nanoseconds) : 1'000'000);
}

void Services::sleep(Launch& launch, const uint32_t* word, uint32_t seen) {
  const int64_t limit = limit_.load(std::memory_order_relaxed);
  const int64_t slice = has_barrier_ ? limit / slices : std::min(limit / slices, blind_slice);
  int64_t quiet = 0;
  uint64_t sum = 0;
  while (load(word) == seen && !load(launch.context.cancel)) {
    futex_wait(word, seen, slice);
    if (load(word) != seen) return;
    const uint64_t now = event_sum(launch);
    quiet = nobody_works(launch) && now == sum ? quiet + slice : 0;
    sum = now;
    if (quiet < limit) continue;
    const uint32_t* none = nullptr;
    launch.stuck.compare_exchange_strong(none, word);
    __atomic_store_n(launch.context.cancel, 1u, __ATOMIC_RELEASE);
  }
}

void Services::wait(const axon_kernel_context* context, const uint32_t* word, uint32_t seen) {
  Launch& launch = launch_of(context);
  Services& self = *launch.services;
  launch.waiting.fetch_add(1);
  __atomic_fetch_add(&self.sleepers_, 1u, __ATOMIC_SEQ_CST);
  if (self.has_barrier_) membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  self.sleep(launch, word, seen);
  __atomic_fetch_sub(&self.sleepers_, 1u, __ATOMIC_SEQ_CST);
  launch.waiting.fetch_sub(1);
}

void Services::wake(const axon_kernel_context*, const uint32_t* word) { futex_wake_all(word); }

void Services::debug(const axon_kernel_context* context, uint32_t number) {
  const Launch& launch = launch_of(context);
  if (launch.debug) launch.debug(launch.debug_user, number);
}

uint64_t Services::trace(const axon_kernel_context* context, uint32_t worker, uint32_t kernel, int64_t first,
                         int64_t count, uint64_t begin) {
  const uint64_t end = Trace::now();
  if (Trace* const trace = launch_of(context).trace) trace->add(worker, kernel, first, count, begin, end);
  return end;
}

}  // namespace axon::host
