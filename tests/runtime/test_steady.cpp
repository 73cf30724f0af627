// The steady state: after the first run nothing is allocated, and setting and running costs little. The times
// are printed, not judged, since they belong to the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>

#include "../sanitized.h"
#include "support.h"

namespace {
std::atomic<uint64_t> allocations{0};
}

#ifndef AXON_UNDER_SANITIZER
// Every allocation of the process goes through these; glibc's own names stay reachable.
extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_calloc(size_t, size_t);
extern "C" void* __libc_realloc(void*, size_t);
extern "C" void* malloc(size_t size) { return ++allocations, __libc_malloc(size); }
extern "C" void* calloc(size_t count, size_t size) { return ++allocations, __libc_calloc(count, size); }
extern "C" void* realloc(void* block, size_t size) { return ++allocations, __libc_realloc(block, size); }
constexpr bool counts = true;
#else
constexpr bool counts = false;
#endif

namespace axon::test {
namespace {

using Clock = std::chrono::steady_clock;

/// An entry with as many inputs, slots and events as a small model has, and a kernel that does nothing.
struct Empty : Handles {
  std::vector<Array<float>> arrays;
  int32_t pos = -1, token = -1;
  explicit Empty(uint32_t workers) {
    make_call("empty", workers);
    pos = axon_call_find(call, "pos");
    token = axon_call_find(call, "token");
    for (const char* path : {"a", "b", "c", "d", "e", "f", "k", "v"}) {
      arrays.push_back({{256, 256}, std::vector<float>(256 * 256)});
      const axon_view view = arrays.back().view();
      EXPECT_EQ(axon_call_set(call, path, &view, error), AXON_OK) << text();
    }
  }
  void step(int64_t at) {
    ASSERT_EQ(axon_call_set_int_at(call, static_cast<size_t>(pos), at % 256, error), AXON_OK);
    ASSERT_EQ(axon_call_set_int_at(call, static_cast<size_t>(token), at % 200, error), AXON_OK);
    ASSERT_EQ(axon_call_run(call, error), AXON_OK) << text();
  }
};

double median_nanoseconds(int repeats, const std::function<void()>& body) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = Clock::now();
    body();
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[static_cast<size_t>(repeats) / 2];
}

class Steady : public ::testing::TestWithParam<uint32_t> {};

TEST_P(Steady, NoAllocationAfterTheFirstRuns) {
  Empty h(GetParam());
  for (int64_t i = 0; i < 300; ++i) h.step(i);  // every position was there once
  const uint64_t before = allocations;
  for (int64_t i = 0; i < 1000; ++i) h.step(i);
  EXPECT_EQ(allocations - before, 0u);
  axon_call_statistics statistics;
  ASSERT_EQ(axon_call_get_statistics(h.call, &statistics, h.error), AXON_OK);
  EXPECT_EQ(statistics.allocations, 0u);
  if (GetParam()) {
    EXPECT_EQ(statistics.workers, GetParam());
  }
  if (counts) {
    EXPECT_GT(before, 0u) << "the counter counts";
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, Steady, ::testing::Values(0, 1, 2));

TEST(SteadyState, TheStatisticsCountMemory) {
  Empty h(1);
  h.step(0);
  axon_call_statistics statistics;
  ASSERT_EQ(axon_call_get_statistics(h.call, &statistics, h.error), AXON_OK);
  EXPECT_GT(statistics.allocations, 0u);
}

TEST(SteadyState, LaunchLatency) {
  constexpr int batch = 200;
  for (const uint32_t workers : {1u, 2u}) {
    Empty h(workers);
    for (int64_t i = 0; i < 300; ++i) h.step(i);
    const double same = median_nanoseconds(20,
                                           [&] {
                                             for (int i = 0; i < batch; ++i) axon_call_run(h.call, h.error);
                                           }) /
                        batch;
    int64_t at = 0;
    const double moving = median_nanoseconds(20,
                                             [&] {
                                               for (int i = 0; i < batch; ++i) h.step(++at);
                                             }) /
                          batch;
    std::printf(
        "[ measured ] %u worker(s): run %.0f ns; set two scalars of which one is a size, run: %.0f ns\n",
        workers, same, moving);
  }
}

/// Printed: the automatic choice against one and two workers, for programs of tiny, medium and large
/// segments.
TEST(SteadyState, ChoiceOfWorkers) {
  for (const auto& [work, steps] :
       std::vector<std::pair<int64_t, int64_t>>{{200, 35}, {2'000, 35}, {20'000, 35}, {500'000, 4}}) {
    double times[3] = {};
    uint32_t chosen = 0;
    for (const uint32_t workers : {1u, 2u, 0u}) {
      Handles h;
      h.make_call("grind", workers);
      ASSERT_EQ(axon_call_set_int(h.call, "work", work, h.error), AXON_OK);
      ASSERT_EQ(axon_call_set_int(h.call, "steps", steps, h.error), AXON_OK);
      for (int i = 0; i < 30; ++i) ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
      times[workers] = median_nanoseconds(30, [&] { axon_call_run(h.call, h.error); });
      axon_call_statistics statistics;
      ASSERT_EQ(axon_call_get_statistics(h.call, &statistics, h.error), AXON_OK);
      chosen = statistics.workers;
    }
    std::printf("[ measured ] %ld x %ld: one worker %.1f us, two %.1f us, automatic %.1f us (%u)\n",
                static_cast<long>(steps), static_cast<long>(work), times[1] / 1000, times[2] / 1000,
                times[0] / 1000, chosen);
  }
}

}  // namespace
}  // namespace axon::test
