"""Sizes of a trace, and what is known of them.

In: symbols, one for each axis and each integer that a function is given, with the value that it has in the call that
is traced (its hint). Out: polynomials over them (`Dim`), answers to questions about them, and the facts that the
answers assume. A question that the polynomials do not answer for all sizes is answered for the hints, and the answer
becomes a fact: whoever reuses the trace checks it first, so no answer is ever assumed of sizes that it is wrong for.
An equation is solved for a symbol where that is possible, and the symbol is replaced everywhere (`Facts.normal`).
"""
import math

from .place import Place, needs_values


class Dim:
    """A polynomial with integer coefficients over atoms, in normal form: equal polynomials are equal objects. An atom
    is ("s", number of a symbol), or a quotient ("/", a, b) or remainder ("%", a, b) of two polynomials."""

    __slots__ = ("terms", "_hash")

    def __init__(self, terms):
        kept = [(monomial, factor) for monomial, factor in terms.items() if factor]
        self.terms = tuple(sorted(kept, key=lambda term: (len(term[0]), repr(term[0]))))
        self._hash = hash(self.terms)

    @staticmethod
    def of(value):
        return value if isinstance(value, Dim) else Dim({(): int(value)})

    @staticmethod
    def symbol(number):
        return Dim({(("s", number),): 1})

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        return isinstance(other, Dim) and self.terms == other.terms

    def __repr__(self):
        return f"Dim({self.source()})"

    def constant(self):
        """The number that it is; None where it depends on a symbol."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and self.terms[0][0] == () else None

    def is_number(self, number):
        return self.constant() == number

    def __add__(self, other):
        sums = dict(self.terms)
        for monomial, factor in Dim.of(other).terms:
            sums[monomial] = sums.get(monomial, 0) + factor
        return Dim(sums)

    def __neg__(self):
        return Dim({monomial: -factor for monomial, factor in self.terms})

    def __sub__(self, other):
        return self + -Dim.of(other)

    def __mul__(self, other):
        products = {}
        for left, a in self.terms:
            for right, b in Dim.of(other).terms:
                monomial = tuple(sorted(left + right, key=repr))
                products[monomial] = products.get(monomial, 0) + a * b
        return Dim(products)

    def exactly(self, other):
        """The polynomial whose product with the other one, a single term, this is; None where there is none."""
        if len(other.terms) != 1:
            return Dim.of(1) if self == other else None
        (divisor, b), = other.terms
        quotients = {}
        for monomial, a in self.terms:
            rest = list(monomial)
            for atom in divisor:
                if atom not in rest:
                    return None
                rest.remove(atom)
            if a % b:
                return None
            quotients[tuple(rest)] = a // b
        return Dim(quotients)

    def quotient(self, other):
        """Rounded down, for a divisor that is not 0."""
        exact = self.exactly(other)
        if exact is not None:
            return exact
        number = other.constant()
        if number is None:
            return Dim({(("/", self, other),): 1})
        whole = Dim({monomial: factor // number for monomial, factor in self.terms if factor % number == 0})
        rest = Dim({monomial: factor for monomial, factor in self.terms if factor % number})
        if rest.constant() is not None:
            return whole + rest.constant() // number
        return whole + Dim({(("/", rest, other),): 1})

    def remainder(self, other):
        if self.exactly(other) is not None:
            return Dim.of(0)
        number = other.constant()
        rest = self
        if number is not None:
            rest = Dim({monomial: factor % number for monomial, factor in self.terms})
            if rest.constant() is not None:
                return Dim.of(rest.constant() % number)
        return Dim({(("%", rest, other),): 1})

    def symbols(self):
        found = set()
        for monomial, _ in self.terms:
            for atom in monomial:
                found |= {atom[1]} if atom[0] == "s" else atom[1].symbols() | atom[2].symbols()
        return found

    def replaced(self, values):
        """With polynomials in the place of symbols."""
        if not values or self.symbols().isdisjoint(values):
            return self
        total = Dim.of(0)
        for monomial, factor in self.terms:
            product = Dim.of(factor)
            for kind, *parts in monomial:
                if kind == "s":
                    product = product * values.get(parts[0], Dim.symbol(parts[0]))
                else:
                    a, b = (part.replaced(values) for part in parts)
                    product = product * (a.quotient(b) if kind == "/" else a.remainder(b))
            total = total + product
        return total

    def source(self, name=lambda number: f"s{number}", divide="//"):
        """As an expression of Python, or, with other names and `/`, of Axon."""
        def atom(kind, *parts):
            if kind == "s":
                return name(parts[0])
            sign = divide if kind == "/" else "%"
            return "(" + f" {sign} ".join(_in_parentheses(part.source(name, divide)) for part in parts) + ")"

        text = ""
        for monomial, factor in sorted(self.terms, key=lambda term: (term[1] < 0, term[0] == ())):
            factors = [atom(*one) for one in monomial]
            if abs(factor) != 1 or not factors:
                factors.insert(0, str(abs(factor)))
            sign = (" - " if text else "-") if factor < 0 else " + " if text else ""
            text += sign + " * ".join(factors)
        return text or "0"


def _in_parentheses(text):
    return f"({text})" if " " in text else text


class Symbol:
    """An integer that a call is given: the size of an axis, or a number. `low` is the least that it can be. One that only
    a run has, as the data decides it, has an `owner`, the node whose size it is, and no hint."""

    def __init__(self, hint, low, name):
        self.hint, self.low, self.name, self.owner = hint, low, name, None


class Fact:
    """What a trace assumes: that a polynomial over what the call is given is 0, is not 0, or is not negative."""

    def __init__(self, dim, relation, place):
        self.dim, self.relation, self.place = dim, relation, place

    def source(self):
        """As an expression of Python."""
        return f"{self.dim.source()} {self.relation} 0"


def relation_text(dim, relation, write):
    """`dim >= 0` or the like as people write it, without signs: `n <= m`. `write` gives the text of a polynomial."""
    positive = Dim({monomial: factor for monomial, factor in dim.terms if factor > 0})
    if relation == ">=":
        return f"{write(positive - dim)} <= {write(positive)}"
    return f"{write(positive)} {relation} {write(positive - dim)}"


class Facts:
    """The symbols of a trace and what it assumes of them."""

    def __init__(self):
        self.symbols, self.solved, self.derived, self.facts, self.parts = [], {}, {}, [], []
        self._answers = {}

    def new(self, hint, low, name):
        self.symbols.append(Symbol(hint, low, name))
        return Dim.symbol(len(self.symbols) - 1)

    def normal(self, dim):
        return dim.replaced(self.solved)

    def given(self, dim):
        """Over symbols of the call alone."""
        return dim.replaced(self.derived)

    def owners(self, dims):
        """The nodes whose sizes, which only a run has, polynomials are made of."""
        numbers = sorted({number for dim in dims for number in self.normal(dim).symbols()})
        return [self.symbols[number].owner for number in numbers if self.symbols[number].owner is not None]

    def is_open(self, dim):
        """Whether only a run has it."""
        return bool(self.owners([dim]))

    def hint(self, dim):
        if self.is_open(dim):
            needs_values("how many elements a mask chooses only the data decides, and what is recorded here hangs on it: "
                         "`np.where(mask, x, 0)` keeps the shape")
        return self.value(dim, [symbol.hint for symbol in self.symbols])

    @staticmethod
    def value(dim, values):
        return eval(dim.source(lambda number: str(values[number]).join("()")), {})  # digits and operators only

    def least(self, dim):
        """A number that it is never below; None where none is known."""
        total = 0
        for monomial, factor in dim.terms:
            product = factor
            for kind, *parts in monomial:
                low = self.symbols[parts[0]].low if kind == "s" else self._least_of_quotient(kind, *parts)
                product = None if low is None or low < 0 or product is None else product * low
            if product is None or (monomial and factor < 0):
                return None
            total += product
        return total

    def _least_of_quotient(self, kind, a, b):
        if kind == "%":
            return 0 if (self.least(b) or 0) > 0 else None
        low = self.least(a)
        return 0 if low is not None and low >= 0 and (self.least(b) or 0) > 0 else None

    def holds(self, dim, relation):
        """Whether `dim == 0` or `dim >= 0`, for all sizes or, as a fact from now on, for those of the hints."""
        dim = self.normal(dim)
        low, high = self.least(dim), self.least(-dim)
        if dim.constant() is not None:
            return dim.constant() == 0 if relation == "==" else dim.constant() >= 0
        if relation == ">=" and low is not None and low >= 0:
            return True
        if (high is not None and high > 0) or (relation == "==" and low is not None and low > 0):
            return False
        key = (dim, relation)
        if key not in self._answers:
            self._answers[key] = self._assumed(dim, relation)
        return self._answers[key]

    def _assumed(self, dim, relation):
        hint = self.hint(dim)
        if relation == "==" and hint == 0 and self._split_quotients(dim):
            return self.holds(dim, relation)
        if relation == "==":
            self._add(dim, "==" if hint == 0 else "!=")
            if hint == 0:
                self._solve(dim)
            return hint == 0
        if hint >= 0:
            self._add(dim, ">=")
            self._learn(dim)
        else:
            self._add(-dim - 1, ">=")
            if self.least(dim + 1) == 0:  # not above what it never is below
                self._solve(dim + 1)
        return hint >= 0

    def _split_quotients(self, dim):
        """Makes what an equation divides, a symbol that is a multiple here, a multiple for all sizes: so `n / 2 * 2` is
        n. Whether there was one."""
        for monomial, _ in dim.terms:
            for kind, *parts in monomial:
                if kind != "/" or len(parts[0].terms) != 1 or len(parts[0].terms[0][0]) != 1 or parts[0].terms[0][1] != 1:
                    continue
                (part,), _ = parts[0].terms[0]
                divisor = self.hint(parts[1])
                if part[0] == "s" and part[1] not in parts[1].symbols() and divisor > 0 and \
                        self.symbols[part[1]].hint % divisor == 0:
                    self._split(part[1], parts[1])
                    return True
        return False

    def _add(self, dim, relation):
        self.facts.append(Fact(dim, relation, Place.here()))

    def _learn(self, dim):
        """From n - c >= 0, that n is at least c."""
        if len(dim.symbols()) == 1:
            number, = dim.symbols()
            rest = dim - Dim.symbol(number)
            if rest.constant() is not None:
                symbol = self.symbols[number]
                symbol.low = -rest.constant() if symbol.low is None else max(symbol.low, -rest.constant())

    def _solve(self, dim):
        """Replaces a symbol by what the equation says that it is, the last that stands alone."""
        for number in sorted(dim.symbols(), reverse=True):
            alone = Dim.symbol(number)
            factor = dict(dim.terms).get(((("s", number),)), 0)
            rest = dim - alone * factor
            value = (-rest).exactly(Dim.of(factor)) if factor and number not in rest.symbols() else None
            if value is not None:
                self._replace(number, value)
                return

    def _replace(self, number, value):
        self.solved[number] = value
        self.solved = {key: old.replaced({number: value}) for key, old in self.solved.items()}

    def equal(self, a, b):
        return self.holds(a - b, "==")

    def at_least(self, a, b):
        return self.holds(a - b, ">=")

    def divided(self, total, divisor, what):
        """The quotient where it is exact, which is a fact; None where it is not. Of a multiple of one symbol, the
        symbol becomes a multiple of a new one, so that the quotient is a polynomial."""
        total, divisor = self.normal(total), self.normal(divisor)
        exact = total.exactly(divisor)
        if exact is not None:
            return exact
        if self.hint(divisor) == 0 or self.hint(total) % self.hint(divisor):
            return None
        number = divisor.constant()
        uneven = [(monomial, factor) for monomial, factor in total.terms if number and factor % number]
        if len(uneven) == 1:
            (monomial, factor), = uneven
            needed = number // math.gcd(number, factor)
            for kind, *parts in monomial:
                if kind == "s" and self.symbols[parts[0]].hint % needed == 0:
                    self._split(parts[0], Dim.of(needed))
                    return self.normal(total).quotient(divisor)
        self.holds(total - divisor * total.quotient(divisor), "==")
        return total.quotient(divisor)

    def _split(self, number, factor):
        """Makes a symbol, which is a multiple of `factor` in this call, that many times a new one."""
        whole, symbol = Dim.symbol(number), self.symbols[number]
        low = None if symbol.low is None or symbol.low < 0 else 0
        part = self.new(symbol.hint // self.hint(factor), low, f"{symbol.name} / {factor.source(self.name)}")
        self._add(whole.remainder(factor), "==")
        self.derived[len(self.symbols) - 1] = self.given(whole.quotient(factor))
        self._replace(number, part * factor)

    def name(self, number):
        """The name of a symbol, for people."""
        return self.symbols[number].name
