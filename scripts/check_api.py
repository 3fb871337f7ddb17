#!/usr/bin/env python3
"""Every function of the CUDA toolkit: is it recorded, and if not, why? Compares the functions that cuda.h, cudaProfiler.h,
cuda_runtime_api.h and cuda_profiler_api.h declare and the names of CUPTI's callback-id lists with the tables in
preload/intercept (cuda_api.def, cudart_api.def) and with left_alone.txt beside them. A name of none of them fails; so does a
table in docs/api_coverage.md that is not what --write would make of it.

The table is of one toolkit (its first line says which). With another one, names that it adds are told as a note and nothing
is compared with the table: an older or newer toolkit must not fail a build.

Usage: check_api.py [--cache CMakeCache.txt | --cuda FOLDER --cupti FOLDER] [--write | --names-only] [--compiler CXX] [ROOT]
"""
import argparse
import fnmatch
import pathlib
import re
import subprocess
import sys
import textwrap

ROW = {"driver": re.compile(r"^CUDA_API\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.M), "runtime": re.compile(r"^CUDART_API\(\s*(\w+)\s*,\s*(\w+)", re.M)}
PLAIN = {"Call", "Create", "Nothing", "Number"}
ROUTED = {"ProcAddress", "Watch"}
MEANING = {"Call": "with its handle", "Create": "with the handle it makes", "Nothing": "around the driver calls inside",
           "Number": "around the driver calls inside, with its first argument", "ProcAddress": "hands out the others",
           "Watch": "tells that an object with kernels has come"}
TWIN = re.compile(r"_(ptsz|ptds)$")
HEADERS = {"driver": ("cuda.h", "cudaProfiler.h"), "runtime": ("cuda_runtime_api.h", "cuda_profiler_api.h")}
DECLARED = {"driver": re.compile(r"\bCUresult (cu\w+) ?\([^;{]*\) ?;"),
            "runtime": re.compile(r"\b(?:cudaError_t|const char ?\*|struct \w+) ?(cuda[A-Z]\w+) ?\([^;{]*\) ?;")}
CALLBACKS = {"driver": ("cupti_driver_cbid.h", re.compile(r"CUPTI_DRIVER_TRACE_CBID_(cu\w+)\s*=")),
             "runtime": ("cupti_runtime_cbid.h", re.compile(r"CUPTI_RUNTIME_TRACE_CBID_(cuda[A-Z]\w+?)_v\d+\s*="))}
TITLE = {"driver": "Driver functions", "runtime": "Functions of the CUDA run time"}


def declared(options, level):
    """names that the toolkit's headers declare; empty where it has no such header"""
    command = [options.compiler, "-E", "-P", "-x", "c++", "-D__CUDA_API_VERSION_INTERNAL", "-isystem", options.cuda]
    for header in HEADERS[level]:
        if (options.cuda / header).exists():
            command += ["-include", header]
    text = subprocess.run(command + ["/dev/null"], check=True, capture_output=True, text=True).stdout
    return set(DECLARED[level].findall(re.sub(r"\s+", " ", text)))


def callbacks(options, level):
    """names of CUPTI's list that are no numbers; empty without CUPTI"""
    name, pattern = CALLBACKS[level]
    path = options.cupti / name if options.cupti else None
    return set(pattern.findall(path.read_text())) if path and path.exists() else set()


def read_left_alone(path):
    """reason -> text, and name or pattern -> reason"""
    reasons, names, problems, reason = {}, {}, [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("@"):
            reason, _, text = line[1:].partition(": ")
            reasons[reason] = text
        elif line.startswith("  ") and reason:
            for name in line.split():
                if name in names:
                    problems.append(f"{path.name}:{number}: {name} stands there twice")
                names[name] = reason
        elif line and not line.startswith("#"):
            problems.append(f"{path.name}:{number}: neither a reason nor names below one")
    return reasons, names, problems


class Classes:
    """name -> how it is recorded, or why not"""

    def __init__(self, folder):
        self.reasons, self.left, self.problems = read_left_alone(folder / "left_alone.txt")
        self.patterns = [name for name in self.left if "*" in name]
        self.rows = {level: {} for level in ROW}
        for level, file in (("driver", "cuda_api.def"), ("runtime", "cudart_api.def")):
            path = folder / file
            for name, topic in ROW[level].findall(path.read_text()) if path.exists() else ():
                if name in self.rows[level]:
                    self.problems.append(f"{file}: {name} has two rows")
                if name in self.left or TWIN.sub("", name) in self.left:
                    self.problems.append(f"{file}: {name} has a row, and left_alone.txt says that it has none")
                self.rows[level][name] = topic

    def of(self, level, name, in_header):
        """('recorded', topic) | ('plain', topic) | ('left', reason) | None"""
        topic = self.rows[level].get(name)
        if topic:
            return ("routed" if topic in ROUTED else "plain" if topic in PLAIN else "recorded", topic)
        reason = self.left.get(name) or self.left.get(TWIN.sub("", name))
        if not reason and not in_header:
            reason = next((self.left[p] for p in self.patterns if fnmatch.fnmatchcase(name, p)), None)
        return ("left", reason) if reason else None


def wrapped(names):
    return " ".join(sorted(names))


def section(level, classes, names, in_header):
    """the table of one level: a line for each way of recording, then one for each reason"""
    groups = {}
    for name in names:
        groups.setdefault(classes.of(level, name, name in in_header), []).append(name)
    groups.pop(None, None)
    count = lambda *kinds: sum(len(group) for (kind, _), group in groups.items() if kind in kinds)
    total = sum(map(len, groups.values()))
    lines = [f"## {TITLE[level]}", "",
             f"{total} names: {count('recorded')} recorded with what they do, {count('plain')} recorded as plain calls, "
             f"{count('routed')} passed on and not recorded, {count('left')} left alone.", ""]
    lines += ["| how | names | which |", "|---|---|---|"]
    for (kind, what), group in sorted(groups.items(), key=lambda item: (["recorded", "routed", "plain", "left"].index(item[0][0]), item[0][1])):
        how = f"{ {'recorded': 'recorded', 'plain': 'plain call', 'routed': 'passed on', 'left': 'left alone'}[kind]}: {MEANING.get(what, what)}"
        lines.append(f"| {how} | {len(group)} | {wrapped(group)} |")
    beyond = sorted(set(classes.rows[level]) - set(names))
    if beyond:
        lines += ["", f"Rows for other toolkits, older or newer ({len(beyond)}): {wrapped(beyond)}"]
    return lines


def document(version, classes, names, in_header):
    lines = [f"# Every CUDA function, and what is recorded of it (toolkit {version})", "",
             "Made by `scripts/check_api.py --write` from the toolkit's headers, CUPTI's callback-id lists and the tables in",
             "`preload/intercept/`; `scripts/check api` compares. *Recorded* means a record of its own kind (launch, copy, memory), *plain*",
             "one with the function, its times, its stream, the handle it is about and its result. Why the others are left alone:", ""]
    used = {classes.of(level, name, name in in_header[level]) for level in names for name in names[level]}
    for reason, text in classes.reasons.items():
        if ("left", reason) in used:
            lines += textwrap.wrap(f"* *{reason}*: {text}", 126, subsequent_indent="  ")
    for level in names:
        lines += [""] + section(level, classes, names[level], in_header[level])
    return "\n".join(lines) + "\n"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--cache", type=pathlib.Path, help="CMakeCache.txt of a build: the folders that it found")
    parser.add_argument("--cuda", type=pathlib.Path, help="folder that holds cuda.h")
    parser.add_argument("--cupti", type=pathlib.Path, help="folder that holds cupti_driver_cbid.h")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--write", action="store_true", help="write docs/api_coverage.md")
    parser.add_argument("--names-only", action="store_true", help="do not look at docs/api_coverage.md")
    options = parser.parse_args()
    if options.cache:
        found = dict(re.findall(r"^PROF_(CUDA|CUPTI)_INCLUDE:\w+=(.+)$", options.cache.read_text(), re.M))
        options.cuda = options.cuda or pathlib.Path(found["CUDA"])
        options.cupti = options.cupti or pathlib.Path(found["CUPTI"])
    if not options.cuda:
        parser.error("--cache or --cuda is needed")
    return options


def main():
    options = arguments()
    number = int(re.search(r"#define\s+CUDA_VERSION\s+(\d+)", (options.cuda / "cuda.h").read_text()).group(1))
    version = f"{number // 1000}.{number % 1000 // 10}"
    page = options.root / "docs/api_coverage.md"
    written = page.read_text() if page.exists() else ""
    same_toolkit = options.names_only or options.write or f"(toolkit {version})" in written.split("\n", 1)[0]

    classes = Classes(options.root / "preload/intercept")
    problems, notes, names, in_header = list(classes.problems), [], {}, {}
    for level in ROW:
        in_header[level] = declared(options, level)
        names[level] = in_header[level] | callbacks(options, level)
        for name in sorted(names[level]):
            if classes.of(level, name, name in in_header[level]) is None:
                where = "declared by the toolkit's headers" if name in in_header[level] else "in CUPTI's list"
                (problems if same_toolkit else notes).append(
                    f"{name} ({where}) is neither in a table of preload/intercept nor in left_alone.txt")
    if options.write and not problems:
        page.write_text(document(version, classes, names, in_header))
    elif same_toolkit and not options.names_only and not problems and written != document(version, classes, names, in_header):
        problems.append(f"{page.relative_to(options.root)} is not up to date: run scripts/check_api.py --write")

    for note in notes:
        print(f"note: toolkit {version}: {note}")
    for problem in problems:
        print(problem)
    counts = ", ".join(f"{len(names[level])} {level} names, {len(classes.rows[level])} rows" for level in names)
    print(f"RESULT toolkit {version}: {counts}, {len(notes)} notes, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
