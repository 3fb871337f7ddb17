#!/usr/bin/env python3
"""The cost of a stack's Python frames per launch, on the simulated driver, on every CPython of this machine. Two
processes under libprof.so, one with PROF_PYTHON=off, run in turn, and the cost is the difference of their 10th
percentiles over the rounds. --libprof may be given several times, to compare builds: then processes of all builds
run in turn. The status is 1 if the limit is missed.

  steady   always from one place, in a loop of C
  leaf     from 8 lines of the innermost function in turn
  tail     from 8 lines of a function 10 frames out in turn, everything inside it called again"""
import argparse
import ctypes
import glob
import os
import pathlib
import subprocess
import sys
import tempfile

LIMIT_NS, LIMIT_FRAMES = 300, 40
DEPTHS = (5, 20, 40)
SHAPES = ("steady", "leaf", "tail")


def work(helper_path):
    """The process under libprof.so: reads a request `shape depth` per line and answers with ns per launch."""
    helper = ctypes.PyDLL(helper_path)
    helper.batch.restype = helper.median_of_ones.restype = ctypes.c_double
    assert helper.open_gpu() == 0
    one = helper.one

    def steady():
        return helper.batch(20000)

    def leaf():
        for _ in range(1500):
            one()
            one()
            one()
            one()
            one()
            one()
            one()
            one()
        return helper.median_of_ones()

    def below(depth, call):
        if depth <= 1:
            return call()
        return below(depth - 1, call)

    def tail():
        for _ in range(500):
            below(9, one)
            below(9, one)
            below(9, one)
            below(9, one)
            below(9, one)
            below(9, one)
            below(9, one)
            below(9, one)
        return helper.median_of_ones()

    def tail_of_five():
        for _ in range(500):
            below(2, one)
            below(2, one)
            below(2, one)
            below(2, one)
            below(2, one)
            below(2, one)
            below(2, one)
            below(2, one)
        return helper.median_of_ones()

    # Frames around the innermost function: <module>, main, work and those of below().
    for line in sys.stdin:
        shape, depth = line.split()
        call = {"steady": steady, "leaf": leaf, "tail": tail if int(depth) > 14 else tail_of_five}[shape]
        inside = {"steady": 1, "leaf": 1, "tail": 10 if int(depth) > 14 else 3}[shape]
        around = int(depth) - 3 - inside
        print(below(around, call) if around > 0 else call(), flush=True)


def interpreters():
    found = {}
    for path in [sys.executable] + sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))):
        ask = "import sys; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run([path, "-c", ask], capture_output=True, text=True)
        version = tuple(int(part) for part in done.stdout.split(".")) if done.returncode == 0 else (0, 0)
        if version >= (3, 8):
            found.setdefault(version, path)
    return sorted(found.items())


def start(python, options, library, walk, folder):
    environment = dict(os.environ, LD_PRELOAD=library, LD_LIBRARY_PATH=options.sim, SIM_CLOCK="real", PROF_GPU="off", PROF_DEPTH="counts",
                       PROF_STACKS="launch", PROF_PYTHON=walk, PROF_OUTPUT=folder, PROF_QUIET="1")
    return subprocess.Popen([python, "-X", "utf8", __file__, "--work", options.helper], env=environment, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def measure(options, python, rounds):
    """(library, shape, depth) → additional ns per launch with Python frames: 10th percentiles, medians"""
    times = {}
    with tempfile.TemporaryDirectory(prefix="prof-bench-") as folder:
        pairs = [(library, [start(python, options, library, walk, folder) for walk in ("off", "auto")]) for library in options.libprof]
        for number in range(-2, rounds):
            for shape in SHAPES:
                for depth in DEPTHS:
                    for library, pair in pairs if number % 2 else pairs[::-1]:
                        for process in pair:
                            process.stdin.write(f"{shape} {depth}\n")
                            process.stdin.flush()
                            cost = float(process.stdout.readline())
                            if number >= 0:
                                times.setdefault((library, shape, depth), {}).setdefault(process, []).append(cost)
        for _, pair in pairs:
            for process in pair:
                process.stdin.close()
                if process.wait() != 0:
                    sys.exit(f"python_stack_bench: {python} ended with {process.returncode}")
    added = {}
    for case, of_pair in times.items():
        off, auto = [sorted(values) for values in of_pair.values()]
        added[case] = [auto[at] - off[at] for at in (len(off) // 10, len(off) // 2)]
    return added


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--libprof", action="append")
    parser.add_argument("--helper", default=str(here / "libpython_launches.so"))
    parser.add_argument("--sim", default=str(here.parent.parent / "sim"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", help="version, as 3.12")
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    if options.work:
        return work(options.work)
    if options.filter not in "python_stack":
        return 0
    options.libprof = options.libprof or [str(here.parent.parent / "lib/libprof.so")]
    failed = False
    print("ns that the Python frames of its stack add to a launch: 10th percentile (median) with them less that without")
    print("version  shape   " + "".join(f"{depth:>9} frames" for depth in DEPTHS))
    for version, python in interpreters():
        name = "%d.%d" % version
        if options.only and options.only != name:
            continue
        added = measure(options, python, options.rounds)
        for library in options.libprof:
            for shape in SHAPES:
                cells = []
                for depth in DEPTHS:
                    cost, median = added[library, shape, depth]
                    cells.append(f"{cost:.0f} ({median:.0f})".rjust(16))
                label = f"  {library}" if len(options.libprof) > 1 else ""
                print(f"{name:<8} {shape:<7}" + "".join(cells) + label, flush=True)
            cost = added[library, "steady", LIMIT_FRAMES][0]
            if library == options.libprof[-1] and cost > LIMIT_NS:
                failed = True
                print(f"  FAIL  {LIMIT_FRAMES} frames of {name}: {cost:.0f} ns, limit {LIMIT_NS}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
