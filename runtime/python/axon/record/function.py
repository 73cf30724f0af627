"""`@axon.function`: records a function once for all sizes, compiles it, and runs it.

A call is taken apart into its arrays and numbers (`arguments.taken_apart`). What they are, types, numbers of axes, which
axes are 1, and all else that the function is given, is the key of the call. A recording of that key is used again where
its facts hold of the sizes; otherwise the function is recorded anew.
"""
import functools
import re
import subprocess
import threading

import numpy as np

from . import arguments, making
from .array import Array, integer
from .graph import Trace
from .place import Place, failure
from .sizes import Dim, relation_text
from .text import Program, helpers

_lock = threading.RLock()
_MOST = 64  # recordings of one key


class Recording:
    """A function recorded for calls of one key: what it assumes, its program, and how the result is put together."""

    def __init__(self, function, call):
        self.trace = Trace()
        with making.recording(), self.trace:
            given = [self._given(at, leaf) for at, leaf in enumerate(call.leaves)]
            positional, named = call.rebuilt(given)
            self.result = arguments.Result(_returned(function, positional, named), self.trace, Place.of(function))
        self._captured = arguments.captured_names(function)
        facts = self.trace.facts
        self._symbols = [number for number, symbol in enumerate(facts.symbols)
                         if number not in facts.derived and symbol.owner is None]
        self.facts = [(facts.given(fact.dim), fact.relation, fact.place) for fact in facts.facts]
        self._check = self._compiled("and".join(f" ({dim.source()} {relation} 0) "
                                                for dim, relation, _ in self.facts) or "True")
        nodes = list(dict.fromkeys([*self.result.nodes, *(node for check in self.trace.checks for node in check.nodes)]))
        self._checks = [(check, [nodes.index(node) for node in check.nodes]) for check in self.trace.checks]
        self.program = Program(self.trace, nodes, function.__name__) if nodes else None
        self._sizes = [self._compiled(facts.given(Dim.symbol(number)).source())
                       for number in (self.program.sizes if nodes else ())]
        self._constants = [self._compiled(facts.given(facts.normal(dim)).source()) for dim in self.result.sizes]
        self._inputs = [node.given for node in (self.program.inputs if nodes else ())]
        self._entry = None

    def _given(self, at, leaf):
        """What the function sees of an argument."""
        facts = self.trace.facts
        if leaf.kind == "integer":
            return integer(facts.new(leaf.value, None, leaf.name))
        if leaf.kind == "static":
            return leaf.value
        array = leaf.value
        shape = [Dim.of(1) if size == 1 else facts.new(size, 0, f"axis {axis} of {leaf.name}")
                 for axis, size in enumerate(array.shape)]
        node = self.trace.input(leaf.name, shape, array.dtype, ("argument", at))
        if not shape:
            node.samples = [array[()]]
        return Array(node, is_argument=True, is_number=not isinstance(leaf.original, np.ndarray))

    def _compiled(self, source):
        names = ", ".join(f"s{number}" for number in self._symbols)
        return eval(f"lambda {names}: {source}", {})  # of symbols and numbers, nothing that the caller wrote

    def fits(self, integers):
        """Whether all that was assumed holds of the integers of a call."""
        return self._check(*integers) and all(arguments.contents(look()) == now for look, now, _ in self._captured)

    def shown(self):
        """The facts, for people."""
        return "; ".join(f"{relation_text(dim, relation, lambda it: it.source(self.trace.facts.name))} ({place})"
                         for dim, relation, place in self.facts)

    def run(self, call, compile_text):
        """The function's result."""
        found = ()
        if self.program is not None:
            if self._entry is None:
                with _lock:
                    self._entry = self._entry or compile_text(self.program)
            given = [call.leaves[at].value if kind == "argument" else self.trace.captured[at][0]
                     for kind, at in self._inputs]
            found = self._called([*given, *(size(*call.integers) for size in self._sizes)])
            found = found if isinstance(found, tuple) else (found,)
            for check, places in self._checks:
                check.demand([found[at] for at in places])
        return self.result.rebuilt([_as_numpy(value, node) for value, node in zip(found, self.result.nodes)],
                                   [size(*call.integers) for size in self._constants], call)

    def _called(self, given):
        """The results of the program. Its errors begin with the line of the function that they are about."""
        from .. import Error
        try:
            return self._entry(*given)
        except Error as error:
            line = re.search(r"\(<stdin>:(\d+):\d+\)", str(error))
            place = self.program.place_of(int(line.group(1))) if line else None
            raise Error(f"{place}: {error}" if place else str(error), error.code, error.diagnostics) from None


def _returned(function, positional, named):
    """What the function returns. NumPy hides errors behind its own where it stores what is recorded."""
    from .. import Error
    try:
        return function(*positional, **named)
    except (TypeError, ValueError) as error:
        if isinstance(error.__cause__, Error):
            raise error.__cause__ from None
        raise


def _as_numpy(value, node):
    """With NumPy's type: uint64 has the bits of an i64."""
    if value.dtype == node.dtype:
        return value
    if node.dtype == np.uint64:
        return value.view(node.dtype)
    raise AssertionError(f"a recorded {node.dtype} came out as {value.dtype}")


class Function:
    """A function in NumPy's vocabulary that is compiled. Called as the function that it is made of."""

    def __init__(self, function, workers=0):
        functools.update_wrapper(self, function)
        self._function, self._workers, self._recordings = function, workers, {}

    def __call__(self, *positional, **named):
        if Trace.is_active():
            return self._function(*positional, **named)  # inside of another one: part of that
        call = arguments.taken_apart(self._function, positional, named)
        recording = self._recording(call)
        return recording.run(call, self._compile)

    def _recording(self, call):
        known = self._recordings.get(call.key, ())
        for one in known:
            if one.fits(call.integers):
                return one
        with _lock:
            known = self._recordings.get(call.key, ())
            for one in known:
                if one.fits(call.integers):
                    return one
            if len(known) >= _MOST:
                self._too_many(known)
            made = Recording(self._function, call)
            self._recordings[call.key] = (*known, made)
            return made

    def _too_many(self, known):
        last = next((str(place) for _, relation, place in reversed(known[-1].facts) if relation == "=="), "")
        raise failure("N009", f"{last}: `{self.__name__}` was recorded {_MOST} times for arguments of one kind: something "
                      "in it needs the number that a size or an argument is, such as `range(n)`")

    def _compile(self, program):
        from .. import Error, compile as compile_text
        try:
            model = compile_text(program.text, workers=self._workers)
        except Error as error:
            raise Error(f"the recording of `{self.__name__}` ({self._function.__code__.co_filename}:"
                        f"{self._function.__code__.co_firstlineno}) is refused: {error}\n{program.text}",
                        getattr(error, "code", "")) from None
        return model[program.entry]

    # ---- What there is to see ----

    def text(self, *positional, **named):
        """The function as an Axon program: for such arguments, or for those of the last recording."""
        from .. import Error
        if positional or named:
            recording = self._recording(arguments.taken_apart(self._function, positional, named))
        else:
            everything = [one for known in self._recordings.values() for one in known]
            if not everything:
                raise Error(f"`{self.__name__}` was not called yet: its text needs arguments, text(x, ...)")
            recording = everything[-1]
        return formatted(recording.program.text) if recording.program else ""

    axon = text

    @property
    def traces(self):
        """The recordings so far: for each what it assumes, as text."""
        return [one.shown() for known in self._recordings.values() for one in known]

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self):
        return f"<axon function {self.__name__}>"


def formatted(text):
    """A program in the style of the compiler's formatter."""
    from .._compile import compiler
    done = subprocess.run([compiler(), "fmt", "-"], input=text, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else text


def together(calls, workers=0):
    """Compiles several functions as one program, each for the arguments of one call: `calls` has pairs of a `Function`
    and its arguments. It is what the first calls would do one by one."""
    from .. import compile as compile_text
    pending = [one._recording(arguments.taken_apart(one._function, given, {})) for one, given in calls]
    pending = [one for one in dict.fromkeys(pending) if one.program is not None and one._entry is None]
    entries = [one.program.called(f"{one.program.entry}_{at}") for at, one in enumerate(pending)]
    if entries:
        shared = helpers(*entries)
        model = compile_text("\n".join([shared, *entries]), workers=workers)
        line = shared.count("\n") + 2
        for at, one in enumerate(pending):
            one.program.first_line = line
            line += entries[at].count("\n") + 1
            one._entry = model[f"{one.program.entry}_{at}"]


def function(function=None, *, workers=0):
    """Compiles a function that is written in NumPy's vocabulary, at its first call.

        @axon.function
        def softmax(x):
            e = np.exp(x - x.max(axis=-1, keepdims=True))
            return e / e.sum(axis=-1, keepdims=True)

    One recording serves all sizes of arguments with the same types and numbers of axes, as long as what the function
    asked of sizes has the same answers. `softmax.text()` is the program, in Axon."""
    if function is None:
        return lambda it: Function(it, workers)
    return Function(function, workers)
