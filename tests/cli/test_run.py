"""etcc run: bundles as well as programs, arguments that are refused before code is made, values from parts of files."""

import json
import os
import re
import shlex
import struct
import subprocess
import tempfile
import unittest

from support import ETCC, etcc, npy, npz

PROGRAM = """\
type State[n] = { h : f32[n], rest : (f32, { k : i64 }) }
entry twice (x : f32[n]) = 2.0 * x
entry lines (x : f32[n, k]) (w : f32[k]) = for i => sum j => x[i, j] * w[j]
entry pick (table : f32[v, d]) (ids : i32[m]) = embedding table ids
entry halves[h] (x : f32[h*k]) = for (i < k) => x[i]
entry dense (p : weights { w : f32[n, k], b : f32[k] }) (x : f32[n]) = (for j => sum i => x[i] * p.w[i, j]) + p.b
entry scaled (w : weights f32[n]) (x : f32[n]) = w * x
entry step (s : *State[n]) (x : f32[n]) = s with h = s.h + x
entry kept (x : f32[n]) (m : bool[n]) = compress x m
entry both (x : f32[n]) (i : i64) = (x, i)
"""


def safetensors(path, **tensors):
    """f32 tensors of one axis."""
    header, data = {}, b""
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": [len(values)], "data_offsets": [len(data), len(data) + 4 * len(values)]}
        data += struct.pack(f"<{len(values)}f", *values)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


class WithProgram(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.cache = {"XDG_CACHE_HOME": self.path("cache")}
        self.program = self.path("program.axn")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def run_entry(self, file, *arguments, **options):
        return etcc("run", file, *arguments, environment=self.cache, **options)

    def kept(self):
        """Whether code was made: it is kept then."""
        return os.path.isdir(self.path("cache/axon")) and os.listdir(self.path("cache/axon")) != []


class Bundles(WithProgram):
    def setUp(self):
        super().setUp()
        self.bundle = self.path("some name")  # what is in a file says what it is, not how it is called
        self.assertEqual(etcc("build", "--cache", "--level", "native", self.program, "-o", self.bundle), (0, "", ""))

    def test_as_a_program(self):
        npz(self.path("p.npz"), w=npy("f", 1, 2, 3, 4, shape=(2, 2)), b=npy("f", 10, 20))
        for words in (["twice", "x=[1, 2]"], ["twice", "x=[]"], ["lines", "x=[[1, 2], [3, 4]]", "w=[5, 7]", "--workers", "2"],
                      ["halves", "h=2", "x=[1, 2, 3, 4]"], ["dense", f"p=@{self.path('p.npz')}", "x=[1, 1]"],
                      ["dense", f"p=@{self.path('p.npz')}", "x=[1, 1]", "--map", 'p.w <- w\np.b <- b'],
                      ["step", "s={h = [1, 2], rest = (5, {k = 7})}", "x=[1, 1]"]):
            compiled = self.run_entry(self.program, *words)
            self.assertEqual(compiled[0], 0, compiled)
            self.assertEqual(self.run_entry(self.bundle, *words), compiled)
        out = self.path("out.npy")
        self.assertEqual(self.run_entry(self.bundle, "twice", "x=[1, 2]", "-o", out), (0, "", ""))
        with open(out, "rb") as file:
            self.assertEqual(file.read()[-8:], struct.pack("<2f", 2, 4))

    def test_the_same_errors_as_of_a_program(self):
        for words in (["twice", "y=[1]"], ["twice"], ["twice", "x=[[1]]"], ["twice", "x=[1"], ["lines", "x=[[1]]", "w=[1, 2]"],
                      ["twice", "x=@no.npy"], ["nothing", "x=[1]"], ["pick", "table=[[1]]", "ids=[1]"],
                      ["twice", "x=[1]", "--workers", "100000"], ["both", "x=[1]", "i=1", "-o", self.path("a.npy")]):
            for form in ([], ["--error-format=json"], ["--error-format=short"]) if words[0] == "lines" else [[]]:
                refused = self.run_entry(self.program, *words, *form)
                self.assertEqual(refused[:2], (1, ""), refused)
                self.assertEqual(self.run_entry(self.bundle, *words, *form), refused)
        self.assertFalse(self.kept())
        self.assertIn("its entries are `twice`, `lines`", self.run_entry(self.bundle, "nothing")[2])

    def test_options_of_compiling(self):
        for option, words in (("--define", ["-D", "n=2"]), ("--library", ["--library", "."]), ("--entry", ["--entry", "twice"]),
                              ("--schedule", ["--schedule", "events"]), ("--level", ["--level", "native"]), ("--target", ["--target", "cpu"])):
            self.assertEqual(self.run_entry(self.bundle, "twice", "x=[1]", *words),
                             (2, "", f"etcc: {option} is for programs that are compiled, and {self.bundle} is a bundle\n"))
        for words in (["--no-cache"], ["-v"], ["-q"], ["--deny", "warnings"], ["--max-errors", "1"], ["--time-passes"]):
            self.assertEqual(self.run_entry(self.bundle, "twice", "x=[1]", *words), (0, "result : f32[1] =\n[2]\n", ""))

    def test_through_pipes(self):
        for given in ("-", "/dev/stdin"):
            with open(self.bundle, "rb") as file:
                done = subprocess.run([ETCC, "run", given, "twice", "x=[1]"], stdin=file, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "result : f32[1] =\n[2]\n", ""))
        for file in (self.bundle, self.program):
            script = 'cat "$1" | "$0" run - twice x=[1]; "$0" run <(cat "$1") twice x=[2]'
            done = subprocess.run(["bash", "-c", script, ETCC, file], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.stdout, done.stderr), ("result : f32[1] =\n[2]\nresult : f32[1] =\n[4]\n", ""))

    def test_damaged_and_for_other_machines(self):
        with open(self.bundle, "rb") as file:
            good = file.read()
        cut = self.write("cut", good[:-1])
        status, out, err = self.run_entry(cut, "twice", "x=[1]")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("error[E0811]", err)
        self.assertIn("it should have", err)
        bad = self.write("bad", good[:len(good) // 2] + bytes([good[len(good) // 2] ^ 1]) + good[len(good) // 2 + 1:])
        self.assertIn("error[E0811]", self.run_entry(bad, "twice", "x=[1]")[2])
        self.assertIn("error[E0811]", self.run_entry("-", "twice", "x=[1]", stdin="AXONBNDL")[2])
        status, out, err = etcc("run", self.bundle, "twice", "x=[1]", environment={"AXON_LEVEL": "x86-64-v9"})
        self.assertEqual((status, out), (1, ""))
        self.assertIn("error[E0815]", err)

    def test_costs_beside_it_are_read(self):
        self.assertEqual(etcc("build", "--level", "native", "--entry", "twice", self.program, "-o", self.bundle), (0, "", ""))
        self.assertEqual(etcc("calibrate", self.bundle, "twice", "n=5", "--seconds=0")[::2], (0, ""))
        self.assertEqual(self.run_entry(self.bundle, "twice", "x=[1]"), (0, "result : f32[1] =\n[2]\n", ""))


class Levels(unittest.TestCase):
    def test_code_is_made_for_the_level_that_is_loaded(self):
        for forced in ({}, {"AXON_LEVEL": "x86-64-v2"}):
            done = subprocess.run([ETCC, "run", "--no-cache", "-", "f", "x=[1,2]"], input="entry f (x : f32[n]) = x + 1.0\n",
                                  text=True, capture_output=True, env=os.environ | forced)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("[2, 3]", done.stdout)


class BeforeCompiling(WithProgram):
    """What is wrong with the arguments is said before code is made."""

    def refused(self, code, text, *words, **options):
        for place in (self.program, "-"):
            status, out, err = self.run_entry(place, *words, stdin=PROGRAM, **options)
            self.assertEqual((status, out, err.splitlines()[0]), (1, "", f"error[{code}]: {text}"))
        self.assertFalse(self.kept(), words)

    def test_names(self):
        self.refused("E0801", "entry twice has no parameter `y`", "twice", "y=[1]")
        self.refused("E0801", "`x` is given twice", "twice", "x=[1]", "x=[1]")
        self.refused("E0821", "`twice` has inputs that were not set: `x`", "twice")
        self.refused("E0821", "`step` has inputs that were not set: `s.rest.1.k`", "step", "x=[1]", "s.h=[1]", "s.rest.0=1")
        self.refused("E0821", "size `h` of `halves` is not determined: set it, or state it in the metadata of the weights", "halves", "x=[1]")
        self.refused("E0801", "the weights are missing: p=@FILE.safetensors", "dense", "x=[1]")
        self.refused("E0610", "the file has no entry `tiwce`", "tiwce", "x=[1]")

    def test_values(self):
        self.refused("E0822", "x: the list is ragged", "twice", "x=[1, [2]]")
        self.refused("E0822", "x: expected a number", "twice", "x=[a]")
        self.refused("E0822", "ids: 0.5 is no i32", "pick", "table=[[1]]", "ids=[0.5]")
        self.refused("E0822", "size h needs a number", "halves", "h=[2]", "x=[1]")
        self.refused("E0824", "size `h` is -2, but sizes are not negative", "halves", "h=-2", "x=[1]")
        self.refused("E0822", "x: cannot open `no.npy`: No such file or directory", "twice", "x=@no.npy")
        self.refused("E0701", "cannot open `no.map`: No such file or directory", "twice", "x=[1]", "--map", "no.map")
        self.refused("E0801", "100000 workers, at most 1024 are possible", "twice", "x=[1]", "--workers", "100000")

    def test_types_and_shapes(self):
        whole = self.write("whole.npy", npy("q", 1, 2))
        self.refused("E0822", "`x` is f32, the given tensor is i64", "twice", f"x=@{whole}")
        self.refused("E0822", "`x` has 1 axis, the given tensor has 2", "twice", "x=[[1]]")
        self.refused("E0823", "axis 0 of `w` is 3, but `k` is 2 (from axis 1 of `x`)", "lines", "x=[[1, 2]]", "w=[1, 2, 3]")
        self.refused("E0823", "axis 0 of `x` is 3, which is not `h*k` (h = 2 as given)", "halves", "h=2", "x=[1, 2, 3]")
        self.refused("E0823", "axis 0 of `m` is 1, but `n` is 2 (from axis 0 of `x`)", "kept", "x=[1, 2]", "m=[true]")
        status, _, err = self.run_entry(self.program, "pick", "table=[[1]]", "ids=[0, 1]")
        self.assertEqual((status, err[:13]), (1, "error[E0825]:"))
        self.assertFalse(self.kept())

    def test_weights(self):
        npz(self.path("p.npz"), w=npy("f", 1, 2, shape=(1, 2)), b=npy("f", 1, 2, 3))
        status, _, err = self.run_entry(self.program, "dense", f"p=@{self.path('p.npz')}", "x=[1]")
        self.assertEqual((status, err.split(":")[0]), (1, "error[E0709]"))
        npz(self.path("p.npz"), w=npy("f", 1, 2, shape=(1, 2)), b=npy("f", 1, 2))
        self.refused("E0823", "axis 0 of `x` is 2, but `n` is 1 (from axis 0 of `p.w`)", "dense", f"p=@{self.path('p.npz')}", "x=[1, 2]")
        self.refused("E0701", "cannot open `no.npz`: No such file or directory", "dense", "p=@no.npz", "x=[1]")
        self.assertEqual(self.run_entry(self.program, "dense", f"p=@{self.path('p.npz')}", "x=[3]")[:2], (0, "result : f32[2] =\n[4, 8]\n"))

    def test_layouts(self):
        text = ("entry s (x : *f32[n, m] @ S[(n, m) : ((m + 3), 1)]) (y : f32[m]) where 1 <= n = x with [0] = y\n"
                "entry r (x : f32[n] @ S[n : -1]) = x * 2.0\n")
        run = lambda *words: self.run_entry("-", *words, stdin=text)
        self.assertEqual(run("s", "x=zeros[0, 2]", "y=[9, 9]"), (1, "", "error[E0824]: `s` needs 1 <= n; the sides are 1 and 0 (n = 0 from axis 0 of `x`)\n"))
        self.assertEqual(run("s", "x=[[1, 2]]", "y=[9]"), (1, "", "error[E0823]: axis 0 of `y` is 1, but `m` is 2 (from axis 1 of `x`)\n"))
        self.assertFalse(self.kept())
        for _ in range(2):
            self.assertEqual(run("s", "x=[[1, 2], [3, 4]]", "y=[9, 9]"), (0, "result : f32[2, 2] =\n[[9, 9],\n [3, 4]]\n", ""))
            self.assertEqual(run("r", "x=[1, 2]"), (0, "result : f32[2] =\n[2, 4]\n", ""))

    def test_results_that_a_file_cannot_hold(self):
        self.refused("E0701", f"cannot write `{self.path('a.npy')}`: an .npy file holds one array, and there are 2 results; write .npz or .safetensors",
                     "both", "x=[1]", "i=2", "-o", self.path("a.npy"))
        self.assertEqual(self.run_entry(self.program, "both", "x=[1]", "i=2", "-o", self.path("a.bin"))[0], 2)
        self.assertEqual(self.run_entry(self.program, "both", "x")[0], 2)
        self.assertEqual(sorted(set(os.listdir(self.folder)) - {"cache"}), ["program.axn"])

    def test_errors_of_the_program_come_first(self):
        status, _, err = self.run_entry("-", "f", "y=[1]", stdin="entry f (x : f32[n]) = x @\n")
        self.assertEqual(status, 1)
        self.assertIn("error[E0210]", err)
        self.assertNotIn("E0801", err)

    def test_what_the_data_decides_is_left_to_the_run(self):
        self.assertEqual(self.run_entry(self.program, "kept", "x=[1, 2, 3]", "m=[true, false, true]"), (0, "result : f32[2] =\n[1, 3]\n", ""))
        unbounded = "entry f (x : f32[n]) (k : i64[1]) = sum (for (i < max (k[0]) 0) => x[i % 2 * 0])\n"
        self.assertIn(self.run_entry("-", "f", "x=[1, 2]", "k=[3]", stdin=unbounded)[0], (0, 1))


class Parts(WithProgram):
    """@FILE:TENSOR"""

    def setUp(self):
        super().setUp()
        npz(self.path("all.npz"), **{"x": npy("f", 1), "deep.x": npy("f", 2), "old.h": npy("f", 3), "old.rest.0": npy("f", 4, shape=()),
                                     "old.rest.1.k": npy("q", 5, shape=()), "a:b": npy("f", 6)})
        safetensors(self.path("all.safetensors"), **{"x": [1], "model.norm": [7], "w": [8]})

    def twice(self, value):
        return self.run_entry(self.program, "twice", f"x=@{self.path(value)}")

    def test_one_tensor(self):
        for value, number in (("all.npz", 2), ("all.npz:x", 2), ("all.npz:deep.x", 4), ("all.npz:a:b", 12), ("all.safetensors:model.norm", 14)):
            self.assertEqual(self.twice(value), (0, f"result : f32[1] =\n[{number}]\n", ""), value)

    def test_tensors_that_are_not_there(self):
        for value, tensor in (("all.npz:y", "y"), ("all.npz:old", "old"), ("all.safetensors:norm", "norm")):
            self.assertEqual(self.twice(value)[2], f"error[E0822]: x: {self.path(value[:-len(tensor) - 1])} has no tensor `{tensor}`\n")
        self.assertEqual(self.twice("no.npz:x")[2], f"error[E0822]: x: cannot open `{self.path('no.npz')}`: No such file or directory\n")
        self.write("x.npy", npy("f", 1))
        self.assertEqual(self.twice("x.npy:x")[2], f"error[E0822]: x: {self.path('x.npy')} holds one array, which has no name\n")

    def test_a_file_whose_name_has_a_colon(self):
        self.write("x.npy", npy("f", 1))
        self.write("x.npy:1.npy", npy("f", 10))
        npz(self.path("c:d.npz"), t=npy("f", 20))
        for value, number in (("x.npy:1.npy", 20), ("c:d.npz:t", 40)):
            self.assertEqual(self.twice(value), (0, f"result : f32[1] =\n[{number}]\n", ""), value)

    def test_a_structure(self):
        status, out, err = self.run_entry(self.program, "step", f"s=@{self.path('all.npz')}:old", "x=[1]")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("h : f32[1] =\n[4]\n", out)
        status, out, err = self.run_entry(self.program, "step", f"s=@{self.path('all.npz')}:new", "x=[1]")
        self.assertEqual((status, err), (1, f"error[E0822]: s.h: {self.path('all.npz')} has no tensor `new.h`\n"))

    def test_weights(self):
        scaled = lambda *words: self.run_entry(self.program, "scaled", *words, "x=[1]")
        for part, number in ((":model.norm", 7), (":x", 1), ("", 8)):
            self.assertEqual(scaled(f"w=@{self.path('all.safetensors')}{part}"), (0, f"result : f32[1] =\n[{number}]\n", ""), part)
        self.assertEqual(scaled(f"w=@{self.path('all.safetensors')}:no")[0], 1)
        npz(self.path("p.npz"), **{"new.w": npy("f", 1, 2, shape=(1, 2)), "new.b": npy("f", 10, 20), "old.w": npy("f", 3, 4, shape=(1, 2)),
                                   "old.b": npy("f", 30, 40)})
        for part, numbers in (("new", "11, 22"), ("old", "33, 44")):
            self.assertEqual(self.run_entry(self.program, "dense", f"p=@{self.path('p.npz')}:{part}", "x=[1]")[1], f"result : f32[2] =\n[{numbers}]\n")


class Page(unittest.TestCase):
    """docs/run.md: what its commands print, one after the other in one folder."""

    def test_commands(self):
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "run.md")
        with open(page, encoding="utf-8") as file:
            text = file.read()
        program, session = (re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL)[1] for kind in ("axn", "console"))
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "program.axn"), "w", encoding="utf-8") as file:
                file.write(program)
            commands = re.findall(r"^\$ etcc (.*)\n((?:[^$].*\n)*)", session, re.MULTILINE)
            self.assertGreater(len(commands), 4)
            for command, output in commands:
                self.assertEqual(etcc(*shlex.split(command), cwd=folder), (0, output, ""), command)


if __name__ == "__main__":
    unittest.main()
