"""Steps about call stacks: what share of the launches of real programs has one, and a line of Python in it."""
import collections
import os

import plog
from lab import HERE, Skipped
from steps_programs import same_behaviour

EXPECTED = 0.99
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
