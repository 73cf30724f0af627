"""`x[...]`, read in NumPy's rules; storing.py has how it is stored into.

A key is first made one entry for each axis and each new one (`entries_of`). Numbers and slices make a view; arrays of
integers, which count from the end where they are negative, are read by a gathering. A mask of truth values is the
positions where it is true, one array for each of its axes (`nonzero`), and how many they are only the data decides.
"""
import numpy as np

from . import views
from .graph import APPLY, ATOM, COMPARE, OPEN, PRODUCT, SUM, cast, infix
from .place import complain, unrecorded
from .sizes import Dim
from .values import BOOL, Check, I64, literal


def read(node, key):
    """The node of `x[key]`, and whether NumPy's result would share memory."""
    entries = entries_of(node, key)
    if any(entry is not None and hasattr(entry, "write") for entry in entries):
        return _gathered(node, entries), False
    read_from, entries = _of_open_axes(node, entries)
    return view_of(read_from, entries), read_from is node


def _of_open_axes(node, entries):
    """Reads, along the axes whose sizes only a run has, the parts that a key names, and leaves the rest of it."""
    facts, left, axis = node.trace.facts, [], 0
    for entry in entries:
        size = None if entry is None else node.trace.shape_of(node)[axis]
        if size is None or not facts.is_open(size) or entry in (slice(None), slice(None, None, -1)):
            left.append(entry)
            axis += entry is not None
        elif isinstance(entry, slice):
            node = _open_slice(node, axis, entry, size)
            left.append(slice(None))
            axis += 1
        else:
            node = _open_element(node, axis, entry, size)
    return node, left


def _open_slice(node, axis, part, size):
    """Between bounds that NumPy brings inside, as many elements as there are then."""
    from .pointwise import recorded  # which is made of indices
    trace = node.trace
    if part.step not in (None, 1):
        unrecorded("a slice with a step, of what a mask chooses, is not recorded but for `[::-1]`")

    def bound(position):
        at, length = trace.of_size(trace.dim(position)), trace.of_size(size)
        if not trace.facts.at_least(trace.dim(position), Dim.of(0)):
            at = recorded(np.maximum, recorded(np.add, at, length), 0)
        return recorded(np.minimum, at, length)
    start = trace.constant(0, I64) if part.start is None else bound(part.start)
    stop = trace.of_size(size) if part.stop is None else bound(part.stop)
    places = trace.counted(recorded(np.maximum, recorded(np.subtract, stop, start), 0))
    index = places if start.value == 0 else recorded(np.add, places, start)
    index.nonnegative = True
    return gathered(node, [axis], [index], axis)


def _open_element(node, axis, position, size):
    """What stands at a position, which each run checks."""
    trace, shape = node.trace, node.trace.shape_of(node)
    at = position if trace.facts.at_least(position, Dim.of(0)) else position + size
    trace.checks.append(Check([trace.of_size(at), trace.of_size(size)], lambda at, size: 0 <= at < size, lambda at, size: (
        f"index {int(at if at >= 0 else at - size)} is out of an axis of {int(size)}, which the data has decided")))

    def write(line):
        names = line.binders(node.rank - 1)
        index = [*names[:axis], line.size(trace.facts.normal(at)), *names[axis:]]
        outer = f"for {' '.join(names)} => " if names else ""
        return f"{outer}{line.name(0)}[{', '.join(index)} else {literal(0, node.dtype)}]", OPEN if outer else ATOM
    return trace.node(shape[:axis] + shape[axis + 1:], node.dtype, (node,), write, named=(0,))


def entries_of(node, key):
    """For each new axis None; for each axis of the node a slice, a position (Dim), or a node of integers or a mask."""
    trace = node.trace
    items = list(key) if isinstance(key, tuple) else [key]
    items = [_item(trace, item) for item in items]
    taken = sum(1 if not is_mask(item) else item.rank for item in items if item is not None and item is not ...)
    if taken > node.rank:
        complain(f"too many indices: {taken} for an array of {node.rank} axes")
    rest = [slice(None)] * (node.rank - taken)
    if sum(item is ... for item in items) > 1:
        complain("an index has at most one `...`")
    at = next((at for at, item in enumerate(items) if item is ...), len(items))
    return items[:at] + rest + items[at + 1:]


def is_mask(item):
    return getattr(item, "dtype", None) == BOOL


def _item(trace, item):
    if item is None or item is ... or isinstance(item, slice):
        return item
    if isinstance(item, (bool, np.bool_)):
        unrecorded("True and False as an index are not recorded")
    if isinstance(item, (int, np.integer)) or hasattr(item, "dim"):
        return trace.dim(item)
    node = trace.as_node(item)
    if node.dtype.kind not in "iub":
        complain(f"an index is an array of {node.dtype}, which are no integers")
    return trace.dim(int(node.value)) if node.value is not None else node


def view_of(node, entries):
    """The view of numbers, slices and new axes."""
    trace, shape, positions = node.trace, [], []
    sizes = list(trace.shape_of(node))
    for entry in entries:
        if entry is None:
            shape.append(Dim.of(1))
            continue
        size = trace.facts.normal(sizes[len(positions)])
        if isinstance(entry, slice):
            start, step, length = views.range_of(trace, entry, size)
            positions.append(views.Position(len(shape), step, start))
            shape.append(length)
        else:
            positions.append(views.Position(None, 1, _inside(trace, entry, size)))
    return views.view(node, shape, positions)


def _inside(trace, position, size):
    """A position from the front, which is on the axis."""
    at = position if trace.facts.at_least(position, Dim.of(0)) else position + size
    if not trace.facts.at_least(at, Dim.of(0)) or not trace.facts.at_least(size - 1, at):
        complain(f"index {trace.facts.hint(position)} is out of an axis of {trace.facts.hint(size)}")
    return trace.facts.normal(at)


def from_the_front(index, size):
    """An array of positions of which negative ones count from the end."""
    trace = index.trace
    if index.value is not None:
        return trace.of_size(_inside(trace, Dim.of(int(index.value)), size))
    if index.size is not None:
        return trace.of_size(_inside(trace, trace.facts.normal(index.size), size))
    index = cast(index, I64) if index.dtype.itemsize < 8 else index
    if index.nonnegative or index.dtype.kind == "u":
        return index
    zero, length = trace.constant(0, I64), trace.of_size(size)
    negative = trace.node(index.shape, BOOL, (index, zero), infix("<", COMPARE))
    wrapped = trace.node(index.shape, I64, (index, length), infix("+", SUM))
    return trace.node(index.shape, I64, (negative, wrapped, index), select)


def select(line):
    """Writes `select c a b`."""
    condition = line.argument(0, ATOM)
    return " ".join(["select", condition, *line.operands(ATOM, ATOM, first=1)]), APPLY


def _gathered(node, entries):
    """What arrays of positions read."""
    basic, axes, indices, place = arrays_of(node, entries)
    return gathered(view_of(node, basic), axes, indices, place)


def arrays_of(node, entries):
    """The slices and new axes of a key, with whole axes where it has arrays; the axes, counted with the new ones, where
    these are; the arrays; and the place where NumPy puts their axes. Numbers beside them are arrays without axes."""
    trace, sizes, axes, indices, basic, at = node.trace, node.trace.shape_of(node), [], [], [], 0
    for entry in (one for entry in entries for one in _positions(node, entry)):
        if entry is None or isinstance(entry, slice):
            basic.append(entry)
        else:
            axes.append(len(basic))
            indices.append(from_the_front(entry if hasattr(entry, "write") else trace.of_size(entry), sizes[at]))
            basic.append(slice(None))
        at += entry is not None
    _fit_masks(node, entries)
    together = axes == list(range(axes[0], axes[0] + len(axes)))
    return basic, axes, indices, axes[0] if together else 0


def _positions(node, entry):
    """An entry, and of a mask the positions that it chooses, on each of its axes."""
    return nonzero(entry) if is_mask(entry) else [entry]


def _fit_masks(node, entries):
    """It is a fact that masks have the sizes of the axes that they choose from."""
    trace, sizes, at = node.trace, node.trace.shape_of(node), 0
    for entry in entries:
        axes = 0 if entry is None else entry.rank if is_mask(entry) else 1
        if is_mask(entry) and not all(map(trace.facts.equal, trace.shape_of(entry), sizes[at:at + axes])):
            complain(f"a mask of {trace.shown(entry.shape)} does not fit {trace.shown(node.shape)}")
        at += axes


def nonzero(mask):
    """Where a mask is true: the positions on each axis, in order."""
    from .shapes import ravel, sizes_behind  # which are made of views and gatherings
    trace, key = mask.trace, ("nonzero", mask)
    if not mask.rank:
        unrecorded("a mask without axes is not recorded: `np.where(c, a, b)` chooses between arrays")
    if key not in trace.known:
        chosen = trace.chosen(ravel(mask))
        sizes = trace.shape_of(mask)
        trace.known[key] = [_on_axis(chosen, behind, size if axis else None)
                            for axis, (behind, size) in enumerate(zip(sizes_behind(sizes), sizes))]
    return trace.known[key]


def _on_axis(positions, behind, size):
    """Positions in all elements, as those on one axis: `behind` elements share one, `size` is None for the first."""
    trace = positions.trace
    if not behind.is_number(1):
        positions = trace.node(positions.shape, I64, (positions, trace.of_size(behind)), infix("/", PRODUCT))
    if size is not None:
        positions = trace.node(positions.shape, I64, (positions, trace.of_size(size)), infix("%", PRODUCT))
    positions.nonnegative = True
    return positions


def gathered(node, axes, indices, place):
    """The node in which axes are replaced by those of arrays of positions, broadcast, which come at `place`."""
    trace = node.trace
    shape = trace.broadcast([index.shape for index in indices])
    sizes = trace.shape_of(node)
    kept = [axis for axis in range(node.rank) if axis not in axes]
    result = [sizes[axis] for axis in kept]
    result[place:place] = shape

    def write(line):
        if len(axes) == 1 and place == axes[0]:
            index = [":"] * axes[0] + [line.argument(1, OPEN)]
            index = ["..", line.argument(1, OPEN)] if axes[0] == node.rank - 1 > 1 else index
            return f"{line.name(0)}[{', '.join(index)}]", ATOM
        names = line.binders(len(result))
        mine = names[place:place + len(shape)]
        others = iter(names[:place] + names[place + len(shape):])
        texts = [aligned(line, 1 + axes.index(axis), mine) if axis in axes else next(others)
                 for axis in range(node.rank)]
        ranges = binders(line, names, result, [place + at for at in range(len(shape))])
        return f"for {ranges} => {line.name(0)}[{', '.join(texts)}]", OPEN
    made = trace.node(result, node.dtype, (node, *indices), write, named=range(len(indices) + 1))
    return made


def binders(line, names, shape, stated):
    """The binders of axes, with the ranges of those that are `stated`."""
    return " ".join(f"({name} < {line.size(size, SUM)})" if at in stated else name
                    for at, (name, size) in enumerate(zip(names, line.shape())))


def aligned(line, at, names):
    """The element of an argument that broadcasts to axes with these names."""
    shape = line.shape(at)
    texts = ["0" if size.is_number(1) else names[len(names) - len(shape) + axis] for axis, size in enumerate(shape)]
    return f"{line.name(at)}[{', '.join(texts)}]" if shape else line.name(at)
