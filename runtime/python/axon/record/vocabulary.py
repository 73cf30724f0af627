"""What is recorded of NumPy: three tables, from functions of elements, functions and methods to what records them.

The rows are in the modules that make nodes: pointwise.py, reductions.py, shapes.py, positions.py, making.py, products.py and
order.py. Those of parts.py, choosing.py, signals.py, statistics.py, selections.py and changing.py are made of these, most of
them in NumPy's own vocabulary. A row takes what NumPy's function takes, recorded or not, and gives nodes or arrays. What has
no row is an error.
"""
from .graph import Trace

UFUNCS, FUNCTIONS, METHODS = {}, {}, {}

# What to do instead, where a function or a method has no row, behind "is not recorded".
HINTS = {
    "apply_along_axis": ": call the function with `axis`, or for each row of a loop",
    "apply_over_axes": ": functions take several axes, as in `x.sum(axis=(0, 1))`",
    "polymul": ", as it drops zeros in front: `np.convolve` does not",
    "tolist": ", as its values are those of a run: return the array, and call tolist of the result",
    "tobytes": ", as its values are those of a run: return the array",
    "flat": ": `x.ravel()[i]` reads in this order",
}


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


def array_of(value):
    """An argument as what a recorded function sees, for rows in NumPy's vocabulary."""
    from .array import Array  # which calls rows
    return value if isinstance(value, Array) else Array(node_of(value), is_number=False)
