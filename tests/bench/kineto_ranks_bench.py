#!/usr/bin/env python3
"""What many Kineto traces of one job cost: 64 ranks with 36 MB of JSON each, the events of kineto_import_bench. The
status is 1 if a command needs more than 500 MB of memory, or if its answer depends on the order of the files.

  kineto_ranks_bench [--ranks 64] [--megabytes 36] [--gzip] [--keep FOLDER] [--command 'report kernels']...
                     [--prof PROF]..."""
import argparse
import gzip
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

LIMIT_BYTES = 500 << 20
COMMANDS = ("report kernels", "report ranks", "summary")


def make(base, folder, ranks, zipped):
    """One trace a rank: the same events, with kernels of other durations (8.1 to 8.2 µs; rank 3: 9.9 µs)."""
    text = base.read_bytes()
    for rank in range(ranks):
        head = b'{\n  "distributedInfo": {"backend": "nccl", "rank": %d, "world_size": %d},' % (rank, ranks)
        duration = b'"dur": 9.9%02d' % rank if rank == 3 else b'"dur": 8.1%02d' % (rank % 100)
        changed = text.replace(b"{", head, 1).replace(b'"dur": 8.128', duration)
        path = folder / f"rank{rank}.json"
        if zipped:
            path = path.with_name(path.name + ".gz")
            changed = gzip.compress(changed, 6)
        path.write_bytes(changed)


def measure(command):
    """The output of a command, its wall time and processor time in s, and its peak of memory in bytes."""
    read_end, write_end = os.pipe()
    begin = os.times().elapsed
    child = subprocess.Popen(command, stdout=write_end, stderr=subprocess.PIPE)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as stream:
        output = stream.read()
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, command[:4]))}: status {child.returncode}: {errors.decode()}")
    return output, os.times().elapsed - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--megabytes", type=int, default=36)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gzip", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, help="the folder of the traces, which are made if it is empty")
    parser.add_argument("--command", action="append", help=f"default: {', '.join(COMMANDS)}")
    parser.add_argument("--prof", action="append", help="several are run in turn, and the first is compared with each")
    arguments = parser.parse_args()
    programs = arguments.prof or [here / "../../bin/prof"]
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary) / "traces"
        folder.mkdir(parents=True, exist_ok=True)
        if not any(folder.iterdir()):
            base = pathlib.Path(temporary) / "base.json"
            subprocess.run([here / "kineto_import_bench", "--make", base, str(arguments.megabytes)], check=True)
            make(base, folder, arguments.ranks, arguments.gzip)
        traces = sorted(folder.iterdir())
        size = sum(path.stat().st_size for path in traces)
        print(f"{len(traces)} traces of {size / len(traces) / 1e6:.1f} MB on {os.cpu_count()} cores")
        for words in arguments.command or COMMANDS:
            command = words.split()
            results = {program: [] for program in programs}
            answers = set()
            for each in range(arguments.rounds):
                for program in programs:
                    inputs = traces if each % 2 == 0 else traces[::-1]
                    output, *costs = measure([program, *command, *inputs])
                    results[program].append(costs)
                    answers.add((str(program), output))
            for program, costs in results.items():
                wall, processor, peak = (statistics.median(column) for column in zip(*costs))
                name = words + (f" ({program})" if len(programs) > 1 else "")
                print(f"{name:<16} {wall:6.2f} s, processor time {processor:6.2f} s, "
                      f"{size / wall / 1e6:6.1f} MB/s, peak {peak / 1e6:6.0f} MB")
                failed |= peak > LIMIT_BYTES
            for program in programs[1:]:
                pairs = [[a / b for a, b in zip(*pair)] for pair in zip(results[programs[0]], results[program])]
                wall, processor, _ = (statistics.median(column) for column in zip(*pairs))
                print(f"  {programs[0]} / {program}, median of {len(pairs)} pairs: wall time {wall:.2f}, "
                      f"processor time {processor:.2f}")
            if len(answers) != len(programs):
                print(f"  FAIL  {words}: the answer depends on the order of the files")
                failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
