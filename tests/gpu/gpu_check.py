#!/usr/bin/env python3
"""Checks and measures libprof on a machine with a GPU and writes one page of results (scripts/gpu-check calls this).

Needs nvcc and g++; PyTorch, CuPy and JAX are used if they are installed. Nothing is downloaded.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "steps")]
import steps_answers  # noqa: E402
import steps_budget  # noqa: E402
import steps_build  # noqa: E402
import steps_counters  # noqa: E402
import steps_cupti_samples  # noqa: E402
import steps_cupti_v2  # noqa: E402
import steps_decode  # noqa: E402
import steps_devices  # noqa: E402
import steps_diff  # noqa: E402
import steps_ends  # noqa: E402
import steps_graphs  # noqa: E402
import steps_hook  # noqa: E402
import steps_host_samples  # noqa: E402
import steps_kernel_lines  # noqa: E402
import steps_killed  # noqa: E402
import steps_libraries  # noqa: E402
import steps_overhead  # noqa: E402
import steps_pc_sampling  # noqa: E402
import steps_peaks  # noqa: E402
import steps_processes  # noqa: E402
import steps_profilers  # noqa: E402
import steps_programs  # noqa: E402
import steps_repeats  # noqa: E402
import steps_residue  # noqa: E402
import steps_sampling  # noqa: E402
import steps_second_cupti  # noqa: E402
import steps_stacks  # noqa: E402
import steps_toolkits  # noqa: E402
import steps_waits  # noqa: E402
import steps_window  # noqa: E402
from lab import ROOT, Lab, machine  # noqa: E402
from results import Results, join  # noqa: E402

STEPS = {
    "build": steps_build.build,
    "static_cudart": steps_programs.static_cudart,
    "batch_copies": steps_programs.batch_copies,
    "older_cupti": steps_programs.older_cupti,
    "other_cuptis": steps_toolkits.other_cuptis,
    "other_runtimes": steps_toolkits.other_runtimes,
    "graphs": steps_graphs.graphs,
    "killed": steps_killed.killed,
    "torch_killed": steps_killed.torch_killed,
    "exits": steps_ends.exits,
    "starts": steps_ends.starts,
    "dataloader": steps_processes.dataloader,
    "ranks_one_gpu": steps_processes.ranks_one_gpu,
    "doctor": steps_processes.doctor,
    "gaps": steps_overhead.gaps,
    "window": steps_window.window,
    "parts": steps_residue.parts,
    "finalize": steps_residue.finalize,
    "call_costs": steps_residue.call_costs,
    **{name: steps_programs.app(name) for name in steps_programs.APPS},
    "managed": steps_devices.managed,
    "contexts": steps_devices.contexts,
    "green_contexts": steps_devices.green_contexts,
    "waits": steps_waits.waits,
    "two_gpus": steps_devices.two_gpus,
    "nccl": steps_devices.nccl,
    "blame": steps_devices.blame,
    "late_data": steps_devices.late_data,
    "call_stacks": steps_stacks.call_stacks,
    "torch_graph_nodes": steps_graphs.torch_graph_nodes,
    "torch_profiler": steps_profilers.torch_profiler,
    "jax_profiler": steps_profilers.jax_profiler,
    "injected_tool": steps_profilers.injected_tool,
    "developer_tools": steps_profilers.developer_tools,
    "second_cupti": steps_second_cupti.second_cupti,
    "cupti_v2": steps_cupti_v2.cupti_v2,
    "cupti_samples": steps_cupti_samples.cupti_samples,
    "cupti_rules": steps_cupti_samples.cupti_rules,
    "trace": steps_programs.trace,
    "torch_answers": steps_answers.torch_answers,
    "peaks": steps_peaks.peaks,
    "measured_peaks": steps_peaks.measured_peaks,
    "repeat_kernel": steps_repeats.repeat_kernel,
    "diff_runs": steps_diff.diff_runs,
    "runtimes": steps_libraries.runtimes,
    "library_calls": steps_libraries.library_calls,
    "library_kinds": steps_libraries.library_kinds,
    "library_convolutions": steps_libraries.library_convolutions,
    "counters": steps_counters.counters,
    "sampling": steps_sampling.sampling,
    "host_samples": steps_host_samples.host_samples,
    "pc_sampling": steps_pc_sampling.pc_sampling,
    "pc_rules": steps_pc_sampling.pc_rules,
    "stall_kinds": steps_kernel_lines.stall_kinds,
    "kernel_lines": steps_kernel_lines.kernel_lines,
    "pytorch_pc_samples": steps_kernel_lines.pytorch_pc_samples,
    **{f"decode_{mode}": steps_decode.decode(mode) for mode in steps_decode.MODES},
    **{f"decode_samples_{mode}": steps_decode.decode_samples(mode) for mode in steps_decode.MODES},
    "server_idle": steps_decode.server_idle,
    "hook_cost": steps_hook.hook_cost,
    "launch_loop": steps_overhead.launch_loop,
    "flush_costs": steps_ends.flush_costs,
    "graph_replay": steps_graphs.graph_replay,
    "pytorch_step": steps_overhead.pytorch_step,
    "native_stack": steps_stacks.native_stack,
    "stack_costs": steps_stacks.stack_costs,
    "budget": steps_budget.budget,
    "budget_sparse": steps_budget.budget_sparse,
    "budget_back_to_back": steps_budget.budget_back_to_back,
    "budget_pytorch": steps_budget.budget_pytorch,
}


def pack(build, folder, wheels):
    """Packs prof and libprof.so of a build in one folder from which another machine can run them. Adds the libraries
    that prof needs beyond the C and C++ runtimes, and CUDA runtimes and CUPTIs of other toolkits."""
    def find(name):
        return next((path for path in (os.path.join(build, folder, name) for folder in ("bin", "lib"))
                     if os.path.isfile(path)), None)
    os.makedirs(os.path.join(folder, "deps"), exist_ok=True)
    for name in ("libprof.so", "prof"):
        found = find(name)
        if not found:
            sys.exit(f"gpu-check: no {name} in {build}")
        shutil.copy(found, folder)
    for base, _, files in os.walk(build):  # lib/prof/: libprof.so looks for it next to itself
        if os.path.basename(base) == "prof" and os.path.basename(os.path.dirname(base)) == "lib":
            os.makedirs(os.path.join(folder, "lib"), exist_ok=True)
            shutil.copytree(base, os.path.join(folder, "lib", "prof"), dirs_exist_ok=True)
    needed = subprocess.run(["ldd", os.path.join(folder, "prof")], capture_output=True, text=True, check=True).stdout
    system = re.compile(r"^(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so|ld-linux|linux-vdso)")
    for name, path in re.findall(r"^\s*(\S+) => (\S+)", needed, re.M):
        if not system.match(name) and os.path.exists(path):
            shutil.copy(path, os.path.join(folder, "deps", name))
    bench, driver = os.path.join(build, "tests", "bench", "hook_bench"), os.path.join(build, "sim")
    if os.path.isfile(bench) and os.path.isdir(driver):  # for step native_stack
        shutil.copy(bench, folder)
        shutil.copytree(driver, os.path.join(folder, "sim"), dirs_exist_ok=True)
    shutil.rmtree(os.path.join(folder, "toolkits"), ignore_errors=True)
    if wheels and not steps_toolkits.unpack(wheels, os.path.join(folder, "toolkits")):
        sys.exit(f"gpu-check: no wheel of CUPTI or of a CUDA runtime in {wheels}")
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True).stdout
    with open(os.path.join(folder, "COMMIT"), "w", encoding="utf-8") as file:
        file.write(commit)
    print(f"packed in {folder}: run scripts/gpu-check --bin there")


def main():
    parser = argparse.ArgumentParser(prog="gpu-check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="steps, separated by commas: " + ", ".join(STEPS))
    parser.add_argument("--skip", default="", help="steps to leave out")
    parser.add_argument("--bin", default="", help="folder with libprof.so and prof (see --pack); else libprof.so is built here")
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "gpu-check", "out"), help="folder for the results")
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "gpu-check", "work"), help="folder for programs and logs")
    parser.add_argument("--built", default="", metavar="WORK", help="run the programs that an earlier run built in its --work, and build nothing")
    parser.add_argument("--budget", type=float, default=480, help="seconds; steps that do not fit are skipped")
    parser.add_argument("--pytorch-seconds", type=float, default=330, help="of --budget, for step pytorch_step: more processes, a narrower interval")
    parser.add_argument("--python", default="", help="the interpreter that has PyTorch; this one by default")
    parser.add_argument("--commit", default="", help="name of the sources if git does not know the commit")
    parser.add_argument("--sim", default="", help="rehearse on the simulated GPU in this folder; measures nothing")
    parser.add_argument("--pack", default="", metavar="DIR", help="put prof and libprof.so of --build into DIR and stop")
    parser.add_argument("--wheels", default="", metavar="FOLDER", help="for --pack: adds the CUPTI and the CUDA runtime of NVIDIA's wheels in FOLDER")
    parser.add_argument("--join", nargs="+", default=[], metavar="OUT", help="join the results of several runs into one page in --out, and stop")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="build folder for --pack")
    options = parser.parse_args()
    if options.pack:
        pack(options.build, options.pack, options.wheels)
        return 0
    if options.join:
        join(options.join, options.out)
        return 0
    chosen = [name for name in options.only.split(",") if name] or list(STEPS)
    skip = options.skip.split(",")
    unknown = [name for name in chosen + [s for s in skip if s] if name not in STEPS]
    if unknown:
        sys.exit(f"gpu-check: no step {', '.join(unknown)}; there are {', '.join(STEPS)}")
    if options.built:
        skip.append("build")
    elif "build" not in chosen and "build" not in skip:
        chosen.insert(0, "build")
    lab = Lab(options)
    results = Results(lab, machine(lab))
    names = [name for name in STEPS if name in chosen and name not in skip]
    apps = [name for name in names if name in steps_programs.APPS]
    started = False
    for name in names:
        # Unrecorded runs of the Python programs run during the build and never during a comparison.
        if apps and not lab.sim and not started:
            started = True
            steps_programs.start_plain(lab, apps)
        if name != "build":
            steps_programs.wait_plain()
        results.run(name, STEPS[name])
    print(f"results: {os.path.join(lab.out, 'gpu-check.md')}")
    return 0 if results.ok() else 1


if __name__ == "__main__":
    sys.exit(main())
