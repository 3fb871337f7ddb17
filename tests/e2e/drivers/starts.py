#!/usr/bin/env python3
"""Threads call NVTX while the recorder starts. Every call is recorded or counted, for each thread, and the coverage line
names the loss. In half of the starts no thread loses calls for more than 0.2 ms. (All starts cannot be checked here: with
other work on the machine, the starting thread may lose its processor for longer than the others wait.)"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

THREADS, CALLS = 8, 40_000
STARTS = 12
MOST_LOST_NS = 200_000
MOST_LOST_SHARE = 0.2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prof", required=True)
    parser.add_argument("--libprof", required=True)
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    env = {name: value for name, value in os.environ.items() if not name.startswith("PROF_")}
    times, shares, problems, named = [], [], [], 0
    for _ in range(STARTS):
        folder = pathlib.Path(tempfile.mkdtemp(dir=memory))
        try:
            subprocess.run([options.program, str(THREADS), str(CALLS)], check=True, timeout=120,
                           env={**env, "LD_PRELOAD": options.libprof, "PROF_OUTPUT": str(folder)})
            log = next(folder.glob("*.plog"))
            text = subprocess.run([options.prof, "dump", log], check=True, capture_output=True, encoding="utf-8", errors="replace").stdout
            recorded = len(re.findall(r"^nvtx_(?:push|pop) ", text, re.M))
            counted = sum(map(int, re.findall(r"^counter before_ready[ =](\d+)", text, re.M)))
            lost = [(int(calls), int(ns)) for calls, ns in re.findall(r"^thread .*calls_lost=(\d+) lost_ns=(\d+)", text, re.M)]
            if recorded + counted != THREADS * CALLS:
                problems.append(f"{recorded} recorded and {counted} counted, of {THREADS * CALLS} calls")
            if sum(calls for calls, _ in lost) > counted:
                problems.append(f"threads name more lost calls than are counted: {lost}, {counted}")
            if lost:
                line = subprocess.run([options.prof, "summary", log], capture_output=True, encoding="utf-8", errors="replace").stdout
                wanted = rf"before_ready {counted} \({len(lost)} threads?, at most \d+\.\d{{3}} ms"
                if not re.search(wanted, line):
                    problems.append(f"the coverage line has no {wanted!r}: {line[-600:]}")
                named += 1
            shares.append(counted / (THREADS * CALLS))
            times.append(max((ns for _, ns in lost), default=0))
        finally:
            shutil.rmtree(folder)
    times.sort()
    print(f"{named} of {STARTS} starts lost calls; longest loss of a thread: median {times[STARTS // 2]} ns, longest {times[-1]} ns")
    if times[STARTS // 2] > MOST_LOST_NS:
        problems.append(f"in {STARTS - STARTS // 2} of {STARTS} starts a thread lost calls for more than {MOST_LOST_NS} ns")
    shares.sort()
    if shares[STARTS // 2] > MOST_LOST_SHARE:
        problems.append(f"in {STARTS - STARTS // 2} of {STARTS} starts more than {MOST_LOST_SHARE:.0%} of the calls are lost")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main())
