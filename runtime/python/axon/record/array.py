"""What a recorded function sees: arrays without elements, and sizes that are integers of the call.

An `Array` is a variable that holds a node: what changes an array in place gives it another node. A view remembers the
array that it was made of: NumPy's views share memory, these do not, so a view of an array that was changed since, and a
change of a view, are refused. Arguments are not changed either: the caller's array would be. What has no axes is a
number, which is never changed (`x += 1` makes another one), or an array, as NumPy's is of the same function.
"""
import math
import operator

import numpy as np

from . import indexing, storing
from .graph import Trace, cast, flat
from .place import complain, keeps_as_is, needs_values, outlives, unrecorded
from .sizes import Dim
from .vocabulary import FUNCTIONS, HINTS, METHODS, UFUNCS


def wrapped(result, is_number=True):
    """Nodes, also in tuples and lists, as arrays."""
    if isinstance(result, (tuple, list)):
        return type(result)(wrapped(it, is_number) for it in result)
    return Array(result, is_number=is_number) if hasattr(result, "write") else result


def integer(dim):
    """A polynomial as the function sees it: a number where it is one."""
    number = dim.constant()
    return Size(dim) if number is None else number


def _arithmetic(make, ufunc):
    """An operator of sizes, and the one with its sides exchanged. With floats they are floats."""
    def combined(a, b, other):
        left, right = Size.dim_of(a), Size.dim_of(b)
        if left is not None and right is not None:
            return integer(Trace.current().facts.normal(make(left, right)))
        return ufunc(a, b) if isinstance(other, (float, np.floating)) else NotImplemented
    return lambda self, other: combined(self, other, other), lambda self, other: combined(other, self, other)


def _bits(function, ufunc):
    """An operator of bits, and the one with its sides exchanged: sizes become numbers."""
    def combined(a, b, other):
        if isinstance(other, (int, Size)):
            return function(operator.index(a), operator.index(b))
        return ufunc(a, b) if isinstance(other, np.integer) else NotImplemented
    return lambda self, other: combined(self, other, other), lambda self, other: combined(other, self, other)


class Size:
    """An integer that a call decides: the size of an axis, or an argument. Arithmetic is symbolic. What it is compared
    with is answered for this call, and each call that uses the recording checks that the answer is the same there. To
    be used as a number, in `range` for example, it becomes the number of this call, which is checked as well."""

    __slots__ = ("dim",)
    __array_priority__ = 1000

    def __init__(self, dim):
        self.dim = dim

    @staticmethod
    def dim_of(value):
        if isinstance(value, Size):
            return Trace.current().dim(value)
        return Dim.of(int(value)) if isinstance(value, (int, np.integer)) else None

    __add__, __radd__ = _arithmetic(lambda a, b: a + b, np.add)
    __sub__, __rsub__ = _arithmetic(lambda a, b: a - b, np.subtract)
    __mul__, __rmul__ = _arithmetic(lambda a, b: a * b, np.multiply)
    __floordiv__, __rfloordiv__ = _arithmetic(lambda a, b: a.quotient(_divisor(b)), np.floor_divide)
    __mod__, __rmod__ = _arithmetic(lambda a, b: a.remainder(_divisor(b)), np.remainder)

    __and__, __rand__ = _bits(operator.and_, np.bitwise_and)
    __or__, __ror__ = _bits(operator.or_, np.bitwise_or)
    __xor__, __rxor__ = _bits(operator.xor, np.bitwise_xor)
    __lshift__, __rlshift__ = _bits(operator.lshift, np.left_shift)
    __rshift__, __rrshift__ = _bits(operator.rshift, np.right_shift)

    def __invert__(self):
        return -1 - self

    def __divmod__(self, other):
        return self // other, self % other

    def __truediv__(self, other):
        return np.true_divide(self, other)

    def __rtruediv__(self, other):
        return np.true_divide(other, self)

    def __pow__(self, other):
        if isinstance(other, int) and other >= 0:
            return math.prod([self] * other)
        return NotImplemented if isinstance(other, Array) else np.power(np.multiply(self, 1.0), other)  # as of Python's

    def __rpow__(self, other):
        return other ** operator.index(self)

    def __neg__(self):
        return integer(-Size.dim_of(self))

    def __pos__(self):
        return self

    def __abs__(self):
        return self if self >= 0 else -self

    def _question(self, other, ask):
        other = Size.dim_of(other)
        return NotImplemented if other is None else ask(Trace.current().facts, Size.dim_of(self), other)

    def __eq__(self, other):
        return self._question(other, lambda facts, a, b: facts.equal(a, b))

    def __ne__(self, other):
        return self._question(other, lambda facts, a, b: not facts.equal(a, b))

    def __lt__(self, other):
        return self._question(other, lambda facts, a, b: not facts.at_least(a, b))

    def __le__(self, other):
        return self._question(other, lambda facts, a, b: facts.at_least(b, a))

    def __gt__(self, other):
        return self._question(other, lambda facts, a, b: not facts.at_least(b, a))

    def __ge__(self, other):
        return self._question(other, lambda facts, a, b: facts.at_least(a, b))

    def __bool__(self):
        return self != 0

    def __index__(self):
        facts = Trace.current().facts
        number = facts.hint(Size.dim_of(self))
        facts.equal(Size.dim_of(self), Dim.of(number))
        return number

    __int__ = __index__

    def __float__(self):
        return float(operator.index(self))

    def __hash__(self):
        return hash(operator.index(self))

    def __repr__(self):
        return str(operator.index(self))

    def __array__(self, dtype=None):
        return np.asarray(operator.index(self), dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return call_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function, types, arguments, named):
        return call_function(function, arguments, named)


def _divisor(dim):
    if Trace.current().facts.equal(dim, Dim.of(0)):
        complain("a size is divided by 0")
    return dim


class Array(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of the function that is recorded: it has a shape and a type, and no values yet."""

    __array_priority__ = 2000
    __slots__ = ("_node", "_base", "_key", "_version", "_seen", "is_argument", "is_number")

    def __init__(self, node, base=None, key=None, is_argument=False, is_number=True):
        self._node, self._base, self._key, self._version, self.is_argument = node, base, key, 0, is_argument
        self._seen = base._version if base is not None else 0
        self.is_number = is_number and node.rank == 0

    @property
    def node(self):
        return self.node_at(None)

    def node_at(self, place):
        """The node, for what is done at a place, which None leaves to be the line that is recorded."""
        if Trace.current() is not self._node.trace:
            outlives("an array of another recording: return it, do not keep it", place)
        if not self._is_fresh():
            keeps_as_is(f"a view of an array that was changed since ({self._node.place}): make the view anew after the change, "
                        "or copy it before", place)
        return self._node

    def _is_fresh(self):
        """Whether no array that it is a view of has changed since."""
        return self._base is None or (self._base._version == self._seen and self._base._is_fresh())

    def change(self, node):
        """Puts another node into its place, and of a view `y[key]` into that of y."""
        if self._base is not None and self._key is None:
            keeps_as_is("a view is changed in place: change the array itself, as in `x[1:, 0] = v`")
        if self._base is not None:
            self._base[self._key] = Array(cast(node, self._node.dtype))
            self._seen = self._base._version
        if self.is_argument:
            keeps_as_is(f"`{self._node.name}` is changed in place, which is the caller's: begin "
                        "with a copy, as in `x = x.copy()`")
        self._node, self._version = cast(node, self._node.dtype), self._version + 1
        return self

    # ---- What is known without values ----

    @property
    def shape(self):
        return tuple(map(integer, self.node.trace.shape_of(self.node)))

    @property
    def size(self):
        total = Dim.of(1)
        for dim in self.node.trace.shape_of(self.node):
            total = total * dim
        return integer(total)

    ndim = property(lambda self: self.node.rank)
    dtype = property(lambda self: self.node.dtype)
    itemsize = property(lambda self: self.node.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    real = property(lambda self: self)
    imag = property(lambda self: np.imag(self))

    @property
    def T(self):
        return self.transpose()

    def __len__(self):
        if not self.ndim:
            complain("len() of an array without axes")
        return operator.index(integer(self.node.trace.shape_of(self.node)[0]))

    def __iter__(self):
        if not self.ndim:
            complain("an array without axes has no rows to go through")
        return (self[row] for row in range(len(self)))

    def __contains__(self, _):
        needs_values("`in` looks at values, which only a run has: write `np.any(x == v)`")

    @property
    def is_filled(self):
        """Whether its values are known: it has one number everywhere, and as many of them in all calls."""
        return self.node.fill is not None and all(isinstance(size, int) for size in self.shape)

    # ---- What would need values ----

    def __bool__(self):
        needs_values("a condition looks at values, which only a run has: `np.where(c, a, b)` chooses between arrays")

    def __float__(self):
        needs_values("float(x) needs a value, which only a run has: leave it out, an array without axes is a number; an array "
                     "to store numbers into is made by np.zeros, or of them by np.array")

    def __int__(self):
        needs_values("int(x) needs a value, which only a run has: `x.astype(np.int64)` converts arrays")

    __complex__ = __index__ = __float__

    def __index__(self):
        needs_values("a value of an array is used as an integer, which only a run has: `x[i]` and `np.take` read where "
                     "arrays say")

    def __array__(self, dtype=None):
        if self.is_filled:
            return np.full([int(size) for size in self.shape], self.node.fill, dtype or self.dtype)
        needs_values("NumPy asks for the values of a recorded array, which only a run has: this function is not recorded; an "
                     "array to store into is made by np.zeros, or of parts by np.stack, and `np.take(a, i, axis=0)` reads one "
                     "that is not recorded")

    __hash__ = None

    def __str__(self):
        needs_values("the text of an array needs its values, which only a run has: return the array and print it then; "
                     "repr(x) says what is recorded")

    def __format__(self, _):
        return str(self)

    def __getattr__(self, name):
        if name in METHODS:
            handler = METHODS[name]
            return lambda *arguments, **named: finished(handler, name, self, arguments, named)
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"an array has no attribute {name!r}")
        if self.is_filled:
            return getattr(self.__array__(), name)
        unrecorded(f"`.{name}` of an array is not recorded{HINTS.get(name, '')}")

    def __repr__(self):
        return f"<recorded {self._node.dtype}{self._node.trace.shown(self._node.shape)}>"

    # ---- Elements ----

    def __getitem__(self, key):
        node, shares = indexing.read(self.node, key)
        is_number = not any(it is ... for it in (key if isinstance(key, tuple) else (key,)))
        return Array(node, self, key, is_number=is_number) if shares and not (is_number and node.rank == 0) else Array(node)

    def __setitem__(self, key, value):
        if self.is_number:
            keeps_as_is("a number is not changed: only arrays are")
        if isinstance(value, Array) and value._base is self and value._key is key and value._seen == self._version:
            return  # `x[key] += v`, which has changed x already
        self.change(storing.stored(self.node, key, self.node.trace.as_node(value)))

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return call_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function, types, arguments, named):
        return call_function(function, arguments, named)


def finished(handler, name, array, arguments, named):
    """The result of a method, which shares the array's memory where NumPy's does."""
    is_number = array.is_number or name not in ("reshape", "squeeze", "transpose", "swapaxes", "copy", "astype")
    result = _into_out(handler, f".{name}", (array, *arguments), named, is_number)
    if isinstance(result, Array) and name in ("reshape", "ravel", "transpose", "swapaxes", "squeeze", "diagonal", "view"):
        return Array(result._node, array, is_number=is_number)
    return result


def _is_array(name, arguments):
    """Whether NumPy's function gives an array also where it has no axes, and no number."""
    if name in ("reshape", "squeeze", "transpose"):
        return not getattr(arguments[0], "is_number", False)
    return name in ("where", "copy", "broadcast_to", "zeros_like", "ones_like", "full_like", "empty_like", "tensordot", "cov",
                    "isin")


def _called(handler, name, arguments, named):
    try:
        return handler(*arguments, **named)
    except TypeError as error:
        if error.__traceback__.tb_next is None:  # of the call itself: an option that the table has not
            unrecorded(f"{name} is recorded, but not with these arguments: {error}")
        raise


# What computes in the type of the array that it is told to store into.
_IN_TYPE_OF_OUT = ("sum", "prod", "product", "cumsum", "cumprod", "cumproduct", "mean", "trace", "nansum", "nanprod")


def _into_out(handler, name, arguments, named, is_number):
    """The result of a function or a method, also where `out` is an array for it."""
    out = named.pop("out", None)
    if out is None:
        return wrapped(_called(handler, name, arguments, named), is_number)
    _is_recorded(out, name)
    word, trace = name.split(".")[-1], out.node.trace
    if word in _IN_TYPE_OF_OUT and (word != "mean" or out.dtype.kind == "f"):
        own = trace.as_node(arguments[0]).dtype
        if not np.can_cast(own, out.dtype, "same_kind"):
            complain(f"{name} of {own} does not become the {out.dtype} of `out`")
        named.setdefault("dtype", out.dtype)
    result = wrapped(_called(handler, name, arguments, named), is_number)
    if word in ("dot", "take") and result.dtype != out.dtype:
        complain(f"{name} gives {result.dtype}, and `out` is of {out.dtype}")
    if word == "mean":
        result = Array(cast(result.node, out.dtype))
    if result.ndim != out.ndim or not all(map(trace.facts.equal, trace.shape_of(result.node), trace.shape_of(out.node))):
        complain(f"{name} gives {trace.shown(result.node.shape)}, and `out` has {trace.shown(out.node.shape)}")
    return _stored_whole(out, result, name)


def _is_recorded(out, name):
    if not isinstance(out, Array):
        keeps_as_is(f"{name} changes an array that is not recorded: assign the result, as in `y = y + x`")


def call_ufunc(ufunc, method, inputs, options):
    """A function of elements, or one of its methods."""
    out = options.pop("out", None)
    chosen = options.pop("where", True) if method == "__call__" else True
    handler = UFUNCS.get(ufunc if method == "__call__" else (ufunc, method))
    name = f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
    if handler is None:
        unrecorded(f"{name} is not recorded")
    if method == "at" and not isinstance(inputs[0], Array):
        keeps_as_is(f"{name} changes an array that is not recorded: begin with np.zeros")
    if method in ("reduce", "accumulate") and out is not None and ufunc in (np.add, np.multiply):
        _is_recorded(out[0], name)
        options.setdefault("dtype", out[0].dtype)
    if chosen is not True and out is None:
        unrecorded(f"{name} with `where` and without `out` leaves elements open: `np.where(c, a, b)` chooses")
    result = wrapped(_called(handler, name, inputs, options))
    if method == "at":
        inputs[0].change(result.node)
        return None
    if out is None:
        return result
    several = result if isinstance(result, tuple) else (result,)
    stored = tuple(one if target is None else _element_by_element(target, one, chosen, name)
                   for one, target in zip(several, out))
    return stored if isinstance(result, tuple) else stored[0]


def _element_by_element(target, result, chosen, name):
    """What is stored into the target, where a mask is true."""
    _is_recorded(target, name)
    if target.is_number:
        return result
    return _stored_whole(target, result, name, chosen)


def _stored_whole(target, result, name, chosen=True):
    """`target op= other`, in NumPy's rules: the type and the shape stay."""
    trace, node = target.node.trace, result.node
    if not np.can_cast(node.dtype, target.dtype, "same_kind"):
        complain(f"{name} gives {node.dtype}, which does not become the {target.dtype} of the array that it changes")
    if chosen is not True:
        node = FUNCTIONS[np.where](chosen, cast(node, target.dtype), target.node)
    if trace.broadcast([target.node.shape, node.shape]) != trace.shape_of(target.node):
        complain(f"shape {trace.shown(node.shape)} does not fit the array of {trace.shown(target.node.shape)} that is "
                 "changed")
    from .views import broadcast_to
    return target.change(broadcast_to(node, trace.shape_of(target.node)))


def _with_numbers(value):
    """An argument for NumPy itself: arrays whose values are known, and sizes as the numbers of this call."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_with_numbers, value)) if type(value) in (list, tuple) else value
    return value.__array__() if isinstance(value, Array) else operator.index(value) if isinstance(value, Size) else value


def call_function(function, arguments, named):
    """A function of NumPy's vocabulary."""
    handler = FUNCTIONS.get(function)
    name = f"np.{getattr(function, '__name__', function)}"
    if handler is None and all(it.is_filled for it in flat([*arguments, *named.values()]) if isinstance(it, Array)):
        return function(*map(_with_numbers, arguments), **{key: _with_numbers(it) for key, it in named.items()})
    if handler is None:
        module = getattr(function, "__module__", "numpy").replace("numpy", "np", 1)
        unrecorded(f"{module}.{name[3:]} is not recorded{HINTS.get(name[3:], '')}")
    result = _into_out(handler, name, arguments, named, not _is_array(name[3:], arguments))
    if isinstance(result, Array) and name[3:] in ("transpose", "swapaxes", "moveaxis", "reshape", "ravel", "squeeze",
                                                  "expand_dims", "broadcast_to", "flip", "diagonal", "rollaxis"):
        base = next((it for it in arguments if isinstance(it, Array)), None)
        return Array(result._node, base, is_number=result.is_number) if base is not None else result
    return result
