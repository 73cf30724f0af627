"""`x[...]`, read and stored, in NumPy's rules.

A key is first made one entry for each axis and each new one (`_entries`). Numbers and slices make a view; arrays of
integers, which count from the end where they are negative, are read by a gathering; a mask of truth values chooses
where to store. How many elements a mask reads only the data decides, which is not recorded.
"""
import numpy as np

from . import views
from .graph import APPLY, ATOM, COMPARE, OPEN, SUM, cast, infix
from .place import complain
from .sizes import Dim
from .values import BOOL, I64


def read(node, key):
    """The node of `x[key]`, and whether NumPy's result would share memory."""
    entries = _entries(node, key)
    if any(entry is not None and hasattr(entry, "write") for entry in entries):
        return _gathered(node, entries), False
    return _view(node, entries), True


def _entries(node, key):
    """For each new axis None; for each axis of the node a slice, a position (Dim), or a node of integers or a mask."""
    trace = node.trace
    items = list(key) if isinstance(key, tuple) else [key]
    items = [_item(trace, item) for item in items]
    taken = sum(1 if not _is_mask(item) else item.rank for item in items if item is not None and item is not ...)
    if taken > node.rank:
        complain(f"too many indices: {taken} for an array of {node.rank} axes")
    rest = [slice(None)] * (node.rank - taken)
    if sum(item is ... for item in items) > 1:
        complain("an index has at most one `...`")
    at = next((at for at, item in enumerate(items) if item is ...), len(items))
    return items[:at] + rest + items[at + 1:]


def _is_mask(item):
    return getattr(item, "dtype", None) == BOOL


def _item(trace, item):
    if item is None or item is ... or isinstance(item, slice):
        return item
    if isinstance(item, (bool, np.bool_)):
        complain("True and False as an index are not recorded")
    if isinstance(item, (int, np.integer)) or hasattr(item, "dim"):
        return trace.dim(item)
    node = trace.as_node(item)
    if node.dtype.kind not in "iub":
        complain(f"an index is an array of {node.dtype}, which are no integers")
    return trace.dim(int(node.value)) if node.value is not None else node


def _view(node, entries):
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
    """What arrays of positions read. Numbers beside them are arrays without axes, as in NumPy."""
    trace = node.trace
    if any(_is_mask(entry) for entry in entries):
        complain("how many elements a mask chooses only the data decides: `np.where(mask, x, 0)` keeps the shape, and "
                 "`np.sum(np.where(mask, x, 0))` adds the chosen ones")
    sizes, arrays, basic, at = list(trace.shape_of(node)), [], [], 0
    for place, entry in enumerate(entries):
        if entry is None or isinstance(entry, slice):
            basic.append(entry)
        else:
            index = entry if hasattr(entry, "write") else trace.of_size(entry)
            arrays.append((place, at, from_the_front(index, sizes[at])))
            basic.append(slice(None))
        at += entry is not None
    node = _view(node, basic)
    axes = [place for place, _, _ in arrays]
    together = axes == list(range(axes[0], axes[0] + len(axes)))
    return gathered(node, axes, [index for _, _, index in arrays], axes[0] if together else 0)


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


def stored(node, key, value):
    """The node with other elements at the places that the key names."""
    entries = _entries(node, key)
    value = cast(value, node.dtype)
    masks = [entry for entry in entries if _is_mask(entry)]
    if masks:
        return _stored_by_mask(node, entries, value)
    if any(hasattr(entry, "write") for entry in entries if entry is not None):
        complain("storing where an array of positions says is not recorded: build the result from `np.where` or "
                 "`np.take_along_axis`")
    return _stored_by_slices(node, entries, value)


def _stored_by_mask(node, entries, value):
    mask, *others = entries
    if not _is_mask(mask) or any(entry != slice(None) for entry in others):
        complain("a mask with other indices is not recorded: give a mask of all axes, or of the first ones")
    if value.rank:
        complain("a mask stores a number, or write `np.where(mask, values, x)` with values in the shape of x")
    trace = node.trace
    whole = views.expanded(mask, list(range(mask.rank, node.rank)))
    if trace.broadcast([whole.shape, node.shape]) != trace.shape_of(node):
        complain(f"a mask of {trace.shown(mask.shape)} does not fit {trace.shown(node.shape)}")
    return trace.node(node.shape, node.dtype, (whole, value, node), select)


def _stored_by_slices(node, entries, value):
    trace = node.trace
    if node.view is not None:  # what is changed is this array, not the one that it is a view of
        node = trace.node(node.shape, node.dtype, (node,), lambda line: line.whole(0))
    place = _view(node, entries)
    if place is node:
        return _fitted(trace, node, value)
    value = _fitted(trace, place, value)
    positions = place.view.positions
    value = views.dropped(value, [axis for axis in range(place.rank) if axis not in _axes_of(positions)])
    store = _with if all(it.step == 1 for it in positions) else _strided
    return store(trace, node, place, positions, value)


def _fitted(trace, place, value):
    """The value in the shape of the place; NumPy drops axes of 1 at the front."""
    while value.rank > place.rank:
        if not trace.shape_of(value)[0].is_number(1):
            complain(f"{trace.shown(value.shape)} does not fit into {trace.shown(place.shape)}")
        value = views.dropped(value, [0])
    return views.broadcast_to(value, place.shape)


def _axes_of(positions):
    return [it.axis for it in positions if it.axis is not None]


def _with(trace, node, place, positions, value):
    def write(line):
        texts = []
        for it, size in zip(positions, line.shape(0)):
            start = trace.facts.normal(it.start)
            if it.axis is None:
                texts.append(line.size(start))
                continue
            end = start + trace.facts.normal(trace.facts.normal(place.shape[it.axis]))
            ends = "" if start.is_number(0) else line.size(start), "" if line.is_same(end, size) else line.size(end)
            texts.append(" : ".join(ends) if " " in "".join(ends) and all(ends) else ":".join(ends))
        return f"{line.argument(0, SUM)} with [{', '.join(texts)}] = {line.typed(1, SUM)}", OPEN
    return trace.node(node.shape, node.dtype, (node, value), write)


def _strided(trace, node, place, positions, value):
    """Element by element: every place asks whether it is one that is stored to."""

    def write(line):
        names = line.binders(node.rank)
        old = f"{line.name(0)}[{', '.join(names)}]"
        conditions, index = [], []
        for it, name in zip(positions, names):
            start = trace.facts.normal(it.start)
            if it.axis is None:
                conditions.append(f"{name} == {line.size(start, COMPARE + 1)}")
                continue
            extent, step = trace.facts.normal(place.shape[it.axis]), it.step
            if step < 0:
                start = start + (extent - 1) * step
            offset = name if start.is_number(0) else f"({name} - {line.size(start, SUM + 1)})"
            if abs(step) != 1:
                conditions.append(f"{offset} % {abs(step)} == 0")
                offset = f"{offset} / {abs(step)}"
            index.append(offset if step > 0 else f"{line.size(extent - 1, SUM)} - {offset}")
        new = f"{line.name(1)}[{', '.join(index)} else {old}]" if index else line.typed(1)
        condition = " && ".join(conditions)
        return f"for {' '.join(names)} => " + (f"if {condition} then {new} else {old}" if condition else new), OPEN
    return trace.node(node.shape, node.dtype, (node, value), write, named=(0, 1))
