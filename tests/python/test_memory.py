"""Memory: 100,000 calls grow nothing, references of arguments are what they were, results own what they show, and what
is no longer used is let go."""
import gc
import os
import resource
import sys
import threading
import tracemalloc
import unittest
import weakref

import numpy as np

import axon
import support

PROGRAM = """
entry double (x : f32[n]) = 2.0 * x
entry scaled (x : f32[n]) (a : f32) = a * x
entry many (p : {a : f32[n], b : (f32[n], i32[k])}) (h : *f32[n]) = ({ sum = sum p.a, k = p.b }, h with [:] = h + p.a)
entry rows[h] (x : f32[t, h*k]) = rearrange x [t, h*k] => [h, t, k]
entry bits (x : bf16[n]) = x
entry columns (x : f32[m, n]) : f32[m, n] @ S[(m, n) : (1, m)] = x + 1.0
entry weighted (p : weights {w : f32[d]}) (x : f32[d]) = x * p.w
"""
COUNT = 100_000
SPARE = 128 << 20  # bytes of results that were let go of, at most, which are kept for others


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Memory(support.Case):
    @classmethod
    def setUpClass(cls):
        cls.model = axon.compile(PROGRAM, workers=1)

    def test_large_results_are_not_copied_and_stay(self):
        x = np.arange(1_000_000, dtype=np.float32)
        self.model.double(x)
        before, kept = resident(), []
        for i in range(50):
            kept.append(self.model.scaled(x, float(i)))
        self.assertLess(resident() - before, 52 * x.nbytes)
        for i, result in enumerate(kept):
            np.testing.assert_array_equal(result, x * np.float32(i))
            self.assertTrue(result.flags.writeable and result.flags.c_contiguous)
        pointers = {result.ctypes.data for result in kept}
        self.assertEqual(len(pointers), len(kept))
        del kept, result
        for _ in range(30):
            self.model.scaled(x, 2.0)
        self.assertLess(resident() - before, 4 * x.nbytes + SPARE)

    def test_nothing_waits_for_the_collection_of_garbage(self):
        function = axon.function(lambda x: {"twice": x + x, "same": x}, workers=1)
        x = np.ones(100_000, np.float32)
        function(x)
        self.addCleanup(gc.enable)
        gc.disable()
        for call, part in ((lambda: self.model.double(x), None), (lambda: function(x), "twice"),
                           (lambda: self.model.many({"a": x, "b": (x, [1])}, x.copy())[0], "k")):
            before = sys.getrefcount(x)
            result = call()
            last = result if part is None else result[part]
            ended = weakref.ref(last[0] if isinstance(last, tuple) else last)
            del result, last
            self.assertIsNone(ended())
            self.assertEqual(sys.getrefcount(x), before)

    def test_a_result_gets_the_memory_of_one_that_was_let_go_of(self):
        for count in (10_000, 300_000, 1_000_000):
            x = np.ones(count, np.float32)
            kept = [self.model.double(x) for _ in range(5)][:3]
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            for _ in range(50):
                kept = kept[1:] + [self.model.double(x)]
            self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, 50)
            for result in kept:
                np.testing.assert_array_equal(result, x + x)

    def test_a_large_result_outlives_its_model(self):
        model = axon.compile("entry up (x : bf16[n]) (y : f32[n]) = (x, y + 1.0)", workers=1)
        y = np.zeros(700_000, np.float32)
        bits, up = model.up(axon.Bits(np.full(y.size, 0x3f80, np.uint16), "bf16"), y)
        del model
        gc.collect()
        self.assertTrue((up == 1).all() and (bits.array == 0x3f80).all())
        up[:] = 5
        self.assertEqual(float(up.sum()), 5.0 * y.size)

    def test_many_calls(self):
        x, h = np.ones(4, np.float32), np.zeros(4, np.float32)
        k = np.arange(2, dtype=np.int32)
        model, record = self.model, {"a": x, "b": (x, k)}
        state = axon.State(h)
        calls = [(COUNT, lambda: model.scaled(x, 2.5)), (COUNT // 4, lambda: model.many(record, state)),
                 (COUNT // 10, lambda: model.rows(x=x.reshape(2, 2), h=2)), (COUNT // 20, lambda: model.double([1, 2.5])),
                 (COUNT // 20, lambda: model.bits(bits)),
                 (COUNT // 20, lambda: model.columns(x.reshape(2, 2).T))]
        bits = axon.Bits.of([1.5], "bf16")
        for count, call in calls:
            for _ in range(200):
                call()
            gc.collect()
            before = resident()
            for _ in range(count):
                call()
            self.assertLess(resident() - before, 2 << 20)

    def test_many_failing_calls(self):
        x = np.ones(4, np.float32)
        model = self.model

        def fail():
            for arguments, named in (((x,), {}), ((x, "a"), {}), ((x, 1e300), {}), ((x.astype(np.float64), 1), {}),
                                     ((x, 1), {"q": 1}), ((x, None), {})):
                try:
                    model.scaled(*arguments, **named)
                except axon.Error:
                    continue
                raise AssertionError(arguments)

        for _ in range(100):
            fail()
        gc.collect()
        before = resident()
        for _ in range(COUNT // 50):
            fail()
        self.assertLess(resident() - before, 2 << 20)

    def test_references_of_arguments(self):
        x, h, k, a = np.ones(4, np.float32), np.zeros(4, np.float32), np.arange(2, dtype=np.int32), 2.5e8 + len(sys.argv)
        record, bits = {"a": x, "b": (x, k)}, axon.Bits.of([1.5], "bf16")
        state = axon.State(h)
        everything = (x, h, k, a, record, record["b"], bits, bits.array, state, self.model.many, None, np.float32)
        before = [sys.getrefcount(one) for one in everything]

        def run():
            self.model.scaled(x, a)
            self.model.many(record, state)
            self.model.many(h=h, p=record)
            self.model.bits(bits)
            for bad in (lambda: self.model.scaled(x, "a"), lambda: self.model.scaled(x), lambda: self.model.scaled(x, x),
                        lambda: self.model.many(record, k), lambda: self.model.many({"a": x, "c": k}, h),
                        lambda: self.model.many(record, x), lambda: self.model.scaled(x, 1e300),
                        lambda: self.model.scaled(x, a, k), lambda: self.model.bits(bits, q=x),
                        lambda: self.model.many((x, record), h), lambda: self.model.rows(x, h=bits)):
                try:
                    bad()
                except axon.Error:
                    continue
                raise AssertionError("no error")

        for _ in range(5):
            run()
        gc.collect()
        after = [sys.getrefcount(one) for one in everything]
        del run
        for one, earlier, later in zip(everything[:-3], before, after):
            self.assertLessEqual(abs(later - earlier), 3, repr(one))  # those that `run` itself holds
        for _ in range(50):
            self.model.scaled(x, a)
        self.assertLessEqual(sys.getrefcount(None) - before[-2], 50)

    def test_nothing_is_copied_that_need_not_be(self):
        x = np.ones(1 << 22, np.float32)
        tracemalloc.start()
        try:
            result = self.model.double(x)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        self.assertLess(peak, 1 << 20)  # not even the result, which has the memory that it was computed in
        kept = result.copy()
        self.model.double(np.zeros(1 << 22, np.float32))
        np.testing.assert_array_equal(result, kept)

    def test_results_live_longer_than_the_model(self):
        model = axon.compile(PROGRAM, workers=1)
        result, columns = model.double([1, 2]), model.columns([[1, 2], [3, 4]])
        entry = model.double
        gone = weakref.ref(model)
        del model
        self.assertIsNone(gone())  # at once: no circle keeps it, or its weights
        np.testing.assert_array_equal(result, [2, 4])
        np.testing.assert_array_equal(columns, [[2, 3], [4, 5]])
        np.testing.assert_array_equal(entry([3]), [6])

    def test_weights_are_let_go(self):
        w = np.ones(1 << 23, np.float32)
        before = resident()
        for _ in range(5):
            bound = self.model.bind(p={"w": w})
            bound.weighted(w)
            del bound
        self.assertLess(resident() - before, 3 * w.nbytes)

    def test_other_threads_run_meanwhile(self):
        x = np.ones(1 << 22, np.float32)
        counted, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1

        thread = threading.Thread(target=count)
        thread.start()
        try:
            before = counted[0]
            for _ in range(20):
                self.model.double(x)
            self.assertGreater(counted[0], before)
        finally:
            stop.set()
            thread.join()


if __name__ == "__main__":
    unittest.main()
