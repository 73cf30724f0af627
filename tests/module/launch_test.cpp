// Launches of native code: many workers, many times, epochs that wrap, checks that fail, and the launch
// context's layout.
#include <algorithm>
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
      EXPECT_EQ(outcome.failed_value[0], bad);
      EXPECT_EQ(outcome.failed_value[1], rows - 1);
    }
}

/// Follows a list from each start on, and counts the steps. An index that stands for one out of range makes
/// the list endless.
const char* const followed = R"(graph "f"
  size m = axis 0 of 0 where m
  size r = axis 0 of 1 where r
  input "next" argument i32[m]
  input "start" argument i64[r]
  %0 = input 0
  %1 = input 1
  %2 = compute "none" [] { out i64[] = 0 }
  %3 = loop "starts" [row < r] (i64[] = %2) {
    %4 = param
    %5 = compute "at" [] { out i64[] = %1[row] }
    %6 = compute "holds" [] { out bool[] = 0 <= %1[row] }
    %7 = loop "while" while 2 "it goes on" as steps [l < steps] (i64[] = %5, i64[] = %4.0, bool[] = %6) {
      %8 = param
      %9 = compute "next" [] { out i64[] = i64(%0[{bounded(%8.0[], m, 0)}]) }
      %10 = compute "count" [] { out i64[] = %8.1[] + 1 }
      %11 = compute "holds" [] { out bool[] = 0 <= %9[] }
      yield (%9, %10, %11)
    }
    yield (%7.1)
  }
  check %0 < m : "index axis 0 of next"
  result "" %3
)";

TEST(Launch, ALoopWithAConditionStopsAfterAFailedCheck) {
  for (int workers : {1, 2, 5}) {
    RunOptions way;
    way.workers = workers;
    way.launches = 3;
    Native native(followed, way);
    ASSERT_EQ(native.error(), "");
    auto inputs = random_inputs(native.graph(), {{"m", 4}, {"r", 3}}, 1);
    inputs[1].integers = {0, 0, 0};
    inputs[0].integers = {1, 2, -1, 0};
    EXPECT_EQ(native.run(inputs).results[0].integers[0], 9) << "none fails";
    inputs[0].integers = {1, 2, 4, 0};
    const auto outcome = native.run(inputs);
    EXPECT_EQ(outcome.failed, 1u);
    EXPECT_EQ(outcome.failed_value[0], 4);
    EXPECT_LE(outcome.results[0].integers[0], 4) << workers << " workers";
  }
}

/// The tasks of each kernel that the notes have, and how often each.
std::map<uint32_t, std::map<int64_t, int>> tasks_noted(const std::vector<TaskNote>& notes) {
  std::map<uint32_t, std::map<int64_t, int>> tasks;
  for (const TaskNote& note : notes)
    for (int64_t task = note.first; task < note.first + note.count; ++task) ++tasks[note.kernel][task];
  return tasks;
}

/// Every task of a kernel is in the notes so often, from the first to the last; a worker's do not overlap.
void expect_whole(const std::vector<TaskNote>& notes, int times) {
  const auto tasks = tasks_noted(notes);
  for (const auto& [kernel, counts] : tasks) {
    EXPECT_EQ(counts.rbegin()->first + 1, static_cast<int64_t>(counts.size())) << kernel;
    for (const auto& [task, count] : counts) EXPECT_EQ(count, times) << kernel << ", task " << task;
  }
  std::map<uint32_t, uint64_t> last;
  for (const TaskNote& note : notes) {
    EXPECT_GT(note.count, 0);
    EXPECT_LE(last[note.worker], note.begin);
    EXPECT_LT(note.begin, note.end);
    last[note.worker] = note.end;
  }
}

RunOptions traced(int workers, int launches) {
  RunOptions way;
  way.workers = workers;
  way.launches = launches;
  way.emit.trace = true;
  return way;
}

TEST(Launch, ATracedKernelNotesEachTaskOnce) {
  for (int workers : {1, 3, 8})
    for (const std::map<std::string, int64_t>& sizes :
         Sizes{{{"n", 1000}, {"m", 700}}, {{"n", 1}, {"m", 1}}, {{"n", 0}, {"m", 5}}}) {
      Native native(two_stages, traced(workers, 20));
      ASSERT_EQ(native.error(), "");
      const auto outcome = native.run(random_inputs(native.graph(), sizes, 1));
      expect_whole(outcome.notes, 20);
      EXPECT_GE(tasks_noted(outcome.notes).size(), 3u);
    }
}

TEST(Launch, ATracedLoopNotesItsTasksInEachIteration) {
  const char* const steps = R"(graph "f"
  size n = axis 0 of 0 where n
  size k = axis 0 of 1 where k
  input "x" argument f32[n]
  input "w" argument f32[k]
  %0 = input 0
  %1 = input 1
  %2 = loop "steps" [l < k] (f32[n] = %0) {
    %3 = param
    %4 = compute [i < n] { out f32[n] = %3[n - 1 - i] + %1[l] }
    yield (%4)
  }
  result "" %2
)";
  for (int workers : {1, 2, 5}) {
    Native native(steps, traced(workers, 1));
    ASSERT_EQ(native.error(), "");
    const auto outcome = native.run(random_inputs(native.graph(), {{"n", 9000}, {"k", 7}}, 1));
    for (const auto& [kernel, counts] : tasks_noted(outcome.notes))
      for (const auto& [task, count] : counts)
        EXPECT_TRUE(count == 7 || count == 1) << kernel << ", " << task;
    const auto repeated = tasks_noted(outcome.notes);
    EXPECT_TRUE(std::any_of(repeated.begin(), repeated.end(),
                            [](const auto& kernel) { return kernel.second.begin()->second == 7; }));
  }
}

TEST(Launch, OneWorkerNotesEachShareAsAWhole) {
  Native native(two_stages, traced(1, 1));
  ASSERT_EQ(native.error(), "");
  const auto outcome = native.run(random_inputs(native.graph(), {{"n", 1000}, {"m", 700}}, 1));
  EXPECT_EQ(outcome.notes.size(), tasks_noted(outcome.notes).size());
}

TEST(Launch, TracedCodeMeansTheSame) {
  check_program(attention, {{{"h", 2}, {"g", 2}, {"m", 70}, {"d", 16}, {"n", 90}, {"e", 33}}},
                {traced(1, 1), traced(4, 3)});
}

TEST(Launch, NothingIsNotedWithoutTracing) {
  Native native(two_stages, {});
  ASSERT_EQ(native.error(), "");
  EXPECT_TRUE(native.run(random_inputs(native.graph(), {{"n", 100}, {"m", 70}}, 1)).notes.empty());
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
