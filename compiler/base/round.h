// Rounding of a double to an element type: to nearest, ties to even; integers saturate as casts do.
//
// Narrow float formats by arithmetic on doubles: scale so that one unit in the last place is 1, round, scale
// back. A double holds every intermediate exactly, so this is the one correct rounding.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/elem.h"

namespace axon::base {

inline double round_to_format(const FloatFormat& f, double value) {
  if (value == 0 || !std::isfinite(value)) return !f.has_infinity && std::isinf(value) ? std::nan("") : value;
  int exponent = std::max(std::ilogb(value), f.least_exponent);
  double unit = std::ldexp(1.0, exponent - f.fraction_bits);
  double rounded = std::nearbyint(value / unit) * unit;
  if (std::fabs(rounded) <= f.largest) return std::copysign(rounded, value);
  return f.has_infinity ? std::copysign(std::numeric_limits<double>::infinity(), value) : std::nan("");
}

/// `value` as the nearest number of a float type. Overflow gives an infinity; f8e4m3 has none and gives NaN.
inline double round_to(Elem elem, double value) {
  if (elem == Elem::f32) return static_cast<double>(static_cast<float>(value));
  return is_narrow(elem) ? round_to_format(float_format(elem), value) : value;
}

/// What is rounded to a float type for an integer, so that it rounds once: for a narrow float a double with
/// the upper bits of a large integer and whether anything follows them.
inline double real_of(Elem elem, int64_t n) {
  if (elem == Elem::f32) return static_cast<double>(static_cast<float>(n));
  const bool fits = std::abs(static_cast<double>(n)) < 0x1p53 || !is_narrow(elem);
  const int64_t followed = (n & ~int64_t{2047}) | (n % 2048 != 0 ? 1024 : 0);
  return static_cast<double>(fits ? n : followed);
}

/// `value` reduced to the width of an integer type (two's complement); bool: 0 or 1.
inline int64_t wrap_to(Elem elem, int64_t value) {
  switch (elem) {
#define FLOAT(name, ...) \
  case Elem::name:       \
    return value;
#define NARROW FLOAT
#define INTEGER(name, number, stored, npy, safetensors) \
  case Elem::name:                                      \
    return static_cast<stored>(value);
#define TRUTH(name, ...) \
  case Elem::name:       \
    return value != 0;
#include "host/elems.def"
  }
  return value;
}

/// A float as an integer type: truncated, saturated, NaN as 0; bool: whether it is not zero.
inline int64_t truncate_to(Elem elem, double value) {
  if (elem == Elem::boolean) return value != 0;
  if (std::isnan(value)) return 0;
  const auto [least, greatest] = range_of_integers(elem);
  // 2^63 is a double and the greatest i64 is none; both ends of the narrower types are.
  if (value <= static_cast<double>(least)) return least;
  if (value >= static_cast<double>(greatest)) return greatest;
  return static_cast<int64_t>(value);
}

}  // namespace axon::base
