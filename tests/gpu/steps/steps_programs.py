"""Steps that record real programs and compare their logs with the programs' own output and with CUPTI alone."""
import concurrent.futures
import json
import os

import recorded_run
from lab import APPS_FOLDER, PROGRAMS_FOLDER, Skipped, prof_libraries
from log_checks import add, compare_with_cupti, coverage, depths, load, same_behaviour, whole

MAX_TRACE_BYTES = 10_000_000
MAX_BYTES_PER_LAUNCH = 24


# --- a static-cudart program -----------------------------------------------------------------------------------------

def static_cudart(lab, step):
    if lab.sim:
        raise Skipped("needs a GPU: the simulated CUDA runtime does not have all functions that the program calls")
    command = [lab.program("mixed")]
    plain = lab.run(command)
    if plain.status != 0:
        raise RuntimeError(f"the program fails without the recorder: {plain.stderr.strip()[-200:]}")
    counts = [lab.fresh("static", f"cupti{i}") for i in range(2)]
    for folder in counts:
        lab.run(command, env=lab.cupti_env(folder))
    folder = lab.fresh("static", "log")
    recorded = lab.run(command, env=lab.recorded_env(folder))
    same_behaviour(step, plain, recorded)
    said = json.loads(plain.stdout)
    runs = load(lab, folder)
    coverage(step, runs)
    seen = {kind: sum(1 for run in runs for l in run.launches if l.kind == kind and l.flags & 1 == 0)
            for kind in ("kernel_launch", "graph_launch")}
    step.check("kernel launches as the program counts them", seen["kernel_launch"] == said["kernel_launches"],
               seen["kernel_launch"], said["kernel_launches"])
    step.check("graph launches as the program counts them", seen["graph_launch"] == said["graph_launches"],
               seen["graph_launch"], said["graph_launches"])
    captured = sum(1 for run in runs for l in run.launches if l.flags & 1)
    step.check("captured launches as the program counts them", captured == said["captured_launches"], captured,
               said["captured_launches"])
    ours = add(run.kernel_table() for run in runs)
    wrong = {name: (ours.get(name, [0])[0], n) for name, n in said["kernels"].items() if ours.get(name, [0])[0] != n}
    step.check("kernels by name as the program counts them", not wrong, f"{len(said['kernels'])} names, wrong: {wrong or 'none'}",
               "equal")
    for what in ("copy", "fill"):
        n = sum(run.totals()[what][0] for run in runs)
        want = said["copies" if what == "copy" else "fills"]
        step.check(f"{what} operations as the program counts them", n == want, n, want)
    first, second = (lab.cupti_count(folder) for folder in counts)
    compare_with_cupti(step, runs, first)
    rows = []
    for name in sorted(n for n in first["by_name"] if "spin_" in n):
        a, b, c = ours.get(name, [0, 0])[1], first["by_name"][name][1], second["by_name"].get(name, [0, 0])[1]
        rows.append((name, a, b, f"{a / b - 1:+.4%}", f"{c / b - 1:+.4%}"))
        if "long" in name:
            step.check("total time of the 500 µs kernels as in CUPTI's own run", abs(a / b - 1) <= 0.001, f"{a / b - 1:+.4%}",
                       "0.1 %")
    step.table("Kernels of fixed length, total ns of separate runs",
               ["kernel", "log", "CUPTI alone", "log − CUPTI", "CUPTI − CUPTI, run again"], rows)
    depths(step, runs)
    whole(lab, step, folder)
    status(lab, step)


def status(lab, step):
    """The program's own exit status, also through prof record."""
    command = [lab.program("mixed"), "--divide", "100", "--exit", "7"]
    folder = lab.fresh("static", "exit")
    step.check("exit status 7 passes the recorder", lab.run(command, env=lab.recorded_env(folder)).status == 7, 7, 7)
    if lab.prof:
        folder = lab.fresh("static", "record")
        answer = lab.run([lab.prof, "record", "--output", folder, "--", *command], env=lab.env(**prof_libraries(lab)))
        step.check("exit status 7 passes prof record", answer.status == 7, answer.status, 7)
        step.check("prof record leaves a log", len(lab.logs(folder)) == 1, len(lab.logs(folder)), 1)


def older_cupti(lab, step):
    """A CUPTI as before CUDA 12.5, which cannot enable single driver calls: each operation still has its launch, from
    the start and in a part of the run. A launch takes no more of the file than the limit."""
    if lab.sim:
        raise Skipped("needs a GPU")
    command = [lab.program("mixed")]
    counted = lab.fresh("older_cupti", "cupti")
    plain = lab.run(command, env=lab.cupti_env(counted))
    count = lab.cupti_count(counted)
    library = os.path.join(lab.fresh("older_cupti", "bin"), "libcupti_before_12_5.so")
    includes = [f"-I{folder}" for folder in (f"{lab.cuda}/include", f"{lab.cuda}/extras/CUPTI/include") if os.path.isdir(folder)]
    built = lab.run(["g++", "-std=c++20", "-O2", "-fPIC", "-shared", *includes, "-o", library, os.path.join(PROGRAMS_FOLDER, "cupti_before_12_5.cpp"),
                     "-Wl,--no-as-needed", count["path"], f"-Wl,-rpath,{os.path.dirname(count['path'])}"])
    step.check("the library builds", built.status == 0, built.stderr.strip()[-300:] or "built")
    for name, options in (("from the start", {}), ("from the 100th launch on", {"PROF_START": "launches:100"})):
        folder = lab.fresh("older_cupti", name.replace(" ", "_"))
        recorded = lab.run(command, env=lab.recorded_env(folder, PROF_CUPTI=library, **options))
        same_behaviour(step, plain, recorded)
        runs = load(lab, folder)
        step.check(f"{name}: how launches are found", runs[0].meta.get("gpu_correlation") == "every call", runs[0].meta.get("gpu_correlation"),
                   "every call")
        coverage(step, runs)
        if not options:
            compare_with_cupti(step, runs, count)
    whole(lab, step, folder)
    loop = [lab.program("launch_loop"), "--serve"]
    for name, options in (("this CUPTI", {}), ("before CUDA 12.5", {"PROF_CUPTI": library})):
        folder = lab.fresh("older_cupti", "loop_" + name.replace(" ", "_"))
        lab.run(loop, env=lab.recorded_env(folder, **options), stdin="loop 100000 0\n")
        runs = load(lab, folder)
        coverage(step, runs)
        size = os.path.getsize(lab.logs(folder)[0]) / max(1, len(runs[0].launches))
        step.check(f"launch loop, {name}: bytes of the file per launch", size <= MAX_BYTES_PER_LAUNCH, f"{size:.1f}", MAX_BYTES_PER_LAUNCH)


def batch_copies(lab, step):
    """Batches of copies: one launch each, and every copy with a CUPTI record belongs to one."""
    if lab.sim:
        raise Skipped("needs a GPU")
    command = [lab.program("batches")]
    plain = lab.run(command)
    if plain.status != 0:
        raise RuntimeError(f"the program fails without the recorder: {plain.stderr.strip()[-200:]}")
    said = json.loads(plain.stdout)
    if not said["batches"]:
        raise Skipped("needs CUDA 13")
    counted, folder = lab.fresh("batches", "cupti"), lab.fresh("batches", "log")
    lab.run(command, env=lab.cupti_env(counted))
    same_behaviour(step, plain, lab.run(command, env=lab.recorded_env(folder)))
    runs = load(lab, folder)
    coverage(step, runs)
    compare_with_cupti(step, runs, lab.cupti_count(counted))
    launches = [launch for run in runs for launch in run.launches if "Batch" in run.apis.get(launch.what, "")]
    step.check("batches as the program counts them", len(launches) == said["batches"], len(launches), said["batches"])
    routes = ("to device", "on device", "to host")
    asked, asked_bytes = (sum(said[route][i] for route in routes) for i in (0, 1))
    found = [operation for launch in launches for operation in launch.operations]
    step.figure("copies that the batches request", asked)
    step.figure("… records of them that CUPTI has", len(found))
    step.check("bytes of the batches on the GPU", sum(operation[7] for operation in found) == asked_bytes,
               sum(operation[7] for operation in found), asked_bytes)
    whole(lab, step, folder)
    if lab.prof:
        line = lab.run_prof(["summary", *lab.logs(folder)]).stdout.strip().splitlines()[-1]
        step.check("the coverage line misses none of their copies", "coverage: launches" in line and "copies of batches" not in line, line, "none")


# --- Python programs -------------------------------------------------------------------------------------------------

APPS = {
    "pytorch_eager": (["torch_app.py", "eager", "--steps", "10"], {}),
    "torch_compile": (["torch_app.py", "compile", "--steps", "20"], {}),
    "torch_graph": (["torch_app.py", "graph", "--steps", "30"], {}),
    "torch_reduce_overhead": (["torch_app.py", "reduce_overhead", "--steps", "30"], {}),
    "torch_graphed_callables": (["torch_app.py", "graphed_callables", "--steps", "30"], {}),
    "cupy": (["cupy_app.py"], {}),
    "jax": (["jax_app.py"], {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_FLAGS": "--xla_gpu_autotune_level=0"}),
}
_plain = {}


def app_command(lab, name):
    script, env = APPS[name]
    caches = {"TORCHINDUCTOR_CACHE_DIR": lab.path("inductor"), "TRITON_CACHE_DIR": lab.path("triton"),
              "CUPY_CACHE_DIR": lab.path("cupy")}
    return [lab.python, os.path.join(APPS_FOLDER, script[0]), *script[1:]], {**caches, **env}


def start_plain(lab, names):
    """Starts unrecorded runs of all programs at once: their output is the reference, and they fill the compilers'
    caches, so that later runs launch the same kernels (autotuning is finished)."""
    pool = concurrent.futures.ThreadPoolExecutor(max_workers=5)
    for name in names:
        command, env = app_command(lab, name)
        _plain[name] = pool.submit(lab.run, command, lab.env(**env), 200)
    pool.shutdown(wait=False)


def wait_plain():
    """Waits for them, because nothing may run during a comparison or measurement."""
    for waiting in _plain.values():
        try:
            waiting.result()
        except Exception:  # the app's own step reports it
            pass


def app(name):
    def check(lab, step):
        if lab.sim:
            raise Skipped("needs a GPU")
        plain = _plain[name].result()
        command, env = app_command(lab, name)
        if plain.status != 0 and env.pop("XLA_FLAGS", None):  # flags differ between versions
            plain = lab.run(command, env=lab.env(**env), timeout=120)
        if plain.status != 0:
            raise Skipped(f"does not run here without the recorder either: {plain.stderr.strip()[-300:]}")
        # a second warm run: the first one still benchmarked variants
        if name in ("torch_compile", "torch_reduce_overhead"):
            lab.run(command, env=lab.env(**env), timeout=90)
        count = lab.fresh(name, "cupti")
        alone = lab.run(command, env=lab.cupti_env(count, **env), timeout=120)
        folder = lab.fresh(name, "log")
        recorded = lab.run(command, env=lab.recorded_env(folder, **env), timeout=120)
        same_behaviour(step, plain, recorded)
        step.figure("seconds unrecorded, CUPTI alone, recorded",
                    f"{plain.seconds:.1f}, {alone.seconds:.1f}, {recorded.seconds:.1f}")
        step.figure("logs left (one per process that used CUDA)", len(lab.logs(folder)))
        runs = load(lab, folder)
        coverage(step, runs)
        compare_with_cupti(step, runs, lab.cupti_count(count))
        depths(step, runs)
        whole(lab, step, folder)
    return check


# --- prof's output for it --------------------------------------------------------------------------------------------

def trace(lab, step):
    """A Chrome trace of the PyTorch run, stored with the results."""
    logs = lab.logs(lab.path("pytorch_eager", "log")) or lab.logs(lab.path("static", "log"))
    if not logs:
        raise Skipped("no recorded run (run pytorch_eager or static_cudart first)")
    to = os.path.join(lab.out, "pytorch.trace.json.gz" if "pytorch_eager" in logs[0] else "static.trace.json.gz")
    answer = lab.run_prof(["trace", logs[0], "-o", to, "--force"], timeout=120)
    step.check("prof trace", answer.status == 0 and os.path.exists(to), f"exit status {answer.status}", 0)
    if os.path.exists(to):
        step.check("size of the trace", os.path.getsize(to) <= MAX_TRACE_BYTES, os.path.getsize(to), MAX_TRACE_BYTES)
        step.figure("seconds for prof trace", answer.seconds)
    summary = lab.run_prof(["summary", logs[0]])
    step.check("prof summary", summary.status == 0, f"exit status {summary.status}", 0)
    with open(os.path.join(lab.out, "summary.txt"), "w", encoding="utf-8") as file:
        file.write(summary.stdout)
    for report in ("gpu-trace", "api-trace", "queue-depth"):
        answer = lab.run_prof(["report", report, logs[0], "--format", "csv", "-o", lab.path(f"{report}.csv")])
        step.check(f"prof report {report}", answer.status == 0, f"exit status {answer.status}", 0)
    rows = sum(1 for _ in open(lab.path("gpu-trace.csv"), encoding="utf-8")) - 1 if os.path.exists(lab.path("gpu-trace.csv")) else 0
    run = recorded_run.Run(logs[0])
    step.check("rows of gpu-trace: one per GPU operation", rows == len(run.operations), rows, len(run.operations))
