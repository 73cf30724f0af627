"""What the tests of the Python package share."""
import atexit
import os
import subprocess
import sys
import tempfile
import unittest

import axon


def test_bundle():
    """The path of the runtime's own test bundle, which the program that the first argument names writes, and a folder
    for other files."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = os.path.join(folder.name, "test.axb")
    subprocess.run([sys.argv.pop(1), path], check=True)
    return path, folder.name


class Case(unittest.TestCase):
    def fails(self, text, function, *arguments, code=None, **named):
        """The call raises axon.Error with this text in it."""
        with self.assertRaises(axon.Error) as caught:
            function(*arguments, **named)
        self.assertIn(text, str(caught.exception))
        if code:
            self.assertEqual(caught.exception.code, code)
        return caught.exception
