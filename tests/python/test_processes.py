"""Threads on one model, forked children, processes of multiprocessing, and an interpreter that ends in between.
usage: test_processes.py WRITE_TEST_BUNDLE"""
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import unittest

import numpy as np

import axon
import support

path, directory = support.test_bundle()


class Processes(support.Case):
    def setUp(self):
        self.bundle = axon.load(path, workers=2)

    def test_eight_threads_on_one_model(self):
        for workers in (1, 2, 0):
            bundle = axon.load(path, workers=workers)
            wrong = []

            def use(seed):
                random = np.random.default_rng(seed)
                for _ in range(60):
                    n, m, a = (int(random.integers(1, 9)) for _ in range(3))
                    x, y = random.random((n, 2 * m), np.float32), np.zeros((m, n), np.float32)
                    expected = x + 1000 if n == 1 else x * np.float32(a)  # the variant for n <= 1
                    expected = expected.ravel()[:n * m].reshape(n, m)
                    if not np.array_equal(bundle.scale(x=x, a=a, y=y), expected):
                        wrong.append("scale")
                    rounds, start = int(random.integers(1, 12)), random.integers(0, 99, 4 * n, np.int32)
                    if not np.array_equal(bundle.chain(start, rounds), chained(start, rounds)):
                        wrong.append("chain")
                    cache = np.arange(n, dtype=np.int32)
                    if bundle.keep(cache, 0, n - 1)[0] != cache.sum():
                        wrong.append("keep")
                    try:
                        bundle.scale(x=x, a=a)
                        wrong.append("an argument of another call was taken")
                    except axon.Error as error:
                        if "not set: `y`" not in str(error):
                            wrong.append(str(error))

            def guarded(seed):
                try:
                    use(seed)
                except BaseException as error:  # else it would end its thread only
                    wrong.append(repr(error))
            threads = [threading.Thread(target=guarded, args=(seed,)) for seed in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])

    def test_a_forked_child_goes_on(self):
        for workers in (1, 2, 3, 0):
            bundle = axon.load(path, workers=workers)
            start = np.arange(40, dtype=np.int32)

            def right():
                return np.array_equal(bundle.chain(start, 9), chained(start, 9)) and axon.load(path).copy_i8([1], 2)[1] == 2

            self.assertTrue(right())
            stop = threading.Event()
            busy = [threading.Thread(target=lambda: [right() for _ in iter(stop.is_set, True)]) for _ in range(2)]
            for thread in busy:
                thread.start()
            try:
                for _ in range(5):
                    self.assertEqual(exit_code_of_child(right), 0)
            finally:
                stop.set()
                for thread in busy:
                    thread.join()
            self.assertTrue(right())

    def test_processes_of_the_library(self):
        global shared
        shared = self.bundle
        shared.chain(np.ones(5, np.int32), 2)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            sums = pool.map_async(sum_in_process, range(1, 9)).get(timeout=60)
        self.assertEqual(sums, [int(chained(np.arange(n), n).sum()) for n in range(1, 9)])


    def test_an_interpreter_that_ends_in_the_middle_of_calls(self):
        program = f"""
import sys, threading, time
import numpy as np
import axon
model = axon.load({path!r}, workers=int(sys.argv[1]))
start = np.arange(4000, dtype=np.int32)
def use():
    while True:
        model.chain(start, 9)
for _ in range(4):
    threading.Thread(target=use, daemon=True).start()
time.sleep(0.1)
print("ends", flush=True)
"""
        for workers in ("1", "2"):
            for _ in range(3):
                done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", program, workers], capture_output=True,
                                      text=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ends\n", ""))

    def test_calls_in_calls(self):
        """What makes an argument may call the same entry."""
        model = self.bundle

        class Made:
            def __dlpack__(self, **_):
                return np.asarray(model.scale(x, 2, y), np.float32).__dlpack__()

            def __dlpack_device__(self):
                return 1, 0

        x, y = np.ones((2, 4), np.float32), np.zeros((2, 2), np.float32)
        np.testing.assert_array_equal(model.scale(x, 3, Made()), np.full((2, 2), 3))


def chained(x, rounds):
    """The chain of kernels.c: every element becomes the sum of itself and its neighbours."""
    x = x.astype(np.uint32)
    for _ in range(rounds):
        x = np.pad(x, 1)
        x = x[:-2] + x[1:-1] + x[2:]
    return x.astype(np.int32)


def sum_in_process(n):
    return int(shared.chain(np.arange(n, dtype=np.int32), n).sum())


def exit_code_of_child(body):
    """0 when `body` is true in a forked process; a child that hangs is ended by its alarm."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            os._exit(0 if body() else 1)
        finally:
            os._exit(2)
    return os.waitpid(child, 0)[1]


if __name__ == "__main__":
    unittest.main()
