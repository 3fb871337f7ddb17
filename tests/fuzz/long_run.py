#!/usr/bin/env python3
"""Runs the libFuzzer programs for a long time, here or on a machine without a compiler, the needed libraries and a
network.

    long_run.py pack BUILD FOLDER [TARGET...]   packs the programs of a build of the preset asan, the initial inputs of
                                                their tests and every library including the loader into one file of some
                                                25 MB next to this program, so that another Linux on the same kind of
                                                processor runs them
    long_run.py self-test BUILD                 packs one target and runs it for five seconds
    FOLDER/run.sh OUT SECONDS CORES             runs each target on its share of the cores (-fork), all at once; nothing
                                                is minimised

OUT gets results.json, the table of fuzzing.md (results.md), and a folder per target: its output, the inputs that ended
it (crash-, timeout- and oom- files) and at most 200 new inputs. A new input reached code that no earlier one had
reached; if there are more, the newest are kept, because they were the hardest to find.
"""
import glob
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

ARCHIVE = "programs.tar.xz"
KEPT = 200
SECONDS_AN_INPUT = 60
OPTIONS = [f"-timeout={SECONDS_AN_INPUT}", "-rss_limit_mb=4096", "-max_len=65536"]
FORK_OPTIONS = ["-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1"]  # counted and kept; the run goes on
SANITIZERS = {"ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=0:symbolize=0",
              "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:symbolize=0"}
STATUS = re.compile(r"^#(\d+):? .*?cov: (\d+) ft: (\d+)", re.M)
FOUND = re.compile(r"oom/timeout/crash: (\d+)/(\d+)/(\d+)")


def targets_of(build):
    """name -> (program, inputs), as the build's short tests run them."""
    listed = json.loads(subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", "-R", r"^fuzz\..*\.libfuzzer$"],
                                       check=True, capture_output=True, text=True).stdout)
    found = {}
    for test in listed["tests"]:
        command = test["command"]
        seeds = next(word for word in command if word.startswith("-seed_inputs=")).split("=", 1)[1].split(",")
        found[test["name"].split(".")[1]] = (command[0], seeds)
    return found


def libraries_of(program):
    """Paths of the libraries that the loader maps for the program, the loader itself last."""
    lines = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return re.findall(r"=> (/\S+)", lines) + re.findall(r"^\s*(/\S+ld-linux\S+)", lines, re.M)


def pack(build, folder, wanted):
    found = targets_of(build)
    chosen = {name: found[name] for name in wanted or found}
    missing = [program for program, _ in chosen.values() if not os.path.exists(program)]
    if missing or not chosen:
        sys.exit(f"not built with PROF_FUZZ=ON: {', '.join(missing) or build}")
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as stage:
        for name, (program, seeds) in chosen.items():
            add_target(stage, name, program, seeds)
        # The programs contain the same analyzer; only a compression window larger than one program can use that.
        wide = [{"id": lzma.FILTER_LZMA2, "preset": 3, "dict_size": 1 << 27}]
        with lzma.open(os.path.join(folder, ARCHIVE), "wb", filters=wide) as file, tarfile.open(fileobj=file, mode="w") as archive:
            archive.add(stage, ".")
    shutil.copy(__file__, os.path.join(folder, "long_run.py"))
    with open(os.path.join(folder, "run.sh"), "w", encoding="utf-8") as script:
        script.write('#!/bin/sh\nexec python3 "$(dirname "$0")/long_run.py" run "$@"\n')
    os.chmod(os.path.join(folder, "run.sh"), 0o755)
    print(f"{len(chosen)} targets in {folder}: {' '.join(chosen)}")


def add_target(stage, name, program, seeds):
    for part in ("bin", "lib", f"seeds/{name}"):
        os.makedirs(os.path.join(stage, part), exist_ok=True)
    subprocess.run(["strip", "-o", os.path.join(stage, "bin", name), program], check=True)
    for library in libraries_of(program):
        shutil.copy(os.path.realpath(library), os.path.join(stage, "lib", os.path.basename(library)))
    for number, seed in enumerate(seeds):
        shutil.copy(seed, os.path.join(stage, "seeds", name, f"{number:04}-{os.path.basename(seed)}"))
    # libFuzzer starts its jobs by its own name, so that name must start the program with the packed loader.
    with open(os.path.join(stage, name), "w", encoding="utf-8") as script:
        script.write('#!/bin/sh\nhere=$(dirname "$0")\nexec "$here"/lib/ld-linux-*.so.* --library-path "$here/lib" --argv0 "$0" '
                     f'"$here/bin/{name}" "$@"\n')
    os.chmod(os.path.join(stage, name), 0o755)


def shares(names, cores):
    """Cores per target: equal numbers, and the remaining ones to the first targets."""
    each, more = divmod(max(cores, len(names)), len(names))
    return {name: each + (at < more) for at, name in enumerate(names)}


def last_status(text):
    """(executions, coverage, features) of the newest line that contains them."""
    found = STATUS.findall(text)
    return tuple(map(int, found[-1])) if found else (0, 0, 0)


class Target:
    """One fuzzing program, and its result."""

    def __init__(self, folder, name, out, seconds, cores):
        self.name, self.cores, self.out = name, cores, os.path.join(out, name)
        self.program, self.seeds = os.path.join(folder, name), os.path.join(folder, "seeds", name)
        self.corpus = os.path.join(self.out, "all")
        os.makedirs(self.corpus)
        os.makedirs(os.path.join(self.out, "tmp"))
        self.environment = {**os.environ, **SANITIZERS, "TMPDIR": os.path.join(self.out, "tmp")}
        artifacts = f"-artifact_prefix={self.out}/"
        begin = subprocess.run([self.program, "-runs=0", *OPTIONS, artifacts, self.seeds], env=self.environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        self.at_start = last_status(begin.stdout.replace("\tINITED ", " ").replace("\tDONE ", " "))
        self.log = open(os.path.join(self.out, "output.txt"), "w+", encoding="utf-8", errors="replace")
        self.log.write(begin.stdout)
        self.log.flush()
        command = [self.program, f"-fork={cores}", *FORK_OPTIONS, *OPTIONS, f"-max_total_time={seconds}",
                   artifacts, self.corpus, self.seeds]
        self.began = time.monotonic()
        self.process = subprocess.Popen(command, env=self.environment, stdout=self.log, stderr=subprocess.STDOUT)

    def finish(self):
        """Waits for the program. Its CPU time includes all its jobs, for which it waited."""
        _, status, usage = os.wait4(self.process.pid, 0)
        wall = time.monotonic() - self.began
        self.log.seek(0)
        text = self.log.read()
        self.log.close()
        executions, coverage, features = last_status(text)
        found = FOUND.findall(text)
        new = self._keep_newest()
        kept = [os.path.basename(path) for kind in ("crash", "timeout", "oom", "leak") for path in glob.glob(f"{self.out}/{kind}-*")]
        # libFuzzer's own count lacks inputs that ended it while it read its initial inputs, and inputs for which a job
        # was killed.
        ooms, timeouts, crashes = (max(int(number), sum(name.startswith(kind) for name in kept)) for kind, number in
                                   zip(("oom-", "timeout-", ("crash-", "leak-")), found[-1] if found else (0, 0, 0)))
        shutil.rmtree(os.path.join(self.out, "tmp"), ignore_errors=True)
        return {"target": self.name, "cores": self.cores, "wall_s": round(wall, 1), "cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
                "executions": executions, "executions_per_s": round(executions / wall, 1), "status": status,
                "seeds": len(os.listdir(self.seeds)), "coverage_at_start": self.at_start[1], "features_at_start": self.at_start[2],
                "coverage": coverage, "features": features, "new_inputs": new, "crashes": crashes, "timeouts": timeouts, "ooms": ooms,
                "kept": sorted(kept)}

    def _keep_newest(self):
        files = sorted((entry.stat().st_mtime, entry.path) for entry in os.scandir(self.corpus))
        os.makedirs(os.path.join(self.out, "new"))
        for _, path in files[-KEPT:]:
            shutil.move(path, os.path.join(self.out, "new"))
        shutil.rmtree(self.corpus)
        return len(files)


def table(results):
    lines = ["| function | cores | CPU time (s) | executions | a second | coverage, inputs alone | coverage | new inputs | crashes / timeouts / out of memory |",
             "|---|---|---|---|---|---|---|---|---|"]
    for r in results:
        lines.append(f"| {r['target']} | {r['cores']} | {r['cpu_s']:,.0f} | {r['executions']:,} | {r['executions_per_s']:,.0f} | {r['coverage_at_start']:,} | "
                     f"{r['coverage']:,} | {r['new_inputs']:,} | {r['crashes']} / {r['timeouts']} / {r['ooms']} |")
    return "\n".join(lines) + "\n"


def run(out, seconds, cores):
    os.makedirs(out, exist_ok=True)
    out = os.path.abspath(out)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(os.path.join(os.path.dirname(os.path.abspath(__file__)), ARCHIVE), "r:xz") as archive:
            archive.extractall(folder)
        names = sorted(os.listdir(os.path.join(folder, "bin")))
        started = [Target(folder, name, out, seconds, share) for name, share in shares(names, cores).items()]
        results = [target.finish() for target in started]
    with open(os.path.join(out, "results.json"), "w", encoding="utf-8") as to:
        json.dump(results, to, indent=1)
    with open(os.path.join(out, "results.md"), "w", encoding="utf-8") as to:
        to.write(table(results))
    print(table(results), end="")
    return 1 if any(r["crashes"] + r["timeouts"] + r["ooms"] != 0 or r["executions"] == 0 for r in results) else 0


def self_test(build):
    with tempfile.TemporaryDirectory() as folder:
        packed, out = os.path.join(folder, "packed"), os.path.join(folder, "out")
        pack(build, packed, ["undump_text"])
        status = subprocess.run([os.path.join(packed, "run.sh"), out, "5", "1"], check=False).returncode
        with open(os.path.join(out, "results.json"), encoding="utf-8") as results:
            (result,) = json.load(results)
        print(result)
        new = len(os.listdir(os.path.join(out, "undump_text", "new")))
        right = (result["executions"] > 0 and result["cpu_s"] > 0 and 0 < result["coverage_at_start"] <= result["coverage"]
                 and new == min(result["new_inputs"], KEPT) and result["crashes"] == len(result["kept"]) == 0)
        return 0 if status == 0 and right else 1


def main(words):
    if len(words) == 2 and words[0] == "self-test":
        return self_test(words[1])
    if len(words) >= 3 and words[0] == "pack":
        return pack(words[1], words[2], words[3:])
    if len(words) == 4 and words[0] == "run":
        return run(words[1], int(words[2]), int(words[3]))
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
