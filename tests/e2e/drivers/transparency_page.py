#!/usr/bin/env python3
"""Writes docs/measurements/transparency.md: every program of the corpus, its version on this machine, and whether
libprof.so changed its behaviour. Usage: transparency_page.py --libprof FILE --sim FOLDER --programs FOLDER --output
FILE; the status is 0 if none differed. A missing program has a row too; scripts/setup --corpus installs it."""
import argparse
import contextlib
import datetime
import io
import pathlib
import platform
import re
import subprocess
import sys

import transparency

HEAD = """# Programs that must run the same under libprof.so

Written by `tests/e2e/drivers/transparency_page.py`, {date}, commit {commit}, {system}. Each program runs plain and under `LD_PRELOAD` in an empty folder.
Output, error output, status or signal and every file that it makes must be the same. `tests/e2e/drivers/transparency_corpus.py` defines the rows; the first lines of `transparency.py` list the allowed differences.
Programs without a version are built from `tests/e2e/corpus/` by {compiler}; `scripts/setup --corpus` installs the others.

| program | version | compared | result |
|---|---|---|---|
"""
VERSIONS = {  # the first number that a command prints
    "bash": ["bash", "--version"], "python3": ["python3", "--version"], "git": ["git", "--version"], "gcc": ["g++", "-dumpfullversion"],
    "ninja": ["ninja", "--version"], "node": ["node", "--version"], "go": ["go", "version"], "java": ["java", "--version"],
    "chromium": ["chromium", "--version"], "address_sanitizer": ["clang++", "-dumpversion"], "address_sanitizer_finds": ["clang++", "-dumpversion"],
    "jemalloc": ["dpkg-query", "-W", "libjemalloc2"], "tcmalloc": ["dpkg-query", "-W", "libtcmalloc-minimal4"],
}


def said(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip()
    except OSError:
        return ""


def version_of(name):
    found = re.search(r"\d+(?:\.\d+)+[^\s,]*", said(VERSIONS[name]).split("\n")[0]) if name in VERSIONS else None
    return found.group(0) if found else ""


def row(options, name):
    """the line of a program, and whether its result is right"""
    with contextlib.redirect_stdout(io.StringIO()) as heard:
        try:
            status = transparency.judge(options, name)
        except transparency.Skip as reason:
            return f"| {name} | | | not run: {reason} |\n", True
    line = heard.getvalue().split("\n")[0]
    compared, result = re.fullmatch(rf"{name}: (.*): (the same|DIFFERS)", line).groups()
    return f"| {name} | {version_of(name)} | {compared} | {result} |\n", status == 0


def main():
    parser = argparse.ArgumentParser()
    for name in ("libprof", "sim", "programs", "output"):
        parser.add_argument("--" + name, type=lambda word: pathlib.Path(word).resolve(), required=True)
    parser.add_argument("--source", type=pathlib.Path, default=pathlib.Path(__file__).parents[1] / "corpus")
    options = parser.parse_args()
    system = re.search(r'PRETTY_NAME="(.*)"', pathlib.Path("/etc/os-release").read_text()).group(1)
    page = HEAD.format(date=datetime.date.today(), commit=said(["git", "-C", str(options.source), "rev-parse", "--short", "HEAD"]),
                       system=f"{system}, glibc {platform.libc_ver()[1]}, Linux {platform.release().partition('-')[0]}, simulated GPU",
                       compiler="g++ " + said(["g++", "-dumpfullversion"]))
    good = True
    for name in transparency.CASES:
        line, same = row(options, name)
        page, good = page + line, good and same
        print(line, end="", flush=True)
    options.output.write_text(page)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
