"""Views: nodes whose elements are elements of another node, at positions that are sums and multiples of their own.

A `View` says for each axis of its source where along it to read: at `step * i + start`, i the position on one axis of
the result, or at a fixed position. So it says of transposition, slices, reversal, new and dropped axes, diagonals and
broadcasting what they are; views of views are views. They are written as the shortest of `x`, `transpose x`,
`x[1:, 0]` and `for i j => x[j, i]`.
"""
from .graph import APPLY, ATOM, OPEN, SUM
from .place import complain
from .sizes import Dim


class Position:
    """Where to read along one axis: `axis` of the result, or None for a fixed position."""

    def __init__(self, axis, step, start):
        self.axis, self.step, self.start = axis, step, Dim.of(start)


class View:
    """The source and a position for each of its axes."""

    def __init__(self, source, positions):
        self.source, self.positions = source, tuple(positions)


def view(node, shape, positions):
    """The node of such a view of another node."""
    trace = node.trace
    shape = tuple(map(trace.facts.normal, map(Dim.of, shape)))
    if node.view is not None:
        positions = [_composed(inner, positions) for inner in node.view.positions]
        node = node.view.source
    if _is_identity(trace, node, shape, positions):
        return node
    made = trace.node(shape, node.dtype, (node,), _write, named=(0,))
    made.view = View(node, positions)
    return made


def whole(axis):
    return Position(axis, 1, 0)


def _composed(inner, positions):
    if inner.axis is None:
        return inner
    outer = positions[inner.axis]
    return Position(outer.axis, inner.step * outer.step, outer.start * inner.step + inner.start)


def _is_identity(trace, node, shape, positions):
    return len(shape) == node.rank and all(
        it.axis == axis and it.step == 1 and trace.facts.normal(it.start).is_number(0) and
        trace.facts.normal(size - extent).is_number(0)
        for axis, (it, size, extent) in enumerate(zip(positions, trace.shape_of(node), shape)))


def _write(line):
    positions = line.node.view.positions
    axes = [it.axis for it in positions if it.axis is not None]
    if axes == list(range(line.node.rank)) and positions:
        texts = [_slice(line, it, size) for it, size in zip(positions, line.shape(0))]
        if None not in texts:
            return f"{line.name(0)}[{', '.join(_shortened(texts))}]", ATOM
    rank = line.node.rank
    turned = list(range(rank - 2)) + [rank - 1, rank - 2]
    if rank > 1 and axes == turned and all(_is_whole(line, it, size) for it, size in zip(positions, line.shape(0))):
        return f"transpose {line.name(0)}", APPLY
    return _write_in_full(line)


def _is_whole(line, position, size):
    """Whether the position goes along all of the axis, in order."""
    return (position.axis is not None and position.step == 1 and line.is_same(position.start, Dim.of(0)) and
            line.is_same(size, line.node.shape[position.axis]))


def _slice(line, position, size):
    """What stands in brackets for the axis; None where that is no slice forwards, nor one of the whole axis back."""
    if position.axis is None:
        last = line.is_same(position.start, size - 1) and size.constant() is None
        return "-1" if last else line.size(position.start)
    if _is_whole(line, position, size):
        return ":"
    extent = line.node.shape[position.axis]
    if position.step < 0:
        full = position.step == -1 and line.is_same(position.start, size - 1) and line.is_same(extent, size)
        return "::-1" if full else None
    start = "" if line.is_same(position.start, Dim.of(0)) else line.size(position.start)
    if position.step == 1:
        end = position.start + extent
        end = "" if line.is_same(end, size) else line.size(end)
        return f"{start} : {end}" if " " in start + end and start and end else f"{start}:{end}"
    covered = line.is_same(extent, (size - position.start + position.step - 1).quotient(Dim.of(position.step)))
    return f"{start}::{position.step}" if covered else None


def _shortened(texts):
    """Without the whole axes at the end, or with `..` for those at the front."""
    if texts[-1] == ":":
        while len(texts) > 1 and texts[-1] == ":":
            texts = texts[:-1]
        return texts
    front = next((at for at, text in enumerate(texts) if text != ":"), 0)
    return ["..", *texts[front:]] if front > 1 else texts


def _write_in_full(line):
    shape = line.shape()
    names = line.binders(len(shape))
    positions = line.node.view.positions
    free = {it.axis for it in positions} - {
        it.axis for it, size in zip(positions, line.shape(0)) if not _is_whole(line, it, size)}
    ranges = [name if at in free else f"({name} < {line.size(size, SUM)})"
              for at, (name, size) in enumerate(zip(names, shape))]
    index = ", ".join(at_position(line, it, names) for it in positions)
    element = f"{line.name(0)}[{index}]" if positions else line.typed(0)
    return f"for {' '.join(ranges)} => {element}" if names else element, OPEN if names else ATOM


def at_position(line, position, names):
    """The text of an index."""
    start = line.program.trace.facts.normal(position.start)
    if position.axis is None:
        return line.size(start)
    name = names[position.axis]
    if position.step == -1:
        return f"{line.size(start, SUM)} - {name}"
    term = name if position.step == 1 else f"{position.step} * {name}"
    return term if start.is_number(0) else f"{term} + {line.size(start, SUM)}" if start.constant() is None or \
        start.constant() > 0 else f"{term} - {-start.constant()}"


def permuted(node, axes):
    """With its axes in another order: axis i of the result is axis axes[i]."""
    shape = node.trace.shape_of(node)
    return view(node, [shape[axis] for axis in axes], [whole(axes.index(axis)) for axis in range(node.rank)])


def expanded(node, places):
    """With new axes of 1 at these places of the result."""
    shape, old = list(node.trace.shape_of(node)), []
    rank = node.rank + len(places)
    old = [axis for axis in range(rank) if axis not in places]
    sizes = [Dim.of(1)] * rank
    for axis, size in zip(old, shape):
        sizes[axis] = size
    return view(node, sizes, [whole(axis) for axis in old])


def dropped(node, axes):
    """Without these axes, which are 1."""
    kept = [axis for axis in range(node.rank) if axis not in axes]
    shape = node.trace.shape_of(node)
    return view(node, [shape[axis] for axis in kept],
                [whole(kept.index(axis)) if axis in kept else Position(None, 1, 0) for axis in range(node.rank)])


def broadcast_to(node, shape):
    """Stretched to a shape that it broadcasts to."""
    trace = node.trace
    shape = tuple(map(trace.dim, shape))
    if len(shape) < node.rank or trace.broadcast([node.shape, shape]) != tuple(map(trace.facts.normal, shape)):
        complain(f"{trace.shown(node.shape)} does not broadcast to {trace.shown(shape)}")
    front = len(shape) - node.rank
    positions = [Position(None, 1, 0) if size.is_number(1) and not trace.facts.normal(shape[front + axis]).is_number(1)
                 else whole(front + axis) for axis, size in enumerate(trace.shape_of(node))]
    return view(node, shape, positions)


def sliced(node, axis, start, step, extent):
    """One axis at start, start + step, and so on, as many as `extent`."""
    shape = list(node.trace.shape_of(node))
    shape[axis] = extent
    positions = [Position(axis, step, start) if at == axis else whole(at) for at in range(node.rank)]
    return view(node, shape, positions)


def picked(node, axis, position):
    """What stands at one position of an axis, which goes."""
    shape = node.trace.shape_of(node)
    positions = [Position(None, 1, position) if at == axis else whole(at - (at > axis)) for at in range(node.rank)]
    return view(node, shape[:axis] + shape[axis + 1:], positions)


def diagonal(node, offset, axis1, axis2):
    """The elements whose positions on two axes differ by `offset`, along a new last axis."""
    trace, shape = node.trace, node.trace.shape_of(node)
    rows, columns = shape[axis1], shape[axis2]
    first = max(-offset, 0), max(offset, 0)
    kept = [axis for axis in range(node.rank) if axis not in (axis1, axis2)]
    length = smaller(trace, rows - first[0], columns - first[1])
    positions = []
    for axis in range(node.rank):
        start = first[axis == axis2]
        positions.append(whole(kept.index(axis)) if axis in kept else Position(len(kept), 1, start))
    return view(node, [shape[axis] for axis in kept] + [length], positions)


def smaller(trace, a, b):
    """The smaller of two sizes, at least 0; which it is, is a fact."""
    least = a if trace.facts.at_least(b, a) else b
    return least if trace.facts.at_least(least, Dim.of(0)) else Dim.of(0)


def clamped(trace, position, size):
    """A bound of a slice as NumPy reads it: negative ones count from the end, and what is outside is cut off."""
    position = trace.dim(position)
    if not trace.facts.at_least(position, Dim.of(0)):
        position = position + size
        if not trace.facts.at_least(position, Dim.of(0)):
            return Dim.of(0)
    return position if trace.facts.at_least(size, position) else size


def range_of(trace, part, size):
    """Start, step and number of elements of a slice of an axis."""
    step = 1 if part.step is None else int(part.step)  # a size becomes a number, which is a fact
    if step == 0:
        complain("the step of a slice is not 0")
    if step > 0:
        start = Dim.of(0) if part.start is None else clamped(trace, part.start, size)
        stop = size if part.stop is None else clamped(trace, part.stop, size)
        length = stop - start
    else:
        start = size - 1 if part.start is None else _backwards(trace, part.start, size)
        stop = Dim.of(-1) if part.stop is None else _backwards(trace, part.stop, size)
        length = start - stop
    if not trace.facts.at_least(length, Dim.of(0)):
        return Dim.of(0), 1, Dim.of(0)
    return start, step, (length + abs(step) - 1).quotient(Dim.of(abs(step)))


def _backwards(trace, position, size):
    position = trace.dim(position)
    if not trace.facts.at_least(position, Dim.of(0)):
        position = position + size
        return position if trace.facts.at_least(position, Dim.of(-1)) else Dim.of(-1)
    return position if trace.facts.at_least(size - 1, position) else size - 1
