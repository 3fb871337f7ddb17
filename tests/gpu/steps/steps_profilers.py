"""Steps with another profiler inside the recorded program: both must get every record of CUPTI."""
import glob
import os
import re
import shutil

import recorded_run
from lab import APPS_FOLDER, Skipped
from log_checks import add, coverage, load, same_behaviour
from steps_answers import kernels, rows
from steps_programs import app_command

MAX_OFF_NS = 3


def torch_profiler(lab, step):
    """torch.profiler inside a recorded program: it and the log contain the same operations, name by name."""
    if lab.sim:
        raise Skipped("needs a GPU")
    trace = lab.path("profiler.torch.json")
    command = [lab.python, os.path.join(APPS_FOLDER, "torch_app.py"), "profiler", "--steps", "5", "--trace", trace]
    plain = lab.run(command)
    if plain.status != 0:
        raise Skipped(f"does not run here without the recorder either: {plain.stderr.strip()[-300:]}")
    os.remove(trace)
    folder = lab.fresh("profiler")
    recorded = lab.run(command, env=lab.recorded_env(folder))
    same_behaviour(step, plain, recorded)
    seen = [re.search(r"^kernels (\d+)", r.stderr, re.M) for r in (plain, recorded)]
    step.check("torch.profiler sees as many operations as unrecorded", all(seen) and seen[0].group(1) == seen[1].group(1),
               seen[1] and seen[1].group(1), seen[0] and seen[0].group(1))
    runs = load(lab, folder)
    step.check("CUPTI was shared", runs[0].log.counters.get("cupti_shared", 0) == 1,
               runs[0].log.counters.get("cupti_shared", 0), 1)
    coverage(step, runs)
    if lab.prof and os.path.exists(trace):
        ours, theirs = (kernels(lab, file) for file in (lab.logs(folder)[0], trace))
        same_operations(step, ours, theirs, "torch.profiler")


def same_operations(step, ours, theirs, who):
    """Compares name -> (count, total ns) of one run in the log and in the other profiler."""
    differ = [name for name in sorted(set(ours) | set(theirs)) if ours.get(name, (0,))[0] != theirs.get(name, (0,))[0]]
    step.check(f"operations by name as {who} has them", ours and not differ,
               f"{len(ours)} names, {sum(c for c, _ in ours.values())} operations, {len(differ)} names differ: {differ[:3]}",
               f"{len(theirs)} names, {sum(c for c, _ in theirs.values())} operations")
    total = [sum(time for _, time in found.values()) for found in (ours, theirs)]
    step.check(f"their time, log ÷ {who}", total[1] and abs(total[0] / total[1] - 1) < 0.001,
               f"{total[0] / total[1]:.6f}" if total[1] else "none", "within 0.1 %")


def jax_profiler(lab, step):
    """JAX's profiler, which finds CUPTI with dlsym, inside a recorded program."""
    if lab.sim:
        raise Skipped("needs a GPU")
    script, env = app_command(lab, "jax")
    folders = [lab.fresh("jax_profiler", name) for name in ("plain", "inside")]
    plain = lab.run([*script, "--profile", folders[0]], env=lab.env(**env), timeout=120)
    if plain.status != 0:
        raise Skipped(f"does not run here without the recorder either: {plain.stderr.strip()[-300:]}")
    folder = lab.fresh("jax_profiler", "log")
    recorded = lab.run([*script, "--profile", folders[1]], env=lab.recorded_env(folder, **env), timeout=120)
    same_behaviour(step, plain, recorded)
    runs = load(lab, folder)
    coverage(step, runs)
    step.check("CUPTI was shared", sum(run.log.counters.get("cupti_shared", 0) for run in runs) == 1,
               sum(run.log.counters.get("cupti_shared", 0) for run in runs), 1)
    traces = [glob.glob(os.path.join(where, "**", "*.trace.json.gz"), recursive=True) for where in folders]
    if not (lab.prof and all(traces)):
        return
    plainly, inside = (kernels(lab, found[0], window=None) for found in traces)
    step.check("JAX's profiler sees as many operations as unrecorded",
               sum(c for c, _ in plainly.values()) == sum(c for c, _ in inside.values()),
               sum(c for c, _ in inside.values()), sum(c for c, _ in plainly.values()))
    same_kernels_in_order(step, *(kernels_in_order(lab, file) for file in (runs[0].log.path, traces[1][0])), "JAX's profiler")


def kernels_in_order(lab, file):
    """[(name, ns)] by start, without copies and fills, for which each profiler uses its own names."""
    found = sorted((row["start_ns"], row["name"], row["duration_ns"]) for row in rows(lab, "gpu-trace", file, window=None))
    return [(name, ns) for _, name, ns in found if not re.match(r"\[?(CUDA )?mem(cpy|set)", name, re.I)]


def same_kernels_in_order(step, ours, theirs, who):
    """Compares one run in the log and in the other profiler: the profiler's kernels are one contiguous sequence in the
    log, kernel by kernel."""
    def differences(at):
        return sum(1 for (a, _), (b, _) in zip(ours[at:], theirs) if a != b)

    def off_by(at):  # the steps of a loop have the same names
        return sum(abs(a - b) for (_, a), (_, b) in zip(ours[at:], theirs))
    if not theirs or len(theirs) > len(ours):
        step.check(f"kernels that {who} has are in the log", False, f"{len(ours)}, {who} {len(theirs)}", "at least as many")
        return
    at = min(range(len(ours) - len(theirs) + 1), key=lambda at: (differences(at), off_by(at)))
    step.check(f"kernels in order, name by name, as {who} has them", differences(at) == 0,
               f"{len(theirs)} kernels after the first {at} of {len(ours)}, {differences(at)} names differ", "all equal")
    if differences(at):
        pairs = [(a, b) for (a, _), (b, _) in zip(ours[at:], theirs) if a != b]
        step.table(f"Names that differ between the log and {who}", ["log", who], [(a[:90], b[:90]) for a, b in pairs[:6]])
    off = [abs(a - b) for (_, a), (_, b) in zip(ours[at:], theirs)]
    step.check(f"their durations as {who} has them", max(off) <= MAX_OFF_NS, f"{sum(1 for ns in off if ns <= MAX_OFF_NS)} of {len(off)} equal, largest "
               f"difference {max(off)} ns", f"{MAX_OFF_NS} ns: each rounds start and end")


def injected_tool(lab, step):
    """A tool that CUDA itself loads (CUDA_INJECTION64_PATH) and that collects through CUPTI, together with the
    recorder."""
    if lab.sim or not lab.inject:
        raise Skipped("needs a GPU and a driver that loads such a tool")
    command = [lab.program("mixed")]
    plain = lab.run(command)
    alone, beside, folder = (lab.fresh("injected_tool", name) for name in ("alone", "beside", "log"))
    lab.run(command, env=lab.cupti_env(alone))
    env = lab.recorded_env(folder)
    recorded = lab.run(command, env={**lab.cupti_env(beside), **{k: env[k] for k in ("LD_PRELOAD", "PROF_OUTPUT")}})
    same_behaviour(step, plain, recorded)
    runs = load(lab, folder)
    coverage(step, runs)
    ours = {name: row[0] for name, row in add(run.kernel_table() for run in runs).items()}
    for which, where in (("alone", alone), ("with the recorder", beside)):
        theirs = {name: row[0] for name, row in lab.cupti_count(where)["by_name"].items()}
        step.check(f"kernels by name: the log and the tool {which}", ours == theirs, f"{sum(ours.values())} kernels",
                   f"{sum(theirs.values())} kernels")


def developer_tools(lab, step):
    """Nsight Compute and compute-sanitizer on a recorded program: they must find the same as without the recorder."""
    if lab.sim:
        raise Skipped("needs a GPU")
    program = lab.program("graphs")
    tools = {"compute-sanitizer": (["--tool", "memcheck"], r"ERROR SUMMARY: \d+ errors?"),
             "ncu": (["--launch-count", "4", "--section", "LaunchStats"], r'==PROF== Profiling "[^"]*"')}
    tried = 0
    for tool, (options, finding) in tools.items():
        path = shutil.which(tool) or os.path.join(lab.cuda, "bin", tool)
        if not os.path.exists(path):
            step.note(f"{tool} is not installed here.")
            continue
        plain = lab.run([path, *options, program], timeout=100)
        if plain.status != 0:
            step.note(f"{tool} does not work here without the recorder either: {(plain.stdout + plain.stderr).strip()[-300:]}")
            continue
        tried += 1
        folder = lab.fresh("developer_tools", tool)
        recorded = lab.run([path, *options, program], env=lab.recorded_env(folder), timeout=100)
        step.check(f"{tool}: same exit status", recorded.status == plain.status, recorded.status, plain.status)
        found = [re.findall(finding, result.stdout + result.stderr) for result in (plain, recorded)]
        step.check(f"{tool}: it finds the same", found[0] and found[0] == found[1], found[1][:4], found[0][:4])
        runs = [recorded_run.Run(path) for path in lab.logs(folder)]
        step.figure(f"{tool}: launches, GPU operations in the log",
                    f"{sum(len(run.launches) for run in runs)}, {sum(len(run.operations) for run in runs)}")
    if tried == 0:
        raise Skipped("no such tool works here")
