"""Reductions, along any axes, and cumulative functions.

A reduction of the last axis is written `sum x`, of all `sum i j => x[i, j]`, of others `for i => sum j => x[j, i]`.
NumPy's types are kept: integers are summed in 64 bits, means of integers are float64, and what has no value for nothing
(`max`, `argmax`) is refused for an axis of 0, which is a fact of the recording.
"""
import numpy as np

from . import views
from .graph import APPLY, ATOM, OPEN, cast, prefix
from .indexing import select
from .place import complain, unrecorded
from .pointwise import recorded
from .sizes import Dim
from .values import BOOL, Check, F32, F64, I64, I8, answer, literal
from .vocabulary import UFUNCS, array_of, node_of, says


def axes_of(node, axis, what="axis"):
    """The axes from the front, in order."""
    axes = range(node.rank) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    return sorted(front(node.rank, one, what) for one in axes) if len(set(axes)) == len(axes) else \
        complain(f"{what} {axis} names one twice")


def front(rank, axis, what="axis"):
    axis = int(axis)
    if not -rank <= axis < rank:
        complain(f"{what} {axis} is out of an array of {rank} axes")
    return axis % rank


def reduced(function, node, axes, dtype=None, keepdims=False):
    """The node of a function of the library over some axes, which go or, to be kept, are 1 then."""
    result = _reduced(function, node, axes, dtype)
    if not keepdims or not axes:
        return result
    if axes != [node.rank - 1]:
        return views.expanded(result, axes)
    folding, known = f"({function})" if " " in function else function, node.trace.known
    key = "keep", function, node
    if key not in known:
        known[key] = node.trace.node([*result.shape, 1], result.dtype, (node,),
                                     lambda line: (f"keep {folding} {line.argument(0, ATOM)}", APPLY))
    return known[key]


def _reduced(function, node, axes, dtype):
    trace, shape = node.trace, node.trace.shape_of(node)
    dtype = dtype or node.dtype
    if not axes:
        return cast(node, dtype)
    key = function, node, *axes
    if key in trace.known:
        return trace.known[key]
    kept = [axis for axis in range(node.rank) if axis not in axes]

    def write(line):
        if axes == [node.rank - 1]:
            return f"{function} {line.argument(0, ATOM)}", APPLY
        names = line.binders(node.rank)
        outer = f"for {' '.join(names[axis] for axis in kept)} => " if kept else ""
        return f"{outer}{function} {' '.join(names[axis] for axis in axes)} => {line.name(0)}[{', '.join(names)}]", OPEN
    named = () if axes == [node.rank - 1] else (0,)
    trace.known[key] = trace.node([shape[axis] for axis in kept], dtype, (node,), write, named)
    return trace.known[key]


def _count(node, axes):
    """How many elements are reduced to one."""
    total = Dim.of(1)
    for axis in axes:
        total = total * node.trace.shape_of(node)[axis]
    return total


def some_of(node, axes, what, for_all=False):
    """It is a fact that there is something to reduce; where the data decides it, each run checks it, unless the library's
    function has to know it for all."""
    trace = node.trace
    for axis in axes:
        size = trace.shape_of(node)[axis]
        if trace.facts.is_open(size) and for_all:
            unrecorded(f"{what} of what a mask chooses is not recorded, as there may be nothing: give all elements, with "
                       "np.where(mask, x, v)")
        elif trace.facts.is_open(size):
            trace.checks.append(Check([trace.of_size(size)], lambda count: count > 0, lambda _: f"{what} of nothing"))
        elif not trace.facts.at_least(size, Dim.of(1)):
            complain(f"{what} of nothing: axis {axis} has no element")


def plain(out, what):
    """`out` by name is stored into by whoever calls; what stands there by its place is refused."""
    if out is not None:
        unrecorded(f"{what} with `out` by its place is not recorded: name it, `out=`, or assign the result")


def where_chosen(node, where, unit):
    """A number that changes nothing in the place of the elements that do not count."""
    if where is True:
        return node
    mask = cast(node_of(where), BOOL)
    if node.trace.broadcast([node.shape, mask.shape]) != node.trace.shape_of(node):
        complain(f"`where` of {node.trace.shown(mask.shape)} does not fit {node.trace.shown(node.shape)}")
    return node.trace.node(node.shape, node.dtype, (mask, node, node.trace.constant(unit, node.dtype)), select)


def _total(function, numpy_function):
    unit = 0 if function == "sum" else 1

    def row(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
        plain(out, f"np.{function}")
        node = node_of(a)
        axes = axes_of(node, axis)
        dtype = np.dtype(dtype or numpy_function(np.ones(1, node.dtype)).dtype)
        node = where_chosen(cast(node, dtype), where, unit)
        if dtype == BOOL:
            return reduced("any" if function == "sum" else "all", node, axes, keepdims=keepdims)
        result = reduced(function, node, axes, keepdims=keepdims)
        if initial is None:
            return result
        return recorded(np.add if function == "sum" else np.multiply, result, cast(node_of(initial), dtype))
    return row


sum_of = says(np.sum, method="sum")(_total("sum", np.sum))
product_of = says(np.prod, np.product, method="prod")(_total("prod", np.prod))


def bound_of(dtype, largest):
    """The largest or the least number of a type, which changes no minimum or maximum, as text."""
    if dtype.kind == "f":
        return "inf" if largest else "(-inf)"
    return str(np.iinfo(dtype).max) if largest else f"({np.iinfo(dtype).min})"


def _unit(dtype, ufunc):
    """The number that changes no maximum, or no minimum."""
    if dtype.kind == "f":
        return -np.inf if ufunc is np.maximum else np.inf
    if dtype == BOOL:
        return ufunc is np.minimum
    return np.iinfo(dtype).min if ufunc is np.maximum else np.iinfo(dtype).max


def _extreme(of_floats, of_integers, of_truth, ufunc):
    def row(a, axis=None, out=None, keepdims=False, initial=None, where=True):
        what = f"np.{ufunc.__name__[:3]}"
        plain(out, what)
        node = node_of(a)
        axes = axes_of(node, axis)
        if initial is None and where is not True:
            complain(f"{what} with `where` needs `initial`, the result of nothing")
        if initial is None:
            some_of(node, axes, what)
        node = where_chosen(node, where, _unit(node.dtype, ufunc))
        function = {"f": of_floats, "b": of_truth}.get(node.dtype.kind, of_integers)
        open_axes = any(node.trace.facts.is_open(node.trace.shape_of(node)[axis]) for axis in axes)
        if function == of_integers and initial is not None and not hasattr(initial, "node"):
            least = node.trace.constant(initial, np.asarray(initial).dtype)
            unit = literal(cast(least, node.dtype).value, node.dtype)
            return reduced(f"reduce {'max' if ufunc is np.maximum else 'min'} {unit}", node, axes, keepdims=keepdims)
        if function == of_integers and (open_axes or initial is not None):
            function = f"reduce {'max' if ufunc is np.maximum else 'min'} {bound_of(node.dtype, ufunc is np.minimum)}"
        result = reduced(function, node, axes, keepdims=keepdims)
        return result if initial is None else recorded(ufunc, result, cast(node_of(initial), node.dtype))
    return row


largest = says(np.max, np.amax, method="max")(_extreme("maximum", "largest", "any", np.maximum))
smallest = says(np.min, np.amin, method="min")(_extreme("minimum", "smallest", "all", np.minimum))


def _truth(function):
    def row(a, axis=None, out=None, keepdims=False, where=True):
        plain(out, f"np.{function}")
        node = where_chosen(cast(node_of(a), BOOL), where, function == "all")
        axes = axes_of(node, axis)
        return reduced(function, node, axes, keepdims=keepdims)
    return row


any_of = says(np.any, np.sometrue, method="any")(_truth("any"))
all_of = says(np.all, np.alltrue, method="all")(_truth("all"))


@says(np.count_nonzero)
def count_nonzero(a, axis=None, keepdims=False):
    return sum_of(cast(cast(node_of(a), BOOL), I64), axis, keepdims=keepdims)


@says(np.mean, method="mean")
def mean(a, axis=None, dtype=None, out=None, keepdims=False, where=True):
    plain(out, "np.mean")
    node = node_of(a)
    axes = axes_of(node, axis)
    result = np.dtype(dtype or (node.dtype if node.dtype.kind == "f" else F64))
    within = F32 if result == np.float16 else result
    if where is not True:
        total = reduced("sum", where_chosen(cast(node, within), where, 0), axes, keepdims=keepdims)
        return cast(recorded(np.true_divide, total, cast(_count_chosen(node, where, axes, keepdims), within)), result)
    return cast(reduced("mean", cast(node, within), axes, keepdims=keepdims), result)


def _count_chosen(node, where, axes, keepdims):
    """How many elements a mask chooses."""
    there = views.broadcast_to(cast(node_of(where), BOOL), node.shape)
    return reduced("sum", cast(there, I64), axes, keepdims=keepdims)


def _variance(a, axis, dtype, ddof, keepdims, where=True):
    node = node_of(a)
    axes = axes_of(node, axis)
    result = np.dtype(dtype or (node.dtype if node.dtype.kind == "f" else F64))
    node = cast(node, F32 if result == np.float16 else result)
    if where is not True:
        distance = recorded(np.subtract, node, mean(node, tuple(axes), keepdims=True, where=where))
        total = reduced("sum", where_chosen(recorded(np.multiply, distance, distance), where, 0), axes, keepdims=keepdims)
        less = recorded(np.maximum, recorded(np.subtract, _count_chosen(node, where, axes, keepdims), int(ddof)), 0)
        return recorded(np.true_divide, total, cast(less, total.dtype)), result
    distance = recorded(np.subtract, node, reduced("mean", node, axes, keepdims=True))
    squares = recorded(np.multiply, distance, distance)
    if ddof == 0:
        return reduced("mean", squares, axes, keepdims=keepdims), result
    total = reduced("sum", squares, axes, keepdims=keepdims)
    less = node.trace.facts.normal(_count(node, axes) - int(ddof))
    if not node.trace.facts.at_least(less, Dim.of(0)):
        less = Dim.of(0)
    return recorded(np.true_divide, total, cast(node.trace.of_size(less), node.dtype)), result


@says(np.var, method="var")
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True):
    plain(out, "np.var")
    return cast(*_variance(a, axis, dtype, ddof, keepdims, where))


@says(np.std, method="std")
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True):
    plain(out, "np.std")
    result, dtype = _variance(a, axis, dtype, ddof, keepdims, where)
    return cast(recorded(np.sqrt, result), dtype)


def _open_position(array, best):
    """Of as many elements as only the data decides: where the first of the best is, or the first NaN."""
    found = array == best(array)
    return np.flatnonzero(found | np.isnan(array) if array.dtype.kind == "f" else found)[0]


def _position(function):
    def row(a, axis=None, out=None, keepdims=False):
        plain(out, f"np.{function}")
        node = node_of(a)
        axes = axes_of(node, axis)
        if node.rank == 1 and node.trace.facts.is_open(node.trace.shape_of(node)[0]) and not keepdims:
            return _open_position(array_of(node), np.max if function == "argmax" else np.min)
        some_of(node, axes, f"np.{function}", for_all=True)
        if not axes:
            return node.trace.constant(0, I64)
        node = cast(node, I8) if node.dtype == BOOL else node
        result = reduced(function, node, axes, I64, keepdims)
        result.nonnegative = True
        return result
    return row


argmax = says(np.argmax, method="argmax")(_position("argmax"))
argmin = says(np.argmin, method="argmin")(_position("argmin"))


@says(np.ptp, method="ptp")
def ptp(a, axis=None, out=None, keepdims=False):
    return recorded(np.subtract, largest(a, axis, out, keepdims), smallest(a, axis, out, keepdims))


@says(np.average)
def average(a, axis=None, weights=None, returned=False, keepdims=False):
    if weights is None:
        found = mean(a, axis, keepdims=keepdims)
        sizes = found.trace.shape_of(found) if returned else ()
        if not all(found.trace.facts.at_least(size, Dim.of(1)) for size in sizes):
            complain("np.average with `returned` has no result to divide by")
        count = cast(node_of(a).trace.of_size(_count(node_of(a), axes_of(node_of(a), axis))), found.dtype)
        return (found, views.broadcast_to(count, found.shape)) if returned else found
    node, weights = node_of(a), node_of(weights)
    if weights.rank == 1 and node.rank > 1 and isinstance(axis, int):
        places = [at for at in range(node.rank) if at != front(node.rank, axis)]
        weights = views.expanded(weights, places)
    dtype = answer(lambda x, w: np.result_type(x, w, *([] if np.asarray(x).dtype.kind == "f" else ["f8"])),
                   [node, weights])
    node, weights = cast(node, dtype), cast(weights, dtype)
    weights = views.broadcast_to(weights, node.shape)
    products = recorded(np.multiply, node, weights)
    total = sum_of(weights, axis, keepdims=keepdims)
    nothing = any_of(recorded(np.equal, total, 0))
    nothing.trace.checks.append(Check([nothing], lambda there: not there, lambda _: "the weights of np.average sum to 0"))
    found = recorded(np.true_divide, sum_of(products, axis, keepdims=keepdims), total)
    return (found, total) if returned else found


# ---- Without NaNs ----

def _without_nan(function, value):
    def row(a, axis=None, out=None, keepdims=False, **options):
        node = node_of(a)
        if node.dtype.kind == "f":
            number = node.trace.constant(value, node.dtype)
            node = node.trace.node(node.shape, node.dtype, (recorded(np.isnan, node), number, node), select)
        return function(node, axis, out=out, keepdims=keepdims, **options)
    return row


says(np.nansum)(_without_nan(sum_of, 0))
says(np.nanprod)(_without_nan(product_of, 1))


def _extreme_number(of_all, ufunc):
    """The largest or smallest that is a number, NaN where none is."""
    infinite = -np.inf if ufunc is np.maximum else np.inf

    def row(a, axis=None, out=None, keepdims=False):
        node = node_of(a)
        found = _without_nan(of_all, infinite)(node, axis, out=out, keepdims=keepdims)
        if node.dtype.kind != "f":
            return found
        some = any_of(recorded(np.logical_not, recorded(np.isnan, node)), axis, keepdims=keepdims)
        nan = node.trace.constant(np.nan, node.dtype)
        return node.trace.node(found.shape, node.dtype, (some, found, nan), select)
    return row


says(np.nanmax)(_extreme_number(largest, np.maximum))
says(np.nanmin)(_extreme_number(smallest, np.minimum))


@says(np.nanvar)
def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    node = node_of(a)
    if node.dtype.kind != "f":
        return var(a, axis, dtype, out, ddof, keepdims)
    distance = recorded(np.subtract, node, nanmean(node, axis, dtype, out, keepdims=True))
    total = _without_nan(sum_of, 0)(recorded(np.multiply, distance, distance), axis, keepdims=keepdims)
    there = cast(recorded(np.logical_not, recorded(np.isnan, node)), I64)
    count = recorded(np.subtract, sum_of(there, axis, keepdims=keepdims), ddof)
    mean_square, nan = recorded(np.true_divide, total, cast(count, total.dtype)), node.trace.constant(np.nan, total.dtype)
    return node.trace.node(total.shape, total.dtype, (recorded(np.greater, count, 0), mean_square, nan), select)


@says(np.nanstd)
def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    return recorded(np.sqrt, nanvar(a, axis, dtype, out, ddof, keepdims))


@says(np.nanmean)
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False):
    node = node_of(a)
    if node.dtype.kind != "f" or node.dtype == np.float16:
        return mean(a, axis, dtype, out, keepdims) if node.dtype.kind != "f" else \
            unrecorded("np.nanmean of float16 is not recorded")
    there = recorded(np.logical_not, recorded(np.isnan, node))
    count = cast(sum_of(cast(there, I64), axis, keepdims=keepdims), node.dtype)
    return recorded(np.true_divide, _without_nan(sum_of, 0)(node, axis, out, keepdims), count)


# ---- Cumulative ----

def cumulative(function, node, axis, dtype):
    """Of the first 1, 2, ... elements of an axis."""
    trace, last = node.trace, node.rank - 1
    order = [at for at in range(node.rank) if at != axis] + [axis]
    turned = views.permuted(cast(node, dtype), order)
    made = trace.node(turned.shape, dtype, (turned,), prefix(function))
    return views.permuted(made, [order.index(at) for at in range(last + 1)])


def _cumulative(function, numpy_function):
    def row(a, axis=None, dtype=None, out=None):
        plain(out, f"np.{numpy_function.__name__}")
        from .shapes import ravel
        node = node_of(a)
        node, axis = (ravel(node), 0) if axis is None else (node, front(node.rank, axis))
        dtype = np.dtype(dtype or numpy_function(np.ones(1, node.dtype)).dtype)
        truth = "cumulative or false" if function == "cumulative_sum" else "cumulative and true"
        return cumulative(truth if dtype == BOOL else function, node, axis, dtype)
    return row


cumsum = says(np.cumsum, method="cumsum")(_cumulative("cumulative_sum", np.cumsum))
cumprod = says(np.cumprod, np.cumproduct, method="cumprod")(_cumulative("cumulative_prod", np.cumprod))


def _with_ends(node, before, after, axis):
    """Joined with what stands before and behind along an axis; a number stands there once."""
    from .shapes import concatenate  # which is made of reductions
    shape = [Dim.of(1) if at == axis else size for at, size in enumerate(node.trace.shape_of(node))]
    ends = [None if it is None else node_of(it) for it in (before, after)]
    ends = [it if it is None or it.rank else views.broadcast_to(it, shape) for it in ends]
    return concatenate([it for it in (ends[0], node, ends[1]) if it is not None], axis)


@says(np.diff)
def diff(a, n=1, axis=-1, prepend=None, append=None):
    node = node_of(a)
    axis = front(node.rank, axis)
    if prepend is not None or append is not None:
        node = _with_ends(node, prepend, append, axis)
    for _ in range(int(n)):
        size = node.trace.shape_of(node)[axis]
        some = node.trace.facts.at_least(size, Dim.of(1))
        shorter = size - 1 if some else Dim.of(0)
        later, earlier = (views.sliced(node, axis, Dim.of(start), 1, shorter) for start in (int(some), 0))
        node = recorded(np.not_equal if node.dtype == BOOL else np.subtract, later, earlier)
    return node


# ---- Methods of functions of elements ----

_OF_UFUNC = {np.add: sum_of, np.multiply: product_of, np.maximum: largest, np.minimum: smallest,
             np.logical_and: all_of, np.logical_or: any_of}
UFUNCS |= {(ufunc, "reduce"): (lambda row: lambda a, axis=0, **options: row(a, axis, **options))(row)
           for ufunc, row in _OF_UFUNC.items()}
UFUNCS |= {(np.add, "accumulate"): lambda a, axis=0, **options: cumsum(a, axis, **options),
           (np.multiply, "accumulate"): lambda a, axis=0, **options: cumprod(a, axis, **options),
           (np.maximum, "accumulate"): lambda a, axis=0: _running("cumulative_max", a, axis),
           (np.minimum, "accumulate"): lambda a, axis=0: _running("cumulative_min", a, axis),
           (np.logical_and, "accumulate"): lambda a, axis=0: _running("cumulative and true", cast(node_of(a), BOOL), axis),
           (np.logical_or, "accumulate"): lambda a, axis=0: _running("cumulative or false", cast(node_of(a), BOOL), axis)}


def _running(function, a, axis):
    node = node_of(a)
    if node.dtype == BOOL:
        function = {"cumulative_max": "cumulative or false", "cumulative_min": "cumulative and true"}.get(function, function)
    return cumulative(function, node, front(node.rank, axis), node.dtype)


def _odd(a, axis=0, keepdims=False):
    """Whether it is true of an odd number of them."""
    return cast(recorded(np.remainder, count_nonzero(a, axis, keepdims), 2), BOOL)


def _logaddexp(a, axis=0, keepdims=False):
    """Relative to the largest, where that is a number."""
    array = array_of(a)
    dtype = np.logaddexp.reduce(np.ones(2, array.dtype)).dtype
    array = array.astype(np.float32 if dtype == np.float16 else dtype)
    most = array.max(axis=axis, keepdims=True)
    most = np.where(np.isfinite(most), most, 0)
    total = np.log(np.exp(array - most).sum(axis=axis, keepdims=keepdims))
    return cast((total + (most if keepdims else most.reshape(total.shape))).node, dtype)


UFUNCS |= {(np.logical_xor, "reduce"): _odd, (np.logaddexp, "reduce"): _logaddexp,
           (np.fmax, "reduce"): lambda a, axis=0, keepdims=False: _extreme_number(largest, np.maximum)(a, axis, None, keepdims),
           (np.fmin, "reduce"): lambda a, axis=0, keepdims=False: _extreme_number(smallest, np.minimum)(a, axis, None, keepdims)}
