"""The language reference is true: every program on the page is checked, every example evaluated, every type compared.

  ```axn          a program that checks; its examples (`--| >>> e`) and tests pass
  ```axn E0312    a program that is refused, with this code and no other
  ```types        behind a program: lines of what `etcc check --types` prints for it
  ```console      behind a program: `$ etcc ... program.axn ...` and its output
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ETCC, PAGE = "", ""
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks():
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    for found in FENCE.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, found.group(1).split(), found.group(2)


def etcc(*arguments, text=None, folder=None):
    done = subprocess.run([ETCC, *arguments], input=text, capture_output=True, text=True, timeout=120, check=False, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def words(line):
    return " ".join(line.split())


class LanguageReference(unittest.TestCase):
    def test_programs(self):
        count = 0
        for line, info, text in blocks():
            if info[:1] != ["axn"]:
                continue
            count += 1
            with self.subTest(line=line):
                status, _, err = etcc("check", "--error-format=short", "-", text=text)
                if len(info) == 1:
                    self.assertEqual((status, err), (0, ""))
                    status, out, _ = etcc("test", "-", text=text)
                    self.assertEqual(status, 0, out)
                    expected = text.count("--| >>> ") + len(re.findall(r"^test ", text, re.MULTILINE))
                    self.assertEqual(out.splitlines()[-1], f"{expected} passed, 0 failed")
                else:
                    self.assertEqual(status, 1)
                    self.assertEqual(set(re.findall(r"error\[(E\d+)\]", err)), {info[1]}, err)
        self.assertGreater(count, 35)

    def test_types(self):
        program, count = "", 0
        for line, info, text in blocks():
            if info == ["axn"]:
                program = text
            if info != ["types"]:
                continue
            printed = [words(one) for one in etcc("check", "--types", "-", text=program)[1].splitlines()]
            for one in text.splitlines():
                count += 1
                with self.subTest(line=line):
                    self.assertIn(words(one), printed)
        self.assertGreater(count, 25)

    def test_commands(self):
        program, count = "", 0
        for line, info, text in blocks():
            if info == ["axn"]:
                program = text
            if info != ["console"]:
                continue
            command, output = text.split("\n", 1)
            count += 1
            with self.subTest(line=line), tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "program.axn"), "w", encoding="utf-8") as file:
                    file.write(program)
                self.assertTrue(command.startswith("$ etcc "))
                status, out, err = etcc(*shlex.split(command)[2:], folder=folder)
                self.assertEqual((status, out, err), (0, output, ""))
        self.assertGreater(count, 0)

    def test_links_on_the_page(self):
        with open(PAGE, encoding="utf-8") as file:
            text = FENCE.sub("", file.read())
        anchors = {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
                   for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
        links = re.findall(r"\]\(#([^)]*)\)", text)
        self.assertGreater(len(links), 20)
        for link in links:
            self.assertIn(link, anchors)

    def test_the_grammar_is_the_one_of_the_parser(self):
        """Every terminal that the parser knows occurs in the grammar on the page."""
        tokens = os.path.join(os.path.dirname(os.path.dirname(PAGE)), "compiler", "syntax", "tokens.def")
        with open(tokens, encoding="utf-8") as file:
            spellings = re.findall(r'^(?:DECLARATION|KEYWORD|SYMBOL|OPENER|CLOSER)\(\w+, "(.*)"\)', file.read(), re.MULTILINE)
        self.assertGreater(len(spellings), 40)
        grammar = [text for _, info, text in blocks() if info == ["text"]][-1]
        for spelling in spellings:
            self.assertIn(f'"{spelling}"', grammar.replace("PREMINUS", '"-"'))


if __name__ == "__main__":
    PAGE = os.path.abspath(sys.argv.pop())
    ETCC = os.path.abspath(sys.argv.pop())
    unittest.main()
