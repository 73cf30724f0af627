// Random graphs: everything that is derived is proved, read back, and means the graph in random legal orders.
#include <gtest/gtest.h>

#include <cstdlib>

#include "../sanitized.h"
#include "mutants.h"
#include "plan/plan.h"
#include "random_graphs.h"
#include "support.h"
#include "task/simulate.h"

namespace axon::task {
namespace {

/// AXON_RANDOM_GRAPHS=5000 searches longer.
uint64_t graphs() {
  const char* more = std::getenv("AXON_RANDOM_GRAPHS");
  return more ? std::strtoull(more, nullptr, 10) : sampled(80u);
}

const char* const settings =
    "tiling rows 2 columns 4 panel 2 points 6\n"
    "sizes m=5 d=3 n=2 v=2\n"
    "sizes m=1 d=8 n=3 v=7\n"
    "sizes m=0 d=2 n=1 v=1\n"
    "sizes m=4 d=1 n=0 v=3\n";

void expect_meaning(const Example& example, const Program& derived, uint64_t seed) {
  const plan::Variant variant = plan::from_task(derived, "entry", plan::Schedule::events);
  const Program& program = variant.program;
  SimulateOptions options;
  options.precision = graph::Precision::f64;
  for (const auto& slot : variant.slots) options.arena.push_back({slot.buffer, slot.above});
  for (const auto& binding : example.bindings) {
    const auto inputs = inputs_for(example.graph, binding, seed);
    const auto parameters = parameters_of(example.graph, binding);
    const auto expected = graph::interpret(example.graph, inputs, parameters, graph::Precision::f64);
    for (options.seed = 1; options.seed <= 3; ++options.seed)
      EXPECT_EQ(difference(expected, simulate(program, inputs, parameters, options)), "")
          << text_of(example.graph, binding) << ", order " << options.seed << "\n"
          << print(program);
  }
}

void check(uint64_t seed) {
  const std::string text = random_graph(seed);
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
  const auto example = make_example("random", text, settings);
  ASSERT_TRUE(example);
  ASSERT_FALSE(testing::Test::HasFailure());
  const Program program = program_of(*example);
  for (const std::string& obligation : unproved(program))
    ADD_FAILURE() << obligation << "\n" << print(program);
  std::string error;
  const auto again = parse(example->graph, print(program), error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(print(*again), print(program));
  expect_meaning(*example, program, seed);
  // The proof is sound for other sets of waits too, not only for those that are derived.
  for (size_t w = seed % 20; w < program.waits.size(); w += 20) {
    Program without = program;
    remove_wait(without, static_cast<uint32_t>(w));
    if (unproved(without).empty()) expect_meaning(*example, without, seed);
  }
}

TEST(Random, GraphsAreProvedAndMeanTheSame) {
  for (uint64_t seed = 1; seed <= graphs() && !HasFailure(); ++seed) check(seed);
}

}  // namespace
}  // namespace axon::task
