"""The exceptions of libprof, and how prof is called."""
from __future__ import annotations

import subprocess
import warnings
from typing import List, Sequence

from ._installation import program


class ProfError(RuntimeError):
    """prof could not answer. The message has the file and the reason; `status` is the exit status of prof."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


class NotPreloaded(ProfError):
    """This process was started without libprof.so. The message tells how to start it."""


class PartialWarning(UserWarning):
    """The answer is incomplete, because the input is damaged or records are lost. The message has what is missing."""


def call_prof(arguments: Sequence[str]) -> bytes:
    """Runs prof and returns its standard output.

    Raises ProfError with its message if it has no answer, and warns with PartialWarning if its answer is partial.
    """
    command: List[str] = [program(), *arguments]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise ProfError(f"{command[0]}: {error.strerror}") from error
    message = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode == 1:
        warnings.warn(message or "the answer is partial", PartialWarning, stacklevel=4)
    elif done.returncode != 0:
        raise ProfError(message or f"prof ended with status {done.returncode}", done.returncode)
    return done.stdout
