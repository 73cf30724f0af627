"""What is installed: versions, and where the parts are found."""
import os
import subprocess
import sys

import numpy as np

from . import _native
from ._compile import compiler
from ._error import Error


def show_config():
    """Prints the versions of the package, of the library that is loaded, of the compiler and of what they stand on, and the
    instruction-set level that the environment asks for."""
    print("\n".join(f"{name + ':':10} {text}" for name, text in _facts().items()))


def _facts():
    return {"package": f"{_native.VERSION} in {os.path.dirname(os.path.abspath(__file__))}",
            "library": _native.library_version(), "compiler": _compiler(), "level": _level(),
            "python": sys.version.partition(" ")[0], "numpy": np.__version__}


def _compiler():
    """The compiler's own line, and where it is; a package without one is no failure."""
    try:
        path = compiler()
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    except Error:
        return "not found"
    except (OSError, subprocess.CalledProcessError) as error:
        return f"cannot be run: {error}"
    return f"{said.strip()} in {os.path.dirname(os.path.abspath(path))}"


def _level():
    return os.environ.get("AXON_LEVEL") or "the best that a bundle has and this machine can run"
