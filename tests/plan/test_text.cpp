// The text of a plan reads back to itself, errors name their line, and plans edited by hand are refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "../sanitized.h"
#include "plan/verify.h"
#include "task/placements.h"
#include "task/random_graphs.h"
#include "task/support.h"

namespace axon::plan {
namespace {

using task::Example;
using task::load_example;
using task::Program;

Plan plan_of(const Example& example, Schedule schedule = Schedule::events) {
  Plan plan;
  plan.graph = &example.graph;
  plan.variants.push_back(from_task(task::program_of(example), example.name, schedule));
  return plan;
}

std::vector<Program> programs_of(const Plan& plan) {
  std::vector<Program> programs;
  for (const Variant& v : plan.variants) programs.push_back(v.program);
  return programs;
}

/// What all variants fail to show, of the tasks and of the plan.
std::vector<std::string> unproved(const Plan& plan) {
  std::vector<std::string> out;
  for (const Variant& v : plan.variants)
    for (const task::Obligation& o : obligations(v))
      if (!o.proved) out.push_back(o.what);
  return out;
}

/// Its text gives the plan again, and where `with_proofs`, what is not printed does not matter to the proofs.
void expect_read_back(const Plan& plan, bool with_proofs) {
  const std::string text = print(plan);
  std::string error;
  const auto again = parse(*plan.graph, programs_of(plan), text, error);
  ASSERT_TRUE(again) << error << "\n" << text;
  EXPECT_EQ(error, "");
  EXPECT_EQ(print(*again), text);
  if (with_proofs) EXPECT_EQ(unproved(*again), unproved(plan));
}

constexpr bool with_proofs = one_of == 1;  // else those of random graphs are enough

class Texts : public testing::TestWithParam<std::string> {};

TEST_P(Texts, ReadBack) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  for (const ScheduleRules& rules : schedules)
    expect_read_back(plan_of(*example, rules.schedule), with_proofs && rules.schedule == Schedule::events);
}

INSTANTIATE_TEST_SUITE_P(Tasks, Texts, testing::ValuesIn(task::example_names()),
                         [](const auto& i) { return i.param; });

TEST(RandomTexts, ReadBack) {
  for (uint64_t seed = 700; seed < 700 + sampled(48u) && !testing::Test::HasFailure(); ++seed) {
    const auto example = task::make_example("random", task::random_graph(seed),
                                            "tiling rows 2 columns 4 panel 2 points 6\n"
                                            "sizes m=5 d=3 n=2 v=2\n");
    ASSERT_TRUE(example);
    SCOPED_TRACE(seed);
    expect_read_back(plan_of(*example, schedules[seed % std::size(schedules)].schedule), seed % 5 == 0);
  }
}

/// Names of variables begin anew in every variant.
TEST(Texts, ReadBackWithSeveralVariants) {
  const auto example = load_example("decoder");
  ASSERT_TRUE(example);
  Plan plan;
  plan.graph = &example->graph;
  const auto& sizes = example->graph.sizes;
  const auto m = std::find_if(sizes.begin(), sizes.end(), [](const auto& size) { return size.name == "m"; });
  ASSERT_NE(m, sizes.end());
  const std::vector<shape::Fact> few = {shape::at_most(Dim(m->var), Dim(64))};
  for (const auto& guard : {few, std::vector<shape::Fact>{}}) {
    auto program = task::from_graph(
        example->graph, task::placements_of(example->graph, task::choose_placements({&example->graph}, 32)),
        guard, target::x86_64());
    task::derive_events(program);
    plan.variants.push_back(
        from_task(std::move(program), fmt::format("decoder_{}", plan.variants.size()), Schedule::events));
  }
  ASSERT_EQ(plan.variants.size(), 2u);
  EXPECT_NE(print(plan).find("variant decoder_0 when m <= 64\n"), std::string::npos);
  expect_read_back(plan, true);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << "\n" << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

struct Edit {
  const char *example, *from, *to;
};

/// Well formed, and wrong.
TEST(Edited, AreRefused) {
  const Edit edits[] = {
      {"two_stage", "    each wait 0 partial.0 [t01 : t01] at ()\n", ""},
      {"two_stage", "each wait", "first wait"},
      {"two_stage", "    each wait 0 partial.0 [t01 : t01] at ()\n",
       "    each wait 0 partial.0 [t01 : t01] at ()\n    each wait 0 partial.0 [t01 : t01] at ()\n"},
      {"two_stage", "bytes 256*n", "bytes 255*n"},
      {"two_stage", "  slot 0 of partial.2 bytes 256*n\n", ""},
      {"two_stage", "words 0 from 0", "words 0 from 1"},
      {"two_stage", "event words 4*max(n, 1)", "event words 4*max(n, 1) - 1"},
      {"two_stage", "iterations 1", "iterations 0"},
      {"data_size", "bytes 4*d above 0", "bytes 4*d"},
      {"data_size", "bytes 4*d above 0", "bytes 4*d above 2"},
      {"data_size", "    publishes size k\n", ""},
      {"data_size", "  needs k\n", ""},
      {"nested_while", "      publishes exit l1\n", ""},
      {"nested_while", "words 6 from", "words 6 from 1 +"},
  };
  for (const Edit& edit : edits) {
    const auto example = load_example(edit.example);
    ASSERT_TRUE(example);
    const Plan plan = plan_of(*example);
    ASSERT_EQ(unproved(plan), std::vector<std::string>{});
    std::string error;
    const auto wrong =
        parse(example->graph, programs_of(plan), replaced(print(plan), edit.from, edit.to), error);
    ASSERT_TRUE(wrong) << error;
    EXPECT_NE(unproved(*wrong), std::vector<std::string>{}) << edit.example << ": " << edit.from;
  }
}

/// A range of a wait, in the tasks and in the plan.
TEST(Edited, RangesAreRefused) {
  const auto example = load_example("two_stage");
  ASSERT_TRUE(example);
  const Plan plan = plan_of(*example);
  std::string error;
  auto tasks =
      task::parse(example->graph,
                  replaced(task::print(plan.variants[0].program), "[t01 : t01] at", "[0 : t01] at"), error);
  ASSERT_TRUE(tasks) << error;
  const std::string text = print(plan);
  EXPECT_FALSE(parse(example->graph, {*tasks}, text, error));
  const auto edited =
      parse(example->graph, {*tasks}, replaced(text, "[t01 : t01] at", "[0 : t01] at"), error);
  ASSERT_TRUE(edited) << error;
  auto narrower = task::parse(
      example->graph, replaced(task::print(plan.variants[0].program), "[t01 : t01] at", "[0 : 0] at"), error);
  ASSERT_TRUE(narrower) << error;
  const auto wrong =
      parse(example->graph, {*narrower}, replaced(text, "[t01 : t01] at", "[0 : 0] at"), error);
  ASSERT_TRUE(wrong) << error;
  EXPECT_NE(unproved(*wrong), std::vector<std::string>{});
}

TEST(Parse, SaysWhatIsWrongAndWhere) {
  const auto example = load_example("data_size");
  ASSERT_TRUE(example);
  const Plan plan = plan_of(*example);
  const std::string text = print(plan);
  const auto error_of = [&](const std::string& from, const std::string& to) {
    std::string error;
    EXPECT_FALSE(parse(example->graph, programs_of(plan), replaced(text, from, to), error)) << to;
    return error;
  };
  EXPECT_EQ(error_of("plan data_size", "plan other"), "line 1: this is not the plan of `data_size`");
  EXPECT_EQ(error_of("variant data_size", "variant data_size when 1 <= n"),
            "line 2: nothing more is expected on this line");
  EXPECT_EQ(error_of("segment last.1", "segment last.9"), "line 7: there are no tasks `last.9`");
  EXPECT_EQ(error_of("segment count.0 tasks 1", "segment count.0 tasks 2"),
            "line 4: the program says `1` here");
  EXPECT_EQ(error_of("needs k", "needs d"), "line 6: `d` is no data-dependent size");
  EXPECT_EQ(error_of("publishes size", "publishes"), "line 5: `size` is expected");
  EXPECT_EQ(error_of("each wait 0", "each wait 7"), "line 9: there is no wait 7");
  EXPECT_EQ(error_of("[t11 / 4 : t11 / 4]", "[0 : t11 / 4]"),
            "line 11: the program says `total.2 [t11 / 4 : t11 / 4] at ()` here");
  EXPECT_EQ(error_of("of last.3", "of first.3"), "line 12: there is no buffer `first.3`");
  EXPECT_EQ(error_of("bytes 4*d*k", "bytes 4*d*q"), "line 12: unknown name `q`");
  EXPECT_EQ(error_of("event words", "event word"), "line 18: `event words` is expected");
  EXPECT_EQ(error_of("variant data_size\n", "variant data_size\n    needs k\n"),
            "line 3: `event words` is expected");
  for (size_t cut = 0; cut < text.size(); cut += 5) {  // broken anywhere: an error or a plan, never worse
    std::string error;
    const auto read = parse(example->graph, programs_of(plan), text.substr(0, cut), error);
    EXPECT_EQ(read.has_value(), error.empty()) << error;
  }
}

}  // namespace
}  // namespace axon::plan
