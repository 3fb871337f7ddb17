"""Steps that kill programs with SIGKILL: every call that had returned must be in the log, and missing GPU records must
be counted as pending."""
import bisect
import collections
import mmap
import os
import random
import struct
import subprocess
import time

import coverage_line
from lab import APPS_FOLDER, Skipped
from log_checks import load, whole

MAX_BEHIND_S = 2.5  # GPU times are collected once a second


def kill_later(command, env, stdout, began, seconds):
    """Kills a program `seconds` after began() is true. The program must not end before."""
    with open(stdout, "w", encoding="utf-8") as file:
        process = subprocess.Popen(command, env=env, stdout=file, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        limit = time.monotonic() + 60
        while not began() and time.monotonic() < limit and process.poll() is None:
            time.sleep(0.01)
        time.sleep(seconds)
        alive = process.poll() is None
    finally:
        process.kill()
        process.wait()
    if not alive:
        raise RuntimeError(f"the program ended by itself with status {process.returncode}")


def killed(lab, step):
    """SIGKILL in the middle of a loop, 3.5 s after the first launch."""
    folder = lab.fresh("killed")
    output = lab.path("killed", "stdout")  # a file, so that the program's output before the kill can be read later
    kill_later([lab.program("launch_loop"), "--forever", "5000"], lab.recorded_env(folder), output, lambda: os.path.getsize(output) > 0, 3.5)
    with open(output, encoding="utf-8") as file:
        said = int(file.read().split("\n")[-2])
    run = load(lab, folder)[0]
    launches = sum(1 for launch in run.launches if launch.kind == "kernel_launch")
    step.check("every launch that had returned is in the log", launches >= said, launches, f"≥ {said}")
    after_a_kill(lab, step, run)
    whole(lab, step, folder, killed=True)


def torch_killed(lab, step):
    """The same for a PyTorch training, whose backward passes run on another thread: steps and single operators are
    counted."""
    if lab.sim:
        raise Skipped("needs a GPU")
    folder = lab.fresh("torch_killed")
    counters = lab.path("torch_killed", "returned")
    with open(counters, "wb") as file:
        file.write(bytes(16))

    def returned():
        with open(counters, "rb") as file, mmap.mmap(file.fileno(), 16, access=mmap.ACCESS_READ) as memory:
            return struct.unpack("<QQ", memory[:])
    command = [lab.python, os.path.join(APPS_FOLDER, "processes_app.py"), "train", counters]
    try:
        kill_later(command, lab.recorded_env(folder), lab.path("torch_killed", "stdout"), lambda: returned()[0] > 0, random.uniform(3, 3.5))
    except RuntimeError:
        plain = lab.run([lab.python, "-c", "import torch; torch.ones(1, device='cuda')"])
        if plain.status != 0:
            raise Skipped(f"PyTorch does not run here: {plain.stderr.strip()[-300:]}") from None
        raise
    said_steps, said_singles = returned()
    run = load(lab, folder)[0]
    steps, each, singles = training_of(run)
    step.check("every training step that had ended is in the log", said_steps <= steps <= said_steps + 1, f"{steps:,}",
               f"{said_steps:,}, or one more")
    step.check("with all its launches", len(each) == 1, "; ".join(f"{n} steps of {count} launches" for count, n in each.most_common(4)),
               "as many in each step but the first")
    step.check("every single operator that had returned is in the log", said_singles <= singles <= said_singles + 1, f"{singles:,}",
               f"{said_singles:,}, or one more")
    after_a_kill(lab, step, run)
    whole(lab, step, folder, killed=True)


def training_of(run, name=b"train step"):
    """(steps that ended, launches of a step -> steps without the first, launches of that thread outside of the steps)
    of processes_app.py"""
    strings, labels, events = {}, {}, collections.defaultdict(list)
    for block, record in run.log.records():
        kind = type(record).__name__
        if kind == "string":
            strings[record.id] = strings.get(record.id, b"") + record.text
        elif kind == "nvtx_label":
            labels[record.id] = record.text
        elif kind == "nvtx_push":
            events[block.thread].append((record.time, record.label))
        elif kind == "nvtx_pop":
            events[block.thread].append((record.time, None))
    begun, ended, thread = [], [], None
    for where, found in events.items():
        under_way = []
        for tick, label in found:
            if label is not None:
                under_way.append(strings.get(labels.get(label)) == name)
                if under_way[-1]:
                    thread = where
                    begun.append(tick)
            elif under_way and under_way.pop():
                ended.append(tick)
    if not ended:
        raise RuntimeError("the log has no training step")
    ticks = sorted(launch.begin for launch in run.launches)  # launches of the backward thread are within the step
    each = collections.Counter(bisect.bisect_left(ticks, end) - bisect.bisect_left(ticks, begin)
                               for begin, end in list(zip(begun, ended))[1:])
    own = sorted(launch.begin for launch in run.launches if launch.thread == thread and launch.begin >= begun[0])
    spans = list(zip(begun, ended + [1 << 64]))
    inside = sum(bisect.bisect_left(own, end) - bisect.bisect_left(own, begin) for begin, end in spans[:len(begun)])
    return len(ended), each, len(own) - inside


def after_a_kill(lab, step, run):
    """What the log reports about its end, compared with the independent reader's result."""
    step.check("the log reports that it was not closed", run.log.finished == 0, run.log.finished, 0)
    behind = (run.last_launch_ns() - run.last_gpu_end_ns()) / 1e9
    step.check("GPU times reach to shortly before the kill", run.operations and behind < MAX_BEHIND_S, f"{behind:.2f} s", f"{MAX_BEHIND_S} s")
    launches, timed = len(run.launches), sum(1 for launch in run.launches if launch.operations)
    step.figure("launches in the log", launches)
    step.figure("launches without GPU time (the last moments)", launches - timed)
    step.figure("GPU records that had not arrived at the last flush, by the log's own count", run.log.gpu_pending)
    # CUPTI fills one buffer per thread, so they need not be the last ones of their stream.
    newest = max(launch.begin for launch in run.launches)
    oldest = max((newest - launch.begin for launch in run.launches if not launch.operations), default=0) / run.log.ticks_per_second
    step.check("the oldest launch without GPU time, before the last launch", oldest < MAX_BEHIND_S, f"{oldest:.2f} s", f"{MAX_BEHIND_S} s")
    if not lab.prof:
        return step.note("prof is missing: its results for the log are not checked.")
    said = coverage_line.of_log(lab, run.log.path)
    step.check("launches, and with GPU time: the coverage line and the independent reader", (said.launches, said.timed) == (launches, timed),
               f"{said.launches:,}, {said.timed:,}", f"{launches:,}, {timed:,}")
    missing = {"pending": launches - timed} if launches != timed else {}
    step.check("every launch without GPU time is counted as pending, none as unknown", said.without == missing, said.without, missing)
    step.check("GPU operations without a launch wait for CUPTI's record of their call", set(said.unlinked) <= {"call pending", "internal"},
               said.unlinked, "call pending, internal")
