// What generated code and the host runtime share: the context that a megakernel gets, and its signature.
// Plain C layout, included by runtime/host, by the device bitcode and mirrored by compiler/module/frame.h (a
// test compares the offsets).
//
// Slots. Producer task t of an event's task type owns one 32-bit word, events[event_offset + t]. When the
// task is done in iteration i (0 outside loops; nested loops count row-major) it stores epoch + i + 1 there,
// with release. A consumer waits until every word it needs is at least epoch + i + 1, compared as a signed
// difference so that wrapping is harmless. The host advances `epoch` by the launch's iterations + 1 after
// each launch. Nothing is reset.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AXON_ABI_VERSION 1u

/* Plans lay out a word per worker where a loop that the data ends stands inside of another. */
#define AXON_MOST_WORKERS 1024

struct axon_services;

struct axon_kernel_context {
  int64_t* sizes; /* the entry's sizes in manifest order; the launch writes those that the data decides */
  void* const* buffers;        /* base address per buffer of the variant, manifest order */
  uint32_t* events;            /* event words */
  const int64_t* event_offset; /* per event: first word */
  uint32_t epoch;              /* base epoch of this launch */
  uint32_t workers;            /* how many workers run this launch */
  uint8_t* const* scratch;     /* per worker: private scratch memory, 64-byte aligned */
  uint64_t scratch_bytes;      /* size of each worker's scratch */
  uint32_t* failed;            /* 0, or 1 + number of the first failed check */
  int64_t* failed_value;       /* two: the offending value, and what it was held against */
  uint32_t* cancel;            /* non-zero: waits give up and the kernel returns (watchdog) */
  const struct axon_services* services;
};

/* Host services reached from generated code; everything else is inlined bitcode. As long as the version
 * stays, there may be more at the end: bundles that were made before do not look there. */
struct axon_services {
  /* Called after a bounded spin; returns when *word may have changed. */
  void (*wait)(const struct axon_kernel_context*, const uint32_t* word, uint32_t seen);
  /* Called after a release store when a waiter may sleep (the host keeps a sleeper count; see sleepers). */
  void (*wake)(const struct axon_kernel_context*, const uint32_t* word);
  const uint32_t* sleepers; /* non-zero when some worker sleeps: producers call wake only then */
  /* debug "name" x */
  void (*debug)(const struct axon_kernel_context*, uint32_t debug_number);
  /* Of entries that the manifest calls traced only: a clock; and that tasks `first` to `first + count` of a
   * kernel of the variant, which began at `begin` of that clock, end now, which is returned. */
  uint64_t (*now)(void);
  uint64_t (*trace)(const struct axon_kernel_context*, uint32_t worker, uint32_t kernel, int64_t first,
                    int64_t count, uint64_t begin);
};

/* One per plan variant. Worker `worker` of context->workers runs its share from first to last task, then
 * returns. */
typedef void (*axon_kernel)(const struct axon_kernel_context*, uint32_t worker);

#ifdef __cplusplus
}
#endif
