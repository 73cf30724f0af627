"""Arrays made of sizes and numbers.

NumPy asks its arguments to record only for some functions: `np.zeros(n)` wants a number. While a function is recorded,
those of NumPy's module in the table `MAKING` are replaced by ones that record where an argument is recorded, and that
are NumPy's own otherwise, in other threads too. Arrays of one number (`_FILLED`) are recorded in any case where the
function itself makes them, as it may store into them what is recorded.
"""
import contextlib
import sys

import numpy as np

from . import views
from .graph import APPLY, ATOM, OPEN, SUM, Trace, cast, flat, is_recorded
from .place import Place, complain, outlives, unrecorded
from .shapes import sizes_of
from .sizes import Dim
from .values import ELEMS, F64, I64
from .vocabulary import node_of, says

MAKING = {}
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
    own = [(np, name, getattr(np, name)) for name in MAKING] + [(np.random, name, getattr(np.random, name)) for name in random]
    try:
        for module, name, function in own:
            setattr(module, name, _either(function, MAKING[name]) if module is np else _refused(function, name))
        yield
    finally:
        for module, name, function in own:
            setattr(module, name, function)


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
        if function.__name__ in _FILLED and Trace.is_active() and not Place.is_own(sys._getframe(1)) and made.dtype in ELEMS:
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
    for bound in (start, stop, step):
        if not isinstance(bound, (int, np.integer)) and not hasattr(bound, "dim"):
            unrecorded("np.arange is recorded for integers: np.linspace divides a range evenly")
    start, stop, step = trace.dim(start), trace.dim(stop), int(step)
    if step == 0:
        complain("np.arange with a step of 0")
    length = stop - start if step > 0 else start - stop
    if not trace.facts.at_least(length, Dim.of(0)):
        length = Dim.of(0)
    node = count_from(start, step, (length + abs(step) - 1).quotient(Dim.of(abs(step))))
    return cast(node, np.dtype(dtype or I64))


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
    trace = Trace.current()
    if retstep or axis != 0:
        unrecorded("np.linspace with `retstep` or `axis` is not recorded")
    count = trace.dim(num)
    parts = count - 1 if endpoint else count
    start, stop = cast(node_of(start), F64), cast(node_of(stop), F64)
    if start.rank or stop.rank:
        unrecorded("np.linspace is recorded between two numbers")
    position = cast(count_from(Dim.of(0), 1, count), F64)
    from .pointwise import recorded
    if not trace.facts.at_least(parts, Dim.of(1)):
        return cast(views.broadcast_to(start, [count]), np.dtype(dtype or F64))
    step = recorded(np.true_divide, recorded(np.subtract, stop, start), trace.of_size(parts))
    return cast(recorded(np.add, recorded(np.multiply, position, step), start), np.dtype(dtype or F64))


says(np.linspace)(_linspace)
makes("linspace")(_linspace)


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


for _name in ("asarray", "asanyarray", "ascontiguousarray", "asfarray"):
    makes(_name)(_as_array)
makes("array")(lambda object, dtype=None, copy=True, order="K", subok=False, ndmin=0: node_of(
    _as_array(object, dtype)))
