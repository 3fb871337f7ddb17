"""What the log of any program must contain, compared with CUPTI alone, the program's unrecorded run and prof. Used by
the steps."""
import json
import os
import re
import statistics

import recorded_run

COUNT_TOLERANCE = 0.001


def libprof_lines(stderr):
    return [line for line in stderr.splitlines() if line.startswith("libprof:")]


def load(lab, folder):
    """All logs of a folder with GPU operations or launches, decoded; the largest first."""
    runs = [recorded_run.Run(path) for path in lab.logs(folder)]
    runs = [run for run in runs if run.launches or run.operations]
    if not runs:
        raise RuntimeError(f"no log with launches in {folder}")
    return runs


def add(tables):
    total = {}
    for table in tables:
        for name, (count, ns) in table.items():
            row = total.setdefault(name, [0, 0])
            row[0] += count
            row[1] += ns
    return total


def compare_with_cupti(step, runs, count):
    """Compares libprof's log with CUPTI's own count in another run of the same program."""
    ours = add(run.kernel_table() for run in runs)
    theirs = count["by_name"]
    different = {name: (ours.get(name, [0])[0], theirs.get(name, [0])[0]) for name in set(ours) | set(theirs)
                 if ours.get(name, [0])[0] != theirs.get(name, [0])[0]}
    totals = {kind: [sum(run.totals()[kind][i] for run in runs) for i in range(3)] for kind in ("kernel", "copy", "fill")}
    operations = sum(row[0] for row in totals.values())
    expected = count["kernels"] + count["copies"] + count["fills"]
    step.check("GPU operations as CUPTI alone counts them", expected and abs(operations / expected - 1) <= COUNT_TOLERANCE,
               f"{operations} against {expected}", "within 0.1 %")
    step.check("kernels by name as CUPTI alone counts them", not different,
               f"{len(ours)} names, {sum(row[0] for row in ours.values())} kernels, {len(different)} names differ", "equal")
    step.check("copies and fills as CUPTI alone counts them",
               totals["copy"][0] == count["copies"] and totals["fill"][0] == count["fills"] and
               totals["copy"][2] == count["copy_bytes"],
               f"{totals['copy'][0]} copies of {totals['copy'][2]} bytes, {totals['fill'][0]} fills",
               f"{count['copies']} of {count['copy_bytes']}, {count['fills']}")
    if different:
        step.table("Kernels whose counts differ", ["kernel", "log", "CUPTI alone"],
                   [(name[:100], a, b) for name, (a, b) in sorted(different.items())[:15]])
    step.figure("kernel time in the log ÷ in CUPTI's own run", totals["kernel"][1] / max(1, count["kernel_ns"]))
    step.figure("records CUPTI alone dropped", count["dropped"])


def coverage(step, runs, allowed_without_launch=0.001):
    """Launches, launches with GPU time, operations with a launch; every miss is reported."""
    parts = [run.coverage() for run in runs]
    total = {key: sum(part[key] for part in parts) for key in
             ("launches", "captured", "failed", "expected", "timed", "operations", "operations_without_launch")}
    step.figure("launches seen", total["launches"])
    step.figure("… of them captured into graphs", total["captured"])
    step.figure("… of them with GPU time", total["timed"])
    step.figure("GPU operations", total["operations"])
    step.check("launches with GPU time", total["expected"] and total["timed"] == total["expected"],
               f"{total['timed']} of {total['expected']}", "all")
    step.check("GPU operations with a launch",
               total["operations_without_launch"] <= allowed_without_launch * total["operations"],
               f"{total['operations'] - total['operations_without_launch']} of {total['operations']}", "99.9 %")
    rows = []
    for part in parts:
        rows += [("launch without GPU time", what, n) for what, n in part["missing"].items()]
        rows += [("operation without launch", what[:100], n) for what, n in part["without_launch"].items()]
    if rows:
        step.table("What does not join", ["", "which", "times"], rows)
    step.check("no operation starts before its launch was entered", sum(run.inversions() for run in runs) == 0,
               sum(run.inversions() for run in runs), 0)
    counters = {}
    for run in runs:
        for name, n in run.log.counters.items():
            counters[name] = counters.get(name, 0) + n
    shown = {name: n for name, n in counters.items() if n}
    if shown:
        step.table("Counters of the log that are not 0", ["counter", "value"], sorted(shown.items()))
    unhooked = sorted({name for run in runs for name in run.unhooked})
    step.check("every launch function the program got is hooked", not unhooked, ", ".join(unhooked) or "all", "all")
    size = sum(os.path.getsize(run.log.path) for run in runs)
    step.figure("log, whole file ÷ launches", size / max(1, total["launches"]), "bytes")
    meta = runs[0].meta
    for key in ("cupti_path", "cupti_version", "driver_version"):
        if key in meta:
            step.figure(key.replace("_", " "), meta[key])
    return total


def depths(step, runs):
    """The live depth is an upper bound of the exact one. Reports the difference."""
    pairs = [pair for run in runs for pair in run.depths()]
    if not pairs:
        return
    off = [live - exact for live, exact in pairs]
    below = sum(1 for value in off if value < 0)
    # CUPTI reports kernels that the driver launches itself like any other. Until the stream is empty again, one launch
    # may count as finished too early.
    step.check("live depth is never below the exact depth", below <= max(1, 0.001 * len(off)), f"{below} of {len(off)}",
               "0.1 %, or one launch")
    step.table("Live queue depth of launches against the exact one (outstanding on the stream)",
               ["", "mean", "median", "99 %", "largest"],
               [(name, f"{statistics.mean(v):.2f}", sorted(v)[len(v) // 2], sorted(v)[int(0.99 * (len(v) - 1))], max(v))
                for name, v in (("live", [p[0] for p in pairs]), ("exact", [p[1] for p in pairs]), ("live − exact", off))])


def whole(lab, step, folder, killed=False):
    """What prof reports for the largest log: that it is whole, its coverage line, and the same totals as the
    independent reader."""
    if not lab.prof:
        step.note("prof is missing: its results for the log are not checked.")
        return
    log = lab.logs(folder)[0]
    answer = lab.run_prof(["check", log])
    verdict = "".join(re.findall(r"verdict +(.*)", answer.stdout))
    if killed:  # 1: nothing is damaged, but the program's last moments are missing
        step.check("prof check: nothing is damaged", answer.status in (0, 1) and "damaged" not in answer.stdout,
                   f"exit status {answer.status}, {verdict}", "0 or 1")
    else:
        step.check("prof check: the log is whole", answer.status == 0, f"exit status {answer.status}, {verdict}", 0)
    summary = lab.run_prof(["summary", log, "--format", "json"])
    step.check("prof summary", summary.status == 0, f"exit status {summary.status}", 0)
    lines = [line.strip() for line in (summary.stdout + "\n" + summary.stderr).splitlines() if "with GPU time" in line]
    if lines:
        step.note("prof reports: " + re.sub(r"^.*?coverage: ", "coverage: ", lines[-1]).strip('"}], '))
    rows = [row for table in tables_of(summary.stdout) for row in table.get("rows", [])
            if row.get("type") == "GPU activities"]
    run = recorded_run.Run(log)
    totals = run.totals().values()
    want = (sum(row[0] for row in totals), sum(row[1] for row in totals))
    found = (sum(row["calls"] for row in rows), sum(row["total_time_ns"] for row in rows))
    # prof converts start and end to the log's clock separately, so a duration may differ by a nanosecond or two.
    step.check("prof summary has the operations and the GPU time that the independent reader finds",
               found[0] == want[0] and abs(found[1] - want[1]) <= 1e-4 * want[1],
               f"{found[0]} operations, {found[1]} ns", f"{want[0]}, {want[1]} ± 0.01 %")


def tables_of(text):
    """The tables of `--format json`: one object, or several consecutive ones."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at)
        found += value if isinstance(value, list) else [value]
        while at < len(text) and text[at].isspace():
            at += 1
    return found


def same_behaviour(step, plain, recorded, messages=0):
    step.check("same standard output as unrecorded", plain.stdout == recorded.stdout, recorded.stdout.strip()[:120] or "(none)",
               plain.stdout.strip()[:120])
    step.check("same exit status as unrecorded", plain.status == recorded.status, recorded.status, plain.status)
    said = libprof_lines(recorded.stderr)
    step.check("lines of libprof on standard error", len(said) == messages, "; ".join(said)[:200] or "none", messages)
