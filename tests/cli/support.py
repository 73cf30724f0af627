"""What the tests of the command line share: etcc, whose path is the first argument, and files of arrays.

Code is kept in a folder that goes when the tests end, not in that of whoever runs them.
"""

import atexit
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

ETCC = os.path.abspath(sys.argv.pop(1))
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()
os.environ.pop("AXON_CACHE_SIZE", None)
atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)


def etcc(*arguments, stdin=None, environment=(), cwd=None):
    done = subprocess.run([ETCC, *arguments], input=stdin, capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, **dict(environment)}, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def npy(code, *values, shape=None):
    """The bytes of a .npy file; `code` is that of the struct module."""
    kinds = {"f": "<f4", "q": "<i8"}
    header = repr({"descr": kinds[code], "fortran_order": False, "shape": (len(values),) if shape is None else shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values)


def npz(path, **members):
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name + ".npy", content)
