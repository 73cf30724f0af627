"""What is done to sources: formatted, their examples tested, whole folders of them."""

import os
import re
import subprocess
import tempfile
import unittest

from program import WithProgram
from support import ETCC, etcc


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


if __name__ == "__main__":
    unittest.main()
