"""Quantiles, covariances, and how many elements are in which bin."""
import numpy as np

from . import views
from .graph import APPLY, ATOM, Trace, cast
from .order import searchsorted, sort
from .place import complain, unrecorded
from .pointwise import recorded
from .reductions import any_of, axes_of, largest, some_of
from .shapes import product_of_sizes, reshape_to
from .sizes import Dim
from .values import BOOL, Check, F64, I64, answer, literal
from .vocabulary import array_of, node_of, says


# ---- Quantiles ----

_METHODS = {"linear": None, "lower": np.floor, "higher": np.ceil, "nearest": np.rint}


def _with_axes_last(node, axes):
    """The axes as one, behind the others."""
    kept = [at for at in range(node.rank) if at not in axes]
    turned = views.permuted(node, kept + axes)
    shape = node.trace.shape_of(turned)
    return reshape_to(turned, [*shape[:len(kept)], product_of_sizes(shape[len(kept):])])


def _quantile(whole, what, nan=False):
    """The row of quantiles that are given in parts of `whole`; with `nan`, of the elements that are numbers."""
    def row(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, interpolation=None):
        node, share = node_of(a), _numbers(q, whole, what)
        method = interpolation or method
        if method not in _METHODS or (nan and method != "linear"):
            unrecorded(f"{what} by the method {method!r} is not recorded")
        axes = axes_of(node, axis)
        if not nan:
            some_of(node, axes, what)
        if node.dtype == BOOL:
            unrecorded(f"{what} of truth values is not recorded")
        dtype = answer(lambda x, at: _type_of_quantile(x.dtype, node.rank - len(axes), at, method), [
            node if node.rank else views.expanded(node, [0]), share])
        rows = node if node.dtype.kind == "f" or method != "linear" else cast(node, F64)
        made = _of_rows(_with_axes_last(rows, axes), share, method, nan, dtype)
        return views.expanded(made, [share.rank + at for at in axes]) if keepdims else made
    return row


def _type_of_quantile(dtype, rank, share, method):
    at = np.full((1,) * np.ndim(share), 0.5)
    return np.quantile(np.ones((1,) * (rank + 1), dtype), at if np.ndim(share) else np.float64(0.5), axis=-1, method=method).dtype


def _numbers(q, whole, what):
    """Parts of the whole as shares: a list of numbers is one of the program."""
    listed = isinstance(q, (list, tuple)) and all(isinstance(it, (int, float)) for it in q) and q
    if not listed:
        return _share(node_of(q), whole, what)
    shares = [_share(node_of(float(it)), whole, what).value for it in q]
    text = "[" + ", ".join(f"{'' if at else 'f64 '}{literal(it, F64)}" for at, it in enumerate(shares)) + "]"
    return Trace.current().node([len(q)], F64, (), lambda line: (text, ATOM))


def _share(share, whole, what):
    """Between 0 and 1, which is checked: now where it is a number, else by each run."""
    share = cast(share, F64)
    if whole != 1:
        share = recorded(np.true_divide, share, float(whole))
    if share.value is not None:
        if not 0 <= share.value <= 1:
            complain(f"{what} is between 0 and {whole}, not at {share.value * whole}")
        return share
    outside = recorded(np.logical_or, recorded(np.less, share, 0), recorded(np.greater, share, 1))
    share.trace.checks.append(Check([any_of(outside)], lambda there: not there, lambda _: f"{what} is between 0 and {whole}"))
    return share


def _of_rows(rows, share, method, nan, dtype):
    """Of the last axis; the axes of the shares come first. Between two elements floats of 64 bits are computed."""
    rounded = _METHODS[method]
    function = "quantile_of_numbers" if nan else "quantile" if rounded is None else "quantile_at"
    trace, rows = rows.trace, sort(rows)
    if rounded is not None:
        last = trace.of_size(trace.shape_of(rows)[-1] - 1)
        share = cast(recorded(rounded, recorded(np.multiply, share, cast(last, F64))), I64)
    made = trace.node([*share.shape, *rows.shape[:-1]], F64 if rounded is None else dtype, (share, rows), lambda line: (
        f"{function} {line.typed(0, ATOM)} {line.argument(1, ATOM)}", APPLY))
    return cast(made, dtype)


for _name, _whole in (("quantile", 1), ("percentile", 100)):
    says(getattr(np, _name))(_quantile(_whole, f"np.{_name}"))
    says(getattr(np, f"nan{_name}"))(_quantile(_whole, f"np.nan{_name}", nan=True))


@says(np.nanmedian)
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    node = node_of(a)
    node = cast(node, F64) if node.dtype.kind != "f" else node
    axes = axes_of(node, axis)
    rows = sort(_with_axes_last(node, axes))
    made = node.trace.node(rows.shape[:-1], node.dtype, (rows,), lambda line: (
        f"median_of_numbers {line.argument(0, ATOM)}", APPLY))
    return views.expanded(made, axes) if keepdims else made


# ---- Variables that vary together ----

@says(np.cov)
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    if fweights is not None or aweights is not None:
        unrecorded("np.cov with weights is not recorded")
    x = _variables(m, rowvar)
    if y is not None:
        x = np.concatenate([x, _variables(y, rowvar)])
    dtype = np.dtype(dtype or np.result_type(x.dtype, np.float64))
    x = x.astype(dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    less = x.shape[1] - int(ddof)
    x = x - x.mean(axis=1, keepdims=True)
    return np.squeeze((x @ x.T) / (less if less > 0 else 0))


def _variables(m, rowvar):
    """A row for each."""
    m = array_of(m)
    if m.ndim > 2:
        complain(f"np.cov of {m.ndim} axes")
    m = m if m.ndim == 2 else m.reshape(1, -1)
    return m if rowvar or m.shape[0] == 1 else m.T


@says(np.corrcoef)
def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    together = array_of(cov(x, y, rowvar, dtype=dtype))
    if not together.ndim:
        return together / together
    spread = np.sqrt(np.diagonal(together))
    return np.clip(together / spread[:, None] / spread[None, :], -1, 1)


# ---- Bins ----

@says(np.bincount)
def bincount(x, weights=None, minlength=0):
    """With a `minlength` there are so many bins; else there is one for each number up to the largest, which the data decides."""
    node = node_of(x)
    if node.rank != 1 or not np.can_cast(node.dtype, I64):
        complain(f"np.bincount counts integers of one axis, not {node.dtype}{node.trace.shown(node.shape)}")
    trace, node = node.trace, cast(node, I64)
    if node.dtype.kind == "i" and not node.nonnegative:
        negative = any_of(recorded(np.less, node, 0))
        trace.checks.append(Check([negative], lambda there: not there, lambda _: "np.bincount counts no negative numbers"))
    most = largest(node, initial=-1)
    length = trace.dim(minlength)
    if length.is_number(0):
        length = trace.counted(recorded(np.add, most, 1)).shape[0]
    else:
        trace.checks.append(Check([most, trace.of_size(length)], lambda most, length: most < length, lambda most, length: (
            f"np.bincount gives {int(most) + 1} bins here, and what is recorded has `minlength`, {int(length)}: give one above "
            "every number")))
    if weights is None or not trace.facts.at_least(trace.shape_of(node)[0], Dim.of(1)):  # NumPy weighs nothing in integers
        return trace.node([length], I64, (node,), lambda line: (
            f"histogram {line.size(line.shape()[0], ATOM)} {line.argument(0, ATOM)}", APPLY))
    weights = cast(node_of(weights), F64)
    if weights.rank != 1 or not trace.facts.equal(trace.shape_of(weights)[0], trace.shape_of(node)[0]):
        complain(f"np.bincount has weights of {trace.shown(weights.shape)} for numbers of {trace.shown(node.shape)}")
    return trace.node([length], F64, (node, weights), lambda line: (
        f"weights_by_number {line.size(line.shape()[0], ATOM)} {line.argument(0, ATOM)} {line.argument(1, ATOM)}", APPLY))


@says(np.digitize)
def digitize(x, bins, right=False):
    """Bins may also descend, which the data says."""
    bins = array_of(bins)
    if bins.ndim != 1:
        complain(f"np.digitize has bins of one axis, not of {bins.ndim}")
    if bins.shape[0] < 1:
        return np.zeros(np.shape(x), int)
    steps = np.diff(bins)
    neither = ((steps < 0).any() & (steps > 0).any()).node
    neither.trace.checks.append(Check([neither], lambda there: not there, lambda _: "the bins of np.digitize go up and down"))
    before = array_of(searchsorted(bins, x, "left" if right else "right"))
    return np.where(bins[0] > bins[-1], bins.shape[0] - before, before)


def _edges(a, bins, range):
    """The edges of bins: given, or so many from the least to the largest."""
    if isinstance(bins, str):
        unrecorded(f"np.histogram with {bins!r} bins is not recorded: give their number, or their edges")
    bins = bins if isinstance(bins, (int, np.integer)) or hasattr(bins, "dim") else array_of(bins)
    if hasattr(bins, "node") and bins.ndim:
        return bins
    if not hasattr(bins, "node") and bins < 1:
        complain("np.histogram has at least one bin")
    low, high, dtype = _bounds(a, range)
    dtype = dtype if dtype.kind == "f" else np.dtype(np.result_type(dtype, float))
    return np.linspace(array_of(low), array_of(high), bins + 1).astype(dtype)


def _bounds(a, range):
    """The first and the last edge, a half on both sides of what is one number, and the type that NumPy takes."""
    if range is None and a.size == 0:
        range = 0, 1
    if range is None:
        low, high = a.min(), a.max()
        low, high = (it.astype(np.float64) if a.dtype == BOOL else it for it in (low, high))
        finite = (np.isfinite(low) & np.isfinite(high)).node
        if a.dtype.kind == "f":
            finite.trace.checks.append(Check([finite], bool, lambda _: "np.histogram of numbers that are not all finite"))
        dtype = np.result_type(a.dtype)
    else:
        low, high = range
        dtype = answer(np.result_type, [node_of(low), node_of(high), a.node])
        if not any(hasattr(it, "node") for it in (low, high)) and not low <= high:
            complain(f"the range of np.histogram is from {low} to {high}")
    same = np.equal(array_of(low), array_of(high))
    return np.where(same, low - 0.5, low), np.where(same, high + 0.5, high), dtype


@says(np.histogram_bin_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    return _edges(array_of(a).ravel(), bins, range)


@says(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None, normed=None):
    """Each bin compares its edges with every element."""
    a = array_of(a).ravel()
    edges = _edges(a, bins, range)
    if edges.shape[0] < 2:
        counts = np.zeros(max(edges.shape[0] - 1, 0), int)
        return counts, edges
    a = a.astype(np.uint8) if a.dtype == BOOL else a
    dtype = np.result_type(a.dtype, edges.dtype)
    value, edge = cast(a.node, dtype), cast(edges.node, dtype)
    nodes = [edge, value]
    if weights is None:
        weight = Trace.current().constant(1, I64)
    else:
        weight = array_of(weights)
        if weight.shape != np.shape(a) and weight.ravel().shape != a.shape:
            complain("np.histogram has a weight for each element")
        weight = weight.ravel().node
        if weight.dtype == BOOL:
            unrecorded("np.histogram with truth values as weights is not recorded")
        nodes.append(weight)
    function = "weights_in_bins" if len(nodes) == 3 else "counts_in_bins"
    counts = array_of(value.trace.node([edge.shape[0] - 1], weight.dtype, nodes, lambda line: (
        " ".join([function, *(line.name(at) for at, _ in enumerate(nodes))]), APPLY)))
    if density:
        return counts / np.diff(edges).astype(float) / counts.sum(), edges
    return counts, edges
