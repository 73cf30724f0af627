// Programs of what goes through whole rows once (hand_programs.h).
#include "hand_programs.h"

namespace axon::differential {

std::vector<HandProgram> programs_of_rows() {
  return {
      // Of each type of sum, inside of rows and down columns; the terms of shifted ones are no terms of the
      // first elements, and read nothing there.
      {"Prefixes",
       "entry sums (x : f32[m, n]) = cumulative_sum x\n"
       "entry scaled (x : bf16[2, m, n]) (c : bf16) = cumulative_sum (x * c)\n"
       "entry products (x : f64[n]) = cumulative_prod x\n"
       "entry greatest (x : i32[m, n]) = cumulative_max x\n"
       "entry least (x : f16[m, n]) = (cumulative_min x, cumulative_min (-x))\n"
       "entry some (x : f32[m, n]) = for i (l < n) => any k => k <= l && x[i, k] > 2.0\n"
       "entry offsets (c : i64[n]) = for (l < n + 1) => sum c[: l]\n"
       "entry late (x : f32[m, n]) = for i (l < n) => sum (k < n) => if k + 3 <= l then x[i, k] else 0\n"
       "entry down (x : f32[n, m]) (y : f32[n]) = for (l < n) j => sum (k < n) => if k <= l then x[k, j] * "
       "y[k] "
       "else 0\n"
       "entry middle (x : i8[m, n, 3]) = for i (l < n) j => sum x[i, : l + 1, j]\n"
       "entry beside (x : f32[m, n]) = for i (l < n) => x[i, l] / (1.0 + sum x[i, : l + 1])\n"
       "entry totals (x : f32[m, n]) = sum (cumulative_sum x)\n"
       "entry kept (s : *f32[m, n]) = s with [:, :] = cumulative_sum s\n"
       "entry steps (x : f32[m, n]) = iterate 3 (fn x => cumulative_sum x * 0.1) x\n"
       "entry chosen (x : f32[m, n]) (p : i64[n]) where m >= 1 = for (l < n) => sum (k < n) => if k <= l "
       "then x[p[k] "
       "% m, k] else 0\n",
       {{{"m", 1}, {"n", 1}},
        {{"m", 3}, {"n", 2}},
        {{"m", 5}, {"n", 67}},
        {{"m", 2}, {"n", 129}},
        {{"m", 70}, {"n", 7}},
        {{"m", 2}, {"n", 0}},
        {{"m", 1}, {"n", 263}}},
       3},
      {"PrefixesOfNoRows",
       "entry sums (x : f32[m, n]) = cumulative_sum x\n"
       "entry down (x : f32[n, m]) = for (l < n) j => sum x[: l + 1, j]\n"
       "entry three (x : f32[3, n]) = cumulative_sum x\n"
       "entry few (x : f32[m, 5]) = cumulative_max x\n"
       "entry one (x : f32[m, 1]) = cumulative_sum x\n"
       "entry none (x : i32[m, 0]) = cumulative_sum x\n",
       {{{"m", 0}, {"n", 3}}, {{"m", 0}, {"n", 0}}, {{"m", 131}, {"n", 33}}}},
      // Of axes that were merged: still one row, whatever the merged tensor is made of.
      {"PrefixesOfMergedAxes",
       "entry sums (x : i32[n, m]) = cumulative_sum (rearrange x [i, j] => [i*j])\n"
       "entry greatest (x : i64[2, n, m]) = cumulative_max (rearrange x [a, i, j] => [a, i*j])\n"
       "entry three (x : i32[n, 3, m]) = cumulative_sum (rearrange x [i, j, k] => [i*j*k])\n"
       "entry turned (x : i32[n, m]) = cumulative_sum (rearrange x [i, j] => [j*i])\n"
       "entry reduced (x : i32[n, m]) =\n"
       "  let t = for i => sum x[i]\n"
       "  let v = concat_last (for i (j < 2) => t[i]) x\n"
       "  in cumulative_sum (i64 (rearrange v [i, j] => [i*j]))\n"
       "entry below (x : i64[n, m]) =\n"
       "  let v = concat (for (i < 2) j => sum k => x[k, j]) x in cumulative_min (rearrange v [i, j] => "
       "[i*j])\n"
       "entry parts (x : i32[n, m]) (y : i32[n]) (z : i32[n, 3]) =\n"
       "  let v = concat_last (for i (j < 1) => y[i]) (concat_last x z)\n"
       "  in cumulative_sum (rearrange v [i, j] => [i*j])\n"
       "entry whole (x : f64[n, m]) (y : f64[n]) =\n"
       "  let v = concat_last (for i (j < 2) => y[i]) x in sum (rearrange v [i, j] => [i*j])\n",
       {{{"m", 1}, {"n", 1}},
        {{"m", 5}, {"n", 7}},
        {{"m", 31}, {"n", 13}},
        {{"m", 64}, {"n", 3}},
        {{"m", 3}, {"n", 0}},
        {{"m", 0}, {"n", 5}},
        {{"m", 2}, {"n", 67}}}},
      // A mask that the element decides, around a choice that the point of the reduction decides.
      {"MaskedChoices",
       "entry points (x : i32[n, m]) (y : i32[n]) =\n"
       "  for (l < n) => sum i => sum (j < m + 2) =>\n"
       "    if i + j <= l then (if j < 2 then y[i] else x[i, max j 2 - 2]) else 0\n"
       "entry late (x : i64[n, m]) (y : i64[n]) =\n"
       "  for (l < n) => prod i => prod (j < m + 2) =>\n"
       "    if i + j <= l then 1 else (if j < 2 then y[i] else x[i, max j 2 - 2])\n"
       "entry suffix (x : i32[n, m]) (y : i32[n]) =\n"
       "  let v = rearrange (concat_last (for i (j < 2) => y[i]) x) [i, j] => [i*j]\n"
       "  in for (l < n) => sum k => if l < k then v[k] else 0\n"
       "entry window (x : f32[n, m]) (y : f32[n]) =\n"
       "  let v = rearrange (concat_last (for i (j < 2) => y[i]) x) [i, j] => [i*j]\n"
       "  in for (l < n) => sum k => if k <= l && l < k + 4 then v[k] else 0.0\n"
       "entry rows (x : f64[n, m]) (y : f64[n]) =\n"
       "  for (a < n) (l < n) => sum i => sum (j < m + 2) =>\n"
       "    if m * i + j <= l + a then (if j < 2 then y[i] * 0.5 else x[i, max j 2 - 2]) else 0.0\n",
       {{{"m", 1}, {"n", 1}}, {{"m", 3}, {"n", 17}}, {{"m", 7}, {"n", 33}}, {{"m", 2}, {"n", 0}}}},
  };
}

}  // namespace axon::differential
