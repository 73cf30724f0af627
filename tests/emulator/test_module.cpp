// What modules hold besides primitives: address spaces, variables, parameters.
#include <bit>

#include "per_thread.h"

namespace axon::emulator {
namespace {

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
