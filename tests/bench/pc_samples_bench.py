#!/usr/bin/env python3
"""What reports on lines inside kernels cost: a log with 10 million entries of PC samples, of two functions with lines
and 200 without a cubin, in batches of 3,000 entries. The status is 1 if a command takes more than 3 s of processor
time.

  pc_samples_bench [--entries 10000000] [--rounds 3] [--prof PROF]"""
import argparse
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

LIMIT_S = 3
COMMANDS = (("report", "stalls"), ("report", "hot-lines"), ("report", "stalls", "hot-lines"))
UNKNOWN = 200  # functions of a cubin that was not kept
REASONS = ("selected", "long_scoreboard", "long_scoreboard_not_issued", "barrier", "wait", "math_pipe_throttle")


def text(entries):
    """The lines of the log."""
    chance = random.Random(11)
    names = ["_Z12scale_kernelPffi", "_Z10sum_kernelPKfPfi", *(f"unknown_kernel_{i}" for i in range(UNKNOWN))]
    yield "prof-log-text 1"
    yield "header pid=77 clock=0 start_tick=1000000 start_monotonic_ns=1000000 start_realtime_ns=1700000000000000000"
    yield "block definitions thread=1"
    yield "gpu_clock base_tick=0 base_ns=0 multiplier=1 shift=0"
    for number, name in enumerate(names, 1):
        if number % 60 == 0:
            yield "block definitions thread=1"
        yield f'string id={number} total_bytes={len(name)} offset=0 text="{name}"'
    yield "block definitions thread=1"
    reasons = "\\n".join("smsp__pcsamp_warps_issue_stalled_" + reason for reason in REASONS)
    yield f'string id={len(names) + 1} total_bytes={len(reasons) - reasons.count(chr(92))} offset=0 text="{reasons}"'
    yield f"stall_reasons context=1 names={len(names) + 1}"
    yield "cubin id=1 crc=4097 bytes=11764 kept=1"
    yield "cubin id=2 crc=8194 bytes=5000 kept=0"
    made, time, functions = 0, 5_000_000, 0
    while made < entries:
        if functions % 6 == 0:
            yield "block events thread=2"
        if functions % 24 == 0:
            time += 100_000
            yield f"pc_batch time={time} context=1 period=16 total=0"
        function = chance.choice((1, 2, chance.randrange(3, len(names) + 1)))
        cubin = 1 if function < 3 else 2
        places = sorted({chance.randrange(60) << 10 | chance.randrange(len(REASONS)) for _ in range(150)})
        samples = " ".join(str(chance.randrange(1, 200)) for _ in places)
        yield (f"pc_samples time={time} context=1 cubin={cubin} function={function} period=16 "
               f"places=[{' '.join(map(str, places))}] samples=[{samples}]")
        made += len(places)
        functions += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    build = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prof", default=build / "bin/prof")
    arguments = parser.parse_args()
    source = pathlib.Path(os.environ.get("PROF_SOURCE", build.parents[1]))
    failed = False
    with tempfile.TemporaryDirectory(prefix="pc-samples-", dir=build) as folder:
        log = pathlib.Path(folder, "app.plog")
        written = log.with_suffix(".txt")
        with written.open("w") as file:
            file.writelines(line + "\n" for line in text(arguments.entries))
        subprocess.run([build / "tests/golden/undump", written, log], check=True)
        written.unlink()
        subprocess.run([sys.executable, source / "tests/golden/make_cubins.py", f"{log}.cubins",
                        f"4097={source}/tests/unit/analyzer/symbols/cubin_fixture/kernels.cubin"], check=True)
        print(f"{arguments.entries} entries, {log.stat().st_size / arguments.entries:.1f} bytes each; "
              f"{arguments.rounds} rounds in turn, medians; limit: {LIMIT_S} s of processor "
              f"time\n{'':28} wall (s)  processor (s)  peak (MB)")
        costs = {command: [] for command in COMMANDS}
        for _ in range(arguments.rounds):
            for command in COMMANDS:
                begin = os.times().elapsed
                child = subprocess.Popen([arguments.prof, *command, log], stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL)
                output = child.stdout.read()
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                failed |= child.returncode != 0 or b"scale_kernel" not in output
                costs[command].append((os.times().elapsed - begin, usage.ru_utime + usage.ru_stime,
                                       usage.ru_maxrss / 1024))
    for command, rounds in costs.items():
        wall, processor, peak = map(statistics.median, zip(*rounds))
        failed |= processor > LIMIT_S
        missed = "  FAIL" if processor > LIMIT_S else ""
        print(f"{' '.join(command[1:]):28} {wall:8.2f}  {processor:13.2f}  {peak:9.0f}{missed}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
