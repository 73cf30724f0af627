"""What a recorded function is: arguments and results of all forms, facts of sizes and new recordings, threads, and the
errors of what is not recorded, each with the line that it is about.

usage: test_functions.py    (with PYTHONPATH at the package and this folder)
"""
import dataclasses
import math
import threading
import typing
import unittest

import numpy as np

import axon
from axon.record.function import together

SCALE = np.array([1.0, 2.0, 3.0])
FACTOR = 2.0


OFFSET = 1.0


def offset(x):
    return x + OFFSET


@dataclasses.dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


class Pair(typing.NamedTuple):
    first: np.ndarray
    second: np.ndarray


@axon.function
def dense(x, layer, activation="tanh"):
    y = x @ layer.w + layer.b
    return np.tanh(y) if activation == "tanh" else y


@axon.function
def swapped(pair, more):
    return Pair(pair.second, pair.first * more["factor"]), {"sum": more["list"][0] + more["list"][1], "none": None}


@axon.function
def scaled(x):
    return x * SCALE * FACTOR


@axon.function
def head(x, k):
    return x[:k] * k, x.shape[0] - k


@axon.function
def branch(x):
    return x * 2 if x.shape[0] > 3 else x - 1


@axon.function
def added(x, y):
    return x + y


@axon.function
def weighted(x, alpha):
    return x * alpha


@axon.function
def normal(x):
    return x / (x.max() + 1e-8)


@axon.function
def rows(x):
    return [row * 2 for row in x]


@axon.function
def first_of(x):
    return x, x[0], 5, "five"


@axon.function
def both(x):
    return weighted(x, 2.0) + added(x, x)


@axon.function
def doubled_in_place(x):
    y = x.copy()
    y *= 2
    y[0] += 1
    return y, x


@axon.function
def numbers(x, y):
    total = x.sum()
    kept = total
    total += 1
    square = np.squeeze(x[:1]) * 1
    made = np.zeros(())
    alias = made
    made += total
    z = y
    z += 1
    return (kept, total, y, z, square, alias, np.where(total > y, total, y), x[0, ...], x[0], np.array(total), np.copy(y),
            total.reshape(()), np.squeeze(x[:1]).copy(), np.asarray(y), x.max(), True + x.shape[0], x.shape[0] & 3)


@axon.function
def stored_parts(x):
    parts = np.zeros((3, 2), np.float32)
    for i in range(3):
        parts[i, 0] = x[i].min()
        parts[i, 1] = i
    like = np.ones_like(SCALE)
    like[1:] = x[0, :2]
    return parts, like, np.ones(3).tolist(), np.linalg.inv(np.full((1, 1), 2.0))[0, 0] * parts


@axon.function
def unsigned(x):
    return x.sum(), np.cumsum(x)


def prepared():
    """Compiles the first recording of each, together."""
    x = np.arange(6.0).reshape(2, 3)
    f4 = np.ones(5, np.float32)
    together([(dense, (x, Layer(np.ones((3, 4)), np.ones(4)))), (scaled, (x,)), (head, (np.arange(7.0), 3)),
              (swapped, (Pair(x, x), {"factor": 0.5, "list": [x, x]})), (branch, (np.arange(5.0),)),
              (branch, (np.arange(2.0),)), (added, (x, x)), (added, (x, x[:1])), (weighted, (f4, 0.5)),
              (weighted, (f4, 1e300)), (weighted, (f4, np.float32(0.5))), (normal, (f4,)), (rows, (x,)), (first_of, (x,)),
              (both, (np.arange(4.0),)), (doubled_in_place, (np.arange(4.0),)), (unsigned, (np.ones(3, np.uint8),)),
              (numbers, (np.arange(3.0), np.float64(2))), (stored_parts, (np.ones((3, 4)),))])


class Calls(unittest.TestCase):
    def same(self, found, expected):
        self.assertIs(type(found), type(expected))
        if isinstance(expected, (tuple, list)):
            for one, other in zip(found, expected):
                self.same(one, other)
        elif isinstance(expected, dict):
            self.same([*found.items()], [*expected.items()])
        elif isinstance(expected, (np.ndarray, np.generic)):
            self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        else:
            self.assertEqual(found, expected)

    def check(self, function, *arguments, traces=None):
        self.same(function(*arguments), function.__wrapped__(*arguments))
        if traces is not None:
            self.assertEqual(len(function.traces), traces, function.traces)

    def test_containers(self):
        x = np.arange(6.0).reshape(2, 3)
        self.check(dense, x, Layer(np.ones((3, 4)), np.ones(4)))
        self.check(swapped, Pair(x, x + 1), {"factor": 0.5, "list": [x, x]})

    def test_static_arguments_are_part_of_the_key(self):
        before = len(dense.traces)
        x, layer = np.arange(6.0).reshape(2, 3), Layer(np.ones((3, 4)), np.ones(4))
        self.same(dense(x, layer, "none"), x @ layer.w + layer.b)
        self.same(dense(x, layer, activation="none"), x @ layer.w + layer.b)
        self.assertEqual(len(dense.traces), before + 2)

    def test_integers_are_sizes(self):
        self.check(head, np.arange(7.0), 3)
        self.check(head, np.arange(9.0), 5, traces=1)
        self.check(head, np.arange(9.0), 0, traces=1)

    def test_questions_about_sizes(self):
        for size in (5, 7, 2, 0, 3, 100):
            self.check(branch, np.arange(float(size)))
        self.assertEqual(len(branch.traces), 2)

    def test_equal_sizes_are_a_fact(self):
        x = np.arange(6.0).reshape(2, 3)
        self.check(added, x, x)
        self.check(added, np.ones((4, 7)), np.ones((4, 7)), traces=2)
        self.check(added, x, x[:1], traces=2)
        with self.assertRaisesRegex(axon.Error, r"test_functions.py:\d+: shapes \(2, 3\) and \(3, 2\) do not broadcast"):
            added(x, x.T)

    def test_numbers_are_weak(self):
        x = np.ones(5, np.float32)
        self.check(weighted, x, 0.5)
        self.check(weighted, x, 0.25, traces=3)
        self.check(weighted, x, 1e300, traces=3)
        self.check(weighted, x, np.float32(0.5), traces=3)

    def test_types_that_hang_on_values_are_checked(self):
        self.check(normal, np.arange(1, 6, dtype=np.float32))
        clipped = axon.function(lambda x: x + x.sum())
        small = np.ones(3, np.int8)
        self.same(clipped(small), small + small.sum())
        with self.assertRaisesRegex(axon.Error, r"test_functions.py:\d+: NumPy looks at the value of a number, 300"):
            clipped(np.full(3, 100, np.int8))

    def test_arrays_from_outside(self):
        global SCALE, FACTOR
        x = np.ones((2, 3))
        self.check(scaled, x)
        SCALE[0] = 7  # the array itself is read by each call
        self.check(scaled, x, traces=1)
        SCALE = np.array([5.0, 5.0, 5.0])
        self.check(scaled, x, traces=2)
        FACTOR = 3.0
        self.check(scaled, x, traces=3)

    def test_containers_from_outside(self):
        x, parts = np.ones(3), {"w": np.ones(3), "more": [2.0]}
        outer = axon.function(lambda x: x * parts["w"] + parts["more"][0])
        self.check(outer, x)
        parts["w"] = np.full(3, 7.0)
        self.check(outer, x, traces=2)
        parts["more"][0] = 3.0
        self.check(outer, x, traces=3)
        self.check(outer, x, traces=3)

    def test_functions_that_are_called(self):
        x = np.ones(3)
        outer = axon.function(lambda x: offset(x) + 1)
        self.check(outer, x)
        global OFFSET
        OFFSET = 5.0
        self.check(outer, x, traces=2)

    def test_rows_are_as_many_as_in_this_call(self):
        self.check(rows, np.ones((2, 3)))
        self.check(rows, np.ones((2, 5)), traces=1)

    def test_arguments_and_constants_are_returned(self):
        x = np.ones((2, 3))
        found = first_of(x)
        self.assertIs(found[0], x)
        self.assertEqual(found[2:], (5, "five"))

    def test_recorded_functions_call_each_other(self):
        self.check(both, np.arange(4.0))

    def test_changes_in_place_stay_inside(self):
        x = np.arange(4.0)
        self.check(doubled_in_place, x)
        self.same(x, np.arange(4.0))

    def test_numbers_are_not_changed_in_place(self):
        self.check(numbers, np.arange(3.0), np.float64(2))
        with self.assertRaisesRegex(axon.Error, "`y` is changed in place"):  # of an array without axes
            numbers(np.arange(3.0), np.array(2.0))

    def test_arrays_that_the_function_makes_are_stored_into(self):
        self.check(stored_parts, np.arange(12.0).reshape(3, 4))

    def test_axes_without_elements(self):
        nothing = axon.function(lambda x: (np.roll(x, 1), np.tile(x, 2), np.repeat(x, 0), np.diff(x), x[1:], x[::-1],
                                           x.sum(), np.sort(x), x.reshape(-1, 2), np.concatenate([x, x])))
        self.check(nothing, np.ones(0))
        self.check(nothing, np.ones(4), traces=2)

    def test_unsigned_sums(self):
        self.check(unsigned, np.full(3, 200, np.uint8))

    def test_threads(self):
        failures = []

        def work(seed):
            for size in range(2, 30):
                x = np.full((size, 3), float(seed))
                if not np.array_equal(added(x, x), x + x) or not np.array_equal(branch(x[:, 0]), branch.__wrapped__(x[:, 0])):
                    failures.append(seed)
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(failures, [])

    def test_other_threads_have_numpys_own(self):
        found = []

        def asked(x):
            one = threading.Thread(target=lambda: found.append(
                (np.r_[1, 2:4], np.fft.fftfreq(3), np.zeros(2), np.tril_indices(2))))
            one.start()
            one.join()
            return np.r_[x, 1.0]
        joiner = np.r_
        self.check(axon.function(asked), np.ones(3))
        self.assertIs(np.r_, joiner)
        for one, other in zip(found[0], (np.r_[1, 2:4], np.fft.fftfreq(3), np.zeros(2), np.tril_indices(2))):
            np.testing.assert_array_equal(one, other)

    def test_the_text_is_a_program(self):
        text = branch.text(np.arange(5.0))
        self.assertIn("entry branch (x : f64[n]) where 4 <= n =", text)
        self.assertIn("x * 2.0", text)

    def test_recordings_are_limited(self):
        counted = axon.function(lambda x, n: x.reshape(-1) if range(n) else x)
        with self.assertRaisesRegex(axon.Error, r"was recorded \d+ times") as caught:
            for size in range(1, 200):
                counted.text(np.ones(3), size)
        self.assertEqual(caught.exception.code, "N009")


def line_of(function):
    return function.__code__.co_firstlineno


REFUSED = [  # (function, part of the message)
    (lambda x: x if x.sum() > 0 else -x, "np.where"),
    (lambda x: float(x.sum()), "float(x)"),
    (lambda x: int(x[0]), "int(x)"),
    (lambda x: math.sqrt(x[0]), "float(x)"),
    (lambda x: list(range(x[0])), "used as an integer"),
    (lambda x: np.fft.fft(x), "np.fft.fft is not recorded"),
    (lambda x: np.linalg.inv(x), "np.linalg.inv is not recorded"),
    (lambda x: np.trim_zeros(x), "np.trim_zeros is not recorded"),
    (lambda x: x.tolist(), "`.tolist` of an array is not recorded, as its values are those of a run"),
    (lambda x: np.block([x, np.frexp(x)[0]]), "np.frexp is not recorded"),
    (lambda x: np.einsum_path("i,i", x, x), "np.einsum_path is not recorded"),
    (lambda x: x[x > 0] + x[x < 5], "how many elements a mask chooses only the data decides"),
    (lambda x: x[x > 5][0], "index 0 is out of an axis of 0, which the data has decided"),
    (lambda x: x[x > 0][-4], "index -4 is out of an axis of 3, which the data has decided"),
    (lambda x: x[x > 0][::2], "a slice with a step"),
    (lambda x: range(x[x > 0].shape[0]), "how many elements a mask chooses only the data decides"),
    (lambda x: x[None][:, x > 0].argmax(1), "np.argmax of what a mask chooses is not recorded"),
    (lambda x: np.percentile(x[x > 5], 50), "np.percentile of nothing"),
    (lambda x: x[x > 5].max(), "np.max of nothing"),
    (lambda x: x[x[:2] > 0], "a mask of (2) does not fit (3)"),
    (lambda x: f"{x}", "the text of an array needs its values"),
    (lambda x: f"{x.sum():.3f}", "the text of an array needs its values"),
    (lambda x: np.array([1.0, 2.0]).__setitem__(0, x[0]), "is made by np.zeros"),
    (lambda x: np.array([1.0, 2.0]).__setitem__(slice(2), x[:2]), "is made by np.zeros"),
    (lambda x: SCALE.__iadd__(x), "np.add changes an array that is not recorded"),
    (lambda x: x[: x.argmax()], "give Python's integers"),
    (lambda x: np.zeros(x.sum()), "give Python's integers"),
    (lambda x: x.reshape(x.argmax(), -1), "give Python's integers"),
    (lambda x: x @ np.ones(5), "inner sizes of `@` differ: (3) and (5)"),
    (lambda x: x + np.ones(4), "shapes (3) and (4) do not broadcast"),
    (lambda x: x.reshape(2, 2), "(3) does not become (2, 2)"),
    (lambda x: x[3], "index 3 is out of an axis of 3"),
    (lambda x: x[0, 0], "too many indices"),
    (lambda x: x.sum().__setitem__(..., 1), "a number is not changed"),
    (lambda x: x.sum(axis=1), "axis 1 is out of an array of 1 axes"),
    (lambda x: x.__iadd__(1), "is changed in place, which is the caller's"),
    (lambda x: np.concatenate([x, x[:, None]]), "are not joined"),
    (lambda x: np.max(x, where=x > 0), "np.max with `where` needs `initial`"),
    (lambda x: np.sum(x, where=np.ones(4) > 0), "shapes (3) and (4) do not broadcast"),
    (lambda x: np.add(x, x, where=x > 0), "np.add with `where` and without `out` leaves elements open"),
    (lambda x: np.sum(x, 0, None, SCALE), "np.sum with `out` by its place is not recorded"),
    (lambda x: np.sum(x, axis=0, out=SCALE), "np.sum changes an array that is not recorded"),
    (lambda x: np.cumsum(x, out=np.zeros(4)), "np.cumsum gives (3), and `out` has (4)"),
    (lambda x: np.cumsum(x, out=np.zeros(3, int)), "np.cumsum of float64 does not become the int64 of `out`"),
    (lambda x: np.add(x, x, dtype=np.int32), "np.add: float64, float64 as int32 in casting 'same_kind'"),
    (lambda x: x.reshape(-1, order="A"), "order 'A' hangs on how the array lies"),
    (lambda x: np.copyto(np.zeros(3, int), x), "np.copyto of float64 into int64 in casting 'same_kind'"),
    (lambda x: np.place(np.zeros(3, np.float32), x > 0, x), "np.place of float64 into float32, which does not hold it"),
    (lambda x: np.polymul(x, x), "np.polymul is not recorded, as it drops zeros in front"),
    (lambda x: np.putmask(SCALE, SCALE > 0, x), "np.putmask changes an array that is not recorded"),
    (lambda x: np.roll(x[None], (1, 2, 3), (0, 1)), "3 shifts for 2 axes"),
    (lambda x: np.searchsorted(x[None], x), "np.searchsorted looks in an array of one axis, not of 2"),
    (lambda x: np.convolve(x, x[:0]), "np.convolve of nothing"),
    (lambda x: np.convolve(x, x, "some"), "is 'full', 'same' or 'valid', not 'some'"),
    (lambda x: np.interp(x, x, x[:2]), "are two arrays of one axis and of one size"),
    (lambda x: np.quantile(x, 1.5), "np.quantile is between 0 and 1, not at 1.5"),
    (lambda x: np.percentile(x, x + 100), "np.percentile is between 0 and 100"),
    (lambda x: np.quantile(x, 0.5, method="weibull"), "by the method 'weibull' is not recorded"),
    (lambda x: np.bincount(x), "np.bincount counts integers of one axis"),
    (lambda x: np.bincount(x.astype(int) - 2), "np.bincount counts no negative numbers"),
    (lambda x: np.bincount(x.astype(int), minlength=1), "np.bincount gives 2 bins here"),
    (lambda x: np.histogram(x, "auto"), "np.histogram with 'auto' bins is not recorded"),
    (lambda x: np.histogram(np.log(x - 1)), "np.histogram of numbers that are not all finite"),
    (lambda x: np.digitize(x, np.sin(np.arange(9) + x[0])), "the bins of np.digitize go up and down"),
    (lambda x: np.average(x, weights=x * 0), "the weights of np.average sum to 0"),
    (lambda x: np.delete(x, 3), "np.delete at position 3 of an axis of 3"),
    (lambda x: np.unique(x[None], axis=0), "np.unique with `axis`"),
    (lambda x: np.repeat(x, [1, 2]), "np.repeat has 2 numbers of copies for an axis of 3"),
    (lambda x: np.pad(x, 4, "reflect"), "np.pad in mode 'reflect' by more than the axis has is not recorded"),
    (lambda x: np.r_["r", x], "np.r_ and np.c_ with texts"),
    (lambda x: x.item(), ".item() of 3 elements"),
    (lambda x: x.flat[0], "`.flat` of an array is not recorded: `x.ravel()[i]` reads"),
    (lambda x: x.round(1, None), "is recorded, but not with these arguments"),
    (lambda x: x + "a", "nothing that an array is made of"),
    (lambda x: x + 1j, "complex128 is no element type"),
    (lambda x: np.arange(4) ** -x.astype(int)[0], "integers to negative powers are not allowed in NumPy"),
    (lambda x: x.astype(np.uint8).sum() / 2, "uint64"),
    (lambda x: x[:0].max(), "of nothing"),
    (lambda x: (5 in x), "`in` looks at values"),
    (lambda x: x.clip(), "np.clip needs a bound"),
    (lambda x: -(x > 0), "np.negative"),
    (lambda x: np.asarray(x, dtype=str), "no element type"),
    (lambda x: x + np.random.rand(3), "np.random.rand would be drawn once"),
    (lambda x: np.add.at(x, 0, 1), "is changed in place, which is the caller's"),
    (lambda x: np.hypot.at(x * 1, 0, 1), "np.hypot.at is not recorded"),
]


class Refused(unittest.TestCase):
    def test_positions_are_checked_on_each_axis(self):
        def marked(x, i, j):
            y = x * 1
            y[i, j] = 7
            return y
        function = axon.function(marked)
        function(np.ones((2, 3)), np.array([1]), np.array([-3]))
        for i, j in [(0, 3), (2, 0), (0, -4), (-3, 0)]:
            with self.subTest(i=i, j=j), self.assertRaisesRegex(
                    axon.Error, rf"test_functions.py:{line_of(marked) + 2}: .*(is not in|must be at least)"):
                function(np.ones((2, 3)), np.array([i]), np.array([j]))

    def test_messages(self):
        for function, part in REFUSED:
            with self.subTest(part=part), self.assertRaises(axon.Error) as caught:
                axon.function(function)(np.ones(3))
            self.assertIn(part, str(caught.exception))
            self.assertIn(f"test_functions.py:{line_of(function)}: ", str(caught.exception))
            self.assertRegex(caught.exception.code, "^N00[1-8]$")

    def test_codes(self):
        x, kept = np.ones(3), []
        axon.function(lambda x: kept.append(x) or 1)(x)
        for code, function in [("N001", lambda x: x + np.ones(4)), ("N002", lambda x: x if x.sum() else x),
                               ("N003", lambda x: np.trim_zeros(x)), ("N004", lambda x: x + 1j),
                               ("N005", lambda x: x.__iadd__(1)), ("N006", lambda x: x + kept[0]),
                               ("N006", lambda x: x + np.random.rand(3)), ("N007", lambda x: iter(())),
                               ("N008", lambda x: np.arange(3) ** -x.astype(int)[0])]:
            with self.subTest(code=code), self.assertRaises(axon.Error) as caught:
                axon.function(function)(x)
            self.assertEqual(caught.exception.code, code)

    def test_results_hold_nothing_recorded(self):
        def generated(x):
            yield x

        def as_set(x):
            return {1, x.ndim}

        def inner(x):
            return lambda: x
        for function, part in [(generated, "a generator is returned"), (as_set, "a set is"), (inner, "a function is")]:
            with self.subTest(part=part), self.assertRaises(axon.Error) as caught:
                axon.function(function)(np.ones(3))
            self.assertIn(part, str(caught.exception))
            self.assertIn(f"test_functions.py:{line_of(function)}: ", str(caught.exception))

    def test_views_of_changed_arrays(self):
        def stale(x):
            y = x * 1
            part = y[1:]
            y[0] = 5
            y[1] = 6  # until it is used, a stale view is fine
            return part
        line = line_of(stale)
        with self.assertRaisesRegex(axon.Error, rf"functions.py:{line}: a view .* changed since \(.*functions.py:{line + 2}\)"):
            axon.function(stale)(np.ones(3))

    def test_arguments(self):
        f = axon.function(lambda x: x)
        for value, part in [(np.ones(3, complex), "complex128"), (np.array(["a"]), "<U1"), (np.ones(3, "u2"), "uint16"),
                            (np.ma.array([1.0]), "masked array"), (np.array([None]), "object"), ({1, 2}, "a set"), (2**64, "no integer of 64 bits"), (object(), "a object, which is neither")]:
            with self.subTest(part=part), self.assertRaises(axon.Error) as caught:
                f(value)
            self.assertIn("argument `x`", str(caught.exception))
            self.assertIn(part, str(caught.exception))

    def test_kept_arrays(self):
        kept = []
        axon.function(lambda x: kept.append(x) or x)(np.ones(3))
        with self.assertRaisesRegex(axon.Error, "lives as long as its function is recorded"):
            kept[0] + 1
        with self.assertRaisesRegex(axon.Error, "another recording"):
            axon.function(lambda x: x + kept[0])(np.ones(3))

    def test_errors_of_the_function_are_its_own(self):
        def failing(x):
            raise KeyError("own")
        with self.assertRaises(KeyError):
            axon.function(failing)(np.ones(3))
        self.assertEqual(np.zeros(3).tolist(), [0, 0, 0])  # NumPy is as it was
        self.assertEqual(np.zeros.__module__, "numpy")


if __name__ == "__main__":
    prepared()
    unittest.main()
