"""Every row of the vocabulary against NumPy, for two sets of sizes through one recording.

usage: test_vocabulary.py GROUP    (with PYTHONPATH at the package and this folder)
"""
import sys
import unittest

import numpy as np

import axon
from axon.record.function import together
from compare import called, difference
from rows import GROUPS, SIZES, argument

GROUP = sys.argv.pop() if len(sys.argv) > 1 else None


class Vocabulary(unittest.TestCase):
    def test_rows(self):
        random = np.random.default_rng(1)
        rows = [(axon.function(function), [[argument(kind, sizes, random) for kind in kinds] for sizes in SIZES])
                for name, group in GROUPS.items() if GROUP in (None, name) for function, *kinds in group]
        together([(function, calls[0]) for function, calls in rows])
        for function, calls in rows:
            for arguments in calls:
                with self.subTest(row=function.__wrapped__.__code__.co_firstlineno, sizes=[it.shape for it in arguments]):
                    expected = called(function.__wrapped__, arguments)
                    self.assertEqual(difference(function(*arguments), expected), "")


if __name__ == "__main__":
    unittest.main()
