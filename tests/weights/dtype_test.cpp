// Element types: names, sizes, and conversions that round once, to nearest, ties to even.
#include "host/weights/dtype.h"

#include <bit>
#include <cmath>
#include <limits>

#include "support.h"

namespace axon::weights {
namespace {

using Decode = float (*)(uint16_t);
using Encode = uint16_t (*)(double);

TEST(Dtype, names_and_sizes) {
  const char* names[] = {"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2",
                         "i64", "i32", "i16", "i8",   "u8",     "bool"};
  const uint64_t sizes[] = {8, 4, 2, 2, 1, 1, 8, 4, 2, 1, 1, 1};
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(dtype_name(static_cast<Dtype>(i)), names[i]);
    EXPECT_EQ(dtype_from_name(names[i]), static_cast<Dtype>(i));
    EXPECT_EQ(dtype_bytes(static_cast<Dtype>(i)), sizes[i]);
  }
  EXPECT_EQ(dtype_from_name("F32"), std::nullopt);
}

TEST(Dtype, known_values) {
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

TEST(Dtype, f64_is_rounded_once) {
  // Through f32 this would round to a tie first and then the wrong way.
  const double value = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(f64_to_f16(value), 0x3c01);
  EXPECT_EQ(f32_to_f16(static_cast<float>(value)), 0x3c00);
}

void check_all_values(Decode decode, Encode encode, uint16_t infinity) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto narrow = static_cast<uint16_t>(bits);
    const float wide = decode(narrow);
    if ((bits & 0x7fff) > infinity) {
      EXPECT_TRUE(std::isnan(wide));
      const uint16_t back = encode(wide);
      EXPECT_GT(back & 0x7fff, infinity) << "NaN stays NaN";
      EXPECT_EQ(back & 0x8000, narrow & 0x8000);
    } else {
      ASSERT_EQ(encode(wide), narrow) << bits;
    }
  }
}

void check_all_midpoints(Decode decode, Encode encode, uint16_t infinity) {
  for (uint16_t low = 0; low + 1 < infinity; ++low) {
    const double a = decode(low), b = decode(static_cast<uint16_t>(low + 1)), middle = (a + b) / 2;
    const auto even = static_cast<uint16_t>(low + (low & 1));
    ASSERT_EQ(encode(middle), even);
    ASSERT_EQ(encode(std::nextafter(middle, a)), low);
    ASSERT_EQ(encode(std::nextafter(middle, b)), low + 1);
    ASSERT_EQ(encode(-middle), even | 0x8000);
  }
}

TEST(Dtype, every_f16) { check_all_values(f16_to_f32, f64_to_f16, 0x7c00); }
TEST(Dtype, every_bf16) { check_all_values(bf16_to_f32, f64_to_bf16, 0x7f80); }
TEST(Dtype, nearest_f16_ties_to_even) { check_all_midpoints(f16_to_f32, f64_to_f16, 0x7c00); }
TEST(Dtype, nearest_bf16_ties_to_even) { check_all_midpoints(bf16_to_f32, f64_to_bf16, 0x7f80); }

TEST(Dtype, every_pair_of_floats_converts) {
  const Dtype floats[] = {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16};
  const std::vector<double> values = {0, 1, -2.5, 96, -0.0078125, INFINITY};  // exact in all four
  for (const Dtype from : floats)
    for (const Dtype to : floats) {
      ASSERT_TRUE(convertible(from, to));
      // An odd start makes every access misaligned.
      std::vector<uint8_t> in(1 + values.size() * 8), out(1 + values.size() * 8);
      std::vector<double> back(values.size());
      convert(Dtype::f64, values.data(), from, in.data() + 1, values.size());
      convert(from, in.data() + 1, to, out.data() + 1, values.size());
      convert(to, out.data() + 1, Dtype::f64, back.data(), values.size());
      EXPECT_EQ(back, values) << dtype_name(from) << " to " << dtype_name(to);
    }
  EXPECT_TRUE(convertible(Dtype::i32, Dtype::i32));
  EXPECT_FALSE(convertible(Dtype::i32, Dtype::f32));
  EXPECT_FALSE(convertible(Dtype::f32, Dtype::f8e4m3));
  convert(Dtype::f32, nullptr, Dtype::f16, nullptr, 0);
}

TEST(Dtype, sizes_of_shapes) {
  EXPECT_EQ(*element_count({}), 1u);
  EXPECT_EQ(*byte_count(std::vector<uint64_t>{2, 3}, Dtype::f64), 48u);
  EXPECT_EQ(*byte_count(std::vector<uint64_t>{0, 3}, Dtype::f64), 0u);
  EXPECT_EQ(*element_count(std::vector<uint64_t>{uint64_t{1} << 48, 256}), uint64_t{1} << 56);
  EXPECT_FALSE(element_count(std::vector<uint64_t>{uint64_t{1} << 48, 257}));
  EXPECT_FALSE(element_count(std::vector<uint64_t>{(uint64_t{1} << 48) + 1}));
}

}  // namespace
}  // namespace axon::weights
