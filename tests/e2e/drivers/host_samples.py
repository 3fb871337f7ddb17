#!/usr/bin/env python3
"""Compares the host samples of programs with what the programs measured themselves. A sample represents the period of
its log, so samples × period is the time in a state. Sampling is random: a number of samples may be off by four standard
deviations (of a Poisson number), and the machine's load may change what a program does, never what it measured."""
import argparse
import ast
import collections
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from python_stacks import interpreters
from stacks import Stacks

FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+)')
RUNNING, RUNNABLE, BLOCKED = "0", "1", "2"
FILE, LOCK, SLEEP, NETWORK, PIPE, CHILD, POLL, THREAD, CONDITION, GIL = (str(n) for n in range(1, 11))


class Log:
    def __init__(self, options, path):
        text = subprocess.run([options.prof, "dump", path], capture_output=True, encoding="utf-8", errors="replace")
        assert not text.stderr, text.stderr
        self.text, self.records, self.counters = text.stdout, [], {}
        for line in self.text.split("\n"):
            kind, _, rest = line.partition(" ")
            if kind == "counter":
                name, value = rest.split()[:2]
                self.counters[name.partition("=")[2] or name] = int(value.partition("=")[2] or value)
            self.records.append((kind, {n: v[1:-1] if v[:1] == '"' else v for n, v in FIELD.findall(rest)}))
        self.threads = {f["thread"] for k, f in self.records if k == "thread"}
        self.start = min((int(f["first_tick"]) for k, f in self.records if k == "thread"), default=0)
        self.strings = {f["id"]: f for k, f in self.records if k == "string"}
        self.samples = [f for k, f in self.records if k == "host_sample"]
        self.states = [f for k, f in self.records if k == "host_state"]
        self.rates = sorted((f for k, f in self.records if k == "host_sampling"), key=lambda f: int(f["from"]))
        self.period = int(self.rates[0]["period_ns"]) if self.rates else 0
        header = next(f for k, f in self.records if k == "header")
        self.ns_per_tick = 1e9 / int(header["ticks_per_second"])
        self.stacks = Stacks(self.records, self.strings)

    def detail(self, sample):
        return self.strings[sample["detail"]]["text"] if "detail" in sample else ""

    def stack(self, sample):
        return self.stacks.texts.get(sample.get("stack"), "")

    def state_ns(self, thread, state):
        return sum(int(f["duration"]) for f in self.states if f["thread"] == thread and f["state"] == state) * self.ns_per_tick


class Checks:
    def __init__(self):
        self.wrong = []

    def that(self, holds, text):
        if not holds:
            self.wrong.append(text)

    def time(self, name, samples, period, least_ns, most_ns=None):
        """the samples are those of a time between the two (one, if it is known exactly), but for chance"""
        off = lambda expected: 4 * math.sqrt(expected) + 0.1 * expected + 3
        least, most = least_ns / period, (most_ns or least_ns) / period
        self.that(least - off(least) <= samples <= most + off(most), f"{name}: {samples} samples, expected "
                  f"{least:.0f} - {off(least):.0f} to {most:.0f} + {off(most):.0f}")


def run(options, folder, program, variables={}):
    environment = dict(os.environ, PROF_OUTPUT=folder, PROF_CUPTI=f"{options.sim}/libcupti.so.13", LD_LIBRARY_PATH=options.sim,
                       LD_PRELOAD=options.libprof, PROF_HOST_SAMPLES="499") | variables
    done = subprocess.run(program, capture_output=True, text=True, env=environment, timeout=120, cwd=folder)
    logs = sorted((Log(options, path) for path in pathlib.Path(folder).glob("*.plog")), key=lambda log: log.start)
    return done, logs


def run_ends(options, checks, folder, mode, logs, status=0, variables={}):
    """one way in which sampled threads or a process end: the logs, which are whole"""
    done, found = run(options, folder, [f"{options.programs}/host_ends", mode], variables)
    checks.that(done.returncode == status and not done.stderr, f"status {done.returncode}: {done.stderr}")
    checks.that(len(found) == logs, f"{len(found)} logs, expected {logs}")
    checks.that(all(log.samples for log in found), f"samples: {[len(log.samples) for log in found]}")
    for log in found:
        unknown = {s["thread"] for s in log.samples} - log.threads
        checks.that(not unknown, f"samples of threads that the log does not have: {unknown}")
        print(f"{mode}: {len(log.samples)} samples, {len(log.states)} states, { {n: v for n, v in log.counters.items() if v and 'host' in n} }")
    return found


def check_starved(options, checks, folder):
    """samples only while nothing is outstanding on the device: not in compute, in which a kernel runs"""
    log, = run_ends(options, checks, folder, "starved", 1, variables={"PROF_HOST_SAMPLES": "starved:499", "SIM_CLOCK": "real", "SIM": "timed;kernel vector_add 150000000"}) or [None]
    if log is None:
        return
    of = lambda function: sum(1 for s in log.samples if s["thread"] == "1" and function in log.stack(s))
    checks.that(log.rates[0].get("flags") == "1", f"flags {log.rates[0]}")
    checks.that(of("host_compute") <= 6, f"{of('host_compute')} samples while a kernel was outstanding")
    checks.time("sleep", of("host_sleep"), log.period, 5 * 100e6)
    checks.that(any(f["thread"] == "1" for f in log.states), "no states")


def check_refused(options, checks, folder):
    """perf events are refused: samples from /proc, the reason once in the log and on stderr, no states"""
    done, (log, *_) = run(options, folder, [f"{options.programs}/host_ends", "refused"])
    checks.that(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
    checks.that(done.stderr.count("perf_event_open is refused") == 1, f"stderr: {done.stderr}")
    checks.that(log.text.count('meta key="host_samples" value="perf_event_open is refused, error 13"') == 1, "no fact")
    checks.that(log.counters["host_samples_unavailable"] == 1 and log.counters["host_threads_without_perf"] >= 1, f"{log.counters}")
    checks.that(not log.states, f"{len(log.states)} states")
    checks.that(any("flags" in rate and int(rate["flags"]) & 2 for rate in log.rates), f"rates {log.rates}")
    asleep = [s for s in log.samples if s["state"] == BLOCKED and s.get("blocked_in") == SLEEP and "host_sleep" in log.stack(s)]
    checks.time("sleep", len(asleep), log.period, 5 * 100e6)
    checks.that(sum(1 for s in log.samples if s["state"] == RUNNING) > 20, "no running samples")
    line = subprocess.run([options.prof, "check", next(pathlib.Path(folder).glob("*.plog"))], capture_output=True, text=True).stdout
    checks.that("host samples not as requested: perf_event_open is refused" in line, f"coverage line: {line}")


def check_threads(options, checks, folder):
    """more threads than rings, which come and go: the rest has samples from /proc only, counted"""
    log, = run_ends(options, checks, folder, "threads", 1) or [None]
    if log is None:
        return
    sampled = {s["thread"] for s in log.samples}
    checks.that(len(sampled) >= 80, f"{len(sampled)} threads have samples")
    checks.that(log.counters["host_threads_without_perf"] >= 1, f"{log.counters}")


def check_many(options, checks, folder):
    """5,000 threads at once: some are sampled, the others are counted"""
    done, logs = run(options, folder, [f"{options.programs}/host_ends", "many"])
    if done.returncode == 77:
        print("this machine does not allow 5,000 threads")
        sys.exit(77)
    checks.that(done.returncode == 0 and len(logs) == 1, f"status {done.returncode}, {len(logs)} logs: {done.stderr}")
    if checks.wrong:
        return
    log = logs[0]
    checks.that(len(log.threads) >= 5000, f"{len(log.threads)} threads")
    checks.that(len({s["thread"] for s in log.samples}) >= 64, "fewer than 64 threads have samples")
    checks.that(log.counters["host_threads_unsampled"] >= 5000 - 1024, f"{log.counters}")
    checks.that(log.counters["host_threads_without_perf"] >= 1, f"{log.counters}")


def check_filtered(options, checks, folder):
    """a filter kills the process for perf_event_open and process_vm_readv: without host samples the recorder calls neither"""
    done, logs = run(options, folder, [f"{options.programs}/host_ends", "filtered"], {"PROF_HOST_SAMPLES": "off"})
    checks.that(done.returncode == 0 and len(logs) == 1, f"status {done.returncode}, {len(logs)} logs: {done.stderr}")
    checks.that(not any(log.samples for log in logs), "samples")


def check_fork(options, checks, folder):
    """parent and a child that becomes another program each sample their own threads into their own log; a child without
    CUDA has none"""
    for log in run_ends(options, checks, folder, "fork", 2):
        checks.that(any("host_sleep" in log.stack(s) for s in log.samples), "a process has no sample of its sleep")


def check_exec(options, checks, folder):
    """exec ends the samples of the old program; the new one has a log of its own"""
    run_ends(options, checks, folder, "exec", 2)


def check_exit(options, checks, folder):
    """_exit while a thread is sampled"""
    run_ends(options, checks, folder, "exit", 1, 7)


def check_kill(options, checks, folder):
    """SIGKILL: what was written before is there"""
    run_ends(options, checks, folder, "kill", 1, -9)


def check_parts(options, checks, folder):
    """several recordings, each with its rate and its samples, in rings"""
    run_ends(options, checks, folder, "parts", 3, variables={"PROF_START": "profiler", "PROF_PARTS": "0", "PROF_RING": "1M"})


def check_plain(options, checks, folder):
    """a process without CUDA that the user names, and its forked child: each has a log from its start on, with samples
    of what it did; one that is not named has none"""
    checks.that(not run_ends(options, checks, folder, "plain", 0, variables={"PROF_HOST_PROCESSES": "host_waits,x*"}), "a log")
    logs = run_ends(options, checks, folder, "plain", 2, variables={"PROF_HOST_PROCESSES": "host_waits,host_e*"})
    with_perf = not any(log.counters.get("host_samples_unavailable") for log in logs)
    for log in logs:
        for function, state in [("host_compute", RUNNING), ("host_sleep", BLOCKED)] if with_perf else [("host_sleep", BLOCKED)]:
            samples = [s for s in log.samples if s["state"] == state and function in log.stack(s)]
            checks.that(len(samples) > 20, f"{len(samples)} samples of {function}")
            whole = sum(1 for s in samples if f"< plain" in log.stack(s) or "< main" in log.stack(s))
            checks.that(whole >= 0.9 * len(samples), f"{function}: {sorted({log.stack(s) for s in samples})[:5]}")
        asleep = [s for s in log.samples if s["state"] == BLOCKED and "host_sleep" in log.stack(s)]
        checks.time("sleep", len(asleep), log.period, 10 * 20e6)
    for path in pathlib.Path(folder).glob("*.plog"):
        table = subprocess.run([options.prof, "report", "flame", "--metric", "host-time", path], capture_output=True, text=True)
        checks.that(table.returncode == 0 and ("host_compute" in table.stdout or not with_perf), f"flame: {table.stdout[:500]}{table.stderr}")


def check_python(options, checks, folder):
    """a tokenizer loop in Python between launches: its functions, lines and shares; a C function; a sleep; a sleep in a
    function whose caller the native stack does not show"""
    script = pathlib.Path(__file__).parents[1] / "python/tokenizer.py"
    python = os.environ.get("PYTHON_TO_SAMPLE", "/usr/bin/python3")
    done, logs = run(options, folder, [python, script, f"{options.programs}/libsleeping_library.so"])
    checks.that(done.returncode == 0 and len(logs) == 1, f"status {done.returncode}, {len(logs)} logs: {done.stderr}")
    if checks.wrong:
        return
    log = logs[0]
    frames = {f["id"]: (log.strings[f["function"]]["text"], int(f["line"]), int(f["first_line"]))
              for k, f in log.records if k == "python_frame"}
    stacks = {f["id"]: [frames[str(int(word) >> 1)] for word in f["python"].strip("[]").split()] for k, f in log.records if k == "stack"}
    took = {name: int(value) for name, value in (line.split() for line in done.stdout.splitlines())}
    of = lambda state: [stacks.get(s.get("stack"), []) for s in log.samples if s["thread"] == "1" and s["state"] == state]
    inside = lambda samples, name: [s for s in samples if any(frame[0] == name for frame in s)]
    running, blocked = of(RUNNING), of(BLOCKED)
    rows = {}
    for name, samples, share in [("tokenize", running, 0.6), ("count_letters", running, 0.8),
                                 ("count_in_c", running, 0.95), ("rest", blocked, 0.95),
                                 ("rest_in_library", blocked, 0.95)]:
        found = inside(samples, name)
        rows[name] = len(found)
        checks.time(f"{name}, of whose samples {share:.0%} or more have its frame", len(found), log.period,
                    share * took[name], took[f"{name}_wall"])
        checks.that(all(s[-1][0] == "<module>" for s in found), f"{name}: stacks do not end at the module: {found[:3]}")
        outside = [s for s in found if not any(took[name + "_first"] <= line <= took[name + "_last"] for f, line, _ in s if f == name)]
        checks.that(not outside, f"{name}: {len(outside)} samples with a line outside of the function: {outside[:3]}")
    checks.that(inside(running, "split_word"), "no sample has split_word, which tokenize calls")
    checks.that(all(any(f[0] == "tokenize" for f in s) for s in inside(running, "split_word")), "split_word without its caller tokenize")
    print(rows, {name: value for name, value in log.counters.items() if "python" in name or "host" in name and value})


def check_waits(options, checks, folder):
    """each wait with its class, function and time; states that sum to the run; no EINTR"""
    done, logs = run(options, folder, [f"{options.programs}/host_waits", "40"])
    checks.that(done.returncode == 0 and len(logs) == 1, f"status {done.returncode}, {len(logs)} logs: {done.stderr}")
    if checks.wrong:
        return
    log, took = logs[0], {name: int(value) for name, value in (line.split() for line in done.stdout.splitlines())}
    period = log.period
    checks.that(period == 1_000_000_000 // 499, f"period {period}")
    thread = "1"
    of = lambda state, blocked="": [s for s in log.samples if s["thread"] == thread and s["state"] == state and s.get("blocked_in", "") == blocked
                                    and "make_context" not in log.stack(s)]
    with_perf = "flags" not in log.rates[0] and not log.counters.get("host_samples_unavailable")
    for name, blocked, function in [("sleep", SLEEP, "host_sleep"), ("library", SLEEP, "host_sleep_in_library"),
                                    ("pipe", PIPE, "host_read_pipe"), ("poll", POLL, "host_poll"),
                                    ("lock", LOCK, "host_lock"), ("join", THREAD, "host_join"), ("child", CHILD, "host_wait_child")]:
        in_library = name == "library"
        samples = [s for s in of(BLOCKED, blocked) if blocked != SLEEP or ("sleep_in_frame" in log.stack(s)) == in_library]
        checks.time(name, len(samples), period, took[name])
        named = sum(1 for s in samples if f"< {function} <" in log.stack(s) and log.stack(s).endswith("_start"))
        checks.that(named >= 0.9 * len(samples), f"{name}: {named} of {len(samples)} samples lead from {function} to main: "
                    f"{sorted({log.stack(s) for s in samples})[:5]}")
    checks.that(any(re.fullmatch(r"pipe:\[\d+\]", log.detail(s)) for s in of(BLOCKED, PIPE)), "no pipe is named")
    checks.that(any(re.fullmatch(r"held by thread \d+", log.detail(s)) for s in of(BLOCKED, LOCK)), "no owner of the mutex is named")
    if not with_perf:
        print("perf events are refused here: states are not checked")
        return
    running = of(RUNNING)
    computing = [s for s in running if "host_compute" in log.stack(s)]
    # A thread that runs can lose its processor to the hypervisor or to interrupts, which are not in its CPU time. So
    # the time that it ran is at least its CPU time and at most what its own waits leave of the run.
    checks.time("compute", len(computing), period, 40 * 8e6, took["compute"])
    whole = sum(1 for s in computing if log.stack(s).endswith("_start"))
    checks.that(whole >= 0.95 * len(computing), f"{whole} of {len(computing)} stacks reach main: {sorted({log.stack(s) for s in computing})[:5]}")
    ran, blocked, waited = (log.state_ns(thread, state) for state in (RUNNING, BLOCKED, RUNNABLE))
    waits = sum(took[name] for name in ("sleep", "pipe", "poll", "lock", "join", "child", "library"))
    slack = 0.05 * took["cpu"]
    checks.that(took["cpu"] - slack <= ran <= took["wall"] - waits + slack, f"ran {ran / 1e6:.1f} ms; the thread's CPU time is "
                f"{took['cpu'] / 1e6:.1f} ms, {(took['wall'] - waits) / 1e6:.1f} ms lie outside its waits")
    checks.that(abs(ran + blocked + waited - took["wall"]) <= 0.05 * took["wall"], f"states sum to {(ran + blocked + waited) / 1e6:.1f} ms of {took['wall'] / 1e6:.1f}")
    size = len(log.text and pathlib.Path(next(pathlib.Path(folder).glob("*.plog"))).read_bytes())
    print(f"{len(log.samples)} samples, {len(log.states)} states, {size} bytes of log")


def idle_rows(options, folder, report="idle"):
    """rows of a report over all logs of the folder"""
    done = subprocess.run([options.prof, "report", report, "--format", "json", *sorted(pathlib.Path(folder).glob("*.plog"))],
                          capture_output=True, text=True)
    return json.loads(done.stdout)["rows"], done


def follow(options, checks, folder, mode, awaited, logs=2, variables={}):
    """runs a program that waits for others. `awaited`: function -> name of the thread that ran it, with {child}. Each
    function is charged to that thread"""
    done, found = run(options, folder, [f"{options.programs}/host_workers", mode], variables)
    checks.that(done.returncode == 0 and not done.stderr, f"status {done.returncode}: {done.stderr}")
    checks.that(len(found) == logs, f"{len(found)} logs, expected {logs}")
    if checks.wrong:
        return None, []
    if any(log.counters.get("host_samples_unavailable") for log in found):
        print("perf events are refused here: running threads have no stacks")
        sys.exit(77)
    child = done.stdout.split()[1] if done.stdout else ""
    rows, report = idle_rows(options, folder)
    checks.that(report.returncode == 0, report.stderr)
    rows = [row for row in rows if row.get("awaited")]
    for function, pattern in awaited.items():
        own = [row for row in rows if function in (row["host_code"] or "")]
        checks.that(own, f"no row of {function}: {rows}")
        for row in own:
            checks.that(re.match(pattern.format(child=child), row["awaited"]), f"{function}: awaited {row['awaited']}")
            checks.that(row["time_ns"] > 0 and row["host_half_width_ns"] > 0, f"{function}: {row}")
        checks.that(sum(row["samples"] for row in own) > 20, f"{function}: few samples: {own}")
    return child, rows


def share(rows, awaited, function):
    """share of an awaited thread's sampled time in which it ran a function or waited for a CPU"""
    own = [row for row in rows if re.match(awaited, row["awaited"]) and row["host_code"] != "not sampled"]
    ran = sum(row["time_ns"] for row in own if function in (row["host_code"] or "") or row["host_state"] == "runnable")
    return ran / max(1, sum(row["time_ns"] for row in own))


def check_worker(options, checks, folder, mode):
    """the launching thread waits for a forked worker: idle, idle-gaps and advise name the process and what it ran; the
    worker's other thread is sampled too"""
    child, rows = follow(options, checks, folder, mode, {"worker_decode": r"process {child} \(", "worker_compress": r"process {child} thread \d+ \("},
                         variables={"PROF_HOST_PROCESSES": "host_workers"})
    if checks.wrong:
        return
    decodes = share(rows, f"process {child} \\(", "worker_decode")
    checks.that(decodes >= 0.6, f"{decodes:.0%} of the worker's sampled time is worker_decode: {rows}")
    gaps, _ = idle_rows(options, folder, "idle-gaps")
    named = [gap for gap in gaps if (gap["awaited"] or "").startswith(f"process {child}")]
    checks.that(len(named) >= 10, f"{len(named)} gaps name the worker")
    checks.that(all(gap["awaited_time_ns"] is None or gap["awaited_time_ns"] <= gap["duration_ns"] for gap in gaps), "more time than the gap has")
    # On a busy machine the worker waits for a CPU for most of a gap.
    did = [gap for gap in named if gap["awaited_samples"] and ("worker_decode" in (gap["awaited_code"] or "") or gap["awaited_state"] == "runnable")]
    checks.that(len(did) >= 10, f"{len(did)} gaps name what the worker did: {named}")
    advice = subprocess.run([options.prof, "report", "advise", *pathlib.Path(folder).glob("*.plog")], capture_output=True, text=True).stdout
    sentence = re.search(rf"meanwhile process {child} \([^)]*\) is (.*); do:", advice)
    checks.that(sentence and re.search(r"\d+ % \(\+-\d+\) of [\d.]+m?s worker_decode", sentence.group(1)), advice[:2000])


def check_pipe(options, checks, folder):
    check_worker(options, checks, folder, "pipe")


def check_poll(options, checks, folder):
    check_worker(options, checks, folder, "poll")


def check_socket(options, checks, folder):
    check_worker(options, checks, folder, "socket")


def check_unlogged(options, checks, folder):
    """a worker without a log is named, and nothing is charged"""
    child, rows = follow(options, checks, folder, "pipe", {}, 1)
    checks.that(rows, "no row of the worker")
    for row in rows:
        checks.that(re.match(f"process {child} \\(.*host_workers pipe\\)", row["awaited"]), row["awaited"])
        checks.that(row["host_state"] == "no log in the input" and row["time_ns"] is None, f"{row}")
    advice = subprocess.run([options.prof, "report", "advise", *pathlib.Path(folder).glob("*.plog")], capture_output=True, text=True).stdout
    checks.that(f"process {child} (" in advice and "no log in the input" in advice, advice[:2000])


def check_owners(options, checks, folder):
    """the owner of a mutex, the writer of a rwlock and the joined thread are charged with what they ran, although they
    make no call of CUDA"""
    functions = ["hold_mutex", "hold_rwlock", "end_slowly"]
    follow(options, checks, folder, "threads", {function: r"thread \d+$" for function in functions}, 1)


def check_gil(options, checks, folder):
    """a thread that waits for the GIL, on each interpreter that has one: the thread that holds it is named, and charged
    with its Python code"""
    script = pathlib.Path(__file__).parents[1] / "python/gil.py"
    for python in pythons_to_sample():
        if runs_without_gil(python):
            continue
        for old in pathlib.Path(folder).iterdir():
            old.unlink()
        done, logs = run(options, folder, [python, script])
        checks.that(done.returncode == 0 and len(logs) == 1,
                    f"{python}: status {done.returncode}, {len(logs)} logs: {done.stderr}")
        if checks.wrong:
            return
        waits = [s for s in logs[0].samples if s["thread"] == "1" and s.get("blocked_in") == GIL]
        named = [s for s in waits if re.fullmatch(r"held by thread \d+", logs[0].detail(s))]
        shown = f"{python}: {len(named)} of {len(waits)} waits name the holder"
        checks.that(len(waits) > 50 and len(named) >= 0.9 * len(waits), shown)
        rows, _ = idle_rows(options, folder)
        counts = [row for row in rows if row.get("awaited") and "count_forever" in (row["host_code"] or "")]
        checks.that(counts and re.fullmatch(r"thread \d+", counts[0]["awaited"]),
                    f"{python}: the holder's code is not named: {rows}")
        print(shown)


# Which function of moving_calls.py calls which.
CALLERS = {"add": {"Leaf.__call__"}, "Leaf.__call__": {"Branch.__call__"},
           "Branch.__call__": {"Branch.__call__", "Tree.__call__"}, "Tree.__call__": {"answer"},
           "answer": {"handle", "warm_up"}, "warm_up": {"handle"}}


UNKNOWN = "[Python frames not known]"


def pythons_to_sample():
    """the interpreters of this machine, or the one that PYTHON_TO_SAMPLE names"""
    if "PYTHON_TO_SAMPLE" in os.environ:
        return [os.environ["PYTHON_TO_SAMPLE"]]
    return list(interpreters().values())


def runs_without_gil(python):
    """whether that interpreter has no GIL (3.13 and newer)"""
    ask = "import sys; print(getattr(sys, '_is_gil_enabled', lambda: True)())"
    return subprocess.run([python, "-c", ask], capture_output=True, text=True).stdout == "False\n"


def sample_running(options, checks, folder, python, script, *arguments):
    """the log of the script, and the running samples of its threads that make calls as (native frames, names of these,
    Python frames as ((function, line), ends a run of the loop), partial). None: the run is wrong"""
    for old in pathlib.Path(folder).iterdir():
        old.unlink()
    script = pathlib.Path(__file__).parents[1] / "python" / script
    done, logs = run(options, folder, [python, script, *arguments])
    whole = done.returncode == 0 and len(logs) == 1
    checks.that(whole, f"{python}: status {done.returncode}, {len(logs)} logs: {done.stderr}")
    if not whole:
        return None
    log = logs[0]
    if log.counters.get("host_samples_unavailable"):
        print("perf events are refused here: running threads have no stacks")
        sys.exit(77)
    # Up to 3.10, frames have the name without the class.
    methods = {each.lineno: f"{kind.name}.{each.name}" for kind in ast.parse(script.read_text()).body
               if isinstance(kind, ast.ClassDef) for each in kind.body if isinstance(each, ast.FunctionDef)}
    places = {}
    for kind, f in log.records:
        if kind == "python_frame":
            function, file = (log.strings.get(f[name], {"text": ""})["text"] for name in ("function", "file"))
            method = methods.get(int(f.get("first_line", 0))) if file == str(script) else None
            places[f["id"]] = (method or function, int(f.get("line", 0)))
    stacks = {f["id"]: f for k, f in log.records if k == "stack"}
    found = []
    for sample in log.samples:
        if sample["state"] != RUNNING or "stack" not in sample:
            continue
        stack = stacks[sample["stack"]]
        words, native = ([int(word) for word in re.findall(r"\d+", stack.get(name, ""))] for name in ("python", "native"))
        frames = [(places[str(word >> 1)], bool(word & 1)) for word in words]
        partial = bool(int(stack.get("flags", 0)) & 64)
        checks.that(partial == any(place[0] == UNKNOWN for place, _ in frames), f"{python}: flags {stack}")
        found.append((native, log.stack(sample).split(" !")[0].split(" < "), frames, partial))
    return log, found


def check_moving(options, checks, folder):
    """a coroutine whose inner calls change all the time: it is in the samples, and no sample has frames that cannot
    call each other"""
    for python in pythons_to_sample():
        log, samples = sample_running(options, checks, folder, python, "moving_calls.py") or (None, [])
        if log is None:
            return
        serving = with_handle = partial = 0
        wrong_chains, answered = [], collections.Counter()
        for _, _, frames, is_partial in samples:
            chain = [place[0] for place, _ in frames]
            partial += is_partial
            with_handle += "handle" in chain
            serving += "handle" in chain or not chain
            wrong = [(inner, outer) for inner, outer in zip(chain, chain[1:])
                     if inner in CALLERS and outer not in CALLERS[inner] | {UNKNOWN}]
            wrong_chains += [chain] if wrong else []
            answered.update(outer for inner, outer in zip(chain, chain[1:]) if inner == "answer" and outer != "warm_up")
        checks.that(answered["handle"] > 50 and answered["handle"] >= 2 * answered[UNKNOWN],
                    f"{python}: callers of answer(), which has only one since it was warm: {answered}")
        # The frames are read while the thread runs: docs/host_samples.md has the measured share.
        checks.that(len(wrong_chains) <= 2, f"{python}: chains that cannot exist: {wrong_chains}")
        print(f"{python}: {len(samples)} samples, {len(wrong_chains)} wrong, {serving} while it serves or without "
              f"frames, {with_handle} with handle, {partial} partial, {log.counters.get('python_moved')} moved")
        checks.that(serving > 100 and with_handle >= 0.75 * serving,
                    f"{python}: {with_handle} of {serving} samples have handle")
        checks.that(partial == log.counters["python_inner_moved"] and partial > 0,
                    f"{python}: {partial} partial: {log.counters}")


# Functions of moving_paths.py that Python calls directly. Up to 3.10, such calls start a run of the loop, and all of
# them have the same path.
CALLED_DIRECTLY = {"chance", "spin", "deeper", "first_caller", "second_caller", "leaf"}


def places_of_paths(samples):
    """what the samples of moving_paths.py show: lists of (partial, place) for each path, the native frames between two
    runs of the loop; partial stacks, stacks with Python frames, stacks whose native frames have other runs"""
    shown, shown_callers, callers, called = (collections.defaultdict(list) for _ in range(4))
    counts = collections.Counter()
    for native, names, frames, partial in samples:
        runs = [[]]
        for place, ends_run in frames:
            runs[-1].append(place)
            runs += [[]] if ends_run else []
        runs = runs[:-1]
        loops = [i for i, name in enumerate(names) if name == "_PyEval_EvalFrameDefault"]
        counts.update(partial=partial, known=bool(runs), other=bool(runs) and len(runs) != len(loops))
        if len(runs) != len(loops):
            continue
        paths = [tuple(native[a + 1:b + 1]) for a, b in zip(loops, loops[1:])]
        for i, path in enumerate(paths):
            outer, inner = runs[i + 1], runs[i][-1][0]
            if outer[0][0] != UNKNOWN:
                shown[path].append((partial, outer[0]))
            if inner != UNKNOWN:
                called[path].append(inner in CALLED_DIRECTLY)
            # What leaf() called shows which of its two callers it had.
            if i > 0 and outer[0][0] == "leaf" and len(outer) > 1 and outer[1][0] != UNKNOWN:
                shown_callers[paths[i - 1]].append((partial, (outer[1][0], 0)))
            if i > 0 and inner.endswith("Leaf.__rfloordiv__"):
                callers[paths[i - 1]].append("first_caller" if inner.startswith("First") else "second_caller")
    shown = {path: places for path, places in shown.items() if sum(called[path]) <= 0.2 * len(called[path])}
    return shown, shown_callers, callers, counts


def most_of(values):
    """the value that nine of ten have; None: there is none"""
    (value, number), = collections.Counter(values).most_common(1) or [(None, 0)]
    return value if number >= 0.9 * len(values) else None


def check_paths(options, checks, folder):
    """Python frames are those of the copied stack: each place of a program calls through another function of the
    interpreter, so the native frames between two runs of the evaluation loop show the place. In a build without the
    GIL, two threads run copies of the program's code too. PATHS_SECONDS: how long each thread is sampled"""
    seconds = os.environ.get("PATHS_SECONDS", "3")
    runs = [(python, arguments) for python in pythons_to_sample()
            for arguments in ([[seconds], [seconds, "2"]] if runs_without_gil(python) else [[seconds]])]
    for python, arguments in runs:
        _, samples = sample_running(options, checks, folder, python, "moving_paths.py", *arguments) or (None, None)
        if samples is None:
            return
        shown, shown_callers, callers, counts = places_of_paths(samples)
        wrong, compared = [], collections.Counter()
        for path, places in shown.items():
            function = most_of([place[0] for _, place in places])
            if function is None:
                continue  # several places share the path
            line = most_of([place[1] for _, place in places if place[0] == function and place[1]])
            compared.update(partial for partial, _ in places)
            wrong += [(partial, place, function, line) for partial, place in places
                      if place[0] != function or (line is not None and place[1] not in (0, line))]
        for path, places in shown_callers.items():
            caller = most_of(callers[path])
            compared.update(partial for partial, _ in places if caller)
            wrong += [(partial, place, caller, 0) for partial, place in places if caller and place[0] != caller]
        python = " ".join([python, *arguments])
        print(f"{python}: {len(samples)} samples, {counts['known']} with Python frames, {counts['partial']} partial; "
              f"{compared[True]} places of partial and {compared[False]} of whole stacks compared, {len(wrong)} wrong, "
              f"{counts['other']} with other loops")
        # Callers may be wrong before the recorder has seen that they vary.
        checks.that(len(wrong) <= 5, f"{python}: shown and true places: {wrong[:10]}")
        checks.that(len(samples) > 200 and counts["known"] >= 0.75 * len(samples), f"{python}: {counts}")
        checks.that(compared[True] > 0.5 * counts["partial"] > 50, f"{python}: {compared} places of {counts}")
        checks.that(counts["other"] <= 2, f"{python}: {counts['other']} stacks have other loops than Python has runs")


def run_starved(options, checks, folder, mode, rate, kernel_ns):
    """the log of host_workers, whose kernels take that time on the simulated GPU. None: the run is wrong"""
    done, logs = run(options, folder, [f"{options.programs}/host_workers", mode],
                     {"PROF_HOST_SAMPLES": rate, "SIM_CLOCK": "real", "SIM": f"timed;kernel vector_add {kernel_ns}"})
    checks.that(done.returncode == 0 and len(logs) == 1, f"status {done.returncode}, {len(logs)} logs: {done.stderr}")
    if checks.wrong:
        return None
    if logs[0].counters.get("host_samples_unavailable"):
        print("perf events are refused here: running threads have no stacks")
        sys.exit(77)
    return logs[0]


def check_never_synchronised(options, checks, folder):
    """a program that launches, works 10 ms on the host and never synchronises: at least 90 % of the time in which its
    GPU is starved is sampled, by the analyzer's own count"""
    log = run_starved(options, checks, folder, "busy", "starved", 200_000)
    if log is None:
        return
    rows, _ = idle_rows(options, folder)
    whole = sum(row["time_ns"] for row in rows if row["cause"] == "outside any call" and row["gaps"])
    sampled = sum(row["time_ns"] for row in rows if row["cause"] == "outside any call" and row["host_code"] not in (None, "not sampled"))
    checks.that(whole > 1e9 and sampled >= 0.9 * whole, f"{sampled / 1e6:.0f} of {whole / 1e6:.0f} ms are sampled")
    print(f"{sampled / max(1, whole):.1%} of the starved time is sampled; {log.counters['depth_marks']} marks")


def check_rare(options, checks, folder):
    """samples that are rarer than the program's turns are kept only if the GPU waited when they were taken. The kernel
    ends 10 ms after the function that runs beside it, and a round looks at the GPU each 1 to 3 ms"""
    log = run_starved(options, checks, folder, "turns", "starved:49", 30_000_000)
    if log is None:
        return
    of = {name: sum(1 for s in log.samples if name in log.stack(s)) for name in ("compute_first", "compute_second")}
    print(of)
    checks.that(of["compute_second"] > 40 and of["compute_first"] < 0.25 * of["compute_second"], f"{of}")


def check_launched_apart(options, checks, folder):
    """short kernels, launched one by one: at least 85 % of the starved time is sampled (it begins when CUPTI delivers
    the first times), and divided as the program divides it. If the same kernels take longer than the host, there is
    next to no sample"""
    env = {"PROF_HOST_SAMPLES": "starved:997", "SIM_CLOCK": "real", "PROF_STACKS": "launch"}
    for every, kernel_ns, busy in (("0", 3000, False), ("100", 3000, False), ("0", 400000, True)):
        for old in pathlib.Path(folder).iterdir():
            old.unlink()
        done, logs = run(options, folder, [f"{options.programs}/host_workers", "apart", every],
                         {**env, "SIM": f"timed;kernel vector_add {kernel_ns}"})
        what = f"{kernel_ns} ns, synchronised after {every}"
        checks.that(done.returncode == 0 and len(logs) == 1,
                    f"{what}: status {done.returncode}, {len(logs)} logs: {done.stderr}")
        if checks.wrong:
            return
        if logs[0].counters.get("host_samples_unavailable"):
            print("perf events are refused here: running threads have no stacks")
            sys.exit(77)
        of = {name: sum(1 for s in logs[0].samples if name in logs[0].stack(s))
              for name in ("compute_first", "compute_second")}
        if busy:
            checks.that(sum(of.values()) < 300, f"{what}: {of} samples of a busy GPU")
            continue
        rows, _ = idle_rows(options, folder)
        whole = sum(row["time_ns"] for row in rows if row["cause"] == "outside any call" and row["gaps"])
        by_code = collections.Counter()
        for row in rows:
            if row["cause"] == "outside any call":
                by_code[row["host_code"]] += row["time_ns"]
        sampled = sum(ns for code, ns in by_code.items() if code not in (None, "not sampled"))
        checks.that(whole > 1e9 and sampled >= 0.85 * whole,
                    f"{what}: {sampled / 1e6:.0f} of {whole / 1e6:.0f} ms are sampled")
        first = of["compute_first"] / max(1, sum(of.values()))
        checks.that(abs(first - 0.7) < 0.08, f"{what}: {of} samples, expected 70 and 30 %")
        print(f"{what}: {sampled / max(1, whole):.1%} of the starved time is sampled, "
              f"{first:.1%} of it in compute_first")


CASES = {"waits": check_waits, "python": check_python, "starved": check_starved, "refused": check_refused, "threads": check_threads,
         "many": check_many, "filtered": check_filtered, "fork": check_fork, "exec": check_exec, "exit": check_exit, "kill": check_kill, "parts": check_parts,
         "plain": check_plain, "pipe": check_pipe, "poll": check_poll, "socket": check_socket, "unlogged": check_unlogged,
         "owners": check_owners, "gil": check_gil, "moving": check_moving, "paths": check_paths,
         "never_synchronised": check_never_synchronised, "launched_apart": check_launched_apart,
         "rare": check_rare}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=CASES)
    for name in ("prof", "libprof", "sim", "programs"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="prof-host-") as folder:
        CASES[options.case](options, checks, folder)
    print("\n".join(checks.wrong))
    return 1 if checks.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
