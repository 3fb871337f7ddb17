#!/usr/bin/env python3
"""What does Holistic Trace Analysis say about the slow ranks of a job, and what does prof? Both get the same traces.

hta_ranks.py --prof PROF --make-job MAKE_JOB --undump UNDUMP [JOB=FOLDER]...

Makes jobs of 8 ranks as logs, each with a rank that is slow in one way, and converts them with `prof trace`. JOB=FOLDER
adds a folder with the logs or traces of a recorded job, one file a rank. Prints Markdown for docs/measurements/hta.md:
the stragglers of HTA beside the findings of `prof report ranks`, and the largest difference of HTA's temporal breakdown
from the columns of `prof report breakdown --definitions hta`. Needs `pip install HolisticTraceAnalysis 'pandas<3'`. The
exit status is 1 if a breakdown differs by more than the 6 ns of a sum of fractions."""
import argparse
import importlib.metadata
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
logging.disable(logging.WARNING)
from hta.trace_analysis import TraceAnalysis  # noqa: E402

JOBS = (
    ("no slow rank", "none", ()),
    ("a kernel of rank 5 takes 1.5 times as long", "5", ("--slow-kernel", "5:gemm:1.5")),
    ("all kernels of rank 5 take 1.5 times as long", "5", ("--slow-kernel", "5:*:1.5")),
    ("copies of rank 2 take 8 times as long", "2", ("--slow-copy", "2:8")),
    ("the host of rank 3 takes 20 times as long", "3", ("--slow-host", "3:20")),
)


def rows_of(prof, *words):
    done = subprocess.run([prof, "report", *map(str, words), "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"prof report {' '.join(map(str, words))}: {done.stderr}")
    return json.loads(done.stdout)["rows"]


def make_logs(options, folder, words):
    """Logs of 8 ranks, with the names of steps and of kernels of NCCL before 2.19, which HTA looks for."""
    texts = folder / "texts"
    subprocess.run([options.make_job, texts, "--ranks", "8", "--steps", "20", "--text", "1", *words], check=True)
    logs = folder / "logs"
    logs.mkdir()
    for text in sorted(texts.glob("*.log.txt")):
        changed = folder / "text"
        changed.write_text(re.sub(r'total_bytes=\d+ offset=0 text="(step |ncclDevKernel_)([^"]*)"', known_name, text.read_text()))
        subprocess.run([options.undump, changed, logs / text.name.replace(".log.txt", ".plog")], check=True)
    return logs


def known_name(found):
    name = {"step ": "ProfilerStep#", "ncclDevKernel_": "ncclKernel_"}[found[1]] + found[2]
    return f'total_bytes={len(name)} offset=0 text="{name}"'


def stragglers(analysis):
    try:
        return ", ".join(map(str, analysis.get_potential_stragglers()))
    except Exception as problem:  # any exception of HTA is a result
        return f"{type(problem).__name__}: {problem}"


def largest_difference(analysis, prof, traces):
    """In ns, over ranks and columns; and the idle time of all ranks by both."""
    answer = analysis.get_temporal_breakdown(visualize=False)
    largest, idle = 0, [0, 0]
    for _, row in answer.iterrows():
        rows = rows_of(prof, "breakdown", traces[int(row["rank"])], "--definitions", "hta")
        mine = {each["what"]: each["time_ns"] for each in rows}
        for what in ("idle_time", "compute_time", "non_compute_time", "kernel_time"):
            largest = max(largest, abs(round(float(row[f"{what}(us)"]) * 1000) - mine[what]))
        idle[0] += round(float(row["idle_time(us)"]) * 1000)
        idle[1] += mine["idle_time"]
    return largest, *idle


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("prof", "make-job", "undump"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("recorded", nargs="*", metavar="JOB=FOLDER")
    options = parser.parse_args()
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("HolisticTraceAnalysis", "pandas"))
    print(f"{versions}, ns rounding off\n")
    print("| job | slow rank | HTA: stragglers | `prof report ranks` | idle, HTA (ns) | idle, prof (ns) | "
          "largest difference of a breakdown |\n|---|---|---|---|---|---|---|")
    failed = False
    with tempfile.TemporaryDirectory(prefix="hta-ranks-") as temporary:
        place = pathlib.Path(temporary)
        jobs = []
        for number, (name, slow, words) in enumerate(JOBS):
            (place / str(number)).mkdir()
            jobs.append((name, slow, make_logs(options, place / str(number), words)))
        jobs += [(name, "", pathlib.Path(folder)) for name, _, folder in (each.partition("=") for each in options.recorded)]
        for number, (name, slow, inputs) in enumerate(jobs):
            traces = {}
            for rank, path in enumerate(sorted(each for each in inputs.iterdir() if each.suffix in (".plog", ".json", ".gz"))):
                traces[rank] = str(place / f"{number}-{rank}.json.gz")
                subprocess.run([options.prof, "trace", path, "-o", traces[rank], "--plain"], check=True, capture_output=True)
            analysis = TraceAnalysis(trace_files=traces, trace_dir="", include_last_profiler_step=True)
            findings = rows_of(options.prof, "ranks", *traces.values(), "--group-by", "item")
            text = "; ".join(f"{each['where']}: {each['item']}" for each in findings[:3]) or "none"
            largest, hta_idle, idle = largest_difference(analysis, options.prof, traces)
            failed |= largest > 6
            print(f"| {name} | {slow} | {stragglers(analysis)} | {text} | {hta_idle} | {idle} | {largest} ns |", flush=True)
    sys.exit(failed)


main()
