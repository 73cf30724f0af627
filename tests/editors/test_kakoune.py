"""Kakoune as a user meets it: installed as the README says. Its interface of JSON tells the colours."""

import json
import os
import pathlib
import subprocess
import tempfile
import threading
import tomllib
import unittest

import protocol
import support
from support import EDITORS

# A foreground colour for each face, so that what is drawn tells which face it has.
FACES = ["keyword", "type", "variable", "value", "function", "operator", "string", "comment", "documentation", "meta", "attribute"]
COLOURS = {f"rgb:0000{number:02x}": face for number, face in enumerate(FACES, start=1)}
CURSORS = ["PrimaryCursor", "PrimaryCursorEol", "PrimarySelection"]


def drawing(environment, file):
    """Opens a file and gives its lines once they are drawn in full: lists of (character, face)."""
    wanted = file.read_text(encoding="utf-8").splitlines(keepends=True)
    faces = [f"set-face global {face} {colour}" for colour, face in COLOURS.items()]
    faces += [f"set-face global {face} default" for face in CURSORS]
    commands = "; ".join([*faces, f"edit '{file}'"])  # what is drawn of the file has the colours
    process = subprocess.Popen(["kak", "-ui", "json", "-e", commands], env=environment,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    deadline = threading.Timer(30, process.kill)
    deadline.start()
    try:
        for row in process.stdout:
            message = json.loads(row)
            if message["method"] != "draw":
                continue
            lines = [[(char, COLOURS.get(atom["face"]["fg"], "")) for atom in line for char in atom["contents"]]
                     for line in message["params"][0]]
            if ["".join(char for char, _ in line) for line in lines] == wanted:
                return lines
            # It begins with a window of 80 by 24, and draws a larger one with the next key.
            for method, params in ("resize", [2000, 300]), ("keys", ["<esc>"]):
                process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}) + "\n")
            process.stdin.flush()
        raise AssertionError(f"Kakoune ended before it drew {file}")
    finally:
        deadline.cancel()
        process.kill()
        process.communicate()


def kakoune(environment, commands, file):
    """Runs commands in a window of a file that nobody sees."""
    support.run(["kak", "-ui", "dummy", "-e", f"{commands}; quit", str(file)], env=environment)


class KakouneColours(support.Colours):
    allowed = {
        "declaration": {"keyword"},
        "keyword": {"keyword"},
        "constant": {"value"},
        "operator": {"operator"},
        "separator": {""},
        "bracket": {""},
        "wildcard": {""},
        "name": {"", "function", "type", "variable"},
        "type variable": {"type"},
        "number": {"value"},
        "string": {"string"},
        "comment": {"comment"},
        "documentation": {"documentation"},
    }
    contextual_colour = "attribute"

    def colours(self, queries):
        answers = {}
        with support.home("kakoune") as environment:
            for file, tokens in queries.items():
                lines = drawing(environment, file)
                answers[file] = [lines[token.line][token.column][1] for token in tokens]
        return answers

    def test_colours_are_those_of_the_lexer(self):
        self.compare(support.programs())


class Kakoune(unittest.TestCase):
    def edited(self, text, commands):
        with support.home("kakoune") as environment, tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "x.axn")
            with open(file, "w", encoding="utf-8") as out:
                out.write(text)
            kakoune(environment, f"{commands}; write", file)
            with open(file, encoding="utf-8") as given:
                return given.read()

    def test_formatting(self):
        for program in support.programs()[:8]:
            wanted = program.read_text(encoding="utf-8")
            self.assertEqual(self.edited(support.without_indentation(wanted), "format"), wanted)

    def test_new_lines(self):
        typed = "execute-keys -with-hooks 'ggA<ret>for i =<gt><ret>sum j =<gt><ret>x[i, j]<esc>'"
        self.assertEqual(self.edited("fun f x =\n", typed), "fun f x =\n  for i =>\n    sum j =>\n      x[i, j]\n")
        typed = "execute-keys -with-hooks 'ggO--| Documentation<ret>of f.<esc>'"
        self.assertEqual(self.edited("fun f x = x\n", typed), "--| Documentation\n--| of f.\nfun f x = x\n")

    def test_comments(self):
        self.assertEqual(self.edited("fun f x = x\n", "comment-line"), "-- fun f x = x\n")

    def test_the_language_server_is_named(self):
        """By the option of a plug-in that is there, and by the file of an old one; without either there is no error."""
        entries = [tomllib.loads((EDITORS / "kakoune" / "kak-lsp.toml").read_text(encoding="utf-8"))["language"]["axon"]]
        with support.home("kakoune") as environment, tempfile.TemporaryDirectory() as folder:
            said = os.path.join(folder, "said.toml")
            tell = f"echo -to-file {said} %opt{{lsp_servers}}"
            kakoune(environment, f"declare-option str lsp_servers; edit {folder}/new.axn; {tell}", os.path.join(folder, "x.txt"))
            entries.append(tomllib.loads(pathlib.Path(said).read_text(encoding="utf-8"))["etcc"])
            for entry in entries:
                self.assertEqual(entry["filetypes"], ["axon"])
                self.assertIn("hoverProvider", protocol.announced(command=[entry["command"], *entry["args"]], env=environment))


if __name__ == "__main__":
    support.packages("kakoune")
    support.main()
