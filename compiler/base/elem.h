// Element types: the scalar types that tensors are made of, with their storage size and accumulation type.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace axon::base {

enum class Elem : uint8_t { f64, f32, f16, bf16, f8e4m3, f8e5m2, i64, i32, i16, i8, u8, boolean };

constexpr std::string_view elem_name(Elem e) {
  switch (e) {
    case Elem::f64:
      return "f64";
    case Elem::f32:
      return "f32";
    case Elem::f16:
      return "f16";
    case Elem::bf16:
      return "bf16";
    case Elem::f8e4m3:
      return "f8e4m3";
    case Elem::f8e5m2:
      return "f8e5m2";
    case Elem::i64:
      return "i64";
    case Elem::i32:
      return "i32";
    case Elem::i16:
      return "i16";
    case Elem::i8:
      return "i8";
    case Elem::u8:
      return "u8";
    case Elem::boolean:
      return "bool";
  }
  return "?";
}

constexpr std::optional<Elem> elem_from_name(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Elem::boolean); ++i)
    if (elem_name(static_cast<Elem>(i)) == name) return static_cast<Elem>(i);
  return std::nullopt;
}

constexpr int elem_bytes(Elem e) {
  switch (e) {
    case Elem::f64:
    case Elem::i64:
      return 8;
    case Elem::f32:
    case Elem::i32:
      return 4;
    case Elem::f16:
    case Elem::bf16:
    case Elem::i16:
      return 2;
    case Elem::f8e4m3:
    case Elem::f8e5m2:
    case Elem::i8:
    case Elem::u8:
    case Elem::boolean:
      return 1;
  }
  return 0;
}

constexpr bool is_float(Elem e) { return e <= Elem::f8e5m2; }
constexpr bool is_integer(Elem e) { return e >= Elem::i64 && e <= Elem::u8; }

/// A binary floating-point format: values are multiples of 2^(exponent - fraction_bits), exponent at least
/// least_exponent.
struct FloatFormat {
  int fraction_bits, least_exponent;
  double largest;
  bool has_infinity;  ///< else what is too large becomes NaN
};
constexpr FloatFormat float_format(Elem e) {
  switch (e) {
    case Elem::f16:
      return {10, -14, 65504.0, true};
    case Elem::bf16:
      return {7, -126, 0x1.FEp127, true};
    case Elem::f8e4m3:
      return {3, -6, 448.0, false};
    case Elem::f8e5m2:
      return {2, -14, 57344.0, true};
    case Elem::f32:
      return {23, -126, 0x1.FFFFFEp127, true};
    default:
      return {52, -1022, 0x1.FFFFFFFFFFFFFp1023, true};
  }
}

/// What sums and contractions of this type accumulate in: f16, bf16 and f8 in f32; small integers in i32.
constexpr Elem accumulator(Elem e) {
  if (e == Elem::f16 || e == Elem::bf16 || e == Elem::f8e4m3 || e == Elem::f8e5m2) return Elem::f32;
  if (e == Elem::i16 || e == Elem::i8 || e == Elem::u8) return Elem::i32;
  return e;
}

}  // namespace axon::base
