"""The kernel as Jupyter's own client meets it, installed as its README says."""

import json
import pathlib
import unittest

import support
from support import HERE

# Debian's packages are those of Debian's Python.
PYTHON = "/usr/bin/python3"

CELLS = {
    "values": "val two = 2.0\n[[1.0, 2.0], [3.0, 4.0]] * two",
    "record": "val layer = {weight = [[1.0, 2.0]], bias = [1.0]}",
    "function": "fun scale x =\n  x * two\n\n:type scale",
    "printed": 'debug "é形" two',
    "solve": ":assume k % 2 == 0\n:solve a * b == 24, a < b, k == a",
    "shape": ":shape matmul [b, 128] [128, k]",
    "wrong": "two\n[1.0, 2.0] + [1.0, 2.0, 3.0]\ntwo",
    "page": ":graph [1.0, 2.0] + 1.0",
    "empty": "\n",
}


def html(cell):
    return [one["data"].get("text/html", "") for one in cell["shown"] if one["type"] == "execute_result"]


def plain(cell):
    return [one["data"]["text/plain"] for one in cell["shown"] if one["type"] == "execute_result"]


class Jupyter(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with support.home("jupyter", commands=pathlib.Path(PYTHON).parent) as environment:
            cls.said = json.loads(support.run([PYTHON, HERE / "jupyter" / "session.py"], timeout=600, env=environment,
                                              text=json.dumps(CELLS)))

    def test_values(self):
        self.assertEqual(plain(self.said["values"]), ["two : 't   where 't : float", "it : f32[2, 2]\n[[2, 4],\n [6, 8]]"])
        self.assertIn("f32[2, 2]</td>", html(self.said["values"])[1])
        self.assertIn("<pre>[[2, 4],\n [6, 8]]</pre>", html(self.said["values"])[1])

    def test_records_are_tables_of_their_fields(self):
        (table,) = html(self.said["record"])
        self.assertIn("layer.weight</td>", table)
        self.assertIn("&#x27;t[1, 2]</td>", table)
        self.assertIn("where</td>", table)

    def test_phrases_of_a_cell(self):
        self.assertEqual(len(plain(self.said["function"])), 2)
        self.assertEqual(self.said["empty"]["shown"], [])

    def test_what_a_program_prints(self):
        (stream,) = [one for one in self.said["printed"]["shown"] if one["type"] == "stream"]
        self.assertIn("é形", stream["text"])

    def test_questions_about_shapes(self):
        table = html(self.said["solve"])[-1]
        self.assertEqual(table.count("<tr>"), 3, table)
        self.assertEqual(plain(self.said["shape"]), ["matmul [b, 128] [128, k] : 't[b, k]   where 't : num"])

    def test_an_error_ends_the_cell(self):
        wrong = self.said["wrong"]
        self.assertEqual((wrong["status"], wrong["ename"]), ("error", "E0310"))
        self.assertEqual([one["type"] for one in wrong["shown"]], ["execute_result", "error"])
        self.assertIn("do not broadcast", "\n".join(wrong["shown"][1]["traceback"]))

    def test_the_page_of_a_graph(self):
        (frame,) = html(self.said["page"])
        self.assertEqual(frame[:26], '<iframe srcdoc="&lt;!docty')
        self.assertEqual(plain(self.said["page"])[0][:10], 'graph "it"')

    def test_completion_and_inspection(self):
        self.assertEqual(self.said["info"]["language_info"]["file_extension"], ".axn")
        self.assertIn("transpose", self.said["complete"]["matches"])
        self.assertEqual(self.said["complete"]["cursor_start"], 8)
        self.assertEqual(self.said["command"]["matches"], ["constraints"])
        self.assertEqual((self.said["field"]["matches"], self.said["field"]["cursor_start"]), (["weight"], 6))
        self.assertIn("softmax : ", self.said["inspect"]["data"]["text/plain"])
        self.assertFalse(self.said["nothing"]["found"])
        self.assertEqual((self.said["incomplete"]["status"], self.said["whole"]["status"]), ("incomplete", "complete"))

    def test_an_interrupt_keeps_the_definitions(self):
        self.assertEqual((self.said["interrupted"]["status"], self.said["interrupted"]["ename"]), ("error", "KeyboardInterrupt"))
        self.assertEqual(plain(self.said["after"]), ["it : f32\n2"], self.said["after"])


if __name__ == "__main__":
    support.packages("python3-ipykernel", "python3-jupyter-client")
    support.main()
