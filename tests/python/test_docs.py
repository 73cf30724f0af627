"""docs/python.md is true: its blocks of Python run one after the other, and print what stands below them.
usage: test_docs.py PAGE"""
import contextlib
import io
import re
import sys
import unittest

PAGE = sys.argv.pop(1)


class Docs(unittest.TestCase):
    def test_blocks(self):
        with open(PAGE, encoding="utf-8") as file:
            blocks = re.findall(r"^```(python|text)\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
        namespace, printed, count = {"__name__": "docs"}, "", 0
        for kind, text in blocks:
            if kind == "text":
                self.assertEqual(printed, text)
                printed = ""
                count += 1
                continue
            self.assertEqual(printed, "", "what was printed is not shown")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, "docs/python.md", "exec"), namespace)
            printed = out.getvalue()
        self.assertGreater(count, 7)


if __name__ == "__main__":
    unittest.main()
