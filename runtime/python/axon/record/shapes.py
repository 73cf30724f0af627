"""Arrays reshaped, joined and cut; axes ordered, made and dropped."""
import numpy as np

from . import views
from .graph import APPLY, ATOM, OPEN, PRODUCT, SUM, Trace, cast
from .place import complain, unrecorded
from .reductions import axes_of, front
from .sizes import Dim
from .vocabulary import METHODS, node_of, says


def sizes_of(shape):
    """The polynomials of a shape, which is an integer or a sequence."""
    trace = Trace.current()
    items = shape if isinstance(shape, (tuple, list)) else (shape,)
    return [trace.dim(item) for item in items]


# ---- Reshaping ----

def _reshaped(a, shape, order):
    if order == "F":  # the first axis fastest: as of the transposed array, of a transposed shape
        return transpose(_reshaped(transpose(a), sizes_of(shape)[::-1], "C"))
    if order != "C":
        unrecorded(f"order {order!r} hangs on how the array lies, which is not recorded: 'C' and 'F' do not")
    node = node_of(a)
    trace, facts = node.trace, node.trace.facts
    shape, total = sizes_of(shape), Dim.of(1)
    for size in node.shape:
        total = total * size
    total = facts.normal(total)
    open_axes = [at for at, size in enumerate(shape) if size.is_number(-1)]
    known = Dim.of(1)
    for at, size in enumerate(shape):
        known = known if at in open_axes else known * size
    if len(open_axes) > 1:
        complain("a shape has one -1 at most")
    if open_axes:
        found = facts.divided(total, known, "reshape")
        if found is None:
            complain(f"{trace.shown(node.shape)} does not become ({', '.join(str(facts.hint(it)) for it in shape)})")
        shape[open_axes[0]] = found
    elif not facts.equal(total, known):
        complain(f"{trace.shown(node.shape)} does not become {trace.shown(shape)}")
    return reshape_to(node, [facts.normal(size) for size in shape])


def reshape_to(node, shape):
    """To a shape of as many elements, by axes that are merged and split in groups."""
    trace = node.trace
    ones = [axis for axis, size in enumerate(trace.shape_of(node)) if size.is_number(1)]
    node = views.dropped(node, ones) if ones else node
    plain = [size for size in shape if not size.is_number(1)]
    old = list(trace.shape_of(node))
    if old != plain:
        groups = _groups(trace, old, plain)
        merged = [product_of_sizes(old[a:b]) for a, b, _, _ in groups]
        if any(b - a > 1 for a, b, _, _ in groups):
            node = _merged(node, merged, groups)
        if any(d - c != 1 for _, _, c, d in groups) or merged != plain:
            node = _split(node, plain, groups)
    places = [axis for axis, size in enumerate(shape) if size.is_number(1)]
    return views.expanded(node, places) if places else node


def product_of_sizes(sizes):
    """How many elements axes have together."""
    total = Dim.of(1)
    for size in sizes:
        total = total * size
    return total


def sizes_behind(sizes):
    """For each axis how many elements share a position on it and on those before."""
    return [product_of_sizes(sizes[axis + 1:]) for axis in range(len(sizes))]


def _groups(trace, old, new):
    """Runs of old and of new axes that have as many elements: (from, to, from, to), the shortest that can be seen."""
    groups, i, j = [], 0, 0
    while i < len(old) and j < len(new):
        a, b = i + 1, j + 1
        while product_of_sizes(old[i:a]) != product_of_sizes(new[j:b]):
            left, right = product_of_sizes(old[i:a]), product_of_sizes(new[j:b])
            more_old = right.exactly(left) is not None or (
                left.exactly(right) is None and trace.facts.hint(left) < trace.facts.hint(right))
            if a < len(old) and (more_old or b == len(new)):
                a += 1
            elif b < len(new):
                b += 1
            else:
                break
        groups.append((i, a, j, b))
        i, j = a, b
    if i < len(old) or j < len(new) or not groups:  # one group, by the fact that all elements are as many
        return [(0, len(old), 0, len(new))]
    return groups


def _merged(node, shape, groups):
    def write(line):
        names = line.binders(node.rank)
        products = ", ".join(" * ".join(names[a:b]) for a, b, _, _ in groups)
        return f"rearrange {line.argument(0, ATOM)} [{', '.join(names)}] => [{products}]", OPEN
    return node.trace.node(shape, node.dtype, (node,), write, inline=True)


def _split(node, shape, groups):
    """By names where all parts have them, else by positions."""
    trace = node.trace

    def write(line):
        now = line.shape()
        parts = [dim for _, _, c, d in groups for dim in now[c:d]]
        simple = all((dim.constant() or 0) > 0 or dim.source().isidentifier() for dim in parts)
        exact = all(product_of_sizes(now[c:d]) == size for (_, _, c, d), size in zip(groups, line.shape(0)))
        if simple and exact and len(set(parts)) == len(parts):  # a name, and a number, stands there once
            left = ", ".join(" * ".join(line.size(dim) for dim in now[c:d]) for _, _, c, d in groups)
            right = ", ".join(line.size(dim) for dim in now)
            return f"rearrange {line.argument(0, ATOM)} [{left}] => [{right}]", OPEN
        names = line.binders(len(now))
        index = []
        for _, _, c, d in groups:
            text = names[c] if d > c else "0"
            for at in range(c + 1, d):
                text = f"({text})" if " + " in text else text
                text = f"{text} * {line.size(now[at], PRODUCT + 1)} + {names[at]}"
            index.append(text)
        ranges = " ".join(f"({name} < {line.size(size, SUM)})" for name, size in zip(names, now))
        return f"for {ranges} => {line.name(0)}[{', '.join(index)}]", OPEN
    return trace.node(shape, node.dtype, (node,), write, named=(0,))


@says(np.reshape)
def reshape(a, newshape, order="C"):
    return _reshaped(a, newshape, order)


def _reshape_method(a, *shape, order="C"):
    return _reshaped(a, shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape, order)


METHODS["reshape"] = _reshape_method


@says(np.ravel, method=("ravel", "flatten"))
def ravel(a, order="C"):
    return _reshaped(a, (-1,), order) if node_of(a).rank != 1 else node_of(a)


@says(method="view")
def view(a, dtype=None):
    node = node_of(a)
    if dtype is not None and np.dtype(dtype) != node.dtype:
        unrecorded(f"the bits of {node.dtype} as {np.dtype(dtype)} are not recorded: `.astype` converts")
    return node


# ---- Axes ----

@says(np.transpose)
def transpose(a, axes=None):
    node = node_of(a)
    axes = range(node.rank)[::-1] if axes is None else [front(node.rank, axis) for axis in axes]
    if sorted(axes) != list(range(node.rank)):
        complain(f"{tuple(axes)} does not order {node.rank} axes")
    return views.permuted(node, list(axes))


METHODS["transpose"] = lambda a, *axes: transpose(a, None if not axes or axes == (None,) else axes[0] if isinstance(
    axes[0], (tuple, list)) else axes)


@says(np.swapaxes, method="swapaxes")
def swapaxes(a, axis1, axis2):
    node = node_of(a)
    order = list(range(node.rank))
    one, two = front(node.rank, axis1), front(node.rank, axis2)
    order[one], order[two] = two, one
    return views.permuted(node, order)


@says(np.moveaxis)
def moveaxis(a, source, destination):
    node = node_of(a)
    source, destination = ([front(node.rank, it) for it in (one if isinstance(one, (tuple, list)) else [one])]
                           for one in (source, destination))
    order = [axis for axis in range(node.rank) if axis not in source]
    for to, axis in sorted(zip(destination, source)):
        order.insert(to, axis)
    return views.permuted(node, order)


@says(np.expand_dims)
def expand_dims(a, axis):
    node = node_of(a)
    places = axis if isinstance(axis, (tuple, list)) else (axis,)
    return views.expanded(node, [front(node.rank + len(places), it) for it in places])


@says(np.squeeze, method="squeeze")
def squeeze(a, axis=None):
    node = node_of(a)
    shape = node.trace.shape_of(node)
    axes = [at for at in range(node.rank) if shape[at].is_number(1)] if axis is None else axes_of(node, axis)
    for at in axes:
        if not node.trace.facts.equal(shape[at], Dim.of(1)):
            complain(f"axis {at} of {node.trace.shown(shape)} is not 1, and stays")
    return views.dropped(node, axes)


@says(np.broadcast_to)
def broadcast_to(array, shape, subok=False):
    return views.broadcast_to(node_of(array), sizes_of(shape))


@says(np.broadcast_arrays)
def broadcast_arrays(*arrays, subok=False):
    nodes = [node_of(it) for it in arrays]
    shape = Trace.current().broadcast([node.shape for node in nodes])
    return [views.broadcast_to(node, shape) for node in nodes]


def _at_least(rank):
    def row(*arrays):
        found = [_with_rank(node_of(it), rank) for it in arrays]
        return found[0] if len(found) == 1 else found
    return row


def _with_rank(node, rank):
    if node.rank >= rank:
        return node
    if rank == 3 and node.rank:
        return views.expanded(node, [0, 2] if node.rank == 1 else [2])
    return views.expanded(node, list(range(rank - node.rank)))


says(np.atleast_1d)(_at_least(1))
says(np.atleast_2d)(_at_least(2))
says(np.atleast_3d)(_at_least(3))


# ---- Joined ----

def joined(nodes, axis):
    """Several along one axis."""
    trace, first = nodes[0].trace, nodes[0]
    for node in nodes[1:]:
        if node.rank != first.rank:
            complain(f"arrays of {first.rank} and of {node.rank} axes are not joined")
        for at in range(first.rank):
            if at != axis and not trace.facts.equal(trace.shape_of(node)[at], trace.shape_of(first)[at]):
                complain(f"{trace.shown(first.shape)} and {trace.shown(node.shape)} differ on axis {at}, and are not "
                         f"joined along axis {axis}")
    while len(nodes) > 1:  # in pairs, and pairs of pairs
        pairs = [nodes[at:at + 2] for at in range(0, len(nodes), 2)]
        nodes = [_pair(*pair, axis) if len(pair) == 2 else pair[0] for pair in pairs]
    return nodes[0]


def _pair(a, b, axis):
    trace, shape = a.trace, list(a.trace.shape_of(a))
    length = shape[axis]
    shape[axis] = length + trace.shape_of(b)[axis]

    def write(line):
        if axis == 0:
            return f"concat {' '.join(line.operands(ATOM, ATOM))}", APPLY
        if axis == a.rank - 1:
            return f"concat_last {' '.join(line.operands(ATOM, ATOM))}", APPLY
        names = line.binders(a.rank)
        ranges = " ".join(f"({name} < {line.size(line.shape()[axis], SUM)})" if at == axis else name
                          for at, name in enumerate(names))
        inside, cut = ", ".join(names), line.size(line.shape(0)[axis], SUM + 1)
        after = ", ".join(f"{name} - {cut}" if at == axis else name for at, name in enumerate(names))
        return (f"for {ranges} => if {names[axis]} < {cut} then {line.name(0)}[{inside}] else {line.name(1)}[{after}]",
                OPEN)
    return trace.node(shape, a.dtype, (a, b), write, named=() if axis in (0, a.rank - 1) else (0, 1))


def _common(arrays, dtype=None):
    nodes = [node_of(it) for it in arrays]
    if not nodes:
        complain("there is nothing to join")
    dtype = np.dtype(dtype or np.result_type(*(node.dtype for node in nodes)))
    return [cast(node, dtype) for node in nodes]


@says(np.concatenate)
def concatenate(arrays, axis=0, out=None, dtype=None):
    if out is not None:
        unrecorded("np.concatenate with `out` is not recorded: assign the result")
    nodes = _common(arrays, dtype)
    if axis is None:
        return joined([ravel(node) for node in nodes], 0)
    if not nodes[0].rank:
        complain("arrays without axes are not joined: np.stack makes an axis")
    return joined(nodes, front(nodes[0].rank, axis))


@says(np.stack)
def stack(arrays, axis=0, out=None):
    nodes = _common(arrays)
    place = front(nodes[0].rank + 1, axis)
    return joined([views.expanded(node, [place]) for node in nodes], place)


@says(np.vstack, np.row_stack)
def vstack(tup):
    return joined([_with_rank(node, 2) for node in _common(tup)], 0)


@says(np.hstack)
def hstack(tup):
    nodes = [_with_rank(node, 1) for node in _common(tup)]
    return joined(nodes, 0 if nodes[0].rank == 1 else 1)


@says(np.dstack)
def dstack(tup):
    return joined([_with_rank(node, 3) for node in _common(tup)], 2)


@says(np.column_stack)
def column_stack(tup):
    return joined([views.expanded(node, [1]) if node.rank == 1 else node for node in _common(tup)], 1)


@says(np.append)
def append(arr, values, axis=None):
    return concatenate([arr, values], axis)


# ---- Cut ----

def _cuts(node, sections, axis, even):
    """The bounds of the parts of an axis."""
    size = node.trace.shape_of(node)[axis]
    if isinstance(sections, (tuple, list, np.ndarray)):
        bounds = [Dim.of(0), *(views.clamped(node.trace, it, size) for it in sections), size]
        return bounds
    count = int(sections)
    if count <= 0:
        complain("an axis is cut into at least one part")
    part = node.trace.facts.divided(size, Dim.of(count), "split")
    if part is None and even:
        complain(f"an axis of {node.trace.facts.hint(size)} is not cut into {count} equal parts")
    if part is not None:
        return [part * at for at in range(count + 1)]
    number = node.trace.facts.hint(size)  # the longer parts come first: how many, is one size's
    node.trace.facts.equal(size, Dim.of(number))
    return [Dim.of(number // count * at + min(at, number % count)) for at in range(count + 1)]


def _split_row(even):
    def row(ary, indices_or_sections, axis=0):
        node = node_of(ary)
        axis = front(node.rank, axis)
        bounds = _cuts(node, indices_or_sections, axis, even)
        return [_part(node, axis, *pair) for pair in zip(bounds, bounds[1:])]
    return row


def _part(node, axis, start, end):
    length = node.trace.facts.normal(end - start)
    if not node.trace.facts.at_least(length, Dim.of(0)):
        length = Dim.of(0)
    return views.sliced(node, axis, start, 1, length)


split = says(np.split)(_split_row(True))
array_split = says(np.array_split)(_split_row(False))
says(np.vsplit)(lambda ary, sections: split(ary, sections, 0))
says(np.hsplit)(lambda ary, sections: split(ary, sections, 0 if node_of(ary).rank == 1 else 1))


# ---- What is known ----

says(np.shape)(lambda a: _array(a).shape)
says(np.ndim)(lambda a: node_of(a).rank)


@says(np.size)
def size(a, axis=None):
    return _array(a).size if axis is None else _array(a).shape[axis]


def _array(a):
    from .array import Array
    return a if isinstance(a, Array) else Array(node_of(a))


@says(np.meshgrid)
def meshgrid(*xi, indexing="xy", sparse=False, copy=True):
    nodes = [ravel(node_of(it)) for it in xi]
    rank = len(nodes)
    places = list(range(rank))
    if indexing == "xy" and rank > 1:
        places[:2] = [1, 0]
    grids = [views.expanded(node, [at for at in range(rank) if at != place]) for node, place in zip(nodes, places)]
    return grids if sparse else broadcast_arrays(*grids)
