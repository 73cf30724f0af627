"""The page with an editor, in Chromium: its colours, what is recorded, and each feature of the real server behind it."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

import protocol
import support
from support import HERE, Given

FOLDER = pathlib.Path()
PROGRAMS = {file.name: file.read_text(encoding="utf-8") for file in (support.EDITORS / "web" / "programs").glob("*.axn")}


def with_compiler():
    return {**os.environ, "PATH": f"{Given.etcc.parent}{os.pathsep}{os.environ['PATH']}"}


def in_chromium(script, *arguments):
    """What a script says of the page, as JSON."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # processes of Chromium write to their ends
        environment = {**with_compiler(), "TMPDIR": folder}
        return json.loads(support.run(["node", str(HERE / "web" / script), str(FOLDER), *arguments], env=environment, timeout=600))


@contextlib.contextmanager
def serving(command, **options):
    """A process that goes on, which is ended with all that it started; gives what reads what it has printed so far."""
    with tempfile.NamedTemporaryFile() as printed:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed, start_new_session=True, **options)
        try:
            yield process, lambda: pathlib.Path(printed.name).read_text(encoding="utf-8")
        finally:
            support.end_group(process)


def awaited(what, condition, patience=60):
    """The value of a condition once it holds."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"never seen: {what}")


class WebColours(support.Colours):
    names = {"identifier.axon", "function.axon", "type.axon", "element.axon", "field.axon", "shape.axon", ""}
    allowed = {
        "declaration": {"keyword.declaration.axon"},
        "keyword": {"keyword.axon"},
        "constant": {"constant.axon"},
        "operator": {"operator.axon"},
        "separator": {"delimiter.axon"},
        "bracket": {"delimiter.parenthesis.axon", "delimiter.square.axon", "delimiter.curly.axon"},
        "wildcard": {"keyword.axon", "identifier.axon"},
        "name": names,
        "type variable": {"type.axon"},
        "number": {"number.axon"},
        "string": {"string.axon"},
        "comment": {"comment.axon"},
        "documentation": {"comment.doc.axon"},
    }
    contextual_colour = "identifier.axon"

    def colours(self, queries):
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as asked:
            json.dump([{"text": file.read_text(encoding="utf-8"), "at": [[t.line, t.column] for t in tokens]}
                       for file, tokens in queries.items()], asked)
            asked.flush()
            return dict(zip(queries, in_chromium("colours.mjs", asked.name)))

    def test_colours_are_those_of_the_lexer(self):
        self.compare(support.programs())


class Recorded(unittest.TestCase):
    def test_what_is_recorded_is_what_the_server_says(self):
        if os.environ.get("AXON_BLESS"):
            support.run(["node", "record.js"], cwd=FOLDER, env=with_compiler())
            shutil.copy(FOLDER / "recorded.json", support.EDITORS / "web")
        support.run(["node", "record.js", "--check"], cwd=FOLDER, env=with_compiler())

    def test_a_server_is_needed_to_record(self):
        status, _, said = support.finish(["node", "record.js", "--check"], cwd=FOLDER, env=support.without_compiler(with_compiler()))
        self.assertEqual((status, said), (1, "record: there is no etcc to run\n"))


class Installation(unittest.TestCase):
    def test_what_the_readme_says_serves_the_page(self):
        """The first of its lines was typed when the folder was copied."""
        *others, last = support.installation("web")[1:]
        with support.home("web", cwd=FOLDER, lines=others) as environment, serving(["bash", "-c", last], cwd=FOLDER, env=environment) as (_, said):
            url = awaited("an address", lambda: re.search(r"http://127\.0\.0\.1:\d+/", said())).group()
            with urllib.request.urlopen(url, timeout=30) as page:
                self.assertIn("<title>Axon</title>", page.read().decode())

    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            status, _, said = support.finish(["node", "serve.js", port], cwd=FOLDER, env=with_compiler())
            self.assertEqual((status, said), (1, f"serve: port {port} is taken\n"))
            status, _, said = support.finish([Given.etcc, "lsp", "--socket", port])
            self.assertEqual((status, said), (1, f"etcc lsp: port {port}: Address already in use\n"))


class Socket(unittest.TestCase):
    def test_the_server_ends_with_its_client(self):
        """Also one that says no good-bye."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with serving([Given.etcc, "lsp", "--socket", str(port)]) as (process, said):
            awaited("the server", lambda: "waiting for a client" in said())
            with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
                client.sendall(protocol.frames([{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}]))
                self.assertIn(b"Content-Length: ", client.recv(16))
            self.assertEqual(process.wait(60), 1)  # what the protocol wants of a server that was not told to shut down


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        pictures = os.environ.get("AXON_PICTURES")  # a folder for them, for who wants to look at them
        cls.said = in_chromium("session.mjs", *filter(None, [pictures]))

    def test_the_session_came_to_its_end(self):
        self.assertEqual(self.said.get("problem", ""), "")
        self.assertEqual(self.said["exceptions"], [])
        self.assertEqual(self.said["serversLeft"], 0)

    def test_a_page_without_a_server(self):
        recorded = self.said["recorded"]
        self.assertIn("inner dimensions of `@` differ", recorded["problems"])
        self.assertIn("network : f32[b, d] -> f32[d, h] -> f32[c, h] -> f32[b, c]", recorded["hover"])
        self.assertEqual(recorded["keyword"], "rgb(130, 80, 223)")
        self.assertNotEqual(recorded["colours"]["d"], recorded["colours"]["x"])
        self.assertEqual((recorded["changed"], recorded["left"]), ("changed: nothing is recorded of this text", "No problems."))

    def test_a_page_whose_server_does_not_start(self):
        self.assertEqual(self.said["withoutCompiler"]["state"], "recorded: no language server runs")
        self.assertEqual(self.said["withoutCompiler"]["said"], "serve: etcc lsp does not start: there is no `etcc` in PATH\n")

    def test_only_the_page_is_served(self):
        """Another page, no page, the page; another name of this machine, a file outside, the page."""
        self.assertEqual(self.said["strangers"], [403, 403, 101, 404, 404, 200])

    def test_errors_and_repairs(self):
        self.assertIn("inner dimensions of `@` differ", self.said["problems"])
        self.assertIn("this is f32[b, h]", self.said["problems"])
        self.assertEqual(self.said["related"], "layer x w @ u")  # where that leads
        self.assertTrue(any("state what all else fits" in one for one in self.said["repairs"]), self.said["repairs"])
        self.assertEqual(self.said["repaired"], PROGRAMS["layer.axn"].replace("u : f32[c, h]", "u : f32[h, c]"))

    def test_reading(self):
        self.assertIn("total : f32[n, m] -> f32[n]", self.said["hover"])
        self.assertIn("The sum of each row.", self.said["hover"])
        self.assertIn("n : i64", self.said["hoverOfSize"])
        self.assertEqual(self.said["lenses"], ["run"])
        self.assertEqual(self.said["lensSays"], "etcc run rows.axn main NAME=VALUE")
        row = PROGRAMS["rows.axn"].split("\n")[4]
        self.assertEqual(self.said["highlights"], [f"5 {row.index('w :') + 1} wordHighlightStrong", f"5 {row.index('w[j]') + 1} wordHighlight"])

    def test_the_server_tells_sizes_from_values(self):
        colours = self.said["colours"]
        self.assertEqual(colours["n"], colours["m"])
        self.assertEqual(colours["sum"], colours["total"])
        self.assertEqual(len({colours["n"], colours["x"], colours["f32"], colours["total"]}), 4)
        self.assertEqual(self.said["coloursOfNew"], {"q": colours["n"], "z": colours["x"]})

    def test_what_the_page_asks_for(self):
        """All that it has a use for."""
        of_text = """hover definition typeDefinition references documentHighlight prepareRename rename inlayHint semanticTokens/full
                     semanticTokens/full/delta semanticTokens/range completion signatureHelp formatting rangeFormatting documentLink codeAction codeLens
                     foldingRange documentSymbol selectionRange didChange""".split()
        wanted = {*(f"textDocument/{one}" for one in of_text), "completionItem/resolve"}
        self.assertLessEqual(wanted, set(self.said["asked"]))

    def test_what_stands_between_the_words(self):
        """The declaration is as `etcc check --types` has it, and what is no hint is the text."""
        hinted = "\n".join(self.said["hinted"]).replace("\u200a", "")  # it is drawn before a hint
        for hint in ": 't[..a, m, n]", ": 't[..b, o, n]", ": 't[..c, o, p]", ": 't[..(a|b|c), m, p]", ": 't[..(a|b), m, o]":
            self.assertIn(hint, hinted)
            hinted = hinted.replace(hint, "", 1)
        self.assertEqual(hinted.split(), PROGRAMS["attention.axn"].split())

    def test_structure(self):
        self.assertEqual(self.said["outline"], ["rows", "Heads", "n", "d", "q", "k", "v", "attend", "main"])
        value = "q @ transpose k / sqrt (real (dim q (-1)))"
        body = f"let scores = {value} in\n  softmax scores @ v"
        for one in "transpose k", "q @ transpose k", value, body, f"fun attend q k v =\n  {body}":
            self.assertIn(one, self.said["selected"])
        self.assertEqual(self.said["foldedComments"], [[1, 3], [5, 13]])
        self.assertEqual(self.said["folded"], [[1, 3], [5, 8], [11, 13]])

    def test_from_name_to_name(self):
        text = {name: program.split("\n") for name, program in PROGRAMS.items()}
        self.assertEqual(text["rows.axn"][self.said["definition"][1] - 1][:9], "fun total")
        self.assertEqual(text["attention.axn"][self.said["typeDefinition"][1] - 1][:10], "type Heads")
        self.assertEqual(len(self.said["references"]), 4)
        self.assertEqual([one.split("/")[0] for one in self.said["references"][:2]], ["attention.axn", "rows.axn"])
        self.assertRegex(self.said["library"], r"^line \d+ of prelude/\w+\.axn$")
        self.assertEqual(self.said["links"], ["rows.axn"])
        self.assertEqual(self.said["link"][0], "rows.axn")

    def test_writing(self):
        renamed = re.sub(r"(fun total.*)\n", lambda line: line.group().replace("n, m", "rows, m").replace("f32[n]", "f32[rows]"), PROGRAMS["rows.axn"])
        self.assertEqual(self.said["renamed"], renamed)
        self.assertEqual(self.said["refused"], "`m` is already a size in line 2 of rows.axn")
        self.assertEqual(self.said["formattedRange"], renamed.replace("fun weighted (", "fun weighted   ("))
        self.assertEqual(self.said["formatted"], renamed)

    def test_completion(self):
        self.assertEqual(self.said["candidates"][0], "weighted")
        self.assertIn("by weights that all rows share", self.said["documented"])
        self.assertEqual(self.said["completed"], "fun twice (x : f32[n, m]) = weighted")

    def test_signature_help(self):
        self.assertIn("weighted", self.said["signature"])
        self.assertIn("f32[n, m]", self.said["parameter"])

    def test_nothing_is_wider_than_the_screen(self):
        for width, editor, more in self.said["overflow"]:
            self.assertLessEqual((editor, more), (width, 0))
        self.assertEqual(len(self.said["overflow"]), 6)


if __name__ == "__main__":
    import sys

    Given.build = pathlib.Path(sys.argv[-1]).resolve()
    support.packages("chromium", "fonts-dejavu-core")
    FOLDER = support.npm_folder("web")
    support.run(["npm", "run", "build"], cwd=FOLDER)
    support.main()
