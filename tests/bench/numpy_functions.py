"""How fast recorded functions are beside NumPy, on arrays of 10^7 elements.

Each row is a function as one writes it for NumPy, called as it is and through `@axon.function`, in turns; the medians are
printed, and NumPy's over ours. Ours has --workers workers, NumPy's functions of elements have one thread. The results are
compared first. `floor` is the time in which this machine reads all arguments and writes all results once, measured as a
copy of as many bytes by NumPy: no program is faster than about a half of it, as it has two workers.

    PYTHONPATH=build/python python3 tests/bench/numpy_functions.py
    PYTHONPATH=build/python python3 tests/bench/numpy_functions.py --only "rows-*" --elements 1000000
"""
import argparse
import fnmatch
import statistics
import sys
import time

import numpy as np

import axon
from axon.record.function import together

ROWS = {}


def row(name, shape="flat", arrays=1, bounded=True):
    """A function of arrays of all elements in one axis, or in rows of 1,000. `bounded` says that it is to be three times as
    fast as NumPy; what NumPy does in one pass over its memory cannot be."""
    def add(function):
        ROWS[name] = (function, shape, arrays, bounded)
        return function
    return add


@row("chain")
def chain(x):
    return np.tanh(x) * 0.5 + np.sqrt(np.abs(x)) - x**2


@row("polynomial")
def polynomial(x):
    return ((0.5 * x + 1.0) * x - 2.0) * x + 0.25


@row("gelu")
def gelu(x):
    return 0.5 * x * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


@row("elu")
def elu(x):
    return np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1)


@row("distance", arrays=2)
def distance(x, y):
    return np.sqrt(x * x + y * y) / (1.0 + np.abs(x - y))


@row("clip-scale", arrays=2)
def clip_scale(x, y):
    return np.clip(x * 2.0 - y, -1.0, 1.0) * 0.5 + 0.5


@row("spread")
def spread(x):
    return ((x - x.mean()) ** 2).sum()


@row("std")
def std(x):
    return x.std()


@row("logsumexp")
def logsumexp(x):
    most = x.max()
    return np.log(np.exp(x - most).sum()) + most


@row("cosine", arrays=2)
def cosine(x, y):
    return (x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum())


@row("mean-abs", arrays=2)
def mean_abs(x, y):
    return np.abs(x - y).mean()


@row("rows-softmax", shape="rows")
def rows_softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@row("rows-normal", shape="rows")
def rows_normal(x):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-5)


@row("rows-logsumexp", shape="rows")
def rows_logsumexp(x):
    most = x.max(axis=1)
    return np.log(np.exp(x - most[:, None]).sum(axis=1)) + most


@row("columns-var", shape="rows")
def columns_var(x):
    return x.var(axis=0)


@row("sum", bounded=False)
def plain_sum(x):
    return x.sum()


@row("add", arrays=2, bounded=False)
def plain_add(x, y):
    return x + y


def medians(functions, budget):
    """Seconds of each, in turns."""
    samples = [[] for _ in functions]
    start = time.perf_counter()
    while not samples[-1] or (time.perf_counter() - start < budget and len(samples[-1]) < 25):
        for function, found in zip(functions, samples):
            before = time.perf_counter()
            function()
            found.append(time.perf_counter() - before)
    return [statistics.median(found) for found in samples]


def differ(found, expected):
    """Whether two results are too far apart for sums in another order."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    return np.abs(found - expected).max(initial=0) > 1e-3 * np.abs(expected).max(initial=1e-30)


def measured(name, dtype, function, arguments, budget):
    """The line of a row, and whether it is as fast as it is to be; None where it has another result."""
    original = function.__wrapped__
    expected = original(*arguments)
    if np.asarray(function(*arguments)).dtype != np.asarray(expected).dtype or differ(function(*arguments), expected):
        return f"{name:16} {dtype:8} has another result", None
    moved = sum(it.nbytes for it in arguments) + np.asarray(expected).nbytes
    source, target = np.ones(moved // 2, np.uint8), np.empty(moved // 2, np.uint8)
    ours, theirs, floor = medians([lambda: function(*arguments), lambda: original(*arguments),
                                   lambda: np.copyto(target, source)], budget)
    ratio = theirs / ours
    bounded = ROWS[name][3]
    line = f"{name:16} {dtype:8} {theirs * 1e3:10.2f} {ours * 1e3:10.2f} {ratio:8.2f} {floor * 1e3:9.2f}"
    return line + ("" if bounded else "   one pass of NumPy"), ratio >= 3 or not bounded


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="a row, or a pattern such as 'rows-*'")
    parser.add_argument("--elements", type=int, default=10**7)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=6, help="about how long a line may measure")
    options = parser.parse_args()
    random = np.random.default_rng(1)
    chosen = {name: it for name, it in ROWS.items() if any(fnmatch.fnmatch(name, only) for only in options.only or ["*"])}
    if not chosen:
        sys.exit(f"There is no such row; there are {', '.join(ROWS)}.")
    lines = []
    for name, (function, shape, arrays, _) in chosen.items():
        for dtype in ("float32", "float64"):
            sizes = (max(options.elements // 1000, 1), min(options.elements, 1000)) if shape == "rows" else options.elements
            lines.append((name, dtype, axon.function(function, workers=options.workers), sizes, arrays))
    together([(function, [np.ones((3, 5) if isinstance(sizes, tuple) else 5, dtype)] * arrays)
              for _, dtype, function, sizes, arrays in lines], workers=options.workers)
    print(f"{'row':16} {'type':8} {'NumPy ms':>10} {'ours ms':>10} {'ratio':>8} {'floor ms':>9}", flush=True)
    slow, wrong = [], 0
    for name, dtype, function, sizes, arrays in lines:
        line, fine = measured(name, dtype, function, [random.standard_normal(sizes).astype(dtype) for _ in range(arrays)],
                              options.seconds)
        print(line, flush=True)
        slow += [] if fine else [f"{name} {dtype}"]
        wrong += fine is None
    print(f"below 3: {', '.join(slow)}" if slow else "all that are to be are 3 times as fast")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
