"""Random functions in NumPy's vocabulary, as text, with arguments of two sets of sizes.

A function is grown operation by operation. An operation is kept when NumPy carries it out for both sets, with one type,
finite numbers, and the same axes of 1. Each value has a bound of the error that two right computations of it may differ
by (`error`), which follows from the operations: additions, products, quotients and roots are rounded once by both sides,
so of exact numbers they are exact; sums may be taken in any order; `exp` and its like are some units in the last place
off. What jumps (comparisons, `floor`, positions, conversions to integers) is only done to exact numbers.
"""
import warnings

import numpy as np

TYPES = ("float32", "float64", "int32", "int64", "bool", "uint8", "int8")
PRIMES = (2, 3, 5, 7, 11, 13)


class Value:
    """A variable of the function: its arrays for the two sets of sizes, and how far each may be off."""

    def __init__(self, name, arrays, errors):
        self.name, self.arrays, self.errors = name, arrays, errors

    dtype = property(lambda self: self.arrays[0].dtype)
    rank = property(lambda self: self.arrays[0].ndim)
    is_float = property(lambda self: self.dtype.kind == "f")
    is_exact = property(lambda self: not any(self.errors))

    def largest(self, at):
        return float(np.abs(self.arrays[at].astype(np.float64)).max(initial=0))


class Function:
    """The text of a function, and its arguments for each set of sizes."""

    often_once = 0.85  # the part of functions that one recording of serves both sets of sizes, at least
    types, odds, ranks = TYPES, (0.3, 0.25, 0.12, 0.12, 0.07, 0.07, 0.07), (0, 1, 2, 2, 2, 3, 3, 4)

    def __init__(self, name, random):
        self.name, self.random = name, random
        self.lines, self.values = [], []
        self._sizes = self._drawn_sizes()
        self.parameters = [self._argument(letter) for letter in "abc"[:random.integers(1, 4)]]
        self.values += self.parameters
        for _ in range(int(random.integers(2, 7))):
            self._grow()
        self.results = self._results()

    def _drawn_sizes(self):
        """For each letter a size in both sets: primes, 1 in both, or 0 in the second."""
        sizes = {}
        first, second = self.random.permutation(PRIMES), self.random.permutation(PRIMES)
        for at, letter in enumerate("mnk"):
            kind = self.random.random()
            sizes[letter] = (1, 1) if kind < 0.1 else (int(first[at]), 0) if kind < 0.15 else (int(first[at]),
                                                                                                int(second[at]))
        return sizes

    def _argument(self, name):
        random = self.random
        axes = random.choice(list("mnk"), size=random.choice(self.ranks))
        dtype = np.dtype(str(random.choice(self.types, p=self.odds)))
        arrays = [_numbers([self._sizes[axis][at] for axis in axes], dtype, random) for at in range(2)]
        return Value(name, arrays, [0.0, 0.0])

    def _grow(self):
        for _ in range(40):
            operations = self.operations()
            step = operations[self.random.integers(len(operations))](self)
            made = step and self._carried_out(*step)
            if made:
                self.values.append(made)
                return

    def _carried_out(self, text, operands, error):
        """The value of an expression, where both sets have one."""
        arrays, errors = [], []
        for at in range(2):
            names = {value.name: value.arrays[at] for value in self.values}
            result = evaluated(text, names)
            if not isinstance(result, (np.ndarray, np.generic)) or str(result.dtype) not in self.types:
                return None
            result = np.asarray(result)
            if result.size > 3000 or result.ndim > 4 or not _is_moderate(result):
                return None
            arrays.append(result)
            errors.append(error(at, result) if result.dtype.kind == "f" else 0.0)
        if arrays[0].dtype != arrays[1].dtype or [it == 1 for it in arrays[0].shape] != [it == 1 for it in arrays[1].shape]:
            return None
        if not all(value.is_exact or arrays[0].dtype.kind == "f" for value in operands) or not all(map(np.isfinite, errors)):
            return None
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return Value(name, arrays, errors)

    @staticmethod
    def operations():
        return OPERATIONS

    def _results(self):
        made = [value for value in self.values if value not in self.parameters]
        if not made:
            return self.parameters[:1]
        other = made[self.random.integers(len(made))]
        return made[-1:] if other is made[-1] else [made[-1], other]

    @property
    def text(self):
        returned = ", ".join(value.name for value in self.results)
        head = f"def {self.name}({', '.join(value.name for value in self.parameters)}):"
        return "\n".join([head, *(f"    {line}" for line in self.lines), f"    return {returned},", ""])

    def pick(self, test=lambda value: True):
        """A random value, the later ones more often."""
        fitting = [value for value in self.values if test(value)]
        if not fitting:
            return None
        return fitting[min(int(self.random.beta(2, 1) * len(fitting)), len(fitting) - 1)]


def _numbers(shape, dtype, random):
    if dtype.kind == "f":
        return np.round(random.standard_normal(shape) * 2, 3).astype(dtype)
    if dtype.kind == "b":
        return np.asarray(random.random(shape) > 0.5)
    return random.integers(0 if dtype.kind == "u" else -20, 21, shape).astype(dtype)


def evaluated(text, names):
    """NumPy's value of an expression; None where it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return eval(text, {"np": np, **names})
        except (ValueError, TypeError, IndexError, OverflowError, ZeroDivisionError):
            return None


def _is_moderate(array):
    return array.dtype.kind != "f" or (np.isfinite(array).all() and np.abs(array).max(initial=0) < 1e4)


OPERATIONS = []


def operation(times=1):
    def add(function):
        OPERATIONS.extend([function] * times)
        return function
    return add


def rounding(result, ulps):
    return ulps * np.finfo(result.dtype).eps * float(np.abs(result).max(initial=0))


def _fit(x, y):
    """Whether NumPy's type of both does not hang on the value of one without axes."""
    return x.rank == y.rank == 0 or (x.rank > 0 and y.rank > 0) or x.dtype == y.dtype


@operation(6)
def arithmetic(function):
    x, y = function.pick(), function.pick()
    sign = str(function.random.choice(["+", "-", "*"]))
    if not _fit(x, y):
        return None

    def error(at, result):
        own = 0 if x.is_exact and y.is_exact else rounding(result, 1)
        if sign == "*":
            return y.largest(at) * x.errors[at] + x.largest(at) * y.errors[at] + own
        return x.errors[at] + y.errors[at] + own
    return f"{x.name} {sign} {y.name}", [x, y], error


@operation(3)
def with_number(function):
    x = function.pick()
    number = function.random.choice(["2", "3", "-1", "0.5", "1.5", "7", "100", "1000"])
    sign = function.random.choice(["+", "-", "*", "/"])
    text = f"{x.name} {sign} {number}" if function.random.random() < 0.7 or sign == "/" else f"{number} {sign} {x.name}"
    factor = {"*": abs(float(number)), "/": 1 / abs(float(number))}.get(sign, 1)
    return text, [x], lambda at, result: factor * x.errors[at] + (0 if x.is_exact else rounding(result, 1))


@operation(2)
def quotient(function):
    x, y = function.pick(), function.pick()
    if not _fit(x, y) or y.dtype.kind == "b":
        return None

    def error(at, result):
        own = 0 if x.is_exact and y.is_exact else rounding(result, 3) + rounding(np.asarray(x.largest(at), result.dtype), 2)
        return x.errors[at] + x.largest(at) * y.errors[at] + own
    return f"{x.name} / (1 + abs({y.name}))", [x, y], error


@operation(2)
def jumps(function):
    x, y = function.pick(lambda it: it.is_exact), function.pick(lambda it: it.is_exact)
    if x is None or y is None or not _fit(x, y):
        return None
    text = function.random.choice([
        "{x} // {y}", "{x} % {y}", "{x} < {y}", "{x} >= {y}", "{x} == {y}", "np.floor({x})", "np.rint({x})", "np.sign({x})",
        "np.ceil({x})", "{x} != {y}", "{x} > 0", "np.isfinite({x})", "np.logical_and({x}, {y})", "np.logical_not({x})",
        "{x} // 3", "{x} % 4", "np.trunc({x})", "np.round({x}, 1)", "~{x}", "{x} & {y}", "{x} | {y}", "{x} ^ {y}"])
    if text[4:5] in "&|^" and not x.dtype.kind == y.dtype.kind == "b":
        return None
    return text.format(x=x.name, y=y.name), [x, y], lambda at, result: 0.0


@operation(1)
def converted(function):
    x = function.pick()
    dtype = np.dtype(str(function.random.choice(TYPES)))
    if dtype.kind != "f" and not x.is_exact:
        return None
    return f"{x.name}.astype(np.{'bool_' if dtype.kind == 'b' else dtype.name})", [x], \
        lambda at, result: x.errors[at] + (0 if x.is_exact else rounding(result, 1))


@operation(4)
def smooth(function):
    x = function.pick(lambda it: it.dtype.itemsize > 2 and it.dtype.kind != "b")
    if x is None:
        return None
    text = function.random.choice([
        "np.tanh({x})", "np.sin({x})", "np.cos({x})", "np.arctan({x})", "np.exp(-np.abs({x}))", "np.log1p(np.abs({x}))",
        "np.log(np.abs({x}) + 1)", "np.exp(np.minimum({x}, 0))", "np.arctan2({x}, 2.0)", "np.hypot({x}, 1.0)",
        "np.arcsinh({x})", "np.expm1(np.minimum({x}, 0))", "np.log2(np.abs({x}) + 2)", "np.sqrt(np.abs({x}) + 1)",
        "np.cbrt(np.abs({x}) + 1)", "np.square(np.tanh({x}))"])
    return text.format(x=x.name), [x], lambda at, result: 3 * x.errors[at] + rounding(result, 16) + \
        16 * np.finfo(result.dtype).eps


@operation(2)
def choice(function):
    c, x, y = function.pick(lambda it: it.dtype.kind == "b"), function.pick(), function.pick()
    if c is None or not _fit(x, y):
        return None
    return f"np.where({c.name}, {x.name}, {y.name})", [x, y], lambda at, result: max(x.errors[at], y.errors[at])


@operation(2)
def extremes(function):
    x, y = function.pick(), function.pick()
    text = function.random.choice(["np.maximum({x}, {y})", "np.minimum({x}, {y})", "np.fmax({x}, {y})", "np.abs({x})", "-{x}",
                                   "np.clip({x}, -1, 2)", "np.clip({x}, 0, None)"])
    if not _fit(x, y):
        return None
    return text.format(x=x.name, y=y.name), [x, y], lambda at, result: max(x.errors[at], y.errors[at])


def _axis(function, x):
    """A random axis of x, as text and number; None for all of them."""
    if function.random.random() < 0.2:
        return "None", None
    axis = int(function.random.integers(-x.rank, x.rank))
    return str(axis), axis


def _count(x, at, axis):
    return x.arrays[at].size if axis is None else x.arrays[at].shape[axis]


@operation(5)
def reduction(function):
    x = function.pick(lambda it: it.rank > 0)
    if x is None:
        return None
    text, axis = _axis(function, x)
    name = str(function.random.choice(["sum", "mean", "max", "min", "var", "any", "all"]))
    if name in ("any", "all") and not x.is_exact:
        return None
    keep = function.random.random() < 0.4

    def error(at, result):
        count, largest, spread = _count(x, at, axis), x.largest(at), x.errors[at]
        if name in ("max", "min"):
            return spread
        eps = float(np.finfo(result.dtype).eps)
        if name == "sum":
            return count * spread + eps * count * count * largest
        if name == "mean":
            return spread + eps * (count + 2) * largest
        return 4 * largest * spread + 4 * eps * (count + 4) * largest * largest
    return f"{x.name}.{name}(axis={text}{', keepdims=True' if keep else ''})", [x], error


@operation(1)
def running(function):
    x = function.pick(lambda it: it.rank > 0)
    if x is None:
        return None
    text, axis = _axis(function, x)
    return f"np.cumsum({x.name}, axis={text})", [x], lambda at, result: _count(x, at, axis) * x.errors[at] + float(
        np.finfo(result.dtype).eps) * _count(x, at, axis) ** 2 * x.largest(at)


@operation(2)
def positions(function):
    x = function.pick(lambda it: it.rank > 0 and it.is_exact)
    if x is None:
        return None
    text, _ = _axis(function, x)
    call = function.random.choice(["np.argmax({x}, axis={a})", "{x}.argmin(axis={a})", "np.sort({x}, axis={a})",
                                   "np.argsort({x}, axis={a}, kind='stable')", "np.diff({x}, axis={b})",
                                   "np.take_along_axis({x}, np.argsort({x}, axis={b}, kind='stable'), axis={b})"])
    return call.format(x=x.name, a=text, b=-1 if text == "None" else text), [x], lambda at, result: 0.0


@operation(6)
def moved(function):
    x = function.pick(lambda it: it.rank > 0)
    if x is None:
        return None
    axis = int(function.random.integers(0, x.rank))
    colons = ":, " * axis
    call = function.random.choice([
        "{x}.T", "np.swapaxes({x}, 0, -1)", "{x}[{c}::-1]", "{x}[{c}1:]", "{x}[{c}:-1]", "{x}[{c}::2]", "{x}[{c}0]",
        "{x}[{c}-1]", "{x}[{c}None]", "{x}[..., None]", "{x}.reshape(-1)", "{x}.ravel()", "np.flip({x}, {a})",
        "np.roll({x}, 1, {a})", "np.roll({x}, -2)", "np.tile({x}, 2)", "np.repeat({x}, 2, axis={a})", "np.pad({x}, 1)",
        "np.pad({x}, 1, mode='edge')", "np.concatenate([{x}, {x}], axis={a})", "np.stack([{x}, {x}], axis={a})",
        "np.expand_dims({x}, {a})", "np.moveaxis({x}, {a}, 0)", "{x}[{c}1::2]", "{x}[{c}-2:]", "{x}[{c}:3]",
        "np.tril({x})", "np.triu({x}, 1)", "{x}.copy()", "np.squeeze({x})", "{x}[{c}:1]", "{x}.reshape({x}.shape[::-1])",
        "{x}.reshape({x}.shape[0], -1)", "np.diagonal({x})", "np.broadcast_to({x}, (2,) + {x}.shape)"])
    return call.format(x=x.name, c=colons, a=axis), [x], lambda at, result: x.errors[at]


@operation(2)
def joined(function):
    x = function.pick(lambda it: it.rank > 0)
    y = x and function.pick(lambda it: it.rank == x.rank)
    if y is None:
        return None
    axis = int(function.random.integers(0, x.rank))
    call = function.random.choice(["np.concatenate([{x}, {y}], axis={a})", "np.stack([{x}, {y}])", "np.hstack([{x}, {y}])"])
    return call.format(x=x.name, y=y.name, a=axis), [x, y], lambda at, result: max(x.errors[at], y.errors[at]) + (
        0 if x.is_exact and y.is_exact else rounding(result, 1))


@operation(3)
def product(function):
    x, y = function.pick(lambda it: it.rank > 0), function.pick(lambda it: it.rank > 0)
    if x is None or y is None:
        return None
    call = function.random.choice(["{x} @ {y}", "{x} @ np.swapaxes({y}, -1, -2)", "np.dot({x}, {y})", "np.tensordot({x}, {y}, 1)",
                                   "np.einsum('...i,...i->...', {x}, {y})", "np.outer({x}, {y})", "np.inner({x}, {y})"])

    def error(at, result):
        count = max(x.arrays[at].shape)
        spread = y.largest(at) * x.errors[at] + x.largest(at) * y.errors[at]
        return count * (spread + float(np.finfo(result.dtype).eps) * (count + 1) * x.largest(at) * y.largest(at))
    return call.format(x=x.name, y=y.name), [x, y], error


@operation(2)
def gathered(function):
    x = function.pick(lambda it: it.rank > 0)
    i = function.pick(lambda it: it.dtype.kind in "iu" and it.is_exact)
    if x is None or i is None:
        return None
    call = function.random.choice(["{x}[{i} % {x}.shape[0]]", "np.take({x}, {i} % {x}.shape[-1], axis=-1)",
                                   "{x}[..., abs({i}) % {x}.shape[-1]]"])
    return call.format(x=x.name, i=i.name), [x], lambda at, result: x.errors[at]


@operation(1)
def made(function):
    x = function.pick(lambda it: it.rank > 0)
    if x is None:
        return None
    call = function.random.choice(["np.arange({x}.shape[0])", "np.zeros({x}.shape)", "np.ones_like({x})", "np.eye({x}.shape[-1])",
                                   "np.full({x}.shape, 0.25)", "{x}.shape[0] * np.ones(3)"])
    return call.format(x=x.name), [], lambda at, result: 0.0
