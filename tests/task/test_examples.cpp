// Every example: its tasks and events are the golden ones, read back to the same text, proved, and mean what
// the graph means in random legal orders.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "plan/plan.h"
#include "support.h"
#include "task/simulate.h"

namespace axon::task {
namespace {

class Examples : public testing::TestWithParam<std::string> {};

TEST_P(Examples, Golden) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  expect_golden(data_folder() + GetParam() + ".tasks", print(program_of(*example)));
}

TEST_P(Examples, Proved) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  for (const std::string& text : unproved(program_of(*example))) ADD_FAILURE() << text;
  EXPECT_TRUE(example->copied_states.empty());
}

TEST_P(Examples, ReadBack) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const Program program = program_of(*example);
  const std::string text = print(program);
  std::string error;
  const auto again = parse(example->graph, text, error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(print(*again), text);
  const auto before = verify(program), after = verify(*again);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].proved, after[i].proved) << after[i].what;
  const auto& binding = example->bindings.at(0);
  const auto inputs = inputs_for(example->graph, binding, 5);
  const auto parameters = parameters_of(example->graph, binding);
  EXPECT_EQ(difference(simulate(program, inputs, parameters), simulate(*again, inputs, parameters)), "");
}

TEST_P(Examples, AnyLegalOrderMeansTheGraph) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const plan::Variant variant = plan::from_task(program_of(*example), "entry", plan::Schedule::events);
  const Program& program = variant.program;
  SimulateOptions options;
  options.precision = graph::Precision::f64;
  for (const auto& slot : variant.slots) options.arena.push_back({slot.buffer, slot.above});
  ASSERT_FALSE(example->bindings.empty());
  for (const auto& binding : example->bindings) {
    const auto inputs = inputs_for(example->graph, binding, 11);
    const auto parameters = parameters_of(example->graph, binding);
    const auto expected = graph::interpret(example->graph, inputs, parameters, graph::Precision::f64);
    for (options.seed = 1; options.seed <= 6; ++options.seed)
      EXPECT_EQ(difference(expected, simulate(program, inputs, parameters, options)), "")
          << text_of(example->graph, binding) << ", seed " << options.seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, Examples, testing::ValuesIn(example_names()),
                         [](const auto& i) { return i.param; });

TEST(TwoStages, TheEventOfTheSmallestExample) {
  const auto example = load_example("two_stage");
  ASSERT_TRUE(example);
  const Program p = program_of(*example);
  ASSERT_EQ(p.events.size(), 1u);
  ASSERT_EQ(p.waits.size(), 1u);
  const Event& event = p.events[EventId{0}];
  EXPECT_EQ(event.kept, std::vector<uint32_t>{0});  // notify (i, j) -> i
  EXPECT_EQ(event.count, Dim(4));
  const Dim n = example->graph.sizes[0].var;
  EXPECT_EQ(event.shape, std::vector<Dim>{shape::max(n, Dim(1))});
  const Wait& wait = p.waits[0];
  const Dim i = p.types[wait.consumer].coordinates[0].var;
  EXPECT_EQ(wait.box[0].first, i);  // wait i -> i
  EXPECT_EQ(wait.box[0].last, i);
}

TEST(Copies, AConsumedStateIsNeverCopiedSilently) {
  const auto example = make_example("kept_state", R"(graph "kept_state"
  size s = axis 0 of 0 where s
  input "cache" state f32[s]
  %0 = input 0
  %1 = compute "update" [j < s] {
    out f32[s] of %0 = %0[j] + 1.0
  }
  %2 = compute "late" [j < s] {
    out f32[s] = %0[j] * %1[s - 1 - j]
  }
  result "a" %1
  result "b" %2
)",
                                    "tiling rows 2 columns 2 panel 1 points 2\nsizes s=3\n");
  ASSERT_TRUE(example);
  EXPECT_EQ(example->copied_states, std::vector<uint32_t>{0});
}

/// Passes leave what they removed in the graph's store: it has no memory, and nobody asks for it.
TEST(Removal, RemovedNodesMeanNothing) {
  const auto example = load_example("copies");
  ASSERT_TRUE(example);
  const std::string before = print(program_of(*example));
  graph::Node removed = example->graph.nodes[graph::NodeId{2}];
  removed.outputs[0].base = graph::Value{graph::NodeId{2}, 0};
  example->graph.nodes.add(std::move(removed));
  const Program program = program_of(*example);
  EXPECT_EQ(print(program), before);
  EXPECT_TRUE(unproved(program).empty());
}

TEST(Parse, SaysWhatIsWrongAndWhere) {
  const auto example = load_example("carried_loop");
  ASSERT_TRUE(example);
  const std::string text = print(program_of(*example));
  const auto error_of = [&](const std::string& from, const std::string& to) {
    std::string changed = text, error;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    EXPECT_FALSE(parse(example->graph, changed, error)) << to;
    return error;
  };
  EXPECT_EQ(error_of("tasks carried_loop", "tasks other"),
            "line 1: these are not the tasks of `carried_loop`");
  EXPECT_EQ(error_of("buffer b0", "buffer b7"), "line 2: buffers are numbered in order");
  EXPECT_EQ(error_of("read b1[", "read b99["), "line 10: there is no b99");
  EXPECT_NE(error_of("wait t1 on e0", "wait t1 on e9").find("there is no such event"), std::string::npos);
  EXPECT_NE(error_of("grid t0 <", "grid t0 < q +").find("unknown name `q`"), std::string::npos);
  EXPECT_NE(error_of("steps", "stops").find("a line of a task program is expected"), std::string::npos);
  for (size_t cut = 0; cut < text.size();
       cut += 7) {  // broken anywhere: an error or a shorter program, never worse
    std::string error;
    if (const auto shorter = parse(example->graph, text.substr(0, cut), error))
      EXPECT_EQ(error, "");
    else
      EXPECT_NE(error, "");
  }
}

}  // namespace
}  // namespace axon::task
