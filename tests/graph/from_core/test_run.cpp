// Programs run end to end by the reference interpreter: numbers that can be checked by hand, laws between
// programs, and a small decoder whose one-token steps must agree with reading all tokens at once.
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

/// What must hold of an integer argument is checked, of any type.
/// What a function needs of an integer that only the data decides is checked when evaluation comes to it.
/// What an index in a branch needs is checked where the branch is taken, also of an integer argument.
/// What a function states is checked though its own argument, of another function, was never refused.
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

// ---- a decoder ----

const char* const decoder = R"(
type Layer[d, h, g, k, f] =
  { norm1 : f32[d], wq : f32[d, h*g*k], wk : f32[d, h*k], wv : f32[d, h*k], wo : f32[h*g*k, d]
  , norm2 : f32[d], w1 : f32[d, f], w2 : f32[f, d], w3 : f32[d, f] }
type Model[n, v, d, h, g, k, f] = { embed : f32[v, d], layers : Stack[n, Layer[d, h, g, k, f]], norm : f32[d] }
type Cache[n, h, k, s] = { keys : f32[n, h, k, s], values : f32[n, h, s, k] }
fun mlp x p = (silu (x @ p.w1) * (x @ p.w3)) @ p.w2
fun table (m : i64) (half : i64) (pos : i64) (base : f32) =
  let angles = for (i < m) (j < half) => real (pos + i) * pow base (-(real j) / real half)
  in (cos angles, sin angles)
fun attend (q : [h, g, m, k]) (keys : [h, k, t]) (values : [h, t, k]) (pos : i64) =
  let scores = for h g i j => (sum c => q[h, g, i, c] * keys[h, c, j]) / sqrt (real k)
  let weights = softmax (causal pos scores)
  in for h g i c => sum j => weights[h, g, i, j] * values[h, j, c]
fun decoder[n, d, h, g, k, f, s, m] (layers : Stack[n, Layer[d, h, g, k, f]]) (cache : *Cache[n, h, k, s])
    (x : f32[m, d]) (pos : i64) (eps : f32) (base : f32) =
  let (cosines, sines) = table m (k / 2) pos base
  let step x (w, c) =
    let y = rms_norm x w.norm1 eps
    let q = rope (rearrange (y @ w.wq) [m, h*g*k] => [h, g, m, k]) cosines sines
    let key = rope (rearrange (y @ w.wk) [m, h*k] => [h, m, k]) cosines sines
    let value = rearrange (y @ w.wv) [m, h*k] => [h, m, k]
    let keys = c.keys with [:, :, pos : pos + m] = transpose key
    let values = c.values with [:, pos : pos + m, :] = value
    let a = attend q (keys[:, :, 0 : pos + m]) (values[:, 0 : pos + m, :]) pos
    let x = x + (rearrange a [h, g, m, k] => [m, h*g*k]) @ w.wo
    in (x + mlp (rms_norm x w.norm2 eps) w, { keys = keys, values = values })
  in scan step x (layers, cache)
entry logits[h, k] (p : weights Model[n, v, d, h, g, k, f]) (cache : *Cache[n, h, k, s]) (tokens : i32[m]) (pos : i64)
    (eps : f32) (base : f32) =
  let (x, cache) = decoder p.layers cache (embedding p.embed tokens) pos eps base
  in (rms_norm x p.norm eps @ transpose p.embed, cache)
)";

TEST(FromCoreRun, DecodingStepByStepIsReadingAllAtOnce) {
  Lowered lowered = lower(decoder);
  ASSERT_EQ(lowered.errors, "");
  const Graph& g = lowered.graphs.at("logits");
  const int64_t n = 2, v = 11, d = 8, h = 2, groups = 2, k = 4, f = 12, s = 6, m = 5;
  Random random;
  std::map<std::string, Tensor> weights = {{"p.embed", random.tensor({v, d})},
                                           {"p.layers.norm1", random.tensor({n, d})},
                                           {"p.layers.wq", random.tensor({n, d, h * groups * k}, 0.3)},
                                           {"p.layers.wk", random.tensor({n, d, h * k}, 0.3)},
                                           {"p.layers.wv", random.tensor({n, d, h * k}, 0.3)},
                                           {"p.layers.wo", random.tensor({n, h * groups * k, d}, 0.3)},
                                           {"p.layers.norm2", random.tensor({n, d})},
                                           {"p.layers.w1", random.tensor({n, d, f}, 0.3)},
                                           {"p.layers.w2", random.tensor({n, f, d}, 0.3)},
                                           {"p.layers.w3", random.tensor({n, d, f}, 0.3)},
                                           {"p.norm", random.tensor({d})},
                                           {"eps", reals({}, {1e-5})},
                                           {"base", reals({}, {10000})}};
  auto call = [&](const std::vector<int64_t>& tokens, int64_t pos, const Tensor& keys, const Tensor& values) {
    std::map<std::string, Tensor> given = weights;
    given["cache.keys"] = keys;
    given["cache.values"] = values;
    given["tokens"] = integers({static_cast<int64_t>(tokens.size())}, tokens, Elem::i32);
    given["pos"] = integers({}, {pos});
    std::vector<Tensor> inputs;
    for (const Input& i : g.inputs) inputs.push_back(given.at(i.path));
    return interpret(g, inputs, named_sizes(g, {{"h", h}, {"k", k}}), Precision::storage);
  };
  const std::vector<int64_t> tokens = {3, 1, 4, 1, 10};
  Tensor keys = reals({n, h, k, s}, Reals(static_cast<size_t>(n * h * k * s), 0));
  Tensor values = reals({n, h, s, k}, Reals(static_cast<size_t>(n * h * k * s), 0));
  Outcome all = call(tokens, 0, keys, values);
  ASSERT_EQ(all.error, "");
  ASSERT_EQ(all.results.size(), 3u);
  ASSERT_EQ(all.results[0].shape, (std::vector<int64_t>{m, v}));
  Tensor step_keys = keys, step_values = values;
  for (int64_t pos = 0; pos < m; ++pos) {
    Outcome one = call({tokens[static_cast<size_t>(pos)]}, pos, step_keys, step_values);
    ASSERT_EQ(one.error, "");
    auto row = all.results[0].floats.begin() + pos * v;
    expect_near(one.results[0].floats, Reals(row, row + v), 1e-4);
    step_keys = one.states.at(0);
    step_values = one.states.at(1);
  }
  expect_near(step_keys.floats, all.states.at(0).floats, 1e-5);
  std::string error = call({1}, s, keys, values).error;
  EXPECT_NE(error.find("m + pos <= s; the sides are 7 and 6"), std::string::npos) << error;
}

}  // namespace
}  // namespace axon::graph
