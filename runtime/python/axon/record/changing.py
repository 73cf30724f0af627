"""Functions and methods that change an array in place: each gives it another node, or is written as `x[key] = v`."""
import numpy as np

from .array import Array
from .graph import cast
from .order import argsort, sort
from .place import complain, keeps_as_is, unrecorded
from .pointwise import where
from .reductions import front
from .shapes import ravel
from .values import BOOL
from .vocabulary import METHODS, array_of, node_of, says
from .views import broadcast_to


def _changed(array, what):
    if not isinstance(array, Array):
        keeps_as_is(f"{what} changes an array that is not recorded: begin with np.zeros")
    return array


def _filled(array, value):
    value = node_of(value)
    if value.rank:
        complain("an array is filled with one number")
    array.change(broadcast_to(cast(value, array.dtype), array.node.shape))


METHODS["fill"] = _filled


def _sorted(array, axis=-1, kind=None, order=None):
    array.change(sort(array, axis))


METHODS["sort"] = _sorted


# ---- Partitions: whatever is asked for, all is sorted ----

def _within(array, kth, axis, what):
    """The place that is asked for is on the axis."""
    array = array_of(array)
    size = array.size if axis is None else array.shape[front(array.ndim, axis)]
    for one in kth if isinstance(kth, (list, tuple)) else [kth]:
        if hasattr(one, "node"):
            unrecorded(f"{what} is recorded with Python's integers")
        if size and not -size <= one < size:
            complain(f"{what} at {one} of an axis of {size}")


@says(np.partition)
def partition(a, kth, axis=-1, kind="introselect", order=None):
    _within(a, kth, axis, "np.partition")
    return sort(a, axis)


@says(np.argpartition, method="argpartition")
def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    _within(a, kth, axis, "np.argpartition")
    return argsort(a, axis)


def _partitioned(array, kth, axis=-1, kind="introselect", order=None):
    array.change(node_of(partition(array, kth, axis)))


METHODS["partition"] = _partitioned
says(np.msort)(lambda a: sort(a, 0))


@says(np.lexsort)
def lexsort(keys, axis=-1):
    """By the last key, then by those before."""
    keys = [array_of(key) for key in keys] if isinstance(keys, (list, tuple)) else list(array_of(keys))
    if not keys:
        complain("np.lexsort by no key")
    axis = front(keys[0].ndim, axis)
    order = np.argsort(keys[0], axis=axis, kind="stable")
    for key in keys[1:]:
        again = np.argsort(np.take_along_axis(key, order, axis), axis=axis, kind="stable")
        order = np.take_along_axis(order, again, axis)
    return order


# ---- Stored by functions ----

@says(np.copyto)
def copyto(dst, src, casting="same_kind", where=True):
    dst, src = _changed(dst, "np.copyto"), node_of(src)
    kind = src.value if src.value is not None and not src.rank else src.dtype
    if not np.can_cast(kind, dst.dtype, casting):
        complain(f"np.copyto of {src.dtype} into {dst.dtype} in casting {casting!r}")
    dst.change(_chosen(where, broadcast_to(cast(src, dst.dtype), dst.node.shape), dst))


def _chosen(mask, node, array):
    return node if mask is True else where(broadcast_to(cast(node_of(mask), BOOL), array.node.shape), node, array.node)


def _safely(values, array, what):
    """In the type of the array, which has to hold those of arrays; Python's numbers are converted."""
    if hasattr(values, "dtype") and not np.can_cast(values.dtype, array.dtype, "safe"):
        complain(f"{what} of {values.dtype} into {array.dtype}, which does not hold it")
    return array_of(values).astype(array.dtype)


@says(np.putmask)
def putmask(a, mask, values):
    a = _changed(a, "np.putmask")
    values = _safely(values, a, "np.putmask")
    if values.ndim and values.shape != a.shape:
        values = np.resize(values, a.shape)
    mask = cast(node_of(mask), BOOL)
    if array_of(mask).shape != a.shape:
        complain("np.putmask has a mask of the shape of the array")
    a.change(_chosen(mask, broadcast_to(cast(values.node, a.dtype), a.node.shape), a))


@says(np.place)
def place(arr, mask, vals):
    """The values one after the other, and again from the first, to where the mask is true."""
    arr = _changed(arr, "np.place")
    vals = _safely(vals, arr, "np.place").ravel()
    mask = array_of(mask).astype(bool)
    if mask.size != arr.size:
        complain("np.place has as many truth values as the array elements")
    mask = mask.reshape(arr.shape)
    if vals.shape[0] < 1:
        complain("np.place has no values")
    number = np.cumsum(mask.ravel()).reshape(arr.shape) + (vals.shape[0] - 1)
    arr[...] = np.where(mask, vals[number % vals.shape[0]].astype(arr.dtype), arr)


@says(np.put)
def put(a, ind, v, mode="raise"):
    a, index = _changed(a, "np.put"), array_of(ind).ravel()
    if mode != "raise":
        unrecorded(f"np.put in mode {mode!r} is not recorded")
    flat = a.ravel() + np.zeros((), a.dtype) if a.ndim == 1 else a.ravel()
    flat = Array(flat.node)
    flat[index] = np.resize(array_of(v), index.shape).astype(a.dtype)
    a.change(flat.reshape(a.shape).node)


METHODS["put"] = put


@says(np.put_along_axis)
def put_along_axis(arr, indices, values, axis):
    arr, index = _changed(arr, "np.put_along_axis"), array_of(indices)
    if axis is None:
        return put(arr, index, values)
    axis = front(arr.ndim, axis)
    if index.ndim != arr.ndim:
        complain(f"positions of {index.ndim} axes for an array of {arr.ndim}")
    key = [index if at == axis else np.arange(size).reshape((1,) * at + (-1,) + (1,) * (arr.ndim - 1 - at))
           for at, size in enumerate(arr.shape)]
    arr[tuple(key)] = values
    return None


@says(np.fill_diagonal)
def fill_diagonal(a, val, wrap=False):
    a, val = _changed(a, "np.fill_diagonal"), array_of(val)
    if a.ndim != 2 or wrap:
        unrecorded("np.fill_diagonal is recorded for matrices, without `wrap`")
    row, column = np.arange(a.shape[0])[:, None], np.arange(a.shape[1])
    value = val if not val.ndim else val.ravel()[row % val.size]
    a[...] = np.where(row == column, value.astype(a.dtype), a)


# ---- One element ----

def _item(array, *places):
    """An element as a number of Python's kind: float64, int64 or a truth value."""
    places = places[0] if len(places) == 1 and isinstance(places[0], tuple) else places
    if len(places) == array.ndim:
        one = array[tuple(places)]
    elif len(places) == 1:
        one = Array(ravel(array))[places[0]]
    elif not places:
        if array.size != 1:
            complain(f".item() of {array.size} elements: it takes the place of one")
        one = array.reshape(())
    else:
        complain(f".item() at {len(places)} places of {array.ndim} axes")
    kind = {"f": np.float64, "b": BOOL}.get(array.dtype.kind, np.int64)
    return cast(one.node, kind)


METHODS["item"] = _item
