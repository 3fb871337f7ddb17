#!/usr/bin/env python3
"""Are the answers of scripts/fleet those of prof? Usage: fleet.py --prof PROF --undump UNDUMP --make-job MAKE_JOB

256 simulated ranks on DuckDB, and on Spark if it is installed (scripts/setup --fleet): ranks, states of collectives and
kernel totals. Then every job of golden.blame, and clocks of hosts that differ, before and after ranks are appended.
Needs `scripts/setup --parquet`, and a prof that was built after it. Exit status 77: it is not installed."""

import argparse
import csv
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = SOURCE / "tests/golden"
sys.path.insert(0, str(SOURCE / "build/pyarrow"))
try:
    import duckdb
except ImportError as error:
    print(f"{error}: scripts/setup --parquet installs it")
    sys.exit(77)

parser = argparse.ArgumentParser()
for name in ("prof", "undump", "make-job"):
    parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
options = parser.parse_args()
os.environ["PROF"], os.environ["UNDUMP"] = str(options.prof), str(options.undump)
problems = []


def check(holds, text):
    if not holds:
        problems.append(text)
        print(f"FAIL: {text}")


def same(name, found, wanted):
    found, wanted = set(found), set(wanted)
    check(
        found == wanted,
        f"{name}: only in SQL {sorted(found - wanted, key=str)[:3]}, "
        f"only of prof {sorted(wanted - found, key=str)[:3]}",
    )


def fleet(*words, status=(0, 1)):
    done = subprocess.run([SOURCE / "scripts/fleet", *map(str, words)], capture_output=True, text=True, check=False)
    check(
        done.returncode in status,
        f"scripts/fleet {' '.join(map(str, words))}: status {done.returncode}: {done.stderr[-800:]}",
    )
    return done


def answer(out, name):
    with open(out / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rows_of_prof(*words):
    done = subprocess.run(
        [options.prof, *map(str, words), "--format", "json"], capture_output=True, text=True, check=False
    )
    return json.loads(done.stdout)["rows"]


def number(text):
    return None if text in ("", None) else int(text)


def check_blame(name, out, logs):
    """State, number and call of each rank with a log; prof also lists ranks without one."""
    same(
        f"{name}: blame",
        [
            (
                row["communicator"],
                number(row["communicator_rank"]),
                number(row["ranks"]),
                number(row["rank"]),
                row["host"] or None,
                row["state"],
                number(row["collective_number"]),
                row["last_collective"] or None,
            )
            for row in answer(out, "blame")
        ],
        [
            (
                row["communicator"],
                row["communicator_rank"],
                row["ranks"],
                row["rank"],
                row["host"],
                row["state"],
                row["collective_number"],
                row["last_collective"],
            )
            for row in rows_of_prof("blame", logs)
            if row["pid"] is not None
        ],
    )


def check_findings(name, out, logs):
    """The ranks that hold the others."""
    done = subprocess.run([options.prof, "blame", logs, "--format", "json"], capture_output=True, text=True, check=False)
    same(
        f"{name}: findings of blame",
        [
            (finding, row["communicator"], number(row["communicator_rank"]))
            for row in answer(out, "blame")
            for finding in row["finding"].split("; ")
            if finding
        ],
        [
            (each["kind"], each["communicator"], each["communicator_rank"])
            for each in json.loads(done.stdout)["findings"]
        ],
    )


def check_outliers(name, out, logs):
    columns = ("rank", "pid", "late_per_step_ns", "count")
    rows = rows_of_prof("report", "ranks", logs, "--group-by", "item", "--names", "full")
    same(
        f"{name}: outliers",
        [
            (row["host"], row["kind"], *(number(row[each]) for each in columns), round(float(row["deviations_limit"]), 2))
            for row in answer(out, "outliers")
        ],
        [
            (row["host"], row["kind"], *(row[each] for each in columns), round(row["deviations_limit"], 2))
            for row in rows
        ],
    )
    order = [number(row["late_per_step_ns"]) for row in answer(out, "outliers")]
    check(order == sorted(order, reverse=True), f"{name}: the largest cost is first")


def check_ranks(name, out, logs):
    columns = (
        "rank",
        "pid",
        "step_count",
        "step_time_ns",
        "length_ns",
        "busy_ns",
        "compute_ns",
        "exposed_communication_ns",
        "copy_time_ns",
        "idle_ns",
        "launches",
        "operations",
    )
    same(
        f"{name}: ranks",
        [(row["host"], row["device_name"], *(number(row[each]) for each in columns)) for row in answer(out, "ranks")],
        [
            (row["host"], row["device_name"], *(row[each] for each in columns))
            for row in rows_of_prof("report", "ranks", logs)
        ],
    )


def check_kernels(name, out, logs):
    columns = ("count", "total_ns", "min_ns", "max_ns")
    same(
        f"{name}: kernels",
        [(row["name"], *(number(row[each]) for each in columns)) for row in answer(out, "kernels")],
        [
            (row["name"], *(row[each] for each in columns))
            for row in rows_of_prof("report", "kernels", logs, "--names", "full", "--limit", "0")
            if row["type"] == "kernel"
        ],
    )


def many_ranks(work):
    logs = work / "logs"
    subprocess.run(
        [
            options.make_job,
            logs,
            "--ranks",
            "256",
            "--steps",
            "10",
            "--collectives",
            "1",
            "--absent",
            "100:3",
            "--slow-kernel",
            "9:gemm:5",
        ],
        check=True,
    )
    fleet(logs, "--dataset", work / "tables", "--out", work / "duckdb")
    check(
        sum(row["state"] == "not entered" for row in answer(work / "duckdb", "blame")) == 3, "three ranks did not enter"
    )
    slowest = max(answer(work / "duckdb", "ranks"), key=lambda row: int(row["slower_ns"]))
    check(slowest["rank"] == "9", f"rank 9 is slow, not {slowest}")
    for each in (check_blame, check_findings, check_ranks, check_outliers, check_kernels):
        each("256 ranks", work / "duckdb", logs)
    files = sorted(str(path) for path in (work / "tables").rglob("*.parquet"))
    fleet(logs, "--dataset", work / "tables", "--out", work / "again")
    check(
        files == sorted(str(path) for path in (work / "tables").rglob("*.parquet")),
        "a second run replaces the files of the first",
    )
    check_kernels("256 ranks again", work / "again", logs)
    if not (SOURCE / "build/pyspark/pyspark").is_dir() or shutil.which("java") is None:
        print("Spark is not installed (scripts/setup --fleet): only DuckDB was tested")
        return
    fleet(
        logs,
        "--dataset",
        work / "tables of spark",
        "--out",
        work / "spark",
        "--engine",
        "spark",
        "--master",
        "local[2]",
    )
    spark_reads(work / "tables of spark")
    for name in ("ranks", "outliers", "blame", "kernels"):
        check(
            (work / "spark" / f"{name}.csv").read_bytes() == (work / "duckdb" / f"{name}.csv").read_bytes(),
            f"Spark: {name} is that of DuckDB",
        )


SPARK_READS = """
import json, sys
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
         .config("spark.driver.host", "127.0.0.1").getOrCreate())
found = {}
for folder in sys.argv[1:]:
    frame = spark.read.parquet(folder)
    numbers = [name for name, kind in frame.dtypes if kind == "bigint"]
    values = frame.selectExpr("count(*)", *(f"bit_xor({name})" for name in numbers)).first()
    found[folder] = [sorted(frame.dtypes), numbers, list(values)]
print(json.dumps(found))
"""
SPARK_TYPES = {"BIGINT": "bigint", "VARCHAR": "string", "BOOLEAN": "boolean", "DOUBLE": "double"}


def spark_reads(tables):
    """With the default settings Spark has the types and values of DuckDB, which golden.export_tables compares."""
    folders = sorted(str(path) for path in tables.iterdir() if not path.name.startswith("_"))
    check(len(folders) >= 10, f"the dataset has {len(folders)} tables")
    path = os.pathsep.join(str(SOURCE / "build" / name) for name in ("pyarrow", "pyspark"))
    done = subprocess.run(
        [sys.executable, "-c", SPARK_READS, *folders],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    check(done.returncode == 0, f"Spark reads with its default settings: {done.stderr[-800:]}")
    for folder, (types, numbers, values) in json.loads(done.stdout or "{}").items():
        columns = duckdb.sql(f"DESCRIBE SELECT * FROM '{folder}/*/*.parquet'").fetchall()
        wanted = sorted([each[0], SPARK_TYPES[each[1]]] for each in columns)
        check(types == wanted, f"{folder}: types of Spark {types}, of DuckDB {wanted}")
        sums = ", ".join(["count(*)", *(f"bit_xor({name})" for name in numbers)])
        wanted = list(duckdb.sql(f"SELECT {sums} FROM '{folder}/*/*.parquet'").fetchall()[0])
        check(values == wanted, f"{folder}: Spark reads {values}, DuckDB {wanted}")


def slow_ranks(work):
    """Outliers of each kind, alone and together, beside ranks that are shorter or have another GPU."""
    for place, words in enumerate(
        (
            "--ranks 24 --steps 12 --slow-host 5:3 --gpu 7:NVIDIA_H100",
            "--ranks 40 --steps 10 --slow-copy 30:8 --slow-kernel 9:gemm:1.5 --last-steps 4:9",
            "--ranks 16 --steps 16 --slow-kernel 3:*:1.4 --seed 7",
            "--ranks 3 --steps 8",
            "--ranks 12 --steps 4 --slow-kernel 2:gemm:3",
        )
    ):
        logs, out = work / f"logs{place}", work / f"out{place}"
        subprocess.run([options.make_job, logs, *words.split()], check=True)
        if place == 0:  # a folder may have compressed logs, and other files
            log = logs / "rank_0005.plog"
            (logs / "rank_0005.plog.gz").write_bytes(gzip.compress(log.read_bytes()))
            log.unlink()
            (logs / "notes.txt").write_text("not a log")
        fleet(logs, "--dataset", work / f"tables{place}", "--out", out)
        check_outliers(words, out, logs)
        if place < 3:
            check(answer(out, "outliers"), f"{words}: a rank is an outlier")


def hanging_jobs(work):
    """Jobs of golden.blame and random ones, each a run of one dataset. Only the rank that stops may be named."""
    culprits = {}
    for kind in (
        "never sleeping killed exited type size order chain circle send unsent pair_size creation ring "
        "ring_pairs ring_silent nvtx nvtx_size mixed none recent missing stopped buffered damaged lost"
    ).split():
        culprits[kind] = None
        subprocess.run([sys.executable, GOLDEN / "blame/job.py", kind, work / kind], check=True)
    for seed in range(40):
        name = f"random{seed}"
        made = [sys.executable, GOLDEN / "blame/random_job.py", work / name, str(seed), str(seed % 2)]
        culprits[name] = subprocess.run(made, capture_output=True, text=True, check=True).stdout.strip()
    for run in culprits:
        for words in ((work / run, "--format", "parquet", "-o", work / "tables"), ("--align", work / "tables")):
            subprocess.run([options.prof, "export", *words, "--run", run], check=False, capture_output=True)
    fleet("--dataset", work / "tables", "--out", work / "out", "--sql", SOURCE / "analyzer/fleet/blame.sql")
    rows = answer(work / "out", "blame")
    named = 0
    for run, culprit in culprits.items():
        out = work / f"{run}-out"
        out.mkdir()
        with open(out / "blame.csv", "w", newline="", encoding="utf-8") as file:
            lines = csv.DictWriter(file, rows[0])
            lines.writeheader()
            lines.writerows(row for row in rows if row["run"] == run)
        check_blame(run, out, work / run)
        check_findings(run, out, work / run)
        if culprit is not None:
            ranks = {row["rank"] for row in rows if row["run"] == run and row["finding"]}
            named += len(ranks)
            check(ranks <= {culprit}, f"{run}: rank {culprit} stopped, {ranks} are named")
            check(ranks or int(run[6:]) % 2 == 1 or culprit == "none", f"{run}: rank {culprit} stopped, none is named")
    check(named >= 20, f"{named} random jobs have a finding")


def shifted(log_text, ns):
    """the log of a host whose clock is ahead"""
    return re.sub(r"realtime_ns=(\d+)", lambda found: f"realtime_ns={int(found[1]) + ns}", log_text)


def clocks(work):
    """Clocks that differ by known times, as `prof report collectives` finds them; again after ranks are appended."""
    texts = work / "texts"
    subprocess.run([options.make_job, texts, "--ranks", "32", "--steps", "12", "--text", "1"], check=True)
    logs = work / "logs"
    logs.mkdir()
    ahead = {host: (host * 7_000_000 if host % 2 else -host * 3_000_000) for host in range(4)}
    for rank in range(32):
        (work / "text").write_text(shifted((texts / f"rank_{rank:04}.log.txt").read_text(), ahead[rank // 8]))
        subprocess.run([options.undump, work / "text", logs / f"rank_{rank:04}.plog"], check=True)
    tables = work / "tables"

    def aligned(wanted_hosts, *inputs):
        subprocess.run(
            [options.prof, "export", *inputs, "--format", "parquet", "-o", tables], check=True, capture_output=True
        )
        for _ in range(2):
            subprocess.run([options.prof, "export", "--align", tables], check=True, capture_output=True)
        found = duckdb.sql(
            f"SELECT host, offset_ns, bound_ns, collectives, basis, count(*) FROM '{tables}/clocks/*/*.parquet' "
            "GROUP BY ALL ORDER BY host"
        ).fetchall()
        check(
            [row[0] for row in found] == [f"node{host:03}" for host in range(wanted_hosts)]
            and {row[5] for row in found} == {8},
            f"a row for each process: {found}",
        )
        for host, (_, offset, bound, _, basis, _) in enumerate(found):
            check(
                abs(offset - ahead[host]) <= bound and (basis == "reference") == (host == 0),
                f"the clock of {found[host]} is {ahead[host]} ahead",
            )
        lines = subprocess.run(
            [options.prof, "report", "collectives", *inputs], capture_output=True, text=True, check=False
        ).stdout
        for name, offset, bound, count, basis, _ in found[1:]:
            line = next((line for line in lines.splitlines() if line.startswith(f"clock of {name}:")), "")
            difference = f"differs by {'-' if offset < 0 else '+'}{abs(offset) / 1e6:.3f}ms"
            check(
                difference in line and f"({count} collectives, by their {basis})" in line,
                f"table clocks has {offset}, {count}, {basis}; '{line}'",
            )

    first = sorted(logs.glob("*.plog"))[:16]
    aligned(2, *first)
    aligned(4, *sorted(logs.glob("*.plog")))
    query = work / "spread.sql"
    query.write_text("""-- Ends of each all-reduce by the aligned clocks.
        SELECT max(aligned_start_ns + duration_ns) - min(aligned_start_ns + duration_ns) AS spread_ns,
               max(clock_bound_ns) AS bound_ns
        FROM (SELECT *, row_number() OVER (PARTITION BY process_id ORDER BY start_ns) AS n
              FROM aligned_operations WHERE name LIKE 'nccl%') t
        GROUP BY n ORDER BY n;\n""")
    fleet("--dataset", tables, "--out", work / "out", "--sql", query)
    spreads = answer(work / "out", "spread")
    check(
        len(spreads) == 12 and all(int(row["spread_ns"]) <= 2 * int(row["bound_ns"]) for row in spreads),
        f"the view aligns the ends: {spreads[:3]}",
    )
    done = subprocess.run([options.prof, "export", "--align", work], capture_output=True, text=True, check=False)
    check(
        done.returncode == 2 and "has no tables of run=main" in done.stderr, f"a folder without tables: {done.stderr}"
    )


with tempfile.TemporaryDirectory() as temporary:
    place = pathlib.Path(temporary)
    subprocess.run([options.undump, GOLDEN / "trace_basic/app.log.txt", place / "one.plog"], check=True)
    first = subprocess.run(
        [options.prof, "export", place / "one.plog", "--format", "parquet", "-o", place / "one"],
        capture_output=True,
        text=True,
        check=False,
    )
    if "not installed" in first.stderr:
        print(first.stderr)
        sys.exit(77)
    for step in (clocks, slow_ranks, hanging_jobs, many_ranks):
        (place / step.__name__).mkdir()
        step(place / step.__name__)
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
