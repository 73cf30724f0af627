"""Neovim as a user meets it: Vim's files by its own way of installing them, and the client of the language server."""

import os
import re
import tempfile
import unittest

import sessions
import support
import test_vim

NVIM = ("nvim", "--headless", "-n")


class NeovimColours(support.Colours):
    allowed = test_vim.ALLOWED
    contextual_colour = "axonModifier"

    def colours(self, queries):
        with support.home("neovim") as environment:
            return test_vim.colours_in(environment, NVIM, queries)

    def test_colours_are_those_of_the_lexer(self):
        self.compare(support.programs())


class Neovim(unittest.TestCase):
    def test_indenting_is_formatting(self):
        with support.home("neovim") as environment, tempfile.TemporaryDirectory() as folder:
            for file in support.programs():
                wanted = file.read_text(encoding="utf-8")
                bare = os.path.join(folder, "bare.axn")
                with open(bare, "w", encoding="utf-8") as out:
                    out.write(support.without_indentation(wanted))
                test_vim.vim(environment, "normal! gg=G", "write", file=bare, program=NVIM)
                with open(bare, encoding="utf-8") as given, self.subTest(file=file.name):
                    self.assertEqual(given.read(), wanted)

    def test_without_a_compiler_editing_goes_on(self):
        with support.home("neovim") as environment, tempfile.TemporaryDirectory() as folder:
            file, said = os.path.join(folder, "x.axn"), os.path.join(folder, "said")
            test_vim.vim(support.without_compiler(environment), f"call writefile([&filetype, execute('messages')], '{said}')", file=file, program=NVIM)
            with open(said, encoding="utf-8") as given:
                text = given.read()
        self.assertIn("axon\n", text)
        self.assertIn("there is no `etcc` to run", text)
        self.assertNotIn("Error", text)


class Session(sessions.Sessions, unittest.TestCase):
    editor = "neovim"

    def play(self, environment, script, file, said):
        test_vim.vim(environment, f"let g:said = '{said}'", f"luafile {support.HERE}/neovim/{script}.lua", file=file,
                     program=sessions.apart(NVIM))

    def compare_more(self, said):
        self.assertEqual(said["run"][:1] + said["run"][2:], ["run", "main", "y=[1, 2]", "z=3"])
        self.assertEqual(said["test"][:1], ["test"])
        self.assertEqual([one[2] for one in said["callers"]], ["main", "a row of two", "both", "both"])
        self.assertEqual([one[2] for one in said["callees"]], ["total", "total"])
        text = (support.HERE / "workspace" / "rows.axn").read_text(encoding="utf-8").split("\n")
        self.assertEqual(said["highlights"], [[2, place.start() + 1] for place in re.finditer(r"\bm\b", text[1])])


if __name__ == "__main__":
    support.packages("neovim")
    support.main()
