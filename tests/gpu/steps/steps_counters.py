"""Hardware counters (PROF_COUNTERS) on a real GPU: operations and bytes of kernels with known values, each launch with
its own, and programs unchanged."""
import collections
import csv
import io
import os
import shutil
import struct

import plog
from lab import APPS_FOLDER, Skipped
from log_checks import libprof_lines

# Why a launch may have no values: loss counters of the log.
REASONS = ("captured", "skipped", "failed", "no_session", "dropped", "unread")
VECTOR = {f"sm__sass_thread_inst_executed_op_{kind}_pred_on.sum": weight
          for kind, weight in (("fadd", 1), ("fmul", 1), ("ffma", 2), ("dadd", 1), ("dmul", 1), ("dfma", 2), ("hadd", 1), ("hmul", 1), ("hfma", 2))}
FFMA = "sm__sass_thread_inst_executed_op_ffma_pred_on.sum"
HFMA = "sm__sass_thread_inst_executed_op_hfma_pred_on.sum"

# name: of the kernel or range, "graph", or None if no launch or range is at that moment
Row = collections.namedtuple("Row", "tid moment values name")


class Measured:
    """The content of a log: rows of values, launches that succeeded, cases (NVTX ranges)."""

    def __init__(self, path):
        self.log = log = plog.Log(path)
        strings, functions, configs, labels, tids, self.sets, self.meta = {}, {}, {}, {}, {}, {}, {}
        work, found, open_ranges = {}, [], collections.defaultdict(list)
        self.ranges, self.launches, self.kernel_runs = [], 0, 0
        for block, r in log.records():
            kind = type(r).__name__
            if kind == "string":
                strings[r.id] = strings.get(r.id, b"") + r.text
            elif kind == "function":
                functions[r.id] = r.name
            elif kind == "config":
                configs[r.id] = r.function
            elif kind == "nvtx_label":
                labels[r.id] = r.text
            elif kind == "thread":
                tids[r.thread] = r.tid
            elif kind == "meta":
                self.meta[r.key.decode()] = r.value.decode(errors="replace")
            elif kind == "counter_set":
                self.sets[r.id] = r
            elif kind == "counter_values":
                found.append(r)
            elif kind == "kernel_run":
                self.kernel_runs += 1
            elif kind in ("kernel_launch", "graph_launch"):
                self.launches += r.result == 0
                work[block.thread, 0, r.end] = ("config", r.config) if kind == "kernel_launch" else ("graph", 0)
            elif kind == "nvtx_push":
                work[block.thread, 1, r.time] = ("label", r.label)
                open_ranges[block.thread].append(r)
            elif kind == "nvtx_pop" and open_ranges[block.thread]:
                push = open_ranges[block.thread].pop()
                self.ranges.append((block.thread, push.time, r.time, push.label))

        def text(string):
            return strings.get(string, b"?").decode(errors="replace")

        def name(what):
            if what is None or what[0] == "graph":
                return what and "graph"
            return text(labels.get(what[1])) if what[0] == "label" else text(functions.get(configs.get(what[1])))

        threads = {tid: thread for thread, tid in tids.items()}
        self.ranges = [(tids.get(thread), begin, end, text(labels.get(label))) for thread, begin, end, label in self.ranges]
        self.rows = []
        for r in found:
            metrics = text(self.sets[r.set].metrics).split("\n")
            values = dict(zip(metrics, struct.unpack(f"<{len(metrics)}d", r.values)))
            self.rows.append(Row(r.tid, r.moment, values, name(work.get((threads.get(r.tid), r.scope, r.moment)))))
        self.reasons = {reason: log.counters.get(f"counters_{reason}", 0) for reason in REASONS}

    def inside(self, tid, begin, end):
        return [row for row in self.rows if row.tid == tid and begin <= row.moment <= end]


def record(lab, name, command, timeout=300, **variables):
    folder = lab.fresh(f"counters_{name}")
    done = lab.run(command, env=lab.recorded_env(folder, **variables), timeout=timeout)
    logs = lab.logs(folder)
    return done, Measured(logs[0]) if logs else None


def add(rows):
    total = collections.Counter()
    for row in rows:
        total.update(row.values)
    return total


def flops(values):
    tensor = sum(value for metric, value in values.items() if metric.startswith("sm__ops_path_tensor_src_"))
    return tensor + sum(weight * values.get(metric, 0) for metric, weight in VECTOR.items())


def account(step, what, measured):
    """Every launch that succeeded has values or a counted reason."""
    missing = sum(measured.reasons.values())
    step.check(f"{what}: launches have values, or a reason is counted", measured.launches == len(measured.rows) + missing,
               f"{measured.launches} launches, {len(measured.rows)} with values, {measured.reasons}", "equal")
    step.check(f"{what}: each row of values belongs to one launch", all(row.name for row in measured.rows),
               sum(1 for row in measured.rows if not row.name), 0)


def counters(lab, step):
    if lab.sim:
        raise Skipped("needs a GPU")
    program = lab.program("counters")
    plain = lab.run([program, "cases"], timeout=120)
    if plain.status != 0:
        raise Skipped(f"cuBLAS does not run here: {plain.stderr.strip()[-200:]}")
    if not cases(lab, step, program, plain):
        return
    memory(lab, step, program, plain)
    threads(lab, step, program)
    ranges(lab, step, program)
    killed(lab, step, program)
    costs(lab, step, program)
    refused(lab, step, program)
    torch(lab, step)
    nsight(lab, step, program)


def cases(lab, step, program, plain):
    """roofline, which needs several passes: operations of products and of multiply-adds."""
    done, measured = record(lab, "cases", [program, "cases"], PROF_COUNTERS="roofline")
    if measured is None or measured.meta.get("counters") != "on":
        raise Skipped(f"no hardware counters here: {measured.meta.get('counters') if measured else 'no log'}")
    passes = {entry.chip.decode(): entry.passes for entry in measured.sets.values()}
    step.figure("passes of the set roofline", str(passes))
    step.check("results are unchanged while kernels run several times", done.stdout == plain.stdout and done.status == plain.status,
               f"status {done.status}", "equal")
    step.check("nothing is printed on stderr", not libprof_lines(done.stderr), libprof_lines(done.stderr), "nothing")
    step.check("GPU activity is off", measured.kernel_runs == 0, measured.kernel_runs, 0)
    account(step, "roofline", measured)
    table = []
    for tid, begin, end, label in sorted(measured.ranges, key=lambda one: one[1]):
        words = label.split()
        if words[:1] != ["case"]:
            continue
        total, amount = add(measured.inside(tid, begin, end)), float(words[2])
        found = total["dram__bytes_read.sum"] if words[1].startswith("copy") else flops(total)
        table.append((words[1], f"{amount:.0f}", f"{found:.0f}", f"{found / amount:.4f}", len(measured.inside(tid, begin, end)),
                      ", ".join(f"{metric.split('src_')[-1].split('op_')[-1].removesuffix('.sum')}={value:.0f}" for metric, value in total.items()
                                if value and ("tensor" in metric or "sass" in metric))))
        if words[1].startswith("gemm") and "1000x1111x776" not in words[1]:
            step.check(f"operations of {words[1]}", abs(found / amount - 1) < 0.01, f"{found / amount:.4f} of 2mnk", "within 1 %")
        if words[1] == "fma_vector":
            step.check("operations of fma_vector", abs(found / amount - 1) < 0.01, f"{found / amount:.4f}", "within 1 %")
        if words[1] == "half2_vector":
            step.figure("operations of half2_vector for each hfma that is counted", amount / total[HFMA] if total[HFMA] else "none counted")
    step.table("Operations by case (bytes read, of copies)", ["case", "known", "measured", "measured ÷ known", "launches", "counters"], table)
    return True


def memory(lab, step, program, plain):
    """memory, one pass: bytes of copies, and the duration of a kernel without hardware counters."""
    done, measured = record(lab, "memory", [program, "cases"], PROF_COUNTERS="memory")
    step.check("results are unchanged with the set memory", done.stdout == plain.stdout, f"status {done.status}", "equal")
    account(step, "memory", measured)
    for tid, begin, end, label in measured.ranges:
        words = label.split()
        if not words[1:] or not words[1].startswith("copy"):
            continue
        total, amount = add(measured.inside(tid, begin, end)), float(words[2])
        for metric in ("dram__bytes_read.sum", "dram__bytes_write.sum"):
            step.check(f"{metric} of {words[1]}", abs(total[metric] / amount - 1) < 0.03, f"{total[metric] / amount:.4f}", "within 3 %")
        step.figure(f"gpu__time_duration of {words[1]}", total["gpu__time_duration.sum"] / 1000, "µs")


def threads(lab, step, program):
    """Two threads on two streams, and a graph: each launch has exactly its own multiply-adds; a launch of a graph has
    values if the set needs one pass."""
    done, measured = record(lab, "threads_memory", [program, "threads"], PROF_COUNTERS="memory")
    account(step, "threads, memory", measured)
    graphs = sum(row.name == "graph" for row in measured.rows)
    step.check("launches of a graph with values, one pass", graphs == 2, f"{graphs}; {measured.reasons}", 2)
    for set_name, what in ((FFMA, "one metric"), ("roofline", "several passes")):
        done, measured = record(lab, f"threads_{len(set_name)}", [program, "threads"], PROF_COUNTERS=set_name)
        step.check(f"status of the program, {what}", done.status == 0, f"{done.status} {done.stderr.strip()[-200:]}", 0)
        account(step, f"threads, {what}", measured)
        counts = collections.Counter((row.name, row.values.get(FFMA)) for row in measured.rows)
        own = [counts["fma_kernel", 256.0 * 256 * steps] for steps in (64, 192)]
        step.check(f"each launch has its own multiply-adds, {what}", own == [200, 200], f"{own} of {dict(counts.most_common(5))}", "[200, 200]")
        step.figure(f"reasons counted, {what}", str(measured.reasons))


def ranges(lab, step, program):
    _, measured = record(lab, "ranges", [program, "cases"], PROF_COUNTERS="memory", PROF_COUNTERS_OF="nvtx:case copy*")
    found = sorted(row.name or "" for row in measured.rows)
    wanted = sorted(label for *_, label in measured.ranges if label.startswith("case copy"))
    step.check("each range of the name has one row of values", found == wanted and len(found) == 2, found, wanted)
    for row in measured.rows:
        ratio = row.values["dram__bytes_read.sum"] / float(row.name.split()[2]) if row.name else 0
        step.check(f"bytes read in the range {row.name}", abs(ratio - 1) < 0.03, f"{ratio:.4f}", "within 3 %")


def killed(lab, step, program):
    _, measured = record(lab, "killed", [program, "killed", "500"], PROF_COUNTERS="memory", PROF_FLUSH="1")
    step.check("three seconds later a SIGKILL loses no values", measured is not None and len(measured.rows) == 500,
               measured and len(measured.rows), 500)


def costs(lab, step, program):
    def loop(name, launches, **variables):
        folder = lab.fresh(f"counters_loop_{name}")
        words = lab.run([program, "loop", str(launches)], env=lab.recorded_env(folder, **variables) if variables else lab.env(), timeout=200).stdout.split()
        return float(words[1]) if words else float("nan")
    rows = [("plain", loop("plain", 20000)), ("recorded", loop("recorded", 20000, PROF_GPU="on")), ("memory", loop("memory", 10000, PROF_COUNTERS="memory")),
            ("roofline", loop("roofline", 100, PROF_COUNTERS="roofline"))]
    step.table("µs per launch of an empty kernel, in a loop", ["", "µs"], [(name, f"{value:.2f}") for name, value in rows])
    step.check("a launch with the set memory stays below 150 µs", rows[2][1] < 150, f"{rows[2][1]:.1f}", "150 µs")


def refused(lab, step, program):
    done, measured = record(lab, "unknown", [program, "loop", "200"], PROF_COUNTERS="no_such_metric")
    step.check("an unknown metric is named, and GPU times are recorded instead", "no_such_metric is not a metric of this chip" in done.stderr
               and measured.kernel_runs >= 200, f"{libprof_lines(done.stderr)}, {measured.kernel_runs} kernel runs", ">= 200")
    done, measured = record(lab, "suffix", [program, "loop", "200"], PROF_COUNTERS="dram__bytes_read.no_such_suffix")
    step.check("an unknown suffix is named", "dram__bytes_read.no_such_suffix has a suffix that is none" in done.stderr, libprof_lines(done.stderr), "said")
    if lab.prof:
        answer = lab.run_prof(["record", "--counters", "list:0"])
        listed = answer.stdout
        step.check("the metrics of this GPU are listed", "  dram__bytes_read " in listed and len(listed.splitlines()) > 1000 and answer.status == 0,
                   f"{len(listed.splitlines())}; status {answer.status} {answer.stderr.strip()[-200:]}", "> 1000 lines")


def torch(lab, step):
    script = [lab.python, os.path.join(APPS_FOLDER, "torch_app.py"), "eager", "--steps", "1"]
    plain = lab.run(script, timeout=120)
    if plain.status != 0:
        step.note("PyTorch does not run here")
        return
    for set_name in ("memory", "roofline"):
        done, measured = record(lab, f"torch_{set_name}", script, PROF_COUNTERS=set_name)
        step.check(f"PyTorch's output is unchanged, {set_name}", done.status == 0 and done.stdout == plain.stdout, f"status {done.status}; {done.stderr.strip()[-200:]}", "equal")
        if measured is not None:
            account(step, f"PyTorch, {set_name}", measured)
            step.figure(f"PyTorch, {set_name}: rows of values, and seconds (plain {plain.seconds:.1f})", f"{len(measured.rows)}, {done.seconds:.1f}")


def nsight(lab, step, program):
    """Nsight Compute on the same program, if it is installed: sums over the products."""
    ncu = shutil.which("ncu")
    if not ncu:
        step.note("no ncu here to compare with")
        return
    metrics = ("sm__ops_path_tensor_src_bf16_dst_fp32.sum", FFMA, "dram__bytes_read.sum")
    answer = lab.run([ncu, "--csv", "--metrics", ",".join(metrics), program, "cases"], timeout=300)
    lines = [line for line in answer.stdout.splitlines() if line.startswith('"')]
    theirs, kernels = collections.Counter(), set()
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        scale = {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}.get(row.get("Metric Unit"), 1)
        theirs[row["Metric Name"]] += float(row["Metric Value"].replace(",", "")) * scale
        kernels.add(row["ID"])
    if not kernels:
        step.note(f"ncu reports nothing: {answer.stderr.strip()[-200:]}")
        return
    _, measured = record(lab, "ncu", [program, "cases"], PROF_COUNTERS=",".join(metrics))
    ours = add(measured.rows)
    step.check("kernels, as ncu counts them", len(measured.rows) == len(kernels), f"{len(measured.rows)} against {len(kernels)}", "equal")
    for metric in metrics:
        ratio = ours[metric] / theirs[metric] if theirs[metric] else 0
        step.check(f"{metric}, all launches, against ncu", abs(ratio - 1) < (0.05 if "dram" in metric else 0.01), f"{ratio:.4f}", "1 % (bytes: 5 %)")
