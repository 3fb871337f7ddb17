#!/usr/bin/env python3
"""Does a program behave under `prof record` as if it ran alone? Usage:
record.py signals|gcc_sanitizer|unstarted|without_proc|side_by_side
--prof PROF --libprof LIBPROF --sim FOLDER --corpus FOLDER --programs FOLDER. Status 77: something needed is missing on this machine."""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("what", choices=["signals", "gcc_sanitizer", "unstarted", "without_proc", "side_by_side"])
for name in ("prof", "libprof", "sim", "corpus", "programs"):
    parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
options = parser.parse_args()
problems = []

# Prints when it is ready and exits with the number of the signal that it receives; "default" does not change the signal
# handlers.
PROGRAM = """
import os, signal, sys, time
if sys.argv[1] == "caught":
    for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(which, lambda number, frame: os._exit(number))
elif sys.argv[1] == "default":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
print("ready", flush=True)
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    time.sleep(0.05)  # short: Python runs a handler only after a sleep that the signal came just before
os._exit(50)
"""


def check(what, found, wanted):
    print(f"{what}: {found}")
    if found != wanted:
        problems.append(f"{what}: {found}, expected {wanted}")


def end_by(number, mode, wanted, before=None, seconds="60"):
    """Sends the signal only to prof, as a job scheduler does, not to its process group as a terminal does."""
    with tempfile.TemporaryDirectory(prefix="prof-record-") as folder:
        started = subprocess.Popen([options.prof, "record", "-o", folder, "--", sys.executable, "-c", PROGRAM, mode, seconds],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True, preexec_fn=before)
        if started.stdout.readline() != "ready\n":
            problems.append(f"{number.name}, {mode}: the program did not start")
        started.send_signal(number)
        check(f"{number.name}, {mode}", started.wait(60), wanted)
        if started.stdout.read() != "":  # the pipe is closed only when the program has ended too
            problems.append(f"{number.name}, {mode}: output")


def signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        end_by(number, "caught", int(number))
        end_by(number, "default", -int(number))
        # If prof was started with the signal ignored (nohup), prof and the program ignore it.
        end_by(number, "ignored", 50, lambda: signal.signal(number, signal.SIG_IGN), "0.5")


def gcc_sanitizer():
    """gcc links AddressSanitizer as a library, which must be loaded first."""
    if shutil.which("g++") is None:
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="prof-record-") as folder:
        program, logs = f"{folder}/sanitized", pathlib.Path(folder) / "logs"
        built = subprocess.run(["g++", "-std=c++20", "-O1", "-g", "-fsanitize=address", "-pthread", options.corpus / "address_sanitized.cpp",
                                "-o", program, "-ldl"], capture_output=True, text=True)
        if built.returncode:
            print(f"g++ cannot build it here: {built.stderr[-300:]}")
            sys.exit(77)
        environment = dict(os.environ, LD_LIBRARY_PATH=str(options.sim), PROF_CUPTI=str(options.sim / "libcupti.so.13"))

        def run(*command, **variables):
            shutil.rmtree(logs, ignore_errors=True)
            logs.mkdir()
            done = subprocess.run(command, capture_output=True, text=True, env=environment | variables, timeout=120)
            return done.returncode, done.stdout, done.stderr, len(list(logs.glob("*.plog")))

        plain = run(program)
        check("plain", plain[0], 11)
        recorded = run(options.prof, "record", "-o", logs, "--", program)
        check("recorded: status, output, logs", (recorded[0], recorded[1], recorded[3]), (plain[0], plain[1], 1))
        check("recorded: it is said", "as its first library: it is put before libprof.so" in recorded[2], True)
        found = run(options.prof, "record", "-o", logs, "--", program, "overflow")
        check("recorded: a finding, logs", (found[0], "heap-buffer-overflow" in found[2], found[3]), (1, True, 1))
        # By default libprof.so is loaded before the sanitizer's library, which then ends the program at its start.
        preloaded = run(program, LD_PRELOAD=str(options.libprof), PROF_OUTPUT=str(logs))
        check("preloaded: status, its reason", (preloaded[0], "ASan runtime does not come first" in preloaded[2]), (1, True))
        told = run(program, LD_PRELOAD=str(options.libprof), PROF_OUTPUT=str(logs), ASAN_OPTIONS="verify_asan_link_order=0")
        check("preloaded, told not to mind: status, output, logs", (*told[:2], told[3]), (*plain[:2], 1))
        runtime = subprocess.run(["g++", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
        named = run(program, LD_PRELOAD=f"{os.path.realpath(runtime)}:{options.libprof}", PROF_OUTPUT=str(logs))
        check("preloaded behind the sanitizer's: status, output, logs", (*named[:2], named[3]), (*plain[:2], 1))


def unstarted():
    """A recording that never starts: the reason has what the program did instead, and no file is left."""
    with tempfile.TemporaryDirectory(prefix="prof-record-") as folder:
        temporary = pathlib.Path(folder) / "tmp"
        temporary.mkdir()
        environment = dict(os.environ, LD_LIBRARY_PATH=str(options.sim), PROF_CUPTI=str(options.sim / "libcupti.so.13"), TMPDIR=str(temporary))

        def reason(program, *flags, **variables):
            command = [options.prof, "record", "-o", f"{folder}/logs", *flags, "--", *program]
            done = subprocess.run(command, capture_output=True, text=True, env=environment | variables, timeout=60)
            check(f"{flags}: status, files left", (done.returncode, os.listdir(temporary)), (0, []))
            if " made more than " in done.stderr or "has this name" in done.stderr:
                check(f"{flags}: calls were seen", "no CUDA or NVTX call" in done.stderr, False)
            return next((line for line in done.stderr.splitlines() if "nothing was recorded" in line), done.stderr)

        launches, ranges = options.programs / "window_launches", options.programs / "window_range"
        start = "prof: nothing was recorded: recording starts with "
        check("launches", reason([launches], "--start", "launches:5000"),
              start + "launch 5000 of a process (--start launches:5000), and no process made more than 1009")
        check("launches of a child", reason(["sh", "-c", f"{launches}; true"], "--start", "launches:5000"),
              start + "launch 5000 of a process (--start launches:5000), and no process made more than 1009")
        check("by variable", reason([launches], PROF_START="launches:5000"),
              start + "launch 5000 of a process (--start launches:5000), and no process made more than 1009")
        check("ranges", reason([ranges], "--start", "nvtx:nosuch"), start + "an NVTX range (--start nvtx:nosuch), and none of the 7 ranges of the program has this name; names of the first ones: "
              "warm-up, step, step@train, inner@train")
        check("no call", reason(["true"], "--start", "launches:5"), "prof: nothing was recorded: recording starts later (--start launches:5): "
              "the program made fewer than 5 launches, or it made no CUDA or NVTX call afterwards")


def without_proc():
    """In a mount namespace without /proc, started by a path, by a link to it, and by the PATH. Needs root."""
    with tempfile.TemporaryDirectory(prefix="prof-record-") as folder:
        os.symlink(options.prof, f"{folder}/linked")
        path = f"{options.prof.resolve().parent}:{os.environ['PATH']}"
        environment = dict(os.environ, LD_LIBRARY_PATH=str(options.sim), PATH=path,
                           PROF_CUPTI=str(options.sim / "libcupti.so.13"))
        environment.pop("PROF_LIBRARY", None)
        # In a chroot, the root need not be a mount, whose propagation can be changed.
        hidden = "mount --make-private /proc && mount -t tmpfs none /proc && ! [ -e /proc/self ] || exit 77; "
        prof = options.prof.resolve()
        for how in (str(prof), os.path.relpath(prof, folder), "./linked", prof.name):
            script = f"{hidden} exec {how} record -o logs -- {options.programs / 'window_launches'}"
            done = subprocess.run(["unshare", "--mount", "--propagation", "unchanged", "sh", "-c", script], capture_output=True, text=True,
                                  env=environment, cwd=folder, timeout=60)
            if done.returncode == 77 or "unshare failed" in done.stderr:
                print(f"no mount namespace here: {done.stderr.strip()}")
                sys.exit(77)
            check(f"{how}: status, logs", (done.returncode, done.stderr.count("next: prof summary")), (0, 1))


def side_by_side():
    """Two recordings in one folder at the same time: each names its own logs. The outer one of two names all."""
    with tempfile.TemporaryDirectory(prefix="prof-record-") as folder:
        environment = dict(os.environ, LD_LIBRARY_PATH=str(options.sim),
                           PROF_CUPTI=str(options.sim / "libcupti.so.13"))
        launches = options.programs / "window_launches"

        def start(output, *program):
            return subprocess.Popen([options.prof, "record", "-o", output, "--", *program], stderr=subprocess.PIPE,
                                    text=True, env=environment, cwd=folder)

        def named(running):
            lines = running.communicate(timeout=60)[1].splitlines()
            return sorted(line.split()[1] for line in lines if line.endswith("iB)"))

        # The first one records before and after the second one.
        waits = f"{launches}; touch ready; while ! [ -e done ]; do sleep 0.02; done; {launches}"
        first = start("logs", "sh", "-c", waits)
        while first.poll() is None and not os.path.exists(f"{folder}/ready"):
            time.sleep(0.02)
        of_second = named(start("logs", launches))
        pathlib.Path(folder, "done").touch()
        of_first = named(first)
        check("logs that are named", (len(of_first), len(of_second)), (2, 1))
        made = sorted(f"logs/{name}" for name in os.listdir(f"{folder}/logs"))
        check("all logs", sorted(of_first + of_second), made)

        nested = start("nested", "sh", "-c", f"{options.prof} record -o nested -- {launches}; {launches}")
        check("logs named by the inner and the outer one", len(named(nested)), 1 + 2)


{"signals": signals, "gcc_sanitizer": gcc_sanitizer, "unstarted": unstarted, "without_proc": without_proc,
 "side_by_side": side_by_side}[options.what]()
if problems:
    sys.exit("\n".join(problems))
