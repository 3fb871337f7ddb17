"""Steps about programs of several processes on one GPU: workers of a DataLoader, ranks that torchrun starts; and the
output of prof doctor here."""
import collections
import concurrent.futures
import gzip
import json
import os
import re
import shutil

import recorded_run
from lab import APPS_FOLDER, Skipped, first_line, prof_libraries
from log_checks import coverage, load, same_behaviour

RANKS, WORKERS, METHODS = 2, 4, ("fork", "spawn")
# These may really be missing on this machine, so they are not counted as errors of prof doctor.
OF_THE_MACHINE = {"output", "space", "fork", "libunwind"}


def side_by_side(work, names):
    """name -> work(name), all at the same time, because nothing is timed."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip(names, pool.map(work, names)))


def both_ways(lab, command, *name, **env):
    """Runs the program without and with the recorder; returns the folder of its logs."""
    folder = lab.fresh(*name)
    ways = {"plain": lab.env(**env), "recorded": lab.recorded_env(folder, **env)}
    done = side_by_side(lambda way: lab.run(command, env=ways[way]), ways)
    return done["plain"], done["recorded"], folder


def dataloader(lab, step):
    """Workers are started by fork (from a process that uses the GPU) and by spawn: they must run as without the
    recorder, and write no log."""
    if lab.sim:
        raise Skipped("needs a GPU")
    found = side_by_side(lambda method: both_ways(lab, [lab.python, os.path.join(APPS_FOLDER, "processes_app.py"), "loader", method], "dataloader", method), METHODS)
    for method, (plain, recorded, folder) in found.items():
        if plain.status != 0:
            step.note(f"A DataLoader with {method} does not run here without the recorder either: {plain.stderr.strip()[-300:]}")
            continue
        same_behaviour(step, plain, recorded)
        seen, seen_plain = workers(recorded), workers(plain)
        step.check(f"{method}: workers", len(seen) == len(seen_plain) == WORKERS, f"{len(seen)}, unrecorded {len(seen_plain)}", WORKERS)
        logs = lab.logs(folder)
        # a forked one inherits its parent's pages and does not write to them
        own = {os.path.abspath(log) for worker in seen for log in worker["logs"]}
        allowed = {os.path.abspath(log) for log in logs[:1]} if method == "fork" else set()
        step.check(f"{method}: no worker has a log of its own", own <= allowed, sorted(own - allowed) or "none", "none")
        step.check(f"{method}: threads of a worker", threads(seen) == threads(seen_plain), threads(seen), threads(seen_plain))
        # A forked worker has its parent's mappings; a spawned one has what PyTorch itself loads.
        step.figure(f"{method}: CUPTI mapped in workers, recorded and not", f"{cuptis(seen)}, {cuptis(seen_plain)}")
        if method == "spawn":
            step.check("spawn: no CUPTI in a worker that PyTorch does not load", cuptis(seen) == cuptis(seen_plain), cuptis(seen), cuptis(seen_plain))
        step.check(f"{method}: one log, of the process that uses the GPU", len(logs) == 1, len(logs), 1)
        coverage(step, load(lab, folder))
        if lab.prof and logs:
            answer = lab.run_prof(["check", logs[0]])
            step.check(f"{method}: prof check: the log is whole", answer.status == 0, f"exit status {answer.status}", 0)
    if not step.checks:
        raise Skipped(" ".join(step.notes))


def workers(result):
    return [json.loads(text) for text in re.findall(r"^worker (\{.*\})$", result.stderr, re.M)]


def threads(seen):
    return sorted({worker["threads"] for worker in seen})


def cuptis(seen):
    return sorted({file for worker in seen for file in worker["cupti"]})


def ranks_one_gpu(lab, step):
    """torchrun with two processes on one GPU, which communicate through gloo: one whole log per rank."""
    if lab.sim:
        raise Skipped("needs a GPU")
    command = [lab.python, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}", os.path.join(APPS_FOLDER, "processes_app.py"), "ranks"]
    plain, recorded, folder = both_ways(lab, command, "ranks_one_gpu", OMP_NUM_THREADS=1)
    if plain.status != 0:
        raise Skipped(f"does not run here without the recorder either: {plain.stderr.strip()[-300:]}")
    same_behaviour(step, in_order(plain), in_order(recorded))
    runs = load(lab, folder)
    step.figure("other logs, of a launcher that counts the GPUs", len(lab.logs(folder)) - len(runs))
    coverage(step, runs)
    told_apart(lab, step, runs, lab.path("ranks_one_gpu.trace.json.gz"))
    for run in runs if lab.prof else []:
        answer = lab.run_prof(["check", run.log.path])
        step.check(f"prof check: the log of rank {run.meta.get('rank')} is whole", answer.status == 0, f"exit status {answer.status}", 0)


def in_order(result):
    """Ranks write at the same time, so their lines are sorted."""
    return result._replace(stdout="\n".join(sorted(re.findall(r"rank \d of \d: [\d.]+", result.stdout))))


def told_apart(lab, step, runs, merged):
    """Two ranks in the logs, in one trace of both and in one summary. Returns the trace's events, [] without prof."""
    step.check("logs with launches: one a rank", len(runs) == RANKS, len(runs), RANKS)
    ranks = sorted(run.meta.get("rank", "none") for run in runs)
    step.check("ranks in the logs", ranks == ["0", "1"], ranks, ["0", "1"])
    if not lab.prof:
        step.note("prof is missing: the merged trace is not checked.")
        return []
    logs = [run.log.path for run in runs]
    answer = lab.run_prof(["trace", *logs, "-o", merged])
    if not step.check("prof trace of both", answer.status == 0, f"exit status {answer.status}", 0):
        return []
    with gzip.open(merged, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    names = {event["args"]["name"] for event in events if event.get("name") == "process_name"}
    step.check("processes of the trace are distinguished by rank", all(any(f"rank {i}" in name for name in names) for i in range(RANKS)),
               sorted(names), "rank 0, rank 1")
    kernels = collections.Counter(event["pid"] for event in events if event.get("cat") == "kernel")
    want = sorted(run.totals()["kernel"][0] for run in runs)
    step.check("kernels of each rank in the trace", sorted(kernels.values()) == want, sorted(kernels.values()), want)
    summary = lab.run_prof(["summary", *logs])
    step.check("prof summary: one block a process", summary.stdout.count("Profiling result") == RANKS, summary.stdout.count("Profiling result"), RANKS)
    return events


# --- prof doctor -----------------------------------------------------------------------------------------------------

def doctor(lab, step):
    """prof doctor, alone and with programs: its findings agree with nvidia-smi and the logs of this machine, and it
    reports no fault in what works."""
    if not lab.prof:
        raise Skipped("no prof")
    gpu = "Simulated H200" if lab.sim else first_line(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    if not gpu:
        raise Skipped("nvidia-smi names no GPU")
    folder = lab.fresh("doctor")
    known = {"PROF_LIBRARY": lab.libprof, "PROF_OUTPUT": folder, **prof_libraries(lab)}
    if lab.sim:
        known["PROF_CUPTI"] = lab.cupti
    programs = {"": [], "a CUDA program": [lab.program("launch_loop")], "Python": [shutil.which(lab.python) or lab.python],
                "no program": [os.path.join(folder, "not_there")]}
    found = {}
    for name, command in programs.items():
        arguments = ["--", *command] if command else []
        if name in ("Python", "no program"):  # the self-test has run twice by then
            arguments.insert(0, "--no-self-test")
        answer = lab.run([lab.prof, "doctor", "--format", "json", *arguments], env=lab.env(**known))
        if answer.status not in (0, 1, 2):
            raise RuntimeError(f"prof doctor: status {answer.status}: {answer.stderr.strip()[-300:]}")
        findings = json.loads(answer.stdout)
        worst = max({"ok": 0, "less": 1, "no": 2}[finding["verdict"]] for finding in findings)
        step.check(f"prof doctor{' -- ' if name else ''}{name}: exit status as the worst finding", answer.status == worst, answer.status, worst)
        found[name] = findings
    step.table("prof doctor", ["verdict", "topic", "finding", "remedy"], [tuple(finding.values()) for finding in found[""]])
    for name in ("", "a CUDA program", "Python"):
        alarms = [f"{finding['topic']}: {finding['finding']}" for finding in found[name]
                  if finding["verdict"] != "ok" and finding["topic"] not in OF_THE_MACHINE]
        step.check(f"prof doctor{' -- ' if name else ''}{name}: no false alarm", not alarms, "; ".join(alarms) or "none", "none")
    remedies = [finding["topic"] for finding in found[""] if finding["verdict"] != "ok" and not finding["remedy"]]
    step.check("what is not ok has a remedy", not remedies, remedies or "all", "all")
    said = {finding["topic"]: finding["finding"] for finding in found[""]}
    about = [finding["verdict"] for finding in found["no program"] if finding["topic"] == "program"]
    step.check("a program that is not there cannot be recorded", about == ["no"], about, ["no"])
    step.check("the driver's line names the first GPU", gpu in said.get("driver", ""), said.get("driver"), gpu)
    seen = next((recorded_run.Run(log) for log in lab.logs(recorded(lab))), None)
    if seen is None:
        raise RuntimeError("no log")
    path, version = seen.meta.get("cupti_path", "?"), seen.meta.get("cupti_version", "?")
    step.check("the line of GPU times names the CUPTI that a recording uses", path in said.get("GPU times", "") and f"version {version}" in said["GPU times"],
               said.get("GPU times"), f"{path}, {version}")
    self_test = re.match(r"(\d+) of (\d+) operations recorded, (\d+) with GPU time, log whole", said.get("self-test", ""))
    step.check("the self-test's operations have their GPU times", self_test and len(set(self_test.groups())) == 1, said.get("self-test"), "all, log whole")
    step.check("no file remains in the output folder", not os.listdir(folder), os.listdir(folder), "nothing")


def recorded(lab):
    folder = lab.fresh("doctor_recording")
    lab.run([lab.program("launch_loop")], env=lab.recorded_env(folder))
    return folder
