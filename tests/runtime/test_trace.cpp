// What launches of traced kernels note, and who may ask for it.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "host/limits.h"
#include "host/trace.h"
#include "support.h"

namespace axon::test {
namespace {

struct Noted {
  axon_status status = AXON_OK;
  const axon_task_run* runs = nullptr;
  size_t count = 0, lost = 0;
};

Noted noted(const Handles& h, uint32_t worker) {
  Noted out;
  out.status = axon_call_traced(h.call, worker, &out.runs, &out.count, &out.lost, h.error);
  return out;
}

void run_traced(Handles& h, int64_t runs) {
  ASSERT_EQ(axon_call_set_int(h.call, "k", runs, h.error), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
}

TEST(Traces, EveryWorkerNotesItsTasksInOrder) {
  Handles h;
  h.make_call("traced", 3);
  ASSERT_EQ(axon_call_trace(h.call, 100, h.error), AXON_OK) << h.text();
  for (int64_t runs : {7, 100, 2}) {  // of the last launch alone
    run_traced(h, runs);
    for (uint32_t worker = 0; worker < 3; ++worker) {
      const Noted all = noted(h, worker);
      ASSERT_EQ(all.status, AXON_OK) << h.text();
      ASSERT_EQ(all.count, static_cast<size_t>(runs));
      EXPECT_EQ(all.lost, 0u);
      double last = 0;
      for (size_t i = 0; i < all.count; ++i) {
        const axon_task_run& run = all.runs[i];
        EXPECT_STREQ(run.type, i % 2 == 0 ? "even" : "odd");
        EXPECT_EQ(run.first, static_cast<int64_t>(i));
        EXPECT_EQ(run.count, static_cast<int64_t>(i) + 1);
        EXPECT_LE(last, run.begin);
        EXPECT_LE(run.begin, run.end);
        last = run.end;
      }
    }
  }
}

TEST(Traces, WhatHasNoRoomIsCounted) {
  Handles h;
  h.make_call("traced", 2);
  ASSERT_EQ(axon_call_trace(h.call, 5, h.error), AXON_OK);
  run_traced(h, 12);
  for (uint32_t worker : {0U, 1U}) {
    EXPECT_EQ(noted(h, worker).count, 5u);
    EXPECT_EQ(noted(h, worker).lost, 7u);
  }
  run_traced(h, 3);
  EXPECT_EQ(noted(h, 0).count, 3u);
  EXPECT_EQ(noted(h, 0).lost, 0u);
}

TEST(Traces, NothingIsNotedUnlessItIsAskedFor) {
  Handles h;
  h.make_call("traced");
  run_traced(h, 4);
  EXPECT_EQ(noted(h, 0).status, AXON_MISUSE);
  ASSERT_EQ(axon_call_trace(h.call, 10, h.error), AXON_OK);
  EXPECT_EQ(noted(h, 0).count, 0u);  // before the first run
  run_traced(h, 4);
  EXPECT_EQ(noted(h, 0).count, 4u);
  ASSERT_EQ(axon_call_trace(h.call, 0, h.error), AXON_OK);
  run_traced(h, 4);
  EXPECT_EQ(noted(h, 0).status, AXON_MISUSE);
}

TEST(Traces, Misuse) {
  Handles h;
  h.make_call("empty");
  EXPECT_EQ(axon_call_trace(h.call, 10, h.error), AXON_MISUSE);
  EXPECT_NE(h.text().find("`empty` notes no tasks: the bundle was not built with tracing"), std::string::npos)
      << h.text();
  h.make_call("traced", 2);
  EXPECT_EQ(axon_call_trace(h.call, host::limits::traced_runs + 1, h.error), AXON_MISUSE);
  ASSERT_EQ(axon_call_trace(h.call, 10, h.error), AXON_OK);
  EXPECT_EQ(noted(h, 1).status, AXON_OK);
  EXPECT_EQ(noted(h, 2).status, AXON_MISUSE);
  Noted out;
  EXPECT_EQ(axon_call_traced(h.call, 0, nullptr, &out.count, &out.lost, h.error), AXON_MISUSE);
  EXPECT_EQ(axon_call_traced(nullptr, 0, &out.runs, &out.count, &out.lost, h.error), AXON_MISUSE);
  EXPECT_EQ(axon_call_trace(nullptr, 1, h.error), AXON_MISUSE);
}

TEST(Traces, TheClockRunsInNanoseconds) {
  host::Variant variant;
  variant.kernels.push_back({"", "sleep", {}});
  host::Trace trace(1, 1);
  trace.begin(variant);
  const auto before = std::chrono::steady_clock::now();
  const uint64_t begin = host::Trace::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  trace.add(0, 0, 0, 1, begin, host::Trace::now());
  const std::chrono::duration<double, std::nano> around = std::chrono::steady_clock::now() - before;
  const double slept = trace.runs(0)[0].end - trace.runs(0)[0].begin;
  EXPECT_GT(slept, 19.9e6);
  EXPECT_LT(slept, 2 * around.count());
}

}  // namespace
}  // namespace axon::test
