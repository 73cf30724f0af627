// Vector clocks: what of every other thread a thread knows to have happened.
//
// A thread's accesses between two times that it tells others carry the same epoch. An access of thread u at
// epoch e happened before what thread t does now if t's clock has e or more for u. Copies share memory until
// one is changed, so threads behind a common barrier hold one clock.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace axon::emulator {

/// The block in the high bits, the thread's number there in the low ten. The asynchronous copies of a thread
/// are a thread of their own, in a block of their own.
using ThreadId = uint32_t;
inline constexpr unsigned bits_of_index = 10;
inline constexpr ThreadId most_thread_ids = 1U << 24;
constexpr ThreadId thread_id(uint32_t block, uint32_t index) { return block << bits_of_index | index; }

class Clock {
 public:
  /// 0 for a thread of which nothing is known.
  uint32_t of(ThreadId thread) const {
    if (blocks_ == nullptr) return 0;
    const uint32_t block = thread >> bits_of_index;
    if (block >= blocks_->size()) return 0;
    const Block* epochs = (*blocks_)[block].get();
    const uint32_t index = thread & ((1U << bits_of_index) - 1);
    return epochs == nullptr || index >= epochs->size() ? 0 : (*epochs)[index];
  }
  /// Knows what both know.
  void join(const Clock&);
  /// Knows of an epoch, and of those before it.
  void raise(ThreadId, uint32_t epoch);

 private:
  using Block = std::vector<uint32_t>;
  using Blocks = std::vector<std::shared_ptr<Block>>;
  Blocks& own_blocks(size_t at_least);
  static Block& own_block(std::shared_ptr<Block>&, size_t at_least);

  std::shared_ptr<Blocks> blocks_;
};

}  // namespace axon::emulator
