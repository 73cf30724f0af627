// Programs of sizes, lengths and updates that the data decides, of sizes that an `if` has looked at, and of
// states (hand_programs.h).
#include "hand_programs.h"

namespace axon::differential {

std::vector<HandProgram> programs_of_data() {
  return {
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
      // Products along a depth that the data chooses: its index is one for the rows and one for the columns.
      {"DepthsThatTheDataChooses",
       "entry doubles (x : f64[m, k]) (w : f64[k, n]) (b : bool[k]) = let p = nonzero b in x[:, p] @ w[p]\n"
       "entry integers (x : i64[m, k]) (w : i64[k, n]) (b : bool[k]) = let p = nonzero b in x[:, p] @ w[p]\n"
       "entry positions (w : f32[k, n]) (b : bool[k]) (z : f32[m]) =\n"
       "  let p = nonzero b in (for (i < m) c => z[i] + real (p[c] + i)) @ w[p]\n"
       "entry lower (x : f32[m, k]) (w : f32[k, n]) (b : bool[k]) = let p = nonzero b in (tril x)[:, p] @ "
       "w[p]\n"
       "entry converted (x : f64[m, k]) (w : f32[k, n]) (b : bool[k]) =\n"
       "  let p = nonzero b in (f32 x)[:, p] @ w[p]\n"
       "entry chosen (x : f32[m, k]) (w : f32[k, n]) (b : bool[k]) =\n"
       "  let p = nonzero b\n"
       "  in for i j => sum c => (if x[i, p[c]] > 0.5 then x[i, p[c]] else 0.0) * w[p[c], j]\n"
       "entry rows (x : f64[k, n]) (b : bool[k]) = let y = x[nonzero b] in transpose y @ y\n",
       {{{"m", 1}, {"k", 1}, {"n", 1}},
        {{"m", 5}, {"k", 17}, {"n", 33}},
        {{"m", 9}, {"k", 40}, {"n", 16}},
        {{"m", 64}, {"k", 3}, {"n", 5}},
        {{"m", 4}, {"k", 0}, {"n", 20}},
        {{"m", 0}, {"k", 7}, {"n", 0}}}},
      // Sums of no elements, of which the data could leave some, into a part of a state.
      {"SumsOfNothing",
       "entry below (x : f32[m, 0]) (w : f32[0, n]) (q : i64[m]) (s : *f32[m + 1, n])\n"
       "  where m >= 1 =\n"
       "  s with [0 : m] = for i j => sum c => if c < q[i] then x[i, c] * w[c, j] else 0.0\n"
       "entry selected (x : f64[m, 0]) (w : f64[0, n]) (b : bool[0]) (t : *f64[m + 1, n])\n"
       "  where m >= 1 =\n"
       "  let p = nonzero b in t with [0 : m] = x[:, p] @ w[p]\n"
       "entry turned (x : i32[m, 0]) (w : i32[0, n]) (q : i64[m]) (u : *i32[n, m]) =\n"
       "  u with [:] = transpose (for i j => sum c => if c < q[i] then x[i, c] * w[c, j] else 0)\n"
       "entry greatest (x : bf16[m, 0]) (w : bf16[0, n]) (q : i64[m]) (v : *bf16[m + 1, n])\n"
       "  where m >= 1 =\n"
       "  v with [0 : m] = for i j => maximum c => if c < q[i] then x[i, c] * w[c, j] else 0.0\n"
       "entry open (x : f32[m, k]) (w : f32[k, n]) (q : i64[m]) (y : *f32[m + 1, n])\n"
       "  where m >= 1 =\n"
       "  y with [0 : m] = for i j => sum c => if c < q[i] then x[i, c] * w[c, j] else 0.0\n",
       {{{"m", 2}, {"n", 17}, {"k", 0}},
        {{"m", 1}, {"n", 1}, {"k", 1}},
        {{"m", 3}, {"n", 9}, {"k", 5}},
        {{"m", 65}, {"n", 33}, {"k", 0}},
        {{"m", 2}, {"n", 64}, {"k", 2}},
        {{"m", 4}, {"n", 20}, {"k", 0}}}},
      // Rows of a product that each have a matrix of their own, one after another or not, in every layout.
      {"MatricesThatTheDataChooses",
       "entry experts (ids : i32[m]) (x : f32[m, k]) (w : weights f32[e, k, n]) where e >= 1 =\n"
       "  for i j => sum l => x[i, l] * w[max 0 (min (i64 ids[i]) (e - 1)), l, j]\n"
       "entry checked (ids : i64[m]) (x : f32[m, k]) (w : f32[e, k, n]) where e >= 1 =\n"
       "  let ids = for i => ids[i] % e in tanh (for i j => sum l => x[i, l] * w[ids[i], l, j])\n"
       "entry turned (ids : i64[m]) (x : bf16[m, k]) (t : weights bf16[e, n, k]) where e >= 1 =\n"
       "  for i j => sum l => f32 x[i, l] * f32 t[ids[i] % e, j, l]\n"
       "entry gathered (ids : i64[m]) (x : f32[e, k]) (u : weights f32[e, k, n]) (v : weights f32[e, k, n])\n"
       "    where e >= 1 =\n"
       "  let ids = for i => ids[i] % e\n"
       "  in for i j => (sum l => x[ids[i], l] * u[ids[i], l, j]) * (sum l => x[ids[i], l] * v[ids[i], l, "
       "j])\n"
       "entry pairs (ids : i64[2, m]) (x : f32[m, k]) (y : weights f32[e, e, k, n]) where e >= 1 =\n"
       "  let ids = for c i => ids[c, i] % e\n"
       "  in for i j => sum l => x[i, l] * y[ids[1, i], ids[0, i], l, j]\n"
       "entry beside (ids : i64[m]) (x : f32[m, k]) (w2 : weights f32[e, k, n]) (s : weights f32[k, n])\n"
       "    where e >= 1 =\n"
       "  let ids = for i => ids[i] % e\n"
       "  in for i j => (sum l => x[i, l] * w2[ids[i], l, j]) + (sum l => x[i, l] * s[l, j])\n"
       "entry batches (ids : i64[b, m]) (x : f32[b, m, k]) (w3 : weights f32[e, k, n]) where e >= 1 =\n"
       "  let ids = for c i => ids[c, i] % e in for c i j => sum l => x[c, i, l] * w3[ids[c, i], l, j]\n"
       "entry deep (ids : i64[m]) (x : f32[m, b, k]) (z : weights f32[e, b, k, n]) where e >= 1 =\n"
       "  let ids = for i => ids[i] % e in for i j => sum a l => x[i, a, l] * z[ids[i], a, l, j]\n",
       {{{"m", 1}, {"k", 1}, {"n", 1}, {"e", 1}, {"b", 1}},
        {{"m", 19}, {"k", 33}, {"n", 70}, {"e", 3}, {"b", 2}},
        {{"m", 67}, {"k", 8}, {"n", 32}, {"e", 2}, {"b", 1}},
        {{"m", 2}, {"k", 300}, {"n", 5}, {"e", 7}, {"b", 3}},
        {{"m", 3}, {"k", 0}, {"n", 4}, {"e", 2}, {"b", 2}},
        {{"m", 4}, {"k", 3}, {"n", 0}, {"e", 2}, {"b", 2}},
        {{"m", 0}, {"k", 3}, {"n", 2}, {"e", 2}, {"b", 2}}},
       9},
      // Loops that the data ends: by a number, by every element for itself, with a loop inside.
      {"LoopsThatTheDataEnds",
       "entry times (x : f32[n]) (k : i64[m]) =\n"
       "  iterate (reduce max 0 k) (fn s => tanh (s * 0.9 + 0.1)) x\n"
       "entry each (x : f32[n]) (k : i64[m]) = for i j =>\n"
       "  while (fn (s, c) => c < k[j]) (fn (s, c) => (s * 0.5 + x[i], c + 1)) (x[i], i64 0) |> (fn (s, c) "
       "=> "
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
       "entry counted (x : f32[n]) = let h = count (x > 0.0) in let g = min h 2 in dot x[h - g : h] x[h - g "
       ": "
       "h]\n"
       "entry looped (x : f32[n]) (k : i64[m]) = fold (fn s c => let h = min c n in let g = min h 2 in\n"
       "  s + dot x[h - g : h] x[h - g : h]) 0.0 k\n"
       "entry each (x : f32[n]) (k : i64[m]) where 3 <= n = for j => let a = min k[j] (n - 2) in sum x[a : a "
       "+ "
       "2]\n",
       {{{"n", 3}, {"m", 1}}, {{"n", 37}, {"m", 5}}, {{"n", 130}, {"m", 2}}},
       90},
      // Sizes that nothing bounds: more than there is room for at first, and less again.
      {"SizesWithoutABound",
       "entry counted (k : i64[m]) where 1 <= m = for (i < k[0] * 60) => real i * 0.5\n"
       "entry table (k : i64[m]) (x : f32[n]) where 2 <= m =\n"
       "  let t = for (i < k[0] * 60) j => x[j] * real (i % 7) in (sum t, t, maximum (concat [0.5] t[.., "
       "0]))\n"
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
       "  let (t, ys) = scan (fn t v => (t * 0.5 + v, t)) s r[nonzero (r > 0.25)] in t + 0.25 * sum ys) 0.0 "
       "x\n"
       "entry sorted (x : f32[l, n]) = fold (fn s r =>\n"
       "  s + (sort (concat [1.0, 2.0] r[nonzero (r > 0.25)]))[0]) 0.0 x\n"
       "entry product (x : f32[l, n]) (w : f32[n, d]) = fold (fn s r =>\n"
       "  let k = count (r > 0.0) in s + ([r[: k]] @ w[: k])[0]) (for (j < d) => 0.0) x\n"
       "entry updated (x : f32[l, n]) = fold (fn s r => let y = compress r (r > 0.0) in\n"
       "  s + sum (y with [: dim y 0 / 2] = y[: dim y 0 / 2] * 2.0)) 0.0 x\n"
       "entry products (x : f32[l, n]) = fold (fn s r => let y = compress r (r > 0.0) in s + sum i j => y[i] "
       "* "
       "y[j]) 0.0 x\n"
       "entry growing (x : f32[n]) (k : i64[m]) =\n"
       "  while (fn (c, s) => c < reduce max 0 k) (fn (c, s) => (c + 1, s + sum x[: min c n])) (i64 0, "
       "0.0)\n",
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
       "entry folded (x : f32[l, n]) (k : i64[l]) = for i => fold (fn t v => t * 0.5 + v) 0.0 x[i, : min "
       "k[i] "
       "n]\n"
       "entry repeated (x : f32[l, n]) (k : i64[l]) = for i j => iterate k[i] (fn t => t * 0.5 + 1.0) x[i, "
       "j]\n"
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
       "entry one (x : f32[n, d]) (k : i64[m]) (v : f32[d]) where 1 <= m, 1 <= n = x with [min k[0] (n - 1)] "
       "= "
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
       "  while (fn (m, s, k) => k < 5.0) (fn (m, s, k) => (m + k, s + 0.5 * m * (m + k), max (k + 1.0) "
       "0.0)) "
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
       "entry windows (x : f32[n]) = if n >= 4 then sum (for (t < n - 3) => prod (s < 4) => x[t + s]) else "
       "sum "
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
       "entry row (x : f32[m, n]) (y : f32[m, n]) where 1 <= m = for i j => if y[i, j] > 0.0 then x[(i + 1) "
       "% "
       "m, "
       "j] else 0.5\n"
       "entry chosen (x : f32[m, n]) (b : bool[m, n]) where 1 <= m = for i j => select b[i, j] x[(i + 1) % "
       "m, "
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
       "  let t = for j => sum i => x[i] * w[i, j] in if n == m then (for j => sum i => y[i, j]) + t else "
       "x\n",
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
  };
}

}  // namespace axon::differential
