"""Recordings as Python objects: the reports and tables of prof."""
from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ._errors import ProfError, call_prof
from ._installation import program

if TYPE_CHECKING:
    import pyarrow

PathLike = Union[str, "os.PathLike[str]"]
TABLES: Tuple[str, ...] = ("operations", "calls", "ranges", "collectives", "gaps", "samples", "processes", "coverage",
                           "names", "anchors")


@dataclass(frozen=True)
class Report:
    """The answer of a report: `rows` as dictionaries, whose keys are those of its JSON (docs/reports).

    `notes` are the lines above the table, such as the window; `coverage` is the line that reports how complete the data
    is.
    """

    name: str
    title: str
    rows: List[Dict[str, Any]]
    notes: List[str] = field(default_factory=list)
    coverage: str = ""
    schema_version: int = 0

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Dict[str, Any]:
        return self.rows[index]


class Recording:
    """Logs of libprof.so or traces of other tools, which prof reads as one input."""

    def __init__(self, paths: Sequence[str], returncode: Optional[int] = None) -> None:
        self.paths: List[str] = [f"./{path}" if path.startswith("-") else path for path in paths]  # no option
        self._tables: Dict[str, "pyarrow.Table"] = {}
        self.returncode = returncode  # exit status of the program that run() started

    def __repr__(self) -> str:
        return f"libprof.open({', '.join(map(repr, self.paths))})"

    def report(self, name: str, **options: Any) -> Report:
        """Returns a report, such as report("idle", group_by="stack", limit=0).

        Options are those of `prof help report NAME` with _ for -, and a trailing _ for words of Python (from_="1s").
        True gives an option without a value, a sequence gives its items joined by commas. Times are nanoseconds. Raises
        ProfError with prof's message for an unknown name, a wrong option or an unreadable input. Warns with
        PartialWarning if the input is damaged.
        """
        answer = json.loads(call_prof(["report", name, "--format", "json", *arguments_of(options), *self.paths]))
        return Report(answer.get("report", name), answer.get("title", ""), answer["rows"], answer.get("notes", []),
                      answer.get("coverage") or "", answer.get("schema_version", 0))

    def text(self, *names: str, **options: Any) -> str:
        """Returns reports as prof prints them; without a name, the summary of GPU operations."""
        verb = ["report", *names] if names else ["summary", "--gpu"]
        return call_prof([*verb, *arguments_of(options), *self.paths]).decode("utf-8", "replace")

    def page(self, path: PathLike, **options: Any) -> str:
        """Writes the recording as one HTML page and returns its path."""
        call_prof(["page", "-o", os.fspath(path), *arguments_of(options), *self.paths])
        return os.fspath(path)

    def trace(self, path: PathLike, **options: Any) -> str:
        """Writes a trace for ui.perfetto.dev (.json.gz, .pftrace) and returns its path."""
        call_prof(["trace", "-o", os.fspath(path), *arguments_of(options), *self.paths])
        return os.fspath(path)

    def table(self, name: str) -> "pyarrow.Table":
        """Returns a table of `prof export` (docs/export.md has its columns), one row per thing. It is read once.

        `.to_pandas()` and `polars.from_arrow()` convert it. Raises ProfError if prof's plug-in for Arrow is not
        installed, ImportError without pyarrow.
        """
        if name not in TABLES:
            raise ValueError(f"there is no table {name!r}; the tables are {', '.join(TABLES)}")
        if name in self._tables:
            return self._tables[name]
        try:
            import pyarrow.ipc
        except ImportError as error:
            raise ImportError("the tables need pyarrow: pip install pyarrow. Reports work without it") from error
        stream = call_prof(["export", "--format", "arrow", "--table", name, "-o", "-", *self.paths])
        table = self._tables[name] = pyarrow.ipc.open_stream(stream).read_all()
        return table

    @property
    def operations(self) -> "pyarrow.Table":
        """One row per GPU operation: kernel, copy, memset, or whole CUDA graph. Times in ns of one clock."""
        return self.table("operations")

    @property
    def calls(self) -> "pyarrow.Table":
        """One row per CUDA call of the host."""
        return self.table("calls")

    @property
    def ranges(self) -> "pyarrow.Table":
        """One row per NVTX range, operator or annotation."""
        return self.table("ranges")

    @property
    def collectives(self) -> "pyarrow.Table":
        """One row per kernel that a call of NCCL launched."""
        return self.table("collectives")

    @property
    def gaps(self) -> "pyarrow.Table":
        """One row per piece of idle time of a GPU, with its cause."""
        return self.table("gaps")

    @property
    def samples(self) -> "pyarrow.Table":
        """One row per host sample, hardware sample or NVTX sample."""
        return self.table("samples")

    @property
    def processes(self) -> "pyarrow.Table":
        """One row per recorded process and GPU; a process without GPUs has one row."""
        return self.table("processes")

    @property
    def coverage(self) -> "pyarrow.Table":
        """One row per count, loss or fact of a recording."""
        return self.table("coverage")


def arguments_of(options: Mapping[str, Any]) -> List[str]:
    """Options of Python as those of prof: group_by="stack" is --group-by=stack. None and False give nothing."""
    arguments: List[str] = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            arguments.append(flag)
        else:
            items = value if isinstance(value, (list, tuple)) else [value]
            arguments.append(f"{flag}={','.join(map(str, items))}")
    return arguments


def open(*paths: PathLike) -> Recording:  # pylint: disable=redefined-builtin
    """Opens logs, traces of other tools, folders of them, or quoted patterns, as one input.

    Nothing is read yet, except that each path exists. Raises FileNotFoundError, and ValueError without a path.
    """
    if not paths:
        raise ValueError("give at least one log, trace or folder")
    names = [os.fspath(path) for path in paths]
    for name in names:
        if not any(c in name for c in "*?[") and not os.path.exists(name.lstrip("@")):
            raise FileNotFoundError(f"{name}: no such file or folder")
    return Recording(names)


def report(name: str, *paths: PathLike, **options: Any) -> Report:
    """Returns a report of logs or traces: open(*paths).report(name, **options)."""
    return open(*paths).report(name, **options)


def run(command: Sequence[PathLike], output: PathLike = ".", check: bool = False,
        env: Optional[Mapping[str, str]] = None, **options: Any) -> Recording:
    """Runs a program recorded, waits for it, and returns its recording: one log per process, in the folder `output`.

    Options are those of `prof record`: stacks="all", gpu="off", budget="2%", libs=1. The recording has the logs that
    are new, and the exit status of the program in `returncode`. Raises ProfError if the program did not start or no log
    was written, and with `check` if its status is not 0.
    """
    folder = os.fspath(output)
    if "%" in folder or folder.endswith(".plog"):
        raise ValueError(f"output={folder!r}: give a folder")
    before = _logs(folder)
    values = {name: (1 if value is True else value) for name, value in options.items()}
    words = [program(), "record", f"--output={folder}", *arguments_of(values), "--"]
    words += [os.fspath(word) for word in command]
    done = subprocess.run(words, env=None if env is None else dict(env), check=False)
    new = sorted(path for path, changed in _logs(folder).items() if before.get(path) != changed)
    if not new:
        raise ProfError(f"{os.fspath(command[0])}: status {done.returncode}, and no log in {folder}", done.returncode)
    if check and done.returncode != 0:
        raise ProfError(f"{os.fspath(command[0])}: status {done.returncode}; it was recorded in {', '.join(new)}",
                        done.returncode)
    return Recording(new, done.returncode)


def _logs(folder: str) -> Dict[str, Tuple[int, int]]:
    """The logs in a folder, with their inodes and times of change."""
    if not os.path.isdir(folder):
        return {}
    with os.scandir(folder) as entries:
        logs = [entry for entry in entries if entry.name.endswith(".plog")]
        return {log.path: (log.stat().st_ino, log.stat().st_mtime_ns) for log in logs}
