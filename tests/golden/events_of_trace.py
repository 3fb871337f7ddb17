#!/usr/bin/env python3
"""Prints how many events of which kind and category a Chrome trace has, and from when to when: events_of_trace.py TRACE"""
import collections
import json
import sys

# Events of damaged traces may have no readable time.
events = [event for event in json.load(open(sys.argv[1]))["traceEvents"] if event["ph"] != "M" and isinstance(event.get("ts"), float | int)]
kinds = collections.Counter(f"{event['ph']} {event.get('cat') or event['name']}" for event in events)
print("; ".join(f"{kind}: {count}" for kind, count in sorted(kinds.items())))
print("from", min((float(event["ts"]) for event in events), default=None), "to", max((float(event["ts"]) + float(event.get("dur", 0)) for event in events), default=None))
