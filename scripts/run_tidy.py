#!/usr/bin/env python3
"""Runs clang-tidy on every source of this project that a build folder compiles, in parallel. Usage: run_tidy.py BUILD
[SOURCE...]. A source is skipped if its text, headers and configuration are the same as in its last clean run. Needs
`scripts/setup --lint`.

Most of the time goes into the headers that each source includes. So up to eight sources of a folder of the analyzer are
one translation unit. If it has a finding, or if its sources do not compile together, each is looked at alone."""
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
MOST_TOGETHER = 8
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


def tidy(checks, source, *place):
    # If the build folder is g++'s, clang does not know all of its flags and reports that as an error.
    return subprocess.run([TIDY, "--quiet", f"--config-file={ROOT}/.clang-tidy", f"--checks={','.join(checks)}", "--extra-arg=-Wno-unknown-warning-option",
                           *RAPIDJSON, "--extra-arg=-Wno-unused-command-line-argument", source, *place], cwd=ROOT, capture_output=True, text=True)


def look_at_one(build, entry, path):
    # Walking all paths takes two thirds of the time and is worth it only for code that runs inside a user's program,
    # where no sanitizer runs: preload/. hooks.cpp holds 400 instances of a template, of which launch_hooks.cpp has a
    # few; they are walked there, because hooks.cpp would take ten minutes.
    walked = path.startswith("preload/") and path != "preload/intercept/hooks.cpp"
    ran = tidy([] if walked else ["-clang-analyzer-*"], entry["file"], "-p", build)
    return "clean" if ran.returncode == 0 else "found", ran.stdout + (ran.stderr if ran.returncode else "")


def are_clean_together(build, entries):
    unit = os.path.join(build, "tidy", f"unit-{hashlib.sha256(entries[0]['file'].encode()).hexdigest()[:16]}.cpp")
    with open(unit, "w", encoding="utf-8") as out:
        out.writelines(f'#include "{entry["file"]}"\n' for entry in entries)
    return tidy(["-clang-analyzer-*", "-bugprone-suspicious-include"], unit, "--", *flags_of(entries[0])).returncode == 0


def look_at(build, group):
    """yields (path, outcome, text) of each entry of the group"""
    todo = []
    for path, entry in group:
        stamp, key = os.path.join(build, "tidy", path.replace("/", "-")), key_of(entry)
        if key and os.path.exists(stamp) and open(stamp, encoding="ascii").read() == key:
            yield path, "same", ""
        else:
            todo.append((path, entry, stamp, key))
    together = len(todo) > 1 and are_clean_together(build, [entry for _, entry, _, _ in todo])
    for path, entry, stamp, key in todo:
        outcome, text = ("clean", "") if together else look_at_one(build, entry, path)
        if outcome == "clean" and key:
            with open(stamp, "w", encoding="ascii") as out:
                out.write(key)
        yield path, outcome, text


def flags_of(entry):
    """the options of a compilation without its source and output"""
    words = [word for word in shlex.split(entry["command"]) if os.path.basename(word) != "ccache"][1:]
    left_out = {words.index(option) + step for option in ("-o", "-c") for step in (0, 1)}
    return [word for place, word in enumerate(words) if place not in left_out]


def groups_of(entries):
    """lists of (path, entry)"""
    together = {}
    for path, entry in sorted(entries.items()):
        alone = path if not path.startswith("analyzer/") else ""
        together.setdefault((os.path.dirname(path), alone, *flags_of(entry)), []).append((path, entry))
    return [group[at:at + MOST_TOGETHER] for group in together.values() for at in range(0, len(group), MOST_TOGETHER)]


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
        work = [pool.submit(lambda group: list(look_at(build, group)), group) for group in groups_of(entries)]
        for future in concurrent.futures.as_completed(work):
            for path, outcome, text in future.result():
                counts[outcome] += 1
                print(f"[{sum(counts.values())}/{len(entries)}] {time.monotonic() - begin:4.0f} s {outcome:5} {path}", flush=True)
                if outcome == "found":
                    print(text, flush=True)
    print(f"RESULT {len(entries)} sources: {counts['clean']} clean, {counts['same']} unchanged, {counts['found']} with findings")
    return 1 if counts["found"] or not entries else 0


sys.exit(main())
