// Which reductions one pass over a row computes, and at which index of the row each point counts first.
#include <gtest/gtest.h>

#include "graph/prefix.h"
#include "support.h"

namespace axon::graph::testing {
namespace {

/// What is recognised of a node: "axis before term", or "".
std::string prefix_of(const std::string& domain, const std::string& type, const std::string& body) {
  const Graph g = read(R"(graph "prefix"
  size m = axis 0 of 0 where m
  size n = axis 1 of 0 where n
  fact 0 <= m
  fact 0 <= n
  input "x" argument f32[m, n]
  %0 = input 0
  %1 = compute [)" + domain +
                       "] { out " + type + " = " + body + " }\n  result \"\" %1\n");
  const auto prefix = prefix_reduction(g, g.nodes[g.results[0].value.node]);
  if (!prefix) return "";
  const bool is_load = g.scalars[prefix->term].op == Op::load;
  return std::to_string(prefix->axis) + " " + std::to_string(prefix->before) +
         (is_load ? " load" : " other") + (prefix->begin.valid() ? " begins" : "");
}

const std::string rows = "i < m, l < n", all = "f32[m, n]";

TEST(Prefix, FoldsUpToAnIndex) {
  EXPECT_EQ(prefix_of(rows, all, "sum(k < n; select({k} <= {l}, %0[i, k], 0.0))"), "1 0 load");
  EXPECT_EQ(prefix_of(rows, all, "max(k < n; select({l} < {k}, -inf, %0[i, k]))"), "1 0 load");
  EXPECT_EQ(prefix_of(rows, all, "prod(k < n; select({k} < {l}, %0[i, k] * 2.0, 1.0))"), "1 1 other");
  EXPECT_EQ(prefix_of(rows, all, "sum(k < n; select({k + 3} <= {l}, %0[i, k], 0.0))"), "1 3 load");
  EXPECT_EQ(prefix_of(rows, all, "sum(k < m; select({k} <= {i}, %0[k, l], 0.0))"), "0 0 load");
}

TEST(Prefix, HasAPointForEachIndex) {
  EXPECT_EQ(prefix_of("i < m, l < n + 1", "f32[m, n + 1]", "sum(k < n; select({k} < {l}, %0[i, k], 0.0))"),
            "1 1 load");
  EXPECT_EQ(prefix_of("i < m, l < n + 1", "f32[m, n + 1]", "sum(k < n; select({k} <= {l}, %0[i, k], 0.0))"),
            "");
  EXPECT_EQ(
      prefix_of("i < m, l < min(m, n)", "f32[m, min(m, n)]", "sum(k < n; select({k} <= {l}, %0[i, k], 0.0))"),
      "1 0 load");
}

/// The first term is combined with what the row begins from, by the operator of the fold, whatever the order.
TEST(Prefix, BeginsFromAValue) {
  const auto of_term = [](const std::string& term) {
    return prefix_of(rows, all, "sum(k < n; select({k} <= {l}, " + term + ", 0.0))");
  };
  EXPECT_EQ(of_term("select({k} <= 0, %0[i, 0] + %0[i, k], %0[i, k])"), "1 0 load begins");
  EXPECT_EQ(of_term("select({k} <= 0, %0[i, k] + 2.0, %0[i, k])"), "1 0 load begins");
  for (const char* other : {
           "select({k} <= 1, %0[i, 0] + %0[i, k], %0[i, k])",
           "select({k} < 0, %0[i, 0] + %0[i, k], %0[i, k])",
           "select({k} <= 0, %0[i, 0] * %0[i, k], %0[i, k])",
           "select({k} <= 0, %0[0, k] + %0[i, k], %0[i, k])",
           "select({k} <= 0, %0[i, k], %0[i, 0] + %0[i, k])",
           "select({i} <= 0, %0[i, 0] + %0[i, k], %0[i, k])",
       })
    EXPECT_EQ(of_term(other), "1 0 other") << other;
  EXPECT_EQ(
      prefix_of(rows, all, "sum(k < n; select({k} < {l}, select({k} <= 0, 2.0 + %0[i, k], %0[i, k]), 0.0))"),
      "1 1 other");
}

TEST(Prefix, IsNothingElse) {
  for (const char* body : {
           "sum(k < n; %0[i, k])",
           "sum(k < n; select({l} <= {k}, %0[i, k], 0.0))",             // what comes after
           "sum(k < n; select({k} <= {l + 1}, %0[i, k], 0.0))",         // more than there is
           "sum(k < n; select({k} <= {l}, %0[i, k] * %0[i, l], 0.0))",  // the term differs from index to
                                                                        // index
           "sum(k < n; select({2*k} <= {l}, %0[i, k], 0.0))",
           "sum(k < n; select({k} <= {l} && {l} < {k + 4}, %0[i, k], 0.0))",  // a window
           "sum(k < n, j < m; select({k} <= {l}, %0[j, k], 0.0))",
           "sum(k < n; select({k} <= {l}, %0[i, k], 1.0))",
       })
    EXPECT_EQ(prefix_of(rows, all, body), "") << body;
  EXPECT_EQ(prefix_of(rows, "i64[m, n]", "argmax(k < n; select({k} <= {l}, %0[i, k], -inf))"), "");
}

}  // namespace
}  // namespace axon::graph::testing
