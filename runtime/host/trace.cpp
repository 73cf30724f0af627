// See trace.h.
#include "host/trace.h"

#include <cpuid.h>
#include <x86intrin.h>

#include <algorithm>
#include <chrono>

#include "host/clock.h"

namespace axon::host {

namespace {

uint64_t steady_nanoseconds() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

/// Do the processor's ticks go on at one rate, whatever it does?
bool has_even_ticks() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned power_management = 0x80000007, invariant = 1U << 8;
  return __get_cpuid(power_management, &a, &b, &c, &d) != 0 && (d & invariant) != 0;
}
const bool even_ticks = has_even_ticks();

/// Nanoseconds of a tick, measured for long enough that looking at two clocks does not count.
double measure_tick() {
  if (!even_ticks) return 1;
  constexpr double long_enough = 5e6;
  const Clock::time_point begin = Clock::now();
  const uint64_t ticks = __rdtsc();
  double passed = 0;
  do passed = nanoseconds_since(begin);
  while (passed < long_enough);
  return passed / static_cast<double>(__rdtsc() - ticks);
}

}  // namespace

uint64_t Trace::now() { return even_ticks ? __rdtsc() : steady_nanoseconds(); }

Trace::Trace(uint32_t workers, size_t runs) : workers_(workers), room_(runs), tick_(measure_tick()) {
  for (Worker& worker : workers_) worker.runs.reserve(runs);
}

void Trace::begin(const Variant& variant) {
  for (Worker& worker : workers_) {
    worker.runs.clear();
    worker.lost = 0;
    worker.last = 0;
  }
  variant_ = &variant;
  begin_ = now();
}

double Trace::since_begin(uint64_t ticks) const {
  return static_cast<double>(static_cast<int64_t>(ticks - begin_)) * tick_;
}

void Trace::add(uint32_t worker, uint32_t kernel, int64_t first, int64_t count, uint64_t begin,
                uint64_t end) {
  if (worker >= workers_.size() || kernel >= variant_->kernels.size()) return;
  Worker& mine = workers_[worker];
  if (mine.runs.size() == room_) {
    ++mine.lost;
    return;
  }
  const double from = std::max(since_begin(begin), mine.last);
  mine.last = std::max(since_begin(end), from);
  mine.runs.push_back({variant_->kernels[kernel].name.c_str(), first, count, from, mine.last});
}

}  // namespace axon::host
