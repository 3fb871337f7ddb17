"""PC samples (PROF_PC_SAMPLING) on a real GPU: kernels whose time is at known places, modules that come and go, a
program that samples PCs itself, and the cost."""
import collections
import os
import statistics
import struct

import plog
import recorded_run
from lab import PROGRAMS_FOLDER, Skipped
from log_checks import libprof_lines, tables_of
from steps_cupti_samples import built_alone
from steps_devices import needs_two_gpus

MAGIC = 0x534E494255434250


class Sampled:
    """The content of a log: samples by function as {(offset, reason): samples × cycles of the period}."""

    def __init__(self, path):
        self.log = log = plog.Log(path)
        strings, self.meta, reasons, self.cubins = {}, {}, {}, {}
        self.batches, records, self.kernels = [], [], 0
        for _, r in log.records():
            kind = type(r).__name__
            if kind == "string":
                strings[r.id] = strings.get(r.id, b"") + r.text
            elif kind == "meta":
                self.meta[r.key.decode()] = r.value.decode(errors="replace")
            elif kind == "stall_reasons":
                reasons[r.context] = r.names
            elif kind == "cubin":
                self.cubins[r.id] = r
            elif kind == "pc_batch":
                self.batches.append(r)
            elif kind == "pc_samples":
                records.append(r)
            elif kind == "kernel_run":
                self.kernels += 1
        self.functions = collections.defaultdict(collections.Counter)
        self.cubins_of = collections.defaultdict(set)
        self.entries, self.samples, self.ambiguous = 0, 0, 0
        self.taken = collections.Counter()  # by time of the batch: samples, each with one reason
        for r in records:
            names = strings[reasons[r.context]].decode().split("\n")
            function = strings.get(r.function, b"").decode()
            self.cubins_of[function].add(r.cubin)
            for place, samples in zip(r.places, r.samples):
                self.functions[function][(place >> 6, names[place & 63])] += samples << r.period
                self.entries += 1
                self.samples += samples
                # "X_not_issued" counts those of X in whose cycle nothing was issued.
                self.taken[r.time] += 0 if names[place & 63].endswith("_not_issued") else samples
                self.ambiguous += samples if r.flags & 1 else 0

    def share(self, function, part):
        """of the samples of a function, those for which part(offset, reason) is true"""
        entries = self.functions[function]
        return sum(n for (offset, reason), n in entries.items() if part(offset, reason)) / max(sum(entries.values()), 1)

    def kept(self):
        path = f"{self.log.path}.cubins"
        if not os.path.exists(path):
            return {}
        with open(path, "rb") as file:
            data = file.read()
        magic, _, count = struct.unpack_from("<QII", data)
        entries = [struct.unpack_from("<QQQ", data, 16 + 24 * i) for i in range(count)] if magic == MAGIC else []
        return {crc: data[offset:offset + size] for crc, offset, size in entries}


def record(lab, name, command, **variables):
    folder = lab.fresh(f"pc_sampling_{name}")
    done = lab.run(command, env=lab.recorded_env(folder, **{"PROF_PC_SAMPLING": "auto", **variables}), timeout=180)
    logs = [log for log in lab.logs(folder) if str(log).endswith(".plog")]
    return done, Sampled(logs[0]) if logs else None


def pc_sampling(lab, step):
    if lab.sim:
        raise Skipped("needs a GPU")
    program = lab.program("pc_sampling")
    plain = lab.run([program, "cases"], timeout=120)
    if plain.status != 0:
        raise Skipped(f"the program does not run here: {plain.stderr.strip()[-200:]}")
    done, measured = record(lab, "cases", [program, "cases"])
    if measured is None or "pc_sampling" in measured.meta:
        raise Skipped(f"no PC samples here: {measured.meta.get('pc_sampling') if measured else 'no log'}")
    step.check("the program's output is unchanged", done.stdout == plain.stdout and done.status == 0, f"status {done.status}", "equal")
    step.check("nothing is printed on stderr", not libprof_lines(done.stderr), libprof_lines(done.stderr), "nothing")
    known_answers(step, measured)
    lines(lab, step, measured.log.path)
    second_gpu(lab, step, program)
    unloads(lab, step, program, measured)
    own(lab, step, program)
    refused(lab, step, program)
    costs(lab, step, program)


def known_answers(step, measured):
    counters = measured.log.counters
    for counter in ("pc_sampling_unavailable", "pc_buffer_full", "pc_samples_dropped", "pc_samples_ambiguous", "pc_unloads_late", "pc_cubins_not_kept"):
        step.check(f"{counter} is 0", not counters.get(counter, 0), counters.get(counter, 0), 0)
    step.figure("periods", sorted({batch.period for batch in measured.batches}))
    step.figure("samples, entries, time of the helper thread and of cubins (ms)",
                f"{measured.samples}, {measured.entries}, {counters.get('pc_read_ns', 0) / 1e6:.1f}, {counters.get('pc_cubin_ns', 0) / 1e6:.1f}")
    totals = [(batch.total - batch.dropped - batch.non_user, measured.taken[batch.time]) for batch in measured.batches if batch.total]
    step.figure("batches, of them with a total of CUPTI", f"{len(measured.batches)}, {len(totals)}")
    step.check("where CUPTI gives a total, it is the samples of the entries", totals and all(total == taken for total, taken in totals), totals, "equal")
    waits = measured.share("memory_kernel", lambda _, reason: "long_scoreboard" in reason)
    step.check("a kernel of dependent loads waits for memory", waits > 0.8, f"{waits:.3f}", "> 0.8")
    lines = collections.Counter()
    for (offset, _), samples in measured.functions["loops_kernel"].items():
        lines[offset] += samples
    places = sorted(lines)
    step.figure("loops_kernel: samples by offset", dict(sorted(lines.items())))
    cuts = [sum(lines[place] for place in places[:i]) / sum(lines.values()) for i in range(1, len(places))]
    step.check("two loops of 90 and 10 % of the time: an offset divides the samples so", any(abs(cut - 0.9) < 0.02 for cut in cuts),
               [f"{cut:.3f}" for cut in cuts], "0.9 within 0.02")
    for function in ("graph_kernel", "jit_kernel"):
        step.check(f"{function} has samples", sum(measured.functions[function].values()) > 0, sum(measured.functions[function].values()), "> 0")
    contents = measured.kept()
    with_samples = {cubin.crc for cubin in measured.cubins.values() if cubin.kept}
    step.check("the file of cubins has each cubin with samples, as ELF", set(contents) == with_samples and all(data[:4] == b"\x7fELF" for data in contents.values()),
               {hex(crc): len(data) for crc, data in contents.items()}, {hex(crc) for crc in with_samples})
    step.check("each function's name is in its cubin", all(any(function.encode() in contents.get(measured.cubins[cubin].crc, b"") for cubin in cubins if cubin)
                                                          for function, cubins in measured.cubins_of.items() if function), sorted(measured.cubins_of), "in the file")


def lines(lab, step, log):
    """prof report hot-lines: the lines of the loops and of the loads, of pc_sampling.cu."""
    if not lab.prof:
        return
    with open(os.path.join(PROGRAMS_FOLDER, "pc_sampling.cu"), encoding="utf-8") as file:
        source = file.read().splitlines()
    wanted = {what: next(i for i, line in enumerate(source, 1) if text in line)
              for what, text in (("the long loop", "0f3f000000"), ("the short loop", "0f3e800000"), ("the loads", "at = next[at];"))}
    answer = lab.run_prof(["report", "hot-lines", log, "--format", "json", "--limit", "0"])
    rows = [row for table in tables_of(answer.stdout) for row in table.get("rows", []) if row.get("source")]
    of_line = collections.Counter()
    for row in rows:
        of_line[(row["in_kernels"], row["source"])] += row["pc_samples"]
    step.figure("hot-lines: samples by kernel and line", {f"{kernel}, {line}": n for (kernel, line), n in of_line.most_common(12)})

    def share(kernel, *kinds):
        whole = sum(n for (name, _), n in of_line.items() if name.startswith(kernel))
        return sum(n for (name, line), n in of_line.items()
                   if name.startswith(kernel) and any(line.endswith(f"pc_sampling.cu:{wanted[kind]}") for kind in kinds)) / max(whole, 1)
    step.check("hot-lines: the loads have the samples of memory_kernel", share("memory_kernel", "the loads") > 0.8, f"{share('memory_kernel', 'the loads'):.3f}", "> 0.8")
    # A loop's own counting is on the line before.
    neighbours = {f"{kind}, its loop": wanted[kind] - 1 for kind in ("the long loop", "the short loop")}
    wanted.update(neighbours)
    long, short = (share("loops_kernel", kind, f"{kind}, its loop") for kind in ("the long loop", "the short loop"))
    step.check("hot-lines: two loops of 90 and 10 % of the time", abs(long - 0.9) < 0.03 and abs(short - 0.1) < 0.03, f"{long:.3f}, {short:.3f}", "0.9, 0.1 within 0.03")


def second_gpu(lab, step, program):
    try:
        needs_two_gpus(lab)
    except Skipped as reason:
        return step.note(f"A second GPU: {reason}.")
    done, measured = record(lab, "second", [program, "cases", "1"])
    found = sorted(measured.functions) if measured else "no log"
    step.check("device 1 is sampled", done.status == 0 and measured is not None and "memory_kernel" in measured.functions, found, "memory_kernel")


def density(measured, prefix):
    """Samples × cycles of the period, for each ns of the kernels of that name; and the number of these kernels."""
    run = recorded_run.Run(measured.log.path)
    took = [operation[2] for operation in run.operations
            if operation[0] == "kernel" and run.kernel_names.get(operation[5], "").startswith(prefix)]
    cycles = sum(n for function, entries in measured.functions.items() if function.startswith(prefix)
                 for (_, reason), n in entries.items() if not reason.endswith("_not_issued"))
    return cycles / max(sum(took), 1), len(took)


def unloads(lab, step, program, cases):
    """1,000 modules that are loaded and unloaded: no sample has the cubin of another kernel."""
    # At a fixed period: auto samples more rarely if each unload needs a read.
    done, measured = record(lab, "unloads", [program, "unloads", "1000"], PROF_PC_SAMPLING="2^16")
    step.check("the program ends as ever", done.status == 0 and done.stdout == "unloaded\n", f"{done.status} {done.stderr.strip()[-200:]}", 0)
    if measured is None:
        return
    counters = measured.log.counters
    step.figure("unloads: late, ambiguous samples, samples", f"{counters.get('pc_unloads_late', 0)}, {measured.ambiguous}, {measured.samples}")
    contents = measured.kept()
    wrong = [function for function, cubins in measured.cubins_of.items() if function.startswith("unloaded_")
             for cubin in cubins if cubin and function.encode() + b"\0" not in contents.get(measured.cubins[cubin].crc, function.encode() + b"\0")]
    step.check("no sample has the cubin of another kernel", not wrong or measured.ambiguous > 0, wrong[:5], "none")
    (found, kernels), (expected, _) = density(measured, "unloaded_"), density(cases, "jit_kernel")
    step.check("unloaded modules have as many samples for their time as one that stays", 0.8 < found / max(expected, 1) < 1.25,
               f"{found / max(expected, 1):.3f}, {kernels} kernels", "0.8 to 1.25")
    step.check("most of the 50 kernels have samples", sum(function.startswith("unloaded_") for function in measured.functions) >= 45,
               sum(function.startswith("unloaded_") for function in measured.functions), ">= 45")


def own(lab, step, program):
    plain = lab.run([program, "own"], timeout=120)
    done, measured = record(lab, "own", [program, "own"])
    step.check("a program that samples PCs itself gets samples", plain.status == 0 and "samples some" in plain.stdout, f"{plain.status} {plain.stdout}", "some")
    step.check("with libprof.so it gets what it gets alone", done.stdout == plain.stdout and done.status == plain.status,
               done.stdout.strip().replace("\n", ", "), plain.stdout.strip().replace("\n", ", "))
    if measured is not None:
        step.check("libprof's samples ended before", measured.log.counters.get("pc_sampling_yields", 0) == 1, measured.meta.get("pc_sampling"), "yielded")


def refused(lab, step, program):
    """Options that exclude PC samples: GPU times are as without."""
    done, measured = record(lab, "refused", [program, "loop", "2000"], PROF_SAMPLING="overview")
    step.check("PROF_SAMPLING excludes PC samples, with a reason", done.status == 0 and measured is not None and not measured.batches,
               measured.meta.get("pc_sampling") if measured else "no log", "a reason")


def costs(lab, step, program):
    """In turn: plain, recorded without and with PC samples."""
    variables = {"plain": None, "recorded": {}, "PC samples auto": {"PROF_PC_SAMPLING": "auto"}, "PC samples 2^14": {"PROF_PC_SAMPLING": "2^14"}}
    rows = {name: [] for name in variables}
    for _ in range(5):
        for name, extra in variables.items():
            env = lab.env() if extra is None else lab.recorded_env(lab.fresh("pc_sampling_loop"), **extra)
            words = lab.run([program, "loop", "40000"], env=env, timeout=60).stdout.split()
            if len(words) == 4:
                rows[name].append((float(words[1]), float(words[3])))
    medians = {name: [statistics.median(column) for column in zip(*values)] for name, values in rows.items() if values}
    step.table("us per launch of an empty kernel, us per kernel that waits for memory (medians of 5, in alternation)", ["", "launch", "kernel"],
               [(name, *(f"{value:.3f}" for value in values)) for name, values in medians.items()])
    if len(medians) == 4:
        launch = medians["PC samples auto"][0] - medians["recorded"][0]
        kernel = medians["PC samples auto"][1] / medians["recorded"][1]
        step.check("PC samples compared with recording without: us more per launch, ratio per kernel", launch < 0.7 and kernel < 1.01, f"{launch:.3f}, {kernel:.4f}", "0.7, 1.01")


def pc_rules(lab, step):
    """CUPTI alone: which calls of PC sampling, and flushes of activity records, end while other threads launch, what is
    recorded then, and how long they take. On these rules depend when libprof.so flushes and ends samples."""
    if lab.sim:
        raise Skipped("needs a GPU")
    program = built_alone(lab, step, "pc_rules")
    env = lab.env(**({"CUPTI_BASELINE_LIB": lab.cupti} if lab.cupti else {}))
    rows, found = [], {}
    for mode in ("read", "flush", "restart", "disable"):
        for run in range(2):
            done = lab.run([program, mode, "5"], env=env, timeout=25)
            words = done.stdout.split() if done.status == 0 else []
            found.setdefault(mode, []).append({name: int(value) for name, value in zip(words[::2], words[1::2])})
            failed = f"status {done.status} {done.stderr.strip()[-200:]}"
            if done.status is None:
                failed = "does not end in 25 s"
            rows.append((mode, run + 1, done.stdout.strip() or failed))
    step.table("Calls beside four threads that launch", ["mode", "run", "found"], rows)
    for mode in ("read", "flush"):
        step.check(f"mode {mode} ends, with a record of every kernel and with samples",
                   all(run and run["recorded"] == run["launched"] and run["samples"] > 0 for run in found[mode]),
                   found[mode], "equal numbers")
