"""The cost of host samples inside processes: rounds with samples and without them in turn, switched by `prof ctl`.
Processes differ from each other by 2 to 3 %, neighbouring rounds of one process much less."""
import collections
import json
import math
import random
import time

import plog
import stats
from steps_overhead import Server, check_ratio

HZ = 99  # of "starved"
LEAST_PAIRS = 10  # of rounds, for each process

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


def switched_samples(lab, step, name, command, loops, most, key="wall_ns", processes=4, pairs=60, seconds=40):
    """The check that all of the interval of rounds with samples ÷ rounds without is at most `most`. `seconds`: limit for
    all rounds."""
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
    check_ratio(step, "rounds with --host-samples starved / rounds without, in the same processes",
                stats.ratio_of_neighbours(over, under), most)
