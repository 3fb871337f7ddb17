"""The cost of host samples inside processes: rounds with samples and without them in turn, switched by `prof ctl`, and
the time that a program which launches all the time loses after each sample. Processes differ from each other by 2 to
3 %. Neighbouring rounds of one process differ less, but on a virtual machine whose cores change their speed still by some
per cent."""
import collections
import json
import math
import random
import re
import time

import plog
import stats
from steps_overhead import Server, check_ratio, interval

HZ = 99  # of "starved"
LEAST_PAIRS = 10  # of rounds, for each process
AFTER_US = 2000  # after a sample, the caches are cold for a while

Round = collections.namedtuple("Round", "on begin_ns end_ns value")  # CLOCK_MONOTONIC; the program's answer


class Loops(collections.namedtuple("Loops", "timed untimed")):
    """Arguments of the program's command `loop`: of a timed round, of 10 samples or more; and of the rounds before it.
    A program waits longer for its samples to be switched on than off, so it must get warm again."""


def switch(lab, pid, on):
    """Returns when the process is switched."""
    done = lab.run_prof(["ctl", str(pid), "samples", "starved" if on else "off", "--wait", "20"])
    if done.status != 0:
        raise RuntimeError(f"prof ctl: status {done.status}: {done.stdout}{done.stderr}")


def one_round(lab, server, on, loops, key):
    switch(lab, server.process.pid, on)
    server.loop(loops.untimed)
    begin_ns = time.monotonic_ns()
    answer = server.loop(loops.timed)
    return Round(on, begin_ns, time.monotonic_ns(), answer[key])


def run_pairs(lab, servers, loops, key, pairs, seconds):
    """One list of (round with samples, round without) for each process. Processes run in turn, in a new order each
    time, and so do the two rounds of a pair. The first pair of a process is left out: it meets each stack for the first
    time."""
    draw = random.Random(7)
    found = [[] for _ in servers]
    until = time.monotonic() + min(seconds, lab.left() - 20)
    for turn in range(pairs + 1):
        if turn > LEAST_PAIRS and time.monotonic() > until:
            break
        for number in draw.sample(range(len(servers)), len(servers)):
            if turn % 10 == 0:
                servers[number].take_cores()
            rounds = [one_round(lab, servers[number], on, loops, key) for on in draw.sample((True, False), 2)]
            if turn:
                found[number].append(tuple(sorted(rounds, reverse=True)))
    return found


def sample_times(path):
    """Times of the samples of the first thread, CLOCK_MONOTONIC ns. Only blocks of the helper thread are decoded."""
    log = plog.Log(path)
    helpers = {r.thread for _, r in log.records(lambda block: block.kind == plog.EVENTS and block.sequence == 0)
               if type(r).__name__ == "thread" and r.name == b"libprof"}
    records = [r for _, r in log.records(lambda block: block.kind == plog.EVENTS and block.thread in helpers)]
    anchor = max((r for r in records if type(r).__name__ == "clock_anchor"), key=lambda r: r.tick)
    ns_per_tick = (anchor.monotonic_ns - log.start_monotonic_ns) / (anchor.tick - log.start_tick)
    return [log.start_monotonic_ns + (r.time - log.start_tick) * ns_per_tick
            for r in records if type(r).__name__ == "host_sample" and r.thread == 1]


def launches_and_samples(lab, log):
    """Times in us, from some moment: of the first thread's launches, and of its samples while it ran."""
    launches, samples, ticks_per_us = [], [], 1.0
    for line in lab.run_prof(["dump", log]).stdout.splitlines():
        kind, _, fields = line.partition(" ")
        if kind == "header":
            ticks_per_us = int(re.search(r"ticks_per_second=(\d+)", fields)[1]) / 1e6
        elif kind.endswith("_launch") and fields.startswith("end="):
            launches.append(int(re.match(r"end=(\d+)", fields)[1]) / ticks_per_us)
        elif kind == "host_sample" and (found := re.match(r"time=(\d+) thread=1 state=0", fields)):
            samples.append(int(found[1]) / ticks_per_us)
    return sorted(launches), sorted(samples)


def check_time_after_samples(lab, step, logs, most):
    """`most`: the limit, as a ratio. The intervals of processes are independent."""
    lost = [stats.lost_after(*launches_and_samples(lab, log), AFTER_US) for log in logs]
    middle = sum(each[0] for each in lost) / len(lost)
    half = math.sqrt(sum((each[2] - each[1]) ** 2 for each in lost)) / 2 / len(lost)
    step.figure("time that the program loses in 2 ms after a sample",
                f"{middle:.0f} ({middle - half:.0f}–{middle + half:.0f})", "us")
    found = tuple(1 + HZ * us / 1e6 for us in (middle, middle - half, middle + half))
    check_ratio(step, f"1 + {HZ} samples a second x the time lost after each", found, most)


def samples_in(times_ns, rounds):
    return sum(1 for ns in times_ns if any(r.begin_ns <= ns < r.end_ns for r in rounds))


def busy_ns(lab, log):
    """The GPU time of all kernels of a log."""
    answer = lab.run_prof(["report", "kernels", "--format", "json", log])
    return sum(row["total_ns"] for row in json.loads(answer.stdout)["rows"] if row["type"] == "kernel")


def check_samples(lab, step, logs, pairs, loop_ns):
    """Rounds with samples have about as many as the GPU was idle, the others none. `loop_ns`: of each process, the time
    of all of its loops."""
    on = off = 0
    expected = most = 0.0
    for log, of_process, all_ns in zip(logs, pairs, loop_ns):
        times_ns = sample_times(log)
        on += samples_in(times_ns, [pair[0] for pair in of_process])
        off += samples_in(times_ns, [pair[1] for pair in of_process])
        samples = HZ / 1e9 * sum(pair[0].end_ns - pair[0].begin_ns for pair in of_process)
        most += samples
        expected += samples * max(0.0, 1 - busy_ns(lab, log) / all_ns)
    # While launches come one by one, a GPU of which nothing else is known seems to wait.
    low, high = 0.5 * expected - 4 * math.sqrt(expected), 1.1 * most + 4 * math.sqrt(most)
    step.check(f"samples in rounds with samples: {HZ} a second while the GPU is idle", 0 < low <= on <= high,
               f"{on}, expected {expected:.0f}", f"{low:.0f} to {high:.0f}")
    step.check("samples in rounds without samples", off == 0, off, 0)


class TimedServer(Server):
    """Adds up the time of all loops."""
    loop_ns = 0

    def loop(self, arguments, timeout=60):
        begin_ns = time.monotonic_ns()
        answer = super().loop(arguments, timeout)
        self.loop_ns += time.monotonic_ns() - begin_ns
        return answer


def switched_samples(lab, step, name, command, loops, most, key="wall_ns", processes=4, pairs=60, seconds=40,
                     launches=False):
    """The check that all of the interval of rounds with samples ÷ rounds without is at most `most`. `launches`: the
    program launches all the time, so the time after each sample is checked, and the ratio is a figure. `seconds`: limit
    for all rounds."""
    folders = [lab.fresh(name, f"switched-{number}") for number in range(processes)]
    servers = []
    try:
        for number, folder in enumerate(folders):
            env = lab.recorded_env(folder, PROF_CUPTI=lab.cupti, PYTHONHASHSEED=number)
            servers.append(TimedServer(lab, f"{name}-switched-{number}", command, env))
        for server in servers:
            server.ready()
        found = run_pairs(lab, servers, loops, key, pairs, seconds)
    except (RuntimeError, OSError, ValueError) as error:
        step.check("processes with switched samples run to the end", False, error)
        return
    finally:
        for server in servers:
            server.end()
        for server in servers:
            server.stop()
            server.process.stdout.close()
    over, under = ([[pair[side].value for pair in of_process] for of_process in found] for side in (0, 1))
    step.figure("switched samples: processes, pairs of rounds of each", f"{processes}, {min(map(len, found))}")
    step.figure("switched samples: median time with samples and without",
                f"{stats.median(sum(over, [])):,.0f}, {stats.median(sum(under, [])):,.0f}", "ns")
    check_samples(lab, step, [lab.logs(folder)[0] for folder in folders], found, [server.loop_ns for server in servers])
    what = "rounds with --host-samples starved / rounds without, in the same processes"
    ratio = stats.ratio_of_neighbours(over, under)
    if not launches:
        return check_ratio(step, what, ratio, most)
    step.figure(what, interval(ratio))
    check_time_after_samples(lab, step, [lab.logs(folder)[0] for folder in folders], most)
