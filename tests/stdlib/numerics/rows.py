"""Functions of rows: reductions, norms, order, cumulative functions, losses, pools.

A reference takes a row, a list of Python floats, and gives a number or a list. Bounds: units in the last place of the
result, and units in the last place of the largest number that takes part, which is the second of a pair (value, scale)
where a reference gives one. None stands for a row of which nothing is said: where sums or squares overflow.
"""
import math
import random

from mpmath import mp, mpf

from kinds import Either, inf, nan


def has_nan(row):
    return any(math.isnan(v) for v in row)


def plain(row):
    return all(math.isfinite(v) for v in row)


def exact_sum(row):
    """In IEEE arithmetic where infinities take part, exactly otherwise."""
    return mp.fsum(map(mpf, row)) if plain(row) else sum(v for v in row if not math.isfinite(v))


def largest(row):
    return nan if has_nan(row) else max(row, default=-inf)


def smallest(row):
    return nan if has_nan(row) else min(row, default=inf)


def size(row):
    return max((abs(mpf(v)) for v in row if math.isfinite(v)), default=mpf(0))


def power(x):
    """e^x of an x up to 0: far out it counts nothing."""
    return mp.exp(max(mpf(x), mpf(-5000)))


def zero_or(value):
    return Either if not isinstance(value, tuple) and value == 0 else value


class Rows:
    """`expression` of x, an m by n tensor. `each`: units in the last place more for each number of the row, where every
    step rounds what came before. `fits(kind, row)`: whether the row is in the domain."""

    def __init__(self, expression, reference, units, around=(0, 0, 0), each=(0, 0, 0), fits=lambda kind, row: True, sizes=None,
                 result="same", order=False):
        self.expression, self.reference, self.units, self.around = expression, reference, units, around
        self.each, self.fits, self.sizes, self.result, self.order = each, fits, sizes, result, order


def sums_fit(kind, row):
    return not plain(row) or sum(abs(mpf(v)) for v in row) < kind.largest / 2


def squares_fit(kind, row):
    """Sums of squares overflow nowhere, and no square that counts underflows."""
    top = size(row)
    return not plain(row) or (top * top * max(len(row), 1) * 4 < kind.largest and (top == 0 or top * top > kind.normal * 4 ** kind.digits))


# ---- reductions ----

def total(row):
    return zero_or((exact_sum(row), sum(abs(mpf(v)) for v in row))) if plain(row) else exact_sum(row)


def product(row):
    if has_nan(row) or (any(math.isinf(v) for v in row) and any(v == 0 for v in row)):
        return nan
    value = mpf(1)
    for v in row:
        value *= mpf(v)
    return Either if value == 0 else value if mp.isfinite(value) else float(value)


def products_fit(kind, row):
    """Whatever the order, no partial product overflows or loses digits."""
    logs = [abs(mp.log(abs(mpf(v)), 2)) for v in row if v and math.isfinite(v)]
    return sum(logs) < -kind.least and (plain(row) or sum(logs) == 0)


def mean(row):
    if not row or has_nan(row):
        return nan
    value = exact_sum(row) / len(row)
    return (value, sum(abs(mpf(v)) for v in row) / len(row)) if plain(row) else value


def spread(row):
    """The variance, of ordinary numbers."""
    m = mp.fsum(map(mpf, row)) / len(row)
    return mp.fsum((mpf(v) - m) ** 2 for v in row) / len(row)


def variance(row):
    if not row or not plain(row):
        return nan
    return spread(row), size(row) ** 2 * mpf(2) ** -10


def deviation(row):
    if not row or not plain(row):
        return nan
    value = mp.sqrt(spread(row))
    return value, size(row)


def length(row):
    if has_nan(row):
        return nan
    return mp.sqrt(mp.fsum(mpf(v) ** 2 for v in row)) if plain(row) else inf


def first(row, better):
    """The first NaN, else the first position of what no other is better than."""
    for i, v in enumerate(row):
        if math.isnan(v):
            return i
    return min(range(len(row)), key=lambda i: (better(row[i]), i))


# ---- norms ----

def softmax(row):
    if has_nan(row) or largest(row) in (inf, -inf):
        return [nan] * len(row)
    top = mpf(largest(row))
    powers = [power(mpf(v) - top) if math.isfinite(v) else mpf(0) for v in row]
    return [(p / sum(powers), mpf(1)) if p else 0.0 for p in powers]


def softmax_or_zero(row):
    return [0.0] * len(row) if largest(row) == -inf else softmax(row)


def logsumexp(row):
    top = largest(row)
    if math.isnan(top) or math.isinf(top):
        return top
    return mpf(top) + mp.log(mp.fsum(power(mpf(v) - top) for v in row if math.isfinite(v))), max(abs(mpf(top)), mpf(1))


def log_softmax(row):
    top = largest(row)
    if math.isnan(top) or math.isinf(top):
        return [nan] * len(row)
    rest = mp.log(mp.fsum(power(mpf(v) - top) for v in row if math.isfinite(v)))
    return [(mpf(v) - top - rest, max(mpf(top) - mpf(v), mpf(1))) if math.isfinite(v) else -inf for v in row]


def standardized(eps):
    def reference(row):
        if not row or not plain(row):
            return [nan] * len(row)
        below = spread(row) + mpf(eps)
        if below == 0:  # 0 by 0
            return [nan] * len(row)
        m = mp.fsum(map(mpf, row)) / len(row)
        return [((mpf(v) - m) / mp.sqrt(below), max(size(row) / mp.sqrt(below), mpf(1))) for v in row]
    return reference


def rms(row):
    if not row or has_nan(row):
        return [nan] * len(row)
    if not plain(row):
        return [nan if math.isinf(v) else math.copysign(0.0, v) for v in row]
    below = mp.sqrt(mp.fsum(mpf(v) ** 2 for v in row) / len(row) + mpf(0.25))
    return [mpf(v) / below if v else v for v in row]


def unit(row):
    if has_nan(row):
        return [nan] * len(row)
    if not plain(row):
        return [nan if math.isinf(v) else math.copysign(0.0, v) for v in row]
    below = max(length(row), mpf(0.0009765625))
    return [mpf(v) / below if v else v for v in row]


# ---- order ----

def ascending(row):
    """Positions in ascending order, NaNs last, equal ones as they stand."""
    return sorted(range(len(row)), key=lambda i: (math.isnan(row[i]), 0 if math.isnan(row[i]) else row[i], i))


def descending(row):
    return sorted(range(len(row)), key=lambda i: (not math.isnan(row[i]), 0 if math.isnan(row[i]) else -row[i], i))


def ordered(row):
    return [row[i] for i in ascending(row)]


def rank(row):
    places = ascending(row)
    return [places.index(i) for i in range(len(row))]


def median(row):
    if has_nan(row):
        return nan
    y = ordered(row)
    a, b = y[(len(y) - 1) // 2], y[len(y) // 2]
    if a == b:
        return Either if a == 0 else a
    return zero_or((mpf(a) + mpf(b)) / 2) if plain([a, b]) else (a + b) / 2


def buckets(row):
    return [sum(edge <= v for edge in (-1.0, 0.0, 2.0)) for v in row]


# ---- along the row ----

def running(combine):
    def reference(row):
        out = []
        for i in range(len(row)):
            out.append(combine(row[:i + 1]))
        return out
    return reference


def frames_of(n, reference):
    return lambda row: [reference(row[i * n:i * n + n]) for i in range(len(row) // n)]


def soft_cross_entropy(row):
    """Against the targets 1, 0, 0, ...: the first logit counts alone."""
    value = log_softmax(row)[0]
    return (-value[0], value[1]) if isinstance(value, tuple) else -value


def difference(row):
    return [zero_or(mpf(b) - mpf(a)) if plain([a, b]) else b - a for a, b in zip(row, row[1:])]


def kl(row):
    """Of log probabilities, from those of a uniform distribution of four."""
    if has_nan(row) or inf in row:
        return None
    terms = [mp.exp(mpf(v)) * (mpf(v) + 2) if math.isfinite(v) else mpf(0) for v in row]
    return mp.fsum(terms), mp.fsum(abs(t) for t in terms) + 1


def logs_fit(kind, row):
    """exp of a number of the row neither overflows, nor is so small that its digits do not count."""
    return all(math.isnan(v) or -20 < v < 3 or v == -inf for v in row)


rows = [
    Rows("sum x", total, (1, 1, 1), (2, 2, 0.5), fits=sums_fit),
    Rows("prod x", product, (0, 0, 1), each=(1, 1, 0), fits=products_fit),
    Rows("maximum x", lambda r: zero_or(largest(r)), (0, 0, 0)),
    Rows("minimum x", lambda r: zero_or(smallest(r)), (0, 0, 0)),
    Rows("largest x", lambda r: zero_or(largest(r)), (0, 0, 0), sizes="some"),
    Rows("smallest x", lambda r: zero_or(smallest(r)), (0, 0, 0), sizes="some"),
    Rows("argmax x", lambda r: first(r, lambda v: -v), (0, 0, 0), sizes="some", result="integer"),
    Rows("argmin x", lambda r: first(r, lambda v: v), (0, 0, 0), sizes="some", result="integer"),
    Rows("mean x", mean, (2, 2, 3), (2, 2, 0.5), fits=sums_fit),
    Rows("variance x", variance, (6, 6, 8), (4, 4, 8), fits=squares_fit),
    Rows("standard_deviation x", deviation, (6, 6, 8), (2, 2, 4), fits=squares_fit),
    Rows("l2_norm x", length, (4, 4, 3), fits=squares_fit),
    Rows("softmax x", softmax, (8, 8, 6), (2, 2, 2)),
    Rows("attention.softmax_or_zero x", softmax_or_zero, (8, 8, 6), (2, 2, 2)),
    Rows("logsumexp x", logsumexp, (2, 2, 3), (6, 6, 4)),
    Rows("log_softmax x", log_softmax, (2, 2, 3), (6, 6, 4)),
    Rows("standardize 0.0 x", standardized(0), (8, 8, 12), (4, 4, 8), fits=squares_fit),
    Rows("layer_norm x (for (i < dim x 1) => 1.0) (for (i < dim x 1) => 0.0) 0.25", standardized(0.25),
         (8, 8, 12), (4, 4, 8), fits=squares_fit),
    Rows("rms_norm x (for (i < dim x 1) => 1.0) 0.25", rms, (5, 5, 6), fits=squares_fit),
    Rows("normalize 0.0009765625 x", unit, (5, 5, 6), fits=squares_fit),
    Rows("sort x", lambda r: [zero_or(v) for v in ordered(r)], (0, 0, 0), order=True),
    Rows("sort_order x", ascending, (0, 0, 0), result="integer", order=True),
    Rows("descending_order x", descending, (0, 0, 0), result="integer", order=True),
    Rows("rank x", rank, (0, 0, 0), result="integer", order=True),
    Rows("(let (values, at) = top_k (dim x 1) x in values)", lambda r: [zero_or(r[i]) for i in descending(r)], (0, 0, 0), order=True),
    Rows("(let (values, at) = top_k (dim x 1) x in at)", descending, (0, 0, 0), result="integer", order=True),
    Rows("median x", median, (1, 1, 2), sizes="some", order=True),
    Rows("bucket [-1.0, 0.0, 2.0] x", buckets, (0, 0, 0), result="integer"),
    Rows("cumulative_sum x", running(total), (1, 1, 1), (2, 2, 4), fits=sums_fit),
    Rows("cumulative_prod x", running(product), (0, 0, 0), each=(1, 1, 1), fits=products_fit),
    Rows("cumulative_max x", running(lambda r: zero_or(largest(r))), (0, 0, 0)),
    Rows("cumulative_min x", running(lambda r: zero_or(smallest(r))), (0, 0, 0)),
    Rows("max_pool1d 2 x", frames_of(2, lambda r: zero_or(largest(r))), (0, 0, 0)),
    Rows("pool.max1d 2 2 0 x", frames_of(2, lambda r: zero_or(largest(r))), (0, 0, 0), sizes="two"),
    Rows("pool.mean1d 2 2 0 x", frames_of(2, mean), (2, 2, 3), (2, 2, 0.5), fits=sums_fit, sizes="two"),
    Rows("pool.global_max1d x", lambda r: zero_or(largest(r)), (0, 0, 0)),
    Rows("pool.global_mean1d x", mean, (2, 2, 3), (2, 2, 0.5), fits=sums_fit),
    Rows("signal.difference x", difference, (0.5, 0.5, 1), sizes="some"),
    Rows("loss.soft_cross_entropy x (for (i < dim x 0) (j < dim x 1) => if j == 0 then 1.0 else 0.0)",
         soft_cross_entropy, (2, 2, 3), (6, 6, 4), sizes="some"),
    Rows("loss.kl_divergence x (for (i < dim x 0) (j < dim x 1) => -2.0)", kl, (6, 6, 8), (6, 6, 8), fits=logs_fit),
    Rows("loss.mean_absolute_error x (zeros_like x)", lambda r: mean([abs(v) for v in r]), (3, 3, 3), fits=sums_fit),
]


def columns(kind, n):
    """Rows of n numbers, for n = 4: infinities and NaNs in every company, zeros of both signs, ends of the format, ties,
    large offsets; for others a few."""
    generator = random.Random(n)
    if n == 0:
        return [[], []]
    def draw(scale, offset=0.0):
        return [kind.rounded(mpf(offset + scale * generator.gauss(0, 1))) for _ in range(n)]
    made = [draw(1), draw(100), draw(1e-3), draw(1, 300.0), draw(1, -300.0), [1.0] * n, [0.0] * n, [-0.0] * n, [-inf] * n, [inf] * n,
            [nan] * n, [kind.largest] * n, [-kind.largest] * n, [kind.tiny] * n, [kind.normal] * n]
    for special in (inf, -inf, nan, kind.largest, -kind.largest, kind.tiny, 0.0, -0.0):
        for i in {0, n // 2, n - 1}:
            made.append(draw(1))
            made[-1][i] = special
    if n == 4:
        made += [[inf, -inf, 0.0, 1.0], [nan, inf, 1.0, 2.0], [inf, nan, -inf, nan], [-inf, -inf, inf, inf], [3.0, 1.0, 3.0, 1.0],
                 [0.0, -0.0, 0.0, -0.0], [-1.0, -2.0, -3.0, -4.0], [kind.largest, -kind.largest, 1.0, 2.0], [-inf, 0.0, -inf, 1.0],
                 [kind.tiny, -kind.tiny, kind.tiny, -kind.tiny], [60.0, -60.0, 60.0, 59.0], [-5.0, -0.5, -inf, -0.1]]
    return [[kind.rounded(v) for v in row] for row in made]
