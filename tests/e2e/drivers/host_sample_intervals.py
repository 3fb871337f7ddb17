#!/usr/bin/env python3
"""Do the 95 % intervals of host samples cover the truth? Each run is a program on the simulated GPU that computes and
sleeps in four functions for random times, and prints how long each took. `idle` estimates the same from samples. The
test takes some runs; on demand, `--runs 400 --least 92 --most 98` shows the share with its own error, and the width."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile


def one_run(options, seed):
    """function -> (estimated ns, half width in ns, true ns); None: the samples have no stacks on this machine"""
    with tempfile.TemporaryDirectory(prefix="prof-intervals-") as folder:
        environment = dict(os.environ, PROF_OUTPUT=folder, PROF_CUPTI=f"{options.sim}/libcupti.so.13", LD_LIBRARY_PATH=options.sim,
                           LD_PRELOAD=options.libprof, PROF_HOST_SAMPLES=str(options.rate))
        done = subprocess.run([f"{options.programs}/host_workers", "shares", str(seed)], capture_output=True, text=True,
                              env=environment, timeout=120, check=True)
        truth = {name: int(ns) for name, ns in (line.split() for line in done.stdout.splitlines())}
        log, = pathlib.Path(folder).glob("*.plog")
        counters = subprocess.run([options.prof, "dump", log], capture_output=True, text=True).stdout
        if any(line.startswith("counter host_samples_unavailable ") and not line.endswith(" 0") for line in counters.splitlines()):
            return None
        # The innermost frame of a sleep is in libc, so rows are joined by four frames.
        report = subprocess.run([options.prof, "report", "idle-gaps", "--group-by", "stack:4", "--format", "json", log],
                                capture_output=True, text=True, check=True)
    found = {}
    for name, ns in truth.items():
        state = "running" if name.startswith("compute") else "sleeping"
        rows = [row for row in json.loads(report.stdout)["rows"] if name in (row["stack"] or "") and row["host_state"] == state]
        if rows and ns:  # a function without samples has no interval
            # The rare samples inside of clock_gettime() are a row of their own.
            most = max(rows, key=lambda row: row["samples"])
            found[name] = most["time_ns"], most["host_half_width_ns"], ns
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("prof", "libprof", "sim", "programs"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--rate", type=int, default=997, help="samples a second")
    parser.add_argument("--least", type=float, default=92, help="%% of the intervals that must cover the truth")
    parser.add_argument("--most", type=float, default=98)
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = list(pool.map(lambda seed: one_run(options, seed), range(1, options.runs + 1)))
    if None in runs:
        print("perf events are refused here: running threads have no stacks")
        return 77
    wrong = False
    every = [("all functions", [each for run in runs for each in run.values()])]
    for name in sorted({name for run in runs for name in run}):
        every.append((name, [run[name] for run in runs if name in run]))
    for name, estimates in every:
        covered = 100 * statistics.mean(abs(ns - truth) <= half for ns, half, truth in estimates)
        width = 100 * statistics.median(half / truth for _, half, truth in estimates)
        bias = 100 * (sum(ns for ns, _, _ in estimates) / sum(truth for _, _, truth in estimates) - 1)
        print(f"{name}: {covered:.1f} % of {len(estimates)} intervals cover the truth; median half width {width:.1f} % of it; bias {bias:+.2f} %")
        if name == "all functions":
            wrong = not options.least <= covered <= options.most or len(estimates) < 3 * options.runs
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
