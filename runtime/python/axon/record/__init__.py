"""Functions in NumPy's vocabulary as Axon programs: see `function`.

The tree is the way of a call: function.py takes its arguments apart (arguments.py) and looks for a recording. To record,
the function runs on arrays without values (array.py, indexing.py, storing.py, views.py), for which the tables of the
vocabulary (vocabulary.py names their modules) make a graph (graph.py) over the sizes of the call (sizes.py). Some of their
rows are written in NumPy's vocabulary themselves. text.py writes the graph as a program, with what it needs of numpy.axn.
"""
from . import (changing, choosing, making, order, padding, parts, pointwise, positions, products, reductions, selections, shapes,
               signals, statistics)  # the rows of the vocabulary
from .function import Function, function

__all__ = ["function", "Function"]
