#!/usr/bin/env python3
"""prof top while logs grow, with known values: top.py --prof PROF --undump UNDUMP

This process writes the logs itself, in its own name: `undump` makes each version of a log, which replaces the bytes of
the file, as a recorder does. Times are those of CLOCK_MONOTONIC.

follows    a log that grows, by JSON lines and on a terminal: only what is new counts, and its end ends prof
folder     new logs of a folder appear, those that are finished disappear
process    PID: the log that the process has open; another recording of the process
screen     a terminal with a screen: keys choose the order and the process, q ends; a terminal that is not known gets text
"""
import argparse
import fcntl
import json
import os
import pathlib
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

FAILED = []
MS = 1_000_000


def check(holds, what):
    if not holds:
        FAILED.append(what)
        print("failed:", what)


class Recording:
    def __init__(self, undump, path, pid=None):
        self.undump, self.path, self.pid = undump, pathlib.Path(path), pid or os.getpid()
        before = 500 * MS  # the first launches are older than now
        self.start, self.real = time.monotonic_ns() - before, time.time_ns() - before
        self.calls, self.gpu, self.finished, self.lost = [], [], 0, 0

    def launches(self, count, depth, at=None):
        """Launches a microsecond apart that ended before now."""
        now = at or time.monotonic_ns()
        self.calls += [f"kernel_launch end={now - (count - i) * 1000} duration=500 config=1 stream=1 depth={depth}" for i in range(count)]

    def kernel(self, start, duration):
        self.gpu.append(f"kernel_run start={start} duration={duration} correlation={len(self.gpu) + 1} stream=1 kernel=1")

    def copy(self, start, duration, size):
        self.gpu.append(f"copy_run start={start} duration={duration} correlation={len(self.gpu) + 1} stream=1 bytes={size} kind=196865")

    def allocate(self, address, size):
        self.calls.append(f"alloc_call end={time.monotonic_ns()} duration=10 api=2 address={address} bytes={size} result=0")

    def free(self, address):
        self.calls.append(f"alloc_call end={time.monotonic_ns()} duration=10 api=3 address={address} bytes=0 result=0")

    def write(self):
        lines = ["prof-log-text 1",
                 f"header pid={self.pid} clock=0 start_tick={self.start} start_monotonic_ns={self.start} start_realtime_ns={self.real} ticks_per_second=1000000000",
                 f"page finished={self.finished}"]
        if self.lost:
            lines.append(f"counter cupti_dropped {self.lost}")
        lines += ["block definitions thread=1",
                  'meta key="executable" value="/bin/program"',
                  "gpu_clock base_tick=0 base_ns=0 multiplier=1 shift=0",
                  'string id=1 total_bytes=15 offset=0 text="_Z5scaleIfEvPfi"',
                  'api id=1 name="cuLaunchKernel"', 'api id=2 name="cuMemAlloc_v2"', 'api id=3 name="cuMemFree_v2"',
                  "function id=1 name=1 module=0 handle=1 generation=0",
                  "config id=1 api=1 function=1 grid_x=1 grid_y=1 grid_z=1 block_x=1 block_y=1 block_z=1 shared_bytes=0 attributes=0",
                  'device ordinal=0 name="SimGPU" uuid=""',
                  "context id=1 handle=1 device=0 gpu_context=1",
                  "stream id=1 context=1 handle=4096 type=2 gpu_stream=8 flags=0 priority=0",
                  "gpu_stream id=1 device=0 context=1 stream=7",
                  "gpu_kernel id=1 name=1 grid_x=1 grid_y=1 grid_z=1 block_x=1 block_y=1 block_z=1 registers=8 static_shared_bytes=0 dynamic_shared_bytes=0 local_bytes=0 launch_type=0"]
        for thread, records in ((2, self.gpu), (1, self.calls)):  # no block changes its place: few GPU records, one block
            for first in range(0, len(records), 50):
                sequence = first // 50
                lines.append(f"block events thread={thread} sequence={sequence}" + (" sealed" if first + 50 < len(records) else ""))
                if first == 0:
                    lines.append(f'thread thread={thread} tid={self.pid + thread - 1} first_tick={self.start} name="t"')
                lines += records[first:first + 50]
        text, made = self.path.with_suffix(".text"), self.path.with_suffix(".made")
        text.write_text("\n".join(lines) + "\n")
        subprocess.run([self.undump, text, made], check=True)
        new = made.read_bytes()
        # The same file, as a recorder writes it: the header of a block last.
        with open(self.path, "r+b" if self.path.exists() else "w+b") as log:
            log.write(new)
        made.unlink()
        text.unlink()


class Top:
    """prof top with JSON lines."""

    def __init__(self, prof, *words):
        self.process = subprocess.Popen([prof, "top", *map(str, words), "--format", "json"], stdout=subprocess.PIPE, text=True)

    def sample(self):
        line = self.process.stdout.readline()
        return json.loads(line)["processes"] if line else None

    def until(self, holds, what, seconds=15):
        """The first sample for which it holds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            processes = self.sample()
            if processes is None:
                break
            if holds(processes):
                return processes
        check(False, what)
        return None

    def stop(self):
        self.process.terminate()
        self.process.wait()


def follows(options, folder):
    log = Recording(options.undump, folder / "prof.1.plog")
    now = time.monotonic_ns()
    log.launches(40, 3)
    log.kernel(now - 700 * MS, 100 * MS)
    log.kernel(now - 650 * MS, 100 * MS)  # beside the first: together 150 ms
    log.copy(now - 500 * MS, 2 * MS, 8_000_000)
    log.allocate(0x1000, 5000)
    log.allocate(0x2000, 7000)
    log.write()
    top = Top(options.prof, log.path, "--interval", "2")
    first = top.sample()[0]
    check(first["state"] == "recording" and first["launches"] == 40, f"40 launches: {first['launches']} {first['state']}")
    check(first["devices"][0]["busy_ns"] == 152 * MS, f"152 ms busy: {first['devices']}")
    check(first["kernels"] == [{"name": "void scale<float>(float*, int)", "count": 2, "total_ns": 200 * MS}], f"kernels {first['kernels']}")
    check(first["copies"][0]["gb_per_s"] == 4.0 and first["copies"][0]["direction"] == "HtoD", f"4 GB/s: {first['copies']}")
    check(first["streams"] == [{"id": 1, "handle": 4096, "gpu_stream": 7, "depth": 4}], f"depth 4: {first['streams']}")
    check(first["memory_bytes"] == 12000 and first["idle_stack"] is None, f"12000 bytes: {first['memory_bytes']}")
    check(498 * MS < first["gpu_age_ns"] < 5000 * MS, f"age {first['gpu_age_ns']}")
    # 300 more launches, in the open block and in new ones. They are late enough for a sample on a loaded machine.
    log.launches(300, 9, time.monotonic_ns() + 1000 * MS)
    end = time.monotonic_ns()
    log.kernel(end - 20 * MS, 10 * MS)
    log.free(0x1000)
    log.write()
    # A sample may see a part of the write. The free is the last record.
    processes = top.until(lambda p: p[0]["launches"] >= 300 and p[0]["memory_bytes"] == 7000, "the new launches and the free")
    if processes:
        check(processes[0]["launches"] in (300, 340), f"300 new launches and those before: {processes[0]['launches']}")
        check(processes[0]["streams"][0]["depth"] == 10, f"depth 10: {processes[0]['streams']}")
        check(processes[0]["gpu_window_ns"] <= 2000 * MS, f"window {processes[0]['gpu_window_ns']}")
    top.until(lambda p: p[0]["launches"] == 0 and p[0]["streams"] == [], "old launches leave the window")
    log.lost = 5
    log.write()
    top.until(lambda p: p[0]["lost"] == [{"counter": "cupti_dropped", "value": 5}] and p[0]["memory_bytes"] is None, "a loss")
    log.finished = time.monotonic_ns()
    log.write()
    top.until(lambda p: p[0]["state"] == "finished", "the end")
    check(top.process.wait(timeout=20) == 1, f"status 1 with lost records: {top.process.returncode}")
    # On a terminal: text, repeated.
    log.finished = 0
    log.write()
    master, slave = pty.openpty()
    process = subprocess.Popen([options.prof, "top", log.path, "--interval", "0.2", "--count", "3"], stdout=slave, stdin=subprocess.DEVNULL)
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 65536):
            shown += chunk
    except OSError:  # EIO: prof ended
        pass
    process.wait()
    text = shown.decode()
    check(text.count("launches/s") == 3 and "idle stack   —" in text and "cupti_dropped 5" in text, f"three times on a terminal:\n{text}")


def folder_of_logs(options, folder):
    logs = folder / "logs"
    logs.mkdir()
    one, old = Recording(options.undump, logs / "prof.1.plog"), Recording(options.undump, logs / "prof.0.plog")
    old.launches(3, 0)
    old.finished = time.monotonic_ns()
    old.write()
    one.launches(5, 1)
    one.write()
    top = Top(options.prof, logs, "--interval", "0.3")
    paths = lambda processes: [pathlib.Path(p["log"]).name for p in processes]
    check(paths(top.sample()) == ["prof.1.plog"], "only the log that is being written")
    two = Recording(options.undump, logs / "prof.2.plog")
    two.launches(7, 1)
    two.write()
    top.until(lambda p: paths(p) == ["prof.1.plog", "prof.2.plog"], "a new log")
    one.finished = time.monotonic_ns()
    one.write()
    top.until(lambda p: paths(p) == ["prof.2.plog"], "a finished log disappears")
    top.stop()


def process(options, folder):
    log = Recording(options.undump, folder / "prof.7.plog")
    log.launches(6, 1)
    log.write()
    with open(log.path, "rb"):
        top = Top(options.prof, os.getpid(), "--interval", "0.3")
        sample = top.sample()
        check(sample and sample[0]["log"] == str(log.path), f"the log of this process: {sample}")
        log.finished = time.monotonic_ns()
    later = Recording(options.undump, folder / "prof.7-2.plog")
    later.launches(9, 1)
    later.write()
    with open(later.path, "rb"):
        top.until(lambda p: p[0]["log"] == str(later.path), "another recording")
    top.stop()


class Terminal:
    def __init__(self, command, term):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 100, 0, 0))
        environment = dict(os.environ, TERM=term, LC_ALL="C.UTF-8")
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, env=environment, start_new_session=True)
        self.shown = b""
        os.close(slave)

    def key(self, keys):
        self.shown = b""
        os.write(self.master, keys)

    def until(self, text, what, seconds=15):
        end = time.monotonic() + seconds
        while text not in self.shown and time.monotonic() < end:
            if not select.select([self.master], [], [], 0.2)[0]:
                continue
            try:
                chunk = os.read(self.master, 65536)
            except OSError:  # EIO: prof ended
                break
            self.shown += chunk
        check(text in self.shown, f"{what}: {text!r} in {self.shown[-2000:]!r}")

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def screen(options, folder):
    for number in (1, 2):
        log = Recording(options.undump, folder / f"prof.{number}.plog")
        log.launches(5 * number, 1)
        log.write()
    top = Terminal([options.prof, "top", str(folder), "--interval", "5"], "xterm")
    top.until(b"process all of 2", "the screen")
    top.until(b"kernels by time", "the order")
    top.until(b"q end", "the keys")
    top.key(b"s")
    top.until(b"count", "s changes the order")
    top.key(b"n\x0c")  # the second key draws everything again
    top.until(b"1 of 2", "n shows one process")
    top.key(b"q")
    try:
        check(top.process.wait(timeout=10) == 0, f"q ends prof: {top.process.returncode}")
    except subprocess.TimeoutExpired:
        check(False, "q ends prof")
    top.end()
    plain = Terminal([options.prof, "top", str(folder), "--interval", "0.2"], "no-such-terminal")
    plain.until(b"launches/s", "text without a terminfo entry")
    plain.shown = b""
    plain.until(b"launches/s", "text again")
    check(b"\x1b" not in plain.shown, f"no control sequences: {plain.shown[:200]!r}")
    plain.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=("follows", "folder", "process", "screen"))
    parser.add_argument("--prof", required=True)
    parser.add_argument("--undump", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="prof-top-") as folder:
        {"follows": follows, "folder": folder_of_logs, "process": process, "screen": screen}[options.case](options, pathlib.Path(folder).resolve())
    sys.exit(1 if FAILED else 0)


main()
