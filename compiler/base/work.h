// Work that is counted: what ends the compilation of a program that would take for ever.
//
// In: steps, counted by the functions that make them: a scalar or a dimension built, one element of a walk, a
// term of a row in the prover. Out: TooMuchWork, thrown by the step that the allowance in force has no room
// for. Steps are counted, time is never looked at: a program is accepted on every machine or on none. Without
// an allowance nothing is limited. Every thread counts its own.
#pragma once
#include <cstdint>
#include <limits>

#include "base/interrupt.h"

namespace axon::base {

/// Not an error at a place: who gave the allowance says what was too much.
struct TooMuchWork {};

namespace detail {
inline thread_local uint64_t work_left = std::numeric_limits<uint64_t>::max();
}

/// Counts `steps`, and throws where they are more than the allowance in force has left.
inline void work(uint64_t steps = 1) {
  poll();
  if (detail::work_left < steps) throw TooMuchWork{};
  detail::work_left -= steps;
}

/// While it lives, this thread may make `steps` steps. What an allowance inside of another spends, both
/// spend.
class Allowance {
 public:
  explicit Allowance(uint64_t steps) : outer_(detail::work_left), given_(steps < outer_ ? steps : outer_) {
    detail::work_left = given_;
  }
  ~Allowance() { detail::work_left = outer_ - spent(); }
  Allowance(const Allowance&) = delete;
  Allowance& operator=(const Allowance&) = delete;
  uint64_t spent() const { return given_ - detail::work_left; }

 private:
  uint64_t outer_, given_;
};

}  // namespace axon::base
