#!/usr/bin/env python3
"""Does Holistic Trace Analysis read prof's Chrome trace without complaints, and do its numbers agree with prof's?

hta_check.py [--prof PROF] [--strict] INPUT [OTHER_RANK...]

INPUT is a log, or a trace that `prof trace` wrote; the others are other ranks of the same job, which the search for
stragglers needs. Needs `pip install HolisticTraceAnalysis 'pandas<3'`. Prints Markdown for
docs/measurements/trace_readers.md. The exit status is 1 if a number that must agree does not, with --strict also if HTA
warns or raises. Every analysis runs separately: one that raises is a row of the table, not the end.

HTA treats every event with a stream as a GPU operation, including synchronisations, and counts a "Stream Wait Event" as
a kernel. So breakdowns are compared twice: of a copy without synchronisations and annotations of streams with prof's
numbers, and of the trace itself with the same numbers by HTA's rule."""
import argparse
import collections
import csv
import decimal
import gzip
import importlib.metadata
import io
import json
import logging
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"  # otherwise starts are rounded up and ends down to whole microseconds
warnings.simplefilter("ignore")
# logged as warnings, but not about the trace
PROGRESS = ("Parsed ", "Overall parsing", "leaving ", "Rounding down ns", "Please see")
GPU = ("kernel", "gpu_memcpy", "gpu_memset")
ADDED = ("cuda_sync", "gpu_user_annotation")
heard = []


class Listener(logging.Handler):
    def emit(self, record):
        text = (record.getMessage().splitlines() or [""])[0].strip()
        # each logger has this handler
        if record.levelno >= logging.WARNING and not text.startswith(PROGRESS) and text not in heard[-8:]:
            heard.append(text)


logging.getLogger().addHandler(Listener())
from hta.trace_analysis import TraceAnalysis  # noqa: E402

logging.getLogger("hta").addHandler(Listener())


def ns(us):
    return round(float(us) * 1000)


def is_json(path):
    head = open(path, "rb").read(2)
    return head[:1] in b"{[" or head == b"\x1f\x8b"


def prof_output(*command):
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()


def load_json(path):
    """converts the times to integers of ns"""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            event["begin"] = int(event["ts"] * 1000)
            event["end"] = event["begin"] + int(event["dur"] * 1000)
    return trace


class Operations:
    """GPU operations as prof lists them (start, end, name, path), limited to those that HTA keeps: launched by the end
    of the last step"""

    def __init__(self, table, trace):
        complete = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        steps = [event["end"] for event in complete if event["name"].startswith("ProfilerStep")]
        calls = {event["args"]["correlation"]: event["begin"] for event in complete
                 if event.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in event["args"]}
        last = max(steps) if len(set(steps)) > 1 else None
        kept = lambda correlation: last is None or calls.get(correlation, last + 1) <= last  # noqa: E731
        rows = list(csv.DictReader(io.StringIO(table)))
        self.rows = [(int(row["Start (ns)"]), int(row["Start (ns)"]) + int(row["Duration (ns)"]), row["Name"], row["NVTX path"])
                     for row in rows if kept(int(row["Correlation"]))]
        # prof counts from the first event, the trace from any time
        shift = min(event["begin"] for event in complete if event.get("cat") in GPU) - min(int(row["Start (ns)"]) for row in rows)
        self.syncs = [(event["begin"] - shift, event["end"] - shift, event["name"], "") for event in complete
                      if event.get("cat") == "cuda_sync" and event["args"]["stream"] != -1 and kept(event["args"]["correlation"])]
        self.kernels = [row for row in self.rows if not row[2].startswith("[CUDA")]
        self.memory = [row for row in self.rows if row[2].startswith("[CUDA")]

    def computing(self):
        return [row for row in self.kernels if not re.match("nccl.*Kernel", row[2])]

    def with_synchronisations(self):
        """the operations that HTA counts"""
        other = Operations.__new__(Operations)
        other.rows, other.memory = self.rows + self.syncs, self.memory
        other.kernels = self.kernels + [row for row in self.syncs if "Sync" not in row[2]]
        return other

    @staticmethod
    def union(rows):
        total = covered = 0
        for begin, end, *_ in sorted(rows):
            total += max(0, end - max(begin, covered))
            covered = max(covered, end)
        return total

    def window(self):
        return max(row[1] for row in self.rows) - min(row[0] for row in self.rows)

    def per_kernel(self):
        table = collections.defaultdict(list)
        for begin, end, name, _ in self.kernels:
            table[name].append(end - begin)
        return table


class Page:
    def __init__(self, strict):
        self.bad, self.strict = 0, strict

    def row(self, what, hta, prof, agrees):
        self.bad += agrees is False
        verdict = {True: "equal", False: "**differs**", None: ""}[agrees]
        print(f"| {what} | {hta} | {prof} | {verdict} |")

    def run(self, name, analysis):
        before = len(heard)
        try:
            answer = analysis()
        except Exception as problem:  # any exception of HTA is a result
            self.row(f"`{name}`", f"{type(problem).__name__}: {problem}", "", None)
            self.bad += self.strict
            answer = None
        for message in dict.fromkeys(heard[before:]):
            self.row(f"`{name}` says", message, "", None)
            self.bad += self.strict
        return answer


def breakdowns(page, analysis, operations, of):
    answer = page.run(f"get_temporal_breakdown{of}", lambda: analysis.get_temporal_breakdown(visualize=False))
    if answer is not None:
        row, busy = answer.iloc[0], operations.union(operations.rows)
        compute = operations.union(operations.computing())
        for what, got, want in (("first start to last end (ns)", row["kernel_time(us)"], operations.window()),
                                ("idle, no operation at all (ns)", row["idle_time(us)"], operations.window() - busy),
                                ("computing (ns)", row["compute_time(us)"], compute),
                                ("the rest: copies, fills, communication (ns)", row["non_compute_time(us)"], busy - compute)):
            page.row(f"`get_temporal_breakdown`{of}: {what}", ns(got), want, ns(got) == want)

    answer = page.run(f"get_gpu_kernel_breakdown{of}", lambda: analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=100000, duration_ratio=1.0))
    if answer is None:
        return
    table, wrong, calls, total = operations.per_kernel(), 0, 0, 0
    kernels = answer[1][answer[1]["kernel_type"] != "MEMORY"]  # without names that are neither, such as "Stream Sync"
    for _, row in kernels.iterrows():
        durations = table.get(row["name"], [0])
        count = round(row["sum (us)"] / row["mean (us)"]) if row["mean (us)"] else len(durations)
        calls += count
        total += ns(row["sum (us)"])
        wrong += (ns(row["sum (us)"]), ns(row["min (us)"]), ns(row["max (us)"]), count) != (
            sum(durations), min(durations), max(durations), len(durations))
    page.row(f"`get_gpu_kernel_breakdown`{of}: kernel names", len(kernels), len(table), len(kernels) == len(table))
    page.row("… kernels, calls", calls, len(operations.kernels), calls == len(operations.kernels))
    page.row("… kernels, sum (ns)", total, sum(e - b for b, e, *_ in operations.kernels), total == sum(e - b for b, e, *_ in operations.kernels))
    page.row("… names whose calls, sum, min or max differ", wrong, 0, wrong == 0)


def streams_and_launches(page, analysis, operations):
    answer = page.run("get_idle_time_breakdown", lambda: analysis.get_idle_time_breakdown(ranks=[0], visualize=False)[0])
    if answer is not None:
        for stream, rows in answer.groupby("stream"):
            parts = ", ".join(f"{row['idle_category']} {row['idle_time']:.2f}" for _, row in rows.iterrows())
            page.row(f"`get_idle_time_breakdown`: stream {stream} (us)", parts, "", None)
    answer = page.run("get_queue_length_summary", lambda: analysis.get_queue_length_summary())
    if answer is not None:
        for (_, stream), row in answer.iterrows():
            page.row(f"`get_queue_length_summary`: stream {stream}", f"{int(row.iloc[0])} steps, mean of steps {row.iloc[1]:.3f}, max {int(row.iloc[-1])}", "", None)
    answer = page.run("get_memory_bw_summary", lambda: analysis.get_memory_bw_summary())
    if answer is not None:
        count = sum(int(row.iloc[0]) for _, row in answer.iterrows())
        page.row("`get_memory_bw_summary`: copies and fills", count, len(operations.memory), count == len(operations.memory))
    answer = page.run("get_cuda_kernel_launch_stats", lambda: analysis.get_cuda_kernel_launch_stats(visualize=False)[0])
    if answer is not None:
        page.row("`get_cuda_kernel_launch_stats`: launches of kernels, copies and fills", len(answer), len(operations.rows),
                 len(answer) == len(operations.rows) or None)  # it knows only four functions of the CUDA runtime


def sequences(page, analysis, operations, ranges, names):
    """Checks the copy without annotations of streams, because HTA looks for the range nearest to the root and treats
    them as the nearest. HTA matches parts of names, so only names are used that are part of no other."""
    unique = [name for name, _ in collections.Counter(ranges).most_common() if sum(name in other for other in names) == 1]
    for name in unique[:5]:
        with tempfile.TemporaryDirectory() as folder:
            answer = page.run("get_frequent_cuda_kernel_sequences", lambda: analysis.get_frequent_cuda_kernel_sequences(
                operator_name=name, output_dir=folder, visualize=False, top_k=1000, min_pattern_len=1))
        if answer is not None and len(answer):
            inside = sum(e - b for b, e, _, path in operations.rows if name in path.split("/"))
            got = ns(answer["GPU kernel duration (us)"].sum())
            page.row(f"`get_frequent_cuda_kernel_sequences`: in range {name} (ns)", f"{got} in {int(answer['count'].sum())} ranges", inside, got == inside)


def annotations(page, analysis, operations, ranges):
    answer = page.run("get_gpu_kernels_with_user_annotations", lambda: analysis.get_gpu_kernels_with_user_annotations(rank=0))
    if answer is not None:
        inside = sum(1 for row in operations.rows if row[3])
        got = int((answer["s_user_annotation"] != "").sum())
        page.row("`get_gpu_kernels_with_user_annotations`: operations in one; launched in one", got, inside, None)
    answer = page.run("get_gpu_user_annotation_breakdown", lambda: analysis.get_gpu_user_annotation_breakdown(visualize=False))
    if answer is not None:
        page.row("`get_gpu_user_annotation_breakdown`: names", len(answer), len(set(ranges)), len(answer) == len(set(ranges)))


def critical_path(page, analysis, annotation, instances):
    for instance in range(min(instances, 3)):
        answer = page.run(f"critical_path_analysis, {annotation} {instance}",
                          lambda: analysis.critical_path_analysis(rank=0, annotation=annotation, instance_id=instance))
        if answer is None:
            continue
        graph, found = answer
        edges = collections.Counter(edge.type.value for edge in (graph.edges[u, v]["object"] for u, v in graph.edges))
        page.row(f"`critical_path_analysis`, {annotation} {instance}: edges", ", ".join(f"{name.removeprefix('critical_path_')} {count}" for name, count in sorted(edges.items())),
                 "", None if found else False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prof", default="prof")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("others", type=pathlib.Path, nargs="*")
    options = parser.parse_args()
    page = Page(options.strict)
    with tempfile.TemporaryDirectory(prefix="hta-check-") as folder:
        traces = {}
        for rank, path in enumerate((options.input, *options.others)):
            traces[rank] = str(path.resolve())
            if not is_json(path) or path.suffix not in (".json", ".gz"):
                traces[rank] = f"{folder}/{rank}.json.gz"
                prof_output(options.prof, "trace", path, "-o", traces[rank])
        table = prof_output(options.prof, "report", "gpu-trace", options.input, "--format", "csv")
        trace = load_json(traces[0])
        versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in ("HolisticTraceAnalysis", "pandas", "numpy"))
        print(f"{versions}, ns rounding off\n\n| analysis | HTA | prof | |\n|---|---|---|---|")

        bare = f"{folder}/bare.json.gz"
        with_less = {**trace, "traceEvents": [event for event in trace["traceEvents"] if event.get("cat") not in ADDED]}
        with gzip.open(bare, "wt", compresslevel=1, encoding="utf-8") as file:
            json.dump(with_less, file, default=float)
        load = lambda files: TraceAnalysis(trace_files=files, trace_dir="", include_last_profiler_step=True)  # noqa: E731
        operations = Operations(table, with_less)
        analysis = page.run("TraceAnalysis", lambda: load({0: bare}))
        if analysis is None:
            sys.exit(1)
        annotated = {event["name"] for event in trace["traceEvents"] if event.get("cat") == "user_annotation"}
        ranges = [name for row in operations.rows for name in row[3].split("/") if name in annotated]
        breakdowns(page, analysis, operations, ", operations alone")
        sequences(page, analysis, operations, ranges, {event["name"] for event in trace["traceEvents"]})
        analysis = page.run("TraceAnalysis", lambda: load({0: traces[0]}))
        operations = Operations(table, trace)
        breakdowns(page, analysis, operations.with_synchronisations(), ", synchronisations counted as work")
        streams_and_launches(page, analysis, operations)
        annotations(page, analysis, operations, ranges)
        steps = page.run("get_profiler_steps", lambda: analysis.get_profiler_steps())
        if ranges:
            critical_path(page, analysis, *(("ProfilerStep", len(steps)) if steps else (ranges[0], 1)))
        page.run("get_comm_comp_overlap", lambda: analysis.get_comm_comp_overlap(visualize=False))
        if options.others:
            analysis = page.run("TraceAnalysis, all ranks", lambda: load(traces))
            answer = page.run("get_potential_stragglers", lambda: analysis.get_potential_stragglers())
            if answer is not None:
                page.row("`get_potential_stragglers`: ranks", ", ".join(map(str, answer)), "", None)
    sys.exit(1 if page.bad else 0)


main()
