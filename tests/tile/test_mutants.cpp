// Wrong tile programs: each is refused by the proofs, or does what the right one does for all sizes that are
// tried.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "mutants.h"
#include "support.h"

namespace axon::tile {
namespace {

bool is_refused(const Program& p) {
  for (const Obligation& o : verify(p))
    if (!o.proved) return true;
  return false;
}

/// The first sizes for which a program that the proofs accept is wrong; empty where there are none. Tiles of
/// rings are large, and all sizes of theirs would take over a minute: each mutant has the largest and a third
/// of the others, the next mutant the next third.
std::string found_wrong(const std::string& name, const Program& p, size_t mutant) {
  const bool is_large =
      std::any_of(p.tiles.begin(), p.tiles.end(), [](const Tile& t) { return t.depth > 1; });
  const std::vector<Sizes> all = sizes_of(name);
  uint64_t seed = 0;
  for (size_t i = all.size(); i-- > 0;) {
    if (is_large && i + 1 < all.size() && (i + mutant) % 3 != 0) continue;
    const Sizes& sizes = all[i];
    ++seed;
    const std::string why = difference(p, sizes, sample_of(name, sizes, seed), {.seed = seed, .workers = 2});
    if (why.empty()) continue;
    std::string at = why + " for";
    for (const auto& [size, value] : sizes) at += " " + size + "=" + std::to_string(value);
    return at;
  }
  return "";
}

class Mutants : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Mutants, testing::ValuesIn(all_programs()),
                         [](const auto& p) { return p.param; });

TEST_P(Mutants, AreRefusedOrEqual) {
  int refused = 0, equal = 0;
  for (const Mutant& mutant : mutants_of(text_of(GetParam()))) {
    std::string error;
    const auto p = parse(mutant.text, error);
    if (!p) continue;
    if (is_refused(*p)) {
      ++refused;
      continue;
    }
    ++equal;
    EXPECT_EQ(found_wrong(GetParam(), *p, static_cast<size_t>(equal)), "") << mutant.what;
    if (std::getenv("AXON_MUTANTS")) std::printf("equal: %s\n", mutant.what.c_str());
  }
  RecordProperty("refused", refused);
  RecordProperty("equal", equal);
  EXPECT_GT(refused, equal);
}

TEST(MutantCounts, AThirdOfEachKind) {
  std::array<int, 3> counts{};
  for (const std::string& name : all_programs())
    for (const Mutant& mutant : mutants_of(text_of(name))) {
      std::string error;
      if (parse(mutant.text, error)) ++counts[static_cast<size_t>(mutant.kind)];
    }
  if (std::getenv("AXON_MUTANTS")) std::printf("%d %d %d\n", counts[0], counts[1], counts[2]);
  for (const int count : counts) EXPECT_GE(count, 67);
}

}  // namespace
}  // namespace axon::tile
