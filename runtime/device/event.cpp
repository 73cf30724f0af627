#include "event.h"

namespace {

constexpr int spins_before_sleep =
    2000;  // with pause, some 50 microseconds: longer than any hand-over between busy workers

inline bool reached(uint32_t seen, uint32_t target) { return static_cast<int32_t>(seen - target) >= 0; }

/// Kept out of line so that a wait that is already satisfied costs a load and a branch.
[[gnu::noinline, gnu::cold]] bool wait_slowly(const axon_kernel_context* context, const uint32_t* word,
                                              uint32_t target) {
  for (;;) {
    uint32_t seen = 0;
    for (int spin = 0; spin < spins_before_sleep; ++spin) {
      seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
      if (reached(seen, target)) return true;
      __builtin_ia32_pause();
    }
    if (__atomic_load_n(context->cancel, __ATOMIC_RELAXED) != 0) return false;
    context->services->wait(context, word, seen);
  }
}

}  // namespace

extern "C" {

bool axon_event_wait(const axon_kernel_context* context, const uint32_t* word, uint32_t target) {
  if (__builtin_expect(reached(__atomic_load_n(word, __ATOMIC_ACQUIRE), target), 1)) return true;
  return wait_slowly(context, word, target);
}

bool axon_event_wait_run(const axon_kernel_context* context, const uint32_t* word, int64_t count,
                         uint32_t target) {
  for (int64_t i = 0; i < count; ++i)
    if (!axon_event_wait(context, word + i, target)) return false;
  return true;
}

bool axon_event_reached_run(const uint32_t* word, int64_t count, uint32_t target) {
  for (int64_t i = 0; i < count; ++i)
    if (!reached(__atomic_load_n(word + i, __ATOMIC_ACQUIRE), target)) return false;
  return true;
}

void axon_event_notify(const axon_kernel_context* context, uint32_t* word, uint32_t epoch) {
  // Sequentially consistent, which is more than release: the store must be visible before `sleepers` is read,
  // or a worker that goes to sleep in between would miss its wake-up. (The sleeper counts itself in, then
  // looks again.)
  __atomic_store_n(word, epoch, __ATOMIC_SEQ_CST);
  if (__builtin_expect(__atomic_load_n(context->services->sleepers, __ATOMIC_SEQ_CST) != 0, 0))
    context->services->wake(context, word);
}

void axon_check_failed(const axon_kernel_context* context, uint32_t number, int64_t value, int64_t against) {
  // A read costs little; to fail at writing takes the word away from every other worker.
  if (__atomic_load_n(context->failed, __ATOMIC_RELAXED) != 0) return;
  uint32_t none = 0;
  if (!__atomic_compare_exchange_n(context->failed, &none, number + 1, false, __ATOMIC_RELAXED,
                                   __ATOMIC_RELAXED))
    return;
  context->failed_value[0] = value;
  context->failed_value[1] = against;
}
}
