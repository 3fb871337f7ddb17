#!/usr/bin/env python3
"""Answers about a job of many ranks from its logs, on DuckDB or Spark: exports the logs as tables, in parallel, aligns
the clocks of the hosts, and runs the SQL files of this folder (docs/fleet.md).

    fleet.py LOG... --dataset DIR --out DIR [--engine duckdb|spark] [--prof PROF]
    spark-submit --master URL fleet.py LOG... --dataset DIR --out DIR --engine spark --prof PROF

LOG: logs, folders of logs, @lists. The dataset is on a file system that all executors share, and so are the logs and
prof. Each answer is OUT/NAME.csv. Exit status: 0, 1 if an input was left out or damaged, 2 if there is no answer."""

import argparse
import concurrent.futures
import csv
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
LOG_NAME = re.compile(r"\.(plog|pt\.trace\.json)(\.gz|\.zst)?$")  # in folders; other files are given by name
PARTIAL = 1  # exit status of prof: an input was damaged or left out
TYPES = {"Int": "BIGINT", "Real": "DOUBLE", "Bool": "BOOLEAN", "Text": "VARCHAR(1)"}


def log_files(words):
    """The logs of the arguments, sorted: the same job has the same tasks, so that a task replaces its files."""
    found = set()
    for word in words:
        if word.startswith("@"):
            found |= set(log_files(pathlib.Path(word[1:]).read_text().split("\n")[:-1]))
        elif os.path.isdir(word):
            found |= {
                os.path.join(at, name) for at, _, names in os.walk(word) for name in names if LOG_NAME.search(name)
            }
        else:
            found.add(word)
    return sorted(os.path.abspath(path) for path in found)


def export(prof, logs, dataset, run):
    """Runs prof for one task. Returns its exit status and messages; more than 1 is an error."""
    command = [prof, "export", "@/dev/stdin", "--format", "parquet", "-o", dataset, "--run", run]
    done = subprocess.run(
        command, input="".join(f"{log}\n" for log in logs), capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


class DuckDb:
    def __init__(self, options):
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute(f"SET threads = {options.jobs}")
        self.connection.execute("SET preserve_insertion_order = false")
        self.jobs = options.jobs

    def each(self, work, tasks):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(work, tasks))

    def table(self, name, files):
        self.connection.execute(
            f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM "
            f"read_parquet('{files}/*/*.parquet', hive_partitioning = true, "
            "hive_types = {'run': VARCHAR}, union_by_name = true)"
        )

    def run(self, statement):
        return self.connection.execute(statement)

    keep = run

    def rows(self, statement):
        return self.run(statement).fetchall()

    def write(self, statement, path):
        answer = self.run(statement)
        with open(path, "w", newline="", encoding="utf-8") as out:
            lines = csv.writer(out)
            lines.writerow(column[0] for column in answer.description)
            while rows := answer.fetchmany(10000):
                lines.writerows(rows)


class Spark:
    def __init__(self, options):
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.appName("prof fleet").config(
            "spark.sql.sources.partitionColumnTypeInference.enabled", "false"
        )
        if options.master:
            builder = builder.master(options.master)
            if options.master.startswith("local"):
                builder = builder.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
                # By default each join and group has 200 tasks, which is for clusters.
                builder = builder.config("spark.sql.shuffle.partitions", str(os.cpu_count()))
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")

    def each(self, work, tasks):
        return self.session.sparkContext.parallelize(tasks, max(1, len(tasks))).map(work).collect()

    def table(self, name, files):
        self.session.read.option("mergeSchema", "true").parquet(files).createOrReplaceTempView(name)

    def run(self, statement):
        return self.session.sql(statement)

    def keep(self, statement):
        """Without the rows of a table, Spark's plan of a long query has no end."""
        name, query = re.fullmatch(r"CREATE OR REPLACE TEMPORARY TABLE (\w+) AS\s(.*)", statement, re.DOTALL).groups()
        self.run(query).localCheckpoint().createOrReplaceTempView(name)

    def rows(self, statement):
        return [tuple(row) for row in self.run(statement).collect()]

    def write(self, statement, path):
        answer = self.run(statement)
        with open(path, "w", newline="", encoding="utf-8") as out:
            lines = csv.writer(out)
            lines.writerow(answer.columns)
            lines.writerows(tuple(row) for row in answer.toLocalIterator())


def tables():
    """(name, columns) of each table, from the only list of them."""
    text = (HERE.parent / "output/dataset/dataset_tables.def").read_text(encoding="utf-8")
    column = re.compile(r"PROF_DATASET_COLUMN\((\w+), (\w+)")
    identity = column.findall(text[: text.index("\nPROF_DATASET_TABLE(")].split("#define")[-1])
    for part in text.split("\nPROF_DATASET_TABLE(")[1:]:
        yield part.split(",")[0], identity + column.findall(part)


def open_tables(engine, dataset):
    """A view for each table. One without rows in the whole job has no files."""
    for name, columns in tables():
        if any(pathlib.Path(dataset, name).glob("run=*/*.parquet")):
            engine.table(name, f"{dataset}/{name}")
        else:
            cells = ", ".join(
                f"CAST(NULL AS {TYPES[kind]}) AS {column}" for column, kind in columns + [("run", "Text")]
            )
            engine.run(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM (SELECT {cells}) nothing WHERE 1 = 0")


def statements(path):
    text = re.sub(r"^--.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [each.strip() for each in re.split(r";$", text, flags=re.MULTILINE) if each.strip()]


def incomplete_beta(x, a, b):
    """The regularised incomplete beta function, by its continued fraction (Lentz's method)."""
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, 300):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            c, d = 1 + term / c, 1 / (1 + term * d)
            result *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * result / a


def outlier_limit(ranks, pairs):
    """The limit of prof report ranks, in robust standard deviations (analyzer/analysis/median_outliers.h): the quantile
    of Student's t for 0.01 / pairs, with 0.37 (ranks - 1) degrees of freedom."""
    freedom, p = 0.37 * (ranks - 1), 2 * 0.01 / pairs
    low, high = 0.0, 1.0
    while incomplete_beta(freedom / (freedom + high * high), freedom / 2, 0.5) > p and high < 1e12:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if incomplete_beta(freedom / (freedom + middle * middle), freedom / 2, 0.5) > p:
            low = middle
        else:
            high = middle
    return high


def limit_outliers(engine):
    """The view outlier_limits, from the numbers of pairs of rank and item of each run. SQL has no quantiles of t."""
    pairs = engine.rows(
        "SELECT DISTINCT run, ranks, pairs FROM "
        "(SELECT run, ranks, count(*) OVER (PARTITION BY run) AS pairs FROM tested_items) t"
    )
    rows = [
        "SELECT '{}' AS run, CAST({} AS BIGINT) AS ranks, CAST('{!r}' AS DOUBLE) AS deviations_limit".format(
            run.replace("'", "''"), ranks, outlier_limit(ranks, all_pairs)
        )
        for run, ranks, all_pairs in pairs
    ] or ["SELECT run, 0 AS ranks, 0.0e0 AS deviations_limit FROM ranks WHERE 1 = 0"]
    engine.run(f"CREATE OR REPLACE TEMPORARY VIEW outlier_limits AS {' UNION ALL '.join(rows)}")


class Stages:
    """prints for each stage its time, and the most memory of this process so far"""

    def __init__(self):
        self.begin = time.monotonic()

    def end(self, name, text=""):
        now = time.monotonic()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"fleet: {name}: {now - self.begin:.2f} s, {memory} MB{text}", file=sys.stderr)
        self.begin = time.monotonic()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="*", metavar="LOG", help="none: the dataset has all tables already")
    parser.add_argument("--dataset", required=True, help="folder for the tables")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder for the answers")
    parser.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb")
    parser.add_argument("--master", help="of Spark, such as local[2]; spark-submit gives it otherwise")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="duckdb: logs are exported by so many processes"
    )
    parser.add_argument(
        "--task-logs",
        type=int,
        default=64,
        metavar="N",
        help="logs of one task, which one prof exports; it writes a file a table",
    )
    parser.add_argument("--prof", default="prof", help="the program prof, with the plug-in for Parquet")
    parser.add_argument("--run", default="main", help="value of the column run")
    parser.add_argument("--after", type=float, default=1, metavar="SECONDS", help="as of prof blame")
    parser.add_argument(
        "--sql",
        nargs="*",
        type=pathlib.Path,
        default=[HERE / f"{name}.sql" for name in ("ranks", "outliers", "blame", "kernels")],
        help="other queries; a file has tables to keep, and one SELECT",
    )
    options = parser.parse_args()
    stages, status = Stages(), 0
    engine = {"duckdb": DuckDb, "spark": Spark}[options.engine](options)
    stages.end("start")

    logs = log_files(options.logs)
    if options.logs and not logs:
        sys.exit("fleet: there is no log in the inputs")
    if logs:
        prof, dataset, run = options.prof, os.path.abspath(options.dataset), options.run
        tasks = [logs[at : at + options.task_logs] for at in range(0, len(logs), options.task_logs)]
        for task, (ended, text) in zip(tasks, engine.each(lambda task: export(prof, task, dataset, run), tasks)):
            if ended:
                print(f"fleet: export of {task[0]} and {len(task) - 1} more: status {ended}\n{text}", file=sys.stderr)
            if ended > PARTIAL:
                sys.exit(2)
            status = max(status, ended)
        files = sum(1 for _ in pathlib.Path(options.dataset).glob(f"*/run={options.run}/*.parquet"))
        stages.end("export", f"; {len(logs)} logs, {len(tasks)} tasks, {files} files")
        aligned = subprocess.run(
            [options.prof, "export", "--align", options.dataset, "--run", options.run], check=False
        )
        if aligned.returncode != 0:
            sys.exit(2)
        stages.end("align", "; 1 file")

    open_tables(engine, options.dataset)
    engine.run(
        f"CREATE OR REPLACE TEMPORARY VIEW parameters AS SELECT CAST({int(options.after * 1e9)} AS BIGINT) AS after_ns"
    )
    for statement in statements(HERE / "views.sql"):
        (engine.keep if " TEMPORARY TABLE " in statement.split("\n")[0] else engine.run)(statement)
    limit_outliers(engine)
    options.out.mkdir(parents=True, exist_ok=True)
    stages.end("open tables")
    for path in options.sql:
        *kept, query = statements(path)
        for statement in kept:
            engine.keep(statement)
        engine.write(query, options.out / f"{path.stem}.csv")
        stages.end(path.name)
    return status


if __name__ == "__main__":
    sys.exit(main())
