#!/usr/bin/env python3
"""Checks the text of files. Usage: check_text.py ROOT FILE... (paths below ROOT). Prints violations, exits 1 if any.
Reports forbidden words, phrases that must be read twice, sources that do not start with a comment, and lint checks
that are switched off without a reason."""
import os
import re
import sys

# A host name in the tree means a script that works only where that host can be reached. Package tools know the hosts of
# their registries.
HOSTS = {
    "127.0.0.1",                # servers of tests, on this machine
    "ui.perfetto.dev",          # where a trace is opened
    "www.apache.org",           # the licence
    "json.schemastore.org", "www.w3.org", "www.speedscope.app", "docs.nvidia.com", "developer.nvidia.com", "perfetto.dev",
    # sources of the numbers in analyzer/analysis/cost/device_peaks.def; printed, never fetched
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
# What a user reads: pages, man pages, lists whose rows contain sentences, and the texts of verbs and reports.
READ_BY_USERS = re.compile(r"^(?!docs/adding\.md)(README\.md|docs/(?!measurements/h\d).*\.(md|in)|preload/format/.*\.def|analyzer/.*\.def|analyzer/(command|reports)/.*\.(cpp|h)|"
                           r"analyzer/command/.*\.inc)$")
# Phrases, not single words, because many of these words are also identifiers. (phrase, what to write instead)
PHRASES = [(re.compile(rf"\b(?:{phrase})", re.I), instead) for phrase, instead in [
    (r"stands? for\b", "represents"),
    (r"sorts? of\b", "kind of, type of"),
    (r"(?:is|are|was|were) set aside\b", "is lost, is skipped"),
    (r"(?:is|are|was|were|been) (?:told|asked)\b", "is reported, is requested"),
    (r"asks? (?:CUPTI|the driver|for)\b", "queries, requests"),
    (r"behind (?:it|its|the|an?(?! pointer)|this|that|one|each|them|ours|all)\b", "after"),
    (r"the begin\b", "the start"),
    (r"gives? up\b", "stops, abandons"),
    (r"left behind\b", "remains"),
    (r"(?:by|with) luck\b|lucky\b", "say how often"),
    (r"(?:is|are) gone\b", "is lost, no longer exists"),
    (r"CUDA run time\b", "CUDA runtime"),
    (r"(?:a|the|its|one) life (?:of|begins|ends)\b", "recording"),
]]
TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"|//.*')  # strings and comments of a source


def phrases(path, text):
    """(line, reason) of each phrase of PHRASES in texts that users read; in sources only strings are checked"""
    source = not path.endswith((".md", ".in"))
    code = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            code = not code
        if code and not source or ALLOWED.search(line):
            continue
        read = " ".join(part for part in TEXTS.findall(line) if part.startswith('"')) if source else line
        for pattern, instead in PHRASES:
            match = pattern.search(read)
            if match:
                yield number, f"'{match.group(0)}': write '{instead}' (language rules in docs/adding.md)"


# Data was written by programs and other tools and may contain anything.
DATA = re.compile(r"^(tests/(data|golden/[^/]+|fuzz/corpus)/|LICENSE$|docs/.*\.(png|svg)$)")
ALLOWED = re.compile(r"PROF_CHECK_TEXT_OK")  # marks a line that is right although it matches
COMMENT = {".h": ("//",), ".cpp": ("//",), ".c": ("//",), ".cu": ("//",), ".cuh": ("//",), ".def": ("//",),
           ".py": ("#", '"""'), ".sh": ("#",), ".cmake": ("#",)}


# Tests read a line of this kind whole (tests/e2e/drivers/run.py).
READ_BY_TESTS = re.compile(r"^// (Env|Expect|Link|Shell|Soname):")
COMMENT_WIDTH = 120  # columns


def of_file(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if ALLOWED.search(line):
            continue
        opening = "//" if path.endswith((".h", ".cpp", ".def")) else "#" if path.endswith((".py", ".cmake")) or \
            re.match(r"scripts/[^.]*$", path) else None
        comment = opening and line.lstrip().startswith(opening)
        if comment and len(line) > COMMENT_WIDTH and not READ_BY_TESTS.match(line):
            yield number, f"a comment line of {len(line)} columns: at most {COMMENT_WIDTH}"
        for host in URL.findall(line):
            if host not in HOSTS and not host.startswith("example."):
                yield number, f"{host}: a host that is not on the list in check_text.py"
        for pattern, why in WORDS:
            match = pattern.search(line)
            if match:
                yield number, f"'{match.group(0)}' {why}"
    stem, suffix = os.path.splitext(os.path.basename(path))
    opening = COMMENT.get(suffix, ())
    # If a source starts with its own header, that header has the comment.
    of_header = suffix == ".cpp" and re.match(rf'#include "(?:[^"]*/)?{re.escape(stem)}\.h"', text)
    if opening and not text.lstrip().startswith(opening) and not of_header:
        yield 1, "does not open with a comment that says what question the file answers"


def lint_reasons(path, text):
    """Checks that every check that .clang-tidy switches off is named in a comment of the file."""
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
        if READ_BY_USERS.match(path):
            problems += phrases(path, text)
        if os.path.basename(path) == ".clang-tidy":
            problems += lint_reasons(path, text)
        for number, why in problems:
            found += 1
            print(f"{path}:{number}: {why}")
    print(f"RESULT {len(paths)} files, {found} violations")
    return 1 if found or not paths else 0


sys.exit(main())
