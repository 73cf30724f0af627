"""The extension of Visual Studio Code: its grammar in the editor's own engine, its parts, its package."""

import json
import os
import pathlib
import re
import tempfile
import unittest
import zipfile

import protocol
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
                support.run([Given.etcc, "fmt", "-"], text=program + "\n")

    def test_problem_matcher(self):
        (matcher,) = manifest()["contributes"]["problemMatchers"]
        pattern = matcher["pattern"]
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "x.axn")
            with open(file, "w", encoding="utf-8") as out:
                out.write("fun g x = nothing\n\nentry f (x : f32[n]) (y : f32[m]) = x + y\n")
            _, _, said = support.finish([Given.etcc, "check", "--error-format=short", file])
        found = [re.match(pattern["regexp"], line) for line in said.splitlines()]
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


# What the editor knows of itself: https://code.visualstudio.com/api/language-extensions/semantic-highlight-guide
TOKEN_TYPES = set("""namespace class enum interface struct typeParameter type parameter variable property enumMember decorator event function
                     method macro label comment string keyword number regexp operator""".split())
TOKEN_MODIFIERS = set("declaration definition readonly static deprecated abstract async modification documentation defaultLibrary".split())


class Server(unittest.TestCase):
    """What the manifest and the code of the extension say of the language server, asked of the server."""

    def test_its_own_types_of_tokens(self):
        legend = protocol.announced()["semanticTokensProvider"]["legend"]
        contributes = manifest()["contributes"]
        types = {one["id"]: one["superType"] for one in contributes["semanticTokenTypes"]}
        modifiers = {one["id"] for one in contributes["semanticTokenModifiers"]}
        self.assertEqual(set(types), set(legend["tokenTypes"]) - TOKEN_TYPES)
        self.assertLessEqual(set(types.values()), TOKEN_TYPES)
        self.assertEqual(modifiers, set(legend["tokenModifiers"]) - TOKEN_MODIFIERS)
        (scopes,) = contributes["semanticTokenScopes"]
        self.assertLessEqual(set(types), set(scopes["scopes"]))
        for selector in scopes["scopes"]:
            kind, *others = selector.split(".")
            self.assertIn(kind, legend["tokenTypes"])
            self.assertLessEqual(set(others), set(legend["tokenModifiers"]))

    def test_the_commands_of_its_lenses(self):
        """The extension registers them, for addresses as the server writes them."""
        uri = "file:///work/a%20b.axn"
        texts = {uri: 'entry f (x : f32[n]) = x\n\ntest "a title" = true\n\nfun g x = x\n'}
        (_, lenses) = protocol.answers([("textDocument/codeLens", {"textDocument": {"uri": uri}})], texts)
        commands = [lens["command"] for lens in lenses]
        self.assertEqual([(one["title"], one["command"]) for one in commands], [("run", "axon.run"), ("graph", "axon.page"), ("test", "axon.test")])
        commands = [one for one in commands if one["command"] != "axon.page"]  # which the server itself answers
        said = json.loads(node("activate.mjs", FOLDER / "dist" / "extension.js", Given.etcc, json.dumps(commands)))
        self.assertEqual(said["executed"], [[str(Given.etcc), "run", "/work/a b.axn", "f", "x=[1, 2]", "y=@a.npy"],
                                            [str(Given.etcc), "test", "/work/a b.axn"]])

    def test_it_is_started_and_started_again(self):
        restart = [{"command": "axon.restart", "arguments": []}]
        said = json.loads(node("activate.mjs", FOLDER / "dist" / "extension.js", Given.etcc, json.dumps(restart)))
        self.assertEqual([text for text in said["states"] if text in ("Axon", "Axon has stopped", "Axon does not run")],
                         ["Axon", "Axon has stopped"] * 2)
        self.assertEqual(said["output"], [])

    def test_what_the_compiler_makes_of_a_file(self):
        """As it prints it, its errors where there are some."""
        with tempfile.TemporaryDirectory() as folder:
            fine, broken = pathlib.Path(folder, "fine.axn"), pathlib.Path(folder, "broken.axn")
            fine.write_text("entry f (x : f32[n]) = x\n", encoding="utf-8")
            broken.write_text("entry f (x : f32[n]) = y\n", encoding="utf-8")
            shown = [json.loads(node("activate.mjs", FOLDER / "dist" / "extension.js", Given.etcc, "[]", file))["stage"] for file in (fine, broken)]
            self.assertEqual(shown[0], support.run([Given.etcc, "build", "--emit=core", fine]))
            self.assertIn("nothing is called `y` here", shown[1])

    def test_stages_are_those_of_the_compiler(self):
        table = (ROOT / "compiler" / "pipeline.cpp").read_text(encoding="utf-8")
        table = table.split("const std::vector<Stage>& stages()", 1)[1].split("};\n", 1)[0]
        printed = [name for name, row in re.findall(r'\{"(\w+)",(.*?)\},\n', table, re.DOTALL) if not row.endswith("nullptr")]
        offered = re.findall(r'^  \["(\w+)", ', (EDITORS / "vscode" / "src" / "stages.ts").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(offered, printed)


class Extension(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Does what the README says behind its first line, with a `code` that only takes the package in."""
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        commands = pathlib.Path(cls.temporary.name)
        code = commands / "code"
        code.write_text(f'#!/bin/sh\n[ "$1" = --install-extension ] && cp "$2" "{commands}/installed.vsix"\n', encoding="utf-8")
        code.chmod(0o755)
        with support.home("vscode", cwd=FOLDER, commands=commands, lines=support.installation("vscode")[1:]):
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
        commands = [{"command": "axon.run", "arguments": ["file:///work/a%20b.axn", "main"]},
                    {"command": "axon.test", "arguments": ["file:///work/a.axn", "a title"]}, {"command": "axon.restart", "arguments": []}]
        said = json.loads(node("activate.mjs", FOLDER / "dist" / "extension.js", "/nowhere/etcc", json.dumps(commands)))
        named = [command["command"] for command in manifest()["contributes"]["commands"]]
        self.assertEqual(sorted(said["commands"]), sorted([*named, "axon.run", "axon.test"]))
        self.assertEqual(said["tasks"][0], ["/nowhere/etcc", "check", "--error-format=short", "${file}"])
        self.assertEqual(said["executed"], [["/nowhere/etcc", "run", "/work/a b.axn", "main", "x=[1, 2]", "y=@a.npy"],
                                            ["/nowhere/etcc", "test", "/work/a.axn"]])
        message = "Axon: `/nowhere/etcc lsp` does not start. The setting axon.path names the compiler."
        self.assertEqual([one for one in said["errors"] if one.startswith("Axon:")], [message] * 2)  # at first, and at the restart
        self.assertIn(["workbench.action.openSettings", "axon.path"], said["opened"])
        self.assertEqual(said["status"]["text"], "Axon does not run")
        self.assertIn("axon.path", said["status"]["detail"])


if __name__ == "__main__":
    import sys

    Given.build = pathlib.Path(sys.argv[-1]).resolve()
    # The README's lines are typed in a copy of the tree, so that nothing is installed into this one.
    FOLDER = support.npm_folder("vscode")
    support.main()
