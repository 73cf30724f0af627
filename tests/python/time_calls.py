"""What a call takes: microseconds of small entries, for one worker and for as many as pay off, and of what NumPy takes
to make an array of the result's shape. usage: PYTHONPATH=build/python tests/python/time_calls.py"""
import os
import sys
import timeit

import numpy as np

import axon

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "bench"))
from held_call import HeldCall  # pylint: disable=wrong-import-position

PROGRAM = """
entry double (x : f32[n]) = 2.0 * x
entry scaled (x : f32[n]) (a : f32) = a * x
entry record (p : {a : f32[n], b : f32[n]}) = { sum = p.a + p.b }
entry update (h : *f32[n]) (x : f32[n]) = h with [:] = h + x
"""


def microseconds(run, count=20_000):
    return min(timeit.repeat(run, number=count, repeat=7)) / count * 1e6


def bare(entry, named):
    """The run alone, without ctypes: what the library takes."""
    call = HeldCall(entry, named)
    through = microseconds(lambda: call.axon.axon_call_run(call.call, call.error))
    empty = microseconds(lambda: call.axon.axon_status_exit_code(0, 0))
    return through - empty


def main():
    x, h = np.ones(4, np.float32), np.zeros(4, np.float32)
    p = {"a": x, "b": x}
    print(f"numpy.empty(4, float32): {microseconds(lambda: np.empty((4,), np.float32)):.2f}")
    for workers in (1, 0):
        model = axon.compile(PROGRAM, workers=workers)
        for name, run in (("double(x)", lambda: model.double(x)), ("scaled(x, 2.5)", lambda: model.scaled(x, 2.5)),
                          ("scaled(x=x, a=2.5)", lambda: model.scaled(x=x, a=2.5)),
                          ("double([1, 2, 3, 4])", lambda: model.double([1, 2, 3, 4])),
                          ("record({a, b})", lambda: model.record(p)), ("update(h, x)", lambda: model.update(h, x))):
            print(f"workers={workers} {name:22} {microseconds(run):6.2f}", flush=True)
        print(f"workers={workers} {'axon_call_run of double':22} {bare(model.double, {'x': x}):6.2f}", flush=True)


if __name__ == "__main__":
    main()
