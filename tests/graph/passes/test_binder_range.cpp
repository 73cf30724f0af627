// Which keys a mask leaves, as bounds, and what it says besides.
#include <gtest/gtest.h>

#include "graph/binder_range.h"
#include "support.h"

namespace axon::graph::testing {
namespace {

struct Mask {
  const char* name;
  const char* score;  ///< over row i < m, key k < n, of s = %0[i, k], lengths %1[m], i32 %2[m], u8 %3[m],
                      ///< sizes m, n, any integer w
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
    // An index that is converted to a narrow type wraps: the bound is one where it does not.
    {"i32", "select(i32({k}) < %2[i], %0[i, k], -inf)", "", "%2[i] where n - 1 <= 2147483647", false},
    {"i32_widened", "select({k} < i64(%2[i]), %0[i, k], -inf)", "", "i64(%2[i])", true},
    {"u8_from", "select(%3[i] <= u8({k}), %0[i, k], -inf)", "%3[i] where n - 1 <= 255", "", false},
    {"u8_that_fits", "select(u8({k % 7 + 3}) < %3[i], %0[i, k], -inf)", "", "", false},
    {"i32_backwards", "select(i32({i - k}) < %2[i], %0[i, k], -inf)",
     "i + 1 - %2[i] where -2147483648 <= i - n + 1, i <= 2147483647", "", false},
    {"u8_negative", "select(u8({k - i}) <= %3[i], %0[i, k], -inf)", "",
     "%3[i] + i + 1 where 0 <= -i, n - i - 1 <= 255", false},
    {"i32_twice", "select(i32({2*k}) < %2[i], %0[i, k], -inf)", "", "", false},
    {"i32_any", "select(i32({w + k}) < %2[i], %0[i, k], -inf)", "", "", false},
    {"i32_sum_that_wraps", "select(i32({k}) + %2[i] < i32(7), %0[i, k], -inf)", "", "", false},
    {"f32", "select(f32({k}) < f32(%2[i]), %0[i, k], -inf)", "", "", false},
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
    const auto load = [&](const Scalar& of) { return "%" + std::to_string(of.target.node.index) + "[i]"; };
    const std::string name = value.op == Op::load   ? load(value)
                             : value.op == Op::cast ? "i64(" + load(g.scalars[value.args[0]]) + ")"
                             : value.op == Op::sub
                                 ? "(" + index(value.args[0]) + " - " + index(value.args[1]) + ")"
                                 : index(d.value);
    const std::string plus = d.plus.str();
    std::string where;
    for (const Fact& fact : d.where) where += (where.empty() ? " where " : ", ") + fact.str();
    add((d.subtracted     ? plus + " - " + name
         : plus == "0"    ? name
         : plus[0] == '-' ? name + " - " + plus.substr(1)
                          : name + " + " + plus) +
        where);
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
  size w = scalar 4 integer
  fact 0 <= m
  fact 0 <= n
  input "s" argument f32[m, n]
  input "lengths" argument i64[m]
  input "narrow" argument i32[m]
  input "bytes" argument u8[m]
  input "w" scalar i64[] size w
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = input 3
  %4 = compute [i < m] { out f32[m] = proj(1, online(k < n; e, 1.0; )") +
                       mask.score + ")) }\n  result \"\" %4\n");
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

/// Of j < EXTENT where TYPE(j) < lengths.
TEST(BinderRange, NarrowIndicesThatDoNotWrap) {
  for (const auto& [extent, type, end, is_all] : {std::tuple("128", "i8", "%1[i]", true),
                                                  {"129", "i8", "%1[i] where 128 <= 127", false},
                                                  {"256", "u8", "%1[i]", true},
                                                  {"k", "u8", "%1[i]", true},
                                                  {"k", "i8", "%1[i] where k - 1 <= 127", false}}) {
    const std::string of = type;
    const Graph g = read(R"(graph "narrow"
  size m = axis 0 of 0 where m
  size k = axis 1 of 0 where k
  fact 0 <= m
  fact 0 <= k
  fact k <= 200
  input "x" argument f32[m, k]
  input "lengths" argument )" +
                         of + R"([m]
  %0 = input 0
  %1 = input 1
  %2 = compute [i < m] { out f32[m] = sum(j < )" +
                         extent + "; select(" + of + R"(({j}) < %1[i], 1.0, 0.0)) }
  result "" %2
)");
    const BinderRange range = binder_range(g, g.scalars[g.nodes[g.results[0].value.node].outputs[0].body], 0);
    EXPECT_EQ(text(g, range.end, range.end_by_data), end) << type << " " << extent;
    EXPECT_EQ(range.unmasked.valid(), is_all) << type << " " << extent;
  }
}

}  // namespace
}  // namespace axon::graph::testing
