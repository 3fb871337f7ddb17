#!/usr/bin/env python3
"""Does a program behave the same if libprof.so is preloaded? Runs one program of the corpus (transparency_corpus.py)
twice, plain and with LD_PRELOAD, in a fresh folder of the same name, and compares output, error output, status or
signal, and every file it made. Usage: transparency.py NAME OPTIONS; --list prints the corpus. The allowed
differences are those of the man page: LD_PRELOAD and PROF_* in the environment, and for a
process that uses CUDA one log, its descriptor (512 or above) and one thread. A program that is not installed is
skipped, status 77."""
import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from transparency_corpus import CASES, Place, Skip, need

SKIP = 77
SLOWEST = 1.25  # with libprof.so ÷ plain
OURS = re.compile(r"^(?:environment )?(LD_PRELOAD|PROF_\w+)=.*\n?", re.M)
# The threads that python3 counts.
OF_RECORDED = re.compile(r"(?<=', )[12](?=\))")


def environment_of(options, logs, preload):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("PROF_", "LD_PRELOAD", "NVTX_", "ASAN_"))}
    environment |= {"LD_LIBRARY_PATH": str(options.sim), "LC_ALL": "C"}
    if preload:
        environment |= {"LD_PRELOAD": str(options.libprof), "PROF_OUTPUT": str(logs), "PROF_CUPTI": f"{options.sim}/libcupti.so.13"}
        environment |= dict(setting.split("=", 1) for setting in options.setting)
    return environment


def run(options, place, command, preload, logs):
    """everything that is compared: names and values"""
    for entry in place.cwd.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    done = subprocess.run([str(word) for word in command], cwd=place.cwd, capture_output=True, stdin=subprocess.DEVNULL, timeout=240,
                          env=environment_of(options, logs, preload))
    seen = {"status": done.returncode, "output": done.stdout.decode(errors="replace"), "error output": done.stderr.decode(errors="replace")}
    for path in sorted(place.cwd.rglob("*")):
        name = f"file {path.relative_to(place.cwd)}"
        if path.is_symlink():
            seen[name] = os.readlink(path)
        elif path.is_file():
            seen[name] = (oct(path.stat().st_mode), hashlib.sha256(path.read_bytes()).hexdigest())
        else:
            seen[name] = oct(path.stat().st_mode)
    return seen


def normal(text, outside, most):
    text = OURS.sub("", text)
    return re.sub(outside, "", text, count=most, flags=re.M) if outside else text


def compare(plain, loaded, ignore, outside, errors, most):
    """lines that describe the differences"""
    for name in sorted(plain.keys() | loaded.keys()):
        before, after = plain.get(name, "absent"), loaded.get(name, "absent")
        if name in ("output", "error output"):
            before, after = normal(before, outside, most), normal(after, outside, most)
        if name == "error output" and not errors:
            continue
        if name.startswith("file ") and ignore.search(name) and name in plain and name in loaded:
            continue
        if before != after:
            yield f"{name}:\n--- plain\n{before}\n--- with libprof.so\n{after}"


def judge(options, name):
    function, needs, wanted_logs, ignore, outside, errors, most = CASES[name]
    need(*needs)
    with tempfile.TemporaryDirectory(prefix="prof-transparency-") as folder:
        folder = pathlib.Path(folder)
        made, cwd, logs = folder / "made", folder / "run", folder / "logs"
        for path in (made, cwd, logs):
            path.mkdir()
        logs.chmod(0o777)
        place = Place(options, made, cwd)
        command = function(place)
        plain = run(options, place, command, False, logs)
        times = [cwd / "TIME"]
        plain_time = float(times[0].read_text()) if times[0].exists() else None
        loaded = run(options, place, command, True, logs)
        if options.recorded:
            for seen in (plain, loaded):
                seen["output"] = OF_RECORDED.sub("", seen["output"])
        problems = list(compare(plain, loaded, ignore, outside, errors, most))
        found = sorted(logs.rglob("*"))
        if not found if options.recorded else len(found) != wanted_logs:
            problems.append(f"{len(found)} logs, expected {wanted_logs}: {[path.name for path in found]}")
        ratio = ""
        if plain_time is not None:
            measured = float(times[0].read_text()) / plain_time
            for _ in range(2):  # one run may be slow because other programs used its processor
                if measured <= SLOWEST:
                    break
                run(options, place, command, True, logs)
                measured = min(measured, float(times[0].read_text()) / plain_time)
            ratio = f", time ÷ plain {measured:.3f}"
            if measured > SLOWEST:
                problems.append(f"takes {measured:.3f} times as long")
        if len(plain["output"]) + len(plain["error output"]) == 0 and plain["status"] == 0 and name != "weak_cuinit":
            problems.append("the program said nothing: nothing was compared")
        print(f"{name}: status {plain['status']}, {len(plain['output'])} characters of output, {len(plain) - 3} files, {len(found)} logs{ratio}: "
              + ("DIFFERS" if problems else "the same"))
        for problem in problems:
            print(problem[:6000])
        return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--libprof", type=pathlib.Path)
    parser.add_argument("--sim", type=pathlib.Path)
    parser.add_argument("--programs", type=pathlib.Path, help="folder of the built programs of corpus/")
    parser.add_argument("--source", type=pathlib.Path, default=pathlib.Path(__file__).parents[1] / "corpus")
    parser.add_argument("--recorded", action="store_true", help="the settings record every process: there are logs, and each "
                        "process has a thread more")
    parser.add_argument("--setting", action="append", default=[], help="PROF_NAME=VALUE of the preloaded run")
    options = parser.parse_args()
    for name in ("libprof", "sim", "programs"):
        if path := getattr(options, name):
            setattr(options, name, path.resolve())
    if options.list:
        print("\n".join(CASES))
        return 0
    status = 0
    for name in options.names or CASES:
        try:
            status = max(status, judge(options, name))
        except Skip as reason:
            print(f"{name}: skipped: {reason}")
            if len(options.names) == 1:
                return SKIP
    return status


if __name__ == "__main__":
    sys.exit(main())
