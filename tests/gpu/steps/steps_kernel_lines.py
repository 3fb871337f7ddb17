"""PC samples of kernels with a known reason on a known line, of kernels whose source is Python, and of kernels without
source; and their cost in a PyTorch training step."""
import collections
import os

import stats
from lab import APPS_FOLDER, PROGRAMS_FOLDER, Skipped
from log_checks import tables_of
from steps_overhead import Alternation, cost_table, interval, pick
from steps_pc_sampling import density, record

MAX_STEP_WITH_PC_SAMPLES = 1.03
# Kernel: the reasons that its warps must have, and the least share of them of the kernel's samples. On its line: they
# are sampled on the marked line, or `prof` names that line as what they wait for.
KINDS = {
    "bank_conflict_kernel": (("short_scoreboard", "mio_throttle"), 0.6),
    "barrier_kernel": (("barrier",), 0.6),
    "divergent_kernel": (("branch_resolving",), 0.2),
    "tensor_kernel": (("math_pipe_throttle",), 0.25),
    "latency_kernel": (("wait",), 0.5),
    "bandwidth_kernel": (("long_scoreboard",), 0.6),
}


def places(lab, log, kernel):
    """{offset: row} of `prof report sass`."""
    answer = lab.run_prof(["report", "sass", kernel, log, "--format", "json", "--limit", "0"])
    return {int(row["pc_offset"], 16): row for table in tables_of(answer.stdout) for row in table.get("rows", [])}


def shares(lab, measured, kernel, mark, source):
    """(reason -> share of the kernel's samples; the same on the marked line, of the whole kernel if none is marked;
    what that line waits for)"""
    with open(source, encoding="utf-8") as file:
        line = next((i for i, text in enumerate(file, 1) if mark in text), None)
    place = f"{os.path.basename(source)}:{line}"
    rows = places(lab, measured.log.path, kernel)
    whole, here, causes = collections.Counter(), collections.Counter(), collections.Counter()
    for (offset, reason), cycles in measured.functions[kernel].items():
        reason = reason.rsplit("issue_stalled_", 1)[-1]
        if reason.endswith("_not_issued"):
            continue
        whole[reason] += cycles
        row = rows.get(offset, {})
        cause = row.get("stall_cause") or ""
        if line is None or (row.get("source") or "").endswith(place) or cause.endswith(f" at {place}"):
            here[reason] += cycles
            if cause:
                causes[cause] += cycles
    cycles = max(sum(whole.values()), 1)
    return {reason: n / cycles for reason, n in whole.most_common()}, {reason: n / cycles for reason, n in here.items()}, causes


def text_of(parts):
    return ", ".join(f"{name} {share:.3f}" for name, share in sorted(parts.items(), key=lambda part: -part[1])[:6])


def stall_kinds(lab, step):
    if lab.sim:
        raise Skipped("needs a GPU")
    program = lab.program("stall_kinds")
    plain = lab.run([program], timeout=120)
    if plain.status != 0:
        raise Skipped(f"the program does not run here: {plain.stderr.strip()[-200:]}")
    done, measured = record(lab, "kinds", [program])
    step.check("the program's output is unchanged", done.stdout == plain.stdout and done.status == 0, f"status {done.status}", "equal")
    if measured is None or "pc_sampling" in measured.meta:
        raise Skipped(f"no PC samples here: {measured.meta.get('pc_sampling') if measured else 'no log'}")
    for kernel, (reasons, least) in KINDS.items():
        whole, here, causes = shares(lab, measured, kernel, f"// here: {kernel}", os.path.join(PROGRAMS_FOLDER, "stall_kinds.cu"))
        found = sum(here.get(reason, 0) for reason in reasons)
        step.check(f"{kernel}: {' or '.join(reasons)} on its line", found >= least, f"{found:.3f} of its samples", f">= {least}")
        step.figure(f"{kernel}: all reasons", text_of(whole))
        step.figure(f"{kernel}: reasons on its line", text_of(here))
        step.figure(f"{kernel}: the line waits for", ", ".join(cause for cause, _ in causes.most_common(3)) or "-")
    # All of them have warps on each multiprocessor: one sample of each in every period, whatever the period is.
    rates = {kernel: density(measured, kernel)[0] for kernel in KINDS}
    step.figure("samples x cycles of the period for each ns", ", ".join(f"{kernel} {rate:.0f}" for kernel, rate in rates.items()))
    spread = max(rates.values()) / max(min(rates.values()), 1e-9)
    step.check("kernels that use all multiprocessors have as many samples for their time, with all periods", spread < 1.4, f"{spread:.3f}", "< 1.4")
    answer = lab.run_prof(["report", "stalls", "advise", measured.log.path])
    step.check("stalls and advise answer", answer.status == 0, answer.stderr.strip()[-300:] or "yes")
    print(answer.stdout[:6000], flush=True)


def kernel_lines(lab, step):
    """Triton, torch.compile and a graph lead to lines of Python; cuBLAS to offsets."""
    if lab.sim:
        raise Skipped("needs a GPU")
    script = os.path.join(APPS_FOLDER, "kernel_lines_app.py")
    with open(script, encoding="utf-8") as file:
        line = next(i for i, text in enumerate(file, 1) if "# here: the loop" in text)
    for mode in ("triton", "graph", "inductor", "cublas"):
        part = step.named(mode)
        command = [lab.python, script, mode]
        plain = lab.run(command, timeout=120)
        if plain.status != 0:
            part.note(f"does not run here: {plain.stderr.strip()[-300:]}")
            continue
        done, measured = record(lab, f"lines_{mode}", command, PROF_STACKS="launch")
        part.check("the program's output is unchanged", done.stdout == plain.stdout and done.status == 0, f"{done.status} {done.stdout.strip()}", plain.stdout.strip())
        if measured is None:
            part.check("a log", False, "none")
            continue
        answer = lab.run_prof(["report", "hot-lines", measured.log.path, "--format", "json", "--limit", "0"])
        rows = [row for table in tables_of(answer.stdout) for row in table.get("rows", []) if row.get("source")]
        whole = sum(row["pc_samples"] for row in rows)
        part.figure("lines by samples", ", ".join(f"{os.path.basename(row['source'])} {row['pc_samples']} of {row['in_kernels'][:60]}"
                                                  for row in sorted(rows, key=lambda row: -row["pc_samples"])[:6]))
        part.check("samples", whole > 1000, whole, "> 1000")

        def share(accept):
            return sum(row["pc_samples"] for row in rows if accept(row)) / max(whole, 1)
        if mode in ("triton", "graph"):  # libdevice's code is inlined; its lines are its own
            in_loop = share(lambda row: row["source"].endswith(f"kernel_lines_app.py:{line}") or f"kernel_lines_app.py:{line}" in (row["inlined"] or ""))
            part.check("the line of the loop, in Python", in_loop > 0.8, f"{in_loop:.3f}", "> 0.8")
        elif mode == "inductor":
            generated = share(lambda row: ".py:" in row["source"] and row["in_kernels"].startswith("triton_"))
            part.check("lines of the generated Python source", generated > 0.8, f"{generated:.3f}", "> 0.8")
        else:
            offsets = share(lambda row: "+0x" in row["source"])
            part.check("closed kernels have offsets", offsets > 0.9, f"{offsets:.3f}", "> 0.9")
        flame = lab.run_prof(["report", "flame", "--lines", "--format", "folded", measured.log.path])
        part.check("flame --lines answers", flame.status == 0 and flame.stdout.strip() != "", flame.stderr.strip()[-200:] or f"{len(flame.stdout.splitlines())} stacks", "stacks")
        if mode == "graph":
            captured = sum(int(text.rsplit(" ", 1)[-1]) for text in flame.stdout.splitlines() if "capture_here" in text and "chain_kernel" in text)
            total = sum(int(text.rsplit(" ", 1)[-1]) for text in flame.stdout.splitlines() if "chain_kernel" in text)
            part.check("flame --lines has the capturing line above the kernel's lines", captured > 0.5 * total > 0, f"{captured} of {total}", "half")
        if mode == "cublas":
            name = next((row["in_kernels"] for row in sorted(rows, key=lambda row: -row["pc_samples"])), "")
            listing = lab.run_prof(["report", "sass", name, measured.log.path, "--format", "json", "--limit", "0"])
            with_text = sum(bool(row.get("instruction")) for table in tables_of(listing.stdout) for row in table.get("rows", []))
            part.check("sass lists the closed kernel's instructions", with_text > 100, with_text, "> 100")
        advice = lab.run_prof(["report", "advise", measured.log.path])
        print(f"---- {mode}\n{advice.stdout[:2500]}\n{flame.stdout[:1500]}", flush=True)


def pytorch_pc_samples(lab, step):
    """A PyTorch training step with GPU times, with PC samples and without, in turn."""
    if lab.sim:
        raise Skipped("needs a GPU")
    def recorded(**options):
        return lab.recorded_env(lab.fresh("pytorch_pc", "-".join(["log", *options])), PROF_CUPTI=lab.cupti, **options), None
    chosen = {"plain": (lab.env(), None), "full": recorded(), "full, PC samples": recorded(PROF_PC_SAMPLING="auto")}
    command = [lab.python, os.path.join(APPS_FOLDER, "torch_app.py"), "serve"]
    rounds, steps = 40, 5
    samples = Alternation(lab, step, "pytorch_pc", lambda variant: command, chosen).run(6, rounds, [str(steps)], lab.pytorch_seconds, 2)[str(steps)]
    cost_table(step, f"PyTorch MLP training step, {rounds} rounds a process of {steps} steps; the intervals are between processes",
               samples, "wall_ns", "ms", per=1e6, ratio=stats.ratio_of_processes)
    if "full" in samples and "full, PC samples" in samples:
        found = stats.ratio_of_processes(pick(samples["full, PC samples"], "wall_ns"), pick(samples["full"], "wall_ns"))
        result = stats.verdict(found, MAX_STEP_WITH_PC_SAMPLES)
        step.check("with PC samples / without", result == "pass", f"{interval(found)}: {result}", f"all of the 95 % interval <= {MAX_STEP_WITH_PC_SAMPLES}")
