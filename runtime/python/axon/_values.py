"""What Python's objects are to a program: tensors of arrays, of anything with DLPack and of lists; records of dicts,
dataclasses and named tuples; stacks of lists.

These are the ways that the extension leaves to Python: what it takes itself, a NumPy array that lies as it should, a
number, a dict of such, is never seen here.
"""
import collections.abc
import dataclasses

import numpy as np

from . import _native
from ._elements import (BOOLS, DTYPES, ELEM_OF, FLOATS, INTEGERS, LACKING, Bits, from_numbers, refuse_masked, shown)
from ._error import Error

Tensor = _native.Tensor


def of_dlpack(what, value):
    """The memory of an object with `__dlpack__`, without a copy."""
    device = getattr(value, "__dlpack_device__", None)
    try:
        kind = device()[0] if device else 1
        if kind not in (1, 3, 11):  # the CPU, and memory of it that a GPU reads, too
            raise Error(f"{what} lies on another device (DLPack's kind {int(kind)}): bring it to the CPU first", "E0822")
        try:
            return _native.import_dlpack(value.__dlpack__(max_version=(1, 0)))
        except TypeError:  # it is older than versions
            return _native.import_dlpack(value.__dlpack__())
    except Error as error:
        raise (error if what in str(error) else Error(f"{what}: {error}", error.code)) from None
    except (BufferError, RuntimeError, TypeError, ValueError, AttributeError, IndexError) as problem:
        if hasattr(value, "__array__"):  # such as bools of a PyTorch that has no DLPack of them
            try:
                return np.asarray(value)
            except Exception:  # pylint: disable=broad-except  # the first problem says more
                pass
        said = str(problem) or type(problem).__name__
        raise Error(f"{what} cannot be read through DLPack: {said}", "E0822") from problem


def is_array(value):
    return isinstance(value, (np.ndarray, Bits, Tensor)) or (
        hasattr(value, "__dlpack__") and not isinstance(value, np.generic))


def array_of(what, value):
    """A plain NumPy array over the memory of what is_array(), and the name of its element type."""
    if isinstance(value, Bits):
        whole = Bits(value.array, value.elem)  # whoever has it may have set these
        return np.asarray(whole.array), whole.elem
    if not isinstance(value, (np.ndarray, Tensor)):
        value = of_dlpack(what, value)
    if isinstance(value, Tensor):
        return np.asarray(value), value.elem
    refuse_masked(what, value)
    if value.dtype not in ELEM_OF:
        hint = "; the bits of bf16 are given as axon.Bits" if value.dtype == np.uint16 else ""
        raise Error(f"{what} is an array of {value.dtype}, which is no element type here{hint}", "E0822")
    return np.asarray(value), ELEM_OF[value.dtype]


def native(array, elem):
    """An array of the element type, as the extension takes it."""
    return Bits(array, elem) if elem in LACKING else array


def has_whole_steps(array):
    return all(extent <= 1 or step % array.itemsize == 0 for extent, step in zip(array.shape, array.strides))


def prepared(what, port, value):
    """What the extension takes for a parameter, or a part of one: an array, or a tuple with an array that is new and
    may be brought to where a layout says."""
    if is_array(value):
        array, elem = array_of(what, value)
        if port.placed and (not port.is_state or array.flags.writeable):
            if not has_whole_steps(array):
                raise Error(f"the strides of {what} are no multiples of its elements", "E0827")
            return native(array, elem)
        if not port.is_state:
            return native(np.require(array, requirements="CA"), elem)
        flags = array.flags
        if flags.c_contiguous and flags.writeable and flags.aligned:
            return native(array, elem)
        given = "read-only" if not flags.writeable else "not contiguous" if not flags.c_contiguous else "not aligned"
    elif not port.is_state:
        array, elem = stacked(what, port.elem, value) if isinstance(value, list) else (None, "")
        if array is None:
            array, elem = from_numbers(what, port.elem, value), port.elem
        return (native(array, elem),)
    else:
        given = shown(value)
    # Nothing may be converted or copied behind the caller's back.
    raise Error(f"{what} is updated in place and must be a writable, contiguous and aligned NumPy array"
                + (", in axon.Bits" if port.elem in LACKING else "") + f"; it is {given}", "E0826")


def stacked(what, elem, items):
    """A list of arrays of the element type as one array, and its type; (None, "") of other lists: what is in them is
    rounded number by number."""
    if not items or not all(map(is_array, items)):
        return None, ""
    parts = [array_of(f"element [{i}] of {what}", item) for i, item in enumerate(items)]
    if any(given != elem for _, given in parts):
        return None, ""
    shapes = {array.shape for array, _ in parts}
    if len(shapes) > 1:
        raise Error(f"{what} is uneven: the parts of the list differ in shape", "E0823")
    return np.stack([array for array, _ in parts]), elem


def as_record(value):
    """The parts of a dict, a dataclass or a named tuple by name; None of anything else."""
    if isinstance(value, collections.abc.Mapping):
        return dict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value))
    return None


def kind_of(value):
    """For people: what a value is that does not fit."""
    is_number = isinstance(value, INTEGERS + FLOATS) and not isinstance(value, BOOLS)
    return f"the number {shown(value)}" if is_number else shown(value)


def parts_of(what, form, value, in_state):
    """The dict or the tuple that the template `form` asks for, of a value that is not one yet. Lists of records are
    stacks of them: what comes out is a record of lists."""
    if isinstance(value, list):
        return _unstacked(what, form, value, in_state)
    record = as_record(value)
    if isinstance(form, dict):
        if record is not None:
            return record
        raise Error(f"{what} is a record, given as a dict or a dataclass with the fields {', '.join(form)}, not as "
                    f"{kind_of(value)}", "E0822")
    if isinstance(value, tuple):
        return tuple(value)
    raise Error(f"{what} is a tuple of {len(form)} parts, not {kind_of(value)}", "E0822")


def _unstacked(what, form, items, in_state):
    if in_state:
        raise Error(f"{what} is updated in place, and a list would be copied: give a stack as a record of stacked arrays",
                    "E0826")
    if not items:
        raise Error(f"{what} is an empty list, which does not say how its tensors look: give a record of stacked "
                    "arrays, such as numpy.zeros((0, 3), numpy.float32)", "E0823")
    if isinstance(form, tuple):
        rows = [_tuple_of(what, i, form, item) for i, item in enumerate(items)]
        return tuple([row[k] for row in rows] for k in range(len(form)))
    rows = [_record_of(what, i, form, item) for i, item in enumerate(items)]
    return {field: [row[field] for row in rows] for field in form}


def _tuple_of(what, i, form, item):
    """Element number i of a stack, as a tuple."""
    if isinstance(item, list):
        item = parts_of(f"element [{i}] of {what}", form, item, False)
    if not isinstance(item, tuple) or len(item) != len(form):
        raise Error(f"{what} is a tuple of {len(form)} parts, or a list of such tuples, and element [{i}] of the list is "
                    f"{kind_of(item)}" + (f" of {len(item)}" if isinstance(item, tuple) else ""), "E0822")
    return item


def _record_of(what, i, form, item):
    """Element number i of a stack, as a dict."""
    row = item if isinstance(item, dict) else parts_of(f"element [{i}] of {what}", form, item, False)
    if not isinstance(row, dict) or set(row) != set(form):
        found = f"{kind_of(row)} with {', '.join(map(str, row))}" if isinstance(row, dict) else kind_of(row)
        raise Error(f"element [{i}] of {what} has the fields {', '.join(form)}, and is given as {found}", "E0822")
    return row


def flatten(value, path, out, around=()):
    """Leaves of nested records, tuples and lists of records, by path: weights, of which no template is known. `around`
    are the values that this one is a part of."""
    what = f"`{path}`" if path else "the list"
    record = None if isinstance(value, (np.ndarray, Bits)) else as_record(value)
    if record is None and isinstance(value, tuple):
        record = dict(enumerate(value))
    if record is None and isinstance(value, list) and value and _is_structure(value[0]):
        form = as_record(value[0])
        record = _unstacked(what, form if form is not None else value[0], value, False)
        record = dict(enumerate(record)) if isinstance(record, tuple) else record
    if record is None:
        if path in out:
            raise Error(f"{what} is given twice", "E0801")
        out[path] = value
        return
    if id(value) in around:
        raise Error(f"{what} is a part of itself", "E0822")
    for key, item in record.items():
        flatten(item, f"{path}.{key}" if path else str(key), out, around + (id(value),))


def _is_structure(value):
    return isinstance(value, (dict, tuple)) or as_record(value) is not None


def weight_of(what, elem, value):
    """An array of weights, dense, as the extension takes it. Numbers and lists of them become `elem`, the weight's type;
    None: it is not known, and they are what NumPy makes of them."""
    if is_array(value):
        array, elem = array_of(what, value)
    elif not isinstance(value, (list,) + BOOLS + INTEGERS + FLOATS):
        raise Error(f"{what} is {shown(value)}, and weights are arrays, numbers and lists of them, in dicts, dataclasses and "
                    "named tuples", "E0822")
    else:
        array = stacked(what, elem, value)[0] if isinstance(value, list) else None
        if array is None and elem is None:
            array, elem = _guessed(what, value)
        elif array is None:
            array = from_numbers(what, elem, value)
    return native(np.require(array, requirements="CA"), elem)


def _guessed(what, value):
    """What NumPy makes of numbers or lists of them, and its element type."""
    try:
        return array_of(what, np.asarray(value))
    except (ValueError, OverflowError) as problem:
        raise Error(f"{what} is uneven or too large: {problem}", "E0823") from problem


def memory(elem, shape, strides):
    """Zeros of the element type that lie so; strides in elements, none negative."""
    if 0 in shape:
        return native(np.zeros(shape, DTYPES[elem]), elem)
    count = 1 + sum((extent - 1) * step for extent, step in zip(shape, strides))
    flat = np.zeros(count, DTYPES[elem])
    array = np.lib.stride_tricks.as_strided(flat, shape, [step * flat.itemsize for step in strides])
    return native(flat.reshape(shape) if array.flags.c_contiguous else array, elem)
