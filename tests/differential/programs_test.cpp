// Small programs in every executor: what generated programs cannot say (entries that share weights, states
// with a size that changes), and one for each bug that they found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "bindings.h"

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
    // Widened in the program, both streamed as panels.
    {"WeightsWidened",
     "entry stored (p : weights { w : bf16[n, k] }) (x : bf16[m, n]) = x @ p.w\n"
     "entry widened (p : weights { w : bf16[n, k] }) (x : f32[m, n]) = x @ f32 p.w\n"
     "entry scaled (q : weights { w : f16[n, k] }) (x : f32[m, n]) = for i j => sum a => x[i, a] * 0.5 * f32 "
     "q.w[a, j]\n",
     {{{"n", 5}, {"k", 3}, {"m", 4}}, {{"n", 64}, {"k", 65}, {"m", 67}}, {{"n", 0}, {"k", 31}, {"m", 1}}}},
    // Sums over several binders that run together in the right operand, in all of it or in a part, and in an
    // order that is not the operand's.
    {"SeveralDepths",
     "entry windows (x : f32[c, h, w]) (k : f32[o, c, 3, 2]) =\n"
     "  for o (y < h) (z < w) => sum c r s => x[c, y + r - 1, z + s - 1 else 0.0] * k[o, c, r, s]\n"
     "entry strided (x : f32[c, h, w]) (k : f32[o, c, 2, 3]) =\n"
     "  for o (y < (h + 1) / 2) (z < w) => sum s r c => x[c, 2*y + r, z + 2*s else 0.0] * k[o, c, r, s]\n"
     "entry columns (x : f32[c, h, w]) (q : f32[2, 3, c, o]) =\n"
     "  for (y < h) (z < w) o => sum c r s => x[c, y + r - 1, z + s else 0.0] * q[r, s, c, o]\n"
     "entry whole (x : f32[c, h, w]) (v : f32[o, c, h, w]) = for o => sum c i j => x[c, i, j] * v[o, c, i, "
     "j]\n"
     "entry rows (u : f32[o, c, h]) (v : f32[o, c, h]) = for i j => sum a b => u[i, a, b] * v[j, a, b]\n"
     "entry between (u : f32[o, c, h]) (v : f32[c, w, h]) = for i j => sum a b => u[i, a, b] * v[a, j, b]\n"
     "entry narrow (u : bf16[o, c, h]) (v : bf16[o, c, h]) = for i j => sum a b => u[i, a, b] * v[j, a, b]\n"
     "entry local (u : f32[o, c, h]) (v : f32[o, c, h]) =\n"
     "  let t = for i a b => tanh v[i, a, b] in for i j => sum a b => u[i, a, b] * t[j, a, b]\n"
     "entry panels (p : weights { w : f32[c, h, o] }) (x : f32[w, c, h]) = for i j => sum a b => x[i, a, b] "
     "* "
     "p.w[a, b, j]\n",
     {{{"c", 3}, {"h", 5}, {"w", 4}, {"o", 2}},
      {{"c", 1}, {"h", 1}, {"w", 1}, {"o", 1}},
      {{"c", 5}, {"h", 7}, {"w", 67}, {"o", 33}},
      {{"c", 0}, {"h", 3}, {"w", 2}, {"o", 3}},
      {{"c", 2}, {"h", 0}, {"w", 3}, {"o", 4}}}},
    // Masks that bound the keys: by positions, sizes, integers of the entry and of the data, in each
    // spelling;
    // rows with no key at all; masks that only partly bound, or not.
    {"MaskedAttention",
     "import attention\n"
     "entry causal_rows (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) where m <= n =\n"
     "  attention.causal_attention q k v\n"
     "entry windows (q : f32[h, m, d]) (k : f32[h, n, d]) (v : f32[h, n, e]) =\n"
     "  attention.scored (attention.window 40 (n - m)) q k v\n"
     "entry started (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) (start : i64) =\n"
     "  attention.scored (causal start) q k v\n"
     "entry lengths (q : f32[h, m, d]) (k : f32[h, n, d]) (v : f32[h, n, e]) (z : i64[h]) =\n"
     "  attention.scored (fn s => for p i j => if j < z[p] then s[p, i, j] else -inf) q k v\n"
     "entry of_rows (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) (z : i32[m]) =\n"
     "  attention.scored (fn s => for i j => if i64 z[i] < j + i && j <= 2*i then s[i, j] else -inf) q k v\n"
     "entry turned (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) =\n"
     "  attention.scored (fn s => for i j => if i < 3*j || j + 9 < i then -inf else s[i, j]) q k v\n"
     "entry partly (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) (z : i64[n]) =\n"
     "  attention.scored (fn s => for i j => if j <= i && z[j] != z[0] then s[i, j] else -inf) q k v\n"
     "entry capped (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) =\n"
     "  attention.scored (fn s => attention.window 7 0 (causal 2 (attention.softcap 5.0 s))) q k v\n"
     "entry nan_rows (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) =\n"
     "  softmax (for i j => if j < i then (q @ transpose k)[i, j] else -inf) @ v\n"
     "entry statistics (x : f32[m, n]) =\n"
     "  let s = for i j => if j <= i && i < j + 5 then x[i, j] else -inf in (maximum s, logsumexp s, softmax "
     "s)\n"
     "entry two_axes (x : f32[m, h, n]) (v : f32[h, n, e]) =\n"
     "  let s = for i p j => if p + j <= i then x[i, p, j] else -inf\n"
     "  let top = for i => maximum (for p => maximum s[i, p])\n"
     "  let w = for i p j => exp (s[i, p, j] - top[i])\n"
     "  in for i c => (sum p j => w[i, p, j] * v[p, j, c]) / (sum p j => w[i, p, j])\n",
     {{{"m", 5}, {"start", 3}, {"n", 7}, {"d", 3}, {"e", 2}, {"h", 2}},
      {{"m", 1}, {"start", 0}, {"n", 1}, {"d", 1}, {"e", 1}, {"h", 1}},
      {{"m", 67}, {"start", 64}, {"n", 131}, {"d", 5}, {"e", 33}, {"h", 1}},
      {{"m", 3}, {"start", -2}, {"n", 601}, {"d", 2}, {"e", 3}, {"h", 3}},
      {{"m", 130}, {"start", 5}, {"n", 130}, {"d", 4}, {"e", 4}, {"h", 1}},
      {{"m", 0}, {"start", 0}, {"n", 3}, {"d", 2}, {"e", 2}, {"h", 2}},
      {{"m", 0}, {"start", 0}, {"n", 0}, {"d", 2}, {"e", 2}, {"h", 2}}},
     70},
    // Reductions over the points that a mask leaves: by positions and by the data, of several binders, along
    // rows
    // and columns; slices between two integers of the data, with and without steps, empty ones too.
    {"BoundedReductions",
     "entry triangles (x : f32[m, n]) (y : i64[n, m]) =\n"
     "  ((for i => sum j => if j <= i then x[i, j] else 0.0), (for i => sum j => if j < i then y[j, i] else "
     "0),\n"
     "   (for i => reduce max (-inf) (for j => if i <= 2*j && j != 3 then x[i, j] else -inf)),\n"
     "   sum i j => if j <= i && i < j + 4 then x[i, j] else 0.0)\n"
     "entry lengths (x : f32[m, n]) (z : i64[m]) (w : i32[n]) =\n"
     "  ((for i => sum j => if j < z[i] then x[i, j] else 0.0), (for j => sum i => if i64 w[j] <= i then "
     "x[i, j] "
     "else 0.0),\n"
     "   (for i => sum j => if z[i] <= j + i && j < z[0] then x[i, j] * x[i, j] else 0.0),\n"
     "   (for i => all (for j => if j < z[i] then x[i, j] < 0.5 else true)))\n"
     "entry slices (x : f32[n]) (y : f32[m, n]) (z : i64[m]) (w : i64[m]) =\n"
     "  let a = for i => min (z[i] % (n + 1)) (w[i] % (n + 1)) let b = for i => max (z[i] % (n + 1)) (w[i] % "
     "(n + 1)) in\n"
     "  ((for i => sum x[a[i] : b[i]]), (for i => maximum x[a[i] : b[i] : 3]), (for i => sum (x[: b[i]] * "
     "y[i, : b[i]])),\n"
     "   (for i => sum y[i, a[i] :]), (for i => sum (y[i, a[i] : b[i]] * x[a[i] : b[i]])))\n",
     {{{"m", 5}, {"n", 7}},
      {{"m", 1}, {"n", 1}},
      {{"m", 67}, {"n", 131}},
      {{"m", 3}, {"n", 600}},
      {{"m", 4}, {"n", 0}},
      {{"m", 0}, {"n", 3}}},
     70},
    // Matrix products whose right operand begins where the data says: weights in panels and in rows,
    // arguments, one
    // or many rows, transposed, summed over the choice too.
    {"GatheredMatrices",
     "import routing\n"
     "entry experts (p : weights routing.Experts[f32, e, d, f]) (x : f32[t, d]) (s : f32[t, e]) where e >= 2 "
     "=\n"
     "  let (w, ids) = routing.top_gates 2 s in routing.by_gather w ids x p\n"
     "entry rows (w : f32[e, d, f]) (x : f32[t, m, d]) (z : i64[t]) =\n"
     "  for t m j => sum a => x[t, m, a] * w[z[t] % e, a, j]\n"
     "entry turned (p : weights { w : bf16[e, f, d] }) (x : f32[t, d]) (z : i32[t]) =\n"
     "  for t j => sum a => x[t, a] * f32 p.w[i64 z[t] % e, j, a]\n"
     "entry summed (w : f32[d, e, f]) (x : f32[t, d]) (z : i64[t, d]) =\n"
     "  for t j => sum a => x[t, a] * w[a, z[t, a] % e, j]\n"
     "entry both (w : f32[e, d, d]) (x : f32[e, d]) (z : i64[t]) =\n"
     "  for t j => sum a => x[z[t] % e, a] * w[z[t] % e, a, j]\n",
     {{{"e", 3}, {"d", 5}, {"f", 7}, {"t", 4}, {"m", 2}},
      {{"e", 2}, {"d", 1}, {"f", 1}, {"t", 1}, {"m", 1}},
      {{"e", 4}, {"d", 67}, {"f", 33}, {"t", 3}, {"m", 65}},
      {{"e", 2}, {"d", 0}, {"f", 3}, {"t", 2}, {"m", 1}},
      {{"e", 2}, {"d", 3}, {"f", 4}, {"t", 0}, {"m", 0}}},
     70},
    // A weight in panels of one entry, and arguments and states of the same name and path in others.
    {"WeightsBesideArguments",
     "entry fixed (p : weights { w : f32[n, k] }) (x : f32[m, n]) = x @ p.w\n"
     "entry given (p : { w : f32[n, k] }) (x : f32[m, n]) = x @ p.w\n"
     "entry kept (p : *{ w : f32[n, k] }) (x : f32[m, n]) =\n"
     "  let y = x @ p.w in (y, p with w = for i j => p.w[i, j] * 0.5)\n",
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
    // Steps that measure what they made: the second slot of what they carry is read in the same iteration.
    {"StepsThatMeasure",
     "entry forward (u : f32[n]) = iterate 5 (fn (u, _) => let v = for i => u[i] + u[i + 1 else 0.0] in (v, "
     "sum v)) (u, 0.0)\n"
     "entry backward (u : f32[n]) = iterate 5 (fn (u, _) => let v = for i => u[i] + u[i - 1 else 0.0] in (v, "
     "sum v)) (u, 0.0)\n"
     "entry driven (u : f32[n]) (x : f32[m]) =\n"
     "  scan (fn u x => let v = for i => u[i] + x * u[i + 1 else 0.0] in (v, sum v)) u x\n"
     "entry settled (u : f32[n]) where 1 <= n = while (fn (u, r, k) => k < 4 && r > -9.0)\n"
     "  (fn (u, _, k) => let v = for i => u[i] * 0.5 + u[i + 1 else 0.0] in (v, maximum (v - u), k + 1))\n"
     "  (u, 1.0, 0)\n"
     "entry plane (u : f32[h, m]) = iterate 4 (fn (u, _) =>\n"
     "  let v = for i j => u[i, j] + u[i + 1, j else 0.0] + u[i, j + 1 else 0.0]\n"
     "  in (v, sum i j => abs (v[i, j] - u[i, j]))) (u, 0.0)\n",
     {{{"n", 1}, {"m", 3}, {"h", 1}},
      {{"n", 2049}, {"m", 2}, {"h", 18}},
      {{"n", 1025}, {"m", 0}, {"h", 3}},
      {{"n", 13}, {"m", 1}, {"h", 13}}}},
    // Sizes that an integer decides, of a sum over three axes that no temporary holds.
    {"SizesThatAnIntegerScales",
     "entry spread (x : f32[c, h, w]) (f : f32[c, o, k, l]) (t : i64) =\n"
     "  for i (u < t*h) (v < t*w) => sum a r s => x[a, u - r, v - s else 0] * f[a, i, r, s]\n"
     "entry literal (x : f32[c, h, w]) (f : f32[c, o, k, l]) =\n"
     "  for i (u < 2*h) (v < 2*w) => sum a r s => x[a, u - r, v - s else 0] * f[a, i, r, s]\n",
     {{{"c", 2}, {"h", 3}, {"w", 5}, {"o", 2}, {"k", 2}, {"l", 3}, {"t", 3}},
      {{"c", 20}, {"h", 8}, {"w", 8}, {"o", 2}, {"k", 5}, {"l", 5}, {"t", 2}},
      {{"c", 1}, {"h", 7}, {"w", 0}, {"o", 1}, {"k", 1}, {"l", 0}, {"t", 1}},
      {{"c", 3}, {"h", 2}, {"w", 2}, {"o", 2}, {"k", 2}, {"l", 2}, {"t", 0}}}},
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
    // A state of more axes than what it is updated with, which is computed over one axis: sums and
    // contractions, at a position, under a condition, through time, in integers.
    {"StatesUpdatedOverMergedAxes",
     "entry sums (s : *f32[h, e]) (x : f32[n, h*e]) =\n"
     "  s with [:, :] = s * 0.5 + unflatten (over_first sum x)\n"
     "entry below (s : *f32[h + 1, e]) (x : f32[n, h*e]) = s with [1:, :] = unflatten (over_first sum x)\n"
     "entry beside (s : *f32[h + 1, e + 2]) (x : f32[n, h*e]) =\n"
     "  s with [1:, 2:] = s[1:, 2:] + unflatten (over_first sum x)\n"
     "entry rows (s : *f32[h, e]) (x : f32[h*e, n]) = s with [:, :] = s + unflatten (for i => sum x[i])\n"
     "entry three (s : *f32[h, e, m]) (x : f32[n, h*e*m]) =\n"
     "  s with [:, :, :] = s + for (a < h) (b < e) (c < m) => sum i => x[i, (a*e + b)*m + c]\n"
     "entry heads (s : *f32[h, m, e]) (x : f32[m, d]) (w : f32[d, h*e]) (g : f32) =\n"
     "  s with [:, :, :] = split_heads h (x @ w) * g + s\n"
     "entry two (s : *f32[2, m, e]) (x : f32[m, d]) (w : weights f32[d, 2*e]) =\n"
     "  s with [:, :, :] = s + split_heads 2 (x @ w)\n"
     "entry chosen (s : *f32[h, m, e]) (x : f32[m, d]) (w : f32[d, h*e]) (fresh : bool) =\n"
     "  s with [:, :, :] = (if fresh then split_heads h (x @ w) else s)\n"
     "entry selected (s : *f32[h, m, e]) (x : f32[m, d]) (w : f32[d, h*e]) (fresh : bool) =\n"
     "  s with [:, :, :] = select fresh (split_heads h (x @ w)) s\n"
     "entry placed (s : *f32[h, m + n, e]) (x : f32[n, d]) (w : f32[d, h*e]) (pos : i64)\n"
     "  where 0 <= pos, pos <= m =\n"
     "  s with [:, pos : pos + n, :] = s[:, pos : pos + n, :] * 0.5 + split_heads h (x @ w)\n"
     "entry steps (s : *f32[h, e]) (xs : f32[m, n, h*e]) =\n"
     "  fold (fn s x => s with [:, :] = s * 0.5 + unflatten (over_first sum (x * s[0, 0 else 0.0]))) s xs\n"
     "entry record (p : *{ k : i32[h, e], v : i32[h, e] }) (x : i32[n, h*e]) =\n"
     "  let y = unflatten (over_first sum x)\n"
     "  in { k = p.k with [:, :] = p.k + y, v = p.v with [:, :] = y - p.v }\n",
     {{{"h", 2}, {"e", 5}, {"n", 3}, {"m", 4}, {"d", 3}, {"pos", 1}},
      {{"h", 7}, {"e", 33}, {"n", 17}, {"m", 3}, {"d", 65}, {"pos", 0}},
      {{"h", 3}, {"e", 1}, {"n", 70}, {"m", 1}, {"d", 1}, {"pos", 1}},
      {{"h", 1}, {"e", 65}, {"n", 0}, {"m", 2}, {"d", 0}, {"pos", 2}},
      {{"h", 0}, {"e", 4}, {"n", 2}, {"m", 0}, {"d", 2}, {"pos", 0}}}},
    // What the data decides is stated as a product of sizes, beside a weight that has it too.
    {"SizesOfTheDataStatedAsProducts",
     "entry pairs (x : f32[b, d]) (t : f32[b, f + 1, d]) (w : weights f32[d + (f + 1)*f/2, h]) =\n"
     "  let z = t @ transpose t\n"
     "  let pairs = nonzero (flatten (for (i < f + 1) (j < f + 1) => j < i))\n"
     "  let inter = for b k => z[b, pairs[k] / (f + 1), pairs[k] % (f + 1)]\n"
     "  let inter = inter :> f32[b, (f + 1)*f/2]\n"
     "  in concat_last x inter @ w\n"
     "entry diagonal (x : f32[d, d]) =\n"
     "  compress (flatten x) (flatten (for (i < d) (j < d) => i == j)) :> f32[d]\n",
     {{{"b", 3}, {"d", 4}, {"f", 5}, {"h", 2}},
      {{"b", 65}, {"d", 33}, {"f", 17}, {"h", 7}},
      {{"b", 1}, {"d", 1}, {"f", 1}, {"h", 1}},
      {{"b", 2}, {"d", 0}, {"f", 0}, {"h", 3}},
      {{"b", 0}, {"d", 2}, {"f", 3}, {"h", 0}}}},
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
     {{{"n", 3}, {"m", 2}}, {{"n", 1}, {"m", 3}}, {{"n", 33}, {"m", 2}}},
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
     "entry single (x : *f32[1, d]) (k : i64[m]) =\n"
     "  fold (fn x s => let s = max 0 (min s 1) in x with [: s, :] = x[: s, :] * 0.5 + 1.0) x k\n"
     "entry fill (x : *f32[n, d]) (v : f32[t, d]) =\n"
     "  while (fn (c, x) => c < min t n) (fn (c, x) => (c + 1, x with [c] = v[c])) (i64 0, x)\n",
     {{{"n", 3}, {"d", 1}, {"m", 1}, {"t", 1}},
      {{"n", 37}, {"d", 5}, {"m", 6}, {"t", 50}},
      {{"n", 130}, {"d", 70}, {"m", 2}, {"t", 3}}},
     50},
    // Steps whose states read each other: each is updated in place after all that reads it.
    {"StatesThatReadEachOther",
     "entry moments (m : *f32[d]) (s : *f32[d]) (x : f32[t, d]) =\n"
     "  fold (fn (m, s) v => (m + v, s + m * (m + v))) (m, s) x\n"
     "entry turned (m : *f32[d]) (s : *f32[d]) (x : f32[t, d]) =\n"
     "  fold (fn (m, s) v => (m + v, for (i < d) => s[i] + v[i] * m[d - 1 - i])) (m, s) x\n"
     "entry total (m : *f32[d]) (s : *f32) (x : f32[t, d]) =\n"
     "  fold (fn (m, s) v => let w = m + v in (w, s + sum (m * w))) (m, s) x\n"
     "entry crossed (a : *f32[d]) (b : *f32[d]) (x : f32[t, d]) = fold (fn (a, b) v => (a + b, b - a * v)) "
     "(a, b) x\n"
     "entry scanned (m : *f32[d]) (s : *f32[d]) (x : f32[t, d]) =\n"
     "  scan (fn (m, s) v => let w = m + v in ((w, s + m * w), w * m)) (m, s) x\n"
     "entry inner (m : *f32[d]) (s : *f32[d]) (x : f32[t, d]) =\n"
     "  fold (fn (m, s) v => iterate 2 (fn (m, s) => (m + v, s + 0.5 * m * (m + v))) (m, s)) (m, s) x\n"
     "entry until (m : *f32[d]) (s : *f32[d]) (k : *f32) =\n"
     "  while (fn (m, s, k) => k < 5.0) (fn (m, s, k) => (m + k, s + 0.5 * m * (m + k), max (k + 1.0) 0.0)) "
     "(m, s, k)\n"
     "type Rows[n, d] = { pos : i64, keys : f32[n, d], scale : f32, last : { row : f32[d] } }\n"
     "entry append (s : *Rows[n, d]) (x : f32[t, d]) where 1 <= n =\n"
     "  fold (fn s v => let at = max 0 (min s.pos (n - 1)) in\n"
     "    { last = { row = s.last.row + v }, scale = s.scale * 0.5, pos = s.pos + 1,\n"
     "      keys = s.keys with [at] = v * s.scale + s.last.row }) s x\n",
     {{{"n", 3}, {"d", 1}, {"t", 1}},
      {{"n", 37}, {"d", 5}, {"t", 6}},
      {{"n", 7}, {"d", 130}, {"t", 3}},
      {{"n", 2}, {"d", 0}, {"t", 2}},
      {{"n", 5}, {"d", 3}, {"t", 0}}},
     60},
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
    // Quotients and remainders that no element of a row changes, where only some elements need them.
    {"DivisionsUnderAMask",
     "entry row (x : f32[m, n]) (y : f32[m, n]) where 1 <= m = for i j => if y[i, j] > 0.0 then x[(i + 1) % "
     "m, "
     "j] else 0.5\n"
     "entry chosen (x : f32[m, n]) (b : bool[m, n]) where 1 <= m = for i j => select b[i, j] x[(i + 1) % m, "
     "j] "
     "0.5\n"
     "entry periodic (x : f32[m, n]) where 1 <= m, 1 <= n =\n"
     "  for i j => if j > 0 then x[(i + 1) % m, j - 1 else 0.0] + x[(i + 1) % m, j] else x[i, j]\n"
     "entry both (x : f64[m, n]) (b : bool[m, n]) where 1 <= m, 1 <= n =\n"
     "  for i j => if i < j && b[i, j] then x[(i + 1) % m, (j + 1) % n] else 0.5\n"
     "entry summed (x : i64[m, n]) (b : bool[m, n]) where 1 <= m =\n"
     "  for i => sum j => if b[i, j] then x[(i + 1) % m, j] % 1000 else 0\n"
     "entry decided (x : f32[m, n]) (b : bool[m, n]) (k : i64[l]) where 1 <= m, 1 <= l =\n"
     "  for i j => if b[i, j] then x[(i + 1) % max k[0] 1 % m, j] + real (i / max k[0] 1) else 0.5\n"
     "entry chained (x : f32[l, n]) (b : bool[m, n]) (y : f32[m, n]) where 1 <= m, 1 <= l =\n"
     "  for (i < m) (j < n) => if b[i, j] then x[((i + 1) % m * 3 + 1) % l, j] + y[i, j] else 0.5\n"
     "entry beside (x : f32[n]) (b : bool[m, n]) (z : f32[n]) where 1 <= n =\n"
     "  for (i < m) (j < n) => if b[i, j] then x[j] * z[(i + 1) % n] else 0.5\n"
     "entry across (x : f32[n]) (b : bool[m, n]) (z : f32[n]) where 1 <= n =\n"
     "  for (i < m) => sum (j < n) => if b[i, j] then x[j] * z[2 * i % n] else 0.5\n"
     "entry turned (x : f32[m, n]) (y : f32[m, n]) where 1 <= m =\n"
     "  let t = for i => sum x[i] in for (i < m) => sum y[i] + t[(i + 1) % m]\n"
     "entry quotient (x : f32[m, n]) (b : bool[m, n]) (l : i64) where 1 <= l =\n"
     "  for i j => if b[i, j] then x[i / l, j] else 0.5\n",
     {{{"m", 1}, {"n", 1}, {"l", 1}},
      {{"m", 2}, {"n", 16}, {"l", 1}},
      {{"m", 3}, {"n", 37}, {"l", 2}},
      {{"m", 13}, {"n", 70}, {"l", 5}},
      {{"m", 5}, {"n", 1}, {"l", 3}}},
     40},
    // Indices that are products of indices: how far a tile of them comes is no interval that proofs follow.
    {"ProductsOfIndices",
     "entry square (x : f32[n]) (y : f32[m]) = for (i < m) => x[i * i else 0.5] + y[i]\n"
     "entry cube (x : f32[n]) (y : f32[m]) = for (i < m) => x[i * i * i else 0.5] + y[i]\n"
     "entry limited (x : i64[n]) (y : f32[m]) where 1 <= n =\n"
     "  for (i < m) (j < m) => x[max 0 (min (i * j) (n - 1))]\n"
     "entry circle (x : f32[n]) (y : f32[m]) = for (i < m) (j < m) => x[i * i + j * j else 0.0]\n"
     "entry apart (x : f32[n, n]) (y : f32[m]) = for (i < m) (j < m) => x[(i - j) * (i - j), i * j else "
     "0.0]\n"
     "entry three (x : f32[n]) (y : f32[m]) = for (i < m) (j < m) (k < 3) => x[i * j * k + k else 0.0]\n"
     "entry half (x : f32[n]) (y : f32[m]) = for (i < m) (j < m) => x[i * j / 3 + j % 2 else 0.0]\n"
     "entry packed (x : f32[n * (n + 1) / 2]) (y : f32[n]) =\n"
     "  for (i < n) (j < n) => if j <= i then x[i * (i + 1) / 2 + j] else y[j]\n"
     "entry summed (x : f32[n]) (y : f32[m]) where 1 <= n =\n"
     "  for (i < m) => sum (j < m) => x[min (i * j) (n - 1)] * y[j]\n"
     "entry made (x : f32[n]) (y : f32[m]) = let t = for (i < n) => x[i] * 2.0 in\n"
     "  for (i < m) (j < m) => t[(i + 1) * (j + 2) else 0.0] * y[j]\n",
     {{{"n", 1}, {"m", 1}}, {{"n", 7}, {"m", 3}}, {{"n", 40}, {"m", 13}}, {{"n", 300}, {"m", 17}}},
     40},
    // What the blocks of a softmax read of a product that others read as well.
    {"ScoresReadOutsideOfTheirBlocks",
     "entry turned (t : f32[k, m]) (w : f32[k, n]) where 2 <= n =\n"
     "  let v = transpose (softmax (transpose (transpose t @ w))) in v[1 else 0.0]\n"
     "entry square (t : f32[k, m]) where 2 <= m =\n"
     "  let v = transpose (softmax (transpose (transpose t @ t))) in v[1] * 0.5\n"
     "entry entropy (t : f32[m, k]) (w : f32[n, k]) where 2 <= n = let u = t @ transpose w * 0.25 in\n"
     "  for i => let s = softmax u[i] in sum (s * u[i]) + u[i, 1] - s[0]\n"
     "entry attended (q : f32[m, k]) (p : f32[n, k]) (v : f32[n, 3]) where 2 <= n, 1 <= m =\n"
     "  let u = q @ transpose p in (softmax u @ v, u[.., 1], softmax u[0] * u[0])\n",
     {{{"k", 1}, {"m", 2}, {"n", 2}}, {{"k", 5}, {"m", 17}, {"n", 65}}, {{"k", 33}, {"m", 130}, {"n", 40}}},
     40},
    // The integer that decides a size in a function is a number, a size or an integer of the call.
    {"DecidedSizesThatTheCallKnows",
     "fun cut (x : i64[n]) (c : i64[1]) = x[c[0]:]\n"
     "fun between (x : i64[n]) (c : i64[2]) = x[c[0] : c[1]]\n"
     "fun parts (x : i64[n]) (c : i64[1]) = {tail = x[c[0]:], all = x}\n"
     "fun corner (x : i64[n, n]) (c : i64[1]) = x[c[0]:, c[0]:]\n"
     "fun high (x : i64[n]) (c : i64[1]) =\n"
     "  let k = max 0 (min c[0] n) let part u = u[k:] in sum (for i => (part x)[i])\n"
     "fun sums (x : i64[n]) (c : i64[1]) = let (_, y) = scan (fn s v => (s + v, s * v)) 0 (x[c[0]:]) in y\n"
     "entry number (x : i64[n]) = for i => (cut x [1])[i]\n"
     "entry named (x : i64[n]) = let t = cut x [n / 2] in for i => t[i] + 1\n"
     "entry size (x : i64[n]) = high x [n / 2]\n"
     "entry integer (x : i64[n]) (k : i64) = high x [k]\n"
     "entry element (x : i64[n]) = high x [x[0 else 0]]\n"
     "entry each (x : i64[n]) = for (j < n) => high x [j]\n"
     "entry step (x : i64[n]) = fold (fn s j => s + high x [j]) 0 (iota n)\n"
     "entry ends (x : i64[n]) (k : i64) = let t = between x [k, k + 1] in for i => t[i]\n"
     "entry field (x : i64[n]) = let p = parts x [1] in for i => p.tail[i] + 1\n"
     "entry square (x : i64[n, n]) = let t = corner x [1] in for i j => t[i, j] + 1\n"
     "entry scanned (x : i64[n]) = let t = sums x [1] in for i => t[i]\n"
     "entry chosen (x : i64[n]) (b : bool) = let t = if b then flip (cut x [1]) else cut x [1] in for i => "
     "t[i]\n",
     {{{"n", 1}, {"k", 0}}, {{"n", 7}, {"k", 3}}, {{"n", 40}, {"k", 39}}, {{"n", 5}, {"k", 4}}},
     40},
    // The same where A, B or both are rows, and where what a branch changes has no size without its
    // condition.
    {"RowsAndRunsThatAnIfHasLookedAt",
     "entry row (x : f32[n, d]) (y : f32[d]) (a : i64) = if a + 2 <= n then x[a] * 0.5 else y\n"
     "entry last (x : f32[n, d]) (y : f32[d]) = if not (n < 3) then x[n - 3] - x[2] else tanh y\n"
     "entry moved (x : f32[n]) = if n >= 3 then x with [2 :] = x[: n - 2] else x\n"
     "entry front (x : f32[n]) (y : f32[m]) = if m <= n then x with [n - m :] = y * 0.5 else tanh x\n"
     "entry turned (x : f32[n, d]) (w : f32[d, 2*m]) (a : i64) = let t = heads[2, m] (tanh (x @ w)) in\n"
     "  if not (2 >= a + 2) then t else concat t[a :] t[: a]\n"
     "entry equal (x : f32[n, d]) (y : f32[m, d]) = if n == m then x + y else x\n"
     "entry columns (x : f32[n]) (y : f32[m, n]) (w : f32[n, m]) =\n"
     "  let t = for j => sum i => x[i] * w[i, j] in if n == m then (for j => sum i => y[i, j]) + t else x\n",
     {{{"n", 0}, {"d", 2}, {"m", 0}, {"a", 0}},
      {{"n", 0}, {"d", 5}, {"m", 3}, {"a", 3}},
      {{"n", 1}, {"d", 1}, {"m", 1}, {"a", 0}},
      {{"n", 2}, {"d", 3}, {"m", 5}, {"a", 0}},
      {{"n", 37}, {"d", 5}, {"m", 37}, {"a", 35}},
      {{"n", 130}, {"d", 33}, {"m", 64}, {"a", 129}}}},
    // What local functions make of states, which are updated afterwards.
    {"StatesInLocalFunctions",
     "entry scaled (p : *f32[n]) (g : f32[n]) =\n"
     "  let scaled v = 2.0 * v in let y = scaled p in (p with [:] = p + g, y)\n"
     "entry several (p : *f32[n]) (m : *f32[n]) (g : f32[n]) =\n"
     "  let upd = fn p m => (p - g, 0.5 * m + p) in let (q, k) = upd p m in (p with [:] = q, m with [:] = "
     "k)\n"
     "entry fields (s : *{p : f32[n], m : f32[n]}) (g : f32[n]) =\n"
     "  let upd s = {p = s.p - s.m, m = 0.5 * s.m + g} in let t = upd s in\n"
     "  {p = s.p with [:] = t.p, m = s.m with [:] = t.m}\n"
     "entry closed (p : *f32[n]) (g : f32[n]) =\n"
     "  let moved v = p * 0.5 + v in let twice v = moved (moved v) in let y = twice g in (p with [:] = y, "
     "y)\n"
     "entry made (p : *f32[n]) (g : f32[n]) =\n"
     "  let make v = (fn w => sum v + w) in let by = make p in let y = by g in (p with [:] = p + y, y)\n"
     "entry chosen (p : *f32[n]) (g : f32[n]) (c : bool) =\n"
     "  let f = if c then fn v => v + p else fn v => v in let y = f g in (p with [:] = y * 0.5, y)\n",
     {{{"n", 0}}, {{"n", 1}}, {{"n", 37}}, {{"n", 2049}}}},
    // ---- bugs ----
    {"OrdersUnderASoftmax",
     "entry sorted (x : f32[n]) = logsumexp (sort x)\n"
     "entry gathered (x : i64[n]) (y : f32[n]) = let o = sort_order x in sum (softmax y[o] * y)\n"
     "entry retrieved (x : f32[m, n]) (t : f32[n, d]) where n >= 3 =\n"
     "  let (v, i) = top_k 3 x in let w = softmax v in for a j => sum q => w[a, q] * t[i[a, q], j]\n"
     "entry attended (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, d]) = let s = sort (q @ transpose k) in "
     "softmax s "
     "@ v\n",
     {{{"n", 3}, {"m", 1}, {"d", 2}}, {{"n", 65}, {"m", 7}, {"d", 33}}}},
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

/// The native level, and for some programs in turn one below it; AXON_ALL_LEVELS=1: every level for each.
std::vector<std::string> levels_of_program(size_t at) {
  const std::vector<std::string> all = levels_of_this_machine();
  if (std::getenv("AXON_ALL_LEVELS")) return all;
  const size_t turn = at % all.size();
  return turn + 1 == all.size() ? std::vector{all.back()} : std::vector{all[turn], all.back()};
}

class Hand : public ::testing::TestWithParam<Program> {};

TEST_P(Hand, ExecutorsAgree) {
  const Program& program = GetParam();
  const auto listed = std::find_if(programs.begin(), programs.end(), [&](const Program& p) {
    return p.name == std::string_view(program.name);
  });
  const auto levels = levels_of_program(static_cast<size_t>(listed - programs.begin()));
  const Compiled compiled(program.source, for_levels(levels));
  ASSERT_EQ(compiled.error(), "");
  uint64_t seed = 1;
  for (const Sizes& sizes : program.sizes) {
    std::map<std::string, Inputs> inputs;
    for (const CompiledEntry& e :
         compiled.compilation().entries)  // the same seed: shared weights have one value
      inputs[e.name] = make_inputs(compiled.meaning(e.name), sizes, program.bound, seed);
    std::vector<std::unique_ptr<const Loaded>> loaded;
    std::vector<const Loaded*> natives;
    for (const std::string& level : levels) {
      loaded.push_back(std::make_unique<const Loaded>(compiled, inputs, level));
      ASSERT_EQ(loaded.back()->error(), "");
      natives.push_back(loaded.back().get());
    }
    for (const auto& [entry, tensors] : inputs) {
      std::string at = entry;
      for (const auto& [name, value] : sizes) at += " " + name + "=" + std::to_string(value);
      EXPECT_EQ(disagreement(compiled, natives, entry, tensors, seed), "") << at;
    }
    ++seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Hand, ::testing::ValuesIn(programs),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace axon::differential
