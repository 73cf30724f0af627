"""Element types: which NumPy types the language has, what NumPy makes of several, and numbers as text.

NumPy 1.24 looks at the values of numbers and of arrays without axes where they meet arrays: `f32[n] * 3` is f32,
`f32[n] * 70000` is f64. NumPy itself is asked, with the values where they are known. Where only the program will know
them and the answer hangs on them, they are taken to be as small as 1, the program gives them as well, and each call
checks that NumPy would have given that answer (`Trace.checks`).
"""
import itertools

import numpy as np

from .place import Place, failure, lacks_type

# uint64 is no element type of the language: sums of unsigned integers have it, and are kept in the same bits of an i64.
ELEMS = {np.dtype(name): elem for name, elem in {
    "float64": "f64", "float32": "f32", "float16": "f16", "int64": "i64", "int32": "i32", "int16": "i16",
    "int8": "i8", "uint32": "u32", "uint8": "u8", "bool": "bool", "uint64": "i64"}.items()}
BOOL, I8, I64, U64, F32, F64 = map(np.dtype, ("bool", "i1", "i8", "u8", "f4", "f8"))

# Numbers at which the type that NumPy takes for a number changes.
_INTEGERS = (-2**62, -2**31 - 1, -2**31, -2**15 - 1, -2**15, -129, -128, -1, 0, 127, 128, 255, 256, 2**15 - 1, 2**15,
             2**16 - 1, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62)
_FLOATS = (1.0, 1e6, 1e300)


def elem_of(dtype):
    """The language's name of a type."""
    dtype = np.dtype(dtype)
    if dtype not in ELEMS:
        lacks_type(f"{dtype} is no element type of Axon, which has {', '.join(str(it) for it in ELEMS if it != U64)}")
    return ELEMS[dtype]


def samples(dtype):
    """Numbers of a type that stand for all, as far as NumPy's choice of types goes."""
    dtype = np.dtype(dtype)
    if dtype == BOOL:
        return [np.bool_(True)]
    if dtype.kind == "f":
        return [dtype.type(it) for it in _FLOATS if it <= np.finfo(dtype).max]
    limits = np.iinfo(dtype)
    return [dtype.type(it) for it in (1, *_INTEGERS) if limits.min <= it <= limits.max]


def answer(question, nodes):
    """What NumPy answers about the types of values: `question` takes arrays and numbers, and gives a type. Where the
    answer hangs on an integer of the call it is a fact, where it hangs on what is computed, a check."""
    if not any(node.rank for node in nodes) or all(node.rank for node in nodes):
        return question(*(_stand_in(node, node.dtype) for node in nodes))
    sizes = [node.size is not None and not node.trace.facts.is_open(node.size) for node in nodes]
    choices = [[_stand_in(node, node.dtype)] if node.rank or node.value is not None
               else node.samples or samples(node.dtype) for node in nodes]
    found = question(*(_hint(node) if of_call else choice[0] for node, choice, of_call in zip(nodes, choices, sizes)))
    for at, node in enumerate(nodes):
        if sizes[at]:
            _assume(node, lambda number: question(*(number if i == at else choice[0]
                                                    for i, choice in enumerate(choices))), found)
            choices[at] = [_hint(node)]
    if any(question(*chosen) != found for chosen in itertools.product(*choices)):
        unknown = [at for at, choice in enumerate(choices) if len(choice) > 1]
        first = [choice[0] for choice in choices]

        def holds(*values):
            known = dict(zip(unknown, values))
            return question(*(known.get(at, it) for at, it in enumerate(first))) == found
        nodes[0].trace.checks.append(Check([nodes[at] for at in unknown], holds, _of_another_type(found)))
    return found


class Check:
    """What is demanded of values, once they are computed; `text` says, of the values, why it does not hold. `nodes` are those
    whose values only a run has."""

    def __init__(self, nodes, holds, text):
        self._values = [node.value for node in nodes]
        self.nodes = [node for node in nodes if node.value is None]
        self.holds, self.text, self.place = holds, text, Place.here()

    def demand(self, values):
        computed = iter(values)
        values = [next(computed) if value is None else value for value in self._values]
        if not self.holds(*values):
            raise failure("N008", f"{self.place}: {self.text(*values)}")


def _of_another_type(dtype):
    return lambda *values: (f"NumPy looks at the value of a number, {' and '.join(map(str, values))}, and gives another "
                            f"type than the {dtype} that is recorded: convert the number, as in "
                            "`x * scale.astype(x.dtype)`")


def _stand_in(node, dtype):
    if node.value is not None:
        return node.value
    return np.ones((1,) * node.rank, dtype) if node.rank else dtype.type(1)


def _hint(node):
    return node.trace.facts.hint(node.trace.facts.normal(node.size))


def _assume(node, question, found):
    """Assumes that an integer is between the numbers where the answer changes."""
    facts, hint = node.trace.facts, _hint(node)
    low = facts.least(facts.normal(node.size))
    above = next((number for number in _INTEGERS if number > hint and question(number) != found), None)
    below = next((number for number in reversed(_INTEGERS) if number < hint and question(number) != found), None)
    if above is not None:
        facts.at_least(node.trace.dim(above - 1), node.size)
    if below is not None and (low is None or below >= low):
        facts.at_least(node.size, node.trace.dim(below + 1))


def value_class(number):
    """What NumPy looks at of a number: numbers of one class are converted alike."""
    least = np.min_scalar_type(number)
    return least.str, least.kind == "u" and int(number) <= np.iinfo(least).max // 2


def literal(value, dtype):
    """A number of a type as the language writes it where one of that type is expected."""
    if dtype == BOOL:
        return "true" if value else "false"
    number = dtype.type(value)
    if dtype.kind != "f":
        return str(number) if number >= 0 else f"({number})"
    if np.isnan(number):
        return "(0.0 / 0.0)"
    if np.isinf(number):
        return "inf" if number > 0 else "(-inf)"
    if number and not 1e-4 <= abs(number) < 1e16:
        text = np.format_float_scientific(number, trim="0", exp_digits=1).replace("e+", "e")
    else:
        text = np.format_float_positional(number, trim="0")
    return f"({text})" if np.signbit(number) else text
