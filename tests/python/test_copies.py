"""Copies and pickles of models, entries and errors, and processes that get them."""
import copy
import multiprocessing
import os
import pickle
import tempfile
import unittest

import numpy as np

import axon
import support

PROGRAM = """
entry double (x : f32[n]) = x + x
entry scaled (p : weights {w : f32[d]}) (x : f32[d]) = x * p.w
"""
folder = tempfile.TemporaryDirectory()


def doubled(entry, x):
    return entry(x)


class Copies(support.Case):
    @classmethod
    def setUpClass(cls):
        cls.model = axon.compile(PROGRAM, workers=1)
        cls.path = os.path.join(folder.name, "model.axb")
        with open(cls.path, "wb") as file:
            file.write(cls.model._source.bundle)
        cls.weights = os.path.join(folder.name, "w.npz")
        np.savez(cls.weights, w=np.arange(3, dtype=np.float32))

    def test_copies_are_the_same_object(self):
        bound = self.model.bind(self.weights)
        for one in (self.model, bound, self.model.double, bound.scaled):
            self.assertIs(copy.copy(one), one)
            self.assertIs(copy.deepcopy(one), one)
            self.assertIs(copy.deepcopy([one])[0], one)

    def test_pickles(self):
        relative = axon.load(os.path.relpath(self.path), workers=1)
        for model in (self.model, axon.load(self.path, workers=2), relative, axon.load(self.path.encode())):
            again = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(again.double([1, 2]), [2, 4])
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(model.double))([1, 2]), [2, 4])
            bound = pickle.loads(pickle.dumps(model.bind(self.weights)))
            np.testing.assert_array_equal(bound.scaled([1, 1, 1]), [0, 1, 2])
            for given in ({"map": "p.w <- w"}, {}):
                bound = pickle.loads(pickle.dumps(model.bind(p=self.weights, **given).scaled))
                np.testing.assert_array_equal(bound([1, 1, 1]), [0, 1, 2])
        self.assertIs(pickle.loads(pickle.dumps(axon.load(self.path, workers=1)))._runtime, axon.workers(1))

    def test_what_has_no_pickle(self):
        bound = self.model.bind({"p": {"w": np.ones(3, np.float32)}})
        for one in (bound, bound.scaled):
            self.fails("weights that were bound from arrays cannot be pickled", pickle.dumps, one, code="E0801")
        gone = os.path.join(folder.name, "gone.axb")
        os.link(self.path, gone)
        text = pickle.dumps(axon.load(gone))
        os.unlink(gone)
        self.fails("gone.axb", pickle.loads, text)

    def test_errors(self):
        error = self.fails("no number", self.model.double, "x", code="E0822")
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.code), (str(error), "E0822"))
        self.assertEqual(copy.copy(error).code, "E0822")

    def test_processes(self):
        x = np.arange(3, dtype=np.float32)
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(2) as pool:
                bound = self.model.bind(self.weights)
                for entry, expected in ((self.model.double, x + x), (bound.scaled, x * x)):
                    for result in pool.starmap_async(doubled, [(entry, x)] * 4).get(timeout=100):
                        np.testing.assert_array_equal(result, expected)
                with self.assertRaises(axon.Error) as caught:
                    pool.apply_async(doubled, (self.model.double, "x")).get(timeout=100)
                self.assertEqual(caught.exception.code, "E0822")


if __name__ == "__main__":
    unittest.main()
