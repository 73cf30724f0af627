"""etcc on the command line: results on stdout, talk on stderr, exit 0 ok, 1 user error, 2 usage, 3 failed at run time."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ETCC = ""

PROGRAM = """\
--| Scaled rows.
fun scaled x s = x * s

entry main (x : f32[n, k]) (w : f32[k, m]) = scaled (softmax (x @ w)) 2.0
entry pick (table : f32[v, d]) (ids : i32[m]) = embedding table ids
entry halves (x : f32[2*n]) = for (i < n) => x[i] + x[n + i]
entry shown (x : f32[n, m]) = let y = debug "doubled" (x * 2.0) in sum y
"""

BROKEN = """\
fun f x = x @

fun g (x : f32[n, d]) (w : f32[h, d]) = x @ w

fun k x = no_such_name x
"""


def etcc(*arguments, stdin=None):
    done = subprocess.run([ETCC, *arguments], input=stdin, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.program = os.path.join(self.folder.name, "program.axn")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)

    def tearDown(self):
        self.folder.cleanup()

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
        for stage in ("tokens", "ast", "core", "graph", "fused", "tasks", "plan", "llvm", "asm"):
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

    def test_run(self):
        status, out, _ = etcc("run", self.program, "pick", "table=[[1, 2], [3, 4], [5, 6]]", "ids=[2, 0]")
        self.assertEqual((status, out), (0, "result : f32[2, 2] =\n[[5, 6],\n [1, 2]]\n"))
        status, out, _ = etcc("run", self.program, "main", "x=zeros[0, 3]", "w=zeros[3, 2]")
        self.assertEqual((status, out), (0, "result : f32[0, 2] =\n[]\n"))

    def test_a_define_takes_one_value(self):
        status, out, _ = etcc("run", self.program, "pick", "-D", "v=1", "table=[[1, 2]]", "ids=[0]")
        self.assertEqual((status, out), (0, "result : f32[1, 2] =\n[[1, 2]]\n"))

    def test_debug_prints_the_intermediate(self):
        status, out, err = etcc("run", self.program, "shown", "x=[[1, 2], [3, 4]]")
        self.assertEqual((status, out), (0, "result : f32[2] =\n[6, 14]\n"))
        self.assertEqual(err, "doubled = f32[2, 2] [[2, 4], [6, 8]]\n")

    def test_shapes_that_do_not_fit(self):
        status, out, err = etcc("run", self.program, "main", "x=[[1, 2]]", "w=[[1], [2], [3]]")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("3", err)
        self.assertIn("`k` is 2", err)
        status, _, err = etcc("run", self.program, "halves", "x=[1, 2, 3]")
        self.assertEqual(status, 1)
        self.assertIn("is 3", err)

    def test_index_out_of_range(self):
        status, out, err = etcc("run", self.program, "pick", "table=[[1, 2]]", "ids=[1]")
        self.assertIn(status, (1, 3))
        self.assertEqual(out, "")
        self.assertIn("1", err)

    def test_usage(self):
        self.assertEqual(etcc()[0], 2)
        self.assertEqual(etcc("build", "--emit=nothing", self.program)[0], 2)
        self.assertEqual(etcc("check", "-D", "n", self.program)[0], 2)
        self.assertEqual(etcc("run", self.program, "main", "x")[0], 2)

    def test_a_missing_file(self):
        status, out, err = etcc("check", os.path.join(self.folder.name, "missing.axn"))
        self.assertEqual((status, out), (1, ""))
        self.assertIn("E0005", err)

    def test_an_unwritable_output_leaves_nothing(self):
        target = os.path.join(self.folder.name, "no", "such", "folder", "out.axb")
        status, _, err = etcc("build", "-o", target, self.program)
        self.assertEqual(status, 1)
        self.assertIn("cannot write", err)
        self.assertEqual(os.listdir(self.folder.name), ["program.axn"])

    def test_verify_proves_every_entry(self):
        status, out, _ = etcc("verify", "-q", self.program)
        self.assertEqual(status, 0)
        self.assertEqual(out.count("obligations proved, for all sizes"), 4)


if __name__ == "__main__":
    ETCC = sys.argv.pop(1)
    unittest.main()
