// Masks that bound reductions, natively, against the interpreter: pairs of conditions of all forms, which
// leave some rows no point and some points of no axis, over integers of the data that are negative or as
// large as integers can be. Memory before and after a tensor is not the test's: a stray read shows.
#include <limits>
#include <random>

#include "harness.h"

namespace axon::testing {
namespace {

using base::Elem;
using graph::Tensor;

/// Over i < m, j < n, integers w and u; k is what the conditions bound.
const char* const conditions[] = {
    "{i} < {2}",          "{w} <= {i}",       "{j} < {1}",           "{i} < {j}",     "{j} <= {i}",
    "{0} < {i + j}",      "{n - 1} <= {j}",   "{j} < {n - 4}",       "{j} == {0}",    "{2*j} < {i}",
    "{w} <= {j}",         "{w} <= {j - i}",   "{i - j} < {w}",       "{j - i} < {w}", "{i} < {j} + {w}",
    "{j} + {w} <= {i}",   "{j} - {w} <= {i}", "{j} == {u}",          "{-j} == {u}",   "{i - j} <= {u}",
    "not({i - j} < {w})", "{i} - {w} < {j}",  "{i + j} < {j} + {w}",
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// A graph with reductions over `count` random pairs of conditions, and some of other forms.
std::string masked_reductions(int count, uint32_t seed) {
  std::string text = R"(graph "masks"
  size m = axis 0 of 0 where m
  size n = axis 1 of 0 where n
  size w = scalar 1 integer
  size u = scalar 2 integer
  fact 0 <= m
  fact 0 <= n
  input "x" argument f32[m, n]
  input "w" scalar i64[] size w
  input "u" scalar i64[] size u
  %0 = input 0
  %1 = input 1
  %2 = input 2
)";
  const char* const reductions[] = {
      "[i < m] { out f32[m] = sum(j < n; select(A && B, %0[i, j], 0.0)) }",
      "[i < m] { out f32[m] = max(j < n; select(A, select(B, %0[i, j], -inf), -inf)) }",
      "[] { out f32[] = sum(i < m, j < n; select(A && B, %0[i, j], 0.0)) }",
      "[i < m] { out f32[m] = proj(1, online(j < n; e, 1.0; select(A && B, %0[i, j], -inf))) }",
      "[j < n] { out f32[n] = sum(i < m; select(A && B, %0[i, j], 0.0)) }",
  };
  std::mt19937 random(seed);
  int node = 3;
  const auto add = [&](const std::string& body) {
    text += "  %" + std::to_string(node++) + " = compute " + body + "\n";
  };
  for (int i = 0; i < count; ++i) {
    const std::string a = conditions[random() % std::size(conditions)],
                      b = conditions[random() % std::size(conditions)];
    add(replaced(replaced(reductions[i % std::size(reductions)], "A", "(" + a + ")"), "B", "(" + b + ")"));
  }
  add("[j < n] { out f32[n] = sum(i < m; select(0 <= {i} - {w} && {i} - {w} < {m}, "
      "%0[{max(min({i} - {w}, {m - 1}), 0)}, j], 0.0)) }");
  for (int result = 3; result < node; ++result)
    text += "  result \"" + std::to_string(result) + "\" %" + std::to_string(result) + "\n";
  return text;
}

TEST(Masks, BoundReductions) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  for (const uint32_t seed : {1u}) {
    Native native(masked_reductions(80, seed), {});
    ASSERT_EQ(native.error(), "");
    std::mt19937 random(seed);
    for (const auto& [m, n] : {std::pair{5, 7}, {1, 1}, {0, 3}, {3, 0}, {33, 40}}) {
      Tensor x{Elem::f32, {m, n}, {}, {}};
      for (int64_t i = 0; i < x.count(); ++i) x.floats.push_back(static_cast<double>(1 + random() % 9));
      for (const int64_t w : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{-3}, int64_t{4}, int64_t{1} << 61,
                              -(int64_t{3} << 61), least, least + 2, most - 1, most})
        for (const int64_t u : {int64_t{-2}, int64_t{3}, w}) {
          const std::vector<Tensor> inputs{x, {Elem::i64, {}, {}, {w}}, {Elem::i64, {}, {}, {u}}};
          const auto want = graph::interpret(native.graph(), inputs, {}, graph::Precision::storage);
          const auto got = native.run(inputs);
          ASSERT_EQ(want.error + got.error, "");
          for (size_t r = 0; r < want.results.size(); ++r)
            expect_close(got.results[r], want.results[r], 1e-5, 1e-5,
                         "seed " + std::to_string(seed) + ", m " + std::to_string(m) + ", w " +
                             std::to_string(w) + ", u " + std::to_string(u) + ", result " +
                             std::to_string(r + 3));
          if (HasFailure()) return;
        }
    }
  }
}

/// Over i < m, j < n, z[i] of type T, into which indices are converted: they wrap where n is large.
const char* const narrow_conditions[] = {
    "T({j}) < %1[i]",     "%1[i] <= T({j})",     "T({j}) == %1[i]",        "T({j + 2}) < %1[i]",
    "%1[i] < T({j - i})", "T({n - j}) < %1[i]",  "T({i - j}) <= %1[i]",    "T({2*j}) < %1[i]",
    "{j} < i64(%1[i])",   "not(T({j}) < %1[i])", "{0} < {j} + i64(%1[i])",
};

std::string narrow_reductions(const std::string& type) {
  std::string text = R"(graph "narrow"
  size m = axis 0 of 0 where m
  size n = axis 1 of 0 where n
  fact 0 <= m
  fact 0 <= n
  input "x" argument f32[m, n]
  input "z" argument T[m]
  %0 = input 0
  %1 = input 1
)";
  std::string results;
  int node = 2;
  for (const std::string condition : narrow_conditions)
    for (const std::string body : {"f32[m] = sum(j < n; select(C, %0[i, j], 0.0))",
                                   "f32[m] = max(j < n; select(C && T({j}) <= %1[i], %0[i, j], -inf))",
                                   "f32[m] = proj(1, online(j < n; e, 1.0; select(C, %0[i, j], -inf)))",
                                   "f32[m] = sum(j < n, k < 3; select(C, %0[i, j], 0.0))"}) {
      const std::string number = std::to_string(node++);
      text +=
          "  %" + number + " = compute [i < m] { out " + replaced(body, "C", "(" + condition + ")") + " }\n";
      results += "  result \"" + number + "\" %" + number + "\n";
    }
  return replaced(replaced(text + results, "T(", type + "("), "T[", type + "[");
}

TEST(Masks, OfNarrowIntegers) {
  for (const auto& [elem, name] : {std::pair{Elem::i8, "i8"}, {Elem::u8, "u8"}, {Elem::i32, "i32"}}) {
    Native native(narrow_reductions(name), {});
    ASSERT_EQ(native.error(), "");
    const auto range = base::range_of_integers(elem);
    for (const int64_t n : {0, 1, 7, 127, 128, 129, 131, 256, 257, 600}) {
      Tensor x{Elem::f32, {9, n}, {}, {}};
      for (int64_t i = 0; i < x.count(); ++i) x.floats.push_back(static_cast<double>(1 + i % 9));
      const Tensor z{elem,
                     {9},
                     {},
                     {range.least, range.least + 1, 0, 1, 5, 64, 100, range.greatest - 1, range.greatest}};
      const auto want = graph::interpret(native.graph(), {x, z}, {}, graph::Precision::storage);
      const auto got = native.run({x, z});
      ASSERT_EQ(want.error + got.error, "");
      for (size_t r = 0; r < want.results.size(); ++r)
        expect_close(got.results[r], want.results[r], 1e-5, 1e-5,
                     std::string(name) + ", n " + std::to_string(n) + ", result " + std::to_string(r + 2));
      if (HasFailure()) return;
    }
  }
}

/// What a loop of a count that is negative leaves is what it began with, also to what reads it elsewhere.
TEST(Masks, NegativeCountsAreNoSteps) {
  Native native(R"(graph "steps"
  size n = axis 0 of 0 where n
  size k = scalar 1 integer
  fact 0 <= n
  input "x" argument f32[n]
  input "k" scalar i64[] size k
  %0 = input 0
  %1 = input 1
  %2 = loop "iterate" [l < max(k, 0)] (f32[n] = %0) {
    %3 = param
    %4 = compute [i < n] { out f32[n] = %3[i] + 1.0 }
    yield (%4)
  }
  %5 = compute [part < cdiv(n, 4)] {
    out f32[cdiv(n, 4)] = sum(i < 4; select({4*part + i} < {n}, %2[max(min(n, 4*part + i + 1), 1) - 1], 0.0))
  }
  result "" %5
)",
                {});
  ASSERT_EQ(native.error(), "");
  for (const int64_t k : {-4, -3, -1, 0, 1, 2, 3}) {
    const std::vector<Tensor> inputs{{Elem::f32, {6}, {1, 2, 3, 4, 5, 6}, {}}, {Elem::i64, {}, {}, {k}}};
    const auto want = graph::interpret(native.graph(), inputs, {}, graph::Precision::storage);
    const auto got = native.run(inputs);
    ASSERT_EQ(want.error + got.error, "");
    expect_close(got.results[0], want.results[0], 0, 0, "k " + std::to_string(k));
  }
}

}  // namespace
}  // namespace axon::testing
