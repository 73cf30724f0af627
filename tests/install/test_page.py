"""The page "Weights, and calling from C and Python" is true: typed along in a fresh home, every file of it saved and every
command run in order, it prints what it says. AXON_BLESS=1 writes into the page what is printed.

  ```console         `$ command` and what it prints, on stdout or stderr; a line `...`, or such an end of a line, is anything
  ```LANGUAGE NAME   the file NAME, which the words above name as well
"""

import os
import re
import subprocess
import unittest

import installed
from installed import WithFolder, bare_environment

PAGE = "weights-c-python.md"
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "--- the command has ended: "


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def commands(block):
    """Pairs of a command and the lines below it."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def pattern(lines):
    """A regular expression for what stands below a command."""
    text = "".join("(?:.*\n)*" if line == "..." else
                   re.escape(line.removesuffix("...")) + (".*" if line.endswith("...") else "") + "\n" for line in lines)
    return re.compile(text)


class Shell:
    """One bash for the whole page, so that `cd` and `export` hold for what follows."""

    def __init__(self, folder, environment):
        self.process = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, cwd=folder, env=environment)

    def type(self, command):
        """All that the command prints."""
        self.process.stdin.write(f"{{ {command}\n}} < /dev/null\necho '{END}'$?\n")
        self.process.stdin.flush()
        lines = []
        while not lines or not lines[-1].startswith(END):
            lines.append(self.process.stdout.readline())
            if not lines[-1]:
                raise AssertionError(f"the shell ended at: {command}\n{''.join(lines)}")
        return "".join(lines[:-1])

    def folder(self):
        return self.type("pwd").strip()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Page(WithFolder):
    def setUp(self):
        os.makedirs(self.path("home"))
        os.makedirs(self.path("source"))  # the build tree under the name that it has on the page
        os.symlink(installed.BUILD, self.path("source", "build"))
        for name in ("runtime", "examples"):
            os.symlink(os.path.join(installed.SOURCE, name), self.path("source", name))
        environment = bare_environment(HOME=self.path("home"))
        environment["PATH"] = "/usr/bin:" + environment["PATH"]  # Debian's Python
        self.shell = Shell(self.path("source"), environment)
        self.addCleanup(self.shell.close)

    def save(self, text, found):
        """A file of the page, whose name the words above have, too."""
        name = found.group(1).split()[1]
        above = FENCE.sub("", text[:found.start()]).rstrip("\n").rsplit("\n\n", 1)[-1]
        self.assertIn(f"`{name}`", above)
        with open(os.path.join(self.shell.folder(), name), "w", encoding="utf-8") as file:
            file.write(found.group(2))

    def test_typed_along(self):
        path = os.path.join(installed.SOURCE, "docs", PAGE)
        text, blessed, end, count = read(path), "", 0, 0
        for found in FENCE.finditer(text):
            info = found.group(1).split()
            self.assertTrue(info and (info == ["console"] or len(info) == 2), f"what is a block ```{found.group(1)}")
            if info != ["console"]:
                self.save(text, found)
                continue
            out = ""
            for command, below in commands(found.group(2)):
                count += 1
                printed = self.shell.type(command)
                fits = pattern(below).fullmatch(printed)
                if not os.environ.get("AXON_BLESS"):
                    self.assertTrue(fits, f"$ {command}\n{printed}\nand the page says\n" + "\n".join(below))
                out += f"$ {command}\n" + ("".join(line + "\n" for line in below) if fits else printed)
            blessed += text[end:found.start(2)] + out
            end = found.end(2)
        self.assertGreater(count, 20)
        if os.environ.get("AXON_BLESS"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(blessed + text[end:])


class Text(unittest.TestCase):
    def test_the_example_in_c_is_the_one_of_the_examples(self):
        text = read(os.path.join(installed.SOURCE, "docs", PAGE))
        files = {found.group(1).split()[1]: found.group(2) for found in FENCE.finditer(text) if found.group(1) != "console"}
        for name in ("main.c", "CMakeLists.txt", "classify.axn"):
            self.assertEqual(files[name], read(os.path.join(installed.SOURCE, "examples", "c", name)), name)

    def test_links(self):
        text = FENCE.sub("", read(os.path.join(installed.SOURCE, "docs", PAGE)))
        titles = [re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.M)]
        anchors = {title + (f"-{titles[:n].count(title)}" if title in titles[:n] else "") for n, title in enumerate(titles)}
        links = re.findall(r"\]\(([^)]*)\)", text)
        self.assertGreater(len(links), 10)
        for link in links:
            if link.startswith("#"):
                self.assertIn(link[1:], anchors)
            else:
                self.assertTrue(os.path.exists(os.path.join(installed.SOURCE, "docs", link.split("#")[0])), link)


if __name__ == "__main__":
    installed.main()
