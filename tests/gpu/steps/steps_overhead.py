"""Steps that measure cost. Processes of all variants are started together, warm up, and then run short timed loops in
turn, in a new random order each round, while no other process runs. There are several sets of processes, with one or
more copies of each variant, and several rounds per set."""
import json
import math
import os
import random
import select
import statistics
import subprocess
import time

import recorded_run
import stats
from lab import APPS_FOLDER, Skipped

MAX_FULL_OVER_CUPTI = 1.05
MAX_BYTES_PER_LAUNCH = 24
MIN_PROCESSES = 6  # of each variant: with fewer, student_t() is not exact
CORES = 4  # shared by the programs that are timed in turn


class Server:
    """A program that executes `loop …` lines and prints one line of JSON for each."""

    def __init__(self, lab, name, command, env):
        self.lab, self.name = lab, name
        self.errors = open(lab.path(f"{name}.stderr"), "w", encoding="utf-8")
        self.process = subprocess.Popen(command, env=env, cwd=lab.work, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, start_new_session=True)
        self.buffer = b""

    def line(self, timeout):
        limit = time.monotonic() + timeout
        while b"\n" not in self.buffer:
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise RuntimeError(f"{self.name}: no answer in {timeout} s")
            more = os.read(self.process.stdout.fileno(), 65536)
            if not more:
                raise RuntimeError(f"{self.name}: ended early with status {self.process.wait()}")
            self.buffer += more
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode()

    def ready(self, timeout=90):
        """Waits until the program has started, on all cores."""
        while self.line(timeout).strip() != "ready":
            pass

    def take_cores(self):
        """Pins the program to the few cores that all programs share, because cores of a shared host differ; the
        programs run in turn. One core is for the main thread, one for PyTorch's backward thread, and the rest for
        all others. Otherwise the scheduler may keep a process's two busy threads on one core or on two by chance."""
        cores = sorted(os.sched_getaffinity(0))[-CORES:]
        if len(cores) < CORES:
            return
        first, second, *rest = cores
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                with open(f"/proc/{self.process.pid}/task/{thread}/comm", encoding="utf-8") as name:
                    backward = name.read().startswith("pt_autograd")
                os.sched_setaffinity(int(thread), {first} if int(thread) == self.process.pid else {second} if backward else rest)
            except (FileNotFoundError, ProcessLookupError):
                pass  # the thread has ended in the meantime

    def command(self, words, timeout=60):
        self.process.stdin.write(f"{words}\n".encode())
        self.process.stdin.flush()
        return json.loads(self.line(timeout))

    def loop(self, arguments, timeout=60):
        return self.command(f"loop {arguments}", timeout)

    def end(self):
        """Requests the program's end without waiting for it."""
        try:
            self.process.stdin.close()
        except OSError:
            pass  # it has ended

    def stop(self):
        self.end()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.close()


def variants(lab, name, profilers):
    """variant -> (environment, log folder); `name` keeps the folders of the steps separate."""
    def recorded(**options):
        folder = lab.fresh(name, "-".join(["log", *map(str, options.values())]))
        return lab.recorded_env(folder, PROF_CUPTI=lab.cupti, **options), folder
    result = {
        "plain": (lab.env(), None),
        "host side only": recorded(PROF_GPU="off"),
        "full": recorded(),
        "full, counts": recorded(PROF_DEPTH="counts"),
        "CUPTI alone": (lab.cupti_env(lab.fresh(name, "cupti"), names=False), None),
        "CUPTI alone, launching calls too": (lab.cupti_env(lab.fresh(name, "cupti_calls"), names=False, CUPTI_BASELINE_CALLS="1"), None),
    }
    for profiler in profilers:
        result[f"torch.profiler {profiler}"] = (lab.env(), None)
    return result


class Alternation:
    """Sets of processes, one per variant, whose timed loops run in turn. If a process of a variant fails, the variant
    is dropped, and the step reports it."""

    def __init__(self, lab, step, name, make_command, chosen):
        self.lab, self.step, self.name, self.make_command = lab, step, name, make_command
        self.chosen = dict(chosen)
        self.order = random.Random(7)
        self.processes = 0  # of each variant, so far

    def attempt(self, variant, action):
        try:
            return action()
        except (RuntimeError, OSError, ValueError) as error:
            self.chosen.pop(variant, None)
            self.step.check(f"{variant} runs to the end", False, error)
            return None

    def one_set(self, rounds, loops, copies):
        """[{loop: {variant: answers}}], one for each of `copies` processes of every variant; the first round warms
        up."""
        servers = {}
        answers = [{loop: {variant: [] for variant in self.chosen} for loop in loops} for _ in range(copies)]

        def shuffled(items):
            return self.order.sample(list(items), len(items))

        def everyone():
            return shuffled([(variant, copy) for variant in self.chosen for copy in range(copies)])

        def by_copy():
            """The processes that are compared with each other run one after the other."""
            return [(variant, copy) for copy in shuffled(range(copies)) for variant in shuffled(self.chosen)]
        try:
            # In a new order for each set: of equal processes on one GPU, those that started later were 5 to 10 % slower
            # or faster.
            for variant, copy in everyone():
                # Python's hash tables have the same layout in all processes that are compared with each other.
                env = dict(self.chosen[variant][0], PYTHONHASHSEED=str(self.processes + copy))
                servers[variant, copy] = Server(self.lab, f"{self.name}-{variant.replace(' ', '-')}-{copy}", self.make_command(variant), env)
            self.processes += copies
            for variant, copy in everyone():
                self.attempt(variant, servers[variant, copy].ready)
            for loop in loops:
                for turn in range(rounds + 1):
                    for variant, copy in by_copy():
                        if variant not in self.chosen:
                            continue  # another of its processes failed in this round
                        if turn < 2 or turn % 10 == 0:  # new threads may have started
                            servers[variant, copy].take_cores()
                        answer = self.attempt(variant, lambda: servers[variant, copy].loop(loop))
                        if turn and answer:
                            answers[copy][loop][variant].append(answer)
        finally:
            for server in servers.values():
                server.end()
            for server in servers.values():
                server.stop()
        return answers

    def run(self, sets, rounds, loops, seconds=math.inf, copies=1):
        """{loop: {variant: one list of answers per process}} of the variants that never failed. Runs at most `sets` of
        `copies` processes per variant, and no set that would not fit into `seconds` or into the remaining time of
        the whole run."""
        found = []
        began = time.monotonic()
        for number in range(sets):
            spent = time.monotonic() - began
            if number and spent + spent / number > seconds:
                break
            if number and self.lab.left() < 1.3 * spent / number + 20:
                self.step.note(f"Stopped after {number} of {sets} sets: no time left.")
                break
            found += self.one_set(rounds, loops, copies)
        return {loop: {variant: [answers[loop][variant] for answers in found] for variant in self.chosen} for loop in loops}


def pick(sets, key):
    return [[answer[key] for answer in answers] for answers in sets]


def flat(sets):
    return [value for values in sets for value in values]


def interval(r):
    return f"{r[0]:.3f} ({r[1]:.3f}–{r[2]:.3f})"


def cost_table(step, title, samples, key, unit, per=1.0, ratio=stats.ratio):
    plain = pick(samples["plain"], key)
    cupti = pick(samples["CUPTI alone"], key) if "CUPTI alone" in samples else None
    rows, ratios = [], {}
    ratios["plain spread"] = stats.quantile(flat(plain), 0.9) / stats.median(flat(plain))
    for variant, sets in samples.items():
        values = pick(sets, key)
        to_plain, to_cupti = ratio(values, plain), ratio(values, cupti) if cupti else None
        ratios[variant] = (to_plain, to_cupti)
        every = flat(values)
        rows.append((variant, f"{stats.median(every) / per:,.1f}", f"{stats.quantile(every, 0.1) / per:,.1f}–"
                     f"{stats.quantile(every, 0.9) / per:,.1f}", interval(to_plain), interval(to_cupti) if to_cupti else '', len(every)))
    step.table(title, ["variant", f"median {unit}", "10–90 %", "÷ plain (95 %)", "÷ CUPTI alone (95 %)", "rounds"], rows)
    return ratios


def limit_of_ratio(step, samples, over, under, most, key="wall_ns"):
    """The check that all of the interval of over ÷ under is at most `most`."""
    if over in samples and under in samples:
        found = stats.ratio_of_processes(pick(samples[over], key), pick(samples[under], key))
        check_ratio(step, f"{over} / {under}", found, most)


def check_ratio(step, what, found, most):
    """`found`: (ratio, low, high)"""
    result = stats.verdict(found, most)
    step.check(what, result == "pass", f"{interval(found)}: {result}", f"all of the 95 % interval <= {most}")


def gate_of_processes(lab, step, ratios, full, processes, of_full):
    """The interval decides: one that contains the limit is reported as undecided, and is not a pass. `full`: full ÷
    CUPTI alone, of `of_full` processes each."""
    if lab.sim:
        return step.note("Rehearsed on the simulated GPU: nothing here is a measurement, limits are not checked.")
    step.check("processes a variant", processes >= MIN_PROCESSES, processes, f"≥ {MIN_PROCESSES}")
    step.figure("processes of full and of CUPTI alone, with those that ran without the other variants", of_full)
    off = ratios["host side only"][0]
    step.check("host side only is within noise of plain", off[1] <= 1.0 or off[0] <= ratios["plain spread"], interval(off),
               f"95 % interval reaches 1, or inside plain's own 10–90 % range (≤ {ratios['plain spread']:.3f})")
    found = stats.verdict(full, MAX_FULL_OVER_CUPTI)
    step.check("full ÷ CUPTI alone", found == "pass", f"{interval(full)}: {found}", f"all of the 95 % interval ≤ {MAX_FULL_OVER_CUPTI}")
    if found == "undecided":
        step.note("The interval is too wide to decide: more processes (--pytorch-seconds, --budget) make it narrower.")


def launch_loop(lab, step):
    """5,000 launches per round of the shortest possible kernel, static cudart; and long kernels back to back, for the
    GPU side. Many sets, because processes of one variant differ by more than variants do; then as many again with only
    the two variants of the limit, whose interval must be narrow. Many short rounds: see pytorch_step()."""
    launches, back_to_back = ("2000 0", "500 5000") if lab.sim else ("5000 0", "1000 5000")
    chosen = variants(lab, "launch_loop", [])
    sets, rounds = (2, 2) if lab.sim else (16, 30)
    command = [lab.program("launch_loop"), "--serve"]
    samples = Alternation(lab, step, "launch_loop", lambda variant: command, chosen).run(sets, rounds, [launches, back_to_back])
    sizes = {variant: [os.path.getsize(log) for log in lab.logs(chosen[variant][1])] for variant in ("host side only", "full", "full, counts")}
    two = {name: chosen[name] for name in ("full", "CUPTI alone")}
    more = Alternation(lab, step, "launch_loop", lambda variant: command, two).run(sets, rounds, [launches], copies=3)[launches]
    full, cupti = (pick(samples[launches][variant] + more[variant], "host_ns") for variant in two)
    n = int(launches.split()[0])
    title = f"Launch loop, {rounds} rounds a process of {n:,} launches, time of the launching thread per launch; the intervals are between processes"
    ratios = cost_table(step, title, samples[launches], "host_ns", "ns", ratio=stats.ratio_of_processes)
    gate_of_processes(lab, step, ratios, stats.ratio_of_processes(full, cupti), len(samples[launches]["plain"]), len(full))
    cost_table(step, "The same loop until the GPU has finished, per launch", samples[launches], "wall_ns", "ns", ratio=stats.ratio_of_processes)
    cost_table(step, "5 µs kernels back to back: GPU time a kernel between two events (kernel + gap)", samples[back_to_back],
               "gpu_ns", "ns", ratio=stats.ratio_of_processes)
    per_process = 20_000 + (rounds + 1) * (n + int(back_to_back.split()[0]))
    for variant, of_variant in sizes.items():
        if of_variant:
            size = statistics.median(of_variant) / per_process
            step.figure(f"log, whole file ÷ launches: {variant}", size, "bytes")
            if variant != "host side only":
                step.check(f"bytes per launch: {variant}", size <= MAX_BYTES_PER_LAUNCH, f"{size:.1f}", MAX_BYTES_PER_LAUNCH)
    for _, folder in chosen.values():
        for log in lab.logs(folder) if folder else []:
            os.remove(log)


def gaps(lab, step):
    """The effect of completion marks on the GPU: gaps between kernels that are queued back to back, from GPU
    timestamps."""
    rows = []
    for depth in ("counts", "marks", "values"):
        folder = lab.fresh("gaps", depth)
        lab.run([lab.program("launch_loop"), "--serve"], env=lab.recorded_env(folder, PROF_DEPTH=depth),
                stdin="loop 5000 5000\n")
        logs = lab.logs(folder)
        if not logs:
            raise RuntimeError("no log")
        run = recorded_run.Run(logs[0])
        runs = sorted((op[1], op[1] + op[2]) for op in run.operations if op[0] == "kernel" and op[2] > 4000)
        found = [max(0, after[0] - before[1]) for before, after in zip(runs, runs[1:])]
        found = [gap for gap in found if gap < 50_000]
        if not found:
            raise RuntimeError("no kernels in the log")
        pairs = run.depths()
        off = [live - exact for live, exact in pairs]
        rows.append((depth, f"{statistics.mean(found):.0f}", f"{stats.median(found):.0f}", f"{stats.quantile(found, 0.9):.0f}",
                     f"{stats.quantile(found, 0.99):.0f}", run.log.counters.get("depth_marks", 0),
                     f"{statistics.mean(off):.1f}", max(off), min(off)))
    step.table("5 µs kernels on one stream, queue full: gap between kernels in ns, and how far the live depth was off",
               ["depth", "mean", "median", "90 %", "99 %", "marks", "live − exact, mean", "largest", "smallest"], rows)
    for row in rows[1:]:
        step.check(f"PROF_DEPTH={row[0]} placed marks", lab.sim or int(row[5]) > 0, row[5], "> 0")


def pytorch_step(lab, step):
    """The MLP training step, limited by the host, in as many processes as --pytorch-seconds allows: all variants first,
    then only the two of the limit, whose interval must be narrow, then torch.profiler with them in two sets (a tenth
    of that time).

    Many short rounds: on a shared host the step time of one process varies by 30 % within seconds, so rounds must be
    close together in time. For a process of 65 rounds of 5 steps, the ratio of medians has a standard deviation of 2.2
    %; for one of 6 rounds of 20 steps, which takes half as long, 4.8 % (an H200, 2026-11-27)."""
    if lab.sim:
        raise Skipped("needs a GPU")
    profilers = {"torch.profiler cpu+cuda": "cpu+cuda", "torch.profiler cuda": "cuda"}
    chosen = variants(lab, "pytorch_step", profilers.values())
    script = os.path.join(APPS_FOLDER, "torch_app.py")
    short, long = (40, 5), (6, 20)  # rounds, steps per round

    def command(variant):
        return [lab.python, script, "serve", "--profile", profilers.get(variant, "none")]

    def measure(names, share, sets=200, copies=2, plan=short):
        part = {name: chosen[name] for name in names}
        turns = Alternation(lab, step, "pytorch_step", command, part)
        rounds, steps = plan
        return turns.run(sets, rounds, [str(steps)], share * lab.pytorch_seconds, copies)[str(steps)]
    samples = measure(["plain", "host side only", "full", "CUPTI alone", "CUPTI alone, launching calls too"], 0.55)
    ratios = cost_table(step, "PyTorch MLP training step, {} rounds a process of {} steps; the intervals are between processes".format(*short),
                        samples, "wall_ns", "ms", per=1e6, ratio=stats.ratio_of_processes)
    more = measure(["full", "CUPTI alone"], 0.35)
    full, cupti = (pick(samples[variant] + more[variant], "wall_ns") for variant in ("full", "CUPTI alone"))
    gate_of_processes(lab, step, ratios, stats.ratio_of_processes(full, cupti), len(samples["plain"]), len(full))
    others = measure(["plain", "full", "full, counts", *profilers], 0.1, sets=2, copies=1, plan=long)
    rounds, steps = long
    cost_table(step, f"The same with torch.profiler for comparison, {rounds} rounds a process of {steps} steps", others, "wall_ns", "ms", per=1e6)
    for variant in ("full", "full, counts"):
        logs = lab.logs(chosen[variant][1])
        if not logs:
            raise RuntimeError(f"{variant}: no log")
        run = recorded_run.Run(logs[-1])
        size = os.path.getsize(logs[-1]) / len(run.launches)
        step.figure(f"launches per step: {variant}", len(run.launches) / (30 + (rounds + 1) * (steps + 1)))
        step.figure(f"log, whole file ÷ launches: {variant}", size, "bytes")
        step.check(f"bytes per launch: {variant}", size <= MAX_BYTES_PER_LAUNCH, f"{size:.1f}", MAX_BYTES_PER_LAUNCH)
