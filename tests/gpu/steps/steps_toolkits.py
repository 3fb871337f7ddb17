"""The CUPTIs and CUDA runtimes of other toolkits, from NVIDIA's wheels (gpu-check --pack DIR --wheels FOLDER), on this
machine's driver."""
import glob
import json
import os
import re
import shutil
import zipfile

from lab import PROGRAMS_FOLDER, Skipped
from log_checks import add, compare_with_cupti, coverage, load, same_behaviour, whole

WHEEL = re.compile(r"nvidia_cuda_(runtime|cupti)(?:_cu\d+)?-(\d+\.\d+)\..*\.whl$")
LIBRARY = re.compile(r"nvidia/[^/]+/lib/lib(cupti\.so\.[\d.]+|cudart\.so\.[\d.]+|cudart_static\.a)$")


def unpack(wheels, folder):
    """Unpacks CUPTI and the CUDA runtime of each wheel to folder/VERSION/, as pip would lay them out, and nothing else.
    Returns the paths."""
    found = []
    for wheel in sorted(glob.glob(os.path.join(wheels, "*.whl"))):
        named = WHEEL.match(os.path.basename(wheel))
        if not named:
            continue
        with zipfile.ZipFile(wheel) as archive:
            for member in filter(LIBRARY.match, archive.namelist()):
                to = os.path.join(folder, named.group(2), member)
                os.makedirs(os.path.dirname(to), exist_ok=True)
                with archive.open(member) as source, open(to, "wb") as target:
                    shutil.copyfileobj(source, target)
                found.append(to)
    return found


def libraries(lab, pattern):
    """[(version of the toolkit, path)] of the packed ones, the oldest first."""
    folder = os.path.join(lab.bin or "", "toolkits")
    found = [(path[len(folder) + 1:].split("/")[0], path) for path in glob.glob(os.path.join(folder, "*", "nvidia", "*", "lib", pattern))]
    if not found:
        raise Skipped("no other toolkit (--pack with --wheels)")
    return sorted(found, key=lambda one: [int(part) for part in one[0].split(".")])


def other_cuptis(lab, step):
    """The CUPTI of each toolkit counts the program's operations like this machine's own, and each operation has its
    launch."""
    if lab.sim:
        raise Skipped("needs a GPU")
    command = [lab.program("mixed")]
    counted = lab.fresh("other_cuptis", "cupti")
    plain = lab.run(command, env=lab.cupti_env(counted))
    count, rows = lab.cupti_count(counted), []
    for version, library in libraries(lab, "libcupti.so.*"):
        folder = lab.fresh("other_cuptis", version)
        recorded = lab.run(command, env=lab.recorded_env(folder, PROF_CUPTI=library))
        of_this = step.named(f"CUPTI {version}")
        same_behaviour(of_this, plain, recorded)
        runs = load(lab, folder)
        meta = runs[0].meta
        of_this.check("it is the one that was used", os.path.samefile(meta.get("cupti_path", os.devnull), library), meta.get("cupti_path"), library)
        coverage(of_this, runs)
        compare_with_cupti(of_this, runs, count)
        rows.append((version, meta.get("cupti_version"), meta.get("gpu_correlation"), sum(len(run.operations) for run in runs)))
        whole(lab, of_this, folder)
    step.table("How launches were joined with their operations", ["CUDA", "CUPTI's version", "by", "GPU operations"], rows)


def build_for(lab, runtime, to):
    """any_runtime, linked with this CUDA runtime; the reason why it was not, or nothing."""
    kernels = lab.path("any_runtime.fatbin")
    built = lab.run([lab.nvcc, "-fatbin", *lab.gencode(), "-o", kernels, os.path.join(PROGRAMS_FOLDER, "any_runtime_kernels.cu")])
    if built.status == 0:
        built = lab.run(["g++", "-std=c++17", "-O2", f'-DKERNELS="{kernels}"', "-o", to, os.path.join(PROGRAMS_FOLDER, "any_runtime.cpp"), runtime,
                         "-lpthread", "-ldl", "-lrt"])
    return built.stderr.strip()[-300:] if built.status else ""


def other_runtimes(lab, step):
    """A program linked with the CUDA runtime of each toolkit, shared, and static if the wheel has it: recorded on two
    levels if it is shared, with the CUPTI that pip installs near it."""
    if lab.sim:
        raise Skipped("needs a GPU")
    rows = []
    for version, runtime in libraries(lab, "libcudart*"):
        shared = ".so" in os.path.basename(runtime)
        of_this = step.named(f"{'shared' if shared else 'static'} runtime {version}")
        folder = lab.fresh("other_runtimes", f"{version}{'' if shared else '_static'}")
        program = os.path.join(folder, "any_runtime")
        reason = build_for(lab, runtime, program)
        of_this.check("a program links with it", not reason, reason or "built")
        if reason:
            continue
        search = {"LD_LIBRARY_PATH": ":".join(filter(None, [os.path.dirname(runtime), os.environ.get("LD_LIBRARY_PATH")]))}
        plain = lab.run([program], env=lab.env(**search))
        if plain.status != 0:
            of_this.note(f"the program does not run on this driver without the recorder either: {plain.stderr.strip()[-200:]}")
            continue
        said = json.loads(plain.stdout)
        recorded = lab.run([program], env=lab.recorded_env(folder, **search))
        same_behaviour(of_this, plain, recorded)
        runs = load(lab, folder)
        coverage(of_this, runs)
        ours = {name: row[0] for name, row in add(run.kernel_table() for run in runs).items()}
        of_this.check("kernels by name as the program counts them", ours == said["kernels"], ours, said["kernels"])
        totals = {what: sum(run.totals()[what][0] for run in runs) for what in ("copy", "fill")}
        of_this.check("copies and fills as the program counts them", (totals["copy"], totals["fill"]) == (said["copies"], said["fills"]),
                      totals, f"{said['copies']}, {said['fills']}")
        graphs = sum(1 for run in runs for launch in run.launches if launch.kind == "graph_launch")
        of_this.check("graph launches as the program counts them", graphs == said["graph_launches"], graphs, said["graph_launches"])
        outer = sum(run.api_calls.get("cudaLaunchKernel", 0) for run in runs)
        wanted = said["kernel_launches"] + said["captured_launches"] if shared else 0
        of_this.check("calls of cudaLaunchKernel around the driver's", outer == wanted, outer, wanted)
        near = glob.glob(os.path.join(os.path.dirname(runtime), "..", "..", "cuda_cupti", "lib", "libcupti.so.*"))
        if shared and near:
            of_this.check("the CUPTI near it was found", os.path.samefile(runs[0].meta.get("cupti_path", os.devnull), near[0]),
                          runs[0].meta.get("cupti_path"), near[0])
        whole(lab, of_this, folder)
        rows.append((version, "shared" if shared else "static", said["runtime"], runs[0].meta.get("cupti_version"), runs[0].meta.get("cupti_found")))
    step.table("CUDA runtimes and the CUPTI found for each", ["CUDA", "linked", "its version", "CUPTI's version", "found"], rows)
