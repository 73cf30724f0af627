"""Measures one case of rivals.py: ours and its rivals in turns, after a look at their results.

In: a case, the bundle of its program, and a number of workers, which is also the number of threads of each rival.
Out: the line of the case. A process measures one case once, so that its memory is nobody else's.
"""
import math
import os
import statistics
import sys
import time
from types import SimpleNamespace

import numpy as np
import rival_sides
from rival_cases import drawn
from rival_sides import Side

root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
pause = 0.04      # seconds between two sides: threads of the one before have gone to sleep
shortest = 0.02   # seconds that a sample takes at least, by repetition
head = (f"{'case':24} workers    ours ms   rival ms   ratio    bare ms   floor ms     MiB   rival  "
        "rival, or slowest : fastest")


def ours(axon, bundle, entry, arguments, workers):
    """Runs an entry over and over. Nothing but the run itself is timed, so the results stay where they are."""
    model = axon.load(bundle, workers=workers)
    given = {k: v for k, v in arguments.items() if k != "p"}
    if "p" in arguments:
        model = model.bind(p=arguments["p"])
    from held_call import HeldCall
    call = HeldCall(model[entry], given)
    return call.run, call.results, (call, model)


def peak(run):
    """MiB that the process grows by while this runs for the first time, and what it returns."""
    def of(key):
        with open("/proc/self/status") as file:
            return int(file.read().split(key + ":")[1].split()[0]) / 1024
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = of("VmRSS")
    result = run()
    return of("VmHWM") - before, result


def difference(a, b):
    """Of two results, relative to the largest element; infinite where they differ in form, or in integers."""
    if isinstance(b, tuple):
        return max(map(difference, a, b)) if len(a) == len(b) else math.inf
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return math.inf
    if a.dtype.kind != "f":
        return 0.0 if np.array_equal(a, b) else math.inf
    gap = np.abs(a.astype(np.float64) - b).max(initial=0)
    return float(gap / max(np.abs(b).max(initial=0), 1e-30)) if np.isfinite(gap) else math.inf


def medians(sides, workers, budget):
    """Milliseconds of each of several sides, in turns."""
    def timed(run, times):
        start = time.perf_counter()
        for _ in range(times):
            run()
        return (time.perf_counter() - start) / times
    once = []
    for side in sides:
        side.ready(workers)
        once.append(timed(side.run, 1))
    times = [max(1, math.ceil(shortest / max(t, 1e-7))) for t in once]
    cost = sum(pause + (k + (t < 0.5)) * t for t, k in zip(once, times))
    rounds = max(1, min(15, int(budget / cost)))
    samples = [[] for _ in sides]
    for _ in range(rounds):
        for side, t, k, found in zip(sides, once, times, samples):
            time.sleep(pause)
            side.ready(workers)
            if t < 0.5:
                side.run()  # wakes the threads
            found.append(timed(side.run, k))
    return [1000 * statistics.median(found) for found in samples]


def sides_with_rivals(case, bundle, axon, arguments, workers):
    """What to run, ours first, and the memory of each, after a look at their results."""
    run, results, kept = ours(axon, bundle, case.entry, arguments, workers)
    sides, memory = {"": Side(run)}, {"": peak(run)[0]}
    rival_sides.set_threads(workers)
    for name, rival in case.rivals.items():
        side = rival(SimpleNamespace(**arguments), workers)
        if side is None:
            continue
        sides[name] = side if isinstance(side, Side) else Side(side)
        sides[name].ready(workers)
        memory[name], expected = peak(sides[name].run)
        gap = difference(results(), expected)
        if not gap <= case.tolerance:
            raise ValueError(f"the result differs from that of {name} by {gap:.2g}")
    return sides, memory, kept


def sides_of_orders(case, bundle, axon, arguments, workers):
    sides, memory, kept, first = {}, {}, [], None
    for name, axes in case.orders.items():
        turned = {k: np.ascontiguousarray(v.transpose(axes[k])) if k in axes else v for k, v in arguments.items()}
        run, results, more = ours(axon, bundle, name, turned, workers)
        sides[name], memory[name] = Side(run), peak(run)[0]
        kept.append(more)
        result = results()
        if "result" in axes:
            result = result.transpose(np.argsort(axes["result"]))
        first = result if first is None else first
        gap = difference(result, first)
        if not gap <= case.tolerance:
            raise ValueError(f"the result of {name} differs by {gap:.2g}")
    return sides, memory, kept


def measure(case, bundle, workers, seconds):
    import axon
    arguments = drawn(case.arguments, np.random.default_rng(1))
    make = sides_of_orders if case.orders else sides_with_rivals
    try:
        sides, memory, kept = make(case, bundle, axon, arguments, workers)
    except (axon.Error, ValueError) as error:
        print(f"{case.name:24} {workers:7} failed: {error}", flush=True)
        sys.exit(1)
    timed = dict(sides)
    timed |= {(name, "bare"): Side(side.bare, blas=side.blas) for name, side in sides.items() if side.bare}
    if case.floor:
        timed["floor"] = Side(rival_sides.floor(case.floor, arguments["x"]))
    found = dict(zip(timed, medians(list(timed.values()), workers, seconds)))
    mine = max(sides, key=found.get) if case.orders else ""
    rival = min((name for name in sides if case.orders or name), key=found.get)
    bare = min((ms for name, ms in found.items() if isinstance(name, tuple)), default=None)
    extra = " ".join(f"{'-' if ms is None else format(ms, '.3f'):>10}" for ms in (bare, found.get("floor")))
    print(f"{case.name:24} {workers:7} {found[mine]:10.3f} {found[rival]:10.3f} {found[mine] / found[rival]:7.2f} "
          f"{extra} {memory[mine]:7.1f} {memory[rival]:7.1f}  {mine + ' : ' if mine else ''}{rival}", flush=True)
