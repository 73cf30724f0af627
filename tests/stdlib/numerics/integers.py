"""Integers at the ends of their types, and conversions: exact, or nearest."""
import math

from kinds import inf, nan, kinds

widths = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u32": 32}


def low(t):
    return 0 if t[0] == "u" else -2 ** (widths[t] - 1)


def high(t):
    return low(t) + 2 ** widths[t] - 1


def wrapped(t, value):
    return (value - low(t)) % 2 ** widths[t] + low(t)


def numbers(t):
    some = [low(t), low(t) + 1, high(t), high(t) - 1, 0, 1, 2, 3, 7, 10, 100, -1, -2, -3, -7, -100, high(t) // 2 + 1, low(t) // 2]
    return list(dict.fromkeys(v for v in some if low(t) <= v <= high(t)))


# ---- one and two integers ----

of_one = [("neg x", lambda x: -x), ("abs x", abs), ("square x", lambda x: x * x), ("min x 5", lambda x: min(x, 5)),
          ("max x 5", lambda x: max(x, 5)), ("zeros_like x", lambda x: 0), ("clip 2 9 x", lambda x: min(max(x, 2), 9))]
of_two = [("x + y", lambda x, y: x + y), ("x - y", lambda x, y: x - y), ("x * y", lambda x, y: x * y),
          ("min x y", min), ("max x y", max), ("select (x < y) 1 0", lambda x, y: x < y),
          ("select (x <= y) 1 0", lambda x, y: x <= y), ("select (x == y) 1 0", lambda x, y: x == y)]
divisions = [("x / y", lambda x, y: x // y), ("x % y", lambda x, y: x % y)]  # of y != 0

# ---- rows ----


def running(combine):
    return lambda row: [combine(row[:i + 1]) for i in range(len(row))]


def ascending(row):
    return sorted(range(len(row)), key=lambda i: (row[i], i))


def descending(row):
    return sorted(range(len(row)), key=lambda i: (-row[i], i))


of_rows = [("sum x", sum), ("prod x", math.prod), ("largest x", max), ("smallest x", min),
           ("argmax x", lambda r: r.index(max(r))), ("argmin x", lambda r: r.index(min(r))),
           ("cumulative_sum x", running(sum)), ("cumulative_prod x", running(math.prod)),
           ("cumulative_max x", running(max)), ("cumulative_min x", running(min)),
           ("bucket [2, 5] x", lambda r: [(v >= 2) + (v >= 5) for v in r])]
of_ordered_rows = [("sort x", sorted), ("sort_order x", ascending), ("descending_order x", descending),
                   ("rank x", lambda r: [ascending(r).index(i) for i in range(len(r))]),
                   ("(let (values, at) = top_k 2 x in values)", lambda r: sorted(r, reverse=True)[:2]),
                   ("(let (values, at) = top_k 2 x in at)", lambda r: descending(r)[:2])]


def rows(t):
    values = numbers(t)
    return [[values[(3 * i + 5 * j) % len(values)] for j in range(4)] for i in range(len(values))] + [[low(t)] * 4, [high(t)] * 4]


# ---- conversions ----

def of_float(t, x):
    """What is dropped of a float is its fraction; what is too large becomes the nearest, NaN 0."""
    if t == "bool":
        return int(x != 0)
    if math.isnan(x):
        return 0
    return low(t) if x <= low(t) else high(t) if x >= high(t) else math.trunc(x)


def floats(kind):
    """Around the ends of every integer type, halves, and what is no number."""
    ends = [e + d for t in widths for e in (low(t), high(t)) for d in (-1, -0.5, 0, 0.5, 1)]
    ends += [0.5, 0.99, 1.5, 2.5, 1e10, 1e20, kind.largest, kind.tiny, 2.0 ** 52 + 0.5, 2.0 ** 62]
    points = [kind.rounded(float(v)) for v in ends]
    return [p for v in dict.fromkeys(points) if not math.isinf(v) for p in (v, -v)] + [0.0, -0.0, inf, -inf, nan]


def between_floats(kind):
    """Doubles around the ties of a narrower format, closer than a float is."""
    made = []
    for base in (1.0, 1.5, 3.0, 1000.0, kind.normal, kind.tiny, kind.tiny * 2.5, kind.largest):
        unit = float(kind.unit(base))
        for at in (base + unit / 2, base - unit / 2, base * (1 + 1e-9), base + unit / 4):
            made += [at, math.nextafter(at, inf), math.nextafter(at, 0.0), at * (1 + 1e-13), at * (1 - 1e-13)]
    return [v for a in made if abs(a) <= kinds["f64"].largest for v in (a, -a)] + [0.0, -0.0, inf, -inf, nan]


def close_integers(t):
    """Around what f32 and f64 cannot tell apart."""
    around = [2 ** b + d for b in (11, 12, 24, 25, 30, 53, 54, 62) for d in (-1, 0, 1, 3)] + [2 ** 24 + 2 ** 0, 2 ** 60 + 2 ** 36 + 1]
    around += [2 ** 60 + more + d for more in (2 ** 52, 2 ** 53, 3 * 2 ** 52) for d in (-1, 0, 1)]  # ties of bf16
    return [v for a in around + numbers(t) for v in (a, -a) if low(t) <= v <= high(t)]
