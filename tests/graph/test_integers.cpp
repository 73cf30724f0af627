// Ranges of integers, what is folded into an index, and the checks that keep every dimension within 64 bits.
#include <gtest/gtest.h>

#include "graph/support.h"

namespace axon::graph {
namespace {

/// n is a size, v and w are integers.
Graph with_facts(const std::string& facts) {
  return parsed(
      "graph \"t\" size n = axis 0 of 0 where n size v = scalar 1 integer size w = scalar 2 integer " +
      facts + " input \"x\" argument f32[n] input \"v\" scalar i64[] size v input \"w\" scalar i64[] size w");
}

const Size& size_named(const Graph& g, const std::string& name) {
  return *std::find_if(g.sizes.begin(), g.sizes.end(), [&](const Size& s) { return s.name == name; });
}

TEST(Integers, HaveTheRangesThatFactsLeaveThem) {
  const auto range = [](const std::string& facts, const std::string& name = "v") {
    const Graph g = with_facts(facts);
    const shape::WideRange r = size_named(g, name).range;
    return std::pair(static_cast<int64_t>(r.low), static_cast<int64_t>(r.high));
  };
  EXPECT_EQ(range(""), std::pair(INT64_MIN, INT64_MAX));
  EXPECT_EQ(range("fact -5 <= v fact v <= 7"), std::pair(int64_t{-5}, int64_t{7}));
  EXPECT_EQ(range("fact 0 <= v fact v < n"), std::pair(int64_t{0}, shape::largest_size - 1));
  EXPECT_EQ(range("fact 3*v <= 10 fact -10 <= 3*v"), std::pair(int64_t{-3}, int64_t{3}));
  EXPECT_EQ(range("fact v == 4"), std::pair(int64_t{4}, int64_t{4}));
  EXPECT_EQ(range("fact -1 <= w fact w <= 1 fact v == w + 4"), std::pair(int64_t{3}, int64_t{5}));
  EXPECT_EQ(range("fact v != 0 fact min(v, n) <= 3"), std::pair(INT64_MIN, INT64_MAX));
}

TEST(Integers, AreFoldedIntoIndicesOnlyWhereNothingWraps) {
  Graph g = with_facts("fact -100 <= w fact w <= 100");
  const auto index = [&](const std::string& name) { return index_of(g, Dim(size_named(g, name).var)); };
  const ScalarId n = index("n"), v = index("v"), w = index("w"), three = constant_int(g, Elem::i64, 3);
  const auto folds = [&](Op op, ScalarId a, ScalarId b) {
    return affine_index(g, apply(g, op, {a, b})).has_value();
  };
  EXPECT_TRUE(folds(Op::mul, n, n));
  EXPECT_TRUE(folds(Op::mul, w, three));
  EXPECT_TRUE(folds(Op::add, w, n));
  EXPECT_TRUE(folds(Op::min, v, n));
  EXPECT_TRUE(folds(Op::mod, v, three));
  EXPECT_FALSE(folds(Op::add, v, three));
  EXPECT_FALSE(folds(Op::sub, n, v));
  EXPECT_FALSE(folds(Op::mul, v, three));
  EXPECT_FALSE(folds(Op::mul, v, v));
  EXPECT_FALSE(affine_index(g, apply(g, Op::neg, {v})).has_value());
}

/// What the checks of a graph with one node say that is computed at every i < extent.
std::string limits(const std::string& extent, const std::string& value, const std::string& facts = "") {
  Graph g = parsed(
      "graph \"t\" size n = axis 0 of 0 where n size m = axis 1 of 0 where m size v = scalar 1 integer " +
      facts + " input \"x\" argument f32[n, m] input \"v\" scalar i64[] size v %0 = input 0 %1 = input 1 " +
      "%2 = compute [i < " + extent + "] { out i64[" + extent + "] = {" + value + "} } result \"\" %2");
  const size_t before = g.checks.size();
  const std::string problem = limit_integers(g);
  if (!problem.empty()) return problem;
  std::string out;
  for (size_t c = before; c < g.checks.size(); ++c)
    out += (out.empty() ? "" : ", ") + g.checks[c].fact->lhs.str() + " <= " + g.checks[c].fact->rhs.str();
  return out;
}

TEST(Integers, AreLimitedAtTheCall) {
  EXPECT_EQ(limits("n", "i + 3"), "");
  EXPECT_EQ(limits("n*m", "i"), "");  // an extent: the host computes it in 128 bits
  EXPECT_EQ(limits("n", "i*m"), "n*m <= 4611686018427387904");
  EXPECT_EQ(limits("(n*m + 1)/2", "i"), "n*m + 1 <= 4611686018427387904");
  EXPECT_EQ(limits("n", "i + v"), "n + max(-v, v) <= 4611686018427387904");
  EXPECT_EQ(limits("n", "i + v", "fact 0 <= v fact v <= n"), "");
  EXPECT_EQ(limits("n", "min(v, n)"), "");
}

}  // namespace
}  // namespace axon::graph
