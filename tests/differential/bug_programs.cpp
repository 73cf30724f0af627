// Programs that once came out wrong, or did not compile (hand_programs.h).
#include "hand_programs.h"

namespace axon::differential {

std::vector<HandProgram> programs_of_bugs() {
  return {
      {"OrdersUnderASoftmax",
       "entry sorted (x : f32[n]) = logsumexp (sort x)\n"
       "entry gathered (x : i64[n]) (y : f32[n]) = let o = sort_order x in sum (softmax y[o] * y)\n"
       "entry retrieved (x : f32[m, n]) (t : f32[n, d]) where n >= 3 =\n"
       "  let (v, i) = top_k 3 x in let w = softmax v in for a j => sum q => w[a, q] * t[i[a, q], j]\n"
       "entry attended (q : f32[m, d]) (k : f32[n, d]) (v : f32[n, d]) = let s = sort (q @ transpose k) in "
       "softmax s "
       "@ v\n",
       {{{"n", 3}, {"m", 1}, {"d", 2}}, {{"n", 65}, {"m", 7}, {"d", 33}}}},
      {"MemoryOfADecidedSizeIsTakenOver",
       "entry f (x : f32[m, k]) (i : i64[3]) (w : f32[k]) (v : f32[n, k]) where m >= 2, k >= 1 =\n"
       "  let a = rms_norm x w 0.1\n"
       "  let f = min (max (3 - i[1]) 0) (m - 2)\n"
       "  let u = a with [f : f + 2] = a[0 : 2]\n"
       "  let t = u * 0.5 + a * 0.25\n"
       "  in softmax (layer_norm t w w 0.1 @ transpose v)\n",
       {{{"m", 63}, {"k", 4}, {"n", 2}}, {{"m", 2}, {"k", 1}, {"n", 3}}}},
      {"InitialValueIsAlsoReadInside",
       "entry f (x : f32[n, k]) (y : f32[m, k]) = fold (fn s r => s * 0.5 + x + r) x y\n",
       {{{"n", 2}, {"k", 3}, {"m", 4}}, {{"n", 2}, {"k", 3}, {"m", 0}}}},
      {"NarrowIntegersWrapInsideReductions",
       "entry f (x : u8[n, m]) = (reduce max 1 (abs (x - 60)), sum ((x - 60) / 4), sum ((x * 3) % 7))\n"
       "entry g (x : i8[n, m]) (y : i8[m, k]) = (x @ y, for i => sum j => x[i, j] * 5 / 3)\n",
       {{{"n", 7}, {"m", 13}, {"k", 5}}}},
      {"NothingIsReachedOrComputed",
       "entry untaken (x : f32[0, d]) (y : f32[d]) = if dim x 0 >= 3 then x[2] + sum (transpose x[1:]) else "
       "y\n"
       "entry empty (x : f32[0, d]) (w : f32[d, k]) = let t = x @ w in for i (j < k + 2) => t[i, j - 1 else "
       "-0.5]\n"
       "entry chain (x : f32[0, d]) (w : f32[d, k]) = (sum a b c => x[a, b] * w[b, c]) + 0.5\n",
       {{{"d", 3}, {"k", 2}}, {{"d", 0}, {"k", 1}}}},
      // Both arms of a choice are computed: what one loads of a state stays in it where the other is chosen.
      {"ArmsThatReadAState",
       "entry e (a : f64[n, n]) where 1 <= n =\n"
       "  iterate n (fn (k, a) =>\n"
       "    let p = argmax (for i => if i >= k then a[i, 0] else -1.0)\n"
       "    in (k + 1, for i j => a[i, j] - a[p, j])) (i64 0, a) |> (fn (_, a) => a)\n"
       "entry least (a : f64[n, n]) where 1 <= n =\n"
       "  iterate n (fn (k, a) =>\n"
       "    let p = argmin (for i => if i <= k then a[i, 0] else 9.0)\n"
       "    in (k + 1, for i j => a[i, j] - a[p, j] * 0.5)) (i64 0, a) |> (fn (_, a) => a)\n"
       "entry window (a : f32[m, n]) =\n"
       "  iterate 3 (fn a => for i j => sum (s < 3) => a[i + s - 1, j else 0.0] * 0.3) a\n"
       "entry both (a : f32[m, n]) =\n"
       "  iterate 3 (fn a => for i j => sum (s < 3) => maximum (t < 2) => a[i + s - 1, j + t else 0.0] * "
       "0.3) a\n"
       "entry rows (a : f32[m, n]) (p : i64[m]) where 1 <= m =\n"
       "  iterate 3 (fn a => for i j => sum (s < 3) => a[p[i] % m, j + s else 0.25] * 0.3) a\n"
       "entry two (a : f64[n, n]) (b : f64[n]) where 1 <= n =\n"
       "  iterate 2 (fn (k, a, b) =>\n"
       "    let p = argmax (for i => if i >= k then a[i, 0] * b[i] else -9.0)\n"
       "    let q = argmin (for i => if i >= k then a[i, p] - b[i] else 9.0)\n"
       "    in (k + 1, (for i j => a[i, j] - a[p, j] * a[i, q]), for i => b[i] - b[p] * a[p, i])) (i64 0, a, "
       "b) |> (fn (_, a, b) => (a, b))\n"
       "entry nested (a : f64[n, n]) where 1 <= n =\n"
       "  iterate 2 (fn a => iterate n (fn (k, a) =>\n"
       "    let p = argmax (for i => if i >= k then a[i, 0] else -1.0)\n"
       "    in (k + 1, for i j => a[i, j] - a[p, j])) (i64 0, a) |> (fn (_, a) => for i j => a[i, j] + real "
       "i * 0.25)) a\n"
       "entry whiled (a : f64[n, n]) where 1 <= n =\n"
       "  while (fn (k, a) => k < n) (fn (k, a) =>\n"
       "    let p = argmax (for i => if i >= k then a[i, 0] else -1.0)\n"
       "    in (k + 1, for i j => a[i, j] - a[p, j])) (i64 0, a) |> (fn (_, a) => a)\n"
       "entry folded (a : f64[n, n]) (r : f64[m, n]) where 1 <= n =\n"
       "  fold (fn a r =>\n"
       "    let p = argmax (for i => if i >= 1 then a[i, 0] * r[i] else -1.0)\n"
       "    in for i j => a[i, j] - a[p, j] * r[j]) a r\n"
       "entry bests (a : f64[n, n]) where 1 <= n =\n"
       "  iterate n (fn (k, a) =>\n"
       "    let t = maximum (for i => if i >= k then a[i, 0] else -1.0)\n"
       "    let b = minimum (for i => if i >= k then a[i, 0] else 1.0)\n"
       "    in (k + 1, for i j => a[i, j] * 0.5 - t + b)) (i64 0, a) |> (fn (_, a) => a)\n",
       {{{"n", 1}, {"m", 1}}, {{"n", 2}, {"m", 3}}, {{"n", 17}, {"m", 2}}}},
  };
}

}  // namespace axon::differential
