"""How fast compiled programs are beside others that do the same, measured in one run.

In: the compiler and its runtime, from build/ or --build; the rivals are NumPy with OpenBLAS, oneDNN and plain C++
(rivals.cpp and rivals_onednn.cpp, compiled here). Out: a line for each case and number of workers, with the median
times of alternating runs, ours over the rival's. Of several rivals the fastest counts. A case of orders has no rival
but itself: it is written with its sums or axes in several orders, and the slowest is shown beside the fastest. Results
are first compared with each rival's. MiB is what the first run takes beside its arguments, its results included.

Both sides have the same instruction-set level, --level or the machine's, which the first line of the output shows as
each library states it, and the same number of threads. Weights are brought beforehand into the layout that a side
wants, but OpenBLAS has none and packs them in every product. Activations come and go in row-major order: a rival's
reorders are in its time, and `bare` is the least time of a rival without them. `floor` is the time of reading, or
copying, as many bytes as the case's argument has.

    apt-get install libopenblas-dev libdnnl-dev python3-numpy g++
    python3 tests/bench/rivals.py
    python3 tests/bench/rivals.py --only conv-for --only sort-f32 --workers 2 --level x86-64-v3
"""
import argparse
import fnmatch
import importlib.util
import multiprocessing
import os
import subprocess
import sys
import tempfile
import warnings
from types import SimpleNamespace

root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def level(onednn, onednn_isa, openblas, numpy_without):
    return SimpleNamespace(onednn=onednn, onednn_isa=onednn_isa, openblas=openblas, numpy_without=numpy_without.split())


# oneDNN's name and number of a level's instruction sets; the core that OpenBLAS is to take this machine for; what NumPy
# has to leave aside.
above_v4 = " AVX512_CLX AVX512_CNL AVX512_ICL"
above_v3 = " AVX512F AVX512CD AVX512_SKX" + above_v4
levels = {
    "x86-64-v2": level("SSE41", 0x1, "NEHALEM", "AVX F16C FMA3 AVX2" + above_v3),
    "x86-64-v3": level("AVX2", 0x7, "HASWELL", above_v3),
    "x86-64-v4": level("AVX512_CORE", 0x27, "SKYLAKEX", above_v4),
}


def cpu(key):
    with open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith(key)), "")


def native_levels():
    """Those that this machine runs, the best last. The loader says so; the kernel's list of flags can lack one, as abm."""
    loader = subprocess.run(["/lib64/ld-linux-x86-64.so.2", "--help"], capture_output=True, text=True, check=True)
    return [name for name in levels if f"{name} (supported" in loader.stdout]


def hold_to(name):
    """Tells the libraries, which are not loaded yet, what they may use."""
    held = levels[name]
    if held.openblas == "HASWELL" and cpu("vendor_id") == "AuthenticAMD":
        held.openblas = "ZEN"
    os.environ |= {"ONEDNN_MAX_CPU_ISA": held.onednn, "OPENBLAS_CORETYPE": held.openblas,
                   "NPY_DISABLE_CPU_FEATURES": " ".join(held.numpy_without)}
    # NumPy warns of names that this machine has not.
    warnings.filterwarnings("ignore", message="During parsing environment variable 'NPY_DISABLE_CPU_FEATURES'")
    return held


def give_up(reason):
    """With the status that says to CTest that a test is skipped."""
    print(reason, file=sys.stderr)
    sys.exit(77)


def compiled(program, entries, options, folder):
    """The bundle of some entries."""
    path = os.path.join(root, program) if program.endswith(".axn") else os.path.join(folder, "program.axn")
    if not program.endswith(".axn"):
        with open(path, "w") as file:
            file.write(program)
    bundle = os.path.join(folder, "program.axb")
    subprocess.run([options.etcc, "build", "--quiet", "--level", options.level, "-o", bundle, path,
                    *(f"--entry={entry}" for entry in entries)], check=True)
    return bundle


def run(case, measure, options, folder):
    """Prints the lines of a case; gives how many failed."""
    try:
        bundle = compiled(case.program, case.orders or [case.entry], options, folder)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{case.name:24}         failed: {error}", flush=True)
        return 1
    failed = 0
    for workers in options.workers:  # each in a process of its own, whose memory is nobody else's
        child = multiprocessing.get_context("fork").Process(target=measure,
                                                            args=(case, bundle, workers, options.seconds))
        child.start()
        child.join(options.limit)
        if child.is_alive():
            child.kill()
            child.join()
            print(f"{case.name:24} {workers:7} takes more than {options.limit:g} s", flush=True)
        failed += child.exitcode != 0
    return failed


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="a case, or a pattern such as 'conv-*'")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="and as many threads of the rival")
    parser.add_argument("--level", choices=levels, help="instruction-set level of both sides; else the machine's")
    parser.add_argument("--seconds", type=float, default=5, help="about how long a line may measure")
    parser.add_argument("--limit", type=float, default=300, help="seconds after which a line is given up")
    parser.add_argument("--build", default=os.path.join(root, "build"), help="folder of bin/etcc and lib")
    parser.add_argument("--list", action="store_true", help="the names of the cases")
    options = parser.parse_args()
    options.etcc = os.path.join(options.build, "bin", "etcc")
    return options


def main():
    options, native = read_options(), native_levels()
    options.level = options.level or (native or ["x86-64-v2"])[-1]
    if options.level not in native:
        give_up(f"This machine cannot run {options.level}.")
    sys.dont_write_bytecode = True
    held = hold_to(options.level)
    if importlib.util.find_spec("numpy") is None:
        give_up("This needs NumPy: run it with Debian's /usr/bin/python3 and python3-numpy.")
    import rival_measure
    import rival_sides
    from rival_cases import cases
    if options.list:
        print("\n".join(cases))
        return
    chosen = [one for name, one in cases.items() if any(fnmatch.fnmatch(name, it) for it in options.only or ["*"])]
    if not chosen:
        sys.exit("There is no such case; --list shows their names.")
    sys.path.insert(0, os.path.join(options.build, "python"))
    with tempfile.TemporaryDirectory() as folder:
        try:
            rivals = rival_sides.load(folder, options.level, held)
        except rival_sides.Missing as missing:
            give_up(missing)
        except RuntimeError as error:
            sys.exit(str(error))
        print(f"{cpu('model name')}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, both sides for "
              f"{options.level}: {rivals}")
        print(rival_measure.head, flush=True)
        failed = sum(run(case, rival_measure.measure, options, folder) for case in chosen)
    sys.exit(f"{failed} lines failed" if failed else 0)


if __name__ == "__main__":
    main()
