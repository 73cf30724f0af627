"""States: the memory of `*` parameters, made, passed, updated in place, copied and written."""
import copy
import pickle
import unittest
import weakref

import numpy as np

import axon
import support

PROGRAM = """
type Cache[n, d] = { keys : f32[n, d], counts : i32[n] }

entry append (cache : *f32[s, d]) (x : f32[d]) (pos : i64) where 0 <= pos, pos < s = cache with [pos] = x
entry both (cache : *Cache[n, d]) (x : f32[d]) (pos : i64) where 0 <= pos, pos < n =
  (sum x, { keys = cache.keys with [pos] = x, counts = cache.counts with [pos] = 1 })
entry swapped (cache : *Cache[n, d]) (x : f32[d]) (pos : i64) where 0 <= pos, pos < n =
  (cache.counts with [pos] = 2, cache.keys with [pos] = x)
entry two (a : *f32[n]) (b : *f32[n]) (x : f32[n]) = (a with [:] = a + x, b with [:] = b - x)
entry bits (h : *bf16[n]) (x : bf16[n]) = h with [:] = h + x
entry columns (x : *f32[m, n] @ S[(m, n) : (1, m)]) (y : f32[m, n]) = x with [:] = x + y
entry rows (x : *f32[m, n] @ S[(m, n) : (r, 1)]) = x with [:] = x + 1.0
entry padded (x : *f32[m, n] @ S[(m, n) : ((n + 3), 1)]) (y : f32[m, n]) = x with [:] = x + y
entry plain (x : f32[n]) = x
entry decode (p : weights {w : f32[d, d]}) (h : *f32[n, d]) (x : f32[d]) (pos : i64) where 0 <= pos, pos < n =
  ((for j => sum k => x[k] * p.w[k, j]), h with [pos] = x)
"""


class States(support.Case):
    @classmethod
    def setUpClass(cls):
        cls.model = axon.compile(PROGRAM)

    def test_made_of_sizes(self):
        state = self.model.append.state(s=3, d=2)
        self.assertEqual((state.value.shape, state.value.dtype), ((3, 2), np.float32))
        self.assertEqual(repr(state), "<axon state float32[3, 2]>")
        after = self.model.append(state, [1, 2], 1)
        self.assertIs(after, state)
        np.testing.assert_array_equal(np.asarray(state), [[0, 0], [1, 2], [0, 0]])
        np.testing.assert_array_equal(state[1], [1, 2])
        state[:] = 7
        self.assertTrue((state.value == 7).all())
        for s, d in ((0, 2), (3, 0), (1, 1)):
            self.assertEqual(self.model.append.state(s=s, d=np.int32(d)).value.shape, (s, d))
        both = self.model.both.state(n=2, d=3)
        self.assertEqual((both.keys.shape, both["counts"].dtype), ((2, 3), np.int32))
        self.assertIn("keys", dir(both))
        self.assertEqual((len(both), list(both)), (2, ["keys", "counts"]))

    def test_what_is_no_memory_of_a_state(self):
        x, read_only = np.ones(3, np.float32), np.zeros(3, np.float32)
        read_only.flags.writeable = False
        odd = np.zeros(13, np.uint8)[1:].view(np.float32)
        for wrong, why in ((read_only, "read-only"), (np.zeros(6, np.float32)[::2], "not contiguous"), (odd, "not aligned"),
                           ([0.0, 0.0, 0.0], "a list"), (0.0, "0.0"), (None, "None")):
            self.fails(f"`a` is updated in place and must be a writable, contiguous and aligned NumPy array; it is {why}",
                       self.model.two, wrong, x.copy(), x, code="E0826")
        for wrong in (3, [1], "x", {"a": None}, axon.State(x)):
            self.fails("a state is a NumPy array, axon.Bits, or dicts and tuples of them, not", axon.State, wrong, code="E0801")
        for use in (repr, len, lambda state: self.model.two(state, x.copy(), x), copy.copy):
            with self.assertRaises((AttributeError, axon.Error)):
                use(axon.State.__new__(axon.State))

    def test_a_class_of_ones_own(self):
        class Mine(axon.State):
            pass

        cache = Mine({"keys": np.zeros((2, 1), np.float32), "counts": np.zeros(2, np.int32)})
        self.assertIs(self.model.both(cache, [5], 1)[1], cache)
        self.assertEqual(cache.keys.tolist(), [[0], [5]])
        line = Mine(np.zeros((2, 1), np.float32))
        self.assertIs(self.model.append(line, [3], 0), line)
        self.assertEqual(line.value.tolist(), [[3], [0]])
        self.assertIs(weakref.ref(line)(), line)

    def test_made_of_weights(self):
        bound = self.model.bind(p={"w": np.eye(4, dtype=np.float32)})
        state = bound.decode.state(n=2)
        self.assertEqual(state.value.shape, (2, 4))
        result, after = bound.decode(state, [1, 2, 3, 4], 1)
        np.testing.assert_array_equal(result, [1, 2, 3, 4])
        self.assertIs(after, state)
        self.assertEqual(bound.decode.state(n=2, d=4).value.shape, (2, 4))
        self.fails("`d` is 4 (from axis 0 of `p.w`), and not 5", bound.decode.state, n=2, d=5, code="E0823")
        self.fails("axis 0 of `h`, `n`, does not follow from the weights and the given sizes", bound.decode.state,
                   code="E0821")

    def test_what_is_no_state(self):
        self.fails("`plain` has no parameters that are updated", self.model.plain.state, n=2, code="E0801")
        self.fails("`two` has 2 parameters that are updated; there is `a`, `b`", self.model.two.state, n=2)
        self.fails("`two` has no parameter `x` that is updated", self.model.two.state, "x", n=2)
        self.assertEqual(self.model.two.state("b", n=2).value.shape, (2,))
        self.fails("`append` has no size `t`; it has `s`, `d`", self.model.append.state, t=2, code="E0801")
        self.fails("does not follow from the given sizes", self.model.append.state, s=3)
        for wrong in (2.5, True, None, "2", 2**70, [1]):
            self.fails("size `s`", self.model.append.state, s=wrong, d=1)
        self.fails("not negative", self.model.append.state, s=-1, d=1)
        self.fails("size `s` is 1125899906842624, and a size is at most", self.model.append.state, s=2**50, d=2**12)
        with self.assertRaises((MemoryError, ValueError)):
            self.model.append.state(s=2**40, d=2**12)

    def test_records_come_back_as_they_were_given(self):
        for make in (lambda: self.model.both.state(n=2, d=3),
                     lambda: {"keys": np.zeros((2, 3), np.float32), "counts": np.zeros(2, np.int32)}):
            cache = make()
            total, after = self.model.both(cache, [1, 2, 3], 1)
            self.assertEqual(total, 6)
            self.assertIs(after, cache)
            np.testing.assert_array_equal(cache["keys"], [[0, 0, 0], [1, 2, 3]])
            counts, keys = self.model.swapped(cache, [4, 5, 6], 0)
            self.assertIs(counts, cache["counts"])
            self.assertIs(keys, cache["keys"])
        self.fails("`cache` is updated in place, and a list would be copied", self.model.both,
                   [{"keys": [1, 2, 3], "counts": 1}], [1, 2, 3], 0, code="E0826")
        self.fails("`cache.keys` is updated in place", self.model.both,
                   {"keys": [[1, 2, 3]], "counts": np.zeros(1, np.int32)}, [1, 2, 3], 0, code="E0826")
        read_only = np.zeros((1, 3), np.float32)
        read_only.flags.writeable = False
        self.fails("`cache.keys` is updated in place", self.model.both,
                   {"keys": read_only, "counts": np.zeros(1, np.int32)}, [1, 2, 3], 0, code="E0826")

    def test_several_and_other_types(self):
        a, b = self.model.two.state("a", n=2), np.ones(2, np.float32)
        self.assertEqual([one is other for one, other in zip(self.model.two(a, b, [1, 2]), (a, b))], [True, True])
        np.testing.assert_array_equal(a, [1, 2])
        np.testing.assert_array_equal(b, [0, -1])
        self.fails("overlaps", self.model.two, a, a, [1, 2], code="E0826")
        bits = self.model.bits.state(n=3)
        self.assertIsInstance(bits.value, axon.Bits)
        self.assertIs(self.model.bits(bits, [1, 2, 0.5]), bits)
        np.testing.assert_array_equal(np.asarray(bits), [1, 2, 0.5])
        np.testing.assert_array_equal(self.model.plain(self.model.two.state("a", n=2)), [0, 0])  # as an argument

    def test_layouts(self):
        state = self.model.columns.state(m=3, n=5)
        self.assertEqual((state.value.shape, state.value.strides), ((3, 5), (4, 12)))
        self.model.columns(state, np.ones((3, 5), np.float32))
        np.testing.assert_array_equal(state, np.ones((3, 5)))
        self.fails("the stride of axis 0 of `x`, `r`, does not follow", self.model.rows.state, m=2, n=3)
        state = self.model.rows.state(m=2, n=3, r=8)
        self.assertEqual(state.value.strides, (32, 4))
        self.model.rows(state)
        np.testing.assert_array_equal(state, np.ones((2, 3)))

    def test_copies_and_pickles(self):
        for state in (self.model.append.state(s=2, d=2), self.model.both.state(n=2, d=2), self.model.bits.state(n=2),
                      self.model.columns.state(m=3, n=5), self.model.padded.state(m=3, n=5),
                      self.model.padded.state(m=0, n=5)):
            for other in (copy.copy(state), copy.deepcopy(state), state.copy(), pickle.loads(pickle.dumps(state))):
                self.assertIsInstance(other, axon.State)
                self.assertEqual(repr(other), repr(state))
                for mine, theirs in zip(arrays_of(state.value), arrays_of(other.value)):
                    self.assertFalse(np.shares_memory(mine, theirs))
        state = self.model.columns.state(m=3, n=5)
        for entry in (self.model.columns, self.model.padded):  # they lie as the first one does
            state = entry.state(m=3, n=5)
            entry(state, np.ones((3, 5), np.float32))
            for other in (state.copy(), pickle.loads(pickle.dumps(state))):
                entry(other, np.ones((3, 5), np.float32))
                np.testing.assert_array_equal(other, np.full((3, 5), 2))
            np.testing.assert_array_equal(state, np.ones((3, 5)))
        for wrong in (3, None, [1.0], {"k": [1]}, (np.ones(2), "x")):
            self.fails("a state is a NumPy array", axon.State, wrong, code="E0801")
        with self.assertRaises(AttributeError):
            state.value = 1
        with self.assertRaises(AttributeError):
            state.nothing
        with self.assertRaises(TypeError):
            self.model.both.state(n=2, d=2)["keys"] = 1
        with self.assertRaises(TypeError):
            np.asarray(self.model.both.state(n=2, d=2))


def arrays_of(value):
    if isinstance(value, dict):
        return list(value.values())
    return [value.array if isinstance(value, axon.Bits) else value]


if __name__ == "__main__":
    unittest.main()
