// Programs of what the language can say (hand_programs.h).
#include "hand_programs.h"

namespace axon::differential {

std::vector<HandProgram> programs_of_features() {
  std::string layers;
  for (int i = 0; i < 20; ++i) layers += "  let x = tanh (x @ w + x)\n";
  return {
      // More task types than one module of the compiled program has, of every kind that has functions of
      // its own: weights that are asked for ahead, sorted rows, loops around.
      {"LongerThanOneModule",
       "entry layers (x : f32[m, n]) (w : weights f32[n, n]) =\n" + layers +
           "  let y = for j => sum i => x[i, j]\n"
           "  let y = fold (fn y i => tanh (for i => sum j => w[i, j] * y[j])) y (iota 3)\n"
           "  in (sort y, x)\n",
       {{{"m", 1}, {"n", 37}}, {{"m", 0}, {"n", 1}}, {{"m", 33}, {"n", 64}}, {{"m", 2}, {"n", 0}}}},
      // Values that rows, or columns, of a block have at once, together with those of the others; lines of a
      // table that the data chooses.
      {"RowsAndColumnsOfABlock",
       "entry cosines (x : f32[m, d]) (y : f32[n, d]) =\n"
       "  for i j => (sum k => x[i, k] * y[j, k]) / (sqrt (1.0 + sum k => x[i, k] * x[i, k])\n"
       "    * sqrt (1.0 + sum k => y[j, k] * y[j, k]))\n"
       "entry distances (x : f32[m, d]) (y : f32[n, d]) =\n"
       "  for i j => (sum k => abs (x[i, k] - y[j, k])) + (maximum k => x[i, k]) * (minimum k => y[j, k])\n"
       "entry bags (t : f32[n, d]) (at : i64[m, l]) where n >= 1 = for i c => sum j => t[at[i, j] % n, c]\n"
       "entry weighted (t : bf16[n, d]) (at : i64[m, l]) (w : f32[m, l]) where n >= 1 =\n"
       "  for i c => maximum j => w[i, j] * f32 t[at[i, j] % n, c]\n",
       {{{"m", 1}, {"n", 1}, {"d", 1}, {"l", 1}},
        {{"m", 19}, {"n", 67}, {"d", 33}, {"l", 5}},
        {{"m", 65}, {"n", 8}, {"d", 16}, {"l", 30}},
        {{"m", 0}, {"n", 3}, {"d", 5}, {"l", 2}},
        {{"m", 3}, {"n", 5}, {"d", 0}, {"l", 2}},
        {{"m", 9}, {"n", 4}, {"d", 3}, {"l", 0}}}},
      // Right operands of many rows, which are packed once, and of few, which are not.
      {"PackedOperands",
       "entry plain (x : f32[m, k]) (y : f32[k, n]) = x @ y\n"
       "entry turned (x : f32[m, k]) (y : f32[n, k]) = x @ transpose y\n"
       "entry rows_last (x : f32[m, k]) (y : f32[k, n]) = for j i => sum a => y[a, j] * x[i, a]\n"
       "entry computed (x : bf16[m, k]) (y : bf16[k, n]) (z : bf16[k, n]) = x @ (y + z)\n"
       "entry halves (x : f16[m, k]) (y : f16[k, n]) = gelu (x @ y)\n"
       "entry doubles (x : f64[m, k]) (y : f64[k, n]) = x @ y\n"
       "entry shared (x : f32[m, k]) (y : f32[k, n]) = (x @ y, softmax (x @ y), (x * x) @ y)\n"
       "entry stacked (x : f32[2, m, k]) (w : f32[l, k, k]) = fold (fn x v => tanh (x @ v)) x w\n"
       "entry sliced (x : f32[m, k]) (y : f32[k, n]) where n >= 1 = x @ y[:, : n - 1] + 1.0\n"
       "entry state (x : f32[m, k]) (s : *f32[k, n]) = let y = x @ s in (y, s * 2.0)\n"
       "entry known (x : f32[256, 3]) (y : f32[3, 64]) = x @ y\n"
       "entry known_rows (x : f32[256, 3]) (y : f32[3, n]) = x @ y\n"
       "entry known_columns (x : f32[m, k]) (y : f32[k, 40]) = x @ y\n"
       "entry few_columns (x : f32[m, 3]) (y : f32[3, 5]) = x @ y\n",
       {{{"m", 256}, {"k", 1}, {"n", 1}, {"l", 1}},
        {{"m", 259}, {"k", 17}, {"n", 41}, {"l", 1}},
        {{"m", 256}, {"k", 2}, {"n", 32}, {"l", 1}},
        {{"m", 255}, {"k", 3}, {"n", 33}, {"l", 2}},
        {{"m", 512}, {"k", 0}, {"n", 33}, {"l", 1}},
        {{"m", 0}, {"k", 3}, {"n", 40}, {"l", 1}}}},
      // Few rows, which read panels where they lie, and more, by products that pack into one place.
      {"FewRows",
       "entry weight (x : f32[m, k]) (w : weights f32[k, n]) = x @ w\n"
       "entry turned (x : f32[m, k]) (v : weights f32[n, k]) = x @ transpose v\n"
       "entry halves (x : bf16[m, k]) (h : weights bf16[k, n]) = silu (x @ h)\n"
       "entry bytes (x : f32[m, k]) (b : weights i8[k, n]) (s : weights f32[n]) = for i j => s[j] * (sum c "
       "=> "
       "x[i, c] * f32 (b[c, j]))\n"
       "entry mlp (x : f32[m, k]) (g : weights f32[k]) (w1 : weights f32[k, n]) (w3 : weights f32[k, n]) =\n"
       "  let y = rms_norm x g 1e-5 in silu (y @ w1) * (y @ w3)\n"
       "entry arguments (x : f64[m, k]) (g : f64[k]) (y : f64[k, n]) (z : f64[k, n]) =\n"
       "  let a = rms_norm x g 1e-5 in (a @ y) * (a @ z) + x @ z\n"
       "entry column (s : *f32[n, l]) (x : f32[k]) (w4 : weights f32[k, n]) where l >= 1 =\n"
       "  s with [:, l - 1] = for j => sum c => x[c] * w4[c, j]\n"
       "entry known (x : f32[7, 40]) (u : weights f32[40, 33]) = x @ u\n",
       {{{"m", 1}, {"k", 3}, {"n", 1}, {"l", 1}},
        {{"m", 2}, {"k", 130}, {"n", 33}, {"l", 40}},
        {{"m", 6}, {"k", 257}, {"n", 17}, {"l", 7}},
        {{"m", 9}, {"k", 31}, {"n", 65}, {"l", 300}},
        {{"m", 32}, {"k", 129}, {"n", 32}, {"l", 2}},
        {{"m", 33}, {"k", 64}, {"n", 97}, {"l", 3}},
        {{"m", 65}, {"k", 0}, {"n", 64}, {"l", 5}},
        {{"m", 0}, {"k", 3}, {"n", 0}, {"l", 1}}}},
      // Products of which some are stored column by column, as the keys of a cache.
      {"TurnedStores",
       "entry keys (s : *f32[n, l]) (t : *f32[l, n]) (x : f32[m, k]) (w : f32[k, n]) (v : f32[k, "
       "n]) where m <= l =\n"
       "  (s with [:, l - m : l] = transpose (x @ w), t with [l - m : l, :] = x @ v)\n"
       "entry narrow (s : *bf16[n, l]) (t : *bf16[l, n]) (x : f32[m, k]) (w : f32[k, n]) (v : "
       "f32[k, n]) where m <= l =\n"
       "  (s with [:, 0 : m] = bf16 (tanh (transpose (x @ w))), t with [0 : m, :] = bf16 (x @ v))\n"
       "entry heads (s : *f16[h, n, l]) (t : *f32[h, l, n]) (x : f32[m, k]) (w : f32[k, h, n]) (v : "
       "f32[k, h, n]) where m <= l =\n"
       "  let y = for i a j => sum c => x[i, c] * w[c, a, j]\n"
       "  let b = for i a j => sum c => x[i, c] * v[c, a, j]\n"
       "  in (s with [:, :, 0 : m] = f16 (for a j i => 0.5 * y[i, a, j]), t with [:, 0 : m, :] = "
       "for a i j => b[i, a, j])\n"
       "entry integers (s : *i32[n, l]) (t : *i32[l, n]) (x : i32[m, k]) (w : i32[k, n]) (v : "
       "i32[k, n]) where m <= l =\n"
       "  (s with [:, 0 : m] = transpose (x @ w), t with [0 : m, :] = x @ v + 1)\n"
       "entry both (s : *f32[n, l]) (t : *f32[n, l]) (x : f32[m, k]) (w : f32[k, n]) (v : f32[k, "
       "n]) where m <= l =\n"
       "  (s with [:, 0 : m] = transpose (x @ w), t with [:, 0 : m] = transpose (x @ v))\n"
       "entry mixed (s : *f32[n, l]) (t : *f32[l, n]) (x : f32[m, k]) (w : f32[k, n]) (v : f32[k, "
       "n]) where m <= l =\n"
       "  let a = x @ w\n"
       "  let b = x @ v\n"
       "  in (s with [:, 0 : m] = transpose (a * b), t with [0 : m, :] = a - b)\n"
       "entry known (s : *f32[40, l]) (t : *f32[l, 40]) (x : f32[m, 3]) (w : f32[3, 40]) (v : f32[3, 40]) "
       "where m "
       "<= l =\n"
       "  (s with [:, 0 : m] = transpose (x @ w), t with [0 : m, :] = x @ v)\n"
       "entry known_rows (s : *f32[n, 50]) (t : *f32[50, n]) (x : f32[50, k]) (w : f32[k, n]) (v : f32[k, "
       "n]) =\n"
       "  (s with [:] = transpose (x @ w), t with [:] = x @ v)\n"
       "entry of_rows (s : *f32[n, l]) (t : *f32[l, n]) (x : f32[m, k]) (w : f32[k, n]) where m <= l =\n"
       "  (s with [:, 0 : m] = (for (j < n) i => sum x[i]), t with [0 : m, :] = x @ w)\n"
       "entry time_first (x : f32[h, l]) (f : f32[n, h, k]) where k <= l =\n"
       "  for (t < l - k + 1) o => sum c s => x[c, t + s] * f[o, c, s]\n"
       "entry of_three (x : f16[h, l]) (f : f16[n, h, 3]) where 3 <= l =\n"
       "  for (t < l - 2) o => tanh (sum c s => x[c, t + s] * f[o, c, s])\n"
       "entry strided (x : f32[h, 2*l + 1]) (f : f32[n, h, 2]) =\n"
       "  for (t < l) o => sum s c => x[c, 2*t + s] * f[o, c, s]\n"
       "entry rows_last (x : f32[2, h, l]) (y : f32[2, n, k, h]) where k <= l =\n"
       "  for b (i < l) j => (sum c d => x[b, c, i] * y[b, j, d, c]) * 0.5\n"
       "entry normed (s : *f32[n, l]) (t : *f32[l, n]) (x : f32[m, k]) (w : weights f32[k, n]) (v : "
       "weights f32[k, n]) where m <= l =\n"
       "  let y = for i => x[i] * rsqrt (1.0 + mean (x[i] * x[i]))\n"
       "  in (s with [:, 0 : m] = transpose (y @ w), t with [0 : m, :] = y @ v)\n",
       {{{"m", 1}, {"k", 3}, {"n", 5}, {"l", 9}, {"h", 2}},
        {{"m", 33}, {"k", 17}, {"n", 65}, {"l", 70}, {"h", 1}},
        {{"m", 64}, {"k", 1}, {"n", 32}, {"l", 64}, {"h", 1}},
        {{"m", 131}, {"k", 40}, {"n", 33}, {"l", 140}, {"h", 3}},
        {{"m", 15}, {"k", 0}, {"n", 1}, {"l", 15}, {"h", 2}},
        {{"m", 0}, {"k", 3}, {"n", 7}, {"l", 3}, {"h", 1}}}},
      // Rows that the data cuts out of one tensor; softmaxes of rows that are cut into parts, of which some
      // have no elements, or -inf alone.
      {"PartsOfRows",
       "entry sums (x : f32[n]) (k : i64[m]) where n >= 1 =\n"
       "  for r => sum x[min (k[r] % n) 7 : k[r] % n + 1]\n"
       "entry tops (x : f32[n]) (k : i64[m]) where n >= 1 =\n"
       "  for r => maximum (for (j < n) => if k[r] % n <= j && j < k[r] % n + 40 then x[j] else -inf)\n"
       "entry long (x : f32[l]) = softmax x\n"
       "entry halves (x : f16[l]) = softmax x\n"
       "entry masked (x : f32[l]) = softmax (for i => if i % 3 == 0 then x[i] else -inf)\n"
       "entry nothing (x : f32[l]) = logsumexp (for i => if x[i] > 1000.0 then x[i] else -inf)\n"
       "entry rows (x : f32[m, l]) = for i => logsumexp x[i]\n",
       {{{"m", 1}, {"n", 1}, {"l", 1}},
        {{"m", 9}, {"n", 1000}, {"l", 16385}},
        {{"m", 1}, {"n", 70}, {"l", 40000}},
        {{"m", 0}, {"n", 3}, {"l", 0}},
        {{"m", 3}, {"n", 31}, {"l", 16384}}}},
      // Softmaxes that weight what is no tensor, or whose scores are no products of rows of tensors.
      {"AttentionOfOtherKinds",
       "entry functions (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, d]) =\n"
       "  let w = softmax (q @ transpose k) in for c i => sum j => w[i, j] * exp v[j, c]\n"
       "entry columns (q : f32[m, d]) (k : f32[n, d]) (u : f32[d, n]) =\n"
       "  let w = softmax (q @ transpose k) in for i c => sum j => w[i, j] * u[c, j]\n"
       "entry distances (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, d]) =\n"
       "  let w = softmax (for i j => -(sum c => abs (q[i, c] - k[j, c]))) in w @ v\n"
       "entry paged (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, d]) (p : i64[l]) where n >= 1 =\n"
       "  let p = for j => p[j] % n\n"
       "  let w = softmax (for i j => sum c => q[i, c] * k[p[j], c]) in for i c => sum j => w[i, j] * "
       "v[p[j], c]\n"
       "entry numbers (q : f32[m, d]) (k : f32[n, d]) (x : f32[n]) =\n"
       "  let w = softmax (q @ transpose k) in for i => sum j => w[i, j] * x[j]\n"
       "entry heads_last (a : f32[m, d, h]) (b : f32[n, d, h]) =\n"
       "  let w = softmax (for g i j => sum c => a[i, c, g] * b[j, c, g])\n"
       "  in for i c g => sum j => w[g, i, j] * b[j, c, g]\n"
       "entry pairs (q : f32[m, d]) (b : f32[n, d, h]) =\n"
       "  let s = for i j g => sum c => q[i, c] * b[j, c, g]\n"
       "  let e = for i j g => exp (s[i, j, g] - (maximum k l => s[i, k, l]))\n"
       "  in for i c => (sum j g => e[i, j, g] * b[j, c, g]) / (sum j g => e[i, j, g])\n"
       "entry losses (q : f32[m, d]) (u : f32[d, n]) (t : i64[m]) where n >= 1 =\n"
       "  let s = q @ u in for i => logsumexp s[i] - s[i, t[i] % n]\n"
       "entry nearest (q : f32[m, d]) (k : f32[n, d]) where n >= 1 =\n"
       "  for i => argmin (for j => sum c => (q[i, c] - k[j, c]) * (q[i, c] - k[j, c]))\n",
       {{{"m", 1}, {"n", 1}, {"d", 1}, {"h", 1}, {"l", 1}},
        {{"m", 19}, {"n", 67}, {"d", 33}, {"h", 3}, {"l", 21}},
        {{"m", 65}, {"n", 8}, {"d", 16}, {"h", 4}, {"l", 64}},
        {{"m", 0}, {"n", 3}, {"d", 5}, {"h", 2}, {"l", 0}},
        {{"m", 3}, {"n", 5}, {"d", 0}, {"h", 2}, {"l", 4}},
        {{"m", 2}, {"n", 4}, {"d", 3}, {"h", 0}, {"l", 0}}}},
      // What a point of a reduction decides is not looked at before its points, nor is what needs one.
      {"ChecksInLanes",
       "entry by_points (x : f32[n]) (y : f32[m, p + 1]) (k : i64[q + 1]) =\n"
       "  for j => sum (i < m) => if y[i, 0] > 0.0 then y[i, j] * x[k[0]] else 0.0\n"
       "entry by_one (x : f32[n]) (y : f32[m, p]) (w : f32[1]) (k : i64[q + 1]) =\n"
       "  for j => sum (i < m) => if w[0] > 0.0 then y[i, j] * x[k[0]] else y[i, j]\n"
       "entry by_integers (x : f32[n]) (y : f32[m, p]) (k : i64[m]) =\n"
       "  for j => maximum (i < m) => if k[i] > 2 then y[i, j] * x[k[0]] else y[i, j]\n",
       {{{"n", 3}, {"m", 0}, {"p", 5}, {"q", 1}},
        {{"n", 0}, {"m", 0}, {"p", 2}, {"q", 0}},
        {{"n", 40}, {"m", 7}, {"p", 130}, {"q", 2}},
        {{"n", 2}, {"m", 33}, {"p", 0}, {"q", 0}}},
       2},
      // Rows are ordered while the data says so: how often is known to no task.
      {"OrdersInLoopsOfTheData",
       "entry steps (x : f32[n]) =\n"
       "  while (fn (s, c) => c < 3) (fn (s, c) => (sort (tanh s - 0.5 * s), c + 1)) (x, i64 0) |> (fn (s, "
       "c) => s)\n"
       "entry kept (x : f32[n]) =\n"
       "  while (fn (s, c) => s > 0.0 && c < 5)\n"
       "    (fn (s, c) => (s - real (dim x[nonzero (x > s)] 0), c + 1)) (real n, i64 0)\n",
       {{{"n", 0}}, {{"n", 1}}, {{"n", 37}}, {{"n", 600}}}},
      // Each lane has reductions of its own: down columns, of short rows, of gathered elements, of
      // reductions.
      {"LanesReduce",
       "entry down (x : f32[m, n]) (y : f16[m, n]) (k : i64[n]) =\n"
       "  ((for j => sum i => x[i, j]), (for j => maximum (i < m) => y[i, j]),\n"
       "   (for i j => x[i, j] / sqrt (sum (l < m) => x[l, j] * x[l, j])))\n"
       "entry highest (x : f32[m + 1, n]) (k : i64[m + 1, n]) =\n"
       "  ((for j => argmax (i < m + 1) => x[i, j]), (for j => argmin (i < m + 1) => k[i, j]))\n"
       "entry short (x : f32[n, 3]) (y : bf16[n, 10]) =\n"
       "  ((for i j => x[i, j] / (sum (l < 3) => x[i, l])), softmax y)\n"
       "entry bounded (x : f32[m, n]) (k : i64[n]) = for j => sum (i < m) => if i < k[j] then x[i, j] else "
       "0.0\n"
       "entry below (x : f32[m, n]) = for j (i < m) => sum (l < m) => if l <= i then x[l, j] else 0.0\n"
       "entry nested (x : f32[m, n]) = for (i < m) => maximum (l < m) => sum (j < n) => x[i, j] * x[l, j]\n"
       "entry gathered (x : f32[n, m]) (k : i64[n]) =\n"
       "  for j => sum l => if k[j] >= 0 && k[j] < n then x[k[j], l] else 0.0\n"
       "entry turned (x : f32[n]) (y : f64[2*n]) = ((for (i < n) => x[n - 1 - i]), for (i < n) => y[2*i] - "
       "y[2*i + 1])\n",
       {{{"m", 1}, {"n", 37}}, {{"m", 0}, {"n", 1}}, {{"m", 33}, {"n", 64}}, {{"m", 2}, {"n", 0}}}},
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
       "entry one (p : weights { w : f32[n, k], v : bf16[n, k] }) (x : f32[1, n]) (y : bf16[1, n]) = (x @ "
       "p.w, "
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
       "entry scaled (q : weights { w : f16[n, k] }) (x : f32[m, n]) = for i j => sum a => x[i, a] * 0.5 * "
       "f32 "
       "q.w[a, j]\n",
       {{{"n", 5}, {"k", 3}, {"m", 4}}, {{"n", 64}, {"k", 65}, {"m", 67}}, {{"n", 0}, {"k", 31}, {"m", 1}}}},
      // Panels along other axes than the last two: outputs first, heads between them, a batch that is last.
      {"WeightsTurned",
       "entry turned (p : weights { w : f32[k, n], v : bf16[k, n] }) (x : f32[m, n]) (y : bf16[m, n]) =\n"
       "  (x @ transpose p.w, y @ transpose p.v)\n"
       "entry first (q : weights { w : f32[k, m, n] }) (x : f32[m, n]) =\n"
       "  for m k => sum n => x[m, n] * q.w[k, m, n]\n"
       "entry last (r : weights { w : f32[n, k, m] }) (x : f32[m, n]) =\n"
       "  for i j => sum a => x[i, a] * r.w[a, j, i]\n"
       "entry between (s : weights { w : f32[k, m, n] }) (x : f32[n]) = for i j => sum a => x[a] * s.w[j, i, "
       "a]\n",
       {{{"n", 5}, {"k", 3}, {"m", 4}},
        {{"n", 64}, {"k", 65}, {"m", 67}},
        {{"n", 33}, {"k", 32}, {"m", 1}},
        {{"n", 0}, {"k", 31}, {"m", 1}},
        {{"n", 31}, {"k", 0}, {"m", 2}}}},
      // Integers of 8 bits with scales of their columns, rows, or both, before or after the sum.
      {"WeightsInBytes",
       "entry before (p : weights { w : i8[n, k], s : f32[k] }) (x : f32[m, n]) =\n"
       "  x @ (for i j => f32 p.w[i, j] * p.s[j])\n"
       "entry after (p : weights { w : i8[n, k], s : f32[k] }) (x : f32[m, n]) = (x @ f32 p.w) * p.s\n"
       "entry turned (q : weights { w : u8[k, n], s : f32[k], t : f32[n] }) (x : f32[m, n]) =\n"
       "  x @ transpose (for i j => f32 q.w[i, j] * q.s[i] * q.t[j])\n"
       "entry given (w : i8[n, k]) (x : f32[m, n]) = x @ f32 w\n"
       "entry column (w : u8[k, n]) (x : f32[m, n]) = x @ transpose (f32 w)\n"
       "entry wide (r : weights { w : i8[n, k] }) (x : f64[m, n]) = x @ f64 r.w\n",
       {{{"n", 5}, {"k", 3}, {"m", 4}},
        {{"n", 64}, {"k", 65}, {"m", 67}},
        {{"n", 33}, {"k", 257}, {"m", 1}},
        {{"n", 0}, {"k", 31}, {"m", 1}},
        {{"n", 31}, {"k", 0}, {"m", 2}}}},
      // Sums over several binders that run together in the right operand, in all of it or in a part, and in
      // an
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
       "entry narrow (u : bf16[o, c, h]) (v : bf16[o, c, h]) = for i j => sum a b => u[i, a, b] * v[j, a, "
       "b]\n"
       "entry local (u : f32[o, c, h]) (v : f32[o, c, h]) =\n"
       "  let t = for i a b => tanh v[i, a, b] in for i j => sum a b => u[i, a, b] * t[j, a, b]\n"
       "entry panels (p : weights { w : f32[c, h, o] }) (x : f32[w, c, h]) = for i j => sum a b => x[i, a, "
       "b] "
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
       "entry narrow_lengths (q : f32[h, m, d]) (k : f32[h, n, d]) (v : f32[h, n, e]) (z : i32[h]) =\n"
       "  attention.scored (fn s => for p i j => if i32 j < z[p] then s[p, i, j] else -inf) q k v\n"
       "entry bytes (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) (z : i8[m]) =\n"
       "  attention.scored (fn s => for i j => if z[i] <= i8 j then s[i, j] else -inf) q k v\n"
       "entry of_rows (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) (z : i32[m]) =\n"
       "  attention.scored (fn s => for i j => if i64 z[i] < j + i && j <= 2*i then s[i, j] else -inf) q k "
       "v\n"
       "entry turned (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) =\n"
       "  attention.scored (fn s => for i j => if i < 3*j || j + 9 < i then -inf else s[i, j]) q k v\n"
       "entry partly (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) (z : i64[n]) =\n"
       "  attention.scored (fn s => for i j => if j <= i && z[j] != z[0] then s[i, j] else -inf) q k v\n"
       "entry capped (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) =\n"
       "  attention.scored (fn s => attention.window 7 0 (causal 2 (attention.softcap 5.0 s))) q k v\n"
       "entry lone (s : f32[n]) (v : f32[n, e]) (z : i64[1]) =\n"
       "  let w = attention.softmax_or_zero (for j => if j <= z[0] then s[j] else -inf)\n"
       "  in for c => sum j => w[j] * v[j, c]\n"
       "entry lone_steps (s : f32[n]) (v : f32[n, e]) (z : i64[h]) =\n"
       "  let step a p = let w = attention.softmax_or_zero (for j => if j >= p then s[j] else -inf)\n"
       "                 in a + (for c => sum j => w[j] * v[j, c])\n"
       "  in fold step (for (c < e) => 0.5) z\n"
       "entry nan_rows (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, e]) =\n"
       "  softmax (for i j => if j < i then (q @ transpose k)[i, j] else -inf) @ v\n"
       "entry statistics (x : f32[m, n]) =\n"
       "  let s = for i j => if j <= i && i < j + 5 then x[i, j] else -inf in (maximum s, logsumexp s, "
       "softmax "
       "s)\n"
       "entry two_axes_of_keys (q : f32[m, d]) (k : f32[h, n, d]) (v : f32[h, n, e]) =\n"
       "  let s = for i p j => sum c => q[i, c] * k[p, j, c]\n"
       "  let top = for i => maximum p j => s[i, p, j]\n"
       "  let w = for i p j => exp (s[i, p, j] - top[i])\n"
       "  in ((for i c => (sum p j => w[i, p, j] * v[p, j, c]) / (sum p j => w[i, p, j])),\n"
       "      (for i => top[i] + log (sum p j => w[i, p, j])))\n"
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
      // Reductions over the points that a mask leaves: by positions and by the data, of several binders,
      // along
      // rows
      // and columns; slices between two integers of the data, with and without steps, empty ones too.
      {"BoundedReductions",
       "entry triangles (x : f32[m, n]) (y : i64[n, m]) =\n"
       "  ((for i => sum j => if j <= i then x[i, j] else 0.0), (for i => sum j => if j < i then y[j, i] "
       "else "
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
       "  let a = for i => min (z[i] % (n + 1)) (w[i] % (n + 1)) let b = for i => max (z[i] % (n + 1)) (w[i] "
       "% "
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
      // arguments, one or many rows, transposed, summed over the choice too; and rows of which some that
      // follow
      // one another read the same, in whatever order.
      {"GatheredMatrices",
       "import routing\n"
       "entry experts (p : weights routing.Experts[f32, e, d, f]) (x : f32[t, d]) (s : f32[t, e]) where e >= "
       "2 "
       "=\n"
       "  let (w, ids) = routing.top_gates 2 s in routing.by_gather w ids x p\n"
       "entry rows (w : f32[e, d, f]) (x : f32[t, m, d]) (z : i64[t]) =\n"
       "  for t m j => sum a => x[t, m, a] * w[z[t] % e, a, j]\n"
       "entry turned (p : weights { w : bf16[e, f, d] }) (x : f32[t, d]) (z : i32[t]) =\n"
       "  for t j => sum a => x[t, a] * f32 p.w[i64 z[t] % e, j, a]\n"
       "entry summed (w : f32[d, e, f]) (x : f32[t, d]) (z : i64[t, d]) =\n"
       "  for t j => sum a => x[t, a] * w[a, z[t, a] % e, j]\n"
       "entry runs (p : weights { v : f32[e, d, f] }) (x : f32[t, d]) (z : i64[t]) (b : f32[f]) =\n"
       "  for t j => tanh (b[j] + sum a => x[t, a] * p.v[z[t] / 40 % e, a, j])\n"
       "entry both (w : f32[e, d, d]) (x : f32[e, d]) (z : i64[t]) =\n"
       "  for t j => sum a => x[z[t] % e, a] * w[z[t] % e, a, j]\n",
       {{{"e", 3}, {"d", 5}, {"f", 7}, {"t", 4}, {"m", 2}},
        {{"e", 2}, {"d", 1}, {"f", 1}, {"t", 1}, {"m", 1}},
        {{"e", 4}, {"d", 67}, {"f", 33}, {"t", 3}, {"m", 65}},
        {{"e", 2}, {"d", 6}, {"f", 65}, {"t", 16}, {"m", 2}},
        {{"e", 5}, {"d", 3}, {"f", 32}, {"t", 17}, {"m", 1}},
        {{"e", 3}, {"d", 9}, {"f", 31}, {"t", 67}, {"m", 2}},
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
       "entry forward (u : f32[n]) = iterate 5 (fn (u, _) => let v = for i => u[i] + u[i + 1 else 0.0] in "
       "(v, "
       "sum v)) (u, 0.0)\n"
       "entry backward (u : f32[n]) = iterate 5 (fn (u, _) => let v = for i => u[i] + u[i - 1 else 0.0] in "
       "(v, "
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
       "  fold (fn r x => let q = r.pos + 2 in {c = r.c with [r.pos + 1] = x, pos = q}) {c = c, pos = pos} "
       "xs\n"
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
      // States that go through time are written over themselves: also of more axes, in a loop inside of a
      // loop,
      // beside
      // another state, with the old value read before, and after an update.
      {"StatesThroughTime",
       "entry sums (s : *f32[n]) (xs : f32[t, n]) = scan (fn s x => let y = s + x in (y, y)) s xs\n"
       "entry decay (s : *f32[n, m]) (xs : f32[t, n]) = fold (fn s x => for i j => s[i, j] * 0.5 + x[i]) s "
       "xs\n"
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
      // Elements between which others stay as they are, in place and in copies.
      {"StatesUpdatedWithGaps",
       "entry every (s : *f32[n]) = s with [::2] = s[::2] * 0.5 + 1.0\n"
       "entry both (t : *f32[m, n]) (x : f32[m]) = t with [::3, ::2] = t[::3, ::2] * 0.5\n"
       "entry inside (x : f32[m, n]) = for i => let s = x[i] in sum (s with [::2] = s[::2] * 0.5 + 0.1) * "
       "0.2\n"
       "entry back (s : *f32[n]) (x : f32[n]) = s with [::-2] = x[::2] * 2.0\n"
       "entry column (c : *f32[n, 4]) (x : f32[n]) = c with [:, 1] = x\n"
       "entry bytes (b : *i8[k, n, m]) (y : i8[n, m]) = b with [1::3, :, ::2] = b[1::3, :, ::2] + y[:, ::2]\n"
       "entry digits (d : *f32[h + 1, 2*e]) (x : f32[h*e]) = d with [1:, ::2] = unflatten x\n",
       {{{"m", 4}, {"n", 7}, {"k", 5}, {"h", 2}, {"e", 3}},
        {{"m", 67}, {"n", 131}, {"k", 2}, {"h", 5}, {"e", 33}},
        {{"m", 1}, {"n", 1}, {"k", 1}, {"h", 1}, {"e", 1}},
        {{"m", 2}, {"n", 0}, {"k", 3}, {"h", 0}, {"e", 4}},
        {{"m", 0}, {"n", 2}, {"k", 4}, {"h", 3}, {"e", 0}}}},
      // Deep products with few results, whose parts are 1024 deep.
      {"DeepContractions",
       "entry small (x : f32[n, 3]) (y : f32[n, 5]) = transpose x @ y\n"
       "entry weighted (x : f32[n, 3]) (y : weights f32[n, 65]) (b : f32[65]) = tanh (transpose x @ y / 64.0 "
       "+ b)\n"
       "entry vector (x : f32[n]) (y : bf16[n, 7]) = for j => sum k => x[k] * f32 y[k, j]\n"
       "entry heads (x : f32[2, 3, n]) (y : f32[2, n, 4]) = x @ y\n"
       "entry filters (x : f32[n, 40, 3]) (y : f32[n, 40, 2]) = for a b => sum k l => x[k, l, a] * y[k, l, "
       "b]\n"
       "entry gradient (w : f32[3, 5]) (xs : f32[2, n, 3]) (ys : f32[2, n, 5]) =\n"
       "  fold (fn w i => w * 0.5 + transpose xs[i] @ (ys[i] - xs[i] @ w) / 1024.0) w (iota 2)\n",
       {{{"n", 0}}, {{"n", 1}}, {{"n", 1023}}, {{"n", 1024}}, {{"n", 1025}}, {{"n", 2053}}}},
      // A contraction over nothing beside a mask that would leave nothing if it were over something.
      {"EmptyContractions",
       "entry masked (q : f32[8, p]) (k : f32[n, p]) (v : f32[n, e]) (x : f32[8, n]) where 3 <= n =\n"
       "  let keys = max (n - 3) (n % 5)\n"
       "  let s = for i (j < keys) => (sum c => q[i, c] * k[j, c]) + x[i, j]\n"
       "  let w = softmax (for i j => if j + 8 * p <= i then s[i, j] else -inf)\n"
       "  in for i c => sum (j < keys) => w[i, j] * v[j, c]\n",
       {{{"n", 4}, {"p", 0}, {"e", 3}}, {{"n", 40}, {"p", 0}, {"e", 1}}, {{"n", 13}, {"p", 1}, {"e", 2}}}},
      // Attention of few queries to many keys, whose parts have 1024; with many queries there are none.
      {"FewQueries",
       "import attention\n"
       "fun scores q k = for h j => (sum c => q[h, c] * k[h, c, j]) / sqrt (real (dim q (-1)))\n"
       "entry one (q : f32[h, c]) (k : f32[h, c, n]) (v : f32[h, n, e]) =\n"
       "  for h e => sum j => (softmax (scores q k))[h, j] * v[h, j, e]\n"
       "entry narrow (q : f32[h, c]) (k : bf16[h, n, c]) (v : bf16[h, n, e]) =\n"
       "  let s = for h j => sum c => q[h, c] * f32 k[h, j, c]\n"
       "  in for h e => sum j => (softmax s)[h, j] * f32 v[h, j, e]\n"
       "entry across (q : f32[m, c]) (k : f32[n, c]) (v : f32[n, e]) = softmax (q @ transpose k) @ v\n"
       "entry masked (q : f32[h, c]) (k : f32[h, c, n]) (v : f32[h, n, e]) (first : i64) (last : i64[h]) =\n"
       "  let s = scores q k\n"
       "  let kept = for h j => if first <= j && j < last[h] * 400 then s[h, j] else -inf\n"
       "  in for h e => sum j => (attention.softmax_or_zero kept)[h, j] * v[h, j, e]\n"
       "entry steps (q : f32[h, c]) (k : f32[h, c, n]) (v : f32[h, n, c]) =\n"
       "  iterate 2 (fn x => for h c => sum j => (softmax (scores x k))[h, j] * v[h, j, c]) q\n",
       {{{"n", 0}, {"h", 2}, {"c", 3}, {"e", 5}, {"m", 2}, {"first", 0}},
        {{"n", 1023}, {"h", 1}, {"c", 1}, {"e", 1}, {"m", 0}, {"first", 3}},
        {{"n", 1024}, {"h", 2}, {"c", 2}, {"e", 9}, {"m", 1}, {"first", 1023}},
        {{"n", 1025}, {"h", 2}, {"c", 0}, {"e", 3}, {"m", 3}, {"first", -5}},
        {{"n", 2053}, {"h", 1}, {"c", 2}, {"e", 2}, {"m", 2}, {"first", 1}}}},
  };
}

}  // namespace axon::differential
