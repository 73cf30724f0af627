"""What is recorded of NumPy: three tables, from functions of elements, functions and methods to what records them.

The rows are in the modules that make nodes: pointwise.py, reductions.py, shapes.py, positions.py, making.py, products.py
and order.py. A row takes what NumPy's function takes, recorded or not, and gives nodes. What has no row is an error.
"""
from .graph import Trace

UFUNCS, FUNCTIONS, METHODS = {}, {}, {}


def says(*functions, method=None):
    """The row of functions of NumPy, and of the method of that name."""
    def add(handler):
        for function in functions:
            FUNCTIONS[function] = handler
        for name in [method] if isinstance(method, str) else method or ():
            METHODS[name] = handler
        return handler
    return add


def node_of(value):
    """The node of an argument."""
    return Trace.current().as_node(value)
