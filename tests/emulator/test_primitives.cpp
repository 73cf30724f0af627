// Primitives one by one, against what the PTX ISA says of each, and what modules hold besides: address
// spaces, variables, conversions.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "emulator/floats.h"
#include "support.h"

namespace axon::emulator {
namespace {

using Words = std::vector<uint32_t>;

/// A kernel in which each thread has its number %i, and a word %x of its own, and makes %r.
std::string per_thread(const std::string& declarations, const std::string& body) {
  return declarations + R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define void @k(ptr %out, ptr %in) convergent {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at.in = getelementptr i32, ptr %in, i32 %i
  %at.out = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %at.in
)" + body +
         R"(
  store i32 %r, ptr %at.out
  ret void
}
)";
}

/// What each thread of a block makes of its word.
Words results(const std::string& text, Words in, size_t shared_bytes = 0) {
  Words out(in.size());
  uint32_t *in_at = in.data(), *out_at = out.data();
  Launch launch;
  launch.arguments = arguments(out_at, in_at);
  launch.threads = static_cast<int>(in.size());
  launch.shared_bytes = shared_bytes;
  launch.regions = {region("in", in, /*writable=*/false), region("out", out)};
  auto program = from_text(text);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    launch.options.seed = seed;
    const Report report = program->run(launch);
    EXPECT_TRUE(report.ok()) << report.text() << text;
  }
  return out;
}

Words results(const std::string& declarations, const std::string& body, const Words& in) {
  return results(per_thread(declarations, body), in);
}

Words counted(
    size_t count, const std::function<uint32_t(uint32_t)>& of = [](uint32_t i) { return i; }) {
  Words all;
  for (uint32_t i = 0; i < count; ++i) all.push_back(of(i));
  return all;
}

TEST(Primitives, SpecialRegisters) {
  const auto read = [](const std::string& name) {
    return results("declare i32 @llvm.nvvm.read.ptx.sreg." + name + "()",
                   "%r = call i32 @llvm.nvvm.read.ptx.sreg." + name + "()", counted(96));
  };
  EXPECT_EQ(read("ntid.x"), Words(96, 96));
  EXPECT_EQ(read("ctaid.x"), Words(96, 0));
  EXPECT_EQ(read("nctaid.x"), Words(96, 1));
  EXPECT_EQ(read("tid.y"), Words(96, 0));
  EXPECT_EQ(read("ntid.z"), Words(96, 1));
  EXPECT_EQ(read("laneid"), counted(96, [](uint32_t i) { return i % 32; }));
  EXPECT_EQ(read("warpid"), counted(96, [](uint32_t i) { return i / 32; }));
  EXPECT_EQ(read("nwarpid"), Words(96, 3));
  EXPECT_EQ(read("warpsize"), Words(96, 32));
  EXPECT_EQ(results("", "%r = add i32 %i, 0", Words(96, 0)), counted(96));
}

Words shuffled(const std::string& kind, int by, int control) {
  return results(fmt::format("declare i32 @llvm.nvvm.shfl.sync.{}.i32(i32, i32, i32, i32)", kind),
                 fmt::format("%r = call i32 @llvm.nvvm.shfl.sync.{}.i32(i32 -1, i32 %x, i32 {}, i32 {})",
                             kind, by, control),
                 counted(32, [](uint32_t i) { return 100 + i; }));
}

TEST(Primitives, Shuffles) {
  // Segments of `width` lanes: 32 - width in bits 8 to 12, and the clamp, which is 0 for up.
  for (uint32_t width : {2U, 8U, 32U})
    for (uint32_t by : {0U, 1U, 3U, 7U, 16U, 31U}) {
      const int control = static_cast<int>((32 - width) << 8), number = static_cast<int>(by);
      EXPECT_EQ(shuffled("up", number, control),
                counted(32, [&](uint32_t i) { return 100 + (i % width >= by ? i - by : i); }));
      EXPECT_EQ(shuffled("down", number, control | 31),
                counted(32, [&](uint32_t i) { return 100 + (i % width + by < width ? i + by : i); }));
      EXPECT_EQ(shuffled("idx", number, control | 31),
                counted(32, [&](uint32_t i) { return 100 + i / width * width + by % width; }));
      EXPECT_EQ(shuffled("bfly", number, control | 31), counted(32, [&](uint32_t i) {
                  return 100 + ((i ^ by) <= i / width * width + width - 1 ? i ^ by : i);
                }));
    }
}

TEST(Primitives, ShufflesOfFloatsAndTheirPredicates) {
  const Words sums =
      results("declare {float, i1} @llvm.nvvm.shfl.sync.down.f32p(i32, float, i32, i32)",
              "%f = bitcast i32 %x to float\n"
              "%p = call {float, i1} @llvm.nvvm.shfl.sync.down.f32p(i32 -1, float %f, i32 4, i32 31)\n"
              "%v = extractvalue {float, i1} %p, 0\n%q = extractvalue {float, i1} %p, 1\n"
              "%n = fneg float %v\n%s = select i1 %q, float %v, float %n\n%r = bitcast float %s to i32",
              counted(32, [](uint32_t i) { return std::bit_cast<uint32_t>(static_cast<float>(i + 1)); }));
  EXPECT_EQ(sums, counted(32, [](uint32_t i) {
              return std::bit_cast<uint32_t>(i < 28 ? static_cast<float>(i + 5) : -static_cast<float>(i + 1));
            }));
}

TEST(Primitives, Votes) {
  const auto vote = [](const std::string& kind, const std::string& type, const std::string& condition) {
    return results(
        fmt::format("declare {} @llvm.nvvm.vote.{}.sync(i32, i1)", type, kind),
        fmt::format("%c = icmp {}\n%v = call {} @llvm.nvvm.vote.{}.sync(i32 -1, i1 %c)\n%r = {} i32",
                    condition, type, kind, type == "i1" ? "zext i1 %v to" : "or i32 0, %v ;"),
        counted(32));
  };
  EXPECT_EQ(vote("any", "i1", "eq i32 %x, 7"), Words(32, 1));
  EXPECT_EQ(vote("any", "i1", "eq i32 %x, 77"), Words(32, 0));
  EXPECT_EQ(vote("all", "i1", "ne i32 %x, 7"), Words(32, 0));
  EXPECT_EQ(vote("all", "i1", "ult i32 %x, 32"), Words(32, 1));
  EXPECT_EQ(vote("uni", "i1", "eq i32 %x, 77"), Words(32, 1));
  EXPECT_EQ(vote("uni", "i1", "eq i32 %x, 7"), Words(32, 0));
}

TEST(Primitives, Ballot) {
  EXPECT_EQ(results("declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)",
                    "%c = icmp ult i32 %x, 5\n%r = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %c)",
                    counted(32)),
            Words(32, 31));
}

TEST(Primitives, Reductions) {
  const auto reduce = [](const std::string& kind, const Words& in) {
    return results(fmt::format("declare i32 @llvm.nvvm.redux.sync.{}(i32, i32)", kind),
                   fmt::format("%r = call i32 @llvm.nvvm.redux.sync.{}(i32 %x, i32 -1)", kind), in)[5];
  };
  const Words in = counted(32, [](uint32_t i) { return i - 3; });
  EXPECT_EQ(reduce("add", in), 400);
  EXPECT_EQ(reduce("min", in), static_cast<uint32_t>(-3));
  EXPECT_EQ(reduce("max", in), 28);
  EXPECT_EQ(reduce("umin", in), 0);
  EXPECT_EQ(reduce("umax", in), static_cast<uint32_t>(-1));
  EXPECT_EQ(reduce("and", counted(32, [](uint32_t i) { return i | 64; })), 64);
  EXPECT_EQ(reduce("or", in), static_cast<uint32_t>(-1));
  EXPECT_EQ(reduce("xor", counted(32, [](uint32_t i) { return 1U << i; })), static_cast<uint32_t>(-1));
}

/// Values that are passed through shared memory by warps that meet at a barrier in their own way.
TEST(Primitives, Barriers) {
  for (const std::string barrier :
       {"call void @llvm.nvvm.barrier0()", "call void @llvm.nvvm.barrier.n(i32 3)",
        "call void @llvm.nvvm.bar.sync(i32 4)", "call void @llvm.nvvm.barrier(i32 2, i32 64)",
        "call void @llvm.nvvm.barrier.sync(i32 15)",
        "call void @llvm.nvvm.barrier.sync.cnt(i32 1, i32 64)"}) {
    const Words out = results(
        "@s = internal addrspace(3) global [64 x i32] undef\n"
        "declare void @llvm.nvvm.barrier0()\ndeclare void @llvm.nvvm.barrier.n(i32)\n"
        "declare void @llvm.nvvm.bar.sync(i32)\ndeclare void @llvm.nvvm.barrier(i32, i32)\n"
        "declare void @llvm.nvvm.barrier.sync(i32)\ndeclare void @llvm.nvvm.barrier.sync.cnt(i32, i32)\n",
        "%o = sub i32 63, %i\n"
        "%p = getelementptr i32, ptr addrspace(3) @s, i32 %i\n%q = getelementptr i32, ptr addrspace(3) @s, "
        "i32 %o\n"
        "store i32 %x, ptr addrspace(3) %p\n" +
            barrier + "\n%r = load i32, ptr addrspace(3) %q",
        counted(64, [](uint32_t i) { return 7 * i; }));
    EXPECT_EQ(out, counted(64, [](uint32_t i) { return 7 * (63 - i); })) << barrier;
  }
}

/// Two warps of three meet at a barrier of 64, and the third has gone.
TEST(Primitives, BarriersOfSomeWarps) {
  const Words out = results(
      "declare void @llvm.nvvm.barrier(i32, i32)\n",
      "%c = icmp ult i32 %i, 64\nbr i1 %c, label %meet, label %done\nmeet:\n"
      "call void @llvm.nvvm.barrier(i32 1, i32 64)\nbr label %done\ndone:\n%r = phi i32 [1, %meet], [0, %0]",
      counted(96));
  EXPECT_EQ(out, counted(96, [](uint32_t i) { return i < 64 ? 1 : 0; }));
}

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

TEST(Primitives, AsynchronousCopies) {
  struct Row {
    const char* name;
    int bytes;
  };
  for (const Row& row : {Row{"ca.shared.global.4", 4}, Row{"ca.shared.global.8", 8},
                         Row{"ca.shared.global.16", 16}, Row{"cg.shared.global.16", 16}})
    for (int source = -1; source <= row.bytes; source += row.bytes / 2) {  // -1: without a size
      if (source >= 0) source -= source % (row.bytes / 2);
      const std::string name = fmt::format("@llvm.nvvm.cp.async.{}{}", row.name, source < 0 ? "" : ".s");
      const std::string text = fmt::format(
          R"(
@s = internal addrspace(3) global [512 x i8] undef, align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void {0}(ptr addrspace(3), ptr addrspace(1){1})
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
define void @k(ptr %out, ptr %in) convergent {{
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = mul i32 %i, 16
  %to = getelementptr i8, ptr addrspace(3) @s, i32 %b
  store <4 x i32> <i32 -1, i32 -1, i32 -1, i32 -1>, ptr addrspace(3) %to, align 16
  %generic = getelementptr i8, ptr %in, i32 %b
  %from = addrspacecast ptr %generic to ptr addrspace(1)
  call void {0}(ptr addrspace(3) %to, ptr addrspace(1) %from{2})
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 1)
  %v = load <4 x i32>, ptr addrspace(3) %to, align 16
  %at = getelementptr i8, ptr %out, i32 %b
  store <4 x i32> %v, ptr %at, align 16
  ret void
}})",
          name, source < 0 ? "" : ", i32", source < 0 ? "" : fmt::format(", i32 {}", source));
      alignas(16) std::array<uint8_t, 512> in{}, out{};
      for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 7 + 1);
      uint8_t *in_at = in.data(), *out_at = out.data();
      Launch launch;
      launch.arguments = arguments(out_at, in_at);
      launch.regions = {{"in", in_at, in.size(), false}, {"out", out_at, out.size(), true}};
      auto program = from_text(text);
      for (launch.options.seed = 1; launch.options.seed <= 10; ++launch.options.seed) {
        const Report report = program->run(launch);
        ASSERT_TRUE(report.ok()) << report.text() << text;
        for (size_t i = 0; i < out.size(); ++i) {
          const int at = static_cast<int>(i % 16);
          const uint8_t expected = at >= row.bytes ? 0xff : source >= 0 && at >= source ? 0 : in[i];
          ASSERT_EQ(out[i], expected) << text << i;
        }
      }
    }
}

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

TEST(Module, AddressSpacesGoAway) {
  // A function with a shared pointer, one chosen of two, a constant expression, variables of all spaces,
  // copies.
  const std::string text = R"(
@s = internal addrspace(3) global [32 x i32] undef, align 4
@t = internal addrspace(3) global [32 x i32] undef, align 4
@d = external addrspace(3) global [0 x i8], align 4
@c = internal addrspace(4) constant [4 x i32] [i32 10, i32 20, i32 30, i32 40]
@g = internal addrspace(1) global i32 5
@pointers = internal addrspace(1) constant [1 x ptr] [ptr addrspacecast (ptr addrspace(4) getelementptr (i8, ptr addrspace(4) @c, i64 8) to ptr)]
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.memcpy.p0.p3.i64(ptr, ptr addrspace(3), i64, i1)
declare void @llvm.memset.p3.i64(ptr addrspace(3), i8, i64, i1)
define internal ptr addrspace(3) @put(ptr addrspace(3) %at, i32 %v) noinline {
  store i32 %v, ptr addrspace(3) %at
  %next = getelementptr i8, ptr addrspace(3) %at, i64 0
  ret ptr addrspace(3) %next
}
define void @k(ptr %out, ptr %in) convergent {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = and i32 %i, 1
  %is = icmp eq i32 %odd, 0
  %base = select i1 %is, ptr addrspace(3) @s, ptr addrspace(3) @t
  %at = getelementptr i32, ptr addrspace(3) %base, i32 %i
  %same = call ptr addrspace(3) @put(ptr addrspace(3) %at, i32 %i)
  %dat = getelementptr i32, ptr addrspacecast (ptr addrspace(3) @d to ptr), i32 %i
  store i32 100, ptr %dat
  %j = and i32 %i, 3
  %cat = getelementptr i32, ptr addrspace(4) @c, i32 %j
  %cv = load i32, ptr addrspace(4) %cat
  %p = load ptr, ptr addrspace(1) @pointers
  %pv = load i32, ptr %p
  %local = alloca [2 x i32]
  call void @llvm.memcpy.p0.p3.i64(ptr %local, ptr addrspace(3) %same, i64 4, i1 false)
  %lv = load i32, ptr %local
  call void @llvm.memset.p3.i64(ptr addrspace(3) %at, i8 0, i64 4, i1 false)
  %zero = load i32, ptr addrspace(3) %same
  %dv = load i32, ptr %dat
  %r0 = add i32 %cv, %pv
  %r1 = add i32 %r0, %lv
  %r2 = add i32 %r1, %dv
  %r = add i32 %r2, %zero
  %o = getelementptr i32, ptr %out, i32 %i
  store i32 %r, ptr %o
  ret void
}
)";
  EXPECT_EQ(results(text, counted(32), 32 * 4),
            counted(32, [](uint32_t i) { return 10 * (i % 4 + 1) + 30 + i + 100; }));
}

TEST(Module, SharedAddressesOf32BitsAndKernelsOfAddressSpaces) {
  const std::string text = R"(
@s = internal addrspace(3) global [32 x i32] undef, align 4
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare ptr addrspace(3) @llvm.nvvm.ptr.gen.to.shared.p3.p0(ptr)
define void @k(ptr addrspace(1) noalias %out, ptr addrspace(1) %in) convergent {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr addrspace(3) @s, i32 %i
  %short = ptrtoint ptr addrspace(3) %p to i32
  %back = inttoptr i32 %short to ptr addrspace(3)
  store i32 %i, ptr addrspace(3) %back
  %generic = addrspacecast ptr addrspace(3) %p to ptr
  %again = call ptr addrspace(3) @llvm.nvvm.ptr.gen.to.shared.p3.p0(ptr %generic)
  %v = load i32, ptr addrspace(3) %again
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %v, ptr addrspace(1) %o
  ret void
}
)";
  EXPECT_EQ(results(text, counted(32)), counted(32));
}

TEST(Module, VariablesBeginAnewInEachRun) {
  const std::string text = per_thread("@g = internal addrspace(1) global i32 5\n",
                                      "%old = atomicrmw add ptr addrspace(1) @g, i32 1 syncscope(\"device\") "
                                      "monotonic\n%r = add i32 %x, %old");
  EXPECT_EQ(results(text, Words{10}), Words{15});  // the last of three runs
}

TEST(Module, ParametersByValueAndAtomics) {
  const std::string text = R"(
define void @k(ptr %out, ptr byval({i32, i64, float}) align 8 %p, float %f, i16 %h) {
  %b = getelementptr {i32, i64, float}, ptr %p, i32 0, i32 1
  %v = load i64, ptr %b
  %t = trunc i64 %v to i32
  store i32 %t, ptr %out
  %c = getelementptr i32, ptr %out, i32 1
  %old = atomicrmw fadd ptr %c, float %f seq_cst
  %w = zext i16 %h to i32
  %d = getelementptr i32, ptr %out, i32 2
  %x = cmpxchg ptr %d, i32 0, i32 %w acq_rel monotonic
  ret void
}
)";
  struct {
    int32_t a = 1;
    int64_t b = 77;
    float c = 2;
  } value;
  Words out(3);
  out[1] = std::bit_cast<uint32_t>(1.5F);
  uint32_t* out_at = out.data();
  const float f = 0.25F;
  const int16_t h = 9;
  Launch launch;
  launch.arguments = {&out_at, &value, &f, &h};
  launch.threads = 1;
  launch.regions = {region("out", out)};
  const Report report = from_text(text)->run(launch);
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_EQ(out, (Words{77, std::bit_cast<uint32_t>(1.75F), 9}));
}

}  // namespace
}  // namespace axon::emulator
