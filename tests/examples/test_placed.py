"""Arrays that lie as layouts state, from Python: no copy, no conversion, and what does not fit.
usage: test_placed.py ETCC"""
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import axon

ETCC = sys.argv.pop(1)
PROGRAM = """
entry columns (x : f32[m, n] @ S[(m, n) : (1, m)]) = x * 2.0
entry rows (x : f32[m, n] @ S[(m, n) : (ld, 1)]) = for i => sum j => x[i, j]
entry backwards (x : f32[n] @ S[n : -1]) = x + 1.0
entry turned (x : f32[a, b, c] @ S[(a, b, c) : (c, a*c, 1)]) = for b => sum a c => x[a, b, c]
entry repeated (x : f32[n, c] @ S[(n, c) : (0, 1)]) = x + 0.5
entry stepped (x : f32[n] @ S[n : s]) (i : i32[k] @ S[k : 2]) = x[i]
entry plain (x : f32[m, n]) = x + 1.0
entry out (x : f32[m, n]) : f32[m, n] @ S[(m, n) : (1, m)] = x + 1.0
entry padded (x : f32[m, n]) : f32[m, n] @ S[(m, n) : ((n + 3), 1)] = x + 1.0
entry update (x : *f32[m, n] @ S[(m, n) : (1, m)]) (y : f32[m, n]) = x with [:] = x + y
entry any_rows (x : *f32[m, n] @ S[(m, n) : (r, 1)]) = x with [:] = x + 1.0
entry overlapping (x : f32[m, n]) (k : i64) : f32[m, n] @ S[(m, n) : (k, 1)] = x
"""
directory = tempfile.TemporaryDirectory()
path = os.path.join(directory.name, "placed.axb")
with open(os.path.join(directory.name, "placed.axn"), "w") as file:
    file.write(PROGRAM)
subprocess.run([ETCC, "build", file.name, "-o", path], check=True)


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


class Placed(unittest.TestCase):
    def setUp(self):
        self.bundle = axon.load(path, workers=2)
        self.prepared = []  # what the extension did not hand to the library as it is
        prepare = axon.Entry._prepare

        def noted(entry, number, value):
            self.prepared.append(value)
            return prepare(entry, number, value)

        axon.Entry._prepare = noted
        self.addCleanup(setattr, axon.Entry, "_prepare", prepare)

    def same_memory(self, array):
        self.assertFalse(any(value is array for value in self.prepared))

    def fails(self, code, text, entry, *arguments):
        with self.assertRaises(axon.Error) as caught:
            getattr(self.bundle, entry)(*arguments)
        self.assertEqual(caught.exception.code, code)
        self.assertIn(text, str(caught.exception))

    def test_what_lies_so_goes_in_without_a_copy(self):
        for shape in ((3, 5), (5, 3), (1, 7), (7, 1), (0, 4), (4, 0), (33, 65)):
            x = np.asfortranarray(numbers(*shape))
            np.testing.assert_array_equal(self.bundle.columns(x), x * 2)
            self.same_memory(x)
            whole = numbers(shape[0], shape[1] + 4)
            part = whole[:, 2:2 + shape[1]]
            np.testing.assert_allclose(self.bundle.rows(part), part.sum(1), rtol=1e-5)
            self.same_memory(part)
        x = numbers(9)[::-1]
        np.testing.assert_array_equal(self.bundle.backwards(x), x + 1)
        self.same_memory(x)
        x = numbers(4, 3, 5).transpose(1, 0, 2)
        np.testing.assert_allclose(self.bundle.turned(x), x.sum((0, 2)))
        self.same_memory(x)
        x = np.broadcast_to(numbers(5), (3, 5))
        np.testing.assert_array_equal(self.bundle.repeated(x), x + 0.5)
        self.same_memory(x)
        x, i = numbers(20)[1::3], np.array([3, 99, 0, 99, 5, 99], np.int32)[::2]
        np.testing.assert_array_equal(self.bundle.stepped(x, i), x[i])
        self.same_memory(x)
        self.same_memory(i)

    def test_checked_elements_are_those_of_the_tensor(self):
        i = np.array([3, 0, 7, 0], np.int32)[::2]
        self.fails("E0825", "element [1] of `i` is 7, but must be at least 0 and less than 7", "stepped",
                   numbers(20)[1::3], i)

    def test_what_lies_otherwise_is_an_error_with_both_sides(self):
        self.fails("E0827", "the stride of axis 0 of `x` is 5, but must be 1: the given tensor has the strides [5, 1], "
                   "and its layout states [1, m] = [1, 3]", "columns", numbers(3, 5))
        self.fails("E0827", "the stride of axis 0 of `x` is 1, but must be -1", "backwards", numbers(4))
        self.fails("E0827", "the given tensor has the strides [5, 1], and its layout states [0, 1]", "repeated",
                   numbers(3, 5))
        self.fails("E0827", "no multiples", "stepped", np.zeros(4, np.dtype([("a", "f4"), ("b", "i2")]))["a"],
                   np.zeros(2, np.int32)[::2])
        self.fails("E0827", "the stride of axis 0 of `x` is -5", "rows", numbers(3, 5)[::-1])

    def test_lists_are_brought_there(self):
        np.testing.assert_array_equal(self.bundle.columns([[1, 2, 3], [4, 5, 6]]), [[2, 4, 6], [8, 10, 12]])
        np.testing.assert_array_equal(self.bundle.rows([[1, 2, 3], [4, 5, 6]]), [6, 15])
        np.testing.assert_array_equal(self.bundle.backwards([1, 2, 3]), [2, 3, 4])

    def test_without_a_layout_arrays_are_copied_as_ever(self):
        x = numbers(3, 5).T
        np.testing.assert_array_equal(self.bundle.plain(x), x + 1)
        self.assertIs(self.prepared[-1], x)
        np.testing.assert_array_equal(self.bundle.plain(numbers(4, 6)[::2, 1::2]), numbers(4, 6)[::2, 1::2] + 1)

    def test_results_lie_as_stated(self):
        x = numbers(3, 5)
        for entry, strides in ((self.bundle.out, (4, 12)), (self.bundle.padded, None)):
            for shape in ((3, 5), (1, 1), (0, 3), (3, 0), (17, 2)):
                np.testing.assert_array_equal(entry(numbers(*shape)), numbers(*shape) + 1)
            if strides:
                self.assertEqual(entry(x).strides, strides)
        np.testing.assert_array_equal(self.bundle.overlapping(x, 9), x)
        self.fails("E0827", "the result is written, and with the strides [2, 1] of the shape [3, 5] not every element "
                   "has a place of its own", "overlapping", x, 2)
        self.fails("E0827", "the stride -9 of its axis 0 is negative", "overlapping", x, -9)

    def test_states_are_updated_where_they_are(self):
        x, y = np.asfortranarray(numbers(3, 5)), np.ones((3, 5), np.float32)
        self.assertIs(self.bundle.update(x, y), x)
        np.testing.assert_array_equal(x, numbers(3, 5) + 1)
        whole = numbers(4, 8)
        self.assertIsNotNone(self.bundle.any_rows(whole[:, :5]))
        np.testing.assert_array_equal(whole[:, :5], numbers(4, 8)[:, :5] + 1)
        np.testing.assert_array_equal(whole[:, 5:], numbers(4, 8)[:, 5:])
        self.fails("E0827", "its layout states [1, m] = [1, 3]", "update", numbers(3, 5), y)
        windows = np.lib.stride_tricks.as_strided(numbers(12), (3, 5), (8, 4))
        self.fails("E0827", "not every element has a place of its own", "any_rows", windows)
        with self.assertRaises(axon.Error):
            self.bundle.update([[1, 2]], [[1, 2]])


if __name__ == "__main__":
    unittest.main()
