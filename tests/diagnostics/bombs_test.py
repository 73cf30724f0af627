"""Hostile texts: whatever is read, an answer comes within 512 MiB, and it is one of the codes that are due.

The limit of processor time ends what would go on for ever; it is far above what any text here takes (about 2 s).

Usage: bombs_test.py FRONT_CHECK [--relaxed]; relaxed (sanitizers) keeps the answers and drops the limits."""

import os
import resource
import subprocess
import sys
import tempfile
import time
import unittest

CHECK = ""
RELAXED = False
SECONDS = 30
BYTES = 512 << 20


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


class Bombs(unittest.TestCase):
    def answer(self, text, name="bomb.axn"):
        """The codes reported for a text, in order of report."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                for piece in [text] if isinstance(text, (bytes, str)) else text:
                    file.write(piece.encode() if isinstance(piece, str) else piece)
            begin = time.monotonic()
            done = subprocess.run(
                [CHECK, path],
                capture_output=True,
                preexec_fn=None if RELAXED else limits,
                timeout=600,
                check=False,
            )
            spent = time.monotonic() - begin
        out = done.stdout.decode()
        self.assertIn(done.returncode, (0, 1), f"{done.returncode} after {spent:.1f} s: {done.stderr[-300:]!r}")
        self.assertEqual(done.returncode == 1, "error[" in out)
        self.assertLess(len(out), 1 << 16)
        return [line.split("[")[1].split("]")[0] for line in out.splitlines() if "error[" in line or "warning[" in line]

    def has(self, code, text):
        codes = self.answer(text)
        self.assertIn(code, codes)
        return codes

    # ---- depth

    def test_brackets(self):
        self.assertEqual(self.has("E0201", "val x =\n" + "(\n" * 10**6).count("E0201"), 1)
        self.has("E0201", "val x =\n" + "(\n" * 10**6 + "1\n" + ")\n" * 10**6)
        self.has("E0201", "val x =\n" + "[\n" * 10**6 + "]\n" * 10**6)
        self.has("E0201", "val x =\n" + "x[\n" * 10**6)
        self.has("E0201", "val x =\n" + "{ a =\n" * 10**6)
        self.has("E0212", "val x = 1\n" + ")\n" * 10**6)

    def test_minuses(self):
        self.has("E0201", "val x =\n" + "-\n" * 10**6 + "1\n")

    def test_lets(self):
        self.has("E0201", "val x =\n" + "let a = 1 in\n" * 10**5 + "a\n")
        self.has("E0201", "val x =\n" + "let a = \n" * 10**5 + "1\n" + " in a\n" * 10**5)
        self.answer("val x =\n" + "let a = 1\n" * 10**5 + "in a\n")

    def test_conditionals(self):
        self.has("E0201", "fun f x =\n" + "if x then x else\n" * 10**5 + "x\n")
        self.has("E0201", "fun f x =\n" + "if\n" * 10**5 + "x\n")

    def test_function_types(self):
        self.has("E0201", "val f :\n" + "f32 ->\n" * 10**5 + "f32\n")
        self.has("E0201", "val f :\n" + "(f32 ->\n" * 10**5 + "f32\n" + ")\n" * 10**5)

    def test_functions_without_names(self):
        self.has("E0201", "fun f x =\n" + "fn a =>\n" * 10**5 + "x\n")
        self.has("E0201", "fun f x =\n" + "for a =>\n" * 10**5 + "x\n")

    def test_long_operators(self):
        self.has("E0201", "val x = 1\n" + "+ 1\n" * 10**6)
        self.has("E0201", "fun f x = x\n" + "|> f\n" * 10**5)
        self.has("E0201", "fun f p = p\n" + ".a\n" * 10**5)

    # ---- size

    def test_one_line_of_100_mb(self):
        self.assertEqual(self.answer(b"x " * (1 << 19) for _ in range(100)), ["E0001"])

    def test_largest_file(self):
        self.has("E0002", "val x = 1" + " + 1" * 10**6)
        self.answer("-- a comment of a line\n" * 700_000)

    def test_many_errors(self):
        codes = self.answer("fun f x = @\n" * 10**5)
        self.assertLessEqual(len(codes), 25)
        self.answer("val x = $\n" * 10**5)

    def test_many_unknown_names(self):
        self.answer("".join(f"fun f{i} x = missing{i} x\n" for i in range(10**5)))

    def test_many_functions(self):
        self.assertEqual(self.answer("".join(f"fun f{i} x = x\n" for i in range(10**5))), [])

    def test_many_tokens(self):
        self.has("E0202", "val x = [" + "1,\n" * 2_000_001 + "1]")

    def test_long_names_numbers_strings(self):
        self.has("E0104", "val " + "a" * 60_000 + " = 1\n")
        self.has("E0105", "val x = " + "1" * 60_000 + "\n")
        self.has("E0106", 'val x = "' + "a" * 1_100_000 + '"\n')

    # ---- bytes

    def test_bytes(self):
        self.has("E0003", b"val x = 1\0")
        self.has("E0003", b"\0" * 10**6)
        self.has("E0004", b"val x = 1 -- \xff\xfe\n")
        self.has("E0004", b"\xff" * 10**6)
        self.has("E0004", b"-- \xed\xa0\x80 a half of a pair\n")
        self.has("E0004", b"-- \xc0\x80 overlong\n")
        self.has("E0110", "-- \u202e\nval x = 1\n".encode())
        self.assertEqual(self.answer(b"\xef\xbb\xbfval x = 1\n"), [])

    def test_line_ends(self):
        self.assertEqual(self.answer(b"fun f x = x\r\nfun g x = f x\r\n"), [])
        self.assertEqual(self.answer(b"fun f x = x\rfun g x = f x\r"), [])
        self.assertEqual(self.answer(b""), [])
        self.assertEqual(self.answer(b"\n"), [])
        self.assertEqual(self.answer(b"-- a comment at the end"), [])

    def test_unterminated(self):
        self.has("E0102", 'val x = "no end')
        self.has("E0102", 'val x = "')
        self.has("E0210", "val x =")
        self.assertEqual(self.answer("--| documents nothing"), ["E0218"])

    # ---- types and sizes

    def test_powers(self):
        self.answer("fun f (x : f32[" + "*".join(["n"] * 200) + "]) = x\n")
        self.answer("fun f (x : f32[" + "*".join(["(n + m + k + 1)"] * 40) + "]) = x\n")
        self.answer("fun f (x : f32[9223372036854775807 * 2]) = x\n")
        self.answer("fun f (x : f32[n]) : f32[" + " + ".join(f"n*{i}" for i in range(5000)) + "] = x\n")
        self.answer("fun f (x : f32[" + "(" * 100 + "n" + "/ 2 + 1)" * 100 + "]) = x\n")

    def test_doubling_types(self):
        lines = ["fun f0 x = (x, x)"] + [f"fun f{i} x = f{i - 1} (f{i - 1} x)" for i in range(1, 7)]
        self.answer("\n".join(lines) + "\n")
        self.answer("fun f x =\n" + "".join(f"  let g{i} y = (g{i - 1} y, g{i - 1} y) in\n" if i else "  let g0 y = (y, y) in\n" for i in range(24)) + "  g23 x\n")

    def test_many_axes(self):
        self.has("E0501", "fun f (x : f32[" + ", ".join(["n"] * 5000) + "]) = x\n")

    def test_many_constraints(self):
        self.answer("fun f x =\n" + "".join(f"  let a{i} = x @ x + {i} in\n" for i in range(200)) + "  x\n")
        names = [f"n{i}" for i in range(200)]
        self.answer("fun f (x : f32[" + " + ".join(names) + "]) (y : f32[" + " + ".join(reversed(names)) + "]) = x + y\n")
        self.answer("fun f " + " ".join(f"(x{i} : f32[n{i}, m{i}])" for i in range(100)) + " = "
                    + " + ".join(f"x{i}" for i in range(100)) + "\n")

    def test_mutual_use(self):
        self.has("E0317", "".join(f"fun f{i} x = f{(i + 1) % 1000} x\n" for i in range(1000)))


if __name__ == "__main__":
    CHECK = sys.argv[1]
    RELAXED = "--relaxed" in sys.argv
    unittest.main(argv=sys.argv[:1], verbosity=1)
