"""Weights from files and from arrays. usage: test_weights.py WRITE_TEST_BUNDLE"""
import os
import unittest

import numpy as np

import axon
import support

path, directory = support.test_bundle()


class Weights(support.Case):
    def setUp(self):
        self.bundle = axon.load(path, workers=2)

    def test_weights_from_arrays(self):
        w = np.arange(12, dtype=np.float32).reshape(1, 3, 4)
        weights = self.bundle.bind({"w": w, "v": np.ones(3, np.float32)})
        out = weights.weights(h=2, bytes=48)
        np.testing.assert_array_equal(out[:48].view(np.float32), w.ravel())
        with self.assertRaises(axon.Error) as caught:
            self.bundle.bind({"p": {"w": w, "v": np.ones(4, np.float32)}}).weights(h=2, bytes=48)
        self.assertIn("expected [n, d, g*h] = [1, 4, ?]", str(caught.exception))

    def test_weights_by_parameter(self):
        w, v = np.arange(12, dtype=np.float32).reshape(1, 3, 4), np.ones(3, np.float32)
        file = os.path.join(directory, "p.npz")
        np.savez(file, w=w, v=v)
        named = os.path.join(directory, "named.npz")
        np.savez(named, **{"p.w": w, "p.v": v})
        for bound in (self.bundle.bind(file), self.bundle.bind(p=file), self.bundle.bind(named), self.bundle.bind(p=named),
                      self.bundle.bind(p={"w": w, "v": v}), self.bundle.bind({"p": {"w": w, "v": v}})):
            np.testing.assert_array_equal(bound.weights(h=2, bytes=48)[:48].view(np.float32), w.ravel())
        self.fails("from both", self.bundle.bind, file, p={"w": w})
        for wrong in (w, [{"w": w, "v": v}], {"w"}, 3, None, (w, v)):
            self.fails("a dict of arrays", self.bundle.bind, wrong, code="E0801")
        self.fails("no weights are called `q`", self.bundle.bind, q=file)
        self.fails("`p` of `weights` holds weights, which bind() takes", bound.weights, p={"w": w, "v": v}, h=2, bytes=48)


if __name__ == "__main__":
    unittest.main()
