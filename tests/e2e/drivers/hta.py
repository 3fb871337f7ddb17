#!/usr/bin/env python3
"""Does Holistic Trace Analysis load prof's traces of a training loop without warnings, run every analysis, and find the
same numbers as prof? And does it do the same for a program without steps, except for its usual messages about traces
without steps? Records profiler_steps on the simulated GPU, twice as two ranks, and passes the logs to
tests/gpu/hta_check.py. Usage: hta.py --prof PROF --libprof LIBPROF --sim FOLDER --program PROGRAM --root ROOT. Needs
`scripts/setup --readers`, or Holistic Trace Analysis for this Python; status 77 if it is not installed."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRESS = r"WARNING:hta:(Parsed|Overall parsing|leaving|Rounding down ns) "  # these messages are not about the trace
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

def check(*strict, program_arguments=()):
    """hta_check.py's result for two recorded ranks of the program."""
    with tempfile.TemporaryDirectory(prefix="prof-hta-") as folder:
        logs = []
        for rank in range(2):  # the search for stragglers compares ranks
            output = pathlib.Path(folder, str(rank))
            output.mkdir()
            # Operations take the time that the script sets, so that kernels are longer than one microsecond, the
            # resolution by which HTA sorts them.
            environment = dict(os.environ, PROF_OUTPUT=str(output), LD_LIBRARY_PATH=str(options.sim), PROF_CUPTI=str(options.sim / "libcupti.so.13"),
                               SIM_SCRIPT="/dev/null", SIM_CLOCK="real", SIM="timed; kernel * 5000; kernel ncclKernel_AllReduce 300000")
            subprocess.run(["env", f"LD_PRELOAD={options.libprof}", options.program, *program_arguments], env=environment, check=True)
            logs += output.glob("*.plog")
        return subprocess.run([python, options.root / "tests/gpu/hta_check.py", "--prof", options.prof, *strict, *logs], capture_output=True, text=True)


checked = check("--strict")
print(checked.stdout)
problems = [f"hta_check.py ended with {checked.returncode}: {checked.stderr[-2000:]}"] if checked.returncode else []
problems += [f"it prints {line}" for line in checked.stderr.splitlines() if re.search("warning|error", line, re.I) and not re.match(PROGRESS, line)]
WANTED = """| `get_gpu_kernel_breakdown`, operations alone: kernel names | 3 | 3 | equal |
| … kernels, calls | 66 | 66 | equal |
| `get_gpu_kernel_breakdown`, synchronisations counted as work: kernel names | 4 | 4 | equal |
| … kernels, calls | 84 | 84 | equal |
| `get_memory_bw_summary`: copies and fills | 18 | 18 | equal |
| `get_cuda_kernel_launch_stats`: launches of kernels, copies and fills | 84 | 84 | equal |
| `get_gpu_kernels_with_user_annotations`: operations in one; launched in one | 8
| `get_gpu_user_annotation_breakdown`: names | 7 | 7 | equal |
| `critical_path_analysis`, ProfilerStep 0: edges |
 sync_dependency 4 |
| `get_potential_stragglers`: ranks | """
problems += [f"no row {wanted}" for wanted in WANTED.splitlines() if wanted not in checked.stdout]

# The same program with other names for its ranges: the same numbers, and HTA's usual messages about traces without
# steps.
checked = check(program_arguments=["epoch "])
print(checked.stdout)
if checked.returncode:
    problems.append(f"without steps: hta_check.py ended with {checked.returncode}: {checked.stderr[-2000:]}")
without = WANTED.replace("ProfilerStep 0", "epoch 1 0").splitlines()[:-1] + [
    "says | ProfilerStep not found in the trace. The analysis result may not be accurate. |", "| `get_potential_stragglers` | ValueError: invalid value for argument: profiler_steps=None; available profiler steps=[] |"]
problems += [f"without steps: no row {wanted}" for wanted in without if wanted not in checked.stdout]
said = {row for row in checked.stdout.splitlines() if "` says |" in row or "Error: " in row}
problems += [f"without steps it also says {row}" for row in said if not any(known in row for known in without)]
if problems:
    sys.exit("\n".join(problems))
