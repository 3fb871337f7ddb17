#!/usr/bin/env python3
"""Does prof record --counters list:CHIP print the metrics that CUPTI knows for a chip, and explain what is wrong if it
cannot? Usage: chip_metrics.py --prof PROF --sim FOLDER"""
import argparse
import os
import pathlib
import subprocess
import sys

from environments import bare_environment

parser = argparse.ArgumentParser()
for name in ("prof", "sim"):
    parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
options = parser.parse_args()
problems = []


def listed(chip, status, *wanted, **variables):
    """Checks that each of `wanted` is in the output or the error message, with words separated by single spaces."""
    environment = {**bare_environment(), "LD_LIBRARY_PATH": str(options.sim)} | variables
    done = subprocess.run([options.prof, "record", "--counters", f"list:{chip}"], capture_output=True, text=True, env=environment, timeout=240)
    lines = [" ".join(line.split()) for line in (done.stdout if status == 0 else done.stderr).splitlines()]
    if done.returncode != status:
        problems.append(f"{chip} {variables}: status {done.returncode}, expected {status}: {done.stderr}")
    problems.extend(f"{chip} {variables}: no {each!r} in {lines}" for each in wanted if not any(each in line for line in lines))
    return lines


lines = listed("gh100", 0, "GH100, by", "23 counters; suffixes: .sum", "dram__bytes_read byte # of what the memory did", "1 ratios", "2 throughputs",
               "sm__throughput")
if len(lines) != 4 + 23 + 1 + 2:
    problems.append(f"a line is missing or too many: {lines}")
listed("GA100", 0, "GA100, by", "dram__bytes_read byte # of what the memory did", "dram__throughput # of what the memory did")
listed("0", 0, "GH100, by", "dram__bytes_read byte")
listed("TPU", 2, "no chip 'TPU'", "knows GA100, GH100")
listed("GH100", 2, "no CUPTI", "PROF_CUPTI", PROF_CUPTI="/nowhere/libcupti.so")
listed("GH100", 2, "it came with CUDA 12.6", PROF_CUPTI=str(options.sim / "libcupti.so.12"))
listed("0", 2, "no CUDA driver here", PROF_CUPTI=str(options.sim / "libcupti.so.13"), LD_LIBRARY_PATH="/nowhere")
listed("0", 2, "CUDA_ERROR_NO_DEVICE", SIM="fault cuInit * 100")

print("\n".join(problems) or "every case was as expected")
sys.exit(1 if problems else 0)
