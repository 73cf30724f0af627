"""Calls: arguments in and out, and what is wrong with them. usage: test_calls.py WRITE_TEST_BUNDLE"""
import os
import unittest

import numpy as np

import axon
import support

path, directory = support.test_bundle()


class Calls(support.Case):
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
            axon.load(os.path.join(directory, "nothing.axb"))
        with self.assertRaises(AttributeError):
            self.bundle.nothing

    def test_entries_describe_themselves(self):
        self.assertIn("scale", self.bundle.entries)
        self.assertIn("x : f32[n, 2*m]", repr(self.bundle.scale))

    def test_every_argument_is_given_at_every_call(self):
        x, y = np.ones((2, 4), np.float32), np.zeros((2, 2), np.float32)
        scale = self.bundle.scale
        scale(x, 2.5, y)
        for given, missing in (({"x": x, "y": y}, "`a`"), ({"a": 1}, "`x`, `y`"), ({}, "`x`, `a`, `y`")):
            self.fails(f"`scale` has inputs that were not set: {missing}", scale, **given, code="E0821")
        cache = np.array([1, 2, 3], np.int32)
        self.bundle.keep(cache, 5, 1)
        self.fails("not set: `cache`", self.bundle.keep, token=5, pos=1)
        self.fails("not set: `pos`", self.bundle.keep, cache, 5)
        np.testing.assert_array_equal(cache, [1, 5, 3])
        np.testing.assert_array_equal(scale(x, 2, y), np.full((2, 2), 2))

    def test_a_size_is_given_at_every_call(self):
        bound = self.bundle.bind({"w": np.ones((1, 3, 4), np.float32), "v": np.ones(3, np.float32)})
        bound.weights(h=2, bytes=48)
        self.fails("size `h` of `weights` is not determined", bound.weights, bytes=48, code="E0821")
        for wrong, text in ((2.5, "`h` is i64, and 2.5 is a float"), (True, "is True or False"), ([2], "not a list"),
                            (2**64 + 2, "cannot hold 18446744073709551618"), ("2", "'2' is no number"),
                            (None, "None is no number"), (-2, "not negative")):
            self.fails(text, bound.weights, h=wrong, bytes=48)
        self.assertEqual(len(bound.weights(h=np.int8(2), bytes=np.int64(48))), 60)

    def test_a_state_is_memory_of_the_right_type(self):
        odd = np.zeros(13, np.uint8)[1:].view(np.int32)
        self.fails("aligned", self.bundle.keep, cache=odd, token=1, pos=0, code="E0826")
        for wrong in ([1, 2, 3], (1, 2, 3), np.ones(3, np.int64), np.ones(6, np.int32)[::2], np.broadcast_to(np.int32(1), 3)):
            self.fails("`cache", self.bundle.keep, cache=wrong, token=1, pos=0)

    def test_parts_are_told_from_tensors(self):
        x, y = np.ones((2, 4), np.float32), np.zeros((2, 2), np.float32)
        self.fails("`x` of `scale` is a tensor", self.bundle.scale, {"w": x}, 1, y)
        self.fails("`x` of `scale` is a tensor", self.bundle.scale, (x, x), 1, y)
        self.fails("`scale` has no input `q`; it has `x`, `a`, `y`", self.bundle.scale, x, 1, y, q=2)

    def test_workers_are_counted(self):
        for wrong in (-1, 2**32, 2**64 + 1, np.int64(-2), 1.5, 1.0, True, "2", None, 10**5000):
            self.fails("a number of workers is an integer from 0 on, not", axon.load, path, workers=wrong, code="E0801")
            self.fails("a number of workers is an integer from 0 on, not", axon.workers, wrong)
        self.fails("workers", axon.load, path, workers=2**32 - 1)
        self.assertIs(axon.workers(np.int8(2)), axon.workers(2))

    def test_a_nul_ends_no_name(self):
        w, v = np.zeros((1, 3, 4), np.float32), np.ones(3, np.float32)
        for wrong in (path + "\0x", path.encode() + b"\0"):
            self.fails("has a NUL in it", axon.load, wrong, code="E0801")
            self.fails("has a NUL in it", self.bundle.bind, wrong)
            self.fails("has a NUL in it", self.bundle.bind, p=wrong)
        self.fails("has a NUL in it", self.bundle.bind, {"p": {"w\0": w, "v": v}})
        self.fails("has a NUL in it", self.bundle.bind, p={"w": w, "v": v}, map="p.w <- w\0")


if __name__ == "__main__":
    unittest.main()
