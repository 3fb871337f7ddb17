#!/usr/bin/env python3
"""Runs clang-tidy on every source of this project that a build folder compiles, in parallel. Usage: run_tidy.py BUILD
[SOURCE...]. A source is skipped if its text, headers and configuration are the same as in its last clean run. Needs
`scripts/setup --lint`."""
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIDY = shutil.which(os.path.join(ROOT, "build/clang-tidy/clang_tidy/data/bin/clang-tidy")) or shutil.which("clang-tidy")
# RapidJSON 1.1 has a method that does not compile and is never called; its iterators are deprecated.
RAPIDJSON = ("--extra-arg=-fdelayed-template-parsing", "--extra-arg=-Wno-delayed-template-parsing-in-cxx20",
             "--extra-arg=-Wno-deprecated-declarations")
OURS = re.compile(r"^(preload|analyzer|tests|docs)/.*\.cpp$")


def key_of(entry):
    """Hash of everything that the outcome depends on: the project's text that the source includes, its command, the
    checks."""
    command = [a for a in shlex.split(entry["command"]) if a != "ccache"]
    out = command.index("-o")
    scan = command[:out] + command[out + 2:] + ["-MM", "-MT", "x"]
    made = subprocess.run(scan, cwd=entry["directory"], capture_output=True, text=True)
    if made.returncode:
        return None
    files = made.stdout.replace("\\\n", " ").split()[1:]
    digest = hashlib.sha256(f"{entry['command']} {os.stat(TIDY).st_size}".encode())
    for path in [os.path.join(ROOT, ".clang-tidy"), *files]:
        with open(os.path.join(entry["directory"], path), "rb") as source:
            digest.update(source.read())
    return digest.hexdigest()


def look_at(build, entry, path):
    stamp = os.path.join(build, "tidy", path.replace("/", "-"))
    key = key_of(entry)
    if key and os.path.exists(stamp) and open(stamp, encoding="ascii").read() == key:
        return path, "same", ""
    # Walking all paths takes two thirds of the time and is worth it only for code that runs inside a user's program,
    # where no sanitizer runs: preload/. hooks.cpp holds 400 instances of a template, of which launch_hooks.cpp has a
    # few; they are walked there, because hooks.cpp would take ten minutes.
    walked = path.startswith("preload/") and path != "preload/intercept/hooks.cpp"
    checks = [] if walked else ["--checks=-clang-analyzer-*"]
    # If the build folder is g++'s, clang does not know all of its flags and reports that as an error.
    ran = subprocess.run([TIDY, "--quiet", "-p", build, *checks, "--extra-arg=-Wno-unknown-warning-option", *RAPIDJSON,
                          "--extra-arg=-Wno-unused-command-line-argument", entry["file"]],
                         cwd=ROOT, capture_output=True, text=True)
    if ran.returncode == 0 and key:
        with open(stamp, "w", encoding="ascii") as out:
            out.write(key)
    return path, "clean" if ran.returncode == 0 else "found", ran.stdout + (ran.stderr if ran.returncode else "")


def main():
    build, only = os.path.abspath(sys.argv[1]), set(sys.argv[2:])
    if TIDY is None:
        sys.exit("run_tidy: no clang-tidy: run scripts/setup --lint")
    os.makedirs(os.path.join(build, "tidy"), exist_ok=True)
    entries = {}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as commands:
        for entry in json.load(commands):
            path = os.path.relpath(entry["file"], ROOT)
            if OURS.match(path) and (not only or path in only):
                entries[path] = entry
    counts = {"same": 0, "clean": 0, "found": 0}
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("PROF_JOBS", os.cpu_count()))) as pool:
        work = [pool.submit(look_at, build, entry, path) for path, entry in sorted(entries.items())]
        for done, future in enumerate(concurrent.futures.as_completed(work), 1):
            path, outcome, text = future.result()
            counts[outcome] += 1
            print(f"[{done}/{len(work)}] {time.monotonic() - begin:4.0f} s {outcome:5} {path}", flush=True)
            if outcome == "found":
                print(text, flush=True)
    print(f"RESULT {len(entries)} sources: {counts['clean']} clean, {counts['same']} unchanged, {counts['found']} with findings")
    return 1 if counts["found"] or not entries else 0


sys.exit(main())
