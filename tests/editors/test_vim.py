"""Vim as a user meets it: installed as the README says, with colours, indentation and `:make`."""

import json
import os
import tempfile
import unittest

import support
from support import EDITORS, HERE

VIM = ("vim", "--not-a-term", "-n")  # with the files that it reads at the start
NAMES = {"", "axonDefined", "axonElement", "axonType", "axonField", "axonShape", "axonClass"}
ALLOWED = {
    "declaration": {"axonDeclaration"},
    "keyword": {"axonKeyword", "axonConditional"},
    "constant": {"axonBoolean"},
    "operator": {"axonOperator", "axonSpread"},
    "separator": {"axonDelimiter"},
    "bracket": {"axonDelimiter"},
    "wildcard": {"axonWildcard"},
    "name": NAMES,
    "type variable": {"axonTypeVariable"},
    "number": {"axonNumber", "axonFloat"},
    "string": {"axonString"},
    "comment": {"axonComment"},
    "documentation": {"axonDoc"},
}


def vim(environment, *commands, file=None, program=VIM):
    """Runs Vim's commands on a file without a terminal."""
    arguments = [part for command in commands for part in ("-c", command)]
    return support.run([*program, "-i", "NONE", *arguments, "-c", "qa!", *([str(file)] if file else [])], env=environment)


def colours_in(environment, program, queries):
    """The names of the groups of syntax in which tokens begin, as Vim's synID says."""
    with tempfile.TemporaryDirectory() as folder:
        asked, said = os.path.join(folder, "asked.json"), os.path.join(folder, "said.json")
        positions = {}
        for file, tokens in queries.items():
            lines = file.read_text(encoding="utf-8").split("\n")
            positions[str(file)] = [[t.line + 1, len(lines[t.line][: t.column].encode()) + 1] for t in tokens]
        with open(asked, "w", encoding="utf-8") as out:
            json.dump(positions, out)
        vim(environment, f"let g:asked = '{asked}'", f"let g:said = '{said}'", f"source {HERE}/vim/colours.vim", program=program)
        with open(said, encoding="utf-8") as answer:
            given = json.load(answer)
    return {file: given[str(file)] for file in queries}


class VimColours(support.Colours):
    allowed = ALLOWED
    contextual_colour = "axonModifier"

    def colours(self, queries):
        with support.home("vim") as environment:
            return colours_in(environment, VIM, queries)

    def test_colours_are_those_of_the_lexer(self):
        self.compare(support.programs())


class Vim(unittest.TestCase):
    def test_indenting_is_formatting(self):
        with support.home("vim") as environment, tempfile.TemporaryDirectory() as folder:
            for file in support.programs():
                wanted = file.read_text(encoding="utf-8")
                bare = os.path.join(folder, "bare.axn")
                with open(bare, "w", encoding="utf-8") as out:
                    out.write(support.without_indentation(wanted))
                vim(environment, "normal! gg=G", "write", file=bare)
                with open(bare, encoding="utf-8") as given, self.subTest(file=file.name):
                    self.assertEqual(given.read(), wanted)

    def test_typing(self):
        wanted = "fun f x =\n  let a = g x\n  let b =\n    if a then 1\n    else 2\n  in a + b\n\nfun g x = x\n"
        typed = "\\<CR>".join(line.strip() for line in wanted.splitlines())
        with support.home("vim") as environment, tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "typed.axn")
            # Keys of a macro are typed: indentkeys take effect.
            vim(environment, f"edit {file}", f'execute "normal i{typed}"', "write", file=file)
            with open(file, encoding="utf-8") as given:
                self.assertEqual(given.read(), wanted)

    def test_make_lists_errors(self):
        program = "entry f (x : f32[n]) (y : f32[m]) = x + y\nfun g x = undefined_name\n"
        with support.home("vim") as environment, tempfile.TemporaryDirectory() as folder:
            file, said = os.path.join(folder, "a b.axn"), os.path.join(folder, "said")
            with open(file, "w", encoding="utf-8") as out:
                out.write(program)
            vim(environment, "compiler axon", "silent make!", "cclose",
                f"call writefile(map(getqflist(), {{_, v -> json_encode([bufname(v.bufnr), v.lnum, v.col, v.type, v.nr])}}), '{said}')",
                file=file)
            with open(said, encoding="utf-8") as given:
                errors = [json.loads(line) for line in given]
        self.assertIn([file, 1, 37, "E", 310], errors)
        self.assertEqual([error[:2] for error in errors if error[3] == "E"], [[file, 1], [file, 2]])
        self.assertTrue(all(error[1] > 0 for error in errors), errors)

    def test_options(self):
        with support.home("vim") as environment, tempfile.TemporaryDirectory() as folder:
            file, said = os.path.join(folder, "x.axn"), os.path.join(folder, "said")
            vim(environment, f"call writefile([&filetype, &commentstring, &shiftwidth, &expandtab], '{said}')", file=file)
            with open(said, encoding="utf-8") as given:
                self.assertEqual(given.read().split("\n")[:4], ["axon", "-- %s", "2", "1"])

    def test_files_of_vim_9_are_no_other_language(self):
        """Neovim 0.7 reads the same files: none is in the language of Vim 9 alone."""
        for file in EDITORS.glob("vim/**/*.vim"):
            self.assertNotIn("vim9script", file.read_text(encoding="utf-8"), file)


if __name__ == "__main__":
    support.packages("vim-nox")
    support.main()
