"""Bundles, their weights and the workers that run them: what axon.load() and axon.compile() return."""
import os

from . import _native
from ._elements import BOOLS, INTEGERS, shown
from ._entry import WEIGHT, Description, Entry, listed, nearest
from ._error import Error
from ._values import as_record, flatten, kind_of, weight_of


def _text(what, value):
    """The bytes of a name, which the library would take to end at a NUL."""
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise Error(f"{what} {value!r} has a NUL in it", "E0801")
    return encoded


def _path(what, value):
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise Error(f"{what} is a text or an os.PathLike, not {kind_of(value)}", "E0801")
    return _text(what, value)


_runtimes = {}


def workers(count=0):
    """The shared pool of so many workers; 0: the allowed CPUs, each run using as many as pay off."""
    if isinstance(count, BOOLS) or not isinstance(count, INTEGERS) or not 0 <= int(count) < 2**32:
        raise Error(f"a number of workers is an integer from 0 on, not {shown(count)}", "E0801")
    count = int(count)
    if count not in _runtimes:
        _runtimes.setdefault(count, _native.create_runtime(count))
    return _runtimes[count]


class _Source:
    """Where a model comes from, which is what pickle writes of it: a bundle's path or bytes, the workers, and the files
    of weights that were bound; None of those from arrays."""

    def __init__(self, bundle, count, binding=()):
        self.bundle, self.count, self.binding = bundle, count, binding

    @property
    def what(self):
        """For people."""
        return "a program" if isinstance(self.bundle, bytes) else os.path.basename(self.bundle)

    def open(self):
        """The model again."""
        model = Bundle(self, workers(self.count))
        if self.binding == ():
            return model
        names, paths, text = self.binding
        return model._bind_files(names, paths, text)

    def __reduce__(self):
        if self.binding is None:
            raise Error("weights that were bound from arrays cannot be pickled: pickle the arrays and the model, and bind "
                        "them again", "E0801")
        return _Source, (self.bundle, self.count, self.binding)


def _reopened(source):
    """The model of a pickle."""
    return source.open()


class _Entries:
    """Entries by name: as attributes, model.decode, where the class itself has no such attribute, and as items,
    model["decode"], always. Made at first use."""

    def __init__(self, source, bundle, descriptions, parameters, runtime):
        self._source, self._bundle, self._descriptions = source, bundle, descriptions
        self._parameters, self._runtime = parameters, runtime
        self._made = {}

    @property
    def entries(self):
        """The names of all entries."""
        return list(self._descriptions)

    @property
    def level(self):
        """The instruction-set level of the code that was loaded."""
        return _native.bundle_words(self._bundle)[0]

    def __getitem__(self, name):
        if name not in self._made:
            if name not in self._descriptions:
                raise KeyError(self._no_entry(name))
            self._made.setdefault(name, Entry(self, self._descriptions[name]))  # unless another thread was first
        return self._made[name]

    def __getattr__(self, name):
        if name not in self.__dict__.get("_descriptions", {}):
            raise AttributeError(self._no_entry(name))
        entry = self[name]
        self.__dict__[name] = entry  # found without this function from now on
        return entry

    def _no_entry(self, name):
        known = self.__dict__.get("_descriptions", {})
        return f"no entry `{name}`; there is {listed(known)}" + nearest(name, list(known))

    def __iter__(self):
        return iter(self._descriptions)

    def __len__(self):
        return len(self._descriptions)

    def __contains__(self, name):
        return name in self._descriptions

    def __dir__(self):
        return sorted(set(super().__dir__()) | set(self._descriptions))

    def __copy__(self):
        return self  # nothing in it changes

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _reopened, (self._source,)


class Parameters(_Entries):
    """A bundle with its weights bound. Its entries are attributes, and items where an attribute has the same name; dir()
    and tab completion show them, help(weights.decode) says what one takes."""

    def __repr__(self):
        return f"<axon model with weights; entries: {', '.join(self._descriptions) or 'none'}>"


class Bundle(_Entries):
    """A loaded bundle. Its entries are attributes: model.decode; one that is named like a method or a property, such as
    `bind`, is an item: model["bind"]. Entries without weights can be called directly, the others after bind()."""

    def __init__(self, source, runtime):
        if isinstance(source.bundle, bytes):
            bundle = _native.open_bytes(source.bundle)
        else:
            bundle = _native.open_path(_text("the path", source.bundle))
        descriptions = {row[0]: Description(row) for row in _native.describe(bundle)}
        super().__init__(source, bundle, descriptions, None, runtime)

    def bind(self, /, *sources, map=None, **parameters):
        """Binds what the program marks `weights`: from files; from a file for each parameter, by name; or from
        (nested) dicts or dataclasses of arrays, all in one or by parameter. A stack is a list of records, or a record of
        stacked arrays. `map` is the text of a binding map."""
        if map is not None and not isinstance(map, str):
            raise Error(f"`map` is the text of a binding map, not {kind_of(map)}", "E0801")
        text = _text("the map", map).decode() if map is not None else None
        given = [(None, source) for source in sources] + list(parameters.items())
        files = [isinstance(source, (str, bytes, os.PathLike)) for _, source in given]
        if given and not any(files):
            return self._bind_arrays(given, text)
        if all(files):
            return self._bind_files([name and _text("the name", name) for name, _ in given],
                                    [_text("the path", path) for _, path in given], text)
        raise Error("weights are bound from files or from arrays, not from both", "E0801")

    def _bind_files(self, names, paths, text):
        bound = _native.bind_files(self._bundle, names, paths, text)
        binding = names, [os.path.abspath(path) for path in paths], text
        return self._bound(bound, binding)

    def _bind_arrays(self, given, text):
        leaves, elems = {}, self._elems_of_weights()
        for name, source in given:
            if name is None and as_record(source) is None:
                raise Error("weights without a name are files, or a dict of arrays by name", "E0801")
            if name is not None and text is None and not self._parts_of_weight(elems, name):
                parameters = list(dict.fromkeys(path.partition(".")[0] for path in elems))
                raise Error(f"no weights are called `{name}`; there is {listed(parameters)}" + nearest(name, parameters),
                            "E0801")
            flatten(source, name or "", leaves)
        arrays = [self._weight(elems, path, value) for path, value in leaves.items()]
        names = [_text("the name", path) for path in leaves]
        return self._bound(_native.bind_arrays(self._bundle, names, arrays, text), None)

    def _elems_of_weights(self):
        """The element types of all weights, by path."""
        return {port.path: port.elem for known in self._descriptions.values() for port in known.inputs
                if port.kind == WEIGHT}

    def _weight(self, elems, path, value):
        parts = self._parts_of_weight(elems, path)
        if parts and "" not in parts:
            fields = dict.fromkeys(part.partition(".")[0] for part in parts)
            raise Error(f"`{path}` is a record or a tuple of {', '.join(fields)}, not {kind_of(value)}"
                        + (" that is empty: give the arrays of no layers" if isinstance(value, list) and not value else ""),
                        "E0822")
        return weight_of(f"`{path}`", self._elem_of_weight(elems, path), value)

    @staticmethod
    def _parts_of_weight(elems, name):
        """What follows the name in the paths of weights that begin with it, with or without their parameter."""
        paths = [one for path in elems for one in (path, path.partition(".")[2])]
        return [path[len(name) + 1:] for path in paths if path == name or path.startswith(name + ".")]

    @staticmethod
    def _elem_of_weight(elems, path):
        """The element type of the weight that has this name, or a name that ends so; None where there is not one."""
        ending = {elem for name, elem in elems.items() if name.endswith("." + path)}
        return elems.get(path) or (ending.pop() if len(ending) == 1 else None)

    def _bound(self, parameters, binding):
        source = _Source(self._source.bundle, self._source.count, binding)
        return Parameters(source, self._bundle, self._descriptions, parameters, self._runtime)

    def __repr__(self):
        return f"<axon model; entries: {', '.join(self._descriptions) or 'none'}>"


def load(path, workers=0):
    """Opens a bundle, which `etcc build` has made. `workers` as for workers()."""
    path = _path("the path", path)
    runtime = globals()["workers"](workers)
    try:
        return Bundle(_Source(os.fsdecode(os.path.abspath(path)), int(workers)), runtime)
    except Error as error:
        if not path.endswith(b".axn"):
            raise
        raise Error(f"{error}; it is a program, which axon.compile() takes", error.code) from None


def loaded(data, workers=0):
    """The same of a bundle's bytes."""
    runtime = globals()["workers"](workers)
    return Bundle(_Source(bytes(data), int(workers)), runtime)
