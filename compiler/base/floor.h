// Division that rounds down, as the language's does for integers and for sizes. The divisor is not 0.
#pragma once
#include <cstdint>

namespace axon::base {

/// The least integer divided by -1 wraps to itself.
constexpr int64_t floor_quotient(int64_t a, int64_t b) {
  if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
/// It has the sign of the divisor.
constexpr int64_t floor_remainder(int64_t a, int64_t b) {
  const int64_t remainder = b == -1 ? 0 : a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

}  // namespace axon::base
