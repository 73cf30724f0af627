"""Where the function that is traced is: the line that an error or a fact is about; and the errors, by their codes.

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


# What is wrong, by the code of its axon.Error; docs/numpy.md has this table.
CODES = {
    "N001": "what NumPy refuses as well: shapes, axes, indices or arguments that do not fit",
    "N002": "a value, or a number of elements, that only a run has",
    "N003": "what is not in the vocabulary, or not with these arguments",
    "N004": "an element type that Axon lacks",
    "N005": "a change of what is not to be changed, and the use of a view after one",
    "N006": "a recorded array outside of its recording, and random numbers inside of one",
    "N007": "an argument or a result that is not gone through",
    "N008": "a run for which NumPy would choose another type than was recorded, or fail",
    "N009": "too many recordings of one function",
}


def failure(code, text):
    """An axon.Error."""
    from .. import Error
    return Error(text, code)


def _complaint(code):
    def complaint(text, place=None):
        """Raises axon.Error that begins with the line of the traced function, or with a place."""
        raise failure(code, f"{place or Place.here()}: {text}")
    return complaint


complain, needs_values, unrecorded, lacks_type, keeps_as_is, outlives, holds_recorded = map(_complaint, list(CODES)[:7])
