// Neighbours of two bytes in one word, from different warps and blocks.
#include "gpu.h"

static SHARED __bf16 mine[128];

KERNEL halves(__bf16* out, const float* in) {
  const u32 i = thread(), at = i * blocks() + block();
  mine[i] = static_cast<__bf16>(in[at]);
  barrier();
  const u32 shift = BUG == 1 && block() == 1 ? 1 : 0;
  out[at - shift] = mine[i ^ 63];
}
