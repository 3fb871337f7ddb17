#!/usr/bin/env python3
"""Does prof ctl start and stop the recording of a running process, switch its host samples, report its state, and
explain why if it cannot? On the simulated GPU.
Usage: ctl.py --prof PROF --libprof LIB --sim FOLDER --programs FOLDER"""
import argparse
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

from environments import simulated_gpu
from host_samples import Log

parser = argparse.ArgumentParser()
for name in ("prof", "libprof", "sim", "programs"):
    parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve(), required=True)
options = parser.parse_args()
problems = []
NOBODY = 65534


def ctl(pid, command, status, *texts, **how):
    """texts: texts that standard output or standard error must contain; status: None: any"""
    try:
        words = [options.prof, "ctl", str(pid), command, *how.pop("options", [])]
        done = subprocess.run(words, capture_output=True, text=True, timeout=240, **how)
    except PermissionError:
        if "user" not in how:
            raise
        print(f"{command}: not tried, another user may not start {options.prof}")
        return ""
    said = done.stdout + done.stderr
    if status not in (None, done.returncode) or not all(text in said for text in texts):
        problems.append(f"ctl {command}: status {done.returncode}, expected {status}; expected {texts}, said {said}")
    print(f"{command}: {done.returncode} {said.strip()}")
    return said


def started(folder, end, *arguments, **variables):
    environment = simulated_gpu(options.sim)
    environment |= {"LD_PRELOAD": str(options.libprof), "PROF_OUTPUT": str(folder)} | variables
    command = [options.programs / "controlled_program", end, *arguments]
    program = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    return program, int(program.stdout.readline())


def finish(program, end):
    end.touch()
    if program.wait(timeout=240) != 0:
        problems.append(f"the program ended with {program.returncode}")
    end.unlink()


def logs_are(folder, parts):
    logs = sorted(folder.glob("*.plog"), key=lambda path: path.stat().st_mtime_ns)
    if len(logs) != parts:
        problems.append(f"{len(logs)} logs instead of {parts}")
    for log in logs:
        checked = subprocess.run([options.prof, "check", log], capture_output=True, text=True)
        if "verdict    whole" not in checked.stdout or "closed in order" not in checked.stdout:
            problems.append(f"{log}: {checked.stdout}{checked.stderr}")
    return logs


def control_pages(pid):
    """the descriptors of the process for the page of PROF_START=ctl, which it has while it has no log"""
    links = [os.readlink(each) for each in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
    return [link for link in links if "libprof-control" in link]


def switch(pid, rate, status, *texts, wait=60):
    """(before, after): monotonic times in ns around the request"""
    before = time.monotonic_ns()
    ctl(pid, "samples", status, *texts, options=[rate, "--wait", str(wait)])
    return before, time.monotonic_ns()


def until_status(pid, text):
    for _ in range(100):
        if text in ctl(pid, "status", None):
            return
        time.sleep(0.1)
    problems.append(f"the status of process {pid} never has {text}")


def check_samples(path, expected, stretches):
    """the log has these rates, as (samples a second, flags), and samples only in its stretches, which have the given
    lengths in s: not far fewer than the rate says; a busy machine makes the helper thread late"""
    log = Log(options, path)
    without_perf = bool(log.counters.get("host_samples_unavailable"))
    hz_of = lambda period_ns: round(1e9 / period_ns) if period_ns else 0
    rates = [(int(each["from"]), hz_of(int(each["period_ns"])), int(each.get("flags", "0")) & 1) for each in log.rates]
    if without_perf:  # the second record of a stretch has the reason
        rates = [rate for i, rate in enumerate(rates) if i == 0 or rate[1:] != rates[i - 1][1:]]
    if [(hz, flags if hz else 0) for _, hz, flags in rates] != expected:
        problems.append(f"{path}: rates {rates}, expected {expected}")
        return log
    edges = [tick for tick, *_ in rates] + [1 << 64]
    found = [[s for s in log.samples if begin <= int(s["time"]) < end] for begin, end in zip(edges, edges[1:])]
    outside = len(log.samples) - sum(len(samples) for samples, (_, hz, _) in zip(found, rates) if hz)
    if outside:
        problems.append(f"{path}: {outside} samples while there should be none")
    on = [(samples, hz) for samples, (_, hz, _) in zip(found, rates) if hz]
    for (samples, hz), seconds in zip(on, stretches):
        of_main = [s for s in samples if s["thread"] == "1"]
        with_main = [s for s in of_main if " < main" in log.stack(s)]
        print(f"{hz} Hz, {seconds} s: {len(samples)} samples, {len(of_main)} of thread 1, {len(with_main)} with main")
        if seconds and (len(of_main) < 0.1 * hz * seconds or not with_main):
            problems.append(f"{path}: {len(of_main)} samples at {hz} Hz in {seconds} s, {len(with_main)} with main")
    return log


def monotonic_ns(log, tick):
    header = next(f for k, f in log.records if k == "header")
    return int(header["start_monotonic_ns"]) + (int(tick) - int(header["start_tick"])) * log.ns_per_tick


with tempfile.TemporaryDirectory(prefix="prof-ctl-") as name:
    root = pathlib.Path(name)
    end = root / "end"

    # The process waits from the start: there is no log until `start`.
    folder = root / "waits"
    folder.mkdir()
    program, _ = started(folder, end, PROF_START="ctl")
    ctl(program.pid, "status", 0, "it waits for prof ctl")
    ctl(program.pid, "stop", 0, "is not being recorded")
    if list(folder.glob("*.plog")):
        problems.append("a log before the start")
    if not control_pages(program.pid):
        problems.append("no page to control the process by")
    ctl(program.pid, "start", 0, "is being recorded: ", ".plog")
    if control_pages(program.pid):
        problems.append("the page stays open beside the log")
    ctl(program.pid, "start", 0, "is being recorded: ")
    ctl(program.pid, "status", 0, "recording since ", "launches  ", "lost      0", f"prof.{program.pid}.plog")
    ctl(program.pid, "stop", 0, "recorded: ")
    ctl(program.pid, "stop", 0, "is not being recorded")
    ctl(program.pid, "status", 0, "recording no; the last part began ", "launches  ")
    ctl(program.pid, "start", 0, f"prof.{program.pid}-2.plog")
    ctl(program.pid, "stop", 0, f"prof.{program.pid}-2.plog")
    finish(program, end)
    ctl(program.pid, "status", 2, "there is no process")
    logs = logs_are(folder, 2)

    # The process is recorded from its first call. A child that also has the log open is not mistaken for its parent.
    folder = root / "records"
    folder.mkdir()
    program, child = started(folder, end, "child")
    ctl(program.pid, "status", 0, "recording since ")
    ctl(child, "status", 2, "nothing to be reached by")
    ctl(program.pid, "stop", 0, "recorded: ")
    ctl(program.pid, "start", 0, f"prof.{program.pid}-2.plog")
    if os.geteuid() == 0 and os.access(options.prof, os.X_OK):
        ctl(program.pid, "stop", 2, "belongs to another user", user=NOBODY, group=NOBODY, extra_groups=[])
    ctl(program.pid, "stop", 0, "recorded: ")
    finish(program, end)
    logs_are(folder, 2)

    # Several processes at once: by the folder of their logs, whether they record or wait. One line for each, by rank.
    job, other = root / "job", root / "other"
    (job / "b").mkdir(parents=True)
    other.mkdir()
    programs = [started(job / "b", end, RANK="10", PROF_START="ctl")[0], started(job, end, RANK="9")[0],
                started(other, end)[0]]
    first, second = (f"rank 9, process {programs[1].pid}: ", f"rank 10, process {programs[0].pid}: ")
    said = ctl(job, "status", 0, first + "recording since ", second, "waits for prof ctl")
    if not said.startswith(first) or str(programs[2].pid) in said or len(said.splitlines()) != 2:
        problems.append(f"not the two processes of the folder, by rank: {said}")
    ctl(job, "start", 0, first, second, "is being recorded: ")
    ctl(job, "stop", 0, first + "recorded: ", second + "recorded: ")
    # The status is also that of other recorded processes of this machine.
    ctl("--all", "status", None, first, second, f"process {programs[2].pid}: ")
    ctl(job, "dump", 2, first, second, "was closed: it is whole as it is")
    ctl(job, "dump", 2, "only with one process", options=["-o", root / "x.plog"])
    ctl(root / "records", "status", 2, "no process writes its log there")
    ctl(root / "nothing", "status", 2, "neither a process id nor a folder")
    ctl("--all", "begin", 2, "and start, stop, status, dump or samples")
    ctl("--all", "off", 2, "and start, stop, status, dump or samples")
    end.touch()
    for program in programs:
        if program.wait(timeout=240) != 0:
            problems.append(f"the program ended with {program.returncode}")
    end.unlink()

    # Host samples of a process that was started without them.
    folder = root / "samples"
    folder.mkdir()
    program, _ = started(folder, end)
    pid = program.pid
    ctl(pid, "status", 0, "samples   off")
    on = switch(pid, "499", 0, "host samples: 499")
    time.sleep(1)
    switch(pid, "499", 0, "host samples: 499")  # nothing changes
    ctl(pid, "status", 0, "samples   499")
    time.sleep(0.5)
    switch(pid, "starved:251", 0, "host samples: starved:251")
    time.sleep(1)
    off = switch(pid, "off", 0, "host samples: off")
    ctl(pid, "status", 0, "samples   off")
    time.sleep(0.7)
    switch(pid, "off", 0, "host samples: off")
    program.send_signal(signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)
    switch(pid, "97", 1, "which has not carried it out after 0.2 s", wait=0.2)
    program.send_signal(signal.SIGCONT)
    until_status(pid, "samples   97")
    time.sleep(1)
    ctl(pid, "stop", 0, "recorded: ")
    switch(pid, "99", 2, "is not being recorded, so it takes no host samples")
    ctl(pid, "status", 0, "samples   off")
    ctl(pid, "start", 0, "is being recorded: ")
    ctl(pid, "status", 0, "samples   off")
    ctl(folder, "samples", 0, f"process {pid}: host samples: starved:499", options=["starved:499"])
    time.sleep(0.5)
    for rate in ("2001", "0", "starved:", "of"):
        ctl(pid, "samples", 2, "is not valid", options=[rate])
    ctl(pid, "samples", 2, "is not valid")
    ctl(pid, "status", 2, "99: only with samples", options=["99"])
    ctl("--all", "samples", 2, "is not valid", options=["2001"])
    finish(program, end)
    first, second = logs_are(folder, 2)
    log = check_samples(first, [(499, 0), (0, 0), (251, 1), (0, 0), (97, 0), (0, 0)], (1.5, 1, 1))
    check_samples(second, [(499, 1), (0, 0)], (0.5,))
    slack = 5e6  # of the conversion of ticks
    ends = [rate for rate in log.rates if rate["period_ns"] == "0"]
    for rate, (before, after) in ((log.rates[0], on), (ends[1], off)):
        if not before - slack <= monotonic_ns(log, rate["from"]) <= after + slack:
            problems.append(f"{rate} is at {monotonic_ns(log, rate['from'])}, requested from {before} to {after}")
    report = [options.prof, "report"]
    flame = subprocess.run([*report, "flame", "--metric", "host-time", first], capture_output=True, text=True)
    if "switched off and on again, or got another rate, 2 times" not in flame.stdout + flame.stderr:
        problems.append(f"flame: {flame.stdout[-500:]}{flame.stderr}")
    idle = subprocess.run([*report, "idle", "--format", "json", first], capture_output=True, text=True)
    if "not sampled" not in idle.stdout:
        problems.append(f"idle: {idle.stdout[-500:]}{idle.stderr}")

    # Host samples that the process was started with. Its forked child starts as the option says, and can have others.
    folder = root / "started"
    folder.mkdir()
    program, _ = started(folder, end, PROF_HOST_SAMPLES="starved:499")
    until_status(program.pid, "samples   starved:499")
    time.sleep(0.5)
    switch(program.pid, "off", 0, "host samples: off")
    switch(program.pid, "251", 0, "host samples: 251")
    fork_file = root / "end.fork"
    fork_file.touch()
    child = int(program.stdout.readline())
    until_status(child, "samples   starved:499")
    switch(child, "97", 0, "host samples: 97")
    time.sleep(1)
    fork_file.unlink()
    finish(program, end)
    of_parent, of_child = sorted(logs_are(folder, 2), key=lambda path: path.name != f"prof.{program.pid}.plog")
    check_samples(of_parent, [(499, 1), (0, 0), (251, 0), (0, 0)], (0.5, 1))
    check_samples(of_child, [(499, 1), (0, 0), (97, 0), (0, 0)], (0, 1))

    # A child whose parent had samples on request only: it allocates what stacks need, and its log has their files.
    folder = root / "child"
    folder.mkdir()
    program, _ = started(folder, end)
    switch(program.pid, "499", 0, "host samples: 499")
    time.sleep(0.5)
    fork_file.touch()
    child = int(program.stdout.readline())
    until_status(child, "samples   off")
    switch(child, "499", 0, "host samples: 499")
    time.sleep(0.5)
    fork_file.unlink()
    finish(program, end)
    for path in logs_are(folder, 2):
        check_samples(path, [(499, 0), (0, 0)], (0.5,))

    # Processes that cannot take host samples.
    folder = root / "no_samples"
    folder.mkdir()
    program, _ = started(folder, end, PROF_START="ctl")
    switch(program.pid, "99", 2, f"prof ctl {program.pid} start begins a recording")
    finish(program, end)
    switch(os.getpid(), "99", 2, "is not recorded: libprof.so is not loaded")

    # Processes that cannot be controlled.
    folder = root / "profiler"
    folder.mkdir()
    program, _ = started(folder, end, PROF_START="profiler")
    ctl(program.pid, "start", 2, "PROF_START=ctl")
    finish(program, end)
    ctl(os.getpid(), "start", 2, "is not recorded: libprof.so is not loaded")
    ctl(2**31 - 7, "stop", 2, "there is no process")
    ctl(os.getpid(), "dump", 2, "is not recorded: libprof.so is not loaded")
    ctl(os.getpid(), "begin", 2, "start")
    if logs:
        old = root / "old.plog"  # the log of a recorder without this feature: its words are 0
        text = bytearray(logs[0].read_bytes())
        struct.pack_into("<I", text, 20, os.getpid())
        struct.pack_into("<Q", text, 8192 + 8, 0)
        text[8192 + 32:8192 + 96] = bytes(64)
        old.write_bytes(text)
        with old.open("rb"):
            ctl(os.getpid(), "stop", 2, "older than this prof")
        struct.pack_into("<II", text, 8192 + 32, 1, os.getpid())  # it starts and stops, and knows no rates
        old.write_bytes(text)
        with old.open("rb"):
            switch(os.getpid(), "99", 2, "cannot change its host samples: its libprof.so is older than this prof")
            ctl(os.getpid(), "status", None, "samples   not known")
sys.exit("\n".join(problems) if problems else 0)
