"""Arguments and results, taken apart and put together.

Dicts, tuples, lists, named tuples and dataclasses are gone through. Arrays, NumPy's numbers, floats and integers are
what a call gives to the program; strings, None, True, types and functions belong to the key of the call. All else is refused:
what an object holds may change.
"""
import dataclasses
import enum
import inspect
import types

import numpy as np

from .array import Array, Size
from .place import failure, holds_recorded
from .values import ELEMS, U64, value_class


# What belongs to the key of a call: it never changes.
_STATIC = (bool, type(None), str, bytes, type, np.dtype, enum.Enum, types.FunctionType, types.BuiltinFunctionType,
           np.ufunc)


# What is returned as it is.
_RETURNED = (bool, type(None), str, bytes, int, float, complex, type, np.dtype, enum.Enum, np.ndarray, np.generic)


class Leaf:
    """What a call gives: an "array", an "integer", or something "static"; `value` is what goes to the program."""

    __slots__ = ("kind", "name", "value", "original")

    def __init__(self, kind, name, value):
        self.kind, self.name, self.value = kind, name, value


class Call:
    """The leaves of a call, its key, and the integers that its sizes and facts are made of."""

    def __init__(self):
        self.leaves, self.integers, self.key = [], [], ()
        self.structure = None

    def rebuilt(self, values):
        """The arguments again, with these values in the place of the leaves."""
        return _rebuilt(self.structure, iter(values))


def taken_apart(function, positional, named):
    """The call with these arguments."""
    names = _names(function)
    call, key = Call(), []
    parts = [_taken(call, key, names[at] if at < len(names) else f"argument{at}", value)
             for at, value in enumerate(positional)]
    others = {name: _taken(call, key, name, named[name]) for name in sorted(named)} if named else {}
    call.structure = parts, others
    key.append((len(positional), *others))
    call.key = tuple(key)
    return call


_known_names = {}


def _names(function):
    if function not in _known_names:
        _known_names[function] = [name for name, it in inspect.signature(function).parameters.items()
                                  if it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD)]
    return _known_names[function]


def _taken(call, key, name, value):
    """The structure of an argument: a `Leaf`, or a function that puts the parts together and the parts."""
    if isinstance(value, (np.ndarray, np.generic, float)):
        leaf = _array(call, key, name, value)
        leaf.original = value
        return leaf
    if isinstance(value, bool) or value is None or isinstance(value, (str, bytes)):
        return _static(call, key, name, value)
    if isinstance(value, int):
        if not -2**63 <= value < 2**63:
            _refuse(name, f"is an integer of {value.bit_length()} bits, and fits in no integer of 64 bits", "N004")
        return _leaf(call, key, "integer", name, value, "i", (value,))
    parts = _parts(value)
    if parts is None:
        return _static(call, key, name, value)
    make, fields = parts
    key.append((make if isinstance(make, type) else "dict", *fields))
    return make, {field: _taken(call, key, f"{name}_{field}", item) for field, item in fields.items()}


def _parts(value):
    """How a container is made, and its parts by name; None of what is none."""
    if type(value) is dict:
        return dict, value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value), dict(zip(value._fields, value))
    if type(value) in (tuple, list):
        return type(value), dict(enumerate(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value), {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _put_together(make, fields):
    if make is dict:
        return fields
    return make(fields.values()) if make in (tuple, list) else make(**fields)


def _rebuilt(structure, values):
    positional, named = structure

    def one(part):
        if isinstance(part, Leaf):
            return next(values)
        make, fields = part
        return _put_together(make, {field: one(it) for field, it in fields.items()})
    return [one(part) for part in positional], {name: one(part) for name, part in named.items()}


def _leaf(call, key, kind, name, value, in_key, integers):
    leaf = Leaf(kind, name, value)
    leaf.original = value
    call.leaves.append(leaf)
    call.integers.extend(integers)
    key.append(in_key)
    return leaf


def _static(call, key, name, value):
    if not isinstance(value, _STATIC):
        _refuse(name, f"is a {type(value).__name__}, which is neither an array nor gone through: give its arrays, in a dict "
                "or a dataclass for example")
    return _leaf(call, key, "static", name, value, (type(value), value), [])


def _refuse(name, text, code="N007"):
    raise failure(code, f"argument `{name}` {text}")


def _array(call, key, name, array):
    given = array
    if type(array) is not np.ndarray:
        if isinstance(array, np.ma.MaskedArray):
            _refuse(name, "is a masked array, which is two: give its data and its mask")
        array = np.asarray(array)
    dtype, shape = array.dtype, array.shape
    if dtype.num not in _NUMBERS or not dtype.isnative:
        array, dtype = _native(name, array)
    if not shape:  # of numbers NumPy looks at the value: see values.py
        kind, sizes = (_NUMBERS[dtype.num], value_class(array[()]), isinstance(given, np.ndarray)), shape
    elif 1 in shape:
        kind, sizes = (_NUMBERS[dtype.num], tuple([size == 1 for size in shape])), [size for size in shape if size != 1]
    else:
        kind, sizes = (_NUMBERS[dtype.num], len(shape)), shape
    return _leaf(call, key, "array", name, array, kind, sizes)


# NumPy's numbers of the element types, and the name of each.
_NUMBERS = {np.dtype(code).num: elem for code in np.typecodes["All"] if (elem := ELEMS.get(np.dtype(code)))
            and np.dtype(code) != U64}


def _native(name, array):
    """In this machine's order of bytes, of a type that the language has."""
    array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.num not in _NUMBERS:
        _refuse(name, f"is an array of {array.dtype}, which Axon lacks; it has "
                f"{', '.join(str(it) for it in ELEMS if it != U64)}", "N004")
    return array, array.dtype


def captured_names(function):
    """What the function, and those that it calls by name, read from outside: for each name a way to look it up, and what
    is there now (`contents`). Something else there is another recording."""
    found, seen, queue = [], set(), [function]
    while queue:
        one = queue.pop()
        if one in seen:
            continue
        seen.add(one)
        for look, value in _names_from_outside(one):
            inner = getattr(value, "_function", value)  # of a recorded function
            if isinstance(inner, types.FunctionType):
                queue.append(inner)
            if not isinstance(value, (types.ModuleType, type, np.ufunc, types.BuiltinFunctionType)):
                found.append((look, contents(value), value))
    return found


def _names_from_outside(function):
    code, outside = function.__code__, function.__globals__
    for name, cell in zip(code.co_freevars, function.__closure__ or ()):
        try:
            yield (lambda cell=cell: cell.cell_contents), cell.cell_contents
        except ValueError:  # not set yet
            continue
    for name in code.co_names:
        value = outside.get(name)
        if isinstance(value, types.ModuleType) and value is not np:
            for part in code.co_names:
                if part in vars(value) and not callable(vars(value)[part]):
                    yield (lambda value=value, part=part: vars(value).get(part)), vars(value)[part]
        elif name in outside:
            yield (lambda name=name: outside.get(name)), value


def contents(value, depth=4):
    """What stands for a value from outside: numbers and texts themselves, arrays and functions as the objects that they
    are, and of all else what it holds."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return type(value), value
    if isinstance(value, (np.ndarray, np.generic)) or depth == 0 or callable(value):
        return id(value)
    if isinstance(value, dict):
        return dict, tuple((key, contents(item, depth - 1)) for key, item in value.items())
    if isinstance(value, (tuple, list)):
        return type(value), tuple(contents(item, depth - 1) for item in value)
    return id(value), contents(getattr(value, "__dict__", None), depth - 1)


class Result:
    """What a function returned: arrays that the program computes (`nodes`), sizes, arguments, and all else as it is."""

    def __init__(self, value, trace, place):
        self.nodes, self.sizes, self._numbers = [], [], {}
        self._trace, self._place = trace, place
        self._structure = self._taken(value)

    def _taken(self, value):
        if isinstance(value, Size) and self._trace.facts.is_open(value.dim):
            return "int", self._node(self._trace.of_size(self._trace.dim(value)))
        if isinstance(value, Size):
            self.sizes.append(value.dim)
            return "size", len(self.sizes) - 1
        if isinstance(value, Array):
            found = self._node(value.node_at(self._place))
            return found if value.is_number or value.ndim or value.is_argument else ("array", found)
        parts = _parts(value)
        if parts is None and not isinstance(value, _RETURNED):
            holds_recorded(f"a {type(value).__name__} is returned, which may hold what is recorded: return arrays and "
                           "numbers, in tuples, lists, dicts and dataclasses", self._place)
        if parts is None:
            return "value", value
        make, fields = parts
        return "parts", make, {field: self._taken(item) for field, item in fields.items()}

    def _node(self, node):
        if node.given is not None:
            return ("argument" if node.given[0] == "argument" else "captured"), node.given[1]
        if node.value is not None:
            return "value", node.dtype.type(node.value)
        if node.size is not None and not self._trace.facts.is_open(node.size):
            self.sizes.append(node.size)
            return "int64", len(self.sizes) - 1
        if node not in self._numbers:
            self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return "node", self._numbers[node]

    def rebuilt(self, arrays, sizes, call):
        return self._part(self._structure, arrays, sizes, call)

    def _part(self, part, arrays, sizes, call):
        """A method, as a function in rebuilt() that calls itself would keep arrays and arguments until the next collection
        of garbage."""
        kind, *rest = part
        if kind == "parts":
            return _put_together(rest[0], {field: self._part(it, arrays, sizes, call) for field, it in rest[1].items()})
        at = rest[0]
        if kind in ("array", "int"):
            inner = self._part(at, arrays, sizes, call)
            return np.asarray(inner) if kind == "array" else int(inner)
        if kind == "node":
            return arrays[at]
        if kind == "argument":
            return call.leaves[at].original
        if kind == "captured":
            return self._trace.captured[at][0]
        return at if kind == "value" else np.int64(sizes[at]) if kind == "int64" else sizes[at]
