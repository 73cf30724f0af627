"""etcc on the command line: results on stdout, talk on stderr, exit 0 ok, 1 user error, 2 usage, 3 failed at run time."""

import json
import os
import re
import resource
import struct
import subprocess
import tempfile
import unittest

from support import ETCC, etcc, npy, npz

PROGRAM = """\
--| Scaled rows.
fun scaled x s = x * s

entry main (x : f32[n, k]) (w : f32[k, m]) = scaled (softmax (x @ w)) 2.0
entry pick (table : f32[v, d]) (ids : i32[m]) = embedding table ids
entry halves (x : f32[2*n]) = for (i < n) => x[i] + x[n + i]
entry shown (x : f32[n, m]) = let y = debug "doubled" (x * 2.0) in sum y
entry after (x : f32[n]) =
  let y = debug "thrice" (iterate 3 (fn s => s * 2.0) x)
  let z = debug "small" (while (fn s => sum s > 1.0) (fn s => s * 0.5) y)
  in sum z
"""

BROKEN = """\
fun f x = x @

fun g (x : f32[n, d]) (w : f32[h, d]) = x @ w

fun k x = no_such_name x
"""


class WithProgram(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.program = os.path.join(self.folder.name, "program.axn")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)

    def tearDown(self):
        self.folder.cleanup()


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

    def test_run(self):
        status, out, _ = etcc("run", self.program, "pick", "table=[[1, 2], [3, 4], [5, 6]]", "ids=[2, 0]")
        self.assertEqual((status, out), (0, "result : f32[2, 2] =\n[[5, 6],\n [1, 2]]\n"))
        status, out, _ = etcc("run", self.program, "main", "x=zeros[0, 3]", "w=zeros[3, 2]")
        self.assertEqual((status, out), (0, "result : f32[0, 2] =\n[]\n"))

    def test_a_define_takes_one_value(self):
        status, out, _ = etcc("run", self.program, "pick", "-D", "v=1", "table=[[1, 2]]", "ids=[0]")
        self.assertEqual((status, out), (0, "result : f32[1, 2] =\n[[1, 2]]\n"))

    def test_loops_that_are_too_long_do_not_start(self):
        source = "entry turns (k : i64) = iterate k (fn v => v * 3 + 1) (i64 0)\n"
        self.assertEqual(etcc("run", "-", "turns", "k=1048577", stdin=source)[:2], (0, "result : i64 =\n4443269174556360705\n"))
        for k in (536870913, 2**62):
            status, out, err = etcc("run", "-", "turns", f"k={k}", stdin=source)
            self.assertEqual((status, out), (1, ""))
            self.assertIn(f"error[E0824]: the loops of `turns` would have {k} iterations, and one call has at most 536870912", err)

        source = "entry turns = iterate (i64 600000000) (fn v => v * 3 + 1) (i64 0)\n"
        self.assertTrue(etcc("run", "-", "turns", stdin=source)[2].endswith("has at most 536870912\n"))

    def test_debug_prints_the_intermediate(self):
        status, out, err = etcc("run", self.program, "shown", "x=[[1, 2], [3, 4]]")
        self.assertEqual((status, out), (0, "result : f32[2] =\n[6, 14]\n"))
        self.assertEqual(err, "doubled = f32[2, 2] [[2, 4], [6, 8]]\n")

    def test_debug_after_a_loop_shows_its_last_step(self):
        status, out, err = etcc("run", self.program, "after", "x=[1, 0.5]")
        self.assertEqual((status, out), (0, "result : f32 =\n0.75\n"))
        self.assertEqual(err, "thrice = f32[2] [8, 4]\nsmall = f32[2] [0.5, 0.25]\n")

    def test_debug_prints_what_nothing_computes(self):
        source = ("entry f (x : f32[n]) = debug \"x\" x * 2.0\n"
                  "entry g (x : f32[n]) = let u = debug \"u\" x in sum x\n"
                  "fun shown x = debug \"shown\" x\n"
                  "entry h (r : {a : f32[n], b : i8[m]}) = (shown r.a, shown r.b)\n"
                  "entry s (h : *f32[n]) (x : f32) = let t = debug \"h\" h in t with [0] = x\n"
                  "entry w (x : f32[n, k]) (m : weights f32[k, o]) = x @ debug \"m\" m\n"
                  "val c = [1.0, 2.0]\n"
                  "entry v (x : f32[2]) = debug \"c\" c + x\n")
        weights = os.path.join(self.folder.name, "m.npy")
        with open(weights, "wb") as file:
            file.write(npy("f", *range(64 * 32), shape=(64, 32)))
        row = "[[" + ", ".join(["1"] * 64) + "]]"
        first = ", ".join(map(str, range(8)))
        for entry, arguments, shown in (("f", ["x=[1, 2]"], "x = f32[2] [1, 2]\n"),
                                        ("g", ["x=[1, 2]"], "u = f32[2] [1, 2]\n"),
                                        ("h", ["r={a=[1.5], b=[2]}"], "shown = f32[1] [1.5]\nshown = i8[1] [2]\n"),
                                        ("s", ["h=[1, 2]", "x=9"], "h = f32[2] [1, 2]\n"),
                                        ("w", ["x=" + row, "m=@" + weights], f"m = f32[64, 32] [[{first}, ...]"),
                                        ("v", ["x=[0, 0]"], "c = f32[2] [1, 2]\n")):
            status, _, err = etcc("run", "-", entry, *arguments, stdin=source)
            self.assertEqual((status, err[:len(shown)]), (0, shown), entry)

    def test_debug_in_a_branch_that_is_not_taken_is_silent(self):
        source = ("entry f (x : f32[n]) = if sum x > 0.0 then debug \"pos\" (x + 1.0) else debug \"neg\" x\n"
                  "entry g (x : f32[n]) =\n"
                  "  fold (fn s y => if y > 0.0 then debug \"up\" (s + y) else debug \"down\" (s - y)) 0.0 x\n"
                  "entry s (h : *f32[n]) (x : f32) =\n"
                  "  if x > 0.0 then h else let t = debug \"h\" h in t with [0] = x\n")
        for entry, arguments, shown in (("f", ["x=[1, 2]"], "pos = f32[2] [2, 3]\n"),
                                        ("f", ["x=[-1, -2]"], "neg = f32[2] [-1, -2]\n"),
                                        ("g", ["x=[1, -2, 3]"], "up = f32[2] [1, 6]\ndown = f32[1] [3]\n"),
                                        ("g", ["x=[1, 2]"], "up = f32[2] [1, 3]\n"),
                                        ("s", ["h=[1, 2]", "x=1"], ""),
                                        ("s", ["h=[1, 2]", "x=-1"], "h = f32[2] [1, 2]\n")):
            status, _, err = etcc("run", "-", entry, *arguments, stdin=source)
            self.assertEqual((status, err), (0, shown), (entry, arguments))

    def test_debug_in_a_test(self):
        source = ("test \"sum\" = (let x = debug \"x\" [1.0, 2.0]\n"
                  "  in if sum x > 5.0 then debug \"no\" (sum x) else sum (debug \"twice\" (x * 2.0))) == 6.0\n")
        for native in [], ["--native"]:
            status, _, err = etcc("test", *native, "-", stdin=source)
            self.assertEqual((status, err), (0, "x = f32[2] [1, 2]\ntwice = f32[2] [2, 4]\n"), native)

    def test_sizes_that_the_data_decides(self):
        kept = "entry f (x : f32[n, d]) (m : bool[n]) = (compress x m, sum (transpose (compress x m)))\n"
        run = lambda mask: etcc("run", "-", "f", "x=[[1, 2], [3, 4], [5, 6]]", f"m={mask}", stdin=kept)[:2]
        self.assertEqual(run("[false, true, true]"),
                         (0, "0 : f32[2, 2] =\n[[3, 4],\n [5, 6]]\n1 : f32[2] =\n[8, 10]\n"))
        self.assertEqual(run("[false, false, false]"), (0, "0 : f32[0, 2] =\n[]\n1 : f32[2] =\n[0, 0]\n"))
        taken = "entry f (x : f32[n]) (k : i64[1]) = for (i < min (k[0]) n) => x[i]\n"
        status, out, err = etcc("run", "-", "f", "x=[1, 2]", "k=[-1]", stdin=taken)
        self.assertEqual((status, out), (3, ""))
        self.assertIn("is -1, which is not in 0 .. 2", err)

    def test_levels(self):
        command, least = ["run", "-", "f", "x=3"], "x86-64-v2"
        double, wanted = "entry f (x : i64) = 2 * x\n", {"AXON_LEVEL": least}
        for level in "all", least:
            self.assertEqual(etcc(*command, "--level", level, stdin=double, environment=wanted)[0], 0, level)

    def test_axes_without_elements(self):
        def error(body, *arguments):
            return etcc("run", "-", "f", *arguments, stdin="entry f (x : f32[n]) (k : i64[m]) = " + body + "\n")[2]

        self.assertIn(": the axis has no elements", error("x[k[0]]", "x=[]", "k=[0]"))
        self.assertIn("but the axis that it indexes has no elements", error("x[k]", "x=[]", "k=[0]"))
        guarded = "if k[0] == 0 then x[k[0]] else 0.0"
        self.assertIn(": the axis has no such element", error(guarded, "x=[]", "k=[0]"))
        prefixes = "for i => x[:i + 1][k[i]]"
        self.assertIn(": the axis has no such element", error(prefixes, "x=[5, 6, 7]", "k=[0, 2, 0]"))
        self.assertIn(": 4 is not in 0 .. 2", error(prefixes, "x=[5, 6, 7]", "k=[0, 1, 4]"))

    def test_a_loop_by_data_inside_of_another(self):
        text = ("entry f (x : f32[n, d]) = fold (fn s r => while (fn t => sum t > 1.0) (fn t => t * 0.5) (s + r)) "
                "(for (i < d) => 0.0) x\n")
        self.assertEqual(etcc("run", "-", "f", "x=[[1, 2], [4, 8]]", stdin=text),
                         (0, "result : f32[2] =\n[0.265625, 0.53125]\n", ""))

    def test_a_loop_that_does_not_end(self):
        endless = "entry f (x : f32) = while (fn s => true) (fn s => s * 0.5) x\n"
        status, out, err = etcc("run", "-", "f", "x=1", stdin=endless)
        self.assertEqual((status, out), (3, ""))
        self.assertIn("goes on for more than 1048576 steps", err)

    def test_a_loop_that_changes_nothing_and_does_not_end(self):
        """Also where nobody reads what it changes."""
        for endless in ("entry f (x : f32) = while (fn s => true) (fn s => s) x\n",
                        "entry f (x : f32) = let (s, _) = while (fn (s, _) => s < 3.0) (fn (s, t) => (s, t + 1.0)) (x, x) in s\n"):
            status, out, err = etcc("run", "-", "f", "x=1", stdin=endless)
            self.assertEqual((status, out), (3, ""), endless)
            self.assertIn("goes on for more than 1048576 steps", err)

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

    def test_run_errors_in_every_form(self):
        wrong = ("run", "--error-format=json", self.program, "halves", "x=[1, 2, 3]")
        status, out, err = etcc(*wrong)
        (error,) = json.loads(err)
        self.assertEqual((status, out, error["code"], error["primary"]["span"]), (1, "", "E0823", None))
        self.assertIn("is 3", error["message"])
        for argument, code in (("y=[1, 2]", "E0801"), ("x=[1, [2]]", "E0822"), ("x=[[1, 2]]", "E0822")):
            err = etcc("run", "--error-format=sarif", self.program, "halves", argument)[2]
            (result,) = json.loads(err)["runs"][0]["results"]
            self.assertEqual((result["ruleId"], result["locations"]), (code, []))
        err = etcc("run", "--error-format=short", self.program, "halves", "x=[1, 2, 3]")[2]
        self.assertIn("error[E0823]", err)
        self.assertEqual(err.count("\n"), 1)

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

    def test_integers_keep_every_bit(self):
        ends = {"i64": (-2**63, 2**63 - 1), "i32": (-2**31, 2**31 - 1), "i16": (-2**15, 2**15 - 1), "i8": (-128, 127), "u8": (0, 255), "u32": (0, 2**32 - 1)}
        for elem, (least, most) in ends.items():
            text = f"entry f (x : {elem}[k]) (y : {elem}[m, n]) = (x, y)\n"
            run = lambda x, y: etcc("run", "-", "f", f"x=[{x}]", f"y={y}", stdin=text)
            inner = 2**53 + 1 if elem == "i64" else most - 1
            self.assertEqual(run(least, f"[[{most}, 1], [2, {inner}]]"),
                             (0, f"0 : {elem}[1] =\n[{least}]\n1 : {elem}[2, 2] =\n[[{most}, 1],\n [2, {inner}]]\n", ""))
            for wrong in (least - 1, most + 1) + ((2**64, 10**40, "0.5", "1.0", "1e2", "true", "nan") if elem == "i16" else ()):
                self.assertEqual(run(1, f"[[1], [{wrong}]]"), (1, "", f"error[E0822]: y: {wrong} is no {elem}\n"))
        self.assertEqual(etcc("run", "-", "f", "x=[true, false, 1, 0]", stdin="entry f (x : bool[n]) = x\n")[1],
                         "result : bool[4] =\n[true, false, true, false]\n")
        self.assertEqual(etcc("run", "-", "f", "x=2", stdin="entry f (x : bool) = x\n")[0], 1)
        sized = "entry f[k] (x : f32[n, k*h]) = sum x\n"
        for wrong in ("9223372036854775808", "1.5", "[1]"):
            self.assertEqual(etcc("run", "-", "f", f"k={wrong}", "x=[[1, 2]]", stdin=sized)[0], 1, wrong)

    def test_floats_round_once(self):
        kept = {
            "f64": "0.1 9007199254740993:9007199254740992 1e308:1e+308 5e-324 1e-400:0 inf",
            # The third is a tie for who goes through f64.
            "f32": "-1e-60:-0 1e-45 1.00000005960464477540:1.0000001 16777217:16777216 3.4028235e38:3.4028235e+38 inf",
            "f16": "65519:65504 1e-8:0 -inf", "bf16": "3.3e38:3.2964854e+38 nan", "f8e4m3": "1.3:1.25 -448 nan -0.0:-0",
            "f8e5m2": "57344 1e-5:1.5258789e-05 inf -0.3:-0.3125"}
        refused = {"f64": "1e309", "f32": "1e39 -3.5e38 true", "f16": "65520", "bf16": "3.4e38", "f8e4m3": "480 inf", "f8e5m2": "62000"}
        for elem, texts in kept.items():
            program = f"entry f (x : {elem}[n]) = x\n"
            pairs = [(text + ":" + text).split(":")[:2] for text in texts.split()]
            self.assertEqual(etcc("run", "-", "f", f"x=[{', '.join(given for given, _ in pairs)}]", stdin=program),
                             (0, f"result : {elem}[{len(pairs)}] =\n[{', '.join(shown for _, shown in pairs)}]\n", ""))
            for wrong in refused[elem].split():
                self.assertEqual(etcc("run", "-", "f", f"x=[1, {wrong}]", stdin=program), (1, "", f"error[E0822]: x: {wrong} is no {elem}\n"))

    def test_nan_has_no_sign(self):
        for elem in ("f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2"):
            program = f"entry f (x : f32[n]) = {elem} (-x)\n"
            self.assertEqual(etcc("run", "-", "f", "x=[nan, 1]", stdin=program), (0, f"result : {elem}[2] =\n[nan, -1]\n", ""))
        shown = 'entry f (x : f32[n]) = debug "y" (-x)\n'
        status, _, err = etcc("run", "-", "f", "x=[nan, 1]", stdin=shown)
        self.assertEqual((status, err), (0, "y = f32[2] [nan, -1]\n"))

    def test_zeros_over_the_limits(self):
        text = "entry f (x : f32[m, n]) = sum x\n"
        for shape, error in (("[281474976710657, 1]", "has too many elements"), ("[281474976710656, 281474976710656]", "has too many elements"),
                             ("[4294967296, 16777216]", "there is no memory for 288230376151711744 bytes"), ("[-1, 2]", "-1 is no size"),
                             ("[2.5, 2]", "2.5 is no size"), ("[9223372036854775808, 2]", "9223372036854775808 is no size")):
            status, out, err = etcc("run", "-", "f", f"x=zeros{shape}", stdin=text)
            self.assertEqual((status, out), (1, ""))
            self.assertIn(error, err)

    def test_usage(self):
        self.assertEqual(etcc()[0], 2)
        self.assertEqual(etcc("build", "--emit=nothing", self.program)[0], 2)
        self.assertEqual(etcc("check", "-D", "n", self.program)[0], 2)
        self.assertEqual(etcc("run", self.program, "main", "x")[0], 2)

    def test_arguments_that_do_not_fit_the_entry(self):
        weights = "entry f (x : f32[n]) (p : weights { a : f32[n] }) = x + p.a"
        for arguments, text in [
            (["x=[1]", "q=[1]"], "entry f has no parameter `q`"),
            (["x=[1]", "x=[2]"], "`x` is given twice"),
            (["x=[1]"], "the weights are missing: p=@FILE.safetensors"),
            (["x=[1]", "p.a=[1]"], "`p` holds weights, which are given as a file: p=@FILE.safetensors"),
            (["x=[1]", "p=[1]"], "`p` holds weights, which are given as a file: p=@FILE.safetensors"),
        ]:
            status, out, err = etcc("run", "-", "f", *arguments, stdin=weights)
            self.assertEqual((status, out, err.splitlines()[0]), (1, "", f"error[E0801]: {text}"))

    def test_structures_are_given_per_call(self):
        program = os.path.join(self.folder.name, "structures.axn")
        with open(program, "w") as file:
            file.write("type State[n] = { h : f32[n], rest : (f32, { k : i64 }) }\n"
                       "entry step (p : weights { w : f32[n] }) (q : weights f32[n]) (s : *State[n]) (t : (f32, State[n]))"
                       " (u : Stack[l, { a : f32[n] }]) =\n"
                       "  let (t0, t1) = t let (a, b) = t1.rest in\n"
                       "  (s with h = s.h * p.w + t1.h + q, t0 + a, sum (transpose u.a), b.k)\n"
                       "entry plain (r : { w : f32[n], v : f32[n] }) = r.w * r.v\n")
        p, q, state = (os.path.join(self.folder.name, name) for name in ("p.npz", "q.npy", "state.npz"))
        npz(p, w=npy("f", 2, 3))
        with open(q, "wb") as file:
            file.write(npy("f", 100, 200))
        npz(state, **{"h": npy("f", 1, 2), "rest.0": npy("f", 5, shape=()), "rest.1.k": npy("q", 7, shape=())})
        t, u = "t=(1.5, {h = [10, 20], rest = (0.5, {k = 9})})", "u={a=[[1,2],[3,4],[5,6]]}"
        for arguments in (
                [f"s=@{state}", t, u], ["s={h = [1,2], rest = (5, {k = 7})}", t, u],
                ["s.h=[1,2]", "s.rest=(5, {k = 7})", "t.0=1.5", f"t.1=@{state}", u],
                ["s.h=[1,2]", "s.rest.0=5", "s.rest.1.k=7", t, "u.a=[[1,2],[3,4],[5,6]]"]):
            status, out, err = etcc("run", program, "step", f"p=@{p}", f"q=@{q}", *arguments)
            h = 10 if t in arguments else 1
            self.assertEqual((status, err), (0, ""))
            self.assertIn(f"0.h : f32[2] =\n[{2 + h + 100}, {6 + 2 * h + 200}]", out)
            self.assertIn("2 : f32[2] =\n[9, 12]", out)
        for arguments, text in [
            (["s=1", t, u], "s has the parts h, rest: s={h = ..}, s.h=.. or s=@FILE.npz"),
            (["s={h = [1,2], x = 1}", t, u], "s is {h = .., rest = ..}, and `x = 1` gives none of them"),
            (["s={h = [1,2], h = [1,2]}", t, u], "`s.h` is given twice"),
            (["s.h=[1,2]", f"s=@{state}", t, u], "`s.h` is given twice"),
            (["s={h = [1,2]}", t, u], "`step` has inputs that were not set: `s.rest.0`, `s.rest.1.k`"),
            ([t, u], "`step` has inputs that were not set: `s` with its 3 tensors"),
            (["t=(1, 2, 3)", f"s=@{state}", u], "t has 2 parts, the value has 3"),
            (["t=1", f"s=@{state}", u], "t has 2 parts: t=(..), t.0=.. or t=@FILE.npz"),
        ]:
            status, out, err = etcc("run", program, "step", f"p=@{p}", f"q=@{q}", *arguments)
            self.assertEqual((status, out), (1, ""))
            self.assertIn(text, err)
        status, out, err = etcc("run", program, "plain", "r.w=[1,2]", "r.v=[3,4]")
        self.assertEqual((status, out), (0, "result : f32[2] =\n[3, 8]\n"))
        status, out, err = etcc("run", program, "plain")
        self.assertIn("`plain` has inputs that were not set: `r` with its 2 tensors; a parameter that is bound once is marked"
                      " in the program: (r : weights ..)", err)

    def test_a_file_for_each_parameter_of_weights(self):
        program = ("entry two (p : weights { w : f32[n] }) (q : weights { w : f32[n] }) (r : weights f32[n]) (x : f32[n]) ="
                   " p.w * x + q.w + r")
        files = {}
        for name, array in (("p", [1, 2]), ("q", [10, 20]), ("r", [100, 200])):
            files[name] = os.path.join(self.folder.name, f"two_{name}.npz")
            npz(files[name], **{"w" if name != "r" else "r": npy("f", *array)})
        status, out, err = etcc("run", "-", "two", *(f"{name}=@{file}" for name, file in files.items()), "x=[3,4]", stdin=program)
        self.assertEqual((status, out, err), (0, "result : f32[2] =\n[113, 228]\n", ""))

    def test_a_binding_map_is_a_file_or_its_text(self):
        program = "entry f (p : weights { a : f32[n], b : f32[m, n] }) = sum (p.b * p.a)\n"
        weights, names = (os.path.join(self.folder.name, name) for name in ("w.npz", "names.map"))
        npz(weights, **{"x": npy("f", 1, 2), "blk.0": npy("f", 3, 4), "blk.1": npy("f", 5, 6)})
        rules = "a <- x, as f32 -- b is a stack\r\n\np.b[i] <- blk.{i}\n"
        with open(names, "w", encoding="utf-8") as file:
            file.write(rules)
        for given in (names, rules):
            self.assertEqual(etcc("run", "-", "f", f"p=@{weights}", "--map", given, stdin=program), (0, "result : f32[2] =\n[11, 17]\n", ""))
        for given, error in (("a <- x\nb[i] = blk.{i}", "error[E0708]: the binding map cannot be read: line 2: `<-` expected after the parameter"),
                             ("no.map", "error[E0701]: cannot open `no.map`: No such file or directory"),
                             (self.folder.name, f"error[E0701]: `{self.folder.name}` is not a regular file")):
            status, out, err = etcc("run", "-", "f", f"p=@{weights}", "--map", given, stdin=program)
            self.assertEqual((status, out, err.splitlines()[0]), (1, "", error))

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


class Formatter(WithProgram):
    """etcc fmt: in place, from stdin, --check; a file is changed as a whole or not at all."""

    UGLY = "fun   f x=x+1 -- one\n"
    PRETTY = "fun f x = x + 1  -- one\n"

    def put(self, name, text):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def get(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def test_in_place(self):
        def state(path):  # reading may set when it was read
            of = os.stat(path)
            return of.st_ino, of.st_mode, of.st_size, of.st_mtime_ns, of.st_ctime_ns

        ugly, pretty = self.put("a.axn", self.UGLY), self.put("b.axn", self.PRETTY)
        os.chmod(ugly, 0o640)
        before = state(pretty)
        self.assertEqual(etcc("fmt", ugly, pretty), (0, "", ""))
        self.assertEqual(self.get(ugly), self.PRETTY)
        self.assertEqual(os.stat(ugly).st_mode & 0o777, 0o640)
        self.assertEqual(state(pretty), before)  # not written

    def test_stdin(self):
        self.assertEqual(etcc("fmt", "-", stdin=self.UGLY), (0, self.PRETTY, ""))
        self.assertEqual(etcc("fmt", "-", stdin=self.PRETTY), (0, self.PRETTY, ""))

    def test_check_lists_what_differs(self):
        ugly, pretty = self.put("a.axn", self.UGLY), self.put("b.axn", self.PRETTY)
        self.assertEqual(etcc("fmt", "--check", ugly, pretty), (1, ugly + "\n", ""))
        self.assertEqual(etcc("fmt", "--check", pretty), (0, "", ""))
        self.assertEqual(self.get(ugly), self.UGLY)

    def test_folders(self):
        paths = [self.put(name, self.UGLY) for name in ("d/a.axn", "d/e/b.axn", "d/.git/c.axn", "d/d.txt")]
        self.assertEqual(etcc("fmt", os.path.join(self.folder.name, "d")), (0, "", ""))
        self.assertEqual([self.get(path) for path in paths], [self.PRETTY, self.PRETTY, self.UGLY, self.UGLY])

    def test_a_file_with_errors_stays(self):
        broken, ugly = self.put("a.axn", "fun f x = (x\n"), self.put("b.axn", self.UGLY)
        status, out, err = etcc("fmt", broken, ugly)
        self.assertEqual((status, out), (1, ""))
        self.assertIn("E0211", err)
        self.assertEqual(self.get(broken), "fun f x = (x\n")
        self.assertEqual(self.get(ugly), self.PRETTY)
        self.assertEqual(etcc("fmt", "-", stdin="fun")[:2], (1, ""))

    def test_a_read_only_file_stays(self):
        ugly = self.put("a.axn", self.UGLY)
        os.chmod(ugly, 0o444)
        status, _, err = etcc("fmt", ugly)
        self.assertEqual(status, 1)
        self.assertIn("read-only", err)
        self.assertEqual(self.get(ugly), self.UGLY)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["a.axn", "program.axn"])

    def test_a_full_disk_changes_nothing(self):
        text = "fun   f x = x\n" * 4000
        ugly = self.put("a.axn", text)
        # A limit on the size of files stands in for a full disk.
        done = subprocess.run(["bash", "-c", 'trap "" XFSZ; ulimit -f 4; exec "$0" fmt "$1"', ETCC, ugly],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("cannot write", done.stderr)
        self.assertEqual(self.get(ugly), text)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["a.axn", "program.axn"])

    def test_a_link_stays_a_link(self):
        ugly = self.put("real/a.axn", self.UGLY)
        link = os.path.join(self.folder.name, "link.axn")
        os.symlink(ugly, link)
        self.assertEqual(etcc("fmt", link), (0, "", ""))
        self.assertTrue(os.path.islink(link))
        self.assertEqual(self.get(ugly), self.PRETTY)

    def test_a_missing_file(self):
        self.assertEqual(etcc("fmt", os.path.join(self.folder.name, "missing.axn"))[0], 1)
        self.assertEqual(etcc("fmt")[0], 2)


TESTED = """\
--| Doubles.
--| >>> twice [1.0, 2.5]
--| [2, 5]
--| >>> twice 0.3333333
--| 0.67
--|
--| >>> (twice 1.0, twice [2.0])
--| 0 : f32 =
--| 2
--| 1 : f32[1] =
--| [4]
--| >>> twice 21 == 42
fun twice x = x + x

private fun next x = x + 1

test "private names are in scope" = next 1 == 2
"""


class Examples(WithProgram):
    """etcc test: documentation and test declarations."""

    def test_all_pass(self):
        self.assertEqual(etcc("test", "-", stdin=TESTED), (0, "5 passed, 0 failed\n", ""))
        status, out, _ = etcc("test", "-v", "-", stdin=TESTED)
        self.assertEqual(status, 0)
        self.assertEqual(out.count("passed <stdin>:"), 5)
        self.assertIn('passed <stdin>:17: test "private names are in scope"\n', out)

    def test_native(self):
        self.assertEqual(etcc("test", "--native", "-", stdin=TESTED), (0, "5 passed, 0 failed\n", ""))

    def test_native_compares_what_fails(self):
        example = "--| >>> {}\n--| {}\nfun f x = x\n"
        # Both executors refuse it: there is nothing to say but what the interpreter says.
        for text in ("iterate 2000000 (fn x => while (fn y => true) (fn y => y + 1) x) (i64 1)",):
            status, out, _ = etcc("test", "--native", "-", stdin=example.format(text, 0))
            self.assertEqual(status, 1)
            self.assertIn("goes on for more than", out)
            self.assertNotIn("compiled:", out)
        # A wrong expectation is compared too, with what the interpreter found.
        status, out, _ = etcc("test", "--native", "-", stdin=example.format("i64 2 + 3", 6))
        self.assertEqual((status, out), (1, "FAILED <stdin>:1: i64 2 + 3\n  expected: 6\n  found:    5\n0 passed, 1 failed\n"))

    def test_native_reads_every_type(self):
        text = "".join(f"--| >>> [{elem} 1.5, {elem} (-3.0)]\n--| [1.5, -3]\n" for elem in ("f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2"))
        text += "".join(f"--| >>> [{elem} 3, {elem} 100]\n--| [3, 100]\n" for elem in ("i64", "i32", "i16", "i8", "u8", "u32"))
        self.assertEqual(etcc("test", "--native", "-", stdin=text + "fun f x = x\n")[:2], (0, "12 passed, 0 failed\n"))

    def test_integers_are_compared_exactly(self):
        for expected, passed in ((2**53 + 1, 1), (2**53, 0), (2**53 + 2, 0)):
            text = f"--| >>> i64 {2**53 + 1}\n--| {expected}\nfun f x = x\n"
            self.assertIn(f"{passed} passed, {1 - passed} failed\n", etcc("test", "-", stdin=text)[1])
        self.assertIn("1 passed", etcc("test", "-", stdin="--| >>> 0.0 * (-1.0)\n--| 0\nfun f x = x\n")[1])

    def test_failures_show_what_was_expected(self):
        status, out, _ = etcc("test", "-", stdin=TESTED.replace("[2, 5]", "[2, 6]").replace("== 42", "== 43"))
        self.assertEqual(status, 1)
        self.assertIn("FAILED <stdin>:2: twice [1.0, 2.5]\n  expected: [2, 6]\n  found:    [2, 5]\n", out)
        self.assertIn("FAILED <stdin>:12: twice 21 == 43\n  expected: true\n  found:    false\n", out)
        self.assertTrue(out.endswith("3 passed, 2 failed\n"))

    def test_rounding_is_to_the_digits_written(self):
        for value, good in (("0.7", True), ("0.667", True), ("0.6666666", True), ("0.668", False), ("1", False), ("0.66", False)):
            text = f"--| >>> 2.0 / 3.0\n--| {value}\nfun f x = x\n"
            self.assertEqual(etcc("test", "-", stdin=text)[0], 0 if good else 1, value)

    def test_an_example_with_an_error_is_shown_where_it_stands(self):
        text = TESTED.replace("twice 21 == 42", "twice nothing")
        status, out, _ = etcc("test", "-", stdin=text)
        self.assertEqual(status, 1)
        self.assertIn("error[E0401]", out)
        self.assertIn("--> <stdin>:12:15\n", out)
        self.assertIn("12 | --| >>> twice nothing\n", out)
        self.assertTrue(out.endswith("4 passed, 1 failed\n"))
        status, out, _ = etcc("test", "--native", "-", stdin=text)
        self.assertTrue(out.endswith("4 passed, 1 failed\n"), out)

    def test_places_in_messages_are_those_of_the_example(self):
        text = ("--| >>> let f x = [1, 2, 3][x[0]] in f [i64 7]\n"           # the compiler's words
                "--| >>> let n = max (sum [i64 3, 4]) 0 in sum (for (i < n) => ([1.0, 2.0] :> f32[n])[i])\n"
                "--| >>> (for i => [1.0, 2.0, 3.0][[i64 0, 5][i]])\n--| [1, 2]\n"
                "--|     >>> not one\nfun at (x : [n]) (i : i64[1]) = x[i[0]]\n"
                "--| >>> at [1.0, 2.0] [i64 9]\n--| 1\n"                  # a place in the file itself
                "test \"shown\" = 1.0 == (for i => [1.0, 2.0][[i64 3][i]])[0]\n")
        lines = text.splitlines()
        for options in ([], ["--native"]):
            for end in ("", "\n" * 3):
                status, out, _ = etcc("test", *options, "-", stdin=text.rstrip("\n") + end)
                self.assertEqual((status, out.splitlines()[-1]), (1, "0 passed, 5 failed"), out)
                places = re.findall(r"`([^`]*)`[^`\n]*\(<stdin>:(\d+):(\d+)\)", out)
                self.assertGreaterEqual(len(places), 4, out)
                for shown, line, column in places:
                    self.assertTrue(lines[int(line) - 1][int(column) - 1:].startswith(shown), (shown, line, column, out))

    def test_a_file_that_does_not_check(self):
        status, out, err = etcc("test", "-", stdin=TESTED + "fun broken x = nothing x\n")
        self.assertEqual((status, out), (1, "FAILED <stdin>\n0 passed, 1 failed\n"))
        self.assertIn("E0401", err)

    def test_an_example_that_is_no_bool_needs_a_value(self):
        status, out, _ = etcc("test", "-", stdin="--| >>> 1 + 1\nfun f x = x\n")
        self.assertEqual(status, 1)
        self.assertIn("expected: true", out)


class Folders(unittest.TestCase):
    """The files of a directory import each other, as from a program at its top."""

    FILES = {"main.axn": 'import "lib/sub/more.axn" as more\ntest "four" = more.four == 4.0\n',
             "lib/vec.axn": "fun twice x = x * 2.0\n",
             "lib/sub/more.axn": 'import "../vec.axn" as vec\nval four = vec.twice 2.0\ntest "two" = vec.twice 1.0 == 2.0\n'}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = os.path.join(folder.name, "top")
        for name, text in {**self.FILES, "../out.axn": "val out = 1\n"}.items():
            path = os.path.join(self.top, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.top)

    def test_imports_stay_in_the_directory_that_was_given(self):
        self.assertEqual(etcc("check", "main.axn"), (0, "", ""))
        for given in (".", "./", self.top, "../top", "lib/..", "lib"):
            passed = 1 if given == "lib" else 2
            for native in ([], ["--native"]):
                self.assertEqual(etcc("test", *native, given), (0, f"{passed} passed, 0 failed\n", ""))
            self.assertEqual(etcc("doc", given, "-o", "../pages"), (0, "", ""))
        self.assertEqual({os.path.basename(name) for _, _, names in os.walk("../pages") for name in names}
                         & {"main.html", "lib.sub.more.html", "sub.more.html"}, {"main.html", "lib.sub.more.html", "sub.more.html"})

    def test_what_lies_outside_is_refused(self):
        refused = "error[E0408]: `../vec.axn` lies outside of the directory of the program"
        for given in ("lib/sub", "lib/sub/more.axn"):
            for command in (["test", given], ["doc", given, "-o", "../pages"]):
                status, _, err = etcc(*command)
                self.assertEqual((status, err.splitlines()[0]), (1, refused))
        with open("lib/vec.axn", "w", encoding="utf-8") as file:
            file.write('import "../../out.axn" as out\nfun twice x = x * real out.out\n')
        for given in (".", self.top, "lib"):
            status, _, err = etcc("test", given)
            self.assertEqual((status, err.splitlines()[0][:12]), (1, "error[E0408]"))


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


class Outputs(WithProgram):
    """Every command that writes a file writes it the same way."""

    def setUp(self):
        super().setUp()
        self.out = os.path.join(self.folder.name, "out")
        os.mkdir(self.out)
        self.commands = [
            ("bundle", ["build", self.program, "--level", "x86-64-v2", "--entry", "halves", "-o"]),
            ("text", ["build", self.program, "--emit=graph", "-o"]),
            ("npz", ["run", self.program, "halves", "x=[1, 2]", "-o"]),
        ]

    def path(self, name, text=None):
        """A name that every command writes to."""
        path = os.path.join(self.out, name + ".npz")
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def names(self):
        return sorted(name.removesuffix(".npz") for name in os.listdir(self.out))

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def written(self, name, command):
        """What the command writes to a file that is not there yet."""
        path = self.path(f"{name}.new")
        self.assertEqual(etcc(*command, path)[0], 0)
        bytes_of = self.read(path)
        os.remove(path)
        self.assertGreater(len(bytes_of), 100)
        return bytes_of

    def test_files_and_links(self):
        for name, command in self.commands:
            expected = self.written(name, command)
            old, missing = self.path("old", "old"), self.path("missing")
            os.chmod(old, 0o640)
            for link, target in (("link", old), ("chain", "link.npz"), ("ahead", "missing.npz"), ("circle", "circle.npz")):
                os.symlink(target, self.path(link))
            self.assertEqual(etcc(*command, self.path("chain"))[0], 0)
            self.assertEqual((self.read(old), os.stat(old).st_mode & 0o777), (expected, 0o640))
            self.assertEqual(etcc(*command, self.path("ahead"))[0], 0)
            self.assertEqual(self.read(missing), expected)
            status, _, err = etcc(*command, self.path("circle"))
            self.assertEqual((status, err.splitlines()[0]), (1, f"error[E0701]: cannot write `{self.path('circle')}`: "
                                                            "Too many levels of symbolic links"))
            for link in ("link", "chain", "ahead", "circle"):
                self.assertTrue(os.path.islink(self.path(link)), (name, link))
            self.assertEqual(self.names(), ["ahead", "chain", "circle", "link", "missing", "old"])
            for file in os.listdir(self.out):
                os.remove(os.path.join(self.out, file))

    def test_read_only(self):
        for name, command in self.commands:
            path = self.path("kept", "kept")
            os.chmod(path, 0o444)
            os.symlink(path, self.path("link"))
            for given in (path, self.path("link")):
                status, _, err = etcc(*command, given)
                self.assertEqual((status, err.splitlines()[0]), (1, f"error[E0701]: cannot write `{given}`: it is read-only"))
            self.assertEqual(self.read(path), b"kept")
            self.assertEqual(self.names(), ["kept", "link"], name)
            os.remove(self.path("link"))
            os.remove(path)

    def test_a_directory(self):
        for name, command in self.commands:
            status, _, err = etcc(*command, self.out)
            self.assertEqual((status, err.splitlines()[0]), (1, f"error[E0701]: cannot write `{self.out}`: Is a directory"))
            self.assertEqual(os.listdir(self.out), [], name)

    def test_devices(self):
        for name, command in self.commands:
            for device, status in (("/dev/null", 0), ("/dev/full", 1)):
                link = self.path("link")
                os.symlink(device, link)
                for given in (device, link):
                    got, _, err = etcc(*command, given)
                    self.assertEqual(got, status, err)
                    if status:
                        self.assertEqual(err.splitlines()[0],
                                         f"error[E0701]: cannot write `{given}`: No space left on device")
                self.assertTrue(os.path.islink(link) and not os.path.isfile(device), name)
                os.remove(link)

    def test_pipes_and_descriptors(self):
        for name, command in self.commands:
            expected = self.written(name, command)
            fifo = self.path("fifo")
            os.mkfifo(fifo)
            reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE)
            self.assertEqual(etcc(*command, fifo)[0], 0)
            self.assertEqual(reader.communicate(timeout=60)[0], expected)
            os.remove(fifo)
            for given in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
                done = subprocess.run([ETCC, *command, given], capture_output=True, timeout=120, check=False)
                self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)
            # What is open already is continued, not replaced.
            log = self.path("log")
            subprocess.run(["bash", "-c", 'exec > "$1"; echo before; "$0" "${@:2}" /dev/stdout && echo after', ETCC, log, *command],
                           timeout=120, check=True)
            self.assertEqual(self.read(log), b"before\n" + expected + b"after\n")
            os.remove(log)

    def test_results_in_the_file_that_the_name_says(self):
        program = "entry none (x : bf16[n]) = ()\nentry one (x : f32[n]) = x + x\n" \
                  "entry half (x : bf16[n]) = x\nentry two (x : f32[n]) (i : i64) = (x, i)\n" \
                  "entry eighth (x : f8e4m3[n]) (y : f8e5m2[n]) (b : bool[n]) = (x, y, b)\n"
        given = {"none": ["x=[1]"], "one": ["x=[1, 2]"], "half": ["x=[1, 2]"], "two": ["x=[1, 2]", "i=3"],
                 "eighth": ["x=[1, 2]", "y=[1, 2]", "b=[true, false]"]}
        run = lambda entry, name: etcc("run", "-", entry, *given[entry], "-o", os.path.join(self.out, name), stdin=program)
        for name, entries in ((".npy", "one"), (".npz", "none one two"), (".safetensors", "none one half two eighth")):
            for entry in entries.split():
                path = os.path.join(self.out, entry + name)
                self.assertEqual(run(entry, entry + name), (0, "", ""))
                if name != ".safetensors":
                    self.assertTrue(self.read(path).startswith({".npy": b"\x93NUMPY", ".npz": b"PK"}[name]), path)
                    continue
                length = struct.unpack("<Q", self.read(path)[:8])[0]
                header = json.loads(self.read(path)[8:8 + length])
                types = {"none": {}, "one": {"result": "F32"}, "half": {"result": "BF16"}, "two": {"0": "F32", "1": "I64"},
                         "eighth": {"0": "F8_E4M3", "1": "F8_E5M2", "2": "BOOL"}}[entry]
                self.assertEqual({key: value["dtype"] for key, value in header.items()}, types)
        back = etcc("run", "-", "f", f"result=@{os.path.join(self.out, 'half.safetensors')}", stdin="entry f (result : bf16[n]) = result")
        self.assertEqual(back, (0, "result : bf16[2] =\n[1, 2]\n", ""))
        written = sorted(os.listdir(self.out))
        cannot = "error[E0701]: cannot write `{}`: "
        many = cannot + "an .npy file holds one array, and there are {} results; write .npz or .safetensors\n"
        for entry, name, error in (
                ("two", "two.npy", many.format("{}", 2)), ("none", "none.npy", many.format("{}", 0)),
                ("half", "half.npy", cannot + "npy has no type bf16; convert `result` or write safetensors\n"),
                ("eighth", "eighth.npz", cannot + "npy has no type f8e4m3; convert `0` or write safetensors\n")):
            self.assertEqual(run(entry, name), (1, "", error.format(os.path.join(self.out, name))))
        for name in ("two", "two.bin", "two.npz.gz", "npz", "two.NPZ"):
            error = "etcc: -o {}: results are written as .npz, as .safetensors or, for one, as .npy\n"
            self.assertEqual(run("two", name), (2, "", error.format(os.path.join(self.out, name))))
        self.assertEqual(sorted(os.listdir(self.out)), written)

    def test_pages(self):
        pages = os.path.join(self.out, "pages")
        self.assertEqual(etcc("doc", self.program, "-o", pages)[0], 0)
        index = os.path.join(pages, "index.html")
        expected = self.read(index)
        os.rename(index, self.path("index"))
        os.symlink(self.path("index"), index)
        self.path("index", "old")
        self.assertEqual(etcc("doc", self.program, "-o", pages), (0, "", ""))
        self.assertEqual((os.path.islink(index), self.read(self.path("index"))), (True, expected))
        os.chmod(self.path("index"), 0o444)
        status, _, err = etcc("doc", self.program, "-o", pages)
        self.assertEqual((status, err), (1, f"error[E0701]: cannot write `{index}`: it is read-only\n"))
        status, _, err = etcc("doc", self.program, "-o", self.path("index"))
        self.assertEqual((status, err.splitlines()[0].split("`")[0]), (1, "error[E0701]: cannot create "))

    def test_errors_of_writing_in_every_form(self):
        for command in (["build", "--emit=ast", self.program, "-o", "/dev/full"], ["run", self.program, "halves", "x=[1, 2]", "-o", "/dev/full"]):
            status, out, err = etcc(*command, "--error-format=json")
            (error,) = json.loads(err)
            self.assertEqual((status, out, error["code"]), (1, "", "E0701"))
            status, out, err = etcc(*command, "--error-format=short")
            self.assertEqual((status, out, err), (1, "", "error[E0701]: cannot write `/dev/full`: No space left on device\n"))


class Options(WithProgram):
    """Exit statuses, stdin, versions, completion, how much is said."""

    def test_versions(self):
        status, out, _ = etcc("--version")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"^axon \d+\.\d+\.\d+ \((?:[0-9a-f]{12}|no repository), LLVM 19\.\d+\.\d+, Z3 \d+\.\d+\.\d+\)\n$")

    def test_every_command_reads_stdin(self):
        for command in (["check"], ["build", "--emit=ast"], ["verify", "-q"], ["fmt"], ["test"]):
            self.assertEqual(etcc(*command, "-", stdin=PROGRAM)[0], 0, command)
        status, out, _ = etcc("run", "-", "halves", "x=[1, 2, 3, 4]", stdin=PROGRAM)
        self.assertEqual((status, out), (0, "result : f32[2] =\n[4, 6]\n"))

    def test_stop_after_takes_the_names_of_emit(self):
        for stage in ("tokens", "ast", "core", "graph", "fused", "inplace", "tasks", "plan", "proof"):
            emitted = etcc("build", f"--emit={stage}", self.program)
            self.assertEqual(emitted[0], 0)
            self.assertEqual(etcc("build", f"--stop-after={stage}", self.program), emitted)

    def test_exit_statuses(self):
        self.assertEqual(etcc("check", self.program)[0], 0)
        self.assertEqual(etcc("check", "-", stdin=BROKEN)[0], 1)
        self.assertEqual(etcc("check")[0], 2)
        self.assertEqual(etcc("no-such-command")[0], 2)
        self.assertEqual(etcc("check", "--no-such-option", self.program)[0], 2)
        self.assertEqual(etcc("run", self.program, "pick", "table=[[1, 2]]", "ids=[[7]]")[0], 1)

    def outputs(self):
        """Commands that write to stdout: a little, and more than a buffer holds."""
        broken = os.path.join(self.folder.name, "broken.axn")
        with open(broken, "w", encoding="utf-8") as file:
            file.write(BROKEN)
        loose = os.path.join(self.folder.name, "loose.axn")
        with open(loose, "w", encoding="utf-8") as file:
            file.write("fun  f x=x\n")
        return [["check", "--types", self.program], ["build", "--emit=ast", self.program], ["build", "--emit=tasks", self.program],
                ["verify", self.program], ["test", self.program], ["explain"], ["explain", "E0312"], ["--help"], ["--version"],
                ["run", "--help"], ["--completion", "bash"], ["check", "--error-format=json", broken],
                ["check", "--error-format=sarif", broken], ["run", self.program, "halves", "x=[1, 2]"], ["fmt", "--check", loose]]

    def test_a_full_disk_behind_stdout(self):
        for command in self.outputs():
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([ETCC, *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 1, command)
            self.assertIn("error[E0701]: cannot write", done.stderr, command)
            self.assertIn("No space left on device", done.stderr, command)

    def test_a_closed_stdout(self):
        for command in self.outputs():
            done = subprocess.run(["bash", "-c", 'exec "$0" "$@" >&-', ETCC, *command], stderr=subprocess.PIPE, text=True,
                                  timeout=120, check=False)
            self.assertEqual(done.returncode, 1, command)
            self.assertIn("error[E0701]: cannot write", done.stderr, command)
            self.assertIn("Bad file descriptor", done.stderr, command)

    def test_closed_streams_are_not_reused(self):
        out = os.path.join(self.folder.name, "out.axb")
        command = ["build", "--level", "x86-64-v2", "--entry", "halves", self.program, "-o", out]
        self.assertEqual(etcc(*command)[0], 0)
        with open(out, "rb") as file:
            expected = file.read()
        os.remove(out)
        subprocess.run(["bash", "-c", 'exec "$0" "$@" <&- >&- 2>&-', ETCC, *command], timeout=120, check=False)
        with open(out, "rb") as file:
            self.assertEqual(file.read(), expected)

    def test_stdin_that_is_no_text(self):
        for command in (["check", "-"], ["build", "-"], ["fmt", "-"], ["test", "-"]):
            folder = os.open(self.folder.name, os.O_RDONLY)
            done = subprocess.run([ETCC, *command], stdin=folder, capture_output=True, text=True, timeout=120, check=False)
            os.close(folder)
            self.assertEqual(done.returncode, 1, command)
            self.assertIn("error[E0005]: the file `<stdin>` cannot be read", done.stderr)
            self.assertIn("Is a directory", done.stderr)
            done = subprocess.run(["bash", "-c", 'yes | exec "$0" "$@"', ETCC, *command], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 1, command)
            self.assertIn("error[E0001]", done.stderr)
            done = subprocess.run(["bash", "-c", 'exec "$0" "$@" <&-', ETCC, *command], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 1, command)
            self.assertIn("error[E0005]", done.stderr)
        self.assertIn("error[E0001]", etcc("check", "/dev/zero")[2])
        self.assertIn("Is a directory", etcc("check", self.folder.name)[2])

    def test_memory_that_runs_out(self):
        large = os.path.join(self.folder.name, "large.axn")
        with open(large, "w", encoding="utf-8") as file:
            file.write(("-- " + "x" * 60000 + "\n") * 250)
        self.assertEqual(etcc("check", large)[0], 0)
        # A little more than what the program needs to be loaded at all, and less than the file.
        for megabytes in range(16, 4000, 8):
            limit = megabytes << 20
            run = lambda *arguments: subprocess.run([ETCC, *arguments], capture_output=True, text=True, timeout=120, check=False,
                                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            if run("--version").returncode == 0:
                break
        done = run("check", large)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("error[E0593]: there is not enough memory", done.stderr)

    def test_quiet_and_verbose_exclude_each_other(self):
        self.assertEqual(etcc("check", "-q", "-v", self.program)[0], 2)

    def test_quiet_hides_warnings(self):
        text = "fun f x = x\n--| Documents nothing.\n"
        self.assertIn("E0218", etcc("check", "-", stdin=text)[2])
        self.assertEqual(etcc("check", "-q", "-", stdin=text), (0, "", ""))

    def complete(self, *words):
        line = " ".join(f"'{word}'" for word in words)
        script = f'source <("{ETCC}" --completion bash); COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _etcc; printf "%s\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False, cwd=self.folder.name)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_completion_for_bash(self):
        self.assertIn("check", self.complete("etcc", ""))
        self.assertEqual(self.complete("etcc", "ver"), ["verify"])
        self.assertEqual(self.complete("etcc", "check", "--ty"), ["--types"])
        self.assertEqual(self.complete("etcc", "build", "--schedule", ""), ["events", "barrier", "even"])
        self.assertEqual(self.complete("etcc", "build", "--emit", "pla"), ["places", "plan"])
        self.assertEqual(self.complete("etcc", "check", "pro"), ["program.axn"])

    def test_completion_knows_every_option(self):
        help_text = etcc("--help")[1]
        commands = [line.split()[0] for line in help_text.split("Subcommands:")[1].splitlines() if line.startswith("  ") and line[2] != " "]
        self.assertGreater(len(commands), 6)
        scripts = {shell: etcc("--completion", shell)[1] for shell in ("bash", "zsh", "fish")}
        for command in commands:
            for script in scripts.values():
                self.assertIn(command, script)
        for option in ("error-format", "native", "types", "emit"):
            self.assertIn("--" + option, scripts["bash"])
            self.assertIn("--" + option, scripts["zsh"])
            self.assertIn("-l " + option, scripts["fish"])
        self.assertEqual(etcc("--completion", "csh")[0], 2)

    def test_the_manual_says_what_help_says(self):
        status, page, err = etcc("--manual")
        self.assertEqual((status, err), (0, ""))
        for escape, meant in (("\\-", "-"), ("\\fB", ""), ("\\fI", ""), ("\\fR", ""), ("\\&", ""), ("\\e", "\\")):
            page = page.replace(escape, meant)
        text = " ".join(page.split())
        own = etcc("--help")[1]
        commands = re.findall(r"^  (\w+) ", own.split("Subcommands:")[1], re.M)
        self.assertGreater(len(commands), 6)
        for command in commands:
            section = text[text.index(f".SS {command} "):].split(" .S", 1)[0]
            for line in etcc(command, "--help")[1].splitlines():
                for name in re.findall(r"^  (-[^ {]*)", line):
                    for one in name.split(","):
                        self.assertIn(f"{one}", section, command)
                what = re.match(r"^ {30}(\S.*)$", line)
                if what:
                    self.assertIn(what.group(1), section, command)


if __name__ == "__main__":
    unittest.main()
