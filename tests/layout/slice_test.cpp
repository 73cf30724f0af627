// Slices against enumeration: what one gives is right, and where none is given none exists.
#include "layout/slice.h"

#include "layout/group.h"
#include "support.h"

namespace axon::layout {
namespace {

/// Is there a layout of these places, in their order? By trying every inner extent, and every step on one
/// axis.
bool is_placeable(const std::vector<Plain>& places) {
  if (places.size() == 1) return true;
  for (size_t extent = 2; extent <= places.size(); ++extent) {
    if (places.size() % extent != 0) continue;
    Plain step{};
    int axes = 0;
    for (size_t i = 0; i < step.size(); ++i) axes += (step[i] = places[1][i] - places[0][i]) != 0;
    bool runs = axes <= 1;
    std::vector<Plain> outer;
    for (size_t x = 0; x < places.size() && runs; ++x) {
      Plain wanted = places[x - x % extent];
      for (size_t i = 0; i < step.size(); ++i) wanted[i] += static_cast<int64_t>(x % extent) * step[i];
      runs = places[x] == wanted;
      if (x % extent == 0) outer.push_back(places[x]);
    }
    if (runs && is_placeable(outer)) return true;
  }
  return false;
}

TEST(Slice, IsExactOrDoesNotExist) {
  Random random(1);
  int sliced = 0, refused = 0;
  for (int round = 0; round < random_layouts; ++round) {
    const std::vector<int64_t> extents = random.extents();
    const Layout layout = random.layout(extents);
    const std::vector<int64_t> shape = random.shape(size_of(layout));
    if (!group(layout, shape_of(shape))) continue;
    std::vector<Range> ranges;
    std::vector<int64_t> begins, counts;
    for (const int64_t extent : shape) {
      counts.push_back(random.number(1, extent));
      begins.push_back(random.number(0, extent - counts.back()));
      ranges.push_back({begins.back(), counts.back()});
    }
    std::vector<Plain> places;
    std::vector<PlainSet> points;
    for (int64_t y = 0; y < value(product(shape_of(counts))); ++y) {
      int64_t x = 0, below = 1, rest = y;
      for (size_t i = shape.size(); i-- > 0; rest /= counts[i]) {
        x += (begins[i] + rest % counts[i]) * below;
        below *= shape[i];
      }
      places.push_back(plain_place(layout, x));
      points.push_back(plain_points(layout, x));
    }
    const Outcome<Layout> found = slice(layout, shape_of(shape), ranges);
    if (found) {
      ++sliced;
      ASSERT_EQ(all_points(*found), points) << print(layout) << " became " << print(*found);
    } else {
      ++refused;
      ASSERT_FALSE(is_placeable(places)) << print(layout) << ": " << found.why();
    }
  }
  EXPECT_GT(sliced, random_layouts / 4);
  EXPECT_GT(refused, random_layouts / 100);
}

TEST(Slice, OfNumbers) {
  const Layout tiled = layout_of("S[(4,8,8,8):(512,8,64,1)]");
  const auto text = [&](const std::vector<Range>& ranges) {
    const auto found = slice(tiled, {32, 64}, ranges);
    return found ? print(*found) : found.why();
  };
  EXPECT_EQ(text({{8, 16}, {0, 64}}), "S[(2,8,8,8):(512,8,64,1)] + 512@m");
  EXPECT_EQ(text({{9, 3}, {8, 8}}), "S[(3,8):(8,1)] + 584@m");
  EXPECT_EQ(text({{4, 8}, {0, 64}}), "S[(2,4,8,8):(480,8,64,1)] + 32@m");
  EXPECT_EQ(text({{4, 12}, {0, 64}}), "axis 0: 12 elements from 4 on take unequal parts of runs of 8");
  EXPECT_EQ(text({{24, 9}, {0, 64}}), "9 elements from 24 on are not all in axis 0, which has 32");
  EXPECT_EQ(text({{-1, 2}, {0, 64}}), "2 elements from -1 on are not all in axis 0, which has 32");
}

TEST(Slice, OfSizes) {
  Names names;
  const Layout panels = names.layout("S[(k,cdiv(n,32),32):(32,32*k,1)]");
  const Shape shape = {names("k"), names.dim("cdiv(n, 32)*32")};
  const auto text = [&](const std::vector<Range>& ranges) {
    const auto found = slice(panels, shape, ranges);
    if (!found) return found.why();
    return print(*found) + (found.needs().empty() ? "" : " if ") + text_of(found.needs());
  };
  EXPECT_EQ(text({{0, names("k")}, {names.dim("64*j"), 64}}), "S[(k,2,32):(32,32*k,1)] + 64*k*j@m");
  EXPECT_EQ(text({{names("i"), 1}, {names.dim("8*j"), 8}}),
            "S[(1,8):(32,1)] + (32*k*(j / 4) + 32*i + 8*(j % 4))@m");
  EXPECT_EQ(text({{names("i"), 4}, {names("j"), names("c")}}),
            "S[(4,(c / 32),32):(32,32*k,1)] + (32*k*(j / 32) + 32*i)@m if c % 32 == 0; j % 32 == 0");
}

}  // namespace
}  // namespace axon::layout
