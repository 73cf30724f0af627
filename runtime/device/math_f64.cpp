// Elementary functions in f64. See math.h. Trigonometry beyond 2^20 and remainders leave the straight line.
#include "bits.h"
#include "math.h"

using namespace device;

namespace {

inline double clamp(double x, double low, double high) {
  const double above = x < low ? low : x;
  return above > high ? high : above;
}

/// e^(r + rest) for |r| <= ln(2) / 2 and a tiny rest.
inline double exp_reduced(double r, double rest) {
  constexpr double tail[] = {0.5,           1.0 / 6,        1.0 / 24,        1.0 / 120,
                             1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                             1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
  return (polynomial(tail, r) * r * r + rest) + r + 1.0;
}

struct Pair {
  double high, low;  ///< their unevaluated sum
};
inline Pair sum_of(double a, double b) {
  const double s = a + b, part = s - a;
  return {s, (a - (s - part)) + (b - part)};
}
inline Pair product_of(double a,
                       double b) {  // without fused multiply-add, so that every level gives the same bits
  auto high_half = [](double v) { return double_of(bits_of(v) & 0xfffffffff8000000); };
  const double ah = high_half(a), al = a - ah, bh = high_half(b), bl = b - bh, p = a * b;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

/// log(x) of a finite x > 0 to about 2^-59 relative.
inline Pair log_wide(double x) {
  int64_t exponent;
  const double m = split(x, exponent), e = static_cast<double>(exponent);
  const Pair below = sum_of(m, 1.0);
  const double s = (m - 1.0) / below.high;
  const Pair back = product_of(s, below.high);
  const double s_low = (((m - 1.0) - back.high) - back.low - s * below.low) / below.high;
  const double z = s * s;
  constexpr double series[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                               2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
  const double correction = 2.0 * s_low + s * z * polynomial(series, z) + e * 7.440617110012397e-11;
  const Pair head = sum_of(e * 0x1.62e42fefp-1, 2.0 * s);
  const Pair total = sum_of(head.high, correction);
  return {total.high, total.low + head.low};
}

// ---- trigonometry ----

constexpr uint32_t two_over_pi[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041,
                                    0xFE5163AB, 0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C,
                                    0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484, 0xE99C7026, 0xB45F7E41,
                                    0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F,
                                    0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D,
                                    0x7527BAC7, 0xEBE5F17B, 0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08};

/// x modulo pi/2 for 2^20 <= x < infinity.
[[gnu::noinline]] Pair reduce_large(double x, int64_t& quadrant) {
  const uint64_t mantissa = (bits_of(x) & 0x000fffffffffffff) | 0x0010000000000000;
  const int64_t exponent = static_cast<int64_t>(bits_of(x) >> 52) - 1075;
  // The window starts at weight 4 / 2^exponent; below exponent 2 that is left of the first bit of 2/pi.
  auto bit_window = [](int64_t start) {  // 32 bits of 2/pi from bit `start`
    if (start <= -32) return uint32_t{0};
    if (start < 0) return two_over_pi[0] >> -start;
    const uint64_t two =
        (static_cast<uint64_t>(two_over_pi[start >> 5]) << 32) | two_over_pi[(start >> 5) + 1];
    return static_cast<uint32_t>((two << (start & 31)) >> 32);
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
  const Pair product = product_of(turns.high, 1.57079632679489661923);
  const double rest =
      product.low + turns.high * 6.12323399573676603587e-17 + turns.low * 1.57079632679489661923;
  const Pair r = sum_of(product.high, rest);
  return negative ? Pair{-r.high, -r.low} : r;
}

/// x modulo pi/2 for 0 <= x < 2^20: three pieces of pi/2, of which each product with the quotient is exact.
inline Pair reduce_small(double x, int64_t& quadrant) {
  const double turns = nearest(x * 6.36619772367581382433e-01, quadrant);
  const double first = x - turns * 1.57079632673412561417e+00;
  const Pair second = sum_of(first, -(turns * 6.07710050630396597660e-11));
  const Pair third = sum_of(second.high, -(turns * 2.02226624871116645580e-21));
  return {third.high, third.low + second.low - turns * 8.47842766036889956997e-32};
}

inline double sine_from(double x, int64_t first) {
  const double magnitude = double_of(bits_of(x) & ~(uint64_t{1} << 63));
  int64_t quadrant;
  const Pair r = magnitude < 0x1p20 ? reduce_small(magnitude, quadrant) : reduce_large(magnitude, quadrant);
  quadrant += first;
  const double z = r.high * r.high, cube = z * r.high;
  constexpr double sine[] = {8.33333333332248946124e-03, -1.98412698298579493134e-04,
                             2.75573137070700676789e-06, -2.50507602534068634195e-08,
                             1.58969099521155010221e-10};
  constexpr double cosine[] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                               2.48015872894767294178e-05, -2.75573143513906633035e-07,
                               2.08757232129817482790e-09, -1.13596475577881948265e-11};
  const double s = r.high - ((z * (0.5 * r.low - cube * polynomial(sine, z)) - r.low) -
                             cube * -1.66666666666666324348e-01);
  const double half = 0.5 * z, w = 1.0 - half;
  const double c = w + (((1.0 - w) - half) + (z * z * polynomial(cosine, z) - r.high * r.low));
  const double value = (quadrant & 1) != 0 ? c : s;
  return (quadrant & 2) != 0 ? -value : value;
}

inline bool is_finite(double x) { return (bits_of(x) & 0x7fffffffffffffff) < 0x7ff0000000000000; }

}  // namespace

extern "C" {

double axon_exp_f64(double x) {
  const double bounded = clamp(x, -746.0, 710.0);
  int64_t n;
  const double whole = nearest(bounded * 1.44269504088896340736, n);
  const double r = bounded - whole * 6.93147180369123816490e-01, low = whole * 1.90821492927058770002e-10;
  return scaled(exp_reduced(r - low, (r - (r - low)) - low), n);
}

double axon_exp2_f64(double x) {
  const double bounded = clamp(x, -1076.0, 1025.0);
  int64_t n;
  const double r = bounded - nearest(bounded, n);
  const Pair scaled_r = product_of(r, 0.69314718055994530942);
  return scaled(exp_reduced(scaled_r.high, scaled_r.low + r * 2.3190468138462996e-17), n);
}

double axon_log_f64(double x) {
  const bool inside = x > 0.0 && x < infinity_f64;
  const Pair value = log_wide(inside ? x : 1.0);
  const double at_ends = x == 0.0 ? -infinity_f64 : x < 0.0 ? nan_f64 : x;
  return inside ? value.high + value.low : at_ends;
}

double axon_sin_f64(double x) {
  if (!is_finite(x)) return nan_f64;
  const double value = sine_from(x, 0);
  return double_of(bits_of(value) ^ (bits_of(x) & (uint64_t{1} << 63)));
}

double axon_cos_f64(double x) { return is_finite(x) ? sine_from(x, 1) : nan_f64; }

double axon_tanh_f64(double x) {
  const double magnitude = double_of(bits_of(x) & ~(uint64_t{1} << 63)), z = x * x;
  constexpr double top[] = {-1.61468768441708447952e3, -9.92877231001918586564e1, -9.64399179425052238628e-1};
  constexpr double bottom[] = {4.84406305325125486048e3, 2.23548839060100448583e3, 1.12811678491632931402e2,
                               1.0};
  const double near = x + x * (z * polynomial(top, z) / polynomial(bottom, z));
  const double far = 1.0 - 2.0 / (axon_exp_f64(2.0 * magnitude) + 1.0);
  return magnitude < 0.625 ? near : with_sign(far, x);
}

double axon_erf_f64(double x) {
  const double magnitude = double_of(bits_of(x) & ~(uint64_t{1} << 63));
  constexpr double near_series[] = {1.1283791670955126,      -0.37612638903183754,    0.1128379167095512,
                                    -0.02686617064512984,    0.0052239776254232985,   -0.000854832702193483,
                                    0.00012055332902888736,  -1.4925647567519332e-05, 1.6462045441468418e-06,
                                    -1.6364642158167616e-07, 1.4792401209404813e-08,  -1.216456005728345e-09,
                                    8.709045129053106e-11,   -4.230945824295338e-12};
  // erfc(x) * e^(x^2) over t = (x - 3) / (x + 3), x in [1, 6].
  constexpr double far_series[] = {
      0.17900115118138996,    -0.3262335600430372,    0.24560380171233087,   -0.15011593650077723,
      0.07166583719797852,    -0.024392499318670876,  0.004269136332823029,  0.0007077464388955435,
      -0.0005970619481870005, 4.5255298797392725e-05, 6.405655183867133e-05, -1.2860497788801763e-05,
      -7.978112612415575e-06, 2.1199944420289033e-06, 1.252442008487213e-06, -2.937953295127374e-07,
      -2.345688088815329e-07, 2.7902842870616016e-08, 4.678087936130553e-08, 2.401847651247577e-09,
      -8.382300626318526e-09, -2.7076949389702287e-09};
  const double bounded = magnitude > 6.0 ? 6.0 : magnitude;
  const double z = bounded < 1.0 ? bounded * bounded : 1.0, from_one = bounded < 1.0 ? 1.0 : bounded;
  const double near = x * polynomial(near_series, z);
  const double far = 1.0 - axon_exp_f64(-(from_one * from_one)) *
                               polynomial(far_series, (from_one - 3.0) / (from_one + 3.0));
  const double value = magnitude < 1.0 ? near : with_sign(far, x);
  return x == x ? value : x;
}

double axon_pow_f64(double x, double y) {
  const double magnitude = double_of(bits_of(x) & ~(uint64_t{1} << 63));
  const double size = double_of(bits_of(y) & ~(uint64_t{1} << 63));
  const Pair log = log_wide(magnitude > 0.0 && magnitude < infinity_f64 ? magnitude : 1.0);
  const double power = size > 0x1p70 ? with_sign(0x1p70, y) : y;
  const Pair product = product_of(power, log.high);
  const double total = clamp(product.high, -750.0, 715.0);
  const bool inside = total == product.high;
  const double rest = inside ? product.low + power * log.low : 0.0;
  const double finite = axon_exp_f64(total) * (1.0 + rest);
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
  return remainder != 0.0 && (remainder < 0.0) != (y < 0.0) ? remainder + y : remainder;
}
}
