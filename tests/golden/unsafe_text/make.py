"""Writes a trace with kernels whose names attack the program that shows them."""
import json

NAMES = ["=HYPERLINK(\"http://x\")", "+1+1", "-2+3", "@SUM(A1)", "-5", "\u202eevil\u2066", "\u009b31mred", "x" * 1_000_000, "plain"]
events = []
for i, name in enumerate(NAMES):
    events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10 * i, "dur": 9 - i,
                   "args": {"device": 0, "stream": 7, "grid": [1, 1, 1], "block": [32, 1, 1]}})
print(json.dumps({"traceEvents": events}, ensure_ascii=False))
