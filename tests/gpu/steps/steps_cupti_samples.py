"""The step with the samples of the toolkit's extras/CUPTI/samples: another profiler of each kind in a recorded program."""
import collections
import concurrent.futures
import difflib
import glob
import os
import re
import shutil

import coverage_line
from lab import PROGRAMS_FOLDER, Skipped
from log_checks import libprof_lines

# The samples that are a library run inside a target: (library, target, environment with {lib} and {cupti}).
TARGETS = {
    "cupti_trace_injection": ("libcupti_trace_injection.so", "simple_target", {"CUDA_INJECTION64_PATH": "{lib}", "NVTX_INJECTION64_PATH": "{cupti}"}),
    "cupti_finalize": ("libCuptiFinalize.so", "target_12s", {"CUDA_INJECTION64_PATH": "{lib}"}),
    "pc_sampling_continuous": ("libpc_sampling_continuous.so", "simple_target", {"CUDA_INJECTION64_PATH": "{lib}"}),
    "profiling_injection": ("libinjection.so", "simple_target", {"CUDA_INJECTION64_PATH": "{lib}"}),
}
# What the samples' own texts ask for.
ENVIRONMENT = {"cupti_nvtx": {"NVTX_INJECTION64_PATH": "{cupti}"}, "cupti_nvtx_ext_payload": {"NVTX_INJECTION64_PATH": "{cupti}"}}
ARGUMENTS = {"cupti_metric_properties": ["--device", "0"]}
NUMBER = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{16}\b|\d+(?:\.\d+)?(?:e[+-]?\d+)?")
SECONDS = 120
MOST_LINES = 60  # of a difference, in the page of results


def masked(text):
    """The lines of a sample's output with every number replaced, blanks joined and paths shortened. Records of CUPTI's own
    overhead are left out: how often it requests and flushes a buffer depends on who provides the buffers."""
    text = re.sub(r"/\S*/", "", text)
    lines = [re.sub(r"\s+", " ", NUMBER.sub("#", line)).strip() for line in text.splitlines()]
    return [line for line in lines if not line.startswith("OVERHEAD ")]


def build_all(lab, step, folder):
    """{sample: error text, or "" if it is built} in a copy of the samples whose neighbours are those of the toolkit."""
    source = next((path for path in (f"{lab.cuda}/extras/CUPTI/samples",) if os.path.isdir(path)), "")
    if not source:
        raise Skipped(f"no {lab.cuda}/extras/CUPTI/samples")
    copy = os.path.join(folder, "extras", "CUPTI", "samples")
    shutil.copytree(source, copy)
    for name in ("include", "lib64"):
        found = next((path for path in (f"{lab.cuda}/extras/CUPTI/{name}", f"{lab.cuda}/{name}") if os.path.isdir(path)), "")
        os.symlink(os.path.realpath(found), os.path.join(folder, "extras", "CUPTI", name))
    architecture = "".join(re.findall(r"sm_(\d+)", " ".join(lab.gencode()))[:1])
    make = ["make", f"SMS={architecture}", f"CUDA_INSTALL_PATH={os.path.realpath(lab.cuda)}", f"CUPTI_INSTALL_PATH={os.path.join(folder, 'extras', 'CUPTI')}"]
    host = os.path.join(copy, "extensions", "src", "profilerhost_util")
    if os.path.isdir(host):
        lab.run(make, cwd=host, timeout=120)
    names = sorted(name for name in os.listdir(copy) if os.path.isfile(os.path.join(copy, name, "Makefile")))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        built = list(pool.map(lambda name: lab.run(make, cwd=os.path.join(copy, name), timeout=300), names))
    answers = {name: "" if one.status == 0 else (one.stderr or one.stdout).strip()[-600:] for name, one in zip(names, built)}
    long_target = lab.run([lab.nvcc, "-O2", *lab.gencode(), "-o", os.path.join(folder, "target_12s"), os.path.join(PROGRAMS_FOLDER, "launches_for.cu")],
                          timeout=120)
    step.check("a target of 12 s builds", long_target.status == 0, long_target.stderr.strip()[-300:] or "built")
    return copy, answers


def executables(folder):
    """The programs that make left in a folder."""
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*"))):
        with open(path, "rb") as file:
            start = file.read(18)
        if start[:4] == b"\x7fELF" and os.access(path, os.X_OK) and not re.search(r"\.(o|a|so)(\.|$)", path) and start[16] in (2, 3):
            found.append(path)
    return found


def commands(lab, folder, samples, name):
    """[(title, command, environment)] of a sample."""
    cupti = next(iter(sorted(glob.glob(f"{lab.cuda}/extras/CUPTI/lib64/libcupti.so") + glob.glob(f"{lab.cuda}/lib64/libcupti.so"))), "")
    fill = {"cupti": cupti, "lib": ""}
    paths = f"{lab.cuda}/extras/CUPTI/lib64:{lab.cuda}/lib64"
    if name in TARGETS:
        library, target, env = TARGETS[name]
        fill["lib"] = os.path.join(samples, name, library)
        target = os.path.join(folder, target) if target == "target_12s" else os.path.join(samples, "profiling_injection", target)
        return [(name, [target], {"LD_LIBRARY_PATH": paths, **{key: value.format(**fill) for key, value in env.items()}})]
    env = {"LD_LIBRARY_PATH": paths, **{key: value.format(**fill) for key, value in ENVIRONMENT.get(name, {}).items()}}
    programs = executables(os.path.join(samples, name))
    return [(name if len(programs) == 1 else f"{name}/{os.path.basename(path)}", [path, *ARGUMENTS.get(name, [])], env) for path in programs]


def difference(plain, other):
    """The lines that differ, masked. Only as a set: records are printed when a buffer is delivered, and the recorder has
    buffers delivered earlier. CUPTI's thread prints them, so a line of the main thread may begin inside another one;
    then the words are compared."""
    def words(lines):
        return collections.Counter(re.findall(r"[^\s,:\[\]()]+", " ".join(lines)))
    if collections.Counter(plain) == collections.Counter(other) or words(plain) == words(other):
        return []
    return [line for line in difflib.unified_diff(plain, other, "alone", "recorded", lineterm="", n=1)]


class Sample:
    def __init__(self, lab, title, command, env, cwd):
        self.lab, self.title, self.command, self.env, self.cwd = lab, title, command, env, cwd

    def alone(self):
        return self.lab.run(self.command, env=self.lab.env(**self.env), cwd=self.cwd, timeout=SECONDS)

    def recorded(self, folder, **more):
        return self.lab.run(self.command, env=self.lab.recorded_env(folder, **{**self.env, **more}), cwd=self.cwd, timeout=SECONDS)


def with_own_tool(lines):
    """A program that has not set NVTX's variable reads libprof.so in it (docs/nvtx.md). The sample then does not set it."""
    return [re.sub(r"^(NVTX_INJECTION#_PATH: )libprof\.so$", r"\1libcupti.so", line) for line in lines]


def same(one, other):
    """What differs between two runs: (exit status, lines of standard output, lines of standard error)."""
    def errors(run):
        return [line for line in masked(run.stderr) if not line.startswith("libprof:")]
    return (one.status == other.status, difference(with_own_tool(masked(one.stdout)), with_own_tool(masked(other.stdout))), difference(errors(one), errors(other)))


def compare(lab, step, sample, out):
    """Runs a sample alone and recorded, and checks what it prints and what the log has."""
    file = os.path.join(out, sample.title.replace("/", "_"))
    plain = sample.alone()
    folder = lab.fresh("cupti_samples", "logs", sample.title.replace("/", "_"))
    recorded = sample.recorded(folder)
    status, lines, errors = same(plain, recorded)
    varies = []
    if lines or errors:  # Does the sample differ from itself? Which subsystem makes the difference?
        again = sample.alone()
        varies = same(plain, again)[1] + same(plain, again)[2]
        for more in ({}, {"PROF_GPU": "off"}, {"PROF_STACKS": "off"}):
            other = lab.fresh("cupti_samples", "logs", "again")
            found = same(plain, sample.recorded(other, **more))
            step.note(f"{sample.title}, once more with {more or 'the same options'}: exit status {'same' if found[0] else 'differs'}, "
                      f"{len(found[1])} lines differ, {len(found[2])} of standard error")
        own = None
        if "CUDA_INJECTION64_PATH" not in sample.env:
            env = lab.cupti_env(lab.fresh("cupti_samples", "alone"), names=False, **sample.env)
            own = lab.run(sample.command, env=env, cwd=sample.cwd, timeout=SECONDS)
        if not varies and own is not None and same(own, recorded) == (True, [], []):
            step.note(f"{sample.title}: CUPTI's kernel activity alone, without libprof.so, makes the same difference")
            lines, errors = [], []
    with open(file + ".txt", "w", encoding="utf-8") as text:
        for name, run in (("alone", plain), ("recorded", recorded)):
            text.write(f"==== {name}: exit status {run.status}, {run.seconds:.1f} s\n{run.stdout}\n---- standard error\n{run.stderr}\n")
        text.write("==== masked difference\n" + "\n".join(lines + errors) + "\n==== alone, twice\n" + "\n".join(varies) + "\n")
    step.check("same exit status", status, recorded.status, plain.status)
    step.check("same output, numbers masked", not (lines or errors) or varies, f"{len(lines)} + {len(errors)} lines differ"
               + (f"; alone twice: {len(varies)}" if varies else ""), 0)
    if lines or errors:
        shown = (lines + errors)[:MOST_LINES]
        step.note("```\n" + "\n".join(shown) + "\n```" + (f" and {len(lines + errors) - len(shown)} more" if len(shown) == MOST_LINES else ""))
        print(f"---- {sample.title}: alone against recorded\n" + "\n".join(lines + errors), flush=True)
    said = libprof_lines(recorded.stderr)
    if said:
        step.note("; ".join(said))
    logs = lab.logs(folder)
    if not logs and sample.title == "pc_sampling_utility":  # without a file it prints its usage, and calls no CUDA
        return
    if not logs:
        step.check("a log", plain.status not in (0, None), "no log; " + ("; ".join(said) or "no message"), "one")
        return
    shutil.copy(logs[0], file + ".plog")
    check = lab.run_prof(["check", logs[0]])
    with open(file + ".check.txt", "w", encoding="utf-8") as text:
        text.write(check.stdout + check.stderr)
    verdict = "".join(re.findall(r"verdict +(.*)", check.stdout))
    step.check("prof check: nothing is damaged", check.status in (0, 1) and "damaged" not in check.stdout, f"exit status {check.status}, {verdict}", "0, or 1 with a reason")
    found = coverage_line.of_log(lab, logs[0])
    unknown = {key: value for key, value in {**found.without, **found.unlinked}.items() if key in ("unknown", "unlinked")}
    step.check("complete, or with a reason", not unknown and (found.linked == found.operations or found.unlinked), found.text[:300], "no unknown launch or operation")
    print(f"---- {sample.title}: {found.text[:400]}", flush=True)


def cupti_samples(lab, step):
    """Each sample prints the same, numbers masked, and ends the same with libprof.so; what it does on the GPU is recorded
    completely or with a reason."""
    if lab.sim:
        raise Skipped("needs a GPU")
    folder = lab.fresh("cupti_samples", "build")
    out = os.path.join(lab.out, "cupti_samples")
    os.makedirs(out, exist_ok=True)
    samples, built = build_all(lab, step, folder)
    missing = {name: error for name, error in built.items() if error}
    step.figure("samples that build", f"{len(built) - len(missing)} of {len(built)}")
    for name, error in missing.items():
        step.note(f"{name} does not build here: {error.splitlines()[-1] if error else ''}")
    for name in built:
        if name in missing:
            continue
        for title, command, env in commands(lab, folder, samples, name):
            compare(lab, step.named(title), Sample(lab, title, command, env, os.path.join(samples, name)), out)
    utility = os.path.join(samples, "pc_sampling_utility", "pc_sampling_utility")
    data = sorted(glob.glob(os.path.join(samples, "pc_sampling_continuous", "*.dat")))
    if os.path.isfile(utility) and data:
        sample = Sample(lab, "pc_sampling_utility", [utility, "--file-name", data[0]],
                        {"LD_LIBRARY_PATH": f"{lab.cuda}/extras/CUPTI/lib64:{lab.cuda}/lib64"}, os.path.dirname(data[0]))
        status, lines, errors = same(sample.alone(), sample.recorded(lab.fresh("cupti_samples", "logs", "utility")))
        step.check("pc_sampling_utility: same output and exit status", status and not lines and not errors, "\n".join(lines + errors)[:300] or "same", "same")


def built_alone(lab, step, name):
    """the path of a program with CUPTI that the step `build` does not build"""
    program = os.path.join(lab.fresh(name), name)
    folders = (f"{lab.cuda}/include", f"{lab.cuda}/extras/CUPTI/include")
    includes = [f"-I{folder}" for folder in folders if os.path.isdir(folder)]
    built = lab.run([lab.nvcc, "-std=c++17", "-O2", "-cudart", "static", *lab.gencode(), *includes, "-o", program,
                     os.path.join(PROGRAMS_FOLDER, f"{name}.cu"), "-lcuda", "-lpthread", "-ldl"], timeout=120)
    step.check(f"{name} builds", built.status == 0, built.stderr.strip()[-600:] or "built")
    return program


def cupti_rules(lab, step):
    """Rules of CUPTI on which sharing depends: which records of driver calls a client's callbacks of runtime calls leave,
    and which functions leave an error in a thread."""
    if lab.sim:
        raise Skipped("needs a GPU")
    program = built_alone(lab, step, "cupti_rules")
    env = lab.env(**({"CUPTI_BASELINE_LIB": lab.cupti} if lab.cupti else {}))
    rows = []
    for callbacks in ("none", "runtime", "runtime_launch", "driver", "resource", "late_runtime"):
        for calls in ("driver", "both", "kinds"):
            answer = lab.run([program, "calls", callbacks, calls], env=env, timeout=60)
            rows.append((callbacks, calls, answer.stdout.strip().replace("\n", "; ") or f"status {answer.status} {answer.stderr.strip()[-200:]}"))
    step.table("Records of calls, by the client's callbacks and by what is enabled", ["callbacks", "enabled", "found"], rows)
    errors = lab.run([program, "errors"], env=env, timeout=60)
    step.table("What each function leaves in cuptiGetLastError", ["function", "found"],
               [line.split(": ", 1) for line in errors.stdout.splitlines() if ": " in line])
    graphs = [lab.run([program, "graph", settings], env=env, timeout=60) for settings in ("-", "t", "i", "z", "d", "p", "r", "tizdp")]
    step.table("The same after the launch of a graph, by setting", ["setting", "found"],
               [line.split(": ", 1) for answer in graphs for line in answer.stdout.splitlines() if ": " in line])
    print("\n".join(answer.stdout.strip() for answer in graphs), flush=True)
    step.check("every combination ends", errors.status == 0 and all("status" not in row[2] for row in rows), errors.stderr.strip()[-300:] or "yes", "yes")
    print("\n".join(" | ".join(row) for row in rows) + "\n" + errors.stdout + errors.stderr, flush=True)
