"""Every function of the library at NaN, infinities, zeros of both signs, the ends of every type and in far tails, in the
interpreter and natively at every level of this machine, against references in higher precision with stated bounds.

usage: test_numerics.py elements|rows EVALUATE LIBRARY

One program has an entry for each group of expressions over inputs of one type; EVALUATE runs all of them. The tables:
pointwise.py (one and two numbers), integers.py (integers and conversions), rows.py (reductions, norms, order) and
special.py (functions with more than that). `exempt` says of every other function of the library why it has no row.
"""
import collections
import functools
import math
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import integers
import pointwise
import rows
import special
from kinds import difference, kinds

group, evaluate, library = sys.argv[1], sys.argv[2], Path(sys.argv[3])
modules = ("attention", "conv", "loss", "pool", "position", "recurrent", "routing", "signal")

# Functions without arithmetic on elements of their own, by what they do.
exempt = {
    "elements move, or are counted by position": "transpose diagonal from_diagonal tril triu broadcast flatten unflatten first_to_last last_to_first"
    " repeat tile concat concat_last stack split split_last chunk flip flip_first roll pad pad_edge pad_reflect pad_wrap slice_clamped embedding"
    " take take_along iota full zeros ones eye one_hot heads split_heads merge_heads frames same keep over_first along_first over_two"
    " nonzero compress count causal window segments zero_lstm zero_gru backwards places histogram",
    "sums of products, checked against NumPy": "matmul dequantize dot outer linear trace kronecker conv1d conv2d conv3d conv2d_strided grouped1d grouped2d"
    " grouped3d transposed1d transposed2d transposed3d dft inverse_dft power_spectrum spectrogram overlap_add rope rope_halves"
    " decay selective_scan linear_attention retention delta_rule by_all by_gather by_capacity all_weights smooth relative_bias",
    "networks of functions with rows": "gru_cell lstm_cell lstm gru elman_cell elman gated glu swiglu geglu group_norm instance_norm batch_norm"
    " cross multi_head causal_attention grouped top_gates switch_gates balance contrastive_pairs cosine_embedding contrastive triplet"
    " moving_mean negative_log_likelihood",
    "pools in more dimensions": "max_pool2d mean_pool2d max2d max3d max2d_ceil max3d_ceil mean2d mean3d mean2d_ceil mean3d_ceil adaptive_max2d"
    " adaptive_max3d adaptive_mean2d adaptive_mean3d global_max2d global_max3d global_mean2d global_mean3d",
    "control, or a form of a function with a row": "fold scan iterate while debug dim reduce argsmallest arglargest cumulative met"
    " as_factor times_sigmoid sort_with_order scatter add sub mul div mod eq ne lt le gt ge and or real cast",
}

Call = collections.namedtuple("Call", "entry number values checks")  # values: path -> (axes, numbers)


class Program:
    """Entries over inputs of one type, and calls of them."""

    def __init__(self):
        self.entries, self.calls, self.expressions = [], [], []

    def add(self, parameters, expressions, where=""):
        """An entry of up to ten results each; the names of the entries."""
        names = []
        for i in range(0, len(expressions), 10):
            group = expressions[i:i + 10]
            name = f"e{len(self.entries)}"
            text = "(" + ", ".join(group) + ")" if len(group) > 1 else group[0]
            self.entries.append(f"entry {name} {parameters} {where} = {text}")
            self.expressions += group
            names.append((name, slice(i, i + 10)))
        return names

    def call(self, names, values, checks):
        for name, part in names:
            self.calls.append(Call(name, len(self.calls), values, checks[part]))

    def text(self):
        return "\n".join([f"import {m}" for m in modules] + self.entries) + "\n"

    def inputs(self):
        lines = []
        for call in self.calls:
            for path, (axes, numbers) in call.values.items():
                shown = " ".join(v.hex() if isinstance(v, float) else str(v) for v in numbers)
                lines.append(f"{call.entry}#{call.number} {path} {'x'.join(map(str, axes)) or '-'} {shown}")
        return "\n".join(lines) + "\n"


def flat(values):
    return [v for value in values for v in flat(value)] if isinstance(values, list) else [values]


def column_of(kind):
    """Which of a row's bounds holds."""
    return 2 if kind.half else ("f64", "f32").index(kind.name)


# ---- the tables as calls ----

def same(want):
    """A check of integers or of exact floats: the values one after the other."""
    def check(got):
        if len(got) != len(want):
            return [f"{len(got)} values for {len(want)}"]
        return [f"[{i}] {g} for {w}" for i, (g, w) in enumerate(zip(got, want))
                if not (g == w or (math.isnan(g) and math.isnan(w)))]
    return check


def pointwise_calls(program, kind):
    points = kind.points()
    references = [[row.want(x) if row.expression not in pointwise.not_of_nan or not math.isnan(x) else 0.0 for x in points]
                  for row in pointwise.unary]

    def unary_check(row, want):
        def check(got):
            units = row.units[column_of(kind)]
            out = []
            for x, g, w in zip(points, got, want):
                more = row.grows(x) if math.isfinite(x) else 0
                said = difference(kind, float(g), w, units + more, row.tiny * kind.tiny + row.around * kind.unit(1))
                out += [f"x = {x!r}: {said}"] if said else []
            return out
        return check
    names = program.add(f"(x : {kind.name}[n])", [row.expression for row in pointwise.unary])
    program.call(names, {"x": ([len(points)], points)},
                 [unary_check(row, want) for row, want in zip(pointwise.unary, references)])

    pairs = pointwise.pairs(kind)

    def binary_check(row):
        want = [row.reference(x, y) for x, y in pairs]

        def check(got):
            units = row.units[column_of(kind)]
            out = []
            for (x, y), g, w in zip(pairs, got, want):
                more = row.grows(x, y) if math.isfinite(x) and math.isfinite(y) and w is not None else 0
                said = difference(kind, float(g), w, units + more, row.tiny * kind.tiny)
                out += [f"x = {x!r}, y = {y!r}: {said}"] if said else []
            return out
        return check
    names = program.add(f"(x : {kind.name}[n]) (y : {kind.name}[n])", [row.expression for row in pointwise.binary])
    program.call(names, {"x": ([len(pairs)], [x for x, _ in pairs]), "y": ([len(pairs)], [y for _, y in pairs])},
                 [binary_check(row) for row in pointwise.binary])


def row_calls(program, kind):
    def row_check(row, given):
        want = [flat([row.reference(r)]) if row.fits(kind, r) else None for r in given]

        def check(got):
            at, out = 0, []
            column = column_of(kind)
            width = len(got) // len(given)
            for r, values in zip(given, want):
                mine = got[at:at + width]
                at += width
                if values is None:
                    continue
                if len(values) != width:
                    return [f"{width} values for {len(values)}"]
                for g, w in zip(mine, values):
                    value, scale = w if isinstance(w, tuple) else (w, None)
                    if scale is not None and value == g == 0:
                        said = ""  # a sum of 0 has either sign
                    elif row.result == "integer":
                        said = "" if g == value else f"{g} for {value}"
                    else:
                        around = row.around[column] * kind.unit(scale) if scale else 0
                        said = difference(kind, float(g), value, row.units[column] + row.each[column] * len(r), around)
                    if said:
                        out.append(f"{r}: {said}")
                        break
            return out
        return check
    # Order is the same program for every type: one of them is enough.
    table = [row for row in rows.rows if kind.name == "f32" or not row.order]
    for sizes, ns in ((None, (0, 1, 2, 4, 33)), ("some", (1, 2, 4, 33)), ("two", (2, 4, 33))):
        chosen = [row for row in table if row.sizes == sizes]
        least = {None: 0, "some": 1, "two": 2}[sizes]
        names = program.add(f"(x : {kind.name}[m, n])", [row.expression for row in chosen], f"where n >= {least}")
        for n in ns:
            given = rows.columns(kind, n)
            program.call(names, {"x": ([len(given), n], flat(given))}, [row_check(row, given) for row in chosen])


def integer_calls(program, t):
    def wrapped(values):
        return same([integers.wrapped(t, int(v)) for v in values])
    ones = integers.numbers(t)
    names = program.add(f"(x : {t}[n])", [e for e, _ in integers.of_one])
    program.call(names, {"x": ([len(ones)], ones)}, [wrapped([f(x) for x in ones]) for _, f in integers.of_one])
    for table, pairs in ((integers.of_two, [(x, y) for x in ones for y in ones]),
                         (integers.divisions, [(x, y) for x in ones for y in ones if y])):
        names = program.add(f"(x : {t}[n]) (y : {t}[n])", [e for e, _ in table])
        program.call(names, {"x": ([len(pairs)], [x for x, _ in pairs]), "y": ([len(pairs)], [y for _, y in pairs])},
                     [wrapped([f(x, y) for x, y in pairs]) for _, f in table])
    given = integers.rows(t)
    table = integers.of_rows + (integers.of_ordered_rows if t == "i64" else [])
    names = program.add(f"(x : {t}[m, n])", [e for e, _ in table], "where n >= 2")
    checks = [same(flat([[integers.wrapped(t, v) if "sum" in e or "prod" in e else v for v in flat([f(r)])] for r in given]))
              for e, f in table]
    program.call(names, {"x": ([len(given), 4], flat(given))}, checks)


def conversion_calls(program):
    narrow = list(kinds.values())
    for kind in narrow:
        points = integers.floats(kind)
        types = list(integers.widths) + ["bool"]
        names = program.add(f"(x : {kind.name}[n])", [f"{t} x" for t in types])
        program.call(names, {"x": ([len(points)], points)},
                     [same([integers.of_float(t, x) for x in points]) for t in types])
    for source in ("f64", "f32"):
        for kind in narrow:
            points = [kinds[source].rounded(p) for p in integers.between_floats(kind)]
            names = program.add(f"(x : {source}[n])", [f"{kind.name} x"])
            program.call(names, {"x": ([len(points)], points)}, [same([kind.rounded(p) for p in points])])
    for t in integers.widths:
        points = integers.close_integers(t)
        names = program.add(f"(x : {t}[n])", [f"{kind.name} x" for kind in narrow] + [f"{u} x" for u in integers.widths])
        program.call(names, {"x": ([len(points)], points)},
                     [same([kind.rounded(v) if v else 0.0 for v in points]) for kind in narrow]
                     + [same([integers.wrapped(u, v) for v in points]) for u in integers.widths])


def special_calls(program):
    kind = kinds["f32"]
    for case in special.cases(kind):
        names = program.add(case.parameters(kind), [case.expression])

        def check(got, case=case):
            units, absolute = case.bound(column_of(kind))
            want = flat(case.want)
            if len(got) != len(want):
                return [f"{len(got)} values for {len(want)}"]
            return [f"[{i}] {said}" for i, (g, w) in enumerate(zip(got, want))
                    if (said := difference(kind, float(g), w, units, absolute))]
        program.call(names, case.values(), [check])


# ---- running ----

def results_of(program):
    """The values of every result, by call and executor."""
    with tempfile.TemporaryDirectory() as directory:
        source, given = Path(directory, "program.axn"), Path(directory, "inputs")
        source.write_text(program.text())
        given.write_text(program.inputs())
        run = subprocess.run([evaluate, source, given], capture_output=True, timeout=600)
    if run.returncode:
        raise RuntimeError(run.stderr.decode())
    results, data, at = collections.defaultdict(lambda: collections.defaultdict(list)), run.stdout, 0
    while at < len(data):
        end = data.index(b"\n", at)
        executor, call, axes, kind = data[at:end].decode().split()
        count = math.prod(int(n) for n in axes.split("x")) if axes != "-" else 1
        numbers = np.frombuffer(data, np.float64 if kind == "f" else np.int64, count, end + 1)
        results[call][executor].append(numbers)
        at = end + 1 + 8 * count
    return results


groups = {
    "elements": {**{f"pointwise {k}": functools.partial(pointwise_calls, kind=kinds[k]) for k in kinds},
                 **{f"integers {t}": functools.partial(integer_calls, t=t) for t in integers.widths},
                 "conversions": conversion_calls},
    "rows": {**{f"rows {k}": functools.partial(row_calls, kind=kinds[k]) for k in kinds}, "special": special_calls},
}


@functools.cache
def everything():
    """The program of the group, its calls by part, and their results."""
    program, parts = Program(), {}
    for name, add in groups[group].items():
        first = len(program.calls)
        add(program)
        parts[name] = program.calls[first:]
    return program, parts, results_of(program)


class Numerics(unittest.TestCase):
    maxDiff = None

    def check(self, name):
        program, parts, results = everything()
        wrong = []
        for call in parts[name]:
            text = next(e for e in program.entries if e.startswith(f"entry {call.entry} "))
            for executor, values in results[f"{call.entry}#{call.number}"].items():
                self.assertEqual(len(values), len(call.checks))
                for i, (check, got) in enumerate(zip(call.checks, values)):
                    found = check(got.tolist())
                    if found:
                        wrong.append(f"{executor}, result {i} of {text[:200]}\n    {len(found)} wrong: " + "\n    ".join(found[:4]))
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_levels_agree_on_one_element(self):
        """Conversions give the same bits at every level. Functions do within their promises: where a level can, it
        rounds a product and a sum once."""
        program, parts, results = everything()
        for name, calls in parts.items():
            if not name.startswith(("pointwise", "conversions")):
                continue
            for call in calls:
                native = [v for k, v in results[f"{call.entry}#{call.number}"].items() if k != "interpreter"]
                for other in native[1:]:
                    for a, b in zip(native[0], other):
                        if name == "conversions":
                            bits = [np.where(np.isnan(v), 0, v).view(np.int64) for v in (a, b)]
                            np.testing.assert_array_equal(*bits, err_msg=call.entry)
                        else:
                            units = 2.0**-50 if name.endswith("f64") else 2.0**-21 if name.endswith("f32") else 2.0**-6
                            np.testing.assert_allclose(a, b, rtol=units, atol=units, err_msg=call.entry)

    def test_every_function_has_a_row(self):
        tables = [row.expression for row in pointwise.unary + pointwise.binary + rows.rows]
        tables += [e for e, _ in integers.of_one + integers.of_two + integers.divisions + integers.of_rows]
        tables += [case.expression for case in special.cases(kinds["f32"])]
        used = set(re.findall(r"\w+", " ".join(tables)))
        named = {name for names in exempt.values() for name in names.split()}
        declared = set()
        for path in [*library.glob("*.axn"), *library.glob("prelude/*.axn")]:
            declared |= set(re.findall(r"^(?:private )?(?:fun|prim) (\w+)", path.read_text(), re.M))
        self.assertEqual(sorted(declared - used - named), [], "functions without a row")
        self.assertEqual(sorted(named - declared), [], "exempt, and not in the library")


def add_test(name):
    setattr(Numerics, "test_" + name.replace(" ", "_"), lambda self: self.check(name))


for part in groups[group]:
    add_test(part)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
