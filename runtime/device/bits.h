// Looking at floats as integers and back, and the branch-free pieces that the elementary functions share.
#pragma once
#include <stdint.h>

namespace device {

inline uint32_t bits_of(float x) { return __builtin_bit_cast(uint32_t, x); }
inline uint64_t bits_of(double x) { return __builtin_bit_cast(uint64_t, x); }
inline float float_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline double double_of(uint64_t bits) { return __builtin_bit_cast(double, bits); }

constexpr float infinity_f32 = __builtin_huge_valf();
constexpr double infinity_f64 = __builtin_huge_val();
constexpr float nan_f32 = __builtin_nanf("");
constexpr double nan_f64 = __builtin_nan("");

inline float with_sign(float magnitude, float sign) {
  return float_of((bits_of(magnitude) & 0x7fffffffu) | (bits_of(sign) & 0x80000000u));
}
inline double with_sign(double magnitude, double sign) {
  constexpr uint64_t mask = uint64_t{1} << 63;
  return double_of((bits_of(magnitude) & ~mask) | (bits_of(sign) & mask));
}

/// Nearest integer (ties to even) of |x| < 2^22 (f32) or 2^51 (f64), as a float and as an integer. NaN gives
/// NaN.
inline float nearest(float x, int32_t& n) {
  constexpr float magic = 0x1.8p23f;
  const float shifted = x + magic;
  n = static_cast<int32_t>(bits_of(shifted) - bits_of(magic));
  return shifted - magic;
}
inline double nearest(double x, int64_t& n) {
  constexpr double magic = 0x1.8p52;
  const double shifted = x + magic;
  n = static_cast<int64_t>(bits_of(shifted) - bits_of(magic));
  return shifted - magic;
}

/// x * 2^n for n in [-252, 254] (f32) or [-2044, 2046] (f64), in two steps so that denormals and overflow
/// come right.
inline float scaled(float x, int32_t n) {
  const int32_t half = n >> 1;
  return x * float_of(static_cast<uint32_t>(half + 127) << 23) *
         float_of(static_cast<uint32_t>(n - half + 127) << 23);
}
inline double scaled(double x, int64_t n) {
  const int64_t half = n >> 1;
  return x * double_of(static_cast<uint64_t>(half + 1023) << 52) *
         double_of(static_cast<uint64_t>(n - half + 1023) << 52);
}

/// coefficients[0] + x * (coefficients[1] + ...)
template <class T, int n>
inline T polynomial(const T (&coefficients)[n], T x) {
  T value = coefficients[n - 1];
#pragma clang loop unroll(full)
  for (int i = n - 2; i >= 0; --i) value = value * x + coefficients[i];
  return value;
}

/// x = m * 2^e with m in [sqrt(1/2), sqrt(2)), for finite x > 0, denormals included.
inline float split(float x, int32_t& e) {
  const bool denormal = x < 0x1p-126f;
  const uint32_t bits = bits_of(denormal ? x * 0x1p24f : x) - 0x3f3504f3u;  // sqrt(1/2)
  e = (static_cast<int32_t>(bits) >> 23) - (denormal ? 24 : 0);
  return float_of((bits & 0x007fffffu) + 0x3f3504f3u);
}
inline double split(double x, int64_t& e) {
  constexpr uint64_t root_half = 0x3fe6a09e667f3bcd;
  const bool denormal = x < 0x1p-1022;
  const uint64_t bits = bits_of(denormal ? x * 0x1p54 : x) - root_half;
  e = (static_cast<int64_t>(bits) >> 52) - (denormal ? 54 : 0);
  return double_of((bits & 0x000fffffffffffff) + root_half);
}

}  // namespace device
