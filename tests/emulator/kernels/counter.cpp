// Blocks hand over values by a counter: the last to come adds up all.
#include "gpu.h"

static SHARED u32 last;

KERNEL counter(float* parts, float* out, u32* count) {
  const u32 i = thread();
  parts[block() * threads() + i] = static_cast<float>(block() * threads() + i);
  if (BUG == 3)
    __nvvm_bar_warp_sync(all_lanes);
  else
    barrier();
  if (i == 0) {
    if (BUG == 0) last = __atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL) + 1 == blocks();
    if (BUG == 1 || BUG == 3) last = __atomic_fetch_add(count, 1, __ATOMIC_ACQUIRE) + 1 == blocks();
    if (BUG == 2) last = __atomic_fetch_add(count, 1, __ATOMIC_RELEASE) + 1 == blocks();
    if (BUG == 4) last = ++*count == blocks();
    if (BUG == 5) {  // correct, with fences
      __nvvm_membar_gl();
      last = __atomic_fetch_add(count, 1, __ATOMIC_RELAXED) + 1 == blocks();
      __nvvm_membar_gl();
    }
  }
  barrier();
  if (last == 0) return;
  for (u32 b = 0; b < blocks(); ++b) out[i] += parts[b * threads() + i];
}
