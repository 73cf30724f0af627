"""Runs every `-- run:` line of the numbered lessons, compares the output with the `-- output:` block below;
and the README's program with every `$` line of its console block.

usage: test_lessons.py ETCC [--bless]

A run line ends with a backslash when it goes on in the next comment line. The output is stdout, then stderr,
as they are; an empty line of it is a bare `--`. --bless rewrites the blocks.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

root = Path(__file__).resolve().parents[2]
arguments = [argument for argument in sys.argv[1:] if argument != "--bless"]
etcc, bless = Path(arguments[0]).resolve(), "--bless" in sys.argv
lessons = sorted(root.glob("examples/[0-9][0-9]_*.axn"))


def output_of(command, directory=root):
    # Lists in arguments are words of their own: the shell must not take [3,4] for a pattern.
    script = f'etcc() {{ "$ETCC" "$@"; }}\n{command}'
    environment = dict(os.environ, ETCC=str(etcc), NO_COLOR="1")
    result = subprocess.run(["bash", "-f", "-c", script], cwd=directory, env=environment, capture_output=True,
                            text=True, timeout=120)
    return result.stdout + result.stderr


def blocks(lines):
    """(command, first line of the expected output, line after it) of each run."""
    at = 0
    while at < len(lines):
        found = re.match(r"-- run: (.*)", lines[at])
        at += 1
        if not found:
            continue
        command = found[1]
        while command.endswith("\\"):
            command = command[:-1].rstrip() + " " + lines[at][2:].strip()
            at += 1
        assert lines[at] == "-- output:", f"`-- output:` expected after `-- run: {command}`"
        start = at = at + 1
        while at < len(lines) and (lines[at] == "--" or lines[at].startswith("--   ")):
            at += 1
        yield command, start, at


def commented(text):
    return [f"--   {line}" if line else "--" for line in text.splitlines()]


def readme_blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)


class Readme(unittest.TestCase):
    def test_the_program_does_what_is_shown(self):
        (program,), (console,) = readme_blocks("axon"), readme_blocks("console")
        commands = re.findall(r"^\$ (.*)$", console, re.MULTILINE)
        self.assertTrue(commands)
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "program.axn").write_text(program)
            actual = "".join(f"$ {command}\n{output_of(command, directory)}" for command in commands)
        self.assertEqual(actual, console)


class Lessons(unittest.TestCase):
    def test_there_are_lessons(self):
        self.assertGreaterEqual(len(lessons), 5)


def add_test(lesson):
    def test(self):
        lines = lesson.read_text().splitlines()
        runs = list(blocks(lines))
        self.assertTrue(runs, "a lesson has at least one run")
        for command, start, end in reversed(runs):
            actual = commented(output_of(command))
            if bless:
                lines[start:end] = actual
            else:
                self.assertEqual("\n".join(actual), "\n".join(lines[start:end]), command)
        if bless:
            lesson.write_text("\n".join(lines) + "\n")
    setattr(Lessons, f"test_{lesson.stem}", test)


for lesson in lessons:
    add_test(lesson)
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
