#!/usr/bin/env python3
"""Checks that every function of the CUDA toolkit is recorded or has a reason why not. It compares two sets of names
with the tables in preload/ (cuda_api.def, cudart_api.def) and with left_alone.txt: the functions that cuda.h,
cudaProfiler.h, cuda_runtime_api.h and cuda_profiler_api.h declare, and the names in CUPTI's callback-id lists. The
check fails if a name is in none of them, or if docs/api_coverage.md differs from what --write would generate.

The page is for one toolkit; its first line names it. With another toolkit, additional names are printed as a note and
the page is not compared, because an older or newer toolkit must not fail a build.

It also checks that every function of CUPTI's activity and callback API is shared with other profilers (cupti_api.def)
or left alone for a reason (cupti_left_alone.txt): those of this toolkit, and those of scripts/cupti_functions.txt,
which names the functions of each version since CUDA 11.8. With --wheels it checks those of the wheels, and --write
updates that list.

--wheels checks the names of other toolkits. Their headers are in NVIDIA's wheels (nvidia-cuda-runtime,
nvidia-cuda-cupti, from CUDA 13 on also nvidia-cuda-crt) in FOLDER. With --write, their numbers become the last section
of the page. --write without --wheels does not change that section.

Usage: check_api.py [--cache CMakeCache.txt | --cuda FOLDER --cupti FOLDER] [--write | --names-only]
                    [--compiler CXX] [ROOT]
       check_api.py --wheels FOLDER [--write] [--compiler CXX] [ROOT]
"""
import argparse
import fnmatch
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import zipfile

ROW = {"driver": re.compile(r"^CUDA_API\(\s*(\w+)\s*,\s*(\w+)", re.M), "runtime": re.compile(r"^CUDART_API\(\s*(\w+)\s*,\s*(\w+)", re.M)}
PLAIN = {"Call", "CallSaying", "Create", "CreateSaying", "Nothing", "Number"}
ROUTED = {"ProcAddress", "Watch"}
MEANING = {"Call": "with its handle", "Create": "with the handle it creates", "CallSaying": "with its handle and other arguments",
           "CreateSaying": "with the handle it creates and other arguments", "Nothing": "around the driver calls inside",
           "Number": "around the driver calls inside, with its first argument", "ProcAddress": "returns addresses of driver functions",
           "Watch": "reports that an object with kernels was loaded"}
TWIN = re.compile(r"_(ptsz|ptds)$")
HEADERS = {"driver": ("cuda.h", "cudaProfiler.h"), "runtime": ("cuda_runtime_api.h", "cuda_profiler_api.h")}
DECLARED = {"driver": re.compile(r"\bCUresult (cu\w+) ?\([^;{]*\) ?;"),
            "runtime": re.compile(r"\b(?:cudaError_t|const char ?\*|struct \w+) ?(cuda[A-Z]\w+) ?\([^;{]*\) ?;")}
CALLBACKS = {"driver": ("cupti_driver_cbid.h", re.compile(r"CUPTI_DRIVER_TRACE_CBID_(cu\w+)\s*=")),
             "runtime": ("cupti_runtime_cbid.h", re.compile(r"CUPTI_RUNTIME_TRACE_CBID_(cuda[A-Z]\w+?)_v\d+\s*="))}
WHEEL = re.compile(r"nvidia_cuda_(runtime|cupti|crt)(?:_cu\d+)?-(\d+)\.(\d+)\..*\.whl$")
CUPTI_HEADERS = ("cupti_activity.h", "cupti_activity_deprecated.h", "cupti_callbacks.h")
CUPTI_DECLARED = re.compile(r"\bCUptiResult\s+CUPTIAPI\s+(cupti\w+)\s*\(")
CUPTI_LIST = "scripts/cupti_functions.txt"
# Functions of other APIs of CUPTI have rows only if they need the hardware of PC samples.
CUPTI_HARDWARE = re.compile(r"cupti(PCSampling|PmSampling|RangeProfiler|Profiler|RegisterComputeCrcCallback)")
OTHERS = "\n## Other toolkits\n"
TITLE = {"driver": "Driver functions", "runtime": "Functions of the CUDA runtime"}


def declared(options, level):
    """names that the toolkit's headers declare; empty where it has no such header"""
    command = [options.compiler, "-E", "-P", "-x", "c++", "-D__CUDA_API_VERSION_INTERNAL", "-isystem", options.cuda]
    for header in HEADERS[level]:
        if (options.cuda / header).exists():
            command += ["-include", header]
    text = subprocess.run(command + ["/dev/null"], check=True, capture_output=True, text=True).stdout
    return set(DECLARED[level].findall(re.sub(r"\s+", " ", text)))


def callbacks(options, level):
    """names in CUPTI's list that are not followed by a number; empty without CUPTI"""
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
                    problems.append(f"{path.name}:{number}: {name} is listed twice")
                names[name] = reason
        elif line and not line.startswith("#"):
            problems.append(f"{path.name}:{number}: neither a reason nor names below one")
    return reasons, names, problems


class Classes:
    """Maps a name to how it is recorded, or why it is not."""

    def __init__(self, folder):
        self.reasons, self.left, self.problems = read_left_alone(next(folder.rglob("left_alone.txt")))
        self.patterns = [name for name in self.left if "*" in name]
        self.rows = {level: {} for level in ROW}
        for level, file in (("driver", "cuda_api.def"), ("runtime", "cudart_api.def")):
            for name, topic in ROW[level].findall(next(folder.rglob(file)).read_text()):
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
             f"{total} names: {count('recorded')} recorded, {count('plain')} recorded as plain calls, "
             f"{count('routed')} passed on and not recorded, {count('left')} left alone.", ""]
    lines += ["| how | names | functions |", "|---|---|---|"]
    for (kind, what), group in sorted(groups.items(), key=lambda item: (["recorded", "routed", "plain", "left"].index(item[0][0]), item[0][1])):
        how = f"{ {'recorded': 'recorded', 'plain': 'plain call', 'routed': 'passed on', 'left': 'left alone'}[kind]}: {MEANING.get(what, what)}"
        lines.append(f"| {how} | {len(group)} | {wrapped(group)} |")
    beyond = sorted(set(classes.rows[level]) - set(names))
    if beyond:
        lines += ["", f"Rows for functions of older or newer toolkits ({len(beyond)}): {wrapped(beyond)}"]
    return lines


def document(version, classes, names, in_header):
    lines = [f"# Every CUDA function, and how it is recorded (toolkit {version})", "",
             "This page lists every function of the CUDA driver and run time. It is for users who look for a function in a log, and",
             "for maintainers who add one.", "",
             "`scripts/check_api.py --write` generates the page from the toolkit's headers, CUPTI's callback-id lists and the tables in",
             "`preload/`. `scripts/check api` compares it with them.", "",
             "* *recorded*: the function has a record of its own kind (launch, copy, memory).",
             "* *plain call*: the record has the function, its times, its stream, the handle of its object and its result.",
             "* *passed on*: the call goes through libprof without a record.",
             "* *left alone*: libprof does not intercept the function. The reasons are:", ""]
    used = {classes.of(level, name, name in in_header[level]) for level in names for name in names[level]}
    for reason, text in classes.reasons.items():
        if ("left", reason) in used:
            lines += textwrap.wrap(f"  * *{reason}*: {text}", 118, subsequent_indent="    ")
    for level in names:
        lines += [""] + section(level, classes, names[level], in_header[level])
    return "\n".join(lines) + "\n"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--cache", type=pathlib.Path, help="CMakeCache.txt of a build: the folders that it found")
    parser.add_argument("--cuda", type=pathlib.Path, help="folder that holds cuda.h")
    parser.add_argument("--cupti", type=pathlib.Path, help="folder that holds cupti_driver_cbid.h")
    parser.add_argument("--wheels", type=pathlib.Path, help="folder with NVIDIA's wheels of other toolkits")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--write", action="store_true", help="write docs/api_coverage.md")
    parser.add_argument("--names-only", action="store_true", help="do not look at docs/api_coverage.md")
    options = parser.parse_args()
    if options.cache:
        found = dict(re.findall(r"^PROF_(CUDA|CUPTI)_INCLUDE:\w+=(.+)$", options.cache.read_text(), re.M))
        options.cuda = options.cuda or pathlib.Path(found["CUDA"])
        options.cupti = options.cupti or pathlib.Path(found["CUPTI"])
    if not options.cuda and not options.wheels:
        parser.error("--cache, --cuda or --wheels is needed")
    return options


def toolkit_version(cuda):
    number = int(re.search(r"#define\s+CUDA_VERSION\s+(\d+)", (cuda / "cuda.h").read_text()).group(1))
    return f"{number // 1000}.{number % 1000 // 10}"


def look_up(options, classes):
    """names by level, names that the headers declare, and a line for each name that is not classified"""
    names, in_header, unknown = {}, {}, []
    for level in ROW:
        in_header[level] = declared(options, level)
        names[level] = in_header[level] | callbacks(options, level)
        for name in sorted(names[level]):
            if classes.of(level, name, name in in_header[level]) is None:
                where = "declared by the toolkit's headers" if name in in_header[level] else "in CUPTI's list"
                unknown.append(f"{name} ({where}) is neither in a table of preload/ nor in left_alone.txt")
    return names, in_header, unknown


def cupti_declared(texts):
    """functions that the headers of CUPTI's activity and callback API declare"""
    return {name for text in texts for name in CUPTI_DECLARED.findall(text)}


def read_cupti_list(path):
    """name -> (first, last version) as numbers"""
    lines = [line.split() for line in path.read_text().splitlines() if line and not line.startswith("#")] if path.exists() else []
    number = lambda text: tuple(map(int, text.split(".")))
    return {name: (number(first), number(last)) for name, first, last in lines}


def check_cupti(options, found):
    """problems of the functions in `found` (name -> where it is declared) and in the list"""
    folder = options.root / "preload"
    shared = set(re.findall(r"^CUPTI_(?:NEW_)?API\((\w+)", next(folder.rglob("cupti_api.def")).read_text(), re.M))
    _, left, problems = read_left_alone(next(folder.rglob("cupti_left_alone.txt")))
    known = read_cupti_list(options.root / CUPTI_LIST)
    text = lambda version: ".".join(map(str, version))
    found = {**{name: f"CUPTI of CUDA {text(first)} to {text(last)}" for name, (first, last) in known.items()}, **found}
    problems += [f"{name} ({found[name]}) is neither in cupti_api.def nor in cupti_left_alone.txt" for name in sorted(set(found) - shared - set(left))]
    problems += [f"{name} is in cupti_api.def and in cupti_left_alone.txt" for name in sorted(shared & set(left))]
    problems += [f"{name} is in no version of {CUPTI_LIST}" for name in sorted((shared | set(left)) - set(known))
                 if not CUPTI_HARDWARE.match(name)]
    return problems


def cupti_wheels(options):
    """checks the wheels of CUPTI and, with --write, the list; problems"""
    versions, found = read_cupti_list(options.root / CUPTI_LIST), {}
    for path in sorted(options.wheels.iterdir()):
        match = WHEEL.match(path.name)
        if not match or match[1] != "cupti":
            continue
        version = (int(match[2]), int(match[3]))
        with zipfile.ZipFile(path) as archive:
            names = cupti_declared(archive.read(name).decode() for name in archive.namelist() if name.endswith(CUPTI_HEADERS))
        for name in names:
            found[name] = f"CUPTI of CUDA {version[0]}.{version[1]}"
            first, last = versions.get(name, (version, version))
            versions[name] = (min(first, version), max(last, version))
        print(f"CUPTI of CUDA {version[0]}.{version[1]}: {len(names)} functions of the activity and callback API")
    if options.write:
        lines = ["# The functions of CUPTI's activity and callback API with the first and the last version of CUDA that declares them, from",
                 "# the headers in NVIDIA's wheels. scripts/check_api.py --wheels FOLDER --write updates it."]
        lines += [f"{name} {first[0]}.{first[1]} {last[0]}.{last[1]}" for name, (first, last) in sorted(versions.items())]
        (options.root / CUPTI_LIST).write_text("\n".join(lines) + "\n")
    return check_cupti(options, found)


def wheel_toolkits(folder):
    """(major, minor) -> its wheels, for toolkits whose headers and CUPTI lists are in the folder"""
    found = {}
    for path in sorted(folder.iterdir()):
        if match := WHEEL.match(path.name):
            found.setdefault((int(match[2]), int(match[3])), {})[match[1]] = path
    return {version: list(parts.values()) for version, parts in sorted(found.items()) if {"runtime", "cupti"} <= set(parts)}


def check_wheels(options, classes):
    """a row of numbers for each toolkit, and problems"""
    rows, problems = [], list(classes.problems)
    for wheels in wheel_toolkits(options.wheels).values():
        with tempfile.TemporaryDirectory() as folder:
            for wheel in wheels:
                with zipfile.ZipFile(wheel) as archive:
                    archive.extractall(folder, [name for name in archive.namelist() if name.endswith(".h")])
            options.cuda = next(pathlib.Path(folder).rglob("cuda.h")).parent
            options.cupti = next(pathlib.Path(folder).rglob("cupti_driver_cbid.h")).parent
            names, in_header, unknown = look_up(options, classes)
            row = [toolkit_version(options.cuda)]
        for level in ROW:
            kinds = [(classes.of(level, name, name in in_header[level]) or ("unclassified",))[0] for name in names[level]]
            row += [len(kinds)] + [kinds.count(kind) for kind in ("recorded", "plain", "routed", "left")]
        rows.append(row)
        problems += [f"toolkit {row[0]}: {line}" for line in unknown]
        print(f"toolkit {row[0]}: {row[1]} driver names, {row[6]} runtime names, {len(unknown)} unclassified")
    return rows, problems


def others(rows):
    """the last section of the page"""
    lines = [OTHERS, "`scripts/check_api.py --wheels FOLDER --write` generates this table from the headers in NVIDIA's wheels. Every name of",
             "these toolkits is in a table or in `left_alone.txt`.", "",
             "| toolkit | driver names | recorded | plain | passed on | left alone | runtime names | recorded | plain | passed on | left alone |",
             "|---|" + "---|" * 10]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def main():
    options = arguments()
    page = options.root / "docs/api_coverage.md"
    written, _, rest = (page.read_text() if page.exists() else "").partition(OTHERS)
    classes = Classes(options.root / "preload")
    if options.wheels:
        rows, problems = check_wheels(options, classes)
        problems += cupti_wheels(options)
        if options.write and rows and not problems:
            page.write_text(written + others(rows))
        for problem in problems:
            print(problem)
        print(f"RESULT {len(rows)} toolkits, {len(problems)} problems")
        return 1 if problems else 0

    version = toolkit_version(options.cuda)
    same_toolkit = options.names_only or options.write or f"(toolkit {version})" in written.split("\n", 1)[0]
    names, in_header, unknown = look_up(options, classes)
    headers = [options.cupti / name for name in CUPTI_HEADERS] if options.cupti else []
    cupti = cupti_declared(header.read_text() for header in headers if header.exists())
    problems = list(classes.problems) + (unknown if same_toolkit else [])
    problems += check_cupti(options, dict.fromkeys(cupti, f"declared by the headers of toolkit {version}"))
    notes = [] if same_toolkit else unknown
    if options.write and not problems:
        page.write_text(document(version, classes, names, in_header) + (OTHERS + rest if rest else ""))
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
