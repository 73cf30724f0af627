"""Numbers, lists and arrays of every element type, and the bits of those that NumPy lacks.
usage: test_numbers.py WRITE_TEST_BUNDLE"""
import unittest

import numpy as np

import axon
import support

path, directory = support.test_bundle()


class Array(np.ndarray):
    """A class of arrays of one's own."""


class Numbers(support.Case):
    def setUp(self):
        self.bundle = axon.load(path, workers=2)

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
            self.fails("", axon.Bits, array, elem, code="E0822")
        for elem in ("f32", 3, None, ["bf16"]):
            self.fails("bits are of bf16, f8e4m3 or f8e5m2, not of", axon.Bits.of, [1.0], elem, code="E0822")
        self.fails("an array of int64 has no floats", axon.Bits.of, np.array([1]), "bf16", code="E0822")
        for name, wrong in (("elem", "f32"), ("elem", "f8e4m3"), ("elem", None), ("array", None), ("array", [1])):
            changed = axon.Bits.of([1.0], "bf16")
            setattr(changed, name, wrong)
            self.fails("bits ", self.copied, "bf16", changed, 1, code="E0822")

    def test_lists_in_lists_without_end(self):
        itself, beside, deep = [], [1.0], 1.0
        itself.append(itself)
        beside += [beside, beside]
        for _ in range(17):
            deep = [deep]
        for wrong in (itself, beside, deep):
            self.fails("more than 16 lists in each other", self.copied, "f32", wrong, 1, code="E0822")
        self.fails("has 1 axis, the given tensor has 16", self.copied, "f32", deep[0], 1)

    def test_what_is_no_number_is_named_by_its_kind(self):
        class Hostile:
            def __repr__(self):
                raise RuntimeError("no")

        for wrong, kind in (("x" * 100_000, "a text"), (Hostile(), "an object of Hostile"), ({1, 2}, "an object of set"),
                            (range(3), "an object of range"), (None, "None"), (b"1", "an object of bytes")):
            self.fails(f"`y` is f32, and {kind} is no number", self.copied, "f32", [1.0], wrong, code="E0822")
            self.fails(f"element [1] of `x` is i64, and {kind} is no number", self.copied, "i64", [1, wrong], 1)
        self.fails("which cannot hold an integer of 19932 bits", self.copied, "i64", [10**6000], 1)

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

    def test_no_array_takes_the_slow_way(self):
        """What lies as it should is read by the extension itself, of every type."""
        self.addCleanup(setattr, axon.Entry, "_prepare", axon.Entry._prepare)
        axon.Entry._prepare = None
        for elem in ("f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i64", "i32", "i16", "i8", "u8", "u32", "bool"):
            x = np.zeros(2, axon._elements.DTYPES[elem])
            if elem in axon._elements.LACKING:
                self.assertEqual(self.copied(elem, axon.Bits(x, elem), axon.Bits(x[0:1].reshape(()), elem))[0].shape, (2,))
                continue
            self.copied(elem, x, x[0:1].reshape(()))
            if elem != "bool":
                self.copied(elem, x, 1)
                self.copied(elem, x, x.dtype.type(1))

    def test_arrays_have_the_exact_type(self):
        for elem, dtype in (("f64", np.float64), ("f32", np.float32), ("f16", np.float16), ("i64", np.int64),
                            ("i32", np.int32), ("i16", np.int16), ("i8", np.int8), ("u8", np.uint8),
                            ("u32", np.uint32), ("bool", bool)):
            x = np.array([[1, 0, 1]] * 2, dtype).T[:, 0]  # not contiguous
            np.testing.assert_array_equal(self.copied(elem, x, x[0])[0], x)
            np.testing.assert_array_equal(self.copied(elem, x, np.array(1, dtype))[1], x[0])
            for other in {np.float64, np.float32, np.int64, np.int32, np.uint16, np.uint32, bool, "S3", object} - {dtype}:
                self.fails("`x` ", self.copied, elem, np.ones(3).astype(other), x[0])
                self.fails("`y` ", self.copied, elem, x, np.ones(()).astype(other))
        self.fails(">f4", self.copied, "f32", np.ones(3, ">f4"), 1)
        self.fails("has 1 axis, the given tensor has 20", self.copied, "f32", np.ones((1,) * 20, np.float32), 1)
        raw = np.zeros(17, np.uint8)
        for odd in (raw[1:].view(np.float32), raw[1:1].view(np.float32), raw[3:3].view(np.float64)[:0].astype(np.float32)):
            np.testing.assert_array_equal(self.copied("f32", odd, 1)[0], odd)  # lies where no float may
        for subclass in (np.ones(3, np.float32).view(np.matrix).A1.view(np.recarray), np.ones(3, np.float32).view(Array)):
            self.assertEqual(type(self.copied("f32", subclass, 1)[0]), np.ndarray)
        self.fails("masked", self.copied, "f32", np.ma.masked_array([1, 2], [0, 1]).astype(np.float32), 1)
        self.fails("uint16, which is no element type here; the bits of bf16", self.copied, "bf16",
                   np.ones(3, np.uint16), 1)


if __name__ == "__main__":
    unittest.main()
