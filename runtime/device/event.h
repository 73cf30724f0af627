// Waiting for and announcing finished tasks: the only place that touches event words.
//
// In: the launch's context, a word and the epoch that stands for "done in this iteration". A wait is an
// acquire, a notification a release; nothing else orders memory between workers. Epochs are compared as
// signed differences, so a wrapped counter is harmless as long as a launch uses fewer than 2^31 of them.
#pragma once
#include "abi.h"

extern "C" {
/// Returns true when *word has reached `target`, false when the launch was cancelled meanwhile.
bool axon_event_wait(const axon_kernel_context* context, const uint32_t* word, uint32_t target);
/// Waits for `count` consecutive words.
bool axon_event_wait_run(const axon_kernel_context* context, const uint32_t* word, int64_t count,
                         uint32_t target);
/// Have all of the words reached it?
bool axon_event_reached_run(const uint32_t* word, int64_t count, uint32_t target);
/// Stores `epoch` and wakes whoever sleeps.
void axon_event_notify(const axon_kernel_context* context, uint32_t* word, uint32_t epoch);
/// Records the first failed check of a launch: `number` is the check's, `value` what failed it, `against`
/// what it was held against: an index and the last one of its axis, two sizes that had to be equal.
void axon_check_failed(const axon_kernel_context* context, uint32_t number, int64_t value, int64_t against);
}
