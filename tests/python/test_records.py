"""Records, tuples and stacks: dicts, dataclasses, named tuples, lists of them; and what is none of these."""
import collections
import dataclasses
import types
import unittest

import numpy as np

import axon
import support

PROGRAM = """
type Layer[d] = { w : f32[d, d], b : f32[d] }

entry dense (p : Layer[d]) (x : f32[n, d]) = x @ p.w + p.b
entry network (p : Stack[l, Layer[d]]) (x : f32[t, d]) = fold (fn h q => h @ q.w + q.b) x p
entry pair (p : (f32[n], f32[n])) = let (a, b) = p in a - b
entry pairs (p : Stack[l, (f32[n], f32[n])]) = let (a, b) = p in a - b
entry made (x : f32[n]) = { twice = x + x, parts = (x, { negative = -x, count = n }) }
entry one (x : f32[n]) = { x = x + 1.0 }
entry rows (x : f32[n, d]) = sum (sum x)
entry deep (p : { first : Layer[d], rest : (f32[d], { k : i32[n] }) }) =
  let (b, other) = p.rest in (p.first.b + b, other.k)
entry wide (p : { a : f32[n], b : f32[n], c : f32[n], d : f32[n], e : f32[n], f : f32[n], g : f32[n], h : f32[n] })
    (a : f32) (b : f32) (c : f32) (d : f32) (e : f32) (f : f32) (g : f32) (h : f32) (i : f32) (j : f32) (k : f32)
    (l : f32) (m : f32) (o : f32) =
  (p.a + p.b + p.c + p.d + p.e + p.f + p.g + p.h, a + b + c + d + e + f + g + h + i + j + k + l + m + o)
entry grid (p : Stack[n, Stack[m, { k : f32 }]]) = p.k
entry grid_of_pairs (p : Stack[n, Stack[m, (f32, f32)]]) = let (a, b) = p in a
entry named (p : weights Stack[l, Layer[d]]) (x : f32[t, d]) = fold (fn h q => h @ q.w + q.b) x p
"""


@dataclasses.dataclass
class Layer:
    w: object
    b: object


Row = collections.namedtuple("Row", "w b")


def layer(seed, d=3):
    random = np.random.default_rng(seed)
    return random.random((d, d), np.float32), random.random(d, np.float32)


class Records(support.Case):
    @classmethod
    def setUpClass(cls):
        cls.model = axon.compile(PROGRAM)

    def test_a_record_in_every_form(self):
        w, b = layer(1)
        x = np.ones((2, 3), np.float32)
        for p in ({"w": w, "b": b}, {"b": b, "w": w}, Layer(w, b), Row(w, b), types.MappingProxyType({"w": w, "b": b}),
                  collections.OrderedDict(w=w, b=b), {"w": w.tolist(), "b": b.tolist()}, {"w": w.T.copy().T, "b": b}):
            np.testing.assert_allclose(self.model.dense(p, x), x @ w + b, rtol=1e-6)
            np.testing.assert_allclose(self.model.dense(x=x, p=p), x @ w + b, rtol=1e-6)

    def test_what_is_no_record(self):
        w, b = layer(1)
        x = np.ones((2, 3), np.float32)
        dense = self.model.dense
        for wrong, text in ((w, "`p` is a record, given as a dict or a dataclass with the fields w, b, not as an array"),
                            (None, "not as None"), ((w, b), "not as a tuple"), (3, "not as the number 3"),
                            (True, "not as True"), ("w", "not as a text"), (object(), "not as an object of object"),
                            (Layer, "not as an object of type")):
            self.fails(text, dense, wrong, x, code="E0822")
        self.fails("`p` of `dense` has no part `bias`; it is given as a dict of w, b", dense, {"w": w, "bias": b}, x,
                   code="E0801")
        self.fails("did you mean `w`?", dense, {"ww": w, "b": b}, x)
        self.fails("no part `extra`", dense, {"w": w, "b": b, "extra": b}, x)
        self.fails("no part `1`", dense, {"w": w, "b": b, 1: b}, x)
        self.fails("not set: `p.b`", dense, {"w": w}, x, code="E0821")
        self.fails("not set: `p` with its 2 tensors", dense, {}, x)
        self.fails("`p.b` of `dense` is a tensor", dense, {"w": w, "b": {"x": b}}, x, code="E0801")
        self.fails("`p.b` is f32, and None is no number", dense, {"w": w, "b": None}, x, code="E0822")
        self.fails("no input `q`", dense, {"w": w, "b": b}, x, q=1)

    def test_stacks(self):
        ws, bs = zip(*map(layer, range(4)))
        x = np.ones((2, 3), np.float32)
        expected = x
        for w, b in zip(ws, bs):
            expected = expected @ w + b
        stacked = {"w": np.stack(ws), "b": np.stack(bs)}
        for p in (stacked, Layer(**stacked), [{"w": w, "b": b} for w, b in zip(ws, bs)],
                  [Layer(w, b) for w, b in zip(ws, bs)], [Row(w.tolist(), b) for w, b in zip(ws, bs)],
                  {"w": list(ws), "b": [b.tolist() for b in bs]}):
            np.testing.assert_allclose(self.model.network(p, x), expected, rtol=1e-5)
            np.testing.assert_allclose(self.model.bind(p=p).named(x), expected, rtol=1e-5)
        np.testing.assert_allclose(self.model.bind({"p": [Layer(w, b) for w, b in zip(ws, bs)]}).named(x), expected,
                                   rtol=1e-5)
        none = {"w": np.zeros((0, 3, 3), np.float32), "b": np.zeros((0, 3), np.float32)}
        np.testing.assert_array_equal(self.model.network(none, x), x)
        self.fails("`p` is an empty list", self.model.network, [], x, code="E0823")
        self.fails("element [1] of `p` has the fields w, b, and is given as a dict with w", self.model.network,
                   [{"w": ws[0], "b": bs[0]}, {"w": ws[1]}], x)
        several = [[{"k": k} for k in range(3)], [{"k": k} for k in (3, 4, 5)]]
        np.testing.assert_array_equal(self.model.grid(several), [[0, 1, 2], [3, 4, 5]])
        np.testing.assert_array_equal(self.model.grid_of_pairs([[(r["k"], -1.0) for r in row] for row in several]),
                                      [[0, 1, 2], [3, 4, 5]])
        self.fails("element [0] of `p` is a record", self.model.network, [ws[0]], x)
        self.fails("uneven", self.model.network, [{"w": ws[0], "b": bs[0]}, {"w": ws[1], "b": bs[1][:2]}], x, code="E0823")
        self.fails("`p.w`", self.model.dense, [{"w": ws[0], "b": bs[0]}], x)

    def test_tuples(self):
        a, b = np.arange(3, dtype=np.float32), np.ones(3, np.float32)
        np.testing.assert_array_equal(self.model.pair((a, b)), a - b)
        np.testing.assert_array_equal(self.model.pair(collections.namedtuple("P", "a b")(a, [1, 1, 1])), a - b)
        np.testing.assert_array_equal(self.model.pairs([(a, b), (b, a)]), [a - b, b - a])
        np.testing.assert_array_equal(self.model.pairs((np.stack([a, b]), np.stack([b, a]))), [a - b, b - a])
        self.fails("`p` is a tuple of 2 parts, not a dict", self.model.pair, {"0": a, "1": b}, code="E0822")
        self.fails("not None", self.model.pair, None)
        self.fails("no part `2`", self.model.pair, (a, b, a), code="E0801")
        self.fails("not set: `p.1`", self.model.pair, (a,), code="E0821")
        self.fails("a list of such tuples, and element [1] of the list is a tuple of 1", self.model.pairs, [(a, b), (a,)],
                   code="E0822")
        self.fails("`p` is a tuple of 2 parts, or a list of such tuples, and element [0] of the list is an array",
                   self.model.pair, [a, b], code="E0822")
        self.fails("`p.rest` is a tuple of 2 parts, or a list of such tuples, and element [0] of the list is the number 1",
                   self.model.deep, {"first": Layer(*layer(1)), "rest": [1, 2]})

    def test_records_in_records(self):
        w, b = layer(2)
        k = np.arange(5, dtype=np.int32)
        for p in ({"first": Layer(w, b), "rest": (b, {"k": k})},
                  {"first": {"w": w, "b": b}, "rest": (b, {"k": [0, 1, 2, 3, 4]})}):
            total, kept = self.model.deep(p)
            np.testing.assert_array_equal(total, b + b)
            np.testing.assert_array_equal(kept, k)
        self.fails("`p.rest.1` is a record", self.model.deep, {"first": Layer(w, b), "rest": (b, k)})
        self.fails("`p.rest.1` of `deep` has no part `j`", self.model.deep, {"first": Layer(w, b), "rest": (b, {"j": k})})

    def test_results(self):
        x = np.arange(4, dtype=np.float32)
        made = self.model.made(x)
        self.assertEqual(list(made), ["twice", "parts"])
        np.testing.assert_array_equal(made["twice"], x + x)
        np.testing.assert_array_equal(made["parts"][0], x)
        self.assertEqual(made["parts"][1]["count"], 4)
        self.assertEqual(list(self.model.one(x)), ["x"])
        self.assertTrue(made["twice"].flags.owndata and made["twice"].flags.writeable)
        made["twice"][:] = 0  # is nobody else's
        np.testing.assert_array_equal(self.model.made(x)["twice"], x + x)

    def test_more_than_a_few(self):
        p = {name: np.full(2, i, np.float32) for i, name in enumerate("abcdefgh")}
        numbers = {name: i for i, name in enumerate("abcdefghijklmo")}
        for result in (self.model.wide(p, **numbers), self.model.wide(p, *numbers.values())):
            np.testing.assert_array_equal(result[0], [28, 28])
            self.assertEqual(result[1], 91)
        self.fails("takes 15 arguments, 16 were given", self.model.wide, p, *range(15))
        self.fails("not set: `o`", self.model.wide, p, *range(13))

    def test_lists_of_arrays(self):
        rows = [np.arange(3, dtype=np.float32), np.ones(3, np.float32)]
        self.assertEqual(self.model.rows(rows), 6)
        self.assertEqual(self.model.rows([[0, 1, 2], np.ones(3, np.float32)]), 6)
        self.fails("uneven", self.model.rows, [rows[0], rows[1][:2]])

    def test_a_dict_that_changes_meanwhile(self):
        w, b = layer(1)

        class Nasty:
            def __dlpack__(self, **_):
                record.clear()
                raise BufferError("no")

            def __dlpack_device__(self):
                return 1, 0

        record = {"w": Nasty(), "b": b.copy()}
        with self.assertRaises(axon.Error):
            self.model.dense(record, np.ones((2, 3), np.float32))


if __name__ == "__main__":
    unittest.main()
