#!/usr/bin/env python3
"""What does `prof top` cost while a program launches 100,000 kernels a second on the simulated GPU, and how long does
it take to start on a log of 8 GiB? The status is 1 if a limit is missed; a busy machine can be the reason.

The large log is the recorded one with a hole in the file: its last 8 MiB are at the end."""
import argparse
import ctypes
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

RATE, SECONDS, WARM = 100_000, 12, 3
MOST_CPU, MOST_BYTES, MOST_START_S = 0.03, 64 << 20, 1.0
LARGE = 8 << 30


def work(helper_path):
    """The recorded process: a batch of launches each 10 ms until stdin ends. Writes how many it made a second."""
    helper = ctypes.PyDLL(helper_path)
    helper.batch.restype = ctypes.c_double
    assert helper.open_gpu() == 0
    begin, done = time.monotonic(), 0
    while not select.select([sys.stdin], [], [], 0.01)[0]:
        due = int((time.monotonic() - begin) * RATE) - done
        helper.batch(due)
        done += due
    print(done / (time.monotonic() - begin))


def cost(command):
    """(CPU seconds, bytes of memory, seconds until the first line, lines) of a run of prof"""
    begin, first = time.monotonic(), None
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    lines = []
    for line in process.stdout:
        first = first or time.monotonic() - begin
        lines.append(json.loads(line))
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"prof top ended with {process.returncode}"
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, first, lines


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--prof", default=str(here.parent.parent / "bin/prof"))
    parser.add_argument("--libprof", default=str(here.parent.parent / "lib/libprof.so"))
    parser.add_argument("--helper", default=str(here / "libpython_launches.so"))
    parser.add_argument("--sim", default=str(here.parent.parent / "sim"))
    options = parser.parse_args()
    if options.work:
        return work(options.work)
    missed = []

    def limit(what, found, most, unit):
        print(f"  {'pass' if found <= most else 'FAIL'}  {what}: {found:.2f} {unit}, limit {most:.2f}")
        if found > most:
            missed.append(what)

    with tempfile.TemporaryDirectory(prefix="prof-bench-", dir="/var/tmp") as folder:
        environment = {**os.environ, "LD_PRELOAD": options.libprof, "LD_LIBRARY_PATH": options.sim, "SIM_CLOCK": "real",
                       "SIM": "kernel * 5000", "PROF_CUPTI": options.sim + "/libcupti.so.13", "PROF_OUTPUT": folder,
                       "PROF_QUIET": "1"}
        program = subprocess.Popen([sys.executable, __file__, "--work", options.helper], env=environment, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        time.sleep(WARM)
        log = next(pathlib.Path(folder).glob("*.plog"))
        top = [options.prof, "top", str(log), "--format", "json"]
        cpu, memory, _, lines = cost([*top, "--count", str(SECONDS)])
        rates = sorted(process["launches_per_second"] for line in lines for process in line["processes"])
        program.stdin.close()
        print(f"  {float(program.stdout.read()):.0f} launches a second; prof top shows {rates[len(rates) // 2]:.0f}")
        assert program.wait() == 0
        limit("of a core", 100 * cpu / SECONDS, 100 * MOST_CPU, "%")
        limit("memory", memory / 2**20, MOST_BYTES / 2**20, "MiB")
        bytes_of_log, tail = log.read_bytes(), 8 << 20
        with open(log, "r+b") as out:
            out.truncate(LARGE)
            out.seek(LARGE - tail)
            out.write(bytes_of_log[-tail:])
        print(f"  a log of {len(bytes_of_log) >> 20} MiB with a hole, {LARGE >> 30} GiB")
        cpu, memory, first, lines = cost([*top, "--once"])
        assert lines[0]["processes"][0]["launches_per_second"] > 0
        limit("until the first sample", first, MOST_START_S, "s")
        limit("memory", memory / 2**20, MOST_BYTES / 2**20, "MiB")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
