"""DLPack in both directions, with producers that are right, and with capsules that are not."""
import ctypes
import gc
import sys
import unittest
import weakref

import numpy as np

import axon
import support

PROGRAM = """
entry double (x : f32[m, n]) = x + x
entry columns (x : f32[m, n] @ S[(m, n) : (1, m)]) = x + x
entry vector (x : f32[n]) = x + x
entry number (x : f32) = x + x
entry same_bool (x : bool[n]) = for i => if x[i] then 1.0 else 0.0
entry same_bf16 (x : bf16[n]) = x
entry same_f8 (x : f8e4m3[n]) = x
entry whole (x : i64[n]) = x
entry half (x : f16[n]) = x + x
entry update (h : *f32[n]) (x : f32[n]) = h with [:] = h + x
"""


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("number", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("type", Type), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Managed._fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
NAMES = [b"dltensor", b"dltensor_versioned"]


class Producer:
    """Hands out a capsule over an array's memory, in which everything can be said wrongly."""

    def __init__(self, array, versioned=False, device=1, kind=None, type=None, no_strides=False, no_shape=False,
                 no_data=False, rank=None, shape=None, flags=0, major=1, offset=0, deleter=True, strides=None):
        self.array, self.versioned, self.device = array, versioned, kind or device
        codes = {"f": 2, "i": 0, "u": 1, "b": 6}
        made = Type(*type) if type else Type(codes[array.dtype.kind], array.itemsize * 8, 1)
        self.shape = (ctypes.c_int64 * 40)(*(shape if shape is not None else array.shape))
        self.strides = (ctypes.c_int64 * 40)(*(strides or [step // array.itemsize for step in array.strides]))
        tensor = Tensor(0 if no_data else array.ctypes.data - offset, device, 0, array.ndim if rank is None else rank, made,
                        None if no_shape else self.shape, None if no_strides else self.strides, offset)
        self.deleted = 0
        self.deleter = Deleter(self.delete)
        pointer = ctypes.cast(self.deleter, ctypes.c_void_p).value if deleter else 0
        self.managed = Versioned(major, 0, 0, pointer, flags, tensor) if versioned else Managed(tensor, 0, pointer)

    def delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **options):
        if options and not self.versioned:
            raise TypeError("unexpected keyword")
        return new_capsule(ctypes.addressof(self.managed), NAMES[self.versioned], None)


class DLPack(support.Case):
    @classmethod
    def setUpClass(cls):
        cls.model = axon.compile(PROGRAM)

    def test_in(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        for versioned in (False, True):
            for producer in (Producer(x, versioned), Producer(x, versioned, no_strides=True), Producer(x, versioned, device=3),
                             Producer(x, versioned, offset=64), Producer(x, versioned, deleter=False),
                             Producer(x, versioned, flags=1)):
                np.testing.assert_array_equal(self.model.double(producer), x + x)
                self.assertEqual(producer.deleted, int(bool(producer.managed.deleter)))
            turned = Producer(x.T, versioned)
            np.testing.assert_array_equal(self.model.double(turned), x.T + x.T)  # copied: its strides are others
            np.testing.assert_array_equal(self.model.columns(turned), x.T + x.T)  # as it is
            self.assertEqual(turned.deleted, 2)
            np.testing.assert_array_equal(self.model.vector(Producer(x[0, ::-1], versioned)), x[0, ::-1] * 2)
            self.assertEqual(self.model.number(Producer(np.array(2, np.float32), versioned)), 4)
            for empty in (np.zeros((0, 3), np.float32), np.zeros((2, 0), np.float32)):
                self.assertEqual(self.model.double(Producer(empty, versioned)).shape, empty.shape)
                self.assertEqual(self.model.double(Producer(empty, versioned, no_data=True)).shape, empty.shape)
        for name, array, type in (("same_bool", np.array([True, False]), None), ("whole", np.array([3, -2**60]), None),
                                  ("half", np.array([1, 2], np.float16), None)):
            np.testing.assert_array_equal(self.model[name](Producer(array, type=type)),
                                          array + array if name == "half" else array)
        bits = axon.Bits.of([1.5, -2], "bf16").array
        np.testing.assert_array_equal(self.model.same_bf16(Producer(bits, type=(4, 16, 1))).array, bits)
        small = axon.Bits.of([1.5, -2], "f8e4m3").array
        np.testing.assert_array_equal(self.model.same_f8(Producer(small, type=(10, 8, 1))).array, small)
        np.testing.assert_array_equal(self.model.double([Producer(x[0]), Producer(x[1])]), x + x)

    def test_states(self):
        for versioned in (False, True):
            h = np.zeros(3, np.float32)
            producer = Producer(h, versioned)
            self.assertIs(self.model.update(producer, [1, 2, 3]), producer)
            np.testing.assert_array_equal(h, [1, 2, 3])
        for wrong in (Producer(h, True, flags=1), Producer(np.zeros(6, np.float32)[::2])):
            self.fails("`h` is updated in place", self.model.update, wrong, [1, 2, 3], code="E0826")

    def test_refused(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        for versioned in (False, True):
            for text, options in (
                    ("`x` lies on another device (DLPack's kind 2)", {"device": 2}),
                    ("`x`: the tensor lies on another device", {"device": 2, "kind": 1}),
                    ("has no shape", {"no_shape": True}), ("too many axes", {"rank": -1}), ("too many axes", {"rank": 17}),
                    ("too many axes", {"rank": 2**31 - 1}), ("code 2 with 32 bits and 4 lanes", {"type": (2, 32, 4)}),
                    ("code 5 with 64 bits", {"type": (5, 64, 1)}), ("code 2 with 128 bits", {"type": (2, 128, 1)}),
                    ("impossible shape", {"shape": (-1, 3)}), ("impossible shape", {"shape": (2**62, 2**62)}),
                    ("impossible", {"strides": (2**62, 1)}), ("no data", {"no_data": True}),
                    ("`x` is f32, the given tensor is i32", {"type": (0, 32, 1)})):
                producer = Producer(x, versioned, **options)
                with self.subTest(versioned=versioned, **options):
                    self.fails(text, self.model.double, producer)
                gc.collect()
                self.assertIn(producer.deleted, (0, 1))
        self.fails("later version of DLPack", self.model.double, Producer(x, True, major=2))
        self.fails("has 2 axes, the given tensor has 1", self.model.double, Producer(x[0]))

        class Used:
            def __init__(self, capsule):
                self.capsule = capsule

            def __dlpack__(self, **_):
                return self.capsule

        capsule = Producer(x).__dlpack__()
        kept = Producer(x)
        capsule = kept.__dlpack__()
        np.testing.assert_array_equal(self.model.double(Used(capsule)), x + x)
        for wrong in (capsule, None, 3, new_capsule(1, b"other", None)):
            self.fails("gave no DLPack capsule, or one that was used before", self.model.double, Used(wrong))

        class Failing:
            def __dlpack__(self, **_):
                raise BufferError("not today")

            def __dlpack_device__(self):
                return 1, 0

        self.fails("`x` cannot be read through DLPack: not today", self.model.double, Failing())
        with self.assertRaises(ZeroDivisionError):
            class Odd(Failing):
                def __dlpack__(self, **_):
                    return 1 / 0
            self.model.double(Odd())

    def test_out(self):
        result = self.model.double(np.ones((2, 3), np.float32))
        again = np.from_dlpack(result)
        self.assertTrue(np.shares_memory(result, again))
        bits = axon.Bits.of([1.5, -2, 0.25], "bf16")
        self.assertEqual(bits.__dlpack_device__(), (1, 0))
        for options in ({}, {"max_version": (1, 0)}, {"max_version": (0, 8)}, {"max_version": (2, 0), "copy": None}):
            before = sys.getrefcount(bits.array)
            tensor = axon._native.import_dlpack(bits.__dlpack__(**options))
            self.assertEqual((tensor.elem, tensor.writable), ("bf16", True))
            self.assertTrue(np.shares_memory(np.asarray(tensor), bits.array))
            del tensor
            self.assertEqual(sys.getrefcount(bits.array), before)
        del options
        bits.__dlpack__()  # nobody takes it
        self.assertEqual(sys.getrefcount(bits.array), before)
        copied = axon._native.import_dlpack(bits.__dlpack__(copy=True))
        self.assertFalse(np.shares_memory(np.asarray(copied), bits.array))
        frozen = axon.Bits(bits.array.copy(), "bf16")
        frozen.array.flags.writeable = False
        with self.assertRaises(BufferError):
            frozen.__dlpack__()
        self.assertFalse(axon._native.import_dlpack(frozen.__dlpack__(max_version=(1, 0))).writable)
        for options in ({"stream": 1}, {"dl_device": (2, 0)}):
            with self.assertRaises(BufferError):
                bits.__dlpack__(**options)
        strided = axon.Bits(np.arange(6, dtype=np.uint16)[::-2], "bf16")
        np.testing.assert_array_equal(np.asarray(axon._native.import_dlpack(strided.__dlpack__())), strided.array)

    def test_every_element_type(self):
        for number, (name, size) in enumerate(axon._native.elements()):
            array = np.zeros(3, axon._elements.DTYPES[name])
            for versioned in (False, True):
                tensor = axon._native.import_dlpack(axon._native.export_dlpack(array, number, versioned))
                self.assertEqual((tensor.elem, np.asarray(tensor).dtype.itemsize), (name, size))
                self.assertEqual(np.asarray(tensor).dtype, array.dtype)

    def test_memory_is_let_go(self):
        class Array(np.ndarray):
            pass

        array = np.zeros(4, np.float32).view(Array)
        gone = weakref.ref(array)
        producer = Producer(array)
        self.model.vector(producer)
        del array, producer
        gc.collect()
        self.assertIsNone(gone())

    def test_what_a_producer_raises(self):
        def producer(error, device=(1, 0)):
            class Producer:
                def __dlpack__(self, **_):
                    raise error

                def __dlpack_device__(self):
                    return device

            return Producer()

        self.fails("through DLPack: NotImplementedError", self.model.vector, producer(NotImplementedError()))
        for device in (None, 3, (), "cpu", ("cpu", 0), (None, None)):
            self.fails("`x` cannot be read through DLPack", self.model.vector, producer(BufferError("b"), device), code="E0822")
        for error in (MemoryError, KeyboardInterrupt, KeyError, OSError):  # it is theirs
            with self.assertRaises(error):
                self.model.vector(producer(error()))


if __name__ == "__main__":
    unittest.main()
