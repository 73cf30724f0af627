// See number.h.
#include "core/number.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace axon::core {

namespace {

NumberRange integers(base::Elem elem) {
  const auto [least, greatest] = base::range_of_integers(elem);
  return {static_cast<double>(least), static_cast<double>(greatest),
          fmt::format("{} to {}", least, greatest)};
}
/// A number a little larger than the largest is rounded to it, up to half of the last place; half itself
/// where the format has no infinity, since there the largest number is even.
NumberRange floats(base::Elem elem) {
  const base::FloatFormat format = base::float_format(elem);
  const double half = std::ldexp(0.5, std::ilogb(format.largest) - format.fraction_bits);
  const double end = format.largest + half;
  const double most = format.has_infinity ? std::nextafter(end, 0.0) : end;
  return {-most, most, fmt::format("-{0:.5g} to {0:.5g}", format.largest)};
}

}  // namespace

NumberRange range_of(base::Elem elem) {
  if (base::is_float(elem)) return floats(elem);
  if (base::is_integer(elem) && elem != base::Elem::i64) return integers(elem);
  // expr_from_syntax.cpp refuses what is more than 64 bits
  return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), ""};
}

}  // namespace axon::core
