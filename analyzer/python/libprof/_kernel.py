"""python -m libprof install-kernel: a Jupyter kernel of this Python with libprof.so preloaded."""
from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, Sequence

from ._installation import library

NAME = "libprof"


def kernel_spec() -> Dict[str, Any]:
    """The kernel: ipykernel of this Python, in which nothing is recorded until record() or %%prof."""
    return {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": f"Python {sys.version_info.major}.{sys.version_info.minor} (recorded by libprof)",
        "language": "python",
        # Programs that a notebook starts are not recorded: they are not part of a cell.
        "env": {"LD_PRELOAD": library(), "PROF_START": "ctl", "PROF_CHILDREN": "0", "PROF_QUIET": "1"},
    }


def install_kernel(words: Sequence[str]) -> None:
    """Installs the kernel and prints its folder."""
    parser = argparse.ArgumentParser(prog="python -m libprof install-kernel", description=__doc__)
    parser.add_argument("--prefix", default=sys.prefix, help="installation of Jupyter, default: that of this Python")
    parser.add_argument("--user", action="store_true", help="install for this user instead")
    options = parser.parse_args(words)
    try:
        from jupyter_client.kernelspec import KernelSpecManager
    except ImportError:
        sys.exit("install-kernel needs Jupyter: pip install ipykernel")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kernel.json").write_text(json.dumps(kernel_spec(), indent=1) + "\n", encoding="utf-8")
        where = {"user": True} if options.user else {"prefix": options.prefix}
        print(KernelSpecManager().install_kernel_spec(folder, NAME, **where))
