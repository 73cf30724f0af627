// Loops that reach what one thread can do at most, compiled once for every instruction-set level.
//
// In: nothing, or memory. Out: nothing but the time that they take. They share no code with any other file:
// the linker keeps one copy of a shared function, which could be that of a level the machine lacks.
#pragma once
#include <cstddef>
#include <cstdint>

namespace axon::probe {

struct Loops {
  int64_t multiply_adds_of_a_round;       ///< of float32
  void (*multiply_adds)(int64_t rounds);  ///< independent multiply-adds of whole vectors
  /// Each reads a multiple of 128 floats and does nothing else: from the first to the last, and from two
  /// places at once, of which prefetchers may make more.
  void (*read_all[2])(const float*, size_t);
};

namespace v2 {
extern const Loops loops;
}
namespace v3 {
extern const Loops loops;
}
namespace v4 {
extern const Loops loops;
}

}  // namespace axon::probe
