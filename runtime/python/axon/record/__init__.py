"""Functions in NumPy's vocabulary as Axon programs: see `function`.

The tree is the way of a call: function.py takes its arguments apart (arguments.py) and looks for a recording. To record,
the function runs on arrays without values (array.py, indexing.py, storing.py, views.py), for which the tables of the
vocabulary (vocabulary.py; pointwise.py, reductions.py, shapes.py, positions.py, making.py, products.py, order.py) make a
graph (graph.py) over the sizes of the call (sizes.py). text.py writes it as a program, with what it needs of numpy.axn.
"""
from . import making, order, pointwise, positions, products, reductions, shapes  # the rows of the vocabulary
from .function import Function, function

__all__ = ["function", "Function"]
