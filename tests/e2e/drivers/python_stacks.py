#!/usr/bin/env python3
"""Runs python/frames.py under libprof.so on every CPython of this machine and compares the Python frames of each launch
with those that the interpreter itself saw: file, name, line and first line of each frame, and which frames share a
run of the evaluation loop. Missing interpreters are named; at least one must be there."""
import argparse
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+)')
VERSIONS = [f"3.{minor}" for minor in range(8, 16)] + ["3.13t", "3.14t", "3.15t"]
DEPTH = 128
# Up to these versions it is unknown in which of several interpreters a thread without the GIL is. Then there are no
# frames, never those of another interpreter.
ONE_REGISTERED_STATE = ("3.8", "3.9", "3.10", "3.11")
# From 3.11 on, calls from Python to Python stay in one run of the evaluation loop; calls through C start another.
LOOPS = {"recursion": 1, "nested": 1, "method": 1, "map": 2, "callback of C": 2, "comparison": 2}


def interpreters():
    """version → path, one for each version"""
    found = {}
    candidates = [shutil.which(f"python{version}") for version in VERSIONS] + ["/usr/bin/python3", sys.executable]
    candidates += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))
    candidates += os.environ.get("PROF_TEST_PYTHONS", "").split(":")
    ask = "import sys, sysconfig; print('%d.%d' % sys.version_info[:2] + ('t' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''), sys.implementation.name, sys.executable)"
    for candidate in filter(None, candidates):
        done = subprocess.run([candidate, "-c", ask], capture_output=True, text=True)
        version, name, path = (done.stdout.strip().split(" ", 2) + ["", ""])[:3]  # a candidate may be a version manager's script
        if done.returncode == 0 and name == "cpython" and version in VERSIONS:
            kind = "shared" if "libpython" in subprocess.run(["ldd", os.path.realpath(path)], capture_output=True, text=True).stdout else "static"
            found.setdefault((version, kind), path)
    return found


def unquote(text):
    return json.loads(text)


def read_log(prof, path):
    """(kernel launches as (blocks, stack), stacks, frames, text, counters)"""
    done = subprocess.run([prof, "dump", path], capture_output=True)
    assert not done.stderr, done.stderr
    kinds = {}
    for line in done.stdout.decode().splitlines():
        kind, _, rest = line.partition(" ")
        kinds.setdefault(kind, []).append(dict(FIELD.findall(rest)))
    strings = {s["id"]: unquote(s["text"]) for s in kinds["string"]}
    frames = {int(f["id"]): [strings.get(f["file"], ""), strings.get(f["function"], ""), int(f["line"]), int(f["first_line"])]
              for f in kinds.get("python_frame", [])}
    configs = {c["id"]: int(c["grid_x"]) for c in kinds["config"]}
    stacks = {s["id"]: ([int(n) for n in s["python"].strip("[]").split()], int(s.get("flags", 0))) for s in kinds.get("stack", [])}
    launches = [(configs[k["config"]], k.get("stack")) for k in kinds["kernel_launch"]]
    counters = {c.get("name"): int(c.get("value", 0)) for c in kinds.get("counter", [])}
    return launches, stacks, frames, done.stdout.decode(), counters


def run_script(options, path, environment, folder, **more):
    run = dict(environment, PROF_OUTPUT=folder, FRAMES_OUT=f"{folder}/frames.json", LD_PRELOAD=options.libprof, **more)
    script = pathlib.Path(__file__).parents[1] / "python/frames.py"
    return subprocess.run([path, "-X", "utf8", script], capture_output=True, text=True, env=run, cwd=folder, timeout=240)


def check_without(options, path, environment, said, **more):
    """An unknown interpreter, or one that the options exclude: launches have stacks without Python frames."""
    with tempfile.TemporaryDirectory(prefix="prof-python-") as folder:
        done = run_script(options, path, environment, folder, **more)
        _, stacks, frames, text, _ = read_log(options.prof, next(pathlib.Path(folder).glob("*.plog")))
    wrong = [f"status {done.returncode}: {done.stderr[-2000:]}"] if done.returncode else []
    if len(re.findall(said, done.stderr)) != 1 if said else done.stderr:
        wrong.append(f"said: {done.stderr}")
    if frames or any(python for python, _ in stacks.values()) or not stacks:
        wrong.append(f"{len(frames)} frames, {len(stacks)} stacks")
    if said and 'key="python" value="unknown"' not in text:
        wrong.append("the log does not say so")
    print(f"without Python frames: {path} {more}: {len(wrong)} wrong")
    return wrong


def check_one(options, version, path, environment):
    """what is wrong, one line each"""
    with tempfile.TemporaryDirectory(prefix="prof-python-") as folder:
        done = run_script(options, path, environment, folder)
        if done.returncode != 0 or done.stderr:
            return [f"status {done.returncode}: {done.stderr[-2000:]}"]
        told = json.load(open(f"{folder}/frames.json"))
        logs = list(pathlib.Path(folder).glob("*.plog"))
        launches, stacks, frames, text, counters = read_log(options.prof, logs[0])
    wrong, seen = [], set()
    for blocks, stack in launches:
        python, flags = stacks[stack] if stack else ([], 0)
        found = [frames[n >> 1] for n in python]
        seen.add(blocks)
        if blocks in (5000, 5001):
            inside = [[frame[1], frame[2]] for frame in found] == [["launch", 2], ["<module>", blocks - 5000 + 3]]
            absent = not found and flags & 32
            if not (absent if version in ONE_REGISTERED_STATE else inside):
                wrong.append(f"subinterpreter, {blocks}: flags {flags} {found}")
            continue
        if blocks == 6000:
            continue
        wanted = told["frames"].get(str(blocks), [["no such launch"]])
        if told["names"].get(str(blocks)) == "beside a subinterpreter, without the GIL" and version in ONE_REGISTERED_STATE:
            if found or not flags & 32:
                wrong.append(f"beside a subinterpreter: flags {flags} {found}")
            continue
        cut = len(wanted) > DEPTH
        if found != wanted[:DEPTH] or bool(flags & 2) != cut or flags & 32:
            wrong.append(f"{told['names'].get(str(blocks))}: flags {flags}\n  found  {found[:6]}\n  wanted {wanted[:6]}")
        loops = LOOPS.get(told["names"].get(str(blocks)))
        in_thread = bool(wanted) and len(wanted[-1]) > 1 and wanted[-1][1] != "<module>"
        if loops and not cut and not in_thread and version not in ("3.8", "3.9", "3.10") and sum(n & 1 for n in python) != loops:
            wrong.append(f"{told['names'][str(blocks)]}: {[n & 1 for n in python]}, not {loops} loops")
        # The outermost frame always starts a loop; up to 3.10 every frame does.
        if python and not cut and not python[-1] & 1:
            wrong.append(f"{blocks}: no entry at the outermost frame")
        if version in ("3.8", "3.9", "3.10") and not all(n & 1 for n in python):
            wrong.append(f"{blocks}: a frame without entry")
    missing = [told["names"][n] for n in told["frames"] if int(n) not in seen]
    if missing:
        wrong.append(f"no launch: {missing}")
    if told["names"]["5000"] == "subinterpreter" and not seen >= {5000, 5001}:
        wrong.append("no launch of the subinterpreter")
    if f'key="python" value="{told["version"]}"' not in text:
        wrong.append("the log does not name the interpreter")
    print(f"{version} {path}: {len(launches)} launches, {len(stacks)} stacks, {len(frames)} frames, "
          f"{told['names']['5000']}, {len(wrong)} wrong")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prof", required=True)
    parser.add_argument("--libprof", required=True)
    parser.add_argument("--sim", required=True)
    parser.add_argument("--only", help="version, as 3.12")
    options = parser.parse_args()
    environment = dict(os.environ, LD_LIBRARY_PATH=options.sim, PROF_CUPTI=f"{options.sim}/libcupti.so.13", PROF_GPU="off",
                       PROF_STACKS="launch", PYTHONDONTWRITEBYTECODE="1")
    there = interpreters()
    for version in VERSIONS:
        if not any(v == version for v, _ in there):
            print(f"{version}: not on this machine, skipped")
    if not there:
        sys.exit("no CPython of a known version on this machine")
    failed = False
    for (version, kind), path in sorted(there.items(), key=lambda item: VERSIONS.index(item[0][0])):
        if options.only and version != options.only:
            continue
        wrong = check_one(options, version, path, environment)
        failed |= bool(wrong)
        for line in wrong[:5]:
            print(f"{version} {kind}: {line}")
    wrong = check_without(options, next(iter(there.values())), environment, None, PROF_PYTHON="off")
    for path in sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.7.*/bin/python3"))):
        wrong += check_without(options, path, environment, r"no Python stacks: Python 3\.7\.\d+: its version is not known")
    for line in wrong:
        print(line)
    sys.exit(failed or bool(wrong))


if __name__ == "__main__":
    main()
