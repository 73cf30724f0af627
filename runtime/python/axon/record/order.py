"""Order along an axis: sorting, the median, positions in what is sorted."""
import numpy as np

from . import views
from .graph import OPEN, cast, prefix
from .place import complain
from .positions import take
from .reductions import axes_of, front, plain
from .shapes import ravel, reshape_to
from .sizes import Dim
from .values import BOOL, F64, I64, I8
from .vocabulary import METHODS, array_of, node_of, says


def _along(function, node, axis, dtype):
    """A function of the library along the last axis, along another."""
    order = [at for at in range(node.rank) if at != axis] + [axis]
    turned = views.permuted(node, order)
    made = node.trace.node(turned.shape, dtype, (turned,), prefix(function))
    return views.permuted(made, [order.index(at) for at in range(node.rank)])


def _axis_of(a, axis):
    node = node_of(a)
    return (ravel(node), 0) if axis is None else (node, front(node.rank, axis))


@says(np.sort)
def sort(a, axis=-1, kind=None, order=None):
    node, axis = _axis_of(a, axis)
    if node.dtype == BOOL:
        return cast(_along("sort", cast(node, I8), axis, I8), BOOL)
    return _along("sort", node, axis, node.dtype)


@says(np.argsort, method="argsort")
def argsort(a, axis=-1, kind=None, order=None):
    node, axis = _axis_of(a, axis)
    node = cast(node, I8) if node.dtype == BOOL else node
    made = _along("sort_order", node, axis, I64)
    made.nonnegative = True
    return made


@says(np.median)
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    plain(out, "np.median")
    node = node_of(a)
    axes = axes_of(node, axis)
    node = cast(node, F64) if node.dtype.kind != "f" else node
    sizes = [node.trace.shape_of(node)[at] for at in axes]
    if any(node.trace.facts.is_open(size) or not node.trace.facts.at_least(size, Dim.of(1)) for size in sizes):
        # the library's median is of something
        numbers = array_of(node)
        return np.where(np.isnan(numbers).any(axis=axis, keepdims=keepdims), node.dtype.type(np.nan),
                        np.nanmedian(numbers, axis=axis, keepdims=keepdims)).node
    kept = [at for at in range(node.rank) if at not in axes]
    turned = views.permuted(node, kept + axes)
    if len(axes) != 1:
        shape, total = node.trace.shape_of(turned), 1
        for size in shape[len(kept):]:
            total = size * total
        turned = reshape_to(turned, [*shape[:len(kept)], total])
    made = node.trace.node(turned.shape[:-1], node.dtype, (turned,), prefix("median"))
    return views.expanded(made, axes) if keepdims else made


@says(np.searchsorted)
def searchsorted(a, v, side="left", sorter=None):
    """How many of the sorted come before; every one is compared."""
    edges, value = node_of(a), node_of(v)
    if edges.rank != 1:
        complain(f"np.searchsorted looks in an array of one axis, not of {edges.rank}")
    if sorter is not None:
        edges = take(edges, sorter)
    dtype = np.result_type(edges.dtype, value.dtype)
    dtype = I8 if dtype == BOOL else dtype
    edges, value = cast(edges, dtype), cast(value, dtype)

    def write(line):
        names = line.binders(value.rank)
        j = line.program.binder("edge")
        element = f"{line.name(1)}[{', '.join(names)}]" if names else line.name(1)
        edge = f"{line.name(0)}[{j}]"
        before = f"{edge} {'<' if side == 'left' else '<='} {element}"
        if dtype.kind == "f":  # NaNs are the last of the sorted
            before += f" || {element} != {element}" + (f" && {edge} == {edge}" if side == "left" else "")
        outer = f"for {' '.join(names)} => " if names else ""
        return f"{outer}sum {j} => if {before} then i64 1 else 0", OPEN
    return edges.trace.node(value.shape, I64, (edges, value), write, named=(0, 1))


METHODS["searchsorted"] = searchsorted
