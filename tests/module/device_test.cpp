// The device pieces, as each level's code generator makes them: elementary functions in units in the last
// place against the C library in higher precision, conversions against all bit patterns.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <random>
#include <stdexcept>
#include <thread>

#include "device/abi.h"
#include "graph/round.h"
#include "harness.h"

namespace axon::testing {
namespace {

using base::Elem;

struct Device {
  target::Machine level;
  std::unique_ptr<Library> library;
  template <class F>
  F* find(const std::string& name) const {
    void* f = library ? library->find(name) : nullptr;
    if (!f) throw std::runtime_error("no device function " + name);
    return reinterpret_cast<F*>(f);
  }
};

const std::vector<Device>& devices() {
  static const std::vector<Device> all = [] {
    std::vector<Device> made;
    for (const auto& level : target::machines()) {
      std::string error;
      const auto object = module::emit_device_object(level, error);
      made.push_back({level, object ? Library::link({*object}, error) : nullptr});
      EXPECT_NE(made.back().library, nullptr) << error;
      if (level.name == target::native_machine().name) break;
    }
    return made;
  }();
  return all;
}

/// Distance in units in the last place of T; infinite where special values or the signs of zeros differ.
template <class T, class Wide>
double ulps(T got, Wide want) {
  constexpr double far = 1e9;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : far;
  const T rounded = static_cast<T>(want);
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : far;
  if (rounded == 0 && got == 0) return std::signbit(rounded) == std::signbit(got) ? 0 : far;
  int exponent;
  std::frexp(want, &exponent);
  const int digits = std::numeric_limits<T>::digits, least = std::numeric_limits<T>::min_exponent;
  const Wide unit = std::ldexp(Wide(1), std::max(exponent, least) - digits);
  return static_cast<double>(std::fabs(static_cast<Wide>(got) - want) / unit);
}

// ---- elementary functions ----

using F32 = float(float);
using F64 = double(double);

struct Function {
  const char* name;
  F64* wide;
  long double (*widest)(long double);
  double units_f32, units_f64;
};
const Function functions[] = {
    {"exp", std::exp, expl, 1, 1},    {"exp2", std::exp2, exp2l, 1, 1}, {"log", std::log, logl, 2, 1},
    {"sin", std::sin, sinl, 2, 2},    {"cos", std::cos, cosl, 2, 2},    {"atan", std::atan, atanl, 2, 2},
    {"tanh", std::tanh, tanhl, 2, 2}, {"erf", std::erf, erfl, 2, 2},    {"erfc", std::erfc, erfcl, 4, 4}};

TEST(Math, SinglePrecision) {
  for (const Device& device : devices())
    for (const Function& function : functions) {
      F32* f = device.find<F32>(std::string("axon_") + function.name + "_f32");
      double worst = 0;
      float where = 0;
      for (uint64_t bits = 0; bits < (uint64_t{1} << 32);
           bits += 8191) {  // every exponent, denormals, NaN, infinities
        float x;
        const auto pattern = static_cast<uint32_t>(bits);
        std::memcpy(&x, &pattern, 4);
        const double distance = ulps<float, double>(f(x), function.wide(x));
        if (distance > worst) worst = distance, where = x;
      }
      EXPECT_LE(worst, function.units_f32)
          << device.level.name << " " << function.name << "(" << where << ") = " << f(where);
      EXPECT_EQ((ulps<float, double>(f(-0.0f), function.wide(-0.0))), 0) << function.name;
    }
}

TEST(Math, DoublePrecision) {
  for (const Device& device : devices())
    for (const Function& function : functions) {
      F64* f = device.find<F64>(std::string("axon_") + function.name + "_f64");
      std::mt19937_64 random(7);
      double worst = 0, where = 0;
      for (int i = 0; i < 100000; ++i) {
        double x;
        const uint64_t bits = random();
        if (i % 2)
          std::memcpy(&x, &bits, 8);
        else
          x = std::ldexp(static_cast<double>(static_cast<int64_t>(bits)),
                         -71 + static_cast<int>(random() % 20));
        const double distance = ulps<double, long double>(f(x), function.widest(x));
        if (distance > worst) worst = distance, where = x;
      }
      EXPECT_LE(worst, function.units_f64)
          << device.level.name << " " << function.name << "(" << where << ") = " << f(where);
      EXPECT_EQ((ulps<double, long double>(f(-0.0), function.widest(-0.0L))), 0) << function.name;
    }
}

TEST(Math, Powers) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const double special[] = {0.0,  -0.0, 1,    -1,  2,     -2,       3,        -3,   0.5,
                            -0.5, inf,  -inf, nan, 1e-40, 16777216, 33554431, 1e30, -1e30};
  for (const Device& device : devices()) {
    auto* single = device.find<float(float, float)>("axon_pow_f32");
    auto* twice = device.find<double(double, double)>("axon_pow_f64");
    const auto check = [&](double x, double y) {
      const auto xf = static_cast<float>(x), yf = static_cast<float>(y);
      EXPECT_LE(
          (ulps<float, double>(single(xf, yf), std::pow(static_cast<double>(xf), static_cast<double>(yf)))),
          1.0)
          << x << " ^ " << y;
      EXPECT_LE((ulps<double, long double>(twice(x, y), powl(x, y))), 1.0) << x << " ^ " << y;
    };
    for (double x : special)
      for (double y : special) check(x, y);
    std::mt19937_64 random(3);
    for (int i = 0; i < 50000; ++i) {
      const auto number = [&](int exponent) {  // a positive number below 2^exponent
        return std::ldexp(static_cast<double>(random() >> 11), exponent - 53);
      };
      const double base = number(10);
      check(base, number(8) - 128.0);
      check(number(static_cast<int>(random() % 2100) - 1050), number(8) - 128.0);
      if (const double log = std::log(base); log != 0) check(base, (number(11) - 1024.0) * 0.7 / log);
    }
  }
}

/// Every power of an integer that is a number is that number, and every root of one that is.
TEST(Math, ExactPowers) {
  for (const Device& device : devices()) {
    auto* single = device.find<float(float, float)>("axon_pow_f32");
    auto* twice = device.find<double(double, double)>("axon_pow_f64");
    for (int base = 2; base < 3000; ++base) {
      double power = 1;
      for (int n = 1; (power *= base) < 0x1p53; ++n) {
        ASSERT_EQ(twice(base, n), power) << base << " ^ " << n;
        ASSERT_EQ(twice(-base, n), n % 2 ? -power : power) << -base << " ^ " << n;
        if (n == 2 || n == 4 || n == 8) {
          EXPECT_EQ(twice(power, 1.0 / n), base);
        }
        if (power < 0x1p24) {
          ASSERT_EQ(single(static_cast<float>(base), static_cast<float>(n)), power) << base << " ^ " << n;
        }
      }
    }
    for (int n = -1074; n < 1024; ++n) ASSERT_EQ(twice(2, n), std::ldexp(1.0, n)) << n;
    for (int n = -149; n < 128; ++n) ASSERT_EQ(single(2, static_cast<float>(n)), std::ldexp(1.0f, n)) << n;
    for (int n = 1; n <= 22; ++n)
      for (int shift = -900 / n; shift <= 900 / n; shift += 7)  // (5 * 2^shift)^n
        ASSERT_EQ(twice(std::ldexp(5.0, shift), n), std::ldexp(std::pow(5.0, n), shift * n)) << n;
  }
}

TEST(Math, FlooredRemainder) {
  for (const Device& device : devices()) {
    auto* mod = device.find<double(double, double)>("axon_mod_f64");
    std::mt19937 random(5);
    for (int i = 0; i < 20000; ++i) {
      const double x = std::ldexp(static_cast<int32_t>(random()), static_cast<int>(random() % 80) - 40);
      const double y = std::ldexp(static_cast<int32_t>(random()) | 1, static_cast<int>(random() % 80) - 40);
      double want = std::fmod(x, y);
      if (want != 0 && (want < 0) != (y < 0)) want += y;
      ASSERT_EQ(mod(x, y), want) << x << " % " << y;
    }
    const double inf = std::numeric_limits<double>::infinity();
    for (double sign : {1.0, -1.0})  // a remainder of 0 has the divisor's sign too
      for (double x : {0.0, -0.0, 3.0, -3.0}) {
        EXPECT_EQ(mod(x, 1.5 * sign), 0);
        EXPECT_EQ(std::signbit(mod(x, 1.5 * sign)), sign < 0) << x;
      }
    EXPECT_EQ(mod(-1, inf), inf);
    EXPECT_TRUE(std::isnan(mod(1, 0)) && std::isnan(mod(inf, 1)) && std::isnan(mod(1, std::nan(""))));
    EXPECT_EQ(mod(5, std::numeric_limits<double>::infinity()), 5);
  }
}

// ---- narrow formats ----

TEST(Convert, EveryPatternAndEveryRounding) {
  for (const Device& device : devices()) {
    const auto check = [&](const char* name, Elem elem, auto bits) {
      using Bits = decltype(bits);
      auto* from = device.find<float(Bits)>(std::string("axon_from_") + name);
      auto* to = device.find<Bits(float)>(std::string("axon_to_") + name);
      for (uint32_t pattern = 0; pattern <= std::numeric_limits<Bits>::max(); ++pattern) {
        const float value = from(static_cast<Bits>(pattern));
        if (!std::isnan(value)) {
          ASSERT_EQ(to(value), pattern) << name;
          ASSERT_EQ(graph::round_to(elem, value), value) << name << " " << pattern;
        }
      }
      for (uint64_t x = 0; x < (uint64_t{1} << 32); x += 65521) {
        const auto word = static_cast<uint32_t>(x);
        float value;
        std::memcpy(&value, &word, 4);
        const double want = graph::round_to(elem, value), got = from(to(value));
        ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
            << name << " of " << value << ": " << got;
      }
    };
    check("f16", Elem::f16, uint16_t{});
    check("bf16", Elem::bf16, uint16_t{});
    check("f8e4m3", Elem::f8e4m3, uint8_t{});
    check("f8e5m2", Elem::f8e5m2, uint8_t{});
  }
}

// ---- events ----

std::atomic<int> waits_served{0};
void count_wait(const axon_kernel_context*, const uint32_t*, uint32_t) {
  ++waits_served;
  std::this_thread::yield();
}
void ignore_wake(const axon_kernel_context*, const uint32_t*) {}

struct Launch {
  uint32_t cancel = 0, failed = 0, sleepers = 0;
  int64_t failed_value[2] = {0, 0};
  axon_services services{count_wait, ignore_wake, &sleepers, nullptr, nullptr, nullptr};
  axon_kernel_context context{};
  Launch() {
    context.cancel = &cancel;
    context.failed = &failed;
    context.failed_value = failed_value;
    context.services = &services;
  }
};

TEST(Event, WaitsAcrossTheWrapOfTheEpoch) {
  const Device& device = devices().back();
  auto* wait = device.find<bool(const axon_kernel_context*, const uint32_t*, int64_t, uint32_t)>(
      "axon_event_wait_run");
  auto* notify = device.find<void(const axon_kernel_context*, uint32_t*, uint32_t)>("axon_event_notify");
  Launch launch;
  for (uint32_t epoch : {0u, 0x7fffffffu, 0xfffffffeu, 0xffffffffu}) {
    uint32_t words[3] = {epoch, epoch, epoch};
    std::thread other([&] {
      for (uint32_t& word : words) notify(&launch.context, &word, epoch + 1);
    });
    EXPECT_TRUE(wait(&launch.context, words, 3, epoch + 1));
    other.join();
    for (uint32_t word : words) EXPECT_EQ(word, epoch + 1);
    EXPECT_TRUE(wait(&launch.context, words, 3, epoch));  // what was reached before still is
  }
}

TEST(Event, CancelledWaitsReturn) {
  const Device& device = devices().back();
  auto* wait = device.find<bool(const axon_kernel_context*, const uint32_t*, int64_t, uint32_t)>(
      "axon_event_wait_run");
  Launch launch;
  launch.cancel = 1;
  uint32_t word = 0;
  EXPECT_FALSE(wait(&launch.context, &word, 1, 1));
  EXPECT_TRUE(wait(&launch.context, &word, 0, 1));
}

TEST(Event, FirstFailedCheckWins) {
  const Device& device = devices().back();
  auto* report =
      device.find<void(const axon_kernel_context*, uint32_t, int64_t, int64_t)>("axon_check_failed");
  Launch launch;
  report(&launch.context, 4, -7, 3);
  report(&launch.context, 2, 9, 8);
  EXPECT_EQ(launch.failed, 5u);
  EXPECT_EQ(launch.failed_value[0], -7);
  EXPECT_EQ(launch.failed_value[1], 3);
}

/// Many workers may report one failure each step: what they share is written once, or each would wait for
/// the others' cores.
TEST(Event, ChecksThatFailLaterWriteNothing) {
  const Device& device = devices().back();
  auto* report =
      device.find<void(const axon_kernel_context*, uint32_t, int64_t, int64_t)>("axon_check_failed");
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const shared = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  Launch launch;
  launch.context.failed = static_cast<uint32_t*>(shared);
  report(&launch.context, 4, -7, 3);
  ASSERT_EQ(mprotect(shared, page, PROT_READ), 0);
  report(&launch.context, 2, 9, 8);
  EXPECT_EQ(*launch.context.failed, 5u);
  munmap(shared, page);
}

}  // namespace
}  // namespace axon::testing
