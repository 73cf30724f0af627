// Small programs with sizes that the data decides, in every executor: known results and errors, and the room
// that they take.
#include <gtest/gtest.h>

#include "checked_runs.h"

namespace axon::differential {
namespace {

/// An index below a size of the data is checked where it is reached.
TEST(RunTimeChecks, IndicesBelowSizesOfTheData) {
  const Compiled compiled(
      "fun front (x : f32[n]) (k : i64) = sum (for (i < k) => x[i])\n"
      "fun tails (x : f32[n]) (k : i64) = sum (for (i < k) => sum x[i:])\n"
      "entry direct (x : f32[n]) (k : i64[m]) where 1 <= m = for (i < k[0]) => x[i] * x[i + 1]\n"
      "entry called (x : f32[n]) (k : i64[m]) where 1 <= m = front x k[0] + front x (2 * k[0])\n"
      "entry branch (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let e = k[0] in if e > 1 then sum x[:e] else sum (for (i < e) => x[i] + 0.5)\n"
      "entry windows (x : f32[n]) (k : i64[m]) where 1 <= m = for (i < k[0]) => sum x[i : i + 2]\n"
      "entry stored (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  fold (fn s i => s with [i] = s[i] + x[n - 1 - i]) x (iota k[0])\n"
      "entry elements (x : f32[n]) (k : i64[m]) = for i => let e = min k[i] 4 in sum (for (j < e) => x[j])\n"
      "entry steps (x : f32[n]) (k : i64[m]) =\n"
      "  fold (fn s c => s * 10.0 + tails x (min c 4)) 0.0 k\n",
      for_levels());
  expect_runs(compiled, {{"direct", {1, 2, 3}, {2}, {2, 6}},
                         {"direct", {1, 2, 3}, {3}, {}, "3 is not in 0 .. 2"},
                         {"direct", {}, {0}, {}},
                         {"direct", {1, 2, 3}, {-1}, {}, "which is no size"},
                         {"called", {1, 2, 3}, {1}, {4}},
                         {"called", {1, 2, 3}, {2}, {}, "3 is not in 0 .. 2"},
                         {"branch", {1, 2, 3}, {1}, {1.5}},
                         {"branch", {1, 2, 3}, {2}, {3}},
                         {"branch", {1, 2, 3}, {0}, {0}},
                         {"branch", {}, {1}, {}, "`x[i]` (generated.axn:6:68)"},
                         {"branch", {1}, {2}, {}, "is not in 0 .. 1"},
                         {"windows", {1, 2, 3}, {2}, {3, 5}},
                         {"windows", {1, 2, 3}, {3}, {}, "leaves the axis: "},
                         {"stored", {1, 2, 3}, {2}, {4, 4, 3}},
                         {"stored", {1, 2, 3}, {4}, {}, "is not in 0 .. 2"},
                         {"elements", {1, 2, 3}, {2, 0, 3}, {3, 0, 6}},
                         {"elements", {1, 2, 3}, {2, 9}, {}, "3 is not in 0 .. 2"},
                         {"steps", {1, 2, 3}, {1, 0, 2}, {611}},
                         {"steps", {1, 2}, {9}, {}, "is not in 0 .. 2"}});
}

/// Branches, elements and steps that decide a size for themselves decide the same one.
TEST(SizesOfTheData, AreTheSameWhereverTheyAreDecided) {
  const Compiled compiled(
      "val even = nonzero (for (i < 4) => i % 2 == 0)\n"
      "val three = fold (fn a v => a + v) 0.0 [1.0, 2.0]\n"
      "entry chosen (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  (if k[1] > 0 then iota else zeros) (max 0 (min (k[0]) 5))\n"
      "entry named (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] let f = if k[1] > 0 then (fn v => v[:a]) else (fn v => v[:a] * 2.0) in f x\n"
      "entry branch (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] in if k[1] > 0 then x[:a] else x[:a] * 2.0\n"
      "entry nested (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] in if k[1] > 1 then x[:a] else if k[1] > 0 then x[:a] * 2.0 else x[n - a:]\n"
      "entry unlike (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] in if k[1] > 0 then x[:a] else real k[:a]\n"
      "entry unbounded (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] in if k[1] > 0 then iota a else zeros a\n"
      "entry record (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] let b = k[1]\n"
      "  let r = if b > 1 then {a = x[:a], b = x[:b]} else {a = x[:a] * 2.0, b = x[:b] * 3.0}\n"
      "  in concat r.a [sum r.b]\n"
      "entry two (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] let b = k[1] in if x[0] > 1.0 then x[a:b] else x[a:b] * 2.0\n"
      "entry used (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] let z = if k[1] > 0 then x[:a] else x[:a] * 2.0 in x[:a] + z + (for (i < a) => z[i])\n"
      "entry inside (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] in if k[1] > 0 then (for (i < a) => x[:a][i]) else x[:a] * 2.0\n"
      "entry after (x : f32[n]) (k : i64[m]) where 2 <= m = let a = max 0 (min (k[0]) n) in\n"
      "  let t = if k[1] > 0 then iota a else for (i < a) => 7 in t + iota a\n"
      "entry stored (x : f32[n]) (k : i64[m]) where 2 <= m = let a = max 0 (min (k[0]) n) in\n"
      "  x with [:a] = if k[1] > 0 then x[:a] * 2.0 else x[:a] * 3.0\n"
      "entry elements (x : f32[n]) (k : i64[m]) = for i =>\n"
      "  sum (if k[i] > 1 then x[:k[i]] else x[:k[i]] * 2.0)\n"
      "entry outer (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] in for i => if k[i] > 1 then x[:a] else x[:a] * 2.0\n"
      "entry folded (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] in fold (fn s i => if i > 1 then s + x[:a] else x[:a]) (for (i < a) => 0.0) k\n"
      "entry scanned (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] let (_, all) = scan (fn s i => (s + i, if i > 1 then x[:a] else x[:a] * 2.0)) 0 k in "
      "all\n"
      "entry repeated (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] in iterate k[1] (fn z => if sum z > 3.5 then x[:a] else x[:a] * 2.0) (x[:a])\n"
      "entry ended (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] in while (fn z => sum z < 4.0) (fn z => if k[1] > 0 then x[:a] * 2.0 else x[:a] * 3.0) "
      "(x[:a])\n"
      "entry declared (x : f32[n]) (k : i64[m]) where 2 <= m, 4 <= n =\n"
      "  if k[1] > 0 then sum x[even] else sum x[even] * 2.0\n"
      "entry scaled (x : f32[n]) (k : i64[m]) = (fold (fn a v => a + v * three) 0.0 x) * three\n",
      for_levels());
  const char* const most = "end `a` in `k[:a]`";
  expect_runs(compiled, {{"chosen", {}, {3, 0}, {0, 0, 0}},
                         {"chosen", {}, {3, 1}, {0, 1, 2}},
                         {"chosen", {}, {-3, 0}, {}},
                         {"named", {1, 2, 3}, {2, 0}, {2, 4}},
                         {"named", {1, 2, 3}, {2, 1}, {1, 2}},
                         {"branch", {1, 2, 3}, {2, 0}, {2, 4}},
                         {"branch", {1, 2, 3}, {2, 1}, {1, 2}},
                         {"branch", {1, 2, 3}, {4, 0}, {}, "which is not in 0 .. 3"},
                         {"nested", {1, 2, 3}, {2, 0}, {2, 3}},
                         {"nested", {1, 2, 3}, {2, 1}, {2, 4}},
                         {"nested", {1, 2, 3}, {2, 2}, {1, 2}},
                         {"unlike", {1, 2, 3}, {2, 0}, {2, 0}},
                         {"unlike", {1, 2, 3}, {3, 1}, {1, 2, 3}},
                         {"unlike", {1, 2, 3}, {3, 0}, {}, most},
                         {"unbounded", {}, {3, 0}, {0, 0, 0}},
                         {"unbounded", {}, {3, 1}, {0, 1, 2}},
                         {"unbounded", {}, {-1, 1}, {}, "which is no size"},
                         {"record", {1, 2, 3}, {2, 1}, {2, 4, 3}},
                         {"record", {1, 2, 3}, {2, 3}, {1, 2, 6}},
                         {"two", {1, 2, 3}, {1, 3}, {4, 6}},
                         {"two", {2, 3, 4}, {1, 2}, {3}},
                         {"used", {1, 2, 3}, {2, 0}, {5, 10}},
                         {"used", {1, 2, 3}, {2, 1}, {3, 6}},
                         {"inside", {1, 2, 3}, {2, 0}, {2, 4}},
                         {"inside", {1, 2, 3}, {2, 1}, {1, 2}},
                         {"after", {1, 2, 3}, {2, 0}, {7, 8}},
                         {"after", {1, 2, 3}, {2, 1}, {0, 2}},
                         {"stored", {1, 2, 3}, {2, 0}, {3, 6, 3}},
                         {"stored", {1, 2, 3}, {2, 1}, {2, 4, 3}},
                         {"elements", {1, 2, 3}, {2, 1, 0, 3}, {3, 2, 0, 6}},
                         {"outer", {1, 2, 3}, {2, 1}, {1, 2, 2, 4}},
                         {"folded", {1, 2, 3}, {2, 1, 2}, {2, 4}},
                         {"folded", {1, 2, 3}, {0, 1, 2}, {}},
                         {"scanned", {1, 2, 3}, {2, 1}, {1, 2, 2, 4}},
                         {"repeated", {1, 2, 3}, {2, 1}, {2, 4}},
                         {"repeated", {1, 2, 3}, {2, 2}, {1, 2}},
                         {"repeated", {1, 2, 3}, {2, -1}, {1, 2}},
                         {"ended", {1, 2, 3}, {2, 1}, {2, 4}},
                         {"ended", {1, 2, 3}, {2, 0}, {3, 6}},
                         {"declared", {1, 2, 3, 4}, {0, 0}, {8}},
                         {"declared", {1, 2, 3, 4}, {0, 1}, {4}},
                         {"scaled", {1, 2, 3, 4}, {}, {90}}});
}

/// A size that the data decides bounds another one, whichever of the two is computed first.
/// What a function needs of a size that it makes is checked where the size is made, when the data decides it.
TEST(SizesOfTheData, AreMadeByFunctions) {
  const Compiled compiled(
      "fun more k = iota (k + 1)\n"
      "fun fewer (k : i64) = for (i < 3 - k) => real i\n"
      "fun twice k = sum (for (i < 2 * k) => 1.0)\n"
      "fun first (k : i64[m]) where 1 <= m = more k[0]\n"
      "fun both (k : i64[m]) where 1 <= m = (more k[0], k[0])\n"
      "entry grown (x : f32[n]) (k : i64[m]) where 1 <= m = first k\n"
      "entry element (x : f32[n]) (k : i64[m]) where 1 <= m = (first k)[0]\n"
      "entry left (x : f32[n]) (k : i64[m]) where 1 <= m = fewer k[0]\n"
      "entry counted (x : f32[n]) (k : i64[m]) where 1 <= m = twice k[0]\n"
      "entry used (x : f32[n]) (k : i64[m]) where 1 <= m = let (a, b) = both k in sum a + b\n"
      "entry unread (x : f32[n]) (k : i64[m]) where 1 <= m = let a = more k[0] in x\n"
      "entry chosen (x : f32[n]) (k : i64[m]) where 1 <= m = if k[0] > 2 then x else x + twice k[0]\n",
      for_levels());
  expect_runs(compiled, {{"grown", {}, {2}, {0, 1, 2}},
                         {"grown", {}, {-1}, {}},
                         {"grown", {}, {-2}, {}, "is -1, which is no size"},
                         {"element", {}, {0}, {0}},
                         {"element", {}, {-1}, {}, "the axis has no elements"},
                         {"left", {}, {1}, {0, 1}},
                         {"left", {}, {-1}, {0, 1, 2, 3}},
                         {"left", {}, {4}, {}, "is -1, which is no size"},
                         {"counted", {}, {3}, {6}},
                         {"counted", {}, {-1}, {}, "is -2, which is no size"},
                         {"used", {}, {3}, {9}},
                         {"used", {}, {-1}, {-1}},
                         {"unread", {5}, {0}, {5}},
                         {"unread", {5}, {-2}, {}, "is -1, which is no size"},
                         {"chosen", {5}, {1}, {7}},
                         {"chosen", {5}, {3}, {5}},
                         {"chosen", {5}, {-1}, {}, "is -2, which is no size"}});
}

/// Calls of a local function share a size that is made outside of it, and nothing is checked before a call.
TEST(SizesOfTheData, AreTheSameInAllCallsOfALocalFunction) {
  const Compiled compiled(
      "entry both (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let e = min k[0] (n + m) let padded v = for (i < e) => v[i else 0.0]\n"
      "  in padded x + padded (real k)\n"
      "entry scaled (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = min k[0] n let b = min k[1] 3\n"
      "  let padded v = for (i < a + b) => v[i else 0.5] in padded x + padded (2.0 * x)\n"
      "entry nested (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let e = min k[0] (n + m)\n"
      "  let outer w = (let padded v = for (i < e) => v[i else 0.0] in padded w + padded (2.0 * w))\n"
      "  in outer x + outer (real k)\n"
      "entry folded (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let e = min k[0] n in fold (fn s c => s + real c * (for (i < e) => x[i])) (for (i < e) => 0.5) k\n"
      "entry scanned (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let e = min k[0] 3\n"
      "  let (s, y) = scan (fn s v => (s + v, for (i < e) => real i + s)) 0.0 x\n"
      "  in for (i < e) => s + sum j => y[j, i]\n"
      "entry value (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let e = min k[0] n let ap f = f x + f (2.0 * x) in ap (fn v => for (i < e) => v[i])\n"
      "entry rows (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let e = min k[0] n let front v = v[:e] in for (j < 2) => sum (front (x * real j) * front x)\n"
      "entry uncalled (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let e = min k[0] n let padded v = for (i < e) => v[i]\n"
      "  in if e > 0 then sum (padded x + padded (2.0 * x)) else 7.5\n",
      for_levels());
  expect_runs(compiled, {{"both", {1, 2}, {3}, {4, 2, 0}},
                         {"both", {1, 2}, {9}, {10, 2, 0}},
                         {"both", {1, 2}, {0}, {}},
                         {"both", {1, 2}, {-1}, {}, "is -1, which is not in 0 .. 3"},
                         {"scaled", {1, 2}, {1, 2}, {3, 6, 1}},
                         {"scaled", {1, 2}, {9, 9}, {3, 6, 1, 1, 1}},
                         {"scaled", {1, 2}, {-1, 2}, {3}},
                         {"scaled", {1, 2}, {-1, 0}, {}, "is -1, which is no"},
                         {"nested", {1, 2}, {2, 1}, {9, 9}},
                         {"folded", {1, 2}, {1, 5}, {6.5}},
                         {"folded", {1, 2}, {9}, {9.5, 18.5}},
                         {"folded", {}, {9}, {}},
                         {"folded", {1}, {-3}, {}, "is -3, which is not in 0 .. 1"},
                         {"scanned", {1, 2}, {2}, {4, 6}},
                         {"scanned", {}, {5}, {0, 0, 0}},
                         {"scanned", {1}, {-1}, {}, "is -1, which is not in 0 .. 3"},
                         {"value", {1, 2, 3}, {2}, {3, 6}},
                         {"value", {1}, {0}, {}},
                         {"rows", {1, 2, 3}, {2}, {0, 5}},
                         {"rows", {1, 2, 3}, {-2}, {}, "is -2, which is not in 0 .. 3"},
                         {"uncalled", {1, 2, 3}, {2}, {9}},
                         {"uncalled", {1, 2, 3}, {-2}, {7.5}}});
}

/// An axis that one element cuts is read with `else` at indices of the data, whatever cuts it.
TEST(SizesOfTheData, OfOneElementAreReadWithElse) {
  const Compiled compiled(
      "entry last (x : f32[n]) (k : i64[m]) = for i => x[: k[i]][k[i] - 1 else 0.5]\n"
      "entry middle (x : f32[n]) (k : i64[m]) = for i => (sort x[: k[i]])[max 0 (k[i] / 2) else 0.5]\n"
      "entry rest (x : f32[n]) (k : i64[m]) = for i => x[k[i] :][k[i] - 1 else 0.5]\n"
      "entry every (x : f32[n]) (k : i64[m]) = for i => sum x[: k[i]][k else 0.5]\n"
      "entry turned (x : f32[n]) (k : i64[m]) =\n"
      "  for i => let r = x[: k[i]] in for (j < n) => r[k[i] - 1 - j else 0.5]\n"
      "entry kept (x : f32[n]) (k : i64[m]) = for i => x[nonzero (x > real k[i])][k[i] else 0.5]\n"
      "entry found (x : f32[n]) (k : i64[m]) =\n"
      "  for i => let at = nonzero (x > real k[i]) in x[at[k[i] else 0] else 0.5]\n",
      for_levels());
  const std::vector<double> y = {1, 2, 3};
  expect_runs(compiled, {{"last", y, {2, 0, 3}, {2, 0.5, 3}},
                         {"last", y, {4}, {}, "end `k[i]` in `x[: k[i]]`"},
                         {"last", {}, {0}, {0.5}},
                         {"middle", y, {2, 0, 3}, {2, 0.5, 2}},
                         {"rest", y, {2, 0, 1}, {0.5, 0.5, 2}},
                         {"every", y, {2, 0, 3}, {2, 1.5, 4.5}},
                         {"turned", y, {2, 0}, {2, 1, 0.5, 0.5, 0.5, 0.5}},
                         {"kept", y, {1, -1, 0, 5}, {3, 0.5, 1, 0.5}},
                         {"found", y, {1, -1, 0, 5}, {3, 1, 1, 1}}});
}

TEST(SizesOfTheData, BoundEachOther) {
  const Compiled compiled(
      "entry slices (x : f32[n]) (k : i64[m]) where 2 <= m = let a = x[: k[0]] in sum a[: k[1]]\n"
      "entry counted (x : f32[n]) (k : i64[n]) =\n"
      "  let v = count (k > 0) let y = compress x (k > 0) :> [v] in sum (y + y[: v] * 0.5)\n"
      "entry later (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let c = k[1] let a = x[nonzero (x > 0.0)] in a[: c]\n",
      for_levels());
  expect_runs(compiled, {{"slices", {1, 2, 3}, {3, 2}, {3}},
                         {"slices", {1, 2, 3}, {2, 3}, {}, "3 is not in 0 .. 2"},
                         {"counted", {4, 5, 6}, {1, 0, 1}, {15}},
                         {"counted", {}, {}, {0}},
                         {"later", {1, -2, 3}, {0, 2}, {1, 3}},
                         {"later", {1, -2, 3}, {0, 3}, {}, "3 is not in 0 .. 2"},
                         {"later", {1, -2, 3}, {0, -1}, {}, "-1 is not in 0 .. 2"}});
}

/// An element that is read twice at the same computed place is one size.
TEST(SizesOfTheData, AreOneForOneElement) {
  const Compiled compiled(
      "entry next (x : f32[n]) (k : i64[m + 1]) =\n"
      "  for (i < m) => sum (x[k[i] : k[i + 1]] * x[k[i] : k[1 + i]])\n"
      "entry last (x : f32[n]) (k : i64[m]) where 1 <= m = sum (x[: k[m - 1]] * x[: k[m - 1]])\n"
      "entry taken (x : f32[n]) (k : i64[m + 1]) =\n"
      "  for (i < m) => if i > 0 then sum (x[: k[i + 1]] + x[: k[i + 1]]) else 0.5\n",
      for_levels());
  expect_runs(compiled, {{"next", {1, 2, 3, 4, 5}, {0, 2, 2, 5}, {5, 0, 50}},
                         {"next", {1, 2, 3}, {0}, {}},
                         {"next", {1, 2, 3}, {0, 4}, {}, "4 is not in 0 .. 3"},
                         {"last", {1, 2, 3}, {7, 2}, {5}},
                         {"last", {1, 2, 3}, {4}, {}, "4, which is not in 0 .. 3"},
                         {"taken", {1, 2, 3}, {9, 9, 2}, {0.5, 6}}});
}

/// A slice without elements has to lie inside of its axis, too.
TEST(SizesOfTheData, AreInsideWithoutElements) {
  const Compiled compiled(
      "entry rows (x : f32[n]) (k : i64[m + 1]) = for (i < m) => sum x[k[i] : k[i + 1]]\n"
      "entry long (x : f32[n]) (k : i64[m]) = for i => sum x[k[i] : k[i] + m - 1]\n"
      "entry folded (x : f32[n]) (k : i64[m]) = fold (fn s (a, b) => s + sum x[a : b]) 0.0 (k, k)\n"
      "entry chosen (x : f32[n]) (k : i64[m]) = for i => if k[i] < 9 then sum x[k[i] : k[i] + m - 1] else "
      "1.0\n"
      "entry whole (x : f32[n]) (k : i64[m]) where 2 <= m = sum x[k[0] : k[1]]\n",
      for_levels());
  expect_runs(compiled, {{"rows", {1, 2}, {0, 2, 2}, {3, 0}},
                         {"rows", {1, 2}, {5, 5, 5}, {}, "not in 0 .. 2"},
                         {"rows", {1, 2}, {-1, -1}, {}, "not in 0 .. 2"},
                         {"rows", {}, {1, 1}, {}, "not in 0 .. 0"},
                         {"rows", {}, {0, 0}, {0}},
                         {"rows", {1}, {7}, {}},
                         {"long", {1, 2}, {2}, {0}},
                         {"long", {1, 2}, {5}, {}, "not in 0 .. 2"},
                         {"folded", {1, 2}, {1, 2}, {0}},
                         {"folded", {1, 2}, {1, 3}, {}, "not in 0 .. 2"},
                         {"chosen", {1, 2}, {9}, {1}},
                         {"chosen", {1, 2}, {8}, {}, "not in 0 .. 2"},
                         {"whole", {1, 2}, {5, 5}, {}, "not in 0 .. 2"}});
}

/// What an `if` chooses between may have two sizes: the result has that of the branch taken.
TEST(SizesOfTheData, AreThoseOfTheBranchTaken) {
  const Compiled compiled(
      "fun longer c x = if c then concat x x else x\n"
      "entry chosen (x : f32[n]) (k : i64[m]) = if sum k > 0 then x else real k\n"
      "entry part (x : f32[n]) (k : i64[m]) = if sum k > 0 then x[nonzero (x > 0.0)] else x\n"
      "entry of_sizes (x : f32[n]) (k : i64[m]) where 1 <= n = (if n > m then x[1:] else x) * 2.0\n"
      "entry twice (x : f32[n]) (k : i64[m]) = sum (longer (sum k > 0) x)\n"
      "entry pair (x : f32[n]) (k : i64[m]) =\n"
      "  let (a, b) = if sum k > 0 then (x, real k) else (real k, x) in for i => a[i] + sum b\n"
      "entry elements (x : f32[n]) (k : i64[m]) = for i =>\n"
      "  sum (if k[i] > 0 then x[nonzero (x > 0.0)] else real k)\n"
      "entry steps (x : f32[n]) (k : i64[m]) = fold (fn s c =>\n"
      "  s * 10.0 + sum (if c > 0 then x else if c < 0 then real k else x[:c])) 0.0 k\n"
      "entry one (x : f32[n]) (k : i64[m]) = (if sum k > 0 then x else [5.0]) * 2.0\n",
      for_levels());
  expect_runs(compiled, {{"chosen", {1, 2}, {1, 2, 3}, {1, 2}},
                         {"chosen", {1, 2}, {0, -2, 1}, {0, -2, 1}},
                         {"chosen", {}, {1}, {}},
                         {"chosen", {1}, {}, {}},
                         {"part", {1, -2, 3}, {1}, {1, 3}},
                         {"part", {1, -2, 3}, {0}, {1, -2, 3}},
                         {"of_sizes", {1, 2}, {5}, {4}},
                         {"of_sizes", {1, 2}, {5, 5}, {2, 4}},
                         {"twice", {1, 2}, {1}, {6}},
                         {"twice", {1, 2}, {0}, {3}},
                         {"pair", {1, 2}, {3}, {4, 5}},
                         {"pair", {1, 2}, {0, -1, -2}, {3, 2, 1}},
                         {"elements", {1, -2, 3}, {1, 0}, {4, 1}},
                         {"steps", {1, 2}, {1, -1, 0}, {300}},
                         {"one", {1, 2}, {1}, {2, 4}},
                         {"one", {1, 2}, {0}, {10}}});
}

/// A range that the data decides, of what is computed in the body of the `for`.
TEST(SizesOfTheData, AreRangesOfWhatTheBodyComputes) {
  const Compiled compiled(
      "fun above t x = x[nonzero (x > t)]\n"
      "fun parts (x : f32[n]) = (x[nonzero (x > 0.0)], x[nonzero (x < 0.0)])\n"
      "fun take k x = x[:k]\n"
      "fun to_size (x : f32[n]) (m : i64) = x :> f32[m]\n"
      "entry call (x : f32[n]) (k : i64[m]) = sum i => (above 0.0 x)[i] * 2.0\n"
      "entry slice (x : f32[n]) (k : i64[m]) where 2 <= m = for i => x[k[0] : k[1]][i]\n"
      "entry named (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let a = k[0] let b = k[1] in for i => x[a : b][i] * real (b - a)\n"
      "entry inside (x : f32[n]) (k : i64[m]) where 1 <= m = for i => let a = k[0] let y = x[:a] in y[i]\n"
      "entry pair (x : f32[n]) (k : i64[m]) = for i => let (a, b) = parts x in a[i] * sum b\n"
      "entry both (x : f32[n]) (k : i64[m]) = for i j => (above 0.0 x)[i] + (above 1.5 x)[j]\n"
      "entry rows (x : f32[n]) (k : i64[m]) = for i => sum j => x[: k[i]][j]\n"
      "entry steps (x : f32[n]) (k : i64[m]) =\n"
      "  fold (fn s c => s * 10.0 + (sum i => (above (real c) x)[i])) 0.0 k\n"
      "entry given (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let c = max 0 (min (k[0]) n) in sum i => (take c x)[i]\n"
      "entry whole (x : f32[n]) (k : i64[m]) where 1 <= m = for i => sum x[: k[0]] + real k[i]\n"
      "entry sized (x : f32[n]) (k : i64[m]) where 1 <= m = to_size x (k[0])\n",
      for_levels());
  expect_runs(compiled, {{"call", {1, -2, 3}, {}, {8}},
                         {"slice", {1, 2, 3}, {1, 3}, {2, 3}},
                         {"slice", {1, 2, 3}, {1, 4}, {}, "is not"},
                         {"named", {1, 2, 3}, {1, 3}, {4, 6}},
                         {"named", {1, 2, 3}, {2, 2}, {}},
                         {"inside", {1, 2, 3}, {2}, {1, 2}},
                         {"inside", {1, 2, 3}, {4}, {}, "which is not in 0 .. 3"},
                         {"pair", {1, -2, 3}, {}, {-2, -6}},
                         {"both", {1, -2, 3}, {}, {4, 6}},
                         {"rows", {1, 2, 3}, {2, 0, 3}, {3, 0, 6}},
                         {"steps", {1, 2, 3}, {1, 2}, {53}},
                         {"given", {1, 2, 3}, {2}, {3}},
                         {"given", {1, 2, 3}, {7}, {6}},
                         {"whole", {1, 2, 3}, {2, 1}, {5, 4}},
                         {"sized", {1, 2, 3}, {3}, {1, 2, 3}},
                         {"sized", {1, 2, 3}, {2}, {}, "the axis has 3 elements, not 2"}});
}

/// A range that is found or given below an axis that the data decides: of what reduces windows of that axis.
TEST(SizesOfTheData, AreRangesOverTheirWindows) {
  const Compiled compiled(
      "fun pairs (v : [n]) = for (i < n - 1) => sum v[i : i + 2]\n"
      "fun triples v = for i => maximum v[i : i + 3]\n"
      "entry tail (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let v = x[k[0] :] in for (i < dim v 0 - 1) => sum v[i : i + 2]\n"
      "entry head (x : f32[n]) (k : i64[m]) where 2 <= m = let v = x[: k[0]] in for i => mean v[i : i + 2]\n"
      "entry part (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let v = x[k[0] : k[1]] in for i => dot [1.0, 2.0] v[i : i + 2]\n"
      "entry offset (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let v = x[k[0] :] let w = (for i => sum (j < 3) => v[i + j]) in w * 2.0 + w\n"
      "entry given (x : f32[n]) (k : i64[m]) (l : i64) where 2 <= m =\n"
      "  let v = x[k[0] :] in for (i < dim v 0 - l + 1) => sum v[i : i + l]\n"
      "entry called (x : f32[n]) (k : i64[m]) where 2 <= m = let r = {a = pairs x[k[0] :]} in r.a\n"
      "entry inferred (x : f32[n]) (k : i64[m]) where 2 <= m = triples (triples x[k[0] :])\n"
      "entry two (x : f32[n]) (k : i64[m]) where 2 <= m = let v = x[: k[0]] let w = x[: k[1]] in\n"
      "  for i j => sum v[i : i + 2] * maximum w[j : j + 3]\n"
      "entry table (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let A = (for (i < n) (j < n) => x[i] * x[j])[k[0] :, : k[1]] in for i j => sum A[i : i + 2, j]\n"
      "entry added (x : f32[n]) (k : i64[m]) where 2 <= m = let v = x[k[0] :] in\n"
      "  sum (for i => sum v[i : i + 3])\n"
      "entry elements (x : f32[n]) (k : i64[m]) = for j => sum (for i => sum x[: k[j]][i : i + 2])\n"
      "entry chosen (x : f32[n]) (k : i64[m]) where 2 <= m =\n"
      "  let v = x[: k[0]] in if k[1] > 0 then sum (for i => sum v[i : i + 2]) else 9.0\n",
      for_levels());
  const std::vector<double> x = {1, 2, 4, 8};
  expect_runs(compiled,
              {{"tail", x, {1, 0}, {6, 12}},
               {"tail", x, {3, 0}, {}},
               {"tail", x, {4, 0}, {}, "`dim v 0 - 1` (generated.axn:4:33) is -1, which is no size"},
               {"tail", x, {5, 0}, {}, "is -1, which is not in 0 .. 4"},
               {"head", x, {3, 0}, {1.5, 3}},
               {"head", x, {1, 0}, {}},
               {"head", x, {0, 0}, {}, "the range of `i` in `for i => mean v[i : i + 2]`"},
               {"part", x, {1, 4}, {10, 20}},
               {"part", x, {2, 2}, {}, "is -1, which is no size"},
               {"part", x, {3, 2}, {}, "is -1, which is not in 0 .. 4"},
               {"offset", x, {0, 0}, {21, 42}},
               {"offset", x, {3, 0}, {}, "is -1, which is no size"},
               {"given", x, {1, 0}, {6, 12}, "", {2}},
               {"given", x, {1, 0}, {0, 0, 0, 0}, "", {0}},
               {"given", x, {1, 0}, {}, "is -1, which is no size", {5}},
               {"called", x, {0, 0}, {3, 6, 12}},
               {"called", x, {4, 0}, {}, "is -1, which is no size"},
               {"inferred", {1, 5, 2, 1, 3}, {0, 0}, {5}},
               {"inferred", x, {0, 0}, {}},
               {"inferred", x, {1, 0}, {}, "is -1, which is no size"},
               {"two", x, {3, 4}, {12, 24, 24, 48}},
               {"two", x, {1, 3}, {}},
               {"two", x, {3, 1}, {}, "the range of `j` in"},
               {"table", x, {2, 2}, {12, 24}},
               {"table", x, {4, 2}, {}, "the range of `i` in"},
               {"added", x, {0, 0}, {21}},
               {"added", x, {2, 0}, {0}},
               {"added", x, {3, 0}, {}, "is -1, which is no size"},
               {"elements", x, {3, 1}, {9, 0}},
               {"elements", x, {3, 0}, {}, "is -1, which is no size"},
               {"chosen", x, {3, 1}, {9}},
               {"chosen", x, {0, 0}, {9}},
               {"chosen", x, {0, 1}, {}, "is -1, which is no size"}});
}

/// A result has room for the most that each axis can be, also where it is less the more the data decides.
TEST(Room, IsThereForWhatTheDataLeaves) {
  const Compiled compiled(
      "fun moving (x : [n]) k = for i => sum x[i : i + k]\n"
      "entry outer (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let a = k[0] let l = x[: a] let r = x[a :] in for i j => r[i] * l[j]\n"
      "entry turned (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let a = k[0] let l = x[: a] let r = x[a :] in for i j => l[i] * r[j]\n"
      "entry product (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let a = k[0] let A = (for (i < 2) (j < n) => x[j] + real i) in transpose A[.., a :] @ A[.., : a]\n"
      "entry moved (x : f32[n]) (k : i64[m]) where 1 <= m = moving x k[0]\n"
      "entry between (x : f32[n]) (k : i64[m]) where 2 <= m = moving x[: k[0]] k[1]\n"
      "entry record (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let a = k[0] in {rest = for (i < n - a) => x[a + i], most = x[: a]}\n"
      "entry half (x : f32[n]) (k : i64[m]) = let a = x[nonzero (x > 1.5)] in a[dim a 0 / 2 :]\n"
      "entry unbounded (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
      "  let a = k[0] let r = iota a in for (i < n - a) (j < a) => real r[j] + x[i]\n",
      for_levels());
  const std::vector<double> x = {1, 2, 3, 4};
  expect_runs(compiled, {{"outer", x, {1}, {2, 3, 4}},
                         {"outer", x, {2}, {3, 6, 4, 8}},
                         {"outer", x, {0}, {}},
                         {"outer", x, {4}, {}},
                         {"outer", x, {5}, {}, "5, which is not in 0 .. 4"},
                         {"outer", x, {-1}, {}, "-1, which is not in 0 .. 4"},
                         {"turned", x, {3}, {4, 8, 12}},
                         {"turned", {}, {0}, {}},
                         {"product", x, {1}, {8, 11, 14}},
                         {"product", x, {3}, {14, 23, 32}},
                         {"moved", x, {2}, {3, 5, 7}},
                         {"moved", x, {0}, {0, 0, 0, 0, 0}},
                         {"moved", x, {4}, {10}},
                         {"moved", x, {5}, {}, "5, which is not in 0 .. 4"},
                         {"between", x, {3, 2}, {3, 5}},
                         {"between", x, {3, 0}, {0, 0, 0, 0}},
                         {"between", x, {2, 3}, {}},
                         {"between", x, {1, 3}, {}, "the range of `i` in `for i => sum x[i : i + k]`"},
                         {"record", x, {1}, {2, 3, 4}},
                         {"record", x, {5}, {}, "is -1, which is no size"},
                         {"half", x, {}, {3, 4}},
                         {"half", {}, {}, {}},
                         {"unbounded", x, {2}, {1, 2, 2, 3}},
                         {"unbounded", x, {4}, {}},
                         {"unbounded", x, {5}, {}, "is -1, which is no size"}});
}

/// The size that is stated is less than the bound of what it is of, which is a product of sizes.
TEST(SizesOfTheData, AreStatedAsPartsOfProducts) {
  const Compiled compiled(
      "entry square (x : f32[n*n]) (k : i64[m]) = nonzero (x > 0.0) :> i64[n]\n"
      "entry rows (x : f32[n*n]) (k : i64[m]) = x[nonzero (x > 0.0)] * 2.0 :> f32[n]\n"
      "entry half (x : f32[n*n]) (k : i64[m]) = (real (nonzero (x > 0.0))) :> f32[(n - 1)*n/2]\n"
      "entry more (x : f32[n*n]) (k : i64[m]) = nonzero (x > 0.0) :> i64[m*n]\n"
      "entry two (x : f32[n*m]) (k : i64[m]) = nonzero (x > 0.0) :> i64[n]\n",
      for_levels());
  expect_runs(compiled, {{"square", {1, -2, 3, -4}, {}, {0, 2}},
                         {"square", {1, 2, 3, -4}, {}, {}, "the axis has 3 elements, not 2"},
                         {"square", {-1}, {}, {}, "the axis has 0 elements, not 1"},
                         {"square", {}, {}, {}},
                         {"rows", {-1, 2, 3, -4}, {}, {4, 6}},
                         {"half", {-1, 2, 3, -4, 5, -6, -7, -8, -9}, {}, {1, 2, 4}},
                         {"half", {-1}, {}, {}},
                         {"half", {1}, {}, {}, "the axis has 1 elements, not 0"},
                         {"more", {1, 2, 3, 4}, {0, 0}, {0, 1, 2, 3}},
                         {"more", {1, 2, 3, 4}, {0}, {}, "the axis has 4 elements, not 2"},
                         {"two", {-1, 2, -3, -4, -5, 6}, {0, 0, 0}, {1, 5}},
                         {"two", {-1, 2, -3, -4, -5, 6}, {0, 0}, {}, "the axis has 2 elements, not 3"}});
}

/// The first launch has too little room, the next ones have enough, and a larger size asks for more again.
TEST(Room, GrowsWithTheSizesThatTheDataDecides) {
  const Compiled compiled("entry f (k : i64[1]) = for (i < k[0]) => real i * 0.5\n", for_levels());
  ASSERT_EQ(compiled.error(), "");
  std::vector<Inputs> inputs;
  for (const int64_t k : {3, 5000, 100, 20000, 0}) inputs.push_back({{base::Elem::i64, {1}, {}, {k}}});
  const Loaded loaded(compiled, {{"f", inputs[0]}});
  ASSERT_EQ(loaded.error(), "");
  for (const uint32_t workers : {1u, 2u}) EXPECT_EQ(loaded.difference_in_turn("f", inputs, workers), "");
  EXPECT_EQ(loaded.run("f", inputs[3], 2, 2).results.at(0).floats.at(19999), 9999.5);
}

/// Two sizes that nothing bounds: a launch that finds out what one of them needs has room for little more.
TEST(Room, IsRefusedBeforeItIsFilled) {
  const Compiled compiled(
      "entry f (k : i64[m]) where 2 <= m = for (i < k[0]) (j < k[1]) => u8 1\n"
      "entry g (k : i64[m]) where 3 <= m = for (i < k[0]) (j < k[1]) (l < k[2]) => real (i + j + l)\n",
      for_levels());
  ASSERT_EQ(compiled.error(), "");
  const auto sizes = [](const std::vector<int64_t>& k) {
    return Inputs{{base::Elem::i64, {static_cast<int64_t>(k.size())}, {}, k}};
  };
  const Inputs much = sizes({1 << 20, int64_t{1} << 43});
  const Loaded loaded(compiled, {{"f", much}, {"g", sizes({1, 1, 1})}});
  ASSERT_EQ(loaded.error(), "");
  EXPECT_EQ(loaded.run("f", much, 2, 2).error, "the result would be too large");
  const std::vector<Inputs> turns = {sizes({5000, 6, 0}), sizes({2, 5000, 3}), sizes({6000, 1, 5}),
                                     sizes({0, 5000, 2}), sizes({3, 2, 1})};
  for (const uint32_t workers : {1u, 2u}) EXPECT_EQ(loaded.difference_in_turn("g", turns, workers), "");
}

}  // namespace
}  // namespace axon::differential
