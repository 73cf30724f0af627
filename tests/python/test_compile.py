"""axon.compile: texts and paths, options, errors as text and as data, and a compiler that cannot be run."""
import os
import pathlib
import pickle
import stat
import tempfile
import unittest
import warnings

import numpy as np

import axon
import support

DOUBLE = "entry double (x : f32[n]) = x + x"
TWO = "entry double (x : f32[n]) = x + x\nentry triple (x : f32[n]) = 3.0 * x\n"
WRONG = """entry good (x : f32[n]) = x
entry bad (x : f32[m, d]) (y : f32[n, d]) = x @ y
entry worse (x : f32[n]) = nothing x
"""


class Compile(support.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, text, executable=False):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        if executable:
            os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def test_texts_and_paths(self):
        path = self.file("double.axn", DOUBLE)
        odd = self.file("-o x.axn", DOUBLE)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        for source in (DOUBLE, DOUBLE + "\n", "\n" + DOUBLE, path, pathlib.Path(path), "double.axn", os.path.basename(odd)):
            model = axon.compile(source, workers=1)
            self.assertEqual(model.entries, ["double"])
            np.testing.assert_array_equal(model.double([1, 2, 3]), [2, 4, 6])
        self.assertIsInstance(model, axon.Bundle)
        self.fails("it is a program, which axon.compile() takes", axon.load, path, code="E0811")
        for wrong in (None, 3, [path]):
            self.fails("the path is a text or an os.PathLike", axon.load, wrong, code="E0801")
        self.assertTrue(model.level.startswith("x86-64-v"))
        self.fails("no entry to build", axon.compile, "-- nothing\n", code="E0610")

    def test_options(self):
        self.assertEqual(axon.compile(TWO, entry="triple").entries, ["triple"])
        self.assertEqual(axon.compile(TWO, entry=["double", "triple"]).entries, ["double", "triple"])
        fixed = axon.compile("entry whole['t, n] (x : 't[n]) = x + x\n", defines={"t": "f16", "n": 3})
        self.assertEqual(fixed.whole(np.ones(3, np.float16)).dtype, np.float16)
        self.fails("is 2", fixed.whole, np.ones(2, np.float16))
        self.file("mine.axn", "fun twice x = x + x\n")
        model = axon.compile('import mine\nentry f (x : f32[n]) = mine.twice x\n', library=[self.folder])
        np.testing.assert_array_equal(model.f([1, 2]), [2, 4])
        self.assertEqual(axon.compile('import mine\nentry f (x : f32[n]) = mine.twice x\n',
                                      library=pathlib.Path(self.folder)).entries, ["f"])
        for missing in ("nothing", ["nothing"], ["double", "nothing"]):
            self.fails("the file has no entry `nothing`", axon.compile, TWO, entry=missing, code="E0610")

    def test_errors_are_texts_and_data(self):
        error = self.fails("error[E0312]: inner dimensions of `@` differ", axon.compile, WRONG, code="E0312")
        self.assertIn("<stdin>:2:", str(error))
        self.assertNotIn("\x1b", str(error))
        first, second = error.diagnostics
        self.assertEqual((first.code, first.severity, first.file, first.line), ("E0312", "error", "<stdin>", 2))
        self.assertIn("inner dimensions", first.message)
        self.assertEqual((second.line, second.column), (3, 28))
        self.assertIn("<stdin>:2:", repr(first))
        path = self.file("wrong.axn", WRONG)
        self.assertEqual(self.fails(path, axon.compile, path).diagnostics[0].file, path)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.code, len(again.diagnostics)), (str(error), "E0312", 2))
        self.fails("nothing.axn", axon.compile, os.path.join(self.folder, "nothing.axn"))
        self.fails("", axon.compile, "no program")
        self.fails("", axon.compile, "entry f x = \0\n")
        self.fails("", axon.compile, "entry f x = \udcff\n")
        self.fails("", axon.compile, "")

    def test_warnings_are_shown(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            axon.compile("entry f (x : f32[n]) = let unused = x + x in x\n")
        if caught:  # only where the compiler warns of it
            self.assertIn("warning", str(caught[0].message))
            self.assertEqual(caught[0].filename, __file__)

    def test_arguments(self):
        for wrong in (None, 3, b"entry" * 1000, ["entry"]):
            error = self.fails("a program is a text, or a path", axon.compile, wrong, code="E0801")
            self.assertLess(len(str(error)), 80)
        self.fails("NUL", axon.compile, "a\0.axn", code="E0801")
        self.fails("a number of workers", axon.compile, DOUBLE, workers=-1, code="E0801")
        self.fails("entries are texts", axon.compile, DOUBLE, entry=[3])
        for wrong in (3, [3], b"double"):
            self.fails("entries are texts", axon.compile, DOUBLE, entry=wrong, code="E0801")
        for wrong in (3, [None], b"lib", "\0"):
            self.fails("folders of a library are texts", axon.compile, DOUBLE, library=wrong, code="E0801")
        for wrong in ("n=4", [("n", 4)], 3):
            self.fails("`defines` is a dict such as", axon.compile, DOUBLE, defines=wrong, code="E0801")
        for wrong in (4.0, -1, None, True, "four", "", 2**63, [4]):
            self.fails("`n` of `defines` is a size or", axon.compile, DOUBLE, defines={"n": wrong}, code="E0801")
        for wrong in ("", "n=3", 3):
            self.fails("which is no name", axon.compile, DOUBLE, defines={wrong: 4}, code="E0801")
        for right in (3, "3", np.int64(3)):
            self.assertEqual(axon.compile(DOUBLE, defines={"n": right}).double.ports[0].type, "f32[3]")

    def test_where_the_compiler_is(self):
        given = os.environ["AXON_ETCC"]
        for name, value in (("AXON_ETCC", given), ("PATH", os.environ["PATH"])):
            self.addCleanup(os.environ.__setitem__, name, value)
        del os.environ["AXON_ETCC"]
        self.assertTrue(os.path.samefile(axon._compile.compiler(), given))  # of the build tree
        here = axon._compile._HERE
        self.addCleanup(setattr, axon._compile, "_HERE", here)
        axon._compile._HERE = self.folder
        os.environ["PATH"] = self.folder
        self.fails("the compiler `etcc` is not found", axon.compile, DOUBLE, code="E0802")
        path = self.file("etcc", "#!/bin/sh\n", True)
        self.assertEqual(axon._compile.compiler(), path)
        os.mkdir(os.path.join(self.folder, "bin"))
        packaged = self.file(os.path.join("bin", "etcc"), "#!/bin/sh\n", True)
        self.assertEqual(axon._compile.compiler(), packaged)

    def test_a_compiler_that_fails(self):
        before = os.environ["AXON_ETCC"]
        self.addCleanup(os.environ.__setitem__, "AXON_ETCC", before)
        for name, text, expected, code in (
                ("absent", None, "cannot be run", "E0802"), ("silent", "exit 3", "ended with status 3", ""),
                ("bug", "echo broken >&2; exit 70", "broken", "E0592"), ("killed", "kill -9 $$", "status -9", ""),
                ("liar", "exit 0", "left no bundle", ""), ("garbage", 'while [ "$1" != -o ]; do shift; done; echo x > "$2"',
                                                           "bundle", "E0811")):
            os.environ["AXON_ETCC"] = self.file(name, f"#!/bin/sh\n{text}\n", True) if text else "/nowhere/etcc"
            error = self.fails(expected, axon.compile, DOUBLE)
            self.assertEqual((name, error.code), (name, code))
        self.assertFalse([name for name in os.listdir(tempfile.gettempdir()) if name.startswith("axon-")
                          and os.path.exists(os.path.join(tempfile.gettempdir(), name, "program.axb"))])

    def test_a_program_longer_than_a_pipe(self):
        text = "-- " + "x" * 100 + "\n"
        self.assertEqual(axon.compile(text * 5000 + DOUBLE + "\n").entries, ["double"])


if __name__ == "__main__":
    unittest.main()
