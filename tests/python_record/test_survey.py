"""The survey of NumPy's vocabulary: what it calls recorded gives what NumPy gives, in three sets of sizes; what it calls refused
is an error with its code and the line that asked; and every function of arrays that NumPy has stands in it.

usage: test_survey.py [PART PARTS]    (with PYTHONPATH at the package and this folder)
"""
import linecache
import re
import sys
import unittest

import numpy as np

import axon
from axon.record.function import together
from compare import called, difference
from survey import ARGUMENTS, RECORDED, REFUSED, arguments, functions_of_arrays, known_functions

PART, PARTS = map(int, sys.argv[1:3] or (0, 1))
NAMES = re.compile(r"np\.((?:linalg\.|fft\.)?\w+)")


def compiled(expression, number):
    """The Python function of an expression, on line 2 of a file of its own."""
    text = f"def f{number}({', '.join(ARGUMENTS)}):\n    return {expression}\n"
    file = f"<survey {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"np": np}
    exec(compile(text, file, "exec"), names)
    return names[f"f{number}"]


def outcome(function, given, failure=axon.Error):
    """What a call gives, or how it fails."""
    try:
        return called(function, given)
    except failure as error:
        return error


class Recorded(unittest.TestCase):
    def test_gives_what_numpy_gives(self):
        chosen = RECORDED[PART::PARTS]
        calls = [tuple(arguments(columns, seed).values()) for seed, columns in enumerate((5, 7, 11))]
        functions = [axon.function(compiled(expression, at)) for at, expression in enumerate(chosen)]
        together([(function, calls[0]) for function in functions])
        for expression, function in zip(chosen, functions):
            for given in calls:
                with self.subTest(expression=expression, columns=given[-1]):
                    self.assertEqual(difference(function(*given), called(function.__wrapped__, given)), "")


class Small(unittest.TestCase):
    """Without columns, and with one: what NumPy refuses is refused, with its own words or as what is not recorded."""

    def test_is_as_numpy_has_it(self):
        chosen = [it for it in RECORDED[PART::PARTS] if not it.startswith(("np.put(", "np.put_along_axis("))]  # of no result
        for columns in (0, 1):
            given = tuple(arguments(columns, 3).values())
            expected = [outcome(compiled(expression, at), given, Exception) for at, expression in enumerate(chosen)]
            functions = [axon.function(compiled(expression, at)) for at, expression in enumerate(chosen)]
            recorded = [function for function in functions if not isinstance(outcome(function.text, given), axon.Error)]
            together([(function, given) for function in recorded])
            for expression, function, right in zip(chosen, functions, expected):
                with self.subTest(expression=expression, columns=columns):
                    found = outcome(function, given)
                    if isinstance(right, Exception):
                        self.assertIsInstance(found, axon.Error)
                    elif not (isinstance(found, axon.Error) and found.code == "N003"):
                        self.assertEqual(difference(found, right), "")


@unittest.skipIf(PART, "that is the first part's")
class Refused(unittest.TestCase):
    def test_names_the_line_and_has_a_code(self):
        for code, expressions in REFUSED.items():
            for expression in expressions:
                with self.subTest(expression=expression):
                    with self.assertRaises(axon.Error) as caught:
                        axon.function(compiled(expression, 999))(*arguments().values())
                    self.assertRegex(str(caught.exception), r"^<survey 999>:2: ")
                    self.assertEqual(caught.exception.code, code)


class Complete(unittest.TestCase):
    def test_every_function_of_arrays_is_here(self):
        shown = {name for expression in (*RECORDED, *sum(REFUSED.values(), [])) for name in NAMES.findall(expression)}
        same = {function for name, function in functions_of_arrays() if name in shown}
        missing = [name for name, function in functions_of_arrays() if function not in same | known_functions()]
        self.assertEqual(missing, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
