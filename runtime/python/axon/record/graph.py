"""The graph that a function is recorded as.

A node is a tensor: its shape (polynomials over the sizes of the call), its NumPy type, the nodes that it is made of,
and how it is written in Axon. Shapes are stated with the symbols of the moment; `Trace.shape_of` has them as they are
after all equations. Nodes are made by `Trace.node` and its like, and never changed.
"""
import threading

import numpy as np

from .place import Place, complain, lacks_type, needs_values, outlives
from .sizes import Dim, Facts
from .values import BOOL, I64, elem_of, literal

_current = threading.local()

# How tightly an expression binds, from what reaches as far as it can to what needs no parentheses.
OPEN, OR, AND, COMPARE, SUM, PRODUCT, MINUS, APPLY, ATOM = range(9)


class Node:
    """`write` gives the text and how tightly it binds, of a `text.Line`. `named` are the arguments that need a name,
    as they are indexed; `inline` says that the text may stand inside of another. `value` is the number of a constant,
    `fill` that of an array of one number, or all of an array that is known, `size` the polynomial of an integer made of
    sizes; `samples` stand for all numbers that one without axes can be; `after` are nodes whose sizes are part of it."""

    def __init__(self, trace, shape, dtype, arguments, write, named=(), inline=True):
        self.trace, self.dtype = trace, np.dtype(dtype)
        self.shape = tuple(map(Dim.of, shape))
        self.arguments, self.write, self.named, self.inline = tuple(arguments), write, named, inline
        self.value = self.size = self.samples = self.view = self.name = self.given = self.fill = None
        self.owned = None  # the symbol of a size that only a run has, which is that of this node
        self.after = tuple(dict.fromkeys(trace.facts.owners(self.shape)))
        self.nonnegative = False  # known to be
        self.place = Place.here()
        elem_of(self.dtype)

    @property
    def rank(self):
        return len(self.shape)

    @property
    def is_leaf(self):
        return self.given is not None or self.value is not None or self.size is not None


class Trace:
    """One recording: its facts, and the nodes that stand for what the call is given."""

    def __init__(self):
        self.facts = Facts()
        self.inputs, self.captured, self.checks, self.known = [], [], [], {}

    @staticmethod
    def current():
        trace = getattr(_current, "trace", None)
        if trace is None:
            outlives("a recorded array lives as long as its function is recorded: return it, do not keep it")
        return trace

    @staticmethod
    def is_active():
        """Whether this thread records."""
        return getattr(_current, "trace", None) is not None

    def __enter__(self):
        _current.trace = self
        return self

    def __exit__(self, *_):
        _current.trace = None

    def dim(self, size):
        """The polynomial of an integer or a recorded size."""
        if hasattr(size, "node") or isinstance(size, (float, np.floating)):
            needs_values(f"a size, a bound or a shift is {'a value, which only a run has' if hasattr(size, 'node') else size}: "
                         "give Python's integers, as int(k) of an argument and x.shape[0] are")
        return self.facts.normal(size.dim if hasattr(size, "dim") else Dim.of(size))

    def shape_of(self, node):
        return tuple(self.facts.normal(dim) for dim in node.shape)

    def node(self, shape, dtype, arguments, write, named=(), inline=True):
        note_names()
        return Node(self, shape, dtype, arguments, write, named, inline)

    def input(self, name, shape, dtype, given):
        """A node for an array of the call: `given` says which."""
        node = self.node(shape, dtype, (), lambda line: (line.input(node), ATOM))
        node.given, node.name = given, name
        self.inputs.append(node)
        return node

    def chosen(self, mask):
        """The positions where a mask of one axis is true. How many they are is a size that only a run has."""
        return self._of_open_size("nonzero", mask, "the number of chosen elements")

    def counted(self, count):
        """0, 1, ... below a number that only a run has, which is not negative."""
        return self._of_open_size("iota", count, "a number that the data decides")

    def _of_open_size(self, function, argument, what):
        size = self.facts.new(None, 0, what)
        node = self.node([size], I64, (argument,), lambda line: (f"{function} {line.argument(0, ATOM)}", APPLY))
        node.nonnegative = True
        self.facts.symbols[-1].owner = node
        node.owned = len(self.facts.symbols) - 1
        return node

    def capture(self, array):
        """A node for an array that is not an argument: the array itself, which each call reads."""
        for known, node in self.captured:
            if known is array:
                return node
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        node = self.input(None, array.shape, array.dtype, ("captured", len(self.captured)))
        self.captured.append((array, node))
        return node

    def constant(self, value, dtype):
        dtype = np.dtype(dtype)
        key = "constant", dtype, repr(value)
        if key not in self.known:  # one node for one number, so that `x > 0` is one mask wherever it stands
            self.known[key] = self.node((), dtype, (), lambda line: (literal(value, dtype), ATOM))
            self.known[key].value = value
        return self.known[key]

    def of_size(self, dim):
        """An integer made of sizes, as a value."""
        if dim.constant() is not None:
            return self.constant(dim.constant(), I64)
        node = self.node((), I64, (), lambda line: line.program.size(dim))
        node.size, node.after = dim, tuple(self.facts.owners([dim]))
        return node

    def as_node(self, value):
        """What NumPy would make an array of."""
        if isinstance(value, Node):
            return value
        if hasattr(value, "node"):
            return value.node
        if hasattr(value, "dim"):
            return self.of_size(self.dim(value))
        if isinstance(value, np.ndarray) and value.ndim:
            elem_of(value.dtype)
            return self.capture(value)
        if isinstance(value, (list, tuple)):
            return self._of_list(value)
        if isinstance(value, (bool, np.bool_)):
            return self.constant(bool(value), BOOL)
        if isinstance(value, int) and not -2**63 <= value < 2**63:
            complain(f"{value} fits in no integer of 64 bits")
        if isinstance(value, (int, float, complex, np.generic, np.ndarray)):
            number = value[()] if isinstance(value, np.ndarray) else value  # NumPy looks at both alike
            elem_of(np.asarray(number).dtype)
            return self.constant(number, np.asarray(number).dtype)
        complain(f"{type(value).__name__} is nothing that an array is made of")

    def _of_list(self, items):
        from . import shapes  # which is made of nodes
        if not any(is_recorded(item) for item in flat(items)):
            return self.as_node(np.array(items))
        return shapes.stack([self.as_node(item) for item in items], 0)

    def broadcast(self, shapes):
        """The shape that NumPy makes of several. That two sizes are equal, or one is 1, is a fact."""
        rank = max(map(len, shapes))
        aligned = [(Dim.of(1),) * (rank - len(shape)) + tuple(map(self.facts.normal, shape)) for shape in shapes]
        return tuple(self._broadcast_axis(axis, aligned) for axis in zip(*aligned))

    def _broadcast_axis(self, sizes, shapes):
        result = Dim.of(1)
        for size in sizes:
            if size.is_number(1) or size == result:
                continue
            if result.is_number(1):
                result = size
            elif not self.facts.equal(size, result):
                if self.facts.hint(size) == 1 and self.facts.equal(size, Dim.of(1)):
                    continue
                if self.facts.hint(result) != 1 or not self.facts.equal(result, Dim.of(1)):
                    shown = " and ".join(self.shown(shape) for shape in shapes)
                    complain(f"shapes {shown} do not broadcast")
                result = size
        return self.facts.normal(result)

    def shown(self, shape):
        """A shape with the numbers of this call."""
        sizes = [self.facts.normal(dim) for dim in shape]
        return "(" + ", ".join("?" if self.facts.is_open(dim) else str(self.facts.hint(dim)) for dim in sizes) + ")"


def note_names():
    """Gives nodes the names of the variables that hold them, in the function that asks."""
    for name, value in Place.frame().f_locals.items():
        node = getattr(value, "_node", None)  # also of a view that may no longer be used
        if isinstance(node, Node) and node.name is None:
            node.name = name


def is_recorded(value):
    return hasattr(value, "node") or hasattr(value, "dim")


def flat(items):
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from flat(item)
        else:
            yield item


def cast(node, dtype):
    """With another element type, as NumPy converts."""
    dtype = np.dtype(dtype)
    if node.dtype == dtype:
        return node
    trace = node.trace
    if node.value is not None:
        with np.errstate(all="ignore"):
            return trace.constant(np.asarray(node.value).astype(dtype)[()], dtype)
    if node.dtype == np.uint64 and dtype.kind not in "iu":
        lacks_type("sums of unsigned integers are uint64 in NumPy, which Axon lacks: name another type, as in "
                   "`x.sum(dtype=np.int64)`")
    if dtype == BOOL:
        zero = trace.constant(0, node.dtype)
        return trace.node(node.shape, dtype, (node, zero), infix("!=", COMPARE))
    elem = elem_of(dtype)
    if elem == elem_of(node.dtype):
        return trace.node(node.shape, dtype, (node,), lambda line: line.whole(0))
    # NumPy drops the bits that do not fit into narrow integers; the language takes the nearest number.
    through = ["i64"] if node.dtype.kind == "f" and elem in ("i8", "i16", "u8", "u32") else []
    return trace.node(node.shape, dtype, (node,), lambda line: line.applied(elem, *through))


def infix(sign, level):
    """Writes `a sign b`, of which only the chains of `+` and `*` and their like go to the left."""
    def write(line):
        left, right = line.operands(level if level in (SUM, PRODUCT, AND, OR) else level + 1, level + 1)
        return f"{left} {sign} {right}", level
    return write


def prefix(name):
    """Writes `name a b ...`."""
    def write(line):
        return " ".join([name, *line.operands(*(APPLY + 1,) * len(line.node.arguments))]), APPLY
    return write
