"""Where prof and libprof.so are: PROF_PROGRAM, the files of the wheel, then the PATH."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

FILES = Path(__file__).resolve().parent / "files"  # bin/ and lib/, as cmake --install writes them


def program() -> str:
    """Returns the path of prof. Raises FileNotFoundError if there is none."""
    given = os.environ.get("PROF_PROGRAM")
    if given:
        return given
    installed = FILES / "bin" / "prof"
    if installed.exists():
        return str(installed)
    found = shutil.which("prof")
    if found and not _is_console_script(found):
        return found
    raise FileNotFoundError("prof was not found; install the wheel of libprof, put prof on the PATH, or set "
                            "PROF_PROGRAM to its path")


def _is_console_script(path: str) -> bool:
    """Whether the file is the console script of a wheel, which would start this function again."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def library() -> str:
    """Returns the path of libprof.so, for LD_PRELOAD. Raises FileNotFoundError if there is none."""
    given = os.environ.get("PROF_LIBRARY")
    if given:
        return given
    folder = Path(program()).resolve().parent
    for place in (".", "../lib", "../lib64", f"../lib/{os.uname().machine}-linux-gnu"):
        path = (folder / place / "libprof.so").resolve()
        if path.exists():
            return str(path)
    raise FileNotFoundError(f"libprof.so was not found near {folder}; set PROF_LIBRARY to its path")


def version() -> str:
    """Returns the lines of `prof version`: the version, the commit, the versions of logs that it reads."""
    return subprocess.run([program(), "version"], check=True, stdout=subprocess.PIPE).stdout.decode().strip()


def main() -> NoReturn:
    """The console script `prof`: this process becomes prof."""
    try:
        path = program()
        os.execv(path, [path, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"prof: {error}")
