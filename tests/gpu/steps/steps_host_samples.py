"""Host samples (PROF_HOST_SAMPLES) beside a real driver: known work between launches, nothing interrupted, and the
cost."""
import math
import statistics

import plog
from lab import Skipped
from log_checks import libprof_lines

RUNNING, BLOCKED, LOCK, SLEEP = 0, 2, 2, 3
HZ = 499


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
    costs(lab, step, program)


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


def costs(lab, step, program):
    """In turn: plain, recorded with the option off, with samples of all times and of starved times."""
    variants = {"plain": None, "off": {}, "starved": {"PROF_HOST_SAMPLES": f"starved:{HZ}"}, f"{HZ} Hz": {"PROF_HOST_SAMPLES": str(HZ)}}
    rows = {name: [] for name in variants}
    for _ in range(9):
        for name, extra in variants.items():
            env = lab.env() if extra is None else lab.recorded_env(lab.fresh("host_samples_loop"), **extra)
            words = lab.run([program, "loop", "40000"], env=env, timeout=60).stdout.split()
            if len(words) == 1:
                rows[name].append(float(words[0]))
    medians = {name: statistics.median(values) for name, values in rows.items() if values}
    step.table("ns per launch of an empty kernel and 20 us of the host (median of 9, in alternation; least, most)", ["", "ns", "least", "most"],
               [(name, f"{value:.0f}", f"{min(rows[name]):.0f}", f"{max(rows[name]):.0f}") for name, value in medians.items()])
    if len(medians) == len(variants):
        for name in ("starved", f"{HZ} Hz"):
            ratios = sorted(a / b for a, b in zip(rows[name], rows["off"]))
            step.check(f"{name} compared with recording without samples: median of paired runs", ratios[len(ratios) // 2] < 1.01,
                       f"{ratios[len(ratios) // 2]:.4f} ({ratios[0]:.4f} to {ratios[-1]:.4f})", "1.01")
