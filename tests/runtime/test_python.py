"""The Python module over the tests' bundle. usage: AXON_LIBRARY=... test_python.py WRITE_TEST_BUNDLE"""
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import axon

directory = tempfile.TemporaryDirectory()
path = os.path.join(directory.name, "test.axb")
subprocess.run([sys.argv.pop(1), path], check=True)


class Python(unittest.TestCase):
    def setUp(self):
        self.bundle = axon.load(path, workers=2)

    def test_arguments_by_name_and_in_order(self):
        x = np.arange(12, dtype=np.float32).reshape(2, 6)
        y = np.zeros((3, 2), np.float32)
        scale = self.bundle.scale
        for result in (scale(x=x, a=2.5, y=y), scale(x, 2.5, y), scale(x, np.float32(2.5), y=y.tolist())):
            np.testing.assert_array_equal(result, (x * 2.5).ravel()[:6].reshape(2, 3))
        np.testing.assert_array_equal(self.bundle.scale(x.T.copy().T, 1, y).ravel(), x.ravel()[:6])

    def test_a_state_is_updated_in_place(self):
        cache = np.array([1, 2, 3], np.int32)
        total, after = self.bundle.keep(cache=cache, token=5, pos=1)
        self.assertEqual(total, 9)
        self.assertIs(after, cache)
        np.testing.assert_array_equal(cache, [1, 5, 3])

    def test_weights_from_arrays(self):
        w = np.arange(12, dtype=np.float32).reshape(1, 3, 4)
        weights = self.bundle.bind({"w": w, "v": np.ones(3, np.float32)})
        out = weights.weights(h=2, bytes=48)
        np.testing.assert_array_equal(out[:48].view(np.float32), w.ravel())
        with self.assertRaises(axon.Error) as caught:
            self.bundle.bind({"p": {"w": w, "v": np.ones(4, np.float32)}}).weights(h=2, bytes=48)
        self.assertIn("expected [n, d, g*h] = [1, 4, ?]", str(caught.exception))

    def test_errors_carry_the_message_and_code(self):
        x = np.zeros((2, 6), np.float32)
        with self.assertRaises(axon.Error) as caught:
            self.bundle.scale(x=x, a=1, y=np.zeros((3, 5), np.float32))
        self.assertEqual(str(caught.exception), "axis 1 of `y` is 5, but `n` is 2 (from axis 0 of `x`)")
        self.assertEqual(caught.exception.code, "E0823")
        for arguments in ({"x": x}, {"x": x, "q": 1}, {"x": x.astype(np.float64), "a": 1}, {"x": x, "a": x}):
            with self.assertRaises(axon.Error):
                axon.load(path).scale(**arguments)
        with self.assertRaises(axon.Error):
            self.bundle.keep(cache=[1, 2, 3], token=1, pos=0)
        with self.assertRaises(axon.Error):
            axon.load(os.path.join(directory.name, "nothing.axb"))
        with self.assertRaises(AttributeError):
            self.bundle.nothing

    def test_entries_describe_themselves(self):
        self.assertIn("scale", self.bundle.entries)
        self.assertIn("x : f32[n, 2*m]", repr(self.bundle.scale))


if __name__ == "__main__":
    unittest.main()
