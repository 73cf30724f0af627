// What kernels of these tests are written with. -DBUG=n plants the n-th bug of a kernel.
#pragma once
using u32 = unsigned;

#ifndef BUG
#define BUG 0
#endif
#define KERNEL extern "C" __attribute__((nvptx_kernel)) void
#define SHARED __attribute__((address_space(3)))
#define GLOBAL __attribute__((address_space(1)))
constexpr u32 all_lanes = 0xffffffff;

inline u32 thread() { return static_cast<u32>(__nvvm_read_ptx_sreg_tid_x()); }
inline u32 threads() { return static_cast<u32>(__nvvm_read_ptx_sreg_ntid_x()); }
inline u32 block() { return static_cast<u32>(__nvvm_read_ptx_sreg_ctaid_x()); }
inline u32 blocks() { return static_cast<u32>(__nvvm_read_ptx_sreg_nctaid_x()); }
inline void barrier() { __syncthreads(); }

inline float sum_of_lanes(float x, u32 mask = all_lanes) {
  for (u32 distance = 16; distance != 0; distance /= 2)
    x += __nvvm_shfl_sync_bfly_f32(mask, x, static_cast<int>(distance), 31);
  return x;
}

extern "C" {
// As on a GPU. The emulator does not look at these, nor at what only they call.
inline u32 axon_gpu_load_acquire(const u32* word) {
  u32 seen;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
  return seen;
}
inline __attribute__((noinline)) void axon_gpu_wait(const u32* word, long count, int target) {
  for (long i = thread(); i < count; i += threads())
    while (static_cast<int>(axon_gpu_load_acquire(word + i) - static_cast<u32>(target)) < 0) {
    }
  barrier();
}
inline __attribute__((noinline)) void axon_gpu_notify(u32* word, int epoch) {
  barrier();
  if (thread() == 0) asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(word), "r"(epoch) : "memory");
}
inline __attribute__((noinline)) void axon_gpu_task(int, long) { asm volatile(""); }

// prims.ll
void load_matrices_4(u32* to, const void SHARED* row);
void load_matrices_2(u32* to, const void SHARED* row);
void load_matrices_2_transposed(u32* to, const void SHARED* row);
void multiply_bf16(float* sum, const u32* a, const u32* b);
void multiply_f16(float* sum, const u32* a, const u32* b);
void multiply_bf16_8(float* sum, const u32* a, const u32* b);
}
