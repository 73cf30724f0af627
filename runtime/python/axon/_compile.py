"""Programs to models: the compiler, `etcc`, as a process, whose bundle is loaded."""
import collections.abc
import json
import os
import shutil
import subprocess
import tempfile
import warnings

from ._elements import BOOLS, INTEGERS, NAMES, shown
from ._error import Error
from ._values import kind_of
from ._model import loaded, workers as checked_workers

_FAST = ("--level", "native", "--cache")  # options for code of this machine alone, kept for the next time
_HERE = os.path.dirname(os.path.abspath(__file__))


class Diagnostic:
    """One thing that the compiler says of a program: `code` ("E0312"), `severity` ("error", "warning"), `message`, and
    the place: `file`, `line`, `column`, counted from 1; None where it has none."""

    __slots__ = ("code", "severity", "message", "file", "line", "column")

    def __init__(self, code, severity, message, file=None, line=None, column=None):
        self.code, self.severity, self.message = code, severity, message
        self.file, self.line, self.column = file, line, column

    def __repr__(self):
        place = f"{self.file}:{self.line}:{self.column}: " if self.file is not None else ""
        return f"<{place}{self.severity}[{self.code}]: {self.message}>"


def compiler():
    """The path of `etcc`: AXON_ETCC, else the package's own, else that of the build tree, else that of PATH."""
    given = os.environ.get("AXON_ETCC")
    if given:
        return given
    for path in (os.path.join(_HERE, "bin", "etcc"), os.path.join(_HERE, "..", "..", "bin", "etcc")):
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("etcc")
    if not found:
        raise Error("the compiler `etcc` is not found: it is looked for where AXON_ETCC says, in the package, in the build "
                    "tree, and in PATH", "E0802")
    return found


def _command(file, out, entries, library, defines):
    """The one place where the compiler's command line is made."""
    command = [compiler(), "build", file, *_FAST, "-o", out, "--color", "never"]
    for name in entries:
        command += ["--entry", name]
    for folder in library:
        command += ["--library", folder]
    for name, value in defines.items():
        command += ["-D", f"{name}={value}"]
    return command


def _parted(source):
    """The program's text, or None, and its path, or "-"."""
    if isinstance(source, str) and ("\n" in source or not source.endswith(".axn")):
        return source, "-"
    if not isinstance(source, (str, os.PathLike)):
        raise Error(f"a program is a text, or a path, not {kind_of(source)}", "E0801")
    path = os.fsdecode(source)
    if "\0" in path:
        raise Error(f"the path {path!r} has a NUL in it", "E0801")
    return None, os.path.join(os.curdir, path) if path.startswith("-") else path


def _texts(what, given):
    several = isinstance(given, collections.abc.Iterable) and not isinstance(given, (str, bytes, os.PathLike))
    given = list(given) if several else [] if given is None else [given]
    for one in given:
        if not isinstance(one, (str, os.PathLike)) or "\0" in os.fsdecode(one):
            raise Error(f"{what} are texts, and {kind_of(one)} is none", "E0801")
    return [os.fsdecode(one) for one in given]


def _fixed(defines):
    """The sizes and element types that are fixed, by name, as the command line has them."""
    if not isinstance(defines or {}, collections.abc.Mapping):
        raise Error(f'`defines` is a dict such as {{"n": 1024, "t": "bf16"}}, not {kind_of(defines)}', "E0801")
    for name, value in (defines or {}).items():
        if not isinstance(name, str) or not name.isidentifier():
            raise Error(f"`defines` has the key {name!r}, which is no name", "E0801")
        is_size = isinstance(value, INTEGERS) and not isinstance(value, BOOLS) and 0 <= value < 2**63
        if not is_size and not (isinstance(value, str) and (value in NAMES or value.isascii() and value.isdigit())):
            raise Error(f"`{name}` of `defines` is a size or the name of an element type, such as 1024 or \"bf16\", not "
                        + (repr(value) if isinstance(value, str) else shown(value)), "E0801")
    return defines or {}


def compile(source, *, workers=0, entry=None, library=(), defines=None):  # pylint: disable=redefined-builtin
    """Compiles a program and loads it: the text of one, or a path: an os.PathLike, or a text that ends in `.axn`.

    `workers` as for load(). `entry`: only that one, or those. `library`: folders that are searched for imports.
    `defines`: sizes and element types that are fixed, {"n": 1024, "t": "bf16"}. What is wrong with the program raises
    axon.Error with the compiler's text; its `code` is that of the first error, its `diagnostics` are all."""
    checked_workers(workers)
    text, path = _parted(source)
    fixed = _fixed(defines)
    with tempfile.TemporaryDirectory(prefix="axon-") as folder:
        out = os.path.join(folder, "program.axb")
        command = _command(path, out, _texts("entries", entry), _texts("folders of a library", library), fixed)
        done = _run(command, text)
        said = done.stderr.decode("utf-8", "replace").strip()
        if done.returncode != 0:
            raise _failure(command, text, done.returncode, said)
        if said:
            warnings.warn(said, stacklevel=2)
        try:
            with open(out, "rb") as file:
                bundle = file.read()
        except OSError as problem:
            raise Error(f"the compiler left no bundle: {problem}") from problem
    return loaded(bundle, workers)


def _run(command, text):
    given = text.encode("utf-8", "surrogatepass") if text is not None else b""
    try:
        return subprocess.run(command, input=given, capture_output=True, check=False)
    except OSError as problem:
        raise Error(f"the compiler {command[0]} cannot be run: {problem}", "E0802") from problem


def _failure(command, text, status, said):
    """The error for a compiler that failed: what it says to people, and again as data."""
    diagnostics = []
    if status == 1:
        again = _run(command + ["--error-format", "json"], text)
        diagnostics = _diagnostics(again.stdout.decode("utf-8", "replace"))
    code = next((one.code for one in diagnostics if one.severity == "error" and one.code), "")
    return Error(said or f"the compiler ended with status {status}", "E0592" if status == 70 else code, diagnostics)


def _diagnostics(text):
    """What `--error-format json` prints, a list of objects."""
    try:
        items = json.loads(text)
    except ValueError:
        return []
    found = []
    for item in items:
        place = (item.get("primary") or {}).get("span") or {}
        found.append(Diagnostic(item.get("code") or "", item["severity"], item["message"], place.get("file"),
                                place.get("line"), place.get("column")))
    return found
