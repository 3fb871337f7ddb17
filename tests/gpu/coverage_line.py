"""Parses the coverage line of a report, in which prof prints how complete a recording is."""
import collections
import re

from log_checks import tables_of

# without, unlinked: reason -> number of launches without a GPU operation, number of GPU operations without a launch
Coverage = collections.namedtuple("Coverage", "launches timed without operations linked unlinked text")


def reasons(text):
    """"captured into a graph 14, pending 2" -> {"captured into a graph": 14, "pending": 2}"""
    return {name: int(count) for name, count in re.findall(r"([^,]+?) (\d+)(?:, |$)", text.strip(", "))}


def parse(text):
    found = re.search(r"coverage: launches (\d+), with GPU time (\d+)(?: \(([^)]*)\))?; GPU operations (\d+), with launch (\d+)([^;]*)", text)
    if not found:
        raise RuntimeError(f"no coverage line: {text[:200]}")
    launches, timed, without, operations, linked, unlinked = found.groups()
    return Coverage(int(launches), int(timed), reasons(without or ""), int(operations), int(linked), reasons(unlinked), text[found.start():])


def of_log(lab, log):
    answer = lab.run_prof(["summary", log, "--format", "json"])
    tables = tables_of(answer.stdout)
    if answer.status not in (0, 1) or not tables:
        raise RuntimeError(f"prof summary: status {answer.status}: {answer.stderr.strip()[-200:]}")
    return parse(tables[0]["coverage"])
