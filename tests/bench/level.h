// Loops that are compiled once for every instruction-set level, and which of them this run takes.
//
// ceilings.cpp and fork_join_loops.cpp are what is compiled so. They hold loops over numbers and share no
// code with any other file: the linker keeps one copy of a shared function, which could be that of a level
// the machine lacks.
#pragma once
#include <cstddef>
#include <cstdint>

namespace axon::bench {

/// What one thread can do at most.
struct Ceilings {
  int64_t operations;                      ///< of a round: a multiplication and an addition are two
  void (*multiply_adds)(int64_t rounds);   ///< independent multiply-adds of whole vectors
  void (*read_all)(const float*, size_t);  ///< reads a multiple of 128 floats and does nothing else
};

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
extern const Ceilings ceilings;
extern const DecoderLoops decoder_loops;
}  // namespace v2
namespace v3 {
extern const Ceilings ceilings;
extern const DecoderLoops decoder_loops;
}  // namespace v3
namespace v4 {
extern const Ceilings ceilings;
extern const DecoderLoops decoder_loops;
}  // namespace v4

/// The level that AXON_LEVEL names, else the best that this machine runs: 2, 3 or 4. Ends the program with
/// status 77 where the machine lacks the level that is named, with 2 where there is none of that name.
int level();

inline const Ceilings& ceilings() {
  return level() == 4 ? v4::ceilings : level() == 3 ? v3::ceilings : v2::ceilings;
}

}  // namespace axon::bench
