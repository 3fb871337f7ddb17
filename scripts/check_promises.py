#!/usr/bin/env python3
"""Checks that every promise of docs/promises.md names tests that exist. Usage: check_promises.py ROOT. Reads test names
from the sources in the way ctest gets them, so nothing has to be built. A row without a test must give the reason:
"not built" or "not tested"."""
import fnmatch
import pathlib
import re
import subprocess
import sys

GTEST = re.compile(r"^(TEST|TEST_F|TEST_P)\(\s*(\w+),\s*(\w+)\s*\)", re.M)
REASON = re.compile(r"^not (?:built|tested)\b")
NAME = re.compile(r"(?:e2e|unit|golden|fuzz|browser|bench|docs|sim)\.[\w.*/]+")


def gtests(root, folder):
    texts = [path.read_text(errors="replace") for path in sorted((root / folder).rglob("*.cpp"))]
    prefixes = {suite: prefix for text in texts for prefix, suite in re.findall(r"INSTANTIATE_TEST_SUITE_P\(\s*(\w+),\s*(\w+)", text)}
    for text in texts:
        for kind, suite, name in GTEST.findall(text):
            yield f"{prefixes.get(suite, '')}/{suite}.{name}/" if kind == "TEST_P" else f"{suite}.{name}"


def expanded(name, lists):
    """the names of an add_test whose name contains ${variables}"""
    for variable, values in lists.items():
        if "${" + variable + "}" in name:
            return [full for value in values for full in expanded(name.replace("${" + variable + "}", value), lists)]
    return [] if "${" in name else [name]


def tests(root):
    names = {f"unit.{name}" for name in gtests(root, "tests/unit")} | {f"e2e.{name}" for name in gtests(root, "tests/e2e")}
    names |= {f"e2e.{path.stem}" for path in (root / "tests/e2e/programs").rglob("*.cpp") if "// Expect:" in path.read_text()}
    names |= {f"golden.{path.parent.relative_to(root / 'tests/golden')}" for path in (root / "tests/golden").rglob("cmd")}
    names |= {f"fuzz.{path.stem}" for path in (root / "tests/fuzz").glob("*_fuzz.cpp")}
    for driver in ("transparency", "pc_sampling"):  # they list their cases
        path = root / f"tests/e2e/drivers/{driver}.py"
        if path.exists():
            listed = subprocess.run([sys.executable, path, "--list"], capture_output=True, text=True, check=True)
            cases = listed.stdout.split()
            names |= {f"e2e.{driver}.{case}" for case in cases}
    for path in sorted((root / "tests").rglob("CMakeLists.txt")):
        text = path.read_text()
        lists = {variable: values.split() for variable, values in re.findall(r"foreach\((\w+) ([^$)]+)\)", text)}
        for name in re.findall(r"add_test\(\s*NAME\s+(\S+)", text):
            names |= set(expanded(name, lists))
    return names


def problems(root):
    known = tests(root)
    page = root / "docs/promises.md"
    rows = 0
    for number, line in enumerate(page.read_text().split("\n"), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) < 2 or cells[1] == "test" or set(cells[1]) <= set("-: "):
            continue
        rows += 1
        named = NAME.findall(cells[1])
        if not named and not REASON.match(cells[1]):
            yield f"docs/promises.md:{number}: neither a test nor why there is none: {cells[1]}"
        for name in named:
            if not any(fnmatch.fnmatchcase(there, name) for there in known):
                yield f"docs/promises.md:{number}: {name}: there is no such test"
    print(f"RESULT {rows} promises, {len(known)} tests")
    if rows < 10:
        yield "docs/promises.md: no table was found"


found = list(problems(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
print("\n".join(found))
sys.exit(1 if found else 0)
