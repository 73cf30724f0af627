// Sizes that the data decides, and what bounds them, run by the reference interpreter.
#include "run.h"

namespace axon::graph {
namespace {

TEST(FromCoreRun, EndsOfSlicesThatTheDataDecides) {
  const Tensor x = reals({4}, {1, 2, 4, 3});
  const auto number = [](int64_t k) { return integers({1}, {k}); };
  const char* const begin = "entry f (x : f32[n]) (k : i64[1]) = x[:k[0]]";
  EXPECT_EQ(result(begin, {x, number(3)}), (Reals{1, 2, 4}));
  EXPECT_EQ(result(begin, {x, number(0)}), (Reals{}));
  EXPECT_NE(run(begin, {x, number(5)}).error, "");
  EXPECT_NE(run(begin, {x, number(-1)}).error, "");
  const char* const end = "entry f (x : f32[n]) (k : i64[1]) = x[k[0]:]";
  EXPECT_EQ(result(end, {x, number(3)}), (Reals{3}));
  EXPECT_EQ(result(end, {x, number(4)}), (Reals{}));
  EXPECT_NE(run(end, {x, number(5)}).error, "");
  EXPECT_NE(run(end, {x, number(-1)}).error, "");
  EXPECT_EQ(result("entry f (x : f32[n]) where n >= 1 = x[:argmax x]", {x}), (Reals{1, 2}));
  EXPECT_EQ(result("entry f (x : f32[n]) (m : bool[n]) = x[count m:]",
                   {x, integers({4}, {1, 0, 1, 0}, Elem::boolean)}),
            (Reals{4, 3}));
  EXPECT_EQ(result("entry f (x : f32[n]) (k : i64[1]) = x[:clip 0 n (k[0])]", {x, number(9)}),
            (Reals{1, 2, 4, 3}));
  const char* const both = "entry f (x : f32[n]) (k : i64[2]) = x[k[0]:k[1]]";
  EXPECT_EQ(result(both, {x, integers({2}, {1, 3})}), (Reals{2, 4}));
  EXPECT_EQ(result(both, {x, integers({2}, {4, 4})}), (Reals{}));
  for (std::vector<int64_t> wrong : {std::vector<int64_t>{3, 1}, {-1, 2}, {2, 5}, {5, 5}})
    EXPECT_NE(run(both, {x, integers({2}, std::move(wrong))}).error, "");
  // One number is one size, whatever it is the end of, and what is known of it is used.
  EXPECT_EQ(result("entry f (x : f32[n]) (y : f32[m]) (k : i64[1]) = let e = k[0] in x[:e] + y[:e]",
                   {x, reals({3}, {10, 20, 30}), number(2)}),
            (Reals{11, 22}));
  EXPECT_EQ(result("entry f (x : f32[n]) (k : i64[1]) = let e = k[0] in x[e:e + 2] * [10.0, 100.0]",
                   {x, number(1)}),
            (Reals{20, 400}));
  EXPECT_EQ(result("entry f (x : f32[n]) (m : bool[n]) (k : i64[1]) = (compress x m)[:k[0]]",
                   {x, integers({4}, {1, 0, 1, 1}, Elem::boolean), number(2)}),
            (Reals{1, 4}));
  EXPECT_EQ(
      result("entry f (x : f32[n]) (k : i64[1]) = if k[0] < 0 then 0.5 else sum x[:k[0]]", {x, number(-2)}),
      (Reals{0.5}));
}

TEST(FromCoreRun, SizesThatTheDataDecides) {
  const char* const kept = "entry f (x : f32[n]) (m : bool[n]) = compress x m";
  const Tensor x = reals({4}, {1, 2, 3, 4});
  const auto mask = [](std::vector<int64_t> m) { return integers({4}, std::move(m), Elem::boolean); };
  Outcome o = run(kept, {x, mask({1, 0, 1, 1})});
  EXPECT_EQ(o.results.at(0).shape, (std::vector<int64_t>{3}));
  EXPECT_EQ(o.results.at(0).floats, (Reals{1, 3, 4}));
  EXPECT_EQ(run(kept, {x, mask({0, 0, 0, 0})}).results.at(0).shape, (std::vector<int64_t>{0}));
  EXPECT_EQ(result("entry f (x : f32[n]) (m : bool[n]) = let y = compress x m in y + sum (y * y)",
                   {x, mask({0, 1, 0, 1})}),
            (Reals{22, 24}));
  // What is left of a slice has the size that the type says: n - k.
  EXPECT_EQ(result("entry f (x : f32[n, d]) (k : i64[1]) (w : f32[d, e]) = x[max 0 (min (k[0]) n):] @ w",
                   {reals({3, 1}, {1, 2, 3}), integers({1}, {1}), reals({1, 1}, {2})}),
            (Reals{4, 6}));
  EXPECT_EQ(
      run("entry f (x : f32[n]) (k : i64[1]) = for (i < min (k[0]) n) => x[i]", {x, integers({1}, {-3})})
          .error,
      "`min (k[0]) n` (test.axn:1:46) is -3, which is not in 0 .. 4");
  // What an `if` leaves out need not be a size, and the begin of a slice is checked too.
  const char* const guarded =
      "entry f (x : f32[n]) (k : i64[1]) = if k[0] >= 0 then sum (for (i < min (k[0]) n) => x[i]) else -1.0";
  EXPECT_EQ(result(guarded, {x, integers({1}, {-3})}), (Reals{-1}));
  EXPECT_EQ(result(guarded, {x, integers({1}, {2})}), (Reals{3}));
  const char* const late = "entry f (x : f32[n]) (k : i64[1]) = x[n - 3 : min (max (n - 3) (k[0])) n]";
  EXPECT_EQ(result(late, {x, integers({1}, {3})}), (Reals{2, 3}));
  EXPECT_NE(run(late, {reals({2}, {1, 2}), integers({1}, {2})}).error, "");
}

TEST(FromCoreRun, SizesThatLoopsEndWith) {
  const auto numbers = [](const std::string& program, const std::vector<Tensor>& inputs) {
    Outcome o = run(program, inputs);
    EXPECT_EQ(o.error, "") << program;
    return o.results.empty() ? std::vector<int64_t>{-1} : o.results[0].integers;
  };
  using Integers = std::vector<int64_t>;
  EXPECT_EQ(numbers("entry f (n : i64) = iota (iterate 3 (fn k => k + 1) n)", {integers({}, {2})}),
            (Integers{0, 1, 2, 3, 4}));
  EXPECT_EQ(
      numbers("entry f (n : i64) = iota (while (fn k => k < 4) (fn k => k + 2) n)", {integers({}, {1})}),
      (Integers{0, 1, 2, 3, 4}));
  const std::string sum = "entry f (k : i64[n]) = iota (fold (fn a b => a + b) 0 k)";
  EXPECT_EQ(numbers(sum, {integers({2}, {1, 2})}), (Integers{0, 1, 2}));
  EXPECT_EQ(numbers(sum, {integers({0}, {})}), (Integers{}));
  EXPECT_EQ(run(sum, {integers({1}, {-1})}).error,
            "`iota (fold (fn a b => a + b) 0 k)` (test.axn:1:24) is -1, which is no size");
  EXPECT_EQ(numbers("entry f (k : i64[n]) = let (a, _) = scan (fn a b => (a + b, a)) 0 k in iota a",
                    {integers({2}, {1, 2})}),
            (Integers{0, 1, 2}));
  EXPECT_EQ(numbers("val three = iota (fold (fn a v => a + v) 0 [1, 2])\nentry f (k : i64[n]) = three",
                    {integers({0}, {})}),
            (Integers{0, 1, 2}));
}

TEST(FromCoreRun, SizesWithoutABound) {
  EXPECT_EQ(result("entry f (k : i64[1]) = for (i < k[0]) => real i", {integers({1}, {3})}),
            (Reals{0, 1, 2}));
  EXPECT_EQ(result("entry f (k : i64[1]) = sum (for (i < k[0] * k[0]) => 1.0)", {integers({1}, {100})}),
            (Reals{10000}));
  EXPECT_EQ(run("entry f (k : i64[1]) = for (i < k[0]) => real i", {integers({1}, {-1})}).error,
            "`k[0]` (test.axn:1:33) is -1, which is no size");
  const auto refused = [](const char* program, const char* words) {
    const Lowered lowered = lower(program);
    EXPECT_NE(lowered.errors.find("E9001"), std::string::npos) << lowered.errors;
    EXPECT_NE(lowered.errors.find(words), std::string::npos) << lowered.errors;
  };
  refused("entry f (x : i64[n]) = fold (fn s k => s + sum (for (i < k) => real i)) 0.0 x", "in a loop");
  refused("entry f (x : i64[n]) = for i => sum (for (j < x[i]) => real j)", "element of `for`");
  refused("entry f (x : *f32[n]) (k : i64[1]) where 1 <= n = x with [0] = sum (for (i < k[0]) => real i)",
          "updated in place");
}

/// What the arguments decide, and the entry is sure to reach, is checked by the call, and no size of the
/// data.
TEST(FromCoreRun, SizesThatTheTypeBounds) {
  const auto bounds = [](const std::string& program) {
    const Lowered lowered = lower(program);
    EXPECT_EQ(lowered.errors, "") << program;
    std::string text;
    for (const auto& [name, graph] : lowered.graphs)
      for (const Size& s : graph.sizes)
        if (s.from == Size::From::data) text += s.is_unbounded() ? "none; " : s.equation.str() + "; ";
    return text;
  };
  EXPECT_EQ(bounds("entry f (x : f32[h, w]) (t : i64) = for (u < t*h) (v < t*w) => x[u, v else 0.0]"), "");
  EXPECT_EQ(bounds("entry f (x : f32[h]) (t : i64) = for (u < (h - 1)*t + 2) => x[u else 0.0]"), "");
  EXPECT_EQ(bounds("entry f (x : f32[h]) (t : i64) = for (u < 3 - -(t*h)) => x[u else 0.0]"), "");
  EXPECT_EQ(bounds("entry f (x : f32[h]) (t : i64) = sum (for (u < t*h) => x[u else 0.0])"), "");
  EXPECT_EQ(
      bounds("entry f (x : f32[h]) (t : i64) = if t > 0 then sum (for (u < t*h) => x[u else 0.0]) else 0.0"),
      "none; ");
  const char* const scaled = "entry f (x : f32[h]) (t : i64) = for (u < t*h) => x[u else 0.5]";
  EXPECT_EQ(result(scaled, {reals({2}, {1, 2}), integers({}, {2})}), (Reals{1, 2, 0.5, 0.5}));
  EXPECT_EQ(result(scaled, {reals({0}, {}), integers({}, {7})}), (Reals{}));
  EXPECT_NE(run(scaled, {reals({2}, {1, 2}), integers({}, {-1})}).error, "");
  EXPECT_NE(run(scaled, {reals({2}, {1, 2}), integers({}, {int64_t{1} << 62})}).error, "");
}

TEST(FromCoreRun, SizesOfOneIteration) {
  const Tensor x = reals({3, 4}, {1, -1, 2, -1, -1, -2, -3, -4, 5, 6, 7, 8});
  EXPECT_EQ(result("entry f (x : f32[l, n]) = fold (fn s r => s + sum r[: count (r > 0.0)]) 0.0 x", {x}),
            (Reals{1 - 1 + 5 + 6 + 7 + 8}));
  EXPECT_EQ(result("entry f (x : f32[l, n]) = fold (fn s r => s + sum r[nonzero (r > 0.0)]) 0.0 x", {x}),
            (Reals{3 + 26}));
  EXPECT_EQ(
      result(
          "entry f (x : f32[l, n]) = fold (fn s r => fold (fn t v => t * 10.0 + v) s r[nonzero (r > 0.0)]) "
          "0.0 x",
          {x}),
      (Reals{125678}));
  EXPECT_EQ(result("entry f (x : f32[l, n]) = fold (fn s r => let y = compress r (r > 0.0) in "
                   "s * 10.0 + real (dim y 0)) 0.0 x",
                   {x}),
            (Reals{204}));
  EXPECT_EQ(run("entry f (x : f32[l, n]) (k : i64[l]) = fold (fn s (r, c) => s + sum r[: c]) 0.0 (x, k)",
                {x, integers({3}, {1, 0, 5})})
                .error,
            "end `c` in `r[: c]` (test.axn:1:69): 5 is not in 0 .. 4");
}

TEST(FromCoreRun, SizesOfOneElement) {
  const Tensor x = reals({2, 3}, {1, 2, 3, 4, 5, 6}), k = integers({2}, {2, 0});
  EXPECT_EQ(result("entry f (x : f32[m, n]) (k : i64[m]) = for i => sum x[i, : k[i]]", {x, k}),
            (Reals{3, 0}));
  EXPECT_EQ(result("entry f (x : f32[m, n]) (k : i64[m]) = for i (j < n) => sum x[i, : j + 1]", {x, k}),
            (Reals{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(result("entry f (x : f32[m, n]) (k : i64[m]) = for i => sum x[i, nonzero (x[i] > 2.5)]", {x, k}),
            (Reals{3, 15}));
  EXPECT_EQ(
      result("entry f (x : f32[m, n]) (k : i64[m]) = for i => fold (fn s v => s * 10.0 + v) 0.0 x[i, i:]",
             {x, k}),
      (Reals{123, 56}));
  EXPECT_EQ(
      result("entry f (x : f32[m, n]) (k : i64[m]) = for i => maximum (concat [0.5] x[i, : k[i]])", {x, k}),
      (Reals{2, 0.5}));
  EXPECT_EQ(result("entry f (x : f32[m, n]) (k : i64[m]) = for i => sum (j < min k[i] n) => x[i, j] * real j",
                   {x, k}),
            (Reals{2, 0}));
  EXPECT_EQ(
      run("entry f (x : f32[m, n]) (k : i64[m]) = for i => sum x[i, : k[i]]", {x, integers({2}, {2, 4})})
          .error,
      "end `k[i]` in `x[i, : k[i]]` (test.axn:1:53): 4 is not in 0 .. 3");
  EXPECT_EQ(
      result("entry f (x : f32[m, n]) (k : i64[m]) = for i => sum (j < n / max k[i] 1) => x[i, j]", {x, k}),
      (Reals{1, 15}));
}

TEST(FromCoreRun, ABranchNeedsItsSizesOnlyWhereItIsTaken) {
  const char* const rest = "entry f (x : f32[n]) = if n >= 1 then sum x[1:] else 0.5";
  EXPECT_EQ(result(rest, {reals({0}, {})}), (Reals{0.5}));
  EXPECT_EQ(result(rest, {reals({3}, {1, 2, 3})}), (Reals{5}));
  const char* const change =
      "entry f (x : f32[n]) (a : i64) = if a + 2 <= n then x with [a : a + 2] = [8.0, 9.0] else x";
  EXPECT_EQ(result(change, {reals({3}, {1, 2, 3}), integers({}, {1})}), (Reals{1, 8, 9}));
  EXPECT_EQ(result(change, {reals({3}, {1, 2, 3}), integers({}, {2})}), (Reals{1, 2, 3}));
  EXPECT_EQ(run("entry f (x : f32[n]) (k : i64[1]) = if n >= 1 then sum (for (i < 2) => x[k[0]]) else 0.0",
                {reals({2}, {1, 2}), integers({1}, {2})})
                .error,
            "index `k[0]` in `x[k[0]]` (test.axn:1:72): 2 is not in 0 .. 1");
}

}  // namespace
}  // namespace axon::graph
