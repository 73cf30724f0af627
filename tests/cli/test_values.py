"""etcc run: values on the command line and what entries make of them, debug, loops, weights."""

import json
import os
import unittest

from program import WithProgram
from support import etcc, npy, npz


class Running(WithProgram):
    def test_run(self):
        status, out, _ = etcc("run", self.program, "pick", "table=[[1, 2], [3, 4], [5, 6]]", "ids=[2, 0]")
        self.assertEqual((status, out), (0, "result : f32[2, 2] =\n[[5, 6],\n [1, 2]]\n"))
        status, out, _ = etcc("run", self.program, "main", "x=zeros[0, 3]", "w=zeros[3, 2]")
        self.assertEqual((status, out), (0, "result : f32[0, 2] =\n[]\n"))

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


if __name__ == "__main__":
    unittest.main()
