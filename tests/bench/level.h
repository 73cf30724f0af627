// Loops that are compiled once for every instruction-set level, and which of them this run takes.
//
// fork_join_loops.cpp is what is compiled so, as the loops of runtime/probe are. It shares no code with any
// other file: the linker keeps one copy of a shared function, which could be that of a level the machine
// lacks.
#pragma once
#include <cstddef>
#include <cstdint>

#include "probe/loops.h"

namespace axon::bench {

/// Positions of one head's queries in the caches of keys and values.
struct Attention {
  int64_t heads, groups, head, positions, position;
};

/// The loops of a plain decoder (fork_join.h), `threads` at a time.
struct DecoderLoops {
  /// out[rows] = w[rows][columns] x[columns]
  void (*multiply)(float* out, const float* w, const float* x, int64_t rows, int64_t columns, int threads);
  void (*normalise)(float* out, const float* x, const float* scale, int64_t n);
  void (*rotate)(float* x, int64_t n, int64_t head, int64_t position);  ///< adjacent pairs of every head
  void (*gate)(float* gate, const float* up, int64_t n);
  void (*attend)(float* out, float* scores, const float* q, const float* keys, const float* values,
                 const Attention&, int threads);
};

namespace v2 {
extern const DecoderLoops decoder_loops;
}  // namespace v2
namespace v3 {
extern const DecoderLoops decoder_loops;
}  // namespace v3
namespace v4 {
extern const DecoderLoops decoder_loops;
}  // namespace v4

/// The level that AXON_LEVEL names, else the best that this machine runs: 2, 3 or 4. Ends the program with
/// status 77 where the machine lacks the level that is named, with 2 where there is none of that name.
int level();

/// The probing loops of that level.
inline const probe::Loops& probe_loops() {
  return level() == 4 ? probe::v4::loops : level() == 3 ? probe::v3::loops : probe::v2::loops;
}

}  // namespace axon::bench
