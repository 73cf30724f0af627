// Which axes go together, the meshes, and what makes a layout ill-formed.
#include "support.h"

namespace axon::layout {
namespace {

std::string unconnected(std::vector<Axis> axes, const Axes& known = {}) {
  return known.unconnected({axes.begin(), axes.end()}).value_or("");
}

TEST(Axes, AChainOfThreadsHasNoGap) {
  for (const std::vector<Axis>& axes : {std::vector<Axis>{"m"},
                                        {"lane"},
                                        {"lane", "m", "v"},
                                        {"warp", "lane"},
                                        {"warpgroup", "warp", "lane"},
                                        {"block", "warp", "lane"},
                                        {"block", "warpgroup", "warp", "lane"},
                                        {"block", "thread"},
                                        {"worker", "m"},
                                        {"gpu", "node", "block", "m"}})
    EXPECT_EQ(unconnected(axes), "") << axes.size() << " " << axes[0].name;
  EXPECT_EQ(unconnected({"block", "lane"}),
            "`block` and `lane` are not connected: neither counts within the other");
  EXPECT_EQ(unconnected({"warpgroup", "lane"}),
            "`lane` and `warpgroup` are not connected: neither counts within the other");
}

TEST(Axes, WhatIsTheFuseOfOthersDoesNotStandBesideThem) {
  EXPECT_EQ(unconnected({"thread", "warp"}),
            "`thread` and `warp` are not connected: neither counts within the other");
  EXPECT_EQ(unconnected({"block", "thread", "warp", "lane"}),
            "`thread` and `warp` both count all of a `block`");
}

TEST(Axes, MeshesAddAxes) {
  Axes axes;
  EXPECT_EQ(unconnected({"x"}, axes), "no axis is called `x`");
  EXPECT_TRUE(axes.add_mesh("grid", {{"x", 4}, {"y", 2}}));
  EXPECT_FALSE(axes.add_mesh("other", {{"x", 4}}));
  EXPECT_FALSE(axes.add_mesh("other", {{"lane", 4}}));
  EXPECT_FALSE(axes.add_mesh("other", {{"z", 4}, {"z", 4}}));
  EXPECT_TRUE(axes.add_mesh("line", {{"z", 4}}));
  EXPECT_EQ(unconnected({"x", "y", "m", "lane"}, axes), "");
  EXPECT_EQ(unconnected({"x", "z"}, axes), "`x` and `z` are axes of different meshes");
  EXPECT_EQ(unconnected({"gpu", "x"}, axes), "`gpu` and `x` are axes of different meshes");
  EXPECT_EQ(axes.find("x")->kind, AxisKind::device);
  EXPECT_EQ(axes.find("z")->mesh, "line");
}

TEST(Axes, TheWorkerIsWhatTheProcessorHas) {
  EXPECT_EQ(worker_axis(Processor::cpu), Axis("thread"));
  EXPECT_EQ(worker_axis(Processor::gpu), Axis("block"));
  const Layout place =
      renamed(layout_of("S[(8,4):(1@worker,1)] + 1@worker"), "worker", worker_axis(Processor::gpu));
  EXPECT_EQ(print(place), "S[(8,4):(1@block,1)] + 1@block");
}

TEST(Layouts, IllFormedOnesSayWhy) {
  const auto why = [](Layout layout) { return why_ill_formed(layout).value_or(""); };
  EXPECT_EQ(why({{{8, 4, "lane"}, {4, 1, "m"}}, {{2, 1, "lane"}}, {}}), "");
  EXPECT_EQ(why({{{0, 4, "m"}}, {}, {}}), "an extent is 0, and it has to be at least 1");
  EXPECT_EQ(why({{}, {{-2, 4, "m"}}, {}}), "an extent is -2, and it has to be at least 1");
  EXPECT_EQ(why({{{8, 4, "lane"}, {2, 4, "lane"}}, {}, {}}), "`lane` goes to 32, and there are 32 of it");
  EXPECT_EQ(why({{{8, 1, "warp"}}, {}, {}}), "");
  EXPECT_EQ(why({{{2, 1, "warpgroup"}, {8, 1, "warp"}}, {}, {}}), "`warp` goes to 7, and there are 4 of it");
  EXPECT_EQ(why({{{8, -1, "warp"}}, {}, {{"warp", 6}}}), "`warp` begins at -1, which is below 0");
  EXPECT_EQ(why({{{8, -1, "m"}}, {}, {}}), "");
  EXPECT_EQ(why({{{8, 1, "block"}, {8, 1, "lane"}}, {}, {}}),
            "`block` and `lane` are not connected: neither counts within the other");
}

TEST(Layouts, NumbersThatLeave64BitsAreIllFormed) {
  const int64_t large = int64_t{1} << 40;
  const auto why = [](Layout layout) { return why_ill_formed(layout).value_or(""); };
  EXPECT_EQ(why({{{large, 1, "m"}}, {}, {}}), "");
  EXPECT_EQ(why({{{large, 0, "m"}, {large, 1, "m"}}, {}, {}}), "it has more points than 64 bits count");
  EXPECT_EQ(why({{{large, large, "m"}}, {}, {}}), "coordinates of `m` leave 64 bits");
  EXPECT_EQ(why({{{2, INT64_MAX, "m"}}, {}, {{"m", 1}}}), "coordinates of `m` leave 64 bits");
  EXPECT_EQ(why({{{2, INT64_MAX, "m"}, {2, INT64_MIN + 1, "m"}}, {}, {}}),
            "coordinates of `m` leave 64 bits");
}

}  // namespace
}  // namespace axon::layout
