// The futex system call, on words of this process.
#pragma once
#include <cstdint>

namespace axon::host {

/// Sleeps while *word == seen, until woken or `nanoseconds` have passed (negative: no limit).
void futex_wait(const uint32_t* word, uint32_t seen, int64_t nanoseconds = -1);
void futex_wake_all(const uint32_t* word);

inline void pause() { __builtin_ia32_pause(); }

}  // namespace axon::host
