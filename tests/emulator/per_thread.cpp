// See per_thread.h.
#include "per_thread.h"

namespace axon::emulator {

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

Words results(const std::string& text, Words in, size_t shared_bytes) {
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

Words counted(size_t count) {
  return counted(count, [](uint32_t i) { return i; });
}

Words counted(size_t count, const std::function<uint32_t(uint32_t)>& of) {
  Words all;
  for (uint32_t i = 0; i < count; ++i) all.push_back(of(i));
  return all;
}

}  // namespace axon::emulator
