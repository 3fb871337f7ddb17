"""Records CUDA programs and reads recordings, with the prof and libprof.so of this installation.

    import libprof
    recording = libprof.run(["./train", "--epochs", "1"], output="logs")   # a program, recorded
    recording = libprof.open("logs/")                                      # logs, or traces of other tools
    recording.report("kernels", limit=10)                                  # any report of prof
    recording.operations                                                   # one row per GPU operation, pyarrow.Table

    with libprof.record():                                                 # a part of this process
        step()

Times are whole nanoseconds, sizes are bytes, unless the name of a column has another unit. Nothing but the tables
needs a package: they need pyarrow.
"""
from __future__ import annotations

from ._errors import NotPreloaded, PartialWarning, ProfError
from ._installation import library, program, version
from ._process import Part, is_preloaded, record, start, stop
from ._recording import TABLES, Recording, Report, open, report, run

__all__ = ["NotPreloaded", "Part", "PartialWarning", "ProfError", "Recording", "Report", "TABLES", "is_preloaded",
           "library", "open", "program", "record", "report", "run", "start", "stop", "version"]
__version__ = "0.1.0"


def load_ipython_extension(shell: object) -> None:
    """%load_ext libprof: the magics %prof and %%prof."""
    from ._magics import load_ipython_extension as load

    load(shell)
