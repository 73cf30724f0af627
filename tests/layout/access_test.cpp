// Bank conflicts, sectors and lines: known accesses, and random ones counted in another way.
#include "layout/access.h"

#include "layout/atoms.h"
#include "layout/evaluate.h"
#include "support.h"

namespace axon::layout {
namespace {

WarpAccess strided(int64_t stride, int64_t width = 4) {
  WarpAccess out;
  out.width = width;
  for (int64_t lane = 0; lane < 32; ++lane) out.addresses[lane] = lane * stride;
  return out;
}

TEST(Banks, KnownAccesses) {
  EXPECT_EQ(bank_passes(strided(4)), 1);
  EXPECT_EQ(bank_passes(strided(0)), 1);     // one word is broadcast
  EXPECT_EQ(bank_passes(strided(2, 2)), 1);  // two lanes a word
  EXPECT_EQ(bank_passes(strided(8)), 2);
  EXPECT_EQ(bank_passes(strided(128)), 32);
  EXPECT_EQ(bank_passes(strided(132)), 1);
  EXPECT_EQ(bank_passes(strided(16, 16)), 4);  // four passes of eight lanes
  EXPECT_EQ(bank_passes(strided(128, 16)), 32);
  EXPECT_EQ(bank_passes(strided(144, 16)), 4);
}

TEST(Coalescing, KnownAccesses) {
  EXPECT_EQ(pieces_touched(strided(4), sector_bytes), 4);
  EXPECT_EQ(pieces_touched(strided(4), line_bytes), 1);
  EXPECT_EQ(pieces_touched(strided(16, 16), line_bytes), 4);
  EXPECT_EQ(pieces_touched(strided(128), sector_bytes), 32);
  EXPECT_EQ(pieces_touched(strided(0), sector_bytes), 1);
}

/// A word at a time and a bank at a time.
TEST(Banks, CountedPerBank) {
  Random random(1);
  for (int round = 0; round < random_layouts; ++round) {
    WarpAccess access;
    access.width = int64_t{1} << random.number(0, 4);
    for (int64_t lane = 0; lane < 32; ++lane)
      if (random.chance(90))
        access.addresses[lane] = random.number(0, 63) * access.width * random.number(1, 4);
    const int64_t lanes = access.width <= 4 ? 32 : 128 / access.width;
    int64_t wanted = 0;
    for (int64_t first = 0; first < 32; first += lanes) {
      std::set<int64_t> words, pieces;
      for (const auto& [lane, address] : access.addresses)
        if (lane >= first && lane < first + lanes)
          for (int64_t word = address / 4; word * 4 < address + access.width; ++word) words.insert(word);
      int64_t most = 0;
      for (int64_t bank = 0; bank < 32; ++bank)
        most = std::max<int64_t>(
            most, std::count_if(words.begin(), words.end(), [&](int64_t word) { return word % 32 == bank; }));
      wanted += most;
    }
    ASSERT_EQ(bank_passes(access), wanted);
    for (const int64_t bytes : {sector_bytes, line_bytes}) {
      int64_t touched = 0;
      for (int64_t piece = 0; piece < 16384 / bytes; ++piece)
        touched += std::any_of(access.addresses.begin(), access.addresses.end(), [&](const auto& at) {
          return at.second < (piece + 1) * bytes && at.second + access.width > piece * bytes;
        });
      ASSERT_EQ(pieces_touched(access, bytes), touched);
    }
  }
}

int64_t passes(const Layout& threads, const Swizzled& memory, int64_t bytes) {
  const auto found = accesses(threads, memory, bytes);
  EXPECT_TRUE(found) << found.why();
  int64_t all = 0;
  if (found)
    for (const WarpAccess& access : *found) all += bank_passes(access);
  return all;
}

TEST(Accesses, ASwizzleTakesConflictsAway) {
  // Eight lanes read 16 bytes each of a column of an 8 x 64 half tile.
  const Layout column = layout_of("S[(8,8):(1@lane,1@v)]");
  const Layout memory = layout_of("S[(8,8):(64,1)]");
  EXPECT_EQ(passes(column, {memory, {}}, 2), 8);
  EXPECT_EQ(passes(column, {memory, {3, 3, 3}}, 2), 1);
  EXPECT_EQ(passes(column, {layout_of("S[(8,8):(72,1)]"), {}}, 2), 1);
}

TEST(Accesses, AreThoseOfEachWarpAndRegister) {
  const auto found =
      accesses(layout_of("S[(64,4,2):(1@thread,1,1@v)]"), {layout_of("S[(64,4,2):(8,2,1)]"), {}}, 2);
  ASSERT_TRUE(found) << found.why();
  ASSERT_EQ(found->size(), 8u);
  for (const WarpAccess& access : *found) {
    EXPECT_EQ(access.width, 4);
    EXPECT_EQ(access.addresses.size(), 32u);
    EXPECT_EQ(pieces_touched(access, line_bytes), 4);
  }
}

TEST(Accesses, OfAnAccumulatorToRows) {
  // Each register of an accumulator goes to eight rows of four pairs: 4 bytes a lane, 8 bytes apart.
  const auto found = accesses(find_atom("mma.m16n8k16.acc")->operand.layout, {layout_of("S[16,8]"), {}}, 4);
  ASSERT_TRUE(found) << found.why();
  ASSERT_EQ(found->size(), 4u);
  for (const WarpAccess& access : *found) EXPECT_EQ(bank_passes(access), 2);
}

TEST(Accesses, RefusalsSayWhy) {
  const auto why = [](std::string_view threads, std::string_view memory) {
    return accesses(layout_of(threads), {layout_of(memory), {}}, 2).why();
  };
  EXPECT_EQ(why("S[(32,4):(1@lane,1@v)]", "S[(32,4):(4,-1)] + 3@m"),
            "the 4 elements of lane 0 do not lie in one piece, in order and aligned");
  EXPECT_EQ(why("S[(32,4):(1@lane,1@v)]", "S[(32,4):(4,1)] + 1@m"),
            "the 4 elements of lane 0 do not lie in one piece, in order and aligned");
  EXPECT_EQ(why("S[(32,4):(1@lane,1@v)]", "S[(32,4):(5,1)]"),
            "the 4 elements of lane 1 do not lie in one piece, in order and aligned");
  EXPECT_EQ(why("S[32:1@lane]", "S[64:1]"), "the sizes of the two layouts differ");
  EXPECT_EQ(why("S[32:1@lane]", "S[32:1] + R[2:32]"), "an element has several places in memory");
  EXPECT_EQ(why("S[48:1@thread]", "S[48:1]"),
            "48 steps of 1 on `thread` carry from `lane` into `warp`, which has 32");
}

}  // namespace
}  // namespace axon::layout
