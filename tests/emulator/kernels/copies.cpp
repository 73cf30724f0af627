// Rows go through two slots of shared memory by asynchronous copies.
#include "gpu.h"

static SHARED __attribute__((aligned(16))) float slots[2][128];

namespace {

void fetch(const float* in, u32 row) {
  const u32 at = thread() * 4;
  __nvvm_cp_async_cg_shared_global_16(slots[row % 2] + at, (const void GLOBAL*)(in + row * 128 + at));
  __nvvm_cp_async_commit_group();
}

}  // namespace

KERNEL copies(float* out, const float* in, u32 rows) {
  const u32 i = thread();
  float sum = 0;
  fetch(in, 0);
  for (u32 row = 0; row < rows; ++row) {
    if (row + 1 < rows) {
      fetch(in, row + 1);
      if (BUG != 1) {
        if (BUG == 2)
          __nvvm_cp_async_wait_group(2);
        else
          __nvvm_cp_async_wait_group(1);
      }
    } else if (BUG != 1) {
      if (BUG == 3)
        __nvvm_cp_async_wait_group(1);
      else
        __nvvm_cp_async_wait_all();
    }
    if (BUG != 4) barrier();
    for (u32 k = 0; k < 4; ++k) sum += slots[row % 2][127 - 4 * i - k];
    if (BUG != 5) barrier();
  }
  out[block() * threads() + i] = sum;
}
