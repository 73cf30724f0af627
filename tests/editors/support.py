"""What the tests of editors share: packages, installation by the README, the lexer's tokens, the compiler's programs.

A test is started as `test_EDITOR.py ETCC BUILD`: the compiler, and a folder for what is fetched and built.
"""

import collections
import contextlib
import os
import pathlib
import re
import shutil
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
    script = f'. "{ROOT}/examples/prepare" && install_packages {" ".join(names)}'
    subprocess.run(["bash", "-c", script], check=True)


def node():
    """Node and npm, from wherever they come."""
    if not (shutil.which("node") and shutil.which("npm")):
        packages("nodejs", "npm")


def npm_folder(name):
    """A copy of the folder NAME below the build folder, with the packages of its lock file: what was installed stays."""
    node()
    folder = Given.build / name
    shutil.copytree(ROOT / name, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules", "dist"))
    stamp, lock = folder / "node_modules" / ".installed", (folder / "package-lock.json").read_text()
    if not (stamp.exists() and stamp.read_text() == lock):
        run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder, timeout=600)
        stamp.write_text(lock)
    return folder


def run(command, timeout=120, **options):
    """Runs a command that has to succeed; what it printed is in the failure, and returned."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit status {done.returncode}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}")
    return done.stdout


def installation(editor):
    """The lines that the README tells to type."""
    text = (EDITORS / editor / "README.md").read_text(encoding="utf-8")
    lines = re.search(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1).splitlines()
    assert 1 <= len(lines) <= 3, lines
    return lines


@contextlib.contextmanager
def home(editor, cwd=ROOT, commands=None):
    """A home directory in which nothing is but what the README's lines make. Gives the environment."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.pathsep.join(filter(None, [commands and str(commands), str(Given.etcc.parent), os.environ["PATH"]]))
        environment = {"HOME": folder, "PATH": path, "TERM": "dumb", "LANG": "C.UTF-8", "TMPDIR": folder}
        run(["bash", "-e", "-c", "\n".join(installation(editor))], cwd=cwd, env=environment, timeout=600)
        yield environment


def programs():
    """The programs of the tutorial and of the library, laid out by `etcc fmt`."""
    found = sorted((ROOT / "examples").rglob("*.axn")) + sorted((ROOT / "stdlib").rglob("*.axn"))
    assert len(found) > 30, found
    return found


def compare_session(test, said):
    """What an editor showed while `session.axn` was worked on: its session's script writes the same for each editor."""
    test.assertEqual(said.get("problem", ""), "")
    before = (HERE / "session.axn").read_text(encoding="utf-8").rstrip("\n")
    repaired = before.replace("x @ w", "x @ transpose w")
    renamed = repaired.replace("f32[n", "f32[rows")
    (error,) = said["diagnostics"]
    test.assertEqual((error["line"], error["column"]), (1, before.index("@") + 1))
    test.assertIn("inner dimensions of `@` differ", error["message"])
    test.assertIn("transpose the right operand", said["actions"][0])
    test.assertEqual(said["repaired"].rstrip("\n"), repaired)
    test.assertIn("total : f32[n, m] -> f32[n]", said["hover"])
    test.assertIn("The sum of each row: Σ.", said["hover"])
    test.assertIn("n : i64", said["hover_of_size"])
    test.assertEqual(said["renamed"].rstrip("\n"), renamed)
    test.assertEqual(said["references"], [[4, 5], [6, 30]])
    test.assertEqual(said["formatted"].rstrip("\n"), renamed.replace("total   (", "total ("))


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
