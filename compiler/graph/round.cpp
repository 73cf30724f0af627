// Narrow float formats by arithmetic on doubles: scale so that one unit in the last place is 1, round, scale
// back. A double holds every intermediate exactly, so this is the one correct rounding.
#include "graph/round.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace axon::graph {
namespace {

double round_to_format(const base::FloatFormat& f, double value) {
  if (value == 0 || !std::isfinite(value)) return !f.has_infinity && std::isinf(value) ? std::nan("") : value;
  int exponent = std::max(std::ilogb(value), f.least_exponent);
  double unit = std::ldexp(1.0, exponent - f.fraction_bits);
  double rounded = std::nearbyint(value / unit) * unit;
  if (std::fabs(rounded) <= f.largest) return std::copysign(rounded, value);
  return f.has_infinity ? std::copysign(std::numeric_limits<double>::infinity(), value) : std::nan("");
}

}  // namespace

double round_to(base::Elem elem, double value) {
  using base::Elem;
  switch (elem) {
    case Elem::f32:
      return static_cast<double>(static_cast<float>(value));
    case Elem::f16:
    case Elem::bf16:
    case Elem::f8e4m3:
    case Elem::f8e5m2:
      return round_to_format(base::float_format(elem), value);
    default:
      return value;
  }
}

int64_t wrap_to(base::Elem elem, int64_t value) {
  using base::Elem;
  switch (elem) {
    case Elem::i32:
      return static_cast<int32_t>(value);
    case Elem::i16:
      return static_cast<int16_t>(value);
    case Elem::i8:
      return static_cast<int8_t>(value);
    case Elem::u8:
      return static_cast<uint8_t>(value);
    case Elem::boolean:
      return value != 0;
    default:
      return value;
  }
}

int64_t truncate_to(base::Elem elem, double value) {
  using base::Elem;
  if (elem == Elem::boolean) return value != 0;
  if (std::isnan(value)) return 0;
  int bits = base::elem_bytes(elem) * 8;
  double low = elem == Elem::u8 ? 0.0 : -std::ldexp(1.0, bits - 1);
  double above = elem == Elem::u8 ? 256.0 : std::ldexp(1.0, bits - 1);
  if (value < low) value = low;
  if (value >= above)
    return elem == Elem::i64 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(above) - 1;
  return static_cast<int64_t>(value);
}

}  // namespace axon::graph
