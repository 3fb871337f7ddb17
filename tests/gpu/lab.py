"""Paths, and how programs are run: plain, under libprof.so, under CUPTI alone. Used by every step of gpu_check."""
import collections
import datetime
import fcntl
import glob
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
APPS_FOLDER = os.path.join(HERE, "apps")  # programs in Python
PROGRAMS_FOLDER = os.path.join(HERE, "programs")  # sources of programs and libraries that steps build

BASELINE_PRELOADED = "baseline_preloaded"  # a file next to the programs: here CUDA does not load the baseline by itself

Result = collections.namedtuple("Result", "status stdout stderr seconds")  # status None: timed out


class Skipped(Exception):
    """A step that cannot run on this machine; the page shows the reason."""


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip().splitlines()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return ""


def claim(folder):
    """Locks the folder for this process until it ends, because steps delete and overwrite files in it by name."""
    os.makedirs(folder, exist_ok=True)
    lock = open(os.path.join(folder, ".gpu-check.lock"), "w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"gpu-check: another one works in {folder}; give --work and --out of its own to each")
    return lock


class Lab:
    def __init__(self, options):
        self.work = os.path.abspath(options.work)
        # the folder of the programs that are run
        self.built = os.path.abspath(options.built) if options.built else self.work
        self.out = os.path.abspath(options.out)
        self.sim = os.path.abspath(options.sim) if options.sim else None
        self.bin = os.path.abspath(options.bin) if options.bin else None
        self.options = options
        self.deadline = time.monotonic() + options.budget
        self.pytorch_seconds = options.pytorch_seconds
        self.claims = [claim(folder) for folder in dict.fromkeys((self.work, self.out))]
        self.journal = open(os.path.join(self.out, "gpu-check.log"), "w", encoding="utf-8", errors="replace")
        self.cuda = next((p for p in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda")
                          if p and os.path.exists(os.path.join(p, "include", "cuda.h"))), "/usr/local/cuda")
        self.nvcc = shutil.which("nvcc") or os.path.join(self.cuda, "bin", "nvcc")
        self.python = options.python or sys.executable
        self.cupti = self.sim and os.path.join(self.sim, "libcupti.so.13") or self._find_cupti()
        self.libprof = self._find_bin("libprof.so")
        self.prof = self._find_bin("prof")
        # The driver injects the baseline. The build step checks that, and otherwise LD_PRELOAD is used.
        self.inject = not self.sim and not os.path.exists(os.path.join(self.built, "bin", BASELINE_PRELOADED))

    # --- files -----------------------------------------------------------------------------------------------------
    def _find_bin(self, name):
        for folder in filter(None, [self.bin, os.path.join(self.built, "libprof")]):
            for found in sorted(glob.glob(os.path.join(folder, "**", name), recursive=True), key=len):
                if os.path.isfile(found):
                    return found
        return None

    def _find_cupti(self):
        patterns = [f"{self.cuda}/lib64/libcupti.so.13", f"{self.cuda}/extras/CUPTI/lib64/libcupti.so.13",
                    f"{self.cuda}/targets/*/lib/libcupti.so.13"]
        patterns += [os.path.join(p, "nvidia", "*", "lib", "libcupti.so.13") for p in sys.path if p]
        return next((found for pattern in patterns for found in sorted(glob.glob(pattern))), "")

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    def fresh(self, *parts):
        folder = self.path(*parts)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return folder

    def program(self, name):
        found = os.path.join(self.built, "bin", name)
        if not os.path.exists(found):
            raise Skipped(f"{name} was not built")
        return found

    def gencode(self):
        """nvcc's option for this machine's GPU."""
        found = [] if self.sim else self.run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]).stdout.split()
        arch = found[0].replace(".", "") if found else "90"
        return ["-gencode", f"arch=compute_{arch},code=sm_{arch}"]

    # --- environments ----------------------------------------------------------------------------------------------
    def env(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith("PROF_") and k != "LD_PRELOAD"}
        if self.sim:
            env["LD_LIBRARY_PATH"] = self.sim
            env.setdefault("SIM_CLOCK", "real")
        env.update({k: str(v) for k, v in more.items()})
        return env

    def recorded_env(self, folder, **more):
        if not self.libprof:
            raise Skipped("no libprof.so")
        if self.sim:
            more.setdefault("PROF_CUPTI", self.cupti)
        return self.env(LD_PRELOAD=self.libprof, PROF_OUTPUT=folder, **more)

    def cupti_env(self, folder, names=True, **more):
        library = self.program("libcupti_baseline.so")
        more["CUPTI_BASELINE_OUT"] = os.path.join(folder, "cupti.%p.json")
        if self.cupti:
            more["CUPTI_BASELINE_LIB"] = self.cupti
        if names:
            more["CUPTI_BASELINE_NAMES"] = "1"
        if self.inject:
            return self.env(CUDA_INJECTION64_PATH=library, **more)
        return self.env(LD_PRELOAD=library, CUPTI_BASELINE_PRELOAD="1", **more)

    # --- running ---------------------------------------------------------------------------------------------------
    def left(self):
        return self.deadline - time.monotonic()

    def note(self, text):
        self.journal.write(text.rstrip("\n") + "\n")
        self.journal.flush()

    def run(self, command, env=None, timeout=120, cwd=None, stdin=""):
        """Runs to the end or to the time limit; at the limit, its whole process group is ended."""
        timeout = max(5, min(timeout, self.left()))
        begin = time.monotonic()
        process = subprocess.Popen(command, env=env or self.env(), cwd=cwd or self.work, text=True, errors="replace",
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        try:
            stdout, stderr = process.communicate(stdin, timeout=timeout)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            status = None
        seconds = time.monotonic() - begin
        self.note(f"$ {' '.join(command)}\n[status {status}, {seconds:.1f} s]\n{stdout[-3000:]}{stderr[-3000:]}")
        return Result(status, stdout, stderr, seconds)

    def run_prof(self, arguments, timeout=60):
        """Runs prof with the libraries that --pack put next to it."""
        if not self.prof:
            raise Skipped("no prof")
        env = self.env()
        deps = os.path.join(os.path.dirname(self.prof), "..", "deps")
        for folder in (deps, os.path.join(os.path.dirname(self.prof), "deps")):
            if os.path.isdir(folder):
                env["LD_LIBRARY_PATH"] = os.path.abspath(folder)
        return self.run([self.prof, *arguments], env=env, timeout=timeout)

    def logs(self, folder):
        """Logs in a folder, the largest first."""
        return sorted(glob.glob(os.path.join(folder, "*.plog")), key=os.path.getsize, reverse=True)

    def cupti_count(self, folder):
        """The sum of the baseline's files of a run, over its processes."""
        total = {"kernels": 0, "kernel_ns": 0, "fills": 0, "copies": 0, "copy_bytes": 0, "dropped": 0, "by_name": {},
                 "processes": 0, "path": "", "version": 0}
        for name in glob.glob(os.path.join(folder, "cupti.*.json")):
            with open(name, encoding="utf-8", errors="replace") as file:
                data = json.load(file, strict=False)
            total["processes"] += 1
            total["path"], total["version"] = data["cupti_path"], data["cupti_version"]
            total["kernels"] += data["kernels"]["count"]
            total["kernel_ns"] += data["kernels"]["total_ns"]
            total["fills"] += data["fills"]["count"]
            total["copies"] += sum(copy["count"] for copy in data["copies"].values())
            total["copy_bytes"] += sum(copy["bytes"] for copy in data["copies"].values())
            total["dropped"] += data["dropped"]
            for kernel, row in data["by_name"].items():
                have = total["by_name"].setdefault(kernel, [0, 0])
                have[0] += row["count"]
                have[1] += row["total_ns"]
        if total["processes"] == 0:
            raise RuntimeError(f"the CUPTI baseline wrote nothing in {folder}")
        return total


def prof_libraries(lab):
    """The environment in which prof finds the libraries that --pack put next to it, and the simulated GPU's."""
    deps = os.path.abspath(os.path.join(os.path.dirname(lab.prof), "deps"))
    return {"LD_LIBRARY_PATH": f"{deps}:{lab.sim or ''}"} if os.path.isdir(deps) else {}


def machine(lab):
    """The description of the machine in the results file."""
    cpu = ""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        cpu = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), platform.machine())
    smi = first_line(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"])
    gpu, _, rest = smi.partition(", ")
    nvcc = re.search(r"release ([\d.]+)", subprocess.run([lab.nvcc, "--version"], capture_output=True, text=True).stdout
                     if os.path.exists(lab.nvcc) else "")
    commit = lab.options.commit or first_line(["git", "-C", ROOT, "describe", "--always", "--dirty"])
    packed = os.path.join(lab.bin or "", "COMMIT")
    if os.path.isfile(packed):
        with open(packed, encoding="utf-8") as file:
            commit = file.read().strip()
    facts = {
        "gpu": "simulated" if lab.sim else gpu, "driver": rest.split(",")[0] if rest else "",
        "gpus": len(subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.splitlines())
        if shutil.which("nvidia-smi") else 0,
        "cpu": cpu, "cores": os.cpu_count(), "kernel": platform.release().split("-")[0],
        "cuda": nvcc.group(1) if nvcc else "", "cupti": lab.cupti, "python": platform.python_version(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "commit": commit,
        "work_file_system": first_line(["stat", "-f", "-c", "%T", lab.work]),
    }
    return facts
