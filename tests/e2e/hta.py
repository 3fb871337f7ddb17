#!/usr/bin/env python3
"""Does Holistic Trace Analysis load our trace of a training loop, and find in it what prof finds? Records profiler_steps on the simulated GPU and
gives its trace to tests/gpu/hta_check.py. Usage: hta.py --prof PROF --libprof LIBPROF --sim FOLDER --program PROGRAM --root ROOT. Needs
`pip install HolisticTraceAnalysis 'pandas<3'` for this Python or into build/hta (python3 -m venv build/hta); status 77: it is nowhere."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
for name in ("prof", "libprof", "sim", "program", "root"):
    parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
options = parser.parse_args()


def has_hta(python):
    return subprocess.run([python, "-c", "import hta.trace_analysis"], capture_output=True).returncode == 0


python = next((python for python in (sys.executable, options.root / "build/hta/bin/python3") if os.path.exists(python) and has_hta(python)), None)
if python is None:
    print("Holistic Trace Analysis is not installed")
    sys.exit(77)

with tempfile.TemporaryDirectory(prefix="prof-hta-") as folder:
    environment = dict(os.environ, PROF_OUTPUT=folder, LD_LIBRARY_PATH=str(options.sim), PROF_CUPTI=str(options.sim / "libcupti.so.13"),
                       SIM_SCRIPT="/dev/null")
    subprocess.run(["env", f"LD_PRELOAD={options.libprof}", options.program], env=environment, check=True)
    (log,) = pathlib.Path(folder).glob("*.plog")
    trace, table = f"{folder}/steps.json.gz", f"{folder}/gpu.csv"
    subprocess.run([options.prof, "trace", log, "-o", trace], check=True, capture_output=True)
    subprocess.run([options.prof, "report", "gpu-trace", log, "--format", "csv", "-o", table], check=True, capture_output=True)
    checked = subprocess.run([python, options.root / "tests/gpu/hta_check.py", trace, table], capture_output=True, text=True)

print(checked.stdout)
problems = [f"hta_check.py ended with {checked.returncode}: {checked.stderr[-2000:]}"] if checked.returncode else []
for wanted in ("| `get_temporal_breakdown`: computing (ns) |", "| `get_gpu_kernel_breakdown`: kernel names | 2 | 2 | equal |",
               "| … kernels, calls | 60 | 60 | equal |", "| `get_memory_bw_summary`: copies and fills | 18 | 18 | equal |",
               "| `get_cuda_kernel_launch_stats`: launches of kernels, copies and fills | 78 | 78 | equal |",
               "`get_frequent_cuda_kernel_sequences`: in NVTX range model (ns) |"):
    if wanted not in checked.stdout:
        problems.append(f"no row {wanted}")
if "ProfilerStep not found" in checked.stdout:
    problems.append("it finds no steps")
if problems:
    sys.exit("\n".join(problems))
