// After the first token, making another one allocates nothing: neither the runtime, by its own count, nor
// anything in the process, by this file's operator new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "story.h"

namespace {
std::atomic<uint64_t> allocations{0};
}

// Not inlined: GCC 12 would see std::free on memory of `new` and call it a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace axon::examples {
namespace {

void decodes_without_allocating(uint32_t workers) {
  Model model({LLAMA_BUNDLE, AXON_SOURCE_DIR "/examples/models/stories260K.safetensors", "", workers});
  model.prefill({1, 403, 407});
  model.decode(261, 3);
  const uint64_t before = allocations;
  ASSERT_GT(before, 0u);
  for (int64_t position = 4; position < 100; ++position) {
    model.decode(378, position);
    ASSERT_EQ(model.statistics().allocations, 0u) << "at position " << position;
  }
  EXPECT_EQ(allocations, before);
}

TEST(Steady, OneWorker) { decodes_without_allocating(1); }
TEST(Steady, TwoWorkers) { decodes_without_allocating(2); }
TEST(Steady, AsManyWorkersAsPayOff) { decodes_without_allocating(0); }

}  // namespace
}  // namespace axon::examples
