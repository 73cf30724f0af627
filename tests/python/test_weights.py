"""Weights from files and from arrays. usage: test_weights.py WRITE_TEST_BUNDLE"""
import os
import unittest
from pathlib import Path

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
        for other in (file, w, {"w": w}, 3):
            self.fails("no weights are called `q`", self.bundle.bind, q=other)
        self.fails("no weights are called `workers`; there is `p`", self.bundle.bind, p={"w": w, "v": v}, workers=2,
                   code="E0801")
        self.bundle.bind(w=w, v=v)
        self.fails("`p.w` is given twice", self.bundle.bind, {"p": {"w": w}}, p={"w": w, "v": v}, code="E0801")
        self.bundle.bind(map="p.w <- other", other=w, v=v)
        for wrong in (3, b"p.w <- other", Path("names.map")):
            self.fails("`map` is the text of a binding map, not", self.bundle.bind, {"other": w, "v": v}, map=wrong,
                       code="E0801")
        self.fails("`p` of `weights` holds weights, which bind() takes", bound.weights, p={"w": w, "v": v}, h=2, bytes=48)

    def test_what_is_no_weight(self):
        w, v = np.ones((1, 3, 4), np.float32), np.ones(3, np.float32)
        for wrong, kind in ((None, "None"), (iter([1]), "an object of list_iterator"), ("w", "a text"),
                            ({1.0}, "an object of set")):
            self.fails(f"`p.w` is {kind}, and weights are arrays", self.bundle.bind, p={"w": wrong, "v": v}, code="E0822")
            self.fails(f"`extra` is {kind}, and weights are", self.bundle.bind, {"w": w, "v": v, "extra": wrong}, code="E0822")
        for wrong, kind in ((None, "None"), (w, "an array"), ([], "a list that is empty"), (3, "the number 3")):
            self.fails(f"`p` is a record or a tuple of w, v, not {kind}", self.bundle.bind, p=wrong, code="E0822")
        self.fails("`extra` is uneven", self.bundle.bind, {"w": w, "v": v, "extra": [[1], [1, 2]]}, code="E0823")
        itself = {"w": w}
        itself["v"] = itself
        self.fails("`p.v` is a part of itself", self.bundle.bind, p=itself, code="E0822")
        self.bundle.bind({"w": w, "v": v, "other": np.ones(3), "more": {"x": [1, 2]}})  # a checkpoint may have more

    def test_weights_of_one_entry_alone(self):
        model = axon.compile("""
entry scaled (p : weights { scale : f32[d] }) (x : f32[n, d]) = x * p.scale
entry moved (p : weights { scale : f32[d], by : f32[d] }) (x : f32[n, d]) = x * p.scale + p.by
entry kept (p : weights { by : f32[d] }) (s : *f32[d]) = s with [:] = s + p.by
""")
        x, scale = np.ones((1, 2), np.float32), np.array([3, 4], np.float32)
        bound = model.bind({"p": {"scale": scale}})
        np.testing.assert_array_equal(bound.scaled(x), [[3, 4]])
        lacks = "weights that were not bound: parameter `by`: the weights have no tensor `by`"
        self.fails("`moved` has " + lacks, bound.moved, x, code="E0709")
        self.fails("`kept` has " + lacks, bound.kept.state, code="E0709")
        np.testing.assert_array_equal(bound.scaled(x), [[3, 4]])
        self.fails("the weights have no tensor", model.bind, {"p": {"other": scale}}, code="E0709")
        whole = model.bind({"p": {"scale": scale, "by": scale}})
        np.testing.assert_array_equal(whole.moved(x), [[6, 8]])


if __name__ == "__main__":
    unittest.main()
