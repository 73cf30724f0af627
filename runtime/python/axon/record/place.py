"""Where the function that is traced is: the line that an error or a fact is about.

Lines of this package and of NumPy are nobody's: the innermost frame outside of them is the one that asked.
"""
import os
import sys

import numpy as np

_OWN = (os.path.dirname(os.path.abspath(__file__)) + os.sep, os.path.dirname(np.__file__) + os.sep,
        "<__array_function__ internals>")


class Place:
    """A line of a file."""

    def __init__(self, file, line):
        self.file, self.line = file, line

    def __str__(self):
        return f"{os.path.relpath(self.file) if os.path.isabs(self.file) else self.file}:{self.line}"

    @staticmethod
    def of(function):
        """Where a function begins."""
        return Place(function.__code__.co_filename, function.__code__.co_firstlineno)

    @staticmethod
    def frame():
        """The frame that asked."""
        frame = sys._getframe(1)
        while frame.f_back is not None and Place.is_own(frame):
            frame = frame.f_back
        return frame

    @staticmethod
    def is_own(frame):
        """Whether a frame is one of this package or of NumPy."""
        return frame.f_code.co_filename.startswith(_OWN)

    @staticmethod
    def here():
        frame = Place.frame()
        return Place(frame.f_code.co_filename, frame.f_lineno)


def complain(text, place=None):
    """Raises axon.Error that begins with the line of the traced function, or with a place."""
    from .. import Error
    raise Error(f"{place or Place.here()}: {text}")
