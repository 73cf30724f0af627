"""Sequences of samples: convolution, interpolation, differences, angles, polynomials."""
import numpy as np

from .graph import APPLY, ATOM, OPEN, SUM, cast
from .place import complain
from .reductions import front
from .sizes import Dim
from .values import BOOL, I64
from .vocabulary import array_of, node_of, says


# ---- Sums of products of what is shifted ----

def _one_axis(value, what):
    """An array of one axis with at least one element."""
    node = array_of(np.atleast_1d(array_of(value))).node
    if node.rank != 1:
        complain(f"{what} is of arrays of one axis, not of {node.rank}")
    if not node.trace.facts.at_least(node.trace.shape_of(node)[0], Dim.of(1)):
        complain(f"{what} of nothing")
    return node


def _slid(a, v, length, first, sign):
    """The sums of v[j] * a[first + i + sign * j], nothing outside of a."""
    dtype = np.result_type(a.dtype, v.dtype)
    if dtype == BOOL:
        return cast(_slid(cast(a, I64), cast(v, I64), length, first, sign), BOOL)
    trace, shift = a.trace, Dim.of(first)

    def write(line):
        i, j = line.binders(2)
        start = trace.facts.normal(shift)
        at = f"{i} {'+' if sign > 0 else '-'} {j}"
        if not start.is_number(0):
            number = start.constant()
            at += f" - {-number}" if number is not None and number < 0 else f" + {line.size(start, SUM)}"
        product = f"{line.name(1)}[{j}] * {line.name(0)}[{at} else 0]"
        return f"for ({i} < {line.size(line.shape()[0], SUM)}) => sum {j} => {product}", OPEN
    return trace.node([length], dtype, (cast(a, dtype), cast(v, dtype)), write, named=(0, 1))


def _mode(mode, what):
    if mode not in ("full", "same", "valid"):
        complain(f"the mode of {what} is 'full', 'same' or 'valid', not {mode!r}")


def _sizes(a, v):
    """How many elements the arrays have, and whether the first is no shorter."""
    facts, sizes = a.trace.facts, (a.trace.shape_of(a)[0], v.trace.shape_of(v)[0])
    return (*sizes, facts.at_least(*sizes))


@says(np.convolve)
def convolve(a, v, mode="full"):
    a, v = _one_axis(a, "np.convolve"), _one_axis(v, "np.convolve")
    _mode(mode, "np.convolve")
    if mode == "full":
        return _slid(a, v, a.shape[0] + v.shape[0] - 1, 0, -1)
    n, m, longer = _sizes(a, v)
    if not longer:
        a, v, n, m = v, a, m, n
    if mode == "same":
        return _slid(a, v, n, (m - 1).quotient(Dim.of(2)), -1)
    return _slid(a, v, n - m + 1, m - 1, -1)


@says(np.correlate)
def correlate(a, v, mode="valid"):
    a, v = _one_axis(a, "np.correlate"), _one_axis(v, "np.correlate")
    _mode(mode, "np.correlate")
    if mode == "full":
        return _slid(a, v, a.shape[0] + v.shape[0] - 1, Dim.of(1) - v.shape[0], 1)
    n, m, longer = _sizes(a, v)
    if not longer:  # the same products, from the other end
        return np.flip(array_of(correlate(v, a, mode)))
    return _slid(a, v, n, (m - 1).quotient(Dim.of(2)) - m + 1, 1) if mode == "same" else _slid(a, v, n - m + 1, 0, 1)


# ---- Between samples ----

@says(np.interp)
def interp(x, xp, fp, left=None, right=None, period=None):
    x, xp, fp = (array_of(cast(node_of(it), np.float64)) for it in (x, xp, fp))
    if xp.ndim != 1 or fp.ndim != 1 or xp.shape != fp.shape:
        complain("np.interp reads between points whose positions and values are two arrays of one axis and of one size")
    if xp.shape[0] < 1:
        complain("np.interp between no points")
    if period is not None:
        x, xp, fp = _repeated(x, xp, fp, period)
        left = right = None
    left, right = (fp[at] if end is None else np.float64(end) for at, end in ((0, left), (-1, right)))
    if xp.shape[0] == 1:
        return np.where(x < xp[0], left, np.where(x > xp[0], right, fp[0]))
    nodes = [x.node, xp.node, fp.node, cast(node_of(left), np.float64), cast(node_of(right), np.float64)]

    def write(line):
        return " ".join(["interpolated", *(line.typed(at, ATOM) for at in range(5))]), APPLY
    return x.node.trace.node(x.node.shape, np.float64, nodes, write)


def _repeated(x, xp, fp, period):
    """Within one period, with a point of the one before and of the one behind."""
    period = abs(period)
    if not hasattr(period, "node") and period == 0:
        complain("the period of np.interp is not 0")
    x, xp = x % period, xp % period
    order = np.argsort(xp)
    xp, fp = xp[order], fp[order]
    return x, np.concatenate([xp[-1:] - period, xp, xp[:1] + period]), np.concatenate([fp[-1:], fp, fp[:1]])


# ---- Differences ----

def _along(axis, part):
    """A slice of one axis."""
    return (slice(None),) * axis + (part,)


@says(np.gradient)
def gradient(f, *varargs, axis=None, edge_order=1):
    f = array_of(f)
    if f.dtype == BOOL:
        complain("np.gradient subtracts, which truth values do not")
    f = f if f.dtype.kind == "f" else f.astype(np.float64)
    axes = axis if isinstance(axis, (tuple, list)) else range(f.ndim) if axis is None else [axis]
    axes = [front(f.ndim, one) for one in axes]
    steps = list(varargs) * (len(axes) if len(varargs) == 1 else 1) or [1.0] * len(axes)
    if len(steps) != len(axes):
        complain(f"np.gradient has {len(steps)} distances for {len(axes)} axes")
    if edge_order not in (1, 2):
        complain("np.gradient has an `edge_order` of 1 or 2")
    found = [_slope(f, step, at, edge_order) for step, at in zip(steps, axes)]
    return found[0] if len(found) == 1 else found


def _slope(f, step, axis, edge_order):
    """By the neighbours on both sides, at the ends by those on one."""
    size = f.shape[axis]
    if size < edge_order + 1:
        complain(f"np.gradient of an axis of {size} with `edge_order` {edge_order}")
    step = array_of(step)
    if step.ndim > 1 or (step.ndim == 1 and step.shape[0] != size):
        complain("a distance of np.gradient is a number, or the positions on its axis")
    if step.ndim:
        step = np.diff(step)
        step = (step if step.dtype.kind == "f" else step.astype(np.float64)).reshape((-1,) + (1,) * (f.ndim - 1 - axis))

    def gaps(part):
        return step[part] if step.ndim else step

    def at(first, last):
        return f[_along(axis, slice(first, last))]
    before, after = gaps(slice(None, -1)), gaps(slice(1, None))
    if step.ndim:
        middle = (at(2, None) * (before / (after * (before + after))) + at(1, -1) * ((after - before) / (before * after))
                  - at(None, -2) * (after / (before * (before + after))))
    else:
        middle = (at(2, None) - at(None, -2)) / (2.0 * step)
    if step.node.value == 1 and edge_order == 1:
        ends = at(1, 2) - at(0, 1), at(-1, None) - at(-2, -1)
    else:
        ends = _ends_of_first(at, gaps) if edge_order == 1 else _ends_of_second(at, gaps, bool(step.ndim))
    return np.concatenate([ends[0], middle, ends[1]], axis=axis).astype(f.dtype)


def _ends_of_first(at, gaps):
    return (at(1, 2) - at(0, 1)) / gaps(slice(0, 1)), (at(-1, None) - at(-2, -1)) / gaps(slice(-1, None))


def _ends_of_second(at, gaps, uneven):
    """By the parabola through the three points at an end."""
    found = []
    for sign, places in ((1, (slice(0, 1), slice(1, 2), slice(2, 3))), (-1, (slice(-1, None), slice(-2, -1), slice(-3, -2)))):
        near, far = (gaps(place) for place in ((slice(0, 1), slice(1, 2)) if sign > 0 else (slice(-1, None), slice(-2, -1))))
        y0, y1, y2 = (at(place.start, place.stop) for place in places)
        if uneven:
            slope = (y1 * ((near + far) / (near * far)) - y0 * ((2.0 * near + far) / (near * (near + far)))
                     - y2 * (near / (far * (near + far))))
        else:
            slope = (2.0 * y1 - 1.5 * y0 - 0.5 * y2) / near
        found.append(slope if sign > 0 else -slope)
    return found


@says(np.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None):
    ary = array_of(ary).ravel()
    if ary.dtype == BOOL:
        complain("np.ediff1d subtracts, which truth values do not")
    ends = [None if end is None else array_of(end).ravel().astype(ary.dtype) for end in (to_begin, to_end)]
    return np.concatenate([it for it in (ends[0], np.diff(ary), ends[1]) if it is not None])


@says(np.unwrap)
def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    """Every step as the shortest of those that differ by periods."""
    p = array_of(p)
    axis = front(p.ndim, axis)
    steps = np.diff(p, axis=axis)
    dtype = np.result_type(steps.dtype, np.ones(1, steps.dtype) * period if not isinstance(period, (int, float)) else period)
    if dtype.kind in "iu":
        half, both = divmod(period, 2)[0], period % 2 == 0
    else:
        half, both = period / 2, True
    short = (steps + half) % period - half
    if both:
        short = np.where((short == -half) & (steps > 0), half, short)
    discont = half if discont is None and dtype.kind in "iu" else period / 2 if discont is None else discont
    correction = np.where(abs(steps) < discont, 0, short - steps)
    first = p[_along(axis, slice(None, 1))].astype(dtype)
    rest = p[_along(axis, slice(1, None))] + np.cumsum(correction, axis=axis)
    return np.concatenate([first, rest.astype(dtype)], axis=axis)


# ---- Polynomials, by their coefficients, the highest first ----

@says(np.polyval)
def polyval(p, x):
    p, x = array_of(p), array_of(x)
    y = np.zeros_like(x)
    for at in range(len(p)):
        y = y * x + p[at]
    return y


def _added(ufunc):
    def row(a1, a2):
        a, b = (np.atleast_1d(array_of(it)) for it in (a1, a2))
        more = a.shape[0] - b.shape[0]
        if more >= 0:
            b = np.concatenate([np.zeros(more, b.dtype), b])
        else:
            a = np.concatenate([np.zeros(-more, a.dtype), a])
        return ufunc(a, b)
    return row


says(np.polyadd)(_added(np.add))
says(np.polysub)(_added(np.subtract))


@says(np.polyder)
def polyder(p, m=1):
    p = array_of(p)
    for _ in range(int(m)):
        p = p[:-1] * np.arange(p.shape[0] - 1, 0, -1)
    return p


@says(np.polyint)
def polyint(p, m=1, k=None):
    p = array_of(p)
    for at in range(int(m)):
        constant = 0.0 if k is None else k if np.ndim(k) == 0 else k[at]
        p = np.append(p / np.arange(p.shape[0], 0, -1), constant)
    return p


@says(np.vander)
def vander(x, N=None, increasing=False):
    x = array_of(x)
    if x.ndim != 1:
        complain(f"np.vander of {x.ndim} axes")
    count = x.shape[0] if N is None else N
    x = x.astype(np.promote_types(x.dtype, int))
    ones, rest = np.ones((x.shape[0], 1), x.dtype), np.broadcast_to(x[:, None], (x.shape[0], max(count - 1, 0)))
    powers = np.multiply.accumulate(np.concatenate([ones, rest], axis=1)[:, :count], axis=1)
    return powers if increasing else powers[:, ::-1]


# ---- Frequencies in order ----

def _centred(round_up):
    def row(x, axes=None):
        x = array_of(x)
        axes = range(x.ndim) if axes is None else axes if isinstance(axes, (tuple, list)) else [axes]
        sizes = [x.shape[front(x.ndim, axis)] for axis in axes]
        shifts = [-(size // 2) if round_up else size // 2 for size in sizes]
        return np.roll(x, shifts, list(axes))
    return row


says(np.fft.fftshift)(_centred(False))
says(np.fft.ifftshift)(_centred(True))
