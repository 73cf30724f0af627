"""Library functions, compiled, against NumPy in float64: each expected value is written from the definition, not from the library.

usage: test_numpy.py ETCC

One program with an entry per check is compiled once, for the least level (the other tests take the best); every check runs on several sizes. Tolerances: 1e-5 of the largest
expected number, 1e-4 where a recurrence or a large sum amplifies rounding, 1e-3 for whole models.
"""
import itertools
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import axon

etcc = sys.argv[1]
checks = []  # (name, source of the entry, function from a generator to (arguments, expected), tolerance, repetitions)


def check(source, tolerance=1e-5, repetitions=4):
    """The function below, given a random generator, returns the entry's arguments and what it should give."""
    def add(function):
        checks.append((function.__name__, source, function, tolerance, repetitions))
        return function
    return add


def normal(random, *shape):
    return random.standard_normal(shape).astype(np.float32)


def double(*arrays):
    return [np.asarray(array, np.float64) for array in arrays]


def size(random, low=1, high=9):
    return int(random.integers(low, high))


# ---- Convolution and pooling ----

def convolution(x, f, strides, paddings, dilations, groups=1):
    """[b, c, spatial...] by [o, c / groups, spatial...]."""
    x, f = double(x, f)
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in paddings])
    o, c, *kernel = f.shape
    extents = [(n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(x.shape[2:], dilations, kernel, strides)]
    out = np.zeros([x.shape[0], o, *extents])
    for at in itertools.product(*map(range, extents)):
        window = x[(slice(None), slice(None), *(slice(t * s, t * s + d * (k - 1) + 1, d)
                                                for t, s, d, k in zip(at, strides, dilations, kernel)))]
        for i in range(o):
            first = i // (o // groups) * c
            out[(slice(None), i, *at)] = (window[:, first:first + c] * f[i]).reshape(x.shape[0], -1).sum(-1)
    return out


def widening(x, f, strides, paddings, dilations, extras):
    """[b, c, spatial...] by [c, o, spatial...]: every input scatters its filter."""
    x, f = double(x, f)
    kernel = f.shape[2:]
    spans = [d * (k - 1) + 1 for d, k in zip(dilations, kernel)]
    full = [(n - 1) * s + span + e for n, s, span, e in zip(x.shape[2:], strides, spans, extras)]
    out = np.zeros([x.shape[0], f.shape[1], *full])
    for at in itertools.product(*map(range, x.shape[2:])):
        to = (slice(None), slice(None), *(slice(t * s, t * s + span, d)
                                          for t, s, span, d in zip(at, strides, spans, dilations)))
        out[to] += np.einsum("bc,co...->bo...", x[(slice(None), slice(None), *at)], f)
    return out[(slice(None), slice(None), *(slice(p, n - p) for p, n in zip(paddings, full)))]


@check("(x : f32[b, c, n]) (f : f32[o, c, k]) (s : i64) (p : i64) (d : i64)"
       " where k >= 1, s >= 1, p >= 0, d >= 1, d*(k - 1) + 1 <= n + 2*p = conv.conv1d s p d x f")
def conv1d(random):
    s, p, d, k = size(random, 1, 4), size(random, 0, 4), size(random, 1, 4), size(random, 1, 4)
    x, f = normal(random, 2, 3, d * (k - 1) + size(random)), normal(random, 2, 3, k)
    return dict(x=x, f=f, s=s, p=p, d=d), convolution(x, f, [s], [p], [d])


@check("(x : f32[b, c, h, w]) (f : f32[o, c, k, l]) where k >= 1, l >= 1, 2*k <= h + 3, l <= w + 4 ="
       " conv.conv2d (2, 1) (1, 2) (2, 1) x f")
def conv2d(random):
    k, l = size(random, 1, 4), size(random, 1, 4)
    x, f = normal(random, 2, 3, 2 * k + size(random, 0), l + size(random, 0)), normal(random, 4, 3, k, l)
    return dict(x=x, f=f), convolution(x, f, [2, 1], [1, 2], [2, 1])


@check("(x : f32[b, c, d, h, w]) (f : f32[o, c, j, k, l]) where j >= 1, k >= 1, l >= 1, j <= d, k <= h, l <= w ="
       " conv.conv3d (1, 2, 1) (0, 0, 1) (1, 1, 1) x f")
def conv3d(random):
    kernel = [size(random, 1, 3) for _ in range(3)]
    x, f = normal(random, 1, 2, *(k + size(random, 0, 3) for k in kernel)), normal(random, 3, 2, *kernel)
    return dict(x=x, f=f), convolution(x, f, [1, 2, 1], [0, 0, 1], [1, 1, 1])


@check("(x : f32[b, 3*c, h, w]) (f : f32[3*o, c, 2, 3]) where h >= 2, w >= 3 ="
       " conv.grouped2d[3] (1, 2) (1, 0) (1, 1) x f")
def grouped2d(random):
    c, o = size(random, 1, 4), size(random, 1, 4)
    x, f = normal(random, 2, 3 * c, 5, 7), normal(random, 3 * o, c, 2, 3)
    return dict(x=x, f=f), convolution(x, f, [1, 2], [1, 0], [1, 1], 3)


@check("(x : f32[b, c, n]) (f : f32[c, o, k]) (d : i64) (e : i64) where n >= 1, k >= 2, d >= 1, e >= 0 ="
       " conv.transposed1d 3 1 d e x f")
def transposed1d(random):
    c = size(random)
    x, f = normal(random, 2, c, size(random)), normal(random, c, size(random), size(random, 2, 6))
    d, e = size(random, 1, 4), size(random, 0, 3)
    return dict(x=x, f=f, d=d, e=e), widening(x, f, [3], [1], [d], [e])


@check("(x : f32[b, c, h, w]) (f : f32[c, o, k, l]) where h >= 1, w >= 1, k >= 2, l >= 1 ="
       " (conv.transposed2d (2, 1) (1, 0) (1, 1) (0, 0) x f, conv.transposed2d (2, 3) (0, 0) (3, 2) (1, 2) x f)")
def transposed2d(random):
    c = size(random)
    x, f = normal(random, 2, c, size(random), size(random)), normal(random, c, 3, size(random, 2, 5), size(random, 1, 4))
    return dict(x=x, f=f), (widening(x, f, [2, 1], [1, 0], [1, 1], [0, 0]),
                            widening(x, f, [2, 3], [0, 0], [3, 2], [1, 2]))


@check("(x : f32[b, c, d, h, w]) (f : f32[c, o, j, 2, 1]) where d >= 1, h >= 1, w >= 1, j >= 2 ="
       " conv.transposed3d (1, 2, 1) (1, 0, 0) (2, 1, 1) (0, 1, 0) x f")
def transposed3d(random):
    c = size(random, 1, 4)
    x, f = normal(random, 1, c, *(size(random, 1, 4) for _ in range(3))), normal(random, c, 2, size(random, 2, 4), 2, 1)
    return dict(x=x, f=f), widening(x, f, [1, 2, 1], [1, 0, 0], [2, 1, 1], [0, 1, 0])


def largest(x, axis):
    return np.max(x, axis, initial=-np.inf)


def average(x, axis):
    with np.errstate(invalid="ignore"):
        return np.sum(x, axis) / np.float64(x.shape[axis])


def pooled(x, windows, strides, paddings, ceil, combine):
    """Over the last axes; what is outside takes no part, and a window may lie there altogether."""
    x, = double(x)
    d = len(windows)
    axes = []
    for n, k, s, p in zip(x.shape[-d:], windows, strides, paddings):
        count = (math.ceil if ceil else math.floor)((n + 2 * p - k) / s) + 1
        while ceil and (count - 1) * s >= n + p:
            count -= 1
        axes.append([(max(t * s - p, 0), max(min(t * s - p + k, n), 0)) for t in range(count)])
    out = np.zeros([*x.shape[:-d], *map(len, axes)])
    for at in itertools.product(*(range(len(cells)) for cells in axes)):
        window = x[(..., *(slice(*cells[t]) for t, cells in zip(at, axes)))]
        out[(..., *at)] = combine(window.reshape(*x.shape[:-d], -1), -1)
    return out


@check("(x : f32[a, n]) (k : i64) (s : i64) (p : i64) where k >= 1, s >= 1, p >= 0, k <= n + 2*p, n >= 1 ="
       " (pool.max1d k s p x, pool.mean1d k s p x, pool.max1d_ceil k s p x, pool.mean1d_ceil k s p x)", repetitions=8)
def pools1d(random):
    k, s = size(random, 1, 5), size(random, 1, 5)
    p = size(random, 0, k + 3)
    x = normal(random, 3, k + size(random, 0))
    return dict(x=x, k=k, s=s, p=p), tuple(pooled(x, [k], [s], [p], ceil, f)
                                           for ceil in (False, True) for f in (largest, average))


@check("(x : f32[a, h, w]) where h >= 2, w >= 3 = (pool.max2d (2, 3) (1, 2) (1, 1) x, pool.mean2d (2, 3) (1, 2) (1, 1) x,"
       " pool.max2d_ceil (2, 3) (3, 2) (0, 1) x, pool.mean2d_ceil (2, 3) (3, 2) (0, 1) x,"
       " pool.max2d (2, 1) (1, 2) (3, 2) x, pool.mean2d (2, 1) (1, 2) (3, 2) x, pool.mean2d_ceil (2, 1) (3, 2) (4, 2) x)")
def pools2d(random):
    x = normal(random, 2, size(random, 2), size(random, 3))
    return dict(x=x), (pooled(x, [2, 3], [1, 2], [1, 1], False, largest), pooled(x, [2, 3], [1, 2], [1, 1], False, average),
                       pooled(x, [2, 3], [3, 2], [0, 1], True, largest), pooled(x, [2, 3], [3, 2], [0, 1], True, average),
                       pooled(x, [2, 1], [1, 2], [3, 2], False, largest), pooled(x, [2, 1], [1, 2], [3, 2], False, average),
                       pooled(x, [2, 1], [3, 2], [4, 2], True, average))


@check("(x : f32[d, h, w]) where d >= 2, h >= 2, w >= 2 = (pool.max3d (2, 1, 2) (1, 2, 1) (0, 0, 1) x,"
       " pool.mean3d (2, 1, 2) (1, 2, 1) (0, 0, 1) x, pool.mean3d_ceil (2, 1, 2) (3, 2, 1) (0, 0, 1) x,"
       " pool.mean3d (2, 1, 2) (1, 2, 1) (3, 1, 0) x, pool.mean3d_ceil (2, 1, 2) (1, 2, 3) (0, 2, 3) x)")
def pools3d(random):
    x = normal(random, *(size(random, 2, 6) for _ in range(3)))
    return dict(x=x), (pooled(x, [2, 1, 2], [1, 2, 1], [0, 0, 1], False, largest),
                       pooled(x, [2, 1, 2], [1, 2, 1], [0, 0, 1], False, average),
                       pooled(x, [2, 1, 2], [3, 2, 1], [0, 0, 1], True, average),
                       pooled(x, [2, 1, 2], [1, 2, 1], [3, 1, 0], False, average),
                       pooled(x, [2, 1, 2], [1, 2, 3], [0, 2, 3], True, average))


@check("(x : f32[a, n]) (m : i64) where n >= 1, m >= 1 = (pool.adaptive_max1d m x, pool.adaptive_mean1d m x)", repetitions=8)
def adaptive(random):
    n, m = size(random), size(random)
    x = normal(random, 2, n)
    cells = [slice(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]
    return dict(x=x, m=m), tuple(np.stack([f(x[:, cell], -1) for cell in cells], -1) for f in (np.max, np.mean))


# ---- Attention and positions ----

def softmax(x):
    with np.errstate(invalid="ignore"):
        e = np.exp(x - x.max(-1, keepdims=True))
    return np.nan_to_num(e / e.sum(-1, keepdims=True))


def attend(q, k, v, change=lambda scores: scores):
    q, k, v = double(q, k, v)
    return softmax(change(q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1]))) @ v


@check("(q : f32[b, m, d]) (k : f32[b, n, d]) (v : f32[b, n, e]) (mask : bool[m, n]) ="
       " (attention q k v, attention.masked mask q k v, attention.scored (attention.window 3 1) q k v,"
       " attention.scored (fn s => attention.softcap 2.0 s) q k v)")
def attentions(random):
    b, m, n, d = (size(random) for _ in range(4))
    q, k, v, mask = normal(random, b, m, d), normal(random, b, n, d), normal(random, b, n, 3), random.random((m, n)) < 0.5
    mask[0] = False  # a query that may look at nothing
    i, j = np.arange(m)[:, None] + 1, np.arange(n)
    near = (j <= i) & (i < j + 3)
    return dict(q=q, k=k, v=v, mask=mask), (
        attend(q, k, v), attend(q, k, v, lambda s: np.where(mask, s, -np.inf)),
        attend(q, k, v, lambda s: np.where(near, s, -np.inf)), attend(q, k, v, lambda s: 2 * np.tanh(s / 2)))


@check("(q : f32[2*g, m, d]) (k : f32[2, n, d]) (v : f32[2, n, e]) ="
       " attention.grouped (position.alibi 2 (position.alibi_slopes (2*g))) q k v")
def grouped_with_alibi(random):
    g, m, n, d = (size(random, 1, 5) for _ in range(4))
    q, k, v = normal(random, 2 * g, m, d), normal(random, 2, n, d), normal(random, 2, n, 3)
    slopes = 2.0 ** (-8 * np.arange(1, 2 * g + 1) / (2 * g))
    distance = np.abs(np.arange(m)[:, None] + 2 - np.arange(n))
    return dict(q=q, k=k, v=v), attend(q, k.repeat(g, 0), v.repeat(g, 0), lambda s: s - slopes[:, None, None] * distance)


@check("(x : f32[b, m, 2*c]) (pos : i64) where pos >= 0 = let (cosines, sines) = rope_table m c pos 100.0"
       " in (rope x cosines sines, position.rope_halves x cosines sines, position.sinusoidal m c pos 100.0)")
def rotations(random):
    m, c, pos = size(random), size(random), size(random, 0)
    x = normal(random, 2, m, 2 * c)
    angles = (pos + np.arange(m))[:, None] * 100.0 ** (-np.arange(c) / c)
    turn = np.exp(1j * angles)
    pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * turn
    halves = (x[..., :c] + 1j * x[..., c:]) * turn
    return dict(x=x, pos=pos), (np.stack([pairs.real, pairs.imag], -1).reshape(x.shape),
                                np.concatenate([halves.real, halves.imag], -1),
                                np.stack([np.sin(angles), np.cos(angles)], -1).reshape(m, 2 * c))


# ---- Recurrence ----

def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gate_weights(random, letters, d, e):
    """The record of a layer's weights: the fields wi, ui, bi of the gate i, and so on."""
    shapes = dict(w=(d, e), u=(e, e), b=(e,))
    return {kind + letter: normal(random, *shape) * np.float32(0.5) for letter in letters for kind, shape in shapes.items()}


def lstm_step(x, state, memory, p):
    i, f, o, g = (x @ p["w" + gate] + state @ p["u" + gate] + p["b" + gate] for gate in "ifoc")
    memory = sigmoid(f) * memory + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(memory), memory


@check("(x : f32[t, b, d]) (h : f32[b, e]) (c : f32[b, e]) (p : recurrent.Lstm[f32, d, e]) = recurrent.lstm x (h, c) p", 1e-4)
def lstm(random):
    t, b, d, e = (size(random) for _ in range(4))
    p = gate_weights(random, "ifoc", d, e)
    x, h, c = normal(random, t, b, d), normal(random, b, e), normal(random, b, e)
    (state, memory), outputs = double(h, c), []
    for row in x:
        state, memory = lstm_step(row, state, memory, p)
        outputs.append(state)
    return dict(x=x, h=h, c=c, p=p), ((state, memory), np.stack(outputs))


@check("(x : f32[t, b, d]) (h : f32[b, e]) (p : recurrent.Gru[f32, d, e]) = recurrent.gru x h p", 1e-4)
def gru(random):
    t, b, d, e = (size(random) for _ in range(4))
    p = gate_weights(random, "zrn", d, e)
    x, h = normal(random, t, b, d), normal(random, b, e)
    (state,), outputs = double(h), []
    for row in x:
        z, r = (sigmoid(row @ p["w" + gate] + state @ p["u" + gate] + p["b" + gate]) for gate in "zr")
        n = np.tanh(row @ p["wn"] + (r * state) @ p["un"] + p["bn"])
        state = (1 - z) * state + z * n
        outputs.append(state)
    return dict(x=x, h=h, p=p), (state, np.stack(outputs))


@check("(a : f32[d, k]) (steps : f32[t, d]) (x : f32[t, d]) (b : f32[t, k]) (c : f32[t, k]) (h : f32[d, k]) ="
       " recurrent.selective_scan a steps x b c h", 1e-4)
def selective_scan(random):
    t, d, k = (size(random) for _ in range(3))
    a, steps = -np.abs(normal(random, d, k)), np.abs(normal(random, t, d))
    x, b, c, h = normal(random, t, d), normal(random, t, k), normal(random, t, k), normal(random, d, k)
    state, outputs = double(h)[0], []
    for i in range(t):
        state = np.exp(steps[i][:, None] * a) * state + np.outer(steps[i] * x[i], b[i])
        outputs.append(state @ c[i])
    return dict(a=a, steps=steps, x=x, b=b, c=c, h=h), (state, np.stack(outputs))


@check("(q : f32[t, d]) (k : f32[t, d]) (v : f32[t, e]) (beta : f32[t]) (s : f32[d, e]) ="
       " (recurrent.linear_attention q k v s, recurrent.retention 0.5 q k v s, recurrent.delta_rule q k v beta s)", 1e-4)
def linear_attentions(random):
    t, d, e = (size(random, 1, 6) for _ in range(3))
    q, k, v = normal(random, t, d), normal(random, t, d) * np.float32(0.5), normal(random, t, e)
    beta, s = random.random(t).astype(np.float32), normal(random, d, e)

    def run(step):
        state, outputs = double(s)[0], []
        for i in range(t):
            state = step(state, i)
            outputs.append(q[i] @ state)
        return state, np.stack(outputs)
    return dict(q=q, k=k, v=v, beta=beta, s=s), (
        run(lambda state, i: state + np.outer(k[i], v[i])), run(lambda state, i: 0.5 * state + np.outer(k[i], v[i])),
        run(lambda state, i: state + beta[i] * np.outer(k[i], v[i] - k[i] @ state)))


# ---- Losses and norms ----

def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


@check("(x : f32[b, c]) (labels : i64[b]) (y : f32[b, c]) where c >= 1 ="
       " (cross_entropy x labels, loss.smoothed_cross_entropy 0.2 x labels, loss.soft_cross_entropy x (softmax y),"
       " loss.masked_cross_entropy 0 x labels, loss.kl_divergence (log_softmax x) (log_softmax y))")
def cross_entropies(random):
    b, c = size(random), size(random, 2)
    x, y, labels = normal(random, b, c), normal(random, b, c), random.integers(0, c, b)
    labels[0] = 1
    p, q = log_softmax(double(x)[0]), log_softmax(double(y)[0])
    own = -p[np.arange(b), labels]
    target = 0.8 * np.eye(c)[labels] + 0.2 / c
    return dict(x=x, labels=labels, y=y), (own.mean(), -(target * p).sum(-1), -(np.exp(q) * p).sum(-1),
                                           own[labels != 0].mean(), (np.exp(p) * (p - q)).sum(-1))


@check("(x : f32[b, n]) (y : f32[b, n]) (z : f32[b, n]) (s : f32[b]) = (loss.huber 0.5 x y, loss.mean_absolute_error x y,"
       " loss.hinge 1.0 x y, loss.cosine_similarity 0.01 x y, loss.contrastive 2.0 x y s, loss.triplet 0.3 x y z)")
def distances(random):
    b, n = size(random), size(random)
    x, y, z = (normal(random, b, n) for _ in range(3))
    s = random.integers(0, 2, b).astype(np.float32)
    u, v, w = double(x, y, z)
    d, length = np.abs(u - v), lambda a: np.sqrt((a * a).sum(-1))
    return dict(x=x, y=y, z=z, s=s), (
        np.where(d <= 0.5, d * d / 2, 0.5 * (d - 0.25)).mean(-1), d.mean(-1), np.maximum(0, 1 - u * v),
        (u * v).sum(-1) / (np.maximum(length(u), 0.01) * np.maximum(length(v), 0.01)),
        s * length(u - v) ** 2 + (1 - s) * np.maximum(0, 2 - length(u - v)) ** 2,
        np.maximum(0, length(u - v) - length(u - w) + 0.3))


@check("(x : f32[b, n]) (p : f32[b, n]) = (loss.binary_cross_entropy x p, loss.focal 2.0 x p)")
def binary(random):
    x = normal(random, 3, size(random)) * 3
    p = random.integers(0, 2, x.shape).astype(np.float32)
    u, = double(x)
    right = np.where(p == 1, sigmoid(u), sigmoid(-u))
    return dict(x=x, p=p), (-np.log(right), -np.log(right) * (1 - right) ** 2)


@check("(x : f32[b, d]) (y : f32[b, d]) = loss.contrastive_pairs 0.5 x y")
def contrastive_pairs(random):
    b, d = size(random), size(random)
    x, y = normal(random, b, d), normal(random, b, d)
    u, v = (a / np.linalg.norm(a, axis=-1, keepdims=True) for a in double(x, y))
    s = u @ v.T / 0.5
    return dict(x=x, y=y), -(np.diag(log_softmax(s)).mean() + np.diag(log_softmax(s.T)).mean()) / 2


@check("(x : f32[b, 2*k, n]) (w : f32[2*k]) (v : f32[2*k]) = (group_norm[2] x w v 0.1, instance_norm x w v 0.1,"
       " batch_norm x { mean = w, variance = v*v, w = v, b = w } 0.1, layer_norm x 2.0 1.0 0.1, rms_norm x 3.0 0.1)")
def norms(random):
    b, k, n = (size(random) for _ in range(3))
    x, w, v = normal(random, b, 2 * k, n), normal(random, 2 * k), normal(random, 2 * k)
    u, = double(x)

    def standard(a, axes):
        return (a - a.mean(axes, keepdims=True)) / np.sqrt(a.var(axes, keepdims=True) + 0.1)
    groups = standard(u.reshape(b, 2, k, n), (2, 3)).reshape(u.shape)
    W, V = w[:, None], v[:, None]
    return dict(x=x, w=w, v=v), (groups * W + V, standard(u, 2) * W + V, (u - W) / np.sqrt(V * V + 0.1) * V + W,
                                 standard(u, 2) * 2 + 1, 3 * u / np.sqrt((u * u).mean(-1, keepdims=True) + 0.1))


# ---- Signals ----

@check("(re : f32[b, n]) (im : f32[b, n]) where n >= 4 = (signal.dft re im, signal.inverse_dft re im, signal.power_spectrum re,"
       " signal.spectrogram (signal.hann 4) 2 re, signal.moving_mean 3 re)", 1e-4)
def spectra(random):
    n = size(random, 4, 40)
    re, im = normal(random, 2, n), normal(random, 2, n)
    u, v = double(re, im)
    forward, back = np.fft.fft(u + 1j * v), np.fft.ifft(u + 1j * v)
    framed = np.lib.stride_tricks.sliding_window_view(u, 4, -1)
    return dict(re=re, im=im), ((forward.real, forward.imag), (back.real, back.imag), np.abs(np.fft.rfft(u)) ** 2,
                                np.abs(np.fft.rfft(framed[:, ::2] * [0, 0.5, 1, 0.5])) ** 2,
                                np.lib.stride_tricks.sliding_window_view(u, 3, -1).mean(-1))


# ---- The prelude ----

@check("(x : f32[m, n]) = (sum x, prod x, mean x, variance x, standard_deviation x, l2_norm x, over_first sum x, over_two sum x,"
       " (argmax x, argmin x, largest x, smallest x, logsumexp x))")
def reductions(random):
    x = normal(random, size(random), size(random))
    u, = double(x)
    return dict(x=x), (u.sum(-1), u.prod(-1), u.mean(-1), u.var(-1), u.std(-1), np.sqrt((u * u).sum(-1)), u.sum(0), u.sum(),
                       (u.argmax(-1), u.argmin(-1), u.max(-1), u.min(-1), np.log(np.exp(u).sum(-1))))


@check("(x : f32[m, n]) = (cumulative_sum x, cumulative_prod x, cumulative_max x, cumulative_min x)")
def cumulative(random):
    x = normal(random, size(random), size(random))
    return dict(x=x), (np.cumsum(x, -1), np.cumprod(x, -1), np.maximum.accumulate(x, -1), np.minimum.accumulate(x, -1))


@check("(x : f32[n]) = (round (x * 2.5), truncate (x * 3.0), ceil x, floor x, log1p (abs x), expm1 x, tan x, sign x)")
def pointwise(random):
    x = normal(random, 50)
    return dict(x=x), (np.round(x * np.float32(2.5)), np.trunc(x * np.float32(3)), np.ceil(x), np.floor(x),
                       np.log1p(np.abs(x)), np.expm1(x), np.tan(x), np.sign(x))


@check("(x : f32[n]) = (leaky_relu 0.1 x, elu 1.5 x, silu x, hard_silu x, mish x, gelu x, softplus x, softsign x)")
def activations(random):
    x = normal(random, 50) * 3
    u, = double(x)
    erf = np.vectorize(math.erf)
    return dict(x=x), (np.where(u > 0, u, u / 10), np.where(u > 0, u, 1.5 * np.expm1(u)), u * sigmoid(u),
                       u * np.clip(u / 6 + 0.5, 0, 1), u * np.tanh(np.log1p(np.exp(u))), u * (1 + erf(u / math.sqrt(2))) / 2,
                       np.log1p(np.exp(u)), u / (1 + np.abs(u)))


@check("(x : f32[m, n]) (y : f32[m, n]) where n >= 3 = (pad 1 2 7.0 x, pad_edge 1 2 x, pad_reflect 2 1 x, pad_wrap 4 5 x,"
       " roll 2 x, roll (-5) x, flip x, tile 3 x, (repeat 2 x, concat x y, concat_last x y, stack x y, tril x, triu x,"
       " transpose x, kronecker x y))")
def moved(random):
    m, n = size(random), size(random, 3)
    x, y = normal(random, m, n), normal(random, m, n)

    def pad(before, after, mode, **how):
        return np.pad(x, [(0, 0), (before, after)], mode, **how)
    return dict(x=x, y=y), (pad(1, 2, "constant", constant_values=7), pad(1, 2, "edge"), pad(2, 1, "reflect"), pad(4, 5, "wrap"),
                            np.roll(x, 2, -1), np.roll(x, -5, -1), x[:, ::-1], np.tile(x, 3),
                            (x.repeat(2, -2), np.concatenate([x, y]), np.concatenate([x, y], -1), np.stack([x, y]),
                             np.tril(x), np.triu(x), x.T, np.kron(x, y)))


@check("(x : f32[m, n]) (ids : i32[k]) (along : i64[m, k]) = (take ids x, embedding x ids, take_along along x, one_hot ids m)")
def gathered(random):
    m, n, k = (size(random) for _ in range(3))
    x, ids, along = normal(random, m, n), random.integers(0, m, k).astype(np.int32), random.integers(0, n, (m, k))
    return dict(x=x, ids=ids, along=along), (x[ids], x[ids], np.take_along_axis(x, along, -1), np.eye(m)[ids])


# ---- Order and experts ----

@check("(x : f32[m, n + k]) (y : i64[p]) (k : i64) (z : f32[p, 3]) where k >= 0 ="
       " (sort x, sort_order x, top_k k x, histogram 5 y, scatter_add y z (for (i < 5) (j < 3) => 1.0), bucket [0.0, 1.0] x)")
def ordered(random):
    m, n, k = size(random), size(random), size(random, 0)
    x = random.integers(-3, 4, (m, n + k)).astype(np.float32)  # equal elements keep their order
    x[0, 0] = np.nan
    y, z = random.integers(0, 5, 7), normal(random, 7, 3)
    largest = np.stack([np.lexsort((np.arange(n + k), -np.where(np.isnan(row), np.inf, row))) for row in x])[:, :k]
    sums = np.ones((5, 3))
    np.add.at(sums, y, z)
    return dict(x=x, y=y, k=k, z=z), (np.sort(x, -1), np.argsort(x, -1, kind="stable"),
                                      (np.take_along_axis(x, largest, -1), largest), np.bincount(y, minlength=5), sums,
                                      np.where(np.isnan(x), 0, np.searchsorted([0, 1], x, "right")))


@check("(x : f32[n]) (k : i64) where 0 <= k, k <= n = (sort x, sort_order x, rank x, descending_order x, top_k k x)")
def ordered_many(random):
    n = size(random, 1000, 3000)
    x = random.integers(-99, 99, n).astype(np.float32)
    x[random.integers(0, n, 5)] = np.nan
    order = np.argsort(x, kind="stable")
    largest = np.lexsort((np.arange(n), -np.where(np.isnan(x), np.inf, x)))
    return dict(x=x, k=20), (np.sort(x), order, np.argsort(order), largest, (x[largest[:20]], largest[:20]))


@check("(x : f32[m, n]) = let kept = sum x > 0.0 in (nonzero kept, compress x kept)")
def chosen_by_the_data(random):
    x = normal(random, size(random), size(random))
    kept = np.sum(x, -1) > 0
    return dict(x=x), (np.nonzero(kept)[0], x[kept])


@check("(x : f32[t, d]) (router : f32[d, e]) (w1 : f32[e, d, f]) (w2 : f32[e, f, d]) (w3 : f32[e, d, f]) where 2 <= e ="
       " let p = { w1 = w1, w2 = w2, w3 = w3 } let scores = x @ router let (weights, ids) = routing.top_gates 2 scores in"
       " (ids, routing.by_all weights ids x p, routing.by_gather weights ids x p, routing.by_capacity t weights ids x p,"
       " routing.by_capacity 1 weights ids x p, routing.places e ids, routing.balance scores ids)", 1e-4)
def experts(random):
    t, d, f, e = size(random), size(random), size(random), size(random, 2)
    x, router = normal(random, t, d), normal(random, d, e)
    w1, w2, w3 = normal(random, e, d, f), normal(random, e, f, d), normal(random, e, d, f)
    scores = double(x @ router)[0]
    ids = np.argsort(-scores, -1, kind="stable")[:, :2]
    gates = softmax(np.take_along_axis(scores, ids, -1))
    places, seen = np.zeros_like(ids), np.zeros(e, int)
    full, short = np.zeros((t, d)), np.zeros((t, d))
    for i, row in enumerate(ids):
        for j, expert in enumerate(row):
            places[i, j], seen[expert] = seen[expert], seen[expert] + 1
            a = x[i] @ w1[expert]
            out = gates[i, j] * (a * sigmoid(a) * (x[i] @ w3[expert])) @ w2[expert]
            full[i] += out
            short[i] += out * (places[i, j] < 1)
    return dict(x=x, router=router, w1=w1, w2=w2, w3=w3), (
        ids, full, full, full, short, places, e * (seen / (2 * t) * softmax(scores).mean(0)).sum())


# ---- Whole models ----

models = {}  # name: function from a generator to (weights, entry, arguments, expected)


def model(function):
    models[function.__name__] = function
    return function


def tokens_of(random, vocabulary, *shape):
    return random.integers(0, vocabulary, shape).astype(np.int32)


def standardized(x, p, eps):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * p["w"] + p["b"]


def root_scaled(x, w, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w


def split_heads(x, h):
    return np.moveaxis(x.reshape(*x.shape[:-1], h, -1), -2, -3)


def joined_heads(x):
    x = np.moveaxis(x, -3, -2)
    return x.reshape(*x.shape[:-2], -1)


def causal(scores):
    m, n = scores.shape[-2:]
    return np.where(np.tril(np.ones((m, n), bool), n - m), scores, -np.inf)


def gelu(x):
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def each_layer(p, n):
    """The layers of a stack, one after the other."""
    def at(value, i):
        return {key: at(part, i) for key, part in value.items()} if isinstance(value, dict) else value[i].astype(np.float64)
    return [at(p, i) for i in range(n)]


def norm_weights(random, *shape):
    return dict(w=normal(random, *shape), b=normal(random, *shape))


def dense_weights(random, *shape):
    return dict(w=normal(random, *shape) * np.float32(0.3), b=normal(random, *shape[:-2], shape[-1]))


@model
def gpt2(random):
    n, v, s, h, k, f, m = 2, 13, 9, size(random, 1, 4), size(random, 1, 5), size(random), size(random)
    d = h * k
    p = dict(tokens=normal(random, v, d), positions=normal(random, s, d), norm=norm_weights(random, d),
             layers=dict(norm1=norm_weights(random, n, d), qkv=dense_weights(random, n, d, 3 * d),
                         out=dense_weights(random, n, d, d), norm2=norm_weights(random, n, d),
                         up=dense_weights(random, n, d, f), down=dense_weights(random, n, f, d)))
    tokens = tokens_of(random, v, m)
    x = double(p["tokens"][tokens] + p["positions"][:m])[0]
    for layer in each_layer(p["layers"], n):
        y = standardized(x, layer["norm1"], 0.01) @ layer["qkv"]["w"] + layer["qkv"]["b"]
        a = attend(*(split_heads(part, h) for part in np.split(y, 3, -1)), causal)
        x = x + joined_heads(a) @ layer["out"]["w"] + layer["out"]["b"]
        y = standardized(x, layer["norm2"], 0.01) @ layer["up"]["w"] + layer["up"]["b"]
        y = y * (1 + np.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y ** 3))) / 2
        x = x + y @ layer["down"]["w"] + layer["down"]["b"]
    return p, "logits", dict(tokens=tokens, eps=0.01, h=h), standardized(x, p["norm"], 0.01) @ p["tokens"].T


@model
def bert(random):
    n, v, s, c, h, k, f, b, m = 2, 13, 9, 2, size(random, 1, 4), size(random, 1, 5), size(random), 2, size(random, 2)
    d = h * k
    p = dict(tokens=normal(random, v, d), positions=normal(random, s, d), segments=normal(random, c, d),
             norm=norm_weights(random, d),
             layers=dict(norm1=norm_weights(random, n, d), norm2=norm_weights(random, n, d),
                         up=dense_weights(random, n, d, f), down=dense_weights(random, n, f, d),
                         **{part: dense_weights(random, n, d, d) for part in ("q", "k", "v", "out")}))
    tokens, segments = tokens_of(random, v, b, m), tokens_of(random, c, b, m)
    mask = np.arange(m) < np.array([[m], [m - 1]])
    x = standardized(double(p["tokens"][tokens] + p["segments"][segments] + p["positions"][:m])[0], p["norm"], 0.01)
    for layer in each_layer(p["layers"], n):
        q, key, value = (split_heads(x @ layer[part]["w"] + layer[part]["b"], h) for part in ("q", "k", "v"))
        a = attend(q, key, value, lambda scores: np.where(mask[:, None, None], scores, -np.inf))
        x = standardized(x + joined_heads(a) @ layer["out"]["w"] + layer["out"]["b"], layer["norm1"], 0.01)
        y = gelu(x @ layer["up"]["w"] + layer["up"]["b"]) @ layer["down"]["w"] + layer["down"]["b"]
        x = standardized(x + y, layer["norm2"], 0.01)
    weights = dict(p=p, pooler=dense_weights(random, d, d), classifier=dense_weights(random, d, 3),
                   head=dense_weights(random, d, d), head_norm=norm_weights(random, d))
    return weights, "encode", dict(tokens=tokens, segments=segments, mask=mask, eps=0.01, h=h), x


@model
def moe(random):
    n, v, h, k, e, f, m, d = 2, 13, size(random, 1, 4), size(random, 1, 5), size(random, 2), size(random), size(random), size(random)
    top = size(random, 1, e + 1)
    p = dict(embed=normal(random, v, d), norm=normal(random, d),
             layers=dict(norm1=normal(random, n, d), norm2=normal(random, n, d), router=normal(random, n, d, e),
                         wo=normal(random, n, h * k, d), **{part: normal(random, n, d, h * k) for part in ("wq", "wk", "wv")},
                         experts=dict(w1=normal(random, n, e, d, f), w2=normal(random, n, e, f, d), w3=normal(random, n, e, d, f))))
    tokens = tokens_of(random, v, m)
    x = double(p["embed"][tokens])[0]
    for layer in each_layer(p["layers"], n):
        y = root_scaled(x, layer["norm1"], 0.01)
        a = attend(*(split_heads(y @ layer[part], h) for part in ("wq", "wk", "wv")), causal)
        x = x + joined_heads(a) @ layer["wo"]
        y = root_scaled(x, layer["norm2"], 0.01)
        scores = y @ layer["router"]
        ids = np.argsort(-scores, -1, kind="stable")[:, :top]
        gates = softmax(np.take_along_axis(scores, ids, -1))
        out = np.zeros_like(x)
        for i in range(m):
            for gate, expert in zip(gates[i], ids[i]):
                hidden = y[i] @ layer["experts"]["w1"][expert]
                hidden = hidden * sigmoid(hidden) * (y[i] @ layer["experts"]["w3"][expert])
                out[i] += gate * hidden @ layer["experts"]["w2"][expert]
        x = x + out
    expected = root_scaled(x, p["norm"], 0.01) @ p["embed"].T
    return p, ("logits", "sparse_logits"), dict(tokens=tokens, eps=0.01, h=h, top=top), expected


@model
def lstm(random):
    n, v, d, t, b = 2, 13, size(random), size(random), size(random)
    layers = [gate_weights(random, "ifoc", d, d) for _ in range(n)]
    p = dict(embed=normal(random, v, d), classifier=normal(random, d, v), bias=normal(random, v),
             layers={key: np.stack([layer[key] for layer in layers]) for key in layers[0]})
    state = dict(h=normal(random, n, b, d), c=normal(random, n, b, d))
    tokens = tokens_of(random, v, t, b)
    h, c = double(state["h"], state["c"])
    outputs = []
    for row in tokens:
        x = double(p["embed"][row])[0]
        for i, layer in enumerate(layers):
            h[i], c[i] = lstm_step(x, h[i], c[i], layer)
            x = h[i]
        outputs.append(x.copy())
    return p, "logits", dict(state=state, tokens=tokens), (np.stack(outputs) @ p["classifier"] + p["bias"], dict(h=h, c=c))


# ---- Running them ----

class AgainstNumPy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        program, bundle = (Path(cls.directory.name, name) for name in ("program.axn", "program.axb"))
        imports = [f"import {name}" for name in ("attention", "conv", "loss", "pool", "position", "recurrent", "routing", "signal")]
        program.write_text("\n".join(imports + [f"entry check_{name} {source}" for name, source, *_ in checks]) + "\n")
        result = subprocess.run([etcc, "build", program, "--level", "x86-64-v2", "-o", bundle], capture_output=True, text=True, timeout=300)
        if result.returncode:
            raise RuntimeError(result.stdout + result.stderr)
        cls.bundle = axon.load(bundle)

    def compare(self, actual, expected, tolerance):
        if isinstance(expected, dict):
            self.assertEqual(set(actual), set(expected))
            for key, part in expected.items():
                self.compare(actual[key], part, tolerance)
            return
        if isinstance(expected, tuple):
            self.assertEqual(len(actual), len(expected))
            for a, e in zip(actual, expected):
                self.compare(a, e, tolerance)
            return
        expected = np.asarray(expected)
        self.assertEqual(np.shape(actual), expected.shape)
        finite = expected[np.isfinite(expected)]
        largest = max(1.0, np.abs(finite).max()) if finite.size else 1.0
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * largest)


def add_test(name, function, tolerance, repetitions):
    def test(self):
        for seed in range(repetitions):
            arguments, expected = function(np.random.default_rng(seed))
            shapes = {key: np.shape(value) or value for key, value in arguments.items() if not isinstance(value, (tuple, dict))}
            with self.subTest(seed=seed, **shapes):
                self.compare(getattr(self.bundle, f"check_{name}")(**arguments), expected, tolerance)
    setattr(AgainstNumPy, f"test_{name}", test)


for name, source, function, tolerance, repetitions in checks:
    add_test(name, function, tolerance, repetitions)


class Models(unittest.TestCase):
    compare = AgainstNumPy.compare


def add_model(name, function):
    def test(self):
        with tempfile.TemporaryDirectory() as directory:
            bundle = Path(directory, "model.axb")
            program = Path(__file__).resolve().parents[2] / "examples" / "models" / f"{name}.axn"
            subprocess.run([etcc, "build", program, "--level", "x86-64-v2", "-o", bundle], check=True, timeout=300)
            loaded = axon.load(bundle)
            for seed in range(3):
                weights, entries, arguments, expected = function(np.random.default_rng(seed))
                bound = loaded.bind(weights)
                for entry in (entries,) if isinstance(entries, str) else entries:
                    with self.subTest(seed=seed, entry=entry):
                        self.compare(getattr(bound, entry)(**arguments), expected, 1e-3)
    setattr(Models, f"test_{name}", test)


for name, function in models.items():
    add_model(name, function)
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
