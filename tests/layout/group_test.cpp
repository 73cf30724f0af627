// Refinements, groups, permutations and fitted shards against enumeration.
#include "layout/group.h"

#include <fmt/format.h>

#include "layout/canonical.h"
#include "layout/evaluate.h"
#include "support.h"

namespace axon::layout {
namespace {

std::set<int64_t> boundaries(const std::vector<int64_t>& shape) {
  std::set<int64_t> out;
  int64_t below = 1;
  for (size_t i = shape.size(); i-- > 0;) out.insert(below *= shape[i]);
  out.insert(1);
  return out;
}

std::vector<int64_t> numbers(const Shape& shape) {
  std::vector<int64_t> out;
  for (const Dim& extent : shape) out.push_back(value(extent));
  return out;
}

/// All that begins in some shape, where each of these divides the next.
std::optional<std::set<int64_t>> joined_boundaries(const std::vector<std::vector<int64_t>>& shapes) {
  std::set<int64_t> all;
  for (const auto& shape : shapes) all.merge(boundaries(shape));
  int64_t before = 1;
  for (const int64_t at : all) {
    if (at % before != 0) return std::nullopt;
    before = at;
  }
  return all;
}

TEST(Refinement, IsTheCoarsest) {
  Random random(1);
  int refined = 0;
  for (int round = 0; round < random_layouts; ++round) {
    const int64_t size = random.number(1, 48);
    std::vector<std::vector<int64_t>> shapes;
    std::vector<Shape> given;
    for (int64_t i = random.number(1, 3); i > 0; --i) {
      shapes.push_back(random.shape(size));
      given.push_back(shape_of(shapes.back()));
    }
    const auto wanted = joined_boundaries(shapes);
    const Outcome<Shape> found = common_refinement(given);
    ASSERT_EQ(static_cast<bool>(found), wanted.has_value()) << found.why();
    if (!found) continue;
    ++refined;
    ASSERT_EQ(boundaries(numbers(*found)), *wanted);
    ASSERT_EQ(found->size() + 1, wanted->size());  // no ones
  }
  EXPECT_GT(refined, random_layouts / 4);
}

TEST(Refinement, SaysWhatItNeeds) {
  Names names;
  const auto of = [&](std::vector<const char*> first, std::vector<const char*> second) {
    Shape a, b;
    for (const char* text : first) a.push_back(names.dim(text));
    for (const char* text : second) b.push_back(names.dim(text));
    const Outcome<Shape> found = common_refinement({a, b});
    if (!found) return found.why();
    std::string out;
    for (const Dim& extent : *found) out += (out.empty() ? "" : ", ") + extent.str();
    return out + (found.needs().empty() ? "" : " if ") + text_of(found.needs());
  };
  EXPECT_EQ(of({"n", "k"}, {"n", "k"}), "n, k");
  EXPECT_EQ(of({"n", "k"}, {"n*k"}), "n, k");
  EXPECT_EQ(of({"cdiv(n, 32)*32"}, {"cdiv(n, 32)", "32"}), "cdiv(n, 32), 32");
  EXPECT_EQ(of({"k", "n"}, {"k", "n / 16", "16"}), "k, n / 16, 16 if n % 16 == 0");
  EXPECT_EQ(of({"n"}, {"8", "4"}), "8, 4 if n % 4 == 0; n / 4 == 8");
  EXPECT_EQ(of({"n", "1"}, {"k"}), "k if n == k");
  EXPECT_EQ(of({"n", "k"}, {"k", "n"}),
            "[n, k] and [k, n] have no common refinement: not all extents divide each other");
  EXPECT_EQ(of({"2", "3"}, {"3", "2"}),
            "[2, 3] and [3, 2] have no common refinement: not all extents divide each other");
  EXPECT_EQ(of({"2", "3"}, {"4"}), "the sizes of [2, 3] and [4] differ");
}

TEST(Group, CutsWithoutMovingAnything) {
  Random random(2);
  int grouped_ones = 0;
  for (int round = 0; round < random_layouts; ++round) {
    const Layout layout = random.layout();
    const std::vector<int64_t> shape = random.shape(size_of(layout));
    const Outcome<Grouped> grouped = group(layout, shape_of(shape));
    ASSERT_EQ(static_cast<bool>(grouped),
              joined_boundaries({numbers(extents(layout.shards)), shape}).has_value());
    if (!grouped) continue;
    ++grouped_ones;
    ASSERT_EQ(all_points(grouped->layout), all_points(layout)) << print(layout);
    for (size_t axis = 0; axis < shape.size(); ++axis)
      ASSERT_EQ(product(extents(grouped->of(axis))), Dim(shape[axis])) << print(layout);
  }
  EXPECT_GT(grouped_ones, random_layouts / 4);
}

TEST(Group, APanelIsAPlaceOfTheShapeRoundedUp) {
  Names names;
  const Layout panels = names.layout("S[(k,cdiv(n,32),32):(32,32*k,1)]");
  const Shape padded = rounded_up({names("k"), names("n")}, {1, 32});
  EXPECT_EQ(size(panels), product(padded));
  const Outcome<Grouped> grouped = group(panels, padded);
  ASSERT_TRUE(grouped);
  EXPECT_EQ(text_of(grouped.needs()), "");
  EXPECT_EQ(grouped->ends, (std::vector<size_t>{1, 3}));
}

TEST(Permute, MovesIndices) {
  Random random(4);
  int permuted = 0;
  for (int round = 0; round < random_layouts; ++round) {
    const Layout layout = random.layout();
    const std::vector<int64_t> shape = random.shape(size_of(layout));
    std::vector<size_t> order(shape.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (size_t i = 1; i < order.size(); ++i)
      std::swap(order[i], order[static_cast<size_t>(random.number(0, static_cast<int64_t>(i)))]);
    const Outcome<Layout> found = permute(layout, shape_of(shape), order);
    if (!found) continue;
    ++permuted;
    for (int64_t x = 0; x < size_of(layout); ++x) {
      std::vector<int64_t> index(shape.size());
      int64_t rest = x, y = 0;
      for (size_t i = shape.size(); i-- > 0; rest /= shape[i]) index[i] = rest % shape[i];
      for (const size_t axis : order) y = y * shape[axis] + index[axis];
      ASSERT_EQ(plain_points(*found, y), plain_points(layout, x)) << print(layout);
    }
  }
  EXPECT_GT(permuted, random_layouts / 4);
}

TEST(Fit, FindsTheShardsOfAMap) {
  Random random(5);
  for (int round = 0; round < random_layouts; ++round) {
    const Layout layout = random.layout();
    const Evaluator evaluator(layout);
    const auto shards = fit(size_of(layout), evaluator.axes(), [&](int64_t x) { return evaluator.base(x); });
    ASSERT_EQ(shards, canonical(layout).shards) << print(layout);
  }
  EXPECT_FALSE(fit(4, {"m"}, [](int64_t x) { return std::vector<int64_t>{x * x}; }));
  EXPECT_FALSE(fit(2, {"lane", "m"}, [](int64_t x) { return std::vector<int64_t>{x, x}; }));
  EXPECT_FALSE(fit(6, {"m"}, [](int64_t x) { return std::vector<int64_t>{x < 4 ? x : x + 1}; }));
}

}  // namespace
}  // namespace axon::layout
