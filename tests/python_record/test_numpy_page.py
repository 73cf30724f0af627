"""The page about NumPy is true: its blocks are run, one after the other, and what they print stands behind them.

  ```python    a block
  ```axn       what the block before it prints: a program, which the compiler takes
  ```text      what the block before it prints

The table of the vocabulary has each row of the tables of the package.

usage: test_numpy_page.py docs/numpy.md [--write]    (with PYTHONPATH at the package)
"""
import contextlib
import io
import linecache
import re
import sys
import unittest

import numpy as np

from axon.record import making, place, vocabulary
from survey import functions_of_arrays, known_functions

PAGE = ""
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def words_of_the_table():
    """The rows of the vocabulary, by the first column of the page's table."""
    elements = sorted(it.__name__ for it in vocabulary.UFUNCS if isinstance(it, np.ufunc))
    of_elements = sorted(f"{it[0].__name__}.{it[1]}" for it in vocabulary.UFUNCS if isinstance(it, tuple))
    functions = set()
    for function in vocabulary.FUNCTIONS:
        module = next((f"{it}." for it in ("linalg", "fft") if it in getattr(function, "__module__", "")), "")
        functions.add(module + function.__name__)
    shown = sorted(it for it in of_elements if not it.endswith(".outer"))
    lacking = sorted(name for name, function in functions_of_arrays() if function not in known_functions())
    return {"of elements": elements, "methods of these": [*shown, "outer of those of two arguments"],
            "functions": sorted(functions), "that make arrays": sorted(making.MAKING),
            "methods of arrays": sorted(it for it in vocabulary.METHODS if not it.startswith("_")), "not recorded": lacking}


def rows_of_codes():
    return "".join(f"| {code} | {meaning} |\n" for code, meaning in place.CODES.items())


class Page(unittest.TestCase):
    def test_blocks(self):
        with open(PAGE, encoding="utf-8") as file:
            text = file.read()
        names, printed, count = {}, None, 0
        for found in FENCE.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            kind, block = found.groups()
            with self.subTest(line=line):
                if kind == "python":
                    file = f"<numpy.md:{line}>"
                    linecache.cache[file] = (len(block), None, block.splitlines(True), file)
                    with contextlib.redirect_stdout(io.StringIO()) as out:
                        exec(compile(block, file, "exec"), names)
                    printed = out.getvalue()
                else:
                    count += 1
                    self.assertEqual(printed.strip("\n"), block.strip("\n"))
        self.assertGreater(count, 6)

    def test_the_vocabulary_is_complete(self):
        with open(PAGE, encoding="utf-8") as file:
            text = file.read()
        for first, words in words_of_the_table().items():
            with self.subTest(row=first):
                row = re.search(rf"^\| {first} \| (.*) \|$", text, re.MULTILINE)
                self.assertEqual(row.group(1).replace("`", ""), ", ".join(words))


    def test_the_codes_are_those_of_the_recorder(self):
        with open(PAGE, encoding="utf-8") as file:
            self.assertIn("|---|---|\n" + rows_of_codes() + "\n", file.read())


def write():
    """Puts the rows of the vocabulary into the page."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    for first, words in words_of_the_table().items():
        text = re.sub(rf"^\| {first} \| .* \|$", f"| {first} | `{', '.join(words)}` |", text, flags=re.MULTILINE)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    PAGE = sys.argv[1]
    if "--write" in sys.argv:
        write()
    else:
        unittest.main(argv=sys.argv[:1])
