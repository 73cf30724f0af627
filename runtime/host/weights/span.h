// The one way to look at untrusted bytes: a pointer and a size, every access checked, every sum through the
// overflow builtins. Nothing in this folder adds to a raw pointer before a Bytes has agreed to it.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace axon::weights {

static_assert(std::endian::native == std::endian::little,
              "weight files are little-endian and read as they are");

inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b) {
  uint64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

class Bytes {
 public:
  Bytes() = default;
  Bytes(const void* data, size_t size) : data_(static_cast<const uint8_t*>(data)), size_(size) {}
  explicit Bytes(std::string_view text) : Bytes(text.data(), text.size()) {}
  explicit Bytes(const std::vector<uint8_t>& bytes) : Bytes(bytes.data(), bytes.size()) {}

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

  /// The `length` bytes from `offset`, if they are all there.
  std::optional<Bytes> sub(uint64_t offset, uint64_t length) const {
    const auto end = checked_add(offset, length);
    if (!end || *end > size_) return std::nullopt;
    return Bytes(data_ + offset, length);
  }

  /// Everything from `offset` on.
  std::optional<Bytes> from(uint64_t offset) const {
    if (offset > size_) return std::nullopt;
    return Bytes(data_ + offset, size_ - offset);
  }

  /// A little-endian number at any alignment.
  template <class T>
  std::optional<T> load(uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = sub(offset, sizeof(T));
    if (!bytes) return std::nullopt;
    T value;
    std::memcpy(&value, bytes->data(), sizeof(T));
    return value;
  }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace axon::weights
