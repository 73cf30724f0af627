"""What the tests of editors share: packages, installation by the README, the lexer's tokens, the compiler's programs.

A test is started as `test_EDITOR.py ETCC BUILD`: the compiler, and a folder for what is fetched and built.
"""

import collections
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EDITORS = ROOT / "editors"
HERE = ROOT / "tests" / "editors"


class Given:
    """What the command line names."""

    etcc = pathlib.Path()
    build = pathlib.Path()


def main():
    """The tests of the calling module."""
    Given.build = pathlib.Path(sys.argv.pop()).resolve()
    Given.etcc = pathlib.Path(sys.argv.pop()).resolve()
    Given.build.mkdir(parents=True, exist_ok=True)
    unittest.main()


def packages(*names):
    """Installs Debian packages that are missing, as examples/prepare does."""
    run(["bash", "-c", f'. "{ROOT}/examples/prepare" && install_packages {" ".join(names)}'], timeout=900)


def node():
    """Node and npm, from wherever they come."""
    if not (shutil.which("node") and shutil.which("npm")):
        packages("nodejs", "npm")


def npm_folder(editor):
    """A copy of the editor's folder below the build folder, in which the first line of its README has been typed.

    That line is `cd editors/EDITOR && npm ci`. What it installed stays, as long as neither it nor the lock file changes.
    """
    node()
    name = f"editors/{editor}"
    folder = Given.build / name
    shutil.copytree(ROOT / name, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules", "dist"))
    first = installation(editor)[0]
    assert first == f"cd {name} && npm ci", first
    stamp, wanted = folder / "node_modules" / ".installed", first + (folder / "package-lock.json").read_text()
    if not (stamp.exists() and stamp.read_text() == wanted):
        with home(editor, cwd=Given.build, lines=[first]):
            stamp.write_text(wanted)
    return folder


def run(command, timeout=120, text="", **options):
    """Runs a command that has to succeed, with a text as its input; gives what it printed, which is in the failure too.

    It leads a group of processes, and none of them is left when it ends. What they print goes to files: a process that leaves
    the group and keeps its output open cannot make the test wait.
    """
    status, printed, said = finish(command, timeout, text, **options)
    if status != 0:
        reason = f"took more than {timeout} s" if status is None else f"exit status {status}"
        raise AssertionError(f"{command}: {reason}\n{printed[-6000:]}\n{said[-6000:]}")
    return printed


def finish(command, timeout=120, text="", **options):
    """The same for a command that may fail: its exit status, None of one that did not end, what it printed and said."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as said:
        given.write(text.encode())
        given.seek(0)
        process = subprocess.Popen(command, stdin=given, stdout=printed, stderr=said, start_new_session=True, **options)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = None
        end_group(process)
        streams = []
        for stream in printed, said:
            stream.seek(0)
            streams.append(stream.read().decode(errors="replace"))
        return status, *streams


def end_group(process):
    """Ends a process and all that it started in its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def installation(editor):
    """The lines that the README tells to type."""
    text = (EDITORS / editor / "README.md").read_text(encoding="utf-8")
    lines = re.search(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1).splitlines()
    assert 1 <= len(lines) <= 3, lines
    return lines


@contextlib.contextmanager
def home(editor, cwd=ROOT, commands=None, lines=None):
    """A home directory in which nothing is but what the README's lines make, or these of them. Gives the environment."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.pathsep.join(filter(None, [commands and str(commands), str(Given.etcc.parent), os.environ["PATH"]]))
        environment = {"HOME": folder, "PATH": path, "TERM": "dumb", "LANG": "C.UTF-8", "TMPDIR": folder}
        run(["bash", "-e", "-c", "\n".join(installation(editor) if lines is None else lines)], cwd=cwd, env=environment, timeout=600)
        yield environment


def without_compiler(environment):
    """The same environment, in whose PATH there is no `etcc`."""
    parts = environment["PATH"].split(os.pathsep)
    return {**environment, "PATH": os.pathsep.join(part for part in parts if not os.path.exists(os.path.join(part, "etcc")))}


def programs():
    """The programs of the tutorial and of the library, laid out by `etcc fmt`."""
    found = sorted((ROOT / "examples").rglob("*.axn")) + sorted((ROOT / "stdlib").rglob("*.axn"))
    assert len(found) > 30, found
    return found


def without_indentation(text):
    return re.sub(r"^ +", "", text, flags=re.MULTILINE)


Token = collections.namedtuple("Token", "line column category text")  # counted from 0, columns in characters

CATEGORIES = {"DECLARATION": "declaration", "KEYWORD": "keyword", "SYMBOL": "operator", "OPENER": "bracket", "CLOSER": "bracket"}
CLASSES = {"IDX": "bracket", "PREMINUS": "operator", "ID": "name", "TYVAR": "type variable", "NUM": "number", "STR": "string"}
SPELLINGS = {",": "separator", ":": "separator", ".": "separator", "_": "wildcard", "true": "constant", "false": "constant"}


def categories():
    """What each kind of token is, from the lexer's table."""
    table = (ROOT / "compiler" / "syntax" / "tokens.def").read_text(encoding="utf-8")
    found = dict(CLASSES)
    for row, kind, spelling in re.findall(r'^([A-Z]+)\((\w+), "(.*)"\)', table, re.MULTILINE):
        if row != "CLASS":
            found[kind] = SPELLINGS.get(spelling, CATEGORIES[row])
    return found


def tokens(file):
    """The tokens of a program as the compiler reads it, and its comments."""
    kinds, found = categories(), []
    lines = file.read_text(encoding="utf-8").split("\n")
    bare = [list(line) for line in lines]
    for row in run([Given.etcc, "build", "--emit=tokens", file]).splitlines():
        line, column, kind, text = re.fullmatch(r"(\d+):(\d+) +(\w+)(?:  (.*))?", row).groups()
        if kind == "END":
            continue
        line, column = int(line) - 1, int(column) - 1
        found.append(Token(line, column, kinds[kind], text))
        bare[line][column : column + len(text)] = " " * len(text)
    for line, rest in enumerate(bare):
        comment = "".join(rest).strip()
        if comment:
            category = "documentation" if comment.startswith("--|") else "comment"
            found.append(Token(line, "".join(rest).index("-"), category, comment))
    return found


class Colours(unittest.TestCase):
    """Compares the colours of a real editor with the lexer. Derived classes say what is `allowed` and give `colours`."""

    allowed = {}  # category: the names of colours that it may have
    contextual = {"weights", "into"}  # names to the lexer that mean something at certain places
    contextual_colour = ""

    def colours(self, queries):
        """For {file: [token]} the list of their colours."""
        raise NotImplementedError

    def compare(self, files):
        queries = {file: tokens(file) for file in files}
        answers = self.colours(queries)
        wrong, count = [], 0
        for file, asked in queries.items():
            self.assertEqual(len(asked), len(answers[file]), file)
            for token, colour in zip(asked, answers[file]):
                count += 1
                fine = colour in self.allowed[token.category]
                if not fine and token.text in self.contextual and colour == self.contextual_colour:
                    fine = True
                if not fine:
                    wrong.append(f"{file}:{token.line + 1}:{token.column + 1}: {token.category} {token.text} is {colour or 'nothing'}")
        self.assertEqual(wrong[:30], [], f"{len(wrong)} of {count} tokens")
        self.assertGreater(count, 1000)
