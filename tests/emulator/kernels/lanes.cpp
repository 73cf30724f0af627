// Prefix sums of a warp, and what can go wrong between lanes.
#include "gpu.h"

static SHARED float exchange[64];

KERNEL lanes(float* out, const float* in) {
  const u32 i = thread(), lane = i % 32;
  const u32 at = block() * threads() + i;
  if (BUG == 1 && lane == 9) return;  // and the others name it
  float sum = in[at];
  const u32 mask = BUG == 2 && lane >= 16 ? 0x0000ffff
                   : BUG == 3 || BUG == 9 ? (lane < 16 ? 0x0000ffff : 0xffff0000)
                                          : all_lanes;
  if (BUG == 4 && lane == 3) {
    out[at] = __nvvm_vote_ballot_sync(all_lanes, true);
    return;
  }
  for (int distance = 1; distance < 32; distance *= 2) {
    const float other = __nvvm_shfl_sync_up_f32(mask, sum, distance, BUG == 9 ? 16 << 8 : 0);
    if (static_cast<int>(lane % (BUG == 9 ? 16 : 32)) >= distance) sum += other;
  }
  exchange[i] = sum;
  if (BUG != 5) __nvvm_bar_warp_sync(all_lanes);
  float more = exchange[i ^ 1];
  if (BUG == 6 ? lane % 2 == 0 : lane >= 0) more += static_cast<float>(__nvvm_vote_all_sync(all_lanes, 1));
  if (BUG == 7 && i < 32) barrier();  // of two warps
  if (BUG == 8 && i >= 32)
    __nvvm_barrier_sync_cnt(1, 64);
  else if (BUG == 8)
    __nvvm_barrier_sync_cnt(1, 32);
  out[at] = sum + 0.25F * more;
}
