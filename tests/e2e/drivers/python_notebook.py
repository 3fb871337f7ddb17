#!/usr/bin/env python3
"""Does a notebook record its cells? With the installed wheel, ipykernel and nbclient, on the simulated GPU. Usage:
python_notebook.py --build FOLDER, by the Python of a virtual environment, in which it makes the Jupyter kernel."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import nbclient
import nbformat

parser = argparse.ArgumentParser()
parser.add_argument("--build", type=lambda path: pathlib.Path(path).resolve(), required=True)
options = parser.parse_args()
sim = options.build / "sim"
os.environ.update({"LD_LIBRARY_PATH": str(sim), "PROF_CUPTI": str(sim / "libcupti.so.13"), "PROF_SYMBOL_CACHE": "off"})
subprocess.run([sys.executable, "-m", "libprof", "install-kernel"], check=True)

CELLS = {
    "load": "%load_ext libprof\nimport ctypes\ncuda = ctypes.CDLL('libcuda.so.1')",
    "nothing": "%%prof\n1 + 1",
    "first": "%%prof\ncontext, memory = ctypes.c_void_p(), ctypes.c_uint64()\nassert cuda.cuInit(0) == 0\n"
             "assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0\n"
             "assert cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096)) == 0\n"
             "for _ in range(3): cuda.cuMemsetD32_v2(memory, 7, 256)",
    "unrecorded": "for _ in range(100): cuda.cuMemsetD32_v2(memory, 7, 256)",
    "second": "%%prof kernels\nfor _ in range(5): cuda.cuMemsetD32_v2(memory, 7, 256)",
    "report": "%prof report api-trace",
    "page": "%prof page",
    "flame": "%prof flame",
    "error": "%prof report nosuch",
}
EXPECTED = {
    "nothing": "the cell made no CUDA or NVTX call",
    "first": "launches 3, with GPU time 3",
    "second": "launches 5, with GPU time 5",
    "report": "cuMemsetD32_v2",
    "page": "<iframe srcdoc=",
    "flame": "<iframe srcdoc=",
    "error": "unknown report nosuch",
}
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS.values()])
with tempfile.TemporaryDirectory(prefix="python_notebook.") as folder:
    client = nbclient.NotebookClient(notebook, kernel_name="libprof", timeout=200, allow_errors=True, resources={"metadata": {"path": folder}})
    client.execute()
problems = 0
for name, cell in zip(CELLS, notebook.cells):
    text = "".join(str(output.get("text") or output.get("data") or output.get("evalue")) for output in cell.outputs)
    expected = EXPECTED.get(name, "")
    if (expected not in text) if expected else text:
        problems += 1
        print(f"{name}: expected {expected!r}, the cell printed {text[:2000]}")
print(f"{len(CELLS)} cells, {problems} with another output than expected")
sys.exit(1 if problems else 0)
