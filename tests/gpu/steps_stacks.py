"""Steps about call stacks: what share of the launches of real programs has one, and a line of Python in it; what they cost."""
import collections
import os
import statistics

import plog
from lab import HERE, Skipped
from steps_overhead import Alternation, cost_table, pick
from steps_programs import same_behaviour

EXPECTED = 0.99
MAX_STACKS_OVER_PLAIN = 1.25
MAX_STACK_BYTES = 3  # a launch
MAX_NATIVE_CYCLES, MAX_PYTHON_NS = 1500, 300  # a launch
BACKWARD = """
import torch
net = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(4)]).cuda()
with torch.autograd.profiler.emit_nvtx():
    for _ in range(5):
        net(torch.ones(8, 64, device="cuda")).square().mean().backward()
torch.cuda.synchronize()
"""


def call_stacks(lab, step):
    """PyTorch eager and compiled into graphs, and CuPy, with a stack on every launch."""
    if lab.sim:
        raise Skipped("needs a GPU")
    programs = {"PyTorch eager": ["torch_app.py", "eager"], "PyTorch reduce-overhead": ["torch_app.py", "reduce_overhead"],
                "CuPy": ["cupy_app.py"]}
    rows = []
    for name, (script, *arguments) in programs.items():
        command = [lab.python, os.path.join(HERE, script), *arguments]
        plain = lab.run(command)
        if plain.status != 0:
            step.note(f"{name} does not run here without the recorder either.")
            continue
        folder = lab.fresh("stacks", name.replace(" ", "_"))
        same_behaviour(step, plain, lab.run(command, env=lab.recorded_env(folder, PROF_STACKS="all")))
        rows += [shares(step, name, log) for log in lab.logs(folder)[:1]]
    step.table("Launches with a call stack", ["program", "launches", "with a stack (%)", "with Python (%)", "distinct stacks",
                                              "native frames, median", "Python"], rows)
    forward_stacks(lab, step)


def forward_stacks(lab, step):
    """Backward operators run on a thread without Python; their launches go on in the stacks of their forward operators."""
    folder = lab.fresh("stacks", "backward")
    if lab.run([lab.python, "-c", BACKWARD], env=lab.recorded_env(folder, PROF_STACKS="all")).status != 0 or not lab.logs(folder):
        return step.note("PyTorch under emit_nvtx() does not run here.")
    done = lab.run_prof(["report", "stacks", "--metric", "launches", "--format", "folded", lab.logs(folder)[0]])
    seams = python = 0
    for line in done.stdout.splitlines():
        stack, _, count = line.rpartition(" ")
        outside, seam, _ = stack.partition("[forward_of_")
        seams += int(count) if seam else 0
        python += int(count) if seam and "<string>" in outside else 0
    step.check("launches of backward operators that go on in the forward operator's stack", seams >= 5 * 4, seams, "≥ 20")
    step.check("of these with its line of Python", seams and python >= EXPECTED * seams, f"{python} of {seams}", "99 %")


def shares(step, name, path):
    log = plog.Log(path)
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
    frames = sorted(len(stacks[stack].native) for stack in launches if stack in stacks)
    return (name, total, f"{100 * with_stack / max(1, total):.1f}", f"{100 * with_python / max(1, total):.1f}", len(stacks),
            frames[len(frames) // 2] if frames else "", meta.get("python", ""))


def stack_costs(lab, step):
    """What stacks add to a PyTorch training step and to one operator, host side and GPU times on, beside torch.profiler's."""
    if lab.sim:
        raise Skipped("needs a GPU")

    def recorded(**options):
        folder = lab.fresh("stack_costs", "-".join(["log", *options.values()]))
        return lab.recorded_env(folder, PROF_CUPTI=lab.cupti, **options), folder
    chosen = {"plain": (lab.env(), None), "no stacks": recorded(PROF_STACKS="off"),
              "native stacks": recorded(PROF_STACKS="all", PROF_PYTHON="off"),
              "native and Python stacks": recorded(PROF_STACKS="all", PROF_PYTHON="auto"),
              "torch.profiler with_stack": (lab.env(), None)}
    script = os.path.join(HERE, "torch_app.py")

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
        """Median over the sets, whose processes took turns, and the middle half of them."""
        more = sorted(a - b for a, b in zip(of_sets(variant, key), of_sets(to, key)))
        return statistics.median(more), more[len(more) // 4], more[-1 - len(more) // 4]
    native, python = added("native stacks", "no stacks"), added("native and Python stacks", "native stacks")
    frames = native_frames(lab.logs(chosen["native stacks"][1])[-1])
    step.check("a native stack of that operator, cycles of the TSC", native[0] * clock_ghz() <= MAX_NATIVE_CYCLES,
               f"{native[0] * clock_ghz():.0f} ({native[0]:.0f} ns, {native[1]:.0f}–{native[2]:.0f}; {frames:.0f} frames)",
               MAX_NATIVE_CYCLES)
    step.check("its Python frames, ns", python[0] <= MAX_PYTHON_NS, f"{python[0]:.0f} ({python[1]:.0f}–{python[2]:.0f})", MAX_PYTHON_NS)

    sizes = {}
    for variant in ("no stacks", "native and Python stacks"):
        log = lab.logs(chosen[variant][1])[-1]
        launches = len(plog.Run(log).launches)
        sizes[variant] = os.path.getsize(log) / launches
        step.figure(f"log, whole file ÷ launches: {variant}", sizes[variant], "bytes")
    more = sizes["native and Python stacks"] - sizes["no stacks"]
    step.check("bytes that stacks add to a launch, their definitions included", more <= MAX_STACK_BYTES, f"{more:.2f}", MAX_STACK_BYTES)


def clock_ghz():
    """What the kernel says the TSC runs at, or the processor."""
    with open("/proc/cpuinfo", encoding="utf-8") as facts:
        return max(float(line.split(":")[1]) for line in facts if line.startswith("cpu MHz")) / 1000


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
