"""A call that is set once and run again and again, over the C interface: what axon.Entry does around it is not timed."""
import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p

import numpy as np

from axon import _elements, _native


class View(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("elem", c_int), ("rank", c_int32), ("shape", POINTER(c_int64))]


def pointer(capsule, name):
    """The handle in a capsule of the package."""
    of = ctypes.pythonapi.PyCapsule_GetPointer
    of.restype, of.argtypes = c_void_p, [ctypes.py_object, c_char_p]
    return c_void_p(of(capsule, name)) if capsule is not None else None


class HeldCall:
    """An entry with its arguments: arrays and numbers by name, none of them a state."""

    def __init__(self, entry, named):
        axon = ctypes.CDLL("libaxon_runtime.so.0", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        axon.axon_error_create.restype = c_void_p
        axon.axon_error_text.restype = c_char_p
        self.axon, self.entry, self.error, self.call = axon, entry, c_void_p(axon.axon_error_create()), c_void_p()
        self.made = axon.axon_call_create(pointer(entry._bundle, b"axon bundle"), entry.name.encode(),
                                          pointer(entry._parameters, b"axon parameters"),
                                          pointer(entry._runtime, b"axon runtime"), byref(self.call), self.error)
        self.check(self.made)
        self.kept = []
        for name, value in named.items():
            self.give(name, value)

    def check(self, status):
        if status != 0:
            raise ValueError(self.axon.axon_error_text(self.error).decode())

    def give(self, name, value):
        if name in self.entry.sizes:
            self.check(self.axon.axon_call_set_size(self.call, name.encode(), c_int64(value), self.error))
            return
        port = next(port for port in self.entry.ports if port.path == name)
        array = value if isinstance(value, np.ndarray) else np.asarray(value, _elements.DTYPES[port.elem])
        array = np.ascontiguousarray(array).reshape(array.shape)
        shape = (c_int64 * max(array.ndim, 1))(*array.shape)
        view = View(array.ctypes.data, _elements.NAMES.index(_elements.ELEM_OF[array.dtype]), array.ndim, shape)
        self.kept.append((array, shape))
        self.check(self.axon.axon_call_set(self.call, name.encode(), byref(view), self.error))

    def run(self):
        self.check(self.axon.axon_call_run(self.call, self.error))

    def results(self):
        """Of the last run: an array, or a tuple of them."""
        found = [self.result(index) for index in range(len(self.entry.results))]
        return found[0] if len(found) == 1 else tuple(found)

    def result(self, index):
        view = View()
        self.check(self.axon.axon_call_result(self.call, c_size_t(index), byref(view), self.error))
        out = np.empty(tuple(view.shape[axis] for axis in range(view.rank)), _elements.DTYPES[_elements.NAMES[view.elem]])
        self.check(self.axon.axon_call_copy_result(self.call, c_size_t(index), c_void_p(out.ctypes.data), self.error))
        return out[()] if out.ndim == 0 else out

    def __del__(self):
        self.axon.axon_call_destroy(self.call)
        self.axon.axon_error_destroy(self.error)
