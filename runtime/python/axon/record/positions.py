"""Arrays turned, repeated, and read by position: what is written with the positions of elements."""
import numpy as np

from . import indexing, views
from .graph import OPEN, PRODUCT, SUM, cast
from .indexing import aligned, from_the_front, gathered
from .place import complain
from .pointwise import recorded
from .reductions import axes_of, front, plain, sum_of
from .shapes import ravel, reshape_to, sizes_of, stack, swapaxes
from .sizes import Dim
from .values import BOOL, I64
from .vocabulary import METHODS, node_of, says


# ---- Turned ----

@says(np.flip)
def flip(m, axis=None):
    node = node_of(m)
    for at in axes_of(node, axis):
        size = node.trace.shape_of(node)[at]
        node = views.sliced(node, at, size - 1, -1, size)
    return node


says(np.flipud)(lambda m: flip(m, 0))
says(np.fliplr)(lambda m: flip(m, 1))


@says(np.rot90)
def rot90(m, k=1, axes=(0, 1)):
    node, k = node_of(m), int(k) % 4
    one, two = (front(node.rank, axis) for axis in axes)
    if k == 0:
        return node
    if k == 2:
        return flip(node, (one, two))
    turned = swapaxes(flip(node, two), one, two) if k == 1 else flip(swapaxes(node, one, two), two)
    return turned


def by_position(node, shape, texts, named=(0,), extra=()):
    """The node whose element at i, j, ... is one of another node, at the positions that `texts` writes: of a line, the
    names of the axes and the number of one, the index on it."""
    def write(line):
        names = line.binders(node.rank)
        index = [texts(line, names, axis) for axis in range(node.rank)]
        ranges = " ".join(name if text == name and line.is_same(size, old) else f"({name} < {line.size(size, SUM)})"
                          for name, text, size, old in zip(names, index, line.shape(), line.shape(0)))
        return f"for {ranges} => {line.name(0)}[{', '.join(index)}{''.join(part(line) for part in extra)}]", OPEN
    return node.trace.node(shape, node.dtype, (node, *(part.node for part in extra)), write, named)


@says(np.roll)
def roll(a, shift, axis=None):
    node = node_of(a)
    if axis is None:
        return reshape_to(roll(ravel(node), shift, 0), list(node.trace.shape_of(node)))
    axes, shifts = (list(it) if isinstance(it, (tuple, list)) else [it] for it in (axis, shift))
    if len(axes) != len(shifts) and 1 not in (len(axes), len(shifts)):
        complain(f"{len(shifts)} shifts for {len(axes)} axes")
    axes, shifts = (it * (len(axes) * len(shifts) if len(it) == 1 else 1) for it in (axes, shifts))
    moved = {}
    for at, by in zip(axes, shifts):
        at = front(node.rank, at)
        moved[at] = moved.get(at, Dim.of(0)) + node.trace.dim(by)

    def text(line, names, at):
        if at not in moved or line.shape()[at].is_number(0):
            return names[at]
        back = line.program.trace.facts.normal(-moved[at])
        offset = f"{names[at]} + {line.size(back, SUM)}" if (back.constant() or 0) >= 0 else \
            f"{names[at]} - {-back.constant()}"
        return f"({offset}) % {line.size(line.shape(0)[at], PRODUCT + 1)}"
    return by_position(node, node.trace.shape_of(node), text)


# ---- Repeated ----

@says(np.tile)
def tile(A, reps):
    node, reps = node_of(A), sizes_of(reps)
    node = views.expanded(node, list(range(len(reps) - node.rank))) if len(reps) > node.rank else node
    reps = [Dim.of(1)] * (node.rank - len(reps)) + reps
    shape = [size * by for size, by in zip(node.trace.shape_of(node), reps)]
    if all(by.is_number(1) for by in reps):
        return node

    def text(line, names, at):
        size = line.shape(0)[at]
        return names[at] if reps[at].is_number(1) or size.is_number(0) else "0" if size.is_number(1) else \
            f"{names[at]} % {line.size(size, PRODUCT + 1)}"
    return by_position(node, shape, text)


@says(np.repeat, method="repeat")
def repeat(a, repeats, axis=None):
    node = node_of(a)
    node, axis = (ravel(node), 0) if axis is None else (node, front(node.rank, axis))
    if not isinstance(repeats, (int, np.integer)) and not hasattr(repeats, "dim"):
        from .selections import repeated  # which is made of what reads by position
        return repeated(node, repeats, axis)
    by, shape = node.trace.dim(repeats), list(node.trace.shape_of(node))
    if not node.trace.facts.at_least(by, Dim.of(1)):
        by = Dim.of(0)
    shape[axis] = shape[axis] * by
    return by_position(node, shape, lambda line, names, at: f"{names[at]} / {line.size(by, PRODUCT + 1)}"
                       if at == axis and not by.is_number(1) and not by.is_number(0) else names[at])


# ---- Triangles and diagonals ----

def _triangle(sign):
    def row(m, k=0):
        node = node_of(m)
        node = views.broadcast_to(node, [node.shape[0]] * 2) if node.rank == 1 else node
        offset = node.trace.dim(k)

        def write(line):
            names = line.binders(node.rank)
            number = line.program.trace.facts.normal(offset)
            limit = names[-2] if number.is_number(0) else f"{names[-2]} + {line.size(number, SUM + 1)}"
            return (f"for {' '.join(names)} => if {names[-1]} {sign} {limit} then {line.name(0)}[{', '.join(names)}] "
                    f"else {'false' if node.dtype == BOOL else '0'}"), OPEN
        return node.trace.node(node.shape, node.dtype, (node,), write, named=(0,))
    return row


tril = says(np.tril)(_triangle("<="))
triu = says(np.triu)(_triangle(">="))


@says(np.diagonal, method="diagonal")
def diagonal(a, offset=0, axis1=0, axis2=1):
    node = node_of(a)
    return views.diagonal(node, int(offset), front(node.rank, axis1), front(node.rank, axis2))


@says(np.trace, method="trace")
def trace_of(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return sum_of(diagonal(a, offset, axis1, axis2), -1, dtype, out)


@says(np.diag)
def diag(v, k=0):
    node, k = node_of(v), int(k)
    if node.rank == 2:
        return diagonal(node, k)
    if node.rank != 1:
        complain(f"np.diag of {node.rank} axes")
    size = node.shape[0] + abs(k)

    def write(line):
        i, j = line.binders(2)
        extent, zero = line.size(line.shape()[0], SUM), "false" if node.dtype == BOOL else "0"
        column = i if k == 0 else f"{i} + {k}" if k > 0 else f"{i} - {-k}"
        element = f"{line.name(0)}[{i if k >= 0 else j} else {zero}]" if k else f"{line.name(0)}[{i}]"
        return f"for ({i} < {extent}) ({j} < {extent}) => if {j} == {column} then {element} else {zero}", OPEN
    return node.trace.node([size, size], node.dtype, (node,), write, named=(0,))


# ---- By positions ----

@says(np.nonzero, method="nonzero")
def nonzero(a):
    return tuple(indexing.nonzero(cast(node_of(a), BOOL)))


@says(np.flatnonzero)
def flatnonzero(a):
    return nonzero(ravel(node_of(a)))[0]


@says(np.argwhere)
def argwhere(a):
    return stack(nonzero(a), 1)


@says(np.extract)
def extract(condition, arr):
    return compress(ravel(node_of(condition)), arr)


@says(np.compress)
def compress(condition, a, axis=None, out=None):
    plain(out, "np.compress")
    node, mask = node_of(a), cast(node_of(condition), BOOL)
    node, axis = (ravel(node), 0) if axis is None else (node, front(node.rank, axis))
    if mask.rank != 1:
        complain("np.compress takes a condition of one axis")
    return indexing.read(node, (slice(None),) * axis + (mask,))[0]


METHODS["compress"] = lambda a, condition, axis=None, out=None: compress(condition, a, axis, out)


@says(np.take, method="take")
def take(a, indices, axis=None, out=None, mode="raise"):
    plain(out, "np.take")
    node, index = node_of(a), node_of(indices)
    node, axis = (ravel(node), 0) if axis is None else (node, front(node.rank, axis))
    if index.dtype.kind not in "iu":
        complain(f"np.take reads at integers, not at {index.dtype}")
    size = node.trace.shape_of(node)[axis]
    index = from_the_front(index, size) if mode == "raise" else _brought_inside(index, size, mode)
    return gathered(node, [axis], [index], axis)


def _brought_inside(index, size, mode):
    """Positions on an axis, of those outside the last and the first, or, in mode "wrap", around the axis."""
    some = index.trace.facts.at_least(size, Dim.of(1))
    if not some or mode not in ("clip", "wrap"):
        complain(f"np.take in mode {mode!r}" + ("" if some else " of nothing"))
    index, length = cast(index, I64), index.trace.of_size(size)
    if mode == "wrap":
        made = recorded(np.remainder, index, length)
    else:
        made = recorded(np.maximum, recorded(np.minimum, index, index.trace.of_size(size - 1)), 0)
    made.nonnegative = True
    return made


@says(np.take_along_axis)
def take_along_axis(arr, indices, axis):
    node, index = node_of(arr), node_of(indices)
    node, axis = (ravel(node), 0) if axis is None else (node, front(node.rank, axis))
    if index.rank != node.rank:
        complain(f"positions of {index.rank} axes for an array of {node.rank}")
    index = from_the_front(index, node.trace.shape_of(node)[axis])
    trace = node.trace
    others = [[Dim.of(1) if at == axis else size for at, size in enumerate(trace.shape_of(it))] for it in (node, index)]
    shape = list(trace.broadcast(others))
    shape[axis] = trace.shape_of(index)[axis]

    def write(line):
        names = line.binders(node.rank)
        at = [aligned(line, 1, names) if place == axis else "0" if size.is_number(1) else name
              for place, (name, size) in enumerate(zip(names, line.shape(0)))]
        ranges = " ".join(f"({name} < {line.size(size, SUM)})" for name, size in zip(names, line.shape()))
        return f"for {ranges} => {line.name(0)}[{', '.join(at)}]", OPEN
    return trace.node(shape, node.dtype, (node, index), write, named=(0, 1))
