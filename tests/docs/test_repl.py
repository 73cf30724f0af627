"""The page of the REPL is true: in each block ```repl the phrases behind the prompts give what stands below them.

AXON_BLESS=1 writes what they give; lines `...` stand for any lines."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ETCC, PAGE = "", ""
FENCE = re.compile(r"^```repl\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def phrases(block):
    """Pairs of a phrase and what stands below it."""
    found = []
    for line in block.splitlines():
        if line.startswith("axon> "):
            found.append([[line[6:]], []])
        elif line.startswith("....> "):
            found[-1][0].append(line[6:])
        else:
            found[-1][1].append(line)
    return [("\n".join(typed), below) for typed, below in found]


class Session:
    """A REPL in a folder with a file to load."""

    def __init__(self, folder):
        with open(os.path.join(folder, "docs.axn"), "w", encoding="utf-8") as file:
            file.write("--| A half.\nval half = 0.5\n\nfun halved x = x * half\n")
        self.process = subprocess.Popen([ETCC, "repl", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, cwd=folder)

    def answer(self, phrase):
        self.process.stdin.write(json.dumps({"code": phrase}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["text"].splitlines()

    def end(self):
        self.process.communicate(timeout=60)


def matches(expected, got):
    pattern = "\n".join("(.*\n?)*?" if line == "..." else re.escape(line) for line in expected)
    return re.fullmatch(pattern, "\n".join(got)) is not None


class ReplPage(unittest.TestCase):
    maxDiff = None

    def test_examples(self):
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        blocks, count = [], 0
        for block in FENCE.findall(page):
            lines = []
            with tempfile.TemporaryDirectory() as folder:
                session = Session(folder)
                for phrase, below in phrases(block):
                    got = session.answer(phrase)
                    lines += ["axon> " + phrase.replace("\n", "\n....> ")]
                    lines += below if matches(below, got) and "..." in below else got
                    count += 1
                    if not os.environ.get("AXON_BLESS") and not matches(below, got):
                        self.assertEqual(got, below, phrase)
                session.end()
            blocks.append("```repl\n" + "\n".join(lines) + "\n```")
        self.assertGreater(count, 35)
        if os.environ.get("AXON_BLESS"):
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write(FENCE.sub(lambda _: blocks.pop(0), page))

    def test_every_command_is_on_the_page(self):
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        shown = subprocess.run([ETCC, "repl"], input=":help\n", capture_output=True, text=True, check=True).stdout
        commands = re.findall(r"^:(\w+)", shown, re.MULTILINE)
        self.assertGreater(len(commands), 20)
        for command in commands:
            self.assertIn(f"`:{command}", page)


if __name__ == "__main__":
    PAGE = os.path.abspath(sys.argv.pop())
    ETCC = os.path.abspath(sys.argv.pop())
    unittest.main()
