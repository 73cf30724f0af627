"""Element types between NumPy and Axon: numbers rounded once, and the bits of types that NumPy lacks.

What comes in is a number, lists of numbers or an array; what goes out is an array of exactly the element type, or a
sentence for why there is none. A narrow type's array holds its bits.
"""
import sys

import numpy as np

from . import _native
from ._error import Error

# Fraction bits, the least exponent and the largest number of the types that numbers are rounded to.
_FORMATS = {"f32": (23, -126, float.fromhex("0x1.fffffep127")), "f16": (10, -14, 65504.0),
            "bf16": (7, -126, float.fromhex("0x1.fep127")), "f8e4m3": (3, -6, 448.0), "f8e5m2": (2, -14, 57344.0)}
LACKING = ("bf16", "f8e4m3", "f8e5m2")  # by NumPy: arrays of these hold their bits
MAX_RANK = 16  # axes of a tensor
BOOLS, INTEGERS, FLOATS = (bool, np.bool_), (int, np.integer), (float, np.floating)


def _elements():
    """The names of the library's element types, by number, and NumPy's type of each."""
    names, types = [], {}
    for name, size in _native.elements():
        letter = "u" if name in LACKING else name[0]  # bits; else f, i or u
        types[name] = np.dtype("bool" if name == "bool" else f"{letter}{size}")
        names.append(name)
    return names, types


NAMES, DTYPES = _elements()
ELEM_OF = {dtype: name for name, dtype in DTYPES.items() if name not in LACKING}


def shown(value):
    """For people: a number as it is written, of all else the kind. Python refuses to write very long integers out."""
    if value is None or isinstance(value, BOOLS + FLOATS):
        return str(value)
    if isinstance(value, INTEGERS):
        bits = int(value).bit_length()
        return f"an integer of {bits} bits" if bits > 1024 else str(value)
    names = {dict: "a dict", list: "a list", tuple: "a tuple", np.ndarray: "an array", str: "a text"}
    return names.get(type(value), f"an object of {type(value).__name__}")


def refuse_masked(what, array):
    """Raises where the array is one."""
    if isinstance(array, np.ma.MaskedArray):
        raise Error(f"{what} is a masked array, which is two tensors: give its data and its mask", "E0822")


class Bits:
    """A tensor of an element type that NumPy lacks: `array` has its bits, uint16 or uint8, `elem` is "bf16",
    "f8e4m3" or "f8e5m2"."""

    def __init__(self, array, elem):
        self._check(elem)
        if not isinstance(array, np.ndarray) or array.dtype != DTYPES[elem]:
            raise Error(f"the bits of {elem} are a NumPy array of {DTYPES[elem]}, not "
                        + (f"of {array.dtype}" if isinstance(array, np.ndarray) else shown(array)), "E0822")
        refuse_masked("the array", array)
        self.array, self.elem = array, elem

    @staticmethod
    def _check(elem):
        if elem not in LACKING:
            raise Error(f"bits are of bf16, f8e4m3 or f8e5m2, not of {elem if isinstance(elem, str) else shown(elem)}",
                        "E0822")

    @classmethod
    def of(cls, numbers, elem):
        """Numbers, lists of them or an array of floats, rounded to the type; what is too large is an error."""
        cls._check(elem)
        if isinstance(numbers, np.ndarray):
            if numbers.dtype.kind != "f":
                raise Error(f"an array of {numbers.dtype} has no floats", "E0822")
            refuse_masked("the array", numbers)
            return cls(_encoded("the array", numbers, elem), elem)
        return cls(from_numbers("the list", elem, numbers), elem)

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

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """The memory of the bits, as numbers of their type."""
        if stream is not None or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("bits lie in the memory of the CPU, which has no streams")
        array = self.array.copy() if copy else self.array
        versioned = max_version is not None and max_version[0] >= 1
        if not versioned and not array.flags.writeable:
            raise BufferError("only versions of DLPack from 1.0 on can say that bits are read-only")
        return _native.export_dlpack(array, NAMES.index(self.elem), versioned)

    def __dlpack_device__(self):
        return 1, 0  # the CPU

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
    return rounded.astype(DTYPES[elem])


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


def _misfit(what, elem, value):
    """Why the number cannot be of the type; "" where it can, as far as is decided without rounding."""
    if isinstance(value, list):
        return f"{what} is a list, beside others that are not, or have another length"
    is_bool = isinstance(value, BOOLS)
    if not is_bool and not isinstance(value, INTEGERS + FLOATS):
        said = repr(value) if isinstance(value, str) and len(value) <= 40 else shown(value)
        return f"{what} is {elem}, and {said} is no number"
    if elem == "bool" or is_bool:
        return "" if elem == "bool" and is_bool else f"{what} is {elem}, and {value} is " + (
            "True or False" if is_bool else "neither True nor False")
    if DTYPES[elem].kind == "f" or elem in _FORMATS:
        return ""
    if isinstance(value, FLOATS):
        return f"{what} is {elem}, and {value} is a float"
    limits = np.iinfo(DTYPES[elem])
    return "" if limits.min <= int(value) <= limits.max else f"{what} is {elem}, which cannot hold {shown(value)}"


def _kinds(what, value, found, left=MAX_RANK):
    """The types of what is in nested lists, added to a set. A list may hold itself."""
    types = set(map(type, value))
    if list in types:
        if left <= 1:
            raise Error(f"{what} has more than {MAX_RANK} lists in each other, and a tensor has at most {MAX_RANK} axes",
                        "E0822")
        types.discard(list)
        for item in value:
            if type(item) is list:  # pylint: disable=unidiomatic-typecheck
                _kinds(what, item, found, left - 1)
    found |= types
    return found


def _plain_numbers(what, elem, value):
    """What from_numbers() makes of lists of Python's own numbers that are plainly in range; None of all others, at which
    it looks one by one."""
    accepted, read, least, most = _PLAIN[elem]
    kinds = set(map(type, value))
    is_flat = list not in kinds
    if not is_flat:
        kinds = _kinds(what, value, set())
    if not kinds <= accepted:
        return None
    try:
        numbers = np.array(value, read)
    except (ValueError, OverflowError):
        return None
    if numbers.size and elem != "bool":
        if float in accepted and int in kinds:  # an integer that float64 does not hold would be rounded twice
            least, most = max(least, -2.0**53), min(most, 2.0**53)
        low, high = (min(value), max(value)) if is_flat else (numbers.min(), numbers.max())
        if not (low >= least and high <= most):  # or the first is no number
            return None
    return _encoded(what, numbers, elem) if elem in LACKING else numbers.astype(DTYPES[elem], copy=False)


def _plain(elem):
    """What is plain of a type: the types of Python, that of NumPy which reads them, and the numbers in between which
    nothing has to be looked at."""
    if elem == "bool":
        return {bool}, np.dtype(bool), 0, 1
    if DTYPES[elem].kind != "f" and elem not in LACKING:
        limits = np.iinfo(DTYPES[elem])
        return {int}, np.dtype(np.int64), int(limits.min), int(limits.max)
    largest = _FORMATS[elem][2] if elem != "f64" else sys.float_info.max
    return {int, float}, np.dtype(np.float64), -largest, largest


_PLAIN = {elem: _plain(elem) for elem in NAMES}


def from_numbers(what, elem, value):
    """A number, or lists of them, as an array of the type; of narrow types, their bits."""
    plain = _plain_numbers(what, elem, value) if isinstance(value, list) else None
    if plain is not None:
        return plain
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
        return items.astype(DTYPES[elem])
    doubles = np.empty(items.shape, np.float64)
    for at, item in np.ndenumerate(items):
        try:
            number = float(item) if elem == "f64" else _double(item)
        except OverflowError:
            number = None
        if number is None:
            raise Error(f"{what} is {elem}, which cannot hold {shown(item)}", "E0822")
        doubles[at] = number
    return _encoded(what, doubles, elem)
