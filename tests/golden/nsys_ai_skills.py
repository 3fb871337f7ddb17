#!/usr/bin/env python3
"""Do the skills of nsys-ai, a reader of nsys exports, run on exports of prof, and are its kernel totals those of prof?

Needs `scripts/setup --readers`, or nsys-ai for this Python. Exit status 77: it is not installed. Without
PROF_SHARED_DATA only a small log is tested. Skills that need parameters get those of the export. On a real export of
nsys each skill must give the same rows for the export and for what prof makes of it."""
import argparse
import csv
import io
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("PROF_SHARED_DATA", SOURCE / "../shared/data"))
sys.path.append(str(SOURCE / "build/nsys_ai"))
try:
    from nsys_ai.skills.registry import all_skills
except ImportError:
    print("nsys-ai is not installed")
    sys.exit(77)

PARAMETERS = {
    "arithmetic_intensity": {"theoretical_flops": 1e12},
    "code_attribution_candidates": {"start_ns": 0, "end_ns": 1 << 60},
    "iteration_detail": {"iteration": 0},
    "region_mfu": {"name": "step", "theoretical_flops": 1e12},
    "speedup_estimator": {"iteration_ms": 10},
    "theoretical_flops": {"operation": "linear", "M": 8, "N": 8, "K": 8},
}
OTHER_INPUT = {"cutracer_analysis"}  # reads files of another tool
# Rows about the file itself, its time of writing, schemas of payloads and synchronisations without a stream.
ABOUT_THE_FILE = {"schema_inspect", "profile_health_manifest", "nccl_payload_breakdown", "nccl_communicator_analysis",
                  "pipeline_bubble_metrics", "sync_cost_analysis", "root_cause_matcher"}

parser = argparse.ArgumentParser()
parser.add_argument("--prof", type=pathlib.Path, required=True)
parser.add_argument("--undump", type=pathlib.Path, required=True)
options = parser.parse_args()
problems = []


def rows_of(path, skill):
    connection = sqlite3.connect(path)
    try:
        return skill.execute(connection, **PARAMETERS.get(skill.name, {}))
    finally:
        connection.close()


def check_totals(name, path, source):
    text = subprocess.run([options.prof, "report", "cuda_gpu_kern_sum", source, "--format", "csv"], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    ours = {row["Name"]: (int(row["Instances"]), int(row["Total Time (ns)"])) for row in csv.DictReader(io.StringIO(text))}
    connection = sqlite3.connect(path)
    theirs = next(skill for skill in all_skills() if skill.name == "top_kernels").execute(connection, limit=100000)
    connection.close()
    found = {row["kernel_name"]: (row["invocations"], row["total_ms"]) for row in theirs}
    if set(found) != set(ours) or not ours:
        problems.append(f"{name}: kernels {sorted(set(found) ^ set(ours))[:4]}")
    for kernel, (count, total_ms) in found.items():
        if kernel in ours and (count != ours[kernel][0] or abs(total_ms - ours[kernel][1] / 1e6) > 0.00501):
            problems.append(f"{name}: {kernel}: {count} in {total_ms} ms, prof has {ours[kernel]}")


with tempfile.TemporaryDirectory(prefix="prof-nsys-ai-") as folder:
    small = pathlib.Path(folder, "small.plog")
    subprocess.run([options.undump, SOURCE / "tests/golden/trace_basic/app.log.txt", small], check=True)
    real = [DATA / name for name in ("h200_ddp/rank0.plog", "nsys/mfu_2gpu_before.sqlite") if (DATA / name).exists()]
    for source in [small, *real]:
        export = pathlib.Path(folder, f"{source.stem}.exported.sqlite")
        subprocess.run([options.prof, "export", source, "-o", export], check=True, stderr=subprocess.DEVNULL)
        check_totals(source.name, export, source)
        original = None
        if source.suffix == ".sqlite":
            original = pathlib.Path(folder, "original.sqlite")
            shutil.copyfile(source, original)
        ran = with_rows = 0
        for skill in all_skills():
            if skill.name in OTHER_INPUT:
                continue
            try:
                rows = rows_of(export, skill)
            except Exception as error:  # the test reports any kind
                problems.append(f"{source.name}: skill {skill.name}: {type(error).__name__}: {error}")
                continue
            ran += 1
            with_rows += bool(rows)
            if original and skill.name not in ABOUT_THE_FILE:
                expected = rows_of(original, skill)
                for row in [*rows, *expected]:
                    row.pop("sync_ms", None)  # nsys wrote the wrong device of some synchronisations
                if json.dumps(rows, default=str, sort_keys=True) != json.dumps(expected, default=str, sort_keys=True):
                    problems.append(f"{source.name}: skill {skill.name}: {str(rows)[:600]}\ninstead of {str(expected)[:600]}")
        print(f"{source.name}: {ran} skills ran, {with_rows} with rows")
if problems:
    sys.exit("\n".join(problems))
