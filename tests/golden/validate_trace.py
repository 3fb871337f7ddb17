#!/usr/bin/env python3
"""Reads a Chrome trace like its readers and reports what is wrong with it: validate_trace.py FILE

It checks what Perfetto, chrome://tracing, torch.profiler's own trace validator and Holistic Trace Analysis rely on:
* The JSON is valid, with Kineto's fields and kinds, and times are whole nanoseconds.
* Slices nest per track, and the two ends of a flow are on slices.
* A GPU operation starts after its launch was entered. A dependency starts at an operation that had ended.
* A synchronisation names its call and the record of its event.
* A range of a stream begins and ends with operations, and is not an operation itself.
* Counters are numeric, processes and threads have names, and an id identifies one process or one GPU.
Times are compared as integers: nothing here rounds."""
import bisect
import gzip
import itertools
import json
import sys
from decimal import Decimal

HEADER = ("schemaVersion", "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "traceName")
GPU = {"kernel", "gpu_memcpy", "gpu_memset"}
ON_GPU = GPU | {"cuda_profiler_range", "cuda_sync"}  # below a GPU, both its operations and events about them
HOST = {"cuda_driver", "cuda_runtime"}
KINDS = ON_GPU | HOST | {"user_annotation", "cpu_op", "python_function", "overhead", "gpu_user_annotation", "Trace"}
# whether it refers to a stream
SYNCS = {"Stream Sync": True, "Stream Wait Event": True, "Event Sync": False, "Context Sync": False}
SHOWN = 5  # problems of one rule that are printed; the rest are counted


class Problems:
    def __init__(self):
        self.by_rule = {}

    def add(self, rule, text):
        self.by_rule.setdefault(rule, []).append(text)

    def print(self):
        for rule, texts in self.by_rule.items():
            for text in texts[:SHOWN]:
                print(f"{rule}: {text}")
            if len(texts) > SHOWN:
                print(f"{rule}: {len(texts) - SHOWN} more")


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_float=Decimal)


def check_numbers(events, problems):
    """Adds begin and end in ns to every event; returns the events with usable times."""
    usable = []
    for event in events:
        times = [event.get(key) for key in (("ts", "dur") if event["ph"] == "X" else ("ts",))]
        if event["ph"] == "M":
            continue
        if not all(isinstance(time, (int, Decimal)) and not isinstance(time, bool) for time in times):
            problems.add("times are numbers", f"{event}")
            continue
        if any(time < 0 or Decimal(time).as_tuple().exponent < -3 for time in times):
            problems.add("times are whole ns from 0 on", f"{event['name']} ts {event['ts']} dur {event.get('dur')}")
        event["begin"] = int(Decimal(times[0]) * 1000)
        event["end"] = event["begin"] + int(Decimal(times[-1]) * 1000 if event["ph"] == "X" else 0)
        usable.append(event)
    return usable


def check_slices(slices, problems):
    tracks = {}
    for event in slices:
        if event.get("cat") not in KINDS:
            problems.add("kinds are Kineto's", f"{event.get('cat')}")
        if not isinstance(event.get("name"), str) or not event["name"]:
            problems.add("slices have names", f"{event}")
        tracks.setdefault((event["pid"], event["tid"]), []).append(event)
    for track, on_track in tracks.items():
        on_track.sort(key=lambda event: (event["begin"], -event["end"]))
        opened = []
        for event in on_track:
            while opened and opened[-1]["end"] <= event["begin"]:
                opened.pop()
            if opened and event["end"] > opened[-1]["end"]:
                problems.add("slices of a track nest", f"track {track}: {event['name']} at {event['begin']} ns crosses {opened[-1]['name']}")
            opened.append(event)
    return tracks


def check_causality(slices, problems):
    launches = {}
    for event in slices:
        if event.get("cat") in HOST and "correlation" in event["args"]:
            if event["args"]["correlation"] in launches:
                problems.add("one call per correlation", f"{event['args']['correlation']}")
            launches[event["args"]["correlation"]] = event
    operations = [event for event in slices if event.get("cat") in GPU]
    linked = 0
    for operation in operations:
        launch = launches.get(operation["args"].get("correlation"))
        linked += launch is not None
        if launch and operation["begin"] < launch["begin"]:
            problems.add("GPU work starts after its launch was entered",
                         f"{operation['name']} {launch['begin'] - operation['begin']} ns before {launch['name']}")
        for key in ("device", "stream", "context"):
            if not isinstance(operation["args"].get(key), int):
                problems.add("GPU work says where it ran", f"{operation['name']} has no {key}")
    return launches, len(operations), linked


def check_syncs(slices, calls, problems):
    """Checks what joins synchronisations with calls and events: Holistic Trace Analysis rejects a trace in which a
    record is on two streams or a stream waits for itself."""
    streams = {}
    for event in slices:
        if event.get("cat") != "cuda_sync":
            continue
        args = event["args"]
        name, stream = args.get("cuda_sync_kind"), args.get("stream")
        if name != event["name"] or name not in SYNCS or not isinstance(stream, int) or (stream != -1) != SYNCS[name]:
            problems.add("synchronisations are of Kineto's kinds", f"{event['name']} {args}")
        call = calls.get(args.get("correlation"))
        if call is None or not call["begin"] <= event["begin"] <= event["end"] <= call["end"]:
            problems.add("synchronisations lie in their calls", f"{event['name']} at {event['begin']} ns")
        if name not in ("Stream Wait Event", "Event Sync"):
            continue
        record, on = args.get("wait_on_cuda_event_record_corr_id"), args.get("wait_on_stream")
        if record not in calls or calls[record]["begin"] > event["begin"]:
            problems.add("waits for events name the record", f"{event['name']} at {event['begin']} ns: {record}")
        if streams.setdefault(record, on) != on:
            problems.add("an event is recorded on one stream", f"{record}: {on} and {streams[record]}")
        if on == stream:
            problems.add("streams do not wait for themselves", f"stream {on} at {event['begin']} ns")


def check_annotations(slices, problems):
    begins, ends = set(), set()
    for event in slices:
        if event.get("cat") in GPU:
            begins.add((event["pid"], event["args"].get("stream"), event["begin"]))
            ends.add((event["pid"], event["args"].get("stream"), event["end"]))
    for event in slices:
        if event.get("cat") != "gpu_user_annotation":
            continue
        stream = event["args"].get("of stream", event["tid"])
        if "stream" in event["args"]:
            problems.add("ranges of streams are not called work", f"{event['name']} at {event['begin']} ns has a stream")
        if (event["pid"], stream, event["begin"]) not in begins or (event["pid"], stream, event["end"]) not in ends:
            problems.add("ranges of streams begin and end with work", f"{event['name']} at {event['begin']} ns on stream {stream}")


def check_flows(events, tracks, problems):
    # For each track's slices, sorted by begin: the begins, and the latest end up to each.
    begins = {track: [event["begin"] for event in on_track] for track, on_track in tracks.items()}
    ends_so_far = {track: list(itertools.accumulate((event["end"] for event in on_track), max)) for track, on_track in tracks.items()}

    def on_slice(event):
        track = (event["pid"], event["tid"])
        before = bisect.bisect_right(begins.get(track, ()), event["begin"])
        if before == 0:
            return False
        at_begin = begins[track][before - 1] == event["begin"]
        return at_begin or (event["ph"] == "f" and event["begin"] < ends_so_far[track][before - 1])

    starts, ends = {}, {}
    for event in events:
        if event["ph"] not in "sf":
            continue
        if not on_slice(event):
            problems.add("ends of flows lie on slices", f"{event['ph']} of flow {event['id']} at {event['begin']} ns")
        if event["ph"] == "f" and event.get("bp") != "e":
            problems.add("flows end at the slice around them", f"flow {event['id']} has no bp e")
        if event["ph"] == "s" and event["id"] in starts:
            problems.add("flows have one start", f"flow {event['id']}")
        (starts if event["ph"] == "s" else ends).setdefault(event["id"], []).append(event["begin"])
    for flow in sorted(starts.keys() - ends.keys()):
        problems.add("flows have an end", f"flow {flow}")
    for flow in sorted(ends.keys() - starts.keys()):
        problems.add("flows have a start", f"flow {flow}")
    for flow in starts.keys() & ends.keys():
        if min(ends[flow]) < starts[flow][0]:
            problems.add("flows go forward", f"flow {flow}")
    return len(starts)


def check_dependencies(events, tracks, problems):
    """Checks that the origin of a dependency arrow had ended when its target operation began or its target call
    returned."""
    begins = {track: [event["begin"] for event in on_track] for track, on_track in tracks.items()}

    def slices_at(event):
        """the slices open at that time, the innermost first; if one begins exactly then, the previous one has ended"""
        track = (event["pid"], event["tid"])
        at = bisect.bisect_right(begins.get(track, ()), event["begin"])
        for one in reversed(tracks.get(track, ())[:at]):
            if one["begin"] == event["begin"] or one["end"] > event["begin"]:
                yield one

    starts = {event["id"]: event for event in events if event["ph"] == "s" and event.get("cat") == "dependency"}
    for event in events:
        start = starts.get(event.get("id")) if event["ph"] == "f" and event.get("cat") == "dependency" else None
        if start is None:
            continue
        earlier = next((one for one in slices_at(start) if one["begin"] == start["begin"] and one.get("cat") in GPU), None)
        later = next((one for one in slices_at(event) if one.get("cat") in GPU | HOST), None)
        if earlier is None or later is None:
            problems.add("dependencies join operations and calls", f"flow {event['id']}")
            continue
        if earlier["end"] > (later["begin"] if later["cat"] in GPU else later["end"]):
            problems.add("dependencies come from work that had ended", f"{earlier['name']} ended at {earlier['end']} ns, {later['name']} had not waited for it")


def check_counters(events, problems):
    for event in events:
        if event["ph"] != "C":
            continue
        values = event.get("args", {})
        if not values or not all(isinstance(value, (int, Decimal)) and not isinstance(value, bool) for value in values.values()):
            problems.add("counters are numbers", f"{event['name']} {values}")


def check_metadata(trace, events, problems):
    named, roles, threads = set(), {}, set()
    for event in events:
        if event["ph"] != "M":
            continue
        if event["name"] == "process_name":
            if event["pid"] in named:
                problems.add("an id is one process or one GPU", f"pid {event['pid']} is named twice")
            named.add(event["pid"])
        elif event["name"] == "process_labels":
            if event["pid"] in roles:
                problems.add("an id is one process or one GPU", f"pid {event['pid']} is {roles[event['pid']]} and {event['args']['labels']}")
            roles[event["pid"]] = event["args"]["labels"]
        elif event["name"] == "thread_name":
            if (event["pid"], event["tid"]) in threads:
                problems.add("a track has one name", f"{event['pid']}/{event['tid']}")
            threads.add((event["pid"], event["tid"]))
    wanted = {}
    for event in events:
        if event["ph"] == "X":
            role = f"GPU {event['args'].get('device')}" if event.get("cat") in ON_GPU else "CPU"
            if event.get("cat") == "gpu_user_annotation":  # it does not name its stream
                role = roles.get(event["pid"]) if roles.get(event["pid"], "").startswith("GPU") else "a GPU"
            wanted.setdefault((event["pid"], event["tid"], role), event["name"])
        elif event["ph"] == "C":
            wanted.setdefault((event["pid"], None, None), event["name"])
    for (pid, tid, role), example in wanted.items():
        if pid not in named or pid not in roles:
            problems.add("processes are named and labelled", f"pid {pid} of {example}")
        elif role is not None and roles[pid] != role:
            problems.add("an id is one process or one GPU", f"pid {pid} is {roles[pid]} but holds {example} of {role}")
        if tid is not None and (pid, tid) not in threads:
            problems.add("threads are named", f"{pid}/{tid} of {example}")
    ids = [device["id"] for device in trace.get("deviceProperties", [])]
    if len(ids) != len(set(ids)):
        problems.add("an id is one process or one GPU", f"deviceProperties {ids}")


def main():
    trace = load(sys.argv[1])
    problems = Problems()
    for key in HEADER:
        if key not in trace:
            problems.add("the header is Kineto's", f"no {key}")
    every = trace.get("traceEvents", [])
    events = check_numbers(every, problems)
    slices = [event for event in events if event["ph"] == "X"]
    tracks = check_slices(slices, problems)
    calls, operations, linked = check_causality(slices, problems)
    check_syncs(slices, calls, problems)
    check_annotations(slices, problems)
    flows = check_flows(events, tracks, problems)
    check_dependencies(events, tracks, problems)
    check_counters(events, problems)
    check_metadata(trace, every, problems)
    problems.print()
    print(f"{len(every)} events, {len(calls)} calls with correlation, {operations} GPU operations, {linked} linked, "
          f"{flows} flows: {'bad' if problems.by_rule else 'good'}")
    sys.exit(1 if problems.by_rule else 0)


if __name__ == "__main__":
    main()
