"""Arrays made of sizes and numbers.

NumPy asks its arguments to record only for some functions: `np.zeros(n)` wants a number. While a function is recorded,
those of NumPy's module in the table `MAKING` are replaced by ones that record where an argument is recorded, and that
are NumPy's own otherwise, in other threads too. Arrays of one number (`_FILLED`) are recorded in any case where the
function itself makes them, as it may store into them what is recorded, and so are those with a diagonal (`_DIAGONAL`), as it
may read rows of them at recorded positions.
"""
import contextlib
import math
import sys
from fractions import Fraction

import numpy as np

from . import views
from .graph import APPLY, ATOM, OPEN, SUM, Trace, cast, flat, is_recorded
from .place import Place, complain, outlives, unrecorded
from .shapes import sizes_of
from .sizes import Dim
from .values import ELEMS, F64, I64, Check
from .vocabulary import array_of, node_of, says

MAKING = {}
_DIAGONAL = ("eye", "identity")
_FILLED = ("zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "full_like")


def makes(name):
    """The row of a function of NumPy that makes arrays."""
    def add(handler):
        MAKING[name] = handler
        return handler
    return add


@contextlib.contextmanager
def recording():
    """NumPy's modules, with functions that make arrays of sizes, and without random numbers, which would be those of the
    recording in all calls."""
    random = [name for name in np.random.__all__ if callable(getattr(np.random, name))
              and not isinstance(getattr(np.random, name), type)]
    own = [(*_place_of(name), MAKING[name]) for name in MAKING] + [(np.random, name, None) for name in random]
    own = [(module, name, getattr(module, name), handler) for module, name, handler in own]
    brackets = {name: getattr(np, name) for name in ("r_", "c_")}
    try:
        for name, joiner in brackets.items():
            setattr(np, name, _Joiner(joiner, name == "c_"))
        for module, name, function, handler in own:
            setattr(module, name, _either(function, handler) if handler else _refused(function, name))
        yield
    finally:
        for module, name, function, _ in own:
            setattr(module, name, function)
        for name, joiner in brackets.items():
            setattr(np, name, joiner)


class _Joiner:
    """np.r_ or np.c_: what stands in brackets, joined along the first axis, or as columns along the last."""

    def __init__(self, own, columns):
        self._own, self._columns = own, columns

    def __getitem__(self, key):
        from .array import wrapped
        parts = key if isinstance(key, tuple) else (key,)
        inside = [it for part in parts for it in ((part.start, part.stop, part.step) if isinstance(part, slice) else (part,))]
        if not any(is_recorded(it) for it in flat(inside)):
            return self._own[key]
        return wrapped(self._joined([self._part(part) for part in parts]), is_number=False)

    def _joined(self, nodes):
        from .shapes import joined
        from .values import answer
        dtype = answer(np.result_type, nodes)
        if self._columns:
            nodes = [views.expanded(it, list(range(it.rank, 2))) for it in nodes]
            return joined([cast(it, dtype) for it in nodes], nodes[0].rank - 1)
        return joined([cast(views.expanded(it, [0]) if not it.rank else it, dtype) for it in nodes], 0)

    @staticmethod
    def _part(part):
        if isinstance(part, str) or (isinstance(part, slice) and isinstance(part.step, complex)):
            unrecorded("np.r_ and np.c_ with texts or imaginary steps are not recorded: np.linspace divides a range evenly")
        if isinstance(part, slice):
            return arange(part.start or 0, part.stop, 1 if part.step is None else part.step)
        return node_of(part)

    def __getattr__(self, name):
        return getattr(self._own, name)


def _place_of(name):
    """The module of a function, and its name there."""
    return (np.fft, name[4:]) if name.startswith("fft.") else (np, name)


def _refused(function, name):
    def chosen(*arguments, **named):
        if Trace.is_active():
            outlives(f"np.random.{name} would be drawn once, for all calls: give random numbers as an argument")
        return function(*arguments, **named)
    return chosen


def _either(function, handler):
    from .array import wrapped

    def chosen(*arguments, **named):
        if any(is_recorded(it) for it in flat([*arguments, *named.values()])):
            return wrapped(handler(*arguments, **named), is_number=False)
        made = function(*arguments, **named)
        mine = Trace.is_active() and not Place.is_own(sys._getframe(1)) and getattr(made, "dtype", None) in ELEMS
        if mine and function.__name__ in _DIAGONAL:
            node = handler(*arguments, **named)
            node.fill = made
            return wrapped(node, is_number=False)
        if mine and function.__name__ in _FILLED:
            number = 0 if "empty" in function.__name__ or not made.size else made.flat[0]
            return wrapped(filled(made.shape, number, made.dtype), is_number=False)
        return made
    chosen.__name__ = function.__name__
    return chosen


def filled(shape, value, dtype):
    """One number everywhere."""
    made = views.broadcast_to(cast(node_of(value), dtype), shape)
    made.fill = cast(node_of(value), dtype).value
    return made


def _of_one(value):
    def row(shape, dtype=None, order="C"):
        return filled(sizes_of(shape), value, np.dtype(dtype or F64))
    return row


makes("zeros")(_of_one(0))
makes("empty")(_of_one(0))
makes("ones")(_of_one(1))


@makes("full")
def full(shape, fill_value, dtype=None, order="C"):
    node = node_of(fill_value)
    return views.broadcast_to(cast(node, np.dtype(dtype or node.dtype)), sizes_of(shape))


def _like(value):
    def row(a, dtype=None, order="K", subok=True, shape=None):
        node = node_of(a)
        return filled(sizes_of(shape) if shape is not None else list(node.trace.shape_of(node)), value,
                      np.dtype(dtype or node.dtype))
    return row


for _name in ("zeros_like", "empty_like"):
    makes(_name)(says(getattr(np, _name))(_like(0)))
makes("ones_like")(says(np.ones_like)(_like(1)))


@makes("full_like")
@says(np.full_like)
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    return _like(fill_value)(a, dtype, order, subok, shape)


@makes("eye")
def eye(N, M=None, k=0, dtype=float, order="C"):
    trace = Trace.current()
    rows, columns, offset = trace.dim(N), trace.dim(N if M is None else M), trace.dim(k)
    one = trace.constant(1, np.dtype(dtype))

    def write(line):
        i, j = line.binders(2)
        number = line.program.trace.facts.normal(offset)
        column = i if number.is_number(0) else f"{i} + {line.size(number, SUM + 1)}"
        one = "true" if line.node.dtype == bool else line.typed(0)
        zero = "false" if line.node.dtype == bool else "0"
        shape = line.shape()
        return (f"for ({i} < {line.size(shape[0], SUM)}) ({j} < {line.size(shape[1], SUM)}) => "
                f"if {j} == {column} then {one} else {zero}"), OPEN
    return trace.node([rows, columns], np.dtype(dtype), (one,), write)


makes("identity")(lambda n, dtype=float: eye(n, dtype=dtype))


@makes("arange")
def arange(start, stop=None, step=1, dtype=None):
    trace = Trace.current()
    start, stop = (0, start) if stop is None else (start, stop)
    bounds = start, stop, step
    if any(hasattr(bound, "node") for bound in bounds):
        return _arange_of_data(*bounds, dtype)
    if any(isinstance(bound, (float, np.floating)) for bound in bounds):
        return _arange_of_floats(*bounds, dtype)
    start, stop, step = trace.dim(start), trace.dim(stop), int(step)
    if step == 0:
        complain("np.arange with a step of 0")
    length = stop - start if step > 0 else start - stop
    if not trace.facts.at_least(length, Dim.of(0)):
        length = Dim.of(0)
    node = count_from(start, step, (length + abs(step) - 1).quotient(Dim.of(abs(step))))
    return cast(node, np.dtype(dtype or I64))


def _arange_of_data(start, stop, step, dtype):
    """Between numbers that only a run has, as many elements as that gives."""
    from .pointwise import recorded
    bounds = [node_of(it) for it in (start, stop, step)]
    if any(it.rank for it in bounds):
        complain("np.arange is between numbers")
    dtype = np.dtype(dtype or np.arange(*(it.dtype.type(1) for it in bounds)).dtype)
    start, stop, step = bounds if all(it.dtype.kind in "iu" for it in bounds) else [cast(it, F64) for it in bounds]
    count = recorded(np.negative, recorded(np.floor_divide, recorded(np.subtract, start, stop), step))
    place = Trace.current().counted(cast(recorded(np.maximum, count, 0), I64))
    return cast(recorded(np.add, start, recorded(np.multiply, cast(place, start.dtype), step)), dtype)


def _arange_of_floats(start, stop, step, dtype):
    """Of sizes and numbers, some of which are floats. The length is a polynomial where they are fractions by powers of 2;
    else it is that of this call, and the sizes are numbers from then on."""
    from .pointwise import recorded
    trace = Trace.current()
    if float(step) == 0:
        complain("np.arange with a step of 0")
    parts = [Fraction(it) if isinstance(it, (int, float, np.number)) else None for it in (start, stop, step)]
    if any(it is not None and (it.denominator > 2**20 or abs(it) > 2**20) for it in parts) or parts[2] is None:
        return node_of(np.arange(*map(float, (start, stop, step)), dtype=dtype))
    scale = math.lcm(*(it.denominator for it in parts if it is not None))
    first, last = (trace.dim(at) * scale if it is None else Dim.of(int(it * scale)) for at, it in zip((start, stop), parts))
    width = abs(int(parts[2] * scale))
    length = last - first if parts[2] > 0 else first - last
    if not trace.facts.at_least(length, Dim.of(0)):
        length = Dim.of(0)
    place = cast(count_from(Dim.of(0), 1, (length + width - 1).quotient(Dim.of(width))), F64)
    made = recorded(np.multiply, place, float(step))
    made = made if parts[0] == 0 else recorded(np.add, made, cast(node_of(start), F64))
    return cast(made, np.dtype(dtype or F64))


def count_from(start, step, length):
    """start, start + step, ..."""
    trace = Trace.current()

    def write(line):
        extent = line.shape()[0]
        i, = line.binders(1)
        first = line.program.trace.facts.normal(start)
        if first.is_number(0) and step == 1:
            return f"iota {line.size(extent, ATOM)}", APPLY
        term = i if step == 1 else f"{step} * {i}" if step > 0 else f"({step}) * {i}"
        text = term if first.is_number(0) else f"{line.size(first, SUM)} + {term}"
        return f"for ({i} < {line.size(extent, SUM)}) => {text}", OPEN
    node = trace.node([length], I64, (), write)
    node.nonnegative = step > 0 and trace.facts.least(trace.facts.normal(start)) is not None and \
        trace.facts.least(trace.facts.normal(start)) >= 0
    return node


def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    from .pointwise import recorded, where
    from .shapes import moveaxis
    trace = Trace.current()
    count = trace.dim(num)
    parts = count - 1 if endpoint else count
    start, stop = node_of(start), node_of(stop)
    within = np.result_type(start.dtype, stop.dtype, *[F64] * (start.rank == stop.rank == 0 or start.dtype.kind != "f"))
    start, stop = cast(start, within), cast(stop, within)
    dtype, shape = np.dtype(dtype or within), trace.broadcast([start.shape, stop.shape])
    place = views.expanded(count_from(Dim.of(0), 1, count), list(range(1, 1 + len(shape))))
    if trace.facts.at_least(parts, Dim.of(1)):
        step = recorded(np.true_divide, recorded(np.subtract, stop, start), cast(trace.of_size(parts), within))
        made = recorded(np.multiply, cast(place, within), step)
        made = made if start.value == 0 else recorded(np.add, made, start)
        if endpoint:
            made = where(recorded(np.equal, place, trace.of_size(parts)), stop, made)
    else:
        step, made = trace.constant(np.nan, F64), views.broadcast_to(start, [count, *shape])
    made = moveaxis(cast(recorded(np.floor, made) if dtype.kind in "iu" else made, dtype), 0, axis)
    return (made, step) if retstep else made


says(np.linspace)(_linspace)
makes("linspace")(_linspace)


@makes("logspace")
@says(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    from .pointwise import recorded
    made = recorded(np.power, base, _linspace(start, stop, num, endpoint, axis=axis))
    return made if dtype is None else cast(made, dtype)


@makes("geomspace")
@says(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Between positive numbers, which each run checks; the ends are exact."""
    from .pointwise import recorded, where
    from .reductions import all_of
    trace, ends = Trace.current(), [node_of(it) for it in (start, stop)]
    for end in ends:
        if end.value is None:
            positive = all_of(recorded(np.greater, end, 0))
            trace.checks.append(Check([positive], bool, lambda _: "np.geomspace is recorded between positive numbers"))
        elif not end.value > 0:
            unrecorded("np.geomspace is recorded between positive numbers")
    if any(end.rank for end in ends):
        unrecorded("np.geomspace is recorded between numbers")
    count = trace.dim(num)
    made = logspace(*(recorded(np.log10, cast(end, F64)) for end in ends), num, endpoint)
    place = count_from(Dim.of(0), 1, count)
    made = where(recorded(np.equal, place, 0), ends[0], made)
    made = where(recorded(np.equal, place, trace.of_size(count - 1)), ends[1], made) if endpoint and num != 1 else made
    return cast(made, dtype or F64)


@makes("tri")
def tri(N, M=None, k=0, dtype=float):
    from .positions import tril
    trace = Trace.current()
    return tril(filled([trace.dim(N), trace.dim(N if M is None else M)], 1, np.dtype(dtype)), k)


@makes("indices")
def indices(dimensions, dtype=int, sparse=False):
    from .shapes import stack
    sizes = sizes_of(dimensions)
    rank = len(sizes)
    grids = [cast(views.expanded(count_from(Dim.of(0), 1, size), [at for at in range(rank) if at != axis]), dtype)
             for axis, size in enumerate(sizes)]
    return tuple(grids) if sparse else stack([views.broadcast_to(grid, sizes) for grid in grids])


# ---- What is an array already ----

def _as_array(object, dtype=None, *arguments, **named):
    """A recorded array itself, of another type where one is named; lists of recorded numbers and arrays as one."""
    node = node_of(object)
    if dtype is None or np.dtype(dtype) == node.dtype:
        return object if hasattr(object, "node") and not object.is_number else node
    return cast(node, dtype)


for _name in ("asarray", "asanyarray", "ascontiguousarray", "asfarray", "asfortranarray", "asarray_chkfinite"):
    makes(_name)(_as_array)
makes("array")(lambda object, dtype=None, copy=True, order="K", subok=False, ndmin=0: node_of(
    _as_array(object, dtype)))


# ---- Of sizes alone ----

@makes("broadcast_shapes")
def broadcast_shapes(*shapes):
    from .array import integer
    return tuple(map(integer, Trace.current().broadcast([sizes_of(shape) for shape in shapes])))


def _positions_in_triangle(lower):
    def row(n, k=0, m=None):
        from .indexing import nonzero
        mask = tri(n, m, k if lower else k - 1, bool)
        return tuple(nonzero(mask if lower else _not(mask)))
    return row


def _not(mask):
    from .pointwise import recorded
    return recorded(np.logical_not, mask)


makes("tril_indices")(_positions_in_triangle(True))
makes("triu_indices")(_positions_in_triangle(False))
for _name in ("tril_indices", "triu_indices"):
    says(getattr(np, f"{_name}_from"))((lambda of: lambda arr, k=0: of(*map(_size, node_of(arr).shape[:1]), k, *map(
        _size, node_of(arr).shape[1:])))(MAKING[_name]))


def _size(dim):
    from .array import integer
    return integer(Trace.current().facts.normal(dim))


@makes("fft.fftfreq")
def fftfreq(n, d=1.0):
    if n == 0:
        complain("np.fft.fftfreq of no samples")
    half = (n - 1) // 2 + 1
    return np.concatenate([array_of(arange(0, half)), array_of(arange(-(n // 2), 0))]) * (1.0 / (n * d))


@makes("fft.rfftfreq")
def rfftfreq(n, d=1.0):
    if n == 0:
        complain("np.fft.rfftfreq of no samples")
    return array_of(arange(0, n // 2 + 1)) * (1.0 / (n * d))


# ---- Of arrays that are not recorded, which alone NumPy asks ----

@makes("take")
def take_from(a, indices, axis=None, out=None, mode="raise"):
    return array_of(a).take(indices, axis=axis, out=out, mode=mode)


@makes("repeat")
def repeat_of(a, repeats, axis=None):
    return array_of(a).repeat(repeats, axis)
