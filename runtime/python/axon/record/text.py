"""A trace as an Axon program.

In: the nodes that are the results, and the facts of the trace. Out: the text of one entry with what it needs of
numpy.axn, and which arguments its parameters are. A node is a `let` where it is used twice or indexed, where its text
is long, and where it has axes of its own (`for`); else its text stands where it is used. Names are those of the
function's variables as far as they are free: no two things of a program share one.
"""
import os
import re
from itertools import count

from .graph import APPLY, ATOM, OPEN, SUM
from .place import Place
from .sizes import relation_text
from .values import elem_of, literal

_LONGEST = 72   # characters of an expression that stands inside of another
_SIZES = "n m k p q r s t u v w d h e g".split()
_BINDERS = "i j k l p q r s t u v w".split()
_RESERVED = set("""fun entry val type prim import private test layout mesh as where let in if then else for fn with true
    false weights""".split())


# What programs of this package call of the library, which no variable may hide.
_CALLED = set("""f64 f32 f16 i64 i32 i16 i8 u32 u8 bool abs add all any argmax argmin argsmallest atan ceil concat
    concat_last cos cumulative cumulative_max cumulative_min cumulative_prod cumulative_sum diagonal dim dot erf exp
    exp2 expm1 floor fold histogram inf iota keep largest log log1p max maximum mean median min minimum mul nonzero
    not or and outer pow prod real rearrange reduce round select sign sin scatter smallest sort sort_order sqrt sum
    tan tanh transpose truncate""".split())


class Program:
    """The text of a trace; `inputs` are the nodes that its parameters are, `sizes` the polynomials of those behind."""

    def __init__(self, trace, results, name):
        self.trace, self.results = trace, results
        self.nodes = self._reachable()
        self.inputs = [node for node in trace.inputs if node in self.nodes]
        self._names = Names()
        self.entry = self._names.free(name)
        self._parameters = {node: self._names.free(node.name or "table") for node in self.inputs}
        self._locals = {node: self._names.free(node.name) for node in self.nodes
                        if node.name and not node.is_leaf}
        self._sizes = {}
        self._written = {}
        self._lets, self._places = [], []
        self._used_sizes, self._used_open = set(), set()
        self._rest = self._text()
        self.helpers = helpers(self._rest)
        self.text = self.helpers + self.called(self.entry)
        self.first_line = self.helpers.count("\n") + 1  # of the entry

    def _reachable(self):
        """The nodes that the results need, each after its arguments."""
        order, seen = {}, set()
        stack = [(node, False) for node in reversed(self.results)]
        while stack:
            node, done = stack.pop()
            if done:
                order[node] = None
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack.extend((argument, False) for argument in reversed((*node.arguments, *node.after)))
        return order

    def size_name(self, number):
        """The name of a symbol."""
        open_size = self.trace.facts.symbols[number].owner is not None
        (self._used_open if open_size else self._used_sizes).add(number)
        if number not in self._sizes:
            symbol = self.trace.facts.symbols[number]
            given = symbol.name if symbol.name.isidentifier() else None
            self._sizes[number] = self._names.free(given) if given else self._names.one_of(_SIZES)
        return self._sizes[number]

    def size(self, dim):
        text = self.trace.facts.normal(dim).source(self.size_name, "/")
        return text, ATOM if re.fullmatch(r"\w+|\([^()]*\)", text) else SUM

    def binder(self, wanted=None):
        return self._names.temporary(wanted, _BINDERS)

    def _text(self):
        parameters = [self._parameter(node) for node in self.inputs]
        body = self._body()
        facts = self._facts(set(self._used_sizes))
        self.sizes = self._undetermined()
        parameters += [f"({self.size_name(number)} : i64)" for number in self.sizes]
        where = f" where {', '.join(facts)}" if facts else ""
        return f"{''.join(' ' + it for it in parameters)}{where} =\n{body}\n"

    def called(self, entry):
        """The entry, under a name."""
        return f"entry {entry}{self._rest}"

    def place_of(self, line):
        """Where in Python what a line of the program says was recorded; None of what is no `let` of the entry."""
        at = line - self.first_line - 1
        return self._places[at] if 0 <= at < len(self._places) else None

    def _parameter(self, node):
        shape = ", ".join(self.size(dim)[0] for dim in node.shape)
        return f"({self._parameters[node]} : {elem_of(node.dtype)}{f'[{shape}]' if node.shape else ''})"

    def _undetermined(self):
        """The sizes that the shapes of arguments do not tell: integer arguments first, then what is left."""
        told, sizes = self._told(set()), []
        for wanted in (lambda number: self.trace.facts.name(number).isidentifier(), lambda number: True):
            more = [number for number in sorted(self._used_sizes) if number not in told and wanted(number)]
            sizes += more
            told = self._told(told | set(more))
        return sizes

    def _told(self, known):
        """The symbols that follow from shapes and from others: each is a sum of multiples on some axis."""
        dims = [dim for node in self.inputs for dim in self.trace.shape_of(node)]
        known, before = set(known), None
        while before != known:
            before = set(known)
            for dim in dims:
                unknown = dim.symbols() - known
                parts = [monomial for monomial, _ in dim.terms if ("s", *unknown) in monomial] if len(unknown) == 1 else []
                if len(parts) == 1 and parts[0].count(("s", *unknown)) == 1 and all(
                        kind == "s" for monomial, _ in dim.terms for kind, *_ in monomial):
                    known |= unknown
        return known

    def _facts(self, stated):
        """What the trace assumes of the sizes that the program has."""
        facts = self.trace.facts
        found = [(facts.normal(fact.dim), fact.relation) for fact in facts.facts]
        found = list(dict.fromkeys(it for it in found if it[0].constant() is None and it[0].symbols() <= stated))
        least = [dim for dim, relation in found if relation == ">="]
        texts = []
        for dim, relation in found:
            weaker = [(dim - other).constant() for other in least if other != dim]
            if relation == ">=" and any(rest is not None and rest > 0 for rest in weaker):
                continue
            texts.append(relation_text(dim, relation, lambda it: self.size(it)[0]))
        return texts

    def _body(self):
        uses, named = {}, set()
        for node in self.nodes:
            for at, argument in enumerate(node.arguments):
                uses[argument] = uses.get(argument, 0) + 1
                if at in node.named:
                    named.add(argument)
        for node in self.results:
            uses[node] = uses.get(node, 0) + 1
        for node in self.nodes:
            text, level = node.write(Line(self, node))
            once = uses.get(node) == 1 and node not in named and node.owned is None
            last = once and node in self.results
            if not node.is_leaf and not last and (not once or level == OPEN or len(text) > _LONGEST):
                name = self._locals.get(node) or self._names.numbered()
                self._lets.append((node.place, f"  let {name} = {text}"))
                if node.owned is not None:
                    self._lets.append((node.owned, name))
                text, level = name, ATOM
            self._written[node] = text, level
        results = [self._written[node] for node in self.results]
        last = results[0][0] if len(results) == 1 else f"({', '.join(text for text, _ in results)})"
        lets = [let if isinstance(let[0], Place) else (None, self._open_size(*let)) for let in self._lets]
        lets = [let for let in lets if let[1]]
        self._places = [place for place, _ in lets] + [node.place for node in self.results[:1]]
        return "\n".join([*(text for _, text in lets), f"  in {last}" if lets else f"  {last}"])

    def _open_size(self, number, owner):
        """What defines a size that only a run has, where it is used."""
        return f"  let {self.size_name(number)} = dim {owner} 0" if number in self._used_open else None

    def written(self, node):
        return self._written[node]

    def parameter(self, node):
        return self._parameters[node]


class Names:
    """The names of a program."""

    def __init__(self):
        self._taken = _RESERVED | LIBRARY
        self._temporary = {}

    def free(self, wanted):
        """A name as much like the wanted one as can be."""
        base = re.sub(r"[^A-Za-z0-9_]", "_", wanted)
        base = base if re.match(r"[A-Za-z_]", base) and base.strip("_") else "v" + base.strip("_")
        return self._take(base) if base not in self._taken else \
            next(self._take(name) for name in (f"{base}{i}" for i in count(2)) if name not in self._taken)

    def one_of(self, names):
        return next((self._take(name) for name in names if name not in self._taken), None) or self.free(names[0])

    def numbered(self):
        return next(self._take(name) for name in (f"t{i}" for i in count(1)) if name not in self._taken)

    def temporary(self, wanted, names):
        """A name for a binder, which others may have outside of each other's expressions."""
        key = wanted or tuple(names)
        if key not in self._temporary:
            self._temporary[key] = self.free(wanted) if wanted else self.one_of(names)
        return self._temporary[key]

    def _take(self, name):
        self._taken.add(name)
        return name


class Line:
    """What writes a node: the texts of its arguments, sizes, and names for its axes."""

    def __init__(self, program, node):
        self.program, self.node = program, node

    def whole(self, at):
        return self.program.written(self.node.arguments[at])

    def argument(self, at, level):
        """The text of an argument, in parentheses where it binds less."""
        text, binds = self.whole(at)
        return text if binds >= level else f"({text})"

    def name(self, at):
        return self.argument(at, ATOM)

    def typed(self, at, level=OPEN):
        """The text of an argument that nothing beside it gives a type."""
        node = self.node.arguments[at]
        if node.value is None:
            return self.argument(at, level)
        text = literal(node.value, node.dtype)
        text = text if node.dtype == bool else f"{elem_of(node.dtype)} {text}"
        return f"({text})" if level > APPLY and " " in text else text

    def operands(self, *levels, first=0):
        """The texts of arguments from `first` on, which have one type: a number among them takes it from the others."""
        nodes = self.node.arguments[first:first + len(levels)]
        texts = [self.argument(first + at, level) for at, level in enumerate(levels)]
        if all(node.value is not None for node in nodes):
            texts[0] = self.typed(first, levels[0])
        return texts

    def applied(self, function, *inner):
        """`function (inner x)`."""
        text = self.argument(0, ATOM)
        for name in reversed(inner):
            text = f"({name} {text})"
        return f"{function} {text}", APPLY

    def input(self, node):
        return self.program.parameter(node)

    def size(self, dim, level=OPEN):
        text, binds = self.program.size(dim)
        return text if binds >= level else f"({text})"

    def is_same(self, a, b):
        return self.program.trace.facts.normal(a - b).is_number(0)

    def shape(self, at=None):
        """The sizes of an argument, or of the node itself."""
        return self.program.trace.shape_of(self.node if at is None else self.node.arguments[at])

    def binders(self, how_many, wanted=()):
        """Names for axes, all different, and from what they are at hand those that are wanted."""
        return [self.program.binder(wanted[at] if at < len(wanted) else _BINDERS[at] if at < len(_BINDERS)
                                    else f"i{at}") for at in range(how_many)]


def helpers(*texts):
    """The definitions of numpy.axn that texts need."""
    words = set(re.findall(r"\w+", " ".join(texts)))
    for name in reversed(HELPERS):  # each calls only those above it
        if name in words:
            words |= set(re.findall(r"\w+", HELPERS[name]))
    needed = [name for name in HELPERS if name in words]
    return "".join(definition + "\n" for name, definition in HELPERS.items() if name in needed)


def _definitions():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "numpy.axn")
    with open(path, encoding="utf-8") as file:
        parts = file.read().split("\n\n")
    found = {}
    for part in parts:
        name = re.search(r"^fun (\w+)", part, re.MULTILINE)
        if name:  # without its examples, which are tests of the function
            end = part.index("\nfun ")
            about = part[:end].partition("\n--| >>>")[0]
            found[name.group(1)] = f"{about}{part[end:].rstrip()}\n"
    return found


HELPERS = _definitions()
LIBRARY = _CALLED | set(HELPERS)
