// Integers of either sign and any size: arithmetic on them wraps, and an index that is made of them is in
// range for its wrapped value or is refused; a size is exact or refused; dividing by zero is an error exactly
// where it is reached.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "checked_runs.h"

namespace axon::differential {
namespace {

constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
constexpr int64_t third = 6148914691236517205;  // 3 * third wraps to -1
const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7};

TEST(Integers, IndicesAreCheckedOnTheirWrappedValues) {
  const Compiled compiled(
      "entry put (x : f32[n]) (k : i64[m]) (v : i64) where 1 <= n = x with [min (v * 3) (n - 1)] = 0.5\n"
      "entry square (x : f32[n]) (k : i64[m]) (v : i64) where 1 <= n = x[min (v * v) (n - 1)]\n"
      "entry clamped (x : f32[n]) (k : i64[m]) (v : i64) where 1 <= n = x[max 0 (min (v * 3) (n - 1))]\n"
      "entry hash (x : f32[n]) (k : i64[m]) (v : i64) where 1 <= n = x[(v * 6364136223846793005 + 1) % n]\n"
      "entry roll (x : f32[n]) (k : i64[m]) (v : i64) = for (i < n) => x[(i - v) % n]\n"
      "entry shifted (x : f32[n]) (k : i64[m]) (v : i64) = for i => x[i + v * 4611686018427387904 else 0.0]\n"
      "entry guarded (x : f32[n]) (k : i64[m]) (v : i64) =\n"
      "  if 0 <= v && v + 1 < n then x[v + 1] else -1.0\n"
      "entry bounded (x : f32[n]) (k : i64[m]) (v : i64) where -3 <= v, v <= 3, 7 <= n = x[v * 2 + 6 - (v "
      "+ "
      "3)]\n"
      "entry folded (x : f32[n]) (k : i64[m]) (v : i64) where 1 <= n =\n"
      "  fold (fn s i => s + x[max 0 (min (i * v) (n - 1))]) 0.0 (iota 3)\n"
      "entry elements (x : f32[n]) (k : i64[m]) (v : i64) where 1 <= n =\n"
      "  for i => x[max 0 (min (k[i] * v) (n - 1))]\n"
      "entry records (x : f32[n]) (k : i64[m]) (v : i64) where 1 <= n =\n"
      "  let r = {at = v * 3, x = x} in r.x[min r.at (n - 1)]\n"
      "fun pick f x v = x[f v]\n"
      "entry passed (x : f32[n]) (k : i64[m]) (v : i64) where 1 <= n = pick (fn v => min (v * 3) (n - 1)) x "
      "v\n",
      for_levels());
  const char* const outside = "is not in 0 .. ";
  expect_runs(compiled, {
                            {"put", x, {}, {}, outside, {third}},
                            {"put", x, {}, {1, 2, 3, 0.5, 5, 6, 7}, "", {1}},
                            {"put", x, {}, {1, 2, 3, 4, 5, 0.5, 7}, "", {third + 2}},
                            {"square", x, {}, {1}, "", {int64_t{1} << 32}},
                            {"square", x, {}, {5}, "", {-2}},
                            {"square", x, {}, {}, outside, {3037000500}},
                            {"clamped", x, {}, {1}, "", {third}},
                            {"clamped", x, {}, {7}, "", {most / 3}},
                            {"clamped", x, {}, {1}, "", {least}},
                            {"hash", x, {}, {6}, "", {123456789123456}},
                            {"hash", x, {}, {2}, "", {-5}},
                            {"hash", x, {}, {5}, "", {9223372036854775807}},
                            {"hash", x, {}, {1}, "", {least}},
                            {"roll", x, {}, {2, 3, 4, 5, 6, 7, 1}, "", {-1}},
                            {"roll", x, {}, {7, 1, 2, 3, 4, 5, 6}, "", {8}},
                            {"shifted", x, {}, x, "", {4}},
                            {"shifted", x, {}, {0, 0, 0, 0, 0, 0, 0}, "", {1}},
                            {"shifted", x, {}, {0, 0, 0, 0, 0, 0, 0}, "", {2}},
                            {"guarded", x, {}, {3}, "", {1}},
                            {"guarded", x, {}, {-1}, "", {6}},
                            {"guarded", x, {}, {-1}, "", {least}},
                            {"guarded", x, {}, {}, outside, {most}},
                            {"bounded", x, {}, {1}, "", {-3}},
                            {"bounded", x, {}, {7}, "", {3}},
                            {"bounded", x, {}, {}, "v <= 3", {most}},
                            {"folded", x, {}, {1 + 7 + 1}, "", {int64_t{1} << 62}},
                            {"folded", x, {}, {1 + 1 + 1}, "", {least}},
                            {"elements", x, {0, 1, 2, -1}, {1, 7, 1, 1}, "", {int64_t{1} << 62}},
                            {"records", x, {}, {}, outside, {third}},
                            {"records", x, {}, {4}, "", {1}},
                            {"passed", x, {}, {}, outside, {third}},
                            {"passed", x, {}, {7}, "", {5}},
                        });
}

/// What a comparison says of an integer that may wrap proves nothing: the branch checks for itself.
TEST(Integers, InBranchesAreCheckedWhereTheyAreReached) {
  const Compiled compiled(
      "entry row (x : f32[n]) (k : i64[m]) (v : i64) = if v + 2 <= n then x[v] else -1.0\n"
      "entry guarded (x : f32[n]) (k : i64[m]) (v : i64) = if 0 <= v && v < n then x[v] else -1.0\n"
      "entry pair (x : f32[n]) (k : i64[m]) (v : i64) = if v + 2 <= n then sum x[v : v + 2] else -1.0\n"
      "entry rows (x : f32[n]) (k : i64[m]) = for i => if k[i] < n then sum (for (j < 3) => x[k[i]]) else "
      "-1.0\n"
      "entry store (x : f32[n]) (k : i64[m]) (v : i64) = if v + 2 <= n then x with [v + 1] = 0.5 else x\n"
      "entry fixed (x : f32[n]) (k : i64[m]) (v : i64) = let y = [7.0] in if v + 2 <= dim y 0 then y[v] else "
      "-1.0\n",
      for_levels());
  expect_runs(compiled, {
                            {"guarded", x, {}, {7}, "", {6}},
                            {"guarded", x, {}, {-1}, "", {7}},
                            {"guarded", x, {}, {-1}, "", {most}},
                            {"guarded", x, {}, {-1}, "", {least}},
                            {"row", x, {}, {6}, "", {5}},
                            {"row", x, {}, {-1}, "", {6}},
                            {"row", {}, {}, {-1}, "", {0}},
                            {"row", x, {}, {}, "is not in 0 .. ", {most}},
                            {"pair", x, {}, {13}, "", {5}},
                            {"pair", x, {}, {-1}, "", {6}},
                            {"pair", {}, {}, {-1}, "", {0}},
                            {"pair", x, {}, {}, "`v` in `x[v : v + 2]`", {most}},
                            {"rows", x, {6, 7}, {21, -1}},
                            {"rows", {}, {0, 3}, {-1, -1}},
                            {"rows", x, {-1}, {}, "is not in 0 .. "},
                            {"store", x, {}, {1, 2, 3, 4, 5, 6, 0.5}, "", {5}},
                            {"fixed", {}, {}, {-1}, "", {0}},
                            {"store", {1}, {}, {1}, "", {0}},
                            {"store", x, {}, {}, "is not in 0 .. ", {most - 1}},
                        });
}

/// Sizes are exact, wherever they are reached; how often a loop runs is an integer like others.
TEST(Integers, SizesAreExact) {
  const Compiled compiled(
      "entry slice (x : f32[n]) (k : i64[m]) (v : i64) = sum x[0 : max 0 (min (v * v) n)]\n"
      "entry range (x : f32[n]) (k : i64[m]) (v : i64) = for (i < max 0 (min (v * 3) 5)) => real i\n"
      "entry ends (x : f32[n]) (k : i64[m]) (v : i64) = sum x[0 : min (v * 3) n]\n"
      "entry clamps (x : f32[n]) (k : i64[m]) (v : i64) (w : i64) = slice_clamped v w x\n"
      "entry looped (x : f32[n]) (k : i64[m]) (v : i64) =\n"
      "  fold (fn s i => s + sum x[0 : max 0 (min (i * v) n)]) 0.0 (iota 3)\n"
      "entry steps (x : f32[n]) (k : i64[m]) (v : i64) = iterate (v * 4) (fn s => s + 1.0) 0.0\n"
      "entry counted (x : f32[n]) (k : i64[m]) (v : i64) = iterate v (fn s => s + 1.0) 0.5\n"
      "entry fewer (x : f32[n]) (k : i64[m]) = iterate (n - 3) (fn s => s + 1.0) x\n"
      "entry doubled (x : f32[n]) (k : i64[m]) (v : i64) = x[: min n (n + 2 * v)]\n"
      "entry sampled (x : f32[n]) (k : i64[m]) (v : i64) where 1 <= m = x[: min n (n + 2 * k[0])]\n"
      "entry halved (x : f32[n]) (k : i64[m]) (v : i64) = for (t < ((n + 2 * v) / 2) % 7) => x[t else 1.0]\n"
      "entry chosen (x : f32[n]) (k : i64[m]) (v : i64) = if v < 10 then x[: max 0 (min n (2 * v))] else x\n"
      "entry either (x : f32[n]) (k : i64[m]) (v : i64) = sum x[: if v < 10 then max 0 (min n (2 * v)) else "
      "n]\n"
      "entry less (x : f32[n]) (k : i64[m]) (v : i64) = sum x[: max 0 (min n (-v - 1))]\n"
      "entry each (x : f32[n]) (k : i64[n]) (v : i64) = for i => sum x[: max 0 (min n (3 * k[i]))]\n"
      "entry nested (x : f32[n]) (k : i64[m]) (v : i64) = fold (fn s a => iterate v (fn t => t + a) s) 1.0 "
      "x\n",
      for_levels());
  expect_runs(
      compiled,
      {
          {"slice", x, {}, {}, "4294967296 * 4294967296 leaves the integers of 64 bits", {int64_t{1} << 32}},
          {"slice", x, {}, {10}, "", {-2}},
          {"range", x, {}, {}, "`3*v` is too large", {third}},
          {"range", x, {}, {0, 1, 2, 3, 4}, "", {2}},
          {"ends", x, {}, {6}, "", {1}},
          {"ends", x, {}, {}, "leaves the integers of 64 bits", {third}},
          {"clamps", x, {}, {1, 2}, "", {-1, 2}},
          {"clamps", x, {}, {}, "", {3, -2}},
          {"looped", x, {}, {}, "2 * 4611686018427387904 leaves the integers of 64 bits", {int64_t{1} << 62}},
          {"looped", x, {}, {1 + 3}, "", {1}},
          {"steps", x, {}, {0}, "", {int64_t{1} << 62}},
          {"steps", x, {}, {8}, "", {2}},
          {"steps", x, {}, {0}, "", {-2}},
          {"counted", x, {}, {3.5}, "", {3}},
          {"counted", x, {}, {0.5}, "", {-1}},
          {"counted", x, {}, {0.5}, "", {-3}},
          {"counted", x, {}, {0.5}, "", {least}},
          {"fewer", {5, 6}, {}, {5, 6}},
          {"fewer", {}, {}, {}},
          {"fewer", {1, 2, 3, 4}, {}, {2, 3, 4, 5}},
          {"doubled", x, {}, {1, 2, 3, 4, 5, 6, 7}, "", {int64_t{1} << 61}},
          {"doubled", x, {}, {1, 2, 3}, "", {-2}},
          {"doubled", x, {}, {}, "leaves the integers of 64 bits", {most - 2}},
          {"doubled", x, {}, {}, "leaves the integers of 64 bits", {(int64_t{1} << 62) - 1}},
          {"sampled", x, {-3}, {1}, "", {0}},
          {"sampled", x, {most}, {}, "leaves the integers of 64 bits", {0}},
          {"halved", x, {}, {1, 2, 3, 4}, "", {1}},
          {"halved", x, {}, {}, "leaves the integers of 64 bits", {(int64_t{1} << 62) - 3}},
          {"chosen", x, {}, {1, 2, 3, 4, 5, 6, 7}, "", {int64_t{1} << 62}},
          {"chosen", x, {}, {1, 2}, "", {1}},
          {"chosen", x, {}, {}, "leaves the integers of 64 bits", {least}},
          {"either", x, {}, {28}, "", {most}},
          {"either", x, {}, {3}, "", {1}},
          {"either", x, {}, {}, "leaves the integers of 64 bits", {least}},
          {"less", x, {}, {28}, "", {-most}},
          {"less", x, {}, {}, "leaves the integers of 64 bits", {least}},
          {"less", x, {}, {0}, "", {most}},
          {"each", {5, 6}, {0, 1}, {0, 11}, "", {0}},
          {"each", {5, 6}, {0, third}, {}, "leaves the integers of 64 bits", {0}},
          {"nested", {5, 6}, {}, {1}, "", {-3}},
          {"nested", {5, 6}, {}, {23}, "", {2}},
      });
}

/// A branch that is not taken asks for nothing: neither room nor time for what its condition excludes.
TEST(Integers, AreBoundedByTheBranchTheyStandIn) {
  const Compiled compiled(
      "fun head (v : f32[n]) k = v[: k]\n"
      "entry slice (x : f32[n]) (k : i64[m]) (v : i64) = if 0 <= v && v <= n then sum x[: v] else -1.0\n"
      "entry result (x : f32[n]) (k : i64[m]) (v : i64) = if 0 <= v && v <= n then x[: v] else x\n"
      "entry nested (x : f32[n]) (k : i64[m]) (v : i64) =\n"
      "  if 0 <= v then (if v <= n then head x v else x) else x\n"
      "entry ends (x : f32[n]) (k : i64[m]) (v : i64) (w : i64) =\n"
      "  if 0 <= v && v <= w && w <= n then sum x[v : w] else -1.0\n"
      "entry range (x : f32[n]) (k : i64[m]) (v : i64) =\n"
      "  if 0 <= v && v < 10 then sum (for (i < v) => real i) else -1.0\n"
      "entry both (x : f32[n]) (k : i64[m]) (v : i64) =\n"
      "  if v < 0 then x else (if v > n then x else for (i < v) => x[i] + x[v - 1 - i])\n"
      "entry looped (x : f32[n]) (k : i64[m]) (v : i64) =\n"
      "  fold (fn s j => if 0 <= v && v <= j then s + sum x[v : j] else s) 0.0 (iota n)\n",
      for_levels());
  std::vector<CheckedRun> runs = {{"slice", {1, 2, 3}, {}, {3}, "", {2}},
                                  {"result", {1, 2, 3}, {}, {1, 2}, "", {2}},
                                  {"nested", {1, 2, 3}, {}, {1, 2}, "", {2}},
                                  {"ends", {1, 2, 3}, {}, {5}, "", {1, 3}},
                                  {"range", {}, {}, {3}, "", {3}},
                                  {"both", {1, 2, 3}, {}, {3, 3}, "", {2}},
                                  {"looped", {1, 2, 3}, {}, {2}, "", {1}}};
  for (const int64_t v : {int64_t{-1}, int64_t{11}, int64_t{1} << 40, int64_t{1} << 62, least / 2}) {
    for (const char* entry : {"slice", "range"}) runs.push_back({entry, {1, 2, 3}, {}, {-1}, "", {v}});
    for (const char* entry : {"result", "nested", "both"})
      runs.push_back({entry, {1, 2, 3}, {}, {1, 2, 3}, "", {v}});
    runs.push_back({"looped", {1, 2, 3}, {}, {0}, "", {v}});
    for (const int64_t w : {int64_t{0}, least / 2}) {
      runs.push_back({"ends", {1, 2, 3}, {}, {-1}, "", {v, w}});
      runs.push_back({"ends", {1, 2, 3}, {}, {-1}, "", {int64_t{1} << 62, v}});
    }
  }
  for (const int64_t v : {most, least})
    runs.push_back({"slice", {1, 2, 3}, {}, {}, "the integers of a program's sizes end at 2^62", {v}});
  expect_runs(compiled, runs);
}

/// The ends of slices at positions that are an argument in another form, and sizes that are less than 0.
TEST(Integers, InOtherFormsAreChecked) {
  const Compiled compiled(
      "fun clamp k n = max 0 (min k n)\n"
      "entry iterated (x : f32[n]) (k : i64[m]) (v : i64) = let p = iterate 3 (fn s => s) v in x[p : p + 2]\n"
      "entry folded (x : f32[n]) (k : i64[m]) (v : i64) =\n"
      "  let p = fold (fn s e => s) v x in x with [p : p + 2] = [8.0, 9.0]\n"
      "entry element (x : f32[n]) (k : i64[m]) (v : i64) = let p = (for (i < 3) => v)[1] in x[p : p + 2]\n"
      "entry counted (x : f32[n]) (k : i64[m]) = sum (j < count (x > 0.0) - 1) => x[j]\n"
      "entry least (x : f32[n]) (k : i64[m]) where 1 <= m = real (dim (iota (min k[0] n - 1)) 0)\n"
      "entry named (x : f32[n]) (k : i64[m]) =\n"
      "  let u = (for (j < count (x > 0.0) - 1) => 1.0) in if dim u 0 >= 1 then sum u else 0.0\n"
      "entry shifted (x : f32[n]) (k : i64[m]) (v : i64) = for (i < v + clamp 0 n) => real i\n"
      "entry rest (x : f32[n]) (k : i64[m]) (v : i64) = x[max 0 (min v n) :]\n"
      "entry more (x : f32[n]) (k : i64[m]) (v : i64) = for (i < n + min (max v 0) n) => real i\n"
      "entry guarded (x : f32[n]) (k : i64[m]) (v : i64) = if 0 <= v && v <= n then sum x[v : v + 2] else "
      "7.0\n"
      "entry lattice (x : f32[n]) (k : i64[m]) (v : i64) =\n"
      "  sum (iterate v (fn s => if n > 1 then for j => s[j + 1 else 0.0] + s[j] else s) (for (j < v + 1) => "
      "real j))\n",
      for_levels());
  std::vector<CheckedRun> runs = {{"counted", {}, {}, {}, "is -1, which is not in 0 .. 0"},
                                  {"counted", {1, 2, 3}, {}, {3}},
                                  {"least", {}, {5}, {}, "is -1, which is not in 0 .. 0"},
                                  {"least", {1, 2}, {5}, {1}},
                                  {"named", {}, {}, {}, "is -1, which is not in 0 .. 0"},
                                  {"named", {1, 2, 3}, {}, {2}},
                                  {"shifted", {1}, {}, {0, 1}, "", {2}},
                                  {"shifted", {1}, {}, {}, "is -2, which is no size", {-2}},
                                  {"more", {1, 2}, {}, {0, 1, 2}, "", {1}},
                                  {"guarded", {1, 2, 3}, {}, {5}, "", {1}},
                                  {"guarded", {1, 2, 3}, {}, {7}, "", {5}},
                                  {"guarded", {1, 2, 3}, {}, {}, "is not in 0 .. ", {2}},
                                  {"lattice", {1, 2}, {}, {42}, "", {3}},
                                  {"lattice", {1}, {}, {6}, "", {3}},
                                  {"lattice", {1}, {}, {0}, "", {-1}}};
  for (const char* entry : {"iterated", "element"}) {
    runs.push_back({entry, {5, 6}, {}, {5, 6}, "", {0}});
    for (const int64_t v : {1, 2}) runs.push_back({entry, {5, 6}, {}, {}, "is not in 0 .. ", {v}});
    for (const int64_t v : {-1, 3}) runs.push_back({entry, {5, 6}, {}, {}, "needs to hold", {v}});
  }
  runs.push_back({"folded", {5, 6, 7}, {}, {5, 8, 9}, "", {1}});
  runs.push_back({"folded", {5, 6, 7}, {}, {}, "is not in 0 .. ", {2}});
  for (const int64_t v : {-2, 1, 5}) {
    std::vector<double> rest = {1, 2, 3};
    rest.erase(rest.begin(), rest.begin() + std::clamp<int64_t>(v, 0, 3));
    runs.push_back({"rest", {1, 2, 3}, {}, rest, "", {v}});
  }
  for (const char* entry : {"rest", "more"})
    for (const int64_t v : {most, least})
      runs.push_back({entry, {1, 2}, {}, {}, "the integers of a program's sizes end at 2^62", {v}});
  expect_runs(compiled, runs);
}

/// An i64 that no shape mentions is an integer of either sign.
TEST(Integers, MayBeNegative) {
  const Compiled compiled(
      "entry same (x : f32[n]) (k : i64[m]) (v : i64) = v\n"
      "entry quotient (x : f32[n]) (k : i64[m]) (v : i64) (w : i64) = v / w\n"
      "entry remainder (x : f32[n]) (k : i64[m]) (v : i64) (w : i64) = v % w\n"
      "entry less (x : f32[n]) (k : i64[m]) (v : i64) = if v + 1 < 10 then 1.0 else 0.0\n"
      "entry offset (x : f32[n]) (k : i64[m]) (v : i64) = for i => x[i - v else 0.0]\n"
      "entry at (x : f32[n]) (k : i64[m]) (v : i64) = x[v]\n"
      "entry both (x : f32[n]) (k : i64[m]) (v : i64) (w : i64) where v < 0, w == v + 4 = x[w]\n"
      "entry least (x : f32[n]) (k : i64[m]) (v : i64) = min v 3 + max v 3\n"
      "entry size (x : f32[n]) (k : i64[m]) (v : i64) = zeros v\n",
      for_levels());
  expect_runs(compiled, {
                            {"same", x, {}, {-3}, "", {-3}},
                            {"same", x, {}, {static_cast<double>(least)}, "", {least}},
                            {"quotient", x, {}, {3}, "", {-7, -2}},
                            {"quotient", x, {}, {-4}, "", {7, -2}},
                            {"quotient", x, {}, {static_cast<double>(least)}, "", {least, -1}},
                            {"quotient", x, {}, {}, "w != 0", {1, 0}},
                            {"remainder", x, {}, {-1}, "", {7, -2}},
                            {"remainder", x, {}, {0}, "", {least, -1}},
                            {"less", x, {}, {1}, "", {most}},
                            {"less", x, {}, {0}, "", {9}},
                            {"less", x, {}, {1}, "", {-100}},
                            {"offset", x, {}, {3, 4, 5, 6, 7, 0, 0}, "", {-2}},
                            {"offset", x, {}, {0, 0, 0, 0, 0, 0, 0}, "", {least}},
                            {"at", x, {}, {}, "0 <= v", {-1}},
                            {"at", x, {}, {}, "v < n", {7}},
                            {"both", x, {}, {3}, "", {-2, 2}},
                            {"both", x, {}, {}, "v < 0", {1, 5}},
                            {"least", x, {}, {-2}, "", {-5}},
                            {"size", x, {}, {}, "at least 0", {-1}},
                            {"size", x, {}, {0, 0}, "", {2}},
                        });
}

/// An integer that a function names, and gives back, is checked where the caller uses it.
TEST(Integers, NamedInFunctionsAreCheckedByTheirUses) {
  const Compiled compiled(
      "fun total a = let s = fold (fn s x => s + x) (i64 0) a in s\n"
      "fun twice a = let (s, t) = (total a, total a) in {sum = s + t, of = (s, t)}\n"
      "fun cut x a = let s = total a in (x[:s], s)\n"
      "fun cut_if c x a = let s = total a in (if c then sum x[:s] else 0.0, s)\n"
      "fun below (i : i64) where 0 <= i, i < 2 = i + 1\n"
      "entry at (x : f32[n]) (k : i64[m]) = x[total k]\n"
      "entry named (x : f32[n]) (k : i64[m]) = let i = total k in x[i]\n"
      "entry shifted (x : f32[n]) (k : i64[m]) = x[total k - 1]\n"
      "entry least (x : f32[n]) (k : i64[m]) where 1 <= n = x[min (total k) (n - 1)]\n"
      "entry upto (x : f32[n]) (k : i64[m]) = x[: total k]\n"
      "entry from (x : f32[n]) (k : i64[m]) = x[total k :]\n"
      "entry stored (x : f32[n]) (k : i64[m]) = x with [total k] = 0.5\n"
      "entry ranged (x : f32[n]) (k : i64[m]) = for (i < total k) => x[i]\n"
      "entry deep (x : f32[n]) (k : i64[m]) = let r = twice k let (a, b) = r.of in x[r.sum] + x[a] * x[b]\n"
      "entry elements (x : f32[n]) (k : i64[m]) = for i => x[total [k[i]]]\n"
      "entry steps (x : f32[n]) (k : i64[m]) = fold (fn s c => s * 10.0 + x[total [c]]) 0.0 k\n"
      "entry branch (x : f32[n]) (k : i64[m]) = if total k < n then x[total k] else -1.0\n"
      "entry stated (x : f32[n]) (k : i64[m]) = below (total k)\n"
      "entry size (x : f32[n]) (k : i64[m]) = let (y, s) = cut x k in sum y + x[s]\n"
      "entry same (x : f32[n]) (k : i64[m]) = let (y, s) = cut x k in y * x[n - s :]\n"
      "entry unused (x : f32[n]) (k : i64[m]) = let (y, s) = cut_if false x k in y + x[s]\n"
      "entry clamped (x : f32[n]) (k : i64[m]) = let (y, s) = cut_if false x k in for (i < max s 0) => "
      "x[i]\n",
      for_levels());
  const char* const outside = "is not in 0 .. 2";
  const std::vector<double> x = {1, 2, 3};
  std::vector<CheckedRun> runs = {{"least", x, {-1, 9}, {3}},
                                  {"least", x, {-1, 0}, {}, outside},
                                  {"upto", x, {1, 2}, x},
                                  {"upto", x, {-1}, {}, "-1"},
                                  {"upto", x, {2, 2}, {}, "0 .. 3"},
                                  {"from", x, {1, 1}, {3}},
                                  {"from", x, {2, 2}, {}, "-1"},
                                  {"from", x, {-1}, {}, "0 .. 3"},
                                  {"stored", x, {1}, {1, 0.5, 3}},
                                  {"stored", x, {3}, {}, outside},
                                  {"ranged", x, {1, 1}, {1, 2}},
                                  {"ranged", x, {4}, {}, outside},
                                  {"ranged", x, {-1}, {}, "no size"},
                                  {"deep", x, {1}, {7}},
                                  {"deep", x, {2}, {}, outside},
                                  {"elements", x, {2, 0}, {3, 1}},
                                  {"elements", x, {2, 3}, {}, outside},
                                  {"steps", x, {2, 0}, {31}},
                                  {"steps", x, {0, -1}, {}, outside},
                                  {"branch", x, {3}, {-1}},
                                  {"branch", x, {-1}, {}, outside},
                                  {"stated", x, {1}, {2}},
                                  {"stated", x, {2}, {}, "i < 2"},
                                  {"stated", x, {-1}, {}, "0 <= i"},
                                  {"size", x, {2}, {6}},
                                  {"size", x, {3}, {}, outside},
                                  {"size", x, {-1}, {}, "-1"},
                                  {"same", x, {2}, {2, 6}},
                                  {"same", x, {4}, {}, "0 .. 3"},
                                  {"unused", x, {2}, {3}},
                                  {"unused", x, {-1}, {}, outside},
                                  {"unused", x, {3}, {}, outside},
                                  {"clamped", x, {2}, {1, 2}},
                                  {"clamped", x, {-2}, {}},
                                  {"clamped", x, {4}, {}, outside},
                                  {"shifted", x, {1}, {1}},
                                  {"shifted", x, {0}, {}, outside},
                                  {"shifted", x, {4}, {}, outside}};
  for (const char* entry : {"at", "named"}) {
    runs.push_back({entry, x, {1, 1}, {3}});
    runs.push_back({entry, x, {-1}, {}, outside});
    runs.push_back({entry, x, {1, 2}, {}, outside});
  }
  expect_runs(compiled, runs);
}

/// Constants that leave 64 bits are known when the program runs.
TEST(Integers, ConstantsWrap) {
  const Compiled compiled(
      "entry shifted (x : f32[n]) (k : i64[m]) (v : i64) = v * 4294967296 * 2147483648\n"
      "entry next (x : f32[n]) (k : i64[m]) (v : i64) = max v (9223372036854775807 + 1)\n"
      "entry at (x : f32[n]) (k : i64[m]) (v : i64) where 1 <= n =\n"
      "  x[(v * 6364136223846793005 * 6364136223846793005) % n]\n",
      for_levels());
  expect_runs(compiled, {
                            {"shifted", x, {}, {static_cast<double>(least)}, "", {3}},
                            {"shifted", x, {}, {0}, "", {2}},
                            {"next", x, {}, {-5}, "", {-5}},
                            {"at", x, {}, {5}, "", {12345}},
                        });
}

/// What is computed of integers may wrap at any depth, through calls, loops and names.
TEST(Integers, OfManyStepsWrap) {
  const Compiled compiled(
      "fun lcg (s : i64) : i64 = (s * 6364136223846793005 + 1442695040888963407) % 4294967296\n"
      "entry twice (x : f32[n]) (k : i64[m]) (v : i64) = lcg (lcg v)\n"
      "entry named (x : f32[n]) (k : i64[m]) (v : i64) = let a = lcg v let b = lcg a in lcg b\n"
      "entry looped (x : f32[n]) (k : i64[m]) (v : i64) = iterate 2 (fn s => lcg (lcg s)) v\n"
      "entry folded (x : f32[n]) (k : i64[m]) (v : i64) = fold (fn s i => lcg (lcg s) + i) v k\n"
      "entry powers (x : f32[n]) (k : i64[m]) (v : i64) =\n"
      "  let a = v * v let b = a * a let c = b * b let d = c * c in d * d * d * d\n"
      "entry deep (x : f32[n]) (k : i64[m]) (v : i64) =\n"
      "  let a u = lcg (lcg (lcg (lcg (lcg u)))) let b u = a (a (a (a u))) in b (b (b v))\n"
      "entry at (x : f32[n]) (k : i64[m]) (v : i64) where 1 <= n = x[lcg (lcg v) % n]\n",
      for_levels());
  expect_runs(compiled, {
                            {"twice", x, {}, {2410163857.0}, "", {7}},
                            {"named", x, {}, {3447103436.0}, "", {7}},
                            {"looped", x, {}, {2151926827.0}, "", {7}},
                            {"folded", x, {1, 2}, {2178120214.0}, "", {7}},
                            {"powers", x, {}, {8733086111712066817.0}, "", {3}},
                            {"deep", x, {}, {432166499.0}, "", {7}},
                            {"at", x, {}, {6}, "", {9}},
                        });
}

/// The least integer of each width is a literal, as any other is.
TEST(Integers, LeastAreLiterals) {
  const Compiled compiled(
      "entry wide (x : f32[n]) (k : i64[m]) (v : i64) = min v -9223372036854775808\n"
      "entry hexadecimal (x : f32[n]) (k : i64[m]) (v : i64) = v + -0x8000000000000000\n"
      "entry wrapped (x : f32[n]) (k : i64[m]) (v : i64) = i64 (-9223372036854775808) - 1\n"
      "entry negated (x : f32[n]) (k : i64[m]) (v : i64) = -(i64 -9223372036854775808)\n"
      "entry found (x : f32[n]) (k : i64[m]) (v : i64) = for i => if k[i] == -9223372036854775808 then 1 "
      "else "
      "i64 0\n"
      "entry stated (x : f32[n]) (k : i64[m]) (v : i64) where -9223372036854775808 < v = v\n"
      "entry narrow (x : f32[n]) (k : i64[m]) (v : i64) =\n"
      "  i64 (i8 -128) + i64 (i16 -32768) + i64 (i32 -2147483648)\n",
      for_levels());
  const double wide = static_cast<double>(least);
  expect_runs(compiled, {
                            {"wide", x, {}, {wide}, "", {5}},
                            {"hexadecimal", x, {}, {wide + 4096}, "", {4096}},
                            {"wrapped", x, {}, {static_cast<double>(most)}, "", {5}},
                            {"negated", x, {}, {wide}, "", {5}},
                            {"found", x, {least, 0, least + 1}, {1, 0, 0}, "", {5}},
                            {"stated", x, {}, {5}, "", {5}},
                            {"stated", x, {}, {}, "< v", {least}},
                            {"narrow", x, {}, {-2147516544.0}, "", {5}},
                        });
}

TEST(Division, ByZeroIsAnErrorWhereItIsReached) {
  const Compiled compiled(
      "entry whole (x : f32[n]) (k : i64[m]) where 2 <= m = k / k[1]\n"
      "entry elements (x : f32[n]) (k : i64[m]) = for i => 12 / k[i]\n"
      "entry unread (x : f32[n]) (k : i64[m]) = let y = 12 % k in sum x\n"
      "entry branch (x : f32[n]) (k : i64[m]) = for i => if k[i] != 0 then 12 / k[i] else -1\n"
      "entry both (x : f32[n]) (k : i64[m]) = select (k != 0) (12 / k) (-1)\n"
      "entry lanes (x : f32[n]) (k : i64[m]) where 1 <= m = sum (12 / k[1 : 1 + max 0 (min (k[0]) (m - "
      "1))])\n"
      "entry loop (x : f32[n]) (k : i64[m]) = fold (fn s i => s / i) 1000 k\n"
      "entry steps (x : f32[n]) (k : i64[m]) where 1 <= m = iterate 3 (fn v => v - 16 / v) (k[0])\n"
      "entry matrix (x : f32[n]) (k : i64[m]) = sum (for i j => k[i] / k[j])\n"
      "entry stretched (x : f32[n]) (k : i64[m]) (v : i64) = iota v / (for (i < 1) => sum k)\n"
      "entry narrow (x : f32[n]) (k : i64[m]) = sum (i64 (12 / i8 k))\n",
      for_levels());
  const char* const zero = "an integer is divided by 0";
  expect_runs(compiled, {
                            {"whole", x, {6, -2}, {-3, 1}},
                            {"whole", x, {6, 0}, {}, zero},
                            {"elements", x, {5, -5}, {2, -3}},
                            {"elements", x, {5, 0}, {}, "`12 / k[i]` (generated.axn"},
                            {"elements", x, {}, {}},
                            {"unread", {1, 2}, {5}, {3}},
                            {"unread", {1, 2}, {0}, {}, zero},
                            {"branch", x, {0, 3}, {-1, 4}},
                            {"both", x, {1, 3}, {12, 4}},
                            {"both", x, {0, 3}, {}, zero},
                            {"lanes", x, {1, 3, 0}, {4}},
                            {"lanes", x, {2, 3, 0}, {}, zero},
                            {"lanes", x, {0, 0, 0}, {0}},
                            {"loop", x, {3, -7}, {-48}},
                            {"loop", x, {3, 0}, {}, zero},
                            {"loop", x, {}, {1000}},
                            {"steps", x, {4}, {}, zero},
                            {"steps", x, {5}, {-3}},
                            {"matrix", x, {2, 1}, {3, 1}},
                            {"matrix", x, {0, 1}, {}, zero},
                            {"stretched", x, {0}, {}, "", {0}},
                            {"stretched", x, {0}, {}, zero, {2}},
                            {"stretched", x, {1}, {0, 1}, "", {2}},
                            {"narrow", x, {1, 5}, {14}},
                            {"narrow", x, {1, 256}, {}, zero},
                        });
}

/// What is computed in few bits wraps there, also where it becomes a size; a reduction of none is its unit.
TEST(Integers, OfFewBitsWrapInSizes) {
  const Compiled compiled(
      "fun ones (k : u8) = sum (for (i < k + 1) => 1.0)\n"
      "fun at (x : [n]) (k : u8) = x[k * 2]\n"
      "entry size (x : f32[n]) (k : i64[m]) (v : i64) = ones (u8 v)\n"
      "entry slice (x : f32[n]) (k : i64[m]) (v : i64) = let b = i8 v in sum x[: b * 2]\n"
      "entry index (x : f32[n]) (k : i64[m]) (v : i64) = at x (u8 v)\n"
      "entry greatest (x : f32[n]) (k : i64[m]) (v : i64) = real (reduce max (-128) (for i => i8 k[i]))\n"
      "entry lowest (x : f32[n]) (k : i64[m]) (v : i64) = real (reduce min 32767 (for i => i16 k[i]))\n"
      "entry bytes (x : f32[n]) (k : i64[m]) (v : i64) = real (reduce min 255 (for i => u8 k[i]))\n",
      for_levels());
  expect_runs(compiled, {{"size", x, {}, {6}, "", {5}},
                         {"size", x, {}, {0}, "", {255}},
                         {"slice", x, {}, {3}, "", {1}},
                         {"slice", x, {}, {0}, "", {-128}},
                         {"slice", x, {}, {}, "is 8, which is not in 0 .. 7", {4}},
                         {"index", x, {}, {7}, "", {3}},
                         {"index", x, {}, {1}, "", {128}},
                         {"index", x, {}, {}, "8 is not in 0 .. 6", {4}},
                         {"greatest", x, {}, {-128}, "", {0}},
                         {"greatest", x, {-5, -3}, {-3}, "", {0}},
                         {"lowest", x, {}, {32767}, "", {0}},
                         {"bytes", x, {}, {255}, "", {0}}});
}

}  // namespace
}  // namespace axon::differential
