"""The Python module over the tests' bundle. usage: AXON_LIBRARY=... test_python.py WRITE_TEST_BUNDLE"""
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
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

    def fails(self, text, function, *arguments, code=None, **named):
        with self.assertRaises(axon.Error) as caught:
            function(*arguments, **named)
        self.assertIn(text, str(caught.exception))
        if code:
            self.assertEqual(caught.exception.code, code)

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

    def copied(self, elem, values, number):
        """What an entry gets to see of a list and of a number."""
        return getattr(self.bundle, f"copy_{elem}")(values, number)

    def test_integers_are_in_range(self):
        for elem, bits in (("i64", 64), ("i32", 32), ("i16", 16), ("i8", 8)):
            least, most = -2**(bits - 1), 2**(bits - 1) - 1
            xs, y = self.copied(elem, [least, 0, most], most)
            self.assertEqual((xs.tolist(), int(y), y.dtype.itemsize), ([least, 0, most], most, bits // 8))
            for wrong in (least - 1, most + 1, 2**64 + 5, -2**70):
                self.fails(f"`y` is {elem}, which cannot hold {wrong}", self.copied, elem, [0], wrong, code="E0822")
                self.fails(f"element [1] of `x` is {elem}, which cannot hold {wrong}", self.copied, elem, [0, wrong], 0)
        self.assertEqual(self.copied("u8", [0, 255], np.int64(7))[1], 7)
        for wrong in (-1, 256, 300):
            self.fails(f"cannot hold {wrong}", self.copied, "u8", [0], wrong)
            self.fails(f"cannot hold {wrong}", self.copied, "u8", [wrong], 0)
        self.fails("which cannot hold 300", self.copied, "u8", [], np.int64(300))
        for elem in ("i64", "i32", "i16", "i8", "u8", "u32"):
            for wrong in (np.uint64(2**63), np.uint64(2**64 - 1)):
                self.fails(f"`y` is {elem}, which cannot hold {wrong}", self.copied, elem, [0], wrong, code="E0822")
                self.fails(f"element [1] of `x` is {elem}, which cannot hold {wrong}", self.copied, elem, [0, wrong], 0)
        self.assertEqual(self.copied("i64", [np.uint64(2**63 - 1)], np.uint64(7))[0].tolist(), [2**63 - 1])
        self.fails("`l` is i64, which cannot hold 18446744073709551621", self.bundle.chain, [1], 2**64 + 5)

    def test_no_float_is_an_integer(self):
        for elem in ("i64", "i32", "i16", "i8", "u8", "u32"):
            for wrong in (2.5, 2.0, np.float32(2), float("nan")):
                self.fails(f"`y` is {elem}, and {wrong} is a float", self.copied, elem, [0], wrong)
                self.fails(f"element [1] of `x` is {elem}", self.copied, elem, [0, wrong], 0)
            self.fails("True or False", self.copied, elem, [0], True)
        self.fails("`pos` is i64, and 1.0 is a float", self.bundle.keep, np.zeros(3, np.int32), 5, 1.0)

    def test_only_true_and_false_are_bools(self):
        xs, y = self.copied("bool", [True, False], np.bool_(True))
        self.assertEqual((xs.tolist(), xs.dtype, bool(y)), ([True, False], np.bool_, True))
        for wrong in (1, 0, 1.0):
            self.fails("neither True nor False", self.copied, "bool", [True], wrong)
        for elem in ("f32", "bf16"):
            self.fails("True or False", self.copied, elem, [1.0, True], 1)

    def test_floats_are_rounded_once(self):
        third = 1 / 3
        for elem, dtype in (("f64", np.float64), ("f32", np.float32), ("f16", np.float16)):
            xs, y = self.copied(elem, [third, -0.0, 1, np.inf], third)
            np.testing.assert_array_equal(xs, np.array([third, -0.0, 1, np.inf], dtype))
            self.assertEqual((y, xs.dtype, np.signbit(xs[1])), (dtype(third), dtype, True))
            self.assertTrue(np.isnan(self.copied(elem, [np.nan], np.nan)[1]))
        self.assertEqual(self.copied("f32", [2**70], 2**70)[1], np.float32(2.0**70))
        # Just above half way between two f32, which as a f64 would be half way: rounding twice would go down.
        above = 2**60 + 2**36 + 1
        xs, y = self.copied("f32", [above, -above, above - 1], above)
        np.testing.assert_array_equal(xs, np.array([2**60 + 2**37, -2**60 - 2**37, 2**60], np.float32))
        self.assertEqual(self.copied("f64", [2**53 + 1], 0)[0][0], 2.0**53)
        tiny = [2.0**-149, 2.0**-150, 2.0**-150 * 1.5, 2.0**-127]
        np.testing.assert_array_equal(self.copied("f32", tiny, 0)[0],
                                      np.array([2.0**-149, 0, 2.0**-149, 2.0**-127], np.float32))

    def test_floats_that_are_too_large(self):
        for elem, fits, over in (("f64", 1.7e308, 2**1024), ("f32", 3.4028235e38, 3.4028236e38), ("f32", 2**127, 2**128),
                                 ("f16", 65519, 65520), ("bf16", 3.39e38, 3.4e38), ("f8e4m3", 464, 464.01),
                                 ("f8e5m2", 61439, 61440), ("f32", 0, -2**20000), ("f64", 0, -10**400)):
            self.copied(elem, [fits, -fits], fits)
            self.fails(f"is {elem}, which cannot hold", self.copied, elem, [1.0], over, code="E0822")
            self.fails(f"is {elem}, which cannot hold", self.copied, elem, [1.0, over], 0)
        self.fails("cannot hold inf", self.copied, "f8e4m3", [1.0], float("inf"))
        for wrong in ("1", None, 1j, object()):
            self.fails("is no number", self.copied, "f32", [1.0], wrong)
        for wrong in ([1.0, [2.0]], [[1.0], [2.0, 3.0]], [[1.0, 2.0], 3.0]):
            self.fails("`x`", self.copied, "f32", wrong, 1)

    def test_types_that_numpy_lacks_come_as_bits_of_a_stated_type(self):
        numbers = {"bf16": [1.0, -2.5, 3.140625, float("inf"), 2.0**-133], "f8e4m3": [1.0, -2.5, 448.0, 2.0**-9, 0.0],
                   "f8e5m2": [1.0, -2.5, 57344.0, 2.0**-16, float("inf")]}
        patterns = {"bf16": [0x3f80, 0xc020, 0x4049, 0x7f80, 1], "f8e4m3": [0x38, 0xc2, 0x7e, 1, 0],
                    "f8e5m2": [0x3c, 0xc1, 0x7b, 1, 0x7c]}
        for elem, values in numbers.items():
            xs, y = self.copied(elem, values, values[1])
            self.assertEqual((xs.elem, xs.array.tolist(), int(y.array)), (elem, patterns[elem], patterns[elem][1]))
            np.testing.assert_array_equal(xs.floats(), np.array(values, np.float32))
            again, _ = self.copied(elem, xs, y)
            np.testing.assert_array_equal(again.array, xs.array)
            np.testing.assert_array_equal(np.asarray(axon.Bits.of(values, elem)), np.array(values, np.float32))
            self.fails("", self.copied, elem, xs.array, y)  # as an array these are integers
            for other in numbers:
                if other != elem:
                    self.fails(f"`x` is {elem}, the given tensor is {other}", self.copied, elem,
                               axon.Bits.of([1.0], other), y)
        every = np.arange(65536, dtype=np.uint16)
        for elem, bits in (("bf16", every), ("f8e4m3", every[:256].astype(np.uint8)),
                           ("f8e5m2", every[:256].astype(np.uint8))):
            floats = axon.Bits(bits, elem).floats()
            back = axon.Bits.of(floats, elem)
            np.testing.assert_array_equal(back.array[~np.isnan(floats)], bits[~np.isnan(floats)])
            self.assertTrue(np.isnan(back.floats()[np.isnan(floats)]).all())
        self.assertEqual(axon.Bits.of([1.00390625, 1.01171875], "bf16").floats().tolist(), [1.0, 1.015625])  # to even
        for array, elem in ((every, "f8e4m3"), (every.astype(np.int16), "bf16"), ([1], "bf16"), (every, "u8")):
            self.fails("", axon.Bits, array, elem)

    def test_bits_of_any_shape_and_layout(self):
        for elem, dtype in (("bf16", np.uint16), ("f8e4m3", np.uint8), ("f8e5m2", np.uint8)):
            for shape in ((), (1,), (0,), (2, 0, 3), (3, 4), (2, 3, 4)):
                numbers = (np.arange(np.prod(shape, dtype=int)) % 8 * 0.25 - 1).reshape(shape)
                bits = axon.Bits.of(numbers, elem)
                for of in (numbers, numbers.astype(np.float32), numbers.astype(">f8"), np.array(numbers, order="F"),
                           numbers.repeat(2, 0)[::2] if shape else numbers, numbers.tolist()):
                    again = axon.Bits.of(of, elem)
                    np.testing.assert_array_equal(again.array, bits.array.reshape(again.shape))
                    if not isinstance(of, list):
                        self.assertEqual(again.shape, shape)
                strided = np.repeat(bits.array, 2, -1)[..., ::2] if shape else bits.array
                for array in (bits.array, np.array(bits.array, order="F"), strided):
                    floats = axon.Bits(array, elem).floats()
                    self.assertEqual((type(floats), floats.dtype, floats.shape), (np.ndarray, np.float32, shape))
                    np.testing.assert_array_equal(floats, numbers)
                    np.testing.assert_array_equal(np.asarray(axon.Bits(array, elem)), numbers)
                    np.testing.assert_array_equal(np.asarray(axon.Bits(array, elem), np.float64), numbers)
                    if shape in ((0,), (1,)):
                        np.testing.assert_array_equal(self.copied(elem, axon.Bits(array, elem), 0)[0].array, array)
            for number in (1.25, -1, np.float32(1.25), np.float64(-1), np.array(1.25), np.int8(-1)):
                bits = axon.Bits.of(number, elem)
                self.assertEqual((bits.shape, float(np.asarray(bits)), float(bits.floats())), ((), number, number))
            self.assertEqual(self.copied(elem, [0.5], 1.25)[1].floats(), 1.25)
            self.assertTrue(np.isnan(axon.Bits.of(float("nan"), elem).floats()))
            self.fails("which cannot hold", axon.Bits.of, 1e39, elem)
            for make, masked in ((axon.Bits.of, np.ma.masked_array([1.0], [1])),
                                 (axon.Bits, np.ma.masked_array(np.ones(1, dtype), [1]))):
                self.fails("masked", make, masked, elem)
            self.fails("are a NumPy array", axon.Bits, np.ones(2, np.dtype(dtype).newbyteorder(">"))
                       if dtype == np.uint16 else np.ones(2, np.int8), elem)

    def test_arrays_have_the_exact_type(self):
        for elem, dtype in (("f64", np.float64), ("f32", np.float32), ("f16", np.float16), ("i64", np.int64),
                            ("i32", np.int32), ("i16", np.int16), ("i8", np.int8), ("u8", np.uint8), ("u32", np.uint32), ("bool", bool)):
            x = np.array([[1, 0, 1]] * 2, dtype).T[:, 0]  # not contiguous
            np.testing.assert_array_equal(self.copied(elem, x, x[0])[0], x)
            np.testing.assert_array_equal(self.copied(elem, x, np.array(1, dtype))[1], x[0])
            for other in {np.float64, np.float32, np.int64, np.int32, np.uint16, bool, "S3", object} - {dtype}:
                self.fails("`x` ", self.copied, elem, np.ones(3).astype(other), x[0])
                self.fails("`y` ", self.copied, elem, x, np.ones(()).astype(other))
        self.fails(">f4", self.copied, "f32", np.ones(3, ">f4"), 1)
        self.fails("masked", self.copied, "f32", np.ma.masked_array([1, 2], [0, 1]).astype(np.float32), 1)
        self.fails("uint16, which is no element type here; the bits of bf16", self.copied, "bf16",
                   np.ones(3, np.uint16), 1)

    def test_a_state_is_memory_of_the_right_type(self):
        for wrong in ([1, 2, 3], (1, 2, 3), np.ones(3, np.int64), np.ones(6, np.int32)[::2], np.broadcast_to(np.int32(1), 3)):
            self.fails("`cache", self.bundle.keep, cache=wrong, token=1, pos=0)

    def test_parts_are_told_from_tensors(self):
        x, y = np.ones((2, 4), np.float32), np.zeros((2, 2), np.float32)
        self.fails("`x` of `scale` is a tensor", self.bundle.scale, {"w": x}, 1, y)
        self.fails("`x` of `scale` is a tensor", self.bundle.scale, (x, x), 1, y)
        self.fails("`scale` has no input `q`; it has `x`, `a`, `y`", self.bundle.scale, x, 1, y, q=2)

    def test_weights_by_parameter(self):
        w, v = np.arange(12, dtype=np.float32).reshape(1, 3, 4), np.ones(3, np.float32)
        file = os.path.join(directory.name, "p.npz")
        np.savez(file, w=w, v=v)
        named = os.path.join(directory.name, "named.npz")
        np.savez(named, **{"p.w": w, "p.v": v})
        for bound in (self.bundle.bind(file), self.bundle.bind(p=file), self.bundle.bind(named), self.bundle.bind(p=named),
                      self.bundle.bind(p={"w": w, "v": v}), self.bundle.bind({"p": {"w": w, "v": v}})):
            np.testing.assert_array_equal(bound.weights(h=2, bytes=48)[:48].view(np.float32), w.ravel())
        self.fails("from both", self.bundle.bind, file, p={"w": w})
        self.fails("a dict of arrays", self.bundle.bind, w)
        self.fails("no weights are called `q`", self.bundle.bind, q=file)
        self.fails("`p` of `weights` holds weights, which bind() takes", bound.weights, p={"w": w, "v": v}, h=2, bytes=48)

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

    def test_eight_threads_on_one_model(self):
        for workers in (1, 2, 0):
            bundle = axon.load(path, workers=workers)
            wrong = []

            def use(seed):
                random = np.random.default_rng(seed)
                for _ in range(60):
                    n, m, a = (int(random.integers(1, 9)) for _ in range(3))
                    x, y = random.random((n, 2 * m), np.float32), np.zeros((m, n), np.float32)
                    expected = x + 1000 if n == 1 else x * np.float32(a)  # the variant for n <= 1
                    expected = expected.ravel()[:n * m].reshape(n, m)
                    if not np.array_equal(bundle.scale(x=x, a=a, y=y), expected):
                        wrong.append("scale")
                    rounds, start = int(random.integers(1, 12)), random.integers(0, 99, 4 * n, np.int32)
                    if not np.array_equal(bundle.chain(start, rounds), chained(start, rounds)):
                        wrong.append("chain")
                    cache = np.arange(n, dtype=np.int32)
                    if bundle.keep(cache, 0, n - 1)[0] != cache.sum():
                        wrong.append("keep")
                    try:
                        bundle.scale(x=x, a=a)
                        wrong.append("an argument of another call was taken")
                    except axon.Error as error:
                        if "not set: `y`" not in str(error):
                            wrong.append(str(error))

            def guarded(seed):
                try:
                    use(seed)
                except BaseException as error:  # else it would end its thread only
                    wrong.append(repr(error))
            threads = [threading.Thread(target=guarded, args=(seed,)) for seed in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])

    def test_a_forked_child_goes_on(self):
        for workers in (1, 2, 3, 0):
            bundle = axon.load(path, workers=workers)
            start = np.arange(40, dtype=np.int32)

            def right():
                return np.array_equal(bundle.chain(start, 9), chained(start, 9)) and axon.load(path).copy_i8([1], 2)[1] == 2

            self.assertTrue(right())
            stop = threading.Event()
            busy = [threading.Thread(target=lambda: [right() for _ in iter(stop.is_set, True)]) for _ in range(2)]
            for thread in busy:
                thread.start()
            try:
                for _ in range(5):
                    self.assertEqual(exit_code_of_child(right), 0)
            finally:
                stop.set()
                for thread in busy:
                    thread.join()
            self.assertTrue(right())

    def test_processes_of_the_library(self):
        global shared
        shared = self.bundle
        shared.chain(np.ones(5, np.int32), 2)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            sums = pool.map_async(sum_in_process, range(1, 9)).get(timeout=60)
        self.assertEqual(sums, [int(chained(np.arange(n), n).sum()) for n in range(1, 9)])


def chained(x, rounds):
    """The chain of kernels.c: every element becomes the sum of itself and its neighbours."""
    x = x.astype(np.uint32)
    for _ in range(rounds):
        x = np.pad(x, 1)
        x = x[:-2] + x[1:-1] + x[2:]
    return x.astype(np.int32)


def sum_in_process(n):
    return int(shared.chain(np.arange(n, dtype=np.int32), n).sum())


def exit_code_of_child(body):
    """0 when `body` is true in a forked process; a child that hangs is ended by its alarm."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            os._exit(0 if body() else 1)
        finally:
            os._exit(2)
    return os.waitpid(child, 0)[1]


if __name__ == "__main__":
    unittest.main()
