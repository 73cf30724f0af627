// See elements.h.
#include "tools/elements.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/elem.h"
#include "host/weights/elements.h"

namespace axon::tools {

namespace {

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

template <class T>
bool store_wide(std::string_view text, uint8_t* out) {
  T value = 0;
  if (!read_float(text, value)) return false;
  put(value, out);
  return true;
}

bool store_narrow(std::string_view text, Elem elem, uint8_t* out) {
  double value = 0;
  if (!read_float(text, value)) return false;
  weights::store_float(elem, value, out);
  const double rounded = weights::load_float(elem, out);
  return std::isfinite(value) ? std::isfinite(rounded) : std::isinf(value) == std::isinf(rounded);
}

/// The sign of a NaN says nothing.
template <class T>
std::string float_text(T value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

}  // namespace

bool store_written(std::string_view text, axon_elem elem, uint8_t* out) {
  switch (static_cast<Elem>(elem)) {
#define FLOAT(name, number, stored, ...) \
  case Elem::name:                       \
    return store_wide<stored>(text, out);
#define NARROW(name, ...) \
  case Elem::name:        \
    return store_narrow(text, Elem::name, out);
#define INTEGER(name, number, stored, npy, safetensors) \
  case Elem::name:                                      \
    return store_integer<stored>(text, out);
#define TRUTH(name, ...) \
  case Elem::name:       \
    return store_bool(text, out);
#include "host/elems.def"
  }
  return false;
}

std::string element_text(axon_elem elem, const uint8_t* at) {
  switch (static_cast<Elem>(elem)) {
#define FLOAT(name, number, stored, ...) \
  case Elem::name:                       \
    return float_text(get<stored>(at));
#define NARROW(name, ...) \
  case Elem::name:        \
    return float_text(static_cast<float>(weights::load_float(Elem::name, at)));
#define INTEGER(name, number, stored, npy, safetensors) \
  case Elem::name:                                      \
    return fmt::format("{}", get<stored>(at));
#define TRUTH(name, ...) \
  case Elem::name:       \
    return *at ? "true" : "false";
#include "host/elems.def"
  }
  return "?";
}

}  // namespace axon::tools
