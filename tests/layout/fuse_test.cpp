// Two axes as one and one as two, against arithmetic on coordinates.
#include "layout/fuse.h"

#include "layout/canonical.h"
#include "layout/evaluate.h"
#include "layout/group.h"
#include "shape/floor.h"
#include "support.h"

namespace axon::layout {
namespace {

TEST(Fuse, ThreadsAreWarpsAndLanes) {
  const AxisSplit threads = thread_splits().at(0), warps = thread_splits().at(1);
  const Layout layout = layout_of("S[(8,2,4,2):(4@lane,1@warp,1@lane,1)] + R[2:4@warp] + 5@warp");
  const Outcome<Layout> fused = fuse(layout, threads);
  ASSERT_TRUE(fused) << fused.why();
  EXPECT_EQ(print(*fused), "S[(8,2,4,2):(4@thread,32@thread,1@thread,1)] + R[2:128@thread] + 160@thread");
  EXPECT_EQ(print(*split(*fused, threads)), print(layout));
  EXPECT_EQ(print(*split(layout_of("S[(256,4):(1@thread,1)]"), threads)), "S[(8,32,4):(1@warp,1@lane,1)]");
  EXPECT_EQ(print(*split(layout_of("S[(8,32):(1@warp,1@lane)]"), warps)),
            "S[(2,4,32):(1@warpgroup,1@warp,1@lane)]");
  EXPECT_EQ(print(*fuse(layout_of("S[(2,4,32):(1@warpgroup,1@warp,1@lane)]"), warps)),
            "S[(2,4,32):(4@warp,1@warp,1@lane)]");
  EXPECT_EQ(split(layout_of("S[48:1@thread]"), threads).why(),
            "48 steps of 1 on `thread` carry from `lane` into `warp`, which has 32");
  EXPECT_EQ(split(layout_of("S[8:1@thread] + 30@thread"), threads).why(),
            "from 30 on, what counts on `lane` carries into `warp`");
  EXPECT_EQ(fuse(layout_of("S[8:1@warp]"), warps).why(),
            "coordinates of `warp` go from 0 to 7, and a `warpgroup` has 4");
}

TEST(Fuse, MemoryIsVectors) {
  Names names;
  const AxisSplit vectors{"m", "m", "v", 8};
  const Outcome<Layout> cut = split(names.layout("S[(n,16):(16,1)]"), vectors);
  ASSERT_TRUE(cut) << cut.why();
  EXPECT_EQ(print(*cut), "S[(2*n,8):(1,1@v)]");
  const Outcome<Layout> rows = split(names.layout("S[(n,k):(k,1)] + 8*i@m"), vectors);
  EXPECT_EQ(text_of(rows.needs()), "n*k % 8 == 0");
}

/// m = 4 * coarse + v: split exactly where a layout on the two axes exists.
TEST(Split, IsExactOrDoesNotExist) {
  Random random(1);
  const AxisSplit rule{"m", "m", "v", 4};
  int cut_ones = 0, refused = 0;
  for (int round = 0; round < random_layouts; ++round) {
    Layout layout = renamed(random.layout(), "v", "lane");
    const Outcome<Layout> cut = split(layout, rule);
    std::vector<PlainSet> wanted;
    for (PlainSet set : all_points(layout)) {
      PlainSet both;
      for (Plain at : set)
        both.insert({shape::floor_quotient(at[0], 4), shape::floor_remainder(at[0], 4), at[2]});
      wanted.push_back(both);
    }
    if (cut) {
      ++cut_ones;
      ASSERT_EQ(all_points(*cut), wanted) << print(layout);
      const Outcome<Layout> again = fuse(*cut, rule);
      ASSERT_TRUE(again) << again.why();
      ASSERT_EQ(same(*again, layout), true) << print(layout);
    } else if (layout.replicas.empty()) {
      ++refused;
      const Evaluator places(layout);
      const auto memory =
          std::find(places.axes().begin(), places.axes().end(), Axis("m")) - places.axes().begin();
      std::vector<Axis> axes = places.axes();
      axes.push_back("v");
      const auto shards = fit(size_of(layout), axes, [&](int64_t x) {
        std::vector<int64_t> at = places.base(x);
        at.push_back(shape::floor_remainder(at[static_cast<size_t>(memory)], 4));
        at[static_cast<size_t>(memory)] = shape::floor_quotient(at[static_cast<size_t>(memory)], 4);
        return at;
      });
      ASSERT_FALSE(shards) << print(layout) << ": " << cut.why();
    }
  }
  EXPECT_GT(cut_ones, random_layouts / 10);
  EXPECT_GT(refused, random_layouts / 10);
}

}  // namespace
}  // namespace axon::layout
