"""Does Holistic Trace Analysis read our Chrome trace, and do its numbers agree with prof's?

hta_check.py TRACE.json.gz GPU_TRACE.csv     (both of one log: prof trace, prof report gpu-trace --format csv)
Needs `pip install HolisticTraceAnalysis 'pandas<3'`. Prints Markdown for docs/measurements/trace_readers.md; exit status 1 when a
number that must agree does not. Every analysis runs by itself: one that raises is a row of the table, not the end."""
import collections
import csv
import importlib.metadata
import logging
import os
import sys
import tempfile
import warnings

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"  # else starts are rounded up and ends down to whole microseconds
warnings.simplefilter("ignore")
PROGRESS = ("Parsed ", "Overall parsing", "leaving ", "Rounding down ns", "Please see")  # logged as warnings, say nothing of the trace
heard = []


class Listener(logging.Handler):
    def emit(self, record):
        text = record.getMessage().splitlines()[0]
        if record.levelno >= logging.WARNING and not text.startswith(PROGRESS):
            heard.append(text)


logging.getLogger().addHandler(Listener())
from hta.trace_analysis import TraceAnalysis  # noqa: E402

logging.getLogger("hta").addHandler(Listener())


def ns(us):
    return round(float(us) * 1000)


class Operations:
    def __init__(self, path):
        self.rows = []
        for row in csv.DictReader(open(path, encoding="utf-8")):
            start, duration = int(row["Start (ns)"]), int(row["Duration (ns)"])
            self.rows.append((start, start + duration, row["Name"], row["NVTX path"]))
        self.kernels = [row for row in self.rows if not row[2].startswith("[CUDA")]
        self.memory = [row for row in self.rows if row[2].startswith("[CUDA")]

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
    def __init__(self):
        self.bad = 0

    def row(self, what, hta, prof, agrees):
        self.bad += agrees is False
        verdict = {True: "equal", False: "**differs**", None: ""}[agrees]
        print(f"| {what} | {hta} | {prof} | {verdict} |")

    def run(self, name, analysis):
        before = len(heard)
        try:
            answer = analysis()
        except Exception as problem:  # whatever HTA raises is the finding
            self.row(f"`{name}`", f"{type(problem).__name__}: {problem}", "", None)
            return None
        for message in dict.fromkeys(heard[before:]):
            self.row(f"`{name}` says", message, "", None)
        return answer


def main():
    trace, operations, page = sys.argv[1], Operations(sys.argv[2]), Page()
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in ("HolisticTraceAnalysis", "pandas", "numpy"))
    print(f"{versions}, ns rounding off\n\n| analysis | HTA | prof | |\n|---|---|---|---|")
    analysis = page.run("TraceAnalysis", lambda: TraceAnalysis(trace_files={0: os.path.abspath(trace)}, trace_dir=""))
    if analysis is None:
        sys.exit(1)

    answer = page.run("get_temporal_breakdown", lambda: analysis.get_temporal_breakdown(visualize=False))
    if answer is not None:
        row, busy = answer.iloc[0], operations.union(operations.rows)
        compute = operations.union(operations.kernels)
        for what, got, want in (("first start to last end (ns)", row["kernel_time(us)"], operations.window()),
                                ("idle, no operation at all (ns)", row["idle_time(us)"], operations.window() - busy),
                                ("computing (ns)", row["compute_time(us)"], compute),
                                ("only copies and fills (ns)", row["non_compute_time(us)"], busy - compute)):
            page.row(f"`get_temporal_breakdown`: {what}", ns(got), want, ns(got) == want)

    answer = page.run("get_gpu_kernel_breakdown", lambda: analysis.get_gpu_kernel_breakdown(
        visualize=False, num_kernels=100000, duration_ratio=1.0))
    if answer is not None:
        table, wrong, calls, total = operations.per_kernel(), 0, 0, 0
        kernels = answer[1][answer[1]["kernel_type"] == "COMPUTATION"]
        for _, row in kernels.iterrows():
            durations = table.get(row["name"], [0])
            calls += round(row["sum (us)"] / row["mean (us)"])
            total += ns(row["sum (us)"])
            wrong += (ns(row["sum (us)"]), ns(row["min (us)"]), ns(row["max (us)"]), round(row["sum (us)"] / row["mean (us)"])) != (
                sum(durations), min(durations), max(durations), len(durations))
        page.row("`get_gpu_kernel_breakdown`: kernel names", len(kernels), len(table), len(kernels) == len(table))
        page.row("… kernels, calls", calls, len(operations.kernels), calls == len(operations.kernels))
        page.row("… kernels, sum (ns)", total, sum(e - b for b, e, *_ in operations.kernels),
                 total == sum(e - b for b, e, *_ in operations.kernels))
        page.row("… names whose calls, sum, min or max differ", wrong, 0, wrong == 0)
        for _, row in answer[0].iterrows():
            rows = operations.kernels if row["kernel_type"] == "COMPUTATION" else operations.memory
            page.row(f"… its table of types, {row['kernel_type']} (us)", row["sum"],
                     f"{sum(e - b for b, e, *_ in rows) / 1000:.3f}; {sum((e - b) // 1000 for b, e, *_ in rows)} if each is cut to whole us", None)

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
                 len(answer) == len(operations.rows) or None)  # it knows four functions of the run time only

    ranges = [row[3].rsplit("/", 1)[-1] for row in operations.rows if row[3]]
    for name in dict.fromkeys(name for name in ranges if not any(digit.isdigit() for digit in name)):
        with tempfile.TemporaryDirectory() as folder:
            answer = page.run("get_frequent_cuda_kernel_sequences", lambda: analysis.get_frequent_cuda_kernel_sequences(
                operator_name=name, output_dir=folder, visualize=False, top_k=1000))
        if answer is not None and len(answer):
            inside = sum(e - b for b, e, _, path in operations.rows if name in path.split("/"))
            got = ns(answer["GPU kernel duration (us)"].sum())
            page.row(f"`get_frequent_cuda_kernel_sequences`: in NVTX range {name} (ns)", f"{got} in {int(answer['count'].sum())} ranges", inside, got == inside)
    page.run("critical_path_analysis", lambda: analysis.critical_path_analysis(rank=0, annotation=ranges[-1], instance_id=0))
    page.run("get_comm_comp_overlap", lambda: analysis.get_comm_comp_overlap(visualize=False))
    page.run("get_potential_stragglers", lambda: analysis.get_potential_stragglers())
    page.run("get_gpu_kernels_with_user_annotations", lambda: analysis.get_gpu_kernels_with_user_annotations(rank=0))
    sys.exit(1 if page.bad else 0)


main()
