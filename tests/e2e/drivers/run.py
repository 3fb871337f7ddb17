#!/usr/bin/env python3
"""Runs one program under libprof.so on the simulated GPU and compares the recording with the expectations in its
source.

    // Env: NAME=VALUE …          environment of the program; {sim} and {dir} are replaced
    // Shell: COMMAND             how it is started; {run} is "env LD_PRELOAD=… PROGRAM" (the default)
    // Expect: status 0
    // Expect: stdout TEXT, stderr TEXT, stderr empty, stderr once TEXT
    // Expect: report NAME OPTIONS: REGEX         a line of `prof report NAME OPTIONS --format csv` on all logs; "N x
                                                  REGEX": in N lines
    // Expect: trace OPTIONS: REGEX               the same for the events that `prof trace OPTIONS` writes, one per line
    // Expect: trace valid                        tests/golden/validate_trace.py reports nothing
    // Expect: logs 2
    // Expect: log 1: 3 kernel_launch(vector_add), >=1 api_call(cuInit), 0 lost, counter guard_resets 1, text nvtx_push,
              12 kernel_launch + nested_calls (a sum of records and counters), whole, size < 1000000, 3 stack(REGEX),
              3 counters(gemm dram__bytes_read=256), launches accounted      (stacks.py, counters.py; logs are numbered
              by their start; "no X" is "0 X")
A line may go on in the next one, after "//" and three spaces. A kind may have a name: the kernel's, the function's, or an NVTX label's text; and fields:
1 memory_launch(cuMemcpy bytes=64).
"""
import argparse
import collections
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from counters import Counters
from stacks import Stacks

VALIDATE = pathlib.Path(__file__).parents[2] / "golden/validate_trace.py"
FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+)')


class Log:
    """one log, as `prof dump` prints it"""

    def __init__(self, prof, path, loss_counters):
        self.path = path
        self.size = path.stat().st_size
        dumped = subprocess.run([prof, "dump", path], capture_output=True, encoding="utf-8", errors="replace")
        self.text = dumped.stdout
        self.damage = dumped.stderr.strip()
        self.records, self.counters = [], {}
        names = {"string": {}, "api": {}, "function": {}, "config": {}, "nvtx_label": {}, "nvtx_domain": {}}
        for line in self.text.split("\n"):  # bytes of values may look like other line endings
            kind, _, rest = line.partition(" ")
            fields = {name: value[1:-1] if value.startswith('"') else value for name, value in FIELD.findall(rest)}
            if kind == "counter":
                name, value = (fields.get("name"), fields.get("value")) if "name" in fields else rest.replace("=", " ").split()[:2]
                self.counters[name] = int(value)
            elif kind in names and "id" in fields:
                names[kind][fields["id"]] = fields
            self.records.append((kind, fields))
        self.start = min((int(f["first_tick"]) for k, f in self.records if k == "thread"), default=0)
        self.loss = sum(self.counters.get(name, 0) for name in loss_counters)
        self.names, self.stacks = names, None

    def name_of(self, kind, fields):
        names = self.names
        if kind == "kernel_launch":
            function = names["function"].get(names["config"].get(fields["config"], {}).get("function"), {})
            return names["string"].get(function.get("name"), {}).get("text")
        if "api" in fields:
            return names["api"].get(fields["api"], {}).get("name")
        if "label" in fields:
            if "text" in fields:
                return fields["text"]
            return names["string"].get(names["nvtx_label"].get(fields["label"], {}).get("text"), {}).get("text")
        return fields.get("name")

    def fields_of(self, kind, fields):
        """the record of a launch with its shape"""
        return {**self.names["config"].get(fields["config"], {}), **fields} if kind == "kernel_launch" else fields

    def count(self, kind, wanted):
        name, conditions = re.fullmatch(r"(.*?)((?:(?:^| )\w+=[^ ,()]+)*)", wanted or "").groups()
        met = lambda fields: all("%s=%s" % (c.split("=")[0], fields.get(c.split("=")[0])) == c for c in conditions.split())
        return sum(1 for k, f in self.records
                   if k == kind and (not name or self.name_of(k, f) == name) and (not conditions or met(self.fields_of(k, f))))


def compare(found, wanted):
    """wanted: 3, >=3, <3"""
    number = int(re.sub(r"[^0-9]", "", wanted))
    if wanted.startswith(">="):
        return found >= number
    if wanted.startswith("<"):
        return found < number
    return found == number


def judge(log, item):
    """None, or what is wrong"""
    item = re.sub(r"^no ", "0 ", item)
    if item == "whole":
        return f"damaged: {log.damage}" if log.damage else None
    if match := re.fullmatch(r"size (<) ?(\d+)", item):
        return None if compare(log.size, match[1] + match[2]) else f"size is {log.size}"
    if match := re.fullmatch(r"text (.*)", item):
        return None if match[1] in log.text else f"no such text: {match[1]}"
    if match := re.fullmatch(r"counter (\w+) ((?:>=|<)?\d+)", item):
        found = log.counters.get(match[1], 0)
        return None if compare(found, match[2]) else f"{match[1]} is {found}"
    if match := re.fullmatch(r"((?:>=|<)?\d+) lost", item):
        return None if compare(log.loss, match[1]) else f"{log.loss} lost: {log.counters}"
    if match := re.fullmatch(r"((?:>=|<)?\d+) stack\((.*)\)", item):
        log.stacks = log.stacks or Stacks(log.records, log.names["string"])
        found = log.stacks.count(log.records, match[2])
        return None if compare(found, match[1]) else f"{found}, of these stacks:\n" + "\n".join(sorted(set(log.stacks.texts.values())))
    if match := re.fullmatch(r"launches accounted(?: but (\d+))?", item):
        unaccounted = Counters(log).unaccounted
        return f"{unaccounted} without hardware counters or a reason" if abs(unaccounted) > int(match[1] or 0) else None
    if match := re.fullmatch(r"((?:>=|<)?\d+) counters\((.*)\)", item):
        counters = Counters(log)
        found = counters.count(match[2])
        return None if compare(found, match[1]) else f"{found}, of {len(counters.rows)} rows such as {counters.rows[:8]}"
    if match := re.fullmatch(r"((?:>=|<)?\d+) (\w+(?: \+ \w+)+)", item):
        terms = {name: log.counters[name] if name in log.counters else log.count(name, None) for name in match[2].split(" + ")}
        return None if compare(sum(terms.values()), match[1]) else f"{sum(terms.values())}: {terms}"
    if match := re.fullmatch(r"((?:>=|<)?\d+) (\w+)(?:\((.*)\))?", item):
        found = log.count(match[2], match[3])
        return None if compare(found, match[1]) else f"{found} {match[2]}{'(' + match[3] + ')' if match[3] else ''}"
    return "not understood"


def judge_lines(text, wanted):
    """None, or what is wrong. wanted: REGEX or "N x REGEX\""""
    times, _, regex = wanted.partition(" x ") if re.match(r"(>=|<)?\d+ x ", wanted) else (">=1", "", wanted)
    found = sum(1 for line in text.splitlines() if re.search(regex, line))
    return None if compare(found, times) else f"in {found} lines of\n{text[:6000]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prof", required=True)
    parser.add_argument("--libprof", required=True)
    parser.add_argument("--sim", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--counters", type=pathlib.Path, required=True, help="preload/format/loss_counters.def")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()

    lines = re.sub(r"\n//   +", " ", options.source.read_text()).splitlines()
    get = lambda what: [line.split(":", 1)[1].strip() for line in lines if re.match(rf"\s*// {what}:", line)]
    expectations = get("Expect")
    if not expectations:
        sys.exit(f"{options.source} expects nothing")
    loss_counters = re.findall(r"PROF_COUNTER\((\w+), Loss", options.counters.read_text())

    with tempfile.TemporaryDirectory(prefix="prof-e2e-") as folder:
        environment = dict(os.environ, PROF_SYMBOL_CACHE="off", PROF_OUTPUT=folder, PROF_CUPTI=f"{options.sim}/libcupti.so.13", E2E_DIR=folder,
                           LD_LIBRARY_PATH=f"{options.sim}:{pathlib.Path(options.program).parent}", E2E_LIBPROF=options.libprof)
        shim = re.sub(r"([^/]+)$", r"lib\1_shim.so", options.program)
        fill = lambda text: text.replace("{sim}", options.sim).replace("{dir}", folder).replace("{shim}", shim)
        for line in get("Env"):
            for assignment in shlex.split(fill(line)):
                name, _, value = assignment.partition("=")
                environment[name] = value
        run = f"env LD_PRELOAD={shlex.quote(environment.pop('LD_PRELOAD', options.libprof))} {shlex.quote(options.program)}"
        shell = fill((get("Shell") or ["{run}"])[0].replace("{run}", run).replace("{plain}", shlex.quote(options.program)))
        done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, errors="replace", env=environment, timeout=240, cwd=folder)
        logs = sorted((Log(options.prof, path, loss_counters) for path in pathlib.Path(folder).rglob("*.plog")), key=lambda log: log.start)

        wrong = []
        for line in expectations:
            what, _, rest = line.partition(" ")
            if what == "status":
                status = done.returncode if done.returncode >= 0 else 128 - done.returncode
                problem = None if status == int(rest) else f"status is {status}"
            elif what in ("stdout", "stderr"):
                text = getattr(done, what)
                times = text.count(rest.removeprefix("once "))
                if rest.startswith("once "):
                    problem = None if times == 1 else f"it is there {times} times"
                else:
                    problem = None if (text == "" if rest == "empty" else times != 0) else "it is not there"
            elif what == "logs":
                problem = None if compare(len(logs), rest) else f"{len(logs)} logs"
            elif match := re.match(r"report ([^:]+): (.*)", line):
                said = subprocess.run([options.prof, "report", *match[1].split(), "--format", "csv", *(log.path for log in logs)], capture_output=True, text=True)
                problem = judge_lines(said.stdout + said.stderr, match[2])
            elif line == "trace valid":
                path = f"{folder}/valid.json"
                subprocess.run([options.prof, "trace", "-o", path, *(log.path for log in logs)], capture_output=True)
                said = subprocess.run([sys.executable, VALIDATE, path], capture_output=True, text=True)
                problem = said.stdout + said.stderr if said.returncode else None
            elif match := re.match(r"trace( [^:]+)?: (.*)", line):
                said = subprocess.run([options.prof, "trace", *(match[1] or "").split(), "-o", "-", *(log.path for log in logs)], capture_output=True, text=True)
                problem = judge_lines(said.stdout + said.stderr, match[2])
            elif match := re.match(r"log (\d+): (.*)", line):
                number = int(match[1])
                if number > len(logs):
                    problem = f"{len(logs)} logs"
                else:
                    found = [f"[{item}] {told}" for item in re.split(r", (?![^(]*\))", match[2]) if (told := judge(logs[number - 1], item))]
                    problem = "; ".join(found) or None
            else:
                problem = "not understood"
            if problem:
                wrong.append(f"Expect: {line}\n   but: {problem}")
        if wrong:  # what is wrong comes last: who reads many failed tests sees the last lines of each
            for number, log in enumerate(logs, 1):
                print(f"--- log {number}, {log.path.name}, {log.size} bytes:")
                print("\n".join(line[:200] for line in log.text.splitlines()[-60:]))
                print(subprocess.run([options.prof, "check", log.path], capture_output=True, text=True).stdout)
            print(f"--- status {done.returncode}, stdout:\n{done.stdout}--- stderr:\n{done.stderr}")
            print("\n".join(wrong))
            for log in logs:
                kinds = collections.Counter(kind for kind, _ in log.records)
                print(f"{log.path.name}: {log.size} bytes, records {dict(kinds)}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
