"""Choices between arrays, comparisons of whole arrays, and arrays with other elements, axes or blocks of them."""
import numpy as np

from . import views
from .graph import OPEN, Trace, cast
from .place import complain, unrecorded
from .pointwise import where
from .positions import by_position
from .reductions import all_of, any_of, front, largest, smallest
from .shapes import _array as known_shape, joined, ravel, reshape_to, sizes_of
from .sizes import Dim
from .values import BOOL, Check, I64, answer
from .vocabulary import METHODS, array_of, node_of, says


# ---- Between arrays ----

@says(np.select)
def select_first(condlist, choicelist, default=0):
    """The choice of the first condition that holds."""
    if len(condlist) != len(choicelist) or not condlist:
        complain(f"np.select has {len(condlist)} conditions for {len(choicelist)} choices")
    choices = [node_of(it) for it in (*choicelist, default)]
    conditions = [node_of(it) for it in condlist]
    if any(it.dtype != BOOL for it in conditions):
        complain("the conditions of np.select are truth values")
    without_default = answer(np.result_type, choices[:-1])
    dtype = answer(lambda value: np.result_type(without_default, value), choices[-1:])
    shape = Trace.current().broadcast([it.shape for it in (*choices, *conditions)])
    made = cast(choices[-1], dtype)
    for condition, choice in reversed(list(zip(conditions, choices))):
        made = where(condition, cast(choice, dtype), made)
    return views.broadcast_to(made, shape)


@says(np.choose)
def choose(a, choices, out=None, mode="raise"):
    """Of as many arrays as the list has."""
    index, nodes = node_of(a), [node_of(it) for it in choices]
    if index.dtype.kind not in "iub" or not nodes:
        complain(f"np.choose chooses by integers among arrays, not by {index.dtype} among {len(nodes)}")
    trace, last, index = index.trace, len(nodes) - 1, cast(index, I64)
    dtype = answer(np.result_type, nodes)
    shape = trace.broadcast([it.shape for it in (index, *nodes)])
    if mode == "wrap":
        index = np.remainder(array_of(index), len(nodes)).node
    elif mode == "raise":
        low, high = smallest(index, initial=0), largest(index, initial=0)
        trace.checks.append(Check([low, high], lambda low, high: low >= 0 and high <= last, lambda low, high: (
            f"np.choose has {last + 1} choices, and chooses number {int(low if low < 0 else high)}")))
    made = cast(nodes[-1], dtype)
    for at in range(last)[::-1]:
        made = where(np.less_equal(array_of(index), at), cast(nodes[at], dtype), made)
    return views.broadcast_to(made, shape)


METHODS["choose"] = choose


@says(np.piecewise)
def piecewise(x, condlist, funclist, *args, **named):
    """Functions see the elements that their condition chooses, and nothing else."""
    x = array_of(x)
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        complain(f"np.piecewise has {len(conditions)} conditions and {len(funclist)} functions")
    conditions = [array_of(it).astype(bool) for it in conditions]
    if len(funclist) == len(conditions) + 1:
        other = conditions[0]
        for condition in conditions[1:]:
            other = other | condition
        conditions.append(~other)
    made = np.zeros_like(x)
    for condition, function in zip(conditions, funclist):
        made[condition] = function(x[condition], *args, **named) if callable(function) else function
    return made


# ---- Of whole arrays ----

@says(np.isin)
def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Every one is compared."""
    node, others = node_of(element), ravel(node_of(test_elements))
    dtype = np.result_type(node.dtype, others.dtype)

    def write(line):
        names = line.binders(node.rank)
        j = line.program.binder("other")
        element = f"{line.name(0)}[{', '.join(names)}]" if names else line.name(0)
        outer = f"for {' '.join(names)} => " if names else ""
        return f"{outer}{'all' if invert else 'any'} {j} => {element} {'!=' if invert else '=='} {line.name(1)}[{j}]", OPEN
    return node.trace.node(node.shape, BOOL, (cast(node, dtype), cast(others, dtype)), write, named=(0, 1))


says(np.in1d)(lambda ar1, ar2, assume_unique=False, invert=False, *, kind=None: isin(ravel(node_of(ar1)), ar2, invert=invert))


@says(np.allclose)
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return all_of(node_of(np.isclose(array_of(a), b, rtol, atol, equal_nan)))


@says(np.array_equal)
def array_equal(a1, a2, equal_nan=False):
    """Whether shapes are equal is a fact, and, where they are not, so is the answer."""
    a, b = array_of(a1), array_of(a2)
    if a.ndim != b.ndim or any(one != other for one, other in zip(a.shape, b.shape)):
        return False
    same = a == b
    if equal_nan:
        same = same | (np.isnan(a) & np.isnan(b))
    return same.all()


says(np.array_equiv)(lambda a1, a2: (array_of(a1) == array_of(a2)).all())


# ---- With other elements ----

def _positions(what, positions, size, behind=0):
    """Integers of the program's text, from the front; with `behind`, as many more places behind the last."""
    if isinstance(positions, slice):
        positions = range(*positions.indices(int(size)))
    items = list(positions) if isinstance(positions, (list, tuple, range, np.ndarray)) else [positions]
    if any(hasattr(it, "node") or isinstance(it, (bool, np.bool_, float, np.floating)) for it in items):
        unrecorded(f"{what} is recorded at integers: a mask chooses, as in `x[~mask]`")
    found = []
    for at in items:
        at = at if at >= 0 else at + size
        if at < 0 or at >= size + behind:
            complain(f"{what} at position {at} of an axis of {size}")
        found.append(at)
    return found


@says(np.delete)
def delete(arr, obj, axis=None):
    arr = array_of(arr)
    arr, axis = (arr.ravel(), 0) if axis is None else (arr, front(arr.ndim, axis))
    if getattr(obj, "dtype", None) == BOOL:
        return np.compress(~obj if hasattr(obj, "node") else np.logical_not(obj), arr, axis=axis)
    before, parts = 0, []
    for at in sorted(set(map(int, _positions("np.delete", obj, arr.shape[axis])))):
        parts.append(arr[_along(axis, slice(before, at))])
        before = at + 1
    parts.append(arr[_along(axis, slice(before, None))])
    return np.concatenate(parts, axis=axis)


@says(np.insert)
def insert(arr, obj, values, axis=None):
    arr, values = array_of(arr), array_of(values)
    arr, axis = (arr.ravel(), 0) if axis is None else (arr, front(arr.ndim, axis))
    places = [int(it) for it in _positions("np.insert", obj, arr.shape[axis], behind=1)]
    values, before, parts = values.astype(arr.dtype), 0, []
    if isinstance(obj, (list, tuple, slice, np.ndarray)):
        values = np.broadcast_to(values, _with_size(arr, axis, len(places)))
        added = [values[_along(axis, slice(at, at + 1))] for at in range(len(places))]
    else:  # at one place all of them
        values = np.moveaxis(values[(None,) * (arr.ndim - values.ndim)], 0, axis)
        added = [np.broadcast_to(values, _with_size(arr, axis, values.shape[axis]))]
    for place, part in sorted(zip(places, added), key=lambda it: it[0]):
        parts += [arr[_along(axis, slice(before, place))], part]
        before = place
    return np.concatenate([*parts, arr[_along(axis, slice(before, None))]], axis=axis)


def _along(axis, part):
    """A slice of one axis."""
    return (slice(None),) * axis + (part,)


def _with_size(array, axis, size):
    """The shape with another size of one axis."""
    return array.shape[:axis] + (size,) + array.shape[axis + 1:]


@says(np.resize)
def resize(a, new_shape):
    """Its elements in order, again and again."""
    node, shape = ravel(node_of(a)), sizes_of(new_shape)
    total, size = Dim.of(1), node.trace.shape_of(node)[0]
    for one in shape:
        total = total * one
    if node.trace.facts.equal(size, Dim.of(0)):
        return views.broadcast_to(node.trace.constant(0, node.dtype), shape)
    around = by_position(node, [total], lambda line, names, at: f"{names[at]} % {line.size(line.shape(0)[at], 6)}")
    return reshape_to(around, shape)


# ---- Blocks and axes ----

@says(np.block)
def block(arrays):
    """Lists inside of lists: the innermost ones are joined along the last axis."""
    depth = _depth(arrays)
    rank = max(depth, max(known_shape(it).ndim for it in _leaves(arrays)))
    return node_of(_blocks(arrays, depth, rank, np.result_type(*(node_of(it).dtype for it in _leaves(arrays)))))


def _depth(arrays):
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(it) for it in arrays}
    if len(depths) != 1:
        complain("np.block takes lists that are all as deep")
    return 1 + depths.pop()


def _leaves(arrays):
    return [leaf for it in arrays for leaf in _leaves(it)] if isinstance(arrays, list) else [arrays]


def _blocks(arrays, depth, rank, dtype):
    if not isinstance(arrays, list):
        node = cast(node_of(arrays), dtype)
        return views.expanded(node, list(range(rank - node.rank)))
    return joined([_blocks(it, depth - 1, rank, dtype) for it in arrays], rank - depth)


@says(np.dsplit)
def dsplit(ary, indices_or_sections):
    return np.array_split(array_of(ary), indices_or_sections, axis=2) if isinstance(
        indices_or_sections, (list, tuple)) else np.split(array_of(ary), indices_or_sections, axis=2)


@says(np.rollaxis)
def rollaxis(a, axis, start=0):
    node = node_of(a)
    axis, start = front(node.rank, axis), start + node.rank if start < 0 else start
    order = [at for at in range(node.rank) if at != axis]
    order.insert(start - (axis < start), axis)
    return views.permuted(node, order)


@says(np.diagflat)
def diagflat(v, k=0):
    return np.diag(array_of(v).ravel(), k)


# ---- Positions ----

@says(np.ix_)
def open_mesh(*args):
    """Each along an axis of its own; truth values are the positions where they are true."""
    found = []
    for at, one in enumerate(args):
        one = array_of(one)
        if one.ndim != 1:
            complain(f"np.ix_ takes arrays of one axis, not of {one.ndim}")
        one = np.flatnonzero(one) if one.dtype == BOOL else one
        found.append(array_of(views.expanded(one.node, [axis for axis in range(len(args)) if axis != at])))
    return tuple(found)


@says(np.unravel_index)
def unravel_index(indices, shape, order="C"):
    index, shape = array_of(indices), shape if isinstance(shape, (tuple, list)) else (shape,)
    _check_range("np.unravel_index", index, np.prod([1, *shape], dtype=object), "elements")
    found = []
    for size in shape[::-1] if order == "C" else shape:
        found.append(index % size)
        index = index // size
    return tuple(found[::-1] if order == "C" else found)


@says(np.ravel_multi_index)
def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    if mode != "raise":
        unrecorded(f"np.ravel_multi_index in mode {mode!r} is not recorded")
    parts = [array_of(it) for it in multi_index]
    if len(parts) != len(dims):
        complain(f"np.ravel_multi_index has {len(parts)} positions for {len(dims)} axes")
    made = None
    for part, size in zip(parts, dims) if order == "C" else zip(parts[::-1], dims[::-1]):
        _check_range("np.ravel_multi_index", part, size, "positions")
        made = part if made is None else made * size + part
    return made


def _check_range(what, index, size, of):
    """Each run checks that positions are from the front and inside, as NumPy does."""
    trace, total = index.node.trace, array_of(size).node
    if index.dtype.kind not in "iu":
        complain(f"{what} takes integers, not {index.dtype}")
    low, high = smallest(index, initial=0), largest(index, initial=-1)
    trace.checks.append(Check([low, high, total], lambda low, high, total: low >= 0 and high < total, lambda low, high, total: (
        f"{what} at {int(low if low < 0 else high)} of {int(total)} {of}")))


@says(np.diag_indices_from)
def diag_indices_from(arr):
    arr = array_of(arr)
    if arr.ndim < 2 or any(size != arr.shape[0] for size in arr.shape[1:]):
        complain("np.diag_indices_from of an array whose axes are not equal")
    return (np.arange(arr.shape[0]),) * arr.ndim


# ---- Without NaNs ----

def _position_of_number(function, infinite):
    def row(a, axis=None, out=None, *, keepdims=False):
        a = array_of(a)
        if a.dtype.kind != "f":
            return function(a, axis=axis, keepdims=keepdims)
        unknown = np.isnan(a)
        nothing = any_of(all_of(unknown, axis))
        nothing.trace.checks.append(Check([nothing], lambda there: not there, lambda _: "All-NaN slice encountered"))
        return function(np.where(unknown, a.dtype.type(infinite), a), axis=axis, keepdims=keepdims)
    return row


says(np.nanargmax)(_position_of_number(np.argmax, -np.inf))
says(np.nanargmin)(_position_of_number(np.argmin, np.inf))


def _running(function, value):
    def row(a, axis=None, dtype=None, out=None):
        a = array_of(a)
        a = np.where(np.isnan(a), a.dtype.type(value), a) if a.dtype.kind == "f" else a
        return function(a, axis=axis, dtype=dtype)
    return row


says(np.nancumsum)(_running(np.cumsum, 0))
says(np.nancumprod)(_running(np.cumprod, 1))
