// The functions behind the rows of primitives.cpp, by family.
#pragma once
#include <bit>
#include <cstdint>

#include "emulator/primitives.h"

namespace axon::emulator {

inline float to_float(uint64_t word) { return std::bit_cast<float>(static_cast<uint32_t>(word)); }
inline uint64_t to_word(float value) { return std::bit_cast<uint32_t>(value); }

// primitives_block.cpp: special registers, barriers, fences, events.
enum class Register { tid, ntid, ctaid, nctaid, zero, one, lane, warp, warps, warp_size };
void read_register(const Call&);
void arrive_at_barrier_0(const Call&);
void arrive_aligned(const Call&);    ///< number, and threads if the parameter is 1
void arrive_unaligned(const Call&);  ///< the same
void fence_memory(const Call&);
void wait_for_events(const Call&);  ///< address, count, target
void notify_event(const Call&);     ///< address, epoch
void enter_task(const Call&);       ///< type, task
void give_up(const Call&);
void leave_kernel(const Call&);

// primitives_warp.cpp: between the lanes of a mask.
enum class Shuffle { up, down, bfly, idx };
void meet_warp(const Call&);  ///< mask
void shuffle(
    const Call&);  ///< mask, value, lane, clamp and segments; the value, and whether it is another lane's
enum class Vote { any, all, uni, ballot };
void vote(const Call&);  ///< mask, predicate
enum class Redux { add, min, max, umin, umax, bit_and, bit_or, bit_xor };
void reduce_lanes(const Call&);  ///< value, mask

// primitives_matrix.cpp: products of tiles in registers.
enum class Matrix { bf16_k16, bf16_k8, f16_k16 };
void multiply_tiles(const Call&);  ///< registers of A, B and C
inline constexpr int transposed = 16;
void load_matrices(const Call&);  ///< address of a row; the parameter is the number of matrices

// primitives_copy.cpp: asynchronous copies.
inline constexpr int with_source_size = 256;
void copy_async(const Call&);  ///< to, from, perhaps bytes of the source; the parameter is the size
void commit_copies(const Call&);
void wait_for_copies(const Call&);  ///< how many groups may be missing
void wait_for_all_copies(const Call&);

// primitives_math.cpp: functions of floats.
enum class Math {
  fma,
  add,
  mul,
  div,
  sqrt,
  rsqrt,
  rcp,
  exp2,
  log2,
  sin,
  cos,
  abs,
  min,
  max,
  floor,
  ceil,
  saturate
};
inline constexpr int flush = 256;  ///< subnormal arguments and results are zero
void compute(const Call&);
void keep_argument(const Call&);  ///< an address is the same in all address spaces
void pack_bf16(const Call&);      ///< high, low
void pack_f16(const Call&);

}  // namespace axon::emulator
