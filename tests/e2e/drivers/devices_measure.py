#!/usr/bin/env python3
"""Does prof devices --measure report the rates that a GPU reaches? On the simulated GPU a copy and a product take the
time that the script sets, so each number can be computed. Usage: devices_measure.py --prof PROF --sim FOLDER"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from environments import bare_environment

parser = argparse.ArgumentParser()
for name in ("prof", "sim"):
    parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
options = parser.parse_args()
problems = []


def devices(status, *arguments, folder, error="", **variables):
    environment = {**bare_environment(), "LD_LIBRARY_PATH": str(options.sim), "XDG_CONFIG_HOME": folder} | variables
    done = subprocess.run([options.prof, "devices", "--format", "json", *arguments], capture_output=True, text=True, env=environment, timeout=240)
    if done.returncode != status or error not in done.stderr:
        problems.append(f"{arguments} {variables}: status {done.returncode}, expected {status}, with {error!r} in: {done.stderr}")
    print(f"status {done.returncode}: {' '.join(map(str, arguments))} {variables} {done.stderr.strip()}")
    return json.loads(done.stdout) if done.stdout else {}


def expect(what, found, wanted, share=0.01):
    good = abs(found - wanted) <= share * wanted if isinstance(wanted, (int, float)) and found is not None else found == wanted
    if not good:
        problems.append(f"{what}: {found}, expected {wanted}")


with tempfile.TemporaryDirectory(prefix="prof-devices-test-") as folder:
    kept = pathlib.Path(folder) / "prof" / "measured-devices"
    devices(2, "--devices", "measured", folder=folder, error="prof devices --measure")
    script = "kernel gemm_lt 1400000; copy d2d 2150; copy setup 0; launch_latency 0"
    table = devices(0, "--measure", folder=folder, SIM=script)
    row = table["rows"][0]
    expect("GPUs of one name are measured once", len(table["rows"]), 1)
    expect("bandwidth counts bytes read and written", row["bandwidth_gbs"], 2 * 2150, 0.01)
    for peak in ("fp64_matrix", "fp32", "tf32", "fp16", "bf16", "int8"):
        expect(peak, row[peak], 2 * 8192**3 / 1.4e-3 / 1e12, 0.02)
    expect("what was not measured is empty", row["fp8"], None)
    read = [each for each in devices(0, "--devices", "measured", folder=folder)["rows"] if each["name"] == row["name"]]
    expect("kept rows are read", [each["from"] for each in read], ["measured"])
    expect("as they were measured", read[0]["bf16"] if read else None, row["bf16"])

    kept.write_text("# a row of somebody's own\nMy GPU: fp16=100\n" + kept.read_text())
    devices(0, "--measure", folder=folder, SIM=script.replace("1400000", "2800000"))
    lines = kept.read_text().splitlines()
    expect("rows of others stay", lines[:2], ["# a row of somebody's own", "My GPU: fp16=100"])
    expect("a row of the same name is replaced", len(lines), 4)
    again = devices(0, "--devices", "measured", folder=folder)["rows"]
    expect("by the new one", [each["bf16"] for each in again if each["name"] == row["name"]][0], 2 * 8192**3 / 2.8e-3 / 1e12, 0.02)

    own = pathlib.Path(folder) / "own"
    devices(0, "--measure", "--store", own, folder=folder, SIM=script)
    expect("--store names another file", own.exists(), True)
    small = devices(1, "--measure", "--cublas", "/nowhere/libcublas.so", folder=folder, SIM=script)
    expect("without cuBLAS there is a bandwidth", small["rows"][0]["bandwidth_gbs"], 2 * 2150, 0.01)
    expect("and no product", small["rows"][0]["bf16"], None)
    expect("and it says what to do", any("--cublas FILE" in note for note in small["notes"]), True)
    refused = devices(1, "--measure", folder=folder, SIM=script + "; fault cuMemAlloc_v2 1+ 2")
    expect("without memory nothing is measured", refused["rows"][0]["bandwidth_gbs"], None)
    expect("and it says why", any("CUDA_ERROR_OUT_OF_MEMORY" in note for note in refused["notes"]), True)
    devices(2, "--measure", folder=folder, error="no CUDA driver", LD_LIBRARY_PATH=folder)
    devices(2, "--measure", folder=folder, error="CUDA_ERROR_NO_DEVICE", SIM="fault cuInit * 100")
    devices(2, "--measure", "--store", "/proc/none/file", folder=folder, error="--store FILE", SIM=script)

print("\n".join(problems))
sys.exit(1 if problems else 0)
