// Every rule of the deriver and the planner, switched off in turn: what comes out is refused, or is no worse.
//
// A mutant fixes one condition to true or to false. When the program that it makes differs from the right
// one, the proofs must refuse it, or no order of its tasks may give another result. A mutant that is refused
// for no program is harmless, and harmless.txt says why. The full run, which is the one that knows, is
// tests/rules/run; what ctest runs is a slice of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>

#include "mutant_run.h"

namespace axon::rules {
namespace {

std::vector<Mutant> all_mutants() {
  std::vector<Mutant> mutants;
  for (const std::string& rule : all_rules())
    for (const bool always : {false, true}) mutants.push_back({rule, always});
  return mutants;
}

/// Lines `rule true: reason`.
std::map<std::string, std::string> harmless() {
  std::map<std::string, std::string> reasons;
  std::ifstream file(std::string(AXON_SOURCE_DIR) + "/tests/rules/harmless.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t colon = line.find(": ");
    EXPECT_NE(colon, std::string::npos) << line;
    reasons[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return reasons;
}

TEST(Rules, HaveNamesOfTheirOwn) {
  const auto names = all_rules();
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_GE(2 * names.size(), 100u);
}

struct Tally {
  std::map<Fate, size_t> fates;
  bool refused() const { return fates.contains(Fate::refused) || fates.contains(Fate::stopped); }
  std::string str() const {
    const auto count = [&](Fate fate) { return fates.contains(fate) ? fates.at(fate) : 0; };
    return fmt::format("{} same, {} refused, {} stopped, {} harmless", count(Fate::same),
                       count(Fate::refused), count(Fate::stopped), count(Fate::harmless));
  }
};

/// What becomes of all subjects; none may come out different.
Tally check(const Mutant& mutant, const std::vector<Subject>& subjects, bool to_first = false) {
  const auto verdicts = try_mutant(mutant, subjects, to_first);
  Tally tally;
  for (size_t s = 0; s < verdicts.size(); ++s) {
    ++tally.fates[verdicts[s].fate];
    EXPECT_NE(verdicts[s].fate, Fate::different)
        << mutant.str() << " of " << subjects[s].name << ": " << verdicts[s].why;
  }
  return tally;
}

/// The scan of examples whose last step needs to know of columns that it does not use: were the second
/// condition of a union left out, a wait would be missing, and the proofs refuse the program.
TEST(Rules, AUnionEndsWhereTheLastRangeDoes) {
  std::vector<Subject> subjects = examples();
  std::erase_if(subjects, [](const Subject& s) { return s.name != "wide_scan"; });
  ASSERT_EQ(subjects.size(), 1u);
  const auto verdicts = try_mutant({"union_to_end", true}, subjects);
  EXPECT_EQ(verdicts[0].fate, Fate::refused) << verdicts[0].why;
}

/// Boxes that leave out an axis, the end of a tile, or what a local is read at beside the point that is
/// computed: the proofs of the boxes refuse them.
TEST(Rules, BoxesThatLeaveSomethingOutAreRefused) {
  std::vector<Subject> subjects = examples();
  std::erase_if(subjects, [](const Subject& s) { return s.name != "halo"; });
  ASSERT_EQ(subjects.size(), 1u);
  for (const char* rule :
       {"box_whole_tile", "box_past_last", "box_join_low", "box_join_high", "box_of_buffer",
        "box_read_by_locals", "box_read_by_outputs", "box_loads_of_locals"}) {
    const auto verdicts = try_mutant({rule, false}, subjects);
    EXPECT_EQ(verdicts[0].fate, Fate::refused) << rule;
    EXPECT_NE(verdicts[0].why.find("lies in its boxes"), std::string::npos)
        << rule << ": " << verdicts[0].why;
  }
}

/// Mutants drawn with a fixed seed, on examples.
TEST(Rules, ASliceIsRefusedOrHarmless) {
  if (std::getenv("AXON_RULES")) GTEST_SKIP() << "the full run does this";
  std::vector<Mutant> mutants = all_mutants();
  std::shuffle(mutants.begin(), mutants.end(), std::mt19937_64(7));
  mutants.resize(30);
  std::vector<Subject> subjects = examples();
  std::erase_if(subjects, [](const Subject& s) {
    return s.name == "decode" || s.name == "decoder" || s.name == "heads_in_loop" || s.name == "heads_apart";
  });
  for (const Mutant& mutant : mutants) check(mutant, subjects);
}

/// Is the rule among those of a list with commas, if there is one?
bool is_wanted(const std::string& rule, const char* only) {
  return !only || ("," + std::string(only) + ",").find("," + rule + ",") != std::string::npos;
}

/// AXON_RULES=seeds: everything, with that many random graphs; AXON_RULE=a,b: only these rules;
/// AXON_RULES_FIRST: of each mutant the programs up to the first that is refused.
TEST(Rules, AreRefusedOrHarmless) {
  const char* full = std::getenv("AXON_RULES");
  if (!full) GTEST_SKIP() << "AXON_RULES=4 tries all mutants";
  const char* only = std::getenv("AXON_RULE");
  const char* shard = std::getenv("AXON_RULES_SHARD");  // "1/4": every fourth from the second on
  const size_t from = shard ? std::strtoull(shard, nullptr, 10) : 0;
  const size_t step = shard ? std::strtoull(std::strchr(shard, '/') + 1, nullptr, 10) : 1;
  std::vector<Subject> subjects = examples();
  for (Subject& s : random_subjects(1, std::strtoull(full, nullptr, 10))) subjects.push_back(std::move(s));
  const auto reasons = harmless();
  size_t refused = 0, total = 0;
  const auto mutants = all_mutants();
  for (size_t m = from; m < mutants.size(); m += step) {
    const Mutant& mutant = mutants[m];
    if (!is_wanted(mutant.rule, only)) continue;
    ++total;
    const Tally tally = check(mutant, subjects, std::getenv("AXON_RULES_FIRST") != nullptr);
    std::cout << fmt::format("{}: {}", mutant.str(), tally.str()) << std::endl;
    refused += tally.refused() ? 1 : 0;
    EXPECT_TRUE(tally.refused() || reasons.contains(mutant.str())) << mutant.str() << " is never refused";
    if (tally.refused() && reasons.contains(mutant.str()))
      std::cout << mutant.str() << " need not be listed\n";
  }
  std::cout << fmt::format("{} mutants, {} refused\n", total, refused);
}

}  // namespace
}  // namespace axon::rules
