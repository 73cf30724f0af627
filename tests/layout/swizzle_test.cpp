// XOR swizzles against their definition bit by bit.
#include "layout/swizzle.h"

#include "layout/atoms.h"
#include "support.h"

namespace axon::layout {
namespace {

int64_t bit_by_bit(const Swizzle& s, int64_t address) {
  int64_t out = address;
  for (int bit = 0; bit < s.bits; ++bit)
    if ((address >> (s.base + s.shift + bit)) & 1) out ^= int64_t{1} << (s.base + bit);
  return out;
}

TEST(Swizzle, XorsBitsAndIsItsOwnInverse) {
  Random random(1);
  for (int round = 0; round < random_layouts; ++round) {
    Swizzle s{static_cast<int>(random.number(0, 5)), static_cast<int>(random.number(0, 4)), 0};
    s.shift = s.bits + static_cast<int>(random.number(0, 3));
    ASSERT_FALSE(why_ill_formed(s));
    const int64_t address = random.number(-100000, 100000), to = swizzled(s, address);
    ASSERT_EQ(to, bit_by_bit(s, address));
    ASSERT_EQ(swizzled(s, to), address);
    const int64_t block = period(s);
    ASSERT_EQ(to - (to % block + block) % block, address - (address % block + block) % block);
  }
  EXPECT_EQ(why_ill_formed(Swizzle{3, 3, 2}),
            "(3,3,2) is no swizzle: (M, B, S) with 0 <= M, 0 <= B <= S and M + B + S <= 62 is");
}

TEST(Swizzle, HalfTileOf128Bytes) {
  const Swizzled tile{layout_of("S[8,64]"), {3, 3, 3}};
  for (int64_t i = 0; i < 8; ++i)
    for (int64_t j = 0; j < 64; ++j)
      EXPECT_EQ(points(tile, 64 * i + j), (std::set<Point>{{{"m", 64 * i + 8 * ((j >> 3) ^ i) + (j & 7)}}}));
  EXPECT_EQ(print(tile), "S[(8,64):(64,1)] ^ (3,3,3)");
}

TEST(Swizzle, ComposedIsExactOrDoesNotExist) {
  Random random(2);
  int composed_ones = 0, moved = 0;
  for (int round = 0; round < random_layouts; ++round) {
    Swizzled tile{random.layout(),
                  {static_cast<int>(random.number(0, 2)), static_cast<int>(random.number(0, 2)), 2}};
    for (Iter& iter : tile.layout.replicas)
      if (iter.axis == "m") iter.axis = "v";
    const Outcome<Layout> found = composed(tile);
    if (!found) continue;
    ++composed_ones;
    moved += found->offset != tile.layout.offset || found->shards != tile.layout.shards;
    for (int64_t x = 0; x < size_of(tile.layout); ++x) {
      PlainSet wanted;
      for (Plain at : plain_points(tile.layout, x)) {
        at[0] = bit_by_bit(tile.swizzle, at[0]);
        wanted.insert(at);
      }
      ASSERT_EQ(plain_points(*found, x), wanted) << print(tile);
    }
  }
  EXPECT_GT(composed_ones, random_layouts / 4);
  EXPECT_GT(moved, random_layouts / 10);
  EXPECT_EQ(print(*composed({layout_of("S[8:1] + 192@m"), {3, 3, 3}})), "S[8:1] + 216@m");
  EXPECT_EQ(composed({layout_of("S[8,64]"), {3, 3, 3}}).why(),
            "the swizzle moves elements of the tile apart");
}

}  // namespace
}  // namespace axon::layout
