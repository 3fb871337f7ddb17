#!/usr/bin/env python3
"""PC samples on the simulated GPU (programs/counters/pc_samples.cpp): each case runs the program under libprof.so and
compares the sums by cubin, function, offset and reason with what the script gives each run of a kernel.

Usage: pc_sampling.py CASE --prof PROF --libprof LIBPROF --sim FOLDER --program PROGRAM
       pc_sampling.py --list"""
import argparse
import collections
import csv
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

SCRIPT = "pc work 16 14 8; pc work 48 14 2; pc work 48 36 1; pc other 0 20 5; pc last 4096 2 3"
WORK = {(16, 14): 8, (48, 14): 2, (48, 36): 1}
FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+)')
MAGIC = 0x534E494255434250


class Log:
    def __init__(self, prof, path):
        self.path, self.records, self.counters, self.facts = path, [], {}, {}
        done = subprocess.run([prof, "dump", path], capture_output=True, text=True)
        self.damage, self.text = done.stderr.strip(), done.stdout
        strings, self.cubins = {}, {}
        for line in done.stdout.splitlines():
            kind, _, rest = line.partition(" ")
            fields = {key: value.strip('"') for key, value in FIELD.findall(rest)}
            if kind == "counter":
                key, value = (fields["name"], fields["value"]) if "name" in fields else rest.replace("=", " ").split()[:2]
                self.counters[key] = int(value)
            elif kind == "string":
                strings[fields["id"]] = fields.get("text", "")
            elif kind == "meta":
                self.facts[fields["key"]] = fields.get("value", "")
            elif kind == "cubin":
                self.cubins[fields["id"]] = fields
            self.records.append((kind, fields))
        self.batches = [fields for kind, fields in self.records if kind == "pc_batch"]
        self.reasons = [fields for kind, fields in self.records if kind == "stall_reasons"]
        self.sums, self.ambiguous = collections.Counter(), collections.Counter()
        for kind, fields in self.records:
            if kind != "pc_samples":
                continue
            numbers = lambda name: [int(n, 0) for n in re.findall(r"\w+", fields[name])]
            assert len(numbers("places")) == len(numbers("samples")), fields
            for place, samples in zip(numbers("places"), numbers("samples")):
                cubin = self.cubins.get(fields["cubin"], {"crc": "0", "bytes": "0"})
                key = (int(cubin["bytes"], 0), strings[fields["function"]], place >> 6, place & 63)
                (self.ambiguous if fields.get("flags", "0") != "0" else self.sums)[key] += samples

    def kept(self):
        """contents by checksum of the file of cubins; None: there is none"""
        path = pathlib.Path(str(self.path) + ".cubins")
        if not path.exists():
            return None
        check("cubins are private", path.stat().st_mode & 0o777, 0o600)
        data = path.read_bytes()
        magic, version, count = struct.unpack_from("<QII", data)
        check("file of cubins", (magic, version), (MAGIC, 1))
        entries = [struct.unpack_from("<QQQ", data, 16 + 24 * i) for i in range(count)]
        return {crc: data[offset:offset + size].decode() for crc, offset, size in entries}


def check(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}:\n  found  {found}\n  wanted {wanted}")


def times(name, cubin, count, of=None):
    of = of or {"work": WORK, "other": {(0, 20): 5}, "last": {(4096, 2): 3}}[name]
    return {(len(cubin), name, offset, reason): samples * count for (offset, reason), samples in of.items()}


class Run:
    def __init__(self, options, case, env, status=0):
        self.options, self.folder = options, pathlib.Path(options.folder)
        for old in self.folder.iterdir():
            old.unlink()
        environment = dict(os.environ, LD_PRELOAD=options.libprof, LD_LIBRARY_PATH=options.sim, PROF_SYMBOL_CACHE="off",
                           PROF_CUPTI=f"{options.sim}/libcupti.so.13", PROF_OUTPUT=str(self.folder),
                           PROF_PC_SAMPLING="2^16", SIM=SCRIPT)
        environment.update(env)
        done = subprocess.run([options.program, case], env=environment, capture_output=True, text=True, timeout=120)
        self.stdout, self.stderr = done.stdout, done.stderr
        check(f"status ({self.stderr})", done.returncode, status)
        self.logs = [Log(options.prof, path) for path in sorted(self.folder.glob("*.plog"), key=lambda p: p.stat().st_mtime)]
        for log in self.logs:
            check("damage", log.damage, "")

    def one(self):
        check("logs", len(self.logs), 1)
        return self.logs[0]

    def report(self, *words):
        """the rows of a report"""
        answer = subprocess.run([self.options.prof, "report", *words, "--format", "csv", self.one().path], capture_output=True, text=True)
        check(f"status of {words} ({answer.stderr})", answer.returncode, 0)
        return list(csv.DictReader(answer.stdout.splitlines()))

    def coverage(self):
        done = subprocess.run([self.options.prof, "check", *[log.path for log in self.logs]], capture_output=True, text=True)
        return done.stdout + done.stderr

    def covers(self, text):
        line = self.coverage()
        if text not in line:
            sys.exit(f"no '{text}' in\n{line}")


def healthy(log, **others):
    for name in ("pc_sampling_unavailable", "pc_samples_dropped", "pc_buffer_full", "pc_unloads_late", "pc_samples_ambiguous",
                 "pc_cubins_not_kept", "pc_sampling_yields"):
        check(name, log.counters.get(name, 0), others.get(name, 0))


def plain(run):
    one, two = "the first cubin", "the second, longer cubin"
    done = run("plain")
    log = done.one()
    check("samples", dict(log.sums), {**times("work", one, 10), **times("other", two, 5)})
    check("period", {batch["period"] for batch in log.batches}, {"16"})
    check("total", sum(int(batch["total"]) for batch in log.batches), 135)
    check("cubins", sorted(log.kept().values()), [one, two])
    check("fact", log.facts.get("pc_sampling"), None)
    check("reasons", len(log.reasons), 1)
    if "smsp__pcsamp_warps_issue_stalled_long_scoreboard" not in log.text:
        sys.exit("no names of reasons")
    healthy(log)
    check("kernels", log.text.count("\nkernel_run "), 16)
    done.covers("PC samples 135, with instruction 135")
    check("files", sorted(path.suffix for path in done.folder.iterdir()), [".cubins", ".plog"])
    rows = done.report("stalls")
    check("kernels", {row["Name"]: (row["PC samples"], row["Launches"]) for row in rows}, {"work": ("110", "10"), "other": ("25", "5")})
    check("stalls", {row["Name"]: row["Samples that"] for row in rows},
          {"work": "90.9 % wait for global or local memory, 9.1 % wait for a fixed latency",
           "other": "100.0 % wait for the queue of shared memory"})
    for row in rows:  # the simulator's cubins are texts
        if "cubin 0x" not in row["Note"]:
            sys.exit(f"no reason: {row}")
    rows = done.report("sass", "work")
    check("instructions", [(row["Offset"], row["PC samples"]) for row in rows], [("0x0010", "80"), ("0x0030", "30")])


def period(run):
    """Samples are twice as many with half the period."""
    done = run("plain", PROF_PC_SAMPLING="2^15")
    check("samples", sum(done.one().sums.values()), 270)
    check("period", {batch["period"] for batch in done.one().batches}, {"15"})


def off(run):
    log = run("refused", PROF_PC_SAMPLING="off").one()
    check("samples", (log.batches, log.cubins, log.facts.get("pc_sampling")), ([], {}, None))
    check("cubins", log.kept(), None)


def callback(run):
    """The program's callback is called, and CUPTI gets its checksum."""
    done = run("callback")
    log = done.one()
    check("output", done.stdout, "registered 0\ncalled enough\n")
    check("checksums", sorted(int(cubin["crc"], 0) for cubin in log.cubins.values()), [0x1000 + 15, 0x1000 + 24])
    check("samples", sum(log.sums.values()), 135)
    check("cubins", set(log.kept()), {0x1000 + 15, 0x1000 + 24})


def contexts(run):
    log = run("contexts").one()
    second = "a cubin of the second context"
    check("samples", {key: n for key, n in log.sums.items() if key[1] != "other"},
          {**times("work", "a cubin", 4), **times("last", "another cubin", 2)})
    others = sum(n for key, n in log.sums.items() if key[:2] == (len(second), "other"))
    if others not in (30, 35):  # the launch before the context was sampled
        sys.exit(f"samples of the second context: {others}")
    check("reasons", len(log.reasons), 2)
    healthy(log)


def reset(run):
    log = run("reset").one()
    check("samples", {key: n for key, n in log.sums.items() if key[1] == "work"}, times("work", "a cubin", 4))
    others = sum(n for key, n in log.sums.items() if key[1] == "other")
    if others not in (30, 35):
        sys.exit(f"samples after the reset: {others}")
    healthy(log)


def unloads(run):
    """No sample has the cubin of another module, although each module has the place of the one before."""
    log = run("unloads").one()
    runs = {}
    cubin_of = {int(cubin["crc"], 0): cubin for cubin in log.cubins.values()}
    by_cubin = collections.Counter()
    strings = {}
    for kind, fields in log.records:
        if kind == "pc_samples":
            by_cubin[int(log.cubins[fields["cubin"]]["crc"], 0)] += sum(int(n) for n in re.findall(r"\d+", fields["samples"]))
    late = log.counters.get("pc_unloads_late", 0)
    contents = log.kept()
    check("cubins", len(contents), 200)
    wrong = {text: by_cubin[crc] for crc, text in contents.items() if by_cubin[crc] != 11 * (1 + (int(text[6:]) - 1000) % 3)}
    if late == 0:
        check("misattributed", wrong, {})
    # On a loaded machine a wait may be too short; then the samples are marked.
    marked = sum(log.ambiguous.values())
    check("counted", log.counters.get("pc_samples_ambiguous", 0), marked)
    check("all samples", sum(by_cubin.values()), 11 * (67 * 1 + 67 * 2 + 66 * 3))


def late(run):
    """Reading takes longer than an unload waits: the samples are marked and counted."""
    log = run("late", SIM=SCRIPT + "; cupti pc_data_takes 200").one()
    check("late", log.counters.get("pc_unloads_late", 0), 1)
    if sum(log.ambiguous.values()) == 0:
        sys.exit("no ambiguous samples")
    check("counted", log.counters.get("pc_samples_ambiguous", 0), sum(log.ambiguous.values()))
    check("sum", sum(log.sums.values()) + sum(log.ambiguous.values()), 33)


def overflow(run):
    """The samples of the full buffer are lost, and those after it: CUPTI takes no more, and ending sampling beside
    launches of the program is not safe."""
    for wanted in ("2^16", "auto"):
        done = run("overflow", PROF_PC_SAMPLING=wanted, SIM=SCRIPT + "; cupti pc_buffer 150")
        log = done.one()
        check("counted", log.counters.get("pc_buffer_full", 0), 1)
        full = [batch for batch in log.batches if int(batch.get("flags", "0"), 0) & 2]
        check("batches", len(full), 1)
        check("samples after it", sum(log.sums.values()), 0)
        check("its reason", "buffer was full" in log.facts.get("pc_sampling", ""), True)


def duration(run):
    """The helper thread ends the recording: it reads the last samples, and does not end sampling beside the launches of
    the program."""
    done = run("duration", PROF_LOG="debug", PROF_DURATION="2")
    check("samples", sum(done.one().sums.values()), 110)
    check("said", "CUPTI goes on sampling" in done.stderr, True)
    check("the program", done.stdout, "still sampled\n")


def longer(run):
    """Reading takes too much time, so `auto` reads more rarely. CUPTI ignores a new period while it samples, so all
    samples have the first one."""
    done = run("longer", PROF_PC_SAMPLING="auto", PROF_LOG="debug", SIM=SCRIPT + "; cupti pc_data_takes 60")
    if "they are read each 200 ms now" not in done.stderr:
        sys.exit(f"not read more rarely: {done.stderr[-500:]}")
    log = done.one()
    found = collections.Counter()
    for batch in log.batches:
        found[batch["period"]] += int(batch["total"])
    check("samples by period", dict(found), {"16": 220})


def dropped(run):
    done = run("many", SIM=SCRIPT + "; cupti pc_dropped 7")
    log = done.one()
    check("dropped", log.counters.get("pc_samples_dropped", 0), 21)
    done.covers("PC samples 54, with instruction 33, dropped 21")


def own(run):
    """The program samples PCs itself: its calls succeed, and those of the recorder end before."""
    done = run("own")
    log = done.one()
    check("output", done.stdout, "enabled 0\ndata 0 samples some\n")
    check("samples", dict(log.sums), times("work", "a cubin", 4))
    check("counted", log.counters.get("pc_sampling_yields", 0), 1)
    check("fact", log.facts["pc_sampling"], "until the program called cuptiPCSamplingEnable")
    check("kernels", log.text.count("\nkernel_run "), 9)
    check("cubins", list(log.kept().values()), ["a cubin"])
    done.covers("PC samples not as requested: until the program called cuptiPCSamplingEnable")


def own_kill(run):
    """Beside a profiler of the program CUPTI is not flushed: what ran since is pending when the process is killed."""
    log = run("own_kill", status=-9, SIM_CLOCK="real").one()
    check("yielded", log.counters.get("pc_sampling_yields", 0), 1)
    if log.text.count("\nkernel_run ") > 5:
        sys.exit("flushed beside the profiler of the program")


def parts(run):
    done = run("parts", PROF_START="profiler", PROF_PARTS="2")
    check("logs", len(done.logs), 2)
    for log in done.logs:
        found = sum(log.sums.values())
        # 110 without the launch before the context was sampled.
        check("cubins", list(log.kept().values()), ["module of parts"])
        # Samples of that launch are dropped if the period is not set yet (16 times as many) or was set just now.
        dropped = log.counters.get("pc_samples_dropped", 0)
        if (found, dropped) not in ((110, 0), (110, 11), (110, 16 * 11), (121, 0)):
            sys.exit(f"samples of a part: {found}, dropped {dropped}")
        healthy(log, pc_samples_dropped=dropped)


def fork(run):
    done = run("fork", SIM=SCRIPT + "; cupti child_dies")
    check("logs", len(done.logs), 2)
    parent, child = sorted(done.logs, key=lambda log: -sum(log.sums.values()))
    check("samples", dict(parent.sums), times("work", "a cubin", 6))
    check("child", (child.batches, child.facts.get("pc_sampling")), ([], "this is a child of a process that used CUPTI"))


def kill(run):
    """Samples that were read are in the log, and GPU times that were flushed beside them; the contents of cubins are
    lost with the process."""
    log = run("kill", status=-9, SIM_CLOCK="real").one()
    check("samples", dict(log.sums), times("work", "a cubin", 3))
    check("kernels", log.text.count("\nkernel_run "), 4)
    check("cubins", log.kept(), None)


def refused(run):
    """Options that exclude PC samples, and a CUPTI that refuses: a reason, and GPU times as without."""
    for env, reason, kernels in (
            ({"PROF_GPU": "off"}, "PROF_GPU=off: PC samples need GPU times", 0),
            ({"PROF_SAMPLING": "overview"}, "PROF_SAMPLING uses the same hardware", 4),
            ({"PROF_COUNTERS": "memory"}, "PROF_COUNTERS uses the same hardware", None),
            ({"PROF_BUDGET": "2%"}, "PROF_BUDGET collects GPU times in bursts", None),
            ({"SIM": SCRIPT + "; fault cuptiPCSamplingEnable * 35"},
             "cuptiPCSamplingEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES; the driver restricts it to administrators: prof doctor", 4),
            ({"SIM": SCRIPT + "; fault cuptiRegisterComputeCrcCallback * 999"},
             "CUPTI does not pass the cubins (cuptiRegisterComputeCrcCallback)", 4),
            ({"SIM": SCRIPT + "; fault cuptiPCSamplingGetData * 999"}, "cuptiPCSamplingGetData: CUPTI_ERROR_UNKNOWN", 4)):
        done = run("refused", **env)
        log = done.one()
        check("reason", log.facts.get("pc_sampling"), reason)
        check("counted", log.counters.get("pc_sampling_unavailable", 0), 1)
        check("samples", log.batches, [])
        if kernels is not None:
            check(f"kernels {env}", log.text.count("\nkernel_run "), kernels)
        if reason not in done.stderr:
            sys.exit(f"no message: {done.stderr}")
        done.covers("PC samples not as requested: " + reason)


CASES = {case.__name__: case for case in (plain, period, off, callback, contexts, reset, unloads, late, overflow,
                                          duration, longer, dropped, own, own_kill, parts, fork, kill, refused)}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=CASES)
    for name in ("prof", "libprof", "sim", "program"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as options.folder:
        def run(case, status=0, **env):
            return Run(options, case, env, status)
        CASES[options.case](run)


if __name__ == "__main__":
    main()
