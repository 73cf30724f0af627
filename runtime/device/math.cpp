// Elementary functions in f32. See math.h for the promises. Polynomials are minimax fits on the reduced
// ranges; where f32 steps would lose bits (powers, trigonometry) the work is done in f64.
#include "math.h"

#include "bits.h"

using namespace device;

namespace {

/// e^r for |r| <= ln(2) / 2.
inline float exp_reduced(float r) {
  constexpr float tail[] = {5.0000001201e-1f, 1.6666665459e-1f, 4.1665795894e-2f,
                            8.3334519073e-3f, 1.3981999507e-3f, 1.9875691500e-4f};
  return (polynomial(tail, r) * r) * r + r + 1.0f;
}

/// The two ends clamp; NaN passes both comparisons and stays.
inline float clamp(float x, float low, float high) {
  const float above = x < low ? low : x;
  return above > high ? high : above;
}

// ---- trigonometry: quadrant and remainder in f64 ----

constexpr uint32_t two_over_pi[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0,
                                    0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561};

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
    return static_cast<uint32_t>(
        (((static_cast<uint64_t>(two_over_pi[word + i]) << 32) | two_over_pi[word + i + 1]) << shift) >> 32);
  };
  const uint64_t product =
      ((mantissa * window(0)) << 32) + mantissa * window(1) + ((mantissa * window(2)) >> 32);
  const uint64_t nearest_quadrant = (product + (uint64_t{1} << 61)) >> 62;
  quadrant = static_cast<int32_t>(nearest_quadrant);
  const int64_t fraction = static_cast<int64_t>(product - (nearest_quadrant << 62));
  return static_cast<double>(fraction) * (1.57079632679489661923 * 0x1p-62);
}

inline double reduce_small(float x, int32_t& quadrant) {
  int64_t n;
  const double turns = nearest(static_cast<double>(x) * 6.36619772367581382433e-01, n);
  quadrant = static_cast<int32_t>(n);
  // Three pieces of pi/2; the products with the first two are exact.
  return ((static_cast<double>(x) - turns * 1.5707963109016418) - turns * 1.5893254712295857e-08) -
         turns * 6.123233995736766e-17;
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
  constexpr double sine[] = {1.0, -0.166666666416265235595, 0.0083333293858894631756,
                             -0.000198393348360966317347, 0.0000027183114939898219064};
  constexpr double cosine[] = {1.0, -0.499999997251031003120, 0.0416666233237390631894,
                               -0.00138867637746099294692, 0.0000243904487962774090654};
  const double value = (quadrant & 1) != 0 ? polynomial(cosine, square) : polynomial(sine, square) * r;
  return static_cast<float>((quadrant & 2) != 0 ? -value : value);
}

/// log2 of a finite x > 0, in f64: enough for a power in f32.
inline double log2_wide(float x) {
  int32_t e;
  const double m = split(x, e);
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  constexpr double series[] = {2.8853900817779268,  0.96179669392597556, 0.57707801635558535,
                               0.41219858311113239, 0.32059889797532520, 0.26230818925253882,
                               0.22195308321368668};
  return static_cast<double>(e) + s * polynomial(series, z);
}

inline double exp2_wide(double x) {
  int64_t n;
  const double r = x - nearest(x, n);
  constexpr double series[] = {1.0,
                               0.69314718055994531,
                               0.24022650695910071,
                               0.055504108664821580,
                               0.0096181291076284772,
                               0.0013333558146428443,
                               0.00015403530393381608,
                               0.000015252733804059841,
                               0.0000013215486790144309};
  return polynomial(series, r) * double_of(static_cast<uint64_t>(n + 1023) << 52);
}

}  // namespace

extern "C" {

float axon_exp_f32(float x) {
  const float bounded = clamp(x, -104.0f, 89.0f);
  int32_t n;
  const float whole = nearest(bounded * 1.44269504088896341f, n);
  const float r = (bounded - whole * 0.693359375f) - whole * -2.12194440e-4f;
  return scaled(exp_reduced(r), n);
}

float axon_exp2_f32(float x) {
  const float bounded = clamp(x, -151.0f, 129.0f);
  int32_t n;
  const float r = bounded - nearest(bounded, n);
  return scaled(exp_reduced(r * 0.693147180559945309f), n);
}

float axon_log_f32(float x) {
  int32_t exponent;
  const float f = split(x, exponent) - 1.0f;
  const float e = static_cast<float>(exponent), square = f * f;
  constexpr float series[] = {3.3333331174e-1f,  -2.4999993993e-1f, 2.0000714765e-1f,
                              -1.6668057665e-1f, 1.4249322787e-1f,  -1.2420140846e-1f,
                              1.1676998740e-1f,  -1.1514610310e-1f, 7.0376836292e-2f};
  const float tail = polynomial(series, f) * f * square + e * -2.12194440e-4f - 0.5f * square;
  const float value = f + tail + e * 0.693359375f;
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

float axon_tanh_f32(float x) {
  const float magnitude = float_of(bits_of(x) & 0x7fffffffu);
  constexpr float series[] = {-3.33332819422e-1f, 1.33314422036e-1f, -5.37397155531e-2f, 2.06390887954e-2f,
                              -5.70498872745e-3f};
  const float square = x * x;
  const float near = x + x * (square * polynomial(series, square));
  const float far = 1.0f - 2.0f / (axon_exp_f32(2.0f * magnitude) + 1.0f);
  return magnitude < 0.625f ? near : with_sign(far, x);
}

float axon_erf_f32(float x) {
  const float magnitude = float_of(bits_of(x) & 0x7fffffffu), square = x * x;
  constexpr float near_series[] = {1.28379166e-1f,  -3.76125336e-1f, 1.12819925e-1f,
                                   -2.67681349e-2f, 4.99119423e-3f,  -5.96761703e-4f};
  constexpr float far_series[] = {-1.28717512e-1f, -6.34846687e-1f, -1.06777877e-1f, 2.42546219e-2f,
                                  -3.88396438e-3f, 3.83197126e-4f,  -1.72853470e-5f};
  const float near = x + x * polynomial(near_series, square);
  const float exponent = magnitude * polynomial(far_series, magnitude > 4.0f ? 4.0f : magnitude) - magnitude;
  const float far = 1.0f - axon_exp_f32(exponent);
  const float value = magnitude > 0.927734375f ? with_sign(magnitude > 4.0f ? 1.0f : far, x) : near;
  return x == x ? value : x;
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
