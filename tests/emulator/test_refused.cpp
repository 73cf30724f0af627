// What the emulator does not know is a finding before anything runs, and a wrong access one before it
// happens.
#include "support.h"

namespace axon::emulator {
namespace {

std::string refusal(const std::string& text, Launch launch = {}) {
  const Report report = from_text(text)->run(launch);
  return report.text();
}

TEST(Refused, UnknownPrimitive) {
  EXPECT_EQ(refusal("declare i32 @llvm.nvvm.read.ptx.sreg.clock()\n"
                    "define void @k() {\n%c = call i32 @llvm.nvvm.read.ptx.sreg.clock()\nret void\n}"),
            "unsupported: unknown primitive llvm.nvvm.read.ptx.sreg.clock in k\n");
}

TEST(Refused, UnknownFunction) {
  EXPECT_EQ(refusal("declare void @f()\ndefine internal void @g() {\ncall void @f()\nret void\n}\n"
                    "define void @k() {\ncall void @g()\nret void\n}"),
            "unsupported: unknown function f in g\n");
}

TEST(Refused, InlineAssembly) {
  EXPECT_EQ(refusal("define void @k() {\ncall void asm sideeffect \"exit;\", \"\"()\nret void\n}"),
            "unsupported: inline assembly in k\n");
}

TEST(Refused, UnknownAccessOfMemory) {
  EXPECT_EQ(refusal("declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, i32, <4 x i1>, <4 x i32>)\n"
                    "define void @k(ptr %p, <4 x i1> %m) {\n%v = call <4 x i32> "
                    "@llvm.masked.load.v4i32.p0(ptr %p, i32 4, "
                    "<4 x i1> %m, <4 x i32> undef)\nret void\n}"),
            "unsupported: unknown intrinsic llvm.masked.load.v4i32.p0 in k\n");
}

TEST(Refused, WhatOnlyReplacedFunctionsUseIsNotLookedAt) {
  EXPECT_EQ(
      refusal("define internal void @spin() {\ncall void asm sideeffect \"exit;\", \"\"()\nret void\n}\n"
              "define void @axon_gpu_task(i32 %t, i64 %n) {\ncall void @spin()\nret void\n}\n"
              "define void @k() {\ncall void @axon_gpu_task(i32 1, i64 2)\nret void\n}"),
      "");
}

TEST(Refused, WhatTheKernelDoesNotReachIsNotLookedAt) {
  EXPECT_EQ(refusal("declare void @f()\ndefine void @g() {\ncall void @f()\nret void\n}\ndefine void @k() "
                    "{\nret void\n}"),
            "");
}

TEST(Refused, MoreThreadsThanTheKernelAllowsAndLargeLocals) {
  const std::string most = "!nvvm.annotations = !{!1}\n!1 = !{ptr @k, !\"maxntidx\", i32 64}\n";
  Launch launch;
  launch.threads = 64;
  EXPECT_EQ(refusal("define void @k() {\nret void\n}\n" + most, launch), "");
  launch.threads = 65;
  EXPECT_EQ(refusal("define void @k() {\nret void\n}\n" + most, launch),
            "unsupported: 65 threads in a block\n");
  EXPECT_EQ(
      refusal("define void @k() {\n%a = alloca [700000 x i8]\nstore volatile i8 1, ptr %a\nret void\n}"), "");
  EXPECT_NE(refusal("define void @k() {\n%a = alloca [800000 x i8]\nstore volatile i8 1, ptr %a\nret void\n}")
                .find("unsupported: k needs 79"),
            std::string::npos);
}

TEST(Refused, FunctionsThatHaveLostArguments) {
  EXPECT_EQ(refusal("declare void @axon_gpu_wait(ptr, i32)\n"
                    "define void @k() {\ncall void @axon_gpu_wait(ptr null, i32 1)\nret void\n}"),
            "unsupported: call of axon_gpu_wait with 2 instead of 3 arguments in k\n");
}

TEST(Refused, WhatIsNotAKernel) {
  EXPECT_EQ(refusal("@k = global i32 0"), "unsupported: the module has no function k\n");
}

TEST(Refused, LaunchesThatDoNotFit) {
  const std::string text =
      "@d = external addrspace(3) global [0 x i8]\n"
      "define void @k(i32 %n) {\n%v = load i8, ptr addrspace(3) @d\nret void\n}";
  const int n = 1;
  Launch launch;
  EXPECT_EQ(refusal(text, launch), "unsupported: 0 arguments for 1 parameters\n");
  launch.arguments = arguments(n);
  launch.threads = 1025;
  EXPECT_EQ(refusal(text, launch), "unsupported: 1025 threads in a block\n");
  launch.threads = 32;
  launch.blocks = 0;
  EXPECT_EQ(refusal(text, launch), "unsupported: 0 blocks\n");
  launch.blocks = 2;
  launch.shared_bytes = 1 << 20;
  EXPECT_EQ(refusal(text, launch),
            "unsupported: 1048576 bytes of dynamic shared memory in each of 2 blocks\n");
  launch.shared_bytes = 4;
  std::vector<int> values(4);
  launch.regions = {region("a", values), {"b", values.data() + 1, 4, false}};
  EXPECT_EQ(refusal(text, launch), "unsupported: a and b overlap\n");
}

TEST(Refused, ProgramsRunAfterALaunchThatDoesNotFit) {
  auto program = from_text("define void @k() {\nret void\n}");
  Launch launch;
  launch.threads = 0;
  EXPECT_FALSE(program->run(launch).ok());
  launch.threads = 32;
  EXPECT_TRUE(program->run(launch).ok());
}

Report run_with(const std::string& text, std::vector<int>& values, bool writable = true, int threads = 1,
                int blocks = 1) {
  int* at = values.data();
  Launch launch;
  launch.arguments = arguments(at);
  launch.threads = threads;
  launch.blocks = blocks;
  launch.regions = {region("values", values, writable)};
  launch.options.most_steps = 100'000;
  return from_text(text)->run(launch);
}

/// Both tasks of two blocks store both values; there are no lines that would say that it is one thing.
TEST(Findings, RacesWithoutLinesAreOneForTwoTypesOfTasks) {
  std::vector<int> values(2);
  const std::string text = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @axon_gpu_task(i32, i64)
define void @k(ptr %p) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %n = zext i32 %b to i64
  call void @axon_gpu_task(i32 7, i64 %n)
  store i32 1, ptr %p
  %q = getelementptr i32, ptr %p, i32 1
  store i32 1, ptr %q
  ret void
})";
  const Report report = run_with(text, values, true, 1, 2);
  ASSERT_EQ(report.findings.size(), 1U) << report.text();
  EXPECT_NE(report.text().find("task of type 7 0"), std::string::npos) << report.text();
  EXPECT_NE(report.text().find("task of type 7 1"), std::string::npos) << report.text();
}

TEST(Stopped, BeforeAWrongStore) {
  std::vector<int> values(2, 3);
  EXPECT_EQ(run_with("define void @k(ptr %p) {\nstore i32 9, ptr %p\nret void\n}", values, /*writable=*/false)
                .text(),
            "read only: block 0, warp 0, lane 0 writes 4 bytes at offset 0 of values (store #1 in k)\n");
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(
      run_with(
          "define void @k(ptr %p) {\n%q = getelementptr i32, ptr %p, i32 1\nstore i64 9, ptr %q, align 4\n"
          "ret void\n}",
          values)
          .text(),
      "out of bounds: block 0, warp 0, lane 0 writes 8 bytes at offset 4 of values (store #2 in k)\n");
  EXPECT_EQ(values[1], 3);
}

TEST(Stopped, AtNullAndAtAnotherThreadsStack) {
  std::vector<int> values(4);
  EXPECT_EQ(
      run_with("define void @k(ptr %p) {\nstore i32 9, ptr null\nret void\n}", values).findings.at(0).kind,
      Kind::out_of_bounds);
  const std::string text = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
@s = internal addrspace(3) global ptr undef
define void @k(ptr %p) convergent {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = alloca i32
  store i32 1, ptr %mine
  %first = icmp eq i32 %i, 0
  br i1 %first, label %tell, label %go
tell:
  store ptr %mine, ptr addrspace(3) @s
  br label %go
go:
  call void @llvm.nvvm.barrier0()
  %other = load ptr, ptr addrspace(3) @s
  %v = load i32, ptr %other
  ret void
})";
  const Report report = run_with(text, values, true, 2);
  EXPECT_TRUE(report.has(Kind::out_of_bounds)) << report.text();
}

TEST(Stopped, AtTheSharedMemoryOfAnotherBlock) {
  std::vector<int> values(4);
  const std::string text = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
@s = internal addrspace(3) global i32 undef
define void @k(ptr %p) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %q = getelementptr i8, ptr addrspace(3) @s, i32 262144
  %r = getelementptr i8, ptr addrspace(3) @s, i32 -262144
  %first = icmp eq i32 %b, 0
  %at = select i1 %first, ptr addrspace(3) %q, ptr addrspace(3) %r
  store i32 1, ptr addrspace(3) %at
  ret void
})";
  const Report report = run_with(text, values, true, 1, 2);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_NE(report.text().find("out of bounds"), std::string::npos);
  EXPECT_NE(report.text().find("of shared s of block"), std::string::npos);
}

TEST(Stopped, AtLanesThatAreNotThere) {
  std::vector<int> values(4);
  const std::string text =
      "declare i1 @llvm.nvvm.vote.any.sync(i32, i1)\n"
      "define void @k(ptr %p) {\n%v = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 true)\nret void\n}";
  EXPECT_TRUE(run_with(text, values, true, 40).has(Kind::divergence));
  EXPECT_TRUE(run_with(text, values, true, 64).ok());
}

TEST(Stopped, InALoopWithoutAccesses) {
  std::vector<int> values(4);
  EXPECT_EQ(run_with("define void @k(ptr %p) {\nbr label %a\na:\nbr label %a\n}", values).text(),
            "step limit: block 0, warp 0, lane 0 is running after 100000 steps\n");
}

TEST(Stopped, WhenOneLaneWaitsForEver) {
  std::vector<int> values(4);
  const std::string text =
      "declare void @axon_gpu_wait(ptr, i64, i32)\n"
      "define void @k(ptr %p) {\ncall void @axon_gpu_wait(ptr %p, i64 2, i32 5)\nret void\n}";
  EXPECT_EQ(
      run_with(text, values, true, 2).text(),
      "deadlock: no thread can go on:\n"
      "  block 0, threads 0: waits for offset 0 of values to reach 5, which is 0 (axon_gpu_wait at call #1 "
      "in k)\n"
      "  block 0, threads 1: waits for the other threads of the block (axon_gpu_wait at call #1 in k)\n");
}

}  // namespace
}  // namespace axon::emulator
