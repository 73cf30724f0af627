"""Maps in `etcc run`: which name of a parameter and which file a rule means, and what the sums of tensors are.

usage: test_run.py ETCC
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

etcc = Path(sys.argv.pop(1))
scratch = tempfile.TemporaryDirectory()
folder = Path(scratch.name)
os.environ["XDG_CACHE_HOME"] = scratch.name
random = np.random.default_rng(11)


def draw(*shape):
    return random.standard_normal(shape).astype(np.float32)


def program(text):
    path = folder / "program.axn"
    path.write_text(text)
    return path


def checkpoint(name, tensors):
    path = folder / name
    np.savez(path, **tensors)
    return path


def run(source, binding_map, *words):
    """The results of the entry `main`, or what the error says."""
    out = folder / "out.npz"
    done = subprocess.run([etcc, "run", source, "main", *map(str, words), "--map", binding_map, "-o", out],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr
    with np.load(out) as results:
        return [results[str(i)] for i in range(len(results.files))] if "0" in results.files else results["result"]


class Names(unittest.TestCase):
    SOURCE = "entry main (p : weights { a : f32[n], b : f32[m], c : f32[m] }) = (p.a * 1.0, p.b * 1.0, p.c * 1.0)"

    def test_a_rule_is_for_the_parameter_whatever_the_file_calls_it(self):
        a, b, other = draw(3), draw(2), draw(2)
        names = {"a": a, "b": b, "c": b, "other": other}
        for front in ("", "p."):
            path = checkpoint("own.npz", {front + name: array for name, array in names.items()})
            for rule in ("c <- other", "p.c <- other", "c <- p.other", "p.c <- p.other"):
                if front == "" or "p.other" in rule:
                    for actual, expected in zip(run(program(self.SOURCE), rule, f"p=@{path}"), (a, b, other)):
                        np.testing.assert_array_equal(actual, expected, rule)
            for rule in ("b <- b", "* <- *", "p.* <- p.*", "p.* <- *", "words c = b\n* <- *", "-- nothing"):
                self.assertEqual(len(run(program(self.SOURCE), rule, f"p=@{path}")), 3, (front, rule))

    def test_rules_that_nothing_has(self):
        path = checkpoint("own.npz", {"a": draw(3), "b": draw(2), "c": draw(2)})
        self.assertIn("line 1 of the binding map: the program has no parameter `d`",
                      run(program(self.SOURCE), "d <- a", f"p=@{path}"))
        self.assertIn("the weights have no tensor `d`", run(program(self.SOURCE), "a <- d", f"p=@{path}"))


class Files(unittest.TestCase):
    """Each parameter has a file of its own, and the files have tensors of the same names."""
    SOURCE = "entry main (a : weights f32[n, m]) (b : weights { w : f32[n, m] }) = (a * 1.0, b.w * 1.0)"

    def test_a_rule_looks_into_the_file_of_its_parameter(self):
        first, second = draw(2, 3), draw(2, 3)
        for more in ({}, {"x": draw(4)}):
            one, two = checkpoint("one.npz", {"m.q": first} | more), checkpoint("two.npz", {"m.q": second} | more)
            given = (f"a=@{one}", f"b=@{two}")
            for rules in ("a <- m.q\nb.w <- m.q", "prefix m.\na <- q\nb.w <- q", "a <- a.m.q\nb.w <- b.m.q"):
                for actual, expected in zip(run(program(self.SOURCE), rules, *given), (first, second)):
                    np.testing.assert_array_equal(actual, expected, rules)
        for actual in run(program(self.SOURCE), "a <- m.q\nb.w <- m.q", f"a=@{one}", f"b=@{one}"):
            np.testing.assert_array_equal(actual, first)


class Axes(unittest.TestCase):
    """`axes`, by what NumPy does to the same arrays, in products, for which weights are laid out anew."""

    def test_products_with_rearranged_weights(self):
        source = program("""
type Layer[d, e] = { w : f32[d, e] }
entry main (p : weights { layers : Stack[n, Layer[d, e]], out : f32[e, h, k], cls : f32[d], half : f32[e, d] }) (x : f32[m, d]) =
  (for l i j => sum t => x[i, t] * p.layers.w[l, t, j], (x + p.cls) @ transpose p.half, p.out * 1.0)
""")
        for d, h, k, layers in ((40, 4, 16, 2), (7, 3, 5, 1), (1, 1, 1, 3), (33, 2, 32, 2)):
            q, out, cls, half = draw(layers, h, d, k), draw(h * k, h * k), draw(1, d, 1), draw(k, d, h).astype(np.float16)
            tensors = {f"h.{i}.q": q[i] for i in range(layers)} | {"out": out, "cls": cls, "half": half}
            path = checkpoint("axes.npz", tensors)
            x = draw(5, d)
            np.save(folder / "x.npy", x)
            text = f"""
layers.w[l] <- h.{{l}}.q, axes h d k -> d (h k)
out  <- out, axes (h={h} k) e -> e h k
cls  <- cls, axes 1 d 1 -> d
half <- half, axes k d h -> (h k) d, as f32
"""
            first, second, third = run(source, text, f"p=@{path}", f"x=@{folder / 'x.npy'}")
            for layer in range(layers):
                w = q[layer].transpose(1, 0, 2).reshape(d, h * k)
                np.testing.assert_allclose(first[layer], x @ w, rtol=1e-3, atol=1e-4)
            wide = half.astype(np.float32).transpose(2, 0, 1).reshape(h * k, d)
            np.testing.assert_allclose(second, (x + cls[0, :, 0]) @ wide.T, rtol=1e-3, atol=1e-4)
            np.testing.assert_array_equal(third, out.reshape(h, k, h * k).transpose(2, 0, 1))


class Archives(unittest.TestCase):
    def test_arrays_that_are_not_read_are_errors_where_they_are_used(self):
        odd = {"words": np.array(["a", "bc"]), "complex": np.ones(2, np.complex64), "big": np.ones(2, ">f4"),
               "rows": np.zeros(2, [("x", "<i4"), ("y", "<f4", (2,))])}
        path = checkpoint("odd.npz", odd | {"a": np.ones(2, np.float32)})
        source = program("entry main (p : weights { a : f32[n] }) = p.a * 2.0")
        np.testing.assert_array_equal(run(source, "-- none", f"p=@{path}"), [2, 2])
        for name, kind in (("words", "<U2"), ("complex", "<c8"), ("big", ">f4"), ("rows", "structured")):
            self.assertIn(f"parameter `a`: `{name}` is {kind}[2], an element type that is not read",
                          run(source, f"a <- {name}", f"p=@{path}"))
        done = subprocess.run([etcc, "run", program("entry main (x : f32[n]) = x"), "main", f"x=@{path}:big"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("tensor `big` is >f4, an element type that is not read", done.stderr)


class WholeProgram(unittest.TestCase):
    """One map for a program of several entries, each of which takes some of the weights."""
    SOURCE = """
type Block[d] = { w : f32[d, d], b : f32[d] }
entry embed (p : weights { table : f32[v, d] }) (i : i64[n]) = for j k => p.table[i[j], k]
entry layer (blocks : weights Stack[n, Block[d]]) (x : f32[m, d]) = fold (fn h l => h @ l.w + l.b) x blocks
entry head (out : weights f32[d, v]) (x : f32[m, d]) = x @ out
"""
    MAP = """
p.table       <- wte, as f32
blocks.*[l]   <- h.{l}.*
out           <- lm_head, transposed
"""

    @classmethod
    def setUpClass(cls):
        cls.table, cls.head = draw(5, 3), draw(5, 3)
        cls.w, cls.b = draw(2, 3, 3), draw(2, 3)
        tensors = {"wte": cls.table, "lm_head": cls.head}
        for i in range(2):
            tensors |= {f"h.{i}.w": cls.w[i], f"h.{i}.b": cls.b[i]}
        cls.path = checkpoint("whole.npz", tensors)
        cls.x = draw(2, 3)
        cls.words = "x=" + str(cls.x.tolist())

    def call(self, file, entry, text, *words, status=0):
        done = subprocess.run([etcc, "run", file, entry, *map(str, words), "--map", text], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def entries(self, file, text):
        """Each entry runs with the map, twice: the second time its code is in the cache."""
        for _ in range(2):
            self.assertIn("f32[1, 3]", self.call(file, "embed", text, "i=[4]", f"p=@{self.path}"))
            self.assertIn("f32[2, 3]", self.call(file, "layer", text, self.words, f"blocks=@{self.path}"))
            self.assertIn("f32[2, 5]", self.call(file, "head", text, self.words, f"out=@{self.path}"))

    def test_each_entry_runs(self):
        source = program(self.SOURCE)
        self.entries(source, self.MAP)
        self.entries(source, self.MAP.replace("p.table", "table"))
        bundle = folder / "whole.axb"
        subprocess.run([etcc, "build", source, "-o", bundle, "--level", "x86-64-v2"], check=True)
        self.entries(bundle, self.MAP)
        for entry, words in (("head", [self.words, f"out=@{self.path}"]), ("embed", ["i=[4]", f"p=@{self.path}"])):
            subprocess.run([etcc, "build", source, "-o", bundle, "--level", "x86-64-v2", "--entry", entry], check=True)
            self.call(bundle, entry, self.MAP, *words)
        shown = subprocess.run([etcc, "weights", source, self.path, "--entry", "head", "--map", self.MAP],
                               capture_output=True, text=True, check=True).stdout
        self.assertTrue(shown.startswith("out  f32[3, 5]  <- lm_head f32[5, 3], transposed\n"), shown)

    def test_what_no_entry_has_is_refused(self):
        source = program(self.SOURCE)
        for rule in ("p.tabel <- wte", "blocks.w.w[l] <- h.{l}.w", "other.* <- h.*", "blocks.c <- wte"):
            for file in (source, folder / "whole.axb"):
                if file != source:
                    subprocess.run([etcc, "build", source, "-o", file, "--level", "x86-64-v2"], check=True)
                err = self.call(file, "head", self.MAP + rule, self.words, f"out=@{self.path}", status=1)
                self.assertIn("line 5 of the binding map: the program has no parameter `" + rule.split(" ")[0].split("[")[0],
                              err)

    def test_a_tensor_shared_with_another_entry(self):
        source = program("""
entry left (q : weights f32[d, a]) (x : f32[m, d]) = x @ q
entry right (k : weights f32[d, b]) (x : f32[m, d]) = x @ k
""")
        qk = draw(3, 7)
        path = checkpoint("shared.npz", {"qk": qk})
        text = self.call(source, "left", "q, k <- qk, split columns", self.words, f"q=@{path}", status=1)
        self.assertIn("`qk` is [3, 7], of which other entries have a part, `k`: state the sizes of the parts behind `split`",
                      text)
        for entry, name, part in (("left", "q", qk[:, :3]), ("right", "k", qk[:, 3:])):
            out = folder / "part.npy"
            self.call(source, entry, "q, k <- qk, split columns 3 4", self.words, f"{name}=@{path}", "-o", out)
            np.testing.assert_allclose(np.load(out), self.x @ part, rtol=1e-5)
        both = "entry both (q : weights f32[d, a]) (k : weights f32[d, b]) (x : f32[m, d]) = (x @ q, x @ k)\n"
        self.assertIn("state their sizes behind `split`",
                      self.call(program(both), "both", "q, k <- qk, split columns", self.words, f"q=@{path}", f"k=@{path}",
                                status=1))


if __name__ == "__main__":
    unittest.main()
