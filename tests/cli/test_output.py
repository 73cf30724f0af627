"""Files and streams that are written, and options."""

import json
import os
import re
import resource
import struct
import subprocess
import unittest

from program import BROKEN, PROGRAM, WithProgram
from support import ETCC, etcc


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
