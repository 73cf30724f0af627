#!/usr/bin/env python3
"""The editors' grammars from the compiler's own tables.

In: compiler/syntax/tokens.def (every token), runtime/host/elems.def (the element types), the classes of element types in
compiler/core/sizes_from_syntax.cpp, and the templates, which lie under editors/templates as their results lie under editors.
Out: each template with its word lists filled in. `@LIST|FORM@` stands for a list (see `Words`) in a form (see `FORMS`).
Invariant: every token of the table is in a list that some template names, so a new keyword is coloured everywhere.

    editors/generate.py            writes the results
    editors/generate.py --check    says which of them are not what the templates make, with exit status 1
"""

import argparse
import json
import os
import pathlib
import re
import sys

EDITORS = pathlib.Path(__file__).resolve().parent
TEMPLATES = EDITORS / "templates"
PLACE = re.compile(r"@(\w+)\|(\w+)@")

# What the table of tokens does not say of them. Whatever is named in none of these sets is an ordinary keyword or operator.
CONSTANTS = {"true", "false"}
CONDITIONALS = {"if", "then", "else"}
PUNCTUATION = {",", ":", "."}
WILDCARD = {"_"}
SPREAD = {".."}


def read(path):
    return (EDITORS.parent / path).read_text(encoding="utf-8")


def rows(table, kind):
    return re.findall(rf'^{kind}\(\w+, "(.*)"\)', table, re.MULTILINE)


def elements(table):
    """The names in runtime/host/elems.def; programs write a truth value otherwise than C++ does."""
    rows = re.findall(r'^(?:FLOAT|NARROW|INTEGER|TRUTH)\((\w+), \w+,(?: "(\w+)", \w+,)?', table, re.MULTILINE)
    return [text or name for name, text in rows]


class Words:
    """The lists that a template can name."""

    def __init__(self):
        table = read("compiler/syntax/tokens.def")
        keywords, symbols = rows(table, "KEYWORD"), rows(table, "SYMBOL")
        special = PUNCTUATION | WILDCARD | SPREAD
        for found, wanted in (keywords, CONSTANTS | CONDITIONALS), (symbols, special):
            if not wanted <= set(found):
                sys.exit(f"generate: tokens.def has no {sorted(wanted - set(found))}")
        self.lists = {
            "declarations": rows(table, "DECLARATION"),
            "constants": [word for word in keywords if word in CONSTANTS],
            "conditionals": [word for word in keywords if word in CONDITIONALS],
            "keywords": [word for word in keywords if word not in CONSTANTS | CONDITIONALS],
            "operators": [sign for sign in symbols if sign not in special],
            "elements": elements(read("runtime/host/elems.def")),
            "classes": re.findall(r'\{"(\w+)", ElemClass::', read("compiler/core/sizes_from_syntax.cpp")),
        }
        self.lists["reserved"] = self.lists["declarations"] + keywords
        empty = [name for name, words in self.lists.items() if not words]
        if empty:
            sys.exit(f"generate: nothing was found for {empty}")


def longest_first(words):
    return sorted(words, key=lambda word: (-len(word), word))


def alternatives(words):
    return "|".join(re.escape(word) for word in longest_first(words))


def vim_alternatives(words):
    """In Vim's default regular expressions few signs are special, and alternatives stand between backslashed bars."""
    return r"\|".join(re.sub(r"[][*.\\/~^$]", r"\\\g<0>", word) for word in longest_first(words))


def kakoune_alternatives(words):
    """The same without the escapes that Kakoune's regular expressions do not know."""
    return re.sub(r"\\([-&])", r"\1", alternatives(words))


FORMS = {
    "words": " ".join,
    "regex": alternatives,
    "kakoune": kakoune_alternatives,
    "vim": vim_alternatives,
    "slashes": lambda words: re.sub(r"\\([-&])", r"\1", alternatives(words)).replace("/", r"\/"),  # between slashes, in JavaScript
    "json": lambda words: json.dumps(alternatives(words))[1:-1],  # the same inside of a JSON string
    "lisp": lambda words: " ".join(json.dumps(word) for word in words),
}


def results():
    """Each result's path with its text, and the names of the lists that the templates use."""
    lists, used = Words().lists, set()

    def fill(place):
        used.add(place[1])
        return FORMS[place[2]](lists[place[1]])

    made = {}
    for template in sorted(path for path in TEMPLATES.rglob("*") if path.is_file()):
        made[EDITORS / template.relative_to(TEMPLATES)] = PLACE.sub(fill, template.read_text(encoding="utf-8"))
    unused = set(lists) - used
    if unused:
        sys.exit(f"generate: no template names {sorted(unused)}")
    return made


def main():
    parser = argparse.ArgumentParser(description="fills the editors' templates with the words of the language")
    parser.add_argument("--check", action="store_true", help="write nothing unless AXON_BLESS is set; 1 where something differs")
    check = parser.parse_args().check and not os.environ.get("AXON_BLESS")
    stale = 0
    for path, text in results().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        print(f"{path.relative_to(EDITORS.parent)} {'is not what its template makes' if check else 'written'}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
