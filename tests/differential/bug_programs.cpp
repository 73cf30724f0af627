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
  };
}

}  // namespace axon::differential
