"""The page with an editor, in Chromium: what is recorded, and each feature of the real server behind it."""

import json
import os
import pathlib
import tempfile
import unittest

import support
from support import HERE, Given

FOLDER = pathlib.Path()
PROGRAMS = {file.name: file.read_text(encoding="utf-8") for file in (support.EDITORS / "web" / "programs").glob("*.axn")}


class Web(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        environment = {**os.environ, "PATH": f"{Given.etcc.parent}{os.pathsep}{os.environ['PATH']}"}
        with tempfile.TemporaryDirectory() as folder:
            pictures = os.environ.get("AXON_PICTURES", folder)  # a folder of one's own, to look at them
            cls.said = json.loads(support.run(["node", str(HERE / "web" / "session.mjs"), str(FOLDER), pictures],
                                              env=environment, timeout=300))
        cls.environment = environment

    def test_the_session_came_to_its_end(self):
        self.assertEqual(self.said.get("problem", ""), "")
        self.assertEqual(self.said["exceptions"], [])

    def test_what_is_recorded_is_what_the_server_says(self):
        support.run(["node", "record.js", "--check"], cwd=FOLDER, env=self.environment)

    def test_a_page_without_a_server(self):
        recorded = self.said["recorded"]
        self.assertIn("inner dimensions of `@` differ", recorded["problems"])
        self.assertIn("network : f32[b, d] -> f32[d, h] -> f32[c, h] -> f32[b, c]", recorded["hover"])
        self.assertEqual(recorded["keyword"], "rgb(130, 80, 223)")
        self.assertEqual((recorded["changed"], recorded["left"]), ("changed: nothing is recorded of this text", "No problems."))

    def test_only_the_page_is_served(self):
        """Another page, no page, the page; another name of this machine, a file outside, the page."""
        self.assertEqual(self.said["strangers"], [403, 403, 101, 404, 404, 200])

    def test_errors_and_repairs(self):
        self.assertIn("inner dimensions of `@` differ", self.said["problems"])
        self.assertTrue(any("state what all else fits" in one for one in self.said["repairs"]), self.said["repairs"])
        self.assertEqual(self.said["repaired"], PROGRAMS["layer.axn"].replace("u : f32[c, h]", "u : f32[h, c]"))

    def test_reading(self):
        self.assertIn("total : f32[n, m] -> f32[n]", self.said["hover"])
        self.assertIn("The sum of each row.", self.said["hover"])
        self.assertIn("n : i64", self.said["hoverOfSize"])
        self.assertEqual(self.said["lenses"], ["run"])

    def test_the_server_tells_sizes_from_values(self):
        colours = self.said["colours"]
        self.assertEqual(colours["n"], colours["m"])
        self.assertEqual(colours["sum"], colours["total"])
        self.assertEqual(len({colours["n"], colours["x"], colours["f32"], colours["total"]}), 4)

    def test_writing(self):
        first, total, rest = PROGRAMS["rows.axn"].split("\n", 2)
        renamed = "\n".join([first, total.replace("n, m", "rows, m").replace("f32[n]", "f32[rows]"), rest])
        self.assertEqual(self.said["renamed"], renamed)
        self.assertEqual(self.said["formatted"], renamed)

    def test_nothing_is_wider_than_the_screen(self):
        self.assertLessEqual(self.said["overflow"], 0)


if __name__ == "__main__":
    import sys

    Given.build = pathlib.Path(sys.argv[-1]).resolve()
    support.packages("chromium", "fonts-dejavu-core")
    FOLDER = support.npm_folder("editors/web")
    support.run(["npm", "run", "build"], cwd=FOLDER)
    support.main()
