"""Float formats, and how far a result is from a value in higher precision.

A reference gives a Python float or an mpf: -0.0, infinities and NaN as floats, everything else exactly or in 40 digits.
"""
import math
import random

from mpmath import mp, mpf

mp.dps = 40
inf, nan = math.inf, math.nan


class Kind:
    """f64, f32, f16 or bf16: `digits` of mantissa, exponents of normal numbers from `least` on."""

    def __init__(self, name, digits, least, largest):
        self.name, self.digits, self.least, self.largest = name, digits, least, largest
        self.tiny = math.ldexp(1.0, least - digits + 1)
        self.normal = math.ldexp(1.0, least)
        self.half = name in ("f16", "bf16")

    def unit(self, value):
        """One unit in the last place of numbers of this size."""
        value = abs(mpf(value))
        exponent = int(mp.frexp(value)[1]) - 1 if value else self.least
        return mp.ldexp(1, max(exponent, self.least) - self.digits + 1)

    def rounded(self, value):
        """The nearest number of the format, as a float."""
        if isinstance(value, float) and (math.isinf(value) or math.isnan(value) or value == 0):
            return value
        unit = self.unit(value)
        nearest = float(mp.nint(mpf(value) / unit) * unit)
        return math.copysign(inf, nearest) if abs(nearest) > self.largest else nearest

    def points(self):
        """Where functions are looked at: both zeros, the ends of the format, the tails of exponentials, ties of
        roundings, and numbers of every size."""
        generator = random.Random(1)
        sizes = [self.tiny, 3 * self.tiny, self.normal - self.tiny, self.normal, self.largest, self.largest / 2,
                 2.0 ** -self.digits, 1 - 2.0 ** -self.digits, 1.0, 1 + 2.0 ** (1 - self.digits), 0.1, 0.5, 1.5, 2.0, 2.5,
                 3.0, 3.5, 2.0 ** self.digits, 2.0 ** (self.digits - 1) - 0.5, 2.0 ** (self.digits - 1) + 1]
        sizes += [5, 6, 7, 9, 10, 11, 12, 13, 13.5, 15, 16, 17, 18, 20, 30, 36, 40, 50, 80, 86, 87, 87.5, 88, 89, 90, 100,
                  103, 103.5, 104, 105, 150, 175, 206, 209, 300, 500, 700, 709, 710, 740, 745, 746, 750, 1000, 1500, 65504, 65520]
        sizes += [generator.uniform(0, 3) for _ in range(20)] + [generator.uniform(0, 100) for _ in range(20)]
        low, high = math.log2(self.tiny), math.log2(self.largest)
        sizes += [2.0 ** generator.uniform(low, high) for _ in range(20)]
        sizes += [2.0 ** generator.uniform(-12, 6) for _ in range(20)]
        points = dict.fromkeys(self.rounded(mpf(s)) for s in sizes)
        return [p for s in points for p in (s, -s) if not math.isinf(p)] + [0.0, -0.0, inf, -inf, nan]


kinds = {k.name: k for k in (Kind("f64", 53, -1022, math.ldexp(2 - 2.0 ** -52, 1023)),
                             Kind("f32", 24, -126, math.ldexp(2 - 2.0 ** -23, 127)),
                             Kind("f16", 11, -14, 65504.0), Kind("bf16", 8, -126, math.ldexp(2 - 2.0 ** -7, 127)))}


class Either:
    """A zero of either sign."""


def difference(kind, got, want, units, absolute=0):
    """"" or how `got` is further from `want` than so many units in the last place and `absolute`. A zero has the sign of
    what it stands for; where the nearest number is not certain to be finite, an infinity is right too."""
    if want is None:
        return ""
    if want is Either:
        return "" if got == 0 else f"not 0 but {got!r}"
    if isinstance(want, float) and math.isnan(want):
        return "" if math.isnan(got) else f"not NaN but {got!r}"
    if isinstance(want, float) and math.isinf(want):
        return "" if got == want else f"not {want} but {got!r}"
    if math.isnan(got):
        return f"NaN for {mp.nstr(mpf(want), 10)}"
    allowed = units * kind.unit(want) + absolute
    if math.isinf(got):
        beyond = abs(mpf(want)) + allowed >= mpf(kind.largest) + kind.unit(kind.largest) / 2
        return "" if beyond and (got > 0) == (want > 0) else f"{got} for {mp.nstr(mpf(want), 10)}"
    if abs(mpf(got) - mpf(want)) > allowed:
        off = abs(mpf(got) - mpf(want)) / kind.unit(want)
        return f"{got!r} for {mp.nstr(mpf(want), 17)}: off by {mp.nstr(off, 4)} units, {mp.nstr(allowed / kind.unit(want), 4)} allowed"
    negative = want < 0 or (want == 0 and isinstance(want, float) and math.copysign(1, want) < 0)
    if got == 0 and (math.copysign(1, got) < 0) != negative and (want == 0 or not absolute):
        return f"{got!r} for {'-' if negative else ''}{mp.nstr(abs(mpf(want)), 10)}"
    return ""
