// Every function of the library, native code against the interpreter: sizes 1, primes, sizes next to tiles,
// and 0 where the types allow it. What the functions mean is stated by the examples in their documentation
// and by test_numpy.py.
#include <cctype>
#include <filesystem>
#include <set>

#include "support.h"

namespace axon::stdlib {
namespace {

const std::vector<Sizes> two = {
    {{"m", 5}, {"n", 7}}, {{"m", 1}, {"n", 1}}, {{"m", 3}, {"n", 65}}, {{"m", 0}, {"n", 3}}};
const std::vector<Sizes> two_or_none = {
    {{"m", 5}, {"n", 7}}, {{"m", 1}, {"n", 1}}, {{"m", 31}, {"n", 2}}, {{"m", 3}, {"n", 0}}};

const std::vector<Program> programs = {
    // ---- prelude ----
    {"ElementByElement",
     R"(
entry f (x : f32[m, n]) (y : f32[n]) =
  (square x, reciprocal x, sign x, ceil x, round (x * 2.0), truncate x, clip (-1.0) y x, lerp x y 0.25,
   (log1p (abs x), expm1 x, tan x), xor (x > 0.0) (y > 0.0), is_nan x, is_finite x)
entry small (x : f32[n]) = (log1p (x * 0.0001), expm1 (x * 0.0001), round (floor x + 0.5))
entry integers (x : i32[m, n]) = (square x, sign x, clip (-1) 1 x)
)",
     two,
     {{"integers.x", -5, 6}}},
    {"Activations",
     R"(
entry f (x : f32[m, n]) =
  (relu x, leaky_relu 0.1 x, elu 1.5 x, selu x, sigmoid x, hard_sigmoid x, hard_tanh x,
   (silu x, hard_silu x, mish x, gelu x, gelu_tanh x, softplus x, softsign x))
entry gates (x : f32[m, 2*n]) = (glu x, swiglu x, geglu x, gated relu x)
)",
     two},
    {"Reductions",
     R"(
entry f (x : f32[m, n]) =
  (sum x, prod x, maximum x, minimum x, mean x, variance x, standard_deviation x, l2_norm x,
   (any (x > 2.0), all (x > -2.0), count (x > 0.0), keep sum x, over_first maximum x, over_two sum x,
   along_first softmax x))
entry integers (x : i32[m, n]) (y : i8[m, n]) = (sum x, prod x, sum y, over_first sum x)
entry half (x : bf16[m, n]) = (sum x, maximum x, mean x)
)",
     two_or_none},
    {"Extremes",
     R"(
entry f (x : f32[m, n]) where n >= 1 = (largest x, smallest x, argmax x, argmin x)
entry integers (x : i32[m, n]) where n >= 1 = (largest x, smallest x, argmax x, argmin x)
)",
     two,
     {{"x", -3, 3}}},
    {"Matrices",
     R"(
entry f (x : f32[m, n]) (y : f32[n, m]) (z : f32[n]) =
  (matmul x y, transpose x, outer z z, dot z z, linear y x z, tril x, triu x, from_diagonal z)
entry square_ones (x : f32[b, n, n]) (y : f32[m, n]) = (diagonal x, trace x, y @ x, kronecker y y)
entry integers (x : f32[m, n]) (w : i8[n, m]) (s : f32[m]) = (dequantize w s, x @ dequantize w s)
)",
     {{{"m", 5}, {"n", 7}, {"b", 2}}, {{"m", 1}, {"n", 1}, {"b", 1}}, {{"m", 2}, {"n", 33}, {"b", 3}}}},
    {"Norms",
     R"(
entry f (x : f32[m, n]) (w : f32[n]) (b : f32[n]) (eps : f32) =
  (softmax x, logsumexp x, log_softmax x, standardize eps x, layer_norm x w b eps, rms_norm x w eps, normalize eps x)
entry channels (x : f32[a, c, n]) (w : f32[c]) (b : f32[c]) (eps : f32) =
  (instance_norm x w b eps, batch_norm x { mean = w, variance = b * b, w = b, b = w } eps)
entry groups (sizes : f32[g, 0]) (x : f32[a, g*k, n]) (w : f32[g*k]) (b : f32[g*k]) (eps : f32) = group_norm[g] x w b eps
)",
     {{{"m", 5}, {"n", 7}, {"a", 2}, {"c", 3}, {"g", 2}, {"k", 3}},
      {{"m", 1}, {"n", 1}, {"a", 1}, {"c", 1}, {"g", 1}, {"k", 1}},
      {{"m", 3}, {"n", 65}, {"a", 1}, {"c", 2}, {"g", 3}, {"k", 1}}},
     {{"eps", 0.01, 0.1}}},
    {"Making",
     R"(
entry f (n : i64) where n >= 2 =
  (iota n, full n 2.5, zeros[f32] n, ones[i32] n, eye[f32] n, linspace 1.0 (-1.0) n)
entry like (x : f32[m, n]) (ids : i32[m]) = (zeros_like x, one_hot ids n)
)",
     {{{"n", 2}, {"m", 3}}, {{"n", 7}, {"m", 1}}, {{"n", 65}, {"m", 5}}},
     {{"ids", 0, 2}}},
    {"Gathering",
     R"(
entry f (x : f32[m, n]) (ids : i32[k]) (along : i64[m, k]) = (take ids x, embedding x ids, take_along along x)
)",
     {{{"m", 5}, {"n", 7}, {"k", 11}}, {{"m", 2}, {"n", 2}, {"k", 3}}, {{"m", 2}, {"n", 65}, {"k", 0}}},
     {{"ids", 0, 2}, {"along", 0, 2}}},
    {"Moving",
     R"(
entry f (x : f32[m, n]) (y : f32[k, n]) =
  (broadcast 3 x, flatten x, first_to_last x, last_to_first x, repeat 3 x, tile 2 x, concat x y,
   (concat_last x x, stack x x, flip x, flip_first x, slice_clamped (-1) 3 x))
entry cut (sizes : f32[k, 0]) (x : f32[k*m, k*n]) where k >= 1 = (unflatten[k, n] x, chunk k x, merge_heads (heads[k, n] x), split_heads k x, cdiv m k)
entry divided (sizes : f32[k, 0]) (x : f32[m + k, n + k]) =
  let (a, b) = split k x let (c, d) = split_last k x in (a, b, c, d)
entry padded (x : f32[m, n]) where n >= 3 =
  (pad 1 2 0.5 x, pad_edge 1 2 x, pad_reflect 1 2 x, pad_wrap 4 5 x, roll 2 x, roll (-9) x)
)",
     {{{"m", 5}, {"n", 7}, {"k", 2}}, {{"m", 1}, {"n", 3}, {"k", 1}}, {{"m", 3}, {"n", 65}, {"k", 3}}}},
    {"Cumulative",
     R"(
entry f (x : f32[m, n]) = (cumulative_sum x, cumulative_prod x, cumulative_max x, cumulative_min x, cumulative add 0 x)
entry vector (x : f32[n]) = (cumulative_sum x, cumulative_max x)
entry integers (x : i8[m, n]) (y : u8[n]) =
  (cumulative_sum x, cumulative_max x, cumulative_min x, cumulative_max y, cumulative_min y, cumulative mul 1 x)
)",
     two_or_none,
     {{"integers.x", -9, -2}, {"integers.y", 3, 9}}},
    {"PreludeWindows",
     R"(
entry f (x : f32[c, h, w]) (a : f32[o, c, 2]) (b : f32[o, c, 2, 3]) where w >= 3, h >= 2 =
  (conv1d x[:, 0] a, conv2d x b, conv2d_strided 2 1 x b, max_pool1d 2 x, max_pool2d 2 x, mean_pool2d 2 x)
)",
     {{{"c", 2}, {"h", 5}, {"w", 7}, {"o", 3}}, {{"c", 1}, {"h", 2}, {"w", 3}, {"o", 1}}}},
    {"Order",
     R"(
entry f (x : f32[m, n]) where n >= 1, m >= 1 =
  (rank x, sort_order x, sort x, descending_order x, median x, bucket x[0 : 1, 0] x)
entry best (sizes : f32[k, 0]) (x : i32[m, n + k]) = (sort x, top_k k x)
entry scattered (ids : i32[m]) (x : f32[m, n]) (base : f32[k, n]) =
  (scatter_add ids x base, scatter_max ids x base, histogram k ids, scatter mul 1.0 base ids x)
entry kept (x : f32[m, n]) where n >= 1 = (nonzero (x[:, 0] > 0.0), compress x (x[:, 0] > 0.0))
)",
     {{{"m", 5}, {"n", 7}, {"k", 3}}, {{"m", 1}, {"n", 1}, {"k", 1}}, {{"m", 3}, {"n", 65}, {"k", 2}}},
     {{"ids", 0, 3}, {"best.x", 0, 5}}},
    {"OrderOfEqualsAndNothing",
     R"(
fun holed x = select (x > 1.0) (0.0 / 0.0) (select (x < -1.5) (-1.0 / 0.0) (floor (x * 2.0)))
entry f (x : f32[m, n]) = (rank (holed x), sort_with_order (holed x), sort (holed x), descending_order (holed x))
entry deep (x : f16[2, m, n]) = (sort_order (floor x), rank x)
entry integers (x : u8[n]) = (rank x, sort x, descending_order x, sort_order x)
entry best (sizes : f32[k, 0]) (x : f32[m, n + k]) (y : i8[n + k]) = (top_k k (holed x), top_k k y, top_k 0 y)
entry all (x : f32[n]) = (top_k n (holed x), top_k n (x * 0.0 - 1.0 / 0.0))
)",
     {{{"m", 2}, {"n", 0}, {"k", 1}},
      {{"m", 1}, {"n", 1}, {"k", 2}},
      {{"m", 3}, {"n", 2}, {"k", 3}},
      {{"m", 2}, {"n", 3}, {"k", 0}},
      {{"m", 0}, {"n", 5}, {"k", 1}},
      {{"m", 2}, {"n", 33}, {"k", 31}}},
     {{"integers.x", 0, 4}, {"best.y", -3, 3}}},
    {"OrderOfMany",
     R"(
entry f (x : f32[m, n]) = (sort_with_order x, rank (floor (x * 9.0)))
entry best (x : f32[m, n]) where n >= 40 = top_k 40 (floor (x * 9.0))
)",
     {{{"m", 2}, {"n", 1000}}}},
    // ---- conv and pool ----
    {"Convolutions",
     R"(
import conv
entry f (x : f32[b, c, n]) (f : f32[o, c, k]) where k >= 1, k <= n =
  (conv.conv1d 1 0 1 x f, conv.conv1d 2 1 1 x f, conv.conv1d 3 k 2 x f, conv.same 3 k)
entry parts (sizes : f32[g, 0]) (x : f32[b, g*c, n]) (f : f32[g*o, c, k]) where k >= 1, k <= n =
  (conv.grouped1d[g] 1 0 1 x f, conv.grouped1d[g] 2 1 1 x f)
entry wide (x : f32[b, c, n]) (f : f32[c, o, k]) where k >= 1, n >= 1 =
  (conv.transposed1d 1 0 1 0 x f, conv.transposed1d 3 0 2 1 x f)
entry f2 (x : f32[b, c, n, w]) (f : f32[o, c, k, 2]) where k >= 1, k <= n, w >= 2 =
  (conv.conv2d (1, 1) (0, 0) (1, 1) x f, conv.conv2d (2, 1) (0, 1) (1, 2) x f)
entry parts2 (sizes : f32[g, 0]) (x : f32[b, g*c, n, w]) (f : f32[g*o, c, k, 2]) where k >= 1, k <= n, w >= 2 =
  conv.grouped2d[g] (1, 2) (1, 0) (1, 1) x f
entry wide2 (x : f32[b, c, n, w]) (f : f32[c, o, k, 2]) where k >= 1, n >= 1, w >= 1 =
  (conv.transposed2d (2, 1) (0, 0) (1, 1) (0, 0) x f, conv.transposed2d (1, 2) (0, 0) (2, 3) (1, 0) x f)
entry f3 (x : f32[c, n, w, 3]) (f : f32[o, c, k, 2, 1]) where k >= 1, k <= n, w >= 2 =
  conv.conv3d (2, 1, 1) (0, 1, 0) (1, 1, 1) x f
entry parts3 (sizes : f32[g, 0]) (x : f32[g*c, n, w, 3]) (f : f32[g*o, c, k, 2, 1]) where k >= 1, k <= n, w >= 2 =
  conv.grouped3d[g] (1, 1, 2) (0, 0, 0) (1, 1, 1) x f
entry wide3 (x : f32[c, n, w, 2]) (f : f32[c, o, k, 2, 1]) where k >= 1, n >= 1, w >= 1 =
  conv.transposed3d (2, 1, 1) (0, 0, 0) (1, 1, 2) (1, 0, 0) x f
)",
     {{{"b", 2}, {"c", 2}, {"n", 7}, {"o", 3}, {"k", 3}, {"g", 2}, {"w", 5}},
      {{"b", 1}, {"c", 1}, {"n", 1}, {"o", 1}, {"k", 1}, {"g", 1}, {"w", 2}},
      {{"b", 1}, {"c", 3}, {"n", 19}, {"o", 1}, {"k", 5}, {"g", 3}, {"w", 4}}}},
    {"Pools",
     R"(
import pool
entry f (x : f32[m, n]) where n >= 2 =
  (pool.max1d 2 1 0 x, pool.max1d 2 3 1 x, pool.mean1d 2 1 0 x, pool.mean1d 2 3 1 x,
   pool.max1d_ceil 2 3 1 x, pool.mean1d_ceil 2 3 1 x, pool.adaptive_max1d 3 x, pool.adaptive_mean1d 3 x,
   (pool.global_max1d x, pool.global_mean1d x))
entry f2 (x : f32[2, m, n]) where n >= 2, m >= 1 =
  (pool.max2d (1, 2) (1, 2) (0, 1) x, pool.mean2d (1, 2) (2, 1) (0, 0) x, pool.max2d_ceil (1, 2) (2, 2) (0, 0) x,
   pool.mean2d_ceil (1, 2) (2, 2) (0, 0) x, pool.adaptive_max2d (2, 3) x, pool.adaptive_mean2d (2, 3) x,
   pool.global_max2d x, pool.global_mean2d x)
entry f3 (x : f32[2, m, n]) where n >= 2, m >= 1 =
  (pool.max3d (2, 1, 2) (1, 1, 2) (0, 0, 1) x, pool.mean3d (2, 1, 2) (1, 2, 1) (0, 0, 0) x,
   pool.max3d_ceil (2, 1, 2) (1, 2, 2) (0, 0, 0) x, pool.mean3d_ceil (2, 1, 2) (1, 2, 2) (0, 0, 0) x,
   pool.adaptive_max3d (1, 2, 3) x, pool.adaptive_mean3d (1, 2, 3) x, pool.global_max3d x, pool.global_mean3d x)
)",
     {{{"m", 5}, {"n", 7}}, {{"m", 1}, {"n", 2}}, {{"m", 3}, {"n", 17}}}},
    // ---- attention and position ----
    {"Attentions",
     R"(
import attention
import position
entry f (q : f32[b, m, d]) (k : f32[b, n, d]) (v : f32[b, n, e]) (mask : bool[m, n]) =
  (attention q k v, attention.masked mask q k v, attention.scored (attention.window 2 1) q k v,
   attention.scored (fn s => causal 0 (attention.softcap 5.0 s)) q k v)
entry growing (q : f32[m, d]) (k : f32[m + n, d]) (v : f32[m + n, e]) = attention.causal_attention q k v
entry rows (x : f32[m, n]) = attention.softmax_or_zero (select (x > 0.0) x (-1.0 / 0.0))
entry documents (x : f32[m, d]) (ids : i32[m]) = attention.scored (attention.segments ids ids) x x x
entry groups (sizes : f32[h, g]) (q : f32[h*g, m, d]) (k : f32[h, n, d]) (v : f32[h, n, e]) =
  attention.grouped (position.alibi 0 (position.alibi_slopes (h*g))) q k v
)",
     {{{"b", 2}, {"m", 5}, {"n", 7}, {"d", 3}, {"e", 4}, {"h", 2}, {"g", 3}},
      {{"b", 1}, {"m", 1}, {"n", 1}, {"d", 1}, {"e", 1}, {"h", 1}, {"g", 1}},
      {{"b", 1}, {"m", 3}, {"n", 65}, {"d", 16}, {"e", 17}, {"h", 4}, {"g", 1}}}},
    {"MultiHead",
     R"(
import attention
entry self (sizes : f32[h, 0]) (x : f32[b, m, d]) (p : { wq : f32[d, h*k], wk : f32[d, h*k], wv : f32[d, h*k], wo : f32[h*k, d] }) =
  attention.multi_head[h] (causal 0) x p
entry other (sizes : f32[h, 0]) (x : f32[b, m, d]) (y : f32[b, n, d])
    (p : { wq : f32[d, h*k], wk : f32[d, h*k], wv : f32[d, h*k], wo : f32[h*k, d] }) =
  attention.cross[h] (fn s => s) x y p
)",
     {{{"b", 2}, {"m", 5}, {"n", 7}, {"d", 3}, {"h", 2}, {"k", 3}},
      {{"b", 1}, {"m", 1}, {"n", 1}, {"d", 1}, {"h", 1}, {"k", 1}},
      {{"b", 1}, {"m", 33}, {"n", 3}, {"d", 16}, {"h", 4}, {"k", 5}}}},
    {"Positions",
     R"(
import position
entry f (x : f32[b, m, 2*c]) (pos : i64) (base : f32) where pos >= 0 =
  let (cosines, sines) = rope_table m c pos base
  in (rope x cosines sines, position.rope_halves x cosines sines, position.sinusoidal m c pos base)
entry biases (x : f32[h, m, n]) (slopes : f32[h]) (table : f32[h, 2*r - 1]) where r >= 1 =
  (position.alibi 3 slopes x, position.relative_bias 1 table x, causal 2 x)
)",
     {{{"b", 2}, {"m", 5}, {"n", 7}, {"c", 3}, {"h", 2}, {"r", 3}, {"pos", 4}},
      {{"b", 1}, {"m", 1}, {"n", 1}, {"c", 1}, {"h", 1}, {"r", 1}, {"pos", 0}},
      {{"b", 1}, {"m", 17}, {"n", 65}, {"c", 16}, {"h", 3}, {"r", 5}, {"pos", 100}}},
     {{"base", 100, 10000}}},
    // ---- losses ----
    {"Losses",
     R"(
import loss
entry pairs (x : f32[m, n]) (y : f32[m, n]) (z : f32[m, n]) (s : f32[m]) =
  (loss.mean_absolute_error x y, loss.huber 0.5 x y, mean_squared_error s s, loss.hinge 1.0 x y,
   (loss.cosine_similarity 0.1 x y, loss.cosine_embedding 0.2 x y s, loss.contrastive 1.0 x y s, loss.triplet 0.3 x y z))
entry classes (x : f32[m, n]) (labels : i32[m]) (y : f32[m, n]) where n >= 2 =
  (cross_entropy x labels, loss.negative_log_likelihood x labels, loss.smoothed_cross_entropy 0.1 x labels,
   loss.soft_cross_entropy x (softmax y), loss.masked_cross_entropy (-1) x (i64 labels - 1),
   loss.kl_divergence (log_softmax x) (log_softmax y))
entry halves (x : f32[m, n]) (p : f32[m, n]) = (loss.binary_cross_entropy x p, loss.focal 2.0 x p)
entry both (x : f32[m, n]) (y : f32[m, n]) = loss.contrastive_pairs 0.5 x y
)",
     {{{"m", 5}, {"n", 7}}, {{"m", 1}, {"n", 2}}, {{"m", 3}, {"n", 65}}},
     {{"labels", 0, 2}, {"p", 0, 1}}},
    // ---- recurrent ----
    {"RecurrentLayers",
     R"(
import recurrent
entry lstm (x : f32[t, b, d]) (h : f32[b, e]) (c : f32[b, e]) (p : recurrent.Lstm[f32, d, e]) = recurrent.lstm x (h, c) p
entry gru (x : f32[t, b, d]) (h : f32[b, e]) (p : recurrent.Gru[f32, d, e]) =
  (recurrent.gru x h p, recurrent.backwards (fn x => let (s, y) = recurrent.gru x h p in y) x)
entry elman (x : f32[t, b, d]) (h : f32[b, e]) (p : { w : f32[d, e], u : f32[e, e], b : f32[e] }) =
  (recurrent.elman x h p, recurrent.elman_cell h h { w = p.u, u = p.u, b = p.b })
entry cells (h : f32[b, e]) =
  let (p, q) = (recurrent.zero_lstm[e, e], recurrent.zero_gru[e, e]) in (lstm_cell h (h, h) p, gru_cell h h q)
)",
     {{{"t", 4}, {"b", 2}, {"d", 3}, {"e", 5}},
      {{"t", 1}, {"b", 1}, {"d", 1}, {"e", 1}},
      {{"t", 0}, {"b", 3}, {"d", 2}, {"e", 17}}}},
    {"Recurrences",
     R"(
import recurrent
entry f (q : f32[t, d]) (k : f32[t, d]) (v : f32[t, e]) (beta : f32[t]) (s : f32[d, e]) =
  (recurrent.linear_attention q k v s, recurrent.retention 0.5 q k v s, recurrent.delta_rule q k v beta s)
entry scan (a : f32[d, e]) (steps : f32[t, d]) (x : f32[t, d]) (b : f32[t, e]) (c : f32[t, e]) (h : f32[d, e]) =
  recurrent.selective_scan (-(a * a)) steps x b c h
entry fade (a : f32[t, d]) (h : f32[d]) (x : f32[t, d]) = recurrent.decay a h x
)",
     {{{"t", 5}, {"d", 3}, {"e", 4}},
      {{"t", 1}, {"d", 1}, {"e", 1}},
      {{"t", 3}, {"d", 17}, {"e", 33}},
      {{"t", 0}, {"d", 2}, {"e", 3}}},
     {{"beta", 0, 1}, {"steps", 0.1, 0.5}, {"a", 0.1, 0.9}}},
    // ---- routing ----
    {"Routing",
     R"(
import routing
entry f (sizes : f32[k, 0]) (x : f32[t, d]) (router : f32[d, e])
    (w1 : f32[e, d, f]) (w2 : f32[e, f, d]) (w3 : f32[e, d, f]) where k <= e =
  let p = { w1 = w1, w2 = w2, w3 = w3 }
  let scores = x @ router
  let (weights, ids) = routing.top_gates k scores
  in (weights, ids, routing.switch_gates k scores, routing.all_weights e weights ids, routing.by_all weights ids x p,
      routing.by_gather weights ids x p, routing.by_capacity 2 weights ids x p,
      (routing.places e ids, routing.balance scores ids))
)",
     {{{"k", 2}, {"t", 7}, {"d", 3}, {"e", 5}, {"f", 4}},
      {{"k", 1}, {"t", 1}, {"d", 1}, {"e", 1}, {"f", 1}},
      {{"k", 3}, {"t", 3}, {"d", 17}, {"e", 8}, {"f", 5}}}},
    // ---- signal ----
    {"Signals",
     R"(
import signal
entry f (x : f32[m, n]) (y : f32[m, n]) where n >= 3 =
  (signal.dft x y, signal.inverse_dft x y, signal.power_spectrum x, signal.spectrogram (signal.hann 3) 2 x,
   signal.moving_mean 2 x, signal.difference x, signal.frames 2 2 x)
entry back (x : f32[m, n]) where m >= 1, n >= 1 = (signal.overlap_add 2 x, signal.smooth 0.25 x[0])
entry windows (n : i64) where n >= 1 = (signal.hann n, signal.hamming n)
)",
     {{{"m", 2}, {"n", 7}}, {{"m", 1}, {"n", 3}}, {{"m", 3}, {"n", 65}}}},
};

class Functions : public ::testing::TestWithParam<Program> {};
TEST_P(Functions, ExecutorsAgree) { expect_executors_agree(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Library, Functions, ::testing::ValuesIn(programs),
                         [](const auto& info) { return info.param.name; });

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The names that a module declares.
std::set<std::string> functions_of(const std::string& module) {
  const std::string text = read_file(AXON_SOURCE_DIR "/stdlib/" + module + ".axn");
  std::set<std::string> names;
  for (size_t at = 0; (at = text.find("\nfun ", at)) != std::string::npos;) {
    at += 5;
    size_t end = at;
    while (is_word(text[end])) ++end;
    names.insert(text.substr(at, end - at));
  }
  return names;
}

bool has_word(const std::string& text, const std::string& word) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at)
    if (!is_word(text[at + word.size()]) && (at == 0 || !is_word(text[at - 1]))) return true;
  return false;
}

TEST(Functions, AllAreRunHere) {
  std::string text;
  for (const Program& program : programs) text += program.source;
  for (const auto& part : std::filesystem::directory_iterator(AXON_SOURCE_DIR "/stdlib/prelude"))
    for (const std::string& name : functions_of("prelude/" + part.path().stem().string()))
      EXPECT_TRUE(has_word(text, name)) << name << " of " << part.path();
  for (const std::string module :
       {"conv", "pool", "attention", "position", "loss", "recurrent", "routing", "signal"})
    for (const std::string& name : functions_of(module))
      EXPECT_TRUE(has_word(text, module + "." + name)) << module << "." << name;
}

}  // namespace
}  // namespace axon::stdlib
