#!/usr/bin/env python3
"""Do pyarrow, pandas and DuckDB, with their default settings, read from the tables of `prof export --format parquet`
what the reports of the input print? Usage: export_tables.py --prof PROF --undump UNDUMP [LOG...].

Needs `scripts/setup --parquet`, and a prof that was built after it. Exit status 77: it is not installed. Also: what is
in a file of each type, repeated and extended exports, several ranks, inputs that are damaged or unusable, folders with
other contents, full disks, signals, and Arrow's stream."""
import argparse
import collections
import csv
import io
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = SOURCE / "tests/golden"
DATA = pathlib.Path(os.environ.get("PROF_SHARED_DATA", SOURCE / "../shared/data"))
sys.path.insert(0, str(SOURCE / "build/pyarrow"))
try:
    import duckdb
    import pandas
    import pyarrow
    import pyarrow.dataset
    import pyarrow.ipc
    import pyarrow.parquet
except ImportError as error:
    print(f"{error}: scripts/setup --parquet installs the readers")
    sys.exit(77)

TYPES = {"BIGINT": pyarrow.int64(), "DOUBLE": pyarrow.float64(), "BOOLEAN": pyarrow.bool_(), "VARCHAR": pyarrow.string()}
parser = argparse.ArgumentParser()
parser.add_argument("--prof", type=pathlib.Path, required=True)
parser.add_argument("--undump", type=pathlib.Path, required=True)
parser.add_argument("logs", nargs="*", type=pathlib.Path)
options = parser.parse_args()
problems = []


def check(holds, text):
    if not holds:
        problems.append(text)
        print(f"FAIL: {text}")


def prof(*words, status=0, **how):
    done = subprocess.run([options.prof, *map(str, words)], capture_output=True, text=True, check=False, **how)
    check(done.returncode == status, f"prof {' '.join(map(str, words))}: status {done.returncode}, not {status}: {done.stderr[-600:]}")
    return done


def report(name, log):
    return list(csv.DictReader(io.StringIO(prof("report", name, log, "--format", "csv", "--names", "full").stdout)))


def number(text):
    return None if text == "" else int(text)


def rows(folder, table, columns):
    """as DuckDB reads them, in the order of the files"""
    path = folder / table
    return duckdb.sql(f"SELECT {columns} FROM '{path}/*/*.parquet'").fetchall() if path.exists() else []


def same(name, found, wanted):
    found, wanted = collections.Counter(found), collections.Counter(wanted)
    check(found == wanted, f"{name}: only in the table {list((found - wanted).items())[:3]}, only in the report {list((wanted - found).items())[:3]}")


def check_values(log, folder):
    """every row of three reports, to the nanosecond"""
    zero = rows(folder, "processes", "zero_ns")[0][0]
    trace = report("gpu-trace", log)
    same(f"{log.name}: gpu-trace", rows(folder, "operations", f"start_ns - {zero}, duration_ns, correlation, stream, name, bytes, range_path"),
         [(int(r["Start (ns)"]), int(r["Duration (ns)"]), number(r["Correlation"]) or None, int(r["Stream"]), r["Name"], number(r["Bytes"]),
           r["NVTX path"] or None) for r in trace])
    same(f"{log.name}: api-trace", rows(folder, "calls", f"start_ns - {zero}, duration_ns, name, result, tid, range_path"),
         [(int(r["Start (ns)"]), int(r["Duration (ns)"]), r["Name"], int(r["Result"]), int(r["TID"]), r["NVTX path"] or None)
          for r in report("api-trace", log)])
    pieces = collections.Counter()
    for cause, duration in rows(folder, "gaps", "cause, duration_ns"):
        pieces[cause] += duration
    same(f"{log.name}: idle-gaps", pieces.items(), idle_by_cause(log))


def idle_by_cause(log):
    sums = collections.Counter()
    for row in csv.DictReader(io.StringIO(prof("report", "idle-gaps", log, "--group-by", "piece", "--format", "csv", "--limit", "0").stdout)):
        sums[row["Cause"]] += int(row["Duration (ns)"])
    return list(sums.items())


def described_tables():
    tables, name = {}, None
    for line in (SOURCE / "docs/export.md").read_text().splitlines():
        if line.startswith("### "):
            name = line[4:]
        elif line.startswith("| `") and name and len(line.split("|")) > 3:
            column, kind = line.split("|")[1].strip(" `"), line.split("|")[2].strip()
            if kind.split(",")[0] in TYPES:
                tables.setdefault(name, {})[column] = (TYPES[kind.split(",")[0]], kind.endswith("null"))
    return tables


def check_types(folder):
    for table, columns in described_tables().items():
        for path in (folder / table).glob("run=*/*.parquet"):
            file = pyarrow.parquet.ParquetFile(path)
            schema = file.schema_arrow
            for column, (kind, null) in columns.items():
                field = schema.field(column)
                check(field.type == kind and field.nullable == null, f"{table}.{column} is {field}, docs/export.md has {kind}, null {null}")
            for i in range(len(file.schema)):
                column = file.schema.column(i)
                wanted = {"BYTE_ARRAY": "STRING"}.get(column.physical_type, "NONE")
                check(column.logical_type.type == wanted, f"{table}.{column.name} has the logical type {column.logical_type}")
                chunk = file.metadata.row_group(0).column(i)
                check(chunk.compression == "ZSTD", f"{table}.{column.name} is {chunk.compression}")
                if column.name.endswith("_ns") or column.name == "call_id":
                    check("DELTA_BINARY_PACKED" in chunk.encodings, f"{table}.{column.name} is {chunk.encodings}")
            data = duckdb.sql(f"DESCRIBE SELECT * FROM '{folder}/{table}/*/*.parquet'").fetchall()
            check({row[1] for row in data} <= set(TYPES), f"DuckDB finds {data}")
        if (folder / table).exists():
            frame, read = pandas.read_parquet(folder / table), pyarrow.dataset.dataset(folder / table, partitioning="hive").to_table()
            check(len(frame) == read.num_rows and set(frame["run"]) == {"main"}, f"pandas reads {len(frame)} rows of {table}")
            for column in (each for each in frame if each.endswith("_ns")):
                left, right = frame[column].dropna().tolist(), [each for each in read[column].to_pylist() if each is not None]
                check([int(each) for each in left] == right or frame[column].hasnans, f"pandas: {table}.{column}")


def sorted_by_rank(folder, table, column):
    for path in (folder / table).glob("run=*/*.parquet"):
        read = pyarrow.parquet.read_table(path, columns=["rank", column], partitioning=None).to_pylist()
        keys = [(float("inf") if row["rank"] is None else row["rank"], row[column]) for row in read]
        check(keys == sorted(keys), f"{table} is not in order of rank and {column}")


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def parts(folder):
    return [path for path in files(folder) if not path.startswith("_")]


def log_of_rank(work, rank, name=None):
    text = (GOLDEN / "trace_basic/app.log.txt").read_text()
    lines = text.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if 'key="host"' in line)
    lines[at] = lines[at].replace(lines[at].split('value="')[1].split('"')[0], f"node{rank // 8}")
    lines.insert(at + 1, lines[at].replace('key="host"', 'key="rank"').replace(f"node{rank // 8}", str(rank)))
    source, log = work / f"{name or rank}.txt", work / f"{name or rank}.plog"
    source.write_text("".join(lines))
    subprocess.run([options.undump, source, log], check=True)
    return log


def several_ranks(work):
    logs = [log_of_rank(work, rank) for rank in (10, 9, 2)]
    folder = work / "ranks"
    prof("export", *logs[:2], "--format", "parquet", "-o", folder)
    first = files(folder)
    for table, column in (("operations", "start_ns"), ("calls", "start_ns"), ("ranges", "start_ns")):
        sorted_by_rank(folder, table, column)
    check([row[0] for row in rows(folder, "processes", "DISTINCT rank")] and {row for row in rows(folder, "operations", "DISTINCT rank, host")} ==
          {(9, "node1"), (10, "node1")}, "two ranks have their hosts")
    count = len(rows(folder, "operations", "1"))
    prof("export", *reversed(logs[:2]), "--format", "parquet", "-o", folder)
    check(files(folder) == first and len(rows(folder, "operations", "1")) == count, "the same export again replaces its files")
    prof("export", logs[2], "--format", "parquet", "-o", folder)
    check(len(rows(folder, "operations", "1")) == count * 3 // 2, "a further rank is appended")
    prof("export", *logs, "--format", "parquet", "-o", folder)
    check(len(rows(folder, "operations", "1")) == count * 3 // 2 and len(parts(folder)) == len([p for p in first if p[0] != "_"]),
          "all ranks together replace the files of each")
    before = files(folder)
    done = prof("export", logs[0], "--format", "parquet", "-o", folder, status=2)
    check("1 of the 3 processes" in done.stderr and files(folder) == before, f"a part of a task: {done.stderr}")
    prof("export", logs[0], "--format", "parquet", "-o", folder, "--run", "second")
    check({row[0] for row in rows(folder, "processes", "DISTINCT run")} == {"main", "second"}, "a second run")
    copy = shutil.copy(logs[0], work / "copy.plog")
    done = prof("export", logs[0], copy, "--format", "parquet", "-o", work / "copies", status=1)
    check("in another input already" in done.stderr and len(rows(work / "copies", "operations", "1")) == count // 2, f"a copy: {done.stderr}")


def bad_inputs(work):
    log, other = log_of_rank(work, 0), log_of_rank(work, 1)
    (work / "not.plog").write_text("no log")
    folder = work / "some"
    done = prof("export", log, work / "not.plog", other, "--format", "parquet", "-o", folder, status=1)
    check("not.plog" in done.stderr and "left out" in done.stderr, done.stderr)
    check({row[0] for row in rows(folder, "processes", "DISTINCT rank")} == {0, 1}, "the other inputs are exported")
    broken = work / "damaged.plog"
    subprocess.run([options.undump, GOLDEN / "check_damaged_log/damaged.log.txt", broken], check=False)
    if broken.exists():
        done = prof("export", log, broken, "--format", "parquet", "-o", work / "damaged", status=1)
        check("damaged.plog" in done.stderr and rows(work / "damaged", "coverage", "text") != [], "a damaged log is named")
    prof("export", work / "not.plog", "--format", "parquet", "-o", work / "none", status=2)
    check(not (work / "none").exists() or parts(work / "none") == [], "no tables of an input that cannot be used")
    mine = work / "mine"
    mine.mkdir()
    (mine / "file.txt").write_text("mine")
    check("other contents" in prof("export", log, "--format", "parquet", "-o", mine, status=2).stderr, "a folder with other contents")
    prof("export", log, "--format", "parquet", "-o", mine, "--force")
    check((mine / "file.txt").read_text() == "mine", "--force keeps what it did not write")
    check("is a file" in prof("export", log, "--format", "parquet", "-o", mine / "file.txt", status=2).stderr, "a file of that name")
    check("folder" in prof("export", log, "--format", "parquet", "-o", "-", status=2).stderr, "a dataset on stdout")
    check("--run" in prof("export", log, "--format", "parquet", "-o", work / "x", "--run", "../x", status=2).stderr, "a run with a slash")
    check("--table" in prof("export", log, "--format", "parquet", "-o", work / "x", "--table", "calls", status=2).stderr, "--table")

    def little_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    full = work / "full"
    done = prof("export", log, "--format", "parquet", "-o", full, status=2, preexec_fn=little_room)
    check("cannot be written" in done.stderr and files(full) == [], f"a file that cannot be written: {done.stderr} {files(full)}")


def interrupted(work):
    """whenever SIGINT comes, there is no file with a name of its own before all are complete"""
    folder, log = work / "stopped", log_of_rank(work, 0)
    table = subprocess.Popen([options.prof, "export", log, log_of_rank(work, 1), "--format", "parquet", "-o", folder], stderr=subprocess.DEVNULL)
    while table.poll() is None and not folder.exists():
        time.sleep(0.001)
    table.send_signal(signal.SIGINT)
    table.wait()
    check(all(part.startswith("part") for part in (pathlib.Path(each).name for each in parts(folder))), f"after SIGINT: {files(folder)}")


def arrow_stream(work, folder, log):
    done = subprocess.run([options.prof, "export", log, "--format", "arrow", "-o", "-", "--table", "operations"], capture_output=True, check=True)
    stream = pyarrow.ipc.open_stream(done.stdout).read_all()
    found = [tuple(row.values()) for row in stream.select(["start_ns", "duration_ns", "name", "call_id"]).to_pylist()]
    same("Arrow's stream", found, rows(folder, "operations", "start_ns, duration_ns, name, call_id"))
    check("operations" in prof("export", log, "--format", "arrow", "-o", "-", status=2).stderr, "the tables are named")
    check("operations" in prof("export", log, "--format", "arrow", "-o", "-", "--table", "x", status=2).stderr, "the tables are named")
    prof("export", log, "-o", work / "calls.arrows", "--table", "calls")
    check(pyarrow.ipc.open_stream((work / "calls.arrows").read_bytes()).read_all().num_rows ==
          len(rows(folder, "calls", "1")), "a stream in a file")


with tempfile.TemporaryDirectory() as temporary:
    work = pathlib.Path(temporary)
    logs = list(options.logs)
    if not logs:
        for name in ("trace_basic", "host_samples", "report_stacks", "report_graphs", "collective_ranks", "report_nvtx"):
            logs.append(work / f"{name}.plog")
            subprocess.run([options.undump, GOLDEN / name / "app.log.txt", logs[-1]], check=True)
        logs += [path for path in (DATA / "h200_ddp/rank0.plog", DATA / "h200/resnet18.plain.trace.json.gz") if path.exists()]
    first = subprocess.run([options.prof, "export", logs[0], "--format", "parquet", "-o", work / "first"], capture_output=True, text=True, check=False)
    if "not installed" in first.stderr:
        check("scripts/setup --parquet" in first.stderr and first.returncode == 2, first.stderr)
        print(first.stderr)
        sys.exit(1 if problems else 77)
    for log in logs:
        folder = work / f"tables of {log.name}"
        prof("export", log, "--format", "parquet", "-o", folder)
        check_values(log, folder)
        check_types(folder)
    if not options.logs:
        arrow_stream(work, work / "tables of trace_basic.plog", logs[0])
        for step in (several_ranks, bad_inputs, interrupted):
            (work / step.__name__).mkdir()
            step(work / step.__name__)
print(f"{len(logs)} inputs, pyarrow {pyarrow.__version__}, DuckDB {duckdb.__version__}, pandas {pandas.__version__}: {len(problems)} problems")
sys.exit(1 if problems else 0)
