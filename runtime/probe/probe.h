// What this machine can do at most, measured: how many bytes its threads read, and how many multiply-adds of
// float32 they compute, with the widest instructions of a level.
//
// In: a level that the machine has, a number of threads. Out: rates, the best of several. Each thread has a
// CPU of its own among those that the process may use, as long as there are enough of them. Times begin when
// all threads run.
#pragma once
#include <cstddef>
#include <string_view>

#include "probe/loops.h"

namespace axon::probe {

/// Of "x86-64-v3" and the like; null where there is no such level.
const Loops* find_loops(std::string_view level);

/// Memory to read: on huge pages where the system has them, and all of it touched.
class Buffer {
 public:
  /// At least so many bytes. Throws std::bad_alloc.
  explicit Buffer(size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  const float* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
  float* data_;
};

/// Bytes a second that the threads together read of the first `bytes` of a buffer, each a share of its own
/// again and again: what fits a cache comes from there. A share is at least 512 bytes, and so the buffer has
/// that for each thread.
double read_bandwidth(const Loops&, const Buffer&, size_t bytes, int threads);

/// Multiply-adds a second of all threads together.
double multiply_add_peak(const Loops&, int threads);

}  // namespace axon::probe
