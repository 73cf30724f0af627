#!/usr/bin/env python3
"""The constants of the elementary functions, computed from nothing but the functions' definitions.

    fit.py            writes coefficients.h beside this file
    fit.py --check    recomputes everything; fails when coefficients.h is not what comes out

In: the table `fits` below, one row per polynomial of math.cpp and math_f64.cpp: the function that it stands for, on
which interval, with how many coefficients of which type, and how an error of the polynomial weighs in the error of
the elementary function. Out: coefficients.h, with each polynomial's largest weighted error as it is after rounding.

Polynomials are minimax fits by Remez's exchange algorithm (E. Ya. Remez 1934) in 50 digits. Needs
Python and mpmath.
"""
import struct
import sys
from pathlib import Path

from mpmath import mp, mpf

mp.dps = 50
header = Path(__file__).with_name("coefficients.h")


# ---- numbers of a type ----

def to_f64(x):
    """The nearest double: mpmath rounds to even."""
    return mpf(float(x))


def to_f32(x):
    """The nearest float, directly: none of the constants here is denormal."""
    mantissa, exponent = mp.frexp(mpf(x))
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, 24)), int(exponent) - 24)


def to_bits(x, bits):
    """The nearest number of so many significant bits: products with small integers are exact."""
    mantissa, exponent = mp.frexp(mpf(x))
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), int(exponent) - bits)


rounding = {"float": to_f32, "double": to_f64}


def literal(x, ctype):
    text = float(x).hex().replace("0000000p", "p") if ctype == "float" else float(x).hex()
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    mantissa, exponent = digits.split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{sign}{mantissa}p{int(exponent)}" + ("f" if ctype == "float" else "")


# ---- minimax ----

def evaluated(coefficients, x):
    value = mpf(0)
    for c in reversed(coefficients):
        value = value * x + c
    return value


class Samples:
    """A function and its weight on a grid that is dense at the ends, as Chebyshev's points are."""

    def __init__(self, f, weight, low, high, count):
        middle, radius = (low + high) / 2, (high - low) / 2
        self.x = [middle - radius * mp.cos(mp.pi * i / (count - 1)) for i in range(count)]
        self.x[0], self.x[-1] = low, high
        self.f = [f(x) for x in self.x]
        self.weight = [weight(x) for x in self.x]

    def errors(self, coefficients):
        return [w * (f - evaluated(coefficients, x)) for x, f, w in zip(self.x, self.f, self.weight)]


def extremes(errors, count):
    """Indices of `count` extremes of alternating sign, the largest of each run of one sign; None if there are fewer."""
    runs = []
    for i, e in enumerate(errors):
        if runs and (errors[runs[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    while len(runs) > count:
        runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
    return runs if len(runs) == count else None


def minimax(samples, count):
    reference = [i * (len(samples.x) - 1) // count for i in range(count + 1)]
    best, smallest = None, mp.inf
    for _ in range(20):
        matrix, right = mp.matrix(count + 1), mp.matrix(count + 1, 1)
        for row, i in enumerate(reference):
            x, weight = samples.x[i], samples.weight[i]
            for column in range(count):
                matrix[row, column] = weight * x ** column
            matrix[row, count] = (-1) ** row
            right[row] = weight * samples.f[i]
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[i] for i in range(count)]
        errors = samples.errors(coefficients)
        largest = max(abs(e) for e in errors)
        if largest < smallest:
            best, smallest = coefficients, largest
        reference = extremes(errors, count + 1)
        if reference is None or largest <= abs(solution[count]) * mpf("1.001"):
            break
    return best


def rounded(samples, coefficients, ctype):
    """The coefficients as numbers of the type. Floats then move by units in the last place, one at a time, as long as
    the largest error falls: each makes up for the rounding of others."""
    values = [rounding[ctype](c) for c in coefficients]
    if ctype == "double":
        return values
    least = max(abs(e) for e in samples.errors(values))
    moved = True
    while moved:
        moved = False
        for k in range(len(values)):
            unit = mp.ldexp(1, int(mp.frexp(values[k])[1]) - 24)
            for step in (-unit, unit):
                tried = values[:k] + [values[k] + step] + values[k + 1:]
                largest = max(abs(e) for e in samples.errors(tried))
                if largest < least:
                    values, least, moved = tried, largest, True
    return values


def fitted(fit):
    """Rounded coefficients, and their largest weighted error on a grid between the points of the fit."""
    samples = Samples(fit.f, fit.weight, mpf(fit.low), mpf(fit.high), 16 * fit.count + 20)
    values = rounded(samples, minimax(samples, fit.count), fit.type)
    check = Samples(fit.f, fit.weight, mpf(fit.low), mpf(fit.high), 40 * fit.count + 316)
    return values, max(abs(e) for e in check.errors(values))


# ---- the functions ----

class Fit:
    def __init__(self, name, ctype, count, low, high, f, weight, says):
        self.name, self.type, self.count, self.low, self.high = name, ctype, count, low, high
        self.f, self.weight, self.says = f, weight, says


tiny = mpf(2) ** -60  # stands for 0 where a quotient has a limit there
half_ln2 = mp.log(2) / 2
quarter_turn = mp.pi / 4
eighth_slope = mp.tan(mp.pi / 8)
largest_s = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)


def in_square(f):
    """A function of x as one of z = x^2."""
    return lambda z: f(mp.sqrt(z))


def away_from_zero(f):
    return lambda x: f(x if x else tiny)


def over_t(f):
    """A function of x as one of t = (x - centre) / (x + centre)."""
    return lambda t: f(centre * (1 + t) / (1 - t))


def t_of(x):
    return (mpf(x) - centre) / (mpf(x) + centre)


def scaled_erfc(x):
    return mp.erfc(x) * mp.exp(x * x) * (x + centre)


def log_rest(x):
    return (mp.log1p(x) - x + x * x / 2) / x ** 3


def atanh_rest(s):
    return (mp.atanh(s) - s) / s ** 3


def tanh_rest(x):
    return (mp.tanh(x) - x) / x ** 3


def atan_rest(x):
    return (mp.atan(x) - x) / x ** 3


def sin_rest(x):
    return (mp.sin(x) - x) / x ** 3


# Where erf goes over from its near form to 1 - erfc, and erfc from 1 - erf to its far form.
erf_near_f32, erf_far_f32, erfc_far_f32 = "0.927734375", "4", "10.1"
centre = mpf(2)  # of the variable of erfc's far form, where fits are short

fits = [
    Fit("exp_f32", "float", 5, -half_ln2 * (1 + mpf(2) ** -12), half_ln2 * (1 + mpf(2) ** -12),
        away_from_zero(lambda r: (mp.expm1(r) - r) / r ** 2), away_from_zero(lambda r: r ** 2 / mp.exp(r)),
        "e^r = 1 + r + r^2 P(r), |r| <= ln(2) / 2"),
    Fit("log_f32", "float", 9, mp.sqrt(mpf(1) / 2) - 1, mp.sqrt(2) - 1,
        away_from_zero(log_rest), away_from_zero(lambda x: x ** 3 / mp.log1p(x)),
        "log(1 + f) = f - f^2 / 2 + f^3 P(f), sqrt(1/2) <= 1 + f <= sqrt(2)"),
    Fit("tanh_f32", "float", 5, tiny, mpf("0.625") ** 2, in_square(tanh_rest),
        in_square(lambda x: x ** 3 / mp.tanh(x)), "tanh(x) = x + x z P(z), z = x^2, |x| <= 0.625"),
    Fit("atan_f32", "float", 5, tiny, eighth_slope ** 2, in_square(atan_rest), in_square(lambda x: x ** 3 / mp.atan(x)),
        "atan(x) = x + x z P(z), z = x^2, |x| <= tan(pi / 8)"),
    Fit("erf_near_f32", "float", 6, tiny, mpf(erf_near_f32) ** 2, in_square(lambda x: mp.erf(x) / x - 1),
        in_square(lambda x: x / mp.erf(x)), f"erf(x) = x + x P(z), z = x^2, |x| <= {erf_near_f32}"),
    Fit("erf_far_f32", "float", 7, mpf(erf_near_f32), mpf(erf_far_f32), lambda x: (mp.log(mp.erfc(x)) + x) / x,
        lambda x: x * mp.erfc(x) / mp.erf(x),
        f"erf(x) = 1 - e^(x P(x) - x), {erf_near_f32} <= x <= {erf_far_f32}"),
    Fit("erfc_f32", "float", 10, t_of("0.46875"), t_of("10.1"), over_t(scaled_erfc), over_t(lambda x: 1 / scaled_erfc(x)),
        "erfc(x) = e^(-x^2) w P((x - 2) w), w = 1 / (x + 2), 0.46875 <= x <= 10.1"),
    Fit("sin_f32", "double", 4, tiny, quarter_turn ** 2, in_square(sin_rest), in_square(lambda x: x ** 3 / mp.sin(x)),
        "sin(x) = x + x z P(z), z = x^2, |x| <= pi / 4"),
    Fit("cos_f32", "double", 4, tiny, quarter_turn ** 2, in_square(lambda x: (mp.cos(x) - 1) / x ** 2),
        in_square(lambda x: x ** 2 / mp.cos(x)), "cos(x) = 1 + z P(z), z = x^2, |x| <= pi / 4"),
    Fit("log2_wide", "double", 5, tiny, largest_s ** 2, in_square(lambda s: 2 * mp.atanh(s) / mp.log(2) / s),
        in_square(lambda s: s * mp.log(2) / (2 * mp.atanh(s))),
        "log2((1 + s) / (1 - s)) = s P(z), z = s^2, sqrt(1/2) <= (1 + s) / (1 - s) <= sqrt(2)"),
    Fit("exp2_wide", "double", 7, -mpf(1) / 2, mpf(1) / 2, away_from_zero(lambda r: mp.expm1(r * mp.log(2)) / r),
        lambda r: r * mpf(2) ** -r if r else tiny, "2^r = 1 + r P(r), |r| <= 1/2"),
    Fit("exp_f64", "double", 11, -half_ln2 * (1 + mpf(2) ** -12), half_ln2 * (1 + mpf(2) ** -12),
        away_from_zero(lambda r: (mp.expm1(r) - r) / r ** 2), away_from_zero(lambda r: r ** 2 / mp.exp(r)),
        "e^r = 1 + r + r^2 P(r), |r| <= ln(2) / 2"),
    Fit("log_f64", "double", 7, tiny, largest_s ** 2, in_square(lambda s: 2 * atanh_rest(s)),
        in_square(lambda s: s ** 3 / (2 * mp.atanh(s))),
        "log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s^2, sqrt(1/2) <= (1 + s) / (1 - s) <= sqrt(2)"),
    Fit("log_extended", "double", 8, tiny, largest_s ** 2,
        in_square(lambda s: (atanh_rest(s) - mpf(1) / 3 - s ** 2 / 5) / s ** 4),
        in_square(lambda s: s ** 7 / mp.atanh(s)),
        "log((1 + s) / (1 - s)) / 2 = s + s z (1/3 + z (1/5 + z P(z))), for the same s"),
    Fit("tanh_f64", "double", 12, tiny, mpf("0.625") ** 2, in_square(tanh_rest),
        in_square(lambda x: x ** 3 / mp.tanh(x)), "tanh(x) = x + x z P(z), z = x^2, |x| <= 0.625"),
    Fit("atan_f64", "double", 12, tiny, eighth_slope ** 2, in_square(atan_rest),
        in_square(lambda x: x ** 3 / mp.atan(x)), "atan(x) = x + x z P(z), z = x^2, |x| <= tan(pi / 8)"),
    Fit("erf_near_f64", "double", 14, tiny, mpf(1), in_square(lambda x: mp.erf(x) / x),
        in_square(lambda x: x / mp.erf(x)), "erf(x) = x P(z), z = x^2, |x| <= 1"),
    Fit("erfc_f64", "double", 24, t_of("0.46875"), t_of("27.3"), over_t(scaled_erfc), over_t(lambda x: 1 / scaled_erfc(x)),
        "erfc(x) = e^(-x^2) w P((x - 2) w), w = 1 / (x + 2), 0.46875 <= x <= 27.3"),
    Fit("sin_f64", "double", 6, tiny, quarter_turn ** 2, in_square(sin_rest), in_square(lambda x: x ** 3 / mp.sin(x)),
        "sin(x) = x + x z P(z), z = x^2, |x| <= pi / 4"),
    Fit("cos_f64", "double", 6, tiny, quarter_turn ** 2,
        in_square(lambda x: (mp.cos(x) - 1 + x ** 2 / 2) / x ** 4), in_square(lambda x: x ** 4 / mp.cos(x)),
        "cos(x) = 1 - z / 2 + z^2 P(z), z = x^2, |x| <= pi / 4"),
]


# ---- constants that are no fits ----

def in_pieces(x, *bits):
    """Numbers of so many bits, and a double, that add up to x."""
    pieces = []
    for b in bits:
        pieces.append(to_bits(x - sum(pieces), b))
    return pieces + [to_f64(x - sum(pieces))]


def words_of(x, count):
    """The first bits of a fraction, 32 in each word."""
    return [int(mp.floor(x * mpf(2) ** (32 * (i + 1)))) % 2 ** 32 for i in range(count)]


def constants():
    """Lines of the header: (comment, C++ type, name, values)."""
    high32 = to_bits(mp.log(2), 16)
    yield ("ln(2): 16 bits, whose product with an exponent is exact, and the rest", "float", "ln2_f32",
           [high32, to_f32(mp.log(2) - high32)])
    yield ("ln(2): 42 bits, and the rest", "double", "ln2_f64", in_pieces(mp.log(2), 42))
    yield ("ln(2) as a double, and the rest", "double", "ln2_wide", in_pieces(mp.log(2), 53))
    yield ("pi / 2 as a float, and the rest", "float", "quarter_narrow",
           [to_f32(mp.pi / 2), to_f32(mp.pi / 2 - to_f32(mp.pi / 2))])
    yield ("pi / 2 in 27 bits, twice, and the rest", "double", "quarter_f32", in_pieces(mp.pi / 2, 27, 27))
    yield ("pi / 2 in 33 bits, three times, and the rest", "double", "quarter_f64", in_pieces(mp.pi / 2, 33, 33, 33))
    yield ("pi / 2 as a double, and the rest", "double", "quarter_wide", in_pieces(mp.pi / 2, 53))


scalars = [("log2(e)", "float", "log2e_f32", 1 / mp.log(2)), ("log2(e)", "double", "log2e_f64", 1 / mp.log(2)),
           ("2 / pi", "double", "two_over_pi", 2 / mp.pi)]


# ---- the header ----

def array(ctype, name, texts):
    return f"constexpr {ctype} {name}[] = {{{', '.join(texts)}}};"


def wrapped(line, width=110):
    """Broken behind commas, indented by four."""
    lines = []
    while len(line) > width:
        at = line.rfind(", ", 0, width) + 1
        lines.append(line[:at])
        line = "    " + line[at + 1:]
    return lines + [line]


def text():
    lines = ["// Written by fit.py beside this file, from the definitions of the functions: not to be edited. Each bound is",
             "// the largest relative error that the polynomial brings into the value of its function.",
             "#pragma once", "#include <stdint.h>", "", "namespace device::fitted {", ""]
    for fit in fits:
        values, error = fitted(fit)
        bound = mp.ceil(mp.log(error, 2) * 10) / 10
        lines.append(f"// {fit.says}. Within 2^{mp.nstr(bound, 3)}.")
        lines += wrapped(array(fit.type, fit.name, [literal(v, fit.type) for v in values])) + [""]
    for comment, ctype, name, values in constants():
        lines += [f"// {comment}."] + wrapped(array(ctype, name, [literal(v, ctype) for v in values]))
    for comment, ctype, name, value in scalars:
        lines += [f"// {comment}.", f"constexpr {ctype} {name} = {literal(rounding[ctype](value), ctype)};"]
    with mp.workdps(400):
        words = words_of(2 / mp.pi, 36)
    lines += ["// 2 / pi as a binary fraction."]
    lines += wrapped(array("uint32_t", "two_over_pi_bits", [f"0x{w:08X}" for w in words]))
    return "\n".join(lines + ["", "}  // namespace device::fitted", ""])


if __name__ == "__main__":
    written = text()
    if sys.argv[1:] != ["--check"]:
        header.write_text(written)
    elif header.read_text() != written:
        sys.exit(f"{header} is not what fit.py computes; run it without --check")
