#!/usr/bin/env python3
"""Do two builds of libprof.so write the same log? Records the end-to-end programs on the simulated GPU with both
builds, prints each log with `prof dump`, replaces everything that differs between any two runs, and compares the lines.

    compare_builds.py --old OLD/lib/libprof.so --new build/release/lib/libprof.so [--build build/release] [PROGRAM...]

Process ids, times, paths and numbers that look like addresses are replaced (addresses by the order of their first
occurrence in the log). Lines are compared without their order. If the logs differ, each build records up to four times.
If the runs of the old build differ from each other, the program "varies" and proves nothing. Only programs that need no
shell and write one log are compared. Exits 1 if a program's log differs, or if none could be compared.
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+)')
TIMES = {"end", "time", "start", "duration", "tick", "monotonic_ns", "realtime_ns", "first_tick", "begin", "moment", "base_tick", "base_ns",
         "multiplier", "shift", "in_call_tick", "start_tick", "ticks_per_second", "start_monotonic_ns", "start_realtime_ns", "finished", "file_time", "interval_ns", "stamp"}
PROCESS = {"pid", "tid", "records", "blocks_reserved"}
TIMED_COUNTER = re.compile(r"^counter \w*(_ns|_ticks|slab_waits|before_ready|depth_marks\w*) ")
TRIES = 4
CALLS = re.compile(r"\d+:(\d+)")  # time:id of CUPTI's call records
# whether the helper thread had its first round depends on time
HELPER = re.compile(r'^thread .*name="libprof|^thread_end |^end ')
TEXT_OF_RUN = re.compile(r'key="(?:command_line|executable|working_directory|environment|boot_id|libprof|python|started_by|job)"')


def normalised(text):
    """the lines of a dump without the parts that differ between two runs"""
    addresses, lines = {}, []

    def replace(match):
        name, value = match.groups()
        if name in TIMES:
            return f"{name}=T"
        if name in PROCESS:
            return f"{name}=P"
        if value.isdigit() and int(value) >= 1 << 32:
            return f"{name}=A{addresses.setdefault(value, len(addresses))}"
        return f"{name}={value}"

    for line in text.split("\n"):
        if line.startswith(("driver_calls ", "runtime_calls ")):  # a record may hold any number of calls
            lines += [f"{line.split()[0]} {number}" for number in CALLS.findall(line)]
            continue
        if TIMED_COUNTER.match(line) or HELPER.match(line) or TEXT_OF_RUN.search(line) or line.startswith(("block ", "clock_anchor ", "image ", "stack ")):
            continue
        lines.append(re.sub(r"/[\w./+-]+", "PATH", FIELD.sub(replace, line)))
    return sorted(lines)


def environment_of(source, sim, folder):
    """variables of a program's `// Env:` lines, or None if a shell starts it"""
    text = source.read_text()
    if re.search(r"^// Shell:", text, re.M):
        return None
    words = shlex.split(" ".join(re.findall(r"^// Env: (.*)", text, re.M)).replace("{sim}", str(sim)).replace("{dir}", str(folder)))
    return dict(word.split("=", 1) for word in words)


def record(options, program, source, library):
    with tempfile.TemporaryDirectory() as folder:
        variables = environment_of(source, options.build / "sim", folder)
        if variables is None:
            return None
        environment = {**os.environ, "LD_LIBRARY_PATH": str(options.build / "sim"), "PROF_CUPTI": str(options.build / "sim/libcupti.so.13"),
                       "PROF_OUTPUT": folder, **variables, "LD_PRELOAD": str(library)}
        subprocess.run([program], env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False)
        logs = sorted(pathlib.Path(folder).glob("*.plog"))
        if len(logs) != 1:
            return None
        return normalised(subprocess.run([options.build / "bin/prof", "dump", logs[0]], capture_output=True, encoding="utf-8", errors="replace", check=False).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=pathlib.Path, required=True, help="libprof.so of the old build")
    parser.add_argument("--new", type=pathlib.Path, required=True, help="libprof.so of the new build")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"), help="build with prof, the simulated GPU and the programs")
    parser.add_argument("programs", nargs="*", help="names; default: all of tests/e2e/programs")
    options = parser.parse_args()
    options.build, options.old, options.new = options.build.resolve(), options.old.resolve(), options.new.resolve()
    sources = {path.stem: path for path in sorted((pathlib.Path(__file__).parents[1] / "programs").rglob("*.cpp")) if "shims" not in path.parts}
    compared = different = varying = 0
    for name in options.programs or sources:
        program = options.build / "tests/e2e/programs" / name
        if name not in sources or not program.exists():
            continue
        logs = {library: [record(options, program, sources[name], library)] for library in (options.old, options.new)}
        if None in logs[options.old] + logs[options.new]:
            continue
        # The order of threads differs from run to run. One equal run of each build proves that the logs can be equal.
        while logs[options.old][0] not in logs[options.new] and logs[options.new][0] not in logs[options.old] and len(logs[options.new]) < TRIES:
            for library, found in logs.items():
                found.append(record(options, program, sources[name], library))
        compared += 1
        old, new = logs[options.old], logs[options.new]
        if old[0] in new or new[0] in old:
            continue
        if any(log not in old[:1] for log in old):
            varying += 1
            print(f"{name}: varies between runs of the old build")
            continue
        different += 1
        print(f"{name}: differs")
        for line in sorted(set(old[0]) - set(new[0]))[:5]:
            print(f"  only old: {line[:160]}")
        for line in sorted(set(new[0]) - set(old[0]))[:5]:
            print(f"  only new: {line[:160]}")
    print(f"RESULT {compared} programs compared, {compared - different - varying} equal, {different} differ, {varying} vary by themselves")
    return 1 if different or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
