#!/usr/bin/env python3
"""Is what `what-if` bounds ever less than what a program really saves? Each case of bounds_without_kernel is recorded on
the simulated GPU twice: as it is, and with a kernel that takes no time. The wall time of the second run must not be less
than the first one's log allows. Also for a trace that names less: prof's plain Chrome trace. Usage:
bounds.py --prof PROF --libprof LIB --sim FOLDER --program PROGRAM"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from environments import simulated_gpu

parser = argparse.ArgumentParser()
for name in ("prof", "libprof", "sim", "program"):
    parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve(), required=True)
parser.add_argument("--case", action="append")
options = parser.parse_args()
problems = []

# Durations of the kernel. After "tiny" a launch that waits for a place in the queue hardly takes longer than others.
SCRIPTS = {"long": 400_000, "short": 20_000, "tiny": 2_500}
MORE = {  # lines of the script
    "queue_is_full": "max_outstanding 4",  # so that launches wait
    "kernels_share_the_gpu": "kernel light 3000 until heavy",
    "collective_waits_for_another_gpu": "kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL 3000 until heavy",
}
# Here the host waits in no call. Elsewhere the clock need not advance while the program sleeps.
SLEEPERS = {"host_function_tells_it", "value_is_read_by_the_host", "copied_word_is_read_by_the_host"}


def logs_of(case, heavy_ns, folder):
    folder.mkdir(parents=True)
    environment = {**simulated_gpu(options.sim),
                   "LD_PRELOAD": str(options.libprof), "PROF_OUTPUT": str(folder), "PROF_CLOCK": "sim_now_ns",
                   "SIM": f"kernel heavy {heavy_ns}; kernel light 3000; idle {100 if case in SLEEPERS else 0}; {MORE.get(case, '')}"}
    run = subprocess.run([options.program, case], env=environment, capture_output=True, text=True, timeout=120)
    if run.returncode != 0:
        sys.exit(f"{case}: status {run.returncode}: {run.stderr}")
    logs = sorted(folder.glob("*.plog"))
    if not logs:
        sys.exit(f"{case}: no log")
    return logs


def what_if(inputs):
    """{(item, name): row}, and the wall time"""
    out = subprocess.run([options.prof, "report", "what-if", "--format", "json", *inputs], capture_output=True, text=True, timeout=120)
    rows = {(row["item"], row["name"]): row for row in json.loads(out.stdout)["rows"]}
    some = next(iter(rows.values()))
    return rows, some["saved_ns"] + some["new_wall_ns"]


def chrome(log):
    """The log as another tool would have traced it: most handles of events and streams are not in it."""
    out = log.with_suffix(".json")
    subprocess.run([options.prof, "trace", "--plain", "-o", out, log], capture_output=True, timeout=120, check=True)
    return out


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    cases = options.case or subprocess.run([options.program], env={"LD_LIBRARY_PATH": str(options.sim)}, capture_output=True, text=True, check=True).stdout.split()
    for case in cases:
        for length, heavy_ns in SCRIPTS.items():
            slow = logs_of(case, heavy_ns, folder / case / length)
            fast = logs_of(case, 0, folder / case / (length + "_none"))
            # Chrome traces of two processes are aligned by the real clock, which the simulated one is not.
            for form in ("log", "trace") if len(slow) == 1 else ("log",):
                pair = (slow, fast) if form == "log" else [[chrome(log) for log in logs] for logs in (slow, fast)]
                rows, wall = what_if(pair[0])
                rows_without, wall_without = what_if(pair[1])
                row = rows[("kernel", "heavy")]
                measured = wall - wall_without
                ok = row["saved_ns"] >= measured and row["saved_ns"] <= row["own_time_ns"]
                print(f"{'ok ' if ok else 'NOT'} {case} {length} {form}: wall {wall}, saved at most {row['saved_ns']} "
                      f"(assumed {row['assumed_ns']}), measured {measured}")
                if not ok:
                    problems.append((case, length, form))
sys.exit(f"{len(problems)} wrong: {problems}" if problems else 0)
