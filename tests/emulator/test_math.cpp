// Functions of floats and conversions, against those of the C library.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "emulator/floats.h"
#include "per_thread.h"

namespace axon::emulator {
namespace {

TEST(Primitives, FunctionsOfFloats) {
  struct Row {
    const char* name;
    int arguments;
    float (*value)(float, float, float);
  };
  const Row rows[] = {
      {"fma.rn.f", 3, [](float x, float y, float z) { return std::fma(x, y, z); }},
      {"add.rn.f", 2, [](float x, float y, float) { return x + y; }},
      {"mul.rn.f", 2, [](float x, float y, float) { return x * y; }},
      {"div.rn.f", 2, [](float x, float y, float) { return x / y; }},
      {"sqrt.rn.f", 1, [](float x, float, float) { return std::sqrt(x); }},
      {"rsqrt.approx.f", 1, [](float x, float, float) { return 1 / std::sqrt(x); }},
      {"rcp.rn.f", 1, [](float x, float, float) { return 1 / x; }},
      {"ex2.approx.ftz.f", 1, [](float x, float, float) { return std::exp2(x); }},
      {"lg2.approx.ftz.f", 1, [](float x, float, float) { return std::log2(x); }},
      {"sin.approx.f", 1, [](float x, float, float) { return std::sin(x); }},
      {"cos.approx.f", 1, [](float x, float, float) { return std::cos(x); }},
      {"fabs.f", 1, [](float x, float, float) { return std::fabs(x); }},
      {"fmin.f", 2, [](float x, float y, float) { return std::fmin(x, y); }},
      {"fmax.f", 2, [](float x, float y, float) { return std::fmax(x, y); }},
      {"floor.f", 1, [](float x, float, float) { return std::floor(x); }},
      {"ceil.f", 1, [](float x, float, float) { return std::ceil(x); }},
      {"saturate.f", 1, [](float x, float, float) { return x > 1   ? 1
                                                           : x > 0 ? x
                                                                   : 0; }},
  };
  const float y = 1.75F, z = -0.3F;
  for (const Row& row : rows) {
    std::string types = "float", passed = "float %f";
    if (row.arguments > 1)
      types += ", float", passed += fmt::format(", float {:#x}", 0), passed.resize(passed.size() - 3),
          passed += "1.75";
    if (row.arguments > 2) types += ", float", passed += ", float %z";
    const Words out = results(fmt::format("declare float @llvm.nvvm.{}({})", row.name, types),
                              fmt::format("%f = bitcast i32 %x to float\n%z = bitcast i32 {} to float\n"
                                          "%v = call float @llvm.nvvm.{}({})\n%r = bitcast float %v to i32",
                                          std::bit_cast<int32_t>(z), row.name, passed),
                              counted(32, [](uint32_t i) {
                                return std::bit_cast<uint32_t>(static_cast<float>(i) * 0.37F + 0.1F);
                              }));
    for (uint32_t i = 0; i < 32; ++i) {
      const float x = static_cast<float>(i) * 0.37F + 0.1F, expected = row.value(x, y, z);
      EXPECT_NEAR(std::bit_cast<float>(out[i]), expected, 2e-7F * std::max(1.0F, std::fabs(expected)))
          << row.name << " " << x;
    }
  }
}

TEST(Primitives, IntrinsicsOfLlvmGoThrough) {
  const Words out = results(
      "declare i32 @llvm.smax.i32(i32, i32)\ndeclare float @llvm.sqrt.f32(float)\n"
      "declare float @llvm.fma.f32(float, float, float)\ndeclare float @llvm.maxnum.f32(float, float)\n"
      "declare float @llvm.floor.f32(float)\ndeclare float @llvm.fabs.f32(float)\ndeclare void "
      "@llvm.assume(i1)\n",
      "call void @llvm.assume(i1 true)\n%a = call i32 @llvm.smax.i32(i32 %x, i32 4)\n%f = uitofp i32 %a to "
      "float\n"
      "%g = call float @llvm.sqrt.f32(float %f)\n%h = call float @llvm.fma.f32(float %g, float %g, float "
      "0.5)\n"
      "%m = call float @llvm.maxnum.f32(float %h, float 7.25)\n%n = fneg float %m\n"
      "%l = call float @llvm.floor.f32(float %n)\n%p = call float @llvm.fabs.f32(float %l)\n"
      "%r = fptoui float %p to i32",
      counted(32));
  EXPECT_EQ(out, counted(32, [](uint32_t i) { return i < 7 ? 8 : i + 1; }));
}

TEST(Primitives, SubnormalsAreFlushedWhereTheNameSaysSo) {
  const Words in = counted(32, [](uint32_t i) { return i; });
  const auto add = [&](const std::string& name) {
    return results(
        fmt::format("declare float @llvm.nvvm.{}(float, float)", name),
        fmt::format("%f = bitcast i32 %x to float\n%v = call float @llvm.nvvm.{}(float %f, float %f)\n"
                    "%r = bitcast float %v to i32",
                    name),
        in);
  };
  EXPECT_EQ(add("add.rn.f"), counted(32, [](uint32_t i) { return 2 * i; }));
  EXPECT_EQ(add("add.rn.ftz.f"), Words(32, 0));
}

const Words& floats_to_round() {
  static const Words all = {
      0x3f800000, 0x3f808000, 0x3f818000, 0x3f808001, 0x3f807fff, 0x7f800000, 0xff800000, 0x7f7fffff,
      0x00000001, 0x80000000, 0x387fc000, 0x33800000, 0x33000001, 0x33000000, 0x477fe000, 0x477fefff,
      0x477ff000, 0x3eaaaaab, 0xbeaaaaab, 0x40490fdb, 0x42f6e979, 0x38800000, 0x387fffff, 0x35a00000,
      0x3f802000, 0x3f801000, 0x3f803000, 0xc2f6e979, 0x00800000, 0x447a0000, 0x4048f5c3, 0x0};
  return all;
}

TEST(Primitives, ConversionsToBf16AreThoseOfTheInstructions) {
  const Words converted = results("",
                                  "%f = bitcast i32 %x to float\n%b = fptrunc float %f to bfloat\n"
                                  "%h = bitcast bfloat %b to i16\n%r = zext i16 %h to i32",
                                  floats_to_round());
  const Words packed = results("declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float, float)",
                               "%f = bitcast i32 %x to float\n"
                               "%b = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float 2.0, float %f)\n"
                               "%r = bitcast <2 x bfloat> %b to i32",
                               floats_to_round());
  for (size_t i = 0; i < 32; ++i) {
    const float x = std::bit_cast<float>(floats_to_round()[i]);
    EXPECT_EQ(converted[i], to_bf16(x)) << x;
    EXPECT_EQ(packed[i], 0x4000U << 16 | to_bf16(x)) << x;
  }
  // Ties to even, next to a tie, overflow.
  EXPECT_EQ((Words{converted.begin(), converted.begin() + 8}),
            (Words{0x3f80, 0x3f80, 0x3f82, 0x3f81, 0x3f80, 0x7f80, 0xff80, 0x7f80}));
}

TEST(Primitives, DoublesBecomeBf16InOneStep) {
  // 1 + 2^-8 + 2^-40: a float in between would be a tie, and go down.
  const Words out = results("",
                            "%d = fadd double 0x3FF0100000001000, 0.0\n%b = fptrunc double %d to bfloat\n"
                            "%h = bitcast bfloat %b to i16\n%r = zext i16 %h to i32",
                            counted(32));
  EXPECT_EQ(out[0], 0x3f81);
  const Words out2 = results("",
                             "%u = uitofp i32 %x to double\n%d = fadd double %u, 0x3FF0100000001000\n"
                             "%b = fptrunc double %d to bfloat\n%h = bitcast bfloat %b to i16\n"
                             "%r = zext i16 %h to i32",
                             counted(1));
  EXPECT_EQ(out2[0], 0x3f81);
}

TEST(Primitives, ConversionsToF16AreThoseOfTheCpu) {
  const Words converted = results("",
                                  "%f = bitcast i32 %x to float\n%b = fptrunc float %f to half\n"
                                  "%h = bitcast half %b to i16\n%r = zext i16 %h to i32",
                                  floats_to_round());
  const Words packed = results("declare <2 x half> @llvm.nvvm.ff2f16x2.rn(float, float)",
                               "%f = bitcast i32 %x to float\n"
                               "%b = call <2 x half> @llvm.nvvm.ff2f16x2.rn(float 2.0, float %f)\n"
                               "%r = bitcast <2 x half> %b to i32",
                               floats_to_round());
  for (size_t i = 0; i < 32; ++i) {
    const float x = std::bit_cast<float>(floats_to_round()[i]);
    EXPECT_EQ(converted[i], to_f16(x)) << x;
    EXPECT_EQ(packed[i], 0x4000U << 16 | to_f16(x)) << x;
    EXPECT_EQ(results("",
                      "%t = trunc i32 %x to i16\n%h = bitcast i16 %t to half\n%f = fpext half %h to float\n"
                      "%r = bitcast float %f to i32",
                      Words{converted[i]})[0],
              std::bit_cast<uint32_t>(from_f16(static_cast<uint16_t>(converted[i]))));
  }
}

}  // namespace
}  // namespace axon::emulator
