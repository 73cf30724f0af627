"""Random functions about types: integers of all widths, which wrap around, quotients and remainders of negative numbers,
shifts beyond the width, Python's numbers beside arrays, and arrays without axes.

They are grown as those of generate.py are, of other operations; numbers are small, so that most values are exact.
"""
import numpy as np

import generate
from generate import rounding

OPERATIONS = []
NUMBERS = ("300", "-1", "-129", "70000", "2**31", "2**40", "True", "2.5", "1e300", "0", "3", "-7", "0.1", "np.int8(5)",
           "np.float32(0.5)", "np.uint8(200)", "np.bool_(True)", "np.float64(3)")


class Function(generate.Function):
    often_once = 0.8  # of those without axes a recording is of one class of values
    types = ("float32", "float64", "int16", "int32", "int64", "bool", "uint8", "int8", "uint32")
    odds = (0.1, 0.1, 0.12, 0.12, 0.12, 0.1, 0.12, 0.12, 0.1)
    ranks = (0, 0, 1, 1, 2, 2, 3, 4)

    @staticmethod
    def operations():
        return OPERATIONS


def operation(times=1):
    def add(function):
        OPERATIONS.extend([function] * times)
        return function
    return add


def exact(at, result):
    return 0.0


def _may_meet(function, x, y):
    """Whether NumPy's type of both is known: what is computed without axes may be any number."""
    given = [it in function.parameters or it.rank > 0 for it in (x, y)]
    return all(given) or x.rank == y.rank == 0 or x.dtype == y.dtype


def _pair(function, test=lambda it: it.is_exact):
    x, y = function.pick(test), function.pick(test)
    return (x, y) if x is not None and y is not None and _may_meet(function, x, y) else (None, None)


def _of(text, *values):
    """An exact operation."""
    return text, list(values), exact


@operation(6)
def of_two(function):
    x, y = _pair(function)
    if x is None:
        return None
    sign = function.random.choice(["+", "-", "*", "//", "%", "<", "<=", "==", "!=", ">", ">="])
    return f"{x.name} {sign} {y.name}", [x, y], lambda at, result: 0.0 if sign in ("+", "-", "*") else rounding(result, 2)


@operation(6)
def with_number(function):
    x = function.pick(lambda it: it.is_exact and (it.rank > 0 or it in function.parameters))
    if x is None:
        return None
    number, sign = function.random.choice(NUMBERS), function.random.choice(["+", "-", "*", "//", "%", "<", ">="])
    text = f"{x.name} {sign} {number}" if function.random.random() < 0.6 else f"{number} {sign} {x.name}"
    return text, [x], lambda at, result: rounding(result, 2)


def _is_integer(it):
    return it.dtype.kind in "iu" and it.is_exact


@operation(4)
def bits(function):
    x, y = _pair(function, _is_integer)
    if x is None:
        return None
    text = function.random.choice(["{x} << {y}", "{x} >> {y}", "{x} << ({y} % 70)", "{x} >> ({y} % 70)", "{x} & {y}", "{x} | {y}",
                                   "{x} ^ {y}", "~{x}", "{x} << 3", "{x} >> 40", "{x} & 15", "{x} | 256", "{x} ^ -1", "-{x}",
                                   "abs({x})"])
    return _of(text.format(x=x.name, y=y.name), x, y)


@operation(4)
def of_integers(function):
    x, y = _pair(function, _is_integer)
    if x is None:
        return None
    text = function.random.choice(["np.fmod({x}, {y})", "np.gcd({x}, {y})", "np.lcm({x} % 7, {y} % 5)", "divmod({x}, {y})[1]",
                                   "np.power({x}, abs({y}) % 5)", "{x} ** 3", "np.maximum({x}, {y})", "np.sign({x})",
                                   "np.copysign({x}, {y})", "np.floor_divide({x}, -3)", "{x} % -5", "np.remainder(-7, {y})",
                                   "np.square({x})", "np.signbit({x})", "np.minimum({x}, 300)", "np.clip({x}, -3, 200)"])
    return _of(text.format(x=x.name, y=y.name), x, y)


@operation(4)
def converted(function):
    x = function.pick(lambda it: it.is_exact)
    to = function.random.choice(Function.types)
    small = x is not None and all(x.largest(at) < 100 for at in range(2))
    if x is None or (x.is_float and not small) or (x.is_float and to.startswith("u")):
        return None
    return _of(f"{x.name}.astype(np.{'bool_' if to == 'bool' else to})", x)


@operation(5)
def reduced(function):
    x = function.pick(lambda it: it.rank > 0 and it.dtype.kind != "f" and it.is_exact)
    if x is None:
        return None
    axis = function.random.choice(["None", "0", "-1"])
    text = function.random.choice([
        "{x}.sum({a})", "{x}.prod({a})", "{x}.sum({a}, dtype=np.int8)", "np.sum({x}, {a}, dtype=np.int16)",
        "{x}.max({a}, initial=-1)",
        "{x}.min({a}, initial=1, keepdims=True)", "np.cumsum({x}, {a})", "np.cumprod({x}, {a}, dtype=np.int32)", "np.ptp({x}, 0)",
        "{x}.sum({a}, where={x} > 0)", "{x}.any({a}, where={x} > 1)", "np.count_nonzero({x}, {a})", "{x}.mean({a}) > 0.3",
        "np.add.accumulate({x}, 0)", "np.maximum.accumulate({x}, -1)", "np.add.reduce({x}, {a}, dtype=np.int64)", "np.diff({x})",
        "np.logical_xor.reduce({x})", "np.argmax({x}, {a})", "np.diff({x}, prepend=1)", "np.multiply.reduce({x}, dtype=np.int8)"])
    return _of(text.format(x=x.name, a=axis), x)


@operation(3)
def chosen(function):
    x, y = _pair(function)
    c = function.pick(lambda it: it.dtype.kind == "b")
    if x is None or c is None:
        return None
    text = function.random.choice(["np.where({c}, {x}, {n})", "np.where({c}, {x}, {y})", "np.select([{c}], [{x}], {n})",
                                   "np.where({c}, {n}, {x})", "np.select([{c}, ~{c}], [{x}, {y}])"])
    if "{n}" in text and x.rank == 0 and x not in function.parameters:
        return None
    return _of(text.format(c=c.name, x=x.name, y=y.name, n=function.random.choice(NUMBERS[:13])), x, y)


@operation(4)
def sequences(function):
    """Of arrays with axes: order, positions, sets of a fixed size, neighbours."""
    x = function.pick(lambda it: it.rank > 0 and it.is_exact)
    if x is None:
        return None
    text = function.random.choice([
        "np.sort({x}, axis=None)", "np.isin({x}, [0, 1, -7])", "np.searchsorted([-3, 0, 2], {x})", "np.digitize({x}, [0, 5, 9])",
        "np.convolve({x}.ravel(), [1, -1, 2])", "np.correlate({x}.ravel(), [2, 1], 'same')", "np.resize({x}, (2, 3))",
        "{x}.ravel('F')",
        "np.pad({x}, 1, 'linear_ramp')", "np.pad({x}, 2, 'maximum')", "np.insert({x}, 0, 7, axis=0)",
        "np.delete({x}, 0, axis=-1)",
        "np.rollaxis({x}, -1)", "np.trunc({x})", "np.fix({x})", "np.roll({x}, (1, 2), (0, 0))", "np.block([{x}, {x}])",
        "np.quantile({x} * 1, 0.5, axis=0, method='lower')", "np.bincount(abs({x}.ravel().astype(np.int64)) % 8, minlength=9)",
        "np.take({x}, [0, 5], axis=0, mode='clip')", "np.take({x}, [-9, 7], mode='wrap')", "np.multiply.outer({x}[0], [1, 2])",
        "np.atleast_3d({x})", "np.nancumsum({x} > 0)", "np.fmax.reduce({x}, axis=-1)", "np.ediff1d({x})", "np.c_[{x}, {x}]"])
    return _of(text.format(x=x.name), x)


@operation(2)
def smoothed(function):
    x = function.pick(lambda it: it.rank > 0 and it.dtype.itemsize > 2 and it.dtype.kind != "b")
    if x is None:
        return None
    text = function.random.choice([
        "np.percentile({x}, 30, axis=-1)", "np.quantile({x}, [0.2, 0.9])", "np.gradient({x}, axis=0)",
        "np.interp({x}, [-5, 0, 4], [1, 0, 3])",
        "np.sinc({x})", "np.logaddexp2({x}, 1)", "np.cov({x}[0].ravel())", "np.nanmedian({x}, axis=0)",
        "np.average({x}, axis=0, weights=None)",
        "np.linspace({x}, 2, 3)", "np.trapz({x}, axis=0)", "np.polyval([1, 0.5, -1], {x} / 8)",
        "np.histogram({x}, 4, (-8, 8), density=False)[1]"])

    def error(at, result):
        eps = float(np.finfo(np.float32 if x.dtype == np.float32 else result.dtype).eps)
        return 8 * x.errors[at] + eps * (x.arrays[at].size + 16) * (1 + x.largest(at)) ** 2
    return text.format(x=x.name), [x], error


@operation(2)
def moved(function):
    x = function.pick(lambda it: it.rank > 0)
    if x is None:
        return None
    text = function.random.choice(["{x}.T", "{x}[::-1]", "{x}[:1]", "{x}[None]", "{x}[-1]", "{x}.reshape(-1)", "{x}[..., ::2]"])
    return text.format(x=x.name), [x], lambda at, result: x.errors[at]
