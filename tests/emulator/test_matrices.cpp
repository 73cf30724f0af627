// Products and loads of matrices: fragments as the PTX ISA documents them.
#include <fmt/format.h>

#include <bit>

#include "emulator/floats.h"
#include "per_thread.h"

namespace axon::emulator {
namespace {

/// An element of a fragment, in the words of the PTX ISA: for the i-th element of a lane.
struct Fragment {
  uint32_t row, column;
};
Fragment a_fragment(uint32_t lane, uint32_t i, bool deep) {
  const uint32_t group = lane >> 2, in_group = lane % 4;
  if (!deep) return {i < 2 ? group : group + 8, in_group * 2 + (i & 1)};
  return {i < 2 || (i >= 4 && i < 6) ? group : group + 8, in_group * 2 + (i & 1) + (i < 4 ? 0 : 8)};
}
Fragment b_fragment(uint32_t lane, uint32_t i) {
  return {lane % 4 * 2 + (i & 1) + (i < 2 ? 0 : 8), lane >> 2};
}
Fragment c_fragment(uint32_t lane, uint32_t i) {
  return {i < 2 ? lane >> 2 : (lane >> 2) + 8, lane % 4 * 2 + (i & 1)};
}

void expect_product(const std::string& name, const std::string& type, uint32_t depth,
                    uint16_t (*narrow)(float), float (*wide)(uint16_t)) {
  const uint32_t a_words = depth / 4, b_words = depth / 8, words = a_words + b_words + 4;
  std::string types, loads, passed;
  for (uint32_t w = 0; w < words; ++w) {
    const std::string of = w < a_words + b_words ? type : "float";
    types += fmt::format("{}{}", w == 0 ? "" : ", ", of);
    passed += fmt::format("{}{} %v{}", w == 0 ? "" : ", ", of, w);
    loads += fmt::format(
        "%p{0} = getelementptr i32, ptr %mine, i32 {0}\n%v{0} = load {1}, ptr %p{0}, align 4\n", w, of);
  }
  const std::string result = "{float, float, float, float}";
  std::string stores;
  for (uint32_t w = 0; w < 4; ++w)
    stores += fmt::format(
        "%d{0} = extractvalue {1} %d, {0}\n%o{0} = getelementptr float, ptr %to, i32 {0}\n"
        "store float %d{0}, ptr %o{0}\n",
        w, result);
  const std::string text = fmt::format(
      "declare {} @llvm.nvvm.mma.{}({})\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
      "define void @k(ptr %out, ptr %in) convergent {{\n%i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
      "%i.in = mul i32 %i, {}\n%mine = getelementptr i32, ptr %in, i32 %i.in\n"
      "%i.out = mul i32 %i, 4\n%to = getelementptr i32, ptr %out, i32 %i.out\n{}"
      "%d = call {} @llvm.nvvm.mma.{}({})\n{}ret void\n}}\n",
      result, name, types, words, loads, result, name, passed, stores);
  std::vector<std::vector<float>> a(16, std::vector<float>(depth)), b(depth, std::vector<float>(8)),
      c(16, std::vector<float>(8));
  const auto value = [](size_t i, size_t j) { return static_cast<float>((i * 7 + j * 3) % 19) / 4 - 2; };
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < depth; ++j) a[i][j] = value(i, j);
  for (size_t i = 0; i < depth; ++i)
    for (size_t j = 0; j < 8; ++j) b[i][j] = value(i + 5, 2 * j);
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 8; ++j) c[i][j] = value(j, i);
  Words in(32 * words);
  std::vector<float> out(32 * 4);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const auto put = [&](uint32_t word, uint32_t i, float x) {
      in[lane * words + word] |= static_cast<uint32_t>(narrow(x)) << (16 * (i % 2));
      EXPECT_EQ(wide(narrow(x)), x);
    };
    for (uint32_t i = 0; i < 2 * a_words; ++i) {
      const Fragment at = a_fragment(lane, i, depth == 16);
      put(i / 2, i, a[at.row][at.column]);
    }
    for (uint32_t i = 0; i < 2 * b_words; ++i) {
      const Fragment at = b_fragment(lane, i);
      put(a_words + i / 2, i, b[at.row][at.column]);
    }
    for (uint32_t i = 0; i < 4; ++i) {
      const Fragment at = c_fragment(lane, i);
      in[lane * words + a_words + b_words + i] = std::bit_cast<uint32_t>(c[at.row][at.column]);
    }
  }
  uint32_t* in_at = in.data();
  float* out_at = out.data();
  Launch launch;
  launch.arguments = arguments(out_at, in_at);
  launch.regions = {region("in", in, /*writable=*/false), region("out", out)};
  const Report report = from_text(text)->run(launch);
  ASSERT_TRUE(report.ok()) << report.text() << text;
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 4; ++i) {
      const Fragment at = c_fragment(lane, i);
      float sum = c[at.row][at.column];
      for (uint32_t k = 0; k < depth; ++k) sum += a[at.row][k] * b[k][at.column];
      EXPECT_EQ(out[lane * 4 + i], sum) << name << " " << at.row << " " << at.column;
    }
}

TEST(Primitives, ProductsOfBf16) { expect_product("m16n8k16.row.col.bf16", "i32", 16, to_bf16, from_bf16); }
TEST(Primitives, ShortProductsOfBf16) {
  expect_product("m16n8k8.row.col.bf16", "i32", 8, to_bf16, from_bf16);
}
TEST(Primitives, ProductsOfF16) {
  expect_product("m16n8k16.row.col.f32.f32", "<2 x half>", 16, to_f16, from_f16);
}

/// Element (r, c) of matrix m is 64 m + 8 r + c.
TEST(Primitives, LoadsOfMatrices) {
  for (const int matrices : {1, 2, 4})
    for (const bool turned : {false, true})
      for (int m = 0; m < matrices; ++m) {
        std::string type = "{i32";
        for (int k = 1; k < matrices; ++k) type += ", i32";
        type = matrices == 1 ? "i32" : type + "}";
        const std::string name = fmt::format("@llvm.nvvm.ldmatrix.sync.aligned.m8n8.x{}{}.b16.p3", matrices,
                                             turned ? ".trans" : "");
        const Words out = results(
            fmt::format("@s = internal addrspace(3) global [512 x i8] undef, align 16\n"
                        "declare {} {}(ptr addrspace(3))\ndeclare void @llvm.nvvm.bar.warp.sync(i32)\n",
                        type, name),
            fmt::format(
                "%b = mul i32 %i, 16\n%row = getelementptr i8, ptr addrspace(3) @s, i32 %b\n"
                "%v0 = insertelement <8 x i16> undef, i16 0, i32 0\n%n = mul i32 %i, 8\n"
                "%h = trunc i32 %n to i16\n%v1 = insertelement <8 x i16> undef, i16 %h, i32 0\n"
                "%v2 = shufflevector <8 x i16> %v1, <8 x i16> undef, <8 x i32> zeroinitializer\n"
                "%v = add <8 x i16> %v2, <i16 0, i16 1, i16 2, i16 3, i16 4, i16 5, i16 6, i16 7>\n"
                "store <8 x i16> %v, ptr addrspace(3) %row, align 16\n"
                "call void @llvm.nvvm.bar.warp.sync(i32 -1)\n"
                "%m = call {0} {1}(ptr addrspace(3) %row)\n{2}",
                type, name,
                matrices == 1 ? "%r = or i32 %m, 0" : fmt::format("%r = extractvalue {} %m, {}", type, m)),
            counted(32));
        EXPECT_EQ(out, counted(32,
                               [&](uint32_t lane) {
                                 const uint32_t first = 64U * static_cast<uint32_t>(m), g = lane / 4,
                                                t = lane % 4;
                                 const uint32_t low = first + (turned ? 16 * t + g : 8 * g + 2 * t);
                                 const uint32_t high = first + (turned ? 16 * t + 8 + g : 8 * g + 2 * t + 1);
                                 return low | high << 16;
                               }))
            << name << " " << m;
      }
}

}  // namespace
}  // namespace axon::emulator
