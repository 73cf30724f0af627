"""Helix's file as Helix would read it: Debian has no Helix, so its form and what it names are what can be tested."""

import os
import tomllib
import unittest

import protocol
import support


class Helix(unittest.TestCase):
    def test_the_installed_file(self):
        with support.home("helix") as environment:
            with open(os.path.join(environment["HOME"], ".config", "helix", "languages.toml"), "rb") as file:
                languages = tomllib.load(file)
            (axon,) = languages["language"]
            self.assertEqual((axon["name"], axon["file-types"], axon["comment-token"]), ("axon", ["axn"], "--"))
            (server,) = axon["language-servers"]
            server = languages["language-server"][server]
            self.assertIn("hoverProvider", protocol.announced(command=[server["command"], *server["args"]], env=environment))
            formatter = [axon["formatter"]["command"], *axon["formatter"]["args"]]
            self.assertEqual(support.run(formatter, env=environment, text="fun   f x=x\n"), "fun f x = x\n")


if __name__ == "__main__":
    support.main()
