// Small programs in every executor: what generated programs cannot say (entries that share weights, states
// with a size that changes), and one for each bug that they found.
#include <gtest/gtest.h>

#include "bindings.h"
#include "checked_runs.h"

namespace axon::differential {
namespace {

struct Program {
  const char* name;
  const char* source;  ///< every entry is run
  std::vector<Sizes> sizes;
  int64_t bound = 100;  ///< of integers
};

const std::vector<Program> programs = {
    // A matrix as the right operand, as the left one, transposed and gathered from: one layout serves all.
    {"WeightsInSeveralRoles",
     "entry right (p : weights { w : f32[n, k] }) (x : f32[m, n]) = x @ p.w\n"
     "entry left (p : weights { w : f32[n, k] }) (x : f32[k, m]) = p.w @ x\n"
     "entry turned (p : weights { w : f32[n, k] }) (x : f32[m, k]) = x @ transpose p.w\n"
     "entry rows (p : weights { w : f32[n, k] }) (i : i32[m]) = p.w[i]\n",
     {{{"n", 5}, {"k", 3}, {"m", 4}}, {{"n", 65}, {"k", 33}, {"m", 2}}, {{"n", 3}, {"k", 257}, {"m", 1}}},
     3},
    // Only right operands: stored in panels, for entries of their own sizes.
    {"WeightsInPanels",
     "entry one (p : weights { w : f32[n, k], v : bf16[n, k] }) (x : f32[1, n]) (y : bf16[1, n]) = (x @ p.w, "
     "y @ "
     "p.v)\n"
     "entry many (p : weights { w : f32[n, k], v : bf16[n, k] }) (x : f32[m, n]) (y : bf16[m, n]) = (x @ "
     "p.w, y @ "
     "p.v)\n",
     {{{"n", 5}, {"k", 3}, {"m", 4}},
      {{"n", 64}, {"k", 65}, {"m", 67}},
      {{"n", 0}, {"k", 31}, {"m", 1}},
      {{"n", 31}, {"k", 0}, {"m", 2}}}},
    // A grid of patches side by side, and a row before them: two sizes that only their product matters of.
    {"RowBeforePatches",
     "entry embed (x : f32[n, h, w, c]) (p : f32[c, d]) (first : f32[d]) =\n"
     "  let e = (rearrange x [b, i, j, c] => [b, i*j, c]) @ p in for b => concat [first] e[b]\n",
     {{{"n", 2}, {"h", 3}, {"w", 5}, {"c", 7}, {"d", 4}},
      {{"n", 1}, {"h", 11}, {"w", 13}, {"c", 48}, {"d", 33}},
      {{"n", 3}, {"h", 0}, {"w", 2}, {"c", 1}, {"d", 1}}}},
    // A cache that is written at a position and read up to it, one position after the other.
    {"CacheByPosition",
     "entry step (c : *f32[s, d]) (x : f32[d]) (pos : i64) =\n"
     "  let c = c with [pos] = x * 0.5\n"
     "  in (softmax (c[0 : pos + 1] @ transpose (for (i < 1) j => x[j])), c)\n",
     {{{"s", 1}, {"d", 3}, {"pos", 0}},
      {{"s", 70}, {"d", 5}, {"pos", 64}},
      {{"s", 70}, {"d", 5}, {"pos", 69}}}},
    // A part that grows from step to step.
    {"StepsThatReadMoreEachTime",
     "entry sums (x : f32[n]) = let (s, y) = scan (fn s l => (s, sum x[: l + 1])) 0.0 (iota n) in y\n"
     "entry rows (x : f32[n, d]) =\n"
     "  fold (fn s l => s * 0.5 + sum (transpose x[: l + 1])) (for (j < d) => 0.25) (iota n)\n",
     {{{"n", 1}, {"d", 3}}, {{"n", 70}, {"d", 5}}, {{"n", 0}, {"d", 2}}}},
    // Numbers that every step moves on: where they are proved to be inside and where they are not, forwards
    // and
    // backwards, in records, read up to, handed back, in a loop inside of a loop, by a step with a name.
    {"PositionsThatLoopsCarry",
     "entry proved (c : *f32[s, d]) (xs : f32[n, d]) (pos : i64) where 0 <= pos, pos + n <= s =\n"
     "  fold (fn (c, p) x => (c with [p] = x * 0.5, p + 1)) (c, pos) xs\n"
     "entry checked (c : *f32[s, d]) (xs : f32[n, d]) (pos : i64) where 0 <= pos =\n"
     "  fold (fn (c, p) x => (c with [p] = x * 0.5, p + 1)) (c, pos) xs\n"
     "entry back (c : *f32[s, d]) (xs : f32[n, d]) (pos : i64) where n <= s =\n"
     "  fold (fn (p, c) x => (p - 1, c with [p] = x + 0.5)) (s - 1, c) xs |> (fn (p, c) => c)\n"
     "entry record (c : *f32[s, d]) (xs : f32[n, d]) (pos : i64) where 0 <= pos, pos + 2*n <= s =\n"
     "  fold (fn r x => let q = r.pos + 2 in {c = r.c with [r.pos + 1] = x, pos = q}) {c = c, pos = pos} xs\n"
     "entry field (c : *f32[s, d]) (xs : f32[n, d]) (pos : i64) where 0 <= pos, pos + n <= s =\n"
     "  fold (fn r x => (r with c = (r.c with [r.pos] = x)) with pos = r.pos + 1) {c = c, pos = pos} xs\n"
     "entry read (c : *f32[s]) (xs : f32[n, d]) (pos : i64) where 0 <= pos, pos + n <= s, 1 <= d =\n"
     "  scan (fn (c, p) x => let c = c with [p] = x[0] in ((c, p + 1), sum c[0 : p + 1])) (c, pos) xs\n"
     "entry window (c : *f32[s]) (xs : f32[n, d]) (pos : i64) where 0 <= pos =\n"
     "  fold (fn (c, p) x => (c with [p : p + 1] = [sum x] + c[p : p + 1], 1 + p)) (c, pos) xs\n"
     "entry nested (c : *f32[s]) (xs : f32[n, d]) (pos : i64) where 0 <= pos, pos + n * d <= s =\n"
     "  fold (fn (c, p) x => fold (fn (c, p) v => (c with [p] = v, p + 1)) (c, p) x) (c, pos) xs\n"
     "entry counted (c : *f32[s, d]) (xs : f32[n, d]) (pos : i64) where 0 <= pos, pos + n <= s =\n"
     "  iterate n (fn (c, p) => (c with [p] = xs[p - pos else 0.5], p + 1)) (c, pos)\n"
     "entry branch (c : *f32[s, d]) (xs : f32[n, d]) (pos : i64) where 0 <= pos =\n"
     "  fold (fn (c, p) x => (if p < s then c with [p] = x else c, p + 1)) (c, pos) xs\n",
     {{{"s", 7}, {"n", 2}, {"d", 3}, {"pos", 1}},
      {{"s", 70}, {"n", 5}, {"d", 5}, {"pos", 40}},
      {{"s", 5}, {"n", 0}, {"d", 1}, {"pos", 5}}}},
    // States that go through time are written over themselves: also of more axes, in a loop inside of a loop,
    // beside
    // another state, with the old value read before, and after an update.
    {"StatesThroughTime",
     "entry sums (s : *f32[n]) (xs : f32[t, n]) = scan (fn s x => let y = s + x in (y, y)) s xs\n"
     "entry decay (s : *f32[n, m]) (xs : f32[t, n]) = fold (fn s x => for i j => s[i, j] * 0.5 + x[i]) s xs\n"
     "entry nested (s : *f32[n]) (xs : f32[t, n]) =\n"
     "  fold (fn s x => iterate 2 (fn s => tanh (s * 0.5 + x)) s) s xs\n"
     "entry pair (s : *f32[n]) (c : *f32[n]) (xs : f32[t, n]) =\n"
     "  fold (fn (s, c) x => let d = tanh (c * 0.5 + x) in (s * 0.5 + d, d)) (s, c) xs\n"
     "entry before (s : *f32[n]) (xs : f32[t, n]) =\n"
     "  scan (fn s x => let old = sum s in (s * 0.5 + x * old * 0.1, old)) s xs\n"
     "entry after (s : *f32[n]) (xs : f32[t, n]) where 1 <= n =\n"
     "  fold (fn s x => s + x) (s with [0] = 1.0) xs with [0] = 2.0\n",
     {{{"n", 5}, {"m", 3}, {"t", 4}},
      {{"n", 1}, {"m", 65}, {"t", 1}},
      {{"n", 257}, {"m", 33}, {"t", 3}},
      {{"n", 64}, {"m", 0}, {"t", 0}}}},
    // Loops that the data ends: by a number, by every element for itself, with a loop inside.
    {"LoopsThatTheDataEnds",
     "entry times (x : f32[n]) (k : i64[m]) =\n"
     "  iterate (reduce max 0 k) (fn s => tanh (s * 0.9 + 0.1)) x\n"
     "entry each (x : f32[n]) (k : i64[m]) = for i j =>\n"
     "  while (fn (s, c) => c < k[j]) (fn (s, c) => (s * 0.5 + x[i], c + 1)) (x[i], i64 0) |> (fn (s, c) => "
     "s)\n"
     "entry inside (x : f32[n]) (k : i64[m]) (w : f32[l, n, n]) =\n"
     "  while (fn (s, c) => c < reduce max 0 k) (fn (s, c) =>\n"
     "    (fold (fn h v => tanh (for i => sum j => v[i, j] * h[j])) s w, c + 1)) (x, i64 0)\n"
     "entry state (x : *f32[n]) (k : i64[m]) =\n"
     "  while (fn (s, c) => c < reduce max 0 k) (fn (s, c) => (s with [0] = s[0] * 0.5 + 1.0, c + 1))\n"
     "    (x, i64 0) |> (fn (s, c) => s)\n",
     {{{"n", 1}, {"m", 1}, {"l", 1}},
      {{"n", 37}, {"m", 5}, {"l", 3}},
      {{"n", 1030}, {"m", 2}, {"l", 0}},
      {{"n", 3}, {"m", 0}, {"l", 2}}},
     6},
    // The same inside of other loops: other numbers of steps in every iteration, often none.
    {"LoopsThatTheDataEndsInLoops",
     "entry rows (x : f32[n]) (k : i64[m]) = scan (fn s c =>\n"
     "  let t = iterate c (fn t => tanh (t * 0.9 + 0.1)) s in (t + 0.25, sum t)) x k\n"
     "entry deep (x : f32[n]) (k : i64[m]) =\n"
     "  while (fn (s, c) => c < reduce max 0 k) (fn (s, c) =>\n"
     "    (fold (fn s j => iterate (j + c - 2) (fn t => tanh (flip t * 0.8 + s * 0.2)) s) s k, c + 1)) (x, "
     "i64 0)\n"
     "entry two (x : f32[n]) (k : i64[m]) (w : f32[n, n]) = fold (fn (s, u) c =>\n"
     "  let a = iterate (c - 1) (fn t => tanh (for i => sum j => w[i, j] * t[j])) s\n"
     "  let (b, _) = while (fn (t, r) => r < c && sum t > 0.0) (fn (t, r) => (t * 0.5 - 0.25, r + 1)) (a + "
     "u, i64 0)\n"
     "  in (b, flip a)) (x, x * 0.5) k\n"
     "entry states (x : *f32[n]) (k : i64[m]) =\n"
     "  fold (fn s c => iterate (c - 1) (fn s => s with [0] = s[0] * 0.5 + 1.0) s) x k\n",
     {{{"n", 1}, {"m", 1}}, {{"n", 37}, {"m", 5}}, {{"n", 130}, {"m", 7}}, {{"n", 3}, {"m", 0}}},
     4},
    // Sizes that the data decides: counted, taken, handed on, beside a loop that the data ends.
    {"SizesThatTheDataDecides",
     "fun places (m : bool[n]) =\n"
     "  let before = for (i < n) => sum j => if j <= i && m[j] then i64 1 else 0\n"
     "  in for (r < min (sum i => if m[i] then i64 1 else 0) n) => sum i => if before[i] <= r then i64 1 "
     "else 0\n"
     "entry chosen (x : f32[n, d]) (v : f32[n]) =\n"
     "  let ids = places (v > 0.0) in (ids, softmax x[ids], sum (transpose x[ids]))\n"
     "entry first (x : f32[n, d]) (k : i64[1]) = x[:max 0 (min (k[0]) n)] * 2.0\n"
     "entry rest (x : f32[n, d]) (k : i64[1]) (w : f32[d, e]) = x[max 0 (min (k[0]) n):] @ w\n"
     "entry both (x : f32[n, d]) (v : f32[n]) (k : i64[1]) =\n"
     "  let y = x[places (v > 0.0)]\n"
     "  in (iterate (k[0]) (fn s => tanh (s * 0.9)) y, fold (fn s r => s * 0.5 + r) (for (j < d) => 0.0) "
     "y)\n",
     {{{"n", 1}, {"d", 1}, {"e", 1}},
      {{"n", 37}, {"d", 5}, {"e", 33}},
      {{"n", 130}, {"d", 70}, {"e", 3}},
      {{"n", 0}, {"d", 2}, {"e", 2}}},
     40},
    // Slices whose ends only the data decides, and whose lengths are known all the same, or the same twice.
    {"LengthsBetweenEndsOfTheData",
     "entry window (x : f32[n]) (k : i64[m]) (v : f32[3]) where 1 <= m, 3 <= n =\n"
     "  let c = min k[0] (n - 3) in (dot x[c : c + 3] v, (x[c : c + 3])[1])\n"
     "entry ends (x : f32[n]) (k : i64[m]) where 1 <= m = let c = min k[0] n in dot x[n - c :] x[: c]\n"
     "entry twice (x : f32[n]) (k : i64[m]) where 1 <= m =\n"
     "  let b = min k[0] n in let a = b / 2 in dot x[a : b] x[a : b]\n"
     "entry counted (x : f32[n]) = let h = count (x > 0.0) in let g = min h 2 in dot x[h - g : h] x[h - g : "
     "h]\n"
     "entry looped (x : f32[n]) (k : i64[m]) = fold (fn s c => let h = min c n in let g = min h 2 in\n"
     "  s + dot x[h - g : h] x[h - g : h]) 0.0 k\n"
     "entry each (x : f32[n]) (k : i64[m]) where 3 <= n = for j => let a = min k[j] (n - 2) in sum x[a : a + "
     "2]\n",
     {{{"n", 3}, {"m", 1}}, {{"n", 37}, {"m", 5}}, {{"n", 130}, {"m", 2}}},
     90},
    // Sizes that nothing bounds: more than there is room for at first, and less again.
    {"SizesWithoutABound",
     "entry counted (k : i64[m]) where 1 <= m = for (i < k[0] * 60) => real i * 0.5\n"
     "entry table (k : i64[m]) (x : f32[n]) where 2 <= m =\n"
     "  let t = for (i < k[0] * 60) j => x[j] * real (i % 7) in (sum t, t, maximum (concat [0.5] t[.., 0]))\n"
     "entry two (k : i64[m]) (x : f32[n]) where 2 <= m, 1 <= n =\n"
     "  let y = for (i < k[0]) => x[i % n] in let z = for (i < k[1] * dim y 0) => real i in (sum y, sum z, "
     "y)\n"
     "entry picked (k : i64[m]) (x : f32[n]) where 2 <= m =\n"
     "  let y = for (i < k[1] * k[0]) => real (i % 5) in y[nonzero (y > 2.0)]\n",
     {{{"n", 3}, {"m", 2}}, {{"n", 1}, {"m", 3}}, {{"n", 130}, {"m", 2}}},
     90},
    // The same where there is another size in every iteration of a loop.
    {"SizesThatTheDataDecidesInLoops",
     "entry sums (x : f32[l, n]) = fold (fn s r => s + sum (softmax r[: count (r > s)])) 0.0 x\n"
     "entry kept (x : f32[l, n]) = scan (fn s r =>\n"
     "  let y = r[nonzero (r > s)] in (mean (concat [s] y), sum (y * y))) 0.0 x\n"
     "entry folded (x : f32[l, n]) = fold (fn s r =>\n"
     "  fold (fn t v => t * 0.5 + v) s r[nonzero (r > 0.25)]) 0.0 x\n"
     "entry scanned (x : f32[l, n]) = fold (fn s r =>\n"
     "  let (t, ys) = scan (fn t v => (t * 0.5 + v, t)) s r[nonzero (r > 0.25)] in t + 0.25 * sum ys) 0.0 x\n"
     "entry sorted (x : f32[l, n]) = fold (fn s r =>\n"
     "  s + (sort (concat [1.0, 2.0] r[nonzero (r > 0.25)]))[0]) 0.0 x\n"
     "entry product (x : f32[l, n]) (w : f32[n, d]) = fold (fn s r =>\n"
     "  let k = count (r > 0.0) in s + ([r[: k]] @ w[: k])[0]) (for (j < d) => 0.0) x\n"
     "entry updated (x : f32[l, n]) = fold (fn s r => let y = compress r (r > 0.0) in\n"
     "  s + sum (y with [: dim y 0 / 2] = y[: dim y 0 / 2] * 2.0)) 0.0 x\n"
     "entry products (x : f32[l, n]) = fold (fn s r => let y = compress r (r > 0.0) in s + sum i j => y[i] * "
     "y[j]) 0.0 x\n"
     "entry growing (x : f32[n]) (k : i64[m]) =\n"
     "  while (fn (c, s) => c < reduce max 0 k) (fn (c, s) => (c + 1, s + sum x[: min c n])) (i64 0, 0.0)\n",
     {{{"n", 1}, {"l", 1}, {"d", 1}, {"m", 1}},
      {{"n", 37}, {"l", 3}, {"d", 5}, {"m", 3}},
      {{"n", 130}, {"l", 2}, {"d", 33}, {"m", 2}},
      {{"n", 0}, {"l", 2}, {"d", 2}, {"m", 2}},
      {{"n", 5}, {"l", 0}, {"d", 2}, {"m", 0}}},
     40},
    // The same where it is another size for every element of a `for`.
    {"SizesOfOneElement",
     "entry rows (x : f32[l, n]) (k : i64[l]) = for i => sum (softmax x[i, : min k[i] n])\n"
     "entry so_far (x : f32[n]) = for (i < n) => sum x[: i + 1]\n"
     "entry from (x : f32[n]) = for (i < n) => maximum (tanh x[i:])\n"
     "entry kept (x : f32[l, n]) = for i => let y = x[i, nonzero (x[i] > 0.0)] in (mean (concat [1.0] y), "
     "sum y)\n"
     "entry folded (x : f32[l, n]) (k : i64[l]) = for i => fold (fn t v => t * 0.5 + v) 0.0 x[i, : min k[i] "
     "n]\n"
     "entry repeated (x : f32[l, n]) (k : i64[l]) = for i j => iterate k[i] (fn t => t * 0.5 + 1.0) x[i, j]\n"
     "entry attended (q : f32[l, d]) (x : f32[l, n, d]) (k : i64[l]) = for i c => let m = min k[i] n in\n"
     "  let w = softmax (for j => sum s => q[i, s] * x[i, : m][j, s]) in sum j => w[j] * x[i, : m][j, c]\n"
     "entry triangle (x : f32[n, n]) = for (i < n) (c < n) => sum (j < i + 1) => x[i, j] * x[j, c]\n"
     "entry stepped (x : f32[l, n]) (k : i64[l]) = scan (fn s r => (for (i < l) => sum r[: min k[i] n] + "
     "s[i],\n"
     "  for (i < l) => s[i] * 0.5)) (for (i < l) => 0.0) x\n",
     {{{"n", 1}, {"l", 1}, {"d", 1}},
      {{"n", 37}, {"l", 3}, {"d", 5}},
      {{"n", 130}, {"l", 2}, {"d", 3}},
      {{"n", 0}, {"l", 2}, {"d", 2}},
      {{"n", 5}, {"l", 0}, {"d", 4}}},
     60},
    // Positions that the data decides, one and a run of them; in place where the old value is given up.
    {"UpdatesWhereTheDataSays",
     "entry one (x : f32[n, d]) (k : i64[m]) (v : f32[d]) where 1 <= m, 1 <= n = x with [min k[0] (n - 1)] = "
     "v\n"
     "entry run (x : f32[n]) (k : i64[m]) (v : f32[3]) where 1 <= m, 3 <= n =\n"
     "  let c = min k[0] (n - 3) in x with [c : c + 3] = v\n"
     "entry upto (x : f32[n]) (k : i64[m]) (v : f32[n]) where 1 <= m =\n"
     "  let c = min k[0] n in x with [: c] = v[: c] * 2.0\n"
     "entry walk (x : *f32[n, d]) (k : i64[m]) where 1 <= n =\n"
     "  fold (fn x s => let s = min s (n - 1) in x with [s] = x[s] * 0.5 + 1.0) x k\n"
     "entry fill (x : *f32[n, d]) (v : f32[t, d]) =\n"
     "  while (fn (c, x) => c < min t n) (fn (c, x) => (c + 1, x with [c] = v[c])) (i64 0, x)\n",
     {{{"n", 3}, {"d", 1}, {"m", 1}, {"t", 1}},
      {{"n", 37}, {"d", 5}, {"m", 6}, {"t", 50}},
      {{"n", 130}, {"d", 70}, {"m", 2}, {"t", 3}}},
     50},
    // What holds in a branch only.
    {"SizesThatAnIfHasLookedAt",
     "entry rest (x : f32[n]) = if n >= 1 then sum x[1:] else 0.5\n"
     "entry pair (x : f32[n]) (a : i64) = if a + 2 <= n then sum (softmax x[a : a + 2]) else sum x\n"
     "entry change (x : f32[n]) (a : i64) = if a + 2 <= n then x with [a : a + 2] = [5.0, 6.0] else x\n"
     "entry first (x : f32[n]) = if n >= 1 then sum (for (i < 3) => x[0] * real (i + 1)) else 0.5\n"
     "entry windows (x : f32[n]) = if n >= 4 then sum (for (t < n - 3) => prod (s < 4) => x[t + s]) else sum "
     "x\n"
     "entry largest (x : f32[n]) = let ok = n >= 1 in if ok then real (argmax x) + x[0] else -1.0\n"
     "entry same (x : f32[n]) (k : i64[m]) = if n == m then sum (x * (real k :> f32[n])) else 0.25\n"
     "entry chosen (x : *f32[n]) (k : i64[m]) =\n"
     "  fold (fn x c => if 0 <= c && c < n then x with [c] = x[c] * 0.5 + 1.0 else x) x k\n"
     "entry two (x : f32[n]) (k : i64[m]) = (if m >= 1 && n >= 1 then (if k[0] < n then x[k[0]] else 0.0) "
     "else 0.25)\n"
     "  + (if n >= 1 then x[0] else 0.0)\n"
     "entry picked (x : f32[n]) (k : i64[m]) =\n"
     "  if n >= 1 && m >= 2 then sum (for j => x[min k[j] (n - 1)]) + real k[1] else 0.5\n",
     {{{"n", 0}, {"m", 0}, {"a", 0}},
      {{"n", 1}, {"m", 1}, {"a", 3}},
      {{"n", 2}, {"m", 2}, {"a", 0}},
      {{"n", 37}, {"m", 5}, {"a", 35}},
      {{"n", 130}, {"m", 0}, {"a", 129}}},
     50},
    // The same where A, B or both are rows, and where what a branch changes has no size without its
    // condition.
    {"RowsAndRunsThatAnIfHasLookedAt",
     "entry row (x : f32[n, d]) (y : f32[d]) (a : i64) = if a + 2 <= n then x[a] * 0.5 else y\n"
     "entry last (x : f32[n, d]) (y : f32[d]) = if not (n < 3) then x[n - 3] - x[2] else tanh y\n"
     "entry moved (x : f32[n]) = if n >= 3 then x with [2 :] = x[: n - 2] else x\n"
     "entry front (x : f32[n]) (y : f32[m]) = if m <= n then x with [n - m :] = y * 0.5 else tanh x\n"
     "entry equal (x : f32[n, d]) (y : f32[m, d]) = if n == m then x + y else x\n",
     {{{"n", 0}, {"d", 2}, {"m", 0}, {"a", 0}},
      {{"n", 0}, {"d", 5}, {"m", 3}, {"a", 3}},
      {{"n", 1}, {"d", 1}, {"m", 1}, {"a", 0}},
      {{"n", 2}, {"d", 3}, {"m", 5}, {"a", 0}},
      {{"n", 37}, {"d", 5}, {"m", 37}, {"a", 35}},
      {{"n", 130}, {"d", 33}, {"m", 64}, {"a", 129}}}},
    // ---- bugs ----
    {"InitialValueIsAlsoReadInside",
     "entry f (x : f32[n, k]) (y : f32[m, k]) = fold (fn s r => s * 0.5 + x + r) x y\n",
     {{{"n", 2}, {"k", 3}, {"m", 4}}, {{"n", 2}, {"k", 3}, {"m", 0}}}},
    {"NarrowIntegersWrapInsideReductions",
     "entry f (x : u8[n, m]) = (reduce max 1 (abs (x - 60)), sum ((x - 60) / 4), sum ((x * 3) % 7))\n"
     "entry g (x : i8[n, m]) (y : i8[m, k]) = (x @ y, for i => sum j => x[i, j] * 5 / 3)\n",
     {{{"n", 7}, {"m", 13}, {"k", 5}}}},
    {"NothingIsReachedOrComputed",
     "entry untaken (x : f32[0, d]) (y : f32[d]) = if dim x 0 >= 3 then x[2] + sum (transpose x[1:]) else y\n"
     "entry empty (x : f32[0, d]) (w : f32[d, k]) = let t = x @ w in for i (j < k + 2) => t[i, j - 1 else "
     "-0.5]\n"
     "entry chain (x : f32[0, d]) (w : f32[d, k]) = (sum a b c => x[a, b] * w[b, c]) + 0.5\n",
     {{{"d", 3}, {"k", 2}}, {{"d", 0}, {"k", 1}}}},
};

class Hand : public ::testing::TestWithParam<Program> {};

TEST_P(Hand, ExecutorsAgree) {
  const Program& program = GetParam();
  const std::vector<std::string> levels = levels_of_this_machine();
  const Compiled compiled(program.source, for_levels(levels));
  ASSERT_EQ(compiled.error(), "");
  uint64_t seed = 1;
  for (const Sizes& sizes : program.sizes) {
    std::map<std::string, Inputs> inputs;
    for (const CompiledEntry& e :
         compiled.compilation().entries)  // the same seed: shared weights have one value
      inputs[e.name] = make_inputs(compiled.meaning(e.name), sizes, program.bound, seed);
    for (const std::string& level : levels) {
      const Loaded loaded(compiled, inputs, level);
      ASSERT_EQ(loaded.error(), "");
      for (const auto& [entry, tensors] : inputs) {
        std::string at = entry;
        for (const auto& [name, value] : sizes) at += " " + name + "=" + std::to_string(value);
        EXPECT_EQ(disagreement(compiled, {&loaded}, entry, tensors, seed), "") << at;
      }
    }
    ++seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Hand, ::testing::ValuesIn(programs),
                         [](const auto& info) { return info.param.name; });

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
  const char* const three = "`x :> f32[3]` on axis 0";
  const std::vector<CheckedRun> runs = {
      {"named", {1, 2, 3}, {3}, {1, 2, 3}},
      {"named", {1, 2, 3}, {2}, {}, "`x :> f32[a]` on axis 0: the axis has 3 elements, not 2"},
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
      {"kept", {1, 2}, {7}, {}, "`s :> f32[3]` on axis 0: the axis has 2 elements, not 3"},
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
      {"update", {1}, {0}, {}, "the slice begins at 0, which is not in 0 .. -1"},
      {"update", {1}, {}, {1}},
      {"copies", {1, 2, 3, 4}, {}, {}},
      {"copies", {1, 2, 3, 4}, {0, 2}, {37, 33}},
      {"copies", {1, 2, 3, 4}, {0, 3}, {}, "the slice begins at 3, which is not in 0 .. 2"},
  };
  expect_runs(compiled, runs);
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
  const char* const most = "`a` in `k[:a]` is not a size up to m";
  expect_runs(compiled, {{"chosen", {}, {3, 0}, {0, 0, 0}},
                         {"chosen", {}, {3, 1}, {0, 1, 2}},
                         {"chosen", {}, {-3, 0}, {}},
                         {"named", {1, 2, 3}, {2, 0}, {2, 4}},
                         {"named", {1, 2, 3}, {2, 1}, {1, 2}},
                         {"branch", {1, 2, 3}, {2, 0}, {2, 4}},
                         {"branch", {1, 2, 3}, {2, 1}, {1, 2}},
                         {"branch", {1, 2, 3}, {4, 0}, {}, "is not a size up to n"},
                         {"nested", {1, 2, 3}, {2, 0}, {2, 3}},
                         {"nested", {1, 2, 3}, {2, 1}, {2, 4}},
                         {"nested", {1, 2, 3}, {2, 2}, {1, 2}},
                         {"unlike", {1, 2, 3}, {2, 0}, {2, 0}},
                         {"unlike", {1, 2, 3}, {3, 1}, {1, 2, 3}},
                         {"unlike", {1, 2, 3}, {3, 0}, {}, most},
                         {"unbounded", {}, {3, 0}, {0, 0, 0}},
                         {"unbounded", {}, {3, 1}, {0, 1, 2}},
                         {"unbounded", {}, {-1, 1}, {}, "is not a size"},
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
                         {"inside", {1, 2, 3}, {4}, {}, "is not a size up to n"},
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
      "entry index (x : f32[n]) (k : i64[m]) where 1 <= n = x[large % n]\n"
      "entry list (x : f32[n]) (k : i64[m]) = sum (f64 x) * pair\n"
      "entry partial (x : f32[n]) (k : i64[m]) = (more k, more (f64 x), total k, total x)\n"
      "entry local (x : f32[n]) (k : i64[m]) =\n"
      "  let h = fold add 0 let t = iterate 3 in (h k, h (f64 x), t (fn s => s + 1) (i64 0))\n"
      "entry steps (x : f32[n]) (k : i64[m]) = let half = fn v => v * 0.5 in (half x, half (f64 x))\n",
      for_levels());
  expect_runs(compiled, {{"two", {1, 2}, {}, {0.1, 0.2}},
                         {"whole", {}, {}, {16777217}},
                         {"index", {1, 2, 3}, {}, {3}},
                         {"list", {1, 2}, {}, {3, 6}},
                         {"partial", {1}, {16777216, 1}, {16777219, 4}},
                         {"local", {1}, {16777216, 1}, {16777217}},
                         {"steps", {1}, {}, {0.5}}});
}

/// The first launch has too little room, the next ones have enough, and a larger size asks for more again.
TEST(Room, GrowsWithTheSizesThatTheDataDecides) {
  const Compiled compiled("entry f (k : i64[1]) = for (i < k[0]) => real i * 0.5\n", for_levels());
  ASSERT_EQ(compiled.error(), "");
  std::vector<Inputs> inputs;
  for (const int64_t k : {3, 5000, 100, 20000, 0}) inputs.push_back({{base::Elem::i64, {1}, {}, {k}}});
  const Loaded loaded(compiled, {{"f", inputs[0]}});
  ASSERT_EQ(loaded.error(), "");
  for (const uint32_t workers : {1u, 2u}) EXPECT_EQ(loaded.run_in_turn("f", inputs, workers).error, "");
  EXPECT_EQ(loaded.run("f", inputs[3], 2, 2).results.at(0).floats.at(19999), 9999.5);
}

}  // namespace
}  // namespace axon::differential
