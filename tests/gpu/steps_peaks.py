"""How fast is this GPU really, and does `prof diff` see what it should? Products, a copy and attention against the device's peaks, and ten
pairs of runs with and without one slower kernel."""
import json
import os

from lab import HERE, Skipped

# Of the datasheet: what large products and copies reach, with room for clocks; and nothing may be above it.
LEAST_PRODUCT, LEAST_BANDWIDTH = 50, 75
PAIRS = 10


def rows(lab, words):
    answer = lab.run_prof([*words, "--format", "json"], timeout=120)
    if answer.status not in (0, 1):
        raise RuntimeError(f"prof {' '.join(words[:2])}: status {answer.status}: {answer.stderr.strip()[-300:]}")
    return json.loads(answer.stdout)["rows"]


def copy_percent(lab, trace, device):
    """A copy inside the device is no kernel: it is in `prof report copies`, and moves its bytes twice."""
    copies = [row for row in rows(lab, ["report", "copies", trace]) if row["direction"] == "DtoD"]
    moved = 2 * max((row["bandwidth_gb_per_s"] for row in copies), default=0)
    return 100 * moved / device["bandwidth_gbs"]


def peaks(lab, step):
    """FLOPs and bytes worked out from shapes, exactly; rates between what such kernels reach and the peak."""
    if lab.sim:
        raise Skipped("needs a GPU")
    if not lab.prof:
        raise Skipped("no prof")
    folder = lab.fresh("peaks")
    os.makedirs(folder, exist_ok=True)
    done = lab.run([lab.python, os.path.join(HERE, "peaks_app.py"), folder], timeout=400)
    if done.status != 0:
        raise Skipped(f"torch.profiler makes no trace here: {done.stderr.strip()[-300:]}")
    trace = os.path.join(folder, "peaks.json")
    device = rows(lab, ["devices", trace])[0]
    step.check("the device is known", device["from"] == "table", f"{device['trace_name']}: {device['from']}", "table")
    by_op = {row["name"]: row for row in rows(lab, ["report", "roofline", trace, "--group-by", "shape"])}
    table = []
    for name, row in sorted(by_op.items()):
        table.append((name[:70], row["kernels"], f"{row['attained_tflops'] or 0:.1f}", f"{row['flops_percent'] or 0:.1f}", f"{row['gb_per_s'] or 0:.0f}",
                      f"{row['bandwidth_percent'] or 0:.1f}", row["bound"] or ""))
    step.table("prof report roofline --group-by shape", ["operator", "kernels", "TFLOP/s", "% of peak", "GB/s", "% of bandwidth", "bound"], table)
    product = next((row for name, row in by_op.items() if name.startswith("aten::mm") and "8192" in name), None)
    elementwise = next((row for name, row in by_op.items() if name.startswith("aten::mul")), None)
    flops = product["flops_percent"] if product else 0
    step.check("product of 8192 x 8192 matrices, % of the peak", bool(product) and LEAST_PRODUCT <= flops <= 100, f"{flops:.1f}",
               f"{LEAST_PRODUCT} to 100")
    for what, percent in (("elementwise kernel over 1 GiB", (elementwise["bandwidth_percent"] or 0) if elementwise else 0),
                          ("copy of 1 GiB, read and written", copy_percent(lab, trace, device))):
        step.check(f"{what}, % of the bandwidth", LEAST_BANDWIDTH <= percent <= 100, f"{percent:.1f}", f"{LEAST_BANDWIDTH} to 100")
    found = {side: 0 for side in ("same", "slow")}
    alone = 0
    for run in range(PAIRS):
        for side in found:
            words = ["diff", os.path.join(folder, f"run_{side}_{run}.json"), "--vs", os.path.join(folder, f"run_old_{run}.json"), "--fail-if", "slower:2%"]
            found[side] += lab.run_prof(words, timeout=60).status == 3
            if side == "slow":
                slower = [row["name"] for row in rows(lab, words[:4]) if row["verdict"] == "slower"]
                alone += len(slower) == 1 and "spin" in slower[0]
    step.check("a kernel that is 5 % slower is found", found["slow"] == PAIRS, found["slow"], PAIRS)
    step.check("and nothing else is", alone == PAIRS, alone, PAIRS)
    step.check("unchanged runs raise no alarm", found["same"] == 0, found["same"], 0)


def measured_peaks(lab, step):
    """What prof devices --measure finds lies between what such a GPU reaches and its datasheet; the GPU is one of the table."""
    if lab.sim:
        raise Skipped("needs a GPU")
    store = os.path.join(lab.fresh("measured_peaks"), "rows")
    done = lab.run_prof(["devices", "--measure", "--store", store, "--format", "json"], timeout=200)
    if done.status not in (0, 1):
        raise RuntimeError(f"prof devices --measure: status {done.status}: {done.stderr.strip()[-300:]}")
    answer = json.loads(done.stdout)
    measured = answer["rows"][0]
    known = next((row for row in rows(lab, ["devices"]) if row["name"] == measured["name"]), None)
    step.check("everything is measured", done.status == 0, f"status {done.status}; {'; '.join(answer['notes'])[-300:]}", "status 0")
    if known is None:
        raise Skipped(f"{measured['name']} has no row of that name to compare with")
    table = []
    for key, least in (("bandwidth_gbs", LEAST_BANDWIDTH), ("fp64_matrix", 50), ("fp32", 50), ("tf32", LEAST_PRODUCT), ("fp16", LEAST_PRODUCT),
                       ("bf16", LEAST_PRODUCT), ("int8", 40)):
        if not known[key] or not measured[key]:
            continue
        percent = 100 * measured[key] / known[key]
        table.append((key, f"{measured[key]:.1f}", f"{known[key]:.1f}", f"{percent:.1f}"))
        step.check(f"{key}, % of the datasheet's", least <= percent <= 100, f"{percent:.1f}", f"{least} to 100")
    step.table("Measured ceilings", ["what", "measured", "datasheet", "%"], table)
    with open(store, encoding="utf-8") as file:
        step.table("Rows as kept", ["line"], [(line.strip(),) for line in file])


PRODUCT = """
import torch
torch.manual_seed(1)
a = torch.randn(4096, 4096, device="cuda")
for _ in range(3):
    b = a @ a
torch.cuda.synchronize()
print(float(b.double().sum()))
"""


def repeat_kernel(lab, step):
    """A launch that the recorder repeats: the program's answer stays, the repeats take what the launch took, and a product's rate is one that such a
    product reaches."""
    if lab.sim:
        raise Skipped("needs a GPU")
    folder = lab.fresh("repeat_kernel")
    recorded = lab.run([lab.program("mixed")], env=lab.recorded_env(folder, PROF_REPEAT_KERNEL="spin_short=100", PROF_ASSUME_IDEMPOTENT="1"), timeout=60)
    plain = lab.run([lab.program("mixed")], timeout=60)
    step.check("a program's output, with a kernel repeated 100 times", (plain.status, plain.stdout) == (recorded.status, recorded.stdout),
               f"status {recorded.status}; {recorded.stderr.strip()[-200:]}", "as without")
    found = rows(lab, ["report", "bench-kernel", *lab.logs(folder)])
    row = found[0] if found else {"repeats": 0, "med_ns": 0, "own_launch_ns": 0}
    step.check("repeats with GPU times", row["repeats"] == 100, row["repeats"], 100)
    ratio = row["med_ns"] / max(row["own_launch_ns"] or 0, 1)
    step.check("median of the repeats / own launch, of a kernel that waits 20 us", 0.9 <= ratio <= 1.1, f"{ratio:.3f}", "0.9 to 1.1")
    plain = lab.run([lab.python, "-c", PRODUCT], timeout=120)
    if plain.status != 0:
        raise Skipped(f"PyTorch does not run here: {plain.stderr.strip()[-300:]}")
    table = []
    for libs in ("1", "0"):
        folder = lab.fresh(f"repeat_product_{libs}")
        recorded = lab.run([lab.python, "-c", PRODUCT], env=lab.recorded_env(folder, PROF_REPEAT_KERNEL="*gemm*:2=100", PROF_ASSUME_IDEMPOTENT="1", PROF_LIBS=libs),
                           timeout=120)
        step.check(f"PyTorch's answer, PROF_LIBS={libs}", plain.stdout == recorded.stdout, f"{plain.stdout.strip()}, {recorded.stdout.strip()}", "equal")
        for row in rows(lab, ["report", "bench-kernel", *lab.logs(folder)]):
            table.append((row["name"][:60], row["repeats"], row["own_launch_ns"], row["min_ns"], row["med_ns"], row["max_ns"], row["tflops"], row["flops_percent"], row["from"]))
    step.table("prof report bench-kernel, product of 4096 x 4096 in fp32", ["kernel", "repeats", "own launch (ns)", "min", "med", "max", "TFLOP/s", "%", "FLOPs from"], table)
    if not table:
        raise Skipped("the product's kernel has no gemm in its name here")
    percent = table[0][7] or 0
    step.check("rate of the repeats, % of the peak, FLOPs from library calls", LEAST_PRODUCT <= percent <= 100, f"{percent:.1f}", f"{LEAST_PRODUCT} to 100")
