// What one thread of a 512-bit machine can do at most. Compiled for that machine: call only where it runs.
#pragma once
#include <cstddef>
#include <cstdint>

namespace axon::bench {

/// `rounds` times 16 independent multiply-adds of 16 floats.
void multiply_adds(int64_t rounds);
/// Reads count floats (a multiple of 128 of them) and nothing else.
void read_all(const float* from, size_t count);

}  // namespace axon::bench
