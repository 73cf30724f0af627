// What generated code calls in the host while it runs: sleeping on an event word, waking its sleepers, debug
// output, the clock and the notes of traces; and the watchdog, which turns a launch that can never end into
// an error.
//
// No wake-up is lost: a waiter raises the sleeper count, then makes a barrier on every running thread of the
// process (membarrier), then looks at the word again. A producer stores its word, then reads the count, with
// no barrier of its own. If it read the count too early, its store came before the waiter's barrier and the
// waiter sees it; else it calls wake. Where the system has no membarrier, sleeps are short instead.
//
// Watchdog: a waiter that slept for a while looks around. When every worker of the launch waits or has
// finished and no event word has changed for the whole limit, nothing can ever change again: the launch is
// cancelled. The limit counts slept slices, not the clock, so that stopping the process does not trip it; and
// a worker that is busy never does.
#pragma once
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "device/abi.h"

namespace axon::host {

class Services;
class Trace;

/// One launch of a kernel. The context comes first: its address leads back here.
struct Launch {
  axon_kernel_context context{};
  Services* services = nullptr;
  uint64_t event_words = 0;
  std::atomic<uint32_t> waiting{0}, finished{0};  ///< workers
  std::atomic<const uint32_t*> stuck{nullptr};    ///< set by the watchdog: a word that will never change
  void (*debug)(void* user, uint32_t number) = nullptr;
  void* debug_user = nullptr;
  bool may_run_alone =
      false;               ///< on the launching thread, rather than wait for workers that another launch has
  Trace* trace = nullptr;  ///< where traced kernels note their tasks; null: nowhere
};
static_assert(std::is_standard_layout_v<Launch>);

class Services {
 public:
  Services();
  const axon_services* table() const { return &table_; }
  void set_limit(double seconds);
  double limit() const { return static_cast<double>(limit_.load(std::memory_order_relaxed)) * 1e-9; }
  bool has_barrier() const { return has_barrier_; }
  /// In a forked process, where nobody sleeps yet.
  void restart();

 private:
  static void wait(const axon_kernel_context*, const uint32_t* word, uint32_t seen);
  static void wake(const axon_kernel_context*, const uint32_t* word);
  static void debug(const axon_kernel_context*, uint32_t number);
  static uint64_t trace(const axon_kernel_context*, uint32_t worker, uint32_t kernel, int64_t first,
                        int64_t count, uint64_t begin);
  void sleep(Launch&, const uint32_t* word, uint32_t seen);

  axon_services table_{};
  bool has_barrier_ = false;
  std::atomic<int64_t> limit_{10'000'000'000};  ///< nanoseconds
  alignas(64) uint32_t sleepers_ = 0;           ///< accessed atomically; generated code reads it
};

}  // namespace axon::host
