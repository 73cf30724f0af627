"""Axon bundles from Python: NumPy arrays in and out, over the C interface, in one file.

    import axon
    model = axon.load("llama.axb")
    weights = model.bind("llama.safetensors")
    logits, cache = weights.decode(cache={"k": k, "v": v}, token=1, pos=0)

    axon.load("pairs.axb").distances(x=points)          # an entry without weights

An entry takes its parameters by name, or in order; a record is a dict, a tuple a tuple. A state (`*` in the
program) is updated in place and handed back: the same array comes out that went in. Other results are copies.
Whatever fails raises axon.Error with the library's message. The library is found through AXON_LIBRARY, beside
this file, in build/lib of the source tree, or by the system's loader.
"""
import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p

import numpy as np

__all__ = ["load", "Error", "Bundle", "Parameters", "Entry", "workers"]

_ELEMS = [np.float64, np.float32, np.float16, None, None, None,
          np.int64, np.int32, np.int16, np.int8, np.uint8, np.bool_]
_ELEM_OF = {np.dtype(t): i for i, t in enumerate(_ELEMS) if t is not None}
_BITS_OF = {3: np.uint16, 4: np.uint8, 5: np.uint8}  # bf16 and the f8s: NumPy lacks them, so their bits
_WEIGHT, _ARGUMENT, _STATE, _SIZE = range(4)
_FROM_PARAMETER = 0


class _View(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("elem", c_int), ("rank", c_int32), ("shape", POINTER(c_int64))]


class _Port(ctypes.Structure):
    _fields_ = [("path", c_char_p), ("kind", c_int), ("elem", c_int), ("rank", c_int32),
                ("shape", POINTER(c_char_p)), ("state", c_int32)]


def _find_library():
    here = os.path.dirname(os.path.abspath(__file__))
    name = "libaxon_runtime.so"
    candidates = [os.path.join(here, name), os.path.join(here, "..", "..", "build", "lib", name)]
    if os.environ.get("AXON_LIBRARY"):
        return os.environ["AXON_LIBRARY"]
    return next((path for path in candidates if os.path.exists(path)), name)


_SIGNATURES = {  # name: result type, argument types
    "axon_error_create": (c_void_p, []),
    "axon_error_destroy": (None, [c_void_p]),
    "axon_error_code": (c_char_p, [c_void_p]),
    "axon_error_text": (c_char_p, [c_void_p]),
    "axon_open": (c_int, [c_char_p, POINTER(c_void_p), c_void_p]),
    "axon_bundle_destroy": (None, [c_void_p]),
    "axon_bundle_level": (c_char_p, [c_void_p]),
    "axon_bundle_entry_count": (c_size_t, [c_void_p]),
    "axon_bundle_entry": (c_void_p, [c_void_p, c_size_t]),
    "axon_entry_name": (c_char_p, [c_void_p]),
    "axon_entry_input_count": (c_size_t, [c_void_p]),
    "axon_entry_input": (c_int, [c_void_p, c_size_t, POINTER(_Port), c_void_p]),
    "axon_entry_result_count": (c_size_t, [c_void_p]),
    "axon_entry_result": (c_int, [c_void_p, c_size_t, POINTER(_Port), c_void_p]),
    "axon_entry_size_count": (c_size_t, [c_void_p]),
    "axon_entry_size": (c_int, [c_void_p, c_size_t, POINTER(c_char_p), POINTER(c_int), c_void_p]),
    "axon_elem_name": (c_char_p, [c_int]),
    "axon_bind": (c_int, [c_void_p, POINTER(c_char_p), c_size_t, c_char_p, POINTER(c_void_p), c_void_p]),
    "axon_bind_arrays": (c_int, [c_void_p, POINTER(c_char_p), POINTER(_View), c_size_t, c_char_p,
                                 POINTER(c_void_p), c_void_p]),
    "axon_parameters_destroy": (None, [c_void_p]),
    "axon_runtime_create": (c_int, [c_uint32, POINTER(c_void_p), c_void_p]),
    "axon_runtime_destroy": (None, [c_void_p]),
    "axon_call_create": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p, POINTER(c_void_p), c_void_p]),
    "axon_call_destroy": (None, [c_void_p]),
    "axon_call_set_size": (c_int, [c_void_p, c_char_p, c_int64, c_void_p]),
    "axon_call_set_at": (c_int, [c_void_p, c_size_t, POINTER(_View), c_void_p]),
    "axon_call_set_int_at": (c_int, [c_void_p, c_size_t, c_int64, c_void_p]),
    "axon_call_set_float_at": (c_int, [c_void_p, c_size_t, c_double, c_void_p]),
    "axon_call_run": (c_int, [c_void_p, c_void_p]),
    "axon_call_result": (c_int, [c_void_p, c_size_t, POINTER(_View), c_void_p]),
}


def _open_library():
    library = ctypes.CDLL(_find_library())
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _open_library()


class Error(Exception):
    """What the library reports; `code` is stable, e.g. "E0823"."""

    def __init__(self, text, code=""):
        super().__init__(text)
        self.code = code


def _checked(name, *arguments):
    """Calls a function that takes an error object last; raises when it fails."""
    error = _library.axon_error_create()
    try:
        if getattr(_library, name)(*arguments, error) != 0:
            raise Error(_library.axon_error_text(error).decode(), _library.axon_error_code(error).decode())
    finally:
        _library.axon_error_destroy(error)


class _Handle:
    """Owns one handle of the library."""

    def __init__(self, destroy, value):
        self._destroy, self.value = destroy, value

    def __del__(self):
        if self.value:
            self._destroy(self.value)


def _create(destroy, name, *arguments):
    out = c_void_p()
    _checked(name, *arguments, byref(out))
    return _Handle(getattr(_library, destroy), out)


_runtimes = {}


def workers(count=0):
    """The shared pool of so many workers; 0: the allowed CPUs, each run using as many as pay off."""
    if count not in _runtimes:
        _runtimes[count] = _create("axon_runtime_destroy", "axon_runtime_create", count)
    return _runtimes[count]


def _view_of(array, elem=None):
    shape = (c_int64 * max(array.ndim, 1))(*array.shape)
    code = _ELEM_OF.get(array.dtype) if elem is None else elem
    if code is None:
        raise Error(f"arrays of {array.dtype} have no element type here")
    view = _View(array.ctypes.data, code, array.ndim, shape)
    view.owner = (array, shape)  # alive as long as the view
    return view


def _array_of(view):
    """A NumPy array over the view's memory, which belongs to somebody else."""
    shape = tuple(view.shape[i] for i in range(view.rank))
    dtype = np.dtype(_ELEMS[view.elem] or _BITS_OF[view.elem])
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if count == 0:
        return np.empty(shape, dtype)
    return np.frombuffer((ctypes.c_char * count).from_address(view.data), dtype).reshape(shape)


def _flatten(value, path, out):
    """Leaves of nested dicts and tuples, by path."""
    if not isinstance(value, (dict, tuple)):
        out[path] = value
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        _flatten(item, f"{path}.{key}" if path else str(key), out)


def _nest(leaves):
    """The inverse: paths to nested dicts, with tuples where all keys are numbers."""
    if list(leaves) == [""]:
        return leaves[""]
    groups = {}
    for path, value in leaves.items():
        head, _, rest = path.partition(".")
        groups.setdefault(head, {})[rest] = value
    nested = {head: _nest(group) for head, group in groups.items()}
    if nested and all(head.isdigit() for head in nested):
        return tuple(nested[str(i)] for i in range(len(nested)))
    return nested


class Entry:
    """One entry, ready to be called."""

    def __init__(self, name, bundle, handle, parameters, runtime):
        self.name, self._bundle, self._parameters = name, bundle, parameters
        self._call = _create("axon_call_destroy", "axon_call_create", bundle.value, name.encode(),
                             parameters.value if parameters else None, runtime.value)
        self._inputs = self._ports(handle, "input")
        self._results = self._ports(handle, "result")
        self._given = {}  # what the last call set: kept alive, since the library borrows it
        self._sizes = self._size_parameters(handle)
        given = [port for port in self._inputs if port[1] != _WEIGHT]
        self._names = list(dict.fromkeys(port[0].split(".")[0] for port in given))

    @staticmethod
    def _ports(handle, what):
        out = []
        for i in range(getattr(_library, f"axon_entry_{what}_count")(handle)):
            port = _Port()
            _checked(f"axon_entry_{what}", handle, i, byref(port))
            shape = [port.shape[axis].decode() for axis in range(port.rank)]
            out.append((port.path.decode(), port.kind, port.elem, shape, port.state))
        return out

    @staticmethod
    def _size_parameters(handle):
        out = []
        for i in range(_library.axon_entry_size_count(handle)):
            name, source = c_char_p(), c_int()
            _checked("axon_entry_size", handle, i, byref(name), byref(source))
            if source.value == _FROM_PARAMETER:
                out.append(name.value.decode())
        return out

    def __repr__(self):
        def one(path, elem, shape):
            kind = _library.axon_elem_name(elem).decode()
            return f"{path} : {kind}" + (f"[{', '.join(shape)}]" if shape else "")
        inputs = ", ".join(one(path, elem, shape) for path, kind, elem, shape, _ in self._inputs
                           if kind != _WEIGHT)
        results = ", ".join(one(path or "result", elem, shape) for path, _, elem, shape, _ in self._results)
        return f"<axon entry {self.name}({inputs}) = {results}>"

    def __call__(self, *arguments, **named):
        if len(arguments) > len(self._names):
            raise Error(f"`{self.name}` takes {len(self._names)} arguments, {len(arguments)} were given")
        for name, value in zip(self._names, arguments):
            if name in named:
                raise Error(f"`{name}` was given twice")
            named[name] = value
        for size in self._sizes:
            if size in named:
                _checked("axon_call_set_size", self._call.value, size.encode(), int(named.pop(size)))
        leaves = {}
        for name, value in named.items():
            _flatten(value, name, leaves)
        for index, (path, kind, elem, shape, _) in enumerate(self._inputs):
            if kind != _WEIGHT and path in leaves:
                self._set(index, path, kind, elem, len(shape), leaves.pop(path))
        if leaves:
            raise Error(f"`{self.name}` has no input " + ", ".join(f"`{path}`" for path in leaves))
        _checked("axon_call_run", self._call.value)
        return _nest({port[0]: self._result(index, port) for index, port in enumerate(self._results)})

    def _set(self, index, path, kind, elem, rank, value):
        if rank == 0 and not isinstance(value, np.ndarray) and kind != _STATE:
            if isinstance(value, (bool, int, np.integer, np.bool_)):
                _checked("axon_call_set_int_at", self._call.value, index, int(value))
            else:
                _checked("axon_call_set_float_at", self._call.value, index, float(value))
            self._given[index] = value
            return
        dtype = _ELEMS[elem] or _BITS_OF[elem]
        if kind == _STATE:  # updated in place: nothing may be converted behind the caller's back
            if not isinstance(value, np.ndarray) or not value.flags.c_contiguous or not value.flags.writeable:
                raise Error(f"`{path}` is updated in place and must be a writable, contiguous NumPy array")
            array = value
        elif isinstance(value, np.ndarray):
            array = np.ascontiguousarray(value).reshape(value.shape)
        else:
            array = np.array(value, dtype)
        view = _view_of(array, elem if array.dtype == np.dtype(dtype) else None)
        _checked("axon_call_set_at", self._call.value, index, byref(view))
        self._given[index] = array

    def _result(self, index, port):
        state = port[4]
        if state >= 0:
            return self._given[state]
        view = _View()
        _checked("axon_call_result", self._call.value, index, byref(view))
        out = _array_of(view).copy()
        return out[()] if out.ndim == 0 else out


class _Entries:
    """Entries as attributes; one call object each, made at first use."""

    def __init__(self, bundle, handles, parameters, runtime):
        self._bundle, self._handles, self._parameters, self._runtime = bundle, handles, parameters, runtime
        self._entries = {}

    @property
    def entries(self):
        return list(self._handles)

    def __getattr__(self, name):
        handles = self.__dict__.get("_handles", {})
        if name not in handles:
            known = ", ".join(f"`{entry}`" for entry in handles) or "none"
            raise AttributeError(f"no entry `{name}`; there is {known}")
        if name not in self._entries:
            self._entries[name] = Entry(name, self._bundle, handles[name], self._parameters, self._runtime)
        return self._entries[name]

    def __dir__(self):
        return list(super().__dir__()) + self.entries


class Parameters(_Entries):
    """A bundle with its weights bound."""


class Bundle(_Entries):
    """A loaded bundle. Entries without weights can be called directly, the others after bind()."""

    def __init__(self, path, runtime):
        bundle = _create("axon_bundle_destroy", "axon_open", os.fsencode(path))
        handles = {}
        for i in range(_library.axon_bundle_entry_count(bundle.value)):
            handle = _library.axon_bundle_entry(bundle.value, i)
            handles[_library.axon_entry_name(handle).decode()] = handle
        super().__init__(bundle, handles, None, runtime)

    @property
    def level(self):
        return _library.axon_bundle_level(self._bundle.value).decode()

    def bind(self, *sources, map=None):
        """Binds weight files, or one (nested) dict of arrays; `map` is the text of a binding map."""
        text = map.encode() if map is not None else None
        if len(sources) == 1 and isinstance(sources[0], dict):
            leaves = {}
            _flatten(sources[0], "", leaves)
            views = [_view_of(np.ascontiguousarray(array).reshape(np.shape(array)))
                     for array in leaves.values()]
            names = (c_char_p * max(len(leaves), 1))(*(path.encode() for path in leaves))
            arrays = (_View * max(len(views), 1))(*views)
            parameters = _create("axon_parameters_destroy", "axon_bind_arrays", self._bundle.value, names,
                                 arrays, len(leaves), text)
        else:
            paths = (c_char_p * max(len(sources), 1))(*(os.fsencode(path) for path in sources))
            parameters = _create("axon_parameters_destroy", "axon_bind", self._bundle.value, paths,
                                 len(sources), text)
        return Parameters(self._bundle, self._handles, parameters, self._runtime)


def load(path, workers=0):
    """Opens a bundle. `workers` as for workers()."""
    return Bundle(path, globals()["workers"](workers))
