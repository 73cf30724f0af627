"""etcc and its diagnostics: the forms of --error-format, --max-errors, --deny, colours, `etcc explain`, late codes."""

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest

ETCC = ""

BROKEN = """\
fun f x = x @

fun g (x : f32[n, d]) (w : f32[h, d]) = x @ w

fun k x = no_such_name x
"""
WARNED = "fun f x = x\n--| Of nothing.\n"


def etcc(*arguments, stdin=None, environment=None):
    done = subprocess.run([ETCC, *arguments], input=stdin, capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, **(environment or {})})
    return done.returncode, done.stdout, done.stderr


def on_terminal(*arguments, environment=None):
    """What is written when stderr is a terminal."""
    try:
        parent, child = pty.openpty()
    except OSError as error:
        raise unittest.SkipTest(f"no pseudo-terminals here: {error}") from error
    done = subprocess.Popen([ETCC, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=child,
                            env={**os.environ, **(environment or {})})
    os.close(child)
    text = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(parent)
    done.wait(timeout=60)
    return text.decode()


class Formats(unittest.TestCase):
    def test_short(self):
        status, out, err = etcc("check", "--error-format=short", "-", stdin=BROKEN)
        self.assertEqual((status, out), (1, ""))
        kinds = [line.split(": ")[1] for line in err.splitlines()]
        self.assertEqual([kind for kind in kinds if kind.startswith("error")], ["error[E0210]", "error[E0312]", "error[E0401]"])
        self.assertIn("<stdin>:3:45: help: transpose the right operand: `w` -> `transpose w` [maybe]", err.splitlines())
        self.assertIn("known", kinds)

    def test_sarif(self):
        status, out, _ = etcc("check", "--error-format=sarif", "-", stdin=BROKEN)
        self.assertEqual(status, 1)
        log = json.loads(out)
        self.assertEqual(log["version"], "2.1.0")
        (run,) = log["runs"]
        rules = run["tool"]["driver"]["rules"]
        self.assertEqual([r["ruleId"] for r in run["results"]], ["E0210", "E0312", "E0401"])
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
            self.assertTrue(rules[result["ruleIndex"]]["help"]["markdown"].startswith("# " + result["ruleId"]))
            region = result["locations"][0]["physicalLocation"]["region"]
            self.assertLessEqual((region["startLine"], region["startColumn"]), (region["endLine"], region["endColumn"]))
        (fix,) = run["results"][1]["fixes"]
        self.assertEqual(fix["properties"]["applicability"], "maybe")
        (replacement,) = fix["artifactChanges"][0]["replacements"]
        place = replacement["deletedRegion"]
        text = BROKEN.encode()
        begin, end = place["byteOffset"], place["byteOffset"] + place["byteLength"]
        fixed = text[:begin] + replacement["insertedContent"]["text"].encode() + text[end:]
        self.assertNotIn("E0312", etcc("check", "-", stdin=fixed.decode())[2])

    def test_same_bytes(self):
        for form in ("human", "short", "json", "sarif"):
            self.assertEqual(etcc("check", f"--error-format={form}", "-", stdin=BROKEN),
                             etcc("check", f"--error-format={form}", "-", stdin=BROKEN, environment={"LC_ALL": "C"}))

    def test_max_errors(self):
        text = "".join(f"fun f{i} x = missing{i} x\n" for i in range(30))
        self.assertEqual(etcc("check", "-", stdin=text)[2].count("error["), 20)
        status, _, err = etcc("check", "--max-errors=3", "-", stdin=text)
        self.assertEqual((status, err.count("error[")), (1, 3))
        self.assertIn("27 more", err)
        self.assertEqual(etcc("check", "--max-errors=0", "-", stdin=text)[2].count("error["), 30)

    def test_deny(self):
        self.assertEqual(etcc("check", "-", stdin=WARNED)[0], 0)
        self.assertIn("warning[E0218]", etcc("check", "-", stdin=WARNED)[2])
        for denied in ("E0218", "warnings"):
            status, _, err = etcc("check", "--deny", denied, "-", stdin=WARNED)
            self.assertEqual(status, 1)
            self.assertIn("error[E0218]", err)
        self.assertEqual(etcc("check", "--deny", "E0110", "-", stdin=WARNED)[0], 0)
        self.assertEqual(etcc("check", "--deny", "E1234", "-", stdin=WARNED)[0], 2)

    def test_colours(self):
        plain = etcc("check", "-", stdin=BROKEN)[2]
        self.assertNotIn("\x1b", plain)
        self.assertIn("\x1b[", etcc("check", "--color=always", "-", stdin=BROKEN)[2])
        self.assertIn("\x1b[", etcc("check", "--color=always", "-", stdin=BROKEN, environment={"NO_COLOR": "1"})[2])
        missing = ("check", "/does/not/exist.axn")
        clean = {"NO_COLOR": ""}
        self.assertIn("\x1b[", on_terminal(*missing, environment=clean))
        self.assertNotIn("\x1b[", on_terminal(*missing, environment={"NO_COLOR": "1"}))
        self.assertNotIn("\x1b[", on_terminal(*missing, "--color=never", environment=clean))


class Explain(unittest.TestCase):
    def test_a_page(self):
        status, out, err = etcc("explain", "E0312")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.startswith("# E0312: inner dimensions of `@` differ\n"))
        self.assertIn("transpose", out)

    def test_all(self):
        status, out, _ = etcc("explain")
        self.assertEqual(status, 0)
        codes = [line.split()[0] for line in out.splitlines() if line.startswith("E")]
        self.assertGreater(len(codes), 70)
        for code in codes[::7]:
            self.assertIn(f"# {code}: ", etcc("explain", code)[1])

    def test_unknown(self):
        self.assertEqual(etcc("explain", "e0312"), etcc("explain", "E0312"))
        status, out, err = etcc("explain", "E1234")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("E1234", err)


class Commands(unittest.TestCase):
    """Pages of errors that take a command: `sh bad` raises the code and nothing else, `sh good` goes well."""

    def shell(self, folder, commands):
        path = os.path.dirname(os.path.abspath(ETCC)) + os.pathsep + os.environ["PATH"]
        done = subprocess.run(["bash", "-c", commands], cwd=folder, capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, "PATH": path})
        return done.returncode, done.stdout + done.stderr

    def test_pages(self):
        raised = []
        for code in re.findall(r"^(E\d+)", etcc("explain")[1], re.MULTILINE):
            page = etcc("explain", code)[1]
            with tempfile.TemporaryDirectory() as folder:
                for kind, commands in re.findall(r"^```sh (bad|good)\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
                    status, text = self.shell(folder, commands)
                    self.assertEqual(re.findall(r"error\[(E....)\]", text), [code] if kind == "bad" else [], text)
                    self.assertEqual(status != 0, kind == "bad", text)
                    raised.append(code)
        self.assertGreater(len(set(raised)), 8)


def codes_of(text):
    return re.findall(r"error\[(E....)\]", text)


class Check(unittest.TestCase):
    """`etcc check` refuses what `etcc build` refuses of the program itself, in the same words."""

    LATE = {
        "E0601": "entry rest (x : f32[n]) (k : i64[1]) = for (j < k[0]) => sum x[j::-1]\n",
        "E0602": "fun three (x : [..s, n]) = x :> [.., 3]\nentry first (x : f32[4]) = three x\n",
        "E0611": "entry next (c : *f32[n]) where 2 <= n = c with [1:] = c[:-1]\n",
        "E9001": "entry f (x : i64[n]) = fold (fn s k => s + sum (for (i < k) => real i)) 0.0 x\n",
    }

    def both(self, text, *options):
        check = etcc("check", *options, "-", stdin=text)
        build = etcc("build", "--emit=inplace", *options, "-", stdin=text)
        return check, build

    def test_late_codes(self):
        for code, text in self.LATE.items():
            check, build = self.both(text)
            self.assertEqual(check, build, code)
            self.assertEqual((check[0], codes_of(check[2])), (1, [code]))

    def test_updates_in_both_branches(self):
        head = "entry f (x : *f32[n, d]) (v : f32[d]) (c : bool) where 2 <= n, 2 <= d = "
        reason = "Both branches of an `if` between tensors are computed, and each needs the old"
        for body in ("if c then x with [0, 0] = 1.0 else x with [1, 0] = 2.0",
                     "if c then x with [0] = v else x with [1] = 2.0 * v",
                     "let y = if c then x with [0] = v else (x with [1] = v) with [0] = v in y"):
            error = etcc("check", "-", stdin=head + body)[2]
            self.assertEqual(codes_of(error), ["E0611"], body)
            self.assertIn(reason, error)
        self.assertEqual(etcc("check", "-", stdin=head + "x with [if c then 0 else 1] = if c then v else 2.0 * v"),
                         (0, "", ""))
        later = etcc("check", "-", stdin=head + "let y = x with [0] = v in (y, sum (if c then x[0] else x[1]))")[2]
        self.assertNotIn(reason, later)

    def test_memory_of_unknown_size(self):
        half = "entry h (m : bool[n]) = let a = nonzero m in a[dim a 0 / 2:]\n"
        self.assertEqual(etcc("check", "-", stdin=half), (0, "", ""))
        part = "entry h (m : bool[n]) = let a = nonzero m in for (i < n / (dim a 0 + 1)) => 1.0\n"
        error = etcc("check", "-", stdin=part)[2]
        self.assertEqual(codes_of(error), ["E9001"])
        self.assertIn("--> <stdin>:1:", error)

    def test_every_page(self):
        seen = 0
        for code in re.findall(r"^(E\d+)", etcc("explain")[1], re.MULTILINE):
            for text in re.findall(r"^```axn (?:bad|good)\n(.*?)^```", etcc("explain", code)[1], re.MULTILINE | re.DOTALL):
                check, build = self.both(text)
                if "E0610" not in build[2]:
                    self.assertEqual((check[0], check[2]), (build[0], build[2]), text)
                    seen += 1
        self.assertGreater(seen, 20)

    def test_files_without_entries(self):
        self.assertEqual(etcc("check", "-", stdin="fun f x = x\n"), (0, "", ""))
        self.assertEqual(codes_of(etcc("check", "--entry", "g", "-", stdin="fun f x = x\n")[2]), ["E0610"])

    def test_only_the_entries_that_are_asked_for(self):
        text = self.LATE["E0611"] + "entry good (x : f32[n]) = x\n"
        self.assertEqual(etcc("check", "--entry", "good", "-", stdin=text), (0, "", ""))
        self.assertEqual(etcc("check", "--entry", "next", "-", stdin=text)[0], 1)

    def test_types_are_printed_beside_late_errors(self):
        status, out, err = etcc("check", "--types", "-", stdin=self.LATE["E0611"])
        self.assertEqual((status, codes_of(err)), (1, ["E0611"]))
        self.assertIn("next : ", out)


class LateCodes(unittest.TestCase):
    def test_a_file_without_entries(self):
        status, _, err = etcc("build", "--emit=graph", "-", stdin="fun f x = x\n")
        self.assertEqual(status, 1)
        self.assertIn("error[E0610]", err)

    def refuses(self, code, text, stage, **environment):
        """One error, of this code, by a stage after which nothing is written."""
        with tempfile.TemporaryDirectory() as folder:
            source, out = os.path.join(folder, "late.axn"), os.path.join(folder, "late.out")
            with open(source, "w", encoding="utf-8") as file:
                file.write(text)
            status, _, err = etcc("build", *stage, source, "-o", out, environment=environment)
            self.assertEqual(status, 1)
            self.assertEqual(re.findall(r"error\[(E....)\]", err), [code], err)
            self.assertFalse(os.path.exists(out))
            return err

    def test_an_update_that_would_copy(self):
        put = "entry put (c : *f32[n]) (up : bool) where 1 <= n = {}\n"
        both = self.refuses("E0611", put.format("if up then c with [0] = 1.0 else c with [0] = 2.0"), ["--emit=plan"])
        self.assertIn("updated here", both)
        self.assertIn("- the old value is used here", both)
        swapped = "entry next (c : *f32[n]) where 2 <= n = c with [1:] = c[:-1]\n"
        self.assertIn("The update itself reads other elements", self.refuses("E0611", swapped, []))
        step = "entry f (m : *f32[n]) (s : *f32[n]) (x : f32[t, n]) = fold (fn (m, s) v => {}) (m, s) x\n"
        for body, reason in [
            ("(m + s, for (i < n) => s[i] + m[n - 1 - i])", "cannot come first: it needs"),
            ("(m + v, for (i < n) => s[n - 1 - i] + v[i])", "The update itself reads other elements"),
            ("(m + v, for (i < n) => sum (for (j < n) => max s[j] v[i]))", "reads it in a reduction"),
        ]:
            self.assertIn(reason, self.refuses("E0611", step.format(body), []))
        other = "entry f (m : *f32[n]) (x : f32[t, n]) (y : f32[n]) = fold (fn (m, o) v => (o, v)) (m, y) x\n"
        self.assertIn("The loop goes on with a tensor that is not made of it", self.refuses("E0611", other, []))
        held = "entry f (m : *f32[n]) (x : f32[t, n]) = fold (fn (m, o) v => (m + v, m)) (m, for (i < n) => 0.0) x\n"
        self.assertIn("each iteration of this loop needs the old value", self.refuses("E0611", held, []))
        kept = "fun put c x = (c with [0] = x, c)\nentry f (c : *f32[n]) (x : f32) where 1 <= n = put c x\n"
        self.assertIn("A result of the entry is `c` as it was before.", self.refuses("E0611", kept, []))

    def test_an_order_without_proof(self):
        self.refuses("E0612", "entry ends (x : f32[n]) (v : i64) = if v < 0 then x else if v > n then x else\n"
                     "  for (i < v) => x[i] + x[v - 1 - i] + x[(v - 1 - i) / 2] + x[i / 2] + x[max i (v - 1 - i)]\n", [])

    def test_a_machine_without_room(self):
        self.refuses("E9002", "entry f (x : f32[n]) = x + 1.0\n", [], TMPDIR="/proc")


if __name__ == "__main__":
    ETCC = sys.argv.pop(1)
    unittest.main(verbosity=1)
