"""Axon programs from Python: NumPy arrays, and anything with DLPack, in and out.

    import axon
    model = axon.load("llama.axb")                       # or axon.compile("entry double x = x + x ..")
    weights = model.bind("llama.safetensors")
    cache = weights.decode.state(n=256)
    logits, cache = weights.decode(cache=cache, token=1, pos=0)

    axon.load("pairs.axb").distances(x=points)          # an entry without weights
    fast = axon.function(softmax)                       # a function in NumPy's vocabulary: see docs/numpy.md

What a program marks `weights` is bound once. All other parameters of an entry are given at every call, by name
or in order; a record is a dict or a dataclass, a tuple a tuple, a stack a list of records or a record of stacked
arrays. Results are dicts and tuples. A tensor is one of

    a NumPy array      of exactly the parameter's element type: float32 for f32, bool for bool
    a DLPack tensor    the same, in the memory of the CPU, such as one of PyTorch
    axon.Bits          of bf16, f8e4m3 or f8e5m2, which NumPy lacks: axon.Bits(array of uint16 or uint8, "bf16")
    a number or list   integers for integers, True and False for bool, integers and floats for floats. It has to
                       fit: a float is rounded to the parameter's type, and what is too large for it is an error.

An array goes in as it is, without a copy, where it is contiguous. Where the program states how a parameter lies,
`x : f32[m, n] @ S[(m, n) : (1, m)]`, an array goes in as it is, too, and has to lie so: its strides are held against
those that are stated (E0827). A list is brought there. Other arrays that are not contiguous are copied, where they are
not states. A result lies as the program states.

A state (`*` in the program) is updated in place and handed back: the same array, dict or State comes out that went in.
A result that the program computes anew, `state + x` and not `state with [:] = state + x`, is no update, and the state
stays as it was. Results other than states own their memory; those from 32 KiB on are not copied. Whatever fails raises axon.Error
with the library's or the compiler's message.

An entry is an attribute of its model; one that is named like a method or a property of the model, `bind`, `entries` or
`level`, is an item: model["bind"]. help(model.decode) and inspect.signature(model.decode) say what it takes, and
axon.stub(model) writes a stub file.

Threads may call one model at the same time: the interpreter's lock is released, no call sees another's arguments or
results, and those that need several workers take turns. After a fork (os.fork, multiprocessing) the child may go on
calling. Models and entries are never copied, and pickle writes where they come from; a State is memory, and is copied.

The library is the one that the extension finds: beside it or in build/lib, or the one that AXON_LIBRARY names. The
compiler, which only compile() needs, is found through AXON_ETCC, in the package, in the build tree, or in PATH.
"""
import os as _os

if _os.environ.get("AXON_LIBRARY"):  # loaded first, it is the one that the extension is linked with
    import ctypes as _ctypes
    _ctypes.CDLL(_os.environ["AXON_LIBRARY"], mode=_ctypes.RTLD_GLOBAL)

import numpy as _np

from . import _native
from ._compile import Diagnostic, compile  # pylint: disable=redefined-builtin
from ._elements import DTYPES as _DTYPES, NAMES as _NAMES, Bits
from ._entry import Entry, Port
from ._error import Error
from ._model import Bundle, Parameters, load, workers
from ._config import show_config
from ._state import State
from ._stub import stub
from .record import function

for _type in (Error, Diagnostic, Bits, State, Bundle, Parameters, Entry, Port, compile, load, show_config, stub, workers):
    _type.__module__ = __name__  # which is where users find them

__version__ = _native.VERSION

__all__ = ["load", "compile", "function", "stub", "Error", "Diagnostic", "Bits", "State", "Bundle", "Parameters", "Entry", "Port",
           "workers", "show_config"]


def _copied(tensor):
    """An array that owns a tensor's elements, and lies as it does."""
    array = _np.asarray(tensor)
    return _np.empty(array.shape, array.dtype) if array.size == 0 else array.copy(order="K")


_native.configure(error=Error, array=_np.ndarray, empty=_np.empty, asarray=_np.asarray, floating=_np.floating, integer=_np.integer,
                  dtypes=tuple(_DTYPES[name] for name in _NAMES), bits=Bits, make_bits=Bits, state=State, copied=_copied)
