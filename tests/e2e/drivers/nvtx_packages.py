#!/usr/bin/env python3
"""NVTX as other packages ship it, recorded by libprof.so. `v2` calls NVIDIA's libnvToolsExt.so.1 (package
nvidia-nvtx-cu11), `python` uses the package nvtx. Both are searched where one interpreter finds its packages: that in
PROF_TEST_PYTHON, else that of `scripts/setup --readers`, else this one. If they are missing, the test prints it and
exits with 77.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77

V2 = """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
lib.nvtxDomainCreateA.restype = ctypes.c_void_p
lib.nvtxRangeStartA.restype = ctypes.c_uint64
levels = [lib.nvtxRangePushA(b"of version 2"), lib.nvtxRangePushW("w\\u00efde"), lib.nvtxRangePop(), lib.nvtxRangePop()]
assert levels == [0, 1, 1, 0], levels
lib.nvtxMarkA(b"mark of version 2")
lib.nvtxRangeEnd(ctypes.c_uint64(lib.nvtxRangeStartA(b"started")))
lib.nvtxNameOsThreadA(1, b"init")
assert lib.nvtxDomainCreateA(b"domain of version 2") != 0
"""
V2_LINES = [r",of version 2,.*,PushPop,", r",wïde,.*,PushPop,.*of version 2/wïde", r",mark of version 2,.*,Mark,", r",started,.*,StartEnd,,,"]

PYTHON = """
import nvtx
@nvtx.annotate("decorated", color="green", domain="of python", category="steps", payload=3)
def work():
    nvtx.mark("inside", domain="of python")
for i in range(2):
    work()
with nvtx.annotate("in default domain", payload=0.5):
    pass
token = nvtx.start_range("started", domain="of python")
nvtx.end_range(token)
nvtx.push_range("pushed", domain="of python")
if hasattr(nvtx, "CounterSemantics"):
    power = nvtx.CounterSemantics(unit="W", min=0, max=100, unit_scale_denominator=10, value_type=nvtx.CounterValueType.DELTA)
    counter = nvtx.get_domain("of python").get_counter("power", int, scope="GPU[CUDAID:0]", semantics=power)
    counter.sample(25)
    counter.sample(-5)
else:
    print("old")
nvtx.pop_range(domain="of python")
"""
PYTHON_LINES = [r"2 x ,decorated,.*,PushPop,of python,,of python:decorated,steps,3$", r"2 x ,inside,.*,Mark,of python,", r",in default domain,.*,0\.5$",
                r",started,.*,StartEnd,of python,", r",pushed,.*,PushPop,of python,"]
PYTHON_COUNTER = (r"^power,W,of python,GPU\[CUDAID:0\],,[^,]+,[0-9]+,2,0,2\.000,2\.250,2\.500,2\.000,.*,"
                  r"0\.000,10\.000,0,.deltas, at the moment.$")


def ask(interpreter, program):
    done = subprocess.run([interpreter, "-c", program], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["v2", "python"])
    parser.add_argument("--prof", required=True)
    parser.add_argument("--libprof", required=True)
    options = parser.parse_args()
    of_setup = pathlib.Path(__file__).resolve().parents[3] / "build/hta/bin/python3"
    interpreter = os.environ.get("PROF_TEST_PYTHON", of_setup if of_setup.exists() else sys.executable)
    if options.what == "v2":
        folders = ask(interpreter, "import nvidia.nvtx; print('\\n'.join(nvidia.nvtx.__path__))").splitlines()
        found = [path for folder in folders if (path := pathlib.Path(folder) / "lib/libnvToolsExt.so.1").exists()]
        if not found:
            print("skipped: no libnvToolsExt.so.1 (scripts/setup --readers)")
            return SKIPPED
        command, wanted = [interpreter, "-c", V2, found[0]], V2_LINES
    else:
        if not ask(interpreter, "import nvtx; print(nvtx.__file__)"):
            print("skipped: no package nvtx (scripts/setup --readers)")
            return SKIPPED
        command, wanted = [interpreter, "-c", PYTHON], PYTHON_LINES

    with tempfile.TemporaryDirectory(prefix="prof-nvtx-") as folder:
        environment = dict(os.environ, LD_PRELOAD=options.libprof, PROF_OUTPUT=folder)
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        logs = list(pathlib.Path(folder).glob("*.plog"))
        said = subprocess.run([options.prof, "report", "nvtx-trace", "nvtx-counters", "--format", "csv", *logs], capture_output=True, text=True).stdout
    if options.what == "python" and "old" not in done.stdout:
        wanted = [*wanted, PYTHON_COUNTER]
    wrong = [] if done.returncode == 0 else [f"status {done.returncode}: {done.stderr}"]
    if len(logs) != 1:
        wrong.append(f"{len(logs)} logs")
    for line in wanted:
        times, _, regex = line.partition(" x ") if re.match(r"\d+ x ", line) else ("1", "", line)
        count = sum(1 for row in said.splitlines() if re.search(regex, row))
        if count != int(times):
            wrong.append(f"{regex}: in {count} lines, not {times}")
    if wrong:
        print("\n".join(wrong), "\n---\n", said, sep="")
        return 1
    print(f"{options.what}: {len(wanted)} lines found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
