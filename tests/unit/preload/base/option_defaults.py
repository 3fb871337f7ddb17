#!/usr/bin/env python3
"""Does the recorder follow the defaults of options.def? Compiles the reader of options twice, with the list as it is and with a copy in
which every default is another one. For each row the second program must read, without a variable, what the first one reads with the
variable set to that other default; and that must differ from the default as it is. Usage: option_defaults.py --root TREE --compiler CXX"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROW = re.compile(r'^PROF_(?:OPTION|CHOICES)\((\w+), "(PROF_\w+)", (\w+), (?:(\w+), )?"([^"]*)", "[\w-]+",(.*?)(?=^PROF_|\Z)', re.M | re.S)
SOURCES = ["tests/unit/preload/base/print_options.cpp", "preload/base/options.cpp", "preload/base/environment.cpp"]
OF_TYPE = {"Count": "7", "Bytes": "3M", "Seconds": "33ms", "Text": "/other", "Names": "other*,one", "Numbers": "1,3-5", "Ring": "45s",
           "Percent": "3%", "HostRate": "starved:97", "PcPeriod": "2^20", "Repeat": "scale:2=9", "Metrics": "dram__bytes_read,one.sum"}
OPPOSITE = {"0": "1", "1": "0", "on": "off", "off": "on"}


def other_default(kind, default, words):
    """another valid default"""
    if kind in ("Flag", "Switch"):
        return OPPOSITE[default]
    if kind == "OneOf":
        ranges = [f"{word}:step@train" for word in re.findall(r'PROF_WORD_WITH\(\w+, "(\w+)", Range', words)]
        return next(word for word in ranges + re.findall(r'PROF_WORD\(\w+, "(\w+)"\)', words) if word != default)
    if kind == "SomeOf":
        return re.findall(r'PROF_ITEM\(\w+, "(\w+)"\)', words)[1]
    return OF_TYPE[kind]


def build(options, program, *folders):
    include = [f"-I{folder}" for folder in (*folders, options.root)]
    subprocess.run([options.compiler, "-std=c++20", "-D_GNU_SOURCE", "-O0", *include, *(str(options.root / source) for source in SOURCES),
                    "-o", program], check=True)


def read(program, **variables):
    done = subprocess.run([program], capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"], **variables})
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", required=True)
    options = parser.parse_args()
    text = (options.root / "preload/format/options.def").read_text()
    rows = ROW.findall(text)
    if len(rows) != len(re.findall(r"^PROF_\w+\(\w+, \"PROF_", text, re.M)) or not rows:
        sys.exit(f"{len(rows)} rows of options.def are understood, there are more")
    others = {variable: other_default(kind, default, rest) for _, variable, kind, _, default, rest in rows}
    changed = text
    for member, variable, kind, enum, default, _ in rows:
        head = f'({member}, "{variable}", {kind}, {enum + ", " if enum else ""}"'
        changed = changed.replace(f'{head}{default}"', f'{head}{others[variable]}"')
    with tempfile.TemporaryDirectory(prefix="prof-options-") as folder:
        copy = pathlib.Path(folder) / "preload/format/options.def"
        copy.parent.mkdir(parents=True)
        copy.write_text(changed)
        build(options, f"{folder}/as_it_is")
        build(options, f"{folder}/changed", folder)
        before, after = read(f"{folder}/as_it_is"), read(f"{folder}/changed")
        wanted = read(f"{folder}/as_it_is", **others)
    wrong = []
    if "not valid" in wanted:
        wrong.append(f"not valid: {wanted['not valid']}")
    for member, variable, *_ in rows:
        if after[member] != wanted[member] or after[member] == before[member]:
            wrong.append(f"{member}: default {before[member]}, changed to {others[variable]}: {after[member]}, as a variable: {wanted[member]}")
    print("\n".join(wrong) or f"{len(rows)} defaults were changed and followed")
    return 1 if wrong else 0


sys.exit(main())
