"""The rivals of rivals.py: NumPy with OpenBLAS, oneDNN and plain C++.

In: a case's arguments and a number of threads. Out: a `Side` that is timed, or None where a rival has nothing of its
own to show. Weights `p` are in the rival's layout before anything is timed; what a rival does with other arrays, and
its reorders of them, is in its time. OpenBLAS has no such layout: it packs a matrix in every product. NumPy's own
functions run on one thread, so models have a second rival that gives each thread rows of them.
"""
import concurrent.futures
import ctypes
import math
import os
import subprocess
from types import SimpleNamespace

import numpy as np

f32, i64 = np.float32, np.int64
library = None  # of rivals.cpp and rivals_onednn.cpp, once it is loaded


class Missing(Exception):
    """What the rivals need and this machine has not."""


def load(folder, level, held):
    """Compiles the library for a level. Gives in words what the rivals run, which has to be what `held` asks."""
    global library
    here, path = os.path.dirname(os.path.abspath(__file__)), os.path.join(folder, "librivals.so")
    done = subprocess.run(["g++", "-std=c++20", "-O3", f"-march={level}", "-mtune=native",
                           "-mprefer-vector-width=512", "-ffast-math", "-fopenmp", "-shared", "-fPIC", "-o", path,
                           *(os.path.join(here, name) for name in ("rivals.cpp", "rivals_onednn.cpp")),
                           "-lopenblas", "-ldnnl"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"{done.stderr}\nThe rivals cannot be compiled: they need g++, libopenblas-dev and libdnnl-dev.")
    library = ctypes.CDLL(path)
    for name in ("nonzero", "graph_of_images", "graph_convolution", "graph_of_matmul", "graph_of_inner_product",
                 "graph_of_softmax", "graph_of_layer_norm", "graph_reorders", "threads_of_openmp",
                 "threads_of_openblas", "isa_of_onednn"):
        getattr(library, name).restype = ctypes.c_int64
    library.core_of_openblas.restype = ctypes.c_char_p
    np.ones((2, 2), f32) @ np.ones((2, 2), f32)
    with open("/proc/self/maps") as file:
        blas = {line.split()[-1] for line in file if "blas" in line}
    if any("openblas" not in path for path in blas) or len({p for p in blas if "libopenblas" in p}) != 1:
        raise Missing("NumPy has no OpenBLAS: run this with Debian's /usr/bin/python3, and install libopenblas-dev.")

    features = np.core._multiarray_umath.__cpu_features__
    core, isa = library.core_of_openblas().decode(), library.isa_of_onednn()
    beyond = [name for name in held.numpy_without if features.get(name)]
    if core.upper() != held.openblas or isa != held.onednn_isa or beyond:
        raise RuntimeError(f"The rivals are not held to {level}: OpenBLAS runs {core}, oneDNN {isa:#x}, NumPy "
                           f"{' '.join(beyond) or 'what it should'}.")
    best = [name for name in np.core._multiarray_umath.__cpu_dispatch__ if features.get(name)][-1:]
    return f"oneDNN {held.onednn}, OpenBLAS {core}, NumPy {' '.join(best) or 'SSE3'}, C++ -march={level}"


def set_threads(threads):
    """For what is made next. Raises ValueError where a rival gets another number than it asks for, as OMP_THREAD_LIMIT
    or an OpenBLAS without threads would have it."""
    library.set_threads(*map(ctypes.c_int64, (threads, threads)))
    openmp, blas = library.threads_of_openmp(), library.threads_of_openblas()
    if (openmp, blas) != (threads, threads):
        raise ValueError(f"OpenMP has {openmp} threads and OpenBLAS {blas}")


class Side:
    """`run` is timed; `bare` is the same without reorders, where it reorders. OpenBLAS takes `blas` threads, as many
    as the program has workers where nothing is said."""

    def __init__(self, run, bare=None, blas=None):
        self.run, self.bare, self.blas = run, bare, blas

    def ready(self, threads):
        """To be called before it runs, since other sides have other numbers."""
        library.set_threads(*map(ctypes.c_int64, (threads, self.blas or threads)))


def c(name, *arguments, out=None):
    """A function of the library; `out` are its results, where it returns none."""
    values = [a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else
              ctypes.c_float(a) if isinstance(a, float) else ctypes.c_int64(a) for a in arguments]
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


def nonzero(a, threads):
    out = np.empty(a.m.size, i64)
    run = c("nonzero", a.m, out, a.m.size)
    return lambda: out[:run()]


def ragged(a, threads):
    y = np.empty(a.offsets.size - 1, f32)
    return c("ragged_sums", a.x, a.offsets, y, y.size, out=y)


def norm_loops(name):
    """A function of x, weights, a result, sizes and eps."""
    def rival(a, threads):
        y, weights = np.empty_like(a.x), a.p.values() if isinstance(a.p, dict) else [a.p]
        return c(name, a.x, *weights, y, *a.x.shape, a.eps, out=y)
    return rival


def im2col(a, threads):
    (*images, channels, h, w), o = a.x.shape, len(a.p)
    y, shifted = np.empty((*images, o, h, w), f32), np.empty((channels * 9, h * w), f32)
    run = c("convolution_im2col", a.x, a.p, y, shifted, math.prod(images), channels, o, h, w, out=y)
    return Side(run, blas=1)


def floor(kind, x):
    """Reads the bytes of x, or copies them, and does nothing else."""
    if kind == "read":
        return c("read_all", x, x.nbytes)
    y = np.empty_like(x)
    return c("copy_all", x, y, x.nbytes, out=y)


# ---------------------------------------------------------------------------------------------------------------
# Products of matrices x [m, k] and w [k, n]: w is a weight `p`, an argument, or the sum of two arguments.


def sgemm(a, threads):
    w = getattr(a, "w", getattr(a, "p", None))
    (m, k), n = a.x.shape, w.shape[1]
    y = np.empty((m, n), f32)
    return c("sgemm", a.x, w, y, m, k, n, out=y)


def sgemm_of_sum(a, threads):
    (m, k), n = a.x.shape, a.w.shape[1]
    y, temporary = np.empty((m, n), f32), np.empty((k, n), f32)
    return Side(c("sgemm_of_sum", a.x, a.w, a.u, temporary, y, m, k, n, out=y), blas=1)


def graph_side(graph, x, w, y):
    """A run of a graph of rivals_onednn.cpp; `w` is 0 where it has all but x."""
    bare = c("graph_bare", graph, out=y) if c("graph_reorders", graph)() else None
    return Side(c("graph_run", graph, x, w, y, out=y), bare)


def stored(name):
    """A product by weights that oneDNN lays out beforehand."""
    def rival(a, threads):
        (m, k), n = a.x.shape, a.p.shape[1]
        sizes = (m, k, n, 1, 0) if name == "graph_of_matmul" else (m, k, n)
        return graph_side(c(name, a.p, *sizes)(), a.x, 0, np.empty((m, n), f32))
    return rival


def given(choose, turned=False):
    """A product by an argument, `w` or `y`: in row-major order, or in the layout that oneDNN chooses, which is worth a
    look where it is another. `turned`: x is [k, m]."""
    def rival(a, threads):
        x, w = a.x.T if turned else a.x, a.y if turned else a.w
        (m, k), n = x.shape, w.shape[1]
        graph = c("graph_of_matmul", 0, m, k, n, choose, turned)()
        return None if choose and not c("graph_reorders", graph)() else graph_side(graph, a.x, w, np.empty((m, n), f32))
    return rival


def of_sum(rival):
    """A product by the sum of w and u, which each run computes first."""
    def summed(a, threads):
        temporary = np.empty_like(a.w)
        add = c("add", a.w, a.u, temporary, a.w.size, out=temporary)
        side = rival(SimpleNamespace(x=a.x, w=temporary), threads)
        if side is None:
            return None

        def after_add(run):
            return run and (lambda: (add(), run())[1])
        return Side(after_add(side.run), after_add(side.bare))
    return summed


def product(a, threads):
    return lambda: a.x.T @ a.y


def cumulative(a, threads):
    y = np.empty_like(a.x)
    return lambda: np.cumsum(a.x, axis=1, out=y)


# ---------------------------------------------------------------------------------------------------------------
# oneDNN.


class OneDnn:
    """Convolutions of one image, or several, one after the other, in the layouts that oneDNN chooses."""

    def __init__(self, images):
        self.images, self.shapes = images, [images.shape]
        self.graph = c("graph_of_images", math.prod(images.shape[:-3]), *images.shape[-3:])()

    def convolution(self, of, filters, bias, stride=1, relu=True, added=-1):
        o, _, k, _ = filters.shape
        filters, bias = np.ascontiguousarray(filters, f32), np.ascontiguousarray(bias, f32)
        *images, _, h, w = self.shapes[of]
        self.shapes.append((*images, o, (h - 1) // stride + 1, (w - 1) // stride + 1))
        return c("graph_convolution", self.graph, of, filters, bias, o, k, stride, relu, added)()

    def side(self):
        return graph_side(self.graph, self.images, 0, np.empty(self.shapes[-1], f32))


def onednn(a, threads):
    net = OneDnn(a.x)
    net.convolution(0, a.p, np.zeros(len(a.p)), relu=False)
    return net.side()


def onednn_softmax(a, threads):
    return graph_side(c("graph_of_softmax", *a.x.shape)(), a.x, 0, np.empty_like(a.x))


def onednn_layer_norm(a, threads):
    graph = c("graph_of_layer_norm", a.p["w"], a.p["b"], *a.x.shape, a.eps)()
    return graph_side(graph, a.x, 0, np.empty_like(a.x))


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
    convolutions = net.side()

    def classified(run):
        return run and (lambda: run().mean(axis=(1, 2))[None] @ p["classifier"] + p["bias"])
    return Side(classified(convolutions.run), classified(convolutions.bare))


# ---------------------------------------------------------------------------------------------------------------
# Attention and models.


def blocked_attention(keys_of, masked, rows=256):
    """Rows of queries against the keys that they may look at; each thread takes heads."""
    def rival(a, threads):
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
        return Side(run, blas=1)
    return rival


def window_loops(a, threads):
    out, (h, n, d) = np.empty_like(a.q), a.q.shape
    return c("window_attention", a.q, a.k, a.v, out, h, n, d, a.w, out=out)


def whole(part, *arrays):
    return part(*arrays)


def in_parts(model):
    """The same with rows, or heads, shared out to threads that take a thread of OpenBLAS each."""
    def rival(a, threads):
        if threads == 1:
            return None
        pool = concurrent.futures.ThreadPoolExecutor(threads)

        def parts(part, *arrays):
            n = len(arrays[0])
            ends = sorted({n * t // threads for t in range(threads + 1)})
            found = pool.map(lambda i, j: part(*(x[i:j] for x in arrays)), ends, ends[1:])
            return np.concatenate(list(found))
        return Side(model(a, threads, parts), blas=1)
    return rival


def causal(q, k, v, split):
    """[t, h, k] each."""
    def heads(q, k, v):
        s = (np.ascontiguousarray(q) * f32(1 / math.sqrt(q.shape[2]))) @ np.ascontiguousarray(k).transpose(0, 2, 1)
        s += np.triu(np.full(s.shape[1:], -np.inf, f32), 1)
        s -= s.max(axis=2, keepdims=True)
        np.exp(s, out=s)
        return (s @ np.ascontiguousarray(v)) / s.sum(axis=2, keepdims=True)
    return split(heads, *(x.transpose(1, 0, 2) for x in (q, k, v))).transpose(1, 0, 2).reshape(len(q), -1)


def layers_of(stack):
    """The layers of a stack, each with arrays of its own."""
    def one(value, i):
        return {k: one(v, i) for k, v in value.items()} if isinstance(value, dict) else value[i]
    first = stack
    while isinstance(first, dict):
        first = next(iter(first.values()))
    return [one(stack, i) for i in range(len(first))]


def gpt2(a, threads, split=whole):
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

    def project(x, heads, l):
        x = x + linear(heads, l["out"])
        x += linear(gelu(linear(norm(x, l["norm2"]), l["up"])), l["down"])
        return x

    def run():
        x = p["tokens"][a.tokens] + p["positions"][:len(a.tokens)]
        for l in layers:
            projected = split(lambda x: linear(norm(x, l["norm1"]), l["qkv"]), x)
            heads = causal(*np.split(projected.reshape(len(x), 3 * a.h, -1), 3, axis=1), split)
            x = split(lambda x, heads: project(x, heads, l), x, heads)
        return split(lambda x: norm(x, p["norm"]) @ p["tokens"].T, x)
    return run


def moe(a, threads, split=whole):
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

    beside = [np.concatenate([l[w] for w in ("wq", "wk", "wv")], axis=1) for l in layers]

    def project(x, heads, l):
        x = x + heads @ l["wo"]
        return x + experts(norm(x, l["norm2"]), l)

    def run():
        x = p["embed"][a.tokens]
        for l, queries_keys_values in zip(layers, beside):
            projected = split(lambda x: norm(x, l["norm1"]) @ queries_keys_values, x)
            heads = causal(*np.split(projected.reshape(len(x), 3 * a.h, -1), 3, axis=1), split)
            x = split(lambda x, heads: project(x, heads, l), x, heads)
        return split(lambda x: norm(x, p["norm"]) @ p["embed"].T, x)
    return run


