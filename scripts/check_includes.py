#!/usr/bin/env python3
"""Who may include what (docs/architecture.md). Usage: check_includes.py ROOT. Prints each violation, exits 1 if any."""
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = (".h", ".cpp", ".def", ".inc", ".c", ".cu")

# Headers whose classes allocate, lock or print: none of them belongs in a stranger's process. preload/format is also
# compiled into prof, but what the recorder includes of it obeys the same list.
ALLOCATING = set("""any condition_variable deque filesystem format forward_list fstream functional future iomanip ios
iostream istream list locale map memory memory_resource mutex ostream queue regex set shared_mutex sstream
stack stdexcept streambuf string strstream syncstream thread unordered_map unordered_set valarray vector""".split())

# What prof may read of preload/ beside the format: lists, not code.
SHARED_LISTS = {"preload/format/options.def", "preload/format/counter_sets.def"}


def violation(path, quote, target):
    """Why `path` may not include `target`, or None."""
    area = path.split("/")[0]
    of_ours = target.split("/")[0] in ("preload", "analyzer", "tests")
    if quote == "<":
        if of_ours:
            return "our own headers are included with quotes"
        if area == "preload" and target in ALLOCATING:
            return "allocates, locks or prints: not in the program that is recorded"
        return None
    if not of_ours:
        beside = os.path.exists(os.path.join(ROOT, os.path.dirname(path), target))
        return "quoted paths start at the top of the tree" if beside and area != "tests" else None
    if target.startswith("tests/") and area != "tests":
        return "only tests include tests/"
    if path.startswith("preload/format/") and not target.startswith("preload/format/"):
        return "preload/format includes nothing else of ours"
    if area == "preload" and target.startswith("analyzer/"):
        return "preload/ never includes analyzer/"
    if area == "analyzer" and target.startswith("preload/"):
        if not target.startswith("preload/format/") and target not in SHARED_LISTS:
            return "analyzer/ includes of preload/ only preload/format/ and the option list"
    if path.startswith("analyzer/analysis/") and target.startswith("analyzer/reports/"):
        return "what several reports share includes no report"
    return None


def main():
    found = looked_at = 0
    for area in ("preload", "analyzer", "tests", "docs"):
        for folder, _, names in os.walk(os.path.join(ROOT, area)):
            for name in sorted(names):
                if not name.endswith(SOURCES):
                    continue
                full = os.path.join(folder, name)
                path = os.path.relpath(full, ROOT)
                looked_at += 1
                with open(full, encoding="utf-8", errors="replace") as source:
                    for number, line in enumerate(source, 1):
                        match = INCLUDE.match(line)
                        why = match and violation(path, *match.groups())
                        if why:
                            found += 1
                            print(f"{path}:{number}: {line.strip()}: {why}")
    print(f"RESULT {looked_at} files, {found} violations")
    return 1 if found or not looked_at else 0


ROOT = sys.argv[1]
sys.exit(main())
