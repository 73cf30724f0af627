"""Axon bundles from Python: NumPy arrays in and out, over the C interface, in one file.

    import axon
    model = axon.load("llama.axb")
    weights = model.bind("llama.safetensors")
    logits, cache = weights.decode(cache={"k": k, "v": v}, token=1, pos=0)

    axon.load("pairs.axb").distances(x=points)          # an entry without weights

What a program marks `weights` is bound once. All other parameters of an entry are given at every call, by name
or in order; a record is a dict, a tuple a tuple. A tensor is one of

    a NumPy array      of exactly the parameter's element type: float32 for f32, bool for bool
    axon.Bits          of bf16, f8e4m3 or f8e5m2, which NumPy lacks: axon.Bits(array of uint16 or uint8, "bf16")
    a number or list   integers for integers, True and False for bool, integers and floats for floats. It has to
                       fit: a float is rounded to the parameter's type, and what is too large for it is an error.

Where the program states how a parameter lies, `x : f32[m, n] @ S[(m, n) : (1, m)]`, an array goes in as it is, without
a copy, and has to lie so: its strides are held against those that are stated (E0827). A list is brought there. Other
arrays that are not contiguous are copied, where they are not states. A result lies as the program states.

A state (`*` in the program) is updated in place and handed back: the same array comes out that went in. A result that
the program computes anew, `state + x` and not `state with [:] = state + x`, is no update, and the state stays as it
was. Results other than states are copies. Whatever fails raises axon.Error with the library's message.

Threads may call one model at the same time: no call sees another's arguments or results, and those that need
several workers take turns. After a fork (os.fork, multiprocessing) the child may go on calling.

The library is found through AXON_LIBRARY, beside this file, in build/lib of the source tree, or by the system's
loader.
"""
import contextlib
import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p

import numpy as np

__all__ = ["load", "Error", "Bits", "Bundle", "Parameters", "Entry", "workers"]

# Fraction bits, the least exponent and the largest number of the types that numbers are rounded to.
_FORMATS = {"f32": (23, -126, float.fromhex("0x1.fffffep127")), "f16": (10, -14, 65504.0),
            "bf16": (7, -126, float.fromhex("0x1.fep127")), "f8e4m3": (3, -6, 448.0), "f8e5m2": (2, -14, 57344.0)}
_LACKING = ("bf16", "f8e4m3", "f8e5m2")  # by NumPy: arrays of these hold their bits
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
    "axon_elem_name": (c_char_p, [c_int]),
    "axon_elem_bytes": (c_size_t, [c_int]),
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
    "axon_entry_input_strides": (c_int, [c_void_p, c_size_t, POINTER(POINTER(c_char_p)), c_void_p]),
    "axon_entry_result_strides": (c_int, [c_void_p, c_size_t, POINTER(POINTER(c_char_p)), c_void_p]),
    "axon_entry_size_count": (c_size_t, [c_void_p]),
    "axon_entry_size": (c_int, [c_void_p, c_size_t, POINTER(c_char_p), POINTER(c_int), c_void_p]),
    "axon_bind_each": (c_int, [c_void_p, POINTER(c_char_p), POINTER(c_char_p), c_size_t, c_char_p,
                               POINTER(c_void_p), c_void_p]),
    "axon_bind_arrays": (c_int, [c_void_p, POINTER(c_char_p), POINTER(_View), c_size_t, c_char_p,
                                 POINTER(c_void_p), c_void_p]),
    "axon_parameters_destroy": (None, [c_void_p]),
    "axon_runtime_create": (c_int, [c_uint32, POINTER(c_void_p), c_void_p]),
    "axon_runtime_destroy": (None, [c_void_p]),
    "axon_call_create": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p, POINTER(c_void_p), c_void_p]),
    "axon_call_destroy": (None, [c_void_p]),
    "axon_call_set_size": (c_int, [c_void_p, c_char_p, c_int64, c_void_p]),
    "axon_call_set_at": (c_int, [c_void_p, c_size_t, POINTER(_View), c_void_p]),
    "axon_call_set_strided_at": (c_int, [c_void_p, c_size_t, POINTER(_View), POINTER(c_int64), c_void_p]),
    "axon_call_set_copy_at": (c_int, [c_void_p, c_size_t, POINTER(_View), POINTER(c_int64), c_void_p]),
    "axon_call_clear": (c_int, [c_void_p, c_void_p]),
    "axon_call_run": (c_int, [c_void_p, c_void_p]),
    "axon_call_result": (c_int, [c_void_p, c_size_t, POINTER(_View), c_void_p]),
    "axon_call_result_strides": (c_int, [c_void_p, c_size_t, POINTER(c_int64), c_void_p]),
}


def _open_library():
    library = ctypes.CDLL(_find_library())
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _open_library()


def _elements():
    """The names of the library's element types, by number, and NumPy's type of each."""
    names, types = [], {}
    while name := _library.axon_elem_name(len(names)):
        name, size = name.decode(), _library.axon_elem_bytes(len(names))
        letter = "u" if name in _LACKING else name[0]  # bits; else f, i or u
        types[name] = np.dtype("bool" if name == "bool" else f"{letter}{size}")
        names.append(name)
    return names, types


_NAMES, _DTYPES = _elements()
_ELEM_OF = {dtype: name for name, dtype in _DTYPES.items() if name not in _LACKING}


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


def _text(what, value):
    """The bytes of a name, which the library would take to end at a NUL."""
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise Error(f"{what} {value!r} has a NUL in it", "E0801")
    return encoded


_runtimes = {}


def workers(count=0):
    """The shared pool of so many workers; 0: the allowed CPUs, each run using as many as pay off."""
    if isinstance(count, _BOOLS) or not isinstance(count, _INTEGERS) or not 0 <= int(count) < 2**32:
        raise Error(f"a number of workers is an integer from 0 on, not {_shown(count)}", "E0801")
    count = int(count)
    if count not in _runtimes:
        _runtimes.setdefault(count, _create("axon_runtime_destroy", "axon_runtime_create", count))
    return _runtimes[count]


class Bits:
    """A tensor of an element type that NumPy lacks: `array` has its bits, uint16 or uint8, `elem` is "bf16",
    "f8e4m3" or "f8e5m2"."""

    def __init__(self, array, elem):
        if elem not in _LACKING:
            raise Error(f"bits are of bf16, f8e4m3 or f8e5m2, not of {elem}")
        if not isinstance(array, np.ndarray) or array.dtype != _DTYPES[elem]:
            raise Error(f"the bits of {elem} are a NumPy array of {_DTYPES[elem]}")
        _refuse_masked("the array", array)
        self.array, self.elem = array, elem

    @classmethod
    def of(cls, numbers, elem):
        """Numbers, lists of them or an array of floats, rounded to the type; what is too large is an error."""
        if isinstance(numbers, np.ndarray):
            if numbers.dtype.kind != "f":
                raise Error(f"an array of {numbers.dtype} has no floats")
            _refuse_masked("the array", numbers)
            return cls(_encoded("the array", numbers, elem), elem)
        return cls(_from_numbers("the list", elem, numbers), elem)

    @property
    def shape(self):
        return self.array.shape

    def floats(self):
        """The numbers, as an array of float32."""
        return _floats_of(self.array.ravel(), self.elem).reshape(self.shape)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("the numbers of bits are always a copy")
        return self.floats() if dtype is None else self.floats().astype(dtype)

    def __repr__(self):
        return f"axon.Bits({self.array!r}, {self.elem!r})"


def _rounded(what, values, elem):
    """Float64 numbers, rounded once, to nearest and ties to even, to numbers of the type."""
    if elem == "f64":
        return values
    fraction, least, largest = _FORMATS[elem]
    finite = np.where(np.isfinite(values), values, 0.0)
    step = np.ldexp(1.0, np.maximum(np.frexp(finite)[1] - 1, least) - fraction)
    rounded = np.rint(finite / step) * step
    wrong = np.abs(rounded) > largest
    if elem == "f8e4m3":
        wrong = wrong | np.isinf(values)  # it has none
    if wrong.any():
        raise Error(f"{what} is {elem}, which cannot hold {values[wrong].flat[0]}", "E0822")
    return np.where(np.isfinite(values), rounded, values)


def _encoded(what, values, elem):
    """An array of the type from floats that float64 holds; of narrow types, their bits."""
    with np.errstate(invalid="ignore"):  # which signalling NaNs are
        return _bits_of(np.asarray(_rounded(what, np.asarray(values, np.float64), elem)), elem)


def _bits_of(rounded, elem):
    """The array that holds these numbers of the type."""
    if elem == "bf16":
        return np.asarray(rounded.astype(np.float32).view(np.uint32) >> 16, np.uint16)
    if elem == "f8e5m2":
        return np.asarray(rounded.astype(np.float16).view(np.uint16) >> 8, np.uint8)
    if elem == "f8e4m3":  # a f16 of another scale has the same bits at another place
        bits = (rounded / 256).astype(np.float16).view(np.uint16)
        return np.asarray(np.where(np.isnan(rounded), 0x7f, bits >> 8 & 0x80 | bits >> 7 & 0x7f), np.uint8)
    return rounded.astype(_DTYPES[elem])


def _floats_of(bits, elem):
    """The numbers, as float32, of an array of one axis that holds bits of the type. (NumPy makes numbers of other
    types of what has no axis.)"""
    if elem == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    wide = bits.astype(np.uint16)
    if elem == "f8e5m2":
        return (wide << 8).view(np.float16).astype(np.float32)
    scaled = ((wide & 0x80) << 8 | (wide & 0x7f) << 7).view(np.float16).astype(np.float32) * np.float32(256)
    return np.where(wide & 0x7f == 0x7f, np.float32(np.nan), scaled)


def _double(value):
    """A float64 that rounds to any narrower float as the number does: of a long integer the first bits, and
    whether any of the others is set."""
    if isinstance(value, (float, np.floating)):
        return float(value)
    value = int(value)
    dropped = abs(value).bit_length() - 52
    if dropped <= 1:
        return float(value)
    if dropped > 1024:
        return None
    kept = abs(value) >> dropped << 1 | (abs(value) & (1 << dropped) - 1 != 0)
    return float(-kept if value < 0 else kept) * 2.0 ** (dropped - 1)


def _shown(number):
    """Python refuses to write very long integers out."""
    long = isinstance(number, int) and number.bit_length() > 1024
    return f"an integer of {number.bit_length()} bits" if long else number


_BOOLS, _INTEGERS, _FLOATS = (bool, np.bool_), (int, np.integer), (float, np.floating)


def _misfit(what, elem, value):
    """Why the number cannot be of the type; "" where it can, as far as is decided without rounding."""
    if isinstance(value, list):
        return f"{what} is a list, beside others that are not, or have another length"
    is_bool = isinstance(value, _BOOLS)
    if not is_bool and not isinstance(value, _INTEGERS + _FLOATS):
        return f"{what} is {elem}, and {value!r} is no number"
    if elem == "bool" or is_bool:
        return "" if elem == "bool" and is_bool else f"{what} is {elem}, and {value} is " + (
            "True or False" if is_bool else "neither True nor False")
    if _DTYPES[elem].kind == "f" or elem in _FORMATS:
        return ""
    if isinstance(value, _FLOATS):
        return f"{what} is {elem}, and {value} is a float"
    limits = np.iinfo(_DTYPES[elem])
    return "" if limits.min <= int(value) <= limits.max else f"{what} is {elem}, which cannot hold {_shown(value)}"


def _from_numbers(what, elem, value):
    """A number, or lists of them, as an array of the type; of narrow types, their bits."""
    items = np.empty((), object)
    items[()] = value
    if isinstance(value, list):
        try:
            items = np.array(value, object)
        except ValueError:
            raise Error(f"{what} is uneven: the parts of the list differ in shape", "E0823") from None
    for at, item in np.ndenumerate(items):
        place = "".join(f"[{i}]" for i in at)
        misfit = _misfit(f"element {place} of {what}" if place else what, elem, item)
        if misfit:
            raise Error(misfit, "E0822")
    if elem not in _FORMATS and elem != "f64":
        return items.astype(_DTYPES[elem])
    doubles = np.empty(items.shape, np.float64)
    for at, item in np.ndenumerate(items):
        try:
            number = float(item) if elem == "f64" else _double(item)
        except OverflowError:
            number = None
        if number is None:
            raise Error(f"{what} is {elem}, which cannot hold {_shown(item)}", "E0822")
        doubles[at] = number
    return _encoded(what, doubles, elem)


def _size(name, value):
    number = _from_numbers(f"size `{name}`", "i64", value)
    if number.ndim:
        raise Error(f"size `{name}` is a number, not a list", "E0822")
    return int(number)


def _refuse_masked(what, array):
    if isinstance(array, np.ma.MaskedArray):
        raise Error(f"{what} is a masked array, which is two tensors: give its data and its mask", "E0822")


def _bare(what, value):
    """The array and the element type of a NumPy array or of bits."""
    if isinstance(value, Bits):
        return value.array, value.elem
    _refuse_masked(what, value)
    if value.dtype not in _ELEM_OF:
        hint = "; the bits of bf16 are given as axon.Bits" if value.dtype == np.uint16 else ""
        raise Error(f"{what} is an array of {value.dtype}, which is no element type here{hint}", "E0822")
    return value, _ELEM_OF[value.dtype]


def _view_of(array, elem):
    shape = (c_int64 * max(array.ndim, 1))(*array.shape)
    view = _View(array.ctypes.data, _NAMES.index(elem), array.ndim, shape)
    view.owner = (array, shape)  # alive as long as the view
    return view


def _array_of(view, steps):
    """A NumPy array over the view's memory, which belongs to somebody else; steps in elements, none negative."""
    shape = tuple(view.shape[i] for i in range(view.rank))
    dtype = _DTYPES[_NAMES[view.elem]]
    if 0 in shape:
        return np.empty(shape, dtype)
    count = 1 + sum((extent - 1) * step for extent, step in zip(shape, steps))
    memory = np.frombuffer((ctypes.c_char * (count * dtype.itemsize)).from_address(view.data), dtype)
    return np.lib.stride_tricks.as_strided(memory, shape, [step * dtype.itemsize for step in steps])


def _steps_of(what, array):
    """The strides in elements."""
    if any(extent > 1 and step % array.itemsize for extent, step in zip(array.shape, array.strides)):
        raise Error(f"the strides of {what} are no multiples of its elements", "E0827")
    return (c_int64 * max(array.ndim, 1))(*(step // array.itemsize for step in array.strides))


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
        self.name, self._bundle, self._parameters, self._runtime = name, bundle, parameters, runtime
        self._inputs = self._ports(handle, "input")
        self._results = self._ports(handle, "result")
        self._sizes = self._size_parameters(handle)
        given = [port for port in self._inputs if port[1] != _WEIGHT]
        self._names = list(dict.fromkeys(port[0].split(".")[0] for port in given))
        self._idle = [self._new_call()]  # cleared calls that no thread is using

    def _new_call(self):
        return _create("axon_call_destroy", "axon_call_create", self._bundle.value, self.name.encode(),
                       self._parameters.value if self._parameters else None, self._runtime.value)

    @contextlib.contextmanager
    def _borrowed_call(self):
        """A call for one thread. Nothing that was set outlives the block: the library only borrows it."""
        try:
            call = self._idle.pop()
        except IndexError:
            call = self._new_call()
        try:
            yield call.value
        finally:
            _checked("axon_call_clear", call.value)
            self._idle.append(call)

    @staticmethod
    def _ports(handle, what):
        out = []
        for i in range(getattr(_library, f"axon_entry_{what}_count")(handle)):
            port = _Port()
            _checked(f"axon_entry_{what}", handle, i, byref(port))
            shape = [port.shape[axis].decode() for axis in range(port.rank)]
            strides = POINTER(c_char_p)()
            _checked(f"axon_entry_{what}_strides", handle, i, byref(strides))
            out.append((port.path.decode(), port.kind, _NAMES[port.elem], shape, port.state, bool(strides)))
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
            return f"{path} : {elem}" + (f"[{', '.join(shape)}]" if shape else "")
        inputs = ", ".join(one(path, elem, shape) for path, kind, elem, shape, *_ in self._inputs
                           if kind != _WEIGHT)
        results = ", ".join(one(path or "result", elem, shape) for path, _, elem, shape, *_ in self._results)
        return f"<axon entry {self.name}({inputs}) = {results}>"

    def __call__(self, /, *arguments, **named):
        sizes, leaves = self._arguments(arguments, named)
        tensors = self._tensors(leaves)
        with self._borrowed_call() as call:
            self._give(call, sizes, tensors, leaves)
            _checked("axon_call_run", call)
            results = [self._result(call, index, port, leaves) for index, port in enumerate(self._results)]
        return _nest({port[0]: result for port, result in zip(self._results, results)})

    def _arguments(self, arguments, named):
        """The sizes and the leaves of all arguments, by name and path."""
        if len(arguments) > len(self._names):
            raise Error(f"`{self.name}` takes {len(self._names)} arguments, {len(arguments)} were given")
        for name, value in zip(self._names, arguments):
            if name in named:
                raise Error(f"`{name}` was given twice")
            named[name] = value
        sizes = {name: _size(name, named.pop(name)) for name in self._sizes if name in named}
        leaves = {}
        for name, value in named.items():
            _flatten(value, name, leaves)
        inputs = [path for path, kind, *_ in self._inputs if kind != _WEIGHT]
        for path in leaves:
            if path not in inputs:
                raise Error(self._unknown(path, inputs), "E0801")
        return sizes, leaves

    def _unknown(self, path, inputs):
        fields = [known[len(path) + 1:] for known in inputs if known.startswith(path + ".")]
        if fields:
            kind = "tuple" if fields[0].split(".")[0].isdigit() else "dict"
            return f"`{path}` of `{self.name}` has parts, and is given as a {kind} of them: {', '.join(fields)}"
        if any(port[0] == path or port[0].startswith(path + ".") for port in self._inputs):
            return f"`{path.partition('.')[0]}` of `{self.name}` holds weights, which bind() takes, not a call"
        whole = path.rpartition(".")[0]
        if whole in inputs:
            return f"`{whole}` of `{self.name}` is a tensor, which is given as an array, a number or a list"
        return f"`{self.name}` has no input `{path}`; it has " + (", ".join(f"`{it}`" for it in inputs) or "none")

    def _tensors(self, leaves):
        """By the input's number, the memory to hand to the library and its element type."""
        return {index: self._tensor(f"`{path}`", kind, elem, placed, leaves[path])
                for index, (path, kind, elem, _, _, placed) in enumerate(self._inputs)
                if kind != _WEIGHT and path in leaves}

    def _give(self, call, sizes, tensors, leaves):
        """Sets all arguments of a call, which borrows the tensors until it is cleared."""
        for name, value in sizes.items():
            _checked("axon_call_set_size", call, name.encode(), value)
        for index, (array, elem) in tensors.items():
            self._set(call, index, array, elem, leaves)

    def _set(self, call, index, array, elem, leaves):
        path, *_, placed = self._inputs[index]
        view = byref(_view_of(array, elem))
        if not placed:
            _checked("axon_call_set_at", call, index, view)
        elif isinstance(leaves[path], (np.ndarray, Bits)):
            _checked("axon_call_set_strided_at", call, index, view, _steps_of(f"`{path}`", array))
        else:
            _checked("axon_call_set_copy_at", call, index, view, None)

    @staticmethod
    def _tensor(what, kind, elem, placed, value):
        """The memory to hand to the library, and what type it has."""
        if isinstance(value, (np.ndarray, Bits)):
            array, given = _bare(what, value)
            if placed and (kind != _STATE or array.flags.writeable):
                return array, given
            if kind != _STATE:
                return np.require(array, requirements="CA"), given
            if array.flags.c_contiguous and array.flags.writeable:
                return array, given
        elif kind != _STATE:
            return _from_numbers(what, elem, value), elem
        # Nothing may be converted or copied behind the caller's back.
        raise Error(f"{what} is updated in place and must be a writable, contiguous NumPy array"
                    + (", in axon.Bits" if elem in _LACKING else ""), "E0826")

    def _result(self, call, index, port, leaves):
        state, elem, rank = port[4], port[2], len(port[3])
        if state >= 0:
            return leaves[self._inputs[state][0]]
        view, steps = _View(), (c_int64 * max(rank, 1))()
        _checked("axon_call_result", call, index, byref(view))
        _checked("axon_call_result_strides", call, index, steps)
        out = _array_of(view, list(steps)[:rank]).copy(order="K")
        if elem not in _ELEM_OF.values():
            return Bits(out, elem)
        return out[()] if out.ndim == 0 else out


class _Entries:
    """Entries as attributes, made at first use."""

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
            entry = Entry(name, self._bundle, handles[name], self._parameters, self._runtime)
            self._entries.setdefault(name, entry)  # unless another thread was first
        return self._entries[name]

    def __dir__(self):
        return list(super().__dir__()) + self.entries


class Parameters(_Entries):
    """A bundle with its weights bound."""


class Bundle(_Entries):
    """A loaded bundle. Entries without weights can be called directly, the others after bind()."""

    def __init__(self, path, runtime):
        bundle = _create("axon_bundle_destroy", "axon_open", _text("the path", path))
        handles = {}
        for i in range(_library.axon_bundle_entry_count(bundle.value)):
            handle = _library.axon_bundle_entry(bundle.value, i)
            handles[_library.axon_entry_name(handle).decode()] = handle
        super().__init__(bundle, handles, None, runtime)

    @property
    def level(self):
        return _library.axon_bundle_level(self._bundle.value).decode()

    def bind(self, /, *sources, map=None, **parameters):
        """Binds what the program marks `weights`: from files; from a file for each parameter, by name; or from
        (nested) dicts of arrays, all in one or by parameter. `map` is the text of a binding map."""
        text = _text("the map", map) if map is not None else None
        given = [(None, source) for source in sources] + list(parameters.items())
        files = [isinstance(source, (str, bytes, os.PathLike)) for _, source in given]
        if given and not any(files):
            parameters = self._bind_arrays(given, text)
        elif all(files):
            names = (c_char_p * max(len(given), 1))(*(name and _text("the name", name) for name, _ in given))
            paths = (c_char_p * max(len(given), 1))(*(_text("the path", path) for _, path in given))
            parameters = _create("axon_parameters_destroy", "axon_bind_each", self._bundle.value, names, paths,
                                 len(given), text)
        else:
            raise Error("weights are bound from files or from arrays, not from both")
        return Parameters(self._bundle, self._handles, parameters, self._runtime)

    def _bind_arrays(self, given, text):
        leaves = {}
        for name, source in given:
            if name is None and not isinstance(source, dict):
                raise Error("weights without a name are files, or a dict of arrays by name")
            _flatten(source, name or "", leaves)
        views = []
        for path, value in leaves.items():
            array, elem = _bare(f"`{path}`", value if isinstance(value, Bits) else np.asarray(value))
            views.append(_view_of(np.require(array, requirements="CA"), elem))
        names = (c_char_p * max(len(leaves), 1))(*(_text("the name", path) for path in leaves))
        arrays = (_View * max(len(views), 1))(*views)
        return _create("axon_parameters_destroy", "axon_bind_arrays", self._bundle.value, names, arrays,
                       len(leaves), text)


def load(path, workers=0):
    """Opens a bundle. `workers` as for workers()."""
    return Bundle(path, globals()["workers"](workers))
