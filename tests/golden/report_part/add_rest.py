#!/usr/bin/env python3
"""add_rest.py TRACE PART WHOLE: PART is a trace of torch.profiler with one annotation, `part`, around the events of
each thread. WHOLE is PART and in addition a copy of its events on other threads and another device, in no range."""
import copy
import json
import re
import sys

MORE = 100_000  # larger than every number of the trace itself


def again(event):
    event = copy.deepcopy(event)
    args = event.get("args", {})
    if "device" in args:
        event["pid"], args["device"] = 1, 1
    elif isinstance(event["tid"], int):
        event["tid"] += MORE
    for key in ("correlation", "External id", "Sequence number", "Fwd thread id", "Python id", "Addr"):
        if args.get(key):
            args[key] += MORE
    if "Device Id" in args:
        args["Device Id"] = 1
    return event


def main():
    source, part, whole = sys.argv[1:]
    text = re.sub(r"\}\s*\n\{\"ph\"", "},\n{\"ph\"", open(source, encoding="utf-8").read())
    trace = json.loads(text)
    events = [e for e in trace["traceEvents"] if e.get("ph") in ("X", "i") and "annotation" not in e.get("cat", "overhead") and e["cat"] != "overhead"]
    on_host = [e for e in events if "device" not in e.get("args", {})]
    last = max(e["ts"] + e.get("dur", 0) for e in on_host) + 1
    around = [{"ph": "X", "cat": "user_annotation", "name": "part", "pid": pid, "tid": tid, "ts": 0, "dur": last, "args": {}}
              for pid, tid in sorted({(e["pid"], e["tid"]) for e in on_host})]
    rest = [again(e) for e in events]
    for path, more in ((part, []), (whole, rest)):
        trace["traceEvents"] = around + events + more
        json.dump(trace, open(path, "w", encoding="utf-8"))


if __name__ == "__main__":
    main()
