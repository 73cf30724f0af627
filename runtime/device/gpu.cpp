// See gpu.h. They are kept out of line until the module is optimised, for the emulator.
#include "gpu.h"

namespace {

constexpr unsigned nanoseconds_of_a_pause = 20;

inline uint32_t acquired(const uint32_t* word) {
  uint32_t seen;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
  return seen;
}
inline void release(uint32_t* word, uint32_t value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}
inline bool reached(uint32_t seen, uint32_t target) { return static_cast<int32_t>(seen - target) >= 0; }

}  // namespace

extern "C" {

[[gnu::noinline]] void axon_gpu_wait(const uint32_t* word, int64_t count, uint32_t target) {
  const auto threads = static_cast<int64_t>(__nvvm_read_ptx_sreg_ntid_x());
  for (int64_t i = __nvvm_read_ptx_sreg_tid_x(); i < count; i += threads)
    while (!reached(acquired(word + i), target)) __nvvm_nanosleep(nanoseconds_of_a_pause);
  __syncthreads();
}

[[gnu::noinline]] void axon_gpu_notify(uint32_t* word, uint32_t epoch) {
  __syncthreads();
  if (__nvvm_read_ptx_sreg_tid_x() != 0) return;
  __nvvm_membar_gl();
  release(word, epoch);
}

[[gnu::noinline]] uint32_t axon_gpu_thread(void) {
  uint32_t number;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(number));
  return number;
}

[[gnu::noinline]] void axon_gpu_task(uint32_t type, int64_t task) {
  asm volatile("" : : "r"(type), "l"(task));
}
}
