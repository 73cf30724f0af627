"""Functions of one and of two elements: what each gives at infinities and zeros, and a reference for all other numbers.

Bounds are in units in the last place: for f64, for f32 and for the 16-bit formats. Of those, the interpreter rounds after
every operator; compiled code computes in f32 and rounds what it stores.
"""
import math

from mpmath import mp, mpf

from kinds import Either, inf, nan


class Unary:
    """`expression` of x. `at`: what it gives at inf, -inf, 0 and -0. `grows`: units in the last place more at x, where a
    rounding in the argument of a power shows; `tiny`: in units of the least number, where something on the way is
    denormal; `around`: in units in the last place of 1, where something on the way is near 1."""

    def __init__(self, expression, reference, at, units, grows=None, tiny=0, around=0):
        self.expression, self.reference, self.units, self.around = expression, reference, units, around
        self.at = dict(zip(("inf", "-inf", "0.0", "-0.0"), at))
        self.grows = grows or (lambda x: 0)
        self.tiny = tiny

    def want(self, x):
        if math.isnan(x):
            return nan
        return self.at[str(x)] if math.isinf(x) or x == 0 else self.reference(mpf(x))


def within(x, end=5000):
    """Where powers of e overflow or underflow in every format, further out changes nothing."""
    return max(min(x, mpf(end)), -mpf(end))


exact = (0, 0, 0)
once = (0.5, 0.5, 1)


def sigmoid(x):
    x = within(x)
    return mp.exp(x) / (1 + mp.exp(x)) if x < 0 else 1 / (1 + mp.exp(-x))


def with_sign_of(x, value):
    return math.copysign(0.0, x) if value == 0 else value


def rounded_half_even(x):
    return with_sign_of(x, mp.nint(x))


def tanh_softplus(x):
    e = mp.exp(-abs(within(x)))
    return e * (e + 2) / (e * (e + 2) + 2) if x < 0 else (1 + 2 * e) / (1 + 2 * e + 2 * e * e)


def tanh_gelu_argument(x):
    return 2 * mp.sqrt(2 / mp.pi) * (x + mpf("0.044715") * x ** 3)


def clipped(x, low, high):
    return min(max(x, mpf(low)), mpf(high))


def root(x):
    return mp.sqrt(x) if x > 0 else nan


def logarithm(x):
    return mp.log(x) if x > 0 else nan


selu_scale, selu_a = mpf("1.0507009873554804934193349852946"), mpf("1.6732632423543772848170429916717")

unary = [
    # primitives
    Unary("neg x", lambda x: -x, (-inf, inf, -0.0, 0.0), exact),
    Unary("abs x", abs, (inf, inf, 0.0, 0.0), exact),
    Unary("exp x", lambda x: mp.exp(within(x)), (inf, 0.0, 1.0, 1.0), (1, 1, 1)),
    Unary("exp2 x", lambda x: mpf(2) ** within(x), (inf, 0.0, 1.0, 1.0), (1, 1, 1)),
    Unary("log x", logarithm, (inf, nan, -inf, -inf), (1, 2, 1)),
    Unary("sin x", mp.sin, (nan, nan, 0.0, -0.0), (2, 2, 1)),
    Unary("cos x", mp.cos, (nan, nan, 1.0, 1.0), (2, 2, 1)),
    Unary("atan x", mp.atan, (mp.pi / 2, -mp.pi / 2, 0.0, -0.0), (2, 2, 1)),
    Unary("tanh x", lambda x: mp.tanh(within(x)), (1.0, -1.0, 0.0, -0.0), (2, 2, 1)),
    Unary("erf x", lambda x: mp.erf(within(x, 100)), (1.0, -1.0, 0.0, -0.0), (2, 2, 1)),
    Unary("sqrt x", root, (inf, nan, 0.0, -0.0), once),
    Unary("rsqrt x", lambda x: 1 / mp.sqrt(x) if x > 0 else nan, (0.0, nan, inf, -inf), (1.5, 1.5, 1)),
    Unary("floor x", mp.floor, (inf, -inf, 0.0, -0.0), exact),
    # prelude.elementwise
    Unary("square x", lambda x: x * x, (inf, inf, 0.0, 0.0), once),
    Unary("reciprocal x", lambda x: 1 / x, (0.0, -0.0, inf, -inf), once),
    Unary("sign x", lambda x: mp.sign(x), (1.0, -1.0, 0.0, -0.0), exact),
    Unary("ceil x", lambda x: with_sign_of(x, mp.ceil(x)), (inf, -inf, 0.0, -0.0), exact),
    Unary("round x", rounded_half_even, (inf, -inf, 0.0, -0.0), exact),
    Unary("truncate x", lambda x: with_sign_of(x, mp.floor(x) if x > 0 else mp.ceil(x)), (inf, -inf, 0.0, -0.0), exact),
    Unary("clip (-2.0) 6.0 x", lambda x: clipped(x, -2, 6), (6.0, -2.0, 0.0, -0.0), exact),
    Unary("lerp 3.0 (-1.5) x", lambda x: 3 - mpf("4.5") * x, (-inf, inf, 3.0, 3.0), (2, 2, 2),
          grows=lambda x: 2 / max(abs(3 - 4.5 * float(x)), 2.0 ** -53) if abs(x) < 2 else 1),
    Unary("log1p x", lambda x: mp.log1p(x) if x > -1 else -inf if x == -1 else nan, (inf, nan, 0.0, -0.0), (3, 4, 3)),
    Unary("expm1 x", lambda x: mp.expm1(within(x)), (inf, -1.0, 0.0, -0.0), (4, 4, 4)),
    Unary("tan x", mp.tan, (nan, nan, 0.0, -0.0), (4, 4, 2)),
    # prelude.activation
    Unary("relu x", lambda x: max(x, mpf(0)) if x > 0 else Either, (inf, 0.0, Either, Either), exact),
    Unary("leaky_relu 0.5 x", lambda x: x if x > 0 else x / 2, (inf, -inf, 0.0, -0.0), once),
    Unary("elu 1.5 x", lambda x: x if x > 0 else mpf("1.5") * mp.expm1(within(x)), (inf, -1.5, 0.0, -0.0), (4, 5, 5)),
    Unary("selu x", lambda x: selu_scale * (x if x > 0 else selu_a * mp.expm1(within(x))),
          (inf, -selu_scale * selu_a, 0.0, -0.0), (5, 6, 6)),
    Unary("sigmoid x", sigmoid, (1.0, 0.0, 0.5, 0.5), (3, 3, 2)),
    Unary("hard_sigmoid x", lambda x: clipped(x + 3, 0, 6) / 6 if x > -3 else Either, (1.0, 0.0, 0.5, 0.5), (1, 1, 1),
          grows=lambda x: 4 / max(float(x) + 3, 2.0 ** -53) if -3 < x < 0 else 0),
    Unary("hard_tanh x", lambda x: clipped(x, -1, 1), (1.0, -1.0, 0.0, -0.0), exact),
    Unary("silu x", lambda x: x * sigmoid(x), (inf, -0.0, 0.0, -0.0), (5, 5, 4)),
    Unary("hard_silu x", lambda x: x * clipped(x + 3, 0, 6) / 6 if x > -3 else -0.0, (inf, -0.0, 0.0, -0.0),
          (2, 2, 2), grows=lambda x: 4 / max(float(x) + 3, 2.0 ** -53) if -3 < x < 0 else 0),
    Unary("mish x", lambda x: x * tanh_softplus(x), (inf, -0.0, 0.0, -0.0), (6, 6, 6)),
    Unary("gelu x", lambda x: x * mp.erfc(within(-x / mp.sqrt(2), 100)) / 2, (inf, -0.0, 0.0, -0.0), (5, 5, 4),
          around=8),
    Unary("gelu_tanh x", lambda x: x * sigmoid(tanh_gelu_argument(x)), (inf, -0.0, 0.0, -0.0), (6, 6, 6),
          grows=lambda x: 3 * abs(float(tanh_gelu_argument(x))) if -40 < x < 0 else 0),
    Unary("softplus x", lambda x: max(x, mpf(0)) + mp.log1p(mp.exp(-abs(within(x)))), (inf, 0.0, mp.log(2), mp.log(2)),
          (5, 5, 4)),
    Unary("softsign x", lambda x: x / (1 + abs(x)), (1.0, -1.0, 0.0, -0.0), (1.5, 1.5, 1.5)),
    # attention and loss
    Unary("attention.softcap 2.0 x", lambda x: 2 * mp.tanh(within(x / 2)), (2.0, -2.0, 0.0, -0.0), (3, 3, 2), tiny=1),
    Unary("zeros_like x", lambda x: mpf(0), (0.0, 0.0, 0.0, 0.0), exact),
]
# Of a NaN it is no NaN.
not_of_nan = {"zeros_like x"}


# ---- two elements ----

def finite(*values):
    return all(math.isfinite(v) for v in values)


def ieee(reference, special):
    """A reference for finite numbers, and Python's floats, which are IEEE's, for others."""
    return lambda *v: reference(*map(mpf, v)) if finite(*v) else special(*v)


def divided(x, y):
    if y == 0 or not finite(x, y):
        if math.isnan(x) or math.isnan(y) or (x == 0 and y == 0) or (math.isinf(x) and math.isinf(y)):
            return nan
        sign = math.copysign(1, x) * math.copysign(1, y)
        return math.copysign(inf, sign) if y == 0 or math.isinf(x) else math.copysign(0.0, sign)
    return mpf(x) / mpf(y) if x else math.copysign(0.0, math.copysign(1, x) * math.copysign(1, y))


def product(x, y):
    return x * y if not finite(x, y) or x == 0 or y == 0 else mpf(x) * mpf(y)


def total(x, y):
    return x + y if not finite(x, y) or x == -y else mpf(x) + mpf(y)


def remainder(x, y):
    """Of the division that rounds down, with the sign of the divisor: NumPy's."""
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return nan
    if math.isinf(y):
        return x if x and (x < 0) == (y < 0) else math.copysign(0.0, y) if x == 0 else y
    # Exact: both are integers over a power of two.
    a, b = (v.as_integer_ratio() for v in (x, y))
    rest = (a[0] * b[1]) % (b[0] * a[1])
    return mpf(rest) / (a[1] * b[1]) if rest else math.copysign(0.0, y)


def power(x, y):
    if x == 1 or y == 0:
        return 1.0
    if math.isnan(x) or math.isnan(y):
        return nan
    odd = finite(y) and y == math.floor(y) and abs(y) < 2.0 ** 53 and int(y) % 2 == 1
    sign = -1.0 if odd and math.copysign(1, x) < 0 else 1.0
    if x == 0 or math.isinf(x) or math.isinf(y):
        if abs(x) == 1:
            return 1.0
        return sign * inf if (abs(x) > 1) == (y > 0) else sign * 0.0
    if x < 0 and y != math.floor(y):
        return nan
    exponent = mpf(y) * mp.log(abs(mpf(x)))
    if abs(exponent) > 2000:
        return sign * (mpf("1e800") if exponent > 0 else mpf("1e-800"))
    return sign * mp.power(abs(mpf(x)), mpf(y))


def smaller(x, y):
    return nan if math.isnan(x) or math.isnan(y) else Either if x == y == 0 else min(x, y)


def larger(x, y):
    return nan if math.isnan(x) or math.isnan(y) else Either if x == y == 0 else max(x, y)


def cross_entropy(x, y):
    """Of a finite logit and a probability."""
    if not finite(x, y) or not 0 <= y <= 1:
        return None
    x, y = mpf(x), mpf(y)
    return x * (1 - y if x > 0 else -y) + mp.log1p(mp.exp(-abs(within(x))))


def focal(x, y):
    if not finite(x, y) or not 0 <= y <= 1:
        return None
    p, q = sigmoid(mpf(x)), sigmoid(-mpf(x))
    return (p * (1 - mpf(y)) + q * mpf(y)) ** 2 * cross_entropy(x, y)


def hinge(x, y):
    """With a margin of 1, where nothing overflows: y * x is rounded before it is subtracted."""
    if not finite(x, y) or abs(mpf(x) * mpf(y)) > 1e4 or 1 <= mpf(x) * mpf(y):
        return None
    return 1 - mpf(x) * mpf(y)


class Binary:
    def __init__(self, expression, reference, units, grows=None, tiny=0):
        self.expression, self.reference, self.units = expression, reference, units
        self.grows, self.tiny = grows or (lambda x, y: 0), tiny


binary = [
    Binary("x + y", total, once),
    Binary("x - y", lambda x, y: total(x, -y), once),
    Binary("x * y", product, once),
    Binary("x / y", divided, once),
    Binary("x % y", remainder, (0.5, 0.5, 1)),
    Binary("min x y", smaller, exact),
    Binary("max x y", larger, exact),
    Binary("pow x y", power, (1, 1, 1)),
    Binary("select (x < y) 1.0 0.0", lambda x, y: float(x < y), exact),
    Binary("select (x <= y) 1.0 0.0", lambda x, y: float(x <= y), exact),
    Binary("select (x > y) 1.0 0.0", lambda x, y: float(x > y), exact),
    Binary("select (x >= y) 1.0 0.0", lambda x, y: float(x >= y), exact),
    Binary("select (x == y) 1.0 0.0", lambda x, y: float(x == y), exact),
    Binary("select (x != y) 1.0 0.0", lambda x, y: float(x != y), exact),
    Binary("select (is_nan x) 1.0 0.0", lambda x, y: float(math.isnan(x)), exact),
    Binary("select (is_finite x) 1.0 0.0", lambda x, y: float(math.isfinite(x)), exact),
    Binary("select (xor (x < y) (y < 0.0)) 1.0 0.0", lambda x, y: float((x < y) != (y < 0)), exact),
    Binary("select (x < y && y < 0.0) 1.0 0.0", lambda x, y: float(x < y and y < 0), exact),
    Binary("select (x < y || not (y < 0.0)) 1.0 0.0", lambda x, y: float(x < y or not y < 0), exact),
    Binary("loss.binary_cross_entropy x y", cross_entropy, (6, 6, 6)),
    Binary("loss.focal 2.0 x y", focal, (12, 12, 12), tiny=1),
    Binary("loss.hinge 1.0 x y", hinge, (1, 1, 1),
           grows=lambda x, y: 2 * (1 + abs(x * y)) / max(abs(1 - x * y), 2.0 ** -53)),
]


def pairs(kind):
    """Every pair of special values, integers to powers, and pairs of ordinary numbers."""
    some = [0.0, 1.0, 0.5, 2.0, 3.0, 9.0, 1.5, kind.tiny, kind.normal, kind.largest, 2.0 ** -kind.digits, 100.0, inf]
    some = [p for s in some for p in (s, -s)] + [nan]
    made = [(x, y) for x in some for y in some]
    made += [(float(b), float(e)) for b in range(2, 40) for e in (2, 3, 4, 5, 7, 10, 0.5, -1, -2)]
    points = [p for p in kind.points() if abs(p) < 1e6 or math.isnan(p)]
    made += [(x, points[(7 * i) % len(points)]) for i, x in enumerate(points)]
    made += [(x, abs(points[(11 * i + 5) % len(points)]) % 1.0) for i, x in enumerate(points)]
    return [(x, y) for x, y in made if kind.rounded(x) == x or math.isnan(x) if kind.rounded(y) == y or math.isnan(y)]
