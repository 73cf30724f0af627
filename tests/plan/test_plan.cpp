// Plans of the task examples: golden text, slots that really share, and the makespan of both schedules.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "plan/support.h"

namespace axon::plan {
namespace {

using task::Example;
using task::load_example;

shape::Assignment sizes_of(const graph::Graph& g, const std::map<std::string, int64_t>& values) {
  shape::Assignment sizes;
  for (const auto& size : g.sizes)
    if (size.from != graph::Size::From::data) sizes[size.var] = values.at(size.name);
  return sizes;
}

class Plans : public testing::TestWithParam<std::string> {};

TEST_P(Plans, Golden) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  Plan plan;
  plan.graph = &example->graph;
  plan.variants.push_back(variant_of(*example, Schedule::events));
  task::expect_golden(std::string(AXON_SOURCE_DIR) + "/tests/plan/data/" + GetParam() + ".plan", print(plan));
}

/// Whatever the workers, the makespan lies between the critical resource and one worker doing everything.
TEST_P(Plans, MakespanIsBounded) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const Variant events = variant_of(*example, Schedule::events),
                barrier = variant_of(*example, Schedule::barrier);
  for (const auto& sizes : example->bindings) {
    const double alone = makespan(events, sizes, 1, 100.0);
    for (const ScheduleRules& rules : schedules) {
      const Variant variant = variant_of(*example, rules.schedule);
      EXPECT_EQ(alone, makespan(variant, sizes, 1, 100.0)) << rules.name;
      for (int workers : {2, 3, 7}) {
        const double time = makespan(variant, sizes, workers, 0.0);
        EXPECT_LE(time, alone * (1 + 1e-9)) << rules.name << ", " << workers;
        EXPECT_GE(time * workers, alone * (1 - 1e-9)) << rules.name << ", " << workers;
      }
    }
    for (int workers : {2, 3, 7})
      for (const double handoff : {0.0, 50.0})
        EXPECT_LE(makespan(events, sizes, workers, handoff), makespan(barrier, sizes, workers, handoff));
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, Plans, testing::ValuesIn(task::example_names()),
                         [](const auto& i) { return i.param; });

/// Calls `visit` for every segment, in order.
void for_each_segment(const std::vector<Step>& steps, const std::function<void(const Segment&)>& visit) {
  for (const Step& step : steps) {
    if (step.segment) visit(*step.segment);
    for_each_segment(step.body, visit);
  }
}

TEST(Schedules, FollowTheirRules) {
  for (const ScheduleRules& rules : schedules) {
    SCOPED_TRACE(rules.name);
    size_t lines = 0, folds = 0;
    for (const std::string& name : task::example_names()) {
      const auto example = load_example(name);
      ASSERT_TRUE(example);
      for_each_segment(variant_of(*example, rules.schedule).steps, [&](const Segment& segment) {
        EXPECT_EQ(segment.barrier_after, rules.barriers) << name;
        lines += segment.line ? 1 : 0;
        folds += segment.folded ? 1 : 0;
      });
    }
    EXPECT_EQ(lines > 0, rules.lines);
    EXPECT_EQ(folds > 0, rules.folds);
    EXPECT_EQ(schedule_named(rules.name), rules.schedule);
  }
  EXPECT_EQ(schedule_named("none"), std::nullopt);
}

/// Of one task of each type, whose tasks all cost the same.
std::vector<double> work_of_types(const Variant& v, const shape::Assignment& sizes) {
  std::vector<double> work;
  for (const task::TaskType& type : v.program.types)
    work.push_back(static_cast<double>(type.work.evaluate(sizes).value()));
  return work;
}

/// Three reductions in a line, of 1, 3 and 1 tasks, and one task that reads them all: with a worker for each
/// task of the line the longest of them counts, with fewer each segment is shared out by itself.
TEST(Makespan, NeighboursRunSideBySide) {
  const auto example = load_example("neighbours");
  ASSERT_TRUE(example);
  const Variant events = variant_of(*example, Schedule::events);
  const auto sizes = sizes_of(example->graph, {{"n", 40}});
  const std::vector<double> work = work_of_types(events, sizes);
  ASSERT_EQ(work.size(), 4U);
  EXPECT_DOUBLE_EQ(makespan(events, sizes, 5, 0.0),
                   *std::max_element(work.begin(), work.end() - 1) + work[3]);
  EXPECT_DOUBLE_EQ(makespan(events, sizes, 1, 0.0), work[0] + 3 * work[1] + work[2] + work[3]);
  EXPECT_GT(makespan(events, sizes, 4, 0.0), makespan(events, sizes, 5, 0.0));
}

/// The same three with two workers: the second takes the single tasks, and so the first two of the other
/// three.
TEST(Makespan, EveryOtherNeighbourIsSharedFromTheOtherEnd) {
  const auto example = load_example("neighbours");
  ASSERT_TRUE(example);
  const Variant events = variant_of(*example, Schedule::events);
  const auto sizes = sizes_of(example->graph, {{"n", 40}});
  const std::vector<double> work = work_of_types(events, sizes);
  EXPECT_DOUBLE_EQ(makespan(events, sizes, 2, 0.0),
                   std::max(work[0] + work[1] + work[2], 2 * work[1]) + work[3]);
}

/// The causal attention of one head in two tiles a worker: in order, the second worker has the dear ones.
TEST(Makespan, TilesOfUnevenCostAreSharedEvenly) {
  const auto example = load_example("decoder");
  ASSERT_TRUE(example);
  const Variant folded = variant_of(*example, Schedule::events);
  Variant in_order = folded;
  const std::function<void(std::vector<Step>&)> unfold = [&](std::vector<Step>& steps) {
    for (Step& step : steps) {
      if (step.segment) step.segment->folded.reset();
      unfold(step.body);
    }
  };
  unfold(in_order.steps);
  const auto sizes = sizes_of(
      example->graph,
      {{"n", 1}, {"d", 4}, {"f", 4}, {"h", 1}, {"g", 1}, {"k", 2000}, {"m", 8}, {"s", 8}, {"pos", 0}});
  const double alone = makespan(folded, sizes, 1, 0.0);
  EXPECT_DOUBLE_EQ(alone, makespan(in_order, sizes, 1, 0.0));
  const task::TaskType& attention = folded.program.types[task::TaskTypeId{3}];
  const auto tile = [&](int64_t t) {
    shape::Assignment values = sizes;
    values[folded.program.loops[task::LoopId{0}].index] = 0;
    for (const task::Coordinate& c : attention.coordinates) values[c.var] = c.axis == 2 ? t : 0;
    return static_cast<double>(attention.work.evaluate(values).value());
  };
  EXPECT_DOUBLE_EQ(tile(2) + tile(3) - tile(0) - tile(3),
                   makespan(in_order, sizes, 2, 0.0) - makespan(folded, sizes, 2, 0.0));
}

/// Two stages by hand: four tasks per row block, then one; with two workers and two row blocks each worker
/// finishes its block by itself, and only a barrier makes it wait.
TEST(Makespan, ByHand) {
  const auto example = load_example("two_stage");
  ASSERT_TRUE(example);
  const Variant events = variant_of(*example, Schedule::events),
                barrier = variant_of(*example, Schedule::barrier);
  const auto sizes = sizes_of(example->graph, {{"n", 2}});
  const auto work = [&](uint32_t t) {
    return static_cast<double>(*events.program.types[task::TaskTypeId{t}].work.evaluate(sizes));
  };
  const double own = 4 * work(0) + work(1);
  EXPECT_DOUBLE_EQ(makespan(events, sizes, 1, 1000.0), 2 * own);
  EXPECT_DOUBLE_EQ(makespan(events, sizes, 2, 1000.0), own);
  EXPECT_DOUBLE_EQ(makespan(barrier, sizes, 2, 1000.0), own + 2 * 1000.0);
  // Three workers take tasks 0..2, 3..5 and 6..7, and the two totals are on workers 0 and 1. The first task
  // of worker 1 belongs to the block that worker 0 sums, and those of worker 2 to its own.
  for (const double handoff : {1000.0, 5000.0})
    EXPECT_DOUBLE_EQ(makespan(events, sizes, 3, handoff),
                     std::max(3 * work(0), 2 * work(0) + handoff) + work(1));
}

/// The decoder at the sizes of a small language model, with the tiles that the compiler uses.
constexpr double handoff = 250e3;  ///< about two microseconds of one worker's multiply-adds

struct Decoder {
  task::ExamplePtr example = load_example("decoder");
  Variant events, barrier;
  Decoder() {
    example->tiling = target::x86_64();
    events = variant_of(*example, Schedule::events);
    barrier = variant_of(*example, Schedule::barrier);
  }
  shape::Assignment sizes(int64_t m) const {
    return sizes_of(example->graph, {{"n", 12},
                                     {"d", 768},
                                     {"f", 2048},
                                     {"h", 12},
                                     {"g", 1},
                                     {"k", 32},
                                     {"s", 1024},
                                     {"m", m},
                                     {"pos", 0}});
  }
  double time(int64_t m, int workers) const { return makespan(events, sizes(m), workers, handoff); }
  double ratio(int64_t m, int workers, double handoff) const {
    return makespan(events, sizes(m), workers, handoff) / makespan(barrier, sizes(m), workers, handoff);
  }
};

/// With one token every operator is short, and what a barrier costs shows.
TEST(Makespan, EventsBeatBarriersWhenTasksAreShort) {
  const Decoder decoder;
  for (const int workers : {7, 8, 16}) {
    EXPECT_LE(decoder.ratio(1, workers, handoff), 0.95) << workers;
    EXPECT_LE(decoder.ratio(1, workers, 4 * handoff), 0.88) << workers;
  }
}

/// The trained example model: 512 tokens on 8 workers, one row block each.
TEST(Makespan, EventsBeatBarriersInThePrefillOfTheExampleModel) {
  const Decoder decoder;
  const auto sizes = sizes_of(
      decoder.example->graph,
      {{"n", 5}, {"d", 64}, {"f", 172}, {"h", 4}, {"g", 2}, {"k", 4}, {"s", 512}, {"m", 512}, {"pos", 0}});
  const double ratio =
      makespan(decoder.events, sizes, 8, handoff) / makespan(decoder.barrier, sizes, 8, handoff);
  EXPECT_LE(ratio, 0.95);
  RecordProperty("ratio", std::to_string(ratio));
}

/// With many tokens tasks are long. Each worker keeps its rows from operator to operator, so only attention,
/// and what takes over the memory of others, wait for others; a handoff counts for little, and the tiles
/// divide evenly, so no worker is ahead.
TEST(Makespan, EventsNeverLoseWhenTasksAreLong) {
  const Decoder decoder;
  for (const int64_t m : {64, 100, 512})
    for (const int workers : {7, 8, 16}) {
      EXPECT_LE(decoder.ratio(m, workers, 0), 1.0) << m << " " << workers;
      EXPECT_LT(decoder.ratio(m, workers, handoff), 1.0) << m << " " << workers;
    }
  EXPECT_LE(decoder.ratio(512, 8, 20 * handoff), 0.97);
}

/// The same schedule without the waits for tasks whose memory is taken over.
std::vector<Step> without_reuse(const task::Program& p, std::vector<Step> steps) {
  for (Step& step : steps) {
    step.body = without_reuse(p, std::move(step.body));
    if (step.segment)
      std::erase_if(step.segment->hoisted,
                    [&](uint32_t w) { return p.waits[w].why == task::Wait::Why::reuse; });
  }
  return steps;
}

/// They lengthen no schedule by more than a hundredth, whatever a handoff costs.
TEST(Makespan, MemoryIsTakenOverWithoutDelay) {
  const Decoder decoder;
  Variant apart = decoder.events;
  apart.steps = without_reuse(apart.program, apart.steps);
  for (const int64_t m : {1, 64, 100, 512})
    for (const int workers : {2, 7, 8, 16, 132})
      for (const double cost : {0.0, handoff, 4 * handoff})
        EXPECT_LE(makespan(decoder.events, decoder.sizes(m), workers, cost),
                  1.01 * makespan(apart, decoder.sizes(m), workers, cost))
            << m << " " << workers << " " << cost;
}

/// A short prompt fits one row tile, so only columns can be shared: there are enough for sixteen workers.
TEST(Makespan, FewRowsAreSharedByColumns) {
  const Decoder decoder;
  const double alone = decoder.time(8, 1), together = decoder.time(8, 16);
  EXPECT_LE(together, alone / 16 / 0.6);
}

}  // namespace
}  // namespace axon::plan
