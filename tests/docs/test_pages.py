"""`etcc doc`: the pages of a small module are as expected; on the pages of the library every link leads somewhere,
the search index names every declaration, and nothing is fetched from a network.

AXON_BLESS=1 rewrites the expected pages."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag

ETCC, ROOT = "", ""
HERE = os.path.dirname(os.path.abspath(__file__))
VOID = {"meta", "link", "input", "hr", "br"}


class Page(HTMLParser):
    """The links and anchors of a page; fails when tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.open, self.resources = [], set(), [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attrs:
            assert attrs["id"] not in self.anchors, attrs["id"]
            self.anchors.add(attrs["id"])
        if "href" in attrs:
            self.links.append(attrs["href"])
        if "src" in attrs:
            self.links.append(attrs["src"])

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()


def doc(out, *arguments):
    return subprocess.run([ETCC, "doc", *arguments, "-o", out], capture_output=True, text=True, timeout=300, check=False)


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(path, name), folder) for path, _, names in os.walk(folder) for name in names)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


class Pages(unittest.TestCase):
    def check_links(self, out):
        pages = {name: Page(read(out, name)) for name in files_below(out) if name.endswith(".html")}
        count = 0
        for name, page in pages.items():
            for link in page.links:
                self.assertNotIn("://", link)
                path, anchor = urldefrag(link)
                target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
                self.assertTrue(os.path.exists(os.path.join(out, target)), f"{name}: {link}")
                if anchor:
                    self.assertIn(unquote(anchor), pages[target].anchors, f"{name}: {link}")
                count += 1
        return pages, count

    def test_a_small_module(self):
        with tempfile.TemporaryDirectory() as out:
            done = doc(out, os.path.join(HERE, "pages", "shapes.axn"))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            self.assertEqual(files_below(out), ["index.html", "search.js", "search.json", "shapes.html",
                                                "source/shapes.html", "style.css"])
            for name in ("index.html", "shapes.html", "search.json"):
                # The page shows the file's name as it was given.
                text = read(out, name).replace(HERE, "tests/docs")
                expected = os.path.join(HERE, "pages", name + ".expected")
                if os.environ.get("AXON_BLESS"):
                    with open(expected, "w", encoding="utf-8") as file:
                        file.write(text)
                self.assertEqual(text, read(expected))
            self.check_links(out)

    def test_the_library(self):
        with tempfile.TemporaryDirectory() as out:
            done = doc(out, os.path.join(ROOT, "stdlib"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            pages, links = self.check_links(out)
            self.assertGreater(links, 500)
            index = json.loads(read(out, "search.json"))
            names = {entry["name"] for entry in index}
            self.assertLessEqual({"matmul", "softmax", "add", "fold", "rms_norm"}, names)
            for entry in index:
                page, anchor = entry["url"].split("#")
                self.assertIn(anchor, pages[page].anchors)
                self.assertNotEqual(entry["type"], "?", entry["name"])
            self.assertTrue(read(out, "search.js").startswith("const index = " + read(out, "search.json")))

    def test_the_same_bytes_again(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            for out in (one, other):
                doc(out, os.path.join(HERE, "pages", "shapes.axn"))
            for name in files_below(one):
                self.assertEqual(read(one, name), read(other, name))

    def test_a_module_with_errors_writes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "broken.axn")
            with open(program, "w", encoding="utf-8") as file:
                file.write("fun f x = no_such_name x\n")
            out = os.path.join(folder, "out")
            done = doc(out, program)
            self.assertEqual(done.returncode, 1)
            self.assertIn("E0401", done.stderr)
            self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    ROOT = os.path.abspath(sys.argv.pop())
    ETCC = os.path.abspath(sys.argv.pop())
    unittest.main()
