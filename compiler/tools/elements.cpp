// See elements.h.
#include "tools/elements.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/elem.h"
#include "graph/round.h"
#include "host/weights/dtype.h"

namespace axon::tools {

namespace {

using base::Elem;
using weights::Dtype;

template <class T>
void put(T value, uint8_t* out) {
  std::memcpy(out, &value, sizeof value);
}

template <class T>
T get(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
bool store_integer(std::string_view text, uint8_t* out) {
  int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size() || value < std::numeric_limits<T>::min() ||
      value > std::numeric_limits<T>::max())
    return false;
  put(static_cast<T>(value), out);
  return true;
}

bool store_bool(std::string_view text, uint8_t* out) {
  *out = text == "true" || text == "1";
  return *out || text == "false" || text == "0";
}

/// The number as one of a wide type T. Where it lies between two of them it rounds, also to 0; false when it
/// is larger than all.
template <class T>
bool read_float(std::string_view text, T& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return false;
  if (failed == std::errc{}) return true;
  // from_chars does not tell what is too small from what is too large.
  if constexpr (std::is_same_v<T, float>)
    value = std::strtof(std::string(text).c_str(), nullptr);
  else
    value = std::strtod(std::string(text).c_str(), nullptr);
  return !std::isinf(value);
}

/// The 8 bits that mean `value`, which is one of the type's numbers.
uint8_t encode_8_bits(const double value, axon_elem elem) {
  for (int bits = 0; bits < 256; ++bits) {
    const auto byte = static_cast<uint8_t>(bits);
    const double number = load_float(elem, &byte);
    const bool same = std::isnan(value) ? std::isnan(number) : number == value;
    if (same && std::signbit(number) == std::signbit(value)) return byte;
  }
  return 0;
}

double decode_8_bits(const base::FloatFormat& f, uint8_t bits) {
  const double sign = bits & 0x80 ? -1 : 1;
  const int field = (bits & 0x7f) >> f.fraction_bits, fields = 1 << (7 - f.fraction_bits);
  const int fraction = bits & ((1 << f.fraction_bits) - 1), one = 1 << f.fraction_bits;
  if (f.has_infinity && field == fields - 1) return sign * (fraction ? NAN : INFINITY);
  const double value = field == 0
                           ? std::ldexp(fraction, f.least_exponent - f.fraction_bits)
                           : std::ldexp(one + fraction, f.least_exponent - f.fraction_bits + field - 1);
  return value > f.largest ? std::copysign(NAN, sign) : sign * value;
}

/// The compiler and the runtime number element types alike (host/weights/dtype.h).
Elem elem_of(axon_elem elem) { return static_cast<Elem>(elem); }

bool store_narrow(std::string_view text, axon_elem elem, uint8_t* out) {
  double value = 0;
  if (!read_float(text, value)) return false;
  const double rounded = graph::round_to(elem_of(elem), value);
  if (std::isfinite(value) && !std::isfinite(rounded)) return false;
  if (std::isinf(value) && !std::isinf(rounded)) return false;
  store_float(rounded, elem, out);
  return true;
}

}  // namespace

bool store_written(std::string_view text, axon_elem elem, uint8_t* out) {
  switch (elem) {
    case AXON_F64: {
      double value = 0;
      if (!read_float(text, value)) return false;
      put(value, out);
      return true;
    }
    case AXON_F32: {
      float value = 0;
      if (!read_float(text, value)) return false;
      put(value, out);
      return true;
    }
    case AXON_F16:
    case AXON_BF16:
    case AXON_F8E4M3:
    case AXON_F8E5M2:
      return store_narrow(text, elem, out);
    case AXON_I64:
      return store_integer<int64_t>(text, out);
    case AXON_I32:
      return store_integer<int32_t>(text, out);
    case AXON_I16:
      return store_integer<int16_t>(text, out);
    case AXON_I8:
      return store_integer<int8_t>(text, out);
    case AXON_U8:
      return store_integer<uint8_t>(text, out);
    case AXON_BOOL:
      return store_bool(text, out);
  }
  return false;
}

void store_float(double value, axon_elem elem, uint8_t* out) {
  if (elem == AXON_F8E4M3 || elem == AXON_F8E5M2)
    *out = encode_8_bits(value, elem);
  else
    weights::convert(Dtype::f64, &value, static_cast<Dtype>(elem), out, 1);
}

double load_float(axon_elem elem, const uint8_t* at) {
  if (elem == AXON_F8E4M3 || elem == AXON_F8E5M2)
    return decode_8_bits(base::float_format(elem_of(elem)), *at);
  double value = 0;
  weights::convert(static_cast<Dtype>(elem), at, Dtype::f64, &value, 1);
  return value;
}

/// The sign of a NaN says nothing.
template <class T>
static std::string float_text(T value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

std::string element_text(axon_elem elem, const uint8_t* at) {
  switch (elem) {
    case AXON_F64:
      return float_text(get<double>(at));
    case AXON_F32:
    case AXON_F16:
    case AXON_BF16:
    case AXON_F8E4M3:
    case AXON_F8E5M2:
      return float_text(static_cast<float>(load_float(elem, at)));
    case AXON_I64:
      return fmt::format("{}", get<int64_t>(at));
    case AXON_I32:
      return fmt::format("{}", get<int32_t>(at));
    case AXON_I16:
      return fmt::format("{}", get<int16_t>(at));
    case AXON_I8:
      return fmt::format("{}", get<int8_t>(at));
    case AXON_U8:
      return fmt::format("{}", get<uint8_t>(at));
    case AXON_BOOL:
      return *at ? "true" : "false";
  }
  return "?";
}

}  // namespace axon::tools
