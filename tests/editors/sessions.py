"""Sessions of a user that each editor with a client of its own goes through, by a script in its own language.

A script is given a program and writes as JSON what the editor showed; here is what that has to be, whatever the editor.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import tempfile
import time

import support
from support import HERE

SLOW = "\n".join(f"fun f{i} x y = softmax (x @ transpose y / {i + 1}.0) @ (y + y * {i}.0)" for i in range(1500)) + "\n"


class Sessions:
    """A part of the test of an editor, which says how a script is played."""

    editor = ""
    signature = ("total (x : f32[n, m]) : f32[n]", "The sum of each row: Σ.")  # what is shown of a call

    def play(self, environment, script, file, said):
        """Runs the editor's script in a file; the script writes into the file `said`."""
        raise NotImplementedError

    def played(self, script, files):
        """What a script says of the first of some files, and the bytes of them all afterwards."""
        with support.home(self.editor) as environment, tempfile.TemporaryDirectory() as folder:
            for name, content in files.items():
                pathlib.Path(folder, name).write_bytes(content)
            said = os.path.join(folder, "said.json")
            self.play(environment, script, os.path.join(folder, next(iter(files))), said)
            answer = json.loads(pathlib.Path(said).read_text(encoding="utf-8"))
            self.assertEqual(answer.get("problem", ""), "")
            return answer, {name: pathlib.Path(folder, name).read_bytes() for name in files}

    def test_a_session_with_the_language_server(self):
        before = (HERE / "session.axn").read_bytes()
        said, files = self.played("session", {"session.axn": before})
        self.compare_session(said, before.decode(), files["session.axn"].decode())

    def test_lines_that_end_in_two_characters(self):
        before = (HERE / "session.axn").read_text(encoding="utf-8")
        said, files = self.played("session", {"session.axn": before.replace("\n", "\r\n").encode()})
        written = files["session.axn"].decode()
        self.assertEqual(written.count("\n"), written.count("\r\n"))
        self.compare_session(said, before, written.replace("\r\n", "\n"))

    def compare_session(self, said, before, written):
        repaired = before.replace("x @ w", "x @ transpose w")
        renamed = repaired.replace("f32[n", "f32[rows")
        formatted = renamed.replace("total   (", "total (")
        (error,) = said["diagnostics"]
        self.assertEqual((error["line"], error["column"]), (1, before.index("@") + 1))
        self.assertIn("inner dimensions of `@` differ", error["message"])
        self.assertIn("transpose the right operand", said["actions"][0])
        self.assertIn("total : f32[n, m] -> f32[n]", said["hover"])
        self.assertIn("The sum of each row: Σ.", said["hover"])
        self.assertIn("n : i64", said["hover_of_size"])
        for part in self.signature:
            self.assertIn(part, said["signature"])
        self.assertEqual(said["definition"], ["session.axn", 4])
        # In characters, whatever each takes: one line has some beyond 16 bits.
        places = [[number, use.start() + 1] for number, line in enumerate(before.split("\n"), 1) for use in re.finditer(r"\btotal\b", line)]
        self.assertEqual(said["references"], places)
        for step, text in ("repaired", repaired), ("renamed", renamed), ("formatted", formatted):
            self.assertEqual(said[step].rstrip("\n"), text.rstrip("\n"), step)
        self.assertEqual(written, formatted)

    def test_two_files(self):
        main, rows = ((HERE / "workspace" / name).read_text(encoding="utf-8") for name in ("main.axn", "rows.axn"))
        said, _ = self.played("workspace", {"main.axn": main.encode(), "rows.axn": rows.encode()})
        line = {name: number for number, row in enumerate(rows.split("\n"), 1) for name in re.findall(r"^(?:fun|type) (\w+)", row)}
        self.assertEqual(said["definition"], ["rows.axn", line["total"]])
        self.assertEqual(said["type"], ["rows.axn", line["Pair"]])
        self.assertIn(("rows.axn", line["total"]), [tuple(one[:2]) for one in said["symbols"]])
        outline = {re.search(r"\w+$", one if isinstance(one, str) else one[2]).group() for one in said["outline"]}
        self.assertLessEqual({"Pair", "both", "total"}, outline)
        # An error that one file causes in the other is shown there, without a word having been written to the disk.
        self.assertIn("f64", json.dumps(said["broken"]))
        self.assertEqual(said["renamed"].rstrip("\n"), main.replace("rows.total", "rows.sums").rstrip("\n"))
        self.assertEqual(said["renamed_there"].rstrip("\n"), re.sub(r"\btotal\b", "sums", rows).rstrip("\n"))
        self.assertLessEqual({"both", "sums"}, set(said["candidates"]))
        self.compare_more(said)

    def compare_more(self, said):
        """What only some editors can do."""

    def test_the_server_ends_with_the_editor(self):
        """Also where it has much to do, and nobody said good-bye to it."""
        with support.home(self.editor) as environment, tempfile.TemporaryDirectory() as folder:
            file, said = os.path.join(folder, "slow.axn"), os.path.join(folder, "said.json")
            pathlib.Path(file).write_text(SLOW, encoding="utf-8")
            try:
                self.play(environment, "quit", file, said)
                self.assertEqual(json.loads(pathlib.Path(said).read_text(encoding="utf-8")), {"server": True})
                self.assertEqual(remaining(environment), [])
            finally:
                for process in with_home(environment):
                    os.kill(process, signal.SIGKILL)


def with_home(environment):
    """The processes whose home directory is that of an environment, which nobody else has."""
    found, home = [], f"HOME={environment['HOME']}".encode()
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if home in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:  # it has ended, or is somebody else's
            continue
    return found


def remaining(environment, patience=60):
    """The commands of an environment's processes that do not end by themselves."""
    end = time.monotonic() + patience
    while with_home(environment) and time.monotonic() < end:
        time.sleep(0.1)
    return [pathlib.Path(f"/proc/{process}/cmdline").read_bytes() for process in with_home(environment)]


def apart(command):
    """A command in a session of processes of its own: what it leaves running is not ended with it."""
    return [shutil.which("setsid"), "--wait", *command]
