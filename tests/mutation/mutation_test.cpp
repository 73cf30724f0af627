// Mutated programs: whatever the text, the compiler ends in time, with a program that means what the
// interpreter says, or with an error. AXON_MUTANTS=FIRST-LAST chooses the seeds, and AXON_MUTATION_SECONDS
// for how long at most; tests/mutation/run is ten minutes of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>

#include "attempt.h"

namespace axon::mutation {
namespace {

struct Range {
  uint64_t first = 1, last = 300;
};
Range seeds() {
  const char* const given = std::getenv("AXON_MUTANTS");
  if (!given) return {};
  char* end = nullptr;
  const uint64_t first = std::strtoull(given, &end, 10);
  return {first, *end == '-' ? std::strtoull(end + 1, nullptr, 10) : first};
}

TEST(Mutants, AreRefusedOrMeanTheSameEverywhere) {
  const std::vector<Program> programs = programs_of(AXON_SOURCE_DIR);
  ASSERT_GT(programs.size(), 150u);
  const char* const limit = std::getenv("AXON_MUTATION_SECONDS");
  const auto begin = std::chrono::steady_clock::now();
  std::map<Verdict::Kind, int> count;
  std::map<std::string, int> told;  // findings that begin alike are shown once
  const Range range = seeds();
  for (uint64_t seed = range.first; seed <= range.last; ++seed) {
    if (limit && std::chrono::steady_clock::now() - begin > std::chrono::seconds(std::atoi(limit))) break;
    const Program program = mutant(programs, seed);
    const Verdict v = attempt(program, seed);
    ++count[v.kind];
    if (v.kind != Verdict::Kind::finding) continue;
    const std::string kind = v.stage.substr(0, v.stage.find(' ')) + ": " + v.text.substr(0, 60);
    if (++told[kind] > 2) continue;
    ADD_FAILURE() << "AXON_MUTANTS=" << seed << ", " << v.stage << ": " << v.text << "\nof " << program.name
                  << "\n"
                  << program.text << "\n---- end of the mutant";
  }
  fmt::print("{} refused, {} accepted, {} ran, {} findings\n", count[Verdict::Kind::refused],
             count[Verdict::Kind::accepted], count[Verdict::Kind::ran], count[Verdict::Kind::finding]);
  for (const auto& [kind, times] : told) fmt::print("  {} times {}\n", times, kind);
  if (!std::getenv("AXON_MUTANTS")) {
    EXPECT_GE(count[Verdict::Kind::refused], 100);
    EXPECT_GE(count[Verdict::Kind::ran], 10);
  }
}

/// A mutant is a function of its seed, and most are other texts than the program.
TEST(Mutants, FollowFromTheirSeeds) {
  const std::vector<Program> programs = programs_of(AXON_SOURCE_DIR);
  std::map<std::string, std::string> texts;
  for (const Program& p : programs) texts[p.name] = p.text;
  int changed = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Program once = mutant(programs, seed), again = mutant(programs, seed);
    EXPECT_EQ(once.text, again.text);
    changed += once.text != texts.at(once.name);
  }
  EXPECT_GT(changed, 80);
}

}  // namespace
}  // namespace axon::mutation
