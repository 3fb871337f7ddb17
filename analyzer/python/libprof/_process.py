"""Recording of this process: start(), stop() and record()."""
from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
from typing import Iterator, Optional

from ._errors import NotPreloaded, ProfError
from ._installation import program
from ._recording import Recording

HOW_TO_PRELOAD = ("this process was started without libprof.so, and a library cannot be preloaded later. "
                  "Start it with\n"
                  "  prof record --start ctl -- python ...\n"
                  "or in a notebook, choose the kernel that `python -m libprof install-kernel` makes")


class Part:
    """What record() recorded. `recording` is None until the block has ended, and if it made no CUDA or NVTX call."""

    def __init__(self) -> None:
        self.recording: Optional[Recording] = None


def is_preloaded() -> bool:
    """Whether libprof.so was preloaded into this process."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return any(line.rstrip().endswith("/libprof.so") for line in maps)


def start() -> None:
    """Requests a recording of this process. It begins with the next CUDA or NVTX call, in a log of its own.

    If a CUDA context is current, start() first waits for its operations. So they are not in the recording, and the
    first launch after it has a GPU time. If the process is being recorded, nothing changes. Raises NotPreloaded, and
    ProfError with prof's reason, such as a machine without a driver.
    """
    done = _request("start")
    if done.returncode == 2 and _call_cuda():  # with --start ctl, a process can be reached after its first call
        done = _request("start")
    if done.returncode == 2:
        raise ProfError(_message(done))
    _begin()


def stop() -> Optional[Recording]:
    """Ends the recording of this process: waits for its GPU operations, closes the log and returns it.

    It takes up to a second. Returns None if nothing was being recorded. Raises NotPreloaded and ProfError.
    """
    log = _current_log()
    done = _request("stop")
    if done.returncode != 0:
        raise ProfError(_message(done), done.returncode)
    return None if log is None else Recording([log])


@contextlib.contextmanager
def record() -> Iterator[Part]:
    """Records the CUDA and NVTX calls of the block: start() before, stop() after, also after an exception.

        with libprof.record() as part:
            step()
        part.recording.report("kernels")

    If the process was being recorded before, the recording has that part too.
    """
    start()
    part = Part()
    try:
        yield part
    finally:
        part.recording = stop()


def _request(what: str) -> "subprocess.CompletedProcess[bytes]":
    if not is_preloaded():
        raise NotPreloaded(HOW_TO_PRELOAD)
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return subprocess.run([program(), "ctl", str(os.getpid()), what], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def _message(done: "subprocess.CompletedProcess[bytes]") -> str:
    return done.stderr.decode("utf-8", "replace").strip() or f"prof ctl ended with status {done.returncode}"


def _call_cuda() -> bool:
    """Makes a CUDA call that has no effect: the event does not exist. Returns whether there is a driver."""
    try:
        ctypes.CDLL("libcuda.so.1").cuEventQuery(None)
    except (OSError, AttributeError):
        return False
    return True


def _begin() -> None:
    """Makes the call with which the recording begins: the wait for the current context, if there is one."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        if cuda.cuCtxGetCurrent(ctypes.byref(context)) == 0 and context.value:
            cuda.cuCtxSynchronize()
    except (OSError, AttributeError):
        pass  # without a driver, only NVTX calls are recorded


def _current_log() -> Optional[str]:
    """The log of the recording that goes on in this process."""
    lines = (line.split(None, 1) for line in _request("status").stdout.decode("utf-8", "replace").splitlines())
    values = {words[0]: words[1] for words in lines if len(words) == 2}
    return values.get("log") if values.get("recording", "no").startswith("since") else None
