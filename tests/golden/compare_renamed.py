#!/usr/bin/env python3
"""Shows that two states of the golden tests differ only in renamed columns: compare_renamed.py OLD NEW

OLD and NEW are folders with golden tests (tests/golden of two commits). The renames are the table in CHANGELOG.md at the top
of the tree that holds this script: report, old and new title, old and new key. They are applied to the expected outputs of
OLD. Then every line must be equal to its line in NEW, and every number must have the same value: alignment, the dashes below
a header and trailing zeros do not count. What a command prints for each report in turn may be in another order.

Not compared: the texts of refusals (status 2 in both), `prof report --list`, and the line on stderr that names reports on
which an option has no effect. Prints the differences and what was compared; the status is 1 if there are any.
"""
import json
import os
import re
import sys

CHANGELOG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "CHANGELOG.md")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


class Renames:
    def __init__(self, path):
        self.titles, self.keys = {}, {}  # report -> old -> new
        self.to_number = set()  # (report, new key)
        for line in open(path, encoding="utf-8"):
            cells = [cell.strip().replace("`", "") for cell in line.strip().strip("|").split("|")]
            if not line.startswith("| `") or len(cells) < 5:
                continue
            report = cells[0].split()[-1] if cells[0].startswith("prof ") else cells[0].split()[0]
            report = "diff" if cells[0].startswith("prof diff") else report
            self.titles.setdefault(report, {}).setdefault(cells[1], set()).add(cells[2])
            self.keys.setdefault(report, {}).setdefault(cells[3], set()).add(cells[4])

    def title(self, reports, old):
        """All titles that the column may have now, itself included."""
        found = {old}
        for report in reports:
            found |= self.titles.get(report, {}).get(old, set())
            for before, now in self.titles.get(report, {}).items():  # of one side of prof diff
                if before.startswith("LABEL ") and old.endswith(before[5:]):
                    found |= {old[: -len(before[5:])] + each[5:] for each in now}
        unit = re.fullmatch(r"(.*) (\((?:ns|us|ms|s)\))", old)
        if unit and unit[1] != old:
            found |= {f"{each} {unit[2]}" for each in self.title(reports, unit[1])}
        return found

    def key(self, reports, old):
        return {old} | set().union(*(self.keys.get(report, {}).get(old, set()) for report in reports))


def blocks(path):
    """(command, lines) of an expected output."""
    found = []
    for line in open(path, encoding="utf-8"):
        if line.startswith("$ "):
            found.append((line.rstrip("\n"), []))
        elif found:
            found[-1][1].append(line.rstrip("\n"))
    return found


def same_value(old, new):
    if old == new:
        return True
    try:
        return float(old) == float(new)
    except (TypeError, ValueError):
        return False


def same_text(old, new):
    """Equal but for spaces and for how a number is written."""
    old, new = " ".join(old.split()), " ".join(new.split())
    return old == new or (NUMBER.sub("#", old) == NUMBER.sub("#", new)
                          and all(map(same_value, NUMBER.findall(old), NUMBER.findall(new))))


def same_row(old, new, reports, renames):
    """Members of a JSON object in their order."""
    return len(old) == len(new) and all(
        new_key in renames.key(reports, old_key) and same_value(old[old_key], new[new_key])
        for old_key, new_key in zip(old, new))


def same_header(old, new, reports, renames):
    for split in (lambda line: re.split(r" {2,}", line.strip()), lambda line: line.split(",")):
        before, now = split(old), split(new)
        if len(before) == len(now) and all(title in renames.title(reports, each) for each, title in zip(before, now)):
            return True
    return False


def as_row(line):
    try:
        row = json.loads(line.strip().rstrip(",").removesuffix("]}").rstrip(","))
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


class Counts:
    lines = headers = rows = numbers = refusals = 0


def compare(command, old_lines, new_lines, reports, renames, counts):
    """The pairs of lines that differ."""
    if command.endswith("report --list"):
        return []
    if old_lines[-1] == new_lines[-1] == "[status 2]":
        counts.refusals += 1
        return []
    if "--list" in command or "compare.sh" in command:  # for each report
        old_lines, new_lines = (sorted(" ".join(sorted(line.split())) for line in lines) for lines in (old_lines, new_lines))
    def read(lines):
        kept = [re.sub(r'^\{"schema_version":\d+,', "{", line) for line in lines]
        return [line for line in kept if not re.fullmatch(r"[- ]*-{2}[- ]*", line) and "; it has no effect on " not in line]
    old_lines, new_lines = read(old_lines), read(new_lines)
    different = [] if len(old_lines) == len(new_lines) else [(f"{len(old_lines)} lines", f"{len(new_lines)} lines")]
    for old, new in zip(old_lines, new_lines):
        counts.lines += 1
        counts.numbers += len(NUMBER.findall(old))
        if same_text(old, new):
            continue
        old_row, new_row = as_row(old), as_row(new)
        if old_row is not None and new_row is not None and same_row(old_row, new_row, reports, renames):
            counts.rows += 1
        elif same_header(old, new, reports, renames):
            counts.headers += 1
        else:
            different.append((old, new))
    return different


def main():
    old_root, new_root = sys.argv[1:3]
    renames, counts, failed, folders, changed = Renames(CHANGELOG), Counts(), 0, 0, 0
    known = set(renames.titles)
    for folder, _, files in sorted(os.walk(new_root)):
        old_path = os.path.join(old_root, os.path.relpath(folder, new_root), "expected")
        if "expected" not in files or not os.path.exists(old_path):
            continue
        folders += 1
        old, new = blocks(old_path), blocks(os.path.join(folder, "expected"))
        if len(old) != len(new):
            print(f"{os.path.relpath(folder, new_root)}: {len(old)} commands in OLD, {len(new)} in NEW")
        for (command, lines), (now_command, now) in zip(old, new):
            changed += command != now_command
            reports = [report for report in known if re.search(rf"(?<![\w-]){re.escape(report)}(?![\w-])", command)]
            for before, after in compare(command, lines, now, reports or known, renames, counts):
                failed += 1
                print(f"{os.path.relpath(folder, new_root)}: {command}\n  - {before}\n  + {after}")
    print(f"{folders} folders: {counts.lines} lines with {counts.numbers} numbers, of these {counts.headers} headers and "
          f"{counts.rows} JSON rows with renamed columns; refusals {counts.refusals}; commands that are written otherwise: {changed}; "
          f"different lines: {failed}")
    sys.exit(1 if failed else 0)


main()
