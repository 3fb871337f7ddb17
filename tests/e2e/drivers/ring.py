#!/usr/bin/env python3
"""Does the flight recorder keep the end of a run in a file that does not grow, and report what is missing? Can its
content be copied while the program runs, and be kept after an event? On the simulated GPU. Usage: ring.py --prof
PROF --libprof LIB --sim FOLDER --programs FOLDER"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from environments import simulated_gpu

parser = argparse.ArgumentParser()
for name in ("prof", "libprof", "sim", "programs"):
    parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve(), required=True)
options = parser.parse_args()
problems = []
RING = 1 << 20
# Header, counters, definitions, and the rest of two slabs of a sixteenth of the ring.
MOST = RING + 12288 + (256 << 10)


def expect(what, truth, said=""):
    print(f"{'ok ' if truth else 'NOT'} {what}")
    if not truth:
        problems.append(f"{what}: {said}")


def prof(*arguments):
    done = subprocess.run([options.prof, *map(str, arguments)], capture_output=True, text=True, timeout=240)
    return done.returncode, done.stdout + done.stderr


def checked(log):
    """`prof check` of one log as an object; None as long as the log cannot be read"""
    _, said = prof("check", "--format", "json", log)
    try:
        return json.loads(said)[0]
    except ValueError:
        return None


def wait_for(what, answer):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if value := answer():
            return value
        time.sleep(0.02)
    problems.append(f"never seen: {what}")
    return None


def started(folder, **variables):
    folder.mkdir()
    environment = {**simulated_gpu(options.sim),
                   "LD_PRELOAD": str(options.libprof), "PROF_OUTPUT": str(folder), "PROF_RING": "1M", "PROF_FLUSH": "0.05"}
    program = subprocess.Popen([options.programs / "recorded_program", folder / "end", folder / "asked"], env=environment | variables,
                               stdout=subprocess.PIPE, text=True)
    program.stdout.readline()
    return program


def logs_in(folder):
    return sorted(folder.glob("*.plog"), key=lambda path: path.stat().st_mtime_ns)


def has_gone_round(folder):
    """its only log, after blocks of it have been reused"""
    def answer():
        logs = logs_in(folder)
        found = checked(logs[0]) if logs else None
        return logs[0] if found and found.get("ring", {}).get("overwritten_blocks", 0) > 300 else None
    return wait_for("a ring that goes round", answer)


def finish(folder, program):
    (folder / "end").touch()
    launches = int(program.stdout.readline())
    expect("the program ends as ever", program.wait(timeout=240) == 0)
    return launches


def asked(folder, what):
    (folder / "asked.new").write_text(what)
    (folder / "asked.new").rename(folder / "asked")
    wait_for(f"{what} is done", lambda: not (folder / "asked").exists())


def say_what_is_there(name, log, pending_too=False):
    """the log of a ring that has wrapped around: what every report says about it"""
    status, said = prof("summary", log)
    coverage = next((line for line in said.splitlines() if "coverage: " in line), said)
    expect(f"{name}: kernels keep their names", " steady" in said, said)
    expect(f"{name}: what was overwritten is told apart from what was lost",
           re.search(r"lost records 0; overwritten on purpose [1-9]\d* records in [1-9]\d* blocks", coverage) and "damaged" not in coverage, coverage)
    expect(f"{name}: every GPU operation has its launch or a reason", not re.search(r"internal|unlinked|launch record lost|before recording", coverage), coverage)
    launches, timed = map(int, re.search(r"launches (\d+), with GPU time (\d+)", coverage).groups())
    reasons = sum(int(n) for n in re.findall(r"(?:(?<!call )pending|GPU record overwritten) (\d+)", coverage))
    expect(f"{name}: every launch is timed, or its record was overwritten or pending", timed + reasons == launches and (pending_too or "pending" not in coverage), coverage)
    status, trace = prof("trace", log, "-o", "-")
    expect(f"{name}: ranges go on across the horizon", '"round"' in trace and status == 0, trace[-300:])
    return launches


with tempfile.TemporaryDirectory(prefix="prof-ring-") as name:
    root = pathlib.Path(name)

    # The ring is copied while the program runs, then read at the end of the program.
    folder = root / "runs"
    program = started(folder)
    log = has_gone_round(folder)
    for number in range(3):
        copy = root / f"copy-{number}.plog"
        status, said = prof("ctl", program.pid, "dump", "-o", copy)
        expect(f"dump {number} while it runs", status == 0 and str(copy) in said, said)
        status, said = prof("check", copy)
        expect(f"dump {number} is a whole log", status == 0 and "verdict    whole" in said and "a copy; its recording went on" in said, said)
        expect(f"dump {number} is the owner's alone", copy.stat().st_mode & 0o777 == 0o600 and copy.stat().st_size <= MOST)
        say_what_is_there(f"dump {number}", copy, pending_too=True)
    status, said = prof("ctl", program.pid, "dump", "-o", copy)
    expect("no file is overwritten by a dump", status == 2 and "File exists" in said, said)
    status, said = prof("check", log)
    expect("a ring that is written can be read", status == 1 and "still being written" in said and "damaged" not in said, said)
    most = log.stat().st_size
    launches = finish(folder, program)
    expect("the file is no larger than the ring", max(most, log.stat().st_size) <= MOST, f"{most}, {log.stat().st_size}")
    status, said = prof("check", log)
    expect("the log of the whole run is whole", status == 0 and "verdict    whole" in said, said)
    expect("check says where the ring begins", re.search(r"ring       the last 1048576 bytes of events; overwritten on purpose: \d+ records in \d+ blocks; complete from ", said), said)
    kept = say_what_is_there("at the end", log)
    expect("only the last launches are there", 1000 < kept < launches, f"{kept} of {launches}")
    _, said = prof("summary", log)
    expect("the range that was open before the horizon is told", "NVTX ranges whose beginning was overwritten " in said, said)
    _, text = prof("dump", log)
    expect("its last launch is its last one", sum("kernel_launch " in line for line in text.splitlines()) >= kept)
    status, said = prof("ctl", program.pid, "dump")
    expect("a process that is gone cannot be asked", status == 2 and "there is no process" in said, said)

    # The program is killed.
    for round_ in range(3):
        folder = root / f"killed-{round_}"
        program = started(folder)
        log = has_gone_round(folder)
        program.send_signal(signal.SIGKILL)
        program.wait()
        status, said = prof("check", log)
        expect("killed: no damage", status == 1 and "damaged" not in said and "not closed" in said, said)
        say_what_is_there("killed", log, pending_too=True)

    # An event closes the log, and the next log begins.
    for what, why, variables in (("mark", "NVTX marker", {"PROF_DUMP": "nvtx:here"}), ("stop", "cudaProfilerStop", {"PROF_DUMP": "profiler"}),
                                 ("signal", "signal", {"PROF_SIGNAL": "USR2"}),
                                 ("slow", "slow launch", {"PROF_DUMP": "slow:0.1", "SIM_CLOCK": "real", "SIM": "timed; kernel late 400000000; max_outstanding 4"})):
        folder = root / what
        program = started(folder, PROF_PARTS="2", **variables)
        first = has_gone_round(folder)
        asked(folder, what)
        wait_for(f"{what}: a second log", lambda: len(logs_in(folder)) == 2)
        status, said = prof("check", first)
        # A slow launch is in progress when its log ends, so that log and the next one may lack its GPU time or its
        # call.
        edge = what == "slow" and status == 1 and "verdict    partial: " in said and "lost records 0;" in said
        expect(f"{what}: the log is closed while the program runs", (status == 0 and "verdict    whole" in said or edge) and "closed in order" in said, said)
        _, said = prof("dump", first)
        expect(f"{what}: the log says why it was closed", f'meta key="recording_ended" value="{why}"' in said)
        before = first.read_bytes()
        finish(folder, program)
        expect(f"{what}: nothing is written into it any more", first.read_bytes() == before)
        second = [log for log in logs_in(folder) if log != first]
        status, said = prof("check", second[0]) if second else (2, "")
        # After a stop inside a driver call, CUPTI reports one correlation id for all later calls of the thread.
        edge = (what == "slow" or "correlation id repeated" in said) and status == 1 and "verdict    partial: " in said and "lost records 0;" in said
        expect(f"{what}: the next log is whole too", len(second) == 1 and (status == 0 or edge), said)

    # Without PROF_PARTS the recording is over then, and the program goes on without it.
    folder = root / "once"
    program = started(folder, PROF_DUMP="nvtx:here")
    first = has_gone_round(folder)
    asked(folder, "mark")
    wait_for("the only log is closed", lambda: (checked(first) or {}).get("state") == "closed")
    status, said = prof("ctl", program.pid, "dump")
    expect("a closed log is not dumped", status == 2 and "was closed: it is whole as it is" in said, said)
    finish(folder, program)
    expect("one log", len(logs_in(folder)) == 1)

    # A ring with a length in seconds; and a log that is no ring cannot be dumped.
    folder = root / "seconds"
    program = started(folder, PROF_RING="0.05s")
    log = has_gone_round(folder)
    finish(folder, program)
    status, said = prof("check", log)
    expect("the last seconds", status == 0 and "the last seconds of the run" in said, said)
    # A ring of seconds grows until it holds so many. It is complete from its horizon to its end.
    folder = root / "long enough"
    program = started(folder, PROF_RING="0.6s")
    log = has_gone_round(folder)
    time.sleep(1)
    finish(folder, program)
    found = checked(log)
    last_ns = found["begin_realtime_ns"] + found["covered_ns"]
    kept_s = (last_ns - found["ring"]["horizon_realtime_ns"]) / 1e9
    expect("the ring holds the seconds that were asked for, and not many times as much", 0.6 <= kept_s <= 10, kept_s)
    folder = root / "none"
    program = started(folder, PROF_RING="off")
    status, said = prof("ctl", program.pid, "dump")
    expect("no ring, no dump", status == 2 and "is no ring" in said, said)
    finish(folder, program)
sys.exit("\n".join(problems) if problems else 0)
