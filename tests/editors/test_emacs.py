"""Emacs as a user meets it: installed as the README says, with colours, indentation, and the commands of axon-mode."""

import json
import os
import shutil
import tempfile
import unittest

import sessions
import support
from support import EDITORS, HERE

NAMES = {"", "font-lock-function-name-face", "font-lock-type-face", "axon-field", "axon-shape"}


def emacs(environment, *arguments, program=("emacs",)):
    """Runs Emacs without a terminal, with the user's file."""
    return support.run([*program, "--batch", "-l", f"{environment['HOME']}/.emacs.d/init.el", *arguments], env=environment)


class EmacsColours(support.Colours):
    allowed = {
        "declaration": {"font-lock-keyword-face"},
        "keyword": {"font-lock-keyword-face"},
        "constant": {"font-lock-constant-face"},
        "operator": {"axon-operator"},
        "separator": {"", "axon-operator"},  # `:` and `.` are no words to tell apart from `:>` and `..`
        "bracket": {""},
        "wildcard": {""},
        "name": NAMES,
        "type variable": {"font-lock-type-face"},
        "number": {"axon-number"},
        "string": {"font-lock-string-face"},
        "comment": {"font-lock-comment-face", "font-lock-comment-delimiter-face"},
        "documentation": {"axon-documentation", "font-lock-comment-delimiter-face"},
    }
    contextual_colour = "font-lock-keyword-face"

    def colours(self, queries):
        with support.home("emacs") as environment, tempfile.TemporaryDirectory() as folder:
            asked, said = os.path.join(folder, "asked.json"), os.path.join(folder, "said.json")
            with open(asked, "w", encoding="utf-8") as out:
                json.dump({str(file): [[t.line, t.column] for t in tokens] for file, tokens in queries.items()}, out)
            emacs(environment, "-l", f"{HERE}/emacs/colours.el", asked, said)
            with open(said, encoding="utf-8") as answer:
                given = json.load(answer)
        return {file: given[str(file)] for file in queries}

    def test_colours_are_those_of_the_lexer(self):
        self.compare(support.programs())


class Emacs(unittest.TestCase):
    def test_indenting_is_formatting(self):
        with support.home("emacs") as environment, tempfile.TemporaryDirectory() as folder:
            copies = {file: os.path.join(folder, f"{i}.axn") for i, file in enumerate(support.programs())}
            for file, copy in copies.items():
                with open(copy, "w", encoding="utf-8") as out:
                    out.write(support.without_indentation(file.read_text(encoding="utf-8")))
            emacs(environment, "-l", f"{HERE}/emacs/indent.el", *copies.values())
            for file, copy in copies.items():
                with open(copy, encoding="utf-8") as given, self.subTest(file=file.name):
                    self.assertEqual(given.read(), file.read_text(encoding="utf-8"))

    def test_the_mode(self):
        with support.home("emacs") as environment:
            emacs(environment, "-l", f"{HERE}/emacs/mode.el", "-f", "ert-run-tests-batch-and-exit")

    def test_nothing_is_warned_of(self):
        with tempfile.TemporaryDirectory() as folder:
            for file in sorted((EDITORS / "emacs").glob("*.el")):
                shutil.copy(file, folder)
            files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
            self.assertGreaterEqual(len(files), 3)
            support.run(["emacs", "-Q", "--batch", "-L", folder, "--eval", "(setq byte-compile-error-on-warn t)",
                         "-f", "batch-byte-compile", *files])


class Session(sessions.Sessions, unittest.TestCase):
    editor = "emacs"
    signature = sessions.Sessions.signature[:1]  # eglot leaves out documentation that is Markdown

    def play(self, environment, script, file, said):
        emacs(environment, "-l", f"{HERE}/emacs/{script}.el", file, said, program=sessions.apart(["emacs"]))


if __name__ == "__main__":
    support.packages("emacs-nox", "elpa-eglot")
    support.main()
