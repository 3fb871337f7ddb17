#!/usr/bin/env python3
"""Rules on the text of files. Usage: check_text.py ROOT FILE... (paths below ROOT). Prints violations, exits 1 if any.
Words that must not be there, sources that do not open with a comment, lint checks that are off without a reason."""
import os
import re
import sys

# A host name in the tree means a script that works only where that host can be reached: package tools know theirs.
HOSTS = {
    "ui.perfetto.dev",          # where a trace is opened
    "www.apache.org",           # the licence
    "json.schemastore.org", "www.w3.org", "www.speedscope.app", "docs.nvidia.com", "developer.nvidia.com", "perfetto.dev",
    # where the numbers of analyzer/analysis/cost/device_peaks.def were read: printed, never fetched
    "github.com", "glennklockwood.com", "hmc-tech.com", "rocm.docs.amd.com", "www.mullet.se",
}
URL = re.compile(r"\b(?:https?|ftp)://([A-Za-z0-9.-]+)")
WORDS = [
    (re.compile(r"\b(?:[a-z0-9-]+\.)*(?:debian|ubuntu|pypi|pythonhosted|anaconda|npmjs|crates|conda)\.(?:org|com|io)\b"),
     "names a package registry's host"),
    (re.compile(r"--(?:extra-)?index-url|--trusted-[h]ost|\bsources\.list\b"), "sets a package registry"),
    (re.compile(r"\bissues? #?\d+|\b(?:fix(?:e[sd])?|closes|resolves|see|PR) #\d+|\(#\d+\)", re.I), "names an issue"),
    (re.compile(r"\b(?:this|previous|earlier|next|last|my|an agent) session\b|\bsession notes\b", re.I),
     "speaks of a working session"),
    (re.compile(r"/[w]ork/|/tmp/(?:issue|common)|/r[o]ot/|/home/\w+/"), "names a folder of one machine"),
    (re.compile(r"\b(?:T" r"ODO|F" r"IXME|X" r"XX)\b"), "unfinished work: do it, or say the limit in the docs"),
]
# Data is what programs and other tools wrote; it may say anything.
DATA = re.compile(r"^(tests/(data|golden|fuzz/corpus)/|LICENSE$|docs/.*\.(png|svg)$)")
ALLOWED = re.compile(r"PROF_CHECK_TEXT_OK")  # beside a line that is right although it matches
COMMENT = {".h": ("//",), ".cpp": ("//",), ".c": ("//",), ".cu": ("//",), ".cuh": ("//",), ".def": ("//",),
           ".py": ("#", '"""'), ".sh": ("#",), ".cmake": ("#",)}


def of_file(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if ALLOWED.search(line):
            continue
        for host in URL.findall(line):
            if host not in HOSTS and not host.startswith("example."):
                yield number, f"{host}: a host that is not on the list in check_text.py"
        for pattern, why in WORDS:
            match = pattern.search(line)
            if match:
                yield number, f"'{match.group(0)}' {why}"
    stem, suffix = os.path.splitext(os.path.basename(path))
    opening = COMMENT.get(suffix, ())
    # A source that opens with its own header has its comment there.
    of_header = suffix == ".cpp" and re.match(rf'#include "(?:[^"]*/)?{re.escape(stem)}\.h"', text)
    if opening and not text.lstrip().startswith(opening) and not of_header:
        yield 1, "does not open with a comment that says what question the file answers"


def lint_reasons(path, text):
    """Every check that .clang-tidy switches off is named in a comment of the file."""
    comments = "\n".join(line for line in text.split("\n") if line.startswith("#"))
    for name in re.findall(r"^\s+-([a-z][\w.-]+),?$", text, re.M):
        if name not in comments and "*-" + name.partition("-")[2] not in comments:
            yield 1, f"{name} is off without a reason"


def main():
    root, paths = sys.argv[1], sys.argv[2:]
    found = 0
    for path in paths:
        if DATA.match(path) or not os.path.isfile(os.path.join(root, path)):
            continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as source:
            text = source.read()
        problems = list(of_file(path, text))
        if os.path.basename(path) == ".clang-tidy":
            problems += lint_reasons(path, text)
        for number, why in problems:
            found += 1
            print(f"{path}:{number}: {why}")
    print(f"RESULT {len(paths)} files, {found} violations")
    return 1 if found or not paths else 0


sys.exit(main())
