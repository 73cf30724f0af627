"""`etcc repl` at a terminal: prompt, history, completion, characters of two columns, Ctrl-C and Ctrl-D.

What is typed waits for what is shown; nothing waits for a clock but to give up."""
import os
import pathlib
import pty
import re
import select
import signal
import sys
import tempfile
import termios
import time
import unittest

ETCC = sys.argv.pop(1)
PROMPT = "axon> "
DEADLINE = 120
ENDLESS = "sum (for (i < 1000000) => sum (for (j < 1000000) => real i * real j * x))"


class Terminal:
    def __init__(self, state, kind="xterm"):
        self.shown, self.seen = "", 0
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.environ.update(TERM=kind, LANG="C.UTF-8", LC_ALL="C.UTF-8", XDG_STATE_HOME=state, COLUMNS="120")
            os.execv(ETCC, [ETCC, "repl"])

    def read(self, seconds):
        """Takes what is shown within that time; false when nothing is, or the program has ended."""
        if not select.select([self.file], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.file, 65536)
        except OSError:  # its end, on Linux
            return False
        self.shown += data.decode(errors="replace")
        return bool(data)

    def wait(self, text):
        """What is shown until the text is, behind what was waited for before."""
        end = time.monotonic() + DEADLINE
        while text not in self.shown[self.seen :]:
            if time.monotonic() > end:
                raise AssertionError(f"no {text!r} in {self.shown[self.seen:]!r}")
            self.read(0.5)
        at = self.shown.index(text, self.seen) + len(text)
        found, self.seen = self.shown[self.seen : at], at
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", found)

    def prompt(self):
        """What is shown up to the next prompt, at which keys then are read one by one."""
        found, end = self.wait(PROMPT), time.monotonic() + DEADLINE
        while termios.tcgetattr(self.file)[3] & termios.ICANON:
            if time.monotonic() > end:
                raise AssertionError("nobody reads keys")
            self.read(0.01)
        return found

    def type(self, keys):
        os.write(self.file, keys.encode())

    def line(self, keys):
        """Types a line, and gives what is shown up to the next prompt."""
        self.type(keys + "\r")
        self.wait("\n")  # the echo ends
        return self.prompt()

    def evaluates(self):
        """Waits until the evaluation, a child process, runs."""
        end = time.monotonic() + DEADLINE
        children = pathlib.Path(f"/proc/{self.process}/task/{self.process}/children")
        while not children.read_text().strip():
            if time.monotonic() > end:
                raise AssertionError("no evaluation began")
            self.read(0.01)

    def end(self):
        """The exit status after Ctrl-D."""
        self.type("\x04")
        while self.read(DEADLINE):
            pass
        os.close(self.file)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


class AtATerminal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = folder.name
        self.terminal = self.begin()

    def begin(self):
        terminal = Terminal(self.state)
        terminal.prompt()
        return terminal

    def test_the_page_of_a_graph(self):
        shown = self.terminal.line(":graph [1.0, 2.0] + 1.0")
        path = pathlib.Path(re.search(r"page file://(/\S+\.html)", shown).group(1))
        self.assertIn("<title>it - ", path.read_text(encoding="utf-8"))
        path.unlink()
        path.parent.rmdir()
        self.assertEqual(self.terminal.end(), 0)

    def test_answers_and_history(self):
        self.assertIn("it : f32\r\n3", self.terminal.line("1 + 2"))
        self.assertIn("it : f32\r\n3", self.terminal.line("\x1b[A"))
        self.assertEqual(self.terminal.end(), 0)
        self.terminal = self.begin()
        self.assertIn("it : f32\r\n3", self.terminal.line("\x1b[A"))
        self.assertEqual(self.terminal.end(), 0)
        (history,) = pathlib.Path(self.state).rglob("repl_history")
        self.assertEqual(history.stat().st_mode & 0o077, 0)

    def test_completion(self):
        self.assertIn("it : f32[2, 1]\r\n[[1],\r\n [2]]", self.terminal.line("transpos\t [[1.0, 2.0]]"))
        self.terminal.line("val p = {weight = 1.0, bias = 2.0}")
        self.assertIn("it : f32\r\n1", self.terminal.line("p.we\t"))
        self.assertIn("transpose : ", self.terminal.line(":constr\t transpo\t"))
        self.assertEqual(self.terminal.end(), 0)

    def test_characters_of_two_columns(self):
        self.assertIn("é形 = f32 1", self.terminal.line('debug "é形Z\x7f" 1.0'))
        self.assertIn("aé形 = f32 1", self.terminal.line('debug "é形" 1.0' + "\x1b[D" * 7 + "a"))
        self.assertEqual(self.terminal.end(), 0)

    def test_several_lines(self):
        self.terminal.type("fun f x =\r")
        self.terminal.wait("....> ")
        self.assertIn("f : ", self.terminal.line("  x"))
        self.assertEqual(self.terminal.end(), 0)

    def test_interrupt_of_an_evaluation(self):
        self.terminal.line("val x = 2.0")
        self.terminal.type(ENDLESS + "\r")
        self.terminal.evaluates()
        self.terminal.type("\x03")
        self.terminal.wait("interrupted")
        self.terminal.prompt()
        self.assertIn("it : f32\r\n2", self.terminal.line("x"))
        self.assertEqual(self.terminal.end(), 0)

    def test_interrupt_of_a_question(self):
        """The prover works until its limit, so an interrupt that comes too early is sent again."""
        self.terminal.line(":assume n % 2 == 0")
        self.terminal.type(":solve a*a*a + b*b*b == c*c*c, 1 <= a, 1 <= b, a % 7 == 3\r")
        self.terminal.wait("a % 7 == 3")
        end = time.monotonic() + DEADLINE
        while "interrupted" not in self.terminal.shown[self.terminal.seen :]:
            self.assertLess(time.monotonic(), end)
            os.kill(self.terminal.process, signal.SIGINT)
            self.terminal.read(0.02)
        self.terminal.wait("interrupted")
        self.terminal.prompt()
        self.terminal.type("\r:facts\r")
        self.terminal.wait("1  n % 2 == 0")
        self.terminal.prompt()
        self.assertEqual(self.terminal.end(), 0)

    def test_a_terminal_that_edits_lines_itself(self):
        """Each line is shown once: by the terminal. Ctrl-C gives it up."""
        self.assertEqual(self.terminal.end(), 0)
        self.terminal = Terminal(self.state, "dumb")
        self.terminal.wait(PROMPT)
        self.terminal.type("1 + 2\n")
        self.assertEqual(self.terminal.wait(PROMPT), "1 + 2\r\nit : f32\r\n3\r\naxon> ")
        self.terminal.type("fun f x =\n")
        self.assertEqual(self.terminal.wait("....> "), "fun f x =\r\n....> ")
        self.terminal.type("\x03")
        self.assertEqual(self.terminal.wait(PROMPT), "^C\r\naxon> ")
        self.assertEqual(self.terminal.end(), 0)

    def test_an_interrupt_before_the_line_is_read(self):
        """At any time, a line ends."""
        for _ in range(100):
            os.kill(self.terminal.process, signal.SIGINT)
            self.terminal.wait(PROMPT)
        self.assertEqual(self.terminal.end(), 0)

    def test_interrupt_at_the_prompt(self):
        self.terminal.type("1 + nonsense")
        self.terminal.wait("nonsense")
        self.terminal.type("\x03")
        self.terminal.prompt()
        self.assertIn("it : f32\r\n3", self.terminal.line("1 + 2"))
        self.assertEqual(self.terminal.end(), 0)


if __name__ == "__main__":
    unittest.main()
