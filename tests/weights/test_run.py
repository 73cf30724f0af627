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


if __name__ == "__main__":
    unittest.main()
