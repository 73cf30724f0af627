"""State: the memory of a `*` parameter, which calls update in place."""
import numpy as np

from ._elements import Bits, shown
from ._error import Error


def _each(value, function):
    """The same structure with what the function makes of each array."""
    if isinstance(value, dict):
        return {name: _each(part, function) for name, part in value.items()}
    if isinstance(value, tuple):
        return tuple(_each(part, function) for part in value)
    return Bits(function(value.array), value.elem) if isinstance(value, Bits) else function(value)


def _lying(array, strides):
    """A copy that lies with these strides, in bytes, none of them negative."""
    reach = sum((extent - 1) * step for extent, step in zip(array.shape, strides) if extent) // array.itemsize
    out = np.lib.stride_tricks.as_strided(np.zeros(reach + 1, array.dtype), array.shape, strides)
    out[...] = array
    return out


def _copied(array):
    """An array of its own, which lies as the one that is given."""
    out = array.copy(order="K")
    return out if out.strides == array.strides or array.size == 0 else _lying(array, array.strides)


def _arrays(value):
    """All arrays in it, in order."""
    if isinstance(value, (dict, tuple)):
        parts = value.values() if isinstance(value, dict) else value
        return [array for part in parts for array in _arrays(part)]
    return [value.array if isinstance(value, Bits) else value]


def _check(value):
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ():
        _check(part)
    if not isinstance(value, (dict, tuple, np.ndarray, Bits)):
        raise Error(f"a state is a NumPy array, axon.Bits, or dicts and tuples of them, not {shown(value)}", "E0801")


def _text(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} : {_text(part)}" for name, part in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_text, value)) + ")"
    elem = value.elem if isinstance(value, Bits) else str(value.dtype)
    return f"{elem}{list(value.shape)}"


class State:
    """The memory of one `*` parameter: `value` is the array, or a dict or tuple of arrays. Made by `entry.state()`,
    with zeros, or from arrays of the right shapes: axon.State({"k": k, "v": v}).

    A call takes it as the argument, updates the arrays and hands the same State back. The parts of a record are
    state["k"] or state.k; of a tuple state[0]. copy.copy() and copy.deepcopy() copy the memory, and pickle writes it."""

    __slots__ = ("value", "__weakref__")

    def __init__(self, value):
        _check(value)
        object.__setattr__(self, "value", value)

    def __setattr__(self, name, value):
        raise AttributeError(f"`{name}` of a state is memory: write into its array, as in state.{name}[:] = ...")

    def __getattr__(self, name):
        if name == "value" or name.startswith("__") or not isinstance(self.value, dict) or name not in self.value:
            raise AttributeError(f"the state has no part `{name}`")
        return self.value[name]

    def __dir__(self):
        return list(super().__dir__()) + (list(self.value) if isinstance(self.value, dict) else [])

    def __getitem__(self, key):
        return self.value[key]

    def __setitem__(self, key, value):
        if isinstance(self.value, (dict, tuple)):
            raise TypeError("the parts of a state are memory: write into an array of it, as in state[key][:] = ...")
        self.value[key] = value

    def __len__(self):
        return len(self.value)

    def __iter__(self):
        return iter(self.value)

    def __array__(self, dtype=None, copy=None):
        if isinstance(self.value, (dict, tuple)):
            raise TypeError("this state has several arrays: name one")
        array = np.asarray(self.value, dtype)
        return array.copy() if copy and not isinstance(self.value, Bits) else array

    def copy(self):
        """Another state with a copy of the memory."""
        return State(_each(self.value, _copied))

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return _restored, (self.value, [array.strides for array in _arrays(self.value)])

    def __repr__(self):
        return f"<axon state {_text(self.value)}>"


def _restored(value, strides):
    """The state of a pickle, which writes the elements of arrays and not where they lie."""
    left = iter(strides)

    def lying(array):
        steps = next(left)
        return array if array.strides == steps or array.size == 0 else _lying(array, steps)

    return State(_each(value, lying))
