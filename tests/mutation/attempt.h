// One program through the compiler, in a process of its own, with limits on its time and memory.
//
// The text is formatted, checked, planned, proved and, where it has an entry, run: by the interpreter, by the
// simulator in a random order and natively, with random sizes and contents. What it is is of no matter; that
// the compiler says so, in time, is.
#pragma once
#include <cstdint>
#include <string>

#include "mutate.h"

namespace axon::mutation {

struct Verdict {
  enum class Kind : uint8_t {
    refused,   ///< by the checker
    accepted,  ///< and nothing could be run, or what was run takes too long
    ran,       ///< with the same outcome in every executor
    finding    ///< a crash, an internal error, a limit that is broken, a difference, a late refusal
  };
  Kind kind = Kind::refused;
  std::string stage;  ///< the last that was begun
  std::string text;   ///< of a finding
};

Verdict attempt(const Program&, uint64_t seed);

}  // namespace axon::mutation
