"""State: the memory of a `*` parameter, which calls update in place."""
import numpy as np

from ._elements import Bits


def _copied(value):
    """Arrays of their own, which lie as those that are given."""
    if isinstance(value, dict):
        return {name: _copied(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_copied, value))
    if isinstance(value, Bits):
        return Bits(value.array.copy(order="K"), value.elem)
    return value.copy(order="K")


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

    __slots__ = ("value",)

    def __init__(self, value):
        object.__setattr__(self, "value", value)

    def __setattr__(self, name, value):
        raise AttributeError(f"`{name}` of a state is memory: write into its array, as in state.{name}[:] = ...")

    def __getattr__(self, name):
        if name.startswith("__") or not isinstance(self.value, dict) or name not in self.value:
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
        return State(_copied(self.value))

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return State, (self.value,)

    def __repr__(self):
        return f"<axon state {_text(self.value)}>"
