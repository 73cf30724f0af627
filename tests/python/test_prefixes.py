"""Cumulative functions of rows so long that they are computed in parts: sizes at the edges of parts, groups and the least such
row, by one to three workers, whose results have the same bits."""
import unittest

import numpy as np

import axon
import support

PROGRAM = """
entry sums (x : f32[n]) = cumulative_sum x
entry doubles (x : f64[n]) = cumulative_sum (x * x)
entry integers (x : i32[n]) = cumulative_sum x
entry before (x : i64[n]) = for (l < n + 1) => sum x[: l]
entry greatest (x : f32[n]) = cumulative_max x
entry all_of (x : bool[n]) = for (l < n) => all x[: l + 1]
entry rows (x : f32[2, n]) = cumulative_min x
"""
PART, GROUP, LEAST = 16384, 131072, 524288


class Prefixes(support.Case):
    @classmethod
    def setUpClass(cls):
        cls.models = [axon.compile(PROGRAM, workers=workers) for workers in (1, 2, 3)]

    def results(self, entry, x):
        first, *others = (getattr(model, entry)(x) for model in self.models)
        for other in others:
            self.assertEqual(np.asarray(first).tobytes(), np.asarray(other).tobytes(), (entry, x.shape))
        return np.asarray(first)

    def sizes(self, bytes_of_element):
        least = LEAST * 4 // bytes_of_element
        group = GROUP * 4 // bytes_of_element
        return 0, 1, group + 1, least - 1, least, least + 1, least + PART - 1, least + 3 * PART + 5, least + 3 * group + 5

    def test_integers_are_exact(self):
        random = np.random.default_rng(1)
        for n in self.sizes(4):
            x = random.integers(-2**31, 2**31, n, np.int32)
            np.testing.assert_array_equal(self.results("integers", x), np.cumsum(x, dtype=np.int32))
        for n in self.sizes(8):
            x = random.integers(-2**62, 2**62, n, np.int64)
            np.testing.assert_array_equal(self.results("before", x), np.concatenate([[0], np.cumsum(x)]))

    def test_what_chooses_is_exact(self):
        random = np.random.default_rng(2)
        for n in self.sizes(4):
            x = random.standard_normal(n, np.float32) + np.linspace(0, 9, n, dtype=np.float32)
            np.testing.assert_array_equal(self.results("greatest", x), np.maximum.accumulate(x))
            x = np.stack([x[::-1], -x])
            np.testing.assert_array_equal(self.results("rows", x), np.minimum.accumulate(x, axis=1))
        for n in self.sizes(1):
            for at in (0, n // 2, n - 1, n):
                x = np.arange(n) != at
                np.testing.assert_array_equal(self.results("all_of", x), np.arange(n) < at)

    def test_sums_are_close(self):
        random = np.random.default_rng(3)
        for n in self.sizes(4):
            x = random.standard_normal(n, np.float32)
            np.testing.assert_allclose(self.results("sums", x), np.cumsum(x, dtype=np.float64), 1e-5, 1e-3)
        for n in self.sizes(8):
            x = random.standard_normal(n)
            np.testing.assert_allclose(self.results("doubles", x), np.cumsum(x * x), 1e-12)

    def test_infinities_go_on(self):
        n = LEAST + GROUP + 5
        for at in (3, 5 + PART, n // 2, n - 1):
            x = np.ones(n, np.float32)
            x[at] = np.inf
            expected = np.where(np.arange(n) < at, np.arange(1, n + 1), np.inf).astype(np.float32)
            np.testing.assert_array_equal(self.results("sums", x), expected)
            x[-1] = -np.inf
            if at < n - 1:
                expected[-1] = np.nan
                np.testing.assert_array_equal(self.results("sums", x), expected)
            x[at] = np.nan
            for entry, before in ("sums", np.arange(1, n + 1)), ("greatest", np.ones(n)):
                expected = np.where(np.arange(n) < at, before, np.nan).astype(np.float32)
                np.testing.assert_array_equal(self.results(entry, x), expected)


if __name__ == "__main__":
    unittest.main()
