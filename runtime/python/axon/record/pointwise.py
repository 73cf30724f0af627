"""Functions of elements: the table of NumPy's ufuncs, and what is made of them.

A row says how the language writes the function, and what its arguments are converted to: to the type of the result
("result", as NumPy computes), to their common type ("common", of comparisons), to bool, or to nothing. Which type the
result has, NumPy is asked. A row with `integers` or `truth` is written so for these types.
"""
import numpy as np

from . import views
from .graph import AND, APPLY, ATOM, COMPARE, MINUS, OR, PRODUCT, SUM, Trace, cast, infix, prefix
from .indexing import select
from .place import complain, lacks_type, unrecorded
from .values import BOOL, Check, I64, I8, U64, answer
from .vocabulary import UFUNCS, METHODS, array_of, node_of, says


class Row:
    """How a function of elements is written."""

    def __init__(self, write, of="result", integers=None, truth=None):
        self.write, self.of, self.integers, self.truth = write, of, integers, truth

    def writer(self, dtype):
        """For arguments of a type; None where there is no such function."""
        if dtype == BOOL and (self.truth or self.of == "result"):
            return self.truth
        return self.integers if dtype.kind in "iu" and self.integers else self.write


def sign_of(text):
    """Writes `text x`, of which only numbers with a sign have more to say."""
    return lambda line: (f"{text}{line.argument(0, APPLY)}", MINUS)


def itself(line):
    return line.whole(0)


def scaled(factor):
    return lambda line: (f"{line.argument(0, PRODUCT)} * {factor!r}", PRODUCT)


_TABLE = {
    np.add: Row(infix("+", SUM), truth=infix("||", OR)),
    np.subtract: Row(infix("-", SUM)),
    np.multiply: Row(infix("*", PRODUCT), truth=infix("&&", AND)),
    np.true_divide: Row(infix("/", PRODUCT)),
    np.floor_divide: Row(prefix("float_quotient"), integers=prefix("int_quotient")),
    np.remainder: Row(infix("%", PRODUCT), integers=prefix("int_remainder")),
    np.power: Row(prefix("pow")),
    np.float_power: Row(prefix("pow")),
    np.negative: Row(sign_of("-")),
    np.positive: Row(itself),
    np.absolute: Row(prefix("abs"), truth=itself),
    np.fabs: Row(prefix("abs")),
    np.conjugate: Row(itself),
    np.copysign: Row(prefix("copy_sign")),
    np.fmod: Row(prefix("float_fmod"), integers=prefix("int_fmod")),
    np.gcd: Row(None),
    np.lcm: Row(None),
    np.signbit: Row(prefix("has_sign"), of="own"),
    np.sign: Row(prefix("sign")),
    np.maximum: Row(prefix("max"), truth=infix("||", OR)),
    np.minimum: Row(prefix("min"), truth=infix("&&", AND)),
    np.fmax: Row(prefix("max_number"), integers=prefix("max"), truth=infix("||", OR)),
    np.fmin: Row(prefix("min_number"), integers=prefix("min"), truth=infix("&&", AND)),
    np.exp: Row(prefix("exp")),
    np.exp2: Row(prefix("exp2")),
    np.expm1: Row(prefix("expm1")),
    np.log: Row(prefix("log")),
    np.log2: Row(prefix("log2")),
    np.log10: Row(prefix("log10")),
    np.log1p: Row(prefix("log1p")),
    np.logaddexp: Row(prefix("logaddexp")),
    np.logaddexp2: Row(prefix("logaddexp2")),
    np.sqrt: Row(prefix("sqrt")),
    np.cbrt: Row(prefix("cbrt")),
    np.reciprocal: Row(lambda line: (f"1.0 / {line.argument(0, MINUS)}", PRODUCT)),
    np.sin: Row(prefix("sin")),
    np.cos: Row(prefix("cos")),
    np.tan: Row(prefix("tan")),
    np.arcsin: Row(prefix("arcsin")),
    np.arccos: Row(prefix("arccos")),
    np.arctan: Row(prefix("atan")),
    np.arctan2: Row(prefix("arctan2")),
    np.hypot: Row(prefix("hypot")),
    np.sinh: Row(prefix("sinh")),
    np.cosh: Row(prefix("cosh")),
    np.tanh: Row(prefix("tanh")),
    np.arcsinh: Row(prefix("arcsinh")),
    np.arccosh: Row(prefix("arccosh")),
    np.arctanh: Row(prefix("arctanh")),
    np.deg2rad: Row(scaled(np.pi / 180)),
    np.radians: Row(scaled(np.pi / 180)),
    np.rad2deg: Row(scaled(180 / np.pi)),
    np.degrees: Row(scaled(180 / np.pi)),
    np.floor: Row(prefix("floor")),
    np.ceil: Row(prefix("ceil")),
    np.trunc: Row(prefix("truncate")),
    np.rint: Row(prefix("round")),
    np.equal: Row(infix("==", COMPARE), of="common"),
    np.not_equal: Row(infix("!=", COMPARE), of="common"),
    np.less: Row(infix("<", COMPARE), of="number"),
    np.less_equal: Row(infix("<=", COMPARE), of="number"),
    np.greater: Row(infix(">", COMPARE), of="number"),
    np.greater_equal: Row(infix(">=", COMPARE), of="number"),
    np.logical_and: Row(infix("&&", AND), of="bool"),
    np.logical_or: Row(infix("||", OR), of="bool"),
    np.logical_xor: Row(infix("!=", COMPARE), of="bool"),
    np.logical_not: Row(prefix("not"), of="bool"),
    np.bitwise_and: Row(None, truth=infix("&&", AND)),
    np.bitwise_or: Row(None, truth=infix("||", OR)),
    np.bitwise_xor: Row(None, truth=infix("!=", COMPARE)),
    np.invert: Row(lambda line: (f"-1 - {line.argument(0, PRODUCT)}", SUM), truth=prefix("not")),
    np.isnan: Row(lambda line: ("{0} != {0}".format(line.name(0)), COMPARE), of="own"),
    np.isinf: Row(lambda line: (f"abs {line.name(0)} == inf", COMPARE), of="own"),
    np.isfinite: Row(lambda line: (f"{line.name(0)} * 0.0 == 0.0", COMPARE), of="own"),
}
_TWICE = {np.isnan, np.isfinite, np.isinf}  # read their argument more than once
_OF_SIZES = {np.true_divide, np.multiply, np.sqrt, np.log, np.negative, np.absolute, np.log2, np.reciprocal}


def recorded(ufunc, *arguments, **options):
    """The node of a function of elements."""
    dtype, casting = options.pop("dtype", None), options.pop("casting", "same_kind")
    if any(value is not None for key, value in options.items() if key not in ("order", "subok")):
        unrecorded(f"np.{ufunc.__name__} with {', '.join(options)}, which is not recorded")
    nodes = [node_of(argument) for argument in arguments]
    if dtype is not None and not all(np.can_cast(node.dtype, dtype, casting) for node in nodes):
        given = ", ".join(str(node.dtype) for node in nodes)
        complain(f"np.{ufunc.__name__}: {given} as {np.dtype(dtype)} in casting {casting!r}")
    made = _special(ufunc, nodes) if dtype is None else None
    return made if made is not None else _by_table(ufunc, nodes, dtype)


def _result_of(ufunc, dtype=None):
    """The question which type NumPy gives."""
    def question(*values):
        with np.errstate(all="ignore"):
            try:
                return np.asarray(ufunc(*values) if dtype is None else ufunc(*values, dtype=dtype)).dtype
            except (TypeError, ValueError) as error:
                return complain(f"np.{ufunc.__name__}: {error}")
    return question


def answer_of(ufunc, nodes):
    """The type that NumPy gives."""
    return answer(_result_of(ufunc), nodes)


def _by_table(ufunc, nodes, dtype=None):
    row, trace = _TABLE[ufunc], Trace.current()
    if any(node.dtype == U64 for node in nodes) and ufunc not in (np.add, np.subtract, np.multiply, np.positive):
        lacks_type("sums of unsigned integers are uint64 in NumPy, which Axon lacks: name another type, as in "
                   "`x.sum(dtype=np.int64)`")
    result = answer(_result_of(ufunc, dtype), nodes)
    found = answer(np.result_type, nodes)
    operand = {"result": lambda: result, "bool": lambda: BOOL, "own": lambda: nodes[0].dtype,
               "common": lambda: found,
               "number": lambda: I8 if found == BOOL else found}[row.of]()
    if row.of == "own" and operand.kind == "i" and ufunc is np.signbit:
        return _by_table(np.less, [*nodes, trace.constant(0, operand)])
    if row.of == "own" and operand.kind != "f":
        truth = trace.constant(ufunc is np.isfinite, BOOL)
        return views.broadcast_to(truth, nodes[0].shape) if nodes[0].rank else truth
    write = row.writer(operand)
    if write is None or (operand.kind in "iu" and row.write is None):
        unrecorded(f"np.{ufunc.__name__} of {operand} is not recorded")
    of_sizes = all(node.value is not None or node.size is not None or node.samples for node in nodes)
    nodes = [cast(node, operand) for node in nodes]
    if all(node.value is not None for node in nodes):
        return _folded(ufunc, nodes, result)
    known = (ufunc, result, *nodes)
    if known in trace.known:  # of the same numbers
        return trace.known[known]
    made = trace.node(trace.broadcast([node.shape for node in nodes]), result, nodes, write,
                      named=(0,) if ufunc in _TWICE else ())
    trace.known[known] = made
    if made.rank == 0 and ufunc in _OF_SIZES and of_sizes and result.kind == "f":
        made.samples = [result.type(1), result.type(1e6)] if result != np.float16 else [result.type(1)]
    return made


def _folded(ufunc, nodes, dtype):
    """A number, where all arguments are numbers."""
    with np.errstate(all="ignore"):
        return nodes[0].trace.constant(ufunc(*(node.dtype.type(node.value) for node in nodes)).astype(dtype), dtype)


# ---- What NumPy does for certain types and numbers ----

def _special(ufunc, nodes):
    if ufunc in _SPECIAL:
        return _SPECIAL[ufunc](nodes)
    return None


def _number(node):
    return node.value if node.value is not None and not isinstance(node.value, bool) else None


def _power(nodes):
    """Powers of a number: those that NumPy computes by other means, and of integers, by products."""
    x, exponent = nodes
    number = _number(exponent)
    dtype = answer(_result_of(_power_of_one), nodes)
    if dtype.kind == "f":
        x = cast(x, dtype)
        if number == 2:
            return _by_table(np.multiply, [x, x])
        if number == 1:
            return x
        if number == 0.5:
            return _by_table(np.sqrt, [x])
        if number == -1:
            return _by_table(np.reciprocal, [x])
        return None
    if number is None and exponent.size is not None:
        number = int(_size_number(exponent))
    if number is None:
        return _integer_power_of(cast(x, dtype), cast(exponent, dtype))
    if number < 0:
        complain("integers to negative powers are not allowed in NumPy: convert the base to a float")
    return _integer_power(cast(x, dtype), int(number))


def _power_of_one(x, exponent):
    """np.power, which refuses negative powers of integers only by their value."""
    return np.power(x, np.abs(exponent)) if np.asarray(x).dtype.kind in "iub" and \
        np.asarray(exponent).dtype.kind in "iu" else np.power(x, exponent)


def _size_number(node):
    facts = node.trace.facts
    number = facts.hint(facts.normal(node.size))
    facts.equal(facts.normal(node.size), node.trace.dim(number))
    return number


def _integer_power(x, number):
    trace, result = x.trace, None
    if number == 0:
        return views.broadcast_to(trace.constant(1, x.dtype), x.shape)
    while True:
        if number % 2:
            result = x if result is None else _by_table(np.multiply, [result, x])
        number //= 2
        if not number:
            return result
        x = _by_table(np.multiply, [x, x])


def _integer_power_of(x, exponent):
    """By exponents that only a run has: NumPy refuses negative ones."""
    trace = x.trace
    if exponent.dtype.kind == "i":
        from .reductions import any_of  # which is made of functions of elements
        negative = any_of(_by_table(np.less, [exponent, trace.constant(0, exponent.dtype)]))
        trace.checks.append(Check([negative], lambda there: not there, lambda _: "integers to negative powers are not "
                                  "allowed in NumPy: convert the base to a float"))
    return _of_each("int_power", x, exponent)


def _of_each(function, x, y):
    """A function of numpy.axn that goes through the elements of two."""
    shape = x.trace.broadcast([x.shape, y.shape])
    nodes = [views.broadcast_to(it, shape) for it in (x, y)]
    return x.trace.node(shape, x.dtype, nodes, prefix(function))


def _divided(ufunc):
    """Quotients and remainders of integers by a number that is not 0 need no look at the divisor."""
    def special(nodes):
        number = _number(nodes[1])
        dtype = answer(_result_of(ufunc), nodes)
        if dtype.kind not in "iu" or not number:
            return None
        nodes = [cast(node, dtype) for node in nodes]
        sign = "/" if ufunc is np.floor_divide else "%"
        if nodes[0].value is not None:
            return None
        return nodes[0].trace.node(nodes[0].shape, dtype, nodes, infix(sign, PRODUCT))
    return special


def _bits(ufunc):
    """Of integers, bit by bit; `&` with the lowest bits is a remainder."""
    def special(nodes):
        dtype = answer(_result_of(ufunc), nodes)
        if dtype == BOOL or all(node.value is not None for node in nodes):
            return None
        number = _number(nodes[1]) if ufunc is np.bitwise_and else None
        if number is not None and 0 < number < np.iinfo(dtype).max and not int(number) & (int(number) + 1):
            return _by_table(np.remainder, [cast(nodes[0], dtype), nodes[0].trace.constant(int(number) + 1, dtype)])
        return _of_each(f"{_BITS[ufunc]} {8 * dtype.itemsize}", *(cast(node, dtype) for node in nodes))
    return special


_BITS = {np.bitwise_and: "int_and", np.bitwise_or: "int_or", np.bitwise_xor: "int_xor"}


def _shift(ufunc):
    def special(nodes):
        dtype, number = answer(_result_of(ufunc), nodes), _number(nodes[1])
        if number is None or not 0 <= number < 8 * dtype.itemsize - 1:
            return _shifted(ufunc, *(cast(node, dtype) for node in nodes))
        factor = nodes[0].trace.constant(2 ** int(number), dtype)
        whole = cast(nodes[0], dtype)
        sign = np.multiply if ufunc is np.left_shift else np.floor_divide
        return recorded(sign, whole, factor)
    return special


def _shifted(ufunc, x, y):
    """By numbers of bits that only a run has, in 64 bits."""
    function = "shifted_left" if ufunc is np.left_shift else "shifted_right"
    return cast(x.trace.node(x.trace.broadcast([x.shape, y.shape]), I64, [cast(x, I64), cast(y, I64)], lambda line: (
        f"{function} {line.typed(0, ATOM)} {line.typed(1, ATOM)}", APPLY)), x.dtype)


def _sign(nodes):
    """Of unsigned numbers, which are not negative."""
    if nodes[0].dtype.kind != "u":
        return None
    zero = nodes[0].trace.constant(0, nodes[0].dtype)
    return cast(_by_table(np.greater, [nodes[0], zero]), nodes[0].dtype)


def _reciprocal(nodes):
    """Of integers: 1 and -1 are themselves, and all others give 0, but 0, whose reciprocal NumPy leaves open."""
    if nodes[0].dtype.kind not in "iu":
        return None
    x = nodes[0]
    one, zero = x.trace.constant(1, x.dtype), x.trace.constant(0, x.dtype)
    size = _by_table(np.absolute, [x])
    return where(_by_table(np.equal, [size, one]), x, zero)


def _unsigned_itself(nodes):
    return nodes[0] if nodes[0].dtype.kind == "u" else None


def _positive(nodes):
    """Of truth values: NumPy's operator gives a copy, which its function, called by name, refuses."""
    return nodes[0] if nodes[0].dtype == BOOL else None


def _invert(nodes):
    """Of an unsigned number: what it lacks to the largest."""
    x = nodes[0]
    if x.dtype.kind != "u":
        return None
    return _by_table(np.subtract, [x.trace.constant(np.iinfo(x.dtype).max, x.dtype), x])


def _divisors(function):
    """Common divisors and multiples of integers."""
    def special(nodes):
        dtype = answer(_result_of(np.gcd), nodes)
        return _of_each(function, *(cast(node, dtype) for node in nodes))
    return special


_SPECIAL = {np.power: _power, np.sign: _sign, np.reciprocal: _reciprocal, np.absolute: _unsigned_itself,
            np.invert: _invert, np.positive: _positive, np.gcd: _divisors("greatest_divisor"),
            np.lcm: _divisors("least_multiple")}
_SPECIAL |= {ufunc: _bits(ufunc) for ufunc in _BITS}
_SPECIAL |= {ufunc: _divided(ufunc) for ufunc in (np.floor_divide, np.remainder)}
_SPECIAL |= {ufunc: _shift(ufunc) for ufunc in (np.left_shift, np.right_shift)}


def _square(x, **options):
    """Of truth values in 8 bits, as NumPy has it."""
    x = node_of(x)
    x = cast(x, I8) if x.dtype == BOOL else x
    return recorded(np.multiply, x, x, **options)


def _row(ufunc):
    return lambda *arguments, **options: recorded(ufunc, *arguments, **options)


UFUNCS |= {ufunc: _row(ufunc) for ufunc in [*_TABLE, np.left_shift, np.right_shift]}
UFUNCS[np.square] = _square
UFUNCS[np.divmod] = lambda x, y: (recorded(np.floor_divide, x, y), recorded(np.remainder, x, y))
UFUNCS[np.heaviside] = lambda x, at_0: where(
    recorded(np.equal, x, 0), at_0,
    cast(recorded(np.greater, x, 0), answer(_result_of(np.heaviside), [node_of(x), node_of(at_0)])))


@says(np.where)
def where(condition, x=None, y=None):
    if x is None or y is None:
        from .positions import nonzero  # which is made of functions of elements
        return nonzero(condition)
    condition, x, y = node_of(condition), node_of(x), node_of(y)
    dtype = answer(np.result_type, [x, y])
    nodes = [cast(condition, BOOL), cast(x, dtype), cast(y, dtype)]
    trace = Trace.current()
    if nodes[0].value is not None:
        return views.broadcast_to(nodes[1] if nodes[0].value else nodes[2], trace.broadcast([it.shape for it in nodes]))
    return trace.node(trace.broadcast([node.shape for node in nodes]), dtype, nodes, select)


@says(np.result_type)
def result_type(*arrays_and_dtypes):
    types = [it for it in arrays_and_dtypes if isinstance(it, (type, str, np.dtype))]
    return answer(lambda *values: np.result_type(*values, *types), [node_of(it) for it in arrays_and_dtypes if it not in types])


@says(np.clip, method="clip")
def clip(a, a_min=None, a_max=None, min=None, max=None):
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if low is None and high is None:
        complain("np.clip needs a bound")
    nodes = [node_of(it) for it in (a, low, high) if it is not None]
    bounds = nodes[1:]
    dtype = answer(np.result_type, nodes)
    result = nodes[0]
    result = cast(result, dtype)
    if low is not None:
        result = _by_table(np.maximum, [result, cast(bounds[0], dtype)])
    if high is not None:
        result = _by_table(np.minimum, [result, cast(bounds[-1], dtype)])
    return result


@says(np.around, np.round_, method="round")
def around(a, decimals=0):
    x = node_of(a)
    if x.dtype.kind != "f":
        if decimals < 0 and x.dtype != BOOL:
            ten = 10.0 ** -decimals
            return cast(recorded(np.multiply, recorded(np.rint, recorded(np.true_divide, x, ten)), ten), x.dtype)
        if x.dtype == BOOL and decimals:
            complain("truth values are not rounded to digits")
        return cast(x, np.float16) if x.dtype == BOOL else x
    factor = x.trace.constant(10.0 ** abs(decimals), x.dtype)
    if decimals == 0:
        return _by_table(np.rint, [x])
    before, after = (np.multiply, np.true_divide) if decimals > 0 else (np.true_divide, np.multiply)
    return recorded(after, recorded(np.rint, recorded(before, x, factor)), factor)


@says(method="astype")
def astype(a, dtype, order="K", casting="unsafe", subok=True, copy=True):
    if not np.can_cast(node_of(a).dtype, dtype, casting):
        complain(f"{node_of(a).dtype} does not become {np.dtype(dtype)} in casting {casting!r}")
    return cast(node_of(a), dtype)


@says(np.copy, method=("copy", "__copy__"))
def copy(a, order="K"):
    return node_of(a)


@says(method="__deepcopy__")
def deepcopy(a, memo):
    return node_of(a)


@says(np.nan_to_num)
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    node = node_of(x)
    if node.dtype.kind != "f":
        return node
    limits = np.finfo(node.dtype)
    number = node.trace.constant
    high = number(limits.max if posinf is None else posinf, node.dtype)
    low = number(limits.min if neginf is None else neginf, node.dtype)
    inf, zero = number(np.inf, node.dtype), number(nan, node.dtype)

    def chosen(condition, a, b):
        return node.trace.node(node.shape, node.dtype, (condition, a, b), select)
    result = chosen(_by_table(np.equal, [node, inf]), high, node)
    result = chosen(_by_table(np.equal, [node, number(-np.inf, node.dtype)]), low, result)
    return chosen(_by_table(np.isnan, [node]), zero, result)


@says(np.isclose)
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    b = node_of(b)
    b = cast(b, answer(lambda y: np.result_type(y, 1.0), [b])) if b.dtype.kind != "f" else b
    a, b = array_of(a), array_of(b)
    close = np.less_equal(np.abs(np.subtract(a, b)), np.add(atol, np.multiply(rtol, np.abs(b))))
    close = np.logical_or(np.logical_and(close, np.isfinite(b)), np.equal(a, b))
    return np.logical_or(close, np.logical_and(np.isnan(a), np.isnan(b))) if equal_nan else close


METHODS["conj"] = METHODS["conjugate"] = copy
