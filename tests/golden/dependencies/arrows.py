"""Prints the arrows of a trace except those of launches: category, source and target, in us: arrows.py FILE"""
import json
import sys

events = json.load(open(sys.argv[1]))["traceEvents"]
slices, ends = {}, {}
for event in events:
    if event["ph"] == "X":
        slices.setdefault((event["pid"], event["tid"]), []).append(event)
    elif event["ph"] in "sf" and event["cat"] != "ac2g":
        ends.setdefault((event["cat"], event["id"]), {})[event["ph"]] = event
for (category, _), arrow in sorted(ends.items()):
    told = []
    for end in (arrow["s"], arrow["f"]):
        on = [s for s in slices[end["pid"], end["tid"]] if s["ts"] == end["ts"] or s["ts"] < end["ts"] < s["ts"] + s["dur"]][-1]
        told.append(f"{on['name']} {on['ts']:g}-{on['ts'] + on['dur']:g} on {on['tid']}")
    print(f"{category.replace(' ', '-')} {told[0]} -> {told[1]}")
