// Programs run end to end by the reference interpreter: numbers that can be checked by hand, and laws
// between programs.
#include <fmt/format.h>

#include "run.h"

namespace axon::graph {
namespace {

/// Types name the fields of records: in which order a program writes them does not matter.
TEST(FromCoreRun, FieldsInAnyOrder) {
  const std::string pair = "type P = { a : f32, b : f32 }\n", turned = "{ b = s.b + v, a = s.a * 0.5 }";
  const std::vector<Tensor> inputs{reals({}, {1}), reals({}, {100}), reals({2}, {1, 2})};
  const auto gives = [&](const std::string& body, const Reals& values) {
    EXPECT_EQ(result(pair + "entry f (s : P) (x : f32[t]) = let r = " + body + " in [r.a, r.b]", inputs),
              values)
        << body;
  };
  gives("fold (fn s v => " + turned + ") s x", {0.25, 103});
  gives("(let (last, _) = scan (fn s v => (" + turned + ", v)) s x in last)", {0.25, 103});
  gives("(fold (fn s v => { q = v, p = { b = s.p.b + v, a = s.p.a * 0.5 } }) { p = s, q = 0.0 } x).p",
        {0.25, 103});
  gives("while (fn s => s.a < 3.0) (fn s => { b = s.b + 1.0, a = s.a * 2.0 }) s", {4, 102});
  gives("if sum x > 5.0 then { b = 7.0, a = 9.0 } else s", {1, 100});
  gives("if sum x > 2.0 then s else { b = 7.0, a = 9.0 }", {1, 100});
}

TEST(FromCoreRun, SmallPrograms) {
  EXPECT_EQ(result("entry f (a : f32[m, k]) (b : f32[k, n]) = a @ b",
                   {reals({2, 2}, {1, 2, 3, 4}), reals({2, 1}, {10, 100})}),
            (Reals{210, 430}));
  EXPECT_EQ(result("entry f (x : f32[n]) = for i => x[i - 1 else 9.0]", {reals({3}, {1, 2, 3})}),
            (Reals{9, 1, 2}));
  EXPECT_EQ(result("entry f (x : f32[n]) = for i => x[i + 1 else 9.0]", {reals({3}, {1, 2, 3})}),
            (Reals{2, 3, 9}));
  EXPECT_EQ(result("entry f (x : f32[m]) (y : f32[n]) = concat x y", {reals({2}, {1, 2}), reals({1}, {3})}),
            (Reals{1, 2, 3}));
  EXPECT_EQ(result("entry f (x : f32[m]) (y : f32[n]) = concat x y", {reals({0}, {}), reals({1}, {3})}),
            (Reals{3}));
  EXPECT_EQ(result("entry f (x : f32[m, n]) = tril x", {reals({2, 3}, {1, 2, 3, 4, 5, 6})}),
            (Reals{1, 0, 0, 4, 5, 0}));
  EXPECT_EQ(result("entry f (x : f32[m, n]) = x[1:, -1]", {reals({2, 3}, {1, 2, 3, 4, 5, 6})}), (Reals{6}));
  EXPECT_EQ(result("entry f (x : f32[2*n]) = x[1 : 2*n : 2]", {reals({4}, {1, 2, 3, 4})}), (Reals{2, 4}));
  EXPECT_EQ(result("entry f (ids : i64[n]) = one_hot ids 3", {integers({2}, {2, 5})}),
            (Reals{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(result("entry f (x : f32[n]) = mean x", {reals({4}, {1, 2, 3, 6})}), (Reals{3}));
  EXPECT_EQ(result("entry f (x : f32[c, n]) (w : f32[o, c, k]) = conv1d x w",
                   {reals({1, 4}, {1, 2, 3, 4}), reals({1, 1, 2}, {10, 1})}),
            (Reals{12, 23, 34}));
  EXPECT_EQ(result("entry f (x : f32[n, d]) = repeat 2 x", {reals({2, 1}, {1, 2})}), (Reals{1, 1, 2, 2}));
  EXPECT_EQ(result("entry f (x : f32[n]) = [x[1], 5.0, x[0]]", {reals({2}, {1, 2})}), (Reals{2, 5, 1}));
  EXPECT_EQ(
      result("entry f (x : f32[n]) (y : f32[n]) = [[x, y], [y, x]]", {reals({1}, {1}), reals({1}, {2})}),
      (Reals{1, 2, 2, 1}));
  Outcome pairs = run("entry f (x : f32[n]) = for i => (x[i], x[i] * 2.0)", {reals({2}, {1, 2})});
  ASSERT_EQ(pairs.results.size(), 2u);
  EXPECT_EQ(pairs.results[1].floats, (Reals{2, 4}));
}

TEST(FromCoreRun, WhatAScanEmitsIsAnIndex) {
  const auto gives = [](const std::string& body, const Reals& values) {
    const std::string text =
        "entry f (x : f32[n]) (o : i64[m]) = let (_, ids) = scan (fn s v => (s + v, s)) 0 o in " + body;
    EXPECT_EQ(result(text, {reals({4}, {5, 6, 7, 8}), integers({3}, {2, 1, 9})}), values) << text;
  };
  gives("x[ids]", {5, 7, 8});
  gives("for i => x[ids][i] + real ids[i]", {5, 9, 11});
  gives("(for i j => x[i] * x[j])[ids, ids][1]", {35, 49, 56});
  EXPECT_NE(run("entry f (x : f32[n]) (o : i32[m]) =\n"
                "  let (_, ids) = scan (fn s v => (s + v, s + v)) 0 o in x[ids]",
                {reals({2}, {5, 6}), integers({2}, {1, 1}, Elem::i32)})
                .error,
            "");
}

TEST(FromCoreRun, SlicesBackwards) {
  const Tensor five = reals({5}, {0, 1, 2, 3, 4});
  EXPECT_EQ(result("entry f (x : f32[n]) = x[::-1]", {five}), (Reals{4, 3, 2, 1, 0}));
  EXPECT_EQ(result("entry f (x : f32[n]) = x[::-2]", {five}), (Reals{4, 2, 0}));
  EXPECT_EQ(result("entry f (x : f32[n]) = x[::-3]", {reals({0}, {})}), Reals{});
  EXPECT_EQ(result("entry f (x : f32[n]) where n >= 1 = x[n-1:0:-2]", {five}), (Reals{4, 2}));
  EXPECT_EQ(result("entry f (x : f32[n]) where n >= 4 = x[3:0:-1]", {five}), (Reals{3, 2, 1}));
}

TEST(FromCoreRun, ReductionsByAnyFunction) {
  EXPECT_EQ(result("entry f (x : f32[m, n]) = reduce (fn a b => abs a + abs b) 0.0 x",
                   {reals({2, 3}, {1, -2, 3, 4, 5, -6})}),
            (Reals{6, 15}));
  EXPECT_EQ(result("entry f (x : f32[m, n]) = reduce (fn a b => abs a + abs b) 7.0 x", {reals({1, 0}, {})}),
            (Reals{7}));
  EXPECT_EQ(
      result("entry f (x : f32[m, n]) = for i => reduce (fn a b => max a (b * 2.0)) 0.0 (for j => x[i, j])",
             {reals({2, 2}, {1, 3, 5, 4})}),
      (Reals{6, 10}));
}

/// `debug` shows whole tensors: over the index variables around, and over the iterations of the loops around.
TEST(FromCoreRun, DebugInsideOfIndicesAndLoops) {
  Lowered lowered = lower(
      "entry f (x : f32[n, m]) = fold (fn s r => s + debug \"twice\" (r * 2.0)) "
      "(for (j < m) => debug \"start\" (real j)) x");
  ASSERT_EQ(lowered.errors, "");
  const Graph& g = lowered.graphs.at("f");
  ASSERT_EQ(g.debugs.size(), 2u);
  std::map<std::string, std::vector<Dim>> shapes;
  for (const auto& [name, value, is_condition] : g.debugs) {
    EXPECT_FALSE(is_condition) << name;
    shapes[name] = g.type(value).shape;
    EXPECT_EQ(g.nodes[value.node].region, g.root) << name;
  }
  EXPECT_EQ(shapes.at("start").size(), 1u);
  EXPECT_EQ(shapes.at("twice").size(), 2u);
}

/// In a branch it shows what is computed where that is taken.
TEST(FromCoreRun, DebugInsideOfBranches) {
  const auto shown = [](const std::string& text, const Reals& x) {
    const Tensor input = reals({static_cast<int64_t>(x.size())}, x);
    std::string all;
    for (const auto& [name, value] : run("entry f (x : f32[n]) = " + text, {input}).shown) {
      all += (all.empty() ? "" : "; ") + name;
      for (int64_t extent : value.shape) all += fmt::format(" {}", extent);
      all += fmt::format(": {}", fmt::join(value.floats, " "));
    }
    return all;
  };
  const std::string top = "if sum x > 0.0 then debug \"a\" x else debug \"b\" (x - 1.0)";
  EXPECT_EQ(shown(top, {1, 2}), "a 2: 1 2");
  EXPECT_EQ(shown(top, {-1}), "b 1: -2");
  const std::string sizes = "if n > 1 then debug \"a\" (x * 2.0) else x";
  EXPECT_EQ(shown(sizes, {1, 2}), "a 2: 2 4");
  EXPECT_EQ(shown(sizes, {1}), "");
  const std::string loop =
      "fold (fn s y => if y > 0.0 then debug \"a\" (s + y) else debug \"b\" (s - y)) 0.0 x";
  EXPECT_EQ(shown(loop, {1, -2, 3}), "a 2: 1 6; b 1: 3");
  EXPECT_EQ(shown(loop, {1, 3}), "a 2: 1 4");
  EXPECT_EQ(shown("fold (fn s y => if y > 0.0 then s + sum (debug \"a\" (x * 2.0)) else s) 0.0 x", {1, -2}),
            "a 1 2: 2 -4");
  EXPECT_EQ(shown("if sum x > 0.0 then fold (fn s y => debug \"a\" (s + y)) 0.0 x else 1.0", {-1}), "");
  const std::string nested =
      "fold (fn s y => if y > 0.0 then fold (fn t z => if z > 1.0 then debug \"a\" (t + z) else t) s x else "
      "s) "
      "0.0 x";
  EXPECT_EQ(shown(nested, {1, -2, 3}), "a 2: 3 6");
  const std::string function =
      "let g = if sum x > 0.0 then (fn v => debug \"a\" (v + 1.0)) else (fn v => v) in g x";
  EXPECT_EQ(shown(function, {1}), "a 1: 2");
  EXPECT_EQ(shown(function, {-1}), "");
  const std::string elements = "for i => if x[i] > 0.0 then debug \"a\" (x[i] * 2.0) else 0.0";
  EXPECT_EQ(shown(elements, {1, -2}), "a 2: 2 -4");
  EXPECT_EQ(shown("if sum x > 0.0 then " + elements + " else x", {1, -2}), "");
}

TEST(FromCoreRun, BroadcastingIsByLiteralOne) {
  EXPECT_EQ(result("entry f (x : f32[m, n]) (y : f32[m, 1]) = x - y",
                   {reals({2, 2}, {1, 2, 3, 4}), reals({2, 1}, {1, 10})}),
            (Reals{0, 1, -7, -6}));
  EXPECT_EQ(result("entry f (a : f32[h, m, k]) (b : f32[1, k, n]) = a @ b",
                   {reals({2, 1, 1}, {2, 3}), reals({1, 1, 2}, {10, 100})}),
            (Reals{20, 200, 30, 300}));
}

TEST(FromCoreRun, RearrangingThereAndBack) {
  Tensor x = Random().tensor({3, 8});
  EXPECT_EQ(
      result("entry f[h, k] (x : f32[t, h*k]) = merge_heads (heads[h, k] x)", {x}, {{"h", 2}, {"k", 4}}),
      x.floats);
  EXPECT_EQ(result("entry f[h] (x : f32[t, h*k]) = rearrange x [t, h*k] => [t, k*h]",
                   {reals({1, 4}, {1, 2, 3, 4})}, {{"h", 2}}),
            (Reals{1, 3, 2, 4}));
  EXPECT_EQ(result("entry f (x : f32[m, n]) = transpose (transpose x)", {x}), x.floats);
}

TEST(FromCoreRun, SoftmaxAndNorms) {
  Tensor x = Random().tensor({3, 5}, 3);
  Reals softmax = result("entry f (x : f32[m, n]) = softmax x", {x});
  Reals wanted;
  for (int r = 0; r < 3; ++r) {
    double sum = 0;
    for (int c = 0; c < 5; ++c) sum += std::exp(x.floats[r * 5 + c]);
    for (int c = 0; c < 5; ++c) wanted.push_back(std::exp(x.floats[r * 5 + c]) / sum);
  }
  expect_near(softmax, wanted, 1e-5);
  Reals logs = result("entry f (x : f32[m, n]) = exp (log_softmax x)", {x});
  expect_near(logs, wanted, 1e-5);
  Reals norm = result("entry f (x : f32[m, n]) (w : f32[n]) (e : f32) = rms_norm x w e",
                      {reals({1, 2}, {3, 4}), reals({2}, {1, 2}), reals({}, {0})});
  expect_near(norm, {3 / std::sqrt(12.5), 8 / std::sqrt(12.5)}, 1e-6);
}

TEST(FromCoreRun, ReductionsOverSeveralIndices) {
  const Tensor x = reals({2, 3}, {1, 2, 3, 4, 5, 9});
  auto over_both = [&](const std::string& f) {
    return result("entry f (x : f32[m, n]) = " + f + " i j => x[i, j]", {x});
  };
  EXPECT_EQ(over_both("sum"), (Reals{24}));
  EXPECT_EQ(over_both("mean"), (Reals{4}));
  expect_near(over_both("variance"), {20.0 / 3.0}, 1e-5);
  expect_near(over_both("median"), {3.5}, 1e-6);
  EXPECT_EQ(result("entry f (x : f32[m, n]) = f32 (argmax i j => x[i, j])", {x}), (Reals{5}));
  EXPECT_EQ(result("entry f (x : f32[m, n]) = f32 (count i j => x[i, j] > 2.0)", {x}), (Reals{4}));
  EXPECT_EQ(result("entry f (x : f32[m, n]) = reduce max 0.0 i j => x[i, j]", {x}), (Reals{9}));
  EXPECT_EQ(result("entry f (x : f32[m, n]) = reduce add 5.0 i j => x[i, j]", {x}), (Reals{29}));
  EXPECT_EQ(result("entry f (x : f32[m, n]) = reduce (fn a b => a * 2.0 + b) 1.0 i j => x[i, j]", {x}),
            (Reals{64 + 32 + 2 * 16 + 3 * 8 + 4 * 4 + 5 * 2 + 9}));
}

TEST(FromCoreRun, Orders) {
  const Tensor x = reals({2, 3}, {3, 1, 2, -1, NAN, -1});
  const auto number = [](int64_t i) { return integers({}, {i}); };
  EXPECT_EQ(run("entry f (x : f32[m, n]) = for i (r < n) => argsmallest r x[i]", {x}).results[0].integers,
            (std::vector<int64_t>{1, 2, 0, 0, 2, 1}));
  EXPECT_EQ(run("entry f (x : f32[m, n]) = for (r < m) i => arglargest r x[:, i]", {x}).results[0].integers,
            (std::vector<int64_t>{0, 1, 0, 1, 0, 1}));
  const char* const at = "entry f (x : f32[m, n]) (i : i64) where 0 <= i, i < n = f32 (arglargest i x)";
  EXPECT_EQ(result(at, {x, number(0)}), (Reals{0, 1}));
  EXPECT_EQ(result(at, {x, number(2)}), (Reals{1, 2}));
  EXPECT_NE(run(at, {x, number(3)}).error, "");
  // The keys depend on the number; how many there are depends on the element, or on a loop.
  EXPECT_EQ(result("entry f (x : f32[n]) = for (i < n) => f32 (argsmallest i (x * real (1 - i)))",
                   {reals({3}, {3, 1, 2})}),
            (Reals{1, 1, 1}));
  EXPECT_EQ(result("entry f (x : f32[m, n]) (l : i64[m]) = for i => sum (sort x[i, : l[i]] * [1.0, 10.0, "
                   "100.0][: l[i]])",
                   {x, integers({2}, {2, 1})}),
            (Reals{31, -1}));
  EXPECT_EQ(result("entry f (x : f32[n]) = fold (fn s c => s * 10.0 + (sort x[: c + 1])[c]) 0.0 (iota n)",
                   {reals({3}, {3, 1, 4})}),
            (Reals{334}));
}

TEST(FromCoreRun, Loops) {
  Outcome o = run("entry f (xs : f32[n]) = scan (fn s x => (s + x, s * x)) 0.0 xs", {reals({3}, {1, 2, 3})});
  ASSERT_EQ(o.error, "");
  EXPECT_EQ(o.results[0].floats, (Reals{6}));
  EXPECT_EQ(o.results[1].floats, (Reals{0, 2, 9}));
  EXPECT_EQ(result("entry f (n : i64) (x : f32) = iterate n (fn y => y * x) 1.0",
                   {integers({}, {10}), reals({}, {2})}),
            (Reals{1024}));
  EXPECT_EQ(result("entry f (xs : f32[b, n]) = for i => fold (fn s x => s * 10.0 + x) 0.0 xs[i]",
                   {reals({2, 3}, {1, 2, 3, 4, 5, 6})}),
            (Reals{123, 456}));
  o = run(
      "entry f (cache : *f32[n, s]) (xs : f32[n]) (pos : i64) = "
      "scan (fn total (c, x) => let c = c with [pos] = x in (total + (sum j => c[j]), c)) 0.0 (cache, xs)",
      {reals({2, 3}, {1, 1, 1, 2, 2, 2}), reals({2}, {10, 20}), integers({}, {1})});
  ASSERT_EQ(o.error, "");
  EXPECT_EQ(o.results[0].floats, (Reals{36}));
  ASSERT_EQ(o.states.size(), 1u);
  EXPECT_EQ(o.states[0].floats, (Reals{1, 10, 1, 2, 20, 2}));
  EXPECT_EQ(o.results[1].floats, o.states[0].floats);
}

TEST(FromCoreRun, LoopsThatTheDataEnds) {
  const char* const halved = "entry f (x : f32[n]) = while (fn s => sum s > 1.0) (fn s => s * 0.5) x";
  EXPECT_EQ(result(halved, {reals({2}, {3, 5})}), (Reals{0.375, 0.625}));
  EXPECT_EQ(result(halved, {reals({2}, {0.25, 0.5})}), (Reals{0.25, 0.5}));
  EXPECT_EQ(result(halved, {reals({0}, {})}), (Reals{}));
  const char* const times = "entry f (x : f32[n]) (k : i64[1]) = iterate (k[0]) (fn s => s + 1.0) x";
  EXPECT_EQ(result(times, {reals({1}, {1}), integers({1}, {7})}), (Reals{8}));
  EXPECT_EQ(result(times, {reals({1}, {1}), integers({1}, {0})}), (Reals{1}));
  EXPECT_EQ(result(times, {reals({1}, {1}), integers({1}, {-3})}), (Reals{1}));
  // Every point of a `for` has an end of its own; one that has ended does not read on.
  EXPECT_EQ(result("entry f (x : f32[n]) (ends : i64[m]) = for j => "
                   "(while (fn (s, k) => k < ends[j]) (fn (s, k) => (s + x[k], k + 1)) (0.0, i64 0)) |> "
                   "(fn (s, k) => s)",
                   {reals({3}, {1, 2, 4}), integers({4}, {3, 0, 1, 2})}),
            (Reals{7, 0, 1, 3}));
  // The number of steps may follow from the point.
  EXPECT_EQ(result("entry f (x : f32[n]) = for i (j < n) => iterate (j - i) (fn s => s * 2.0) x[i]",
                   {reals({3}, {1, 10, 100})}),
            (Reals{1, 2, 4, 10, 10, 20, 100, 100, 100}));
  // In another loop, and another loop in it.
  EXPECT_EQ(result("entry f (x : f32[n]) = fold (fn s r => while (fn t => t < r) (fn t => t * 2.0) s) 1.0 x",
                   {reals({3}, {3, 5, 30})}),
            (Reals{32}));
  EXPECT_EQ(result("entry f (x : f32[n]) = while (fn s => s < 20.0) (fn s => fold (fn t r => t + r) s x) 1.0",
                   {reals({3}, {1, 2, 3})}),
            (Reals{25}));
}

TEST(FromCoreRun, UpdatesAtPositionsOfTheData) {
  const Tensor x = reals({4}, {1, 2, 3, 4});
  EXPECT_EQ(result("entry f (x : f32[n]) (k : i64) (c : i64[1]) = x with [c[0]] = 9.0",
                   {x, integers({}, {0}), integers({1}, {2})}),
            (Reals{1, 2, 9, 4}));
  EXPECT_EQ(result("entry f (x : f32[n]) (k : i64[1]) = let c = k[0] in x with [c : c + 2] = [8.0, 9.0]",
                   {x, integers({1}, {1})}),
            (Reals{1, 8, 9, 4}));
  EXPECT_EQ(result("entry f (x : f32[n]) (ks : i64[m]) = fold (fn x k => x with [k] = x[k] * 10.0) x ks",
                   {x, integers({3}, {1, 3, 1})}),
            (Reals{1, 200, 3, 40}));
  EXPECT_EQ(
      run("entry f (x : f32[n]) (k : i64[1]) = let c = k[0] in x with [c : c + 2] = [8.0, 9.0]",
          {x, integers({1}, {3})})
          .error,
      "`x with [c : c + 2] = [8.0, 9.0]` (test.axn:1:53): the slice begins at 3, which is not in 0 .. 2");
  EXPECT_EQ(run("entry f (x : f32[n]) (k : i64[1]) = x with [k[0]] = 1.0", {x, integers({1}, {4})}).error,
            "index `k[0]` in `x with [k[0]] = 1.0` (test.axn:1:37): 4 is not in 0 .. 3");
}

TEST(FromCoreRun, AnIfChoosesBetweenFunctions) {
  const char* const chosen =
      "entry f (x : f32[n]) (up : bool) = let g = if up then fn y => y + 1.0 else neg in g (g x)\n";
  EXPECT_EQ(result(chosen, {reals({2}, {1, 2}), {base::Elem::boolean, {}, {}, {1}}}), (Reals{3, 4}));
  EXPECT_EQ(result(chosen, {reals({2}, {1, 2}), {base::Elem::boolean, {}, {}, {0}}}), (Reals{1, 2}));
  EXPECT_EQ(result("entry f (x : f32[n]) (up : bool) = (if up then max else min) 1.5 x",
                   {reals({2}, {1, 2}), {base::Elem::boolean, {}, {}, {1}}}),
            (Reals{1.5, 2}));
  EXPECT_EQ(result("entry f (x : f32[n]) (up : bool) = reduce (if up then add else mul) 1.0 x",
                   {reals({2}, {4, 3}), {base::Elem::boolean, {}, {}, {1}}}),
            (Reals{8}));
}

TEST(FromCoreRun, ALoopThatDoesNotEndFails) {
  EXPECT_EQ(run("entry f (x : f32) = while (fn s => true) (fn s => s * 0.5) x", {reals({}, {1})}).error,
            "`while (fn s => true) (fn s => s * 0.5) x` (test.axn:1:21) goes on for more than 1048576 steps");
}

TEST(FromCoreRun, LiteralsOfAFunctionFitEveryUse) {
  const char* const bumped =
      "fun bumped x = x + 256\nentry f (x : i16[n]) = bumped x\nentry g (x : u8[n]) = bumped x";
  const Lowered lowered = lower(bumped);
  EXPECT_EQ(lowered.order, (std::vector<std::string>{"f"}));
  EXPECT_NE(lowered.errors.find("`256` does not fit into u8, which holds 0 to 255"), std::string::npos)
      << lowered.errors;
}

TEST(FromCoreRun, LiteralsAreConvertedFromNothing) {
  EXPECT_EQ(run("entry f (x : i64) = x + i64 16777217", {integers({}, {0})}).results.at(0).integers,
            (std::vector<int64_t>{16777217}));
  EXPECT_EQ(run("entry f (x : i64) = x + sum (i64 [-9007199254740993, 1])", {integers({}, {0})})
                .results.at(0)
                .integers,
            (std::vector<int64_t>{-9007199254740992}));
  EXPECT_EQ(run("entry f (x : f64) = x + f64 0.1", {{Elem::f64, {}, {0}, {}}}).results.at(0).floats,
            (Reals{0.1}));
  EXPECT_EQ(run("entry f (x : i64) = x + i64 2.75", {integers({}, {0})}).results.at(0).integers,
            (std::vector<int64_t>{2}));
}

TEST(FromCoreRun, UpdatesKeepOtherReadersOfTheOldValue) {
  EXPECT_EQ(result("entry f (x : f32[n]) = let y = x with [0] = 9.0 in x + y", {reals({2}, {1, 2})}),
            (Reals{10, 4}));
  EXPECT_EQ(
      result("entry f (x : f32[m, n]) = for i => (x[i] with [0] = x[i, 1])", {reals({2, 2}, {1, 2, 3, 4})}),
      (Reals{2, 2, 4, 4}));
}

/// What an element of an inner range needs may depend on that element alone: its range still depends on the
/// index around.
TEST(FromCoreRun, RangesDependOnIndicesAround) {
  const Tensor x = reals({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(result("entry f (x : f32[n, n]) = for (i < n) => sum (j < i) => mean x[j]", {x}),
            (Reals{0, 2, 7}));
  EXPECT_EQ(result("entry f (x : f32[n, c]) = for (i < n) => maximum (j < i + 1) => sum x[j, 1:]", {x}),
            (Reals{5, 11, 17}));
  EXPECT_EQ(result("entry f (x : f32[n, n]) (k : i64[n]) = for i => sum (j < min n (max 0 k[i])) => sum x[j]",
                   {x, integers({3}, {2, -1, 9})}),
            (Reals{21, 0, 45}));
  EXPECT_EQ(result("entry f (x : f32[n]) = real (sum (i < n) => sum (j < i) => sum (k < j) => i64 1)",
                   {reals({7}, Reals(7, 0))}),
            (Reals{35}));
}

TEST(FromCoreRun, WhatCannotBeLoweredIsSaid) {
  Lowered odd = lower("entry f (x : i64[n]) = fold (fn s k => s + sum (for (i < k) => real i)) 0.0 x");
  EXPECT_TRUE(odd.order.empty());
  EXPECT_NE(odd.errors.find("E9001"), std::string::npos) << odd.errors;
}

}  // namespace
}  // namespace axon::graph
