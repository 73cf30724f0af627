"""Functions of elements that take numbers apart: fractions, signs, exponents; and what is left of complex numbers."""
import numpy as np

from . import views
from .graph import APPLY, ATOM, cast
from .place import complain
from .pointwise import answer_of, recorded, where
from .values import BOOL, I64
from .vocabulary import UFUNCS, node_of, says


@says(np.fix)
def fix(x):
    return recorded(np.trunc, x)


def _modf(x, **options):
    """What is behind the point, with the sign of x, and what is before it."""
    whole = recorded(np.trunc, x, **options)
    rest = recorded(np.subtract, x, whole)
    rest = where(recorded(np.isinf, x), whole.trace.constant(0, whole.dtype), rest)
    return recorded(np.copysign, rest, cast(node_of(x), whole.dtype)), whole


UFUNCS[np.modf] = _modf


def _ldexp(x, exponent):
    """Exponents beyond the range of the type are the last that make a difference."""
    x, exponent = node_of(x), node_of(exponent)
    if exponent.dtype.kind not in "iub":
        complain(f"np.ldexp takes integers as exponents, not {exponent.dtype}")
    dtype = answer_of(np.ldexp, [x, exponent])
    exponent = recorded(np.minimum, recorded(np.maximum, cast(exponent, I64), -4200), 4200)
    return x.trace.node(x.trace.broadcast([x.shape, exponent.shape]), dtype, (cast(x, dtype), exponent), lambda line: (
        f"scaled_by_power {line.typed(0, ATOM)} {line.typed(1, ATOM)}", APPLY))


UFUNCS[np.ldexp] = _ldexp


@says(np.sinc)
def sinc(x):
    """1 where x is 0, as the quotient of a number that is almost 0 is."""
    x = node_of(x)
    angle = recorded(np.multiply, np.pi, where(recorded(np.equal, x, 0), 1e-20, x))
    return recorded(np.true_divide, recorded(np.sin, angle), angle)


says(np.isposinf)(lambda x: recorded(np.equal, x, np.inf))
says(np.isneginf)(lambda x: recorded(np.equal, x, -np.inf))


# ---- Of complex numbers, which there are none of ----

@says(np.real)
def real(val):
    return node_of(val)


@says(np.imag)
def imaginary(val):
    node = node_of(val)
    return views.broadcast_to(node.trace.constant(0, node.dtype), node.shape)


@says(np.angle)
def angle(z, deg=False):
    radians = recorded(np.arctan2, 0, z)
    return recorded(np.multiply, radians, 180 / np.pi) if deg else radians


says(np.real_if_close)(lambda a, tol=100: node_of(a))
says(np.isrealobj)(lambda x: True)
says(np.iscomplexobj)(lambda x: False)
says(np.isreal)(lambda x: views.broadcast_to(node_of(x).trace.constant(True, BOOL), node_of(x).shape))
says(np.iscomplex)(lambda x: views.broadcast_to(node_of(x).trace.constant(False, BOOL), node_of(x).shape))
