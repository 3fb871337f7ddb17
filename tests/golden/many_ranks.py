#!/usr/bin/env python3
"""Do `prof blame` and `prof report ranks` answer on 4,096 logs, and does their memory grow with the number of ranks,
not with its square? Usage: many_ranks.py --prof PROF --make-job MAKE_JOB"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--prof", type=pathlib.Path, required=True)
parser.add_argument("--make-job", type=pathlib.Path, required=True)
options = parser.parse_args()
problems = []


def check(holds, text):
    if not holds:
        problems.append(text)
        print(f"FAIL: {text}")


def prof(*words, status):
    """the answer as JSON, and the most memory in KiB"""
    command = [options.prof, *map(str, words), "--format", "json"]
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, ended, usage = os.wait4(child.pid, 0)
        child.returncode = ended >> 8
        check(child.returncode == status, f"prof {words[0]}: status {child.returncode}, not {status}")
        out.seek(0)
        return json.load(out), usage.ru_maxrss


def blame_of(work, ranks, absent, count):
    folder = work / f"{ranks}"
    subprocess.run(
        [
            options.make_job,
            folder,
            "--ranks",
            str(ranks),
            "--steps",
            "3",
            "--collectives",
            "1",
            "--absent",
            f"{absent}:{count}",
        ],
        check=True,
    )
    answer, memory = prof("blame", folder, status=3)
    text = "\n".join(row["finding"] for row in answer["findings"])
    wanted = [
        f"rank {rank} never entered all-reduce #3 of communicator 0xabc, which {ranks - count} others entered 40 s"
        for rank in range(absent, absent + count)
    ]
    named = re.findall(r"^(rank \d+ never .* entered 40 s)", text, re.MULTILINE)
    check(named == wanted, f"{ranks} ranks: {len(named)} are named, {count} are absent")
    states = [row["state"] for row in answer["rows"]]
    check(
        (states.count("launched"), states.count("not entered"), len(states)) == (ranks - count, count, ranks),
        f"{ranks} ranks: the states are {({each: states.count(each) for each in set(states)})}",
    )
    return memory


with tempfile.TemporaryDirectory() as temporary:
    work = pathlib.Path(temporary)
    few, many = blame_of(work, 1024, 500, 1), blame_of(work, 4096, 2000, 512)
    check(many < 5 * few, f"memory of 1,024 ranks is {few} KiB, of four times as many {many} KiB")
    rows, memory = prof("report", "ranks", work / "4096", status=0)
    check([row["rank"] for row in rows["rows"]] == list(range(4096)), "report ranks has a row for each rank")
    check(memory < many, f"report ranks drops each log, and needs {memory} KiB")
print(f"blame: {few} KiB for 1,024 ranks, {many} KiB for 4,096: {len(problems)} problems")
sys.exit(1 if problems else 0)
