"""`etcc bench`: its table, its JSON and its timeline agree with each other, for all kinds of entries and sizes, and what
it refuses leaves nothing behind."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ETCC, PAGE = "", ""

PROGRAM = """\
entry layer (x : f32[n, k]) (w : f32[k, m]) = softmax (x @ w)
entry norm (x : f32[n, k]) (w : f32[k, m]) = rms_norm (x @ w) (for (j < m) => 1.0) 0.1
entry steps (x : f32[n]) = iterate 5 (fn s => flip s * 0.5 + 1.0) x
entry shown (x : f32[n]) = let y = debug "doubled" (x * 2.0) in sum y
entry halved (x : f32[n]) = while (fn s => sum s > 1.0) (fn s => s * 0.5) (for (i < n) => 8.0 + x[i])
entry selected (x : f32[n]) = x[nonzero (for (i < n) => x[i] > 0.0)]
entry kept (s : *f32[n, k]) (at : i64) where 0 <= at, at < n = s with [at] = (for (j < k) => 1.0)
entry weighted (p : weights {w : f32[k, m]}) (x : f32[n, k]) = x @ p.w
entry nothing = 3.0
"""

SIZES = {"layer": "n k m", "norm": "n k m", "steps": "n", "shown": "n", "halved": "n", "selected": "n", "weighted": "n k m",
         "nothing": ""}


def etcc(*arguments, environment=()):
    done = subprocess.run([ETCC, *arguments], capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, **dict(environment)})
    return done.returncode, done.stdout, done.stderr


class Bench(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.program = self.path("program.axn")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def measured(self, entry, *words):
        """The JSON of a benchmark, and the events of its timeline."""
        trace = self.path("trace.json")
        status, out, err = etcc("bench", self.program, entry, *words, "--seconds=0", "--json", "--trace", trace)
        self.assertEqual((status, err), (0, ""))
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)
        os.remove(trace)
        return json.loads(out), events

    def check(self, bench, events):
        """What holds of every benchmark."""
        workers = bench["workers"]
        self.assertGreater(bench["time"], 0)
        self.assertEqual(bench["traced"]["lost"], 0)
        self.assertGreater(bench["probes"]["multiply_adds"], 1e8)
        self.assertTrue(all(rate["rate"] > 1e8 for rate in bench["probes"]["bandwidths"]))
        for one in [bench, *bench["types"]]:
            self.assertGreaterEqual(one["floor"], 0)
            self.assertEqual(one["by"] == "nothing", one["floor"] == 0)
            self.assertGreaterEqual(one["bytes"], one["outside"])
            self.assertGreaterEqual(min(one["outside"], one["operations"], one["boxes"], one["busy"]), 0)
            if one["time"] > 0:
                self.assertAlmostEqual(one["ratio"], one["floor"] / one["time"])
        # The parts of the fastest launch are not longer than it.
        busy = sum(type["busy"] for type in bench["types"])
        self.assertAlmostEqual(busy, bench["busy"], delta=1e-6 * busy)
        self.assertLessEqual(busy, workers * bench["traced"]["fastest"] * 1.001)
        for key in ("tasks", "operations", "boxes"):
            self.assertEqual(sum(type[key] for type in bench["types"]), bench[key])
        self.check_events(bench, events)

    def check_events(self, bench, events):
        """The timeline has the tasks of the types, one after the other on each worker."""
        tasks, busy, last = {}, {}, {}
        for event in events:
            self.assertEqual((event["ph"], event["pid"]), ("X", 0))
            self.assertIn(event["tid"], range(bench["workers"]))
            self.assertGreaterEqual(event["ts"] + 1e-6, last.get(event["tid"], 0))
            self.assertGreaterEqual(event["dur"], 0)
            last[event["tid"]] = event["ts"] + event["dur"]
            tasks[event["name"]] = tasks.get(event["name"], 0) + event["args"]["tasks"]
            busy[event["name"]] = busy.get(event["name"], 0) + 1000 * event["dur"]
        self.assertLessEqual(max(last.values(), default=0), bench["traced"]["fastest"] / 1000)
        self.assertEqual(tasks, {type["name"]: type["tasks"] for type in bench["types"] if type["tasks"] > 0})
        for type in bench["types"]:
            self.assertAlmostEqual(busy.get(type["name"], 0), type["busy"], delta=2 * len(events))

    def test_entries_of_all_kinds(self):
        for entry, sizes in SIZES.items():
            for workers in ("1", "2"):
                with self.subTest(entry=entry, workers=workers):
                    words = [f"{size}=70" for size in sizes.split()]
                    bench, events = self.measured(entry, *words, "--workers", workers)
                    self.assertEqual((bench["entry"], bench["workers"]), (entry, 1 if entry == "shown" else int(workers)))
                    self.assertEqual({k: v for k, v in bench["sizes"].items() if k in sizes.split()},
                                     {size: 70 for size in sizes.split()})
                    self.check(bench, events)

    def test_sizes_from_nothing_on(self):
        for size in (0, 1, 2, 5000):
            with self.subTest(size=size):
                bench, events = self.measured("steps", f"n={size}")
                self.check(bench, events)
                self.assertEqual(bench["bytes"], 8 * size)  # read and written once, however often it is looked at
                self.assertEqual(bench["floor"] > 0, size > 0)
                for event in events:
                    if "iteration" in event["args"]:
                        self.assertIn(event["args"]["iteration"], range(5))

    def test_what_is_counted(self):
        bench, events = self.measured("layer", "n=100", "k=50", "m=60")
        self.check(bench, events)
        self.assertEqual(bench["bytes"], 4 * (100 * 50 + 50 * 60 + 100 * 60))
        self.assertGreaterEqual(bench["operations"], 100 * 50 * 60)
        self.assertLess(bench["operations"], 100 * 50 * 60 + 10 * 100 * 60)
        self.assertGreaterEqual(bench["boxes"], bench["bytes"])
        bench, events = self.measured("weighted", "n=1", "k=50", "m=60")
        self.assertEqual(bench["bytes"], 4 * (50 + 50 * 60 + 60))

    def test_what_the_data_decides(self):
        bench, events = self.measured("halved", "n=4")  # about 32 halved until it is at most 1
        self.check(bench, events)
        (loop,) = {type["tasks"] for type in bench["types"] if type["tasks"] > 1}
        self.assertIn(loop, (5, 6))
        bench, events = self.measured("selected", "n=4000")
        self.check(bench, events)
        self.assertTrue(any(0 < value < 4000 for value in bench["sizes"].values()), bench["sizes"])

    def test_states(self):
        bench, events = self.measured("kept", "n=10", "k=1000", "at=3")
        self.check(bench, events)
        self.assertEqual(bench["bytes"], 4 * 1000)  # the row that is written

    def test_coordinates(self):
        bench, events = self.measured("layer", "n=1000", "k=50", "m=900", "--workers=2")
        self.check(bench, events)
        firsts = [tuple(event["args"]["first"].items()) for event in events]
        self.assertGreater(len(set(firsts)), 1)
        self.assertTrue(all(first for first in firsts))

    def test_the_page_names_every_key(self):
        def keys(value):
            if isinstance(value, dict):
                return set(value).union(*map(keys, value.values()))
            return set().union(*map(keys, value)) if isinstance(value, list) else set()

        with open(PAGE, encoding="utf-8") as file:
            named = set(re.findall(r"`(\w+)`", file.read()))
        bench, events = self.measured("nothing")
        self.assertLessEqual(keys(bench), named)
        self.assertLessEqual(keys(events) - {"ph", "pid"}, named)

    def test_the_table(self):
        status, out, err = etcc("bench", self.program, "layer", "n=70", "k=33", "m=50", "--seconds=0")
        self.assertEqual((status, err), (0, ""))
        rows = out.split("\n\n")[0].splitlines()
        bench, _ = self.measured("layer", "n=70", "k=33", "m=50")
        self.assertEqual({row.split()[0] for row in rows[1:-2]}, {type["name"] for type in bench["types"]})
        self.assertTrue(rows[-2].startswith("(no task)"))
        self.assertEqual(rows[-1].split()[0], "layer")
        self.assertIn("probed:", out)

    def test_of_a_bundle(self):
        bundle = self.path("program.axb")
        self.assertEqual(etcc("build", self.program, "--level", "x86-64-v2", "-o", bundle)[0], 0)
        for file in (bundle, self.program):
            status, out, err = etcc("bench", file, "steps", "n=9", "--seconds=0", "--json", "--level", "x86-64-v2")
            self.assertEqual((status, err), (0, ""))
            self.assertEqual(json.loads(out)["level"], "x86-64-v2")
        os.remove(self.program)
        status, out, err = etcc("bench", bundle, "steps", "n=9")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("error[E0801]", err)
        self.assertIn("was made from `program.axn`, which is not beside it", err)

    def test_errors(self):
        one = self.path("one.axn")
        with open(one, "w", encoding="utf-8") as file:
            file.write("entry f (x : f32[n]) = x\n")
        for words, status, said in (([self.program], 1, "error[E0610]: the file has several entries"),
                                    ([self.program, "layr"], 1, "error[E0610]: the file has no entry `layr`"),
                                    ([self.program, "layer", "n=3"], 1, "error[E0821]: `layer` has sizes that are not given: `k`, `m`"),
                                    ([one, "n=3", "z=3"], 1, "error[E0801]: no entry has a size `z`"),
                                    ([one, "n=9223372036854775807"], 1, "error[E0"),
                                    ([self.program, "layer", "norm"], 2, "one entry is measured at a time"),
                                    ([self.program, "layer", "--entry", "norm"], 2, "one entry is measured at a time"),
                                    ([self.program, "--entry", "layr"], 1, "the file has no entry `layr`"),
                                    ([one, "n=-3"], 2, "a size is written as n=12"),
                                    ([one, "n=1", "n=2"], 2, "given twice"),
                                    ([one, "n=1", "--level=all"], 2, "one level is measured at a time"),
                                    ([one, "n=1", "--level=x86-64-v9"], 2, "--level"),
                                    ([one, "n=1", "--seconds=-1"], 2, "--seconds"),
                                    ([one, "n=1", "--workers=100000"], 1, "error[E0801]"),
                                    ([one, "n=1", "--trace=-"], 2, "goes to stdout"),
                                    ([self.path("none.axn"), "n=1"], 1, "error[E0")):
            with self.subTest(words=words):
                trace = self.path("trace.json")
                got, out, err = etcc("bench", *words, *([] if "--trace=-" in words else ["--trace", trace]))
                self.assertEqual((got, out), (status, ""))
                self.assertIn(said, err)
                self.assertFalse(os.path.exists(trace))

    def test_a_level_that_the_machine_lacks(self):
        for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
            status, out, err = etcc("bench", self.program, "nothing", "--level", level, "--seconds=0", "--json")
            if status == 0:
                self.assertEqual(json.loads(out)["level"], level)
            else:
                self.assertEqual((status, out), (1, ""))
                self.assertIn("error[E0815]", err)

    def test_a_timeline_that_cannot_be_written(self):
        before = sorted(os.listdir(self.folder.name))
        for trace in (self.path("no/such/folder.json"), self.folder.name):
            status, out, err = etcc("bench", self.program, "steps", "n=9", "--seconds=0", "--trace", trace)
            self.assertEqual((status, out), (1, ""))
            self.assertIn("error[E0701]", err)
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)

    def test_debugged_values_are_not_shown(self):
        status, out, err = etcc("bench", self.program, "shown", "n=3", "--seconds=0")
        self.assertEqual((status, err), (0, ""))
        self.assertNotIn("doubled =", out)

    def test_errors_for_programs(self):
        status, out, err = etcc("bench", self.program, "layer", "--error-format=json")
        self.assertEqual((status, out), (1, ""))
        self.assertEqual([error["code"] for error in json.loads(err)], ["E0821"])


if __name__ == "__main__":
    PAGE = sys.argv.pop(2)
    ETCC = sys.argv.pop(1)
    unittest.main()
