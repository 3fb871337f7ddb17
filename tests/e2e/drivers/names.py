#!/usr/bin/env python3
"""Does every launch, range, stream and graph keep its name and shape, however many different ones a program has? Runs
corpus/many_names and reads the text of the log. In the log of a run with few of each, everything is defined once. With
more than the tables hold (a ring has small ones), contents are written before each use, and the coverage line has the
cost. Usage: names.py CASE --prof PROF --libprof LIB --sim FOLDER --programs FOLDER"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from environments import bare_environment

CASES = {  # (shapes, kernels, texts, streams, graphs), environment, memory limit in MiB, whether contents are written again
    "few": ((3000, 2000, 2000, 10, 10), {}, 24, False),
    "many": ((1000000, 200000, 0, 0, 0), {"PROF_GPU": "off"}, 96, False),
    "relatives": ((0, 0, 200000, 20000, 20000), {"PROF_GPU": "off"}, 64, False),
    "gpu_names": ((150000, 60000, 0, 100, 100), {"SIM": "cupti backlog 2000"}, 96, False),
    "ring": ((90000, 60000, 60000, 100, 100), {"PROF_GPU": "off", "PROF_RING": "64M"}, 24, True),
    "ring_gpu_names": ((80000, 60000, 0, 0, 0), {"PROF_RING": "64M", "SIM": "cupti backlog 2000"}, 64, True),
    "ring_overwritten": ((200000, 100000, 0, 0, 0), {"PROF_GPU": "off", "PROF_RING": "2M"}, 24, True),
}
parser = argparse.ArgumentParser()
parser.add_argument("case", choices=CASES)
for name in ("prof", "libprof", "sim", "programs"):
    parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve(), required=True)
options = parser.parse_args()
counts, extra, memory_limit, again = CASES[options.case]
shapes, kernels, texts, streams, graphs = counts
overwritten = options.case == "ring_overwritten"
problems = []


def run(folder, recorded):
    environment = bare_environment() | {"LD_LIBRARY_PATH": str(options.sim)}
    environment |= {k: v for k, v in extra.items() if k == "SIM"}
    if recorded:
        environment |= {"LD_PRELOAD": str(options.libprof), "PROF_OUTPUT": folder, "PROF_CUPTI": f"{options.sim}/libcupti.so.13"} | extra
    done = subprocess.run([options.programs / "many_names", *map(str, counts)], env=environment, capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    print(done.stdout.strip())
    return int(done.stdout.splitlines()[-1].split()[0]) / 1024


def fields(line):
    return dict(item.split("=", 1) for item in line.split(" ")[1:] if "=" in item)


def expect(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: {found}, expected {wanted}")


with tempfile.TemporaryDirectory(prefix="prof-names-") as folder:
    plain, recorded = run(folder, False), run(folder, True)
    if recorded - plain > memory_limit:
        problems.append(f"{recorded - plain:.1f} MiB of memory, limit {memory_limit}")
    log, = pathlib.Path(folder).glob("*.plog")
    print(f"log {log.stat().st_size / 2**20:.1f} MiB, memory {recorded - plain:.1f} MiB")
    strings, functions, configs, gpu_kernels, labels, domains, known_streams = {}, {}, {}, {}, {}, {}, set()
    found, operations, pushed, used_streams, used_graphs = [], [], [], [], []
    dump = subprocess.Popen([options.prof, "dump", log], stdout=subprocess.PIPE, encoding="utf-8")
    waiting = []
    for line in dump.stdout:
        line = line.rstrip("\n")
        kind = line[:line.find(" ")]
        if kind == "string":
            of = fields(line)
            strings[of["id"]] = of["text"].strip('"')
        elif kind == "function":
            of = fields(line)
            functions[of["id"]] = of["name"]
        elif kind in ("config", "gpu_kernel"):
            of = fields(line)
            (configs if kind == "config" else gpu_kernels)[of["id"]] = (of["function" if kind == "config" else "name"], of["grid_x"])
        elif kind == "nvtx_domain":
            of = fields(line)
            domains[of["id"]] = of["name"]
        elif kind == "nvtx_label":
            of = fields(line)
            labels[of["id"]] = (of["domain"], of["text"], of["category"])
        elif kind == "stream":
            known_streams.add(fields(line)["id"])
        elif kind in ("kernel_launch", "kernel_run", "nvtx_push", "graph_launch"):
            waiting.append((kind, fields(line)))
    dump.wait()
    waiting.sort(key=lambda record: int(record[1].get("end") or record[1].get("time") or 0))  # a ring is not in order
    for kind, of in waiting:
        if kind == "kernel_launch":
            function, grid = configs.get(of["config"], ("", ""))
            found.append((strings.get(functions.get(function)), grid))
            if len(found) > 2 and of["stream"] not in known_streams:
                problems.append(f"launch {len(found)} is on stream {of['stream']}")
            used_streams.append(of["stream"])
        elif kind == "kernel_run":
            name, grid = gpu_kernels.get(of["kernel"], ("", ""))
            operations.append((strings.get(name), grid))
        elif kind == "nvtx_push":
            domain, text, category = labels.get(of["label"], ("", "", ""))
            pushed.append((strings.get(domains.get(domain)), strings.get(text), category))
        else:
            used_graphs.append(of["graph"])
    launches = [("shaped", str(i + 1)) for i in range(shapes)] + [(f"kernel_{i}", "1") for i in range(kernels)]
    launches = (launches + [("shaped", "1")] * streams) * 2
    ranges = [("odd" if i % 2 else None, f"text_{i}", str(i % 7)) for i in range(texts)] * 2
    if overwritten:  # what remains is the end of the run
        while found and found[0][0] is None:  # before the horizon: reports leave it out
            found.pop(0)
        launches = launches[-len(found):]
        if len(found) < 10000:
            problems.append(f"{len(found)} launches remain")
    wrong = [i for i, (a, b) in enumerate(zip(found, launches)) if a != b]
    expect("launches", len(found), len(launches))
    if wrong:
        problems.append(f"{len(wrong)} launches with a wrong name or shape, the first is {wrong[0]}: {found[wrong[0]]}, expected {launches[wrong[0]]}")
    wrong = [i for i, (a, b) in enumerate(zip(pushed, ranges)) if a != b]
    expect("ranges", len(pushed), len(ranges))
    if wrong:
        problems.append(f"{len(wrong)} ranges with a wrong text, domain or category, the first is {wrong[0]}: {pushed[wrong[0]]}, expected {ranges[wrong[0]]}")
    if "SIM" in extra:
        expect("GPU kernels with their names", sorted(map(str, operations)) == sorted(map(str, launches)), True)
    expect("streams", len(set(used_streams[-streams:])) if streams else 0, streams)
    expect("graphs", len(set(used_graphs)), graphs)
    expect("launches of graphs", len(used_graphs), 2 * graphs)
    said = subprocess.run([options.prof, "report", "kernels", "--names", "full", "--format", "csv", log], capture_output=True, text=True)
    if "unknown" in said.stdout:
        problems.append("the report has unknown kernels")
    if shapes and f"shaped" not in said.stdout and "SIM" in extra:
        problems.append("the report lacks a kernel")
    line = re.search(r"written before each use (\d+) \(([0-9.]+) MB", said.stdout + said.stderr)
    expect("whether the coverage line has the cost of contents written again", line is not None, again)
    if line:
        print(line[0])
    counters = {name: int(value) for name, value in re.findall(r"^counter (\w+) (?:value=)?(\d+)", subprocess.run([options.prof, "dump", log], capture_output=True, text=True).stdout, re.M)} if again else {}
    if counters.get("intern_full"):
        problems.append(f"intern_full {counters['intern_full']}")
print("\n".join(problems))
sys.exit(1 if problems else 0)
