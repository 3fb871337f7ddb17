#!/usr/bin/env python3
"""Are the reports with nsys's names right, row by row, on real exports of nsys?

Every row is worked out again from the SQLite file, by the column definitions of NVIDIA's user guide, and compared with
the CSV of prof. Exit status 77: the exports are not there."""
import argparse
import bisect
import collections
import csv
import decimal
import io
import os
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys

PUSH_POP, START_END = (59, 70), (60, 71)
COPIES = {1: "Host-to-Device", 2: "Device-to-Host", 8: "Device-to-Device", 9: "Host-to-Host", 10: "Peer-to-Peer",
          11: "Unified Host-to-Device", 12: "Unified Device-to-Host", 13: "Unified Device-to-Device"}
MEMORY = ["Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"]


def rounded(value, decimals):
    """Half up, of the number as 15 digits show it."""
    digits = decimal.Decimal(f"{value:.15g}")
    return str(digits.quantize(decimal.Decimal(1).scaleb(-decimals), rounding=decimal.ROUND_HALF_UP))


def numbers(values, decimals=1, scale=1):
    """Avg, Med, Min, Max, StdDev."""
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    cells = [sum(values) / len(values), statistics.median(values), min(values), max(values), deviation]
    if scale != 1:
        return [rounded(cell / scale, decimals) for cell in cells]
    return [rounded(cells[0], 1), rounded(cells[1], 1), str(cells[2]), str(cells[3]), rounded(cells[4], 1)]


class Export:
    def __init__(self, path):
        self.database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.database.row_factory = sqlite3.Row
        self.tables = {name for (name,) in self.database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.texts = dict(tuple(row) for row in self.rows("StringIds"))
        self.calls = self.rows("CUPTI_ACTIVITY_KIND_RUNTIME")
        self.kernels = [dict(row, kind="kernel") for row in self.rows("CUPTI_ACTIVITY_KIND_KERNEL")]
        self.memory = [dict(row, kind="copy") for row in self.rows("CUPTI_ACTIVITY_KIND_MEMCPY")]
        self.memory += [dict(row, kind="fill") for row in self.rows("CUPTI_ACTIVITY_KIND_MEMSET")]
        self.launches = {}
        for call in self.calls:
            self.launches[self.process(call["globalTid"]), call["correlationId"]] = call
        processes = {self.process(call["globalTid"]) for call in self.calls}
        self.only_process = processes.pop() if len(processes) == 1 else None
        self.threads = {row["globalTid"] & 0xffffffffffff: row for row in self.rows("ThreadNames")}
        domains = {}
        self.ranges = []
        events = [row for row in self.rows("NVTX_EVENTS")]
        for row in events:
            if row["eventType"] == 75:
                domains[row["globalTid"] >> 24, row["domainId"]] = row["text"] or self.texts.get(row["textId"], "")
        for row in events:
            if row["eventType"] in PUSH_POP + START_END and row["end"] is not None:
                text = row["text"] if row["text"] is not None else self.texts.get(row["textId"], "")
                domain = domains.get((row["globalTid"] >> 24, row["domainId"]))
                if domain is None:
                    domain = "" if not row["domainId"] else f"domain {row['domainId']}"
                style = "PushPop" if row["eventType"] in PUSH_POP else "StartEnd"
                self.ranges.append({"start": row["start"], "end": row["end"], "thread": row["globalTid"] & 0xffffffffffff,
                                    "name": f"{domain}:{text}", "style": style,
                                    "moved": row["endGlobalTid"] not in (None, 0, row["globalTid"])})

    def rows(self, table):
        if table not in self.tables:
            return []
        return self.database.execute(f'SELECT * FROM "{table}"').fetchall()

    @staticmethod
    def process(identifier):
        return identifier >> 24 & 0xffffff

    def launch(self, operation):
        process = self.process(operation["globalPid"]) if operation.get("globalPid") is not None else self.only_process
        return self.launches.get((process, operation["correlationId"]))

    def kernel_name(self, kernel):
        return self.texts[kernel["demangledName"]]

    def api(self, call):
        name = self.texts.get(call["nameId"]) or "[unknown call]"
        return name[:-6] if len(name) > 6 and name[-6:-4] == "_v" else name

    @staticmethod
    def operation_name(operation):
        if operation["kind"] == "fill":
            return "[CUDA memset]"
        return f"[CUDA memcpy {COPIES[operation['copyKind']]}]"


def summed(groups, texts):
    """Rows of a summary: groups is {texts: values}."""
    total = sum(sum(values) for values in groups.values())
    rows = []
    for key, values in groups.items():
        share = rounded(100 * sum(values) / total, 1) if total else ""
        rows.append([share, str(sum(values)), str(len(values))] + numbers(values) + texts(key))
    return rows


def grouped(pairs):
    groups = collections.defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def shape(row, what):
    return " ".join(f"{row[what + axis]:4d}" for axis in "XYZ")


def duration(row):
    return row["end"] - row["start"]


def kern_sum(export):
    return summed(grouped((export.kernel_name(k), duration(k)) for k in export.kernels), lambda name: [name])


def kern_gb_sum(export):
    key = lambda k: (shape(k, "grid"), shape(k, "block"), export.kernel_name(k))
    return summed(grouped((key(k), duration(k)) for k in export.kernels), list)


def mem_time_sum(export):
    return summed(grouped((export.operation_name(m), duration(m)) for m in export.memory), lambda name: [name])


def mem_size_sum(export):
    rows = []
    for name, values in grouped((export.operation_name(m), m["bytes"]) for m in export.memory).items():
        rows.append([rounded(sum(values) / 1e6, 3), str(len(values))] + numbers(values, 3, 1e6) + [name])
    return rows


def gpu_pairs(export):
    yield from ((("CUDA_KERNEL", export.kernel_name(k)), duration(k)) for k in export.kernels)
    yield from ((("MEMORY_OPER", export.operation_name(m)), duration(m)) for m in export.memory)


def gpu_sum(export):
    return summed(grouped(gpu_pairs(export)), list)


def api_gpu_sum(export):
    calls = ((("CUDA_API", export.api(call)), duration(call)) for call in export.calls)
    return summed(grouped([*gpu_pairs(export), *calls]), list)


def api_sum(export):
    return summed(grouped((export.api(call), duration(call)) for call in export.calls), lambda name: [name])


def api_trace(export):
    rows = []
    for call in export.calls:
        thread = export.threads.get(call["globalTid"] & 0xffffffffffff)
        priority = "" if thread is None or thread["priority"] is None else str(thread["priority"])
        name = "" if thread is None else export.texts.get(thread["nameId"], "")
        result = call["returnValue"] if "returnValue" in call.keys() else 0
        rows.append([str(call["start"]), str(duration(call)), export.api(call), str(result or 0), str(call["correlationId"]),
                     str(export.process(call["globalTid"])), str(call["globalTid"] & 0xffffff), priority, name])
    return rows


def gpu_trace(export):
    """Without Throughput, which is exact here, and Device."""
    rows = []
    cell = lambda row, key: "" if row.get(key) in (None, 0) else str(row[key])
    for k in export.kernels:
        rows.append([str(k["start"]), str(duration(k)), str(k["correlationId"])]
                    + [str(k[what + axis]) for what in ("grid", "block") for axis in "XYZ"]
                    + [str(k.get("registersPerThread") or 0), rounded((k.get("staticSharedMemory") or 0) / 1e6, 3),
                       rounded((k.get("dynamicSharedMemory") or 0) / 1e6, 3), "", "", ""]
                    + [str(k.get("contextId") or 0), cell(k, "greenContextId"), str(k["streamId"]), export.kernel_name(k)])
    for m in export.memory:
        if m["kind"] == "copy":
            kinds = [MEMORY[m["srcKind"]], MEMORY[m["dstKind"]]]
        else:
            kinds = [MEMORY[m["memKind"]], ""]
        rows.append([str(m["start"]), str(duration(m)), str(m["correlationId"])] + [""] * 9
                    + [rounded(m["bytes"] / 1e6, 3)] + kinds
                    + [str(m["contextId"]), cell(m, "greenContextId"), str(m["streamId"]), export.operation_name(m)])
    return rows


def executions(export):
    for k in export.kernels:
        call = export.launch(k)
        if call is not None:
            yield k, call


def exec_trace(export):
    rows = []
    for k, call in executions(export):
        queued = k["start"] >= call["end"]
        queue = [str(call["end"]), str(k["start"] - call["end"])] if queued else ["", ""]
        rows.append([str(call["start"]), str(duration(call))] + queue + [str(k["start"]), str(duration(k))]
                    + [str(max(call["end"], k["end"]) - call["start"]), str(export.process(call["globalTid"])),
                       str(call["globalTid"] & 0xffffff), str(k["deviceId"]), export.api(call), shape(k, "grid"),
                       shape(k, "block"), export.kernel_name(k)])
    return rows


def exec_sum(export):
    groups = collections.defaultdict(lambda: ([], [], [], []))
    for k, call in executions(export):
        total, api, queue, kernel = groups[export.process(call["globalTid"]), call["globalTid"] & 0xffffff, k["deviceId"],
                                           export.api(call), export.kernel_name(k)]
        total.append(max(call["end"], k["end"]) - call["start"])
        api.append(duration(call))
        kernel.append(duration(k))
        if k["start"] >= call["end"]:
            queue.append(k["start"] - call["end"])
    rows = []
    for (pid, tid, device, api, name), values in groups.items():
        row = [str(pid), str(tid), str(device), str(len(values[0])), str(len(values[2]))]
        for each in values:
            row += numbers(each) if each else [""] * 5
        rows.append(row + [api, name])
    return rows


def nvtx_sum(export, style=None):
    pairs = [((r["style"], r["name"]), duration(r)) for r in export.ranges if style in (None, r["style"])]
    return summed(grouped(pairs), lambda key: list(key) if style is None else [key[1]])


def nested(export):
    """{position in export.ranges: (level, children, time of children, position of the parent)} of push/pop ranges."""
    found = {}
    by_thread = grouped((r["thread"], i) for i, r in enumerate(export.ranges) if r["style"] == "PushPop")
    for positions in by_thread.values():
        positions.sort(key=lambda i: (export.ranges[i]["start"], -export.ranges[i]["end"]))
        open_ranges = []
        for i in positions:
            while open_ranges and export.ranges[open_ranges[-1]]["end"] < export.ranges[i]["end"]:
                open_ranges.pop()
            parent = open_ranges[-1] if open_ranges else None
            found[i] = [len(open_ranges), 0, 0, parent]
            if parent is not None:
                found[parent][1] += 1
                found[parent][2] += duration(export.ranges[i])
            open_ranges.append(i)
    return found


def place(r):
    return [str(r["thread"] >> 24 & 0xffffff), str(r["thread"] & 0xffffff)]


def pushpop_trace(export):
    """Without RangeId, ParentId and RangeStack, whose numbers are arbitrary."""
    rows = []
    for i, (level, children, children_time, _) in nested(export).items():
        r = export.ranges[i]
        rows.append([str(r["start"]), str(r["end"]), str(duration(r)), str(children_time), str(duration(r) - children_time),
                     r["name"]] + place(r) + [str(level), str(children), "--" * level + r["name"]])
    return rows


def operations_of_ranges(export):
    """(position of the range, operation) for each operation whose call is inside the range; operations outside all."""
    calls = grouped((call["globalTid"] & 0xffffffffffff, (call["start"], call["end"], i))
                    for i, call in enumerate(export.calls))
    launched = collections.defaultdict(list)
    for operation in export.kernels + export.memory:
        call = export.launch(operation)
        if call is not None:
            launched[id(call)].append(operation)
    inside, covered = [], set()
    for values in calls.values():
        values.sort()
    for i, r in enumerate(export.ranges):
        own = calls.get(r["thread"], [])
        for start, end, at in own[bisect.bisect_left(own, (r["start"],)):]:
            if start > r["end"]:
                break
            if end <= r["end"] and start >= r["start"]:
                for operation in launched[id(export.calls[at])]:
                    inside.append((i, operation))
                    covered.add(id(operation))
    outside = [operation for group in launched.values() for operation in group if id(operation) not in covered]
    return inside, outside


def projections(export):
    by_range = grouped((i, operation) for i, operation in operations_of_ranges(export)[0])
    nesting = nested(export)
    for i, operations in by_range.items():
        r = export.ranges[i]
        if r["moved"]:
            continue
        level, children = nesting[i][:2] if i in nesting else (0, 0)
        yield (r, min(o["start"] for o in operations), max(o["end"] for o in operations), len(operations), level, children)


def proj_trace(export):
    return [[r["name"], str(start), str(end - start), str(r["start"]), str(duration(r)), r["style"]] + place(r)
            + [str(count), str(level), str(children)] for r, start, end, count, level, children in projections(export)]


def proj_sum(export):
    groups = grouped(((r["name"], r["style"]), (end - start, duration(r), count, level, children))
                     for r, start, end, count, level, children in projections(export))
    rows = []
    for (name, style), values in groups.items():
        projected, original, counts, levels, children = zip(*values)
        mean = lambda cells: rounded(sum(cells) / len(cells), 1)
        rows.append([name, style, str(sum(projected)), str(sum(original)), str(len(values))] + numbers(projected)
                    + [str(sum(counts)), mean(counts), mean(levels), mean(children)])
    return rows


def nvtx_kern_sum(export):
    inside, outside = operations_of_ranges(export)
    groups, instances = collections.defaultdict(list), collections.defaultdict(set)
    for i, operation in inside:
        if operation["kind"] != "kernel":
            continue
        r = export.ranges[i]
        key = (r["name"], r["style"], *place(r), export.kernel_name(operation))
        groups[key].append(duration(operation))
        instances[key].add(i)
    for operation in outside:
        if operation["kind"] == "kernel":
            thread = {"thread": export.launch(operation)["globalTid"]}
            groups["", "", *place(thread), export.kernel_name(operation)].append(duration(operation))
    rows = []
    for key, values in groups.items():
        ranges = str(len(instances[key])) if key[1] else ""
        rows.append([*key[:4], ranges, str(len(values)), str(sum(values))] + numbers(values) + [key[4]])
    return rows


ARBITRARY = ("RangeId", "ParentId", "RangeStack")
REPORTS = {
    "cuda_gpu_kern_sum": (kern_sum, ()), "cuda_gpu_kern_gb_sum": (kern_gb_sum, ()),
    "cuda_gpu_mem_time_sum": (mem_time_sum, ()), "cuda_gpu_mem_size_sum": (mem_size_sum, ()),
    "cuda_gpu_sum": (gpu_sum, ()), "cuda_api_gpu_sum": (api_gpu_sum, ()), "cuda_api_sum": (api_sum, ()),
    "cuda_api_trace": (api_trace, ()), "cuda_gpu_trace": (gpu_trace, ("Throughput (MB/s)", "Device")),
    "cuda_kern_exec_sum": (exec_sum, ()), "cuda_kern_exec_trace": (exec_trace, ()), "nvtx_sum": (nvtx_sum, ()),
    "nvtx_pushpop_sum": (lambda export: nvtx_sum(export, "PushPop"), ()),
    "nvtx_startend_sum": (lambda export: nvtx_sum(export, "StartEnd"), ()),
    "nvtx_pushpop_trace": (pushpop_trace, ARBITRARY), "nvtx_gpu_proj_trace": (proj_trace, ARBITRARY),
    "nvtx_gpu_proj_sum": (proj_sum, ()), "nvtx_kern_sum": (nvtx_kern_sum, ()),
}


def compare(prof, path):
    export, failures, compared = Export(path), 0, 0
    for report, (work_out, left_out) in REPORTS.items():
        answer = subprocess.run([prof, "report", report, str(path), "--format", "csv"], capture_output=True, text=True)
        # A cell that begins like a formula (the dashes of NameTree) has an apostrophe before it.
        table = [[re.sub(r"^'(?=[-=+@])", "", cell) for cell in row] for row in csv.reader(io.StringIO(answer.stdout))]
        kept = [i for i, title in enumerate(table[0]) if title not in left_out]
        found = sorted([row[i] for i in kept] for row in table[1:])
        wanted = sorted(work_out(export))
        compared += len(wanted)
        wrong = found != wanted
        print(f"{'differs' if wrong else 'equal':8} {report:22} {len(found)} rows, {len(wanted)} expected")
        if wrong:
            failures += 1
            for a, b in [pair for pair in zip(found, wanted) if pair[0] != pair[1]][:3]:
                print("  prof    ", a, "\n  expected", b)
    print(f"{path.name}: {compared} rows")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prof", required=True)
    options = parser.parse_args()
    source = pathlib.Path(__file__).resolve().parents[2]
    folder = pathlib.Path(os.environ.get("PROF_SHARED_DATA", source / "../shared/data")) / "nsys"
    files = sorted(folder.glob("*.sqlite"))
    if not files:
        print(f"no exports in {folder}")
        return 77
    return 1 if sum(compare(options.prof, path) for path in files) else 0


if __name__ == "__main__":
    sys.exit(main())
