"""Stub files: a model's entries with their types, for editors and type checkers."""
import keyword

from ._entry import Entry, python_name
from ._error import Error
from ._model import Bundle, Parameters

_HEAD = """# The entries of {what}, as `python3 -m axon stub` writes them.
from typing import Any, Protocol, Sequence, TypedDict, Union

import axon
import numpy as np
from numpy.typing import NDArray


class SupportsDLPack(Protocol):
    def __dlpack__(self) -> Any: ...

"""
_DTYPES = {"bool": "bool_", "f64": "float64", "f32": "float32", "f16": "float16", "i64": "int64", "i32": "int32",
           "i16": "int16", "i8": "int8", "u8": "uint8", "u32": "uint32"}


class _Writer:
    """The text of a stub: records become classes, which stand before the protocol that uses them."""

    def __init__(self, entries):
        self.classes, self.taken = [], {f"Entry_{name}" for name in entries}

    def tensor(self, port, result):
        """The Python type of a leaf; what is given may be more than what comes back."""
        dtype = _DTYPES.get(port.elem)
        array = f"NDArray[np.{dtype}]" if dtype else "axon.Bits"
        if result:
            return array if port.rank or not dtype else f"np.{dtype}"
        if port.is_state:
            return f"Union[{array}, axon.State]"
        number = "bool" if port.elem == "bool" else "int" if port.elem[0] in "iu" else "float"
        return f"Union[{array}, {'Sequence[Any]' if port.rank else number}, SupportsDLPack]"

    def typed(self, form, ports, name, result=False):
        if isinstance(form, int):
            return self.tensor(ports[form], result)
        if isinstance(form, tuple):
            parts = [self.typed(part, ports, f"{name}_{i}", result) for i, part in enumerate(form)]
            of = f"tuple[{', '.join(parts) or '()'}]"
        else:
            parts = [(field, self.typed(part, ports, f"{name}_{field}", result)) for field, part in form.items()]
            name = python_name(name, self.taken)
            self.taken.add(name)
            fields = ", ".join(f'"{field}": {part}' for field, part in parts)
            self.classes.append(f'{name} = TypedDict("{name}", {{{fields}}})\n')
            of = name
        return of if result else f"Union[{of}, Sequence[Any], axon.State, Any]"

    def entry(self, entry):
        known, out = entry._description, []
        for name in known.forms:
            of = self.typed(known.forms[name], known.given, f"Part_{entry.name}_{name}")
            out.append(f"{known.python_names[name]}: {of}")
        if known.sizes:
            out.append("*")
        for name in known.sizes:
            default = entry.__signature__.parameters[known.python_names[name]].default
            out.append(f"{known.python_names[name]}: int" + (" = ..." if isinstance(default, int) else ""))
        result = self.typed(known.plain_result, known.results, f"Part_{entry.name}_result", result=True)
        lines = [f"class Entry_{entry.name}(Protocol):",
                 f"    def __call__({', '.join([python_name('self', known.python_names.values())] + out)}) -> {result}:"]
        doc = (entry.__doc__ or "").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\n        ")
        lines += [f'        """{doc}"""', "        ...", "", "    def state(self, parameter: str = ..., /, **sizes: int) "
                  "-> axon.State: ...", ""]
        return "\n".join(lines)


def stub(model, name="Model"):
    """The text of a .pyi file: a class `name` with the model's entries, their documentation and types, as
    `python3 -m axon stub model.axb` prints it."""
    if not isinstance(model, (Bundle, Parameters)):
        raise Error(f"a stub is of what axon.load(), axon.compile() or bind() returned, not of {model!r}", "E0801")
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise Error(f"{name!r} is no name of a class", "E0801")
    writer, entries, fields = _Writer(model.entries), [], []
    for one in model.entries:
        entry = model[one]
        assert isinstance(entry, Entry)
        entries.append(writer.entry(entry))
        hidden = getattr(model, one, None) is not entry or keyword.iskeyword(one) or one.startswith("__")
        fields.append(f'    # model["{one}"]: Entry_{one}' if hidden else f"    {one}: Entry_{one}")
    text = _HEAD.format(what=model._source.what) + "".join(writer.classes)
    base = "axon.Parameters" if isinstance(model, Parameters) else "axon.Bundle"
    return text + "\n" + "\n".join(entries) + f"\nclass {name}({base}):\n" + "\n".join(fields or ["    ..."]) + "\n"
