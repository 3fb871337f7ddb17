#!/usr/bin/env python3
"""pprof_opens.py --prof PROF --undump UNDUMP FOLDER: pprof itself (`pprof` or `go tool pprof`) opens the pprof files of
a folder's log and must show the same functions with the same values as the folded stacks. Exit status 77: neither is
installed."""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

METRICS = ("gpu-time", "launches", "bytes", "idle")


def pprof():
    """the command line, or None"""
    for command in (["pprof"], ["go", "tool", "pprof"]):
        if shutil.which(command[0]) and "usage" in subprocess.run([*command, "-h"], capture_output=True, text=True).stderr.lower():
            return command
    return None


def plain(frame):
    """A name without the parts that the two forms write differently: spaces, the line of a Python frame, the module of
    an address."""
    return re.sub(r"[ _]", "", frame)


def folded_leaves(text):
    leaves = collections.Counter()
    for line in text.splitlines():
        stack, _, value = line.rpartition(" ")
        leaves[plain(stack.split(";")[-1])] += int(value)
    return leaves


def raw_leaves(text):
    """{leaf: value} and the sample types of `pprof -raw`"""
    types = re.search(r"Samples:\n(.*)\n", text)[1].split()
    samples, _, rest = text.partition("Samples:\n")[2].partition("Locations\n")
    names = dict(re.findall(r"^\s*(\d+): 0x\w+ (?:M=\d+ )?(.*?) \S*:\d+.*s=\d+", rest, re.M))
    leaves = collections.Counter()
    for values, places in re.findall(r"^\s*([\d ]+): ([\d ]+?)\s*$", samples, re.M):
        leaves[plain(names[places.split()[0]])] += int(values.split()[-1])
    return leaves, types


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prof", required=True)
    parser.add_argument("--undump", required=True)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    command = pprof()
    if command is None:
        print("neither pprof nor go tool pprof is here")
        sys.exit(77)
    wrong = []
    with tempfile.TemporaryDirectory(prefix="prof-pprof-") as scratch:
        log, profile = f"{scratch}/app.plog", f"{scratch}/app.pb.gz"
        environment = dict(os.environ, PROF_SYMBOL_CACHE="off", HOME=scratch, PPROF_TMPDIR=scratch)
        run = lambda *words: subprocess.run(words, capture_output=True, text=True, env=environment)
        subprocess.run([options.undump, options.folder / "app.log.txt", log], check=True)
        for metric in METRICS:
            run(options.prof, "report", "stacks", "--metric", metric, "--format", "pprof", log, "-o", profile)
            folded = run(options.prof, "report", "stacks", "--metric", metric, "--format", "folded", log).stdout
            done = run(*command, "-raw", profile)
            if done.returncode != 0:
                wrong.append(f"{metric}: {done.stderr}")
                continue
            leaves, types = raw_leaves(done.stdout)
            if leaves != folded_leaves(folded) or not leaves:
                wrong.append(f"{metric}: {types}\n  pprof  {leaves}\n  folded {folded_leaves(folded)}\n{done.stdout}")
            top = run(*command, "-top", profile)
            heaviest = max(leaves, key=leaves.get)
            if top.returncode != 0 or heaviest not in plain(top.stdout):
                wrong.append(f"{metric}: -top: {top.stdout}{top.stderr}")
            print(f"{metric}: {len(leaves)} leaves, {sum(leaves.values())} in all, {' '.join(command)}")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
