"""The cache of compiled code: when it is used, when not, who may write to it, how large it gets."""

import os
import stat
import subprocess
import tempfile
import time
import unittest

from support import ETCC, etcc

STDLIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "stdlib")
HIT, KEPT = "code from the cache: ", "code kept in the cache: "
ONE = 'import "lib/scale.axn" as scale\nentry f (x : f32[n]) = scale.by x\nentry g (x : f32[n]) = x + x\n'
TWICE = "fun by x = 2.0 * x\n"


class Cached(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(self.enterContext(tempfile.TemporaryDirectory()))
        self.cache = self.path("cache")
        self.kept = os.path.join(self.cache, "axon")
        self.program = self.write("one.axn", ONE)
        self.write("lib/scale.axn", TWICE)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def files(self):
        return sorted(os.listdir(self.kept)) if os.path.isdir(self.kept) else []

    def etcc(self, *words, environment=(), **options):
        return etcc(*words, environment={"XDG_CACHE_HOME": self.cache, **dict(environment)}, **options)

    def run_f(self, *words, file=None, **options):
        return self.etcc("run", "-v", file or self.program, "f", "x=[1, 2]", *words, **options)

    def assert_run(self, done, said, values="[2, 4]"):
        status, out, err = done
        self.assertEqual((status, out), (0, f"result : f32[2] =\n{values}\n"), err)
        self.assertEqual(err.startswith(said) if said else err == "", True, err)

    def hit(self, *words, values="[2, 4]", **options):
        self.assert_run(self.run_f(*words, **options), HIT, values)

    def made(self, *words, values="[2, 4]", **options):
        self.assert_run(self.run_f(*words, **options), KEPT, values)


class WhatStandsInItsPlace(Cached):
    """Something else has the name of a file of the cache."""

    def kept_path(self):
        self.made()
        path = os.path.join(self.kept, self.files()[0])
        os.remove(path)
        return path

    def test_a_link_goes_and_not_what_it_leads_to(self):
        path, other = self.kept_path(), self.write("other", "mine")
        for target in (other, self.path("nowhere"), path):
            os.symlink(target, path)
            self.made()
            self.assertFalse(os.path.islink(path))
            os.remove(path)
        with open(other, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        self.assertFalse(os.path.exists(self.path("nowhere")))

    def test_a_link_to_what_was_kept_is_not_read(self):
        self.made()
        path = os.path.join(self.kept, self.files()[0])
        os.rename(path, self.path("moved"))
        os.symlink(self.path("moved"), path)
        self.made()
        self.hit()

    def test_a_pipe(self):
        path = self.kept_path()
        os.mkfifo(path)
        self.made()
        self.hit()

    def test_a_directory(self):
        path = self.kept_path()
        os.mkdir(path)
        self.assert_run(self.run_f(), "not cached: ")
        self.assertTrue(os.path.isdir(path))


class WhenItIsUsed(Cached):
    def test_the_second_time(self):
        self.made()
        self.hit()
        self.assertEqual(len(self.files()), 1)
        self.assertEqual(self.etcc("run", self.program, "f", "x=[1, 2]"), (0, "result : f32[2] =\n[2, 4]\n", ""))

    def test_only_what_was_compiled(self):
        self.made()
        status, _, err = self.etcc("run", "-v", self.program, "g", "x=[1]")
        self.assertEqual((status, err[:len(KEPT)]), (0, KEPT))
        self.hit()

    def test_other_arguments(self):
        self.made()
        status, out, err = self.etcc("run", "-v", self.program, "f", "x=[5]", "--workers", "1", "--error-format=json", "--color", "never")
        self.assertEqual((status, out), (0, "result : f32[1] =\n[10]\n"))
        self.assertTrue(err.startswith(HIT))

    def test_errors_of_arguments_are_those_of_a_compilation(self):
        wrong = (["x=[[1]]"], ["y=[1]"], [], ["x=[1"])
        first = [self.etcc("run", self.program, "f", *words) for words in wrong]
        self.made()
        self.assertEqual([self.etcc("run", self.program, "f", *words) for words in wrong], first)

    def test_every_file_counts(self):
        self.made()
        self.write("lib/scale.axn", TWICE.replace("2.0", "3.0"))
        self.made(values="[3, 6]")
        self.write("one.axn", ONE.replace("scale.by x", "scale.by x + x"))
        self.made(values="[4, 8]")
        self.hit(values="[4, 8]")
        self.write("one.axn", ONE)  # the first bytes again: with another import than was kept for them last
        self.hit(values="[3, 6]")
        self.write("lib/scale.axn", TWICE)
        self.made()
        os.utime(self.program)
        self.hit()

    def test_a_file_that_comes_before_another(self):
        """A module of the library, until one stands beside the program."""
        library = self.path("library")
        self.write("library/extra.axn", "fun by x = 2.0 * x\n")
        program = self.write("p/two.axn", "import extra\nentry f (x : f32[n]) = extra.by x\n")
        words = ["--library", library]
        self.made(*words, file=program)
        self.hit(*words, file=program)
        self.write("p/extra.axn", "fun by x = 5.0 * x\n")
        self.made(*words, file=program, values="[5, 10]")
        os.remove(self.path("p/extra.axn"))
        self.made(*words, file=program)
        self.write("first/extra.axn", "fun by x = 7.0 * x\n")
        self.made("--library", self.path("first"), *words, file=program, values="[7, 14]")
        self.hit(*words, file=program)

    def test_an_import_that_goes(self):
        self.made()
        os.remove(self.path("lib/scale.axn"))
        status, out, err = self.run_f()
        self.assertEqual((status, out), (1, ""))
        self.assertIn("error[E0403]", err)

    def test_an_import_that_a_link_leads_out_of_the_program(self):
        self.made()
        outside = self.enterContext(tempfile.TemporaryDirectory())
        os.rename(self.path("lib/scale.axn"), os.path.join(outside, "scale.axn"))
        os.symlink(os.path.join(outside, "scale.axn"), self.path("lib/scale.axn"))
        status, out, err = self.run_f()
        self.assertEqual((status, out), (1, ""))
        self.assertIn("error[E0408]", err)

    def test_the_same_text_elsewhere(self):
        """What it imports is beside it."""
        self.made()
        self.write("other/one.axn", ONE)
        self.write("other/lib/scale.axn", TWICE.replace("2.0", "9.0"))
        self.made(file=self.path("other/one.axn"), values="[9, 18]")
        self.made(file="one.axn", cwd=self.folder)  # messages show the name
        self.made(file="one.axn", cwd=self.path("other"), values="[9, 18]")
        self.made(file="-", stdin=ONE, cwd=self.folder)
        self.made(file="-", stdin=ONE, cwd=self.path("other"), values="[9, 18]")
        self.hit(file="-", stdin=ONE, cwd=self.folder)
        self.hit(file="one.axn", cwd=self.path("other"), values="[9, 18]")

    def test_a_pipe_has_no_place(self):
        script = 'exec "$0" run -v <(cat "$1") f "x=[1, 2]"'
        self.write("plain.axn", "entry f (x : f32[n]) = x + x\n")
        done = subprocess.run(["bash", "-c", script, ETCC, self.path("plain.axn")], capture_output=True, text=True, timeout=120, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": self.cache})
        self.assert_run((done.returncode, done.stdout, done.stderr), "no cache: the program is in no file")
        self.assertEqual(self.files(), [])

    def test_options_count(self):
        self.made()
        for words in (["-D", "n=2"], ["--schedule", "barrier"], ["--library", self.folder], ["--level", "x86-64-v2"], ["--level", "all"]):
            self.made(*words)
            self.hit(*words)
        self.assertIn("error[E0823]", self.etcc("run", self.program, "f", "x=[1, 2, 3]", "-D", "n=2")[2])
        self.hit("--level", "native")

    def test_no_cache(self):
        self.assert_run(self.run_f("--no-cache"), "")
        self.assertEqual(self.files(), [])
        self.made()
        self.assert_run(self.run_f("--no-cache"), "")
        status, _, err = self.run_f("--time-passes")
        self.assertEqual((status, "ms  bundle" in err, HIT in err), (0, True, False))

    def test_warnings_are_shown_again(self):
        program = self.write("warned.axn", "entry f (x : f32[n]) = x + x\n--| Documents nothing.\n")
        show = lambda *words: self.etcc("run", program, "f", "x=[1, 2]", *words)
        first = show()
        self.assertEqual(first[:2], (0, "result : f32[2] =\n[2, 4]\n"))
        self.assertIn("E0218", first[2])
        self.assertEqual(len(self.files()), 1)
        for words in ([], ["--error-format=json"], ["--error-format=short"], ["--error-format=sarif"], ["-q"], ["--deny", "warnings"]):
            self.assertEqual(show(*words), show("--no-cache", *words), words)
        self.assertEqual(show("--deny", "E0218")[0], 1)
        self.assertTrue(self.run_f(file=program)[2].startswith(HIT))

    def test_errors_are_not_kept(self):
        wrong = self.write("wrong.axn", "entry f (x : f32[n]) = y\n")
        self.assertEqual(self.run_f(file=wrong)[0], 1)
        self.assertEqual(self.files(), [])

    def test_build(self):
        build = lambda name, *words: self.etcc("build", "-v", self.program, "--level", "native", "-o", self.path(name), *words)
        self.assertIn("wrote", build("a.axb")[2])
        self.assertEqual(self.files(), [])
        self.assertTrue(build("b.axb", "--cache")[2].startswith(KEPT))
        self.assertTrue(build("c.axb", "--cache")[2].startswith(HIT))
        bytes_of = []
        for name in ("a.axb", "b.axb", "c.axb"):
            with open(self.path(name), "rb") as file:
                bytes_of.append(file.read())
        self.assertEqual(bytes_of[0], bytes_of[1])
        self.assertEqual(bytes_of[0], bytes_of[2])
        self.assertEqual(self.etcc("run", self.path("c.axb"), "g", "x=[1]")[1], "result : f32[1] =\n[2]\n")
        self.assertEqual(self.etcc("build", "-", "--cache", "--level", "native", "-o", self.path("d.axb"), stdin=ONE, cwd=self.folder), (0, "", ""))


class TheFolder(Cached):
    def test_for_its_user_alone(self):
        self.addCleanup(os.umask, os.umask(0))
        self.made()
        self.assertEqual(stat.S_IMODE(os.stat(self.kept).st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(os.stat(self.cache).st_mode), 0o700)
        os.chmod(self.kept, 0o755)  # others may read
        self.hit()
        for mode in (0o777, 0o770, 0o702):
            os.chmod(self.kept, mode)
            self.assert_run(self.run_f(), f"no cache: `{self.kept}` is not used: others can write to it\n")

    @unittest.skipUnless(os.geteuid() == 0, "only the superuser can give files away")
    def test_of_another_user(self):
        self.made()
        os.chown(self.kept, 1, -1)
        self.assert_run(self.run_f(), f"no cache: `{self.kept}` is not used: it belongs to another user\n")
        os.chown(self.kept, 0, -1)
        self.hit()
        os.rename(self.kept, self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), self.kept)
        self.hit()
        os.chown(self.kept, 1, -1, follow_symlinks=False)
        self.assert_run(self.run_f(), f"no cache: `{self.kept}` is not used: it belongs to another user\n")

    def test_where_there_is_none(self):
        self.write("file", "")
        for cache, why in ((self.path("file"), f"cannot make `{self.path('file')}/axon`: Not a directory"), ("/proc/none", "cannot make `/proc/none/axon`: ")):
            self.assert_run(self.run_f(environment={"XDG_CACHE_HOME": cache}), "no cache: " + why)
            status, out, err = self.etcc("run", self.program, "f", "x=[1, 2]", environment={"XDG_CACHE_HOME": cache})
            self.assertEqual((status, out, err), (0, "result : f32[2] =\n[2, 4]\n", ""))
        os.makedirs(self.cache)
        self.write("cache/axon", "")
        self.assert_run(self.run_f(), f"no cache: `{self.kept}` is not used: it is no directory\n")

    def test_home(self):
        self.made(environment={"XDG_CACHE_HOME": "", "HOME": self.path("home")})
        self.assertEqual(len(os.listdir(self.path("home/.cache/axon"))), 1)
        self.hit(environment={"XDG_CACHE_HOME": "relative", "HOME": self.path("home")}, cwd=self.folder)
        self.assertFalse(os.path.exists(self.path("relative")))
        for home in ("", "relative"):
            self.assert_run(self.run_f(environment={"XDG_CACHE_HOME": "", "HOME": home}), "no cache: there is no home directory\n")

    def test_a_full_disk(self):
        self.made()
        (name,) = self.files()
        size = os.stat(os.path.join(self.kept, name)).st_size
        os.remove(os.path.join(self.kept, name))
        # A limit on the size of files stands in for a full disk: the code alone is smaller.
        script = f'trap "" XFSZ; ulimit -f {(size - 1) // 1024}; exec "$0" run -v "$1" f "x=[1, 2]"'
        done = subprocess.run(["bash", "-c", script, ETCC, self.program], capture_output=True, text=True, timeout=120, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": self.cache})
        self.assert_run((done.returncode, done.stdout, done.stderr), "not cached: cannot write")
        self.assertEqual(self.files(), [])


class WhatIsKept(Cached):
    def entry(self):
        (name,) = self.files()
        return os.path.join(self.kept, name)

    def test_damage_is_compiled_anew(self):
        self.made()
        with open(self.entry(), "rb") as file:
            good = file.read()
        end = len(good)
        damages = [b"", b"AXONBNDL", good[:-1], good + b"\0", good[:end // 2]]
        for at in (0, 9, 20, 30, 300, end // 3, end // 2, end - 1):
            damages.append(good[:at] + bytes([good[at] ^ 4]) + good[at + 1:])
        for damaged in damages:
            with open(self.entry(), "wb") as file:
                file.write(damaged)
            self.made()
            with open(self.entry(), "rb") as file:
                self.assertEqual(file.read(), good)

    def test_an_entry_of_another_name(self):
        """A file that was renamed is not taken for what its new name stands for."""
        self.made()
        g = lambda: self.etcc("run", "-v", self.program, "g", "x=[1, 2]")
        self.assert_run(g(), KEPT)
        first, second = self.files()
        with open(os.path.join(self.kept, first), "rb") as file:
            content = file.read()
        with open(os.path.join(self.kept, second), "wb") as file:
            file.write(content)
        done = [self.run_f(), g()]
        self.assertEqual(sorted(err.startswith(HIT) for _, _, err in done), [False, True])
        self.assertEqual([out for _, out, _ in done], ["result : f32[2] =\n[2, 4]\n"] * 2)

    def test_the_oldest_goes(self):
        programs = [self.write(f"p{i}.axn", f"entry f (x : f32[n]) = {i + 1}.0 * x\n") for i in range(4)]
        values = [f"[{i + 1}, {2 * (i + 1)}]" for i in range(4)]
        self.made(file=programs[0], values=values[0])
        size = os.stat(self.entry()).st_size
        room = {"AXON_CACHE_SIZE": str(3 * size + size // 2)}
        run = lambda i, said: self.assert_run(self.run_f(file=programs[i], environment=room), said, values[i])
        for i, age in ((1, 300), (2, 200)):
            run(i, KEPT)
        for age, name in zip((300, 200, 100), sorted(self.files(), key=lambda name: os.stat(os.path.join(self.kept, name)).st_mtime_ns)):
            os.utime(os.path.join(self.kept, name), times=(time.time() - age,) * 2)
        run(0, HIT)  # the oldest no longer
        run(3, KEPT)
        self.assertEqual(len(self.files()), 3)
        for i, said in ((0, HIT), (2, HIT), (3, HIT), (1, KEPT)):
            run(i, said)
        self.assertEqual(len(self.files()), 3)

    def test_its_size(self):
        for size in ("0", "1K"):
            self.assertIn("bytes are more than AXON_CACHE_SIZE", self.run_f(environment={"AXON_CACHE_SIZE": size})[2])
        self.assertEqual(self.files(), [])
        for size in ("", "500M", "2G", "1000000000", "18446744073709551615"):
            self.run_f(environment={"AXON_CACHE_SIZE": size})
            self.assertEqual(len(self.files()), 1)
        for size in ("many", "5T", "1.5G", "-1", "17179869184G", "G"):
            self.assert_run(self.run_f(environment={"AXON_CACHE_SIZE": size}), f"no cache: AXON_CACHE_SIZE is `{size}`, and no size as 500M is one\n")

    def test_what_was_left_unfinished_goes(self):
        self.made()
        old, new, other = (os.path.join(self.kept, name) for name in ("a.code.1-0.tmp", "b.code.1-0.tmp", "notes"))
        for path in (old, new, other):
            with open(path, "w", encoding="utf-8") as file:
                file.write("x" * 1000)
        for path in (old, other):
            os.utime(path, times=(time.time() - 4000,) * 2)
        self.etcc("run", self.program, "g", "x=[1]")
        self.assertEqual([os.path.exists(path) for path in (old, new, other)], [False, True, True])

    def test_many_at_once(self):
        """Writers of one entry, and readers while it makes room for others."""
        programs = [self.program] * 3 + [self.write(f"p{i}.axn", f"entry f (x : f32[n]) = {i + 2}.0 * x - {i}.0 * x\n") for i in range(2)]
        self.made()
        size = os.stat(self.entry()).st_size
        os.remove(self.entry())
        environment = {**os.environ, "XDG_CACHE_HOME": self.cache, "AXON_CACHE_SIZE": str(size + size // 2)}
        for _ in range(2):
            running = [subprocess.Popen([ETCC, "run", program, "f", "x=[1, 2]"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
                       for program in programs]
            for process in running:
                self.assertEqual((*process.communicate(timeout=120), process.returncode), ("result : f32[2] =\n[2, 4]\n", "", 0))
        self.assertEqual([name[-5:] for name in self.files()], [".code"] * len(self.files()))

    def test_another_build(self):
        """The code of another compiler is not used: here one with another build id, as a copy that was changed has."""
        self.made()
        with open(ETCC, "rb") as file:
            program = file.read()
        note = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"
        self.assertEqual(program.count(note), 1)
        at = program.index(note) + len(note)
        other = self.path("etcc")
        with open(other, "wb") as file:
            file.write(program[:at] + bytes([program[at] ^ 1]) + program[at + 1:])
        os.chmod(other, 0o755)
        done = subprocess.run([other, "run", "-v", self.program, "f", "x=[1, 2]"], capture_output=True, text=True, timeout=120, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": self.cache, "AXON_STDLIB": STDLIB})
        self.assert_run((done.returncode, done.stdout, done.stderr), KEPT)
        self.hit()


if __name__ == "__main__":
    unittest.main()
