"""Steps about enabling and disabling CUPTI in a program that goes on: what state remains, whether the program survives,
and why cuptiFinalize is not called."""

from lab import Skipped
from log_checks import load

PARTS = 1000
STORM_S = 40      # seconds for all parts of six launching threads
VARIANT_S = 4     # seconds for each way with CUPTI alone
WHOLE_PARTS = 50


def values_of(text):
    words = text.split()
    return dict(zip(words[::2], words[1::2]))


def parts(lab, step):
    """1,000 parts while six threads launch, three of them graphs: the program survives and each log is whole.
    PROF_GRAPHS=whole ends no program either."""
    if lab.sim:
        raise Skipped("needs a GPU")
    program = lab.program("parts_threads")
    for name, number, more in (("nodes", PARTS, {}), ("whole", WHOLE_PARTS, {"PROF_GRAPHS": "whole"})):
        folder = lab.fresh(f"parts_{name}")
        done = lab.run([program, str(number), str(STORM_S)], env=lab.recorded_env(folder, PROF_START="profiler", PROF_PARTS="0", **more), timeout=STORM_S + 60)
        said = values_of(done.stdout)
        step.check(f"graphs timed by {name}: the program ends as without", done.status == 0, f"status {done.status} {done.stderr.strip()[-200:]}", 0)
        step.figure(f"graphs timed by {name}: parts, launches between and in them", f"{said.get('parts')}, {said.get('launches')}")
        if done.status != 0:
            continue
        logs = lab.logs(folder)
        step.check(f"graphs timed by {name}: a log for each part that saw a call", 0 < len(logs) <= int(said["parts"]), len(logs), said["parts"])
        if name == "whole":
            runs = load(lab, folder)
            step.check("each node was timed, and the log reports it", all(run.meta.get("graphs", "").startswith("nodes: whole graphs only") for run in runs),
                       runs[0].meta.get("graphs") if runs else "no log")


def finalize(lab, step):
    """CUPTI alone, without libprof: the cost of a launch after so many parts and after cuptiFinalize, and what happens
    to a program that calls it. This is not libprof's code, so the step only checks that the ways that libprof uses
    do no harm."""
    if lab.sim:
        raise Skipped("needs a GPU")
    program = lab.program("cupti_parts")
    env = lab.env(**({"CUPTI_BASELINE_LIB": lab.cupti} if lab.cupti else {}))
    cost = lab.run([program, "cost", str(PARTS)], env=env)
    said = values_of(cost.stdout)
    if not said:
        raise Skipped(cost.stderr.strip()[-200:] or f"status {cost.status}")
    step.table("CUPTI alone: ns per launch, medians of 60 batches of 500", said.keys(), [said.values()])
    rows = []
    for what, arguments in (("disabled, six threads launch", ("part", "disable", "0")), ("disabled, with graphs", ("part", "disable", "1")),
                            ("a forced flush, then disabled, with graphs", ("part", "forced", "1")), ("a forced flush and nothing else, with graphs", ("part", "kept", "1")),
                            ("finalised while all wait", ("part", "paused", "0")), ("finalised while all wait, with graphs", ("part", "paused", "1")),
                            ("finalised, six threads launch", ("part", "running", "0")), ("finalised, with graphs", ("part", "running", "1")),
                            ("disabled, graphs timed as a whole, older than the first part", ("whole",))):
        done = lab.run([program, *arguments, str(VARIANT_S)], env=env, timeout=VARIANT_S + 20)
        found = values_of(done.stdout)
        outcome = "ended by signal " + str(-done.status) if done.status is not None and done.status < 0 else "hung" if done.status is None else f"status {done.status}"
        lived = done.status == 0 and found.get("failed") == "none"
        if done.status == 0:
            outcome = "unharmed" if lived else f"{found['failed']} failed"
        rows.append((what, outcome, found.get("parts", ""), f"{found.get('first_named', '')} of {found.get('first_kernels', '')}",
                     f"{found.get('named', '')} of {found.get('kernels', '')}"))
        if what.startswith("disabled, six") or what == "disabled, with graphs":
            step.check(f"{what}: the program survives", lived, outcome, "unharmed")
    step.table("CUPTI alone, on and off in a program of six threads", ["at the end of a part", "program", "parts", "kernels with their call, first part", "later parts"], rows)


def call_costs(lab, step):
    """CUPTI alone: the cost of finding the launch of a kernel, each way compared with none in one process, and the
    sequence of correlation ids if no call is recorded."""
    if lab.sim:
        raise Skipped("needs a GPU")
    program = lab.program("cupti_calls")
    env = lab.env(**({"CUPTI_BASELINE_LIB": lab.cupti} if lab.cupti else {}))
    rows = []
    for name, more in (("CUPTI's own", []), ("a callback of the tool", ["own"]), ("CUPTI's own, again", []), ("a callback of the tool, again", ["own"])):
        done = lab.run([program, "cost", *more], env=env, timeout=60)
        step.check(f"cost {' '.join(more)}: the program runs to its end", done.status == 0, f"status {done.status} {done.stderr.strip()[-200:]}", 0)
        said = values_of(done.stdout)
        if done.status != 0:
            return
        alone = float(said["kernels_alone"])
        rows.append((name, *(f"{value} ({float(value) / alone:.3f})" for value in said.values())))
    step.table("ns per launch, medians of 60 batches of 500 in turn (÷ kernels alone)", ["clock", *(way.replace("_", " ") for way in said)], rows)
    done = lab.run([program, "ids"], env=env, timeout=60)
    step.check("ids: the program runs to its end", done.status == 0 and "k" in done.stdout, f"status {done.status} {done.stderr.strip()[-200:]}", 0)
    step.figure("ids of a kernel (k), copy (c) or fill (f) each, in their order on one stream", done.stdout.strip())
