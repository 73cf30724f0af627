// Element types: the scalar types that tensors are made of (elems.def), with their storage size, their
// formats and what sums of them accumulate in. Compiler and runtime share them.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "axon/axon.h"

namespace axon {

/// The numbers are those of axon_elem, so that either is cast to the other.
enum class Elem : uint8_t {
#define ELEM(name, number, text, stored, npy, safetensors) name = number,
#include "host/elems.def"
};

constexpr Elem all_elems[] = {
#define ELEM(name, number, text, stored, npy, safetensors) Elem::name,
#include "host/elems.def"
};

constexpr std::string_view elem_name(Elem e) {
  switch (e) {
#define ELEM(name, number, text, stored, npy, safetensors) \
  case Elem::name:                                         \
    return text;
#include "host/elems.def"
  }
  return "?";
}

constexpr std::optional<Elem> elem_from_name(std::string_view name) {
  for (const Elem e : all_elems)
    if (elem_name(e) == name) return e;
  return std::nullopt;
}

constexpr int elem_bytes(Elem e) {
  switch (e) {
#define ELEM(name, number, text, stored, npy, safetensors) \
  case Elem::name:                                         \
    return sizeof(stored);
#include "host/elems.def"
  }
  return 0;
}

/// A float that is stored in a format of its own and computed in f32.
constexpr bool is_narrow(Elem e) {
  switch (e) {
#define NARROW(name, ...) \
  case Elem::name:        \
    return true;
#define ELEM(name, number, text, stored, npy, safetensors) \
  case Elem::name:                                         \
    return false;
#include "host/elems.def"
  }
  return false;
}

/// The type that one element is computed in: f32 for the narrow floats.
constexpr Elem computed_as(Elem e) { return is_narrow(e) ? Elem::f32 : e; }

constexpr bool is_float(Elem e) { return is_narrow(e) || e == Elem::f32 || e == Elem::f64; }
constexpr bool is_integer(Elem e) { return !is_float(e) && e != Elem::boolean; }

/// What integers and truth values of the type can be.
struct IntegerRange {
  int64_t least = 0, greatest = 0;
};
constexpr IntegerRange range_of_integers(Elem e) {
  switch (e) {
#define INTEGER(name, number, stored, npy, safetensors) \
  case Elem::name:                                      \
    return {std::numeric_limits<stored>::min(), std::numeric_limits<stored>::max()};
#define TRUTH(name, number, text, stored, npy, safetensors) \
  case Elem::name:                                          \
    return {0, 1};
#define ELEM(name, number, text, stored, npy, safetensors) \
  case Elem::name:                                         \
    break;
#include "host/elems.def"
  }
  return {};
}

/// Integers that can be negative, in two's complement. Other integers and truth values cannot.
constexpr bool is_signed(Elem e) { return range_of_integers(e).least < 0; }

/// A binary floating-point format: values are multiples of 2^(exponent - fraction_bits), exponent at least
/// least_exponent.
struct FloatFormat {
  int fraction_bits, least_exponent;
  double largest;
  bool has_infinity;  ///< else what is too large becomes NaN
};
/// Of a float; of any other type the format of f64.
constexpr FloatFormat float_format(Elem e) {
  switch (e) {
#define FLOAT(name, number, stored, npy, safetensors, fraction_bits, least_exponent, largest, has_infinity) \
  case Elem::name:                                                                                          \
    return {fraction_bits, least_exponent, largest, has_infinity};
#define NARROW FLOAT
#define ELEM(name, number, text, stored, npy, safetensors) \
  case Elem::name:                                         \
    break;
#include "host/elems.def"
  }
  return float_format(Elem::f64);
}

/// What sums and contractions of this type accumulate in: the narrow floats in f32; small integers in i32.
constexpr Elem accumulator(Elem e) {
  if (is_integer(e) && elem_bytes(e) < elem_bytes(Elem::i32)) return Elem::i32;
  return computed_as(e);
}

}  // namespace axon
