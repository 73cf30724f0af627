// Element types: names, sizes, and conversions that round once, to nearest, ties to even.
#include "host/weights/elements.h"

#include <cmath>
#include <limits>
#include <tuple>

#include "support.h"

namespace axon::weights {
namespace {

float f16_to_f32(uint16_t bits) { return static_cast<float>(load_float(Elem::f16, &bits)); }
float bf16_to_f32(uint16_t bits) { return static_cast<float>(load_float(Elem::bf16, &bits)); }
uint16_t f64_to_f16(double value) {
  uint16_t bits;
  store_float(Elem::f16, value, &bits);
  return bits;
}

TEST(Elem, names_and_sizes) {
  // As axon.h has them, and every bundle ever written.
  const std::tuple<axon_elem, const char*, int> known[] = {
      {AXON_F64, "f64", 8},       {AXON_F32, "f32", 4},       {AXON_F16, "f16", 2}, {AXON_BF16, "bf16", 2},
      {AXON_F8E4M3, "f8e4m3", 1}, {AXON_F8E5M2, "f8e5m2", 1}, {AXON_I64, "i64", 8}, {AXON_I32, "i32", 4},
      {AXON_I16, "i16", 2},       {AXON_I8, "i8", 1},         {AXON_U8, "u8", 1},   {AXON_BOOL, "bool", 1},
      {AXON_U32, "u32", 4}};
  EXPECT_EQ(std::size(all_elems), std::size(known));
  int at = 0;
  for (const auto& [number, name, bytes] : known) {
    EXPECT_EQ(number, at++);
    const auto elem = static_cast<Elem>(number);
    EXPECT_EQ(elem_name(elem), name);
    EXPECT_EQ(elem_from_name(name), elem);
    EXPECT_EQ(elem_bytes(elem), bytes);
  }
  EXPECT_EQ(elem_from_name("F32"), std::nullopt);
}

TEST(Elem, known_values) {
  EXPECT_EQ(f16_to_f32(0x3c00), 1.0f);
  EXPECT_EQ(f16_to_f32(0xc000), -2.0f);
  EXPECT_EQ(f16_to_f32(0x7bff), 65504.0f);
  EXPECT_EQ(f16_to_f32(0x0001), 0x1p-24f);
  EXPECT_EQ(f16_to_f32(0x7c00), INFINITY);
  EXPECT_EQ(bf16_to_f32(0x3f80), 1.0f);
  EXPECT_EQ(bf16_to_f32(0x0001), 0x1p-133f);
  EXPECT_EQ(f64_to_f16(65519.99), 0x7bff);
  EXPECT_EQ(f64_to_f16(65520.0), 0x7c00) << "half way to the next power goes to infinity";
  EXPECT_EQ(f64_to_f16(0x1p-25), 0) << "half the smallest denormal ties to even";
  EXPECT_EQ(f64_to_f16(std::nextafter(0x1p-25, 1.0)), 1);
  EXPECT_EQ(f64_to_f16(1e-300), 0);
  EXPECT_EQ(f64_to_f16(-1e300), 0xfc00);
  EXPECT_EQ(f64_to_f16(-0.0), 0x8000);
  EXPECT_EQ(f64_to_f16(std::numeric_limits<double>::denorm_min()), 0);
}

TEST(Elem, f64_is_rounded_once) {
  // Through f32 this would round to a tie first and then the wrong way.
  const double value = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(f64_to_f16(value), 0x3c01);
  EXPECT_EQ(f64_to_f16(static_cast<float>(value)), 0x3c00);
}

struct Narrow {
  Elem elem;
  uint32_t end;  ///< the least magnitude that is no finite number
};
constexpr Narrow narrow[] = {
    {Elem::f16, 0x7c00}, {Elem::bf16, 0x7f80}, {Elem::f8e4m3, 0x7f}, {Elem::f8e5m2, 0x7c}};

double decoded(Elem elem, uint32_t bits) { return load_float(elem, &bits); }  // little-endian
uint32_t encoded(Elem elem, double value) {
  uint32_t bits = 0;
  store_float(elem, value, &bits);
  return bits;
}
uint32_t sign_of(Elem elem) { return 0x80u << (8 * (elem_bytes(elem) - 1)); }

TEST(Elem, every_value_of_the_narrow_floats) {
  for (const auto& [elem, end] : narrow) {
    const uint32_t sign = sign_of(elem);
    for (uint32_t bits = 0; bits < 2 * sign; ++bits) {
      const uint32_t magnitude = bits & (sign - 1);
      const double wide = decoded(elem, bits);
      EXPECT_EQ(std::signbit(wide), (bits & sign) != 0);
      if (magnitude > end || (magnitude == end && elem == Elem::f8e4m3)) {
        EXPECT_TRUE(std::isnan(wide));
        const uint32_t back = encoded(elem, wide);
        EXPECT_TRUE(std::isnan(decoded(elem, back))) << "NaN stays NaN";
        EXPECT_EQ(back & sign, bits & sign);
      } else {
        EXPECT_EQ(std::isinf(wide), magnitude == end);
        ASSERT_EQ(encoded(elem, wide), bits) << elem_name(elem);
      }
    }
    EXPECT_EQ(decoded(elem, end - 1), float_format(elem).largest);
  }
}

TEST(Elem, nearest_ties_to_even) {
  for (const auto& [elem, end] : narrow)
    for (uint32_t low = 0; low + 1 < end; ++low) {
      const double a = decoded(elem, low), b = decoded(elem, low + 1), middle = (a + b) / 2;
      const uint32_t even = low + (low & 1);
      ASSERT_EQ(encoded(elem, middle), even) << elem_name(elem);
      ASSERT_EQ(encoded(elem, std::nextafter(middle, a)), low);
      ASSERT_EQ(encoded(elem, std::nextafter(middle, b)), low + 1);
      ASSERT_EQ(encoded(elem, -middle), even | sign_of(elem));
    }
}

TEST(Elem, what_is_too_large_is_infinite_or_no_number) {
  EXPECT_EQ(encoded(Elem::f8e4m3, 464.0), 0x7eu) << "half way to what would be the next number";
  EXPECT_EQ(encoded(Elem::f8e4m3, std::nextafter(464.0, 500.0)), 0x7fu);
  EXPECT_EQ(encoded(Elem::f8e4m3, -INFINITY), 0xffu);
  EXPECT_EQ(encoded(Elem::f8e4m3, 1e300), 0x7fu);
  EXPECT_EQ(encoded(Elem::f8e5m2, 61440.0), 0x7cu);
  EXPECT_EQ(encoded(Elem::bf16, 1e300), 0x7f80u);
}

TEST(Elem, every_pair_of_floats_converts) {
  const Elem floats[] = {Elem::f64, Elem::f32, Elem::f16, Elem::bf16, Elem::f8e4m3, Elem::f8e5m2};
  const std::vector<double> values = {0, 1, -2.5, 96, -0.0078125};  // exact in all of them
  for (const Elem from : floats)
    for (const Elem to : floats) {
      ASSERT_TRUE(convertible(from, to));
      // An odd start makes every access misaligned.
      std::vector<uint8_t> in(1 + values.size() * 8), out(1 + values.size() * 8);
      std::vector<double> back(values.size());
      convert(Elem::f64, values.data(), from, in.data() + 1, values.size());
      convert(from, in.data() + 1, to, out.data() + 1, values.size());
      convert(to, out.data() + 1, Elem::f64, back.data(), values.size());
      EXPECT_EQ(back, values) << elem_name(from) << " to " << elem_name(to);
    }
  EXPECT_TRUE(convertible(Elem::i32, Elem::i32));
  EXPECT_FALSE(convertible(Elem::i32, Elem::f32));
  EXPECT_FALSE(convertible(Elem::f8e4m3, Elem::u8));
  convert(Elem::f32, nullptr, Elem::f16, nullptr, 0);
}

TEST(Elem, sizes_of_shapes) {
  EXPECT_EQ(*element_count({}), 1u);
  EXPECT_EQ(*byte_count(std::vector<uint64_t>{2, 3}, Elem::f64), 48u);
  EXPECT_EQ(*byte_count(std::vector<uint64_t>{0, 3}, Elem::f64), 0u);
  EXPECT_EQ(*element_count(std::vector<uint64_t>{uint64_t{1} << 48, 256}), uint64_t{1} << 56);
  EXPECT_FALSE(element_count(std::vector<uint64_t>{uint64_t{1} << 48, 257}));
  EXPECT_FALSE(element_count(std::vector<uint64_t>{(uint64_t{1} << 48) + 1}));
}

}  // namespace
}  // namespace axon::weights
