// Waits and notifications of a kernel on a GPU, whose worker is a block of threads.
//
// In: words of events (abi.h). Waits and notifications are called by all threads of a block together, and are
// their barriers. Invariant: what any thread of a block has stored before it notifies, every thread of a block that
// waits for it reads behind the wait. (PTX ISA, memory consistency model: a release pattern of one thread that
// a barrier orders behind the stores of others is cumulative.)
//
// These names are known to runtime/emulator, which has its own definitions.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns when `count` words from `word` on have reached the target, as signed differences. */
void axon_gpu_wait(const uint32_t* word, int64_t count, uint32_t target);
/* Stores the epoch. */
void axon_gpu_notify(uint32_t* word, uint32_t epoch);
/* The number of the thread in its block. A task asks for it anew, so that what follows from it is not kept in
 * registers from task to task. */
uint32_t axon_gpu_thread(void);
/* Says which task the block begins: nothing on a GPU, a name in what the emulator reports. */
void axon_gpu_task(uint32_t type, int64_t task);

#ifdef __cplusplus
}
#endif
