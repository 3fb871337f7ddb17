#!/usr/bin/env python3
"""Do exported databases give what the log gives? Records programs on the simulated GPU, CUDA graphs among them, and
checks their logs with tests/golden/export_readers.py. Usage: export_again.py --prof PROF --libprof LIBPROF --sim FOLDER
PROGRAM…"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
for name in ("prof", "libprof", "sim"):
    parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
parser.add_argument("programs", nargs="+", type=pathlib.Path)
options = parser.parse_args()

CHECK = pathlib.Path(__file__).parents[2] / "golden/export_readers.py"
with tempfile.TemporaryDirectory(prefix="prof-export-again-") as folder:
    environment = dict(os.environ, LD_LIBRARY_PATH=str(options.sim), PROF_CUPTI=str(options.sim / "libcupti.so.13"), SIM_SCRIPT="/dev/null")
    for program in options.programs:
        environment["PROF_OUTPUT"] = str(pathlib.Path(folder, program.name))
        subprocess.run(["env", f"LD_PRELOAD={options.libprof}", program], env=environment, check=True, stdout=subprocess.DEVNULL)
    logs = sorted(pathlib.Path(folder).rglob("*.plog"))
    if len(logs) != len(options.programs):
        sys.exit(f"{len(logs)} logs of {len(options.programs)} programs")
    sys.exit(subprocess.run([sys.executable, CHECK, "--prof", options.prof, *logs]).returncode)
