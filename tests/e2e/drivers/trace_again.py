#!/usr/bin/env python3
"""Does a trace written by prof count nothing twice when prof reads it? Records profiler_steps on the simulated GPU and
compares reports on the log with those on its trace, which contains synchronisations and ranges of streams next to
the operations that they refer to. Then writes the trace again, which must change nothing. Usage: trace_again.py
--prof PROF --libprof LIBPROF --sim FOLDER --program PROGRAM"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

REPORTS = ("breakdown", "gpu-util", "categories", "idle", "launch-stats", "copies", "syncs", "critical-path", "what-if")

parser = argparse.ArgumentParser()
for name in ("prof", "libprof", "sim", "program"):
    parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
options = parser.parse_args()


def prof(*words):
    return subprocess.run([options.prof, *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()


problems = []
with tempfile.TemporaryDirectory(prefix="prof-trace-again-") as folder:
    environment = dict(os.environ, PROF_OUTPUT=folder, LD_LIBRARY_PATH=str(options.sim), PROF_CUPTI=str(options.sim / "libcupti.so.13"),
                       SIM_SCRIPT="/dev/null")
    subprocess.run(["env", f"LD_PRELOAD={options.libprof}", options.program], env=environment, check=True)
    (log,) = pathlib.Path(folder).glob("*.plog")
    trace, again = pathlib.Path(folder, "a.json"), pathlib.Path(folder, "again.json")
    prof("trace", log, "-o", trace)
    prof("trace", trace, "-o", again)
    kinds = [event.get("cat") for event in json.loads(trace.read_text())["traceEvents"]]
    print({kind: kinds.count(kind) for kind in ("kernel", "cuda_sync", "gpu_user_annotation")})
    if not kinds.count("cuda_sync") or not kinds.count("gpu_user_annotation"):
        problems.append("the trace has no synchronisations or no ranges of streams: nothing was tested")
    if trace.read_bytes() != again.read_bytes():
        problems.append("written again it is another trace")
    for report in REPORTS:
        of_log, of_trace = prof("report", report, log), prof("report", report, trace)
        if of_log != of_trace:
            problems.append(f"report {report} of the log:\n{of_log}\nof its trace:\n{of_trace}")
if problems:
    sys.exit("\n".join(problems))
