// Elementary functions in f64. See math.h. Trigonometry beyond 2^20 and remainders leave the straight line.
// Polynomials are computed by fit.py.
#include "bits.h"
#include "coefficients.h"
#include "math.h"

using namespace device;

namespace {

inline double clamp(double x, double low, double high) {
  const double above = x < low ? low : x;
  return above > high ? high : above;
}

struct Pair {
  double high, low;  ///< their unevaluated sum
};
inline Pair sum_of(double a, double b) {
  const double s = a + b, part = s - a;
  return {s, (a - (s - part)) + (b - part)};
}
/// Without fused multiply-add, so that every level gives the same bits.
inline Pair product_of(double a, double b) {
  auto high_half = [](double v) { return double_of(bits_of(v) & 0xfffffffff8000000); };
  const double ah = high_half(a), al = a - ah, bh = high_half(b), bl = b - bh, p = a * b;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

/// Their sum where |a| >= |b|.
inline Pair sum_in_order(double a, double b) {
  const double s = a + b;
  return {s, (a - s) + b};
}
inline Pair sum_of(Pair a, double b) {
  const Pair s = sum_of(a.high, b);
  return sum_in_order(s.high, s.low + a.low);
}
inline Pair product_of(Pair a, Pair b) {
  const Pair p = product_of(a.high, b.high);
  return sum_in_order(p.high, p.low + (a.high * b.low + a.low * b.high));
}

// ---- powers of e ----

/// e^(r + rest) for |r| <= ln(2) / 2 and a tiny rest, to 0.6 units in the last place: what is added to the
/// largest term is small, and that term is 1 + r, whose rounding is made up for.
inline double exp_reduced(double r, double rest) {
  const Pair head = sum_in_order(1.0, r);
  return head.high + (head.low + (polynomial(fitted::exp_f64, r) * r * r + rest * head.high));
}

/// factor * e^(x + rest) for -1000 < x < 720 and a small rest.
inline double exp_of(double x, double rest, double factor = 1.0) {
  int64_t n;
  const double whole = nearest(x * fitted::log2e_f64, n);
  const Pair r = sum_of(x - whole * fitted::ln2_f64[0], rest - whole * fitted::ln2_f64[1]);
  return scaled(exp_reduced(r.high, r.low) * factor, n);
}

/// erfc(x) for 0.5 <= x <= 27.3, where it ends. The square of x is that of its upper half, which is exact,
/// and a rest.
inline double erfc_far(double x) {
  const double w = 1.0 / (x + 2.0), upper = double_of(bits_of(x) & 0xfffffffff8000000);
  const double factor = polynomial(fitted::erfc_f64, (x - 2.0) * w) * w;
  return exp_of(-(upper * upper), -((x - upper) * (x + upper)), factor);
}

// ---- logarithms ----

/// A finite x > 0 as (1 + s) / (1 - s) * 2^exponent, sqrt(1/2) <= (1 + s) / (1 - s) < sqrt(2).
inline Pair ratio_of(double x, double& exponent) {
  int64_t e;
  const double m = split(x, e);
  exponent = static_cast<double>(e);
  const Pair below = sum_of(m, 1.0);
  const double s = (m - 1.0) / below.high;
  const Pair back = product_of(s, below.high);
  return {s, (((m - 1.0) - back.high) - back.low - s * below.low) / below.high};
}

inline double log_of(double x) {
  double e;
  const Pair s = ratio_of(x, e);
  const double z = s.high * s.high;
  const double rest = 2.0 * s.low + s.high * z * polynomial(fitted::log_f64, z) + e * fitted::ln2_f64[1];
  const Pair head = sum_of(e * fitted::ln2_f64[0], 2.0 * s.high);
  return head.high + (head.low + rest);
}

/// log(x) of a finite x > 0 to about 2^-68: in a power it is multiplied by up to 2^10, and what is exactly a
/// number has to come out as that number.
inline Pair log_extended(double x) {
  double e;
  const Pair s = ratio_of(x, e), z = product_of(s, s);
  constexpr Pair third = {1.0 / 3, 0x1.5555555555555p-56}, fifth = {0.2, -0x1.999999999999ap-57};
  const Pair inner = sum_of(fifth, z.high * polynomial(fitted::log_extended, z.high));
  const Pair outer = product_of(z, inner);
  const Pair series = sum_of(Pair{third.high, third.low + outer.low}, outer.high);
  const Pair rest = product_of(product_of(s, z), series);
  const Pair head = sum_of(e * fitted::ln2_f64[0], 2.0 * s.high);
  const Pair total = sum_of(head.high, 2.0 * rest.high);
  return {total.high, total.low + (head.low + (2.0 * (s.low + rest.low) + e * fitted::ln2_f64[1]))};
}

// ---- trigonometry ----

/// x modulo pi/2 for 2^20 <= x < infinity.
[[gnu::noinline]] Pair reduce_large(double x, int64_t& quadrant) {
  const uint64_t mantissa = (bits_of(x) & 0x000fffffffffffff) | 0x0010000000000000;
  const int64_t exponent = static_cast<int64_t>(bits_of(x) >> 52) - 1075;
  // The window starts at weight 4 / 2^exponent; below exponent 2 that is left of the first bit of 2/pi.
  auto bit_window = [](int64_t start) {  // 32 bits of 2/pi from bit `start`
    if (start <= -32) return uint32_t{0};
    if (start < 0) return fitted::two_over_pi_bits[0] >> -start;
    const uint64_t two = static_cast<uint64_t>(fitted::two_over_pi_bits[start >> 5]) << 32;
    return static_cast<uint32_t>(((two | fitted::two_over_pi_bits[(start >> 5) + 1]) << (start & 31)) >> 32);
  };
  using Wide = unsigned __int128;
  Wide sum = 0;  // mantissa * window modulo 2^128, as a fraction of four quadrants
  for (int i = 0; i < 6; ++i) {
    const Wide product = static_cast<Wide>(mantissa) * bit_window(exponent - 2 + 32 * i);
    const int shift = 96 - 32 * i;
    sum += shift >= 0 ? product << shift : product >> -shift;
  }
  quadrant = static_cast<int64_t>((sum + (static_cast<Wide>(1) << 125)) >> 126);
  const auto fraction = static_cast<__int128>(sum - (static_cast<Wide>(quadrant) << 126));
  const bool negative = fraction < 0;
  const Wide magnitude = negative ? static_cast<Wide>(-fraction) : static_cast<Wide>(fraction);
  const double high = static_cast<double>(static_cast<uint64_t>(magnitude >> 64)) * 0x1p-62;
  const double low = static_cast<double>(static_cast<uint64_t>(magnitude)) * 0x1p-126;
  const Pair turns = sum_of(high, low);
  constexpr auto& quarter = fitted::quarter_wide;
  const Pair product = product_of(turns.high, quarter[0]);
  const Pair r = sum_of(product.high, product.low + turns.high * quarter[1] + turns.low * quarter[0]);
  return negative ? Pair{-r.high, -r.low} : r;
}

/// x modulo pi/2 for 0 <= x < 2^20: three pieces of pi/2, of which each product with the quotient is exact.
inline Pair reduce_small(double x, int64_t& quadrant) {
  constexpr auto& piece = fitted::quarter_f64;
  const double turns = nearest(x * fitted::two_over_pi, quadrant);
  const Pair second = sum_of(x - turns * piece[0], -(turns * piece[1]));
  const Pair third = sum_of(second.high, -(turns * piece[2]));
  return {third.high, third.low + second.low - turns * piece[3]};
}

inline double sine_from(double x, int64_t first) {
  const double magnitude = double_of(bits_of(x) & ~(uint64_t{1} << 63));
  int64_t quadrant;
  const Pair r = magnitude < 0x1p20 ? reduce_small(magnitude, quadrant) : reduce_large(magnitude, quadrant);
  quadrant += first;
  const double z = r.high * r.high, half = 0.5 * z, w = 1.0 - half;
  const double s = r.high + (r.high * z * polynomial(fitted::sin_f64, z) + r.low * w);
  const double c = w + (((1.0 - w) - half) + (z * z * polynomial(fitted::cos_f64, z) - r.high * r.low));
  const double value = (quadrant & 1) != 0 ? c : s;
  return (quadrant & 2) != 0 ? -value : value;
}

inline bool is_finite(double x) { return (bits_of(x) & 0x7fffffffffffffff) < 0x7ff0000000000000; }

}  // namespace

extern "C" {

double axon_exp_f64(double x) { return exp_of(clamp(x, -746.0, 710.0), 0.0); }

double axon_exp2_f64(double x) {
  const double bounded = clamp(x, -1076.0, 1025.0);
  int64_t n;
  const double r = bounded - nearest(bounded, n);
  const Pair power = product_of(r, fitted::ln2_wide[0]);
  return scaled(exp_reduced(power.high, power.low + r * fitted::ln2_wide[1]), n);
}

double axon_log_f64(double x) {
  const bool inside = x > 0.0 && x < infinity_f64;
  const double value = log_of(inside ? x : 1.0);
  const double at_ends = x == 0.0 ? -infinity_f64 : x < 0.0 ? nan_f64 : x;
  return inside ? value : at_ends;
}

double axon_sin_f64(double x) {
  if (!is_finite(x)) return nan_f64;
  const double value = sine_from(x, 0);
  return double_of(bits_of(value) ^ (bits_of(x) & (uint64_t{1} << 63)));
}

double axon_cos_f64(double x) { return is_finite(x) ? sine_from(x, 1) : nan_f64; }

double axon_tanh_f64(double x) {
  const double magnitude = double_of(bits_of(x) & ~(uint64_t{1} << 63)), z = x * x;
  const double near = magnitude + magnitude * (z * polynomial(fitted::tanh_f64, z));
  const double far = 1.0 - 2.0 / (axon_exp_f64(2.0 * magnitude) + 1.0);
  return with_sign(magnitude < 0.625 ? near : far, x);
}

double axon_erf_f64(double x) {
  const double magnitude = double_of(bits_of(x) & ~(uint64_t{1} << 63));
  const double z = magnitude < 1.0 ? x * x : 1.0;
  const double near = x * polynomial(fitted::erf_near_f64, z);
  const double far = 1.0 - erfc_far(magnitude > 6.0 ? 6.0 : magnitude);
  return magnitude < 1.0 ? near : x == x ? with_sign(far, x) : x;
}

double axon_erfc_f64(double x) {
  const double magnitude = double_of(bits_of(x) & ~(uint64_t{1} << 63));
  const double near = 1.0 - x * polynomial(fitted::erf_near_f64, magnitude < 0.5 ? x * x : 0.25);
  const double end = erfc_far(magnitude > 27.3 ? 27.3 : magnitude), far = x < 0.0 ? 2.0 - end : end;
  return x == x ? (magnitude < 0.5 ? near : far) : x;
}

double axon_pow_f64(double x, double y) {
  const double magnitude = double_of(bits_of(x) & ~(uint64_t{1} << 63));
  const double size = double_of(bits_of(y) & ~(uint64_t{1} << 63));
  const Pair log = log_extended(magnitude > 0.0 && magnitude < infinity_f64 ? magnitude : 1.0);
  const double power = size > 0x1p70 ? with_sign(0x1p70, y) : y;
  const Pair product = product_of(power, log.high);
  const double total = clamp(product.high, -750.0, 715.0);
  const bool inside = total == product.high;
  const double finite = exp_of(total, inside ? product.low + power * log.low : 0.0);
  const bool whole = __builtin_elementwise_floor(y) == y;
  const int64_t integer = static_cast<int64_t>(whole && size < 0x1p53 ? y : 0.0);
  const bool odd = whole && (integer & 1) != 0;
  const double at_end = (magnitude > 1.0) == (y > 0.0) ? infinity_f64 : 0.0;
  const bool ended = magnitude == 0.0 || magnitude == infinity_f64 || size == infinity_f64;
  double value = ended ? (magnitude == 1.0 ? 1.0 : at_end) : finite;
  value = odd ? with_sign(value, x) : value;
  const bool invalid =
      (x < 0.0 && magnitude < infinity_f64 && !whole && size < infinity_f64) || x != x || y != y;
  value = invalid ? nan_f64 : value;
  return x == 1.0 || y == 0.0 ? 1.0 : value;
}

/// Binary long division of the mantissas: exact, and as many steps as the exponents are apart.
double axon_mod_f64(double x, double y) {
  const uint64_t sign_bit = uint64_t{1} << 63;
  const double size = double_of(bits_of(y) & ~sign_bit);
  double rest = double_of(bits_of(x) & ~sign_bit);
  if (!is_finite(x) || y == 0.0 || y != y) return nan_f64;
  if (size < infinity_f64) {
    while (rest >= size) {
      double step = size;
      const int64_t apart = (static_cast<int64_t>(bits_of(rest)) - static_cast<int64_t>(bits_of(size))) >> 52;
      if (bits_of(size) >> 52 != 0 && apart > 0)
        step = double_of(bits_of(size) + (static_cast<uint64_t>(apart) << 52));
      else
        while (step <= rest * 0.5) step += step;
      if (step > rest) step *= 0.5;
      rest -= step;
    }
  }
  const double remainder = with_sign(rest, x);
  const double floored = (x < 0.0) != (y < 0.0) ? remainder + y : remainder;
  return rest == 0.0 ? with_sign(0.0, y) : floored;
}
}
