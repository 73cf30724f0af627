// C = A B of 16 x 8 tiles, a warp each: bf16 rows through shared memory, ldmatrix and mma.
#include "gpu.h"

static SHARED __attribute__((aligned(16))) __bf16 as[16][16], bs[4][16][8];

/// A is m x k, B is k x n, both row-major; a block has 16 rows, warps take columns.
KERNEL matmul(float* c, const __bf16* a, const __bf16* b, u32 n, u32 k) {
  const u32 i = thread(), lane = i % 32, warp = i / 32;
  a += block() * 16 * k;
  c += block() * 16 * n;
  for (u32 column = warp * 8; column < n; column += threads() / 32 * 8) {
    float sum[4] = {0, 0, 0, 0};
    for (u32 depth = 0; depth < k; depth += 16) {
      barrier();
      for (u32 e = i; e < 256; e += threads()) as[e / 16][e % 16] = a[e / 16 * k + depth + e % 16];
      for (u32 e = lane; e < 128; e += 32) bs[warp][e / 8][e % 8] = b[(depth + e / 8) * n + column + e % 8];
      if (BUG != 1) barrier();
      u32 left[4], right[2];
      const u32 step = BUG == 2 ? 4 : 8;
      load_matrices_4(left, &as[lane % 16][lane / 16 * step]);
      load_matrices_2_transposed(right, &bs[warp][lane % 16][0]);
      multiply_bf16(sum, left, right);
    }
    for (u32 r = 0; r < 4; ++r) c[(lane / 4 + 8 * (r / 2)) * n + column + lane % 4 * 2 + r % 2] = sum[r];
  }
}
