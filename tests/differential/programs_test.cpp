// The hand-written programs (hand_programs.h) in every executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "hand_programs.h"

namespace axon::differential {
namespace {

/// A program, and its number among all.
using Numbered = std::pair<size_t, HandProgram>;

std::vector<Numbered> all_programs() {
  std::vector<Numbered> all;
  for (const auto& list : {programs_of_features(), programs_of_data(), programs_of_rows(), programs_of_bugs(),
                           programs_of_places()})
    for (const HandProgram& program : list) all.emplace_back(all.size(), program);
  return all;
}

/// The native level, and for a third of the programs or less one below it in turn; AXON_ALL_LEVELS=1: every
/// level for each.
std::vector<std::string> levels_of_program(size_t at) {
  const std::vector<std::string> all = levels_of_this_machine();
  if (std::getenv("AXON_ALL_LEVELS")) return all;
  const size_t turn = at % (2 * all.size());
  return turn + 1 < all.size() ? std::vector{all[turn], all.back()} : std::vector{all.back()};
}

class Hand : public ::testing::TestWithParam<Numbered> {};

TEST_P(Hand, ExecutorsAgree) {
  const auto& [number, program] = GetParam();
  const std::vector<std::string> levels = levels_of_program(number);
  const Compiled compiled(program.source, for_levels(levels));
  ASSERT_EQ(compiled.error(), "");
  uint64_t seed = 1;
  for (const Sizes& sizes : program.sizes) {
    std::map<std::string, Inputs> inputs;
    for (const CompiledEntry& e :
         compiled.compilation().entries)  // the same seed: shared weights have one value
      inputs[e.name] = make_inputs(compiled.meaning(e.name), sizes, program.bound, seed);
    std::vector<std::unique_ptr<const Loaded>> loaded;
    std::vector<const Loaded*> natives;
    for (const std::string& level : levels) {
      loaded.push_back(std::make_unique<const Loaded>(compiled, inputs, level));
      ASSERT_EQ(loaded.back()->error(), "");
      natives.push_back(loaded.back().get());
    }
    for (const auto& [entry, tensors] : inputs) {
      std::string at = entry;
      for (const auto& [name, value] : sizes) at += " " + name + "=" + std::to_string(value);
      EXPECT_EQ(disagreement(compiled, natives, entry, tensors, seed), "") << at;
    }
    ++seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Hand, ::testing::ValuesIn(all_programs()),
                         [](const auto& info) { return info.param.second.name; });

}  // namespace
}  // namespace axon::differential
