"""Arrays with more elements around them."""
import numpy as np

from .array import integer
from .graph import OPEN, SUM, Trace, cast
from .place import complain, unrecorded
from .positions import by_position
from .sizes import Dim
from .vocabulary import array_of, node_of, says


@says(np.pad)
def pad(array, pad_width, mode="constant", constant_values=0, end_values=0):
    node = node_of(array)
    widths = _widths(pad_width, node.rank)
    trace, sizes = node.trace, node.trace.shape_of(node)
    shape = [size + before + after for size, (before, after) in zip(sizes, widths)]
    padded = [axis for axis, (before, after) in enumerate(widths) if not (before + after).is_number(0)]
    if mode == "empty" or (mode == "constant" and not isinstance(constant_values, (tuple, list, np.ndarray))):
        return _pad_with(node, shape, widths, padded, 0 if mode == "empty" else constant_values)
    if mode in _BLOCKS or mode == "constant":
        values = constant_values if mode == "constant" else end_values
        block = {"constant": _constant, "linear_ramp": _ramp}.get(mode) or _statistic(_BLOCKS[mode])
        return _by_blocks(node, widths, padded, _pairs(values, node.rank), block)
    if mode not in _MODES:
        unrecorded(f"np.pad in mode {mode!r} is not recorded")
    for axis in padded:
        if not trace.facts.at_least(sizes[axis], Dim.of(1)):
            complain(f"np.pad in mode {mode!r} of an axis without elements")
        for width in widths[axis]:
            if mode != "edge" and not trace.facts.at_least(sizes[axis] - _MODES[mode][0], width):
                unrecorded(f"np.pad in mode {mode!r} by more than the axis has is not recorded")

    def text(line, names, axis):
        if axis not in padded:
            return names[axis]
        offset = _offset(line, names[axis], widths[axis][0])
        return _MODES[mode][1](offset, line.size(line.shape(0)[axis], SUM + 1))
    return by_position(node, shape, text)


def _offset(line, name, before):
    before = line.program.trace.facts.normal(before)
    return name if before.is_number(0) else f"{name} - {line.size(before, SUM + 1)}"


# The least size beside the width, and the position.
_MODES = {
    "edge": (1, lambda at, n: f"min (max ({at}) 0) ({n} - 1)"),
    "wrap": (0, lambda at, n: f"({at}) % {n}"),
    "reflect": (1, lambda at, n: f"{n} - 1 - abs ({n} - 1 - abs ({at}))"),
    "symmetric": (0, lambda at, n: f"min (max ({at}) (-1 - ({at}))) (2 * {n} - 1 - max ({at}) (-1 - ({at})))"),
}


def _pairs(given, rank):
    """Something before and behind, for each axis: one for all, one pair for all, or a pair for each."""
    def is_one(it):
        return not isinstance(it, (tuple, list)) and not (isinstance(it, np.ndarray) and it.ndim)
    one = is_one(given)
    items = [given] if one else list(given)
    pairs = [[it, it] if is_one(it) else list(it) for it in items]
    if not one and len(items) == 2 and is_one(items[0]):
        pairs = [items]
    pairs = [pair * 2 if len(pair) == 1 else pair for pair in pairs]
    pairs = pairs * rank if len(pairs) == 1 else pairs
    if len(pairs) != rank:
        complain(f"np.pad has {len(pairs)} pairs for {rank} axes")
    return pairs


def _widths(pad_width, rank):
    trace = Trace.current()
    pairs = [tuple(trace.dim(it) for it in pair) for pair in _pairs(pad_width, rank)]
    for width in (width for pair in pairs for width in pair):
        if not trace.facts.at_least(width, Dim.of(0)):
            complain("a width to pad by is not negative")
    return pairs


def _pad_with(node, shape, widths, padded, value):
    value = cast(node_of(value), node.dtype)
    if value.rank:
        unrecorded("np.pad is recorded for one constant value")
    if not padded:
        return node

    def write(line):
        names = line.binders(node.rank)
        index = [_offset(line, name, before) for name, (before, _) in zip(names, widths)]
        ranges = " ".join(f"({name} < {line.size(size, SUM)})" if axis in padded else name
                          for axis, (name, size) in enumerate(zip(names, line.shape())))
        return f"for {ranges} => {line.name(0)}[{', '.join(index)} else {line.argument(1, SUM)}]", OPEN
    return node.trace.node(shape, node.dtype, (node, value), write, named=(0, 1))


# ---- By blocks before and behind, axis by axis ----

_BLOCKS = {"linear_ramp": None, "maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}


def _by_blocks(node, widths, padded, values, block):
    """`block` gives what stands at one end of an axis: of the array so far, the axis, how many elements, a value, and
    whether it is the end."""
    array = array_of(node)
    for axis in padded:
        parts = [array]
        for width, value, behind in zip(widths[axis], values[axis], (False, True)):
            if not node.trace.facts.normal(width).is_number(0):
                made = block(array, axis, integer(node.trace.facts.normal(width)), value, behind).astype(array.dtype)
                parts = [*parts, made] if behind else [made, *parts]
        array = np.concatenate(parts, axis=axis)
    return array.node


def _constant(array, axis, width, value, behind):
    return np.broadcast_to(array_of(value), _with_size(array, axis, width))


def _with_size(array, axis, width):
    return array.shape[:axis] + (width,) + array.shape[axis + 1:]


def _statistic(function):
    def block(array, axis, width, value, behind):
        if array.shape[axis] < 1:
            complain("np.pad with a statistic of nothing")
        found = function(array, axis=axis, keepdims=True)
        found = np.rint(found) if array.dtype.kind in "iu" and found.dtype.kind == "f" else found
        return np.broadcast_to(found, _with_size(array, axis, width))
    return block


def _ramp(array, axis, width, value, behind):
    if array.shape[axis] < 1:
        complain("np.pad with a ramp to nothing")
    edge = array[(slice(None),) * axis + (-1 if behind else 0,)]
    ramp = np.linspace(array_of(value), edge, width, endpoint=False, dtype=array.dtype, axis=axis)
    return np.flip(ramp, axis) if behind else ramp
