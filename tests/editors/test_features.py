"""Every feature that the language server announces has a client in the tests: the table in editors/README.md says which."""

import re
import unittest

import protocol
import support
from support import EDITORS, HERE

CLIENTS = {
    "Neovim": sorted((HERE / "neovim").glob("*.lua")),
    "Emacs": sorted((HERE / "emacs").glob("*.el")),
    "page": sorted((HERE / "web").glob("*.mjs")),
    "Node": [EDITORS / "web" / "record.js"],
}


def rows():
    """The table: each row's capabilities, and its (client, command)s."""
    text = (EDITORS / "README.md").read_text(encoding="utf-8")
    table = text.split("## Features and the clients that test them", 1)[1].split("\n## ", 1)[0]
    cells = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    return [(re.findall(r"`(\w+)`", names), re.findall(r"(\w+) `([^`]+)`", clients)) for _, names, clients in cells]


class Features(unittest.TestCase):
    def test_each_capability_has_a_row(self):
        known = [name for names, _ in rows() for name in names]
        self.assertEqual(len(known), len(set(known)))
        found = set(protocol.announced({"textDocument": {"diagnostic": {}}}))
        self.assertGreater(len(found), 20)
        self.assertEqual(found, set(known))

    def test_the_clients_give_the_commands(self):
        for names, clients in rows():
            self.assertTrue(clients, names)
            for client, command in clients:
                self.assertTrue(any(command in file.read_text(encoding="utf-8") for file in CLIENTS[client]), f"{client} {command}")


if __name__ == "__main__":
    support.main()
