"""Steps about call stacks: the share of the launches of real programs that have one, and a line of Python in it; and
their cost."""
import collections
import concurrent.futures
import os
import re
import statistics

import plog
import recorded_run
from lab import APPS_FOLDER, Skipped
from log_checks import same_behaviour
from steps_graphs import rows_of
from steps_overhead import Alternation, cost_table, pick
from steps_programs import app_command

EXPECTED = 0.99
MAX_STACKS_OVER_PLAIN = 1.25
MAX_STACK_BYTES = 3  # per launch
MAX_NATIVE_CYCLES, MAX_NATIVE_NS, MAX_PYTHON_NS = 1500, 300, 300  # per launch
MAX_PAGE_BYTES = 3_000_000
CLOCK_TSC = 1  # of a log's header
# Every launch must have its line: its own, otherwise the call of backward(), or the forward operator's.
EAGER, JOINED = "PyTorch eager", "PyTorch eager, emit_nvtx()"
PROGRAMS = {
    EAGER: ["torch_app.py", "eager"],
    JOINED: ["torch_app.py", "eager", "--emit-nvtx"],
    "PyTorch DataLoader": ["processes_app.py", "loader", "fork"],
    "PyTorch compiled": ["torch_app.py", "compile", "--steps", "20"],
    "PyTorch graph": ["torch_app.py", "graph"],
    "PyTorch reduce-overhead": ["torch_app.py", "reduce_overhead"],
    "PyTorch graphed callables": ["torch_app.py", "graphed_callables"],
    "CuPy": ["cupy_app.py"],
    "JAX": ["jax_app.py"],
}
PYTHON_FRAME = re.compile(r"(\.py|>)\(\d+\):_")  # of folded stacks: file(line):_function
PYTHON_PLACE = re.compile(r"\.py\b|<\w+>")

Traced = collections.namedtuple("Traced", "plain recorded log folded nodes")


def call_stacks(lab, step):
    """PyTorch in every mode, CuPy and JAX with a stack on every launch; the programs run at the same time, because
    nothing is timed."""
    if lab.sim:
        raise Skipped("needs a GPU")
    if not lab.prof:
        raise Skipped("no prof")
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(PROGRAMS)) as pool:
        waiting = {name: pool.submit(traced, lab, name) for name in PROGRAMS}
    rows, found = [], {}
    for name, future in waiting.items():
        try:
            program = future.result()
        except (RuntimeError, OSError, ValueError) as reason:  # of one program; the others are still checked
            step.note(f"{name}: {reason}")
            continue
        found[name] = program
        same_behaviour(step, program.plain, program.recorded)
        rows.append(shares(step, name, program))
    if not rows:
        raise Skipped("none of the programs runs here")
    step.table("Launches with a call stack", ["program", "launches", "with a stack (%)", "with their own Python (%)",
                                              "with Python, seams joined (%)", "distinct stacks", "native frames, median", "Python"], rows)
    for name, program in found.items():
        if program.nodes:
            captured_by_code(step, name, program.nodes)
    for name, seam in ((EAGER, "[run_by_backward"), (JOINED, "[forward_of_")):
        if name in found:
            joined(step, name, seam, found[name].folded)
    if JOINED in found:
        keep(lab, step, found[JOINED])


def traced(lab, name):
    """Runs the program without and with the recorder."""
    script, *arguments = PROGRAMS[name]
    command = [lab.python, os.path.join(APPS_FOLDER, script), *arguments]
    _, env = app_command(lab, "jax" if name == "JAX" else "pytorch_eager")
    plain = lab.run(command, env=lab.env(**env), timeout=150)
    if plain.status != 0 and env.pop("XLA_FLAGS", None):  # flags come and go between versions
        plain = lab.run(command, env=lab.env(**env), timeout=150)
    if plain.status != 0:
        raise RuntimeError(f"does not run here without the recorder either: {plain.stderr.strip()[-200:]}")
    folder = lab.fresh("stacks", re.sub(r"\W+", "_", name))
    recorded = lab.run(command, env=lab.recorded_env(folder, PROF_STACKS="all", **env), timeout=150)
    logs = lab.logs(folder)
    if not logs:
        raise RuntimeError(f"no log, status {recorded.status}: {recorded.stderr.strip()[-200:]}")
    answer = lab.run_prof(["report", "stacks", "--metric", "launches", "--format", "folded", logs[0]], timeout=120)
    nodes = []
    if "graph" in name or "overhead" in name:
        nodes = [row for row in rows_of(lab, "graph-nodes", logs[:1]) if row.get("runs") and row.get("kind") == "kernel"]
    return Traced(plain, recorded, logs[0], answer.stdout.splitlines(), nodes)


def python_share(folded):
    """(launches with a line of Python in their stack, launches)"""
    counts = [(PYTHON_FRAME.search(stack) is not None, int(count)) for stack, _, count in (line.rpartition(" ") for line in folded)]
    return sum(count for python, count in counts if python), sum(count for _, count in counts)


def joined(step, name, seam, folded):
    """Backward operators run on a thread without Python; the stacks of their launches continue at the call of
    backward(), or in the forward operator's stack."""
    launches = sum(int(line.rpartition(" ")[2]) for line in folded if seam in line)
    step.check(f"{name}: launches of autograd's thread whose stack continues after {seam}…", launches > 0, launches, "> 0")
    lost = collections.Counter()
    for line in folded:
        stack, _, count = line.rpartition(" ")
        if not PYTHON_FRAME.search(stack):
            lost[" ; ".join(stack.split(";")[-4:])[-160:]] += int(count)
    if lost:
        step.table(f"{name}: stacks without a line of Python, their last frames", ["frames", "launches"], lost.most_common(8))


def captured_by_code(step, name, nodes):
    """Replayed kernels, grouped by what is known about the call that captured them."""
    runs = sum(row["runs"] for row in nodes)
    python = sum(row["runs"] for row in nodes if PYTHON_PLACE.search(row.get("captured_code") or ""))
    ranges = sum(row["runs"] for row in nodes if row.get("captured_path"))
    either = sum(row["runs"] for row in nodes if row.get("captured_path") or PYTHON_PLACE.search(row.get("captured_code") or ""))
    code = sum(row["runs"] for row in nodes if row.get("captured_code"))
    step.check(f"{name}: replayed kernels whose capturing call has a line of code", code >= EXPECTED * runs, f"{code} of {runs}", "99 %")
    step.check(f"{name}: replayed kernels whose capturing call has a line of Python or a range", either > 0, f"{either} of {runs}", "> 0")
    step.table(f"{name}: replayed kernels, by their capturing call", ["with", "runs", "%"],
               [(what, count, f"{100 * count / runs:.1f}") for what, count in (("a line of Python", python), ("an NVTX path", ranges),
                                                                               ("either", either), ("a line of any code", code))])
    places = collections.Counter()
    for row in nodes:
        places[row.get("captured_code") or "(none)"] += row["runs"]
    step.table(f"{name}: lines that captured them", ["line", "runs"], [(place[:120], count) for place, count in places.most_common(6)])


def keep(lab, step, program):
    """A flame graph and the folded stacks, stored with the results."""
    for report, file, options in (("flame", "pytorch.flame.html", []), ("stacks", "pytorch.folded", ["--format", "folded"])):
        to = os.path.join(lab.out, file)
        answer = lab.run_prof(["report", report, "--metric", "gpu-time", *options, program.log, "-o", to, "--force"], timeout=120)
        size = os.path.getsize(to) if os.path.exists(to) else 0
        step.check(f"{file}: of a few megabytes at most", answer.status == 0 and 0 < size <= MAX_PAGE_BYTES, f"{size} bytes, status {answer.status}", MAX_PAGE_BYTES)


def shares(step, name, program):
    log = plog.Log(program.log)
    stacks, launches, meta = {}, collections.Counter(), {}
    for _, record in log.records():
        kind = type(record).__name__
        if kind == "stack":
            stacks[record.id] = record
        elif kind in ("kernel_launch", "memory_launch", "graph_launch"):
            launches[record.stack] += 1
        elif kind == "meta":
            meta[record.key.decode()] = record.value.decode(errors="replace")
    total = sum(launches.values())
    with_stack = total - launches[0]
    with_python = sum(n for stack, n in launches.items() if stack in stacks and stacks[stack].python)
    step.check(f"{name}: launches with a stack", total and with_stack >= EXPECTED * total, f"{with_stack} of {total}", "99 %")
    step.check(f"{name}: some with lines of Python", with_python > 0, f"{with_python} of {total}", "> 0")
    with_joined, folded = python_share(program.folded)
    step.check(f"{name}: launches in prof report stacks", folded == total, folded, total)
    if name in (EAGER, JOINED):
        step.check(f"{name}: launches with a line of Python, their own or that of backward() or the forward operator", with_joined >= EXPECTED * total,
                   f"{with_joined} of {total}", "99 %")
    frames = sorted(len(stacks[stack].native) for stack in launches if stack in stacks)
    return (name, total, f"{100 * with_stack / max(1, total):.1f}", f"{100 * with_python / max(1, total):.1f}",
            f"{100 * with_joined / max(1, total):.1f}", len(stacks),
            frames[len(frames) // 2] if frames else "", meta.get("python", ""))


def stack_costs(lab, step):
    """The cost that stacks add to a PyTorch training step and to one operator, host side and GPU times enabled,
    together with torch.profiler's."""
    if lab.sim:
        raise Skipped("needs a GPU")

    def recorded(**options):
        folder = lab.fresh("stack_costs", "-".join(["log", *options.values()]))
        return lab.recorded_env(folder, PROF_CUPTI=lab.cupti, **options), folder
    chosen = {"plain": (lab.env(), None), "no stacks": recorded(PROF_STACKS="off"),
              "native stacks": recorded(PROF_STACKS="all", PROF_PYTHON="off"),
              "native and Python stacks": recorded(PROF_STACKS="all", PROF_PYTHON="auto"),
              "torch.profiler with_stack": (lab.env(), None)}
    script = os.path.join(APPS_FOLDER, "torch_app.py")

    def command(variant):
        return [lab.python, script, "serve", "--profile", "with_stack" if variant.startswith("torch.profiler") else "none"]
    rounds, steps, ops = 5, "20", "ops 5000"
    samples = Alternation(lab, step, "stack_costs", command, chosen).run(8, rounds, [steps, ops])
    ratios = cost_table(step, f"PyTorch MLP training step, {steps} steps a round", samples[steps], "wall_ns", "ms", per=1e6)
    found = ratios["native and Python stacks"][0]
    step.check("step with native and Python stacks and GPU times ÷ plain", found[0] <= MAX_STACKS_OVER_PLAIN,
               f"{found[0]:.3f} ({found[1]:.3f}–{found[2]:.3f})", MAX_STACKS_OVER_PLAIN)

    def of_sets(variant, key):
        return [statistics.median(values) for values in pick(samples[ops][variant], key)]
    step.table("One operator that launches one kernel, below 20 Python frames: host time in ns, medians over the sets",
               ["variant", "median", "99 %"], [(variant, *(f"{statistics.median(of_sets(variant, key)):,.0f}"
                                                            for key in ("median_ns", "p99_ns"))) for variant in samples[ops]])

    def added(variant, to, key="median_ns"):
        """Median over the sets, whose processes ran in turn, and the middle half of them."""
        more = sorted(a - b for a, b in zip(of_sets(variant, key), of_sets(to, key)))
        return statistics.median(more), more[len(more) // 4], more[-1 - len(more) // 4]
    native, python = added("native stacks", "no stacks"), added("native and Python stacks", "native stacks")
    log = lab.logs(chosen["native stacks"][1])[-1]
    frames, per_ns = native_frames(log), cycles_per_ns(log)
    of_difference(step, f"a native stack of that operator ({frames:.0f} frames), ns", native, 1, MAX_NATIVE_NS)
    if per_ns:
        of_difference(step, f"a native stack of that operator ({frames:.0f} frames), cycles of the TSC", native, per_ns, MAX_NATIVE_CYCLES)
    of_difference(step, "its Python frames, ns", python, 1, MAX_PYTHON_NS)

    sizes = {}
    for variant in ("no stacks", "native and Python stacks"):
        log = lab.logs(chosen[variant][1])[-1]
        launches = len(recorded_run.Run(log).launches)
        sizes[variant] = os.path.getsize(log) / launches
        step.figure(f"log, whole file ÷ launches: {variant}", sizes[variant], "bytes")
    more = sizes["native and Python stacks"] - sizes["no stacks"]
    step.check("bytes that stacks add to a launch, their definitions included", more <= MAX_STACK_BYTES, f"{more:.2f}", MAX_STACK_BYTES)


def of_difference(step, what, more, factor, limit):
    """This is a check only if processes differ by less than the searched difference, because otherwise it could only
    pass."""
    middle, low, high = (factor * value for value in more)
    found = f"{middle:.0f} (half of the sets {low:.0f}–{high:.0f})"
    if low > 0:
        step.check(what, middle <= limit, found, limit)
    else:
        step.note(f"{what}: {found}, limit {limit}: not resolvable, processes differ by more. Step native_stack measures it in one process.")


def cycles_per_ns(log):
    """Of the TSC, from the rate in the log; None if that is not the log's clock."""
    header = plog.Log(log)
    return header.ticks_per_second / 1e9 if header.clock == CLOCK_TSC else None


def native_stack(lab, step):
    """The cost that a native stack of about 30 frames adds to a launch. hook_bench times direct and hooked launches of
    the simulated driver in turn, in one process; the result is the difference between a hook with and without
    stacks."""
    bench, driver = lab._find_bin("hook_bench"), lab._find_bin("libcuda.so.1")
    if not bench or not driver:
        raise Skipped("no hook_bench with its simulated driver (--pack brings them along)")
    simulated = os.path.dirname(driver)
    added = {"launch_1": [], "stack_31": []}
    for _ in range(3):
        for case in added:
            folder = lab.fresh("native_stack", case)
            env = lab.recorded_env(folder, LD_LIBRARY_PATH=simulated, SIM_CLOCK="real", PROF_CUPTI=os.path.join(simulated, "libcupti.so.13"), PROF_GPU="off",
                                   PROF_DEPTH="counts", PROF_STACKS="launch" if case == "stack_31" else "off")
            answer = lab.run([bench, "--case", case], env=env, timeout=60)
            found = re.search(r"^#mean ([\d.]+)", answer.stdout, re.M)
            if answer.status != 0 or not found:
                raise RuntimeError(f"hook_bench --case {case}: status {answer.status}: {answer.stderr.strip()[-200:]}")
            added[case].append(float(found[1]))
    log = lab.logs(lab.path("native_stack", "stack_31"))[0]
    frames, per_ns = native_frames(log), cycles_per_ns(log)
    step.table("ns that a hook adds to a launch, three runs of each", ["case", "median", "least", "most"],
               [(case, f"{statistics.median(found):.1f}", min(found), max(found)) for case, found in added.items()])
    more = statistics.median(added["stack_31"]) - statistics.median(added["launch_1"])
    step.check("frames of the stack", frames >= 25, frames, "≥ 25")
    step.check("the runs distinguish a stack from none", min(added["stack_31"]) > max(added["launch_1"]), f"{min(added['stack_31'])} and {max(added['launch_1'])}", "apart")
    step.check("a native stack, ns", more <= MAX_NATIVE_NS, f"{more:.0f}", MAX_NATIVE_NS)
    if per_ns:
        step.check("a native stack, cycles of the TSC", more * per_ns <= MAX_NATIVE_CYCLES, f"{more * per_ns:.0f} at {per_ns:.3f} GHz", MAX_NATIVE_CYCLES)


def native_frames(path):
    """Median of the native frames of a log's launches."""
    frames, launched = {}, []
    for _, record in plog.Log(path).records():
        if type(record).__name__ == "stack":
            frames[record.id] = len(record.native)
        elif type(record).__name__ == "kernel_launch":
            launched.append(record.stack)
    found = [frames[stack] for stack in launched if stack in frames]
    return statistics.median(found) if found else 0
