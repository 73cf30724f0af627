// The proofs refuse every small wrong change, and the simulator notices every wait that is missing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "brute_force.h"
#include "mutants.h"
#include "support.h"
#include "task/simulate.h"
#include "touched.h"

namespace axon::task {
namespace {

std::string pair_of(const Program& p, const Wait& wait) {
  return p.types[wait.consumer].name + " " + p.types[p.events[wait.event].producer].name;
}

bool is_implied(const Example& example, const std::string& pair) {
  return std::count(example.implied.begin(), example.implied.end(), pair) > 0;
}

/// Is the only wait that the mutant lacks one that others imply? Then it is no worse than the program.
bool lacks_nothing(const Example& example, const Program& program, const Program& mutant) {
  if (mutant.waits.size() + 1 != program.waits.size()) return false;
  for (size_t w = 0; w < program.waits.size(); ++w) {
    Program without = program;
    remove_wait(without, static_cast<uint32_t>(w));
    if (print(without) == print(mutant)) return is_implied(example, pair_of(program, program.waits[w]));
  }
  return false;
}

/// Does it only wait for more tasks? Then it orders all that the program orders, and is merely slower.
/// (WaitsNameWhatTheyNeed says that the deriver's do not.)
bool waits_for_more(const Example& example, const Program& program, const Mutant& mutant) {
  if (mutant.kind != "widened wait" && mutant.kind != "first of a wait" && mutant.kind != "last of a wait")
    return false;
  return std::all_of(example.bindings.begin(), example.bindings.end(), [&](const auto& binding) {
    const Concrete before(program, binding, 1), after(mutant.program, binding, 1);
    if (!after.broken().empty()) return false;
    for (size_t later = 0; later < before.instances().size(); ++later)
      for (size_t earlier = 0; earlier < later; ++earlier)
        if (before.is_before(earlier, later) && !after.is_before(earlier, later)) return false;
    return true;
  });
}

/// Does it declare other boxes that hold all that its tasks touch? Then they are proved like any boxes.
bool declares_enough(const Example& example, const Mutant& mutant) {
  if (mutant.kind != "access box" && mutant.kind != "buffer of an access" && mutant.kind != "removed access")
    return false;
  return std::all_of(example.bindings.begin(), example.bindings.end(), [&](const auto& binding) {
    return undeclared(mutant.program, Concrete(mutant.program, binding, 1)).empty();
  });
}

class Mutants : public testing::TestWithParam<std::string> {};

TEST_P(Mutants, AreRefused) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const Program program = program_of(*example);
  const bool large = program.types.size() > 6;
  size_t refused = 0;
  for (const Mutant& mutant : mutants_of(program, large ? 3 : 5)) {
    if (lacks_nothing(*example, program, mutant.program)) continue;
    const bool survives = unproved(mutant.program).empty();
    if (survives && (waits_for_more(*example, program, mutant) || declares_enough(*example, mutant)))
      continue;
    EXPECT_FALSE(survives) << mutant.kind << ": " << mutant.change << "\n" << print(mutant.program);
    refused += survives ? 0 : 1;
  }
  EXPECT_GE(refused, 20u);  // thirteen examples: several hundred in all
}

/// An entry of the certificate that says too much is refused, unless it is true all the same.
TEST_P(Mutants, ForgedCertificatesAreRefused) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const Program program = program_of(*example);
  size_t refused = 0;
  for (const Mutant& mutant : forged(program, 12)) {
    if (!unproved(mutant.program).empty()) {
      ++refused;
      continue;
    }
    for (const auto& binding : example->bindings) {
      const Concrete grid(mutant.program, binding, 1);
      for (const Finished& f : mutant.program.certificate)
        EXPECT_EQ(grid.contradicts(f), "") << mutant.kind << ": " << mutant.change << "\n"
                                           << print(mutant.program);
    }
  }
  EXPECT_GE(refused, std::min<size_t>(5, 2 * program.certificate.size()));
}

TEST_P(Mutants, NothingIsProvedWithoutACertificate) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  Program program = program_of(*example);
  program.certificate.clear();
  EXPECT_FALSE(unproved(program).empty());
}

INSTANTIATE_TEST_SUITE_P(Tasks, Mutants, testing::ValuesIn(example_names()),
                         [](const auto& i) { return i.param; });

/// What the refusals say: the first obligation that fails for one mutant of each kind.
TEST(Refusals, NameWhatIsWrong) {
  std::string text;
  for (const char* name : {"carried_loop", "copies"}) {
    const auto example = load_example(name);
    ASSERT_TRUE(example);
    for (const Mutant& mutant : mutants_of(program_of(*example), 1)) {
      if (mutant.kind == "widened wait") continue;  // only slower
      const auto refused = unproved(mutant.program);
      ASSERT_FALSE(refused.empty()) << mutant.kind;
      const std::string what =
          refused[0].substr(0, refused[0].rfind(" ("));  // who could not prove it is not the point
      text += fmt::format("{}: {}, {}\n  {}\n", name, mutant.kind, mutant.change, what);
    }
  }
  expect_golden(data_folder() + "refusals.txt", text);
}

class Removed : public testing::TestWithParam<std::string> {};

/// Does some legal order of the program without this wait give another result, for some sizes?
bool noticed(const Example& example, const Program& without) {
  for (const auto& binding : example.bindings) {
    const auto inputs = inputs_for(example.graph, binding, 3);
    const auto parameters = parameters_of(example.graph, binding);
    const auto expected = graph::interpret(example.graph, inputs, parameters, graph::Precision::f64);
    SimulateOptions options;
    options.precision = graph::Precision::f64;
    for (options.seed = 1; options.seed <= 30; ++options.seed)
      if (!difference(expected, simulate(without, inputs, parameters, options)).empty()) return true;
  }
  return false;
}

TEST_P(Removed, WaitsAreMissed) {
  const auto example = load_example(GetParam());
  ASSERT_TRUE(example);
  const Program program = program_of(*example);
  for (size_t w = 0; w < program.waits.size(); ++w) {
    Program without = program;
    remove_wait(without, static_cast<uint32_t>(w));
    const std::string pair = pair_of(program, program.waits[w]);
    EXPECT_EQ(noticed(*example, without), !is_implied(*example, pair)) << pair << " (wait " << w << ")";
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, Removed, testing::ValuesIn(example_names()),
                         [](const auto& i) { return i.param; });

}  // namespace
}  // namespace axon::task
