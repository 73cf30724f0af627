"""Entry: one entry of a program, which Python calls. The extension matches arguments and runs (native/caller.h); this
file knows the entry's ports, says what is wrong with arguments, and describes the entry for `help` and editors."""
import difflib
import inspect
import keyword

import numpy as np

from . import _native
from ._elements import NAMES, from_numbers
from ._error import Error
from ._state import State
from ._values import as_record, is_array, memory, native, parts_of, prepared

WEIGHT, ARGUMENT, STATE, SIZE = range(4)
_FROM_PARAMETER = 0


class Port:
    """An input or a result: `path` ("cache.k"; "" for a single result), `elem` ("f32"), `shape` (texts over the sizes),
    `rank`, `is_state`, `placed` (the program states how it lies), `state` (of a result: the number of the input that it
    is, updated in place, or -1), `input` (its number in the library)."""

    __slots__ = ("path", "kind", "elem", "shape", "state", "placed", "input")

    def __init__(self, number, row):
        self.path, self.kind, elem, self.shape, self.state, strides = row
        self.elem, self.placed, self.input = NAMES[elem], strides is not None, number

    @property
    def rank(self):
        return len(self.shape)

    @property
    def is_state(self):
        return self.kind == STATE

    def __repr__(self):
        return f"<{self.path or 'result'} : {'*' if self.is_state else ''}{self.type}>"

    @property
    def type(self):
        """As the language writes it, f32[m, n]."""
        return self.elem + (f"[{', '.join(self.shape)}]" if self.shape else "")


def form_of(leaves):
    """Paths, and what stands for each, as nested dicts, with tuples where all keys are numbers."""
    if list(leaves) == [""]:
        return leaves[""]
    groups = {}
    for path, value in leaves.items():
        head, _, rest = path.partition(".")
        groups.setdefault(head, {})[rest] = value
    nested = {head: form_of(group) for head, group in groups.items()}
    if all(head.isdigit() for head in nested):
        return tuple(nested[str(i)] for i in range(len(nested)))
    return nested


def type_text(form, ports):
    """The type of a template, as the language writes it."""
    if isinstance(form, dict):
        return "{" + ", ".join(f"{name} : {type_text(part, ports)}" for name, part in form.items()) + "}"
    if isinstance(form, tuple):
        return "(" + ", ".join(type_text(part, ports) for part in form) + ")"
    return ports[form].type


def python_name(name, taken=()):
    """The name that a parameter has in a signature: one that Python keeps for itself gets a `_`; a parameter that is a
    pattern or `_`, which the library calls by its number, is `_0`."""
    name = name if name.isidentifier() else "_" + name
    while keyword.iskeyword(name) or name == "__debug__" or name in taken:
        name += "_"
    return name


def nearest(name, known):
    """A sentence's end that proposes the known name that is like this one; "" where none is."""
    found = difflib.get_close_matches(str(name), known, 1)
    return f"; did you mean `{found[0]}`?" if found else ""


def listed(names):
    return ", ".join(f"`{name}`" for name in names) or "none"


class Description:
    """What a bundle says of one entry, for all Entry objects of it."""

    def __init__(self, row):
        self.name, self.doc, inputs, results, sizes = row
        self.inputs = [Port(i, one) for i, one in enumerate(inputs)]
        self.results = [Port(i, one) for i, one in enumerate(results)]
        self.sizes = [name for name, source in sizes if source == _FROM_PARAMETER]
        self.all_sizes = [name for name, _ in sizes]
        self.given = [port for port in self.inputs if port.kind != WEIGHT]
        self.has_weights = len(self.given) < len(self.inputs)
        self.forms = {}
        for name in dict.fromkeys(port.path.partition(".")[0] for port in self.given):
            self.forms[name] = form_of({port.path.partition(".")[2]: i for i, port in enumerate(self.given)
                                        if port.path.partition(".")[0] == name})
        self.plain_result = form_of({port.path: i for i, port in enumerate(self.results)}) if self.results else ()
        self.result = self._result_form()
        self.python_names = {}
        names = list(self.forms) + self.sizes
        for name in names:
            self.python_names[name] = python_name(name, set(names) - {name} | set(self.python_names.values()))

    def _result_form(self):
        """The template of the results, in which a negative number, -1 - n, stands for the parameter number n: a whole one
        that is updated."""
        leaf = {port.input: i for i, port in enumerate(self.given)}
        states = {i: leaf[port.state] for i, port in enumerate(self.results) if port.state >= 0}
        whole = {repr(form): -1 - n for n, form in enumerate(self.forms.values())}

        def with_states(form):
            """The template with the leaves of states for results; None where one is no state."""
            if isinstance(form, dict):
                parts = {name: with_states(part) for name, part in form.items()}
                return None if None in parts.values() else parts
            if isinstance(form, tuple):
                parts = tuple(map(with_states, form))
                return None if None in parts else parts
            return states.get(form)

        def marked(form):
            found = whole.get(repr(with_states(form)))
            if found is not None:
                return found
            if isinstance(form, dict):
                return {name: marked(part) for name, part in form.items()}
            return tuple(map(marked, form)) if isinstance(form, tuple) else form

        return marked(self.plain_result)

    @property
    def result_type(self):
        return type_text(self.plain_result, self.results)

    def is_state(self, name):
        """Whether the parameter is updated in place."""
        return any(port.is_state and port.path.partition(".")[0] == name for port in self.given)

    def parameter_type(self, name):
        return ("*" if self.is_state(name) else "") + type_text(self.forms[name], self.given)

    def rows(self, ports):
        """The leaves of the library's ports, as the extension reads them."""
        leaf = {port.input: i for i, port in enumerate(self.given)}
        return [(port.input, NAMES.index(port.elem), port.rank, port.is_state, port.placed,
                 leaf[port.state] if port.state >= 0 else -1) for port in ports]


class Entry(_native.Caller):
    """One entry of a program, which is called with its arguments, by name or in order.

    `ports` and `results` list its inputs, without weights, and its results: each has `path`, `elem`, `rank`, `shape` and
    `type`. `state()` makes the memory of a `*` parameter. help() and inspect.signature() know the rest."""

    def __init__(self, model, description):
        self._description, self._source = description, model._source
        self._bundle, self._parameters, self._runtime = model._bundle, model._parameters, model._runtime
        names = {}
        for i, name in enumerate(description.forms):
            names[name] = names[description.python_names[name]] = i
        sizes = {}
        for name in description.sizes:
            sizes[name] = sizes[description.python_names[name]] = name.encode()
        super().__init__(model._bundle, model._parameters, model._runtime, description.name.encode(), names,
                         tuple(description.forms.values()), sizes, description.result,
                         description.rows(description.given), description.rows(description.results))
        self.__name__ = self.__qualname__ = description.name
        self.__signature__ = self._make_signature()
        self.__doc__ = self._make_doc()

    # ---- what it is ----

    @property
    def name(self):
        return self._description.name

    @property
    def ports(self):
        return list(self._description.given)

    @property
    def results(self):
        return list(self._description.results)

    @property
    def sizes(self):
        """The names of the sizes that no argument determines."""
        return list(self._description.sizes)

    def _make_signature(self):
        known = self._description
        kinds = inspect.Parameter
        parameters = [kinds(known.python_names[name], kinds.POSITIONAL_OR_KEYWORD, annotation=known.parameter_type(name))
                      for name in known.forms]
        for name in known.sizes:
            stated = _native.metadata(self._parameters, name) if self._parameters else None
            default = int(stated) if stated is not None and stated.isascii() and stated.isdigit() else kinds.empty
            parameters.append(kinds(known.python_names[name], kinds.KEYWORD_ONLY, annotation="i64", default=default))
        return inspect.Signature(parameters, return_annotation=known.result_type)

    def _make_doc(self):
        known = self._description
        lines = [f"{self.name}{self.__signature__}".replace("'", "")]
        if known.doc:
            lines += ["", known.doc]
        if known.has_weights and self._parameters is None:
            lines += ["", "It has weights: bind() gives what can be called."]
        return "\n".join(lines)

    def __repr__(self):
        inputs = ", ".join(f"{port.path} : {port.type}" for port in self._description.given)
        results = ", ".join(f"{port.path or 'result'} : {port.type}" for port in self._description.results)
        return f"<axon entry {self.name}({inputs}) = {results}>"

    # ---- copies ----

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _entry_of, (self._source, self.name)

    # ---- states ----

    def state(self, parameter=None, /, **sizes):
        """The memory of a `*` parameter, zeros, of the shapes that follow from the weights and from the sizes that are
        given: weights.decode.state(n=512). Where the entry has several such parameters, it is named:
        decode.state("cache", n=512)."""
        known = self._description
        updated = [name for name in known.forms if known.is_state(name)]
        if parameter is None and len(updated) == 1:
            parameter = updated[0]
        if parameter not in updated:
            raise Error((f"`{self.name}` has no parameter `{parameter}` that is updated" if parameter is not None else
                         f"`{self.name}` has {len(updated) or 'no'} parameters that are updated")
                        + (f"; there is {listed(updated)}" if updated else ""), "E0801")
        numbers = {}
        for name, value in sizes.items():
            size = next((one for one in known.all_sizes if name in (one, python_name(one))), None)
            if size is None:
                raise Error(f"`{self.name}` has no size `{name}`; it has {listed(known.all_sizes)}"
                            + nearest(name, known.all_sizes), "E0801")
            numbers[size] = self._size(size, value)
        return State(self._memory(known.forms[parameter], numbers))

    def _memory(self, form, sizes):
        if isinstance(form, dict):
            return {name: self._memory(part, sizes) for name, part in form.items()}
        if isinstance(form, tuple):
            return tuple(self._memory(part, sizes) for part in form)
        port = self._description.given[form]
        shape, strides = _native.input_layout(self._bundle, self._parameters, self.name, port.input, sizes)
        return memory(port.elem, shape, strides)

    # ---- what the extension asks for ----

    def _prepare(self, number, value):
        port = self._description.given[number]
        value = value.value if isinstance(value, State) else value  # of a class of one's own
        if type(value) is list and value and type(value[0]) in (float, int) and not port.is_state:
            return (native(from_numbers(f"`{port.path}`", port.elem, value), port.elem),)  # the common case, at once
        if isinstance(value, (dict, tuple)) or (as_record(value) is not None and not is_array(value)):
            raise Error(f"`{port.path}` of `{self.name}` is a tensor, which is given as an array, a number or a list",
                        "E0801")
        return prepared(f"`{port.path}`", port, value)

    def _parts(self, parameter, form, value):
        known = self._description
        value = value.value if isinstance(value, State) else value
        name = list(known.forms)[parameter]
        return parts_of(f"`{_path_in(known.forms[name], form, name)}`", form, value, known.is_state(name))

    def _size(self, name, value):
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        number = from_numbers(f"size `{name}`", "i64", value)
        if number.ndim:
            raise Error(f"size `{name}` is a number, not a list", "E0822")
        return int(number)

    def _refuse(self, arguments, named):
        """Raises what is wrong with arguments that are for no parameter."""
        known = self._description
        names = {python: name for name, python in known.python_names.items()}
        if len(arguments) > len(known.forms):
            count = len(known.forms)
            raise Error(f"`{self.name}` takes {count} argument{'s' if count != 1 else ''}, {len(arguments)} were given"
                        + (f"; {listed(known.sizes)} {'are' if len(known.sizes) > 1 else 'is'} given by name"
                           if known.sizes else ""), "E0801")
        given = dict(zip(known.forms, arguments))
        for name, value in named.items():
            name = names.get(name, name)
            if name in given:
                raise Error(f"`{name}` was given twice", "E0801")
            given[name] = value
        for name, value in given.items():
            if name in known.forms:
                self._refuse_parts(known.forms[name], name, value)
            elif name not in known.sizes:
                raise Error(self._unknown(name), "E0801")

    def _refuse_parts(self, form, path, value):
        if isinstance(form, int):
            return
        if isinstance(value, State):
            value = value.value
        parts = as_record(value) if isinstance(form, dict) else None
        if parts is None and isinstance(value, tuple):
            parts = {str(i): part for i, part in enumerate(value)}
        fields = form if isinstance(form, dict) else {str(i): part for i, part in enumerate(form)}
        for field, part in (parts or {}).items():
            if field not in fields:
                kind = "dict" if isinstance(form, dict) else "tuple"
                raise Error(f"`{path}` of `{self.name}` has no part `{field}`; it is given as a {kind} of "
                            f"{', '.join(fields)}" + nearest(field, fields), "E0801")
            self._refuse_parts(fields[field], f"{path}.{field}", part)

    def _unknown(self, name):
        known = self._description
        if any(port.path.partition(".")[0] == name for port in known.inputs):
            return f"`{name}` of `{self.name}` holds weights, which bind() takes, not a call"
        if name in known.all_sizes:
            return f"size `{name}` of `{self.name}` follows from its arguments"
        inputs = ["_" * port.path[0].isdigit() + port.path for port in known.given]
        return (f"`{self.name}` has no input `{name}`; it has {listed(inputs)}"
                + (f", and the sizes {listed(known.sizes)}" if known.sizes else "")
                + nearest(name, list(known.forms) + known.sizes))


def _path_in(whole, form, path):
    """Where a template stands in another one, by identity; None where it does not."""
    if whole is form:
        return path
    parts = whole.items() if isinstance(whole, dict) else enumerate(whole) if isinstance(whole, tuple) else ()
    for name, part in parts:
        found = _path_in(part, form, f"{path}.{name}")
        if found is not None:
            return found
    return None


def _entry_of(source, name):
    """The entry of a pickle."""
    return source.open()[name]
