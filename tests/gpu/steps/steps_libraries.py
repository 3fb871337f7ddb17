"""Library calls (PROF_LIBS=1) of a PyTorch program and of one linked with cuFFT, cuSPARSE and cuBLAS: FLOPs equal the
closed form exactly, and the programs' results are unchanged."""
import collections
import glob
import json
import os
import re
import shutil

from lab import APPS_FOLDER, Skipped
from log_checks import coverage, load, same_behaviour


def library_calls(lab, step):
    if lab.sim:
        raise Skipped("needs a GPU")
    if not lab.prof:
        raise Skipped("no prof")
    script = [lab.python, os.path.join(APPS_FOLDER, "libraries_app.py")]
    plain = lab.run(script, timeout=120)
    if plain.status != 0:
        raise Skipped(f"PyTorch does not run here: {plain.stderr.strip()[-300:]}")
    silent_folder, folder = lab.fresh("libraries_off"), lab.fresh("libraries")
    silent = lab.run(script, env=lab.recorded_env(silent_folder), timeout=120)
    recorded = lab.run(script, env=lab.recorded_env(folder, PROF_LIBS="1"), timeout=120)
    step.check("status without recorder, without and with PROF_LIBS", plain.status == silent.status == recorded.status == 0,
               f"{plain.status}, {silent.status}, {recorded.status}; {recorded.stderr.strip()[-300:]}", "0, 0, 0")
    step.check("results are unchanged to the last bit", plain.stdout == recorded.stdout, differing(plain.stdout, recorded.stdout), "no line differs")
    logs, silent_logs = lab.logs(folder), lab.logs(silent_folder)
    if not logs or not silent_logs:
        raise RuntimeError("no log")
    off = lab.run_prof(["dump", silent_logs[0]], timeout=120).stdout.count("\nlibrary_call ")
    step.check("records of library calls without PROF_LIBS", off == 0, off, 0)
    dumped = lab.run_prof(["dump", logs[0]], timeout=120).stdout
    strings = dict(re.findall(r'^string id=(\d+) .*? text="(.*)"$', dumped, re.M))
    labels = dict(re.findall(r"^nvtx_label id=(\d+) .*?text=(\d+)", dumped, re.M))
    calls = collections.Counter(strings.get(labels.get(label, ""), "?") for label in re.findall(r"^library_call .*?label=(\d+)", dumped, re.M))
    step.check("library calls are recorded", sum(calls.values()) > 0, sum(calls.values()), "> 0")
    step.table("Library calls as recorded", ["call", "times"], [(call[:180], count) for call, count in sorted(calls.items())])
    files = sorted(set(re.findall(r"\S*lib(?:cublas|cublasLt|cudnn|nccl)\.so\.\d+", recorded_maps(lab, script))))
    step.table("Libraries", ["file"], [(file,) for file in files])
    table, wrong = compare_cases(lab, logs[0])
    step.table("FLOPs by case", ["case", "from library calls", "closed form", "bytes", "closed form", "source", "kernels"], table)
    convolutions = [name for name in wrong if name.startswith("conv")]
    attentions = [name for name in wrong if name.startswith("attention")]
    products = [name for name in wrong if not name.startswith(("conv", "attention"))]
    step.check("FLOPs of every product equal the closed form", len(table) > 25 and not products, f"{len(table)} cases, wrong: {products}", "none wrong")
    step.check("and those of every convolution", not convolutions, f"wrong: {convolutions}", "none wrong")
    through_cudnn = [row[0] for row in table if row[0].startswith("attention")]
    if through_cudnn or "no attention through cuDNN" not in plain.stderr:
        step.check("and those of every attention through cuDNN and its gradient", len(through_cudnn) == 6 and not attentions,
                   f"{len(through_cudnn)} cases, wrong: {attentions}", "6 cases, none wrong")
    else:
        step.note(f"Without attention: {plain.stderr.strip()[-200:]}")
    tf32 = [call for call in calls if "A=fp32" in call and ("math=tf32" in call or "fast_tf32" in call)]
    step.check("TF32 is seen where it is allowed", bool(tf32), len(tf32), "> 0")
    compare_with_shapes(lab, step, script, plain)
    answer = lab.run_prof(["report", "kernels", "--peaks", logs[0], "--format", "json"], timeout=60)
    if answer.status in (0, 1):
        rows = [row for row in json.loads(answer.stdout)["rows"] if row.get("from") == "library"]
        above = [row["name"][:60] for row in rows if (row.get("flops_percent") or 0) > 100]
        step.check("nothing multiplies faster than its peak", bool(rows) and not above, f"{len(rows)} kernels, above: {above}", "none above")


def runtimes(lab, step):
    """Two CUDA runtimes of one version in one process, one with another file name and in another folder, as wheels
    install it."""
    folders = [lab.sim] if lab.sim else [f"{lab.cuda}/lib64", f"{lab.cuda}/targets/*/lib"]
    found = [path for folder in folders for path in sorted(glob.glob(f"{folder}/libcudart.so.1[0-9]"))]
    if not found:
        raise Skipped("no shared libcudart in the toolkit")
    copy = os.path.join(lab.fresh("runtimes_copy"), "libcudart-copy.so.13")
    shutil.copyfile(os.path.realpath(found[0]), copy)
    command = [lab.python, os.path.join(APPS_FOLDER, "runtimes_app.py"), found[0], copy]
    plain, folder = lab.run(command), lab.fresh("runtimes")
    if plain.status != 0:
        raise Skipped(f"does not run here without the recorder either: {plain.stderr.strip()[-300:]}")
    recorded = lab.run(command, env=lab.recorded_env(folder))
    same_behaviour(step, plain, recorded)
    runs = load(lab, folder)
    coverage(step, runs)
    calls = {name: count for name, count in runs[0].api_calls.items() if name.startswith("cuda")}
    step.check("calls of both runtimes", calls.get("cudaMemsetAsync") == 20 and calls.get("cudaMalloc") == 2, calls, "20 fills, 2 allocations")
    launches = collections.Counter(launch.kind for launch in runs[0].launches)
    step.check("each fill and copy is one launch", sum(launches.values()) == 22, dict(launches), 22)
    fills = sum(1 for operation in runs[0].operations if operation[0] == "fill")
    step.check("fills on the GPU", fills == 20, fills, 20)


def library_kinds(lab, step):
    """Calls of cuFFT, cuSPARSE and cuBLAS in a CUDA C++ program that is linked with them: FLOPs and bytes equal the
    closed forms."""
    compare_program(lab, step, "library_kinds", lambda: [lab.program("libraries")], 34)


def library_convolutions(lab, step):
    """cuDNN's legacy (pre-graph) functions, through ctypes: FLOPs and bytes equal the closed forms."""
    compare_program(lab, step, "library_convolutions", lambda: [lab.python, os.path.join(APPS_FOLDER, "convolutions_app.py")], 11)


def compare_program(lab, step, name, command, cases):
    if lab.sim:
        raise Skipped("needs a GPU")
    if not lab.prof:
        raise Skipped("no prof")
    plain, folder = lab.run(command(), timeout=120), lab.fresh(name)
    if plain.status != 0:
        raise Skipped(f"the program does not run here: {plain.stderr.strip()[-300:]}")
    recorded = lab.run(command(), env=lab.recorded_env(folder, PROF_LIBS="1"), timeout=120)
    step.check("status with PROF_LIBS", recorded.status == 0, f"{recorded.status}; {recorded.stderr.strip()[-300:]}", 0)
    step.check("results are unchanged to the last bit", plain.stdout == recorded.stdout, differing(plain.stdout, recorded.stdout), "no line differs")
    step.check("nothing is printed on stderr", recorded.stderr == plain.stderr, recorded.stderr.strip()[-300:], plain.stderr.strip()[-300:])
    logs = lab.logs(folder)
    if not logs:
        raise RuntimeError("no log")
    dumped = lab.run_prof(["dump", logs[0]], timeout=120).stdout
    calls = sorted(set(re.findall(r'^string id=\d+ .*? text="(cu\w+\(.*\))"$', dumped, re.M)))
    step.table("Library calls as recorded", ["call"], [(call[:240],) for call in calls])
    table, wrong = compare_cases(lab, logs[0])
    step.table("FLOPs and bytes by case", ["case", "from library calls", "closed form", "bytes", "closed form", "source", "kernels"], table)
    step.check("FLOPs and bytes of every case equal the closed form", len(table) == cases and not wrong, f"{len(table)} cases, wrong: {wrong}",
               f"{cases} cases, none wrong")


def cases(lab, file):
    """(name, FLOPs and bytes by the closed form or None, its kernels) of each range "case NAME FLOPS [BYTES]" of a log
    or trace"""
    path = lab.path("libraries.json")
    made = lab.run_prof(["trace", file, "-o", path], timeout=120)
    if made.status not in (0, 1):
        raise RuntimeError(f"prof trace: status {made.status}: {made.stderr.strip()[-300:]}")
    with open(path, encoding="utf-8") as opened:
        events = [event for event in json.load(opened)["traceEvents"] if event.get("ph") == "X"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    for event in events:
        match = re.fullmatch(r"case (\w+) (\d+)(?: (\d+))?", event["name"])
        if match and event.get("cat") != "gpu_user_annotation":
            yield (match[1], int(match[2]), match[3] and int(match[3]),
                   [kernel for kernel in kernels if event["ts"] <= kernel["ts"] < event["ts"] + event["dur"]])


def flops_of(kernels):
    return sum(int(kernel["args"].get("kernel_flop", 0)) for kernel in kernels)


def compare_cases(lab, log):
    """(rows of a table, names of the wrong cases): for each range "case NAME FLOPS [BYTES]" the numbers of its
    kernels"""
    table, wrong = [], []
    for name, wanted, wanted_bytes, inside in cases(lab, log):
        found = flops_of(inside)
        moved = round(1e9 * sum(kernel["args"].get("kernel_num_gb", 0) for kernel in inside))
        sources = sorted({kernel["args"].get("flops from", "") for kernel in inside if "kernel_flop" in kernel["args"]})
        of_library = sources in (["library"], ["nominal, bytes library"])
        if wanted and (found != wanted or not of_library) or wanted_bytes and moved != wanted_bytes:
            wrong.append(name)
        table.append((name, f"{found:,}", f"{wanted:,}", f"{moved:,}", f"{wanted_bytes:,}" if wanted_bytes else "", ", ".join(sources),
                      "; ".join(kernel["name"][:60] for kernel in inside)))
    return table, wrong


def compare_with_shapes(lab, step, script, plain):
    """One run of the program with torch.profiler inside: FLOPs from the library calls in the log, and from operators'
    shapes in the trace."""
    folder, trace = lab.fresh("libraries_shapes"), lab.path("libraries.torch.json")
    recorded = lab.run([*script, "--trace", trace], env=lab.recorded_env(folder, PROF_LIBS="1"), timeout=120)
    logs = lab.logs(folder)
    if recorded.status != 0 or not logs or not os.path.exists(trace):
        return step.note(f"torch.profiler makes no trace here: status {recorded.status}: {recorded.stderr.strip()[-300:]}")
    step.check("results with torch.profiler inside", recorded.stdout == plain.stdout, differing(plain.stdout, recorded.stdout), "no line differs")
    by_calls = {name: flops_of(kernels) for name, _, _, kernels in cases(lab, logs[0])}
    by_shapes, sources = {}, collections.Counter()
    for name, _, _, kernels in cases(lab, trace):
        by_shapes[name] = flops_of(kernels)
        sources.update(kernel["args"].get("flops from", "") for kernel in kernels if "kernel_flop" in kernel["args"])
    both = [name for name in by_calls if by_shapes.get(name)]
    differ = {name: (by_calls[name], by_shapes[name]) for name in both if by_calls[name] != by_shapes[name]}
    step.check("FLOPs in torch.profiler's trace are from shapes", set(sources) == {"shapes"}, dict(sources), "shapes")
    step.check("FLOPs from library calls equal those from the shapes of the same run's operators", len(both) > 25 and not differ,
               f"{len(both)} cases, differ: {differ or 'none'}", "> 25 cases, all equal")
    alone = sorted(name for name in by_calls if not by_shapes.get(name))
    step.note(f"Cases without FLOPs from shapes, as replays of a graph, which have no operator: {', '.join(alone) or 'none'}.")


def differing(a, b):
    return [f"{x} | {y}" for x, y in zip(a.splitlines(), b.splitlines()) if x != y][:3] or (f"{len(a)} and {len(b)} characters" if a != b else "none")


def recorded_maps(lab, script):
    """The library files that PyTorch has loaded, for the page."""
    words = "import torch; a = torch.ones(8, 8, device='cuda'); torch.mm(a, a); print(open('/proc/self/maps').read())"
    return lab.run([script[0], "-c", words], timeout=60).stdout
