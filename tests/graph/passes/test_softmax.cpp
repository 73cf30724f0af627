// softmax and its relatives become one online reduction, in whatever way they are written.
#include <gtest/gtest.h>

#include "support.h"

namespace axon::graph::testing {
namespace {

const char* const head = R"(graph "softmax"
  size m = axis 0 of 0 where m
  size n = axis 1 of 0 where n
  size d = axis 1 of 1 where d
  fact 0 <= m
  fact 0 <= n
  fact 0 <= d
  input "s" argument f32[m, n]
  input "v" argument f32[n, d]
  %0 = input 0
  %1 = input 1
)";

struct Variant {
  const char* name;
  const char* nodes;   ///< from %2 on
  const char* expect;  ///< a part of the result
};

/// softmax(s) @ v in many spellings; each must become one node.
const Variant contractions[] = {
    {"normalised_first", R"(
  %2 = compute "m" [i < m] { out f32[m] = max(k < n; %0[i, k]) }
  %3 = compute "e" [i < m, k < n] { out f32[m, n] = exp(%0[i, k] - %2[i]) }
  %4 = compute "l" [i < m] { out f32[m] = sum(k < n; %3[i, k]) }
  %5 = compute "p" [i < m, k < n] { out f32[m, n] = %3[i, k] / %4[i] }
  %6 = compute "a" [i < m, j < d] { out f32[m, d] = sum(k < n; %5[i, k] * %1[k, j]) }
  result "" %6)",
     "online(k < n; e, 1.0; %0[i, k], %1[k, j])"},
    {"normalised_last", R"(
  %2 = compute "m" [i < m] { out f32[m] = max(k < n; %0[i, k]) }
  %3 = compute "shifted" [i < m, k < n] { out f32[m, n] = %0[i, k] - %2[i] }
  %4 = compute "e" [i < m, k < n] { out f32[m, n] = exp(%3[i, k]) }
  %5 = compute "l" [i < m] { out f32[m] = sum(k < n; %4[i, k]) }
  %6 = compute "a" [i < m, j < d] { out f32[m, d] = sum(k < n; %1[k, j] * %4[i, k]) }
  %7 = compute "o" [i < m, j < d] { out f32[m, d] = %6[i, j] / %5[i] }
  result "" %7)",
     "online(k < n; e, 1.0; %0[i, k], %1[k, j])"},
    {"base_two", R"(
  %2 = compute [i < m, k < n] { out f32[m, n] = %0[i, k] * 1.4426950408889634 }
  %3 = compute [i < m] { out f32[m] = max(k < n; %2[i, k]) }
  %4 = compute [i < m, k < n] { out f32[m, n] = exp2(%2[i, k] - %3[i]) }
  %5 = compute [i < m] { out f32[m] = sum(k < n; %4[i, k]) }
  %6 = compute [i < m, j < d] { out f32[m, d] = sum(k < n; %4[i, k] / %5[i] * %1[k, j]) }
  result "" %6)",
     "online(k < n; 2, 1.0; %0[i, k] * 1.4426950408889634, %1[k, j])"},
    {"scale_outside", R"(
  %2 = compute [i < m] { out f32[m] = max(k < n; %0[i, k]) }
  %3 = compute [i < m, k < n] { out f32[m, n] = exp((%0[i, k] - %2[i]) * 0.125) }
  %4 = compute [i < m] { out f32[m] = sum(k < n; %3[i, k]) }
  %5 = compute [i < m, k < n] { out f32[m, n] = %3[i, k] / %4[i] }
  %6 = compute [i < m, j < d] { out f32[m, d] = sum(k < n; %5[i, k] * %1[k, j]) }
  result "" %6)",
     "online(k < n; e, 0.125; %0[i, k], %1[k, j])"},
    {"scale_inside", R"(
  %2 = compute [i < m, k < n] { out f32[m, n] = %0[i, k] / 8.0 }
  %3 = compute [i < m] { out f32[m] = max(k < n; %2[i, k]) }
  %4 = compute [i < m, k < n] { out f32[m, n] = exp(%0[i, k] * 0.125 - %3[i]) }
  %5 = compute [i < m] { out f32[m] = sum(k < n; %4[i, k]) }
  %6 = compute [i < m, k < n] { out f32[m, n] = %4[i, k] / %5[i] }
  %7 = compute [i < m, j < d] { out f32[m, d] = sum(k < n; %6[i, k] * %1[k, j]) }
  result "" %7)",
     "online(k < n; e, 1.0; %0[i, k] / 8.0, %1[k, j])"},
    {"masked", R"(
  %2 = compute "mask" [i < m, k < n] { out bool[m, n] = {k} <= {i} }
  %3 = compute [i < m, k < n] { out f32[m, n] = select(%2[i, k], %0[i, k], -inf) }
  %4 = compute [i < m] { out f32[m] = max(k < n; %3[i, k]) }
  %5 = compute [i < m, k < n] { out f32[m, n] = exp(%3[i, k] - %4[i]) }
  %6 = compute [i < m] { out f32[m] = sum(k < n; %5[i, k]) }
  %7 = compute [i < m, k < n] { out f32[m, n] = %5[i, k] / %6[i] }
  %8 = compute [i < m, j < d] { out f32[m, d] = sum(k < n; %7[i, k] * %1[k, j]) }
  result "" %8)",
     "online(k < n; e, 1.0; select({k} <= {i}, %0[i, k], -inf), %1[k, j])"},
    {"fully_masked_rows", R"(
  %2 = compute [i < m, k < n] { out f32[m, n] = select({k} < {i}, %0[i, k], -inf) }
  %3 = compute [i < m] { out f32[m] = max(k < n; %2[i, k]) }
  %4 = compute [i < m, k < n] { out f32[m, n] = exp(%2[i, k] - %3[i]) }
  %5 = compute [i < m] { out f32[m] = sum(k < n; %4[i, k]) }
  %6 = compute [i < m, j < d] { out f32[m, d] = sum(k < n; %4[i, k] * %1[k, j]) }
  %7 = compute [i < m, j < d] { out f32[m, d] = %6[i, j] / %5[i] }
  result "" %7)",
     "online(k < n; e, 1.0; select({k} < {i}, %0[i, k], -inf), %1[k, j])"},
    {"masked_rows_zero", R"(
  %2 = compute [i < m, k < n] { out f32[m, n] = select({k} < {i}, %0[i, k], -inf) }
  %3 = compute [i < m] { out f32[m] = max(k < n; %2[i, k]) }
  %4 = compute [i < m] { out bool[m] = %3[i] == -inf }
  %5 = compute [i < m] { out f32[m] = select(%4[i], 0.0, %3[i]) }
  %6 = compute [i < m, k < n] { out f32[m, n] = exp(%2[i, k] - %5[i]) }
  %7 = compute [i < m] { out f32[m] = sum(k < n; %6[i, k]) }
  %8 = compute [i < m] { out f32[m] = select(%7[i] == 0.0, 1.0, %7[i]) }
  %9 = compute [i < m, k < n] { out f32[m, n] = %6[i, k] / %8[i] }
  %10 = compute [i < m, j < d] { out f32[m, d] = sum(k < n; %9[i, k] * %1[k, j]) }
  result "" %10)",
     "online(k < n; e, 1.0, or_zero; select({k} < {i}, %0[i, k], -inf), %1[k, j])"},
    {"masked_rows_zero_otherwise", R"(
  %2 = compute [i < m] { out f32[m] = max(k < n; select({k} < {i}, %0[i, k], -inf)) }
  %3 = compute [i < m, k < n] { out f32[m, n] = exp2((select({k} < {i}, %0[i, k], -inf) - select(-inf != %2[i], %2[i], 0.0)) * 0.5) }
  %4 = compute [i < m] { out f32[m] = sum(k < n; %3[i, k]) }
  %5 = compute [i < m, j < d] { out f32[m, d] = sum(k < n; %3[i, k] * %1[k, j]) }
  %6 = compute [i < m, j < d] { out f32[m, d] = select(0.0 < %4[i], %5[i, j] / %4[i], %2[i]) }
  result "" %6)",
     "online(k < n; 2, 0.5, or_zero; select({k} < {i}, %0[i, k], -inf), %1[k, j])"},
    {"capped_and_transposed", R"(
  %2 = compute [k < n, i < m] { out f32[n, m] = tanh(%0[i, k] / 30.0) * 30.0 }
  %3 = compute [i < m] { out f32[m] = max(k < n; %2[k, i]) }
  %4 = compute [k < n, i < m] { out f32[n, m] = exp(%2[k, i] - %3[i]) }
  %5 = compute [i < m] { out f32[m] = sum(k < n; %4[k, i]) }
  %6 = compute [j < d, i < m] { out f32[d, m] = sum(k < n; %4[k, i] / %5[i] * (%1[k, j] * 2.0)) }
  result "" %6)",
     "online(k < n; e, 1.0; tanh(%0[i, k] / 30.0) * 30.0, %1[k, j])"},
};

class Contraction : public ::testing::TestWithParam<Variant> {};

TEST_P(Contraction, IsOneOnlineNode) {
  Graph before = read(head + std::string(GetParam().nodes) + "\n");
  Graph after = before;
  run(after, "whole");
  std::string text = print(after);
  EXPECT_EQ(compute_nodes(after), 1) << text;
  EXPECT_TRUE(contains(text, GetParam().expect)) << text;
  EXPECT_GE(expect_same_meaning(before, after, 5), 8);
}
INSTANTIATE_TEST_SUITE_P(Softmax, Contraction, ::testing::ValuesIn(contractions),
                         [](const auto& info) { return std::string(info.param.name); });

struct Alone {
  const char* name;
  const char* nodes;
  int count;  ///< compute nodes left
  const char* expect;
};

const Alone alone[] = {
    {"softmax", R"(
  %2 = compute "m" [i < m] { out f32[m] = max(k < n; %0[i, k]) }
  %3 = compute "e" [i < m, k < n] { out f32[m, n] = exp(%0[i, k] - %2[i]) }
  %4 = compute "l" [i < m] { out f32[m] = sum(k < n; %3[i, k]) }
  %5 = compute "p" [i < m, k < n] { out f32[m, n] = %3[i, k] / %4[i] }
  result "" %5)",
     1, "out f32[m, n] = exp(%0[i, k] - $0[i]) / $1[i]"},
    {"log_sum_exp", R"(
  %2 = compute "m" [i < m] { out f32[m] = max(k < n; %0[i, k]) }
  %3 = compute "e" [i < m, k < n] { out f32[m, n] = exp(%0[i, k] - %2[i]) }
  %4 = compute "l" [i < m] { out f32[m] = sum(k < n; %3[i, k]) }
  %5 = compute "lse" [i < m] { out f32[m] = %2[i] + log(%4[i]) }
  result "" %5)",
     1, "proj(0, (t0 := online(k < n; e, 1.0; %0[i, k]))) + log(proj(1, t0))"},
    {"sum_only", R"(
  %2 = compute "m" [i < m] { out f32[m] = max(k < n; %0[i, k]) }
  %3 = compute "l" [i < m] { out f32[m] = sum(k < n; exp(%0[i, k] - %2[i])) }
  result "" %3)",
     1, "out f32[m] = proj(1, online(k < n; e, 1.0; %0[i, k]))"},
    {"transposed_sum", R"(
  %2 = compute "m" [j < d, i < m] { out f32[d, m] = max(k < n; %0[i, k] * %1[k, j]) }
  %3 = compute "l" [i < m, j < d] { out f32[m, d] = sum(k < n; exp(%0[i, k] * %1[k, j] - %2[j, i])) }
  result "m" %2
  result "l" %3)",
     1, "out f32[m, d] at [i, j] = proj(1, "},
    {"other_maximum", R"(
  %2 = compute "m" [i < m] { out f32[m] = max(k < n; %0[i, k] * 2.0) }
  %3 = compute "l" [i < m] { out f32[m] = sum(k < n; exp(%0[i, k] - %2[i])) }
  result "" %3)",
     1, "sum(k < n; exp(%0[i, k] - "},
    {"other_number_than_zero", R"(
  %2 = compute "m" [i < m] { out f32[m] = max(k < n; %0[i, k]) }
  %3 = compute "l" [i < m] { out f32[m] = sum(k < n; exp(%0[i, k] - select(%2[i] == -inf, 1.0, %2[i]))) }
  result "" %3)",
     1, "sum(k < n; exp("},
    {"zero_for_other_maxima", R"(
  %2 = compute "m" [i < m] { out f32[m] = max(k < n; %0[i, k]) }
  %3 = compute "l" [i < m] { out f32[m] = sum(k < n; exp(%0[i, k] - select(%2[i] == inf, 0.0, %2[i]))) }
  result "" %3)",
     1, "sum(k < n; exp("},
    {"unrelated_maximum", R"(
  %2 = compute "m" [i < m] { out f32[m] = max(k < n; %0[i, k] * %0[i, k]) }
  %3 = compute "a" [i < m, j < d] { out f32[m, d] = sum(k < n; exp(%0[i, k] - %2[i]) * %1[k, j]) }
  result "" %3)",
     3, "out f32[m, n] = exp("},  // a product, whose left operand is stored and whose right one is packed
    {"negative_scale", R"(
  %2 = compute "m" [i < m] { out f32[m] = max(k < n; %0[i, k]) }
  %3 = compute "l" [i < m] { out f32[m] = sum(k < n; exp((%0[i, k] - %2[i]) * -0.5)) }
  result "" %3)",
     1, "sum(k < n; exp("},
};

class WithoutContraction : public ::testing::TestWithParam<Alone> {};

TEST_P(WithoutContraction, Merges) {
  Graph before = read(head + std::string(GetParam().nodes) + "\n");
  Graph after = before;
  run(after, "whole");
  std::string text = print(after);
  EXPECT_EQ(compute_nodes(after), GetParam().count) << text;
  EXPECT_TRUE(contains(text, GetParam().expect)) << text;
  EXPECT_GE(expect_same_meaning(before, after, 5), 8);
}
INSTANTIATE_TEST_SUITE_P(Softmax, WithoutContraction, ::testing::ValuesIn(alone),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Softmax, WeightsAsTheirOwnValuesDoNotNest) {
  Graph before = read(head + std::string(R"(
  %2 = compute [i < m] { out f32[m] = max(k < n; %0[i, k]) }
  %3 = compute [i < m, k < n] { out f32[m, n] = exp(%0[i, k] - %2[i]) }
  %4 = compute [i < m] { out f32[m] = sum(k < n; %3[i, k]) }
  %5 = compute [i < m] { out f32[m] = sum(k < n; %3[i, k] * %3[i, k]) }
  result "l" %4
  result "squares" %5
)"));
  Graph after = before;
  run(after, "whole");  // run() fails when verify() finds a reduction inside a reduction
  EXPECT_TRUE(contains(print(after), "proj(2, ")) << print(after);
  EXPECT_GE(expect_same_meaning(before, after, 5), 8);
}

TEST(Softmax, NamesAndIntermediateFunctionsDoNotMatter) {
  Graph one = read(head + std::string(R"(
  %2 = compute "a" [i < m] { out f32[m] = max(k < n; %0[i, k]) }
  %3 = compute "b" [i < m, k < n] { out f32[m, n] = exp(%0[i, k] - %2[i]) }
  %4 = compute "c" [i < m] { out f32[m] = sum(k < n; %3[i, k]) }
  %5 = compute "e" [i < m, k < n] { out f32[m, n] = %3[i, k] / %4[i] }
  %6 = compute "f" [i < m, j < d] { out f32[m, d] = sum(k < n; %5[i, k] * %1[k, j]) }
  result "" %6
)"));
  Graph two = read(head + std::string(R"(
  %2 = compute "biggest" [i < m] { out f32[m] = max(k < n; %0[i, k]) }
  %3 = compute "copy" [i < m, k < n] { out f32[m, n] = %0[i, k] }
  %4 = compute "spread" [i < m, k < n] { out f32[m, n] = %2[i] }
  %5 = compute "minus" [i < m, k < n] { out f32[m, n] = %3[i, k] - %4[i, k] }
  %6 = compute "power" [i < m, k < n] { out f32[m, n] = exp(%5[i, k]) }
  %7 = compute "total" [i < m] { out f32[m] = sum(k < n; %6[i, k]) }
  %8 = compute "share" [i < m, k < n] { out f32[m, n] = %6[i, k] / %7[i] }
  %9 = compute "turned" [k < n, i < m] { out f32[n, m] = %8[i, k] }
  %10 = compute "mix" [i < m, j < d] { out f32[m, d] = sum(k < n; %9[k, i] * %1[k, j]) }
  result "" %10
)"));
  run(one, "all");
  run(two, "all");
  EXPECT_EQ(without_names(print(one)), without_names(print(two)));
}

TEST(Softmax, HalfPrecisionFuses) {
  Graph before = read(R"(graph "half"
  size m = axis 0 of 0 where m
  size n = axis 1 of 0 where n
  size d = axis 1 of 1 where d
  fact 0 <= m
  fact 0 <= n
  fact 0 <= d
  input "s" argument f32[m, n]
  input "v" argument bf16[n, d]
  %0 = input 0
  %1 = input 1
  %2 = compute [i < m] { out f32[m] = max(k < n; %0[i, k]) }
  %3 = compute [i < m, k < n] { out f32[m, n] = exp(%0[i, k] - %2[i]) }
  %4 = compute [i < m] { out f32[m] = sum(k < n; %3[i, k]) }
  %5 = compute [i < m, k < n] { out bf16[m, n] = bf16(%3[i, k] / %4[i]) }
  %6 = compute [i < m, j < d] { out bf16[m, d] = sum(k < n; %5[i, k] * %1[k, j]) }
  result "" %6
)");
  Graph after = before;
  run(after, "whole");
  EXPECT_EQ(compute_nodes(after), 1) << print(after);
  EXPECT_TRUE(contains(print(after), "online(k < n; e, 1.0; %0[i, k], f32(%1[k, j])")) << print(after);
  EXPECT_GE(expect_same_meaning(before, after, 5), 8);
}

}  // namespace
}  // namespace axon::graph::testing
