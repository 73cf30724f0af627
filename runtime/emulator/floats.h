// Floats of 16 bits.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace axon::emulator {

inline float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

inline float from_f16(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000U) << 16, exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
  if (exponent == 0) {
    const float size = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -size : size;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | mantissa << 13);
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

/// To nearest, ties to even.
inline uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// To nearest, ties to even.
inline uint16_t to_f16(float value) {
  if (std::isnan(value)) return 0x7fff;
  const uint32_t sign = std::bit_cast<uint32_t>(value) >> 16 & 0x8000;
  const float size = std::fabs(value);
  if (size >= 65520.0F) return static_cast<uint16_t>(sign | 0x7c00);
  // What is below the smallest normal number has its distance; the sums are exact but for the rounding that
  // is wanted.
  if (size < 0x1p-14F)
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(size * 0x1p24F)));
  const auto bits = std::bit_cast<uint32_t>(size);
  return static_cast<uint16_t>(sign | (((bits + 0xfff + (bits >> 13 & 1)) >> 13) - (112U << 10)));
}

}  // namespace axon::emulator
