#!/usr/bin/env python3
"""Builds python/embed.cpp with every shared libpython of this machine, runs it under libprof.so and compares the Python
frames of each launch with the frames that its interpreter saw: after two starts of the interpreter, on C++ threads,
and in a forked child. Exit status 77: there is no libpython with its headers."""
import argparse
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from python_stacks import VERSIONS, interpreters, read_log

HERE = pathlib.Path(__file__).parents[1] / "python"
WITHOUT = {7000, 7001, 7002, 7003, 7004}  # launches from C++ only
BUILD = "import sysconfig; print(sysconfig.get_path('include'), sysconfig.get_config_var('LIBDIR'), sysconfig.get_config_var('LDLIBRARY'))"


def build(python, compiler, folder):
    """The program, and the folder of its libpython; None if this interpreter cannot be embedded here."""
    include, libraries, name = subprocess.run([python, "-c", BUILD], capture_output=True, text=True).stdout.split()
    library = next(iter(glob.glob(f"{libraries}/{name}") + glob.glob(f"{libraries}/*-linux-gnu/{name}")), None)
    if not os.path.exists(f"{include}/Python.h") or library is None or not name.endswith(".so"):
        return None
    program = f"{folder}/embed"
    done = subprocess.run([compiler, "-O1", "-g", "-w", "-I", include, HERE / "embed.cpp", library, "-ldl", "-lpthread", "-o", program],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{python}: {done.stderr}")
    return program, os.path.dirname(library)


def check(options, version, python, folder):
    built = build(python, options.compiler, folder)
    if built is None:
        return None
    home = os.path.dirname(os.path.dirname(os.path.realpath(python)))
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{options.sim}:{built[1]}", PROF_GPU="off", PROF_STACKS="launch", PYTHONHOME=home,
                       PROF_OUTPUT=folder, FRAMES_OUT=f"{folder}/frames", LD_PRELOAD=options.libprof)
    done = subprocess.run([built[0], HERE / "embedded.py"], capture_output=True, text=True, env=environment, cwd=folder, timeout=200)
    if done.returncode != 0 or done.stderr:
        return [f"status {done.returncode}: {done.stderr[-2000:]}"]
    wrong, of_program = [], {}
    for life in ("0", "1"):
        of_program.update(json.load(open(f"{folder}/frames.{life}"))["frames"])
    children = {path.suffix[1:]: json.load(open(path)) for path in pathlib.Path(folder).glob("frames.child.*")}
    logs = {path.name.split(".")[1]: path for path in pathlib.Path(folder).glob("*.plog")}
    # one child for each start of the interpreter
    if len(children) != 2 or len(logs) != 3 or not logs.keys() > children.keys():
        return [f"logs of {sorted(logs)}, children {sorted(children)}"]
    for pid, path in logs.items():
        launches, stacks, frames, text, _ = read_log(options.prof, path)
        wanted = {int(n): each for n, each in (children[pid]["frames"] if pid in children else of_program).items()}
        wanted.update({n: [] for n in WITHOUT if pid not in children})
        for blocks, stack in launches:
            python_frames, flags = stacks[stack]
            found = [frames[n >> 1] for n in python_frames]
            # 7004: the interpreter has ended
            if found != wanted.get(blocks) or flags & 34 != (32 if blocks == 7004 else 0):
                wrong.append(f"{path.name}, {blocks}: flags {flags}\n  found  {found[:4]}\n  wanted {wanted.get(blocks, ['no such launch'])[:4]}")
        if {blocks for blocks, _ in launches} != set(wanted):
            wrong.append(f"{path.name}: launches {sorted(blocks for blocks, _ in launches)}, not {sorted(wanted)}")
        if not re.search(rf'key="python" value="{re.escape(version.rstrip("t"))}\.\d+"', text):
            wrong.append("the log does not name the interpreter")
    program = next(path for pid, path in logs.items() if pid not in children)
    # C++ and Python frames are in the right order.
    folded = subprocess.run([options.prof, "report", "stacks", "--metric", "launches", "--format", "folded", "--fold", "none", program],
                            capture_output=True, text=True, env=dict(os.environ, PROF_SYMBOL_CACHE="off")).stdout
    name = r"[^;]*embedded\.py\(\d+\):_"
    for shape in (rf"main;[^\n]*call_python;[^\n]*{name}on_main;[^\n]*{name}through_cpp;[^\n]*host_call;[^\n]*{name}leaf;[^\n]*host_launch;[^\n]*launch_in_cpp;",
                  rf"thread_of_cpp;[^\n]*call_python;[^\n]*{name}on_thread;[^\n]*{name}leaf;[^\n]*launch_in_cpp;"):
        if not re.search(shape, folded):
            wrong.append(f"no stack {shape} in\n{folded[:3000]}")
    print(f"{version} {python}: {len(of_program)} launches of Python, {len(children)} children, {len(wrong)} wrong")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prof", required=True)
    parser.add_argument("--libprof", required=True)
    parser.add_argument("--sim", required=True)
    parser.add_argument("--compiler", required=True)
    options = parser.parse_args()
    tried, failed = 0, False
    for (version, kind), python in sorted(interpreters().items(), key=lambda item: VERSIONS.index(item[0][0])):
        with tempfile.TemporaryDirectory(prefix="prof-embedded-") as folder:
            wrong = check(options, version, python, folder)
        if wrong is None:
            print(f"{version} {python}: no libpython with headers, skipped")
            continue
        tried += 1
        for line in wrong[:5]:
            print(f"{version} {kind}: {line}")
        failed |= bool(wrong)
    sys.exit(1 if failed else 0 if tried else 77)


if __name__ == "__main__":
    main()
