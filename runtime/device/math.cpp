// Elementary functions in f32, and those that one template gives in both types. See math.h for the promises.
// Polynomials are minimax fits on the reduced ranges, computed by fit.py; where f32 steps would lose bits
// (powers, trigonometry) the work is done in f64.
#include "math.h"

#include "bits.h"
#include "coefficients.h"

using namespace device;

namespace {

/// e^r for |r| <= ln(2) / 2.
inline float exp_reduced(float r) { return (polynomial(fitted::exp_f32, r) * r) * r + r + 1.0f; }

/// The two ends clamp; NaN passes both comparisons and stays.
inline float clamp(float x, float low, float high) {
  const float above = x < low ? low : x;
  return above > high ? high : above;
}

// ---- trigonometry: quadrant and remainder in f64 ----

/// x modulo pi/2 for |x| >= 2^25: the 24-bit mantissa times the 96 bits of 2/pi that matter for this
/// exponent.
inline double reduce_large(float x, int32_t& quadrant) {
  const uint32_t bits = bits_of(x) & 0x7fffffffu;
  const uint64_t mantissa = (bits & 0x007fffffu) | 0x00800000u;
  const int32_t exponent = static_cast<int32_t>(bits >> 23) - 150;  // x = mantissa * 2^exponent
  // Bits of 2/pi above weight 4 / 2^exponent only add whole turns.
  const int32_t start = exponent < 2 ? 0 : exponent > 106 ? 104 : exponent - 2;
  const uint32_t word = static_cast<uint32_t>(start) >> 5, shift = static_cast<uint32_t>(start) & 31;
  auto window = [&](uint32_t i) {
    const uint64_t two = static_cast<uint64_t>(fitted::two_over_pi_bits[word + i]) << 32;
    return static_cast<uint32_t>(((two | fitted::two_over_pi_bits[word + i + 1]) << shift) >> 32);
  };
  const uint64_t product =
      ((mantissa * window(0)) << 32) + mantissa * window(1) + ((mantissa * window(2)) >> 32);
  const uint64_t nearest_quadrant = (product + (uint64_t{1} << 61)) >> 62;
  quadrant = static_cast<int32_t>(nearest_quadrant);
  const int64_t fraction = static_cast<int64_t>(product - (nearest_quadrant << 62));
  return static_cast<double>(fraction) * (fitted::quarter_wide[0] * 0x1p-62);
}

inline double reduce_small(float x, int32_t& quadrant) {
  int64_t n;
  const double wide = x, turns = nearest(wide * fitted::two_over_pi, n);
  quadrant = static_cast<int32_t>(n);
  // Three pieces of pi/2; the products with the first two are exact.
  constexpr auto& piece = fitted::quarter_f32;
  return ((wide - turns * piece[0]) - turns * piece[1]) - turns * piece[2];
}

/// sin(|x| + first * pi/2), for finite x.
[[gnu::always_inline]] inline float sine_from(float x, int32_t first) {
  const float magnitude = float_of(bits_of(x) & 0x7fffffffu);
  int32_t small_quadrant, large_quadrant;
  const double small = reduce_small(magnitude < 0x1p25f ? magnitude : 0.0f, small_quadrant);
  const double large = reduce_large(magnitude, large_quadrant);
  const bool is_small = magnitude < 0x1p25f;
  const double r = is_small ? small : large;
  const int32_t quadrant = (is_small ? small_quadrant : large_quadrant) + first;
  const double square = r * r;
  const double sine = r + r * (square * polynomial(fitted::sin_f32, square));
  const double cosine = 1.0 + square * polynomial(fitted::cos_f32, square);
  const double value = (quadrant & 1) != 0 ? cosine : sine;
  return static_cast<float>((quadrant & 2) != 0 ? -value : value);
}

/// log2 of a finite x > 0, in f64: enough for a power in f32.
inline double log2_wide(float x) {
  int32_t e;
  const double m = split(x, e);
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  return static_cast<double>(e) + s * polynomial(fitted::log2_wide, z);
}

inline double exp2_wide(double x) {
  int64_t n;
  const double r = x - nearest(x, n);
  return (1.0 + r * polynomial(fitted::exp2_wide, r)) * double_of(static_cast<uint64_t>(n + 1023) << 52);
}

/// erfc(x) for 0.5 <= x <= 10.1, where it ends. The square of x is that of its upper half, which is exact,
/// and a rest; the factor that is no power comes in before what becomes denormal is rounded.
inline float erfc_far(float x) {
  const float w = 1.0f / (x + 2.0f);
  const float factor = polynomial(fitted::erfc_f32, (x - 2.0f) * w) * w;
  const float upper = float_of(bits_of(x) & 0xfffff000u);
  const float square = upper * upper, rest = (x - upper) * (x + upper);
  int32_t n;
  const float whole = nearest(-(square + rest) * fitted::log2e_f32, n);
  const float r = ((-square - whole * fitted::ln2_f32[0]) - rest) - whole * fitted::ln2_f32[1];
  return scaled(exp_reduced(r) * factor, n);
}

inline float without_sign(float x) { return float_of(bits_of(x) & 0x7fffffffu); }
inline double without_sign(double x) { return double_of(bits_of(x) & ~(uint64_t{1} << 63)); }

/// The angle whose tangent is x, in either type. Beyond tan(pi/8), where the polynomial ends, it is pi/4 and
/// the angle of (x - 1) / (x + 1), beyond tan(3 pi/8) pi/2 and that of -1 / x. `quarter`: pi/2 in two pieces.
template <class T, int n, int pieces>
inline T atan_by(T x, const T (&coefficients)[n], const T (&quarter)[pieces]) {
  const T magnitude = without_sign(x);
  const bool steep = magnitude > T(2.41421356237309505), middle = magnitude > T(0.41421356237309505);
  const T turns = steep ? T(1) : middle ? T(0.5) : T(0);
  const T upper = steep ? T(-1) : middle ? magnitude - T(1) : magnitude;
  const T lower = steep ? magnitude : middle ? magnitude + T(1) : T(1);
  const T slope = upper / lower, square = slope * slope;
  const T rest = slope * (square * polynomial(coefficients, square)) + turns * quarter[1];
  return with_sign(turns * quarter[0] + (slope + rest), x);
}

}  // namespace

extern "C" {

float axon_exp_f32(float x) {
  const float bounded = clamp(x, -104.0f, 89.0f);
  int32_t n;
  const float whole = nearest(bounded * fitted::log2e_f32, n);
  const float r = (bounded - whole * fitted::ln2_f32[0]) - whole * fitted::ln2_f32[1];
  return scaled(exp_reduced(r), n);
}

float axon_exp2_f32(float x) {
  const float bounded = clamp(x, -151.0f, 129.0f);
  int32_t n;
  const float r = bounded - nearest(bounded, n);
  return scaled(exp_reduced(r * static_cast<float>(fitted::ln2_wide[0])), n);
}

float axon_log_f32(float x) {
  int32_t exponent;
  const float f = split(x, exponent) - 1.0f;
  const float e = static_cast<float>(exponent), square = f * f;
  const float tail = polynomial(fitted::log_f32, f) * f * square + e * fitted::ln2_f32[1] - 0.5f * square;
  const float value = f + tail + e * fitted::ln2_f32[0];
  const float at_ends = x == 0.0f ? -infinity_f32 : x < 0.0f ? nan_f32 : x;  // +infinity and NaN stay
  return x > 0.0f && x < infinity_f32 ? value : at_ends;
}

float axon_sin_f32(float x) {
  const float finite = (bits_of(x) & 0x7fffffffu) < 0x7f800000u ? x : 0.0f;
  const float value = sine_from(finite, 0);
  const float odd = float_of(bits_of(value) ^ (bits_of(x) & 0x80000000u));
  return (bits_of(x) & 0x7fffffffu) < 0x7f800000u ? odd : nan_f32;
}

float axon_cos_f32(float x) {
  const float finite = (bits_of(x) & 0x7fffffffu) < 0x7f800000u ? x : 0.0f;
  const float value = sine_from(finite, 1);
  return (bits_of(x) & 0x7fffffffu) < 0x7f800000u ? value : nan_f32;
}

float axon_atan_f32(float x) { return atan_by(x, fitted::atan_f32, fitted::quarter_narrow); }

double axon_atan_f64(double x) { return atan_by(x, fitted::atan_f64, fitted::quarter_wide); }

float axon_tanh_f32(float x) {
  const float magnitude = float_of(bits_of(x) & 0x7fffffffu), square = x * x;
  const float near = magnitude + magnitude * (square * polynomial(fitted::tanh_f32, square));
  const float far = 1.0f - 2.0f / (axon_exp_f32(2.0f * magnitude) + 1.0f);
  return with_sign(magnitude < 0.625f ? near : far, x);
}

float axon_erf_f32(float x) {
  const float magnitude = float_of(bits_of(x) & 0x7fffffffu), square = x * x;
  const float near = x + x * polynomial(fitted::erf_near_f32, square);
  const float bounded = magnitude > 4.0f ? 4.0f : magnitude;
  const float far = 1.0f - axon_exp_f32(magnitude * polynomial(fitted::erf_far_f32, bounded) - magnitude);
  const float value = magnitude > 0.927734375f ? with_sign(magnitude > 4.0f ? 1.0f : far, x) : near;
  return x == x ? value : x;
}

float axon_erfc_f32(float x) {
  const float magnitude = float_of(bits_of(x) & 0x7fffffffu);
  const float near = 1.0f - (x + x * polynomial(fitted::erf_near_f32, x * x));
  const float end = erfc_far(magnitude > 10.1f ? 10.1f : magnitude), far = x < 0.0f ? 2.0f - end : end;
  return x == x ? (magnitude < 0.5f ? near : far) : x;
}

float axon_pow_f32(float x, float y) {
  const float magnitude = float_of(bits_of(x) & 0x7fffffffu), size = float_of(bits_of(y) & 0x7fffffffu);
  const float base = magnitude > 0.0f && magnitude < infinity_f32 ? magnitude : 1.0f;
  double exponent = static_cast<double>(y) * log2_wide(base);
  exponent = exponent < -200.0 ? -200.0 : exponent > 200.0 ? 200.0 : exponent;
  const float finite = static_cast<float>(exp2_wide(exponent));
  // Above 2^24 every float is even; the clamp keeps the conversion defined.
  const bool whole = __builtin_elementwise_floor(y) == y;
  const int32_t integer = static_cast<int32_t>(whole && size < 0x1p24f ? y : 0.0f);
  const bool odd = whole && (integer & 1) != 0;
  const bool grows = (magnitude > 1.0f) == (y > 0.0f);
  const float at_end =
      grows ? infinity_f32 : 0.0f;  // 0 or infinity to a power, or any base to an infinite one
  const bool ended = magnitude == 0.0f || magnitude == infinity_f32 || size == infinity_f32;
  float value = ended ? (magnitude == 1.0f ? 1.0f : at_end) : finite;
  value = odd ? with_sign(value, x) : value;
  const bool invalid =
      (x < 0.0f && magnitude < infinity_f32 && !whole && size < infinity_f32) || x != x || y != y;
  value = invalid ? nan_f32 : value;
  return x == 1.0f || y == 0.0f ? 1.0f : value;
}

float axon_mod_f32(float x, float y) {
  // f64 holds both exactly; its remainder is exact, and its sign correction rounds once.
  return static_cast<float>(axon_mod_f64(static_cast<double>(x), static_cast<double>(y)));
}
}
