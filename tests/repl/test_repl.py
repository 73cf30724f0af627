"""Sessions of `etcc repl`: each sessions/NAME.in gives NAME.out, byte for byte; AXON_BLESS=1 writes them.
Then what takes a process: JSON, and Ctrl-C on an evaluation that does not end soon."""
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ETCC = sys.argv.pop(1)
SESSIONS = pathlib.Path(__file__).parent / "sessions"


def answers(text, *options):
    return subprocess.run([ETCC, "repl", *options], input=text, capture_output=True, text=True,
                          cwd=SESSIONS, timeout=300)


class Repl(unittest.TestCase):
    maxDiff = None

    def test_sessions(self):
        found = sorted(SESSIONS.glob("*.in"))
        self.assertTrue(found)
        for session in found:
            with self.subTest(session.name):
                out = answers(session.read_text()).stdout
                expected = session.with_suffix(".out")
                if os.environ.get("AXON_BLESS"):
                    expected.write_text(out)
                self.assertEqual(out, expected.read_text())

    def test_status(self):
        self.assertEqual(answers("[1.0] + [2.0]\n").returncode, 0)
        self.assertEqual(answers("nothing_of_this_name\n").returncode, 1)
        self.assertEqual(answers("").stdout, "")

    def test_json(self):
        requests = [{"code": "[1.0, 2.0]", "id": 7}, {"complete": "transpos"}, {"is_complete": "fun f x ="},
                    {"code": ":quit"}]
        lines = answers("".join(json.dumps(r) + "\n" for r in requests) + "{}\n", "--json").stdout.splitlines()
        value, completion, complete, end = [json.loads(line) for line in lines]
        self.assertEqual((value["id"], value["values"][0]["type"]), (7, "f32[2]"))
        self.assertIn("transpose", completion["matches"])
        self.assertFalse(complete["complete"])
        self.assertEqual(end["kind"], "quit")
        hostile = answers("[" * 100000 + "\nnull\n{\"code\": 3}\n", "--json").stdout.splitlines()
        self.assertEqual([json.loads(line)["kind"] for line in hostile], ["error"] * 3)

    def test_the_page_of_a_graph(self):
        said = answers('{"code": ":graph [1.0, 2.0] + 1.0"}\n{"code": ":tasks [1.0] + 1.0"}\n', "--json").stdout.splitlines()
        graph, tasks = [json.loads(line) for line in said]
        self.assertEqual(graph["text"][:10], 'graph "it"')
        self.assertEqual(graph["page"][:15], "<!doctype html>")
        self.assertNotIn("page", tasks)

    def test_enclosed(self):
        text = ":{\nfun g x = x\n\nfun h x = x\n:}"
        requests = [{"code": text}, {"split": text + "\ng 1.0"}, {"is_complete": ":{\nfoo"}, {"is_complete": text}]
        lines = answers("".join(json.dumps(r) + "\n" for r in requests), "--json").stdout.splitlines()
        code, split, open_, closed = [json.loads(line) for line in lines]
        self.assertEqual([t["name"] for t in code["types"]], ["g", "h"])
        self.assertEqual(split["phrases"], [text, "g 1.0"])
        self.assertEqual((open_["complete"], closed["complete"]), (False, True))

    def test_places(self):
        """An error of the run time is shown where it was typed, in a phrase or in the file that was loaded."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "loaded.axn"
            path.write_text("-- A line.\n\nfun third (n : i32) = n / (n - n)\n")
            out = answers(f":load {path}\n1.0\ni32 7 / 0\nthird (i32 3)\n").stdout
        self.assertIn("(repl:1:1)", out)
        self.assertIn(f"({path}:3:23)", out)
        self.assertNotIn("(repl).axn", out)

    def test_interrupt(self):
        """Once the evaluation, a child process, runs; an interrupt before a request changes nothing."""
        repl = subprocess.Popen([ETCC, "repl", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        children = pathlib.Path(f"/proc/{repl.pid}/task/{repl.pid}/children")

        def ask(code):
            repl.stdin.write(json.dumps({"code": code}) + "\n")
            repl.stdin.flush()

        ask("val x = 2.0")
        self.assertEqual(json.loads(repl.stdout.readline())["kind"], "definition")
        for _ in range(3):
            ask("sum (for (i < 1000000) => sum (for (j < 1000000) => real i * real j * x))")
            while not children.read_text().strip():
                time.sleep(0.001)
            repl.send_signal(signal.SIGINT)
            self.assertEqual(json.loads(repl.stdout.readline())["kind"], "interrupted")
            repl.send_signal(signal.SIGINT)
            ask("x")
            answer = json.loads(repl.stdout.readline())
            self.assertIn(answer["kind"], ("value", "interrupted"))  # where the second came late
        ask("x")
        self.assertEqual(json.loads(repl.stdout.readline())["values"][0]["text"], "2")
        repl.communicate()

    def test_interrupt_of_the_solver(self):
        """An interrupt that comes while the solver works ends the question; it must not become an answer."""
        repl = subprocess.Popen([ETCC, "repl", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        kinds = []
        for delay in (0.1, 0.15, 0.2):
            repl.stdin.write(json.dumps({"code": ":prove n*(n+1)*(n+2)*(n+3)*(m+n*n) % 24 == 0"}) + "\n")
            repl.stdin.flush()
            time.sleep(delay)
            if select.select([repl.stdout], [], [], 0)[0]:  # a fast machine: it has answered
                repl.stdout.readline()
                continue
            repl.send_signal(signal.SIGINT)
            kinds.append(json.loads(repl.stdout.readline())["kind"])
        repl.communicate()
        if kinds:
            self.assertIn("interrupted", kinds)


if __name__ == "__main__":
    unittest.main()
