"""`x[...] = v`, in NumPy's rules, and `np.add.at` and its like: a node with other elements at some places.

Numbers and slices are stored by `with`, or element by element where a slice has steps; one number where a mask is true is
chosen there. All else names positions: the axes that they are on are made one, in front, and what is stored becomes rows
of it (`_at_rows`).
"""
import numpy as np

from . import views
from .graph import APPLY, COMPARE, OPEN, SUM, cast
from .indexing import arrays_of, entries_of, gathered, is_mask, select, view_of
from .place import complain, unrecorded
from .pointwise import recorded
from .reductions import bound_of
from .shapes import product_of_sizes, reshape_to, sizes_behind
from .vocabulary import UFUNCS, node_of


def stored(node, key, value):
    """The node with other elements at the places that the key names."""
    entries = entries_of(node, key)
    value = cast(value, node.dtype)
    if is_mask(entries[0] if entries else None) and not value.rank and all(it == slice(None) for it in entries[1:]):
        return _stored_by_mask(node, entries[0], value)
    if any(hasattr(entry, "write") for entry in entries if entry is not None):
        return _stored_at(node, entries, value, "stored_at")
    return _stored_by_slices(node, entries, value)


# NumPy's functions whose `at` is recorded, and the library's.
_COMBINED = {np.add: "add", np.subtract: "add", np.multiply: "mul", np.maximum: "max", np.minimum: "min"}


def _combined(ufunc, target, key, value):
    """`ufunc.at(target, key, value)`: the node that the target becomes."""
    target, value = node_of(target), node_of(value)
    if target.dtype.kind not in "iuf":
        unrecorded(f"np.{ufunc.__name__}.at of {target.dtype} is not recorded")
    if not np.can_cast(np.result_type(target.dtype, value.dtype if value.rank else np.min_scalar_type(value.dtype.type(1))),
                       target.dtype, "same_kind"):
        complain(f"np.{ufunc.__name__}.at: {value.dtype} does not become {target.dtype}")
    value = recorded(np.negative, cast(value, target.dtype)) if ufunc is np.subtract else cast(value, target.dtype)
    entries = entries_of(target, key)
    if not any(hasattr(entry, "write") for entry in entries if entry is not None):
        return _stored_by_slices(target, entries, cast(recorded(ufunc, view_of(target, entries), value), target.dtype))
    unit = {"add": "0", "mul": "1"}.get(_COMBINED[ufunc]) or bound_of(target.dtype, ufunc is np.minimum)
    return _stored_at(target, entries, value, f"combined_at {_COMBINED[ufunc]} {unit}")


def _at(ufunc):
    return lambda target, key, value: _combined(ufunc, target, key, value)


UFUNCS |= {(ufunc, "at"): _at(ufunc) for ufunc in _COMBINED}


def _stored_at(node, entries, value, function):
    """Stored at positions that arrays say: `function` of numpy.axn takes them, the values and the rows."""
    basic, axes, indices, place = arrays_of(node, entries)
    whole = all(entry == slice(None) for entry in basic)
    part = node if whole else view_of(node, basic)
    made = _at_rows(part, axes, indices, place, value, function)
    return made if whole else _stored_by_slices(node, basic, made)


def _at_rows(part, axes, indices, place, value, function):
    trace, sizes = part.trace, part.trace.shape_of(part)
    shape = list(trace.broadcast([index.shape for index in indices]))
    kept = [axis for axis in range(part.rank) if axis not in axes]
    rest = [sizes[axis] for axis in kept]
    value = _fitted(trace, rest[:place] + shape + rest[place:], value)
    mine = range(place, place + len(shape))
    value = views.permuted(value, [*mine, *(axis for axis in range(value.rank) if axis not in mine)])
    order = [*axes, *kept]
    turned = views.permuted(part, order)
    front = [sizes[axis] for axis in axes]
    rows = reshape_to(turned, [product_of_sizes(front), *rest])
    value = reshape_to(value, [product_of_sizes(shape), *rest])
    index = reshape_to(views.broadcast_to(_row_numbers(trace, indices, front), shape), [product_of_sizes(shape)])

    def write(line):
        return " ".join([function, *map(line.name, range(4))]), APPLY
    old = gathered(part, axes, indices, place)
    made = trace.node(rows.shape, part.dtype, (old, index, value, rows), write, named=range(4))
    return views.permuted(reshape_to(made, [*front, *rest]), [order.index(axis) for axis in range(part.rank)])


def _row_numbers(trace, indices, sizes):
    """The numbers of rows that positions on several axes name."""
    total = None
    for index, behind in zip(indices, sizes_behind(sizes)):
        part = index if behind.is_number(1) else recorded(np.multiply, index, trace.of_size(behind))
        total = part if total is None else recorded(np.add, total, part)
    return total


def _stored_by_mask(node, mask, value):
    trace = node.trace
    whole = views.expanded(mask, list(range(mask.rank, node.rank)))
    if trace.broadcast([whole.shape, node.shape]) != trace.shape_of(node):
        complain(f"a mask of {trace.shown(mask.shape)} does not fit {trace.shown(node.shape)}")
    return trace.node(node.shape, node.dtype, (whole, value, node), select)


def _stored_by_slices(node, entries, value):
    trace = node.trace
    if node.view is not None:  # what is changed is this array, not the one that it is a view of
        node = trace.node(node.shape, node.dtype, (node,), lambda line: line.whole(0))
    place = view_of(node, entries)
    if place is node:
        return _fitted(trace, node.shape, value)
    value = _fitted(trace, place.shape, value)
    positions = place.view.positions
    value = views.dropped(value, [axis for axis in range(place.rank) if axis not in _axes_of(positions)])
    store = _with if all(it.step == 1 for it in positions) else _strided
    return store(trace, node, place, positions, value)


def _fitted(trace, shape, value):
    """The value in the shape of the place; NumPy drops axes of 1 at the front."""
    while value.rank > len(shape):
        if not trace.shape_of(value)[0].is_number(1):
            complain(f"{trace.shown(value.shape)} does not fit into {trace.shown(shape)}")
        value = views.dropped(value, [0])
    return views.broadcast_to(value, shape)


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
