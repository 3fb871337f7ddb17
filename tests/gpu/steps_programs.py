"""Steps that check what a log says about real programs, against the programs themselves and against CUPTI alone."""
import concurrent.futures
import json
import os
import re
import statistics

import recorded_run
from lab import BASELINE_PRELOADED, HERE, ROOT, Skipped

MAX_TRACE_BYTES = 10_000_000
MAX_BYTES_PER_LAUNCH = 24
COUNT_TOLERANCE = 0.001


def libprof_lines(stderr):
    return [line for line in stderr.splitlines() if line.startswith("libprof:")]


def load(lab, folder):
    """All logs of a folder that hold GPU work or launches, decoded; the largest first."""
    runs = [recorded_run.Run(path) for path in lab.logs(folder)]
    runs = [run for run in runs if run.launches or run.operations]
    if not runs:
        raise RuntimeError(f"no log with launches in {folder}")
    return runs


def add(tables):
    total = {}
    for table in tables:
        for name, (count, ns) in table.items():
            row = total.setdefault(name, [0, 0])
            row[0] += count
            row[1] += ns
    return total


def compare_with_cupti(step, runs, count):
    """Our log against CUPTI's own count of another run of the same program."""
    ours = add(run.kernel_table() for run in runs)
    theirs = count["by_name"]
    different = {name: (ours.get(name, [0])[0], theirs.get(name, [0])[0]) for name in set(ours) | set(theirs)
                 if ours.get(name, [0])[0] != theirs.get(name, [0])[0]}
    totals = {kind: [sum(run.totals()[kind][i] for run in runs) for i in range(3)] for kind in ("kernel", "copy", "fill")}
    operations = sum(row[0] for row in totals.values())
    expected = count["kernels"] + count["copies"] + count["fills"]
    step.check("GPU operations as CUPTI alone counts them", expected and abs(operations / expected - 1) <= COUNT_TOLERANCE,
               f"{operations} against {expected}", "within 0.1 %")
    step.check("kernels by name as CUPTI alone counts them", not different,
               f"{len(ours)} names, {sum(row[0] for row in ours.values())} kernels, {len(different)} names differ", "equal")
    step.check("copies and fills as CUPTI alone counts them",
               totals["copy"][0] == count["copies"] and totals["fill"][0] == count["fills"] and
               totals["copy"][2] == count["copy_bytes"],
               f"{totals['copy'][0]} copies of {totals['copy'][2]} bytes, {totals['fill'][0]} fills",
               f"{count['copies']} of {count['copy_bytes']}, {count['fills']}")
    if different:
        step.table("Kernels whose counts differ", ["kernel", "log", "CUPTI alone"],
                   [(name[:100], a, b) for name, (a, b) in sorted(different.items())[:15]])
    step.figure("kernel time in the log ÷ in CUPTI's own run", totals["kernel"][1] / max(1, count["kernel_ns"]))
    step.figure("records CUPTI alone dropped", count["dropped"])


def coverage(step, runs, allowed_without_launch=0.001):
    """Launches seen, launches with GPU time, operations with a launch; every miss is shown."""
    parts = [run.coverage() for run in runs]
    total = {key: sum(part[key] for part in parts) for key in
             ("launches", "captured", "failed", "expected", "timed", "operations", "operations_without_launch")}
    step.figure("launches seen", total["launches"])
    step.figure("… of them captured into graphs", total["captured"])
    step.figure("… of them with GPU time", total["timed"])
    step.figure("GPU operations", total["operations"])
    step.check("launches with GPU time", total["expected"] and total["timed"] == total["expected"],
               f"{total['timed']} of {total['expected']}", "all")
    step.check("GPU operations with a launch",
               total["operations_without_launch"] <= allowed_without_launch * total["operations"],
               f"{total['operations'] - total['operations_without_launch']} of {total['operations']}", "99.9 %")
    rows = []
    for part in parts:
        rows += [("launch without GPU time", what, n) for what, n in part["missing"].items()]
        rows += [("operation without launch", what[:100], n) for what, n in part["without_launch"].items()]
    if rows:
        step.table("What does not join", ["", "which", "times"], rows)
    step.check("no operation starts before its launch was entered", sum(run.inversions() for run in runs) == 0,
               sum(run.inversions() for run in runs), 0)
    counters = {}
    for run in runs:
        for name, n in run.log.counters.items():
            counters[name] = counters.get(name, 0) + n
    shown = {name: n for name, n in counters.items() if n}
    if shown:
        step.table("Counters of the log that are not 0", ["counter", "value"], sorted(shown.items()))
    unhooked = sorted({name for run in runs for name in run.unhooked})
    step.check("every launch function the program got is hooked", not unhooked, ", ".join(unhooked) or "all", "all")
    size = sum(os.path.getsize(run.log.path) for run in runs)
    step.figure("log, whole file ÷ launches", size / max(1, total["launches"]), "bytes")
    meta = runs[0].meta
    for key in ("cupti_path", "cupti_version", "driver_version"):
        if key in meta:
            step.figure(key.replace("_", " "), meta[key])
    return total


def depths(step, runs):
    """The live depth is an upper bound of the exact one; how far off it is."""
    pairs = [pair for run in runs for pair in run.depths()]
    if not pairs:
        return
    off = [live - exact for live, exact in pairs]
    below = sum(1 for value in off if value < 0)
    # CUPTI reports kernels that the driver launches on its own like any other: until the stream is next seen empty one launch may
    # count as finished too early.
    step.check("live depth is never below the exact depth", below <= max(1, 0.001 * len(off)), f"{below} of {len(off)}",
               "0.1 %, or one launch")
    step.table("Live queue depth of launches against the exact one (outstanding on the stream)",
               ["", "mean", "median", "99 %", "largest"],
               [(name, f"{statistics.mean(v):.2f}", sorted(v)[len(v) // 2], sorted(v)[int(0.99 * (len(v) - 1))], max(v))
                for name, v in (("live", [p[0] for p in pairs]), ("exact", [p[1] for p in pairs]), ("live − exact", off))])


def whole(lab, step, folder, killed=False):
    """What prof itself says about the largest log: whole, its coverage line, and the totals the independent reader found."""
    if not lab.prof:
        step.note("prof was not at hand: what it says about the log is not checked.")
        return
    log = lab.logs(folder)[0]
    answer = lab.run_prof(["check", log])
    verdict = "".join(re.findall(r"verdict +(.*)", answer.stdout))
    if killed:  # 1: nothing is damaged, but the program's last moments are not in it
        step.check("prof check: nothing is damaged", answer.status in (0, 1) and "damaged" not in answer.stdout,
                   f"exit status {answer.status}, {verdict}", "0 or 1")
    else:
        step.check("prof check: the log is whole", answer.status == 0, f"exit status {answer.status}, {verdict}", 0)
    summary = lab.run_prof(["summary", log, "--format", "json"])
    step.check("prof summary", summary.status == 0, f"exit status {summary.status}", 0)
    lines = [line.strip() for line in (summary.stdout + "\n" + summary.stderr).splitlines() if "with GPU time" in line]
    if lines:
        step.note("prof says: " + re.sub(r"^.*?coverage: ", "coverage: ", lines[-1]).strip('"}], '))
    rows = [row for table in tables_of(summary.stdout) for row in table.get("rows", [])
            if row.get("type") == "GPU activities"]
    run = recorded_run.Run(log)
    totals = run.totals().values()
    want = (sum(row[0] for row in totals), sum(row[1] for row in totals))
    found = (sum(row["calls"] for row in rows), sum(row["total_time_ns"] for row in rows))
    # Times: prof puts start and end on the log's clock one by one, which rounds a duration by a nanosecond or two.
    step.check("prof summary has the operations and the GPU time that the independent reader finds",
               found[0] == want[0] and abs(found[1] - want[1]) <= 1e-4 * want[1],
               f"{found[0]} operations, {found[1]} ns", f"{want[0]}, {want[1]} ± 0.01 %")


def tables_of(text):
    """The tables of `--format json`: one object, or several one after the other."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at)
        found += value if isinstance(value, list) else [value]
        while at < len(text) and text[at].isspace():
            at += 1
    return found


def same_behaviour(step, plain, recorded, messages=0):
    step.check("same standard output as unrecorded", plain.stdout == recorded.stdout, recorded.stdout.strip()[:120] or "(none)",
               plain.stdout.strip()[:120])
    step.check("same exit status as unrecorded", plain.status == recorded.status, recorded.status, plain.status)
    said = libprof_lines(recorded.stderr)
    step.check("lines of libprof on standard error", len(said) == messages, "; ".join(said)[:200] or "none", messages)


# --- a static-cudart program -------------------------------------------------------------------------------------------

def static_cudart(lab, step):
    command = [lab.program("mixed")] + (["--divide", "10"] if lab.sim else [])
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
        if "long" in name and not lab.sim:
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


def prof_libraries(lab):
    deps = os.path.abspath(os.path.join(os.path.dirname(lab.prof), "deps"))
    return {"LD_LIBRARY_PATH": f"{deps}:{lab.sim or ''}"} if os.path.isdir(deps) else {}


# --- Python programs ---------------------------------------------------------------------------------------------------

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
    return [lab.python, os.path.join(HERE, script[0]), *script[1:]], {**caches, **env}


def start_plain(lab, names):
    """Unrecorded runs of all programs at once: their output is the reference, and they fill the compilers' caches, so
    that the later runs launch the same kernels (autotuning is over)."""
    pool = concurrent.futures.ThreadPoolExecutor(max_workers=5)
    for name in names:
        command, env = app_command(lab, name)
        _plain[name] = pool.submit(lab.run, command, lab.env(**env), 200)
    pool.shutdown(wait=False)


def wait_plain():
    """Nothing may run beside what is compared or measured."""
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
        if plain.status != 0 and env.pop("XLA_FLAGS", None):  # flags come and go between versions
            plain = lab.run(command, env=lab.env(**env), timeout=120)
        if plain.status != 0:
            raise Skipped(f"does not run here without the recorder either: {plain.stderr.strip()[-300:]}")
        if name in ("torch_compile", "torch_reduce_overhead"):  # a second warm run: the first one still benchmarked variants
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


# --- what prof makes of it ---------------------------------------------------------------------------------------------

def trace(lab, step):
    """A Chrome trace of the PyTorch run, left beside the results."""
    logs = lab.logs(lab.path("pytorch_eager", "log")) or lab.logs(lab.path("static", "log"))
    if not logs:
        raise Skipped("no recorded run (run pytorch_eager or static_cudart first)")
    to = os.path.join(lab.out, "pytorch.trace.json.gz" if "pytorch_eager" in logs[0] else "static.trace.json.gz")
    answer = lab.run_prof(["trace", logs[0], "-o", to], timeout=120)
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


# --- building ----------------------------------------------------------------------------------------------------------

def build(lab, step):
    """Programs, the baseline, and libprof.so where none was brought."""
    os.makedirs(lab.path("bin"), exist_ok=True)
    if os.path.exists(lab.path("bin", BASELINE_PRELOADED)):
        os.remove(lab.path("bin", BASELINE_PRELOADED))
    lab.inject = not lab.sim
    arch = "90"
    if not lab.sim:
        found = lab.run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]).stdout.split()
        arch = found[0].replace(".", "") if found else arch
    cudart = "shared" if lab.sim else "static"  # the real one asks the driver to prove whose it is
    jobs = {name: [lab.nvcc, "-std=c++17", "-O2", "-cudart", cudart, "-gencode", f"arch=compute_{arch},code=sm_{arch}",
                   "-o", lab.path("bin", name), os.path.join(HERE, f"{name}.cu"), "-lpthread", "-ldl"]
            for name in ("mixed", "launch_loop", "managed", "contexts", "green_contexts", "window", "parts_threads", "waits", "repeats",
                         "diff_runs", "sampling")}
    includes = [f"-I{folder}" for folder in (f"{lab.cuda}/include", f"{lab.cuda}/extras/CUPTI/include") if os.path.isdir(folder)]
    jobs["cupti_parts"] = [lab.nvcc, "-std=c++17", "-O2", "-cudart", "static", "-gencode", f"arch=compute_{arch},code=sm_{arch}", *includes, "-o",
                           lab.path("bin", "cupti_parts"), os.path.join(HERE, "cupti_parts.cu"), "-lpthread", "-ldl"]
    for name, libraries in (("counters", ["-lcublas"]), ("libraries", ["-lcufft", "-lcusparse", "-lcublas"])):
        jobs[name] = [lab.nvcc, "-std=c++17", "-O2", "-cudart", "static", "-gencode", f"arch=compute_{arch},code=sm_{arch}", "-o",
                      lab.path("bin", name), os.path.join(HERE, f"{name}.cu"), *libraries, "-Xlinker", f"-rpath={lab.cuda}/lib64", "-lpthread", "-ldl"]
    # Kernels that launch graphs and set conditions call the device run time.
    jobs["graphs"] = [lab.nvcc, "-std=c++17", "-O2", "-cudart", "static", "-rdc=true", "-gencode", f"arch=compute_{arch},code=sm_{arch}",
                      "-o", lab.path("bin", "graphs"), os.path.join(HERE, "graphs.cu"), "-lcudadevrt", "-lpthread", "-ldl"]
    jobs["libcupti_baseline.so"] = ["g++", "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", *includes, "-o",
                                    lab.path("bin", "libcupti_baseline.so"), os.path.join(HERE, "cupti_baseline.cpp"), "-ldl"]
    if not lab.libprof:
        build_dir = lab.path("libprof")
        jobs["libprof.so"] = ["sh", "-c", f"cmake -S '{ROOT}' -B '{build_dir}' -G Ninja -DCMAKE_BUILD_TYPE=Release "
                              f"-DPROF_ANALYZER=OFF -DPROF_TESTS=OFF && ninja -C '{build_dir}'"]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for name, answer in zip(jobs, pool.map(lambda c: lab.run(c, timeout=200), jobs.values())):
            step.check(f"{name} builds", answer.status == 0, (answer.stderr or answer.stdout).strip()[-300:] if answer.status else "built")
    lab.libprof = lab.libprof or lab._find_bin("libprof.so")
    step.check("libprof.so is at hand", lab.libprof, lab.libprof and os.path.relpath(lab.libprof, lab.bin or lab.work), "")
    folder = lab.fresh("smoke")
    lab.run([lab.program("launch_loop")], env=lab.cupti_env(folder), timeout=60)
    if not os.listdir(folder):
        lab.inject = False
        open(lab.path("bin", BASELINE_PRELOADED), "w", encoding="utf-8").close()
        lab.run([lab.program("launch_loop")], env=lab.cupti_env(folder), timeout=60)
    count = lab.cupti_count(folder)
    step.check("CUPTI alone counts a loop of 1,000 kernels", count["kernels"] == 1000, count["kernels"], 1000)
    step.figure("how the CUPTI baseline is loaded", "CUDA_INJECTION64_PATH" if lab.inject else "LD_PRELOAD")
    step.figure("CUPTI of the baseline", f"{count['path']}, version {count['version']}")
