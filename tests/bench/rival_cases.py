"""The cases of rivals.py: programs, how their arguments are drawn, and their rivals.

In: nothing. Out: `cases`, by name. Arguments are drawn anew, from one seed, in each process that measures a case.
"""
import math
from types import SimpleNamespace

import numpy as np
from rival_sides import (blocked_attention, cumulative, few, given, gpt2, im2col, in_parts, moe, nonzero, norm_loops,
                         of_sum, onednn, onednn_layer_norm, onednn_softmax, product, ragged, resnet, sgemm,
                         sgemm_of_sum, stored, top_k, unary, window_loops)

f32, i32, i64 = np.float32, np.int32, np.int64


def uniform(*shape):
    return lambda rng: rng.random(shape, f32)


def normal(*shape, scale=1.0):
    return lambda rng: rng.standard_normal(shape, f32) * f32(scale)


def integers(n, low, high, dtype):
    return lambda rng: rng.integers(low, high, n, dtype, endpoint=True)


def cuts(rows, n):
    return lambda rng: np.concatenate([[0], np.sort(rng.integers(0, n, rows - 1)), [n]]).astype(i64)


def drawn(value, rng):
    return {k: drawn(v, rng) for k, v in value.items()} if isinstance(value, dict) else \
        value(rng) if callable(value) else value


def resnet_weights(n, m, ch, d, e, classes):
    def layer(i, o, *stack):
        norm = {k: uniform(*stack, o) for k in ("mean", "variance", "w", "b")}
        return {"filter": normal(*stack, o, i, 3, 3, scale=1 / math.sqrt(9 * i)), "norm": norm}

    def block(k, *stack):
        return {"first": layer(k, k, *stack), "second": layer(k, k, *stack)}
    return {"stem": layer(ch, d), "wide": block(d, n), "deep": block(e, m),
            "halve": {"first": layer(d, e), "second": layer(e, e), "skip": normal(e, d, scale=1 / math.sqrt(d))},
            "classifier": normal(e, classes, scale=1 / math.sqrt(e)), "bias": normal(classes)}


def gpt2_weights(n, v, s, d, f):
    def linear(i, o, *stack):
        return {"w": normal(*stack, i, o, scale=1 / math.sqrt(i)), "b": normal(*stack, o, scale=0.1)}

    def norm(*stack):
        return {"w": uniform(*stack, d), "b": normal(*stack, d, scale=0.1)}
    return {"tokens": normal(v, d), "positions": normal(s, d, scale=0.1), "norm": norm(),
            "layers": {"norm1": norm(n), "qkv": linear(d, 3 * d, n), "out": linear(d, d, n), "norm2": norm(n),
                       "up": linear(d, f, n), "down": linear(f, d, n)}}


def moe_weights(n, v, d, h, k, e, f):
    def matrix(i, o, *stack):
        return normal(n, *stack, i, o, scale=1 / math.sqrt(i))
    return {"embed": normal(v, d), "norm": uniform(d),
            "layers": {"norm1": uniform(n, d), "wq": matrix(d, h * k), "wk": matrix(d, h * k), "wv": matrix(d, h * k),
                       "wo": matrix(h * k, d), "norm2": uniform(n, d), "router": matrix(d, e),
                       "experts": {"w1": matrix(d, f, e), "w3": matrix(d, f, e), "w2": matrix(f, d, e)}}}


# ---------------------------------------------------------------------------------------------------------------
# The cases. `program` is a file, or text whose entry is `run`; its parameter `p` holds the weights. `floor`: "read" or
# "copy", what has to be done at least to the bytes of x.

cases = {}


def case(name, program, arguments, entry="run", tolerance=1e-3, floor=None, **rivals):
    cases[name] = SimpleNamespace(name=name, program=program, entry=entry, arguments=arguments, tolerance=tolerance,
                                  floor=floor, rivals=rivals, orders=None)


def orders(name, program, arguments, tolerance=1e-3, **axes):
    """`axes`: for each entry of the program, the orders of axes, as numbers, of its arguments and of its result;
    none: as they are. The first entry has all as they are drawn."""
    cases[name] = SimpleNamespace(name=name, program=program, entry=None, arguments=arguments, tolerance=tolerance,
                                  floor=None, rivals={}, orders=axes)


image = {"p": normal(64, 64, 3, 3, scale=1 / 24), "x": normal(64, 56, 56)}
case("conv-for", """
entry run (p : weights f32[o, c, 3, 3]) (x : f32[c, h, w]) =
  for o (i < h) (j < w) => sum c r s => x[c, i + r - 1, j + s - 1 else 0.0] * p[o, c, r, s]
""", image, im2col=im2col, oneDNN=onednn)
case("conv-library", """
import conv
entry run (p : weights f32[o, c, 3, 3]) (x : f32[c, h, w]) where h >= 1, w >= 1 =
  conv.conv2d (1, 1) (1, 1) (1, 1) x p
""", image, im2col=im2col, oneDNN=onednn)

images = {"p": image["p"], "x": normal(8, 64, 56, 56)}
case("conv-for-8", """
entry run (p : weights f32[o, c, 3, 3]) (x : f32[b, c, h, w]) =
  for n o (i < h) (j < w) => sum c r s => x[n, c, i + r - 1, j + s - 1 else 0.0] * p[o, c, r, s]
""", images, im2col=im2col, oneDNN=onednn)
case("conv-library-8", """
import conv
entry run (p : weights f32[o, c, 3, 3]) (x : f32[b, c, h, w]) where h >= 1, w >= 1 =
  conv.conv2d (1, 1) (1, 1) (1, 1) x p
""", images, im2col=im2col, oneDNN=onednn)

for name, (m, k, n) in ({str(n): (n, n, n) for n in (256, 512, 1024, 2048)} |
                        {f"{m}x4096": (m, 4096, 4096) for m in (8, 32)}).items():
    x, w = normal(m, k), normal(k, n, scale=1 / math.sqrt(k))
    case(f"matmul-{name}-weight", "entry run (p : weights f32[k, n]) (x : f32[m, k]) = x @ p", {"p": w, "x": x},
         OpenBLAS=sgemm, oneDNN=stored("graph_of_matmul"), inner=stored("graph_of_inner_product"))
    case(f"matmul-{name}-argument", "entry run (x : f32[m, k]) (w : f32[k, n]) = x @ w", {"x": x, "w": w},
         OpenBLAS=sgemm, oneDNN=given(choose=False), chosen=given(choose=True))
    case(f"matmul-{name}-temporary", "entry run (x : f32[m, k]) (w : f32[k, n]) (u : f32[k, n]) = x @ (w + u)",
         {"x": x, "w": w, "u": w}, OpenBLAS=sgemm_of_sum, oneDNN=of_sum(given(choose=False)),
         chosen=of_sum(given(choose=True)))

heads = {"q": normal(8, 2048, 64), "k": normal(8, 2048, 64), "v": normal(8, 2048, 64)}
case("attention-full", "entry run (q : f32[h, m, d]) (k : f32[h, n, d]) (v : f32[h, n, d]) = attention q k v", heads,
     NumPy=blocked_attention(lambda i, j, n: (0, n), lambda i, j: None))
case("attention-causal", """
import attention
entry run (q : f32[h, m, d]) (k : f32[h, m, d]) (v : f32[h, m, d]) = attention.causal_attention q k v
""", heads, NumPy=blocked_attention(lambda i, j, n: (0, j), lambda i, j: j <= i))
case("attention-window", """
import attention
entry run (q : f32[h, m, d]) (k : f32[h, m, d]) (v : f32[h, m, d]) (w : i64) =
  attention.scored (attention.window w 0) q k v
""", heads | {"w": 64}, loops=window_loops,
     NumPy=blocked_attention(lambda i, j, n: (max(0, i - 63), j), lambda i, j: (j <= i) & (j > i - 64), rows=64))

case("resnet", "examples/models/resnet.axn", entry="classify", oneDNN=resnet, arguments={
    "p": resnet_weights(2, 2, 3, 64, 128, 1000), "images": normal(1, 3, 56, 56), "eps": 1e-5})
case("gpt2-prefill", "examples/models/gpt2.axn", entry="logits", NumPy=gpt2, parts=in_parts(gpt2), arguments={
    "p": gpt2_weights(4, 8192, 256, 512, 2048), "tokens": integers(256, 0, 8191, i32), "h": 8, "eps": 1e-5})
for entry, counts in {"sparse_logits": (1, 64, 512), "logits": (1, 64, 512)}.items():
    for m in counts:
        case(f"moe-{m}" + ("-all" if entry == "logits" else "-gather"), "examples/models/moe.axn", entry=entry,
             NumPy=moe, parts=in_parts(moe), arguments={
                 "p": moe_weights(2, 1024, 256, 4, 64, 8, 1024), "h": 4, "top": 2, "eps": 1e-5,
                 "tokens": integers(m, 0, 1023, i32)})

million = 2**20
case("sort-f32", "entry run (x : f32[n]) = sort x", {"x": normal(million)}, tolerance=0,
     stdsort=unary("sort_f32", million))
case("sort-i32", "entry run (x : i32[n]) = sort x", {"x": integers(million, -2**31, 2**31 - 1, i32)},
     stdsort=unary("sort_i32", million, i32))
for k in (1, 10, 100, 10_000):
    case(f"top-k-f32-{k}", "entry run (x : f32[n]) (k : i64) where 0 <= k, k <= n = top_k k x",
         {"x": normal(million), "k": k}, tolerance=0, heap=top_k("top_k_f32"))
case("top-k-i32-10", "entry run (x : i32[n]) (k : i64) where 0 <= k, k <= n = top_k k x",
     {"x": integers(million, -2**31, 2**31 - 1, i32), "k": 10}, heap=top_k("top_k_i32"))
case("top-k-stated", "entry run (x : f32[n]) where 10 <= n = top_k 10 x", {"x": normal(2**24)}, tolerance=0,
     heap=few(10, top_k("top_k_f32")))
case("nonzero", "entry run (m : bool[n]) = nonzero m", {"m": lambda rng: rng.random(2**16) < 0.5}, loops=nonzero)
for rows, n in ((1000, 2**16), (10000, million)):
    case(f"ragged-sums-{rows}", "entry run (x : f32[n]) (offsets : i64[r + 1]) =\n"
         "  for (i < r) => sum x[offsets[i] : offsets[i + 1]]",
         {"x": uniform(n), "offsets": cuts(rows, n)}, loops=ragged)

large, square = {"x": uniform(2**24)}, {"x": uniform(4096, 4096)}
case("sum", "entry run (x : f32[n]) = sum x", large, floor="read", loops=unary("total"))
case("argmax", "entry run (x : f32[n]) where n >= 1 = argmax x", large, floor="read",
     loops=unary("argmax", (), i64))
case("norm", "entry run (x : f32[n]) = l2_norm x", large, floor="read", loops=unary("norm"))
case("softmax-row", "entry run (x : f32[n]) = softmax x", {"x": normal(million)}, loops=unary("softmax_row", million))
for n in (1024, 4096):
    case("softmax-rows" if n == 1024 else "softmax-square", "entry run (x : f32[m, n]) = softmax x",
         {"x": normal(4096, n)}, floor="copy", loops=unary("softmax_rows", (4096, n), sizes=np.shape),
         oneDNN=onednn_softmax)
case("rms-norm", "entry run (p : weights f32[n]) (x : f32[m, n]) (eps : f32) = rms_norm x p eps",
     {"p": uniform(4096), "x": normal(4096, 4096), "eps": 1e-5}, floor="copy", loops=norm_loops("rms_norm"))
case("layer-norm", """
entry run (p : weights { w : f32[n], b : f32[n] }) (x : f32[m, n]) (eps : f32) = layer_norm x p.w p.b eps
""", {"p": {"w": uniform(4096), "b": normal(4096)}, "x": normal(4096, 4096), "eps": 1e-5}, floor="copy",
     loops=norm_loops("layer_norm"), oneDNN=onednn_layer_norm)
for m, n, k in ((16, 24, million), (64, 64, million), (256, 256, 2**17)):
    case(f"deep-{m}-{n}", f"entry run (x : f32[k, {m}]) (y : f32[k, {n}]) = transpose x @ y",
         {"x": uniform(k, m), "y": uniform(k, n)}, NumPy=product, oneDNN=given(choose=False, turned=True),
         chosen=given(choose=True, turned=True))
case("transpose", "entry run (x : f32[m, n]) = transpose x", square, tolerance=0, floor="copy",
     loops=unary("transpose", (4096, 4096), sizes=np.shape))
case("cumulative-sums", "entry run (x : f32[m, n]) = cumulative_sum x", square, floor="copy",
     NumPy=cumulative)
case("column-sums", "entry run (x : f32[m, n]) = for j => sum i => x[i, j]", square, floor="read",
     loops=unary("column_sums", 4096, sizes=np.shape))

orders("order-sum", """
entry ijk (x : f32[a, b, c]) = sum i j k => x[i, j, k]
entry kji (x : f32[a, b, c]) = sum k j i => x[i, j, k]
entry jik (x : f32[a, b, c]) = sum j i k => x[i, j, k]
""", {"x": uniform(256, 256, 256)}, ijk={}, kji={}, jik={})
orders("order-row-sums", """
entry last (x : f32[m, n]) = for i => sum j => x[i, j]
entry first (x : f32[n, m]) = for i => sum j => x[j, i]
""", square, last={}, first={"x": (1, 0)})
orders("order-maximum", """
entry ij (x : f32[m, n]) = maximum i j => x[i, j]
entry ji (x : f32[m, n]) = maximum j i => x[i, j]
""", square, ij={}, ji={})
orders("order-matmul", """
entry nn (x : f32[m, k]) (y : f32[k, n]) = for i j => sum a => x[i, a] * y[a, j]
entry nt (x : f32[m, k]) (y : f32[n, k]) = for i j => sum a => x[i, a] * y[j, a]
entry tn (x : f32[k, m]) (y : f32[k, n]) = for i j => sum a => x[a, i] * y[a, j]
entry transposed (x : f32[m, k]) (y : f32[k, n]) = for j i => sum a => y[a, j] * x[i, a]
""", {"x": normal(768, 768), "y": normal(768, 768)}, nn={}, nt={"y": (1, 0)}, tn={"x": (1, 0)},
       transposed={"result": (1, 0)})
orders("order-contraction", """
entry kl (x : f32[m, k, l]) (y : f32[k, l, n]) = for i j => sum k l => x[i, k, l] * y[k, l, j]
entry lk (x : f32[m, k, l]) (y : f32[k, l, n]) = for i j => sum l k => x[i, k, l] * y[k, l, j]
""", {"x": normal(512, 32, 16), "y": normal(32, 16, 512)}, kl={}, lk={})
orders("order-attention", """
entry heads_first (q : f32[h, m, d]) (k : f32[h, n, d]) (v : f32[h, n, d]) = attention q k v
entry heads_last (q : f32[m, d, h]) (k : f32[n, d, h]) (v : f32[n, d, h]) =
  let s = for h i j => (sum d => q[i, d, h] * k[j, d, h]) / sqrt (real d)
  let w = softmax s
  in for i d h => sum j => w[h, i, j] * v[j, d, h]
entry heads_middle (q : f32[m, h, d]) (k : f32[n, h, d]) (v : f32[n, h, d]) =
  let s = for h i j => (sum d => q[i, h, d] * k[j, h, d]) / sqrt (real d)
  let w = softmax s
  in for i h d => sum j => w[h, i, j] * v[j, h, d]
""", {"q": normal(8, 1024, 64), "k": normal(8, 1024, 64), "v": normal(8, 1024, 64)}, heads_first={},
       heads_last={"q": (1, 2, 0), "k": (1, 2, 0), "v": (1, 2, 0), "result": (1, 2, 0)},
       heads_middle={"q": (1, 0, 2), "k": (1, 0, 2), "v": (1, 0, 2), "result": (1, 0, 2)})
orders("order-conv2d", """
entry channels_first (x : f32[c, h, w]) (f : f32[o, c, 3, 3]) =
  for o (i < h) (j < w) => sum c r s => x[c, i + r - 1, j + s - 1 else 0.0] * f[o, c, r, s]
entry channels_last (x : f32[h, w, c]) (f : f32[3, 3, c, o]) =
  for (i < h) (j < w) o => sum r s c => x[i + r - 1, j + s - 1, c else 0.0] * f[r, s, c, o]
entry sums_turned (x : f32[c, h, w]) (f : f32[o, c, 3, 3]) =
  for o (i < h) (j < w) => sum s r c => x[c, i + r - 1, j + s - 1 else 0.0] * f[o, c, r, s]
""", {"x": normal(64, 56, 56), "f": normal(64, 64, 3, 3)}, channels_first={}, sums_turned={},
       channels_last={"x": (1, 2, 0), "f": (2, 3, 1, 0), "result": (1, 2, 0)})
orders("order-conv1d", """
entry cs (x : f32[c, n]) (f : f32[o, c, k]) where k <= n =
  for o (t < n - k + 1) => sum c s => x[c, t + s] * f[o, c, s]
entry sc (x : f32[c, n]) (f : f32[o, c, k]) where k <= n =
  for o (t < n - k + 1) => sum s c => x[c, t + s] * f[o, c, s]
entry time_first (x : f32[c, n]) (f : f32[o, c, k]) where k <= n =
  for (t < n - k + 1) o => sum c s => x[c, t + s] * f[o, c, s]
""", {"x": normal(64, 4096), "f": normal(64, 64, 5)}, cs={}, sc={}, time_first={"result": (1, 0)})
