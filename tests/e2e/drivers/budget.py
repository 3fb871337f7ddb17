#!/usr/bin/env python3
"""PROF_BUDGET on the simulated GPU: is every call recorded, is part of the GPU time measured, and does the
extrapolation of the rest match the true value? Also in a program that is killed in the middle, and in one that
forks. Usage: budget.py --prof PROF --libprof LIB --sim FOLDER --programs FOLDER"""
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
for name in ("prof", "libprof", "sim", "programs"):
    parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve(), required=True)
options = parser.parse_args()
problems = []


def expect(what, truth, said=""):
    print(f"{'ok ' if truth else 'NOT'} {what}: {said}")
    if not truth:
        problems.append(what)


def start(folder, budget, *arguments, small_ns=5000, cupti=""):
    folder.mkdir()
    environment = {**simulated_gpu(options.sim),
                   "LD_PRELOAD": str(options.libprof), "PROF_OUTPUT": str(folder), "SIM_CLOCK": "real",
                   "SIM": f"timed;kernel small {small_ns};kernel large 20000" + (f";cupti {cupti}" if cupti else ""), "PROF_BUDGET": budget}
    return subprocess.Popen([options.programs / "budget_loop", *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def checked(log):
    return json.loads(subprocess.run([options.prof, "check", "--format", "json", log], capture_output=True, text=True, timeout=240).stdout)[0]


def counter(check, name):
    return next((each["value"] for each in check["counters"] if each["name"] == name), 0)


def coverage(log):
    said = subprocess.run([options.prof, "report", "kernels", log], capture_output=True, text=True, timeout=240)
    return re.findall(r"coverage: (.*)", said.stdout + said.stderr)[-1]


def table_of(log, report):
    said = subprocess.run([options.prof, "report", report, "--format", "json", log], capture_output=True, text=True, timeout=240).stdout
    return json.loads(said)["rows"]


def rows(log):
    said = subprocess.run([options.prof, "summary", "--gpu", "--format", "json", log], capture_output=True, text=True, timeout=240).stdout
    return {row["name"]: row for row in json.loads(said)["rows"]}


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    # On a busy machine bursts are expensive and therefore few. A kernel that was timed in fewer than two bursts has no
    # interval, which is not an error.
    inside = intervals = 0
    for turn in range(4):
        # a % in the path would be a pattern
        programs = [(f"{budget}%", folder / f"{budget}_{turn}") for budget in (1, 2, 5)]
        for budget, place, program in [(budget, place, start(place, budget, "3", "500")) for budget, place in programs]:
            out, err = program.communicate(timeout=240)
            expect(f"{budget} runs and says nothing", program.returncode == 0 and err == "", err)
            small, large, fills, filled = map(int, out.split())
            (log,) = place.glob("*.plog")
            check = checked(log)
            expect(f"{budget}: the host side is whole", check["whole"] and check["launches"] == small + large + fills, check["launches"])
            expect(f"{budget}: nothing is waited for", check["gpu_pending"] == 0, check["gpu_pending"])
            opening = re.search(r'key="budget_opening_ns" value="(\d+)"', subprocess.run([options.prof, "dump", log], capture_output=True, text=True, timeout=240).stdout)
            expect(f"{budget}: the log says what opening CUPTI took, and it counts as the recorder's own time",
                   opening is not None and 0 < int(opening.group(1)) <= counter(check, "budget_own_ns"), opening and opening.group(1))
            table = rows(log)
            expect(f"{budget}: some was timed", 0 < sum(row["calls"] for row in table.values()) and counter(check, "budget_bursts") > 0,
                   counter(check, "budget_bursts"))
            for name, calls, ns in (("small", small, small * 5000), ("large", large, large * 20000),
                                    ("[CUDA memset]", fills, fills * 1000 + filled / 2000)):
                if name not in table:
                    print(f"    {name} was never timed")
                    continue
                row = table[name]
                if row["estimated_calls"] is None:
                    print(f"    no burst held a whole launch of {name}")
                    continue
                expect(f"{budget}: launches of {name} extrapolated", row["estimated_calls"] == calls, row["estimated_calls"])
                half = row["estimated_half_width_ns"]
                if half is None:
                    print(f"    no two bursts held a launch of {name}: no interval")
                    continue
                # Times of constant kernels have almost no variance. The simulator measures them by a real clock: up to
                # 50 ns short.
                near = abs(row["estimated_total_ns"] - ns) <= half + max(0.005 * ns, 50 * calls)
                inside += near
                intervals += 1
                print(f"    {name} {row['estimated_total_ns']} +- {half}, true {ns:.0f}{'' if near else '  OUTSIDE'}")
    expect("the truth lies in nine of ten intervals, and there are some", intervals >= 9 and inside >= 0.9 * intervals, f"{inside} of {intervals}")

    program = start(folder / "killed", "5%", "30", "200")
    time.sleep(2)
    program.kill()
    program.communicate()
    (log,) = (folder / "killed").glob("*.plog")
    check = checked(log)
    expect("killed: what was recorded is there, and what it took", counter(check, "budget_bursts") > 0 and counter(check, "budget_elapsed_ns") > 1e9, check["verdict"])
    expect("killed: extrapolated all the same", rows(log)["small"]["estimated_calls"] > 0)

    program = start(folder / "forks", "5%", "2", "200", "fork")
    out, err = program.communicate(timeout=240)
    expect("fork: both run", program.returncode == 0 and err == "", err)
    expect("fork: a log each", len(list((folder / "forks").glob("*.plog"))) == 2)

    # The edges of bursts fall into every phase of a launch. Each launch is in a burst and has its GPU time, or its
    # record is flagged as possibly without one.
    program = start(folder / "edges", "40%", "3", "20", "threads")
    out, err = program.communicate(timeout=240)
    (log,) = (folder / "edges").glob("*.plog")
    check, line = checked(log), coverage(log)
    launches, timed, off = (int(re.search(words, line).group(1)) for words in (r"launches (\d+)", r"with GPU time (\d+)", r"GPU times off (\d+)"))
    operations, linked = (int(re.search(words, line).group(1)) for words in (r"GPU operations (\d+)", r"with launch (\d+)"))
    at_edges = re.search(r"launched outside of bursts (\d+)", line)
    expect("edges: every launch is there", launches == sum(map(int, out.split()[:3])), line)
    expect("edges: bursts came and went", counter(check, "budget_bursts") > 1, counter(check, "budget_bursts"))
    expect("edges: each has its time or says that it has none", timed + off == launches, line)
    expect("edges: of an operation without its launch is said why", linked + (int(at_edges.group(1)) if at_edges else 0) == operations, line)

    # A launch whose kernel starts n kernels later has n waiting kernels before it, with or without GPU times. If the
    # number is unknown, none is given. If the system took the thread off its processor inside the call for longer than
    # the queue lasted, the kernel starts when it is submitted, and its start says nothing about the queue.
    long_ns = 500_000
    program = start(folder / "deep", "40%", "4", "100", "deep", small_ns=long_ns)
    out, err = program.communicate(timeout=240)
    (log,) = (folder / "deep").glob("*.plog")
    calls = {row["correlation"]: (row["start_ns"], row["start_ns"] + row["duration_ns"]) for row in table_of(log, "api-trace")
             if row["name"] == "cuLaunchKernel"}
    waits = [((row["start_ns"] - calls[row["correlation"]][0]) / long_ns, row["start_ns"] <= calls[row["correlation"]][1] + long_ns / 2,
              row["queue_waiting"]) for row in table_of(log, "gpu-trace") if row["correlation"] in calls]
    known = [(true, at_once, said) for true, at_once, said in waits if said is not None]
    wrong = [(round(true, 1), said) for true, at_once, said in known if said - true > 1.5 or (true - said > 1.5 and not at_once)]
    expect("deep: most kernels wait for others", sum(not at_once for _, at_once, _ in known) > 0.5 * len(known), len(known))
    expect("deep: what waits before a launch is right", not wrong, f"{len(wrong)} of {len(known)} wrong: {wrong[:5]}")
    expect("deep: it is known of most, and not of what follows launches without GPU times", 0.5 * len(waits) < len(known) < len(waits), f"{len(known)} of {len(waits)}")

    # Buffers come late, and some of them after their burst: nothing is missing at the end, and nothing is waited for.
    program = start(folder / "late", "5%", "3", "300", small_ns=400_000, cupti="late 30")
    program.communicate(timeout=240)
    (log,) = (folder / "late").glob("*.plog")
    check, line = checked(log), coverage(log)
    expect("late: each launch has its time or says that it has none", "unknown" not in line and "pending" not in line, line)
    expect("late: nothing is waited for", check["gpu_pending"] == 0, check["gpu_pending"])

    # Attached, CUPTI would cost each launch more than the budget, so it is never attached.
    program = start(folder / "refused", "1%", "2", "0", "threads")
    out, err = program.communicate(timeout=240)
    (log,) = (folder / "refused").glob("*.plog")
    line = coverage(log)
    expect("refused: no burst, and what would do", "no GPU times, since" in line and re.search(r"; \d+% would do", line) is not None, line)

    said = subprocess.run([options.prof, "report", "nvtx", "ops", "cuda_gpu_kern_sum", "gpu-trace", "api-trace", "--limit", "3", next((folder / "5_0").glob("*.plog"))],
                          capture_output=True, text=True, timeout=240)
    expect("every report says what it makes of bursts", said.returncode == 0 and len(re.findall("^PROF_BUDGET=5%: GPU times of ", said.stdout, re.M)) == 5, said.stderr)
    said = subprocess.run([options.prof, "report", "idle", next((folder / "2_0").glob("*.plog"))], capture_output=True, text=True, timeout=240)
    expect("what a GPU did between bursts is not told", said.returncode == 2 and "taken in bursts (PROF_BUDGET=2%)" in said.stderr, said.stderr)

    program = start(folder / "nonsense", "2s", "0.1", "200")
    out, err = program.communicate(timeout=240)
    expect("nonsense is said once", err.count("PROF_BUDGET is not valid") == 1, err)
sys.exit(1 if problems else 0)
