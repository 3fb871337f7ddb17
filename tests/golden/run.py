#!/usr/bin/env python3
"""Runs golden tests: run.py --prof PROF --undump UNDUMP [--update] FOLDER...

A folder contains
  cmd           first line: '# why this test exists'; then one command line per line, run by sh in a scratch folder, in
                which $PROF is prof, $UNDUMP is undump and $IN the golden folder; a command's status is printed after
                its output
  *.log.txt     logs as text: NAME.log.txt becomes NAME.plog in the scratch folder
  expected      the output of the commands on stdout and stderr, in order
and any other file that the commands read as $IN/FILE (databases are made by ../make_database.py). --update rewrites
`expected`: read the difference before committing it.
"""
import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile

# no golden output has source lines of native code
SLOWNESS = float(os.environ.get("PROF_TEST_SLOWNESS", "1"))  # scripts/aarch64: emulation takes longer
WITHOUT_LIBDW = re.compile(r"^(prof: )?built without libdw: .*\n", re.M)


def run_case(folder, prof, undump, update):
    folder = os.path.abspath(folder)
    with tempfile.TemporaryDirectory(prefix="golden.") as scratch:
        for name in sorted(os.listdir(folder)):
            if name.endswith(".log.txt"):
                plog = os.path.join(scratch, name.removesuffix(".log.txt") + ".plog")
                subprocess.run([undump, os.path.join(folder, name), plog], check=True)
        environment = {**os.environ, "PROF_SYMBOL_CACHE": "off", "PROF": prof, "UNDUMP": undump, "IN": folder, "TZ": "UTC", "LC_ALL": "C.UTF-8",
                       "COLUMNS": "120", "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]}
        lines = open(os.path.join(folder, "cmd"), encoding="utf-8").read().splitlines()
        if not lines or not lines[0].startswith("# "):
            return "the first line of cmd does not say why the test exists"
        actual = ""
        for line in lines:
            if not line or line.startswith("#"):
                continue
            done = subprocess.run(["sh", "-c", line], cwd=scratch, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100 * SLOWNESS)
            text = WITHOUT_LIBDW.sub("", done.stdout.decode("utf-8", "backslashreplace"))
            actual += f"$ {line}\n{text}"
            if text and not text.endswith("\n"):
                actual += "\n(no newline at the end)\n"
            actual += f"[status {done.returncode}]\n"
    path = os.path.join(folder, "expected")
    expected = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    if actual == expected:
        return None
    if update:
        with open(path, "w", encoding="utf-8") as out:
            out.write(actual)
        return None
    return "".join(difflib.unified_diff(expected.splitlines(True), actual.splitlines(True), path, "now"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prof", required=True)
    parser.add_argument("--undump", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()
    failed = 0
    for folder in args.folders:
        problem = run_case(folder, os.path.abspath(args.prof), os.path.abspath(args.undump), args.update)
        if problem:
            failed += 1
            print(f"{folder}: differs\n{problem}")
    sys.exit(1 if failed else 0)


main()
