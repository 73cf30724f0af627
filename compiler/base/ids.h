// Typed 32-bit ids and the stores they index.
//
// Every representation keeps its nodes in flat stores and refers to them by id, never by owning pointer:
// freeing a program is freeing a few vectors, and a depth-one-million tree cannot overflow the stack on the
// way out.
#pragma once
#include <cassert>
#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

namespace axon::base {

/// An index into a Store of `Tag` things. Default-constructed ids are invalid.
template <class Tag>
struct Id {
  static constexpr uint32_t invalid = 0xffffffffu;
  uint32_t index = invalid;
  constexpr bool valid() const { return index != invalid; }
  constexpr explicit operator bool() const { return valid(); }
  friend constexpr auto operator<=>(Id, Id) = default;
};

/// Flat, append-only items addressed by their own id type. References are invalidated by add(). Where there
/// are very many, Items may be a std::deque, which grows without a second copy of everything.
template <class Tag, class T, class Items = std::vector<T>>
class Store {
 public:
  void reserve(size_t more) { items_.reserve(items_.size() + more); }
  Id<Tag> add(T value) {
    items_.push_back(std::move(value));
    return {static_cast<uint32_t>(items_.size() - 1)};
  }
  T& operator[](Id<Tag> id) {
    assert(id.index < items_.size());
    return items_[id.index];
  }
  const T& operator[](Id<Tag> id) const {
    assert(id.index < items_.size());
    return items_[id.index];
  }
  uint32_t size() const { return static_cast<uint32_t>(items_.size()); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  Items items_;
};

}  // namespace axon::base

template <class Tag>
struct std::hash<axon::base::Id<Tag>> {
  size_t operator()(axon::base::Id<Tag> id) const noexcept { return id.index; }
};
