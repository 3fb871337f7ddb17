#!/usr/bin/env python3
"""Whether the examples of outputs in README.md and docs/ are outputs of the program: check_examples.py ROOT

An example is a block of code that begins with "$ prof" or has a table. Each of its lines must be in the output of a
golden test (tests/golden/*/expected), which the program is compared with. The lines are compared cell by cell: an
example may leave out columns and rows, and cut cells with "…". The golden test doc_examples runs the commands that no
other golden test runs.

The inputs of some examples are not in the tree (public traces, recordings on real GPUs). Of these only the titles of
the columns are checked: the report must have them.
"""
import glob
import os
import re
import sys

# What an example's command or first cells contain if its input is not in the tree.
OUTSIDE = re.compile(r"gpt2|rank-0|resnet18|29910|26536|--measure|managed|prof report sampling prof|before\.plog")
RULE = re.compile(r"-+(  -+)+")


def cells(line):
    return [cell for cell in re.split(r"  +", line.strip()) if cell]


def is_part(few, many):
    """Whether `few` are some of the cells `many` in their order; a cell that ends with "…" is cut."""
    rest = iter(many)
    return all(any(cell == other or (cell.endswith("…") and other.startswith(cell[:-1])) for other in rest) for cell in few)


def catalogue(root):
    """The titles of each report's columns."""
    read = lambda path: open(os.path.join(root, path), encoding="utf-8").read()
    titles = {}
    for key, title, unit in re.findall(r'^PROF_COLUMN\((\w+),\s*"([^"]*)",\s*"([^"]*)"', read("analyzer/table/columns.def"), re.M):
        titles[key] = f"{title} ({unit})" if unit else title
    reports = {}
    for name, rest in re.findall(r'^PROF_REPORT\(\w+, "([^"]+)",(.*?)\)\n(?=PROF_|\n|#|//|\Z)', read("analyzer/reports/reports.def"), re.M | re.S):
        reports[name] = [titles.get(key, key) for key in re.findall(r"\w+", rest.split('"')[-1])]
    return reports


def blocks(path):
    """(line number, lines) of each example."""
    lines = open(path, encoding="utf-8").read().splitlines()
    begin = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if begin is None:
            begin = number + 1
            continue
        block, first, begin = lines[begin:number], begin + 1, None
        if block and (block[0].startswith("$ prof") or any(RULE.fullmatch(each.strip()) for each in block)):
            yield first, block


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("usage: scripts/check_examples.py ROOT" if sys.argv[1:] in (["-h"], ["--help"]) else "check_examples.py: give the root of the tree")
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    root = sys.argv[1]
    golden, by_cell = set(), {}
    for path in glob.glob(os.path.join(root, "tests/golden/*/expected")):
        for line in open(path, encoding="utf-8", errors="replace"):
            if line.strip() in golden:
                continue
            golden.add(line.strip())
            of_line = cells(line)
            for cell in set(of_line):
                by_cell.setdefault(cell, []).append(of_line)
    reports = catalogue(root)
    problems = examples = 0
    for path in ["README.md"] + sorted(glob.glob(os.path.join(root, "docs/**/*.md"), recursive=True)):
        path = os.path.join(root, path) if path == "README.md" else path
        if not os.path.exists(path) or "/measurements/" in path:
            continue
        for first, block in blocks(path):
            examples += 1
            text = "\n".join(block)
            named = re.findall(r"^\$ prof report ([a-z0-9_-]+)", text, re.M)
            for number, line in enumerate(block, first):
                problem = None
                if line.startswith("$ ") or not line.strip() or RULE.fullmatch(line.strip()) or line.strip().startswith("…"):
                    continue
                if OUTSIDE.search(text):
                    after = block[number - first + 1] if number - first + 1 < len(block) else ""
                    missing = [cell for cell in cells(line) if named and cell not in reports.get(named[0], [])]
                    if RULE.fullmatch(after.strip()) and missing:
                        problem = f"prof report {named[0]} has no column '{missing[0]}'"
                elif line.strip() not in golden:
                    whole = [cell for cell in cells(line) if not cell.endswith("…")]
                    candidates = min((by_cell.get(cell, []) for cell in whole), key=len, default=[])
                    if not any(is_part(cells(line), other) for other in candidates):
                        problem = "no golden test has this output"
                if problem:
                    problems += 1
                    print(f"{os.path.relpath(path, root)}:{number}: {problem}: {line.strip()[:100]}")
    print(f"RESULT {examples} examples" if problems == 0 else f"{problems} lines of examples are not the program's")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
