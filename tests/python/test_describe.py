"""What a model says of itself: names, signatures, help, and stub files."""
import ast
import inspect
import os
import pydoc
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import axon
import support

PROGRAM = '''
type Layer[d] = { w : f32[d, d], b : f32[d] }

--| Splits x into h heads.
--|
--| "Quoted" and \\escaped.
entry split[h] (x : f32[t, h*k]) = rearrange x [t, h*k] => [h, t, k]
entry dense (p : Layer[d]) (x : f32[n, d]) = x @ p.w + p.b
entry step (h : *f32[n, d]) (x : f32[d]) (pos : i64) where 0 <= pos, pos < n = (sum x, h with [pos] = x)
entry both (h : *{ a : f32[n], b : i32[n] }) = { a = h.a with [:] = h.a + 1.0, b = h.b with [:] = h.b + 1 }
entry bind (x : f32[n]) = x + 1.0
entry entries (x : f32[n]) = x + 2.0
entry level (x : f32[n]) = x + 3.0
entry lambda (from : f32[n]) (pass : bool) (self : f32[n]) (from_ : f32[n]) = if pass then from + self else from - from_
entry __call__ (x : bf16[n]) = (x, { y = x })
entry scaled (p : weights {w : f32[d]}) (x : f32[d]) = x * p.w
entry _source (x : f32[n]) = x + 4.0
entry dense_p (x : f32[n]) = { result = x }
entry nothing = 3.0
entry patterns (x : f32[n]) (a : f32, (b : f32, c : f32)) (_ : f32[n]) = x + a + b - c
entry odd (__debug__ : f32) = __debug__
'''


class Describe(support.Case):
    @classmethod
    def setUpClass(cls):
        cls.model = axon.compile(PROGRAM)

    def test_signatures(self):
        for entry, signature in (
                ("split", "(x: 'f32[t, h*k]', *, h: 'i64') -> 'f32[h, t, k]'"),
                ("dense", "(p: '{w : f32[d, d], b : f32[d]}', x: 'f32[n, d]') -> 'f32[n, d]'"),
                ("step", "(h: '*f32[n, d]', x: 'f32[d]', pos: 'i64') -> '(f32, f32[n, d])'"),
                ("both", "(h: '*{a : f32[n], b : i32[n]}') -> '{a : f32[n], b : i32[n]}'"),
                ("__call__", "(x: 'bf16[n]') -> '(bf16[n], {y : bf16[n]})'"), ("nothing", "() -> 'f32'"),
                ("scaled", "(x: 'f32[d]') -> 'f32[d]'"), ("odd", "(__debug___: 'f32') -> 'f32'"),
                ("patterns", "(x: 'f32[n]', _1: '(f32, (f32, f32))', _2: 'f32[n]') -> 'f32[n]'")):
            self.assertEqual(str(inspect.signature(self.model[entry])), signature)
        step = self.model.step
        self.assertEqual([(port.path, port.elem, port.rank, port.type) for port in step.ports],
                         [("h", "f32", 2, "f32[n, d]"), ("x", "f32", 1, "f32[d]"), ("pos", "i64", 0, "i64")])
        self.assertEqual([(port.path, port.shape) for port in step.results], [("0", ()), ("1", ("n", "d"))])
        self.assertEqual(repr(step.ports), "[<h : *f32[n, d]>, <x : f32[d]>, <pos : i64>]")
        self.assertEqual(repr(self.model.split.results), "[<result : f32[h, t, k]>]")
        self.assertEqual((self.model.split.sizes, self.model.split.__name__), (["h"], "split"))
        inspect.signature(self.model.split).bind(np.ones((2, 4)), h=2)

    def test_help(self):
        text = pydoc.render_doc(self.model.split, renderer=pydoc.plaintext)
        self.assertIn("split(x: f32[t, h*k], *, h: i64) -> f32[h, t, k]", text)
        self.assertIn("Splits x into h heads.", text)
        self.assertIn('"Quoted" and \\escaped.', text)
        self.assertEqual(self.model.split.__doc__.split("\n\n")[1], "Splits x into h heads.")
        self.assertEqual(self.model.dense.__doc__, "dense(p: {w : f32[d, d], b : f32[d]}, x: f32[n, d]) -> f32[n, d]")
        self.assertIn("It has weights: bind() gives", self.model.scaled.__doc__)
        for thing in (axon, axon.Entry, axon.State, self.model, axon.compile):
            self.assertTrue(pydoc.render_doc(thing))
        self.assertIn("x : f32[t, h*k]", repr(self.model.split))

    def test_parameters_without_a_name(self):
        x = np.ones(2, np.float32)
        for result in (self.model.patterns(x, (5, (3, 2)), x), self.model.patterns(x, _1=(5, (3, 2)), _2=x)):
            np.testing.assert_array_equal(result, [7, 7])
        self.fails("has no input `_`; it has `x`, `_1.0`, `_1.1.0`, `_1.1.1`, `_2`", self.model.patterns, x, _=x, code="E0801")
        self.fails("not set: `2`", self.model.patterns, x, (5, (3, 2)), code="E0821")

    def test_names_of_methods_and_of_python(self):
        model = self.model
        x = np.ones(2, np.float32)
        for entry, result in (("bind", 2), ("entries", 3), ("level", 4), ("_source", 5)):
            self.assertIn(entry, dir(model))
            np.testing.assert_array_equal(model[entry](x), [result] * 2)
        self.assertIsInstance(model.level, str)
        self.assertIn("bind", model.entries)
        self.assertEqual(str(inspect.signature(model["lambda"])), "(from__: 'f32[n]', pass_: 'bool', self: 'f32[n]', "
                         "from_: 'f32[n]') -> 'f32[n]'")
        for given in ({"from": x, "pass": True, "self": x, "from_": x}, {"from__": x, "pass_": True, "self": x, "from_": x}):
            np.testing.assert_array_equal(model["lambda"](**given), [2, 2])
        self.fails("`pass` was given twice", model["lambda"], x, True, x, x, **{"pass": True})
        self.fails("`pass` was given twice", model["lambda"], **{"pass": True, "pass_": True})
        self.assertEqual(model["__call__"].name, "__call__")
        with self.assertRaises(TypeError):
            model()
        self.assertEqual(model.bind(p={"w": x}).bind.name, "bind")
        for wrong in ("nothin", "", 3, None):
            with self.assertRaises(KeyError):
                model[wrong]
            self.assertNotIn(wrong, model)
        with self.assertRaises(AttributeError) as caught:
            model.dens
        self.assertIn("did you mean `dense`?", str(caught.exception))
        self.assertEqual((list(model), len(model)), (model.entries, 15))

    def test_unknown_arguments(self):
        self.fails("`dense` has no input `xs`; it has `p.w`, `p.b`, `x`; did you mean `x`?", self.model.dense, xs=1,
                   code="E0801")
        self.fails("it has `x`, and the sizes `h`", self.model.split, zzz=1)
        self.fails("size `t` of `split` follows from its arguments", self.model.split, [[1, 2]], h=2, t=1)
        self.fails("`split` takes 1 argument, 2 were given; `h` is given by name", self.model.split, [[1, 2]], 2)
        self.fails("`nothing` takes 0 arguments, 1 were given", self.model.nothing, 2)
        for two in (2, np.int64(2), np.array(2)):
            self.assertEqual(self.model.split([[1, 2]], h=two).shape, (2, 1, 1))
        for wrong in (2.0, np.array(2.0), np.array([2]), True, "2", None, [2]):
            self.fails("size `h` is", self.model.split, [[1, 2]], h=wrong, code="E0822")
        self.fails("`x` was given twice", self.model.split, [[1, 2]], x=[[1, 2]])
        self.fails("size `h` of `split` is not determined", self.model.split, [[1, 2]], code="E0821")
        self.fails("`scaled` has weights, and none are bound", self.model.scaled, [1])

    def test_stub(self):
        bound = self.model.bind(p={"w": np.ones(2, np.float32)})
        for model, base in ((self.model, "axon.Bundle"), (bound, "axon.Parameters")):
            text = axon.stub(model, "Mine")
            tree = ast.parse(text)
            classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
            self.assertIn(f"class Mine({base}):", text)
            fields = {node.target.id for node in classes["Mine"].body if isinstance(node, ast.AnnAssign)}
            hidden = {"bind"} if model is bound else set()  # a method of the other alone
            self.assertEqual(fields - hidden, {"split", "dense", "step", "both", "scaled", "dense_p", "nothing",
                                               "patterns", "odd"})
            self.assertIn('# model["level"]: Entry_level', text)
            call = classes["Entry_split"].body[0]
            self.assertEqual([one.arg for one in call.args.kwonlyargs], ["h"])
            self.assertIn("Splits x into h heads.", ast.get_docstring(call))
            namespace = {}
            exec(compile(text, "stub", "exec"), namespace)  # the names in it are there
        for wrong in (None, self.model.split):
            self.fails("a stub is of what", axon.stub, wrong)
        for wrong in ("1", "", "class", None):
            self.fails("is no name of a class", axon.stub, self.model, wrong)

    def test_stub_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, "m.axb"), os.path.join(folder, "m.pyi")
            program = os.path.join(folder, "m.axn")
            with open(program, "w", encoding="utf-8") as file:
                file.write(PROGRAM)
            subprocess.run([os.environ["AXON_ETCC"], "build", program, "--level", "x86-64-v2", "-o", path], check=True)
            run = [sys.executable, "-m", "axon", "stub"]
            printed = subprocess.run([*run, path], capture_output=True, text=True, check=True).stdout
            self.assertEqual(printed, axon.stub(axon.load(path)))
            self.assertIn("# The entries of m.axb", printed)
            subprocess.run([*run, path, "-o", out, "--name", "Model"], check=True)
            with open(out, encoding="utf-8") as file:
                self.assertEqual(file.read(), printed)
            calls = {"model.split([[1.0]], h=1)": True, "model.split([[1.0]])": False, "model.split(3, h=1)": False,
                     "model.nothing() + 1.0": True, "model.dense({'w': 1, 'b': 2}, [[1]])": False,
                     "model.dense({'w': [[1]], 'b': [2]}, [[1]])": True}
            with open(os.path.join(folder, "user.py"), "w", encoding="utf-8") as file:
                file.write("\n".join(["from m import Model; model: Model", *calls]))
            checked = subprocess.run(["mypy", "--ignore-missing-imports", "user.py"], cwd=folder, capture_output=True,
                                     text=True).stdout
            wrong = {int(line) for line in re.findall(r"^user.py:(\d+): error", checked, re.MULTILINE)}
            self.assertEqual(wrong, {i for i, fits in enumerate(calls.values(), 2) if not fits}, checked)
            self.assertNotIn("m.pyi", checked)
            for arguments in ([os.path.join(folder, "none.axb")], [program], [path, "-o", os.path.join(folder, "no", "m.pyi")]):
                failed = subprocess.run([*run, *arguments], capture_output=True, text=True)
                self.assertEqual((failed.returncode, failed.stdout), (1, ""))
                self.assertTrue(failed.stderr.startswith("axon: "), failed.stderr)
            self.assertFalse([name for name in os.listdir(folder) if name.endswith(".new")])


class Versions(unittest.TestCase):
    """Of the package and of what it stands on: that of the header."""

    def shown(self, **environment):
        run = [sys.executable, "-c", "import axon; axon.show_config()"]
        said = subprocess.run(run, capture_output=True, text=True, check=True, env={**os.environ, **environment}).stdout
        return dict(re.findall(r"^(\w+): +(.*)$", said, re.MULTILINE))

    def test_the_package_has_that_of_the_header(self):
        header = os.path.join(os.path.dirname(__file__), "..", "..", "runtime", "include", "axon", "axon.h")
        with open(header, encoding="utf-8") as file:
            numbers = re.findall(r"^#define AXON_VERSION_(MAJOR|MINOR|PATCH) (\d+)$", file.read(), re.MULTILINE)
        self.assertEqual([name for name, _ in numbers], ["MAJOR", "MINOR", "PATCH"])
        self.assertEqual(axon.__version__, ".".join(number for _, number in numbers))

    def test_the_parts(self):
        shown = self.shown()
        self.assertEqual(list(shown), ["package", "library", "compiler", "level", "python", "numpy"])
        self.assertEqual(shown["package"], f"{axon.__version__} in {os.path.dirname(axon.__file__)}")
        self.assertEqual((shown["library"], shown["numpy"]), (axon.__version__, np.__version__))
        self.assertIn(f"axon {axon.__version__} (", shown["compiler"])
        self.assertIn(os.path.dirname(os.environ["AXON_ETCC"]), shown["compiler"])

    def test_what_is_missing_or_asked_for(self):
        shown = self.shown(AXON_ETCC="/nowhere/etcc", AXON_LEVEL="x86-64-v2")
        self.assertIn("cannot be run", shown["compiler"])
        self.assertEqual(shown["level"], "x86-64-v2")


if __name__ == "__main__":
    unittest.main()
