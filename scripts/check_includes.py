#!/usr/bin/env python3
"""Checks which file includes which (docs/architecture.md). Usage: check_includes.py ROOT. Prints each violation, exits
1 if any. A folder is a layer: its files include files of the same folder and of the layers below it. So no include
goes up or across, and no folders form a cycle. The script also checks for cycles between the files of one folder.
LAYERS is the only list of layers."""
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = (".h", ".cpp", ".def", ".inc", ".c", ".cu")

# Headers whose classes allocate, lock or print. None of them belongs in the process of a user's program. preload/format
# is also compiled into prof, but the headers that the recorder includes from it follow the same list.
ALLOCATING = set("""any condition_variable deque filesystem format forward_list fstream functional future iomanip ios
iostream istream list locale map memory memory_resource mutex ostream queue regex set shared_mutex sstream
stack stdexcept streambuf string strstream syncstream thread unordered_map unordered_set valarray vector""".split())

# From the lowest layer to the highest. Folders on one line do not include each other. A folder that is not listed is
# refused.
LAYERS = """
preload/format
preload/base
preload/log
preload/record
preload/driver
preload/stacks/python
preload/stacks
preload/capture/cupti
preload/capture/streams
preload/hardware_counters
preload/capture
preload/host_samples
preload/pc_sampling
preload/control
preload/lifecycle
preload/intercept/records
preload/intercept/nvtx preload/intercept/cupti preload/intercept/cudart
preload/intercept/libraries
preload/intercept
preload

analyzer/base
analyzer/base/json
analyzer/table
analyzer/model
analyzer/symbols
analyzer/dependencies
analyzer/analysis
analyzer/analysis/select
analyzer/analysis/kernel_lines
analyzer/analysis/bursts
analyzer/analysis/sequences
analyzer/analysis/idle
analyzer/analysis/stacks
analyzer/analysis/cost
analyzer/analysis/collectives analyzer/analysis/critical analyzer/analysis/diff
analyzer/input
analyzer/input/log analyzer/input/kineto analyzer/input/sqlite
analyzer/input/log/nvtx
analyzer/input/log/build
analyzer/live
analyzer/reports
analyzer/reports/advise analyzer/reports/nsys analyzer/reports/ranks
analyzer/parquet
analyzer/output/perfetto analyzer/output/dataset
analyzer/output/chrome analyzer/output/stacks analyzer/output/sqlite analyzer/output/page
analyzer/output
analyzer/command
analyzer
"""
RANK = {folder: rank for rank, line in enumerate(LAYERS.split("\n")) for folder in line.split()}

# One base name (x of x.h and x.cpp) occurs in one folder only; otherwise a reader of "x.h" does not know which file is
# meant. Names that occur in several folders:
SHARED_NAMES = {
    "main": "the entry of a program",
    "options": "the list of options is of the format, since prof reads it too; what parses it is the recorder's",
    "trace": "a verb of the command line is named as users type it; the model's Trace keeps the field's word",
}


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
        if not target.startswith("preload/format/"):
            return "analyzer/ includes of preload/ only preload/format/"
    return against_layers(os.path.dirname(path), os.path.dirname(target)) if area in ("preload", "analyzer") else None


def against_layers(folder, included):
    for each in (folder, included):
        if each not in RANK:
            return f"{each}/ is no layer of LAYERS in check_includes.py"
    if folder == included or RANK[included] < RANK[folder]:
        return None
    return f"{included}/ is {'beside' if RANK[included] == RANK[folder] else 'above'} {folder}/"


def cycles(includes):
    """one line for each set of files that include each other; `includes`: path -> paths"""
    index, low, stack, found = {}, {}, [], []

    def visit(path):
        index[path] = low[path] = len(index)
        stack.append(path)
        for target in includes.get(path, ()):
            if target not in index:
                visit(target)
                low[path] = min(low[path], low[target])
            elif target in stack:
                low[path] = min(low[path], index[target])
        if low[path] == index[path]:
            members = []
            while not members or members[-1] != path:
                members.append(stack.pop())
            if len(members) > 1:
                found.append("a cycle of includes: " + ", ".join(sorted(members)))

    for path in sorted(includes):
        if path not in index:
            visit(path)
    return found


def names_in_two_folders(paths):
    folders = {}
    for path in paths:
        name, suffix = os.path.splitext(os.path.basename(path))
        if path.split("/")[0] in ("preload", "analyzer") and suffix in SOURCES and name not in SHARED_NAMES:
            folders.setdefault(name, set()).add(os.path.dirname(path))
    for name, where in sorted(folders.items()):
        if len(where) > 1:
            yield f"{name}: a file of this name is in {' and in '.join(sorted(where))}"


def main():
    found = looked_at = 0
    includes = {}
    for area in ("preload", "analyzer", "tests", "docs"):
        for folder, _, names in os.walk(os.path.join(ROOT, area)):
            for name in sorted(names):
                if not name.endswith(SOURCES):
                    continue
                full = os.path.join(folder, name)
                path = os.path.relpath(full, ROOT)
                looked_at += 1
                includes[path] = []
                with open(full, encoding="utf-8", errors="replace") as source:
                    for number, line in enumerate(source, 1):
                        match = INCLUDE.match(line)
                        why = match and violation(path, *match.groups())
                        if match and match.group(1) == '"':
                            includes[path].append(match.group(2))
                        if why:
                            found += 1
                            print(f"{path}:{number}: {line.strip()}: {why}")
    for why in [*cycles(includes), *names_in_two_folders(includes)]:
        found += 1
        print(why)
    print(f"RESULT {looked_at} files, {found} violations")
    return 1 if found or not looked_at else 0


ROOT = sys.argv[1]
sys.setrecursionlimit(10000)
sys.exit(main())
