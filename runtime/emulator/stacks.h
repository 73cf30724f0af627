// Memory for the stacks of fibers. It is taken lazily, and a page without access lies below each as far as
// the system grants that.
#pragma once
#include <sys/mman.h>

#include <cstddef>

namespace axon::emulator {

class Stacks {
 public:
  static constexpr size_t bytes_of_one = 1 << 20, guard = 4096;
  static constexpr size_t most_of_a_function = bytes_of_one / 4 * 3;

  ~Stacks() {
    if (memory_ != nullptr) munmap(memory_, count_ * bytes_of_one);
  }
  Stacks() = default;
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  /// False if there is no memory. Stacks that there are already are kept.
  bool reserve(size_t count) {
    if (count <= count_) return true;
    if (memory_ != nullptr) munmap(memory_, count_ * bytes_of_one);
    void* memory = mmap(nullptr, count * bytes_of_one, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory_ = memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
    count_ = memory_ == nullptr ? 0 : count;
    if (memory_ != nullptr)
      madvise(memory_, count * bytes_of_one, MADV_NOHUGEPAGE);  // few pages of each are used
    for (size_t i = 0; i < count_; ++i)
      if (mprotect(memory_ + i * bytes_of_one, guard, PROT_NONE) != 0) break;
    return memory_ != nullptr;
  }
  std::byte* low(size_t i) const { return memory_ + i * bytes_of_one + guard; }
  /// Not all at the same place of a page, where they would be in each other's way in caches.
  std::byte* high(size_t i) const { return memory_ + (i + 1) * bytes_of_one - i % 64 * 320; }

 private:
  std::byte* memory_ = nullptr;
  size_t count_ = 0;
};

}  // namespace axon::emulator
