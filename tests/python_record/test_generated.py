"""Generated functions against NumPy: each recorded, all compiled together, called with two sets of sizes.

usage: test_generated.py FIRST COUNT [SEED [types]]    (with PYTHONPATH at the package and this folder)
"""
import linecache
import sys
import unittest

import numpy as np

import axon
from axon.record.function import together
from compare import called
import generate
import generate_types

Function = generate.Function
FIRST, COUNT, SEED = 0, 300, 1


def compiled(generated):
    """The Python function of a text, whose lines errors can show."""
    file = f"<{generated.name}>"
    linecache.cache[file] = (len(generated.text), None, generated.text.splitlines(True), file)
    names = {"np": np}
    exec(compile(generated.text, file, "exec"), names)
    return names[generated.name]


def misfit(found, expected, error):
    """Where a result is not NumPy's; "" where it is."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{found.dtype}{found.shape} for {expected.dtype}{expected.shape}"
    gap = np.abs(found.astype(np.float64) - expected.astype(np.float64)).max(initial=0)
    return "" if gap <= error else f"{gap:.3g} apart, {error:.3g} allowed"


class Generated(unittest.TestCase):
    def test_functions(self):
        generated = [Function(f"f{number}", np.random.default_rng((SEED, number))) for number in range(FIRST, FIRST + COUNT)]
        functions = [(axon.function(compiled(one)), one) for one in generated]
        arguments = [[[value.arrays[at] for value in one.parameters] for at in range(2)] for one in generated]
        calls = [(function, given) for (function, _), both in zip(functions, arguments) for given in both]
        together(calls)
        once = 0
        for (function, one), both in zip(functions, arguments):
            once += len(function.traces) == 1
            for at, given in enumerate(both):
                with self.subTest(function=one.text, sizes=[it.shape for it in given]):
                    found, expected = function(*given), called(function.__wrapped__, given)
                    self.assertEqual(len(found), len(expected))
                    for result, right, value in zip(found, expected, one.results):
                        self.assertEqual(misfit(result, right, value.errors[at]), "", f"{value.name}\n{function.text()}")
        print(f"{COUNT} functions, {once} of them recorded once")
        self.assertGreater(once, Function.often_once * COUNT)


if __name__ == "__main__":
    if "types" in sys.argv:
        sys.argv.remove("types")
        Function = generate_types.Function
    FIRST, COUNT, SEED = [*map(int, sys.argv[1:]), *(FIRST, COUNT, SEED)[len(sys.argv) - 1:]]
    unittest.main(argv=sys.argv[:1])
