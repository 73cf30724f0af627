"""Pages of entries in Chromium: what they compute is what the compiler does, and what they draw can be read.

usage: test_page.py PAGE_MAKESPANS ETCC BUILD. AXON_PICTURES names a folder for a picture of each tab.
"""

import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "editors"))
import support  # noqa: E402
from support import Given  # noqa: E402

MAKESPANS = ""
HERE = ROOT / "tests" / "page"
MODELS = ROOT / "examples" / "models"
ENTRIES = [(MODELS / "llama.axn", "decode"), (MODELS / "moe.axn", "sparse_logits"), (MODELS / "resnet.axn", "classify"), (ROOT / "examples" / "04_attention.axn", "self_attention")]


def unrolled(layers):
    """A network whose layers are written out one after the other."""
    parameters = "".join(f" (w{i} : f32[d, d]) (v{i} : f32[d])" for i in range(layers))
    steps = "".join(f"  let x = softmax (x @ w{i}) + v{i}\n" for i in range(layers))
    return f"entry deep (x : f32[m, d]){parameters} =\n{steps}  in x\n"


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        (folder / "deep.axn").write_text(unrolled(90), encoding="utf-8")
        (folder / "one.axn").write_text("--| A line.\nentry one (x : f32[n, m]) =\n  let y = x + 1.0\n  in sum (softmax y)\n", encoding="utf-8")
        pages, cls.cases = {}, []
        for file, entry in [*ENTRIES, (folder / "one.axn", "one"), (folder / "deep.axn", "deep")]:
            pages[entry] = str(folder / f"{entry}.html")
            support.run([Given.etcc, "explain", file, entry, "--graph", "-o", pages[entry]])
        for file, entry in [*ENTRIES, (folder / "one.axn", "one")]:
            for line in support.run([MAKESPANS, str(file), entry]).splitlines():
                one = json.loads(line)
                if "end" in one and one["schedule"] == "events":
                    cls.cases.append({**one, "page": entry})
        (folder / "pages.json").write_text(json.dumps(pages), encoding="utf-8")
        (folder / "cases.json").write_text(json.dumps(cls.cases), encoding="utf-8")
        pictures = os.environ.get("AXON_PICTURES")
        said = json.loads(support.run(["node", str(HERE / "user.mjs"), str(folder / "pages.json"), str(folder / "cases.json"), *filter(None, [pictures])],
                                          timeout=300, env={**os.environ, "TMPDIR": cls.folder.name}))
        cls.seen, cls.problems = said["pages"], said["problems"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_nothing_goes_wrong(self):
        self.assertEqual(self.problems, [])

    def test_makespans_are_those_of_the_compiler(self):
        self.assertGreater(len(self.cases), 150)
        for name, seen in self.seen.items():
            asked = [one for one in self.cases if one["page"] == name]
            self.assertEqual(len(asked), len(seen["ends"]))
            for one, end in zip(asked, seen["ends"]):
                self.assertEqual(end, one["end"], one)

    def test_both_schedules_are_those_of_the_compiler(self):
        """By the script alone, which has not to be in a page for that."""
        said = support.run(["node", str(HERE / "schedules.mjs"), str(MAKESPANS), str(MODELS / "llama.axn"), "decode"])
        checked, wrong = json.loads(said)
        self.assertEqual(wrong, [])
        self.assertGreater(checked, 80)

    def test_what_is_drawn_can_be_read(self):
        for name, seen in self.seen.items():
            self.assertEqual(seen["faults"], [], name)
            self.assertEqual(seen["wide"], [], name)
            for tab, drawn in seen["tabs"].items():
                if tab != "plan":
                    self.assertGreater(drawn["boxes"], 0, f"{name} {tab}")

    def test_large_programs_are_drawn_in_time_and_in_parts(self):
        for tab, drawn in self.seen["deep"]["tabs"].items():
            self.assertLess(drawn["spent"], 2000, tab)
        self.assertLess(self.seen["deep"]["tabs"]["graph"]["boxes"], 130)

    def test_a_click_shows_the_place(self):
        reader = self.seen["one"]["reader"]
        self.assertRegex(reader["chosen"], r"\.\d+$")
        self.assertIn(reader["line"], {"3", "4"})
        self.assertTrue(re.fullmatch(r"vscode://file/.*one\.axn:\d+:\d+", reader["editor"]), reader["editor"])

    def test_sizes_change_the_picture(self):
        reader = self.seen["one"]["reader"]
        self.assertNotEqual(reader["before"], reader["after"])
        self.assertNotIn("NaN", reader["large"])
        self.assertIn("size.n=", reader["hash"])


if __name__ == "__main__":
    MAKESPANS = sys.argv.pop(1)
    support.packages("chromium", "fonts-dejavu-core")
    support.node()
    support.main()
