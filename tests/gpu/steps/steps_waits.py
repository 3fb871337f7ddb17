"""The step about what streams waited for: words of memory, events and host functions, as the real driver orders
them."""
import json
import os
import subprocess
import sys

from lab import ROOT, Skipped

VALIDATE = os.path.join(ROOT, "tests", "golden", "validate_trace.py")


def waits(lab, step):
    """Each round's wait is explained, no dependency contradicts the measured times, and every arrow starts at an
    operation that had ended."""
    if lab.sim:
        raise Skipped("needs a GPU")
    if not lab.prof:
        raise Skipped("no prof")
    folder = lab.fresh("waits")
    done = lab.run([lab.program("waits")], env=lab.recorded_env(folder))
    words = done.stdout.split()
    if words[:1] != ["rounds"]:
        raise Skipped(done.stdout.strip() or f"status {done.status}")
    rounds = int(words[1])
    log = lab.logs(folder)[0]
    trace = lab.path("waits.json")
    lab.run_prof(["trace", log, "-o", trace])
    with open(trace, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    kernels = {(event["pid"], event["tid"], event["ts"]): event["name"] for event in events
               if event.get("cat") == "kernel"}
    ends = {}
    for event in events:
        if event.get("cat") == "dependency":
            ends.setdefault(event["id"], {})[event["ph"]] = kernels.get((event["pid"], event["tid"], event["ts"]), "")
    for means, source, target in (("a word of memory", "first_kernel", "second_kernel"), ("an event", "recorded_kernel", "waiting_kernel")):
        joined = sum(1 for flow in ends.values() if source in flow.get("s", "") and target in flow.get("f", ""))
        step.check(f"arrows from one stream's kernel to the other's, through {means}", joined == rounds, joined, rounds)
    valid = subprocess.run([sys.executable, VALIDATE, trace], capture_output=True, text=True)
    step.check("the trace keeps its readers' rules", valid.returncode == 0, valid.stdout.strip()[-200:], "good")
    path = lab.run_prof(["report", "critical-path", log])
    step.check("no dependency is denied by the times", "denied by the times" not in path.stdout, path.stdout[:200], "none")
    step.check("no wait is unexplained", "does not say" not in path.stdout, path.stdout[:200], "none")
    idle = {row["cause"]: row["gaps"] for row in json.loads(lab.run_prof(["report", "idle", log, "--format", "json"]).stdout)["rows"]}
    step.table("Why the GPU was idle", ["cause", "gaps"], sorted(idle.items()))
    step.check("gaps that the host function explains", idle.get("host function", 0) == rounds, idle.get("host function", 0), rounds)
