// Primitives one by one, against what the PTX ISA says of each.
#include <fmt/format.h>

#include <array>
#include <bit>

#include "per_thread.h"

namespace axon::emulator {
namespace {

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

}  // namespace
}  // namespace axon::emulator
