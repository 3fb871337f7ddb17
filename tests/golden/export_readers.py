#!/usr/bin/env python3
"""Do the databases of `prof export` give what the input gives? Usage: export_readers.py --prof PROF --undump UNDUMP
[LOG...]; without logs, those of other golden tests and the real inputs of PROF_SHARED_DATA.

1. Reports of the export for nsys are equal to those of the input.
2. Every row of that export has whole numbers and texts, and every id of a name is in StringIds.
3. The profile for nvprof is read with the queries of torch.autograd.profiler.load_nvprof, also if it has no ranges: it
   has one row for each kernel of a call, all of them of cudaLaunchKernel. Where one thread made all calls, the sums of
   kernels in each range are those of `report nvtx_kern_sum`, and of `report nvtx` if there are no copies."""
import argparse
import collections
import csv
import io
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path(os.environ.get("PROF_SHARED_DATA", GOLDEN.parents[1] / "../shared/data"))
LOGS = ("trace_basic/app.log.txt", "report_nsys/app.log.txt", "two_of_a_kind/app.log.txt", "conditional_graphs/app.log.txt")
REAL = ("h200_ddp/rank0.plog", "h200_ddp/server.plog", "h200/gpt2.trace.json.gz", "h200/resnet18.plain.trace.json.gz",
        "hta/timeline_analysis__sampled_rank-0.json.gz", "nsys/mock.sqlite", "nsys/healthy_1pct.sqlite",
        "nsys/mfu_2gpu_before.sqlite")
REPORTS = ("kernels", "copies", "nvtx", "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "cuda_api_sum",
           "nvtx_sum")
# Reports that contain what an export does not have: operators are NVTX ranges there, and a library call that a log has
# beside NVTX is a range of a domain.
DIFFERENT = {"json.gz": {"nvtx"}, "rank0.plog": {"nvtx"}}

MARKERS = """SELECT start.id, start.name, start.domain, start.timestamp, end.timestamp FROM CUPTI_ACTIVITY_KIND_MARKER AS start
 INNER JOIN CUPTI_ACTIVITY_KIND_MARKER AS end ON start.id = end.id WHERE start.name != 0 AND end.name = 0"""
KERNELS = """SELECT runtime._id_, runtime.cbid, runtime.start, runtime.end, kernel.end - kernel.start, kernel.correlationId
 FROM CUPTI_ACTIVITY_KIND_RUNTIME AS runtime INNER JOIN CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL AS kernel
 ON kernel.correlationId = runtime.correlationId"""


class Problems(list):
    def check(self, holds, text):
        if not holds:
            self.append(text)


def rows_of(database, query):
    try:
        return database.execute(query).fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return []
        raise


def sorted_rows(table):
    """Without Rank, which nsys does not have. Rows of equal time come in the order of the kernels in the input."""
    head, *rows = csv.reader(io.StringIO(table))
    kept = [i for i, title in enumerate(head) if title != "Rank"]
    return "\n".join(",".join(row[i] for i in kept) for row in [head, *sorted(rows, key=lambda row: [row[i] for i in kept])])


def check_nsys(prof, source, export, problems):
    skipped = next((names for end, names in DIFFERENT.items() if source.name.endswith(end)), set())
    for report in REPORTS:
        if report in skipped:
            continue
        of_source, of_export = (sorted_rows(prof("report", report, each, "--format", "csv")) for each in (source, export))
        problems.check(of_source == of_export, f"{source.name}: report {report}:\n{of_source[:1500]}\nof its export:\n{of_export[:1500]}")
    database = sqlite3.connect(export)
    names = {row[0] for row in database.execute("SELECT id FROM StringIds")}
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = [(row[1], row[2]) for row in database.execute(f"PRAGMA table_info({table})")]
        filled = database.execute(f"SELECT * FROM {table}").fetchall()
        problems.check(filled, f"{source.name}: {table} has no rows and exists")
        for (name, kind), values in zip(columns, zip(*filled)):
            types = {type(value) for value in values} - {type(None)}
            wanted = {"TEXT": {str}, "REAL": {float}}.get(kind, {int})
            problems.check(types <= wanted, f"{source.name}: {table}.{name} is {kind} and has {types}")
            if name in ("nameId", "textId", "demangledName", "shortName", "mangledName"):
                problems.check(set(values) - {None} <= names, f"{source.name}: {table}.{name} has ids without a text")


def check_nvprof(prof, source, profile, problems):
    database = sqlite3.connect(profile)
    texts = dict(database.execute("SELECT _id_, value FROM StringTable"))
    joined = database.execute(KERNELS).fetchall()  # load_nvprof fails without these tables, also if they are empty
    markers = database.execute(MARKERS).fetchall()
    problems.check({row[1] for row in joined} <= {211}, f"{source.name}: kernels of callback ids {({row[1] for row in joined})}")
    problems.check(len({row[0] for row in joined}) == len(joined), f"{source.name}: a row of RUNTIME has several kernels")
    table = csv.DictReader(io.StringIO(prof("report", "kernels", source, "--format", "csv")))
    kernels = [row for row in table if row["Type"] not in ("memcpy", "memset")]
    ours = [(sum(int(row["Count"]) for row in kernels), sum(int(row["Total (ns)"]) for row in kernels))]
    query = 'SELECT count(*), coalesce(sum("end" - start), 0) FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL'
    theirs = database.execute(query).fetchall()
    problems.check(theirs == ours, f"{source.name}: kernels and their time: {theirs} instead of {ours}")
    compared = 0
    calling = rows_of(database, "SELECT DISTINCT processId, threadId FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE cbid = 211")
    if len(calling) != 1:
        return 0
    sums = collections.Counter()
    for _, name, domain, start, end in markers:
        label = f"{texts.get(domain, '')}:{texts[name]}"
        for row in joined:
            if start < row[2] and row[3] < end:
                sums[label] += row[4]
    expected = collections.Counter()
    for row in csv.DictReader(io.StringIO(prof("report", "nvtx_kern_sum", source, "--format", "csv"))):
        if row["NVTX Range"]:  # else the kernels outside of ranges
            expected[row["NVTX Range"]] += int(row["Total Time (ns)"])
    problems.check(sums == expected, f"{source.name}: kernels of ranges: {sums}\ninstead of {expected}")
    copies = rows_of(database, "SELECT 1 FROM CUPTI_ACTIVITY_KIND_MEMCPY UNION ALL SELECT 1 FROM CUPTI_ACTIVITY_KIND_MEMSET")
    if not copies:  # `report nvtx` counts kernels and copies
        table = csv.DictReader(io.StringIO(prof("report", "nvtx", source, "--format", "csv", "--ranges", "exact")))
        of_nvtx = {f"{row['Domain']}:{row['Range']}": int(row["GPU sum (ns)"]) for row in table if row["GPU sum (ns)"]}
        problems.check(of_nvtx == {name: sums[name] for name in of_nvtx}, f"{source.name}: report nvtx has {of_nvtx} instead of {sums}")
        compared += len(of_nvtx)
    compared += len(sums)
    return compared


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prof", type=pathlib.Path, required=True)
    parser.add_argument("--undump", type=pathlib.Path)
    parser.add_argument("logs", nargs="*", type=pathlib.Path)
    options = parser.parse_args()

    def prof(*words):
        done = subprocess.run([options.prof, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode > 1:
            sys.exit(f"prof {' '.join(map(str, words))}: {done.stderr.decode()}")
        return done.stdout.decode()

    problems, compared = Problems(), 0
    with tempfile.TemporaryDirectory(prefix="prof-export-") as folder:
        sources = options.logs
        if not sources:
            for name in LOGS:
                if not (GOLDEN / name).exists():
                    continue
                log = pathlib.Path(folder, name.replace("/", "_") + ".plog")
                subprocess.run([options.undump, GOLDEN / name, log], check=True)
                sources.append(log)
            sources += [DATA / name for name in REAL if (DATA / name).exists()]
        for source in sources:
            export, profile = pathlib.Path(folder, "x.sqlite"), pathlib.Path(folder, "x.nvprof")
            prof("export", source, "-o", export)
            prof("export", source, "-o", profile)
            check_nsys(prof, source, export, problems)
            found = check_nvprof(prof, source, profile, problems)
            compared += found
            print(f"{source.name}: {found} ranges with kernels in the profile")
    problems.check(compared, "no range with kernels was compared")
    if problems:
        sys.exit("\n".join(problems))


main()
