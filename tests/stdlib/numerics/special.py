"""Functions with more than one or two numbers or a row: each case has its own inputs and results.

Bounds as in pointwise.py, in units in the last place, and an absolute one in units in the last place of 1.
"""
from mpmath import mp, mpf

from kinds import Either, inf, nan


class Case:
    """`inputs`: path -> (element type, or None for the format at hand, axes, values)."""

    def __init__(self, kind, expression, inputs, want, units=(4, 4, 6), around=(0, 0, 0)):
        self.kind, self.expression, self.inputs, self.want = kind, expression, inputs, want
        self.units, self.around = units, around

    def parameters(self, kind):
        def typed(elem, axes):
            return (elem or kind.name) + (f"[{', '.join(map(str, axes))}]" if axes else "")
        return " ".join(f"({path} : {typed(elem, axes)})" for path, (elem, axes, _) in self.inputs.items())

    def values(self):
        return {path: (axes, [self.kind.rounded(v) if isinstance(v, float) else v for v in values])
                for path, (_, axes, values) in self.inputs.items()}

    def bound(self, column):
        return self.units[column], self.around[column] * 2 * self.kind.unit(1)


exact = (0, 0, 0)


def of(*values):
    return {"x": (None, [len(values)], [float(v) for v in values])}


def losses(kind):
    logits = {"x": (None, [2, 3], [0.0, -inf, 0.0, 512.0, 510.0, -inf]), "labels": ("i64", [2], [0, 1])}
    fine = [mp.log(2), mp.log1p(mp.exp(-2)) + 2]
    yield Case(kind, "loss.negative_log_likelihood x labels", logits, fine)
    yield Case(kind, "cross_entropy x labels", logits, [sum(fine) / 2])
    yield Case(kind, "loss.smoothed_cross_entropy 0.0 x labels", logits, fine)
    yield Case(kind, "loss.smoothed_cross_entropy 0.5 x labels", logits, [inf, inf])
    yield Case(kind, "loss.masked_cross_entropy 0 x labels", logits, [fine[1]])
    yield Case(kind, "loss.masked_cross_entropy (-1) x labels", {**logits, "labels": ("i64", [2], [-1, -1])}, [nan])
    yield Case(kind, "cross_entropy x labels", {**logits, "labels": ("i64", [2], [1, 0])}, [inf])
    yield Case(kind, "loss.huber 1.0 x [0.0]", of(inf), [inf])
    yield Case(kind, "loss.huber 1.0 x [0.0, 0.0]", of(0.5, -3.0), [(mpf("0.125") + mpf("2.5")) / 2])
    yield Case(kind, "mean_squared_error x [0.0, 0.0]", of(-inf, 1.0), [inf])
    yield Case(kind, "loss.cosine_similarity 0.0 x [4.0, 3.0]", of(3.0, 4.0), [mpf("0.96")])
    yield Case(kind, "loss.cosine_similarity 0.0000001 x [4.0, 3.0]", of(0.0, 0.0), [Either])
    yield Case(kind, "loss.cosine_embedding 0.5 x [4.0, 3.0] 1.0", of(0.0, 0.0), [1.0], exact)


def norms(kind):
    """Of long rows."""
    yield Case(kind, "mean x", of(*[100.0] * 3000), [100.0], (0, 0, 0))
    yield Case(kind, "mean x", of(*[1.0] * 70000), [1.0], (0, 0, 0))
    yield Case(kind, "variance x", of(*[200.0, -200.0] * 40), [40000.0], (0, 0, 1))
    yield Case(kind, "rms_norm x (for (i < 80) => 1.0) 0.0", of(*[200.0] * 80), [1.0] * 80)
    yield Case(kind, "standardize 0.0 x", of(*[200.0, -200.0] * 40), [1.0, -1.0] * 40)
    yield Case(kind, "instance_norm [x] [1.0] [0.0] 0.0", of(*[200.0, -200.0] * 40), [1.0, -1.0] * 40)


def attentions(kind):
    inputs = {"q": (None, [2, 1], [1.0, 1.0]), "k": (None, [2, 1], [0.0, 1.0]), "v": (None, [2, 1], [2.0, 4.0])}
    first, second = mpf(1) / (1 + mp.e), mp.e / (1 + mp.e)
    both = 2 * first + 4 * second
    yield Case(kind, "attention.masked [[false, false], [true, true]] q k v", inputs, [0.0, both])
    yield Case(kind, "attention.scored (causal 0) q k v", inputs, [2.0, both])
    yield Case(kind, "attention q k v", inputs, [both, both])
    yield Case(kind, "softmax (attention.window 1 (-1) (q @ transpose k)) @ v", inputs, [nan, 2.0])
    yield Case(kind, "attention q k v", {**inputs, "k": (None, [2, 1], [inf, 1.0])}, [nan, nan])
    yield Case(kind, "attention q k v", {**inputs, "k": (None, [2, 1], [-inf, 1.0])}, [4.0, 4.0])
    yield Case(kind, "position.alibi 0 [0.5] [q @ transpose k]", inputs, [0.0, 0.5, -0.5, 1.0])


def pools(kind):
    yield Case(kind, "pool.max1d 1 1 1 x", of(5.0, nan, -inf), [-inf, 5.0, nan, -inf, -inf], exact)
    yield Case(kind, "pool.mean1d 1 1 1 x", of(5.0, nan, -inf), [nan, 5.0, nan, -inf, nan], exact)
    yield Case(kind, "pool.mean1d 2 1 1 x", of(5.0, 1.0, inf), [5.0, 3.0, inf, inf], exact)
    yield Case(kind, "pool.max1d_ceil 2 2 0 x", of(-5.0, -1.0, -7.0), [-1.0, -7.0], exact)
    yield Case(kind, "pool.mean1d_ceil 2 2 0 x", of(-5.0, -1.0, -7.0), [-3.0, -7.0], exact)
    yield Case(kind, "pool.adaptive_max1d 2 x", of(-5.0, nan, -7.0), [nan, nan], exact)
    yield Case(kind, "pool.adaptive_mean1d 2 x", of(-5.0, 1.0, -inf), [-2.0, -inf], exact)


def others(kind):
    ends = {"a": (None, [], [kind.rounded(mpf("0.1"))]), "b": (None, [], [kind.rounded(mpf("0.7"))])}
    a, b = (v[2][0] for v in ends.values())
    yield Case(kind, "linspace a b 7", ends, [a + (mpf(b) - mpf(a)) * i / 6 for i in range(7)], (2, 2, 4))
    yield Case(kind, "(let y = linspace a b 7 in [y[0] - a, y[6] - b, lerp a b 0.0 - a, lerp a b 1.0 - b])", ends, [0.0] * 4, exact)
    ids = {**of(inf, -inf, nan, 3.0, 1.0), "ids": ("i64", [5], [0, 0, 1, 1, 2])}
    yield Case(kind, "scatter_add ids x [1.0, 1.0, 1.0, 5.0]", ids, [nan, nan, 2.0, 5.0], exact)
    yield Case(kind, "scatter_max ids x [1.0, 1.0, 1.0, 5.0]", ids, [inf, nan, 1.0, 5.0], exact)
    yield Case(kind, "select (any y || all y) x [0.0]", {**of(1.0), "y": ("bool", [0], [])}, [1.0], exact)
    yield Case(kind, "signal.smooth 0.5 x", of(1.0, -inf, inf), [0.5, -inf, nan], exact)
    yield Case(kind, "scatter mul 1.0 x [i64 1, 1] [2.0, 0.5]", of(3.0, inf), [3.0, inf], exact)


def tables(kind):
    """Functions that make f32: angles are rounded, so the bounds grow with them."""
    angle = [[(1000 + i) * mpf(10000) ** (-mpf(j) / 3) for j in range(3)] for i in range(4)]
    inputs = {"start": ("i64", [], [1000])}
    large = (0, 500, 500)
    yield Case(kind, "(let (c, s) = rope_table 4 3 start 10000.0 in c)", inputs, [[mp.cos(v) for v in row] for row in angle], exact, large)
    yield Case(kind, "(let (c, s) = rope_table 4 3 start 10000.0 in s)", inputs, [[mp.sin(v) for v in row] for row in angle], exact, large)
    yield Case(kind, "position.sinusoidal 4 3 start 10000.0", inputs,
               [[f(v) for v in row for f in (mp.sin, mp.cos)] for row in angle], exact, large)
    number = {"n": ("i64", [], [7])}
    turns = [2 * mp.pi * i / 7 for i in range(7)]
    yield Case(kind, "signal.hann n", number, [(1 - mp.cos(v)) / 2 for v in turns], exact, (0, 3, 3))
    yield Case(kind, "signal.hamming n", number, [mpf("0.54") - mpf("0.46") * mp.cos(v) for v in turns], exact, (0, 3, 3))
    yield Case(kind, "position.alibi_slopes n", {"n": ("i64", [], [8])}, [mpf(2) ** -(i + 1) for i in range(8)], exact)
    integers = {"y": ("i64", [6], [-7, -6, -1, 0, 1, 7])}
    yield Case(kind, "(for (i < 6) => cdiv y[i] 3)", integers, [-2.0, -2.0, 0.0, 0.0, 1.0, 3.0], exact)


def cases(kind):
    """Of all parts."""
    for part in (losses, norms, attentions, pools, others, tables):
        yield from part(kind)
