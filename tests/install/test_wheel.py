"""The wheel: made by Debian's python3-build without a network, installed without an index into a fresh environment, whose
Python then compiles a program and calls it."""

import glob
import os
import zipfile

import installed
from installed import WithFolder, bare_environment, run

TRIAL = """\
import sys
import numpy as np
import axon

assert axon.__file__.startswith(sys.prefix), axon.__file__
model = axon.compile("entry main (x : f32[n]) (by : f32) = softmax (x * by)\\n")
got = model.main(x=np.array([1, 2, 3], dtype=np.float32), by=2.0)
expected = np.exp([2, 4, 6]) / np.exp([2, 4, 6]).sum()
np.testing.assert_allclose(got, expected, rtol=1e-5)
try:
    axon.compile("entry main (x : f32[n]) = no_such_name x\\n")
except axon.Error as error:
    assert "E0401" in str(error), error
else:
    raise AssertionError("a wrong program is an error")
print("done", axon.__version__)
"""


def make_wheel(out):
    run("cmake", "-D", f"BUILD={installed.BUILD}", "-D", f"OUT={out}", "-P",
        os.path.join(installed.SOURCE, "runtime", "cmake", "make_wheel.cmake"))
    found = glob.glob(os.path.join(out, "*"))
    assert len(found) == 1, found
    return found[0]


class Wheel(WithFolder):
    @classmethod
    def prepare(cls):
        cls.wheel = make_wheel(cls.path("made"))
        run("/usr/bin/python3", "-m", "venv", "--system-site-packages", cls.path("env"))
        run(cls.path("env", "bin", "pip"), "install", "--no-index", "--quiet", cls.wheel)

    def test_its_name_says_what_it_runs_with(self):
        self.assertEqual(os.path.basename(self.wheel), f"axon-{installed.VERSION}-cp311-abi3-linux_x86_64.whl")

    def test_what_it_holds(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            names = set(wheel.namelist())
            compiled = [name for name in names if "__pycache__" in name]
            metadata = wheel.read(f"axon-{installed.VERSION}.dist-info/METADATA").decode()
            tags = wheel.read(f"axon-{installed.VERSION}.dist-info/WHEEL").decode()
        for expected in ("axon/__init__.py", "axon/_native.abi3.so", f"axon/libaxon_runtime.so.{installed.MAJOR}",
                         "axon/bin/etcc", "axon/share/axon/stdlib/prelude.axn", "axon/share/axon/stdlib/prelude/norm.axn"):
            self.assertIn(expected, names)
        self.assertEqual(compiled, [])
        self.assertIn("Requires-Dist: numpy", metadata)
        self.assertIn("Root-Is-Purelib: false", tags)

    def test_a_fresh_environment_compiles_and_calls(self):
        trial = self.path("trial.py")
        with open(trial, "w", encoding="utf-8") as file:
            file.write(TRIAL)
        environment = bare_environment(HOME=self.folder)
        self.assertEqual(run(self.path("env", "bin", "python"), trial, env=environment, cwd="/"),
                         f"done {installed.VERSION}\n")

    def test_the_compiler_is_a_command(self):
        etcc = self.path("env", "bin", "etcc")
        with open(self.path("twice.axn"), "w", encoding="utf-8") as file:
            file.write("entry twice (x : f32[n]) = x + x\n")
        environment = bare_environment(HOME=self.folder)
        self.assertEqual(run(etcc, "--version", env=environment, cwd="/"), run(os.path.join(installed.BUILD, "bin", "etcc"), "--version"))
        self.assertEqual(run(etcc, "run", "twice.axn", "twice", "x=[1, 2]", env=environment, cwd=self.folder),
                         "result : f32[2] =\n[2, 4]\n")
        self.assertIn("E0005", installed.fails(etcc, "check", "no such file", status=1, env=environment, cwd="/"))

    def test_equal_trees_give_equal_wheels(self):
        with open(self.wheel, "rb") as one, open(make_wheel(self.path("again")), "rb") as other:
            self.assertEqual(one.read(), other.read())


if __name__ == "__main__":
    installed.main()
