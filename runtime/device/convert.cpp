// Conversions between f32 and the narrow float formats, on their bits, without branches.
#include "bits.h"
#include "math.h"

using namespace device;

namespace {

/// Rounds |x| to `fraction_bits` of mantissa and an exponent biased by `bias`, denormals included. The result
/// counts in units of the format's last bit, so that a carry runs from mantissa into exponent as it should.
template <int fraction_bits, int bias>
inline uint32_t rounded_bits(uint32_t magnitude) {
  constexpr int drop = 23 - fraction_bits;
  constexpr uint32_t smallest_normal = static_cast<uint32_t>(128 - bias) << 23;
  // Denormals: adding a float whose last bit is the format's last denormal bit lets the adder do the
  // rounding.
  constexpr uint32_t magic = static_cast<uint32_t>(128 - bias + drop) << 23;
  const uint32_t denormal = bits_of(float_of(magnitude) + float_of(magic)) - magic;
  const uint32_t odd = (magnitude >> drop) & 1;
  const uint32_t rebased = magnitude - (static_cast<uint32_t>(127 - bias) << 23);
  const uint32_t normal = (rebased + ((1u << (drop - 1)) - 1) + odd) >> drop;
  return magnitude < smallest_normal ? denormal : normal;
}

}  // namespace

extern "C" {

float axon_to_odd(double x) {
  const float near = static_cast<float>(x);
  const double back = near;
  const bool moves = back != x && x == x && (bits_of(near) & 1) == 0;
  const bool is_larger = (back < 0 ? -back : back) > (x < 0 ? -x : x);
  return moves ? float_of(is_larger ? bits_of(near) - 1 : bits_of(near) + 1) : near;
}

float axon_to_odd_i64(int64_t n) {
  const bool fits = n > -(int64_t{1} << 53) && n < int64_t{1} << 53;
  const int64_t kept = (n & ~int64_t{2047}) | ((n & 2047) != 0 ? 1024 : 0);
  return axon_to_odd(static_cast<double>(fits ? n : kept));
}

float axon_from_bf16(uint16_t bits) { return float_of(static_cast<uint32_t>(bits) << 16); }

float axon_from_f16(uint16_t bits) {
  const float scaled = float_of((bits & 0x7fffu) << 13) * 0x1p112f;
  const uint32_t special = (bits & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
  return float_of(bits_of(scaled) | special | (bits & 0x8000u) << 16);
}

float axon_from_f8e5m2(uint8_t bits) { return axon_from_f16(static_cast<uint16_t>(bits << 8)); }

float axon_from_f8e4m3(uint8_t bits) {
  const float scaled = float_of((bits & 0x7fu) << 20) * 0x1p120f;
  const uint32_t special = (bits & 0x7fu) == 0x7fu ? 0x7fc00000u : 0u;
  return float_of(bits_of(scaled) | special | (bits & 0x80u) << 24);
}

uint16_t axon_to_bf16(float x) {
  const uint32_t bits = bits_of(x);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>(x == x ? rounded : (bits >> 16) | 0x40u);
}

uint16_t axon_to_f16(float x) {
  const uint32_t magnitude = bits_of(x) & 0x7fffffffu;
  const uint32_t finite = magnitude >= 0x477ff000u ? 0x7c00u : rounded_bits<10, 15>(magnitude);
  const uint32_t value = magnitude > 0x7f800000u ? 0x7e00u : finite;
  return static_cast<uint16_t>(value | (bits_of(x) & 0x80000000u) >> 16);
}

uint8_t axon_to_f8e5m2(float x) {
  const uint32_t magnitude = bits_of(x) & 0x7fffffffu;
  const uint32_t finite = magnitude >= 0x47700000u ? 0x7cu : rounded_bits<2, 15>(magnitude);
  const uint32_t value = magnitude > 0x7f800000u ? 0x7eu : finite;
  return static_cast<uint8_t>(value | (bits_of(x) & 0x80000000u) >> 24);
}

uint8_t axon_to_f8e4m3(float x) {
  const uint32_t magnitude = bits_of(x) & 0x7fffffffu;
  const uint32_t rounded = rounded_bits<3, 7>(magnitude);
  const uint32_t value = magnitude > 0x43e80000u ? 0x7fu : rounded;  // above 464, half way to 480
  return static_cast<uint8_t>((value > 0x7eu ? 0x7fu : value) | (bits_of(x) & 0x80000000u) >> 24);
}
}
