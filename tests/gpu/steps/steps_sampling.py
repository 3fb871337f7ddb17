"""Hardware samples (PROF_SAMPLING) on a real GPU: memory traffic and use of tensor cores of kernels with known values,
on the clock of the kernels, and the cost."""
import statistics

import plog
from lab import Skipped
from log_checks import libprof_lines
from steps_devices import needs_two_gpus

ACTIVE = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"
TENSOR = "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed"
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
COPIED = 8 << 30  # bytes, by one copy_kernel


def read_samples(text, start, metrics):
    """[(begin, end, {metric: value})] of a counter_samples record, decoded from docs/log_format.md alone."""
    at = 0

    def varint():
        nonlocal at
        low = text[at]
        at += 1
        if low < 0x80:
            return low
        value, at = plog.long_varint(text, at, low)
        return value

    spans, length = [], 0
    for _ in range(varint()):
        start += varint()
        length += plog.unzigzag(varint())
        spans.append((start, start + length, {}))
        start += length
    for metric in metrics:
        places = plog.unzigzag(varint())
        for *_, values in spans:
            number = varint()
            if number:
                values[metric] = (number - 1) * 2.0 ** places
    return spans


class Sampled:
    """The content of a log: samples by time, kernels as (name, start, end), all on the GPU's clock."""

    def __init__(self, path):
        self.log = log = plog.Log(path)
        strings, kernels, sets, found, runs, self.meta = {}, {}, {}, [], [], {}
        for _, r in log.records():
            kind = type(r).__name__
            if kind == "string":
                strings[r.id] = strings.get(r.id, b"") + r.text
            elif kind == "gpu_kernel":
                kernels[r.id] = r.name
            elif kind == "meta":
                self.meta[r.key.decode()] = r.value.decode(errors="replace")
            elif kind == "sampled_set":
                sets[r.id] = r
            elif kind == "counter_samples":
                found.append(r)
            elif kind == "kernel_run":
                runs.append(r)
        self.sets = [(r.interval_ns, strings[r.metrics].decode().split("\n")) for r in sets.values()]
        self.kernels = sorted((r.start, r.start + r.duration, strings[kernels[r.kernel]].decode()) for r in runs)
        self.samples = sorted((sample for r in found for sample in read_samples(r.samples, r.start, strings[sets[r.set].metrics].decode().split("\n"))),
                              key=lambda sample: sample[0])

    def runs(self, name):
        return [(begin, end) for begin, end, kernel in self.kernels if name in kernel]

    def inside(self, begin, end):
        return [sample for sample in self.samples if begin <= sample[0] and sample[1] <= end]


def record(lab, name, command, **variables):
    folder = lab.fresh(f"sampling_{name}")
    done = lab.run(command, env=lab.recorded_env(folder, **variables), timeout=120)
    logs = lab.logs(folder)
    return done, Sampled(logs[0]) if logs else None


def sampling(lab, step):
    if lab.sim:
        raise Skipped("needs a GPU")
    program = lab.program("sampling")
    plain = lab.run([program, "cases"], timeout=120)
    if plain.status != 0:
        raise Skipped(f"the program does not run here: {plain.stderr.strip()[-200:]}")
    done, measured = record(lab, "cases", [program, "cases"], PROF_SAMPLING="overview", PROF_SAMPLING_INTERVAL="200us")
    if measured is None or measured.meta.get("sampling") != "on":
        raise Skipped(f"no samples here: {measured.meta.get('sampling') if measured else 'no log'}")
    step.figure("sets: interval (ns) and metrics", str(measured.sets))
    step.check("the program's output is unchanged", done.stdout == plain.stdout and done.status == 0, f"status {done.status}", "equal")
    step.check("nothing is printed on stderr", not libprof_lines(done.stderr), libprof_lines(done.stderr), "nothing")
    step.check("every kernel has its GPU time", len(measured.kernels) == 210 and measured.meta.get("gpu_times") == "on", len(measured.kernels), 210)
    for counter in ("sampling_overflows", "samples_unread", "sampling_unavailable", "gpu_clock_errors"):
        step.check(f"{counter} is 0", not measured.log.counters.get(counter, 0), measured.log.counters.get(counter, 0), 0)
    contents(step, measured)
    clock(step, measured)
    report(lab, step, measured)
    second_gpu(lab, step, program)
    overflow(lab, step, program)
    costs(lab, step, program)


def second_gpu(lab, step, program):
    """The same kernels on another GPU of the machine, selected in both ways; the samples are of the GPU that was
    used."""
    try:
        needs_two_gpus(lab)
    except Skipped as reason:
        return step.note(f"A second GPU: {reason}.")
    for name, number, visible in (("device 1", "1", {}), ("device 0 of CUDA_VISIBLE_DEVICES=1", "0", {"CUDA_VISIBLE_DEVICES": "1"})):
        done, measured = record(lab, "second", [program, "cases", number], PROF_SAMPLING="overview", PROF_SAMPLING_INTERVAL="200us", **visible)
        state = measured.meta.get("sampling") if measured else "no log"
        step.check(f"{name}: samples are taken", state == "on" and done.status == 0, f"{state}, status {done.status}", "on, status 0")
        if state == "on":
            contents(step, measured, f"{name}: ")


def contents(step, measured, where=""):
    """Bytes of each copy from the samples that overlap it, each weighted by its share inside; tensor cores in the
    middle of the other kernel."""
    for metric in (READ, WRITTEN):
        shares = []
        for begin, end in measured.runs("copy_kernel"):
            touched = [sample for sample in measured.samples if sample[1] > begin - 300_000 and sample[0] < end + 300_000]
            shares.append(sum(sample[2][metric] for sample in touched) / COPIED)
        step.check(f"{where}{metric} of each copy of 8 GiB, known = 1", len(shares) == 5 and all(abs(share - 1) < 0.03 for share in shares),
                   [f"{share:.4f}" for share in shares], "within 3 %")
    tensor = [sample[2][TENSOR] for begin, end in measured.runs("tensor_kernel") for sample in measured.inside(begin + 500_000, end - 1_500_000)]
    step.check(f"{where}tensor cores are active in a kernel of nothing else", len(tensor) > 50 and min(tensor) > 85, f"{len(tensor)} samples, least {min(tensor, default=0):.1f} %", "> 85 %")
    copying = [sample[2][TENSOR] for begin, end in measured.runs("copy_kernel") for sample in measured.inside(begin, end)]
    step.check(f"{where}and are not in a copy", copying and max(copying) < 1, f"most {max(copying, default=-1):.2f} %", "< 1 %")


def clock(step, measured):
    """Samples are on the kernels' clock: busy while a kernel runs the whole time, idle while none runs, and the edges
    fit."""
    long_runs = measured.runs("copy_kernel") + measured.runs("tensor_kernel")
    inside = [sample for begin, end in long_runs for sample in measured.inside(begin, end - 20_000)]
    step.check("samples inside a long kernel are busy", inside and sum(sample[2][ACTIVE] > 50 for sample in inside) >= 0.98 * len(inside),
               f"{sum(sample[2][ACTIVE] > 50 for sample in inside)} of {len(inside)}", "98 %")
    edges = sorted(measured.kernels)
    outside = [sample for sample in measured.samples if edges and edges[0][0] < sample[0] and sample[1] < edges[-1][1]
               and not any(begin - 20_000 < sample[1] and sample[0] < end + 20_000 for begin, end, _ in edges)]
    step.check("samples between kernels are idle", len(outside) > 100 and max(sample[2][ACTIVE] for sample in outside) < 5,
               f"{len(outside)} samples, most {max((sample[2][ACTIVE] for sample in outside), default=0):.2f} %", "< 5 %")
    errors = []
    for begin, end in long_runs:
        first = next((sample for sample in measured.samples if sample[0] <= begin < sample[1]), None)
        if first is None or first[1] > end:
            continue
        errors.append(first[1] - first[2][ACTIVE] / 100 * (first[1] - first[0]) - begin)
    step.check("starts of kernels by the share of their first sample, against their own times", len(errors) >= 8 and max(map(abs, errors)) < 10_000,
               f"{[round(error) for error in errors]} ns", "10 us")
    gaps = [b[0] - a[1] for a, b in zip(measured.samples, measured.samples[1:])]
    step.check("samples follow each other without a gap", gaps and max(gaps) <= 1 and min(gaps) >= -1, f"{min(gaps, default=0)} to {max(gaps, default=0)} ns", "1 ns")


def report(lab, step, measured):
    if not lab.prof:
        return
    answer = lab.run_prof(["report", "sampling", measured.log.path]).stdout
    step.note(answer)
    rows = {line.split()[-1]: line for line in answer.splitlines() if line.strip()}
    step.check("prof report sampling has the kernels, and reports the shortest as too short", "copy_kernel" in rows and "tensor_kernel" in rows
               and "too short" in rows.get("empty_kernel", ""), sorted(rows)[:12], "rows")


def overflow(lab, step, program):
    """An interval that is too short to keep up with: lost samples are counted, and the program is not affected."""
    done, measured = record(lab, "overflow", [program, "loop", "200000"], PROF_SAMPLING="overview", PROF_SAMPLING_INTERVAL="5us")
    step.check("at 5 us the program ends as ever", done.status == 0 and measured is not None, f"{done.status} {done.stderr.strip()[-200:]}", 0)
    if measured is not None:
        step.figure("samples, overflows at 5 us", f"{len(measured.samples)}, {measured.log.counters.get('sampling_overflows', 0)}")
        step.check("GPU times are complete at 5 us", len(measured.kernels) == 200100, len(measured.kernels), 200100)


def costs(lab, step, program):
    """In turn: recorded without and with samples."""
    rows = {"plain": [], "recorded": [], "sampled 1 ms": [], "sampled 200 us": []}
    variables = {"plain": None, "recorded": {}, "sampled 1 ms": {"PROF_SAMPLING": "overview", "PROF_SAMPLING_INTERVAL": "1ms"},
                 "sampled 200 us": {"PROF_SAMPLING": "overview", "PROF_SAMPLING_INTERVAL": "200us"}}
    for _ in range(5):
        for name, extra in variables.items():
            env = lab.env() if extra is None else lab.recorded_env(lab.fresh("sampling_loop"), **extra)
            words = lab.run([program, "loop", "40000"], env=env, timeout=60).stdout.split()
            if len(words) == 4:
                rows[name].append((float(words[1]), float(words[3])))
    medians = {name: [statistics.median(column) for column in zip(*values)] for name, values in rows.items() if values}
    step.table("us per launch of an empty kernel, us per copy of 64 MiB (medians of 5, in alternation)", ["", "launch", "copy"],
               [(name, *(f"{value:.3f}" for value in values)) for name, values in medians.items()])
    if len(medians) == 4:
        ratios = [medians["sampled 200 us"][i] / medians["recorded"][i] for i in (0, 1)]
        step.check("samples every 200 us compared with recording without: per launch, per copy", ratios[0] < 1.15 and ratios[1] < 1.02,
                   f"{ratios[0]:.3f}, {ratios[1]:.3f}", "1.15, 1.02")
