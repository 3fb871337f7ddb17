#!/usr/bin/env python3
"""Which tests do not run under qemu, and why? tests/aarch64_skipped.txt has the list: lines of `NAMES: reason`, where
NAMES is a regular expression for whole names, `* NAMES: reason` only with pages of 16 or 64 KiB.

  skipped_tests.py [--pages 4|16|64] [--only REGEX] BUILD   prints the skipped tests with reasons; the last line is the
                                                            expression for `ctest -E`
The list must not grow unseen: its first line says how many lines it has. A line that no test of a whole build matches
is a mistake too (--whole).
"""
import argparse
import pathlib
import re
import subprocess
import sys

LIST = pathlib.Path(__file__).resolve().parent.parent / "tests/aarch64_skipped.txt"


def rows():
    """[(large pages only, expression, reason)]; exits if the number of lines is not the one of the first line"""
    first, *lines = LIST.read_text().splitlines()
    lines = [line for line in lines if line and not line.startswith("#")]
    said = int(re.search(r"\d+", first).group())
    if said != len(lines):
        sys.exit(f"{LIST.name} has {len(lines)} lines, and its first line says {said}")
    return [(line.startswith("* "), *line.removeprefix("* ").split(": ", 1)) for line in lines]


def names_of(build):
    """names of the build's tests, in ctest's order"""
    text = subprocess.run(["ctest", "--test-dir", build, "-N", "-LE", "bench|gpu"], check=True, capture_output=True,
                          text=True).stdout
    return re.findall(r"^ +Test +#\d+: (\S+)", text, re.M)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--pages", type=int, default=4)
    parser.add_argument("--only", default=".")
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    names = names_of(options.build)
    skipped, unmatched = [], []
    for large, expression, reason in rows():
        found = [name for name in names if re.fullmatch(expression, name)]
        if not found:
            unmatched.append(expression)
        if large and options.pages == 4:
            continue
        skipped += [(name, reason) for name in found if re.search(options.only, name)]
    if options.whole and unmatched:
        sys.exit(f"{LIST.name}: no test has these names: {', '.join(unmatched)}")
    for name, reason in skipped:
        print(f"not run: {name}: {reason}")
    print(f"{len(skipped)} tests are not run under qemu with pages of {options.pages} KiB")
    print("^(" + "|".join(re.escape(name) for name, _ in skipped) + ")$")


if __name__ == "__main__":
    main()
