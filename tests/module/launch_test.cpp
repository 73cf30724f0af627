// Launches of native code: many workers, many times, epochs that wrap, checks that fail, and the launch
// context's layout.
#include <cstddef>
#include <iterator>
#include <sstream>

#include "device/abi.h"
#include "harness.h"

namespace axon::testing {
namespace {

const char* const two_stages = R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  input "x" argument f32[n, m]
  %0 = input 0
  %1 = compute [i < n] { out f32[n] = sum(j < m; %0[i, j]) }
  %2 = compute [i < n, j < m] { out f32[n, m] = %0[i, j] / (1.0 + abs(%1[n - 1 - i])) }
  %3 = compute [] { out f32[] = max(i < n, j < m; %2[i, j]) }
  result "0" %2
  result "1" %3
)";

TEST(Launch, ManyWorkersManyTimesAcrossTheWrapOfTheEpoch) {
  std::vector<RunOptions> ways;
  for (int workers : {1, 2, 4, 9})
    for (uint32_t epoch : {0u, 0xfffffff0u}) {
      RunOptions& way = ways.emplace_back();
      way.workers = workers;
      way.epoch = epoch;
      way.launches = 40;
    }
  check_program(two_stages, {{{"n", 100}, {"m", 70}}, {{"n", 1}, {"m", 1}}}, ways);
}

TEST(Launch, UnoptimisedCodeMeansTheSame) {
  RunOptions way;
  way.emit.optimization = 0;
  check_program(attention, {{{"h", 1}, {"g", 2}, {"m", 9}, {"d", 16}, {"n", 600}, {"e", 33}}}, {way}, 1e-4);
}

TEST(Launch, SameResultsForAnyNumberOfWorkers) {
  std::vector<graph::Tensor> inputs, first;
  for (int workers : {1, 3, 7}) {
    RunOptions way;
    way.workers = workers;
    Native native(attention, way);
    ASSERT_EQ(native.error(), "");
    inputs =
        random_inputs(native.graph(), {{"h", 3}, {"g", 2}, {"m", 70}, {"d", 16}, {"n", 90}, {"e", 33}}, 1);
    const auto outcome = native.run(inputs);
    if (first.empty()) first = outcome.results;
    EXPECT_EQ(outcome.results[0].floats, first[0].floats) << workers;
  }
}

const char* const gather = R"(graph "f"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  size t = axis 0 of 1 where t
  input "x" argument f32[n, m]
  input "ids" argument i32[t]
  %0 = input 0
  %1 = input 1
  %2 = compute [i < t, j < m] {
    out f32[t, m] = %0[{bounded(i64(%1[i]), n, 3)}, j] * 2.0
  }
  check 0 <= n : "a"
  check 0 <= n : "b"
  check 0 <= n : "c"
  check %1 < n : "ids index axis 0 of x"
  result "" %2
)";

TEST(Launch, AnIndexOutOfRangeIsReportedAndNeverUsed) {
  for (int64_t rows : {5, 0})
    for (int64_t bad : {int64_t{-1}, rows, int64_t{1} << 30}) {
      Native native(gather, {});
      ASSERT_EQ(native.error(), "");
      auto inputs = random_inputs(native.graph(), {{"n", rows}, {"m", 33}, {"t", 3}}, 1);
      inputs[1].integers = {bad, bad, bad};
      const auto outcome = native.run(inputs);
      EXPECT_EQ(outcome.error, "");
      EXPECT_EQ(outcome.failed, 4u);
      EXPECT_EQ(outcome.failed_value, bad);
    }
}

TEST(Launch, ContextMatchesTheInterface) {
  const std::vector<size_t> want = {
      offsetof(axon_kernel_context, sizes),   offsetof(axon_kernel_context, buffers),
      offsetof(axon_kernel_context, events),  offsetof(axon_kernel_context, event_offset),
      offsetof(axon_kernel_context, epoch),   offsetof(axon_kernel_context, workers),
      offsetof(axon_kernel_context, scratch), offsetof(axon_kernel_context, scratch_bytes),
      offsetof(axon_kernel_context, failed),  offsetof(axon_kernel_context, failed_value),
      offsetof(axon_kernel_context, cancel),  offsetof(axon_kernel_context, services)};
  EXPECT_EQ(module::context_offsets(), want);
}

}  // namespace
}  // namespace axon::testing
