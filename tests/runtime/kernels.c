/* Kernels by hand, against runtime/device/abi.h alone: what the compiler would generate for the manifests in
 * support.cpp. They wait and notify by the protocol that abi.h describes. Built without a C library. */
#include <stdint.h>

#include "device/abi.h"

typedef const struct axon_kernel_context* Context;

const uint32_t axon_abi_version = AXON_ABI_VERSION;

/* False when the launch was cancelled. `spins` is how long to look before sleeping. */
static int await_word(Context context, const uint32_t* word, uint32_t target, int spins) {
  for (;;) {
    uint32_t seen = 0;
    for (int i = 0; i < spins; ++i) {
      seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
      if ((int32_t)(seen - target) >= 0) return 1;
      __builtin_ia32_pause();
    }
    if (__atomic_load_n(context->cancel, __ATOMIC_RELAXED)) return 0;
    context->services->wait(context, word, seen);
  }
}

static void notify(Context context, uint32_t* word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(context->services->sleepers, __ATOMIC_RELAXED)) context->services->wake(context, word);
}

/* scale: sizes n, m; buffers x [n, m], a [], result [n, m] */
void scale_0(Context context, uint32_t worker) {
  const int64_t n = context->sizes[0] * context->sizes[1];
  const float* x = context->buffers[0];
  const float a = *(const float*)context->buffers[1];
  float* out = context->buffers[2];
  for (int64_t i = n * worker / context->workers; i < n * (worker + 1) / context->workers; ++i)
    out[i] = a * x[i];
}

/* The variant for n <= 1 marks its results, so that a test can tell them apart. */
void scale_one(Context context, uint32_t worker) {
  const int64_t n = context->sizes[0] * context->sizes[1];
  const float* x = context->buffers[0];
  float* out = context->buffers[2];
  if (worker == 0)
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] + 1000;
}

/* strided: sizes m, n, ld; buffers x [m, n] with rows ld apart, s [m, n] by columns, result by columns, m + 1
 * apart: x + s, and s is x after it */
void strided_0(Context context, uint32_t worker) {
  const int64_t m = context->sizes[0], n = context->sizes[1], ld = context->sizes[2];
  const float* x = context->buffers[0];
  float* s = context->buffers[1];
  float* out = context->buffers[2];
  if (worker != 0) return;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      out[i + j * (m + 1)] = x[i * ld + j] + s[i + j * m];
      s[i + j * m] = x[i * ld + j];
    }
}

/* chain: sizes n, l; buffers x [n] (u32 as i32), arena slot [2, n], result [n]. l times: every element
 * becomes the sum of itself and its neighbours. Task j of iteration i waits for its neighbours' tasks of
 * iteration i - 1. */
static void chain(Context context, uint32_t worker, int spins) {
  const int64_t n = context->sizes[0], l = context->sizes[1], workers = context->workers;
  const uint32_t* x = context->buffers[0];
  uint32_t* slots = context->buffers[1];
  uint32_t* out = context->buffers[2];
  uint32_t* words = context->events + context->event_offset[0];
  for (int64_t i = 0; i < l; ++i)
    for (int64_t j = n * worker / workers; j < n * (worker + 1) / workers; ++j) {
      uint32_t sum = 0;
      for (int64_t k = j - 1; k <= j + 1; ++k) {
        if (k < 0 || k >= n) continue;
        if (i > 0 && !await_word(context, words + k, context->epoch + (uint32_t)i, spins)) return;
        sum += i == 0 ? x[k] : slots[(i & 1) * n + k];
      }
      slots[((i + 1) & 1) * n + j] = sum;
      if (i == l - 1) out[j] = sum;
      notify(context, words + j, context->epoch + (uint32_t)i + 1);
    }
}
void chain_0(Context context, uint32_t worker) { chain(context, worker, 1000); }
void chain_sleepy(Context context, uint32_t worker) { chain(context, worker, 1); }

/* stuck: waits for the second word of its second event, which nobody writes. */
void stuck_0(Context context, uint32_t worker) {
  (void)worker;
  await_word(context, context->events + context->event_offset[1] + 1, context->epoch + 1, 10);
}

/* keep: state cache [s] i32, token i32, size pos: cache[pos] = token; result 0 is the sum of the cache, 1 the
 * cache */
void keep_0(Context context, uint32_t worker) {
  if (worker != 0) return;
  const int64_t s = context->sizes[0], pos = context->sizes[1];
  int32_t* cache = context->buffers[0];
  cache[pos] = *(const int32_t*)context->buffers[1];
  int64_t sum = 0;
  for (int64_t i = 0; i < s; ++i) sum += cache[i];
  *(int64_t*)context->buffers[2] = sum;
}

/* failing: stores the second check's number, and a value */
void failing_0(Context context, uint32_t worker) {
  if (worker != 0) return;
  *context->failed_value = *(const int32_t*)context->buffers[0];
  *context->failed = 2;
}

/* talking: debug 0 */
void talking_0(Context context, uint32_t worker) {
  if (worker == 0) context->services->debug(context, 0);
}

/* weights: copies the prepared bytes of w into the result [bytes] u8, as they lie in memory; then v [d] */
void weights_0(Context context, uint32_t worker) {
  const int64_t prepared = context->sizes[4];
  const uint8_t* w = context->buffers[0];
  const uint8_t* v = context->buffers[1];
  uint8_t* out = context->buffers[2];
  if (worker != 0) return;
  for (int64_t i = 0; i < prepared; ++i) out[i] = w[i];
  for (int64_t i = 0; i < context->sizes[1] * 4; ++i) out[prepared + i] = v[i];
}

/* grind: sizes work, steps; `steps` dependent segments, each of `work` rounds shared by the workers */
void grind_0(Context context, uint32_t worker) {
  const int64_t work = context->sizes[0], steps = context->sizes[1], workers = context->workers;
  uint32_t state = 1;
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t begin = work * worker / workers, end = work * (worker + 1) / workers;
    for (int64_t i = begin; i < end; ++i) state = state * 1664525u + 1013904223u;
    notify(context, context->events + worker * 16, context->epoch + (uint32_t)step + 1);
    for (int64_t other = 0; other < workers; ++other)
      if (!await_word(context, context->events + other * 16, context->epoch + (uint32_t)step + 1, 1000))
        return;
  }
  ((uint32_t*)context->buffers[0])[worker * 16] = state;
}

/* copy_<element type>: size n; buffers x [n], y [], results [n] and [] */
static void copy(Context context, uint32_t worker, int64_t bytes) {
  const int64_t n = context->sizes[0] * bytes;
  const uint8_t *x = context->buffers[0], *y = context->buffers[1];
  uint8_t *xs = context->buffers[2], *ys = context->buffers[3];
  for (int64_t i = n * worker / context->workers; i < n * (worker + 1) / context->workers; ++i) xs[i] = x[i];
  for (int64_t i = 0; worker == 0 && i < bytes; ++i) ys[i] = y[i];
}
void copy_1(Context context, uint32_t worker) { copy(context, worker, 1); }
void copy_2(Context context, uint32_t worker) { copy(context, worker, 2); }
void copy_4(Context context, uint32_t worker) { copy(context, worker, 4); }
void copy_8(Context context, uint32_t worker) { copy(context, worker, 8); }

/* traced: k runs of tasks on every worker, of both kernels in turn, and one of a kernel that there is not */
void traced_0(Context context, uint32_t worker) {
  uint64_t begin = context->services->now();
  for (int64_t i = 0; i < context->sizes[0]; ++i)
    begin = context->services->trace(context, worker, (uint32_t)(i % 2), i, i + 1, begin);
  context->services->trace(context, worker, 2, 0, 1, context->services->now());
}

/* empty: what a launch costs */
void empty_0(Context context, uint32_t worker) {
  (void)context;
  (void)worker;
}
