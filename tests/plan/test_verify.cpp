// The plan's obligations: every plan of the examples is proved, and small wrong changes are refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "../sanitized.h"
#include "plan/support.h"
#include "plan/verify.h"
#include "task/random_graphs.h"
#include "task/simulate.h"
#include "task/support.h"

namespace axon::plan {
namespace {

using task::Example;
using task::load_example;
using task::Program;

/// Of the plan; its program is proved in OfAllSchedules.
std::vector<std::string> unproved(const Variant& v) {
  std::vector<std::string> out;
  for (const task::Obligation& o : verify(v))
    if (!o.proved) out.push_back(o.what + " (" + o.by + ")");
  return out;
}

/// Calls f with every step.
void each_step(std::vector<Step>& steps, const std::function<void(Step&)>& f) {
  for (Step& step : steps) {
    f(step);
    each_step(step.body, f);
  }
}

class Proofs : public testing::TestWithParam<std::string> {};

TEST_P(Proofs, OfAllSchedules) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  for (const ScheduleRules& rules : schedules) {
    const Variant variant = variant_of(*example, rules.schedule);
    EXPECT_EQ(task::unproved(variant.program), std::vector<std::string>{});
    EXPECT_EQ(unproved(variant), std::vector<std::string>{});
  }
}

/// Applies `change` at the n-th place that has it, for every n, and expects each to be refused.
void expect_refused(const Variant& variant, const char* what,
                    const std::function<void(Variant&, const std::function<bool()>& now)>& change) {
  for (size_t n = 0;; ++n) {
    Variant changed = variant;
    size_t seen = 0;
    bool done = false;
    change(changed, [&] {
      const bool here = seen++ == n;
      done = done || here;
      return here;
    });
    if (!done) return;
    EXPECT_FALSE(unproved(changed).empty()) << what << " " << n;
  }
}

TEST_P(Proofs, RefuseWaitsInTheWrongPlace) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const Variant variant = variant_of(*example);
  const auto in_segments = [](const std::function<void(Segment&, const std::function<bool()>&)>& change) {
    return [change](Variant& v, const std::function<bool()>& now) {
      each_step(v.steps, [&](Step& step) {
        if (step.segment) change(*step.segment, now);
      });
    };
  };
  expect_refused(variant, "removed wait", in_segments([](Segment& s, const auto& now) {
                   for (auto* list : {&s.hoisted, &s.per_task})
                     for (size_t i = 0; i < list->size(); ++i)
                       if (now()) return void(list->erase(list->begin() + static_cast<long>(i)));
                 }));
  expect_refused(variant, "repeated wait", in_segments([](Segment& s, const auto& now) {
                   for (uint32_t w : std::vector<uint32_t>(s.per_task))
                     if (now()) s.per_task.push_back(w);
                 }));
  // What depends on the task cannot be waited for once.
  for (uint32_t w = 0; w < variant.program.waits.size(); ++w) {
    Variant changed = variant;
    bool moved = false;
    each_step(changed.steps, [&](Step& step) {
      if (!step.segment || std::erase(step.segment->per_task, w) == 0) return;
      step.segment->hoisted.push_back(w);
      moved = true;
    });
    EXPECT_EQ(moved, !unproved(changed).empty()) << "wait " << w << " hoisted";
  }
}

TEST_P(Proofs, RefuseSegmentsInAnotherOrder) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const Variant variant = variant_of(*example);
  for (size_t i = 0; i + 1 < variant.steps.size(); ++i) {
    Variant changed = variant;
    std::swap(changed.steps[i], changed.steps[i + 1]);
    EXPECT_FALSE(unproved(changed).empty()) << i;
  }
}

TEST_P(Proofs, RefuseWordsWithTwoUses) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const Variant variant = variant_of(*example);
  expect_refused(variant, "offset", [](Variant& v, const auto& now) {
    for (Dim& offset : v.event_offset)
      if (now()) offset = offset + Dim(1);
  });
  expect_refused(variant, "event words", [](Variant& v, const auto& now) {
    if (!v.event_offset.empty() && now()) v.event_words = v.event_words - Dim(1);
  });
  expect_refused(variant, "word of an exit condition or a size", [](Variant& v, const auto& now) {
    for (ExitCondition& d : v.exit_conditions)
      if (now()) d.word = 0;
    for (DataSize& d : v.data_sizes)
      if (now()) d.word = 0;
  });
  expect_refused(variant, "epochs", [](Variant& v, const auto& now) {
    if (now()) v.iterations = Dim(0);
  });
}

TEST_P(Proofs, RefuseWrongExitConditionsAndSizes) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const Variant variant = variant_of(*example);
  expect_refused(variant, "check", [](Variant& v, const auto& now) {
    for (ExitCondition& d : v.exit_conditions)
      if (now()) d.check += 1;
    for (DataSize& d : v.data_sizes)
      if (now()) d.check += 1;
  });
  expect_refused(variant, "words of those who have left", [](Variant& v, const auto& now) {
    for (ExitCondition& d : v.exit_conditions)
      if (d.left && now()) d.left.reset();
  });
  expect_refused(variant, "who publishes", [](Variant& v, const auto& now) {
    each_step(v.steps, [&](Step& step) {
      if (!step.segment) return;
      if (!step.segment->exit_conditions.empty() && now()) step.segment->exit_conditions.clear();
      if (!step.segment->data_sizes.empty() && now()) step.segment->data_sizes.clear();
      if (step.segment->exit_conditions.empty() && !v.exit_conditions.empty() && now())
        step.segment->exit_conditions.push_back(0);
    });
  });
  expect_refused(variant, "needs", [](Variant& v, const auto& now) {
    for (Step& step : v.steps)
      if (!step.needs.empty() && now()) step.needs.clear();
    for (Step& step : v.steps)
      if (step.needs.empty() && !v.data_sizes.empty() && &step == v.steps.data() && now())
        step.needs.push_back(0);
  });
  expect_refused(variant, "iterations inside", [](Variant& v, const auto& now) {
    for (ExitCondition& d : v.exit_conditions)
      if (!d.inner.is(1) && now()) d.inner = Dim(1);
  });
}

/// Numbers that name nothing are refused, and not looked up.
TEST(Refused, NumbersOfNothing) {
  const auto example = load_example("data_size");
  ASSERT_TRUE(example);
  const Variant variant = variant_of(*example);
  const auto nothing = static_cast<uint32_t>(example->graph.sizes.size());
  expect_refused(variant, "size", [&](Variant& v, const auto& now) {
    if (now()) v.data_sizes[0].size = nothing;
  });
  expect_refused(variant, "needed size, published size, or debug", [&](Variant& v, const auto& now) {
    each_step(v.steps, [&](Step& step) {
      if (now()) step.needs.push_back(nothing);
      if (now()) step.segment->data_sizes.push_back(nothing);
      if (now()) step.debugs.push_back(nothing);
    });
  });
  const auto loop = load_example("while_loop");
  ASSERT_TRUE(loop);
  expect_refused(variant_of(*loop), "loop", [&](Variant& v, const auto& now) {
    if (now()) v.exit_conditions[0].loop = task::LoopId{nothing};
  });
}

/// A loop whose steps are said to use up the epochs ends with its first step.
TEST(Refused, TooManyIterationsInside) {
  for (const char* name : {"while_loop", "nested_while"}) {
    const auto example = load_example(name);
    ASSERT_TRUE(example);
    expect_refused(variant_of(*example), name, [](Variant& v, const auto& now) {
      for (ExitCondition& d : v.exit_conditions)
        if (now()) d.inner = Dim(epoch_limit);
    });
  }
}

TEST(Refused, ValuesShownElsewhere) {
  const auto example = load_example("carried_loop");
  ASSERT_TRUE(example);
  const Program program = task::program_of(*example);
  for (const task::TaskType& type : program.types) example->graph.debugs.push_back({"shown", {type.node, 0}});
  const Variant variant = variant_of(*example);
  EXPECT_EQ(unproved(variant), std::vector<std::string>{});
  expect_refused(variant, "debug", [&](Variant& v, const auto& now) {
    each_step(v.steps, [&](Step& step) {
      if (!step.debugs.empty() && now()) step.debugs.clear();
      for (uint32_t n = 0; n < example->graph.debugs.size(); ++n)  // elsewhere, or twice
        if (now()) step.debugs.push_back(n);
    });
  });
}

/// Does some order of the tasks give another result, with the temporaries in the arena?
bool is_noticed(const Example& example, const Variant& v) {
  task::SimulateOptions options;
  options.precision = graph::Precision::f64;
  for (const Slot& slot : v.slots) options.arena.push_back({slot.buffer, slot.above});
  for (const auto& binding : example.bindings) {
    const auto inputs = task::inputs_for(example.graph, binding, 3);
    const auto parameters = task::parameters_of(example.graph, binding);
    const auto expected = graph::interpret(example.graph, inputs, parameters, graph::Precision::f64);
    for (options.seed = 1; options.seed <= 6; ++options.seed)
      if (!task::difference(expected, task::simulate(v.program, inputs, parameters, options)).empty())
        return true;
  }
  return false;
}

/// Any two temporaries at one place: refused, or nobody notices.
void expect_sound_sharing(const Example& example, const Variant& variant) {
  for (size_t s = 0; s < variant.slots.size(); ++s)
    for (size_t i = 0; i < variant.slots[s].above.size(); ++i) {
      Variant changed = variant;
      auto& above = changed.slots[s].above;
      above.erase(above.begin() + static_cast<long>(i));
      if (!unproved(changed).empty()) continue;
      EXPECT_FALSE(is_noticed(example, changed)) << "slots " << s << " and " << variant.slots[s].above[i];
    }
  EXPECT_FALSE(is_noticed(example, variant));
}

TEST_P(Proofs, RefuseSharingOfLives) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const Variant variant = variant_of(*example);
  expect_sound_sharing(*example, variant);
  expect_refused(variant, "too small a slot", [](Variant& v, const auto& now) {
    for (Slot& slot : v.slots)
      if (now()) slot.bytes = slot.bytes - Dim(1);
  });
  expect_refused(variant, "a buffer without a slot", [](Variant& v, const auto& now) {
    if (!v.slots.empty() && now()) v.slots.pop_back();
  });
  expect_refused(variant, "above itself", [](Variant& v, const auto& now) {
    for (uint32_t s = 0; s < v.slots.size(); ++s)
      if (now()) v.slots[s].above.push_back(s);
  });
}

INSTANTIATE_TEST_SUITE_P(Tasks, Proofs, testing::ValuesIn(task::example_names()),
                         [](const auto& i) { return i.param; });

TEST(RandomPlans, AreProvedAndShareSoundly) {
  for (uint64_t seed = 300; seed < 300 + sampled(12u) && !testing::Test::HasFailure(); ++seed) {
    const auto example = task::make_example("random", task::random_graph(seed),
                                            "tiling rows 2 columns 4 panel 2 points 6\n"
                                            "sizes m=5 d=3 n=2 v=2\n"
                                            "sizes m=3 d=5 n=3 v=1\n");
    ASSERT_TRUE(example);
    const Variant variant = variant_of(*example);
    EXPECT_EQ(task::unproved(variant.program), std::vector<std::string>{}) << seed;
    EXPECT_EQ(unproved(variant), std::vector<std::string>{}) << seed;
    expect_sound_sharing(*example, variant);
  }
}

}  // namespace
}  // namespace axon::plan
