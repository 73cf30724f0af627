// What the operators mean, on small graphs written as text: numerics of every kind, updates, loops, sizes,
// checks.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "graph/interpret.h"
#include "graph/round.h"

namespace axon::graph {
namespace {

const double inf = std::numeric_limits<double>::infinity();
const double nan_value = std::nan("");

Tensor floats(std::vector<int64_t> shape, std::vector<double> values, Elem elem = Elem::f32) {
  return {elem, std::move(shape), std::move(values), {}};
}
Tensor integers(std::vector<int64_t> shape, std::vector<int64_t> values, Elem elem = Elem::i64) {
  return {elem, std::move(shape), {}, std::move(values)};
}

Outcome run(const std::string& text, const std::vector<Tensor>& inputs,
            Precision precision = Precision::storage) {
  std::string error;
  auto g = parse(text, error);
  EXPECT_TRUE(g.has_value()) << error << "\n" << text;
  if (!g) return {};
  EXPECT_EQ(verify(*g, Extents::dynamic), std::vector<std::string>{}) << text;
  return interpret(*g, inputs, {}, precision);
}

/// One output computed at every i < n from %0 = x and %1 = y.
Outcome pointwise(const std::string& elem, const std::string& result, const std::string& body,
                  const Tensor& x, const Tensor& y, Precision precision = Precision::storage) {
  return run("graph \"t\" size n = axis 0 of 0 where n input \"x\" argument " + elem +
                 "[n] input \"y\" argument " + elem +
                 "[n] %0 = input 0 %1 = input 1 %2 = compute [i < n] { out " + result + "[n] = " + body +
                 " } result \"\" %2",
             {x, y}, precision);
}

std::vector<int64_t> ints(const Outcome& o) {
  EXPECT_EQ(o.error, "");
  return o.results.empty() ? std::vector<int64_t>{} : o.results[0].integers;
}
std::vector<double> reals(const Outcome& o) {
  EXPECT_EQ(o.error, "");
  return o.results.empty() ? std::vector<double>{} : o.results[0].floats;
}
using Ints = std::vector<int64_t>;
using Reals = std::vector<double>;

void expect_same(const Reals& a, const Reals& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]))
      EXPECT_TRUE(std::isnan(a[i])) << i;
    else
      EXPECT_EQ(a[i], b[i]) << i;
  }
}

TEST(Interpret, IntegersFloorAndWrap) {
  Tensor x = integers({4}, {7, -7, 7, -7}), y = integers({4}, {2, 2, -2, -2});
  EXPECT_EQ(ints(pointwise("i64", "i64", "%0[i] / %1[i]", x, y)), (Ints{3, -4, -4, 3}));
  EXPECT_EQ(ints(pointwise("i64", "i64", "%0[i] % %1[i]", x, y)), (Ints{1, 1, -1, -1}));
  Tensor a = integers({3}, {127, -128, 100}, Elem::i8), b = integers({3}, {1, -1, 100}, Elem::i8);
  EXPECT_EQ(ints(pointwise("i8", "i8", "%0[i] + %1[i]", a, b)), (Ints{-128, 127, -56}));
  EXPECT_EQ(ints(pointwise("i8", "i8", "%0[i] * %1[i]", a, b)), (Ints{127, -128, 16}));
  EXPECT_EQ(ints(pointwise("i8", "i8", "%0[i] / %1[i]", a, b)), (Ints{127, -128, 1}));
  Tensor u = integers({2}, {0, 255}, Elem::u8);
  EXPECT_EQ(ints(pointwise("u8", "u8", "%0[i] - 1_u8", u, u)), (Ints{255, 254}));
}

/// Of integers a node of its own makes it an error; what computes more than is reached goes on.
TEST(Interpret, DivisionByZeroIsZeroForIntegersAndInfinityForFloats) {
  Tensor one = integers({1}, {1}), zero = integers({1}, {0});
  EXPECT_EQ(ints(pointwise("i64", "i64", "%0[i] / %1[i]", one, zero)), Ints{0});
  EXPECT_EQ(ints(pointwise("i64", "i64", "%0[i] % %1[i]", one, zero)), Ints{0});
  Tensor x = floats({3}, {1, -1, 0}), y = floats({3}, {0, 0, 0});
  expect_same(reals(pointwise("f32", "f32", "%0[i] / %1[i]", x, y)), {inf, -inf, nan_value});
}

TEST(Interpret, MaxAndMinPropagateNan) {
  Tensor x = floats({3}, {nan_value, 1, 2}), y = floats({3}, {1, nan_value, 3});
  expect_same(reals(pointwise("f32", "f32", "max(%0[i], %1[i])", x, y)), {nan_value, nan_value, 3});
  expect_same(reals(pointwise("f32", "f32", "min(%0[i], %1[i])", x, y)), {nan_value, nan_value, 2});
  EXPECT_EQ(ints(pointwise("f32", "bool", "%0[i] == %0[i]", x, y)), (Ints{0, 1, 1}));
  expect_same(reals(pointwise("f32", "f32", "max(k < n; %0[k])", x, y)), {nan_value, nan_value, nan_value});
}

TEST(Interpret, FloatRemainderFloors) {
  Tensor x = floats({4}, {5.5, -5.5, 5.5, -5.5}), y = floats({4}, {2, 2, -2, -2});
  expect_same(reals(pointwise("f32", "f32", "%0[i] % %1[i]", x, y)), {1.5, 0.5, -0.5, -1.5});
}

TEST(Interpret, StorageRoundsAndF64DoesNot) {
  Tensor x = floats({1}, {1.0}), y = floats({1}, {std::ldexp(1.0, -30)});
  expect_same(reals(pointwise("f32", "f32", "%0[i] + %1[i]", x, y)), {1.0});
  expect_same(reals(pointwise("f32", "f32", "%0[i] + %1[i]", x, y, Precision::f64)),
              {1.0 + std::ldexp(1.0, -30)});
  expect_same(reals(pointwise("f32", "bf16", "bf16(%0[i] * 3.14159265)", x, y)), {3.140625});
}

TEST(Interpret, RoundingToNarrowTypesIsToNearestEven) {
  EXPECT_EQ(round_to(Elem::bf16, 1.00390625), 1.0);       // 1 + 2^-8: a tie, to even
  EXPECT_EQ(round_to(Elem::bf16, 1.01171875), 1.015625);  // 1 + 3 * 2^-8: a tie, to even
  EXPECT_EQ(round_to(Elem::f16, 65519.0), 65504.0);
  EXPECT_EQ(round_to(Elem::f16, 65520.0), inf);
  EXPECT_EQ(round_to(Elem::f16, std::ldexp(1.0, -24)), std::ldexp(1.0, -24));
  EXPECT_EQ(round_to(Elem::f16, std::ldexp(1.0, -25)), 0.0);  // half of the least denormal: to even
  EXPECT_EQ(round_to(Elem::f8e4m3, 464.0), 448.0);
  EXPECT_TRUE(std::isnan(round_to(Elem::f8e4m3, 465.0)));
  EXPECT_EQ(round_to(Elem::f8e5m2, 61440.0), inf);
  EXPECT_EQ(round_to(Elem::f8e5m2, -1.125), -1.0);
  EXPECT_TRUE(std::signbit(round_to(Elem::bf16, -1e-60)));
}

TEST(Interpret, CastsTruncateAndSaturate) {
  Tensor x = floats({6}, {2.9, -2.9, 1e30, -1e30, nan_value, 300}), y = x;
  EXPECT_EQ(ints(pointwise("f32", "i32", "i32(%0[i])", x, y)),
            (Ints{2, -2, 2147483647, -2147483648ll, 0, 300}));
  EXPECT_EQ(ints(pointwise("f32", "u8", "u8(%0[i])", x, y)), (Ints{2, 0, 255, 0, 0, 255}));
  EXPECT_EQ(ints(pointwise("f32", "bool", "bool(%0[i])", x, y)), (Ints{1, 1, 1, 1, 1, 1}));
}

TEST(Interpret, SelectDoesNotLookAtTheOtherSide) {
  Tensor x = floats({3}, {1, 2, 3});
  expect_same(reals(pointwise("f32", "f32", "select({i} < 1, 9.0, %0[i - 1])", x, x)), {9, 1, 2});
  Tensor n = integers({2}, {0, 4});
  EXPECT_EQ(ints(pointwise("i64", "i64", "select(%0[i] == 0, 7, 8 / %0[i])", n, n)), (Ints{7, 2}));
}

TEST(Interpret, RowsOfMinusInfinity) {
  const auto part = [&](const std::string& component, const std::string& kind, const Reals& scores) {
    return reals(
        run("graph \"t\" size n = axis 0 of 0 where n input \"x\" argument f32[n] %0 = input 0 "
            "%1 = compute [] { out f32[] = proj(" +
                component + ", online(k < n; " + kind + "; %0[k], 2.0)) } result \"\" %1",
            {floats({static_cast<int64_t>(scores.size())}, scores)}));
  };
  expect_same(part("1", "e, 1.0", {-inf, -inf}), {nan_value});
  expect_same(part("0", "e, 1.0, or_zero", {-inf, -inf}), {-inf});
  expect_same(part("1", "e, 1.0, or_zero", {-inf, -inf}), {0});
  expect_same(part("2", "e, 1.0, or_zero", {-inf, -inf}), {0});
  expect_same(part("2", "2, 0.5, or_zero", {-inf, 3}), {2});
}

TEST(Interpret, ReductionsOfNothing) {
  Tensor none = floats({0}, {});
  auto of = [&](const std::string& body) {
    return run(
        "graph \"t\" size n = axis 0 of 0 where n input \"x\" argument f32[n] %0 = input 0 %1 = compute [] { "
        "out "
        "f32[] = " +
            body + " } result \"\" %1",
        {none});
  };
  expect_same(reals(of("sum(k < n; %0[k])")), {0});
  expect_same(reals(of("prod(k < n; %0[k])")), {1});
  expect_same(reals(of("max(k < n; %0[k])")), {-inf});
  expect_same(reals(of("min(k < n; %0[k])")), {inf});
  expect_same(reals(of("proj(0, online(k < n; e, 1.0; %0[k]))")), {-inf});
  expect_same(reals(of("proj(1, online(k < n; e, 1.0; %0[k]))")), {0});
  Outcome least =
      run("graph \"t\" size n = axis 0 of 0 where n input \"x\" argument i32[n] %0 = input 0 %1 = compute [] "
          "{ out i32[] = max(k < n; %0[k]) } result \"\" %1",
          {integers({0}, {}, Elem::i32)});
  EXPECT_EQ(ints(least), (Ints{-2147483648ll}));
}

TEST(Interpret, ArgmaxTiesGoToTheLowerIndex) {
  auto argmax = [](Tensor x) {
    return run(
        "graph \"t\" size n = axis 0 of 0 where n input \"x\" argument f32[n] %0 = input 0 %1 = compute [] { "
        "out "
        "i64[] = argmax(k < n; %0[k]) } result \"\" %1",
        {std::move(x)});
  };
  EXPECT_EQ(ints(argmax(floats({4}, {1, 3, 3, 2}))), (Ints{1}));
  EXPECT_EQ(ints(argmax(floats({2}, {-inf, -inf}))), (Ints{0}));
  EXPECT_EQ(ints(argmax(floats({4}, {1, nan_value, 5, nan_value}))), (Ints{1}));
  EXPECT_EQ(argmax(floats({0}, {})).results.at(0).integers, (std::vector<int64_t>{0}));
}

/// NaNs come last, or first in descending order; equal elements in the order of their positions.
TEST(Interpret, OrderIsStable) {
  const auto ordered = [](const std::string& word, const std::string& elem, const Tensor& x) {
    return ints(run("graph \"t\" size n = axis 0 of 0 where n input \"x\" argument " + elem +
                        "[n] %0 = input 0 %1 = compute [i < n] { out i64[n] = " + word +
                        "(j < n; %0[j], {i}) } result \"\" %1",
                    {x}));
  };
  const Tensor x = floats({8}, {2, nan_value, -inf, 0, -0.0, 2, nan_value, inf});
  EXPECT_EQ(ordered("argsmallest", "f32", x), (Ints{2, 3, 4, 0, 5, 7, 1, 6}));
  EXPECT_EQ(ordered("arglargest", "f32", x), (Ints{1, 6, 7, 0, 5, 3, 4, 2}));
  const Tensor b = integers({5}, {1, 0, 1, 0, 1}, Elem::boolean);
  EXPECT_EQ(ordered("argsmallest", "bool", b), (Ints{1, 3, 0, 2, 4}));
  EXPECT_EQ(ordered("arglargest", "bool", b), (Ints{0, 2, 4, 1, 3}));
  EXPECT_EQ(ordered("argsmallest", "f32", floats({0}, {})), Ints{});
}

/// A part of the order, rows, keys that are computed, and more numbers than there are elements.
TEST(Interpret, OrderOfRows) {
  const Outcome o = run(R"(graph "t"
  size m = axis 0 of 0 where m
  size n = axis 1 of 0 where n
  input "x" argument i64[m, n]
  %0 = input 0
  %1 = compute [p < n, i < 2] { out i64[n, 2] = arglargest(j < m; %0[j, p] * {p} - {j}, {i}) }
  %2 = compute [i < 4] { out i64[4] = argsmallest(j < n; %0[0, j], {i}) }
  result "0" %1
  result "1" %2
)",
                        {integers({2, 3}, {5, 1, 4, 6, 3, 5})});
  EXPECT_EQ(ints(o), (Ints{0, 1, 1, 0, 1, 0}));
  EXPECT_EQ(o.results.at(1).integers, (Ints{1, 2, 0, 0}));
}

TEST(Interpret, NarrowTypesAccumulateWide) {
  // 4096 times 1 + 2^-7 in bf16: a bf16 accumulator would stop at 256.
  Tensor x = floats({4096}, Reals(4096, 1.0078125), Elem::bf16);
  Outcome o = run(
      "graph \"t\" size n = axis 0 of 0 where n input \"x\" argument bf16[n] %0 = input 0 %1 = compute [] "
      "{ out bf16[] = sum(k < n; %0[k]) } result \"\" %1",
      {x});
  expect_same(reals(o), {round_to(Elem::bf16, 4128.0)});
  // Integers wrap at every operator, inside a reduction as anywhere: 100 * 100 is 16 in i8.
  Tensor b = integers({3}, {100, 100, 100}, Elem::i8);
  o =
      run("graph \"t\" size n = axis 0 of 0 where n input \"x\" argument i8[n] %0 = input 0 %1 = compute [] "
          "{ out i8[] = max(k < n; %0[k] * %0[k] / 100_i8) } result \"\" %1",
          {b});
  EXPECT_EQ(ints(o), (Ints{0}));
}

TEST(Interpret, OnlineIsSoftmaxInTwoPasses) {
  const char* const text = R"(graph "t"
    size n = axis 1 of 0 where n
    size m = axis 0 of 0 where m
    input "s" argument f32[m, n]
    input "v" argument f32[n]
    %0 = input 0
    %1 = input 1
    %2 = compute [i < m] { out f32[m] = max(k < n; %0[i, k]) }
    %3 = compute [i < m] { out f32[m] = sum(k < n; exp(0.5 * (%0[i, k] - %2[i]))) }
    %4 = compute [i < m] { out f32[m] = sum(k < n; exp(0.5 * (%0[i, k] - %2[i])) * %1[k]) }
    %5 = compute [i < m] { out f32[m] = proj(2, (t0 := online(k < n; e, 0.5; %0[i, k], %1[k]))) / proj(1, t0) }
    %6 = compute [i < m] { out f32[m] = %4[i] / %3[i] }
    result "plain" %6
    result "online" %5
  )";
  Outcome o = run(text, {floats({4, 3}, {1, 2, 3, -inf, 0, -inf, -inf, -inf, -inf, 1e4, 0, 9e3}),
                         floats({3}, {1, 10, 100})});
  ASSERT_EQ(o.error, "");
  expect_same(o.results[1].floats, o.results[0].floats);
  EXPECT_TRUE(std::isnan(o.results[1].floats[2]));  // a fully masked row, by the formula
  EXPECT_EQ(o.results[1].floats[1], 10.0);
}

TEST(Interpret, UpdatesKeepTheOldValueForItsOtherReaders) {
  const char* const text = R"(graph "t"
    size n = axis 0 of 0 where n
    input "x" argument f32[n]
    %0 = input 0
    %1 = compute [i < n - 1] { out f32[n] of %0 at [i] = %0[i + 1] }
    %2 = compute [i < n] { out f32[n] = %0[i] + %1[i] }
    result "" %2
    result "updated" %1
  )";
  Outcome o = run(text, {floats({3}, {1, 2, 4})});
  expect_same(reals(o), {3, 6, 8});
  expect_same(o.results[1].floats, {2, 4, 4});
}

TEST(Interpret, LoopsCarryAndStatesEndUpdated) {
  const char* const text = R"(graph "t"
    size n = axis 0 of 0 where n
    size m = axis 1 of 0 where m
    input "s" state f32[n, m]
    input "w" weight f32[n]
    %0 = input 0
    %1 = input 1
    %2 = compute [j < m] { out f32[m] = 1.0 }
    %3 = loop [l < n] (f32[m] = %2, f32[n, m] = %0) {
      %4 = param
      %5 = compute [j < m] { out f32[m] = %4.0[j] * %1[l] }
      %6 = compute [j < m] { out f32[n, m] of %4.1 at [l, j] = %5[j] + %4.1[l, j] }
      yield (%5, %6)
    }
    result "" %3.0
  )";
  Outcome o = run(text, {floats({3, 2}, {0, 1, 0, 1, 0, 1}), floats({3}, {2, 3, 5})});
  expect_same(reals(o), {30, 30});
  ASSERT_EQ(o.states.size(), 1u);
  expect_same(o.states[0].floats, {2, 3, 6, 7, 30, 31});
  o = run(text, {floats({0, 2}, {}), floats({0}, {})});
  expect_same(reals(o), {1, 1});
}

TEST(Interpret, SizesAreSolvedAndChecked) {
  const char* const text = R"(graph "t"
    size b = axis 0 of 0 where b
    size d = axis 2 of 0 where 2*d
    size pos = scalar 1
    input "x" argument f32[b, b, 2*d]
    input "pos" scalar i64[] size pos
    %0 = input 0
    %1 = input 1
    %2 = compute [i < d] { out f32[d] = f32({pos}) }
    check pos < d : "`pos` is {lhs}, beyond the {rhs} rows"
    result "" %2
  )";
  auto at = [&](std::vector<int64_t> shape, int64_t pos) {
    size_t count = 1;
    for (int64_t s : shape) count *= static_cast<size_t>(s);
    return run(text, {floats(shape, Reals(count, 0)), integers({}, {pos})});
  };
  EXPECT_EQ(at({3, 3, 5}, 0).error, "axis 2 of `x` is 5, which is not 2*d");
  EXPECT_EQ(at({3, 4, 4}, 0).error, "axis 1 of `x` is 4, which is not b");
  EXPECT_EQ(at({3, 3, 4}, 2).error, "`pos` is 2, beyond the 2 rows");
  expect_same(reals(at({3, 3, 4}, 1)), {1, 1});
}

TEST(Interpret, GatherIsCheckedOnce) {
  const char* const text = R"(graph "t"
    size v = axis 0 of 0 where v
    size n = axis 0 of 1 where n
    input "table" weight f32[v]
    input "ids" argument i32[n]
    %0 = input 0
    %1 = input 1
    %2 = compute [i < n] { out f32[n] = %0[{bounded(i64(%1[i]), v, 0)}] }
    check %1 < v : "`ids` in `embed[ids]`"
    result "" %2
  )";
  expect_same(reals(run(text, {floats({3}, {1, 2, 3}), integers({2}, {2, 0}, Elem::i32)})), {3, 1});
  EXPECT_EQ(run(text, {floats({3}, {1, 2, 3}), integers({2}, {0, 3}, Elem::i32)}).error,
            "`ids` in `embed[ids]`: 3 is not in 0 .. 2");
}

TEST(Interpret, EvaluatorReadsThroughItsCaller) {
  std::string error;
  auto g = parse(
      "graph \"t\" size n = parameter input \"x\" argument f32[n] %0 = input 0 %1 = compute [i < n] { out "
      "f32[n] = sum(k < n; %0[k] * f32({i})) } result \"\" %1",
      error);
  ASSERT_TRUE(g.has_value()) << error;
  const Node& node = g->nodes[g->results[0].value.node];
  Evaluator e(*g, Precision::storage, [](Value, const std::vector<int64_t>& at) {
    return Number{double(at[0]), 0};
  });
  e.bind(g->sizes[0].var, 4);
  e.bind(node.domain[0].var, 10);
  EXPECT_EQ(e.evaluate(node.outputs[0].body).real, 60.0);
  e.bind(g->sizes[0].var, 3);
  EXPECT_EQ(e.evaluate(node.outputs[0].body).real, 30.0);
}

TEST(Interpret, MatrixProductIsFastEnough) {
  const char* const text = R"(graph "t"
    size n = axis 0 of 0 where n
    input "a" argument f32[n, n]
    input "b" argument f32[n, n]
    %0 = input 0
    %1 = input 1
    %2 = compute [i < n, j < n] { out f32[n, n] = sum(k < n; %0[i, k] * %1[k, j]) }
    result "" %2
  )";
  const int64_t n = 128;
  Tensor a = floats({n, n}, Reals(n * n, 0.5));
  auto start = std::chrono::steady_clock::now();
  Outcome o = run(text, {a, a});
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(reals(o)[5], 32.0);
  RecordProperty("nanoseconds_per_multiply_add", static_cast<int>(seconds * 1e9 / (n * n * n)));
  printf("%.1f ns per multiply-add\n", seconds * 1e9 / (n * n * n));
}

// ---- as before bound_dynamic_sizes ----

TEST(Interpret, DynamicExtentsEndWhereTheDataSays) {
  const std::string head =
      "graph \"t\" size n = axis 0 of 0 where n size m = axis 1 of 0 where m input \"x\" argument f32[n, m] "
      "input \"l\" argument i64[n] %0 = input 0 %1 = input 1 ";
  const std::string size = "k = bounded(%1[i], m + 1, 0) at most m", tail = " check %1 < m + 1 : \"size\"";
  const std::vector<Tensor> inputs = {floats({3, 2}, {1, 2, 4, 8, 16, 32}), integers({3}, {2, 0, 1})};
  EXPECT_EQ(reals(run(head + "%2 = compute [i < n, " + size + "] { out f32[n] = sum(a < k; %0[i, a]) }" +
                          tail + " result \"\" %2",
                      inputs)),
            (Reals{3, 0, 16}));
  EXPECT_EQ(reals(run(head + "%2 = compute [] { out f32[] = sum(i < n, " + size +
                          ", a < k; %0[i, a] * f32({k})) }" + tail + " result \"\" %2",
                      inputs)),
            (Reals{22}));
  EXPECT_EQ(reals(run(head + "%2 = compute [i < n, " + size +
                          ", a < k] { out f32[n, m] = %0[i, k - a - 1] } " + "%3 = compute [i < n, " + size +
                          "] { out f32[n] = max(a < k; %2[i, 0]) }" + tail + " result \"\" %3",
                      inputs)),
            (Reals{2, -inf, 16}));
  EXPECT_EQ(run(head + "%2 = compute [i < n, " + size + "] { out f32[n] = sum(a < k; %0[i, a]) }" + tail +
                    " result \"\" %2",
                {inputs[0], integers({3}, {2, 3, 1})})
                .error,
            "size: 3 is not in 0 .. 2");
}

TEST(Interpret, LoadsOfGuardedNodesNeedNotBeInRange) {
  const auto first = [](const std::string& guarded) {
    return run(
        "graph \"t\" size n = axis 0 of 0 where n input \"x\" argument f32[n] %0 = input 0 %1 = compute " +
            guarded + " [] { out f32[] = %0[n] + 1.0 } result \"\" %1",
        {floats({1}, {5})});
  };
  EXPECT_EQ(reals(first("guarded")), (Reals{1}));
  EXPECT_NE(first("").error, "");
}

}  // namespace
}  // namespace axon::graph
