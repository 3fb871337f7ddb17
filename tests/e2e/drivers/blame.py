#!/usr/bin/env python3
"""Does prof blame name the rank that stopped before a collective: on live logs, after kill -9 of all ranks, without the
log of a rank, and without the option that records what it needs? On the simulated GPU. Usage: blame.py --prof PROF
--libprof LIB --sim FOLDER --program hanging_rank"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from environments import simulated_gpu

parser = argparse.ArgumentParser()
for name in ("prof", "libprof", "sim", "program"):
    parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve(), required=True)
options = parser.parse_args()
problems = []
RANKS, CULPRIT = 3, 1


def job(folder, **variables):
    """processes of all ranks that wait, the culprit before all-reduce #4"""
    folder.mkdir()
    fifo = folder / "input"
    os.mkfifo(fifo)
    ranks = []
    for rank in range(RANKS):
        environment = {**simulated_gpu(options.sim),
                       "LD_PRELOAD": str(options.libprof), "PROF_OUTPUT": f"{folder}/r%r.plog", "RANK": str(rank), "WORLD_SIZE": str(RANKS),
                       "SIM": "idle 0; kernel * 1000000000000"} | variables
        arguments = [options.program, "3", fifo] if rank == CULPRIT else [options.program, "4"]
        ranks.append(subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True))
    for process in ranks:
        process.stdout.readline()
    time.sleep(1.3)
    return ranks


def end(ranks):
    for process in ranks:
        process.kill()
    for process in ranks:
        process.wait(timeout=60)


def blame(case, status, *texts, logs, more=()):
    done = subprocess.run([options.prof, "blame", *logs, "--after", "0.5", *more], capture_output=True, text=True, timeout=240)
    said = done.stdout + done.stderr
    print(f"{case}: {done.returncode}\n{said}")
    if done.returncode != status:
        problems.append(f"{case}: status {done.returncode}, expected {status}")
    problems.extend(f"{case}: no {text!r}" for text in texts if not re.search(text, said))
    return done.stdout


with tempfile.TemporaryDirectory(prefix="prof-blame-") as name:
    root = pathlib.Path(name)
    folder = root / "job"
    ranks = job(folder, PROF_COLLECTIVES="1", PROF_STACKS="off")
    try:
        named = (r"rank 1 never entered all-reduce #4 of communicator 0x2258c19d731308eb, which 2 others entered \d",
                 r"its main thread is (blocked in a file|waiting for a pipe).* for \d")
        blame("live", 3, *named, logs=[folder])
    finally:
        end(ranks)
    answer = json.loads(blame("killed", 3, logs=[folder], more=["--format", "json"]))
    states = {row["rank"]: row["state"] for row in answer["rows"]}
    if states != {0: "launched", 1: "not entered", 2: "launched"}:
        problems.append(f"states {states}")
    blame("killed", 3, *named, logs=[folder])
    blame("a rank is missing", 4, "no log.*: 1", logs=[folder / "r0.plog", folder / "r2.plog"])
    blame("one rank", 4, "2 of 3 ranks", logs=[folder / "r0.plog"])

    # A job that hangs without host samples gets them by prof ctl.
    folder = root / "without_samples"
    ranks = job(folder, PROF_COLLECTIVES="1", PROF_STACKS="off", PROF_HOST_SAMPLES="off")
    try:
        blame("without samples", 3, "threads were not sampled", named[0], logs=[folder])
        subprocess.run([options.prof, "ctl", folder, "samples", "50"], check=True, timeout=240)
        time.sleep(0.5)
        blame("samples on request", 3, *named, logs=[folder])
    finally:
        end(ranks)

    folder = root / "plain"
    end(job(folder))
    blame("nothing recorded", 4, "prof record --collectives 1 records them", logs=[folder])

if problems:
    sys.exit("\n".join(problems))
