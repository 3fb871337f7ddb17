"""How fast this GPU really is: products, a copy and attention compared with the device's peaks, and the rates that
`prof devices --measure` reaches."""
import json
import os

from lab import APPS_FOLDER, Skipped

# Percent of the datasheet that large products and copies reach, with a margin for clock rates; nothing may exceed 100.
LEAST_PRODUCT, LEAST_BANDWIDTH = 50, 75


def rows(lab, words):
    answer = lab.run_prof([*words, "--format", "json"], timeout=120)
    if answer.status not in (0, 1):
        raise RuntimeError(f"prof {' '.join(words[:2])}: status {answer.status}: {answer.stderr.strip()[-300:]}")
    return json.loads(answer.stdout)["rows"]


def copy_percent(lab, trace, device):
    """A copy inside the device is not a kernel: it is in `prof report copies`, and transfers its bytes twice."""
    copies = [row for row in rows(lab, ["report", "copies", trace]) if row["direction"] == "DtoD"]
    moved = 2 * max((row["bandwidth_gb_per_s"] for row in copies), default=0)
    return 100 * moved / device["bandwidth_gbs"]


def peaks(lab, step):
    """FLOPs and bytes computed from shapes, exactly; rates between those that such kernels reach and the peak."""
    if lab.sim:
        raise Skipped("needs a GPU")
    if not lab.prof:
        raise Skipped("no prof")
    folder = lab.fresh("peaks")
    os.makedirs(folder, exist_ok=True)
    done = lab.run([lab.python, os.path.join(APPS_FOLDER, "peaks_app.py"), folder], timeout=400)
    if done.status != 0:
        raise Skipped(f"torch.profiler makes no trace here: {done.stderr.strip()[-300:]}")
    trace = os.path.join(folder, "peaks.json")
    device = rows(lab, ["devices", trace])[0]
    step.check("the device is known", device["from"] == "table", f"{device['trace_name']}: {device['from']}", "table")
    by_op = {row["name"]: row for row in rows(lab, ["report", "roofline", trace, "--group-by", "shape"])}
    table = []
    for name, row in sorted(by_op.items()):
        table.append((name[:70], row["kernels"], f"{row['tflops'] or 0:.1f}", f"{row['flops_percent'] or 0:.1f}", f"{row['gb_per_s'] or 0:.0f}",
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


def datasheet(lab, answer):
    """The table row with which prof itself compares the first measured GPU, according to its note; None: the GPU is
    unknown."""
    begin = f"{answer['rows'][0]['name']}: of the peaks of "
    for note in answer["notes"]:
        if note.startswith(begin):
            return next((row for row in rows(lab, ["devices"]) if note[len(begin):].startswith(row["name"] + ": ")), None)
    return None


def measured_peaks(lab, step):
    """The results of prof devices --measure are between the rates that such a GPU reaches and its datasheet; the GPU is
    in the table."""
    if lab.sim:
        raise Skipped("needs a GPU")
    store = os.path.join(lab.fresh("measured_peaks"), "rows")
    done = lab.run_prof(["devices", "--measure", "--store", store, "--format", "json"], timeout=200)
    if done.status not in (0, 1):
        raise RuntimeError(f"prof devices --measure: status {done.status}: {done.stderr.strip()[-300:]}")
    answer = json.loads(done.stdout)
    measured = answer["rows"][0]
    known = datasheet(lab, answer)
    step.check("everything is measured", done.status == 0, f"status {done.status}; {'; '.join(answer['notes'])[-300:]}", "status 0")
    if known is None:
        raise Skipped(f"{measured['name']} is none of the known GPUs")
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
