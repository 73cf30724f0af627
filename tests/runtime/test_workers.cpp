// The pool and its services, and how many workers a launch gets.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "host/cost.h"
#include "host/costs.h"
#include "host/cpu/pool.h"
#include "host/runtime.h"

namespace axon::host {
namespace {

struct Tally {
  Launch launch;
  std::atomic<uint32_t> runs[8] = {};
};

void count(const axon_kernel_context* context, uint32_t worker) {
  ++static_cast<Tally*>(const_cast<void*>(context->buffers[0]))->runs[worker];
}

TEST(Pool, EveryWorkerRunsOncePerLaunch) {
  auto pool = Pool::create(4);
  ASSERT_TRUE(pool);
  Tally tally;
  void* const buffers[] = {&tally};
  tally.launch.context.buffers = buffers;
  for (uint32_t round = 0; round < 500; ++round) {
    tally.launch.context.workers = 1 + round % 4;
    ASSERT_FALSE((*pool)->run(count, tally.launch));
    if (round % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // long enough to park
  }
  EXPECT_EQ(tally.runs[0], 500u);
  EXPECT_EQ(tally.runs[1], 375u);
  EXPECT_EQ(tally.runs[2], 250u);
  EXPECT_EQ(tally.runs[3], 125u);
}

TEST(Pool, MoreWorkersThanThereAreAreNotStarted) {
  auto pool = Pool::create(2);
  ASSERT_TRUE(pool);
  Tally tally;
  void* const buffers[] = {&tally};
  tally.launch.context.buffers = buffers;
  tally.launch.context.workers = 8;
  ASSERT_FALSE((*pool)->run(count, tally.launch));
  EXPECT_EQ(tally.launch.context.workers, 2u);
  EXPECT_EQ(tally.runs[1], 1u);
}

struct Held {
  Launch launch;
  std::atomic<bool> began{false}, over{false};
};

void hold(const axon_kernel_context* context, uint32_t worker) {
  auto& held = *static_cast<Held*>(const_cast<void*>(context->buffers[0]));
  if (worker == 0) held.began = true;
  while (!held.over) std::this_thread::yield();
}

TEST(Pool, WhatMayRunAloneDoesNotWaitForWorkersThatAreTaken) {
  auto pool = Pool::create(2);
  ASSERT_TRUE(pool);
  Held held;
  void* held_buffers[] = {&held};
  held.launch.context.buffers = held_buffers;
  held.launch.context.workers = 2;
  std::thread other([&] { EXPECT_FALSE((*pool)->run(hold, held.launch)); });
  while (!held.began) std::this_thread::yield();
  Tally tally;
  void* const buffers[] = {&tally};
  tally.launch.context.buffers = buffers;
  tally.launch.context.workers = 2;
  tally.launch.may_run_alone = true;
  EXPECT_FALSE((*pool)->run(count, tally.launch));
  EXPECT_EQ(tally.launch.context.workers, 1u);
  held.over = true;
  other.join();
  tally.launch.context.workers = 2;
  EXPECT_FALSE((*pool)->run(count, tally.launch));
  EXPECT_EQ(tally.launch.context.workers, 2u);
  EXPECT_EQ(tally.runs[0], 2u);
  EXPECT_EQ(tally.runs[1], 1u);
}

struct Places {
  Launch launch;
  int cpus[2] = {-1, -1};
};

void note_place(const axon_kernel_context* context, uint32_t worker) {
  static_cast<Places*>(const_cast<void*>(context->buffers[0]))->cpus[worker] = sched_getcpu();
}

TEST(Pool, WorkersMoveOutOfTheCallersWay) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "one CPU";
  auto pool = Pool::create(2);
  ASSERT_TRUE(pool);
  Places places;
  void* const buffers[] = {&places};
  places.launch.context.buffers = buffers;
  for (int round = 0; round < 3; ++round)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
      places.launch.context.workers = 2;
      ASSERT_FALSE((*pool)->run(note_place, places.launch));
      EXPECT_EQ(places.cpus[0], cpu);
      EXPECT_NE(places.cpus[1], cpu);
    }
  sched_setaffinity(0, sizeof allowed, &allowed);
}

/// Ping-pong in which both sides always sleep: each lost wake-up would show as a wait for the watchdog's
/// slice.
struct Sleepers {
  Launch launch;
  alignas(64) uint32_t words[2] = {};
  uint32_t failed = 0, cancel = 0;
  int64_t value = 0;
};

void sleepy_ping_pong(const axon_kernel_context* context, uint32_t worker) {
  auto& words = static_cast<Sleepers*>(const_cast<void*>(context->buffers[0]))->words;
  for (uint32_t round = 1; round <= 2000; ++round) {
    if (worker == 1 || round > 1) {
      const uint32_t target = worker == 1 ? round : round - 1;
      for (uint32_t seen; (seen = __atomic_load_n(&words[1 - worker], __ATOMIC_ACQUIRE)) < target;)
        context->services->wait(context, &words[1 - worker], seen);
    }
    __atomic_store_n(&words[worker], round, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(context->services->sleepers, __ATOMIC_RELAXED))
      context->services->wake(context, &words[worker]);
  }
}

TEST(Services, NoWakeUpIsLost) {
  auto pool = Pool::create(2);
  ASSERT_TRUE(pool);
  (*pool)->services().set_limit(1000);
  Sleepers game;
  void* const buffers[] = {&game};
  game.launch.context.buffers = buffers;
  game.launch.context.events = game.words;
  game.launch.context.failed = &game.failed;
  game.launch.context.failed_value = &game.value;
  game.launch.context.cancel = &game.cancel;
  game.launch.context.workers = 2;
  game.launch.event_words = 2;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_FALSE((*pool)->run(sleepy_ping_pong, game.launch));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(game.words[0], 2000u);
  EXPECT_EQ(game.words[1], 2000u);
  EXPECT_EQ(game.cancel, 0u);
  if ((*pool)->services().has_barrier()) {
    EXPECT_LT(seconds.count(), 90.0) << "a lost wake-up costs a slice of 100 s";
  }
}

/// A machine on which n workers take `work / n + (n > 1 ? cost : 0)` nanoseconds.
uint32_t settled(const CostModel& model, double work, double handoffs, double real_rate, double real_cost,
                 int* launches = nullptr) {
  WorkerChoice choice;
  uint32_t workers = 0;
  int count = 0;
  do {
    workers = choice.next(model, work, handoffs, 8);
    const bool timed = choice.wants_time();
    if (timed) choice.report(work / (real_rate * workers) + (workers > 1 ? handoffs * real_cost : 0));
    ++count;
  } while (choice.wants_time() && count < 1000);
  if (launches) *launches = count;
  return choice.next(model, work, handoffs, 8);
}

TEST(WorkerChoice, ClearCasesAreNotTried) {
  int launches = 0;
  EXPECT_EQ(settled({60, 400}, 1000, 35, 60, 400, &launches), 1u);
  EXPECT_EQ(launches, 1);
  EXPECT_EQ(settled({60, 400}, 1e10, 1000, 60, 400, &launches), 8u) << "too long to play with";
  EXPECT_EQ(launches, 1);
}

TEST(WorkerChoice, MeasurementCorrectsTheModel) {
  EXPECT_EQ(settled({60, 400}, 2e6, 35, 60, 400), 4u + 4u) << "the model is right";
  EXPECT_EQ(settled({60, 400}, 2e6, 35, 60, 4000), 1u) << "hand-offs are ten times as slow";
  EXPECT_EQ(settled({60, 400}, 1e6, 35, 240, 400), 1u) << "one worker is four times as fast";
  EXPECT_EQ(settled({60, 400}, 8e5, 35, 15, 400), 8u) << "workers are four times as slow";
}

TEST(WorkerChoice, BeginsAgainWhenTheWorkChanges) {
  const CostModel model{60, 400};
  WorkerChoice choice;
  EXPECT_EQ(choice.next(model, 100, 10, 8), 1u);
  EXPECT_EQ(choice.next(model, 1e12, 10, 8), 8u);
  EXPECT_EQ(choice.next(model, 100, 10, 8), 1u);
  EXPECT_EQ(choice.next(model, 1e12, 10, 2), 2u);
  EXPECT_EQ(choice.next(model, 1e12, 10, 1), 1u);
}

TEST(WorkerChoice, WhatWasCalibratedIsNotTried) {
  const CostModel model{60, 400};
  WorkerChoice choice;
  EXPECT_FALSE(choice.fits(1e4, 8));
  choice.settle_on(4, 1e4, 8);
  EXPECT_TRUE(choice.fits(1.2e4, 8));
  EXPECT_FALSE(choice.fits(1.2e4, 4));
  EXPECT_FALSE(choice.fits(1e6, 8));
  for (int launch = 0; launch < 10; ++launch) EXPECT_EQ(choice.next(model, 1e4, 10, 8), 4u);
  EXPECT_FALSE(choice.wants_time());
  EXPECT_EQ(worker_candidates(6), (std::vector<uint32_t>{1, 2, 4, 6}));
  EXPECT_EQ(worker_candidates(1), std::vector<uint32_t>{1});
}

TEST(Costs, BetweenOneWorkerAndAllTheGainGrowsEvenly) {
  const KernelCost kernel{"x", 8, 2};
  EXPECT_DOUBLE_EQ(Costs::time(kernel, 10, 1, 4), 80);
  EXPECT_DOUBLE_EQ(Costs::time(kernel, 10, 2, 4), 40);
  EXPECT_DOUBLE_EQ(Costs::time(kernel, 10, 4, 4), 20);
  EXPECT_DOUBLE_EQ(Costs::time(kernel, 10, 9, 4), 20);
  EXPECT_DOUBLE_EQ(Costs::time(kernel, 10, 2, 1), 80);
}

TEST(Costs, ChooseTheFastestNumberOfWorkers) {
  const std::vector<std::string> names = {"n"};
  Variant variant;
  for (const char* symbol : {"a", "b"})
    variant.kernels.push_back({symbol, symbol, *Dim::parse("10*n", names)});
  Costs costs;
  costs.workers = 4;
  costs.handoff = 100;
  costs.kernels["a"] = {"a", 4, 1};
  const int64_t few = 1, many = 100;
  EXPECT_FALSE(costs.predict(variant, &few, 3, 1));
  EXPECT_FALSE(costs.fastest(variant, &few, 3, 4));
  costs.kernels["b"] = {"b", 1, 1};
  EXPECT_DOUBLE_EQ(costs.predict(variant, &few, 3, 1).value(), 50);
  EXPECT_DOUBLE_EQ(costs.predict(variant, &few, 3, 4).value(), 320);
  EXPECT_EQ(costs.fastest(variant, &few, 3, 4), 1u);
  EXPECT_EQ(costs.fastest(variant, &many, 3, 4), 4u);
  EXPECT_EQ(costs.fastest(variant, &many, 3, 2), 2u);
}

TEST(Costs, AreReadForTheirBundleAndLevelOnly) {
  Costs costs;
  costs.workers = 2;
  costs.handoff = 130.5;
  costs.kernels["f_0_kernel0"] = {"x.0", 0.25, 0.125};
  const std::string text = print_costs(costs, 0xfeed, "x86-64-v3");
  const auto read = [](const std::string& of, uint64_t bundle, const char* level) {
    return read_costs(weights::Bytes(of), bundle, level);
  };
  const auto again = read(text, 0xfeed, "x86-64-v3");
  ASSERT_TRUE(again);
  EXPECT_EQ(print_costs(*again, 0xfeed, "x86-64-v3"), text);
  EXPECT_EQ(again->kernels.at("f_0_kernel0").one, 0.25);
  EXPECT_FALSE(read(text, 0xfeee, "x86-64-v3"));
  EXPECT_FALSE(read(text, 0xfeed, "x86-64-v4"));
  for (size_t end = 0; end + 2 < text.size(); ++end)
    EXPECT_FALSE(read(text.substr(0, end), 0xfeed, "x86-64-v3")) << end;
  for (const auto& [good, bad] :
       {std::pair("0.25", "-0.25"), std::pair("0.25", "\"fast\""), std::pair("130.5", "1e999"),
        std::pair("\"workers\": 2", "\"workers\": 0"), std::pair("\"one\"", "\"two\"")}) {
    std::string damaged = text;
    damaged.replace(damaged.find(good), std::string(good).size(), bad);
    EXPECT_FALSE(read(damaged, 0xfeed, "x86-64-v3")) << damaged;
  }
}

TEST(Runtime, HandoffsAreMeasured) {
  auto runtime = create_runtime(0);
  ASSERT_TRUE(runtime);
  EXPECT_EQ((*runtime)->pool->workers(), allowed_cpus());
  EXPECT_FALSE((*runtime)->fixed);
  std::printf("[ measured ] handoff and back: %.0f ns\n", (*runtime)->model.handoff);
}

}  // namespace
}  // namespace axon::host
