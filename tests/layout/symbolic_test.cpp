// Operations on layouts of sizes: for all sizes that satisfy what the result needs, it is what the definition
// says.
#include "layout/canonical.h"
#include "layout/evaluate.h"
#include "layout/fuse.h"
#include "layout/group.h"
#include "layout/slice.h"
#include "layout/tile.h"
#include "shape/floor.h"
#include "support.h"

namespace axon::layout {
namespace {

/// Layouts and shapes of the sizes n and k, and values for them.
class Sizes {
 public:
  explicit Sizes(uint64_t seed) : random(seed) {}

  Dim extent() {
    static const char* const pool[] = {"2", "4", "8", "n", "k", "2*n", "4*k", "cdiv(n, 4)", "n / 2", "k*n"};
    return names.dim(pool[random.number(0, std::size(pool) - 1)]);
  }
  Shape shape() {
    Shape out;
    for (int64_t i = random.number(1, 3); i > 0; --i) out.push_back(extent());
    return out;
  }
  /// Row-major, or with other strides.
  Layout layout(const Shape& shape) {
    Layout out = row_major(shape);
    for (Iter& iter : out.shards)
      if (random.chance(30)) iter.stride = random.chance(50) ? extent() : random.number(-4, 8);
    if (random.chance(30)) out.replicas.push_back({random.number(1, 3), random.number(-3, 3), {}});
    if (random.chance(30)) add_offset(out, "m", random.chance(50) ? extent() : 4 * extent());
    return out;
  }
  /// The same size in other extents: neighbours joined, one cut by a number.
  Shape regrouped(Shape shape) {
    if (shape.size() > 1 && random.chance(50)) {
      shape[0] = shape[0] * shape[1];
      shape.erase(shape.begin() + 1);
    }
    if (random.chance(70)) {
      const size_t at = static_cast<size_t>(random.number(0, static_cast<int64_t>(shape.size()) - 1));
      const int64_t inner = int64_t{1} << random.number(1, 3);
      const Dim outer = shape::floor_div(shape[at], inner);
      shape[at] = inner;
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), outer);
    }
    return shape;
  }

  /// Visits a third of the values of the sizes that satisfy the facts and make layouts of all of these, of at
  /// most 400 elements.
  template <class Visit>
  int for_values(const Needs& facts, const std::vector<Layout>& layouts, const Visit& visit) {
    int visited = 0;
    for (const int64_t n : {1, 2, 3, 4, 8, 12})
      for (const int64_t k : {1, 2, 4, 5}) {
        if (random.chance(67)) continue;
        const shape::Assignment values = {
            {names.var("n"), n}, {names.var("k"), k}, {names.var("i"), random.number(0, 2)}};
        if (!std::all_of(facts.begin(), facts.end(),
                         [&](const shape::Fact& fact) { return shape::holds(fact, values) == true; }))
          continue;
        std::vector<Layout> numbers;
        for (const Layout& layout : layouts)
          if (const auto one = evaluate(layout, values)) numbers.push_back(*one);
        if (numbers.size() < layouts.size() || size_of(numbers[0]) > 400) continue;
        ++visited;
        visit(values, numbers);
      }
    return visited;
  }

  Random random;
  Names names;
};

TEST(Symbolic, GroupsAndCanonicalFormsKeepThePoints) {
  Sizes sizes(1);
  int compared = 0, with_needs = 0;
  for (int round = 0; round < random_layouts; ++round) {
    const Shape shape = sizes.shape();
    const Layout layout = sizes.layout(shape);
    const Outcome<Grouped> grouped = group(layout, sizes.regrouped(shape));
    if (!grouped) continue;
    compared += sizes.for_values(grouped.needs(), {layout, grouped->layout, canonical(layout)},
                                 [&](const shape::Assignment&, const std::vector<Layout>& numbers) {
                                   with_needs += !grouped.needs().empty();
                                   EXPECT_EQ(all_points(numbers[1]), all_points(numbers[0])) << print(layout);
                                   EXPECT_EQ(all_points(numbers[2]), all_points(numbers[0])) << print(layout);
                                 });
  }
  EXPECT_GT(compared, random_layouts / 10);
  EXPECT_GT(with_needs, random_layouts / 50);
}

TEST(Symbolic, SameIsTrueOrFalseOfNumbers) {
  Sizes sizes(2);
  int same_ones = 0, others = 0;
  for (int round = 0; round < random_layouts; ++round) {
    const Shape shape = sizes.shape();
    const Layout a = sizes.layout(shape);
    Layout b = a;
    if (const auto grouped = group(a, sizes.regrouped(shape))) b = grouped->layout;
    if (sizes.random.chance(50)) b.shards.back().stride = sizes.extent();
    const Needs facts = {shape::equal(sizes.names.dim("n % 4"), 0), shape::at_least(sizes.names("n"), 1),
                         shape::at_least(sizes.names("k"), 1)};
    const auto answer = same(a, b, facts);
    bool all = true;
    const int visited = sizes.for_values(facts, {a, b}, [&](const auto&, const std::vector<Layout>& numbers) {
      all &= all_points(numbers[0]) == all_points(numbers[1]);
    });
    if (visited == 0 || !answer) continue;
    // `false` is of some sizes, which need not be among those here.
    if (*answer) EXPECT_TRUE(all) << print(a) << " and " << print(b);
    (*answer ? same_ones : others) += 1;
  }
  EXPECT_GT(same_ones, random_layouts / 500);
  EXPECT_GT(others, random_layouts / 1000);
}

TEST(Symbolic, SlicesAreParts) {
  Sizes sizes(3);
  int compared = 0;
  for (int round = 0; round < random_layouts; ++round) {
    const Shape shape = sizes.shape();
    const Layout layout = sizes.layout(shape);
    std::vector<Range> ranges;
    for (const Dim& extent : shape) {
      const Dim width = int64_t{1} << sizes.random.number(0, 2);
      const bool whole = sizes.random.chance(50);
      ranges.push_back(whole ? Range{0, extent} : Range{sizes.names("i") * width, width});
    }
    const Outcome<Layout> part = slice(layout, shape, ranges);
    if (!part) continue;
    const auto visit = [&](const shape::Assignment& values, const std::vector<Layout>& numbers) {
      const auto at = [&](const Dim& dim) { return dim.evaluate(values).value(); };
      for (size_t axis = 0; axis < shape.size(); ++axis)
        if (at(ranges[axis].begin) + at(ranges[axis].extent) > at(shape[axis])) return;
      ++compared;
      for (int64_t y = 0; y < size_of(numbers[1]); ++y) {
        int64_t x = 0, below = 1, rest = y;
        for (size_t axis = shape.size(); axis-- > 0; rest /= at(ranges[axis].extent)) {
          x += (at(ranges[axis].begin) + rest % at(ranges[axis].extent)) * below;
          below *= at(shape[axis]);
        }
        ASSERT_EQ(plain_points(numbers[1], y), plain_points(numbers[0], x)) << print(layout);
      }
    };
    sizes.for_values(part.needs(), {layout, *part}, visit);
  }
  EXPECT_GT(compared, random_layouts / 10);
}

TEST(Symbolic, TilesAndVectorsComeApart) {
  Sizes sizes(4);
  int tilings = 0, vectors = 0;
  const AxisSplit rule{"m", "m", "v", 4};
  for (int round = 0; round < random_layouts; ++round) {
    const Shape shape = {sizes.extent()};
    const Layout layout = sizes.layout(shape);
    const Shaped inner{layout_of(sizes.random.chance(70) ? "S[4:1]" : "S[4:1] + R[2:1]"), {4}};
    if (const auto outer = outer_of_tile({layout, shape}, inner)) {
      const Outcome<Shaped> again = tile(*outer, inner);
      ASSERT_TRUE(again) << again.why();
      tilings += sizes.for_values(
          outer.needs(), {layout, again->layout}, [&](const auto&, const std::vector<Layout>& numbers) {
            EXPECT_EQ(all_points(numbers[1]), all_points(numbers[0])) << print(layout);
          });
    }
    if (const auto cut = split(layout, rule))
      vectors +=
          sizes.for_values(cut.needs(), {layout, *cut}, [&](const auto&, const std::vector<Layout>& numbers) {
            for (int64_t x = 0; x < size_of(numbers[0]); ++x) {
              PlainSet wanted;
              for (const Plain& at : plain_points(numbers[0], x))
                wanted.insert({shape::floor_quotient(at[0], 4), shape::floor_remainder(at[0], 4), 0});
              ASSERT_EQ(plain_points(numbers[1], x), wanted) << print(layout) << " became " << print(*cut);
            }
          });
  }
  EXPECT_GT(tilings, random_layouts / 100);
  EXPECT_GT(vectors, random_layouts / 20);
}

}  // namespace
}  // namespace axon::layout
