"""The compiler's map is true: what compiler/README.md puts in backticks exists, its lists are those of the code, and
its arrows are the layering that the includes have.

usage: test_map.py ROOT"""
import os
import re
import subprocess
import sys
import unittest

ROOT = sys.argv.pop(1)


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def sources():
    """Every file of the repository, by its path from the root."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    if listed.returncode == 0:
        return listed.stdout.split()
    found = []
    for folder in ("compiler", "runtime", "stdlib", "tests", "editors", "examples", "docs"):
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            found += [os.path.relpath(os.path.join(path, name), ROOT) for name in names]
    return found


TEXT = read("compiler", "README.md")
QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", TEXT)))
FILES = sources()


class Map(unittest.TestCase):
    def test_every_file_exists(self):
        for name in QUOTED:
            if re.fullmatch(r"[\w/.-]+\.(cpp|h|def|axn|py|txt)", name):
                self.assertTrue([f for f in FILES if ("/" + f).endswith("/" + name)], name)

    def test_every_folder_exists(self):
        folders = {os.path.dirname(f) + "/" for f in FILES}
        for name in QUOTED:
            if re.fullmatch(r"[\w/]+/|(tests|runtime|graph|lsp|source)/[\w/]+", name):
                path = name.rstrip("/") + "/"
                known = any(("/" + folder).find("/" + path) >= 0 for folder in folders)
                file = any(("/" + f).rsplit(".", 1)[0].endswith("/" + name) for f in FILES)
                self.assertTrue(known or file, name)

    def test_every_name_of_the_code_exists(self):
        code = "".join(read(f) for f in FILES if f.startswith("compiler/") and f.endswith(".h"))
        for name in QUOTED:
            if re.fullmatch(r"\w+(::\w+)+", name):
                for part in name.split("::")[1:]:
                    self.assertRegex(code, rf"\b{part}\b", name)

    def test_the_table_lists_every_folder(self):
        rows = set(re.findall(r"^\| `(\w+)` \|", TEXT, re.M))
        folders = {f.split("/")[1] for f in FILES if f.startswith("compiler/") and f.count("/") > 1}
        self.assertEqual(rows, folders)

    def test_the_stages_are_those_of_the_pipeline(self):
        stages = re.findall(r'^      \{"(\w+)", ".*?", \w+,\s*(\w+)\}', read("compiler", "pipeline.cpp"), re.M)
        printed = [name for name, prints in stages if prints != "nullptr"]
        self.assertGreater(len(printed), 5)
        self.assertEqual(re.search(r"--emit=([\w|]+) FILE", TEXT)[1].split("|"), printed)

    def test_every_error_exists(self):
        known = read("compiler", "source", "diagnostics.def")
        for code in set(re.findall(r"\bE\d{4}\b", TEXT)):
            self.assertIn(code, known)

    def test_nothing_includes_what_is_behind_it(self):
        for arrow in re.findall(r"`(\w+(?: <- \w+)+)`", TEXT):
            layers = arrow.split(" <- ")
            for at, layer in enumerate(layers):
                for file in FILES:
                    if not file.startswith(f"compiler/{layer}/") or not file.endswith((".h", ".cpp")):
                        continue
                    for later in layers[at + 1:]:
                        self.assertNotRegex(read(file), rf'#include "{later}/', f"{file} is before {later}")

    def test_only_these_see_llvm_and_z3(self):
        for file in FILES:
            if not file.startswith(("compiler/", "runtime/")) or not file.endswith((".h", ".cpp")):
                continue
            text = read(file)
            if not file.startswith(("compiler/module/", "compiler/image/", "runtime/emulator/")):
                wrong = [i for i in re.findall(r'#include [<"](llvm/[^">]*)', text) if "LineEditor" not in i]
                self.assertFalse(wrong, file)
            if file != "compiler/shape/z3.cpp":
                self.assertNotRegex(text, r"#include <z3", file)
            if file.startswith("runtime/"):
                self.assertNotRegex(text, r'#include "(base|core|graph|task|plan|module|shape)/', file)


if __name__ == "__main__":
    unittest.main()
