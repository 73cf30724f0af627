"""etcc on the command line: results on stdout, talk on stderr, exit 0 ok, 1 user error, 2 usage, 3 failed at run time."""

import json
import os
import tempfile
import unittest

from program import BROKEN, PROGRAM, WithProgram
from support import etcc


class CommandLine(WithProgram):
    def test_types_on_stdout(self):
        status, out, err = etcc("check", "--types", self.program)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("f32[n, k] -> f32[k, m] -> f32[n, m]", out)

    def test_all_errors_of_a_file(self):
        status, out, err = etcc("check", "-", stdin=BROKEN)
        self.assertEqual((status, out), (1, ""))
        for code in ("E0210", "E0312", "E0401"):
            self.assertEqual(err.count(f"error[{code}]"), 1, err)

    def test_errors_as_json(self):
        status, out, _ = etcc("check", "--error-format=json", "-", stdin=BROKEN)
        self.assertEqual(status, 1)
        self.assertEqual([d["code"] for d in json.loads(out)], ["E0210", "E0312", "E0401"])

    def test_every_stage_prints(self):
        for stage in ("tokens", "ast", "core", "graph", "fused", "inplace", "tasks", "plan", "proof", "llvm", "asm"):
            status, out, err = etcc("build", "--entry", "main", f"--emit={stage}", self.program)
            self.assertEqual((status, err), (0, ""), stage)
            self.assertGreater(len(out), 100, stage)

    def test_same_bytes_in_another_folder(self):
        bundles = []
        for name in ("a", "b"):
            folder = os.path.join(self.folder.name, name)
            os.mkdir(folder)
            source = os.path.join(folder, "program.axn")
            with open(source, "w", encoding="utf-8") as file:
                file.write(PROGRAM)
            self.assertEqual(etcc("build", source)[0], 0)
            with open(os.path.join(folder, "program.axb"), "rb") as file:
                bundles.append(file.read())
        self.assertEqual(*bundles)

    def test_a_define_takes_one_value(self):
        status, out, _ = etcc("run", self.program, "pick", "-D", "v=1", "table=[[1, 2]]", "ids=[0]")
        self.assertEqual((status, out), (0, "result : f32[1, 2] =\n[[1, 2]]\n"))

    def test_levels(self):
        command, least = ["run", "-", "f", "x=3"], "x86-64-v2"
        double, wanted = "entry f (x : i64) = 2 * x\n", {"AXON_LEVEL": least}
        for level in "all", least:
            self.assertEqual(etcc(*command, "--level", level, stdin=double, environment=wanted)[0], 0, level)

    def test_defines_that_no_entry_has(self):
        status, out, err = etcc("check", self.program, "-D", "n=5", "-D", "zz=5")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("error[E0405]: -D zz: no entry has a size of this name", err)
        self.assertIn("`k`, `m`, `n`, `v`", err)
        self.assertNotIn("-D n:", err)
        self.assertIn("-D zz: no entry has an element type of this name", etcc("check", self.program, "-D", "zz=bf16")[2])

    def test_defines_of_another_kind_or_given_twice(self):
        check = lambda *defines: etcc("check", "-", *(word for one in defines for word in ("-D", one)), stdin=text)
        text = "entry f['t, n] (x : 't[n]) (k : i64) (y : f32[k]) = (x, y)\nentry g[s] (x : f32[s*r]) = sum x\n"
        for define, kind, other in (("t=4", "a size", "an element type"), ("n=bf16", "an element type", "a size"),
                                    ("s=i8", "an element type", "a size"),
                                    ("'t=4", "a size", "an element type")):
            name = define.strip("'").split("=")[0]
            self.assertEqual(check("t=f16" if name != "t" else "n=1", define),
                             (1, "", f"error[E0405]: -D {name}: no entry has {kind} of this name\n   It is {other} of an entry.\n"))
        self.assertEqual(check("'t=f16", "n=4", "s=3", "r=0"), (0, "", ""))
        for defines in (["n=2", "n=3"], ["n=2", "n=2"], ["t=f16", "'t=f32"], ["t=f16", "t=3"], ["n=3", "n=f16"]):
            name = defines[1].strip("'").split("=")[0]
            self.assertEqual(check(*defines), (2, "", f"etcc: -D {defines[1]}: `{name}` is given twice\n"))
        text = "entry f['t] (x : 't[n]) = x\nentry g (x : f32[t]) = x\n"
        self.assertEqual((check("t=bf16"), check("t=4")), ((0, "", ""), (0, "", "")))

    def test_calibrate(self):
        bundle = os.path.join(self.folder.name, "main.axb")
        self.assertEqual(etcc("build", self.program, "-o", bundle)[0], 0)
        status, out, err = etcc("calibrate", bundle, "main", "pick", "n=70", "k=33", "m=50", "v=9", "d=20", "--seconds=0", "--check")
        self.assertEqual((status, err), (0, ""))
        rows = [line.split() for line in out.splitlines()[1:]]
        self.assertEqual([row[0] for row in rows], sorted(row[0] for row in rows))
        self.assertEqual({row[0] for row in rows}, {"main", "pick"})
        for row in rows:
            self.assertGreater(float(row[3]), 0)
            self.assertGreater(float(row[4]), 0)
        with open(bundle + ".costs", encoding="utf-8") as file:
            costs = json.load(file)
        self.assertEqual({name.rsplit("_kernel", 1)[0] for name in costs["kernels"]}, {"main_0", "pick_0"})
        for kernel in costs["kernels"].values():
            self.assertGreaterEqual(min(kernel["one"], kernel["all"]), 0)
        # Loops, with conditions too, and debugged values; then costs that are damaged or of an older build.
        self.assertEqual(etcc("calibrate", bundle, "after", "shown", "halves", "n=5", "m=3", "--seconds=0")[0], 0)
        for text in ("", "{", json.dumps({**costs, "bundle": "0"})):
            with open(bundle + ".costs", "w", encoding="utf-8") as file:
                file.write(text)
            self.assertEqual(etcc("calibrate", bundle, "pick", "v=9", "d=2", "m=3", "--seconds=0")[0], 0)

    def test_calibrate_errors(self):
        bundle = os.path.join(self.folder.name, "main.axb")
        self.assertEqual(etcc("build", self.program, "-o", bundle)[0], 0)
        for words, status, said in ((["main", "n=3"], 1, "sizes that are not given: `k`, `m`"),
                                    (["nothing", "n=3"], 1, "has no entry `nothing`"),
                                    (["pick", "v=1", "d=2", "m=3", "z=3"], 1, "has a size `z`"),
                                    (["main", "n=-3"], 2, "a size is written as n=12"),
                                    (["main", "n=x"], 2, "a size is written as n=12"),
                                    (["main", "n=1", "n=2"], 2, "given twice"),
                                    (["halves", "n=9223372036854775807"], 1, "error[E0")):
            with self.subTest(words=words):
                got, out, err = etcc("calibrate", bundle, *words)
                self.assertEqual((got, out), (status, ""))
                self.assertIn(said, err)
                self.assertFalse(os.path.exists(bundle + ".costs"))
        self.assertEqual(etcc("calibrate", os.path.join(self.folder.name, "none.axb"))[0], 1)

    def test_errors_for_programs_stand_alone(self):
        plain = [("run", self.program, "halves", "x=[1, 2]"), ("check", "--types", self.program), ("verify", self.program, "--entry", "halves"),
                 ("build", "--emit=graph", "--entry", "halves", self.program), ("fmt", "--check", self.program)]
        for command in plain:
            shown = etcc(*command)
            self.assertNotEqual(shown[1], "", command)
            for form in ("json", "sarif"):
                status, out, err = etcc(*command, f"--error-format={form}")
                self.assertEqual((status, out), shown[:2], command)
                if err or command[0] != "fmt":
                    found = json.loads(err)
                    self.assertEqual(found if form == "json" else found["runs"][0]["results"], [], command)
        for command in (("test", "-"), ("fmt", "-"), ("verify", "-"), ("run", "-", "f"), ("check", "--types", "-"), ("build", "--emit=core", "-")):
            status, out, err = etcc(*command, "--error-format=json", stdin="fun f x = x @\n")
            self.assertEqual((status, [error["code"] for error in json.loads(err)]), (1, ["E0210"]), command)
            self.assertNotIn("[", out)
        for command in (("check", self.program), ("build", self.program, "-o", os.path.join(self.folder.name, "a.axb"))):
            self.assertEqual(etcc(*command, "--error-format=json"), (0, "[]\n\n", ""))

    def test_usage(self):
        self.assertEqual(etcc()[0], 2)
        self.assertEqual(etcc("build", "--emit=nothing", self.program)[0], 2)
        self.assertEqual(etcc("check", "-D", "n", self.program)[0], 2)
        self.assertEqual(etcc("run", self.program, "main", "x")[0], 2)

    def test_an_entry_that_is_not_there(self):
        status, out, err = etcc("run", self.program, "pikc", "x=1")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("error[E0610]: the file has no entry `pikc`", err)
        self.assertIn("its entries are `main`, `pick`, `halves`, `shown`, `after`", err)

    def test_a_missing_file(self):
        status, out, err = etcc("check", os.path.join(self.folder.name, "missing.axn"))
        self.assertEqual((status, out), (1, ""))
        self.assertIn("E0005", err)

    def test_an_unwritable_output_leaves_nothing(self):
        target = os.path.join(self.folder.name, "no", "such", "folder", "out.axb")
        status, _, err = etcc("build", "-o", target, self.program)
        self.assertEqual(status, 1)
        self.assertIn("error[E0701]: cannot create", err)
        self.assertEqual(os.listdir(self.folder.name), ["program.axn"])

    def test_verify_proves_every_entry(self):
        status, out, _ = etcc("verify", "-q", self.program)
        self.assertEqual(status, 0)
        self.assertGreaterEqual(out.count("obligations proved, for all sizes"), 4)  # an entry may have variants
        self.assertNotIn("FAILED", out)

    def test_tiles(self):
        path = os.path.join(os.path.dirname(__file__), "..", "tile", "programs", "pointwise.tiles")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(etcc("tiles", "print", path), (0, text, ""))
        self.assertEqual(etcc("tiles", "print", "-", stdin=text), (0, text, ""))
        status, out, err = etcc("tiles", "verify", path)
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"(\d+) of \1 obligations proved, for all sizes\n$")
        status, out, err = etcc("tiles", "run", path, "n=3")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"^y f32\[3\] = \S+ \S+ \S+\n$")

    def test_tiles_emit(self):
        path = os.path.join(os.path.dirname(__file__), "..", "tile", "programs", "pointwise.tiles")
        status, out, err = etcc("tiles", "emit", path)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("define void @pointwise(", out)
        self.assertIn("<8 x float>", out)
        status, out, _ = etcc("tiles", "emit", path, "--asm", "--level", "x86-64-v4")
        self.assertEqual(status, 0)
        self.assertIn("vmulps", out)
        status, out, _ = etcc("tiles", "emit", path, "--asm", "--level", "x86-64-v2")
        self.assertEqual((status, "%ymm" in out, "mulps" in out), (0, False, True))
        self.assertEqual(etcc("tiles", "emit", path, "--level", "x86-64-v9")[0], 1)
        ring = path.replace("pointwise", "gemm_rings")
        self.assertEqual(etcc("tiles", "emit", ring), (1, "", "etcc tiles: a is a ring\n"))

    def test_gpu(self):
        path = os.path.join(os.path.dirname(__file__), "..", "gpu", "entries.axn")
        status, out, err = etcc("build", "--emit=ptx", "--entry", "product", path)
        self.assertEqual((status, err), (0, ""))
        self.assertIn(".target sm_90a", out)
        self.assertIn(".visible .entry product_0(", out)
        status, out, _ = etcc("build", "--emit=ptx", "--target=sm_80", "--entry", "product", path)
        self.assertEqual(status, 0)
        self.assertIn(".target sm_80", out)
        with tempfile.TemporaryDirectory() as folder:
            bundle = os.path.join(folder, "out.axb")
            status, _, err = etcc("build", "--target=sm_80", path, "-o", bundle)
            self.assertEqual((status, os.path.exists(bundle)), (1, False))
            self.assertIn("--emit=ptx", err)
        self.assertEqual(etcc("build", "--target=sm_20", path)[0], 2)
        status, out, err = etcc("build", "--emit=ptx", "-", stdin="entry t (x : f32[m, n]) = for j i => x[i, j]")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("no code for GPUs yet", err)

    def test_tiles_errors(self):
        path = os.path.join(os.path.dirname(__file__), "..", "tile", "programs", "pointwise.tiles")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for words, stdin, status, said in (
                (["verify", "-"], text.replace("if 64*i + r < n", "", 1), 1, ""),
                (["run", "-", "n=3"], text.replace("if 64*i + r < n", "", 1), 1, "reaches index 3"),
                (["print", "-"], text.replace("copy", "move", 1), 1, "line 13: no operation is called `move`"),
                (["run", path], "", 1, "no value is given for n"),
                (["run", path, "n"], "", 2, "`n` is no size"),
                (["run", path, "n=x"], "", 2, "a size is written as n=12"),
                (["print", "nothing.tiles"], "", 1, "error[E0005]"),
                (["draw", path], "", 2, "what")):
            with self.subTest(words=words):
                got, _, err = etcc("tiles", *words, stdin=stdin)
                self.assertEqual(got, status)
                self.assertIn(said, err)

    def test_memory_of_temporaries_is_told(self):
        source = """entry chain (x : f32[4, 64]) (w : f32[64, 64]) = softmax (softmax (x @ w) @ w) @ w"""
        told = r"temporaries take (\d+) bytes, 1\.\d\d times the (\d+) that are live at once"
        status, out, _ = etcc("verify", "-q", "-", stdin=source)
        self.assertEqual(status, 0)
        self.assertRegex(out, told)
        target = os.path.join(self.folder.name, "out.axb")
        status, _, err = etcc("build", "-v", "--level", "x86-64-v2", "-o", target, "-", stdin=source)
        self.assertEqual(status, 0)
        self.assertRegex(err, told)


if __name__ == "__main__":
    unittest.main()
