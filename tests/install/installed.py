"""What the tests of this folder share: an installation in a folder of its own, the program of examples/c with weights for
it, and commands whose failure shows all that they said."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

BUILD, SOURCE = "", ""
VERSION, MAJOR = "", ""
CLASSIFY_SAYS = "row 0: class 0, score 3\nrow 1: class 1, score 6\n"
MAP = "layers.w[l] <- layers.{l}.weight, transposed\nlayers.b[l] <- layers.{l}.bias\nhead <- head.weight, transposed\n"


def run(*command, cwd=None, env=None, status=0):
    """What the command wrote to stdout; it has to end with `status`, else the test fails with all that was said."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != status:
        raise AssertionError(f"{' '.join(command)}: status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
    return done.stdout


def fails(*command, status, cwd=None, env=None):
    """What the command wrote to stderr when it failed with `status`."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != status:
        raise AssertionError(f"{' '.join(command)}: status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
    return done.stderr


def bare_environment(**more):
    """The environment of a user who has set nothing up, in which compiled code is kept nowhere."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1", **more}


def install(prefix, *options):
    run("cmake", "--install", BUILD, "--prefix", prefix, *options)


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(path, name), folder) for path, _, names in os.walk(folder) for name in names)


def write_weights(folder):
    """net.npz, with the names and the order of axes that a PyTorch module would have, and names.map for it."""
    layers = [([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]), ([[1, 1, 0], [0, 1, 0], [0, 0, 1]], [0, -1, 1])]
    arrays = {"head.weight": np.array([[1, 1, 0], [0, 0, 2]], dtype=np.float32)}
    for number, (weight, bias) in enumerate(layers):
        arrays[f"layers.{number}.weight"] = np.array(weight, dtype=np.float32)
        arrays[f"layers.{number}.bias"] = np.array(bias, dtype=np.float32)
    np.savez(os.path.join(folder, "net.npz"), **arrays)
    with open(os.path.join(folder, "names.map"), "w", encoding="utf-8") as file:
        file.write(MAP)


class WithFolder(unittest.TestCase):
    """A folder for the tests of a class, and what `prepare` leaves there."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="axon-install-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prepare()

    @classmethod
    def prepare(cls):
        pass

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.folder, *names)


def main():
    """usage: test_*.py [TEST..] BUILD SOURCE"""
    global BUILD, SOURCE, VERSION, MAJOR
    SOURCE, BUILD = os.path.abspath(sys.argv.pop()), os.path.abspath(sys.argv.pop())
    with open(os.path.join(SOURCE, "runtime", "include", "axon", "axon.h"), encoding="utf-8") as file:
        numbers = [line.split()[2] for line in file if line.startswith("#define AXON_VERSION_")]
    VERSION, MAJOR = ".".join(numbers), numbers[0]
    unittest.main(module="__main__")
