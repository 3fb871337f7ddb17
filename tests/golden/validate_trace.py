#!/usr/bin/env python3
"""Reads a Chrome trace as its users would and says what is wrong with it: validate_trace.py FILE

JSON validity, Kineto's fields and kinds, numbers, slices that nest per track, flows with both ends, GPU work that starts
after its launch was entered (the rule gpu_kernel_causality of torch.profiler's validator), unique pids."""
import gzip
import json
import sys

KINDS = {"cuda_driver", "kernel", "gpu_memcpy", "gpu_memset", "user_annotation"}
GPU = {"kernel", "gpu_memcpy", "gpu_memset"}


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def nest(events, problems):
    tracks = {}
    for event in events:
        tracks.setdefault((event["pid"], event["tid"]), []).append((round(event["ts"] * 1000), -round(event["dur"] * 1000)))
    for track, slices in tracks.items():
        slices.sort()
        open_until = []
        for begin, minus_duration in slices:
            end = begin - minus_duration
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            if open_until and end > open_until[-1]:
                problems.append(f"track {track}: a slice at {begin} ns crosses its neighbour")
            open_until.append(end)


def main():
    trace = load(sys.argv[1])
    problems = []
    for key in ("schemaVersion", "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "traceName"):
        if key not in trace:
            problems.append(f"no {key}")
    events = trace["traceEvents"]
    slices = [e for e in events if e["ph"] == "X"]
    for event in slices:
        if event["cat"] not in KINDS:
            problems.append(f"kind {event['cat']}")
        if event["dur"] < 0:
            problems.append(f"negative duration: {event}")
    nest(slices, problems)
    launches = {e["args"]["correlation"]: e for e in slices if e["cat"] == "cuda_driver" and "correlation" in e["args"]}
    operations = [e for e in slices if e["cat"] in GPU]
    for operation in operations:
        launch = launches.get(operation["args"]["correlation"])
        if launch and operation["ts"] < launch["ts"]:
            problems.append(f"{operation['name']} starts before its launch")
    starts = {e["id"] for e in events if e["ph"] == "s"}
    ends = {e["id"] for e in events if e["ph"] == "f"}
    if starts != ends:
        problems.append(f"flows without an end {sorted(starts - ends)}, without a start {sorted(ends - starts)}")
    roles = {}
    for event in events:
        if event["ph"] == "M" and event["name"] == "process_labels":
            if event["pid"] in roles:
                problems.append(f"pid {event['pid']} is both {roles[event['pid']]} and {event['args']['labels']}")
            roles[event["pid"]] = event["args"]["labels"]
    for problem in problems:
        print(problem)
    linked = sum(1 for o in operations if o["args"]["correlation"] in launches)
    print(f"{len(events)} events, {len(launches)} launches with correlation, {len(operations)} GPU operations, {linked} linked, "
          f"{len(starts)} flows: {'bad' if problems else 'good'}")
    sys.exit(1 if problems else 0)


main()
