"""Polynomials over sizes, and facts, against numbers.

Whatever is made of polynomials has the value that the same arithmetic of numbers has. What a trace answers for its hints
holds for all sizes for which its facts hold: those are enumerated.

usage: test_sizes.py    (with PYTHONPATH at the package)
"""
import itertools
import random
import unittest

from axon.record.sizes import Dim, Facts, relation_text


def drawn(rng, depth=3):
    """A polynomial of three symbols, and the function of numbers that it is."""
    if depth == 0 or rng.random() < 0.2:
        if rng.random() < 0.6:
            number = rng.randrange(3)
            return Dim.symbol(number), lambda values: values[number]
        constant = rng.randrange(-3, 5)
        return Dim.of(constant), lambda values: constant
    (a, f), (b, g) = drawn(rng, depth - 1), drawn(rng, depth - 1)
    kind = rng.choice("+-*/%")
    if kind in "/%":
        divisor = rng.randrange(1, 5)
        made = a.quotient(Dim.of(divisor)) if kind == "/" else a.remainder(Dim.of(divisor))
        return made, (lambda values: f(values) // divisor) if kind == "/" else (lambda values: f(values) % divisor)
    if kind == "*":
        return a * b, lambda values: f(values) * g(values)
    return (a + b, lambda values: f(values) + g(values)) if kind == "+" else (a - b, lambda values: f(values) - g(values))


class Sizes(unittest.TestCase):
    def test_arithmetic(self):
        rng = random.Random(1)
        for _ in range(500):
            dim, function = drawn(rng)
            for _ in range(5):
                values = [rng.randrange(0, 9) for _ in range(3)]
                self.assertEqual(Facts.value(dim, values), function(values), dim)

    def test_exact_quotients(self):
        n, m = Dim.symbol(0), Dim.symbol(1)
        self.assertEqual((n * m * 6).exactly(n * 3), m * 2)
        self.assertIsNone((n * m + 1).exactly(n))
        self.assertEqual((n * 4 + 7).quotient(Dim.of(4)), n + 1)
        self.assertEqual((n * 4 + 7).remainder(Dim.of(4)), Dim.of(3))

    def test_answers_hold_where_the_facts_do(self):
        rng = random.Random(2)
        for _ in range(70):
            facts = Facts()
            for at, hint in enumerate((rng.randrange(0, 7), rng.randrange(2, 7), rng.randrange(-3, 7))):
                facts.new(hint, 0 if at < 2 else None, f"size {at}")
            answers = []
            for _ in range(rng.randrange(1, 6)):
                dim, _ = drawn(rng, 2)
                relation = rng.choice(["==", ">="])
                answers.append((dim, relation, facts.holds(dim, relation)))
            given = [(facts.given(fact.dim), fact.relation) for fact in facts.facts]
            hints = [symbol.hint for symbol in facts.symbols[:3]]
            self.assertTrue(all(self._holds(*fact, hints) for fact in given))
            for values in itertools.product(range(5), range(5), range(-3, 6)):
                if all(self._holds(*fact, values) for fact in given):
                    for dim, relation, answer in answers:
                        self.assertEqual(self._holds(dim, relation, values), answer, (given, dim, relation, values))

    def test_replaced_symbols_are_what_the_facts_say(self):
        rng = random.Random(3)
        for _ in range(70):
            facts = Facts()
            n, m, k = (facts.new(rng.choice([2, 4, 6, 12]), 0, f"size {at}") for at in range(3))
            facts.equal(n * rng.randrange(1, 3), m + rng.randrange(0, 3))
            facts.divided(n * m, Dim.of(rng.choice([2, 4])), "")
            facts.equal(k, rng.choice([n, m, k.quotient(Dim.of(2)) * 2]))
            given = [(facts.given(fact.dim), fact.relation) for fact in facts.facts]
            for values in itertools.product(range(0, 13, 2), repeat=3):
                if all(self._holds(*fact, values) for fact in given):
                    for dim in (n, m, k):
                        solved = facts.given(facts.normal(dim))
                        self.assertEqual(Facts.value(solved, values), Facts.value(dim, values), (given, solved))

    def test_texts(self):
        n, m = Dim.symbol(0), Dim.symbol(1)
        self.assertEqual(relation_text(n - m - 1, ">=", lambda dim: dim.source()), "s1 + 1 <= s0")
        self.assertEqual((n.quotient(Dim.of(2)) * 3 - m).source("nm".__getitem__, "/"), "3 * (n / 2) - m")

    @staticmethod
    def _holds(dim, relation, values):
        value = Facts.value(dim, values)
        return {"==": value == 0, "!=": value != 0, ">=": value >= 0}[relation]


if __name__ == "__main__":
    unittest.main()
