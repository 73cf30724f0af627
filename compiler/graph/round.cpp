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
  if (elem == base::Elem::f32) return static_cast<double>(static_cast<float>(value));
  return base::is_narrow(elem) ? round_to_format(base::float_format(elem), value) : value;
}

int64_t wrap_to(base::Elem elem, int64_t value) {
  switch (elem) {
#define FLOAT(name, ...) \
  case base::Elem::name: \
    return value;
#define NARROW FLOAT
#define INTEGER(name, number, stored, npy, safetensors) \
  case base::Elem::name:                                \
    return static_cast<stored>(value);
#define TRUTH(name, ...) \
  case base::Elem::name: \
    return value != 0;
#include "host/elems.def"
  }
  return value;
}

int64_t truncate_to(base::Elem elem, double value) {
  if (elem == base::Elem::boolean) return value != 0;
  if (std::isnan(value)) return 0;
  const auto [least, greatest] = base::range_of_integers(elem);
  // 2^63 is a double and the greatest i64 is none; both ends of the narrower types are.
  if (value <= static_cast<double>(least)) return least;
  if (value >= static_cast<double>(greatest)) return greatest;
  return static_cast<int64_t>(value);
}

}  // namespace axon::graph
