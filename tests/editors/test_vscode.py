"""The extension of Visual Studio Code: its grammar in the editor's own engine, its parts, its package."""

import json
import os
import pathlib
import re
import tempfile
import unittest
import zipfile

import support
from support import EDITORS, HERE, ROOT, Given

FOLDER = pathlib.Path()


def node(script, *arguments):
    return support.run(["node", str(HERE / "vscode" / script), *map(str, arguments)], cwd=FOLDER)


def manifest():
    return json.loads((EDITORS / "vscode" / "package.json").read_text(encoding="utf-8"))


class Grammar(unittest.TestCase):
    def test_every_construct(self):
        said = support.run(["npx", "--no", "vscode-tmgrammar-test", str(HERE / "vscode" / "constructs.axn")], cwd=FOLDER)
        self.assertIn("run successfuly", said)

    def test_every_word_and_sign_is_among_the_constructs(self):
        table = (ROOT / "compiler" / "syntax" / "tokens.def").read_text(encoding="utf-8")
        text = (HERE / "vscode" / "constructs.axn").read_text(encoding="utf-8")
        code = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
        for spelling in re.findall(r'^(?!CLASS)[A-Z]+\(\w+, "(.*)"\)', table, re.MULTILINE):
            self.assertIn(spelling, code)

    def test_tokens_of_all_programs(self):
        files = [*support.programs(), *sorted((ROOT / "tests" / "format" / "style").glob("*.axn"))]
        grammar = EDITORS / "vscode" / "syntaxes" / "axon.tmLanguage.json"
        node("tokens.mjs", Given.etcc, grammar, ROOT / "compiler" / "syntax" / "tokens.def", *files)

    def test_code_in_markdown(self):
        said = json.loads(node("markdown.mjs", EDITORS / "vscode" / "syntaxes"))
        self.assertEqual(said, {"axn": True, "axon": True, "axn E0310": True, "text": False, "after": False})


class Parts(unittest.TestCase):
    def test_snippets_are_programs(self):
        """Each snippet, with what it proposes at its places, is laid out as `etcc fmt` has it or is a part of such a line."""
        snippets = json.loads((EDITORS / "vscode" / "snippets" / "axon.json").read_text(encoding="utf-8"))
        opens = re.compile(r"^(--\||fun|entry|val|type|test|import)\b|^--\|")
        for name, snippet in snippets.items():
            text = "\n".join(snippet["body"]).replace("$0", "0")
            text = re.sub(r"\$\{\d+:((?:[^{}$]|\$\d)*)\}", r"\1", text)
            text = re.sub(r"\$\{\d+:(.*?)\}", r"\1", text)
            text = re.sub(r"\$3", "s", re.sub(r"\$4", "x", re.sub(r"\$[12]", "y", text)))
            program = text if opens.match(text) else "fun f x =\n" + "\n".join(f"  {line}" for line in text.splitlines())
            with self.subTest(snippet=name):
                support.run([Given.etcc, "fmt", "-"], input=program + "\n")

    def test_problem_matcher(self):
        (matcher,) = manifest()["contributes"]["problemMatchers"]
        pattern = matcher["pattern"]
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "x.axn")
            with open(file, "w", encoding="utf-8") as out:
                out.write("fun g x = nothing\n\nentry f (x : f32[n]) (y : f32[m]) = x + y\n")
            done = support.subprocess.run([Given.etcc, "check", "--error-format=short", file], capture_output=True, text=True, check=False)
        found = [re.match(pattern["regexp"], line) for line in done.stderr.splitlines()]
        found = [one for one in found if one]
        keys = ["file", "line", "column", "severity", "code"]
        self.assertEqual([[one.group(pattern[key]) for key in keys] for one in found],
                         [[file, "1", "11", "error", "E0401"], [file, "3", "37", "error", "E0310"]])

    def test_indentation_rules_compile(self):
        rules = json.loads((EDITORS / "vscode" / "language-configuration.json").read_text(encoding="utf-8"))
        more, less = (re.compile(rules["indentationRules"][key]) for key in ("increaseIndentPattern", "decreaseIndentPattern"))
        self.assertTrue(more.match("fun f x =") and more.match("  for i =>  -- each") and not more.match("-- a =") and not more.match("  x"))
        self.assertTrue(less.match("  in a + b") and less.match("entry f") and not less.match("  input"))
        word = re.compile(rules["wordPattern"])
        for text in "x", "'t", "_a1", "1.5e-3", "f8e4m3":
            self.assertEqual(word.match(text).group(), text)


class Extension(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Does what the README says, with a `code` that only takes the package in."""
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        commands = pathlib.Path(cls.temporary.name)
        code = commands / "code"
        code.write_text(f'#!/bin/sh\n[ "$1" = --install-extension ] && cp "$2" "{commands}/installed.vsix"\n', encoding="utf-8")
        code.chmod(0o755)
        with support.home("vscode", cwd=FOLDER.parents[1], commands=commands):
            cls.package = commands / "installed.vsix"

    def test_the_package_has_what_the_manifest_names(self):
        contributes = manifest()["contributes"]
        named = ["dist/extension.js", "icon.png", "CHANGELOG.md", "LICENSE.txt", "readme.md", "package.json"]
        named += [one["path"] for one in contributes["grammars"] + contributes["snippets"]]
        named += [one["configuration"] for one in contributes["languages"]]
        with zipfile.ZipFile(self.package) as package:
            self.assertIsNone(package.testzip())
            files = {name.lower() for name in package.namelist()}
            for name in named:
                self.assertIn("extension/" + name.removeprefix("./").lower(), files)
            self.assertFalse([name for name in files if "node_modules" in name or name.endswith(".ts")])

    def test_it_starts_and_its_commands_exist(self):
        said = json.loads(node("activate.mjs", FOLDER / "dist" / "extension.js", "/nowhere/etcc"))
        named = [command["command"] for command in manifest()["contributes"]["commands"]]
        self.assertEqual(sorted(said["commands"]), sorted([*named, "axon.run", "axon.test"]))
        self.assertEqual(said["tasks"][0], ["/nowhere/etcc", "check", "--error-format=short", "${file}"])
        self.assertEqual(said["executed"], [["/nowhere/etcc", "run", "/work/a b.axn", "main", "x=[1, 2]", "y=@a.npy"],
                                            ["/nowhere/etcc", "test", "/work/a.axn"]])
        self.assertEqual(said["status"]["text"], "Axon does not run")
        self.assertIn("axon.path", said["status"]["detail"])


if __name__ == "__main__":
    import sys

    Given.build = pathlib.Path(sys.argv[-1]).resolve()
    # The README's lines are typed in a copy of the tree, so that nothing is installed into this one.
    FOLDER = support.npm_folder("editors/vscode")
    support.main()
