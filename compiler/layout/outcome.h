// What an operation on layouts gives: a value with what it needs to be right, or why there is none.
//
// Needs are facts about sizes, such as `n % 16 == 0`, that a division without remainder takes for granted:
// who asks proves them, states them in a type, or checks them at a call. Operations on numbers need nothing.
// A result is exact or refused, never an approximation.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bug.h"
#include "shape/prover.h"

namespace axon::layout {

using Needs = std::vector<shape::Fact>;

/// One sentence without its full stop.
struct Refusal {
  std::string why;
};

template <class T>
class Outcome {
 public:
  Outcome(T value, Needs needs = {})  // NOLINT: implicit on purpose, `return layout;` must read so
      : value_(std::move(value)), needs_(std::move(needs)) {}
  Outcome(Refusal refusal) : why_(std::move(refusal.why)) {}  // NOLINT

  explicit operator bool() const { return value_.has_value(); }
  /// Of a refusal there is none: that is looked at first.
  const T& operator*() const {
    if (!value_) base::bug("layout", why_);
    return *value_;
  }
  const T* operator->() const { return &**this; }
  const Needs& needs() const { return needs_; }
  const std::string& why() const { return why_; }  ///< of a refusal
  Refusal refusal() const { return {why_}; }

 private:
  std::optional<T> value_;
  Needs needs_;
  std::string why_;
};

/// Each need once.
inline void append(Needs& to, const Needs& more) {
  for (const shape::Fact& need : more)
    if (std::none_of(to.begin(), to.end(), [&](const shape::Fact& known) {
          return known.lhs == need.lhs && known.relation == need.relation && known.rhs == need.rhs;
        }))
      to.push_back(need);
}

}  // namespace axon::layout
