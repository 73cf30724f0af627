// Placements: where elements lie against loops that walk the digits, and the text.
#include "layout/placement.h"

#include "layout/evaluate.h"
#include "layout/strided.h"
#include "support.h"

namespace axon::layout {
namespace {

/// Digits of each axis in some order, what is left of it first.
Placement random_placement(Random& random, size_t rank) {
  Placement out;
  std::vector<std::vector<int64_t>> waiting(rank);
  size_t left = 0;
  for (auto& digits : waiting) {
    digits.push_back(0);
    for (int64_t i = random.number(0, 2); i > 0; --i) digits.push_back(random.number(0, 3) + 1);
    left += digits.size();
  }
  for (; left > 0; --left) {
    size_t axis = 0;
    do axis = static_cast<size_t>(random.number(0, static_cast<int64_t>(rank) - 1));
    while (waiting[axis].empty());
    out.digits.push_back({static_cast<uint32_t>(axis), waiting[axis].front()});
    waiting[axis].erase(waiting[axis].begin());
  }
  return out;
}

/// The index that stands at each position, those past the shape among them.
std::vector<std::vector<int64_t>> walked(const Placement& p, const std::vector<int64_t>& shape) {
  const auto multiples = multiples_of(p, shape.size());
  std::vector<std::vector<int64_t>> all{std::vector<int64_t>(shape.size(), 0)};
  for (const Placement::Digit& digit : p.digits) {
    const int64_t extent = digit.extent > 0
                               ? digit.extent
                               : (shape[digit.axis] + multiples[digit.axis] - 1) / multiples[digit.axis];
    std::vector<std::vector<int64_t>> next;
    for (const auto& index : all)
      for (int64_t i = 0; i < extent; ++i) {
        next.push_back(index);
        next.back()[digit.axis] = next.back()[digit.axis] * extent + i;
      }
    all = std::move(next);
  }
  return all;
}

TEST(Placement, PutsElementsWhereItsDigitsStand) {
  Random random(3);
  for (int round = 0; round < random_layouts; ++round) {
    const auto rank = static_cast<size_t>(random.number(0, 2) + 1);
    const Placement p = random_placement(random, rank);
    ASSERT_EQ(why_ill_formed(p, rank), std::nullopt) << print(p);
    std::vector<int64_t> shape;
    for (size_t a = 0; a < rank; ++a) shape.push_back(random.number(0, 5));
    const Shape dims(shape.begin(), shape.end());
    const auto all = walked(p, shape);
    ASSERT_EQ(*elements_of(p, dims).constant(), static_cast<int64_t>(all.size())) << print(p);
    const Shape padded = rounded_up(dims, multiples_of(p, rank));
    const Layout layout = layout_of(p, dims);
    for (size_t at = 0; at < all.size(); ++at) {
      const std::vector<Dim> index(all[at].begin(), all[at].end());
      ASSERT_EQ(*offset_of(p, dims, index).constant(), static_cast<int64_t>(at)) << print(p);
      ASSERT_EQ(*apply(layout, padded, index)[{}].constant(), static_cast<int64_t>(at)) << print(p);
    }
  }
}

TEST(Placement, OfSymbolicSizes) {
  const Dim k = shape::fresh_var("k"), n = shape::fresh_var("n"), i = shape::fresh_var("i"),
            j = shape::fresh_var("j");
  const Placement p = panels(2, 32);
  EXPECT_EQ(offset_of(p, {k, n}, {i, j}).str(), (floor_div(j, 32) * 32 * k + i * 32 + mod(j, 32)).str());
  EXPECT_EQ(elements_of(p, {k, n}), cdiv(n, 32) * 32 * k);
  EXPECT_EQ(offset_of({}, {k, n}, {i, j}), i * n + j);
}

TEST(Placement, IsReadBack) {
  Random random(4);
  for (int round = 0; round < random_layouts; ++round) {
    const Placement p = random_placement(random, static_cast<size_t>(random.number(0, 2) + 1));
    const std::string text = print(p) + " and more";
    std::string_view rest = text;
    ASSERT_EQ(parse_placement(rest), p) << text;
    EXPECT_EQ(rest, " and more");
  }
  EXPECT_EQ(print(panels(3, 32)), "(0, 2/32, 1, 2%32)");
  EXPECT_EQ(print(Placement{}), "()");
  EXPECT_EQ(print(Placement{{{0, 0}, {0, 2}, {1, 0}, {0, 4}}}), "(0/8, 0/4%2, 1, 0%4)");
}

TEST(Placement, OthersAreRefused) {
  for (const char* text :
       {"", "(", "1/32", "(1/32, 0)", "(1/32, 0, 1%31)", "(1%32, 0, 1/32)", "(0, 0)", "(1)", "(0%0)",
        "(0%-1)", "(0/9999999999999999999)", "(0/5000, 0%5000)", "(99)", "(0 1)"}) {
    std::string_view rest = text;
    EXPECT_EQ(parse_placement(rest), std::nullopt) << text;
    EXPECT_EQ(rest, text);
  }
  EXPECT_NE(why_ill_formed(panels(2, 32), 1), std::nullopt);
  EXPECT_NE(why_ill_formed(panels(2, 32), 3), std::nullopt);
}

TEST(Strided, HasOneStrideForEachAxis) {
  Names names;
  const auto strides = [&](std::string_view layout, std::vector<Dim> shape) {
    Axes axes;
    axes.add_mesh("mesh", {{"x", 4}});
    const auto found = strides_of(names.layout(layout, axes), shape);
    if (!found) return found.why();
    std::string out;
    for (const Dim& stride : *found) out += (out.empty() ? "" : " ") + stride.str();
    return out;
  };
  const Dim m = names("m"), n = names("n"), s = names("s");
  EXPECT_EQ(strides("S[(m,n):(1,m)]", {m, n}), "1 m");
  EXPECT_EQ(strides("S[(m,n):(s,1)] + 5@m", {m, n}), "s 1");
  EXPECT_EQ(strides("S[m*n:1]", {m, n}), "n 1");
  EXPECT_EQ(strides("S[(2,3,n):(3*n,n,1)]", {6, n}), "n 1");
  EXPECT_EQ(strides("S[(m,n):(-n,0)]", {m, n}), "-n 0");
  EXPECT_EQ(strides("S[(1,n):(7,2)]", {1, n}), "0 2");
  EXPECT_EQ(strides("S[]", {}), "");
  EXPECT_EQ(strides("S[(m,4,n):(4*n,1,4)]", {4 * m, n}), "axis 0 has no one stride");
  EXPECT_EQ(strides("S[(4,n):(1@x,1)]", {4, n}),
            "it places elements on the axis `x`, and this memory is that of one device");
  EXPECT_EQ(strides("S[n:1] + R[2:n]", {n}), "each element has several places");
  const auto rows = [](const Shape& shape, const std::vector<Dim>& steps) {
    return layout::is_row_major(layout::strided(shape, steps), shape);
  };
  EXPECT_TRUE(rows({m, n}, {n, Dim(1)}));
  EXPECT_TRUE(rows({Dim(1), n}, {s, Dim(1)}));
  EXPECT_FALSE(rows({m, n}, {s, Dim(1)}));
}

TEST(Placement, ThatIsStatedIsTheLayout) {
  const Placement p{{}, layout_of("S[(3,2):(5,-2)] + 2@m")};
  EXPECT_FALSE(p.is_row_major());
  EXPECT_EQ(*offset_of(p, {3, 2}, {2, 1}).constant(), 10);
  EXPECT_EQ(*elements_of(p, {3, 2}).constant(), 13);
  EXPECT_EQ(print(layout_of(p, {3, 2})), "S[(3,2):(5,-2)] + 2@m");
  EXPECT_EQ(multiples_of(p, 2), (std::vector<int64_t>{1, 1}));
}

}  // namespace
}  // namespace axon::layout
