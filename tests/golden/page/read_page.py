#!/usr/bin/env python3
"""read_page.py PAGE: prints the data in a page of `prof page`.
read_page.py PAGE facts: only the facts. read_page.py PAGE refused: the tables without rows.
read_page.py PAGE TABLE REPORT.json: is a table of the page equal to that report?
read_page.py PAGE names GPU_TRACE.json: are the operations on the timeline those of prof report gpu-trace?"""
import json
import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S).group(1))
texts = data["texts"]
tables = {table["name"]: table for table in data["tables"]}


def lanes():
    timeline = data["timeline"]
    print(f"timeline: {timeline['begin']} ns, {timeline['length']} ns long")
    for lane in timeline["lanes"]:
        if lane["kind"] == 7:
            print(f"  {texts[lane['group']]}: {texts[lane['name']]}: {lane['steps']}")
            continue
        at, merged, row = 0, iter(lane["merged"]), []
        for i in range(0, len(lane["pieces"]), 3):
            begin, length, kind = lane["pieces"][i:i + 3]
            at += begin
            row.append(f"{at}+{length} " + (f"({next(merged)}, {next(merged)} ns, {next(merged)}, {next(merged)})" if kind < 0
                                            else " | ".join(texts[t] for t in timeline["types"][kind][:2] if t >= 0).replace("\n", " | ")))
        print(f"  {texts[lane['group']]}: {texts[lane['name']]}, level {lane['level']}: {lane['spans']} spans, {lane['sum']} ns, delays {lane['delays']}")
        for each in row:
            print(f"    {each}")


def compare(table, report):
    rows = json.load(open(report, encoding="utf-8"))["rows"]
    if len(rows) != table["rows"]:
        return f"{table['rows']} rows, {len(rows)} in the report"
    for c, (key, _, kind, _) in enumerate(table["columns"]):
        key += "_ns" if kind in (2, 4) else ""
        for r, row in enumerate(rows):
            cell = table["cells"][c][r]
            cell = texts[cell] if kind == 0 and cell is not None else cell
            same = cell == row.get(key) or (isinstance(row.get(key), float) and cell is not None
                                            and abs(cell - row[key]) <= 1e-5 * abs(cell))
            if not same:
                return f"row {r}, {key}: {cell!r}, in the report {row.get(key)!r}"
    return f"{len(rows)} rows and {len(table['columns'])} columns as in the report"


def operations(report):
    """single operations on the timeline have start and name of prof report gpu-trace"""
    seen = []
    for lane in data["timeline"]["lanes"]:
        at = 0
        for i in range(0, len(lane["pieces"]) if lane["kind"] == 1 else 0, 3):
            at += lane["pieces"][i]
            seen.append((at + data["timeline"]["begin"], texts[data["timeline"]["types"][lane["pieces"][i + 2]][0]]))
    rows = sorted((row["start_ns"], row["name"]) for row in json.load(open(report, encoding="utf-8"))["rows"])
    return f"{len(rows)} operations with their names" if sorted(seen) == rows else f"{sorted(seen)}, in the report {rows}"


facts = [f"{texts[key]}: {texts[value]}" for key, value in data["facts"]]
if sys.argv[2:] == ["facts"]:
    print("\n".join(facts))
elif sys.argv[2:] == ["refused"]:
    for table in tables.values():
        if not table["columns"]:
            print(f"{table['name']}: {texts[table['notes'][0]]}")
    print([texts[note] for note in data["timeline"]["notes"]])
elif sys.argv[2:3] == ["names"]:
    print(operations(sys.argv[3]))
elif len(sys.argv) == 4:
    print(compare(tables[sys.argv[2]], sys.argv[3]))
else:
    print("\n".join(facts))
    lanes()
    for table in tables.values():
        print(f"{table['name']}: {table['rows']} rows of {[column[0] for column in table['columns']]}")
    print(texts[data["coverage"]])
