"""A launch that the recorder repeats (PROF_REPEAT_KERNEL): the program's result is unchanged, and each repeat takes the
time of the launch, for every form of launch and for cuBLAS's kernels that take their work items from a counter."""
from lab import Skipped
from steps_peaks import LEAST_PRODUCT, rows

REPEATS = 200
LEAST_RATIO, MOST_RATIO = 0.9, 1.1  # time of a repeat ÷ time of the launch, for kernels that wait for a fixed time
LEAST_OF_PRODUCT = 0.75             # the same for a product, whose operands are in the cache when it is repeated

PRODUCT = """
import sys, torch
torch.manual_seed(1)
a = torch.randn(4096, 4096, device="cuda").to(getattr(torch, sys.argv[1]))
for _ in range(3):
    b = a @ a
torch.cuda.synchronize()
print(float(b.double().sum()))
"""


def repeated(lab, step, name, command, kernel, **more):
    """The row of bench-kernel of one repeated launch; None: there is no such kernel"""
    folder = lab.fresh(f"repeat_{name}")
    plain = lab.run(command, timeout=60)
    if plain.status != 0:
        raise Skipped(f"{name} does not run here: {plain.stderr.strip()[-300:]}")
    env = lab.recorded_env(folder, PROF_REPEAT_KERNEL=f"{kernel}={REPEATS}", PROF_ASSUME_IDEMPOTENT="1", **more)
    recorded = lab.run(command, env=env, timeout=60)
    step.check(f"{name}: output with a kernel repeated {REPEATS} times", (plain.status, plain.stdout) == (recorded.status, recorded.stdout),
               f"status {recorded.status}; {recorded.stdout.strip()[-100:]}; {recorded.stderr.strip()[-200:]}", f"as without: {plain.stdout.strip()[-100:]}")
    found = rows(lab, ["report", "bench-kernel", *lab.logs(folder)])
    if found:
        row = found[0]
        step.check(f"{name}: repeats with GPU times", row["repeats"] == REPEATS, row["repeats"], REPEATS)
        return row
    return None


def repeat_kernel(lab, step):
    if lab.sim:
        raise Skipped("needs a GPU")
    if not lab.prof:
        raise Skipped("no prof")
    table = []
    forms = [("a plain launch", "mixed", "spin_short"), ("a cooperative launch", "repeats", "in_step:2"), ("a cluster of blocks", "repeats", "in_cluster:2"),
             ("a launch that may begin early", "repeats", "early:2"), ("a kernel whose counter is cleared before it", "repeats", "take_items:2")]
    for name, program, kernel in forms:
        row = repeated(lab, step, kernel.partition(":")[0], [lab.program(program)], kernel)
        if row is None:
            step.check(f"{name}: repeated", False, "no row", "a row")
            continue
        ratio = row["median_ns"] / max(row["own_launch_ns"] or 0, 1)
        step.check(f"{name}: median of the repeats / own launch", LEAST_RATIO <= ratio <= MOST_RATIO, f"{ratio:.3f}", f"{LEAST_RATIO} to {MOST_RATIO}")
        table.append((row["name"][:60], row["repeats"], row["own_launch_ns"], row["min_ns"], row["median_ns"], row["max_ns"], "", "", ""))
    products(lab, step, table)
    step.table("prof report bench-kernel", ["kernel", "repeats", "own launch (ns)", "min", "med", "max", "TFLOP/s", "%", "FLOPs from"], table)


def products(lab, step, table):
    """Products of 4096 x 4096 matrices: on Hopper those of bf16 are nvjet kernels, launched with a cluster after a fill
    of 4 bytes."""
    for dtype, kernel in (("float32", "*gemm*:2"), ("bfloat16", "*nvjet*:2")):
        row = repeated(lab, step, f"product_{dtype}", [lab.python, "-c", PRODUCT, dtype], kernel, PROF_LIBS="1")
        if row is None:
            step.note(f"No product in {dtype} has a kernel that is called {kernel[:-2]} here.")
            continue
        ratio, percent = row["median_ns"] / max(row["own_launch_ns"] or 0, 1), row["flops_percent"] or 0
        step.check(f"product in {dtype}: median of the repeats / own launch", LEAST_OF_PRODUCT <= ratio <= MOST_RATIO, f"{ratio:.3f}",
                   f"{LEAST_OF_PRODUCT} to {MOST_RATIO}")
        step.check(f"product in {dtype}: rate of the repeats, % of the peak, FLOPs from the library call",
                   LEAST_PRODUCT <= percent <= 100 and row["from"] == "library", f"{percent:.1f}, {row['from']}", f"{LEAST_PRODUCT} to 100, library")
        table.append((row["name"][:60], row["repeats"], row["own_launch_ns"], row["min_ns"], row["median_ns"], row["max_ns"], row["tflops"], percent, row["from"]))
