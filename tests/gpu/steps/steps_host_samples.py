"""Host samples (PROF_HOST_SAMPLES) beside a real driver: known work between launches, nothing interrupted, and the
cost."""
import math

import plog
import stats
from lab import Skipped
from log_checks import libprof_lines
from steps_overhead import Alternation, cost_table, limit_of_ratio

RUNNING, BLOCKED, LOCK, SLEEP = 0, 2, 2, 3
HZ = 499
MAX_HOST_SAMPLES = 1.01
SETS, ROUNDS = 16, 20


class Sampled:
    """The content of a log: samples of the thread that launches, intervals of its states."""

    def __init__(self, path):
        self.log = plog.Log(path)
        self.samples, self.states, self.rates, self.meta = [], [], [], {}
        for _, r in self.log.records():
            kind = type(r).__name__
            if kind == "host_sample":
                self.samples.append(r)
            elif kind == "host_state":
                self.states.append(r)
            elif kind == "host_sampling":
                self.rates.append(r)
            elif kind == "meta":
                self.meta[r.key.decode()] = r.value.decode(errors="replace")
        self.rates.sort(key=lambda r: r.from_)
        self.period = next((r.period_ns for r in self.rates if r.period_ns), 0)

    def count(self, state, blocked_in=None):
        return sum(1 for s in self.samples if s.thread == 1 and s.state == state and blocked_in in (None, s.blocked_in))


def record(lab, name, command, **variables):
    folder = lab.fresh(f"host_samples_{name}")
    done = lab.run(command, env=lab.recorded_env(folder, **variables), timeout=120)
    logs = lab.logs(folder)
    return done, Sampled(logs[0]) if logs else None


def host_samples(lab, step):
    if lab.sim:
        raise Skipped("needs a GPU")
    program = lab.program("host_samples")
    plain = lab.run([program, "cases", "10"], timeout=120)
    if plain.status != 0:
        raise Skipped(f"the program does not run here: {plain.stderr.strip()[-200:]}")
    for name, variables in (("all", {"PROF_HOST_SAMPLES": str(HZ)}), ("starved", {"PROF_HOST_SAMPLES": f"starved:{HZ}"})):
        known_work(lab, step, program, name, variables)
    costs(lab, step)


def known_work(lab, step, program, name, variables):
    """Samples of each kind of work against its measured time."""
    done, measured = record(lab, name, [program, "cases", "100"], **variables)
    words = done.stdout.split()
    if done.status != 0 or measured is None or len(words) != 10:
        return step.check(f"{name}: the program runs", False, f"status {done.status}: {done.stderr.strip()[-200:]}", "0")
    took = {key: int(value) for key, value in zip(words[::2], words[1::2])}
    step.check(f"{name}: nothing was interrupted", took["interrupted"] == 0, took["interrupted"], 0)
    refused = measured.meta.get("host_samples")
    step.figure(f"{name}: samples, intervals, perf events", f"{len(measured.samples)}, {len(measured.states)}, {refused or 'allowed'}")
    step.check(f"{name}: nothing else is printed on stderr", refused is not None or not libprof_lines(done.stderr), libprof_lines(done.stderr), "nothing")
    rows = [("sleep", SLEEP, BLOCKED), ("lock", LOCK, BLOCKED)] + ([] if refused else [("compute", None, RUNNING)])
    for what, blocked_in, state in rows:
        found, expected = measured.count(state, blocked_in), took[what] / measured.period
        if what == "compute":  # the driver's own loops run too: they wait for the kernel by polling
            low, high = expected * 0.9 - 4 * math.sqrt(expected), (expected + took["kernel"] / measured.period + 300) * 1.1
        else:
            off = 0.1 * expected + 4 * math.sqrt(expected) + 3
            low, high = expected - off, expected + off
        if name == "starved":  # what is known of the device may be late
            low *= 0.5
        step.check(f"{name}: samples of {what}", low <= found <= high, found, f"{low:.0f} to {high:.0f}")
    with_stack = sum(1 for s in measured.samples if s.thread == 1 and s.state != 1 and s.stack)
    asked = sum(1 for s in measured.samples if s.thread == 1 and s.state != 1)
    step.check(f"{name}: samples have stacks", with_stack >= 0.9 * asked, f"{with_stack} of {asked}", "90 %")
    counters = {key: value for key, value in measured.log.counters.items() if value and ("host_" in key or key == "python_moved")}
    step.figure(f"{name}: counters", str(counters))


def costs(lab, step):
    """A launch loop with 20 us of the host after each launch, so that the GPU waits most of the time: recorded without
    samples, with samples of all times, and of starved times. 26 ms and more for a round: 13 samples."""
    def recorded(name, **variables):
        return lab.recorded_env(lab.fresh("host_samples_loop", name), PROF_CUPTI=lab.cupti, **variables), None
    chosen = {"plain": (lab.env(), None), "off": recorded("off"), "starved": recorded("starved", PROF_HOST_SAMPLES=f"starved:{HZ}"),
              f"{HZ} Hz": recorded("all", PROF_HOST_SAMPLES=str(HZ))}
    command = [lab.program("launch_loop"), "--serve"]
    loop = "1000 0 20000"
    samples = Alternation(lab, step, "host_samples", lambda variant: command, chosen).run(SETS, ROUNDS, [loop])[loop]
    cost_table(step, f"Time of the launching thread for a launch and 20 us of the host, {ROUNDS} rounds a process of 1,000; the intervals are "
               "between processes", samples, "host_ns", "ns", ratio=stats.ratio_of_processes)
    for name in ("starved", f"{HZ} Hz"):
        limit_of_ratio(step, samples, name, "off", MAX_HOST_SAMPLES, key="host_ns")
