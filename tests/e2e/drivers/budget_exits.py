#!/usr/bin/env python3
"""Programs that end while a burst of GPU times (PROF_BUDGET) is open or being drained: is the log whole, is each launch
timed or marked with its reason, and does the program end in time? Ends: by return from main, exit in another thread,
_exit, quick_exit and SIGTERM, at different times after the start of a burst, with a GPU that keeps up and one that does
not. Usage: budget_exits.py --prof PROF --libprof LIB --sim FOLDER --programs FOLDER"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from environments import simulated_gpu

parser = argparse.ArgumentParser()
for name in ("prof", "libprof", "sim", "programs"):
    parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve(), required=True)
options = parser.parse_args()
EXIT_WAIT = 0.5
SLACK = 1.0  # for a busy machine: the process ends, the log is closed
WAYS = ("return", "thread", "_exit", "quick_exit", "term")
AFTER_MS = (0, 4, 8, 15, 30, 60, 90)
# (name, ns of a kernel, µs between launches of a thread). In the last one, what a burst holds takes longer than
# PROF_EXIT_WAIT.
GPUS = (("keeps up", 5_000, 200), ("does not keep up", 1_500_000, 500), ("is slow", 50_000_000, 1000))
REASONS = ("GPU times off", "pending", "failed")  # failed: after the driver's exit handler


def run(folder, way, after_ms, kernel_ns, pause_us):
    environment = {**simulated_gpu(options.sim),
                   "LD_PRELOAD": str(options.libprof), "PROF_OUTPUT": str(folder), "SIM_CLOCK": "real", "SIM": f"timed;kernel small {kernel_ns}",
                   "PROF_BUDGET": "50%", "PROF_EXIT_WAIT": str(EXIT_WAIT)}
    folder.mkdir()
    program = subprocess.Popen([options.programs / "budget_exit", way, str(pause_us), str(after_ms)], env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = program.communicate(timeout=120)
    ended = time.monotonic_ns()
    problems = []

    def expect(what, truth, said=""):
        if not truth:
            problems.append(f"{what}: {said}")
    expect("ends as without the recorder", program.returncode == (-signal.SIGTERM if way == "term" else 7), program.returncode)
    expect("nothing is reported", err == "", err)
    launched, left = map(int, out.split())
    late = (ended - left) / 1e9
    expect("ends in time", late < (EXIT_WAIT if way != "term" else 0) + SLACK, f"{late:.2f} s")
    (log,) = folder.glob("*.plog")
    said = subprocess.run([options.prof, "check", "--format", "json", log], capture_output=True, text=True, timeout=240)
    check = json.loads(said.stdout)[0]
    # A killed process has no closed log. What threads launched after the log was closed is counted.
    expect("the log is whole", check["state"] == ("killed" if way == "term" else "closed") and check["bytes_lost"] == check["unknown_records"] == 0,
           f'{check["state"]}: {check["verdict"]}')
    expect("each launch that returned is there", check["launches"] >= launched, f'{check["launches"]} of {launched}')
    said = subprocess.run([options.prof, "report", "kernels", log], capture_output=True, text=True, timeout=240)
    line = re.findall(r"coverage: (.*)", said.stdout + said.stderr)[-1]
    lost, after_exit = re.search(r"lost records (\d+)(?:; after_exit (\d+))?", line).groups()
    expect("nothing is lost but what came after the log was closed", lost == (after_exit or "0"), line)
    launches, timed, reasons = re.match(r"launches (\d+), with GPU time (\d+)(?: \((.*?)\))?", line).groups()
    named = {reason: int(count) for reason, count in re.findall(r"([\w ]+?) (\d+)(?:, |$)", reasons or "")}
    expect("each launch is timed or has its reason", int(timed) + sum(named.values()) == int(launches) and set(named) <= set(REASONS), line)
    return problems, named.get("pending", 0), line, late


failed = waited = 0
with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(4) as pool:
    folder = pathlib.Path(folder)
    cases = [(f"{way}, {after} ms after a burst started, the GPU {gpu}",
              pool.submit(run, folder / f"{way}_{after}_{kernel_ns}", way, after, kernel_ns, pause_us))
             for way in WAYS for after in AFTER_MS for gpu, kernel_ns, pause_us in GPUS]
    for name, case in cases:
        problems, pending, line, late = case.result()
        waited += pending != 0 and late > EXIT_WAIT / 2
        print(f"{'NOT' if problems else 'ok '} {name} ({late:.2f} s): {line[:110]}")
        for problem in problems:
            print(f"    {problem}")
        failed += bool(problems)
print(f"{failed} of {len(cases)} failed; {waited} waited for PROF_EXIT_WAIT")
sys.exit(1 if failed else 0)
