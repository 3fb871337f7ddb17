#!/usr/bin/env python3
"""Does prof ctl start and stop the recording of a running process, report its state, and explain why if it cannot? On
the simulated GPU. Usage: ctl.py --prof PROF --libprof LIB --sim FOLDER --programs FOLDER"""
import argparse
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from environments import simulated_gpu

parser = argparse.ArgumentParser()
for name in ("prof", "libprof", "sim", "programs"):
    parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve(), required=True)
options = parser.parse_args()
problems = []
NOBODY = 65534


def ctl(pid, command, status, *texts, **how):
    """texts: texts that standard output or standard error must contain; status: None: any"""
    try:
        done = subprocess.run([options.prof, "ctl", str(pid), command, *how.pop("options", [])], capture_output=True, text=True, timeout=240, **how)
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
    program = subprocess.Popen([options.programs / "controlled_program", end, *arguments], env=environment, stdout=subprocess.PIPE, text=True)
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
    programs = [started(job / "b", end, RANK="10", PROF_START="ctl")[0], started(job, end, RANK="9")[0], started(other, end)[0]]
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
    ctl("--all", "begin", 2, "start, stop, status or dump")
    end.touch()
    for program in programs:
        if program.wait(timeout=240) != 0:
            problems.append(f"the program ended with {program.returncode}")
    end.unlink()

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
sys.exit("\n".join(problems) if problems else 0)
