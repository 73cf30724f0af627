"""Questions about a program: etcc query, explain --why, --layout and --graph."""

import json
import os
import tempfile
import unittest

from program import WithProgram
from support import etcc


class Query(unittest.TestCase):
    """Where names are declared and where else they stand: as file:line:column: the line."""

    def setUp(self):
        self.folder = os.path.realpath(self.enterContext(tempfile.TemporaryDirectory()))
        self.used = self.write("used.axn", "-- λ\nfun double (x : f32[n]) = x + x\nfun four x = double (double x)\n")
        self.user = self.write("user.axn", 'import "used.axn" as u\nfun eight x = 2.0 * u.double (u.four x)\n')

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def query(self, what, place, *options):
        return etcc("query", what, "--at", place, *options)

    def test_definition(self):
        double = f"{self.used}:2:5: fun double (x : f32[n]) = x + x\n"
        self.assertEqual(self.query("def", f"{self.user}:2:24"), (0, double, ""))
        self.assertEqual(self.query("def", f"{self.used}:3:14"), (0, double, ""))
        self.assertEqual(self.query("def", f"{self.used}:2:27")[1][-39:], ":2:13: fun double (x : f32[n]) = x + x\n")
        self.assertEqual(self.query("def", f"{self.user}:1:10"), (0, f"{self.used}:1:1: -- λ\n", ""))
        status, out, _ = self.query("def", f"{self.user}:2:19")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"stdlib/.*\.axn:\d+:\d+: prim ")

    def test_references_are_in_the_files_beside_it(self):
        expected = [f"{self.used}:2:5: ", f"{self.used}:3:14: ", f"{self.used}:3:22: ", f"{self.user}:2:23: "]
        for place in [f"{self.used}:2:5", f"{self.used}:3:25", f"{self.user}:2:23"]:
            status, out, _ = self.query("refs", place)
            self.assertEqual(status, 0)
            self.assertEqual([line[: len(start)] for line, start in zip(out.splitlines(), expected)], expected)
            self.assertEqual(len(out.splitlines()), len(expected))

    def test_references_to_the_library(self):
        path = self.write("alone.axn", "fun f x = softmax x\n")
        status, out, _ = self.query("refs", f"{path}:1:11")
        self.assertEqual(status, 0)
        self.assertIn(f"{path}:1:11: fun f x = softmax x\n", out)
        self.assertGreater(out.count("/stdlib/"), 1)

    def test_json(self):
        for option in [["--json"], ["--error-format", "json"]]:
            status, out, _ = self.query("def", f"{self.user}:2:24", *option)
            self.assertEqual(status, 0)
            self.assertEqual(json.loads(out), [{"file": self.used, "line": 2, "column": 5, "end_line": 2, "end_column": 11,
                                                "text": "fun double (x : f32[n]) = x + x"}])

    def test_places_without_a_name(self):
        for place in [f"{self.used}:1:1", f"{self.used}:2:1", f"{self.used}:99:1"]:
            status, out, err = self.query("def", place)
            self.assertEqual((status, out), (1, ""))
            self.assertIn("there is nothing to say", err)
        for place in [self.used, f"{self.used}:0:1", f"{self.used}:1:x", ":1:1"]:
            self.assertEqual(self.query("refs", place)[0], 2)
        self.assertEqual(self.query("refs", "/nowhere/a.axn:1:1")[0], 1)


class Why(WithProgram):
    """etcc explain --why FILE:LINE:COLUMN."""

    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.folder.name, "why.axn")
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("fun twice (x : f32[n]) = x + x\nfun bad (x : f32[m, d]) (y : f32[n, d]) = x @ y\n")

    def test_of_a_type(self):
        status, out, err = etcc("explain", "--why", f"{self.file}:1:28")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.splitlines()[0], "1:26  `x + x` : f32[n]")
        self.assertEqual(out.splitlines()[-1], "1:12  `n` is a size: axis 0 of `x`")

    def test_of_an_error(self):
        status, out, _ = etcc("explain", "--why", f"{self.file}:2:45")
        self.assertEqual(status, 0)
        self.assertEqual(out.splitlines()[0], "2:45  error[E0312]: inner dimensions of `@` differ")
        self.assertIn("needs d = n", out)

    def test_json(self):
        first = json.loads(etcc("explain", "--why", f"{self.file}:1:28", "--json")[1])[0]
        self.assertEqual(first, {"file": self.file, "line": 1, "column": 26, "end_line": 1, "end_column": 31, "depth": 0, "text": "`x + x` : f32[n]"})

    def test_wrong_places(self):
        self.assertEqual(etcc("explain", "--why", f"{self.file}:9:1")[0], 1)
        self.assertEqual(etcc("explain", "--why", self.file)[0], 2)
        self.assertEqual(etcc("explain", "E0312", "--why", f"{self.file}:1:1")[0], 2)
        self.assertEqual(etcc("explain", "--why", "/nowhere/a.axn:1:1")[0], 1)


class Layouts(unittest.TestCase):
    """etcc explain --layout 'FROM -> TO'."""

    def test_the_collectives_and_what_they_move(self):
        rows, copies = "S[(4,n):(1@x,1)]", "S[4*n:1] + R[4:1@x]"
        status, out, _ = etcc("explain", "--layout", f"{rows} -> {copies}", "--mesh", "x=4", "-D", "n=16")
        self.assertEqual((status, out), (0, "from S[(4,16):(1@x,1)]\nto   S[64:1] + R[4:1@x]\n"
                                            "  all-gather on `x`: 768 bytes\n768 bytes between 4 devices\n"))
        _, out, _ = etcc("explain", "--layout", f"{copies} -> {rows}", "--mesh", "x=4", "-D", "n=16")
        self.assertIn("slice on `x`: no bytes", out)
        _, out, _ = etcc("explain", "--layout", f"{copies} -> {rows}", "--mesh", "x=4", "-D", "n=16", "--partial", "x",
                         "--elem", "bf16")
        self.assertIn("reduce-scatter on `x`: 384 bytes", out)
        _, out, _ = etcc("explain", "--layout", "S[(4,4):(1@x,1@y)] -> S[(4,4):(1@y,1@x)]", "--mesh", "x=4,y=4")
        self.assertIn("permute on `x` and `y`: 48 bytes", out)

    def test_what_is_refused(self):
        for layouts, mesh, said in (("S[4:1@x] -> S[4:1@q]", "x=4", "no axis is called `q`"),
                                    ("S[4:1@x]", "x=4", "FROM -> TO"), ("S[n:1] -> S[n:1]", "x=4", "S[n:1]: "),
                                    ("S[4:1] -> S[5:1]", "x=4", "the sizes 4 and 5 differ"),
                                    ("S[4:1] -> S[4:1]", "x", "NAME=NUMBER"), ("S[4:1] -> S[4:1]", "x=0", "from 1 on"),
                                    ("S[4:1] -> S[4:1]", "lane=2", "every machine"),
                                    ("S[2097152:1] -> S[2097152:1]", "x=2", "over 1048576 elements"),
                                    ("S[4:0] -> S[4:0]", "x=2", "share a place"),
                                    ("S[4:1] -> S[4:1]", "x=4096,y=2", "at most 4096 devices")):
            status, _, err = etcc("explain", "--layout", layouts, "--mesh", mesh)
            self.assertEqual(status, 2, layouts)
            self.assertIn(said, err)
        self.assertEqual(etcc("explain", "E0312", "--layout", "S[4:1] -> S[4:1]")[0], 2)


class Pages(WithProgram):
    """etcc explain FILE ENTRY --graph: where the page is written, and what is refused."""

    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.folder.name, "two.axn")
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("entry half (x : f32[n]) = x / 2.0\nentry bad (x : f32[n]) = x + y\n")

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_the_only_entry_is_written_beside_the_file(self):
        path = self.write("one.axn", "entry half (x : f32[n]) = x / 2.0\n")
        page = os.path.join(self.folder.name, "one.half.html")
        self.assertEqual(etcc("explain", path, "--graph"), (0, page + "\n", ""))
        with open(page, encoding="utf-8") as file:
            self.assertIn("<title>half - ", file.read())
        self.assertEqual(etcc("explain", path, "half", "--graph", "-o", "-")[1][:15], "<!doctype html>")
        self.assertEqual(etcc("explain", "-", "--graph=html", "-o", "-", stdin="entry half x = x / 2.0f32\n")[0], 1)

    def test_dot(self):
        path = self.write("one.axn", "entry half (x : f32[n]) = x / 2.0\n")
        self.assertEqual(etcc("explain", path, "--entry", "half", "--graph", "-o", "-")[1][:15], "<!doctype html>")
        self.assertEqual(etcc("explain", path, "other", "--entry", "half", "--graph")[0], 2)
        status, out, _ = etcc("explain", path, "--graph=dot")
        self.assertEqual((status, out[:16]), (0, 'digraph "half" {'))
        dot = os.path.join(self.folder.name, "x.dot")
        self.assertEqual(etcc("explain", path, "--graph", "-o", dot), (0, dot + "\n", ""))
        with open(dot, encoding="utf-8") as file:
            self.assertEqual(file.read(), out)

    def test_which_entry(self):
        path = self.write("two.axn", "entry half (x : f32[n]) = x / 2.0\nentry twice (x : f32[n]) = x + x\nfun f x = x\n")
        for name, said in [([], "several entries"), (["f"], "no entry `f`")]:
            status, out, err = etcc("explain", path, *name, "--graph")
            self.assertEqual((status, out), (1, ""))
            self.assertIn("error[E0610]: the file has " + said, err)
            self.assertIn("its entries are `half`, `twice`", err)

    def test_nothing_is_written_of_what_is_refused(self):
        page = os.path.join(self.folder.name, "page.html")
        status, out, err = etcc("explain", self.file, "half", "--graph", "-o", page)
        self.assertEqual((status, out), (1, ""))
        self.assertIn("E0401", err)
        self.assertFalse(os.path.exists(page))
        path = self.write("one.axn", "entry half (x : f32[n]) = x / 2.0\n")
        status, _, err = etcc("explain", path, "--graph", "-o", os.path.join(self.folder.name, "none", "page.html"))
        self.assertEqual(status, 1)
        self.assertIn("E0701", err)

    def test_a_code_is_no_program(self):
        self.assertEqual(etcc("explain", "e0312")[1][:7], "# E0312")
        for wrong in [["E0312", "--graph"], ["--graph"], [self.file], ["E0312", "half"], [self.file, "--graph=svg"], ["E0312", "-o", "x"]]:
            status, out, err = etcc("explain", *wrong)
            self.assertEqual((status, out), (2, ""), wrong)
            self.assertNotEqual(err, "")


if __name__ == "__main__":
    unittest.main()
