#!/usr/bin/env python3
"""What does libprof.so cost a process that uses neither CUDA nor NVTX? Starts a program plain and preloaded in turn and
compares the times from posix_spawn to its end; fails above one millisecond. A loaded machine delays single starts,
but not the fastest ones for long. So a low quantile of many starts is compared, and a bad result is measured again.
The number of pages that a start touches does not vary, so it is compared too. Usage: start_cost.py PROGRAM LIBPROF
[PAIRS]"""
import os
import pathlib
import sys
import tempfile
import time

from environments import bare_environment

LIMIT_MS = 1.0
LIMIT_PAGES = 100


def start(program, environment):
    """milliseconds from start to end, pages touched"""
    begin = time.perf_counter_ns()
    child = os.posix_spawn(program, [program], environment)
    _, status, usage = os.wait4(child, 0)
    assert status == 0, f"{program} ended with {status}"
    return (time.perf_counter_ns() - begin) / 1e6, usage.ru_minflt + usage.ru_majflt


def environments(library, folder):
    plain = bare_environment()
    return plain, plain | {"LD_PRELOAD": library, "PROF_OUTPUT": folder}


def measure(program, library, pairs, folder):
    times = ([], [])
    for _ in range(pairs):
        for which, environment in enumerate(environments(library, folder)):
            times[which].append(start(program, environment)[0])
    quantile = lambda values, share: sorted(values)[int(share * (len(values) - 1))]
    print("ms from start to end:  " + "  ".join(f"{share:.0%}: plain {quantile(times[0], share):.3f}, preloaded {quantile(times[1], share):.3f}"
                                              for share in (0, 0.2, 0.5)))
    return quantile(times[1], 0.2) - quantile(times[0], 0.2)


def main():
    program, library = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    with tempfile.TemporaryDirectory(prefix="prof-start-") as folder:
        for _ in range(3):
            added = measure(program, library, pairs, folder)
            print(f"a start takes {added:.3f} ms longer, limit {LIMIT_MS}")
            if added < LIMIT_MS:
                break
        plain, preloaded = (min(start(program, environment)[1] for _ in range(5)) for environment in environments(library, folder))
        print(f"a start touches {preloaded} pages, {plain} without: limit {LIMIT_PAGES} more")
        files = os.listdir(folder)
        print(f"files made: {files}")
        return 0 if added < LIMIT_MS and preloaded - plain <= LIMIT_PAGES and not files else 1


sys.exit(main())
