// Points, ends and injectivity against the definition.
#include "layout/evaluate.h"

#include "support.h"

namespace axon::layout {
namespace {

Point point_of(const std::map<Axis, Dim>& place) {
  Point out;
  for (const auto& [axis, at] : place) out[axis] = value(at);
  return out;
}

std::vector<Dim> dims(const std::vector<int64_t>& numbers) { return {numbers.begin(), numbers.end()}; }

TEST(Apply, TheCaseStudy) {
  const Layout layout = layout_of("S[(8,2,4,2):(4@lane,1@warp,1@lane,1)] + R[2:4@warp] + 5@warp");
  EXPECT_EQ(size_of(layout), 128);
  const int64_t x = value(flat_index({8, 16}, {7, 15}));
  EXPECT_EQ(points(layout, x),
            (std::set<Point>{{{"lane", 31}, {"warp", 6}, {"m", 1}}, {{"lane", 31}, {"warp", 10}, {"m", 1}}}));
  EXPECT_EQ(point_of(apply(layout, {8, 16}, {7, 15})), (Point{{"lane", 31}, {"warp", 6}, {"m", 1}}));
}

TEST(Apply, IsTheDefinition) {
  Random random(1);
  for (int round = 0; round < random_layouts; ++round) {
    const Layout layout = random.layout();
    const Shape shape = shape_of(random.shape(size_of(layout)));
    for (int64_t x = 0; x < size_of(layout); ++x) {
      PlainSet found;
      for (const Point& point : points(layout, x)) {
        Plain at{};
        for (const auto& [axis, coordinate] : point) at[plain_axis(axis)] = coordinate;
        found.insert(at);
      }
      ASSERT_EQ(found, plain_points(layout, x)) << print(layout) << " at " << x;
    }
    const int64_t x = random.number(0, size_of(layout) - 1);
    Plain at{};
    for (const auto& [axis, coordinate] : apply(layout, x)) at[plain_axis(axis)] = value(coordinate);
    ASSERT_EQ(at, plain_place(layout, x)) << print(layout);
    std::vector<int64_t> index(shape.size());
    int64_t rest = x;
    for (size_t i = shape.size(); i-- > 0; rest /= value(shape[i])) index[i] = rest % value(shape[i]);
    ASSERT_EQ(value(flat_index(shape, dims(index))), x);
    ASSERT_EQ(apply(layout, shape, dims(index)), apply(layout, x)) << print(layout);
  }
}

TEST(Apply, IndicesOfGroupedAxesAreNotFlattened) {
  Names names;
  const Layout panels = names.layout("S[(k,cdiv(n,32),32):(32,32*k,1)]");
  const auto place = apply(panels, {names("k"), names.dim("cdiv(n, 32)*32")}, {names("i"), names("j")});
  EXPECT_EQ(place.at("m"), names.dim("32*i + 32*k*(j / 32) + j % 32"));
  const Layout row_major = names.layout("S[n,k]");
  EXPECT_EQ(apply(row_major, {names("n"), names("k")}, {names("i"), names("j")}).at("m"),
            names.dim("i*k + j"));
}

TEST(Apply, SymbolicPlacesHaveTheValuesOfNumbers) {
  Names names;
  const Layout layout = names.layout("S[(n,cdiv(k,8),8):(8,8*n,-1)] + R[2:n*k] + 7@m");
  for (int64_t n = 1; n <= 3; ++n)
    for (int64_t k = 1; k <= 17; k += 4) {
      const shape::Assignment values = {{names.var("n"), n}, {names.var("k"), k}};
      const auto numbers = evaluate(layout, values);
      ASSERT_TRUE(numbers);
      EXPECT_EQ(*numbers, substitute(layout, {{names.var("n"), n}, {names.var("k"), k}}));
      for (int64_t x = 0; x < size_of(*numbers); ++x)
        EXPECT_EQ(apply(layout, x).at("m").evaluate(values), plain_place(*numbers, x)[0]);
    }
  EXPECT_FALSE(evaluate(layout, {{names.var("n"), 2}}));
  EXPECT_FALSE(evaluate(layout, {{names.var("n"), INT64_MAX}, {names.var("k"), 2}}));
}

TEST(Span, EndsArePoints) {
  Random random(2);
  for (int round = 0; round < random_layouts; ++round) {
    const Layout layout = random.layout();
    std::map<Axis, std::pair<int64_t, int64_t>> wanted;
    for (const PlainSet& set : all_points(layout))
      for (const Plain& at : set)
        for (const Axis& axis : axes_of(layout)) {
          const int64_t c = at[plain_axis(axis)];
          auto& [low, high] = wanted.try_emplace(axis, c, c).first->second;
          low = std::min(low, c);
          high = std::max(high, c);
        }
    std::map<Axis, std::pair<int64_t, int64_t>> found;
    for (const auto& [axis, span] : spans(layout)) found[axis] = {value(span.low), value(span.high)};
    ASSERT_EQ(found, wanted) << print(layout);
    for (const auto& [axis, ends] : wanted)
      ASSERT_EQ(value(span_on(layout, axis)), ends.second - ends.first + 1) << print(layout);
  }
}

TEST(Span, OfPlacesIsAFormula) {
  Names names;
  const Layout place = names.layout("S[(k,cdiv(n,32),32):(32,32*k,1)] + R[2:-s]");
  const std::vector<shape::Fact> facts = {shape::at_least(names("k"), 1), shape::at_least(names("s"), 0)};
  const Span span = spans(place, facts).at("m");
  EXPECT_EQ(span.low, names.dim("-s"));
  EXPECT_EQ(span.high, names.dim("32*k*cdiv(n, 32) - 1"));
}

TEST(Injective, IsThatNoTwoElementsMeet) {
  Random random(3);
  int injective_ones = 0;
  for (int round = 0; round < random_layouts; ++round) {
    const Layout layout = random.layout();
    std::map<Plain, int64_t> holder;
    bool wanted = true;
    const std::vector<PlainSet> sets = all_points(layout);
    for (size_t x = 0; x < sets.size(); ++x)
      for (const Plain& at : sets[x])
        wanted &= holder.try_emplace(at, x).first->second == static_cast<int64_t>(x);
    injective_ones += wanted;
    ASSERT_EQ(injective(layout), wanted) << print(layout);
  }
  EXPECT_GT(injective_ones, random_layouts / 10);
}

TEST(Injective, OfSizesByFacts) {
  Names names;
  const std::vector<shape::Fact> facts = {shape::at_least(names("k"), 1), shape::at_least(names("n"), 1)};
  EXPECT_EQ(injective(names.layout("S[(n,k):(k,1)]"), facts), true);
  EXPECT_EQ(injective(names.layout("S[(n,k):(1,n)]"), facts), true);
  EXPECT_EQ(injective(names.layout("S[(k,cdiv(n,32),32):(32,32*k,1)]"), facts), true);
  EXPECT_EQ(injective(names.layout("S[(n,k):(s,1)]"), facts), std::nullopt);
  std::vector<shape::Fact> more = facts;
  more.push_back(shape::at_least(names("s"), names("k")));
  EXPECT_EQ(injective(names.layout("S[(n,k):(s,1)]"), more), true);
  EXPECT_EQ(injective(names.layout("S[(n,4):(k,0)]"), facts), false);
  EXPECT_EQ(injective(names.layout("S[(n,k):(k,0)]"), facts), std::nullopt);
  EXPECT_EQ(injective(names.layout("S[(n,k):(k,0)]"), {shape::at_least(names("k"), 2)}), false);
}

TEST(Injective, LargeTensorsNeedNoCounting) {
  EXPECT_EQ(injective(layout_of("S[1048576,1048576,64]")), true);
  EXPECT_EQ(injective(layout_of("S[(4194304,2):(3,3)]")), std::nullopt);
}

}  // namespace
}  // namespace axon::layout
