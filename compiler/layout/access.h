// What one instruction of a warp costs a memory: bank conflicts, sectors and lines. They are counted from
// layouts before anything runs, so far by tests alone: no layout is chosen by them.
//
// In: addresses of lanes, or the layout of a tensor in threads and the one in memory. Out: counts. Invariant:
// the numbers of banks, words, sectors and lines are those of every NVIDIA machine since sm_70.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "layout/outcome.h"
#include "layout/swizzle.h"

namespace axon::layout {

constexpr int64_t bank_count = 32, word_bytes = 4, sector_bytes = 32, line_bytes = 128;

/// Each lane that is active touches `width` bytes from its address on.
struct WarpAccess {
  std::map<int64_t, int64_t> addresses;  ///< by lane
  int64_t width = word_bytes;
};

/// In how many passes shared memory serves it. A pass serves as many neighbouring lanes as 128 bytes are wide
/// enough for, and takes as often as there are different words in one bank: 1 each without a conflict.
int64_t bank_passes(const WarpAccess&);
/// How many different pieces of that many bytes it touches: sector_bytes, or line_bytes.
int64_t pieces_touched(const WarpAccess&, int64_t piece_bytes);

/// The instructions, of each warp and register number, that move a tensor between threads and a memory. Where
/// lanes hold vectors (`v`), each moves one. Both are layouts of numbers and of one size. Refused where a
/// lane's vector does not lie in one piece in memory, in order and aligned to its width, where `thread`
/// cannot be split into warps and lanes, or where the memory has replicas.
Outcome<std::vector<WarpAccess>> accesses(const Layout& threads, const Swizzled& memory,
                                          int64_t element_bytes);

}  // namespace axon::layout
