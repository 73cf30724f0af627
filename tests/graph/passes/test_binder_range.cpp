// Which keys a mask leaves, as bounds, and what it says besides.
#include <gtest/gtest.h>

#include "graph/binder_range.h"
#include "support.h"

namespace axon::graph::testing {
namespace {

struct Mask {
  const char* name;
  const char*
      score;        ///< over row i < m, key k < n, of s = %0[i, k], lengths %1[m], sizes m, n, any integer w
  const char* low;  ///< bounds, separated by `; `
  const char* end;
  bool whole;  ///< the range is all that the mask says
};

const Mask masks[] = {
    {"none", "%0[i, k]", "", "", true},
    {"causal", "select({k} <= {i}, %0[i, k], -inf)", "", "i + 1", true},
    {"exchanged", "select({i} < {k}, -inf, %0[i, k])", "", "i + 1", true},
    {"negated", "select(not({i} < {k}), %0[i, k], -inf)", "", "i + 1", true},
    {"window", "select({k} <= {i} && {i} < {k + 4}, %0[i, k], -inf)", "i - 3", "i + 1", true},
    {"outside", "select({i} < {k} || {k + 4} <= {i}, -inf, %0[i, k])", "i - 3", "i + 1", true},
    {"nested", "select({k} <= {i}, select({i} < {k + 4}, %0[i, k], -inf), -inf)", "i - 3", "i + 1", true},
    {"diagonal", "select({k} == {i}, %0[i, k], -inf)", "i", "i + 1", true},
    {"not_unequal", "select({k} != {i}, -inf, %0[i, k])", "i", "i + 1", true},
    {"backwards", "select({n - k} < {i}, %0[i, k], -inf)", "n - i + 1", "", true},
    {"every_third", "select({3*k} <= {i + 1} && {i} <= {3*k}, %0[i, k], -inf)", "cdiv(i, 3)",
     "(i + 1) / 3 + 1", true},
    {"lengths", "select({k} < %1[i], %0[i, k], -inf)", "", "%1[i]", true},
    {"from_lengths", "select(%1[i] <= {k + i}, %0[i, k], -inf)", "%1[i] - i", "", true},
    // The data is looked at only where what stands before holds: no bound, but what stands before is one.
    {"guarded_lengths", "select({k} <= {i} && {k} < %1[i], %0[i, k], -inf)", "", "i + 1", false},
    {"lengths_first", "select({k} < %1[i] && {k} <= {i}, %0[i, k], -inf)", "", "%1[i]; i + 1", true},
    // Windows of any width: the bound may leave i64.
    {"width", "select({k} <= {i} && {i - k} < {w}, %0[i, k], -inf)", "i + 1 - {w}", "i + 1", true},
    {"width_by_value", "select({k} <= {i} && {i} - {w} < {k}, %0[i, k], -inf)", "({i} - {w}) + 1", "i + 1",
     true},
    {"width_that_wraps", "select({k} <= {i} && {i} < {k} + {w}, %0[i, k], -inf)", "i + 1 - {w}", "i + 1",
     false},
    {"width_backwards", "select({w} <= {i - k}, %0[i, k], -inf)", "", "i + 1 - {w}", true},
    {"width_ahead", "select({k - i} < {w}, %0[i, k], -inf)", "", "{w} + i", true},
    {"difference_that_wraps", "select({i} <= {k + 1} - {w}, %0[i, k], -inf)", "{w} + i - 1", "", false},
    {"on_both_sides", "select({i + k} < {k} + {w}, %0[i, k], -inf)", "", "", false},
    {"less_that_wraps", "select({k} + {w} <= {i}, %0[i, k], -inf)", "", "", false},
    {"wraps_below", "select({i} < {w} - {k}, %0[i, k], -inf)", "", "", false},
    {"unequal", "select({k} == {i}, -inf, %0[i, k])", "", "", false},
    {"or", "select({k} <= {i} || {k} < {4}, %0[i, k], -inf)", "", "", false},
    {"of_the_score", "select({k} <= {i} && 0.0 < %0[i, k], %0[i, k], -inf)", "", "i + 1", false},
    {"not_linear", "select({k*k} <= {i}, %0[i, k], -inf)", "", "", false},
    {"other_number", "select({k} <= {i}, %0[i, k], -1000.0)", "", "", true},
    {"added", "%0[i, k] + select({k} <= {i}, 0.0, -inf)", "", "", true},
};

std::string text(const Graph& g, const std::vector<Dim>& dims, const std::vector<BinderRange::Data>& data) {
  std::string all;
  const auto add = [&](const std::string& bound) { all += (all.empty() ? "" : "; ") + bound; };
  for (const auto& d : data) {
    const Scalar& value = g.scalars[d.value];
    const auto index = [&](ScalarId id) { return "{" + affine_index(g, id)->str() + "}"; };
    const std::string name = value.op == Op::load ? "%1[i]"
                             : value.op == Op::sub
                                 ? "(" + index(value.args[0]) + " - " + index(value.args[1]) + ")"
                                 : index(d.value);
    const std::string plus = d.plus.str();
    add(d.subtracted     ? plus + " - " + name
        : plus == "0"    ? name
        : plus[0] == '-' ? name + " - " + plus.substr(1)
                         : name + " + " + plus);
  }
  for (const Dim& d : dims) add(d.str());
  return all;
}

class MaskOf : public ::testing::TestWithParam<Mask> {};

TEST_P(MaskOf, BoundsTheKeys) {
  const Mask& mask = GetParam();
  const Graph g = read(std::string(R"(graph "mask"
  size m = axis 0 of 0 where m
  size n = axis 1 of 0 where n
  size w = scalar 2 integer
  fact 0 <= m
  fact 0 <= n
  input "s" argument f32[m, n]
  input "lengths" argument i64[m]
  input "w" scalar i64[] size w
  %0 = input 0
  %1 = input 1
  %2 = compute [i < m] { out f32[m] = proj(1, online(k < n; e, 1.0; )") +
                       mask.score + ")) }\n  result \"\" %2\n");
  const Scalar& projection = g.scalars[g.nodes[g.results[0].value.node].outputs[0].body];
  const BinderRange range = binder_range(g, g.scalars[projection.args[0]], 0);
  EXPECT_EQ(text(g, range.low, range.low_by_data), mask.low);
  EXPECT_EQ(text(g, range.end, range.end_by_data), mask.end);
  EXPECT_EQ(range.unmasked.valid(), mask.whole);
}
INSTANTIATE_TEST_SUITE_P(Masks, MaskOf, ::testing::ValuesIn(masks),
                         [](const auto& info) { return std::string(info.param.name); });

/// The range of binder number `binder` of a reduction over i < m and j < n.
BinderRange range_of(const std::string& reduction, size_t binder, Graph& g) {
  g = read(std::string(R"(graph "sums"
  size m = axis 0 of 0 where m
  size n = axis 1 of 0 where n
  fact 0 <= m
  fact 0 <= n
  input "x" argument f32[m, n]
  %0 = input 0
  %1 = compute [] { out f32[] = )") +
           reduction + " }\n  result \"\" %1\n");
  return binder_range(g, g.scalars[g.nodes[g.results[0].value.node].outputs[0].body], binder);
}

TEST(BinderRange, OfEachBinderAndMonoid) {
  Graph g;
  const std::string triangle = "(i < m, j < n; select({j} <= {i}, %0[i, j], ";
  BinderRange range = range_of("sum" + triangle + "0.0))", 1, g);
  EXPECT_EQ(text(g, range.end, {}), "i + 1");
  EXPECT_TRUE(range.unmasked.valid());
  range = range_of("sum" + triangle + "0.0))", 0, g);
  EXPECT_EQ(text(g, range.low, {}), "j");
  EXPECT_TRUE(range_of("sum" + triangle + "1.0))", 1, g).empty());
  EXPECT_EQ(text(g, range_of("prod" + triangle + "1.0))", 1, g).end, {}), "i + 1");
  EXPECT_EQ(text(g, range_of("max" + triangle + "-inf))", 1, g).end, {}), "i + 1");
  EXPECT_TRUE(range_of("max" + triangle + "inf))", 1, g).empty());
  EXPECT_EQ(text(g, range_of("min" + triangle + "inf))", 1, g).end, {}), "i + 1");
}

}  // namespace
}  // namespace axon::graph::testing
