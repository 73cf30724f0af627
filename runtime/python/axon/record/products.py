"""Products of matrices and other contractions: all are sums over named axes."""
import numpy as np

from . import views
from .graph import OPEN, PRODUCT, cast, infix
from .place import complain, unrecorded
from .reductions import axes_of, diff, front, largest, plain, smallest, sum_of
from .pointwise import recorded
from .shapes import ravel, reshape_to
from .sizes import Dim
from .values import BOOL, I64
from .vocabulary import UFUNCS, node_of, says

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def contracted(nodes, axes, result, dtype):
    """The sum of products: `axes` has the letters of the axes of each node, `result` those that stay, in their order.
    Truth values are summed as `or`."""
    trace, sizes = nodes[0].trace, {}
    if dtype == BOOL:
        total = contracted([cast(node, I64) for node in nodes], axes, result, I64)
        return cast(total, BOOL)
    nodes = [cast(node, dtype) for node in nodes]
    for node, letters in zip(nodes, axes):
        for letter, size in zip(letters, trace.shape_of(node)):
            sizes[letter] = _same(trace, sizes.get(letter, Dim.of(1)), size)
    shape = [trace.facts.normal(sizes[letter]) for letter in result]
    summed = [letter for letter in sizes if letter not in result]

    def write(line):
        names = dict(zip(sizes, line.binders(len(sizes), [letter.lower() for letter in sizes])))
        factors = []
        for at, letters in enumerate(axes):
            index = ["0" if size.is_number(1) and not line.program.trace.facts.normal(sizes[letter]).is_number(1)
                     else names[letter] for letter, size in zip(letters, line.shape(at))]
            factors.append(f"{line.name(at)}[{', '.join(index)}]" if index else line.name(at))
        outer = f"for {' '.join(names[letter] for letter in result)} => " if result else ""
        inner = f"sum {' '.join(names[letter] for letter in summed)} => " if summed else ""
        return f"{outer}{inner}{' * '.join(factors)}", OPEN if outer or inner else PRODUCT
    return trace.node(shape, dtype, nodes, write, named=range(len(nodes)))


def _same(trace, a, b):
    """The size of an axis that two arrays share; one of 1 is repeated."""
    return trace.broadcast([(a,), (b,)])[0]


def _matmul(a, b, dtype=None, **options):
    if any(value is not None for value in options.values()):
        unrecorded("np.matmul with options is not recorded")
    a, b = node_of(a), node_of(b)
    if not a.rank or not b.rank:
        complain("`@` needs axes: `*` multiplies by a number")
    trace = a.trace
    dtype = np.dtype(dtype or np.result_type(a.dtype, b.dtype))
    inner = trace.shape_of(a)[-1], trace.shape_of(b)[0 if b.rank == 1 else -2]
    if not trace.facts.equal(*inner):
        complain(f"inner sizes of `@` differ: {trace.shown(a.shape)} and {trace.shown(b.shape)}")
    rank = max(a.rank, b.rank) - 2
    if a.rank > 1 and b.rank > 1 and dtype != BOOL:
        front_axes = trace.broadcast([a.shape[:-2], b.shape[:-2]]) if rank else ()
        shape = [*front_axes, trace.shape_of(a)[-2], trace.shape_of(b)[-1]]
        return trace.node(shape, dtype, (cast(a, dtype), cast(b, dtype)), infix("@", PRODUCT))
    batch = _LETTERS[20:20 + max(rank, 0)]
    left = "k" if a.rank == 1 else batch[len(batch) - (a.rank - 2):] + "ik"
    right = "k" if b.rank == 1 else batch[len(batch) - (b.rank - 2):] + "kj"
    return contracted([a, b], [left, right], batch + "i" * (a.rank > 1) + "j" * (b.rank > 1), dtype)


UFUNCS[np.matmul] = _matmul


@says(np.dot, method="dot")
def dot(a, b, out=None):
    plain(out, "np.dot")
    a, b = node_of(a), node_of(b)
    if not a.rank or not b.rank:
        return recorded(np.multiply, a, b)
    left = _LETTERS[:a.rank - 1] + "z"
    others = _LETTERS[a.rank - 1:a.rank + b.rank - 2]
    right = others + "z" if b.rank == 1 else others[:-1] + "z" + others[-1:]
    if a.rank == b.rank == 2:
        return _matmul(a, b)
    _equal_axes(a, a.rank - 1, b, max(b.rank - 2, 0))
    return contracted([a, b], [left, right], left[:-1] + others, np.result_type(a.dtype, b.dtype))


def _equal_axes(a, axis, b, other):
    trace = a.trace
    if not trace.facts.equal(trace.shape_of(a)[axis], trace.shape_of(b)[other]):
        complain(f"axis {axis} of {trace.shown(a.shape)} and axis {other} of {trace.shown(b.shape)} differ")


@says(np.vdot)
def vdot(a, b):
    return dot(ravel(node_of(a)), ravel(node_of(b)))


@says(np.inner)
def inner(a, b):
    a, b = node_of(a), node_of(b)
    if not a.rank or not b.rank:
        return recorded(np.multiply, a, b)
    return tensordot(a, b, ([a.rank - 1], [b.rank - 1]))


@says(np.outer)
def outer(a, b, out=None):
    plain(out, "np.outer")
    a, b = ravel(node_of(a)), ravel(node_of(b))
    return recorded(np.multiply, views.expanded(a, [1]), views.expanded(b, [0]))


UFUNCS |= {(ufunc, "outer"): (lambda ufunc: lambda a, b: _outer(ufunc, a, b))(ufunc)
           for ufunc in list(UFUNCS) if isinstance(ufunc, np.ufunc) and ufunc.nin == 2 and ufunc.nout == 1}


def _outer(ufunc, a, b):
    a, b = node_of(a), node_of(b)
    return UFUNCS[ufunc](views.expanded(a, list(range(a.rank, a.rank + b.rank))), b)


@says(np.tensordot)
def tensordot(a, b, axes=2):
    a, b = node_of(a), node_of(b)
    if isinstance(axes, (int, np.integer)):
        axes = list(range(a.rank - int(axes), a.rank)), list(range(int(axes)))
    left, right = ([front(node.rank, it) for it in (one if isinstance(one, (tuple, list)) else [one])]
                   for node, one in zip((a, b), axes))
    if len(left) != len(right):
        complain(f"{len(left)} and {len(right)} axes are not summed together")
    letters = list(_LETTERS[:a.rank]), list(_LETTERS[a.rank:a.rank + b.rank])
    for one, other in zip(left, right):
        _equal_axes(a, one, b, other)
        letters[1][other] = letters[0][one]
    kept = [it for at, it in enumerate(letters[0]) if at not in left] + \
        [it for at, it in enumerate(letters[1]) if at not in right]
    return contracted([a, b], letters, kept, np.result_type(a.dtype, b.dtype))


@says(np.einsum)
def einsum(*operands, optimize=False, dtype=None, out=None, **options):
    if options or out is not None:
        unrecorded("np.einsum is recorded with subscripts and arrays alone")
    if not isinstance(operands[0], str):
        operands = _with_letters(operands)
    nodes = [node_of(it) for it in operands[1:]]
    inputs, result = _subscripts(operands[0].replace(" ", ""), nodes)
    dtype = np.dtype(dtype or np.result_type(*(node.dtype for node in nodes)))
    made = []
    for node, letters in zip(nodes, inputs):
        node, letters = _diagonals(node, letters)
        made.append((node, letters))
    return contracted([node for node, _ in made], [letters for _, letters in made], result, dtype)


def _with_letters(operands):
    """`x, [0, 1], y, [1], [0]` as `"ab,b->a", x, y`."""
    def letters(numbers):
        return "".join("..." if it is ... else _LETTERS[it] for it in numbers)
    pairs = list(zip(operands[::2], operands[1::2]))
    text = ",".join(letters(numbers) for _, numbers in pairs)
    return (text + ("->" + letters(operands[-1]) if len(operands) % 2 else ""), *(array for array, _ in pairs))


def _subscripts(text, nodes):
    """The letters of each operand and of the result; those of `...` are new ones."""
    left, arrow, result = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(nodes):
        complain(f"np.einsum {text!r} is of {len(inputs)} arrays, {len(nodes)} were given")
    used = set(text)
    spare = [letter for letter in _LETTERS[::-1] if letter not in used]
    longest, expanded = 0, []
    for part, node in zip(inputs, nodes):
        hidden = node.rank - len(part.replace("...", ""))
        if hidden < 0 or (hidden and "..." not in part):
            complain(f"np.einsum: {part!r} does not name the {node.rank} axes of its array")
        longest = max(longest, hidden)
        expanded.append(part.replace("...", "".join(spare[:hidden][::-1])))
    dots = "".join(spare[:longest][::-1])
    if not arrow:
        letters = "".join(inputs).replace("...", "")
        result = ("..." if dots else "") + "".join(sorted(it for it in set(letters) if letters.count(it) == 1))
    result = result.replace("...", dots)
    if len(set(result)) < len(result) or not set(result) <= set("".join(expanded)):
        complain(f"np.einsum {text!r} has a result of letters that are not once there, or not in the arrays")
    return expanded, result


def _diagonals(node, letters):
    """Axes of one letter are one: their diagonal."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            one, two = letters.index(letter), letters.rindex(letter)
            _equal_axes(node, one, node, two)
            node = views.diagonal(node, 0, one, two)
            letters = "".join(it for at, it in enumerate(letters) if at not in (one, two)) + letter
    return node, letters


@says(np.kron)
def kron(a, b):
    a, b = node_of(a), node_of(b)
    rank = max(a.rank, b.rank)
    a, b = (views.expanded(it, list(range(rank - it.rank))) for it in (a, b))
    shape = [x * y for x, y in zip(a.trace.shape_of(a), a.trace.shape_of(b))]
    return reshape_to(recorded(np.multiply, views.expanded(a, list(range(1, 2 * rank, 2))),
                               views.expanded(b, list(range(0, 2 * rank, 2)))), shape)


@says(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False):
    node = node_of(x)
    node = cast(node, np.float64) if node.dtype.kind != "f" else node
    axes = axes_of(node, axis)
    if isinstance(ord, (int, float)) and ord != 2 and len(axes) == 1:
        return _norm_of_order(ord, node, axis, keepdims)
    if len(axes) == 2 and isinstance(ord, (int, float)) and abs(ord) in (1, np.inf):
        return _norm_of_matrix(ord, node, axes if axis is None else [front(node.rank, it) for it in axis], keepdims)
    if not (ord is None or (ord == 2 and len(axes) == 1) or (ord == "fro" and len(axes) == 2)):
        unrecorded(f"np.linalg.norm of order {ord} over {len(axes)} axes is not recorded")
    return recorded(np.sqrt, sum_of(recorded(np.multiply, node, node), axis, keepdims=keepdims))


def _norm_of_order(ord, node, axis, keepdims):
    """Of vectors, for an order that is a number."""
    size = recorded(np.absolute, node)
    if abs(ord) == np.inf:
        return (largest if ord > 0 else smallest)(size, axis, keepdims=keepdims)
    if ord == 0:
        return sum_of(cast(recorded(np.not_equal, node, 0), node.dtype), axis, keepdims=keepdims)
    if ord == 1:
        return sum_of(size, axis, keepdims=keepdims)
    return recorded(np.power, sum_of(recorded(np.power, size, ord), axis, keepdims=keepdims),
                    node.dtype.type(1.0 / ord))


def _norm_of_matrix(ord, node, axes, keepdims):
    """The largest or the least sum along columns or rows."""
    summed, best = (axes if abs(ord) == 1 else axes[::-1])
    sums = sum_of(recorded(np.absolute, node), summed, keepdims=True)
    found = (largest if ord > 0 else smallest)(sums, best, keepdims=True)
    return found if keepdims else views.dropped(found, sorted(axes))


@says(np.linalg.multi_dot)
def multi_dot(arrays, *, out=None):
    """From the left."""
    made = node_of(arrays[0])
    for one in arrays[1:]:
        made = dot(made, one)
    return made


@says(np.linalg.matrix_power)
def matrix_power(a, n):
    """By squares; a power is Python's integer."""
    node, n = node_of(a), int(n)
    if node.rank < 2 or not node.trace.facts.equal(*node.trace.shape_of(node)[-2:]):
        complain(f"np.linalg.matrix_power of {node.trace.shown(node.shape)}, which is no square matrix")
    if n < 0:
        unrecorded("np.linalg.matrix_power with a negative power is not recorded")
    if n == 0:
        from .making import eye
        return views.broadcast_to(eye(node.shape[-1], dtype=node.dtype), node.shape)
    result = None
    while True:
        result = (node if result is None else _matmul(result, node)) if n % 2 else result
        n //= 2
        if not n:
            return result
        node = _matmul(node, node)


@says(np.trapz)
def trapz(y, x=None, dx=1.0, axis=-1):
    node = node_of(y)
    axis = front(node.rank, axis)
    if x is None:
        width = dx
    else:
        width = diff(x, axis=-1 if node_of(x).rank == 1 else axis)
        width = views.expanded(width, list(range(1, node.rank - axis))) if width.rank == 1 else width
    size = node.trace.shape_of(node)[axis]
    some = node.trace.facts.at_least(size, Dim.of(1))
    later, earlier = (views.sliced(node, axis, Dim.of(start), 1, size - 1 if some else Dim.of(0))
                      for start in (int(some), 0))
    middle = recorded(np.true_divide, recorded(np.multiply, width, recorded(np.add, later, earlier)), 2.0)
    return sum_of(middle, axis)


@says(np.cross)
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    from .shapes import moveaxis, stack
    a, b = (moveaxis(it, at if axis is None else axis, -1) for it, at in ((node_of(a), axisa), (node_of(b), axisb)))
    sizes = [3 if node.trace.facts.equal(node.trace.shape_of(node)[-1], Dim.of(3)) else 2 for node in (a, b)]
    for node, size in zip((a, b), sizes):
        if not node.trace.facts.equal(node.trace.shape_of(node)[-1], Dim.of(size)):
            complain(f"np.cross of vectors of {node.trace.shown(node.shape[-1:])}, not of 2 or 3")
    x, y = ([views.picked(node, node.rank - 1, Dim.of(at)) if at < size else None for at in range(3)]
            for node, size in zip((a, b), sizes))

    def part(i, j):
        """Of vectors in the plane the third part is 0."""
        products = [recorded(np.multiply, one, other) for one, other in ((x[i], y[j]), (x[j], y[i])) if one and other]
        if len(products) == 2:
            return recorded(np.subtract, *products)
        return products[0] if x[i] and y[j] else recorded(np.negative, products[0])
    if sizes == [2, 2]:
        return part(0, 1)
    return stack([part(1, 2), part(2, 0), part(0, 1)], axisc if axis is None else axis)
