"""Results of as many elements as only the data decides: repetitions, and arrays as sets."""
import numpy as np

from .graph import Trace, prefix
from .indexing import nonzero
from .place import complain, unrecorded
from .positions import take
from .reductions import all_of
from .shapes import ravel
from .values import BOOL, Check
from .vocabulary import array_of, node_of, says


def repeated(node, repeats, axis):
    """Each element along an axis as often as an array says."""
    counts = array_of(repeats)
    if counts.ndim != 1 or counts.dtype.kind not in "iub":
        complain(f"np.repeat takes numbers of copies, not {counts.dtype} of {counts.ndim} axes")
    counts, size = counts.astype(np.int64), array_of(node).shape[axis]
    if counts.shape[0] != size:
        complain(f"np.repeat has {counts.shape[0]} numbers of copies for an axis of {size}")
    trace = Trace.current()
    right = all_of((counts >= 0).node)
    trace.checks.append(Check([right], bool, lambda _: "np.repeat has no negative numbers of copies"))
    ends = np.cumsum(counts)
    place = array_of(trace.counted(np.maximum(counts.sum(), 0).node))
    index = np.searchsorted(ends, place, side="right").node
    index.nonnegative = True
    return take(node, index, axis)


# ---- Sets ----

def _firsts(ordered):
    """Of what is in order, where another one begins; NaNs are one."""
    node = ordered.node
    return array_of(node.trace.node(node.shape, BOOL, (node,), prefix("begins")))


@says(np.unique)
def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True):
    if axis is not None and node_of(ar).rank != 1 or not equal_nan:
        unrecorded("np.unique with `axis` or without `equal_nan` is not recorded")
    ar = array_of(ravel(node_of(ar)))
    if not (return_index or return_inverse or return_counts):
        ordered = np.sort(ar)
        return ordered[_firsts(ordered)]
    order = np.argsort(ar, kind="stable")
    ordered = ar[order]
    first = _firsts(ordered)
    found = [ordered[first]]
    if return_index:
        found.append(order[first])
    if return_inverse:
        inverse = np.zeros(ar.shape, np.int64)
        inverse[order] = np.cumsum(first) - 1
        found.append(inverse)
    if return_counts:
        begin, number = array_of(nonzero(first.node)[0]), np.cumsum(first)  # of each element the number of its set
        found.append(np.searchsorted(number, number[begin], side="right") - begin)
    return tuple(found)


@says(np.union1d)
def union1d(ar1, ar2):
    return unique(np.concatenate([array_of(ar1).ravel(), array_of(ar2).ravel()]))


@says(np.setdiff1d)
def setdiff1d(ar1, ar2, assume_unique=False):
    first = array_of(ar1).ravel()
    first = first if assume_unique else array_of(unique(first))
    return first[np.isin(first, ar2, invert=True)]


@says(np.intersect1d)
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    if return_indices:
        unrecorded("np.intersect1d with `return_indices` is not recorded")
    a, b = array_of(ar1).ravel(), array_of(ar2).ravel()
    dtype = np.result_type(a.dtype, b.dtype)
    a = array_of(unique(a.astype(dtype)))
    return a[np.isin(a, b)]


@says(np.setxor1d)
def setxor1d(ar1, ar2, assume_unique=False):
    a, b = (array_of(unique(it)) for it in (ar1, ar2))
    together = np.concatenate([a[np.isin(a, b, invert=True)], b[np.isin(b, a, invert=True)]])
    return np.sort(together)
