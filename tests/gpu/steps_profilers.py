"""Steps with another profiler inside the recorded program: both must get every record of CUPTI."""
import glob
import os
import re

from lab import HERE, Skipped
from steps_answers import kernels
from steps_programs import app_command, coverage, load, same_behaviour


def torch_profiler(lab, step):
    """torch.profiler inside a recorded program: it and the log have the same operations, name by name."""
    if lab.sim:
        raise Skipped("needs a GPU")
    trace = lab.path("profiler.torch.json")
    command = [lab.python, os.path.join(HERE, "torch_app.py"), "profiler", "--steps", "5", "--trace", trace]
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
    """name -> (count, total ns) of one run, as the log and the other profiler have it."""
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
