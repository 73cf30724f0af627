"""How fast compiled programs are beside others that do the same, measured in one run.

In: the compiler and its runtime, from build/ or --build; the rivals are NumPy with OpenBLAS, oneDNN and plain C++
(rivals.cpp, compiled here). Out: a line for each case and number of workers, with the median times of alternating
runs, ours over the rival's. Of several rivals the fastest counts. A case of orders has no rival but itself: it is
written with its sums or axes in several orders, and the slowest is shown beside the fastest. Results are first
compared with each rival's. MiB is what the first run takes beside its arguments, its results included.

    apt-get install libopenblas-dev libdnnl-dev python3-numpy g++
    python3 tests/bench/rivals.py
    python3 tests/bench/rivals.py --only conv-for --only sort-f32 --workers 2 --level x86-64-v3
"""
import argparse
import concurrent.futures
import ctypes
import fnmatch
import math
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

try:
    import numpy as np
except ImportError:
    print("This needs NumPy: run it with Debian's /usr/bin/python3 and python3-numpy.", file=sys.stderr)
    sys.exit(77)

root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
pause = 0.04      # seconds between two sides: threads of the one before have gone to sleep
shortest = 0.02   # seconds that a sample takes at least, by repetition
f32, i32, i64 = np.float32, np.int32, np.int64

# ---------------------------------------------------------------------------------------------------------------
# Rivals. Each is made of a case's arguments and a number of threads, and gives a function that runs it.


def c(name, *arguments, out=None):
    """A function of rivals.cpp; `out` are its results, where it returns none."""
    values = [a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else ctypes.c_int64(a) for a in arguments]
    function, kept = getattr(library, name), (arguments, out)

    def run():
        returned = function(*values)
        return returned if kept[1] is None else kept[1]
    return run


def unary(name, shape=(), dtype=f32, sizes=lambda x: [x.size]):
    """A function of x, a result and sizes."""
    def rival(a, threads):
        y = np.empty(shape, dtype)
        return c(name, a.x, y, *sizes(a.x), out=y)
    return rival


def top_k(name):
    def rival(a, threads):
        values, positions = np.empty(a.k, a.x.dtype), np.empty(a.k, i64)
        return c(name, a.x, values, positions, a.x.size, a.k, out=(values, positions))
    return rival


def few(k, rival):
    """The same for a number that the program states."""
    return lambda a, threads: rival(SimpleNamespace(x=a.x, k=k), threads)


def product(a, threads):
    return lambda: a.x.T @ a.y


def nonzero(a, threads):
    out = np.empty(a.m.size, i64)
    run = c("nonzero", a.m, out, a.m.size)
    return lambda: out[:run()]


def ragged(a, threads):
    y = np.empty(a.offsets.size - 1, f32)
    return c("ragged_sums", a.x, a.offsets, y, y.size, out=y)


def im2col(a, threads):
    (channels, h, w), o = a.x.shape, len(a.p)
    y, shifted = np.empty((o, h, w), f32), np.empty((channels * 9, h * w), f32)
    return c("convolution_im2col", a.x, a.p, y, shifted, channels, o, h, w, out=y)


class OneDnn:
    """Convolutions of one image, one after the other, in the layouts that oneDNN chooses."""

    def __init__(self, image):
        self.image, self.shapes = image, [image.shape, image.shape]
        self.net = library.net_new(*map(ctypes.c_int64, image.shape))

    def convolution(self, of, filters, bias, stride=1, relu=True, added=-1):
        o, _, k, _ = filters.shape
        filters, bias = np.ascontiguousarray(filters, f32), np.ascontiguousarray(bias, f32)
        self.shapes.append((o, *((n - 1) // stride + 1 for n in self.shapes[of][1:])))
        return c("net_convolution", self.net, of, filters, bias, o, k, stride, relu, added)()

    def run(self):
        y = np.empty(self.shapes[-1], f32)
        return c("net_run", self.net, self.image, y, out=y)


def onednn(a, threads):
    net = OneDnn(a.x)
    net.convolution(0, a.p, np.zeros(len(a.p)), relu=False)
    return net.run()


def resnet(a, threads):
    """Normalisations are part of the filters and biases that they follow."""
    net, p = OneDnn(a.images[0]), a.p

    def layer(of, p, i=..., **options):
        scale = p["norm"]["w"][i] / np.sqrt(p["norm"]["variance"][i] + a.eps)
        bias = p["norm"]["b"][i] - p["norm"]["mean"][i] * scale
        return net.convolution(of, p["filter"][i] * scale[:, None, None, None], bias, **options)

    x = layer(0, p["stem"])
    for i in range(len(p["wide"]["first"]["filter"])):
        x = layer(layer(x, p["wide"]["first"], i), p["wide"]["second"], i, added=x)
    skip = p["halve"]["skip"]
    around = net.convolution(x, skip[:, :, None, None], np.zeros(len(skip)), stride=2, relu=False)
    x = layer(layer(x, p["halve"]["first"], stride=2), p["halve"]["second"], added=around)
    for i in range(len(p["deep"]["first"]["filter"])):
        x = layer(layer(x, p["deep"]["first"], i), p["deep"]["second"], i, added=x)
    run = net.run()
    return lambda: run().mean(axis=(1, 2))[None] @ p["classifier"] + p["bias"]


def blocked_attention(keys_of, masked, rows=256):
    """Rows of queries against the keys that they may look at; each thread takes heads."""
    def rival(a, threads):
        library.set_threads(1)
        h, n, d = a.q.shape
        scale, pool = f32(1 / math.sqrt(d)), concurrent.futures.ThreadPoolExecutor(threads)
        blocks = []
        for i in range(0, n, rows):
            low, high = keys_of(i, i + rows, n)
            allowed = masked(np.arange(i, i + rows)[:, None], np.arange(low, high)[None])
            # The mask begins with the first column in which it forbids something.
            first = 0 if allowed is None or allowed.all() else int(np.argmin(allowed.all(axis=0)))
            hidden = None if allowed is None or allowed.all() else np.where(allowed, 0, -np.inf).astype(f32)[:, first:]
            blocks.append((slice(i, i + rows), slice(low, high), first, hidden))

        def head(q, k, v, out):
            for queries, keys, first, hidden in blocks:
                s = (q[queries] * scale) @ k[keys].T
                if hidden is not None:
                    s[:, first:] += hidden
                s -= s.max(axis=1, keepdims=True)
                np.exp(s, out=s)
                total = s.sum(axis=1, keepdims=True)
                np.divide(s @ v[keys], total, out=out[queries])

        def run():
            out = np.empty_like(a.q)
            list(pool.map(head, a.q, a.k, a.v, out))
            return out
        return run
    return rival


def window_loops(a, threads):
    out, (h, n, d) = np.empty_like(a.q), a.q.shape
    return c("window_attention", a.q, a.k, a.v, out, h, n, d, a.w, out=out)


def causal_heads(q, k, v):
    """[t, h, k] each; NumPy over all heads at once."""
    q, k, v = (np.ascontiguousarray(x.transpose(1, 0, 2)) for x in (q, k, v))
    s = (q * f32(1 / math.sqrt(q.shape[2]))) @ k.transpose(0, 2, 1)
    s += np.triu(np.full(s.shape[1:], -np.inf, f32), 1)
    s -= s.max(axis=2, keepdims=True)
    np.exp(s, out=s)
    out = (s @ v) / s.sum(axis=2, keepdims=True)
    return out.transpose(1, 0, 2).reshape(len(s[0]), -1)


def layers_of(stack):
    """The layers of a stack, each with arrays of its own."""
    def one(value, i):
        return {k: one(v, i) for k, v in value.items()} if isinstance(value, dict) else value[i]
    first = stack
    while isinstance(first, dict):
        first = next(iter(first.values()))
    return [one(stack, i) for i in range(len(first))]


def gpt2(a, threads):
    p, layers = a.p, layers_of(a.p["layers"])

    def norm(x, p):
        x = x - x.mean(axis=1, keepdims=True)
        x *= 1 / np.sqrt((x * x).mean(axis=1, keepdims=True) + a.eps)
        x *= p["w"]
        x += p["b"]
        return x

    def gelu(x):  # by exp, which NumPy has for vectors; tanh it has not
        return x / (1 + np.exp(f32(-2 * math.sqrt(2 / math.pi)) * (x + f32(0.044715) * (x * x * x))))

    def linear(x, p):
        x = x @ p["w"]
        x += p["b"]
        return x

    def run():
        x = p["tokens"][a.tokens] + p["positions"][:len(a.tokens)]
        for l in layers:
            q, k, v = np.split(linear(norm(x, l["norm1"]), l["qkv"]).reshape(len(x), 3 * a.h, -1), 3, axis=1)
            x = x + linear(causal_heads(q, k, v), l["out"])
            x += linear(gelu(linear(norm(x, l["norm2"]), l["up"])), l["down"])
        return norm(x, p["norm"]) @ p["tokens"].T
    return run


def moe(a, threads):
    """The rows of each expert are gathered, go through it, and are added where they came from."""
    p, layers = a.p, layers_of(a.p["layers"])

    def norm(x, w):
        return x * (1 / np.sqrt((x * x).mean(axis=1, keepdims=True) + a.eps)) * w

    def experts(x, l):
        scores, out = x @ l["router"], np.zeros_like(x)
        chosen = np.argsort(-scores, axis=1, kind="stable")[:, :a.top]
        best = np.take_along_axis(scores, chosen, 1)
        weights = np.exp(best - best[:, :1])
        weights /= weights.sum(axis=1, keepdims=True)
        for e in range(scores.shape[1]):
            rows, places = np.nonzero(chosen == e)
            if len(rows):
                y, w = x[rows], l["experts"]
                gate = y @ w["w1"][e]
                y = (gate / (1 + np.exp(-gate)) * (y @ w["w3"][e])) @ w["w2"][e]
                out[rows] += weights[rows, places, None] * y
        return out

    def run():
        x = p["embed"][a.tokens]
        for l in layers:
            y = norm(x, l["norm1"])
            q, k, v = ((y @ l[w]).reshape(len(x), a.h, -1) for w in ("wq", "wk", "wv"))
            x = x + causal_heads(q, k, v) @ l["wo"]
            x = x + experts(norm(x, l["norm2"]), l)
        return norm(x, p["norm"]) @ p["embed"].T
    return run


# ---------------------------------------------------------------------------------------------------------------
# Arguments.


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
# The cases. `program` is a file, or text whose entry is `run`; its parameter `p` holds the weights.

cases = {}


def case(name, program, arguments, entry="run", tolerance=1e-3, **rivals):
    cases[name] = SimpleNamespace(name=name, program=program, entry=entry, arguments=arguments, tolerance=tolerance,
                                  rivals=rivals, orders=None)


def orders(name, program, arguments, tolerance=1e-3, **axes):
    """`axes`: for each entry of the program, the orders of axes, as numbers, of its arguments and of its result;
    none: as they are. The first entry has all as they are drawn."""
    cases[name] = SimpleNamespace(name=name, program=program, entry=None, arguments=arguments, tolerance=tolerance,
                                  rivals={}, orders=axes)


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
case("gpt2-prefill", "examples/models/gpt2.axn", entry="logits", NumPy=gpt2, arguments={
    "p": gpt2_weights(4, 8192, 256, 512, 2048), "tokens": integers(256, 0, 8191, i32), "h": 8, "eps": 1e-5})
for entry, counts in {"sparse_logits": (1, 64, 512), "logits": (1, 64, 512)}.items():
    for m in counts:
        case(f"moe-{m}" + ("-all" if entry == "logits" else "-gather"), "examples/models/moe.axn", entry=entry,
             NumPy=moe, arguments={"p": moe_weights(2, 1024, 256, 4, 64, 8, 1024), "h": 4, "top": 2, "eps": 1e-5,
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
case("sum", "entry run (x : f32[n]) = sum x", large, loops=unary("total"))
case("argmax", "entry run (x : f32[n]) where n >= 1 = argmax x", large, loops=unary("argmax", (), i64))
case("norm", "entry run (x : f32[n]) = l2_norm x", large, loops=unary("norm"))
case("softmax-row", "entry run (x : f32[n]) = softmax x", {"x": normal(million)}, loops=unary("softmax_row", million))
case("softmax-rows", "entry run (x : f32[m, n]) = softmax x", {"x": normal(4096, 1024)},
     loops=unary("softmax_rows", (4096, 1024), sizes=np.shape))
for m, n, k in ((16, 24, million), (64, 64, million), (256, 256, 2**17)):
    case(f"deep-{m}-{n}", f"entry run (x : f32[k, {m}]) (y : f32[k, {n}]) = transpose x @ y",
         {"x": uniform(k, m), "y": uniform(k, n)}, NumPy=product)
case("transpose", "entry run (x : f32[m, n]) = transpose x", square, tolerance=0,
     loops=unary("transpose", (4096, 4096), sizes=np.shape))
case("column-sums", "entry run (x : f32[m, n]) = for j => sum i => x[i, j]", square,
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

# ---------------------------------------------------------------------------------------------------------------
# Measuring.


def compiled(program, entries, options, folder):
    """The bundle of some entries."""
    path = os.path.join(root, program) if program.endswith(".axn") else os.path.join(folder, "program.axn")
    if not program.endswith(".axn"):
        with open(path, "w") as file:
            file.write(program)
    bundle = os.path.join(folder, "program.axb")
    subprocess.run([options.etcc, "build", "--quiet", "--level", options.level, "-o", bundle, path,
                    *(f"--entry={entry}" for entry in entries)], check=True)
    return bundle


def native_level():
    with open("/proc/cpuinfo") as file:
        flags = file.read()
    return "x86-64-v4" if "avx512vl" in flags else "x86-64-v3" if "avx2" in flags else "x86-64-v2"


def ours(axon, bundle, entry, arguments, workers):
    """Runs an entry over and over. Nothing but the run itself is timed, so the results stay where they are."""
    model = axon.load(bundle, workers=workers)
    given = {k: v for k, v in arguments.items() if k != "p"}
    if "p" in arguments:
        model = model.bind(p=arguments["p"])
    entry = getattr(model, entry)
    sizes, leaves = entry._arguments((), dict(given))
    call, kept = entry._new_call(), []
    for name, value in sizes.items():
        axon._checked("axon_call_set_size", call.value, name.encode(), value)
    for index, (path, kind, elem, *_) in enumerate(entry._inputs):
        if path in leaves:
            view = axon._view_of(*entry._tensor(path, kind, elem, leaves[path]))
            axon._checked("axon_call_set_at", call.value, index, ctypes.byref(view))
            kept.append((view, model))

    def run():
        axon._checked("axon_call_run", call.value)

    def results():
        found = [entry._result(call.value, i, port, leaves) for i, port in enumerate(entry._results)]
        return found[0] if len(found) == 1 else tuple(found)
    return run, results, kept


def peak(run):
    """MiB that the process grows by while this runs for the first time, and what it returns."""
    def of(key):
        with open("/proc/self/status") as file:
            return int(file.read().split(key + ":")[1].split()[0]) / 1024
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = of("VmRSS")
    result = run()
    return of("VmHWM") - before, result


def difference(a, b):
    """Of two results, relative to the largest element; infinite where they differ in form, or in integers."""
    if isinstance(b, tuple):
        return max(map(difference, a, b)) if len(a) == len(b) else math.inf
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return math.inf
    if a.dtype.kind != "f":
        return 0.0 if np.array_equal(a, b) else math.inf
    gap = np.abs(a.astype(np.float64) - b).max(initial=0)
    return float(gap / max(np.abs(b).max(initial=0), 1e-30)) if np.isfinite(gap) else math.inf


def medians(runs, budget):
    """Milliseconds of each of several functions, in turns."""
    def timed(run, times):
        start = time.perf_counter()
        for _ in range(times):
            run()
        return (time.perf_counter() - start) / times
    once = [timed(run, 1) for run in runs]
    times = [max(1, math.ceil(shortest / max(t, 1e-7))) for t in once]
    cost = sum(pause + (k + (t < 0.5)) * t for t, k in zip(once, times))
    rounds = max(1, min(15, int(budget / cost)))
    samples = [[] for _ in runs]
    for _ in range(rounds):
        for run, t, k, found in zip(runs, once, times, samples):
            time.sleep(pause)
            if t < 0.5:
                run()  # wakes the threads
            found.append(timed(run, k))
    return [1000 * statistics.median(found) for found in samples]


def sides_with_rivals(case, bundle, axon, arguments, workers):
    """The functions to run, ours first, and the memory of each, after a look at their results."""
    run, results, kept = ours(axon, bundle, case.entry, arguments, workers)
    sides, memory = {"": run}, {"": peak(run)[0]}
    for name, rival in case.rivals.items():
        library.set_threads(workers)
        sides[name] = rival(SimpleNamespace(**arguments), workers)
        memory[name], expected = peak(sides[name])
        gap = difference(results(), expected)
        if not gap <= case.tolerance:
            raise ValueError(f"the result differs from that of {name} by {gap:.2g}")
    return sides, memory, kept


def sides_of_orders(case, bundle, axon, arguments, workers):
    sides, memory, kept, first = {}, {}, [], None
    for name, axes in case.orders.items():
        turned = {k: np.ascontiguousarray(v.transpose(axes[k])) if k in axes else v for k, v in arguments.items()}
        run, results, more = ours(axon, bundle, name, turned, workers)
        sides[name], memory[name] = run, peak(run)[0]
        kept.append(more)
        result = results()
        if "result" in axes:
            result = result.transpose(np.argsort(axes["result"]))
        first = result if first is None else first
        gap = difference(result, first)
        if not gap <= case.tolerance:
            raise ValueError(f"the result of {name} differs by {gap:.2g}")
    return sides, memory, kept


def measure(case, bundle, workers, seconds):
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.join(root, "runtime", "python"))
    import axon
    arguments = drawn(case.arguments, np.random.default_rng(1))
    make = sides_of_orders if case.orders else sides_with_rivals
    try:
        sides, memory, kept = make(case, bundle, axon, arguments, workers)
    except (axon.Error, ValueError) as error:
        print(f"{case.name:18} {workers:7} failed: {error}", flush=True)
        sys.exit(1)
    found = dict(zip(sides, medians(list(sides.values()), seconds)))
    mine = max(found, key=found.get) if case.orders else ""
    rival = min((name for name in found if case.orders or name), key=found.get)
    print(f"{case.name:18} {workers:7} {found[mine]:10.3f} {found[rival]:10.3f} {found[mine] / found[rival]:7.2f} "
          f"{memory[mine]:7.1f} {memory[rival]:7.1f}  {mine + ' : ' if mine else ''}{rival}", flush=True)


def give_up(reason):
    """With the status that says to CTest that a test is skipped."""
    print(reason, file=sys.stderr)
    sys.exit(77)


def compile_rivals(folder):
    global library
    path = os.path.join(folder, "librivals.so")
    done = subprocess.run(["g++", "-std=c++20", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC",
                           "-o", path, os.path.join(root, "tests", "bench", "rivals.cpp"), "-lopenblas", "-ldnnl"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        give_up(f"{done.stderr}\nThe rivals cannot be compiled: they need g++, libopenblas-dev and libdnnl-dev.")
    library = ctypes.CDLL(path)
    for name in ("net_new", "net_convolution", "nonzero"):
        getattr(library, name).restype = ctypes.c_int64
    np.ones((2, 2), f32) @ np.ones((2, 2), f32)
    with open("/proc/self/maps") as file:
        blas = {line.split()[-1] for line in file if "blas" in line}
    if any("openblas" not in path for path in blas) or len({p for p in blas if "libopenblas" in p}) != 1:
        give_up("NumPy has no OpenBLAS: run this with Debian's /usr/bin/python3, and install libopenblas-dev.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="a case, or a pattern such as 'conv-*'")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="and as many threads of the rival")
    parser.add_argument("--level", default=native_level(), help="instruction-set level of ours")
    parser.add_argument("--seconds", type=float, default=5, help="about how long a line may measure")
    parser.add_argument("--limit", type=float, default=300, help="seconds after which a line is given up")
    parser.add_argument("--build", default=os.path.join(root, "build"), help="folder of bin/etcc and lib")
    parser.add_argument("--list", action="store_true", help="the names of the cases")
    options = parser.parse_args()
    chosen = [one for name, one in cases.items() if any(fnmatch.fnmatch(name, it) for it in options.only or ["*"])]
    if options.list:
        print("\n".join(cases))
        return
    if not chosen:
        sys.exit("There is no such case; --list shows their names.")
    options.etcc = os.path.join(options.build, "bin", "etcc")
    os.environ.setdefault("AXON_LIBRARY", os.path.join(options.build, "lib", "libaxon_runtime.so"))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        compile_rivals(folder)
        with open("/proc/cpuinfo") as file:
            model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "CPU")
        print(f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, ours for {options.level}")
        print(f"{'case':18} workers    ours ms   rival ms   ratio    MiB   rival  rival, or slowest : fastest")
        for one in chosen:
            try:
                bundle = compiled(one.program, one.orders or [one.entry], options, folder)
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"{one.name:18}         failed: {error}", flush=True)
                failed += 1
                continue
            for workers in options.workers:  # each in a process of its own, whose memory is nobody else's
                child = multiprocessing.get_context("fork").Process(target=measure,
                                                                    args=(one, bundle, workers, options.seconds))
                child.start()
                child.join(options.limit)
                if child.is_alive():
                    child.kill()
                    child.join()
                    print(f"{one.name:18} {workers:7} takes more than {options.limit:g} s", flush=True)
                failed += child.exitcode != 0
    sys.exit(f"{failed} lines failed" if failed else 0)


if __name__ == "__main__":
    main()
