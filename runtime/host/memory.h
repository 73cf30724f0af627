// Memory of the runtime: anonymous mappings that are 64-byte aligned and zeroed at first, large ones on huge
// pages where the system has them. Sizes are checked by whoever asks; a refusal is a value, not an exception.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace axon::host {

constexpr uint64_t huge_page = 2u << 20;

class Memory {
 public:
  Memory() = default;
  ~Memory();
  Memory(Memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        is_result_(other.is_result_) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(is_result_, other.is_result_);
    return *this;
  }

  /// `bytes` may be 0, which costs nothing. nullopt when the system refuses.
  static std::optional<Memory> allocate(uint64_t bytes);
  /// The same for what is written before it is read: from where such memory was let go of, where that is.
  static std::optional<Memory> allocate_result(uint64_t bytes);

  uint8_t* data() const { return static_cast<uint8_t*>(data_); }
  uint64_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  uint64_t size_ = 0;
  bool is_result_ = false;
};

constexpr uint64_t round_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace axon::host
