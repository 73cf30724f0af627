// Reductions in parts, shorter ones than those of real programs, so that small tensors have several.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "graph/passes/passes.h"
#include "support.h"

namespace axon::graph::testing {
namespace {

const char* const matrix = R"(graph "split"
  size n = axis 0 of 0 where n
  size m = axis 1 of 0 where m
  fact 0 <= n
  fact 0 <= m
  input "x" argument f32[n, m]
  input "k" argument i64[n]
  %0 = input 0
  %1 = input 1
)";

struct Reduction {
  const char* name;
  const char* node;
};

const Reduction reductions[] = {
    {"sum", "out f32[] = sum(i < n, j < m; %0[i, j])"},
    {"product", "out f32[] = prod(i < n, j < m; %0[i, j])"},
    {"maximum", "out f32[] = max(i < n, j < m; %0[i, j])"},
    {"minimum_of_a_mask", "out f32[] = min(i < n, j < m; select({j} < {i}, %0[i, j], inf))"},
    {"all", "out bool[] = all(i < n, j < m; %0[i, j] < 1.0)"},
    {"any", "out bool[] = any(i < n; %1[i] < 0)"},
    {"integers", "out i64[] = sum(i < n; %1[i])"},
    {"epilogue",
     "local $0 \"a\" [] f32 = sum(i < n, j < m; %0[i, j]) "
     "out f32[] = exp($0[] * 0.1)"},
    {"argmax", "out i64[] = argmax(i < n; %1[i])"},
    {"argmax_of_equal_values", "out i64[] = argmax(i < n; 1.0)"},
    {"argmax_in_a_local",
     "local $0 \"a\" [] i64 = argmax(i < n; %1[i]) "
     "local $1 \"b\" [] f32 = sum(i < n, j < m; %0[i, j]) "
     "out f32[] = f32($0[]) + $1[]"},
    {"logsumexp",
     "local $0 \"m\" [] f32 = proj(0, online(i < n, j < m; e, 1.0; %0[i, j])) "
     "local $1 \"l\" [] f32 = proj(1, online(i < n, j < m; e, 1.0; %0[i, j])) "
     "out f32[] = $0[] + log($1[])"},
    {"weighted", "out f32[] = proj(2, online(i < n, j < m; 2, 0.5; %0[i, j], %0[i, j] * 2.0))"},
    {"masked_rows",
     "out f32[] = proj(2, online(i < n, j < m; e, 1.0, or_zero; select({j} < {i}, %0[i, j], -inf), "
     "%0[i, j]))"},
};

class Split : public ::testing::TestWithParam<Reduction> {};

TEST_P(Split, KeepsTheMeaning) {
  Graph before =
      read(matrix + ("%2 = compute \"r\" [] { " + std::string(GetParam().node) + " } result \"\" %2"));
  Graph after = before;
  split_reductions(after, {3, 2});
  EXPECT_EQ(verify(after), std::vector<std::string>{});
  EXPECT_TRUE(contains(print(after), "part")) << print(after);
  EXPECT_GE(expect_same_meaning(before, after, 7, {0, 1, 2, 3, 4, 7, 11}), 4);
}

std::string name(const ::testing::TestParamInfo<Reduction>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Reductions, Split, ::testing::ValuesIn(reductions), name);

/// Does the pass change nothing in a graph that is only that node, the `id`th?
void expect_left_alone(const std::string& head, const std::string& node, int id,
                       const std::function<void(Graph&)>& pass) {
  Graph g = read(fmt::format("{}%{} = compute \"r\" {} result \"\" %{}", head, id, node, id));
  const std::string text = print(g);
  pass(g);
  EXPECT_EQ(print(g), text);
}

/// Reductions over the same axes go through them once.
TEST(Splits, OfSiblingsShareTheirParts) {
  Graph g = read(matrix + std::string(R"(
  %2 = compute "both" [] {
    out f32[] = sum(i < n, j < m; %0[i, j])
    out f32[] = max(i < n, j < m; %0[i, j])
  }
  result "a" %2.0
  result "b" %2.1)"));
  split_reductions(g, {3, 2});
  EXPECT_EQ(compute_nodes(g), 2);
}

/// The parts of a reduction that grows in a loop would be others in every iteration.
TEST(Splits, AreAsManyInEveryIteration) {
  Graph g = read(matrix + std::string(R"(
  %2 = compute "start" [] { out f32[] = 0.0 }
  %3 = loop "fold" [l < n] (f32[] = %2) {
    %4 = param
    %5 = compute "grows" [] { out f32[] = sum(i < l; %0[i, 0]) }
    %6 = compute "next" [] { out f32[] = %4[] + %5[] }
    yield (%6)
  }
  result "" %3)"));
  const std::string text = print(g);
  split_reductions(g, {3, 2});
  EXPECT_EQ(print(g), text);
}

/// What has many results is left alone, and so is what is no longer than a part.
TEST(Splits, OnlyWhatIsLongAndHasFewResults) {
  const char* const nodes[] = {"[i < n] { out f32[n] = sum(j < m; %0[i, j]) }",
                               "[] { out f32[] = sum(i < 2, j < 3; f32({i + j})) }"};
  for (const char* node : nodes)
    expect_left_alone(matrix, node, 2, [](Graph& g) { split_reductions(g, {3, 2}); });
}

// ---- contractions ----

const char* const operands = R"(graph "split"
  size n = axis 0 of 0 where n
  fact 0 <= n
  input "x" argument f32[n, 3]
  input "y" argument f32[n, 5]
  input "t" argument f32[2, 3, n, 2]
  input "u" argument bf16[n, 2, 5]
  input "s" argument f32[3]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = input 3
  %4 = input 4
)";

const Reduction deep_contractions[] = {
    {"rows_and_columns", "[i < 3, j < 5] { out f32[3, 5] = sum(k < n; %0[k, i] * %1[k, j]) }"},
    {"a_single_row", "[j < 5] { out f32[5] = sum(k < n; %0[k, 1] * %1[k, j]) }"},
    {"batches", "[b < 2, i < 3, j < 5] { out f32[2, 3, 5] = sum(k < n; %2[b, i, k, 1] * f32(%3[k, b, j])) }"},
    {"two_binders", "[i < 3, j < 5] { out f32[3, 5] = sum(l < 2, k < n; %2[l, i, k, l] * %1[k, j]) }"},
    {"three_factors", "[i < 3, j < 5] { out f32[3, 5] = sum(k < n; %0[k, i] * %0[k, 1] * %1[k, j]) }"},
    {"in_a_local",
     "[i < 3, j < 5] { local $0 \"s\" [a < 3] f32 = exp(%4[a] * 0.1) "
     "local $1 \"p\" [a < 3, b < 5] f32 = sum(k < n; %0[k, a] * %1[k, b]) "
     "out f32[3, 5] = $1[i, j] * $0[i] }"},
    {"siblings",
     "[i < 3, j < 5] { out f32[3, 5] = sum(k < n; %0[k, i] * %1[k, j]) "
     "out f32[3, 5] = sum(k < n; %0[k, i] * f32(%3[k, 1, j])) }"},
    {"narrow", "[i < 3, j < 5] { out bf16[3, 5] = sum(k < n; bf16(%0[k, i]) * %3[k, 0, j]) }"},
};

class SplitContraction : public ::testing::TestWithParam<Reduction> {};

TEST_P(SplitContraction, KeepsTheMeaning) {
  Graph before = read(operands + ("%5 = compute \"r\" " + std::string(GetParam().node) + " result \"\" %5"));
  for (const int64_t depth : {1, 2, 4, 7}) {
    Graph after = before;
    split_contractions(after, {2, 4, 8, depth});
    EXPECT_EQ(verify(after), std::vector<std::string>{});
    EXPECT_TRUE(contains(print(after), "part")) << print(after);
    EXPECT_EQ(compute_nodes(after), 3);
    EXPECT_GE(expect_same_meaning(before, after, 7, {0, 1, 2, 3, 4, 7, 11, 14}), 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Contractions, SplitContraction, ::testing::ValuesIn(deep_contractions), name);

/// What makes tiles enough is left alone, and so are products that no kernel computes.
TEST(SplitsOfContractions, OnlyOfFewTiles) {
  const char* const nodes[] = {
      "[i < 3, j < 5] { out f32[3, 5] = sum(k < n; %0[k, i] * %1[k, j]) }",
      "[i < n, j < 5] { out f32[n, 5] = sum(k < 3; %0[i, k] * %1[k, j]) }",
      "[] { out f32[] = sum(k < n; %0[k, 0] * %1[k, 0]) }",
      "[i < 3, j < 5] { out i64[3, 5] = sum(k < n; i64(%0[k, i]) * i64(%1[k, j])) }",
  };
  for (const char* node : nodes)
    expect_left_alone(operands, node, 5, [](Graph& g) { split_contractions(g, {2, 4, 3, 2}); });
}

// ---- attention ----

const char* const heads = R"(graph "split"
  size n = axis 1 of 2 where n
  size h = axis 0 of 0 where h
  fact 0 <= n
  fact 0 <= h
  input "q" argument f32[h, 2]
  input "k" argument f32[h, 2, n]
  input "v" argument f32[h, n, 3]
  input "b" argument bf16[n]
  input "w" argument i64[h]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = input 3
  %4 = input 4
)";

const Reduction attentions[] = {
    {"softmax",
     "[a < h, c < 3] { local $0 \"s\" [b < h, j < n] f32 = sum(d < 2; %0[b, d] * %1[b, d, j]) "
     "out f32[h, 3] = proj(2, (t0 := online(j < n; e, 1.0; $0[a, j] * 0.5, %2[a, j, c]))) / proj(1, t0) }"},
    {"without_a_local",
     "[a < h, c < 3] { out f32[h, 3] = proj(2, online(j < n; 2, 0.5; %1[a, 0, j], %2[a, j, c])) }"},
    {"of_a_batch",
     "[e < 2, a < h, c < 3] { local $0 \"s\" [f < 2, b < h, j < n] f32 = sum(d < 2; %0[b, f] * %1[b, d, j]) "
     "out f32[2, h, 3] = proj(2, (t0 := online(j < n; e, 1.0; $0[e, a, j], %2[a, j, c]))) / proj(1, t0) }"},
    {"masked",
     "[a < h, c < 3] { out f32[h, 3] = proj(2, (t0 := online(j < n; e, 1.0, or_zero; "
     "select(%2[a, j, 0] < 0.3, %1[a, 0, j], -inf), %2[a, j, c]))) / max(proj(1, t0), 1.0) }"},
    {"masked_altogether",
     "[a < h, c < 3] { out f32[h, 3] = proj(2, online(j < n; e, 1.0; "
     "select(%2[a, j, 0] < -1000.0, %1[a, 0, j], -inf), %2[a, j, c])) }"},
    {"all_components",
     "[a < h, c < 3] { out f32[h, 3] = proj(0, (t0 := online(j < n; e, 1.0; %1[a, 1, j], %2[a, j, c], "
     "%2[a, j, 0]))) + proj(1, t0) + proj(2, t0) * proj(3, t0) }"},
    {"several_outputs",
     "[a < h, c < 3] { local $0 \"s\" [b < h, j < n] f32 = sum(d < 2; %0[b, d] * %1[b, d, j]) "
     "out f32[h, 3] = proj(2, online(j < n; e, 1.0; $0[a, j], %2[a, j, c])) "
     "out f32[h, 3] = proj(2, online(j < n; e, 1.0; $0[a, j], %2[a, j, 2 - c])) }"},
    {"locals_of_locals",
     "[a < h, c < 3] { local $0 \"t\" [b < h] f32 = %0[b, 0] * 0.5 "
     "local $1 \"s\" [b < h, j < n] f32 = sum(d < 2; $0[b] * %1[b, d, j]) "
     "out f32[h, 3] = proj(2, (t0 := online(j < n; e, 1.0; $1[a, j] + $0[a], %2[a, j, c] * $0[a]))) / "
     "proj(1, t0) }"},
    {"in_a_local",
     "[a < h, c < 3] { local $0 \"o\" [b < h, d < 3] f32 = proj(2, online(j < n; e, 1.0; %1[b, 0, j], "
     "%2[b, j, d])) out f32[h, 3] = $0[a, c] * $0[a, c] }"},
    {"narrow",
     "[a < h, c < 3] { out bf16[h, 3] = bf16(proj(2, (t0 := online(j < n; e, 1.0; f32(%3[j]) * %0[a, 0], "
     "%2[a, j, c]))) / proj(1, t0)) }"},
};

class SplitAttention : public ::testing::TestWithParam<Reduction> {};

TEST_P(SplitAttention, KeepsTheMeaning) {
  Graph before = read(heads + ("%5 = compute \"r\" " + std::string(GetParam().node) + " result \"\" %5" +
                               (contains(GetParam().name, "several") ? ".0 result \"b\" %5.1" : "")));
  for (const int64_t keys : {1, 2, 3, 6}) {
    Graph after = before;
    split_attention(after, {24, keys});
    EXPECT_EQ(verify(after), std::vector<std::string>{}) << print(after);
    EXPECT_TRUE(contains(print(after), "part")) << print(after);
    EXPECT_GE(expect_same_meaning(before, after, 9, {0, 1, 2, 3, 4, 7, 11, 14}), 4) << print(after);
  }
}

INSTANTIATE_TEST_SUITE_P(Attention, SplitAttention, ::testing::ValuesIn(attentions), name);

/// What has many results or as many as keys, few keys, no columns of values or columns that are not the last
/// axis, keys that locals look at elsewhere, or keys that a mask bounds is left alone.
TEST(SplitsOfAttention, OnlyOfManyKeysWithFewResults) {
  const char* const nodes[] = {
      "[a < h, c < 30] { out f32[h, 30] = proj(2, online(j < 2; e, 1.0; %1[a, 0, 0], f32({c + j}))) }",
      "[p < 9, c < 3] { out f32[9, 3] = proj(2, online(j < n; e, 1.0; f32({p * j}), %2[0, j, c])) }",
      "[p < n, c < 3] { out f32[n, 3] = proj(2, online(j < n; e, 1.0; f32({p * j}), %2[0, j, c])) }",
      "[c < 3, a < h] { out f32[3, h] = proj(2, online(j < n; e, 1.0; %1[a, 0, j], %2[a, j, c])) }",
      "[a < h, c < 3] { out f32[h, 3] = proj(2, online(j < n; e, 1.0, or_zero; select({j} < %4[a], %1[a, 0, "
      "j], "
      "-inf), %2[a, j, c])) }",
      "[a < h] { out f32[h] = proj(1, online(j < n; e, 1.0; %1[a, 0, j])) }",
      "[a < h] { out f32[h] = proj(2, online(j < n; e, 1.0; %1[a, 0, j], %2[a, j, 0])) }",
      "[a < h, c < 3] { local $0 \"s\" [b < h, j < n] f32 = %1[b, 0, j] out f32[h, 3] = proj(2, online(j < "
      "n; "
      "e, 1.0; $0[a, n - 1 - j], %2[a, j, c])) }",
      "[a < h, c < 3] { local $0 \"s\" [b < h, j < n] f32 = %1[b, 0, j] "
      "local $1 \"t\" [b < h, j < n] f32 = $0[b, n - 1 - j] out f32[h, 3] = proj(2, online(j < n; "
      "e, 1.0; $1[a, j], %2[a, j, c])) }",
  };
  for (const char* node : nodes)
    expect_left_alone(heads, node, 5, [](Graph& g) { split_attention(g, {24, 2}); });
}

// ---- orders ----

const Reduction orders[] = {
    {"largest", "[i < 2] { out i64[2] = arglargest(j < n; %0[j, 1], {i}) }"},
    {"smallest", "[i < 2] { out i64[2] = argsmallest(j < n; %0[j, 1], {i}) }"},
    {"the_first", "[i < 1] { out i64[1] = arglargest(j < n; %0[j, 1], 0) }"},
    {"of_equal_keys", "[i < 3] { out i64[3] = arglargest(j < n; floor(%0[j, 0]), {i}) }"},
    {"of_one_key", "[i < 3] { out i64[3] = argsmallest(j < n; 1.0, {i}) }"},
    {"of_nans", "[i < 3] { out i64[3] = argsmallest(j < n; log(%0[j, 2]), {i}) }"},
    {"of_nans_descending", "[i < 3] { out i64[3] = arglargest(j < n; log(%0[j, 2]), {i}) }"},
    {"of_what_comes_last", "[i < 3] { out i64[3] = arglargest(j < n; log(%0[j, 2] * 0.0), {i}) }"},
    {"of_integers", "[i < 3] { out i64[3] = argsmallest(j < n; {j} * {j} - 5 * {j}, {i}) }"},
    {"of_rows", "[r < 3, i < 2] { out i64[3, 2] = arglargest(j < n; %0[j, r], {i}) }"},
    {"of_masked_keys", "[i < 2] { out i64[2] = arglargest(j < n; select({j} < 3, %0[j, 0], -inf), {i}) }"},
};

class SplitOrder : public ::testing::TestWithParam<Reduction> {};

TEST_P(SplitOrder, KeepsTheMeaning) {
  Graph before = read(operands + ("%5 = compute \"r\" " + std::string(GetParam().node) + " result \"\" %5"));
  for (const int64_t length : {3, 4}) {
    Graph after = before;
    split_orders(after, {4, 4, length, 1});
    EXPECT_EQ(verify(after), std::vector<std::string>{});
    EXPECT_EQ(compute_nodes(after), 5);
    EXPECT_GE(expect_same_meaning(before, after, 7, {0, 1, 2, 3, 4, 7, 11, 14}), 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, SplitOrder, ::testing::ValuesIn(orders), name);

/// What is read at the positions is in range as before.
TEST(SplitsOfOrders, ArePositionsStill) {
  Graph before = read(operands + std::string(R"(
  %5 = compute "order" [i < 2] { out i64[2] = arglargest(j < n; %0[j, 1], {i}) }
  %6 = compute "values" [i < 2, c < 5] { out f32[2, 5] = %1[{%5[i]}, c] }
  result "ids" %5
  result "values" %6)"));
  Graph after = before;
  split_orders(after, {4, 4, 3, 1});
  EXPECT_EQ(verify(after), std::vector<std::string>{});
  EXPECT_GE(expect_same_meaning(before, after, 7, {2, 3, 4, 7, 11, 14}), 4);
}

/// An order that keeps many, of many rows, or of keys that can fail is left alone.
TEST(SplitsOfOrders, OnlyOfFewRowsThatKeepFew) {
  const char* const nodes[] = {
      "[i < 5] { out i64[5] = arglargest(j < n; %0[j, 1], {i}) }",
      "[i < n] { out i64[n] = arglargest(j < n; %0[j, 1], {i}) }",
      "[r < n, i < 2] { out i64[n, 2] = arglargest(j < n; %0[j, 1] * %0[r, 0], {i}) }",
      "[r < 5, i < 2] { out i64[5, 2] = arglargest(j < n; %1[j, r], {i}) }",
      "[i < 2] { out i64[2] = arglargest(j < 3; %4[j], {i}) }",
  };
  for (const char* node : nodes)
    expect_left_alone(operands, node, 5, [](Graph& g) { split_orders(g, {4, 4, 3, 1}); });
}

// ---- prefixes ----

const char* const long_rows = R"(graph "split"
  size n = axis 0 of 0 where n
  fact 0 <= n
  input "x" argument f32[n]
  input "y" argument f32[3, n]
  input "m" argument f32[n, 3]
  input "u" argument bf16[n]
  input "t" argument f32[2, n, 2]
  input "k" argument i64[n]
  %0 = input 0
  %1 = input 1
  %2 = input 2
  %3 = input 3
  %4 = input 4
  %5 = input 5
)";

const Reduction prefixes[] = {
    {"sum", "[l < n] { out f32[n] = sum(k < n; select({k} <= {l}, %0[k], 0.0)) }"},
    {"product", "[l < n] { out f32[n] = prod(k < n; select({k} < {l + 1}, %0[k], 1.0)) }"},
    {"maximum", "[l < n] { out f32[n] = max(k < n; select({l} < {k}, -inf, %0[k])) }"},
    {"minimum", "[l < n] { out f32[n] = min(k < n; select({k} <= {l}, %0[k], inf)) }"},
    {"of_i32", "[l < n] { out i32[n] = prod(k < n; select({k} <= {l}, i32(%5[k]), 1_i32)) }"},
    {"of_integers", "[l < n] { out i64[n] = sum(k < n; select({k} <= {l}, %5[k] * %5[k] - {k}, 0)) }"},
    {"of_doubles", "[l < n] { out f64[n] = sum(k < n; select({k} <= {l}, f64(%0[k]), 0.0_f64)) }"},
    {"before", "[l < n] { out f32[n] = sum(k < n; select({k} < {l}, %0[k], 0.0)) }"},
    {"before_as_many", "[l < n + 1] { out f32[n + 1] = sum(k < n; select({k} < {l}, %0[k], 0.0)) }"},
    {"three_before", "[l < n] { out f32[n] = prod(k < n; select({k + 3} <= {l}, %0[k], 1.0)) }"},
    {"of_products", "[l < n] { out f32[n] = sum(k < n; select({k} <= {l}, %0[k] * %1[1, k] + 0.5, 0.0)) }"},
    {"down_columns", "[l < n, c < 3] { out f32[n, 3] = sum(k < n; select({k} <= {l}, %2[k, c], 0.0)) }"},
    {"of_rows", "[r < 3, l < n] { out f32[3, n] = sum(k < n; select({k} <= {l}, %1[r, k] * %0[k], 0.0)) }"},
    {"of_matrices",
     "[r < 2, l < n, c < 2] { out f32[2, n, 2] = sum(k < n; select({k} <= {l}, %4[r, k, c], 0.0)) }"},
};

class SplitPrefix : public ::testing::TestWithParam<Reduction> {};

/// Parts of a few elements, two or more in a group; of rows as long as any, or longer than some groups.
TEST_P(SplitPrefix, KeepsTheMeaning) {
  Graph before = read(long_rows + ("%6 = compute \"r\" " + std::string(GetParam().node) + " result \"\" %6"));
  for (const PrefixLimits limits : {PrefixLimits{4, 4, 0, 24, 2}, {4, 4, 0, 28, 5}, {6, 1, 120, 12, 3}}) {
    Graph after = before;
    split_prefixes(after, limits);
    EXPECT_EQ(verify(after), std::vector<std::string>{}) << print(after);
    EXPECT_TRUE(contains(print(after), "loop")) << print(after);
    EXPECT_GE(expect_same_meaning(before, after, 7, {0, 1, 2, 5, 6, 7, 11, 12, 13, 29, 41, 101}), 4)
        << print(after);
  }
}

INSTANTIATE_TEST_SUITE_P(Prefixes, SplitPrefix, ::testing::ValuesIn(prefixes), name);

/// Prefixes in a loop, several, and what reads them.
TEST(SplitsOfPrefixes, StandWhereTheRowDoes) {
  Graph before = read(long_rows + std::string(R"(
  %6 = loop "fold" [i < 3] (f32[n] = %0) {
    %7 = param
    %8 = compute "sums" [l < n] { out f32[n] = sum(k < n; select({k} <= {l}, %7[k], 0.0)) }
    %9 = compute "largest" [l < n] { out f32[n] = max(k < n; select({k} <= {l}, %8[k], -inf)) }
    %10 = compute "next" [l < n] { out f32[n] = %9[l] * 0.25 + %8[l] }
    yield (%10)
  }
  result "" %6)"));
  Graph after = before;
  split_prefixes(after, {4, 4, 0, 24, 2});
  EXPECT_EQ(verify(after), std::vector<std::string>{});
  EXPECT_GE(expect_same_meaning(before, after, 7, {0, 1, 11, 12, 13, 29, 41}), 4);
}

/// What has rows enough, is short, or would take long to compute or to read twice is left alone.
TEST(SplitsOfPrefixes, OnlyOfLongRowsOfWhichThereAreFew) {
  const char* const nodes[] = {
      "[r < n, l < n] { out f32[n, n] = sum(k < n; select({k} <= {l}, %0[k] * %0[r], 0.0)) }",
      "[r < 5, l < n] { out f32[5, n] = sum(k < n; select({k} <= {l}, %0[k] * %0[r], 0.0)) }",
      "[l < n, c < 5] { out f32[n, 5] = sum(k < n; select({k} <= {l}, %0[k] * f32({c}), 0.0)) }",
      "[l < 5] { out f32[5] = sum(k < 5; select({k} <= {l}, f32({k}), 0.0)) }",
      "[l < n] { out f32[n] = sum(k < n; select({k} <= {l}, exp(%0[k]), 0.0)) }",
      "[l < n] { out f32[n] = sum(k < n; select({k} <= {l}, %0[n - k - 1], 0.0)) }",
      "[l < n] { out f32[n] = sum(k < n; select({k} <= {l}, %2[k, 1], 0.0)) }",
      "[l < n] { out f32[n] = sum(k < n; select({k} <= {l}, %0[{max(min(%5[k], {n - 1}), 0)}], 0.0)) }",
      "[l < n] { out bool[n] = all(k < n; select({k} <= {l}, %0[k] < 1.0, true)) }",
      "[l < n] { out bf16[n] = sum(k < n; select({k} <= {l}, %3[k], 0.0_bf16)) }",
      "[l < n] { out f32[n] = sum(k < n; select({k} <= {l}, select({k} <= 0, 2.0 + %0[k], %0[k]), 0.0)) }",
      "[l < n] { out f32[n] = sum(k < n; %0[k]) }",
  };
  for (const char* node : nodes)
    expect_left_alone(long_rows, node, 6, [](Graph& g) { split_prefixes(g, {4, 1, 0, 12, 2}); });
}

}  // namespace
}  // namespace axon::graph::testing
