#!/usr/bin/env python3
"""Does the recorder's memory stay bounded however long a program runs? Runs corpus/soak_program plain and recorded and
compares their private memory the whole time. They never differ by more than 88 MiB, and the memory is flat: over the
second half of each phase it grows by less than 4 MiB. Afterwards the log must be whole, with every launch. Usage:
soak.py --prof PROF --libprof LIB --sim FOLDER --programs FOLDER [--gpu on|off] [--counts THREADS,NAMES,STREAMS,DAY]
[--ring MIB: sets PROF_RING; then the file must not grow either, except by --definitions MIB]"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from environments import bare_environment

LIMIT_MB, FLAT_MB = 88, 4  # buffers of the fixed pool are touched when CUPTI first uses them, some of them late
parser = argparse.ArgumentParser()
for name in ("prof", "libprof", "sim", "programs"):
    parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve(), required=True)
parser.add_argument("--gpu", default="on")
parser.add_argument("--counts", default="10000,600000,200000,200000")
parser.add_argument("--ring", type=int, default=0)
parser.add_argument("--definitions", type=int, default=0)
parser.add_argument("--markdown", action="store_true")
options = parser.parse_args()
counts = options.counts.split(",")


def run(folder, recorded):
    environment = {**bare_environment(), "LD_LIBRARY_PATH": str(options.sim), "SIM": "cupti backlog 2000"}
    if recorded:
        environment |= {"LD_PRELOAD": str(options.libprof), "PROF_OUTPUT": folder, "PROF_GPU": options.gpu, "PROF_CUPTI": f"{options.sim}/libcupti.so.13"}
    if recorded and options.ring:
        environment["PROF_RING"] = f"{options.ring}M"
    done = subprocess.run([options.programs / "soak_program", *counts], env=environment, capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return [(phase, int(percent), int(kilobytes) / 1024) for phase, percent, kilobytes in map(str.split, done.stdout.splitlines())]


problems = []
with tempfile.TemporaryDirectory(prefix="prof-soak-") as folder:
    plain, recorded = run(folder, False), run(folder, True)
    phases = {}
    print("| phase | share | plain MiB | recorded MiB | apart |\n|---|---|---|---|---|" if options.markdown else "phase, share, private MiB plain and recorded, apart")
    for (phase, percent, before), (_, _, after) in zip(plain, recorded, strict=True):
        apart = after - before
        print(f"| {phase} | {percent} % | {before:.1f} | {after:.1f} | {apart:.1f} |" if options.markdown
              else f"{phase:8} {percent:3} %  {before:7.1f} {after:7.1f} {apart:7.1f}")
        phases.setdefault(phase, {})[percent] = apart
        if apart > LIMIT_MB:
            problems.append(f"{phase} at {percent} %: {apart:.1f} MiB, limit {LIMIT_MB}")
    for phase, apart in phases.items():
        if len(apart) > 2 and apart[100] - apart[50] > FLAT_MB:
            problems.append(f"{phase}: grew by {apart[100] - apart[50]:.1f} MiB over its second half, limit {FLAT_MB}")
    logs = sorted(pathlib.Path(folder).glob("*.plog"))
    said = subprocess.run([options.prof, "check", *logs], capture_output=True, text=True).stdout
    launches = 1 + sum(map(int, counts))
    print(f"log {logs[0].stat().st_size / 2**20:.1f} MiB, {launches} launches")
    if options.ring:
        most = options.ring * 9 / 8 + options.definitions
        if logs[0].stat().st_size > most * 2**20:
            problems.append(f"the log has {logs[0].stat().st_size / 2**20:.1f} MiB, limit {most}")
        if len(logs) != 1 or "overwritten on purpose" not in said or "damaged" in said or "records were lost" in said:
            problems.append(f"the ring is not whole:\n{said}")
    elif len(logs) != 1 or f"launches   {launches}," not in said or "damaged" in said or "records were lost" in said:
        problems.append(f"the log is not whole or lacks launches:\n{said}")
print("\n".join(problems))
sys.exit(1 if problems else 0)
