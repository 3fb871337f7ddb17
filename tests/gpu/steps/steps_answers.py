"""The same program recorded by libprof and, in another run, by torch.profiler: prof's answers from the log and from the
trace."""
import json
import os

from lab import APPS_FOLDER, Skipped

MAX_TIME_RATIO = 1.05  # kernels of two runs of one program differ by clocks and cache contents


def rows(lab, report, file, window="nvtx:measured"):
    only = ["--window", window] if window else []
    answer = lab.run_prof(["report", report, file, *only, "--names", "full", "--format", "json"], timeout=120)
    if answer.status not in (0, 1):
        raise RuntimeError(f"prof report {report} {os.path.basename(file)}: status {answer.status}: {answer.stderr.strip()[-300:]}")
    return json.loads(answer.stdout)["rows"]


def kernels(lab, file, window="nvtx:measured"):
    """name -> (count, total ns); copies and fills by kind."""
    found = {}
    for row in rows(lab, "kernels", file, window):
        count, total = found.get(row["name"], (0, 0))
        found[row["name"]] = (count + row["count"], total + row["total_ns"])
    return found


def breakdown(lab, file):
    return {row["what"]: row["time_ns"] for row in rows(lab, "breakdown", file)}


def torch_answers(lab, step):
    """ResNet-18 training steps: counts must be equal, times as equal as in two runs; the idle time shows the cost of
    each profiler."""
    if lab.sim:
        raise Skipped("needs a GPU")
    if not lab.prof:
        raise Skipped("no prof")
    script = os.path.join(APPS_FOLDER, "resnet_app.py")
    trace = lab.path("resnet18.torch.json")
    inside = lab.run([lab.python, script, "--profile", trace], timeout=120)
    if inside.status != 0 or not os.path.exists(trace):
        raise Skipped(f"torch.profiler makes no trace here: {inside.stderr.strip()[-300:]}")
    folder = lab.fresh("resnet")
    outside = lab.run([lab.python, script], env=lab.recorded_env(folder), timeout=120)
    step.check("same output under both", inside.stdout == outside.stdout, outside.stdout.strip(), inside.stdout.strip())
    logs = lab.logs(folder)
    if not logs:
        raise RuntimeError("no log")
    ours, theirs = kernels(lab, logs[0]), kernels(lab, trace)
    differ = [name for name in sorted(set(ours) | set(theirs)) if ours.get(name, (0,))[0] != theirs.get(name, (0,))[0]]
    step.check("kernels, copies and fills by name: equal counts", not differ, f"{len(ours)} names, {len(differ)} differ: {differ[:3]}",
               f"{len(theirs)} names")
    total = [sum(time for _, time in found.values()) for found in (ours, theirs)]
    step.check("time of all operations, log ÷ trace", 1 / MAX_TIME_RATIO <= total[0] / total[1] <= MAX_TIME_RATIO,
               f"{total[0] / total[1]:.4f}", f"within {MAX_TIME_RATIO}")
    a, b = breakdown(lab, logs[0]), breakdown(lab, trace)
    table = [(what, f"{a[what]:,}", f"{b.get(what, 0):,}", f"{a[what] / b[what]:.3f}" if b.get(what) else "") for what in a]
    step.table("ResNet-18, 4 training steps of 32 images: prof report breakdown, ns", ["what", "log", "torch.profiler's trace", "ratio"], table)
    for report in ("ops", "idle", "launch-stats", "critical-path", "advise"):
        for kind, file in (("log", logs[0]), ("trace", trace)):
            answer = lab.run_prof(["report", report, file], timeout=120)
            step.check(f"prof report {report} on the {kind}", answer.status == 0, f"exit status {answer.status}", 0)
            with open(os.path.join(lab.out, f"resnet18.{report}.{kind}.txt"), "w", encoding="utf-8") as file_out:
                file_out.write(answer.stdout + answer.stderr)
    for kind, file in (("log", logs[0]), ("trace", trace)):
        answer = lab.run_prof(["trace", file, "-o", lab.path(f"resnet18.{kind}.json.gz")], timeout=120)
        step.check(f"prof trace on the {kind}", answer.status == 0, f"exit status {answer.status}", 0)
