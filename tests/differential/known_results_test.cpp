// Small programs with known results and errors, in every executor: what is checked while a program runs,
// loops, updates, and the element types of polymorphic values.
#include <gtest/gtest.h>

#include <limits>

#include "checked_runs.h"

namespace axon::differential {
namespace {
/// What has to hold fails where evaluation reaches it, whether its value is read or not, and nowhere else.
TEST(RunTimeChecks, FailWhereTheyAreReached) {
  const Compiled compiled(
      "entry named (x : f32[n]) (k : i64[m]) = let a = k[0] in x :> f32[a]\n"
      "entry inside (x : f32[n]) (k : i64[m]) = let a = k[0] in for (i < a) => (x :> f32[a])[i]\n"
      "entry count (x : f32[n]) (k : i64[m]) = x[nonzero (x > 0.0)] :> f32[2]\n"
      "entry unread (x : f32[n]) (k : i64[m]) = let y = x :> f32[3] in sum k\n"
      "entry branch (x : f32[n]) (k : i64[m]) = if k[0] > 0 then sum (x :> f32[3]) else -1.0\n"
      "entry elements (x : f32[n]) (k : i64[m]) = for i => if k[i] > 0 then sum (x :> f32[3]) else -1.0\n"
      "entry loop (x : f32[n]) (k : i64[m]) = fold (fn s i => s + sum (x :> f32[3])) 0.5 k\n"
      "entry kept (x : f32[n]) (k : i64[m]) = fold (fn s i => let y = s :> f32[3] in s) x k\n"
      "fun rows (y : 't[..s, n]) : 't[..s, 3] = y :> [.., 3]\n"
      "entry ranks (x : f32[n]) (k : i64[m]) = for i => sum (rows x) * real k[i]\n"
      "fun as_many (x : 't[a, ..s]) (v : i64) = x :> [v, ..]\n"
      "fun as_last x v = x :> [.., v]\n"
      "entry called (x : f32[n]) (k : i64[m]) = sum (as_many x (k[0])) + sum (as_many [x] (k[0] - 2))\n"
      "entry untyped (x : f32[n]) (k : i64[m]) = sum (sum (as_last [x, x] (k[0])))\n"
      "entry twice (x : f32[n]) (k : i64[m]) =\n"
      "  let y = (fn (j : i64) => for (i < 2 * j) => x[i else 0.5]) (max 0 (min (k[0]) n)) in for i => y[i]\n"
      "entry update (x : f32[n]) (k : i64[m]) =\n"
      "  fold (fn s a => s with [a : a + 2] = [10.0, 20.0]) x k\n"
      "entry copies (x : f32[n]) (k : i64[m]) = for i => sum (x with [k[i] : k[i] + 2] = [10.0, 20.0])\n",
      for_levels());
  const char* const three = "`x :> f32[3]` (generated.axn";
  const std::vector<CheckedRun> runs = {
      {"named", {1, 2, 3}, {3}, {1, 2, 3}},
      {"named", {1, 2, 3}, {2}, {}, "on axis 0: the axis has 3 elements, not 2"},
      {"named", {}, {0}, {}},
      {"inside", {1, 2, 3}, {3}, {1, 2, 3}},
      {"inside", {1, 2, 3}, {5}, {}, "the axis has 3 elements, not 5"},
      {"inside", {1, 2, 3}, {1}, {}, "the axis has 3 elements, not 1"},
      {"count", {1, -2, 3}, {0}, {1, 3}},
      {"count", {1}, {0}, {}, "the axis has 1 elements, not 2"},
      {"unread", {1, 2, 3}, {4, 5}, {9}},
      {"unread", {1, 2}, {4, 5}, {}, three},
      {"branch", {1, 2}, {0}, {-1}},
      {"branch", {1, 2}, {1}, {}, "the axis has 2 elements, not 3"},
      {"branch", {1, 2, 3}, {1}, {6}},
      {"elements", {1, 2}, {0, -1}, {-1, -1}},
      {"elements", {1, 2}, {0, 1}, {}, three},
      {"elements", {1, 2, 3}, {0, 1}, {-1, 6}},
      {"loop", {1, 2}, {}, {0.5}},
      {"loop", {1, 2}, {0}, {}, three},
      {"loop", {1, 2, 3}, {0, 0}, {12.5}},
      {"kept", {1, 2}, {}, {1, 2}},
      {"kept", {1, 2}, {7}, {}, "on axis 0: the axis has 2 elements, not 3"},
      {"ranks", {1, 2, 3}, {2}, {12}},
      {"ranks", {1, 2, 3, 4}, {2}, {}, "the axis has 4 elements, not 3"},
      {"ranks", {1, 2, 3, 4}, {}, {}},
      {"called", {1, 2, 3}, {3}, {12}},
      {"called", {1, 2}, {3}, {}, "the axis has 2 elements, not 3"},
      {"called", {1, 2}, {2}, {}, "the axis has 1 elements, not 0"},
      {"untyped", {1, 2, 3}, {3}, {12}},
      {"untyped", {1, 2, 3}, {2}, {}, "the axis has 3 elements, not 2"},
      {"twice", {1, 2, 3}, {2}, {1, 2, 3, 0.5}},
      {"twice", {1, 2, 3}, {-2}, {}},
      {"update", {1, 2, 3, 4}, {2, 0}, {10, 20, 10, 20}},
      {"update", {1, 2, 3, 4}, {3}, {}, "the slice begins at 3, which is not in 0 .. 2"},
      {"update", {1, 2, 3, 4}, {1, -1}, {}, "the slice begins at -1, which is not in 0 .. 2"},
      {"update", {1}, {0}, {}, "the slice has 2 elements, and the axis 1"},
      {"update", {1}, {}, {1}},
      {"copies", {1, 2, 3, 4}, {}, {}},
      {"copies", {1, 2, 3, 4}, {0, 2}, {37, 33}},
      {"copies", {1, 2, 3, 4}, {0, 3}, {}, "the slice begins at 3, which is not in 0 .. 2"},
  };
  expect_runs(compiled, runs);
}

/// Windows of one size at positions of the data: each is checked where it is read.
TEST(RunTimeChecks, WindowsAtPositions) {
  const Compiled compiled(
      "entry pairs (x : f32[n]) (k : i64[m]) = for i => x[k[i] : k[i] + 2]\n"
      "entry named (x : f32[n]) (k : i64[m]) = for i => let a = k[i] in x[a : a + 2] * 2.0\n"
      "entry around (x : f32[n]) (k : i64[m]) = for i => x[k[i] - 1 : k[i] + 2]\n"
      "entry others (x : f32[n]) (k : i64[m]) = for i => x[k[i] : k[i] + 3 : 2]\n"
      "entry rows (x : f32[n]) (k : i64[m]) =\n"
      "  let y = for (i < n) (j < 2) => x[i] + real j * 10.0 in for i => sum (sum y[k[i] : k[i] + 2])\n"
      "entry fitting (x : f32[n]) (k : i64[m]) where 2 <= n = for i => x[k[i] : k[i] + 2] + x[:2]\n"
      "entry one (x : f32[n]) (k : i64[m]) where 1 <= m = x[k[0] : k[0] + 2]\n",
      for_levels());
  const std::vector<CheckedRun> runs = {
      {"pairs", {1, 2, 3, 4}, {2, 0}, {3, 4, 1, 2}},
      {"pairs", {1, 2, 3, 4}, {}, {}},
      {"pairs", {1, 2, 3, 4}, {0, 3}, {}, "is not in"},
      {"pairs", {1, 2, 3, 4}, {-1}, {}, "is not in"},
      {"named", {1, 2, 3}, {1}, {4, 6}},
      {"around", {1, 2, 3, 4}, {2, 1}, {2, 3, 4, 1, 2, 3}},
      {"around", {1, 2, 3, 4}, {0}, {}, "is not in"},
      {"others", {1, 2, 3, 4}, {1, 0}, {2, 4, 1, 3}},
      {"rows", {1, 2, 3}, {1, 0}, {30, 26}},
      {"fitting", {1, 2, 3}, {1, 0}, {3, 5, 2, 4}},
      {"one", {1, 2, 3}, {1}, {2, 3}},
      {"one", {1, 2, 3}, {2}, {}, "is not in"},
  };
  expect_runs(compiled, runs);
}

/// A slice lies inside of its axis whichever of its elements are read; so does one of what has such a size.
TEST(RunTimeChecks, SlicesLieInsideWhateverIsRead) {
  const Compiled compiled(
      "entry first (x : f32[n]) (k : i64[m + 1]) = for (i < m) => x[k[i] : k[i + 1]][0]\n"
      "entry whole (x : f32[n]) (k : i64[m]) where 2 <= m = x[k[0] : k[1]][0]\n"
      "entry window (x : f32[n]) (k : i64[m]) = for i => x[k[i] : k[i] + 2][0]\n"
      "entry folded (x : f32[n]) (k : i64[m]) = fold (fn s c => s + x[c : c + 2][0]) 0.0 k\n"
      "entry rest (x : f32[n]) (k : i64[m + 1]) = for (i < m) => sum x[k[i] : k[i + 1]][1:]\n"
      "entry front (x : f32[n]) (k : i64[m + 1]) = for (i < m) => sum (x[k[i] : k[i + 1]][:2] * [1.0, "
      "10.0])\n"
      "entry none (x : f32[n]) (k : i64[m + 1]) = for (i < m) => sum x[k[i] : k[i + 1]][3:3]\n"
      "entry each (x : f32[n]) (k : i64[m + 1]) = for (i < m) => sum (for j => x[k[i] : k[i + 1]][j])\n"
      "entry stored (x : f32[n]) (k : i64[m]) where 2 <= m = x[k[0] : k[1]] with [0:1] = [9.0]\n",
      for_levels());
  expect_runs(compiled,
              {{"first", {1, 2, 3}, {0, 1, 3}, {1, 2}},
               {"first", {1, 2, 3}, {1, 4}, {}, "leaves the axis: "},
               {"whole", {1, 2, 3}, {1, 3}, {2}},
               {"whole", {1, 2, 3}, {1, 4}, {}, "`k[1]` in `x[k[0] : k[1]]`"},
               {"window", {1, 2, 3}, {1, 0}, {2, 1}},
               {"window", {1, 2, 3}, {2}, {}, "leaves the axis: "},
               {"window", {1, 2, 3}, {INT64_MAX}, {}, "is not in 0 .. "},
               {"folded", {1, 2, 3}, {1, 0}, {3}},
               {"folded", {1, 2, 3}, {2}, {}, "leaves the axis: "},
               {"rest", {1, 2, 3}, {0, 1, 3}, {0, 3}},
               {"rest", {1, 2, 3}, {1, 1}, {}, "[1:]"},
               {"front", {1, 2, 3}, {0, 3}, {21}},
               {"front", {1, 2, 3}, {0, 1}, {}, "[:2]"},
               {"none", {1, 2, 3}, {0, 3}, {0}},
               {"none", {1, 2, 3}, {0, 2}, {}, "3 is not in 0 .. 2"},
               {"each", {1, 2, 3}, {0, 1, 3}, {1, 5}},
               {"each", {1, 2, 3}, {0, 4}, {}, "is not in 0 .. 3"},
               {"stored", {1, 2, 3}, {1, 3}, {9, 3}},
               {"stored", {1, 2, 3}, {1, 1}, {}, "the slice begins at 0, which is not in 0 .. -1"}});
}

/// An index into an axis without elements is checked where it is folded away in a branch, too.
TEST(RunTimeChecks, IndicesIntoNothing) {
  const Compiled compiled(
      "entry folded (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  if k[0] > 1 then 0.5 else sum (for i => x[k[i] - 1] * 2.0)\n"
      "entry below (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let e = min k[0] 4 in if k[0] > 1 then 0.5 else sum (for (i < e) => x[i + k[0] - 1] * 2.0)\n"
      "entry looped (x : f32[n]) (k : i64[m]) =\n"
      "  fold (fn s c => s + (if c > 1 then 0.5 else sum (for i => x[k[i] + c - 1]))) 0.0 k\n",
      for_levels());
  expect_runs(compiled, {{"folded", {}, {1}, {}, "`x[k[i] - 1]`"},
                         {"folded", {}, {2, 1}, {0.5}},
                         {"folded", {3, 4}, {1, 2}, {14}},
                         {"below", {}, {1}, {}, "`x[i + k[0] - 1]`"},
                         {"below", {}, {0}, {0}},
                         {"below", {}, {2}, {0.5}},
                         {"looped", {}, {0}, {}, "`x[k[i] + c - 1]`"},
                         {"looped", {}, {2, 3}, {1}}});
}

/// A loop that ends in the state begins with what it was.
TEST(Updates, StoreWhatALoopMadeOfTheState) {
  const Compiled compiled(
      "entry folded (x : *f32[n]) (k : i64[m]) = x with [:] = fold (fn s i => s + real i) x k\n"
      "entry mixed (x : *f32[n]) (k : i64[m]) = let y = fold (fn s i => s + sum s + real i) x k in x with "
      "[:] "
      "= y * 2.0\n"
      "entry counted (x : *f32[n]) (k : i64[m]) where 1 <= m = x with [:] = iterate k[0] (fn s => s * 2.0) "
      "x\n"
      "entry bounded (x : *f32[n]) (k : i64[m]) = x with [:] = while (fn s => sum s > 4.0) (fn s => s * 0.5) "
      "x\n"
      "entry chosen (x : *f32[n]) (k : i64[m]) =\n"
      "  let y = if sum x > 4.0 then fold (fn s i => s + sum s) x k else x in x with [:] = y\n",
      for_levels());
  expect_runs(compiled, {{"folded", {1, 2}, {3, 4}, {8, 9}},
                         {"folded", {1, 2}, {}, {1, 2}},
                         {"folded", {}, {3}, {}},
                         {"mixed", {1, 2}, {3, 4}, {52, 54}},
                         {"counted", {1, 2}, {3}, {8, 16}},
                         {"counted", {1, 2}, {0}, {1, 2}},
                         {"bounded", {4, 6}, {}, {1, 1.5}},
                         {"chosen", {2, 3}, {1}, {7, 8}},
                         {"chosen", {1, 2}, {1}, {1, 2}}});
}

/// What an update of one position stores may be made of other elements: it is computed before the update.
TEST(Updates, OfOnePositionReadOthers) {
  const Compiled compiled(
      "entry first (x : *f32[n]) (k : i64[m]) where 2 <= n = x with [0] = x[1]\n"
      "entry sums (x : *f32[n]) (k : i64[m]) = fold (fn x i => x with [i] = x[i] + x[i - 1 else 0.0]) x "
      "(iota n)\n"
      "entry chosen (x : *f32[n]) (k : i64[m]) = fold (fn x i => x with [i] = x[(i + 1) % n] + x[i]) x k\n"
      "entry times (x : *f32[n]) (k : i64[m]) where 2 <= n = iterate 3 (fn x => x with [0] = x[1] + x[0]) x\n"
      "entry elements (x : f32[n]) (k : i64[m]) where 2 <= n = for i => sum (x with [0] = x[1] * real k[i])\n"
      "entry rows (x : *f32[n]) (k : i64[m]) =\n"
      "  let y = for (i < 3) j => x[j] * real i in fold (fn y i => y with [i] = y[(i + 1) % 3] + y[.., "
      "0][0]) y k |> sum\n",
      for_levels());
  expect_runs(compiled, {{"first", {1, 2, 3}, {}, {2, 2, 3}},
                         {"sums", {1, 2, 3, 4}, {}, {1, 3, 6, 10}},
                         {"sums", {}, {}, {}},
                         {"chosen", {1, 2, 3}, {2, 0}, {3, 2, 4}},
                         {"chosen", {1, 2, 3}, {3}, {}, "3 is not in 0 .. 2"},
                         {"times", {1, 2}, {}, {7, 2}},
                         {"elements", {1, 2, 3}, {2, 0}, {9, 5}},
                         {"elements", {1, 2, 3}, {}, {}},
                         {"rows", {1, 2}, {1, 0}, {6, 6, 6}}});
}

/// An integer that a step moves on by what a `let` of the step names.
TEST(Loops, MoveByWhatALetNames) {
  const Compiled compiled(
      "fun stepf (q : i64) (s : i64) v = let z = q + 1 in s + z\n"
      "entry constant (x : f32[n]) (k : i64[m]) = real (fold (fn s v => let d = i64 2 in s + d) (i64 0) x)\n"
      "entry data (x : f32[n]) (k : i64[m]) where 1 <= m = real (iterate 3 (fn s => let z = k[0] in s + z) "
      "(i64 "
      "0))\n"
      "entry slice (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  real (iterate 3 (fn s => let z = k[0] in s - sum k[: z]) (i64 0))\n"
      "entry stated (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  real (fold (fn s v => let z = k[0] in s + sum (k :> i64[z])) (i64 0) x)\n"
      "entry position (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let (s, p) = iterate 2 (fn (s, p) => let d = n / 2 in (s + x[p else 0.0], p + d)) (0.0, i64 0) in "
      "s\n"
      "entry shadowed (x : f32[n]) (k : i64[m]) (d : i64) =\n"
      "  real (iterate 3 (fn s => let d = d * 10 let e = d + 1 in s + e) (i64 0))\n"
      "entry elements (x : f32[n]) (k : i64[m]) = for i => real (iterate 2 (fn r => let d = k[i] * 2 in r + "
      "d) "
      "(i64 1))\n"
      "entry named (x : f32[n]) (k : i64[m]) where 1 <= m = real (fold (stepf k[0]) (i64 0) x)\n",
      for_levels());
  expect_runs(compiled, {{"constant", {1, 2, 3}, {}, {6}},
                         {"data", {}, {5}, {15}},
                         {"slice", {}, {2, 3}, {-15}},
                         {"slice", {}, {3, 3}, {}, "3, which is not in 0 .. 2"},
                         {"stated", {1, 2}, {2, 3}, {10}},
                         {"stated", {1, 2}, {1, 3}, {}, "the axis has 2 elements, not 1"},
                         {"stated", {}, {1, 3}, {0}},
                         {"position", {1, 2, 3, 4}, {0}, {4}},
                         {"shadowed", {}, {}, {33}, "", {1}},
                         {"elements", {}, {3, 4}, {13, 17}},
                         {"named", {1, 2}, {4}, {10}}});
}

/// Longer by one than a part of a reduction that is split. All sums are exact.
TEST(Reductions, OfTwoParts) {
  const Compiled compiled(
      "entry total (x : f32[n]) (k : i64[m]) = sum x\n"
      "entry three (x : f32[n]) (k : i64[m]) = [minimum x, maximum x, real (argmax x)]\n"
      "entry places (x : f32[n]) (k : i64[m]) = for (i < 2) => real (argmax k + argmin k * i)\n",
      for_levels());
  constexpr int64_t n = 16385, zero = 16379;
  std::vector<double> x;
  std::vector<int64_t> k;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    x.push_back(i + 1 == n ? 50 : static_cast<double>(i * 7919 % 13 - 3));
    k.push_back(i + 1 == n ? 1 << 20 : (i + n - 1 - zero) % (n - 1));
    sum += x.back();
  }
  expect_runs(
      compiled,
      {{"total", x, {}, {sum}}, {"three", x, {}, {-3, 50, n - 1}}, {"places", {}, k, {n - 1, n - 1 + zero}}});
}

/// Of equal elements the lower position comes first, also where they are in several parts; NaNs too.
TEST(Orders, OfTwoParts) {
  const Compiled compiled(
      "entry largest (x : f32[n]) (k : i64[m]) where 3 <= n = let (v, at) = top_k 3 x in\n"
      "  for (i < 4) => if i < 3 then real at[i] else if v[2] > 0.0 then v[2] else v[0]\n"
      "entry smallest (x : f32[n]) (k : i64[m]) where 3 <= n = for (i < 3) => real (argsmallest i x)\n"
      "entry of_integers (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let (v, at) = top_k 2 k in for (i < 4) => if i < 2 then real at[i] else real v[i - 2]\n",
      for_levels());
  constexpr int64_t part = 131072, n = part + 5;
  std::vector<double> x(n, 1), holed(n, 1);
  std::vector<int64_t> k(n, -7);
  for (const int64_t at : {int64_t{3}, part - 1, part}) x[at] = 5;
  for (const int64_t at : {part - 2, part + 1, part + 4}) x[at] = -2;
  for (const int64_t at : {int64_t{7}, part + 1}) holed[at] = std::numeric_limits<double>::quiet_NaN();
  holed[part + 4] = 0;
  k[part + 4] = 9;
  expect_runs(compiled, {{"largest", x, {}, {3, part - 1, part, 5}},
                         {"largest", holed, {}, {7, part + 1, 0, 1}},
                         {"largest", {4, 6, 5}, {}, {1, 2, 0, 4}},
                         {"smallest", x, {}, {part - 2, part + 1, part + 4}},
                         {"smallest", holed, {}, {part + 4, 0, 1}},
                         {"of_integers", {}, k, {part + 4, 0, 9, -7}},
                         {"of_integers", {}, {3, 3, 2}, {0, 1, 3, 3}}});
}

/// What does not depend on the index of a `for` or a loop is computed outside of it, also where there is no
/// element at all: it reads nothing that is there in an element only.
TEST(Loops, WithoutElementsReadNothing) {
  const Compiled compiled(
      "entry first (x : f32[n]) (k : i64[m]) = for (i < n) => sum (for (j < 3) => exp x[0] * 0.0 + 2.0) + "
      "x[i]\n"
      "entry last (x : f32[n]) (k : i64[m]) = for (i < n) => sum (for (j < 3) => x[n - 1] * real j)\n"
      "entry folded (x : f32[n]) (k : i64[m]) =\n"
      "  fold (fn s i => s + sum (for (j < 3) => exp x[0] * 0.0 + 2.0)) 0.0 (iota n)\n"
      "entry shorter (x : f32[n]) (k : i64[m]) = fold (fn s i => s + sum (softmax x[1:])) 0.0 (iota n)\n"
      "entry reduced (x : f32[n]) (k : i64[m]) = sum (i < n) => x[i] * (sum (j < 3) => x[0] * real j)\n"
      "entry both (x : f32[n]) (k : i64[m]) =\n"
      "  for (i < n) (j < m) => sum (for (l < 2) => x[0] + real k[0]) + x[i] + real k[j]\n"
      "entry nested (x : f32[n]) (k : i64[m]) =\n"
      "  for (j < m) => fold (fn s i => s + sum (for (l < 3) => tanh x[0]) * 0.0 + real k[j]) 0.0 (iota n)\n"
      "entry scanned (x : f32[n]) (k : i64[m]) = let (t, ys) =\n"
      "  scan (fn s i => (s + 1.0, sum (for (l < n - 1) => x[l + 1]))) 0.0 (iota n) in ys\n",
      for_levels());
  expect_runs(compiled, {{"first", {}, {}, {}},
                         {"first", {1, 2}, {}, {7, 8}},
                         {"last", {}, {}, {}},
                         {"last", {1, 2}, {}, {6, 6}},
                         {"folded", {}, {}, {0}},
                         {"folded", {1, 2}, {}, {12}},
                         {"shorter", {}, {}, {0}},
                         {"shorter", {1, 2}, {}, {2}},
                         {"reduced", {}, {}, {0}},
                         {"reduced", {1, 2}, {}, {9}},
                         {"both", {}, {1}, {}},
                         {"both", {1}, {}, {}},
                         {"both", {1}, {1}, {6}},
                         {"nested", {}, {1, 2}, {0, 0}},
                         {"nested", {1, 2}, {}, {}},
                         {"nested", {1, 2}, {1, 2}, {2, 4}},
                         {"scanned", {}, {}, {}},
                         {"scanned", {1, 2}, {}, {2, 2}}});
}

/// Loops in loops whose steps, sizes and updates depend on the outer index: as in factorisations of matrices.
TEST(Loops, MayDependOnTheIndexOfALoopAround) {
  const Compiled compiled(
      "entry stepped (x : f32[n]) (k : i64[m]) =\n"
      "  fold (fn s j => iterate j (fn y => y * 2.0) s + x[j]) 0.0 (iota n)\n"
      "entry inner (x : f32[n]) (k : i64[m]) =\n"
      "  fold (fn s j => s + fold (fn a b => a * 0.5 + b) 0.0 x[:j]) 0.0 (iota n)\n"
      "entry scanned (x : f32[n]) (k : i64[m]) = fold (fn s j =>\n"
      "  let (t, ys) = scan (fn a b => (a + b, a * b)) 0.0 x[j:] in s * 10.0 + t + sum ys) 0.0 (iota n)\n"
      "entry thrice (x : f32[n]) (k : i64[m]) = fold (fn s i => fold (fn t j =>\n"
      "  fold (fn u l => u + x[l] * x[j]) t (iota (j + 1))) s (iota (n - i))) 0.0 (iota n)\n"
      "entry prefix (x : f32[n]) (k : i64[m]) = fold (fn s j => s with [:j] = s[:j] + 1.0) (zeros_like x) "
      "(iota n)\n"
      "entry products (x : f32[n]) (k : i64[m]) = sum i j => (fold (fn s p =>\n"
      "  let q = p / 2 in s * 0.5 + transpose s[q :] @ s[q :]) (for (i < n) (j < n) => x[i] - x[j]) (iota "
      "n))[i, j]\n"
      "entry suffix (x : f32[n]) (k : i64[m]) =\n"
      "  fold (fn s j => s with [j + 1 :] = s[j + 1 :] - s[j]) x (iota n)\n"
      "entry sorted (x : f32[n]) (k : i64[m]) where 1 <= n = fold (fn s i => fold (fn t j =>\n"
      "  if t[j] > t[j + 1] then (t with [j] = t[j + 1]) with [j + 1] = t[j] else t) s (iota (n - 1 - i)))\n"
      "  x (iota (n - 1))\n"
      "entry lu (x : f32[n]) (k : i64[m]) = sum i j => (fold (fn a p =>\n"
      "  let q = a with [p + 1 :, p] = for (i < n - p - 1) => a[p + 1 + i, p] / a[p, p]\n"
      "  in q with [p + 1 :, p + 1 :] = for (i < n - p - 1) (j < n - p - 1) =>\n"
      "    q[p + 1 + i, p + 1 + j] - q[p + 1 + i, p] * q[p, p + 1 + j])\n"
      "  (for (i < n) (j < n) => x[i] * x[j] + (if i == j then 1.0 else 0.0)) (iota n))[i, j]\n"
      "entry pivots (x : f32[n]) (k : i64[m]) = fold (fn s p =>\n"
      "  let q = p + argmax s[p:] in (s with [q] = s[p]) with [p] = s[q]) x (iota n)\n"
      "entry parts (x : f32[n]) (k : i64[m]) =\n"
      "  fold (fn s (p, v) => s + v * real (argmax x[p:])) 0.0 (iota n, x)\n"
      "entry places (x : f32[n]) (k : i64[m]) = for (i < n) => fold (fn s j => s + sum x[j : i + 1]) 0.0 "
      "(iota i)\n",
      for_levels());
  expect_runs(compiled, {{"stepped", {3, 1, 2}, {}, {30}},
                         {"stepped", {}, {}, {0}},
                         {"inner", {3, 1, 2}, {}, {5.5}},
                         {"scanned", {1, 2, 3}, {}, {1813}},
                         {"thrice", {1, 2}, {}, {8}},
                         {"prefix", {3, 1, 2}, {}, {2, 1, 0}},
                         {"prefix", {}, {}, {}},
                         {"products", {1, 2}, {}, {3.5}},
                         {"suffix", {1, 2, 4}, {}, {1, 1, 2}},
                         {"sorted", {3, 1, 2, 0}, {}, {0, 1, 2, 3}},
                         {"sorted", {5}, {}, {5}},
                         {"lu", {1, 2}, {}, {8}},
                         {"pivots", {1, 3, 2, 5}, {}, {5, 3, 2, 1}},
                         {"pivots", {}, {}, {}},
                         {"parts", {1, 3, 2}, {}, {1}},
                         {"places", {1, 2, 3}, {}, {0, 3, 11}}});
}

/// A position out of range is an error where there is no element to change, too.
TEST(Updates, OfNothingCheckTheirPosition) {
  const Compiled compiled(
      "entry branch (x : f32[n]) (k : i64[m]) where 2 <= m = if k[1] > 0 then x with [k[0]] = 1.0 else x\n"
      "entry folded (x : f32[n]) (k : i64[m]) = fold (fn s p => s with [p] = 1.0) x k\n"
      "entry found (x : f32[n]) (k : i64[m]) where 1 <= m = x[nonzero (x > 0.0)] with [k[0]] = 1.0\n"
      "entry grown (x : f32[n]) (k : i64[m]) (v : i64) =\n"
      "  sum (real (iterate 2 (fn b => for c => b[c] + b[c - 1 else 0]) (for (c < v + 1) => c)))\n"
      "entry narrow (x : f32[n]) (k : i64[m]) (v : i64) = real (100 / i32 v) + x[i32 v]\n",
      for_levels());
  expect_runs(compiled, {{"branch", {}, {5, 1}, {}, ": the axis has no such element"},
                         {"branch", {}, {5, 0}, {}},
                         {"branch", {1, 2}, {1, 1}, {1, 1}},
                         {"folded", {}, {0}, {}, ": the axis has no elements"},
                         {"folded", {}, {}, {}},
                         {"folded", {3, 4}, {1}, {3, 1}},
                         {"found", {-1}, {0}, {}, ": the axis has no elements"},
                         {"found", {-1, 2}, {0}, {1}},
                         {"grown", {}, {}, {5}, "", {2}},
                         {"grown", {}, {}, {0}, "", {-1}},
                         {"narrow", {1, 2, 3}, {}, {53}, "", {2}},
                         {"narrow", {1, 2, 3}, {}, {}, "an integer is divided by 0", {0}}});
}

/// The boxes of what is read are proved also where a remainder of sizes says what that is.
TEST(Elements, ReturnWithinTheirAxis) {
  const Compiled compiled(
      "entry guarded (x : f32[n]) (k : i64[m]) (v : i64) =\n"
      "  if v >= 0 then for (i < v) => x[i % (n + 1) else 0.0] else x\n"
      "entry rolled (x : f32[n]) (k : i64[m]) (v : i64) = for (i < n) => (x + x)[(i + v) % n] + x[(i * m) % "
      "n]\n",
      for_levels());
  expect_runs(compiled, {{"guarded", {1, 2}, {}, {1, 2, 0, 1}, "", {4}},
                         {"guarded", {}, {}, {0, 0}, "", {2}},
                         {"guarded", {1, 2}, {}, {1, 2}, "", {-1}},
                         {"rolled", {1, 2, 3}, {0, 0}, {5, 9, 4}, "", {1}},
                         {"rolled", {}, {}, {}, "", {1}}});
}

/// A loop inside of a loop carries what has the size of one step of that.
TEST(Loops, CarryAxesThatGrowWithALoopAround) {
  const Compiled compiled(
      "fun first v = v[0 else 0.0]\n"
      "entry sorted (x : f32[n]) (k : i64[m]) = fold (fn s c => s + first (sort x[: c])) 0.0 (iota n)\n"
      "entry carried (x : f32[n]) (k : i64[m]) =\n"
      "  let step (s, c) = ((sort (concat [0.5, -0.25] x[: min c n]))[1], c + 1) in\n"
      "  let (s, _) = iterate 3 step (0.0, i64 0) in s\n"
      "entry doubled (x : f32[n]) (k : i64[m]) =\n"
      "  fold (fn s c => s + sum (iterate c (fn y => y * 2.0) x[: c])) 0.0 (iota n)\n"
      "entry halved (x : f32[n]) (k : i64[m]) =\n"
      "  let half y = while (fn y => sum y > 1.0) (fn y => y * 0.5) y in\n"
      "  fold (fn s c => s + fold (fn t d => t + sum (half x[: d])) 0.0 (iota c)) 0.0 (iota n)\n"
      "entry each (x : f32[n]) (k : i64[m]) =\n"
      "  for i => fold (fn s c => s + first (sort x[: c])) x[i] (iota n)\n"
      "entry given (x : f32[n]) (k : i64[m]) = fold (fn s j => s + first (sort x[: k[j]])) 0.0 (iota m)\n",
      for_levels());
  const std::vector<double> y = {3, 1, 2};
  expect_runs(compiled, {{"sorted", y, {}, {4}},
                         {"sorted", {}, {}, {0}},
                         {"carried", y, {}, {0.5}},
                         {"doubled", y, {}, {22}},
                         {"halved", y, {}, {0.75}},
                         {"each", y, {}, {7, 5, 6}},
                         {"given", y, {2, 0, 3}, {2}}});
}

/// What an index of a `for` decides inside of an element is that element's own.
TEST(Elements, HaveTheirOwnPositionsSizesAndSteps) {
  const Compiled compiled(
      "entry positions (x : f32[n]) (k : i64[m]) = for i => x with [k[i]] = 9.0\n"
      "entry zeroed (x : f32[n]) (k : i64[m]) = for i => sum (zeros 3 with [k[i]] = 7.0)\n"
      "entry fronts (x : f32[n]) (k : i64[m]) = for (i < n) => x with [0 : i] = zeros i\n"
      "entry counts (x : f32[n]) (k : i64[m]) = sum (for i => dim (nonzero (x > real k[i])) 0)\n"
      "entry most (x : f32[n]) (k : i64[m]) = reduce max 0 (for i => dim (iota (max 0 (min k[i] 5))) 0)\n"
      "entry untaken (x : f32[n]) (k : i64[m]) = for i =>\n"
      "  if k[i] > 0 then while (fn s => s < 8) (fn s => s * 2) k[i] else k[i]\n"
      "entry never (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  if k[0] > 0 then while (fn s => s < 8) (fn s => s * 2) (k[0]) else k[0]\n"
      "entry many (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  if k[0] < 9 then iterate (k[0]) (fn s => s + 1.0) 0.5 else -1.0\n",
      for_levels());
  expect_runs(compiled, {{"positions", {1, 2, 3}, {2, 0}, {1, 2, 9, 9, 2, 3}},
                         {"zeroed", {}, {2, 0}, {7, 7}},
                         {"fronts", {1, 2}, {}, {1, 2, 0, 2}},
                         {"counts", {1, 2, 3}, {2, 0}, {4}},
                         {"most", {}, {2, 9, -1}, {5}},
                         {"untaken", {}, {3, -1, 0}, {12, -1, 0}},
                         {"never", {}, {-1}, {-1}},
                         {"never", {}, {3}, {12}},
                         {"many", {}, {3}, {3.5}},
                         {"many", {}, {5000000}, {-1}}});
}

/// A polymorphic value has at each use the element type that the use decides.
TEST(Values, HaveTheTypeOfEachUse) {
  const Compiled compiled(
      "val c = 0.1\n"
      "val large = 16777217\n"
      "val pair = [1.0, 2.0]\n"
      "val more = add 3\n"
      "val total = fold add 0\n"
      "entry two (x : f32[n]) (k : i64[m]) = (f64 x * c, x * c, f16 x * c)\n"
      "entry whole (x : f32[n]) (k : i64[m]) : i64 = large\n"
      "entry converted (x : f32[n]) (k : i64[m]) =\n"
      "  concat [i64 16777217.0, i64 (-123456789.0), i64 1e18] (i64 [16777219.0, 2.5])\n"
      "entry index (x : f32[n]) (k : i64[m]) where 1 <= n = x[large % n]\n"
      "entry list (x : f32[n]) (k : i64[m]) = sum (f64 x) * pair\n"
      "entry partial (x : f32[n]) (k : i64[m]) = (more k, more (f64 x), total k, total x)\n"
      "entry local (x : f32[n]) (k : i64[m]) =\n"
      "  let h = fold add 0 let t = iterate 3 in (h k, h (f64 x), t (fn s => s + 1) (i64 0))\n"
      "entry steps (x : f32[n]) (k : i64[m]) = let half = fn v => v * 0.5 in (half x, half (f64 x))\n",
      for_levels());
  expect_runs(compiled, {{"two", {1, 2}, {}, {0.1, 0.2}},
                         {"whole", {}, {}, {16777217}},
                         {"converted", {}, {}, {16777217, -123456789, 1e18, 16777219, 2}},
                         {"index", {1, 2, 3}, {}, {3}},
                         {"list", {1, 2}, {}, {3, 6}},
                         {"partial", {1}, {16777216, 1}, {16777219, 4}},
                         {"local", {1}, {16777216, 1}, {16777217}},
                         {"steps", {1}, {}, {0.5}}});
}

/// What is never negative is its own absolute value, and its negative wraps.
TEST(Values, WithoutASignHaveNoOtherAbsoluteValue) {
  const Compiled compiled(
      "entry twice (x : f32[n]) (k : i64[m]) = i64 (-(abs (-(u8 k))))\n"
      "entry known (x : f32[n]) (k : i64[m]) = i64 (-(abs (-(u8 9)))) + k\n"
      "entry signed (x : f32[n]) (k : i64[m]) = i64 (-(abs (-(i8 k))))\n",
      for_levels());
  expect_runs(compiled, {{"twice", {}, {9, 0, 255}, {9, 0, 255}},
                         {"known", {}, {1}, {10}},
                         {"signed", {}, {9, -9, -128}, {-9, -9, -128}}});
}

/// A list without elements is of the type that its use decides.
TEST(Values, OfNothingHaveTheTypeOfTheirUse) {
  const Compiled compiled(
      "fun added (v : f64[n]) = sum (v + 0.1)\n"
      "fun ended x = concat x []\n"
      "entry given (x : f32[n]) (k : i64[m]) : i64[0] = []\n"
      "entry joined (x : f32[n]) (k : i64[m]) = concat k []\n"
      "entry called (x : f32[n]) (k : i64[m]) = added [] + 2.0\n"
      "entry stored (x : f32[n]) (k : i64[m]) = k with [0:0] = []\n"
      "entry summed (x : f32[n]) (k : i64[m]) = max (k + sum []) (sum [])\n"
      "entry folded (x : f32[n]) (k : i64[m]) : f64 = fold (fn s v => s + v) 0.5 ([] :> f64[0])\n"
      "entry chosen (x : f32[n]) (k : i64[m]) = if n > 1 then k else []\n"
      "entry picked (x : f32[n]) (k : i64[m]) = k[[]]\n"
      "entry each (x : f32[n]) (k : i64[m]) = (ended k, ended x, ended (f16 x))\n",
      for_levels());
  expect_runs(compiled, {{"given", {}, {1}, {}},
                         {"joined", {}, {1, 2}, {1, 2}},
                         {"called", {}, {}, {2}},
                         {"stored", {}, {1, 2}, {1, 2}},
                         {"summed", {}, {3, -2}, {3, 0}},
                         {"folded", {}, {}, {0.5}},
                         {"chosen", {1, 2}, {5}, {5}},
                         {"chosen", {1}, {5}, {}},
                         {"picked", {}, {5}, {}},
                         {"each", {1}, {5}, {5}}});
}

/// After a call that fails, whatever the reason, the same entry gives what it gives else.
TEST(FailedCalls, LeaveNothingBehind) {
  const Compiled compiled(
      "entry made (x : f32[n]) (k : i64[m]) where 2 <= m = iota (k[0])\n"
      "entry grid (x : f32[n]) (k : i64[m]) where 2 <= m = for (i < k[0]) (j < k[1]) => i + j\n"
      "entry both (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let y = for (i < k[0]) => real i in let z = for (i < k[1] * dim y 0) => real i in (y, z)\n"
      "entry bounded (x : f32[n]) (k : i64[m]) where 2 <= m, 1 <= n =\n"
      "  for (i < min (k[0]) (n * n * n * n)) => x[i % n]\n"
      "entry picked (x : f32[n]) (k : i64[m]) where 2 <= m = for j => x[k[j]]\n"
      "entry checked (x : f32[n]) (k : i64[m]) where 2 <= m = for (i < k[0]) => x[i else 0.5] / real (6 / "
      "k[1])\n"
      "entry stated (x : f32[n]) (k : i64[m]) where 2 <= m, m <= n, n % 2 == 0 = for (j < m) => x[j] * real "
      "k[j]\n"
      "entry kept (s : *f32[n]) (k : i64[m]) where 2 <= m = s with [k[0]] = real k[1]\n",
      for_levels());
  ASSERT_EQ(compiled.error(), "");
  const int64_t most = std::numeric_limits<int64_t>::max(), large = int64_t{1} << 46;
  const auto vectors = [](std::vector<double> x, std::vector<int64_t> k) {
    return Inputs{{base::Elem::f32, {static_cast<int64_t>(x.size())}, x, {}},
                  {base::Elem::i64, {static_cast<int64_t>(k.size())}, {}, k}};
  };
  std::vector<Inputs> inputs = {vectors({1, 2, 3, 4}, {3, 2})};
  const std::vector<std::vector<int64_t>> wrong = {
      {most, 1}, {1, most}, {most, most}, {large, 2}, {2, large}, {large, large}, {large * 8, 1},     {-1, 2},
      {2, -1},   {2, 0},    {9, 1},       {2, 9},     {5000, 3},  {1 << 20, 3},   {1 << 23, 1 << 23}, {2},
      {}};
  for (const std::vector<int64_t>& k : wrong) {
    inputs.push_back(vectors({1, 2, 3, 4}, k));
    inputs.push_back(vectors({4, 3, 2, 1}, {1, 3}));
  }
  inputs.push_back(vectors({1, 2, 3}, {1, 1}));  // an odd number of elements
  inputs.push_back(vectors({4, 3, 2, 1}, {1, 3}));
  inputs.push_back(vectors({}, {1, 1}));
  inputs.push_back({inputs[0][1], inputs[0][1]});  // another element type
  inputs.push_back({inputs[0][0], {base::Elem::i64, {}, {}, {2}}});
  inputs.push_back({inputs[0][0], {base::Elem::i64, {1, 2}, {}, {2, 2}}});
  std::map<std::string, Inputs> any;
  for (const CompiledEntry& entry : compiled.compilation().entries) any[entry.name] = inputs[0];
  const Loaded loaded(compiled, any);
  ASSERT_EQ(loaded.error(), "");
  EXPECT_EQ(loaded.run("made", inputs[1], 1).error,
            "`k` is 9223372036854775807 (as the data decides), and a size is at most 281474976710656");
  for (const auto& [entry, first] : any)
    for (const uint32_t workers : {1u, 3u})
      EXPECT_EQ(loaded.difference_in_turn(entry, inputs, workers, true), "") << entry << ", " << workers;
}

}  // namespace
}  // namespace axon::differential
