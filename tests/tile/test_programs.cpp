// The texts of tests/tile/programs: they are canonical, and compute what plain loops do.
#include <cstdlib>
#include <fstream>

#include "base/work.h"
#include "support.h"

namespace axon::tile {
namespace {

class Programs : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Programs, testing::ValuesIn(all_programs()),
                         [](const auto& p) { return p.param; });

/// AXON_BLESS=1 rewrites the file.
TEST_P(Programs, PrintAfterParseIsTheIdentity) {
  const std::string text = text_of(GetParam()), printed = print(program_of(text));
  ASSERT_FALSE(HasFailure());
  if (std::getenv("AXON_BLESS"))
    std::ofstream(std::string(AXON_TEST_DIR) + "/programs/" + GetParam() + ".tiles") << printed;
  else
    EXPECT_EQ(text, printed);
  EXPECT_EQ(print(program_of(printed)), printed);
}

TEST_P(Programs, ComputeWhatPlainLoopsDo) {
  const Program p = program_of(text_of(GetParam()));
  uint64_t seed = 0;
  for (const Sizes& sizes : sizes_of(GetParam())) {
    const Sample sample = sample_of(GetParam(), sizes, ++seed);
    std::string at;
    for (const auto& [name, value] : sizes) at += " " + name + "=" + std::to_string(value);
    ASSERT_EQ(difference(p, sizes, sample, {.seed = seed, .workers = static_cast<int>(seed % 3) + 1}), "")
        << at;
  }
}

TEST_P(Programs, AreProved) {
  const auto list = verify(program_of(text_of(GetParam())));
  EXPECT_GT(list.size(), 10u);
  for (const Obligation& o : list) EXPECT_TRUE(o.proved) << o.what;
}

/// 30 more facts, of 10 more sizes.
TEST(ManyFacts, MakeProofsAFewTimesLonger) {
  const std::string text = text_of("softmax_blocks"), facts = "facts 0 <= m and 0 <= n";
  std::string sizes, more;
  for (int s = 0; s < 10; ++s) {
    const std::string name = "s" + std::to_string(s), next = "s" + std::to_string((s + 1) % 10);
    sizes += ", " + name;
    more += " and 1 <= " + name + " and " + name + " <= 2*" + next + " + m and n <= " + name + "*" + next;
  }
  std::string longer = text;
  longer.replace(longer.find(facts), facts.size(), facts + more);
  longer.replace(longer.find("sizes m, n"), 10, "sizes m, n" + sizes);
  const auto steps_of = [](const std::string& of) {
    const Program p = program_of(of);
    const base::Allowance allowance(UINT64_MAX);
    for (const Obligation& o : verify(p)) EXPECT_TRUE(o.proved) << o.what;
    return allowance.spent();
  };
  const uint64_t few = steps_of(text), many = steps_of(longer);
  EXPECT_LT(many, 8 * few);
}

}  // namespace
}  // namespace axon::tile
