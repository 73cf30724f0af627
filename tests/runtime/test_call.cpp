// Launches: event words between workers, wrap-around of epochs, growth, the watchdog, debug output.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <mutex>
#include <thread>

#include "host/call.h"
#include "host/debug_print.h"
#include "host/debug_values.h"
#include "support.h"

namespace axon::test {
namespace {

std::vector<int32_t> expected_chain(std::vector<int32_t> x, int64_t rounds) {
  for (int64_t round = 0; round < rounds; ++round) {
    std::vector<int32_t> next(x.size());
    for (size_t j = 0; j < x.size(); ++j) {
      uint32_t sum = static_cast<uint32_t>(x[j]);
      if (j > 0) sum += static_cast<uint32_t>(x[j - 1]);
      if (j + 1 < x.size()) sum += static_cast<uint32_t>(x[j + 1]);
      next[j] = static_cast<int32_t>(sum);
    }
    x = next;
  }
  return x;
}

std::vector<int32_t> numbers(int64_t count) {
  std::vector<int32_t> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int32_t>(i * i + 3);
  return out;
}

/// Runs `chain` over n elements for l rounds and compares.
void run_chain(Handles& h, int64_t n, int64_t l) {
  Array<int32_t> x{{n}, numbers(n)};
  const axon_view view = x.view();
  ASSERT_EQ(axon_call_set(h.call, "x", &view, h.error), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_set_int(h.call, "l", l, h.error), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  axon_view result;
  ASSERT_EQ(axon_call_result(h.call, 0, &result, h.error), AXON_OK) << h.text();
  const auto* const out = static_cast<const int32_t*>(result.data);
  EXPECT_EQ(std::vector<int32_t>(out, out + n), expected_chain(x.values, l)) << n << " x " << l;
}

class Chain : public ::testing::TestWithParam<uint32_t> {};

TEST_P(Chain, SizesMayChangeBetweenLaunches) {
  Handles h;
  h.make_call("chain", GetParam());
  for (const auto& [n, l] : std::vector<std::pair<int64_t, int64_t>>{
           {64, 20}, {64, 20}, {3, 100}, {500, 7}, {1, 1}, {64, 1}, {0, 5}, {2000, 3}, {64, 20}, {700, 12}})
    run_chain(h, n, l);
}

TEST_P(Chain, WaitersThatSleepAreWoken) {
  Handles h;
  h.make_call("chain", GetParam());
  for (int i = 0; i < 3; ++i) run_chain(h, 8, 1000);
}

TEST_P(Chain, EpochsWrapAround) {
  const Bytes bytes = test_bundle();
  auto bundle = host::load_bundle(host::Bytes(bytes.data(), bytes.size()));
  ASSERT_TRUE(bundle);
  auto runtime = host::create_runtime(GetParam());
  ASSERT_TRUE(runtime);
  for (const uint32_t epoch : {0xffffffffu, 0xfffffff0u, 0x7ffffff8u, 0x80000000u}) {
    auto call = host::Call::create(*bundle, "chain", nullptr, *runtime);
    ASSERT_TRUE(call);
    (*call)->preset_epoch(epoch);
    Array<int32_t> x{{40}, numbers(40)};
    ASSERT_FALSE((*call)->set(0, x.view()));
    for (int64_t l = 1; l < 40; ++l) {
      ASSERT_FALSE((*call)->set_integer(1, l));
      ASSERT_FALSE((*call)->run());
      axon_view result;
      ASSERT_FALSE((*call)->result(0, result));
      const auto* const out = static_cast<const int32_t*>(result.data);
      ASSERT_EQ(std::vector<int32_t>(out, out + 40), expected_chain(x.values, l)) << epoch << " " << l;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, Chain, ::testing::Values(1, 2, 3, 7));

TEST(Call, OneRuntimeServesManyThreads) {
  Handles shared;
  shared.make_call("chain", 2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      Handles h;
      ASSERT_EQ(axon_call_create(shared.bundle, "chain", nullptr, shared.runtime, &h.call, h.error), AXON_OK);
      for (int i = 0; i < 20; ++i) run_chain(h, 30 + t, 9);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Call, HandlesMayBeDestroyedInAnyOrder) {
  Handles h;
  h.make_call("chain", 2);
  axon_bundle_destroy(h.bundle);
  axon_runtime_destroy(h.runtime);
  h.bundle = nullptr;
  h.runtime = nullptr;
  run_chain(h, 20, 5);
}

class Stuck : public ::testing::TestWithParam<uint32_t> {};

TEST_P(Stuck, TheWatchdogNamesTheEvent) {
  Handles h;
  h.make_call("stuck", GetParam());
  axon_runtime_set_watchdog(h.runtime, 0.05);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(axon_call_run(h.call, h.error), AXON_HANG);
    const std::string workers =
        GetParam() == 1 ? "1 worker waits" : std::to_string(GetParam()) + " workers wait";
    EXPECT_EQ(h.text(), "`stuck` made no progress for 0.05 s: " + workers +
                            ", one of them for element 1 of event `second` (plan stuck_0)");
  }
  axon_runtime* const runtime = h.runtime;  // the pool is none the worse
  axon_call* chain = nullptr;
  ASSERT_EQ(axon_call_create(h.bundle, "chain", nullptr, runtime, &chain, h.error), AXON_OK);
  std::swap(h.call, chain);
  run_chain(h, 50, 10);
  axon_call_destroy(chain);
}

INSTANTIATE_TEST_SUITE_P(Workers, Stuck, ::testing::Values(1, 2, 4));

TEST(Call, DebugReachesItsListener) {
  Handles h;
  h.make_call("talking");
  Array<float> x{{2, 2}, {1, 2.5, -3, 4}};
  const axon_view view = x.view();
  ASSERT_EQ(axon_call_set(h.call, "x", &view, h.error), AXON_OK);
  std::string heard;
  axon_call_on_debug(
      h.call,
      [](void* user, const char* name, const axon_view* value) {
        *static_cast<std::string*>(user) = host::debug_text(name, *value);
      },
      &heard);
  ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  EXPECT_EQ(heard, "the x = f32[2, 2] [[1, 2.5], [-3, 4]]");
  axon_call_on_debug(h.call, nullptr, nullptr);
  ::testing::internal::CaptureStderr();
  ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), heard + "\n");
}

/// Of a value in a branch the parts are shown where its condition holds, whichever of the two comes first.
TEST(DebugValues, ThoseOfBranches) {
  const std::vector<host::Debug> debugs{{"", AXON_BOOL, {}, true}, {"x", AXON_I32, {}, false}};
  host::DebugValues values;
  Array<int32_t> x{{3, 2}, {1, 2, 3, 4, 5, 6}}, scalar{{}, {7}}, none{{3, 0}, {}};
  std::string heard;
  const auto show = [&](const std::string& name, const axon_view& view) {
    heard += host::debug_text(name, view) + ";";
  };
  const auto shown = [&](Array<uint8_t> taken, Array<int32_t>& value, bool value_first) {
    heard.clear();
    axon_view condition = taken.view();
    condition.elem = AXON_BOOL;
    values.begin(debugs);
    if (value_first) values.complete(1, value.view(), show);
    EXPECT_EQ(heard, "");
    values.complete(0, condition, show);
    if (!value_first) values.complete(1, value.view(), show);
    return heard;
  };
  for (const bool value_first : {false, true}) {
    EXPECT_EQ(shown({{3}, {1, 0, 1}}, x, value_first), "x = i32[2, 2] [[1, 2], [5, 6]];");
    EXPECT_EQ(shown({{3, 2}, {0, 1, 0, 1, 1, 0}}, x, value_first), "x = i32[3] [2, 4, 5];");
    EXPECT_EQ(shown({{3}, {0, 0, 0}}, x, value_first), "");
    EXPECT_EQ(shown({{2}, {1, 1}}, x, value_first), "");
    EXPECT_EQ(shown({{}, {1}}, scalar, value_first), "x = i32 7;");
    EXPECT_EQ(shown({{}, {0}}, scalar, value_first), "");
    EXPECT_EQ(shown({{3}, {0, 1, 0}}, none, value_first), "x = i32[1, 0] [[]];");
  }
}

TEST(Call, LongValuesAreShortened) {
  Array<int32_t> x{{20}, numbers(20)};
  EXPECT_EQ(host::debug_text("x", x.view()), "x = i32[20] [3, 4, 7, 12, 19, 28, 39, 52, ...]");
  Array<int32_t> none{{0}, {}};
  EXPECT_EQ(host::debug_text("x", none.view()), "x = i32[0] []");
}

TEST(Call, NaNIsShownWithoutASign) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  Array<float> x{{4}, {nan, -nan, -1, -std::numeric_limits<float>::infinity()}};
  EXPECT_EQ(host::debug_text("x", x.view()), "x = f32[4] [nan, nan, -1, -inf]");
}

TEST(Call, WhatIsClearedIsSetAgain) {
  Handles h;
  h.make_call("scale");
  Array<float> x{{2, 4}, std::vector<float>(8, 3)}, y{{2, 2}, std::vector<float>(4)};
  const axon_view x_view = x.view(), y_view = y.view();
  const auto set_and_run = [&](bool with_y) {
    EXPECT_EQ(axon_call_set(h.call, "x", &x_view, h.error), AXON_OK) << h.text();
    EXPECT_EQ(axon_call_set_float(h.call, "a", 2, h.error), AXON_OK) << h.text();
    if (with_y) {
      EXPECT_EQ(axon_call_set(h.call, "y", &y_view, h.error), AXON_OK) << h.text();
    }
    return axon_call_run(h.call, h.error);
  };
  ASSERT_EQ(set_and_run(true), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_clear(h.call, h.error), AXON_OK);
  axon_view result;
  EXPECT_EQ(axon_call_result(h.call, 0, &result, h.error), AXON_MISUSE);
  EXPECT_EQ(set_and_run(false), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "`scale` has inputs that were not set: `y`");
  ASSERT_EQ(set_and_run(true), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_result(h.call, 0, &result, h.error), AXON_OK);
  EXPECT_EQ(*static_cast<const float*>(result.data), 6);
  axon_call_statistics statistics;
  ASSERT_EQ(axon_call_get_statistics(h.call, &statistics, h.error), AXON_OK);
  EXPECT_EQ(statistics.allocations, 0u) << "memory is kept";
}

TEST(Call, ATakenResultStaysAsItIs) {
  Handles h;
  h.make_call("chain", 1);
  run_chain(h, 64, 20);
  axon_tensor* taken = nullptr;
  ASSERT_EQ(axon_call_take_result(h.call, 0, &taken, h.error), AXON_OK) << h.text();
  const axon_view view = axon_tensor_view(taken);
  ASSERT_EQ(view.rank, 1);
  EXPECT_EQ(view.shape[0], 64);
  const auto* const out = static_cast<const int32_t*>(view.data);
  const auto wanted = expected_chain(numbers(64), 20);
  EXPECT_EQ(std::vector<int32_t>(out, out + 64), wanted);
  axon_tensor* again = nullptr;
  axon_view none;
  EXPECT_EQ(axon_call_take_result(h.call, 0, &again, h.error), AXON_MISUSE);
  EXPECT_EQ(h.text(), "result number 0 was taken");
  EXPECT_EQ(axon_call_result(h.call, 0, &none, h.error), AXON_MISUSE);
  EXPECT_EQ(axon_call_take_result(h.call, 1, &again, h.error), AXON_MISUSE);
  run_chain(h, 64, 3);  // the same shapes: only memory is new
  run_chain(h, 500, 7);
  ASSERT_EQ(axon_call_take_result(h.call, 0, &again, h.error), AXON_OK) << h.text();
  run_chain(h, 0, 5);
  EXPECT_EQ(std::vector<int32_t>(out, out + 64), wanted) << "other runs have other memory";
  axon_call_destroy(std::exchange(h.call, nullptr));
  EXPECT_EQ(std::vector<int32_t>(out, out + 64), wanted);
  axon_tensor_destroy(again);
  axon_tensor_destroy(taken);
}

TEST(Call, AStateIsNotTaken) {
  Handles h;
  h.make_call("keep", 1);
  Array<int32_t> cache{{3}, {1, 2, 3}};
  const axon_view view = cache.view();
  ASSERT_EQ(axon_call_set(h.call, "cache", &view, h.error), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_set_int(h.call, "token", 5, h.error), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_set_int(h.call, "pos", 1, h.error), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  axon_tensor* taken = nullptr;
  EXPECT_EQ(axon_call_take_result(h.call, 1, &taken, h.error), AXON_MISUSE);
  EXPECT_EQ(h.text(), "result number 1 is a state, which stays where it was set");
  EXPECT_EQ(taken, nullptr);
}

/// The result of a run keeps the memory that the run has updated, whatever is set for the next one.
TEST(Call, AStateThatIsSetAnewIsNotTheResultOfTheLastRun) {
  Handles h;
  h.make_call("keep", 1);
  Array<int32_t> cache{{3}, {1, 2, 3}}, other{{1}, {9}};
  const axon_view view = cache.view(), smaller = other.view();
  ASSERT_EQ(axon_call_set(h.call, "cache", &view, h.error), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_set_int(h.call, "token", 1, h.error), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_set_int(h.call, "pos", 0, h.error), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_set(h.call, "cache", &smaller, h.error), AXON_OK) << h.text();
  axon_view result;
  ASSERT_EQ(axon_call_result(h.call, 1, &result, h.error), AXON_OK) << h.text();
  EXPECT_EQ(result.data, view.data);
  EXPECT_EQ(result.shape[0], 3);
  ASSERT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  ASSERT_EQ(axon_call_result(h.call, 1, &result, h.error), AXON_OK) << h.text();
  EXPECT_EQ(result.data, smaller.data);
  EXPECT_EQ(result.shape[0], 1);
}

TEST(Call, ASizeThatIsClearedIsNotThatOfTheLastRun) {
  Handles h;
  const Bytes bytes = test_bundle();
  ASSERT_EQ(axon_open_memory(bytes.data(), bytes.size(), &h.bundle, h.error), AXON_OK);
  Array<float> w{{1, 3, 4}, std::vector<float>(12)}, v{{3}, std::vector<float>(3)};
  const char* const names[] = {"p.w", "p.v"};
  const axon_view arrays[] = {w.view(), v.view()};
  ASSERT_EQ(axon_bind_arrays(h.bundle, names, arrays, 2, nullptr, &h.parameters, h.error), AXON_OK)
      << h.text();
  h.make_call("weights");
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(axon_call_set_int(h.call, "bytes", 48, h.error), AXON_OK) << h.text();
    EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
    EXPECT_NE(h.text().find("size `h` of `weights` is not determined"), std::string::npos) << h.text();
    ASSERT_EQ(axon_call_set_size(h.call, "h", 2, h.error), AXON_OK) << h.text();
    EXPECT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
    ASSERT_EQ(axon_call_clear(h.call, h.error), AXON_OK);
  }
}

TEST(Call, SizesAreThoseOfARunThatWentWell) {
  Handles h;
  h.make_call("chain");
  int64_t n = -1;
  EXPECT_EQ(axon_call_size(h.call, "n", &n, h.error), AXON_MISUSE);
  run_chain(h, 64, 3);
  ASSERT_EQ(axon_call_size(h.call, "n", &n, h.error), AXON_OK) << h.text();
  EXPECT_EQ(n, 64);
  ASSERT_EQ(axon_call_set_int(h.call, "l", 0, h.error), AXON_OK);
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(axon_call_size(h.call, "l", &n, h.error), AXON_MISUSE);
  EXPECT_EQ(h.text(), "size `l` is not known: the last run failed, or there was none");
  run_chain(h, 64, 3);
  ASSERT_EQ(axon_call_clear(h.call, h.error), AXON_OK);
  EXPECT_EQ(axon_call_size(h.call, "n", &n, h.error), AXON_MISUSE);
  EXPECT_EQ(axon_call_size(h.call, "none", &n, h.error), AXON_MISUSE);
  EXPECT_EQ(h.text(), "`chain` has no size `none`");
}

/// What the next run writes, or gives back for more memory, is no input of it.
TEST(Call, AResultIsNoInputOfItsCall) {
  Handles h;
  h.make_call("chain", 1);
  run_chain(h, 64, 3);
  axon_view result;
  ASSERT_EQ(axon_call_result(h.call, 0, &result, h.error), AXON_OK);
  EXPECT_EQ(axon_call_set(h.call, "x", &result, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.code(), "E0826");
  EXPECT_EQ(h.text(),
            "the tensor for `x` lies in the memory of result 0, which the next run of this call writes: take "
            "the result, or set a copy");
  const int64_t two = 2;
  const axon_view part{static_cast<int32_t*>(result.data) + 62, AXON_I32, 1, &two};
  EXPECT_EQ(axon_call_set(h.call, "x", &part, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(axon_call_set_copy(h.call, "x", &result, nullptr, h.error), AXON_OK) << h.text();
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  axon_tensor* taken = nullptr;
  ASSERT_EQ(axon_call_take_result(h.call, 0, &taken, h.error), AXON_OK) << h.text();
  const axon_view mine = axon_tensor_view(taken);
  EXPECT_EQ(axon_call_set(h.call, "x", &mine, h.error), AXON_OK) << h.text();
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
  axon_call_destroy(std::exchange(h.call, nullptr));
  axon_tensor_destroy(taken);
}

TEST(Call, NumbersThatTheTypeCannotHold) {
  Handles h;
  const auto set_float = [&](const char* entry, double value) {
    h.make_call(entry);
    return axon_call_set_float(h.call, "y", value, h.error);
  };
  EXPECT_EQ(set_float("copy_f32", 3.4028234e38), AXON_OK) << h.text();
  EXPECT_EQ(set_float("copy_f32", 1e39), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "`y` is f32, which cannot hold 1e+39");
  EXPECT_EQ(set_float("copy_f16", 65519), AXON_OK) << h.text();
  EXPECT_EQ(set_float("copy_f16", -65520), AXON_BAD_ARGUMENT);
  EXPECT_EQ(set_float("copy_bf16", 3.4e38), AXON_BAD_ARGUMENT);
  EXPECT_EQ(set_float("copy_f32", std::numeric_limits<double>::infinity()), AXON_OK)
      << "it is a number of f32";
  EXPECT_EQ(set_float("copy_f64", 1e300), AXON_OK) << h.text();
  EXPECT_EQ(set_float("copy_i64", 9.3e18), AXON_BAD_ARGUMENT);
  EXPECT_EQ(set_float("copy_i64", -0x1p63), AXON_OK) << h.text();
  EXPECT_EQ(set_float("copy_i32", 2.5), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "`y` is i32, which cannot hold 2.5");
  EXPECT_EQ(axon_call_set_int(h.call, "y", int64_t{1} << 31, h.error), AXON_BAD_ARGUMENT);
}

/// A debug function stands for a second thread: it is called while the first is inside of the run.
TEST(Call, WhoeverComesWhileAnotherIsInsideIsRefused) {
  Handles h;
  h.make_call("talking");
  Array<float> x{{2, 2}, {1, 2.5, -3, 4}};
  const axon_view view = x.view();
  ASSERT_EQ(axon_call_set(h.call, "x", &view, h.error), AXON_OK);
  struct Second {
    axon_call* call;
    axon_error* error;
    axon_status set, run, result, size;
  } second{h.call, h.error, AXON_OK, AXON_OK, AXON_OK, AXON_OK};
  axon_call_on_debug(
      h.call,
      [](void* user, const char*, const axon_view* value) {
        auto& it = *static_cast<Second*>(user);
        axon_view out;
        int64_t n = 0;
        it.set = axon_call_set(it.call, "x", value, it.error);
        it.run = axon_call_run(it.call, it.error);
        it.result = axon_call_result(it.call, 0, &out, it.error);
        it.size = axon_call_size(it.call, "n", &n, it.error);
      },
      &second);
  ASSERT_EQ(axon_call_run(h.call, nullptr), AXON_OK);
  for (const axon_status status : {second.set, second.run, second.result, second.size})
    EXPECT_EQ(status, AXON_MISUSE);
  EXPECT_EQ(h.text(), "the call is in use: each thread needs a call of its own");
  EXPECT_EQ(axon_call_run(h.call, h.error), AXON_OK) << h.text();
}

TEST(Interface, NullsAndNumbersOutOfRange) {
  Handles h;
  axon_view view;
  axon_port port;
  EXPECT_EQ(axon_open(nullptr, &h.bundle, h.error), AXON_MISUSE);
  EXPECT_EQ(axon_open("/nowhere/at/all.axb", &h.bundle, h.error), AXON_SYSTEM);
  EXPECT_NE(h.text().find("/nowhere/at/all.axb"), std::string::npos);
  EXPECT_EQ(axon_open("/nowhere", &h.bundle, nullptr), AXON_SYSTEM);
  EXPECT_EQ(axon_call_run(nullptr, h.error), AXON_MISUSE);
  EXPECT_EQ(axon_call_result(nullptr, 0, &view, h.error), AXON_MISUSE);
  EXPECT_EQ(axon_runtime_create(1'000'000, &h.runtime, h.error), AXON_MISUSE);
  h.make_call("scale");
  EXPECT_EQ(axon_call_result(h.call, 0, &view, h.error), AXON_MISUSE) << "nothing ran yet";
  EXPECT_EQ(axon_call_result(h.call, 5, &view, h.error), AXON_MISUSE);
  EXPECT_EQ(axon_call_set_at(h.call, 77, &view, h.error), AXON_MISUSE);
  axon_call* none = nullptr;
  EXPECT_EQ(axon_call_create(h.bundle, "nothing", nullptr, nullptr, &none, h.error), AXON_MISUSE);
  EXPECT_NE(h.text().find("no entry `nothing`; it has `scale`, `chain`"), std::string::npos) << h.text();
  const axon_entry* const entry = axon_bundle_find(h.bundle, "scale");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(axon_bundle_find(h.bundle, "nothing"), nullptr);
  EXPECT_EQ(axon_bundle_entry(h.bundle, 99), nullptr);
  ASSERT_EQ(axon_entry_input(entry, 0, &port, h.error), AXON_OK);
  EXPECT_STREQ(port.path, "x");
  EXPECT_STREQ(port.shape[1], "2*m");
  EXPECT_EQ(axon_entry_input(entry, 3, &port, h.error), AXON_MISUSE);
  ASSERT_EQ(axon_entry_result(axon_bundle_find(h.bundle, "keep"), 1, &port, h.error), AXON_OK);
  EXPECT_EQ(port.state, 0);
  const char* name = nullptr;
  axon_size_from from;
  ASSERT_EQ(axon_entry_size(entry, 1, &name, &from, h.error), AXON_OK);
  EXPECT_STREQ(name, "m");
  axon_tensor* tensor = nullptr;
  const int64_t shape[] = {3, 0, -1};
  EXPECT_EQ(axon_tensor_create(AXON_F32, 3, shape, &tensor, h.error), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.text(), "[3, 0, -1] is no shape of a tensor");
  EXPECT_EQ(axon_tensor_create(AXON_F32, 99, shape, &tensor, h.error), AXON_MISUSE);
  ASSERT_EQ(axon_tensor_create(AXON_F32, 2, shape, &tensor, h.error), AXON_OK);
  axon_tensor_destroy(tensor);
  axon_tensor_destroy(nullptr);
  EXPECT_STREQ(axon_elem_name(AXON_BF16), "bf16");
  EXPECT_EQ(axon_elem_name(static_cast<axon_elem>(13)), nullptr);
  for (const double seconds : {-1.0, 4000.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(axon_calibrate(&h.call, 1, seconds, "/nowhere/costs", h.error), AXON_MISUSE);
    EXPECT_EQ(h.text(), "each part is measured for 0 to 3600 seconds");
  }
}

TEST(Interface, ShapesOfGivenSizes) {
  Handles h;
  h.make_call("scale");
  const axon_entry* const entry = axon_bundle_find(h.bundle, "scale");
  const char* names[] = {"n", "m"};
  int64_t values[] = {3, 4}, shape[AXON_MAX_RANK], strides[AXON_MAX_RANK];
  const auto ask = [&] { return axon_entry_input_shape(entry, 0, names, values, 2, shape, h.error); };
  const auto lay = [&] {
    return axon_entry_input_layout(entry, 0, nullptr, names, values, 2, shape, strides, h.error);
  };
  ASSERT_EQ(ask(), AXON_OK) << h.text();
  EXPECT_EQ(shape[1], 8);
  values[1] = -2;
  EXPECT_EQ(ask(), AXON_BAD_ARGUMENT);
  EXPECT_EQ(h.code(), "E0824");
  EXPECT_EQ(h.text(),
            "axis 1 of `x`, `2*m`, would be -4 (m = -2 as given): an axis has 0 to 281474976710656 elements");
  EXPECT_EQ(lay(), AXON_BAD_ARGUMENT);
  for (const int64_t large : {int64_t{1} << 48, INT64_MAX}) {
    values[1] = large;
    EXPECT_EQ(ask(), AXON_BAD_ARGUMENT) << large;
    EXPECT_EQ(h.code(), "E0824");
    EXPECT_EQ(lay(), AXON_BAD_ARGUMENT) << large;
    EXPECT_EQ(h.code(), "E0824");
  }
  values[1] = 4, names[1] = nullptr;
  EXPECT_EQ(ask(), AXON_MISUSE);
  EXPECT_EQ(lay(), AXON_MISUSE);
}

}  // namespace
}  // namespace axon::test
